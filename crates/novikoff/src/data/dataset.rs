//! A data set in memory: rows, their labels and weights, and what the reader noticed.

use super::labels::as_number;
use super::matrix::{Builder, Layout};
use super::{Labels, Matrix, Scale};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::random::Random;

/// Rows with their labels. The rows may be borrowed, as those of [`Dataset::from_dense`] and
/// [`Dataset::from_csr`] are; `Dataset<'static>` owns them.
#[derive(Clone, Debug)]
pub struct Dataset<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// The number of each row's label in `names`; empty if the data has no labels.
    pub labels: Vec<u32>,
    /// The labels' names, in the order of first appearance (or of the model that the data was read for).
    pub names: Labels,
    /// A weight per row; empty if every row counts once.
    pub row_weights: Vec<f64>,
    /// How the input's columns became features.
    pub schema: Schema,
    /// What the reader noticed.
    pub report: Report,
}

/// What a reader noticed on the way: nothing here is an error, all of it deserves to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows read.
    pub rows: u64,
    /// Bytes of input, after decompression.
    pub bytes: u64,
    /// Rows that were skipped because something was wrong with them.
    pub bad_rows: u64,
    /// The first few of those, as full messages.
    pub first_bad: Vec<String>,
    /// Rows that carried a query id, which no learner here uses.
    pub query_ids: u64,
    /// Entries of features that the model has never seen; they weigh nothing.
    pub unseen_features: u64,
    /// Missing values that were filled in.
    pub missing: u64,
    /// Width and height of the images that the rows are, where the input says so.
    pub image: Option<(u32, u32)>,
    /// Remarks on how the input was understood (a header, a delimiter, a label column), in order.
    pub remarks: Vec<String>,
    /// What the user may not expect: columns of a table that were left out, and how to keep them.
    pub warnings: Vec<String>,
    /// The label's column of a table, where nobody named it and it was found by a name such as `y`, `class`
    /// or `target`.
    pub guessed_label: Option<String>,
}

impl Dataset<'_> {
    /// The same data set, with the rows in memory of their own.
    pub fn into_owned(self) -> Dataset<'static> {
        let Dataset { rows, labels, names, row_weights, schema, report } = self;
        Dataset { rows: rows.into_owned(), labels, names, row_weights, schema, report }
    }

    /// Whether labels and row weights fit the rows: as many, labels with a name, weights that are finite
    /// numbers from 0 with a finite sum. Whatever learns from a data set or measures on one asks this first.
    ///
    /// ```
    /// use novikoff::Dataset;
    ///
    /// let mut data = Dataset::from_dense(&[1.0, 2.0], 1)?.with_labels(&["a", "b"])?;
    /// data.labels[1] = 2;
    /// assert!(data.validate().is_err());
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn validate(&self) -> Result<()> {
        let rows = self.len();
        let other_length =
            |length: usize, what: &str| Error::input(format!("{length} {what} for {rows} rows"));
        if !self.labels.is_empty() && self.labels.len() != rows {
            return Err(other_length(self.labels.len(), "labels"));
        }
        if let Some(row) = self.labels.iter().position(|label| *label as usize >= self.names.len()) {
            let (label, names) = (self.labels[row], self.names.len());
            return Err(Error::input(format!("row {} has label number {label} of {names}", row + 1)));
        }
        if !self.row_weights.is_empty() && self.row_weights.len() != rows {
            return Err(other_length(self.row_weights.len(), "row weights"));
        }
        if let Some(row) = self.row_weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0))
        {
            let weight = self.row_weights[row];
            let what = format!("the weight of row {} is {weight}, not a finite number from 0", row + 1);
            return Err(Error::input(what));
        }
        // Every mean is divided by it.
        if !self.row_weights.iter().sum::<f64>().is_finite() {
            let what = "the row weights add up to more than the largest number";
            return Err(Error::input(what).hint("divide all of them by the same number"));
        }
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight of row `i`.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.row_weights.get(i).copied().unwrap_or(1.0)
    }

    /// What all rows count together: their weights, or how many they are. Costs are C = 1/(λ·n) of this n.
    pub fn total_weight(&self) -> f64 {
        if self.row_weights.is_empty() { self.len() as f64 } else { self.row_weights.iter().sum() }
    }

    /// The factors that bring columns to one size. The terms of documents have been weighed already, and stay
    /// as they are.
    pub fn factors(&self, scale: Scale) -> Vec<f64> {
        let mut factors = scale.factors(&self.rows, &self.row_weights);
        if let Some(columns) = self.scaled_columns() {
            factors.truncate(columns as usize);
        }
        factors
    }

    /// The scale that these rows are learned with where such a one is asked for: documents that have no other
    /// columns than their terms need no standard one.
    pub(crate) fn effective(&self, scale: Scale) -> Scale {
        match (scale, self.scaled_columns()) {
            (Scale::Standard, Some(0)) => Scale::None,
            _ => scale,
        }
    }

    /// How many columns, from the first on, a scale applies to: those before the terms of documents. `None`
    /// for all.
    pub(crate) fn scaled_columns(&self) -> Option<u64> {
        match &self.schema {
            Schema::Text(text) => Some(u64::from(text.first())),
            _ => None,
        }
    }

    /// Weights of labels by which all of them count as much together: the rows' weight over the number of
    /// labels times the weight of its rows.
    pub(crate) fn balanced_weights(&self, labels: &Labels) -> Vec<f64> {
        let class: Vec<Option<u32>> = self.names.names().iter().map(|name| labels.find(name)).collect();
        let mut counts = vec![0.0; labels.len()];
        for (i, &label) in self.labels.iter().enumerate() {
            if let Some(class) = class[label as usize] {
                counts[class as usize] += self.weight(i);
            }
        }
        let total: f64 = counts.iter().sum();
        let weight = |&count: &f64| if count > 0.0 { total / (labels.len() as f64 * count) } else { 0.0 };
        counts.iter().map(weight).collect()
    }

    /// The numbers that the rows' labels spell: what regression learns from.
    ///
    /// ```
    /// use novikoff::control::Unwatched;
    /// use novikoff::read::{Input, Options, Purpose, Reader};
    ///
    /// let input = Input::Bytes { name: "prices".into(), bytes: (*b"1.5 1:1\n-2e3 1:2\n+1.5 1:3\n").into() };
    /// let reader = Reader::open(&input, &Options::default(), &Purpose::TrainingOnTargets)?;
    /// let data = reader.read(&mut Unwatched)?;
    /// assert_eq!(data.targets()?, [1.5, -2000.0, 1.5]);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn targets(&self) -> Result<Vec<f64>> {
        if self.labels.len() != self.len() {
            return Err(Error::input("the rows have no targets")
                .hint("is this the right file, with its label column?"));
        }
        // A name that is not a number is found where a row has it: among the names alone there may be some of
        // no row.
        let values: Vec<f64> =
            self.names.names().iter().map(|name| as_number(name).unwrap_or(f64::NAN)).collect();
        let targets: Vec<f64> = self.labels.iter().map(|&label| values[label as usize]).collect();
        match targets.iter().position(|target| target.is_nan()) {
            None => Ok(targets),
            Some(row) => {
                let name = &self.names.names()[self.labels[row] as usize];
                let what = format!("the target {name:?} of row {} is not a number", row + 1);
                Err(Error::input(what).hint("regression predicts numbers; is this the right label column?"))
            }
        }
    }

    /// The rows named, in that order, as a data set of their own.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select(&self, rows: &[usize]) -> Dataset<'static> {
        Dataset { rows: self.rows.select(rows.iter().copied()), ..self.select_without_rows(rows) }
    }

    /// The same with a matrix that is empty: labels and weights of the rows named. Where there are fewer
    /// labels than rows, which [`Dataset::validate`] refuses, so there are afterwards.
    pub(super) fn select_without_rows(&self, rows: &[usize]) -> Dataset<'static> {
        Dataset {
            rows: Builder::new(Layout::Sparse).finish(),
            labels: rows.iter().filter_map(|&i| self.labels.get(i).copied()).collect(),
            names: self.names.clone(),
            row_weights: rows.iter().filter_map(|&i| self.row_weights.get(i).copied()).collect(),
            schema: self.schema.clone(),
            report: self.report.clone(),
        }
    }

    /// A seeded split: the second part holds `fraction` of the rows (at least one, and at least one is left).
    /// Both parts keep the order of the data. Fewer than two rows cannot be split.
    pub fn split(&self, fraction: f64, seed: u64) -> Result<(Dataset<'static>, Dataset<'static>)> {
        let total = self.len();
        if total < 2 {
            return Err(Error::input("there are too few rows to hold some back"));
        }
        let held = ((total as f64 * fraction).round() as usize).clamp(1, total - 1);
        let mut order: Vec<usize> = (0..total).collect();
        Random::new(seed).shuffle(&mut order);
        let (held, kept) = order.split_at_mut(held);
        held.sort_unstable();
        kept.sort_unstable();
        Ok((self.select(kept), self.select(held)))
    }
}
