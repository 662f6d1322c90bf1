//! One pass over a stream that is not stored: features and classes are added as they occur.

use super::follow::{Follower, Visit};
use super::linear::{Hypothesis, LinearLearner, LinearState, RowOutcome};
use super::rule::Rule;
use crate::control::Observer;
use crate::data::Row;
use crate::model::Weights;
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// Learns from a stream. Classes are numbered as they occur; [`Stream::finish`] brings them into their final
/// order.
#[derive(Clone, Debug)]
pub struct Stream<R> {
    learner: LinearLearner<R>,
    follower: Follower,
    classes: usize,
    counts: StreamCounts,
}

/// The counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StreamCounts {
    pub(crate) rows: u64,
    pub(crate) wrong: u64,
    pub(crate) mistakes: u64,
    pub(crate) updates: u64,
}

impl StreamCounts {
    /// Counts a row.
    pub(crate) fn add(&mut self, outcome: RowOutcome) {
        self.rows += 1;
        self.wrong += u64::from(outcome.wrong);
        self.mistakes += u64::from(outcome.mistakes);
        self.updates += u64::from(outcome.updates);
    }
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
        Self { learner, follower: Follower::default(), classes: 2, counts: StreamCounts::default() }
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
        self.counts.add(outcome);
        outcome
    }

    /// The same, and tells the observer of every correction.
    pub(crate) fn learn_followed(
        &mut self,
        row: Row<'_>,
        class: u32,
        weight: f64,
        observer: &mut dyn Observer,
    ) -> RowOutcome {
        let visit = Visit { epoch: 1, row: self.counts.rows, class };
        let outcome = self.follower.learn(&mut self.learner, (row, 0, weight), visit, observer);
        self.counts.add(outcome);
        outcome
    }

    /// All counts so far.
    pub(crate) fn counts(&self) -> StreamCounts {
        self.counts
    }

    /// Resumes from last weights, whose outputs are in the order in which classes occurred, after a stream
    /// with these counts.
    pub(crate) fn resume(&mut self, weights: Weights, state: LinearState, counts: StreamCounts) {
        self.classes = weights.outputs().max(2);
        let scheme = if weights.outputs() == 1 { Scheme::Two } else { Scheme::Joint };
        self.learner.resume(scheme, weights, state);
        self.counts = counts;
    }

    /// The weights, with classes in this order.
    pub fn finish(self, order: &[u32]) -> Streamed {
        self.finish_with_state(order).0
    }

    /// The same, and what resuming takes beside them. In the state, classes are in the order in which they
    /// occurred.
    pub(crate) fn finish_with_state(self, order: &[u32]) -> (Streamed, LinearState) {
        let Self { learner, counts, .. } = self;
        let StreamCounts { rows, wrong, mistakes, updates } = counts;
        let scheme = learner.scheme();
        let (weights, state) = learner.into_parts();
        let weights = arranged(weights, order);
        (Streamed { weights, scheme, rows, wrong, mistakes, updates }, state)
    }
}

/// Weights whose outputs are those of classes in this order: of the number that each had before. The one
/// output of two classes changes its sign if they change places.
pub(crate) fn arranged(mut weights: Weights, order: &[u32]) -> Weights {
    match weights.outputs() {
        1 if order.first() == Some(&1) => weights.negate(),
        1 => {}
        _ => {
            let sources: Vec<_> = order.iter().map(|&class| Some((class as usize, 1.0))).collect();
            weights = weights.rearranged(&sources);
        }
    }
    weights
}
