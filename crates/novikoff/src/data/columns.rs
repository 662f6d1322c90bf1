//! Something for every column, out of all its entries.

use super::{Matrix, Row};
use rayon::prelude::*;
use std::ops::Range;

/// Most parts that columns are dealt out in: finding where each begins in a row takes its time.
const MOST_PARTS: usize = 16;
/// Rows that tell how entries are spread over the columns, and how many of their entries do.
const SAMPLE_ROWS: usize = 64;
const SAMPLE: usize = 4096;

impl Matrix {
    /// What is made of `empty` for each column by all its entries that are not zero, in the order of the
    /// rows. Of a row's number `of_row` makes what adds its entries, given the column's number, what is there
    /// of it, and the value: what all entries of a row need is done once.
    ///
    /// Tasks take some of the columns each, of all rows, so there is one vector, whatever the threads. That
    /// is the way where columns are so many that vectors of them are the larger part of the work; where they
    /// are few, blocks of rows are.
    ///
    /// ```
    /// use novikoff::data::matrix::{Builder, Layout};
    /// let mut rows = Builder::new(Layout::Sparse);
    /// rows.push(&[0, 2], &[1.0, 5.0]);
    /// rows.push(&[2], &[7.0]);
    /// let sums = rows.finish().by_column(0.0, |_| |_, sum: &mut f64, x| *sum += x);
    /// assert_eq!(sums, [1.0, 0.0, 12.0]);
    /// ```
    pub fn by_column<C, A>(&self, empty: C, of_row: impl Fn(usize) -> A + Sync) -> Vec<C>
    where
        C: Clone + Send + Sync,
        A: FnMut(usize, &mut C, f64),
    {
        let mut found: Vec<C> = rayon::iter::repeat_n(empty, self.columns()).with_min_len(1 << 14).collect();
        let mut rest = &mut found[..];
        let mut parts = Vec::new();
        for span in self.spans() {
            let (own, others) = rest.split_at_mut(span.len());
            parts.push((span, own));
            rest = others;
        }
        parts.into_par_iter().for_each(|(span, own)| {
            let first = span.start;
            for i in 0..self.rows() {
                let mut add = of_row(i);
                let add = |j: u32, x: f64| {
                    if x != 0.0 {
                        add(j as usize, &mut own[j as usize - first], x);
                    }
                };
                // The first and the last part need not look for where they end or begin, which takes as long
                // as a hundred entries.
                match (first, span.end) {
                    (0, end) => self.row(i).for_each_below(end, add),
                    (_, end) if end == self.columns() => self.row(i).for_each_down_to(first, add),
                    _ => self.row(i).for_each_within(span.clone(), add),
                }
            }
        });
        found
    }

    /// All columns, in parts that have about as many entries each, going by some of the rows.
    fn spans(&self) -> Vec<Range<usize>> {
        let rows = || (0..self.rows()).step_by((self.rows() / SAMPLE_ROWS).max(1)).map(|i| self.row(i));
        // All other threads wait for this.
        let every = rows().map(Row::len).sum::<usize>() / SAMPLE + 1;
        let (mut sample, mut count) = (Vec::new(), 0);
        for row in rows() {
            row.for_each_nonzero(|j, _| {
                if count % every == 0 {
                    sample.push(j as usize);
                }
                count += 1;
            });
        }
        sample.sort_unstable();
        let parts = rayon::current_num_threads().min(MOST_PARTS);
        let mut starts: Vec<usize> =
            (1..parts).filter_map(|part| sample.get(sample.len() * part / parts).copied()).collect();
        starts.insert(0, 0);
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([self.columns()]);
        starts.iter().zip(ends).map(|(&start, end)| start..end).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_entry_is_added_once_and_in_order(
            rows in prop::collection::vec(prop::collection::btree_map(0u32..40, -3i8..4, 0..12), 0..200),
            dense in any::<bool>(),
        ) {
            let mut builder = Builder::new(if dense { Layout::Dense { columns: 40 } } else { Layout::Sparse });
            let mut expected = vec![Vec::new(); 40];
            for (i, row) in rows.iter().enumerate() {
                let entries: Vec<(u32, f64)> = row.iter().map(|(j, x)| (*j, f64::from(*x))).filter(|(_, x)| *x != 0.0).collect();
                entries.iter().for_each(|(j, x)| expected[*j as usize].push((i, *j as usize, *x)));
                let (indices, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
                builder.push(&indices, &values);
            }
            let mut matrix = builder.finish();
            matrix.widen(40);
            let columns = matrix.columns();
            let collect = |i| move |j, seen: &mut Vec<_>, x| seen.push((i, j, x));
            let found = matrix.by_column(Vec::new(), collect);
            prop_assert_eq!(&found[..], &expected[..columns]);
            prop_assert!(matches!(columns, 0 | 40));
        }
    }
}
