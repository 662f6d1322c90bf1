//! Whole files, read with the default options.

use super::{Input, Options, Purpose, Reader};
use crate::control::Unwatched;
use crate::data::Dataset;
use crate::error::Result;
use std::path::Path;

impl Dataset<'_> {
    /// Reads a file of labelled rows in any format, compressed or not. [`Reader`] has options.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_for(path, &Purpose::Training)
    }

    /// Reads a file of rows whose labels are numbers to be predicted.
    pub fn read_targets(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_for(path, &Purpose::TrainingOnTargets)
    }

    /// Reads a file of rows for a purpose: to learn from, or as a model reads them.
    pub fn read_for(path: impl AsRef<Path>, purpose: &Purpose<'_>) -> Result<Self> {
        let input = Input::Path(path.as_ref().to_owned());
        Reader::open(&input, &Options::default(), purpose)?.read(&mut Unwatched)
    }
}
