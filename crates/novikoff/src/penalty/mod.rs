//! What restrains the weights, and whether the bias is among them.

use serde::{Deserialize, Serialize};

/// `(l2/2)‖w‖² + l1·‖w‖₁`. Which of the two a solver can work with is said by its implementations.
pub trait Penalty: Copy + Send + Sync {
    /// The factor of `½‖w‖²`.
    fn l2(self) -> f64;

    /// The factor of `‖w‖₁`.
    fn l1(self) -> f64;

    /// The penalty of one weight.
    #[inline(always)]
    fn of(self, w: f64) -> f64 {
        0.5 * self.l2() * w * w + self.l1() * w.abs()
    }

    /// The conjugate `sup over w of w·v − penalty(w)`, of one weight; infinite outside its domain.
    #[inline(always)]
    fn conjugate(self, v: f64) -> f64 {
        let over = (v.abs() - self.l1()).max(0.0);
        if over == 0.0 {
            0.0
        } else if self.l2() > 0.0 {
            over * over / (2.0 * self.l2())
        } else {
            f64::INFINITY
        }
    }
}

/// `(λ/2)‖w‖²`; nothing for λ = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2(pub f64);

impl Penalty for L2 {
    fn l2(self) -> f64 {
        self.0
    }

    fn l1(self) -> f64 {
        0.0
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
    fn l2(self) -> f64 {
        self.l2
    }

    fn l1(self) -> f64 {
        self.l1
    }
}

/// Whether a score has a constant term, and whether it counts as a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Bias {
    /// A constant that no penalty touches.
    Free,
    /// An extra feature that is 1 in every row, with a weight like any other.
    Penalised,
    /// None: every hyperplane goes through the origin.
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

    proptest! {
        #[test]
        fn conjugates_are_suprema(l2 in 0.01..5.0f64, l1 in 0.0..3.0f64, w in -5.0..5.0f64, v in -5.0..5.0f64) {
            let penalty = ElasticNet { l2, l1 };
            prop_assert!(penalty.of(w) + penalty.conjugate(v) >= w * v - 1e-12);
            // The supremum is reached where v is a slope.
            let best = v.signum() * (v.abs() - l1).max(0.0) / l2;
            prop_assert!((penalty.of(best) + penalty.conjugate(v) - best * v).abs() < 1e-9 * (1.0 + v * v / l2));
            let lasso = ElasticNet { l2: 0.0, l1 };
            prop_assert_eq!(lasso.conjugate(v), if v.abs() <= l1 { 0.0 } else { f64::INFINITY });
        }
    }
}
