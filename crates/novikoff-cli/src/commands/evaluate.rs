//! `novikoff evaluate`: error with its interval, confusion, precision and recall, area under the curve, log
//! loss; R² and its kin for regression. Of a model, or of a learner by cross-validation.

mod deciding;
mod folds;

use super::{train, warn};
use crate::arguments::{Evaluate, Inputs};
use crate::interrupt;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::report::evaluation::{Shown, write};
use crate::settings::{Use, options_for};
use crate::summary::{evaluation, written};
use deciding::Deciding;
use novikoff::evaluate::Predictions;
use novikoff::read::{Input, Reader};
use novikoff::{Error, Result, model};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &Evaluate) -> Result<Ending> {
    arguments.train.pictures.check()?;
    let pictures = &arguments.train.pictures;
    if !pictures.columns.is_empty() || pictures.image.is_some() {
        let error = Error::usage("an evaluation draws predictions, not rows");
        return Err(error.hint("leave out --columns and --image"));
    }
    match arguments.inputs()? {
        Inputs::Model(model, rows) => of_model(arguments, model, rows),
        Inputs::Folds(folds) => folds::run(arguments, folds),
    }
}

fn of_model(arguments: &Evaluate, path: &Path, rows: &Path) -> Result<Ending> {
    let model = model::load(path)?;
    let input = Input::named(rows);
    let mut watch = Watch::new();
    let options = options_for(&arguments.train.reading, &model, Use::Evaluation)?;
    let data = Reader::open(&input, &options, &model.for_evaluation())?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let predictions = Predictions::of(&model, &data).map_err(|error| train::place(error, &input))?;
    let deciding = Deciding::new(arguments, &predictions, &model.labels)?;
    let measured = deciding.measure(&predictions)?;
    let mut lines = evaluation::lines(&measured);
    deciding.add_lines(&mut lines);
    let (title, rows) = (format!("{} on {}", path.display(), input.name()), input.name());
    let shown = Shown {
        predictions: &predictions,
        labels: &model.labels,
        threshold: arguments.threshold,
        rows,
        title,
        lines,
    };
    interrupt::nothing_to_keep("interrupted");
    write(shown, &arguments.train.pictures)?;
    if arguments.train.output_form.json {
        let mut all = Map::from_iter([("command".to_owned(), json!("evaluate"))]);
        all.extend(evaluation::as_json(&measured, &model.labels));
        all.extend(deciding.as_json());
        all.extend(closing_json(arguments));
        print(&format!("{}\n", Value::Object(all)))?;
    } else {
        let mut lines = evaluation::lines(&measured);
        deciding.add_lines(&mut lines);
        written::add_drawn(&mut lines, &arguments.train.pictures);
        print(&format!("{}{}", lines.text(), evaluation::tables(&measured, &model.labels)))?;
    }
    Ok(Ending::Done)
}

/// What was written, and what was warned of.
fn closing_json(arguments: &Evaluate) -> Map<String, Value> {
    Map::from_iter([
        ("report".to_owned(), json!(written::report(&arguments.train.pictures))),
        ("pictures".to_owned(), json!(written::drawn(&arguments.train.pictures))),
        ("warnings".to_owned(), json!(warnings())),
    ])
}
