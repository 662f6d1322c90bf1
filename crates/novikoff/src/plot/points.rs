//! Rows as points of a plane, with the hyperplane, its normal vector and its margin.

use super::axis::{Axis, Spacing};
use super::frame::{ABOVE, BELOW, Entry, Frame, legend, tick_room};
use super::sheet::{Place, Sheet};
use super::style::{Tone, dashes};
use super::{Picture, WIDTH, nothing, tidy};

/// A row in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// The number of its class; of two, 0 for the negative and 1 for the positive one.
    pub class: usize,
    /// Whether the hyperplane rests on it.
    pub support: bool,
    /// Whether it is on the wrong side.
    pub mistake: bool,
}

/// Rows of two classes in two dimensions, and the hyperplane between them.
///
/// ```
/// use novikoff::plot::{Dot, Points};
/// let dot = |x: f64, class: usize| Dot { x, y: x * x, class, support: x.abs() < 1.5, mistake: false };
/// let dots = [dot(-2.0, 0), dot(-1.0, 0), dot(1.0, 1), dot(3.0, 1)];
/// let points = Points {
///     title: "Four rows",
///     description: "They can be separated.",
///     axes: ["x", "x²"],
///     classes: ["no", "yes"],
///     dots: &dots,
///     plane: Some([1.0, 0.0, 0.0]),
///     margin: Some(1.0),
/// };
/// assert!(points.draw().file().contains(">normal vector w<"));
/// ```
#[derive(Clone, Debug)]
pub struct Points<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The names of the axes, to the right and upwards.
    pub axes: [&'a str; 2],
    /// The names of the classes, the negative one first.
    pub classes: [&'a str; 2],
    /// The rows.
    pub dots: &'a [Dot],
    /// `[a, b, c]`: the hyperplane is where `a·x + b·y + c = 0`, and the positive side is where that is
    /// positive.
    pub plane: Option<[f64; 3]>,
    /// The margin's two lines are where that is plus and minus this.
    pub margin: Option<f64>,
}

/// As long as one axis is no more than so many times as long as the other, both get the same unit.
const EQUAL_WITHIN: f64 = 4.0;
pub(super) const HEIGHT: f64 = 250.0;

/// The rows that have a place.
pub(super) fn drawable(dots: &[Dot]) -> impl Iterator<Item = &Dot> {
    dots.iter().filter(|dot| dot.x.is_finite() && dot.y.is_finite())
}

fn spans(dots: &[Dot]) -> [(f64, f64); 2] {
    let ends = |of: fn(&Dot) -> f64| Axis::around(drawable(dots).map(of), Spacing::Even).ends();
    [ends(|dot| dot.x), ends(|dot| dot.y)]
}

fn have_equal_units([x, y]: [(f64, f64); 2]) -> bool {
    let wide = (WIDTH - 50.0) / HEIGHT;
    (1.0 / EQUAL_WITHIN..=EQUAL_WITHIN).contains(&((x.1 - x.0) / (y.1 - y.0) / wide))
}

/// A box around rows; where that leaves neither direction thin, with the same unit in both.
pub(super) fn frame_around(dots: &[Dot], top: f64) -> Frame {
    let [mut x, mut y] = spans(dots);
    let axis = |(low, high): (f64, f64)| Axis::exactly([low, high], Spacing::Even);
    let left = tick_room(&axis(y));
    let width = WIDTH - left - 12.0;
    if have_equal_units([x, y]) {
        let unit = ((x.1 - x.0) / width).max((y.1 - y.0) / HEIGHT);
        let widened = |(low, high): (f64, f64), pixels: f64| {
            let (middle, half) = (low / 2.0 + high / 2.0, unit * pixels / 2.0);
            (middle - half, middle + half)
        };
        (x, y) = (widened(x, width), widened(y, HEIGHT));
    }
    Frame { x: axis(x), y: axis(y), left, top, width, height: HEIGHT }
}

impl Points<'_> {
    /// Whether both axes have the same unit, so that right angles look right.
    pub fn has_equal_units(&self) -> bool {
        have_equal_units(spans(self.dots))
    }

    fn drawable(&self) -> impl Iterator<Item = &Dot> {
        drawable(self.dots)
    }

    /// Draws it.
    pub fn draw(&self) -> Picture {
        if self.drawable().next().is_none() {
            return nothing(self.title, self.description, "There are no rows to draw.");
        }
        let mut sheet = Sheet::default();
        let top = self.draw_legend(&mut sheet) + ABOVE;
        let frame = frame_around(self.dots, top);
        frame.draw(&mut sheet, self.axes[0], self.axes[1]);
        let mut drawn = Sheet::default();
        self.draw_rows(&mut drawn, &frame);
        self.draw_plane(&mut drawn, &frame);
        frame.add_clipped(&mut sheet, &drawn);
        Picture::new(self.title, self.description, top + HEIGHT + BELOW + 2.0, sheet)
    }

    fn draw_rows(&self, sheet: &mut Sheet, frame: &Frame) {
        let places = |wanted: &dyn Fn(&Dot) -> bool| {
            let pairs: Vec<_> = self.drawable().filter(|dot| wanted(dot)).map(|dot| (dot.x, dot.y)).collect();
            frame.places(&pairs)
        };
        let opacity = if self.dots.len() > 300 { 0.55 } else { 0.85 };
        for class in [0, 1] {
            sheet.marks(&places(&|dot| dot.class == class), tone(class), opacity);
        }
        sheet.rings(&places(&|dot| dot.support));
        sheet.crosses(&places(&|dot| dot.mistake));
    }

    fn draw_plane(&self, sheet: &mut Sheet, frame: &Frame) {
        let Some([a, b, c]) = self.plane.filter(|plane| plane.iter().all(|x| x.is_finite())) else { return };
        for margin in self.margin.into_iter().flat_map(|m| [-m, m]) {
            if let Some([from, to]) = line_within(frame, [a, b, c - margin]) {
                let thin = [("stroke-width", "1.2".to_owned()), ("stroke-dasharray", dashes(1).to_owned())];
                sheet.line(from, to, Tone::Ink, &thin);
            }
        }
        let Some([from, to]) = line_within(frame, [a, b, c]) else { return };
        sheet.line(from, to, Tone::Ink, &[("stroke-width", "2".into())]);
        self.draw_normal(sheet, frame, [a, b], ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0));
    }

    /// An arrow from the middle of the hyperplane to the positive side: as far as the margin goes, where that
    /// can be seen.
    fn draw_normal(&self, sheet: &mut Sheet, frame: &Frame, [a, b]: [f64; 2], from: Place) {
        let ((x0, x1), (y0, y1)) = (frame.x.ends(), frame.y.ends());
        let (per_x, per_y) = (frame.width / (x1 - x0), frame.height / (y1 - y0));
        // A step of (a, b)·t raises a·x + b·y + c by t·(a² + b²).
        let (right, down) = (a * per_x, -b * per_y);
        let length = right.hypot(down);
        if !(length > 0.0 && length.is_finite()) {
            return;
        }
        let to_margin =
            self.margin.map(|m| m / (a * a + b * b) * length).filter(|far| (14.0..=130.0).contains(far));
        let far = to_margin.unwrap_or(44.0);
        let (dx, dy) = (right / length, down / length);
        let tip = (from.0 + far * dx, from.1 + far * dy);
        sheet.line(from, tip, Tone::Series(2), &[("stroke-width", "2.4".into())]);
        let barb = |side: f64| (tip.0 - 8.0 * dx + side * 4.0 * dy, tip.1 - 8.0 * dy - side * 4.0 * dx);
        let (one, other) = (barb(1.0), barb(-1.0));
        let path =
            format!("M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z", tip.0, tip.1, one.0, one.1, other.0, other.1);
        sheet.area(path, Tone::Series(2), 1.0);
    }

    fn draw_legend(&self, sheet: &mut Sheet) -> f64 {
        let class = |class: usize| move |sheet: &mut Sheet, at: Place| sheet.marks(&[at], tone(class), 1.0);
        let (negative, positive) = (class(0), class(1));
        let across = |attributes: Vec<(&'static str, String)>, tone: Tone| {
            move |sheet: &mut Sheet, (x, y): Place| {
                sheet.line((x - 10.0, y), (x + 10.0, y), tone, &attributes)
            }
        };
        let plane = across(vec![("stroke-width", "2".into())], Tone::Ink);
        let margin =
            across(vec![("stroke-width", "1.2".into()), ("stroke-dasharray", dashes(1).into())], Tone::Ink);
        let normal = across(vec![("stroke-width", "2.4".into())], Tone::Series(2));
        let rings = |sheet: &mut Sheet, at: Place| sheet.rings(&[at]);
        let crosses = |sheet: &mut Sheet, at: Place| sheet.crosses(&[at]);
        let has = |wanted: fn(&Dot) -> bool| self.drawable().any(wanted);
        let mut entries: Vec<Entry<'_>> = vec![
            (format!("{} (−)", tidy(self.classes[0], 30)), &negative),
            (format!("{} (+)", tidy(self.classes[1], 30)), &positive),
        ];
        if self.plane.is_some() {
            entries.push(("hyperplane".into(), &plane));
            entries.push(("normal vector w".into(), &normal));
        }
        if self.plane.is_some() && self.margin.is_some() {
            entries.push(("margin".into(), &margin));
        }
        if has(|dot| dot.support) {
            entries.push(("support row".into(), &rings));
        }
        if has(|dot| dot.mistake) {
            entries.push(("mistake".into(), &crosses));
        }
        legend(sheet, 0.0, &entries)
    }
}

/// Negative rows are orange squares, positive ones blue dots.
pub(super) fn tone(class: usize) -> usize {
    1 - class.min(1)
}

/// The part of the line `a·x + b·y + c = 0` that lies within the box.
fn line_within(frame: &Frame, [a, b, c]: [f64; 3]) -> Option<[Place; 2]> {
    let ((x0, x1), (y0, y1)) = (frame.x.ends(), frame.y.ends());
    let inside = |low: f64, x: f64, high: f64| (low..=high).contains(&x);
    let mut ends: Vec<Place> = Vec::new();
    for x in [x0, x1] {
        let y = -(a * x + c) / b;
        ends.extend(inside(y0, y, y1).then_some((x, y)));
    }
    for y in [y0, y1] {
        let x = -(b * y + c) / a;
        ends.extend(inside(x0, x, x1).then_some((x, y)));
    }
    let places = frame.places(&ends);
    let far = |p: &Place, q: &Place| (p.0 - q.0).hypot(p.1 - q.1);
    let first = *places.first()?;
    let last = *places.iter().max_by(|p, q| far(&first, p).total_cmp(&far(&first, q)))?;
    (far(&first, &last) > 1.0).then_some([first, last])
}
