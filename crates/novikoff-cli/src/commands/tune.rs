//! `novikoff tune`: choose λ, or the smoothing of bayes, by cross-validation.

use super::train::{self, Outcome, Rows};
use super::{dimensions, warn};
use crate::arguments::{LearnerName, Tune};
use crate::progress::Watch;
use crate::render::{number, percent, table};
use crate::report::Closing;
use crate::settings::{settings_with, training_options, usual_recipe};
use crate::{Ending, print};
use novikoff::read::{Contents, Input, Purpose, Reader};
use novikoff::train::{Learner, Parameter, Tuned, tune};
use novikoff::{Error, Result, model};
use serde_json::json;
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Tune) -> Result<Ending> {
    let train = &arguments.train;
    if train.online || train.validation.is_some() {
        return Err(Error::usage("tune holds rows back by itself, fold after fold")
            .hint("leave out --online and --validation"));
    }
    let mut settings = settings_with(train, LearnerName::Logistic, Contents::Rows)?;
    let options = training_options(&train.reading, &train.documents, usual_recipe(settings.learner, false))?;
    let values = match (settings.learner, &arguments.lambdas, &arguments.smoothings) {
        (Learner::Bayes, Some(_), _) => {
            return Err(Error::usage("bayes has no λ to choose")
                .hint("leave out --lambdas, or give a path by --smoothings"));
        }
        (Learner::Bayes, None, _) if train.smoothing.is_some() => {
            return Err(Error::usage("the smoothing is what tune chooses")
                .hint("leave out --smoothing, or give a path by --smoothings"));
        }
        (Learner::Bayes, None, smoothings) => smoothings.clone(),
        (learner, _, Some(_)) => {
            let what = format!("--smoothings is for bayes, and this is {}", learner.name());
            return Err(Error::usage(what).hint("leave out --smoothings, or use --learner bayes"));
        }
        (_, lambdas, None) => lambdas.clone(),
    };
    let started = Instant::now();
    let mut watch = Watch::new();
    let input = Input::named(&train.data);
    let purpose = if settings.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = Reader::open(&input, &options, &purpose)?;
    if reader.contents() != Contents::Rows {
        settings = settings_with(train, LearnerName::SquaredSvm, reader.contents())?;
    }
    let data = reader.read(&mut watch)?;
    warn(&input.name(), &data.report);
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let tuned = tune(&data, &settings, arguments.folds, values, &mut watch);
    watch.clear();
    let tuned = tuned.map_err(|error| train::place(error, &input))?;
    let mut outcome = Outcome {
        fit: tuned.fit.clone(),
        dimensions: Some(dimensions(&data)),
        nonzeros: Some(data.rows.nonzeros() as u64),
        remarks: data.report.remarks.clone(),
        read_seconds,
        train_seconds: started.elapsed().as_secs_f64(),
        doublings: Vec::new(),
        test: None,
        closing: Closing::default(),
    };
    if let Some(path) = &train.output {
        model::save(&outcome.fit.model, path)?;
    }
    if let Some(path) = &train.certificate {
        let certificate =
            outcome.fit.certificate(&data, &settings).map_err(|error| train::place(error, &input))?;
        model::atomic::write(path, certificate.to_text().as_bytes())?;
    }
    let mut rows = Rows { data: Some(data), ..Rows::default() };
    if let Some(path) = &train.test {
        let (measured, test) = train::measure(&outcome.fit, path, &options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    train::report(train, &settings, &outcome, &rows)?;
    let rows = outcome.fit.model.about.rows as f64;
    let text = if train.output_form.json {
        let path: Vec<_> = (tuned.path.iter())
            .map(|tried| match tuned.parameter {
                Parameter::Lambda => {
                    json!({"lambda": tried.value, "cost": 1.0 / (tried.value * rows), "error": tried.error, "spread": tried.spread})
                }
                Parameter::Smoothing => json!({"smoothing": tried.value, "error": tried.error, "spread": tried.spread}),
            })
            .collect();
        let fit = train::as_json(train, &options, &settings, &outcome);
        let chosen = tuned.path[tuned.best];
        let key = if tuned.parameter == Parameter::Lambda { "lambda" } else { "smoothing" };
        let head = json!({"command": "tune", "folds": tuned.folds, "path": path, key: chosen.value, "error": chosen.error});
        format!("{}\n", merged(head, fit))
    } else {
        format!("{}\n{}", as_table(&tuned, rows), train::as_text(train, &settings, &outcome))
    };
    print(&text)?;
    Ok(Ending::Done)
}

/// What tune says, and below `fit` what train says of the model.
fn merged(mut head: serde_json::Value, fit: serde_json::Value) -> serde_json::Value {
    head["fit"] = fit;
    head
}

fn as_table(tuned: &Tuned, rows: f64) -> String {
    let numbers = tuned.fit.risk.as_ref().is_some_and(|risk| risk.regression.is_some());
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
