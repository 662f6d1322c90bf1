//! Newton's method for smooth losses.
//!
//! The problem is `min F(w, b) = (1/n) Σ cᵢ ℓ(yᵢ, <w, xᵢ> + b) + (λ/2)‖w‖²`. A step solves `H·d = −∇F`
//! roughly, by preconditioned conjugate gradients, and searches along `d` ([`super::newton_cg`]; Nocedal and
//! Wright, "Numerical Optimization", algorithm 7.1, line search Newton-CG).
//!
//! With the slopes at the point as duals the duality gap is `‖∇F‖²/(2λ)`: the conjugates of the losses add up
//! to `<w, g> − loss`, with the gradient `g` of the mean loss, and `∇F = g + λw`. With a free bias the duals
//! must be balanced first, so this is the gap only in the limit. With λ = 0 no such bound exists: a small
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
            (None, None) => Point::zero(problem.rows.columns()),
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
            match state.step(problem, &at, accuracy, control.watch) {
                Moved::Nowhere if control.watch.stopped() => break Termination::Interrupted,
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
