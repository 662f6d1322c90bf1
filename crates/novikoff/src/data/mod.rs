//! 2 — What a data set is: row, matrix, labels, weights; columns of one size, and the weights of words.

pub mod assembly;
pub mod canonical;
mod columns;
mod dataset;
pub mod documents;
pub mod generate;
mod labels;
mod mapped;
pub mod matrix;
mod memory;
mod row;
mod scale;

pub use canonical::Fingerprint;
pub(crate) use canonical::little_endian;
pub use dataset::{Dataset, Report};
pub use labels::{Labels, as_number};
pub use matrix::Matrix;
pub use row::{Lane, Row, Vector};
pub use scale::Scale;
pub(crate) use scale::SizeAndSum;
