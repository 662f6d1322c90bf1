//! Networks as tensors.

use super::super::{Activation, LANES, Network, panels};
use super::metadata::Metadata;
use super::tensors::{Numbers, Tensor, Tensors};
use super::{centres, check};
use crate::error::{Error, Result};
use std::borrow::Cow;

/// A feature's weights without the units of weight zero that fill up its lanes.
fn weights(network: &Network) -> Vec<f32> {
    let features = 0..network.features();
    features.flat_map(|feature| network.weights_of(feature)).copied().collect()
}

pub(super) fn tensors(network: &Network) -> Vec<Tensor<'_>> {
    let mut tensors = vec![
        Tensor::list("input_scales", Numbers::F64(Cow::Borrowed(&network.scales))),
        Tensor::grid("hidden_weights", network.hidden(), Numbers::F32(weights(network))),
        Tensor::list("hidden_bias", Numbers::F32(network.weights_of(network.features()).to_vec())),
        Tensor::grid("output_weights", network.hidden(), Numbers::F64(Cow::Borrowed(&network.second))),
        Tensor::list("output_bias", Numbers::F64(Cow::Borrowed(&network.bias))),
    ];
    tensors.extend(centres::tensors(&network.centres));
    tensors
}

/// The network of a file of `file_bytes` bytes. In memory units come in full lanes, so few of them may take
/// more than here.
pub(super) fn read(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    features: usize,
    classes: usize,
    file_bytes: usize,
) -> Result<Network> {
    let activation: Activation = metadata.take_word("activation")?;
    let bias = tensors.list::<f64>("output_bias")?;
    let outputs = bias.len();
    check::outputs(outputs, classes).map_err(Error::input)?;
    let hidden_bias = tensors.list::<f32>("hidden_bias")?;
    let hidden = hidden_bias.len();
    if hidden == 0 {
        return Err(Error::input("its hidden layer has no units"));
    }
    let weights = tensors.shaped::<f32>("hidden_weights", &[features, hidden])?;
    let scales = tensors.shaped::<f64>("input_scales", &[features])?;
    let second = tensors.shaped::<f64>("output_weights", &[outputs, hidden])?;
    let width = panels(hidden) * LANES * size_of::<f32>();
    check::expansion("its hidden layer", features.saturating_add(1), 1, width, file_bytes)
        .map_err(Error::input)?;
    let mut network = Network::zero(features, hidden, outputs, activation);
    for (feature, weights) in weights.chunks_exact(hidden).chain([&hidden_bias[..]]).enumerate() {
        network.weights_of_mut(feature).copy_from_slice(weights);
    }
    (network.scales, network.second, network.bias) = (scales, second, bias);
    network.centres = centres::read(tensors)?;
    Ok(network)
}
