//! Newton's method for smooth losses.
//!
//! The problem is `min F(w, b) = (1/n) Σ cᵢ ℓ(yᵢ, <w, xᵢ> + b) + (λ/2)‖w‖²`. A step solves `H·d = −∇F`
//! roughly, by preconditioned conjugate gradients, and searches along `d` ([`super::newton_cg`]; Nocedal and
//! Wright, "Numerical Optimization", algorithm 7.1, line search Newton-CG).
//!
//! With the slopes at the point as duals the duality gap is `‖∇F‖²/(2λ)`: the conjugates of the losses add up
//! to `<w, g> − loss`, with the gradient `g` of the mean loss, and `∇F = g + λw`. With a free bias the duals
//! must be balanced first, so this is the gap only in the limit.
//!
//! A loss that is linear far from its target, such as Huber's, may have no curvature at any row to begin
//! with, and then no step to speak of. Wider ones of its kind are minimised before it, each roughly, from one
//! under which the usual row is on the curved part (Madsen and Nielsen, "Finite algorithms for robust linear
//! regression", 1990). Where so few rows are curved that no direction leads down, the Hessian gets a ridge
//! (Levenberg and Marquardt).
//!
//! With λ = 0 no such bound exists: a small
//! gain of the objective is then the sign that it is time to try a proof ([`gap_in_ball`]).

use super::gap_schedule::ProofSchedule;
use super::newton_cg::{Moved, NewtonCg};
use super::rigorous_gap::is_proven;
use super::subsample::Subsample;
use super::{Certified, Control, Recorder, Solution, Solver, Termination, WarmStart, gap_in_ball};
use crate::loss::SmoothLoss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};

/// Newton's method, damped by a line search, with conjugate-gradient steps whose work depends on the number
/// of columns: with few, they are preconditioned by the factor of a sample's Hessian, which makes them almost
/// exact; with many, by the diagonal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newton;

/// An objective that is so small a part of the first one is zero: with one class alone and a free bias it
/// falls to zero, and the minimum is at infinity.
const NOTHING: f64 = 1e-30;

impl<L: SmoothLoss> Solver<L, L2> for Newton {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let at = |i: usize, s: f64| problem.loss.local(problem.targets[i], s);
        let subsample = if start.is_none() { self.solve_subsample(problem, control) } else { None };
        let start = match (start, subsample) {
            (Some(start), _) => start.point.clone(),
            (None, Some(found)) if found.termination == Termination::Interrupted => return found,
            (None, Some(found)) => found.point,
            (None, None) => match self.solve_wider(problem, control) {
                Ok(point) => point,
                Err(interrupted) => return *interrupted,
            },
        };
        let mut state = NewtonCg::new(problem, start, &at);
        if state.objective(problem) > loss_at_zero(problem) {
            state = NewtonCg::new(problem, Point::zero(problem.rows.columns()), &at);
        }
        let mut recorder = Recorder::new(control);
        let lambda = problem.penalty.0;
        let nothing = NOTHING * state.objective(problem);
        let mut proofs = ProofSchedule::new(1e-3 * control.tolerance);
        let (mut last_square, mut certified) = (f64::INFINITY, None);
        let most_damping = most_damping(problem);
        let termination = loop {
            let objective = state.objective(problem);
            let square = state.gradient.dot(&state.gradient);
            let rough = square / (2.0 * lambda) / objective;
            let is_near = lambda > 0.0 && rough <= 4.0 * control.tolerance;
            let gap = if is_near { relative_gap(problem, &state, rough) } else { None };
            if recorder.step(objective, gap, Some(square.sqrt()), Some(&state.point)) {
                break Termination::Interrupted;
            }
            if gap.is_some_and(|gap| gap <= control.tolerance) {
                break Termination::Converged;
            }
            if objective <= nothing {
                break Termination::Stalled;
            }
            if recorder.steps() >= control.steps {
                break Termination::OutOfSteps;
            }
            let accuracy = accuracy(control.tolerance / rough, square, last_square);
            last_square = square;
            let moved = state.step(problem, &at, accuracy, control.watch);
            if matches!(moved, Moved::By(_)) {
                state.relax(most_damping);
            }
            match moved {
                Moved::Nowhere if control.watch.stopped() => break Termination::Interrupted,
                Moved::Nowhere if state.damp(most_damping) => {}
                Moved::Nowhere => break Termination::Stalled,
                Moved::By(gain) if lambda == 0.0 => {
                    let prove = || {
                        let certified = certified.insert(certify(problem, &state.point, control));
                        is_proven(problem, &certified.gap, control.tolerance)
                    };
                    if proofs.proves(gain / objective, prove) {
                        break Termination::Converged;
                    }
                    certified = None;
                }
                Moved::By(_) => {}
            }
        };
        Solution { certified, ..recorder.finish(state.point, None, termination) }
    }
}

fn loss_at_zero<L: SmoothLoss>(problem: &Problem<'_, L, L2>) -> f64 {
    problem.sum(|i| problem.share(i) * problem.loss.value(problem.targets[i], 0.0))
}

/// The gap is `rough` but where a free bias has the duals balanced first.
fn relative_gap<L: SmoothLoss>(problem: &Problem<'_, L, L2>, state: &NewtonCg, rough: f64) -> Option<f64> {
    match problem.bias {
        Bias::Free => duality_gap(problem, &state.point, &state.scores, None).relative(),
        Bias::Penalised | Bias::None => Some(rough),
    }
}

/// The gap of a point among weights that are not much longer.
fn certify<L: SmoothLoss>(problem: &Problem<'_, L, L2>, point: &Point, control: &Control<'_>) -> Certified {
    let scores = problem.scores(point);
    let (gap, duals) = gap_in_ball(problem, point, &scores, None, (control.tolerance, control.watch));
    Certified { scores, gap, duals: Some(duals) }
}

impl Newton {
    /// The minimum over a subsample of the rows, if there are so many that a subsample tells.
    fn solve_subsample<L: SmoothLoss>(
        &self,
        problem: &Problem<'_, L, L2>,
        control: &Control<'_>,
    ) -> Option<Solution> {
        let subsample = Subsample::of(problem)?;
        let tolerance = control.tolerance.max(subsample.overfitting());
        let control = Control { tolerance, trace: false, ..*control };
        Some(self.solve(&subsample.problem(problem), None, &control))
    }
}

/// A wider loss is minimised up to this relative gap.
const ROUGHLY: f64 = 1e-3;
/// The next loss is at most so much of the last as wide.
const NARROWER: f64 = 0.25;

impl Newton {
    /// Where to begin: near the minimum of a loss that is little wider, or at zero where no wider one helps.
    fn solve_wider<L: SmoothLoss>(
        &self,
        problem: &Problem<'_, L, L2>,
        control: &Control<'_>,
    ) -> Result<Point, Box<Solution>> {
        let control = Control { tolerance: control.tolerance.max(ROUGHLY), trace: false, ..*control };
        let mut point = Point::zero(problem.rows.columns());
        let mut distance = 2.0 * mean_distance(problem, &point);
        while let Some(loss) = problem.loss.curved_up_to(distance).filter(|_| distance.is_finite()) {
            let start = WarmStart { point, duals: Vec::new() };
            let found = self.solve(&Problem { loss, ..*problem }, Some(&start), &control);
            if found.termination == Termination::Interrupted {
                return Err(Box::new(found));
            }
            point = found.point;
            distance = (NARROWER * distance).min(2.0 * mean_distance(problem, &point));
        }
        Ok(point)
    }
}

/// More than this is never added to the curvature: ten times that of rows which are all on the curved part.
/// Zero for a loss that is curved everywhere.
fn most_damping<L: SmoothLoss>(problem: &Problem<'_, L, L2>) -> f64 {
    if problem.loss.curved_up_to(f64::MAX).is_none() {
        return 0.0;
    }
    let squares = problem.sum(|i| problem.share(i) * (1.0 + problem.row(i).norm_sq()));
    10.0 * problem.loss.largest_curvature().unwrap_or(1.0) * squares
}

/// How far scores are from their targets on average.
fn mean_distance<L: SmoothLoss>(problem: &Problem<'_, L, L2>, point: &Point) -> f64 {
    let scores = problem.scores(point);
    let all = problem.sum(|i| problem.share(i));
    problem.sum(|i| problem.share(i) / all * (scores[i] - problem.targets[i]).abs())
}

/// How well the linear equations of a step are solved, given `wanted`, the tolerance over the gap, and the
/// squared gradients here and one step before.
///
/// As exactly as it takes to converge in this step, if the last one was as good as that: far from the minimum
/// nothing is gained by exactness. A rough step that gained little is followed by an exact one.
fn accuracy(wanted: f64, square: f64, last_square: f64) -> f64 {
    let needed = (0.25 * wanted).sqrt();
    let superlinear = match (square / last_square).sqrt() {
        _ if last_square.is_infinite() => 0.3,
        contraction if contraction < 0.3 => contraction.min(0.1),
        _ => 0.1,
    };
    needed.max(superlinear).clamp(0.01, 0.3)
}
