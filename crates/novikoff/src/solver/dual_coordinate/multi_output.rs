//! Multi-output dual coordinate descent: several problems over the same rows at once, such as one per class.
//!
//! The weights of a column lie side by side, a lane for each problem, so that a row is read once for all of
//! them, and one instruction works on several. They are kept in single precision: learning waits for memory,
//! and duals that are found with seven digits are duals all the same. What is returned is computed anew from
//! the duals, in double precision, and its gap from that; a problem for which seven digits were not enough
//! goes on by itself from there, and so does one that needs many passes: later most rows rest in most lanes,
//! and there is nothing to share.
//!
//! Lanes know nothing of one another: how problems are put together makes no difference to any of them.

use super::lanes::{add_to_lanes, dot_lanes};
use super::{BiasTerm, DualCoordinateDescent, Moving, Pass, Rest, expected};
use crate::control::rows_between_questions;
use crate::data::Matrix;
use crate::loss::ProximalLoss;
use crate::penalty::{Bias, L2};
use crate::random::Random;
use crate::risk::{Point, Problem, balance, duality_gap_with_gradient};
use crate::solver::{Certified, Control, Recorder, Solution, Solver, Termination, WarmStart};

/// Most problems at once.
const MOST: usize = 12;
/// Most passes together.
const TOGETHER: usize = 12;
/// Most bytes of weights in lanes.
const ROOM: usize = 1 << 28;

/// How many problems over these rows to solve at once: one if that does not pay. Whether it does must not
/// depend on the number of threads, as alone a problem is solved with other roundings.
pub(super) fn width(rows: &Matrix, problems: usize) -> usize {
    let fits = rows.columns().saturating_mul(MOST * size_of::<f64>()) <= ROOM;
    if problems < 3 || rows.is_dense() || !rows.is_single() || !fits {
        return 1;
    }
    let parts = problems.div_ceil(MOST);
    // As many parts as threads, or a multiple of that, unless parts would be too small to be worth it.
    let even = parts.next_multiple_of(rayon::current_num_threads());
    problems.div_ceil(if problems >= 3 * even { even } else { parts })
}

/// Solves problems that have rows, row weights, penalty and bias in common.
pub(super) fn solve<L: ProximalLoss>(
    problems: &[Problem<'_, L, L2>],
    starts: &[Option<&WarmStart>],
    controls: &[Control<'_>],
) -> Vec<Solution> {
    match problems.len() {
        0..=4 => Group::<L, 4>::solve(problems, starts, controls),
        5..=8 => Group::<L, 8>::solve(problems, starts, controls),
        _ => Group::<L, MOST>::solve(problems, starts, controls),
    }
}

/// What each lane keeps of a row.
#[derive(Clone, Copy)]
struct Lanes<const K: usize> {
    targets: [f64; K],
    duals: [f64; K],
    rests: [Rest; K],
}

/// What each lane keeps besides.
struct Lane<'a> {
    recorder: Recorder<'a>,
    bias: BiasTerm,
    /// The bias itself.
    constant: f64,
    norm_sq: f64,
    pass: Pass,
    last_gap: f64,
    /// Why it makes no more passes.
    termination: Option<Termination>,
}

struct Group<'p, 'a, 'c, L, const K: usize> {
    problems: &'p [Problem<'a, L, L2>],
    weights: Vec<[f32; K]>,
    rows: Vec<Lanes<K>>,
    lanes: Vec<Lane<'c>>,
}

impl<'p, 'a, 'c, L: ProximalLoss, const K: usize> Group<'p, 'a, 'c, L, K> {
    fn solve(
        problems: &'p [Problem<'a, L, L2>],
        starts: &[Option<&WarmStart>],
        controls: &[Control<'c>],
    ) -> Vec<Solution> {
        let first = &problems[0];
        let norms = first.each(|i| first.row(i).norm_sq());
        let mut group = Self::new(problems, starts, controls, &norms);
        let mut random = Random::new(controls[0].seed);
        let mut order: Vec<u32> = (0..first.len() as u32).collect();
        let between = rows_between_questions(K * first.rows.stored() / first.len().max(1));
        for _ in 0..TOGETHER {
            random.shuffle(&mut order);
            for (at, &i) in order.iter().enumerate() {
                if at % between == 0 && !controls[0].watch.goes_on() {
                    break;
                }
                group.step(i as usize, norms[i as usize]);
            }
            (group.lanes.iter_mut().zip(problems)).for_each(|(lane, problem)| lane.after(problem));
            if group.lanes.iter().all(|lane| lane.termination.is_some()) {
                break;
            }
        }
        group.finish()
    }

    fn new(
        problems: &'p [Problem<'a, L, L2>],
        starts: &[Option<&WarmStart>],
        controls: &[Control<'c>],
        norms: &[f64],
    ) -> Self {
        let first = &problems[0];
        let empty = Lanes { targets: [1.0; K], duals: [0.0; K], rests: [Rest::default(); K] };
        let (mut weights, mut rows) = (written([0.0; K], first.rows.columns()), vec![empty; first.len()]);
        let mut lanes = Vec::with_capacity(problems.len());
        for (at, problem) in problems.iter().enumerate() {
            let mut bias = BiasTerm::new(problem, norms);
            let state = super::DualState::begin(problem, starts[at], &mut bias);
            for ((row, &target), &dual) in rows.iter_mut().zip(problem.targets).zip(&state.duals) {
                (row.targets[at], row.duals[at]) = (target, dual);
            }
            if state.norm_sq != 0.0 {
                weights.iter_mut().zip(&state.point.weights).for_each(|(place, w)| place[at] = *w as f32);
            }
            lanes.push(Lane {
                recorder: Recorder::new(&controls[at]),
                bias,
                constant: state.point.bias,
                norm_sq: state.norm_sq,
                pass: Pass::default(),
                last_gap: 0.0,
                termination: None,
            });
        }
        Self { problems, weights, rows, lanes }
    }

    /// Moves the duals of one row.
    #[inline]
    fn step(&mut self, i: usize, norm_sq: f64) {
        let Self { problems, weights, rows, lanes } = self;
        let state = &mut rows[i];
        let mut due = [false; K];
        for (at, lane) in lanes.iter().enumerate() {
            due[at] = lane.termination.is_none() && state.rests[at].is_due();
        }
        if !due.contains(&true) {
            return;
        }
        let row = problems[0].row(i);
        let dots = dot_lanes(row, weights);
        let (share, mut lengths) = (problems[0].share(i), [0.0f32; K]);
        for (at, lane) in lanes.iter_mut().enumerate() {
            if !due[at] {
                continue;
            }
            let (target, dual, dot) = (state.targets[at], state.duals[at], f64::from(dots[at]));
            let moving = Moving { target, dual, score: dot + lane.constant, norm_sq };
            let next = moving.best(&problems[at], share, &lane.bias, &mut lane.pass);
            let change = next - dual;
            state.rests[at].after(change != 0.0);
            if change != 0.0 {
                state.duals[at] = next;
                let length = -change * share / problems[at].penalty.0;
                lengths[at] = length as f32;
                lane.norm_sq += length * (2.0 * dot + length * norm_sq);
                lane.constant -= change * share * lane.bias.inverse;
            }
        }
        if lengths != [0.0; K] {
            add_to_lanes(row, weights, lengths);
        }
    }

    /// The solutions: those whose gap is within the tolerance as they are, the others after more passes by
    /// themselves.
    fn finish(mut self) -> Vec<Solution> {
        self.weights = Vec::new();
        let all_duals: Vec<Vec<f64>> = (0..self.lanes.len()).map(|at| self.settle(at)).collect();
        let Self { problems, rows, lanes, .. } = self;
        let (first, lambda) = (&problems[0], problems[0].penalty.0);
        let mut exact = written([0.0f64; K], first.rows.columns());
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.duals != [0.0; K]) {
            let factor = -first.share(i) / lambda;
            add_to_lanes(first.row(i), &mut exact, row.duals.map(|dual| factor * dual));
        }
        let dots: Vec<[f64; K]> = (0..rows.len()).map(|i| dot_lanes(first.row(i), &exact)).collect();
        // One for all: every fresh page costs.
        let mut gradient = Point::zero(exact.len());
        let weights = apart(&exact, problems.len());
        let each = problems.iter().zip(lanes).zip(all_duals).zip(weights).enumerate();
        each.map(|(at, (((problem, lane), duals), weights))| {
            let dots = dots.iter().map(|dots| dots[at]);
            lane.finish(problem, duals, weights, dots, &mut gradient)
        })
        .collect()
    }

    /// The duals of a lane, such that they prove something: with a free bias they must balance.
    fn settle(&mut self, at: usize) -> Vec<f64> {
        let mut duals: Vec<f64> = self.rows.iter().map(|row| row.duals[at]).collect();
        if self.problems[at].bias == Bias::Free && balance(&self.problems[at], &mut duals) {
            self.rows.iter_mut().zip(&duals).for_each(|(row, dual)| row.duals[at] = *dual);
        }
        duals
    }
}

/// The first of the lanes, each by itself.
fn apart<const K: usize>(lanes: &[[f64; K]], count: usize) -> Vec<Vec<f64>> {
    /// So many columns that they stay in the cache until every lane has taken its own.
    const CHUNK: usize = 1024;
    let mut all: Vec<Vec<f64>> = (0..count).map(|_| Vec::with_capacity(lanes.len())).collect();
    for chunk in lanes.chunks(CHUNK) {
        for (at, own) in all.iter_mut().enumerate() {
            own.extend(chunk.iter().map(|lanes| lanes[at]));
        }
    }
    all
}

impl Lane<'_> {
    /// The solution in double precision, if its gap is within the tolerance; otherwise that of more passes by
    /// itself. `dots` are the rows' products with the weights, and `gradient` is memory for the dual
    /// gradient.
    fn finish<L: ProximalLoss>(
        self,
        problem: &Problem<'_, L, L2>,
        duals: Vec<f64>,
        weights: Vec<f64>,
        dots: impl Iterator<Item = f64>,
        gradient: &mut Point,
    ) -> Solution {
        let (lambda, control, steps) = (problem.penalty.0, self.recorder.control, self.recorder.steps());
        let sum = problem.sum(|i| problem.share(i) * duals[i]);
        let bias = if problem.bias == Bias::Penalised { -sum / lambda } else { self.constant };
        let scores: Vec<f64> = dots.map(|dot| dot + bias).collect();
        gradient.weights.iter_mut().zip(&weights).for_each(|(g, w)| *g = -lambda * w);
        gradient.bias = sum;
        let point = Point { weights, bias };
        let gap = duality_gap_with_gradient(problem, &point, &scores, &duals, gradient);
        let termination = match () {
            () if self.termination == Some(Termination::Interrupted) => Some(Termination::Interrupted),
            () if gap.within(control.tolerance) => Some(Termination::Converged),
            () if steps >= control.steps => Some(Termination::OutOfSteps),
            () => None,
        };
        if let Some(termination) = termination {
            let certified = Some(Certified { scores, gap, duals: None });
            return Solution { certified, ..self.recorder.finish(point, Some(duals), termination) };
        }
        // Numbers too large for single precision leave no duals to begin with.
        let is_finite = duals.iter().all(|dual| dual.is_finite()) && self.bias.centre.is_finite();
        let start = WarmStart { point: Point { weights: Vec::new(), bias: self.bias.centre }, duals };
        let rest = Control { steps: control.steps - steps, ..control };
        let solution = DualCoordinateDescent.solve(problem, is_finite.then_some(&start), &rest);
        Solution { steps: solution.steps + steps, ..solution }
    }

    /// Updates the lane after a pass.
    fn after<L: ProximalLoss>(&mut self, problem: &Problem<'_, L, L2>) {
        if self.termination.is_some() {
            return;
        }
        let mut point = Point { weights: Vec::new(), bias: self.constant };
        self.bias.recentre(&mut point);
        self.constant = point.bias;
        let pass = std::mem::take(&mut self.pass);
        let rough = pass.loss + self.norm_sq * problem.penalty.0 / 2.0;
        let gap = expected(pass.gap, self.last_gap);
        self.last_gap = pass.gap;
        let control = self.recorder.control;
        self.termination = match () {
            _ if self.recorder.step(rough, None, None, None) => Some(Termination::Interrupted),
            // What was seen of resting rows is some passes old: a little more than the tolerance asks for.
            _ if gap <= ENOUGH * control.tolerance * rough || !gap.is_finite() => {
                Some(Termination::Converged)
            }
            _ if self.recorder.steps() >= control.steps => Some(Termination::OutOfSteps),
            _ => None,
        };
    }
}

/// The part of the tolerance that the gap is expected to be within when a lane ends.
const ENOUGH: f64 = 0.4;

/// So many of `value`, each of them written.
///
/// What `vec!` makes of zeros is memory that nobody has touched. Sums read a place before they write it: the
/// system hands out each page twice, first one that is shared and all zero, then one of its own, and tells
/// all other cores of the change.
fn written<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    // Or the compiler sees that these are zeros, and asks for untouched ones.
    all.resize(count, std::hint::black_box(value));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Unwatched, Watch};
    use crate::data::matrix::{Builder, Layout};
    use crate::loss::{Hinge, SquaredHinge};
    use crate::risk::{Gap, scores_and_gap};
    use proptest::prelude::*;

    /// Solutions of one problem per class, by parts of so many, and their gaps.
    fn solved<L: ProximalLoss>(
        loss: L,
        rows: &Matrix,
        classes: &[usize],
        bias: Bias,
        tolerance: f64,
        width: usize,
    ) -> Vec<(Solution, Gap)> {
        let count = classes.iter().max().map_or(0, |most| most + 1);
        let targets: Vec<Vec<f64>> = (0..count)
            .map(|class| classes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect())
            .collect();
        let total = classes.len() as f64;
        let problem =
            |targets| Problem { rows, targets, row_weights: &[], total, loss, penalty: L2(0.01), bias };
        let problems: Vec<_> = targets.iter().map(|targets| problem(&targets[..])).collect();
        let mut unwatched = Unwatched;
        let watch = Watch::new(&mut unwatched);
        let control =
            Control { tolerance, steps: 10_000, seed: 7, output: (0, count), trace: false, watch: &watch };
        let mut all = Vec::new();
        for part in problems.chunks(width) {
            if width == 1 {
                all.push(DualCoordinateDescent.solve(&part[0], None, &control));
                continue;
            }
            all.extend(DualCoordinateDescent.solve_multi_output(
                part,
                &vec![None; part.len()],
                &vec![control; part.len()],
            ));
        }
        let gap = |(problem, solution): (&Problem<'_, L, L2>, Solution)| {
            let (_, gap) = scores_and_gap(problem, &solution.point, solution.duals.as_deref());
            (solution, gap)
        };
        problems.iter().zip(all).map(gap).collect()
    }

    proptest! {
        #[test]
        fn problems_are_solved_as_each_would_be_alone(seed in any::<u64>(), loose in any::<bool>(),
            free in any::<bool>(), kinked in any::<bool>()) {
            let mut random = Random::new(seed);
            let mut builder = Builder::new(Layout::Sparse);
            let mut classes = Vec::new();
            for i in 0..60 {
                let indices: Vec<u32> = (0..40).filter(|_| random.below(6) == 0).collect();
                let values: Vec<f64> = indices.iter().map(|_| random.normal()).collect();
                builder.push(&indices, &values);
                classes.push(i % 11);
            }
            let mut rows = builder.finish();
            rows.widen(40);
            let bias = if free { Bias::Free } else { Bias::None };
            // A tolerance that lanes reach together, and one for which they go on alone.
            let tolerance = if loose { 1e-2 } else { 1e-6 };
            let solved = |width: usize| match kinked {
                true => solved(Hinge, &rows, &classes, bias, tolerance, width),
                false => solved(SquaredHinge, &rows, &classes, bias, tolerance, width),
            };
            let (alone, tens, fives) = (solved(1), solved(10), solved(5));
            for (((_, alone), (ten, gap)), (five, _)) in alone.iter().zip(&tens).zip(&fives) {
                prop_assert_eq!(&ten.point, &five.point);
                prop_assert_eq!(&ten.duals, &five.duals);
                prop_assert_eq!(ten.steps, five.steps);
                prop_assert!(gap.within(tolerance) || !alone.within(tolerance), "{gap:?} {alone:?}");
                // Neither is below what the other proves.
                let slack = 1e-12 * alone.objective;
                prop_assert!(gap.objective >= alone.dual.unwrap() - slack
                    && alone.objective >= gap.dual.unwrap() - slack);
            }
        }
    }
}
