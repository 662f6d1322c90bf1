//! The hinge: rows are to have a margin of 1. The support vector machine's loss.

use super::{Growth, Local, Loss, LossName, ProximalLoss, Targets};

/// `max(0, 1 − y·s)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hinge;

impl Loss for Hinge {
    fn name(self) -> &'static str {
        LossName::Hinge.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        (1.0 - y * s).max(0.0)
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        if y * s < 1.0 { -y } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if (-1.0..=0.0).contains(&(y * u)) { y * u } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).clamp(-1.0, 0.0)
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Hinge)
    }

    fn targets(self) -> Targets {
        Targets::Signs
    }

    #[inline(always)]
    fn conjugate_size(self, y: f64, u: f64) -> f64 {
        (u * y).abs()
    }

    fn largest_conjugate_size(self, _: f64) -> Option<f64> {
        Some(3.0)
    }
}

impl ProximalLoss for Hinge {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        kinked_at(1.0, y, z, width)
    }
}

/// The envelope of `max(0, at − y·s)`.
#[inline(always)]
pub(super) fn kinked_at(at: f64, y: f64, z: f64, width: f64) -> Local {
    let short = at - y * z;
    if short <= 0.0 {
        Local::default()
    } else if short < width {
        Local { value: short * short / (2.0 * width), slope: -y * (short / width), curvature: 1.0 / width }
    } else {
        Local { value: short - width / 2.0, slope: -y, curvature: 0.0 }
    }
}
