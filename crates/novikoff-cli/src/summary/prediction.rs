//! What is said of a row: fields between tabs, or a JSON object.

use crate::render::counted;
use crate::text::field;
use novikoff::data::Row;
use novikoff::model::{Calibration, Explanation, Model, Task, explain};
use novikoff::multiclass::{best, decide};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What stands in place of a prediction for a bad row.
pub const NO_PREDICTION: &str = "?";

/// What is said of a row.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// What is predicted: a label, or a number.
    Plain,
    Scores,
    Chances(Chances<'a>),
    /// The best labels, with their scores or what is made of those.
    Top(usize, Option<Chances<'a>>),
    /// The features that decided most.
    Explained(usize),
}

/// Probabilities, or their logarithms.
#[derive(Clone, Copy)]
pub enum Chances<'a> {
    Plain(&'a Calibration),
    Logarithms(&'a Calibration),
}

impl Chances<'_> {
    /// Of all labels of a row with these scores.
    fn of(self, scores: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        match self {
            Chances::Plain(calibration) => calibration.probabilities(scores, &mut all),
            Chances::Logarithms(calibration) => calibration.log_probabilities(scores, &mut all),
        }
        all
    }
}

/// The best labels of a row with these scores, each with its score or, if that is asked for, its probability.
/// Which are the best is for the scores to say, as without probabilities.
fn ranked(scores: &[f64], count: usize, chances: Option<Chances<'_>>) -> Vec<(usize, f64)> {
    let mut ranked = best(scores, count);
    if let Some(chances) = chances {
        let all = chances.of(scores);
        ranked.iter_mut().for_each(|(class, value)| *value = all[*class]);
    }
    ranked
}

/// A label as one field that is no other's, nor that of a bad row.
fn label_field(label: &str) -> Cow<'_, str> {
    if label == NO_PREDICTION { Cow::Borrowed("\\?") } else { field(label) }
}

/// Adds what is said of a row, without the end of the line.
pub fn push_fields(model: &Model, row: Row<'_>, scores: &[f64], form: Form<'_>, text: &mut String) {
    let names = model.labels.names();
    if let Form::Top(count, chances) = form {
        for (place, (class, value)) in ranked(scores, count, chances).into_iter().enumerate() {
            let tab = if place > 0 { "\t" } else { "" };
            let _ = write!(text, "{tab}{}\t{value}", label_field(&names[class]));
        }
        return;
    }
    // Writing to a string cannot fail.
    match model.task() {
        // Never −0.
        Task::Regression => drop(write!(text, "{}", scores[0] + 0.0)),
        Task::Classes => text.push_str(&label_field(&names[decide(scores)])),
    }
    match form {
        Form::Plain | Form::Top(..) => {}
        Form::Scores => push_numbers(scores, text),
        Form::Chances(chances) => push_numbers(&chances.of(scores), text),
        Form::Explained(count) => push_explained(model, &explain(model, row, scores), count, text),
    }
}

/// The parts that decided most, what all others come to, the bias, and the sum of all of it.
fn push_explained(model: &Model, explained: &Explanation, count: usize, text: &mut String) {
    let (shown, others) = explained.parts.split_at(count.min(explained.parts.len()));
    let rest: f64 = others.iter().map(|part| part.added).sum();
    let largest = shown.iter().map(|part| part.added).chain([rest, explained.bias, explained.difference]);
    let number = Signed::for_numbers_up_to(largest.fold(0.0, |most: f64, added| most.max(added.abs())));
    let mut add = |name: &str, added: f64| text.push_str(&format!("\t{name} {}", number.shown(added)));
    for part in shown {
        add(&field(&model.feature_name(part.feature)), part.added);
    }
    if !others.is_empty() {
        add(&format!("({})", counted(others.len() as u64, "other")), rest);
    }
    add("(bias)", explained.bias);
    add("(sum)", explained.difference);
}

/// How numbers that are added up are shown: with their sign, and all to the same digit.
enum Signed {
    Decimals(usize),
    Scientific,
}

impl Signed {
    /// Four decimals, and more where the largest would have fewer than five digits that count.
    fn for_numbers_up_to(largest: f64) -> Self {
        match largest {
            _ if largest == 0.0 || (0.1..1e15).contains(&largest) => Signed::Decimals(4),
            _ if (1e-12..0.1).contains(&largest) => {
                Signed::Decimals((4.0 - largest.log10().floor()) as usize)
            }
            _ => Signed::Scientific,
        }
    }

    fn shown(&self, number: f64) -> String {
        let text = match self {
            Signed::Decimals(decimals) => format!("{number:+.decimals$}"),
            Signed::Scientific => format!("{number:+.4e}"),
        };
        // Never −0.
        if text.contains(|digit: char| ('1'..='9').contains(&digit)) { text } else { text.replace('-', "+") }
    }
}

fn push_numbers(numbers: &[f64], text: &mut String) {
    for number in numbers {
        // Never −0.
        let _ = write!(text, "\t{}", number + 0.0);
    }
}

/// What is said of a row, as the entries of an object. Every form has the `label`, which is a number where
/// the model predicts one.
pub fn entries(model: &Model, row: Row<'_>, scores: &[f64], form: Form<'_>) -> Map<String, Value> {
    let names = model.labels.names();
    let label = match model.task() {
        Task::Regression => json!(scores[0] + 0.0),
        Task::Classes => json!(names[decide(scores)]),
    };
    let mut entries = Map::from_iter([("label".to_owned(), label)]);
    let mut add = |key: &str, value: Value| drop(entries.insert(key.to_owned(), value));
    match form {
        Form::Plain => {}
        Form::Scores => add("scores", json!(scores)),
        Form::Chances(chances) => {
            let plain = matches!(chances, Chances::Plain(_));
            add(if plain { "probabilities" } else { "log_probabilities" }, json!(chances.of(scores)));
        }
        Form::Top(count, chances) => {
            let key = match chances {
                None => "score",
                Some(Chances::Plain(_)) => "probability",
                Some(Chances::Logarithms(_)) => "log_probability",
            };
            let ranked = ranked(scores, count, chances).into_iter();
            add("top", ranked.map(|(class, value)| json!({"label": names[class], key: value})).collect());
        }
        Form::Explained(count) => {
            let explained = explain(model, row, scores);
            let because = explained.parts.iter().take(count).map(|part| {
                let feature = model.feature_name(part.feature);
                json!({"feature": feature, "value": part.value, "added": part.added})
            });
            add("against", json!(explained.against.map(|class| &names[class])));
            add("difference", json!(explained.difference));
            add("bias", json!(explained.bias));
            add("because", because.collect());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_label_is_one_field_of_one_line_and_no_bad_row(label in "[\\\\?tnr\t\n\ra-c]{0,6}") {
            let written = label_field(&label);
            prop_assert!(!written.contains(['\t', '\n', '\r']), "{:?}", written);
            prop_assert_ne!(&written, NO_PREDICTION);
            prop_assert_eq!(written == "\\?", label == "?");
        }

        #[test]
        fn numbers_that_are_added_up_keep_five_digits(largest in -1e3..1e3f64, power in -20i32..20) {
            let largest = largest * 10f64.powi(power);
            let shown = Signed::for_numbers_up_to(largest.abs()).shown(largest);
            let read: f64 = shown.parse().unwrap();
            let decimals = if largest.abs() >= 0.1 { 5e-5 } else { 0.0 };
            prop_assert!((read - largest).abs() <= 5e-5 * largest.abs() + decimals);
            prop_assert!(shown.starts_with(['+', '-']) && shown.len() < 24, "{}", shown);
        }
    }
}
