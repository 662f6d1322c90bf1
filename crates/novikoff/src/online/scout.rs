//! First looks at rows before their turn, by a second thread.

use super::epochs::Batch;
use super::mirror::{Glance, Mirror, Moment};
use crate::control::Flow;
use crate::data::{Row, Vector};
use std::array::from_fn;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;

/// A first look at a row before its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) glance: Glance,
    /// No less than the length of the row.
    pub(super) length: f64,
    pub(super) moment: Moment,
}

/// The most rows of a group.
const MOST: usize = 64;
/// A group has about so many entries: enough to pay for the meeting, and few enough that what is seen holds until its turn.
const ENTRIES: usize = 6_000;

/// The rows of an epoch in groups, each looked at from both ends: by the learner from the first row on, and by a scout from the last row
/// back. Where they meet, the learner goes on with what the scout has seen, and the scout with the next group.
///
/// Looking at a row changes nothing, and most rows change nothing either. What was seen is good enough if a row is clear however the weights can
/// have changed since; if not, the learner looks again. So what is learned is the same to the bit, with a scout or without. The
/// learner never waits: where the scout has not come, it looks itself.
pub(super) struct Scout<'a> {
    batch: Batch<'a>,
    mirror: &'a Mirror,
    /// Rows in the order in which they are visited.
    order: &'a [u32],
    /// Rows of a group.
    size: usize,
    /// What was seen, by the place of a row in the order, modulo two groups: the scout is at most a group ahead.
    sights: Vec<Slot>,
    /// The first row of the order that the learner has not visited. Written by the learner.
    visited: Line,
    /// The first row of the scout's group that it has looked at. Written by the scout.
    seen_from: Line,
    over: AtomicBool,
}

/// A number that one thread writes and the other reads, in two lines of the cache of its own.
#[repr(align(128))]
struct Line(AtomicUsize);

/// A [`Sight`] for another thread.
#[repr(align(64))]
struct Slot([AtomicU64; 6]);

impl Slot {
    fn put(&self, Sight { glance, length, moment }: Sight) {
        let numbers = [glance.sum.to_bits(), glance.doubt.to_bits(), length.to_bits()];
        self.0.iter().zip(numbers.into_iter().chain(moment.into_bits())).for_each(|(slot, bits)| slot.store(bits, Relaxed));
    }

    fn get(&self) -> Sight {
        let [sum, doubt, length, moment @ ..] = self.0.each_ref().map(|slot| slot.load(Relaxed));
        let [sum, doubt, length] = [sum, doubt, length].map(f64::from_bits);
        Sight { glance: Glance { sum, doubt }, length, moment: Moment::from_bits(moment) }
    }
}

impl<'a> Scout<'a> {
    pub(super) fn new(batch: Batch<'a>, mirror: &'a Mirror, order: &'a [u32]) -> Self {
        let entries = batch.rows.stored() / batch.rows.rows().max(1);
        let size = (ENTRIES / entries.max(1)).clamp(2, MOST);
        let sights = (0..2 * size).map(|_| Slot(from_fn(|_| AtomicU64::new(0)))).collect();
        let (visited, seen_from) = (Line(AtomicUsize::new(0)), Line(AtomicUsize::new(usize::MAX)));
        Self { batch, mirror, order, size, sights, visited, seen_from, over: AtomicBool::new(false) }
    }

    /// Calls `visit` with every row in its turn, and with what was seen of it, until it says that it is enough.
    pub(super) fn lead(&self, visit: impl FnMut(u32, Row<'a>, Option<Sight>) -> Flow) -> Flow {
        thread::scope(|scope| {
            // Also if the learner panics: the scope waits for its threads.
            let _end = AtTheEnd(|| self.over.store(true, Relaxed));
            // A new thread is put on a core that has nothing to do, a woken one often on the core of who woke it. If there can be none, the
            // learner does without.
            let _ = thread::Builder::new().name("scout".into()).spawn_scoped(scope, || self.go_ahead());
            self.follow(visit)
        })
    }

    /// What the learner does.
    fn follow(&self, mut visit: impl FnMut(u32, Row<'a>, Option<Sight>) -> Flow) -> Flow {
        for (group, rows) in self.order.chunks(self.size).enumerate() {
            let start = group * self.size;
            let end = start + rows.len();
            let mut seen_from = end;
            for (at, &i) in (start..).zip(rows) {
                if at < seen_from {
                    // What the scout says of another group is none of this one's.
                    seen_from = Some(self.seen_from.0.load(Acquire)).filter(|from| (start..end).contains(from)).unwrap_or(end);
                }
                let sight = (at >= seen_from).then(|| self.sights[at % self.sights.len()].get());
                let flow = visit(i, self.batch.rows.row(i as usize), sight);
                self.visited.0.store(at + 1, Release);
                if flow == Flow::Stop {
                    return flow;
                }
            }
        }
        Flow::Continue
    }

    /// What the scout does.
    fn go_ahead(&self) {
        let mut group = 0;
        while !self.over.load(Relaxed) {
            // Where the learner is, or one farther; but never in a group twice.
            let reached = self.visited.0.load(Acquire) / self.size;
            if group > reached + 1 {
                spin_loop();
                continue;
            }
            group = group.max(reached);
            let start = group * self.size;
            if start >= self.order.len() {
                return;
            }
            self.look(start, self.order.len().min(start + self.size));
            group += 1;
        }
    }

    /// Looks at the rows of a group, from the last one back to where the learner is.
    fn look(&self, start: usize, end: usize) {
        for at in (start..end).rev() {
            // The learner is at the row that it has not visited.
            if self.visited.0.load(Acquire) >= at || self.over.load(Relaxed) {
                return;
            }
            let row = self.batch.rows.row(self.order[at] as usize);
            // Before the look: what changes while it lasts counts as later.
            let moment = self.mirror.moment();
            self.sights[at % self.sights.len()].put(Sight { glance: self.mirror.glance(row), length: row.length(), moment });
            self.seen_from.0.store(at, Release);
        }
    }
}

struct AtTheEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::data::matrix::{Builder, Layout};
    use crate::random::Random;

    fn rows(random: &mut Random, count: usize, features: usize, entries: usize) -> Matrix {
        let mut builder = Builder::new(Layout::Sparse);
        for _ in 0..count {
            let mut indices: Vec<u32> = (0..entries).map(|_| random.below(features as u64) as u32).collect();
            indices.sort_unstable();
            indices.dedup();
            let values: Vec<f64> = indices.iter().map(|_| random.normal()).collect();
            builder.push(&indices, &values);
        }
        let mut rows = builder.finish();
        rows.widen(features);
        rows
    }

    /// The learner moves its weights at one row in four, while the scout looks at them.
    #[test]
    fn every_row_comes_in_its_turn_and_what_was_seen_of_it_bounds_its_score() {
        let mut random = Random::new(7);
        for (count, entries) in [(0, 1), (1, 1), (5, 3), (700, 40), (3_000, 400), (333, 9_000)] {
            let features = 20_000;
            let rows = rows(&mut random, count, features, entries);
            let mut order: Vec<u32> = (0..count as u32).collect();
            random.shuffle(&mut order);
            let classes = vec![0; count];
            let (mut weights, mirror) = (vec![0.0; features], Mirror::zero(features));
            let (mut visited, mut luck) = (Vec::new(), Random::new(1));
            let flow =
                Scout::new(Batch { rows: &rows, classes: &classes, weights: &[] }, &mirror, &order).lead(|i, row, sight| {
                    visited.push(i);
                    if let Some(Sight { glance, length, moment }) = sight {
                        let (exact, drift) = (row.dot(&weights), mirror.drift(moment, length));
                        assert!((glance.sum - exact).abs() <= glance.doubt + drift, "row {i}: {glance:?}, {drift}, {exact}");
                        assert!(length * length >= row.norm_sq());
                    }
                    if luck.below(4) == 0 {
                        let step = luck.normal();
                        row.add_to(&mut weights, step);
                        mirror.follow(row, step, &weights);
                    }
                    Flow::Continue
                });
            assert_eq!((visited, flow), (order, Flow::Continue));
        }
    }

    #[test]
    fn the_scout_ends_with_the_learner() {
        let rows = rows(&mut Random::new(7), 500, 5_000, 100);
        let (order, classes, mirror) = ((0..500).collect::<Vec<u32>>(), vec![0; 500], Mirror::zero(5_000));
        let mut visited = 0;
        let flow = Scout::new(Batch { rows: &rows, classes: &classes, weights: &[] }, &mirror, &order).lead(|_, _, _| {
            visited += 1;
            if visited == 100 { Flow::Stop } else { Flow::Continue }
        });
        assert_eq!((visited, flow), (100, Flow::Stop));
    }
}
