//! Plots: numbers and names in, SVG out.
//!
//! Every picture is a description ([`Points`], [`Chart`], [`Losses`], …) with a `draw` that never fails:
//! non-finite numbers are left out, and an empty picture says so in words. Names may be any text; see
//! [`tidy`].
//!
//! A picture is 360 units wide, which is about 330 pixels on a phone: its text stays readable there. Shapes
//! have CSS classes with a colour for light and one for dark pages ([`stylesheet`]); what differs in colour
//! differs in shape or dashes, too.

mod axis;
mod bars;
mod chart;
mod confusion;
mod descent;
mod frame;
mod images;
mod losses;
mod outline;
mod points;
mod projection;
mod regions;
mod sheet;
mod style;
mod text;

pub use bars::{Bars, Group};
pub use chart::{Chart, Look, Panel, Scale, Series};
pub use confusion::Confusion;
pub use descent::Descent;
pub use images::{Image, Images};
pub use losses::{Losses, Over};
pub use points::{Dot, Points};
pub use projection::{across, sample};
pub use regions::{Levels, Regions, Scores};
pub use style::stylesheet;
pub use text::{number, tidy};

use sheet::{Sheet, element, text_element};
use style::{TYPE, Tone};
use svg::node::element::Element;
use svg::node::{Blob, Node};

/// How wide every picture is, in its own units.
const WIDTH: f64 = 360.0;

/// A drawn picture.
///
/// ```
/// use novikoff::plot::{Chart, Look, Panel, Scale, Series};
/// let points = vec![(1.0, 0.2), (2.0, 0.1)];
/// let series = vec![Series { name: "test".into(), points, look: Look::Line }];
/// let panels = vec![Panel { title: String::new(), series }];
/// let (x, y) = (Scale::even("epochs"), Scale::even("error"));
/// let picture = Chart { title: "Error", description: "It falls.", x, y, panels }.draw();
/// assert!(picture.file().starts_with("<svg") && picture.inline().contains("<desc>It falls.</desc>"));
/// ```
#[derive(Clone, Debug)]
pub struct Picture {
    title: String,
    description: String,
    height: f64,
    drawn: Sheet,
}

/// Where the title of a picture's own file stands.
const HEAD: f64 = 24.0;

impl Picture {
    fn new(title: &str, description: &str, height: f64, drawn: Sheet) -> Self {
        Self { title: tidy(title, 200), description: tidy(description, 2000), height, drawn }
    }

    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// As a part of a page that has [`stylesheet`].
    pub fn inline(&self) -> String {
        self.root(self.height, self.drawn.group(0.0)).to_string()
    }

    /// As a file of its own, with its title to be seen and its ground drawn.
    pub fn file(&self) -> String {
        let mut all = Sheet::default();
        all.add(rules());
        all.add(element(
            "rect",
            &[("class", Tone::Paper.fill()), ("width", "100%".into()), ("height", "100%".into())],
        ));
        let title = text::fitted(&self.title, WIDTH - 16.0);
        all.add(text_element((2.0, 17.0), &title, "start", Tone::Ink, &[("font-weight", "600".into())]));
        all.add(self.drawn.group(HEAD));
        let mut root = self.root(self.height + HEAD, all.group(0.0));
        root.assign("width", 2.0 * WIDTH);
        root.assign("height", 2.0 * (self.height + HEAD));
        root.to_string()
    }

    /// Names from outside stand in text alone, never in attributes: these are not safe from quotation marks.
    fn root(&self, height: f64, content: Element) -> Element {
        let mut root = element("svg", &[("class", "novikoff".into()), ("role", "img".into())]);
        root.assign("xmlns", "http://www.w3.org/2000/svg");
        root.assign("viewBox", format!("0 0 {WIDTH} {height:.0}"));
        for (name, words) in [("title", &self.title), ("desc", &self.description)] {
            let mut words_of = Element::new(name);
            words_of.append(svg::node::Text::new(words.clone()));
            root.append(words_of);
        }
        root.append(content);
        root
    }
}

/// The rules as an element.
fn rules() -> Element {
    let mut style = Element::new("style");
    style.append(Blob::new(stylesheet()));
    style
}

/// An empty picture, which says why it is empty.
fn nothing(title: &str, description: &str, why: &str) -> Picture {
    let mut drawn = Sheet::default();
    drawn.add(text_element((WIDTH / 2.0, 2.0 * TYPE), why, "middle", Tone::Quiet, &[]));
    Picture::new(title, description, 3.0 * TYPE, drawn)
}

#[cfg(test)]
mod tests;
