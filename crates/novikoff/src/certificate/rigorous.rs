//! Bounds that hold in spite of rounding.
//!
//! A sum of `n` products in floating point is off by at most `(n + 1)·2⁻⁵³` of the sum of their absolute
//! values, in whatever order they are added, and by a little more where products fall below the normal
//! numbers. What is added here for the rounding of the bound itself is generous: it costs no digit that
//! anybody looks at.

use super::dot::dot_and_size;
use crate::data::Row;
use crate::exact::Dyadic;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;
/// What a product that falls below the normal numbers may be off by, and a lot more: with a number below them
/// processors compute so slowly that it took a seventh of verifying `covtype`.
const TINY: f64 = f64::MIN_POSITIVE;

/// Two numbers that another lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// It is at least this.
    pub low: f64,
    /// It is at most this.
    pub high: f64,
}

impl Between {
    /// A number that is known.
    pub fn exactly(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// A number that was computed by so many operations, out of parts whose absolute values add up to about
    /// `size`.
    pub fn about(x: f64, size: f64, operations: usize) -> Self {
        let n = operations as f64 + 8.0;
        let off = n * UNIT * size * (1.0 + 4.0 * n * UNIT) + n * TINY;
        Self { low: (x - off).next_down(), high: (x + off).next_up() }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Between) -> Self {
        Self { low: (self.low + other.low).next_down(), high: (self.high + other.high).next_up() }
    }

    /// The negative.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// The product with a sign.
    #[must_use]
    pub fn signed(self, sign: f64) -> Self {
        if sign < 0.0 { self.negated() } else { self }
    }

    /// Whether it is known to no more than a part in a thousand.
    fn is_vague(self) -> bool {
        !(self.low > 0.0 && self.low >= 0.999 * self.high || self.high < 0.0 && self.high <= 0.999 * self.low)
    }
}

/// The largest stored number that is no larger than `a/b` is, for `b > 0`.
pub(crate) fn quotient_down(a: f64, b: f64) -> f64 {
    (a / b).next_down()
}

/// The smallest stored number that is no smaller than `a/b` is, for `b > 0`.
pub(crate) fn quotient_up(a: f64, b: f64) -> f64 {
    (a / b).next_up()
}

/// `<w, x> + bias`, in floating point.
pub(crate) fn rough_score(row: Row<'_>, weights: &[f64], bias: f64) -> Between {
    let (sum, size) = dot_and_size(row, weights);
    // Of four partial sums, each takes a quarter of the products.
    Between::about(sum + bias, size + bias.abs(), row.len().div_ceil(4) + 2)
}

/// `<w, x> + bias`, first in floating point, and without rounding where that says too little.
pub(crate) fn score(row: Row<'_>, weights: &[f64], bias: f64) -> Between {
    let found = rough_score(row, weights, bias);
    if !found.is_vague() {
        return found;
    }
    let mut exact = Dyadic::of(bias);
    row.for_each_nonzero(|j, x| exact.add_product(weights.get(j as usize).copied().unwrap_or(0.0), x));
    let (low, high) = exact.between();
    Between { low, high }
}

/// `√(Σ vᵢ²)`.
pub(crate) fn length(values: &[f64]) -> Between {
    // Four by four, so that none need wait for another.
    let (fours, rest) = values.as_chunks::<4>();
    let larger = |most: f64, value: f64| if value.abs() > most { value.abs() } else { most };
    let most =
        fours.iter().fold([0.0; 4], |most, four| std::array::from_fn(|lane| larger(most[lane], four[lane])));
    // By the largest, so that no square leaves the range of numbers.
    let largest = rest.iter().chain(&most).copied().fold(0.0, larger);
    if largest == 0.0 || !largest.is_finite() {
        // NaN is not larger than anything.
        return Between::exactly(if values.iter().any(|value| value.is_nan()) { f64::NAN } else { largest });
    }
    // A power of two: multiplying by it, or by its inverse, rounds nothing but what is far too small to
    // matter.
    let unit = 2f64.powi(largest.log2().floor().clamp(-1000.0, 1000.0) as i32);
    let per_unit = unit.recip();
    let square = |value: f64| (value * per_unit) * (value * per_unit);
    let sums =
        fours.iter().fold([0.0; 4], |sums, four| std::array::from_fn(|lane| sums[lane] + square(four[lane])));
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.iter().copied().map(square).sum::<f64>();
    let square = Between::about(sum, sum, values.len().div_ceil(4) + 1);
    let root = |x: f64| x.max(0.0).sqrt();
    // The last product may round where it is below the normal numbers.
    Between {
        low: (root(square.low).next_down() * unit).next_down().max(0.0),
        high: (root(square.high).next_up() * unit).next_up(),
    }
}
