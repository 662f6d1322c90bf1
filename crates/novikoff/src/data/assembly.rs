//! Rows put together from the parts of a file, in its order, their entries put in place by several threads.

use super::matrix::{Builder, Layout, Matrix, is_even, rows_of};

/// Memory for entries that are put in place by others.
#[derive(Debug, Default)]
pub struct Store {
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// The place of the entries of some rows.
#[derive(Debug, Default)]
pub struct Room<'a> {
    indices: &'a mut [u32],
    values: &'a mut [f64],
}

impl<'a> Room<'a> {
    /// Puts them there.
    ///
    /// # Panics
    /// If they are not as many as the room is for.
    pub fn fill(self, part: Part<'_>) {
        self.indices.copy_from_slice(part.indices);
        self.values.copy_from_slice(part.values);
    }

    /// Room for so many entries, unless there is less or none.
    fn split(&mut self, entries: usize) -> Option<Room<'a>> {
        if self.indices.len() < entries || entries == 0 {
            return None;
        }
        Some(Room {
            indices: self.indices.split_off_mut(..entries)?,
            values: self.values.split_off_mut(..entries)?,
        })
    }
}

/// Rows in compressed form: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    /// Where rows start, and the end of the last.
    pub starts: &'p [usize],
    /// Feature numbers, increasing within a row.
    pub indices: &'p [u32],
    /// Their values.
    pub values: &'p [f64],
    /// Whether every value is exactly an `f32`.
    pub single: bool,
}

impl Part<'_> {
    /// Whether the entries of each row have one value.
    pub(super) fn is_even(self) -> bool {
        rows_of(self.starts, self.values).all(is_even)
    }
}

/// A matrix under way.
///
/// Sparse rows that need doubles, and more than one a row, as their first part shows, will be stored like
/// that whatever comes: their entries have a place as soon as the number of those before them is known, and
/// whoever has the time may put them there. Of all other rows the parts are put together here, one after the
/// other.
#[derive(Debug)]
pub struct Assembly<'a> {
    /// Rows, and such entries as have no place in the store.
    builder: Option<Builder>,
    store: Option<&'a mut Store>,
    /// What is left of the store.
    rest: Room<'a>,
    /// Entries that have a place there.
    placed: usize,
}

/// From so many parts on it is worth while.
const MANY: f64 = 4.0;
/// How much more room there is than the first part makes expect, so that one guess is mostly enough.
const SLACK: f64 = 1.1;

impl<'a> Assembly<'a> {
    /// Nothing yet, and where others may put entries.
    pub fn new(store: &'a mut Store) -> Self {
        Self {
            builder: None,
            store: Some(store),
            rest: Room { indices: &mut [], values: &mut [] },
            placed: 0,
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.builder.as_ref().map_or(0, Builder::rows)
    }

    /// Adds rows; the first are laid out like this, and there are so many `parts` to expect, if that is
    /// known. If there is an answer, that is where the entries still have to be put.
    pub fn append(
        &mut self,
        part: Part<'_>,
        layout: impl FnOnce() -> Layout,
        parts: Option<f64>,
    ) -> Option<Room<'a>> {
        let first = self.builder.is_none();
        let builder = self.builder.get_or_insert_with(|| Builder::new(layout()));
        if first && let Some(parts) = parts.filter(|parts| *parts >= MANY && builder.needs_doubles(part)) {
            // Zeros that the system hands out as they are written to: what is left in the end costs nothing.
            self.rest = self.store.take()?.lend((part.indices.len() as f64 * SLACK * parts) as usize);
        }
        let room = self.rest.split(part.indices.len());
        if room.is_some() {
            self.placed += part.indices.len();
            builder.append_placed(part);
        } else {
            builder.append(part);
            if !part.indices.is_empty() {
                // What follows has no place either, or it would come before this.
                self.rest = Room::default();
            }
        }
        if let (true, Some(parts)) = (first, parts) {
            builder.expect(SLACK * parts);
        }
        room
    }

    /// The rows, for [`Store::finish`] when everything is in its place.
    pub fn end(self) -> (Builder, usize) {
        (self.builder.unwrap_or_else(|| Builder::new(Layout::Sparse)), self.placed)
    }
}

impl Store {
    fn lend(&mut self, entries: usize) -> Room<'_> {
        *self = Self { indices: vec![0; entries], values: vec![0.0; entries] };
        Room { indices: &mut self.indices, values: &mut self.values }
    }

    /// The matrix: `placed` entries of the store, and what the builder has beyond them.
    pub fn finish(mut self, (builder, placed): (Builder, usize)) -> Matrix {
        if placed == 0 {
            return builder.finish();
        }
        self.indices.truncate(placed);
        self.values.truncate(placed);
        builder.finish_behind(self.indices, self.values)
    }
}
