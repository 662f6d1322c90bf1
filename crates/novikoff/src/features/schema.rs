//! The recipe by which raw input becomes rows. It is part of every model, so that `predict` reads what
//! `train` read.

use super::namespaces::NamespaceSchema;
use super::table::TableSchema;
use super::text::{TextSchema, Vocabulary};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How the input's features are numbered.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// By the index in the file, counted from `base` (0 or 1): svmlight and IDX.
    Indexed {
        /// The first index of the file.
        base: u32,
    },
    /// By name, in the order of first appearance: Vowpal Wabbit's format.
    Named(Arc<Dictionary>),
    /// By the hash of the name.
    Hashed {
        /// There are `2^bits` features.
        bits: u8,
    },
    /// As Vowpal Wabbit's format with products of features, or with Vowpal Wabbit's own hash.
    Namespaces(Arc<NamespaceSchema>),
    /// By column of a table.
    Table(Arc<TableSchema>),
    /// By the terms of documents, and the columns of a table beside them.
    Text(Arc<TextSchema>),
}

impl Schema {
    /// Indices counted from 1, as in svmlight files.
    pub fn one_based() -> Self {
        Schema::Indexed { base: 1 }
    }

    /// What to call feature `j`.
    pub fn name(&self, j: u32) -> String {
        match self {
            Schema::Indexed { base } => (u64::from(j) + u64::from(*base)).to_string(),
            Schema::Named(dictionary) => {
                dictionary.names().get(j as usize).cloned().unwrap_or_else(|| format!("#{j}"))
            }
            Schema::Hashed { .. } => format!("hash {j}"),
            Schema::Namespaces(namespaces) => namespaces.name(j),
            Schema::Table(table) => table.feature_name(j),
            Schema::Text(text) => text.name(j),
        }
    }

    /// The column of the labels, where the input is a table.
    pub fn label_column(&self) -> Option<&str> {
        let table = match self {
            Schema::Table(table) => table,
            Schema::Text(text) => text.table()?,
            _ => return None,
        };
        table.label().map(|column| column.name.as_str())
    }

    /// Whether features are numbered by hashes: then most numbers may be those of no feature.
    pub(crate) fn is_hashed(&self) -> bool {
        match self {
            Schema::Hashed { .. } => true,
            Schema::Namespaces(namespaces) => namespaces.bits().is_some(),
            Schema::Text(text) => matches!(text.vocabulary(), Vocabulary::Hashed { .. }),
            Schema::Indexed { .. } | Schema::Named(_) | Schema::Table(_) => false,
        }
    }

    /// Number of features, where the schema fixes it.
    pub fn features(&self) -> Option<usize> {
        match self {
            Schema::Indexed { .. } => None,
            Schema::Named(dictionary) => Some(dictionary.len()),
            Schema::Hashed { bits } => Some(1 << bits),
            Schema::Namespaces(namespaces) => Some(namespaces.features()),
            Schema::Table(table) => Some(table.features()),
            Schema::Text(text) => Some(text.features()),
        }
    }
}

/// Feature names and their numbers.
///
/// A table of slots with linear probing, at most two thirds full. A slot holds what identifies a short name,
/// so that most searches touch one place in memory. Names are written once; a dictionary that is cleared and
/// filled again, as one is for every block of a file, allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// The names by number. Those from `count` on are left over from before a `clear`, for their memory.
    names: Vec<String>,
    /// How many names there are.
    count: usize,
    /// A power of two of them, or none.
    slots: Vec<Slot>,
}

/// What tells names apart: all there is to know of a name of up to [`Key::WHOLE`] bytes, and a hash of a
/// longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    words: [u64; 2],
    length: u32,
}

impl Key {
    const WHOLE: u32 = 16;

    #[inline(always)]
    fn of(name: &str) -> Self {
        let bytes = name.as_bytes();
        // First and last bytes overlap, or meet, or leave out none: with the length they give the name.
        let words = match (bytes.first_chunk(), bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
            _ if bytes.len() > Self::WHOLE as usize => [xxhash_rust::xxh3::xxh3_64(bytes), 0],
            (Some(first), Some(last), ..) => [u64::from_le_bytes(*first), u64::from_le_bytes(*last)],
            (_, _, Some(first), Some(last)) => {
                [u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()]
            }
            _ => [bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0],
        };
        Self { words, length: bytes.len().min(u32::MAX as usize) as u32 }
    }

    /// Where the search among `slots` slots starts: words and length, multiplied together and folded as in
    /// wyhash.
    #[inline(always)]
    fn start(self, slots: usize) -> usize {
        let [first, last] = self.words;
        let product = u128::from(first ^ 0x9e37_79b9_7f4a_7c15 ^ u64::from(self.length))
            * u128::from(last.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
        let folded = product as u64 ^ (product >> 64) as u64;
        (folded ^ folded >> 32) as usize & (slots - 1)
    }
}

/// A place for a name: its key and its number.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Key,
    id: u32,
}

impl Slot {
    const VACANT: Slot = Slot { key: Key { words: [0, 0], length: 0 }, id: u32::MAX };

    fn is_vacant(&self) -> bool {
        self.id == u32::MAX
    }
}

impl Dictionary {
    /// The number of a name, if it is known.
    #[inline]
    pub fn find(&self, name: &str) -> Option<u32> {
        let key = Key::of(name);
        if self.slots.is_empty() { None } else { self.seek(key, name).ok() }
    }

    /// The number of a name, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, name: &str) -> u32 {
        if self.len() * 3 >= self.slots.len() * 2 {
            self.grow();
        }
        let key = Key::of(name);
        match self.seek(key, name) {
            Ok(id) => id,
            Err(vacant) => self.add(key, name, vacant),
        }
    }

    /// The names of these numbers alone, in this order. Each may be there once.
    #[must_use]
    pub fn select(mut self, numbers: &[u32]) -> Self {
        let keys = self.keys();
        let keys: Vec<Key> = numbers.iter().map(|&number| keys[number as usize]).collect();
        let names: Vec<String> =
            numbers.iter().map(|&number| std::mem::take(&mut self.names[number as usize])).collect();
        let mut selected = Self { count: names.len(), names, slots: Vec::new() };
        selected.place(&keys, (selected.count * 2).next_power_of_two().max(16));
        selected
    }

    /// Adds the names of `other` in their order and puts the number that each has here into `numbers`.
    pub(crate) fn absorb(&mut self, other: &Dictionary, numbers: &mut Vec<u32>) {
        numbers.clear();
        numbers.extend(other.names().iter().map(|name| self.intern(name)));
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names[..self.len()]
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all names, keeping the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.slots.fill(Slot::VACANT);
    }

    /// Forgets all names but the first `length`.
    pub fn truncate(&mut self, length: usize) {
        // The last name added is the last that any search could have to step over, so its slot can simply be
        // vacated; then the same holds for the one before it. Growing keeps this true: it places the names in
        // their order.
        while self.len() > length {
            let id = self.len() as u32 - 1;
            let mut at = Key::of(&self.names[id as usize]).start(self.slots.len());
            while self.slots[at].id != id {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = Slot::VACANT;
            self.count -= 1;
        }
    }

    fn add(&mut self, key: Key, name: &str, vacant: usize) -> u32 {
        let id = self.len();
        match self.names.get_mut(id) {
            Some(left_over) => {
                left_over.clear();
                left_over.push_str(name);
            }
            None => self.names.push(name.to_owned()),
        }
        self.count += 1;
        self.slots[vacant] = Slot { key, id: id as u32 };
        id as u32
    }

    /// The number of a name, or the slot that waits for it. There must be slots, and one of them vacant.
    #[inline(always)]
    fn seek(&self, key: Key, name: &str) -> Result<u32, usize> {
        let mut at = key.start(self.slots.len());
        loop {
            let slot = &self.slots[at];
            if slot.is_vacant() {
                return Err(at);
            }
            if slot.key == key && (key.length <= Key::WHOLE || self.names[slot.id as usize] == name) {
                return Ok(slot.id);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.place(&self.keys(), (self.slots.len() * 2).max(16));
    }

    /// The key of every name: the slots have them side by side, names lie all over memory.
    fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Slot::VACANT.key; self.count];
        for slot in self.slots.iter().filter(|slot| !slot.is_vacant()) {
            keys[slot.id as usize] = slot.key;
        }
        keys
    }

    /// Gives every name its slot, of so many.
    fn place(&mut self, keys: &[Key], size: usize) {
        self.slots.clear();
        self.slots.resize(size, Slot::VACANT);
        for (&key, id) in keys.iter().zip(0..) {
            let mut at = key.start(size);
            while !self.slots[at].is_vacant() {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = Slot { key, id };
        }
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Dictionary {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut dictionary = Self::default();
        for name in names {
            dictionary.intern(name.as_ref());
        }
        dictionary
    }
}

/// The seed that a namespace gives to the hashes of its features. The default namespace, which has no name,
/// gives 0.
#[inline]
pub(crate) fn hash_namespace(name: &[u8]) -> u64 {
    if name.is_empty() { 0 } else { xxhash_rust::xxh3::xxh3_64(name) }
}

/// The feature that a name hashes to: XXH3 of the name, seeded by the hash of its namespace, folded to `bits`
/// bits. A name that is a whole number of at most nine digits, written without leading zeros, is its own
/// hash, added to the seed: features that are numbered already do not collide, and stay in order.
#[inline]
pub(crate) fn hash_feature(namespace: u64, name: &[u8], bits: u8) -> u32 {
    fold(whole_hash(namespace, name), bits)
}

/// The same before it is folded.
#[inline]
pub(crate) fn whole_hash(namespace: u64, name: &[u8]) -> u64 {
    match number_of(name) {
        Some(number) => namespace.wrapping_add(u64::from(number)),
        None => xxhash_rust::xxh3::xxh3_64_with_seed(name, namespace),
    }
}

/// The lowest bits of a hash.
#[inline]
pub(crate) fn fold(hash: u64, bits: u8) -> u32 {
    (hash & ((1u64 << bits) - 1)) as u32
}

/// The feature that a number hashes to.
#[inline]
pub(crate) fn hash_number(namespace: u64, number: u32, bits: u8) -> u32 {
    fold(namespace.wrapping_add(u64::from(number)), bits)
}

fn number_of(name: &[u8]) -> Option<u32> {
    let plain =
        matches!(name, [b'0'] | [b'1'..=b'9', ..]) && name.len() <= 9 && name.iter().all(u8::is_ascii_digit);
    plain.then(|| name.iter().fold(0, |number, digit| 10 * number + u32::from(digit - b'0')))
}

/// How values that are missing from a table are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Missing {
    /// An error.
    #[default]
    Error,
    /// Zero; of a categorical column, no category.
    Zero,
    /// The mean of the column in the training rows; of a categorical column, no category.
    Mean,
    /// The mean, and a feature of its own says that the value was missing.
    #[serde(rename = "mean-indicator")]
    Indicator,
    /// Zero, and a feature of its own says that the value was missing (models of before call it indicator).
    #[serde(rename = "indicator")]
    ZeroIndicator,
}

impl Missing {
    /// Whether missing numbers are the mean of their column.
    pub(crate) fn fills_in_means(self) -> bool {
        matches!(self, Missing::Mean | Missing::Indicator)
    }

    /// Whether a feature of its own says that a value was missing.
    pub(crate) fn has_indicators(self) -> bool {
        matches!(self, Missing::Indicator | Missing::ZeroIndicator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Intern(String),
        Find(String),
        Truncate(usize),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => "[ab]{0,6}|[ab]{15,18}|a{0,40}".prop_map(Step::Intern),
            5 => "[ab]{0,6}|[ab]{15,18}|a{0,40}".prop_map(Step::Find),
            2 => (0usize..70).prop_map(Step::Truncate),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn a_dictionary_is_a_list_of_different_names(steps in prop::collection::vec(step(), 0..300)) {
            let (mut dictionary, mut list) = (Dictionary::default(), Vec::<String>::new());
            let place =
                |list: &[String], name: &String| list.iter().position(|n| n == name).map(|id| id as u32);
            for step in steps {
                match step {
                    Step::Intern(name) => {
                        if place(&list, &name).is_none() {
                            list.push(name.clone());
                        }
                        prop_assert_eq!(Some(dictionary.intern(&name)), place(&list, &name));
                    }
                    Step::Find(name) => prop_assert_eq!(dictionary.find(&name), place(&list, &name)),
                    Step::Truncate(length) => {
                        dictionary.truncate(length);
                        list.truncate(length);
                    }
                    Step::Clear => {
                        dictionary.clear();
                        list.clear();
                    }
                }
                prop_assert_eq!(dictionary.names(), &list[..]);
                for name in &list {
                    prop_assert_eq!(dictionary.find(name), place(&list, name));
                }
            }
            let mut numbers = Vec::new();
            let mut other: Dictionary = ["x", "ab", "y"].into_iter().collect();
            other.absorb(&dictionary, &mut numbers);
            prop_assert!(list.iter().zip(&numbers).all(|(name, id)| other.find(name) == Some(*id)));
            let backwards: Vec<u32> = (0..list.len() as u32).rev().step_by(2).collect();
            let some = dictionary.select(&backwards);
            prop_assert!(some.names().iter().eq(list.iter().rev().step_by(2)));
            prop_assert!(list.iter().all(|name| some.find(name) == place(some.names(), name)));
        }
    }

    #[test]
    fn numbers_are_their_own_hashes_and_other_names_are_not() {
        assert_eq!(hash_feature(0, b"17", 18), 17);
        assert_eq!(hash_feature(5, b"0", 18), 5);
        assert_eq!(hash_feature(0, b"262145", 18), 1);
        for name in ["017", "1234567890", "1a", "-1", ""] {
            let expected = (xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), 3) & 0xffff) as u32;
            assert_eq!(hash_feature(3, name.as_bytes(), 16), expected, "{name}");
        }
    }
}
