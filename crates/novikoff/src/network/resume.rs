//! What a network's training needs to go on: its layers as they are learned, and Adam's moments.

use super::adam::Moments;
use super::step::Layers;
use super::{Targets, Training};
use crate::model::{LANES, Lanes, Network, panels};

/// Weights or moments of the first layer, the second, and the biases of the outputs, without what fills up
/// lanes.
pub(crate) type Parts<T> = [Vec<T>; 3];

/// Layers and moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrainingState {
    pub(crate) weights: Parts<f32>,
    pub(crate) means: Parts<f32>,
    pub(crate) squares: Parts<f32>,
    pub(crate) steps: Parts<u32>,
}

/// The sizes of [`Parts`]: numbers, and groups of them.
pub(crate) fn sizes(features: usize, hidden: usize, outputs: usize) -> ([usize; 3], [usize; 3]) {
    ([(features + 1) * hidden, outputs * hidden, outputs], [features + 1, outputs, 1])
}

/// Lanes without what fills them up, `width` numbers in each group.
fn packed(lanes: &[Lanes], width: usize) -> Vec<f32> {
    lanes.chunks_exact(panels(width)).flat_map(|group| &group.as_flattened()[..width]).copied().collect()
}

fn unpack(numbers: &[f32], width: usize, lanes: &mut [Lanes]) {
    for (group, numbers) in lanes.chunks_exact_mut(panels(width)).zip(numbers.chunks_exact(width)) {
        group.as_flattened_mut()[..width].copy_from_slice(numbers);
    }
}

impl Training<'_> {
    /// What going on from here takes.
    pub(super) fn state(&self) -> TrainingState {
        let Layers { hidden, outputs, first, second, bias, .. } = &self.layers;
        let widths = [*hidden, *hidden, *outputs];
        let of = |parts: [&Vec<Lanes>; 3]| {
            let [first, second, bias] = parts;
            [packed(first, widths[0]), packed(second, widths[1]), packed(bias, widths[2])]
        };
        let [a, b, c] = &self.moments;
        TrainingState {
            weights: of([first, second, bias]),
            means: of([&a.mean, &b.mean, &c.mean]),
            squares: of([&a.square, &b.square, &c.square]),
            steps: [a.steps.clone(), b.steps.clone(), c.steps.clone()],
        }
    }

    /// Goes on from a state, which has the right sizes.
    pub(super) fn resume(&mut self, state: &TrainingState) {
        let Layers { hidden, outputs, first, second, bias, .. } = &mut self.layers;
        let widths = [*hidden, *hidden, *outputs];
        let TrainingState { weights, means, squares, steps } = state;
        for (at, lanes) in [first, second, bias].into_iter().enumerate() {
            unpack(&weights[at], widths[at], lanes);
        }
        for (at, Moments { mean, square, steps: own }) in self.moments.iter_mut().enumerate() {
            unpack(&means[at], widths[at], mean);
            unpack(&squares[at], widths[at], square);
            own.copy_from_slice(&steps[at]);
        }
    }

    /// Begins with the weights of a network: output o is that of `sources[o]` times a factor, where it is one
    /// of the network's.
    pub(super) fn begin_with(&mut self, network: &Network, sources: &[Option<(usize, f64)>]) {
        let (middle, spread) = match &self.objective.targets {
            Targets::Classes(..) => (0.0, 1.0),
            Targets::Numbers(targets) => (targets.middle, targets.spread),
        };
        let Layers { hidden, first, second, bias, .. } = &mut self.layers;
        let (hidden, width) = (*hidden, panels(*hidden));
        let columns = first.len() / width - 1;
        for feature in 0..network.features().min(columns) {
            unpack(network.weights_of(feature), hidden, &mut first[feature * width..][..width]);
        }
        unpack(network.weights_of(network.features()), hidden, &mut first[columns * width..]);
        for (output, &(from, factor)) in
            sources.iter().enumerate().filter_map(|(o, it)| Some((o, it.as_ref()?)))
        {
            let own: Vec<f32> = network.second[from * hidden..][..hidden]
                .iter()
                .map(|w| (factor * w / spread) as f32)
                .collect();
            unpack(&own, hidden, &mut second[output * width..][..width]);
            bias[output / LANES][output % LANES] = ((factor * network.bias[from] - middle) / spread) as f32;
        }
    }
}
