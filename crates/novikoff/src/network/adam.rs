//! Adam (Kingma and Ba 2015, algorithm 1): with g the gradient,
//!
//! ```text
//! m ← β₁·m + (1 − β₁)·g,   v ← β₂·v + (1 − β₂)·g²,   w ← w − η·√(1 − β₂ᵗ)/(1 − β₁ᵗ) · m/(√v + ε)
//! ```

use crate::model::{LANES, Lanes};

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// The first and second moments, m and v, of weights in groups that are updated together.
///
/// Each group counts its own steps t for the bias correction: a column that few rows have gets steps of full
/// length from the first one on.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    pub(super) mean: Vec<Lanes>,
    pub(super) square: Vec<Lanes>,
    pub(super) steps: Vec<u32>,
}

impl Moments {
    /// Zero moments for so many groups of so many panels.
    pub(super) fn new(groups: usize, panels: usize) -> Self {
        let zero = vec![[0.0; LANES]; groups * panels];
        Self { mean: zero.clone(), square: zero, steps: vec![0; groups] }
    }
}

/// `η·√(1 − β₂ᵗ)/(1 − β₁ᵗ)` for a group's next step.
pub(super) fn length(step: f32, steps: &mut u32) -> f32 {
    *steps = steps.saturating_add(1);
    let correction = |beta: f32| 1.0 - f64::from(beta).powi((*steps).min(100_000) as i32);
    (f64::from(step) * correction(BETA_2).sqrt() / correction(BETA_1)) as f32
}

/// Updates some weights and their moments.
#[inline(always)]
pub(super) fn step(length: f32, slopes: &Lanes, weights: &mut Lanes, mean: &mut Lanes, square: &mut Lanes) {
    for lane in 0..LANES {
        let slope = slopes[lane];
        mean[lane] = BETA_1 * mean[lane] + (1.0 - BETA_1) * slope;
        square[lane] = BETA_2 * square[lane] + (1.0 - BETA_2) * slope * slope;
        weights[lane] -= length * mean[lane] / (square[lane].sqrt() + EPSILON);
    }
}
