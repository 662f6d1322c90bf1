//! The conformance suite: what every online learner must do, run for each of [`LearnerName::ONLINE`], so that
//! a new one is held to it by being added there. Where something does not apply to a learner, the skip says
//! why.
//!
//! [`LearnerName::ONLINE`]: novikoff::train::LearnerName::ONLINE

// A skip says why.
#![allow(clippy::print_stdout)]

mod cases;
mod edges;
mod every_learner;
mod learners;
mod learning;
mod same_bytes;
mod stopping;
mod streams;
mod validation;
