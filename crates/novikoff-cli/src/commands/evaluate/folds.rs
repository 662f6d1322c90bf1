//! Cross-validation without tuning: any learner, with any options of `train`.

use super::{Deciding, closing_json};
use crate::arguments::{Evaluate, Train};
use crate::commands::{train, warn};
use crate::files::is_model;
use crate::interrupt;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{Lines, dimensions};
use crate::report::evaluation::{Shown, write};
use crate::settings::{learner, open, refuse_scale_of_direct_methods, training_options, usual_recipe};
use crate::summary::model::add_guessed_label;
use crate::summary::{evaluation, written};
use novikoff::data::Refit;
use novikoff::evaluate::Evaluation;
use novikoff::model::Task;
use novikoff::read::{Contents, Input, Purpose};
use novikoff::train::cross_validate;
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};
use std::time::Instant;

pub fn run(arguments: &Evaluate, folds: usize) -> Result<Ending> {
    let train = &arguments.train;
    check(train)?;
    let asked = learner(train, Contents::Rows, train.task.unwrap_or(Task::Classes))?;
    let options = training_options(&train.reading, &train.documents, usual_recipe(&asked, false))?;
    let mut watch = Watch::new();
    let input = Input::all_named(&train.data);
    let purpose = if asked.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = open(&input, &options, &purpose, &train.documents)?;
    let contents = reader.contents();
    let rows = reader.read_refittable(&mut watch)?;
    let data = rows.data();
    warn(&input.name(), &data.report);
    let inferred = train::infer_task(train, data, None).map_err(|error| train::place(error, &input))?;
    let task = inferred.as_ref().map(|inferred| inferred.task).or(train.task);
    let learner = learner(train, contents, task.unwrap_or(Task::Classes))?;
    refuse_scale_of_direct_methods(train, &learner, data)?;
    let started = Instant::now();
    let validated = cross_validate(&rows, &learner, folds, &mut watch);
    watch.clear();
    let validated = validated.map_err(|error| train::place(error, &input))?;
    let seconds = started.elapsed().as_secs_f64();
    let deciding = Deciding::new(arguments, &validated.pooled, &validated.labels)?;
    let measured = deciding.measure(&validated.pooled)?;
    let each: Vec<Evaluation> =
        validated.folds.iter().map(|fold| deciding.measure(fold)).collect::<Result<_>>()?;
    let lines = || {
        let mut lines = Lines::default();
        add_guessed_label(&mut lines, data.report.guessed_label.as_deref());
        lines.add("data", dimensions(data));
        lines.add("learner", format!("{}, seed {}", learner.name(), train.seed));
        lines
            .add("folds", format!("{folds}, each held out once: {} in all", crate::render::seconds(seconds)));
        lines
    };
    let mut head = lines();
    deciding.add_lines(&mut head);
    let shown = Shown {
        predictions: &validated.pooled,
        labels: &validated.labels,
        regions: None,
        threshold: arguments.threshold,
        rows: format!("the rows of {}, each by a model that did not learn from it", input.name()),
        title: format!("{} on {}, {folds} folds", learner.name(), input.name()),
        lines: head,
    };
    interrupt::nothing_to_keep("interrupted");
    write(shown, &train.pictures)?;
    if train.output_form.json {
        let mut all = Map::from_iter([("command".to_owned(), json!("evaluate"))]);
        all.insert("learner".to_owned(), json!(learner.name()));
        all.insert("seed".to_owned(), json!(train.seed));
        all.extend(evaluation::as_json(&measured, &validated.labels));
        all.extend(deciding.as_json());
        all.insert("folds".to_owned(), json!(evaluation::folds_json(&each)));
        all.insert("means".to_owned(), evaluation::means_json(&each));
        all.extend(closing_json(arguments));
        print(&format!("{}\n", Value::Object(all)))?;
        return Ok(Ending::Done);
    }
    let mut pooled = evaluation::lines(&measured);
    deciding.add_lines(&mut pooled);
    written::add_drawn(&mut pooled, &train.pictures);
    print(&format!(
        "{}\n{}\nall held-out rows together\n\n{}{}",
        lines().text(),
        evaluation::means_table(&each),
        pooled.text(),
        evaluation::tables(&measured, &validated.labels),
    ))?;
    Ok(Ending::Done)
}

/// Options that cross-validation has no use for.
fn check(train: &Train) -> Result<()> {
    if let Some(model) = train.data.iter().find(|path| is_model(path)) {
        let what = format!("--folds trains models of its own, and {} is a model", model.display());
        return Err(Error::usage(what).hint("leave out the model, or --folds"));
    }
    let given = [
        ("--test", !train.test.is_empty()),
        ("--output", train.output.is_some()),
        ("--from", train.from.is_some()),
        ("--online", train.online),
        ("--validation", !train.validation.is_empty()),
        ("--patience", train.patience.is_some()),
        ("--certificate", train.certificate.is_some()),
        ("--trace", train.trace.is_some()),
        ("--trace-each", train.trace_each.is_some()),
        ("--trace-weights", train.trace_weights),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            let what = format!("{option} is for one model of all rows, and --folds trains one for each fold");
            Err(Error::usage(what).hint(format!("leave out {option}, or use train")))
        }
        None => Ok(()),
    }
}
