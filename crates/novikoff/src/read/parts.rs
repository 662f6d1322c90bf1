//! Several files as one input: their bytes one after the other, as if they were one file.
//!
//! A newline is added where a file ends without one, and what only the start of a file may have is left out
//! of the later ones: byte-order marks, and headers that repeat the first one. What is cut into blocks is
//! therefore the same as for one file that holds it all, and so is everything that follows.

use super::detect::{Format, is_another_format};
use super::records::{Field, Records, last_record_end, newlines};
use super::source::{Cut, Input, Opening, Origin, Source};
use super::table::listed;
use super::text::names_columns;
use crate::error::{Error, Result};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which lines of later parts are left out.
#[derive(Clone, Debug, Default)]
pub(super) enum Headers {
    /// None.
    #[default]
    None,
    /// Those that the first part shows: the reading pauses behind it until they are known.
    Unknown,
    /// First lines that name the columns of documents.
    OfDocuments,
    /// First records that name the columns of a table.
    OfTable(Arc<TableHeader>),
}

/// The header of a table's first part.
#[derive(Debug)]
pub(super) struct TableHeader {
    /// The file that it stands in.
    pub file: String,
    /// What separates its fields.
    pub delimiter: u8,
    /// The columns.
    pub names: Vec<Vec<u8>>,
    /// What a first record is that names other columns.
    pub others: OtherHeaders,
}

/// What a first record is that names other columns than the first part's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherHeaders {
    /// A mistake, if most of its fields are names of columns.
    Refused,
    /// A row.
    AreRows,
}

/// What is known of a part before it is read.
#[derive(Debug)]
pub(super) struct Survey {
    /// What messages call it.
    pub name: String,
    /// Its first bytes, if looking at them does not use them up.
    pub start: Option<Vec<u8>>,
    compression: Option<&'static str>,
    total: Option<u64>,
}

/// As many of its first bytes tell the format of a part.
const SURVEYED: usize = 1 << 12;

impl Survey {
    fn of(input: &Input, opening: &Opening) -> Result<Self> {
        let name = input.name();
        let seekable = match input {
            Input::Path(path) => {
                let about = fs::metadata(path).map_err(|error| Error::io(&name, &error))?;
                about.is_file() || about.is_dir()
            }
            Input::Bytes { .. } => true,
            #[cfg(feature = "parquet")]
            Input::Columns { .. } => true,
            Input::Stdin | Input::Several(_) => false,
        };
        if !seekable {
            return Ok(Self { name, start: None, compression: None, total: None });
        }
        let plain = Opening { columnar: None, ..opening.clone() };
        let mut source = Source::open_part(input, &plain, Arc::default())?;
        let start = source.peek()?;
        let start = Some(start[..start.len().min(SURVEYED)].to_vec());
        Ok(Self { name, start, compression: source.compression(), total: source.total() })
    }

    /// Whether it is known to have no bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.start.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Where the parts stand in the whole, as far as they have been opened.
#[derive(Debug)]
pub(super) struct Places {
    surveys: Vec<Survey>,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    /// The parts opened so far.
    starts: Vec<Start>,
    headers: Headers,
}

/// Where a part starts.
#[derive(Debug)]
struct Start {
    /// The line of the whole, from 1.
    line: u64,
    /// Bytes of the whole before it.
    offset: u64,
    /// Lines of the part before that one.
    skipped: u64,
    origin: Origin,
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of each part before it is read.
    pub(super) fn surveys(&self) -> &[Survey] {
        &self.surveys
    }

    /// The compression of the first part that has one.
    pub(super) fn compression(&self) -> Option<&'static str> {
        self.surveys.iter().find_map(|survey| survey.compression)
    }

    /// Bytes of all files.
    pub(super) fn total(&self) -> Option<u64> {
        self.surveys.iter().map(|survey| survey.total).sum()
    }

    /// Lets the reading go on behind the first part.
    pub(super) fn go_on(&self, headers: Headers) {
        self.lock().headers = headers;
    }

    /// The error with the place that a line of the whole has in its part.
    pub(super) fn place(&self, error: Error, line: u64, column: u64) -> Error {
        match self.lock().of_line(line) {
            Some(start) => start.origin.place(error, start.own(line), column),
            None => error,
        }
    }

    /// Whether every part that ends in this block of records ends with a record. `offset` is the number of
    /// bytes before the block.
    pub(super) fn check_ends(&self, offset: u64, block: &[u8], delimiter: u8) -> Result<()> {
        let progress = self.lock();
        let mut from = 0;
        for pair in progress.starts.windows(2) {
            let end = match pair[1].offset.checked_sub(offset).and_then(|end| usize::try_from(end).ok()) {
                Some(end) if from < end && end <= block.len() => end,
                _ => continue,
            };
            if last_record_end(&block[from..end], delimiter) != Some(end - from) {
                let last = pair[0].own(pair[1].line - 1);
                let error =
                    pair[0].origin.place(Error::input("this file ends within a field in quotes"), last, 1);
                return Err(error.hint("every file must end with a whole record"));
            }
            from = end;
        }
        Ok(())
    }

    /// A line of the whole in words.
    pub(super) fn line_in_words(&self, line: u64) -> String {
        match self.lock().of_line(line) {
            Some(start) => {
                format!("{} of {}", start.origin.line_in_words(start.own(line)), start.origin.name())
            }
            None => format!("line {line}"),
        }
    }
}

impl Progress {
    /// The part in which a line of the whole stands.
    fn of_line(&self, line: u64) -> Option<&Start> {
        let behind = self.starts.partition_point(|start| start.line <= line);
        self.starts[..behind].last().or(self.starts.first())
    }
}

impl Start {
    /// A line of the whole as one of the part.
    fn own(&self, line: u64) -> u64 {
        line.saturating_sub(self.line) + 1 + self.skipped
    }
}

/// The bytes of several inputs.
pub(super) struct Parts {
    waiting: VecDeque<Input>,
    current: Option<Source>,
    opening: Opening,
    places: Arc<Places>,
    taken: Arc<AtomicU64>,
    /// Newlines so far.
    lines: u64,
    /// Bytes so far.
    bytes: u64,
    last_byte: Option<u8>,
}

impl Parts {
    /// Looks at all parts that can be looked at.
    pub(super) fn open(inputs: &[Input], opening: &Opening, taken: Arc<AtomicU64>) -> Result<Self> {
        let surveys = inputs.iter().map(|input| Survey::of(input, opening)).collect::<Result<_>>()?;
        let progress = Mutex::new(Progress { starts: Vec::new(), headers: opening.headers.clone() });
        Ok(Self {
            waiting: inputs.iter().cloned().collect(),
            current: None,
            opening: opening.clone(),
            places: Arc::new(Places { surveys, progress }),
            taken,
            lines: 0,
            bytes: 0,
            last_byte: None,
        })
    }
}

impl Parts {
    /// Where the parts stand.
    pub(super) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// Takes bytes of the current part, or opens the next; `None` where another try will do more.
    fn step(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        if let Some(part) = &mut self.current {
            let count = part.read_some(buffer)?;
            if count > 0 {
                self.note(&buffer[..count]);
                return Ok(Some(count));
            }
            // Whoever looks at the start of the first part asks again.
            if self.last_byte.is_some() && matches!(self.places.lock().headers, Headers::Unknown) {
                return Ok(Some(0));
            }
            self.current = None;
        }
        let Some(next) = self.waiting.pop_front() else { return Ok(Some(0)) };
        if self.last_byte.is_some_and(|byte| byte != b'\n') {
            self.waiting.push_front(next);
            buffer[0] = b'\n';
            self.note(b"\n");
            return Ok(Some(1));
        }
        self.open_next(&next)?;
        Ok(None)
    }

    fn note(&mut self, bytes: &[u8]) {
        self.lines += newlines(bytes);
        self.bytes += bytes.len() as u64;
        self.last_byte = bytes.last().copied();
    }

    fn open_next(&mut self, next: &Input) -> Result<()> {
        let mut part = Source::open_part(next, &self.opening, self.taken.clone())?;
        let (line, offset) = (self.lines + 1, self.bytes);
        let mut start = Start { line, offset, skipped: 0, origin: part.origin() };
        if self.last_byte.is_some() {
            // Whoever asks for a place need not wait for a slow part.
            let headers = self.places.lock().headers.clone();
            let skipped = part.skip_byte_order_mark().and_then(|()| headers.skip(&mut part));
            start.skipped = *skipped.as_ref().unwrap_or(&0);
            self.places.lock().starts.push(start);
            skipped?;
        } else {
            self.places.lock().starts.push(start);
        }
        self.current = Some(part);
        Ok(())
    }
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(count) = self.step(buffer).map_err(io::Error::other)? {
                return Ok(count);
            }
        }
    }
}

impl Headers {
    /// Takes the header of a later part, if it has one; how many lines it was.
    fn skip(&self, part: &mut Source) -> Result<u64> {
        let (lines, bytes) = match self {
            Headers::None | Headers::Unknown => return Ok(0),
            Headers::OfDocuments => {
                let ahead = part.look_ahead(Cut::Line, 0)?;
                let first = ahead.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
                let names = names_columns(first.trim_ascii_end());
                if names { (newlines(first), first.len()) } else { (0, 0) }
            }
            Headers::OfTable(header) => {
                let ahead = part.look_ahead(Cut::Record { delimiter: header.delimiter }, 0)?;
                let length = header.length(&ahead, &part.origin())?;
                (newlines(&ahead[..length]), length)
            }
        };
        part.take_exact(bytes)?;
        Ok(lines)
    }
}

impl TableHeader {
    /// Bytes of the header that a part starts with: of none, if its first record is a row.
    pub(super) fn length(&self, start: &[u8], origin: &Origin) -> Result<usize> {
        let mut records = Records::new(start, self.delimiter);
        let mut fields = Vec::new();
        let Some(Ok(())) = records.next_into(&mut fields) else { return Ok(0) };
        let own: Vec<Vec<u8>> = fields.iter().map(|field| field.text(start).into_owned()).collect();
        if own == self.names {
            return Ok(records.span().end);
        }
        let known = own.iter().filter(|name| !name.is_empty() && self.names.contains(name)).count();
        if self.others == OtherHeaders::AreRows || 2 * known <= own.len() {
            return Ok(0);
        }
        let (what, j) = self.difference(&own);
        let (line, column) = records.locate(fields.get(j).map_or(0, |field: &Field| field.at));
        let error = origin.place(Error::input(what), line + 1, column as u64);
        Err(error.hint("files of one data set have the same columns in the same order"))
    }

    /// In what the columns of a part differ, and the field that shows it.
    fn difference(&self, own: &[Vec<u8>]) -> (String, usize) {
        let without = |all: &[Vec<u8>], others: &[Vec<u8>]| -> Vec<String> {
            let lacking = all.iter().filter(|name| !others.contains(name));
            lacking.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        };
        let plural = |names: &[String]| if names.len() == 1 { "column" } else { "columns" };
        let lacking = without(&self.names, own);
        if !lacking.is_empty() {
            let what = format!(
                "{} has the {} {}, and this file has not",
                self.file,
                plural(&lacking),
                listed(&lacking)
            );
            return (what, 0);
        }
        let extra = without(own, &self.names);
        if !extra.is_empty() {
            let at = own.iter().position(|name| !self.names.contains(name)).unwrap_or(0);
            return (format!("{} has no {} {}", self.file, plural(&extra), listed(&extra)), at);
        }
        let at = own.iter().zip(&self.names).position(|(own, name)| own != name).unwrap_or(0);
        (format!("the columns stand in another order than in {}", self.file), at)
    }

    /// Whether a file starts with this header.
    fn starts(&self, input: &Input) -> Result<bool> {
        let mut source = Source::open(input)?;
        let start = source.look_ahead(Cut::Record { delimiter: self.delimiter }, 0)?;
        Ok(self.length(&start, &source.origin())? > 0)
    }

    /// Whether every other part that is not empty starts with this header.
    pub(super) fn is_repeated(&self, inputs: &[Input], surveys: &[Survey]) -> Result<bool> {
        let mut others =
            inputs.iter().zip(surveys).filter(|(_, survey)| !survey.is_empty()).skip(1).peekable();
        if others.peek().is_none() {
            return Ok(false);
        }
        for (input, survey) in others {
            if survey.start.is_none() || !self.starts(input)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Refuses parts of other formats than the first.
pub(super) fn check_formats(surveys: &[Survey], format: Format) -> Result<()> {
    let mut parts = surveys.iter().filter(|survey| !survey.is_empty());
    let Some(first) = parts.next() else { return Ok(()) };
    for survey in parts {
        let start = survey.start.as_deref().unwrap_or_default();
        if let Some(other) = is_another_format(&survey.name, start, &first.name, format) {
            let what = format!("this is {}, and {} is {}", other.name(), first.name, format.name());
            let error = Error::input(what).at(&survey.name, 1, 1);
            return Err(error.hint("files of one data set have the same format"));
        }
    }
    Ok(())
}

/// What the user may not expect of these parts; standard input twice is an error.
pub(super) fn warnings(inputs: &[Input], surveys: &[Survey]) -> Result<Vec<String>> {
    if inputs.iter().filter(|input| matches!(input, Input::Stdin)).count() > 1 {
        let error = Error::usage("standard input can be read once, and - stands for it twice");
        return Err(error.hint("name it once"));
    }
    let mut seen = FxHashSet::default();
    let repeated = inputs.iter().filter(|input| real_path(input).is_some_and(|path| !seen.insert(path)));
    let mut warnings: Vec<String> =
        repeated.map(|input| format!("{} is there twice: its rows count twice", input.name())).collect();
    let empty = surveys.iter().filter(|survey| survey.is_empty());
    warnings.extend(empty.map(|survey| format!("{} is empty", survey.name)));
    Ok(warnings)
}

/// The one name of a file.
fn real_path(input: &Input) -> Option<PathBuf> {
    match input {
        Input::Path(path) => fs::canonicalize(path).ok(),
        _ => None,
    }
}
