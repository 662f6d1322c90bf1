//! Numbers with twice the digits: a sum of two, the second of which is what the first was rounded by.

use std::ops::AddAssign;

/// Half a unit in the last place of 1.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// `high + low`. A sum of `m` products is off by at most [`Double::off`]`(m)` of the sum of their absolute
/// values, as long as none of them is near the ends of the exponent range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// `a·b` without rounding (Dekker).
    #[inline(always)]
    pub(super) fn product(a: f64, b: f64) -> Self {
        let split = |x: f64| {
            let c = 134_217_729.0 * x;
            let high = c - (c - x);
            (high, x - high)
        };
        let (high, (a, a_low), (b, b_low)) = (a * b, split(a), split(b));
        Self { high, low: ((a * b - high) + a * b_low + a_low * b) + a_low * b_low }
    }

    /// The sum of all, with twice the digits.
    pub(super) fn sum(values: impl Iterator<Item = f64>) -> Self {
        let mut sum = Self::default();
        values.for_each(|value| sum += Self { high: value, low: 0.0 });
        sum
    }

    /// The nearest number of ordinary length, or its neighbour.
    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    /// What the sum of so many products is off by, before it is rounded to one number, relative to the sum of
    /// their absolute values.
    pub(super) fn off(products: usize) -> f64 {
        8.0 * (products + 8) as f64 * UNIT * UNIT
    }
}

impl AddAssign for Double {
    /// Knuth's sum of the leading parts; then Dekker's of that and the rest.
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        let sum = self.high + other.high;
        let of_other = sum - self.high;
        let rest = (self.high - (sum - of_other)) + (other.high - of_other);
        let low = self.low + (rest + other.low);
        // Brought back to two parts that do not overlap: otherwise errors of the second would grow with the
        // square of the number of terms.
        let high = sum + low;
        *self = Self { high, low: low - (high - sum) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Dyadic;
    use proptest::prelude::*;

    /// Each term moves the second part alone.
    #[test]
    fn many_small_terms_are_not_lost() {
        let (mut sum, mut exact, mut size) = (Double::default(), Dyadic::of(0.0), 0.0);
        for term in std::iter::once(1.0).chain(std::iter::repeat_n(1.985_224_148_217_e-16 / 1.8, 100_000)) {
            sum += Double::product(term, 1.0);
            exact.add_product(term, 1.0);
            size += term;
        }
        exact.add_product(-1.0, sum.high);
        exact.add_product(-1.0, sum.low);
        let (low, high) = exact.between();
        assert!(low.abs().max(high.abs()) <= Double::off(100_001) * size);
    }

    proptest! {
        /// Against exact arithmetic, with terms that cancel.
        #[test]
        fn sums_of_products_have_twice_the_digits(terms in prop::collection::vec((-1e9..1e9f64,
            -1.0..1.0f64), 1..50)) {
            let (mut sum, mut exact, mut size) = (Double::default(), Dyadic::of(0.0), 0.0);
            for (a, b) in terms.iter().copied().chain(terms.iter().map(|(a, b)| (-a, b * (1.0 + 1e-15)))) {
                sum += Double::product(a, b);
                exact.add_product(a, b);
                size += (a * b).abs();
            }
            exact.add_product(-1.0, sum.high);
            exact.add_product(-1.0, sum.low);
            let (low, high) = exact.between();
            prop_assert!(low.abs().max(high.abs()) <= Double::off(2 * terms.len()) * size);
        }
    }
}
