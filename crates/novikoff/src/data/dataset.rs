//! A data set in memory: rows, their labels and weights, and what the reader noticed.

use super::labels::as_number;
use super::{Labels, Matrix, Row, Scale};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::random::Random;
use rayon::prelude::*;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64_with_seed;

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
    /// Width and height of the images that the rows are, where the input says so.
    pub image: Option<(u32, u32)>,
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

    /// The factors that bring columns to one size. The terms of documents have been weighed already, and stay as they are.
    pub fn factors(&self, scale: Scale) -> Vec<f64> {
        let mut factors = scale.factors(&self.rows, &self.row_weights);
        if let Schema::Text(text) = &self.schema {
            factors.truncate(text.first() as usize);
        }
        factors
    }

    /// Whether [`Dataset::factors`] are of all columns, if there are any.
    pub(crate) fn scales_all(&self) -> bool {
        !matches!(self.schema, Schema::Text(_))
    }

    /// The numbers that the rows' labels spell: what regression learns from.
    ///
    /// ```
    /// use novikoff::control::Unwatched;
    /// use novikoff::read::{Input, Options, Purpose, Reader};
    ///
    /// let input = Input::Bytes { name: "prices".into(), bytes: (*b"1.5 1:1\n-2e3 1:2\n+1.5 1:3\n").into() };
    /// let data = Reader::open(&input, &Options::default(), &Purpose::TrainingOnTargets)?.read(&mut Unwatched)?;
    /// assert_eq!(data.targets()?, [1.5, -2000.0, 1.5]);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn targets(&self) -> Result<Vec<f64>> {
        if self.labels.len() != self.len() {
            return Err(Error::input("the rows have no targets").hint("is this the right file, with its label column?"));
        }
        // A name that is not a number is found where a row has it: among the names alone there may be some of no row.
        let values: Vec<f64> = self.names.names().iter().map(|name| as_number(name).unwrap_or(f64::NAN)).collect();
        let targets: Vec<f64> = self.labels.iter().map(|&label| values[label as usize]).collect();
        match targets.iter().position(|target| target.is_nan()) {
            None => Ok(targets),
            Some(row) => {
                let name = &self.names.names()[self.labels[row] as usize];
                let what = format!("the target {name:?} of row {} is not a number", row + 1);
                Err(Error::input(what).hint("regression predicts numbers; is this the right label column?"))
            }
        }
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
        let of = |hasher: &mut RowHasher, i: usize| hasher.hash(self.rows.row(i), self.labels.get(i).copied(), self.weight(i));
        // Few at a time would forget too soon what they have hashed.
        let least = (self.len() / (2 * rayon::current_num_threads())).max(256);
        let waiting: Vec<[u8; 16]> =
            (0..self.len()).into_par_iter().with_min_len(least).map_init(RowHasher::default, of).collect();
        Fingerprint { waiting: waiting.into_flattened(), ..Fingerprint::default() }.finish(&self.names)
    }
}

/// The hash of a data set, built row by row, so that a stream has one too.
///
/// It tells data sets apart, it does not defend against forgers: a row is hashed by XXH3, fast enough to keep up with
/// learning, and the hashes of all rows by BLAKE3.
#[derive(Default)]
pub struct Fingerprint {
    rows: blake3::Hasher,
    /// Hashes on their way to the hasher.
    waiting: Vec<u8>,
    row: RowHasher,
}

/// The hash of one row, and room for what it needs of it.
#[derive(Default)]
struct RowHasher {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Hashes of values that are all one, by how many and which, and the row's weight: many bags of words are of one size.
    even: Vec<([u64; 3], u64)>,
}

impl RowHasher {
    fn hash(&mut self, row: Row<'_>, label: Option<u32>, weight: f64) -> [u8; 16] {
        let (indices, values) = match row {
            // Without a way out at the first zero, several are compared at a time.
            Row::Sparse64(indices, values) if !values.iter().fold(false, |zero, x| zero | (*x == 0.0)) => {
                (indices, of_values(values, weight))
            }
            Row::Even(indices, value) if value != 0.0 => (indices, self.of_even(indices.len(), value, weight)),
            Row::Tailed64(indices, first, rest) if rest != 0.0 && first.iter().all(|x| *x != 0.0) => {
                self.values.clear();
                self.values.extend_from_slice(first);
                self.values.resize(indices.len(), rest);
                (indices, of_values(&self.values, weight))
            }
            _ => {
                self.indices.clear();
                self.values.clear();
                row.for_each_nonzero(|j, x| {
                    self.indices.push(j);
                    self.values.push(x);
                });
                (self.indices.as_slice(), of_values(&self.values, weight))
            }
        };
        let indices = xxh3_64_with_seed(&little_endian(indices), u64::from(label.unwrap_or(u32::MAX)));
        let mut hash = [0; 16];
        hash[..8].copy_from_slice(&indices.to_le_bytes());
        hash[8..].copy_from_slice(&values.to_le_bytes());
        hash
    }

    /// The hash of so many values that are all this one.
    fn of_even(&mut self, count: usize, value: f64, weight: f64) -> u64 {
        const SLOTS: usize = 1024;
        let key = [count as u64, value.to_bits(), weight.to_bits()];
        // No row has as many values as this.
        self.even.resize(SLOTS, ([u64::MAX; 3], 0));
        let slot = count % SLOTS;
        if self.even[slot].0 != key {
            self.values.clear();
            self.values.resize(count, value);
            self.even[slot] = (key, of_values(&self.values, weight));
        }
        self.even[slot].1
    }
}

fn of_values(values: &[f64], weight: f64) -> u64 {
    xxh3_64_with_seed(&little_endian(values), weight.to_bits())
}

impl Fingerprint {
    /// Adds a row.
    pub fn row(&mut self, row: Row<'_>, label: Option<u32>, weight: f64) {
        self.waiting.extend_from_slice(&self.row.hash(row, label, weight));
        if self.waiting.len() >= 1 << 14 {
            self.rows.update(&self.waiting);
            self.waiting.clear();
        }
    }

    /// The hash, once all rows are in.
    pub fn finish(mut self, names: &Labels) -> String {
        self.rows.update_rayon(&self.waiting);
        for name in names.names() {
            self.rows.update(&(name.len() as u64).to_le_bytes());
            self.rows.update(name.as_bytes());
        }
        format!("rows:{}", self.rows.finalize().to_hex())
    }
}

/// The bytes of numbers, the lowest first, on any machine.
pub(crate) fn little_endian<T: bytemuck::NoUninit>(numbers: &[T]) -> Cow<'_, [u8]> {
    let bytes = bytemuck::cast_slice::<T, u8>(numbers);
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.chunks_exact(size_of::<T>()).flat_map(|number| number.iter().rev().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    fn hash(rows: &[Vec<i8>], labels: &[u32], layout: Layout) -> String {
        let mut builder = Builder::new(layout);
        for row in rows {
            // Stored zeros in the sparse layout: they must not count.
            let indices: Vec<u32> = (0..row.len() as u32).collect();
            builder.push(&indices, &row.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        }
        let matrix = builder.finish();
        let mut fingerprint = Fingerprint::default();
        for (i, &label) in labels.iter().enumerate() {
            fingerprint.row(matrix.row(i), Some(label), 1.0);
        }
        fingerprint.finish(&Labels::new(["a", "b"]))
    }

    proptest! {
        #[test]
        fn the_fingerprint_sees_every_value_and_no_storage(
            rows in prop::collection::vec(prop::collection::vec(-2i8..3, 4), 1..20), at in any::<prop::sample::Index>(), column in 0usize..4,
        ) {
            let labels: Vec<u32> = (0..rows.len() as u32).map(|i| i % 2).collect();
            let (sparse, dense) = (Layout::Sparse, Layout::Dense { columns: 4 });
            let expected = hash(&rows, &labels, sparse);
            prop_assert_eq!(&hash(&rows, &labels, dense), &expected);
            let row = at.index(rows.len());
            let mut changed = rows.clone();
            changed[row][column] += 1;
            prop_assert_ne!(&hash(&changed, &labels, sparse), &expected);
            let mut relabelled = labels.clone();
            relabelled[row] ^= 1;
            prop_assert_ne!(&hash(&rows, &relabelled, sparse), &expected);
        }
    }
}
