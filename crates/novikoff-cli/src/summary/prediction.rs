//! What is said of a row: fields between tabs, or a JSON object.

use novikoff::data::Row;
use novikoff::model::{Calibration, Model, Task, explain};
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

/// Text as one field: a tab, a line feed, a carriage return and a backslash are written `\t`, `\n`, `\r` and
/// `\\`.
pub fn field(text: &str) -> Cow<'_, str> {
    if !text.contains(['\t', '\n', '\r', '\\']) {
        return Cow::Borrowed(text);
    }
    let escaped = text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
    Cow::Owned(escaped)
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
        Form::Explained(count) => {
            for part in explain(model, row, scores).parts.iter().take(count) {
                let _ = write!(text, "\t{} {:+.4}", field(&model.feature_name(part.feature)), part.added);
            }
        }
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

    /// What a field stands for.
    fn unescaped(field: &str) -> String {
        let mut text = String::new();
        let mut characters = field.chars();
        while let Some(c) = characters.next() {
            text.push(match c {
                '\\' => match characters.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some(other) => other,
                    None => panic!("{field:?} ends in the middle"),
                },
                c => c,
            });
        }
        text
    }

    proptest! {
        #[test]
        fn a_label_is_one_field_of_one_line_and_can_be_read_again(label in "[\\\\?tnr\t\n\ra-c]{0,6}") {
            let field = label_field(&label);
            prop_assert!(!field.contains(['\t', '\n', '\r']), "{:?}", field);
            prop_assert_ne!(&field, NO_PREDICTION);
            prop_assert_eq!(unescaped(&field), label);
        }
    }
}
