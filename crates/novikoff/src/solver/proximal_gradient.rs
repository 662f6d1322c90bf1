//! Accelerated proximal gradient descent: any smooth loss with any penalty that has a proximal operator.
//!
//! The problem is `min f(x) + p(x)`, with the mean loss `f` and the penalty `p` of a point `x`, weights and
//! bias. A step from `y` with a step size `t` minimises `p` plus a quadratic upper bound of `f` around `y`:
//!
//! ```text
//! x⁺ = prox_{t·p}(y − t·∇f(y))
//! θ⁺ = (1 + √(1 + 4θ²))/2
//! y⁺ = x⁺ + ((θ − 1)/θ⁺)·(x⁺ − x)
//! ```
//!
//! `t` is halved until the bound holds at `x⁺`: `f(x⁺) − f(y) − <∇f(y), x⁺ − y> ≤ ‖x⁺ − y‖²/(2t)`. After `k`
//! steps the objective is within `O(1/k²)` of the minimum (FISTA: Beck and Teboulle, "A fast iterative
//! shrinkage-thresholding algorithm for linear inverse problems", 2009, with backtracking). Where the
//! momentum points uphill, `<y − x⁺, x⁺ − x> > 0`, it starts again from `θ = 1`, which makes the method
//! linear on strongly convex problems (O'Donoghue and Candès, "Adaptive restart for accelerated gradient
//! schemes", 2015, the gradient scheme); a restart also tries twice the step size.
//!
//! It stops by the duality gap of `x`, with the slopes of the loss at `x` as duals.

use super::gap_schedule::GapSchedule;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::loss::SmoothLoss;
use crate::penalty::{Bias, ProximalPenalty};
use crate::risk::{Point, Problem, duality_gap};

/// Accelerated proximal gradient descent with restarts. Slower than the solvers that are made for one
/// penalty, but it works with penalties that they do not know.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Squared;
/// use novikoff::penalty::{Bias, ElasticNet};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Control, ProximalGradient, Solver, Termination};
///
/// let mut rows = Builder::new(Layout::Dense { columns: 2 });
/// rows.push(&[0, 1], &[1.0, 0.5]);
/// rows.push(&[0, 1], &[-1.0, 0.5]);
/// let penalty = ElasticNet { l2: 0.0, l1: 1.0 };
/// let (rows, targets) = (rows.finish(), [3.0, -3.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 2.0,
///     loss: Squared, penalty, bias: Bias::None,
/// };
/// let mut unwatched = Unwatched;
/// let watch = Watch::new(&mut unwatched);
/// let output = (0, 1);
/// let control = Control { tolerance: 1e-9, steps: 1000, seed: 0, output, trace: false, watch: &watch };
/// let solution = ProximalGradient.solve(&problem, None, &control);
/// assert_eq!(solution.termination, Termination::Converged);
/// // A relative gap of 1e-9 at an objective of 2.75 leaves (w − 2.5)² at most 2.75e-9.
/// assert!((solution.point.weights[0] - 2.5).abs() < 1e-4 && solution.point.weights[1] == 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProximalGradient;

impl<L: SmoothLoss, P: ProximalPenalty> Solver<L, P> for ProximalGradient {
    fn solve(
        &self,
        problem: &Problem<'_, L, P>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let mut state = Iterate::new(problem, start);
        let (mut recorder, mut schedule) = (Recorder::new(control), GapSchedule::default());
        let termination = loop {
            let steps = recorder.steps();
            let is_last = steps >= control.steps || state.has_stalled;
            let gap = (schedule.is_due(steps) || is_last)
                .then(|| duality_gap(problem, &state.x, &state.scores, None));
            let objective = problem.mean_loss(&state.scores) + problem.penalty_of(&state.x);
            let relative = gap.and_then(|gap| gap.relative());
            let stop = recorder.step(objective, relative, gap.and_then(|gap| gap.gradient), Some(&state.x));
            if gap.is_some_and(|gap| gap.within(control.tolerance)) {
                break Termination::Converged;
            } else if stop {
                break Termination::Interrupted;
            } else if state.has_stalled {
                break Termination::Stalled;
            } else if is_last {
                break Termination::OutOfSteps;
            }
            state.step(problem);
        };
        recorder.finish(state.x, None, termination)
    }
}

/// The iterate of the method, in the letters of the module's documentation.
struct Iterate {
    x: Point,
    /// The scores of the rows at `x`.
    scores: Vec<f64>,
    y: Point,
    /// The scores of the rows at `y`.
    scores_y: Vec<f64>,
    theta: f64,
    step_size: f64,
    /// Whether the last step moved nothing.
    has_stalled: bool,
}

impl Iterate {
    fn new<L: SmoothLoss, P: ProximalPenalty>(
        problem: &Problem<'_, L, P>,
        start: Option<&WarmStart>,
    ) -> Self {
        let mut x = start.map_or_else(Point::default, |start| start.point.clone());
        x.weights.resize(problem.rows.columns(), 0.0);
        let x = prox(problem, x, 0.0);
        let scores = problem.scores(&x);
        // One over the trace of the Hessian, which is at least its largest eigenvalue.
        let trace = problem.sum(|i| {
            let square = problem.row(i).norm_sq() + problem.bias.coordinate();
            problem.share(i) * problem.loss.curvature(problem.targets[i], scores[i]) * square
        });
        let step_size = if trace > 0.0 && trace.is_finite() { 1.0 / trace } else { 1.0 };
        Self { y: x.clone(), scores_y: scores.clone(), x, scores, theta: 1.0, step_size, has_stalled: false }
    }

    fn step<L: SmoothLoss, P: ProximalPenalty>(&mut self, problem: &Problem<'_, L, P>) {
        let slopes = problem.each(|i| problem.loss.slope(problem.targets[i], self.scores_y[i]));
        let mut gradient = problem.combine(|i| problem.share(i) * slopes[i]);
        gradient.bias *= problem.bias.coordinate();
        let (next, scores) = self.backtrack(problem, &slopes, &gradient);
        let moved = difference(&next, &self.x);
        if difference(&self.y, &next).dot(&moved) > 0.0 {
            (self.theta, self.step_size) = (1.0, 2.0 * self.step_size);
        }
        let theta = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let momentum = (self.theta - 1.0) / theta;
        self.has_stalled = next == self.x && self.y == self.x;
        self.y = next.clone();
        self.y.add(momentum, &moved);
        self.scores_y = problem.each(|i| scores[i] + momentum * (scores[i] - self.scores[i]));
        (self.x, self.scores, self.theta) = (next, scores, theta);
    }

    /// The proximal step from `y` with the largest of the step sizes `t`, `t/2`, `t/4`, … whose upper bound
    /// holds, and its scores.
    fn backtrack<L: SmoothLoss, P: ProximalPenalty>(
        &mut self,
        problem: &Problem<'_, L, P>,
        slopes: &[f64],
        gradient: &Point,
    ) -> (Point, Vec<f64>) {
        /// Enough to get from any step size to one that moves nothing.
        const MOST_HALVINGS: usize = 200;
        // Losses are rounded by about this much: a smaller excess is no excess.
        let rounding = 4.0 * f64::EPSILON * problem.mean_loss(&self.scores_y);
        for _ in 0..MOST_HALVINGS {
            let mut next = self.y.clone();
            next.add(-self.step_size, gradient);
            let next = prox(problem, next, self.step_size);
            let scores = problem.scores(&next);
            let square = {
                let moved = difference(&next, &self.y);
                moved.dot(&moved)
            };
            // Row by row: the difference of the sums would cancel the digits that count.
            let above_tangent = problem.sum(|i| {
                let (y, from, to) = (problem.targets[i], self.scores_y[i], scores[i]);
                let rise = problem.loss.value(y, to) - problem.loss.value(y, from);
                problem.share(i) * (rise - slopes[i] * (to - from))
            });
            if above_tangent <= square / (2.0 * self.step_size) + rounding {
                return (next, scores);
            }
            self.step_size *= 0.5;
        }
        (self.x.clone(), self.scores.clone())
    }
}

/// The proximal operator of the problem's penalty; a free bias is not penalised.
fn prox<L: SmoothLoss, P: ProximalPenalty>(problem: &Problem<'_, L, P>, v: Point, step: f64) -> Point {
    let bias = match problem.bias {
        Bias::Free => v.bias,
        Bias::Penalised => problem.penalty.prox(v.bias, step),
        Bias::None => 0.0,
    };
    Point { weights: v.weights.iter().map(|w| problem.penalty.prox(*w, step)).collect(), bias }
}

fn difference(a: &Point, b: &Point) -> Point {
    let mut difference = a.clone();
    difference.add(-1.0, b);
    difference
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BIASES, dense, objective, problem, same_on_any_threads, solve};
    use super::super::{CoordinateDescent, Newton};
    use super::*;
    use crate::loss::{Exponential, Logistic, Squared, SquaredHinge};
    use crate::penalty::{ElasticNet, L2};
    use proptest::prelude::*;

    /// Both solvers come to the same objective, up to their gaps.
    fn agrees_with_coordinate_descent<L: SmoothLoss>(
        loss: L,
        rows: &[Vec<f64>],
        targets: &[f64],
        penalty: ElasticNet,
    ) -> Result<(), TestCaseError> {
        let rows = dense(rows);
        for bias in BIASES {
            let task = problem(&rows, targets, loss, 0.0, bias).with_penalty(penalty);
            let found = solve(&ProximalGradient, &task, None, 1e-7, 100_000);
            let other = solve(&CoordinateDescent, &task, None, 1e-9, 1000);
            prop_assert_eq!(found.termination, Termination::Converged, "{:?}", found.trace.last());
            let (here, there) = (objective(&task, &found.point), objective(&task, &other.point));
            prop_assert!((here - there).abs() <= 2e-7 * there, "{} {bias:?} {here} {there}", loss.name());
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn it_agrees_with_coordinate_descent_on_elastic_nets(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 4), 6..20),
            signs in prop::collection::vec(any::<bool>(), 20),
            l2 in prop::sample::select(vec![0.0, 0.05, 1.0]),
            l1 in 0.02..0.5f64,
        ) {
            let mut targets: Vec<f64> =
                signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            // Both classes, or a free bias has no minimum.
            (targets[0], targets[1]) = (1.0, -1.0);
            let penalty = ElasticNet { l2, l1 };
            agrees_with_coordinate_descent(Squared, &rows, &targets, penalty)?;
            agrees_with_coordinate_descent(Logistic, &rows, &targets, penalty)?;
            agrees_with_coordinate_descent(SquaredHinge, &rows, &targets, penalty)?;
            agrees_with_coordinate_descent(Exponential, &rows, &targets, penalty)?;
        }

        #[test]
        fn it_agrees_with_newtons_method_on_ridge_penalties(
            rows in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 3), 4..12),
            scale in prop::sample::select(vec![1e-4, 1.0, 1e4]),
            lambda in 0.05..2.0f64,
        ) {
            let targets: Vec<f64> = (0..rows.len()).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
            let rows: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|x| scale * x).collect()).collect();
            let rows = dense(&rows);
            for bias in BIASES {
                let task = problem(&rows, &targets, Logistic, lambda * scale * scale, bias);
                let found = solve::<Logistic, L2>(&ProximalGradient, &task, None, 1e-6, 100_000);
                let best = objective(&task, &solve(&Newton, &task, None, 1e-9, 1000).point);
                // Columns of another size than the bias's are too much for a method of first order: it may
                // run out of steps, but must not say otherwise.
                let well_scaled = scale == 1.0 || bias == Bias::None;
                let is_close = objective(&task, &found.point) <= best * (1.0 + 1e-5);
                let gave_up = !well_scaled && found.termination != Termination::Converged;
                prop_assert!(is_close || gave_up, "{bias:?} {:?}", found.trace.last());
            }
        }
    }

    #[test]
    fn a_solution_is_a_fixed_point_and_has_the_same_bits_on_any_threads() {
        let rows = dense(&[vec![1.0, 2.0], vec![-1.0, 0.5], vec![0.3, -2.0], vec![-0.4, 1.0]]);
        let targets = [1.0, -1.0, -1.0, 1.0];
        let penalty = ElasticNet { l2: 0.1, l1: 0.1 };
        let task = problem(&rows, &targets, Logistic, 0.0, Bias::Free).with_penalty(penalty);
        let found = solve(&ProximalGradient, &task, None, 1e-10, 10_000);
        assert_eq!(found.termination, Termination::Converged);
        let start = WarmStart { point: found.point.clone(), duals: Vec::new() };
        assert_eq!(solve(&ProximalGradient, &task, Some(&start), 1e-10, 10_000).steps, 0);
        assert_eq!(solve(&ProximalGradient, &task, None, 1e-10, 2).termination, Termination::OutOfSteps);
        same_on_any_threads(|| solve(&ProximalGradient, &task, None, 1e-10, 50).point);
    }
}
