//! A kernel's weights on a stream: at most so many rows are kept, whatever the stream's length.
//!
//! Where one more would be too many, the row goes that has the least share in the weights, `Σ|c|·√K(x, x)`;
//! of several, the oldest. So the weights follow the stream, and memory and the time for a row stay what they
//! are. There is no average: what a row had in it goes with the row, and what is left is the average of
//! nothing (on `mnist` it erred on 57 % of the test rows, the last weights on 21 %).

use super::correct::{Example, Update, correct};
use super::learner::Seen;
use super::rule::Rule;
use crate::data::Row;
use crate::data::matrix::{Builder, Layout};
use crate::kernel::{Kernel, Precision};
use crate::model::Expansion;
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// A learner in a kernel's space that keeps a bounded number of rows.
#[derive(Clone, Debug)]
pub struct Budgeted<R> {
    rule: R,
    kernel: Kernel,
    bias: f64,
    budget: usize,
    scheme: Scheme,
    outputs: usize,
    support: Vec<Held>,
    /// The row of the moment, spelled out.
    dense: Vec<f64>,
}

/// A row that is kept, and how much of it is in each output.
#[derive(Clone, Debug)]
struct Held {
    indices: Vec<u32>,
    values: Vec<f64>,
    norm_sq: f64,
    coefficients: Vec<f64>,
}

impl<R: Rule> Budgeted<R> {
    /// A learner that knows nothing, and will never keep more than `budget` rows. It begins with two classes.
    pub fn new(rule: R, kernel: Kernel, bias: Bias, budget: usize) -> Self {
        let (scheme, bias) = (Scheme::Two, bias.coordinate());
        Self { rule, kernel, bias, budget, scheme, outputs: 1, support: Vec::new(), dense: Vec::new() }
    }

    /// Prepares for rows of so many features and classes. Two classes with one weight vector become joint
    /// ones with `−w` and `w`.
    pub fn expect(&mut self, features: usize, classes: usize) {
        if features > self.dense.len() {
            self.dense.resize(features, 0.0);
        }
        if classes > 2 && classes > self.outputs {
            let split = |c: &mut Vec<f64>| {
                if self.scheme == Scheme::Two {
                    *c = vec![-R::SHARE * c[0], R::SHARE * c[0]];
                }
                c.resize(classes, 0.0);
            };
            self.support.iter_mut().map(|held| &mut held.coefficients).for_each(split);
            (self.scheme, self.outputs) = (Scheme::Joint, classes);
        }
    }

    /// Predicts a row, then learns from its class.
    pub fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Seen {
        if weight <= 0.0 {
            return Seen::default();
        }
        let norm_sq = row.norm_sq();
        let mut scores = vec![0.0; self.outputs];
        row.for_each_stored(|j, x| self.dense[j as usize] = x);
        for held in &self.support {
            let dot = Row::Sparse64(&held.indices, &held.values).dot(&self.dense);
            let kernel = self.kernel.of(dot, norm_sq, held.norm_sq) + self.bias * self.bias;
            scores.iter_mut().zip(&held.coefficients).for_each(|(score, c)| *score += c * kernel);
        }
        row.for_each_stored(|j, _| self.dense[j as usize] = 0.0);
        let own = self.own(norm_sq);
        let mut updates = Vec::new();
        let rule = self.rule.clone();
        let seen = correct(
            &rule,
            self.scheme,
            &scores,
            Example { class, weight },
            || own,
            |update| updates.push(update),
        );
        if !updates.is_empty() {
            self.hold(row, norm_sq, &updates);
        }
        seen
    }

    /// A row's squared length in the kernel's space.
    fn own(&self, norm_sq: f64) -> f64 {
        self.kernel.of(norm_sq, norm_sq, norm_sq) + self.bias * self.bias
    }

    fn hold(&mut self, row: Row<'_>, norm_sq: f64, updates: &[Update]) {
        if self.support.len() == self.budget {
            let share = |held: &Held| {
                held.coefficients.iter().map(|c| c.abs()).sum::<f64>() * self.own(held.norm_sq).sqrt()
            };
            let shares = self.support.iter().map(share).enumerate();
            // Of equal ones the first, which is the oldest.
            let least = shares.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at);
            self.support.remove(least);
        }
        let mut coefficients = vec![0.0; self.outputs];
        updates.iter().flat_map(Update::steps).for_each(|(output, step)| coefficients[output] += step);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        row.for_each_nonzero(|j, x| {
            indices.push(j);
            values.push(x);
        });
        self.support.push(Held { indices, values, norm_sq, coefficients });
    }

    /// How classes are told apart now.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The weights, with classes in this order.
    pub fn finish(self, order: &[u32], features: usize) -> Expansion {
        let mut builder = Builder::new(Layout::Sparse);
        let mut coefficients = Vec::with_capacity(self.support.len() * self.outputs);
        for held in &self.support {
            builder.push(&held.indices, &held.values);
            match self.scheme {
                Scheme::Two if order.first() == Some(&1) => coefficients.push(-held.coefficients[0]),
                Scheme::Two => coefficients.push(held.coefficients[0]),
                _ => coefficients.extend(order.iter().map(|&class| held.coefficients[class as usize])),
            }
        }
        let mut rows = builder.finish();
        rows.widen(features);
        let Self { kernel, bias, outputs, .. } = self;
        Expansion { kernel, precision: Precision::Double, bias, rows, outputs, coefficients }
    }
}
