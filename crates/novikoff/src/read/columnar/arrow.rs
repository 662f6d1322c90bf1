//! Batches of Arrow's files and streams.

use super::Spec;
use super::batches::{Content, Opened, columns, damaged, number, places};
use crate::error::{Error, Result};
use crate::memory::Estimate;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{Block, RecordBatch as Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, Read};

/// What a file starts and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What a file of the first version of Feather starts with.
const FEATHER: &[u8] = b"FEA1";

/// Opens a file, from a row on.
pub(super) fn open(content: &Content, spec: &Spec, from: u64) -> Result<Opened> {
    let start = exactly(content, 0, content.size().min(8)).map_err(|error| damaged(spec, error))?;
    if start.starts_with(FEATHER) {
        let error = Error::input("this is version 1 of Feather, and version 2 can be read");
        return Err(error.hint("write it again: pyarrow.feather.write_feather(table, FILE)"));
    }
    let is_file = start.starts_with(MAGIC);
    if from == 0 {
        if is_file { check_file(content, spec) } else { check_stream(content, spec) }?;
    }
    let fail = |error: ArrowError| damaged(spec, error);
    let read = if is_file { read_file } else { read_stream };
    let (names, wanted) = columns(&read(content, None).map_err(fail)?.0, spec)?;
    let (_, batches) = read(content, Some(places(&wanted))).map_err(fail)?;
    let (own, mut before) = (spec.clone(), from);
    let batches = batches.map(move |batch| batch.map_err(|error| damaged(&own, error)));
    let batches = batches.filter_map(move |batch| behind(&mut before, batch));
    Ok(Opened { names, wanted, rows: None, batches: Box::new(batches) })
}

type Decoded = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

fn read_file(
    content: &Content,
    columns: Option<Vec<usize>>,
) -> std::result::Result<(SchemaRef, Decoded), ArrowError> {
    let reader = FileReader::try_new(content.from(0)?, columns)?;
    Ok((reader.schema(), Box::new(reader)))
}

fn read_stream(
    content: &Content,
    columns: Option<Vec<usize>>,
) -> std::result::Result<(SchemaRef, Decoded), ArrowError> {
    let reader = StreamReader::try_new(content.from(0)?, columns)?;
    Ok((reader.schema(), Box::new(reader)))
}

/// What is left of a batch behind so many rows.
fn behind(rows: &mut u64, batch: Result<RecordBatch>) -> Option<Result<RecordBatch>> {
    let Ok(batch) = batch else { return Some(batch) };
    let skipped = (*rows).min(batch.num_rows() as u64);
    *rows -= skipped;
    let skipped = skipped as usize;
    (skipped < batch.num_rows()).then(|| Ok(batch.slice(skipped, batch.num_rows() - skipped)))
}

/// Refuses buffers of a file that claim to need more memory than there is once they are decompressed, for the
/// decoder believes them; and batches that are not there.
fn check_file(content: &Content, spec: &Spec) -> Result<()> {
    /// Bytes behind the footer: its length and the magic bytes.
    const BEHIND: u64 = 10;
    let fail = |what: &str| damaged(spec, what);
    let size = content.size();
    let end = size.checked_sub(BEHIND).ok_or_else(|| fail("the file is too short"))?;
    let last = exactly(content, end, BEHIND).map_err(|error| damaged(spec, error))?;
    let length = last.strip_suffix(MAGIC).and_then(|length| length.first_chunk());
    let length = length.and_then(|bytes| u64::try_from(i32::from_le_bytes(*bytes)).ok());
    let length = length.filter(|length| *length <= end).ok_or_else(|| fail("the file has no end"))?;
    let footer = exactly(content, end - length, length).map_err(|error| damaged(spec, error))?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(spec, error))?;
    let blocks =
        footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    for block in blocks {
        check_block(content, block, spec)?;
    }
    Ok(())
}

fn check_block(content: &Content, block: &Block, spec: &Spec) -> Result<()> {
    let known = |number: i64| u64::try_from(number).ok();
    let lengths = (known(block.offset()), known(block.metaDataLength().into()), known(block.bodyLength()));
    let (Some(offset), Some(metadata), Some(body)) = lengths else {
        return Err(damaged(spec, "a batch has no place"));
    };
    let end = offset.checked_add(metadata).and_then(|end| end.checked_add(body));
    if end.is_none_or(|end| end > content.size()) {
        return Err(damaged(spec, "a batch stands behind the end"));
    }
    let fail = |error: io::Error| damaged(spec, error);
    let Some((length, skipped)) = message_length(content, offset).map_err(fail)? else { return Ok(()) };
    let message = exactly(content, offset + skipped, length).map_err(fail)?;
    check_message(content, &message, offset + metadata, spec).map(drop)
}

/// The same of the messages of a stream.
fn check_stream(content: &Content, spec: &Spec) -> Result<()> {
    let fail = |error: io::Error| damaged(spec, error);
    let mut at = 0;
    while let Some((length, skipped)) = message_length(content, at).map_err(fail)? {
        let message = exactly(content, at + skipped, length).map_err(fail)?;
        let body = at + skipped + length;
        match check_message(content, &message, body, spec)?.and_then(|length| body.checked_add(length)) {
            Some(next) => at = next,
            // What is no message is for the decoder to complain about.
            None => break,
        }
    }
    Ok(())
}

/// Checks the buffers of a message whose body starts here; how long that is.
fn check_message(content: &Content, message: &[u8], body: u64, spec: &Spec) -> Result<Option<u64>> {
    let Ok(message) = root_as_message(message) else { return Ok(None) };
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch().and_then(|it| it.data()));
    let length = u64::try_from(message.bodyLength()).ok();
    if let Some(batch) = batch {
        check_bounds(length.unwrap_or(0), batch, spec)?;
    }
    if let Some(batch) = batch.filter(|batch| batch.compression().is_some()) {
        check_buffers(content, body, batch, spec)?;
    }
    Ok(length)
}

/// Whether the buffers of a batch lie in its body.
fn check_bounds(length: u64, batch: Message<'_>, spec: &Spec) -> Result<()> {
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() != 0) {
        let (offset, own) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
        let end = offset.ok().zip(own.ok()).and_then(|(offset, own)| offset.checked_add(own));
        if end.is_none_or(|end| end > length) {
            return Err(damaged(spec, "a buffer stands behind the end of its batch"));
        }
    }
    Ok(())
}

fn check_buffers(content: &Content, body: u64, batch: Message<'_>, spec: &Spec) -> Result<()> {
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
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
