//! Certificates: what is known of a model, computed from the data and the model alone.

mod deviation;
mod dot;
pub mod exact;
pub mod file;
pub mod learnability;
pub mod mistakes;
pub(crate) mod numbers;
pub mod objective;
pub mod proof;
pub mod range;
pub mod rigorous;
mod sentence;
