//! Losses over the margin, and below them where a model's rows stand.

use super::axis::{Axis, EVEN, Spacing};
use super::chart::histogram;
use super::frame::{ABOVE, BELOW, Entry, Frame, legend, tick_room};
use super::sheet::{Place, Sheet};
use super::style::Tone;
use super::{Picture, WIDTH, nothing};
use crate::loss::LossName;

/// What losses are functions of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// `y·s`, where labels are predicted.
    Margin,
    /// `s − y`, where numbers are.
    Residual,
}

/// The losses, and a histogram of the margins (or residuals) that a model's rows have.
///
/// ```
/// use novikoff::{loss::LossName, plot::{Losses, Over}};
/// let margins = [-0.5, 0.8, 1.0, 1.1, 2.0];
/// let (title, description) = ("Losses over the margin", "Most rows have a margin of 1.");
/// let own = Some(LossName::Hinge);
/// let picture = Losses { title, description, over: Over::Margin, own, values: &margins }.draw();
/// assert!(picture.file().contains(">hinge<"));
/// ```
#[derive(Clone, Debug)]
pub struct Losses<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// Margins or residuals.
    pub over: Over,
    /// The loss that was minimised, drawn thicker than the others.
    pub own: Option<LossName>,
    /// The margins (or residuals) of the rows.
    pub values: &'a [f64],
}

/// Margins that are spread wider than this stand on an axis that is logarithmic beyond ±[`EVEN`]: the losses
/// would be squeezed into a corner.
const WIDE: f64 = 10.0;
const BINS: usize = 48;
/// Margins around 0 and 1, where losses differ.
const MARGINS: (f64, f64) = (-1.5, 2.5);
const HIGHEST: f64 = 3.5;
/// Steps of a curve.
const POINTS: u32 = 200;
const LOSSES_HEIGHT: f64 = 130.0;
const ROWS_HEIGHT: f64 = 80.0;

impl Losses<'_> {
    /// Draws it.
    pub fn draw(&self) -> Picture {
        let Some(x) = self.x_axis() else {
            return nothing(self.title, self.description, "There are no rows to draw.");
        };
        let counts = Counts::of(self.finite(), &x);
        let (losses, rows) = (self.loss_axis(&x), counts.axis());
        // Both boxes have the same axis below, and stand above one another.
        let left = tick_room(&losses).max(tick_room(&rows));
        let frame =
            |y: Axis, top: f64, height: f64| Frame { x, y, left, top, width: WIDTH - left - 12.0, height };
        let mut sheet = Sheet::default();
        let top = self.draw_legend(&mut sheet) + ABOVE;
        self.draw_losses(&mut sheet, &frame(losses, top, LOSSES_HEIGHT));
        let top = top + LOSSES_HEIGHT + BELOW + ABOVE;
        self.draw_histogram(&mut sheet, &frame(rows, top, ROWS_HEIGHT), &counts);
        Picture::new(self.title, self.description, top + ROWS_HEIGHT + BELOW + 2.0, sheet)
    }

    fn finite(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied().filter(|x| x.is_finite())
    }

    /// The axis of both boxes, around all but the most extreme values; `None` if there are none.
    fn x_axis(&self) -> Option<Axis> {
        let mut values: Vec<f64> = self.finite().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| values[(last as f64 * share).round() as usize];
        let (low, high) = (at(0.005), at(0.995));
        if self.over == Over::Residual {
            return Some(Axis::exactly([low, high], Spacing::Even));
        }
        let (low, high) = (low.min(MARGINS.0), high.max(MARGINS.1));
        let spacing = if high - low > WIDE { Spacing::SignedLogarithmic } else { Spacing::Even };
        Some(Axis::exactly([low, high], spacing))
    }

    /// Which of the losses that are drawn lie nowhere below the zero-one loss, and which do: their names.
    pub fn domination(&self) -> (Vec<String>, Vec<String>) {
        let (above, below): (Vec<_>, Vec<_>) =
            self.shown().into_iter().partition(|(_, loss, _)| loss.dominating_factor().is_some());
        let names =
            |losses: Vec<(String, LossName, f64)>| losses.into_iter().map(|(name, ..)| name).collect();
        (names(above), names(below))
    }

    /// Beyond this distance from zero, in both directions, the axis of these values is logarithmic; `None` if
    /// it is even.
    pub fn even_up_to(&self) -> Option<f64> {
        self.x_axis().filter(|x| x.spacing() == Spacing::SignedLogarithmic).map(|_| EVEN)
    }

    fn x_name(&self) -> &'static str {
        match self.over {
            Over::Margin => "margin y·s",
            Over::Residual => "predicted − true",
        }
    }

    /// The losses to draw: with their names, and the factors they are shown with.
    fn shown(&self) -> Vec<(String, LossName, f64)> {
        match self.over {
            Over::Residual => self.own.into_iter().map(|loss| (loss.describe(), loss, 1.0)).collect(),
            Over::Margin => {
                let mut shown = vec![
                    ("hinge".to_owned(), LossName::Hinge, 1.0),
                    ("squared hinge".to_owned(), LossName::SquaredHinge, 1.0),
                    ("logistic, in bits".to_owned(), LossName::Logistic, std::f64::consts::LOG2_E),
                    ("exponential".to_owned(), LossName::Exponential, 1.0),
                    ("hinge at zero".to_owned(), LossName::HingeAtZero, 1.0),
                ];
                let own = self.own.filter(|own| shown.iter().all(|(_, loss, _)| loss != own));
                shown.extend(own.map(|own| (own.describe(), own, 1.0)));
                shown
            }
        }
    }

    fn value(&self, loss: LossName, factor: f64, x: f64) -> f64 {
        let target = if self.over == Over::Margin { 1.0 } else { 0.0 };
        factor * loss.value(target, x)
    }

    fn width(&self, loss: LossName) -> f64 {
        if self.own == Some(loss) { 3.2 } else { 1.5 }
    }

    fn loss_axis(&self, x: &Axis) -> Axis {
        let (low, high) = x.ends();
        let at_ends =
            |(_, loss, f): (String, LossName, f64)| self.value(loss, f, low).max(self.value(loss, f, high));
        let highest = match self.over {
            Over::Margin => HIGHEST,
            Over::Residual => self.shown().into_iter().map(at_ends).fold(0.0, f64::max),
        };
        Axis::exactly([0.0, highest], Spacing::Even)
    }

    fn draw_legend(&self, sheet: &mut Sheet) -> f64 {
        let shown = self.shown();
        let samples: Vec<_> =
            shown.iter().enumerate().map(|(n, (_, loss, _))| sample(n, self.width(*loss))).collect();
        let zero_one = |sheet: &mut Sheet, (x, y): Place| step(sheet, &[(x - 10.0, y), (x + 10.0, y)]);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        if self.over == Over::Margin {
            entries.push(("zero-one".into(), &zero_one));
        }
        entries.extend(shown.iter().zip(&samples).map(|((name, ..), sample)| (name.clone(), sample as _)));
        legend(sheet, 0.0, &entries)
    }

    fn draw_losses(&self, sheet: &mut Sheet, frame: &Frame) {
        frame.draw(sheet, self.x_name(), "loss");
        let mut drawn = Sheet::default();
        let (low, high) = frame.x.ends();
        if self.over == Over::Margin {
            step(&mut drawn, &frame.places(&[(low, 1.0), (0.0, 1.0), (0.0, 0.0), (high, 0.0)]));
        }
        for (n, (_, loss, factor)) in self.shown().into_iter().enumerate() {
            let through = (0..=POINTS).map(|i| frame.x.number_at(f64::from(i) / f64::from(POINTS)));
            let points: Vec<_> = through.map(|x| (x, self.value(loss, factor, x))).collect();
            drawn.curve(&frame.places(&points), n, self.width(loss));
        }
        frame.add_clipped(sheet, &drawn);
    }

    /// Rows beyond the ends are counted at the ends.
    fn draw_histogram(&self, sheet: &mut Sheet, frame: &Frame, counts: &Counts) {
        let is_margin = self.over == Over::Margin;
        frame.draw(
            sheet,
            self.x_name(),
            if is_margin { "rows with this margin" } else { "rows with this residual" },
        );
        let mut drawn = Sheet::default();
        let Counts { edges, rows } = counts;
        let bars = |wanted: fn(f64) -> bool| -> Vec<f64> {
            rows.iter().zip(edges).map(|(n, from)| if wanted(*from) { *n } else { 0.0 }).collect()
        };
        match frame.at(0.0, 0.0).filter(|_| is_margin) {
            // Mistakes stand left of zero, where a bar ends.
            Some((zero, _)) => {
                drawn.area(histogram(frame, edges, &bars(|from| from < 0.0)), Tone::Series(1), 0.9);
                drawn.area(histogram(frame, edges, &bars(|from| from >= 0.0)), Tone::Series(0), 0.9);
                let (top, bottom) = (frame.top, frame.top + frame.height);
                drawn.line((zero, top), (zero, bottom), Tone::Ink, &[("stroke-width", "1.2".into())]);
            }
            None => drawn.area(histogram(frame, edges, rows), Tone::Series(0), 0.9),
        }
        frame.add_clipped(sheet, &drawn);
    }
}

/// How many values lie between two edges.
struct Counts {
    edges: Vec<f64>,
    rows: Vec<f64>,
}

impl Counts {
    /// Edges are equally far apart on the axis; zero is one, too.
    fn of(values: impl Iterator<Item = f64>, x: &Axis) -> Self {
        let mut edges: Vec<f64> = (0..=BINS).map(|i| x.number_at(i as f64 / BINS as f64)).collect();
        let zero = edges.partition_point(|edge| *edge < 0.0);
        if (1..edges.len()).contains(&zero) && edges[zero] != 0.0 {
            edges.insert(zero, 0.0);
        }
        let mut rows = vec![0.0; edges.len() - 1];
        for value in values {
            rows[(edges.partition_point(|edge| *edge <= value).max(1) - 1).min(edges.len() - 2)] += 1.0;
        }
        Self { edges, rows }
    }

    fn axis(&self) -> Axis {
        let most = self.rows.iter().copied().fold(1.0, f64::max);
        Axis::exactly([0.0, 1.05 * most], Spacing::Whole)
    }
}

fn sample(n: usize, width: f64) -> impl Fn(&mut Sheet, Place) {
    move |sheet, (x, y)| sheet.curve(&[(x - 10.0, y), (x + 10.0, y)], n, width)
}

fn step(sheet: &mut Sheet, places: &[Place]) {
    sheet.path(super::sheet::through(places), Tone::Ink, &[("stroke-width", "2".into())]);
}
