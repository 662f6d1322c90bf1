//! 6 — The proofs: what is known of a model, computed from the data and the model alone.

mod deviation;
mod dot;
pub mod exact;
pub mod file;
mod gap;
mod joint;
pub mod learnability;
pub mod mistakes;
pub(crate) mod numbers;
pub mod objective;
pub mod proof;
pub mod range;
pub mod rigorous;
mod sentence;

pub use gap::{Gap, balance, gap, gap_with_pull, scored_gap};
pub use joint::joint_gap;
