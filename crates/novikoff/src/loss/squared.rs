//! The squared loss: least squares.

use super::{Growth, Local, Loss, LossName, ProximalLoss, SmoothLoss};

/// `(s − y)²`, without a factor ½: as it stands it dominates the zero-one loss of classes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Squared;

impl Loss for Squared {
    fn name(self) -> &'static str {
        LossName::Squared.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        (s - y) * (s - y)
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        2.0 * (s - y)
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        u * y + u * u / 4.0
    }

    #[inline(always)]
    fn nearest_dual(self, _: f64, u: f64) -> f64 {
        u
    }

    fn growth(self) -> Growth {
        Growth::Smooth(2.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Squared)
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

impl SmoothLoss for Squared {
    #[inline(always)]
    fn curvature(self, _: f64, _: f64) -> f64 {
        2.0
    }

    fn has_constant_curvature(self) -> bool {
        true
    }
}

impl ProximalLoss for Squared {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let factor = 1.0 / (1.0 + 2.0 * width);
        Local { value: (z - y) * (z - y) * factor, slope: 2.0 * (z - y) * factor, curvature: 2.0 * factor }
    }
}
