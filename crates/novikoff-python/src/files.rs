//! Data sets of files as arrays.

use crate::errors::exception;
use crate::model::PyModel;
use crate::watch::Watcher;
use novikoff::Dataset;
use novikoff::data::Row;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Reads a file: a dictionary of rows, labels, weights and names. With a model, the file is read as the model's
/// training rows were.
#[pyfunction]
#[pyo3(signature = (path, *, model=None, labelled=true, format=None, label=None, row_weights=None, numbers=false, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn read_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    model: Option<&Bound<'py, PyModel>>,
    labelled: bool,
    format: Option<String>,
    label: Option<String>,
    row_weights: Option<String>,
    numbers: bool,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = Options { format: format.map(|name| named(&name)).transpose()?, ..Options::default() };
    options.table.label = label;
    options.table.row_weights = row_weights;
    let model = model.map(|model| model.get().0.clone());
    let read = Watcher { callback: None, threads }.run(py, |observer| {
        let purpose = match (&model, labelled) {
            (Some(model), true) => model.for_evaluation(),
            (Some(model), false) => model.for_prediction(),
            (None, _) if numbers => Purpose::TrainingOnTargets,
            (None, _) => Purpose::Training,
        };
        Reader::open(&Input::Path(path), &options, &purpose)?.read(observer)
    })?;
    arrays(py, &read.map_err(|error| exception(&error))?)
}

fn named(name: &str) -> PyResult<Format> {
    const FORMATS: [Format; 9] = [
        Format::Svmlight,
        Format::Csv,
        Format::Tsv,
        Format::Vw,
        Format::Idx,
        Format::Text,
        Format::Jsonl,
        Format::Parquet,
        Format::Arrow,
    ];
    FORMATS
        .into_iter()
        .find(|format| format.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("there is no format {name:?}")))
}

/// A data set as arrays.
pub(crate) fn arrays<'py>(py: Python<'py>, data: &Dataset<'_>) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let (rows, columns) = (data.len(), data.rows.columns());
    all.set_item("shape", (rows, columns))?;
    if data.rows.is_dense() {
        let mut values = Vec::with_capacity(rows * columns);
        (0..rows).for_each(|i| push_dense(data.rows.row(i), &mut values));
        all.set_item("dense", PyArray1::from_vec(py, values).reshape([rows, columns])?)?;
    } else {
        let (starts, indices, values) = py.detach(|| compressed(data))?;
        all.set_item("indptr", PyArray1::from_vec(py, starts))?;
        all.set_item("indices", PyArray1::from_vec(py, indices))?;
        all.set_item("data", PyArray1::from_vec(py, values))?;
    }
    let labels: Vec<i64> = data.labels.iter().map(|&label| i64::from(label)).collect();
    all.set_item("labels", PyArray1::from_vec(py, labels))?;
    all.set_item("names", data.names.names().to_vec())?;
    let weights = (!data.row_weights.is_empty()).then(|| PyArray1::from_slice(py, &data.row_weights));
    all.set_item("weights", weights)?;
    let features: Vec<String> = (0..columns as u32).map(|j| data.schema.name(j)).collect();
    all.set_item("features", features)?;
    all.set_item("remarks", data.report.remarks.clone())?;
    all.set_item("warnings", data.report.warnings.clone())?;
    Ok(all)
}

fn push_dense(row: Row<'_>, values: &mut Vec<f64>) {
    match row {
        Row::Dense32(row) => values.extend(row.iter().map(|&x| f64::from(x))),
        Row::Dense64(row) => values.extend_from_slice(row),
        Row::Sparse32(..) | Row::Sparse64(..) | Row::Uniform(..) => {}
    }
}

type Compressed = (Vec<i64>, Vec<i32>, Vec<f64>);

/// The rows as SciPy stores them.
fn compressed(data: &Dataset<'_>) -> PyResult<Compressed> {
    let stored = data.rows.stored();
    let (mut starts, mut indices) = (Vec::with_capacity(data.len() + 1), Vec::with_capacity(stored));
    let mut values = Vec::with_capacity(stored);
    if i32::try_from(data.rows.columns()).is_err() {
        return Err(PyTypeError::new_err("more columns than 32-bit indices can count"));
    }
    starts.push(0);
    for i in 0..data.len() {
        match data.rows.row(i) {
            Row::Sparse32(columns, row) => {
                indices.extend(columns.iter().map(|&j| j as i32));
                values.extend(row.iter().map(|&x| f64::from(x)));
            }
            Row::Sparse64(columns, row) => {
                indices.extend(columns.iter().map(|&j| j as i32));
                values.extend_from_slice(row);
            }
            Row::Uniform(columns, x) => {
                indices.extend(columns.iter().map(|&j| j as i32));
                values.resize(indices.len(), x);
            }
            Row::Dense32(_) | Row::Dense64(_) => {}
        }
        starts.push(indices.len() as i64);
    }
    Ok((starts, indices, values))
}
