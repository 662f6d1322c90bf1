//! The library's errors as Python's exceptions.

use novikoff::{Error, ErrorKind};
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The exception for an error: what is wrong, where it stands, and what to do about it.
pub(crate) fn exception(error: &Error) -> PyErr {
    let message = match error.advice() {
        Some(advice) => format!("{error}\nhint: {}", settings_of_python(advice)),
        None => error.to_string(),
    };
    let message = settings_of_python(&message);
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Input => PyValueError::new_err(message),
        ErrorKind::Io if error.what() == "there is no such file" => PyFileNotFoundError::new_err(message),
        ErrorKind::Io => PyOSError::new_err(message),
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(message),
    }
}

/// Settings as estimators name them: the library's messages have them in backticks.
pub(crate) fn settings_of_python(message: &str) -> String {
    const NAMES: [(&str, &str); 9] = [
        ("`cost`", "`C`"),
        ("`lambda`", "a stronger penalty"),
        ("`tolerance`", "`tol`"),
        ("`steps`", "`max_iter`"),
        ("`epochs`", "`max_iter`"),
        ("`threads`", "`n_jobs`"),
        ("`seed`", "`random_state`"),
        ("`smoothing`", "`alpha`"),
        ("`certificate`", "`certify`"),
    ];
    NAMES.iter().fold(message.to_owned(), |message, (own, name)| message.replace(own, name))
}
