//! Many kernels at once: a tile stores rows transposed, so that one pass over another row computes its
//! kernels with all of them.
//!
//! For every feature that occurs in the tile, its values in all rows are stored side by side; each entry of
//! the other row adds its value times those. One instruction works on eight rows, sums stay in registers, and
//! features that the other row does not have cost nothing: on `mnist`, where a fifth of the pixels are not
//! white, that is several times as fast as a dense matrix product. Every sum is in the order of the other
//! row's features, so a kernel has the same bits whatever the other rows of the tile, the machine and the
//! number of threads.

use super::slots::dot_slots;
use super::{Kernel, Precision};
use crate::data::{Float, Row};
use pulp::{Arch, NullaryFnOnce};
use std::mem::discriminant;

/// Rows whose kernels are computed together, over all cores: several full tiles of either precision.
pub(crate) const BLOCK: usize = 1024;

/// A transposed block of rows.
#[derive(Debug)]
pub struct Tile {
    kernel: Kernel,
    precision: Precision,
    lanes: Lanes,
    /// The position of each feature's values among the lanes; position 0 has zeros, for features that no row
    /// has.
    slots: Vec<u32>,
    /// The features that occur in some row.
    features: Vec<u32>,
    /// The squared norm of every row.
    norms_sq: Vec<f64>,
    /// The kernels of the last row compared.
    kernels: Vec<f64>,
    arch: Arch,
}

/// Values of all rows of the tile, side by side. Few rows are stored in narrow lanes, as empty lanes take
/// time, too.
#[derive(Debug)]
enum Lanes {
    Wide32(Vec<[f32; 128]>),
    Narrow32(Vec<[f32; 16]>),
    Wide64(Vec<[f64; 64]>),
    Narrow64(Vec<[f64; 8]>),
}

/// Runs `$run` with `$lanes` bound to the lanes of any width.
macro_rules! each_width {
    ($all:expr, $lanes:ident => $run:expr) => {
        match $all {
            Lanes::Wide32($lanes) => $run,
            Lanes::Narrow32($lanes) => $run,
            Lanes::Wide64($lanes) => $run,
            Lanes::Narrow64($lanes) => $run,
        }
    };
}

impl Lanes {
    fn suited(precision: Precision, rows: usize) -> Self {
        match precision {
            Precision::Single if rows > 16 => Lanes::Wide32(Vec::new()),
            Precision::Single => Lanes::Narrow32(Vec::new()),
            Precision::Double if rows > 8 => Lanes::Wide64(Vec::new()),
            Precision::Double => Lanes::Narrow64(Vec::new()),
        }
    }
}

impl Default for Tile {
    fn default() -> Self {
        Self::new(Kernel::Linear, Precision::Double)
    }
}

impl Tile {
    /// An empty tile for this kernel.
    pub fn new(kernel: Kernel, precision: Precision) -> Self {
        let (slots, features, norms_sq, kernels) = Default::default();
        Self {
            kernel,
            precision,
            lanes: Lanes::suited(precision, 0),
            slots,
            features,
            norms_sq,
            kernels,
            arch: Arch::new(),
        }
    }

    /// Makes it a tile for this kernel; it becomes empty if it was for another.
    pub(crate) fn reset_for(&mut self, kernel: Kernel, precision: Precision) {
        if (self.kernel, self.precision) != (kernel, precision) {
            *self = Self::new(kernel, precision);
        }
    }

    /// The maximum number of rows.
    pub(crate) fn capacity(precision: Precision) -> usize {
        match precision {
            Precision::Single => 128,
            Precision::Double => 64,
        }
    }

    /// Replaces the rows by these, at most [`Tile::capacity`]. Features from `columns` on are ignored.
    pub(crate) fn load(&mut self, rows: &[Row<'_>], columns: usize) {
        for feature in self.features.drain(..) {
            self.slots[feature as usize] = 0;
        }
        self.slots.resize(columns, 0);
        let suited = Lanes::suited(self.precision, rows.len());
        if discriminant(&suited) != discriminant(&self.lanes) {
            self.lanes = suited;
        }
        self.norms_sq.clear();
        let Self { lanes, slots, features, norms_sq, kernels, .. } = self;
        each_width!(lanes, lanes => transpose(rows, lanes, slots, features, norms_sq));
        kernels.clear();
        kernels.resize(rows.len(), 0.0);
    }

    /// The kernels of a row, given with its squared norm, with every row of the tile.
    pub(crate) fn compare(&mut self, row: Row<'_>, norm_sq: f64) -> &[f64] {
        let Self { kernel, lanes, slots, norms_sq, kernels, arch, .. } = self;
        let kernel = *kernel;
        each_width!(lanes, lanes =>
            arch.dispatch(Compare { row, norm_sq, kernel, lanes, slots, norms_sq, kernels }));
        &self.kernels
    }
}

fn transpose<T: Float, const K: usize>(
    rows: &[Row<'_>],
    lanes: &mut Vec<[T; K]>,
    slots: &mut [u32],
    features: &mut Vec<u32>,
    norms_sq: &mut Vec<f64>,
) {
    lanes.clear();
    lanes.push([T::default(); K]);
    for (lane, row) in rows.iter().enumerate() {
        let mut norm_sq = 0.0;
        row.for_each_nonzero(|j, x| {
            let Some(slot) = slots.get_mut(j as usize) else { return };
            if *slot == 0 {
                *slot = lanes.len() as u32;
                features.push(j);
                lanes.push([T::default(); K]);
            }
            lanes[*slot as usize][lane] = T::nearest(x);
            norm_sq += x * x;
        });
        norms_sq.push(norm_sq);
    }
}

/// [`Tile::compare`] as a function that is compiled for each generation of processors. (A closure would do,
/// if it were always inlined.)
struct Compare<'a, T, const K: usize> {
    row: Row<'a>,
    norm_sq: f64,
    kernel: Kernel,
    lanes: &'a [[T; K]],
    slots: &'a [u32],
    norms_sq: &'a [f64],
    kernels: &'a mut [f64],
}

impl<T: Float, const K: usize> NullaryFnOnce for Compare<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { row, norm_sq, kernel, lanes, slots, norms_sq, kernels } = self;
        let dots = dot_slots(row, slots, lanes);
        // The match is outside the loop, so that each kernel has a loop without branches.
        match kernel {
            Kernel::Linear => apply(&dots, norms_sq, kernels, |dot, _| dot),
            Kernel::Polynomial(2) => {
                apply(&dots, norms_sq, kernels, |dot, _| Kernel::Polynomial(2).of(dot, 0.0, 0.0))
            }
            Kernel::Polynomial(3) => {
                apply(&dots, norms_sq, kernels, |dot, _| Kernel::Polynomial(3).of(dot, 0.0, 0.0))
            }
            Kernel::Polynomial(4) => {
                apply(&dots, norms_sq, kernels, |dot, _| Kernel::Polynomial(4).of(dot, 0.0, 0.0))
            }
            Kernel::Polynomial(5) => {
                apply(&dots, norms_sq, kernels, |dot, _| Kernel::Polynomial(5).of(dot, 0.0, 0.0))
            }
            kernel => apply(&dots, norms_sq, kernels, |dot, other| kernel.of(dot, norm_sq, other)),
        }
    }
}

#[inline(always)]
fn apply<T: Copy + Into<f64>>(
    dots: &[T],
    norms_sq: &[f64],
    kernels: &mut [f64],
    kernel: impl Fn(f64, f64) -> f64,
) {
    for ((value, &dot), &norm_sq) in kernels.iter_mut().zip(dots).zip(norms_sq) {
        *value = kernel(dot.into(), norm_sq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::data::matrix::{Builder, Layout};
    use proptest::prelude::*;

    fn matrix(rows: &[Vec<f64>]) -> Matrix<'static> {
        let mut builder = Builder::new(Layout::Sparse);
        for row in rows {
            let entries: Vec<(u32, f64)> =
                row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j as u32, *x)).collect();
            let (indices, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
            builder.push(&indices, &values);
        }
        let mut matrix = builder.finish();
        matrix.widen(rows.first().map_or(0, Vec::len));
        matrix
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), (-16i32..16).prop_map(|x| f64::from(x) / 4.0), -3.0..3.0f64]
    }

    proptest! {
        #[test]
        fn kernels_are_those_of_the_definition(
            rows in (1usize..9)
                .prop_flat_map(|d| prop::collection::vec(prop::collection::vec(value(), d), 1..150)),
            kernel in prop_oneof![
                Just(Kernel::Linear),
                (1u32..8).prop_map(Kernel::Polynomial),
                (0.01..1.0f64).prop_map(Kernel::Rbf),
            ],
            precision in prop_oneof![Just(Precision::Single), Just(Precision::Double)],
        ) {
            let all = matrix(&rows);
            let mut tile = Tile::new(kernel, precision);
            let capacity = Tile::capacity(precision);
            let exact = |a: &[f64], b: &[f64]| {
                let dot: f64 = a.iter().zip(b).map(|(x, z)| x * z).sum();
                let distance: f64 = a.iter().zip(b).map(|(x, z)| (x - z) * (x - z)).sum();
                match kernel {
                    Kernel::Linear => dot,
                    Kernel::Polynomial(degree) => (1.0 + dot).powi(degree as i32),
                    Kernel::Rbf(gamma) => (-gamma * distance).exp(),
                }
            };
            for start in (0..all.rows()).step_by(capacity) {
                let end = all.rows().min(start + capacity);
                let part: Vec<Row<'_>> = (start..end).map(|i| all.row(i)).collect();
                tile.load(&part, all.columns());
                for i in 0..all.rows().min(5) {
                    let kernels = tile.compare(all.row(i), all.row(i).norm_sq()).to_vec();
                    for (k, found) in kernels.iter().enumerate() {
                        let expected = exact(&rows[i], &rows[start + k]);
                        let scale = kernel.largest(9.0 * rows[i].len() as f64);
                        let tolerance = if precision == Precision::Single { 1e-5 } else { 1e-13 };
                        prop_assert!(
                            (found - expected).abs() <= tolerance * scale, "{found} and not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn features_beyond_the_columns_are_ignored() {
        let mut tile = Tile::new(Kernel::Rbf(1.0), Precision::Double);
        tile.load(&[Row::Sparse64(&[0, 7], &[1.0, 5.0])], 2);
        assert_eq!(tile.compare(Row::Dense64(&[1.0, 0.0]), 1.0), [1.0]);
    }
}
