//! What compares two rows: their dot product, or that of what a feature map would make of them, without
//! making it.
//!
//! [`Kernel`] says which, [`Tile`] computes it for many rows at once.

mod exponential;
mod slots;
mod tile;

pub use tile::{BLOCK, Tile};

use crate::data::Matrix;
use crate::error::{Error, Result};
use exponential::exp_of_negative;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A kernel: the dot product of two rows in a space of more features.
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
    /// `exp(−γ‖x − z‖²)`: rows are alike that are near one another.
    Rbf(f64),
}

/// The largest degree: with more, hardly any rows have a kernel that is a finite number.
const MOST_DEGREE: u32 = 64;

impl Kernel {
    /// The kernel of two rows with this dot product and these squared lengths.
    #[inline(always)]
    pub fn of(self, dot: f64, norm_sq: f64, other_norm_sq: f64) -> f64 {
        match self {
            Kernel::Linear => dot,
            Kernel::Polynomial(degree) => power(1.0 + dot, degree),
            // Rounding must not make a distance negative.
            Kernel::Rbf(gamma) => exp_of_negative(gamma * (norm_sq + other_norm_sq - 2.0 * dot).max(0.0)),
        }
    }

    /// The largest kernel of rows that are no longer than this.
    pub fn largest(self, norm_sq: f64) -> f64 {
        match self {
            Kernel::Linear => norm_sq,
            Kernel::Polynomial(degree) => power(1.0 + norm_sq, degree),
            Kernel::Rbf(_) => 1.0,
        }
    }
}

/// Always in the same order, so that a kernel is the same number wherever it is computed.
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
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        match (name, number) {
            ("linear", None) => return Ok(Kernel::Linear),
            ("poly", Some(number)) => {
                if let Ok(degree @ 1..=MOST_DEGREE) = number.parse::<u32>() {
                    return Ok(Kernel::Polynomial(degree));
                }
                let what = format!(
                    "the degree of a polynomial kernel is a whole number from 1 to {MOST_DEGREE}, not {number:?}"
                );
                return Err(Error::usage(what));
            }
            ("rbf", Some(number)) => match number.parse::<f64>() {
                Ok(gamma) if gamma > 0.0 && gamma.is_finite() => return Ok(Kernel::Rbf(gamma)),
                _ => {
                    return Err(Error::usage(format!(
                        "the γ of an rbf kernel is a number above 0, not {number:?}"
                    )));
                }
            },
            _ => {}
        }
        let hint =
            "linear; poly:D for (1 + <x, z>)^D, as in poly:2; rbf:G for exp(−G‖x − z‖²), as in rbf:0.1";
        Err(Error::usage(format!("there is no kernel {text:?}")).hint(hint))
    }
}

/// In which precision dot products are summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Twice as fast, where it makes no difference to speak of.
    Single,
    /// Always right.
    #[default]
    Double,
}

/// An error of a millionth in a dot product becomes this many millionths in an rbf kernel.
const MOST_EXPONENT: f64 = 32.0;
/// Dot products below this are far from the largest number of single precision.
const MOST_SINGLE: f64 = 1e30;

impl Precision {
    /// What these rows need for their kernel. Rows are what they are: those that are stored in double
    /// precision are compared in it.
    pub fn suited(kernel: Kernel, rows: &Matrix, largest_norm_sq: f64) -> Self {
        let harmless = match kernel {
            Kernel::Linear => false,
            Kernel::Polynomial(_) => true,
            Kernel::Rbf(gamma) => gamma * largest_norm_sq <= MOST_EXPONENT,
        };
        if harmless && rows.is_single() && largest_norm_sq < MOST_SINGLE {
            Precision::Single
        } else {
            Precision::Double
        }
    }
}

/// The squared lengths of all rows.
pub fn norms_sq(rows: &Matrix) -> Vec<f64> {
    (0..rows.rows()).into_par_iter().with_min_len(1024).map(|i| rows.row(i).norm_sq()).collect()
}
