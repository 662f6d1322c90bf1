//! The objective for k classes at once: the multinomial logistic loss plus a penalty.
//!
//! ```text
//! (1/n) Σ cᵢ (log Σ_c exp(s_ic) − s_iy) + (λ/2)‖W‖²,   s_ic = <w_c, xᵢ> + b_c
//! ```

use super::passes::blocks;
use crate::data::Matrix;
use crate::model::{Weights, add_to_each};
use crate::penalty::Bias;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of one task.
const CHUNK: usize = 1024;

/// Rows and their classes, and the regularisation of the weights.
#[derive(Clone, Copy, Debug)]
pub struct Joint<'a> {
    /// The rows.
    pub rows: &'a Matrix<'a>,
    /// The class of each.
    pub classes: &'a [u32],
    /// How many classes there are.
    pub count: usize,
    /// How much each row counts; empty if each counts once.
    pub row_weights: &'a [f64],
    /// What the sum of losses is divided by.
    pub total: f64,
    /// λ.
    pub lambda: f64,
    /// Whether there are biases, and whether they are penalised.
    pub bias: Bias,
}

impl Joint<'_> {
    /// The factor of row `i`'s loss in the objective.
    #[inline]
    pub fn share(&self, i: usize) -> f64 {
        self.row_weights.get(i).copied().unwrap_or(1.0) / self.total
    }

    /// The scores of all rows, class by class.
    pub fn scores(&self, weights: &Weights) -> Vec<f64> {
        let mut scores = vec![0.0; self.classes.len() * self.count];
        scores.par_chunks_mut(CHUNK * self.count).enumerate().for_each(|(chunk, scores)| {
            for (i, scores) in (chunk * CHUNK..).zip(scores.chunks_exact_mut(self.count)) {
                weights.score(self.rows.row(i), scores);
            }
        });
        scores
    }

    /// The mean loss at these scores.
    pub fn mean_loss(&self, scores: &[f64]) -> f64 {
        let parts: Vec<f64> = scores
            .par_chunks(CHUNK * self.count)
            .enumerate()
            .map(|(chunk, scores)| {
                let rows = (chunk * CHUNK..).zip(scores.chunks_exact(self.count));
                rows.map(|(i, s)| self.share(i) * (log_sum_exp(s) - s[self.classes[i] as usize])).sum()
            })
            .collect();
        parts.iter().sum()
    }

    /// `(λ/2)‖W‖²`, with the biases if they are penalised.
    pub fn penalty_of(&self, weights: &Weights) -> f64 {
        let square = |values: &[f64]| values.iter().map(|w| w * w).sum::<f64>();
        let bias = if self.bias == Bias::Penalised { square(&weights.bias) } else { 0.0 };
        0.5 * self.lambda * (square(&weights.values) + bias)
    }

    /// `Σ xᵢ·f(i)ᵀ` over all rows, where `f` fills in a number per class.
    pub fn combine(&self, f: impl Fn(usize, &mut [f64]) + Sync) -> Weights {
        let columns = self.rows.columns();
        let add = |rows: Range<usize>| {
            let mut sum = Weights::zero(columns, self.count);
            let mut factors = vec![0.0; self.count];
            for i in rows {
                f(i, &mut factors);
                add_to_each(self.rows.row(i), &mut sum.values, &factors);
                sum.bias.iter_mut().zip(&factors).for_each(|(b, f)| *b += f);
            }
            sum
        };
        let parts: Vec<Weights> = self.blocks().into_par_iter().map(add).collect();
        let whole = parts.into_iter().reduce(|mut sum, part| {
            sum.values.iter_mut().zip(&part.values).for_each(|(a, b)| *a += b);
            sum.bias.iter_mut().zip(&part.bias).for_each(|(a, b)| *a += b);
            sum
        });
        whole.unwrap_or_else(|| Weights::zero(columns, self.count))
    }

    /// A few blocks of rows, each worth weights of its own.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        blocks(self.classes.len(), self.rows.stored() * self.count, self.rows.columns() * self.count)
    }

    /// The gradient of the mean loss where the rows have these probabilities: `Σ shareᵢ·xᵢ·(pᵢ − e_y)ᵀ`.
    pub(crate) fn loss_gradient(&self, probabilities: &[f64]) -> Weights {
        self.combine(|i, factors| {
            let share = self.share(i);
            let p = &probabilities[i * self.count..(i + 1) * self.count];
            factors.iter_mut().zip(p).for_each(|(f, p)| *f = share * p);
            factors[self.classes[i] as usize] -= share;
        })
    }
}

/// `log Σ exp(s)`, without overflow.
pub(crate) fn log_sum_exp(scores: &[f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + scores.iter().map(|s| (s - largest).exp()).sum::<f64>().ln()
}

/// Scores become probabilities, in place.
pub(crate) fn softmax(scores: &mut [f64]) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for s in scores.iter_mut() {
        *s = (*s - largest).exp();
        sum += *s;
    }
    scores.iter_mut().for_each(|s| *s /= sum);
}

/// The probabilities of all rows.
pub(crate) fn probabilities(mut scores: Vec<f64>, classes: usize) -> Vec<f64> {
    scores
        .par_chunks_mut(CHUNK * classes)
        .for_each(|chunk| chunk.chunks_exact_mut(classes).for_each(softmax));
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_scores_have_probabilities() {
        let mut scores = [1e308, 1e308, -1e9];
        softmax(&mut scores);
        assert_eq!(scores, [0.5, 0.5, 0.0]);
        assert_eq!(log_sum_exp(&[1e308, 0.0]), 1e308);
    }
}
