//! A scorer behind a feature map.

use super::{Scorer, Scratch};
use crate::data::Row;
use crate::features::map::{Entries, Mapper};

/// Rows that are mapped, and then scored, together.
const TOGETHER: usize = 128;

/// A feature map, and the scorer of mapped rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The feature map.
    pub mapper: Mapper,
    /// The scorer of mapped rows. It has no map itself.
    pub scorer: Box<Scorer>,
}

/// Memory for mapping rows and scoring what they become.
#[derive(Debug, Default)]
pub(super) struct MappedScratch {
    row: Vec<(u32, f64)>,
    mapped: Vec<Entries>,
    scratch: Scratch,
    scores: Vec<f64>,
}

impl Mapped {
    /// A mapped row, as the rows are stored that were learned from.
    fn view<'a>(&self, entries: &'a Entries) -> Row<'a> {
        match self.mapper.map().is_dense() {
            true => Row::Dense64(&entries.values),
            false => Row::Sparse64(&entries.indices, &entries.values),
        }
    }

    /// What the row becomes.
    pub fn map<'a>(&self, row: Row<'_>, entries: &'a mut Entries) -> Row<'a> {
        let mut plain = Vec::new();
        row.collect_into(&mut plain);
        self.mapper.apply(&plain, entries);
        self.view(entries)
    }

    /// Scores rows, one after the other, as long as it is to go on.
    pub(super) fn score_while(
        &self,
        rows: &[Row<'_>],
        scratch: &mut MappedScratch,
        scores: &mut [f64],
        goes_on: &dyn Fn() -> bool,
    ) {
        let MappedScratch { row: plain, mapped, scratch, scores: some } = scratch;
        mapped.resize_with(TOGETHER.max(mapped.len()), Entries::default);
        let outputs = self.scorer.outputs();
        for (rows, scores) in rows.chunks(TOGETHER).zip(scores.chunks_mut(TOGETHER * outputs)) {
            for (row, mapped) in rows.iter().zip(mapped.iter_mut()) {
                row.collect_into(plain);
                self.mapper.apply(plain, mapped);
            }
            let views: Vec<Row<'_>> = mapped[..rows.len()].iter().map(|entries| self.view(entries)).collect();
            self.scorer.score_while(&views, scratch, some, goes_on);
            scores.copy_from_slice(some);
        }
    }
}
