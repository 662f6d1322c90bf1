//! Cross-validation without tuning: any learner, with any options of `train`.

use super::{Deciding, closing_json};
use crate::arguments::{Evaluate, Pictures, Train};
use crate::commands::{train, warn};
use crate::files::{Unwritten, is_model};
use crate::interrupt;
use crate::messages;
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
use novikoff::train::{CrossValidated, cross_validate};
use novikoff::{Error, Result};
use serde_json::{Map, Value, json};
use std::time::Instant;

pub fn run(arguments: &Evaluate, folds: usize) -> Result<Ending> {
    let train = &arguments.train;
    check(train)?;
    let asked = learner(train, Contents::Rows, train.task.unwrap_or(Task::Classes))?;
    let options = training_options(&train.reading, &train.documents, usual_recipe(&asked, false))?;
    let mut watch = Watch::keeping();
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
    let seconds = crate::render::seconds(started.elapsed().as_secs_f64());
    let mut head = Lines::default();
    add_guessed_label(&mut head, data.report.guessed_label.as_deref());
    head.add("data", dimensions(data));
    head.add("learner", format!("{}, seed {}", learner.name(), train.seed));
    let count = match validated.interrupted {
        true => format!("{} of {folds}", validated.folds.len()),
        false => folds.to_string(),
    };
    head.add("folds", format!("{count}, each held out once: {seconds} in all"));
    let deciding = Deciding::new(arguments, &validated.pooled, &validated.labels)?;
    let measured = deciding.measure(&validated.pooled)?;
    let each = validated.folds.iter().map(|fold| deciding.measure(fold)).collect::<Result<_>>()?;
    let found = Found { arguments, learner: learner.name(), validated, deciding, measured, each, head };
    if found.validated.interrupted {
        print(&found.text(&Pictures::default()))?;
        messages::say("interrupted: these are the folds that were finished");
        return Ok(Ending::Interrupted);
    }
    interrupt::keep_only(found.text(&Pictures::default()), "interrupted: not all is drawn");
    let mut unwritten = Unwritten::default();
    found.draw(&input, &mut unwritten)?;
    print(&found.text(&train.pictures.without(&unwritten)))?;
    unwritten.end()?;
    Ok(Ending::Done)
}

/// What the folds came to.
struct Found<'a> {
    arguments: &'a Evaluate,
    learner: &'static str,
    validated: CrossValidated,
    deciding: Deciding,
    /// Of all held-out rows together.
    measured: Evaluation,
    each: Vec<Evaluation>,
    /// What was done, line by line.
    head: Lines,
}

impl Found<'_> {
    /// Writes the pictures that were asked for.
    fn draw(&self, input: &Input, unwritten: &mut Unwritten) -> Result<()> {
        let mut lines = self.head.clone();
        self.deciding.add_lines(&mut lines);
        let folds = self.validated.folds.len();
        let shown = Shown {
            predictions: &self.validated.pooled,
            labels: &self.validated.labels,
            regions: None,
            threshold: self.arguments.threshold,
            rows: format!("the rows of {}, each by a model that did not learn from it", input.name()),
            title: format!("{} on {}, {folds} folds", self.learner, input.name()),
            lines,
        };
        write(shown, &self.arguments.train.pictures, unwritten)
    }

    /// All that was found, where these pictures were drawn.
    fn text(&self, pictures: &Pictures) -> String {
        let Self { arguments, validated, deciding, measured, each, .. } = self;
        if arguments.train.output_form.json {
            return format!("{}\n", self.as_json(pictures));
        }
        let mut pooled = evaluation::lines(measured);
        deciding.add_lines(&mut pooled);
        written::add_drawn(&mut pooled, pictures);
        format!(
            "{}\n{}\nall held-out rows together\n\n{}{}",
            self.head.text(),
            evaluation::means_table(each),
            pooled.text(),
            evaluation::tables(measured, &validated.labels),
        )
    }

    fn as_json(&self, pictures: &Pictures) -> Value {
        let Self { arguments, validated, deciding, measured, each, .. } = self;
        let mut all = Map::from_iter([("command".to_owned(), json!("evaluate"))]);
        all.insert("learner".to_owned(), json!(self.learner));
        all.insert("seed".to_owned(), json!(arguments.train.seed));
        all.extend(evaluation::as_json(measured, &validated.labels));
        all.extend(deciding.as_json());
        all.insert("folds".to_owned(), json!(evaluation::folds_json(each)));
        all.insert("means".to_owned(), evaluation::means_json(each));
        all.insert("interrupted".to_owned(), json!(validated.interrupted));
        all.extend(closing_json(pictures));
        Value::Object(all)
    }
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
