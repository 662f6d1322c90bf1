//! 6 — The proofs: what is known of a model, computed from the data and the model alone.

mod gap;

pub use gap::{Gap, gap};
