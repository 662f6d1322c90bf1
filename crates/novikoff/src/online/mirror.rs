//! The weights of two classes, rounded to 16 bits: a first look at rows where there are millions of features.

use crate::data::Row;

/// From so many features on there is a mirror: their weights are larger than a core's own cache.
pub(super) const MIRROR_FROM: usize = 1 << 17;

/// Weights as whole numbers of a unit.
///
/// Where the weights are too large for the cache, looking them up is all that learning waits for, and a quarter of the bytes
/// is there in half the time. Most rows are clear of any doubt that rounding leaves; the others are scored exactly. What is
/// learned is the same.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    /// `w/unit`, rounded towards zero. All are below [`LIMIT`].
    rounded: Vec<i16>,
    /// A power of two; infinite once a weight was not finite, which makes every doubt infinite, too.
    unit: f64,
}

/// In units, weights must be smaller than this.
const LIMIT: f64 = 32_768.0;
/// A new unit makes the largest weight so many units, or up to twice as many: room to grow before the next new unit.
const LARGEST: f64 = 256.0;

impl Mirror {
    /// All zero.
    pub fn zero(features: usize) -> Self {
        // No weight that matters is small enough for this: the first one that is not zero will choose the unit.
        Self { rounded: vec![0; features], unit: 2f64.powi(-900) }
    }

    /// A mirror of these weights.
    pub fn of(weights: &[f64]) -> Self {
        let mut mirror = Self::zero(weights.len());
        mirror.follow(Row::Dense64(weights), weights);
        mirror
    }

    /// Makes room for new features, which weigh nothing.
    pub fn grow(&mut self, features: usize) {
        self.rounded.resize(features.max(self.rounded.len()), 0);
    }

    /// Looks at the weights that an update by this row has changed.
    pub fn follow(&mut self, row: Row<'_>, weights: &[f64]) {
        let per_unit = 1.0 / self.unit;
        // As bits, where what is no number is the largest.
        let mut largest = 0;
        row.for_each_index(|j| {
            if let (Some(rounded), Some(weight)) = (self.rounded.get_mut(j), weights.get(j)) {
                *rounded = (weight * per_unit) as i16;
                largest = largest.max(weight.abs().to_bits());
            }
        });
        let largest = f64::from_bits(largest);
        if largest.is_nan() || largest * per_unit >= LIMIT {
            self.choose_unit(largest, weights);
        }
    }

    /// Chooses a larger unit. Weights that were rounded to zero would be so again.
    #[cold]
    fn choose_unit(&mut self, largest: f64, weights: &[f64]) {
        /// The bits of the exponent: without the others, a number is rounded down to a power of two.
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        if !largest.is_finite() {
            self.unit = f64::INFINITY;
            return;
        }
        self.unit = f64::from_bits(largest.to_bits() & EXPONENT) / LARGEST;
        for (rounded, weight) in self.rounded.iter_mut().zip(weights).filter(|(rounded, _)| **rounded != 0) {
            *rounded = (weight / self.unit) as i16;
        }
    }

    /// `<w, x>`, and how far from it the score can be that the weights themselves give.
    #[inline]
    pub fn dot(&self, row: Row<'_>) -> (f64, f64) {
        let (sum, size) = row.rough_dot(&self.rounded);
        // No sum on the way is larger than this. If it is infinite, so is the doubt.
        let most = size * self.unit * LIMIT;
        // Each weight is within a unit of its mirror, which makes `unit·size`. Rounding adds far less: `most` times some 2⁻⁵³ an
        // entry, of which a row has fewer than 2³², and what is lost where products underflow.
        (sum * self.unit, most * (2.0 / LIMIT) + f64::MIN_POSITIVE * row.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Weights that grow over many powers of ten, so that units are outgrown.
        #[test]
        fn the_score_of_the_weights_is_within_the_doubt(
            updates in prop::collection::vec((prop::collection::btree_set(0u32..40, 0..20), -1f64..1.0, -12i32..12), 1..30),
            even in any::<bool>(),
            known in 1usize..40,
        ) {
            let mut weights = vec![0.0; known];
            let mut mirror = Mirror::zero(known);
            let mut largest = 0.0;
            for (step, (indices, value, power)) in updates.iter().enumerate() {
                if step == updates.len() / 2 {
                    weights.resize(40, 0.0);
                    mirror.grow(40);
                }
                let indices: Vec<u32> = indices.iter().copied().collect();
                let values: Vec<f64> = indices.iter().map(|&j| value * f64::from(1 + j % 7)).collect();
                let row = if even { Row::Even(&indices, *value) } else { Row::Sparse64(&indices, &values) };
                row.add_to(&mut weights, 10f64.powi(*power));
                mirror.follow(row, &weights);
                largest = weights.iter().fold(largest, |largest: f64, w| largest.max(w.abs()));
                for (mirror, what) in [(&mirror, "followed"), (&Mirror::of(&weights), "made anew")] {
                    let ((sum, doubt), exact) = (mirror.dot(row), row.dot(&weights));
                    prop_assert!((sum - exact).abs() <= doubt, "{}: {} for {}, within {}", what, sum, exact, doubt);
                    // The doubt is worth having: it is small beside what weights as large as the largest so far would make.
                    let size = row.rough_dot(&mirror.rounded).1;
                    prop_assert!(doubt <= largest * size / 100.0 + 1e-250, "{}: {} of {} times {}", what, doubt, largest, size);
                }
            }
        }
    }

    #[test]
    fn nothing_is_clear_once_a_weight_is_not_finite() {
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut weights = [1.0, bad];
            let mut mirror = Mirror::of(&weights);
            for _ in 0..2 {
                for row in [Row::Even(&[0], 1.0), Row::Even(&[1], 1.0), Row::Even(&[], 0.0)] {
                    let (sum, doubt) = mirror.dot(row);
                    let clear = sum.abs() - doubt > 0.0;
                    assert!(!clear, "{sum} {doubt}");
                }
                weights[1] = 1.0;
                mirror.follow(Row::Even(&[0, 1], 1.0), &weights);
            }
        }
    }

    /// Sums on the way to a score may overflow where the score itself does not.
    #[test]
    fn nothing_is_clear_where_a_sum_could_overflow() {
        let mirror = Mirror::of(&[1e300, 1e300, -1e300]);
        let (_, doubt) = mirror.dot(Row::Even(&[0, 1, 2], 1.5e8));
        assert!(doubt.is_infinite());
    }
}
