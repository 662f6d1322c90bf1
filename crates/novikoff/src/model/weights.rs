//! Weight vectors: one for two classes, one a class for more.

use super::outputs::dot_each;
use crate::data::{Row, Vector};

/// Weights of all features, outputs side by side (`values[feature·outputs + output]`), so that one pass over
/// a row scores every class; and a bias per output.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    outputs: usize,
    /// `features × outputs` weights.
    pub values: Vec<f64>,
    /// A bias per output; zero where there is none.
    pub bias: Vec<f64>,
    /// The standard deviation of every feature in the rows learned from; empty where it is not known. It says
    /// how much of a score a weight decides: [`Weights::effect`].
    pub spreads: Vec<f32>,
}

impl Weights {
    /// All zero.
    pub fn zero(features: usize, outputs: usize) -> Self {
        let (values, bias) = (vec![0.0; features * outputs], vec![0.0; outputs]);
        Self { outputs, values, bias, spreads: Vec::new() }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.values.len() / self.outputs.max(1)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Adds features of weight zero.
    pub fn grow(&mut self, features: usize) {
        if features > self.features() {
            if !self.spreads.is_empty() {
                self.spreads.resize(features, 0.0);
            }
            grow_zeroed(&mut self.values, features * self.outputs);
        }
    }

    /// The scores `<w, x> + b` of a row.
    #[inline(always)]
    pub fn score(&self, row: Row<'_>, scores: &mut [f64]) {
        if self.outputs == 1 {
            scores[0] = row.dot(&self.values) + self.bias[0];
        } else {
            scores.copy_from_slice(&self.bias);
            dot_each(row, &self.values, scores);
        }
    }

    /// `w ← w + scale·x`, `b ← b + scale·bias` for one output.
    #[inline(always)]
    pub fn add(&mut self, row: impl Vector, output: usize, scale: f64, bias: f64) {
        if self.outputs == 1 {
            row.add_to(&mut self.values, scale);
        } else {
            row.add_to_one(&mut self.values, self.outputs, output, scale);
        }
        self.bias[output] += scale * bias;
    }

    /// `‖(w, b)‖²` of one output.
    pub fn norm_sq(&self, output: usize) -> f64 {
        let w: f64 = self.values.iter().skip(output).step_by(self.outputs).map(|w| w * w).sum();
        w + self.bias[output] * self.bias[output]
    }

    /// The weight of a feature for an output.
    pub fn weight(&self, feature: usize, output: usize) -> f64 {
        self.values.get(feature * self.outputs + output).copied().unwrap_or(0.0)
    }

    /// How much a feature moves the score of an output from row to row: the size of its weight times the
    /// feature's spread. `None` where the spread is not known.
    ///
    /// ```
    /// use novikoff::{Dataset, LogisticRegression};
    ///
    /// let rows = [1.0, 0.01, 2.0, 0.03, 3.0, 0.02, 4.0, 0.04];
    /// let data = Dataset::from_dense(&rows, 2)?.with_labels(&["a", "a", "b", "b"])?;
    /// let model = LogisticRegression::new().fit(&data)?.model;
    /// let weights = model.scorer.weights().unwrap();
    /// assert!(weights.weight(0, 0) < weights.weight(1, 0));
    /// assert!(weights.effect(0, 0) > weights.effect(1, 0));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn effect(&self, feature: usize, output: usize) -> Option<f64> {
        let spread = self.spreads.get(feature)?;
        Some(self.weight(feature, output).abs() * f64::from(*spread))
    }

    /// `w ← −w`.
    pub(crate) fn negate(&mut self) {
        // Zeros stay as they are: there is no −0 in a model, and memory that was never written stays so.
        self.values.iter_mut().chain(&mut self.bias).filter(|w| **w != 0.0).for_each(|w| *w = -*w);
    }

    /// Makes weights that were trained on scaled rows ([`Matrix::scaled`](crate::data::Matrix::scaled)) apply
    /// to the rows as they were: feature `j`'s weights are multiplied by `factors[j]`. Features beyond the
    /// factors keep theirs.
    ///
    /// ```
    /// use novikoff::{data::Row, model::Weights};
    /// let mut weights = Weights::zero(2, 1);
    /// weights.values = vec![3.0, 5.0];
    /// weights.fold_back(&[0.5, 0.25]);
    /// assert_eq!(weights.values, [1.5, 1.25]);
    /// ```
    pub fn fold_back(&mut self, factors: &[f64]) {
        for (block, factor) in self.values.chunks_exact_mut(self.outputs.max(1)).zip(factors) {
            // Zeros stay as they are: memory of large models that was never written stays so.
            block.iter_mut().filter(|w| **w != 0.0).for_each(|w| *w *= factor);
        }
    }

    /// The weights that apply to scaled rows as these apply to rows as they are: the other way round than
    /// [`Weights::fold_back`].
    pub(crate) fn unfold(&mut self, factors: &[f64]) {
        for (block, factor) in self.values.chunks_exact_mut(self.outputs.max(1)).zip(factors) {
            // What is scaled to nothing had no weight.
            block.iter_mut().filter(|w| **w != 0.0).for_each(|w| *w /= factor);
        }
        self.values.iter_mut().filter(|w| !w.is_finite()).for_each(|w| *w = 0.0);
    }

    /// The same weights of other features: feature j becomes feature `numbers[j]`, or has weight zero.
    #[must_use]
    pub(crate) fn features_from(&self, numbers: &[Option<u32>]) -> Self {
        let mut weights = Self::zero(numbers.len(), self.outputs);
        for (to, number) in weights.values.chunks_exact_mut(self.outputs.max(1)).zip(numbers) {
            if let Some(from) = number.and_then(|j| self.values.get(j as usize * self.outputs..)) {
                to.iter_mut().zip(from).filter(|(_, w)| **w != 0.0).for_each(|(to, w)| *to = *w);
            }
        }
        weights.bias.clone_from(&self.bias);
        weights
    }

    /// The same weights with other outputs: output `o` becomes `scale·w[from]` where `sources[o]` is
    /// `Some((from, scale))`, zero where it is `None`.
    #[must_use]
    pub(crate) fn rearranged(&self, sources: &[Option<(usize, f64)>]) -> Self {
        // Plus zero: −0 would be another byte in a file than the 0 of a feature that turns up later.
        let pick = |block: &[f64], source: &Option<(usize, f64)>| {
            source.map_or(0.0, |(from, scale)| scale * block[from] + 0.0)
        };
        let mut values = Vec::with_capacity(self.features() * sources.len());
        for block in self.values.chunks_exact(self.outputs) {
            values.extend(sources.iter().map(|source| pick(block, source)));
        }
        let bias = sources.iter().map(|source| pick(&self.bias, source)).collect();
        Self { outputs: sources.len(), values, bias, spreads: self.spreads.clone() }
    }
}

/// Lengthens a vector with zeros. Newly allocated memory is zeroed by the system and costs nothing until it
/// is written: of millions of hashed features most never occur.
pub(crate) fn grow_zeroed(values: &mut Vec<f64>, length: usize) {
    if length <= values.capacity() {
        values.resize(length, 0.0);
        return;
    }
    let mut roomier = vec![0.0; length.max(2 * values.len())];
    roomier[..values.len()].copy_from_slice(values);
    roomier.truncate(length);
    *values = roomier;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Scale;
    use crate::data::matrix::{Builder, Layout};
    use crate::random::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folded_weights_score_raw_rows_as_the_others_score_scaled_ones(
            seed in any::<u64>(),
            outputs in 1usize..4,
            unit_variance in any::<bool>(),
            dense in any::<bool>(),
        ) {
            let (mut random, columns) = (Random::new(seed), 5);
            let mut builder = Builder::new(if dense { Layout::Dense { columns } } else { Layout::Sparse });
            for _ in 0..30 {
                let indices: Vec<u32> = (0..columns as u32).filter(|_| random.below(3) > 0).collect();
                let values: Vec<f64> =
                    indices.iter().map(|&j| random.normal() * 10f64.powi(3 * j as i32 - 6) + 1.0).collect();
                builder.push(&indices, &values);
            }
            let mut rows = builder.finish();
            rows.widen(columns);
            let scale = if unit_variance { Scale::UnitVariance } else { Scale::MaxAbs };
            let factors = scale.factors(&rows, &[]);
            let scaled = rows.scaled(&factors);
            let mut weights = Weights::zero(columns, outputs);
            weights.values.iter_mut().chain(&mut weights.bias).for_each(|w| *w = random.normal());
            let mut folded = weights.clone();
            folded.fold_back(&factors);
            for i in 0..rows.rows() {
                let (mut expected, mut found) = (vec![0.0; outputs], vec![0.0; outputs]);
                weights.score(scaled.row(i), &mut expected);
                folded.score(rows.row(i), &mut found);
                let most = scaled.row(i).norm_sq().sqrt()
                    * weights.values.iter().map(|w| w * w).sum::<f64>().sqrt()
                    + 10.0;
                for (a, b) in expected.iter().zip(&found) {
                    prop_assert!((a - b).abs() <= 1e-14 * most, "{a} {b}");
                }
            }
        }
    }
}
