//! Duality gaps that hold in spite of rounding: what "converged" rests on.
//!
//! Solvers stop by gaps in plain floating point ([`crate::risk::duality_gap`]). What is reported of the point
//! returned is more: a dual so low that neither the minimum nor the point's distance from it can be hidden by
//! rounding. A sum of `m` numbers is off by at most `γ = m·2⁻⁵³` of the sum of their absolute values, so a
//! few sizes bound every error ([`rigorous_gap`]):
//!
//! | what | off by at most |
//! |---|---|
//! | a score | `γ·(‖x‖∞·‖w‖₁ + abs(b))` |
//! | the mean loss | that, times the slope of the loss; `γ` of itself |
//! | `Xᵀα`, the dual gradient | `γ·Σ abs(αᵢ)·‖xᵢ‖` |
//! | `Σ αᵢ = 0`, for a free bias | a share `ε` of the larger side, which shorter duals take away |
//!
//! These bounds need no pass over the rows but assume the worst everywhere. Where they say too little, scores
//! and dual gradient are computed anew with twice the digits.
//!
//! Without a penalty no duals bound the objective of all weights, unless `Xᵀα` is exactly zero. The bound is
//! then one on all weights up to [`REACH`] times as long as those returned ([`gap_in_ball`]), where a weight
//! counts by what its column can make of it: times the column's largest value. So units make no difference.

use super::double_double::{Double, UNIT};
use super::hessian::{Hessian, Preconditioner};
use crate::data::Matrix;
use crate::loss::{Growth, Loss, ROUNDING, Targets};
use crate::penalty::{Bias, L2, Penalty};
use crate::risk::{Gap, Point, Problem, balance, blocks};
use rayon::prelude::*;
use std::ops::Range;

/// Without a penalty, a bound is one on weights up to so many times as long as those returned.
pub const REACH: f64 = 1000.0;
/// Numbers that are met up to this part of their deviations from a constant are met.
const MET: f64 = 1e-10;
/// And up to this part of themselves.
const MET_ROUNDING: f64 = 1e-14;
/// A gap that is so many times the tolerance may be less with better digits or better duals.
const NEAR: f64 = 100.0;
/// More than what a sum of products loses that are too small to be stored with all their digits.
pub(super) const TINY: f64 = 1e-280;
/// Covers the rounding of the bounds themselves.
pub(super) const ABOVE: f64 = 1.0 + 1e-9;

/// What so many roundings in a row come to at most, relatively.
pub(super) fn gamma(roundings: usize) -> f64 {
    ABOVE * roundings as f64 * UNIT
}

/// How large the numbers of rows are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The largest absolute value.
    largest: f64,
    /// Most entries of a row.
    pub(super) longest: usize,
}

impl Sizes {
    /// Looks at all values once.
    pub fn of(rows: &Matrix) -> Self {
        let of_row = |i: usize| Self { largest: rows.row(i).largest(), longest: rows.row(i).len() };
        let most =
            |a: Self, b: Self| Self { largest: a.largest.max(b.largest), longest: a.longest.max(b.longest) };
        let none = || Self { largest: 0.0, longest: 0 };
        (0..rows.rows()).into_par_iter().with_min_len(1024).map(of_row).reduce(none, most)
    }

    /// The length of the longest row at most; a bias is one more entry.
    pub(super) fn radius(&self) -> f64 {
        ABOVE * (self.longest as f64).sqrt() * self.largest + 1.0
    }

    /// What a plain score may be off by.
    pub(super) fn score_off<'a>(&self, weights: impl Iterator<Item = &'a f64>, bias: f64) -> f64 {
        let (all, square) = weights.fold((0.0, 0.0), |(all, square), w| (all + w.abs(), square + w * w));
        let products = ABOVE * all.min((self.longest as f64 * square).sqrt()) * self.largest;
        gamma(self.longest + 16) * (products + bias.abs()) + TINY
    }
}

/// With a penalty: lowers the dual of a gap that was computed plainly by what rounding may have lifted it by,
/// and by what it may have taken from the objective. Where that could cost the point its convergence, both
/// are computed with twice the digits.
pub fn rigorous_gap<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    (scores, duals): (&[f64], Option<&[f64]>),
    plain: Gap,
    sizes: Sizes,
    tolerance: f64,
) -> Gap {
    let Some(dual) = plain.dual else { return plain };
    // A gap that has a gradient is that of the slopes.
    let duals = duals.filter(|_| plain.gradient.is_none());
    let doubt = doubt(problem, point, (scores, duals), plain.objective, dual, sizes);
    let quick = Gap { dual: Some((dual - doubt).max(0.0)), ..plain };
    let near = plain.within(NEAR * tolerance);
    if quick.within(tolerance) || !near && doubt <= 0.1 * (plain.objective - dual) {
        return quick;
    }
    let judged = |duals: Option<&[f64]>| {
        let exact = Terms::exact(problem, point, |scores| feasible(problem, scores, duals), None);
        exact
            .and_then(|exact| exact.gap(problem, point, plain.gradient, exact.penalised(problem)))
            .unwrap_or(quick)
    };
    let exact = judged(duals);
    if exact.within(tolerance) || duals.is_some() {
        return exact;
    }
    let Some(lambda) = problem.penalty.ridge() else { return exact };
    // Slopes that are short of the minimum by what rounding hides from a line search.
    let left = |pull: &Point| (2.0 * plain.objective * pull.dot(pull) / lambda).sqrt();
    let stationary = stationary(problem, lambda, point, scores, tolerance * plain.objective, left);
    stationary.map_or(exact, |duals| judged(Some(&duals)))
}

/// What rounding may have added to a plain dual and taken from a plain objective; infinite if that is not
/// known.
fn doubt<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    (scores, duals): (&[f64], Option<&[f64]>),
    objective: f64,
    dual: f64,
    sizes: Sizes,
) -> f64 {
    let (sum, shares) = (sum_off(problem), problem.sum(|i| problem.share(i)));
    let score_off = sizes.score_off(point.weights.iter(), point.bias);
    let of_objective = problem.loss.growth().change_of_mean(objective.abs(), score_off, shares)
        + (sum + problem.loss.rounding() + gamma(point.weights.len() + 8)) * objective.abs();
    // `Σ abs(αᵢ)`, and the terms that the conjugates are made of. Duals are only ever made shorter.
    let u =
        |i: usize| duals.map_or_else(|| problem.loss.slope(problem.targets[i], scores[i]), |duals| duals[i]);
    let (length, terms) = dual_sizes(problem, shares, u);
    // What `balance` takes for balanced.
    let unbalanced =
        if problem.bias == Bias::Free { 8.0 * UNIT * (problem.len() as f64).sqrt() + 4.0 * sum } else { 0.0 };
    let at_zero = match problem.loss.targets() {
        Targets::Numbers => problem.mean_loss(&vec![0.0; problem.len()]),
        Targets::Signs => shares * problem.loss.value(1.0, 0.0),
    };
    let of_conjugate = (sum + ROUNDING + unbalanced) * terms + ROUNDING * (dual.abs() + at_zero);
    let off = (rounds(problem) + unbalanced) * length * sizes.radius() + TINY;
    let of_pull = match ConjugatePenalty::of(problem.penalty) {
        // Conjugates add up to no less than minus the loss of zero weights, so that of the penalty is at most
        // `at_zero − dual`; and the slope of a `1/μ`-smooth function `p* ≥ 0` is at most `√(2p*/μ)`.
        ConjugatePenalty::Smooth(mu) => {
            let pull = ABOVE * (2.0 * mu * (at_zero - dual).max(0.0)).sqrt();
            let off = off + gamma(point.weights.len() + 8) * pull;
            (2.0 * pull * off + off * off) / (2.0 * mu)
        }
        // Duals that are shorter by `off/r` have a gradient within the radius, and prove as much less.
        ConjugatePenalty::ZeroUpTo(radius) => (dual.abs() + at_zero) * off / radius,
        ConjugatePenalty::Other => f64::INFINITY,
    };
    let doubt = ABOVE * (of_objective + of_conjugate + of_pull);
    if doubt.is_nan() { f64::INFINITY } else { doubt }
}

/// Without a penalty: objective and dual among weights up to [`REACH`] times as long as those of the point,
/// and the duals that prove it. Where a solver has none, those of `stationary` prove most; where it is clear
/// that they will not prove `tolerance`, little time is spent on them.
pub fn gap_in_ball<L: Loss>(
    problem: &Problem<'_, L, L2>,
    point: &Point,
    scores: &[f64],
    duals: Option<&[f64]>,
    tolerance: f64,
) -> (Gap, Vec<f64>) {
    // A bias that is penalised by nothing is free.
    let bias = if problem.bias == Bias::None { Bias::None } else { Bias::Free };
    let problem = &Problem { bias, ..*problem };
    let pull = problem.combine(|i| problem.share(i) * problem.loss.slope(problem.targets[i], scores[i]));
    let gradient = Some(
        (pull.dot(&pull) - if bias == Bias::None { pull.bias * pull.bias } else { 0.0 }).max(0.0).sqrt(),
    );
    let units = units(problem.rows);
    let length = point.weights.iter().zip(&units).map(|(w, unit)| (w * unit).powi(2)).sum::<f64>().sqrt();
    let most = problem.targets.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let radius = REACH * length.max(most);
    let wanted = tolerance * problem.mean_loss(scores);
    let left = |pull: &Point| radius * scaled_length(&pull.weights, &units) + radius * pull.bias.abs();
    let duals = match duals
        .map(<[f64]>::to_vec)
        .or_else(|| stationary(problem, problem.penalty.0, point, scores, wanted, left))
    {
        Some(duals) => feasible(problem, scores, Some(&duals)),
        None => feasible(problem, scores, None),
    };
    let judged = |terms: Terms| {
        let bound = -terms.conjugate
            - radius * (ABOVE * scaled_length(&terms.pull.weights, &units) + terms.pull_off) * ABOVE;
        terms.gap(problem, point, gradient, bound)
    };
    let plain = Terms::plain(problem, point, scores, &duals, &units);
    let doubt = plain.loss.1 + radius * plain.pull_off;
    let enough = |gap: &Gap| {
        gap.within(tolerance) || gap.dual.is_some_and(|dual| doubt <= 0.1 * (gap.objective - dual))
    };
    let gap = match judged(plain).filter(enough) {
        Some(gap) => Some(gap),
        None => Terms::exact(problem, point, |_| duals.clone(), Some(&units)).and_then(judged),
    };
    (gap.unwrap_or(Gap { objective: problem.mean_loss(scores), dual: None, gradient }), duals)
}

/// The length of what pulls at weights that count in these units.
fn scaled_length(pull: &[f64], units: &[f64]) -> f64 {
    pull.iter().zip(units).map(|(v, unit)| (v / unit).powi(2)).sum::<f64>().sqrt()
}

/// An objective without a penalty that is as good as none: numbers are met, but for a small part of what a
/// constant leaves of them. There a relative gap would be one of rounding. Zero for classes.
pub fn negligible_objective<L: Loss>(problem: &Problem<'_, L, L2>) -> f64 {
    if problem.loss.targets() == Targets::Signs {
        return 0.0;
    }
    // What part of the loss is left of a deviation of which so small a part is left.
    let of_deviation = |part: f64| match problem.loss.growth() {
        Growth::Smooth(_) => part * part,
        Growth::Lipschitz(_) => part,
        Growth::Exponential => 0.0,
    };
    let all = problem.sum(|i| problem.share(i));
    let mean = match problem.bias {
        Bias::None => 0.0,
        _ => problem.sum(|i| problem.share(i) * problem.targets[i]) / all,
    };
    let loss_of =
        |constant: f64| problem.sum(|i| problem.share(i) * problem.loss.value(problem.targets[i], constant));
    // Where all targets are one number, they are met up to the rounding of that.
    of_deviation(MET) * loss_of(mean) + of_deviation(MET_ROUNDING) * loss_of(0.0)
}

/// Whether an objective is what it seems. One that is next to zero may be a sum of numbers that were rounded
/// to zero: then it says something only where every row is met, and no weight is penalised.
pub fn is_significant<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    scores: &[f64],
    objective: f64,
) -> bool {
    let largest = problem.targets.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let loss = problem.loss;
    let is_met = |i: usize| match (loss.targets(), problem.targets[i], scores[i]) {
        (Targets::Numbers, y, s) => (s - y).abs() <= MET * largest,
        (Targets::Signs, y, s) => !loss.vanishes_at_infinity() && loss.value(y, s) == 0.0 && !s.is_nan(),
    };
    let penalised = problem.penalty.strong_convexity() > 0.0 || problem.penalty.dual_radius() > 0.0;
    objective >= TINY
        || (0..problem.len()).all(|i| problem.share(i) == 0.0 || is_met(i))
            && (!penalised || point.weights.iter().chain([&point.bias]).all(|w| *w == 0.0))
}

/// Whether a gap without a penalty is as small as was asked for, or all targets are met.
pub fn is_proven<L: Loss>(problem: &Problem<'_, L, L2>, gap: &Gap, tolerance: f64) -> bool {
    gap.within(tolerance) || gap.objective <= negligible_objective(problem)
}

/// Duals whose gradient cancels that of the penalty: the slopes at these scores, moved by what a step of
/// Newton's method would change them by. Near a minimum they prove a gap of the order of the squared gradient
/// even without a penalty, where the slopes alone prove one of the order of the gradient. `None` for losses
/// with kinks.
///
/// The gap that is `wanted` can do with a gradient that is not quite cancelled: `left` says what that costs.
fn stationary<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    ridge: f64,
    point: &Point,
    scores: &[f64],
    wanted: f64,
    left: impl Fn(&Point) -> f64,
) -> Option<Vec<f64>> {
    let at = |i: usize| problem.loss.second_order(problem.targets[i], scores[i]);
    problem.loss.second_order(1.0, 0.0)?;
    let curvatures = problem.each(|i| at(i).map_or(0.0, |at| problem.share(i) * at.curvature));
    let bias_ridge = match problem.bias {
        Bias::Free => Some(0.0),
        Bias::Penalised => Some(ridge),
        Bias::None => None,
    };
    let mut gradient = problem.combine(|i| at(i).map_or(0.0, |at| problem.share(i) * at.slope));
    gradient.weights.iter_mut().zip(&point.weights).for_each(|(g, w)| *g += ridge * w);
    gradient.bias = bias_ridge.map_or(0.0, |ridge| gradient.bias + ridge * point.bias);
    let step =
        newton_step(problem, &Hessian { rows: &curvatures, ridge, bias_ridge }, gradient, wanted, left);
    let moves = problem.scores(&step);
    Some(problem.each(|i| at(i).map_or(0.0, |at| at.slope + at.curvature * moves[i])))
}

/// `−H⁻¹·gradient` by conjugate gradients, until what is `left` of the gradient costs next to nothing.
fn newton_step<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    hessian: &Hessian<'_>,
    gradient: Point,
    wanted: f64,
    left: impl Fn(&Point) -> f64,
) -> Point {
    /// What is left may cost this part of the gap that is wanted.
    const SHARE: f64 = 0.01;
    const MOST_ITERATIONS: usize = 60;
    /// Where the point is so far from the minimum that no duals prove what is wanted, some bound will do.
    const FAR: usize = 5;
    let (mut step, mut residual) = (Point::zero(problem.rows.columns()), gradient.scaled(-1.0));
    // Half of gᵀH⁻¹g is about how far the point is above the minimum, and the diagonal's inverse is at most
    // so many times H⁻¹.
    let far = 20.0 * wanted;
    let diagonal = Preconditioner::diagonal(problem, hessian);
    let is_far = residual.dot(&diagonal.times(&residual)) > far * (residual.weights.len() + 1) as f64;
    let inverse = if is_far { diagonal } else { Preconditioner::close(problem, hessian) };
    let mut z = inverse.times(&residual);
    let mut search = z.clone();
    let mut rz = residual.dot(&z);
    let iterations = if rz > far { FAR } else { MOST_ITERATIONS };
    let (mut best, mut least) = (step.clone(), left(&residual));
    for _ in 0..iterations {
        let product = hessian.times(problem, &search);
        let curvature = search.dot(&product);
        if !(least > SHARE * wanted && curvature > 0.0 && curvature.is_finite()) {
            break;
        }
        let alpha = rz / curvature;
        step.add(alpha, &search);
        residual.add(-alpha, &product);
        z = inverse.times(&residual);
        let next = residual.dot(&z);
        search = search.scaled(next / rz);
        search.add(1.0, &z);
        rz = next;
        let cost = left(&residual);
        if cost < least {
            (best, least) = (step.clone(), cost);
        }
    }
    best
}

/// The duals given (slopes, if there are none), in the domain of the conjugate and, for a free bias,
/// balanced.
fn feasible<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    scores: &[f64],
    duals: Option<&[f64]>,
) -> Vec<f64> {
    let dual = |i: usize| {
        let y = problem.targets[i];
        problem.loss.nearest_dual(y, duals.map_or_else(|| problem.loss.slope(y, scores[i]), |duals| duals[i]))
    };
    let mut duals = problem.each(dual);
    if problem.bias == Bias::Free {
        balance(problem, &mut duals);
    }
    duals
}

/// The largest absolute value of each column; 1 for those that have none.
pub(super) fn units(rows: &Matrix) -> Vec<f64> {
    let of_rows = |range: Range<usize>| {
        let mut units = vec![0.0f64; rows.columns()];
        for i in range {
            rows.row(i).for_each_nonzero(|j, x| units[j as usize] = units[j as usize].max(x.abs()));
        }
        units
    };
    let parts: Vec<Vec<f64>> =
        blocks(rows.rows(), rows.stored(), rows.columns()).into_par_iter().map(of_rows).collect();
    let largest = |j: usize| parts.iter().map(|part| part[j]).fold(0.0, f64::max);
    (0..rows.columns()).map(largest).map(|unit| if unit == 0.0 { 1.0 } else { unit }).collect()
}

/// What sums over rows are off by in [`Problem::sum`], relatively, with the rounding of what is summed.
fn sum_off<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> f64 {
    const CHUNK: usize = 4096;
    gamma(problem.len().min(CHUNK) + problem.len() / CHUNK + 16)
}

/// What an entry of the dual gradient is off by, relative to the sum of the absolute values of its terms.
/// Some solvers keep it themselves, row by row.
fn rounds<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> f64 {
    gamma(problem.len() + problem.blocks().len() + 16)
}

/// `Σ abs(αᵢ)`, and the sum of the terms that conjugates are made of, or more. No row is asked where no slope
/// is longer than 1.
fn dual_sizes<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    shares: f64,
    u: impl Fn(usize) -> f64 + Sync,
) -> (f64, f64) {
    let loss = problem.loss;
    match (loss.growth(), loss.largest_conjugate_size(1.0), loss.targets()) {
        (Growth::Lipschitz(slope), Some(size), Targets::Signs) => (slope * shares, size * shares),
        (Growth::Lipschitz(slope), Some(_), Targets::Numbers) => {
            let size = |y: f64| loss.largest_conjugate_size(y).unwrap_or(f64::INFINITY);
            (slope * shares, problem.sum(|i| problem.share(i) * size(problem.targets[i])))
        }
        _ => {
            let size = |i: usize| loss.conjugate_size(problem.targets[i], u(i));
            (problem.sum(|i| problem.share(i) * u(i).abs()), problem.sum(|i| problem.share(i) * size(i)))
        }
    }
}

/// What is known of the conjugate of a penalty: how an error of its argument changes it.
enum ConjugatePenalty {
    /// Its curvature is at most `1/μ`, with the penalty's strong convexity `μ`.
    Smooth(f64),
    /// Zero up to a radius, and infinite beyond it.
    ZeroUpTo(f64),
    /// Nothing: rounding may change it by any amount.
    Other,
}

impl ConjugatePenalty {
    fn of<P: Penalty>(penalty: P) -> Self {
        let (mu, radius) = (penalty.strong_convexity(), penalty.dual_radius());
        // A convex function that is zero at both ends is zero in between.
        let ends = || [radius, -radius].iter().all(|end| penalty.conjugate(*end) == 0.0);
        match () {
            () if mu > 0.0 => Self::Smooth(mu),
            () if radius < f64::INFINITY && ends() => Self::ZeroUpTo(radius),
            () => Self::Other,
        }
    }
}

/// What rows come to at a point and with duals.
struct Terms {
    /// The mean loss, and what it may be off by.
    loss: (f64, f64),
    /// The sum of conjugates, or more: so much that the duals balance and are in their domains.
    conjugate: f64,
    /// The dual gradient, and the length in columns' units of what it may be off by.
    pull: Point,
    pull_off: f64,
}

/// Of some rows: the dual gradient, `Σ αᵢ`, its two sides and `Σ abs(αᵢ)·‖xᵢ‖`.
struct Pulled {
    weights: Vec<Double>,
    total: Double,
    sides: (f64, f64),
    length: f64,
}

impl Terms {
    /// In plain floating point, for duals that are feasible. Rows are measured in these units of their
    /// columns.
    fn plain<L: Loss>(
        problem: &Problem<'_, L, L2>,
        point: &Point,
        scores: &[f64],
        duals: &[f64],
        units: &[f64],
    ) -> Self {
        let (sizes, shares) = (Sizes::of(problem.rows), problem.sum(|i| problem.share(i)));
        let (sum, loss) = (sum_off(problem), problem.mean_loss(scores));
        let score_off = sizes.score_off(point.weights.iter(), point.bias);
        let pull = problem.combine(|i| problem.share(i) * duals[i]);
        let (_, terms) = dual_sizes(problem, shares, |i| duals[i]);
        let length = problem.sum(|i| problem.share(i) * duals[i].abs());
        let apart = pull.bias.abs() + 2.0 * rounds(problem) * length;
        // Half of the length is on the larger side.
        let unbalanced =
            if problem.bias == Bias::Free && length > 0.0 { 2.0 * ABOVE * apart / length } else { 0.0 };
        let conjugate =
            problem.sum(|i| problem.share(i) * problem.loss.conjugate(problem.targets[i], duals[i]));
        let smallest = units.iter().fold(1.0, |least: f64, unit| least.min(*unit));
        Self {
            loss: (
                loss,
                problem.loss.growth().change_of_mean(loss, score_off, shares)
                    + (sum + problem.loss.rounding()) * loss,
            ),
            conjugate: conjugate + ABOVE * (sum + ROUNDING + unbalanced) * terms,
            // In their units no entry is larger than 1.
            pull_off: ABOVE * (rounds(problem) + unbalanced) * length * (sizes.longest as f64).sqrt()
                + TINY / smallest,
            pull,
        }
    }

    /// With twice the digits; `None` where a number is so large that it has not even one.
    fn exact<L: Loss, P: Penalty>(
        problem: &Problem<'_, L, P>,
        point: &Point,
        duals: impl FnOnce(&[f64]) -> Vec<f64>,
        units: Option<&[f64]>,
    ) -> Option<Self> {
        let score = |i: usize| exact_score(problem, point, i);
        let (scores, off): (Vec<f64>, Vec<f64>) =
            (0..problem.len()).into_par_iter().with_min_len(256).map(score).unzip();
        // Losses and their slopes would make zeros of NaN.
        if scores.iter().chain(&off).any(|x| !x.is_finite()) {
            return None;
        }
        let duals = duals(&scores);
        let row_sum = |f: &dyn Fn(usize) -> f64| {
            Double::sum((0..problem.len()).map(|i| problem.share(i) * f(i))).value()
        };
        let loss = row_sum(&|i| problem.loss.precise_value(problem.targets[i], scores[i]));
        let shares = row_sum(&|_| 1.0);
        let pulled = problem
            .blocks()
            .into_par_iter()
            .map(|rows| Pulled::of(problem, &duals, rows, units))
            .collect::<Vec<_>>();
        let Pulled { weights, total, sides: (up, down), length } =
            pulled.into_iter().reduce(Pulled::plus).unwrap_or_else(|| Pulled::none(problem.rows.columns()));
        let side = up.max(down);
        let unbalanced = if problem.bias == Bias::Free && side > 0.0 {
            ABOVE * total.value().abs() / side + 4.0 * UNIT
        } else {
            0.0
        };
        // Products of shares and duals are rounded, and may leave the domain by as much: all are shortened by
        // so much.
        let shorter = unbalanced + 8.0 * UNIT;
        let terms = row_sum(&|i| problem.loss.conjugate_size(problem.targets[i], duals[i]));
        let conjugate = row_sum(&|i| problem.loss.precise_conjugate(problem.targets[i], duals[i]));
        let pull = Point { weights: weights.into_iter().map(Double::value).collect(), bias: total.value() };
        if pull.weights.iter().chain([&pull.bias]).any(|v| !v.is_finite()) {
            return None;
        }
        let off = off.into_iter().fold(0.0, f64::max);
        let smallest = units.into_iter().flatten().fold(1.0, |least: f64, unit| least.min(*unit));
        Some(Self {
            loss: (loss, problem.loss.growth().change_of_mean(loss, off, shares) + ROUNDING * loss),
            conjugate: conjugate + ABOVE * (shorter + ROUNDING) * terms,
            pull_off: ABOVE * (Double::off(problem.len()) + unbalanced) * length + TINY / smallest,
            pull,
        })
    }

    /// What the duals prove where there is a penalty.
    fn penalised<L: Loss, P: Penalty>(&self, problem: &Problem<'_, L, P>) -> f64 {
        let bias = if problem.bias == Bias::Penalised { self.pull.bias * (1.0 + 2.0 * UNIT) } else { 0.0 };
        match ConjugatePenalty::of(problem.penalty) {
            ConjugatePenalty::Smooth(mu) => {
                let term = |v: f64| problem.penalty.scaled_conjugate(-v * (1.0 + 2.0 * UNIT));
                let sum = Double::sum(self.pull.weights.iter().copied().chain([bias]).map(term)).value();
                let length = sum.sqrt() + self.pull_off;
                -self.conjugate - length * length * (1.0 + 16.0 * UNIT) / (2.0 * mu)
            }
            ConjugatePenalty::ZeroUpTo(radius) => {
                let largest = self
                    .pull
                    .weights
                    .iter()
                    .fold(bias.abs(), |most, v| most.max(v.abs() * (1.0 + 2.0 * UNIT)))
                    + self.pull_off;
                -self.conjugate * (radius / largest).min(1.0)
            }
            ConjugatePenalty::Other => f64::NEG_INFINITY,
        }
    }

    /// Objective and dual, if `bound` is one; `None` where a number is not finite.
    fn gap<L: Loss, P: Penalty>(
        &self,
        problem: &Problem<'_, L, P>,
        point: &Point,
        gradient: Option<f64>,
        bound: f64,
    ) -> Option<Gap> {
        let penalty = problem.penalty_of(point);
        let objective = self.loss.0 + penalty;
        let off = self.loss.1
            + gamma(point.weights.len() + 8) * penalty
            + ROUNDING * (bound.abs() + self.conjugate.abs());
        // No loss is negative, so zero is a bound whatever the duals are.
        let dual = (bound - ABOVE * off).max(0.0).min(objective);
        (objective.is_finite() && off.is_finite() && bound.is_finite()).then_some(Gap {
            objective,
            dual: Some(dual),
            gradient,
        })
    }
}

impl Pulled {
    fn none(columns: usize) -> Self {
        Self {
            weights: vec![Double::default(); columns],
            total: Double::default(),
            sides: (0.0, 0.0),
            length: 0.0,
        }
    }

    fn of<L: Loss, P: Penalty>(
        problem: &Problem<'_, L, P>,
        duals: &[f64],
        rows: Range<usize>,
        units: Option<&[f64]>,
    ) -> Self {
        let mut sum = Self::none(problem.rows.columns());
        for i in rows.filter(|i| duals[*i] != 0.0) {
            let factor = problem.share(i) * duals[i];
            let mut square = if problem.bias == Bias::Penalised { 1.0 } else { 0.0 };
            problem.row(i).for_each_nonzero(|j, x| {
                let j = j as usize;
                sum.weights[j] += Double::product(factor, x);
                square += (x / units.map_or(1.0, |units| units[j])).powi(2);
            });
            sum.total += Double::product(factor, 1.0);
            *if factor > 0.0 { &mut sum.sides.0 } else { &mut sum.sides.1 } += factor.abs();
            sum.length += factor.abs() * square.sqrt();
        }
        sum
    }

    fn plus(mut self, other: Self) -> Self {
        self.weights.iter_mut().zip(other.weights).for_each(|(a, b)| *a += b);
        self.total += other.total;
        self.sides = (self.sides.0 + other.sides.0, self.sides.1 + other.sides.1);
        self.length += other.length;
        self
    }
}

/// A score, and what it may be off by.
fn exact_score<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, point: &Point, i: usize) -> (f64, f64) {
    let (mut sum, mut size) = (Double::product(point.bias, 1.0), point.bias.abs());
    problem.row(i).for_each_nonzero(|j, x| {
        let product = Double::product(point.weights[j as usize], x);
        sum += product;
        size += product.value().abs();
    });
    let score = sum.value();
    // A bias that was led over from shifted columns is rounded, too.
    (score, 2.0 * UNIT * (score.abs() + point.bias.abs()) + Double::off(problem.row(i).len()) * size + TINY)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::dense;
    use super::*;
    use crate::loss::{Absolute, Exponential, Hinge, Logistic, Squared, SquaredHinge};
    use crate::penalty::ElasticNet;
    use crate::risk::scores_and_gap;
    use proptest::prelude::*;

    /// No dual is above the objective of any point, by sizes or with twice the digits, with a penalty or in a
    /// ball.
    fn holds<L: Loss>(
        loss: L,
        rows: &[Vec<f64>],
        targets: &[f64],
        duals: Option<&[f64]>,
        points: &[Point],
        penalty: ElasticNet,
    ) -> Result<(), TestCaseError> {
        let rows = dense(rows);
        let total = targets.len() as f64;
        for bias in [Bias::Free, Bias::Penalised, Bias::None] {
            let problem = Problem { rows: &rows, targets, row_weights: &[], total, loss, penalty, bias };
            let alone = problem.with_penalty(L2(0.0));
            let points: Vec<Point> = points
                .iter()
                .map(|point| Point { bias: point.bias * bias.coordinate(), ..point.clone() })
                .collect();
            let objective = |point: &Point, penalty: f64| {
                let losses = (0..problem.len())
                    .map(|i| loss.precise_value(targets[i], exact_score(&problem, point, i).0));
                losses.sum::<f64>() / total + penalty
            };
            for point in &points {
                let (scores, plain) = scores_and_gap(&problem, point, duals);
                for tolerance in [0.0, f64::INFINITY] {
                    let found =
                        rigorous_gap(&problem, point, (&scores, duals), plain, Sizes::of(&rows), tolerance);
                    for other in &points {
                        let there = objective(other, problem.penalty_of(other));
                        prop_assert!(
                            found.dual.unwrap_or(0.0) <= there * (1.0 + 1e-12),
                            "{bias:?} {found:?} {there}"
                        );
                    }
                    let here = objective(point, problem.penalty_of(point));
                    prop_assert!(found.dual.unwrap_or(0.0) <= here, "{bias:?} {found:?} {here}");
                }
                for (found, _) in
                    [1e-4, 0.0].map(|tolerance| gap_in_ball(&alone, point, &scores, duals, tolerance))
                {
                    let units = units(&rows);
                    let length = |p: &Point| {
                        p.weights.iter().zip(&units).map(|(w, u)| (w * u).powi(2)).sum::<f64>().sqrt()
                    };
                    for other in points.iter().filter(|other| length(other) <= 0.9 * REACH * length(point)) {
                        prop_assert!(
                            found.dual.unwrap_or(0.0) <= objective(other, 0.0) * (1.0 + 1e-12),
                            "{bias:?} {found:?}"
                        );
                    }
                }
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn no_dual_is_above_an_objective(
            rows in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 2), 1..10),
            signs in prop::collection::vec(any::<bool>(), 10),
            duals in prop::option::of(prop::collection::vec(-1.5..1.5f64, 10)),
            points in prop::collection::vec((prop::collection::vec(-2.0..2.0f64, 2), -2.0..2.0f64), 3),
            (scale, shift) in prop::sample::select(vec![(1.0, 0.0), (1e-9, 0.0), (1e7, 0.0), (1.0, 1e12), (1.0, 1e5)]),
            l2 in prop::sample::select(vec![0.0, 1e-9, 0.1]),
            l1 in 0.01..2.0f64,
        ) {
            let targets: Vec<f64> = signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * scale + shift).collect()).collect();
            // Weights that give scores of ordinary size, and among them best constants.
            let point = |(weights, bias): (Vec<f64>, f64)| {
                let weights: Vec<f64> = weights.iter().map(|w| w / scale).collect();
                Point { bias: bias - weights.iter().sum::<f64>() * shift, weights }
            };
            let mut points: Vec<Point> = points.into_iter().map(point).collect();
            points.push(Point { weights: vec![0.0; 2], bias: targets.iter().sum::<f64>() / targets.len() as f64 });
            let (duals, penalty) = (duals.as_ref().map(|duals| &duals[..targets.len()]), ElasticNet { l2, l1 });
            holds(Hinge, &rows, &targets, duals, &points, penalty)?;
            holds(SquaredHinge, &rows, &targets, duals, &points, penalty)?;
            holds(Logistic, &rows, &targets, duals, &points, penalty)?;
            holds(Exponential, &rows, &targets, duals, &points, penalty)?;
            holds(Squared, &rows, &targets, duals, &points, penalty)?;
            holds(Absolute, &rows, &targets, duals, &points, penalty)?;
        }
    }
}
