//! Adam (Kingma and Ba, 2015): every weight's step is the mean of its last slopes, over the root of the mean
//! of their squares.

use crate::model::{LANES, Lanes};

const MEAN_KEEPS: f32 = 0.9;
const SQUARE_KEEPS: f32 = 0.999;
/// Below this, slopes count as nothing.
const FLOOR: f32 = 1e-8;

/// Means of slopes and of their squares, for weights in groups that are stepped together.
///
/// Both means start at zero and are divided by what that makes them too small by. A group counts its own
/// steps for that: a column that few rows have gets steps of full length from the first on.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    pub(super) mean: Vec<Lanes>,
    pub(super) square: Vec<Lanes>,
    pub(super) steps: Vec<u32>,
}

impl Moments {
    /// For so many groups of so many panels.
    pub(super) fn new(groups: usize, panels: usize) -> Self {
        let zero = vec![[0.0; LANES]; groups * panels];
        Self { mean: zero.clone(), square: zero, steps: vec![0; groups] }
    }
}

/// The length of a group's next step.
pub(super) fn length(step: f32, steps: &mut u32) -> f32 {
    *steps = steps.saturating_add(1);
    let lacking = |keeps: f32| 1.0 - f64::from(keeps).powi((*steps).min(100_000) as i32);
    (f64::from(step) * lacking(SQUARE_KEEPS).sqrt() / lacking(MEAN_KEEPS)) as f32
}

/// Steps some weights.
#[inline(always)]
pub(super) fn step(length: f32, slopes: &Lanes, weights: &mut Lanes, mean: &mut Lanes, square: &mut Lanes) {
    for lane in 0..LANES {
        let slope = slopes[lane];
        mean[lane] = MEAN_KEEPS * mean[lane] + (1.0 - MEAN_KEEPS) * slope;
        square[lane] = SQUARE_KEEPS * square[lane] + (1.0 - SQUARE_KEEPS) * slope * slope;
        weights[lane] -= length * mean[lane] / (square[lane].sqrt() + FLOOR);
    }
}
