//! The duality gap of the weights that are returned, in spite of all rounding: what "converged" rests on.

use super::solve::{OutputResult, Task, apart, assemble};
use crate::certificate::proof::{Combination, Direction, SignedRows};
use crate::control::Watch;
use crate::data::Matrix;
use crate::evaluate;
use crate::loss::Loss;
use crate::model::Weights;
use crate::penalty::{L2, Penalty};
use crate::risk::{Gap, Joint, Point, Problem, joint_gap};
use crate::solver::{
    Allowed, Certified, Conditioned, JointSolution, MaxMargin, Sizes, Solution, Termination, WarmStart,
    gap_in_ball, is_significant, joint_gap_in_ball, joint_rigorous_gap, negligible_objective, rigorous_gap,
    stationary,
};
use std::borrow::Cow;

/// Computes the gaps of solutions.
pub(super) struct GapCheck<'a, 'w> {
    /// The rows that weights are for.
    rows: &'a Matrix<'a>,
    /// The same rows with columns shifted or scaled exactly, where that makes rounding errors smaller.
    pub(super) conditioned: Option<Conditioned>,
    sizes: Sizes,
    tolerance: f64,
    watch: &'w Watch<'w>,
    /// Whether there is but one weight vector.
    alone: bool,
}

/// The gap of a solver that was asked to stop: to compute it would take longer than the user waits.
pub(super) const UNKNOWN: Gap = Gap { objective: f64::NAN, dual: None, gradient: None };

/// Whether there is any penalty.
pub(super) enum Regularized {
    Yes,
    No,
}

impl<'a, 'w> GapCheck<'a, 'w> {
    pub(super) fn new(task: &Task<'a, 'w>, regularized: Regularized) -> Self {
        let (rows, settings, watch) = (task.rows, task.settings, task.watch);
        let allowed = Allowed::by(settings.bias, matches!(regularized, Regularized::Yes));
        let conditioned = Conditioned::of(rows, allowed);
        let sizes = Sizes::of(conditioned.as_ref().map_or(rows, Conditioned::rows));
        Self { rows, conditioned, sizes, tolerance: settings.tolerance, watch, alone: task.goal.outputs == 1 }
    }

    /// The result of a solver for one weight vector.
    pub(super) fn of<L: Loss, P: Penalty>(
        &self,
        problem: &Problem<'_, L, P>,
        solution: Solution,
    ) -> (WarmStart, OutputResult) {
        if self.watch.stopped() {
            let gap = if self.alone { self.objective(problem, &solution.point) } else { UNKNOWN };
            return self.result(solution, gap, Vec::new(), 0.0);
        }
        match problem.penalty.dual_radius() > 0.0 {
            true => self.regularized(problem, solution),
            false => self.unregularized(&problem.with_penalty(L2(0.0)), solution),
        }
    }

    /// The objective alone.
    fn objective<L: Loss, P: Penalty>(&self, problem: &Problem<'_, L, P>, point: &Point) -> Gap {
        let (problem, point) = self.in_better_numbers(problem, point);
        let objective = problem.mean_loss(&problem.scores(&point)) + problem.penalty_of(&point);
        Gap { objective, ..UNKNOWN }
    }

    fn unregularized<L: Loss>(
        &self,
        problem: &Problem<'_, L, L2>,
        mut solution: Solution,
    ) -> (WarmStart, OutputResult) {
        let (problem, point) = self.in_better_numbers(problem, &solution.point);
        let Certified { scores, gap, .. } = match (solution.certified.take(), &self.conditioned) {
            (Some(certified), None) => certified,
            (proven, _) => {
                let duals = proven.and_then(|proven| proven.duals).or_else(|| solution.duals.clone());
                let scores = problem.scores(&point);
                let (gap, _) =
                    gap_in_ball(&problem, &point, &scores, duals.as_deref(), (self.tolerance, self.watch));
                Certified { scores, gap, duals: None }
            }
        };
        let diverges = problem.loss.vanishes_at_infinity() && problem.separates(&scores);
        let termination = if diverges { Termination::Diverging } else { solution.termination };
        let negligible = negligible_objective(&problem);
        let gap = significant(&problem, &point, &scores, gap);
        self.result(Solution { termination, ..solution }, gap, scores, negligible)
    }

    fn regularized<L: Loss, P: Penalty>(
        &self,
        problem: &Problem<'_, L, P>,
        mut solution: Solution,
    ) -> (WarmStart, OutputResult) {
        let (problem, point) = self.in_better_numbers(problem, &solution.point);
        let duals = solution.duals.as_deref();
        let own = solution.certified.take().filter(|_| self.conditioned.is_none());
        let Certified { scores, gap, .. } = own.unwrap_or_else(|| Certified::new(&problem, &point, duals));
        let gap =
            rigorous_gap(&problem, &point, (&scores, duals), gap, self.sizes, (self.tolerance, self.watch));
        let gap = significant(&problem, &point, &scores, gap);
        self.result(solution, gap, scores, 0.0)
    }

    /// The problem and the point on the conditioned rows.
    fn in_better_numbers<'b, L: Loss, P: Penalty>(
        &'b self,
        problem: &Problem<'b, L, P>,
        point: &'b Point,
    ) -> (Problem<'b, L, P>, Cow<'b, Point>) {
        match &self.conditioned {
            Some(conditioned) => {
                (Problem { rows: conditioned.rows(), ..*problem }, Cow::Owned(conditioned.forth(point)))
            }
            None => (Problem { rows: self.rows, ..*problem }, Cow::Borrowed(point)),
        }
    }

    /// The result of classes learned jointly.
    pub(super) fn of_joint(
        &self,
        problem: &Joint<'_>,
        weights: &Weights,
        solution: JointSolution,
    ) -> OutputResult {
        let JointSolution { mut termination, steps, trace, .. } = solution;
        if self.watch.stopped() {
            let (scores, margin) = (Vec::new(), None);
            return OutputResult { gap: UNKNOWN, negligible: 0.0, scores, termination, steps, trace, margin };
        }
        let rows = self.conditioned.as_ref().map_or(self.rows, Conditioned::rows);
        let problem = &Joint { rows, ..*problem };
        let starts: Vec<WarmStart> = apart(weights).iter().map(|start| self.forth(start)).collect();
        let weights = &assemble(&starts, rows.columns());
        let gap = if problem.lambda > 0.0 {
            joint_rigorous_gap(problem, weights, joint_gap(problem, weights), self.sizes)
        } else {
            let scores = problem.scores(weights);
            if evaluate::error_of(&scores, problem.count, problem.classes) == 0.0 {
                termination = Termination::Diverging;
            }
            joint_gap_in_ball(problem, weights, &stationary(problem, weights, self.watch), self.sizes)
        };
        OutputResult { gap, negligible: 0.0, scores: Vec::new(), termination, steps, trace, margin: None }
    }

    /// A warm start for the conditioned rows.
    pub(super) fn forth(&self, start: &WarmStart) -> WarmStart {
        match &self.conditioned {
            Some(conditioned) => {
                WarmStart { point: conditioned.forth(&start.point), duals: start.duals.clone() }
            }
            None => start.clone(),
        }
    }

    /// The other way round.
    pub(super) fn back(&self, start: WarmStart) -> WarmStart {
        match &self.conditioned {
            Some(conditioned) => WarmStart { point: conditioned.back(&start.point), ..start },
            None => start,
        }
    }

    fn result(
        &self,
        solution: Solution,
        gap: Gap,
        scores: Vec<f64>,
        negligible: f64,
    ) -> (WarmStart, OutputResult) {
        // The scores of a model are those of the rows as they are.
        let scores = if self.conditioned.is_some() { Vec::new() } else { scores };
        let Solution { point, duals, termination, steps, trace, .. } = solution;
        let start = WarmStart { point, duals: duals.unwrap_or_default() };
        (start, OutputResult { gap, negligible, scores, termination, steps, trace, margin: None })
    }
}

/// A gap that means something: no objective where a score is not finite, and no bound where the objective may
/// have been rounded to zero.
fn significant<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    scores: &[f64],
    gap: Gap,
) -> Gap {
    if scores.iter().any(|score| !score.is_finite()) {
        return Gap { objective: f64::NAN, dual: None, ..gap };
    }
    if is_significant(problem, point, scores, gap.objective) { gap } else { Gap { dual: None, ..gap } }
}

/// The gap of a maximal-margin hyperplane: half the squared length of its weights, and of the shortest that
/// there could be. Both margins are proved in spite of rounding.
pub(super) fn of_max_margin<L: Loss>(
    problem: &Problem<'_, L, L2>,
    found: MaxMargin,
    tolerance: f64,
) -> (WarmStart, OutputResult) {
    let half = |margin: f64| 0.5 / (margin * margin);
    let Solution { point, mut termination, steps, trace, duals, .. } = found.solution;
    let duals = duals.unwrap_or_default();
    let (lower, upper) = proved_margins(problem, &point, &duals);
    // Without a proof (of numbers too large or too small for one) convergence is not claimed.
    let (lower, upper) = (lower.unwrap_or(found.lower.min(0.0)), upper.unwrap_or(f64::INFINITY));
    let separated = lower > 0.0;
    if termination == Termination::Converged && !(separated && upper - lower <= tolerance * upper) {
        termination = Termination::OutOfSteps;
    }
    let gap = Gap {
        objective: if separated { half(lower) } else { 0.0 },
        dual: separated.then(|| half(upper)),
        gradient: Some(0.0),
    };
    let margin = Some((lower, upper));
    let result = OutputResult { gap, negligible: 0.0, scores: Vec::new(), termination, steps, trace, margin };
    (WarmStart { point, duals }, result)
}

/// A margin that a point has, from below, and one that no hyperplane exceeds, by the combination of rows that
/// duals are.
fn proved_margins<L: Loss>(
    problem: &Problem<'_, L, L2>,
    point: &Point,
    duals: &[f64],
) -> (Option<f64>, Option<f64>) {
    /// Multipliers that are smaller than this, beside the largest, are left out.
    const SMALLEST: f64 = 1e-14;
    let signs = problem.each(|i| if problem.share(i) > 0.0 { problem.targets[i] } else { 0.0 });
    let signed = SignedRows { rows: problem.rows, signs: &signs, bias: problem.bias };
    let multipliers = problem.each(|i| {
        let dual = duals.get(i).map_or(0.0, |dual| problem.loss.nearest_dual(problem.targets[i], *dual));
        problem.share(i) * dual.abs()
    });
    let largest = multipliers.iter().copied().fold(0.0, f64::max);
    let counted = (0u32..).zip(&multipliers).filter(|(_, multiplier)| **multiplier > SMALLEST * largest);
    let (rows, multipliers) = counted.map(|(i, multiplier)| (i, multiplier / largest)).unzip();
    let lower = signed.margin_at_least(&Direction::new(&point.weights, point.bias)).ok();
    (lower, signed.margin_at_most(&Combination { rows, multipliers }).ok())
}
