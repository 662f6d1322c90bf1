//! A data set in memory: rows, their labels and weights, and what the reader noticed.

use super::{Labels, Matrix};
use crate::features::Schema;
use crate::random::Random;

/// Rows with their labels.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The rows.
    pub rows: Matrix,
    /// The number of each row's label in `names`; empty if the data has no labels.
    pub labels: Vec<u32>,
    /// The labels' names, in the order of first appearance (or of the model that the data was read for).
    pub names: Labels,
    /// A weight per row; empty if every row counts once.
    pub row_weights: Vec<f64>,
    /// How the input's columns became features.
    pub schema: Schema,
    /// What the reader noticed.
    pub report: Report,
}

/// What a reader noticed on the way: nothing here is an error, all of it deserves to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows read.
    pub rows: u64,
    /// Bytes of input, after decompression.
    pub bytes: u64,
    /// Rows that were skipped because something was wrong with them.
    pub bad_rows: u64,
    /// The first few of those, as full messages.
    pub first_bad: Vec<String>,
    /// Rows that carried a query id, which no learner here uses.
    pub query_ids: u64,
    /// Entries of features that the model has never seen; they weigh nothing.
    pub unseen_features: u64,
    /// Missing values that were filled in.
    pub missing: u64,
    /// Remarks on how the input was understood (a header, a delimiter, a label column), in order.
    pub remarks: Vec<String>,
}

impl Dataset {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight of row `i`.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.row_weights.get(i).copied().unwrap_or(1.0)
    }

    /// The rows named, in that order, as a data set of their own.
    pub fn select(&self, rows: &[usize]) -> Dataset {
        let pick = |all: &[f64]| if all.is_empty() { Vec::new() } else { rows.iter().map(|&i| all[i]).collect() };
        Dataset {
            rows: self.rows.select(rows.iter().copied()),
            labels: if self.labels.is_empty() { Vec::new() } else { rows.iter().map(|&i| self.labels[i]).collect() },
            names: self.names.clone(),
            row_weights: pick(&self.row_weights),
            schema: self.schema.clone(),
            report: self.report.clone(),
        }
    }

    /// A seeded split: the second part holds `fraction` of the rows (at least one, and at least one is left).
    /// Both parts keep the order of the data.
    pub fn split(&self, fraction: f64, seed: u64) -> (Dataset, Dataset) {
        let total = self.len();
        let held = ((total as f64 * fraction).round() as usize).clamp(1.min(total), total.saturating_sub(1));
        let mut order: Vec<usize> = (0..total).collect();
        Random::new(seed).shuffle(&mut order);
        let (held, kept) = order.split_at_mut(held);
        held.sort_unstable();
        kept.sort_unstable();
        (self.select(kept), self.select(held))
    }

    /// A hash of the data as read: labels, weights, and the indices and values of all entries that are not zero.
    /// It does not depend on format, compression, storage or threads.
    pub fn fingerprint(&self) -> String {
        let mut hash = Fingerprint::default();
        for i in 0..self.len() {
            hash.row(self.rows.row(i), self.labels.get(i).copied(), self.weight(i));
        }
        hash.finish(&self.names)
    }
}

/// The hash of a data set, built row by row, so that a stream has one too.
#[derive(Default)]
pub struct Fingerprint {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl Fingerprint {
    /// Adds a row.
    pub fn row(&mut self, row: super::Row<'_>, label: Option<u32>, weight: f64) {
        let buffer = &mut self.buffer;
        buffer.extend_from_slice(&label.unwrap_or(u32::MAX).to_le_bytes());
        buffer.extend_from_slice(&weight.to_le_bytes());
        let count_at = buffer.len();
        buffer.extend_from_slice(&[0; 8]);
        let mut count = 0u64;
        row.for_each_nonzero(|j, x| {
            buffer.extend_from_slice(&j.to_le_bytes());
            buffer.extend_from_slice(&x.to_le_bytes());
            count += 1;
        });
        buffer[count_at..count_at + 8].copy_from_slice(&count.to_le_bytes());
        if buffer.len() > 1 << 16 {
            self.hasher.update(buffer);
            buffer.clear();
        }
    }

    /// The hash, once all rows are in.
    pub fn finish(mut self, names: &Labels) -> String {
        self.hasher.update(&self.buffer);
        for name in names.names() {
            self.hasher.update(&(name.len() as u64).to_le_bytes());
            self.hasher.update(name.as_bytes());
        }
        format!("blake3:{}", self.hasher.finalize().to_hex())
    }
}
