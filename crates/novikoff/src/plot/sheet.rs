//! What is drawn so far, and the few shapes that all pictures are made of.

use super::style::{Tone, dashes};
use svg::node::Node;
use svg::node::element::Element;

/// Elements in the order in which they are drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    elements: Vec<Element>,
}

/// More rings or crosses than this are drawn smaller.
const MANY: usize = 80;

/// A place, in the units of the picture.
pub(super) type Place = (f64, f64);

impl Sheet {
    pub(super) fn add(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// Everything, moved down.
    pub(super) fn group(&self, down: f64) -> Element {
        let mut group = Element::new("g");
        if down != 0.0 {
            group.assign("transform", format!("translate(0 {down})"));
        }
        self.elements.iter().for_each(|element| group.append(element.clone()));
        group
    }

    /// Everything, and nothing of it outside a box. (A nested picture clips without needing a name of its own
    /// on the page.)
    pub(super) fn clipped(&self, (left, top): Place, (width, height): (f64, f64)) -> Element {
        let sizes = [("x", left), ("y", top), ("width", width), ("height", height)];
        let sizes: Vec<_> = sizes.into_iter().map(|(name, value)| (name, px(value))).collect();
        let mut inner = element("svg", &sizes);
        inner.assign("viewBox", format!("{} {} {} {}", px(left), px(top), px(width), px(height)));
        self.elements.iter().for_each(|element| inner.append(element.clone()));
        inner
    }

    pub(super) fn line(&mut self, from: Place, to: Place, tone: Tone, attributes: &[(&str, String)]) {
        let path = format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1));
        self.path(path, tone, attributes);
    }

    /// A line through places, in the n-th tone and dashes.
    pub(super) fn curve(&mut self, places: &[Place], n: usize, width: f64) {
        let path = through(places);
        self.path(
            path,
            Tone::Series(n),
            &[("stroke-width", px(width)), ("stroke-dasharray", dashes(n).into())],
        );
    }

    pub(super) fn path(&mut self, path: String, tone: Tone, attributes: &[(&str, String)]) {
        let mut line = element("path", &[("class", format!("line {}", tone.stroke())), ("d", path)]);
        attributes.iter().for_each(|(name, value)| line.assign(*name, value.clone()));
        self.add(line);
    }

    pub(super) fn area(&mut self, path: String, tone: Tone, opacity: f64) {
        let opacity = format!("{opacity:.2}");
        self.add(element("path", &[("class", tone.fill()), ("d", path), ("fill-opacity", opacity)]));
    }

    pub(super) fn text(&mut self, at: Place, words: &str, anchor: &str, tone: Tone) {
        self.add(text_element(at, words, anchor, tone, &[]));
    }

    /// Marks at places, of the n-th shape and tone.
    pub(super) fn marks(&mut self, places: &[Place], n: usize, opacity: f64) {
        let opacity = ("stroke-opacity", format!("{opacity:.2}"));
        // Dots and squares are lines of no length with round or square ends: the shortest way to write
        // thousands of them.
        let dots = || places.iter().map(|(x, y)| format!("M{} {}h0", px(*x), px(*y))).collect::<String>();
        let shapes = |shape: &str| {
            places.iter().map(|(x, y)| format!("M{} {}{shape}", px(*x), px(*y))).collect::<String>()
        };
        let (path, class, width) = match n % 6 {
            0 => (dots(), "round", 5.0),
            1 => (dots(), "square", 4.0),
            2 => (shapes("m0-3l3 5.5h-6z"), "", 1.4),
            3 => (shapes("m0-3.5l3.5 3.5l-3.5 3.5l-3.5-3.5z"), "", 1.4),
            4 => (shapes("m-2.8-2.8l5.6 5.6m0-5.6l-5.6 5.6"), "", 1.6),
            _ => (shapes("m-3.2 0h6.4m-3.2-3.2v6.4"), "", 1.6),
        };
        if !path.is_empty() {
            let class = format!("line {class} {}", Tone::Series(n).stroke());
            self.add(element("path", &[("class", class), ("d", path), ("stroke-width", px(width)), opacity]));
        }
    }

    /// Rings around places.
    pub(super) fn rings(&mut self, places: &[Place]) {
        let shape = match places.len() > MANY {
            true => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
            false => "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0",
        };
        let ring = |(x, y): &Place| format!("M{} {}{shape}", px(*x), px(*y));
        let path: String = places.iter().map(ring).collect();
        if !path.is_empty() {
            self.path(path, Tone::Ink, &[("stroke-width", "1".into())]);
        }
    }

    /// Crosses over places.
    pub(super) fn crosses(&mut self, places: &[Place]) {
        // Many of them would hide what they mark.
        let shape = if places.len() > MANY { "m-2.5-2.5l5 5m0-5l-5 5" } else { "m-4-4l8 8m0-8l-8 8" };
        let path: String = places.iter().map(|(x, y)| format!("M{} {}{shape}", px(*x), px(*y))).collect();
        if !path.is_empty() {
            self.path(path.clone(), Tone::Paper, &[("stroke-width", "3.4".into())]);
            self.path(path, Tone::Ink, &[("stroke-width", "1.5".into())]);
        }
    }
}

/// An element with its attributes. They are written by us alone: see [`super::Picture`].
pub(super) fn element(name: &str, attributes: &[(&str, String)]) -> Element {
    let mut element = Element::new(name);
    attributes.iter().for_each(|(name, value)| element.assign(*name, value.clone()));
    element
}

pub(super) fn text_element(
    at: Place,
    words: &str,
    anchor: &str,
    tone: Tone,
    attributes: &[(&str, String)],
) -> Element {
    let mut text = element("text", &[("class", tone.fill()), ("x", px(at.0)), ("y", px(at.1))]);
    if anchor != "start" {
        text.assign("text-anchor", anchor);
    }
    attributes.iter().for_each(|(name, value)| text.assign(*name, value.clone()));
    text.append(svg::node::Text::new(words));
    text
}

/// A path through places.
pub(super) fn through(places: &[Place]) -> String {
    let letters = std::iter::once('M').chain(std::iter::repeat('L'));
    places.iter().zip(letters).map(|((x, y), letter)| format!("{letter}{} {}", px(*x), px(*y))).collect()
}

/// A coordinate, to a tenth of a unit.
pub(super) fn px(x: f64) -> String {
    let rounded = (10.0 * x.clamp(-1e4, 1e4)).round() / 10.0;
    // Plus zero: there is no −0 in a picture.
    if rounded.is_finite() { (rounded + 0.0).to_string() } else { "0".to_owned() }
}
