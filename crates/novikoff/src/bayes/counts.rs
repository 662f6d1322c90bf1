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
    classes: Vec<Class>,
}

/// What the rows of one class come to. Each has memory of its own: while its rows are counted, all of that is near.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Class {
    /// How much they have of each feature.
    pub(super) cells: Vec<f64>,
    /// What they weigh.
    pub(super) rows: f64,
}

/// Features that one task makes weights of.
const BLOCK: usize = 256;

impl Counts {
    /// Nothing counted yet.
    pub fn new(likelihood: Likelihood, vocabulary: Vocabulary) -> Self {
        Self { likelihood, vocabulary, features: 0, classes: Vec::new() }
    }

    /// Counts rows of so many classes. Empty `weights` mean 1 for every row.
    ///
    /// Tasks take the rows of one class each or, where a class has more than its share, some of its features: so every cell is
    /// a sum in the order of the rows, whatever the number of tasks, and the same as one by one.
    pub fn of(
        (likelihood, vocabulary): (Likelihood, Vocabulary),
        rows: &Matrix,
        classes: &[u32],
        weights: &[f64],
        count: usize,
    ) -> Result<Self, Negative> {
        let mut members = vec![Vec::new(); count];
        (0..rows.rows()).for_each(|i| members[classes[i] as usize].push(i));
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let columns = rows.columns();
        let tasks = 2 * rayon::current_num_threads();
        let counted = members.par_iter().map(|members| {
            let mut class = Class { cells: vec![0.0; columns], rows: members.iter().map(|&i| weight(i)).sum() };
            let parts = (members.len() * tasks).div_ceil(rows.rows()).max(1);
            let share = columns.div_ceil(parts).max(1);
            let count_part = |(part, cells): (usize, &mut [f64])| {
                let span = part * share..part * share + cells.len();
                members.iter().fold(false, |found, &i| add(likelihood, rows.row(i), span.clone(), cells, weight(i)) || found)
            };
            let parts: Vec<bool> = class.cells.par_chunks_mut(share).enumerate().map(count_part).collect();
            (class, parts.contains(&true))
        });
        let counted: Vec<(Class, bool)> = counted.collect();
        if counted.iter().any(|(_, found)| *found) {
            let entry = |row: usize| negative(rows.row(row)).map(|(feature, value)| Negative { row, feature, value });
            (0..rows.rows()).find_map(entry).map_or(Ok(()), Err)?;
        }
        let classes = counted.into_iter().map(|(class, _)| class).collect();
        Ok(Self { likelihood, vocabulary, features: columns, classes })
    }

    /// Makes room for so many features and classes.
    pub fn expect(&mut self, features: usize, classes: usize) {
        if features > self.features {
            self.classes.iter_mut().for_each(|class| grow_zeroed(&mut class.cells, features));
            self.features = features;
        }
        let fresh = || Class { cells: vec![0.0; self.features], rows: 0.0 };
        self.classes.resize_with(classes.max(self.classes.len()), fresh);
    }

    /// Counts a row, which must have no negative entry. [`Counts::expect`] must have been told of its class and features.
    pub fn add(&mut self, row: Row<'_>, class: u32, weight: f64) {
        let class = &mut self.classes[class as usize];
        add(self.likelihood, row, 0..class.cells.len(), &mut class.cells, weight);
        class.rows += weight;
    }

    /// What the rows of each class come to.
    pub(super) fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// What all rows weigh.
    pub fn rows(&self) -> f64 {
        self.classes.iter().map(|class| class.rows).sum()
    }

    /// The likelihood that they are counted for.
    pub fn likelihood(&self) -> Likelihood {
        self.likelihood
    }

    pub(super) fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The same counts with classes in this order, which has each once, and at least so many features.
    #[must_use]
    pub fn arranged(mut self, order: &[u32], features: usize) -> Self {
        self.expect(features, self.classes.len());
        let classes = order.iter().map(|&class| std::mem::take(&mut self.classes[class as usize])).collect();
        Self { classes, ..self }
    }

    /// `ln p(c)` of priors as frequent as the rows.
    pub fn log_priors(&self) -> Vec<f64> {
        let all = self.rows();
        self.classes.iter().map(|class| if class.rows > 0.0 { (class.rows / all).ln() } else { IMPOSSIBLE }).collect()
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
        let outputs = scheme.outputs(self.classes.len());
        let mut weights = Weights::zero(self.features, outputs);
        let terms = Terms::new(self, smoothing);
        let make = |(block, weights): (usize, &mut [f64])| terms.block(block * BLOCK, weights, outputs);
        // Blocks are cut by number alone and their sums put together in order.
        let parts: Vec<Vec<f64>> = weights.values.par_chunks_mut(BLOCK * outputs).enumerate().map(make).collect();
        for c in 0..self.classes.len() {
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
    let (start, mut negative) = (span.start, false);
    row.for_each_within(span, |j, x| {
        cells[j as usize - start] += weight * likelihood.count(x);
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

/// Puts class `c`'s number where it belongs: each class has an output, or two share one, which is their difference.
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
        let totals: Vec<f64> = counts.classes.par_iter().map(|class| class.cells.iter().sum()).collect();
        let features = match counts.vocabulary {
            Vocabulary::Columns => counts.features,
            Vocabulary::Met => {
                let met = |j: &usize| counts.classes.iter().any(|class| class.cells[*j] != 0.0);
                (0..counts.features).into_par_iter().with_min_len(BLOCK).filter(met).count()
            }
        };
        let (all, shares): (f64, f64) = (totals.iter().sum(), smoothing * features as f64);
        let whole = |(total, class): (&f64, &Class)| match counts.likelihood {
            Likelihood::Multinomial => (total + shares).ln(),
            Likelihood::Complement => ((all - total).max(0.0) + shares).ln(),
            Likelihood::Bernoulli => (class.rows + 2.0 * smoothing).ln(),
        };
        Self { counts, smoothing, wholes: totals.iter().zip(&counts.classes).map(whole).collect() }
    }

    /// The weights of some features from `start` on, and what they add to each class's bias.
    fn block(&self, start: usize, weights: &mut [f64], outputs: usize) -> Vec<f64> {
        let Self { counts: Counts { likelihood, vocabulary, classes, .. }, smoothing, wholes } = self;
        let span = start..start + weights.len() / outputs;
        let mut all = vec![0.0; span.len()];
        if (likelihood, vocabulary) != (&Likelihood::Multinomial, &Vocabulary::Columns) {
            for class in classes {
                all.iter_mut().zip(&class.cells[span.clone()]).for_each(|(all, n)| *all += n);
            }
        }
        // Most features occur in few classes: the logarithms that belong to a count of 0 are taken once.
        let none = smoothing.ln();
        let nowhere: Vec<f64> = match likelihood {
            Likelihood::Complement => all.iter().map(|all| (all + smoothing).ln()).collect(),
            _ => Vec::new(),
        };
        let class_block = |(c, (class, whole)): (usize, (&Class, &f64))| {
            let (absent, mut bias) = ((class.rows + smoothing).ln(), 0.0);
            for (j, &n) in class.cells[span.clone()].iter().enumerate() {
                if *vocabulary == Vocabulary::Met && all[j] == 0.0 {
                    continue;
                }
                let log = match (likelihood, n == 0.0) {
                    (Likelihood::Multinomial, true) => none - whole,
                    (Likelihood::Multinomial, false) => (n + smoothing).ln() - whole,
                    (Likelihood::Complement, true) => whole - nowhere[j],
                    // What rounding leaves of a feature that no other class has must not be negative.
                    (Likelihood::Complement, false) => whole - ((all[j] - n).max(0.0) + smoothing).ln(),
                    (Likelihood::Bernoulli, _) => {
                        let (there, not) = match n == 0.0 {
                            true => (none, absent),
                            false => ((n + smoothing).ln(), ((class.rows - n).max(0.0) + smoothing).ln()),
                        };
                        bias += not - whole;
                        there - not
                    }
                };
                put(&mut weights[j * outputs..][..outputs], c, outputs, log);
            }
            bias
        };
        classes.iter().zip(wholes).enumerate().map(class_block).collect()
    }
}
