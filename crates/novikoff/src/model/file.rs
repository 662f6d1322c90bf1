//! The model's file.
use super::Model;
use crate::error::Result;
use std::path::Path;

/// Version.
pub const FORMAT_VERSION: u32 = 1;

/// Writes.
pub fn save(_model: &Model, _path: &Path) -> Result<()> {
    Ok(())
}

/// Reads.
pub fn load(path: &Path) -> Result<Model> {
    Err(crate::Error::input("not yet").at(path.display().to_string(), 0, 0))
}
