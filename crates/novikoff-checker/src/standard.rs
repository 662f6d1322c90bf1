//! The power of two next to the spread of a column.

use crate::number::{Dyadic, Enclosure, Sum};

/// Sizes are `2^-MOST` to `2^MOST`.
const MOST: i64 = 1000;

/// The size `2^k` of a column that has these entries in the rows that count, and zeros in all others: with
/// `s²` the square of its spread, `4^k/2 ≤ s² < 2·4^k`.
///
/// The spread of a column whose entries are all the same is the size of one. Else, with `W` the weight of the
/// rows with an entry, zeros have what is left of `total`, but at most `7W`: in all `N = min(total, 8W)`, and
/// `s² = (N·Σrx² − (Σrx)²)/N²`. Nothing here is rounded.
pub fn size<'w>(entries: &[(u32, f64)], weight: impl Fn(u32) -> &'w Dyadic, total: &Dyadic) -> Enclosure {
    let Some((_, first)) = entries.first() else { return Enclosure::one() };
    let (square, over) = match entries.iter().all(|(_, x)| x == first) {
        true => (Dyadic::of(*first).square(), Dyadic::whole(1)),
        false => spread(entries, weight, total),
    };
    let two = Dyadic::whole(2);
    let mut k = 0;
    // Too large while s² < 4^k/2, and too small while 2·4^k ≤ s².
    while k > -MOST && &square * &two < over.shifted(2 * k) {
        k -= 1;
    }
    while k < MOST && square >= &over.shifted(2 * k) * &two {
        k += 1;
    }
    Enclosure::exactly(Dyadic::whole(1).shifted(k))
}

/// The numerator and the denominator of `s²`.
fn spread<'w>(
    entries: &[(u32, f64)],
    weight: impl Fn(u32) -> &'w Dyadic,
    total: &Dyadic,
) -> (Dyadic, Dyadic) {
    let (mut squares, mut sum, mut weights) = (Sum::default(), Sum::default(), Sum::default());
    for (turn, x) in entries {
        let weighted = weight(*turn) * Dyadic::of(*x);
        squares.add_product(&weighted, *x);
        sum.add(&weighted);
        weights.add(weight(*turn));
    }
    let counted = weights.value().shifted(3).min(total.clone());
    (&counted * squares.value() - sum.value().square(), counted.square())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a column with these values in rows of these weights, and zeros in rows of weight `zeros`.
    fn size_of(values: &[(f64, f64)], zeros: f64) -> Dyadic {
        let weights: Vec<Dyadic> = values.iter().map(|(_, r)| Dyadic::of(*r)).collect();
        let total = weights.iter().sum::<Dyadic>() + Dyadic::of(zeros);
        let entries: Vec<(u32, f64)> = (0..).zip(values).map(|(turn, (x, _))| (turn, *x)).collect();
        let size = size(&entries, |turn| &weights[turn as usize], &total);
        assert_eq!(size.low, size.high);
        size.low
    }

    #[test]
    fn indicators_are_their_value_and_its_neighbours_decide_at_the_root_of_two() {
        for zeros in [0.0, 1.0, 1e6] {
            assert_eq!(size_of(&[(1.0, 1.0); 3], zeros), Dyadic::whole(1));
            assert_eq!(size_of(&[(-5.0, 1.0), (-5.0, 2.0)], zeros), Dyadic::whole(4));
        }
        let above = std::f64::consts::SQRT_2;
        assert_eq!(size_of(&[(above, 1.0)], 1.0), Dyadic::whole(2));
        assert_eq!(size_of(&[(above.next_down(), 1.0)], 1.0), Dyadic::whole(1));
        assert_eq!(size_of(&[], 1.0), Dyadic::whole(1));
    }

    #[test]
    fn a_variance_of_exactly_half_a_power_of_four_belongs_to_that_power() {
        // Values 0 ± a in equal numbers, no zeros: the variance is a². With zeros as heavy, half of it.
        assert_eq!(size_of(&[(2.0, 1.0), (-2.0, 1.0)], 2.0), Dyadic::whole(2));
        let below = 2.0f64.next_down();
        assert_eq!(size_of(&[(below, 1.0), (-2.0, 1.0)], 2.0), Dyadic::whole(1));
    }

    #[test]
    fn zeros_count_seven_times_at_most() {
        let at = |zeros: f64| size_of(&[(40.0, 1.0), (41.0, 1.0)], zeros);
        assert_eq!(at(14.0), at(1e12));
        assert!(at(14.0) > at(0.0));
    }

    #[test]
    fn sizes_end_where_their_inverses_would() {
        assert_eq!(size_of(&[(1e308, 1.0)], 1.0), Dyadic::whole(1).shifted(1000));
        assert_eq!(size_of(&[(5e-324, 1.0), (1e-323, 1.0)], 0.0), Dyadic::whole(1).shifted(-1000));
    }
}
