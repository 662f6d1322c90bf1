//! Weights of pixels, as images.

use super::sheet::{Sheet, element, px};
use super::style::{TYPE, Tone};
use super::{Picture, WIDTH, nothing, text, tidy};
use std::fmt::Write as _;
use svg::node::Node;

/// Numbers in rows and columns.
#[derive(Clone, Debug)]
pub struct Image {
    /// What it is of.
    pub title: String,
    /// The numbers, row by row; [`Images::width`] a row.
    pub values: Vec<f64>,
}

/// Images of one size side by side: blue where numbers are above zero, orange where they are below, strong
/// where they are large.
///
/// ```
/// use novikoff::plot::{Image, Images};
/// let images = [Image { title: "slash".into(), values: vec![-1.0, 1.0, 1.0, -1.0] }];
/// let picture = Images { title: "Weights", description: "A diagonal.", width: 2, images: &images }.draw();
/// assert!(picture.file().contains(">slash<"));
/// ```
#[derive(Clone, Debug)]
pub struct Images<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// Numbers a row.
    pub width: usize,
    /// The images.
    pub images: &'a [Image],
}

/// More images than this are not drawn.
const MOST: usize = 30;
/// Larger images than this, along a side, are drawn as means of squares.
const SIDE: usize = 96;
/// Shades on each side of zero.
const SHADES: usize = 12;
const GAP: f64 = 8.0;

impl Images<'_> {
    /// How many of the images are drawn.
    pub fn shown(&self) -> usize {
        self.images.len().min(MOST)
    }

    /// Draws it.
    pub fn draw(&self) -> Picture {
        let images = &self.images[..self.shown()];
        let length = images.iter().map(|image| image.values.len()).max().unwrap_or(0);
        if self.width == 0 || length == 0 {
            return nothing(self.title, self.description, "There are no pixels to draw.");
        }
        let height = length.div_ceil(self.width);
        let block = self.width.max(height).div_ceil(SIDE);
        let (wide, high) = (self.width.div_ceil(block), height.div_ceil(block));
        let columns = match images.len() {
            1..=3 => images.len(),
            4 => 2,
            5..=9 => 3,
            _ => 4,
        } as f64;
        let tile = ((WIDTH - 4.0 - (columns - 1.0) * GAP) / columns).min(220.0);
        let (tile_height, head) = ((tile * high as f64 / wide as f64).min(440.0), TYPE + 6.0);
        let mut sheet = Sheet::default();
        let mut bottom = 0.0;
        for (n, image) in images.iter().enumerate() {
            let (column, row) = ((n % columns as usize) as f64, (n / columns as usize) as f64);
            let (x, y) = (2.0 + column * (tile + GAP), row * (tile_height + head + GAP));
            let title = text::fitted(&tidy(&image.title, 40), tile);
            sheet.text((x + tile / 2.0, y + TYPE + 1.0), &title, "middle", Tone::Ink);
            let means = means(&image.values, (self.width, height), block);
            let sizes = [("x", x), ("y", y + head), ("width", tile), ("height", tile_height)];
            let sizes: Vec<_> = sizes.into_iter().map(|(name, value)| (name, px(value))).collect();
            let mut box_of = element("svg", &sizes);
            box_of.assign("viewBox", format!("0 0 {wide} {high}"));
            box_of.assign("shape-rendering", "crispEdges");
            box_of.append(pixels(&means, wide).group(0.0));
            sheet.add(box_of);
            let outline =
                format!("M{} {}h{}v{}h{}z", px(x), px(y + head), px(tile), px(tile_height), px(-tile));
            sheet.path(outline, Tone::Grid, &[]);
            bottom = y + head + tile_height;
        }
        Picture::new(self.title, self.description, bottom + 4.0, sheet)
    }
}

/// The means of squares of so many numbers along a side.
fn means(values: &[f64], (width, height): (usize, usize), block: usize) -> Vec<f64> {
    let (wide, high) = (width.div_ceil(block), height.div_ceil(block));
    let (mut sums, mut counts) = (vec![0.0; wide * high], vec![0.0; wide * high]);
    for (at, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        let square = at / width / block * wide + at % width / block;
        sums[square] += value;
        counts[square] += 1.0;
    }
    sums.iter().zip(counts).map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
}

/// A path for each shade, neighbours in a row together.
fn pixels(values: &[f64], wide: usize) -> Sheet {
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let shade = |value: f64| if largest > 0.0 { (value / largest * SHADES as f64).round() as i32 } else { 0 };
    let mut paths = vec![String::new(); 2 * SHADES + 1];
    for (y, row) in values.chunks(wide).enumerate() {
        let shades: Vec<i32> = row.iter().map(|value| shade(*value)).collect();
        let mut x = 0;
        for run in shades.chunk_by(|a, b| a == b) {
            let _ =
                write!(paths[(run[0] + SHADES as i32) as usize], "M{x} {y}h{}v1h-{}z", run.len(), run.len());
            x += run.len();
        }
    }
    let mut sheet = Sheet::default();
    for (at, path) in paths.into_iter().enumerate().filter(|(at, path)| *at != SHADES && !path.is_empty()) {
        let tone = if at < SHADES { Tone::Series(1) } else { Tone::Series(0) };
        sheet.area(path, tone, at.abs_diff(SHADES) as f64 / SHADES as f64);
    }
    sheet
}
