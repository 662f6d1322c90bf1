//! Huber's loss: squared for rows that are near, linear for those that are far.

use super::{Growth, Local, Loss, LossName, ProximalLoss, SmoothLoss};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// `(s − y)²` up to a distance of `width`, and `width·(2·|s − y| − width)` beyond it (Huber, "Robust
/// estimation of a location parameter", 1964).
///
/// It has a slope everywhere, and the squared loss is its limit for a large width. Beyond the width a row
/// pulls no harder the farther it is: outliers do not count for more than others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Huber {
    /// The largest distance that counts by its square: a positive number, in the unit of the targets.
    pub width: f64,
}

impl Default for Huber {
    fn default() -> Self {
        Self { width: 1.0 }
    }
}

impl Huber {
    /// The slope beyond the width.
    #[inline(always)]
    fn steepest(self) -> f64 {
        2.0 * self.width
    }

    /// The nearest number that a slope may be. Not by `clamp`, which panics where a width is NaN.
    #[inline(always)]
    fn limited(self, u: f64) -> f64 {
        let most = self.steepest();
        match () {
            _ if u > most => most,
            _ if u < -most => -most,
            _ => u,
        }
    }
}

impl Loss for Huber {
    fn name(self) -> &'static str {
        LossName::Huber(self).name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        let off = (s - y).abs();
        if off <= self.width { off * off } else { self.width * (2.0 * off - self.width) }
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        self.limited(2.0 * (s - y))
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if u.abs() <= self.steepest() { u * y + u * u / 4.0 } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, _: f64, u: f64) -> f64 {
        self.limited(u)
    }

    /// No slope is steeper than twice the width either; for rows that are nearly met this says more.
    fn growth(self) -> Growth {
        Growth::Smooth(2.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Huber(self))
    }

    fn check(self) -> Result<()> {
        match self.width.is_finite() && self.width > 0.0 {
            true => Ok(()),
            false => {
                let what = format!("`huber_width` must be a positive number, not {}", self.width);
                Err(Error::usage(what).hint("it is the residual beyond which a row is an outlier"))
            }
        }
    }

    #[inline(always)]
    fn conjugate_size(self, y: f64, u: f64) -> f64 {
        (u * y).abs() + u * u / 4.0
    }

    #[inline(always)]
    fn second_order(self, y: f64, s: f64) -> Option<Local> {
        Some(self.local(y, s))
    }
}

impl SmoothLoss for Huber {
    #[inline(always)]
    fn curvature(self, y: f64, s: f64) -> f64 {
        if (s - y).abs() <= self.width { 2.0 } else { 0.0 }
    }

    fn curved_up_to(self, distance: f64) -> Option<Self> {
        Some(Self { width: distance.max(self.width) }).filter(|wider| wider.width > self.width)
    }
}

impl ProximalLoss for Huber {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let (off, factor, most) = (z - y, 1.0 / (1.0 + 2.0 * width), self.steepest());
        let slope = 2.0 * off * factor;
        if slope.abs() <= most {
            return Local { value: off * off * factor, slope, curvature: 2.0 * factor };
        }
        // The minimum is where the slope is steepest, at `z − width·slope`.
        let value = most * (off.abs() - 0.5 * (self.width + most * width));
        Local { value, slope: most * off.signum(), curvature: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Squared;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_wide_huber_loss_is_the_squared_loss(
            y in -9.0..9.0f64, s in -9.0..9.0f64, width in 18.0..1e9f64,
        ) {
            let huber = Huber { width };
            prop_assert_eq!(huber.value(y, s), Squared.value(y, s));
            prop_assert_eq!(huber.slope(y, s), Squared.slope(y, s));
            prop_assert_eq!(huber.conjugate(y, s), Squared.conjugate(y, s));
        }
    }

    #[test]
    fn a_width_is_a_positive_number() {
        for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Huber { width }.check().is_err(), "{width}");
            // And where nobody checks, nothing panics.
            let _ = (Huber { width }.slope(1.0, 2.0), Huber { width }.nearest_dual(1.0, 2.0));
        }
        assert!(Huber { width: 1e-300 }.check().is_ok());
    }
}
