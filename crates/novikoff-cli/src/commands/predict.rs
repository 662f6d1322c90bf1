//! `novikoff predict`: a label (or a number) a line, in the order of the rows.

use super::warn;
use crate::arguments::Predict;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::settings::options;
use novikoff::control::Flow;
use novikoff::data::Row;
use novikoff::model::{self, Calibration, Model, Part, Scratch, Task, explain};
use novikoff::multiclass::{best, decide};
use novikoff::read::{Input, Reader};
use novikoff::{Error, Result};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is printed of a row.
#[derive(Clone, Copy)]
enum Form<'a> {
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
enum Chances<'a> {
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

/// What is asked for, if the model can give it.
fn form<'a>(arguments: &Predict, model: &'a Model) -> Result<Form<'a>> {
    if model.task() == Task::Regression {
        let refuse = |option: &str, what: &str| {
            let error = Error::usage(format!("{option} asks for {what}, and this model predicts a number"));
            Err(error.hint(format!("leave out {option}")))
        };
        if arguments.probabilities {
            return refuse("--probabilities", "the probabilities of labels");
        }
        if arguments.log_probabilities {
            return refuse("--log-probabilities", "the probabilities of labels");
        }
        if arguments.top.is_some() {
            return refuse("--top", "the best of several labels");
        }
        // The score is the number itself.
        return Ok(arguments.explain.map_or(Form::Plain, Form::Explained));
    }
    if let Some(count) = arguments.explain {
        return Ok(Form::Explained(count));
    }
    let chances = match (arguments.probabilities, arguments.log_probabilities) {
        (true, _) => Some(Chances::Plain(calibration(model)?)),
        (_, true) => Some(Chances::Logarithms(calibration(model)?)),
        _ => None,
    };
    Ok(match (arguments.top, chances) {
        (Some(top), chances) => Form::Top(top, chances),
        (None, Some(chances)) => Form::Chances(chances),
        (None, None) if arguments.scores => Form::Scores,
        (None, None) => Form::Plain,
    })
}

fn calibration(model: &Model) -> Result<&Calibration> {
    model.probabilities.as_ref().ok_or_else(|| {
        let what =
            format!("this model of the learner {:?} has scores, not probabilities", model.about.learner);
        Error::usage(what)
            .hint("train it with --calibrate platt, or with --learner logistic; or ask for --scores")
    })
}

/// Runs the command.
pub fn run(arguments: &Predict) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    let form = form(arguments, &model)?;
    if let (Form::Explained(_), None) = (form, model.scorer.weights()) {
        let error = Error::usage(
            "the scores of this model are no sum over features: there is nothing to explain them by",
        );
        return Err(error.hint("leave out --explain, or train --learner averaged without a kernel"));
    }
    let input = Input::named(&arguments.data);
    let reader = Reader::open(&input, &options(&arguments.reading)?, &model.for_prediction())?;
    let (mut scratch, mut scores, mut text) = (Scratch::default(), Vec::new(), String::new());
    let mut listed = Vec::new();
    let mut watch = Watch::new();
    let end = reader.for_each(&mut watch, |chunk, _| {
        let rows: Vec<_> = (0..chunk.rows.len()).map(|r| chunk.rows.row(r)).collect();
        model.scorer.score(&rows, &mut scratch, &mut scores);
        text.clear();
        for (row, scores) in rows.iter().zip(scores.chunks_exact(model.scorer.outputs())) {
            if arguments.output_form.json {
                listed.push(as_json(&model, *row, scores, form));
            } else {
                line(&model, *row, scores, form, &mut text);
            }
        }
        print(&text)?;
        Ok(Flow::Continue)
    })?;
    watch.clear();
    if arguments.output_form.json {
        print(&format!(
            "{}\n",
            json!({"command": "predict", "rows": end.report.rows, "predictions": listed})
        ))?;
    }
    warn(&input.name(), &end.report);
    Ok(if end.flow == Flow::Stop { Ending::Interrupted } else { Ending::Done })
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

fn line(model: &Model, row: Row<'_>, scores: &[f64], form: Form<'_>, text: &mut String) {
    let names = model.labels.names();
    // Writing to a string cannot fail.
    match form {
        Form::Plain if model.task() == Task::Regression => {
            let _ = write!(text, "{}", scores[0] + 0.0);
        }
        Form::Plain => text.push_str(&names[decide(scores)]),
        Form::Scores => {
            text.push_str(&names[decide(scores)]);
            columns(scores, text);
        }
        Form::Chances(chances) => {
            text.push_str(&names[decide(scores)]);
            columns(&chances.of(scores), text);
        }
        Form::Top(count, chances) => {
            for (place, (class, value)) in ranked(scores, count, chances).into_iter().enumerate() {
                let _ = write!(text, "{}{}\t{value}", if place > 0 { "\t" } else { "" }, names[class]);
            }
        }
        Form::Explained(count) => {
            let explained = explain(model, row, scores);
            match model.task() {
                Task::Regression => drop(write!(text, "{}", scores[0] + 0.0)),
                Task::Classes => text.push_str(&names[decide(scores)]),
            }
            for part in explained.parts.iter().take(count) {
                let _ = write!(text, "\t{} {:+.4}", model.feature_name(part.feature), part.added);
            }
        }
    }
    text.push('\n');
}

fn columns(numbers: &[f64], text: &mut String) {
    for number in numbers {
        let _ = write!(text, "\t{number}");
    }
}

fn as_json(model: &Model, row: Row<'_>, scores: &[f64], form: Form<'_>) -> Value {
    let names = model.labels.names();
    match form {
        Form::Plain if model.task() == Task::Regression => json!(scores[0] + 0.0),
        Form::Plain => json!(names[decide(scores)]),
        Form::Scores => json!({"label": names[decide(scores)], "scores": scores}),
        Form::Chances(chances) => {
            let key =
                if matches!(chances, Chances::Plain(_)) { "probabilities" } else { "log_probabilities" };
            json!({"label": names[decide(scores)], key: chances.of(scores)})
        }
        Form::Top(count, chances) => {
            let key = match chances {
                None => "score",
                Some(Chances::Plain(_)) => "probability",
                Some(Chances::Logarithms(_)) => "log_probability",
            };
            let ranked = ranked(scores, count, chances).into_iter();
            json!(ranked.map(|(class, value)| json!({"label": names[class], key: value})).collect::<Vec<_>>())
        }
        Form::Explained(count) => {
            let explained = explain(model, row, scores);
            let fields = |part: &Part| {
                let name = model.feature_name(part.feature);
                json!({"feature": name, "value": part.value, "added": part.added})
            };
            let parts: Vec<Value> = explained.parts.iter().take(count).map(fields).collect();
            let label = (model.task() == Task::Classes).then(|| &names[decide(scores)]);
            json!({"label": label, "against": explained.against.map(|class| &names[class]),
                "difference": explained.difference, "bias": explained.bias, "because": parts})
        }
    }
}
