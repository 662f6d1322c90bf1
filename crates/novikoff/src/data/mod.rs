//! 2 — What a data set is: row, matrix, labels, weights; columns of one size, and the weights of words.

mod dataset;
pub mod documents;
pub mod generate;
mod labels;
pub mod matrix;
mod row;
mod scale;

pub(crate) use dataset::little_endian;
pub use dataset::{Dataset, Fingerprint, Report};
pub use labels::{Labels, as_number};
pub use matrix::Matrix;
pub use row::Row;
pub use scale::Scale;
