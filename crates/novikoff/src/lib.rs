//! Linear learning with proofs.

pub mod control;
pub mod data;
mod error;
pub mod features;
pub mod random;
pub mod read;

pub use error::{Error, ErrorKind, Place, Result};
pub mod evaluate;
pub mod model;
pub mod multiclass;
pub mod online;
pub mod train;
