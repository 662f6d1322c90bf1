//! Dual coordinate descent: one row's dual at a time, and the weights that follow from the duals.
//!
//! The weights are `w = −(1/λ) Σ shareᵢ·uᵢ·xᵢ`. Moving one dual to its best value is a problem in one
//! dimension, which the loss's envelope solves; it costs the entries of one row, so a pass over all rows
//! makes as many steps as there are rows. That is what makes it the method for many sparse columns.
//!
//! Duals of rows far from the margin soon stand still. A row whose dual did not move is passed over in the
//! next passes, in more of them each time; when what is left seems solved, all rows are looked at again.
//!
//! A free bias is held near a centre by a penalty of its own, and the centre follows it: proximal steps in
//! one dimension, which arrive within a few passes because the losses bend far more along the bias than that
//! penalty does.

mod abreast;
mod compact;
mod lanes;
mod split;

use compact::Compact;

use super::{Certified, Control, Ended, Solution, Solver, Start, Watched};
use crate::data::Matrix;
use crate::loss::ProximalLoss;
use crate::penalty::{Bias, L2, Penalty};
use crate::random::Random;
use crate::risk::{Point, Problem};
use std::borrow::Cow;

/// Coordinate descent on the duals. Needs a penalty: λ > 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct DualCoordinate;

/// Most passes for which a row is passed over.
const LONGEST_REST: u8 = 16;

/// Passes after which a copy of the rows may be worth its time, and how many times the tolerance the gap must
/// then still be.
const MANY: usize = 6;
const FAR: f64 = 8.0;

impl<L: ProximalLoss> Solver<L, L2> for DualCoordinate {
    fn solve(&self, problem: &Problem<'_, L, L2>, start: Option<&Start>, control: &Control<'_>) -> Solution {
        let norms = problem.each(|i| problem.row(i).norm_sq());
        let mut bias = BiasTerm::new(problem, &norms);
        let mut state = State::begin(problem, start, &mut bias);
        let mut rests = vec![Rest::default(); problem.len()];
        let mut random = Random::new(control.seed);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        let mut course = Course::new(control);
        let ended = loop {
            if course.far
                && course.watched.steps >= MANY
                && state.compact.is_none()
                && Compact::serves(problem.rows)
            {
                state.make_compact(problem);
            }
            random.shuffle(&mut order);
            let mut pass = Pass::default();
            for &i in &order {
                let i = i as usize;
                if rests[i].is_due() {
                    let moved = state.step(problem, i, norms[i], &bias, &mut pass);
                    rests[i].after(moved);
                }
            }
            let followed = bias.recentre(&mut state.point);
            let look = || Certified::new(problem, &state.whole(problem), Some(&state.duals));
            let judged = course.after(problem, &pass, state.norm_sq, followed, look, state.to_show());
            if judged.looked {
                rests.fill(Rest::default());
            }
            if let Some(ended) = judged.ended {
                break ended;
            }
        };
        let point = state.whole(problem).into_owned();
        course.finish(point, state.duals, ended)
    }

    fn abreast(&self, rows: &Matrix, problems: usize) -> usize {
        abreast::width(rows, problems)
    }

    fn solve_abreast(
        &self,
        problems: &[Problem<'_, L, L2>],
        starts: &[Option<&Start>],
        controls: &[Control<'_>],
    ) -> Vec<Solution> {
        abreast::solve(problems, starts, controls)
    }
}

/// How far the passes over one problem have come.
struct Course<'a> {
    watched: Watched<'a>,
    last_gap: f64,
    /// How much of the tolerance the gap must be expected within before it is worth looking.
    hope: f64,
    /// Whether there will be many more passes.
    far: bool,
    certified: Option<Certified>,
}

/// What a pass came to.
struct Judged {
    /// Whether the gap was computed: then all rows are due again.
    looked: bool,
    ended: Option<Ended>,
}

impl<'a> Course<'a> {
    fn new(control: &Control<'a>) -> Self {
        Self { watched: Watched::new(control), last_gap: 0.0, hope: 1.0, far: true, certified: None }
    }

    /// After a pass; `look` computes the certificate.
    fn after<L: ProximalLoss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        pass: &Pass,
        norm_sq: f64,
        followed: bool,
        look: impl FnOnce() -> Certified,
        shown: Option<&Point>,
    ) -> Judged {
        let control = self.watched.control;
        // The part of the gap that was seen on the way, each row before it moved.
        let rough = pass.loss + norm_sq * problem.penalty.l2() / 2.0;
        let all = pass.rows == problem.len();
        // Whether that is so, and whether the rows that rested still stand still, the certificate tells; it
        // costs about two passes.
        let expected = expected(pass.gap, self.last_gap);
        self.last_gap = pass.gap;
        self.far = expected > FAR * control.tolerance * rough;
        let near = expected <= self.hope * control.tolerance * rough;
        self.certified = near.then(look);
        let exact = self.certified.as_ref().map(|certified| certified.gap);
        let objective = exact.map_or(rough, |gap| gap.objective);
        if near {
            self.hope *= 0.5;
        }
        let stop = self.watched.step(objective, exact.and_then(|gap| gap.relative()), None, shown);
        let ended = match () {
            _ if stop => Some(Ended::Interrupted),
            _ if exact.is_some_and(|gap| gap.within(control.tolerance)) => Some(Ended::Arrived),
            _ if self.watched.steps() >= control.steps => Some(Ended::OutOfSteps),
            _ if all && !pass.moved && !followed => Some(Ended::Stalled),
            _ => None,
        };
        Judged { looked: near, ended }
    }

    fn finish(self, point: Point, duals: Vec<f64>, ended: Ended) -> Solution {
        Solution { certified: self.certified, ..self.watched.finish(point, Some(duals), ended) }
    }
}

/// What the gap is by now, after the pass on which this much of it was seen: smaller, by about as much as it
/// became smaller in the pass before.
fn expected(seen: f64, before: f64) -> f64 {
    if before > 0.0 { seen * (seen / before).clamp(0.02, 1.0) } else { seen }
}

/// Duals, and the weights that they stand for.
struct State {
    /// Weights and bias; the weights of the shared columns alone once there is a compact copy of the rows.
    point: Point,
    compact: Option<Compact>,
    duals: Vec<f64>,
    /// `‖w‖²`, kept up with every step: up to rounding.
    norm_sq: f64,
}

/// What was seen in one pass.
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
    /// Where it is best; what was seen on the way is added to `pass`.
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
        // How far the score falls for each unit that the dual rises.
        let slide = share * (norm_sq / problem.penalty.l2() + bias.inverse);
        if slide > 0.0 { loss.envelope(y, score + slide * u, slide).slope } else { loss.slope(y, score) }
    }
}

impl State {
    /// Where a start says, or with no weights.
    fn begin<L: ProximalLoss>(
        problem: &Problem<'_, L, L2>,
        start: Option<&Start>,
        bias: &mut BiasTerm,
    ) -> Self {
        let duals = match start {
            Some(start) if start.duals.len() == problem.len() => start.duals.clone(),
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
        let lambda = problem.penalty.l2();
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
        Self { point, compact: None, duals, norm_sq }
    }

    /// From now on the rows are those of a compact copy.
    fn make_compact<L: ProximalLoss>(&mut self, problem: &Problem<'_, L, L2>) {
        let compact = Compact::new(problem.rows);
        self.point.weights = compact.narrow(&self.point.weights);
        self.compact = Some(compact);
    }

    /// The weights of all columns.
    fn whole<L: ProximalLoss>(&self, problem: &Problem<'_, L, L2>) -> Cow<'_, Point> {
        let Some(compact) = &self.compact else { return Cow::Borrowed(&self.point) };
        let weight = |i: usize| -self.duals[i] * problem.share(i) / problem.penalty.l2();
        Cow::Owned(Point { weights: compact.widen(&self.point.weights, weight), bias: self.point.bias })
    }

    /// The point, where it is small enough to be shown.
    fn to_show(&self) -> Option<&Point> {
        self.compact.is_none().then_some(&self.point)
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
        let (row, alone) = match &self.compact {
            None => (problem.row(i), 0.0),
            Some(compact) => {
                (compact.shared.row(i), -dual * share / problem.penalty.l2() * compact.alone_sq[i])
            }
        };
        let score = row.dot(&self.point.weights) + alone + self.point.bias;
        let next = Moving { target, dual, score, norm_sq }.best(problem, share, bias, pass);
        let change = next - dual;
        if change == 0.0 {
            return false;
        }
        self.duals[i] = next;
        let length = -change * share / problem.penalty.l2();
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
        let lambda = problem.penalty.l2();
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

    /// The centre follows the bias, and the bias, which the duals pull from its centre, moves on by as much
    /// again. Returns whether it moved.
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

/// For how long a row is passed over.
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
