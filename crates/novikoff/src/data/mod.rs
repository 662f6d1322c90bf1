//! 2 — What a data set is: row, matrix, labels, weights; columns of one size, and the weights of words.

pub mod assembly;
mod columns;
mod dataset;
pub mod documents;
pub mod generate;
mod labels;
mod mapped;
pub mod matrix;
mod row;
mod scale;

pub(crate) use dataset::little_endian;
pub use dataset::{Dataset, Fingerprint, Report};
pub use labels::{Labels, as_number};
pub use matrix::Matrix;
pub use row::{Lane, Row, Vector};
pub use scale::Scale;
pub(crate) use scale::{SizeAndSum, inverse};
