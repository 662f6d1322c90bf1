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
pub mod margin;
pub mod training;

pub use page::Page;

#[cfg(test)]
mod fixture;

use novikoff::plot::Picture;

/// The pictures by the names that the command line gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureName {
    Points,
    Losses,
    Errors,
    Mistakes,
    Interval,
    Descent,
    Confusion,
    Roc,
    Calibration,
    Predictions,
    Weights,
    Image,
}

impl PictureName {
    pub const ALL: [PictureName; 12] = [
        PictureName::Points,
        PictureName::Losses,
        PictureName::Errors,
        PictureName::Mistakes,
        PictureName::Interval,
        PictureName::Descent,
        PictureName::Confusion,
        PictureName::Roc,
        PictureName::Calibration,
        PictureName::Predictions,
        PictureName::Weights,
        PictureName::Image,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PictureName::Points => "points",
            PictureName::Losses => "losses",
            PictureName::Errors => "errors",
            PictureName::Mistakes => "mistakes",
            PictureName::Interval => "interval",
            PictureName::Descent => "descent",
            PictureName::Confusion => "confusion",
            PictureName::Roc => "roc",
            PictureName::Calibration => "calibration",
            PictureName::Predictions => "predictions",
            PictureName::Weights => "weights",
            PictureName::Image => "image",
        }
    }
}

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
