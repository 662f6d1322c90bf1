//! The augmented Lagrangian method, for losses with kinks.
//!
//! Each row's loss is replaced by its Moreau envelope, shifted by the row's dual; the sum of those is smooth,
//! and Newton's method minimises it. The slopes found are the next duals, and the envelopes get narrower.
//! Only rows on the bend of their envelope are curved, and these get few, so that the last steps cost little
//! more than their passes over the rows.

use super::smooth::{Descent, Moved};
use super::subsample::Subsample;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::loss::ProximalLoss;
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};

/// Envelopes that get narrower too fast leave Newton's method to find its way along their bends.
const NARROWER: f64 = 0.5;

/// Most steps of Newton's method for one width; some ten are usual.
const MOST_INNER: usize = 100;

/// Proximal steps on the duals, each by Newton's method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Augmented;

impl<L: ProximalLoss> Solver<L, L2> for Augmented {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let begin = match start {
            Some(start) => Begin { point: start.point.clone(), duals: start.duals.clone(), width: None },
            None => Begin::zero(problem),
        };
        self.narrow(problem, begin, start.is_none(), control).0
    }
}

/// Where to begin, and how wide the envelopes are there, where that is known.
struct Begin {
    point: Point,
    duals: Vec<f64>,
    width: Option<f64>,
}

impl Begin {
    fn zero<L: ProximalLoss>(problem: &Problem<'_, L, L2>) -> Self {
        Self { point: Point::zero(problem.rows.columns()), duals: Vec::new(), width: None }
    }
}

impl Augmented {
    /// What came of it, and how wide the envelopes were in the end. Where that is allowed, it begins with a
    /// part of the rows.
    fn narrow<L: ProximalLoss>(
        &self,
        problem: &Problem<'_, L, L2>,
        mut begin: Begin,
        in_part: bool,
        control: &Control<'_>,
    ) -> (Solution, f64) {
        let (loss, targets) = (problem.loss, problem.targets);
        if in_part && let Some(part) = Subsample::of(problem) {
            let control =
                Control { tolerance: control.tolerance.max(part.overfitting()), trace: false, ..*control };
            let like = part.problem(problem);
            let (found, width) = self.narrow(&like, Begin::zero(&like), true, &control);
            if found.termination == Termination::Interrupted {
                return (Solution { duals: None, ..found }, width);
            }
            begin = Begin { point: found.point, width: Some(width), ..begin };
        }
        let Begin { point, mut duals, width } = begin;
        if duals.len() != problem.len() {
            duals = vec![0.0; problem.len()];
        }
        // So wide to begin with that the usual row is on the bend.
        let mut width =
            width.unwrap_or_else(|| 2.0 * problem.mean_loss(&problem.scores(&point))).max(f64::MIN_POSITIVE);
        let mut descent =
            Descent::new(problem, point, &|i, s| loss.envelope(targets[i], s + width * duals[i], width));
        let mut recorder = Recorder::new(control);
        let termination = 'outer: loop {
            let at = |i: usize, s: f64| loss.envelope(targets[i], s + width * duals[i], width);
            for inner in 0.. {
                let objective = problem.mean_loss(&descent.scores) + problem.penalty_of(&descent.point);
                let apart = rough_gap(problem, &descent, objective);
                let unsolved = unsolved(problem, &descent, width);
                let near = apart <= 2.0 * control.tolerance * objective;
                let gap = match problem.bias {
                    _ if !near => None,
                    Bias::Free => {
                        duality_gap(problem, &descent.point, &descent.scores, Some(&descent.slopes))
                            .relative()
                    }
                    _ => Some(apart / objective),
                };
                if recorder.step(objective, gap, None, Some(&descent.point)) {
                    break 'outer Termination::Interrupted;
                }
                if gap.is_some_and(|gap| gap <= control.tolerance) {
                    break 'outer Termination::Converged;
                }
                if recorder.steps() >= control.steps {
                    break 'outer Termination::OutOfSteps;
                }
                // Where rounding keeps it from being solved that well, narrower envelopes do no harm.
                if unsolved <= 0.2 * apart || inner >= MOST_INNER {
                    break;
                }
                if matches!(descent.step(problem, &at, 0.1), Moved::Nowhere) {
                    break;
                }
            }
            duals.copy_from_slice(&descent.slopes);
            if width < 1e-14 {
                break Termination::Stalled;
            }
            width *= NARROWER;
            descent.look(problem, &|i, s| loss.envelope(targets[i], s + width * duals[i], width));
            descent.forget_curvature();
        };
        let duals = std::mem::take(&mut descent.slopes);
        (recorder.finish(descent.point, Some(duals), termination), width)
    }
}

/// How much of the gap is there because the envelopes' sum is not yet minimised.
fn unsolved<L: ProximalLoss>(problem: &Problem<'_, L, L2>, descent: &Descent, width: f64) -> f64 {
    let square = |g: f64| g * g / (2.0 * problem.penalty.0);
    let weights: f64 = descent.gradient.weights.iter().map(|g| square(*g)).sum();
    weights
        + match problem.bias {
            // Duals that do not balance are worth what moving the bias would gain: away from zero, or across
            // an envelope.
            Bias::Free => descent.gradient.bias.abs() * (descent.point.bias.abs() + width),
            _ => square(descent.gradient.bias),
        }
}

/// The gap between the true objective and the bound that the present slopes prove, without a pass over the
/// rows.
fn rough_gap<L: ProximalLoss>(problem: &Problem<'_, L, L2>, descent: &Descent, objective: f64) -> f64 {
    let lambda = problem.penalty.0;
    let conjugate =
        problem.sum(|i| problem.share(i) * problem.loss.conjugate(problem.targets[i], descent.slopes[i]));
    let pull = |g: f64, w: f64| (g - lambda * w).powi(2);
    let weights: f64 =
        descent.gradient.weights.iter().zip(&descent.point.weights).map(|(g, w)| pull(*g, *w)).sum();
    let bias =
        if problem.bias == Bias::Penalised { pull(descent.gradient.bias, descent.point.bias) } else { 0.0 };
    objective + conjugate + (weights + bias) / (2.0 * lambda)
}
