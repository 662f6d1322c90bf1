//! Learning from some rows at a time.

use crate::convert::PyRows;
use crate::errors::exception;
use crate::learner::learner;
use crate::model::PyModel;
use novikoff::Online;
use novikoff::train::Learner;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A perceptron or passive-aggressive learner that is given rows as they come.
#[pyclass(name = "Online", module = "novikoff._novikoff")]
pub(crate) struct PyOnline(Online);

#[pymethods]
impl PyOnline {
    #[new]
    fn new(name: &str, settings: &Bound<'_, PyDict>) -> PyResult<Self> {
        let online = match learner(name, settings)? {
            Learner::Perceptron(own) => own.online(),
            Learner::PassiveAggressive(own) => own.online(),
            _ => {
                return Err(PyValueError::new_err(format!("{name} does not learn from some rows at a time")));
            }
        };
        online.map(Self).map_err(|error| exception(&error))
    }

    /// Learns on from a model.
    #[staticmethod]
    fn from_model(model: &PyModel) -> PyResult<Self> {
        Online::from_model(&model.0).map(Self).map_err(|error| exception(&error))
    }

    /// Predicts each row, then learns from its class, whose name is `names[classes[i]]`.
    #[pyo3(signature = (rows, classes, names, weights=None))]
    fn learn<'py>(
        &mut self,
        py: Python<'py>,
        rows: PyRows<'py>,
        classes: PyReadonlyArray1<'py, i64>,
        names: Vec<String>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<()> {
        let order = |_| PyValueError::new_err("labels and weights are to be contiguous");
        let classes = classes.as_slice().map_err(order)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(order)?;
        let rows = rows.slices()?;
        let online = &mut self.0;
        let learned = py.detach(|| {
            let data = rows.dataset()?;
            if classes.len() != data.len() || weights.is_some_and(|weights| weights.len() != data.len()) {
                return Err(novikoff::Error::input("rows, labels and weights are not as many"));
            }
            for (i, &class) in classes.iter().enumerate() {
                let name = usize::try_from(class).ok().and_then(|class| names.get(class));
                let Some(name) = name else {
                    return Err(novikoff::Error::input(format!("class {class} of {}", names.len())));
                };
                online.learn_weighted(data.rows.row(i), name, weights.map_or(1.0, |weights| weights[i]))?;
            }
            Ok(())
        });
        learned.map_err(|error| exception(&error))
    }

    /// Predicts one row, then learns from its class.
    fn learn_one<'py>(&mut self, rows: PyRows<'py>, name: &str) -> PyResult<()> {
        let data = rows.slices()?.dataset().map_err(|error| exception(&error))?;
        self.0.learn(data.rows.row(0), name).map(drop).map_err(|error| exception(&error))
    }

    /// Makes classes known before a row has them.
    fn declare(&mut self, names: Vec<String>) {
        names.iter().for_each(|name| self.0.declare(name));
    }

    /// Rows learned from.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    /// Share of rows predicted wrongly before they were learned from.
    #[getter]
    fn progressive_error(&self) -> f64 {
        self.0.progressive_error()
    }

    /// The names of the classes so far.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.0.labels().to_vec()
    }

    /// The model of the rows so far.
    fn model(&self) -> PyResult<PyModel> {
        self.0.model().map(PyModel::new).map_err(|error| exception(&error))
    }
}
