//! Which class is taken for which, as a map.

use super::sheet::{Sheet, element, px, text_element};
use super::style::{TYPE, Tone};
use super::{Picture, WIDTH, nothing, text, tidy};

/// How often rows of one class are taken for another.
///
/// ```
/// use novikoff::plot::Confusion;
/// let labels = ["cat", "dog"].map(String::from);
/// let counts = [vec![9.0, 1.0], vec![0.0, 5.0]];
/// let (title, description) = ("Confusion", "One cat barks.");
/// let picture = Confusion { title, description, labels: &labels, counts: &counts }.draw();
/// assert!(picture.file().contains(">cat<"));
/// ```
#[derive(Clone, Debug)]
pub struct Confusion<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The names of the classes.
    pub labels: &'a [String],
    /// `counts[true][predicted]`: rows, or their weights.
    pub counts: &'a [Vec<f64>],
}

/// More classes than this would be too small to be seen.
const MOST: usize = 20;
/// More than this have numbers above their columns.
const NAMED: usize = 14;

impl Confusion<'_> {
    /// The classes that are drawn: all, or those that are mistaken most, in order.
    pub fn shown(&self) -> Vec<usize> {
        let others = |i: usize| (0..self.labels.len()).filter(move |j| *j != i);
        let wrong = |i: usize| others(i).map(|j| self.count(i, j) + self.count(j, i)).sum::<f64>();
        let mut classes: Vec<usize> = (0..self.labels.len()).collect();
        if classes.len() > MOST {
            classes.sort_by(|&a, &b| wrong(b).total_cmp(&wrong(a)).then(a.cmp(&b)));
            classes.truncate(MOST);
            classes.sort_unstable();
        }
        classes
    }

    fn count(&self, i: usize, j: usize) -> f64 {
        self.counts.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0.0)
    }

    /// Draws it: a row for each true class, a column for each predicted one, the darker the larger the share
    /// of the row.
    pub fn draw(&self) -> Picture {
        let classes = self.shown();
        if classes.is_empty() || self.counts.iter().flatten().sum::<f64>() == 0.0 {
            return nothing(self.title, self.description, "There are no rows to draw.");
        }
        // Names of many classes have no room above the columns: there they are numbered.
        let numbered = classes.len() > NAMED;
        let name = |(at, &i): (usize, &usize)| match numbered {
            true => text::fitted(&format!("{} {}", tidy(&self.labels[i], 40), at + 1), 92.0),
            false => text::fitted(&tidy(&self.labels[i], 40), 84.0),
        };
        let names: Vec<String> = classes.iter().enumerate().map(name).collect();
        let heads: Vec<String> = match numbered {
            true => (1..=classes.len()).map(|number| number.to_string()).collect(),
            false => names.clone(),
        };
        let widest = |words: &[String]| words.iter().map(|word| text::width(word)).fold(0.0, f64::max);
        let left = widest(&names) + 10.0;
        let cell = ((WIDTH - left - 4.0) / classes.len() as f64).min(76.0);
        let upright = widest(&heads) + 4.0 > cell;
        let top = 20.0 + if upright { widest(&heads) + 8.0 } else { TYPE + 8.0 };
        let mut sheet = Sheet::default();
        sheet.text((2.0, 13.0), "rows: true class; columns: predicted class", "start", Tone::Ink);
        for (at, (name, head)) in names.iter().zip(&heads).enumerate() {
            let middle = (at as f64 + 0.5) * cell;
            sheet.text((left - 5.0, top + middle + 4.0), name, "end", Tone::Quiet);
            let (x, y) = (left + middle, top - 6.0);
            if upright {
                let turn = ("transform", format!("rotate(-90 {} {})", px(x), px(y)));
                sheet.add(text_element((x, y + 4.0), head, "start", Tone::Quiet, &[turn]));
            } else {
                sheet.text((x, y), head, "middle", Tone::Quiet);
            }
        }
        for (row, &i) in classes.iter().enumerate() {
            for (column, &j) in classes.iter().enumerate() {
                self.draw_cell(
                    &mut sheet,
                    (i, j),
                    (left + column as f64 * cell, top + row as f64 * cell),
                    cell,
                );
            }
        }
        Picture::new(self.title, self.description, top + cell * classes.len() as f64 + 6.0, sheet)
    }

    fn draw_cell(&self, sheet: &mut Sheet, (i, j): (usize, usize), (x, y): (f64, f64), size: f64) {
        let (count, all) = (self.count(i, j), self.counts.get(i).map_or(0.0, |row| row.iter().sum::<f64>()));
        let share = if all > 0.0 { count / all } else { 0.0 };
        // Mistakes are few: by the root of their share they are seen. Never so dark that words drown.
        let root = if share > 0.0 { 0.1 + 0.5 * share.sqrt() } else { 0.0 };
        let (tone, opacity) = if i == j { (Tone::Series(0), 0.5 * share) } else { (Tone::Series(1), root) };
        let sizes = [("x", x + 0.5), ("y", y + 0.5), ("width", size - 1.0), ("height", size - 1.0)];
        let mut attributes: Vec<_> = sizes.into_iter().map(|(name, value)| (name, px(value))).collect();
        attributes.push(("class", tone.fill()));
        attributes.push(("fill-opacity", format!("{opacity:.2}")));
        sheet.add(element("rect", &attributes));
        let written = if count.fract() == 0.0 { text::count(count as u64) } else { format!("{count:.1}") };
        if count > 0.0 && text::width(&written) < size - 1.0 && size > TYPE + 3.0 {
            sheet.text((x + size / 2.0, y + size / 2.0 + 4.0), &written, "middle", Tone::Ink);
        }
    }
}
