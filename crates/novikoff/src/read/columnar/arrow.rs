//! Batches of Arrow's files and streams. A file holds a stream behind its magic bytes, and is read as such.

use super::Spec;
use super::batches::{Content, Opened, columns, damaged, number, places};
use crate::error::{Error, Result};
use crate::memory::Estimate;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::{RecordBatch as Message, root_as_message};
use std::io::{self, Read};

/// What a file starts with, and the first version of Feather.
const MAGIC: &[u8] = b"ARROW1\0\0";
const FEATHER: &[u8] = b"FEA1";

/// Opens a file, from a row on.
pub(super) fn open(content: &Content, spec: &Spec, from: u64) -> Result<Opened> {
    let start = start_of_stream(content)?;
    if from == 0 {
        check_sizes(content, start, spec)?;
    }
    let fail = |error: arrow_schema::ArrowError| damaged(spec, error);
    let stream = |columns| StreamReader::try_new(content.from(start)?, columns);
    let schema = stream(None).map_err(fail)?.schema();
    let (names, wanted) = columns(&schema, spec)?;
    let batches = stream(Some(places(&wanted))).map_err(fail)?;
    let own = spec.clone();
    let batches = batches.map(move |batch| batch.map_err(|error| damaged(&own, error)));
    let mut before = from;
    let batches = batches.filter_map(move |batch| behind(&mut before, batch));
    Ok(Opened { names, wanted, rows: None, batches: Box::new(batches) })
}

/// What is left of a batch behind so many rows.
fn behind(rows: &mut u64, batch: Result<RecordBatch>) -> Option<Result<RecordBatch>> {
    let Ok(batch) = batch else { return Some(batch) };
    let skipped = (*rows).min(batch.num_rows() as u64);
    *rows -= skipped;
    let skipped = skipped as usize;
    (skipped < batch.num_rows()).then(|| Ok(batch.slice(skipped, batch.num_rows() - skipped)))
}

/// Where the stream starts: behind the magic bytes of a file, and the zeros that fill them up.
fn start_of_stream(content: &Content) -> Result<u64> {
    /// Most bytes to which the start is filled up, eight at a time.
    const ALIGNED: u64 = 1 << 10;
    let mut start = Vec::new();
    let read = content.from(0).and_then(|reader| reader.take(ALIGNED).read_to_end(&mut start));
    read.map_err(|error| Error::input(error.to_string()))?;
    if start.starts_with(FEATHER) {
        let error = Error::input("this is version 1 of Feather, and version 2 can be read");
        return Err(error.hint("write it again: pyarrow.feather.write_feather(table, FILE)"));
    }
    let Some(behind) = start.strip_prefix(MAGIC) else { return Ok(0) };
    let zeros = behind.iter().take_while(|byte| **byte == 0).count();
    Ok((MAGIC.len() + zeros / 8 * 8) as u64)
}

/// Refuses buffers that claim to need more memory than there is once they are decompressed: the decoder
/// believes them.
fn check_sizes(content: &Content, start: u64, spec: &Spec) -> Result<()> {
    let fail = |error: io::Error| damaged(spec, error);
    let mut at = start;
    loop {
        let Some((length, skipped)) = message_length(content, at).map_err(fail)? else { return Ok(()) };
        let metadata = exactly(content, at + skipped, length).map_err(fail)?;
        // What is no message is for the decoder to complain about.
        let Ok(message) = root_as_message(&metadata) else { return Ok(()) };
        let body = at + skipped + length;
        let batch = message.header_as_record_batch();
        let batch = batch.or_else(|| message.header_as_dictionary_batch().and_then(|it| it.data()));
        if let Some(batch) = batch.filter(|batch| batch.compression().is_some()) {
            check_buffers(content, body, batch, spec)?;
        }
        let Some(next) = u64::try_from(message.bodyLength()).ok().and_then(|it| body.checked_add(it)) else {
            return Ok(());
        };
        at = next;
    }
}

fn check_buffers(content: &Content, body: u64, batch: Message<'_>, spec: &Spec) -> Result<()> {
    for buffer in batch.buffers().into_iter().flatten() {
        let Some(at) = u64::try_from(buffer.offset()).ok().and_then(|offset| body.checked_add(offset)) else {
            continue;
        };
        let Ok(prefix) = exactly(content, at, 8) else { continue };
        let claimed = number(&prefix).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        Estimate::default()
            .with("a column of a batch", &[(claimed, "bytes")])
            .check("this file", spec.memory)
            .map_err(|error| error.hint("write it with smaller batches; `memory = SIZE` allows more"))?;
    }
    Ok(())
}

/// The length of the metadata of the message that starts here, and the bytes before them; `None` at the end.
fn message_length(content: &Content, at: u64) -> io::Result<Option<(u64, u64)>> {
    if at.saturating_add(4) > content.size() {
        return Ok(None);
    }
    let word = |at: u64| {
        let bytes = exactly(content, at, 4)?;
        Ok::<i32, io::Error>(bytes.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes)))
    };
    let (length, skipped) = match word(at)? {
        -1 => (word(at + 4)?, 8),
        length => (length, 4),
    };
    Ok(u64::try_from(length).ok().filter(|length| *length > 0).map(|length| (length, skipped)))
}

/// So many bytes of a file, if they are there.
fn exactly(content: &Content, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    content.from(at)?.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
