//! A warm start from a subsample of the rows.
//!
//! The minimum over every eighth row is as near to the minimum over all rows as eight times fewer rows can
//! tell, and costs an eighth as much to find. From there few steps over all rows are left.

use crate::data::Matrix;
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::Problem;

/// One row of so many is taken.
const STEP: usize = 8;
/// Fewer rows than this for each column say too little of the others.
const ROWS_PER_COLUMN: usize = 16;
/// Fewer rows than this are not worth the trouble.
const LEAST_ROWS: usize = 512;

/// Every eighth row, with its target and its weight.
pub(super) struct Subsample {
    rows: Matrix<'static>,
    targets: Vec<f64>,
    row_weights: Vec<f64>,
    total: f64,
}

impl Subsample {
    /// The subsample of a problem; `None` where it would say too little of all rows.
    pub(super) fn of<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> Option<Self> {
        let count = problem.len().div_ceil(STEP);
        if count < LEAST_ROWS || count < ROWS_PER_COLUMN * problem.rows.columns() {
            return None;
        }
        let (targets, row_weights) = (every(problem.targets), every(problem.row_weights));
        let total = problem.total * weight(&row_weights, count) / weight(problem.row_weights, problem.len());
        (has_different_targets(&targets, &row_weights) && total.is_finite()).then(|| Self {
            rows: problem.rows.every(STEP),
            targets,
            row_weights,
            total,
        })
    }

    /// The subsample as a problem with the same loss and penalty.
    pub(super) fn problem<L: Loss, P: Penalty>(&self, like: &Problem<'_, L, P>) -> Problem<'_, L, P> {
        Problem {
            rows: &self.rows,
            targets: &self.targets,
            row_weights: &self.row_weights,
            total: self.total,
            loss: like.loss,
            penalty: like.penalty,
            bias: like.bias,
        }
    }

    /// By how much, relatively, the subsample's minimum may well be off: what its rows are overfitted by.
    pub(super) fn overfitting(&self) -> f64 {
        0.5 * self.rows.columns() as f64 / self.rows.rows() as f64
    }
}

fn every(values: &[f64]) -> Vec<f64> {
    values.iter().copied().step_by(STEP).collect()
}

/// The sum of the weights of so many rows; no weights are weights of 1.
fn weight(weights: &[f64], rows: usize) -> f64 {
    if weights.is_empty() { rows as f64 } else { weights.iter().sum() }
}

/// Whether the rows that count have different targets: from one class alone nothing is learned.
fn has_different_targets(targets: &[f64], row_weights: &[f64]) -> bool {
    let counts = |i: &usize| row_weights.get(*i).is_none_or(|weight| *weight > 0.0);
    let mut counted = (0..targets.len()).filter(counts).map(|i| targets[i]);
    counted.next().is_some_and(|first| counted.any(|y| y != first))
}
