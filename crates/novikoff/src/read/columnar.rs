//! Parquet and Arrow files as tables.
//!
//! A file of columns becomes the text of a table: names, then a line for each row, with numbers in the
//! shortest spelling that means the same double. From there on it is a table like any other, so that the
//! columns of both mean the same, and a model of one reads the other. `batches.rs` decodes (`held.rs` has those of columns in memory), `cells.rs` spells, and `rows.rs`
//! turns lines back into rows.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod batches;
#[cfg(feature = "parquet")]
mod cells;
#[cfg(feature = "parquet")]
mod held;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod rows;

#[cfg(feature = "parquet")]
pub(super) use batches::Content;
#[cfg(feature = "parquet")]
pub(super) use rows::{RowPlaces, TableText};

use super::detect::Format;
use super::table::find_column;

/// What separates the fields of the text.
pub(super) const DELIMITER: u8 = b',';

/// What a file of Arrow's starts with.
#[cfg(feature = "parquet")]
pub(super) const ARROW: &[u8] = b"ARROW1\0\0";

/// How a file of columns becomes the text of a table.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "nothing is read without the feature"))]
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// What the file is.
    pub format: Format,
    /// Whether the first line names the columns.
    pub names: Names,
    /// The columns that are read; others are empty.
    pub columns: Wanted,
    /// Most bytes of memory to take; `None`: what is available.
    pub memory: Option<u64>,
}

/// Whether the first line of a text names the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// It does.
    Written,
    /// It is a row.
    LeftOut,
}

/// Which columns are read.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// All but these, which are meant by their names or their numbers from 1.
    AllBut(Vec<String>),
    /// Those of these names, or of these numbers from 1.
    Only(Vec<String>),
}

impl Wanted {
    /// Whether column `j` of these is wanted.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "nothing is read without the feature"))]
    fn has(&self, names: &[String], j: usize) -> bool {
        let is_meant = |meant: &String| find_column(names, meant) == Some(j);
        match self {
            Wanted::AllBut(others) => !others.iter().any(is_meant),
            Wanted::Only(own) => own.iter().any(is_meant),
        }
    }
}

/// The format of what starts with these bytes, if it is a file of columns.
pub(super) fn format_of(start: &[u8]) -> Option<Format> {
    match start {
        [b'P', b'A', b'R', b'1' | b'E', ..] => Some(Format::Parquet),
        // A file; version 1 of Feather; the first message of a stream.
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, ..] | [b'F', b'E', b'A', b'1', ..] => Some(Format::Arrow),
        [0xff, 0xff, 0xff, 0xff, _, ..] => Some(Format::Arrow),
        _ => None,
    }
}
