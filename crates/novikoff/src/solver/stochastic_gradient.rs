//! A few rows at a time: stochastic and mini-batch (sub)gradient descent.

use super::gradient_descent::Schedule;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart, check_step};
use crate::data::Row;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::penalty::{Bias, L2};
use crate::random::Random;
use crate::risk::{Point, Problem, duality_gap};

/// Stochastic gradient descent: every epoch visits every row once, in an order that the seed decides, and
/// moves the weights after every `batch` rows. A row costs its nonzeros only, with or without a penalty.
///
/// The best of the points that epochs ended at is returned. A step that would carry weights past zero for the
/// penalty's sake alone ends at zero.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Logistic;
/// use novikoff::penalty::{Bias, L2};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Control, Termination, Solver, StochasticGradient};
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
/// let control = Control { tolerance: 1e-3, steps: 10000, seed: 0, output, trace: true, watch: &watch };
/// let solution = StochasticGradient::default().solve(&problem, None, &control);
/// assert_eq!(solution.termination, Termination::Converged);
/// assert!(solution.point.weights[0] > 0.0 && solution.steps < 10000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StochasticGradient {
    /// Rows of a step.
    pub batch: usize,
    /// How long the steps are,
    pub schedule: Schedule,
    /// as a multiple of this. Without it the first step is one over the mean square length of the rows, steps
    /// get shorter by the epoch instead of by the step, and [`Schedule::Inverse`] is the `1/(λ(t + t₀))` of
    /// strongly convex functions, if λ > 0.
    pub step: Option<f64>,
    /// Whether an epoch's result is the average of the points since the last epoch that is a power of two: at
    /// least half of all. It takes another vector of weights.
    pub average: bool,
}

impl Default for StochasticGradient {
    fn default() -> Self {
        Self { batch: 1, schedule: Schedule::Inverse, step: None, average: true }
    }
}

impl StochasticGradient {
    /// Refuses steps of no rows or no length.
    pub(crate) fn check_steps(self) -> Result<()> {
        if self.batch == 0 {
            return Err(Error::usage("`batch` must be at least 1 row, not 0"));
        }
        self.step.map_or(Ok(()), check_step)
    }
}

impl<L: Loss> Solver<L, L2> for StochasticGradient {
    fn check(&self) -> Result<()> {
        self.check_steps()
    }

    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let mut state = StochasticState::new(self, problem, start);
        let mut recorder = Recorder::new(control);
        let mut random = Random::new(control.seed);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        let mut pace = Pace::new(self, problem);
        let mut best = state.point(false);
        let (mut least, mut steps, mut scores) = (f64::INFINITY, 0, vec![0.0; problem.len()]);
        let termination = loop {
            let point = state.point(self.average && steps > 0);
            problem.scores_into(&point, &mut scores);
            let found = duality_gap(problem, &point, &scores, None);
            if !found.objective.is_finite() {
                break Termination::Stalled;
            }
            let stop = recorder.step(found.objective, found.relative(), found.gradient, Some(&point));
            if let Some(step) = recorder.trace.last_mut() {
                step.size = pace.scheduled();
            }
            if found.objective < least {
                (least, best) = (found.objective, point);
            }
            if found.within(control.tolerance) || problem.is_empty() {
                break Termination::Converged;
            } else if stop {
                break Termination::Interrupted;
            } else if steps == control.steps {
                break Termination::OutOfSteps;
            }
            if steps.is_power_of_two() {
                state.forget();
            }
            random.shuffle(&mut order);
            for rows in order.chunks(self.batch.max(1)) {
                state.learn(problem, rows, &mut pace, self.average);
            }
            steps += 1;
        };
        recorder.finish(best, None, termination)
    }
}

/// The size of the next step.
struct Pace {
    schedule: Schedule,
    first: f64,
    /// Steps that count as one for the schedule. `1/(λ(t + t₀))` with `1/(λt₀) = first` is `first/(1 +
    /// t/t₀)`.
    per_tick: f64,
    t: usize,
    last: Option<f64>,
}

impl Pace {
    fn new<L: Loss>(settings: &StochasticGradient, problem: &Problem<'_, L, L2>) -> Self {
        let square = problem.sum(|i| problem.row(i).norm_sq() + problem.bias.coordinate())
            / problem.len().max(1) as f64;
        let own = if square > 0.0 && square.is_finite() { 1.0 / square } else { 1.0 };
        let updates = problem.len().div_ceil(settings.batch.max(1)) as f64;
        let lambda = problem.penalty.0;
        let per_tick = match (settings.step, settings.schedule) {
            (Some(_), _) => 1.0,
            (None, Schedule::Inverse) if lambda > 0.0 => 1.0 / (own * lambda),
            (None, _) => updates,
        };
        Self { schedule: settings.schedule, first: settings.step.unwrap_or(own), per_tick, t: 0, last: None }
    }

    /// The size of the next step, unless it has to be searched for.
    fn scheduled(&self) -> Option<f64> {
        self.schedule.factor_at(self.t as f64 / self.per_tick).map(|factor| self.first * factor)
    }

    /// The next step; `enough` says whether one is short enough, for schedules that have to ask.
    fn next(&mut self, enough: impl Fn(f64) -> bool) -> f64 {
        let size = match self.scheduled() {
            Some(size) => size,
            None => {
                let mut size = 2.0 * self.last.unwrap_or(self.first);
                // Sixty halvings and still too long: the gradient of these rows is noise.
                for _ in 0..60 {
                    if enough(size) {
                        break;
                    }
                    size *= 0.5;
                }
                size
            }
        };
        self.t += 1;
        self.last = Some(size);
        size
    }
}

/// Weights as `scale·v`, so that all of them shrink by one multiplication; and the sum of all points so far
/// as `factor·v + rest`, so that adding a point to it costs no more than the step that led to it.
struct StochasticState {
    v: Vec<f64>,
    scale: f64,
    bias: f64,
    factor: f64,
    rest: Vec<f64>,
    bias_sum: f64,
    count: f64,
    /// The gradient of a batch, where a search needs it as a vector; zero in between.
    scratch: Vec<f64>,
}

/// At a smaller scale than this the weights are written out: with it the parts of the sum would cancel
/// digits.
const SMALLEST_SCALE: f64 = 1e-4;

/// Rows drawn at random.
struct Batch<'a, L> {
    problem: &'a Problem<'a, L, L2>,
    rows: &'a [u32],
    /// How many rows each of them represents.
    weight: f64,
}

impl<L: Loss> Batch<'_, L> {
    fn row(&self, i: u32) -> Row<'_> {
        self.problem.row(i as usize)
    }

    fn share(&self, i: u32) -> f64 {
        self.weight * self.problem.share(i as usize)
    }

    fn slope(&self, i: u32, score: f64) -> f64 {
        self.share(i) * self.problem.loss.slope(self.problem.targets[i as usize], score)
    }

    /// The loss after a step of this size, which moves scores by as many times their changes.
    fn loss(&self, scores: &[f64], changes: &[f64], size: f64) -> f64 {
        let moved = self.rows.iter().zip(scores.iter().zip(changes));
        let value = |i: u32, s: f64| self.problem.loss.value(self.problem.targets[i as usize], s);
        moved.map(|(&i, (s, change))| self.share(i) * value(i, s - size * change)).sum()
    }
}

impl StochasticState {
    fn new<L: Loss>(
        settings: &StochasticGradient,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
    ) -> Self {
        let columns = problem.rows.columns();
        let zeros = |needed: bool| vec![0.0; if needed { columns } else { 0 }];
        let point = start.map_or_else(|| Point::zero(columns), |start| start.point.clone());
        Self {
            v: point.weights,
            scale: 1.0,
            bias: point.bias,
            factor: 0.0,
            rest: zeros(settings.average),
            bias_sum: 0.0,
            count: 0.0,
            scratch: zeros(settings.schedule == Schedule::Backtracking),
        }
    }

    /// Where it is, or the average of where it was.
    fn point(&self, average: bool) -> Point {
        if average && self.count > 0.0 {
            let weights = self
                .v
                .iter()
                .zip(&self.rest)
                .map(|(v, rest)| (self.factor * v + rest) / self.count)
                .collect();
            Point { weights, bias: self.bias_sum / self.count }
        } else {
            Point { weights: self.v.iter().map(|v| self.scale * v).collect(), bias: self.bias }
        }
    }

    /// Starts a new sum.
    fn forget(&mut self) {
        (self.factor, self.bias_sum, self.count) = (0.0, 0.0, 0.0);
        self.rest.fill(0.0);
    }

    /// One step by these rows.
    fn learn<L: Loss>(&mut self, problem: &Problem<'_, L, L2>, rows: &[u32], pace: &mut Pace, average: bool) {
        let batch = Batch { problem, rows, weight: problem.len() as f64 / rows.len() as f64 };
        let scores: Vec<f64> =
            rows.iter().map(|&i| self.scale * batch.row(i).dot(&self.v) + self.bias).collect();
        let slopes: Vec<f64> = rows.iter().zip(&scores).map(|(&i, s)| batch.slope(i, *s)).collect();
        let bias_slope: f64 = slopes.iter().sum::<f64>() * problem.bias.coordinate();

        let searched = pace.schedule.factor(0).is_none();
        let changes = if searched { self.changes(&batch, &slopes, bias_slope) } else { Vec::new() };
        let steepness: f64 = slopes.iter().zip(&changes).map(|(u, change)| u * change).sum();
        let loss = |size: f64| batch.loss(&scores, &changes, size);
        let size = pace.next(|size| loss(size) <= loss(0.0) - 0.5 * size * steepness);

        let shrink = (1.0 - size * problem.penalty.0).max(0.0);
        if self.scale * shrink < SMALLEST_SCALE {
            self.write_out(average);
        }
        if shrink < SMALLEST_SCALE {
            self.v.iter_mut().for_each(|v| *v *= shrink);
        } else {
            self.scale *= shrink;
        }
        for (&i, u) in rows.iter().zip(&slopes).filter(|(_, u)| **u != 0.0) {
            let change = -size * u / self.scale;
            batch.row(i).add_to(&mut self.v, change);
            if average {
                batch.row(i).add_to(&mut self.rest, -self.factor * change);
            }
        }
        self.bias *= if problem.bias == Bias::Penalised { shrink } else { 1.0 };
        self.bias -= size * bias_slope;
        if average {
            self.factor += self.scale;
            self.bias_sum += self.bias;
            self.count += 1.0;
        }
    }

    /// How fast each row's score falls along the gradient of the batch.
    fn changes<L: Loss>(&mut self, batch: &Batch<'_, L>, slopes: &[f64], bias_slope: f64) -> Vec<f64> {
        let rows = batch.rows;
        rows.iter().zip(slopes).for_each(|(&i, u)| batch.row(i).add_to(&mut self.scratch, *u));
        let changes = rows.iter().map(|&i| batch.row(i).dot(&self.scratch) + bias_slope).collect();
        rows.iter().for_each(|&i| batch.row(i).for_each_index(|j| self.scratch[j] = 0.0));
        changes
    }

    fn write_out(&mut self, average: bool) {
        if average {
            self.rest.iter_mut().zip(&self.v).for_each(|(rest, v)| *rest += self.factor * v);
            self.factor = 0.0;
        }
        self.v.iter_mut().for_each(|v| *v *= self.scale);
        self.scale = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BIASES, dense, objective, problem, same_on_any_threads, solve, sparse};
    use super::super::{GradientDescent, LeastSquares};
    use super::*;
    use crate::control::{Flow, Progress, Watch};
    use crate::loss::{Hinge, Logistic, Squared};
    use proptest::prelude::*;

    /// Textbook steps: every weight of every point written out, the average by adding them all up.
    fn textbook<L: Loss>(
        settings: &StochasticGradient,
        problem: &Problem<'_, L, L2>,
        seed: u64,
        epochs: usize,
    ) -> (Point, Point) {
        let (mut point, mut sum, mut count) =
            (Point::zero(problem.rows.columns()), Point::zero(problem.rows.columns()), 0.0);
        let (mut random, mut t, lambda) = (Random::new(seed), 0, problem.penalty.0);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        for epoch in 0..epochs {
            if epoch.is_power_of_two() {
                (sum, count) = (Point::zero(problem.rows.columns()), 0.0);
            }
            random.shuffle(&mut order);
            for rows in order.chunks(settings.batch) {
                let size = settings.step.unwrap() * settings.schedule.factor(t).unwrap();
                let mut slope = Point::zero(problem.rows.columns());
                for &i in rows {
                    let i = i as usize;
                    let score = problem.row(i).dot(&point.weights) + point.bias;
                    let weight = problem.share(i) * problem.len() as f64 / rows.len() as f64;
                    let u = weight * problem.loss.slope(problem.targets[i], score);
                    problem.row(i).add_to(&mut slope.weights, u);
                    slope.bias += u * problem.bias.coordinate();
                }
                for (w, g) in point.weights.iter_mut().zip(&slope.weights) {
                    *w -= size * (g + lambda * *w);
                }
                let ridge = if problem.bias == Bias::Penalised { lambda } else { 0.0 };
                point.bias -= size * (slope.bias + ridge * point.bias);
                sum.weights.iter_mut().zip(&point.weights).for_each(|(s, w)| *s += w);
                sum.bias += point.bias;
                count += 1.0;
                t += 1;
            }
        }
        sum.weights.iter_mut().for_each(|s| *s /= count);
        sum.bias /= count;
        (point, sum)
    }

    fn distance(a: &Point, b: &Point) -> f64 {
        a.weights.iter().zip(&b.weights).fold((a.bias - b.bias).abs(), |m, (a, b)| m.max((a - b).abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn lazy_steps_are_textbook_steps(
            rows in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![-1.5, 0.0, 0.0,
                0.5, 2.0]), 4), 1..20),
            signs in prop::collection::vec(any::<bool>(), 20),
            batch in 1usize..5,
            schedule in prop::sample::select(Schedule::ALL[..4].to_vec()),
            // 0.9/0.1 is a step at which the first shrinks weights to a tenth.
            (lambda, step) in prop::sample::select(vec![(0.0, 0.1), (0.1, 0.3), (1.0, 0.9), (0.5, 1.99999)]),
            weights in prop::collection::vec(0.1..3.0f64, 20),
            epochs in 1usize..7,
            average in any::<bool>(),
        ) {
            let targets: Vec<f64> = signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            let matrix = sparse(&rows);
            for bias in BIASES {
                let task = problem(&matrix, &targets, Logistic, lambda, bias);
                let task = Problem { row_weights: &weights[..rows.len()],
                    total: weights[..rows.len()].iter().sum(), ..task };
                let solver = StochasticGradient { batch, schedule, step: Some(step), average };
                // It may be done before the last epoch.
                let found = solve(&solver, &task, None, 0.0, epochs);
                let (last, mean) = textbook(&solver, &task, 7, found.steps);
                let shown = found.trace.last().unwrap().point.as_ref().unwrap();
                let off = distance(shown, if average && found.steps > 0 { &mean } else { &last });
                prop_assert!(off < 1e-9, "{bias:?}: {off} {shown:?} {last:?} {mean:?}");
            }
        }
    }

    fn clouds(rows: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut random = Random::new(5);
        let row = |i: usize| {
            let y = if i.is_multiple_of(3) { 1.0 } else { -1.0 };
            ((0..5).map(|j| random.normal() + 0.4 * y * f64::from(j)).collect(), y)
        };
        (0..rows).map(row).unzip()
    }

    #[test]
    fn it_comes_near_the_minimum_with_every_schedule() {
        let (rows, targets) = clouds(500);
        let rows = dense(&rows);
        for bias in BIASES {
            let task = problem(&rows, &targets, Logistic, 0.01, bias);
            let best =
                objective(&task, &solve(&GradientDescent::default(), &task, None, 1e-9, 100_000).point);
            let above = |solver: StochasticGradient| {
                objective(&task, &solve(&solver, &task, None, 1e-4, 60).point) / best - 1.0
            };
            let plain = StochasticGradient::default();
            assert!(above(plain) < 1e-3, "{bias:?} {}", above(plain));
            for (schedule, average, within) in [
                (Schedule::Constant, true, 0.02),
                (Schedule::InverseRoot, true, 0.01),
                (Schedule::InverseRoot, false, 0.05),
                (Schedule::Inverse, false, 0.01),
                (Schedule::Backtracking, true, 0.2),
            ] {
                let solver = StochasticGradient { schedule, average, batch: 8, ..plain };
                assert!(above(solver) < within, "{bias:?} {solver:?}: {}", above(solver));
            }
        }
    }

    #[test]
    fn it_ends_when_the_gap_is_closed_and_agrees_with_least_squares() {
        let (rows, targets) = clouds(300);
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Squared, 0.1, Bias::Free);
        let found = solve(&StochasticGradient::default(), &task, None, 1e-3, 1000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        let best = objective(&task, &solve(&LeastSquares, &task, None, 1e-9, 1).point);
        assert!(objective(&task, &found.point) <= best * 1.001);
        let task = problem(&rows, &targets, Hinge, 0.1, Bias::Penalised);
        let found = solve(&StochasticGradient::default(), &task, None, 1e-2, 1000);
        assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
        assert_eq!(found.trace.len(), found.steps + 1);
    }

    #[test]
    fn steps_that_are_too_long_leave_the_best_point_there_was() {
        let (rows, targets) = clouds(100);
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Squared, 0.1, Bias::Free);
        let solver = StochasticGradient {
            step: Some(1e6),
            schedule: Schedule::Constant,
            ..StochasticGradient::default()
        };
        let found = solve(&solver, &task, None, 1e-3, 1000);
        assert_eq!(found.termination, Termination::Stalled);
        assert!(objective(&task, &found.point) <= 1.0 + 1e-12);
    }

    #[test]
    fn a_seed_is_a_result_and_a_stop_is_a_stop() {
        let (rows, targets) = clouds(100);
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Logistic, 0.1, Bias::Free);
        let run = |seed: u64, stop_at: usize| {
            let mut told = 0;
            let mut observer = |_: Progress| {
                told += 1;
                if told > stop_at { Flow::Stop } else { Flow::Continue }
            };
            let watch = Watch::new(&mut observer);
            let control =
                Control { tolerance: 0.0, steps: 4, seed, output: (0, 1), trace: false, watch: &watch };
            StochasticGradient::default().solve(&task, None, &control)
        };
        assert_eq!(run(1, 99).point, run(1, 99).point);
        assert_ne!(run(1, 99).point, run(2, 99).point);
        assert_eq!((run(1, 99).termination, run(1, 99).steps), (Termination::OutOfSteps, 4));
        assert_eq!((run(1, 2).termination, run(1, 2).steps), (Termination::Interrupted, 2));
        same_on_any_threads(|| run(1, 99).point);
        let start = WarmStart { point: run(1, 99).point, duals: Vec::new() };
        let again = solve(&StochasticGradient::default(), &task, Some(&start), 0.0, 0);
        assert_eq!(again.point, start.point);
    }
}
