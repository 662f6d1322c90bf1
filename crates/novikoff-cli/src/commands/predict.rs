//! `novikoff predict`: a label a line, in the order of the rows.

use super::{for_prediction, warn};
use crate::arguments::Predict;
use crate::progress::Watch;
use crate::settings::options;
use crate::{Ending, print};
use novikoff::control::Flow;
use novikoff::model::{self, Model, Scratch};
use novikoff::multiclass::{best, decide};
use novikoff::read::{Input, Reader, pipeline::Outcome};
use novikoff::{Error, Result};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is printed of a row.
#[derive(Clone, Copy)]
enum Form {
    Label,
    Scores,
    Top(usize),
}

/// Runs the command.
pub fn run(arguments: &Predict) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    if arguments.probabilities {
        let what = format!("a model of the learner {:?} has scores, not probabilities", model.about.learner);
        return Err(Error::usage(what).hint("use --scores"));
    }
    let form = match (arguments.scores, arguments.top) {
        (_, Some(top)) => Form::Top(top),
        (true, None) => Form::Scores,
        (false, None) => Form::Label,
    };
    let input = Input::named(&arguments.data);
    let reader = Reader::open(&input, &options(&arguments.reading)?, &for_prediction(&model))?;
    let (mut scratch, mut scores, mut text) = (Scratch::default(), Vec::new(), String::new());
    let mut listed = Vec::new();
    let mut watch = Watch::new();
    let end = reader.for_each(&mut watch, |chunk, _| {
        let rows: Vec<_> = (0..chunk.batch.rows()).map(|r| chunk.batch.row(r)).collect();
        model.scorer.score(&rows, &mut scratch, &mut scores);
        text.clear();
        for scores in scores.chunks_exact(model.scorer.outputs()) {
            if arguments.output_form.json {
                listed.push(as_json(&model, scores, form));
            } else {
                line(&model, scores, form, &mut text);
            }
        }
        print(&text)?;
        Ok(Flow::Continue)
    })?;
    watch.clear();
    if arguments.output_form.json {
        print(&format!("{}\n", json!({"command": "predict", "rows": end.report.rows, "predictions": listed})))?;
    }
    warn(&input.name(), &end.report);
    Ok(if end.outcome == Outcome::Stopped { Ending::Interrupted } else { Ending::Done })
}

fn line(model: &Model, scores: &[f64], form: Form, text: &mut String) {
    let names = model.labels.names();
    // Writing to a string cannot fail.
    match form {
        Form::Label => text.push_str(&names[decide(scores)]),
        Form::Scores => {
            text.push_str(&names[decide(scores)]);
            for score in scores {
                let _ = write!(text, "\t{score}");
            }
        }
        Form::Top(count) => {
            for (place, (class, score)) in best(scores, count).into_iter().enumerate() {
                let _ = write!(text, "{}{}\t{score}", if place > 0 { "\t" } else { "" }, names[class]);
            }
        }
    }
    text.push('\n');
}

fn as_json(model: &Model, scores: &[f64], form: Form) -> Value {
    let names = model.labels.names();
    match form {
        Form::Label => json!(names[decide(scores)]),
        Form::Scores => json!({"label": names[decide(scores)], "scores": scores}),
        Form::Top(count) => {
            let ranked = best(scores, count).into_iter();
            json!(ranked.map(|(class, score)| json!({"label": names[class], "score": score})).collect::<Vec<_>>())
        }
    }
}
