//! Data sets of the matrices of other crates.

#[cfg(feature = "faer")]
mod faer {
    use crate::data::matrix::Values;
    use crate::data::{Dataset, Float};
    use crate::error::Result;
    use faer::MatRef;

    impl Dataset<'static> {
        /// The rows of a matrix of the crate `faer`, copied: it stores columns one after the other. All
        /// values must be finite.
        ///
        /// ```
        /// use novikoff::Dataset;
        ///
        /// let columns = faer::Mat::from_fn(2, 3, |i, j| (10 * i + j) as f64);
        /// let data = Dataset::from_faer(columns.as_ref())?;
        /// assert_eq!((data.len(), data.rows.row(1).dot(&[1.0, 1.0, 1.0])), (2, 33.0));
        /// # Ok::<(), novikoff::Error>(())
        /// ```
        pub fn from_faer<V: Float>(rows: MatRef<'_, V>) -> Result<Self>
        where
            Values<'static>: From<Vec<V>>,
        {
            if rows.ncols() == 0 {
                return Dataset::without_columns(rows.nrows());
            }
            let mut values = Vec::with_capacity(rows.nrows() * rows.ncols());
            for i in 0..rows.nrows() {
                values.extend((0..rows.ncols()).map(|j| rows[(i, j)]));
            }
            Dataset::from_dense(values, rows.ncols())
        }
    }
}

#[cfg(feature = "ndarray")]
mod ndarray {
    use crate::data::matrix::Values;
    use crate::data::{Dataset, Float};
    use crate::error::Result;
    use ndarray::ArrayView2;

    impl<'a> Dataset<'a> {
        /// The rows of a view of the crate `ndarray`: borrowed as [`Dataset::from_dense`] borrows them if the
        /// view is in standard layout, copied otherwise. All values must be finite.
        ///
        /// ```
        /// use novikoff::Dataset;
        ///
        /// let rows = ndarray::array![[0.1, 2.0], [0.3, 4.0]];
        /// let data = Dataset::from_ndarray(rows.view())?;
        /// assert_eq!(data.rows.row(1).dot(&[0.0, 1.0]), 4.0);
        /// let turned = Dataset::from_ndarray(rows.t())?;
        /// assert_eq!(turned.rows.row(1).dot(&[0.0, 1.0]), 4.0);
        /// # Ok::<(), novikoff::Error>(())
        /// ```
        pub fn from_ndarray<V: Float>(rows: ArrayView2<'a, V>) -> Result<Self>
        where
            Values<'a>: From<&'a [V]> + From<Vec<V>>,
        {
            if rows.ncols() == 0 {
                return Dataset::without_columns(rows.nrows());
            }
            match rows.to_slice() {
                Some(values) => Self::from_dense(values, rows.ncols()),
                None => Self::from_dense(rows.iter().copied().collect::<Vec<V>>(), rows.ncols()),
            }
        }
    }
}

#[cfg(all(test, feature = "faer", feature = "ndarray"))]
mod tests {
    use crate::data::Dataset;

    #[test]
    fn rows_without_columns_are_rows() {
        let data = Dataset::from_ndarray(ndarray::Array2::<f64>::zeros((3, 0)).view()).unwrap().into_owned();
        let other = Dataset::from_faer(faer::Mat::<f64>::zeros(3, 0).as_ref()).unwrap();
        assert_eq!((data.len(), data.rows.columns(), other.len()), (3, 0, 3));
    }
}
