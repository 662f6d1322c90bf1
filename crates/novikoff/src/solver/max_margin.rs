//! The maximal-margin hyperplane: the shortest `w` that gives every row a margin of 1.
//!
//! ```text
//! primal: min ‖w‖²/2 subject to yᵢ(<w, xᵢ> + b) ≥ 1        margin reached: minᵢ yᵢ(<w, xᵢ> + b)/‖w‖
//! dual:   min ‖Σ αᵢyᵢxᵢ‖ over α ≥ 0 with Σ αᵢ = 1           bound: ‖Σ αᵢyᵢxᵢ‖/Σ αᵢ ≥ every margin
//! ```
//!
//! The hinge loss with a small enough penalty has the same solution, as soon as no dual is at its bound. So
//! the penalty is lowered, each time from the last solution, until the interval between the margin that is
//! reached and the largest that the duals allow has closed, or until the duals allow next to none.

use super::{Control, DualCoordinateDescent, Solution, Solver, Termination, WarmStart};
use crate::control::Progress;
use crate::loss::{Hinge, Loss};
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem};
use crate::solver::AugmentedLagrangian;

/// A hyperplane and its margin.
pub(crate) struct MaxMargin {
    /// What the solver came to; where the rows are separated, every row has a margin of 1 at least.
    pub solution: Solution,
    /// The least distance of a row from the hyperplane, on its side; negative if one is on the wrong side.
    pub lower: f64,
}

/// More columns than this, and rows are gone through one by one.
const FEW_COLUMNS: usize = 2048;
/// Each penalty is so much of the last.
const LIGHTER: f64 = 0.1;
/// A margin that is this small beside the rows is none.
const NOTHING: f64 = 1e-7;

/// Closes the interval to the tolerance of `control`, relatively, or finds that there is no margin worth the
/// name.
pub(crate) fn max_margin(problem: &Problem<'_, Hinge, L2>, control: &Control<'_>) -> MaxMargin {
    let mut start: Option<WarmStart> = None;
    let radius = (0..problem.len()).map(|i| problem.row(i).norm_sq()).fold(0.0, f64::max).sqrt();
    let extra = problem.bias == Bias::Penalised;
    let radius = if extra { (radius * radius + 1.0).sqrt() } else { radius };
    // In the units of the rows, whatever these are.
    let heaviest = if radius > 0.0 { radius * radius / problem.total } else { 1.0 / problem.total };
    let mut lambda = heaviest;
    let (mut steps, mut upper) = (0, f64::INFINITY);
    // The duals that tell the upper end, which need not be the last ones.
    let mut telling = Vec::new();
    let mut trace = Vec::new();
    loop {
        let lighter = problem.with_penalty(L2(lambda));
        let control = Control {
            steps: control.steps.saturating_sub(steps).max(1),
            tolerance: 0.1 * control.tolerance,
            ..*control
        };
        let few = problem.rows.columns() <= FEW_COLUMNS;
        let mut solution = match few {
            true => AugmentedLagrangian.solve(&lighter, start.as_ref(), &control),
            false => DualCoordinateDescent.solve(&lighter, start.as_ref(), &control),
        };
        steps += solution.steps;
        trace.append(&mut solution.trace);
        let duals = solution.duals.take().unwrap_or_default();
        let (lower, scale) = least_margin(&lighter, &solution.point);
        let allowed = largest_margin(&lighter, &duals);
        if allowed < upper || telling.is_empty() {
            telling.clone_from(&duals);
            upper = upper.min(allowed);
        }
        control.watch.tell(Progress::Margin { output: control.output.0, round: steps, lower, upper });
        let closed = lower > 0.0 && upper - lower <= 10.0 * control.tolerance * upper;
        let hopeless = upper <= NOTHING * radius || lambda < 1e-14 * heaviest;
        let spent = solution.termination == Termination::Interrupted || steps >= control.steps;
        if closed || hopeless || spent {
            if lower > 0.0 {
                solution.point = solution.point.scaled(1.0 / scale);
            }
            solution.termination = match () {
                () if closed => Termination::Converged,
                () if solution.termination == Termination::Interrupted => Termination::Interrupted,
                () if hopeless => Termination::Stalled,
                () => Termination::OutOfSteps,
            };
            let solution = Solution { steps, trace, duals: Some(telling), ..solution };
            return MaxMargin { solution, lower };
        }
        start = Some(WarmStart { point: solution.point, duals });
        lambda *= LIGHTER;
    }
}

/// The least margin, over the length of the weights and as it is.
fn least_margin(problem: &Problem<'_, Hinge, L2>, point: &Point) -> (f64, f64) {
    let scores = problem.scores(point);
    let counted = (0..problem.len()).filter(|&i| problem.share(i) > 0.0);
    let least = counted.map(|i| problem.targets[i] * scores[i]).fold(f64::INFINITY, f64::min);
    let bias = if problem.bias == Bias::Penalised { point.bias } else { 0.0 };
    let length = (point.weights.iter().map(|w| w * w).sum::<f64>() + bias * bias).sqrt();
    (if length > 0.0 { least / length } else { 0.0 }, least)
}

/// `‖Σ αᵢyᵢxᵢ‖/Σ αᵢ`, where with a free bias the two classes have equal parts of Σ αᵢ: twice the distance of
/// two points of the classes' hulls, halved.
fn largest_margin(problem: &Problem<'_, Hinge, L2>, duals: &[f64]) -> f64 {
    let dual = |i: usize| problem.share(i) * problem.loss.nearest_dual(problem.targets[i], duals[i]);
    let up = problem.sum(|i| dual(i).max(0.0));
    let down = problem.sum(|i| (-dual(i)).max(0.0));
    let (up_factor, down_factor) = match problem.bias {
        Bias::Free if up > 0.0 && down > 0.0 => ((down / up).min(1.0), (up / down).min(1.0)),
        Bias::Free => return f64::INFINITY,
        _ => (1.0, 1.0),
    };
    let balanced = |i: usize| if dual(i) > 0.0 { up_factor * dual(i) } else { down_factor * dual(i) };
    let sum = problem.combine(balanced);
    let total = up_factor * up + down_factor * down;
    let bias = if problem.bias == Bias::Penalised { sum.bias } else { 0.0 };
    let length = (sum.weights.iter().map(|v| v * v).sum::<f64>() + bias * bias).sqrt();
    if total > 0.0 { length / total } else { f64::INFINITY }
}
