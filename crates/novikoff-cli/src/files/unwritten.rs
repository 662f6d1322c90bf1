//! Outputs that could not be written: what was found with much work is printed all the same.

use crate::arguments::{Compare, MarginCommand, Pictures, Train};
use crate::flags::with_options;
use crate::messages;
use novikoff::{Error, Result};
use std::path::{Path, PathBuf};

/// Which outputs could not be written, and why. The first reason is that of the program's failure, once all
/// that was found is printed; of others there are warnings.
#[derive(Debug, Default)]
pub struct Unwritten {
    paths: Vec<PathBuf>,
    first: Option<Error>,
}

impl Unwritten {
    /// Notes what writing this output came to.
    pub fn note(&mut self, path: &Path, written: Result<()>) {
        let Err(error) = written else { return };
        self.paths.push(path.to_owned());
        match self.first {
            Some(_) => messages::warn(&with_options(&error.to_string()), &[]),
            None => self.first = Some(error),
        }
    }

    /// The output, unless it could not be written.
    pub fn written(&self, output: &Option<PathBuf>) -> Option<PathBuf> {
        output.clone().filter(|path| self.is_written(path))
    }

    /// Whether this output could be written, as far as it was tried.
    pub fn is_written(&self, path: &Path) -> bool {
        !self.paths.iter().any(|unwritten| unwritten == path)
    }

    /// The first failure, if there was one.
    pub fn end(self) -> Result<()> {
        self.first.map_or(Ok(()), Err)
    }
}

impl Train {
    /// The same without the outputs that could not be written.
    pub fn without(&self, unwritten: &Unwritten) -> Self {
        Self {
            output: unwritten.written(&self.output),
            certificate: unwritten.written(&self.certificate),
            trace: unwritten.written(&self.trace),
            pictures: self.pictures.without(unwritten),
            ..self.clone()
        }
    }
}

impl Pictures {
    /// The same without those that could not be written.
    pub fn without(&self, unwritten: &Unwritten) -> Self {
        let report = unwritten.written(&self.report);
        let written = self.picture.iter().filter(|(_, path)| unwritten.is_written(path));
        Self { report, picture: written.cloned().collect(), ..self.clone() }
    }
}

impl Compare {
    /// The same without the outputs that could not be written.
    pub fn without(&self, unwritten: &Unwritten) -> Self {
        let state = unwritten.written(&self.state);
        Self { state, pictures: self.pictures.without(unwritten), ..self.clone() }
    }
}

impl MarginCommand {
    /// The same without the outputs that could not be written.
    pub fn without(&self, unwritten: &Unwritten) -> Self {
        let certificate = unwritten.written(&self.certificate);
        Self { certificate, pictures: self.pictures.without(unwritten), ..self.clone() }
    }
}
