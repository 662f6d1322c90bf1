//! Training on a stream in a kernel's space, with a bounded number of rows.

use super::classes::Classes;
use super::geometry::overflow;
use super::learner::Learner;
use super::run::Corrections;
use super::stream::{Learned, Streaming, refuse_one_vs_rest};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::model::Scorer;
use crate::online::rule::Rule;
use crate::online::{BudgetLearner, Hypothesis, Order};
use serde_json::json;

/// Rows of a stream, of which some are kept.
pub(super) struct KernelStream<'a, R> {
    stored: BudgetLearner<R>,
    corrections: &'a Corrections,
    learner: &'a Learner,
    rows: u64,
    wrong: u64,
    mistakes: u64,
    updates: u64,
}

impl<'a, R: Rule> KernelStream<'a, R> {
    pub(super) fn new(rule: R, corrections: &'a Corrections, learner: &'a Learner) -> Result<Self> {
        refuse_one_vs_rest(learner.shared())?;
        if corrections.returned == Hypothesis::Average {
            let error = Error::usage(
                "a row that goes takes its share in the average with it: with a kernel, a stream has none",
            );
            return Err(
                error.hint("use `learner = perceptron` or passive-aggressive with `online` and `kernel`")
            );
        }
        if corrections.budget == 0 {
            return Err(Error::usage("with a budget of 0 rows there is nothing to learn")
                .hint("use `budget = 1000`, or so"));
        }
        let Corrections { kernel, bias, budget, .. } = *corrections;
        kernel.validate()?;
        let stored = BudgetLearner::new(rule, kernel, bias, budget);
        Ok(Self { stored, corrections, learner, rows: 0, wrong: 0, mistakes: 0, updates: 0 })
    }
}

impl<R: Rule> Streaming for KernelStream<'_, R> {
    fn reserve(&mut self, features: usize, classes: usize) {
        self.stored.reserve(features, classes);
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        let seen = self.stored.learn(row, class, weight);
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
        let scheme = self.stored.scheme();
        let expansion = self.stored.finish(&classes.order, features);
        if !expansion.largest_score().is_finite() {
            return Err(overflow());
        }
        let mut settings = self.corrections.describe(self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        settings.insert("budget".into(), json!(self.corrections.budget));
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
