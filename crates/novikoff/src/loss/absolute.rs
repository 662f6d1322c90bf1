//! The absolute loss: regression that outliers cannot pull far.

use super::{Growth, Local, Loss, LossName, PiecewiseLinear, ProximalLoss};

/// `|s − y|`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Absolute;

impl Loss for Absolute {
    fn name(self) -> &'static str {
        LossName::Absolute.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        (s - y).abs()
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        if s == y { 0.0 } else { (s - y).signum() }
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if u.abs() <= 1.0 { u * y } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, _: f64, u: f64) -> f64 {
        u.clamp(-1.0, 1.0)
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Absolute)
    }

    #[inline(always)]
    fn conjugate_size(self, y: f64, u: f64) -> f64 {
        (u * y).abs()
    }

    fn largest_conjugate_size(self, y: f64) -> Option<f64> {
        Some(y.abs())
    }
}

impl ProximalLoss for Absolute {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let off = z - y;
        if off.abs() < width {
            Local { value: off * off / (2.0 * width), slope: off / width, curvature: 1.0 / width }
        } else {
            Local { value: off.abs() - width / 2.0, slope: off.signum(), curvature: 0.0 }
        }
    }
}

impl PiecewiseLinear for Absolute {
    fn slopes(self) -> (f64, f64) {
        (-1.0, 1.0)
    }
}
