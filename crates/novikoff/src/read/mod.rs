//! 1 — Bytes to rows: svmlight, tables, Vowpal Wabbit's text, IDX images, documents; compressed or not;
//! strict, with positions.

pub mod bag;
pub mod batch;
mod dataset;
mod detect;
mod folder;
pub mod idx;
pub mod json;
pub mod number;
pub mod pipeline;
mod reader;
pub mod records;
pub mod source;
pub mod svmlight;
pub mod table;
pub mod text;
pub mod vw;

pub use detect::{Format, detect};
pub use reader::{Chunk, Contents, End, Options, Purpose, Reader, STREAM_HASH_BITS};
pub use source::Input;
pub use table::{Header, TableOptions};
