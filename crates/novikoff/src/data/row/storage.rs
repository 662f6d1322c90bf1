//! The storages of a row, each with loops compiled for it alone.

use crate::data::{Float, Row};
use std::hint::black_box;
use std::iter::repeat;

/// The values of a sparse row, in the order of its indices; at least as many as there are indices.
pub(crate) trait SparseValues: Copy {
    /// One by one.
    fn each(self) -> impl Iterator<Item = f64>;

    /// The value of entry number `at`.
    fn at(self, at: usize) -> f64;

    /// Calls `visit` with every index and its value.
    fn visit(self, indices: &[u32], visit: impl FnMut(u32, f64));

    /// Calls `four` with four indices and their values at a time, then `one` with each of the remaining up to
    /// three.
    fn visit_fours(self, indices: &[u32], four: impl FnMut(&[u32; 4], [f64; 4]), one: impl FnMut(u32, f64));
}

impl<V: Float> SparseValues for &[V] {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        self.iter().map(|&x| x.into())
    }

    #[inline(always)]
    fn at(self, at: usize) -> f64 {
        self[at].into()
    }

    #[inline(always)]
    fn visit(self, indices: &[u32], mut visit: impl FnMut(u32, f64)) {
        indices.iter().zip(self).for_each(|(&j, &x)| visit(j, x.into()));
    }

    #[inline(always)]
    fn visit_fours(
        self,
        indices: &[u32],
        mut four: impl FnMut(&[u32; 4], [f64; 4]),
        one: impl FnMut(u32, f64),
    ) {
        let ((fours, rest), (value_fours, value_rest)) = (indices.as_chunks::<4>(), self.as_chunks::<4>());
        fours.iter().zip(value_fours).for_each(|(j, x)| four(j, x.map(Into::into)));
        value_rest.visit(rest, one);
    }
}

/// One value for all indices.
#[derive(Clone, Copy)]
pub(crate) struct Same(pub f64);

impl SparseValues for Same {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        repeat(self.0)
    }

    #[inline(always)]
    fn at(self, _: usize) -> f64 {
        self.0
    }

    #[inline(always)]
    fn visit(self, indices: &[u32], mut visit: impl FnMut(u32, f64)) {
        indices.iter().for_each(|&j| visit(j, self.0));
    }

    #[inline(always)]
    fn visit_fours(
        self,
        indices: &[u32],
        mut four: impl FnMut(&[u32; 4], [f64; 4]),
        one: impl FnMut(u32, f64),
    ) {
        let (fours, rest) = indices.as_chunks::<4>();
        fours.iter().for_each(|j| four(j, [self.0; 4]));
        self.visit(rest, one);
    }
}

/// The operations of a learner of two classes on a row.
///
/// [`Row`] looks up its storage in each of them. The other implementations have one storage, so that a loop
/// over many rows is compiled for that storage alone.
pub trait Vector: Copy {
    /// `<w, x>`.
    fn dot(self, weights: &[f64]) -> f64;

    /// `w ← w + scale·x`.
    fn add_to(self, weights: &mut [f64], scale: f64);

    /// `w_c ← w_c + scale·x` for one output `c` of `outputs`, whose weights lie side by side for each
    /// feature.
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64);

    /// `‖x‖²`.
    fn norm_sq(self) -> f64;

    /// Calls `visit` with the index of every stored entry.
    fn for_each_index(self, visit: impl FnMut(usize));

    /// Reads the first entry, so that the processor loads the start of the row into its cache.
    fn prefetch(self);
}

/// A row with every column stored.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a, V>(pub &'a [V]);

impl<V: Float> Vector for Dense<'_, V> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        dense_dot(self.0, weights)
    }

    #[inline(always)]
    fn add_to(self, weights: &mut [f64], scale: f64) {
        weights.iter_mut().zip(self.0).for_each(|(w, &x)| *w += scale * x.into());
    }

    #[inline]
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64) {
        let own = weights.iter_mut().skip(output).step_by(outputs);
        own.zip(self.0).for_each(|(w, &x)| *w += scale * x.into());
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        self.0.iter().map(|&x| x.into() * x.into()).sum()
    }

    #[inline(always)]
    fn for_each_index(self, visit: impl FnMut(usize)) {
        (0..self.0.len()).for_each(visit);
    }

    #[inline(always)]
    fn prefetch(self) {
        black_box(self.0.first().copied());
    }
}

/// A row of indices and their values.
#[derive(Clone, Copy)]
pub(crate) struct Sparse<'a, X>(pub &'a [u32], pub X);

impl<X: SparseValues> Vector for Sparse<'_, X> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        sparse_dot(self.0, self.1, |j| weights.get(j as usize).copied().unwrap_or_default())
    }

    #[inline(always)]
    fn add_to(self, weights: &mut [f64], scale: f64) {
        let add = |j: u32, x: f64| {
            if let Some(w) = weights.get_mut(j as usize) {
                *w += scale * x;
            }
        };
        self.1.visit(self.0, add);
    }

    #[inline]
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64) {
        let add = |j: u32, x: f64| {
            if let Some(w) = weights.get_mut(j as usize * outputs + output) {
                *w += scale * x;
            }
        };
        self.1.visit(self.0, add);
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        self.1.each().take(self.0.len()).map(|x| x * x).sum()
    }

    #[inline(always)]
    fn for_each_index(self, mut visit: impl FnMut(usize)) {
        self.0.iter().for_each(|&j| visit(j as usize));
    }

    #[inline(always)]
    fn prefetch(self) {
        black_box(self.0.first().copied());
    }
}

/// Evaluates one of two expressions with the contents of a [`Row`] bound to names: the slice of values of a
/// dense row, or the indices and [values](SparseValues) of a sparse one. Both are compiled for every storage.
macro_rules! by_storage {
    (
        $row:expr,
        dense($dense:ident) => $on_dense:expr,
        sparse($indices:ident, $values:ident) => $on_sparse:expr $(,)?
    ) => {
        match $row {
            $crate::data::Row::Dense32($dense) => $on_dense,
            $crate::data::Row::Dense64($dense) => $on_dense,
            $crate::data::Row::Sparse32($indices, $values) => $on_sparse,
            $crate::data::Row::Sparse64($indices, $values) => $on_sparse,
            $crate::data::Row::Uniform($indices, value) => {
                let $values = $crate::data::Same(value);
                $on_sparse
            }
        }
    };
}
pub(crate) use by_storage;

impl Vector for Row<'_> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        Row::dot(self, weights)
    }

    #[inline(always)]
    fn add_to(self, weights: &mut [f64], scale: f64) {
        Row::add_to(self, weights, scale);
    }

    #[inline(always)]
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64) {
        by_storage!(self,
            dense(x) => Dense(x).add_to_one(weights, outputs, output, scale),
            sparse(j, x) => Sparse(j, x).add_to_one(weights, outputs, output, scale))
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        Row::norm_sq(self)
    }

    #[inline(always)]
    fn for_each_index(self, visit: impl FnMut(usize)) {
        Row::for_each_index(self, visit);
    }

    #[inline(always)]
    fn prefetch(self) {
        by_storage!(self, dense(x) => Dense(x).prefetch(), sparse(j, x) => Sparse(j, x).prefetch());
    }
}

/// Four partial sums, so that additions need not wait for one another.
#[inline(always)]
fn sparse_dot(indices: &[u32], values: impl SparseValues, at: impl Fn(u32) -> f64) -> f64 {
    let (mut sums, mut rest) = ([0.0f64; 4], 0.0);
    let four = |j: &[u32; 4], x: [f64; 4]| {
        for lane in 0..4 {
            sums[lane] += at(j[lane]) * x[lane];
        }
    };
    values.visit_fours(indices, four, |j, x| rest += at(j) * x);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Eight partial sums: the compiler turns them into vector registers.
#[inline]
fn dense_dot<V: Float>(values: &[V], weights: &[f64]) -> f64 {
    let length = values.len().min(weights.len());
    let mut sums = [0.0f64; 8];
    let (value_blocks, value_rest) = values[..length].as_chunks::<8>();
    let (weight_blocks, weight_rest) = weights[..length].as_chunks::<8>();
    for (x, w) in value_blocks.iter().zip(weight_blocks) {
        for lane in 0..8 {
            sums[lane] += w[lane] * x[lane].into();
        }
    }
    let mut rest = 0.0;
    for (&x, &w) in value_rest.iter().zip(weight_rest) {
        rest += w * x.into();
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}
