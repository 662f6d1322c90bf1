//! Choosing by cross-validation, and the comparison of the perceptron's variants.

use crate::errors::exception;
use crate::fit::{PyData, PyFit};
use crate::learner::learner;
use crate::watch::Watcher;
use novikoff::compare::{Comparison, ComparisonState, compare};
use novikoff::evaluate::Metric;
use novikoff::kernel::Kernel;
use novikoff::train::{LearnerName, Perceptron, Search, Tried, Tuned, tune};
use novikoff::{Dataset, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Tries a path of penalties by cross-validation: a dictionary with the path, the best, and the fit with it.
#[pyfunction]
#[pyo3(signature = (name, settings, data, *, folds, values, by, callback, threads))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn tune_learner<'py>(
    py: Python<'py>,
    name: &str,
    settings: &Bound<'py, PyDict>,
    data: PyData<'py>,
    folds: usize,
    values: Option<Vec<f64>>,
    by: Option<String>,
    callback: Option<Py<PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let learner = learner(name, settings)?;
    let by = by.map(|by| metric(&by)).transpose()?;
    let rows = data.slices()?;
    let search = Search { folds, values, by };
    let tuned = Watcher { callback, threads }
        .run(py, |observer| tune(rows.dataset()?.as_ref(), &learner, &search, observer))?;
    let Tuned { parameter, by, path, best, edge, fit, .. } = tuned.map_err(|error| exception(&error))?;
    let all = PyDict::new(py);
    all.set_item("parameter", parameter.symbol())?;
    all.set_item("by", by.name())?;
    all.set_item("path", path.iter().map(|tried| entry(py, tried)).collect::<PyResult<Vec<_>>>()?)?;
    all.set_item("best", best)?;
    all.set_item("is_at_edge", edge.is_some())?;
    all.set_item("fit", fit.map(|fit| PyFit::new(py, fit)).transpose()?)?;
    Ok(all)
}

fn metric(name: &str) -> PyResult<Metric> {
    Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(|| {
        let names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        PyValueError::new_err(format!("by is one of {}, not {name:?}", names.join(", ")))
    })
}

fn entry<'py>(py: Python<'py>, tried: &Tried) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("value", tried.value)?;
    all.set_item("mean", tried.mean)?;
    all.set_item("standard_error", tried.spread)?;
    all.set_item("folds", &tried.folds)?;
    Ok(all)
}

/// Compares the perceptron's variants, and other learners: a dictionary for each line.
#[pyfunction]
#[pyo3(signature = (data, test, *, kernels, epochs, learners, seed, callback, threads))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn compare_learners<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    test: PyData<'py>,
    kernels: Vec<String>,
    epochs: Vec<f64>,
    learners: Vec<String>,
    seed: u64,
    callback: Option<Py<PyAny>>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let most = epochs.iter().copied().fold(0.0, f64::max);
    let kernel = |name: &String| name.parse::<Kernel>().map_err(|error| exception(&error));
    let kernels: Vec<Kernel> = kernels.iter().map(kernel).collect::<PyResult<_>>()?;
    let others = learners.iter().map(|name| named(name)).collect::<PyResult<_>>()?;
    let mut perceptron = Perceptron::new();
    perceptron.shared.seed = seed;
    let kernels = kernels.into_iter().map(|kernel| (kernel, most)).collect();
    let comparison = Comparison { kernels, epochs, others, perceptron };
    let (rows, held_out) = (data.slices()?, test.slices()?);
    let compared = Watcher { callback, threads }.run(py, |observer| {
        let data = rows.dataset()?;
        let test = relabelled(held_out.dataset()?.into_owned(), &data)?;
        let mut state = ComparisonState::default();
        compare(&data, &test, &comparison, &mut state, observer, &mut |_| Ok(()))
    })?;
    let line = |entry: novikoff::compare::Entry| {
        let all = PyDict::new(py);
        all.set_item("learner", entry.learner)?;
        all.set_item("kernel", entry.kernel)?;
        all.set_item("normalised", entry.normalised)?;
        all.set_item("epochs", entry.epochs)?;
        all.set_item("mistakes", entry.mistakes)?;
        all.set_item("support", entry.support)?;
        all.set_item("train_error", entry.train_error)?;
        all.set_item("test_error", entry.test_error)?;
        all.set_item("seconds", entry.seconds)?;
        Ok(all)
    };
    compared.map_err(|error| exception(&error))?.entries.into_iter().map(line).collect()
}

/// The same rows with the labels numbered as those of other rows are.
fn relabelled<'a>(mut rows: Dataset<'a>, of: &Dataset<'_>) -> novikoff::Result<Dataset<'a>> {
    let number = |name: &String| {
        let unknown =
            || Error::input(format!("the label {name:?} of the test rows is none of the training rows"));
        of.names.find(name).ok_or_else(unknown)
    };
    let numbers: Vec<u32> = rows.names.names().iter().map(number).collect::<novikoff::Result<_>>()?;
    rows.labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
    rows.names = of.names.clone();
    Ok(rows)
}

fn named(name: &str) -> PyResult<LearnerName> {
    let all = LearnerName::ONLINE.iter().chain(&LearnerName::BATCH);
    all.copied()
        .find(|learner| learner.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("there is no learner {name:?} to compare with")))
}
