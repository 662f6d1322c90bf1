//! The batches of a file of columns. Whatever a decoder makes of damaged bytes, also a panic, is an error
//! here.

use super::cells::check;
use super::{Spec, arrow, held, parquet};
use crate::error::{Error, Result};
use crate::read::detect::Format;
use crate::read::source::Source;
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::reader::{ChunkReader, Length};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::{Buf, Bytes};
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The bytes of a file of columns, which have to be read here and there.
#[derive(Clone, Debug)]
pub(in crate::read) enum Content {
    /// A file, and how long it is.
    File(Arc<File>, u64),
    /// What came compressed, or as a stream.
    Memory(Bytes),
    /// Columns in memory, which are no bytes.
    Columns(SchemaRef, Arc<[RecordBatch]>),
}

impl Content {
    /// Takes all that is left of a source into memory.
    pub(in crate::read) fn of_source(source: Source, memory: Option<u64>) -> Result<Self> {
        Ok(Content::Memory(Bytes::from(source.read_all_within(memory)?)))
    }

    /// Bytes of the file.
    pub(in crate::read) fn size(&self) -> u64 {
        match self {
            Content::File(_, size) => *size,
            Content::Memory(bytes) => bytes.len() as u64,
            Content::Columns(_, batches) => {
                batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum()
            }
        }
    }

    /// A reader of its own, from this byte on.
    pub(super) fn from(&self, start: u64) -> std::io::Result<Box<dyn ReadAnywhere>> {
        Ok(match self {
            Content::File(file, _) => {
                let mut own = file.try_clone()?;
                own.seek(SeekFrom::Start(start))?;
                Box::new(BufReader::new(own))
            }
            Content::Memory(bytes) => {
                let mut own = Cursor::new(bytes.clone());
                own.set_position(start);
                Box::new(own)
            }
            Content::Columns(..) => return Err(std::io::ErrorKind::Unsupported.into()),
        })
    }
}

/// What can be read from any byte on.
pub(in crate::read) trait ReadAnywhere: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadAnywhere for R {}

impl Length for Content {
    fn len(&self) -> u64 {
        self.size()
    }
}

impl ChunkReader for Content {
    type T = Box<dyn ReadAnywhere>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.from(start)?)
    }

    /// No memory is taken for bytes that are not there.
    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.size()) {
            let what = format!("{length} bytes from {start} on, of {}", self.size());
            return Err(::parquet::errors::ParquetError::EOF(what));
        }
        match self {
            Content::Memory(bytes) => Ok(bytes.slice(start as usize..start as usize + length)),
            Content::File(..) | Content::Columns(..) => {
                let mut bytes = vec![0; length];
                self.from(start)?.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// Batches of rows, or what is wrong with the file.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// An opened file of columns.
pub(super) struct Opened {
    /// What the columns are called.
    pub names: Vec<String>,
    /// Which of them the batches have.
    pub wanted: Vec<bool>,
    /// How many rows there are, if the file says so.
    pub rows: Option<u64>,
    /// The rows.
    pub batches: Batches,
}

impl Opened {
    /// Opens a file, from a row on (from 0).
    pub(super) fn open(content: &Content, spec: &Spec, from: u64) -> Result<Self> {
        let open = || match (content, spec.format) {
            (Content::Columns(schema, batches), _) => held::open(schema, batches, spec, from),
            (_, Format::Arrow) => arrow::open(content, spec, from),
            _ => parquet::open(content, spec, from),
        };
        let mut opened = guarded(spec, open)?;
        let (mut inner, own) = (opened.batches, spec.clone());
        let next = move || guarded(&own, || inner.next().transpose()).transpose();
        opened.batches = Box::new(std::iter::from_fn(next));
        Ok(opened)
    }
}

/// What the work comes to; its panic is an error.
fn guarded<T>(spec: &Spec, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(damaged(spec, "its decoder gave up")))
}

/// The error about a file that is not what it should be.
pub(super) fn damaged(spec: &Spec, what: impl std::fmt::Display) -> Error {
    let kind = if spec.format == Format::Arrow { "Arrow" } else { "Parquet" };
    Error::input(format!("the {kind} data is damaged: {what}")).hint("get the file again")
}

/// The names of all columns, and which of them are wanted. Those must be columns of single values.
pub(super) fn columns(schema: &Schema, spec: &Spec) -> Result<(Vec<String>, Vec<bool>)> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        return Err(Error::input("the table has no columns"));
    }
    let wanted: Vec<bool> = (0..names.len()).map(|j| spec.columns.has(&names, j)).collect();
    for (field, _) in schema.fields().iter().zip(&wanted).filter(|(_, wanted)| **wanted) {
        check(field.name(), field.data_type())?;
    }
    Ok((names, wanted))
}

/// The places of those that are wanted.
pub(super) fn places(wanted: &[bool]) -> Vec<usize> {
    (0..wanted.len()).filter(|j| wanted[*j]).collect()
}

/// The number in the first eight bytes, the lowest first.
pub(super) fn number(mut bytes: &[u8]) -> Option<i64> {
    (bytes.len() >= 8).then(|| bytes.get_i64_le())
}
