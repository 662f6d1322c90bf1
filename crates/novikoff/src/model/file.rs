//! The model's file: safetensors with typed metadata and a checksum over everything. `docs/model-format.md`
//! says what is in it.
//!
//! A file is data from outside. Its checksum is compared first, then version, layout and limits, and only
//! then is memory beyond its own length asked for. What is written passes the same checks as what is read, so
//! that a file once written can be read again.

mod buffer;
mod calibration;
mod centres;
mod check;
mod metadata;
mod network;
mod schema;
mod scorers;
mod seal;
mod state;
mod tensors;

use self::buffer::Buffer;
use super::{Model, atomic};
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The version of the format that this code writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Writes a model to a file, whole or not at all.
///
/// The same model gives the same bytes.
pub fn save(model: &Model, path: &Path) -> Result<()> {
    let sealed = sealed(model).map_err(|error| error.at(path.display().to_string(), 0, 0))?;
    atomic::write_with(path, |file| sealed.write(file))
}

/// Reads a model from a file.
pub fn load(path: &Path) -> Result<Model> {
    load_with_checksum(path).map(|(model, _)| model)
}

/// Reads a model from a file, and the file's checksum.
pub fn load_with_checksum(path: &Path) -> Result<(Model, String)> {
    let name = path.display().to_string();
    let buffer = read(path, &name)?;
    let checksum = checksum(buffer.bytes());
    Ok((parse(buffer).map_err(|error| error.at(name, 0, 0))?, checksum))
}

/// The checksum of a model's file with these bytes: a hash of all of it, which it carries itself.
pub fn checksum(bytes: &[u8]) -> String {
    format!("blake3:{}", seal::digits(bytes))
}

/// Whether the file of a model starts with these bytes, of which 64 are enough; the rest of it may be
/// damaged.
pub fn is_model(start: &[u8]) -> bool {
    seal::starts_model(start)
}

/// The checksum that the file of a model has.
pub fn checksum_of(model: &Model) -> Result<String> {
    Ok(format!("blake3:{}", sealed(model)?.digits()))
}

/// The bytes of a model's file.
pub fn to_bytes(model: &Model) -> Result<Vec<u8>> {
    let sealed = sealed(model)?;
    let mut bytes = Vec::new();
    let length = sealed.len();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| refused(format!("there is no memory for its {length} bytes")))?;
    sealed.write(&mut bytes).map_err(|error| refused(error.to_string()))?;
    Ok(bytes)
}

fn refused(what: String) -> Error {
    Error::input(format!("this model cannot be saved: {what}"))
}

/// What a model's file has in it, once it is sure that it can be read again.
fn sealed(model: &Model) -> Result<seal::Sealed<'_>> {
    check::model(model).map_err(refused)?;
    let metadata = metadata::write(model).map_err(refused)?;
    let mut tensors = scorers::tensors(&model.scorer);
    tensors.extend(schema::tensors(&model.schema));
    tensors.extend(model.probabilities.iter().flat_map(calibration::tensors));
    tensors.extend(model.state.iter().flat_map(state::tensors));
    let sealed = seal::Sealed::new(&metadata, tensors).map_err(refused)?;
    check::room(model, sealed.len()).map_err(refused)?;
    Ok(sealed)
}

/// The model of a file with these bytes; `name` is what errors call the file.
pub fn from_bytes(mut bytes: &[u8], name: &str) -> Result<Model> {
    let length = bytes.len();
    let fail = |error: Error| error.at(name, 0, 0);
    let mut buffer = Buffer::with_room(length).ok_or_else(|| fail(no_memory(length as u64)))?;
    buffer.read(&mut bytes, length).map_err(|error| Error::io(name, &error))?;
    parse(buffer).map_err(fail)
}

fn no_memory(length: u64) -> Error {
    Error::input(format!("there is no memory for its {length} bytes"))
}

fn parse(buffer: Buffer) -> Result<Model> {
    let bytes = buffer.bytes();
    let header = seal::open(bytes)?;
    let mut metadata = metadata::Metadata::read(header)?;
    metadata.check_version()?;
    let mut tensors = tensors::Tensors::read(bytes, header)?;
    let about = metadata.about()?;
    let labels = metadata.labels()?;
    let schema = schema::read(metadata.schema()?, &mut tensors, bytes.len())?;
    let scorer = scorers::read(&mut metadata, &mut tensors, &about, labels.len(), bytes.len())?;
    let probabilities = calibration::read(&mut metadata, &mut tensors, scorer.outputs())?;
    let state = metadata.state()?.map(|entry| state::read(entry, &mut tensors, bytes.len())).transpose()?;
    metadata.finish()?;
    let left = tensors.finish()?;
    let mut model = Model { about, labels, schema, scorer, probabilities, state };
    if let (Some(place), Some(weights)) = (left, scorers::weights_of(&mut model.scorer)) {
        weights.values = buffer.into_numbers(place);
    }
    check::model(&model).map_err(Error::input)?;
    Ok(model)
}

/// Enough of a file to see whether the rest is worth reading.
const HEAD: u64 = 4096;

/// The bytes of a file that starts as a model's file does.
fn read(path: &Path, name: &str) -> Result<Buffer> {
    let fail = |error: &std::io::Error| Error::io(name, error);
    // Asked before it is opened: opening a pipe would wait for somebody to write to it.
    let found = fs::metadata(path).map_err(|error| fail(&error))?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(Error::input(format!("this is {what}, not a model's file")).at(name, 0, 0));
    }
    let mut file = File::open(path).map_err(|error| fail(&error))?;
    let length = file.metadata().map_err(|error| fail(&error))?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(|error| fail(&error))?;
    seal::screen(&head, length).map_err(|error| error.at(name, 0, 0))?;
    let no_memory = || no_memory(length).at(name, 0, 0);
    let length = usize::try_from(length).map_err(|_| no_memory())?;
    let mut buffer = Buffer::with_room(length).ok_or_else(no_memory)?;
    buffer.read(&mut head.as_slice().chain(file), length).map_err(|error| fail(&error))?;
    Ok(buffer)
}
