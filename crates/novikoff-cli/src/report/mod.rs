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

use novikoff::control::Progress;
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

/// How the interval around a margin closed: rounds so far, and its ends.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    pub steps: Vec<(usize, f64, f64)>,
    /// Rounds of the solvers that came before the one under way, each of which counts from 0.
    before: usize,
    last: usize,
}

impl Closing {
    /// Notes what a solver tells of its interval.
    pub fn note(&mut self, progress: Progress) {
        let Progress::Margin { round, lower, upper } = progress else { return };
        if round < self.last {
            self.before += self.last;
        }
        self.last = round;
        if upper.is_finite() {
            self.steps.push((self.before + round, lower.max(0.0), upper));
        }
    }

    /// The same with its end, as it was proved. Lower ends never fall and upper ends never rise: each is the
    /// best so far.
    pub fn until(mut self, rounds: usize, (lower, upper): (f64, f64)) -> Self {
        if upper.is_finite() {
            let last = self.steps.last().map_or(0, |step| step.0);
            self.steps.push((rounds.max(last), lower.max(0.0), upper));
        }
        for at in 1..self.steps.len() {
            let (_, low, high) = self.steps[at - 1];
            let step = &mut self.steps[at];
            (step.1, step.2) = (step.1.max(low), step.2.min(high));
        }
        self
    }
}
