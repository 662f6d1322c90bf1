//! Loops over the rows of a matrix, compiled for the storage that all of them have.
//!
//! With a dozen entries a row, looking up the storage of every row takes a learner a fifth of its time. A
//! closure in place of [`Visitor`] was compiled once for all storages, and gained nothing.

use crate::data::matrix::{Matrix, Sparse, Values, ValuesPer, dense_row};
use crate::data::{self, Float, Same, Vector};
use std::ops::Range;

/// What is done with each row.
pub(super) trait Visitor {
    /// Visits row `i`, in the storage of all rows. Implementations should be `#[inline(always)]`.
    fn visit(&mut self, i: u32, row: impl Vector);
}

/// A row is prefetched this many turns ahead. Rows in random order are not where the processor prefetches by
/// itself, and it discards what it has begun to load at every branch that it predicted wrongly.
const AHEAD: usize = 6;

/// A row to visit, and one to prefetch.
type Turn = (u32, Option<u32>);

/// Visits these rows, in this order.
///
/// # Panics
/// If there is no such row.
#[inline]
pub(super) fn visit_rows(matrix: &Matrix, ids: &[u32], visitor: &mut impl Visitor) {
    let turns = ids.iter().enumerate().map(|(at, &i)| (i, ids.get(at + AHEAD).copied()));
    visit_turns(matrix, turns, visitor);
}

/// Visits all rows.
#[inline]
pub(super) fn visit_all(matrix: &Matrix, visitor: &mut impl Visitor) {
    visit_turns(matrix, (0..matrix.rows() as u32).map(|i| (i, None)), visitor);
}

#[inline(always)]
fn visit_turns(matrix: &Matrix, turns: impl Iterator<Item = Turn>, visitor: &mut impl Visitor) {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    match matrix.storage() {
        (None, Values::F32(v)) => visit_each(turns, visitor, |i| data::Dense(dense_row(v, i, rows, columns))),
        (None, Values::F64(v)) => visit_each(turns, visitor, |i| data::Dense(dense_row(v, i, rows, columns))),
        (Some(sparse), Values::F32(v)) => visit_sparse(sparse, v, turns, visitor),
        (Some(sparse), Values::F64(v)) => visit_sparse(sparse, v, turns, visitor),
    }
}

#[inline(always)]
fn visit_sparse<V: Float>(
    sparse: &Sparse,
    values: &[V],
    turns: impl Iterator<Item = Turn>,
    visitor: &mut impl Visitor,
) {
    let indices = |i| &sparse.indices[sparse.span(i)];
    match sparse.values_per {
        ValuesPer::Entry => visit_each(turns, visitor, |i| data::Sparse(indices(i), &values[sparse.span(i)])),
        ValuesPer::Row => visit_each(turns, visitor, |i| data::Sparse(indices(i), Same(values[i].into()))),
    }
}

#[inline(always)]
fn visit_each<X: Vector>(
    turns: impl Iterator<Item = Turn>,
    visitor: &mut impl Visitor,
    row_at: impl Fn(usize) -> X,
) {
    for (i, later) in turns {
        if let Some(later) = later {
            row_at(later as usize).prefetch();
        }
        visitor.visit(i, row_at(i as usize));
    }
}

/// Reads through some rows, so that they are in the cache. The returned bits mean nothing; who uses them
/// keeps the compiler from leaving out the reads.
pub(super) fn prefetch_rows(matrix: &Matrix, rows: Range<usize>) -> u64 {
    let (sparse, values) = matrix.storage();
    let (mut indices, mut span) = (0, rows.start * matrix.columns()..rows.end * matrix.columns());
    if let Some(s) = sparse {
        indices = prefetch(&s.starts[rows.clone()], |&start| start as u64)
            ^ prefetch(&s.indices[s.starts[rows.start]..s.starts[rows.end]], |&j| j.into());
        span = s.value_span(rows);
    }
    indices
        ^ match values {
            Values::F32(v) => prefetch(&v[span], |x| x.to_bits().into()),
            Values::F64(v) => prefetch(&v[span], |x| x.to_bits()),
        }
}

/// Reads one item of each cache line.
#[inline]
pub(super) fn prefetch<T>(items: &[T], bits: impl Fn(&T) -> u64) -> u64 {
    /// Bytes of a cache line.
    const LINE: usize = 64;
    items.iter().step_by(LINE / size_of::<T>()).fold(0, |all, item| all ^ bits(item))
}
