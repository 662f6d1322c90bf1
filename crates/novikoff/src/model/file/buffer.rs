//! The bytes of a file, where numbers can stay as they lie.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// Bytes that a step reads: they are cleared first, and should still be in the cache when they are read over.
const STEP: usize = 1 << 18;

/// Bytes in memory that is aligned for numbers. A large model is little but its weights, and there may be no
/// room for them twice.
pub(super) struct Buffer {
    words: Vec<f64>,
    length: usize,
}

impl Buffer {
    /// Nothing yet, and room for so many bytes, all of it at once: what grows may lie across huge pages.
    /// `None` if there is no such memory.
    pub(super) fn with_room(length: usize) -> Option<Self> {
        let mut words = Vec::new();
        words.try_reserve_exact(length.div_ceil(size_of::<f64>())).ok()?;
        Some(Self { words, length: 0 })
    }

    /// Adds bytes, up to `length` in all, unless there are fewer.
    pub(super) fn read(&mut self, from: &mut impl Read, length: usize) -> io::Result<()> {
        while self.length < length {
            let end = length.min(self.length + STEP);
            self.words.resize(end.div_ceil(size_of::<f64>()), 0.0);
            match from.read(&mut bytemuck::cast_slice_mut(&mut self.words)[self.length..end]) {
                Ok(0) => break,
                Ok(count) => self.length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.length]
    }

    /// Whether the numbers of these bytes can be had as they lie.
    pub(super) fn is_whole(place: &Range<usize>) -> bool {
        place.start.is_multiple_of(size_of::<f64>()) && place.len().is_multiple_of(size_of::<f64>())
    }

    /// The numbers whose bytes these are, in the memory that all are in.
    pub(super) fn into_numbers(mut self, place: Range<usize>) -> Vec<f64> {
        self.words.truncate(place.end / size_of::<f64>());
        self.words.drain(..place.start / size_of::<f64>());
        if cfg!(target_endian = "big") {
            self.words.iter_mut().for_each(|word| *word = f64::from_bits(word.to_bits().swap_bytes()));
        }
        self.words
    }
}
