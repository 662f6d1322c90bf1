//! 1 — Bytes to rows: svmlight, tables, Vowpal Wabbit's text, IDX images; compressed or not; strict, with positions.

pub mod batch;
mod detect;
pub mod idx;
pub mod number;
pub mod pipeline;
mod reader;
pub mod records;
pub mod source;
pub mod svmlight;
pub mod table;
pub mod vw;

pub use detect::{Format, detect};
pub use reader::{Chunk, End, Options, Purpose, Reader, STREAM_HASH_BITS};
pub use source::Input;
pub use table::{Header, TableOptions};
