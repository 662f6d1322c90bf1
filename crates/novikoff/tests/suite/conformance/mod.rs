//! The conformance suite: what every learner must do. `every_learner` runs the checks that hold for all
//! learners over the table in `learners`; the other files check online learners, naive Bayes and networks in
//! all their forms. Where a check does not apply to a learner, the skip says why.

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
