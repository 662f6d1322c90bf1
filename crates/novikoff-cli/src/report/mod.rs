//! Pictures of a result: which apply, what is said of each, and where they are written.
//!
//! The library draws plain numbers; here they are picked from a fit ([`training`]), a margin ([`margin`]) or
//! a comparison ([`comparison`]), told in words, and put on one page ([`Page`]).

mod curves;
mod descent;
mod measured;
mod page;
mod rows;
mod weights;

pub mod comparison;
pub mod evaluation;
pub mod margin;
pub mod regions;
pub mod training;
pub mod tuning;

pub use page::Page;

#[cfg(test)]
mod fixture;

use crate::picture::PictureName;
use novikoff::plot::Picture;

/// A picture with what is said of it.
pub struct Section {
    pub name: PictureName,
    pub heading: String,
    /// What is seen, and how to read it.
    pub text: String,
    pub picture: Picture,
    /// The numbers, with a line of headings; empty if they are too many to be read.
    pub table: Vec<Vec<String>>,
}

/// A line of a table.
pub fn line<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
