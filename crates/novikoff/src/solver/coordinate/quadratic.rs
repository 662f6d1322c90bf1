//! The step of a proximal Newton method: a quadratic model of the mean loss plus the penalty, minimised over
//! some columns.
//!
//! The model is `<g, δ> + ½·δᵀHδ` with `H = Xᵀ·diag(h)·X`. Its minimum is sought one coordinate at a time, in
//! one of two ways: keeping a number per row, where a pass costs as much as the columns have entries, or with
//! `H` itself, where a pass costs as much as `H` has entries and steps over all nonzero weights at once are
//! to be had. `H` is made when it is cheap, or when as much time was spent without it as it costs: so never
//! much more than twice the better of both.

use super::columns::{Columns, add_weighted, weighted_square};
use crate::control::rows_between_questions;
use crate::data::{Matrix, Row};
use crate::penalty::ElasticNet;
use faer::linalg::solvers::Solve;
use rayon::prelude::*;

/// Most columns that `H` is made for (32 MB).
const MOST: usize = 2048;
/// Passes that `H` may cost without having tried how far passes get.
const CHEAP: f64 = 8.0;
/// A pass that gains less than this share of all before it is the last: the model itself is not more exact.
const ENOUGH: f64 = 1e-4;
/// With `H` passes cost little, and the last one may gain less.
const ENOUGH_WITH_PRODUCTS: f64 = 1e-14;
/// Passes between steps over all nonzero weights, and how often that is repeated.
const PASSES: usize = 10;
const ROUNDS: usize = 30;
/// Most nonzero weights that are moved at once.
const MOST_AT_ONCE: usize = 1024;

/// A quadratic model around a point, over a working set of columns. Vectors over the working set have an
/// entry per column of it, in its order.
pub(super) struct Quadratic<'a> {
    pub rows: &'a Matrix<'a>,
    pub columns: &'a Columns,
    /// Which columns may move: ascending.
    pub working: &'a [usize],
    pub penalty: ElasticNet,
    /// The column that no penalty touches.
    pub free: Option<usize>,
    /// `g` by rows: its entry for a column is the product with that column.
    pub slopes: &'a [f64],
    /// `h`.
    pub curvatures: &'a [f64],
    /// `g` over the working set.
    pub gradient: &'a [f64],
}

/// `H` over a working set, symmetric, row by row.
pub(super) struct Products {
    working: Vec<usize>,
    entries: Vec<f64>,
}

impl Products {
    pub(super) fn are_of(&self, working: &[usize]) -> bool {
        self.working == working
    }

    fn row(&self, k: usize) -> &[f64] {
        let size = self.working.len();
        &self.entries[k * size..(k + 1) * size]
    }

    fn diagonal(&self, k: usize) -> f64 {
        self.entries[k * self.working.len() + k]
    }
}

impl Quadratic<'_> {
    /// Moves weights over the working set towards the minimum of the model around them, until `goes_on` says
    /// no. `known` is `H` from an earlier model with the same curvatures and working set; what was made is
    /// returned.
    pub(super) fn minimise(
        &self,
        weights: &mut [f64],
        known: Option<Products>,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Option<Products> {
        if let Some(products) = known {
            self.with_products(weights, self.gradient.to_vec(), &products, goes_on);
            return Some(products);
        }
        let pass: f64 = self.working.iter().map(|j| 2.0 * self.columns.entries(*j) as f64).sum();
        let cost = self.cost_of_products();
        let mut spent = cost - CHEAP * pass;
        let mut residual = self.slopes.to_vec();
        if spent > 0.0 {
            spent = 0.0;
            let curvatures: Vec<f64> = self
                .working
                .iter()
                .map(|j| weighted_square(self.columns.column(*j), self.curvatures))
                .collect();
            let mut gained = 0.0;
            while spent < cost {
                let gain = self.pass(weights, &curvatures, &mut residual);
                gained += gain;
                spent += pass.max(1.0);
                if gain <= ENOUGH * gained || !goes_on() {
                    return None;
                }
            }
        }
        let products = self.products(goes_on)?;
        let slopes = self.working.iter().map(|j| self.columns.column(*j).dot(&residual)).collect();
        self.with_products(weights, slopes, &products, goes_on);
        Some(products)
    }

    fn penalty_of(&self, j: usize) -> ElasticNet {
        if self.free == Some(j) { ElasticNet { l2: 0.0, l1: 0.0 } } else { self.penalty }
    }

    /// One pass of coordinate descent; `residual` are the slopes of the model by rows. Returns at most what
    /// was gained.
    fn pass(&self, weights: &mut [f64], curvatures: &[f64], residual: &mut [f64]) -> f64 {
        let mut gained = 0.0;
        for ((&j, w), &curvature) in self.working.iter().zip(weights).zip(curvatures) {
            let column = self.columns.column(j);
            let penalty = self.penalty_of(j);
            let step = lowest(*w, column.dot(residual), curvature, penalty) - *w;
            if step != 0.0 {
                *w += step;
                add_weighted(column, step, self.curvatures, residual);
                gained += 0.5 * (curvature + penalty.l2) * step * step;
            }
        }
        gained
    }

    /// Passes, and steps over all nonzero weights, until nothing is gained; `slopes` are those of the model.
    fn with_products(
        &self,
        weights: &mut [f64],
        mut slopes: Vec<f64>,
        products: &Products,
        goes_on: &dyn Fn() -> bool,
    ) {
        let mut gained = 0.0;
        for _ in 0..ROUNDS {
            for _ in 0..PASSES {
                let mut gain = 0.0;
                for (k, &j) in self.working.iter().enumerate() {
                    let penalty = self.penalty_of(j);
                    let step = lowest(weights[k], slopes[k], products.diagonal(k), penalty) - weights[k];
                    if step != 0.0 {
                        weights[k] += step;
                        add(&mut slopes, step, products.row(k));
                        gain += 0.5 * (products.diagonal(k) + penalty.l2) * step * step;
                    }
                }
                gained += gain;
                if gain <= ENOUGH_WITH_PRODUCTS * gained || !goes_on() {
                    return;
                }
            }
            // Where a weight has become zero, the others may go on without it. Few weights are moved in no
            // time.
            let size = weights.iter().filter(|w| **w != 0.0).count().max(1) as f64;
            for _ in 0..(1e9 / size.powi(3)).clamp(2.0, 100.0) as usize {
                let (gain, complete) = self.all_at_once(weights, &mut slopes, products);
                gained += gain;
                if complete || !goes_on() {
                    break;
                }
            }
        }
    }

    /// Newton's step over all weights that are not zero, as far as their signs stay. Returns what it gained,
    /// and whether no sign was in the way; a step that gains nothing is not made.
    fn all_at_once(&self, weights: &mut [f64], slopes: &mut [f64], products: &Products) -> (f64, bool) {
        let moving: Vec<usize> =
            (0..weights.len()).filter(|&k| weights[k] != 0.0 || self.free == Some(self.working[k])).collect();
        if moving.is_empty() || moving.len() > MOST_AT_ONCE {
            return (0.0, true);
        }
        // Columns that are multiples of one another leave the matrix without an inverse: a little more on the
        // diagonal.
        let entry = |a: usize, b: usize| {
            let (a, b) = (moving[a], moving[b]);
            let more =
                if a == b { self.penalty_of(self.working[a]).l2 + 1e-11 * products.diagonal(a) } else { 0.0 };
            products.row(a)[b] + more
        };
        let matrix = faer::Mat::from_fn(moving.len(), moving.len(), entry);
        let downhill = |k: usize| {
            let penalty = self.penalty_of(self.working[k]);
            let sign = if weights[k] == 0.0 { 0.0 } else { weights[k].signum() };
            -(slopes[k] + penalty.l2 * weights[k] + penalty.l1 * sign)
        };
        let target: Vec<f64> = moving.iter().map(|&k| downhill(k)).collect();
        let Ok(factors) = matrix.llt(faer::Side::Lower) else { return (0.0, true) };
        let step = factors.solve(faer::Col::from_fn(moving.len(), |a| target[a]));
        let mut length = 1.0;
        for (a, &k) in moving.iter().enumerate() {
            let crosses = self.free != Some(self.working[k]) && weights[k] * step[a] < 0.0;
            length = if crosses { f64::min(length, -weights[k] / step[a]) } else { length };
        }
        let mut change = vec![0.0; slopes.len()];
        for (a, &k) in moving.iter().enumerate() {
            add(&mut change, length * step[a], products.row(k));
        }
        let mut gain = 0.0;
        for (a, &k) in moving.iter().enumerate() {
            let step = length * step[a];
            gain += step * (target[a] - 0.5 * (change[k] + self.penalty_of(self.working[k]).l2 * step));
        }
        if !(gain > 0.0 && gain.is_finite()) {
            return (0.0, true);
        }
        for (a, &k) in moving.iter().enumerate() {
            let free = self.free == Some(self.working[k]);
            let moved = weights[k] + length * step[a];
            // Rounding must not leave a weight just across zero.
            weights[k] = if free || moved * weights[k] > 0.0 { moved } else { 0.0 };
        }
        add(slopes, 1.0, &change);
        (gain, length == 1.0)
    }

    /// About how many additions `H` and some passes with it take; infinite if it is not to be made.
    fn cost_of_products(&self) -> f64 {
        /// Additions to neighbours are made several at a time.
        const NEIGHBOURS: f64 = 4.0;
        let size = self.working.len() as f64;
        let passes = PASSES as f64 * size * size;
        if self.working.len() > MOST {
            f64::INFINITY
        } else if self.rows.is_dense() {
            self.rows.rows() as f64 * size * size / (2.0 * NEIGHBOURS) + passes
        } else {
            let mut counts = vec![0u32; self.rows.rows()];
            for &j in self.working {
                self.columns.column(j).for_each_index(|i| counts[i] += 1);
            }
            let products: f64 = counts.iter().map(|&count| f64::from(count) * f64::from(count) / 2.0).sum();
            products + self.rows.stored() as f64 + passes
        }
    }

    /// `H`, row by row: `Σ hᵢ·xᵢxᵢᵀ`, below the diagonal and then mirrored. Blocks of rows do not depend on
    /// the threads. `None` if it was stopped.
    fn products(&self, goes_on: &(dyn Fn() -> bool + Sync)) -> Option<Products> {
        let (n, size) = (self.rows.rows(), self.working.len());
        let mut places = vec![u32::MAX; self.columns.count()];
        for (k, &j) in self.working.iter().enumerate() {
            places[j] = k as u32;
        }
        let blocks = (self.rows.stored() / (size * size + 4096)).clamp(1, 8);
        let between = rows_between_questions(size * size / 2);
        let part = |block: usize| {
            let mut sum = vec![0.0; size * size];
            let mut row = Vec::new();
            for i in n * block / blocks..n * (block + 1) / blocks {
                if i % between == 0 && !goes_on() {
                    return None;
                }
                if self.curvatures[i] > 0.0 {
                    self.chosen(self.rows.row(i), &places, &mut row);
                    add_products(&mut sum, size, &row, self.curvatures[i]);
                }
            }
            Some(sum)
        };
        let parts: Option<Vec<Vec<f64>>> = (0..blocks).into_par_iter().map(part).collect();
        let mut entries = parts?.into_iter().reduce(|mut sum, part| {
            add(&mut sum, 1.0, &part);
            sum
        });
        let entries = entries.get_or_insert_default();
        for a in 0..size {
            for b in 0..a {
                entries[b * size + a] = entries[a * size + b];
            }
        }
        Some(Products { working: self.working.to_vec(), entries: std::mem::take(entries) })
    }

    /// The entries of a row that are in the working set, by their places in it.
    fn chosen(&self, row: Row<'_>, places: &[u32], chosen: &mut Vec<(u32, f64)>) {
        chosen.clear();
        row.for_each_nonzero(|j, x| {
            if places[j as usize] != u32::MAX {
                chosen.push((places[j as usize], x));
            }
        });
        // The column of ones is no entry of the row.
        if let Some(&place) = places.get(self.rows.columns()).filter(|place| **place != u32::MAX) {
            chosen.push((place, 1.0));
        }
    }
}

fn add_products(sum: &mut [f64], size: usize, row: &[(u32, f64)], factor: f64) {
    let full = row.len() == size;
    for (a, &(k, x)) in row.iter().enumerate() {
        let (below, scale) = (&mut sum[k as usize * size..][..k as usize + 1], factor * x);
        if full {
            // Every place in its order: neighbours.
            for (sum, (_, x)) in below.iter_mut().zip(row) {
                *sum += scale * x;
            }
        } else {
            for &(b, x) in &row[..=a] {
                below[b as usize] += scale * x;
            }
        }
    }
}

/// The weight at which `slope·(v − w) + ½·curvature·(v − w)² + penalty(v)` is least; `w` if no number is.
#[inline]
fn lowest(w: f64, slope: f64, curvature: f64, penalty: ElasticNet) -> f64 {
    let total = curvature + penalty.l2;
    let uphill = curvature * w - slope;
    let best = if total > 0.0 {
        uphill.signum() * (uphill.abs() - penalty.l1).max(0.0) / total
    } else if slope.abs() < penalty.l1 {
        0.0
    } else {
        w
    };
    if best.is_finite() { best } else { w }
}

/// `sum ← sum + scale·x`.
fn add(sum: &mut [f64], scale: f64, x: &[f64]) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum += scale * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use crate::penalty::Penalty;
    use crate::random::Random;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// Row by row or with `H`: the same minimum, at which no coordinate can be moved for the better.
        #[test]
        fn both_ways_lead_to_the_same_minimum(
            n in 3usize..30, d in 1usize..12, seed in any::<u32>(), is_dense in any::<bool>(),
                has_free in any::<bool>(),
            l2 in prop::sample::select(vec![0.0, 0.3]), l1 in 0.01..1.0f64,
        ) {
            let mut random = Random::new(seed.into());
            let mut builder =
                Builder::new(if is_dense { Layout::Dense { columns: d } } else { Layout::Sparse });
            for _ in 0..n {
                let kept: Vec<u32> = (0..d as u32).filter(|_| random.unit() < 0.7).collect();
                let values: Vec<f64> = kept.iter().map(|_| random.normal()).collect();
                builder.push(&kept, &values);
            }
            let mut rows = builder.finish();
            rows.widen(d);
            let columns = Columns::new(&rows, has_free);
            // Every second column, and the one of ones.
            let working: Vec<usize> = (0..columns.count()).filter(|j| j % 2 == 0 || *j == d).collect();
            // A row that does not bend the model has no slope either, as rows beyond their margin: else there
            // need be no minimum.
            let flat = |i: usize| i % 4 == 3;
            let slopes: Vec<f64> = (0..n).map(|i| if flat(i) { 0.0 } else { random.normal() }).collect();
            let curvatures: Vec<f64> = (0..n).map(|i| if flat(i) { 0.0 } else { random.unit() }).collect();
            let gradient: Vec<f64> = working.iter().map(|j| columns.column(*j).dot(&slopes)).collect();
            let model = Quadratic {
                rows: &rows, columns: &columns, working: &working, penalty: ElasticNet { l2, l1 },
                free: has_free.then_some(d), slopes: &slopes, curvatures: &curvatures, gradient: &gradient,
            };
            let start: Vec<f64> = working.iter()
                .map(|_| if random.unit() < 0.5 { 0.0 } else { random.normal() }).collect();
            let squares: Vec<f64> = working.iter()
                .map(|j| weighted_square(columns.column(*j), &curvatures)).collect();
            let value = |weights: &[f64]| {
                let mut change = vec![0.0; n];
                for ((j, w), from) in working.iter().zip(weights).zip(&start) {
                    columns.column(*j).add_to(&mut change, w - from);
                }
                let smooth: f64 = (0..n)
                    .map(|i| change[i] * (slopes[i] + 0.5 * curvatures[i] * change[i])).sum();
                smooth + working.iter().zip(weights).map(|(j, w)| model.penalty_of(*j).value(*w)).sum::<f64>()
            };
            let (mut by_rows, mut residual) = (start.clone(), slopes.clone());
            for _ in 0..3000 {
                model.pass(&mut by_rows, &squares, &mut residual);
            }
            let mut with_products = start.clone();
            let products = model.products(&|| true).unwrap();
            model.with_products(&mut with_products, gradient.clone(), &products, &|| true);
            // Where few rows bend the model and the penalty is weak, neither way gets to the last digits.
            let (a, b) = (value(&by_rows), value(&with_products));
            prop_assert!(b <= a + 1e-6 * (1.0 + a.abs()), "{} {}", a, b);
            prop_assert!(value(&start) >= b - 1e-12);
            let mut chosen = start.clone();
            let made = model.minimise(&mut chosen, None, &|| true);
            prop_assert!(value(&chosen) <= value(&start) + 1e-12);
            prop_assert!(made.is_none_or(|made| made.are_of(&working)));
        }
    }
}
