//! `novikoff tune`: choose λ, or the smoothing of bayes, by cross-validation.

use super::{train, warn};
use crate::arguments::{PenaltyArgument, Train, Tune};
use crate::files::{self, Unwritten};
use crate::interrupt;
use crate::messages::{self, warnings};
use crate::outcome::{Outcome, Rows};
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::report;
use crate::settings::{learner_or, open, training_options, usual_recipe};
use crate::summary::trace::trace;
use crate::summary::training::summary;
use crate::summary::{json, tuning};
use novikoff::data::{Dataset, Refit};
use novikoff::model::Task;
use novikoff::read::{Contents, Input, Options, Purpose};
use novikoff::train::{Learner, LearnerName, Search, Tuned, tune};
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Tune) -> Result<Ending> {
    let train = &arguments.train;
    check(train)?;
    let wanted = train.task.unwrap_or(Task::Classes);
    let asked = learner_or(train, LearnerName::usual(Contents::Rows, wanted), wanted)?;
    let options = training_options(&train.reading, &train.documents, usual_recipe(&asked, false))?;
    let search = Search { folds: arguments.folds, values: path(arguments, &asked)?, by: arguments.by };
    let started = Instant::now();
    let mut watch = Watch::keeping();
    let input = Input::all_named(&train.data);
    let purpose = if asked.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = open(&input, &options, &purpose, &train.documents)?;
    let contents = reader.contents();
    let rows = reader.read_refittable(&mut watch)?;
    warn(&input.name(), &rows.data().report);
    let inferred =
        train::infer_task(train, rows.data(), None).map_err(|error| train::place(error, &input))?;
    let task = inferred.as_ref().map_or(wanted, |inferred| inferred.task);
    let learner = learner_or(train, LearnerName::usual(contents, task), task)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let tuned = tune(&rows, &learner, &search, &mut watch);
    watch.clear();
    let tuned = tuned.map_err(|error| train::place(error, &input))?;
    let train_seconds = started.elapsed().as_secs_f64();
    let data = rows.into_data();
    let total = data.total_weight();
    let Some(fit) = tuned.fit.clone() else { return interrupted(train, &tuned, total) };
    let mut outcome = Outcome { read_seconds, train_seconds, ..Outcome::in_memory(fit, &data, inferred) };
    let mut unwritten = Unwritten::default();
    train::keep_model(&outcome.fit, train, &mut unwritten);
    let kept = train::kept(&unwritten.written(&train.output));
    interrupt::keep_only(table(train, &tuned, total), kept);
    write_files(train, &mut outcome, &data, &input, &mut unwritten)?;
    let outcome = measure_and_draw(train, &options, outcome, (&tuned, data), &mut unwritten)?;
    let train = &train.without(&unwritten);
    let text = if train.output_form.json {
        format!("{}\n", as_json(&tuned, total, json::training(train, &options, &outcome)))
    } else {
        format!("{}\n{}", tuning::text(&tuned, total), summary(train, &outcome).text())
    };
    print(&text)?;
    unwritten.end()?;
    Ok(Ending::Done)
}

/// Options that tune has no use for.
fn check(train: &Train) -> Result<()> {
    if train.from.is_some() {
        return Err(Error::usage("tune starts every fit from the one before it, and from no model")
            .hint("leave out --from, or use train"));
    }
    if train.online || !train.validation.is_empty() || train.patience.is_some() {
        return Err(Error::usage("tune holds rows out by itself, fold after fold")
            .hint("leave out --online, --validation and --patience"));
    }
    if let Some(PenaltyArgument::None | PenaltyArgument::L1 | PenaltyArgument::ElasticNet) = train.penalty {
        let error = Error::usage("the penalty is λ/2·‖w‖², whose λ tune chooses, and what --l1 adds");
        return Err(error.hint("leave out --penalty"));
    }
    train.pictures.check()
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

/// What was found until Ctrl-C is printed; no model was learned.
fn interrupted(train: &Train, tuned: &Tuned, total: f64) -> Result<Ending> {
    print(&table(train, tuned, total))?;
    messages::say("interrupted: this is the table so far; no model was learned");
    Ok(Ending::Interrupted)
}

/// The table alone.
fn table(train: &Train, tuned: &Tuned, total: f64) -> String {
    match train.output_form.json {
        true => format!("{}\n", as_json(tuned, total, Value::Null)),
        false => tuning::text(tuned, total),
    }
}

/// The certificate of the model and the trace of its training.
fn write_files(
    arguments: &Train,
    outcome: &mut Outcome,
    data: &Dataset,
    input: &Input,
    unwritten: &mut Unwritten,
) -> Result<()> {
    outcome.certificate = train::certify(&outcome.fit, arguments, data, input, unwritten)?;
    if let Some(path) = &arguments.trace {
        let text = trace(&outcome.fit, outcome.train_seconds);
        unwritten.note(path, files::write(path, text.as_bytes()));
    }
    Ok(())
}

/// The error on test rows, and the pictures that were asked for.
fn measure_and_draw(
    train: &Train,
    options: &Options,
    mut outcome: Outcome,
    (tuned, data): (&Tuned, Dataset<'static>),
    unwritten: &mut Unwritten,
) -> Result<Outcome> {
    let mut rows = Rows { data: Some(data), ..Rows::default() };
    if !train.test.is_empty() {
        let (measured, test) = train::measure(&outcome.fit, &train.test, options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    train::report(train, &outcome, &rows, report::tuning::section(tuned), unwritten)?;
    Ok(outcome)
}

fn as_json(tuned: &Tuned, total: f64, fit: Value) -> Value {
    let mut all = Map::from_iter([("command".to_owned(), json!("tune"))]);
    all.extend(tuning::as_json(tuned, total));
    all.insert("interrupted".to_owned(), json!(fit.is_null()));
    all.insert("fit".to_owned(), fit);
    all.insert("warnings".to_owned(), json!(warnings()));
    Value::Object(all)
}
