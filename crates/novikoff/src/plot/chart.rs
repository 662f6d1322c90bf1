//! Lines and dots over two axes, in one panel or several: errors over epochs, mistakes and their bound,
//! intervals that close, ROC curves, calibration, predictions against targets.

use super::axis::{Axis, Spacing};
use super::frame::{ABOVE, BELOW, Entry, Frame, Sample, legend, tick_room};
use super::sheet::{Place, Sheet, through};
use super::style::{Tone, dashes};
use super::{Picture, WIDTH, nothing, text, tidy};
use std::fmt::Write as _;

/// What a series of numbers looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line with a mark at every point, as long as these are few.
    Line,
    /// Marks alone.
    Dots,
    /// A thin grey line to compare with: a diagonal, a level.
    Reference,
}

/// Numbers that belong together. Series of one name look alike in all panels, and stand once in the legend.
#[derive(Clone, Debug)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub look: Look,
}

/// One box of a chart.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it is of; empty if it is the only one.
    pub title: String,
    /// What is drawn in it.
    pub series: Vec<Series>,
}

/// What an axis is of.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Its name.
    pub name: String,
    spacing: Spacing,
    /// Numbers that the axis includes besides those of the series, such as 0.
    reaching: Vec<f64>,
}

impl Scale {
    /// Evenly spread.
    pub fn even(name: &str) -> Self {
        Self { name: name.to_owned(), spacing: Spacing::Even, reaching: Vec::new() }
    }

    /// Evenly spread whole numbers, such as epochs.
    pub fn whole(name: &str) -> Self {
        Self { spacing: Spacing::Whole, ..Self::even(name) }
    }

    /// Spread by factors: for fractions of an epoch, or bounds far above what they bound.
    pub fn logarithmic(name: &str) -> Self {
        Self { spacing: Spacing::Logarithmic, ..Self::even(name) }
    }

    /// The same, reaching these numbers.
    #[must_use]
    pub fn reaching(mut self, numbers: &[f64]) -> Self {
        self.reaching.extend_from_slice(numbers);
        self
    }
}

/// Series over shared axes, in one panel or in several side by side.
///
/// Errors of several learners against epochs, a panel a kernel, as in Freund and Schapire's comparison of
/// perceptrons:
///
/// ```
/// use novikoff::plot::{Chart, Look, Panel, Scale, Series};
/// let errors = |name: &str, errors: [f64; 3]| Series {
///     name: name.into(),
///     points: [0.1, 1.0, 10.0].into_iter().zip(errors).collect(),
///     look: Look::Line,
/// };
/// let panel = |title: &str, better: f64| Panel {
///     title: title.into(),
///     series: vec![errors("last", [12.0, 10.0, 9.0 - better]), errors("voted", [9.0, 6.0, 5.0 - better])],
/// };
/// let chart = Chart {
///     title: "Test error against epochs",
///     description: "The voted perceptron errs least, with every kernel.",
///     x: Scale::logarithmic("epochs"),
///     y: Scale::even("test error, %").reaching(&[0.0]),
///     panels: vec![panel("degree 1", 0.0), panel("degree 2", 2.0)],
/// };
/// let svg = chart.draw().file();
/// assert!(svg.contains("degree 2") && svg.matches(">voted<").count() == 1);
/// ```
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The axis below.
    pub x: Scale,
    /// The axis on the left.
    pub y: Scale,
    /// The boxes, all with the same axes.
    pub panels: Vec<Panel>,
}

/// More points than this have no marks.
const MARKED: usize = 24;
/// Between panels.
const GAP: f64 = 14.0;

impl Chart<'_> {
    /// Draws it: a panel over the whole width, or panels two in a row.
    pub fn draw(&self) -> Picture {
        let all = || self.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
        let seen = |&&(x, y): &&(f64, f64)| has_place(x, self.x.spacing) && has_place(y, self.y.spacing);
        if !all().any(|point| seen(&point)) {
            return nothing(self.title, self.description, "There are no numbers to draw.");
        }
        let axis = |scale: &Scale, of: fn(&(f64, f64)) -> f64| {
            Axis::around(all().filter(seen).map(of).chain(scale.reaching.iter().copied()), scale.spacing)
        };
        let (x, y) = (axis(&self.x, |p| p.0), axis(&self.y, |p| p.1));
        let names = self.names();
        let mut sheet = Sheet::default();
        let mut top = self.draw_legend(&mut sheet, &names) + ABOVE;
        if self.panels.len() > 1 {
            // Above each panel stands its own title; the name of the left axis is that of all.
            let name = text::fitted(&tidy(&self.y.name, 60), WIDTH - 8.0);
            sheet.text((2.0, top - 8.0), &name, "start", Tone::Ink);
            top += ABOVE;
        }
        let columns = self.panels.len().min(2) as f64;
        let left = tick_room(&y);
        let width = (WIDTH - left - 12.0 - (columns - 1.0) * GAP) / columns;
        let height = if columns > 1.0 { 120.0 } else { 210.0 };
        let mut bottom = top;
        for (n, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((n % 2) as f64, (n / 2) as f64);
            let (left, top) = (left + column * (width + GAP), top + row * (height + BELOW + ABOVE));
            let frame = Frame { x, y, left, top, width, height };
            self.draw_panel(&mut sheet, &frame, panel, &names, n);
            bottom = top + height + BELOW;
        }
        Picture::new(self.title, self.description, bottom + 2.0, sheet)
    }

    /// The names of all series that have one, in order, each once.
    fn names(&self) -> Vec<(String, Look)> {
        let mut names: Vec<(String, Look)> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.iter().any(|(name, _)| *name == series.name) {
                names.push((series.name.clone(), series.look));
            }
        }
        names
    }

    fn draw_legend(&self, sheet: &mut Sheet, names: &[(String, Look)]) -> f64 {
        let samples: Vec<_> = names.iter().enumerate().map(|(n, (_, look))| sample(n, *look)).collect();
        let entries: Vec<Entry<'_>> = (names.iter().zip(&samples))
            .filter(|((name, _), _)| !name.is_empty() && (names.len() > 1 || self.panels.len() > 1))
            .map(|((name, _), sample)| (tidy(name, 48), sample as Sample<'_>))
            .collect();
        legend(sheet, 0.0, &entries)
    }

    fn draw_panel(
        &self,
        sheet: &mut Sheet,
        frame: &Frame,
        panel: &Panel,
        names: &[(String, Look)],
        n: usize,
    ) {
        let (first_column, last_row) = (n.is_multiple_of(2), n + 2 >= self.panels.len());
        let many = self.panels.len() > 1;
        // The axes' names stand once: above all panels and below the last ones.
        let y_name = if many { "" } else { &self.y.name[..] };
        if first_column {
            frame.draw_left(sheet, y_name);
        } else {
            frame.draw_grid(sheet);
        }
        frame.draw_below(sheet, if last_row || !many { &self.x.name } else { "" });
        if many {
            let title = text::fitted(&tidy(&panel.title, 48), frame.width);
            sheet.text((frame.left, frame.top - 6.0), &title, "start", Tone::Ink);
        }
        let mut drawn = Sheet::default();
        for series in &panel.series {
            let look = names.iter().position(|(name, _)| *name == series.name).unwrap_or(0);
            draw_series(&mut drawn, frame, series, look);
        }
        frame.add_clipped(sheet, &drawn);
    }
}

fn has_place(x: f64, spacing: Spacing) -> bool {
    !x.is_nan() && (spacing != Spacing::Logarithmic || x > 0.0)
}

fn sample(n: usize, look: Look) -> impl Fn(&mut Sheet, Place) {
    move |sheet, (x, y)| match look {
        Look::Reference => reference(sheet, &[(x - 10.0, y), (x + 10.0, y)]),
        Look::Dots => sheet.marks(&[(x, y)], n, 1.0),
        Look::Line => {
            sheet.curve(&[(x - 10.0, y), (x + 10.0, y)], n, 2.0);
            sheet.marks(&[(x, y)], n, 1.0);
        }
    }
}

fn reference(sheet: &mut Sheet, places: &[Place]) {
    sheet.path(
        through(places),
        Tone::Quiet,
        &[("stroke-dasharray", dashes(4).into()), ("stroke-width", "1.3".into())],
    );
}

fn draw_series(sheet: &mut Sheet, frame: &Frame, series: &Series, look: usize) {
    let places = frame.places(&series.points);
    match series.look {
        Look::Reference => reference(sheet, &places),
        Look::Dots => sheet.marks(&places, look, if places.len() > 200 { 0.5 } else { 0.9 }),
        Look::Line => {
            sheet.curve(&places, look, 2.0);
            if places.len() <= MARKED {
                sheet.marks(&places, look, 1.0);
            }
        }
    }
}

/// A histogram's path: bars of so many, from the bottom of the frame.
pub(super) fn histogram(frame: &Frame, edges: &[f64], counts: &[f64]) -> String {
    let mut path = String::new();
    for (edge, count) in edges.windows(2).zip(counts) {
        let (Some(from), Some(to)) = (frame.at(edge[0], 0.0), frame.at(edge[1], *count)) else { continue };
        let _ = write!(path, "M{:.1} {:.1}H{:.1}V{:.1}H{:.1}z", from.0, from.1, to.0 - 0.5, to.1, from.0);
    }
    path
}
