//! Numbers: whole numbers times powers of two, which is what every stored number is.
//!
//! Sums, products and comparisons of such numbers are exact. Quotients and square roots are not numbers of
//! this kind: they are rounded, down or up as the caller says. Exponentials and logarithms are enclosed
//! between two numbers. No floating-point operation is used anywhere: an `f64` is taken apart by its bits, or
//! put together for a message.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::OnceLock;

/// `mantissa·2^exponent`.
#[derive(Clone, Debug, Default)]
pub struct Dyadic {
    mantissa: BigInt,
    exponent: i64,
}

/// The side to which a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Not above the true value.
    Down,
    /// Not below the true value.
    Up,
}

/// Bits of the quotients and square roots, at least: the relative error is at most `2^(1−PRECISION)`.
const PRECISION: u64 = 192;

/// Sign, mantissa and exponent of a stored number, which must be finite.
fn parts(x: f64) -> (bool, u64, i64) {
    let bits = x.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i64 & 0x7ff);
    let (mantissa, exponent) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (x.is_sign_negative(), mantissa, exponent)
}

impl Dyadic {
    /// A stored number, which must be finite.
    pub fn of(x: f64) -> Self {
        let (negative, mantissa, exponent) = parts(x);
        let zeros = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
        let mantissa = BigInt::from(mantissa >> zeros);
        Self { mantissa: if negative { -mantissa } else { mantissa }, exponent: exponent + i64::from(zeros) }
    }

    /// A whole number.
    pub fn whole(number: impl Into<BigInt>) -> Self {
        Self::new(number.into(), 0)
    }

    /// `mantissa·2^exponent`.
    pub fn new(mantissa: BigInt, exponent: i64) -> Self {
        Self { mantissa, exponent }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// Whether it is above zero.
    pub fn is_positive(&self) -> bool {
        self.mantissa.is_positive()
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.mantissa.is_negative()
    }

    /// Its distance from zero.
    pub fn abs(&self) -> Self {
        Self::new(self.mantissa.abs(), self.exponent)
    }

    /// Its square.
    pub fn square(&self) -> Self {
        self * self
    }

    /// Its square with its own sign, which has the order of the numbers themselves.
    pub fn signed_square(&self) -> Self {
        self * &self.abs()
    }

    /// It times a power of two.
    pub fn shifted(&self, by: i64) -> Self {
        Self::new(self.mantissa.clone(), self.exponent + by)
    }

    /// The smallest power of two above its absolute value has this exponent. It must not be zero.
    fn magnitude(&self) -> i64 {
        self.exponent + self.mantissa.bits() as i64
    }

    /// The largest multiple of `2^-fraction` that is not above it, in such units.
    pub fn floor_to(&self, fraction: i64) -> BigInt {
        let shift = self.exponent + fraction;
        // A shift to the right rounds down, of negative numbers too.
        if shift >= 0 { &self.mantissa << shift } else { &self.mantissa >> shift.unsigned_abs() }
    }

    /// It, or a number next to it with about `bits` bits.
    pub fn rounded(&self, bits: u64, to: Round) -> Self {
        let surplus = self.mantissa.bits().saturating_sub(bits);
        if surplus == 0 {
            return self.clone();
        }
        let down = &self.mantissa >> surplus;
        let exact = (&down << surplus) == self.mantissa;
        let mantissa = if exact || to == Round::Down { down } else { down + 1 };
        Self::new(mantissa, self.exponent + surplus as i64)
    }

    /// The quotient, exact if it has at most [`PRECISION`] bits or the divisor is a power of two, else
    /// rounded with a relative error of at most `2^(1−PRECISION)`. The divisor must be positive.
    pub fn divided(&self, divisor: &Dyadic, to: Round) -> Self {
        if divisor.mantissa.trailing_zeros().is_some_and(|zeros| zeros + 1 == divisor.mantissa.bits()) {
            return self.shifted(1 - divisor.magnitude());
        }
        let shift = (PRECISION + divisor.mantissa.bits()).saturating_sub(self.mantissa.bits());
        let (quotient, rest) = (&self.mantissa << shift).div_mod_floor(&divisor.mantissa);
        let mantissa = if to == Round::Up && !rest.is_zero() { quotient + 1 } else { quotient };
        Self::new(mantissa, self.exponent - divisor.exponent - shift as i64)
    }

    /// The square root, exact if it has at most [`PRECISION`] bits, else rounded with a relative error of at
    /// most `2^(1−PRECISION)`. The number must not be negative.
    pub fn root(&self, to: Round) -> Self {
        let mut shift = (2 * PRECISION).saturating_sub(self.mantissa.bits());
        if (self.exponent - shift as i64).is_odd() {
            shift += 1;
        }
        let square = self.mantissa.magnitude() << shift;
        let root = square.sqrt();
        let exact = &root * &root == square;
        let root = BigInt::from(if exact || to == Round::Down { root } else { root + 1u32 });
        Self::new(root, (self.exponent - shift as i64) / 2)
    }

    /// A stored number next to it, for a message: not above it, or not below it.
    pub fn to_f64(&self, to: Round) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let away = (to == Round::Up) != self.is_negative();
        // The last place of a stored number of this size.
        let place = (self.magnitude() - 53).max(-1074);
        let size = self.abs();
        let mut units = size.floor_to(-place);
        if away && Dyadic::new(units.clone(), place) < size {
            units += 1;
        }
        // 2^53 in the last place is 2^52 in the next one, and the bits of doubles are in the order of their
        // sizes.
        let bits = match u64::try_from(units) {
            Ok(units) if place <= 971 => units + ((place + 1074) as u64) * (1 << 52),
            _ if away => f64::INFINITY.to_bits(),
            _ => f64::MAX.to_bits(),
        };
        let x = f64::from_bits(bits);
        if self.is_negative() { -x } else { x }
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.sign().cmp(&other.mantissa.sign());
        if signs != Ordering::Equal || self.is_zero() {
            return signs;
        }
        let sizes = self.magnitude().cmp(&other.magnitude());
        let sizes = sizes.then_with(|| match self.exponent.cmp(&other.exponent) {
            Ordering::Less => self
                .mantissa
                .magnitude()
                .cmp(&(other.mantissa.magnitude() << (other.exponent - self.exponent))),
            _ => (self.mantissa.magnitude() << (self.exponent - other.exponent))
                .cmp(other.mantissa.magnitude()),
        });
        if self.is_negative() { sizes.reverse() } else { sizes }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Dyadic {}

impl Add<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        let [a, b] = [self, other].map(|x| x.floor_to(-exponent));
        Dyadic::new(a + b, exponent)
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic::new(-&self.mantissa, self.exponent)
    }
}

impl Sub<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        self + &-other
    }
}

impl Mul<&Dyadic> for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}

/// The same operations on numbers that nobody needs any more.
macro_rules! owned {
    ($($operation:ident $name:ident),*) => { $(
        impl $operation<Dyadic> for Dyadic {
            type Output = Dyadic;
            fn $name(self, other: Dyadic) -> Dyadic { (&self).$name(&other) }
        }
        impl $operation<&Dyadic> for Dyadic {
            type Output = Dyadic;
            fn $name(self, other: &Dyadic) -> Dyadic { (&self).$name(other) }
        }
        impl $operation<Dyadic> for &Dyadic {
            type Output = Dyadic;
            fn $name(self, other: Dyadic) -> Dyadic { self.$name(&other) }
        }
    )* };
}
owned!(Add add, Sub sub, Mul mul);

impl Neg for Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        -&self
    }
}

/// An exact sum of many numbers and products, in digits to the base `2^32` whose carries wait.
///
/// Digit `k` stands for `limbs[k]·2^(32·(low + k))`. A term adds at most four parts below `2^32` to a digit,
/// so after `2^28` terms a digit is below `2^62` in size, and fits. Then carries are moved.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    low: i64,
    limbs: Vec<i64>,
    terms: u32,
}

impl Sum {
    /// Starts again at zero.
    pub fn clear(&mut self) {
        self.limbs.clear();
        self.terms = 0;
    }

    /// Adds a number.
    pub fn add(&mut self, x: &Dyadic) {
        self.add_digits(x.is_negative(), x.mantissa.iter_u32_digits(), x.exponent, 1);
    }

    /// Adds `x·y`.
    pub fn add_product(&mut self, x: &Dyadic, y: f64) {
        let (negative, factor, exponent) = parts(y);
        self.add_digits(
            negative != x.is_negative(),
            x.mantissa.iter_u32_digits(),
            x.exponent + exponent,
            factor,
        );
    }

    /// Adds `x·y`.
    pub fn add_stored(&mut self, x: f64, y: f64) {
        let ((one, mantissa, p), (other, factor, q)) = (parts(x), parts(y));
        let digits = [mantissa as u32, (mantissa >> 32) as u32];
        self.add_digits(one != other, digits.into_iter(), p + q, factor);
    }

    /// Adds `x·factor·2^exponent`.
    pub fn add_multiple(&mut self, x: &Dyadic, factor: u64, exponent: i64) {
        self.add_digits(x.is_negative(), x.mantissa.iter_u32_digits(), x.exponent + exponent, factor);
    }

    /// Adds the number of these digits, the lowest first, times `2^exponent·factor`. The factor has at most
    /// 64 bits.
    fn add_digits(
        &mut self,
        negative: bool,
        digits: impl ExactSizeIterator<Item = u32>,
        exponent: i64,
        factor: u64,
    ) {
        if factor == 0 || digits.len() == 0 {
            return;
        }
        let (first, shift) = (exponent.div_euclid(32), exponent.rem_euclid(32));
        let start = self.make_room(first, digits.len() + 3);
        for (at, digit) in digits.enumerate() {
            // 32 + 64 + 31 bits.
            let product = (u128::from(digit) * u128::from(factor)) << shift;
            let limbs = &mut self.limbs[start + at..start + at + 4];
            for (part, limb) in limbs.iter_mut().enumerate() {
                let part = i64::from((product >> (32 * part)) as u32);
                *limb += if negative { -part } else { part };
            }
        }
        self.terms += 1;
        if self.terms == 1 << 28 {
            let carry = carry(&mut self.limbs);
            self.limbs.push(carry);
            self.terms = 1;
        }
    }

    /// Makes room for `count` digits from number `first` on, and says where they start.
    fn make_room(&mut self, first: i64, count: usize) -> usize {
        if self.limbs.is_empty() {
            self.low = first;
        }
        if first < self.low {
            self.limbs.splice(0..0, std::iter::repeat_n(0, (self.low - first) as usize));
            self.low = first;
        }
        let start = (first - self.low) as usize;
        if self.limbs.len() < start + count {
            self.limbs.resize(start + count, 0);
        }
        start
    }

    /// The sum.
    pub fn value(&self) -> Dyadic {
        let mut limbs = self.limbs.clone();
        let carry = carry(&mut limbs);
        let digits: Vec<u32> = limbs.iter().map(|&limb| limb as u32).collect();
        let above = BigInt::from(carry) << (32 * digits.len());
        Dyadic::new(BigInt::from_biguint(Sign::Plus, BigUint::new(digits)) + above, 32 * self.low)
    }
}

/// Makes every digit one from 0 to `2^32 − 1`, and returns what is left for the digit above them.
fn carry(limbs: &mut [i64]) -> i64 {
    let mut carry = 0;
    for limb in limbs {
        let all = *limb + carry;
        *limb = all & 0xffff_ffff;
        carry = all >> 32;
    }
    carry
}

impl<'a> std::iter::Sum<&'a Dyadic> for Dyadic {
    fn sum<I: Iterator<Item = &'a Dyadic>>(numbers: I) -> Dyadic {
        let mut sum = Sum::default();
        numbers.for_each(|x| sum.add(x));
        sum.value()
    }
}

/// Two numbers, and a true value that is not below the first and not above the second.
#[derive(Clone, Debug)]
pub struct Enclosure {
    /// Not above the true value.
    pub low: Dyadic,
    /// Not below the true value.
    pub high: Dyadic,
}

impl Enclosure {
    /// Around a number that is known.
    pub fn exactly(x: Dyadic) -> Self {
        Self { low: x.clone(), high: x }
    }

    pub fn zero() -> Self {
        Self::exactly(Dyadic::default())
    }

    pub fn one() -> Self {
        Self::exactly(Dyadic::whole(1))
    }

    /// The quotient of two numbers, the second of them positive.
    pub fn quotient(x: &Dyadic, y: &Dyadic) -> Self {
        Self { low: x.divided(y, Round::Down), high: x.divided(y, Round::Up) }
    }

    /// The sum.
    pub fn plus(&self, other: &Enclosure) -> Self {
        Self { low: &self.low + &other.low, high: &self.high + &other.high }
    }

    /// One less the value.
    pub fn complement(&self) -> Self {
        Self { low: Dyadic::whole(1) - &self.high, high: Dyadic::whole(1) - &self.low }
    }

    /// The product with a value that is not negative. The smallest product has the lower end of `self` in it,
    /// and of `other` the end that makes it smaller; the largest likewise.
    pub fn times(&self, other: &Enclosure) -> Self {
        let pick = |end: &Dyadic, least: &Dyadic, most: &Dyadic| {
            if end.is_negative() { end * most } else { end * least }
        };
        Self {
            low: pick(&self.low, &other.low, &other.high),
            high: pick(&self.high, &other.high, &other.low),
        }
    }

    /// No value in it is farther from zero.
    pub fn size(&self) -> Dyadic {
        self.low.abs().max(self.high.abs())
    }

    /// Around an approximation with a relative error below `2^-160`.
    fn around(x: Dyadic) -> Self {
        let off = (x.mantissa.abs() >> 160u32) + 1;
        Self {
            low: Dyadic::new(&x.mantissa - &off, x.exponent),
            high: Dyadic::new(&x.mantissa + &off, x.exponent),
        }
    }
}

/// Fixed-point numbers have so many bits behind the point. In what follows, `ulp` is `2^-FRACTION`.
const FRACTION: i64 = 192;

/// Larger arguments of the exponential have no enclosure here; for smaller ones than minus this, zero and
/// `2^-LARGEST_EXPONENT` are one.
pub const LARGEST_EXPONENT: i64 = 8192;

fn one() -> BigInt {
    BigInt::one() << FRACTION
}

/// `ln 2`, and `ln(1 + i/128)` for `i` from 0 to 127; each with an error below `2^9` ulp.
struct Logarithms {
    two: BigInt,
    table: Vec<BigInt>,
}

fn logarithms() -> &'static Logarithms {
    static KNOWN: OnceLock<Logarithms> = OnceLock::new();
    // (1 + i/128) = (1 + z)/(1 − z) for z = i/(256 + i), and 2 for z = 1/3.
    let of = |numerator: i64, denominator: i64| twice_artanh(&(one() * numerator / denominator));
    KNOWN.get_or_init(|| Logarithms { two: of(1, 3), table: (0..128).map(|i| of(i, 256 + i)).collect() })
}

/// `ln((1 + z)/(1 − z)) = 2·artanh z = 2·(z + z³/3 + z⁵/5 + …)` for `0 ≤ z ≤ 1/3` in fixed point, from below.
///
/// Error below `2^9` ulp, if `z` was rounded down by less than one: that is worth 2.25 ulp. The powers
/// `z^(2k+1)` are rounded down by at most 1.3 ulp each (`e' ≤ e/9 + z^(2k−1) + 1`), their quotients by one
/// more, there are at most 62 (each is a ninth of the one before at most), and what is left out once a power
/// is below one ulp is less than 3 ulp: `2·(62·2.3 + 3) + 2.25 < 512`.
fn twice_artanh(z: &BigInt) -> BigInt {
    let square: BigInt = (z * z) >> FRACTION;
    let (mut power, mut sum, mut odd) = (z.clone(), BigInt::zero(), 1u32);
    while !power.is_zero() {
        sum += &power / odd;
        power = (power * &square) >> FRACTION;
        odd += 2;
    }
    sum << 1
}

/// `e^x`, with a relative error below `2^-159` on either side; none above [`LARGEST_EXPONENT`].
///
/// `x = k·ln 2 + r` with `|r| ≤ 0.35`, and `e^r = (e^(r/256))^256` by Taylor's series. Errors: `x` is rounded
/// by 1 ulp, `k·ln 2` by `2^14·2^9` ulp, so `r` by less than `2^24`. The series up to the power 16 leaves out
/// less than `(2^-9.5)^17/17! < 2^-209`; each of its 16 steps rounds by at most 2 ulp, and `r/256` by one:
/// less than `2^6` in all. Each of 8 squarings doubles the relative error and adds one of at most 2 ulp: less
/// than `2^15`. Together below `2^25` ulp of a number not below 0.7: `2^-166`.
pub fn exp(x: &Dyadic) -> Option<Enclosure> {
    let limit = Dyadic::whole(LARGEST_EXPONENT);
    if *x > limit {
        return None;
    }
    if *x < -limit {
        return Some(Enclosure {
            low: Dyadic::default(),
            high: Dyadic::new(BigInt::one(), -LARGEST_EXPONENT),
        });
    }
    let (x, two) = (x.floor_to(FRACTION), &logarithms().two);
    let k = (&x + (two >> 1u32)).div_floor(two);
    let r = (x - &k * two) >> 8u32;
    let mut power = one();
    for n in (1..=16u32).rev() {
        power = one() + ((&r * power) >> FRACTION).div_floor(&n.into());
    }
    for _ in 0..8 {
        power = (&power * &power) >> FRACTION;
    }
    Some(Enclosure::around(Dyadic::new(power, i64::try_from(k).unwrap_or(0) - FRACTION)))
}

/// Whether a number is smaller than `2^-8`.
fn is_small(x: &Dyadic) -> bool {
    x.is_zero() || x.magnitude() <= -8
}

/// `ln x` of a positive number, with a relative error below `2^-159` on either side.
pub fn ln(x: &Dyadic) -> Enclosure {
    let off = x - Dyadic::whole(1);
    if is_small(&off) { ln_near_one(&off) } else { ln_far_from_one(x) }
}

/// `ln(1 + x)` of a number above −1, with a relative error below `2^-159` on either side.
pub fn ln_1p(x: &Dyadic) -> Enclosure {
    if is_small(x) { ln_near_one(x) } else { ln_far_from_one(&(x + Dyadic::whole(1))) }
}

/// `ln(1 + x) = 2z·(1 + z²/3 + z⁴/5 + …)` with `z = x/(2 + x)`, for `|x| < 2^-8`.
///
/// `z` has a relative error of `2^-191`. The sum in brackets is in fixed point: `z² < 2^-17` is rounded by 1
/// ulp, twelve powers by 2 and their quotients by one each, and what is left out is below 1: less than `2^6`
/// ulp of a number above 1. Together below `2^-185`.
fn ln_near_one(x: &Dyadic) -> Enclosure {
    if x.is_zero() {
        return Enclosure { low: Dyadic::default(), high: Dyadic::default() };
    }
    let z = x.divided(&(x + Dyadic::whole(2)), Round::Down);
    let square = z.square().floor_to(FRACTION);
    let (mut power, mut sum, mut odd) = (square.clone(), one(), 3u32);
    while !power.is_zero() {
        sum += &power / odd;
        power = (power * &square) >> FRACTION;
        odd += 2;
    }
    Enclosure::around(z * Dyadic::new(sum, 1 - FRACTION))
}

/// `ln x = e·ln 2 + ln(1 + i/128) + 2·artanh z` with `x = m·2^e`, `1 ≤ m < 2`, `i` the first seven bits
/// behind the point of `m`, and `z = (m − c)/(m + c) < 2^-8` for `c = 1 + i/128`.
///
/// Errors: `m` is rounded by 1 ulp, and each of the `|e| + 2` logarithms has one below `2^9` ulp: below `(|e|
/// + 3)·2^9` in all. The logarithm of an `x` farther than `2^-8` from 1 is not below `2^-9` in size, and not
/// below `0.34·|e|` where `e` is neither 0 nor −1: together below `2^-172` of it.
fn ln_far_from_one(x: &Dyadic) -> Enclosure {
    let e = x.magnitude() - 1;
    let m = x.shifted(-e).floor_to(FRACTION);
    let i: BigInt = (&m - one()) >> (FRACTION - 7);
    let c: BigInt = one() + (&i << (FRACTION - 7));
    let z = ((&m - &c) << FRACTION) / (m + c);
    let known = logarithms();
    let i = usize::try_from(i).unwrap_or(0);
    Enclosure::around(Dyadic::new(&known.two * e + &known.table[i] + twice_artanh(&z), -FRACTION))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `10^70·2^2000` times a number in decimal digits, as a whole number (rounded), and the same of a dyadic
    /// one.
    fn scaled_decimal(text: &str) -> BigInt {
        let (digits, exponent) =
            text.split_once('e').map_or((text, 0), |(digits, e)| (digits, e.parse::<i64>().unwrap()));
        let (whole, fraction) = digits.split_once('.').unwrap();
        let number: BigInt = format!("{whole}{fraction}").parse().unwrap();
        let power = 400 + exponent - fraction.len() as i64;
        (number << 2000u32) * BigInt::from(10).pow(power as u32)
    }

    fn scaled(x: &Dyadic) -> BigInt {
        Dyadic::new(&x.mantissa * BigInt::from(10).pow(400), x.exponent).floor_to(2000)
    }

    /// The enclosure contains the true value, known to 70 digits, and is as narrow as promised.
    fn is_around(found: &Enclosure, digits: &str) {
        let expected = scaled_decimal(digits);
        let slack = expected.abs() / BigInt::from(10).pow(70) + 1;
        let (low, high) = (scaled(&found.low), scaled(&found.high));
        assert!(low <= &expected + &slack && high >= &expected - &slack, "{digits}");
        assert!(high - low <= (expected.abs() >> 157u32) + 2, "{digits}: too wide");
    }

    /// Digits by mpmath with 200 digits, of the stored numbers.
    #[test]
    fn exponentials_agree_with_many_digits() {
        for (x, digits) in [
            (1.0, "2.71828182845904523536028747135266249775724709369995957496696762772407663035"),
            (-1.0, "0.367879441171442321595523770161460867445811131031767834507836801697461495745"),
            (0.5, "1.64872127070012814684865078781416357165377610071014801157507931164066102119"),
            (-0.1, "0.904837418035959568141392384216935595309064653757377126020805326038490546563"),
            (20.25, "622964442.198445483653938291384898950415878263212810121250222156552511813133"),
            (-700.0, "9.85967654375977085670537294784946510511560018140094171058646676779318679659e-305"),
            (1e-9, "1.00000000100000000050000006244825818676978124115938945711961568266738083554"),
            (
                -36.6,
                "0.000000000000000127298111942341824259226766530004221675011018334340247\
                 409808838406040106423",
            ),
            (700.5, "1.67218596206749855724103607930212031114494226137130413524964159477634929202e304"),
        ] {
            is_around(&exp(&Dyadic::of(x)).unwrap(), digits);
        }
        assert!(exp(&Dyadic::of(8193.0)).is_none());
        let none = exp(&Dyadic::of(-1e300)).unwrap();
        assert!(none.low.is_zero() && none.high.is_positive());
    }

    #[test]
    fn logarithms_agree_with_many_digits() {
        for (x, digits) in [
            (2.0, "0.69314718055994530941723212145817656807550013436025525412068000949339362197"),
            (0.1, "-2.30258509299404562850684022342653872716347359387638277683520000207135033398"),
            (3.0, "1.09861228866810969139524523692252570464749055782274945173469433363749429322"),
            (1e-300, "-690.775527898213705180338344570100502908613341583641344062547201790087135449"),
            (
                0.9999999,
                "-0.000000100000004947364743290162628832054270750855853086373079736135199033770190177",
            ),
            (1.5e300, "691.180993006321869639880209775978030287231980864955725748008390807315409384"),
            (1.00390625, "0.0038986404156573230139373430958429070107237541049028050776797502699872088638"),
            (0.99609375, "-0.00391389932113632909231778364357266484270615020503007202086011295318311903036"),
            (5e-324, "-744.440071921381262314107298446081634113087144302914142925610330195904749995"),
            (
                1.0000000000000002,
                "0.000000000000000222044604925031283432823045461548792598233180790111470\
                 255693426654403462711",
            ),
        ] {
            is_around(&ln(&Dyadic::of(x)), digits);
        }
        for (x, digits) in [
            (1e-9, "0.000000000999999999500000062614924728581598356932135063055528402442616584734755199374"),
            (-1e-9, "-0.00000000100000000050000006261492485364478127249185190474281655070441268685012111773"),
            (0.5, "0.405465108108164381978013115464349136571990423462494197614014324144100671249"),
            (-0.9, "-2.30258509299404590606259637971569694423072326341540380730183886643383011223"),
            (1e-300, "1.00000000000000002505909183520875968569614680770370524992534231990046604318e-300"),
            (3.0, "1.38629436111989061883446424291635313615100026872051050824136001898678724394"),
        ] {
            is_around(&ln_1p(&Dyadic::of(x)), digits);
        }
    }

    /// Finite numbers of all sizes; many are at the ends of the range.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_filter("finite", |x| x.is_finite()),
            -10.0..10.0f64,
            prop::sample::select(vec![
                0.0,
                -0.0,
                1.0,
                -1.0,
                5e-324,
                -5e-324,
                f64::MAX,
                f64::MIN,
                f64::MIN_POSITIVE,
                0.1
            ]),
        ]
    }

    proptest! {
        #[test]
        fn stored_numbers_come_back(x in number()) {
            let dyadic = Dyadic::of(x);
            prop_assert_eq!(dyadic.to_f64(Round::Down), x);
            prop_assert_eq!(dyadic.to_f64(Round::Up), x);
        }

        #[test]
        fn dyadics_are_ordered_as_stored_numbers(x in number(), y in number()) {
            prop_assert_eq!(Dyadic::of(x).partial_cmp(&Dyadic::of(y)), x.partial_cmp(&y));
        }

        #[test]
        fn a_sum_of_products_is_the_same_in_any_way(
            terms in prop::collection::vec((number(), number()), 0..20),
        ) {
            let mut fast = Sum::default();
            let mut slow = Dyadic::default();
            let mut third = Sum::default();
            for (x, y) in &terms {
                fast.add_stored(*x, *y);
                third.add_product(&Dyadic::of(*x), *y);
                slow = slow + Dyadic::of(*x) * Dyadic::of(*y);
            }
            prop_assert_eq!(&fast.value(), &slow);
            prop_assert_eq!(&third.value(), &slow);
        }

        #[test]
        fn quotients_and_roots_are_rounded_to_their_sides(x in number(), y in number()) {
            let (x, y) = (Dyadic::of(x), Dyadic::of(y).abs());
            if !y.is_zero() {
                let [low, high] = [Round::Down, Round::Up].map(|to| x.divided(&y, to));
                prop_assert!(&low * &y <= x && &high * &y >= x);
                prop_assert!(&high - &low <= high.abs().max(low.abs()).shifted(-190));
            }
            let [low, high] = [Round::Down, Round::Up].map(|to| y.root(to));
            prop_assert!(low.square() <= y && high.square() >= y);
            prop_assert!(&high - &low <= high.shifted(-190));
            prop_assert_eq!(y.square().root(Round::Up), y);
        }

        #[test]
        fn rounded_numbers_are_on_their_sides(x in number(), y in number(), bits in 1u64..80) {
            let exact = Dyadic::of(x) * Dyadic::of(y);
            prop_assert!(
                exact.rounded(bits, Round::Down) <= exact && exact.rounded(bits, Round::Up) >= exact
            );
            prop_assert!(exact.rounded(bits, Round::Down).mantissa.bits() <= bits + 1);
            let (low, high) = (exact.to_f64(Round::Down), exact.to_f64(Round::Up));
            prop_assert!(low == f64::NEG_INFINITY || Dyadic::of(low) <= exact);
            prop_assert!(high == f64::INFINITY || Dyadic::of(high) >= exact);
            prop_assert!(
                low == high
                    || low.next_up() == high
                    || (low == 0.0 && high == 5e-324)
                    || (low == -5e-324 && high == 0.0)
            );
        }

        /// exp(ln x) is x, exp(x)·exp(−x) is 1, and ln(1 + x) is ln of 1 + x.
        #[test]
        fn exponentials_and_logarithms_belong_together(
            x in -8000.0..8000.0f64,
            y in number(),
            tiny in -0.01..0.01f64,
        ) {
            let (x, one) = (Dyadic::of(x), Dyadic::whole(1));
            let (up, down) = (exp(&x).unwrap(), exp(&-&x).unwrap());
            prop_assert!(&up.low * &down.low <= one && &up.high * &down.high >= one);
            let log = ln(&up.low);
            prop_assert!(log.low <= x && (&log.high - &x).abs() <= x.abs().max(one.shifted(0)).shifted(-150));
            let y = Dyadic::of(y).abs();
            if !y.is_zero() {
                let back = ln(&y);
                prop_assert!(exp(&back.low).unwrap().low <= y && exp(&back.high).unwrap().high >= y);
            }
            let tiny = Dyadic::of(tiny);
            let (one_way, other_way) = (ln_1p(&tiny), ln(&(&tiny + Dyadic::whole(1))));
            prop_assert!(one_way.low <= other_way.high && other_way.low <= one_way.high);
        }

        #[test]
        fn products_of_enclosures_hold_all_products(
            a in -9i32..9,
            b in 0i32..9,
            c in 0i32..9,
            d in 0i32..9,
            s in 0.0..1.0f64,
            t in 0.0..1.0f64,
        ) {
            let between =
                |from: i32, by: i32| Enclosure { low: Dyadic::whole(from), high: Dyadic::whole(from + by) };
            let inside = |e: &Enclosure, s: f64| &e.low + (&e.high - &e.low) * Dyadic::of(s);
            let (one, other) = (between(a, b), between(c, d));
            let (product, value) = (one.times(&other), inside(&one, s) * inside(&other, t));
            prop_assert!(product.low <= value && value <= product.high && value.abs() <= product.size());
        }
    }
}
