//! The lines of a text model, and errors with line and column.

use crate::error::{Error, Result};

/// Lines that are yet to be read.
pub(super) struct Lines<'a> {
    name: &'a str,
    rest: &'a str,
    number: u64,
}

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    name: &'a str,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, name: &'a str) -> Self {
        Self { name, rest: text, number: 0 }
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// An error at the place where the next line is, or should be.
    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        Error::input(what).at(self.name, self.number + 1, 1)
    }

    /// An error about the file as a whole.
    pub(super) fn refuse(&self, what: impl Into<String>) -> Error {
        Error::input(what).at(self.name, 0, 0)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (text, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(Line { text: text.strip_suffix('\r').unwrap_or(text), name: self.name, number: self.number })
    }
}

impl<'a> Line<'a> {
    /// The words between blanks.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.text.split_ascii_whitespace()
    }

    /// An error about a part of the line.
    pub(super) fn error(&self, part: &str, what: impl Into<String>) -> Error {
        let column = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let column = column.filter(|column| *column <= self.text.len()).unwrap_or(0);
        Error::input(what).at(self.name, self.number, column as u64 + 1)
    }

    /// The number that a part of the line spells.
    pub(super) fn number(&self, part: &str) -> Result<f64> {
        match part.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.error(part, format!("{} is not a finite number", shown(part)))),
            Err(_) => Err(self.error(part, format!("{} is not a number", shown(part)))),
        }
    }

    /// The whole number that a part of the line spells.
    pub(super) fn count(&self, part: &str) -> Result<u32> {
        part.parse().map_err(|_| {
            self.error(part, format!("{} is not a whole number from 0 to {}", shown(part), u32::MAX))
        })
    }
}

/// A part of a line for a message.
pub(super) fn shown(part: &str) -> String {
    let mut start: String = part.chars().take(40).collect();
    if start.len() < part.len() {
        start.push('…');
    }
    format!("{start:?}")
}
