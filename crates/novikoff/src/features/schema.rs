//! The recipe by which raw input becomes rows. It is part of every model, so that `predict` reads what `train` read.

use super::table::TableSchema;
use rustc_hash::FxHashMap;
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
    /// By column of a table.
    Table(Arc<TableSchema>),
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
            Schema::Named(dictionary) => dictionary.names.get(j as usize).cloned().unwrap_or_else(|| format!("#{j}")),
            Schema::Hashed { .. } => format!("hash {j}"),
            Schema::Table(table) => table.feature_name(j),
        }
    }

    /// Number of features, where the schema fixes it.
    pub fn features(&self) -> Option<usize> {
        match self {
            Schema::Indexed { .. } => None,
            Schema::Named(dictionary) => Some(dictionary.len()),
            Schema::Hashed { bits } => Some(1 << bits),
            Schema::Table(table) => Some(table.features()),
        }
    }
}

/// Feature names and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    names: Vec<String>,
    index: FxHashMap<String, u32>,
}

impl Dictionary {
    /// The number of a name, if it is known.
    #[inline]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// The number of a name, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.index.get(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), id);
        id
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Forgets all names, keeping the memory.
    pub fn clear(&mut self) {
        self.names.clear();
        self.index.clear();
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
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

/// The feature that a name hashes to: XXH3 of the name, seeded by the hash of its namespace, folded to `bits` bits.
#[inline]
pub fn hash_feature(namespace: u64, name: &[u8], bits: u8) -> u32 {
    (xxhash_rust::xxh3::xxh3_64_with_seed(name, namespace) & ((1u64 << bits) - 1)) as u32
}

/// How values that are missing from a table are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// They count as zero (a category of none).
    Zero,
    /// They count as the mean of their column in the training rows (a category of none).
    Mean,
    /// They count as zero, and a feature of its own says that the value was missing.
    Indicator,
}
