//! The order of rows in an epoch.

use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The order of rows within an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Order {
    /// Shuffled before every epoch, by the seed.
    #[default]
    Shuffled,
    /// The order of the data.
    Given,
}

/// Neighbouring rows that stay together when blocks are shuffled.
const BLOCK: usize = 32;
/// Rows that are shuffled among themselves: 32 blocks.
pub(super) const WINDOW: usize = 32 * BLOCK;

/// The order of an epoch's rows, window by window.
///
/// Visiting fully shuffled rows is bound by random access to memory: an epoch over `census` takes thirteen
/// times as long as in the order given. So blocks of 32 neighbouring rows are shuffled first, and then the
/// 1,024 rows of each 32 consecutive blocks. A window has rows from everywhere in the data, is prefetched
/// block by block at the speed of a sequential read, and is then visited in random order within the cache. Up
/// to 1,024 rows this is a full shuffle.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    total: usize,
    shuffled: bool,
    blocks: Vec<u32>,
    rows: Vec<u32>,
}

impl Sequence {
    /// All rows, in the order given.
    pub(crate) fn new(total: usize) -> Self {
        let blocks = (0..total.div_ceil(BLOCK) as u32).collect();
        Self { total, shuffled: false, blocks, rows: (0..total as u32).collect() }
    }

    /// Shuffles for the next epoch.
    pub(crate) fn shuffle(&mut self, random: &mut Random) {
        self.shuffled = true;
        random.shuffle(&mut self.blocks);
        self.rows.clear();
        for blocks in self.blocks.chunks(WINDOW / BLOCK) {
            let start = self.rows.len();
            self.rows.extend(blocks.iter().flat_map(|&block| span(block, self.total)).map(|row| row as u32));
            random.shuffle(&mut self.rows[start..]);
        }
    }

    /// All rows, in the order of their visits.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The windows: the spans of rows to prefetch for each (none in the order given, where the processor
    /// prefetches by itself), and the order in which its rows are visited.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (impl Iterator<Item = Range<usize>>, &[u32])> {
        let mut rest = self.rows.as_slice();
        self.blocks.chunks(WINDOW / BLOCK).map(move |blocks| {
            let spans = blocks.iter().map(|&block| span(block, self.total));
            let (window, after) = rest.split_at(spans.clone().map(|span| span.len()).sum());
            rest = after;
            (spans.take(if self.shuffled { blocks.len() } else { 0 }), window)
        })
    }
}

fn span(block: u32, total: usize) -> Range<usize> {
    let start = block as usize * BLOCK;
    start..total.min(start + BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_epoch_visits_every_row_once(total in 0usize..5000, seed in any::<u64>()) {
            let mut sequence = Sequence::new(total);
            let mut random = Random::new(seed);
            for epoch in 0..3 {
                let mut visited = Vec::new();
                for (spans, window) in sequence.windows() {
                    let mut prefetched: Vec<usize> = spans.flatten().collect();
                    let mut rows: Vec<usize> = window.iter().map(|&row| row as usize).collect();
                    visited.extend_from_slice(&rows);
                    prefetched.sort_unstable();
                    rows.sort_unstable();
                    prop_assert_eq!(prefetched, if epoch == 0 { Vec::new() } else { rows });
                }
                if epoch == 0 { prop_assert!(visited.is_sorted()); }
                visited.sort_unstable();
                prop_assert_eq!(visited, (0..total).collect::<Vec<_>>());
                sequence.shuffle(&mut random);
            }
        }
    }

    /// Sorted by class, as many files are, a window must not be of one class: with two classes of 32,000 rows
    /// each the number of positive blocks among the 32 of a window is binomial, with a standard deviation of
    /// 2.83.
    #[test]
    fn a_window_mixes_rows_from_everywhere() {
        let mut sequence = Sequence::new(64_000);
        sequence.shuffle(&mut Random::new(1));
        for (_, window) in sequence.windows() {
            let positive = window.iter().filter(|&&row| row >= 32_000).count();
            let share = positive as f64 / window.len() as f64;
            assert!((share - 0.5).abs() < 5.0 * 2.83 / 32.0, "{share}");
        }
    }
}
