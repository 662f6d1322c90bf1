//! Rows copied side by side in the order in which they are visited, by a second thread.

use super::epochs::Batch;
use super::order::{Sequence, WINDOW};
use crate::data::Matrix;
use crate::random::Random;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};

/// The rows of a window of the order, in that order.
#[derive(Debug)]
pub(super) struct Page {
    /// What they are called where they come from.
    pub(super) ids: Vec<u32>,
    rows: Matrix,
    classes: Vec<u32>,
    weights: Vec<f64>,
    /// Whether the epoch ends with it.
    pub(super) is_last: bool,
}

impl Page {
    fn empty(like: Batch<'_>) -> Self {
        let (classes, weights) =
            (Vec::with_capacity(WINDOW), Vec::with_capacity(like.weights.len().min(WINDOW)));
        Self { ids: Vec::with_capacity(WINDOW), rows: like.rows.select([]), classes, weights, is_last: false }
    }

    fn write(&mut self, batch: Batch<'_>, ids: &[u32]) {
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        self.classes.clear();
        self.classes.extend(ids.iter().map(|&i| batch.classes[i as usize]));
        self.weights.clear();
        if !batch.weights.is_empty() {
            self.weights.extend(ids.iter().map(|&i| batch.weights[i as usize]));
        }
        self.rows.refill(batch.rows, ids);
    }

    /// The rows, numbered by their turn.
    pub(super) fn batch(&self) -> Batch<'_> {
        Batch { rows: &self.rows, classes: &self.classes, weights: &self.weights }
    }
}

/// Pages of that many windows are under way. The more, the seldomer one thread waits for the other; but they
/// should be in the cache still when their turn comes.
const PAGES: usize = 16;
/// So many are handed back at once: each time, a thread may have to be woken.
const AT_ONCE: usize = 4;

/// Page after page, epoch after epoch.
///
/// Shuffled rows are not where the processor looks next by itself, and short ones are learned from faster
/// than they come. Copied, they come at the speed of a sequential read, and who learns has neither to shuffle
/// nor to look for them.
#[derive(Debug)]
pub(super) struct Pages {
    written: Receiver<Page>,
    read: Sender<Vec<Page>>,
    /// Read, and not handed back yet.
    kept: Vec<Page>,
}

impl Pages {
    /// Has pages written by a new thread: so many epochs of shuffled rows, or until these pages are dropped.
    /// None if there can be no thread.
    pub(super) fn write<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        batch: Batch<'a>,
        seed: u64,
        epochs: usize,
    ) -> Option<Self> {
        let ((written_out, written), (read, free)) = (channel(), channel());
        let _ = read.send((0..PAGES).map(|_| Page::empty(batch)).collect());
        let writer = move || write(batch, seed, epochs, &free, &written_out);
        thread::Builder::new().name("pages".into()).spawn_scoped(scope, writer).ok()?;
        Some(Self { written, read, kept: Vec::with_capacity(AT_ONCE) })
    }

    /// The next page; none if there are no more.
    pub(super) fn next(&mut self) -> Option<Page> {
        self.written.recv().ok()
    }

    /// Hands a page back, to be written anew.
    pub(super) fn hand_back(&mut self, page: Page) {
        self.kept.push(page);
        if self.kept.len() == AT_ONCE {
            // Whoever has written the last page is not there any more.
            let _ = self.read.send(std::mem::replace(&mut self.kept, Vec::with_capacity(AT_ONCE)));
        }
    }
}

/// Writes pages until all are written or nobody wants any.
fn write(batch: Batch<'_>, seed: u64, epochs: usize, free: &Receiver<Vec<Page>>, written: &Sender<Page>) {
    let (mut random, mut sequence) = (Random::new(seed), Sequence::new(batch.rows.rows()));
    let mut pages = Vec::new();
    for _ in 0..epochs {
        sequence.shuffle(&mut random);
        let mut windows = sequence.windows().peekable();
        while let Some((spans, window)) = windows.next() {
            batch.fetch_all(spans);
            while pages.is_empty() {
                let Ok(more) = free.recv() else { return };
                pages = more;
            }
            let Some(mut page) = pages.pop() else { return };
            page.write(batch, window);
            page.is_last = windows.peek().is_none();
            if written.send(page).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};

    /// Rows of every storage.
    fn matrices(random: &mut Random, rows: usize) -> Vec<Matrix> {
        let mut all = Vec::new();
        for form in 0..6 {
            let (columns, exact) = (7, form % 2 == 0);
            let mut builder = Builder::new(if form < 2 { Layout::Dense { columns } } else { Layout::Sparse });
            for _ in 0..rows {
                let indices: Vec<u32> = (0..columns as u32).filter(|_| random.below(3) > 0).collect();
                let one = f64::from(random.below(5) as u32) + if exact { 1.0 } else { 0.1 };
                let value = |j: &u32| if form < 4 { f64::from(*j + 1) * one } else { one };
                builder.push(&indices, &indices.iter().map(value).collect::<Vec<_>>());
            }
            all.push(builder.finish());
        }
        all
    }

    #[test]
    fn pages_have_the_rows_of_every_epoch_in_the_order_of_its_sequence() {
        let mut random = Random::new(3);
        for rows in [1, 31, 1_024, 5_000, 40_000] {
            for (form, matrix) in matrices(&mut random, rows).into_iter().enumerate() {
                let classes: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
                let weights: Vec<f64> = (0..rows).map(|i| i as f64).collect();
                let weights = if form % 2 == 0 { &weights[..] } else { &[] };
                let batch = Batch { rows: &matrix, classes: &classes, weights };
                let (mut sequence, mut random) = (Sequence::new(rows), Random::new(9));
                thread::scope(|scope| {
                    let mut pages = Pages::write(scope, batch, 9, 3).unwrap();
                    for _ in 0..3 {
                        sequence.shuffle(&mut random);
                        let mut ids = Vec::new();
                        loop {
                            let page = pages.next().unwrap();
                            for (at, &id) in page.ids.iter().enumerate() {
                                assert_eq!(page.batch().label(at as u32), batch.label(id));
                            }
                            assert_eq!(page.rows, matrix.select(page.ids.iter().map(|&i| i as usize)));
                            ids.extend_from_slice(&page.ids);
                            let is_last = page.is_last;
                            pages.hand_back(page);
                            if is_last {
                                break;
                            }
                        }
                        assert_eq!(ids, sequence.rows());
                    }
                    assert!(pages.next().is_none());
                });
            }
        }
    }

    #[test]
    fn who_writes_ends_when_nobody_reads() {
        let matrix = matrices(&mut Random::new(3), 60_000).pop().unwrap();
        let classes = vec![0; 60_000];
        let batch = Batch { rows: &matrix, classes: &classes, weights: &[] };
        thread::scope(|scope| assert!(Pages::write(scope, batch, 9, 1_000_000).unwrap().next().is_some()));
    }
}
