//! Gradient descent and ascent with a schedule of step sizes: `x ← x ∓ ηₜ·∇F(x)`.
//!
//! [`Walk`] follows the gradient of any function; [`GradientDescent`] minimises a problem with it. Where the loss
//! has kinks it is the subgradient method, for which step sizes must tend to zero but not be summable (Shor).
//! With backtracking a step gains at least half of what the gradient promises (Armijo).

use super::gap_schedule::GapSchedule;
use super::gap_schedule::ProofSchedule;
use super::rigorous_gap::is_proven;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart, check_step, gap_in_ball};
use crate::control::Flow;
use crate::error::Result;
use crate::loss::Loss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// How long the steps are: a factor of the first step's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Schedule {
    /// Constant steps.
    Constant,
    /// 1/t, with t from 1.
    Inverse,
    /// 1/√t, with t from 1.
    InverseRoot,
    /// 2^−(t+1), with t from 0.
    Halving,
    /// Twice the last step, halved until the objective falls by half of what the gradient predicts.
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
/// let points: Vec<String> = visits.iter().map(|v| format!("{:.4}", v.point[0])).collect();
/// assert_eq!(points, ["2.0000", "2.1200", "2.1776"]);
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
    /// value was asked for last. Ends where the gradient is zero ([`Termination::Converged`]), where no step
    /// leads on or the function is not finite ([`Termination::Stalled`]), or after the last step.
    pub fn run(
        &self,
        start: Vec<f64>,
        mut value: impl FnMut(&[f64]) -> f64,
        mut gradient: impl FnMut(&[f64]) -> Vec<f64>,
        mut visit: impl FnMut(&Visit) -> Flow,
    ) -> Termination {
        let (mut point, mut here, mut longest) = (start.clone(), value(&start), self.step);
        for step in 0.. {
            if !here.is_finite() {
                return Termination::Stalled;
            }
            let slope = gradient(&point);
            let steepness: f64 = slope.iter().map(|g| g * g).sum();
            let next = match self.schedule.factor(step) {
                _ if step == self.steps || steepness == 0.0 => None,
                Some(factor) => Some(self.trial(&point, &slope, self.step * factor, &mut value)),
                None => self.backtrack((&point, here), (&slope, steepness), longest, &mut value),
            };
            let size = next.as_ref().map(|next| next.size);
            let place = Visit { step, point, value: here, gradient: slope, size };
            if visit(&place) == Flow::Stop {
                return Termination::Interrupted;
            }
            match next {
                Some(next) => (point, here, longest) = (next.point, next.value, 2.0 * next.size),
                None if step == self.steps => return Termination::OutOfSteps,
                None if steepness == 0.0 => return Termination::Converged,
                None => return Termination::Stalled,
            }
        }
        Termination::OutOfSteps
    }

    /// +1 for an ascent, −1 for a descent.
    fn sign(&self) -> f64 {
        if self.direction == Direction::Up { 1.0 } else { -1.0 }
    }

    /// A step of this size along the gradient.
    fn trial(&self, point: &[f64], slope: &[f64], size: f64, value: &mut impl FnMut(&[f64]) -> f64) -> Trial {
        let sign = self.sign();
        let point: Vec<f64> = point.iter().zip(slope).map(|(x, g)| x + sign * size * g).collect();
        Trial { size, value: value(&point), point }
    }

    /// The first of the sizes `longest`, `longest/2`, … that gains half of what the gradient promises, which
    /// a step of one over the curvature just does.
    fn backtrack(
        &self,
        (point, here): (&[f64], f64),
        (slope, steepness): (&[f64], f64),
        longest: f64,
        value: &mut impl FnMut(&[f64]) -> f64,
    ) -> Option<Trial> {
        for halvings in 0..TRIALS {
            let size = longest * 0.5f64.powi(halvings as i32);
            if size.is_nan() || size <= 0.0 {
                break;
            }
            let trial = self.trial(point, slope, size, value);
            let gain = self.sign() * (trial.value - here);
            if gain > 0.0 && gain >= 0.5 * size * steepness {
                return Some(trial);
            }
        }
        None
    }
}

/// A point that a step may lead to.
struct Trial {
    size: f64,
    point: Vec<f64>,
    value: f64,
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
/// use novikoff::solver::{Control, Termination, GradientDescent, Solver};
///
/// let mut builder = Builder::new(Layout::Dense { columns: 1 });
/// for x in [2.0, 1.0, -1.0, -3.0] {
///     builder.push(&[0], &[x]);
/// }
/// let (rows, targets) = (builder.finish(), [1.0, 1.0, -1.0, -1.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 4.0,
///     loss: Logistic, penalty: L2(0.1), bias: Bias::None,
/// };
/// let (mut unwatched, output) = (Unwatched, (0, 1));
/// let watch = Watch::new(&mut unwatched);
/// let control = Control { tolerance: 1e-3, steps: 100, seed: 0, output, trace: true, watch: &watch };
/// let solution = GradientDescent::default().solve(&problem, None, &control);
/// assert_eq!(solution.termination, Termination::Converged);
/// assert!(solution.trace.windows(2).all(|steps| steps[1].objective < steps[0].objective));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientDescent {
    /// How long the steps are,
    pub schedule: Schedule,
    /// as a multiple of this.
    pub step: f64,
}

impl Default for GradientDescent {
    fn default() -> Self {
        Self { schedule: Schedule::Backtracking, step: 1.0 }
    }
}

impl GradientDescent {
    /// Refuses steps of no length.
    pub(crate) fn check_steps(self) -> Result<()> {
        check_step(self.step)
    }
}

impl<L: Loss> Solver<L, L2> for GradientDescent {
    fn check(&self) -> Result<()> {
        self.check_steps()
    }

    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let walk = Walk {
            direction: Direction::Down,
            schedule: self.schedule,
            step: self.step,
            steps: control.steps,
        };
        let start = start.map_or_else(|| Point::zero(problem.rows.columns()), |start| start.point.clone());
        let mut from = start.weights.clone();
        from.extend((problem.bias != Bias::None).then_some(start.bias));
        let run = RefCell::new(Run::new(problem, start, control));
        let termination = walk.run(
            from,
            |x| run.borrow_mut().value(x),
            |x| run.borrow_mut().gradient(x),
            |visit| run.borrow_mut().visit(visit),
        );
        let run = run.into_inner();
        let termination = if run.has_converged { Termination::Converged } else { termination };
        run.recorder.finish(run.best, None, termination)
    }
}

/// A descent on a problem: what the walk asks of it, and what it remembers.
struct Run<'a, 'p, 'c, L> {
    problem: &'a Problem<'p, L, L2>,
    recorder: Recorder<'c>,
    gap_schedule: GapSchedule,
    proofs: ProofSchedule,
    /// Scores at the point whose value was computed last.
    trial_scores: Vec<f64>,
    /// Scores at the point whose gradient was computed last: those that the gap needs.
    scores: Vec<f64>,
    /// The length of the first gradient.
    first_gradient: Option<f64>,
    best: Point,
    least: f64,
    has_converged: bool,
}

impl<'a, 'p, 'c, L: Loss> Run<'a, 'p, 'c, L> {
    fn new(problem: &'a Problem<'p, L, L2>, start: Point, control: &Control<'c>) -> Self {
        Self {
            problem,
            recorder: Recorder::new(control),
            gap_schedule: GapSchedule::default(),
            proofs: ProofSchedule::new(control.tolerance),
            trial_scores: vec![0.0; problem.len()],
            scores: vec![0.0; problem.len()],
            first_gradient: None,
            best: start,
            least: f64::INFINITY,
            has_converged: false,
        }
    }

    /// A point out of its coordinates, the bias last.
    fn point(&self, x: &[f64]) -> Point {
        let columns = self.problem.rows.columns();
        Point { weights: x[..columns].to_vec(), bias: x.get(columns).copied().unwrap_or(0.0) }
    }

    fn value(&mut self, x: &[f64]) -> f64 {
        let point = self.point(x);
        self.problem.scores_into(&point, &mut self.trial_scores);
        self.problem.mean_loss(&self.trial_scores) + self.problem.penalty_of(&point)
    }

    fn gradient(&mut self, x: &[f64]) -> Vec<f64> {
        std::mem::swap(&mut self.trial_scores, &mut self.scores);
        let (problem, scores, lambda) = (self.problem, &self.scores, self.problem.penalty.0);
        let mut gradient =
            problem.combine(|i| problem.share(i) * problem.loss.slope(problem.targets[i], scores[i]));
        gradient.weights.iter_mut().zip(x).for_each(|(g, w)| *g += lambda * w);
        if problem.bias == Bias::Penalised {
            gradient.bias += lambda * x[problem.rows.columns()];
        }
        gradient.weights.extend((problem.bias != Bias::None).then_some(gradient.bias));
        gradient.weights
    }

    fn visit(&mut self, visit: &Visit) -> Flow {
        let point = self.point(&visit.point);
        let steepness = visit.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let mut relative = None;
        if self.gap_schedule.is_due(visit.step) || visit.size.is_none() {
            relative = self.check_convergence(&point, steepness);
        }
        let stop = self.recorder.step(visit.value, relative, Some(steepness), Some(&point));
        if let Some(step) = self.recorder.trace.last_mut() {
            step.size = visit.size;
        }
        if visit.value < self.least || self.has_converged {
            (self.least, self.best) = (visit.value, point);
        }
        if self.has_converged || stop { Flow::Stop } else { Flow::Continue }
    }

    /// The relative gap. Without a penalty the slopes bound nothing from below, and a short gradient is the
    /// sign to try a proof.
    fn check_convergence(&mut self, point: &Point, steepness: f64) -> Option<f64> {
        let (problem, Control { tolerance, watch, .. }) = (self.problem, self.recorder.control);
        let gap = duality_gap(problem, point, &self.scores, None);
        let left =
            if steepness == 0.0 { 0.0 } else { steepness / *self.first_gradient.get_or_insert(steepness) };
        let prove = || {
            let (gap, _) = gap_in_ball(problem, point, &self.scores, None, (tolerance, watch));
            is_proven(problem, &gap, tolerance)
        };
        self.has_converged =
            gap.within(tolerance) || problem.penalty.0 == 0.0 && self.proofs.proves(left, prove);
        gap.relative()
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
                let start = WarmStart {
                    point: Point { weights: weights.clone(), bias: 0.2 * bias.coordinate() },
                        duals: Vec::new() };
                let task = problem(&rows, &targets, Logistic, lambda, bias);
                let solver = GradientDescent { schedule: Schedule::Constant, step: 1e-3 };
                let found = solve(&solver, &task, Some(&start), 1e-12, 1);
                let expected = gradient_by_differences(&task, &start.point);
                let length = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
                prop_assert!((found.trace[0].gradient.unwrap() - length).abs() < 1e-7 * (1.0 + length));
                let after = found.trace[1].point.as_ref().unwrap();
                for (j, g) in expected.iter().enumerate() {
                    let moved = match weights.get(j) { Some(w) => after.weights[j] - w,
                        None => after.bias - start.point.bias };
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
                let found = solve(&GradientDescent::default(), &task, None, 1e-8, 10_000);
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
        let solver = GradientDescent { schedule: Schedule::InverseRoot, step: 1.0 };
        let task = problem(&rows, &targets, Hinge, 0.1, Bias::Free);
        let found = solve(&solver, &task, None, 1e-2, 20_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        let task = problem(&rows, &targets, Absolute, 0.1, Bias::Free);
        let found =
            solve(&GradientDescent { schedule: Schedule::Inverse, step: 10.0 }, &task, None, 1e-2, 50_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        let task = problem(&rows, &targets, Exponential, 0.0, Bias::Free);
        let found = solve(&GradientDescent::default(), &task, None, 1e-6, 10_000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        // Steps that are far too long leave the best point there was.
        let found =
            solve(&GradientDescent { schedule: Schedule::Constant, step: 1e3 }, &task, None, 1e-6, 100);
        assert_ne!(found.termination, Termination::Converged);
        assert!(objective(&task, &found.point) <= 1.0 + 1e-12);
    }

    #[test]
    fn it_starts_where_it_is_told_stops_when_told_and_has_the_same_bits_on_any_threads() {
        let (rows, targets) = two_clouds();
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Logistic, 0.1, Bias::Penalised);
        let found = solve(&GradientDescent::default(), &task, None, 1e-10, 1000);
        assert_eq!((found.termination, found.steps + 1), (Termination::Converged, found.trace.len()));
        let start = WarmStart { point: found.point.clone(), duals: Vec::new() };
        assert_eq!(solve(&GradientDescent::default(), &task, Some(&start), 1e-10, 1000).steps, 0);
        assert_eq!(
            solve(&GradientDescent::default(), &task, None, 1e-10, 3).termination,
            Termination::OutOfSteps
        );
        same_on_any_threads(|| solve(&GradientDescent::default(), &task, None, 1e-10, 20).point);
        let mut told = 0;
        let mut observer = |_: Progress| {
            told += 1;
            if told == 3 { Flow::Stop } else { Flow::Continue }
        };
        let watch = Watch::new(&mut observer);
        let control =
            Control { tolerance: 1e-10, steps: 1000, seed: 0, output: (0, 1), trace: false, watch: &watch };
        let found = GradientDescent::default().solve(&task, None, &control);
        assert_eq!((found.termination, found.steps, found.trace.len()), (Termination::Interrupted, 2, 0));
    }
}
