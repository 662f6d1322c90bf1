//! Numbers with names, as bars: the heaviest weights.

use super::sheet::Sheet;
use super::style::{TYPE, Tone};
use super::{Picture, WIDTH, nothing, text, tidy};

/// Bars under one heading.
#[derive(Clone, Debug)]
pub struct Group {
    /// The heading; may be empty.
    pub title: String,
    /// Names and numbers, in the order in which they are drawn.
    pub bars: Vec<(String, f64)>,
}

/// Bars to the right for numbers above zero, to the left for those below.
///
/// ```
/// use novikoff::plot::{Bars, Group};
/// let bars = vec![("prize".into(), 2.5), ("meeting".into(), -1.0)];
/// let groups = [Group { title: "for spam".into(), bars }];
/// let picture = Bars { title: "Heaviest weights", description: "Prizes are spam.", groups: &groups }.draw();
/// assert!(picture.file().contains(">prize<"));
/// ```
#[derive(Clone, Debug)]
pub struct Bars<'a> {
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What is to be seen, for those who do not see it.
    pub description: &'a str,
    /// The bars; all groups have one scale.
    pub groups: &'a [Group],
}

const LINE: f64 = 18.0;

impl Bars<'_> {
    /// Draws it.
    pub fn draw(&self) -> Picture {
        let bars = || self.groups.iter().flat_map(|group| &group.bars).filter(|(_, value)| value.is_finite());
        if bars().next().is_none() {
            return nothing(self.title, self.description, "There are no weights to draw.");
        }
        let names = bars().map(|(name, _)| text::width(&tidy(name, 60))).fold(0.0, f64::max).min(150.0) + 6.0;
        let written = bars().map(|(_, value)| text::width(&text::number(*value))).fold(0.0, f64::max) + 8.0;
        // Only as much of the picture on each side of zero as is needed there; numbers stand at the ends of
        // the bars.
        let most = |sign: f64| bars().map(|(_, value)| (sign * value).max(0.0)).fold(0.0, f64::max);
        let (below, above) = (most(-1.0), most(1.0));
        let room = (WIDTH
            - names
            - if below > 0.0 { written } else { 0.0 }
            - if above > 0.0 { written } else { 0.0 })
        .max(20.0);
        let largest = below.max(above).max(f64::MIN_POSITIVE);
        let unit = room / (below / largest + above / largest).max(1e-9);
        let zero = names + if below > 0.0 { written + unit * (below / largest) } else { 0.0 };
        let mut sheet = Sheet::default();
        let mut top = 0.0;
        for group in self.groups {
            if !group.title.is_empty() {
                let title = text::fitted(&tidy(&group.title, 60), WIDTH - 4.0);
                sheet.text((2.0, top + TYPE + 2.0), &title, "start", Tone::Ink);
                top += LINE;
            }
            let first = top;
            for (name, value) in group.bars.iter().filter(|(_, value)| value.is_finite()) {
                let name = text::fitted(&tidy(name, 60), names - 6.0);
                sheet.text((names - 6.0, top + 13.0), &name, "end", Tone::Quiet);
                draw_bar(&mut sheet, (zero, top), *value, unit * (value / largest));
                top += LINE;
            }
            sheet.line((zero, first), (zero, top), Tone::Quiet, &[]);
            top += 6.0;
        }
        Picture::new(self.title, self.description, top + 2.0, sheet)
    }
}

fn draw_bar(sheet: &mut Sheet, (zero, top): (f64, f64), value: f64, length: f64) {
    let tone = if value < 0.0 { Tone::Series(1) } else { Tone::Series(0) };
    sheet.area(format!("M{zero:.1} {:.1}h{length:.1}v12h{:.1}z", top + 3.0, -length), tone, 0.9);
    let (at, anchor) =
        if value < 0.0 { (zero + length - 4.0, "end") } else { (zero + length + 4.0, "start") };
    sheet.text((at, top + 13.0), &text::number(value).replace('-', "−"), anchor, Tone::Ink);
}
