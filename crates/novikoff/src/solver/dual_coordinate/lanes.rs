//! Products of a row with the weights of several problems, which lie side by side for each feature: a lane
//! for each problem.

use crate::data::{Float, Row, SparseValues, by_storage};

/// `<w_k, x>` of every lane `k`, in the precision of the weights.
#[inline(always)]
pub(super) fn dot_lanes<W: Float, const K: usize>(row: Row<'_>, weights: &[[W; K]]) -> [W; K] {
    by_storage!(row,
        dense(x) => dot_entries(x.each().enumerate(), weights),
        sparse(j, x) => dot_entries(j.iter().map(|&j| j as usize).zip(x.each()), weights))
}

/// `w_k ← w_k + scales[k]·x` in every lane `k`.
#[inline(always)]
pub(super) fn add_to_lanes<W: Float, const K: usize>(row: Row<'_>, weights: &mut [[W; K]], scales: [W; K]) {
    by_storage!(row,
        dense(x) => add_entries(x.each().enumerate(), weights, scales),
        sparse(j, x) => add_entries(j.iter().map(|&j| j as usize).zip(x.each()), weights, scales))
}

/// The sums stay in registers: there is nothing but them in the loop.
#[inline(always)]
fn dot_entries<W: Float, const K: usize>(
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
fn add_entries<W: Float, const K: usize>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fixture::{Storages, one_value, same_for_both};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_lane_is_a_problem_by_itself(
            values in prop::collection::vec(-4i8..5, 0..70),
            weights in prop::collection::vec(-9i8..10, 0..70),
        ) {
            let storages = Storages::new(&values);
            let alone: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
            let lanes: Vec<[f32; 2]> = weights.iter().map(|&w| [f32::from(w), 0.0]).collect();
            for row in storages.rows() {
                prop_assert_eq!(dot_lanes(row, &lanes).map(f64::from), [row.dot(&alone), 0.0]);
                let (mut moved, mut moved_alone) = (lanes.clone(), alone.clone());
                add_to_lanes(row, &mut moved, [3.0, 0.0]);
                row.add_to(&mut moved_alone, 3.0);
                prop_assert!(moved.iter().zip(&moved_alone).all(|(w, &v)| w.map(f64::from) == [v, 0.0]));
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(),
            weights in prop::collection::vec(-1e3f64..1e3, 0..100),
        ) {
            let lanes: Vec<[f64; 2]> = weights.iter().map(|&w| [w, 2.0 * w]).collect();
            let products = |row: Row<'_>| {
                let mut moved = lanes.clone();
                add_to_lanes(row, &mut moved, [0.3, 0.7]);
                (dot_lanes(row, &lanes), moved)
            };
            prop_assert!(same_for_both(&rows, products));
        }
    }
}
