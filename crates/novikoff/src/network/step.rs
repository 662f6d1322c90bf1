//! One gradient step: the forward pass over a mini-batch, back-propagation, and the update of the weights.
//!
//! With `a = f(W·x + b)` the hidden units of a row, `s = V·a + c` its scores and `g = ∂ℓ/∂s` the
//! derivatives of its loss, `∂ℓ/∂V = g·aᵀ` and, with `δ = f'·(Vᵀg)`, `∂ℓ/∂W = δ·xᵀ`. There are two
//! passes: one over the rows for `a`, `s`, `g` and `δ`, and one over the columns for the sums of `δ·x`, each
//! followed by the update of that column's weights. A sum is always in the order of the batch's rows, so the
//! result does not depend on the number of threads.

use super::adam::{self, Moments};
use super::mini_batch::{Column, MiniBatch};
use super::targets::Objective;
use crate::model::{Activation, LANES, Lanes, panels, sums};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows that one task takes, and columns.
const ROWS: usize = 16;
const COLUMNS: usize = 32;

/// Both layers while they are learned, in single precision.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(super) activation: Activation,
    pub(super) hidden: usize,
    pub(super) outputs: usize,
    /// Column by column, the bias's column last, hidden units side by side.
    pub(super) first: Vec<Lanes>,
    /// Output by output, hidden units side by side.
    pub(super) second: Vec<Lanes>,
    /// Of all outputs, side by side.
    pub(super) bias: Vec<Lanes>,
}

/// The forward pass and the derivatives of a mini-batch.
#[derive(Debug, Default)]
pub(super) struct ForwardPass {
    /// Hidden units of each row.
    units: Vec<Lanes>,
    /// `δ`: the derivatives of the loss in each hidden unit's sum.
    deltas: Vec<Lanes>,
    /// `g`: the derivatives of the loss in each score.
    slopes: Vec<f32>,
    /// 1 for a row that was predicted wrongly, or its squared error.
    pub(super) missed: Vec<f64>,
}

impl ForwardPass {
    /// Computes the pass. Each row's loss is multiplied by its weight and by `share`.
    pub(super) fn forward(&mut self, layers: &Layers, batch: &MiniBatch, objective: &Objective, share: f64) {
        let (panels, outputs, rows) = (panels(layers.hidden), layers.outputs, batch.rows.len());
        self.units.resize(rows * panels, [0.0; LANES]);
        self.deltas.resize(rows * panels, [0.0; LANES]);
        self.slopes.resize(rows * outputs, 0.0);
        self.missed.resize(rows, 0.0);
        let units = self.units.par_chunks_mut(ROWS * panels).zip(self.deltas.par_chunks_mut(ROWS * panels));
        let scores = self.slopes.par_chunks_mut(ROWS * outputs).zip(self.missed.par_chunks_mut(ROWS));
        units.zip(scores).enumerate().for_each(|(chunk, ((units, deltas), (slopes, missed)))| {
            let first = chunk * ROWS;
            Arch::new().dispatch(Rows {
                layers,
                batch,
                objective,
                share,
                first,
                units,
                deltas,
                slopes,
                missed,
            });
        });
    }

    /// The gradient of the batch's loss in the weights of one column, for one panel of hidden units.
    #[inline(always)]
    pub(super) fn column_slopes(&self, entries: &[(u32, f32)], panels: usize, panel: usize) -> Lanes {
        let mut sum = [0.0; LANES];
        for &(row, x) in entries {
            let delta = &self.deltas[row as usize * panels + panel];
            for (sum, d) in sum.iter_mut().zip(delta) {
                *sum += x * d;
            }
        }
        sum
    }

    /// The gradient of the batch's loss in the weights of one output, for one panel of hidden units.
    #[inline(always)]
    pub(super) fn output_slopes(&self, output: usize, outputs: usize, panels: usize, panel: usize) -> Lanes {
        let mut sum = [0.0; LANES];
        for (slopes, units) in self.slopes.chunks_exact(outputs).zip(self.units.chunks_exact(panels)) {
            for (sum, a) in sum.iter_mut().zip(&units[panel]) {
                *sum += slopes[output] * a;
            }
        }
        sum
    }

    /// The gradient of the batch's loss in the biases of the outputs.
    pub(super) fn bias_slopes(&self, outputs: usize, slopes: &mut [Lanes]) {
        slopes.as_flattened_mut().fill(0.0);
        for row in self.slopes.chunks_exact(outputs) {
            slopes.as_flattened_mut().iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
        }
    }
}

/// The pass over some rows of a batch, compiled once for each register width.
struct Rows<'a> {
    layers: &'a Layers,
    batch: &'a MiniBatch,
    objective: &'a Objective,
    share: f64,
    first: usize,
    units: &'a mut [Lanes],
    deltas: &'a mut [Lanes],
    slopes: &'a mut [f32],
    missed: &'a mut [f64],
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Layers { activation, hidden, outputs, first, second, bias } = self.layers;
        let panels = panels(*hidden);
        let each = self.units.chunks_exact_mut(panels).zip(self.deltas.chunks_exact_mut(panels));
        let each = each.zip(self.slopes.chunks_exact_mut(*outputs)).zip(self.missed.iter_mut());
        for (place, (((units, deltas), slopes), missed)) in each.enumerate() {
            let place = self.first + place;
            sums(first, self.batch.row(place), units);
            units.as_flattened_mut().iter_mut().for_each(|z| *z = activation.value(*z));
            for (score, weights) in slopes.iter_mut().zip(second.chunks_exact(panels)) {
                *score = dot(weights, units);
            }
            slopes.iter_mut().zip(bias.as_flattened()).for_each(|(score, bias)| *score += bias);
            *missed = self.objective.slopes(self.batch.rows[place] as usize, self.share, slopes);
            deltas.as_flattened_mut().fill(0.0);
            for (slope, weights) in slopes.iter().zip(second.chunks_exact(panels)) {
                for (delta, w) in deltas.as_flattened_mut().iter_mut().zip(weights.as_flattened()) {
                    *delta += slope * w;
                }
            }
            for (delta, a) in deltas.as_flattened_mut().iter_mut().zip(units.as_flattened()) {
                *delta *= activation.slope(*a);
            }
        }
    }
}

/// `<v, a>`: lane by lane, then the lanes in their order.
#[inline(always)]
fn dot(weights: &[Lanes], units: &[Lanes]) -> f32 {
    let mut sum = [0.0; LANES];
    for (weights, units) in weights.iter().zip(units) {
        for lane in 0..LANES {
            sum[lane] += weights[lane] * units[lane];
        }
    }
    sum.iter().sum()
}

/// The settings of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdamStep {
    /// The step size.
    pub(super) step: f32,
    /// The weight decay: λ.
    pub(super) decay: f32,
    /// The weight decay of biases.
    pub(super) bias_decay: f32,
}

/// The weights of neighbouring groups, and their moments.
struct Groups<'a> {
    weights: &'a mut [Lanes],
    mean: &'a mut [Lanes],
    square: &'a mut [Lanes],
    steps: &'a mut [u32],
}

impl<'a> Groups<'a> {
    fn new(weights: &'a mut [Lanes], moments: &'a mut Moments) -> Self {
        Self { weights, mean: &mut moments.mean, square: &mut moments.square, steps: &mut moments.steps }
    }

    /// The first so many groups, and the others.
    fn split_at(self, groups: usize, panels: usize) -> (Self, Self) {
        let (weights, other_weights) = self.weights.split_at_mut(groups * panels);
        let (mean, other_mean) = self.mean.split_at_mut(groups * panels);
        let (square, other_square) = self.square.split_at_mut(groups * panels);
        let (steps, other_steps) = self.steps.split_at_mut(groups);
        let others =
            Self { weights: other_weights, mean: other_mean, square: other_square, steps: other_steps };
        (Self { weights, mean, square, steps }, others)
    }
}

/// Updates all weights of both layers whose columns occur in the batch.
pub(super) fn step(
    layers: &mut Layers,
    moments: &mut [Moments; 3],
    batch: &MiniBatch,
    pass: &ForwardPass,
    settings: AdamStep,
    biased: bool,
) {
    let (panels, outputs) = (panels(layers.hidden), layers.outputs);
    let [first, second, bias] = moments;
    let last = layers.first.len() / panels - 1;
    rayon::join(
        || {
            step_columns(
                Groups::new(&mut layers.first, first),
                0,
                &batch.columns,
                &Columns { batch, pass, settings, last, panels },
            )
        },
        || {
            let groups = Groups::new(&mut layers.second, second);
            Arch::new().dispatch(Outputs { groups, pass, settings, outputs, panels });
            if biased {
                let mut slopes = layers.bias.clone();
                pass.bias_slopes(outputs, &mut slopes);
                step_biases(Groups::new(&mut layers.bias, bias), &mut slopes, settings);
            }
        },
    );
}

/// Updates the biases of the outputs.
fn step_biases(biases: Groups<'_>, slopes: &mut [Lanes], settings: AdamStep) {
    let Groups { weights, mean, square, steps } = biases;
    let length = adam::length(settings.step, &mut steps[0]);
    for (panel, slopes) in slopes.iter_mut().enumerate() {
        add_decay(slopes, &weights[panel], settings.bias_decay);
        adam::step(length, slopes, &mut weights[panel], &mut mean[panel], &mut square[panel]);
    }
}

/// Updates the weights of some columns, in parallel by halves. `offset` is the number of the first group.
fn step_columns(groups: Groups<'_>, offset: usize, columns: &[Column], all: &Columns<'_>) {
    if columns.len() <= COLUMNS {
        return Arch::new().dispatch(ColumnSteps { groups, offset, columns, all });
    }
    let (left, right) = columns.split_at(columns.len() / 2);
    let middle = right[0].number as usize;
    let (some, others) = groups.split_at(middle - offset, all.panels);
    rayon::join(|| step_columns(some, offset, left, all), || step_columns(others, middle, right, all));
}

/// What the updates of all columns share.
struct Columns<'a> {
    batch: &'a MiniBatch,
    pass: &'a ForwardPass,
    settings: AdamStep,
    /// The number of the bias's column.
    last: usize,
    panels: usize,
}

struct ColumnSteps<'a> {
    groups: Groups<'a>,
    offset: usize,
    columns: &'a [Column],
    all: &'a Columns<'a>,
}

impl WithSimd for ColumnSteps<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Columns { batch, pass, settings, last, panels } = self.all;
        for &column in self.columns {
            let (entries, number) = (batch.column(column), column.number as usize);
            let decay = if number == *last { settings.bias_decay } else { settings.decay };
            let length = adam::length(settings.step, &mut self.groups.steps[number - self.offset]);
            for panel in 0..*panels {
                let at = (number - self.offset) * panels + panel;
                let mut slopes = pass.column_slopes(entries, *panels, panel);
                let weights = &mut self.groups.weights[at];
                add_decay(&mut slopes, weights, decay);
                adam::step(length, &slopes, weights, &mut self.groups.mean[at], &mut self.groups.square[at]);
            }
        }
    }
}

struct Outputs<'a> {
    groups: Groups<'a>,
    pass: &'a ForwardPass,
    settings: AdamStep,
    outputs: usize,
    panels: usize,
}

impl WithSimd for Outputs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for output in 0..self.outputs {
            let length = adam::length(self.settings.step, &mut self.groups.steps[output]);
            for panel in 0..self.panels {
                let at = output * self.panels + panel;
                let mut slopes = self.pass.output_slopes(output, self.outputs, self.panels, panel);
                let weights = &mut self.groups.weights[at];
                add_decay(&mut slopes, weights, self.settings.decay);
                adam::step(length, &slopes, weights, &mut self.groups.mean[at], &mut self.groups.square[at]);
            }
        }
    }
}

/// Adds the gradient of `½λ‖w‖²`.
#[inline(always)]
fn add_decay(slopes: &mut Lanes, weights: &Lanes, decay: f32) {
    slopes.iter_mut().zip(weights).for_each(|(slope, w)| *slope += decay * w);
}
