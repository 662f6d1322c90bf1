//! The rows that a parser makes of one block, and what is wrong with the bad ones.

use crate::data::matrix::CompressedRows;
use crate::data::{Filled, Labels, Row, as_number, fits_f32};
use crate::features::Dictionary;
use std::ops::Range;

/// What the reader does about labels.
#[derive(Clone, Debug)]
pub(crate) enum Labelling {
    /// Every row has one; new ones are added.
    Open,
    /// Every row has one, and it is a number; new ones are added.
    Numbers,
    /// Rows may have one, which is ignored.
    Ignored,
}

/// Something wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// The line within the block, from 0.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What to do about text in another encoding.
pub(super) const CONVERT: &str = "convert it first: iconv -f LATIN1 -t UTF-8 FILE";

/// How many bad rows are kept as examples.
pub(super) const EXAMPLES: usize = 5;

/// Numbers of recent short labels, each in a slot given by the hash of its spelling.
#[derive(Debug, Default)]
struct LabelCache([(u64, u32); 32]);

impl LabelCache {
    /// The spelling as a number, which is never 0, if it is short, and its slot.
    #[inline(always)]
    fn key(token: &[u8]) -> Option<(u64, usize)> {
        (1..8).contains(&token.len()).then(|| {
            // The length stands before the bytes, so no two spellings are one number.
            let key = token.iter().fold(token.len() as u64, |key, byte| key << 8 | u64::from(*byte));
            (key, (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize)
        })
    }

    #[inline(always)]
    fn find(&self, token: &[u8]) -> Option<u32> {
        let (key, slot) = Self::key(token)?;
        Some(self.0[slot]).filter(|(cached, _)| *cached == key).map(|(_, id)| id)
    }

    fn insert(&mut self, token: &[u8], id: u32) {
        if let Some((key, slot)) = Self::key(token) {
            self.0[slot] = (key, id);
        }
    }
}

/// Rows of one block, in compressed sparse form. Memory is reused from block to block.
#[derive(Debug, Default)]
pub struct ParsedRows {
    /// Row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`.
    pub starts: Vec<usize>,
    /// Feature numbers, increasing within a row; local to the block where `local_features` names them.
    pub indices: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    /// A label per row (none if labels are ignored): in `local_labels` if those are open, else in the known
    /// ones.
    pub labels: Vec<u32>,
    /// Labels that appear first in this block.
    pub local_labels: Labels,
    /// The label last seen, as spelled, and its number: most labels are like the one before, or like one of
    /// the last few.
    last_label: (Vec<u8>, u32),
    recent: LabelCache,
    /// Row weights; empty while all are 1.
    pub weights: Vec<f64>,
    /// Names of features, where a dictionary is being built.
    pub local_features: Dictionary,
    /// Whether every value is exactly an `f32`.
    pub single: bool,
    /// Lines in the block, or records if those are binary; 0 if the parser has not counted them.
    pub lines: u64,
    /// Bytes in the block.
    pub bytes: u64,
    /// Whether a bad row ends the reading.
    pub strict: bool,
    /// Rows that were left out.
    pub bad_rows: u64,
    /// The first of those.
    pub bad: Vec<RowError>,
    /// How many good rows stand before each bad one.
    pub before_bad: Vec<usize>,
    /// The texts of the columns that are kept beside the rows, for every row, good or bad; none where a bad
    /// row's columns cannot be told apart.
    pub beside: Vec<Option<String>>,
    /// Rows with a query id.
    pub query_ids: u64,
    /// Entries of features that the schema does not know.
    pub unseen_features: u64,
    /// Missing values filled in.
    pub missing: u64,
    /// Entries of numbers that stand in place of missing ones, by row and feature.
    pub(crate) filled: Vec<Filled>,
    /// Memory for sorting: indices with their positions, and values.
    order: Vec<u64>,
    unsorted: Vec<f64>,
}

impl ParsedRows {
    /// No rows; if strict, a bad row ends the reading.
    pub fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// Removes all rows, for the next block.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.indices.clear();
        self.values.clear();
        self.labels.clear();
        self.local_labels.clear();
        self.last_label.0.clear();
        self.recent = LabelCache::default();
        self.weights.clear();
        self.local_features.clear();
        self.bad.clear();
        self.before_bad.clear();
        self.beside.clear();
        self.filled.clear();
        self.single = true;
        (self.lines, self.bytes, self.bad_rows) = (0, 0, 0);
        (self.query_ids, self.unseen_features, self.missing) = (0, 0, 0);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `r`.
    pub fn row(&self, r: usize) -> Row<'_> {
        let span = self.starts[r]..self.starts[r + 1];
        Row::Sparse64(&self.indices[span.clone()], &self.values[span])
    }

    /// The rows as a part of a matrix.
    pub(crate) fn compressed(&self) -> CompressedRows<'_> {
        let Self { starts, indices, values, single, .. } = self;
        CompressedRows { starts, indices, values, single: *single }
    }

    /// The weight of row `r`.
    pub fn weight(&self, r: usize) -> f64 {
        self.weights.get(r).copied().unwrap_or(1.0)
    }

    /// All rows in the order of the input: the number of each good one, `None` for each that was left out.
    pub fn in_order(&self) -> impl Iterator<Item = Option<usize>> {
        let (mut bad, mut next) = (self.before_bad.iter().peekable(), 0);
        std::iter::from_fn(move || {
            if bad.next_if(|before| **before <= next).is_some() {
                return Some(None);
            }
            next += 1;
            (next <= self.len()).then_some(Some(next - 1))
        })
    }

    /// The first bad row, if reading must end there.
    pub fn failure(&self) -> Option<&RowError> {
        if self.strict { self.bad.first() } else { None }
    }

    /// Adds an entry to the current row.
    #[inline(always)]
    pub fn entry(&mut self, index: u32, value: f64) {
        self.single = self.single && fits_f32(value);
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds entries to the current row.
    #[inline]
    pub fn entries(&mut self, indices: &[u32], values: &[f64]) {
        self.single = self.single && values.iter().all(|&value| fits_f32(value));
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
    }

    /// Gives the current row its label; `Err` says what is wrong with it.
    #[inline]
    pub(crate) fn set_label(
        &mut self,
        labelling: &Labelling,
        token: &[u8],
    ) -> Result<(), (String, Option<String>)> {
        if let Some(id) = self.recent.find(token) {
            self.labels.push(id);
            return Ok(());
        }
        if token == self.last_label.0 && !token.is_empty() {
            self.labels.push(self.last_label.1);
            return Ok(());
        }
        self.set_new_label(labelling, token)
    }

    fn set_new_label(&mut self, labelling: &Labelling, token: &[u8]) -> Result<(), (String, Option<String>)> {
        if matches!(labelling, Labelling::Ignored) {
            return Ok(());
        }
        let name = std::str::from_utf8(token)
            .map_err(|_| ("the label is not UTF-8".to_owned(), Some(CONVERT.to_owned())))?;
        if name.parse::<f64>().is_ok_and(|value| !value.is_finite()) {
            return Err((
                format!("the label {name:?} is not a finite number"),
                Some("is this the label? `skip_bad_rows` leaves such rows out".into()),
            ));
        }
        let id = match labelling {
            Labelling::Numbers if as_number(name).is_none() => {
                let hint = "is this the right label column? `skip_bad_rows` leaves such rows out";
                return Err((format!("the target {name:?} is not a number"), Some(hint.into())));
            }
            _ => self.local_labels.intern(name),
        };
        self.last_label.0.clear();
        self.last_label.0.extend_from_slice(token);
        self.last_label.1 = id;
        self.recent.insert(token, id);
        self.labels.push(id);
        Ok(())
    }

    /// Completes the current row.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.indices.len());
    }

    /// Gives the current row a weight; call before [`ParsedRows::end_row`].
    pub(crate) fn set_weight(&mut self, weight: f64) {
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.resize(self.len(), 1.0);
            self.weights.push(weight);
        }
    }

    /// Brings the entries of the current row into the order of their indices. Says which index comes twice,
    /// if one does.
    pub(crate) fn sort_row(&mut self) -> Result<(), u32> {
        let start = self.starts[self.len()];
        self.sort_entries(start..self.indices.len());
        match self.indices[start..].windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(pair[0]),
            None => Ok(()),
        }
    }

    /// Brings the entries of the current row into the order of their indices and adds up those of one
    /// index, in the order in which they came. Says for which index the sum is not finite, if there is one.
    pub(crate) fn merge_row(&mut self) -> Result<(), u32> {
        let start = self.starts[self.len()];
        self.sort_entries(start..self.indices.len());
        let mut end = start;
        for at in start..self.indices.len() {
            let (index, value) = (self.indices[at], self.values[at]);
            if end > start && self.indices[end - 1] == index {
                let sum = self.values[end - 1] + value;
                if !sum.is_finite() {
                    return Err(index);
                }
                self.values[end - 1] = sum;
                self.single &= fits_f32(sum);
            } else {
                (self.indices[end], self.values[end]) = (index, value);
                end += 1;
            }
        }
        self.indices.truncate(end);
        self.values.truncate(end);
        Ok(())
    }

    /// Gives feature `first + j` the number `first + numbers[j]`, for all of these. Different features must
    /// get different numbers. Rows are then in no order until they are [sorted](ParsedRows::sort_rows).
    pub(crate) fn renumber(&mut self, first: u32, numbers: &[u32]) {
        for index in self.indices.iter_mut().filter(|index| **index >= first) {
            *index = first + numbers[(*index - first) as usize];
        }
    }

    /// Brings the entries of every row into the order of their features.
    pub(crate) fn sort_rows(&mut self) {
        for r in 0..self.len() {
            self.sort_entries(self.starts[r]..self.starts[r + 1]);
        }
    }

    /// Sorts a span of entries by index; entries of one index stay in their order.
    fn sort_entries(&mut self, span: Range<usize>) {
        let indices = &mut self.indices[span.clone()];
        if indices.is_sorted() {
            return;
        }
        // One word an entry, index before position: words sort faster than pairs, and the order is stable.
        self.order.clear();
        self.order
            .extend(indices.iter().zip(0u64..).map(|(&index, position)| u64::from(index) << 32 | position));
        self.order.sort_unstable();
        let values = &mut self.values[span];
        self.unsorted.clear();
        self.unsorted.extend_from_slice(values);
        for ((index, value), &word) in indices.iter_mut().zip(values).zip(&self.order) {
            *index = (word >> 32) as u32;
            *value = self.unsorted[word as u32 as usize];
        }
    }

    /// Gives up the current row: its entries and label are taken back, the error is noted.
    /// True if reading goes on.
    #[cold]
    pub(crate) fn reject(&mut self, error: RowError) -> bool {
        let rows = self.len();
        self.indices.truncate(self.starts[rows]);
        self.values.truncate(self.starts[rows]);
        self.labels.truncate(rows);
        self.weights.truncate(rows);
        self.filled.truncate(self.filled.partition_point(|filled| filled.row < rows));
        self.bad_rows += 1;
        self.before_bad.push(rows);
        if self.bad.len() < EXAMPLES {
            self.bad.push(error);
        }
        !self.strict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Short and long, many more than are remembered, again and again.
        #[test]
        fn every_row_has_the_label_that_it_was_given(
            tokens in prop::collection::vec("[a-h]{1,2}|[a-c]{6,9}", 0..300),
        ) {
            let mut rows = ParsedRows::new(true);
            // What was remembered of another block means nothing here.
            for skipped in [1, 0] {
                rows.clear();
                for token in tokens.iter().skip(skipped) {
                    rows.set_label(&Labelling::Open, token.as_bytes()).unwrap();
                }
                let names: Vec<&String> =
                    rows.labels.iter().map(|id| &rows.local_labels.names()[*id as usize]).collect();
                prop_assert_eq!(names, tokens.iter().skip(skipped).collect::<Vec<_>>());
            }
        }

        /// Rows are known by their only index.
        #[test]
        fn good_and_bad_rows_come_in_their_order(are_good in prop::collection::vec(any::<bool>(), 0..50)) {
            let mut rows = ParsedRows::new(false);
            rows.clear();
            for (number, good) in are_good.iter().enumerate() {
                rows.entry(number as u32, 1.0);
                if *good {
                    rows.end_row();
                } else {
                    rows.reject(RowError { line: 0, column: 1, what: String::new(), hint: None });
                }
            }
            let index = |row: usize| rows.indices[rows.starts[row]] as usize;
            let seen: Vec<Option<usize>> = rows.in_order().map(|row| row.map(index)).collect();
            let numbered = are_good.iter().enumerate();
            let expected: Vec<_> = numbered.map(|(number, good)| good.then_some(number)).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
