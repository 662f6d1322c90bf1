//! Columns of one size: learning is easier where no column is a thousand times as large as another.
//!
//! A scale is a factor per column. Learn on [`Matrix::scaled`] rows, then fold the factors into the weights
//! by `model::Weights::fold_back`: the model applies to raw rows, and its file knows nothing of scales.
//!
//! Where an objective is minimised, columns are not moved to a mean of zero. That would make every zero of a
//! sparse matrix something else, and it would gain nothing: `<w, x − m> + b = <w, x> + (b − <w, m>)`, so a
//! free bias takes up what moving would have changed. Learners that correct mistakes one by one do gain by
//! it: their columns of numbers are moved, too, where that costs no more than twice the entries
//! ([`Standard::centres`]).

mod standard;

pub(crate) use standard::{Standard, spreads};

use super::Matrix;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How columns are brought to one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Scale {
    /// Not at all.
    #[default]
    None,
    /// To unit variance: divided by the standard deviation around the column's mean.
    ///
    /// Zeros that are not stored count, row weights count, and the sum of squares is divided by the sum of
    /// the weights, not by one less.
    UnitVariance,
    /// To a largest absolute value of 1.
    MaxAbs,
    /// Columns of numbers to a spread of about 1, indicators as they are: the default of learners.
    ///
    /// Every column is divided by the power of two next to its spread, which rounds nothing. The spread of a
    /// column with one value besides zero is the size of that value. Of any other column it is the standard
    /// deviation, for which zeros count at most seven times as much as the other values: those of sparse
    /// columns would become too large otherwise.
    Standard,
}

/// No factor is smaller, and none larger than its inverse: products of factors with weights stay numbers.
const LEAST: f64 = 1e-300;

impl Scale {
    /// The factor of every column, from the rows that count; none at all (every factor is 1) for
    /// [`Scale::None`].
    ///
    /// Columns that cannot be scaled keep the factor 1: those that are the same in all rows, for the
    /// variance, and those that are zero in all rows, for the others. `row_weights` is empty if every
    /// row counts once; rows of weight 0 are not looked at.
    ///
    /// ```
    /// use novikoff::data::{Scale, matrix::{Builder, Layout}};
    /// let mut rows = Builder::new(Layout::Sparse);
    /// rows.push(&[0, 1], &[3.0, 7.0]);
    /// rows.push(&[1], &[7.0]);
    /// let rows = rows.finish();
    /// assert_eq!(Scale::UnitVariance.factors(&rows, &[]), [1.0 / 1.5, 1.0]);
    /// assert_eq!(Scale::MaxAbs.factors(&rows, &[]), [1.0 / 3.0, 1.0 / 7.0]);
    /// assert_eq!(Scale::Standard.factors(&rows, &[]), [1.0 / 4.0, 1.0 / 8.0]);
    /// ```
    pub fn factors(self, rows: &Matrix, row_weights: &[f64]) -> Vec<f64> {
        let columns = match self {
            Scale::None => return Vec::new(),
            Scale::MaxAbs => {
                let mut factors = largest(rows, row_weights);
                factors.par_iter_mut().with_min_len(1 << 14).for_each(|x| *x = inverse(*x));
                return factors;
            }
            Scale::UnitVariance => summarise(rows, row_weights, &[]),
            Scale::Standard => return Standard::of(rows, row_weights).factors(),
        };
        let (weight, counted) = counted(rows, row_weights);
        // Squares of such numbers would not be numbers, or zero: these columns are gone through once more,
        // made harmless.
        let harmless =
            |column: &Column| column.largest() == 0.0 || (1e-140..1e140).contains(&column.largest());
        let units: Vec<f64> = if columns.iter().all(harmless) {
            Vec::new()
        } else {
            columns
                .iter()
                .map(|column| if harmless(column) { 1.0 } else { inverse(column.largest()) })
                .collect()
        };
        let columns = if units.is_empty() { columns } else { summarise(rows, row_weights, &units) };
        let factor = |(j, column): (usize, &Column)| {
            let deviation = column.deviation(weight, counted);
            if deviation == 0.0 {
                1.0
            } else {
                (inverse(deviation) * factor_of(&units, j)).clamp(LEAST, 1.0 / LEAST)
            }
        };
        columns.iter().enumerate().map(factor).collect()
    }
}

/// The weight and the number of the rows that count.
fn counted(rows: &Matrix, row_weights: &[f64]) -> (f64, u64) {
    let weight = (0..rows.rows()).map(|i| weight_of(row_weights, i)).sum();
    let count = (0..rows.rows()).filter(|&i| weight_of(row_weights, i) > 0.0).count();
    (weight, count as u64)
}

fn weight_of(row_weights: &[f64], i: usize) -> f64 {
    row_weights.get(i).copied().unwrap_or(1.0)
}

/// Factors that are not there are 1.
pub(super) fn factor_of(factors: &[f64], column: usize) -> f64 {
    factors.get(column).copied().unwrap_or(1.0)
}

/// The factor that makes such a size 1.
pub(crate) fn inverse(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { (1.0 / size).clamp(LEAST, 1.0 / LEAST) }
}

/// What is known of the entries of a column that are not zero and count.
#[derive(Clone, Copy)]
struct Column {
    /// How many there are, and the sum of their weights.
    count: u64,
    weight: f64,
    mean: f64,
    /// The weighted sum of squares around the mean.
    squares: f64,
    least: f64,
    most: f64,
}

impl Column {
    const EMPTY: Column = Column {
        count: 0,
        weight: 0.0,
        mean: 0.0,
        squares: 0.0,
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
    };

    /// Welford's update: no sum of squares that all but cancels against the square of a sum.
    fn add(&mut self, x: f64, weight: f64) {
        self.count += 1;
        self.weight += weight;
        let off = x - self.mean;
        self.mean += off * (weight / self.weight);
        self.squares += weight * off * (x - self.mean);
        self.least = self.least.min(x);
        self.most = self.most.max(x);
    }

    /// The same of the entries of both (Chan, Golub and LeVeque).
    fn join(&mut self, other: &Column) {
        if other.weight <= 0.0 {
            return;
        }
        let weight = self.weight + other.weight;
        let off = other.mean - self.mean;
        self.squares += other.squares + off * off * self.weight * (other.weight / weight);
        self.mean += off * (other.weight / weight);
        self.weight = weight;
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    fn largest(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.least.abs().max(self.most.abs()) }
    }

    /// The standard deviation among rows of this weight and number, in which all other entries are zero.
    /// Exactly zero for a constant column, however its sums were rounded.
    fn deviation(&self, weight: f64, rows: u64) -> f64 {
        let mut all = *self;
        if self.count < rows {
            let zeros = (weight - self.weight).max(0.0);
            all.join(&Column {
                count: rows - self.count,
                weight: zeros,
                mean: 0.0,
                squares: 0.0,
                least: 0.0,
                most: 0.0,
            });
        }
        if all.least >= all.most { 0.0 } else { (all.squares / all.weight).max(0.0).sqrt() }
    }
}

/// The largest absolute value of each column.
fn largest(rows: &Matrix, row_weights: &[f64]) -> Vec<f64> {
    let larger = |most: &mut f64, x: f64| *most = most.max(x.abs());
    by_column(rows, row_weights, 0.0, |most, _, x, _| larger(most, x), |most, other| larger(most, *other))
}

/// The size of a column, and the sum of its values, each times a factor of its row: known after one pass over
/// the entries instead of two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SizeAndSum {
    /// The largest absolute value; once [scaled](SizeAndSum::scale), the factor of [`Scale::MaxAbs`].
    pub size: f64,
    /// The sum; once scaled, times that.
    pub sum: f64,
}

impl SizeAndSum {
    /// Takes a value; one that does not count says nothing of the size.
    #[inline(always)]
    pub(crate) fn add(&mut self, x: f64, counts: bool, factor: f64) {
        let size = if counts { x.abs() } else { 0.0 };
        self.size = if size > self.size { size } else { self.size };
        self.sum += factor * x;
    }

    /// Takes those of other rows.
    pub(crate) fn join(&mut self, other: Self) {
        self.size = self.size.max(other.size);
        self.sum += other.sum;
    }

    /// Makes the size 1.
    pub(crate) fn scale(&mut self) {
        self.size = inverse(self.size);
        self.sum *= self.size;
    }
}

/// All that is known of each column, times `units`.
fn summarise(rows: &Matrix, row_weights: &[f64], units: &[f64]) -> Vec<Column> {
    let add =
        |column: &mut Column, j: usize, x: f64, weight: f64| column.add(x * factor_of(units, j), weight);
    by_column(rows, row_weights, Column::EMPTY, add, Column::join)
}

/// Columns from so many on are dealt out among tasks, and not rows.
const MANY: usize = 1 << 16;

/// One pass over all entries of rows that count. Where columns are few, rows are cut into blocks by their
/// number alone and the blocks are put together in order, so that the bits do not depend on the threads.
fn by_column<C: Clone + Send + Sync>(
    rows: &Matrix,
    row_weights: &[f64],
    empty: C,
    add: impl Fn(&mut C, usize, f64, f64) + Sync,
    join: impl Fn(&mut C, &C),
) -> Vec<C> {
    if rows.columns() >= MANY {
        return rows.by_column(empty, |i| {
            let (weight, add) = (weight_of(row_weights, i), &add);
            move |j, column: &mut C, x| {
                if weight > 0.0 {
                    add(column, j, x, weight);
                }
            }
        });
    }
    let block = |block: Range<usize>| {
        let mut columns = vec![empty.clone(); rows.columns()];
        for i in block {
            let weight = weight_of(row_weights, i);
            if weight > 0.0 {
                rows.row(i).for_each_nonzero(|j, x| add(&mut columns[j as usize], j as usize, x, weight));
            }
        }
        columns
    };
    // A block is worth what it costs to keep something of every column.
    let cost = rows.columns() * (size_of::<C>() / 12).max(1) + 4096;
    let count = (rows.stored() / cost).clamp(1, 16).min(rows.rows().max(1));
    let blocks: Vec<Range<usize>> =
        (0..count).map(|b| rows.rows() * b / count..rows.rows() * (b + 1) / count).collect();
    let parts: Vec<Vec<C>> = blocks.into_par_iter().map(block).collect();
    let join = |mut all: Vec<C>, part: Vec<C>| {
        all.iter_mut().zip(&part).for_each(|(a, b)| join(a, b));
        all
    };
    parts.into_iter().reduce(join).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use crate::random::Random;
    use proptest::prelude::*;

    pub(super) fn matrix(rows: &[Vec<f64>], layout: Layout) -> Matrix<'static> {
        let mut builder = Builder::new(layout);
        for row in rows {
            let indices: Vec<u32> = (0..row.len() as u32).filter(|&j| row[j as usize] != 0.0).collect();
            builder.push(&indices, &indices.iter().map(|&j| row[j as usize]).collect::<Vec<_>>());
        }
        let mut matrix = builder.finish();
        matrix.widen(rows[0].len());
        matrix
    }

    /// By definition, in two passes over values made harmless.
    fn naive(rows: &[Vec<f64>], weights: &[f64], j: usize) -> (f64, f64) {
        let kept: Vec<(f64, f64)> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| (row[j], weight_of(weights, i)))
            .filter(|(_, c)| *c > 0.0)
            .collect();
        let largest = kept.iter().fold(0.0f64, |most, (x, _)| most.max(x.abs()));
        if kept.iter().all(|(x, _)| *x == kept[0].0) {
            return (1.0, inverse(largest));
        }
        let total: f64 = kept.iter().map(|(_, c)| c).sum();
        // A power of two: to divide by it rounds nothing.
        let unit = 2f64.powi(largest.log2().floor() as i32);
        let mean = kept.iter().map(|(x, c)| c * (x / unit)).sum::<f64>() / total;
        let variance = kept.iter().map(|(x, c)| c * (x / unit - mean).powi(2)).sum::<f64>() / total;
        (1.0 / variance.sqrt() / unit, 1.0 / largest)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-10 * a.abs().max(b.abs())
    }

    proptest! {
        #[test]
        fn factors_are_what_their_definition_says(
            seed in any::<u64>(),
            count in 1usize..200,
            columns in 1usize..6,
            density in 0.05f64..1.0,
            weighted in any::<bool>(),
            exponent in -250i32..250,
        ) {
            let mut random = Random::new(seed);
            let size: Vec<f64> =
                (0..columns).map(|_| [1.0, 1e-8, 10f64.powi(exponent)][random.below(3) as usize]).collect();
            let offset: Vec<f64> = (0..columns).map(|_| [0.0, 1.0, 1e4][random.below(3) as usize]).collect();
            let value = |j: usize, random: &mut Random| {
                if random.unit() < density { size[j] * (offset[j] + random.normal()) } else { 0.0 }
            };
            let rows: Vec<Vec<f64>> =
                (0..count).map(|_| (0..columns).map(|j| value(j, &mut random)).collect()).collect();
            let weights: Vec<f64> = if weighted {
                (0..count).map(|_| random.below(4) as f64 / 2.0).collect()
            } else {
                Vec::new()
            };
            prop_assume!((0..count).any(|i| weight_of(&weights, i) > 0.0));
            for layout in [Layout::Sparse, Layout::Dense { columns }] {
                let matrix = matrix(&rows, layout);
                let (variance, largest) = (
                    Scale::UnitVariance.factors(&matrix, &weights),
                    Scale::MaxAbs.factors(&matrix, &weights),
                );
                prop_assert!(Scale::None.factors(&matrix, &weights).is_empty());
                for j in 0..columns {
                    let (by_variance, by_largest) = naive(&rows, &weights, j);
                    prop_assert!(close(variance[j], by_variance), "{} {}", variance[j], by_variance);
                    prop_assert!(close(largest[j], by_largest), "{} {}", largest[j], by_largest);
                }
                // Scaled once, the factors are 1: the deviation is 1, and so is the largest value.
                let again = Scale::UnitVariance.factors(&matrix.scaled(&variance), &weights);
                prop_assert!(again.iter().all(|&f| close(f, 1.0)), "{again:?}");
                let again = Scale::MaxAbs.factors(&matrix.scaled(&largest), &weights);
                prop_assert!(again.iter().all(|&f| close(f, 1.0)), "{again:?}");
            }
        }

        #[test]
        fn rows_of_weight_two_are_rows_twice(values in prop::collection::vec(-9i8..10, 2..40)) {
            let once: Vec<Vec<f64>> = values.iter().map(|&x| vec![f64::from(x)]).collect();
            let weights: Vec<f64> = (0..once.len()).map(|i| [1.0, 2.0][i % 2]).collect();
            let twice: Vec<Vec<f64>> =
                once.iter().enumerate().flat_map(|(i, row)| vec![row.clone(); 1 + i % 2]).collect();
            for scale in [Scale::UnitVariance, Scale::MaxAbs] {
                let weighted = scale.factors(&matrix(&once, Layout::Sparse), &weights)[0];
                let repeated = scale.factors(&matrix(&twice, Layout::Sparse), &[])[0];
                prop_assert!(close(weighted, repeated), "{weighted} {repeated}");
            }
        }
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_two_do(
            rows in prop::collection::vec((prop::collection::vec(-3i8..4, 7), 0u8..3, -9i8..9), 1..60),
            weighted in any::<bool>(),
        ) {
            let values: Vec<Vec<f64>> =
                rows.iter().map(|(row, ..)| row.iter().map(|&x| f64::from(x)).collect()).collect();
            let weights: Vec<f64> =
                if weighted { rows.iter().map(|row| row.1.into()).collect() } else { Vec::new() };
            let factors: Vec<f64> = rows.iter().map(|row| row.2.into()).collect();
            let matrix = matrix(&values, Layout::Sparse);
            let mut both = [vec![SizeAndSum::default(); 7], vec![SizeAndSum::default(); 7]];
            for (i, row) in values.iter().enumerate() {
                let counts = weight_of(&weights, i) > 0.0;
                both[i % 2].iter_mut().zip(row).for_each(|(column, x)| column.add(*x, counts, factors[i]));
            }
            let [even, odd] = both;
            let scales = Scale::MaxAbs.factors(&matrix, &weights);
            for (j, (mut column, other)) in even.into_iter().zip(odd).enumerate() {
                column.join(other);
                let sum = values.iter().zip(&factors).map(|(row, f)| f * row[j]).sum::<f64>();
                column.scale();
                prop_assert_eq!(column, SizeAndSum { size: scales[j], sum: sum * scales[j] });
            }
        }
    }

    #[test]
    fn columns_that_are_constant_or_odd_get_factors_that_can_be_used() {
        let rows: Vec<Vec<f64>> = (0..3000)
            .map(|i| {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                vec![0.1, 0.0, sign * f64::MAX, sign * f64::MIN_POSITIVE / 4.0, 1e9 + sign, sign]
            })
            .collect();
        let matrix = matrix(&rows, Layout::Dense { columns: 6 });
        let factors = Scale::UnitVariance.factors(&matrix, &[]);
        assert_eq!(factors[..2], [1.0, 1.0], "constant columns");
        assert!(factors.iter().all(|f| f.is_finite() && *f > 0.0), "{factors:?}");
        assert!(close(factors[4], 1.0) && close(factors[5], 1.0), "{factors:?}");
        assert!(Scale::MaxAbs.factors(&matrix, &[]).iter().all(|f| f.is_finite() && *f > 0.0));
        let nothing = Builder::new(Layout::Sparse).finish();
        assert!(Scale::UnitVariance.factors(&nothing, &[]).is_empty());
        assert_eq!(Scale::UnitVariance.factors(&matrix, &[0.0; 3000]), [1.0; 6], "no row counts");
    }

    #[test]
    fn scaled_rows_are_stored_in_single_precision_only_if_that_is_exact() {
        let rows = matrix(&[vec![1.0, 0.0, 3.0], vec![0.0, 5.0, 0.0]], Layout::Sparse);
        let halves = rows.scaled(&[0.5, 0.25]);
        assert!(halves.is_single());
        assert_eq!((halves.row(0).dot(&[1.0; 3]), halves.row(1).dot(&[1.0; 3])), (3.5, 1.25));
        let thirds = rows.scaled(&[1.0 / 3.0; 3]);
        assert!(!thirds.is_single());
        assert_eq!(thirds.row(0).dot(&[1.0, 0.0, 0.0]), 1.0 / 3.0);
        assert_eq!(rows.scaled(&[]), rows);
    }
}
