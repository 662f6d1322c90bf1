//! Losses `ℓ(y, s)` and their conjugates `ℓ*(y, u) = sup over s of u·s − ℓ(y, s)`.
//!
//! Both are needed from above alone. All are exact but for the logistic and the exponential loss, whose
//! exponentials and logarithms are the upper ends of enclosures. The label `y` is 1 or −1, or any number for
//! the losses of numbers: squared, absolute, Huber's and that of a quantile. `r = s − y` is what a score is
//! off by.

use crate::certificate::Loss;
use crate::number::{Dyadic, LARGEST_EXPONENT, Round, exp, ln, ln_1p};

/// Bits of slopes, which need not be exact: any duals prove a lower bound, good ones a good one.
const SLOPE_BITS: u64 = 64;

impl Loss {
    /// Whether `y` may be any number.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Loss::Squared | Loss::Absolute | Loss::Huber { .. } | Loss::Quantile { .. })
    }

    /// Refuses parameters with which it is no convex loss that is nowhere negative.
    pub fn check(self) -> Result<(), String> {
        match self {
            Loss::Huber { width } if !(width.is_finite() && width > 0.0) => {
                Err("the width of the huber loss is not a positive number".into())
            }
            Loss::Quantile { level } if !(level > 0.0 && level < 1.0) => {
                Err("the level of the quantile loss is not between 0 and 1".into())
            }
            _ => Ok(()),
        }
    }

    /// A number that is not below `ℓ(y, s)`; none if that is above `e^8192`.
    pub fn value(self, y: &Dyadic, s: &Dyadic) -> Option<Dyadic> {
        let (one, agreement) = (Dyadic::whole(1), y * s);
        Some(match self {
            Loss::Hinge => positive_part(one - agreement),
            Loss::SquaredHinge => positive_part(one - agreement).square(),
            Loss::HingeAtZero => positive_part(-agreement),
            Loss::Squared => (s - y).square(),
            Loss::Absolute => (s - y).abs(),
            // r² up to the width w, and w(2|r| − w) beyond it.
            Loss::Huber { width } => {
                let (off, width) = ((s - y).abs(), Dyadic::of(width));
                if off <= width { off.square() } else { &width * (off.shifted(1) - &width) }
            }
            // −q·r below zero, and (1 − q)·r above it.
            Loss::Quantile { level } => {
                let (off, level) = (s - y, Dyadic::of(level));
                if off.is_negative() { -(level * off) } else { (one - level) * off }
            }
            Loss::Exponential => exp(&-agreement)?.high,
            Loss::Logistic => softplus(&-agreement),
        })
    }

    /// A slope of the loss in `s`, or a number near to it.
    pub fn slope(self, y: &Dyadic, s: &Dyadic) -> Dyadic {
        let (one, agreement) = (Dyadic::whole(1), y * s);
        let slope = match self {
            Loss::Hinge if agreement < one => -y,
            Loss::HingeAtZero if agreement.is_negative() => -y,
            Loss::Hinge | Loss::HingeAtZero => Dyadic::default(),
            Loss::SquaredHinge => -(y * positive_part(one - agreement)).shifted(1),
            Loss::Squared => (s - y).shifted(1),
            Loss::Absolute if s == y => Dyadic::default(),
            Loss::Absolute if s < y => -one,
            Loss::Absolute => one,
            Loss::Huber { width } => within_twice(width, (s - y).shifted(1)),
            Loss::Quantile { .. } if s == y => Dyadic::default(),
            Loss::Quantile { level } if s < y => -Dyadic::of(level),
            Loss::Quantile { level } => one - Dyadic::of(level),
            Loss::Exponential => -(y * exp(&-agreement).map_or(one, |p| p.low)),
            Loss::Logistic => -(y * probability(&-agreement)),
        };
        slope.rounded(SLOPE_BITS, Round::Down)
    }

    /// The dual nearest to `u` in the domain of the conjugate. Where `y` is 1 or −1, `y·(y·u)` is `u`.
    pub fn nearest_dual(self, y: &Dyadic, u: Dyadic) -> Dyadic {
        let (zero, one) = (Dyadic::default(), Dyadic::whole(1));
        match self {
            Loss::Squared => u,
            Loss::Absolute => u.clamp(-&one, one),
            Loss::Huber { width } => within_twice(width, u),
            Loss::Quantile { level } => u.clamp(-Dyadic::of(level), one - Dyadic::of(level)),
            Loss::SquaredHinge | Loss::Exponential => y * (y * u).min(zero),
            Loss::Hinge | Loss::HingeAtZero | Loss::Logistic => y * (y * u).clamp(-one, zero),
        }
    }

    /// A number that is not below `ℓ*(y, u)`, for a `u` in its domain.
    pub fn conjugate(self, y: &Dyadic, u: &Dyadic) -> Dyadic {
        let product = y * u;
        match self {
            Loss::Hinge | Loss::Absolute | Loss::Quantile { .. } => product,
            Loss::HingeAtZero => Dyadic::default(),
            Loss::SquaredHinge | Loss::Squared | Loss::Huber { .. } => product + u.square().shifted(-2),
            Loss::Logistic => {
                let p = -product;
                let rest = Dyadic::whole(1) - &p;
                let rest = if rest.is_zero() { rest } else { rest * ln_1p(&-&p).high };
                times_its_logarithm(&p) + rest
            }
            Loss::Exponential => times_its_logarithm(&-&product) + product,
        }
    }
}

/// The number nearest to `u` that is at most twice the width.
fn within_twice(width: f64, u: Dyadic) -> Dyadic {
    let most = Dyadic::of(width).shifted(1);
    u.clamp(-&most, most)
}

fn positive_part(x: Dyadic) -> Dyadic {
    x.max(Dyadic::default())
}

/// A number that is not below `p·ln p`, for `p ≥ 0`.
fn times_its_logarithm(p: &Dyadic) -> Dyadic {
    if p.is_zero() { Dyadic::default() } else { p * ln(p).high }
}

/// A number that is not below `ln(1 + e^z) = max(0, z) + ln(1 + e^−|z|)`. The logarithm increases, so that of
/// the exponential's upper end will do.
fn softplus(z: &Dyadic) -> Dyadic {
    positive_part(z.clone()) + ln_1p(&exp_below(&-z.abs())).high
}

/// A number that is not below `e^z`, for `z ≤ 0`.
pub fn exp_below(z: &Dyadic) -> Dyadic {
    exp(z).map_or(Dyadic::whole(1), |power| power.high)
}

/// About `1/(1 + e^−z)`, from 0 to 1.
fn probability(z: &Dyadic) -> Dyadic {
    let small = exp_below(&-z.abs()).min(Dyadic::whole(1));
    let small = small.divided(&(&small + Dyadic::whole(1)), Round::Down);
    let small = if z.abs() > Dyadic::whole(LARGEST_EXPONENT) { Dyadic::default() } else { small };
    if z.is_negative() { small } else { (Dyadic::whole(1) - small).rounded(SLOPE_BITS, Round::Down) }
}
