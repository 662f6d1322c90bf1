//! NumPy arrays and SciPy's compressed sparse rows as data sets: the one place where arrays become rows, labels
//! and weights. Arrays are borrowed where their layout allows it; nothing is believed of indices.

use crate::reading::PyDataset;
use novikoff::Dataset;
use novikoff::data::Labels;
use novikoff::data::matrix::{Matrix, Values};
use novikoff::model::{Model, Scorer};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::borrow::Cow;

/// Rows of Python's, held for as long as they are borrowed.
pub(crate) enum PyRows<'py> {
    Dense32(PyReadonlyArray2<'py, f32>),
    Dense64(PyReadonlyArray2<'py, f64>),
    Sparse(PySparseRows<'py>),
    /// Rows that the engine has read, with their labels and weights.
    Read(Bound<'py, PyDataset>),
}

/// The arrays of `scipy.sparse.csr_array` or `csr_matrix`.
pub(crate) struct PySparseRows<'py> {
    values: PyFloats<'py>,
    indices: PyWholes<'py>,
    starts: PyWholes<'py>,
    rows: usize,
    columns: usize,
}

/// Floating-point numbers of either precision.
enum PyFloats<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

/// Whole numbers, as SciPy has them for indices.
enum PyWholes<'py> {
    Int32(PyReadonlyArray1<'py, i32>),
    Int64(PyReadonlyArray1<'py, i64>),
}

/// The same rows, as slices, which need no lock.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Dense { values: Floats<'a>, rows: usize, columns: usize },
    Sparse { values: Floats<'a>, indices: Wholes<'a>, starts: Wholes<'a>, rows: usize, columns: usize },
    Read(&'a Dataset<'static>),
}

#[derive(Clone, Copy)]
pub(crate) enum Floats<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

#[derive(Clone, Copy)]
pub(crate) enum Wholes<'a> {
    Int32(&'a [i32]),
    Int64(&'a [i64]),
}

impl<'py> FromPyObject<'_, 'py> for PyRows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray2<f64>>() {
            return Ok(PyRows::Dense64(array.try_readonly()?));
        }
        if let Ok(array) = object.cast::<PyArray2<f32>>() {
            return Ok(PyRows::Dense32(array.try_readonly()?));
        }
        if let Ok(read) = object.cast::<PyDataset>() {
            return Ok(PyRows::Read(read.to_owned()));
        }
        if object.hasattr("indptr")? {
            return Ok(PyRows::Sparse(PySparseRows::of(&object)?));
        }
        let what = "rows are a two-dimensional array of float32 or float64, or a SciPy CSR matrix of such";
        Err(PyTypeError::new_err(what))
    }
}

impl<'py> PySparseRows<'py> {
    fn of(matrix: &Bound<'py, PyAny>) -> PyResult<Self> {
        let format: String = matrix.getattr("format")?.extract()?;
        if format != "csr" {
            let what = format!("sparse rows are to be in the format csr, not {format}: use X.tocsr()");
            return Err(PyTypeError::new_err(what));
        }
        let (rows, columns) = matrix.getattr("shape")?.extract()?;
        let whole = |name: &str| PyWholes::of(&matrix.getattr(name)?, name);
        let values = PyFloats::of(&matrix.getattr("data")?)?;
        Ok(Self { values, indices: whole("indices")?, starts: whole("indptr")?, rows, columns })
    }
}

impl<'py> PyFloats<'py> {
    fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray1<f64>>() {
            return Ok(PyFloats::Double(array.try_readonly()?));
        }
        if let Ok(array) = array.cast::<PyArray1<f32>>() {
            return Ok(PyFloats::Single(array.try_readonly()?));
        }
        Err(PyTypeError::new_err("the values of sparse rows are to be float32 or float64"))
    }

    fn slice(&self) -> PyResult<Floats<'_>> {
        Ok(match self {
            PyFloats::Single(array) => Floats::Single(contiguous(array)?),
            PyFloats::Double(array) => Floats::Double(contiguous(array)?),
        })
    }
}

impl<'py> PyWholes<'py> {
    fn of(array: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray1<i32>>() {
            return Ok(PyWholes::Int32(array.try_readonly()?));
        }
        if let Ok(array) = array.cast::<PyArray1<i64>>() {
            return Ok(PyWholes::Int64(array.try_readonly()?));
        }
        Err(PyTypeError::new_err(format!("`{name}` of sparse rows is to be int32 or int64")))
    }

    fn slice(&self) -> PyResult<Wholes<'_>> {
        Ok(match self {
            PyWholes::Int32(array) => Wholes::Int32(contiguous(array)?),
            PyWholes::Int64(array) => Wholes::Int64(contiguous(array)?),
        })
    }
}

fn contiguous<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("the arrays of sparse rows are to be contiguous"))
}

impl PyRows<'_> {
    /// The rows as slices.
    pub(crate) fn slices(&self) -> PyResult<Rows<'_>> {
        let order = |_| PyValueError::new_err("the rows are to be C-contiguous: use numpy.ascontiguousarray");
        Ok(match self {
            PyRows::Dense32(array) => {
                let [rows, columns] = [array.shape()[0], array.shape()[1]];
                Rows::Dense { values: Floats::Single(array.as_slice().map_err(order)?), rows, columns }
            }
            PyRows::Dense64(array) => {
                let [rows, columns] = [array.shape()[0], array.shape()[1]];
                Rows::Dense { values: Floats::Double(array.as_slice().map_err(order)?), rows, columns }
            }
            PyRows::Sparse(sparse) => Rows::Sparse {
                values: sparse.values.slice()?,
                indices: sparse.indices.slice()?,
                starts: sparse.starts.slice()?,
                rows: sparse.rows,
                columns: sparse.columns,
            },
            PyRows::Read(read) => Rows::Read(&read.get().0),
        })
    }
}

impl<'a> Floats<'a> {
    fn values(self) -> Values<'a> {
        match self {
            Floats::Single(values) => values.into(),
            Floats::Double(values) => values.into(),
        }
    }

    fn len(self) -> usize {
        match self {
            Floats::Single(values) => values.len(),
            Floats::Double(values) => values.len(),
        }
    }
}

impl<'a> Wholes<'a> {
    fn len(self) -> usize {
        match self {
            Wholes::Int32(numbers) => numbers.len(),
            Wholes::Int64(numbers) => numbers.len(),
        }
    }

    /// As positions; a negative number is the largest of all, and refused by whoever compares.
    fn positions(self) -> Cow<'a, [usize]> {
        match self {
            Wholes::Int32(numbers) => {
                numbers.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect()
            }
            Wholes::Int64(numbers) => match bytemuck::try_cast_slice(numbers) {
                Ok(positions) => Cow::Borrowed(positions),
                Err(_) => numbers.iter().map(|&i| usize::try_from(i).unwrap_or(usize::MAX)).collect(),
            },
        }
    }

    /// As columns; the error is the first that cannot be one.
    fn columns(self) -> Result<Cow<'a, [u32]>, i64> {
        match self {
            // A negative number becomes one beyond all columns.
            Wholes::Int32(numbers) => Ok(Cow::Borrowed(bytemuck::cast_slice(numbers))),
            Wholes::Int64(numbers) => {
                let column = |&i: &i64| u32::try_from(i).map_err(|_| i);
                numbers.iter().map(column).collect::<Result<Vec<u32>, i64>>().map(Cow::Owned)
            }
        }
    }
}

impl<'a> Rows<'a> {
    /// The rows to be scored by a model. Where a score shows whether a value was finite, values are not looked at.
    pub(crate) fn scored(self, model: &Model) -> novikoff::Result<Cow<'a, Dataset<'a>>> {
        if let (Rows::Dense { values, columns, .. }, Scorer::Linear(_)) = (self, &model.scorer)
            && let Some(rows) = Matrix::dense(columns, values.values())
        {
            return Ok(Cow::Owned(Dataset::from_matrix(rows)));
        }
        self.dataset()
    }

    /// The rows as a data set; without labels, unless the engine has read them.
    pub(crate) fn dataset(self) -> novikoff::Result<Cow<'a, Dataset<'a>>> {
        match self {
            Rows::Read(data) => return Ok(Cow::Borrowed(data)),
            Rows::Dense { rows, columns: 0, .. } => {
                Dataset::from_csr(vec![0; rows + 1], Vec::new(), Vec::<f64>::new(), 0)
            }
            Rows::Dense { values, columns, .. } => Dataset::from_dense(values.values(), columns),
            Rows::Sparse { values, indices, starts, rows, columns } => {
                sparse(values, indices, starts, rows, columns)
            }
        }
        .map(Cow::Owned)
    }
}

/// Where rows start, and the columns of their entries, after a look at all of them.
type Places<'a> = (Cow<'a, [usize]>, Cow<'a, [u32]>);

fn check_indices<'a>(
    values: usize,
    indices: Wholes<'a>,
    starts: Wholes<'a>,
    rows: usize,
    columns: usize,
) -> novikoff::Result<Places<'a>> {
    let wrong = |what: String| Err(novikoff::Error::input(format!("the sparse rows are damaged: {what}")));
    if starts.len().checked_sub(1) != Some(rows) {
        return wrong(format!("`indptr` has {} entries for {rows} rows", starts.len()));
    }
    let starts = starts.positions();
    let end = starts.last().copied().unwrap_or(0);
    if starts.first() != Some(&0) || !starts.is_sorted() || end > indices.len() || end > values {
        let indices = indices.len();
        return wrong(format!("`indptr` does not rise from 0 to {indices} indices and {values} values"));
    }
    // What lies beyond the last row is not part of the matrix.
    let indices = match indices.columns() {
        Ok(indices) => prefix(indices, end),
        Err(column) => return wrong(format!("column {column} of {columns}")),
    };
    if let Some(column) = indices.iter().find(|&&column| column as usize >= columns) {
        return wrong(format!("column {} of {columns}", *column as i32));
    }
    Ok((starts, indices))
}

fn sparse<'a>(
    values: Floats<'a>,
    indices: Wholes<'a>,
    starts: Wholes<'a>,
    rows: usize,
    columns: usize,
) -> novikoff::Result<Dataset<'a>> {
    let (starts, indices) = check_indices(values.len(), indices, starts, rows, columns)?;
    let values = values.prefix(indices.len());
    let is_canonical = |span: &[usize]| indices[span[0]..span[1]].is_sorted_by(|a, b| a < b);
    if starts.windows(2).all(is_canonical) {
        return Dataset::from_csr(starts, indices, values.values(), columns);
    }
    let (starts, indices, values) = canonical(&starts, &indices, &values.doubles());
    Dataset::from_csr(starts, indices, values, columns)
}

fn prefix(indices: Cow<'_, [u32]>, end: usize) -> Cow<'_, [u32]> {
    match indices {
        Cow::Borrowed(indices) => Cow::Borrowed(&indices[..end]),
        Cow::Owned(mut indices) => {
            indices.truncate(end);
            Cow::Owned(indices)
        }
    }
}

impl<'a> Floats<'a> {
    fn prefix(self, end: usize) -> Self {
        match self {
            Floats::Single(values) => Floats::Single(&values[..end]),
            Floats::Double(values) => Floats::Double(&values[..end]),
        }
    }

    fn doubles(self) -> Cow<'a, [f64]> {
        match self {
            Floats::Single(values) => values.iter().map(|&x| f64::from(x)).collect(),
            Floats::Double(values) => Cow::Borrowed(values),
        }
    }
}

/// The same matrix with the columns of each row in order, and entries of one column added up.
fn canonical(starts: &[usize], indices: &[u32], values: &[f64]) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let (mut own_starts, mut own_indices, mut own_values) = (vec![0], Vec::new(), Vec::new());
    let mut row: Vec<(u32, f64)> = Vec::new();
    for span in starts.windows(2) {
        row.clear();
        row.extend(indices[span[0]..span[1]].iter().copied().zip(values[span[0]..span[1]].iter().copied()));
        row.sort_by_key(|&(column, _)| column);
        for &(column, x) in &row {
            match own_indices[own_starts[own_starts.len() - 1]..].last() == Some(&column) {
                true => *own_values.last_mut().unwrap_or(&mut 0.0) += x,
                false => {
                    own_indices.push(column);
                    own_values.push(x);
                }
            }
        }
        own_starts.push(own_indices.len());
    }
    (own_starts, own_indices, own_values)
}

/// What rows are labelled with.
pub(crate) enum PyLabels<'py> {
    None,
    /// The number of each row's class among these names.
    Classes(PyReadonlyArray1<'py, i64>, Vec<String>),
    Targets(PyReadonlyArray1<'py, f64>),
}

/// The same without a lock.
#[derive(Clone, Copy)]
pub(crate) enum LabelSlices<'a> {
    None,
    Classes(&'a [i64], &'a [String]),
    Targets(&'a [f64]),
}

impl<'py> FromPyObject<'_, 'py> for PyLabels<'py> {
    type Error = PyErr;

    /// `None`, an array of numbers, or a pair of class numbers and the classes' names.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(PyLabels::None);
        }
        if let Ok(targets) = object.cast::<PyArray1<f64>>() {
            return Ok(PyLabels::Targets(targets.try_readonly()?));
        }
        let (classes, names): (Bound<'py, PyArray1<i64>>, Vec<String>) = object.extract()?;
        Ok(PyLabels::Classes(classes.try_readonly()?, names))
    }
}

impl PyLabels<'_> {
    pub(crate) fn slices(&self) -> PyResult<LabelSlices<'_>> {
        Ok(match self {
            PyLabels::None => LabelSlices::None,
            PyLabels::Classes(classes, names) => LabelSlices::Classes(contiguous(classes)?, names),
            PyLabels::Targets(targets) => LabelSlices::Targets(contiguous(targets)?),
        })
    }
}

impl LabelSlices<'_> {
    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, LabelSlices::None)
    }

    /// The data set with these labels. Labels are numbered in the order of their first rows, as those of a
    /// file are: the same rows give the same model, wherever they come from.
    pub(crate) fn label<'a>(self, mut data: Dataset<'a>) -> novikoff::Result<Dataset<'a>> {
        let (classes, names) = match self {
            LabelSlices::None => return Ok(data),
            LabelSlices::Targets(targets) => return data.with_targets(targets),
            LabelSlices::Classes(classes, names) => (classes, names),
        };
        if classes.len() != data.len() {
            let what = format!("{} labels for {} rows", classes.len(), data.len());
            return Err(novikoff::Error::input(what));
        }
        let mut numbers: Vec<Option<u32>> = vec![None; names.len()];
        data.names = Labels::default();
        data.labels = Vec::with_capacity(classes.len());
        for &class in classes {
            let Some(number) = usize::try_from(class).ok().and_then(|class| numbers.get_mut(class)) else {
                let what = format!("class {class} of {}", names.len());
                return Err(novikoff::Error::input(what));
            };
            data.labels.push(*number.get_or_insert_with(|| data.names.intern(&names[class as usize])));
        }
        let used = numbers.iter().flatten().count();
        if used != data.names.len() {
            let what = "two classes are spellings of one label, such as 1 and 1.0: give them other names";
            return Err(novikoff::Error::input(what));
        }
        Ok(data)
    }
}

/// Raises a ValueError for sparse rows whose indices are not what they should be.
#[pyfunction]
pub(crate) fn check_rows(rows: PyRows<'_>) -> PyResult<()> {
    match rows.slices()? {
        Rows::Dense { .. } | Rows::Read(_) => Ok(()),
        Rows::Sparse { values, indices, starts, rows, columns } => {
            let checked = check_indices(values.len(), indices, starts, rows, columns);
            checked.map(drop).map_err(|error| crate::errors::exception(&error))
        }
    }
}
