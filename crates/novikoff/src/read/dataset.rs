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

    /// Reads several files that are one data set. Tables may repeat their header in each.
    pub fn read_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        let parts = paths.into_iter().map(|path| Input::Path(path.as_ref().to_owned())).collect();
        Reader::open(&Input::Several(parts), &Options::default(), &Purpose::Training)?.read(&mut Unwatched)
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
