//! The two floating-point types that numbers are stored in.

use std::ops::{AddAssign, Mul};

/// `f32` or `f64`: single or double precision.
pub trait Float:
    Copy + Default + Into<f64> + AddAssign + Mul<Output = Self> + PartialEq + Send + Sync
{
    /// `x`, rounded to this precision.
    fn nearest(x: f64) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn nearest(x: f64) -> Self {
        x as f32
    }
}

impl Float for f64 {
    #[inline(always)]
    fn nearest(x: f64) -> Self {
        x
    }
}

/// Whether `f32` holds this number exactly.
#[inline]
pub(crate) fn fits_f32(x: f64) -> bool {
    f64::from(x as f32) == x
}
