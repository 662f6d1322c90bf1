//! The default: columns of numbers to a spread of about 1, indicators and the terms of documents as they are.
//!
//! The size of a column is the power of two next to its spread, so that no value is rounded by the division,
//! and whoever has the rows can find the same size by arithmetic without rounding. With the values `x` of the
//! rows that count, their weights `r`, `W = Σ r` over the values that are not zero and `T = Σ r` over all,
//!
//! - a column with one value `c` besides zero has the spread `|c|`: it is an indicator;
//! - of any other column zeros count for `min(T − W, 7W)`, and with `N = min(T, 8W)` the square of the spread
//!   is the variance `(N·Σrx² − (Σrx)²)/N²`.
//!
//! Where half of a column's values are not zero, or an eighth, that is its variance. But the variance of a
//! column with few values goes to zero with their share, and divided by it they would be larger the rarer
//! they are: a value that one row in a hundred thousand has would be multiplied by 300.

use super::{MANY, by_column, counted, weight_of};
use crate::data::Matrix;
use crate::exact::Dyadic;
use num_bigint::BigInt;

/// How many times as much as its other values the zeros of a column count at most.
const ZEROS: f64 = 7.0;
/// Sizes are `2^-MOST` to `2^MOST`.
const MOST: i32 = 1000;
/// Rounding errors beyond this part of a variance are not trusted to be as small as they are estimated.
const UNSURE: f64 = 1e-3;

/// What is known of the columns for [`Scale::Standard`](super::Scale::Standard).
pub(crate) struct Standard {
    columns: Vec<Moments>,
    /// The exponents of the sizes.
    exponents: Vec<i32>,
    /// How many rows count.
    counted: u64,
}

impl Standard {
    /// Of rows, and how much each counts.
    pub(crate) fn of(rows: &Matrix, row_weights: &[f64]) -> Self {
        let (total, counted) = counted(rows, row_weights);
        let all = Total { weight: total, counted, is_exact: sum_without_rounding(row_weights) };
        let columns = moments(rows, row_weights);
        let mut exponents = Vec::with_capacity(columns.len());
        let mut unsettled = Vec::new();
        for (column, j) in columns.iter().zip(0u32..) {
            let exponent = column.exponent(&all);
            unsettled.extend(exponent.is_none().then_some(j));
            exponents.push(exponent.unwrap_or(0));
        }
        for (j, exponent) in exact_exponents(rows, row_weights, &unsettled) {
            exponents[j as usize] = exponent;
        }
        Self { columns, exponents, counted }
    }

    /// What every column is multiplied by.
    pub(crate) fn factors(&self) -> Vec<f64> {
        self.exponents.iter().map(|exponent| 2f64.powi(-exponent)).collect()
    }

    /// A number near the mean of every column of numbers that are mostly not zero; 0 for the others. As a
    /// multiple of a part of the column's size it has few digits, and so have the differences from it.
    pub(crate) fn centres(&self) -> Vec<f64> {
        let centre = |(column, exponent): (&Moments, &i32)| {
            let is_dense = 2 * column.count >= self.counted && column.count > 0;
            let is_indicator = column.least >= column.most && column.count < self.counted;
            if is_dense && !is_indicator { column.centre(self.counted, *exponent) } else { 0.0 }
        };
        self.columns.iter().zip(&self.exponents).map(centre).collect()
    }
}

/// The rows that count.
struct Total {
    /// The sum of their weights.
    weight: f64,
    counted: u64,
    /// Whether sums of their weights are not rounded.
    is_exact: bool,
}

/// Whether no sum of such weights is rounded: they are whole numbers, and few enough.
fn sum_without_rounding(row_weights: &[f64]) -> bool {
    row_weights.iter().all(|weight| weight.fract() == 0.0) && row_weights.iter().sum::<f64>() < 2f64.powi(53)
}

/// What is known of the entries of a column that are not zero and count: sums of their differences from one
/// of them, which is as near the others as they are to each other. Nothing is divided.
#[derive(Clone, Copy)]
struct Moments {
    /// How many there are, and the sum of their weights.
    count: u64,
    weight: f64,
    /// The first of them.
    pivot: f64,
    /// `Σ r(x − pivot)` and `Σ r(x − pivot)²`.
    sum: f64,
    squares: f64,
    least: f64,
    most: f64,
}

fn moments(rows: &Matrix, row_weights: &[f64]) -> Vec<Moments> {
    let add = |column: &mut Moments, _: usize, x: f64, weight: f64| column.add(x, weight);
    by_column(rows, row_weights, Moments::EMPTY, add, Moments::join)
}

/// The standard deviation of every column among the rows that count; nothing where there are very many
/// columns.
pub(crate) fn spreads(rows: &Matrix, row_weights: &[f64]) -> Vec<f32> {
    if rows.columns() > MANY {
        return Vec::new();
    }
    let (total, counted) = counted(rows, row_weights);
    let spread = |column: &Moments| column.spread(total, counted).min(f32::MAX.into()) as f32;
    moments(rows, row_weights).iter().map(spread).collect()
}

impl Moments {
    const EMPTY: Moments = Moments {
        count: 0,
        weight: 0.0,
        pivot: 0.0,
        sum: 0.0,
        squares: 0.0,
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
    };

    #[inline(always)]
    fn add(&mut self, x: f64, weight: f64) {
        if self.count == 0 {
            self.pivot = x;
        }
        let off = x - self.pivot;
        self.count += 1;
        self.weight += weight;
        self.sum += weight * off;
        self.squares += weight * off * off;
        self.least = self.least.min(x);
        self.most = self.most.max(x);
    }

    /// The same of the entries of both.
    fn join(&mut self, other: &Moments) {
        if self.count == 0 || other.count == 0 {
            *self = if self.count == 0 { *other } else { *self };
            return;
        }
        let by = other.pivot - self.pivot;
        self.squares += other.squares + by * (2.0 * other.sum + by * other.weight);
        self.sum += other.sum + by * other.weight;
        self.weight += other.weight;
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// The mean of these entries.
    fn mean(&self) -> f64 {
        self.pivot + self.sum / self.weight
    }

    /// The sum of squares around the mean of these entries and zeros of this weight.
    fn squares_with(&self, zeros: f64) -> f64 {
        let own = (self.squares - self.sum * (self.sum / self.weight)).max(0.0);
        own + self.mean() * self.mean() * (self.weight * (zeros / (self.weight + zeros)))
    }

    /// The standard deviation among rows of this weight and number, in which all other entries are zero.
    fn spread(&self, total: f64, counted: u64) -> f64 {
        if self.count == 0 || self.count == counted && self.least >= self.most {
            return 0.0;
        }
        let zeros = if self.count < counted { (total - self.weight).max(0.0) } else { 0.0 };
        let spread = (self.squares_with(zeros) / (self.weight + zeros)).sqrt();
        // Where squares are too large to be stored, the largest value is near enough.
        if spread.is_finite() { spread } else { self.least.abs().max(self.most.abs()) }
    }

    /// The weight of the zeros among these rows, as far as it counts, and how far that may be off beyond a
    /// few roundings of itself. A difference of sums says nothing where they are nearly the same, but where
    /// there are no zeros their number says it.
    fn zeros(&self, all: &Total) -> (f64, f64) {
        if self.count == all.counted {
            return (0.0, 0.0);
        }
        let zeros = (all.weight - self.weight).max(0.0);
        let off = if all.is_exact { 0.0 } else { (all.counted as f64 + 64.0) * f64::EPSILON * all.weight };
        let most = ZEROS * self.weight;
        if zeros - off > most { (most, 0.0) } else { (zeros.min(most), off) }
    }

    /// The exponent of the size; `None` where doubles are too close to the middle between two, or may be.
    fn exponent(&self, all: &Total) -> Option<i32> {
        if self.count == 0 {
            return Some(0);
        }
        if self.least >= self.most {
            return Some(nearest_exponent(self.least.abs()));
        }
        let weight = self.weight;
        let (zeros, zeros_off) = self.zeros(all);
        let squares = self.squares_with(zeros);
        let variance = squares / (weight + zeros);
        // Every sum is off by so many roundings of its parts, of which the squares about the pivot are the
        // largest; the mean, in units of the spread, by as many of itself. Each unit of weight that the zeros
        // are off adds the square of the mean.
        let square_of_mean = self.mean() * self.mean();
        let condition = 1.0 + (self.squares + square_of_mean * zeros) / squares;
        let rounding = 16.0 * (self.count as f64 + 64.0) * f64::EPSILON * condition;
        let off = rounding + zeros_off * (square_of_mean / squares + 1.0 / (weight + zeros));
        let is_ordinary = |x: f64| (1e-290..1e290).contains(&x);
        if !(off < UNSURE && is_ordinary(variance) && is_ordinary(squares)) {
            return None;
        }
        let low = exponent_of_square(variance * (1.0 - off));
        (low == exponent_of_square(variance * (1.0 + off))).then_some(low)
    }

    /// A multiple of a quarter of the size that is next to the mean of all rows; of a constant column the
    /// constant.
    fn centre(&self, counted: u64, exponent: i32) -> f64 {
        if self.least >= self.most {
            return self.least;
        }
        let unit = 2f64.powi((exponent - 2).max(-MOST));
        let mean = self.mean() * (self.count as f64 / counted as f64);
        let centre = (mean / unit).round() * unit;
        // No difference from it may be too large to be stored.
        let is_ordinary = |x: f64| x.abs() <= 0.25 * f64::MAX;
        let all = [centre, self.least, self.most];
        if all.into_iter().all(is_ordinary) { centre } else { 0.0 }
    }
}

/// The `k` with `4^k/2 ≤ x² < 2·4^k`, for a number `x > 0`.
fn nearest_exponent(x: f64) -> i32 {
    // Below the normal numbers the bits of the exponent say nothing.
    let (x, lifted) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(64), 64) } else { (x, 0) };
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((x.to_bits() & ((1 << 52) - 1)) | 1023 << 52);
    // This is the stored number above the root of 2, which none is equal to.
    let above = i32::from(mantissa >= std::f64::consts::SQRT_2);
    (exponent + above - lifted).clamp(-MOST, MOST)
}

/// The `k` with `4^k/2 ≤ x < 2·4^k`, for a normal number `x > 0`.
fn exponent_of_square(x: f64) -> i32 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (exponent + 1).div_euclid(2).clamp(-MOST, MOST)
}

/// The sums over a column without rounding.
#[derive(Default)]
struct ExactColumn {
    weight: Dyadic,
    sum: Dyadic,
    squares: Dyadic,
}

/// The exponents of some columns, in ascending order, whose values differ, by arithmetic without rounding.
fn exact_exponents(rows: &Matrix, row_weights: &[f64], columns: &[u32]) -> Vec<(u32, i32)> {
    if columns.is_empty() {
        return Vec::new();
    }
    let mut total = Dyadic::default();
    let mut sums: Vec<ExactColumn> = columns.iter().map(|_| ExactColumn::default()).collect();
    for i in 0..rows.rows() {
        let weight = weight_of(row_weights, i);
        if weight > 0.0 {
            total.add_product(weight, 1.0);
            let weight = Dyadic::of(weight);
            rows.row(i).for_each_nonzero(|j, x| {
                if let Ok(at) = columns.binary_search(&j) {
                    sums[at].add(x, &weight);
                }
            });
        }
    }
    columns.iter().zip(&sums).map(|(j, sums)| (*j, sums.exponent(&total))).collect()
}

impl ExactColumn {
    fn add(&mut self, x: f64, weight: &Dyadic) {
        let x = Dyadic::of(x);
        let weighted = x.times(weight);
        self.squares.add(&weighted.times(&x));
        self.sum.add(&weighted);
        self.weight.add(weight);
    }

    /// The `k` with `4^k·N² ≤ 2(N·Σrx² − (Σrx)²) < 4·4^k·N²`.
    fn exponent(&self, total: &Dyadic) -> i32 {
        let most = self.weight.times(&Dyadic::whole(BigInt::from(8)));
        let all = if *total < most { total } else { &most };
        let mut twice = all.times(&self.squares);
        twice.add(&self.sum.times(&self.sum).times(&Dyadic::whole(BigInt::from(-1))));
        let twice = twice.times(&Dyadic::whole(BigInt::from(2)));
        let square = all.times(all);
        // Within one of the exponent, by lengths alone; then up to it.
        let mut k = (twice.magnitude() - square.magnitude()).div_euclid(2) - 1;
        while square.shifted(2 * (k + 1)) <= twice {
            k += 1;
        }
        k.clamp(-MOST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Scale;
    use crate::data::matrix::Layout;
    use crate::data::scale::tests::matrix;
    use proptest::prelude::*;

    fn factors(rows: &[Vec<f64>], weights: &[f64], layout: Layout) -> Vec<f64> {
        Scale::Standard.factors(&matrix(rows, layout), weights)
    }

    /// A column as rows.
    fn column(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|x| vec![*x]).collect()
    }

    /// By definition, with the checker's arithmetic: the exponent of every column's size.
    fn naive(rows: &[Vec<f64>], weights: &[f64], j: usize) -> i32 {
        let kept =
            || rows.iter().enumerate().map(|(i, row)| (row[j], weight_of(weights, i))).filter(|x| x.1 > 0.0);
        let mut total = Dyadic::default();
        kept().for_each(|(_, r)| total.add_product(r, 1.0));
        let mut sums = ExactColumn::default();
        kept().filter(|(x, _)| *x != 0.0).for_each(|(x, r)| sums.add(x, &Dyadic::of(r)));
        let first = kept().map(|(x, _)| x).find(|x| *x != 0.0);
        let Some(first) = first else { return 0 };
        if kept().all(|(x, _)| x == 0.0 || x == first) {
            let square = Dyadic::of(first).times(&Dyadic::of(first)).times(&Dyadic::whole(BigInt::from(2)));
            return (-1000..1000).find(|k| square < Dyadic::of(4.0).shifted(2 * k)).unwrap_or(1000);
        }
        sums.exponent(&total)
    }

    proptest! {
        #[test]
        fn factors_are_what_arithmetic_without_rounding_says(
            values in prop::collection::vec((-4i8..5, 0u8..4, 0u8..3), 1..60),
            exponent in prop::sample::select(vec![-1070, -500, -20, 0, 1, 500, 1020]),
            offset in prop::sample::select(vec![0.0, 3.0, 1e6, 1e15]),
            weighted in any::<bool>(),
        ) {
            let of = |(x, kind, _): &(i8, u8, u8)| {
                let x = f64::from(*x);
                let x = match kind { 0 => 0.0, 1 => x, _ => x + offset };
                x * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
            };
            let rows: Vec<Vec<f64>> =
                values.iter().map(|value| vec![of(value), f64::from(value.0)]).collect();
            prop_assume!(rows.iter().flatten().all(|x| x.is_finite()));
            let weights: Vec<f64> = match weighted {
                true => values.iter().map(|value| [0.0, 0.1, 0.7][usize::from(value.2)]).collect(),
                false => Vec::new(),
            };
            for layout in [Layout::Sparse, Layout::Dense { columns: 2 }] {
                let factors = factors(&rows, &weights, layout);
                for (j, factor) in factors.iter().enumerate() {
                    prop_assert_eq!(*factor, 2f64.powi(-naive(&rows, &weights, j)));
                }
            }
        }

        /// Where a variance is next to the middle between two sizes: `±a` in equal numbers, and zeros.
        #[test]
        fn next_to_the_middle_between_two_sizes_nothing_is_rounded(
            steps in -3i64..4, exponent in -300i32..300, pairs in 1usize..40,
        ) {
            // As many zeros: the variance is a²/2, in the middle for powers of two.
            let a = f64::from_bits((2f64.powi(exponent).to_bits() as i64 + steps) as u64);
            let rows: Vec<Vec<f64>> =
                (0..4 * pairs).map(|i| vec![[a, -2f64.powi(exponent), 0.0, 0.0][i % 4]]).collect();
            let expected = if steps < 0 { exponent - 1 } else { exponent };
            prop_assert_eq!(factors(&rows, &[], Layout::Sparse), [2f64.powi(-expected)]);
            prop_assert_eq!(naive(&rows, &[], 0), expected);
        }

        #[test]
        fn scaled_rows_have_a_spread_between_the_roots_of_a_half_and_of_two(
            values in prop::collection::vec(-1e3..1e3f64, 2..50), unit in -200i32..200,
        ) {
            prop_assume!(values.iter().any(|x| *x != values[0]) && values.iter().all(|x| *x != 0.0));
            let rows = column(&values.iter().map(|x| x * 2f64.powi(unit)).collect::<Vec<_>>());
            let factor = factors(&rows, &[], Layout::Dense { columns: 1 })[0];
            let n = values.len() as f64;
            let scaled: Vec<f64> = rows.iter().map(|row| row[0] * factor).collect();
            let mean = scaled.iter().sum::<f64>() / n;
            let variance = scaled.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            prop_assert!((0.5 - 1e-9..2.0 + 1e-9).contains(&variance), "{variance}");
            prop_assert!(rows.iter().zip(&scaled).all(|(row, x)| x / factor == row[0]), "nothing is rounded");
        }
    }

    /// The sums of such weights are rounded, by less than a millionth of the least of them: as a weight of
    /// zeros, which are far from the others, that would be nearly all of the spread.
    #[test]
    fn rounded_sums_of_weights_are_not_taken_for_zeros() {
        let mut random = crate::random::Random::new(1);
        let times: Vec<f64> = (0..10_000).map(|_| 1.7e9 + random.normal()).collect();
        let mut some_zeros = times.clone();
        some_zeros[77] = 0.0;
        let rows: Vec<Vec<f64>> = times.iter().zip(&some_zeros).map(|(a, b)| vec![*a, *b]).collect();
        for of_row in [|_| 0.1, |_| 0.3, |_| 0.7, |i: usize| [0.1, 0.3, 0.7][i % 3]] {
            let mut weights: Vec<f64> = (0..rows.len()).map(of_row).collect();
            for light in [weights[77], 1e-15] {
                weights[77] = light;
                for layout in [Layout::Sparse, Layout::Dense { columns: 2 }] {
                    let found = factors(&rows, &weights, layout);
                    let expected = [0, 1].map(|j| 2f64.powi(-naive(&rows, &weights, j)));
                    assert_eq!(found, expected, "weights such as {}", weights[0]);
                    assert_eq!(found[0], 1.0);
                }
            }
        }
    }

    #[test]
    fn indicators_and_one_hot_columns_are_left_as_they_are() {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| vec![f64::from(i % 2), f64::from(i == 3), 1.0, f64::from(i % 3 == 0) * 255.0])
            .collect();
        assert_eq!(factors(&rows, &[], Layout::Sparse), [1.0, 1.0, 1.0, 1.0 / 256.0]);
        let standard = Standard::of(&matrix(&rows, Layout::Sparse), &[]);
        assert_eq!(standard.centres(), [0.0, 0.0, 1.0, 0.0], "only the constant column is moved");
    }

    #[test]
    fn rare_values_of_a_sparse_column_are_not_blown_up() {
        let rare: Vec<f64> =
            (0..10_000).map(|i| if i % 1000 == 0 { 1.0 + f64::from(i) / 1e4 } else { 0.0 }).collect();
        assert_eq!(factors(&column(&rare), &[], Layout::Sparse), [2.0]);
        let all: Vec<f64> = rare.into_iter().filter(|x| *x != 0.0).collect();
        assert_eq!(factors(&column(&all), &[], Layout::Sparse), [4.0]);
    }

    #[test]
    fn rows_that_do_not_count_and_empty_columns_change_nothing() {
        let rows = vec![vec![3.0, 0.0], vec![5.0, 0.0], vec![1e300, 7.0]];
        assert_eq!(factors(&rows, &[1.0, 1.0, 0.0], Layout::Sparse), [1.0, 1.0]);
        assert_eq!(factors(&rows, &[0.0; 3], Layout::Sparse), [1.0, 1.0]);
        assert!(factors(&[vec![]], &[], Layout::Sparse).is_empty());
    }

    #[test]
    fn a_centre_is_near_the_mean_and_has_few_digits() {
        let years: Vec<f64> = (0..121).map(|i| 1900.0 + f64::from(i)).collect();
        let standard = Standard::of(&matrix(&column(&years), Layout::Dense { columns: 1 }), &[]);
        assert_eq!((standard.factors(), standard.centres()), (vec![1.0 / 32.0], vec![1960.0]));
        let moved =
            matrix(&column(&years), Layout::Sparse).standardised(&standard.factors(), &standard.centres());
        assert!(moved.is_single());
        assert_eq!((moved.row(0).dot(&[1.0]), moved.row(60).nonzeros()), (-60.0 / 32.0, 0));
    }

    #[test]
    fn zeros_of_a_centred_column_are_moved_with_the_others() {
        let rows = vec![vec![10.0, 1.0], vec![0.0, 0.0], vec![30.0, 0.0], vec![20.0, 1.0]];
        for layout in [Layout::Sparse, Layout::Dense { columns: 2 }] {
            let moved = matrix(&rows, layout).standardised(&[0.5, 1.0], &[16.0, 0.0]);
            let dense = |i: usize| [moved.row(i).dot(&[1.0, 0.0]), moved.row(i).dot(&[0.0, 1.0])];
            assert_eq!(
                [dense(0), dense(1), dense(2), dense(3)],
                [[-3.0, 1.0], [-8.0, 0.0], [7.0, 0.0], [2.0, 1.0]]
            );
        }
    }
}
