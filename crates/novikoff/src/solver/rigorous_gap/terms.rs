//! The terms of a duality gap, and what each may be off by: in plain floating point, or with twice the
//! digits.

use super::{ABOVE, Sizes, TINY, gamma};
use crate::loss::{Growth, Loss, ROUNDING, Targets};
use crate::penalty::{Bias, L2, Penalty};
use crate::risk::{Gap, Point, Problem};
use crate::solver::double_double::{Double, UNIT};
use rayon::prelude::*;
use std::ops::Range;

/// What rows come to at a point and with duals.
pub(super) struct Terms {
    /// The mean loss, and what it may be off by.
    pub(super) loss: f64,
    pub(super) loss_off: f64,
    /// The sum of conjugates, or more: so much that the duals balance and are in their domains.
    pub(super) conjugate: f64,
    /// The dual gradient, and the length in columns' units of what it may be off by.
    pub(super) dual_gradient: Point,
    pub(super) gradient_off: f64,
}

/// Of some rows: the dual gradient, `Σ αᵢ`, its two sides and `Σ abs(αᵢ)·‖xᵢ‖`.
struct DualGradient {
    weights: Vec<Double>,
    total: Double,
    sides: (f64, f64),
    length: f64,
}

impl Terms {
    /// In plain floating point, for duals that are feasible. Rows are measured in these units of their
    /// columns.
    pub(super) fn plain<L: Loss>(
        problem: &Problem<'_, L, L2>,
        point: &Point,
        scores: &[f64],
        duals: &[f64],
        units: &[f64],
    ) -> Self {
        let (sizes, shares) = (Sizes::of(problem.rows), problem.sum(|i| problem.share(i)));
        let (sum, loss) = (sum_off(problem), problem.mean_loss(scores));
        let score_off = sizes.score_off(point.weights.iter(), point.bias);
        let dual_gradient = problem.combine(|i| problem.share(i) * duals[i]);
        let (_, terms) = dual_sizes(problem, shares, |i| duals[i]);
        let length = problem.sum(|i| problem.share(i) * duals[i].abs());
        let apart = dual_gradient.bias.abs() + 2.0 * rounds(problem) * length;
        // Half of the length is on the larger side.
        let unbalanced =
            if problem.bias == Bias::Free && length > 0.0 { 2.0 * ABOVE * apart / length } else { 0.0 };
        let conjugate =
            problem.sum(|i| problem.share(i) * problem.loss.conjugate(problem.targets[i], duals[i]));
        let smallest = units.iter().fold(1.0, |least: f64, unit| least.min(*unit));
        Self {
            loss,
            loss_off: problem.loss.growth().change_of_mean(loss, score_off, shares)
                + (sum + problem.loss.rounding()) * loss,
            conjugate: conjugate + ABOVE * (sum + ROUNDING + unbalanced) * terms,
            // In their units no entry is larger than 1.
            gradient_off: ABOVE * (rounds(problem) + unbalanced) * length * (sizes.longest as f64).sqrt()
                + TINY / smallest,
            dual_gradient,
        }
    }

    /// With twice the digits; `None` where a number is so large that it has not even one.
    pub(super) fn precise<L: Loss, P: Penalty>(
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
        let parts = problem
            .blocks()
            .into_par_iter()
            .map(|rows| DualGradient::of(problem, &duals, rows, units))
            .collect::<Vec<_>>();
        let DualGradient { weights, total, sides: (up, down), length } = parts
            .into_iter()
            .reduce(DualGradient::plus)
            .unwrap_or_else(|| DualGradient::none(problem.rows.columns()));
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
        let dual_gradient =
            Point { weights: weights.into_iter().map(Double::value).collect(), bias: total.value() };
        if dual_gradient.weights.iter().chain([&dual_gradient.bias]).any(|v| !v.is_finite()) {
            return None;
        }
        let off = off.into_iter().fold(0.0, f64::max);
        let smallest = units.into_iter().flatten().fold(1.0, |least: f64, unit| least.min(*unit));
        Some(Self {
            loss,
            loss_off: problem.loss.growth().change_of_mean(loss, off, shares) + ROUNDING * loss,
            conjugate: conjugate + ABOVE * (shorter + ROUNDING) * terms,
            gradient_off: ABOVE * (Double::off(problem.len()) + unbalanced) * length + TINY / smallest,
            dual_gradient,
        })
    }

    /// What the duals prove where there is a penalty.
    pub(super) fn penalised_bound<L: Loss, P: Penalty>(&self, problem: &Problem<'_, L, P>) -> f64 {
        let bias =
            if problem.bias == Bias::Penalised { self.dual_gradient.bias * (1.0 + 2.0 * UNIT) } else { 0.0 };
        match ConjugatePenalty::of(problem.penalty) {
            ConjugatePenalty::Smooth(mu) => {
                let term = |v: f64| problem.penalty.scaled_conjugate(-v * (1.0 + 2.0 * UNIT));
                let sum =
                    Double::sum(self.dual_gradient.weights.iter().copied().chain([bias]).map(term)).value();
                let length = sum.sqrt() + self.gradient_off;
                -self.conjugate - length * length * (1.0 + 16.0 * UNIT) / (2.0 * mu)
            }
            ConjugatePenalty::ZeroUpTo(radius) => {
                let largest = self
                    .dual_gradient
                    .weights
                    .iter()
                    .fold(bias.abs(), |most, v| most.max(v.abs() * (1.0 + 2.0 * UNIT)))
                    + self.gradient_off;
                -self.conjugate * (radius / largest).min(1.0)
            }
            ConjugatePenalty::Other => f64::NEG_INFINITY,
        }
    }

    /// Objective and dual, if `bound` is one; `None` where a number is not finite.
    pub(super) fn gap<L: Loss, P: Penalty>(
        &self,
        problem: &Problem<'_, L, P>,
        point: &Point,
        gradient: Option<f64>,
        bound: f64,
    ) -> Option<Gap> {
        let penalty = problem.penalty_of(point);
        let objective = self.loss + penalty;
        let off = self.loss_off
            + gamma(point.weights.len() + 8) * penalty
            + ROUNDING * (bound.abs() + self.conjugate.abs());
        // No loss is negative, so zero is a bound whatever the duals are.
        let dual = (bound - ABOVE * off).max(0.0);
        let gap = Gap { objective, dual: Some(dual), gradient };
        // Rounding cannot lift a bound above the objective any more: only a loss that is not what it says
        // can.
        (objective.is_finite() && off.is_finite() && bound.is_finite()).then_some(gap.consistent())
    }
}

impl DualGradient {
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
pub(super) fn exact_score<L: Loss, P: Penalty>(
    problem: &Problem<'_, L, P>,
    point: &Point,
    i: usize,
) -> (f64, f64) {
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

/// What sums over rows are off by in [`Problem::sum`], relatively, with the rounding of what is summed.
pub(super) fn sum_off<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> f64 {
    const CHUNK: usize = 4096;
    gamma(problem.len().min(CHUNK) + problem.len() / CHUNK + 16)
}

/// What an entry of the dual gradient is off by, relative to the sum of the absolute values of its terms.
/// Some solvers keep it themselves, row by row.
pub(super) fn rounds<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>) -> f64 {
    gamma(problem.len() + problem.blocks().len() + 16)
}

/// `Σ abs(αᵢ)`, and the sum of the terms that conjugates are made of, or more. No row is asked where no slope
/// is longer than 1.
pub(super) fn dual_sizes<L: Loss, P: Penalty>(
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
pub(super) enum ConjugatePenalty {
    /// Its curvature is at most `1/μ`, with the penalty's strong convexity `μ`.
    Smooth(f64),
    /// Zero up to a radius, and infinite beyond it.
    ZeroUpTo(f64),
    /// Nothing: rounding may change it by any amount.
    Other,
}

impl ConjugatePenalty {
    pub(super) fn of<P: Penalty>(penalty: P) -> Self {
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
