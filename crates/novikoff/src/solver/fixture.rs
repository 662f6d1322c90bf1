//! What the tests of several solvers share.

use super::{Control, Solution, Solver, WarmStart};
use crate::control::{Unwatched, Watch};
use crate::data::Matrix;
use crate::data::matrix::{Builder, Layout};
use crate::loss::Loss;
use crate::penalty::{Bias, L2, Penalty};
use crate::risk::{Point, Problem};

pub(super) const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];

pub(super) fn dense(rows: &[Vec<f64>]) -> Matrix<'static> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut builder = Builder::new(Layout::Dense { columns });
    let indices: Vec<u32> = (0..columns as u32).collect();
    rows.iter().for_each(|row| builder.push(&indices, row));
    builder.finish()
}

pub(super) fn sparse(rows: &[Vec<f64>]) -> Matrix<'static> {
    let mut builder = Builder::new(Layout::Sparse);
    for row in rows {
        let (indices, values): (Vec<u32>, Vec<f64>) =
            (0..).zip(row.iter().copied()).filter(|(_, x)| *x != 0.0).unzip();
        builder.push(&indices, &values);
    }
    let mut matrix = builder.finish();
    matrix.widen(rows.first().map_or(0, Vec::len));
    matrix
}

pub(super) fn problem<'a, L: Loss>(
    rows: &'a Matrix<'a>,
    targets: &'a [f64],
    loss: L,
    lambda: f64,
    bias: Bias,
) -> Problem<'a, L, L2> {
    Problem { rows, targets, row_weights: &[], total: targets.len() as f64, loss, penalty: L2(lambda), bias }
}

pub(super) fn solve<L: Loss, P: Penalty>(
    solver: &impl Solver<L, P>,
    problem: &Problem<'_, L, P>,
    start: Option<&WarmStart>,
    tolerance: f64,
    steps: usize,
) -> Solution {
    let mut unwatched = Unwatched;
    let watch = Watch::new(&mut unwatched);
    let control = Control { tolerance, steps, seed: 7, output: (0, 1), trace: true, watch: &watch };
    solver.solve(problem, start, &control)
}

pub(super) fn objective<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, point: &Point) -> f64 {
    problem.mean_loss(&problem.scores(point)) + problem.penalty_of(point)
}

/// On one thread and on three: the same bits.
pub(super) fn same_on_any_threads<T: PartialEq + std::fmt::Debug + Send>(run: impl Fn() -> T + Sync) {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&run);
    assert_eq!(on(1), on(3));
}
