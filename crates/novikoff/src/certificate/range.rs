//! Numbers of ordinary size, and what the fast checker says where they are not.
//!
//! Bounds on rounding errors hold where nothing overflows, and where what underflow takes away is nothing
//! beside what is added for it. Both follow if every number that a claim multiplies by is zero or of ordinary
//! size: no larger than `LARGE` and, where something is divided by it, no smaller than its inverse. A term of
//! an objective has at most a row weight, a class weight, the inverse of their total, a dual, a value, the
//! inverse of its column's size and the inverse of λ in it: less than `2⁹⁰⁰` times the number of rows. And
//! what underflow takes from a product, at most `2⁻¹⁰⁷⁵`, is multiplied by no more than `2⁶⁴⁰` afterwards: it
//! stays far below `UNDERFLOW`.

use crate::data::Matrix;
use rayon::prelude::*;
use std::fmt;

/// No number is larger: about the largest of single precision.
pub(crate) const LARGE: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
/// Nothing that divides is smaller.
pub(crate) const SMALL: f64 = 1.0 / LARGE;
/// More than underflow can take from all terms of a sum together: 2⁻³⁰⁰.
pub(super) const UNDERFLOW: f64 = 4.909_093_465_297_727e-91;

/// Why a claim is not shown to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// It is ill-formed, or its witness shows nothing.
    Refused(String),
    /// Its witness shows something, but less than is claimed.
    Less(String),
    /// Its numbers are too large or too small for bounds on the rounding of doubles.
    Unsettled(String),
}

impl Unproved {
    /// Its witness shows no more than this.
    pub(super) fn no_more(what: impl Into<String>) -> Self {
        Self::Less(what.into())
    }
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(what) => f.write_str(what),
            Self::Less(what) => write!(f, "all that follows is {what}"),
            Self::Unsettled(what) => write!(f, "not settled in double precision: {what}"),
        }
    }
}

impl From<String> for Unproved {
    fn from(what: String) -> Self {
        Self::Refused(what)
    }
}

impl From<&str> for Unproved {
    fn from(what: &str) -> Self {
        Self::Refused(what.into())
    }
}

impl From<Unproved> for String {
    fn from(unproved: Unproved) -> Self {
        unproved.to_string()
    }
}

/// Refuses numbers that are not finite, and leaves large ones to exact arithmetic.
pub(super) fn ordinary(what: &str, numbers: &[f64]) -> Result<(), Unproved> {
    // Without a way out at the first, several are compared at a time.
    let all = |part: &[f64]| part.iter().fold(true, |all, x| all & (x.abs() <= LARGE));
    match numbers.par_chunks(1 << 14).all(all) {
        true => Ok(()),
        false if numbers.iter().any(|x| !x.is_finite()) => {
            Err(format!("{what} is not a finite number").into())
        }
        false => Err(Unproved::Unsettled(format!("{what} is larger than {LARGE:.1e}"))),
    }
}

/// The same for a number that must be positive, and that something is divided by.
pub(super) fn divisor(what: &str, number: f64) -> Result<(), Unproved> {
    match number {
        x if !x.is_finite() || x <= 0.0 => Err(format!("{what} is not a positive number").into()),
        x if (SMALL..=LARGE).contains(&x) => Ok(()),
        _ => Err(Unproved::Unsettled(format!("{what} is not between {SMALL:.1e} and {LARGE:.1e}"))),
    }
}

/// The same for the values of rows.
pub(crate) fn rows(rows: &Matrix) -> Result<(), Unproved> {
    let ordinary =
        (0..rows.rows()).into_par_iter().with_min_len(1024).all(|i| rows.row(i).largest() <= LARGE);
    if ordinary {
        Ok(())
    } else {
        Err(Unproved::Unsettled(format!("a value of a row is larger than {LARGE:.1e}")))
    }
}

/// Leaves to exact arithmetic, which stores no zeros, what would take so many numbers, if that is much more
/// than the rows and the witness have.
pub(super) fn memory(rows: &Matrix, numbers: usize, given: usize) -> Result<(), Unproved> {
    /// Numbers that may be stored for each that is there, and beyond that.
    const EACH: usize = 64;
    const BESIDES: usize = 1 << 24;
    let there = rows.stored().saturating_add(rows.rows()).saturating_add(given);
    match numbers <= there.saturating_mul(EACH).saturating_add(BESIDES) {
        true => Ok(()),
        false => Err(Unproved::Unsettled(format!("it takes {numbers} numbers, far more than the rows have"))),
    }
}

/// Numbers on the way were too large or too small.
pub(super) fn unsettled() -> Unproved {
    Unproved::Unsettled("numbers on the way are too large or too small".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_the_powers_of_two_that_they_stand_for() {
        assert_eq!((LARGE, SMALL), (2f64.powi(128), 2f64.powi(-128)));
        assert!((UNDERFLOW / 2f64.powi(-300) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_number_is_refused_and_what_is_large_is_left_to_others() {
        assert_eq!(ordinary("it", &[0.0, -LARGE, 5e-324]), Ok(()));
        assert!(matches!(ordinary("it", &[1.0, f64::NAN]), Err(Unproved::Refused(_))));
        assert!(matches!(ordinary("it", &[f64::NEG_INFINITY]), Err(Unproved::Refused(_))));
        assert!(matches!(ordinary("it", &[LARGE.next_up()]), Err(Unproved::Unsettled(_))));
        assert_eq!(divisor("it", SMALL), Ok(()));
        assert!(matches!(divisor("it", SMALL.next_down()), Err(Unproved::Unsettled(_))));
        assert!(matches!(divisor("it", 0.0), Err(Unproved::Refused(_))));
        assert!(matches!(divisor("it", f64::NAN), Err(Unproved::Refused(_))));
    }
}
