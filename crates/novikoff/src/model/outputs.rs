//! Products of a row with the weights of several outputs, which lie side by side for each feature.

use crate::data::{Row, SparseValues, by_storage};

/// Adds `<w_c, x>` to `scores[c]` for every output `c`.
#[inline]
pub(crate) fn dot_each(row: Row<'_>, weights: &[f64], scores: &mut [f64]) {
    by_storage!(row,
        dense(x) => dot_entries(x.each().enumerate(), weights, scores),
        sparse(j, x) => dot_entries(j.iter().map(|&j| j as usize).zip(x.each()), weights, scores))
}

/// `w_c ← w_c + scales[c]·x` for every output `c`.
#[inline]
pub(crate) fn add_to_each(row: Row<'_>, weights: &mut [f64], scales: &[f64]) {
    by_storage!(row,
        dense(x) => add_entries(x.each().enumerate(), weights, scales),
        sparse(j, x) => add_entries(j.iter().map(|&j| j as usize).zip(x.each()), weights, scales))
}

#[inline]
fn dot_entries(entries: impl Iterator<Item = (usize, f64)>, weights: &[f64], scores: &mut [f64]) {
    let outputs = scores.len();
    for (j, x) in entries {
        if let Some(block) = weights.get(j * outputs..(j + 1) * outputs) {
            for (score, w) in scores.iter_mut().zip(block) {
                *score += w * x;
            }
        }
    }
}

#[inline]
fn add_entries(entries: impl Iterator<Item = (usize, f64)>, weights: &mut [f64], scales: &[f64]) {
    let outputs = scales.len();
    for (j, x) in entries {
        if let Some(block) = weights.get_mut(j * outputs..(j + 1) * outputs) {
            for (w, scale) in block.iter_mut().zip(scales) {
                *w += scale * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fixture::{Storages, one_value, same_for_both};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_storage_gives_the_naive_products(
            values in prop::collection::vec(-4i8..5, 0..70),
            weights in prop::collection::vec(-9i8..10, 0..70),
            outputs in 1usize..4,
        ) {
            let storages = Storages::new(&values);
            // Output 0 holds these weights, the others hold zeros.
            let mut all = vec![0.0; weights.len() * outputs];
            for (j, &w) in weights.iter().enumerate() { all[j * outputs] = f64::from(w); }
            let naive: f64 = weights.iter().enumerate().map(|(j, &w)| f64::from(w) * storages.value(j)).sum();
            let scales: Vec<f64> = (0..outputs).map(|c| c as f64).collect();
            for row in storages.rows() {
                let mut scores = vec![0.0; outputs];
                dot_each(row, &all, &mut scores);
                prop_assert_eq!(scores[0], naive);
                prop_assert!(scores[1..].iter().all(|s| *s == 0.0));
                let mut sum = all.clone();
                add_to_each(row, &mut sum, &scales);
                for (at, w) in sum.iter().enumerate() {
                    prop_assert_eq!(*w, all[at] + scales[at % outputs] * storages.value(at / outputs));
                }
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(),
            weights in prop::collection::vec(-1e3f64..1e3, 0..100),
            outputs in 1usize..4,
        ) {
            let products = |row: Row<'_>| {
                let (mut scores, mut sum) = (vec![0.5; outputs], weights.clone());
                dot_each(row, &weights, &mut scores);
                add_to_each(row, &mut sum, &vec![0.7; outputs]);
                (scores, sum)
            };
            prop_assert!(same_for_both(&rows, products));
        }
    }
}
