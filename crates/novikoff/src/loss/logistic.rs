//! The logistic loss: minus the log of the probability of the label.

use super::{Growth, Local, Loss, LossName, ProximalLoss, SmoothLoss, Targets};

/// `log(1 + exp(−y·s))`, in nats.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logistic;

/// The probability of +1 at a score: `1/(1 + exp(−s))`.
///
/// ```
/// use novikoff::loss::sigmoid;
/// assert_eq!((sigmoid(0.0), sigmoid(800.0), sigmoid(-800.0)), (0.5, 1.0, 0.0));
/// ```
#[inline(always)]
pub fn sigmoid(s: f64) -> f64 {
    // The exponential of a number that is not positive cannot overflow.
    let e = (-s.abs()).exp();
    (if s >= 0.0 { 1.0 } else { e }) / (1.0 + e)
}

/// `ln(1 + e)` for `e` from 0 to 1, to 1e-12 of it. The library's is good to the last bit, and took 7 % of
/// the time of a fit of a9a.
#[inline(always)]
fn ln_one_and(e: f64) -> f64 {
    if e < 1e-4 { e * (1.0 - e * (0.5 - e * (1.0 / 3.0))) } else { (1.0 + e).ln() }
}

impl Loss for Logistic {
    fn name(self) -> &'static str {
        LossName::Logistic.name()
    }

    #[inline(always)]
    fn value(self, y: f64, s: f64) -> f64 {
        let m = y * s;
        (-m).max(0.0) + ln_one_and((-m.abs()).exp())
    }

    #[inline(always)]
    fn slope(self, y: f64, s: f64) -> f64 {
        -y * sigmoid(-y * s)
    }

    #[inline(always)]
    fn conjugate(self, y: f64, u: f64) -> f64 {
        let p = -y * u;
        let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
        if (0.0..=1.0).contains(&p) { part(p) + part(1.0 - p) } else { f64::INFINITY }
    }

    #[inline(always)]
    fn nearest_dual(self, y: f64, u: f64) -> f64 {
        y * (y * u).clamp(-1.0, 0.0)
    }

    fn growth(self) -> Growth {
        Growth::Lipschitz(1.0)
    }

    fn library_loss(self) -> Option<LossName> {
        Some(LossName::Logistic)
    }

    fn targets(self) -> Targets {
        Targets::Signs
    }

    fn vanishes_at_infinity(self) -> bool {
        true
    }

    /// Of the quick logarithm.
    fn rounding(self) -> f64 {
        2e-12
    }

    /// With the library's logarithm.
    fn precise_value(self, y: f64, s: f64) -> f64 {
        let m = y * s;
        (-m).max(0.0) + (-m.abs()).exp().ln_1p()
    }

    /// Also where the terms are so unequal that `1 − p` loses digits of `p`.
    fn precise_conjugate(self, y: f64, u: f64) -> f64 {
        let p = -y * u;
        if p > 0.0 && p < 0.5 { p * p.ln() + (1.0 - p) * (-p).ln_1p() } else { self.conjugate(y, u) }
    }

    #[inline(always)]
    fn conjugate_size(self, _: f64, u: f64) -> f64 {
        if u == 0.0 { 0.0 } else { u.abs() * (u.abs().ln().abs() + 1.0) }
    }

    fn largest_conjugate_size(self, _: f64) -> Option<f64> {
        Some(3.0)
    }

    #[inline(always)]
    fn second_order(self, y: f64, s: f64) -> Option<Local> {
        Some(self.local(y, s))
    }
}

impl SmoothLoss for Logistic {
    #[inline(always)]
    fn curvature(self, _: f64, s: f64) -> f64 {
        let e = (-s.abs()).exp();
        e / ((1.0 + e) * (1.0 + e))
    }

    #[inline(always)]
    fn local(self, y: f64, s: f64) -> Local {
        let m = y * s;
        let e = (-m.abs()).exp();
        let over = 1.0 / (1.0 + e);
        let wrong = if m >= 0.0 { e * over } else { over };
        Local { value: (-m).max(0.0) + ln_one_and(e), slope: -y * wrong, curvature: e * over * over }
    }

    fn largest_curvature(self) -> Option<f64> {
        Some(0.25)
    }
}

impl ProximalLoss for Logistic {
    /// The minimum is where `s = z + width·y·p` with `p = sigmoid(−y·s)`: one monotone equation in `p`,
    /// solved by Newton's method within a bracket. In terms of the margin `m = y·s` it reads `m −
    /// width·sigmoid(−m) = y·z`.
    #[inline]
    fn envelope(self, y: f64, z: f64, width: f64) -> Local {
        let goal = y * z;
        let (mut low, mut high) = (goal, goal + width);
        let mut m = goal + width * sigmoid(-(goal + 0.5 * width));
        let mut stride = width;
        for _ in 0..100 {
            let e = (-m.abs()).exp();
            let over = 1.0 / (1.0 + e);
            let wrong = if m >= 0.0 { e * over } else { over };
            let off = m - width * wrong - goal;
            if off > 0.0 {
                high = m
            } else {
                low = m
            }
            // Newton's steps may run to and fro across the bend: one that does not at least halve the last
            // one is not taken.
            let newton = m - off / (1.0 + width * e * over * over);
            let trusted = newton > low && newton < high && (newton - m).abs() <= 0.5 * stride;
            let next = if trusted { newton } else { 0.5 * (low + high) };
            stride = (next - m).abs();
            m = next;
            if stride <= 1e-15 * (1.0 + m.abs()) {
                break;
            }
        }
        let at = self.local(1.0, m);
        let slope = -y * sigmoid(-m);
        Local {
            value: at.value + width * slope * slope / 2.0,
            slope,
            curvature: at.curvature / (1.0 + width * at.curvature),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_short_logarithm_is_the_library_s(exponent in -40.0..0.0f64) {
            let e = exponent.exp();
            prop_assert!((ln_one_and(e) - e.ln_1p()).abs() <= 2e-12 * e.ln_1p());
        }
    }
}
