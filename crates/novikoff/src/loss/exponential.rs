//! The exponential loss: what boosting minimises.

use super::{Local, Loss, LossName, SmoothLoss};

/// `exp(−y·s)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exponential;

impl Loss for Exponential {
    const NAME: LossName = LossName::Exponential;

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
}

impl SmoothLoss for Exponential {
    #[inline(always)]
    fn curvature(self, y: f64, s: f64) -> f64 {
        (-y * s).exp()
    }

    #[inline(always)]
    fn all(self, y: f64, s: f64) -> Local {
        let e = (-y * s).exp();
        Local { value: e, slope: -y * e, curvature: e }
    }
}
