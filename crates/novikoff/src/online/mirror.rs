//! The weights of two classes, rounded to 16 bits: a first look at rows where there are millions of features.

use crate::data::{Row, Vector};
use std::iter::repeat_with;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI16, AtomicU64};

/// From so many features on there is a mirror: their weights are larger than a core's own cache.
pub(super) const MIRROR_FROM: usize = 1 << 17;

/// Weights as whole numbers of a unit.
///
/// Where the weights are too large for the cache, looking them up is all that learning waits for, and a quarter of the bytes
/// is there in half the time. Most rows are clear of any doubt that rounding leaves; the others are scored exactly. What is
/// learned is the same.
///
/// Only the learner writes; any thread may look, at any time. What it sees may be out of date, but the learner knows by how much: by
/// Cauchy and Schwarz, an update moves no score by more than its own length times that of the row.
#[derive(Debug)]
pub(super) struct Mirror {
    /// `w/unit`, rounded towards zero. All are below [`LIMIT`].
    rounded: Vec<AtomicI16>,
    /// The bits of a power of two; infinite once a weight was not finite, which makes every doubt infinite, too.
    unit: AtomicU64,
    /// The bits of the length of the path that the weights have come: the sum of the lengths of all updates.
    path: AtomicU64,
    /// How many updates there were.
    updates: AtomicU64,
    /// How many units there were.
    units: AtomicU64,
}

/// A mirror that other threads may look at for as long as they like. A clone is a mirror of its own.
#[derive(Debug)]
pub(super) struct Shared(Arc<Mirror>);

impl Shared {
    pub fn new(mirror: Mirror) -> Self {
        Self(Arc::new(mirror))
    }

    /// For others to look at.
    pub fn share(&self) -> Arc<Mirror> {
        Arc::clone(&self.0)
    }

    /// For changes of its size, if nobody else looks at it.
    pub fn get_mut(&mut self) -> Option<&mut Mirror> {
        Arc::get_mut(&mut self.0)
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        let number = |of: &AtomicU64| AtomicU64::new(of.load(Relaxed));
        let Mirror { rounded, unit, path, updates, units } = &*self.0;
        let rounded = rounded.iter().map(|w| AtomicI16::new(w.load(Relaxed))).collect();
        let [unit, path, updates, units] = [unit, path, updates, units].map(number);
        Self::new(Mirror { rounded, unit, path, updates, units })
    }
}

impl Deref for Shared {
    type Target = Mirror;

    fn deref(&self) -> &Mirror {
        &self.0
    }
}

/// A first look at a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Glance {
    /// `<w, x>`.
    pub sum: f64,
    /// How far from it the score can be that the weights themselves give.
    pub doubt: f64,
}

/// When a look was taken: what the mirror's numbers were before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    path: f64,
    updates: u64,
    units: u64,
}

impl Moment {
    pub fn into_bits(self) -> [u64; 3] {
        [self.path.to_bits(), self.updates, self.units]
    }

    pub fn from_bits([path, updates, units]: [u64; 3]) -> Self {
        Self { path: f64::from_bits(path), updates, units }
    }
}

/// In units, weights must be smaller than this.
const LIMIT: f64 = 32_768.0;
/// A new unit makes the largest weight so many units, or up to twice as many: room to grow before the next new unit.
const LARGEST: f64 = 256.0;

impl Mirror {
    /// All zero.
    pub fn zero(features: usize) -> Self {
        // No weight that matters is small enough for this: the first one that is not zero will choose the unit.
        let unit = AtomicU64::new(2f64.powi(-900).to_bits());
        let [path, updates, units] = [const { AtomicU64::new(0) }; 3];
        // Zeros that are written: of memory that is read first, the system gives every page twice, and interrupts the other cores for it.
        Self { rounded: repeat_with(AtomicI16::default).take(features).collect(), unit, path, updates, units }
    }

    /// A mirror of these weights.
    pub fn of(weights: &[f64]) -> Self {
        let mirror = Self::zero(weights.len());
        mirror.follow(Row::Dense64(weights), 1.0, weights);
        mirror
    }

    /// Makes room for new features, which weigh nothing.
    pub fn grow(&mut self, features: usize) {
        self.rounded.resize_with(features.max(self.rounded.len()), AtomicI16::default);
    }

    fn unit(&self) -> f64 {
        f64::from_bits(self.unit.load(Relaxed))
    }

    /// Now. Whoever has this sees all that was written until then.
    #[inline]
    pub fn moment(&self) -> Moment {
        // In this order: updates that are not counted yet may already be part of the path.
        let units = self.units.load(Acquire);
        let updates = self.updates.load(Acquire);
        Moment { path: f64::from_bits(self.path.load(Acquire)), updates, units }
    }

    /// How far a score of a row of this length can have come since then; infinite where that look is of no use any more.
    #[inline]
    pub fn drift(&self, then: Moment, length: f64) -> f64 {
        let now = self.moment();
        if now.units != then.units {
            return f64::INFINITY;
        }
        // Each addition to the path was rounded.
        let rounding = (now.updates - then.updates + 2) as f64 * f64::EPSILON * now.path;
        (now.path - then.path + rounding) * length
    }

    /// Looks at the weights that an update by so much of this row has changed. Only one thread may call this.
    pub fn follow(&self, row: impl Vector, step: f64, weights: &[f64]) {
        let per_unit = 1.0 / self.unit();
        // As bits, where what is no number is the largest.
        let mut largest = 0;
        row.for_each_index(|j| {
            if let (Some(rounded), Some(weight)) = (self.rounded.get(j), weights.get(j)) {
                rounded.store((weight * per_unit) as i16, Relaxed);
                largest = largest.max(weight.abs().to_bits());
            }
        });
        let largest = f64::from_bits(largest);
        if largest.is_nan() || largest * per_unit >= LIMIT {
            self.choose_unit(largest, weights);
        }
        // After the weights: who does not see this may not have seen them.
        let path = f64::from_bits(self.path.load(Relaxed)) + step.abs() * row.length();
        self.path.store(path.to_bits(), Release);
        self.updates.store(self.updates.load(Relaxed) + 1, Release);
    }

    /// Chooses a larger unit. Weights that were rounded to zero would be so again.
    #[cold]
    fn choose_unit(&self, largest: f64, weights: &[f64]) {
        /// The bits of the exponent: without the others, a number is rounded down to a power of two.
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        let unit = match largest.is_finite() {
            true => f64::from_bits(largest.to_bits() & EXPONENT) / LARGEST,
            false => f64::INFINITY,
        };
        self.unit.store(unit.to_bits(), Relaxed);
        for (rounded, weight) in self.rounded.iter().zip(weights).filter(|(rounded, _)| rounded.load(Relaxed) != 0) {
            rounded.store((weight / unit) as i16, Relaxed);
        }
        self.units.store(self.units.load(Relaxed) + 1, Release);
    }

    /// A first look at a row.
    #[inline]
    pub fn glance(&self, row: Row<'_>) -> Glance {
        let ((sum, size), unit) = (row.rough_dot(&self.rounded), self.unit());
        // No sum on the way is larger than this. If it is infinite, so is the doubt.
        let most = size * unit * LIMIT;
        // Each weight is within a unit of its mirror, which makes `unit·size`. Rounding adds far less: `most` times some 2⁻⁵³ an
        // entry, of which a row has fewer than 2³², and what is lost where products underflow.
        Glance { sum: sum * unit, doubt: most * (2.0 / LIMIT) + f64::MIN_POSITIVE * row.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Weights that grow over many powers of ten, so that units are outgrown.
        #[test]
        fn the_score_of_the_weights_is_within_the_doubt(
            updates in prop::collection::vec((prop::collection::btree_set(0u32..40, 0..20), -1f64..1.0, -12i32..12), 1..30),
            even in any::<bool>(),
            known in 1usize..40,
        ) {
            let mut weights = vec![0.0; known];
            let mut mirror = Mirror::zero(known);
            let mut largest = 0.0;
            for (step, (indices, value, power)) in updates.iter().enumerate() {
                if step == updates.len() / 2 {
                    weights.resize(40, 0.0);
                    mirror.grow(40);
                }
                let indices: Vec<u32> = indices.iter().copied().collect();
                let values: Vec<f64> = indices.iter().map(|&j| value * f64::from(1 + j % 7)).collect();
                let row = if even { Row::Even(&indices, *value) } else { Row::Sparse64(&indices, &values) };
                row.add_to(&mut weights, 10f64.powi(*power));
                mirror.follow(row, 10f64.powi(*power), &weights);
                largest = weights.iter().fold(largest, |largest: f64, w| largest.max(w.abs()));
                for (mirror, what) in [(&mirror, "followed"), (&Mirror::of(&weights), "made anew")] {
                    let (Glance { sum, doubt }, exact) = (mirror.glance(row), row.dot(&weights));
                    prop_assert!((sum - exact).abs() <= doubt, "{}: {} for {}, within {}", what, sum, exact, doubt);
                    // The doubt is worth having: it is small beside what weights as large as the largest so far would make.
                    let size = row.rough_dot(&mirror.rounded).1;
                    prop_assert!(doubt <= largest * size / 100.0 + 1e-250, "{}: {} of {} times {}", what, doubt, largest, size);
                }
            }
        }
    }

    proptest! {
        /// What was seen before some updates bounds what is true after them, also where a unit was outgrown in between.
        #[test]
        fn an_old_look_with_its_drift_bounds_the_score_of_now(
            updates in prop::collection::vec((prop::collection::btree_set(0u32..40, 0..20), -1f64..1.0, -3i32..4), 2..30),
            even in any::<bool>(),
            looked_at in prop::collection::vec(0usize..30, 1..6),
        ) {
            let mut weights = vec![0.0; 40];
            let mirror = Mirror::zero(40);
            let indices: Vec<Vec<u32>> = updates.iter().map(|(indices, ..)| indices.iter().copied().collect()).collect();
            let values: Vec<Vec<f64>> = indices.iter().zip(&updates)
                .map(|(indices, (_, value, _))| indices.iter().map(|&j| value * f64::from(1 + j % 7)).collect()).collect();
            let row = |i: usize| if even { Row::Even(&indices[i], updates[i].1) } else { Row::Sparse64(&indices[i], &values[i]) };
            let mut looks = Vec::new();
            for (i, (_, _, power)) in updates.iter().enumerate() {
                looks.extend(looked_at.iter().map(|at| at % updates.len()).map(|at| (at, mirror.glance(row(at)), mirror.moment())));
                let step = 10f64.powi(*power);
                row(i).add_to(&mut weights, step);
                mirror.follow(row(i), step, &weights);
                for &(at, Glance { sum, doubt }, moment) in &looks {
                    let (exact, drift) = (row(at).dot(&weights), mirror.drift(moment, row(at).length()));
                    prop_assert!((sum - exact).abs() <= doubt + drift, "{} for {}, within {} + {}", sum, exact, doubt, drift);
                    // And the drift is no more than the updates since then can have made of it.
                    prop_assert!(drift == f64::INFINITY || drift <= 1e3 * 30.0 * 20.0 * 49.0);
                }
            }
            let now = mirror.moment();
            prop_assert_eq!(Moment::from_bits(now.into_bits()), now);
            prop_assert!(mirror.drift(now, 1.0) <= 1e-9 * now.path);
        }
    }

    #[test]
    fn nothing_is_clear_once_a_weight_is_not_finite() {
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let mut weights = [1.0, bad];
            let mirror = Mirror::of(&weights);
            for _ in 0..2 {
                for row in [Row::Even(&[0], 1.0), Row::Even(&[1], 1.0), Row::Even(&[], 0.0)] {
                    let Glance { sum, doubt } = mirror.glance(row);
                    let clear = sum.abs() - doubt > 0.0;
                    assert!(!clear, "{sum} {doubt}");
                }
                weights[1] = 1.0;
                mirror.follow(Row::Even(&[0, 1], 1.0), 1.0, &weights);
            }
        }
    }

    /// Sums on the way to a score may overflow where the score itself does not.
    #[test]
    fn nothing_is_clear_where_a_sum_could_overflow() {
        let mirror = Mirror::of(&[1e300, 1e300, -1e300]);
        let glance = mirror.glance(Row::Even(&[0, 1, 2], 1.5e8));
        assert!(glance.doubt.is_infinite());
    }
}
