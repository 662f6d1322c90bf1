//! 2 — What a data set is: row, matrix, labels, weights.

mod dataset;
pub mod generate;
mod labels;
pub mod matrix;
mod row;

pub use dataset::{Dataset, Fingerprint, Report};
pub use labels::{Labels, as_number};
pub use matrix::Matrix;
pub use row::Row;
