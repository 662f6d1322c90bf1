//! BLAKE3 of bytes that may take days to come: its state is small, and can be stored.
//!
//! BLAKE3 is a binary tree over chunks of 1,024 bytes, whose left subtrees are complete. What has been hashed
//! is a list of complete subtrees, the largest first: as many as the number of chunks has ones in binary.

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use blake3::{CHUNK_LEN, Hash, Hasher};

/// Bytes that are hashed at once.
const SUBTREE: usize = 1 << 16;
/// More bytes than any stream has: beyond, offsets could overflow.
const MOST_BYTES: u64 = 1 << 60;

/// The hash of the bytes so far. Some of them always wait: which node is the root only the end decides.
#[derive(Clone, Debug, Default)]
pub(super) struct ResumableHash {
    subtrees: Vec<ChainingValue>,
    /// Bytes below the subtrees.
    hashed: u64,
    /// The bytes after those.
    pub(super) waiting: Vec<u8>,
}

impl ResumableHash {
    /// Hashes what waits, where it is enough.
    pub(super) fn hash_waiting(&mut self) {
        self.hash_by(SUBTREE);
    }

    /// Hashes what waits in subtrees of at most so many bytes. At least one byte goes on waiting.
    fn hash_by(&mut self, most: usize) {
        let mut start = 0;
        loop {
            // A subtree starts at a multiple of its size.
            let size = most.min(1 << self.hashed.trailing_zeros().min(usize::BITS - 2));
            if self.waiting.len() - start <= size {
                break;
            }
            self.add(subtree(self.hashed, &self.waiting[start..start + size]), size);
            start += size;
        }
        self.waiting.drain(..start);
    }

    fn add(&mut self, mut last: ChainingValue, size: usize) {
        self.hashed += size as u64;
        let chunks = self.hashed / CHUNK_LEN as u64;
        while self.subtrees.len() >= chunks.count_ones() as usize {
            let Some(left) = self.subtrees.pop() else { break };
            last = merge_subtrees_non_root(&left, &last, Mode::Hash);
        }
        self.subtrees.push(last);
    }

    /// The hash of all bytes.
    pub(super) fn finish(mut self) -> Hash {
        self.hash_waiting();
        let Some(mut left) = self.subtrees.pop() else { return blake3::hash(&self.waiting) };
        let mut right = subtree(self.hashed, &self.waiting);
        while let Some(next) = self.subtrees.pop() {
            right = merge_subtrees_non_root(&left, &right, Mode::Hash);
            left = next;
        }
        merge_subtrees_root(&left, &right, Mode::Hash)
    }

    /// The number of bytes that are hashed, the hashes of their subtrees, and the bytes after them.
    pub(super) fn state(&self) -> (u64, Vec<u8>, Vec<u8>) {
        let mut smallest = self.clone();
        smallest.hash_by(CHUNK_LEN);
        (smallest.hashed, smallest.subtrees.concat(), smallest.waiting)
    }

    /// Resumes from a state; `None` if it is none.
    pub(super) fn resume(hashed: u64, subtrees: &[u8], waiting: Vec<u8>) -> Option<Self> {
        let (each, rest) = subtrees.as_chunks();
        let chunks = hashed / CHUNK_LEN as u64;
        let fits = hashed.is_multiple_of(CHUNK_LEN as u64)
            && hashed <= MOST_BYTES
            && rest.is_empty()
            && each.len() == chunks.count_ones() as usize
            && (1..=CHUNK_LEN).contains(&waiting.len());
        fits.then(|| Self { subtrees: each.to_vec(), hashed, waiting })
    }
}

fn subtree(offset: u64, bytes: &[u8]) -> ChainingValue {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(offset);
    hasher.update(bytes);
    hasher.finalize_non_root()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn add(hash: &mut ResumableHash, bytes: &[u8]) {
        hash.waiting.extend_from_slice(bytes);
        hash.hash_waiting();
    }

    proptest! {
        #[test]
        fn a_hash_in_parts_is_the_hash_of_the_whole(
            seed in any::<u64>(),
            lengths in prop::collection::vec(prop_oneof![0usize..3000, 60_000usize..200_000, Just(1024)], 1..8),
        ) {
            let mut random = Random::new(seed);
            let (mut hash, mut whole) = (ResumableHash::default(), Vec::new());
            for length in [1].iter().chain(&lengths) {
                let bytes: Vec<u8> = (0..*length).map(|_| random.bits() as u8).collect();
                whole.extend_from_slice(&bytes);
                add(&mut hash, &bytes);
                let (hashed, subtrees, waiting) = hash.state();
                let resumed = ResumableHash::resume(hashed, &subtrees, waiting).unwrap();
                prop_assert_eq!(resumed.clone().finish(), blake3::hash(&whole));
                prop_assert_eq!(hash.clone().finish(), blake3::hash(&whole));
                hash = resumed;
            }
        }
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let mut hash = ResumableHash::default();
        add(&mut hash, &[7; 5000]);
        let (hashed, subtrees, waiting) = hash.state();
        assert_eq!((hashed, subtrees.len(), waiting.len()), (4096, 32, 904));
        assert!(ResumableHash::resume(4097, &subtrees, waiting.clone()).is_none());
        assert!(ResumableHash::resume(3072, &subtrees, waiting.clone()).is_none());
        assert!(ResumableHash::resume(u64::MAX - 1023, &[0; 54 * 32], waiting.clone()).is_none());
        assert!(ResumableHash::resume(hashed, &subtrees[1..], waiting).is_none());
        assert!(ResumableHash::resume(hashed, &subtrees, Vec::new()).is_none());
        assert!(ResumableHash::resume(hashed, &subtrees, vec![0; 1025]).is_none());
    }
}
