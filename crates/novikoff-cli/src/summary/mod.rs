//! Results in words and as JSON: what the commands print, and what stands at the head of a page of pictures.

pub mod comparison;
pub mod evaluation;
pub mod json;
pub mod margin;
pub mod model;
pub mod prediction;
pub mod trace;
pub mod training;
pub mod tuning;
pub mod written;
