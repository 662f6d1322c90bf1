//! The rows of a file of columns as the lines of a text, and lines as rows again.

use super::batches::{Content, Opened};
use super::cells::{Cells, end_line, push_names};
use super::{DELIMITER, Names, Spec};
use crate::error::{Error, Result};
use crate::features::table::first_repeated;
use crate::read::records::{Records, newlines};
use arrow_array::RecordBatch;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where rows stand in the text that they became.
#[derive(Debug)]
pub(in crate::read) struct RowPlaces {
    name: String,
    content: Content,
    spec: Spec,
    /// Lines of the names before the first row.
    header: u64,
    /// Rows of more than one line, so far.
    long: Mutex<Vec<LongRow>>,
}

/// A row of more than one line.
#[derive(Clone, Copy, Debug)]
struct LongRow {
    /// Its first line, from 1.
    line: u64,
    /// The row, from 1.
    row: u64,
    /// Lines after the first.
    more: u64,
}

impl RowPlaces {
    fn lock(&self) -> MutexGuard<'_, Vec<LongRow>> {
        self.long.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row of a line, and how many lines of the row stand before it; `None` for the names of columns.
    fn row(&self, line: u64) -> Option<(u64, u64)> {
        let own = line.checked_sub(self.header).filter(|line| *line > 0)?;
        let long = self.lock();
        let before = long.partition_point(|it| it.line <= line);
        Some(match long[..before].last() {
            None => (own, 0),
            Some(last) if line <= last.line + last.more => (last.row, line - last.line),
            Some(last) => (last.row + line - last.line - last.more, 0),
        })
    }

    /// The error with the row and the column (both from 1) of a place in the text.
    pub(in crate::read) fn place(&self, error: Error, line: u64, column: u64) -> Error {
        match self.row(line) {
            None => error.at(&self.name, 0, 0),
            Some((row, lines)) => error.at(&self.name, row, self.column(row, lines, column).unwrap_or(1)),
        }
    }

    /// A line in words.
    pub(in crate::read) fn line_in_words(&self, line: u64) -> String {
        self.row(line).map_or("the names".to_owned(), |(row, _)| format!("row {row}"))
    }

    /// The column in which a byte of a row's text stands: it takes another look at the row.
    fn column(&self, row: u64, lines: u64, byte: u64) -> Option<u64> {
        let mut opened = Opened::open(&self.content, &self.spec, row - 1).ok()?;
        let batch = opened.batches.next()?.ok()?;
        let mut text = Vec::new();
        push_rows(&batch.slice(0, 1), &opened.wanted, &mut text, &mut Vec::new());
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', &text).map(|at| at + 1));
        let at = starts.skip(lines as usize).next()? + byte.checked_sub(1)? as usize;
        let mut fields = Vec::new();
        Records::new(&text, DELIMITER).next_into(&mut fields)?.ok()?;
        Some(fields.iter().filter(|field| field.at <= at).count().max(1) as u64)
    }
}

/// A file of columns as the text of a table.
pub(in crate::read) struct TableText {
    opened: Opened,
    places: Arc<RowPlaces>,
    text: Vec<u8>,
    /// Bytes of the text that have been taken.
    at: usize,
    rows: u64,
    lines: u64,
    /// Bytes of the file that count as read.
    taken: Arc<AtomicU64>,
    counted: u64,
}

impl TableText {
    /// Opens a file; adds to `taken` as it is read.
    pub(in crate::read) fn open(
        name: &str,
        content: Content,
        spec: &Spec,
        taken: Arc<AtomicU64>,
    ) -> Result<Self> {
        let opened = Opened::open(&content, spec, 0).map_err(|error| error.at(name, 0, 0))?;
        if let Some(twice) = first_repeated(&opened.names) {
            let error = Error::input(format!("two columns are called {twice:?}")).at(name, 0, 0);
            return Err(error.hint("rename one of them"));
        }
        let mut text = Vec::new();
        if spec.names == Names::Written {
            push_names(&opened.names, &mut text);
        }
        let lines = newlines(&text);
        let (name, spec, long) = (name.to_owned(), spec.clone(), Mutex::default());
        let places = Arc::new(RowPlaces { name, content, spec, header: lines, long });
        Ok(Self { opened, places, text, at: 0, rows: 0, lines, taken, counted: 0 })
    }

    /// Where its rows stand.
    pub(in crate::read) fn places(&self) -> &Arc<RowPlaces> {
        &self.places
    }

    /// Makes the text of the next batch; whether there was one.
    fn next_batch(&mut self) -> Result<bool> {
        let Some(batch) = self.opened.batches.next() else {
            self.count(self.places.content.size());
            return Ok(false);
        };
        let batch = batch.map_err(|error| self.place(error))?;
        (self.at, self.rows) = (0, self.rows + batch.num_rows() as u64);
        self.text.clear();
        let mut ends = Vec::with_capacity(batch.num_rows());
        push_rows(&batch, &self.opened.wanted, &mut self.text, &mut ends);
        self.note_long_rows(&ends);
        if let Some(rows) = self.opened.rows {
            let share = self.rows as f64 / rows.max(1) as f64;
            self.count((share * self.places.content.size() as f64) as u64);
        }
        Ok(true)
    }

    fn place(&self, error: Error) -> Error {
        let hint = error.advice().map(str::to_owned);
        let error = Error::input(format!("{} (after row {})", error.what(), self.rows));
        let error = error.at(&self.places.name, 0, 0);
        if let Some(hint) = hint { error.hint(hint) } else { error }
    }

    /// Keeps in mind which rows have more than one line.
    fn note_long_rows(&mut self, ends: &[usize]) {
        let first = self.rows - ends.len() as u64 + 1;
        let more = newlines(&self.text) - ends.len() as u64;
        if more > 0 {
            let (mut start, mut line) = (0, self.lines + 1);
            let mut long = self.places.lock();
            for (row, &end) in (first..).zip(ends) {
                let more = newlines(&self.text[start..end]) - 1;
                if more > 0 {
                    long.push(LongRow { line, row, more });
                }
                (start, line) = (end, line + 1 + more);
            }
        }
        self.lines += ends.len() as u64 + more;
    }

    fn count(&mut self, bytes: u64) {
        self.taken.fetch_add(bytes.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = self.counted.max(bytes);
    }
}

/// Adds the rows of a batch to a text, and where each ends.
fn push_rows(batch: &RecordBatch, wanted: &[bool], text: &mut Vec<u8>, ends: &mut Vec<usize>) {
    let mut own = batch.columns().iter().map(Cells::of);
    let columns: Vec<Option<Cells>> =
        wanted.iter().map(|wanted| own.by_ref().take(usize::from(*wanted)).next()).collect();
    for i in 0..batch.num_rows() {
        let start = text.len();
        for (j, column) in columns.iter().enumerate() {
            if j > 0 {
                text.push(DELIMITER);
            }
            if let Some(cells) = column {
                cells.push(i, text);
            }
        }
        end_line(start, text);
        ends.push(text.len());
    }
}

impl Read for TableText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if !self.next_batch().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
