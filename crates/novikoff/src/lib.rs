//! Linear learning with proofs: rows in, a linear model and what is known of it out.
//!
//! The modules are the stations of one flow, which ARCHITECTURE.md walks along: [`read`] turns bytes into
//! [`data`] by the recipe of [`features`], [`train`] turns settings and data into a [`model`] by way of
//! [`online`], of a [`solver`] that minimises a [`risk`], or of [`bayes`], and [`evaluate`] measures it.
//! [`certificate`] says how far a model can at most be from the best one. [`margin`] decides whether rows can
//! be separated at all, and proves it. [`compare`] sets the perceptron's variants side by side. [`plot`]
//! draws what there is to see. [`control`] is how long work is watched and stopped; nothing here prints.
//!
//! ```
//! use novikoff::control::Unwatched;
//! use novikoff::read::{Input, Options, Purpose, Reader};
//! use novikoff::train::{Settings, train};
//!
//! let text = b"spam 1:2 3:1\nham 2:1\nspam 1:1\nham 2:3 3:1\n";
//! let input = Input::Bytes { name: "mail".into(), bytes: (*text).into() };
//! let data = Reader::open(&input, &Options::default(), &Purpose::Training)?.read(&mut Unwatched)?;
//! let fit = train(&data, None, &Settings::default(), &mut Unwatched)?;
//! assert_eq!(fit.train_error, Some(0.0));
//! assert_eq!(fit.model.labels.names(), ["ham", "spam"]);
//! # Ok::<(), novikoff::Error>(())
//! ```

pub mod bayes;
pub mod certificate;
pub mod compare;
pub mod control;
pub mod data;
mod error;
pub mod evaluate;
pub mod features;
pub mod kernel;
pub mod loss;
pub mod margin;
pub mod model;
pub mod multiclass;
pub mod network;
pub mod online;
pub mod penalty;
pub mod plot;
pub mod random;
pub mod read;
pub mod risk;
pub mod solver;
pub mod train;

pub use error::{Error, ErrorKind, Place, Result};
