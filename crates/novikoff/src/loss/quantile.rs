//! The pinball loss: regression of a quantile.

use super::{Growth, Local, Loss, LossName, PiecewiseLinear, ProximalLoss};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// `q·(y − s)` below the target and `(1 − q)·(s − y)` above it, with the level `q` (Koenker and Bassett,
/// "Regression quantiles", 1978).
///
/// The constant that minimises its mean is the q-quantile of the targets: a share `q` of the rows is at or
/// below it. With `q = ½` it is half the absolute loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantile {
    /// The share of rows that are to be at or below the prediction: between 0 and 1.
    pub level: f64,
}

impl Default for Quantile {
    /// The median.
    fn default() -> Self {
        Self { level: 0.5 }
    }
}

impl Quantile {
    /// The slope above the target: `1 − q`, rounded down, so that no dual is outside the domain by a
    /// rounding.
    #[inline(always)]
    fn above(self) -> f64 {
        let above = 1.0 - self.level;
        // From ½ on both differences are exact.
        if 1.0 - above < self.level { above.next_down() } else { above }
    }
}

impl Loss for Quantile {
    fn name(self) -> &'static str {
        LossName::Quantile(self).name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        let off = s - y;
        if off >= 0.0 { self.above() * off } else { -self.level * off }
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        let off = s - y;
        match () {
            _ if off > 0.0 => self.above(),
            _ if off < 0.0 => -self.level,
            _ => off,
        }
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if (-self.level..=self.above()).contains(&u) { u * y } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, _: f64, u: f64) -> f64 {
        match () {
            _ if u > self.above() => self.above(),
            _ if u < -self.level => -self.level,
            _ => u,
        }
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(self.level.max(1.0 - self.level))
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Quantile(self))
    }

    fn check(self) -> Result<()> {
        match self.level > 0.0 && self.level < 1.0 {
            true => Ok(()),
            false => {
                let what = format!("`quantile` must be between 0 and 1, not {}", self.level);
                Err(Error::usage(what).hint("for example `quantile = 0.9`: nine of ten rows are to be below"))
            }
        }
    }

    #[inline(always)]
    fn conjugate_size(self, y: f64, u: f64) -> f64 {
        (u * y).abs()
    }

    fn largest_conjugate_size(self, y: f64) -> Option<f64> {
        Some(y.abs() * self.level.max(1.0 - self.level))
    }
}

impl ProximalLoss for Quantile {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let off = z - y;
        let slope = self.nearest_dual(y, off / width);
        if slope == off / width {
            return Local { value: off * slope / 2.0, slope, curvature: 1.0 / width };
        }
        Local { value: slope * (off - 0.5 * width * slope), slope, curvature: 0.0 }
    }
}

impl PiecewiseLinear for Quantile {
    fn slopes(self) -> (f64, f64) {
        (-self.level, self.above())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Absolute;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn half_way_it_is_half_the_absolute_loss(y in -9.0..9.0f64, s in -9.0..9.0f64) {
            prop_assert_eq!(2.0 * Quantile::default().value(y, s), Absolute.value(y, s));
            prop_assert_eq!(2.0 * Quantile::default().slope(y, s), Absolute.slope(y, s));
        }

        #[test]
        fn the_slope_above_is_within_the_domain_and_next_to_its_end(
            level in prop_oneof![0.0..1.0f64, (1i32..300).prop_map(|e| 10f64.powi(-e))],
        ) {
            prop_assume!(level > 0.0);
            let above = Quantile { level }.above();
            // `1 − above` is exact where `above` is at least ½, and so is `1 − level` where it is below.
            let (exact, next) = match above >= 0.5 {
                true => (1.0 - above >= level, 1.0 - above.next_up() < level || above.next_up() > 1.0),
                false => (above == 1.0 - level, true),
            };
            prop_assert!(exact && next, "{level} {above}");
        }

        #[test]
        fn the_best_constant_is_a_quantile(
            targets in prop::collection::vec(-9.0..9.0f64, 1..20), level in 0.01..0.99f64,
        ) {
            let loss = Quantile { level };
            let mean = |s: f64| targets.iter().map(|y| loss.value(*y, s)).sum::<f64>();
            let best = targets.iter().copied().min_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap();
            let share = |is_counted: &dyn Fn(f64) -> bool| {
                targets.iter().filter(|y| is_counted(**y)).count() as f64 / targets.len() as f64
            };
            prop_assert!(share(&|y| y <= best) >= level - 1e-12);
            prop_assert!(share(&|y| y < best) <= level + 1e-12);
        }
    }

    #[test]
    fn a_level_is_between_zero_and_one() {
        for level in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert!(Quantile { level }.check().is_err(), "{level}");
            let _ = (Quantile { level }.slope(1.0, 2.0), Quantile { level }.nearest_dual(1.0, 2.0));
        }
    }
}
