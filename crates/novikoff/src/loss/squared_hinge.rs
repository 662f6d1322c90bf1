//! The squared hinge: a support vector machine that forgives small shortfalls and not large ones.

use super::{Growth, Local, Loss, LossName, ProximalLoss, SmoothLoss, Targets};

/// `max(0, 1 − y·s)²`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn name(self) -> &'static str {
        LossName::SquaredHinge.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        let short = (1.0 - y * s).max(0.0);
        short * short
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        -2.0 * y * (1.0 - y * s).max(0.0)
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if y * u <= 0.0 { y * u + u * u / 4.0 } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).min(0.0)
    }

    fn growth(self) -> Growth {
        Growth::Smooth(2.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::SquaredHinge)
    }

    fn targets(self) -> Targets {
        Targets::Signs
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

impl SmoothLoss for SquaredHinge {
    #[inline(always)]
    fn curvature(self, y: f64, s: f64) -> f64 {
        if y * s < 1.0 { 2.0 } else { 0.0 }
    }
}

impl ProximalLoss for SquaredHinge {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let short = (1.0 - y * z).max(0.0);
        let factor = 1.0 / (1.0 + 2.0 * width);
        let curvature = if short > 0.0 { 2.0 * factor } else { 0.0 };
        Local { value: short * short * factor, slope: -2.0 * y * short * factor, curvature }
    }
}
