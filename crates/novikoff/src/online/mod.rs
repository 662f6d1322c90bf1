//! 5a — One row at a time: perceptron, averaged, voted, passive-aggressive; over a data set in epochs, or over a stream.

mod epochs;
mod learner;
mod mirror;
mod order;
pub mod rule;
mod stream;

pub use epochs::{Batch, Plan, Stopped, Trained, train};
pub use learner::{Keep, Online, Seen};
pub use order::Order;
pub use stream::{Stream, Streamed, class_order};
