//! How far computed standard deviations of columns can be from the true ones.
//!
//! For any number `m`, a variance is `(1/n) Σ r(x − m)² − ((1/n) Σ r(x − m))²`. With `m` near the mean, the
//! second term is next to nothing, and nothing cancels in the first: both are enclosed by their rounding
//! errors.

use super::range::{LARGE, UNDERFLOW, Unproved};
use crate::data::Dataset;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Computed deviations that are off by more are not used.
const MOST: f64 = 1e-3;

/// Sums over the entries of a column that are not zero, in rows that count.
#[derive(Clone, Default)]
struct Column {
    count: usize,
    weight: f64,
    /// Something near the mean of all rows.
    centre: f64,
    /// `Σ r(x − m)²`, `Σ r(x − m)` and `Σ r·|x − m|`.
    squares: f64,
    sum: f64,
    size: f64,
    least: f64,
    most: f64,
}

/// For each factor, `factor·deviation` is 1 but for this, or the factor is 1 and the column constant.
pub(super) fn off(data: &Dataset, factors: &[f64], total: f64) -> Result<f64, Unproved> {
    let mut columns =
        vec![Column { least: f64::INFINITY, most: f64::NEG_INFINITY, ..Column::default() }; factors.len()];
    let counted: Vec<usize> = (0..data.len()).filter(|&i| data.weight(i) > 0.0).collect();
    let each = |columns: &mut Vec<Column>, f: fn(&mut Column, f64, f64)| {
        for &i in &counted {
            let weight = data.weight(i);
            data.rows.row(i).for_each_nonzero(|j, x| {
                if let Some(column) = columns.get_mut(j as usize) {
                    f(column, x, weight);
                }
            });
        }
    };
    each(&mut columns, |column, x, weight| {
        column.count += 1;
        column.weight += weight;
        column.sum += weight * x;
        (column.least, column.most) = (column.least.min(x), column.most.max(x));
    });
    for column in &mut columns {
        column.centre = std::mem::take(&mut column.sum) / total;
    }
    each(&mut columns, |column, x, weight| {
        let from_centre = x - column.centre;
        column.squares += weight * from_centre * from_centre;
        column.sum += weight * from_centre;
        column.size += weight * from_centre.abs();
    });
    // Row weights that are all 1 are counted without rounding.
    let even = counted.iter().all(|&i| data.weight(i) == 1.0);
    let mut worst = 0.0f64;
    for (column, &factor) in columns.iter().zip(factors) {
        worst = worst.max(column.off(factor, total, counted.len(), even)?);
    }
    Ok(worst)
}

impl Column {
    /// What `factor·deviation` is off 1 by at most.
    fn off(&self, factor: f64, total: f64, rows: usize, even: bool) -> Result<f64, Unproved> {
        let (least, most) = match self.count < rows {
            true => (self.least.min(0.0), self.most.max(0.0)),
            false => (self.least, self.most),
        };
        if least >= most {
            return if factor == 1.0 { Ok(0.0) } else { Err("a constant column is scaled".into()) };
        }
        let unsettled = || {
            Unproved::Unsettled(
                "the standard deviation of a column is too small beside its values, or too small".into(),
            )
        };
        if factor > LARGE {
            return Err(unsettled());
        }
        let n = 2.0 * rows as f64 + 64.0;
        let zeros = if self.count < rows { (total - self.weight).max(0.0) } else { 0.0 };
        let off_zeros = if even { 0.0 } else { n * UNIT * total };
        let square = self.centre * self.centre;
        let squares = self.squares + zeros * square;
        let off_squares = n * UNIT * squares + off_zeros * square;
        let shift = (self.sum - zeros * self.centre).abs()
            + n * UNIT * (self.size + zeros * self.centre.abs())
            + off_zeros * self.centre.abs();
        let shift = shift / total * (1.0 + n * UNIT);
        let low = (squares - off_squares) / total * (1.0 - n * UNIT)
            - shift * shift * (1.0 + 4.0 * UNIT)
            - UNDERFLOW;
        let high = (squares + off_squares) / total * (1.0 + n * UNIT) + UNDERFLOW;
        if !(low > 0.0 && high.is_finite()) {
            return Err(unsettled());
        }
        let off = (high.sqrt() * factor - 1.0).abs().max((low.sqrt() * factor - 1.0).abs()) + 16.0 * UNIT;
        if off <= MOST { Ok(off) } else { Err(unsettled()) }
    }
}
