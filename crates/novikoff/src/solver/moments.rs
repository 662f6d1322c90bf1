//! When a solver takes the time to see how far it is.

/// Moments to look at the gap: every step at first, then ever more seldom, so that looking takes a small part
/// of the time.
#[derive(Default)]
pub(super) struct Moments {
    next: usize,
}

impl Moments {
    pub fn come(&mut self, step: usize) -> bool {
        let come = step >= self.next;
        if come {
            self.next = step + 1 + step / 8;
        }
        come
    }
}
