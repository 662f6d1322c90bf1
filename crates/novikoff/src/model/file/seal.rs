//! The outside of the file: length, header, data, and the checksum over all of it.
//!
//! The header starts with the same bytes always, so that the checksum's place is known before anything is
//! interpreted. It is the BLAKE3 hash of the file with the 64 digits of the checksum itself taken as `0`.

use super::tensors::Tensor;
use crate::error::{Error, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// Bytes of the number that says how long the header is.
const LENGTH: usize = 8;
const PREFIX: &[u8] = b"{\"__metadata__\":{\"checksum\":\"blake3:";
const DIGITS: usize = 64;
const DIGITS_AT: Range<usize> = LENGTH + PREFIX.len()..LENGTH + PREFIX.len() + DIGITS;
/// Longer headers are refused: the largest things in a header are the labels and the categories of a table.
const HEADER_LIMIT: u64 = 64 << 20;

/// A file that is ready to be written: its parts stay where they are, for a model may be most of what there
/// is in memory.
pub(super) struct Sealed<'a> {
    /// Length and header.
    head: Vec<u8>,
    tensors: Vec<Tensor<'a>>,
}

impl<'a> Sealed<'a> {
    /// The file of this metadata (besides the checksum) and these tensors.
    pub(super) fn new(
        metadata: &BTreeMap<&str, String>,
        mut tensors: Vec<Tensor<'a>>,
    ) -> std::result::Result<Self, String> {
        // Wide types first: then every tensor starts at a multiple of its width.
        tensors.sort_by(|a, b| b.width().cmp(&a.width()).then(a.name.cmp(&b.name)));
        let header = header(metadata, &tensors);
        if header.len() as u64 > HEADER_LIMIT {
            return Err(format!(
                "its header would be {} bytes long, of {HEADER_LIMIT} allowed",
                header.len()
            ));
        }
        let mut head = (header.len() as u64).to_le_bytes().to_vec();
        head.extend_from_slice(&header);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&head);
        for tensor in &tensors {
            hasher.update_rayon(&tensor.as_bytes());
        }
        head[DIGITS_AT].copy_from_slice(hasher.finalize().to_hex().as_bytes());
        Ok(Self { head, tensors })
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.tensors.iter().map(Tensor::bytes).sum::<usize>()
    }

    /// The digits of its checksum.
    pub(super) fn digits(&self) -> String {
        digits(&self.head)
    }

    /// Writes it.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.head)?;
        self.tensors.iter().try_for_each(|tensor| to.write_all(&tensor.as_bytes()))
    }
}

fn header(metadata: &BTreeMap<&str, String>, tensors: &[Tensor<'_>]) -> Vec<u8> {
    let mut header = PREFIX.to_vec();
    header.extend_from_slice(&[b'0'; DIGITS]);
    header.push(b'"');
    for (key, value) in metadata {
        header.extend_from_slice(format!(",{}:{}", json!(key), json!(value)).as_bytes());
    }
    header.push(b'}');
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.bytes();
        let (name, dtype, shape) = (json!(tensor.name), json!(tensor.dtype()), json!(tensor.shape));
        let info =
            format!(",{name}:{{\"dtype\":{dtype},\"shape\":{shape},\"data_offsets\":[{start},{end}]}}");
        header.extend_from_slice(info.as_bytes());
        start = end;
    }
    header.push(b'}');
    header.resize(header.len().next_multiple_of(LENGTH), b' ');
    header
}

fn checksum(bytes: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..DIGITS_AT.start]).update(&[b'0'; DIGITS]).update_rayon(&bytes[DIGITS_AT.end..]);
    hasher.finalize().to_hex().to_string()
}

/// The digits of the checksum that a file carries; nothing if it is too short to.
pub(super) fn digits(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(DIGITS_AT).unwrap_or_default()).into_owned()
}

/// The header of a file whose checksum is right.
pub(super) fn open(bytes: &[u8]) -> Result<&[u8]> {
    let length = screen(bytes, bytes.len() as u64)?;
    let found = checksum(bytes);
    if bytes[DIGITS_AT] != *found.as_bytes() {
        return Err(Error::input("the checksum is wrong: the file was damaged or changed")
            .hint("copy the file again from where it came, or train the model again"));
    }
    Ok(&bytes[LENGTH..LENGTH + length])
}

/// Whether the file of a model starts like this, whole or damaged.
pub(super) fn starts_model(head: &[u8]) -> bool {
    head.get(LENGTH..).is_some_and(|rest| rest.starts_with(PREFIX))
}

/// The length of the header of a file that starts with `head` and has `total` bytes, if it can be a model's
/// file.
pub(super) fn screen(head: &[u8], total: u64) -> Result<usize> {
    let Some((length, rest)) = head.split_first_chunk::<LENGTH>() else { return Err(foreign(head, total)) };
    let length = u64::from_le_bytes(*length);
    if !rest.starts_with(PREFIX) || head.len() < DIGITS_AT.end {
        return Err(foreign(head, total));
    }
    if length > HEADER_LIMIT {
        return Err(Error::input(format!("its header claims {length} bytes, of {HEADER_LIMIT} allowed")));
    }
    let end = LENGTH as u64 + length;
    if end > total {
        return Err(Error::input(format!(
            "the file was cut short: its header claims to end at byte {end}, the file has {total}"
        ))
        .hint("copy the file again from where it came"));
    }
    if end < DIGITS_AT.end as u64 {
        return Err(Error::input(format!("its header claims {length} bytes, too few for a checksum")));
    }
    Ok(length as usize)
}

/// Says what a file is that does not start as a model's file does.
fn foreign(head: &[u8], total: u64) -> Error {
    let contains = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    let claims = head.first_chunk().map_or(u64::MAX, |length| u64::from_le_bytes(*length));
    let is_safetensors = head.get(LENGTH) == Some(&b'{') && claims <= total.saturating_sub(LENGTH as u64);
    if head.is_empty() {
        Error::input("this file is empty")
    } else if is_safetensors && (contains(b"novikoff-model") || contains(PREFIX)) {
        Error::input(
            "this model's file has its checksum not where it should be: it was damaged, or written by \
             another program",
        )
    } else if is_safetensors {
        Error::input("this is a safetensors file, but not a novikoff model")
    } else {
        let told = Error::input("this is not a novikoff model: it is not even a safetensors file");
        match looks_like(head) {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}

fn looks_like(head: &[u8]) -> Option<&'static str> {
    const COMPRESSED: [&[u8]; 5] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"];
    if COMPRESSED.iter().any(|magic| head.starts_with(magic)) {
        return Some("it looks compressed: if there is a model in it, unpack it first");
    }
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..);
    head.iter().all(is_text).then_some("it looks like text: is it the data instead of the model?")
}
