//! Certificates: what is known of a model, computed from the data and the model alone.

mod deviation;
mod dot;
pub(crate) mod file;
pub mod learnability;
pub(crate) mod mistakes;
pub(crate) mod numbers;
pub(crate) mod objective;
pub(crate) mod proof;
pub(crate) mod range;
pub(crate) mod rigorous;
mod sentence;

pub use file::{Certificate, Checked, Claim, DataIdentity, FORMAT};
pub use objective::{Objective, Target};
pub use proof::{Direction, ExactCombination, Sides};
