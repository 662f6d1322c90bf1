//! Which class a model gives to every place of a plane, with rows on top.

use super::frame::{ABOVE, BELOW, Entry, Frame, legend};
use super::outline::Grid;
use super::points::{Dot, HEIGHT, drawable, frame_around, tone};
use super::sheet::{Place, Sheet, text_element};
use super::style::{TYPE, Tone, dashes};
use super::text::{fitted, tidy, width};
use super::{Picture, nothing};
use svg::node::Node;

/// What a model makes of every place of a plane: regions of its classes, and rows as points.
///
/// ```
/// use novikoff::plot::{Dot, Levels, Regions};
/// let dot = |x: f64, y: f64| Dot { x, y, class: usize::from(x * y > 0.0), support: false, mistake: false };
/// let dots = [dot(1.0, 1.0), dot(-1.0, -1.0), dot(1.0, -1.0), dot(-1.0, 1.0)];
/// let regions = Regions {
///     title: "Exclusive or",
///     description: "Two corners each.",
///     axes: ["x", "y"],
///     classes: &["no".into(), "yes".into()],
///     dots: &dots,
///     scores: &|places| places.iter().map(|(x, y)| x * y).collect(),
///     levels: Some(Levels { name: "score ±0.5".into(), scores: vec![-0.5, 0.5] }),
///     cells: 40,
/// };
/// assert!(regions.draw().file().contains(">score ±0.5<"));
/// ```
pub struct Regions<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The names of the axes, to the right and upwards.
    pub axes: [&'a str; 2],
    /// The names of the classes, in the order of their numbers.
    pub classes: &'a [String],
    /// The rows.
    pub dots: &'a [Dot],
    /// The scores at some places: one for each place, positive for the second class; or one for each class.
    pub scores: &'a Scores<'a>,
    /// Lines of equal score, where there is one score.
    pub levels: Option<Levels>,
    /// Cells of the grid of places along the longer side.
    pub cells: usize,
}

/// What gives scores to places.
pub type Scores<'a> = dyn Fn(&[(f64, f64)]) -> Vec<f64> + 'a;

/// Scores whose lines are drawn besides the border of the regions.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// What they are called.
    pub name: String,
    /// The scores.
    pub scores: Vec<f64>,
}

/// Classes in the legend at most.
const LISTED: usize = 12;
/// A name stands in a region that is so high around it.
const ROOM: f64 = 9.0;

/// The scores on a grid.
struct Field {
    columns: usize,
    rows: usize,
    outputs: usize,
    scores: Vec<f64>,
}

impl Regions<'_> {
    /// Draws it.
    pub fn draw(&self) -> Picture {
        if drawable(self.dots).next().is_none() {
            return nothing(self.title, self.description, "There are no rows to draw.");
        }
        let mut sheet = Sheet::default();
        let top = self.draw_legend(&mut sheet) + ABOVE;
        let frame = frame_around(self.dots, top);
        let Some(field) = self.field(&frame) else {
            return nothing(self.title, self.description, "There are no scores to draw.");
        };
        let mut drawn = Sheet::default();
        self.draw_field(&mut drawn, &frame, &field);
        self.draw_rows(&mut drawn, &frame);
        self.draw_names(&mut drawn, &frame, &field);
        frame.draw(&mut sheet, self.axes[0], self.axes[1]);
        frame.add_clipped(&mut sheet, &drawn);
        Picture::new(self.title, self.description, top + HEIGHT + BELOW + 2.0, sheet)
    }

    /// The tone of a class: of two the same as in [`super::Points`].
    fn tone(&self, class: usize) -> usize {
        if self.classes.len() <= 2 { tone(class) } else { class }
    }

    fn draw_legend(&self, sheet: &mut Sheet) -> f64 {
        let samples: Vec<_> =
            (0..self.classes.len().min(LISTED)).map(|class| sample(self.tone(class))).collect();
        let border = |sheet: &mut Sheet, (x, y): Place| {
            sheet.line((x - 10.0, y), (x + 10.0, y), Tone::Ink, &[("stroke-width", "1.6".into())])
        };
        let level = |sheet: &mut Sheet, (x, y): Place| dashed(sheet, format!("M{} {y}h20", x - 10.0));
        let crosses = |sheet: &mut Sheet, at: Place| sheet.crosses(&[at]);
        let rings = |sheet: &mut Sheet, at: Place| sheet.rings(&[at]);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (name, sample) in self.classes.iter().zip(&samples) {
            entries.push((tidy(name, 30), sample));
        }
        entries.push(("border".into(), &border));
        if let Some(levels) = &self.levels {
            entries.push((tidy(&levels.name, 40), &level));
        }
        if drawable(self.dots).any(|dot| dot.support) {
            entries.push(("support row".into(), &rings));
        }
        if drawable(self.dots).any(|dot| dot.mistake) {
            entries.push(("mistake".into(), &crosses));
        }
        legend(sheet, 0.0, &entries)
    }

    /// The scores at the corners of the grid's cells; `None` if they are not as many as there should be.
    fn field(&self, frame: &Frame) -> Option<Field> {
        let cells = self.cells.clamp(2, 400) as f64;
        let unit = frame.width.max(frame.height) / cells;
        let along = |length: f64| (length / unit).round().max(2.0) as usize + 1;
        let (columns, rows) = (along(frame.width), along(frame.height));
        let share = |i: usize, count: usize| i as f64 / (count - 1) as f64;
        let place = |i: usize| {
            let (column, row) = (i % columns, i / columns);
            (frame.x.number_at(share(column, columns)), frame.y.number_at(share(row, rows)))
        };
        let places: Vec<(f64, f64)> = (0..columns * rows).map(place).collect();
        let scores = (self.scores)(&places);
        let outputs = scores.len() / places.len();
        let expected = if outputs == 1 { 2 } else { outputs };
        (outputs > 0 && outputs * places.len() == scores.len() && expected == self.classes.len())
            .then_some(Field { columns, rows, outputs, scores })
    }

    /// Regions, their borders, and lines of equal score.
    fn draw_field(&self, sheet: &mut Sheet, frame: &Frame, field: &Field) {
        let place = |i: usize| field.place(frame, i);
        let grid = |values: Vec<f64>| Grid { columns: field.columns, values, place: &place };
        let whole = grid(vec![1.0; field.columns * field.rows]).areas(0.0);
        sheet.area(whole, Tone::Tint(self.tone(0)), 1.0);
        // Each region is painted with all that come after it, and these over it: no gap is left between them.
        for class in 1..self.classes.len() {
            sheet.area(grid(field.from(class)).areas(0.0), Tone::Tint(self.tone(class)), 1.0);
        }
        if let (1, Some(levels)) = (field.outputs, &self.levels) {
            for level in &levels.scores {
                dashed(sheet, grid(field.scores.clone()).lines(*level));
            }
        }
        let bordered = if field.outputs == 1 { 1..2 } else { 0..self.classes.len() - 1 };
        for class in bordered {
            let border = grid(field.lead(class)).lines(0.0);
            sheet.path(border, Tone::Ink, &[("stroke-width", "1.6".into())]);
        }
    }

    fn draw_rows(&self, sheet: &mut Sheet, frame: &Frame) {
        let places = |wanted: &dyn Fn(&Dot) -> bool| {
            let wanted = drawable(self.dots).filter(|dot| wanted(dot));
            frame.places(&wanted.map(|dot| (dot.x, dot.y)).collect::<Vec<_>>())
        };
        let opacity = if self.dots.len() > 300 { 0.7 } else { 0.95 };
        for class in 0..self.classes.len() {
            sheet.marks(&places(&|dot| dot.class == class), self.tone(class), opacity);
        }
        sheet.rings(&places(&|dot| dot.support));
        sheet.crosses(&places(&|dot| dot.mistake));
    }

    /// The name of each class in its region, where there is room.
    fn draw_names(&self, sheet: &mut Sheet, frame: &Frame, field: &Field) {
        let depths = field.depths();
        let marks = frame.places(&drawable(self.dots).map(|dot| (dot.x, dot.y)).collect::<Vec<_>>());
        let mut taken: Vec<NameBox> = Vec::new();
        for (class, name) in self.classes.iter().enumerate() {
            let name = fitted(&tidy(name, 30), frame.width / 2.0);
            let half = width(&name) / 2.0 + 3.0;
            let boxes = (0..depths.len()).filter(|&i| field.class(i) == class).map(|i| {
                let (x, y) = field.place(frame, i);
                (depths[i] * field.unit(frame), NameBox { x, y, half })
            });
            let fits = |(depth, one): &(f64, NameBox)| {
                *depth >= ROOM && one.is_within(frame) && taken.iter().all(|other| !one.touches(other))
            };
            let best = boxes.filter(fits).min_by(|(depth, one), (other_depth, other)| {
                let hidden = one.hides(&marks, *depth).total_cmp(&other.hides(&marks, *other_depth));
                hidden.then(other_depth.total_cmp(depth))
            });
            let Some((_, one)) = best else { continue };
            draw_name(sheet, &one, &name);
            taken.push(one);
        }
    }
}

/// A name on the ground of its region, with a rim that keeps it apart from rows beneath.
fn draw_name(sheet: &mut Sheet, one: &NameBox, name: &str) {
    let place = (one.x, one.y + 4.0);
    let mut rim = text_element(place, name, "middle", Tone::Ink, &[("font-weight", "600".into())]);
    rim.assign("stroke-width", "3.5");
    rim.assign("stroke-linejoin", "round");
    rim.assign("paint-order", "stroke");
    rim.assign("class", format!("{} {}", Tone::Ink.fill(), Tone::Paper.stroke()));
    sheet.add(rim);
}

/// Where a name stands: its middle, and half its width.
#[derive(Clone, Copy)]
struct NameBox {
    x: f64,
    y: f64,
    half: f64,
}

impl NameBox {
    fn is_within(&self, frame: &Frame) -> bool {
        let (left, right) = (frame.left + self.half + 2.0, frame.left + frame.width - self.half - 2.0);
        let (top, bottom) = (frame.top + TYPE, frame.top + frame.height - TYPE);
        (left..=right).contains(&self.x) && (top..=bottom).contains(&self.y)
    }

    fn touches(&self, other: &NameBox) -> bool {
        (self.x - other.x).abs() < self.half + other.half && (self.y - other.y).abs() < 1.5 * TYPE
    }

    /// What speaks against this place: rows beneath the name, and its ends beyond the region.
    fn hides(&self, marks: &[Place], depth: f64) -> f64 {
        let is_beneath = |(x, y): &&Place| (x - self.x).abs() < self.half && (y - self.y).abs() < 0.7 * TYPE;
        let beyond = (self.half - 1.2 * depth).max(0.0);
        marks.iter().filter(is_beneath).count() as f64 + 0.25 * beyond
    }
}

fn sample(tone: usize) -> impl Fn(&mut Sheet, Place) {
    move |sheet, (x, y)| {
        sheet.area(format!("M{} {}h20v14h-20z", x - 10.0, y - 7.0), Tone::Tint(tone), 1.0);
        sheet.marks(&[(x, y)], tone, 1.0);
    }
}

fn dashed(sheet: &mut Sheet, path: String) {
    sheet.path(path, Tone::Ink, &[("stroke-width", "1".into()), ("stroke-dasharray", dashes(4).into())]);
}

impl Field {
    /// Where a corner stands.
    fn place(&self, frame: &Frame, i: usize) -> Place {
        let (column, row) = (i % self.columns, i / self.columns);
        let right = column as f64 / (self.columns - 1) as f64;
        let up = row as f64 / (self.rows - 1) as f64;
        (frame.left + right * frame.width, frame.top + (1.0 - up) * frame.height)
    }

    /// How far apart corners are, at least.
    fn unit(&self, frame: &Frame) -> f64 {
        (frame.width / (self.columns - 1) as f64).min(frame.height / (self.rows - 1) as f64)
    }

    fn scores(&self) -> impl Iterator<Item = &[f64]> {
        self.scores.chunks_exact(self.outputs)
    }

    /// By how much the classes from this one on lead the ones before.
    fn from(&self, class: usize) -> Vec<f64> {
        if self.outputs == 1 {
            return self.scores.clone();
        }
        self.scores().map(|scores| most(&scores[class..]) - most(&scores[..class])).collect()
    }

    /// By how much a class leads all others.
    fn lead(&self, class: usize) -> Vec<f64> {
        if self.outputs == 1 {
            return self.scores.clone();
        }
        let lead = |scores: &[f64]| scores[class] - most(&scores[..class]).max(most(&scores[class + 1..]));
        self.scores().map(lead).collect()
    }

    /// The class at a corner: that of the largest score, the last one where several are equal.
    fn class(&self, i: usize) -> usize {
        match &self.scores[i * self.outputs..][..self.outputs] {
            [score] => usize::from(*score >= 0.0),
            scores => scores.iter().rposition(|score| *score >= most(scores)).unwrap_or(0),
        }
    }

    /// How many cells each corner is away from another class and from the border, about.
    fn depths(&self) -> Vec<f64> {
        let (columns, count) = (self.columns, self.columns * self.rows);
        let classes: Vec<usize> = (0..count).map(|i| self.class(i)).collect();
        let is_edge = |i: usize| {
            let (column, row) = (i % columns, i / columns);
            let inner = column > 0 && row > 0 && column + 1 < columns && row + 1 < self.rows;
            !inner || [i - 1, i + 1, i - columns, i + columns].iter().any(|&j| classes[j] != classes[i])
        };
        let mut depths: Vec<f64> = (0..count).map(|i| if is_edge(i) { 0.0 } else { f64::INFINITY }).collect();
        // Two sweeps, there and back: each corner is a step further than its nearest neighbour.
        let near = |depths: &[f64], around: [(usize, f64); 4]| {
            around.iter().map(|&(j, step)| depths[j] + step).fold(f64::INFINITY, f64::min)
        };
        let (diagonal, inner) = (std::f64::consts::SQRT_2, |depths: &[f64], i: usize| depths[i] > 0.0);
        for i in 0..count {
            if inner(&depths, i) {
                let up = i - columns;
                let around = [(i - 1, 1.0), (up, 1.0), (up - 1, diagonal), (up + 1, diagonal)];
                depths[i] = depths[i].min(near(&depths, around));
            }
        }
        for i in (0..count).rev() {
            if inner(&depths, i) {
                let down = i + columns;
                let around = [(i + 1, 1.0), (down, 1.0), (down + 1, diagonal), (down - 1, diagonal)];
                depths[i] = depths[i].min(near(&depths, around));
            }
        }
        depths
    }
}

fn most(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
