//! Losses, penalties and solvers that are defined outside the library, checked by a search that knows nothing
//! of duality.

use novikoff::control::{Unwatched, Watch};
use novikoff::data::Matrix;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::loss::{Growth, Local, Logistic, Loss, ProximalLoss, SmoothLoss, Targets};
use novikoff::penalty::{Bias, L2, Penalty, ProximalPenalty};
use novikoff::risk::{Point, Problem, duality_gap};
use novikoff::solver::{
    AugmentedLagrangian, Control, DualCoordinateDescent, GradientDescent, Newton, ProximalGradient, Recorder,
    Solution, Solver, Termination, WarmStart,
};
use proptest::prelude::*;

/// `r²/2` for residuals `r = s − y` up to δ, `δ(|r| − δ/2)` beyond.
#[derive(Clone, Copy, Debug)]
struct Huber(f64);

impl Loss for Huber {
    fn name(self) -> &'static str {
        "huber"
    }

    fn value(self, y: f64, s: f64) -> f64 {
        let r = (s - y).abs();
        if r <= self.0 { r * r / 2.0 } else { self.0 * (r - self.0 / 2.0) }
    }

    fn slope(self, y: f64, s: f64) -> f64 {
        (s - y).clamp(-self.0, self.0)
    }

    fn conjugate(self, y: f64, u: f64) -> f64 {
        if u.abs() <= self.0 { u * y + u * u / 2.0 } else { f64::INFINITY }
    }

    fn nearest_dual(self, _: f64, u: f64) -> f64 {
        u.clamp(-self.0, self.0)
    }

    fn growth(self) -> Growth {
        Growth::Smooth(1.0)
    }

    fn second_order(self, y: f64, s: f64) -> Option<Local> {
        Some(self.local(y, s))
    }
}

impl SmoothLoss for Huber {
    fn curvature(self, y: f64, s: f64) -> f64 {
        if (s - y).abs() <= self.0 { 1.0 } else { 0.0 }
    }
}

impl ProximalLoss for Huber {
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let (r, bend) = (z - y, 1.0 + width);
        if r.abs() <= self.0 * bend {
            Local { value: r * r / (2.0 * bend), slope: r / bend, curvature: 1.0 / bend }
        } else {
            let value = self.0 * (r.abs() - self.0 * bend / 2.0);
            Local { value, slope: self.0 * r.signum(), curvature: 0.0 }
        }
    }
}

/// The hinge with its kink rounded off between the margins 0 and 1.
#[derive(Clone, Copy, Debug)]
struct SmoothedHinge;

impl Loss for SmoothedHinge {
    fn name(self) -> &'static str {
        "smoothed hinge"
    }

    fn value(self, y: f64, s: f64) -> f64 {
        match 1.0 - y * s {
            short if short <= 0.0 => 0.0,
            short if short < 1.0 => short * short / 2.0,
            short => short - 0.5,
        }
    }

    fn slope(self, y: f64, s: f64) -> f64 {
        -y * (1.0 - y * s).clamp(0.0, 1.0)
    }

    fn conjugate(self, y: f64, u: f64) -> f64 {
        let a = -y * u;
        if (0.0..=1.0).contains(&a) { a * a / 2.0 - a } else { f64::INFINITY }
    }

    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).clamp(-1.0, 0.0)
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }

    fn targets(self) -> Targets {
        Targets::Signs
    }
}

impl SmoothLoss for SmoothedHinge {
    fn curvature(self, y: f64, s: f64) -> f64 {
        if y * s < 1.0 && y * s > 0.0 { 1.0 } else { 0.0 }
    }
}

impl ProximalLoss for SmoothedHinge {
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let (short, bend) = (1.0 - y * z, 1.0 + width);
        if short <= 0.0 {
            Local::default()
        } else if short < bend {
            Local { value: short * short / (2.0 * bend), slope: -y * short / bend, curvature: 1.0 / bend }
        } else {
            Local { value: short - bend / 2.0, slope: -y, curvature: 0.0 }
        }
    }
}

/// `(λ/2)w²` for weights that are not negative; others are forbidden.
#[derive(Clone, Copy, Debug)]
struct NonNegative(f64);

impl Penalty for NonNegative {
    fn value(self, w: f64) -> f64 {
        if w < 0.0 { f64::INFINITY } else { self.0 * w * w / 2.0 }
    }

    fn conjugate(self, v: f64) -> f64 {
        v.max(0.0).powi(2) / (2.0 * self.0)
    }

    fn shortest_slope(self, w: f64, v: f64) -> f64 {
        if w > 0.0 { self.0 * w + v } else { v.min(0.0) }
    }

    fn strong_convexity(self) -> f64 {
        self.0
    }

    fn dual_radius(self) -> f64 {
        f64::INFINITY
    }
}

impl ProximalPenalty for NonNegative {
    fn prox(self, v: f64, step: f64) -> f64 {
        v.max(0.0) / (1.0 + step * self.0)
    }
}

/// No penalty up to a size, and weights beyond it are forbidden.
#[derive(Clone, Copy, Debug)]
struct AtMost(f64);

impl Penalty for AtMost {
    fn value(self, w: f64) -> f64 {
        if w.abs() > self.0 { f64::INFINITY } else { 0.0 }
    }

    fn conjugate(self, v: f64) -> f64 {
        self.0 * v.abs()
    }

    fn shortest_slope(self, w: f64, v: f64) -> f64 {
        if w.abs() < self.0 || v * w > 0.0 { v } else { 0.0 }
    }

    fn strong_convexity(self) -> f64 {
        0.0
    }

    fn dual_radius(self) -> f64 {
        f64::INFINITY
    }
}

impl ProximalPenalty for AtMost {
    fn prox(self, v: f64, _: f64) -> f64 {
        v.clamp(-self.0, self.0)
    }
}

/// The minimum of a convex function between two numbers, by golden-section search.
fn golden_section(f: &dyn Fn(f64) -> f64, low: f64, high: f64) -> (f64, f64) {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (low, high);
    for _ in 0..50 {
        let (left, right) = (b - golden * (b - a), a + golden * (b - a));
        if f(left) <= f(right) { b = right } else { a = left }
    }
    let best = (a + b) / 2.0;
    (best, f(best))
}

/// The least objective over two weights and a bias, each sought for every value of the one before. Weights
/// that may not be negative are sought from `lowest` on.
fn least<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, lowest: f64, highest: f64) -> f64 {
    let objective = |weights: [f64; 2], bias: f64| {
        let point = Point { weights: weights.to_vec(), bias };
        let losses: f64 = (0..problem.len())
            .map(|i| problem.loss.value(problem.targets[i], problem.row(i).dot(&weights) + bias))
            .sum();
        losses / problem.total + problem.penalty_of(&point)
    };
    let over_bias = |weights: [f64; 2]| match problem.bias {
        Bias::Free => golden_section(&|bias| objective(weights, bias), -20.0, 20.0).1,
        _ => objective(weights, 0.0),
    };
    let over_second = |first: f64| golden_section(&|w| over_bias([first, w]), lowest, highest).1;
    golden_section(&over_second, lowest, highest).1
}

/// One coordinate after the other, each by golden-section search: a solver for any loss and any penalty.
struct CoordinateSearch {
    lowest: f64,
    highest: f64,
}

impl<L: Loss, P: Penalty> Solver<L, P> for CoordinateSearch {
    fn solve(
        &self,
        problem: &Problem<'_, L, P>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let columns = problem.rows.columns();
        let mut point = start.map_or_else(|| Point::zero(columns), |start| start.point.clone());
        let mut recorder = Recorder::new(control);
        loop {
            let gap = duality_gap(problem, &point, &problem.scores(&point), None);
            let stop = recorder.step(gap.objective, gap.relative(), gap.gradient, Some(&point));
            if gap.within(control.tolerance) {
                return recorder.finish(point, None, Termination::Converged);
            } else if stop || recorder.steps() >= control.steps {
                let why = if stop { Termination::Interrupted } else { Termination::OutOfSteps };
                return recorder.finish(point, None, why);
            }
            for j in 0..columns {
                let at = |w: f64| {
                    let mut moved = point.clone();
                    moved.weights[j] = w;
                    problem.mean_loss(&problem.scores(&moved)) + problem.penalty_of(&moved)
                };
                point.weights[j] = golden_section(&at, self.lowest, self.highest).0;
            }
        }
    }
}

fn matrix(rows: &[[f64; 2]]) -> Matrix<'static> {
    let mut builder = Builder::new(Layout::Dense { columns: 2 });
    rows.iter().for_each(|row| builder.push(&[0, 1], row));
    builder.finish()
}

fn solve<L: Loss, P: Penalty>(
    solver: &dyn Solver<L, P>,
    problem: &Problem<'_, L, P>,
    tolerance: f64,
) -> Solution {
    let mut unwatched = Unwatched;
    let watch = Watch::new(&mut unwatched);
    let control = Control { tolerance, steps: 200_000, seed: 1, output: (0, 1), trace: false, watch: &watch };
    solver.solve(problem, None, &control)
}

const TOLERANCE: f64 = 1e-6;

/// The solver's point has a gap within the tolerance, and its objective is the least one.
fn is_minimum<L: Loss, P: Penalty>(
    solver: &dyn Solver<L, P>,
    problem: &Problem<'_, L, P>,
    least: f64,
) -> Result<(), TestCaseError> {
    let found = solve(solver, problem, TOLERANCE);
    prop_assert_eq!(found.termination, Termination::Converged, "{:?}", found.point);
    let gap = duality_gap(problem, &found.point, &problem.scores(&found.point), found.duals.as_deref());
    prop_assert!(gap.within(TOLERANCE), "{gap:?}");
    let slack = 1e-9 * (1.0 + least);
    prop_assert!(gap.objective <= least * (1.0 + 2.0 * TOLERANCE) + slack, "{gap:?} {least}");
    prop_assert!(gap.dual.unwrap() <= least + slack, "{gap:?} {least}");
    Ok(())
}

fn rows_and_targets() -> impl Strategy<Value = (Vec<[f64; 2]>, Vec<f64>)> {
    let row = prop::array::uniform2(-2.0..2.0f64);
    prop::collection::vec(row, 4..8).prop_flat_map(|rows| {
        let targets = prop::collection::vec(-2.0..2.0f64, rows.len());
        (Just(rows), targets)
    })
}

/// Both signs, or a free bias has no finite minimum.
fn signs(targets: &[f64]) -> Vec<f64> {
    let sign = |(i, y): (usize, &f64)| if i == 0 || i > 1 && *y > 0.0 { 1.0 } else { -1.0 };
    targets.iter().enumerate().map(sign).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn solvers_minimise_losses_from_outside((rows, targets) in rows_and_targets(), lambda in 0.05..1.0f64) {
        let (rows, signs, total) = (matrix(&rows), signs(&targets), targets.len() as f64);
        for bias in [Bias::Free, Bias::None] {
            let (row_weights, penalty) = (&[][..], L2(lambda));
            let huber = Problem { rows: &rows, targets: &targets, row_weights, total, loss: Huber(0.7),
                penalty, bias };
            let best = least(&huber, -20.0, 20.0);
            is_minimum(&Newton, &huber, best)?;
            is_minimum(&DualCoordinateDescent, &huber, best)?;
            is_minimum(&AugmentedLagrangian, &huber, best)?;
            is_minimum(&ProximalGradient, &huber, best)?;
            is_minimum(&GradientDescent::default(), &huber, best)?;
            let hinge = Problem { rows: &rows, targets: &signs, row_weights, total, loss: SmoothedHinge,
                penalty, bias };
            let best = least(&hinge, -20.0, 20.0);
            is_minimum(&Newton, &hinge, best)?;
            is_minimum(&DualCoordinateDescent, &hinge, best)?;
            is_minimum(&ProximalGradient, &hinge, best)?;
        }
    }

    #[test]
    fn proximal_gradient_minimises_penalties_from_outside(
        (rows, targets) in rows_and_targets(),
        lambda in 0.05..1.0f64,
        size in 0.1..1.0f64,
    ) {
        let (rows, signs, total) = (matrix(&rows), signs(&targets), targets.len() as f64);
        for bias in [Bias::Free, Bias::None] {
            let numbers =
                Problem { rows: &rows, targets: &targets, row_weights: &[], total, loss: Huber(0.7),
                    penalty: L2(0.0), bias };
            let positive = numbers.with_penalty(NonNegative(lambda));
            is_minimum(&ProximalGradient, &positive, least(&positive, 0.0, 20.0))?;
            let bounded = numbers.with_penalty(AtMost(size));
            is_minimum(&ProximalGradient, &bounded, least(&bounded, -size, size))?;
            let classes =
                Problem { rows: &rows, targets: &signs, row_weights: &[], total, loss: Logistic,
                    penalty: L2(0.0), bias };
            let positive = classes.with_penalty(NonNegative(lambda));
            is_minimum(&ProximalGradient, &positive, least(&positive, 0.0, 20.0))?;
            let bounded = classes.with_penalty(AtMost(size));
            is_minimum(&ProximalGradient, &bounded, least(&bounded, -size, size))?;
        }
    }

    #[test]
    fn a_solver_from_outside_minimises_them_too((rows, targets) in rows_and_targets(),
        lambda in 0.2..1.0f64) {
        let (rows, total) = (matrix(&rows), targets.len() as f64);
        let penalty = NonNegative(lambda);
        let problem = Problem {
            rows: &rows, targets: &targets, row_weights: &[], total, loss: Huber(0.7), penalty,
                bias: Bias::None,
        };
        let solver = CoordinateSearch { lowest: 0.0, highest: 20.0 };
        is_minimum(&solver, &problem, least(&problem, 0.0, 20.0))?;
    }
}
