//! What learning needs to go on, as metadata and tensors.

use super::super::state::{MOST_COUNTED, State, StateKind, StateNumbers};
use super::check;
use super::tensors::{Numbers, Tensor, Tensors};
use crate::error::{Error, Result};
use safetensors::Dtype;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A state as the metadata tells it; its numbers are tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    kind: StateKind,
    counts: BTreeMap<String, u64>,
    texts: BTreeMap<String, String>,
    /// How many numbers there are where the file leaves out zeros.
    lengths: BTreeMap<String, u64>,
}

/// What the names of a state's tensors begin with.
const PREFIX: &str = "state.";
/// What the names of the indices of numbers that are not zero end with.
const INDICES: &str = ".indices";

fn tensor_name(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Whether most of the numbers are zeros, which are left out. Zeros are told apart by their bits.
fn sparse_count(numbers: &StateNumbers) -> Option<usize> {
    let StateNumbers::F64(numbers) = numbers else { return None };
    let kept = numbers.iter().filter(|x| x.to_bits() != 0).count();
    let (sparse, dense) = (kept * (size_of::<u32>() + size_of::<f64>()), numbers.len() * size_of::<f64>());
    let fits =
        u32::try_from(numbers.len()).is_ok() && check::has_room(numbers.len(), 1, size_of::<f64>(), sparse);
    (sparse < dense && fits).then_some(kept)
}

pub(super) fn entry(state: &State) -> Entry {
    let State { kind, counts, texts, numbers } = state;
    let is_sparse = numbers.iter().filter(|(_, numbers)| sparse_count(numbers).is_some());
    let lengths = is_sparse.map(|(name, numbers)| (name.clone(), numbers.len() as u64)).collect();
    Entry { kind: *kind, counts: counts.clone(), texts: texts.clone(), lengths }
}

pub(super) fn tensors(state: &State) -> Vec<Tensor<'_>> {
    state.numbers.iter().flat_map(|(name, numbers)| tensors_of(name, numbers)).collect()
}

fn tensors_of<'a>(name: &str, numbers: &'a StateNumbers) -> Vec<Tensor<'a>> {
    let list = |numbers| vec![Tensor::named(tensor_name(name), numbers)];
    match numbers {
        StateNumbers::F64(all) => match sparse_count(numbers) {
            None => list(Numbers::F64(Cow::Borrowed(all))),
            Some(kept) => {
                let (mut indices, mut values) = (Vec::with_capacity(kept), Vec::with_capacity(kept));
                for (at, x) in all.iter().enumerate().filter(|(_, x)| x.to_bits() != 0) {
                    indices.push(at as u32);
                    values.push(*x);
                }
                let mut tensors = list(Numbers::F64(Cow::Owned(values)));
                tensors.push(Tensor::named(tensor_name(name) + INDICES, Numbers::U32(indices)));
                tensors
            }
        },
        StateNumbers::F32(all) => list(Numbers::F32(all.clone())),
        StateNumbers::U64(all) => list(Numbers::U64(all.clone())),
        StateNumbers::U32(all) => list(Numbers::U32(all.clone())),
        StateNumbers::U8(all) => list(Numbers::U8(all.clone())),
    }
}

/// The state of a file of `file_bytes` bytes.
pub(super) fn read(entry: Entry, tensors: &mut Tensors<'_>, file_bytes: usize) -> Result<State> {
    let Entry { kind, counts, texts, mut lengths } = entry;
    if let Some((name, count)) = counts.iter().find(|(_, count)| **count > MOST_COUNTED) {
        return Err(Error::input(format!(
            "the state's `{name}` is {count}, more than can be counted on from"
        )));
    }
    let names: Vec<String> =
        tensors.names().filter_map(|name| name.strip_prefix(PREFIX)).map(str::to_owned).collect();
    let mut numbers = BTreeMap::new();
    // A sparse list's indices are taken with it: their name comes after its own.
    for name in names {
        if name.ends_with(INDICES) {
            continue;
        }
        let read = match lengths.remove(&name) {
            Some(length) => StateNumbers::F64(read_sparse(&name, length, tensors, file_bytes)?),
            None => read_list(&tensor_name(&name), tensors)?,
        };
        numbers.insert(name, read);
    }
    match lengths.into_keys().next() {
        Some(name) => Err(Error::input(format!("the state's numbers `{name}` are missing"))),
        None => Ok(State { kind, counts, texts, numbers }),
    }
}

fn read_list(name: &str, tensors: &mut Tensors<'_>) -> Result<StateNumbers> {
    Ok(match tensors.dtype(name) {
        Some(Dtype::F32) => StateNumbers::F32(tensors.list(name)?),
        Some(Dtype::U64) => StateNumbers::U64(tensors.list(name)?),
        Some(Dtype::U32) => StateNumbers::U32(tensors.list(name)?),
        Some(Dtype::U8) => StateNumbers::U8(tensors.list(name)?),
        _ => StateNumbers::F64(tensors.list(name)?),
    })
}

/// Numbers of which the file has those that are not zero.
fn read_sparse(name: &str, length: u64, tensors: &mut Tensors<'_>, file_bytes: usize) -> Result<Vec<f64>> {
    let refuse = |what: &str| Error::input(format!("the state's numbers `{name}` {what}"));
    let length = usize::try_from(length).map_err(|_| refuse("are too many for this machine"))?;
    check::expansion("its state", length, 1, size_of::<f64>(), file_bytes).map_err(Error::input)?;
    let indices = tensors.list::<u32>(&(tensor_name(name) + INDICES))?;
    let values = tensors.shaped::<f64>(&tensor_name(name), &[indices.len()])?;
    let in_order = indices.is_sorted_by(|a, b| a < b);
    if !in_order || indices.last().is_some_and(|&last| last as usize >= length) {
        return Err(refuse("have indices that do not increase, or lie outside"));
    }
    let mut numbers = vec![0.0; length];
    indices.iter().zip(values).for_each(|(&at, x)| numbers[at as usize] = x);
    Ok(numbers)
}

/// Whether all numbers are finite, and all counters leave room to count on.
pub(super) fn check(state: &State) -> std::result::Result<(), String> {
    let finite = |(name, numbers): (&String, &StateNumbers)| match numbers {
        StateNumbers::F64(all) if all.iter().any(|x| !x.is_finite()) => Some(name.clone()),
        StateNumbers::F32(all) if all.iter().any(|x| !x.is_finite()) => Some(name.clone()),
        _ => None,
    };
    if let Some(name) = state.numbers.iter().find_map(finite) {
        return Err(format!("the state's numbers `{name}` are not all finite"));
    }
    let counts = state.counts.iter().find(|(_, count)| **count > MOST_COUNTED);
    counts.map_or(Ok(()), |(name, count)| Err(format!("the state's `{name}` is {count}")))
}
