//! What is said on standard error: warnings, and why the program failed.

use crate::flags::with_options;
use crate::text;
use novikoff::Error;
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// How much is said besides results and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// Neither progress nor warnings.
    Quiet,
    /// Warnings, and a bar on a terminal.
    Usual,
    /// Warnings, and progress as lines, wherever they go.
    Verbose,
}

static TALK: AtomicU8 = AtomicU8::new(Talk::Usual as u8);

/// All warnings so far.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Decides for the whole program how much is said.
pub fn talk(talk: Talk) {
    TALK.store(talk as u8, Ordering::Relaxed);
}

/// Whether neither progress nor warnings are shown.
pub fn is_quiet() -> bool {
    TALK.load(Ordering::Relaxed) == Talk::Quiet as u8
}

/// Whether progress is shown as lines.
pub fn is_verbose() -> bool {
    TALK.load(Ordering::Relaxed) == Talk::Verbose as u8
}

/// Writes a line on standard error; nothing can be done where that is closed.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text::message(line));
}

/// The same for an object, which has its own way to escape.
pub fn say_json(object: &Value) {
    let _ = writeln!(std::io::stderr(), "{object}");
}

/// Warns of something, with examples of it, and remembers the warning.
pub fn warn(what: &str, examples: &[String]) {
    if !is_quiet() {
        say(&format!("warning: {what}"));
        examples.iter().for_each(|example| say(&format!("  {example}")));
    }
    let all = if examples.is_empty() { what.to_owned() } else { format!("{what}: {}", examples.join("; ")) };
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(all);
}

/// All warnings so far, shown or not.
pub fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Says what is wrong and what to do about it, and where JSON is asked for, the same as an object on the last
/// line.
pub fn fail(error: &Error, json: bool) {
    say(&format!("error: {}", with_options(&error.to_string())));
    let hint = error.advice().map(with_options);
    if let Some(hint) = &hint {
        say(&format!("hint: {hint}"));
    }
    if json {
        let (place, what) = (error.place(), with_options(error.what()));
        let number = |number: u64| (number > 0).then_some(number);
        let (line, column) = (place.and_then(|at| number(at.line)), place.and_then(|at| number(at.column)));
        say_json(&object(&what, hint.as_deref(), place.map(|at| at.file.as_str()), line, column));
    }
}

/// An error as an object; null is what is not known.
pub fn object(
    error: &str,
    hint: Option<&str>,
    file: Option<&str>,
    line: Option<u64>,
    column: Option<u64>,
) -> Value {
    json!({"error": error, "hint": hint, "file": file, "line": line, "column": column})
}
