//! Follow the derivative: gradient descent and ascent, with a step size for every taste.

use super::bounds::is_proven;
use super::gap_schedule::GapSchedule;
use super::gap_schedule::ProofSchedule;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart, gap_in_ball};
use crate::control::Flow;
use crate::loss::Loss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// How long the steps are: a factor of the first step's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// All alike.
    Constant,
    /// `1/t`, with `t` from 1.
    Inverse,
    /// `1/√t`, with `t` from 1.
    InverseRoot,
    /// `2^−(t+1)`, with `t` from 0.
    Halving,
    /// As long as the function still gains half of what its gradient promises: twice the last step, halved
    /// until it does.
    Backtracking,
}

impl Schedule {
    /// Every schedule there is.
    pub const ALL: [Schedule; 5] = [
        Schedule::Constant,
        Schedule::Inverse,
        Schedule::InverseRoot,
        Schedule::Halving,
        Schedule::Backtracking,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Constant => "constant",
            Schedule::Inverse => "inverse",
            Schedule::InverseRoot => "inverse-root",
            Schedule::Halving => "halving",
            Schedule::Backtracking => "backtracking",
        }
    }

    /// The factor of step `t`, from 0; `None` where it has to be searched for.
    ///
    /// ```
    /// use novikoff::solver::Schedule;
    /// assert_eq!(Schedule::Inverse.factor(0), Some(1.0));
    /// assert_eq!(Schedule::InverseRoot.factor(3), Some(0.5));
    /// assert_eq!(Schedule::Halving.factor(1), Some(0.25));
    /// assert_eq!(Schedule::Backtracking.factor(1), None);
    /// ```
    pub fn factor(self, t: usize) -> Option<f64> {
        self.factor_at(t as f64)
    }

    /// The same, between steps too.
    pub(super) fn factor_at(self, t: f64) -> Option<f64> {
        let count = t + 1.0;
        match self {
            Schedule::Constant => Some(1.0),
            Schedule::Inverse => Some(1.0 / count),
            Schedule::InverseRoot => Some(1.0 / count.sqrt()),
            Schedule::Halving => Some((-count).exp2()),
            Schedule::Backtracking => None,
        }
    }
}

/// Which way to follow the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To a maximum.
    Up,
    /// To a minimum.
    Down,
}

/// A walk along the gradient of any function.
///
/// ```
/// use novikoff::solver::{Direction, Schedule, Walk};
/// // F(θ) = −(1 − 0.2 θ)², uphill from 2 with steps of ½, ¼, …
/// let walk = Walk { direction: Direction::Up, schedule: Schedule::Halving, step: 1.0, steps: 2 };
/// let visits = walk.trace(vec![2.0], |x| -(1.0 - 0.2 * x[0]).powi(2), |x| vec![0.4 * (1.0 - 0.2 * x[0])]);
/// assert_eq!(visits.iter().map(|v| format!("{:.4}", v.point[0])).collect::<Vec<_>>(), ["2.0000", "2.1200", "2.1776"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Up or down.
    pub direction: Direction,
    /// How long the steps are,
    pub schedule: Schedule,
    /// as a multiple of this.
    pub step: f64,
    /// How many there are at most.
    pub steps: usize,
}

/// A place on a walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// From 0, where the walk began.
    pub step: usize,
    /// Where.
    pub point: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// Its gradient there.
    pub gradient: Vec<f64>,
    /// The factor of the gradient in the step that follows; `None` where none does.
    pub size: Option<f64>,
}

/// Most trials of one backtracking search: enough to get from the largest number to the smallest.
const TRIALS: usize = 2100;

impl Walk {
    /// Every place of the walk.
    pub fn trace(
        &self,
        start: Vec<f64>,
        value: impl FnMut(&[f64]) -> f64,
        gradient: impl FnMut(&[f64]) -> Vec<f64>,
    ) -> Vec<Visit> {
        let mut visits = Vec::new();
        self.run(start, value, gradient, |visit| {
            visits.push(visit.clone());
            Flow::Continue
        });
        visits
    }

    /// Walks, and shows every place to `visit`, which may say stop. The gradient is asked for only where the
    /// value was asked for last. Ends where the gradient is zero ([`Termination::Converged`]), where no step leads on
    /// or the function is no number any more ([`Termination::Stalled`]), or after the last step.
    pub fn run(
        &self,
        start: Vec<f64>,
        mut value: impl FnMut(&[f64]) -> f64,
        mut gradient: impl FnMut(&[f64]) -> Vec<f64>,
        mut visit: impl FnMut(&Visit) -> Flow,
    ) -> Termination {
        let sign = if self.direction == Direction::Up { 1.0 } else { -1.0 };
        let (mut point, mut here, mut longest) = (start.clone(), value(&start), self.step);
        for step in 0.. {
            if !here.is_finite() {
                return Termination::Stalled;
            }
            let slope = gradient(&point);
            let steepness: f64 = slope.iter().map(|g| g * g).sum();
            let mut try_step = |size: f64| {
                let next: Vec<f64> = point.iter().zip(&slope).map(|(x, g)| x + sign * size * g).collect();
                let there = value(&next);
                (size, next, there)
            };
            let next = if step == self.steps || steepness == 0.0 {
                None
            } else if let Some(factor) = self.schedule.factor(step) {
                Some(try_step(self.step * factor))
            } else {
                // Half of the gain that the gradient promises: what a step of 1/curvature just fulfils.
                let enough = |(size, _, there): &(f64, Vec<f64>, f64)| {
                    let gain = sign * (there - here);
                    gain > 0.0 && gain >= 0.5 * size * steepness
                };
                (0..TRIALS)
                    .map(|k| longest * 0.5f64.powi(k as i32))
                    .take_while(|s| *s > 0.0)
                    .map(&mut try_step)
                    .find(enough)
            };
            let size = next.as_ref().map(|(size, ..)| *size);
            let place = Visit { step, point, value: here, gradient: slope, size };
            if visit(&place) == Flow::Stop {
                return Termination::Interrupted;
            }
            match next {
                Some((size, next, there)) => (point, here, longest) = (next, there, 2.0 * size),
                None if step == self.steps => return Termination::OutOfSteps,
                None if steepness == 0.0 => return Termination::Converged,
                None => return Termination::Stalled,
            }
        }
        Termination::OutOfSteps
    }
}

/// Gradient descent on a [`Problem`]; a subgradient where the loss has a kink. The best point of the walk is
/// returned, which for a loss with kinks need not be the last.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Logistic;
/// use novikoff::penalty::{Bias, L2};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Control, Termination, Gradient, Solver};
///
/// let mut builder = Builder::new(Layout::Dense { columns: 1 });
/// for x in [2.0, 1.0, -1.0, -3.0] {
///     builder.push(&[0], &[x]);
/// }
/// let (rows, targets) = (builder.finish(), [1.0, 1.0, -1.0, -1.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 4.0, loss: Logistic, penalty: L2(0.1), bias: Bias::None,
/// };
/// let (mut unwatched, output) = (Unwatched, (0, 1));
/// let control = Control { tolerance: 1e-3, steps: 100, seed: 0, output, trace: true, watch: &Watch::new(&mut unwatched) };
/// let solution = Gradient::default().solve(&problem, None, &control);
/// assert_eq!(solution.termination, Termination::Converged);
/// assert!(solution.trace.windows(2).all(|steps| steps[1].objective < steps[0].objective));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient {
    /// How long the steps are,
    pub schedule: Schedule,
    /// as a multiple of this.
    pub step: f64,
}

impl Default for Gradient {
    fn default() -> Self {
        Self { schedule: Schedule::Backtracking, step: 1.0 }
    }
}

impl<L: Loss> Solver<L, L2> for Gradient {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let columns = problem.rows.columns();
        let start = start.map_or_else(|| Point::zero(columns), |start| start.point.clone());
        let as_point = |x: &[f64]| Point {
            weights: x[..columns].to_vec(),
            bias: x.get(columns).copied().unwrap_or(0.0),
        };
        let has_bias = problem.bias != Bias::None;
        // Scores at the point last valued, and at the point whose gradient was taken last: the gap needs the
        // latter.
        let scores = RefCell::new((vec![0.0; problem.len()], vec![0.0; problem.len()]));
        let value = |x: &[f64]| {
            let (point, mut scores) = (as_point(x), scores.borrow_mut());
            problem.scores_into(&point, &mut scores.0);
            problem.mean_loss(&scores.0) + problem.penalty_of(&point)
        };
        let gradient = |x: &[f64]| {
            let mut scores = scores.borrow_mut();
            let (last, here) = &mut *scores;
            std::mem::swap(last, here);
            let mut pull =
                problem.combine(|i| problem.share(i) * problem.loss.slope(problem.targets[i], here[i]));
            let lambda = problem.penalty.0;
            pull.weights.iter_mut().zip(x).for_each(|(g, w)| *g += lambda * w);
            if problem.bias == Bias::Penalised {
                pull.bias += lambda * x[columns];
            }
            pull.weights.extend(has_bias.then_some(pull.bias));
            pull.weights
        };
        let (mut recorder, mut gap_schedule) = (Recorder::new(control), GapSchedule::default());
        let (mut best, mut least, mut arrived) = (start.clone(), f64::INFINITY, false);
        let (mut first, mut proof_schedule) = (None, ProofSchedule::new(control.tolerance));
        let visit = |visit: &Visit| {
            let point = as_point(&visit.point);
            let steepness = visit.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let mut relative = None;
            if gap_schedule.is_due(visit.step) || visit.size.is_none() {
                let found = duality_gap(problem, &point, &scores.borrow().1, None);
                relative = found.relative();
                // Without a penalty the slopes bound nothing from below, and a short gradient is the sign to
                // look closer.
                let left = if steepness == 0.0 { 0.0 } else { steepness / *first.get_or_insert(steepness) };
                let prove = || {
                    let (gap, _) = gap_in_ball(problem, &point, &scores.borrow().1, None, control.tolerance);
                    is_proven(problem, &gap, control.tolerance)
                };
                arrived = found.within(control.tolerance)
                    || problem.penalty.0 == 0.0 && proof_schedule.proves(left, prove);
            }
            let stop = recorder.step(visit.value, relative, Some(steepness), Some(&point));
            if let Some(step) = recorder.trace.last_mut() {
                step.size = visit.size;
            }
            if visit.value < least || arrived {
                (least, best) = (visit.value, point);
            }
            if arrived || stop { Flow::Stop } else { Flow::Continue }
        };
        let walk = Walk {
            direction: Direction::Down,
            schedule: self.schedule,
            step: self.step,
            steps: control.steps,
        };
        let mut from = start.weights;
        from.extend(has_bias.then_some(start.bias));
        let termination = walk.run(from, value, gradient, visit);
        recorder.finish(best, None, if arrived { Termination::Converged } else { termination })
    }
}

#[cfg(test)]
mod tests {
    use super::super::LeastSquares;
    use super::super::fixture::{BIASES, dense, objective, problem, same_on_any_threads, solve};
    use super::*;
    use crate::control::{Progress, Watch};
    use crate::loss::{Absolute, Exponential, Hinge, Logistic, Squared};
    use proptest::prelude::*;

    fn walk(direction: Direction, schedule: Schedule, step: f64, steps: usize) -> Walk {
        Walk { direction, schedule, step, steps }
    }

    #[test]
    fn the_worked_example_of_the_lecture_to_the_digit() {
        // F(θ) = −(c − Xθ)² with X = 0.2, c = 1, uphill from 2 with ρ = 2^−(t+1).
        let visits = walk(Direction::Up, Schedule::Halving, 1.0, 2).trace(
            vec![2.0],
            |x| -(1.0 - 0.2 * x[0]).powi(2),
            |x| vec![2.0 * (1.0 - 0.2 * x[0]) * 0.2],
        );
        let column = |f: &dyn Fn(&Visit) -> f64| visits.iter().map(f).collect::<Vec<f64>>();
        let same = |a: Vec<f64>, b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(same(column(&|v| v.point[0]), [2.0, 2.12, 2.1776]));
        assert!(same(column(&|v| v.value), [-0.36, -0.331776, -0.3186376704]));
        assert!(same(column(&|v| v.gradient[0]), [0.24, 0.2304, 0.225792]));
        assert_eq!(visits.iter().map(|v| v.size).collect::<Vec<_>>(), [Some(0.5), Some(0.25), None]);
        assert_eq!(column(&|v| (v.value * 1e4).trunc() / 1e4), [-0.36, -0.3317, -0.3186]);
    }

    #[test]
    fn descent_of_a_function_is_ascent_of_its_negative() {
        let (value, slope) =
            (|x: &[f64]| x[0].powi(4) + x[1].powi(2), |x: &[f64]| vec![4.0 * x[0].powi(3), 2.0 * x[1]]);
        for schedule in Schedule::ALL {
            let down = walk(Direction::Down, schedule, 0.1, 20).trace(vec![1.0, -2.0], value, slope);
            let up = walk(Direction::Up, schedule, 0.1, 20).trace(
                vec![1.0, -2.0],
                |x| -value(x),
                |x| slope(x).iter().map(|g| -g).collect(),
            );
            assert_eq!(down.len(), 21);
            for (down, up) in down.iter().zip(&up) {
                assert_eq!((&down.point, down.value, down.size), (&up.point, -up.value, up.size));
            }
        }
    }

    #[test]
    fn schedules_are_what_they_say() {
        let sizes = |schedule| {
            let visits = walk(Direction::Down, schedule, 3.0, 4).trace(vec![1.0], |x| x[0], |_| vec![1.0]);
            visits.iter().filter_map(|v| v.size).collect::<Vec<f64>>()
        };
        assert_eq!(sizes(Schedule::Constant), [3.0; 4]);
        assert_eq!(sizes(Schedule::Inverse), [3.0, 1.5, 1.0, 0.75]);
        assert_eq!(
            sizes(Schedule::InverseRoot),
            [3.0, 3.0 * (1.0 / 2f64.sqrt()), 3.0 * (1.0 / 3f64.sqrt()), 1.5]
        );
        assert_eq!(sizes(Schedule::Halving), [1.5, 0.75, 0.375, 0.1875]);
        // Along a straight line every step gains what it promises, so each may be twice the last.
        assert_eq!(sizes(Schedule::Backtracking), [3.0, 6.0, 12.0, 24.0]);
    }

    #[test]
    fn walks_end_honestly() {
        let run = |schedule, start: f64, steps| {
            let (value, slope) = (|x: &[f64]| x[0] * x[0], |x: &[f64]| vec![2.0 * x[0]]);
            walk(Direction::Down, schedule, 1e200, steps).run(vec![start], value, slope, |_| Flow::Continue)
        };
        assert_eq!(run(Schedule::Constant, 0.0, 9), Termination::Converged);
        assert_eq!(run(Schedule::Constant, 1.0, 9), Termination::Stalled, "runs off beyond all numbers");
        assert_eq!(run(Schedule::Backtracking, 1.0, 2), Termination::OutOfSteps);
        // No step along a slope that lies about its function gains anything.
        let lie = walk(Direction::Down, Schedule::Backtracking, 1.0, 9).run(
            vec![1.0],
            |x| x[0],
            |_| vec![-1.0],
            |_| Flow::Continue,
        );
        assert_eq!(lie, Termination::Stalled);
        let stop = walk(Direction::Down, Schedule::Constant, 1.0, 9).run(
            vec![1.0],
            |x| x[0],
            |_| vec![1.0],
            |_| Flow::Stop,
        );
        assert_eq!(stop, Termination::Interrupted);
    }

    fn gradient_by_differences<L: Loss>(problem: &Problem<'_, L, L2>, point: &Point) -> Vec<f64> {
        let h = 1e-6;
        let at = |j: usize, by: f64| {
            let mut point = point.clone();
            *point.weights.get_mut(j).unwrap_or(&mut point.bias) += by;
            objective(problem, &point)
        };
        let coordinates = point.weights.len() + usize::from(problem.bias != Bias::None);
        (0..coordinates).map(|j| (at(j, h) - at(j, -h)) / (2.0 * h)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_step_follows_the_gradient_of_the_objective(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 3), 1..10),
            signs in prop::collection::vec(any::<bool>(), 10),
            weights in prop::collection::vec(-1.0..1.0f64, 3),
            lambda in prop::sample::select(vec![0.0, 0.3]),
        ) {
            let targets: Vec<f64> = signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            let rows = dense(&rows);
            for bias in BIASES {
                let start = WarmStart { point: Point { weights: weights.clone(), bias: 0.2 * bias.coordinate() }, duals: Vec::new() };
                let task = problem(&rows, &targets, Logistic, lambda, bias);
                let solver = Gradient { schedule: Schedule::Constant, step: 1e-3 };
                let found = solve(&solver, &task, Some(&start), 1e-12, 1);
                let expected = gradient_by_differences(&task, &start.point);
                let length = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
                prop_assert!((found.trace[0].gradient.unwrap() - length).abs() < 1e-7 * (1.0 + length));
                let after = found.trace[1].point.as_ref().unwrap();
                for (j, g) in expected.iter().enumerate() {
                    let moved = match weights.get(j) { Some(w) => after.weights[j] - w, None => after.bias - start.point.bias };
                    prop_assert!((moved + 1e-3 * g).abs() < 1e-9, "{bias:?} {moved} {g}");
                }
                prop_assert_eq!(found.trace[0].objective, objective(&task, &start.point));
            }
        }

        #[test]
        fn with_backtracking_it_comes_to_where_least_squares_is(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 3), 4..20),
            targets in prop::collection::vec(-2.0..2.0f64, 20),
            lambda in 0.3..3.0f64,
        ) {
            let (rows, targets) = (dense(&rows), &targets[..rows.len()]);
            for bias in BIASES {
                let task = problem(&rows, targets, Squared, lambda, bias);
                let best = objective(&task, &solve(&LeastSquares, &task, None, 1e-9, 1).point);
                let found = solve(&Gradient::default(), &task, None, 1e-8, 10_000);
                prop_assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
                let off = objective(&task, &found.point) - best;
                prop_assert!(off <= 1.1e-8 * best + 1e-14 && off >= -1e-12, "{bias:?} {off}");
                prop_assert!(found.trace.windows(2).all(|s| s[1].objective <= s[0].objective));
            }
        }
    }

    fn two_clouds() -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut random = crate::random::Random::new(11);
        let row = |i: usize| {
            let y = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            (vec![random.normal() + y, random.normal() - 0.5 * y], y)
        };
        (0..60).map(row).unzip()
    }

    #[test]
    fn losses_with_kinks_and_losses_that_explode_come_down_too() {
        let (rows, targets) = two_clouds();
        let rows = dense(&rows);
        let solver = Gradient { schedule: Schedule::InverseRoot, step: 1.0 };
        let task = problem(&rows, &targets, Hinge, 0.1, Bias::Free);
        let found = solve(&solver, &task, None, 1e-2, 20_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        let task = problem(&rows, &targets, Absolute, 0.1, Bias::Free);
        let found = solve(&Gradient { schedule: Schedule::Inverse, step: 10.0 }, &task, None, 1e-2, 50_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        let task = problem(&rows, &targets, Exponential, 0.0, Bias::Free);
        let found = solve(&Gradient::default(), &task, None, 1e-6, 10_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        // Steps that are far too long leave the best point there was.
        let found = solve(&Gradient { schedule: Schedule::Constant, step: 1e3 }, &task, None, 1e-6, 100);
        assert_ne!(found.termination, Termination::Converged);
        assert!(objective(&task, &found.point) <= 1.0 + 1e-12);
    }

    #[test]
    fn it_starts_where_it_is_told_stops_when_told_and_has_the_same_bits_on_any_threads() {
        let (rows, targets) = two_clouds();
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Logistic, 0.1, Bias::Penalised);
        let found = solve(&Gradient::default(), &task, None, 1e-10, 1000);
        assert_eq!((found.termination, found.steps + 1), (Termination::Converged, found.trace.len()));
        let start = WarmStart { point: found.point.clone(), duals: Vec::new() };
        assert_eq!(solve(&Gradient::default(), &task, Some(&start), 1e-10, 1000).steps, 0);
        assert_eq!(solve(&Gradient::default(), &task, None, 1e-10, 3).termination, Termination::OutOfSteps);
        same_on_any_threads(|| solve(&Gradient::default(), &task, None, 1e-10, 20).point);
        let mut told = 0;
        let mut observer = |_: Progress| {
            told += 1;
            if told == 3 { Flow::Stop } else { Flow::Continue }
        };
        let watch = Watch::new(&mut observer);
        let control =
            Control { tolerance: 1e-10, steps: 1000, seed: 0, output: (0, 1), trace: false, watch: &watch };
        let found = Gradient::default().solve(&task, None, &control);
        assert_eq!((found.termination, found.steps, found.trace.len()), (Termination::Interrupted, 2, 0));
    }
}
