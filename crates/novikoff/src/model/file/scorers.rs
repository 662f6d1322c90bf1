//! Scorers as tensors.

use super::super::{About, Clipped, Expansion, Mapped, Mistake, Scorer, Voted, Weights};
use super::metadata::{Layout, Metadata};
use super::network;
use super::tensors::{Numbers, Tensor, Tensors};
use super::{centres, check};
use crate::data::Matrix;
use crate::data::matrix::Values;
use crate::error::{Error, Result};
use crate::features::map::{Map, Mapper};
use crate::multiclass::Scheme;
use rayon::prelude::*;
use safetensors::Dtype;
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Linear,
    Presence,
    Clipped,
    Kernel,
    Voted,
    Network,
}

/// The tensors of a model's scorer.
pub(super) fn tensors(scorer: &Scorer) -> Vec<Tensor<'_>> {
    match scorer {
        Scorer::Linear(weights) | Scorer::Presence(weights) => linear_tensors(weights),
        Scorer::Clipped(clipped) => linear_tensors(&clipped.weights),
        Scorer::Kernel(expansion) => kernel_tensors(expansion),
        Scorer::Voted(voted) => voted_tensors(voted),
        Scorer::Network(network) => network::tensors(network),
        Scorer::Mapped(mapped) => tensors(&mapped.scorer),
    }
}

/// The weights of a linear scorer.
pub(super) fn weights_of(scorer: &mut Scorer) -> Option<&mut Weights> {
    match scorer {
        Scorer::Linear(weights) | Scorer::Presence(weights) => Some(weights),
        Scorer::Clipped(clipped) => Some(&mut clipped.weights),
        Scorer::Mapped(mapped) => weights_of(&mut mapped.scorer),
        Scorer::Kernel(_) | Scorer::Voted(_) | Scorer::Network(_) => None,
    }
}

/// The scorer of a file of `file_bytes` bytes. Weights may have been left where they are.
pub(super) fn read(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    about: &About,
    classes: usize,
    file_bytes: usize,
) -> Result<Scorer> {
    let features =
        usize::try_from(about.features).map_err(|_| Error::input("too many features for this machine"))?;
    let Some(map) = metadata.map()? else {
        return read_as_given(metadata, tensors, features, classes, file_bytes);
    };
    if let Map::Fourier { count, .. } = map {
        let half = count as usize / 2;
        check::expansion("its map", features, half, size_of::<f64>(), file_bytes).map_err(Error::input)?;
    }
    let mapper = Mapper::new(map, features).map_err(|error| Error::input(error.what()))?;
    let scorer = Box::new(read_as_given(metadata, tensors, mapper.features(), classes, file_bytes)?);
    Ok(Scorer::Mapped(Mapped { mapper, scorer }))
}

/// What scores rows of so many features.
fn read_as_given(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    features: usize,
    classes: usize,
    file_bytes: usize,
) -> Result<Scorer> {
    match metadata.take_word("scorer")? {
        Kind::Linear => read_linear(tensors, features, classes, file_bytes).map(Scorer::Linear),
        Kind::Presence => read_linear(tensors, features, classes, file_bytes).map(Scorer::Presence),
        Kind::Clipped => {
            let (least, most) = (metadata.take_number("least")?, metadata.take_number("most")?);
            let weights = read_linear(tensors, features, classes, file_bytes)?;
            Ok(Scorer::Clipped(Clipped { weights, least, most }))
        }
        Kind::Kernel => read_kernel(metadata, tensors, features, classes, file_bytes).map(Scorer::Kernel),
        Kind::Voted if classes == 0 => Err(Error::input(check::VOTES_FOR_NUMBERS)),
        Kind::Voted => read_voted(metadata, tensors, features, classes, file_bytes).map(Scorer::Voted),
        Kind::Network => network::read(metadata, tensors, features, classes, file_bytes).map(Scorer::Network),
    }
}

/// Zeros are told apart by their bits, so that a negative zero comes back as one.
fn is_zero(x: f64) -> bool {
    x.to_bits() == 0
}

/// The features that have a weight.
fn weighty(weights: &Weights) -> Vec<u32> {
    /// Features that one task goes through.
    const TASK: usize = 1 << 16;
    let outputs = weights.outputs();
    let part = |(task, values): (usize, &[f64])| weighty_from((task * TASK) as u32, values, outputs);
    let parts: Vec<Vec<u32>> = weights.values.par_chunks(TASK * outputs).enumerate().map(part).collect();
    parts.concat()
}

/// The features from `first` on that have a weight.
fn weighty_from(first: u32, values: &[f64], outputs: usize) -> Vec<u32> {
    /// So many are compared with zero at once: of what is hashed, most are nothing.
    const RUN: usize = 64;
    let all_zero = |values: &[f64]| values.iter().fold(true, |all, &w| all & is_zero(w));
    let mut weighty = Vec::new();
    for (run, values) in values.chunks(RUN * outputs).enumerate().filter(|(_, values)| !all_zero(values)) {
        let features = (first + (run * RUN) as u32..).zip(values.chunks_exact(outputs));
        weighty.extend(features.filter(|(_, block)| !all_zero(block)).map(|(feature, _)| feature));
    }
    weighty
}

fn linear_tensors(weights: &Weights) -> Vec<Tensor<'_>> {
    let outputs = weights.outputs();
    let indices = weighty(weights);
    let dense_bytes = weights.values.len() * size_of::<f64>();
    let sparse_bytes = indices.len() * (size_of::<u32>() + outputs * size_of::<f64>());
    let mut tensors = vec![Tensor::list("bias", Numbers::F64(Cow::Borrowed(&weights.bias)))];
    if !weights.spreads.is_empty() {
        tensors.push(Tensor::list("feature_spreads", Numbers::F32(weights.spreads.clone())));
    }
    // Where hardly anything is left of something huge, the reader could not tell it from an attack on its
    // memory.
    if sparse_bytes >= dense_bytes
        || !check::has_room(weights.features(), outputs, size_of::<f64>(), sparse_bytes)
    {
        tensors.push(Tensor::grid("weights", outputs, Numbers::F64(Cow::Borrowed(&weights.values))));
        return tensors;
    }
    let block = |&j: &u32| &weights.values[j as usize * outputs..(j as usize + 1) * outputs];
    let values = indices.iter().flat_map(block).copied().collect();
    tensors.push(Tensor::list("weight_indices", Numbers::U32(indices)));
    tensors.push(Tensor::grid("weight_values", outputs, Numbers::F64(values)));
    tensors
}

fn read_linear(
    tensors: &mut Tensors<'_>,
    features: usize,
    classes: usize,
    file_bytes: usize,
) -> Result<Weights> {
    let bias = tensors.list::<f64>("bias")?;
    let outputs = bias.len();
    check::outputs(outputs, classes).map_err(Error::input)?;
    let spreads = match tensors.dtype("feature_spreads") {
        Some(_) => tensors.shaped::<f32>("feature_spreads", &[features])?,
        None => Vec::new(),
    };
    if tensors.dtype("weights").is_some() {
        let mut weights = Weights::zero(0, outputs);
        weights.spreads = spreads;
        // If they are left as they lie, they come when nobody else looks at the file.
        weights.values = tensors.shaped_unless_left("weights", &[features, outputs])?;
        weights.bias = bias;
        return Ok(weights);
    }
    check::expansion("its weights", features, outputs, size_of::<f64>(), file_bytes).map_err(Error::input)?;
    let indices = tensors.list::<u32>("weight_indices")?;
    let values = tensors.shaped::<f64>("weight_values", &[indices.len(), outputs])?;
    if !indices.is_sorted_by(|a, b| a < b) {
        return Err(Error::input("the tensor `weight_indices` does not increase strictly"));
    }
    if indices.last().is_some_and(|&last| last as usize >= features) {
        return Err(Error::input(format!(
            "the tensor `weight_indices` has an index beyond the {features} features"
        )));
    }
    let mut weights = Weights::zero(features, outputs);
    weights.spreads = spreads;
    for (&feature, block) in indices.iter().zip(values.chunks_exact(outputs)) {
        weights.values[feature as usize * outputs..][..outputs].copy_from_slice(block);
    }
    weights.bias = bias;
    Ok(weights)
}

/// The tensors of rows that a model is made of.
fn row_tensors<'a>(rows: &'a Matrix<'a>) -> Vec<Tensor<'a>> {
    let (starts, indices, values) = compressed(rows);
    vec![
        Tensor::list("row_starts", Numbers::U64(starts)),
        Tensor::list("row_indices", Numbers::U32(indices)),
        Tensor::list("row_values", values),
    ]
}

fn kernel_tensors(expansion: &Expansion) -> Vec<Tensor<'_>> {
    let coefficients = Numbers::F64(Cow::Borrowed(&expansion.coefficients));
    let mut tensors = row_tensors(&expansion.rows);
    tensors.push(Tensor::grid("coefficients", expansion.outputs, coefficients));
    tensors
}

fn voted_tensors(voted: &Voted) -> Vec<Tensor<'_>> {
    let field = |name, of: fn(&Mistake) -> u32| {
        Tensor::list(name, Numbers::U32(voted.mistakes.iter().map(of).collect()))
    };
    let real = |name, of: fn(&Mistake) -> f64| {
        Tensor::list(name, Numbers::F64(voted.mistakes.iter().map(of).collect()))
    };
    let mut tensors = row_tensors(&voted.rows);
    tensors.extend([
        field("mistake_row", |mistake| mistake.row),
        field("mistake_gains", |mistake| mistake.gains),
        field("mistake_loses", |mistake| mistake.loses),
        real("mistake_step", |mistake| mistake.step),
        real("mistake_round", |mistake| mistake.round),
        Tensor::list("rounds", Numbers::F64(Cow::Owned(vec![voted.rounds]))),
    ]);
    tensors.extend(centres::tensors(&voted.centres));
    tensors
}

/// The rows without the zeros that a dense layout stores.
fn compressed(rows: &Matrix) -> (Vec<u64>, Vec<u32>, Numbers<'static>) {
    let width = if rows.is_single() { size_of::<f32>() } else { size_of::<f64>() };
    let least_bytes = rows.nonzeros() * (size_of::<u32>() + width);
    let leave_zeros_out = rows.is_dense() && check::has_room(rows.rows(), rows.columns(), width, least_bytes);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.rows() {
        rows.row(i).for_each_stored(|j, x| {
            if !(leave_zeros_out && is_zero(x)) {
                indices.push(j);
                values.push(x);
            }
        });
        starts.push(indices.len() as u64);
    }
    let values = match rows.is_single() {
        true => Numbers::F32(values.into_iter().map(|x| x as f32).collect()),
        false => Numbers::F64(Cow::Owned(values)),
    };
    (starts, indices, values)
}

fn read_voted(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    features: usize,
    classes: usize,
    file_bytes: usize,
) -> Result<Voted> {
    check::scoring_room(features, file_bytes).map_err(Error::input)?;
    let scheme: Scheme = metadata.take_word("scheme")?;
    let (kernel, precision) = metadata.kernel_if_there()?.unwrap_or_default();
    let bias = metadata.take_number("bias_coordinate")?;
    let rows = read_rows(metadata.take_word("row_layout")?, tensors, features, file_bytes)?;
    let mistakes = read_mistakes(tensors)?;
    let rounds = tensors.shaped::<f64>("rounds", &[1])?[0];
    let centres = centres::read(tensors)?;
    Ok(Voted { scheme, classes, kernel, precision, bias, centres, rows, mistakes, rounds })
}

fn read_kernel(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    features: usize,
    classes: usize,
    file_bytes: usize,
) -> Result<Expansion> {
    check::scoring_room(features, file_bytes).map_err(Error::input)?;
    let Some((kernel, precision)) = metadata.kernel_if_there()? else {
        return Err(Error::input("the metadata has no `kernel`"));
    };
    let bias = metadata.take_number("bias_coordinate")?;
    let rows = read_rows(metadata.take_word("row_layout")?, tensors, features, file_bytes)?;
    let outputs = tensors.columns("coefficients")?;
    check::outputs(outputs, classes).map_err(Error::input)?;
    let coefficients = tensors.shaped::<f64>("coefficients", &[rows.rows(), outputs])?;
    Ok(Expansion { kernel, precision, bias, rows, outputs, coefficients })
}

fn read_rows(
    layout: Layout,
    tensors: &mut Tensors<'_>,
    columns: usize,
    file_bytes: usize,
) -> Result<Matrix<'static>> {
    let starts = tensors.list::<u64>("row_starts")?;
    let starts: std::result::Result<Vec<usize>, _> = starts.into_iter().map(usize::try_from).collect();
    let starts = starts.map_err(|_| Error::input("the tensor `row_starts` has a start beyond all memory"))?;
    let indices = tensors.list::<u32>("row_indices")?;
    let (values, width) = match tensors.dtype("row_values") {
        Some(Dtype::F32) => (Values::from(tensors.list::<f32>("row_values")?), size_of::<f32>()),
        _ => (Values::from(tensors.list::<f64>("row_values")?), size_of::<f64>()),
    };
    let rows = Matrix::from_compressed(columns, starts, indices, values)
        .map_err(|what| Error::input(format!("its rows do not fit together: {what}")))?;
    if layout == Layout::Sparse {
        return Ok(rows);
    }
    check::expansion("its rows", rows.rows(), columns, width, file_bytes).map_err(Error::input)?;
    Ok(rows.into_dense())
}

fn read_mistakes(tensors: &mut Tensors<'_>) -> Result<Vec<Mistake>> {
    let row = tensors.list::<u32>("mistake_row")?;
    let count = [row.len()];
    let gains = tensors.shaped::<u32>("mistake_gains", &count)?;
    let loses = tensors.shaped::<u32>("mistake_loses", &count)?;
    let step = tensors.shaped::<f64>("mistake_step", &count)?;
    let round = tensors.shaped::<f64>("mistake_round", &count)?;
    let mistake =
        |i: usize| Mistake { row: row[i], gains: gains[i], loses: loses[i], step: step[i], round: round[i] };
    Ok((0..row.len()).map(mistake).collect())
}
