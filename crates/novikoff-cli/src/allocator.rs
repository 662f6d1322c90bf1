//! Large allocations on huge pages, and the last one freed kept for the next.
//!
//! Rows and weights are a few large arrays that are filled once and then read in random order. On 4 KB pages a third of
//! the time of reading a file goes into page faults, and every far-away weight costs a miss of the translation buffer
//! besides the one of the cache; on 2 MB pages neither does. Linux gives them only to those who ask, and only where one
//! begins and ends: so large allocations are mapped here, from the start of a huge page on. Together with reserving each
//! array once, this took reading `census` on two threads from 324 to 717 MB/s.
//!
//! What the system gives it has cleared before, which takes as long as filling it. Work that goes through arrays of one size,
//! a file's bytes, then what was read from them, then sums over that, has it cleared once.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator for what is small, and mappings of huge pages for what is large.
pub struct HugePages;

// SAFETY: whether an allocation is `large` follows from its layout alone, so each is freed and grown by who made it. For small
// ones every call goes to `System` with the arguments unchanged, and its answer is returned unchanged. For large ones, see
// `large`. Where one becomes the other, what both have of it is copied into a new allocation before the old one is freed.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if large::is(layout) { large::alloc(layout.size()) } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if large::is(layout) { large::alloc_zeroed(layout.size()) } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if large::is(layout) { unsafe { large::free(start, layout.size()) } } else { unsafe { System.dealloc(start, layout) } }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's size is not zero, and no more than what a layout may have.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (large::is(layout), large::is(wanted)) {
            (false, false) => unsafe { System.realloc(start, layout, size) },
            (true, true) => unsafe { large::resize(start, layout.size(), size) },
            _ => unsafe {
                let new = self.alloc(wanted);
                if !new.is_null() {
                    start.copy_to_nonoverlapping(new, layout.size().min(size));
                    self.dealloc(start, layout);
                }
                new
            },
        }
    }
}

/// Large allocations: each is a mapping of its own, whose length follows from its size.
mod large {
    use std::alloc::Layout;
    use std::ptr::null_mut;
    use std::sync::Mutex;

    /// A multiple of every size that small pages have.
    const PAGE: usize = 1 << 16;
    /// A huge page.
    const HUGE: usize = 2 << 20;
    /// From here on an allocation is large.
    const LEAST: usize = HUGE;
    /// A freed one is kept up to this size: more would be missed by others.
    const MOST_KEPT: usize = 32 << 20;

    /// The freed mapping that is kept, by its start and its length; 0 and 0 if there is none.
    static KEPT: Mutex<(usize, usize)> = Mutex::new((0, 0));

    pub fn is(layout: Layout) -> bool {
        layout.size() >= LEAST && layout.align() <= HUGE
    }

    /// How long the mapping of an allocation is. It ends with a huge page if that wastes next to nothing: part of one would be
    /// hundreds of small ones, each with its own page fault.
    fn length(size: usize) -> usize {
        let whole = size.next_multiple_of(HUGE);
        if whole - size <= size / 16 { whole } else { size.next_multiple_of(PAGE) }
    }

    pub fn alloc(size: usize) -> *mut u8 {
        let length = length(size);
        take(length).unwrap_or_else(|| map(length))
    }

    pub fn alloc_zeroed(size: usize) -> *mut u8 {
        let length = length(size);
        match take(length) {
            // SAFETY: the mapping is ours and as long as this.
            Some(start) => unsafe {
                start.write_bytes(0, size);
                start
            },
            None => map(length),
        }
    }

    /// # Safety
    /// `start` is what one of the functions here has given for `size`, and is not used again.
    pub unsafe fn free(start: *mut u8, size: usize) {
        let (mut start, mut length) = (start as usize, length(size));
        // Whoever would have to wait does without.
        if length <= MOST_KEPT
            && let Ok(mut kept) = KEPT.try_lock()
            && kept.1 < length
        {
            (start, length) = std::mem::replace(&mut *kept, (start, length));
        }
        unmap(start, length);
    }

    /// # Safety
    /// `start` is what one of the functions here has given for `old`, and is not used again unless nothing is returned.
    pub unsafe fn resize(start: *mut u8, old: usize, new: usize) -> *mut u8 {
        let (before, after) = (length(old), length(new));
        if before == after {
            return start;
        }
        // SAFETY: the mapping is ours. Without a flag it stays where it is: shorter, longer if there is room behind it, or as it was.
        if unsafe { libc::mremap(start.cast(), before, after, 0) } != libc::MAP_FAILED {
            return start;
        }
        let place = map(after);
        if place.is_null() {
            return place;
        }
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: both mappings are ours and lie apart. The pages move, with what is in them; what was at their new place is nobody's.
        if unsafe { libc::mremap(start.cast(), before, after, flags, place) } != libc::MAP_FAILED {
            return place;
        }
        // That place may be gone by now; it is not used.
        let copy = map(after);
        if !copy.is_null() {
            // SAFETY: what is copied is in both, and nobody but us knows of the new one.
            unsafe {
                start.copy_to_nonoverlapping(copy, old.min(new));
                free(start, old);
            }
        }
        copy
    }

    /// The kept mapping, cut to this length, if it is long enough, and not so long that another could use it better.
    fn take(length: usize) -> Option<*mut u8> {
        let mut kept = KEPT.try_lock().ok()?;
        let (start, all) = *kept;
        if !(length..=length.saturating_mul(2)).contains(&all) {
            return None;
        }
        *kept = (0, 0);
        drop(kept);
        unmap(start + length, all - length);
        Some(start as *mut u8)
    }

    /// A new mapping that begins with a huge page; null if there is none.
    fn map(length: usize) -> *mut u8 {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, wherever there is room, touches no other.
        let found = unsafe { libc::mmap(null_mut(), length + HUGE, protection, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return null_mut();
        }
        let found = found as usize;
        let start = found.next_multiple_of(HUGE);
        unmap(found, start - found);
        unmap(start + length, found + HUGE - start);
        // SAFETY: the mapping is ours. Advice only: a refusal changes nothing, and neither contents nor protection ever do.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        start as *mut u8
    }

    /// Gives whole pages back that nobody uses any more, if there are any.
    fn unmap(start: usize, length: usize) {
        if length > 0 {
            // SAFETY: both callers and the kept mapping hand in what is theirs and forget it. The system may refuse, for want of room
            // to note down that one mapping has become two: then these pages stay, unused.
            unsafe { libc::munmap(start as *mut libc::c_void, length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An allocation that is filled with one byte.
    struct Filled {
        start: *mut u8,
        layout: Layout,
        byte: u8,
    }

    impl Filled {
        /// The first byte of every small page.
        fn places(&self) -> impl Iterator<Item = *mut u8> {
            let start = self.start;
            (0..self.layout.size()).step_by(4096).map(move |at| unsafe { start.add(at) })
        }

        fn fill(&mut self, byte: u8) {
            self.byte = byte;
            self.places().for_each(|place| unsafe { place.write(byte) });
            unsafe { self.start.add(self.layout.size() - 1).write(byte) };
        }

        fn assert_is_as_it_was(&self) {
            assert!((self.start as usize).is_multiple_of(self.layout.align()));
            assert!(self.places().all(|place| unsafe { place.read() } == self.byte), "{:?}", self.layout);
        }
    }

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).unwrap()
    }

    /// Takes, grows, shrinks and frees allocations of all sizes, and looks whether any of them changes another.
    fn use_it(mut seed: u64) {
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut all: Vec<Filled> = Vec::new();
        for turn in 0..250 {
            let size = match random(8) {
                0 => 1 + random(5000) as usize,
                1 => (30 << 20) + random(6 << 20) as usize,
                _ => (3 << 20) + random(9 << 20) as usize,
            };
            let choice = if all.len() < 2 { random(2) } else { random(6) };
            let one = random(all.len().max(1) as u64) as usize;
            match choice {
                0 | 1 => {
                    let start =
                        unsafe { if choice == 0 { HugePages.alloc(layout(size)) } else { HugePages.alloc_zeroed(layout(size)) } };
                    assert!(!start.is_null());
                    let mut new = Filled { start, layout: layout(size), byte: 0 };
                    if choice == 1 {
                        new.assert_is_as_it_was();
                    }
                    new.fill(turn as u8);
                    all.push(new);
                }
                2 | 3 => {
                    let old = all.swap_remove(one);
                    let start = unsafe { HugePages.realloc(old.start, old.layout, size) };
                    let both = layout(size.min(old.layout.size()));
                    Filled { start, layout: both, byte: old.byte }.assert_is_as_it_was();
                    let mut new = Filled { start, layout: layout(size), byte: 0 };
                    new.fill(turn as u8);
                    all.push(new);
                }
                _ => {
                    let old = all.swap_remove(one);
                    old.assert_is_as_it_was();
                    unsafe { HugePages.dealloc(old.start, old.layout) };
                }
            }
            all.iter().for_each(Filled::assert_is_as_it_was);
        }
        for one in all {
            unsafe { HugePages.dealloc(one.start, one.layout) };
        }
    }

    #[test]
    fn no_allocation_changes_another_on_any_thread() {
        std::thread::scope(|scope| {
            for seed in 0..3 {
                scope.spawn(move || use_it(seed));
            }
        });
    }

    /// More than there is: nothing is given, and what was there is as it was.
    #[test]
    fn what_cannot_be_had_is_refused() {
        let too_much = isize::MAX as usize - 100;
        assert!(unsafe { HugePages.alloc(layout(too_much)) }.is_null());
        assert!(unsafe { HugePages.alloc_zeroed(layout(too_much)) }.is_null());
        for size in [100, 9 << 20] {
            let start = unsafe { HugePages.alloc(layout(size)) };
            let mut filled = Filled { start, layout: layout(size), byte: 0 };
            filled.fill(7);
            assert!(unsafe { HugePages.realloc(start, layout(size), too_much) }.is_null());
            filled.assert_is_as_it_was();
            unsafe { HugePages.dealloc(start, layout(size)) };
        }
    }
}
