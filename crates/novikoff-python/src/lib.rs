//! The module `novikoff._novikoff`: what the estimators of the package `novikoff` stand on.
//!
//! `convert.rs` makes rows of arrays, `table.rs` columns of frames (`arrow.rs` takes those of streams), and
//! `reading.rs` rows of tables and documents; `learner.rs` makes learners of settings, `watch.rs` runs long work
//! without Python's lock and hears Ctrl-C, `errors.rs` makes exceptions of errors. Everything else hands over to
//! the library.

mod arrow;
mod certificate;
mod convert;
mod errors;
mod files;
mod fit;
mod learner;
mod margin;
mod model;
mod online;
mod picture;
mod reading;
mod search;
mod table;
mod watch;

use pyo3::prelude::*;

/// Linear learning with proofs.
#[pymodule]
mod _novikoff {
    #[pymodule_export]
    use super::certificate::PyCertificate;
    #[pymodule_export]
    use super::convert::check_rows;
    #[pymodule_export]
    use super::files::read_file;
    #[pymodule_export]
    use super::fit::{PyFit, train_learner};
    #[pymodule_export]
    use super::margin::{find_bounds, find_margin};
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::online::PyOnline;
    #[pymodule_export]
    use super::picture::chart;
    #[pymodule_export]
    use super::reading::{PyDataset, read_documents, read_table};
    #[pymodule_export]
    use super::search::{compare_learners, tune_learner};
    #[pymodule_export]
    use super::table::PyTable;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
