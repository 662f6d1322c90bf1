//! 6 — The proofs: what is known of a model, computed from the data and the model alone.

mod gap;
mod joint;

pub use gap::{Gap, gap};
pub use joint::joint_gap;
