//! The augmented Lagrangian method, for losses with kinks.
//!
//! The problem is `min (1/n) Σ cᵢ ℓ(yᵢ, sᵢ) + (λ/2)‖w‖²` subject to `sᵢ = <w, xᵢ> + b`, with the duals `uᵢ`
//! as multipliers of the constraints. Minimising the augmented Lagrangian over the free scores `sᵢ` replaces
//! each loss by its Moreau envelope of width `σ`, shifted by the dual. A round is
//!
//! ```text
//! (w, b) ← argmin (1/n) Σ cᵢ env_σ ℓ(yᵢ, <w, xᵢ> + b + σ·uᵢ) + (λ/2)‖w‖²     (smooth: Newton's method)
//! uᵢ     ← the slope of row i's envelope there
//! σ      ← σ/2
//! ```
//!
//! (Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm in convex
//! programming", 1976; with a semismooth Newton method for each round: Li, Sun and Toh, 2018.) Only rows on
//! the curved part of their envelope have a curvature, and these become few, so that the last steps cost
//! little more than their passes over the rows.

use super::newton_cg::{Moved, NewtonCg};
use super::subsample::Subsample;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::loss::ProximalLoss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};

/// Each width is so much of the last: with envelopes that narrow faster, Newton's method needs many steps.
const NARROWER: f64 = 0.5;

/// The smallest width: a narrower envelope cannot be told from the loss.
const NARROWEST: f64 = 1e-14;

/// Most steps of Newton's method for one width; some ten are usual.
const MOST_INNER: usize = 100;

/// The augmented Lagrangian method: proximal steps on the duals, each by Newton's method.
#[derive(Clone, Copy, Debug, Default)]
pub struct AugmentedLagrangian;

impl<L: ProximalLoss> Solver<L, L2> for AugmentedLagrangian {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        match start {
            Some(start) => minimise(problem, Begin::at(problem, start), control).0,
            None => from_subsample(problem, control).0,
        }
    }
}

/// Where to begin, and how wide the envelopes are there, where that is known.
struct Begin {
    point: Point,
    duals: Vec<f64>,
    width: Option<f64>,
}

impl Begin {
    /// A warm start. Weights without duals speak of some: the slopes of the loss at their scores. Near such
    /// weights envelopes can be narrower than far from the minimum.
    fn at<L: ProximalLoss>(problem: &Problem<'_, L, L2>, start: &WarmStart) -> Self {
        const NARROWER_THERE: f64 = 0.25;
        let (point, duals) = (start.point.clone(), start.duals.clone());
        if duals.len() == problem.len() || point.weights.iter().all(|w| *w == 0.0) {
            return Self { point, duals, width: None };
        }
        let scores = problem.scores(&point);
        let slope = |i: usize| problem.loss.slope(problem.targets[i], scores[i]);
        let duals = problem.each(|i| problem.loss.nearest_dual(problem.targets[i], slope(i)));
        let width = NARROWER_THERE * 2.0 * problem.mean_loss(&scores);
        Self { point, duals, width: Some(width) }
    }
}

/// The solution, and how wide the envelopes were in the end; it begins with a subsample of the rows, if there
/// are so many that a subsample tells.
fn from_subsample<L: ProximalLoss>(problem: &Problem<'_, L, L2>, control: &Control<'_>) -> (Solution, f64) {
    let mut begin = Begin { point: Point::zero(problem.rows.columns()), duals: Vec::new(), width: None };
    if let Some(subsample) = Subsample::of(problem) {
        let tolerance = control.tolerance.max(subsample.overfitting());
        let (found, width) =
            from_subsample(&subsample.problem(problem), &Control { tolerance, trace: false, ..*control });
        if found.termination == Termination::Interrupted {
            return (Solution { duals: None, ..found }, width);
        }
        begin = Begin { point: found.point, width: Some(width), ..begin };
    }
    minimise(problem, begin, control)
}

/// The solution, and how wide the envelopes were in the end.
fn minimise<L: ProximalLoss>(
    problem: &Problem<'_, L, L2>,
    Begin { point, mut duals, width }: Begin,
    control: &Control<'_>,
) -> (Solution, f64) {
    let (loss, targets) = (problem.loss, problem.targets);
    if duals.len() != problem.len() {
        duals = vec![0.0; problem.len()];
    }
    // So wide to begin with that the usual row is on the curved part.
    let mut width =
        width.unwrap_or_else(|| 2.0 * problem.mean_loss(&problem.scores(&point))).max(f64::MIN_POSITIVE);
    let mut newton =
        NewtonCg::new(problem, point, &|i, s| loss.envelope(targets[i], s + width * duals[i], width));
    let mut recorder = Recorder::new(control);
    let termination = 'rounds: loop {
        let envelope = |i: usize, s: f64| loss.envelope(targets[i], s + width * duals[i], width);
        for inner in 0.. {
            let objective = problem.mean_loss(&newton.scores) + problem.penalty_of(&newton.point);
            let rough = rough_gap(problem, &newton, objective);
            let gap = (rough <= 2.0 * control.tolerance * objective)
                .then(|| relative_gap(problem, &newton, rough / objective))
                .flatten();
            if recorder.step(objective, gap, None, Some(&newton.point)) {
                break 'rounds Termination::Interrupted;
            }
            if gap.is_some_and(|gap| gap <= control.tolerance) {
                break 'rounds Termination::Converged;
            }
            if recorder.steps() >= control.steps {
                break 'rounds Termination::OutOfSteps;
            }
            // Where rounding keeps the round from being solved that well, narrower envelopes do no harm.
            if unsolved(problem, &newton, width) <= 0.2 * rough || inner >= MOST_INNER {
                break;
            }
            if matches!(newton.step(problem, &envelope, 0.1, control.watch), Moved::Nowhere) {
                break;
            }
        }
        duals.copy_from_slice(&newton.slopes);
        if width < NARROWEST {
            break Termination::Stalled;
        }
        width *= NARROWER;
        newton.evaluate(problem, &|i, s| loss.envelope(targets[i], s + width * duals[i], width));
        newton.forget_curvature();
    };
    let duals = std::mem::take(&mut newton.slopes);
    (recorder.finish(newton.point, Some(duals), termination), width)
}

/// The relative gap of a point close to the minimum; with a free bias the slopes must be balanced first.
fn relative_gap<L: ProximalLoss>(problem: &Problem<'_, L, L2>, newton: &NewtonCg, rough: f64) -> Option<f64> {
    match problem.bias {
        Bias::Free => duality_gap(problem, &newton.point, &newton.scores, Some(&newton.slopes)).relative(),
        Bias::Penalised | Bias::None => Some(rough),
    }
}

/// How much of the gap is there because the round is not yet solved.
fn unsolved<L: ProximalLoss>(problem: &Problem<'_, L, L2>, newton: &NewtonCg, width: f64) -> f64 {
    let square = |g: f64| g * g / (2.0 * problem.penalty.0);
    let weights: f64 = newton.gradient.weights.iter().map(|g| square(*g)).sum();
    weights
        + match problem.bias {
            // Duals that do not balance are worth what moving the bias would gain: away from zero, or across
            // an envelope.
            Bias::Free => newton.gradient.bias.abs() * (newton.point.bias.abs() + width),
            _ => square(newton.gradient.bias),
        }
}

/// The gap between the objective and the bound that the present slopes prove, without a pass over the rows:
/// for a free bias, as if the slopes were balanced.
fn rough_gap<L: ProximalLoss>(problem: &Problem<'_, L, L2>, newton: &NewtonCg, objective: f64) -> f64 {
    let lambda = problem.penalty.0;
    let conjugate =
        problem.sum(|i| problem.share(i) * problem.loss.conjugate(problem.targets[i], newton.slopes[i]));
    // The gradient of the objective less that of the penalty.
    let dual_gradient = |g: f64, w: f64| (g - lambda * w).powi(2);
    let weights: f64 =
        newton.gradient.weights.iter().zip(&newton.point.weights).map(|(g, w)| dual_gradient(*g, *w)).sum();
    let bias = match problem.bias {
        Bias::Penalised => dual_gradient(newton.gradient.bias, newton.point.bias),
        Bias::Free | Bias::None => 0.0,
    };
    objective + conjugate + (weights + bias) / (2.0 * lambda)
}
