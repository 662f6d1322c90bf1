//! One value for every column, computed from all entries of the column.

use super::row::{SparseValues, by_storage};
use super::{Matrix, Row, wide};
use rayon::prelude::*;
use std::ops::Range;

/// Most spans that columns are divided into: finding where each begins in a row takes time.
const MOST_SPANS: usize = 16;
/// Rows that show how entries are spread over the columns, and how many of their entries are looked at.
const SAMPLE_ROWS: usize = 64;
const SAMPLE: usize = 4096;

impl Matrix<'_> {
    /// A value for each column, which starts as `empty` and is updated by every entry of the column that is
    /// not zero, in the order of the rows. `of_row` makes the update of a row's entries, given the column's
    /// number, its value so far and the entry: what all entries of a row need is computed once.
    ///
    /// Each task takes some of the columns, of all rows, so there is one vector whatever the number of
    /// threads. That pays where columns are so many that vectors of them cost more than the entries; where
    /// they are few, blocks of rows are faster.
    pub(crate) fn by_column<C, A>(&self, empty: C, of_row: impl Fn(usize) -> A + Sync) -> Vec<C>
    where
        C: Clone + Send + Sync,
        A: FnMut(usize, &mut C, f64),
    {
        let mut all: Vec<C> = rayon::iter::repeat_n(empty, self.columns()).with_min_len(1 << 14).collect();
        let mut rest = &mut all[..];
        let mut tasks = Vec::new();
        for span in self.column_spans() {
            let (own, others) = rest.split_at_mut(span.len());
            tasks.push((span, own));
            rest = others;
        }
        tasks.into_par_iter().for_each(|(span, own)| self.update_columns(span, own, &of_row));
        all
    }

    /// Updates the values of the columns within `span`.
    fn update_columns<C, A>(&self, span: Range<usize>, own: &mut [C], of_row: impl Fn(usize) -> A)
    where
        A: FnMut(usize, &mut C, f64),
    {
        let first = span.start;
        for i in 0..self.rows() {
            let mut update = of_row(i);
            let add = |j: u32, x: f64| {
                if x != 0.0 {
                    update(j as usize, &mut own[j as usize - first], x);
                }
            };
            // The first and the last span need no search for their end or start in the row, which takes as
            // long as a hundred entries.
            match (first, span.end) {
                (0, end) => for_each_below(self.row(i), end, add),
                (_, end) if end == self.columns() => for_each_from_last(self.row(i), first, add),
                _ => for_each_within(self.row(i), span.clone(), add),
            }
        }
    }

    /// All columns, in spans of about as many entries each, estimated from some of the rows.
    fn column_spans(&self) -> Vec<Range<usize>> {
        let rows = || (0..self.rows()).step_by((self.rows() / SAMPLE_ROWS).max(1)).map(|i| self.row(i));
        // All other threads wait for this, so the sample is small.
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
        let spans = rayon::current_num_threads().min(MOST_SPANS);
        let mut starts: Vec<usize> =
            (1..spans).filter_map(|span| sample.get(sample.len() * span / spans).copied()).collect();
        starts.insert(0, 0);
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([self.columns()]);
        starts.iter().zip(ends).map(|(&start, end)| start..end).collect()
    }
}

/// Calls `visit` with index and value of every stored entry whose index lies within `span`, in the order of
/// the indices.
#[inline]
pub(crate) fn for_each_within(row: Row<'_>, span: Range<usize>, mut visit: impl FnMut(u32, f64)) {
    let dense = |length: usize| span.start.min(length)..span.end.min(length);
    match row {
        Row::Dense32(x) => dense(x.len()).for_each(|j| visit(j as u32, x[j].into())),
        Row::Dense64(x) => dense(x.len()).for_each(|j| visit(j as u32, x[j])),
        Row::Sparse32(j, x) => {
            let part = within(j, &span);
            Row::Sparse32(&j[part.clone()], &x[part]).for_each_stored(visit);
        }
        Row::Sparse64(j, x) => {
            let part = within(j, &span);
            Row::Sparse64(&j[part.clone()], &x[part]).for_each_stored(visit);
        }
        Row::Uniform(j, x) => Row::Uniform(&j[within(j, &span)], x).for_each_stored(visit),
    }
}

/// Where the indices within `span` are.
fn within(indices: &[u32], span: &Range<usize>) -> Range<usize> {
    let end = count_below(indices, span.end);
    count_below(&indices[..end], span.start)..end
}

/// How many indices are below a limit. Most limits are before the first index or after the last, where no
/// search is needed.
fn count_below(indices: &[u32], limit: usize) -> usize {
    match (indices.first(), indices.last()) {
        (Some(&first), _) if first as usize >= limit => 0,
        (_, Some(&last)) if (last as usize) < limit => indices.len(),
        _ => indices.partition_point(|&j| (j as usize) < limit),
    }
}

/// Calls `visit` with index and value of every stored entry whose index is below `end`, without a search for
/// that place.
#[inline]
fn for_each_below(row: Row<'_>, end: usize, mut visit: impl FnMut(u32, f64)) {
    by_storage!(row,
    dense(x) => x.iter().enumerate().take(end).for_each(|(j, &x)| visit(j as u32, wide(x))),
    sparse(j, x) => for (at, &j) in j.iter().enumerate() {
        if j as usize >= end {
            return;
        }
        visit(j, x.at(at));
    })
}

/// Calls `visit` with index and value of every stored entry whose index is `start` or above, from the last
/// one back, without a search for that place.
#[inline]
fn for_each_from_last(row: Row<'_>, start: usize, mut visit: impl FnMut(u32, f64)) {
    by_storage!(row,
    dense(x) => x.iter().enumerate().skip(start).rev().for_each(|(j, &x)| visit(j as u32, wide(x))),
    sparse(j, x) => for (at, &j) in j.iter().enumerate().rev() {
        if (j as usize) < start {
            return;
        }
        visit(j, x.at(at));
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fixture::{Storages, one_value, same_for_both};
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    /// The entries of three visits: below and from a column on, and within a span.
    fn visits(row: Row<'_>, at: usize, span: Range<usize>) -> [Vec<(u32, u64)>; 3] {
        let mut entries = [Vec::new(), Vec::new(), Vec::new()];
        for_each_below(row, at, |j, x| entries[0].push((j, x.to_bits())));
        for_each_from_last(row, at, |j, x| entries[1].push((j, x.to_bits())));
        for_each_within(row, span, |j, x| entries[2].push((j, x.to_bits())));
        entries
    }

    proptest! {
        #[test]
        fn spans_of_every_storage_have_the_entries_within_them(
            values in prop::collection::vec(-4i8..5, 0..70),
            at in 0usize..80,
            span in (0usize..80, 0usize..80),
        ) {
            let span = span.0.min(span.1)..span.1;
            for row in Storages::new(&values).rows() {
                let mut all = Vec::new();
                row.for_each_stored(|j, x| all.push((j, x.to_bits())));
                let of = |span: Range<usize>| {
                    all.iter().copied().filter(move |(j, _)| span.contains(&(*j as usize)))
                };
                let [below, from_last, within] = visits(row, at, span.clone());
                prop_assert!(
                    of(0..at).eq(below) && of(at..80).rev().eq(from_last) && of(span.clone()).eq(within)
                );
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(), at in 0usize..100, span in (0usize..100, 0usize..100),
        ) {
            prop_assert!(same_for_both(&rows, |row| visits(row, at, span.0.min(span.1)..span.1)));
        }

        #[test]
        fn every_entry_is_added_once_and_in_order(
            rows in prop::collection::vec(prop::collection::btree_map(0u32..40, -3i8..4, 0..12), 0..200),
            dense in any::<bool>(),
        ) {
            let mut builder =
                Builder::new(if dense { Layout::Dense { columns: 40 } } else { Layout::Sparse });
            let mut expected = vec![Vec::new(); 40];
            for (i, row) in rows.iter().enumerate() {
                let entries: Vec<(u32, f64)> =
                    row.iter().map(|(j, x)| (*j, f64::from(*x))).filter(|(_, x)| *x != 0.0).collect();
                entries.iter().for_each(|(j, x)| expected[*j as usize].push((i, *j as usize, *x)));
                let (indices, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
                builder.push(&indices, &values);
            }
            let mut matrix = builder.finish();
            matrix.widen(40);
            let columns = matrix.columns();
            let collect = |i| move |j, entries: &mut Vec<_>, x| entries.push((i, j, x));
            prop_assert_eq!(&matrix.by_column(Vec::new(), collect)[..], &expected[..columns]);
            prop_assert!(matches!(columns, 0 | 40));
        }
    }
}
