//! `novikoff train`: learn a model.

use super::evaluate::error_text;
use super::{dimensions, for_evaluation, labels, warn};
use crate::arguments::Train;
use crate::progress::Watch;
use crate::render::{Lines, count, counted, number, percent, seconds};
use crate::settings::{options, settings};
use crate::{Ending, print};
use novikoff::control::Progress;
use novikoff::data::Dataset;
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::multiclass::Scheme;
use novikoff::online::Stopped;
use novikoff::penalty::Bias;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::train::{Fit, Settings, train, train_online};
use novikoff::{Error, Result, model};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// What was learned, and what it took.
struct Outcome {
    fit: Fit,
    /// Rows in memory; streams have none.
    dimensions: Option<String>,
    nonzeros: Option<u64>,
    remarks: Vec<String>,
    read_seconds: f64,
    train_seconds: f64,
    doublings: Vec<(u64, u64, u64)>,
    test: Option<Evaluation>,
}

/// Runs the command.
pub fn run(arguments: &Train) -> Result<Ending> {
    let (options, settings) = (options(&arguments.reading)?, settings(arguments)?);
    let mut outcome = if arguments.online {
        learn_online(arguments, &options, &settings)?
    } else {
        learn_in_memory(arguments, &options, &settings)?
    };
    // The model is safe before anything else can go wrong.
    if let Some(path) = &arguments.output {
        model::save(&outcome.fit.model, path)?;
    }
    if let Some(path) = &arguments.trace {
        model::atomic::write(path, trace(&outcome.fit).as_bytes())?;
    }
    let interrupted = outcome.fit.stopped == Stopped::Interrupted;
    if let (Some(path), false) = (&arguments.test, interrupted) {
        outcome.test = Some(measure(&outcome.fit, path, &options)?);
    }
    let text = if arguments.output_form.json {
        format!("{}\n", as_json(arguments, &options, &settings, &outcome))
    } else {
        as_text(arguments, &settings, &outcome)
    };
    print(&text)?;
    Ok(if interrupted { Ending::Interrupted } else { Ending::Done })
}

fn learn_in_memory(arguments: &Train, options: &Options, settings: &Settings) -> Result<Outcome> {
    let started = Instant::now();
    let mut watch = Watch::new();
    let input = Input::named(&arguments.data);
    let data = Reader::open(&input, options, &Purpose::Training)?.read(&mut watch)?;
    warn(&input.name(), &data.report);
    let (data, validation) = hold_back(arguments, options, settings, data)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let fit = train(&data, validation.as_ref(), settings, &mut watch).map_err(|e| place(e, &input))?;
    watch.clear();
    Ok(Outcome {
        fit,
        dimensions: Some(dimensions(&data)),
        nonzeros: Some(data.rows.nonzeros() as u64),
        remarks: data.report.remarks.clone(),
        read_seconds,
        train_seconds: started.elapsed().as_secs_f64(),
        doublings: Vec::new(),
        test: None,
    })
}

/// An error of learning is one of the data: say of which.
fn place(error: Error, input: &Input) -> Error {
    if error.kind() == novikoff::ErrorKind::Input && error.place().is_none() { error.at(input.name(), 1, 1) } else { error }
}

/// The rows to learn from and those to watch the error on.
fn hold_back(arguments: &Train, options: &Options, settings: &Settings, data: Dataset) -> Result<(Dataset, Option<Dataset>)> {
    let Some(wanted) = &arguments.validation else { return Ok((data, None)) };
    match wanted.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => {
            if data.len() < 2 {
                return Err(Error::input("there are too few rows to hold some back for validation"));
            }
            let (kept, held) = data.split(share, settings.seed);
            Ok((kept, Some(held)))
        }
        Ok(share) => Err(Error::usage(format!("--validation {share} is not a fraction between 0 and 1"))),
        Err(_) => {
            let purpose = Purpose::Evaluation { labels: &data.names, schema: &data.schema, features: data.rows.columns() };
            let input = Input::named(wanted);
            let held = Reader::open(&input, &of_another_file(options), &purpose)?.read(&mut Watch::new())?;
            warn(&input.name(), &held.report);
            Ok((data, Some(held)))
        }
    }
}

/// How to read rows besides those to learn from: their labels are in a file of their own.
fn of_another_file(options: &Options) -> Options {
    Options { labels: None, ..options.clone() }
}

fn learn_online(arguments: &Train, options: &Options, settings: &Settings) -> Result<Outcome> {
    let started = Instant::now();
    let input = Input::named(&arguments.data);
    let mut doublings = Vec::new();
    let show = !arguments.output_form.json;
    let mut told = Ok(());
    let mut watch = Watch::telling(|progress| {
        if let Progress::Stream { rows, errors, mistakes } = progress {
            let head = if doublings.is_empty() { "        rows    mistakes  error so far\n" } else { "" };
            doublings.push((rows, errors, mistakes));
            if show && told.is_ok() {
                told = print(&format!("{head}{}", doubling(rows, errors, mistakes)));
            }
        }
    });
    let reader = Reader::open_stream(&input, options, &Purpose::Training)?;
    let fit = train_online(reader, settings, &mut watch).map_err(|e| place(e, &input));
    watch.clear();
    let fit = fit?;
    told?;
    let report = fit.report.clone().unwrap_or_default();
    warn(&input.name(), &report);
    Ok(Outcome {
        fit,
        dimensions: None,
        nonzeros: None,
        remarks: report.remarks,
        read_seconds: 0.0,
        train_seconds: started.elapsed().as_secs_f64(),
        doublings,
        test: None,
    })
}

fn doubling(rows: u64, errors: u64, mistakes: u64) -> String {
    format!("{:>12}{:>12}{:>14}\n", count(rows), count(mistakes), percent(errors as f64 / rows.max(1) as f64))
}

fn measure(fit: &Fit, path: &Path, options: &Options) -> Result<Evaluation> {
    let input = Input::named(path);
    let mut watch = Watch::new();
    let data = Reader::open(&input, &of_another_file(options), &for_evaluation(&fit.model))?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    Ok(evaluate(&fit.model, &data))
}

fn trace(fit: &Fit) -> String {
    let mut text = "epoch,mistakes,updates,progressive_error,validation_error,seconds\n".to_owned();
    for e in &fit.trace {
        let validation = e.validation_error.map_or(String::new(), |error| error.to_string());
        let _ = writeln!(text, "{},{},{},{},{validation},{:.6}", e.epoch, e.mistakes, e.updates, e.progressive_error, e.seconds);
    }
    text
}

fn as_json(arguments: &Train, options: &Options, settings: &Settings, outcome: &Outcome) -> Value {
    let fit = &outcome.fit;
    let validation = fit.trace.iter().map(|e| e.validation_error).collect::<Option<Vec<f64>>>().filter(|curve| !curve.is_empty());
    json!({
        "command": "train",
        "learner": fit.model.about.learner,
        "loss": null,
        "penalty": null,
        "solver": if arguments.online { "online" } else { "epochs" },
        "rows": fit.model.about.rows,
        "features": fit.model.about.features,
        "nonzeros": outcome.nonzeros,
        "classes": fit.model.labels.len(),
        "labels": fit.model.labels.names(),
        "bias": settings.bias,
        "multiclass": fit.scheme,
        "lambda": null,
        "epochs": fit.trace.len().max(1),
        "epoch": fit.epoch,
        "mistakes": fit.mistakes,
        "updates": fit.updates,
        "objective": null,
        "dual": null,
        "relative_gap": null,
        "stopped": fit.stopped,
        "margin": fit.geometry.map(|g| g.margin),
        "radius": fit.geometry.map(|g| g.radius),
        "margin_reached": fit.separation.map(|g| g.margin),
        "mistake_bound": mistake_bound(fit),
        "train_error": fit.train_error,
        "validation_errors": validation,
        "progressive_error": fit.progressive_error,
        "progressive": outcome.doublings.iter().map(|(rows, errors, mistakes)| json!({
            "rows": rows, "error": *errors as f64 / (*rows).max(1) as f64, "mistakes": mistakes})).collect::<Vec<_>>(),
        "test_error": outcome.test.as_ref().map(Evaluation::error),
        "read_seconds": outcome.read_seconds,
        "train_seconds": outcome.train_seconds,
        "threads": options.threads,
        "seed": settings.seed,
        "data_hash": fit.model.about.data_hash,
        "model": arguments.output.as_ref().map(|path| path.display().to_string()),
        "certificate": null,
    })
}

fn as_text(arguments: &Train, settings: &Settings, outcome: &Outcome) -> String {
    let fit = &outcome.fit;
    let mut lines = Lines::default();
    match &outcome.dimensions {
        Some(dimensions) => lines.add("data", format!("{dimensions}, read in {}", seconds(outcome.read_seconds))),
        None => {
            let rows = counted(fit.model.about.rows, "row");
            lines.add("data", format!("{rows} × {}, as a stream", counted(fit.model.about.features, "feature")));
        }
    }
    for remark in &outcome.remarks {
        lines.add("", remark);
    }
    lines.add("labels", labels(&fit.model));
    lines.add("learner", learner_text(settings, fit));
    lines.add("stopped", stopped_text(outcome, settings));
    lines.add("mistakes", mistakes_text(fit));
    if let Some(text) = margin_text(fit) {
        lines.add("margin", text);
    }
    if let Some(error) = fit.progressive_error {
        lines.add("progressive", format!("{} predicted wrongly before they were learned from", percent(error)));
    }
    match fit.train_error {
        Some(error) if error > 0.0 && fit.stopped == Stopped::Separated => {
            // The run's last weights separate the rows; what is made of all of them need not.
            lines.add(
                "train error",
                format!("{} (the last weights make none; {} ones may)", percent(error), settings.learner.name()),
            );
        }
        Some(error) => lines.add("train error", percent(error)),
        None if fit.progressive_error.is_none() => {
            lines.add("train error", "not computed: that would take longer than the training; see evaluate")
        }
        None => {}
    }
    if let Some(curve) = fit.trace.iter().map(|e| e.validation_error).collect::<Option<Vec<f64>>>().filter(|c| !c.is_empty()) {
        let curve: Vec<String> = curve.iter().map(|error| format!("{:.2}", 100.0 * error)).collect();
        lines.add("validation", format!("{} % by epoch; the model is that of epoch {}", curve.join(", "), fit.epoch));
    }
    if let Some(test) = &outcome.test {
        lines.add("test error", error_text(test));
    }
    match &arguments.output {
        Some(path) => {
            let kept = if fit.stopped == Stopped::Interrupted { " (interrupted: the best so far is kept)" } else { "" };
            lines.add("model", format!("{}{kept}", path.display()));
        }
        None => lines.add("model", "not kept; -o MODEL writes it"),
    }
    lines.text()
}

fn learner_text(settings: &Settings, fit: &Fit) -> String {
    let scheme = match fit.scheme {
        Scheme::Two => "two classes".to_owned(),
        Scheme::Joint => format!("{} classes jointly", fit.model.labels.len()),
        Scheme::OneVsRest => format!("{} classes, one against the rest", fit.model.labels.len()),
    };
    let bias = if settings.bias != Bias::None { "with bias" } else { "without bias" };
    format!("{}, {scheme}, {bias}, seed {}", settings.learner.name(), settings.seed)
}

fn stopped_text(outcome: &Outcome, settings: &Settings) -> String {
    let fit = &outcome.fit;
    let time = seconds(outcome.train_seconds);
    let epochs = counted(fit.trace.len() as u64, "epoch");
    match fit.stopped {
        Stopped::Separated => format!("separated: epoch {} made no mistake ({time})", fit.trace.len()),
        Stopped::OutOfEpochs => {
            let last = fit.trace.last().map_or(0, |e| e.mistakes);
            format!("ran out of epochs: number {} still made {} ({time})", settings.epochs, counted(last, "mistake"))
        }
        Stopped::ValidationError => format!("the validation error stopped falling: {epochs} ({time})"),
        Stopped::EndOfStream => format!("end of the stream ({time})"),
        Stopped::Interrupted => {
            format!("interrupted after {} ({time})", if fit.trace.is_empty() { "part of the stream".into() } else { epochs })
        }
    }
}

/// The lowest bound on the mistakes that the run's own weights prove.
fn mistake_bound(fit: &Fit) -> Option<f64> {
    [fit.geometry, fit.separation].into_iter().flatten().filter_map(|g| g.mistake_bound).min_by(f64::total_cmp)
}

/// The margin that the run reached, and that of the model, which may be another.
fn margin_text(fit: &Fit) -> Option<String> {
    match (fit.geometry, fit.separation) {
        (own, Some(reached)) if own != Some(reached) => {
            let own = own.map_or(String::new(), |g| format!("; of the model returned {}", number(g.margin)));
            Some(format!("{} reached by the last weights{own}; radius {}", number(reached.margin), number(reached.radius)))
        }
        (Some(own), _) if own.margin > 0.0 => {
            Some(format!("{} of the model returned; radius {}", number(own.margin), number(own.radius)))
        }
        _ => None,
    }
}

fn mistakes_text(fit: &Fit) -> String {
    let mut text = count(fit.mistakes);
    if fit.updates != fit.mistakes {
        let _ = write!(text, ", {}", counted(fit.updates, "update"));
    }
    if let Some(bound) = mistake_bound(fit) {
        let _ = write!(text, "; (R/margin)² allows at most {}", number(bound));
    }
    text
}
