//! A mini-batch, stored twice: by rows for the scores, by columns for the gradient.

use crate::data::Matrix;
use crate::model::entries_of;

/// Scaled rows, each with a last entry of 1 for the bias if there is one.
#[derive(Debug, Default)]
pub(super) struct MiniBatch {
    /// The numbers of the rows.
    pub(super) rows: Vec<u32>,
    starts: Vec<usize>,
    entries: Vec<(u32, f32)>,
    /// The columns that occur, in increasing order, with the range of their entries in `by_column`.
    pub(super) columns: Vec<Column>,
    by_column: Vec<(u32, f32)>,
    /// A count for every column; all zero between two batches.
    counts: Vec<u32>,
}

/// A column of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) number: u32,
    start: u32,
    end: u32,
}

impl MiniBatch {
    /// Replaces the rows by these rows of a matrix.
    pub(super) fn fill(&mut self, matrix: &Matrix, rows: &[u32], scales: &[f64], bias: Option<u32>) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.entries.clear();
        self.starts.clear();
        self.starts.push(0);
        for &i in rows {
            entries_of(matrix.row(i as usize), scales, |j, x| self.entries.push((j, x)));
            self.entries.extend(bias.map(|j| (j, 1.0)));
            self.starts.push(self.entries.len());
        }
        self.counts.resize(scales.len() + 1, 0);
        self.transpose();
    }

    /// Sorts the entries by column: a counting sort, which keeps the rows of a column in order.
    fn transpose(&mut self) {
        self.columns.clear();
        for &(j, _) in &self.entries {
            let count = &mut self.counts[j as usize];
            if *count == 0 {
                self.columns.push(Column { number: j, start: 0, end: 0 });
            }
            *count += 1;
        }
        self.columns.sort_unstable_by_key(|column| column.number);
        let mut start = 0;
        for column in &mut self.columns {
            let count = &mut self.counts[column.number as usize];
            (column.start, column.end) = (start, start + *count);
            start += std::mem::replace(count, column.start);
        }
        self.by_column.resize(self.entries.len(), (0, 0.0));
        for (row, span) in self.starts.windows(2).enumerate() {
            for &(j, x) in &self.entries[span[0]..span[1]] {
                let place = &mut self.counts[j as usize];
                self.by_column[*place as usize] = (row as u32, x);
                *place += 1;
            }
        }
        self.columns.iter().for_each(|column| self.counts[column.number as usize] = 0);
    }

    /// The entries of the row at this position: columns and values.
    pub(super) fn row(&self, place: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[place]..self.starts[place + 1]]
    }

    /// The entries of a column: positions of rows, and values.
    pub(super) fn column(&self, column: Column) -> &[(u32, f32)] {
        &self.by_column[column.start as usize..column.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use crate::random::Random;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_have_the_entries_of_the_rows(
            seed in any::<u64>(), sizes in prop::collection::vec(0usize..30, 1..4),
        ) {
            let (mut random, columns) = (Random::new(seed), 9u32);
            let mut builder = Builder::new(Layout::Sparse);
            for _ in 0..30 {
                let indices: Vec<u32> = (0..columns).filter(|_| random.below(3) == 0).collect();
                let values: Vec<f64> = indices.iter().map(|_| random.normal()).collect();
                builder.push(&indices, &values);
            }
            let mut matrix = builder.finish();
            matrix.widen(columns as usize);
            let scales: Vec<f64> = (0..columns).map(|j| f64::from(j + 1)).collect();
            let mut batch = MiniBatch::default();
            for size in sizes {
                let rows: Vec<u32> = (0..size).map(|_| random.below(30) as u32).collect();
                batch.fill(&matrix, &rows, &scales, (seed % 2 == 0).then_some(columns));
                let mut by_row = Vec::new();
                for place in 0..rows.len() {
                    by_row.extend(batch.row(place).iter().map(|&(j, x)| (j, place as u32, x.to_bits())));
                }
                by_row.sort_unstable();
                let mut by_column = Vec::new();
                for &column in &batch.columns {
                    let entries = batch.column(column).iter();
                    by_column.extend(entries.map(|&(i, x)| (column.number, i, x.to_bits())));
                }
                prop_assert_eq!(by_row, by_column);
            }
        }
    }
}
