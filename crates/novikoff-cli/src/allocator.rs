//! Large allocations on huge pages.
//!
//! Rows and weights are a few large arrays that are filled once and then read in random order. On 4 KB pages a third of
//! the time of reading a file goes into page faults, and every far-away weight costs a miss of the translation buffer
//! besides the one of the cache; on 2 MB pages neither does. Linux gives them only to those who ask. Together with
//! reserving each array once, this took reading `census` on two threads from 324 to 717 MB/s.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for huge pages where an allocation is large enough to use them.
pub struct HugePages;

/// A huge page.
const HUGE: usize = 2 << 20;
/// From here on an allocation begins where a huge page does.
const LARGE: usize = 2 * HUGE;

/// Memory that begins with a huge page, and ends with one if that wastes next to nothing; null if there is none.
/// Parts of huge pages at either end would be hundreds of small ones, each with its own page fault.
#[cfg(target_os = "linux")]
fn whole_pages(size: usize) -> *mut u8 {
    let whole = size.next_multiple_of(HUGE);
    let size = if whole - size <= size / 16 { whole } else { size };
    let mut start = std::ptr::null_mut();
    // SAFETY: the place for the answer is valid, and the alignment a power of two and a multiple of a pointer's size.
    match unsafe { libc::posix_memalign(&mut start, HUGE, size) } {
        0 => advise(start.cast(), size),
        _ => return std::ptr::null_mut(),
    }
    start.cast()
}

/// Asks for huge pages behind `start..start + size`. Advice only: a refusal changes nothing.
#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    if start.is_null() || size < LARGE {
        return;
    }
    let first = (start as usize).next_multiple_of(PAGE);
    let end = (start as usize + size) & !(PAGE - 1);
    // SAFETY: the whole pages within an allocation that this allocator has just made or grown are mapped and ours;
    // MADV_HUGEPAGE changes neither their contents nor their protection.
    unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

// SAFETY: every call goes to `System` with the arguments unchanged, and its answer is returned unchanged; but for large
// allocations on Linux, where `System` is the C library's malloc, realloc and free: these take what posix_memalign gives.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        #[cfg(target_os = "linux")]
        if layout.size() >= LARGE && layout.align() <= HUGE {
            return whole_pages(layout.size());
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = unsafe { System.realloc(start, layout, size) };
        if size > layout.size() {
            advise(start, size);
        }
        start
    }
}
