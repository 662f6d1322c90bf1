//! Some of the rows, for a start near the minimum of all.
//!
//! The minimum of every eighth row's loss lies as near to that of all rows as eight times too few rows tell,
//! and costs an eighth as much to find. From there all rows have few steps left to make.

use crate::data::Matrix;
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::Problem;

/// One row of so many is taken.
const STEP: usize = 8;
/// Fewer rows than this for each column say too little of the others.
const ROWS_PER_COLUMN: usize = 16;
/// Fewer rows than this are no work that is worth saving.
const LEAST_ROWS: usize = 512;

/// Every eighth row, with its target and its weight.
pub(super) struct Part {
    rows: Matrix,
    targets: Vec<f64>,
    row_weights: Vec<f64>,
    total: f64,
}

impl Part {
    /// The part of a problem; `None` where it would say too little of the whole.
    pub(super) fn of<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> Option<Self> {
        let count = problem.len().div_ceil(STEP);
        if count < LEAST_ROWS || count < ROWS_PER_COLUMN * problem.rows.columns() {
            return None;
        }
        let every = |all: &[f64]| all.iter().copied().step_by(STEP).collect::<Vec<f64>>();
        let (targets, row_weights) = (every(problem.targets), every(problem.row_weights));
        let weight = |weights: &[f64], rows: usize| {
            if weights.is_empty() { rows as f64 } else { weights.iter().sum() }
        };
        let total = problem.total * weight(&row_weights, count) / weight(problem.row_weights, problem.len());
        let counted = || {
            targets.iter().enumerate().filter(|(i, _)| row_weights.get(*i).is_none_or(|weight| *weight > 0.0))
        };
        // Of one class alone nothing is learned.
        let differ = counted().next().is_some_and(|(_, first)| counted().any(|(_, y)| y != first));
        (differ && total.is_finite()).then(|| Self {
            rows: problem.rows.every(STEP),
            targets,
            row_weights,
            total,
        })
    }

    /// The part as a problem with the same loss and penalty.
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

    /// How much of the objective the part's minimum may well be off by: what a column of so many rows can
    /// learn by heart.
    pub(super) fn doubt(&self) -> f64 {
        0.5 * self.rows.columns() as f64 / self.rows.rows() as f64
    }
}
