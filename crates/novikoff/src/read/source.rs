//! Where bytes come from: a path, standard input or memory, compressed or not, cut into blocks that end where
//! a record ends.

use super::columnar;
use super::folder::{Files, Folder};
use super::parts::{Headers, Parts, Places, Survey};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Estimate;
#[cfg(feature = "parquet")]
use crate::read::table::Header;
#[cfg(feature = "parquet")]
use arrow_array::RecordBatch;
#[cfg(feature = "parquet")]
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An input as the user names it.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// Standard input, which can be read once.
    Stdin,
    /// Bytes in memory, under a name for messages.
    Bytes {
        /// What to call it in messages.
        name: String,
        /// The contents.
        bytes: Arc<[u8]>,
    },
    /// Columns in memory, under a name for messages. They are read as a file of Arrow's is.
    #[cfg(feature = "parquet")]
    Columns {
        /// What to call them in messages.
        name: String,
        /// Names and types.
        schema: SchemaRef,
        /// The rows.
        batches: Arc<[RecordBatch]>,
        /// Whether the columns have names ([`Header::Present`]), or go by their numbers.
        header: Header,
    },
    /// Several inputs that are one data set: their rows one after the other. A table's later parts may repeat
    /// its header.
    Several(Vec<Input>),
}

impl Input {
    /// `-` is standard input, anything else a path.
    pub fn named(argument: impl AsRef<Path>) -> Self {
        match argument.as_ref() {
            dash if dash.as_os_str() == "-" => Input::Stdin,
            path => Input::Path(path.to_owned()),
        }
    }

    /// One data set in several files, each named as by [`Input::named`].
    pub fn all_named(arguments: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let mut inputs: Vec<Input> = arguments.into_iter().map(Input::named).collect();
        match inputs.len() {
            1 => inputs.swap_remove(0),
            _ => Input::Several(inputs),
        }
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match self {
            Input::Path(path) => path.display().to_string(),
            Input::Stdin => "-".to_owned(),
            Input::Bytes { name, .. } => name.clone(),
            #[cfg(feature = "parquet")]
            Input::Columns { name, .. } => name.clone(),
            Input::Several(inputs) => name_of_all(inputs),
        }
    }

    /// An error that concerns all of the rows, with its place.
    #[must_use]
    pub fn place(&self, error: Error) -> Error {
        match self {
            Input::Several(_) => error.at(self.name(), 0, 0),
            _ => error.at(self.name(), 1, 1),
        }
    }

    /// The inputs that it consists of: itself, or several.
    pub fn parts(&self) -> &[Input] {
        match self {
            Input::Several(inputs) => inputs,
            one => std::slice::from_ref(one),
        }
    }
}

/// Names of more inputs would be too long for a message.
const NAMED: usize = 3;

fn name_of_all(inputs: &[Input]) -> String {
    let names: Vec<String> = inputs.iter().take(NAMED).map(Input::name).collect();
    match inputs.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// An opened input: decompressed bytes, and how far the file behind them has been read.
pub struct Source {
    name: String,
    reader: Box<dyn BufRead + Send>,
    compression: Option<&'static str>,
    taken: Arc<AtomicU64>,
    total: Option<u64>,
    places: Shape,
}

/// What an input is called in messages, and where in it something stands.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    name: String,
    places: Shape,
}

/// What the lines of an input are.
#[derive(Clone, Debug, Default)]
enum Shape {
    /// Those of its file.
    #[default]
    Lines,
    /// The documents of a folder.
    Folder(Arc<Folder>),
    /// Those of several files.
    Parts(Arc<Places>),
    /// Those of a text that a file of columns became.
    #[cfg(feature = "parquet")]
    Rows(Arc<columnar::RowPlaces>),
}

impl Origin {
    /// The lines of a file, or the like, of this name.
    #[cfg(test)]
    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), places: Shape::Lines }
    }

    /// What messages call the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The error with its place: this column of this line, both from 1.
    pub fn place(&self, error: Error, line: u64, column: u64) -> Error {
        match &self.places {
            Shape::Lines => error.at(&self.name, line, column),
            Shape::Parts(parts) => parts.place(error, line, column),
            #[cfg(feature = "parquet")]
            Shape::Rows(rows) => rows.place(error, line, column),
            Shape::Folder(folder) => match folder.place(line, column) {
                Some((file, line, column)) => error.at(file, line, column),
                None => error.at(&self.name, line, column),
            },
        }
    }

    /// An error whose place is a line of the whole input, at the place of its own file.
    pub(super) fn place_again(&self, error: Error) -> Error {
        match error.place().filter(|place| place.file == self.name && place.line > 0) {
            Some(place) => {
                let (line, column) = (place.line, place.column);
                self.place(error, line, column)
            }
            None => error,
        }
    }

    /// The same for an input of several files, where another opening of it does not know their places.
    pub(super) fn place_in_part(&self, error: Error) -> Error {
        match &self.places {
            Shape::Parts(_) => self.place_again(error),
            _ => error,
        }
    }

    /// An error that concerns all of the input, with its place.
    pub(super) fn place_of_all(&self, error: Error) -> Error {
        match &self.places {
            Shape::Lines | Shape::Folder(_) => error.at(&self.name, 1, 1),
            _ => error.at(&self.name, 0, 0),
        }
    }

    /// Adds to an error of the bytes themselves the place up to which they were good: after `before`, which
    /// starts at this line.
    pub(super) fn place_end(&self, error: Error, first_line: u64, before: &[u8]) -> Error {
        if error.kind() != ErrorKind::Input || error.place().is_some_and(|place| place.line > 0) {
            return self.place_again(error);
        }
        #[cfg(feature = "parquet")]
        if let Shape::Rows(_) = self.places {
            return error;
        }
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = first_line + memchr::memchr_iter(b'\n', before).count() as u64;
        self.place(error, line, (before.len() - line_start) as u64 + 1)
    }

    /// A line in words, for a list of several.
    pub(super) fn line_in_words(&self, line: u64) -> String {
        match &self.places {
            Shape::Parts(parts) => parts.line_in_words(line),
            #[cfg(feature = "parquet")]
            Shape::Rows(rows) => rows.line_in_words(line),
            _ => format!("line {line}"),
        }
    }
}

/// How an input is opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    /// What a folder is.
    pub(super) folders: Folders,
    /// Which lines of later parts of several files are left out.
    pub(super) headers: Headers,
    /// How files of columns become the text of a table.
    pub(super) columnar: Option<columnar::Spec>,
}

/// What a folder is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Folders {
    /// A mistake.
    #[default]
    Refused,
    /// Folders of labels, with documents in them.
    Labelled,
    /// Documents, in folders or not.
    Unlabelled,
}

/// What can be opened again.
pub(crate) enum Again<'a> {
    /// A file, or several.
    Input(&'a Input, Opening),
    /// What was a stream.
    Held(Arc<[u8]>, Origin),
}

impl<'a> Again<'a> {
    /// A file.
    #[cfg(test)]
    pub(crate) fn of(input: &'a Input) -> Self {
        Again::Input(input, Opening::default())
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<Source> {
        match self {
            Again::Input(input, opening) => Source::open_as(input, opening),
            Again::Held(bytes, origin) => Ok(Source::of_bytes(bytes.clone(), origin.clone())),
        }
    }
}

/// Bytes that identify the compression.
const MAGIC: usize = 6;
/// Bytes of a byte-order mark.
const MARK: usize = 3;
const BUFFER: usize = 1 << 17;

impl Source {
    /// Opens an input and looks through its compression.
    pub fn open(input: &Input) -> Result<Self> {
        Self::open_as(input, &Opening::default())
    }

    /// The same for a folder, too, and for several inputs with headers.
    pub(crate) fn open_as(input: &Input, opening: &Opening) -> Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        match input {
            Input::Several(inputs) if inputs.is_empty() => Err(Error::usage("no file is named")),
            Input::Several(inputs) if inputs.len() == 1 => Self::open_as(&inputs[0], opening),
            Input::Several(inputs) => Self::open_parts(input.name(), inputs, opening, taken),
            _ => Self::open_part(input, opening, taken),
        }
    }

    fn open_parts(name: String, inputs: &[Input], opening: &Opening, taken: Arc<AtomicU64>) -> Result<Self> {
        let parts = Parts::open(inputs, opening, taken.clone())?;
        let columnar = opening.columnar.as_ref().map(|spec| spec.format.name());
        let (compression, total) = (columnar.or(parts.places().compression()), parts.places().total());
        let places = Shape::Parts(parts.places().clone());
        Ok(Self { name, reader: buffered(parts), compression, taken, total, places })
    }

    /// Opens one input, and counts in `taken` the bytes that are taken of it.
    pub(super) fn open_part(input: &Input, opening: &Opening, taken: Arc<AtomicU64>) -> Result<Self> {
        match &opening.columnar {
            None => Self::open_bytes(input, opening.folders, taken),
            Some(spec) => Self::open_columnar(input, spec, taken),
        }
    }

    /// A file of columns as the text of a table.
    #[cfg(feature = "parquet")]
    fn open_columnar(input: &Input, spec: &columnar::Spec, taken: Arc<AtomicU64>) -> Result<Self> {
        let name = input.name();
        let plain = Self::open_bytes(input, Folders::Refused, Arc::default())?;
        let is_seekable = plain.is_seekable(input);
        let content = match input {
            Input::Columns { schema, batches, .. } => {
                columnar::Content::Columns(schema.clone(), batches.clone())
            }
            Input::Path(path) if is_seekable && plain.compression.is_none() => {
                let file = File::open(path).map_err(|error| Error::io(&name, &error))?;
                columnar::Content::File(Arc::new(file), plain.total.unwrap_or(0))
            }
            _ => columnar::Content::of_source(plain, spec.memory)?,
        };
        let total = is_seekable.then(|| content.size());
        let text = columnar::TableText::open(&name, content, spec, taken.clone())?;
        let places = Shape::Rows(text.places().clone());
        // The size of the file says nothing of the size of the text.
        let compression = Some(spec.format.name());
        Ok(Self { name, reader: buffered(text), compression, taken, total, places })
    }

    #[cfg(not(feature = "parquet"))]
    fn open_columnar(input: &Input, spec: &columnar::Spec, _: Arc<AtomicU64>) -> Result<Self> {
        let what =
            format!("this is {}, and novikoff was built without Parquet and Arrow", spec.format.name());
        let error = Error::input(what).at(input.name(), 0, 0);
        Err(error.hint("write the table as CSV, or build novikoff with its feature \"parquet\""))
    }

    fn open_bytes(input: &Input, folders: Folders, taken: Arc<AtomicU64>) -> Result<Self> {
        let name = input.name();
        let (raw, total): (Box<dyn Read + Send>, _) = match input {
            Input::Several(_) => {
                return Err(Error::usage("several files cannot be a part of several files").at(name, 0, 0));
            }
            Input::Path(path) if folders != Folders::Refused && path.is_dir() => {
                return Self::open_folder(path, folders, taken);
            }
            Input::Path(path) => {
                let file = File::open(path).map_err(|e| open_error(&name, &e))?;
                let about = file.metadata().map_err(|e| Error::io(&name, &e))?;
                if about.is_dir() {
                    return Err(Error::input("this is a folder, not a file")
                        .at(name, 0, 0)
                        .hint("name a file in it"));
                }
                (Box::new(file), about.is_file().then_some(about.len()))
            }
            Input::Stdin => (Box::new(io::stdin()), None),
            Input::Bytes { bytes, .. } => (Box::new(Cursor::new(bytes.clone())), Some(bytes.len() as u64)),
            // What tells their format; nothing else of them is bytes.
            #[cfg(feature = "parquet")]
            Input::Columns { .. } => (Box::new(columnar::ARROW), Some(columnar::ARROW.len() as u64)),
        };
        let mut counted = BufReader::with_capacity(BUFFER, Counted { inner: raw, taken: taken.clone() });
        let magic = peek(&mut counted).map_err(|e| Error::io(&name, &e))?;
        let (compression, reader): (_, Box<dyn BufRead + Send>) = match magic {
            [0x1f, 0x8b, ..] => (Some("gzip"), buffered(flate2::bufread::MultiGzDecoder::new(counted))),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => {
                (Some("bzip2"), buffered(bzip2::bufread::MultiBzDecoder::new(counted)))
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0] => {
                (Some("xz"), buffered(lzma_rust2::XzReader::new(counted, true)))
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                (Some("zstd"), buffered(Zstd { input: Some(counted), frame: None }))
            }
            _ => (None, Box::new(counted)),
        };
        Ok(Self { name, reader, compression, taken, total, places: Shape::Lines })
    }

    /// Opens a folder of documents as one file with a line for each. Without labels, those lines begin with a
    /// tab.
    fn open_folder(path: &Path, folders: Folders, taken: Arc<AtomicU64>) -> Result<Self> {
        let folder = Arc::new(Folder::list(path, folders == Folders::Labelled)?);
        let reader = buffered(Counted { inner: Files::new(folder.clone()), taken: taken.clone() });
        let (name, total) = (path.display().to_string(), Some(folder.bytes()));
        Ok(Self { name, reader, compression: None, taken, total, places: Shape::Folder(folder) })
    }

    /// A source without bytes.
    pub(super) fn empty() -> Self {
        Self::of_bytes(Arc::new([]), Origin::default())
    }

    /// Bytes that were read from this origin.
    fn of_bytes(bytes: Arc<[u8]>, origin: Origin) -> Self {
        let (taken, total) = (Arc::new(AtomicU64::new(0)), Some(bytes.len() as u64));
        let counted = Counted { inner: Cursor::new(bytes), taken: taken.clone() };
        let Origin { name, places } = origin;
        Self { name, reader: buffered(counted), compression: None, taken, total, places }
    }

    /// What it is called, and where in it something stands.
    pub fn origin(&self) -> Origin {
        Origin { name: self.name.clone(), places: self.places.clone() }
    }

    /// The files that it consists of, where these are several.
    pub(super) fn parts(&self) -> Option<&Places> {
        match &self.places {
            Shape::Parts(places) => Some(places),
            _ => None,
        }
    }

    /// Lets the reading go on behind the first of several files, now that it is known which headers later
    /// ones may have.
    pub(super) fn go_on(&self, headers: Headers) {
        if let Some(parts) = self.parts() {
            parts.go_on(headers);
        }
    }

    /// What is known of each part before it is read.
    pub(super) fn surveys(&self) -> &[Survey] {
        self.parts().map_or(&[], |places| places.surveys())
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it takes fewer bytes than come out of it.
    pub(crate) fn is_compressed(&self) -> bool {
        self.compression.is_some()
    }

    /// How it is compressed, if it is.
    pub(super) fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// What messages call the file that it starts with.
    pub(super) fn first_name(&self) -> &str {
        let with_bytes = self.surveys().iter().find(|survey| !survey.is_empty());
        with_bytes.map_or(&self.name, |survey| &survey.name)
    }

    /// Whether what was opened as this input can be opened once more.
    pub(super) fn is_seekable(&self, input: &Input) -> bool {
        self.total.is_some() && !matches!(input, Input::Stdin)
    }

    /// Takes some of the next bytes; none at the end.
    pub(super) fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => return read.map_err(|error| read_error(&self.name, self.compression, &error)),
            }
        }
    }

    /// Size of the file, if it has one.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// How many bytes of the file have been taken; stays valid while blocks are read.
    pub fn taken(&self) -> Arc<AtomicU64> {
        self.taken.clone()
    }

    /// The first bytes, without taking them: as many as are at hand, at least one unless the input is empty.
    pub fn peek(&mut self) -> Result<&[u8]> {
        let Self { name, reader, compression, .. } = self;
        reader.fill_buf().map_err(|e| {
            let error = read_error(name, *compression, &e);
            if error.kind() == ErrorKind::Input { error.at(name.as_str(), 1, 1) } else { error }
        })
    }

    /// Adds bytes to `into`, up to `limit` in all. A file fills it; a pipe or terminal gives what it has at
    /// hand, so that a slow stream is learned from as it comes.
    pub fn fill(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<Ended> {
        let mut length = into.len();
        into.resize(limit.max(length), 0);
        let mut ended = Ended::No;
        while length < into.len() {
            match self.reader.read(&mut into[length..]) {
                Ok(0) => {
                    ended = Ended::Yes;
                    break;
                }
                Ok(count) => length += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    into.truncate(length);
                    return Err(read_error(&self.name, self.compression, &e));
                }
            }
            if self.total.is_none() {
                break;
            }
        }
        into.truncate(length);
        Ok(ended)
    }

    /// Takes the next `count` bytes; an error if there are fewer.
    pub(crate) fn take_exact(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            if self.fill(&mut bytes, count)? == Ended::Yes {
                let what = format!("the file ends where {} more bytes were expected", count - bytes.len());
                return Err(Error::input(what)
                    .at(&self.name, 1, 1)
                    .hint("get the file again, or say another `format`"));
            }
        }
        Ok(bytes)
    }

    /// The first whole records, without taking them: at least one, and `wanted` bytes with what follows them,
    /// unless the input ends before. Unlike [`Source::peek`] this waits for a slow stream.
    pub(crate) fn look_ahead(&mut self, cut: Cut, wanted: usize) -> Result<Vec<u8>> {
        let (mut bytes, mut limit) = (Vec::new(), wanted.max(BUFFER));
        loop {
            let ended = self.fill(&mut bytes, limit)?;
            // A record beyond the limit is for `Blocks` to complain about.
            let enough = ended == Ended::Yes || bytes.len() >= RECORD_LIMIT;
            let mut records = bytes.clone();
            // The mark goes before the cut is looked for: behind it, a quote would not be the first byte of
            // its field.
            skip_byte_order_mark(&self.name, cut, &mut records)?;
            let end = if enough {
                Some(records.len())
            } else {
                last_cut(&records, cut).filter(|_| bytes.len() >= wanted)
            };
            if let Some(end) = end {
                records.truncate(end);
                self.put_back(bytes);
                return Ok(records);
            }
            limit = if bytes.len() >= limit { limit * 2 } else { limit };
        }
    }

    /// Makes these the next bytes.
    fn put_back(&mut self, bytes: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(bytes).chain(rest));
    }

    /// Takes a byte-order mark, if one comes next; UTF-16 is an error.
    pub(super) fn skip_byte_order_mark(&mut self) -> Result<()> {
        let mut start = Vec::new();
        while start.len() < MARK && self.fill(&mut start, MARK)? == Ended::No {}
        skip_byte_order_mark(&self.name, Cut::Line, &mut start)?;
        self.put_back(start);
        Ok(())
    }

    /// Everything that is left, if there is memory for it.
    pub(super) fn read_all_within(mut self, memory: Option<u64>) -> Result<Vec<u8>> {
        const STEP: usize = 1 << 20;
        let mut all = Vec::new();
        loop {
            let limit = all.len() + STEP;
            if self.fill(&mut all, limit)? == Ended::Yes {
                return Ok(all);
            }
            Estimate::default()
                .with("its bytes", &[(all.len(), "bytes")])
                .check("this file", memory)
                .map_err(|error| error.at(&self.name, 0, 0))?;
        }
    }

    /// Everything that is left.
    pub(crate) fn read_all(mut self) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        self.reader.read_to_end(&mut all).map_err(|e| read_error(&self.name, self.compression, &e))?;
        Ok(all)
    }
}

/// The whole text of an input, decompressed where it is compressed.
pub(crate) fn read_text(input: &Input) -> Result<String> {
    let text = String::from_utf8(Source::open(input)?.read_all()?);
    text.map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = memchr::memchr_iter(b'\n', valid).count() as u64 + 1;
        let column = valid.len() - memchr::memrchr(b'\n', valid).map_or(0, |newline| newline + 1);
        Error::input("this is no text: it is not UTF-8").at(input.name(), line, column as u64 + 1)
    })
}

/// Whether the input is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is no more.
    Yes,
    /// There may be more.
    No,
}

fn open_error(name: &str, error: &io::Error) -> Error {
    let error = Error::io(name, error);
    if name.starts_with('-') {
        error.hint("a path that starts with a dash is written ./-name")
    } else {
        error
    }
}

fn read_error(name: &str, compression: Option<&str>, error: &io::Error) -> Error {
    if let Some(own) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return own.clone();
    }
    match compression {
        Some(kind) if error.raw_os_error().is_none() => {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => format!("the {kind} data ends too early"),
                _ => format!("the {kind} data is damaged ({error})"),
            };
            Error::input(what)
                .at(name, 0, 0)
                .hint("get the file again, or decompress it by hand to see how far it goes")
        }
        _ => Error::io(name, error),
    }
}

fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER, reader))
}

fn peek<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    let bytes = reader.fill_buf()?;
    Ok(&bytes[..bytes.len().min(MAGIC)])
}

struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

type ZstdFrame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// The frames of a zstd file, one after the other, each with its checksum checked.
struct Zstd<R: BufRead> {
    input: Option<R>,
    frame: Option<ZstdFrame<R>>,
}

/// The decoder hides in its own errors that the file was at its end.
fn plainly(error: io::Error) -> io::Error {
    if error.to_string().contains("UnexpectedEof") { io::ErrorKind::UnexpectedEof.into() } else { error }
}

/// Largest window a frame may ask for; zstd's own default limit.
const ZSTD_WINDOW: u64 = 1 << 27;

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer).map_err(plainly)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                let (written, computed) =
                    (frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum());
                if written.is_some() && written != computed {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "checksum mismatch"));
                }
                self.input = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut input) = self.input.take() else { return Ok(0) };
            if input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = ZstdFrame::new_with_max_window_size(input, ZSTD_WINDOW);
            self.frame = Some(frame.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?);
        }
    }
}

/// Where a block may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After a newline.
    Line,
    /// After a newline that is not inside quotes, for tables with this delimiter.
    Record {
        /// What separates fields.
        delimiter: u8,
    },
    /// After every so many bytes.
    Every(usize),
}

/// Cuts a source into blocks of about [`BLOCK`] bytes that end where a record ends.
pub struct Blocks {
    source: Source,
    cut: Cut,
    carry: Vec<u8>,
    ended: Ended,
    first: bool,
    /// Bytes of the source before the next block.
    offset: u64,
}

/// A block's size: what it holds and what is made of it should fit the second-level cache together.
pub const BLOCK: usize = 3 << 17;
/// No record may be longer.
const RECORD_LIMIT: usize = 1 << 28;

impl Blocks {
    /// Blocks of what is left of `source`.
    pub fn new(source: Source, cut: Cut) -> Self {
        Self { source, cut, carry: Vec::new(), ended: Ended::No, first: true, offset: 0 }
    }

    /// Puts the next block into `block`; false at the end. Only the last block may lack its final newline.
    pub(crate) fn next_into(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        let more = self.cut_into(block)?;
        if let (Some(parts), Cut::Record { delimiter }) = (self.source.parts(), self.cut) {
            parts.check_ends(self.offset, block, delimiter)?;
        }
        self.offset += block.len() as u64;
        Ok(more)
    }

    fn cut_into(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        block.clear();
        block.append(&mut self.carry);
        let mut limit = BLOCK.max(block.len());
        loop {
            if self.ended == Ended::No {
                self.ended = self.source.fill(block, limit)?;
            }
            if self.first {
                self.first = false;
                let before = block.len();
                skip_byte_order_mark(self.source.name(), self.cut, block)?;
                self.offset += (before - block.len()) as u64;
            }
            if self.ended == Ended::Yes {
                return Ok(!block.is_empty());
            }
            if let Some(end) = last_cut(block, self.cut) {
                self.carry.extend_from_slice(&block[end..]);
                block.truncate(end);
                return Ok(true);
            }
            if block.len() >= RECORD_LIMIT {
                let error = Error::input(format!("a record is longer than {} MB", RECORD_LIMIT >> 20));
                return Err(error.hint("is this the right `format`?"));
            }
            limit = if block.len() >= limit { limit * 2 } else { limit };
        }
    }
}

/// Removes a byte-order mark; UTF-16 is an error.
fn skip_byte_order_mark(name: &str, cut: Cut, block: &mut Vec<u8>) -> Result<()> {
    match (cut, block.as_slice()) {
        (Cut::Every(_), _) => {}
        (_, [0xef, 0xbb, 0xbf, ..]) => drop(block.drain(..3)),
        (_, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) => {
            let error = Error::input("the text is UTF-16, not UTF-8").at(name, 1, 1);
            return Err(error.hint("convert it first: iconv -f UTF-16 -t UTF-8 FILE"));
        }
        _ => {}
    }
    Ok(())
}

fn last_cut(block: &[u8], cut: Cut) -> Option<usize> {
    match cut {
        Cut::Line => memchr::memrchr(b'\n', block).map(|at| at + 1),
        Cut::Record { delimiter } => super::records::last_record_end(block, delimiter),
        Cut::Every(size) => (block.len() >= size).then(|| block.len() / size * size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of(bytes: Vec<u8>, cut: Cut) -> Vec<Vec<u8>> {
        let source = Source::open(&Input::Bytes { name: "memory".into(), bytes: bytes.into() }).unwrap();
        let mut blocks = Blocks::new(source, cut);
        let (mut all, mut block) = (Vec::new(), Vec::new());
        while blocks.next_into(&mut block).unwrap() {
            all.push(block.clone());
        }
        all
    }

    #[test]
    fn blocks_end_at_lines_and_lose_nothing() {
        let mut text = Vec::new();
        for i in 0..BLOCK / 4 {
            text.extend_from_slice(format!("line {i}\n").as_bytes());
        }
        text.extend(std::iter::repeat_n(b'x', BLOCK * 3));
        text.extend_from_slice(b"\nlast, without a newline");
        let blocks = blocks_of(text.clone(), Cut::Line);
        assert!(blocks.len() > 3);
        assert!(blocks[..blocks.len() - 1].iter().all(|b| b.ends_with(b"\n")));
        assert_eq!(blocks.concat(), text);
    }

    #[test]
    fn looking_ahead_shows_whole_records_and_takes_nothing() {
        let text = [b"\xef\xbb\xbf\"a\n\",b\n".as_slice(), &b"c,d\n".repeat(BLOCK), b"e"].concat();
        let input = Input::Bytes { name: "memory".into(), bytes: text.clone().into() };
        let mut source = Source::open(&input).unwrap();
        let ahead = source.look_ahead(Cut::Record { delimiter: b',' }, 10).unwrap();
        assert!(ahead.starts_with(b"\"a\n\",b\nc,d\n") && ahead.ends_with(b"d\n"));
        assert_eq!(source.read_all().unwrap(), text);
    }

    #[test]
    fn a_byte_order_mark_is_dropped_and_utf16_is_refused() {
        assert_eq!(blocks_of(b"\xef\xbb\xbfa\n".to_vec(), Cut::Line).concat(), b"a\n");
        let source =
            Source::open(&Input::Bytes { name: "m".into(), bytes: (*b"\xff\xfea\0").into() }).unwrap();
        let error = Blocks::new(source, Cut::Line).next_into(&mut Vec::new()).unwrap_err();
        assert!(error.what().contains("UTF-16"), "{error}");
    }
}
