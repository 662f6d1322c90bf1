//! 6 — The proofs: what is known of a model, computed from the data and the model alone.

pub mod exact;
pub mod file;
mod gap;
mod joint;
pub mod learnability;
pub mod mistakes;
pub(crate) mod numbers;
pub mod objective;
pub mod proof;
pub mod rigorous;

pub use gap::{Gap, balance, gap, gap_with_pull, scored_gap};
pub use joint::joint_gap;
