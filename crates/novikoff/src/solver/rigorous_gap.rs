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
//! Weights of zero count as long as it takes to tell rows apart.

mod stationary_duals;
mod terms;

use super::double_double::UNIT;
use crate::control::Watch;
use crate::data::Matrix;
use crate::loss::{Growth, Loss, ROUNDING, Targets};
use crate::penalty::{Bias, L2, Penalty};
use crate::risk::{Gap, Point, Problem, balance, blocks};
use rayon::prelude::*;
use stationary_duals::stationary_duals;
use std::ops::Range;
use terms::{ConjugatePenalty, Terms, dual_sizes, rounds, sum_off};

/// Without a penalty, a bound is one on weights up to so many times as long as those returned.
pub const REACH: f64 = 1000.0;
/// Numbers that are met up to this part of their deviations from a constant are met.
const MET: f64 = 1e-10;
/// And up to this part of themselves, which is rounding, but no more than a small part of their deviations: of large
/// numbers that lie close together, rounding may be all that there is to be predicted.
const MET_ROUNDING: f64 = 1e-14;
const MOST_ROUNDING: f64 = 1e-4;
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
pub(crate) struct Sizes {
    /// The largest absolute value.
    largest: f64,
    /// Most entries of a row.
    pub(super) longest: usize,
}

impl Sizes {
    /// Looks at all values once.
    pub(crate) fn of(rows: &Matrix) -> Self {
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
pub(crate) fn rigorous_gap<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    (scores, duals): (&[f64], Option<&[f64]>),
    plain: Gap,
    sizes: Sizes,
    (tolerance, watch): (f64, &Watch<'_>),
) -> Gap {
    let Some(dual) = plain.dual else { return plain };
    // A gap that has a gradient is that of the slopes.
    let duals = duals.filter(|_| plain.gradient.is_none());
    let error = rounding_error(problem, point, (scores, duals), plain.objective, dual, sizes);
    let quick = Gap { dual: Some((dual - error).max(0.0)), ..plain }.consistent();
    let near = plain.within(NEAR * tolerance);
    if quick.within(tolerance) || !near && error <= 0.1 * (plain.objective - dual) {
        return quick;
    }
    let precise = |duals: Option<&[f64]>| {
        let terms = Terms::precise(problem, point, |scores| feasible(problem, scores, duals), None)?;
        terms.gap(problem, point, plain.gradient, terms.penalised_bound(problem))
    };
    let exact = precise(duals).unwrap_or(quick);
    if exact.within(tolerance) || duals.is_some() || !watch.goes_on() {
        return exact;
    }
    let Some(lambda) = problem.penalty.ridge() else { return exact };
    // Slopes that are short of the minimum by what rounding hides from a line search.
    let left = |residual: &Point| (2.0 * plain.objective * residual.dot(residual) / lambda).sqrt();
    let stationary =
        stationary_duals(problem, lambda, point, scores, (tolerance * plain.objective, watch), left);
    stationary.map_or(exact, |duals| precise(Some(&duals)).unwrap_or(quick))
}

/// What rounding may have added to a plain dual and taken from a plain objective; infinite if that is not
/// known.
fn rounding_error<L: Loss, P: Penalty>(
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
    let of_gradient = match ConjugatePenalty::of(problem.penalty) {
        // Conjugates add up to no less than minus the loss of zero weights, so that of the penalty is at most
        // `at_zero − dual`; and the slope of a `1/μ`-smooth function `p* ≥ 0` is at most `√(2p*/μ)`.
        ConjugatePenalty::Smooth(mu) => {
            let length = ABOVE * (2.0 * mu * (at_zero - dual).max(0.0)).sqrt();
            let off = off + gamma(point.weights.len() + 8) * length;
            (2.0 * length * off + off * off) / (2.0 * mu)
        }
        // Duals that are shorter by `off/r` have a gradient within the radius, and prove as much less.
        ConjugatePenalty::ZeroUpTo(radius) => (dual.abs() + at_zero) * off / radius,
        ConjugatePenalty::Other => f64::INFINITY,
    };
    let error = ABOVE * (of_objective + of_conjugate + of_gradient);
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Without a penalty: objective and dual among weights up to [`REACH`] times as long as those of the point,
/// and the duals that prove it. Where a solver has none, those of `stationary` prove most; where it is clear
/// that they will not prove `tolerance`, little time is spent on them.
pub(crate) fn gap_in_ball<L: Loss>(
    problem: &Problem<'_, L, L2>,
    point: &Point,
    scores: &[f64],
    duals: Option<&[f64]>,
    (tolerance, watch): (f64, &Watch<'_>),
) -> (Gap, Vec<f64>) {
    // A bias that is penalised by nothing is free.
    let bias = if problem.bias == Bias::None { Bias::None } else { Bias::Free };
    let problem = &Problem { bias, ..*problem };
    let gradient = Some(gradient_length(problem, scores));
    let units = units(problem.rows);
    let length = point.weights.iter().zip(&units).map(|(w, unit)| (w * unit).powi(2)).sum::<f64>().sqrt();
    let most = problem.targets.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    // Where no bias takes up what a column has in common, weights must be longer by so much to tell rows
    // apart.
    let offset = if bias == Bias::None { largest_offset(problem.rows, &units) } else { 1.0 };
    let radius = REACH * length.max(most * offset);
    let wanted = tolerance * problem.mean_loss(scores);
    let left =
        |residual: &Point| radius * scaled_length(&residual.weights, &units) + radius * residual.bias.abs();
    let duals = match duals
        .map(<[f64]>::to_vec)
        .or_else(|| stationary_duals(problem, problem.penalty.0, point, scores, (wanted, watch), left))
    {
        Some(duals) => feasible(problem, scores, Some(&duals)),
        None => feasible(problem, scores, None),
    };
    let gap_of = |terms: Terms| {
        let bound = -terms.conjugate
            - radius
                * (ABOVE * scaled_length(&terms.dual_gradient.weights, &units) + terms.gradient_off)
                * ABOVE;
        terms.gap(problem, point, gradient, bound)
    };
    let plain = Terms::plain(problem, point, scores, &duals, &units);
    let error = plain.loss_off + radius * plain.gradient_off;
    let enough = |gap: &Gap| {
        gap.within(tolerance) || gap.dual.is_some_and(|dual| error <= 0.1 * (gap.objective - dual))
    };
    let gap = match gap_of(plain).filter(enough) {
        Some(gap) => Some(gap),
        None => Terms::precise(problem, point, |_| duals.clone(), Some(&units)).and_then(gap_of),
    };
    (gap.unwrap_or(Gap { objective: problem.mean_loss(scores), dual: None, gradient }), duals)
}

/// The length of the gradient of the mean loss.
fn gradient_length<L: Loss>(problem: &Problem<'_, L, L2>, scores: &[f64]) -> f64 {
    let slope = |i: usize| problem.loss.slope(problem.targets[i], scores[i]);
    let gradient = problem.combine(|i| problem.share(i) * slope(i));
    let bias = if problem.bias == Bias::None { gradient.bias * gradient.bias } else { 0.0 };
    (gradient.dot(&gradient) - bias).max(0.0).sqrt()
}

/// The length of a gradient of weights that count in these units.
fn scaled_length(gradient: &[f64], units: &[f64]) -> f64 {
    gradient.iter().zip(units).map(|(v, unit)| (v / unit).powi(2)).sum::<f64>().sqrt()
}

/// An objective without a penalty that is as good as none: numbers are met, but for a small part of what a
/// constant leaves of them. There a relative gap would be one of rounding. Zero for classes.
pub(crate) fn negligible_objective<L: Loss>(problem: &Problem<'_, L, L2>) -> f64 {
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
    let counted = || (0..problem.len()).filter(|i| problem.share(*i) > 0.0).map(|i| problem.targets[i]);
    let (rounding, spread) = (of_deviation(MET_ROUNDING) * loss_of(0.0), loss_of(mean));
    // Where all targets are one number, they are met up to the rounding of that.
    match counted().next().is_none_or(|first| counted().all(|target| target == first)) {
        true => of_deviation(MET) * spread + rounding,
        false => of_deviation(MET) * spread + rounding.min(of_deviation(MOST_ROUNDING) * spread),
    }
}

/// Whether an objective is what it seems. One that is next to zero may be a sum of numbers that were rounded
/// to zero: then it says something only where every row is met, and no weight is penalised.
pub(crate) fn is_significant<L: Loss, P: Penalty>(
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
pub(super) fn is_proven<L: Loss>(problem: &Problem<'_, L, L2>, gap: &Gap, tolerance: f64) -> bool {
    gap.within(tolerance) || gap.objective <= negligible_objective(problem)
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

/// How many times the largest value of a column is the difference of its values, at most; 1 if it is no more.
/// Columns without differences tell no rows apart.
fn largest_offset(rows: &Matrix, units: &[f64]) -> f64 {
    /// The least and the largest value that are stored, and how many are.
    #[derive(Clone, Copy)]
    struct Range(f64, f64, usize);
    let mut ranges = vec![Range(f64::INFINITY, f64::NEG_INFINITY, 0); rows.columns()];
    for i in 0..rows.rows() {
        rows.row(i).for_each_nonzero(|j, x| {
            let Range(low, high, count) = &mut ranges[j as usize];
            (*low, *high, *count) = (low.min(x), high.max(x), *count + 1);
        });
    }
    let offset = |(range, unit): (&Range, &f64)| {
        let zero = if range.2 < rows.rows() { 0.0 } else { range.0 };
        // Halves, so that the difference is a number.
        let spread = range.1.max(zero) / 2.0 - range.0.min(zero) / 2.0;
        if spread > 0.0 { unit / 2.0 / spread } else { 1.0 }
    };
    ranges.iter().zip(units).map(offset).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::dense;
    use super::terms::exact_score;
    use super::*;
    use crate::control::Unwatched;
    use crate::loss::{Absolute, Exponential, Hinge, Logistic, Squared, SquaredHinge};
    use crate::penalty::ElasticNet;
    use crate::risk::scores_and_gap;
    use proptest::prelude::*;

    /// `(λ/2)w²` for weights that are not negative.
    #[derive(Clone, Copy)]
    struct NonNegative(f64);

    impl Penalty for NonNegative {
        fn value(self, w: f64) -> f64 {
            if w < 0.0 { f64::INFINITY } else { self.0 * w * w / 2.0 }
        }

        fn conjugate(self, v: f64) -> f64 {
            v.max(0.0).powi(2) / (2.0 * self.0)
        }

        fn shortest_slope(self, w: f64, v: f64) -> f64 {
            if w > 0.0 { self.0 * w + v } else { v.min(0.0) }
        }

        fn strong_convexity(self) -> f64 {
            self.0
        }

        fn dual_radius(self) -> f64 {
            f64::INFINITY
        }
    }

    /// Nothing up to a size, beyond which weights are forbidden: of its conjugate nothing is known.
    #[derive(Clone, Copy)]
    struct AtMost(f64);

    impl Penalty for AtMost {
        fn value(self, w: f64) -> f64 {
            if w.abs() > self.0 { f64::INFINITY } else { 0.0 }
        }

        fn conjugate(self, v: f64) -> f64 {
            self.0 * v.abs()
        }

        fn shortest_slope(self, w: f64, v: f64) -> f64 {
            if w.abs() < self.0 || v * w > 0.0 { v } else { 0.0 }
        }

        fn strong_convexity(self) -> f64 {
            0.0
        }

        fn dual_radius(self) -> f64 {
            f64::INFINITY
        }
    }

    /// No dual is above the objective of any point, by sizes or with twice the digits, with a penalty or in a
    /// ball.
    fn holds<L: Loss, P: Penalty>(
        loss: L,
        rows: &[Vec<f64>],
        targets: &[f64],
        duals: Option<&[f64]>,
        points: &[Point],
        penalty: P,
    ) -> Result<(), TestCaseError> {
        let rows = dense(rows);
        let total = targets.len() as f64;
        let mut unwatched = Unwatched;
        let watch = Watch::new(&mut unwatched);
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
                    let found = rigorous_gap(
                        &problem,
                        point,
                        (&scores, duals),
                        plain,
                        Sizes::of(&rows),
                        (tolerance, &watch),
                    );
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
                for (found, _) in [1e-4, 0.0]
                    .map(|tolerance| gap_in_ball(&alone, point, &scores, duals, (tolerance, &watch)))
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
            (scale, shift) in prop::sample::select(vec![(1.0, 0.0), (1e-9, 0.0), (1e7, 0.0), (1.0, 1e12),
                (1.0, 1e5)]),
            l2 in prop::sample::select(vec![0.0, 1e-9, 0.1]),
            l1 in 0.01..2.0f64,
        ) {
            let targets: Vec<f64> = signs[..rows.len()].iter().map(|s| if *s { 1.0 } else { -1.0 }).collect();
            let rows: Vec<Vec<f64>> = rows.iter()
                .map(|row| row.iter().map(|x| x * scale + shift).collect()).collect();
            // Weights that give scores of ordinary size, and among them best constants.
            let point = |(weights, bias): (Vec<f64>, f64)| {
                let weights: Vec<f64> = weights.iter().map(|w| w / scale).collect();
                Point { bias: bias - weights.iter().sum::<f64>() * shift, weights }
            };
            let mut points: Vec<Point> = points.into_iter().map(point).collect();
            points.push(Point { weights: vec![0.0; 2], bias: targets.iter()
                .sum::<f64>() / targets.len() as f64 });
            let (duals, penalty) =
                (duals.as_ref().map(|duals| &duals[..targets.len()]), ElasticNet { l2, l1 });
            holds(Hinge, &rows, &targets, duals, &points, penalty)?;
            holds(SquaredHinge, &rows, &targets, duals, &points, penalty)?;
            holds(Logistic, &rows, &targets, duals, &points, penalty)?;
            holds(Exponential, &rows, &targets, duals, &points, penalty)?;
            holds(Squared, &rows, &targets, duals, &points, penalty)?;
            holds(Absolute, &rows, &targets, duals, &points, penalty)?;
            holds(Logistic, &rows, &targets, duals, &points, NonNegative(l2 + 1e-9))?;
            holds(Hinge, &rows, &targets, duals, &points, NonNegative(l2 + 1e-9))?;
            holds(Squared, &rows, &targets, duals, &points, AtMost(l1))?;
        }
    }
}
