//! The rows of a data set once more, column by column: a column is a [`Row`] over the rows.

use crate::data::Row;
use crate::data::matrix::{Matrix, Values};

/// The columns of a matrix, in the precision of its rows.
pub(super) struct Columns {
    length: usize,
    count: usize,
    /// `None`: dense. Otherwise where each column starts in the indices and values, and the end of the last;
    /// and the indices.
    sparse: Option<(Vec<usize>, Vec<u32>)>,
    values: Values<'static>,
}

impl Columns {
    /// The columns of these rows, and after them one of ones if that is asked for.
    pub(super) fn new(rows: &Matrix, ones: bool) -> Self {
        let (length, count) = (rows.rows(), rows.columns() + usize::from(ones));
        let (sparse, values) = match (rows.is_dense(), rows.is_single()) {
            (true, true) => (None, Values::from(turn_dense(rows, ones, |x| x as f32))),
            (true, false) => (None, Values::from(turn_dense(rows, ones, |x| x))),
            (false, true) => {
                let (places, values) = turn_sparse(rows, ones, |x| x as f32);
                (Some(places), Values::from(values))
            }
            (false, false) => {
                let (places, values) = turn_sparse(rows, ones, |x| x);
                (Some(places), Values::from(values))
            }
        };
        Self { length, count, sparse, values }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many entries column `j` has.
    pub(super) fn entries(&self, j: usize) -> usize {
        self.sparse.as_ref().map_or(self.length, |(starts, _)| starts[j + 1] - starts[j])
    }

    /// Column `j`.
    #[inline]
    pub(super) fn column(&self, j: usize) -> Row<'_> {
        match (&self.sparse, &self.values) {
            (None, Values::F32(v)) => Row::Dense32(&v[j * self.length..(j + 1) * self.length]),
            (None, Values::F64(v)) => Row::Dense64(&v[j * self.length..(j + 1) * self.length]),
            (Some((starts, i)), Values::F32(v)) => {
                let span = starts[j]..starts[j + 1];
                Row::Sparse32(&i[span.clone()], &v[span])
            }
            (Some((starts, i)), Values::F64(v)) => {
                let span = starts[j]..starts[j + 1];
                Row::Sparse64(&i[span.clone()], &v[span])
            }
        }
    }
}

fn turn_dense<V: Copy>(rows: &Matrix, ones: bool, narrow: impl Fn(f64) -> V) -> Vec<V> {
    let (n, d) = (rows.rows(), rows.columns());
    let mut values = vec![narrow(0.0); n * d];
    for i in 0..n {
        rows.row(i).for_each_nonzero(|j, x| values[j as usize * n + i] = narrow(x));
    }
    values.resize(values.len() + if ones { n } else { 0 }, narrow(1.0));
    values
}

fn turn_sparse<V: Copy>(
    rows: &Matrix,
    ones: bool,
    narrow: impl Fn(f64) -> V,
) -> ((Vec<usize>, Vec<u32>), Vec<V>) {
    let (n, d) = (rows.rows(), rows.columns());
    let mut starts = vec![0usize; d + 1];
    for i in 0..n {
        rows.row(i).for_each_nonzero(|j, _| starts[j as usize + 1] += 1);
    }
    for j in 0..d {
        starts[j + 1] += starts[j];
    }
    let (mut next, mut indices, mut values) =
        (starts.clone(), vec![0u32; starts[d]], vec![narrow(0.0); starts[d]]);
    for i in 0..n {
        rows.row(i).for_each_nonzero(|j, x| {
            let at = next[j as usize];
            (indices[at], values[at]) = (i as u32, narrow(x));
            next[j as usize] += 1;
        });
    }
    if ones {
        indices.extend(0..n as u32);
        values.resize(indices.len(), narrow(1.0));
        starts.push(indices.len());
    }
    ((starts, indices), values)
}

/// `Σ hᵢ·xᵢ²` over a column.
pub(super) fn weighted_square(column: Row<'_>, h: &[f64]) -> f64 {
    let mut sum = 0.0;
    column.for_each_nonzero(|i, x| sum += h[i as usize] * x * x);
    sum
}

/// `r ← r + scale·h∘x`.
pub(super) fn add_weighted(column: Row<'_>, scale: f64, h: &[f64], r: &mut [f64]) {
    match column {
        Row::Dense32(x) => add_dense(x, scale, h, r),
        Row::Dense64(x) => add_dense(x, scale, h, r),
        sparse => sparse.for_each_stored(|i, x| r[i as usize] += scale * h[i as usize] * x),
    }
}

fn add_dense<V: Copy + Into<f64>>(x: &[V], scale: f64, h: &[f64], r: &mut [f64]) {
    for ((r, h), x) in r.iter_mut().zip(h).zip(x) {
        *r += scale * h * (*x).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    proptest! {
        /// Every entry is where it was, in both layouts and precisions.
        #[test]
        fn columns_hold_what_rows_hold(
            rows in prop::collection::vec(prop::collection::vec(-2i8..3, 19), 1..6),
            fine in any::<bool>(),
            is_dense in any::<bool>(),
            ones in any::<bool>(),
        ) {
            let scale = if fine { 0.1 } else { 1.0 };
            let mut builder =
                Builder::new(if is_dense { Layout::Dense { columns: 19 } } else { Layout::Sparse });
            for row in &rows {
                let kept: Vec<u32> = (0..19).filter(|j| row[*j as usize] != 0).collect();
                let values: Vec<f64> = kept.iter().map(|j| scale * f64::from(row[*j as usize])).collect();
                builder.push(&kept, &values);
            }
            let mut matrix = builder.finish();
            matrix.widen(19);
            let columns = Columns::new(&matrix, ones);
            prop_assert_eq!(columns.count(), 19 + usize::from(ones));
            let same = match columns.column(0) {
                Row::Dense32(_) => is_dense && matrix.is_single(),
                Row::Dense64(_) => is_dense && !matrix.is_single(),
                Row::Sparse32(..) => !is_dense && matrix.is_single(),
                Row::Sparse64(..) => !is_dense && !matrix.is_single(),
                _ => false,
            };
            prop_assert!(same, "layout and precision");
            for i in 0..rows.len() {
                let mut unit = vec![0.0; rows.len()];
                unit[i] = 1.0;
                for (j, value) in rows[i].iter().enumerate() {
                    prop_assert_eq!(columns.column(j).dot(&unit), scale * f64::from(*value));
                }
                if ones {
                    prop_assert_eq!(columns.column(19).dot(&unit), 1.0);
                }
            }
            let h: Vec<f64> = (0..rows.len()).map(|i| 1.0 + i as f64).collect();
            let (mut r, mut expected) = (vec![0.5; rows.len()], vec![0.5; rows.len()]);
            for j in 0..19 {
                add_weighted(columns.column(j), 2.0, &h, &mut r);
                let square: f64 = (0..rows.len())
                    .map(|i| h[i] * (scale * f64::from(rows[i][j])).powi(2)).sum();
                prop_assert!((weighted_square(columns.column(j), &h) - square).abs() < 1e-12);
            }
            for i in 0..rows.len() {
                expected[i] += rows[i].iter().map(|x| 2.0 * h[i] * scale * f64::from(*x)).sum::<f64>();
                prop_assert!((r[i] - expected[i]).abs() < 1e-12);
            }
        }
    }
}
