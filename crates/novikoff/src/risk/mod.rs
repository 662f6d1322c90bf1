//! Regularised empirical risk: the mean loss of the rows plus a penalty of the weights, and its duality gap.
//!
//! ```text
//! (1/n) Σ cᵢ ℓ(yᵢ, <w, xᵢ> + b) + Σⱼ p(wⱼ)
//! ```
//! `n` is the sum of the row weights (the number of rows where there are none), so that a row of weight 2 is
//! the same as the row twice. Class weights are factors of `cᵢ` that `n` does not know of. A penalised bias
//! counts as a weight.

mod gap;
mod joint;
mod joint_gap;
mod passes;

pub use gap::{Gap, duality_gap};
pub(crate) use gap::{balance, duality_gap_with_gradient, scores_and_gap};
pub use joint::Joint;
pub(crate) use joint::{log_sum_exp, probabilities};
pub use joint_gap::joint_gap;

pub(crate) use joint_gap::joint_balance;
pub(crate) use passes::{blocks, sum};

use crate::data::{Matrix, Row};
use crate::loss::Loss;
use crate::penalty::{Bias, Penalty};

/// Rows and targets, a loss and a penalty: everything that the minimum depends on.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a, L, P> {
    /// The rows.
    pub rows: &'a Matrix<'a>,
    /// The target of each: +1 or −1 for classes.
    pub targets: &'a [f64],
    /// How much each row counts; empty if each counts once.
    pub row_weights: &'a [f64],
    /// What the sum of losses is divided by.
    pub total: f64,
    /// The loss.
    pub loss: L,
    /// The penalty.
    pub penalty: P,
    /// Whether there is a bias, and whether it is penalised.
    pub bias: Bias,
}

/// Weights and a bias.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// A weight per column.
    pub weights: Vec<f64>,
    /// The constant; zero where there is none.
    pub bias: f64,
}

impl Point {
    /// All zero.
    pub fn zero(columns: usize) -> Self {
        Self { weights: vec![0.0; columns], bias: 0.0 }
    }

    /// The inner product, bias and all.
    pub fn dot(&self, other: &Point) -> f64 {
        self.weights.iter().zip(&other.weights).map(|(a, b)| a * b).sum::<f64>() + self.bias * other.bias
    }

    /// `self ← self + factor·other`.
    pub fn add(&mut self, factor: f64, other: &Point) {
        for (a, b) in self.weights.iter_mut().zip(&other.weights) {
            *a += factor * b;
        }
        self.bias += factor * other.bias;
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(mut self, other: Point) -> Self {
        self.add(1.0, &other);
        self
    }

    /// So many times as long.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { weights: self.weights.iter().map(|w| factor * w).collect(), bias: factor * self.bias }
    }
}

impl<'a, L: Loss, P: Penalty> Problem<'a, L, P> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The factor of row `i`'s loss in the objective: `cᵢ/n`.
    #[inline(always)]
    pub fn share(&self, i: usize) -> f64 {
        self.row_weights.get(i).copied().unwrap_or(1.0) / self.total
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Row<'a> {
        self.rows.row(i)
    }

    /// The penalty of a point.
    pub fn penalty_of(&self, point: &Point) -> f64 {
        let bias = if self.bias == Bias::Penalised { self.penalty.value(point.bias) } else { 0.0 };
        point.weights.iter().map(|w| self.penalty.value(*w)).sum::<f64>() + bias
    }

    /// The mean loss at these scores.
    pub fn mean_loss(&self, scores: &[f64]) -> f64 {
        self.sum(|i| self.share(i) * self.loss.value(self.targets[i], scores[i]))
    }

    /// Whether every row that counts is on its side, by these scores and by more than their rounding.
    pub fn separates(&self, scores: &[f64]) -> bool {
        let rounding = 1e-9 * scores.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
        (0..self.len()).all(|i| self.share(i) == 0.0 || self.targets[i] * scores[i] > rounding)
    }

    /// The same problem with another penalty.
    pub fn with_penalty<Q>(&self, penalty: Q) -> Problem<'a, L, Q> {
        Problem {
            loss: self.loss,
            rows: self.rows,
            targets: self.targets,
            row_weights: self.row_weights,
            total: self.total,
            penalty,
            bias: self.bias,
        }
    }
}
