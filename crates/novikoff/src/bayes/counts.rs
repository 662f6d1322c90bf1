//! Counts of every feature in every class, and the weights computed from them.

use super::{IMPOSSIBLE, Likelihood};
use crate::data::{Matrix, Row, for_each_within};
use crate::model::{Weights, grow_zeroed};
use crate::multiclass::Scheme;
use rayon::prelude::*;
use std::ops::Range;

/// The features that smoothing gives a share to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// All columns, including those of zeros.
    Columns,
    /// The features that occur in some row. Used for hashed features: the result does not depend on the
    /// length of the hashes, and features that never occurred have weight zero.
    Met,
}

/// A negative value, which cannot be a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negative {
    /// The row, from 0.
    pub row: usize,
    /// The feature.
    pub feature: u32,
    /// Its value.
    pub value: f64,
}

/// Sums over the rows of each class. They grow with new features and classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    likelihood: Likelihood,
    vocabulary: Vocabulary,
    features: usize,
    /// The sum of feature j over the rows of class c is `cells[c·room + j]`; `room` exceeds the number of
    /// features while that grows. One array for all classes can use huge pages.
    room: usize,
    cells: Vec<f64>,
    /// The total weight of the rows of each class.
    rows: Vec<f64>,
}

/// Features whose weights one task computes.
const BLOCK: usize = 64;

impl Counts {
    /// Zero counts.
    pub fn new(likelihood: Likelihood, vocabulary: Vocabulary) -> Self {
        Self { likelihood, vocabulary, features: 0, room: 0, cells: Vec::new(), rows: Vec::new() }
    }

    /// Counts rows of so many classes. Empty `weights` mean 1 for every row.
    ///
    /// A task counts the rows of one class or, for large classes, a range of their features: every cell is a
    /// sum in the order of the rows, whatever the number of tasks.
    pub fn of(
        (likelihood, vocabulary): (Likelihood, Vocabulary),
        rows: &Matrix,
        classes: &[u32],
        weights: &[f64],
        count: usize,
    ) -> Result<Self, Negative> {
        let mut counts = Self::new(likelihood, vocabulary);
        counts.reserve(rows.columns(), count);
        counts.add_all(rows, classes, weights)?;
        Ok(counts)
    }

    /// Counts rows, as [`Counts::of`] does. [`Counts::reserve`] must have been called for their classes and
    /// features.
    pub(crate) fn add_all(
        &mut self,
        rows: &Matrix,
        classes: &[u32],
        weights: &[f64],
    ) -> Result<(), Negative> {
        let mut members = vec![Vec::new(); self.rows.len()];
        (0..rows.rows()).for_each(|i| members[classes[i] as usize].push(i));
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let (likelihood, columns) = (self.likelihood, self.features);
        let tasks = 2 * rayon::current_num_threads();
        let count_class = |(cells, members): (&mut [f64], &Vec<usize>)| {
            let parts = (members.len() * tasks).div_ceil(rows.rows().max(1)).max(1);
            let share = columns.div_ceil(parts).max(1);
            let count_part = |(part, cells): (usize, &mut [f64])| {
                let span = part * share..part * share + cells.len();
                // The first negative entry ends the counting.
                members.iter().any(|&i| add(likelihood, rows.row(i), span.clone(), cells, weight(i)))
            };
            cells.par_chunks_mut(share).enumerate().map(count_part).reduce(|| false, |a, b| a || b)
        };
        let room = self.room.max(1);
        let each = self.cells.par_chunks_mut(room).map(|cells| &mut cells[..columns]).zip(&members);
        let each = each.map(count_class);
        if each.reduce(|| false, |a, b| a || b) {
            let entry =
                |row: usize| negative(rows.row(row)).map(|(feature, value)| Negative { row, feature, value });
            (0..rows.rows()).find_map(entry).map_or(Ok(()), Err)?;
        }
        for (sum, members) in self.rows.iter_mut().zip(&members) {
            members.iter().for_each(|&i| *sum += weight(i));
        }
        Ok(())
    }

    /// Reserves room for so many features and classes.
    pub fn reserve(&mut self, features: usize, classes: usize) {
        let known = self.rows.len();
        if features > self.room {
            let room = features.max(2 * self.room);
            let mut cells = vec![0.0; room * known];
            for (to, from) in cells.chunks_exact_mut(room).zip(self.cells.chunks_exact(self.room.max(1))) {
                to[..self.features].copy_from_slice(&from[..self.features]);
            }
            (self.cells, self.room) = (cells, room);
        }
        self.features = self.features.max(features);
        if classes > known {
            self.rows.resize(classes, 0.0);
            grow_zeroed(&mut self.cells, classes * self.room);
        }
    }

    /// Counts a row, which must have no negative entry. [`Counts::reserve`] must have been called for its
    /// class and features.
    pub fn add(&mut self, row: Row<'_>, class: u32, weight: f64) {
        let class = class as usize;
        let cells = &mut self.cells[class * self.room..][..self.features];
        add(self.likelihood, row, 0..self.features, cells, weight);
        self.rows[class] += weight;
    }

    /// Counts as they are stored: the sum of each feature over the rows of the first class, then of the
    /// second; and the weight of the rows of each.
    pub(crate) fn from_sums(
        (likelihood, vocabulary): (Likelihood, Vocabulary),
        cells: Vec<f64>,
        rows: Vec<f64>,
    ) -> Self {
        let features = cells.len() / rows.len().max(1);
        Self { likelihood, vocabulary, features, room: features, cells, rows }
    }

    /// How many features there is room for.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// The sum of each class's counts, that of each feature's, and how many features have been met.
    pub(crate) fn sums(&self) -> (Vec<f64>, Vec<f64>, usize) {
        let classes = 0..self.rows.len();
        let totals = classes.clone().map(|class| self.cells(class).iter().sum()).collect();
        let mut all = vec![0.0; self.features];
        for class in classes {
            all.iter_mut().zip(self.cells(class)).filter(|(_, n)| **n != 0.0).for_each(|(all, n)| *all += n);
        }
        let met = match self.vocabulary {
            Vocabulary::Columns => self.features,
            Vocabulary::Met => all.iter().filter(|all| **all != 0.0).count(),
        };
        (totals, all, met)
    }

    /// The sums as they are stored.
    pub(crate) fn to_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows.len() * self.features];
        for (to, class) in sums.chunks_exact_mut(self.features.max(1)).zip(0..) {
            // Memory that was never written stays so.
            let written = to.iter_mut().zip(self.cells(class)).filter(|(_, n)| **n != 0.0);
            written.for_each(|(to, n)| *to = *n);
        }
        sums
    }

    /// The sum of each feature over the rows of a class.
    pub(super) fn cells(&self, class: usize) -> &[f64] {
        &self.cells[class * self.room..][..self.features]
    }

    /// The total weight of the rows of each class.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// The likelihood that they are counted for.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    pub(crate) fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The same counts with classes in this order, which has each once, and at least so many features.
    #[must_use]
    pub(crate) fn arranged(mut self, order: &[u32], features: usize) -> Self {
        self.reserve(features, self.rows.len());
        let mut cells = vec![0.0; self.features * order.len()];
        for (to, &class) in cells.chunks_exact_mut(self.features.max(1)).zip(order) {
            // Memory that was never written stays so: of millions of hashed features most are never met.
            let written = to.iter_mut().zip(self.cells(class as usize)).filter(|(_, n)| **n != 0.0);
            written.for_each(|(to, n)| *to = *n);
        }
        let rows = order.iter().map(|&class| self.rows[class as usize]).collect();
        Self { cells, rows, room: self.features, ..self }
    }

    /// `ln p(c)`, with priors equal to the frequencies of the classes.
    pub fn log_priors(&self) -> Vec<f64> {
        let all: f64 = self.rows.iter().sum();
        self.rows.iter().map(|&rows| if rows > 0.0 { (rows / all).ln() } else { IMPOSSIBLE }).collect()
    }

    /// The weights by which a row's scores are `ln p(c) + ln p(x|c)`, up to what all classes share; for
    /// [`Scheme::Two`] the difference of the second and the first. They apply to what a row has if the
    /// likelihood is Bernoulli's, else to counts.
    ///
    /// ```
    /// use novikoff::bayes::{Counts, Likelihood, Vocabulary};
    /// use novikoff::{data::Row, multiclass::Scheme};
    ///
    /// let mut counts = Counts::new(Likelihood::Multinomial, Vocabulary::Columns);
    /// counts.reserve(2, 2);
    /// counts.add(Row::Dense64(&[3.0, 0.0]), 0, 1.0);
    /// counts.add(Row::Dense64(&[1.0, 1.0]), 1, 1.0);
    /// let weights = counts.weights(1.0, &counts.log_priors(), Scheme::Two);
    /// // The classes give the first feature 4/5 and 2/4, the second 1/5 and 2/4.
    /// assert!((weights.values[0] - (0.5f64 / 0.8).ln()).abs() < 1e-15);
    /// assert!((weights.values[1] - (0.5f64 / 0.2).ln()).abs() < 1e-15);
    /// assert_eq!(weights.bias, [0.0]);
    /// ```
    pub fn weights(&self, smoothing: f64, log_priors: &[f64], scheme: Scheme) -> Weights {
        let outputs = scheme.outputs(self.rows.len());
        let mut weights = Weights::zero(self.features, outputs);
        let terms = Terms::new(self, smoothing);
        let make = |(block, weights): (usize, &mut [f64])| terms.block(block * BLOCK, weights, outputs);
        // Blocks are cut by number alone and their sums put together in order.
        let parts: Vec<Vec<f64>> =
            weights.values.par_chunks_mut(BLOCK * outputs).enumerate().map(make).collect();
        for c in 0..self.rows.len() {
            let prior = if self.likelihood == Likelihood::Complement { 0.0 } else { log_priors[c] };
            let bias = parts.iter().map(|part| part[c]).sum::<f64>() + prior;
            put(&mut weights.bias, c, outputs, bias);
        }
        weights
    }
}

/// Adds what a row has of the features within `span`, whose cells these are. Whether an entry was negative.
#[inline]
fn add(likelihood: Likelihood, row: Row<'_>, span: Range<usize>, cells: &mut [f64], weight: f64) -> bool {
    match row {
        Row::Dense32(x) => add_dense(likelihood, &x[span.start.min(x.len())..], cells, weight),
        Row::Dense64(x) => add_dense(likelihood, &x[span.start.min(x.len())..], cells, weight),
        _ => {
            let (start, mut negative) = (span.start, false);
            for_each_within(row, span, |j, x| {
                cells[j as usize - start] += weight * likelihood.count(x);
                negative |= x < 0.0;
            });
            negative
        }
    }
}

/// The same for a row that has its entries side by side, as the cells are: several are added at a time.
fn add_dense<V: Copy + Into<f64>>(
    likelihood: Likelihood,
    values: &[V],
    cells: &mut [f64],
    weight: f64,
) -> bool {
    let mut negative = false;
    for (cell, &x) in cells.iter_mut().zip(values) {
        let x: f64 = x.into();
        *cell += weight * likelihood.count(x);
        negative |= x < 0.0;
    }
    negative
}

/// The first negative entry of a row.
pub(super) fn negative(row: Row<'_>) -> Option<(u32, f64)> {
    let mut first = None;
    row.for_each_stored(|j, x| {
        if x < 0.0 && first.is_none() {
            first = Some((j, x));
        }
    });
    first
}

/// Puts class `c`'s number where it belongs: each class has an output, or two share one, which is their
/// difference.
#[inline(always)]
fn put(numbers: &mut [f64], c: usize, outputs: usize, number: f64) {
    match (outputs, c) {
        (1, 1) => numbers[0] = number - numbers[0],
        _ => numbers[c] = number,
    }
}

/// What the weights of all features have in common.
struct Terms<'a> {
    counts: &'a Counts,
    smoothing: f64,
    /// For each class the logarithm of what its counts are divided by.
    wholes: Vec<f64>,
}

impl<'a> Terms<'a> {
    fn new(counts: &'a Counts, smoothing: f64) -> Self {
        let classes = counts.rows.len();
        let totals: Vec<f64> = (0..classes).into_par_iter().map(|c| counts.cells(c).iter().sum()).collect();
        let features = match counts.vocabulary {
            Vocabulary::Columns => counts.features,
            Vocabulary::Met => {
                let met = |j: &usize| (0..classes).any(|c| counts.cells(c)[*j] != 0.0);
                (0..counts.features).into_par_iter().with_min_len(BLOCK).filter(met).count()
            }
        };
        let (all, shares): (f64, f64) = (totals.iter().sum(), smoothing * features as f64);
        let whole = |(total, rows): (&f64, &f64)| match counts.likelihood {
            Likelihood::Multinomial => (total + shares).ln(),
            Likelihood::Complement => ((all - total).max(0.0) + shares).ln(),
            Likelihood::Bernoulli => (rows + 2.0 * smoothing).ln(),
        };
        Self { counts, smoothing, wholes: totals.iter().zip(&counts.rows).map(whole).collect() }
    }

    /// The weights of some features from `start` on, and what they add to each class's bias.
    fn block(&self, start: usize, weights: &mut [f64], outputs: usize) -> Vec<f64> {
        let Self { counts, smoothing, wholes } = self;
        let (likelihood, vocabulary) = (counts.likelihood, counts.vocabulary);
        let span = start..start + weights.len() / outputs;
        let mut all = vec![0.0; span.len()];
        if (likelihood, vocabulary) != (Likelihood::Multinomial, Vocabulary::Columns) {
            for c in 0..wholes.len() {
                all.iter_mut().zip(&counts.cells(c)[span.clone()]).for_each(|(all, n)| *all += n);
            }
        }
        let nowhere: Vec<f64> = match likelihood {
            Likelihood::Complement => all.iter().map(|all| (all + smoothing).ln()).collect(),
            _ => Vec::new(),
        };
        let block = Block { span, all, none: smoothing.ln(), nowhere };
        (0..wholes.len()).map(|c| self.class_block(&block, c, weights, outputs)).collect()
    }

    /// The weights of a class, and what they add to its bias.
    fn class_block(&self, block: &Block, c: usize, weights: &mut [f64], outputs: usize) -> f64 {
        let Self { counts, smoothing, wholes } = self;
        let Block { span, all, none, nowhere } = block;
        let (whole, rows, mut bias) = (wholes[c], counts.rows[c], 0.0);
        let absent = (rows + smoothing).ln();
        for (j, &n) in counts.cells(c)[span.clone()].iter().enumerate() {
            if counts.vocabulary == Vocabulary::Met && all[j] == 0.0 {
                continue;
            }
            let log = match (counts.likelihood, n == 0.0) {
                (Likelihood::Multinomial, true) => none - whole,
                (Likelihood::Multinomial, false) => (n + smoothing).ln() - whole,
                (Likelihood::Complement, true) => whole - nowhere[j],
                // What rounding leaves of a feature that no other class has must not be negative.
                (Likelihood::Complement, false) => whole - ((all[j] - n).max(0.0) + smoothing).ln(),
                (Likelihood::Bernoulli, _) => {
                    let (there, not) = match n == 0.0 {
                        true => (*none, absent),
                        false => ((n + smoothing).ln(), ((rows - n).max(0.0) + smoothing).ln()),
                    };
                    bias += not - whole;
                    there - not
                }
            };
            put(&mut weights[j * outputs..], c, outputs, log);
        }
        bias
    }
}

/// Some features, in all classes. Most features occur in few classes: the logarithms that belong to a count
/// of 0 are taken once.
struct Block {
    span: Range<usize>,
    /// The count of each feature in all classes.
    all: Vec<f64>,
    /// The logarithm of the smoothing.
    none: f64,
    /// Of each feature for a class that does not have it, by the complement's likelihood.
    nowhere: Vec<f64>,
}
