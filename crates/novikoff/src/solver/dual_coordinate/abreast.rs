//! Several problems over the same rows at once, as one against the rest has them: one per class.
//!
//! The weights of a column lie side by side, a lane for each problem, so that a row is read once for all of them, and one
//! instruction works on several. Each lane does what it would do alone, to the order of its additions: how problems are put
//! together makes no difference to any of them.
//!
//! The first passes are what this is for. Later most rows rest in most lanes, and a lane that needs many passes goes on by itself.

use super::{BiasTerm, Course, DualCoordinate, Moving, Pass, Rest};
use crate::data::{Matrix, Row};
use crate::loss::ProximalLoss;
use crate::penalty::{L2, Penalty};
use crate::random::Random;
use crate::risk::{Point, Problem};
use crate::solver::{Certified, Control, Solution, Solver, Start};

/// Most problems abreast.
pub(super) const MOST: usize = 10;
/// Passes after which a lane goes on by itself.
const TOGETHER: usize = 12;
/// Most bytes of weights in lanes.
const ROOM: usize = 1 << 28;

/// How many problems over these rows to solve abreast: one if that does not pay. Whether it does must not depend on the number
/// of threads, as alone a problem's additions are in another order.
pub(super) fn width(rows: &Matrix, problems: usize) -> usize {
    let fits = rows.columns().saturating_mul(MOST * size_of::<f64>()) <= ROOM;
    if problems < 3 || rows.is_dense() || !fits {
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
    starts: &[Option<&Start>],
    controls: &[Control<'_>],
) -> Vec<Solution> {
    match problems.len() {
        ..=4 => Group::<L, 4>::solve(problems, starts, controls),
        ..=6 => Group::<L, 6>::solve(problems, starts, controls),
        ..=8 => Group::<L, 8>::solve(problems, starts, controls),
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
    /// None once it has ended.
    course: Option<Course<'a>>,
    bias: BiasTerm,
    /// The bias itself.
    constant: f64,
    norm_sq: f64,
    pass: Pass,
    solution: Option<Solution>,
}

struct Group<'p, 'a, 'c, L, const K: usize> {
    problems: &'p [Problem<'a, L, L2>],
    weights: Vec<[f64; K]>,
    rows: Vec<Lanes<K>>,
    lanes: Vec<Lane<'c>>,
}

impl<'p, 'a, 'c, L: ProximalLoss, const K: usize> Group<'p, 'a, 'c, L, K> {
    fn solve(problems: &'p [Problem<'a, L, L2>], starts: &[Option<&Start>], controls: &[Control<'c>]) -> Vec<Solution> {
        let first = &problems[0];
        let norms = first.each(|i| first.row(i).norm_sq());
        let mut group = Self::new(problems, starts, controls, &norms);
        let mut random = Random::new(controls[0].seed);
        let mut order: Vec<u32> = (0..first.len() as u32).collect();
        let passes = controls.iter().map(|control| control.steps).min().unwrap_or(0).min(TOGETHER);
        for _ in 0..passes {
            random.shuffle(&mut order);
            for &i in &order {
                group.step(i as usize, norms[i as usize]);
            }
            (0..problems.len()).for_each(|lane| group.after(lane));
            if group.lanes.iter().all(|lane| lane.solution.is_some()) {
                break;
            }
        }
        (0..problems.len()).map(|lane| group.finish(lane, &controls[lane], passes)).collect()
    }

    fn new(problems: &'p [Problem<'a, L, L2>], starts: &[Option<&Start>], controls: &[Control<'c>], norms: &[f64]) -> Self {
        let first = &problems[0];
        let columns = first.rows.columns();
        let empty = Lanes { targets: [1.0; K], duals: [0.0; K], rests: [Rest::default(); K] };
        let (mut weights, mut rows) = (vec![[0.0; K]; columns], vec![empty; first.len()]);
        let mut lanes = Vec::with_capacity(problems.len());
        for (lane, problem) in problems.iter().enumerate() {
            let mut bias = BiasTerm::new(problem, norms);
            let state = super::State::begin(problem, starts[lane], &mut bias);
            for ((row, &target), &dual) in rows.iter_mut().zip(problem.targets).zip(&state.duals) {
                (row.targets[lane], row.duals[lane]) = (target, dual);
            }
            if state.norm_sq != 0.0 {
                weights.iter_mut().zip(&state.point.weights).for_each(|(place, w)| place[lane] = *w);
            }
            let (constant, norm_sq) = (state.point.bias, state.norm_sq);
            let course = Some(Course::new(&controls[lane]));
            lanes.push(Lane { course, bias, constant, norm_sq, pass: Pass::default(), solution: None });
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
            due[at] = lane.course.is_some() && state.rests[at].is_due();
        }
        if !due.contains(&true) {
            return;
        }
        let row = problems[0].row(i);
        let dots = dot(row, weights);
        let (share, mut lengths) = (problems[0].share(i), [0.0; K]);
        for (at, lane) in lanes.iter_mut().enumerate() {
            if !due[at] {
                continue;
            }
            let (target, dual) = (state.targets[at], state.duals[at]);
            let moving = Moving { target, dual, score: dots[at] + lane.constant, norm_sq };
            let next = moving.best(&problems[at], share, &lane.bias, &mut lane.pass);
            let change = next - dual;
            state.rests[at].after(change != 0.0);
            if change != 0.0 {
                state.duals[at] = next;
                let length = -change * share / problems[at].penalty.l2();
                lengths[at] = length;
                lane.norm_sq += length * (2.0 * dots[at] + length * norm_sq);
                lane.constant -= change * share * lane.bias.inverse;
                lane.pass.moved = true;
            }
        }
        if lengths.iter().any(|length| *length != 0.0) {
            add(row, weights, &lengths);
        }
    }

    /// What a pass came to for one lane.
    fn after(&mut self, at: usize) {
        let Some(mut course) = self.lanes[at].course.take() else { return };
        let lane = &mut self.lanes[at];
        let mut point = Point { weights: Vec::new(), bias: lane.constant };
        let followed = lane.bias.recentre(&mut point);
        lane.constant = point.bias;
        let (pass, norm_sq) = (std::mem::take(&mut lane.pass), lane.norm_sq);
        let problem = &self.problems[at];
        let look = || Certified::new(problem, &self.point(at), Some(&self.duals(at)));
        let judged = course.after(problem, &pass, norm_sq, followed, look, None);
        if judged.looked {
            self.rows.iter_mut().for_each(|row| row.rests[at] = Rest::default());
        }
        match judged.ended {
            Some(ended) => self.lanes[at].solution = Some(course.finish(self.point(at), self.duals(at), ended)),
            None => self.lanes[at].course = Some(course),
        }
    }

    fn point(&self, at: usize) -> Point {
        Point { weights: self.weights.iter().map(|w| w[at]).collect(), bias: self.lanes[at].constant }
    }

    fn duals(&self, at: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row.duals[at]).collect()
    }

    /// The solution of a lane; one that is not there yet goes on by itself.
    fn finish(&mut self, at: usize, control: &Control<'_>, passes: usize) -> Solution {
        if let Some(solution) = self.lanes[at].solution.take() {
            return solution;
        }
        let start = Start { point: Point { weights: Vec::new(), bias: self.lanes[at].bias.centre }, duals: self.duals(at) };
        let control = Control { steps: control.steps - passes, ..*control };
        let solution = DualCoordinate.solve(&self.problems[at], Some(&start), &control);
        Solution { steps: solution.steps + passes, ..solution }
    }
}

/// `<w, x>` of every lane.
#[inline]
fn dot<const K: usize>(row: Row<'_>, weights: &[[f64; K]]) -> [f64; K] {
    let mut sums = [0.0; K];
    row.for_each_stored(|j, x| {
        if let Some(w) = weights.get(j as usize) {
            for lane in 0..K {
                sums[lane] += w[lane] * x;
            }
        }
    });
    sums
}

/// `w ← w + length·x` in every lane.
#[inline]
fn add<const K: usize>(row: Row<'_>, weights: &mut [[f64; K]], lengths: &[f64; K]) {
    row.for_each_stored(|j, x| {
        if let Some(w) = weights.get_mut(j as usize) {
            for lane in 0..K {
                w[lane] += lengths[lane] * x;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Unwatched, Watch};
    use crate::data::matrix::{Builder, Layout};
    use crate::loss::{Hinge, SquaredHinge};
    use crate::penalty::Bias;
    use proptest::prelude::*;

    /// Solutions of one problem per class, by parts of so many.
    fn solved<L: ProximalLoss>(
        loss: L,
        rows: &Matrix,
        classes: &[usize],
        bias: Bias,
        tolerance: f64,
        width: usize,
    ) -> Vec<Solution> {
        let count = classes.iter().max().map_or(0, |most| most + 1);
        let targets: Vec<Vec<f64>> =
            (0..count).map(|class| classes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect()).collect();
        let total = classes.len() as f64;
        let problem = |targets| Problem { rows, targets, row_weights: &[], total, loss, penalty: L2(0.01), bias };
        let problems: Vec<_> = targets.iter().map(|targets| problem(&targets[..])).collect();
        let mut unwatched = Unwatched;
        let watch = Watch::new(&mut unwatched);
        let control = Control { tolerance, steps: 1000, seed: 7, output: (0, count), trace: false, watch: &watch };
        let mut all = Vec::new();
        for part in problems.chunks(width) {
            if width == 1 {
                all.push(DualCoordinate.solve(&part[0], None, &control));
                continue;
            }
            all.extend(DualCoordinate.solve_abreast(part, &vec![None; part.len()], &vec![control; part.len()]));
        }
        all
    }

    proptest! {
        #[test]
        fn problems_are_solved_as_each_would_be_alone(seed in any::<u64>(), loose in any::<bool>(), free in any::<bool>(), kinked in any::<bool>()) {
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
            let tolerance = if loose { 1e-2 } else { 1e-9 };
            let solved = |width: usize| match kinked {
                true => solved(Hinge, &rows, &classes, bias, tolerance, width),
                false => solved(SquaredHinge, &rows, &classes, bias, tolerance, width),
            };
            let (alone, tens, fives) = (solved(1), solved(10), solved(5));
            for ((alone, ten), five) in alone.iter().zip(&tens).zip(&fives) {
                prop_assert_eq!(&ten.point, &five.point);
                prop_assert_eq!(&ten.duals, &five.duals);
                prop_assert_eq!(ten.steps, five.steps);
                let (a, b) = (alone.certified.as_ref().unwrap().gap, ten.certified.as_ref().unwrap().gap);
                prop_assert!(b.within(tolerance));
                prop_assert!((a.objective - b.objective).abs() <= 2.0 * tolerance * a.objective.abs());
            }
        }
    }
}
