//! 8 — How good a model is: error with an exact interval, confusion, area under the curve.

mod interval;

pub use interval::binomial_interval;

use crate::data::Dataset;
use crate::model::{Model, Scorer, Scratch};
use crate::multiclass::decide;
use rayon::prelude::*;

/// How a model does on labelled rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Number of rows.
    pub rows: u64,
    /// Rows with another label than predicted.
    pub wrong: u64,
    /// `counts[true][predicted]`, in the order of the model's labels.
    pub confusion: Vec<Vec<u64>>,
    /// Area under the ROC curve, for two classes that both occur.
    pub auc: Option<f64>,
}

impl Evaluation {
    /// Share of rows predicted wrongly.
    pub fn error(&self) -> f64 {
        self.wrong as f64 / self.rows.max(1) as f64
    }

    /// The exact (Clopper–Pearson) interval of the error at this confidence.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        binomial_interval(self.wrong, self.rows, confidence)
    }
}

/// Rows that one task scores.
const CHUNK: usize = 512;

/// Scores all rows, in parallel: `outputs` scores a row.
pub fn score_all(scorer: &Scorer, data: &Dataset) -> Vec<f64> {
    let starts: Vec<usize> = (0..data.len()).step_by(CHUNK).collect();
    let parts: Vec<Vec<f64>> = starts
        .into_par_iter()
        .map_init(Scratch::default, |scratch, start| {
            let rows: Vec<_> = (start..data.len().min(start + CHUNK)).map(|i| data.rows.row(i)).collect();
            let mut scores = Vec::new();
            scorer.score(&rows, scratch, &mut scores);
            scores
        })
        .collect();
    parts.concat()
}

/// Share of rows whose predicted class is not theirs.
pub fn error(scorer: &Scorer, data: &Dataset, classes: &[u32]) -> f64 {
    let scores = score_all(scorer, data);
    let wrong = scores.chunks_exact(scorer.outputs()).zip(classes).filter(|(s, c)| decide(s) != **c as usize).count();
    wrong as f64 / data.len().max(1) as f64
}

/// Evaluates a model on rows that were read with its labels.
pub fn evaluate(model: &Model, data: &Dataset) -> Evaluation {
    let mut evaluation = Tally::new(model.labels.len());
    let scores = score_all(&model.scorer, data);
    for (scores, &class) in scores.chunks_exact(model.scorer.outputs()).zip(&data.labels) {
        evaluation.add(scores, class);
    }
    evaluation.finish()
}

/// Counts, row by row.
#[derive(Clone, Debug)]
pub struct Tally {
    confusion: Vec<Vec<u64>>,
    /// Scores of the rows of the negative and of the positive class, for two classes.
    sides: [Vec<f64>; 2],
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(classes: usize) -> Self {
        Self { confusion: vec![vec![0; classes]; classes], sides: Default::default() }
    }

    /// Counts a row.
    pub fn add(&mut self, scores: &[f64], class: u32) {
        self.confusion[class as usize][decide(scores)] += 1;
        if let [score] = scores {
            self.sides[class as usize & 1].push(*score);
        }
    }

    /// The result.
    pub fn finish(self) -> Evaluation {
        let rows = self.confusion.iter().flatten().sum();
        let right: u64 = self.confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
        let [negative, positive] = self.sides;
        Evaluation { rows, wrong: rows - right, confusion: self.confusion, auc: area_under_curve(negative, positive) }
    }
}

/// The chance that a positive row scores higher than a negative one, ties counting half (Mann and Whitney's U).
fn area_under_curve(negative: Vec<f64>, positive: Vec<f64>) -> Option<f64> {
    if negative.is_empty() || positive.is_empty() {
        return None;
    }
    let pairs = negative.len() as f64 * positive.len() as f64;
    let mut all: Vec<(f64, bool)> =
        negative.into_iter().map(|s| (s, false)).chain(positive.into_iter().map(|s| (s, true))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut sum) = (0.0, 0.0);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let positives = group.iter().filter(|entry| entry.1).count() as f64;
        let negatives = group.len() as f64 - positives;
        sum += positives * (below + negatives / 2.0);
        below += negatives;
    }
    Some(sum / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn area_under_curve_is_the_share_of_pairs_in_order(
            negative in prop::collection::vec(-3i8..4, 1..20), positive in prop::collection::vec(-3i8..4, 1..20),
        ) {
            let mut sum = 0.0;
            for n in &negative {
                for p in &positive {
                    sum += if p > n { 1.0 } else if p == n { 0.5 } else { 0.0 };
                }
            }
            let expected = sum / (negative.len() * positive.len()) as f64;
            let wide = |v: Vec<i8>| v.into_iter().map(f64::from).collect::<Vec<_>>();
            let area = area_under_curve(wide(negative), wide(positive)).unwrap();
            prop_assert!((area - expected).abs() < 1e-12);
        }
    }
}
