//! Passes over all rows, on all cores. Rows are cut into blocks by their number alone, and the blocks'
//! results are put together in their order, so that the bits do not depend on the threads.
//!
//! What is done with a block is handed over behind a pointer, so that the handing out of blocks is compiled
//! once, not once for every sum with every loss and every penalty: that was two thirds of the library's code.

use super::{Point, Problem};
use crate::loss::Loss;
use crate::penalty::Penalty;
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one task scores or sums over.
const CHUNK: usize = 4096;

impl<L: Loss, P: Penalty> Problem<'_, L, P> {
    /// The scores of all rows.
    pub fn scores(&self, point: &Point) -> Vec<f64> {
        let mut scores = vec![0.0; self.len()];
        self.scores_into(point, &mut scores);
        scores
    }

    /// The scores of all rows, into memory at hand.
    pub(crate) fn scores_into(&self, point: &Point, scores: &mut [f64]) {
        fill(scores, &|first, scores| {
            for (i, score) in (first..).zip(scores) {
                *score = self.row(i).dot(&point.weights) + point.bias;
            }
        });
    }

    /// `Σ f(i)` over all rows.
    pub fn sum(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        sum(self.len(), &|rows| rows.map(&f).sum())
    }

    /// `f` of all rows.
    pub fn each(&self, f: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let mut all = vec![0.0; self.len()];
        fill(&mut all, &|first, part| {
            for (i, value) in (first..).zip(part) {
                *value = f(i);
            }
        });
        all
    }

    /// `Σ f(i)·xᵢ` and `Σ f(i)` over all rows: what a step of the scores by `f` means for the weights.
    pub fn combine(&self, f: impl Fn(usize) -> f64 + Sync) -> Point {
        let columns = self.rows.columns();
        let add = |rows: Range<usize>| {
            let mut sum = Point::zero(columns);
            for i in rows {
                let factor = f(i);
                if factor != 0.0 {
                    self.row(i).add_to(&mut sum.weights, factor);
                    sum.bias += factor;
                }
            }
            sum
        };
        points(self.blocks(), &add).into_iter().reduce(Point::plus).unwrap_or_else(|| Point::zero(columns))
    }

    /// A few blocks of rows, each worth a vector of all weights of its own.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        blocks(self.len(), self.rows.stored(), self.rows.columns())
    }
}

/// The sum of what `f` makes of every chunk of so many rows.
pub(crate) fn sum(rows: usize, f: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
    let chunk = |chunk: usize| f(chunk * CHUNK..rows.min((chunk + 1) * CHUNK));
    let parts: Vec<f64> = (0..rows.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    parts.iter().sum()
}

/// Gives `f` every chunk of a list, and the number of its first place.
fn fill(all: &mut [f64], f: &(dyn Fn(usize, &mut [f64]) + Sync)) {
    all.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| f(chunk * CHUNK, part));
}

fn points(blocks: Vec<Range<usize>>, f: &(dyn Fn(Range<usize>) -> Point + Sync)) -> Vec<Point> {
    blocks.into_par_iter().map(f).collect()
}

/// As many blocks as are worth a result of `size` numbers each, for rows with so many entries in all.
pub(crate) fn blocks(rows: usize, entries: usize, size: usize) -> Vec<Range<usize>> {
    /// More would not be faster on any machine that this runs on.
    const MOST: usize = 16;
    /// Entries that are added in the time that one number of a result takes to be made and put together.
    const WORTH: usize = 2;
    let count = (entries / (WORTH * size + 4096)).clamp(1, MOST).min(rows.max(1));
    (0..count).map(|block| rows * block / count..rows * (block + 1) / count).collect()
}
