//! `novikoff evaluate`: error with its interval, confusion, area under the curve, log loss; R² and its kin
//! for regression.

use super::warn;
use crate::arguments::Evaluate;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::settings::{Use, options_for};
use crate::summary::evaluation;
use novikoff::Result;
use novikoff::evaluate::evaluate;
use novikoff::model;
use novikoff::read::{Input, Reader};
use serde_json::{Map, Value, json};

/// Runs the command.
pub fn run(arguments: &Evaluate) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    let input = Input::named(&arguments.data);
    let mut watch = Watch::new();
    let options = options_for(&arguments.reading, &model, Use::Evaluation)?;
    let data = Reader::open(&input, &options, &model.for_evaluation())?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let measured = evaluate(&model, &data)?;
    if arguments.output_form.json {
        let mut all = Map::from_iter([("command".to_owned(), json!("evaluate"))]);
        all.extend(evaluation::as_json(&measured, &model.labels));
        all.insert("warnings".to_owned(), json!(warnings()));
        print(&format!("{}\n", Value::Object(all)))?;
    } else {
        print(&evaluation::text(&measured, &model.labels))?;
    }
    Ok(Ending::Done)
}
