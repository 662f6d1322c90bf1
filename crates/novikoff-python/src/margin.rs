//! Separability and margins, and what theory promises.

use crate::certificate::PyCertificate;
use crate::errors::exception;
use crate::fit::PyData;
use crate::watch::Watcher;
use novikoff::certificate::learnability::{Setting, error_bound, rows_needed, rows_not_enough, vc_dimension};
use novikoff::certificate::{Certificate, Sides};
use novikoff::margin::{Separable, Settings, margin};
use novikoff::penalty::Bias;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Whether a class, or the classes named, can be separated from the others, and by what margin: a dictionary, with
/// the certificate.
#[pyfunction]
#[pyo3(signature = (data, positive, negative, *, bias, tolerance, rounds, seed, decide, callback, threads))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn find_margin<'py>(
    py: Python<'py>,
    data: PyData<'py>,
    positive: Vec<String>,
    negative: Vec<String>,
    bias: &str,
    tolerance: f64,
    rounds: usize,
    seed: u64,
    decide: bool,
    callback: Option<Py<PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = data.slices()?;
    let sides = Sides { positive, negative };
    let bias = match bias {
        "free" => Bias::Free,
        "penalised" => Bias::Penalised,
        _ => Bias::None,
    };
    let settings = Settings { bias, tolerance, rounds, seed, decide };
    let found = Watcher { callback, threads }.run(py, |observer| {
        let data = rows.dataset()?;
        let found = margin(&data, &sides, &settings, observer)?;
        let certificate = Certificate::new(&data, found.claims(&sides, bias));
        Ok((found, certificate, data.rows.columns()))
    })?;
    let (found, certificate, columns) = found.map_err(|error| exception(&error))?;
    let all = PyDict::new(py);
    let separable = match found.separable {
        Separable::Yes => Some(true),
        Separable::No => Some(false),
        Separable::Unknown => None,
    };
    all.set_item("separable", separable)?;
    all.set_item("margin", found.interval)?;
    all.set_item("radius", (found.radius.low, found.radius.high))?;
    all.set_item("mistake_bound", found.mistake_bound())?;
    all.set_item("rounds", found.rounds)?;
    all.set_item("obstacle", &found.obstacle)?;
    let halfspace = found.halfspace().map(|direction| {
        let mut weights = vec![0.0; columns];
        direction.entries().for_each(|(j, w)| weights[j] = w);
        (PyArray1::from_vec(py, weights), direction.bias)
    });
    all.set_item("halfspace", halfspace)?;
    all.set_item("certificate", PyCertificate::new(certificate))?;
    Ok(all)
}

/// What theory promises of halfspaces over so many features.
#[pyfunction]
#[pyo3(signature = (features, *, rows, epsilon, delta, fit_intercept))]
pub(crate) fn find_bounds(
    py: Python<'_>,
    features: u64,
    rows: Option<u64>,
    epsilon: f64,
    delta: f64,
    fit_intercept: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let dimension = vc_dimension(features, fit_intercept);
    let worth = |setting| rows.map(|rows| error_bound(setting, dimension, rows, delta));
    let all = PyDict::new(py);
    all.set_item("vc_dimension", dimension)?;
    all.set_item("rows_realizable", rows_needed(Setting::Realizable, dimension, epsilon, delta))?;
    all.set_item("rows_realizable_at_least", rows_not_enough(dimension, epsilon, delta))?;
    all.set_item("rows_agnostic", rows_needed(Setting::Agnostic, dimension, epsilon, delta))?;
    all.set_item("rows_agnostic_best", rows_needed(Setting::Agnostic, dimension, epsilon / 2.0, delta))?;
    all.set_item("error_realizable", worth(Setting::Realizable))?;
    all.set_item("deviation_agnostic", worth(Setting::Agnostic))?;
    Ok(all)
}
