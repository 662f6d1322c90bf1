//! Products of a row with the values of many rows, which lie side by side for each feature that has a slot.

use crate::data::{Float, Row, SparseValues, by_storage};

/// `<v_k, x>` of every lane `k`, in the precision of the lanes. Feature `j` has the lanes of `slots[j]`; slot
/// 0 holds zeros, for features that no lane has.
#[inline(always)]
pub(super) fn dot_slots<T: Float, const K: usize>(row: Row<'_>, slots: &[u32], lanes: &[[T; K]]) -> [T; K] {
    by_storage!(row,
        dense(x) => dot_entries(x.each().enumerate(), slots, lanes),
        sparse(j, x) => dot_entries(j.iter().map(|&j| j as usize).zip(x.each()), slots, lanes))
}

#[inline(always)]
fn dot_entries<T: Float, const K: usize>(
    entries: impl Iterator<Item = (usize, f64)>,
    slots: &[u32],
    lanes: &[[T; K]],
) -> [T; K] {
    let mut sums = [T::default(); K];
    for (j, x) in entries {
        let slot = slots.get(j).copied().unwrap_or(0);
        let (values, x) = (&lanes[slot as usize], T::nearest(x));
        for lane in 0..K {
            sums[lane] += values[lane] * x;
        }
    }
    sums
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
            others in prop::collection::vec(-9i8..10, 0..70),
        ) {
            let storages = Storages::new(&values);
            // The feature after the last has no slot, and neither has any beyond it.
            let zeros = std::iter::once([0.0, 0.0]);
            let lanes: Vec<[f64; 2]> = zeros.chain(others.iter().map(|&v| [f64::from(v), 1.0])).collect();
            let slots: Vec<u32> = (1..=others.len() as u32).chain([0]).collect();
            let naive = [0, 1]
                .map(|lane| (0..others.len()).map(|j| lanes[j + 1][lane] * storages.value(j)).sum::<f64>());
            for row in storages.rows() {
                prop_assert_eq!(dot_slots(row, &slots, &lanes), naive);
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(),
            others in prop::collection::vec(-1e3f64..1e3, 1..100),
        ) {
            let lanes: Vec<[f64; 2]> = others.iter().map(|&v| [v, 2.0 * v]).collect();
            let slots: Vec<u32> = (0..others.len() as u32).rev().collect();
            prop_assert!(same_for_both(&rows, |row| dot_slots(row, &slots, &lanes)));
        }
    }
}
