//! Rows split by column: entries in columns that rows share, and the other entries.

use crate::data::matrix::{Matrix, Sparse, Values, ValuesPer};
use rayon::prelude::*;
use std::iter::repeat;

/// Sparse rows with column `j` as `numbers[j]`, in two matrices: the entries numbered below `ends[1]`, those
/// below `ends[0]` first, and the other entries. Numbers must rise with their columns within each of these
/// three kinds.
pub(super) fn split_columns(
    rows: &Matrix,
    numbers: &[u32],
    ends: [u32; 2],
) -> (Matrix<'static>, Matrix<'static>) {
    let (Some(sparse), values) = rows.storage() else {
        let dense = rows.clone().into_owned();
        return (dense.clone(), dense);
    };
    let split = Split { sparse, numbers, ends };
    let columns = [ends[1] as usize, numbers.len()];
    let [shared, others] = match values {
        // A uniform row stays uniform: its one value holds for both parts.
        _ if sparse.values_per == ValuesPer::Row => {
            let parts = split.all(|_| repeat(()));
            parts.map(|part| (part.starts, part.indices, None))
        }
        Values::F32(v) => {
            let parts = split.all(|i| sparse.row_values(v, i));
            parts.map(|part| (part.starts, part.indices, Some(Values::from(part.values))))
        }
        Values::F64(v) => {
            let parts = split.all(|i| sparse.row_values(v, i));
            parts.map(|part| (part.starts, part.indices, Some(Values::from(part.values))))
        }
    };
    let matrix =
        |columns: usize, (starts, indices, own): (Vec<usize>, Vec<u32>, Option<Values<'static>>)| match own {
            Some(values) => Matrix::from_entries(columns, starts.into(), indices.into(), values),
            None => {
                let sparse =
                    Sparse { starts: starts.into(), indices: indices.into(), values_per: ValuesPer::Row };
                Matrix::from_storage(columns, sparse, values.clone().into_owned())
            }
        };
    (matrix(columns[0], shared), matrix(columns[1], others))
}

/// Rows to be split, by the new number of each column.
struct Split<'a> {
    sparse: &'a Sparse<'a>,
    numbers: &'a [u32],
    ends: [u32; 2],
}

/// Entries of some rows, and where each row's end.
#[derive(Default)]
struct Piece<V> {
    entries: Vec<(u32, V)>,
    ends: Vec<usize>,
}

/// Entries of all rows.
struct Part<V> {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<V>,
}

impl Split<'_> {
    /// Both parts, some rows at a time on every core; `values` are those of a row's entries.
    fn all<V: Copy + Default + Send + Sync, I: Iterator<Item = V>>(
        &self,
        values: impl Fn(usize) -> I + Sync,
    ) -> [Part<V>; 2] {
        const ROWS: usize = 512;
        let rows = self.sparse.starts.len() - 1;
        let block = |block: usize| {
            let (mut pieces, mut rare) = (Default::default(), Vec::new());
            for i in block * ROWS..rows.min((block + 1) * ROWS) {
                self.row(i, values(i), &mut pieces, &mut rare);
            }
            pieces
        };
        let blocks: Vec<[Piece<V>; 2]> = (0..rows.div_ceil(ROWS)).into_par_iter().map(block).collect();
        [0, 1].map(|part| joined(blocks.iter().map(|pieces| &pieces[part])))
    }

    /// Adds the entries of a row to the pieces. `rare` is memory for the shared entries that come second.
    #[inline]
    fn row<V>(
        &self,
        i: usize,
        values: impl Iterator<Item = V>,
        [shared, others]: &mut [Piece<V>; 2],
        rare: &mut Vec<(u32, V)>,
    ) {
        for (&j, value) in self.sparse.indices[self.sparse.span(i)].iter().zip(values) {
            let number = self.numbers[j as usize];
            let kind = match number {
                number if number < self.ends[0] => &mut shared.entries,
                number if number < self.ends[1] => &mut *rare,
                _ => &mut others.entries,
            };
            kind.push((number, value));
        }
        shared.entries.append(rare);
        shared.ends.push(shared.entries.len());
        others.ends.push(others.entries.len());
    }
}

/// Rows out of their pieces, in this order.
fn joined<'a, V: Copy + Default + Send + Sync + 'a>(
    pieces: impl Iterator<Item = &'a Piece<V>> + Clone,
) -> Part<V> {
    let length = pieces.clone().map(|piece| piece.entries.len()).sum();
    let (mut indices, mut values) = (vec![0; length], vec![V::default(); length]);
    let (mut free_indices, mut free_values) = (&mut indices[..], &mut values[..]);
    let (mut starts, mut copies) = (vec![0], Vec::new());
    for piece in pieces {
        let before = length - free_indices.len();
        starts.extend(piece.ends.iter().map(|end| before + end));
        let indices = free_indices.split_off_mut(..piece.entries.len()).unwrap_or_default();
        let values = free_values.split_off_mut(..piece.entries.len()).unwrap_or_default();
        copies.push((piece, indices, values));
    }
    copies.into_par_iter().for_each(|(piece, indices, values)| {
        for ((index, value), entry) in indices.iter_mut().zip(values).zip(&piece.entries) {
            (*index, *value) = *entry;
        }
    });
    Part { starts, indices, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    fn entries(matrix: &Matrix, row: usize) -> Vec<(u32, f64)> {
        let mut entries = Vec::new();
        matrix.row(row).for_each_stored(|j, x| entries.push((j, x)));
        entries
    }

    proptest! {
        /// Uniform rows, single and double precision: even columns are shared, odd ones are not.
        #[test]
        fn every_entry_is_in_its_part(
            rows in prop::collection::vec(prop::collection::btree_map(0..10u32, 0..4usize, 0..8), 0..6),
            values in prop::sample::select(vec![
                [0.5; 4],
                [0.1; 4],
                [0.5, 1.0, 2.0, -3.0],
                [0.1, 0.7, 1.0, 0.0],
            ]),
        ) {
            let mut builder = Builder::new(Layout::Sparse);
            for row in &rows {
                let (indices, values): (Vec<u32>, Vec<f64>) =
                    row.iter().map(|(&j, &v)| (j, values[v])).unzip();
                builder.push(&indices, &values);
            }
            let mut matrix = builder.finish();
            matrix.widen(10);
            let (shared, others) = split_columns(&matrix, &[0, 10, 1, 11, 2, 12, 3, 13, 4, 14], [0, 5]);
            for i in 0..rows.len() {
                let part = |odd: u32| {
                    let own = entries(&matrix, i).into_iter().filter(move |(j, _)| j % 2 == odd);
                    own.map(|(j, x)| (j / 2 + 10 * odd, x)).collect::<Vec<_>>()
                };
                prop_assert_eq!((entries(&shared, i), entries(&others, i)), (part(0), part(1)));
            }
        }
    }

    #[test]
    fn frequent_columns_come_before_rare_ones() {
        let values = |v: &[f32]| Values::from(v.to_vec());
        let matrix = |columns, starts: &[usize], indices: &[u32], v: &[f32]| {
            Matrix::from_compressed(columns, starts.to_vec(), indices.to_vec(), values(v)).unwrap()
        };
        let rows = matrix(3, &[0, 3, 4], &[0, 1, 2, 0], &[1.0, 2.0, 3.0, 4.0]);
        let (shared, others) = split_columns(&rows, &[1, 2, 0], [1, 2]);
        assert_eq!(shared, matrix(2, &[0, 2, 3], &[0, 1, 1], &[3.0, 1.0, 4.0]));
        assert_eq!(others.row(0).norm_sq(), 4.0);
    }
}
