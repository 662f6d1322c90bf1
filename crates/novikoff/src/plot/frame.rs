//! A box with two axes: where numbers stand in a picture.

use super::axis::Axis;
use super::sheet::{Place, Sheet};
use super::style::{TYPE, Tone};
use super::text;
use super::{WIDTH, tidy};

/// A box within a picture, and the axes along its left and its lower side.
pub(super) struct Frame {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Room below a box for the ticks of its axis, and for its name.
pub(super) const BELOW: f64 = 36.0;
/// Room above a box for the name of the axis on the left.
pub(super) const ABOVE: f64 = 20.0;

impl Frame {
    /// A box over the whole width, as much to the right as the ticks on the left need.
    pub(super) fn across(x: Axis, y: Axis, top: f64, height: f64) -> Self {
        let left = tick_room(&y);
        Self { x, y, left, top, width: WIDTH - left - 12.0, height }
    }

    /// Where a pair of numbers stands; `None` if one of them has no place.
    pub(super) fn at(&self, x: f64, y: f64) -> Option<Place> {
        let (right, up) = (self.x.place(x)?, self.y.place(y)?);
        Some((self.left + right * self.width, self.top + (1.0 - up) * self.height))
    }

    /// All pairs that have a place.
    pub(super) fn places(&self, pairs: &[(f64, f64)]) -> Vec<Place> {
        pairs.iter().filter_map(|&(x, y)| self.at(x, y)).collect()
    }

    /// Grid, ticks and the names of both axes, the one of the left above the box.
    pub(super) fn draw(&self, sheet: &mut Sheet, x_name: &str, y_name: &str) {
        self.draw_left(sheet, y_name);
        self.draw_below(sheet, x_name);
    }

    /// The ticks of the left axis, with the height of each, and a line across the box for it.
    fn levels(&self, sheet: &mut Sheet) -> Vec<(f64, String)> {
        let about = (self.height / 26.0).clamp(2.0, 6.0) as usize;
        let mut levels = Vec::new();
        for (y, written) in self.y.ticks(about) {
            let Some(up) = self.y.place(y) else { continue };
            let at = self.top + (1.0 - up) * self.height;
            sheet.line((self.left, at), (self.left + self.width, at), Tone::Grid, &[]);
            levels.push((at, written));
        }
        levels
    }

    /// The lines of the left axis without its words: for a box beside one that has them.
    pub(super) fn draw_grid(&self, sheet: &mut Sheet) {
        self.levels(sheet);
    }

    /// The left axis: lines, ticks, and its name above the box.
    pub(super) fn draw_left(&self, sheet: &mut Sheet, name: &str) {
        for (at, written) in self.levels(sheet) {
            sheet.text((self.left - 5.0, at + 4.0), &written, "end", Tone::Quiet);
        }
        let name = text::fitted(&tidy(name, 60), WIDTH - 8.0);
        if !name.is_empty() {
            sheet.text((2.0, self.top - 8.0), &name, "start", Tone::Ink);
        }
    }

    /// The axis below: lines, ticks and its name.
    pub(super) fn draw_below(&self, sheet: &mut Sheet, name: &str) {
        let bottom = self.top + self.height;
        let ticks = self.x.ticks((self.width / 60.0).clamp(2.0, 6.0) as usize);
        // Words that would touch their neighbour are left out; the line stays.
        let mut taken = f64::NEG_INFINITY;
        for (x, written) in ticks {
            let Some(share) = self.x.place(x) else { continue };
            let (at, half) = (self.left + share * self.width, text::width(&written) / 2.0);
            sheet.line((at, self.top), (at, bottom), Tone::Grid, &[]);
            if at - half > taken + 3.0 && at + half < WIDTH {
                sheet.text((at, bottom + 15.0), &written, "middle", Tone::Quiet);
                taken = at + half;
            }
        }
        sheet.line((self.left, bottom), (self.left + self.width, bottom), Tone::Quiet, &[]);
        let name = text::fitted(&tidy(name, 60), WIDTH - 8.0);
        let half = text::width(&name) / 2.0;
        let middle =
            (self.left + self.width / 2.0).clamp(half.min(WIDTH / 2.0), (WIDTH - half).max(WIDTH / 2.0));
        sheet.text((middle, bottom + 31.0), &name, "middle", Tone::Ink);
    }

    /// What was drawn, cut off at the box.
    pub(super) fn add_clipped(&self, sheet: &mut Sheet, drawn: &Sheet) {
        sheet.add(drawn.clipped((self.left, self.top), (self.width, self.height)));
    }
}

/// How wide the ticks of an axis on the left are.
pub(super) fn tick_room(axis: &Axis) -> f64 {
    let widest = axis.ticks(6).iter().map(|(_, written)| text::width(written)).fold(0.0, f64::max);
    (widest + 9.0).clamp(24.0, 90.0)
}

/// Draws what a legend explains, at a place.
pub(super) type Sample<'a> = &'a dyn Fn(&mut Sheet, Place);

/// A name and its sample.
pub(super) type Entry<'a> = (String, Sample<'a>);

/// Samples and their names from the top left, as many lines as they need; returns where they end.
pub(super) fn legend(sheet: &mut Sheet, top: f64, entries: &[Entry<'_>]) -> f64 {
    const SAMPLE: f64 = 26.0;
    let (mut left, mut line) = (2.0, top);
    for (name, sample) in entries {
        let name = text::fitted(name, WIDTH - SAMPLE - 10.0);
        let wide = SAMPLE + text::width(&name) + 10.0;
        if left > 2.0 && left + wide > WIDTH {
            (left, line) = (2.0, line + TYPE + 6.0);
        }
        sample(sheet, (left + 11.0, line + 8.0));
        sheet.text((left + SAMPLE, line + 12.0), &name, "start", Tone::Ink);
        left += wide;
    }
    if entries.is_empty() { top } else { line + TYPE + 6.0 }
}
