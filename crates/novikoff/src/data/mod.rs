//! 2 — What a data set is: row, matrix, labels, weights; and columns of one size.

mod dataset;
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
