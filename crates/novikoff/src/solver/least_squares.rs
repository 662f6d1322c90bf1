//! Least squares, by factorisation: the weights of least squared error, and of all such weights the shortest.
//!
//! Written with `A = √share·X` and `b = √share·y`, the problem is `min ‖Aw − b‖² + (λ/2)‖w‖²`. What is done,
//! and why:
//!
//! 1. **Scale.** Columns are divided by their length, so that a rank does not depend on anybody's units; with
//!    a free bias they are centred first. What is left of a column is measured against what it was before
//!    centring, because that is what its digits were spent on: a constant column counts as zero.
//! 2. **Reduce.** Blocks of rows are factored on all cores, `[√share | A | b] = QR`, and the `R`s are
//!    factored again: the answer needs only the last one, a triangle. Blocks depend on the numbers of rows
//!    and columns alone, so the bits do not depend on threads. The constant goes first, so everything after
//!    it is free of what rounding left of the means.
//! 3. **Rank.** A column-pivoted `QR` of the triangle, with a penalty over `√(λ/2)·I` in the same units. Full
//!    rank: the answer is unique, and solves a triangular system. Otherwise `T w = c` with `T` of full row
//!    rank remains, in the true units again, and its shortest solution comes out of a `QR` of `Tᵀ`: a
//!    complete orthogonal decomposition.
//!
//! With fewer rows than columns the shortest answer lies in the span of the rows: `Aᵀ = ZL` comes first, and
//! steps 1 and 3 are taken with `Lᵀ`, which has as many columns as there are rows.
//!
//! Sparse data are tried with conjugate gradients first, and data that are too large for factors are left to
//! them: they too tend to the shortest solution, and how far they got is measured.

mod cgls;

use super::{Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::loss::Squared;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder;
use faer::linalg::solvers::{ColPivQr, Qr};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Conj, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Least squares by a rank-revealing factorisation; by conjugate gradients where the factors would be too
/// large.
///
/// With λ = 0 and columns that depend on each other the weights are the shortest of all that are best (the
/// bias does not count unless it is penalised): `(XᵀX)⁻Xᵀy` with the true generalised inverse.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Squared;
/// use novikoff::penalty::{Bias, L2};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Control, LeastSquares, Solver};
///
/// // y = 6x + 1, and x stands in the table twice.
/// let mut builder = Builder::new(Layout::Dense { columns: 2 });
/// for x in [1.0, 2.0, 5.0] {
///     builder.push(&[0, 1], &[x, x]);
/// }
/// let (rows, targets) = (builder.finish(), [7.0, 13.0, 31.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 3.0,
///     loss: Squared, penalty: L2(0.0), bias: Bias::Free,
/// };
/// let (mut unwatched, output) = (Unwatched, (0, 1));
/// let watch = Watch::new(&mut unwatched);
/// let control = Control { tolerance: 1e-9, steps: 100, seed: 0, output, trace: false, watch: &watch };
/// let point = LeastSquares.solve(&problem, None, &control).point;
/// assert!((point.weights[0] - 3.0).abs() < 1e-12 && (point.weights[1] - 3.0).abs() < 1e-12);
/// assert!((point.bias - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastSquares;

/// How far weights are from the best, for problems without a penalty, where there is no gap: the largest `|Σ
/// shareᵢ rᵢ xᵢⱼ + (λ/2)wⱼ| / (‖xⱼ‖·‖y‖)` over all columns (and the bias), with residuals `r` and lengths
/// weighted by the shares. Half the gradient, that is, in units of the columns and the targets: rounding
/// leaves some 1e-16 of it.
pub(super) fn optimality(problem: &Problem<'_, Squared, L2>, point: &Point, scores: &[f64]) -> f64 {
    let residual = problem.combine(|i| problem.share(i) * (scores[i] - problem.targets[i]));
    let lengths = lengths(problem);
    let targets = problem.sum(|i| problem.share(i) * problem.targets[i].powi(2)).sqrt();
    let half = 0.5 * problem.penalty.0;
    let columns = residual.weights.iter().zip(&point.weights).zip(&lengths.columns);
    let of_columns =
        columns.map(|((g, w), length)| ratio(g + half * w, length * targets)).fold(0.0, f64::max);
    let bias = match problem.bias {
        Bias::Free => residual.bias,
        Bias::Penalised => residual.bias + half * point.bias,
        Bias::None => 0.0,
    };
    of_columns.max(ratio(bias, lengths.constant * targets))
}

/// `|a|/b`; nothing of nothing is nothing.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a.abs() / b.max(f64::MIN_POSITIVE) }
}

impl Solver<Squared, L2> for LeastSquares {
    fn solve(
        &self,
        problem: &Problem<'_, Squared, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        /// Multiplications that are over before anybody notices.
        const QUICK: f64 = 3e9;
        let work = work(problem);
        if !fits(problem) {
            return cgls::solve(problem, start, control);
        }
        if !problem.rows.is_dense() && work > QUICK {
            // For as long as a factorisation would take.
            let steps = (work / (8.0 * problem.rows.stored() as f64 + 1.0)) as usize;
            let found = cgls::solve(problem, start, &Control { steps: steps.min(control.steps), ..*control });
            if matches!(found.termination, Termination::Converged | Termination::Interrupted) {
                return found;
            }
        }
        factorise(problem, start, control)
    }
}

/// Multiplications of a factorisation.
fn work(problem: &Problem<'_, Squared, L2>) -> f64 {
    let (rows, columns) = (problem.len() as f64, problem.rows.columns() as f64);
    2.0 * rows.min(columns).powi(2) * rows.max(columns)
}

/// Whether factors fit into memory and time.
fn fits(problem: &Problem<'_, Squared, L2>) -> bool {
    /// A factor of 3,000 × 3,000 takes 72 MB, and there are a few.
    const SIDE: usize = 3000;
    /// Numbers of a factor as wide as the data.
    const NUMBERS: usize = 30_000_000;
    /// Multiplications that sparse rows, which have a cheaper way, are worth.
    const WORK: f64 = 4e11;
    let (rows, columns) = (problem.len(), problem.rows.columns());
    let small = rows > columns || rows.saturating_mul(columns) <= NUMBERS;
    rows.min(columns) <= SIDE && small && (problem.rows.is_dense() || work(problem) <= WORK)
}

fn factorise(
    problem: &Problem<'_, Squared, L2>,
    start: Option<&WarmStart>,
    control: &Control<'_>,
) -> Solution {
    let columns = problem.rows.columns();
    let mut recorder = Recorder::new(control);
    let begin = start.map_or_else(|| Point::zero(columns), |start| start.point.clone());
    let at_begin = problem.mean_loss(&problem.scores(&begin)) + problem.penalty_of(&begin);
    if recorder.step(at_begin, None, None, Some(&begin)) {
        return recorder.finish(begin, None, Termination::Interrupted);
    } else if control.steps == 0 {
        return recorder.finish(begin, None, Termination::OutOfSteps);
    }
    let Some(point) = System::new(problem).answer(&|| !control.watch.goes_on()) else {
        return recorder.finish(begin, None, Termination::Interrupted);
    };
    if !point.weights.iter().all(|w| w.is_finite()) || !point.bias.is_finite() {
        return recorder.finish(begin, None, Termination::Stalled);
    }
    let found = duality_gap(problem, &point, &problem.scores(&point), None);
    recorder.step(found.objective, found.relative(), found.gradient, Some(&point));
    recorder.finish(point, None, Termination::Converged)
}

/// Lengths of columns, with rows weighted by their shares.
struct Lengths {
    columns: Vec<f64>,
    /// Of the column of ones: the root of the sum of all shares.
    constant: f64,
}

fn lengths(problem: &Problem<'_, Squared, L2>) -> Lengths {
    let squares = |rows: Range<usize>| {
        let mut sums = vec![0.0; problem.rows.columns()];
        for i in rows {
            let share = problem.share(i);
            problem.row(i).for_each_nonzero(|j, x| sums[j as usize] += share * x * x);
        }
        sums
    };
    let parts: Vec<Vec<f64>> = problem.blocks().into_par_iter().map(squares).collect();
    let mut sums = vec![0.0; problem.rows.columns()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    }
    Lengths {
        columns: sums.into_iter().map(f64::sqrt).collect(),
        constant: problem.sum(|i| problem.share(i)).sqrt(),
    }
}

/// The problem as a dense matrix that is made block by block: the constant of a free bias first, then the
/// columns (a penalised bias is the last of them), then the targets.
struct System<'a> {
    problem: &'a Problem<'a, Squared, L2>,
    /// What columns are divided by.
    units: Vec<f64>,
    /// What is taken off columns and targets before.
    means: Point,
    /// Columns of weights, and whether a constant goes before them.
    columns: usize,
    free: bool,
}

impl<'a> System<'a> {
    fn new(problem: &'a Problem<'a, Squared, L2>) -> Self {
        let lengths = lengths(problem);
        let (free, penalised) = (problem.bias == Bias::Free, problem.bias == Bias::Penalised);
        let mut units = lengths.columns;
        units.extend(penalised.then_some(lengths.constant));
        units.iter_mut().filter(|unit| **unit == 0.0).for_each(|unit| *unit = 1.0);
        let mut means = Point::zero(problem.rows.columns());
        let total = lengths.constant.powi(2);
        if free && total > 0.0 {
            means = problem.combine(|i| problem.share(i) / total);
            means.bias = problem.sum(|i| problem.share(i) * problem.targets[i]) / total;
        }
        Self { problem, columns: units.len(), units, means, free }
    }

    /// Columns of the matrix, with constant and targets.
    fn width(&self) -> usize {
        usize::from(self.free) + self.columns + 1
    }

    /// Writes rows, one below the other from row `at` of `into`, which must be zero there.
    fn fill(&self, rows: Range<usize>, mut into: MatMut<'_, f64>, at: usize) {
        let first = usize::from(self.free);
        for (r, i) in (at..).zip(rows) {
            let root = self.problem.share(i).max(0.0).sqrt();
            if self.free {
                into[(r, 0)] = root;
                for (j, (mean, unit)) in self.means.weights.iter().zip(&self.units).enumerate() {
                    into[(r, first + j)] = -root * mean / unit;
                }
            }
            self.problem.row(i).for_each_nonzero(|j, x| {
                let j = j as usize;
                // In one go: taken apart, the difference would lose the digits that centring is there to
                // keep.
                into[(r, first + j)] = root * (x - self.means.weights[j]) / self.units[j];
            });
            if self.problem.bias == Bias::Penalised {
                into[(r, first + self.columns - 1)] = root / self.units[self.columns - 1];
            }
            into[(r, first + self.columns)] = root * (self.problem.targets[i] - self.means.bias);
        }
    }

    /// The triangular factor of the whole matrix; `None` if the observer asks to stop.
    fn reduce(&self, stopped: &(impl Fn() -> bool + Sync)) -> Option<Mat<f64>> {
        /// More would not be faster on any machine that this runs on; fewer where each takes much memory.
        const MOST: usize = 16;
        let (rows, width) = (self.problem.len(), self.width());
        let most = if width > 1000 { 4 } else { MOST };
        let count = (rows / (4 * width)).clamp(1, most);
        let strips: Vec<Range<usize>> =
            (0..count).map(|k| rows * k / count..rows * (k + 1) / count).collect();
        let parts: Option<Vec<Mat<f64>>> =
            strips.into_par_iter().map(|strip| self.reduce_strip(strip, stopped)).collect();
        let mut parts = parts?;
        if parts.len() == 1 {
            return parts.pop();
        }
        let height = parts.iter().map(|part| part.nrows()).sum();
        let mut stacked = Mat::zeros(height, width);
        let mut at = 0;
        for part in &parts {
            stacked.subrows_mut(at, part.nrows()).copy_from(part);
            at += part.nrows();
        }
        Some(Qr::new(stacked.as_ref()).thin_R().to_owned())
    }

    /// The triangle of some rows: the triangle so far, with a block of rows below it, made a triangle again.
    fn reduce_strip(&self, strip: Range<usize>, stopped: &(impl Fn() -> bool + Sync)) -> Option<Mat<f64>> {
        let width = self.width();
        let block = (3 * width).max(256);
        let mut triangle = Mat::zeros(0, width);
        for begin in strip.clone().step_by(block) {
            if stopped() {
                return None;
            }
            let rows = begin..strip.end.min(begin + block);
            let top = triangle.nrows();
            let mut stacked = Mat::zeros(top + rows.len(), width);
            stacked.subrows_mut(0, top).copy_from(&triangle);
            self.fill(rows, stacked.as_mut(), top);
            triangle = Qr::new(stacked.as_ref()).thin_R().to_owned();
        }
        Some(triangle)
    }

    /// Weights and bias; `None` if the observer asks to stop.
    fn answer(&self, stopped: &(impl Fn() -> bool + Sync)) -> Option<Point> {
        let mut weights =
            if self.problem.len() < self.columns { self.wide() } else { self.tall(&self.reduce(stopped)?) };
        let bias = match self.problem.bias {
            Bias::None => 0.0,
            Bias::Penalised => weights.pop().unwrap_or(0.0),
            Bias::Free => {
                let offset: f64 = weights.iter().zip(&self.means.weights).map(|(w, mean)| w * mean).sum();
                self.means.bias - offset
            }
        };
        let mut point = Point { weights, bias };
        if self.free {
            // The best constant for these weights, as they came out: what rounding left of the means is in
            // here.
            let scores = self.problem.scores(&point);
            let all = self.problem.sum(|i| self.problem.share(i));
            let off = self.problem.sum(|i| self.problem.share(i) * (self.problem.targets[i] - scores[i]));
            point.bias += if all > 0.0 { off / all } else { 0.0 };
        }
        Some(point)
    }

    /// Weights out of the triangle, where there are at least as many rows as columns.
    fn tall(&self, triangle: &Mat<f64>) -> Vec<f64> {
        let first = usize::from(self.free);
        let height = triangle.nrows().saturating_sub(first).min(self.columns);
        let matrix = triangle.submatrix(first.min(triangle.nrows()), first, height, self.columns).to_owned();
        let right = (0..height).map(|r| triangle[(first + r, first + self.columns)]).collect();
        Equations { matrix, right }.solve(&self.units, 0.5 * self.problem.penalty.0, self.tolerance())
    }

    /// Weights as a combination of rows, where there are fewer rows than columns.
    fn wide(&self) -> Vec<f64> {
        let (rows, first) = (self.problem.len(), usize::from(self.free));
        let mut weights = vec![0.0; self.columns];
        let mut matrix = Mat::zeros(rows, self.width());
        self.fill(0..rows, matrix.as_mut(), 0);
        // Columns that are constant, but for rounding, have no say; the others in their true units. What
        // rounding left of the means is too short to count beside their sum.
        let length = |j: usize| matrix.col_as_slice(first + j).iter().map(|x| x * x).sum::<f64>().sqrt();
        let unit = |j: usize| if length(j) > self.tolerance() { self.units[j] } else { 0.0 };
        let units: Vec<f64> = (0..self.columns).map(unit).collect();
        let scale = units.iter().map(|u| u * u).sum::<f64>().sqrt();
        if rows == 0 || scale == 0.0 {
            return weights;
        }
        let order = descending(units.iter().copied());
        let across = Mat::from_fn(self.columns, rows, |p, i| matrix[(i, first + order[p])] * units[order[p]]);
        let basis = Qr::new(across.as_ref());
        let triangle = basis.thin_R();
        let equations = Equations {
            matrix: Mat::from_fn(rows, rows, |i, k| if k <= i { triangle[(k, i)] / scale } else { 0.0 }),
            right: matrix.col_as_slice(first + self.columns).to_vec(),
        };
        let along = equations.solve(&vec![scale; rows], 0.5 * self.problem.penalty.0, self.tolerance());
        let mut all = Mat::from_fn(self.columns, 1, |p, _| along.get(p).copied().unwrap_or(0.0));
        apply(basis.Q_basis(), basis.Q_coeff(), all.as_mut(), false);
        (0..self.columns).for_each(|p| weights[order[p]] = all[(p, 0)]);
        weights
    }

    /// What is left of a column of length 1 by rounding alone, on the safe side.
    fn tolerance(&self) -> f64 {
        f64::EPSILON * (64.0 + self.columns as f64 + (self.problem.len() as f64).sqrt())
    }
}

/// Equations `Mu ≈ c` for weights in units of their columns, `u = units·w`.
struct Equations {
    matrix: Mat<f64>,
    right: Vec<f64>,
}

impl Equations {
    /// These equations, and `√half·w ≈ 0` for every weight. Larger rows come first: pivoted `QR` is then
    /// accurate row by row, whatever the sizes of the rows (Cox and Higham), and neither data nor penalty get
    /// lost beside the other.
    fn with_penalty(&self, units: &[f64], half: f64) -> Equations {
        let (height, columns) = self.matrix.shape();
        let largest = |r: usize| (0..columns).map(|j| self.matrix[(r, j)].abs()).fold(0.0, f64::max);
        let penalties: Vec<f64> = units.iter().map(|unit| half.sqrt() / unit).collect();
        let order = descending((0..height).map(largest).chain(penalties.iter().copied()));
        let entry = |r: usize, j: usize| match order[r] {
            row if row < height => self.matrix[(row, j)],
            row if row - height == j => penalties[j],
            _ => 0.0,
        };
        let right = order.iter().map(|&row| self.right.get(row).copied().unwrap_or(0.0)).collect();
        Equations { matrix: Mat::from_fn(order.len(), columns, entry), right }
    }

    /// The shortest weights of those with the least `‖Mu − c‖² + half·‖w‖²`. Pivots up to `tolerance` count
    /// as zero.
    fn solve(&self, units: &[f64], half: f64, tolerance: f64) -> Vec<f64> {
        if half > 0.0 {
            self.with_penalty(units, half).shortest(units, tolerance)
        } else {
            self.shortest(units, tolerance)
        }
    }

    fn shortest(&self, units: &[f64], tolerance: f64) -> Vec<f64> {
        let columns = units.len();
        let mut weights = vec![0.0; columns];
        if self.right.is_empty() || columns == 0 {
            return weights;
        }
        let pivoted = ColPivQr::new(self.matrix.as_ref());
        let (triangle, position) = (pivoted.thin_R(), pivoted.P().arrays().0);
        let rank = (0..triangle.nrows()).take_while(|&k| triangle[(k, k)].abs() > tolerance).count();
        let mut right = Mat::from_fn(self.right.len(), 1, |r, _| self.right[r]);
        apply(pivoted.Q_basis(), pivoted.Q_coeff(), right.as_mut(), true);
        let mut right = right.subrows(0, rank).to_owned();
        if rank == columns {
            solve_upper_triangular_in_place(triangle.submatrix(0, 0, rank, rank), right.as_mut(), Par::Seq);
            (0..rank).for_each(|k| weights[position[k]] = right[(k, 0)] / units[position[k]]);
            return weights;
        }
        // In true units from here on: it is the weights themselves that are to be short.
        let entry = |place: usize, k: usize| triangle[(k, place)] * units[position[place]];
        let order = descending(
            (0..columns).map(|place| (0..rank).map(|k| entry(place, k).abs()).fold(0.0, f64::max)),
        );
        let basis = Qr::new(Mat::from_fn(columns, rank, |p, k| entry(order[p], k)).as_ref());
        let lower = basis.thin_R().transpose();
        solve_lower_triangular_in_place(lower, right.as_mut(), Par::Seq);
        let mut all = Mat::from_fn(columns, 1, |p, _| if p < rank { right[(p, 0)] } else { 0.0 });
        apply(basis.Q_basis(), basis.Q_coeff(), all.as_mut(), false);
        (0..columns).for_each(|p| weights[position[order[p]]] = all[(p, 0)]);
        weights
    }
}

/// Numbers of things from the largest to the smallest.
fn descending(sizes: impl Iterator<Item = f64>) -> Vec<usize> {
    let sizes: Vec<f64> = sizes.collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    order
}

/// `Q·x` or `Qᵀ·x` for the `Q` of a factorisation.
fn apply(basis: MatRef<'_, f64>, factor: MatRef<'_, f64>, x: MatMut<'_, f64>, transposed: bool) {
    use householder::{
        apply_block_householder_sequence_on_the_left_in_place_scratch as scratch,
        apply_block_householder_sequence_on_the_left_in_place_with_conj as forward,
        apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj as backward,
    };
    let mut memory = MemBuffer::new(scratch::<f64>(basis.nrows(), factor.nrows(), x.ncols()));
    let act = if transposed { backward } else { forward };
    act(basis, factor, Conj::No, x, Par::Seq, MemStack::new(&mut memory));
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BIASES, dense, objective, problem, same_on_any_threads, solve, sparse};
    use super::*;
    use crate::control::{Flow, Progress, Unwatched, Watch};
    use crate::random::Random;
    use proptest::prelude::*;

    /// The rows as the textbook has them: with a column of ones for a bias, and the square root of the share
    /// as a factor.
    fn textbook(problem: &Problem<'_, Squared, L2>) -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |i: usize| {
            let root = problem.share(i).sqrt();
            let mut x = vec![0.0; problem.rows.columns()];
            problem.row(i).add_to(&mut x, root);
            x.extend((problem.bias != Bias::None).then_some(root));
            (x, root * problem.targets[i])
        };
        (0..problem.len()).map(row).unzip()
    }

    /// Gauss and Jordan with full pivoting: the rank, the pivots' columns, and the matrix in reduced form.
    fn reduced(mut a: Vec<Vec<f64>>, columns: usize) -> (Vec<usize>, Vec<Vec<f64>>) {
        let mut pivots = Vec::new();
        let size = a.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        for k in 0..a.len().min(columns) {
            let places = (k..a.len()).flat_map(|r| (0..columns).map(move |c| (r, c)));
            let Some((r, c)) = places.max_by(|p, q| a[p.0][p.1].abs().total_cmp(&a[q.0][q.1].abs())) else {
                break;
            };
            if a[r][c].abs() <= 1e-9 * size {
                break;
            }
            a.swap(k, r);
            pivots.push(c);
            let pivot = a[k].iter().map(|x| x / a[k][c]).collect::<Vec<f64>>();
            for (r, row) in a.iter_mut().enumerate() {
                let factor = row[c];
                if r == k {
                    row.clone_from(&pivot)
                } else {
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p)
                }
            }
        }
        (pivots, a)
    }

    /// A basis of the directions that a matrix takes to zero.
    fn null_space(a: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
        // In units of the columns, so that small ones are not taken for rounding.
        let unit = |c: usize| a.iter().map(|row| row[c].abs()).fold(0.0, f64::max);
        let units: Vec<f64> = (0..columns).map(|c| if unit(c) > 0.0 { unit(c) } else { 1.0 }).collect();
        let scaled = a.iter().map(|row| row.iter().zip(&units).map(|(x, u)| x / u).collect()).collect();
        let (pivots, a) = reduced(scaled, columns);
        let free = (0..columns).filter(|c| !pivots.contains(c));
        free.map(|c| {
            let mut direction = vec![0.0; columns];
            direction[c] = 1.0 / units[c];
            pivots.iter().enumerate().for_each(|(k, p)| direction[*p] = -a[k][c] / units[*p]);
            direction
        })
        .collect()
    }

    /// The answer by normal equations; only where they have one.
    fn normal_equations(problem: &Problem<'_, Squared, L2>) -> Option<Point> {
        let (a, b) = textbook(problem);
        let width = a[0].len();
        let penalised = |j: usize| j < problem.rows.columns() || problem.bias == Bias::Penalised;
        let equation = |j: usize| {
            let mut row: Vec<f64> = (0..width).map(|k| a.iter().map(|x| x[j] * x[k]).sum()).collect();
            row[j] += if penalised(j) { 0.5 * problem.penalty.0 } else { 0.0 };
            row.push(a.iter().zip(&b).map(|(x, y)| x[j] * y).sum());
            row
        };
        let (pivots, solved) = reduced((0..width).map(equation).collect(), width);
        let mut all = vec![0.0; width];
        pivots.iter().enumerate().for_each(|(k, p)| all[*p] = solved[k][width]);
        let bias = if problem.bias == Bias::None { 0.0 } else { all.pop()? };
        (pivots.len() == width).then_some(Point { weights: all, bias })
    }

    fn largest(a: &Point) -> f64 {
        a.weights.iter().fold(a.bias.abs(), |m, w| m.max(w.abs()))
    }

    fn distance(a: &Point, b: &Point) -> f64 {
        let weights = a.weights.iter().zip(&b.weights).map(|(a, b)| a - b).collect();
        largest(&Point { weights, bias: a.bias - b.bias })
    }

    fn close(a: &Point, b: &Point, tolerance: f64) -> bool {
        distance(a, b) <= tolerance * largest(b)
    }

    /// For weights of about 1, which may also all be zero.
    fn near(a: &Point, b: &Point, tolerance: f64) -> bool {
        distance(a, b) <= tolerance * (1.0 + largest(b))
    }

    /// No slope is left, and no direction that changes no score is among the weights: both together mean the
    /// shortest answer.
    fn is_the_shortest(
        problem: &Problem<'_, Squared, L2>,
        point: &Point,
        tolerance: f64,
    ) -> Result<(), TestCaseError> {
        let left = optimality(problem, point, &problem.scores(point));
        // Scores of large weights that cancel are rounded accordingly.
        let rounded: f64 =
            point.weights.iter().zip(lengths(problem).columns).map(|(w, length)| w.abs() * length).sum();
        prop_assert!(left <= tolerance * (1.0 + rounded), "optimality {left} of {point:?}");
        let (mut a, _) = textbook(problem);
        let mut all = point.weights.clone();
        if problem.bias == Bias::Penalised {
            all.push(point.bias);
        } else if problem.bias == Bias::Free {
            // Directions that a free bias makes up for: those that change all scores alike.
            let roots: Vec<f64> = a.iter_mut().map(|row| row.pop().unwrap()).collect();
            let total: f64 = roots.iter().map(|r| r * r).sum();
            for j in 0..all.len() {
                let mean: f64 = a.iter().zip(&roots).map(|(row, root)| row[j] * root).sum::<f64>() / total;
                a.iter_mut().zip(&roots).for_each(|(row, root)| row[j] -= mean * root);
            }
        }
        let size = all.iter().map(|w| w * w).sum::<f64>().sqrt();
        for direction in null_space(&a, all.len()) {
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let along: f64 = direction.iter().zip(&all).map(|(z, w)| z * w).sum::<f64>() / length;
            prop_assert!(
                along.abs() <= 1e4 * tolerance * (1.0 + size),
                "{along} along {direction:?} of {all:?}"
            );
        }
        Ok(())
    }

    #[test]
    fn a_line_through_points_on_it() {
        let (rows, targets) = (dense(&[vec![1.0], vec![2.0], vec![4.0]]), [5.0, 8.0, 14.0]);
        let found = solve(&LeastSquares, &problem(&rows, &targets, Squared, 0.0, Bias::Free), None, 1e-9, 1);
        assert!(close(&found.point, &Point { weights: vec![3.0], bias: 2.0 }, 1e-14), "{found:?}");
        assert_eq!((found.termination, found.steps, found.trace.len()), (Termination::Converged, 1, 2));
    }

    #[test]
    fn ridge_of_one_column_by_hand() {
        // (1/2)Σ(s − y)² + (λ/2)w² is least at w = Σxy/(Σx² + λ).
        let (rows, targets) = (dense(&[vec![3.0], vec![1.0]]), [1.0, 2.0]);
        for (lambda, expected) in [(0.0, 0.5), (10.0, 0.25), (1e-30, 0.5), (1e30, 5e-30)] {
            let problem = problem(&rows, &targets, Squared, lambda, Bias::None);
            let found = solve(&LeastSquares, &problem, None, 1e-9, 1).point;
            assert!(
                close(&found, &Point { weights: vec![expected], bias: 0.0 }, 1e-14),
                "{lambda}: {found:?}"
            );
        }
    }

    #[test]
    fn odd_shapes_have_their_shortest_answer() {
        let cases = [
            ("one row", vec![vec![3.0, 4.0]], vec![5.0]),
            ("one column", vec![vec![1.0], vec![-2.0], vec![5.0]], vec![1.0, 0.0, 2.0]),
            ("a zero row", vec![vec![0.0, 0.0], vec![1.0, 2.0], vec![3.0, 1.0]], vec![7.0, 1.0, 2.0]),
            ("only zeros", vec![vec![0.0, 0.0]; 3], vec![1.0, 2.0, 4.0]),
            ("a constant column", vec![vec![0.1, 1.0], vec![0.1, 2.0], vec![0.1, 4.0]], vec![1.0, 2.0, -4.0]),
            (
                "a large constant",
                vec![vec![1e6 + 0.1, 1e-6], vec![1e6 + 0.1, 3e-6], vec![1e6 + 0.1, 4e-6]],
                vec![1.0, 2.0, -4.0],
            ),
            (
                "a column twice",
                vec![vec![0.1, 0.1, 1.0], vec![0.3, 0.3, 5.0], vec![0.7, 0.7, 2.0]],
                vec![1.0, 2.0, -4.0],
            ),
            (
                "a sum of two",
                vec![vec![0.1, 0.2, 0.1 + 0.2], vec![0.7, 0.5, 0.7 + 0.5], vec![0.3, 0.9, 0.3 + 0.9]],
                vec![3.0, 1.0, 2.0],
            ),
            ("wide", vec![vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, 0.0, -1.0]], vec![1.0, 2.0]),
            ("the same row", vec![vec![1.0, 2.0, 3.0]; 4], vec![1.0, 2.0, 3.0, 4.0]),
        ];
        for (name, rows, targets) in cases {
            for rows in [dense(&rows), sparse(&rows)] {
                for bias in BIASES {
                    let problem = problem(&rows, &targets, Squared, 0.0, bias);
                    let found = solve(&LeastSquares, &problem, None, 1e-9, 1);
                    is_the_shortest(&problem, &found.point, 1e-14)
                        .unwrap_or_else(|e| panic!("{name}, {bias:?}: {e} {found:?}"));
                }
            }
        }
    }

    #[test]
    fn nothing_at_all_is_no_problem() {
        for rows in [vec![], vec![vec![]; 3]] {
            for bias in BIASES {
                for lambda in [0.0, 1.0] {
                    let (matrix, targets) = (dense(&rows), vec![2.0; rows.len()]);
                    let problem = Problem { total: 3.0, ..problem(&matrix, &targets, Squared, lambda, bias) };
                    let found = solve(&LeastSquares, &problem, None, 1e-9, 1).point;
                    assert!(found.weights.is_empty());
                    let expected = match bias {
                        Bias::None => 0.0,
                        Bias::Free => 2.0,
                        Bias::Penalised => 2.0 / (1.0 + lambda / 2.0),
                    };
                    let expected = if rows.is_empty() { 0.0 } else { expected };
                    assert!((found.bias - expected).abs() < 1e-15, "{bias:?} {lambda}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn two_columns_that_differ_by_a_constant_share_the_weight() {
        // Far from zero, where the means themselves are rounded: what differs is 1e-10 of what varies. Tall,
        // then wide.
        for (count, copies) in [(50, 2), (3, 5), (40, 60)] {
            let values: Vec<f64> = (0..count).map(|i| 1e6 + f64::from(i * i % 17) / 7.0).collect();
            let rows: Vec<Vec<f64>> =
                values.iter().map(|x| (0..copies).map(|k| x + 3e5 * f64::from(k)).collect()).collect();
            let targets: Vec<f64> = values.iter().map(|x| f64::from(copies) * (x - 1e6)).collect();
            let rows = dense(&rows);
            let found =
                solve(&LeastSquares, &problem(&rows, &targets, Squared, 0.0, Bias::Free), None, 1e-9, 1)
                    .point;
            assert!(found.weights.iter().all(|w| (w - 1.0).abs() < 1e-7), "{count} {copies} {found:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Small whole numbers of a chosen rank: normal equations are as good as exact.
        #[test]
        fn answers_are_those_of_normal_equations_and_the_shortest(
            left in prop::collection::vec(prop::collection::vec(-3i8..4, 3), 1..12),
            right in prop::collection::vec(prop::collection::vec(-3i8..4, 6), 3),
            full in prop::collection::vec(prop::collection::vec(-2i8..3, 6), 12),
            columns in 1usize..7,
            deficient in any::<bool>(),
            targets in prop::collection::vec(-5i8..6, 12),
            counts in prop::collection::vec(0u8..4, 12),
            lambda in prop::sample::select(vec![0.0, 1e-3, 1.0, 50.0]),
            weighted in any::<bool>(),
        ) {
            let product = |x: &Vec<i8>, j: usize| (0..3)
                .map(|k| f64::from(x[k]) * f64::from(right[k][j])).sum::<f64>();
            let row = |i: usize| (0..columns)
                .map(|j| if deficient { product(&left[i], j) } else { f64::from(full[i][j]) }).collect();
            let rows: Vec<Vec<f64>> = (0..left.len()).map(row).collect();
            let targets: Vec<f64> = targets[..rows.len()].iter().map(|y| f64::from(*y)).collect();
            let counts: Vec<f64> = counts[..rows.len()].iter().map(|c| f64::from(*c)).collect();
            let total: f64 = counts.iter().sum();
            for bias in BIASES {
                let (dense, sparse) = (dense(&rows), sparse(&rows));
                let mut task = problem(&dense, &targets, Squared, lambda, bias);
                if weighted && total > 0.0 {
                    task = Problem { row_weights: &counts, total, ..task };
                }
                let found = solve(&LeastSquares, &task, None, 1e-9, 1);
                if let Some(expected) = normal_equations(&task) {
                    // Normal equations square the condition of the rows, and so do conjugate gradients below.
                    prop_assert!(near(&found.point, &expected, 1e-7), "{bias:?} {found:?} {expected:?}");
                }
                if lambda == 0.0 {
                    is_the_shortest(&task, &found.point, 1e-13)?;
                } else {
                    let gap = duality_gap(&task, &found.point, &task.scores(&found.point), None);
                    prop_assert!(gap.within(1e-11) || gap.objective < 1e-25, "{gap:?}");
                }
                // Sparse rows are the same rows, and the other method finds the same weights.
                let same = Problem { rows: &sparse, ..task };
                prop_assert!(near(&solve(&LeastSquares, &same, None, 1e-9, 1).point, &found.point, 1e-12));
                let other = by_iteration(&task, 1e-14, 200);
                let off = objective(&task, &other) - objective(&task, &found.point);
                prop_assert!(off.abs() <= 1e-10 * (1.0 + objective(&task, &found.point)), "{bias:?}: {off}");
                prop_assert!(near(&other, &found.point, 1e-4), "{bias:?}: {other:?} {found:?}");
                // A row of weight c is the row c times.
                if weighted && total > 0.0 {
                    let each = |i: usize| std::iter::repeat_n(i, counts[i] as usize);
                    let repeated: Vec<usize> = (0..rows.len()).flat_map(each).collect();
                    let many = dense.select(repeated.iter().copied());
                    let targets: Vec<f64> = repeated.iter().map(|i| targets[*i]).collect();
                    let again = solve(&LeastSquares, &problem(&many, &targets, Squared, lambda, bias),
                        None, 1e-9, 1);
                    prop_assert!(near(&again.point, &found.point, 1e-9));
                }
            }
        }

        /// Columns in other units have weights in other units, and are of the same rank.
        #[test]
        fn units_do_not_matter(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 4), 8..30),
            powers in prop::collection::vec(-6i32..7, 4),
            targets in prop::collection::vec(-1.0..1.0f64, 30),
        ) {
            let units: Vec<f64> = powers.iter().map(|p| 10f64.powi(*p)).collect();
            let scaled: Vec<Vec<f64>> = rows.iter()
                .map(|row| row.iter().zip(&units).map(|(x, u)| x * u).collect()).collect();
            let (plain, scaled, targets) = (dense(&rows), dense(&scaled), &targets[..rows.len()]);
            for bias in BIASES {
                let plain = solve(&LeastSquares, &problem(&plain, targets, Squared, 0.0, bias), None,
                    1e-9, 1).point;
                let mut found =
                    solve(&LeastSquares, &problem(&scaled, targets, Squared, 0.0, bias), None, 1e-9, 1).point;
                found.weights.iter_mut().zip(&units).for_each(|(w, u)| *w *= u);
                prop_assert!(close(&found, &plain, 1e-9), "{bias:?} {found:?} {plain:?}");
                for lambda in [1e-9, 1.0, 1e9] {
                    let task = problem(&scaled, targets, Squared, lambda, bias);
                    let found = solve(&LeastSquares, &task, None, 1e-9, 1).point;
                    // A gap is computed from scores, whose rounding columns of a million and a λ of 1e-9 blow
                    // up.
                    let scores = task.scores(&found);
                    let (gap, left) =
                        (duality_gap(&task, &found, &scores, None), optimality(&task, &found, &scores));
                    prop_assert!(gap.within(1e-9) || left < 1e-14, "{bias:?} {lambda}: {gap:?} {left}");
                }
            }
        }
    }

    fn by_iteration(problem: &Problem<'_, Squared, L2>, tolerance: f64, steps: usize) -> Point {
        let mut unwatched = Unwatched;
        let watch = Watch::new(&mut unwatched);
        let control = Control { tolerance, steps, seed: 0, output: (0, 1), trace: false, watch: &watch };
        cgls::solve(problem, None, &control).point
    }

    fn random_rows(rows: usize, columns: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut random = Random::new(seed);
        let all: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..columns).map(|_| random.normal() + 0.5).collect()).collect();
        let targets = all.iter().map(|x| x.iter().sum::<f64>() + random.normal() + 3.0).collect();
        (all, targets)
    }

    #[test]
    fn many_blocks_give_what_one_gives_and_the_same_bits_on_any_threads() {
        let (rows, targets) = random_rows(9000, 7, 3);
        let rows = dense(&rows);
        for bias in BIASES {
            let task = problem(&rows, &targets, Squared, 0.0, bias);
            let found = solve(&LeastSquares, &task, None, 1e-9, 1).point;
            assert!(close(&found, &normal_equations(&task).unwrap(), 1e-12));
            same_on_any_threads(|| solve(&LeastSquares, &task, None, 1e-9, 1).point);
            let task = problem(&rows, &targets, Squared, 0.1, bias);
            same_on_any_threads(|| by_iteration(&task, 1e-9, 100));
        }
    }

    #[test]
    fn conjugate_gradients_say_how_they_ended() {
        let (rows, targets) = random_rows(200, 20, 5);
        let rows = dense(&rows);
        let run = |lambda: f64, tolerance: f64, steps: usize| {
            let task = problem(&rows, &targets, Squared, lambda, Bias::Free);
            let mut unwatched = Unwatched;
            let watch = Watch::new(&mut unwatched);
            let control = Control { tolerance, steps, seed: 0, output: (0, 1), trace: true, watch: &watch };
            cgls::solve(&task, None, &control)
        };
        assert_eq!(run(0.0, 1e-10, 500).termination, Termination::Converged);
        assert_eq!(run(0.5, 1e-10, 500).termination, Termination::Converged);
        assert_eq!(
            (run(0.5, 1e-10, 2).termination, run(0.5, 1e-10, 2).trace.len()),
            (Termination::OutOfSteps, 3)
        );
        assert_eq!(run(0.0, 0.0, 5000).termination, Termination::Stalled);
    }

    #[test]
    fn it_stops_when_told_to() {
        let (rows, targets) = random_rows(50, 3, 5);
        let rows = dense(&rows);
        let mut observer = |_: Progress| Flow::Stop;
        let watch = Watch::new(&mut observer);
        let control =
            Control { tolerance: 1e-9, steps: 9, seed: 0, output: (0, 1), trace: false, watch: &watch };
        let task = problem(&rows, &targets, Squared, 0.0, Bias::Free);
        assert_eq!(LeastSquares.solve(&task, None, &control).termination, Termination::Interrupted);
        assert_eq!(cgls::solve(&task, None, &control).termination, Termination::Interrupted);
    }
}
