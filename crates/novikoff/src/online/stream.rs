//! One pass over a stream that is not stored: features and classes are added as they occur.

use super::follow::{Follower, Visit};
use super::linear::{Hypothesis, LinearLearner, RowOutcome};
use super::rule::Rule;
use crate::control::Observer;
use crate::data::Row;
use crate::model::Weights;
use crate::multiclass::Scheme;
use crate::penalty::Bias;
use serde::{Deserialize, Serialize};

/// Learns from a stream. Classes are numbered as they occur; [`Stream::finish`] brings them into their final
/// order.
#[derive(Clone, Debug)]
pub struct Stream<R> {
    learner: LinearLearner<R>,
    follower: Follower,
    classes: usize,
    rows: u64,
    wrong: u64,
    mistakes: u64,
    updates: u64,
}

/// The counts of a stream, for resuming it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamState {
    /// The sum of the rows' weights.
    rounds: f64,
    rows: u64,
    wrong: u64,
    mistakes: u64,
    updates: u64,
}

/// The result of learning from a stream.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The weights, with outputs in the order asked for.
    pub weights: Weights,
    /// The multiclass scheme in the end.
    pub scheme: Scheme,
    /// Rows read.
    pub rows: u64,
    /// Rows that were predicted wrongly before they were learned from.
    pub wrong: u64,
    /// Mistakes while learning.
    pub mistakes: u64,
    /// Updates of the weights.
    pub updates: u64,
}

impl<R: Rule> Stream<R> {
    /// A learner of zero weights. More than two classes are learned jointly.
    pub fn new(rule: R, bias: Bias, hypothesis: Hypothesis) -> Self {
        let learner = LinearLearner::new(rule, Scheme::Two, 2, 0, bias, hypothesis);
        Self {
            learner,
            follower: Follower::default(),
            classes: 2,
            rows: 0,
            wrong: 0,
            mistakes: 0,
            updates: 0,
        }
    }

    /// Reserves weights for rows of so many features and classes.
    pub fn reserve(&mut self, features: usize, classes: usize) {
        self.learner.grow_features(features);
        if classes > self.classes {
            self.learner.grow_classes(classes);
            self.classes = classes;
        }
    }

    /// Predicts a row, then learns from its class. [`Stream::reserve`] must have been called for both.
    #[inline]
    pub fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> RowOutcome {
        let outcome = self.learner.learn(row, 0, class, weight);
        self.count(outcome)
    }

    /// The same, and tells the observer of every correction.
    pub(crate) fn learn_followed(
        &mut self,
        row: Row<'_>,
        class: u32,
        weight: f64,
        observer: &mut dyn Observer,
    ) -> RowOutcome {
        let visit = Visit { epoch: 1, row: self.rows, class };
        let outcome = self.follower.learn(&mut self.learner, (row, 0, weight), visit, observer);
        self.count(outcome)
    }

    #[inline]
    fn count(&mut self, outcome: RowOutcome) -> RowOutcome {
        self.rows += 1;
        self.wrong += u64::from(outcome.wrong);
        self.mistakes += u64::from(outcome.mistakes);
        self.updates += u64::from(outcome.updates);
        outcome
    }

    /// Rows, wrong predictions and mistakes so far.
    pub(crate) fn tally(&self) -> (u64, u64, u64) {
        (self.rows, self.wrong, self.mistakes)
    }

    /// What resuming needs: counts, the weights with the bias behind them, and those that the average is
    /// computed from.
    pub(crate) fn state(&self) -> (StreamState, Vec<f64>, Vec<f64>) {
        let (weights, delayed, rounds) = self.learner.state();
        let Self { rows, wrong, mistakes, updates, .. } = *self;
        (StreamState { rounds, rows, wrong, mistakes, updates }, weights, delayed)
    }

    /// Resumes from a state. [`Stream::reserve`] must have been called for its features and classes.
    pub(crate) fn restore(
        &mut self,
        state: StreamState,
        weights: &[f64],
        delayed: &[f64],
    ) -> Result<(), &'static str> {
        if !(state.rounds.is_finite() && state.rounds >= 0.0) || state.wrong > state.rows {
            return Err("its counts contradict each other");
        }
        self.learner.restore(weights, delayed, state.rounds)?;
        StreamState {
            rows: self.rows,
            wrong: self.wrong,
            mistakes: self.mistakes,
            updates: self.updates,
            ..
        } = state;
        Ok(())
    }

    /// The weights, with classes in this order.
    pub fn finish(self, order: &[u32]) -> Streamed {
        let Self { learner, rows, wrong, mistakes, updates, .. } = self;
        let scheme = learner.scheme();
        let mut weights = learner.into_result();
        match scheme {
            Scheme::Two if order.first() == Some(&1) => weights.negate(),
            Scheme::Two => {}
            _ => {
                let sources: Vec<_> = order.iter().map(|&class| Some((class as usize, 1.0))).collect();
                weights = weights.rearranged(&sources);
            }
        }
        Streamed { weights, scheme, rows, wrong, mistakes, updates }
    }
}
