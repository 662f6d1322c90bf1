//! A dot product together with what bounds its rounding error.

use crate::data::{Row, SparseValues, by_storage};

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

    /// Adds to the first of the four.
    #[inline(always)]
    fn add_one(&mut self, w: f64, x: f64) {
        self.sums[0] += w * x;
        self.sizes[0] += (w * x).abs();
    }
}

/// `<w, x>` and `Σ |wⱼxⱼ|`, each in four partial sums that are added up at the end.
#[inline]
pub(super) fn dot_and_size(row: Row<'_>, weights: &[f64]) -> (f64, f64) {
    let mut fours = SumAndSize::default();
    let mut rest = SumAndSize::default();
    by_storage!(row,
    dense(x) => {
        let weights = &weights[..weights.len().min(x.len())];
        let (x_fours, x_rest) = x[..weights.len()].as_chunks::<4>();
        let (w_fours, w_rest) = weights.as_chunks::<4>();
        w_fours.iter().zip(x_fours).for_each(|(w, x)| fours.add(*w, x.map(Into::into)));
        w_rest.iter().zip(x_rest).for_each(|(w, &x)| rest.add_one(*w, x.into()));
    },
    sparse(j, x) => {
        let at = |&j: &u32| weights.get(j as usize).copied().unwrap_or(0.0);
        x.visit_fours(j, |j, x| fours.add(j.each_ref().map(at), x), |j, x| rest.add_one(at(&j), x));
    });
    let add = |[a, b, c, d]: [f64; 4], rest: [f64; 4]| (a + b) + (c + d) + rest[0];
    (add(fours.sums, rest.sums), add(fours.sizes, rest.sizes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fixture::{Storages, one_value, same_for_both};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_storage_gives_the_naive_sums(
            values in prop::collection::vec(-4i8..5, 0..70),
            weights in prop::collection::vec(-9i8..10, 0..70),
        ) {
            let storages = Storages::new(&values);
            let weights: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
            let products = || weights.iter().enumerate().map(|(j, w)| w * storages.value(j));
            let naive: (f64, f64) = (products().sum(), products().map(f64::abs).sum());
            for row in storages.rows() {
                prop_assert_eq!(dot_and_size(row, &weights), naive);
            }
        }

        #[test]
        fn one_value_for_all_entries_gives_the_bits_of_repeated_values(
            rows in one_value(),
            weights in prop::collection::vec(-1e3f64..1e3, 0..100),
        ) {
            prop_assert!(same_for_both(&rows, |row| dot_and_size(row, &weights)));
        }
    }
}
