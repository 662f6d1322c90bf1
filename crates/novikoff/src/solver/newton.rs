//! Newton's method for smooth losses.

use super::part::Part;
use super::smooth::{Descent, Moved};
use super::{Arrival, Certified, Control, Ended, Solution, Solver, Start, Watched, in_ball, proven};
use crate::loss::SmoothLoss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};

/// Newton's method, damped by a line search, with conjugate-gradient steps whose work depends on the number
/// of columns: with few, the factor of a sample's Hessian makes them almost exact; with many, its diagonal
/// must do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newton;

impl<L: SmoothLoss> Solver<L, L2> for Newton {
    fn solve(&self, problem: &Problem<'_, L, L2>, start: Option<&Start>, control: &Control<'_>) -> Solution {
        let at = |i: usize, s: f64| problem.loss.local(problem.targets[i], s);
        let zero = || Point::zero(problem.rows.columns());
        let start = match start {
            Some(start) => start.point.clone(),
            None => match self.start(problem, control) {
                Some(found) if found.ended == Ended::Interrupted => return found,
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
        let mut watched = Watched::new(control);
        let lambda = problem.penalty.0;
        let nothing = 1e-30 * descent.objective(problem);
        let (mut last, mut arrival, mut certified) =
            (f64::INFINITY, Arrival { enough: 1e-3 * control.tolerance }, None);
        let ended = loop {
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
            if watched.step(objective, gap, Some(square.sqrt()), Some(&descent.point)) {
                break Ended::Interrupted;
            }
            if gap.is_some_and(|gap| gap <= control.tolerance) {
                break Ended::Arrived;
            }
            // One class alone, and a bias that nothing holds: the objective has no minimum but zero, at
            // infinity.
            if objective <= nothing {
                break Ended::Stalled;
            }
            if watched.steps() >= control.steps {
                break Ended::OutOfSteps;
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
                Moved::Nowhere => break Ended::Stalled,
                // Without a penalty there is no gap to wait for: a small gain is the sign.
                Moved::By(gain) if lambda == 0.0 => {
                    let prove = || {
                        let scores = problem.scores(&descent.point);
                        let (gap, duals) = in_ball(problem, &descent.point, &scores, None, control.tolerance);
                        certified = Some(Certified { scores, gap, duals: Some(duals) });
                        proven(problem, &gap, control.tolerance)
                    };
                    if arrival.is(gain / objective, prove) {
                        break Ended::Arrived;
                    }
                    certified = None;
                }
                Moved::By(_) => {}
            }
        };
        Solution { certified, ..watched.finish(descent.point, None, ended) }
    }
}

impl Newton {
    /// What a part of the rows comes to.
    fn start<L: SmoothLoss>(&self, problem: &Problem<'_, L, L2>, control: &Control<'_>) -> Option<Solution> {
        let part = Part::of(problem)?;
        let control = Control { tolerance: control.tolerance.max(part.doubt()), trace: false, ..*control };
        Some(self.solve(&part.problem(problem), None, &control))
    }
}
