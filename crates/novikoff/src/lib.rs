//! Linear learning with proofs: rows in, a linear model and what is known of it out.
//!
//! ```
//! use novikoff::{Dataset, LinearSvm};
//!
//! let rows = [5.1, 3.5, 4.9, 3.0, 6.2, 2.9, 5.9, 3.2];
//! let data = Dataset::from_dense(&rows, 2)?.with_labels(&["setosa", "setosa", "virginica", "virginica"])?;
//! let fit = LinearSvm::new().cost(1.0).tolerance(1e-6).fit(&data)?;
//! assert_eq!(fit.model.predict(&data)?, ["setosa", "setosa", "virginica", "virginica"]);
//!
//! // What is said of the model can be proved: its objective is so near the minimum.
//! let certificate = fit.certificate(&data)?;
//! certificate.verify(&data)?;
//! assert!(certificate.relative_gap().is_some_and(|gap| gap <= 1e-5));
//! # Ok::<(), novikoff::Error>(())
//! ```
//!
//! Each learner is a type with its own settings: [`Perceptron`] (also averaged and voted),
//! [`PassiveAggressive`], [`LinearSvm`], [`LogisticRegression`], [`LeastSquares`],
//! [`LeastAbsoluteDeviations`], [`HuberRegression`], [`QuantileRegression`], [`ExponentialLoss`],
//! [`Boosting`], [`MaxMargin`], [`NaiveBayes`], [`MultilayerPerceptron`].
//!
//! The modules are the stations of one flow, which ARCHITECTURE.md walks along: [`read`] turns bytes into
//! [`data`] by the recipe of [`features`], [`train`] turns settings and data into a [`model`] by way of
//! [`online`], of a [`solver`] that minimises a [`risk`], or of [`bayes`], and [`evaluate`] measures it.
//! [`certificate`] says how far a model can at most be from the best one. [`margin`] decides whether rows can
//! be separated at all, and proves it. [`compare`] sets the perceptron's variants side by side. [`plot`]
//! draws what there is to see. [`control`] is how long work is watched and stopped; nothing here prints.

#![warn(unreachable_pub)]

pub mod bayes;
pub mod certificate;
pub mod compare;
pub mod control;
pub mod data;
mod error;
pub mod evaluate;
mod exact;
pub mod features;
pub mod kernel;
pub mod loss;
pub mod margin;
pub mod memory;
pub mod model;
pub mod multiclass;
mod network;
pub mod online;
pub mod penalty;
pub mod plot;
pub mod random;
pub mod read;
pub mod risk;
pub mod solver;
pub mod train;

pub use data::Dataset;
pub use error::{Error, ErrorKind, Place, Result};
pub use model::Model;
pub use train::{
    Boosting, EmpiricalRisk, ExponentialLoss, Fit, HingeAtZeroLoss, HuberRegression, LeastAbsoluteDeviations,
    LeastSquares, LinearSvm, LogisticRegression, MaxMargin, MultilayerPerceptron, NaiveBayes, Online,
    PassiveAggressive, Perceptron, QuantileRegression,
};
