//! `novikoff tune`: choose λ, or the smoothing of bayes, by cross-validation.

use super::{train, warn};
use crate::arguments::{PenaltyArgument, Train, Tune};
use crate::files;
use crate::messages::warnings;
use crate::outcome::{Closing, Outcome, Rows};
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{number, percent, table};
use crate::settings::{learner_or, open, training_options, usual_recipe};
use crate::summary::json;
use crate::summary::model::dimensions;
use crate::summary::trace::trace;
use crate::summary::training::summary;
use novikoff::data::Dataset;
use novikoff::model::Task;
use novikoff::read::{Contents, Input, Options, Purpose};
use novikoff::train::{Learner, LearnerName, Parameter, Tried, Tuned, tune};
use novikoff::{Error, Result};
use serde_json::{Value, json};
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Tune) -> Result<Ending> {
    let train = &arguments.train;
    if train.online || train.validation.is_some() {
        return Err(Error::usage("tune holds rows out by itself, fold after fold")
            .hint("leave out --online and --validation"));
    }
    train.pictures.check()?;
    if let Some(PenaltyArgument::None | PenaltyArgument::L1 | PenaltyArgument::ElasticNet) = train.penalty {
        let error = Error::usage("the penalty is λ/2·‖w‖², whose λ tune chooses, and what --l1 adds");
        return Err(error.hint("leave out --penalty"));
    }
    let wanted = train.task.unwrap_or(Task::Classes);
    let asked = learner_or(train, LearnerName::usual(Contents::Rows, wanted), Contents::Rows, wanted)?;
    let options = training_options(&train.reading, &train.documents, usual_recipe(&asked, false))?;
    let values = path(arguments, &asked)?;
    let started = Instant::now();
    let mut watch = Watch::new();
    let input = Input::named(&train.data);
    let purpose = if asked.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = open(&input, &options, &purpose, &train.documents)?;
    let contents = reader.contents();
    let data = reader.read(&mut watch)?;
    warn(&input.name(), &data.report);
    let inferred = train::infer_task(train, &data).map_err(|error| train::place(error, &input))?;
    let task = inferred.as_ref().map_or(wanted, |inferred| inferred.task);
    let learner = learner_or(train, LearnerName::usual(contents, task), contents, task)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let tuned = tune(&data, &learner, arguments.folds, values, &mut watch);
    watch.clear();
    let tuned = tuned.map_err(|error| train::place(error, &input))?;
    let train_seconds = started.elapsed().as_secs_f64();
    let outcome = Outcome {
        fit: tuned.fit.clone(),
        dimensions: Some(dimensions(&data)),
        nonzeros: Some(data.rows.nonzeros() as u64),
        remarks: data.report.remarks.clone(),
        guessed_label: data.report.guessed_label.clone(),
        task: inferred,
        read_seconds,
        train_seconds,
        doublings: Vec::new(),
        test: None,
        closing: Closing::default(),
    };
    write_files(train, &outcome, &data, &input)?;
    let outcome = measure_and_draw(train, &options, outcome, data)?;
    let text = if train.output_form.json {
        format!("{}\n", as_json(train, &options, &tuned, &outcome))
    } else {
        let rows = outcome.fit.model.about.rows as f64;
        format!("{}\n{}", as_table(&tuned, rows), summary(train, &outcome).text())
    };
    print(&text)?;
    Ok(Ending::Done)
}

/// The values to try, if they are given.
fn path(arguments: &Tune, learner: &Learner) -> Result<Option<Vec<f64>>> {
    match (learner, &arguments.lambdas, &arguments.smoothings) {
        (Learner::Bayes(_), Some(_), _) => Err(Error::usage("bayes has no λ to choose")
            .hint("leave out --lambdas, or give a path by --smoothings")),
        (Learner::Bayes(_), None, _) if arguments.train.smoothing.is_some() => {
            Err(Error::usage("the smoothing is what tune chooses")
                .hint("leave out --smoothing, or give a path by --smoothings"))
        }
        (Learner::Bayes(_), None, smoothings) => Ok(smoothings.clone()),
        (learner, _, Some(_)) => {
            let what = format!("--smoothings is for bayes, and this is {}", learner.name());
            Err(Error::usage(what).hint("leave out --smoothings, or use --learner bayes"))
        }
        (_, lambdas, None) => Ok(lambdas.clone()),
    }
}

/// The model, its certificate and the trace of its training.
fn write_files(train: &Train, outcome: &Outcome, data: &Dataset, input: &Input) -> Result<()> {
    if let Some(path) = &train.output {
        files::save(&outcome.fit.model, path)?;
    }
    if let Some(path) = &train.certificate {
        let certificate = outcome.fit.certificate(data).map_err(|error| train::place(error, input))?;
        files::write(path, certificate.to_text().as_bytes())?;
    }
    if let Some(path) = &train.trace {
        files::write(path, trace(&outcome.fit).as_bytes())?;
    }
    Ok(())
}

/// The error on test rows, and the pictures that were asked for.
fn measure_and_draw(
    train: &Train,
    options: &Options,
    mut outcome: Outcome,
    data: Dataset<'static>,
) -> Result<Outcome> {
    let mut rows = Rows { data: Some(data), ..Rows::default() };
    if let Some(path) = &train.test {
        let (measured, test) = train::measure(&outcome.fit, path, options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    train::report(train, &outcome, &rows)?;
    Ok(outcome)
}

fn as_json(train: &Train, options: &Options, tuned: &Tuned, outcome: &Outcome) -> Value {
    let rows = outcome.fit.model.about.rows as f64;
    let tried = |tried: &Tried| {
        let mut entry = json!({key(tuned): tried.value});
        if tuned.parameter == Parameter::Lambda {
            entry["cost"] = json!(1.0 / (tried.value * rows));
        }
        entry["error"] = json!(tried.error);
        entry["spread"] = json!(tried.spread);
        entry
    };
    let chosen = tuned.path[tuned.best];
    json!({
        "command": "tune",
        "folds": tuned.folds,
        "path": tuned.path.iter().map(tried).collect::<Vec<_>>(),
        key(tuned): chosen.value,
        "error": chosen.error,
        "fit": json::training(train, options, outcome),
        "warnings": warnings(),
    })
}

/// What the chosen parameter is called in JSON.
fn key(tuned: &Tuned) -> &'static str {
    if tuned.parameter == Parameter::Lambda { "lambda" } else { "smoothing" }
}

fn as_table(tuned: &Tuned, rows: f64) -> String {
    let numbers = tuned.fit.risk().is_some_and(|risk| risk.regression.is_some());
    let error = |x: f64| if numbers { number(x) } else { percent(x) };
    let mut head = vec!["λ", "cost", if numbers { "squared error" } else { "error" }, "±", ""];
    if tuned.parameter == Parameter::Smoothing {
        head.splice(..2, ["smoothing"]);
    }
    let mut lines = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (at, tried) in tuned.path.iter().enumerate() {
        let chosen = if at == tuned.best { "← chosen" } else { "" };
        let mut line = vec![number(tried.value)];
        if tuned.parameter == Parameter::Lambda {
            line.push(number(1.0 / (tried.value * rows)));
        }
        line.extend([error(tried.error), error(tried.spread), chosen.to_owned()]);
        lines.push(line);
    }
    format!("{} folds\n{}", tuned.folds, table(&lines))
}
