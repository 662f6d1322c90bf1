//! Rows that are predicted before they are counted.

use super::counts::negative;
use super::{Counts, IMPOSSIBLE, Likelihood, Vocabulary};
use crate::data::Row;
use crate::multiclass::best_except;
use std::collections::BTreeMap;

/// Learns from a stream, and predicts each row by those before it. Features and classes are those that have turned up so far.
///
/// Nothing is kept but counts: the logarithms that a row needs, one for each of its entries and each class, are taken when it
/// comes. Only Bernoulli's likelihood speaks of features that a row does not have; [`Absent`] keeps that sum at hand.
#[derive(Clone, Debug)]
pub struct Stream {
    counts: Counts,
    smoothing: f64,
    /// `ln p(c)`, where it is not learned.
    fixed: Option<Vec<f64>>,
    /// The sum of each class's counts.
    totals: Vec<f64>,
    /// How many features there are so far.
    features: usize,
    /// Bernoulli's: what each class says of features that a row does not have.
    absent: Vec<Absent>,
    scores: Vec<f64>,
    rows: u64,
    wrong: u64,
}

/// `Σⱼ ln (R(c) − N(c, j) + α)` over the features that rows of a class c have. Equal counts have equal logarithms, and few counts
/// differ: as n of them sum to n²/2 at least, fewer than √(2·entries) if rows weigh 1.
#[derive(Clone, Debug, Default)]
struct Absent {
    /// How many features have each count; counts by their bits, which are in the order of the numbers, so that the sum does
    /// not depend on chance.
    features: BTreeMap<u64, u64>,
    /// How many features that is.
    met: u64,
    sum: f64,
}

impl Absent {
    /// A feature's count has grown.
    fn moved(&mut self, from: f64, to: f64) {
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

    fn sum_up(&mut self, rows: f64, smoothing: f64) {
        let log = |bits: u64| ((rows - f64::from_bits(bits)).max(0.0) + smoothing).ln();
        self.sum = self.features.iter().map(|(&bits, &features)| features as f64 * log(bits)).sum();
    }
}

impl Stream {
    /// Has seen nothing.
    pub fn new(likelihood: Likelihood, vocabulary: Vocabulary, smoothing: f64) -> Self {
        Self {
            counts: Counts::new(likelihood, vocabulary),
            smoothing,
            fixed: None,
            totals: Vec::new(),
            features: 0,
            absent: Vec::new(),
            scores: Vec::new(),
            rows: 0,
            wrong: 0,
        }
    }

    /// Makes room for so many features and classes.
    pub fn expect(&mut self, features: usize, classes: usize) {
        self.counts.expect(features, classes);
        self.totals.resize(classes.max(self.totals.len()), 0.0);
        if self.counts.likelihood() == Likelihood::Bernoulli {
            self.absent.resize_with(self.totals.len(), Absent::default);
        }
    }

    /// Says how probable the next class to turn up is before a row is seen, by the logarithm. Once said of one class, it must
    /// be said of each.
    pub fn fix_prior(&mut self, log_prior: f64) {
        self.fixed.get_or_insert_default().push(log_prior);
    }

    /// Predicts a row, then counts it. [`Stream::expect`] must have been told of its features and class. A row with a negative
    /// entry is an error, which has that entry.
    pub fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<(), (u32, f64)> {
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

    /// Rows so far, and how many of them were predicted wrongly. What was not predicted at all, as the first row, is wrong.
    pub fn tally(&self) -> (u64, u64) {
        (self.rows, self.wrong)
    }

    /// The counts of all rows.
    pub fn into_counts(self) -> Counts {
        self.counts
    }

    fn count(&mut self, row: Row<'_>, class: u32, weight: f64) {
        let (c, likelihood) = (class as usize, self.counts.likelihood());
        row.for_each_nonzero(|j, x| {
            let (cells, added) = (self.counts.cells(j), weight * likelihood.count(x));
            match self.counts.vocabulary() {
                Vocabulary::Columns => self.features = self.features.max(j as usize + 1),
                Vocabulary::Met => self.features += usize::from(cells.iter().all(|n| *n == 0.0)),
            }
            self.totals[c] += added;
            if let Some(absent) = self.absent.get_mut(c) {
                absent.moved(cells[c], cells[c] + added);
            }
        });
        self.counts.add(row, class, weight);
        if let Some(absent) = self.absent.get_mut(c) {
            absent.sum_up(self.counts.rows()[c], self.smoothing);
        }
    }

    /// The class that the rows so far say a row has; none if there were none.
    fn predict(&mut self, row: Row<'_>) -> Option<usize> {
        let Self { counts, smoothing, totals, absent, scores, .. } = self;
        let (alpha, rows, known) = (*smoothing, counts.rows(), self.features);
        scores.clear();
        scores.resize(rows.len(), 0.0);
        // How much the row has of the features that are known.
        let mut mass = 0.0;
        row.for_each_nonzero(|j, x| {
            let cells = counts.cells(j);
            let known = match counts.vocabulary() {
                Vocabulary::Columns => (j as usize) < known,
                Vocabulary::Met => cells.iter().any(|n| *n != 0.0),
            };
            if !known {
                return;
            }
            mass += x;
            let each = scores.iter_mut().zip(cells);
            match counts.likelihood() {
                Likelihood::Multinomial => each.for_each(|(score, n)| *score += x * (n + alpha).ln()),
                Likelihood::Complement => {
                    let all: f64 = cells.iter().sum();
                    each.for_each(|(score, n)| *score -= x * ((all - n).max(0.0) + alpha).ln());
                }
                Likelihood::Bernoulli => each.zip(rows).for_each(|((score, n), rows)| {
                    *score += (n + alpha).ln() - ((rows - n).max(0.0) + alpha).ln();
                }),
            }
        });
        let (all, features): (f64, f64) = (totals.iter().sum(), known as f64);
        for (c, score) in scores.iter_mut().enumerate() {
            match counts.likelihood() {
                Likelihood::Multinomial if mass > 0.0 => *score -= mass * (totals[c] + alpha * features).ln(),
                Likelihood::Complement if mass > 0.0 => {
                    *score += mass * ((all - totals[c]).max(0.0) + alpha * features).ln();
                }
                Likelihood::Bernoulli => {
                    let never = (features - absent[c].met as f64) * (rows[c] + alpha).ln();
                    *score += absent[c].sum + never - features * (rows[c] + 2.0 * alpha).ln();
                }
                _ => {}
            }
        }
        let all_rows: f64 = rows.iter().sum();
        for (c, score) in scores.iter_mut().enumerate() {
            *score += match (&self.fixed, counts.likelihood()) {
                // A class that has not been seen yet is nothing to guess.
                _ if rows[c] == 0.0 => IMPOSSIBLE,
                (_, Likelihood::Complement) => 0.0,
                (Some(fixed), _) => fixed[c],
                (None, _) => (rows[c] / all_rows).ln(),
            };
        }
        (all_rows > 0.0).then(|| best_except(scores, usize::MAX))
    }
}
