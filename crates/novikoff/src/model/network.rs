//! A network with one hidden layer.

use crate::data::{Row, for_each_moved};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// Hidden units that are computed side by side. Loops over so many go into registers.
pub(crate) const LANES: usize = 32;

/// Weights of so many hidden units.
pub(crate) type Lanes = [f32; LANES];

/// Scaled values are clipped to this, so that products with weights are finite.
pub(super) const MOST: f64 = 1e15;

/// The activation function of hidden units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Activation {
    /// max(0, z).
    #[default]
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// All activation functions.
    pub const ALL: [Activation; 2] = [Activation::Relu, Activation::Tanh];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Relu => "relu",
            Activation::Tanh => "tanh",
        }
    }

    /// Its value.
    #[inline(always)]
    pub fn value(self, z: f32) -> f32 {
        match self {
            Activation::Relu => z.max(0.0),
            Activation::Tanh => z.tanh(),
        }
    }

    /// Its slope where its value is `a`. At the kink of `max(0, z)` it is 0.
    #[inline(always)]
    pub fn slope(self, a: f32) -> f32 {
        match self {
            Activation::Relu => f32::from(u8::from(a > 0.0)),
            Activation::Tanh => 1.0 - a * a,
        }
    }
}

/// `s = V·f(W·D(x − m) + b) + c`, with m the centres and D the scales of the features, and f the activation.
///
/// The hidden layer is in single precision, as it was learned; the scores are summed in double precision,
/// because numbers to be predicted may be large and close together.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    features: usize,
    hidden: usize,
    outputs: usize,
    /// The activation function.
    pub activation: Activation,
    /// What is subtracted from features, in ascending order, before all else: single precision has no digits
    /// left for small differences of large numbers.
    pub centres: Vec<(u32, f64)>,
    /// The factor of each feature.
    pub scales: Vec<f64>,
    /// The weights of every feature, hidden units side by side, and at the end the biases of the hidden
    /// units. Units of weight zero fill up to a multiple of 32.
    pub first: Vec<Lanes>,
    /// The weights of every output, hidden units side by side.
    pub second: Vec<f64>,
    /// The bias of every output.
    pub bias: Vec<f64>,
}

impl Network {
    /// All zero.
    pub fn zero(features: usize, hidden: usize, outputs: usize, activation: Activation) -> Self {
        Self {
            features,
            hidden,
            outputs,
            activation,
            centres: Vec::new(),
            scales: vec![1.0; features],
            first: vec![[0.0; LANES]; (features + 1) * panels(hidden)],
            second: vec![0.0; outputs * hidden],
            bias: vec![0.0; outputs],
        }
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of hidden units.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The weights of a feature for all hidden units; those of number [`Network::features`] are the biases.
    pub fn weights_of(&self, feature: usize) -> &[f32] {
        let panels = panels(self.hidden);
        &self.first[feature * panels..(feature + 1) * panels].as_flattened()[..self.hidden]
    }

    /// The same, to be changed.
    pub fn weights_of_mut(&mut self, feature: usize) -> &mut [f32] {
        let panels = panels(self.hidden);
        &mut self.first[feature * panels..(feature + 1) * panels].as_flattened_mut()[..self.hidden]
    }

    /// All numbers of the network.
    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let first = self.first.as_flattened().iter().map(|&w| f64::from(w));
        let centres = self.centres.iter().map(|(_, centre)| *centre);
        first.chain(centres).chain(self.scales.iter().chain(&self.second).chain(&self.bias).copied())
    }

    /// The scores of a row.
    pub fn score(&self, row: Row<'_>, scratch: &mut Units, scores: &mut [f64]) {
        let Units { entries, units } = scratch;
        entries.clear();
        if self.centres.is_empty() {
            entries_of(row, &self.scales, |j, x| entries.push((j, x)));
        } else {
            let mut add = entry(&self.scales, |j, x| entries.push((j, x)));
            for_each_moved(row, &self.centres, |j, x| {
                if x != 0.0 {
                    add(j, x)
                }
            });
        }
        entries.push((self.features as u32, 1.0));
        units.resize(panels(self.hidden), [0.0; LANES]);
        Arch::new().dispatch(Sums { weights: &self.first, entries, units });
        let units = &mut units.as_flattened_mut()[..self.hidden];
        units.iter_mut().for_each(|z| *z = self.activation.value(*z));
        let weights = self.second.chunks_exact(self.hidden).zip(&self.bias);
        for (score, (weights, bias)) in scores.iter_mut().zip(weights) {
            *score = weights.iter().zip(&*units).map(|(w, &a)| w * f64::from(a)).sum::<f64>() + bias;
        }
    }
}

/// [`sums`], compiled once for each register width.
struct Sums<'a> {
    weights: &'a [Lanes],
    entries: &'a [(u32, f32)],
    units: &'a mut [Lanes],
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        sums(self.weights, self.entries, self.units);
    }
}

/// Memory for the hidden units of a row.
#[derive(Debug, Default)]
pub struct Units {
    entries: Vec<(u32, f32)>,
    units: Vec<Lanes>,
}

/// How many times [`LANES`] units there are, the last ones possibly of weight zero.
pub(crate) fn panels(hidden: usize) -> usize {
    hidden.div_ceil(LANES)
}

/// Calls `visit` with every entry of a row that is not zero, times its feature's scale. Features without a
/// scale are unknown and ignored.
#[inline]
pub(crate) fn entries_of(row: Row<'_>, scales: &[f64], visit: impl FnMut(u32, f32)) {
    row.for_each_nonzero(entry(scales, visit));
}

/// Calls `visit` with an entry times its feature's scale.
#[inline(always)]
fn entry(scales: &[f64], mut visit: impl FnMut(u32, f32)) -> impl FnMut(u32, f64) {
    move |j, x| {
        if let Some(scale) = scales.get(j as usize) {
            visit(j, (x * scale).clamp(-MOST, MOST) as f32);
        }
    }
}

/// The sums `Σ x·w` of all hidden units, for weights stored by features. Every unit's sum is in the order of
/// the entries, and products and sums are rounded one by one, whatever the register width.
#[inline(always)]
pub(crate) fn sums(weights: &[Lanes], entries: &[(u32, f32)], units: &mut [Lanes]) {
    let panels = units.len();
    for (panel, unit) in units.iter_mut().enumerate() {
        let mut sum = [0.0; LANES];
        for &(j, x) in entries {
            let weights = &weights[j as usize * panels + panel];
            for (sum, w) in sum.iter_mut().zip(weights) {
                *sum += x * w;
            }
        }
        *unit = sum;
    }
}
