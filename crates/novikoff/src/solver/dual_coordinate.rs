//! Dual coordinate descent: one row's dual at a time, and the weights that follow from the duals.
//!
//! The dual of `min (1/n) Σ cᵢ ℓ(yᵢ, <w, xᵢ>) + (λ/2)‖w‖²` is
//!
//! ```text
//! max over u of −Σ shareᵢ·ℓ*(yᵢ, uᵢ) − (λ/2)‖w(u)‖²,   w(u) = −(1/λ) Σ shareᵢ·uᵢ·xᵢ,   shareᵢ = cᵢ/n
//! ```
//!
//! Maximised over one dual `uᵢ` it is a problem in one dimension: with the score `s` of the row and
//! `σ = shareᵢ·‖xᵢ‖²/λ`, the best dual is the slope of the loss's Moreau envelope of width `σ` at `s + σ·uᵢ`.
//! That costs the entries of one row, so a pass over all rows makes as many steps as there are rows, which
//! makes it the method for many sparse columns (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual
//! coordinate descent method for large-scale linear SVM", 2008; Shalev-Shwartz and Zhang, "Stochastic dual
//! coordinate ascent", 2013).
//!
//! Duals of rows far from the margin soon stop changing. A row whose dual did not change rests for the next
//! passes, for more of them each time (shrinking); when the others seem solved, all rows take part again.
//!
//! A free bias has a quadratic penalty of its own around a centre, and the centre follows it: proximal steps
//! in one dimension, which converge within a few passes because the losses are curved far more along the bias
//! than that penalty is.

mod column_reordering;
mod lanes;
mod multi_output;
mod split;

use column_reordering::ReorderedColumns;

use super::{Certified, Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::control::rows_between_questions;
use crate::data::Matrix;
use crate::loss::ProximalLoss;
use crate::penalty::{Bias, L2};
use crate::random::Random;
use crate::risk::{Point, Problem};
use std::borrow::Cow;

/// Coordinate descent on the duals. Needs a penalty: λ > 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct DualCoordinateDescent;

/// Most passes for which a row rests.
const LONGEST_REST: u8 = 16;

/// Passes after which a copy of the rows may be worth its time, and how many times the tolerance the gap must
/// then still be.
const MANY: usize = 6;
const FAR: f64 = 8.0;

impl<L: ProximalLoss> Solver<L, L2> for DualCoordinateDescent {
    fn solve(
        &self,
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let norms = problem.each(|i| problem.row(i).norm_sq());
        let mut bias = BiasTerm::new(problem, &norms);
        let mut state = DualState::begin(problem, start, &mut bias);
        let mut rests = vec![Rest::default(); problem.len()];
        let mut random = Random::new(control.seed);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        let mut run = Run::new(control);
        let between = rows_between_questions(problem.rows.stored() / problem.len().max(1));
        let termination = loop {
            if run.far
                && run.recorder.steps() + 1 >= MANY
                && state.reordered.is_none()
                && ReorderedColumns::serves(problem.rows)
            {
                state.reorder_columns(problem);
            }
            random.shuffle(&mut order);
            let mut pass = Pass::default();
            for (at, &i) in order.iter().enumerate() {
                if at % between == 0 && !control.watch.goes_on() {
                    break;
                }
                let i = i as usize;
                if rests[i].is_due() {
                    let moved = state.step(problem, i, norms[i], &bias, &mut pass);
                    rests[i].after(moved);
                }
            }
            let followed = bias.recentre(&mut state.point);
            let evaluate = || Certified::new(problem, &state.whole(problem), Some(&state.duals));
            let after = run.after(problem, &pass, state.norm_sq, followed, evaluate, state.to_show());
            if after.evaluated {
                rests.fill(Rest::default());
            }
            if let Some(termination) = after.termination {
                break termination;
            }
        };
        let point = state.whole(problem).into_owned();
        run.finish(point, state.duals, termination)
    }

    fn multi_output_width(&self, rows: &Matrix, problems: usize) -> usize {
        multi_output::width(rows, problems)
    }

    fn solve_multi_output(
        &self,
        problems: &[Problem<'_, L, L2>],
        starts: &[Option<&WarmStart>],
        controls: &[Control<'_>],
    ) -> Vec<Solution> {
        multi_output::solve(problems, starts, controls)
    }
}

/// The progress of the passes over one problem.
struct Run<'a> {
    recorder: Recorder<'a>,
    last_gap: f64,
    /// The part of the tolerance that the gap must be expected within before it is computed.
    hope: f64,
    /// Whether there will be many more passes.
    far: bool,
    certified: Option<Certified>,
}

/// What follows from a pass.
struct AfterPass {
    /// Whether the gap was computed: then all rows are due again.
    evaluated: bool,
    termination: Option<Termination>,
}

impl<'a> Run<'a> {
    fn new(control: &Control<'a>) -> Self {
        Self { recorder: Recorder::new(control), last_gap: 0.0, hope: 1.0, far: true, certified: None }
    }

    /// After a pass; `evaluate` computes scores and gap.
    fn after<L: ProximalLoss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        pass: &Pass,
        norm_sq: f64,
        followed: bool,
        evaluate: impl FnOnce() -> Certified,
        shown: Option<&Point>,
    ) -> AfterPass {
        let control = self.recorder.control;
        // The part of the gap that was seen on the way, each row before it moved.
        let rough = pass.loss + norm_sq * problem.penalty.0 / 2.0;
        let all = pass.rows == problem.len();
        // Whether that is so, and whether the rows that rested still stand still, the certificate tells; it
        // costs about two passes.
        let expected = expected(pass.gap, self.last_gap);
        self.last_gap = pass.gap;
        self.far = expected > FAR * control.tolerance * rough;
        // A pass that was stopped has seen a part of the gap.
        let near = expected <= self.hope * control.tolerance * rough && !control.watch.stopped();
        self.certified = near.then(evaluate);
        let exact = self.certified.as_ref().map(|certified| certified.gap);
        let objective = exact.map_or(rough, |gap| gap.objective);
        if near {
            self.hope *= 0.5;
        }
        let stop = self.recorder.step(objective, exact.and_then(|gap| gap.relative()), None, shown);
        let termination = match () {
            _ if stop => Some(Termination::Interrupted),
            _ if exact.is_some_and(|gap| gap.within(control.tolerance)) => Some(Termination::Converged),
            _ if self.recorder.steps() >= control.steps => Some(Termination::OutOfSteps),
            _ if all && !pass.moved && !followed => Some(Termination::Stalled),
            _ => None,
        };
        AfterPass { evaluated: near, termination }
    }

    fn finish(self, point: Point, duals: Vec<f64>, termination: Termination) -> Solution {
        Solution { certified: self.certified, ..self.recorder.finish(point, Some(duals), termination) }
    }
}

/// What the gap is by now, after the pass on which this much of it was seen: smaller, by about as much as it
/// became smaller in the pass before.
fn expected(seen: f64, before: f64) -> f64 {
    if before > 0.0 { seen * (seen / before).clamp(0.02, 1.0) } else { seen }
}

/// Duals, and the weights that they stand for.
struct DualState {
    /// Weights and bias; the weights of the shared columns alone once there is a reordered copy of the rows.
    point: Point,
    reordered: Option<ReorderedColumns>,
    duals: Vec<f64>,
    /// `‖w‖²`, kept up with every step: up to rounding.
    norm_sq: f64,
}

/// Sums over one pass.
#[derive(Default)]
struct Pass {
    rows: usize,
    loss: f64,
    gap: f64,
    moved: bool,
}

/// One dual, about to move.
struct Moving {
    target: f64,
    dual: f64,
    score: f64,
    norm_sq: f64,
}

impl Moving {
    /// Its best value; loss and gap of the row before the step are added to `pass`.
    #[inline(always)]
    fn best<L: ProximalLoss>(
        self,
        problem: &Problem<'_, L, L2>,
        share: f64,
        bias: &BiasTerm,
        pass: &mut Pass,
    ) -> f64 {
        let Self { target: y, dual: u, score, norm_sq } = self;
        let loss = problem.loss;
        let value = loss.value(y, score);
        pass.rows += 1;
        pass.loss += share * value;
        pass.gap += share * (value + loss.conjugate(y, u) - score * u);
        // σ: how far the score falls for each unit that the dual rises.
        let slide = share * (norm_sq / problem.penalty.0 + bias.inverse);
        if slide > 0.0 { loss.envelope(y, score + slide * u, slide).slope } else { loss.slope(y, score) }
    }
}

/// Whether a warm start has weights of so many columns.
fn has_weights(start: &WarmStart, columns: usize) -> bool {
    start.point.weights.len() == columns && start.point.weights.iter().any(|w| *w != 0.0)
}

/// The duals that weights speak of: the slopes of the loss at their scores.
fn slopes<L: ProximalLoss>(problem: &Problem<'_, L, L2>, point: &Point) -> Vec<f64> {
    let scores = problem.scores(point);
    let slope = |i: usize| problem.loss.slope(problem.targets[i], scores[i]);
    problem.each(|i| problem.loss.nearest_dual(problem.targets[i], slope(i)))
}

impl DualState {
    /// From a warm start, or from duals of zero.
    fn begin<L: ProximalLoss>(
        problem: &Problem<'_, L, L2>,
        start: Option<&WarmStart>,
        bias: &mut BiasTerm,
    ) -> Self {
        let duals = match start {
            Some(start) if start.duals.len() == problem.len() => start.duals.clone(),
            Some(start) if has_weights(start, problem.rows.columns()) => slopes(problem, &start.point),
            _ => problem.each(|i| problem.loss.nearest_dual(problem.targets[i], 0.0)),
        };
        Self::new(problem, duals, start.map_or(0.0, |s| s.point.bias), bias)
    }

    fn new<L: ProximalLoss>(
        problem: &Problem<'_, L, L2>,
        duals: Vec<f64>,
        centre: f64,
        bias: &mut BiasTerm,
    ) -> Self {
        let lambda = problem.penalty.0;
        // Most begin with no duals at all: nothing to go through the rows for.
        let (mut point, norm_sq) = match duals.iter().all(|u| *u == 0.0) {
            true => (Point::zero(problem.rows.columns()), 0.0),
            false => {
                let point = problem.combine(|i| -problem.share(i) * duals[i] / lambda);
                let norm_sq = point.weights.iter().map(|w| w * w).sum();
                (point, norm_sq)
            }
        };
        bias.centre = if problem.bias == Bias::Free { centre } else { 0.0 };
        point.bias = bias.centre + bias.inverse * lambda * point.bias;
        Self { point, reordered: None, duals, norm_sq }
    }

    /// From now on the rows are those of a reordered copy.
    fn reorder_columns<L: ProximalLoss>(&mut self, problem: &Problem<'_, L, L2>) {
        let reordered = ReorderedColumns::new(problem.rows);
        self.point.weights = reordered.narrow(&self.point.weights);
        self.reordered = Some(reordered);
    }

    /// The weights of all columns.
    fn whole<L: ProximalLoss>(&self, problem: &Problem<'_, L, L2>) -> Cow<'_, Point> {
        let Some(reordered) = &self.reordered else { return Cow::Borrowed(&self.point) };
        let weight = |i: usize| -self.duals[i] * problem.share(i) / problem.penalty.0;
        Cow::Owned(Point { weights: reordered.widen(&self.point.weights, weight), bias: self.point.bias })
    }

    /// The point, where it is small enough to be shown.
    fn to_show(&self) -> Option<&Point> {
        self.reordered.is_none().then_some(&self.point)
    }

    /// Moves one dual to where it is best. Returns whether it moved.
    #[inline]
    fn step<L: ProximalLoss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        i: usize,
        norm_sq: f64,
        bias: &BiasTerm,
        pass: &mut Pass,
    ) -> bool {
        let (target, dual, share) = (problem.targets[i], self.duals[i], problem.share(i));
        let (row, alone) = match &self.reordered {
            None => (problem.row(i), 0.0),
            Some(reordered) => {
                (reordered.shared.row(i), -dual * share / problem.penalty.0 * reordered.alone_sq[i])
            }
        };
        let score = row.dot(&self.point.weights) + alone + self.point.bias;
        let next = Moving { target, dual, score, norm_sq }.best(problem, share, bias, pass);
        let change = next - dual;
        if change == 0.0 {
            return false;
        }
        self.duals[i] = next;
        let length = -change * share / problem.penalty.0;
        row.add_to(&mut self.point.weights, length);
        self.norm_sq += length * (2.0 * (score - self.point.bias) + length * norm_sq);
        self.point.bias -= change * share * bias.inverse;
        pass.moved = true;
        true
    }
}

/// The bias as one more coordinate.
struct BiasTerm {
    /// One over its penalty; zero if there is none.
    inverse: f64,
    /// Where that penalty would have it.
    centre: f64,
    free: bool,
}

impl BiasTerm {
    fn new<L: ProximalLoss>(problem: &Problem<'_, L, L2>, norms: &[f64]) -> Self {
        let lambda = problem.penalty.0;
        let inverse = match problem.bias {
            Bias::None => 0.0,
            Bias::Penalised => 1.0 / lambda,
            // Lighter than a row of the usual length, so that the rows need not wait for it, and not so light
            // that the centre follows slowly. Not the mean: a few long rows would make it heavy for all
            // others.
            Bias::Free => (0.05 * median(norms) / lambda).max(1.0),
        };
        Self { inverse, centre: 0.0, free: problem.bias == Bias::Free }
    }

    /// The centre follows the bias, and the bias, whose distance from the centre the duals determine, moves
    /// on by as much again. Returns whether it moved.
    fn recentre(&mut self, point: &mut Point) -> bool {
        if !self.free {
            return false;
        }
        let moved = point.bias - self.centre;
        self.centre = point.bias;
        point.bias += moved;
        moved.abs() > 1e-15 * (1.0 + self.centre.abs())
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    match values.len() {
        0 => 0.0,
        length => *values.select_nth_unstable_by(length / 2, f64::total_cmp).1,
    }
}

/// For how many passes a row rests.
#[derive(Clone, Copy, Default)]
struct Rest {
    left: u8,
    last: u8,
}

impl Rest {
    #[inline]
    fn is_due(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        true
    }

    #[inline]
    fn after(&mut self, moved: bool) {
        self.last = if moved { 0 } else { (2 * self.last).clamp(1, LONGEST_REST) };
        self.left = self.last;
    }
}
