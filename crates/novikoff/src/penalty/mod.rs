//! Penalties of the weights, which regularise a problem, and whether the bias is among the weights.
//!
//! A penalty is the sum of one convex function `p` of each weight, with `p(0) = 0 ≤ p(w)`. [`Penalty`] is
//! open: it asks for what the duality gap needs, and [`ProximalPenalty`] for what
//! [`ProximalGradient`](crate::solver::ProximalGradient) needs besides. Solvers for [`L2`] or [`ElasticNet`]
//! read their factors.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A separable convex penalty, given by its function `p` of one weight. An infinite value forbids a weight.
pub trait Penalty: Copy + Send + Sync {
    /// `p(w)`; zero at zero and nowhere negative.
    fn value(self, w: f64) -> f64;

    /// `p*(v) = sup over w of w·v − p(w)`, off by a few roundings of itself; infinite outside its domain.
    fn conjugate(self, v: f64) -> f64;

    /// The slope of `p(w) + v·w` at `w` that is nearest to zero: its size tells how far `w` is from the
    /// minimum.
    fn shortest_slope(self, w: f64, v: f64) -> f64;

    /// The largest `μ` for which `p(w) − (μ/2)w²` is convex.
    fn strong_convexity(self) -> f64;

    /// The largest `r` such that the conjugate is finite for all `|v| ≤ r`: infinite for a strongly convex
    /// penalty, the factor of `|w|` for the lasso, 0 without a penalty.
    fn dual_radius(self) -> f64;

    /// `2μ·p*(v)` for a strongly convex penalty: `v²` for `(μ/2)w²`.
    #[inline(always)]
    fn scaled_conjugate(self, v: f64) -> f64 {
        2.0 * self.strong_convexity() * self.conjugate(v)
    }

    /// λ, where the penalty is `(λ/2)w²`: Newton's method finds better duals then.
    fn ridge(self) -> Option<f64> {
        None
    }

    /// The elastic net that it is, if it is one: certificates are about these.
    fn elastic_net(self) -> Option<ElasticNet> {
        None
    }

    /// Refuses factors that make no penalty of it, such as one below zero.
    fn check(self) -> Result<()> {
        Ok(())
    }
}

fn not_negative(what: &str, x: f64) -> Result<()> {
    match x.is_finite() && x >= 0.0 {
        true => Ok(()),
        false => Err(Error::usage(format!("{what} must be a number from 0, not {x}"))),
    }
}

/// A penalty whose proximal operator can be computed.
pub trait ProximalPenalty: Penalty {
    /// `argmin over w of step·p(w) + ½(w − v)²`; for a step of 0 the nearest weight that is allowed.
    fn prox(self, v: f64, step: f64) -> f64;
}

/// `(λ/2)‖w‖²`; nothing for λ = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2(pub f64);

impl L2 {
    #[inline(always)]
    fn elastic_net(self) -> ElasticNet {
        ElasticNet { l2: self.0, l1: 0.0 }
    }
}

impl Penalty for L2 {
    #[inline(always)]
    fn value(self, w: f64) -> f64 {
        self.elastic_net().value(w)
    }

    #[inline(always)]
    fn conjugate(self, v: f64) -> f64 {
        self.elastic_net().conjugate(v)
    }

    #[inline(always)]
    fn shortest_slope(self, w: f64, v: f64) -> f64 {
        self.elastic_net().shortest_slope(w, v)
    }

    fn strong_convexity(self) -> f64 {
        self.0
    }

    fn dual_radius(self) -> f64 {
        self.elastic_net().dual_radius()
    }

    #[inline(always)]
    fn scaled_conjugate(self, v: f64) -> f64 {
        self.elastic_net().scaled_conjugate(v)
    }

    fn ridge(self) -> Option<f64> {
        Some(self.0)
    }

    fn elastic_net(self) -> Option<ElasticNet> {
        Some(self.elastic_net())
    }

    fn check(self) -> Result<()> {
        not_negative("`lambda`", self.0)
    }
}

impl ProximalPenalty for L2 {
    #[inline(always)]
    fn prox(self, v: f64, step: f64) -> f64 {
        v / (1.0 + step * self.0)
    }
}

/// `(l2/2)‖w‖² + l1·‖w‖₁`: weights of exactly zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    /// The factor of `½‖w‖²`; zero for the lasso.
    pub l2: f64,
    /// The factor of `‖w‖₁`.
    pub l1: f64,
}

impl Penalty for ElasticNet {
    #[inline(always)]
    fn value(self, w: f64) -> f64 {
        0.5 * self.l2 * w * w + self.l1 * w.abs()
    }

    #[inline(always)]
    fn conjugate(self, v: f64) -> f64 {
        let over = (v.abs() - self.l1).max(0.0);
        if over == 0.0 {
            0.0
        } else if self.l2 > 0.0 {
            over * over / (2.0 * self.l2)
        } else {
            f64::INFINITY
        }
    }

    #[inline(always)]
    fn shortest_slope(self, w: f64, v: f64) -> f64 {
        let smooth = v + self.l2 * w;
        match w {
            0.0 => (smooth.abs() - self.l1).max(0.0),
            w => smooth + self.l1 * w.signum(),
        }
    }

    fn strong_convexity(self) -> f64 {
        self.l2
    }

    fn dual_radius(self) -> f64 {
        if self.l2 > 0.0 { f64::INFINITY } else { self.l1 }
    }

    #[inline(always)]
    fn scaled_conjugate(self, v: f64) -> f64 {
        (v.abs() - self.l1).max(0.0).powi(2)
    }

    fn ridge(self) -> Option<f64> {
        (self.l1 <= 0.0).then_some(self.l2)
    }

    fn elastic_net(self) -> Option<ElasticNet> {
        Some(self)
    }

    fn check(self) -> Result<()> {
        not_negative("`l2`", self.l2)?;
        not_negative("`l1`", self.l1)
    }
}

impl ProximalPenalty for ElasticNet {
    #[inline(always)]
    fn prox(self, v: f64, step: f64) -> f64 {
        v.signum() * (v.abs() - step * self.l1).max(0.0) / (1.0 + step * self.l2)
    }
}

/// What a penalty says of itself that is not so, at some weights: its values and conjugates against the
/// inequality of Fenchel and Young, `p(w) + p*(v) ≥ w·v`.
pub(crate) fn contradiction<P: Penalty>(penalty: P, weights: impl Iterator<Item = f64>) -> Option<String> {
    let (radius, convexity) = (penalty.dual_radius(), penalty.strong_convexity());
    if penalty.value(0.0) != 0.0 || !(radius >= 0.0 && convexity >= 0.0) {
        return Some(
            "the penalty of a weight of zero must be 0, and no radius or convexity below it".to_owned(),
        );
    }
    let slopes = [0.0, 1e-3, 0.1, 1.0, 10.0].map(|v: f64| v.min(radius));
    for w in weights.chain([1e-3, -1e-3, 1.0, -1.0, 10.0, -10.0]) {
        for v in slopes.iter().flat_map(|v| [*v, -v]) {
            let (value, conjugate, product) = (penalty.value(w), penalty.conjugate(v), w * v);
            let size = value.abs() + conjugate.abs() + product.abs();
            if value.is_nan() || value < 0.0 || value + conjugate < product - 1e-9 * (1.0 + size) {
                return Some(format!(
                    "the penalty contradicts itself: its value at {w} is {value}, its conjugate at {v} is \
                     {conjugate}"
                ));
            }
        }
    }
    None
}

/// Whether a score has a constant term, and whether it counts as a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Bias {
    /// A constant without a penalty.
    Free,
    /// An extra feature that is 1 in every row, with a weight like any other.
    Penalised,
    /// No constant: every hyperplane goes through the origin.
    None,
}

impl Bias {
    /// The value of the extra coordinate that stands for it.
    pub fn coordinate(self) -> f64 {
        if self == Bias::None { 0.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn penalties(l2: f64, l1: f64) -> [ElasticNet; 4] {
        [ElasticNet { l2, l1 }, ElasticNet { l2, l1: 0.0 }, ElasticNet { l2: 0.0, l1 }, L2(l2).elastic_net()]
    }

    proptest! {
        #[test]
        fn conjugates_are_suprema(l2 in 0.01..5.0f64, l1 in 0.0..3.0f64, w in -5.0..5.0f64,
            v in -5.0..5.0f64) {
            let penalty = ElasticNet { l2, l1 };
            prop_assert!(penalty.value(w) + penalty.conjugate(v) >= w * v - 1e-12);
            // The supremum is reached where v is a slope.
            let best = v.signum() * (v.abs() - l1).max(0.0) / l2;
            let size = 1.0 + v * v / l2;
            prop_assert!((penalty.value(best) + penalty.conjugate(v) - best * v).abs() < 1e-9 * size);
            prop_assert!((penalty.scaled_conjugate(v) - 2.0 * l2 * penalty.conjugate(v)).abs() < 1e-9 * size);
            let lasso = ElasticNet { l2: 0.0, l1 };
            prop_assert_eq!(lasso.conjugate(v), if v.abs() <= l1 { 0.0 } else { f64::INFINITY });
            prop_assert_eq!(lasso.dual_radius(), l1);
        }

        #[test]
        fn proximal_operators_are_minima(
            l2 in 0.01..5.0f64, l1 in 0.0..3.0f64, v in -5.0..5.0f64, w in -5.0..5.0f64, step in 0.01..4.0f64,
        ) {
            for penalty in penalties(l2, l1) {
                let cost = |w: f64| step * penalty.value(w) + 0.5 * (w - v) * (w - v);
                let best = penalty.prox(v, step);
                prop_assert!(cost(best) <= cost(w) + 1e-12, "{penalty:?}");
                // At the minimum some slope is zero.
                prop_assert!(penalty.shortest_slope(best, (best - v) / step).abs() < 1e-9 / step);
            }
            prop_assert_eq!(L2(l2).prox(v, step), ElasticNet { l2, l1: 0.0 }.prox(v, step));
        }
    }
}
