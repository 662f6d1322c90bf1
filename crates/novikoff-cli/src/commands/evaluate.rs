//! `novikoff evaluate`: error with its interval, confusion, precision and recall, area under the curve, log
//! loss; R² and its kin for regression. Of a model, or of a learner by cross-validation.

mod deciding;
mod folds;

use super::{load_model, train, warn};
use crate::arguments::{Evaluate, Inputs, Pictures};
use crate::files::Unwritten;
use crate::interrupt;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::picture::PictureName;
use crate::progress::Watch;
use crate::report::Section;
use crate::report::evaluation::{Shown, write};
use crate::report::regions::Drawn;
use crate::settings::{Use, options_for};
use crate::summary::{evaluation, written};
use deciding::Deciding;
use novikoff::data::Dataset;
use novikoff::evaluate::Predictions;
use novikoff::model::Model;
use novikoff::read::{Input, Reader};
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(arguments: &Evaluate) -> Result<Ending> {
    arguments.train.pictures.check()?;
    let pictures = &arguments.train.pictures;
    if pictures.image.is_some() {
        let error = Error::usage("an evaluation draws predictions, not weights");
        return Err(error.hint("leave out --image"));
    }
    if !pictures.columns.is_empty() && (arguments.folds.is_some() || arguments.threshold.is_some()) {
        let what = "--columns draws the regions of one model, where its own scores decide";
        return Err(Error::usage(what).hint("leave out --columns, or --folds and --threshold"));
    }
    match arguments.inputs()? {
        Inputs::Model(model, rows) => of_model(arguments, model, rows),
        Inputs::Folds(folds) => folds::run(arguments, folds),
    }
}

/// The regions of the model's classes, if there are two columns to draw them by, or two are asked for.
fn regions(arguments: &Evaluate, model: &Model, data: &Dataset) -> Result<Option<Section>> {
    let wanted = &arguments.train.pictures;
    if !wanted.draw(PictureName::Regions) || arguments.threshold.is_some() {
        return Ok(None);
    }
    let section = Drawn { model, data, margin: None, seed: arguments.train.seed, wanted }.section()?;
    if section.is_none() && !wanted.columns.is_empty() {
        let error = Error::usage("--columns draws the regions of classes, and this model predicts a number");
        return Err(error.hint("leave out --columns"));
    }
    Ok(section)
}

fn of_model(arguments: &Evaluate, path: &Path, rows: &[PathBuf]) -> Result<Ending> {
    let model = load_model(path, rows, "evaluate")?;
    let input = Input::all_named(rows);
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
        regions: regions(arguments, &model, &data)?,
        threshold: arguments.threshold,
        rows,
        title,
        lines,
    };
    interrupt::nothing_to_keep("interrupted");
    let mut unwritten = Unwritten::default();
    write(shown, &arguments.train.pictures, &mut unwritten)?;
    let pictures = &arguments.train.pictures.without(&unwritten);
    if arguments.train.output_form.json {
        let mut all = Map::from_iter([("command".to_owned(), json!("evaluate"))]);
        all.extend(evaluation::as_json(&measured, &model.labels));
        all.extend(deciding.as_json());
        all.extend(closing_json(pictures));
        print(&format!("{}\n", Value::Object(all)))?;
    } else {
        let mut lines = evaluation::lines(&measured);
        deciding.add_lines(&mut lines);
        written::add_drawn(&mut lines, pictures);
        print(&format!("{}{}", lines.text(), evaluation::tables(&measured, &model.labels)))?;
    }
    unwritten.end()?;
    Ok(Ending::Done)
}

/// What was written, and what was warned of.
fn closing_json(pictures: &Pictures) -> Map<String, Value> {
    Map::from_iter([
        ("report".to_owned(), json!(written::report(pictures))),
        ("pictures".to_owned(), json!(written::drawn(pictures))),
        ("warnings".to_owned(), json!(warnings())),
    ])
}
