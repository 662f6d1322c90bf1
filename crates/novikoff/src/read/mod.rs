//! 1 — Bytes to rows: svmlight, tables, Vowpal Wabbit's text, IDX images; compressed or not; strict, with positions.

pub mod batch;
pub mod number;
pub mod pipeline;
pub mod records;
pub mod source;
pub mod svmlight;
pub mod table;
