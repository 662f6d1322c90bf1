//! The matrix of a file, assembled from the rows of its blocks: places are assigned in the order of the file,
//! and several threads write the entries.

use super::matrix::{Builder, CompressedRows, Layout, Matrix};

/// Memory for entries that several threads write.
#[derive(Debug, Default)]
pub(crate) struct Store {
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// The place of the entries of some rows.
#[derive(Debug, Default)]
pub(crate) struct Slot<'a> {
    indices: &'a mut [u32],
    values: &'a mut [f64],
}

impl<'a> Slot<'a> {
    /// Copies the entries of these rows here.
    ///
    /// # Panics
    /// If the slot is for another number of entries.
    pub(crate) fn write(self, rows: CompressedRows<'_>) {
        self.indices.copy_from_slice(rows.indices);
        self.values.copy_from_slice(rows.values);
    }

    /// Takes a slot for so many entries from the start; `None` if there is less, or for no entries.
    fn split(&mut self, entries: usize) -> Option<Slot<'a>> {
        if self.indices.len() < entries || entries == 0 {
            return None;
        }
        Some(Slot {
            indices: self.indices.split_off_mut(..entries)?,
            values: self.values.split_off_mut(..entries)?,
        })
    }
}

/// Assigns the places of rows in a matrix.
///
/// Sparse rows that need a double for each entry, as the first block shows, will be stored like that whatever
/// comes: their entries have a slot in the store as soon as the number of entries before them is known, and
/// any thread may write them there. All other rows are copied into a [`Builder`] at once.
#[derive(Debug)]
pub(crate) struct Assembler<'a> {
    /// Rows, and the entries that have no slot.
    builder: Option<Builder>,
    store: Option<&'a mut Store>,
    /// The part of the store that is free.
    free: Slot<'a>,
    /// Number of entries that have a slot.
    in_slots: usize,
}

/// The places of all rows; the entries of the first are in slots.
#[derive(Debug)]
pub(crate) struct Assembled {
    builder: Builder,
    in_slots: usize,
}

/// Slots pay from so many blocks on.
const MANY: f64 = 4.0;
/// How much more memory is reserved than the first block suggests, so that one estimate is mostly enough.
const SLACK: f64 = 1.1;

impl<'a> Assembler<'a> {
    /// No rows, with slots in this store.
    pub(crate) fn new(store: &'a mut Store) -> Self {
        Self { builder: None, store: Some(store), free: Slot::default(), in_slots: 0 }
    }

    /// Number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.builder.as_ref().map_or(0, Builder::rows)
    }

    /// Adds the rows of a block. `layout` and the expected number of `blocks`, if that is known, count for
    /// the first block only. If there is a slot, the entries still have to be [written](Slot::write) there.
    pub(crate) fn append(
        &mut self,
        rows: CompressedRows<'_>,
        layout: Layout,
        blocks: Option<f64>,
    ) -> Option<Slot<'a>> {
        let first = self.builder.is_none();
        let builder = self.builder.get_or_insert_with(|| Builder::new(layout));
        if first && let Some(blocks) = blocks.filter(|blocks| *blocks >= MANY && builder.needs_doubles(rows))
        {
            // Zeros that the system provides as they are written to: an unused rest costs nothing.
            self.free = self.store.take()?.allocate((rows.indices.len() as f64 * SLACK * blocks) as usize);
        }
        let slot = self.free.split(rows.indices.len());
        if slot.is_some() {
            self.in_slots += rows.indices.len();
            builder.append_places(rows);
        } else {
            builder.append(rows);
            if !rows.indices.is_empty() {
                // Later entries get no slot either: entries in slots precede those of the builder.
                self.free = Slot::default();
            }
        }
        if let (true, Some(blocks)) = (first, blocks) {
            builder.reserve(SLACK * blocks);
        }
        slot
    }

    /// The places, for [`Store::finish`] once all slots are written.
    pub(crate) fn finish(self) -> Assembled {
        let builder = self.builder.unwrap_or_else(|| Builder::new(Layout::Sparse));
        Assembled { builder, in_slots: self.in_slots }
    }
}

impl Store {
    fn allocate(&mut self, entries: usize) -> Slot<'_> {
        *self = Self { indices: vec![0; entries], values: vec![0.0; entries] };
        Slot { indices: &mut self.indices, values: &mut self.values }
    }

    /// The matrix.
    pub(crate) fn finish(mut self, Assembled { builder, in_slots }: Assembled) -> Matrix<'static> {
        if in_slots == 0 {
            return builder.finish();
        }
        self.indices.truncate(in_slots);
        self.values.truncate(in_slots);
        builder.finish_after(self.indices, self.values)
    }
}
