//! Arithmetic without rounding, on the numbers as they are stored.
//!
//! A stored number is a whole number times a power of two. So are sums and products of such numbers, and
//! whether one of them is zero, or positive, has an answer that no rounding can change.

use num_bigint::{BigInt, Sign};
use num_traits::{One, ToPrimitive, Zero};
use std::cmp::Ordering;

/// A whole number times a power of two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dyadic {
    units: BigInt,
    exponent: i32,
}

/// `x = units·2^exponent`; `x` must be finite.
pub(crate) fn parts(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let (units, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if units == 0 {
        return (0, 0);
    }
    let shift = units.trailing_zeros();
    let units = units >> shift;
    (if x.is_sign_negative() { -units } else { units }, exponent + shift as i32)
}

impl Dyadic {
    /// A stored number. It must be finite.
    pub(crate) fn of(x: f64) -> Self {
        let (units, exponent) = parts(x);
        Self { units: units.into(), exponent }
    }

    /// A whole number.
    pub(crate) fn whole(units: BigInt) -> Self {
        Self { units, exponent: 0 }
    }

    /// `self + a·b`.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let ((a, p), (b, q)) = (parts(a), parts(b));
        self.add_units((i128::from(a) * i128::from(b)).into(), p + q);
    }

    /// `self + a·b` for a whole number `a`.
    pub(crate) fn add_times(&mut self, a: &BigInt, b: f64) {
        let (b, exponent) = parts(b);
        self.add_units(a * b, exponent);
    }

    /// `self + other`.
    pub(crate) fn add(&mut self, other: &Dyadic) {
        self.add_units(other.units.clone(), other.exponent);
    }

    fn add_units(&mut self, units: BigInt, exponent: i32) {
        if units.is_zero() {
            return;
        }
        match self.exponent.cmp(&exponent) {
            _ if self.units.is_zero() => (self.units, self.exponent) = (units, exponent),
            Ordering::Equal => self.units += units,
            Ordering::Less => self.units += units << (exponent - self.exponent),
            Ordering::Greater => {
                self.units <<= self.exponent - exponent;
                self.units += units;
                self.exponent = exponent;
            }
        }
    }

    /// `self·other`.
    #[must_use]
    pub(crate) fn times(&self, other: &Dyadic) -> Self {
        Self { units: &self.units * &other.units, exponent: self.exponent + other.exponent }
    }

    /// `self·2^by`.
    #[must_use]
    pub(crate) fn shifted(&self, by: i32) -> Self {
        Self { units: self.units.clone(), exponent: self.exponent + by }
    }

    /// The smallest power of two above its absolute value has this exponent. It must not be zero.
    pub(crate) fn magnitude(&self) -> i32 {
        self.exponent + self.units.bits() as i32
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.units.is_zero()
    }

    /// Two stored numbers that it lies between; they are the same if it is one itself.
    pub(crate) fn between(&self) -> (f64, f64) {
        let bits = self.units.bits();
        let drop = bits.saturating_sub(53);
        let kept = (self.units.magnitude() >> drop).to_u64().unwrap_or(u64::MAX);
        let exact = (&(num_bigint::BigUint::from(kept)) << drop) == *self.units.magnitude();
        let exponent = i64::from(self.exponent) + drop as i64;
        let (low, high) =
            (scaled(kept, exponent, false), scaled(if exact { kept } else { kept + 1 }, exponent, true));
        match self.units.sign() {
            Sign::Minus => (-high, -low),
            _ => (low, high),
        }
    }
}

/// `units·2^exponent`, or the next stored number below or above. `units` have 54 bits at most.
fn scaled(units: u64, exponent: i64, up: bool) -> f64 {
    if units == 0 {
        return 0.0;
    }
    // Two factors, each a power of two that can be stored: only the second product can round.
    let exponent = exponent.clamp(-2300, 2300) as i32;
    let first = exponent.clamp(-1000, 900);
    let x = units as f64 * 2f64.powi(first);
    let rest = exponent - first;
    if rest == 0 {
        return x;
    }
    let y = x * 2f64.powi(rest.clamp(-1022, 1023)) * 2f64.powi(rest - rest.clamp(-1022, 1023));
    match (y, up) {
        (f64::INFINITY, false) => f64::MAX,
        (f64::INFINITY, true) => y,
        _ if rest > 0 => y,
        // Below the normal numbers it may have been rounded either way.
        (_, false) => y.next_down().max(0.0),
        (_, true) => y.next_up(),
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let mut difference = self.clone();
        difference.add(&other.times(&Dyadic::whole(-BigInt::one())));
        Some(difference.units.cmp(&BigInt::zero()))
    }
}
