//! Naive Bayes on a stream: each row is predicted, then counted.

use super::counts::negative;
use super::{Counts, IMPOSSIBLE, Likelihood, Vocabulary};
use crate::data::Row;
use crate::model::grow_zeroed;
use crate::multiclass::best_except;
use std::collections::BTreeMap;

/// Learns from a stream, and predicts each row by those before it. Features and classes are those that have
/// occurred so far.
///
/// Only counts are stored. The logarithms for a row, at most one for each entry and class, are computed when
/// it is predicted. Only the Bernoulli likelihood depends on absent features; `AbsentSum` maintains that sum.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    counts: Counts,
    smoothing: f64,
    /// `ln p(c)`, where it is not learned.
    fixed: Option<Vec<f64>>,
    /// The sum of each class's counts.
    totals: Vec<f64>,
    /// The sum of each feature's counts.
    all: Vec<f64>,
    /// How many features there are so far.
    features: usize,
    /// Bernoulli: the sum over absent features, for each class.
    absent: Vec<AbsentSum>,
    /// Memory for a row: its entries of known features, and the scores of all classes.
    entries: Vec<(u32, f64)>,
    scores: Vec<f64>,
    rows: u64,
    wrong: u64,
}

/// `Σⱼ ln (R(c) − N(c, j) + α)` over the features that rows of a class c have. Equal counts have equal
/// logarithms, and few counts differ: as n of them sum to n²/2 at least, fewer than √(2·entries) if rows
/// weigh 1.
#[derive(Clone, Debug, Default)]
struct AbsentSum {
    /// How many features have each count; counts by their bits, which are in the order of the numbers, so
    /// that the sum does not depend on chance.
    features: BTreeMap<u64, u64>,
    /// How many features that is.
    met: u64,
    sum: f64,
}

impl AbsentSum {
    /// A feature's count has grown, unless what was added is too little to change it.
    fn moved(&mut self, from: f64, to: f64) {
        if from == to {
            return;
        }
        if from == 0.0 {
            self.met += 1;
        } else if let Some(features) = self.features.get_mut(&from.to_bits()) {
            *features -= 1;
            if *features == 0 {
                self.features.remove(&from.to_bits());
            }
        }
        *self.features.entry(to.to_bits()).or_default() += 1;
    }

    /// The sum over what rows of a class have.
    fn of(counts: &Counts, class: usize, smoothing: f64) -> Self {
        let mut sum = Self::default();
        counts.cells(class).iter().filter(|n| **n != 0.0).for_each(|&n| sum.moved(0.0, n));
        sum.sum_up(counts.rows()[class], smoothing);
        sum
    }

    fn sum_up(&mut self, rows: f64, smoothing: f64) {
        let log = |bits: u64| ((rows - f64::from_bits(bits)).max(0.0) + smoothing).ln();
        self.sum = self.features.iter().map(|(&bits, &features)| features as f64 * log(bits)).sum();
    }
}

impl Stream {
    /// A stream without rows.
    pub(crate) fn new(likelihood: Likelihood, vocabulary: Vocabulary, smoothing: f64) -> Self {
        Self {
            counts: Counts::new(likelihood, vocabulary),
            smoothing,
            fixed: None,
            totals: Vec::new(),
            all: Vec::new(),
            features: 0,
            absent: Vec::new(),
            entries: Vec::new(),
            scores: Vec::new(),
            rows: 0,
            wrong: 0,
        }
    }

    /// Reserves room for so many features and classes.
    pub(crate) fn reserve(&mut self, features: usize, classes: usize) {
        self.counts.reserve(features, classes);
        self.totals.resize(classes.max(self.totals.len()), 0.0);
        if features > self.all.len() {
            grow_zeroed(&mut self.all, features);
        }
        if self.counts.likelihood() == Likelihood::Bernoulli {
            self.absent.resize_with(self.totals.len(), AbsentSum::default);
        }
    }

    /// Sets the log prior of the next class to occur. If it is set for one class, it must be set for all.
    pub(crate) fn fix_prior(&mut self, log_prior: f64) {
        self.fixed.get_or_insert_default().push(log_prior);
    }

    /// Predicts a row, then counts it. [`Stream::reserve`] must have been called for its features and class.
    /// A row with a negative entry is an error, which has that entry.
    pub(crate) fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<(), (u32, f64)> {
        if let Some(negative) = negative(row) {
            return Err(negative);
        }
        let wrong = self.predict(row) != Some(class as usize);
        if weight > 0.0 {
            self.count(row, class, weight);
        }
        self.rows += 1;
        self.wrong += u64::from(wrong);
        Ok(())
    }

    /// Rows so far, and how many of them were predicted wrongly. What was not predicted at all, as the first
    /// row, is wrong.
    pub(crate) fn tally(&self) -> (u64, u64) {
        (self.rows, self.wrong)
    }

    /// The counts of all rows.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The sums of the counts of each class, of those of each feature, and the number of features so far.
    /// Other orders of summation could differ in the last digit.
    pub(crate) fn sums(&self) -> (&[f64], &[f64], usize) {
        (&self.totals, &self.all, self.features)
    }

    /// Resumes from counts and sums, after so many rows of which so many were predicted wrongly. Priors that
    /// are not learned must have been fixed.
    pub(crate) fn resume(
        &mut self,
        counts: Counts,
        (totals, all, features): (Vec<f64>, Vec<f64>, usize),
        (rows, wrong): (u64, u64),
    ) {
        if counts.likelihood() == Likelihood::Bernoulli {
            self.absent =
                (0..counts.rows().len()).map(|c| AbsentSum::of(&counts, c, self.smoothing)).collect();
        }
        (self.counts, self.totals, self.all, self.features) = (counts, totals, all, features);
        (self.rows, self.wrong) = (rows, wrong);
    }

    fn count(&mut self, row: Row<'_>, class: u32, weight: f64) {
        let (c, likelihood) = (class as usize, self.counts.likelihood());
        let cells = self.counts.cells(c);
        row.for_each_nonzero(|j, x| {
            let (j, added) = (j as usize, weight * likelihood.count(x));
            match self.counts.vocabulary() {
                Vocabulary::Columns => self.features = self.features.max(j + 1),
                Vocabulary::Met => self.features += usize::from(self.all[j] == 0.0),
            }
            self.totals[c] += added;
            self.all[j] += added;
            if let Some(absent) = self.absent.get_mut(c) {
                absent.moved(cells[j], cells[j] + added);
            }
        });
        self.counts.add(row, class, weight);
        if let Some(absent) = self.absent.get_mut(c) {
            absent.sum_up(self.counts.rows()[c], self.smoothing);
        }
    }

    /// The predicted class of a row; `None` before the first row.
    fn predict(&mut self, row: Row<'_>) -> Option<usize> {
        self.entries.clear();
        let (features, met) = (self.features, self.counts.vocabulary() == Vocabulary::Met);
        row.for_each_nonzero(|j, x| {
            if if met { self.all[j as usize] != 0.0 } else { (j as usize) < features } {
                self.entries.push((j, x));
            }
        });
        let all_rows: f64 = self.counts.rows().iter().sum();
        self.scores.clear();
        for (c, &rows) in self.counts.rows().iter().enumerate() {
            let prior = match (&self.fixed, self.counts.likelihood()) {
                // A class without rows is not predicted.
                _ if rows == 0.0 => IMPOSSIBLE,
                (_, Likelihood::Complement) => 0.0,
                (Some(fixed), _) => fixed[c],
                (None, _) => (rows / all_rows).ln(),
            };
            self.scores.push(prior + self.likelihood(c));
        }
        (all_rows > 0.0).then(|| best_except(&self.scores, usize::MAX))
    }

    /// The log likelihood of the current row in a class.
    fn likelihood(&self, c: usize) -> f64 {
        let (alpha, features) = (self.smoothing, self.features as f64);
        let (rows, cells) = (self.counts.rows()[c], self.counts.cells(c));
        let none = alpha.ln();
        let log = |n: f64| if n == 0.0 { none } else { (n + alpha).ln() };
        let entries = || self.entries.iter().map(|&(j, x)| (x, cells[j as usize], self.all[j as usize]));
        // Without it there is nothing to divide.
        let mass: f64 = self.entries.iter().map(|(_, x)| x).sum();
        match self.counts.likelihood() {
            _ if mass == 0.0 && self.absent.is_empty() => 0.0,
            Likelihood::Multinomial => {
                entries().map(|(x, n, _)| x * log(n)).sum::<f64>()
                    - mass * (self.totals[c] + alpha * features).ln()
            }
            Likelihood::Complement => {
                let others = (self.totals.iter().sum::<f64>() - self.totals[c]).max(0.0);
                mass * (others + alpha * features).ln()
                    - entries().map(|(x, n, all)| x * log((all - n).max(0.0))).sum::<f64>()
            }
            Likelihood::Bernoulli => {
                let never = (rows + alpha).ln();
                let not = |n: f64| if n == 0.0 { never } else { ((rows - n).max(0.0) + alpha).ln() };
                let there: f64 = entries().map(|(_, n, _)| log(n) - not(n)).sum();
                let absent = &self.absent[c];
                let everywhere = absent.sum + (features - absent.met as f64) * never;
                there + everywhere - features * (rows + 2.0 * alpha).ln()
            }
        }
    }
}
