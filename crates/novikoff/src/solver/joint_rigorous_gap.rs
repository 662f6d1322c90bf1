//! The bounds of [`super::rigorous_gap`] for classes learned jointly, by sizes alone.
//!
//! The duals of a row are a distribution `qᵢ` over classes less its label. With free biases every class must
//! get as much as it has, `Σ sᵢqᵢ = T`. Where that fails by up to `δ`, a share `ε = δ/min T` of every
//! distribution is replaced by one that is the same for all rows and makes up for it; the negative entropy is
//! convex, and rises by no more than `ε` of itself.

use super::rigorous_gap::{ABOVE, REACH, Sizes, TINY, gamma, units};
use crate::loss::ROUNDING;
use crate::model::Weights;
use crate::penalty::Bias;
use crate::risk::{Gap, Joint};
use std::ops::Range;

/// With a penalty: lowers the dual of a gap that was computed plainly.
pub(crate) fn joint_rigorous_gap(problem: &Joint<'_>, weights: &Weights, plain: Gap, sizes: Sizes) -> Gap {
    let Some(dual) = plain.dual else { return plain };
    let parts = Parts::new(problem);
    let Some(unbalanced) = parts.unbalanced(problem, 4.0 * parts.sum * parts.shares) else {
        return Gap { dual: Some(0.0), ..plain };
    };
    let at_zero = parts.shares * (problem.count as f64).ln();
    let length = ABOVE * (2.0 * problem.lambda * (at_zero - dual).max(0.0)).sqrt();
    let off = (parts.gradient + unbalanced) * 2.0 * parts.shares * sizes.radius()
        + gamma(weights.values.len() + 8) * length
        + TINY;
    let error = parts.of_objective(weights, plain.objective, sizes)
        + (parts.sum + ROUNDING + unbalanced) * (at_zero + parts.shares)
        + ROUNDING * dual.abs()
        + (2.0 * length * off + off * off) / (2.0 * problem.lambda);
    Gap {
        dual: Some(dual - ABOVE * error).filter(|dual| dual.is_finite()).map(|dual| dual.max(0.0)),
        ..plain
    }
}

/// Without a penalty: objective and dual among weights up to [`REACH`] times as long, by distributions
/// whose gradient is next to zero.
pub(crate) fn joint_gap_in_ball(problem: &Joint<'_>, weights: &Weights, duals: &[f64], sizes: Sizes) -> Gap {
    let (units, k) = (units(problem.rows), problem.count);
    let in_units = |values: &[f64], times: fn(f64, f64) -> f64| length_in(&units, values, k, times);
    let parts = Parts::new(problem);
    let objective = problem.mean_loss(&problem.scores(weights));
    let dual_gradient = problem.loss_gradient(duals);
    let imbalance = dual_gradient.bias.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
        + parts.gradient * 2.0 * parts.shares;
    let row_entropy = |i: usize| entropy(&duals[i * k..(i + 1) * k]);
    let entropy: f64 = (0..problem.classes.len()).map(|i| problem.share(i) * row_entropy(i)).sum();
    let gradient = Some(in_units(&dual_gradient.values, |v, _| v));
    let Some(unbalanced) = parts.unbalanced(problem, imbalance) else {
        return Gap { objective, dual: Some(0.0), gradient };
    };
    let radius = REACH * in_units(&weights.values, |w, unit| w * unit).max(1.0);
    let smallest = units.iter().fold(1.0, |least: f64, unit| least.min(*unit));
    let off =
        (parts.gradient + unbalanced) * 2.0 * parts.shares * (sizes.longest as f64).sqrt() + TINY / smallest;
    let bound = -entropy
        - (parts.sum + ROUNDING + unbalanced) * (entropy.abs() + parts.shares)
        - radius * ABOVE * (in_units(&dual_gradient.values, |v, unit| v / unit) + off)
        - ABOVE * parts.of_objective(weights, objective, sizes);
    Gap {
        objective,
        dual: Some(bound).filter(|bound| bound.is_finite()).map(|bound| bound.max(0.0).min(objective)),
        gradient,
    }
}

/// The length of `k` weight vectors side by side, each column brought to its unit.
fn length_in(units: &[f64], values: &[f64], k: usize, times: fn(f64, f64) -> f64) -> f64 {
    let by_column = values.chunks_exact(k.max(1)).zip(units);
    by_column
        .map(|(class, unit)| class.iter().map(|v| times(*v, *unit).powi(2)).sum::<f64>())
        .sum::<f64>()
        .sqrt()
}

/// `Σ q ln q`.
fn entropy(distribution: &[f64]) -> f64 {
    distribution.iter().map(|q| if *q > 0.0 { q * q.ln() } else { 0.0 }).sum::<f64>()
}

/// What sums over the rows may be off by.
struct Parts {
    shares: f64,
    /// The least that a class has.
    least: f64,
    /// A sum over all rows, and an entry of the dual gradient, relatively.
    sum: f64,
    gradient: f64,
}

impl Parts {
    fn new(problem: &Joint<'_>) -> Self {
        let mut classes = vec![0.0; problem.count];
        problem
            .classes
            .iter()
            .enumerate()
            .for_each(|(i, class)| classes[*class as usize] += problem.share(i));
        let rounds = problem.blocks().iter().map(Range::len).max().unwrap_or(0) + problem.blocks().len();
        Self {
            shares: ABOVE * classes.iter().sum::<f64>(),
            least: classes.iter().copied().fold(f64::INFINITY, f64::min),
            sum: gamma(problem.classes.len() + problem.count + 16),
            gradient: gamma(rounds + problem.count + 16),
        }
    }

    /// The share of all distributions that has to be replaced; `None` if that is more than all.
    fn unbalanced(&self, problem: &Joint<'_>, imbalance: f64) -> Option<f64> {
        match problem.bias == Bias::Free || problem.bias == Bias::Penalised && problem.lambda == 0.0 {
            true => Some(ABOVE * imbalance / self.least).filter(|share| *share <= 1.0),
            false => Some(0.0),
        }
    }

    /// What the objective may be off by: the loss changes by no more than twice as much as the largest change
    /// of a score.
    fn of_objective(&self, weights: &Weights, objective: f64, sizes: Sizes) -> f64 {
        let k = weights.outputs();
        let of_class =
            |class: usize| sizes.score_off(weights.values.iter().skip(class).step_by(k), weights.bias[class]);
        let off = (0..k).map(of_class).fold(0.0, f64::max);
        4.0 * self.shares * off + (self.sum + ROUNDING + gamma(weights.values.len() + 8)) * objective
    }
}
