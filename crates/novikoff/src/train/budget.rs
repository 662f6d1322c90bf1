//! Training on a stream in a kernel's space, with a bounded number of rows.

use super::classes::Classes;
use super::geometry::overflow;
use super::stream::{Learned, Streaming, refuse_for_streams};
use super::{Learner, Settings, describe};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::model::Scorer;
use crate::online::rule::Rule;
use crate::online::{BudgetLearner, Order};
use serde_json::json;

/// Rows of a stream, of which some are kept.
pub(super) struct KernelStream<'a, R> {
    learner: BudgetLearner<R>,
    settings: &'a Settings,
    rows: u64,
    wrong: u64,
    mistakes: u64,
    updates: u64,
}

impl<'a, R: Rule> KernelStream<'a, R> {
    pub(super) fn new(rule: R, settings: &'a Settings) -> Result<Self> {
        refuse_for_streams(settings)?;
        if settings.learner == Learner::Averaged {
            let error = Error::usage(
                "a row that goes takes its share in the average with it: with a kernel, a stream has none",
            );
            return Err(
                error.hint("use --learner perceptron or passive-aggressive with --online and --kernel")
            );
        }
        if settings.budget == 0 {
            return Err(Error::usage("with a budget of 0 rows there is nothing to learn")
                .hint("use --budget 1000, or so"));
        }
        let learner = BudgetLearner::new(rule, settings.kernel, settings.bias, settings.budget);
        Ok(Self { learner, settings, rows: 0, wrong: 0, mistakes: 0, updates: 0 })
    }
}

impl<R: Rule> Streaming for KernelStream<'_, R> {
    fn expect(&mut self, features: usize, classes: usize) {
        self.learner.reserve(features, classes);
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        let seen = self.learner.learn(row, class, weight);
        self.rows += 1;
        self.wrong += u64::from(seen.wrong);
        self.mistakes += u64::from(seen.mistakes);
        self.updates += u64::from(seen.updates);
        Ok(())
    }

    fn tally(&self) -> (u64, u64, u64) {
        (self.rows, self.wrong, self.mistakes)
    }

    fn finish(self, classes: &Classes, features: usize) -> Result<Learned> {
        let scheme = self.learner.scheme();
        let expansion = self.learner.finish(&classes.order, features);
        if !expansion.largest_score().is_finite() {
            return Err(overflow());
        }
        let mut settings = describe(self.settings, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        settings.insert("budget".into(), json!(self.settings.budget));
        let scorer = Scorer::Kernel(expansion);
        Ok(Learned {
            scorer,
            probabilities: None,
            scheme,
            settings,
            mistakes: self.mistakes,
            updates: self.updates,
        })
    }
}
