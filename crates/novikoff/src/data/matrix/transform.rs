//! Matrices made of other matrices: some of the rows, other layouts, scaled columns.

use super::{Builder, Layout, Matrix, Sparse, Values};
use crate::data::scale::factor_of;
use crate::data::{Row, fits_f32};
use rayon::prelude::*;
use std::ops::Range;

impl Values<'_> {
    /// Replaces these values by some spans of others.
    fn refill(&mut self, from: &Values<'_>, spans: impl Iterator<Item = Range<usize>>) {
        match (&mut *self, from) {
            (Values::F32(own), Values::F32(from)) => refill(own.to_mut(), from, spans),
            (Values::F64(own), Values::F64(from)) => refill(own.to_mut(), from, spans),
            (own, from) => *own = from.spans(spans),
        }
    }

    /// Some spans of these values.
    fn spans(&self, spans: impl Iterator<Item = Range<usize>>) -> Values<'static> {
        match self {
            Values::F32(v) => Values::F32(spans.flat_map(|span| &v[span]).copied().collect()),
            Values::F64(v) => Values::F64(spans.flat_map(|span| &v[span]).copied().collect()),
        }
    }
}

/// Replaces the contents of a vector by some spans of a slice.
fn refill<T: Copy>(own: &mut Vec<T>, from: &[T], spans: impl Iterator<Item = Range<usize>>) {
    own.clear();
    spans.for_each(|span| own.extend_from_slice(&from[span]));
}

/// Replaces `own` by the starts of these rows, one behind the other, and the end of the last.
fn refill_starts(own: &mut Vec<usize>, from: &Sparse<'_>, rows: impl Iterator<Item = usize>) {
    own.clear();
    own.push(0);
    let mut end = 0;
    own.extend(rows.map(|i| {
        end += from.span(i).len();
        end
    }));
}

impl<'a> Matrix<'a> {
    /// The same rows with every column stored.
    #[must_use]
    pub fn into_dense(self) -> Self {
        let Some(sparse) = &self.sparse else { return self };
        let values = match &self.values {
            Values::F32(v) => Values::from(spread(sparse, self.columns, v)),
            Values::F64(v) => Values::from(spread(sparse, self.columns, v)),
        };
        Self { rows: self.rows, columns: self.columns, sparse: None, values }
    }

    /// Replaces these rows by rows of another matrix, in the given order and the storage of that matrix.
    /// Memory is reused.
    ///
    /// # Panics
    /// If there is no such row.
    pub(crate) fn refill(&mut self, from: &Matrix, ids: &[u32]) {
        (self.rows, self.columns) = (ids.len(), from.columns);
        let ids = || ids.iter().map(|&i| i as usize);
        let Some(rows) = &from.sparse else {
            self.sparse = None;
            let span = |i: usize| i * from.columns..(i + 1) * from.columns;
            return self.values.refill(&from.values, ids().map(span));
        };
        let own = self.sparse.get_or_insert_with(Sparse::new);
        refill(own.indices.to_mut(), &rows.indices, ids().map(|i| rows.span(i)));
        refill_starts(own.starts.to_mut(), rows, ids());
        own.values_per = rows.values_per;
        self.values.refill(&from.values, ids().map(|i| rows.value_span(i..i + 1)));
    }

    /// The first row and every `step`-th after it, in the same storage.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let values = Values::from(&[1.0, 2.0, 3.0, 4.0]);
    /// let matrix = Matrix::from_compressed(5, &[0, 2, 3, 4], &[0, 4, 1, 2], values).unwrap();
    /// assert_eq!(matrix.every(2), matrix.select([0, 2]));
    /// ```
    #[must_use]
    pub fn every(&self, step: usize) -> Matrix<'static> {
        let taken = || (0..self.rows).step_by(step);
        let (rows, columns) = (taken().count(), self.columns);
        let Some(s) = &self.sparse else {
            let values = self.values.spans(taken().map(|i| i * columns..(i + 1) * columns));
            return Matrix { rows, columns, sparse: None, values };
        };
        let mut starts = Vec::new();
        refill_starts(&mut starts, s, taken());
        let mut indices = Vec::with_capacity(starts.last().copied().unwrap_or(0));
        refill(&mut indices, &s.indices, taken().map(|i| s.span(i)));
        let values = self.values.spans(taken().map(|i| s.value_span(i..i + 1)));
        let sparse = Sparse { starts: starts.into(), indices: indices.into(), values_per: s.values_per };
        Matrix { rows, columns, sparse: Some(sparse), values }
    }

    /// These rows, in the given order, as a matrix of the same layout and precision.
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Matrix<'static> {
        let layout = if self.is_dense() { Layout::Dense { columns: self.columns } } else { Layout::Sparse };
        let mut builder = Builder::new(layout);
        if !self.is_single() {
            builder.values = Values::from(Vec::<f64>::new());
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

    /// The same rows with every column `j` times `factors[j]`; columns beyond the factors stay as they are.
    #[must_use]
    pub fn scaled(&self, factors: &[f64]) -> Matrix<'static> {
        let products = match &self.values {
            Values::F32(v) => self.products(v, factors),
            Values::F64(v) => self.products(v, factors),
        };
        let values = if products.iter().all(|&x| fits_f32(x)) {
            Values::F32(products.into_iter().map(|x| x as f32).collect())
        } else {
            Values::from(products)
        };
        match &self.sparse {
            Some(s) => {
                let (starts, indices) = (s.starts.to_vec().into(), s.indices.to_vec().into());
                Matrix::from_entries(self.columns, starts, indices, values)
            }
            None => Matrix { rows: self.rows, columns: self.columns, sparse: None, values },
        }
    }

    /// Whether nothing is rounded where every column `j` is multiplied by `factors[j]`, powers of two whose
    /// inverses are stored.
    pub(crate) fn scales_exactly(&self, factors: &[f64]) -> bool {
        let inverses: Vec<f64> = factors.iter().map(|factor| factor.recip()).collect();
        let row = |i: usize| {
            let mut exact = true;
            self.row(i).for_each_nonzero(|j, x| {
                let j = j as usize;
                exact &= x * factor_of(factors, j) * factor_of(&inverses, j) == x;
            });
            exact
        };
        (0..self.rows).into_par_iter().with_min_len(1024).all(row)
    }

    /// The same rows with every column `j` as `(x − centres[j])·factors[j]`. Columns without a centre, or with
    /// one of zero, are not moved, and their zeros need not be stored.
    #[must_use]
    pub(crate) fn standardised(&self, factors: &[f64], centres: &[f64]) -> Matrix<'static> {
        let moved: Vec<(u32, f64)> =
            (0..).zip(centres).filter(|(_, centre)| **centre != 0.0).map(|(j, c)| (j, *c)).collect();
        if moved.is_empty() {
            return self.scaled(factors);
        }
        // Columns that no row has are zeros, which are moved, too.
        let columns = self.columns.max(centres.len());
        let layout = if self.is_dense() { Layout::Dense { columns } } else { Layout::Sparse };
        let mut builder = Builder::new(layout);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in 0..self.rows {
            indices.clear();
            values.clear();
            for_each_moved(self.row(i), &moved, |j, x| {
                indices.push(j);
                values.push(x * factor_of(factors, j as usize));
            });
            builder.push(&indices, &values);
        }
        let mut standardised = builder.finish();
        standardised.widen(columns);
        standardised
    }

    /// These rows after some columns, in ascending order, were moved by so much.
    pub(crate) fn of_moved(rows: &[Row<'_>], moved: &[(u32, f64)]) -> Matrix<'static> {
        let mut builder = Builder::new(Layout::Sparse);
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            indices.clear();
            values.clear();
            for_each_moved(*row, moved, |j, x| {
                indices.push(j);
                values.push(x);
            });
            builder.push(&indices, &values);
        }
        builder.finish()
    }

    /// The value of every stored entry times its column's factor, row after row.
    fn products<V: Copy + Into<f64>>(&self, values: &[V], factors: &[f64]) -> Vec<f64> {
        let product = |j: usize, x: V| x.into() * factor_of(factors, j);
        let mut products = Vec::with_capacity(self.stored());
        if let Some(s) = &self.sparse {
            let values = (0..self.rows).flat_map(|i| s.row_values(values, i));
            products.extend(s.indices.iter().zip(values).map(|(&j, x)| product(j as usize, x)));
        } else {
            for row in values.chunks_exact(self.columns.max(1)) {
                products.extend(row.iter().enumerate().map(|(j, &x)| product(j, x)));
            }
        }
        products
    }
}

/// Calls `visit` with the entries of a row after some columns, in ascending order, were moved by so much.
/// Their zeros are moved, too.
#[inline]
pub(crate) fn for_each_moved(row: Row<'_>, moved: &[(u32, f64)], mut visit: impl FnMut(u32, f64)) {
    let mut rest = moved.iter().copied().peekable();
    row.for_each_nonzero(|j, x| {
        while let Some((zero, by)) = rest.next_if(|(column, _)| *column < j) {
            visit(zero, -by);
        }
        let by = rest.next_if(|(column, _)| *column == j).map_or(0.0, |(_, by)| by);
        visit(j, x - by);
    });
    rest.for_each(|(zero, by)| visit(zero, -by));
}

/// The values of sparse rows with every column stored.
fn spread<V: Copy + Default>(sparse: &Sparse<'_>, columns: usize, values: &[V]) -> Vec<V> {
    let rows = sparse.starts.len() - 1;
    let mut all = vec![V::default(); rows * columns];
    for i in 0..rows {
        for (&j, x) in sparse.indices[sparse.span(i)].iter().zip(sparse.row_values(values, i)) {
            all[i * columns + j as usize] = x;
        }
    }
    all
}
