//! The rows of a data set, contiguous in memory, in the narrowest precision that loses nothing.

use super::row::Row;
use super::scale::factor_of;
use std::ops::Range;

/// Values in the narrowest type that holds all of them exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }
}

/// Rows in one block of memory: dense, or compressed sparse rows with 32-bit indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    /// `None`: dense. Otherwise where each row starts in `indices` and `values`, and the end of the last.
    sparse: Option<Sparse>,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
struct Sparse {
    starts: Vec<usize>,
    indices: Vec<u32>,
}

/// How a [`Builder`] lays rows out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every column of every row.
    Dense {
        /// Number of columns, fixed.
        columns: usize,
    },
    /// Entries that were given, with their indices.
    Sparse,
}

impl Matrix {
    /// A sparse matrix out of its parts: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`, with indices that
    /// increase strictly and lie below `columns`. The error says what is wrong with them.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let matrix = Matrix::from_compressed(5, vec![0, 2, 3], vec![0, 4, 1], Values::F32(vec![1.0, 2.0, 3.0])).unwrap();
    /// assert_eq!((matrix.rows(), matrix.columns(), matrix.row(0).norm_sq()), (2, 5, 5.0));
    /// assert!(Matrix::from_compressed(4, vec![0, 2, 3], vec![0, 4, 1], Values::F32(vec![1.0, 2.0, 3.0])).is_err());
    /// ```
    pub fn from_compressed(columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Values) -> Result<Self, String> {
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
        Ok(Self { rows: starts.len() - 1, columns, sparse: Some(Sparse { starts, indices }), values })
    }

    /// The same rows with every column stored.
    #[must_use]
    pub fn into_dense(self) -> Self {
        let Some(sparse) = &self.sparse else { return self };
        let values = match &self.values {
            Values::F32(v) => Values::F32(spread(sparse, self.columns, v)),
            Values::F64(v) => Values::F64(spread(sparse, self.columns, v)),
        };
        Self { rows: self.rows, columns: self.columns, sparse: None, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: one more than the largest index seen, or as many as the format says.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The same rows with at least this many columns (a model may know more features than a file shows).
    pub fn widen(&mut self, columns: usize) {
        if self.sparse.is_some() {
            self.columns = self.columns.max(columns);
        }
    }

    /// Entries stored.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Entries that are not zero.
    pub fn nonzeros(&self) -> usize {
        match &self.values {
            Values::F32(v) => v.iter().filter(|x| **x != 0.0).count(),
            Values::F64(v) => v.iter().filter(|x| **x != 0.0).count(),
        }
    }

    /// Whether values are stored in single precision.
    pub fn is_single(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Whether every column of every row is stored.
    pub fn is_dense(&self) -> bool {
        self.sparse.is_none()
    }

    /// Bytes that the rows themselves take.
    pub fn bytes(&self) -> usize {
        let width = if self.is_single() { 4 } else { 8 };
        let index_bytes = self.sparse.as_ref().map_or(0, |s| s.starts.len() * size_of::<usize>() + s.indices.len() * 4);
        self.stored() * width + index_bytes
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match &self.sparse {
            Some(s) => {
                let span = s.starts[i]..s.starts[i + 1];
                match &self.values {
                    Values::F32(v) => Row::Sparse32(&s.indices[span.clone()], &v[span]),
                    Values::F64(v) => Row::Sparse64(&s.indices[span.clone()], &v[span]),
                }
            }
            None => {
                assert!(i < self.rows, "row {i} of {}", self.rows);
                let span = i * self.columns..(i + 1) * self.columns;
                match &self.values {
                    Values::F32(v) => Row::Dense32(&v[span]),
                    Values::F64(v) => Row::Dense64(&v[span]),
                }
            }
        }
    }

    /// Reads through some rows so that they are in the cache. What it returns means nothing.
    pub fn fetch(&self, rows: Range<usize>) -> u64 {
        /// Bytes that come at once.
        const LINE: usize = 64;
        let span = match &self.sparse {
            Some(s) => s.starts[rows.start]..s.starts[rows.end],
            None => rows.start * self.columns..rows.end * self.columns,
        };
        let indices = self
            .sparse
            .as_ref()
            .map_or(0, |s| s.indices[span.clone()].iter().step_by(LINE / size_of::<u32>()).fold(0, |sum, &j| sum ^ u64::from(j)));
        let values = match &self.values {
            Values::F32(v) => v[span].iter().step_by(LINE / size_of::<f32>()).fold(0, |sum, x| sum ^ u64::from(x.to_bits())),
            Values::F64(v) => v[span].iter().step_by(LINE / size_of::<f64>()).fold(0, |sum, x| sum ^ x.to_bits()),
        };
        indices ^ values
    }

    /// The same rows with every column `j` times `factors[j]`; columns beyond the factors stay as they are.
    #[must_use]
    pub fn scaled(&self, factors: &[f64]) -> Self {
        let products = match &self.values {
            Values::F32(v) => self.products(v, factors),
            Values::F64(v) => self.products(v, factors),
        };
        let values = match products.iter().all(|&x| fits_f32(x)) {
            true => Values::F32(products.into_iter().map(|x| x as f32).collect()),
            false => Values::F64(products),
        };
        Self { rows: self.rows, columns: self.columns, sparse: self.sparse.clone(), values }
    }

    fn products<V: Copy + Into<f64>>(&self, values: &[V], factors: &[f64]) -> Vec<f64> {
        if let Some(s) = &self.sparse {
            return s.indices.iter().zip(values).map(|(&j, &x)| x.into() * factor_of(factors, j as usize)).collect();
        }
        let mut products = Vec::with_capacity(values.len());
        for row in values.chunks_exact(self.columns.max(1)) {
            products.extend(row.iter().enumerate().map(|(j, &x)| x.into() * factor_of(factors, j)));
        }
        products
    }

    /// The rows named, in that order, as a matrix of the same layout and precision.
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Matrix {
        let layout = if self.is_dense() { Layout::Dense { columns: self.columns } } else { Layout::Sparse };
        let mut builder = Builder::new(layout);
        if !self.is_single() {
            builder.values = Values::F64(Vec::new());
        }
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in rows {
            indices.clear();
            values.clear();
            self.row(i).for_each_nonzero(|j, x| {
                indices.push(j);
                values.push(x);
            });
            builder.push(&indices, &values);
        }
        let mut selected = builder.finish();
        selected.widen(self.columns);
        selected
    }
}

/// Collects rows into a [`Matrix`], in single precision for as long as nothing is lost by it.
#[derive(Debug)]
pub struct Builder {
    rows: usize,
    columns: usize,
    sparse: Option<Sparse>,
    values: Values,
}

impl Builder {
    /// An empty matrix of this layout.
    pub fn new(layout: Layout) -> Self {
        let (columns, sparse) = match layout {
            Layout::Dense { columns } => (columns, None),
            Layout::Sparse => (0, Some(Sparse { starts: vec![0], indices: Vec::new() })),
        };
        Self { rows: 0, columns, sparse, values: Values::F32(Vec::new()) }
    }

    /// Adds one row. Indices must increase strictly and, in a dense matrix, lie below the number of columns.
    pub fn push(&mut self, indices: &[u32], values: &[f64]) {
        self.append(&[0, values.len()], indices, values, values.iter().all(|&x| fits_f32(x)));
    }

    /// Adds rows in compressed form: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`. `single` says
    /// that every value is exactly an `f32`.
    pub fn append(&mut self, starts: &[usize], indices: &[u32], values: &[f64], single: bool) {
        if let (false, Values::F32(narrow)) = (single, &mut self.values) {
            self.values = Values::F64(narrow.iter().map(|&x| f64::from(x)).collect());
        }
        let rows = starts.len() - 1;
        match &mut self.sparse {
            Some(sparse) => {
                let base = sparse.indices.len() - starts[0];
                sparse.starts.extend(starts[1..].iter().map(|&s| base + s));
                sparse.indices.extend_from_slice(indices);
                match &mut self.values {
                    Values::F32(v) => v.extend(values.iter().map(|&x| x as f32)),
                    Values::F64(v) => v.extend_from_slice(values),
                }
                let largest = starts.windows(2).filter(|s| s[1] > s[0]).map(|s| indices[s[1] - 1 - starts[0]] as usize + 1);
                self.columns = largest.fold(self.columns, usize::max);
            }
            None => {
                for span in starts.windows(2).map(|s| s[0] - starts[0]..s[1] - starts[0]) {
                    let (indices, values) = (&indices[span.clone()], &values[span]);
                    match &mut self.values {
                        Values::F32(v) => push_dense(v, self.columns, indices, values, |x| x as f32),
                        Values::F64(v) => push_dense(v, self.columns, indices, values, |x| x),
                    }
                }
            }
        }
        self.rows += rows;
    }

    /// Makes room for `factor` times what is there, at once: growing step by step would move everything each time.
    /// Room that is not used in the end costs address space, not memory, and is given back.
    pub fn expect(&mut self, factor: f64) {
        let more = |length: usize| (length as f64 * (factor - 1.0).clamp(0.0, 1e9)) as usize;
        // Only a wish: if there is no such room, growing as usual will tell.
        match &mut self.values {
            Values::F32(v) => drop(v.try_reserve_exact(more(v.len()))),
            Values::F64(v) => drop(v.try_reserve_exact(more(v.len()))),
        }
        if let Some(s) = &mut self.sparse {
            drop(s.starts.try_reserve_exact(more(s.starts.len())));
            drop(s.indices.try_reserve_exact(more(s.indices.len())));
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The matrix, without slack.
    pub fn finish(mut self) -> Matrix {
        match &mut self.values {
            Values::F32(v) => v.shrink_to_fit(),
            Values::F64(v) => v.shrink_to_fit(),
        }
        if let Some(s) = &mut self.sparse {
            s.starts.shrink_to_fit();
            s.indices.shrink_to_fit();
        }
        Matrix { rows: self.rows, columns: self.columns, sparse: self.sparse, values: self.values }
    }
}

/// Whether `f32` holds this number exactly.
#[inline]
pub fn fits_f32(x: f64) -> bool {
    f64::from(x as f32) == x
}

fn spread<V: Copy + Default>(sparse: &Sparse, columns: usize, values: &[V]) -> Vec<V> {
    let mut all = vec![V::default(); (sparse.starts.len() - 1) * columns];
    for (row, span) in sparse.starts.windows(2).enumerate() {
        for at in span[0]..span[1] {
            all[row * columns + sparse.indices[at] as usize] = values[at];
        }
    }
    all
}

fn push_dense<V: Copy + Default>(all: &mut Vec<V>, columns: usize, indices: &[u32], values: &[f64], narrow: impl Fn(f64) -> V) {
    let start = all.len();
    all.resize(start + columns, V::default());
    for (&j, &x) in indices.iter().zip(values) {
        all[start + j as usize] = narrow(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_single_until_a_value_needs_more_and_nothing_is_lost() {
        let mut builder = Builder::new(Layout::Sparse);
        builder.push(&[0, 3], &[0.5, 16_777_216.0]);
        builder.push(&[1], &[-2.0]);
        let single = Builder { values: builder.values.clone(), sparse: builder.sparse.clone(), ..builder }.finish();
        assert!(single.is_single());
        let mut builder = Builder { rows: 2, columns: 4, sparse: single.sparse.clone(), values: single.values.clone() };
        builder.push(&[2, 9], &[0.1, 1.0]);
        let double = builder.finish();
        assert!(!double.is_single());
        assert_eq!((double.rows(), double.columns(), double.stored()), (3, 10, 5));
        let Row::Sparse64(j, x) = double.row(0) else { panic!("sparse, double") };
        assert_eq!((j, x), (&[0u32, 3][..], &[0.5, 16_777_216.0][..]));
        let Row::Sparse64(j, x) = double.row(2) else { panic!("sparse, double") };
        assert_eq!((j, x), (&[2u32, 9][..], &[0.1, 1.0][..]));
    }

    #[test]
    fn compressed_parts_that_do_not_fit_together_are_refused() {
        let make = |starts: &[usize], indices: &[u32], values: &[f64]| {
            Matrix::from_compressed(3, starts.to_vec(), indices.to_vec(), Values::F64(values.to_vec()))
        };
        assert_eq!(make(&[0], &[], &[]).unwrap().rows(), 0);
        for (starts, indices) in
            [(&[][..], &[0u32, 2][..]), (&[0, 1], &[0, 2]), (&[1, 2], &[0, 2]), (&[0, 9, 2], &[0, 2]), (&[0, 2], &[2, 0])]
        {
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
        assert_eq!((picked.rows(), picked.columns(), picked.is_dense(), picked.is_single()), (3, 3, true, false));
        let Row::Dense64(x) = picked.row(0) else { panic!("dense, double") };
        assert_eq!(x, &[0.0, 2.0, 3.0]);
        let Row::Dense64(x) = picked.row(2) else { panic!("dense, double") };
        assert_eq!(x, &[0.1, 0.0, 0.0]);
    }
}
