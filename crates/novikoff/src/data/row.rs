//! One row: a view, cheap to copy, of values stored as the user gave them.

#[cfg(test)]
pub(crate) mod fixture;
mod storage;

pub use storage::Vector;
pub(crate) use storage::{Dense, Same, Sparse, SparseValues, by_storage};

/// A row of a data set. All arithmetic is in `f64`, in an order that depends on the positions of the entries
/// only: every sparse storage of the same numbers gives the same bits, and so does every dense one.
///
/// Indices of a sparse row are strictly increasing. Features beyond the end of a weight vector have weight 0.
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
    Uniform(&'a [u32], f64),
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

impl<'a> Row<'a> {
    /// `<w, x>`.
    #[inline(always)]
    pub fn dot(self, weights: &[f64]) -> f64 {
        by_storage!(self, dense(x) => Dense(x).dot(weights), sparse(j, x) => Sparse(j, x).dot(weights))
    }

    /// `w ← w + scale·x`.
    #[inline]
    pub fn add_to(self, weights: &mut [f64], scale: f64) {
        by_storage!(self,
            dense(x) => Dense(x).add_to(weights, scale),
            sparse(j, x) => Sparse(j, x).add_to(weights, scale))
    }

    /// `‖x‖²`.
    #[inline]
    pub fn norm_sq(self) -> f64 {
        by_storage!(self, dense(x) => Dense(x).norm_sq(), sparse(j, x) => Sparse(j, x).norm_sq())
    }

    /// Number of stored entries.
    pub fn len(self) -> usize {
        by_storage!(self, dense(x) => x.len(), sparse(j, _x) => j.len())
    }

    /// Whether nothing is stored.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Number of entries that are not zero.
    pub fn nonzeros(self) -> usize {
        let mut count = 0;
        self.for_each_nonzero(|_, _| count += 1);
        count
    }

    /// The largest absolute value.
    pub fn largest(self) -> f64 {
        if let Row::Uniform(j, x) = self {
            return if j.is_empty() { 0.0 } else { x.abs() };
        }
        let larger = |most: f64, x: f64| most.max(x.abs());
        by_storage!(self,
            dense(x) => x.each().fold(0.0, larger),
            sparse(j, x) => x.each().take(j.len()).fold(0.0, larger))
    }

    /// The indices of a sparse row.
    #[inline]
    pub fn indices(self) -> Option<&'a [u32]> {
        match self {
            Row::Dense32(_) | Row::Dense64(_) => None,
            Row::Sparse32(j, _) | Row::Sparse64(j, _) | Row::Uniform(j, _) => Some(j),
        }
    }

    /// Calls `visit` with the index of every stored entry.
    #[inline]
    pub(crate) fn for_each_index(self, mut visit: impl FnMut(usize)) {
        match self.indices() {
            None => (0..self.len()).for_each(visit),
            Some(j) => j.iter().for_each(|&j| visit(j as usize)),
        }
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

    /// Calls `visit` with index and value of every stored entry, in the order of the indices.
    #[inline]
    pub fn for_each_stored(self, mut visit: impl FnMut(u32, f64)) {
        by_storage!(self,
            dense(x) => for (j, &x) in x.iter().enumerate() { visit(j as u32, x.into()) },
            sparse(j, x) => x.visit(j, visit))
    }

    /// Replaces `entries` by the entries that are not zero, in the order of the indices.
    pub(crate) fn collect_into(self, entries: &mut Vec<(u32, f64)>) {
        entries.clear();
        self.for_each_nonzero(|j, x| entries.push((j, x)));
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{Storages, one_value, same_for_both};
    use super::*;
    use proptest::prelude::*;

    fn naive(row: Row<'_>, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        row.for_each_nonzero(|j, x| sum += weights.get(j as usize).copied().unwrap_or(0.0) * x);
        sum
    }

    proptest! {
        #[test]
        fn every_storage_gives_the_naive_dot_product(
            values in prop::collection::vec(-4i8..5, 0..70),
            weights in prop::collection::vec(-9i8..10, 0..70),
            outputs in 1usize..4,
        ) {
            let storages = Storages::new(&values);
            let weights: Vec<f64> = weights.iter().map(|&v| f64::from(v)).collect();
            let expected = naive(storages.rows()[0], &weights);
            for row in storages.rows() {
                prop_assert_eq!(row.dot(&weights), expected);
                let largest = storages.wide.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                prop_assert_eq!(row.largest(), largest);
                prop_assert_eq!(row.norm_sq(), storages.wide.iter().map(|x| x * x).sum::<f64>());
                let mut sum = weights.clone();
                row.add_to(&mut sum, 2.0);
                for (j, s) in sum.iter().enumerate() {
                    prop_assert_eq!(*s, weights[j] + 2.0 * storages.value(j));
                }
                // Output 0 holds these weights, the others hold zeros.
                let mut side_by_side = vec![0.0; weights.len() * outputs];
                for (j, w) in weights.iter().enumerate() { side_by_side[j * outputs] = *w; }
                row.add_to_one(&mut side_by_side, outputs, outputs - 1, 2.0);
                for (j, block) in side_by_side.chunks(outputs).enumerate() {
                    let before = if outputs == 1 { weights[j] } else { 0.0 };
                    prop_assert_eq!(block[outputs - 1], before + 2.0 * storages.value(j));
                }
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(),
            weights in prop::collection::vec(-1e3f64..1e3, 0..100),
            outputs in 1usize..4,
        ) {
            let counts = |row: Row<'_>| (row.len(), row.nonzeros(), row.indices().map(<[u32]>::to_vec));
            prop_assert!(same_for_both(&rows, counts));
            let sums = |row: Row<'_>| [row.dot(&weights), row.norm_sq(), row.largest()].map(f64::to_bits);
            prop_assert!(same_for_both(&rows, sums));
            let visited = |row: Row<'_>| {
                let (mut stored, mut indices) = (Vec::new(), Vec::new());
                row.for_each_stored(|j, x| stored.push((j, x.to_bits())));
                row.for_each_index(|j| indices.push(j));
                (stored, indices)
            };
            prop_assert!(same_for_both(&rows, visited));
            let added = |row: Row<'_>| {
                let (mut sum, mut one) = (weights.clone(), weights.clone());
                row.add_to(&mut sum, 0.3);
                row.add_to_one(&mut one, outputs, outputs - 1, 0.3);
                (sum, one)
            };
            prop_assert!(same_for_both(&rows, added));
        }
    }
}
