//! 5a — One row at a time: perceptron, averaged, voted, passive-aggressive; over a data set in epochs, or
//! over a stream.

mod budget;
mod correct;
mod epochs;
mod kernel;
mod learner;
mod order;
mod pages;
mod quantized;
pub mod rule;
mod stream;
mod visit;

pub use budget::Budgeted;
pub use epochs::{Batch, Plan, Stopped, Trained, Validate, train};
pub use kernel::{Kernelised, train_kernel};
pub use learner::{Keep, Online, Seen};
pub use order::{Order, Sequence};
pub use stream::{Stream, Streamed, class_order};
