//! The figure of cross-validation against λ, or against the smoothing of bayes.

use super::{Section, line};
use crate::picture::PictureName;
use crate::render::number;
use crate::summary::tuning::{figure, remarks, title};
use novikoff::evaluate::Metric;
use novikoff::plot::{Chart, Look, Panel, Scale, Series};
use novikoff::train::{Tried, Tuned};

/// The curve, one standard error above and below, and what was chosen.
pub fn section(tuned: &Tuned) -> Option<Section> {
    let chosen = tuned.chosen()?;
    let unit = if tuned.by == Metric::Error { 100.0 } else { 1.0 };
    let mut series = curve(&tuned.path, unit);
    let without = tuned.path.iter().find(|tried| tried.value == 0.0);
    let largest = tuned.path.first().map_or(1.0, |tried| tried.value);
    let smallest =
        tuned.path.iter().rev().find(|tried| tried.value > 0.0).map_or(largest, |tried| tried.value);
    if let Some((none, mean)) = without.and_then(|none| Some((none, none.mean?))) {
        let is_chosen = if none.value == chosen.value { ", chosen" } else { "" };
        series.push(Series {
            name: format!("no penalty: {}{is_chosen}", figure(tuned.by, mean)),
            points: vec![(smallest, unit * mean), (largest, unit * mean)],
            look: Look::Reference,
        });
    }
    let symbol = tuned.parameter.symbol();
    if let (true, Some(mean)) = (chosen.value > 0.0, chosen.mean) {
        series.push(Series {
            name: format!("chosen: {symbol} = {}", number(chosen.value)),
            points: vec![(chosen.value, unit * mean)],
            look: Look::Dots,
        });
    }
    let title = title(tuned.by);
    let spread = chosen.spread.map_or(String::new(), |spread| format!(" ± {}", figure(tuned.by, spread)));
    let description = format!(
        "The best {symbol} is {}, with {title} {}{spread}.",
        number(chosen.value),
        figure(tuned.by, chosen.mean?),
    );
    let y = if unit == 1.0 { title.to_owned() } else { format!("{title}, %") };
    let picture = Chart {
        title: "Cross-validation",
        description: &description,
        x: Scale::logarithmic(symbol),
        y: Scale::even(&y),
        panels: vec![Panel { title: String::new(), series }],
    }
    .draw();
    let text = format!(
        "The mean over {} folds of the {title} on held-out rows, and one standard error above and below. \
         Values whose means are within a standard error of one another are equally good. {description} {}",
        tuned.folds,
        remarks(tuned).join(" "),
    );
    let heading = format!("Cross-validation: {title} against {symbol}");
    Some(Section { name: PictureName::Tuning, heading, text, picture, table: numbers(tuned) })
}

/// The means, and the ends of their intervals.
fn curve(path: &[Tried], unit: f64) -> Vec<Series> {
    let drawn = |name: &str, look: Look, of: &dyn Fn(&Tried) -> Option<f64>| Series {
        name: name.to_owned(),
        points: path
            .iter()
            .rev()
            .filter(|tried| tried.value > 0.0)
            .filter_map(|tried| Some((tried.value, unit * of(tried)?)))
            .collect(),
        look,
    };
    let end = |sign: f64| move |tried: &Tried| Some(tried.mean? + sign * tried.spread?);
    let ends = "one standard error";
    vec![
        drawn("mean over folds", Look::Line, &|tried| tried.mean),
        drawn(ends, Look::Reference, &end(1.0)),
        drawn(ends, Look::Reference, &end(-1.0)),
    ]
}

fn numbers(tuned: &Tuned) -> Vec<Vec<String>> {
    let mut table = vec![line([tuned.parameter.symbol(), title(tuned.by), "±"])];
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| figure(tuned.by, value));
    let row = |tried: &Tried| vec![number(tried.value), shown(tried.mean), shown(tried.spread)];
    table.extend(tuned.path.iter().map(row));
    table
}
