//! One row: a view, cheap to copy, of values stored as the user gave them.

use std::hint::black_box;
use std::iter::repeat;
use std::ops::Range;

/// A row of a data set. Storage and precision are settled here and nowhere else: all arithmetic is in `f64`,
/// in an order that depends on the positions of the entries only, so that every sparse storage of the same
/// numbers gives the same bits, and so does every dense one.
///
/// Indices of a sparse row are strictly increasing. Features beyond the end of a weight vector weigh nothing.
///
/// ```
/// use novikoff::data::Row;
/// let dense = Row::Dense32(&[1.0, 0.0, 2.0]);
/// let sparse = Row::Sparse64(&[0, 2], &[1.0, 2.0]);
/// let weights = [3.0, 5.0, 7.0];
/// assert_eq!(dense.dot(&weights), 17.0);
/// assert_eq!(sparse.dot(&weights), 17.0);
/// assert_eq!(sparse.norm_sq(), 5.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// All values, in single precision.
    Dense32(&'a [f32]),
    /// All values, in double precision.
    Dense64(&'a [f64]),
    /// Indices and their values, in single precision.
    Sparse32(&'a [u32], &'a [f32]),
    /// Indices and their values, in double precision.
    Sparse64(&'a [u32], &'a [f64]),
    /// Indices, and the one value of all of them.
    Even(&'a [u32], f64),
}

impl<'a> From<&'a [f64]> for Row<'a> {
    fn from(values: &'a [f64]) -> Self {
        Row::Dense64(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Row<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Row::Dense64(values)
    }
}

pub(super) trait Value: Copy + Into<f64> {}
impl Value for f32 {}
impl Value for f64 {}

/// The values of a sparse row, in order; at least as many as it has indices.
pub(super) trait Values: Copy {
    /// One by one.
    fn each(self) -> impl Iterator<Item = f64>;

    /// Number `at` of them.
    fn at(self, at: usize) -> f64;

    /// `Σ x²` of so many of them, up to rounding.
    fn sum_of_squares(self, count: usize) -> f64;

    /// Calls `visit` with every index and its value.
    fn visit(self, indices: &[u32], visit: impl FnMut(u32, f64));

    /// Calls `four` with four indices and their values at a time, then `one` with each of the up to three
    /// that are left.
    fn visit_fours(self, indices: &[u32], four: impl FnMut(&[u32; 4], [f64; 4]), one: impl FnMut(u32, f64));
}

impl<V: Value> Values for &[V] {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        self.iter().map(|&x| wide(x))
    }

    #[inline(always)]
    fn at(self, at: usize) -> f64 {
        wide(self[at])
    }

    #[inline]
    fn sum_of_squares(self, count: usize) -> f64 {
        let mut sums = [0.0f64; 4];
        let (fours, rest) = self[..count].as_chunks::<4>();
        for four in fours {
            for lane in 0..4 {
                sums[lane] += wide(four[lane]) * wide(four[lane]);
            }
        }
        sums.iter().sum::<f64>() + rest.iter().map(|&x| wide(x) * wide(x)).sum::<f64>()
    }

    #[inline(always)]
    fn visit(self, indices: &[u32], mut visit: impl FnMut(u32, f64)) {
        indices.iter().zip(self).for_each(|(&j, &x)| visit(j, wide(x)));
    }

    #[inline(always)]
    fn visit_fours(
        self,
        indices: &[u32],
        mut four: impl FnMut(&[u32; 4], [f64; 4]),
        one: impl FnMut(u32, f64),
    ) {
        let ((fours, rest), (value_fours, value_rest)) = (indices.as_chunks::<4>(), self.as_chunks::<4>());
        fours.iter().zip(value_fours).for_each(|(j, x)| four(j, x.map(wide)));
        value_rest.visit(rest, one);
    }
}

/// One value for all indices.
#[derive(Clone, Copy)]
pub(super) struct Same(pub f64);

impl Values for Same {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = f64> {
        repeat(self.0)
    }

    #[inline(always)]
    fn at(self, _: usize) -> f64 {
        self.0
    }

    #[inline(always)]
    fn sum_of_squares(self, count: usize) -> f64 {
        count as f64 * self.0 * self.0
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

#[inline(always)]
fn wide<V: Value>(x: V) -> f64 {
    x.into()
}

/// The square root, rounded up by more than a sum of up to 2³² squares can have lost, also where squares are
/// too small to be told from 0.
#[inline(always)]
fn above(sum_of_squares: f64) -> f64 {
    (sum_of_squares * (1.0 + 1e-5)).sqrt() + 1e-150
}

/// What a learner of two classes does with a row. [`Row`] asks for its form each time; the others are of one
/// form, so that a loop over rows ([`Matrix::show`](super::Matrix::show)) is compiled for that form alone.
pub trait Vector: Copy {
    /// `<w, x>`.
    fn dot(self, weights: &[f64]) -> f64;

    /// `w ← w + scale·x`.
    fn add_to(self, weights: &mut [f64], scale: f64);

    /// `w_c ← w_c + scale·x` for one output `c` of `outputs`, which lie side by side for each feature.
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64);

    /// `‖x‖²`.
    fn norm_sq(self) -> f64;

    /// No less than `‖x‖`, and not much more. Rows of one value each have it at once.
    fn length(self) -> f64;

    /// Calls `visit` with the index of every entry.
    fn for_each_index(self, visit: impl FnMut(usize));

    /// Has the beginning of the row brought to the cache.
    fn touch(self);
}

/// A row with every column stored.
#[derive(Clone, Copy)]
pub(super) struct Dense<'a, V>(pub &'a [V]);

impl<V: Value> Vector for Dense<'_, V> {
    #[inline(always)]
    fn dot(self, weights: &[f64]) -> f64 {
        dense_dot(self.0, weights)
    }

    #[inline(always)]
    fn add_to(self, weights: &mut [f64], scale: f64) {
        weights.iter_mut().zip(self.0).for_each(|(w, &x)| *w += scale * wide(x));
    }

    #[inline]
    fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64) {
        weights
            .iter_mut()
            .skip(output)
            .step_by(outputs)
            .zip(self.0)
            .for_each(|(w, &x)| *w += scale * wide(x));
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        self.0.iter().map(|&x| wide(x) * wide(x)).sum()
    }

    #[inline]
    fn length(self) -> f64 {
        above(self.0.sum_of_squares(self.0.len()))
    }

    #[inline(always)]
    fn for_each_index(self, visit: impl FnMut(usize)) {
        (0..self.0.len()).for_each(visit);
    }

    #[inline(always)]
    fn touch(self) {
        black_box(self.0.first().copied());
    }
}

/// A row of indices and their values.
#[derive(Clone, Copy)]
pub(super) struct Sparse<'a, X>(pub &'a [u32], pub X);

impl<X: Values> Vector for Sparse<'_, X> {
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

    #[inline]
    fn length(self) -> f64 {
        above(self.1.sum_of_squares(self.0.len()))
    }

    #[inline(always)]
    fn for_each_index(self, mut visit: impl FnMut(usize)) {
        self.0.iter().for_each(|&j| visit(j as usize));
    }

    #[inline(always)]
    fn touch(self) {
        black_box(self.0.first().copied());
    }
}

/// Runs `$on_sparse` with `$indices` and `$values`, or `$on_dense` with `$dense`, bound to what a row of any
/// storage holds.
macro_rules! each_storage {
    ($row:expr, dense($dense:ident) => $on_dense:expr, sparse($indices:ident, $values:ident) => $on_sparse:expr) => {
        match $row {
            Row::Dense32($dense) => $on_dense,
            Row::Dense64($dense) => $on_dense,
            Row::Sparse32($indices, $values) => $on_sparse,
            Row::Sparse64($indices, $values) => $on_sparse,
            Row::Even($indices, value) => {
                let $values = Same(value);
                $on_sparse
            }
        }
    };
}

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
        Row::add_to_one(self, weights, outputs, output, scale);
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        Row::norm_sq(self)
    }

    #[inline]
    fn length(self) -> f64 {
        each_storage!(self, dense(x) => Dense(x).length(), sparse(j, x) => Sparse(j, x).length())
    }

    #[inline(always)]
    fn for_each_index(self, visit: impl FnMut(usize)) {
        Row::for_each_index(self, visit);
    }

    #[inline(always)]
    fn touch(self) {
        each_storage!(self, dense(x) => Dense(x).touch(), sparse(j, x) => Sparse(j, x).touch());
    }
}

impl<'a> Row<'a> {
    /// `<w, x>`.
    #[inline(always)]
    pub fn dot(self, weights: &[f64]) -> f64 {
        each_storage!(self, dense(x) => Dense(x).dot(weights), sparse(j, x) => Sparse(j, x).dot(weights))
    }

    /// `<w, x>`, in four partial sums that are added up in the end, and the sum of the products' absolute
    /// values.
    #[inline]
    pub fn dot_and_size(self, weights: &[f64]) -> (f64, f64) {
        let mut both = SumAndSize::default();
        let mut left = SumAndSize::default();
        each_storage!(self,
        dense(x) => {
            let weights = &weights[..weights.len().min(x.len())];
            let (x_fours, x_rest) = x[..weights.len()].as_chunks::<4>();
            let (w_fours, w_rest) = weights.as_chunks::<4>();
            w_fours.iter().zip(x_fours).for_each(|(w, x)| both.add(*w, x.map(wide)));
            w_rest.iter().zip(x_rest).for_each(|(w, &x)| left.add_one(*w, wide(x)));
        },
        sparse(j, x) => {
            let at = |&j: &u32| weights.get(j as usize).copied().unwrap_or(0.0);
            x.visit_fours(j, |j, x| both.add(j.each_ref().map(at), x), |j, x| left.add_one(at(&j), x));
        });
        let add = |[a, b, c, d]: [f64; 4], left: [f64; 4]| (a + b) + (c + d) + left[0];
        (add(both.sums, left.sums), add(both.sizes, left.sizes))
    }

    /// The indices of a sparse row.
    #[inline]
    pub fn indices(self) -> Option<&'a [u32]> {
        match self {
            Row::Dense32(_) | Row::Dense64(_) => None,
            Row::Sparse32(j, _) | Row::Sparse64(j, _) | Row::Even(j, _) => Some(j),
        }
    }

    /// Calls `visit` with the index of every entry.
    #[inline]
    pub fn for_each_index(self, mut visit: impl FnMut(usize)) {
        match self.indices() {
            None => (0..self.len()).for_each(visit),
            Some(j) => j.iter().for_each(|&j| visit(j as usize)),
        }
    }

    /// `w ← w + scale·x`.
    #[inline]
    pub fn add_to(self, weights: &mut [f64], scale: f64) {
        each_storage!(self, dense(x) => Dense(x).add_to(weights, scale), sparse(j, x) => Sparse(j, x).add_to(weights, scale))
    }

    /// Adds `<w_c, x>` to `scores[c]` for every output `c` of weights laid out feature by feature, outputs
    /// side by side.
    #[inline]
    pub fn dot_each(self, weights: &[f64], scores: &mut [f64]) {
        each_storage!(self,
            dense(x) => dot_each(x.iter().enumerate().map(|(j, &x)| (j, wide(x))), weights, scores),
            sparse(j, x) => dot_each(j.iter().zip(x.each()).map(|(&j, x)| (j as usize, x)), weights, scores))
    }

    /// `w_c ← w_c + scale·x` for one output `c` of `outputs`, in the layout of [`Row::dot_each`].
    #[inline]
    pub fn add_to_one(self, weights: &mut [f64], outputs: usize, output: usize, scale: f64) {
        each_storage!(self,
            dense(x) => Dense(x).add_to_one(weights, outputs, output, scale),
            sparse(j, x) => Sparse(j, x).add_to_one(weights, outputs, output, scale))
    }

    /// `w_c ← w_c + scales[c]·x` for every output `c`, in the layout of [`Row::dot_each`].
    #[inline]
    pub fn add_to_each(self, weights: &mut [f64], scales: &[f64]) {
        each_storage!(self,
            dense(x) => add_to_each(x.iter().enumerate().map(|(j, &x)| (j, wide(x))), weights, scales),
            sparse(j, x) => add_to_each(j.iter().zip(x.each()).map(|(&j, x)| (j as usize, x)), weights, scales))
    }

    /// `<w_k, x>` of every lane `k`, for weights of several problems side by side, in the precision of the
    /// weights.
    #[inline(always)]
    pub fn dot_lanes<W: Lane, const K: usize>(self, weights: &[[W; K]]) -> [W; K] {
        each_storage!(self,
            dense(x) => dot_lanes(x.iter().enumerate().map(|(j, &x)| (j, wide(x))), weights),
            sparse(j, x) => dot_lanes(j.iter().zip(x.each()).map(|(&j, x)| (j as usize, x)), weights))
    }

    /// The same, where `slots` says for every feature which weights are its own. The first weights are zeros,
    /// for all others.
    #[inline(always)]
    pub fn dot_slots<W: Lane, const K: usize>(self, slots: &[u32], weights: &[[W; K]]) -> [W; K] {
        each_storage!(self,
            dense(x) => dot_slots(x.iter().enumerate().map(|(j, &x)| (j, wide(x))), slots, weights),
            sparse(j, x) => dot_slots(j.iter().zip(x.each()).map(|(&j, x)| (j as usize, x)), slots, weights))
    }

    /// `w_k ← w_k + scales[k]·x` in every lane `k`.
    #[inline(always)]
    pub fn add_to_lanes<W: Lane, const K: usize>(self, weights: &mut [[W; K]], scales: [W; K]) {
        each_storage!(self,
            dense(x) => add_to_lanes(x.iter().enumerate().map(|(j, &x)| (j, wide(x))), weights, scales),
            sparse(j, x) => add_to_lanes(j.iter().zip(x.each()).map(|(&j, x)| (j as usize, x)), weights, scales))
    }

    /// `‖x‖²`.
    #[inline]
    pub fn norm_sq(self) -> f64 {
        each_storage!(self, dense(x) => Dense(x).norm_sq(), sparse(j, x) => Sparse(j, x).norm_sq())
    }

    /// How many entries are stored.
    pub fn len(self) -> usize {
        each_storage!(self, dense(x) => x.len(), sparse(j, _x) => j.len())
    }

    /// The largest absolute value of an entry, 0 if there is none.
    pub fn largest(self) -> f64 {
        if let Row::Even(j, x) = self {
            return if j.is_empty() { 0.0 } else { x.abs() };
        }
        let most = |most: f64, x: f64| most.max(x.abs());
        each_storage!(self,
            dense(x) => x.iter().map(|&x| wide(x)).fold(0.0, most),
            sparse(j, x) => x.each().take(j.len()).fold(0.0, most))
    }

    /// How many entries are not zero.
    pub fn nonzeros(self) -> usize {
        let mut count = 0;
        self.for_each_nonzero(|_, _| count += 1);
        count
    }

    /// Whether nothing is stored.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Calls `visit` with index and value of every entry that is not zero, in the order of the indices.
    #[inline]
    pub fn for_each_nonzero(self, mut visit: impl FnMut(u32, f64)) {
        self.for_each_stored(|j, x| {
            if x != 0.0 {
                visit(j, x);
            }
        });
    }

    /// What the row has, however much of it: its entries above 0, as entries of 1. Their indices are written
    /// into `present`.
    ///
    /// ```
    /// use novikoff::data::Row;
    /// let mut present = Vec::new();
    /// let row = Row::Dense64(&[0.0, 2.5, -1.0, 7.0]).presence(&mut present);
    /// assert_eq!((row.indices(), row.norm_sq()), (Some(&[1, 3][..]), 2.0));
    /// ```
    pub fn presence(self, present: &mut Vec<u32>) -> Row<'_> {
        present.clear();
        self.for_each_stored(|j, x| {
            if x > 0.0 {
                present.push(j);
            }
        });
        Row::Even(present, 1.0)
    }

    /// Calls `visit` with index and value of every stored entry whose index lies within `span`, in the order
    /// of the indices.
    #[inline]
    pub fn for_each_within(self, span: Range<usize>, mut visit: impl FnMut(u32, f64)) {
        // Most spans begin with the first feature or end with the last: nothing to search for there.
        let below = |j: &[u32], limit: usize| match (j.first(), j.last()) {
            (Some(&first), Some(&last)) if (first as usize) < limit => {
                if (last as usize) < limit {
                    j.len()
                } else {
                    j.partition_point(|&j| (j as usize) < limit)
                }
            }
            _ => 0,
        };
        let within = |j: &[u32]| {
            let end = below(j, span.end);
            below(&j[..end], span.start)..end
        };
        let dense = |length: usize| span.start.min(length)..span.end.min(length);
        match self {
            Row::Dense32(x) => dense(x.len()).for_each(|j| visit(j as u32, wide(x[j]))),
            Row::Dense64(x) => dense(x.len()).for_each(|j| visit(j as u32, x[j])),
            Row::Sparse32(j, x) => {
                let part = within(j);
                Row::Sparse32(&j[part.clone()], &x[part]).for_each_stored(visit);
            }
            Row::Sparse64(j, x) => {
                let part = within(j);
                Row::Sparse64(&j[part.clone()], &x[part]).for_each_stored(visit);
            }
            Row::Even(j, x) => Row::Even(&j[within(j)], x).for_each_stored(visit),
        }
    }

    /// Calls `visit` with index and value of every stored entry whose index is below `end`, without looking
    /// for where that is.
    #[inline]
    pub fn for_each_below(self, end: usize, mut visit: impl FnMut(u32, f64)) {
        each_storage!(self,
        dense(x) => x.iter().enumerate().take(end).for_each(|(j, &x)| visit(j as u32, wide(x))),
        sparse(j, x) => for (at, &j) in j.iter().enumerate() {
            if j as usize >= end {
                return;
            }
            visit(j, x.at(at));
        })
    }

    /// Calls `visit` with index and value of every stored entry whose index is `start` or above, from the
    /// last one on.
    #[inline]
    pub fn for_each_down_to(self, start: usize, mut visit: impl FnMut(u32, f64)) {
        each_storage!(self,
        dense(x) => x.iter().enumerate().skip(start).rev().for_each(|(j, &x)| visit(j as u32, wide(x))),
        sparse(j, x) => for (at, &j) in j.iter().enumerate().rev() {
            if (j as usize) < start {
                return;
            }
            visit(j, x.at(at));
        })
    }

    /// Calls `visit` with index and value of every entry that is stored, in the order of the indices.
    #[inline]
    pub fn for_each_stored(self, mut visit: impl FnMut(u32, f64)) {
        each_storage!(self,
            dense(x) => for (j, &x) in x.iter().enumerate() { visit(j as u32, wide(x)) },
            sparse(j, x) => x.visit(j, visit))
    }
}

/// Four partial sums, so that additions need not wait for one another.
#[inline(always)]
fn sparse_dot(indices: &[u32], values: impl Values, at: impl Fn(u32) -> f64) -> f64 {
    let (mut sums, mut rest) = ([0.0f64; 4], 0.0);
    let four = |j: &[u32; 4], x: [f64; 4]| {
        for lane in 0..4 {
            sums[lane] += at(j[lane]) * x[lane];
        }
    };
    values.visit_fours(indices, four, |j, x| rest += at(j) * x);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Four sums of products, and those of their absolute values.
#[derive(Default)]
struct SumAndSize {
    sums: [f64; 4],
    sizes: [f64; 4],
}

impl SumAndSize {
    #[inline(always)]
    fn add(&mut self, w: [f64; 4], x: [f64; 4]) {
        for lane in 0..4 {
            let product = w[lane] * x[lane];
            self.sums[lane] += product;
            self.sizes[lane] += product.abs();
        }
    }

    /// To the first of the four.
    #[inline(always)]
    fn add_one(&mut self, w: f64, x: f64) {
        self.sums[0] += w * x;
        self.sizes[0] += (w * x).abs();
    }
}

/// A number that lanes of weights are made of.
pub trait Lane: Copy + Default + std::ops::AddAssign + std::ops::Mul<Output = Self> {
    /// The nearest there is.
    fn nearest(x: f64) -> Self;
}

impl Lane for f32 {
    #[inline(always)]
    fn nearest(x: f64) -> Self {
        x as f32
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn nearest(x: f64) -> Self {
        x
    }
}

#[inline(always)]
fn dot_slots<W: Lane, const K: usize>(
    entries: impl Iterator<Item = (usize, f64)>,
    slots: &[u32],
    weights: &[[W; K]],
) -> [W; K] {
    let mut sums = [W::default(); K];
    for (j, x) in entries {
        let slot = slots.get(j).copied().unwrap_or(0);
        let (w, x) = (&weights[slot as usize], W::nearest(x));
        for lane in 0..K {
            sums[lane] += w[lane] * x;
        }
    }
    sums
}

/// The sums stay in registers: there is nothing but them in the loop.
#[inline(always)]
fn dot_lanes<W: Lane, const K: usize>(
    entries: impl Iterator<Item = (usize, f64)>,
    weights: &[[W; K]],
) -> [W; K] {
    let mut sums = [W::default(); K];
    for (j, x) in entries {
        if let Some(w) = weights.get(j) {
            let x = W::nearest(x);
            for lane in 0..K {
                sums[lane] += w[lane] * x;
            }
        }
    }
    sums
}

#[inline(always)]
fn add_to_lanes<W: Lane, const K: usize>(
    entries: impl Iterator<Item = (usize, f64)>,
    weights: &mut [[W; K]],
    scales: [W; K],
) {
    for (j, x) in entries {
        if let Some(w) = weights.get_mut(j) {
            let x = W::nearest(x);
            for lane in 0..K {
                w[lane] += scales[lane] * x;
            }
        }
    }
}

/// Eight partial sums: the compiler turns them into vector registers.
#[inline]
fn dense_dot<V: Value>(values: &[V], weights: &[f64]) -> f64 {
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

#[inline]
fn add_to_each(entries: impl Iterator<Item = (usize, f64)>, weights: &mut [f64], scales: &[f64]) {
    let outputs = scales.len();
    for (j, x) in entries {
        if let Some(block) = weights.get_mut(j * outputs..(j + 1) * outputs) {
            for (w, scale) in block.iter_mut().zip(scales) {
                *w += scale * x;
            }
        }
    }
}

#[inline]
fn dot_each(entries: impl Iterator<Item = (usize, f64)>, weights: &[f64], scores: &mut [f64]) {
    let outputs = scores.len();
    for (j, x) in entries {
        if let Some(block) = weights.get(j * outputs..(j + 1) * outputs) {
            for (score, w) in scores.iter_mut().zip(block) {
                *score += w * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(row: Row<'_>, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        row.for_each_nonzero(|j, x| sum += weights.get(j as usize).copied().unwrap_or(0.0) * x);
        sum
    }

    proptest! {
        /// Small integers: every order of summation is exact, so the fast paths must agree with the naive sum
        /// to the bit.
        #[test]
        fn every_storage_gives_the_naive_dot_product(
            values in prop::collection::vec(-4i8..5, 0..70),
            weights in prop::collection::vec(-9i8..10, 0..70),
            outputs in 1usize..4,
        ) {
            let wide: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
            let narrow: Vec<f32> = values.iter().map(|&v| f32::from(v)).collect();
            let weights: Vec<f64> = weights.iter().map(|&v| f64::from(v)).collect();
            let indices: Vec<u32> = (0..wide.len() as u32).filter(|&j| wide[j as usize] != 0.0).collect();
            let wide_kept: Vec<f64> = indices.iter().map(|&j| wide[j as usize]).collect();
            let narrow_kept: Vec<f32> = indices.iter().map(|&j| narrow[j as usize]).collect();
            let rows = [Row::Dense32(&narrow), Row::Dense64(&wide),
                        Row::Sparse32(&indices, &narrow_kept), Row::Sparse64(&indices, &wide_kept)];
            let expected = naive(rows[0], &weights);
            for row in rows {
                prop_assert_eq!(row.dot(&weights), expected);
                let size: f64 = wide.iter().zip(&weights).map(|(x, w)| (x * w).abs()).sum();
                prop_assert_eq!(row.dot_and_size(&weights), (expected, size));
                prop_assert_eq!(row.largest(), wide.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
                prop_assert_eq!(row.norm_sq(), wide.iter().map(|x| x * x).sum::<f64>());
                let mut sum = weights.clone();
                row.add_to(&mut sum, 2.0);
                for (j, s) in sum.iter().enumerate() {
                    prop_assert_eq!(*s, weights[j] + 2.0 * wide.get(j).copied().unwrap_or(0.0));
                }
                // Side by side, output 0 holds these weights and the others are untouched zeros.
                let mut side_by_side = vec![0.0; weights.len() * outputs];
                for (j, w) in weights.iter().enumerate() { side_by_side[j * outputs] = *w; }
                let mut scores = vec![0.0; outputs];
                row.dot_each(&side_by_side, &mut scores);
                prop_assert_eq!(scores[0], expected);
                prop_assert!(scores[1..].iter().all(|s| *s == 0.0));
                let mut each = side_by_side.clone();
                let scales: Vec<f64> = (0..outputs).map(|c| c as f64).collect();
                row.add_to_each(&mut each, &scales);
                for (at, w) in each.iter().enumerate() {
                    let added = scales[at % outputs] * wide.get(at / outputs).copied().unwrap_or(0.0);
                    prop_assert_eq!(*w, side_by_side[at] + added);
                }
                row.add_to_one(&mut side_by_side, outputs, outputs - 1, 2.0);
                for (j, block) in side_by_side.chunks(outputs).enumerate() {
                    let added = 2.0 * wide.get(j).copied().unwrap_or(0.0);
                    let before = if outputs == 1 { weights[j] } else { 0.0 };
                    prop_assert_eq!(block[outputs - 1], before + added);
                }
            }
        }

        /// No small integers here: every sum is rounded, and must be rounded alike.
        #[test]
        fn one_value_for_many_entries_gives_the_bits_of_values_spelled_out(
            indices in prop::collection::btree_set(0u32..90, 0..70),
            value in prop_oneof![-1e3f64..1e3, Just(0.0), Just(-0.0)],
            weights in prop::collection::vec(-1e3f64..1e3, 0..100),
            outputs in 1usize..4,
            span in (0usize..100, 0usize..100),
        ) {
            let indices: Vec<u32> = indices.into_iter().collect();
            let all = vec![value; indices.len()];
            let (short, spelled) = (Row::Even(&indices, value), Row::Sparse64(&indices, &all));
            prop_assert_eq!(short.dot(&weights).to_bits(), spelled.dot(&weights).to_bits());
            prop_assert_eq!(short.dot_and_size(&weights), spelled.dot_and_size(&weights));
            prop_assert_eq!(short.norm_sq().to_bits(), spelled.norm_sq().to_bits());
            prop_assert_eq!(short.largest(), spelled.largest());
            prop_assert_eq!((short.len(), short.nonzeros(), short.indices()), (spelled.len(), spelled.nonzeros(), spelled.indices()));
            let each = |row: Row<'_>| {
                let (mut sum, mut one, mut all, mut scores) = (weights.clone(), weights.clone(), weights.clone(), vec![0.5; outputs]);
                row.add_to(&mut sum, 0.3);
                row.add_to_one(&mut one, outputs, outputs - 1, 0.3);
                row.add_to_each(&mut all, &vec![0.7; outputs]);
                row.dot_each(&weights, &mut scores);
                let (mut stored, mut visited) = (Vec::new(), Vec::new());
                row.for_each_stored(|j, x| stored.push((j, x.to_bits())));
                row.for_each_index(|j| visited.push(j));
                let mut within = Vec::new();
                row.for_each_within(span.0.min(span.1)..span.1, |j, x| within.push((j, x.to_bits())));
                row.for_each_below(span.0, |j, x| within.push((j, x.to_bits())));
                row.for_each_down_to(span.0, |j, x| within.push((j, x.to_bits())));
                let lanes: Vec<[f64; 2]> = weights.iter().map(|&w| [w, 2.0 * w]).collect();
                let mut moved = lanes.clone();
                row.add_to_lanes(&mut moved, [0.3, 0.7]);
                let slots: Vec<u32> = (0..weights.len() as u32).rev().collect();
                let slotted = if lanes.is_empty() { [0.0; 2] } else { row.dot_slots(&slots, &lanes) };
                ((sum, one, all, scores), (stored, visited, within), (row.dot_lanes(&lanes), moved, slotted))
            };
            prop_assert_eq!(each(short), each(spelled));
        }
    }
}
