//! What is tested from outside, all in one program: every program of its own would be linked with the whole
//! library.

mod architecture;
mod bayes;
mod certificates;
#[cfg(feature = "parquet")]
mod columnar;
mod comparison;
mod conformance;
mod contradictions;
mod convergence;
mod corrections;
mod custom_problem;
mod differential;
mod documents;
mod empirical_risk;
mod examples;
mod exchange;
mod forgeries;
mod interactions;
mod interface;
mod kernels;
mod least_absolute;
mod maps;
mod model_file;
mod network;
mod online;
mod parts;
mod perceptron_family;
mod probabilities;
mod proofs;
mod reading;
mod resume;
mod scaling;
mod targets;
mod tuning;
mod with;
