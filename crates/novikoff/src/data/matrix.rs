//! The rows of a data set, contiguous in memory, in the narrowest form that loses nothing.

mod builder;
mod transform;

pub(crate) use builder::CompressedRows;
pub use builder::{Builder, Layout};
pub(crate) use transform::for_each_moved;

use super::{Float, Row, fits_f32};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Values of one precision, owned or borrowed. A vector, a slice and an array become such by `into`.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// Single precision.
    F32(Cow<'a, [f32]>),
    /// Double precision.
    F64(Cow<'a, [f64]>),
}

/// Every form in which values of one precision are handed over.
macro_rules! values_from {
    ($float:ident, $precision:ident) => {
        impl From<Vec<$float>> for Values<'_> {
            fn from(values: Vec<$float>) -> Self {
                Values::$precision(values.into())
            }
        }

        impl<'a> From<&'a [$float]> for Values<'a> {
            fn from(values: &'a [$float]) -> Self {
                Values::$precision(values.into())
            }
        }

        impl<'a> From<&'a Vec<$float>> for Values<'a> {
            fn from(values: &'a Vec<$float>) -> Self {
                Values::$precision(values.into())
            }
        }

        impl<'a, const N: usize> From<&'a [$float; N]> for Values<'a> {
            fn from(values: &'a [$float; N]) -> Self {
                Values::$precision(values.into())
            }
        }
    };
}

values_from!(f32, F32);
values_from!(f64, F64);

impl Values<'_> {
    /// The same values, owned.
    pub(crate) fn into_owned(self) -> Values<'static> {
        match self {
            Values::F32(v) => Values::from(v.into_owned()),
            Values::F64(v) => Values::from(v.into_owned()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// The place and value of the first that is infinite or NaN.
    pub(super) fn first_non_finite(&self) -> Option<(usize, f64)> {
        match self {
            Values::F32(v) => v.iter().position(|x| !x.is_finite()).map(|at| (at, v[at].into())),
            Values::F64(v) => v.iter().position(|x| !x.is_finite()).map(|at| (at, v[at])),
        }
    }

    /// The same values in single precision, if it holds all of them exactly.
    pub(super) fn narrowed(self) -> Self {
        match self {
            Values::F64(v) if v.iter().all(|&x| fits_f32(x)) => {
                Values::from(v.iter().map(|&x| x as f32).collect::<Vec<_>>())
            }
            as_given => as_given,
        }
    }

    /// One value for each row instead of one for each entry, if that loses nothing.
    fn one_per_row(&self, starts: &[usize]) -> Option<Values<'static>> {
        match self {
            Values::F32(v) => one_per_row(starts, v).map(Values::from),
            Values::F64(v) => one_per_row(starts, v).map(Values::from),
        }
    }
}

/// Rows in one block of memory: dense, or compressed sparse rows with 32-bit indices. The memory may be
/// borrowed.
///
/// Two are equal if they have the same layout, precision and entries.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    rows: usize,
    columns: usize,
    /// `None`: dense.
    sparse: Option<Sparse<'a>>,
    values: Values<'a>,
}

/// The places of the entries of sparse rows.
#[derive(Clone, Debug)]
pub(crate) struct Sparse<'a> {
    /// Where each row starts in `indices`, and the end of the last.
    pub(crate) starts: Cow<'a, [usize]>,
    pub(crate) indices: Cow<'a, [u32]>,
    pub(crate) values_per: ValuesPer,
}

/// What a value is stored for.
///
/// Bags of words and tables of yes and no have one value in a row. Learning waits for memory, and such rows
/// take a third of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ValuesPer {
    /// One value for all entries of a row, 0 for an empty row: every row is uniform.
    Row,
    /// A value for each entry.
    Entry,
}

impl Sparse<'_> {
    fn new() -> Self {
        Self { starts: vec![0].into(), indices: Vec::new().into(), values_per: ValuesPer::Row }
    }

    /// Where the entries of row `i` are.
    #[inline(always)]
    pub(crate) fn span(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Where the values of some rows are.
    pub(crate) fn value_span(&self, rows: Range<usize>) -> Range<usize> {
        match self.values_per {
            ValuesPer::Row => rows,
            ValuesPer::Entry => self.starts[rows.start]..self.starts[rows.end],
        }
    }

    /// The values of the entries of row `i`, one for each.
    pub(crate) fn row_values<'v, V: Copy>(
        &self,
        values: &'v [V],
        i: usize,
    ) -> impl Iterator<Item = V> + use<'v, V> {
        let stored = &values[self.value_span(i..i + 1)];
        // The one value of a uniform row as often as it has entries; else each value once.
        stored.iter().copied().cycle().take(self.span(i).len())
    }
}

/// Whether all values of a row have the same bits.
fn is_uniform<V: Float>(row: &[V]) -> bool {
    let bits = |x: V| x.into().to_bits();
    row.first().is_none_or(|&first| row.iter().all(|&x| bits(x) == bits(first)))
}

/// The one value of each row, 0 for an empty one, if all of them are uniform. `values` begin where the first
/// row does.
fn one_per_row<V: Float>(starts: &[usize], values: &[V]) -> Option<Vec<V>> {
    let rows = || rows_of(starts, values);
    rows().all(is_uniform).then(|| rows().map(|row| row.first().copied().unwrap_or_default()).collect())
}

/// The values of each row; `values` begin where the first row does.
fn rows_of<'v, V>(starts: &'v [usize], values: &'v [V]) -> impl Iterator<Item = &'v [V]> {
    starts.windows(2).map(|span| &values[span[0] - starts[0]..span[1] - starts[0]])
}

/// Row `i` of so many dense ones.
#[inline(always)]
pub(crate) fn dense_row<V>(values: &[V], i: usize, rows: usize, columns: usize) -> &[V] {
    assert!(i < rows, "row {i} of {rows}");
    &values[i * columns..(i + 1) * columns]
}

impl<'a> Matrix<'a> {
    /// A sparse matrix: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`, with indices that
    /// increase strictly and lie below `columns`. The error says what is wrong with them.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let values = Values::from(&[1.0_f32, 2.0, 3.0]);
    /// let matrix = Matrix::from_compressed(5, &[0, 2, 3], &[0, 4, 1], values.clone()).unwrap();
    /// assert_eq!((matrix.rows(), matrix.columns(), matrix.row(0).norm_sq()), (2, 5, 5.0));
    /// assert!(Matrix::from_compressed(4, &[0, 2, 3], &[0, 4, 1], values).is_err());
    /// ```
    pub fn from_compressed(
        columns: usize,
        starts: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Values<'a>>,
    ) -> Result<Self, String> {
        let (starts, indices, values) = (starts.into(), indices.into(), values.into());
        if indices.len() != values.len() {
            return Err(format!("{} indices for {} values", indices.len(), values.len()));
        }
        if starts.first() != Some(&0) || starts.last() != Some(&indices.len()) || !starts.is_sorted() {
            return Err(format!("the starts of the rows do not rise from 0 to {}", indices.len()));
        }
        for (row, span) in starts.windows(2).enumerate() {
            let indices = &indices[span[0]..span[1]];
            if !indices.is_sorted_by(|a, b| a < b) {
                return Err(format!("the indices of row {row} do not increase strictly"));
            }
            if indices.last().is_some_and(|&last| last as usize >= columns) {
                return Err(format!("row {row} has an index beyond the {columns} columns"));
            }
        }
        Ok(Self::from_entries(columns, starts, indices, values))
    }

    /// Dense rows, one after the other, of so many columns each, whatever their values are: only for rows that
    /// are scored, where a value that is no number shows in the score. `None` if they do not make whole rows.
    pub fn dense(columns: usize, values: impl Into<Values<'a>>) -> Option<Self> {
        let values = values.into();
        (columns > 0 && values.len().is_multiple_of(columns)).then(|| Self::from_rows(columns, values))
    }

    /// Dense rows, one after the other, of as many columns each as divide the number of values.
    pub(super) fn from_rows(columns: usize, values: Values<'a>) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        Self { rows, columns, sparse: None, values }
    }

    /// A sparse matrix with a value for each entry, whose indices are known to be right.
    pub(crate) fn from_entries(
        columns: usize,
        starts: Cow<'a, [usize]>,
        indices: Cow<'a, [u32]>,
        values: Values<'a>,
    ) -> Self {
        match values.one_per_row(&starts) {
            Some(values) => {
                Self::from_storage(columns, Sparse { starts, indices, values_per: ValuesPer::Row }, values)
            }
            None => {
                Self::from_storage(columns, Sparse { starts, indices, values_per: ValuesPer::Entry }, values)
            }
        }
    }

    /// A sparse matrix of this storage.
    pub(crate) fn from_storage(columns: usize, sparse: Sparse<'a>, values: Values<'a>) -> Self {
        Self { rows: sparse.starts.len() - 1, columns, sparse: Some(sparse), values }
    }

    /// The places of sparse entries (`None` for dense rows), and the values.
    #[inline(always)]
    pub(crate) fn storage(&self) -> (Option<&Sparse<'a>>, &Values<'a>) {
        (self.sparse.as_ref(), &self.values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: one more than the largest index, or as many as the format says.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Raises the number of columns to at least this many (a model may know more features than a file has).
    pub fn widen(&mut self, columns: usize) {
        if self.sparse.is_some() {
            self.columns = self.columns.max(columns);
        }
    }

    /// Number of stored entries.
    pub fn stored(&self) -> usize {
        self.sparse.as_ref().map_or(self.values.len(), |s| s.indices.len())
    }

    /// Number of entries that are not zero.
    pub fn nonzeros(&self) -> usize {
        (0..self.rows).into_par_iter().with_min_len(1024).map(|i| self.row(i).nonzeros()).sum()
    }

    /// Whether the entries of each row have one value, which is stored once.
    pub fn is_uniform(&self) -> bool {
        self.sparse.as_ref().is_some_and(|s| s.values_per == ValuesPer::Row)
    }

    /// Whether values are stored in single precision.
    pub fn is_single(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Whether every column of every row is stored.
    pub fn is_dense(&self) -> bool {
        self.sparse.is_none()
    }

    /// Bytes that the rows take in memory.
    pub fn bytes(&self) -> usize {
        let width = if self.is_single() { 4 } else { 8 };
        let index_bytes =
            self.sparse.as_ref().map_or(0, |s| s.starts.len() * size_of::<usize>() + s.indices.len() * 4);
        self.values.len() * width + index_bytes
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let Matrix { rows, columns, sparse, values } = self;
        let Some(sparse) = sparse else {
            return match values {
                Values::F32(v) => Row::Dense32(dense_row(v, i, *rows, *columns)),
                Values::F64(v) => Row::Dense64(dense_row(v, i, *rows, *columns)),
            };
        };
        let indices = &sparse.indices[sparse.span(i)];
        match (values, sparse.values_per) {
            (Values::F32(v), ValuesPer::Entry) => Row::Sparse32(indices, &v[sparse.span(i)]),
            (Values::F64(v), ValuesPer::Entry) => Row::Sparse64(indices, &v[sparse.span(i)]),
            (Values::F32(v), ValuesPer::Row) => Row::Uniform(indices, v[i].into()),
            (Values::F64(v), ValuesPer::Row) => Row::Uniform(indices, v[i]),
        }
    }

    /// The same rows in memory of their own.
    pub fn into_owned(self) -> Matrix<'static> {
        let sparse = self.sparse.map(|s| Sparse {
            starts: Cow::Owned(s.starts.into_owned()),
            indices: Cow::Owned(s.indices.into_owned()),
            values_per: s.values_per,
        });
        Matrix { rows: self.rows, columns: self.columns, sparse, values: self.values.into_owned() }
    }

    /// Whether row `i` has the same stored values as row `i` of another matrix.
    fn has_values_of(&self, other: &Matrix, i: usize) -> bool {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        self.row(i).for_each_stored(|_, x| own.push(x));
        other.row(i).for_each_stored(|_, x| others.push(x));
        own == others
    }
}

impl PartialEq for Matrix<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_places = match (&self.sparse, &other.sparse) {
            (Some(own), Some(others)) => own.starts == others.starts && own.indices == others.indices,
            (own, others) => own.is_none() && others.is_none(),
        };
        (self.rows, self.columns, self.is_single(), self.is_uniform())
            == (other.rows, other.columns, other.is_single(), other.is_uniform())
            && same_places
            && (0..self.rows).all(|i| self.has_values_of(other, i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored entries of a row.
    fn entries(matrix: &Matrix, row: usize) -> Vec<(u32, f64)> {
        let mut entries = Vec::new();
        matrix.row(row).for_each_stored(|j, x| entries.push((j, x)));
        entries
    }

    fn sparse(rows: &[(&[u32], &[f64])]) -> Matrix<'static> {
        let mut builder = Builder::new(Layout::Sparse);
        rows.iter().for_each(|(indices, values)| builder.push(indices, values));
        builder.finish()
    }

    /// One after the other into the same matrix, from every form to every other.
    #[test]
    fn a_refilled_matrix_has_the_rows_and_the_form_of_the_other() {
        let even: [(&[u32], &[f64]); 3] = [(&[0, 2], &[1.0, 1.0]), (&[], &[]), (&[1], &[0.5])];
        let single: [(&[u32], &[f64]); 3] =
            [(&[0, 2, 3, 4], &[1.0, 2.0, 2.0, 2.0]), (&[], &[]), (&[1], &[0.5])];
        let double: [(&[u32], &[f64]); 3] =
            [(&[0, 2, 3, 4], &[0.1, 0.7, 0.7, 0.7]), (&[1], &[0.3]), (&[0, 4], &[0.5, 0.2])];
        let all = [even, single, double];
        let mut forms: Vec<Matrix> = all.iter().map(|rows| sparse(rows)).collect();
        forms.extend(all.iter().map(|rows| sparse(rows).into_dense()));
        for first in &forms {
            for second in &forms {
                let mut page = first.clone();
                page.refill(second, &[2, 0, 1, 1]);
                assert_eq!(page, second.select([2, 0, 1, 1]));
                page.refill(second, &[0, 1, 2]);
                assert_eq!((&page, page.bytes()), (second, second.bytes()));
            }
        }
    }

    /// Even or not, single or double: whatever came first, a later row that needs more loses nothing of it.
    #[test]
    fn storage_is_the_narrowest_until_a_row_needs_more_and_nothing_is_lost() {
        let even_single: (&[u32], &[f64]) = (&[1, 4], &[-2.0, -2.0]);
        let even_double: (&[u32], &[f64]) = (&[0, 2, 5], &[0.1, 0.1, 0.1]);
        let single: (&[u32], &[f64]) = (&[0, 3], &[0.5, 16_777_216.0]);
        let double: (&[u32], &[f64]) = (&[2, 9], &[0.1, 1.0]);
        let empty: (&[u32], &[f64]) = (&[], &[]);
        let kinds = [even_single, even_double, single, double, empty];
        for many in 0..kinds.len().pow(4) {
            let rows: Vec<_> =
                (0..4).map(|place| kinds[many / kinds.len().pow(place) % kinds.len()]).collect();
            let matrix = sparse(&rows);
            let none = |kinds: [(&[u32], &[f64]); 2]| rows.iter().all(|row| !kinds.contains(row));
            assert_eq!(matrix.is_uniform(), none([single, double]), "{rows:?}");
            assert_eq!(matrix.is_single(), none([even_double, double]), "{rows:?}");
            assert_eq!(matrix.stored(), rows.iter().map(|row| row.0.len()).sum::<usize>());
            assert_eq!((matrix.rows(), matrix.nonzeros()), (4, matrix.stored()));
            for (i, (indices, values)) in rows.iter().enumerate() {
                let expected: Vec<_> = indices.iter().copied().zip(values.iter().copied()).collect();
                assert_eq!(entries(&matrix, i), expected, "{rows:?}");
                assert_eq!(matches!(matrix.row(i), Row::Uniform(..)), matrix.is_uniform());
            }
            let (starts, indices, values) =
                rows.iter().fold((vec![0], vec![], vec![]), |(mut s, mut j, mut x), row| {
                    j.extend_from_slice(row.0);
                    x.extend_from_slice(row.1);
                    s.push(j.len());
                    (s, j, x)
                });
            let mut at_once = Builder::new(Layout::Sparse);
            let single = values.iter().all(|&x| fits_f32(x));
            at_once.append(CompressedRows { starts: &starts, indices: &indices, values: &values, single });
            assert_eq!(at_once.finish(), matrix, "appended at once");
            let values = if matrix.is_single() {
                Values::from(values.iter().map(|&x| x as f32).collect::<Vec<_>>())
            } else {
                Values::from(values)
            };
            assert_eq!(
                Matrix::from_compressed(matrix.columns(), starts, indices, values).unwrap(),
                matrix,
                "out of its parts"
            );
            let mut rest = matrix.every(2);
            assert_eq!(
                (entries(&rest, 0), entries(&rest, 1)),
                (entries(&matrix, 0), entries(&matrix, 2)),
                "every second"
            );
            rest = matrix.scaled(&[2.0; 10]);
            let doubled =
                |i: usize| entries(&matrix, i).into_iter().map(|(j, x)| (j, 2.0 * x)).collect::<Vec<_>>();
            assert!((0..4).all(|i| entries(&rest, i) == doubled(i)), "scaled");
            let mut back = matrix.select([3, 2, 1, 0]).select([3, 2, 1, 0]);
            back.widen(matrix.columns());
            assert_eq!(back, matrix, "selected");
            let dense = matrix.clone().into_dense();
            assert!(dense.is_dense() && !dense.is_uniform() && dense.is_single() == matrix.is_single());
            assert_eq!((dense.nonzeros(), dense.stored()), (matrix.nonzeros(), 4 * matrix.columns()));
            for i in 0..4 {
                assert_eq!(
                    entries(&dense, i).into_iter().filter(|(_, x)| *x != 0.0).collect::<Vec<_>>(),
                    entries(&matrix, i)
                );
            }
        }
    }

    #[test]
    fn one_value_a_row_is_stored_once() {
        let rows: [(&[u32], &[f64]); 3] =
            [(&[0, 1, 2, 3], &[0.1; 4]), (&[0, 5], &[3.0; 2]), (&[0, 1], &[7.0, 3.0])];
        let bytes = |rows| sparse(rows).bytes();
        assert_eq!(bytes(&rows[..2]), 3 * 8 + 6 * 4 + 2 * 8);
        assert_eq!(bytes(&rows[1..2]), 2 * 8 + 2 * 4 + 4);
        assert_eq!(bytes(&rows), 4 * 8 + 8 * (4 + 8));
        assert_eq!(bytes(&rows[1..]), 3 * 8 + 4 * (4 + 4));
    }

    /// A zero and a negative zero are one number, but not the same bits.
    #[test]
    fn zeros_of_both_signs_are_not_even() {
        let matrix = sparse(&[(&[0, 1], &[0.0, -0.0])]);
        assert!(!matrix.is_uniform());
        assert_eq!(entries(&matrix, 0)[1].1.to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn compressed_parts_that_do_not_fit_together_are_refused() {
        let make = |starts: &[usize], indices: &[u32], values: &[f64]| {
            Matrix::from_compressed(3, starts.to_vec(), indices.to_vec(), values.to_vec())
        };
        assert_eq!(make(&[0], &[], &[]).unwrap().rows(), 0);
        for (starts, indices) in [
            (&[][..], &[0u32, 2][..]),
            (&[0, 1], &[0, 2]),
            (&[1, 2], &[0, 2]),
            (&[0, 9, 2], &[0, 2]),
            (&[0, 2], &[2, 0]),
        ] {
            assert!(make(starts, indices, &[1.0, 2.0]).is_err(), "{starts:?} {indices:?}");
        }
        assert!(make(&[0, 2], &[1, 1], &[1.0, 2.0]).is_err());
        assert!(make(&[0, 2], &[1, 3], &[1.0, 2.0]).is_err());
        assert!(make(&[0, 2], &[1, 2], &[1.0]).is_err());
    }

    #[test]
    fn a_sparse_matrix_made_dense_has_the_same_rows() {
        let mut builder = Builder::new(Layout::Sparse);
        builder.push(&[0, 3], &[0.1, 7.0]);
        builder.push(&[], &[]);
        builder.push(&[2], &[-1.0]);
        let dense = builder.finish().into_dense();
        assert_eq!((dense.rows(), dense.columns(), dense.is_dense()), (3, 4, true));
        let Row::Dense64(x) = dense.row(0) else { panic!("dense, double") };
        assert_eq!(x, &[0.1, 0.0, 0.0, 7.0]);
        let Row::Dense64(x) = dense.row(2) else { panic!("dense, double") };
        assert_eq!(x, &[0.0, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn select_keeps_layout_precision_and_order() {
        let mut builder = Builder::new(Layout::Dense { columns: 3 });
        builder.push(&[0], &[0.1]);
        builder.push(&[1, 2], &[2.0, 3.0]);
        let matrix = builder.finish();
        let picked = matrix.select([1, 1, 0]);
        assert_eq!(
            (picked.rows(), picked.columns(), picked.is_dense(), picked.is_single()),
            (3, 3, true, false)
        );
        let Row::Dense64(x) = picked.row(0) else { panic!("dense, double") };
        assert_eq!(x, &[0.0, 2.0, 3.0]);
        let Row::Dense64(x) = picked.row(2) else { panic!("dense, double") };
        assert_eq!(x, &[0.1, 0.0, 0.0]);
    }
}
