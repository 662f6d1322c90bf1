//! When a solver computes its duality gap.

/// The steps at which the gap is computed: every step at first, then ever more seldom, so that gaps take a
/// small part of the time.
#[derive(Default)]
pub(super) struct GapSchedule {
    next: usize,
}

impl GapSchedule {
    pub(super) fn is_due(&mut self, step: usize) -> bool {
        let due = step >= self.next;
        if due {
            self.next = step + 1 + step / 8;
        }
        due
    }
}

/// When to try a costly proof of convergence: without a penalty no gap comes with the steps, and some cheap
/// indicator must have become small first.
pub(super) struct ProofSchedule {
    threshold: f64,
}

impl ProofSchedule {
    pub(super) fn new(threshold: f64) -> Self {
        Self { threshold }
    }

    /// Whether the indicator is small enough and the proof succeeds. If the proof fails, the next indicator
    /// has to be a tenth as large.
    pub(super) fn proves(&mut self, indicator: f64, proof: impl FnOnce() -> bool) -> bool {
        if indicator.is_nan() || indicator > self.threshold {
            return false;
        }
        let proven = proof();
        self.threshold *= if proven { 1.0 } else { 0.1 };
        proven
    }
}
