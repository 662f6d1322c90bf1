//! Data sets of rows that are in memory already.

use super::matrix::{Builder, Layout, Matrix, Values};
use super::{Dataset, Labels, Report};
use crate::error::{Error, Result};
use crate::features::{Dictionary, Schema};
use std::fmt::Display;
use std::sync::Arc;

impl Dataset {
    /// Dense rows, one after the other, of so many columns each. All values must be finite.
    ///
    /// ```
    /// use novikoff::Dataset;
    ///
    /// let data = Dataset::from_dense(&[0.5, 1.0, 2.0, 0.0], 2)?.with_labels(&["no", "yes"])?;
    /// assert_eq!((data.len(), data.rows.columns()), (2, 2));
    /// assert!(Dataset::from_dense(&[0.5, f64::NAN], 2).is_err());
    /// assert!(Dataset::from_dense(&[0.5, 1.0, 2.0], 2).is_err());
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn from_dense(values: &[f64], columns: usize) -> Result<Self> {
        if columns == 0 && !values.is_empty() || columns > 0 && !values.len().is_multiple_of(columns) {
            let what = format!("{} values do not make rows of {columns} columns", values.len());
            return Err(Error::input(what));
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(non_finite(values[at], at / columns, at % columns));
        }
        let numbers: Vec<u32> = (0..columns as u32).collect();
        let mut builder = Builder::new(Layout::Dense { columns });
        values.chunks_exact(columns.max(1)).for_each(|row| builder.push(&numbers, row));
        Ok(Self::from_matrix(builder.finish()))
    }

    /// Compressed sparse rows: the entries of row `r` are `starts[r]..starts[r + 1]` of `indices` (columns
    /// from 0, strictly increasing within a row) and `values` (finite).
    ///
    /// ```
    /// use novikoff::Dataset;
    ///
    /// let data = Dataset::from_csr(&[0, 2, 3], &[0, 4, 1], &[1.0, 2.0, 3.0], 5)?;
    /// assert_eq!((data.len(), data.rows.nonzeros()), (2, 3));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn from_csr(starts: &[usize], indices: &[u32], values: &[f64], columns: usize) -> Result<Self> {
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            let row = starts.partition_point(|start| *start <= at).saturating_sub(1);
            return Err(non_finite(values[at], row, indices.get(at).map_or(0, |j| *j as usize)));
        }
        let values = Values::F64(values.to_vec());
        let rows = Matrix::from_compressed(columns, starts.to_vec(), indices.to_vec(), values);
        Ok(Self::from_matrix(rows.map_err(Error::input)?))
    }

    /// Rows without labels.
    pub fn from_matrix(rows: Matrix) -> Self {
        let report = Report { rows: rows.rows() as u64, ..Report::default() };
        Self {
            rows,
            labels: Vec::new(),
            names: Labels::default(),
            row_weights: Vec::new(),
            schema: Schema::one_based(),
            report,
        }
    }

    /// The same rows with a label each: text, or whole numbers.
    pub fn with_labels<L: Display>(mut self, labels: &[L]) -> Result<Self> {
        self.refuse_other_length(labels.len(), "labels")?;
        self.names = Labels::default();
        self.labels = labels.iter().map(|label| self.names.intern(&label.to_string())).collect();
        Ok(self)
    }

    /// The same rows with a number each, for regression. All must be finite.
    ///
    /// ```
    /// use novikoff::Dataset;
    ///
    /// let data = Dataset::from_dense(&[1.0, 2.0], 1)?.with_targets(&[0.1, -3.5e-7])?;
    /// assert_eq!(data.targets()?, [0.1, -3.5e-7]);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn with_targets(self, targets: &[f64]) -> Result<Self> {
        if let Some(at) = targets.iter().position(|y| !y.is_finite()) {
            let what = format!("the target of row {} is {}, not a finite number", at + 1, targets[at]);
            return Err(Error::input(what));
        }
        self.with_labels(targets)
    }

    /// The same rows, each counting as often as its weight says: finite numbers from 0.
    pub fn with_row_weights(mut self, weights: &[f64]) -> Result<Self> {
        self.refuse_other_length(weights.len(), "row weights")?;
        if let Some(at) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let what = format!("the weight of row {} is {}, not a finite number from 0", at + 1, weights[at]);
            return Err(Error::input(what));
        }
        self.row_weights = weights.to_vec();
        Ok(self)
    }

    /// The same rows with a name for each column.
    pub fn with_names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self> {
        if names.len() != self.rows.columns() {
            let what = format!("{} names for {} columns", names.len(), self.rows.columns());
            return Err(Error::input(what));
        }
        let mut dictionary = Dictionary::default();
        for (column, name) in names.iter().enumerate() {
            if dictionary.intern(name.as_ref()) as usize != column {
                return Err(Error::input(format!("two columns have the name {:?}", name.as_ref())));
            }
        }
        self.schema = Schema::Named(Arc::new(dictionary));
        Ok(self)
    }

    fn refuse_other_length(&self, length: usize, what: &str) -> Result<()> {
        match length == self.len() {
            true => Ok(()),
            false => Err(Error::input(format!("{length} {what} for {} rows", self.len()))),
        }
    }
}

fn non_finite(value: f64, row: usize, column: usize) -> Error {
    let what = format!("the value of row {}, column {} is {value}", row + 1, column + 1);
    Error::input(what).hint("every value must be a finite number")
}
