//! Online learning with a kernel on a budget: at most so many support rows, whatever the stream's length.
//!
//! The weights are `w = Σ cᵢ·φ(xᵢ)` over the support rows. When the budget is full, a new mistake replaces
//! the row that contributes least, by `Σ|c|·√K(x, x)` over the outputs; of several such rows, the oldest.
//! (Budgets are from Crammer, Kandola and Singer 2003, who remove rows by their margin.) So the weights
//! follow the stream, and memory and the time for a row stay bounded. There is no averaged form: a removed
//! row would take its share of the average with it (on `mnist` such an average erred on 57 % of the test
//! rows, the last weights on 21 %).

use super::correct::{Example, Update, correct};
use super::linear::RowOutcome;
use super::rule::Rule;
use crate::data::Row;
use crate::data::matrix::{Builder, Layout};
use crate::kernel::{Kernel, Precision};
use crate::model::Expansion;
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// A learner with a kernel and a bounded number of support rows.
#[derive(Clone, Debug)]
pub struct BudgetLearner<R> {
    rule: R,
    kernel: Kernel,
    bias: f64,
    budget: usize,
    scheme: Scheme,
    outputs: usize,
    support: Vec<SupportRow>,
    /// The row being learned from, as a dense vector; all zero between rows.
    dense: Vec<f64>,
}

/// A support row, and its coefficient in each output.
#[derive(Clone, Debug)]
struct SupportRow {
    indices: Vec<u32>,
    values: Vec<f64>,
    norm_sq: f64,
    coefficients: Vec<f64>,
}

impl SupportRow {
    fn of(row: Row<'_>, norm_sq: f64, coefficients: Vec<f64>) -> Self {
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        row.for_each_nonzero(|j, x| {
            indices.push(j);
            values.push(x);
        });
        Self { indices, values, norm_sq, coefficients }
    }
}

impl<R: Rule> BudgetLearner<R> {
    /// A learner of zero weights and two classes, which keeps at most `budget` rows.
    pub fn new(rule: R, kernel: Kernel, bias: Bias, budget: usize) -> Self {
        let (scheme, bias) = (Scheme::Two, bias.coordinate());
        Self { rule, kernel, bias, budget, scheme, outputs: 1, support: Vec::new(), dense: Vec::new() }
    }

    /// Reserves room for rows of so many features and classes. Two classes with one weight vector become
    /// joint ones with `−w` and `w`.
    pub fn reserve(&mut self, features: usize, classes: usize) {
        if features > self.dense.len() {
            self.dense.resize(features, 0.0);
        }
        if classes > 2 && classes > self.outputs {
            for row in &mut self.support {
                if self.scheme == Scheme::Two {
                    let c = R::JOINT_SHARE * row.coefficients[0];
                    row.coefficients = vec![-c, c];
                }
                row.coefficients.resize(classes, 0.0);
            }
            (self.scheme, self.outputs) = (Scheme::Joint, classes);
        }
    }

    /// Predicts a row, then learns from its class. [`BudgetLearner::reserve`] must have been called for both.
    pub fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> RowOutcome {
        if weight <= 0.0 {
            return RowOutcome::default();
        }
        let norm_sq = row.norm_sq();
        let scores = self.scores(row, norm_sq);
        let self_kernel = self.self_kernel(norm_sq);
        let mut updates = Vec::new();
        let example = Example { class, weight };
        let outcome =
            correct(&self.rule, self.scheme, &scores, example, || self_kernel, |update| updates.push(update));
        if !updates.is_empty() {
            while self.support.len() >= self.budget {
                self.remove_least();
            }
            self.add_support(row, norm_sq, &updates);
        }
        outcome
    }

    fn scores(&mut self, row: Row<'_>, norm_sq: f64) -> Vec<f64> {
        let mut scores = vec![0.0; self.outputs];
        row.for_each_stored(|j, x| self.dense[j as usize] = x);
        for support in &self.support {
            let dot = Row::Sparse64(&support.indices, &support.values).dot(&self.dense);
            let kernel = self.kernel.of(dot, norm_sq, support.norm_sq) + self.bias * self.bias;
            scores.iter_mut().zip(&support.coefficients).for_each(|(score, c)| *score += c * kernel);
        }
        row.for_each_stored(|j, _| self.dense[j as usize] = 0.0);
        scores
    }

    /// `K(x, x)`, the squared norm of a row in the kernel's feature space.
    fn self_kernel(&self, norm_sq: f64) -> f64 {
        self.kernel.of(norm_sq, norm_sq, norm_sq) + self.bias * self.bias
    }

    /// Removes the support row that contributes least to the weights.
    fn remove_least(&mut self) {
        let contributions = self.support.iter().map(|row| self.contribution(row)).enumerate();
        // Of equal ones `min_by` takes the first, which is the oldest.
        let least = contributions.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at);
        self.support.remove(least);
    }

    fn contribution(&self, row: &SupportRow) -> f64 {
        row.coefficients.iter().map(|c| c.abs()).sum::<f64>() * self.self_kernel(row.norm_sq).sqrt()
    }

    fn add_support(&mut self, row: Row<'_>, norm_sq: f64, updates: &[Update]) {
        let mut coefficients = vec![0.0; self.outputs];
        updates.iter().flat_map(Update::steps).for_each(|(output, step)| coefficients[output] += step);
        self.support.push(SupportRow::of(row, norm_sq, coefficients));
    }

    /// The squared norms of the support rows. Computed anew from the rows as they are stored they could
    /// differ in the last digit.
    pub(crate) fn norms_sq(&self) -> Vec<f64> {
        self.support.iter().map(|row| row.norm_sq).collect()
    }

    /// Resumes from weights whose outputs are in the order in which classes occurred, and the squared norms
    /// of their rows.
    pub(crate) fn resume(&mut self, weights: &Expansion, norms_sq: &[f64]) {
        self.outputs = weights.outputs;
        self.scheme = if self.outputs == 1 { Scheme::Two } else { Scheme::Joint };
        self.dense.resize(weights.rows.columns().max(self.dense.len()), 0.0);
        let coefficients = weights.coefficients.chunks_exact(self.outputs);
        self.support = (0..weights.rows.rows())
            .zip(norms_sq.iter().zip(coefficients))
            .map(|(i, (&norm_sq, own))| SupportRow::of(weights.rows.row(i), norm_sq, own.to_vec()))
            .collect();
    }

    /// The current multiclass scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The weights, with classes in this order.
    pub fn finish(self, order: &[u32], features: usize) -> Expansion {
        let mut builder = Builder::new(Layout::Sparse);
        let mut coefficients = Vec::with_capacity(self.support.len() * self.outputs);
        for row in &self.support {
            builder.push(&row.indices, &row.values);
            match self.scheme {
                Scheme::Two if order.first() == Some(&1) => coefficients.push(-row.coefficients[0]),
                Scheme::Two => coefficients.push(row.coefficients[0]),
                _ => coefficients.extend(order.iter().map(|&class| row.coefficients[class as usize])),
            }
        }
        let mut rows = builder.finish();
        rows.widen(features);
        let Self { kernel, bias, outputs, .. } = self;
        Expansion { kernel, precision: Precision::Double, bias, rows, outputs, coefficients }
    }
}
