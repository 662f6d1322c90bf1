//! Copies of the rows in shuffled order, made by a second thread.
//!
//! Shuffled rows are not where the processor prefetches, and short rows are learned from faster than random
//! access delivers them. Copied into the order of their visits, they arrive at the speed of a sequential
//! read, and the learning thread neither shuffles nor waits.

use super::epochs::TrainingRows;
use super::order::{Sequence, WINDOW};
use crate::data::Matrix;
use crate::random::Random;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};

/// A copy of the rows of one window, in the order of their visits.
#[derive(Debug)]
pub(super) struct ShuffledCopy {
    /// The number of each row in the data.
    pub(super) ids: Vec<u32>,
    rows: Matrix<'static>,
    classes: Vec<u32>,
    weights: Vec<f64>,
    /// Whether the epoch ends with this window.
    pub(super) is_last: bool,
}

impl ShuffledCopy {
    fn empty(like: TrainingRows<'_>) -> Self {
        Self {
            ids: Vec::with_capacity(WINDOW),
            rows: like.rows.select([]),
            classes: Vec::with_capacity(WINDOW),
            weights: Vec::with_capacity(like.weights.len().min(WINDOW)),
            is_last: false,
        }
    }

    fn fill(&mut self, data: TrainingRows<'_>, ids: &[u32]) {
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        self.classes.clear();
        self.classes.extend(ids.iter().map(|&i| data.classes[i as usize]));
        self.weights.clear();
        if !data.weights.is_empty() {
            self.weights.extend(ids.iter().map(|&i| data.weights[i as usize]));
        }
        self.rows.refill(data.rows, ids);
    }

    /// The rows, numbered in the order of their visits.
    pub(super) fn training_rows(&self) -> TrainingRows<'_> {
        TrainingRows { rows: &self.rows, classes: &self.classes, weights: &self.weights }
    }
}

/// Windows in flight. With more, the threads wait for each other less often; but a copy should still be in
/// the cache when it is read.
const IN_FLIGHT: usize = 16;
/// Windows that are handed back at once: each time, a thread may have to be woken.
const RECYCLED_AT_ONCE: usize = 4;

/// The epochs to copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    pub(super) seed: u64,
    pub(super) epochs: usize,
    /// Epochs that are done, and rows of the next one.
    pub(super) skipped: (usize, usize),
}

/// The windows of all epochs, one after the other.
#[derive(Debug)]
pub(super) struct ShuffledCopies {
    filled: Receiver<ShuffledCopy>,
    free: Sender<Vec<ShuffledCopy>>,
    /// Read, and not handed back yet.
    read: Vec<ShuffledCopy>,
}

impl ShuffledCopies {
    /// Starts a thread that copies epochs of shuffled rows, or until this value is dropped. `None` if
    /// no thread can be started.
    pub(super) fn spawn<'scope, 'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        data: TrainingRows<'a>,
        passes: Passes,
    ) -> Option<Self> {
        let ((filled_out, filled), (free, free_in)) = (channel(), channel());
        let _ = free.send((0..IN_FLIGHT).map(|_| ShuffledCopy::empty(data)).collect());
        let copy = move || copy_epochs(data, passes, &free_in, &filled_out);
        thread::Builder::new().name("shuffle".into()).spawn_scoped(scope, copy).ok()?;
        Some(Self { filled, free, read: Vec::with_capacity(RECYCLED_AT_ONCE) })
    }

    /// The next window; `None` after the last epoch.
    pub(super) fn next(&mut self) -> Option<ShuffledCopy> {
        self.filled.recv().ok()
    }

    /// Hands a window back, to be filled again.
    pub(super) fn recycle(&mut self, window: ShuffledCopy) {
        self.read.push(window);
        if self.read.len() == RECYCLED_AT_ONCE {
            // After the last window the other thread has ended.
            let _ = self.free.send(std::mem::replace(&mut self.read, Vec::with_capacity(RECYCLED_AT_ONCE)));
        }
    }
}

/// Copies windows until all epochs are done or the other side of a channel is gone.
fn copy_epochs(
    data: TrainingRows<'_>,
    Passes { seed, epochs, skipped: (done, mut skipped) }: Passes,
    free: &Receiver<Vec<ShuffledCopy>>,
    filled: &Sender<ShuffledCopy>,
) {
    let (mut random, mut sequence) = (Random::new(seed), Sequence::new(data.rows.rows()));
    let mut available = Vec::new();
    for epoch in 0..epochs {
        sequence.shuffle(&mut random);
        if epoch < done {
            continue;
        }
        let mut windows = sequence.windows().peekable();
        while let Some((spans, ids)) = windows.next() {
            if skipped >= ids.len() {
                skipped -= ids.len();
                continue;
            }
            skipped = 0;
            data.prefetch(spans);
            while available.is_empty() {
                let Ok(more) = free.recv() else { return };
                available = more;
            }
            let Some(mut window) = available.pop() else { return };
            window.fill(data, ids);
            window.is_last = windows.peek().is_none();
            if filled.send(window).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};

    /// Rows in every storage format.
    fn matrices(random: &mut Random, rows: usize) -> Vec<Matrix<'static>> {
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

    fn passes(epochs: usize) -> Passes {
        Passes { seed: 9, epochs, skipped: (0, 0) }
    }

    #[test]
    fn copies_have_the_rows_of_every_epoch_in_the_order_of_its_sequence() {
        let mut random = Random::new(3);
        for rows in [1, 31, 1_024, 5_000, 40_000] {
            for (form, matrix) in matrices(&mut random, rows).into_iter().enumerate() {
                let classes: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
                let weights: Vec<f64> = (0..rows).map(|i| i as f64).collect();
                let weights = if form % 2 == 0 { &weights[..] } else { &[] };
                let data = TrainingRows { rows: &matrix, classes: &classes, weights };
                let (mut sequence, mut random) = (Sequence::new(rows), Random::new(9));
                thread::scope(|scope| {
                    let mut copies = ShuffledCopies::spawn(scope, data, passes(3)).unwrap();
                    for _ in 0..3 {
                        sequence.shuffle(&mut random);
                        let mut ids = Vec::new();
                        loop {
                            let window = copies.next().unwrap();
                            for (at, &id) in window.ids.iter().enumerate() {
                                assert_eq!(window.training_rows().label(at as u32), data.label(id));
                            }
                            assert_eq!(window.rows, matrix.select(window.ids.iter().map(|&i| i as usize)));
                            ids.extend_from_slice(&window.ids);
                            let is_last = window.is_last;
                            copies.recycle(window);
                            if is_last {
                                break;
                            }
                        }
                        assert_eq!(ids, sequence.rows());
                    }
                    assert!(copies.next().is_none());
                });
            }
        }
    }

    #[test]
    fn the_copying_thread_ends_when_nobody_reads() {
        let matrix = matrices(&mut Random::new(3), 60_000).pop().unwrap();
        let classes = vec![0; 60_000];
        let data = TrainingRows { rows: &matrix, classes: &classes, weights: &[] };
        thread::scope(|scope| {
            assert!(ShuffledCopies::spawn(scope, data, passes(1_000_000)).unwrap().next().is_some())
        });
    }
}
