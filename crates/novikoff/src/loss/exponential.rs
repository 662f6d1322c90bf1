//! The exponential loss: what boosting minimises.

use super::{Growth, Local, Loss, LossName, SmoothLoss, Targets};

/// `exp(−y·s)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exponential;

impl Loss for Exponential {
    fn name(self) -> &'static str {
        LossName::Exponential.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        (-y * s).exp()
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        -y * (-y * s).exp()
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        let t = -y * u;
        if t > 0.0 {
            t * (t.ln() - 1.0)
        } else if t == 0.0 {
            0.0
        } else {
            f64::INFINITY
        }
    }

    #[inline(always)]
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).min(0.0)
    }

    fn growth(self) -> Growth {
        Growth::Exponential
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Exponential)
    }

    fn targets(self) -> Targets {
        Targets::Signs
    }

    fn vanishes_at_infinity(self) -> bool {
        true
    }

    #[inline(always)]
    fn conjugate_size(self, _: f64, u: f64) -> f64 {
        if u == 0.0 { 0.0 } else { u.abs() * (u.abs().ln().abs() + 1.0) }
    }

    #[inline(always)]
    fn second_order(self, y: f64, s: f64) -> Option<Local> {
        Some(self.local(y, s))
    }
}

impl SmoothLoss for Exponential {
    #[inline(always)]
    fn curvature(self, y: f64, s: f64) -> f64 {
        (-y * s).exp()
    }

    #[inline(always)]
    fn local(self, y: f64, s: f64) -> Local {
        let e = (-y * s).exp();
        Local { value: e, slope: -y * e, curvature: e }
    }
}
