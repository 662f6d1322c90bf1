//! Data sets: rows, labels and weights in memory; scaled columns, and the weights of terms in documents.

pub(crate) mod assembly;
pub mod canonical;
mod columns;
mod dataset;
pub(crate) mod documents;
mod float;
pub mod generate;
mod labels;
mod mapped;
pub mod matrix;
mod memory;
mod refit;
mod resumable_hash;
mod row;
mod scale;
mod views;

pub use canonical::Fingerprint;
pub(crate) use canonical::FingerprintState;
pub(crate) use canonical::little_endian;
pub(crate) use columns::for_each_within;
pub use dataset::{Dataset, Report};
pub use float::Float;
pub(crate) use float::{fits_f32, wide};
pub use labels::{Labels, as_number};
pub(crate) use mapped::ROWS_AT_ONCE;
pub use matrix::Matrix;
pub(crate) use matrix::for_each_moved;
pub(crate) use refit::Filled;
pub use refit::{Parts, Refit, Refittable};
#[cfg(test)]
pub(crate) use row::fixture;
pub(crate) use row::{Dense, Same, Sparse, SparseValues, by_storage};
pub use row::{Row, Vector};
pub use scale::Scale;
pub(crate) use scale::{SizeAndSum, Standard, spreads};
