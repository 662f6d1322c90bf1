//! Rows whose columns are numbered anew, so that the weights that are used most lie close together.
//!
//! Coordinate descent on rows of words waits for weights that are not in the cache. Most words are rare and
//! most entries are not: with the frequent columns first, most entries find their weights in a part that
//! fits. A column that one row alone has needs no weight at all while the duals move, because that weight is
//! the row's dual times a number.

use super::split::split_columns;
use crate::data::matrix::Matrix;
use rayon::prelude::*;

/// Weights that a core holds close: 1 MB of them.
const CLOSE: usize = 1 << 17;

/// The rows of a matrix with their columns in another order: frequent ones, rare ones, and those that one row
/// alone has.
pub(super) struct ReorderedColumns {
    /// The number of each column in that order.
    numbers: Vec<u32>,
    /// The entries in columns that rows share.
    pub(super) shared: Matrix<'static>,
    /// The other entries.
    alone: Matrix<'static>,
    /// The sum of their squares, row by row.
    pub(super) alone_sq: Vec<f64>,
}

impl ReorderedColumns {
    /// Whether such a copy would serve these rows: many columns, and the weights of all of them too far away.
    pub(super) fn serves(rows: &Matrix) -> bool {
        !rows.is_dense() && rows.columns() > 2 * CLOSE
    }

    pub(super) fn new(rows: &Matrix) -> Self {
        Self::with(rows, CLOSE)
    }

    /// With room for so many weights close by.
    fn with(rows: &Matrix, close: usize) -> Self {
        let (numbers, ends) = numbers(&counts(rows), close);
        let (shared, alone) = split_columns(rows, &numbers, ends);
        let alone_sq = (0..rows.rows()).into_par_iter().map(|i| alone.row(i).norm_sq()).collect();
        Self { numbers, shared, alone, alone_sq }
    }

    /// The weights of the shared columns out of the weights of all.
    pub(super) fn narrow(&self, weights: &[f64]) -> Vec<f64> {
        let mut narrow = vec![0.0; self.shared.columns()];
        for (&number, &weight) in self.numbers.iter().zip(weights) {
            if let Some(place) = narrow.get_mut(number as usize) {
                *place = weight;
            }
        }
        narrow
    }

    /// The weights of all columns out of the weights of the shared ones; those of the others are
    /// `factor(i)·xᵢ`.
    pub(super) fn widen(&self, narrow: &[f64], factor: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut wide = narrow.to_vec();
        wide.resize(self.numbers.len(), 0.0);
        for i in 0..self.alone.rows() {
            self.alone.row(i).add_to(&mut wide, factor(i));
        }
        self.numbers.par_iter().with_min_len(1 << 14).map(|&number| wide[number as usize]).collect()
    }
}

/// In how many rows each column occurs, as far as one byte can tell: frequent ones need no telling apart, and
/// small counts stay in the cache.
fn counts(rows: &Matrix) -> Vec<u8> {
    let count = |half: usize| {
        let mut counts = vec![0u8; rows.columns()];
        for i in rows.rows() * half / 2..rows.rows() * (half + 1) / 2 {
            rows.row(i).for_each_index(|j| counts[j] = counts[j].saturating_add(1));
        }
        counts
    };
    let (mut counts, others) = rayon::join(|| count(0), || count(1));
    counts.iter_mut().zip(others).for_each(|(a, b)| *a = a.saturating_add(b));
    counts
}

/// The number of each column, and where those of the frequent and of the shared ones end. Within each kind
/// columns keep their order, so that a row's indices increase as before.
fn numbers(counts: &[u8], close: usize) -> (Vec<u32>, [u32; 2]) {
    let mut with = [0usize; 256];
    counts.iter().for_each(|&count| with[usize::from(count)] += 1);
    // The largest count of a column that is rare.
    let (mut rare, mut frequent) = (255, 0);
    while rare >= 2 && frequent + with[rare] <= close {
        frequent += with[rare];
        rare -= 1;
    }
    let ends = [frequent as u32, with[2..].iter().sum::<usize>() as u32];
    let mut next = [0, ends[0], ends[1]];
    let number = |&count: &u8| {
        let kind = if usize::from(count) > rare { 0 } else { 1 + usize::from(count < 2) };
        next[kind] += 1;
        next[kind] - 1
    };
    (counts.iter().map(number).collect(), ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    proptest! {
        /// Whatever the rows, scores and weights are those of the rows as they are.
        #[test]
        fn nothing_is_lost(
            rows in prop::collection::vec(prop::collection::btree_map(0..40u32, -2.0..2.0f64, 0..8), 1..30),
            duals in prop::collection::vec(-1.0..1.0f64, 30),
            even: bool,
            close in 0..40usize,
        ) {
            let mut builder = Builder::new(Layout::Sparse);
            for row in &rows {
                let (indices, values): (Vec<u32>, Vec<f64>) = row.iter()
                    .map(|(&j, &x)| (j, if even { 0.5 } else { x })).unzip();
                builder.push(&indices, &values);
            }
            let rows = builder.finish();
            let mut weights = vec![0.0; rows.columns()];
            (0..rows.rows()).for_each(|i| rows.row(i).add_to(&mut weights, duals[i]));
            let reordered = ReorderedColumns::with(&rows, close);
            let narrow = reordered.narrow(&weights);
            prop_assert!(reordered.shared.is_uniform() || !rows.is_uniform());
            for (i, dual) in duals.iter().enumerate().take(rows.rows()) {
                let score = reordered.shared.row(i).dot(&narrow) + dual * reordered.alone_sq[i];
                prop_assert!((score - rows.row(i).dot(&weights)).abs() < 1e-12);
                prop_assert!(reordered.shared.row(i).indices().is_some_and(|j| j.is_sorted_by(|a, b| a < b)));
            }
            let wide = reordered.widen(&narrow, |i| duals[i]);
            prop_assert!(wide.iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-12),
                "{wide:?} {weights:?}");
        }

        /// Frequent columns come first, and those that one row has last.
        #[test]
        fn columns_in_their_order(counts in prop::collection::vec(0..9u8, 1..50), close in 0..50usize) {
            let (numbers, ends) = numbers(&counts, close);
            prop_assert!(ends[0] <= ends[1] && ends[0] as usize <= close);
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.iter().enumerate().all(|(i, &number)| i == number as usize));
            let of = |wanted: bool| counts.iter().zip(&numbers)
                .filter(move |(_, number)| (**number < ends[0]) == wanted);
            let rarest = of(true).map(|(&count, _)| count).min();
            let commonest = of(false).map(|(&count, _)| count).max();
            prop_assert!(rarest.is_none() || rarest > commonest, "{rarest:?} {commonest:?}");
            prop_assert!(counts.iter().zip(&numbers)
                .all(|(&count, &number)| (count >= 2) == (number < ends[1])));
        }
    }
}
