//! Calibrations as tensors.

use super::super::{Calibration, Isotonic, Platt};
use super::metadata::Metadata;
use super::tensors::{Numbers, Tensor, Tensors};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Logistic,
    Softmax,
    Platt,
    Isotonic,
}

/// The tensors of a calibration.
pub(super) fn tensors(calibration: &Calibration) -> Vec<Tensor<'_>> {
    match calibration {
        Calibration::Logistic | Calibration::Softmax => Vec::new(),
        Calibration::Platt(all) => {
            let numbers = all.iter().flat_map(|platt| [platt.a, platt.b]).collect();
            vec![Tensor::grid("platt", 2, Numbers::F64(Cow::Owned(numbers)))]
        }
        Calibration::Isotonic(all) => {
            let ends = all.iter().scan(0, |end, steps| {
                *end += steps.scores.len() as u64;
                Some(*end)
            });
            vec![
                Tensor::list(
                    "isotonic_scores",
                    Numbers::F64(all.iter().flat_map(|steps| &steps.scores).copied().collect()),
                ),
                Tensor::list(
                    "isotonic_values",
                    Numbers::F64(all.iter().flat_map(|steps| &steps.values).copied().collect()),
                ),
                Tensor::list("isotonic_ends", Numbers::U64(ends.collect())),
            ]
        }
    }
}

/// The calibration of a model with so many outputs, if the file has one.
pub(super) fn read(
    metadata: &mut Metadata,
    tensors: &mut Tensors<'_>,
    outputs: usize,
) -> Result<Option<Calibration>> {
    Ok(match metadata.take_word_if_there("probabilities")? {
        None => None,
        Some(Kind::Logistic) => Some(Calibration::Logistic),
        Some(Kind::Softmax) => Some(Calibration::Softmax),
        Some(Kind::Platt) => {
            let numbers = tensors.shaped::<f64>("platt", &[outputs, 2])?;
            Some(Calibration::Platt(
                numbers.chunks_exact(2).map(|pair| Platt { a: pair[0], b: pair[1] }).collect(),
            ))
        }
        Some(Kind::Isotonic) => Some(Calibration::Isotonic(read_isotonic(tensors, outputs)?)),
    })
}

fn read_isotonic(tensors: &mut Tensors<'_>, outputs: usize) -> Result<Vec<Isotonic>> {
    let scores = tensors.list::<f64>("isotonic_scores")?;
    let values = tensors.shaped::<f64>("isotonic_values", &[scores.len()])?;
    let ends = tensors.shaped::<u64>("isotonic_ends", &[outputs])?;
    let refuse = || Error::input("the tensor `isotonic_ends` does not say where each output's points end");
    if ends.last().copied() != Some(scores.len() as u64) {
        return Err(refuse());
    }
    let mut start = 0;
    let mut all = Vec::with_capacity(outputs);
    for end in ends {
        let end = usize::try_from(end).map_err(|_| refuse())?;
        let (scores, values) =
            (scores.get(start..end).ok_or_else(refuse)?, values.get(start..end).ok_or_else(refuse)?);
        all.push(Isotonic { scores: scores.to_vec(), values: values.to_vec() });
        start = end;
    }
    Ok(all)
}
