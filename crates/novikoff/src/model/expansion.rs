//! A weight vector in a kernel's feature space as a sum of rows: `<w, φ(x)> = Σ cᵢ·(K(xᵢ, x) + bias²)`.

use super::voted::add;
use crate::data::{Matrix, Row};
use crate::kernel::{self, Kernel, Precision, Tile};

/// Support rows and their coefficients. The outputs share the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The kernel.
    pub kernel: Kernel,
    /// The precision of dot products.
    pub precision: Precision,
    /// The value of the bias's coordinate: 1 or 0.
    pub bias: f64,
    /// The support rows.
    pub rows: Matrix<'static>,
    /// Number of weight vectors.
    pub outputs: usize,
    /// `rows × outputs` coefficients, those of a row side by side.
    pub coefficients: Vec<f64>,
}

impl Expansion {
    /// Multiplications and additions that scoring one row takes, about.
    pub fn cost(&self) -> usize {
        self.rows.stored() + self.coefficients.len()
    }

    /// A bound on the score of any row no longer than the longest of these; infinite if partial sums
    /// overflow.
    pub(crate) fn largest_score(&self) -> f64 {
        let length = |norm_sq: &f64| (self.kernel.largest(*norm_sq) + self.bias * self.bias).sqrt();
        let lengths: Vec<f64> = kernel::norms_sq(&self.rows).iter().map(length).collect();
        let radius = lengths.iter().copied().fold(0.0, f64::max);
        let sizes = self
            .coefficients
            .chunks_exact(self.outputs.max(1))
            .map(|own| own.iter().map(|c| c.abs()).sum::<f64>());
        sizes.zip(lengths).map(|(size, length)| size * length * radius).sum()
    }

    /// Scores as many rows as a tile holds, [`Expansion::outputs`] scores a row.
    pub fn score(&self, rows: &[Row<'_>], tile: &mut Tile, scores: &mut [f64]) {
        self.score_while(rows, tile, scores, &|| true);
    }

    /// The same; where it is not to go on, the scores mean nothing.
    pub(super) fn score_while(
        &self,
        rows: &[Row<'_>],
        tile: &mut Tile,
        scores: &mut [f64],
        goes_on: &dyn Fn() -> bool,
    ) {
        /// Support rows between two questions: some milliseconds.
        const BETWEEN: usize = 4096;
        tile.load(rows, self.rows.columns());
        let mut sums = vec![0.0; rows.len() * self.outputs];
        let bias_sq = self.bias * self.bias;
        let mut biases = vec![0.0; self.outputs];
        for (i, own) in self.coefficients.chunks_exact(self.outputs).enumerate() {
            if i % BETWEEN == 0 && !goes_on() {
                return;
            }
            let row = self.rows.row(i);
            let kernels = tile.compare(row, row.norm_sq());
            for ((sums, bias), &coefficient) in
                sums.chunks_exact_mut(rows.len().max(1)).zip(&mut biases).zip(own)
            {
                if coefficient != 0.0 {
                    add(sums, coefficient, kernels);
                    *bias += coefficient * bias_sq;
                }
            }
        }
        for (row, scores) in scores.chunks_exact_mut(self.outputs).enumerate() {
            for (output, score) in scores.iter_mut().enumerate() {
                *score = sums[output * rows.len() + row] + biases[output];
            }
        }
    }
}
