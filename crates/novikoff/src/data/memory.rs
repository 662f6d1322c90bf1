//! Data sets of rows that are in memory already.

use super::matrix::{Matrix, Values};
use super::{Dataset, Labels, Report};
use crate::error::{Error, Result};
use crate::features::{Dictionary, Schema};
use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

impl<'a> Dataset<'a> {
    /// Dense rows, one after the other, of so many columns each. All values must be finite.
    ///
    /// A slice of `f32` is borrowed. So is one of `f64`, unless all its values are exact in single precision:
    /// then they are stored like that, in half the memory, as those of a file would be.
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
    pub fn from_dense(values: impl Into<Values<'a>>, columns: usize) -> Result<Self> {
        let values = values.into();
        let length = values.len();
        if columns == 0 && length > 0 || columns > 0 && !length.is_multiple_of(columns) {
            return Err(Error::input(format!("{length} values do not make rows of {columns} columns")));
        }
        if let Some((at, value)) = values.first_non_finite() {
            return Err(non_finite(value, at / columns, at % columns));
        }
        Ok(Self::from_matrix(Matrix::from_rows(columns, values.narrowed())))
    }

    /// Compressed sparse rows: the entries of row `r` are `starts[r]..starts[r + 1]` of `indices` (columns
    /// from 0, strictly increasing within a row) and `values` (finite). Slices are borrowed; values only
    /// where a row has different ones, as one value a row is stored once.
    ///
    /// ```
    /// use novikoff::Dataset;
    ///
    /// let data = Dataset::from_csr(&[0, 2, 3], &[0, 4, 1], &[1.0, 2.0, 3.0], 5)?;
    /// assert_eq!((data.len(), data.rows.nonzeros()), (2, 3));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn from_csr(
        starts: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Values<'a>>,
        columns: usize,
    ) -> Result<Self> {
        let (starts, indices, values) = (starts.into(), indices.into(), values.into());
        if let Some((at, value)) = values.first_non_finite() {
            let row = starts.partition_point(|start| *start <= at).saturating_sub(1);
            return Err(non_finite(value, row, indices.get(at).map_or(0, |j| *j as usize)));
        }
        let rows = Matrix::from_compressed(columns, starts, indices, values);
        Ok(Self::from_matrix(rows.map_err(Error::input)?))
    }

    /// So many rows that have no values.
    #[cfg(any(feature = "faer", feature = "ndarray"))]
    pub(super) fn without_columns(rows: usize) -> Result<Dataset<'static>> {
        Dataset::from_csr(vec![0; rows + 1], Vec::new(), Vec::<f64>::new(), 0)
    }

    /// Rows without labels.
    pub fn from_matrix(rows: Matrix<'a>) -> Self {
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
    pub fn with_feature_names<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether a matrix has its values where this slice is.
    fn borrows(data: &Dataset, values: &[f64]) -> bool {
        matches!(data.rows.storage(), (_, Values::F64(Cow::Borrowed(own))) if own.as_ptr() == values.as_ptr())
    }

    proptest! {
        #[test]
        fn dense_rows_are_borrowed_or_stored_in_single_precision(
            halves in prop::collection::vec(-9i8..9, 12),
            divisor in prop::sample::select(vec![2.0, 3.0]),
        ) {
            let values: Vec<f64> = halves.iter().map(|&x| f64::from(x) / divisor).collect();
            let data = Dataset::from_dense(&values, 3).unwrap();
            prop_assert!(borrows(&data, &values) != data.rows.is_single());
            for (i, row) in values.chunks(3).enumerate() {
                for (j, &x) in row.iter().enumerate() {
                    let mut unit = [0.0; 3];
                    unit[j] = 1.0;
                    prop_assert_eq!(data.rows.row(i).dot(&unit), x);
                }
            }
            prop_assert_eq!(&data.clone().into_owned().rows, &data.rows);
        }
    }

    #[test]
    fn sparse_rows_are_borrowed_unless_a_row_has_one_value() {
        let (starts, indices) = ([0, 2, 3], [0, 4, 1]);
        let different = [1.0, 2.0, 3.0];
        let data = Dataset::from_csr(&starts, &indices, &different, 5).unwrap();
        assert!(borrows(&data, &different) && !data.rows.is_uniform());
        let one_a_row = [2.0, 2.0, 3.0];
        let data = Dataset::from_csr(&starts, &indices, &one_a_row, 5).unwrap();
        assert!(!borrows(&data, &one_a_row) && data.rows.is_uniform());
    }

    #[test]
    fn infinite_values_are_refused_with_their_place() {
        let error = Dataset::from_dense(&[1.0_f32, 2.0, f32::INFINITY, 4.0], 2).unwrap_err();
        assert!(error.to_string().contains("row 2, column 1 is inf"), "{error}");
        let error = Dataset::from_csr(&[0, 1, 2], &[3, 4], &[1.0, f64::NAN], 5).unwrap_err();
        assert!(error.to_string().contains("row 2, column 5 is NaN"), "{error}");
    }
}
