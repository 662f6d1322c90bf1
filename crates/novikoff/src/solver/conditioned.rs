//! Rows in better numbers: columns shifted and scaled, without rounding anything.
//!
//! A column whose values all lie near one large number `c`, such as a time stamp, spends its digits on `c`.
//! With a free bias nothing is lost without it: `<w, x> + b = <w, x − c> + (b + <w, c>)`. Numbers within a
//! factor of two of each other have differences that are stored exactly (Sterbenz), so the shifted problem is
//! the same problem. Without a penalty the same is true of columns times powers of two; a penalty would count
//! other weights.

use super::double_double::Double;
use crate::data::Matrix;
use crate::data::matrix::{Builder, Layout};
use crate::penalty::Bias;
use crate::risk::Point;

/// A column is shifted where its values differ by no more than this part of them.
const NARROW: f64 = 1.0 / 256.0;
/// A constant column is shifted, that is left out, only where it is larger than this: smaller ones do no
/// harm.
const LARGE: f64 = 1024.0;
/// Columns are scaled where one has no value above one over this, or the largest are so many times those of
/// the smallest.
const UNEVEN: f64 = 131_072.0;

/// Which changes leave the minimum where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// A bias that is not penalised absorbs a shift.
    pub shift: bool,
    /// Without a penalty the units of a column do not matter.
    pub scale: bool,
}

impl Allowed {
    /// By the bias, and by whether there is a penalty at all.
    pub(crate) fn by(bias: Bias, penalised: bool) -> Self {
        Self { shift: bias == Bias::Free || bias == Bias::Penalised && !penalised, scale: !penalised }
    }
}

/// The rows with their columns as `(x − shift)·factor`, every one of them exact.
pub(crate) struct Conditioned {
    rows: Matrix<'static>,
    /// Columns that are shifted, in ascending order, and by how much.
    shifts: Vec<(u32, f64)>,
    /// Powers of two; empty where columns are left in their units.
    factors: Vec<f64>,
}

impl Conditioned {
    /// The rows in better numbers; `None` where they are good as they are.
    pub(crate) fn of(rows: &Matrix, allowed: Allowed) -> Option<Self> {
        let shifts = if allowed.shift { shifts(rows) } else { Vec::new() };
        let factors = if allowed.scale { factors(rows, &shifts) } else { Vec::new() };
        if shifts.is_empty() && factors.is_empty() {
            return None;
        }
        let rows = changed(rows, &shifts, &factors)?;
        Some(Self { rows, shifts, factors })
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &Matrix<'_> {
        &self.rows
    }

    /// The point of these rows that gives the scores which `point` gives the rows as they were.
    pub(crate) fn forth(&self, point: &Point) -> Point {
        let mut weights = point.weights.clone();
        weights.iter_mut().zip(&self.factors).for_each(|(w, factor)| *w /= factor);
        Point { bias: self.moved_bias(point.bias, &point.weights, 1.0), weights }
    }

    /// The point of the rows as they were that gives the scores which `point` gives these.
    pub(crate) fn back(&self, point: &Point) -> Point {
        let mut weights = point.weights.clone();
        weights.iter_mut().zip(&self.factors).for_each(|(w, factor)| *w *= factor);
        Point { bias: self.moved_bias(point.bias, &weights, -1.0), weights }
    }

    /// `bias + sign·<weights, shifts>`, rounded once.
    fn moved_bias(&self, bias: f64, weights: &[f64], sign: f64) -> f64 {
        let mut sum = Double::product(bias, 1.0);
        for (j, shift) in &self.shifts {
            sum += Double::product(sign * shift, weights.get(*j as usize).copied().unwrap_or(0.0));
        }
        sum.value()
    }
}

/// The middle of every column whose values lie close together and far from zero. Most files show no such
/// column after a few rows, and the rest of them is not read.
fn shifts(rows: &Matrix) -> Vec<(u32, f64)> {
    let mut candidates: Vec<(u32, f64, f64)> = Vec::new();
    if rows.rows() > 0 {
        rows.row(0).for_each_nonzero(|j, x| candidates.push((j, x, x)));
    }
    for i in 1..rows.rows() {
        if candidates.is_empty() {
            return Vec::new();
        }
        let mut left = std::mem::take(&mut candidates).into_iter().peekable();
        rows.row(i).for_each_nonzero(|j, x| {
            while left.next_if(|(column, ..)| *column < j).is_some() {}
            if let Some((_, low, high)) = left.next_if(|(column, ..)| *column == j) {
                let (low, high) = (low.min(x), high.max(x));
                // Also where the signs differ: then the spread is larger than either end.
                if high - low <= NARROW * high.abs().min(low.abs()) {
                    candidates.push((j, low, high));
                }
            }
        });
    }
    let matters = |(_, low, high): &(u32, f64, f64)| low < high || low.abs() > LARGE;
    candidates.into_iter().filter(matters).map(|(j, low, high)| (j, low + 0.5 * (high - low))).collect()
}

/// Powers of two that bring the largest value of every column between 1 and 2; none where all are of about
/// one size.
fn factors(rows: &Matrix, shifts: &[(u32, f64)]) -> Vec<f64> {
    let largest = largest(rows, shifts);
    let used = || largest.iter().copied().filter(|x| *x > 0.0);
    let (least, most) = (used().fold(f64::INFINITY, f64::min), used().fold(0.0, f64::max));
    if most == 0.0
        || most.is_infinite()
        || (most <= UNEVEN && least >= 1.0 / UNEVEN && most <= UNEVEN * least)
    {
        return Vec::new();
    }
    largest.into_iter().map(power_below).map(f64::recip).collect()
}

/// The largest absolute value of every column, after the shifts.
fn largest(rows: &Matrix, shifts: &[(u32, f64)]) -> Vec<f64> {
    let mut offsets = vec![0.0; rows.columns()];
    shifts.iter().for_each(|(j, shift)| offsets[*j as usize] = *shift);
    let mut largest = vec![0.0f64; rows.columns()];
    for i in 0..rows.rows() {
        rows.row(i).for_each_nonzero(|j, x| {
            let j = j as usize;
            largest[j] = largest[j].max((x - offsets[j]).abs());
        });
    }
    largest
}

/// The largest power of two that is no larger; 1 for zero and for what has no such power whose inverse is
/// stored.
fn power_below(x: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & (0x7ff << 52));
    if power > 0.0 && power.is_finite() && power.recip().is_normal() { power } else { 1.0 }
}

/// The rows with their columns shifted and scaled; `None` if that would round a number.
fn changed(rows: &Matrix, shifts: &[(u32, f64)], factors: &[f64]) -> Option<Matrix<'static>> {
    let columns = rows.columns();
    let mut offsets = vec![0.0; columns];
    shifts.iter().for_each(|(j, shift)| offsets[*j as usize] = *shift);
    let layout = if rows.is_dense() { Layout::Dense { columns } } else { Layout::Sparse };
    let mut builder = Builder::new(layout);
    let (mut indices, mut values, mut exact) = (Vec::new(), Vec::new(), true);
    for i in 0..rows.rows() {
        indices.clear();
        values.clear();
        rows.row(i).for_each_nonzero(|j, x| {
            let (shifted, factor) =
                (x - offsets[j as usize], factors.get(j as usize).copied().unwrap_or(1.0));
            let value = shifted * factor;
            exact &= value / factor == shifted;
            indices.push(j);
            values.push(value);
        });
        builder.push(&indices, &values);
    }
    let mut matrix = builder.finish();
    matrix.widen(columns);
    exact.then_some(matrix)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{dense, sparse};
    use super::*;
    use proptest::prelude::*;

    const BOTH: Allowed = Allowed { shift: true, scale: true };

    #[test]
    fn ordinary_rows_are_left_as_they_are() {
        for rows in
            [vec![vec![1.0, -3.0], vec![1.0, 200.0]], vec![vec![-124.35], vec![-114.31]], vec![vec![0.0]; 3]]
        {
            assert!(Conditioned::of(&dense(&rows), BOTH).is_none());
            assert!(Conditioned::of(&sparse(&rows), BOTH).is_none());
        }
        let far = dense(&[vec![1.7e9], vec![1.7e9 + 9.0]]);
        assert!(Conditioned::of(&far, Allowed { shift: false, scale: false }).is_none());
    }

    proptest! {
        /// Every number of the new rows is what exact arithmetic makes of the old ones, and points give the
        /// same scores.
        #[test]
        fn nothing_is_rounded(
            rows in prop::collection::vec((0u32..1000, -1.0..1.0f64), 2..20),
            base in prop::sample::select(vec![1.7e9, -1e12, 3e-5, 4096.0]),
            weights in prop::collection::vec(-1.0..1.0f64, 2),
        ) {
            let table: Vec<Vec<f64>> = rows.iter()
                .map(|(k, x)| vec![base * (1.0 + f64::from(*k) * 2f64.powi(-30)), x * 1e-9]).collect();
            for matrix in [dense(&table), sparse(&table)] {
                let Some(found) = Conditioned::of(&matrix, BOTH) else { continue };
                let shift_of = |column: u32| {
                    found.shifts.iter().find(|(j, _)| *j == column).map_or(0.0, |(_, shift)| *shift)
                };
                for (i, row) in table.iter().enumerate() {
                    let mut there = [0.0; 2];
                    found.rows().row(i).for_each_nonzero(|j, x| there[j as usize] = x);
                    for column in 0..2 {
                        let factor = found.factors.get(column).copied().unwrap_or(1.0);
                        prop_assert_eq!(there[column] / factor + shift_of(column as u32), row[column]);
                    }
                }
                let point = Point { weights: weights.clone(), bias: 0.25 };
                let there = found.forth(&found.back(&point));
                prop_assert_eq!(&there.weights, &point.weights);
                // The bias of the rows as they were has the digits of the shift.
                let moved = |column: usize| {
                    let factor = found.factors.get(column).copied().unwrap_or(1.0);
                    (shift_of(column as u32) * weights[column] * factor).abs()
                };
                let digits = f64::EPSILON * (moved(0) + moved(1));
                prop_assert!((there.bias - point.bias).abs() <= 2.0 * digits + 1e-15, "{there:?} {point:?}");
            }
        }
    }
}
