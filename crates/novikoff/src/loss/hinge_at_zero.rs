//! The hinge at zero: only rows on the wrong side hurt. The loss whose stochastic gradient is the perceptron.

use super::hinge::kinked_at;
use super::{Growth, Local, Loss, LossName, ProximalLoss, Targets};

/// `max(0, −y·s)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HingeAtZero;

impl Loss for HingeAtZero {
    fn name(self) -> &'static str {
        LossName::HingeAtZero.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        (-y * s).max(0.0)
    }

    /// At a score of zero, which is a mistake for either label, it is that of a mistake: from zero the
    /// perceptron moves.
    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        if y * s <= 0.0 { -y } else { 0.0 }
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        if (-1.0..=0.0).contains(&(y * u)) { 0.0 } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).clamp(-1.0, 0.0)
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::HingeAtZero)
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

impl ProximalLoss for HingeAtZero {
    #[inline(always)]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        kinked_at(0.0, y, z, width)
    }
}
