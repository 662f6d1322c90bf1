//! Certificates: claims with their witnesses, checked against rows.

use crate::errors::exception;
use crate::fit::PyData;
use crate::watch::Watcher;
use novikoff::certificate::{Certificate, Claim};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;

/// What is proved of a model or of rows.
#[pyclass(frozen, name = "Certificate", module = "novikoff._novikoff")]
pub(crate) struct PyCertificate(pub(crate) Certificate);

impl PyCertificate {
    pub(crate) fn new(certificate: Certificate) -> Self {
        Self(certificate)
    }
}

#[pymethods]
impl PyCertificate {
    /// Reads a certificate from a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Certificate::load(path).map(Self).map_err(|error| exception(&error))
    }

    /// The certificate in the text of a file.
    #[staticmethod]
    fn from_text(text: &str) -> PyResult<Self> {
        Certificate::from_text(text).map(Self).map_err(PyValueError::new_err)
    }

    /// Writes the certificate to a file, as a whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.save(path).map_err(|error| exception(&error))
    }

    /// The text of the certificate's file.
    fn to_text(&self) -> String {
        self.0.to_text()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let from_text = py.get_type::<Self>().getattr("from_text")?;
        Ok((from_text, PyTuple::new(py, [self.to_text()])?))
    }

    fn __len__(&self) -> usize {
        self.0.claims.len()
    }

    /// How far the objective can be above its minimum, relatively.
    #[getter]
    fn relative_gap(&self) -> Option<f64> {
        self.0.relative_gap()
    }

    /// Whether some claim is about numbers that are predicted.
    #[getter]
    fn speaks_of_numbers(&self) -> bool {
        self.0.speaks_of_numbers()
    }

    /// The kinds of its claims.
    fn claims(&self) -> Vec<String> {
        self.0.claims.iter().map(describe).collect()
    }

    /// The objective at the weights of the first claims, one for each of so many outputs (or one for all), and the
    /// largest lower bound that is proved of it.
    fn objective_bounds(&self, outputs: usize) -> PyResult<(f64, f64)> {
        let ends: Vec<(f64, f64)> = self
            .0
            .claims
            .iter()
            .filter_map(|claim| match claim {
                Claim::NearOptimal { value, lower_bound, .. } => Some((*value, lower_bound.unwrap_or(0.0))),
                _ => None,
            })
            .collect();
        if ends.len() == outputs {
            // A problem for each output: all of them together.
            return Ok(ends.iter().fold((0.0, 0.0), |sum, end| (sum.0 + end.0, sum.1 + end.1)));
        }
        let Some(first) = ends.first() else {
            return Err(PyValueError::new_err("the certificate has no claim about an objective"));
        };
        // Several claims about one problem.
        Ok((first.0, ends.iter().map(|end| end.1).fold(0.0, f64::max)))
    }

    /// The hash of the rows that it is about.
    #[getter]
    fn data_hash(&self) -> String {
        self.0.data.hash.clone()
    }

    /// Checks every claim against rows: a dictionary each, with claim, holds and detail.
    fn check<'py>(&self, py: Python<'py>, data: PyData<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = data.slices()?;
        let certificate = &self.0;
        let checked = Watcher { callback: None, threads: None }
            .run(py, |_| rows.dataset().map(|data| certificate.check(&data)))?;
        let entry = |checked: novikoff::certificate::Checked| {
            let all = PyDict::new(py);
            all.set_item("claim", checked.claim)?;
            all.set_item("holds", checked.holds)?;
            all.set_item("detail", checked.detail)?;
            Ok(all)
        };
        checked.map_err(|error| exception(&error))?.into_iter().map(entry).collect()
    }
}

/// A claim in few words; `check` says it in full.
fn describe(claim: &Claim) -> String {
    match claim {
        Claim::MarginAtLeast { margin, .. } => format!("a hyperplane has a margin of at least {margin}"),
        Claim::MarginAtMost { margin, .. } => format!("no hyperplane has a margin above {margin}"),
        Claim::NotSeparable { .. } => "no hyperplane separates the rows".to_owned(),
        Claim::NearOptimal { value, lower_bound: Some(bound), .. } => {
            format!("the objective is at most {value}, and no weights give less than {bound}")
        }
        Claim::NearOptimal { value, lower_bound: None, .. } => format!("the objective is at most {value}"),
        Claim::MistakesAtMost { mistakes, .. } => format!("a perceptron makes at most {mistakes} mistakes"),
    }
}
