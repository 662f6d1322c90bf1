//! Newton's method for smooth losses.

use super::smooth::{Descent, Moved};
use super::{Control, Ended, Solution, Solver, Start, Watched};
use crate::certificate::gap;
use crate::loss::SmoothLoss;
use crate::penalty::{L2, Penalty};
use crate::risk::{Point, Problem};

/// Newton's method, damped by a line search, with conjugate-gradient steps whose work depends on the number of columns:
/// with few, the factor of a sample's Hessian makes them almost exact; with many, its diagonal must do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newton;

impl<L: SmoothLoss> Solver<L, L2> for Newton {
    fn solve(&self, problem: &Problem<'_, L, L2>, start: Option<&Start>, control: &Control<'_>) -> Solution {
        let at = |i: usize, s: f64| problem.loss.all(problem.targets[i], s);
        let start = start.map_or_else(|| Point::zero(problem.rows.columns()), |start| start.point.clone());
        let mut descent = Descent::new(problem, start, &at);
        let mut watched = Watched::new(control);
        let lambda = problem.penalty.l2();
        let nothing = 1e-30 * descent.objective(problem);
        let ended = loop {
            let objective = descent.objective(problem);
            // With slopes for duals the gap is ‖gradient‖²/2λ, but for a free bias, whose part in it vanishes first.
            let rough = descent.gradient.dot(&descent.gradient) / (2.0 * lambda) / objective;
            let near = lambda > 0.0 && rough <= 4.0 * control.tolerance;
            let gap = near.then(|| gap(problem, &descent.point, &descent.scores, None).relative()).flatten();
            if watched.step(objective, gap, Some(descent.gradient.dot(&descent.gradient).sqrt()), Some(&descent.point)) {
                break Ended::Interrupted;
            }
            if gap.is_some_and(|gap| gap <= control.tolerance) {
                break Ended::Arrived;
            }
            // One class alone, and a bias that nothing holds: the objective has no minimum but zero, at infinity.
            if objective <= nothing {
                break Ended::Stalled;
            }
            if watched.steps() >= control.steps {
                break Ended::OutOfSteps;
            }
            let accuracy = if near || rough < 1e-2 { 0.01 } else { 0.1 };
            match descent.step(problem, &at, accuracy) {
                Moved::Nowhere => break Ended::Stalled,
                // Without a penalty there is no gap to wait for: the last gain tells.
                Moved::By(gain) if lambda == 0.0 && gain <= 1e-3 * control.tolerance * objective => break Ended::Arrived,
                Moved::By(_) => {}
            }
        };
        watched.finish(descent.point, None, ended)
    }
}
