//! The weights of two classes, quantized to 16 bits: approximate scores of rows where there are millions of
//! features.

use crate::data::{Row, Vector};

/// From so many features on, weights are quantized: they are larger than a core's own cache.
pub(super) const QUANTIZED_FROM: usize = 1 << 17;

/// Weights as whole numbers of a unit.
///
/// Where the weights are too large for the cache, learning is bound by loading them, and a quarter of the
/// bytes takes half the time. For most rows the error bound of the approximate score settles whether there is
/// an update; the other rows are scored exactly. So the learned weights are the same.
#[derive(Clone, Debug)]
pub(super) struct QuantizedWeights {
    /// `w/unit`, rounded towards zero. All are below [`LIMIT`].
    quantized: Vec<i16>,
    /// A power of two; infinite once a weight was not finite, which makes every error bound infinite, too.
    unit: f64,
}

/// A score by quantized weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ApproximateScore {
    /// `<w, x>`, approximately.
    pub score: f64,
    /// How far the exact score can be from it.
    pub error_bound: f64,
}

/// In units, weights must be smaller than this.
const LIMIT: f64 = 32_768.0;
/// A new unit makes the largest weight so many units, or up to twice as many: room to grow before the next
/// new unit.
const LARGEST: f64 = 256.0;

impl QuantizedWeights {
    /// All zero.
    pub(super) fn zero(features: usize) -> Self {
        // So small a unit that the first weight other than zero chooses another.
        Self { quantized: vec![0; features], unit: 2f64.powi(-900) }
    }

    /// Quantizes these weights.
    pub(super) fn of(weights: &[f64]) -> Self {
        let mut quantized = Self::zero(weights.len());
        quantized.update(Row::Dense64(weights), weights);
        quantized
    }

    /// Adds features of weight zero.
    pub(super) fn grow(&mut self, features: usize) {
        self.quantized.resize(features.max(self.quantized.len()), 0);
    }

    /// Quantizes the weights of this row's features anew, after an update has changed them.
    pub(super) fn update(&mut self, row: impl Vector, weights: &[f64]) {
        let per_unit = 1.0 / self.unit;
        // As bits, where NaN is the largest.
        let mut largest = 0;
        row.for_each_index(|j| {
            if let (Some(quantized), Some(weight)) = (self.quantized.get_mut(j), weights.get(j)) {
                *quantized = (weight * per_unit) as i16;
                largest = largest.max(weight.abs().to_bits());
            }
        });
        let largest = f64::from_bits(largest);
        if largest.is_nan() || largest * per_unit >= LIMIT {
            self.choose_unit(largest, weights);
        }
    }

    /// Chooses a larger unit. Weights that were rounded to zero stay zero.
    #[cold]
    fn choose_unit(&mut self, largest: f64, weights: &[f64]) {
        /// The bits of the exponent: without the others, a number is rounded down to a power of two.
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        self.unit = match largest.is_finite() {
            true => f64::from_bits(largest.to_bits() & EXPONENT) / LARGEST,
            false => f64::INFINITY,
        };
        for (quantized, weight) in
            self.quantized.iter_mut().zip(weights).filter(|(quantized, _)| **quantized != 0)
        {
            *quantized = (weight / self.unit) as i16;
        }
    }

    /// The approximate score of a row, with its error bound.
    #[inline]
    pub(super) fn score(&self, row: Row<'_>) -> ApproximateScore {
        let (sum, size) = dot_and_size(row, &self.quantized);
        // No partial sum is larger than this. If it is infinite, so is the error bound.
        let most = size * self.unit * LIMIT;
        // Each weight is within a unit of its quantized one, which makes `unit·size`. Rounding adds far less:
        // `most` times some 2⁻⁵³ an entry, of which a row has fewer than 2³², and what is lost where products
        // underflow.
        let error_bound = most * (2.0 / LIMIT) + f64::MIN_POSITIVE * row.len() as f64;
        ApproximateScore { score: sum * self.unit, error_bound }
    }
}

/// `<w, x>` and `Σ |xⱼ|`, up to rounding. Features beyond the end of the weights have weight zero.
#[inline]
fn dot_and_size(row: Row<'_>, weights: &[i16]) -> (f64, f64) {
    match row {
        Row::Uniform(indices, value) => {
            (gathered(indices, weights) as f64 * value, indices.len() as f64 * value.abs())
        }
        _ => {
            let (mut sum, mut size) = (0.0, 0.0);
            row.for_each_stored(|j, x| {
                sum += weights.get(j as usize).map_or(0.0, |&w| f64::from(w)) * x;
                size += x.abs();
            });
            (sum, size)
        }
    }
}

/// The sum of the weights of some features, whose indices increase.
#[inline]
fn gathered(indices: &[u32], weights: &[i16]) -> i64 {
    let inside = match indices.last() {
        Some(&last) if last as usize >= weights.len() => {
            indices.partition_point(|&j| (j as usize) < weights.len())
        }
        _ => indices.len(),
    };
    let mut sums = [0i64; 4];
    let (fours, rest) = indices[..inside].as_chunks::<4>();
    for four in fours {
        for lane in 0..4 {
            sums[lane] += i64::from(weights[four[lane] as usize]);
        }
    }
    sums.iter().sum::<i64>() + rest.iter().map(|&j| i64::from(weights[j as usize])).sum::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Weights that grow over many powers of ten, so that units are outgrown.
        #[test]
        fn exact_scores_are_within_the_error_bound(
            updates in prop::collection::vec(
                (prop::collection::btree_set(0u32..40, 0..20), -1f64..1.0, -12i32..12),
                1..30,
            ),
            even in any::<bool>(),
            known in 1usize..40,
        ) {
            let mut weights = vec![0.0; known];
            let mut quantized = QuantizedWeights::zero(known);
            let mut largest = 0.0;
            for (step, (indices, value, power)) in updates.iter().enumerate() {
                if step == updates.len() / 2 {
                    weights.resize(40, 0.0);
                    quantized.grow(40);
                }
                let indices: Vec<u32> = indices.iter().copied().collect();
                let values: Vec<f64> = indices.iter().map(|&j| value * f64::from(1 + j % 7)).collect();
                let row =
                    if even { Row::Uniform(&indices, *value) } else { Row::Sparse64(&indices, &values) };
                row.add_to(&mut weights, 10f64.powi(*power));
                quantized.update(row, &weights);
                largest = weights.iter().fold(largest, |largest: f64, w| largest.max(w.abs()));
                let anew = QuantizedWeights::of(&weights);
                for (quantized, what) in [(&quantized, "updated"), (&anew, "made anew")] {
                    let ApproximateScore { score, error_bound } = quantized.score(row);
                    let off = (score - row.dot(&weights)).abs();
                    prop_assert!(off <= error_bound, "{what}: {score} is off by {off} > {error_bound}");
                    // The bound is tight: at most a hundredth of the score that weights as large as the
                    // largest so far could give.
                    let size = dot_and_size(row, &quantized.quantized).1;
                    prop_assert!(
                        error_bound <= largest * size / 100.0 + 1e-250,
                        "{what}: {error_bound}, {largest}, {size}"
                    );
                }
            }
        }
    }

    #[test]
    fn nothing_is_certain_once_a_weight_is_not_finite() {
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut weights = [1.0, bad];
            let mut quantized = QuantizedWeights::of(&weights);
            for _ in 0..2 {
                for row in [Row::Uniform(&[0], 1.0), Row::Uniform(&[1], 1.0), Row::Uniform(&[], 0.0)] {
                    let ApproximateScore { score, error_bound } = quantized.score(row);
                    let certain = score.abs() - error_bound > 0.0;
                    assert!(!certain, "{score} {error_bound}");
                }
                weights[1] = 1.0;
                quantized.update(Row::Uniform(&[0, 1], 1.0), &weights);
            }
        }
    }

    /// Partial sums may overflow where the score itself does not.
    #[test]
    fn nothing_is_certain_where_a_sum_could_overflow() {
        let quantized = QuantizedWeights::of(&[1e300, 1e300, -1e300]);
        assert!(quantized.score(Row::Uniform(&[0, 1, 2], 1.5e8)).error_bound.is_infinite());
    }
}
