//! `novikoff predict`: a label (or a number) a line, in the order of the rows.

use super::{load_model, warn};
use crate::arguments::Predict;
use crate::interrupt;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::settings::{Use, options_for};
use crate::summary::prediction::{Chances, Form, NO_PREDICTION, entries, push_fields};
use crate::text::field;
use novikoff::control::Flow;
use novikoff::data::Row;
use novikoff::model::{Calibration, Model, Scratch, Task};
use novikoff::read::{Input, Options, ParsedRows, Reader};
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};

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
    let model = load_model(&arguments.model, &arguments.data, "predict")?;
    let form = form(arguments, &model)?;
    if let (Form::Explained(_), None) = (form, model.scorer.weights()) {
        let error = Error::usage(
            "the scores of this model are no sum over features: there is nothing to explain them by",
        );
        return Err(error.hint("leave out --explain, or train --learner averaged without a kernel"));
    }
    let input = Input::all_named(&arguments.data);
    let options = options_for(&arguments.reading, &model, Use::Prediction)?;
    let options = Options { with: arguments.with.clone(), ..options };
    let reader = Reader::open(&input, &options, &model.for_prediction())?;
    let columns = reader.kept_columns().to_vec();
    let mut lines =
        Predictions { model: &model, form, json: arguments.json, columns, row: 0, text: String::new() };
    let (mut scratch, mut scores) = (Scratch::default(), Vec::new());
    // The lines that are printed are whole.
    interrupt::nothing_to_keep("interrupted");
    let mut watch = Watch::new();
    let end = reader.for_each(&mut watch, |chunk, _| {
        let rows: Vec<_> = (0..chunk.rows.len()).map(|r| chunk.rows.row(r)).collect();
        model.scorer.score(&rows, &mut scratch, &mut scores);
        if let Some(at) = scores.iter().position(|score| score.is_nan()) {
            return Err(no_number(lines.row + (at / model.scorer.outputs()) as u64 + 1));
        }
        print(lines.of(chunk.rows, &scores))?;
        Ok(Flow::Continue)
    })?;
    watch.clear();
    warn(&input.name(), &end.report);
    Ok(if end.flow == Flow::Stop { Ending::Interrupted } else { Ending::Done })
}

fn no_number(row: u64) -> Error {
    let what = format!(
        "the score of row {row} is no number: its values are not finite, or too large for the weights"
    );
    Error::input(what).hint("are its values in the units of the rows that were learned from?")
}

/// Makes a line of every row.
struct Predictions<'a> {
    model: &'a Model,
    form: Form<'a>,
    json: bool,
    /// The names of the columns beside the predictions.
    columns: Vec<String>,
    /// Rows so far, good and bad.
    row: u64,
    text: String,
}

impl Predictions<'_> {
    /// The lines of these rows, which have these scores, in the order of the input.
    fn of(&mut self, rows: &ParsedRows, scores: &[f64]) -> &str {
        self.text.clear();
        for (at, row) in rows.in_order().enumerate() {
            self.row += 1;
            let beside = &rows.beside[at * self.columns.len()..][..self.columns.len()];
            let outputs = self.model.scorer.outputs();
            let scored = row.map(|r| (rows.row(r), &scores[r * outputs..][..outputs]));
            if self.json {
                self.push_object(beside, scored);
            } else {
                self.push_line(beside, scored);
            }
            self.text.push('\n');
        }
        &self.text
    }

    fn push_line(&mut self, beside: &[Option<String>], scored: Option<(Row<'_>, &[f64])>) {
        for cell in beside {
            self.text.push_str(&cell.as_deref().map_or(NO_PREDICTION.into(), field));
            self.text.push('\t');
        }
        match scored {
            Some((row, scores)) => push_fields(self.model, row, scores, self.form, &mut self.text),
            None => self.text.push_str(NO_PREDICTION),
        }
    }

    fn push_object(&mut self, beside: &[Option<String>], scored: Option<(Row<'_>, &[f64])>) {
        let mut object = Map::from_iter([("row".to_owned(), json!(self.row))]);
        if !self.columns.is_empty() {
            let cells: Map<String, Value> =
                self.columns.iter().cloned().zip(beside.iter().map(|cell| json!(cell))).collect();
            object.insert("with".to_owned(), cells.into());
        }
        match scored {
            Some((row, scores)) => object.extend(entries(self.model, row, scores, self.form)),
            None => object.extend([("label".to_owned(), Value::Null), ("bad".to_owned(), json!(true))]),
        }
        self.text.push_str(&Value::Object(object).to_string());
    }
}
