//! Kernels: dot products of two rows in a feature space, computed without the features.
//!
//! [`Kernel`] is the function, [`Tile`] computes it for many rows at once.

mod exponential;
mod slots;
mod tile;

pub(crate) use tile::BLOCK;
pub use tile::Tile;

use crate::data::Matrix;
use crate::error::{Error, Result};
use exponential::exp_of_negative;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A kernel function.
///
/// ```
/// use novikoff::kernel::Kernel;
/// let kernel: Kernel = "poly:3".parse()?;
/// assert_eq!(kernel.of(1.0, 2.0, 2.0), 8.0);
/// assert_eq!("rbf:0.5".parse::<Kernel>()?.of(2.0, 2.0, 2.0), 1.0);
/// assert_eq!(kernel.to_string(), "poly:3");
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kernel {
    /// `<x, z>`.
    #[default]
    Linear,
    /// `(1 + <x, z>)^d`: all products of up to d features.
    Polynomial(u32),
    /// `exp(−γ‖x − z‖²)`: the radial basis function.
    Rbf(f64),
}

/// The largest degree: beyond it, kernels of most rows overflow.
const MOST_DEGREE: u32 = 64;

impl Kernel {
    /// The kernel of two rows with this dot product and these squared norms.
    #[inline(always)]
    pub fn of(self, dot: f64, norm_sq: f64, other_norm_sq: f64) -> f64 {
        match self {
            Kernel::Linear => dot,
            Kernel::Polynomial(degree) => power(1.0 + dot, degree),
            // Rounding must not make a distance negative.
            Kernel::Rbf(gamma) => exp_of_negative(gamma * (norm_sq + other_norm_sq - 2.0 * dot).max(0.0)),
        }
    }

    /// The largest kernel of rows whose squared norm is at most this.
    pub fn largest(self, norm_sq: f64) -> f64 {
        match self {
            Kernel::Linear => norm_sq,
            Kernel::Polynomial(degree) => power(1.0 + norm_sq, degree),
            Kernel::Rbf(_) => 1.0,
        }
    }

    /// Whether the degree is from 1 to 64, or γ a finite number above 0.
    pub fn validate(self) -> Result<()> {
        match self {
            Kernel::Polynomial(degree) if !(1..=MOST_DEGREE).contains(&degree) => Err(wrong_degree(degree)),
            Kernel::Rbf(gamma) if !(gamma > 0.0 && gamma.is_finite()) => Err(wrong_gamma(gamma)),
            _ => Ok(()),
        }
    }
}

/// `base^degree`, always multiplied in the same order, so that a kernel has the same bits everywhere.
#[inline(always)]
fn power(base: f64, degree: u32) -> f64 {
    match degree {
        1 => base,
        2 => base * base,
        3 => base * base * base,
        4 => (base * base) * (base * base),
        5 => (base * base) * (base * base) * base,
        _ => (1..degree).fold(base, |product, _| product * base),
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Linear => write!(f, "linear"),
            Kernel::Polynomial(degree) => write!(f, "poly:{degree}"),
            Kernel::Rbf(gamma) => write!(f, "rbf:{gamma}"),
        }
    }
}

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "linear" => Ok(Kernel::Linear),
            Some(("poly", degree)) => polynomial(degree),
            Some(("rbf", gamma)) => rbf(gamma),
            _ => {
                let hint = "linear; poly:D for (1 + <x, z>)^D, as in poly:2; \
                            rbf:G for exp(−G‖x − z‖²), as in rbf:0.1";
                Err(Error::usage(format!("there is no kernel {text:?}")).hint(hint))
            }
        }
    }
}

fn polynomial(degree: &str) -> Result<Kernel> {
    let kernel = Kernel::Polynomial(degree.parse().map_err(|_| wrong_degree(degree))?);
    kernel.validate().map(|()| kernel)
}

fn rbf(gamma: &str) -> Result<Kernel> {
    let kernel = Kernel::Rbf(gamma.parse().map_err(|_| wrong_gamma(gamma))?);
    kernel.validate().map(|()| kernel)
}

fn wrong_degree(degree: impl fmt::Display) -> Error {
    let range = format!("from 1 to {MOST_DEGREE}");
    Error::usage(format!("the degree of a polynomial kernel is a whole number {range}, not {degree}"))
}

fn wrong_gamma(gamma: impl fmt::Display) -> Error {
    Error::usage(format!("the γ of an rbf kernel is a number above 0, not {gamma}"))
}

/// The precision in which dot products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single precision: twice as fast, and chosen only where the error is negligible.
    Single,
    /// Double precision.
    #[default]
    Double,
}

/// An error of a millionth in a dot product becomes this many millionths in an rbf kernel.
const MOST_EXPONENT: f64 = 32.0;
/// Dot products below this are far from the largest number of single precision.
const MOST_SINGLE: f64 = 1e30;

impl Precision {
    /// The precision that this kernel needs on these rows. Rows that are stored in double precision need it.
    pub(crate) fn suited(kernel: Kernel, rows: &Matrix, largest_norm_sq: f64) -> Self {
        let tolerates_single = match kernel {
            Kernel::Linear => false,
            Kernel::Polynomial(_) => true,
            Kernel::Rbf(gamma) => gamma * largest_norm_sq <= MOST_EXPONENT,
        };
        if tolerates_single && rows.is_single() && largest_norm_sq < MOST_SINGLE {
            Precision::Single
        } else {
            Precision::Double
        }
    }
}

/// The squared norms of all rows.
pub fn norms_sq(rows: &Matrix) -> Vec<f64> {
    (0..rows.rows()).into_par_iter().with_min_len(1024).map(|i| rows.row(i).norm_sq()).collect()
}
