//! Newton's method for smooth losses.

use super::bounds::is_proven;
use super::gap_schedule::ProofSchedule;
use super::smooth::{Descent, Moved};
use super::subsample::Subsample;
use super::{Certified, Control, Recorder, Solution, Solver, Termination, WarmStart, gap_in_ball};
use crate::loss::SmoothLoss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};

/// Newton's method, damped by a line search, with conjugate-gradient steps whose work depends on the number
/// of columns: with few, the factor of a sample's Hessian makes them almost exact; with many, its diagonal
/// must do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newton;

impl<L: SmoothLoss> Solver<L, L2> for Newton {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let at = |i: usize, s: f64| problem.loss.local(problem.targets[i], s);
        let zero = || Point::zero(problem.rows.columns());
        let start = match start {
            Some(start) => start.point.clone(),
            None => match self.start(problem, control) {
                Some(found) if found.termination == Termination::Interrupted => return found,
                Some(found) => found.point,
                None => zero(),
            },
        };
        let mut descent = Descent::new(problem, start, &at);
        if descent.objective(problem)
            > problem.sum(|i| problem.share(i) * problem.loss.value(problem.targets[i], 0.0))
        {
            descent = Descent::new(problem, zero(), &at);
        }
        let mut recorder = Recorder::new(control);
        let lambda = problem.penalty.0;
        let nothing = 1e-30 * descent.objective(problem);
        let (mut last, mut proof_schedule, mut certified) =
            (f64::INFINITY, ProofSchedule::new(1e-3 * control.tolerance), None);
        let termination = loop {
            let objective = descent.objective(problem);
            // With slopes for duals this is the gap, but for a free bias, whose part in it vanishes first.
            let square = descent.gradient.dot(&descent.gradient);
            let rough = square / (2.0 * lambda) / objective;
            let near = lambda > 0.0 && rough <= 4.0 * control.tolerance;
            let gap = match problem.bias {
                _ if !near => None,
                Bias::Free => duality_gap(problem, &descent.point, &descent.scores, None).relative(),
                _ => Some(rough),
            };
            if recorder.step(objective, gap, Some(square.sqrt()), Some(&descent.point)) {
                break Termination::Interrupted;
            }
            if gap.is_some_and(|gap| gap <= control.tolerance) {
                break Termination::Converged;
            }
            // One class alone, and a bias that nothing holds: the objective has no minimum but zero, at
            // infinity.
            if objective <= nothing {
                break Termination::Stalled;
            }
            if recorder.steps() >= control.steps {
                break Termination::OutOfSteps;
            }
            // As exact as it takes to be there after this step, if the last one was as good as that: far from
            // the minimum nothing is gained by exactness. A rough step that gained little is followed by an
            // exact one.
            let needed = (0.25 * control.tolerance / rough).sqrt();
            let accuracy = needed.max(match (square / last).sqrt() {
                _ if last.is_infinite() => 0.3,
                contraction if contraction < 0.3 => contraction.min(0.1),
                _ => 0.1,
            });
            let accuracy = accuracy.clamp(0.01, 0.3);
            last = square;
            match descent.step(problem, &at, accuracy) {
                Moved::Nowhere => break Termination::Stalled,
                // Without a penalty there is no gap to wait for: a small gain is the sign.
                Moved::By(gain) if lambda == 0.0 => {
                    let prove = || {
                        let scores = problem.scores(&descent.point);
                        let (gap, duals) =
                            gap_in_ball(problem, &descent.point, &scores, None, control.tolerance);
                        certified = Some(Certified { scores, gap, duals: Some(duals) });
                        is_proven(problem, &gap, control.tolerance)
                    };
                    if proof_schedule.proves(gain / objective, prove) {
                        break Termination::Converged;
                    }
                    certified = None;
                }
                Moved::By(_) => {}
            }
        };
        Solution { certified, ..recorder.finish(descent.point, None, termination) }
    }
}

impl Newton {
    /// What a part of the rows comes to.
    fn start<L: SmoothLoss>(&self, problem: &Problem<'_, L, L2>, control: &Control<'_>) -> Option<Solution> {
        let part = Subsample::of(problem)?;
        let control =
            Control { tolerance: control.tolerance.max(part.overfitting()), trace: false, ..*control };
        Some(self.solve(&part.problem(problem), None, &control))
    }
}
