//! Training on a stream in a kernel's space, with a bounded number of rows.

use super::classes::Classes;
use super::geometry::overflow;
use super::learner::Learner;
use super::resume::{Prior, other_scorer};
use super::run::Corrections;
use super::stream::{Learned, Streaming, refuse_one_vs_rest};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::kernel::norms_sq;
use crate::model::{Expansion, Scorer, State, StateKind};
use crate::online::rule::Rule;
use crate::online::{BudgetLearner, Hypothesis, Order, StreamCounts};
use serde_json::json;

/// Rows of a stream, of which some are kept.
pub(super) struct KernelStream<'a, R> {
    stored: BudgetLearner<R>,
    corrections: &'a Corrections,
    learner: &'a Learner,
    counts: StreamCounts,
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
        Ok(Self { stored, corrections, learner, counts: StreamCounts::default() })
    }
}

impl<R: Rule> Streaming for KernelStream<'_, R> {
    fn reserve(&mut self, features: usize, classes: usize) {
        self.stored.reserve(features, classes);
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        let seen = self.stored.learn(row, class, weight);
        self.counts.add(seen);
        Ok(())
    }

    fn resume(&mut self, prior: &mut Prior<'_>) -> Result<()> {
        let Scorer::Kernel(expansion) = prior.scorer() else {
            return Err(other_scorer(prior.model, self.learner));
        };
        let weights = in_order(expansion, &prior.ranks);
        let norms_sq = match &mut prior.state {
            Some(state) if state.kind() == StateKind::Stream => {
                state.take("norms_sq", weights.rows.rows())?
            }
            _ => {
                prior.state = None;
                norms_sq(&weights.rows)
            }
        };
        self.stored.resume(&weights, &norms_sq);
        self.counts = prior.counts;
        Ok(())
    }

    fn counts(&self) -> StreamCounts {
        self.counts
    }

    fn finish(self, classes: &Classes, features: usize) -> Result<Learned> {
        let scheme = self.stored.scheme();
        let mut state = State::new(StateKind::Stream);
        state.put("norms_sq", self.stored.norms_sq());
        let expansion = self.stored.finish(&classes.order, features);
        if !expansion.largest_score().is_finite() {
            return Err(overflow());
        }
        let mut settings = self.corrections.describe(self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        settings.insert("budget".into(), json!(self.corrections.budget));
        let scorer = Scorer::Kernel(expansion);
        Ok(Learned { scorer, probabilities: None, scheme, settings, state })
    }
}

/// The same weights with outputs in the order in which classes occurred.
fn in_order(expansion: &Expansion, ranks: &[u32]) -> Expansion {
    let coefficients = match expansion.outputs {
        1 if ranks.first() == Some(&1) => expansion.coefficients.iter().map(|c| -c).collect(),
        1 => expansion.coefficients.clone(),
        outputs => {
            let rows = expansion.coefficients.chunks_exact(outputs);
            rows.flat_map(|own| ranks.iter().map(|&rank| own[rank as usize])).collect()
        }
    };
    Expansion { coefficients, ..expansion.clone() }
}
