//! How much of each feature the rows of each class have, and what follows from that.

use super::{IMPOSSIBLE, Likelihood};
use crate::data::{Matrix, Row};
use crate::model::{Weights, grow_zeroed};
use crate::multiclass::Scheme;
use rayon::prelude::*;
use std::ops::Range;

/// Which features there are: what smoothing gives a share to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// All columns, also those that no row has.
    Columns,
    /// Those that some row has. Of hashed features it takes these, as most numbers are no feature's: then it does not matter
    /// how long the hashes are, and what was never met weighs nothing.
    Met,
}

/// Something that cannot be a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negative {
    /// The row, from 0.
    pub row: usize,
    /// The feature.
    pub feature: u32,
    /// Its value.
    pub value: f64,
}

/// Sums over the rows of each class. They grow with the features and classes that turn up.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    likelihood: Likelihood,
    vocabulary: Vocabulary,
    features: usize,
    /// Room for classes: more than there are while they turn up one by one, so that few of them make all cells move.
    stride: usize,
    /// How much of feature j the rows of class c have: `cells[j·stride + c]`.
    cells: Vec<f64>,
    /// What the rows of each class weigh.
    rows: Vec<f64>,
}

/// Features that one task makes weights of.
const BLOCK: usize = 1024;

impl Counts {
    /// Nothing counted yet.
    pub fn new(likelihood: Likelihood, vocabulary: Vocabulary) -> Self {
        Self { likelihood, vocabulary, features: 0, stride: 0, cells: Vec::new(), rows: Vec::new() }
    }

    /// Counts rows of so many classes. Empty `weights` mean 1 for every row.
    ///
    /// Each task takes some of the features, of all rows: so every cell is a sum in the order of the rows, whatever the number
    /// of tasks, and the same as one by one.
    pub fn of(
        (likelihood, vocabulary): (Likelihood, Vocabulary),
        rows: &Matrix,
        classes: &[u32],
        weights: &[f64],
        count: usize,
    ) -> Result<Self, Negative> {
        let mut counts = Self::new(likelihood, vocabulary);
        counts.expect(rows.columns(), count);
        // More tasks than cores, as the frequent features may be neighbours; not many more, as each looks at every row.
        let tasks = if rayon::current_num_threads() == 1 { 1 } else { 2 * rayon::current_num_threads() };
        let share = rows.columns().div_ceil(tasks).max(1);
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let found: Vec<bool> = (counts.cells.par_chunks_mut(share * count))
            .enumerate()
            .map(|(task, cells)| {
                let (span, mut negative) = (task * share..(task + 1) * share, false);
                for (i, &class) in classes.iter().enumerate() {
                    negative |= add(likelihood, rows.row(i), span.clone(), &mut cells[class as usize..], count, weight(i));
                }
                negative
            })
            .collect();
        if found.contains(&true) {
            let entry = |row: usize| negative(rows.row(row)).map(|(feature, value)| Negative { row, feature, value });
            (0..rows.rows()).find_map(entry).map_or(Ok(()), Err)?;
        }
        for (i, &class) in classes.iter().enumerate() {
            counts.rows[class as usize] += weight(i);
        }
        Ok(counts)
    }

    /// Makes room for so many features and classes.
    pub fn expect(&mut self, features: usize, classes: usize) {
        let (features, known) = (features.max(self.features), self.rows.len());
        if classes > self.stride {
            let stride = classes.max(if known > 0 { 2 * self.stride } else { 0 });
            let mut cells = vec![0.0; features * stride];
            for (to, from) in cells.chunks_exact_mut(stride).zip(self.cells.chunks_exact(self.stride.max(1))) {
                to[..known].copy_from_slice(&from[..known]);
            }
            (self.cells, self.stride, self.features) = (cells, stride, features);
        }
        if features > self.features {
            grow_zeroed(&mut self.cells, features * self.stride);
            self.features = features;
        }
        self.rows.resize(classes.max(known), 0.0);
    }

    /// Counts a row, which must have no negative entry. [`Counts::expect`] must have been told of its class and features.
    pub fn add(&mut self, row: Row<'_>, class: u32, weight: f64) {
        let class = class as usize;
        if self.features > 0 {
            add(self.likelihood, row, 0..self.features, &mut self.cells[class..], self.stride, weight);
        }
        self.rows[class] += weight;
    }

    /// How much of a feature the rows of each class have.
    #[inline]
    pub(super) fn cells(&self, feature: u32) -> &[f64] {
        &self.cells[feature as usize * self.stride..][..self.rows.len()]
    }

    /// What the rows of each class weigh.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// The likelihood that they are counted for.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    pub(super) fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The same counts with classes in this order, and so many features.
    #[must_use]
    pub fn arranged(mut self, order: &[u32], features: usize) -> Self {
        self.expect(features, self.rows.len());
        let mut cells = vec![0.0; self.features * order.len()];
        for (to, from) in cells.chunks_exact_mut(order.len().max(1)).zip(self.cells.chunks_exact(self.stride.max(1))) {
            // Memory that was never written stays so: of millions of hashed features most are never met.
            if from.iter().any(|n| *n != 0.0) {
                to.iter_mut().zip(order).for_each(|(to, &class)| *to = from[class as usize]);
            }
        }
        let rows = order.iter().map(|&class| self.rows[class as usize]).collect();
        Self { stride: order.len(), cells, rows, ..self }
    }

    /// `ln p(c)` of priors as frequent as the rows.
    pub fn log_priors(&self) -> Vec<f64> {
        let all: f64 = self.rows.iter().sum();
        self.rows.iter().map(|&rows| if rows > 0.0 { (rows / all).ln() } else { IMPOSSIBLE }).collect()
    }

    /// The weights by which a row's scores are `ln p(c) + ln p(x|c)`, up to what all classes share; for [`Scheme::Two`] the
    /// difference of the second and the first. They apply to what a row has if the likelihood is Bernoulli's, else to counts.
    ///
    /// ```
    /// use novikoff::bayes::{Counts, Likelihood, Vocabulary};
    /// use novikoff::{data::Row, multiclass::Scheme};
    ///
    /// let mut counts = Counts::new(Likelihood::Multinomial, Vocabulary::Columns);
    /// counts.expect(2, 2);
    /// counts.add(Row::Dense64(&[3.0, 0.0]), 0, 1.0);
    /// counts.add(Row::Dense64(&[1.0, 1.0]), 1, 1.0);
    /// let weights = counts.weights(1.0, &counts.log_priors(), Scheme::Two);
    /// // The classes give the first feature 4/5 and 2/4, the second 1/5 and 2/4.
    /// assert!((weights.values[0] - (0.5f64 / 0.8).ln()).abs() < 1e-15);
    /// assert!((weights.values[1] - (0.5f64 / 0.2).ln()).abs() < 1e-15);
    /// assert_eq!(weights.bias, [0.0]);
    /// ```
    pub fn weights(&self, smoothing: f64, log_priors: &[f64], scheme: Scheme) -> Weights {
        let classes = self.rows.len();
        let mut weights = Weights::zero(self.features, scheme.outputs(classes));
        let mut bias = match self.likelihood {
            Likelihood::Complement => vec![0.0; classes],
            Likelihood::Multinomial | Likelihood::Bernoulli => log_priors.to_vec(),
        };
        if self.features > 0 {
            let terms = Terms::new(self, smoothing);
            let (cells, outputs) = (self.cells.par_chunks(BLOCK * self.stride), weights.outputs());
            let make = |(cells, weights): (&[f64], &mut [f64])| terms.block(cells, weights, outputs);
            // Blocks are cut by number alone and their sums put together in order.
            let parts: Vec<Vec<f64>> = cells.zip(weights.values.par_chunks_mut(BLOCK * outputs)).map(make).collect();
            parts.iter().for_each(|part| bias.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        }
        write(&bias, &mut weights.bias);
        weights
    }

    /// Whether some row of a class has a feature with these cells, or need not to.
    fn has(&self, cells: &[f64]) -> bool {
        self.vocabulary == Vocabulary::Columns || cells.iter().any(|n| *n != 0.0)
    }
}

/// Adds what a row has of the features within `span` to every `stride`-th cell. Whether an entry was negative.
#[inline]
fn add(likelihood: Likelihood, row: Row<'_>, span: Range<usize>, cells: &mut [f64], stride: usize, weight: f64) -> bool {
    let (start, mut negative) = (span.start, false);
    row.for_each_within(span, |j, x| {
        cells[(j as usize - start) * stride] += weight * likelihood.count(x);
        negative |= x < 0.0;
    });
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

/// What the weights of all features have in common.
struct Terms<'a> {
    counts: &'a Counts,
    smoothing: f64,
    /// `ln α`.
    none: f64,
    /// For each class the logarithm of what its counts are divided by.
    whole: Vec<f64>,
    /// Bernoulli's: for each class the logarithm of `1 − p` for a feature that none of its rows has, undivided.
    absent: Vec<f64>,
}

impl<'a> Terms<'a> {
    fn new(counts: &'a Counts, smoothing: f64) -> Self {
        let sum = |cells: &[f64]| {
            let (mut totals, mut features) = (vec![0.0; counts.rows.len()], 0.0);
            for cells in cells.chunks_exact(counts.stride) {
                features += f64::from(u8::from(counts.has(cells)));
                totals.iter_mut().zip(cells).for_each(|(total, n)| *total += n);
            }
            (totals, features)
        };
        let parts: Vec<(Vec<f64>, f64)> = counts.cells.par_chunks(BLOCK * counts.stride).map(sum).collect();
        let (mut totals, mut features) = (vec![0.0; counts.rows.len()], 0.0);
        for (part, met) in &parts {
            features += met;
            totals.iter_mut().zip(part).for_each(|(total, n)| *total += n);
        }
        let all: f64 = totals.iter().sum();
        let whole = |(total, rows): (&f64, &f64)| match counts.likelihood {
            Likelihood::Multinomial => (total + smoothing * features).ln(),
            Likelihood::Complement => ((all - total).max(0.0) + smoothing * features).ln(),
            Likelihood::Bernoulli => (rows + 2.0 * smoothing).ln(),
        };
        Self {
            counts,
            smoothing,
            none: smoothing.ln(),
            whole: totals.iter().zip(&counts.rows).map(whole).collect(),
            absent: counts.rows.iter().map(|rows| (rows + smoothing).ln()).collect(),
        }
    }

    /// The weights of some features, and what they add to each class's bias.
    fn block(&self, cells: &[f64], weights: &mut [f64], outputs: usize) -> Vec<f64> {
        let classes = self.whole.len();
        let (mut bias, mut logs) = (vec![0.0; classes], vec![0.0; classes]);
        for (cells, weights) in cells.chunks_exact(self.counts.stride).zip(weights.chunks_exact_mut(outputs)) {
            let cells = &cells[..classes];
            if self.counts.has(cells) {
                match self.counts.likelihood {
                    Likelihood::Multinomial => self.multinomial(cells, &mut logs),
                    Likelihood::Complement => self.complement(cells, &mut logs),
                    Likelihood::Bernoulli => self.bernoulli(cells, &mut logs, &mut bias),
                }
                write(&logs, weights);
            }
        }
        bias
    }

    fn multinomial(&self, cells: &[f64], logs: &mut [f64]) {
        for ((log, &n), whole) in logs.iter_mut().zip(cells).zip(&self.whole) {
            *log = if n == 0.0 { self.none } else { (n + self.smoothing).ln() } - whole;
        }
    }

    fn complement(&self, cells: &[f64], logs: &mut [f64]) {
        let all: f64 = cells.iter().sum();
        let none = (all + self.smoothing).ln();
        for ((log, &n), whole) in logs.iter_mut().zip(cells).zip(&self.whole) {
            // What rounding leaves of a feature that no other class has must not be negative.
            *log = whole - if n == 0.0 { none } else { ((all - n).max(0.0) + self.smoothing).ln() };
        }
    }

    fn bernoulli(&self, cells: &[f64], logs: &mut [f64], bias: &mut [f64]) {
        for (c, &n) in cells.iter().enumerate() {
            let (there, not) = match n == 0.0 {
                true => (self.none, self.absent[c]),
                false => ((n + self.smoothing).ln(), ((self.counts.rows[c] - n).max(0.0) + self.smoothing).ln()),
            };
            logs[c] = there - not;
            bias[c] += not - self.whole[c];
        }
    }
}

/// A number per class as a number per output: the difference of two, or all.
fn write(classes: &[f64], outputs: &mut [f64]) {
    match (classes, &mut *outputs) {
        ([first, second], [output]) => *output = second - first,
        _ => outputs.copy_from_slice(classes),
    }
}
