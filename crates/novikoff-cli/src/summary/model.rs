//! What a model and its rows are, in words.

use crate::render::{Lines, counted, number};
use crate::text::name;
use novikoff::features::map::Map;
use novikoff::model::{Model, Weights};
use serde_json::Value;

/// Which column is the label, if it was found by its name alone: that is said first.
pub fn add_guessed_label(lines: &mut Lines, column: Option<&str>) {
    if let Some(column) = column {
        lines.add("label", format!("column {column:?}, by its name; --label COLUMN names another"));
    }
}

/// Labels that are listed at most.
const LISTED: usize = 30;

/// How the labels are numbered: `-1 (−), 1 (+)`, or the list of them.
pub fn labels(model: &Model) -> String {
    let names = model.labels.names();
    let shown: Vec<String> = names.iter().take(LISTED).map(|label| name(label)).collect();
    match &shown[..] {
        [] => "none: it predicts a number".to_owned(),
        [negative, positive] if model.scorer.outputs() == 1 => format!("{negative} (−), {positive} (+)"),
        shown if names.len() > LISTED => format!("{}, … ({})", shown.join(", "), names.len()),
        shown => shown.join(", "),
    }
}

/// A weight among the heaviest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heavy {
    /// The number of its feature.
    pub feature: u32,
    /// The weight itself.
    pub weight: f64,
    /// The size of the weight times the spread of its feature, where that is known.
    pub effect: Option<f64>,
}

impl Heavy {
    /// What weights are compared by.
    pub fn size(&self) -> f64 {
        self.effect.unwrap_or(self.weight.abs())
    }
}

/// The heaviest weights of an output: by their effect, or where that is not known by size; and by number
/// where these are equal.
pub fn heaviest(weights: &Weights, output: usize, count: usize) -> Vec<Heavy> {
    let heavy = |j: usize| Heavy {
        feature: j as u32,
        weight: weights.weight(j, output),
        effect: weights.effect(j, output),
    };
    let mut all: Vec<Heavy> =
        (0..weights.features()).map(heavy).filter(|heavy| heavy.weight != 0.0).collect();
    let by_size = |a: &Heavy, b: &Heavy| b.size().total_cmp(&a.size()).then(a.feature.cmp(&b.feature));
    if all.len() > count && count > 0 {
        all.select_nth_unstable_by(count - 1, by_size);
    }
    all.truncate(count);
    all.sort_by(by_size);
    all
}

/// The label whose evidence an output is; none if it is a number.
pub fn output_label(model: &Model, output: usize) -> Option<&str> {
    let names = model.labels.names();
    let label = if model.scorer.outputs() == 1 { names.get(1) } else { names.get(output) };
    label.map(String::as_str)
}

/// The settings that a model was trained with.
pub fn settings_text(model: &Model) -> String {
    let loss = model.loss();
    let show = |(name, value): (&String, &Value)| match (name.as_str(), loss, value) {
        ("loss", Some(loss), _) => format!("loss {}", loss.describe()),
        (_, _, Value::String(text)) => format!("{name} {text}"),
        _ => format!("{name} {value}"),
    };
    let all: Vec<String> = model.about.settings.iter().map(show).collect();
    all.join(", ")
}

/// What a map makes of rows, in words.
pub fn map_text(map: Map, features: usize) -> String {
    let what = match map {
        Map::Poly { degree } => format!("all products of up to {degree} features"),
        Map::Fourier { gamma, .. } => {
            format!("random cosines and sines, for the kernel exp(−{}‖x − z‖²)", number(gamma))
        }
    };
    format!("{map}: {}, {what}", counted(features as u64, "feature"))
}
