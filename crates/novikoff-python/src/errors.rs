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
    let message = NAMES.iter().fold(message.to_owned(), |message, (own, name)| message.replace(own, name));
    if message.matches('`').count() % 2 == 1 {
        return message;
    }
    // Every second part stands in backticks.
    let parts = message.split('`').enumerate();
    let quoted = |part: &str| assignment(part).unwrap_or_else(|| format!("`{part}`"));
    parts.map(|(i, part)| if i % 2 == 0 { part.to_owned() } else { quoted(part) }).collect()
}

/// `drop = a,b` as an argument of Python's: `drop=["a", "b"]`.
fn assignment(setting: &str) -> Option<String> {
    const LISTS: [&str; 4] = ["drop", "categories", "numbers", "text"];
    let (name, value) = setting.split_once(" = ")?;
    if LISTS.contains(&name) {
        let names: Vec<String> = value.split(',').map(|name| format!("{name:?}")).collect();
        return Some(format!("{name}=[{}]", names.join(", ")));
    }
    let choices: Vec<String> = value.split('|').map(|value| format!("{value:?}")).collect();
    (name == "missing").then(|| format!("{name}={}", choices.join("|")))
}
