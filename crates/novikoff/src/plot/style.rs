//! Colours and type, for light and for dark pages: classes, never colours, stand in the pictures.

use std::fmt::Write as _;

/// What something is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Text and axes.
    Ink,
    /// What stands back: ticks, references.
    Quiet,
    /// Lines of a grid.
    Grid,
    /// The ground.
    Paper,
    /// The n-th of several things that are told apart; they repeat after [`SERIES`].
    Series(usize),
    /// The ground beneath the n-th of them.
    Tint(usize),
}

/// Tones that can be told apart, by people with any colour vision: after Okabe and Ito, darker on light
/// ground and lighter on dark, so that each has a contrast of at least 4.5 to its ground.
pub(super) const SERIES: usize = 6;

/// The class, its colour on light ground and its colour on dark ground.
const COLOURS: [(&str, &str, &str); 4 + 2 * SERIES] = [
    ("i", "#1a1c20", "#e8eaed"),
    ("q", "#5a6068", "#a5abb3"),
    ("g", "#dfe2e6", "#363b42"),
    ("p", "#ffffff", "#15181c"),
    ("0", "#0067b1", "#62b6f2"),
    ("1", "#c04a00", "#ff9a52"),
    ("2", "#00785a", "#2fcf9f"),
    ("3", "#9b3f8f", "#e29ad8"),
    ("4", "#7a5c00", "#e8c547"),
    ("5", "#4b5563", "#c3cad4"),
    // Tints: about a quarter of a tone on the ground.
    ("t0", "#c2dbec", "#273e4f"),
    ("t1", "#f0d4c2", "#4d3729"),
    ("t2", "#c2dfd7", "#1b443b"),
    ("t3", "#e7d1e4", "#463749"),
    ("t4", "#dfd8c2", "#484226"),
    ("t5", "#d4d6da", "#3f4348"),
];

impl Tone {
    fn index(self) -> usize {
        match self {
            Tone::Ink => 0,
            Tone::Quiet => 1,
            Tone::Grid => 2,
            Tone::Paper => 3,
            Tone::Series(n) => 4 + n % SERIES,
            Tone::Tint(n) => 4 + SERIES + n % SERIES,
        }
    }

    /// The class that fills with it.
    pub(super) fn fill(self) -> String {
        format!("f{}", COLOURS[self.index()].0)
    }

    /// The class that draws lines with it.
    pub(super) fn stroke(self) -> String {
        format!("s{}", COLOURS[self.index()].0)
    }
}

/// Dashes of the n-th line: colour alone tells nobody enough.
pub(super) fn dashes(n: usize) -> &'static str {
    ["none", "7 3", "2 3", "8 3 2 3", "4 2", "1 2"][n % SERIES]
}

/// Size of the type, in the units of a picture. A picture is [`super::WIDTH`] wide; on a phone that is some
/// 330 pixels.
pub(super) const TYPE: f64 = 12.0;

/// The rules that every picture needs. [`super::Picture::file`] brings them along; a page of several pictures
/// has them once.
pub fn stylesheet() -> String {
    let mut text = format!(
        ".novikoff{{font:{TYPE}px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}}\
         .novikoff text{{unicode-bidi:isolate}}.novikoff .line{{fill:none;stroke-linejoin:round}}\
         .novikoff .round{{stroke-linecap:round}}.novikoff .square{{stroke-linecap:square}}"
    );
    let rules = |text: &mut String,
                 colour: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        for entry in &COLOURS {
            let (class, colour) = (entry.0, colour(entry));
            let _ =
                write!(text, ".novikoff .f{class}{{fill:{colour}}}.novikoff .s{class}{{stroke:{colour}}}");
        }
    };
    rules(&mut text, |entry| entry.1);
    text.push_str("@media (prefers-color-scheme:dark){");
    rules(&mut text, |entry| entry.2);
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG has it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_but_the_grid_stands_out_on_light_and_on_dark_ground() {
        let (light, dark) = (COLOURS[3].1, COLOURS[3].2);
        let is_ground = |class: &str| ["g", "p"].contains(&class) || class.starts_with('t');
        for (class, on_light, on_dark) in COLOURS.iter().filter(|colour| !is_ground(colour.0)) {
            assert!(contrast(on_light, light) >= 4.5, "{class} {}", contrast(on_light, light));
            assert!(contrast(on_dark, dark) >= 4.5, "{class} {}", contrast(on_dark, dark));
        }
    }

    /// WCAG asks for 3 of shapes and 4.5 of words.
    #[test]
    fn marks_of_every_tone_and_words_stand_out_on_every_tint() {
        let of = |tone: Tone| COLOURS[tone.index()];
        for tint in (0..SERIES).map(|n| of(Tone::Tint(n))) {
            for mark in (0..SERIES).map(|n| of(Tone::Series(n))) {
                assert!(
                    contrast(mark.1, tint.1) >= 3.0 && contrast(mark.2, tint.2) >= 3.0,
                    "{} {}",
                    mark.0,
                    tint.0
                );
            }
            let ink = of(Tone::Ink);
            assert!(contrast(ink.1, tint.1) >= 4.5 && contrast(ink.2, tint.2) >= 4.5, "{}", tint.0);
        }
    }
}
