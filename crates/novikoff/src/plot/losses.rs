//! Losses over the margin, and below them where a model's rows stand.

use super::axis::{Axis, Spacing};
use super::chart::histogram;
use super::frame::{ABOVE, BELOW, Entry, Frame, legend};
use super::sheet::{Place, Sheet};
use super::style::Tone;
use super::{Picture, nothing};
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

/// Wider than this, and the histogram has an axis of its own: the losses would be squeezed into a corner.
const SHARED: f64 = 10.0;
const BINS: usize = 48;
/// Margins around 0 and 1, where losses differ.
const MARGINS: (f64, f64) = (-1.5, 2.5);
const HIGHEST: f64 = 3.5;

impl Losses<'_> {
    /// Draws it.
    pub fn draw(&self) -> Picture {
        let mut values: Vec<f64> = self.values.iter().copied().filter(|x| x.is_finite()).collect();
        if values.is_empty() {
            return nothing(self.title, self.description, "There are no rows to draw.");
        }
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        let spread = (at(0.005), at(0.995));
        let (upper, lower) = match self.over {
            Over::Residual => (spread, spread),
            Over::Margin => {
                let both = (spread.0.min(MARGINS.0), spread.1.max(MARGINS.1));
                if both.1 - both.0 <= SHARED {
                    (both, both)
                } else {
                    (MARGINS, (spread.0.min(0.0), spread.1.max(0.0)))
                }
            }
        };
        let mut sheet = Sheet::default();
        let bottom = self.draw_losses(&mut sheet, upper);
        let height = self.draw_histogram(&mut sheet, &values, lower, bottom + ABOVE);
        Picture::new(self.title, self.description, height, sheet)
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
            Over::Margin => vec![
                ("hinge".to_owned(), LossName::Hinge, 1.0),
                ("squared hinge".to_owned(), LossName::SquaredHinge, 1.0),
                ("logistic, in bits".to_owned(), LossName::Logistic, std::f64::consts::LOG2_E),
                ("exponential".to_owned(), LossName::Exponential, 1.0),
                ("hinge at zero".to_owned(), LossName::HingeAtZero, 1.0),
            ],
        }
    }

    fn draw_losses(&self, sheet: &mut Sheet, (low, high): (f64, f64)) -> f64 {
        let x = Axis::exactly([low, high], Spacing::Even);
        let (low, high) = x.ends();
        let shown = self.shown();
        let value = |loss: LossName, factor: f64, x: f64| match self.over {
            Over::Margin => factor * loss.value(1.0, x),
            Over::Residual => factor * loss.value(0.0, x),
        };
        let highest = match self.over {
            Over::Margin => HIGHEST,
            Over::Residual => shown
                .iter()
                .map(|(_, loss, f)| value(*loss, *f, low).max(value(*loss, *f, high)))
                .fold(0.0, f64::max),
        };
        let width = |loss: LossName| if self.own == Some(loss) { 3.2 } else { 1.5 };
        let samples: Vec<_> = (shown.iter().enumerate())
            .map(|(n, (_, loss, _))| {
                let width = width(*loss);
                move |sheet: &mut Sheet, (x, y): Place| sheet.curve(&[(x - 10.0, y), (x + 10.0, y)], n, width)
            })
            .collect();
        let zero_one = |sheet: &mut Sheet, (x, y): Place| step(sheet, &[(x - 10.0, y), (x + 10.0, y)]);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        if self.over == Over::Margin {
            entries.push(("zero-one".into(), &zero_one));
        }
        entries.extend(
            shown.iter().zip(&samples).map(|((name, ..), sample)| (name.as_str().into(), sample as _)),
        );
        let top = legend(sheet, 0.0, &entries) + ABOVE;
        let frame = Frame::across(x, Axis::exactly([0.0, highest], Spacing::Even), top, 130.0);
        frame.draw(sheet, self.x_name(), "loss");
        let mut drawn = Sheet::default();
        if self.over == Over::Margin {
            step(&mut drawn, &frame.places(&[(low, 1.0), (0.0, 1.0), (0.0, 0.0), (high, 0.0)]));
        }
        for (n, (_, loss, factor)) in shown.iter().enumerate() {
            let through: Vec<_> = (0..=160).map(|i| low + (high - low) * f64::from(i) / 160.0).collect();
            let points: Vec<_> = through.into_iter().map(|x| (x, value(*loss, *factor, x))).collect();
            drawn.curve(&frame.places(&points), n, width(*loss));
        }
        frame.add_clipped(sheet, &drawn);
        top + 130.0 + BELOW
    }

    /// Rows beyond the ends are counted at the ends.
    fn draw_histogram(&self, sheet: &mut Sheet, values: &[f64], (low, high): (f64, f64), top: f64) -> f64 {
        let x = Axis::exactly([low, high], Spacing::Even);
        let (low, high) = x.ends();
        let mut counts = vec![0.0; BINS];
        for value in values {
            let share = (value - low) / (high - low);
            counts[((share * BINS as f64).max(0.0) as usize).min(BINS - 1)] += 1.0;
        }
        let edges: Vec<f64> = (0..=BINS).map(|i| low + (high - low) * i as f64 / BINS as f64).collect();
        let most = counts.iter().copied().fold(1.0, f64::max);
        let frame = Frame::across(x, Axis::exactly([0.0, 1.05 * most], Spacing::Even), top, 80.0);
        let what =
            if self.over == Over::Margin { "rows with this margin" } else { "rows with this residual" };
        frame.draw(sheet, self.x_name(), what);
        let mut drawn = Sheet::default();
        match frame.at(0.0, 0.0).filter(|_| self.over == Over::Margin && low < 0.0) {
            // Mistakes stand left of zero.
            Some((zero, _)) => {
                let (left, right): (Vec<f64>, Vec<f64>) = (0..BINS)
                    .map(|i| {
                        if edges[i + 1] / 2.0 + edges[i] / 2.0 < 0.0 {
                            (counts[i], 0.0)
                        } else {
                            (0.0, counts[i])
                        }
                    })
                    .unzip();
                drawn.area(histogram(&frame, &edges, &left), Tone::Series(1), 0.9);
                drawn.area(histogram(&frame, &edges, &right), Tone::Series(0), 0.9);
                drawn.line(
                    (zero, frame.top),
                    (zero, frame.top + frame.height),
                    Tone::Ink,
                    &[("stroke-width", "1.2".into())],
                );
            }
            None => drawn.area(histogram(&frame, &edges, &counts), Tone::Series(0), 0.9),
        }
        frame.add_clipped(sheet, &drawn);
        top + 80.0 + BELOW + 2.0
    }
}

fn step(sheet: &mut Sheet, places: &[Place]) {
    sheet.path(super::sheet::through(places), Tone::Ink, &[("stroke-width", "2".into())]);
}
