//! Training: settings and arrays in, a model and what is known of it out.

use crate::certificate::PyCertificate;
use crate::convert::{LabelSlices, PyLabels, PyRows, Rows};
use crate::errors::{exception, settings_of_python};
use crate::learner::learner;
use crate::model::PyModel;
use crate::watch::Watcher;
use novikoff::Dataset;
use novikoff::control::Termination;
use novikoff::model::Weights;
use novikoff::train::{Fit, RiskFit, RunDetails, Theorem, train, train_from};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::sync::Arc;

/// Rows with their labels and weights, as Python has them.
#[derive(FromPyObject)]
pub(crate) struct PyData<'py> {
    #[pyo3(item)]
    rows: PyRows<'py>,
    #[pyo3(item)]
    labels: PyLabels<'py>,
    #[pyo3(item)]
    weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(item)]
    names: Option<Vec<String>>,
}

/// The same as slices.
#[derive(Clone, Copy)]
pub(crate) struct Data<'a> {
    rows: Rows<'a>,
    labels: LabelSlices<'a>,
    weights: Option<&'a [f64]>,
    names: Option<&'a [String]>,
}

impl PyData<'_> {
    pub(crate) fn slices(&self) -> PyResult<Data<'_>> {
        let weights = self.weights.as_ref().map(|weights| weights.as_slice()).transpose();
        let order = |_| pyo3::exceptions::PyValueError::new_err("row weights are to be contiguous");
        Ok(Data {
            rows: self.rows.slices()?,
            labels: self.labels.slices()?,
            weights: weights.map_err(order)?,
            names: self.names.as_deref(),
        })
    }
}

impl<'a> Data<'a> {
    pub(crate) fn dataset(self) -> novikoff::Result<Cow<'a, Dataset<'a>>> {
        let rows = self.rows.dataset()?;
        if self.labels.is_none() && self.names.is_none() && self.weights.is_none() {
            return Ok(rows);
        }
        let mut data = self.labels.label(rows.into_owned())?;
        if let Some(names) = self.names {
            data = data.with_feature_names(names)?;
        }
        if let Some(weights) = self.weights {
            data = data.with_row_weights(weights)?;
        }
        Ok(Cow::Owned(data))
    }
}

/// What a training came to.
#[pyclass(frozen, name = "Fit", module = "novikoff._novikoff")]
pub(crate) struct PyFit {
    model: Py<PyModel>,
    fit: Fit,
}

/// Trains a learner.
#[pyfunction]
#[pyo3(signature = (name, settings, data, *, validation=None, start=None, callback=None, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn train_learner<'py>(
    py: Python<'py>,
    name: &str,
    settings: &Bound<'py, PyDict>,
    data: PyData<'py>,
    validation: Option<PyData<'py>>,
    start: Option<&Bound<'py, PyModel>>,
    callback: Option<Py<PyAny>>,
    threads: Option<usize>,
) -> PyResult<PyFit> {
    let learner = learner(name, settings)?;
    let rows = data.slices()?;
    let held_out = validation.as_ref().map(PyData::slices).transpose()?;
    let start = start.map(|start| start.get().0.clone());
    let watcher = Watcher { callback, threads };
    let fit = watcher.run(py, |observer| {
        let data = rows.dataset()?;
        let held_out = held_out.map(Data::dataset).transpose()?;
        let held_out = held_out.as_deref();
        match &start {
            Some(model) => train_from(&data, held_out, &learner, model, observer),
            None => train(&data, held_out, &learner, observer),
        }
    })?;
    PyFit::new(py, fit.map_err(|error| exception(&error))?)
}

impl PyFit {
    pub(crate) fn new(py: Python<'_>, fit: Fit) -> PyResult<Self> {
        let model = Py::new(py, PyModel(Arc::new(fit.model.clone())))?;
        Ok(Self { model, fit })
    }

    fn risk(&self) -> Option<&RiskFit> {
        self.fit.risk()
    }

    fn run(&self) -> Option<&RunDetails> {
        self.fit.run()
    }
}

#[pymethods]
impl PyFit {
    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<PyModel> {
        self.model.clone_ref(py)
    }

    /// Whether the tolerance was reached, by a proved bound, or the rows are separated; None for learners that
    /// have nothing to reach.
    #[getter]
    fn converged(&self) -> Option<bool> {
        match self.fit.termination {
            Termination::Converged | Termination::Separated => Some(true),
            Termination::NotConverged
            | Termination::OutOfSteps
            | Termination::Stalled
            | Termination::Diverging => Some(false),
            Termination::Interrupted
            | Termination::OutOfEpochs
            | Termination::ValidationError
            | Termination::EndOfStream
            | Termination::Counted => None,
        }
    }

    /// Why training ended.
    #[getter]
    fn stopped(&self) -> String {
        format!("{:?}", self.fit.termination)
    }

    /// What kept it from converging, and what would help.
    #[getter]
    fn obstacle(&self) -> Option<String> {
        self.risk()?.obstacle.as_deref().map(settings_of_python)
    }

    /// Steps of the solver, or epochs.
    #[getter]
    fn iterations(&self) -> usize {
        let steps = self.risk().map(|risk| risk.steps);
        steps.or(self.fit.history().map(|history| history.epochs.len())).unwrap_or(1)
    }

    /// The solver.
    #[getter]
    fn solver(&self) -> Option<&'static str> {
        Some(self.risk()?.solver)
    }

    /// λ of the penalty.
    #[getter]
    fn penalty(&self) -> Option<f64> {
        Some(self.risk()?.lambda)
    }

    /// The objective of the model.
    #[getter]
    fn objective(&self) -> Option<f64> {
        Some(self.risk()?.objective)
    }

    /// What no weights fall below.
    #[getter]
    fn dual_bound(&self) -> Option<f64> {
        self.risk()?.dual
    }

    /// The relative duality gap.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.risk()?.relative_gap
    }

    /// Between which two the margin lies: of a perceptron, that of its own weights, and what no weights exceed.
    #[getter]
    fn margin(&self) -> Option<(f64, f64)> {
        if let Some(margin) = self.risk().and_then(|risk| risk.margin) {
            return Some(margin);
        }
        let run = self.run()?;
        let geometry = run.separation.or(run.geometry)?;
        Some((geometry.margin, run.margin_upper.unwrap_or(f64::INFINITY)))
    }

    /// The length of the longest row.
    #[getter]
    fn radius(&self) -> Option<f64> {
        Some(self.run()?.geometry?.radius)
    }

    /// Mistakes while learning.
    #[getter]
    fn mistakes(&self) -> Option<u64> {
        let run = self.run()?;
        Some(run.history.mistakes)
    }

    /// Updates of the weights.
    #[getter]
    fn updates(&self) -> Option<u64> {
        Some(self.run()?.history.updates)
    }

    /// How many mistakes theory allows, and the theorem's formula.
    #[getter]
    fn mistake_bound(&self) -> Option<(f64, &'static str)> {
        let promise = self.run()?.promise.as_ref()?;
        Some((promise.bound, Theorem::formula(promise.theorem)))
    }

    /// Every epoch, or every recorded step, as dictionaries.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut all = Vec::new();
        for epoch in self.fit.history().iter().flat_map(|history| &history.epochs) {
            all.push(crate::watch::describe(py, novikoff::control::Progress::Epoch(*epoch))?);
        }
        for (output, step) in self.risk().iter().flat_map(|risk| &risk.trace) {
            let entry = PyDict::new(py);
            entry.set_item("output", output)?;
            entry.set_item("step", step.step)?;
            entry.set_item("objective", step.objective)?;
            entry.set_item("gap", step.gap)?;
            entry.set_item("seconds", step.seconds)?;
            all.push(entry);
        }
        Ok(all)
    }

    /// The error on the rows held out, or of numbers their R².
    #[getter]
    fn validation_error(&self) -> Option<f64> {
        self.fit.validation_error()
    }

    /// The certificate of the fit. The rows must be those that it was made of.
    #[pyo3(signature = (data, *, threads=None))]
    fn certificate<'py>(
        &self,
        py: Python<'py>,
        data: PyData<'py>,
        threads: Option<usize>,
    ) -> PyResult<PyCertificate> {
        let rows = data.slices()?;
        let fit = &self.fit;
        let made =
            Watcher { callback: None, threads }.run(py, |_| fit.certificate(rows.dataset()?.as_ref()))?;
        made.map(PyCertificate::new).map_err(|error| exception(&error))
    }

    /// The certificate of other weights for the same problem: a row of weights for each output, and the biases.
    #[pyo3(signature = (data, coef, intercept, *, threads=None))]
    fn certificate_of<'py>(
        &self,
        py: Python<'py>,
        data: PyData<'py>,
        coef: PyReadonlyArray2<'py, f64>,
        intercept: PyReadonlyArray1<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<PyCertificate> {
        let rows = data.slices()?;
        let [outputs, features] = [coef.shape()[0], coef.shape()[1]];
        let mut weights = Weights::zero(features, outputs);
        for (output, row) in coef.as_array().rows().into_iter().enumerate() {
            row.iter().enumerate().for_each(|(j, w)| weights.values[j * outputs + output] = *w);
        }
        weights.bias = intercept.as_array().to_vec();
        let fit = &self.fit;
        let made = Watcher { callback: None, threads }
            .run(py, |_| fit.certificate_of(rows.dataset()?.as_ref(), &weights))?;
        made.map(PyCertificate::new).map_err(|error| exception(&error))
    }
}
