//! The path of a descent over the contours of what it descends.

use super::axis::{Axis, Spacing};
use super::frame::{ABOVE, BELOW, Frame, Sample, legend};
use super::outline::Grid;
use super::sheet::Sheet;
use super::style::Tone;
use super::{Picture, nothing};
use rayon::prelude::*;

/// Steps over a function of two variables.
///
/// ```
/// use novikoff::plot::Descent;
/// let path = [(2.0, 1.0), (1.0, 0.2), (0.2, 0.0)];
/// let objective = |x: f64, y: f64| x * x + 4.0 * y * y;
/// let (title, description) = ("A descent", "Three steps into a bowl.");
/// let axes = ["w1", "w2"];
/// let picture = Descent { title, description, axes, path: &path, objective: &objective }.draw();
/// assert!(picture.file().contains(">start<"));
/// ```
pub struct Descent<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The names of the two variables.
    pub axes: [&'a str; 2],
    /// Where the steps led, from the start on.
    pub path: &'a [(f64, f64)],
    /// What is descended.
    pub objective: &'a (dyn Fn(f64, f64) -> f64 + Sync),
}

/// Cells of the grid on which the objective is evaluated, along each side.
const CELLS: usize = 36;
const LEVELS: usize = 9;
const HEIGHT: f64 = 240.0;
/// More steps than this have no marks.
const MARKED: usize = 60;

impl Descent<'_> {
    /// Draws it.
    pub fn draw(&self) -> Picture {
        let path: Vec<(f64, f64)> =
            self.path.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else {
            return nothing(self.title, self.description, "There are no steps to draw.");
        };
        let axis = |of: fn(&(f64, f64)) -> f64| {
            let (low, high) = Axis::exactly(path.iter().map(of), Spacing::Even).ends();
            // Room around the path, so that the shape of the ground is seen.
            Axis::exactly([low - 0.25 * (high - low), high + 0.25 * (high - low)], Spacing::Even)
        };
        let mut sheet = Sheet::default();
        let samples: [Sample<'_>; 3] = [
            &|sheet, (x, y)| sheet.line((x - 10.0, y), (x + 10.0, y), Tone::Quiet, &[]),
            &|sheet, at| sheet.marks(&[at], 3, 1.0),
            &|sheet, at| sheet.crosses(&[at]),
        ];
        let names = ["equal objective", "start", "end"].map(str::to_owned);
        let entries: Vec<_> = names.into_iter().zip(samples).collect();
        let top = legend(&mut sheet, 0.0, &entries) + ABOVE;
        let frame = Frame::across(axis(|p| p.0), axis(|p| p.1), top, HEIGHT);
        frame.draw(&mut sheet, self.axes[0], self.axes[1]);
        let mut drawn = Sheet::default();
        for line in self.contours(&frame) {
            drawn.path(line, Tone::Quiet, &[("stroke-opacity", "0.75".into())]);
        }
        let places = frame.places(&path);
        drawn.curve(&places, 0, 2.0);
        if places.len() <= MARKED {
            drawn.marks(&places, 0, 1.0);
        }
        drawn.marks(&frame.places(&[first]), 3, 1.0);
        drawn.crosses(&frame.places(&[last]));
        frame.add_clipped(&mut sheet, &drawn);
        Picture::new(self.title, self.description, top + HEIGHT + BELOW + 2.0, sheet)
    }

    /// A path for each level. Levels are quantiles of what the grid shows, so that lines are spread over the
    /// picture.
    fn contours(&self, frame: &Frame) -> Vec<String> {
        let ((x0, x1), (y0, y1)) = (frame.x.ends(), frame.y.ends());
        let share = |i: usize| i as f64 / CELLS as f64;
        let at =
            |i: usize| (x0 + share(i % (CELLS + 1)) * (x1 - x0), y0 + share(i / (CELLS + 1)) * (y1 - y0));
        let grid: Vec<f64> = (0..(CELLS + 1) * (CELLS + 1))
            .into_par_iter()
            .map(|i| {
                let (x, y) = at(i);
                (self.objective)(x, y)
            })
            .collect();
        let mut sorted: Vec<f64> = grid.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let Some(most) = sorted.len().checked_sub(1) else { return Vec::new() };
        let mut levels: Vec<f64> = (0..LEVELS).map(|k| sorted[most * (2 * k + 1) / (2 * LEVELS)]).collect();
        levels.dedup();
        let place = |i: usize| frame.at(at(i).0, at(i).1).unwrap_or((frame.left, frame.top));
        let grid = Grid { columns: CELLS + 1, values: grid, place: &place };
        levels.iter().map(|level| grid.lines(*level)).collect()
    }
}
