//! A stream that is seen once and never stored: features and labels turn up as they come.

use super::learner::{Keep, Online, Seen};
use super::rule::Rule;
use crate::data::{Labels, Row};
use crate::model::Weights;
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// Learns from a stream. Classes are numbered as they turn up; [`Stream::finish`] brings them into their
/// final order.
#[derive(Clone, Debug)]
pub struct Stream<R> {
    learner: Online<R>,
    classes: usize,
    rows: u64,
    wrong: u64,
    mistakes: u64,
    updates: u64,
}

/// What a stream came to.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The weights, with outputs in the order asked for.
    pub weights: Weights,
    /// How the classes came to be told apart.
    pub scheme: Scheme,
    /// Rows seen.
    pub rows: u64,
    /// Rows that were predicted wrongly before they were learned from.
    pub wrong: u64,
    /// Mistakes while learning.
    pub mistakes: u64,
    /// Updates of the weights.
    pub updates: u64,
}

impl<R: Rule> Stream<R> {
    /// A learner that has seen nothing. With more than two classes they are learned jointly.
    pub fn new(rule: R, bias: Bias, keep: Keep) -> Self {
        let learner = Online::new(rule, Scheme::Two, 2, 0, bias, keep);
        Self { learner, classes: 2, rows: 0, wrong: 0, mistakes: 0, updates: 0 }
    }

    /// Prepares for rows of so many features and classes.
    pub fn expect(&mut self, features: usize, classes: usize) {
        self.learner.grow_features(features);
        if classes > self.classes {
            self.learner.grow_classes(classes);
            self.classes = classes;
        }
    }

    /// Predicts a row, then learns from its class. [`Stream::expect`] must have been told of both.
    #[inline]
    pub fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Seen {
        let seen = self.learner.learn(row, 0, class, weight);
        self.rows += 1;
        self.wrong += u64::from(seen.wrong);
        self.mistakes += u64::from(seen.mistakes);
        self.updates += u64::from(seen.updates);
        seen
    }

    /// Rows, wrong predictions and mistakes so far.
    pub fn tally(&self) -> (u64, u64, u64) {
        (self.rows, self.wrong, self.mistakes)
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
                weights = weights
                    .rearranged(&order.iter().map(|&class| Some((class as usize, 1.0))).collect::<Vec<_>>())
            }
        }
        Streamed { weights, scheme, rows, wrong, mistakes, updates }
    }
}

/// The final order of labels: sorted, and of two the positive one (the larger, or the one named) last.
pub fn class_order(labels: &Labels, positive: Option<u32>) -> Vec<u32> {
    let mut order = labels.sorted();
    if let Some(positive) = positive {
        order.retain(|&label| label != positive);
        order.push(positive);
    }
    order
}
