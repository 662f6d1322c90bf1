//! Models: what they score rows by, what they predict, their files.

use crate::convert::PyRows;
use crate::errors::exception;
use novikoff::Model;
use novikoff::features::Schema;
use novikoff::features::table::{Column, Role, TableSchema};
use novikoff::model::{Scorer, Target, Task, Weights, from_bytes, to_bytes};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use std::path::PathBuf;
use std::sync::Arc;

/// A trained model.
#[pyclass(frozen, name = "Model", module = "novikoff")]
pub(crate) struct PyModel(pub(crate) Arc<Model>);

impl PyModel {
    pub(crate) fn new(model: Model) -> Self {
        Self(Arc::new(model))
    }

    /// The weights of scores that are linear in the rows' own columns.
    fn weights(&self) -> PyResult<&Weights> {
        let weights = match &self.0.scorer {
            Scorer::Linear(weights) | Scorer::Presence(weights) => Some(weights),
            Scorer::Clipped(clipped) => Some(&clipped.weights),
            Scorer::Kernel(_) | Scorer::Voted(_) | Scorer::Network(_) | Scorer::Mapped(_) => None,
        };
        let what = || format!("a model of {} has no weights of columns", self.0.about.learner);
        weights.ok_or_else(|| PyValueError::new_err(what()))
    }

    fn table(&self) -> Option<&Arc<TableSchema>> {
        match &self.0.schema {
            Schema::Table(table) => Some(table),
            Schema::Text(text) => text.table(),
            _ => None,
        }
    }

    /// The scores of all rows, one row after the other.
    fn score(&self, py: Python<'_>, rows: &PyRows<'_>) -> PyResult<Vec<f64>> {
        let rows = rows.slices()?;
        let model = &self.0;
        let scores = py.detach(|| match model.scores(rows.scored(model)?.as_ref()) {
            Ok(scores) if scores.iter().all(|score| score.is_finite()) => Ok(scores),
            // Which value it was, if it was one.
            scores => rows.dataset().map(drop).and(scores),
        });
        scores.map_err(|error| exception(&error))
    }
}

/// Numbers side by side, a row of so many after the other.
fn table(py: Python<'_>, numbers: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = numbers.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, numbers).reshape([rows, columns])
}

#[pymethods]
impl PyModel {
    /// Reads a model from a file that the program or `save` has written.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Model::load(path).map(Self::new).map_err(|error| exception(&error))
    }

    /// The model in the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        from_bytes(bytes, "the model").map(Self::new).map_err(|error| exception(&error))
    }

    /// Writes the model to a file, as a whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.save(path).map_err(|error| exception(&error))
    }

    /// The bytes of the model's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = to_bytes(&self.0).map_err(|error| exception(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The model in the format of another program: "onnx" or "liblinear".
    fn exported<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let target = match format {
            "onnx" => Target::Onnx,
            "liblinear" => Target::Liblinear,
            _ => return Err(PyValueError::new_err(format!("there is no export to {format:?}"))),
        };
        let bytes = self.0.exported(target).map_err(|error| exception(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, PyTuple::new(py, [self.to_bytes(py)?])?))
    }

    #[classmethod]
    fn __class_getitem__<'py>(class: &Bound<'py, PyType>, _item: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        class.clone()
    }

    fn __repr__(&self) -> String {
        let about = &self.0.about;
        format!("<novikoff.Model: {}, {} features, {} rows>", about.learner, about.features, about.rows)
    }

    /// The learner's name on the command line.
    #[getter]
    fn learner(&self) -> String {
        self.0.about.learner.clone()
    }

    /// Features that the model knows.
    #[getter]
    fn features(&self) -> usize {
        self.0.features()
    }

    /// The names of the classes in the order of the scores; empty for regression.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.0.labels.names().to_vec()
    }

    /// The names of the features.
    fn feature_names(&self) -> Vec<String> {
        (0..self.0.features() as u32).map(|j| self.0.feature_name(j)).collect()
    }

    /// What the input is that it was trained on: "table", "documents", or "rows".
    #[getter]
    fn reads(&self) -> &'static str {
        match &self.0.schema {
            Schema::Table(_) => "table",
            Schema::Text(text) if text.table().is_some() => "table",
            Schema::Text(_) => "documents",
            _ => "rows",
        }
    }

    /// Whether the columns of its table have names.
    #[getter]
    fn has_header(&self) -> bool {
        self.table().is_some_and(|table| table.header)
    }

    /// What each column of its table became: pairs of a name and a role.
    fn columns(&self) -> Vec<(String, &'static str)> {
        let role = |column: &Column| match column.role {
            Role::Label => "label",
            Role::Dropped => "left out",
            Role::RowWeight => "row weights",
            Role::Text => "text",
            Role::Numeric { .. } => "numbers",
            Role::Categorical { .. } => "categories",
        };
        let columns = self.table().into_iter().flat_map(|table| &table.columns);
        columns.map(|column| (column.name.clone(), role(column))).collect()
    }

    /// Whether it predicts numbers.
    #[getter]
    fn is_regression(&self) -> bool {
        self.0.task() == Task::Regression
    }

    /// Whether its scores become probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.0.probabilities.is_some()
    }

    /// Scores of a row: one for two classes and for numbers, else one a class.
    #[getter]
    fn outputs(&self) -> usize {
        self.0.scorer.outputs()
    }

    /// What it is and how it came about, as a dictionary.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text =
            serde_json::to_string(&self.0.about).map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// The weights, a row for each output.
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let weights = self.weights()?;
        let (features, outputs) = (self.0.features(), weights.outputs());
        let weight = |j: usize, output: usize| {
            if j < weights.features() { weights.weight(j, output) } else { 0.0 }
        };
        let all = (0..outputs).flat_map(|output| (0..features).map(move |j| weight(j, output)));
        table(py, all.collect(), features)
    }

    /// The bias of each output.
    fn intercept<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = self.weights()?;
        let mut bias = weights.bias.clone();
        bias.resize(weights.outputs(), 0.0);
        Ok(PyArray1::from_vec(py, bias))
    }

    /// The scores of rows: a column for each output.
    fn scores<'py>(&self, py: Python<'py>, rows: PyRows<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scores = self.score(py, &rows)?;
        table(py, scores, self.0.scorer.outputs())
    }

    /// The label of each row, or the number that is predicted for it.
    fn predict<'py>(&self, py: Python<'py>, rows: PyRows<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scores = self.score(py, &rows)?;
        if self.is_regression() {
            return Ok(PyArray1::from_vec(py, scores).into_any());
        }
        let name = |scores: &[f64]| &self.0.labels.names()[novikoff::multiclass::decide(scores)];
        let names: Vec<&String> = scores.chunks_exact(self.0.scorer.outputs()).map(name).collect();
        names.into_pyobject(py)
    }

    /// The number of each row's class, in the order of `labels`.
    fn decide<'py>(&self, py: Python<'py>, rows: PyRows<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let scores = self.score(py, &rows)?;
        let decide = |scores: &[f64]| novikoff::multiclass::decide(scores) as i64;
        let classes = scores.chunks_exact(self.0.scorer.outputs()).map(decide).collect();
        Ok(PyArray1::from_vec(py, classes))
    }

    /// The probability of each class for each row.
    fn probabilities<'py>(&self, py: Python<'py>, rows: PyRows<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let borrowed = rows.slices()?;
        let model = &self.0;
        let probabilities = py.detach(|| model.probabilities(borrowed.dataset()?.as_ref()));
        let probabilities = probabilities.map_err(|error| exception(&error))?;
        table(py, probabilities.concat(), self.0.labels.len())
    }

    /// What each feature adds to the score of a row: the label and its score, names and parts.
    fn explain<'py>(&self, py: Python<'py>, rows: PyRows<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let rows = rows.slices()?;
        let explained = rows.dataset().and_then(|data| self.0.explain(&data, row));
        let explained = explained.map_err(|error| exception(&error))?;
        let parts = PyDict::new(py);
        for part in &explained.parts {
            parts.set_item(self.0.feature_name(part.feature), part.added)?;
        }
        let all = PyDict::new(py);
        all.set_item("score", explained.difference)?;
        all.set_item("bias", explained.bias)?;
        all.set_item("against", explained.against.map(|class| &self.0.labels.names()[class]))?;
        all.set_item("parts", parts)?;
        Ok(all)
    }
}
