//! Online learning, one row at a time: perceptron, averaged and voted perceptron, passive-aggressive; in
//! epochs over rows in memory, or in one pass over a stream.
//!
//! [`rule`] has the update rules. [`LinearLearner`] applies them to weights of features, `KernelLearner` and
//! [`BudgetLearner`] to sums of rows.

mod budget;
mod correct;
mod epochs;
mod follow;
mod kernel;
mod linear;
mod linear_epochs;
mod order;
mod quantized;
pub mod rule;
mod shuffled_copy;
mod stream;
mod visit;

pub use budget::BudgetLearner;
pub(crate) use epochs::{Begin, LearnerState, Resumption, Tally};
pub use epochs::{Plan, Trained, TrainingRows, Validate};
pub use kernel::train_kernel;
pub(crate) use kernel::{KernelBegin, KernelLearner, train_kernel_from};
pub(crate) use linear::LinearState;
pub use linear::{Hypothesis, LinearLearner, RowOutcome};
pub use linear_epochs::train;
pub(crate) use linear_epochs::{LinearBegin, LinearStart, train_from};
pub use order::Order;
pub(crate) use order::Sequence;
pub use stream::{Stream, Streamed};
pub(crate) use stream::{StreamCounts, arranged};
