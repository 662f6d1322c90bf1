//! `novikoff train`: learn a model.

use super::evaluate::error_text;
use super::inspect::{map_text, settings_text};
use super::{dimensions, for_evaluation, labels, warn};
use crate::arguments::Train;
use crate::progress::Watch;
use crate::render::{Lines, count, counted, number, number_down, number_up, percent, seconds};
use crate::report::training::{self, Evidence};
use crate::report::{Closing, Page};
use crate::settings::{settings, training_options, usual_recipe};
use crate::{Ending, print};
use novikoff::bayes::{Likelihood, Priors};
use novikoff::control::{Observer, Progress};
use novikoff::data::{Dataset, Scale};
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::kernel::Kernel;
use novikoff::model::{Scorer, Task};
use novikoff::multiclass::Scheme;
use novikoff::online::Stopped;
use novikoff::online::rule::Aggressiveness;
use novikoff::penalty::Bias;
use novikoff::read::{Contents, Input, Options, Purpose, Reader};
use novikoff::solver::REACH;
use novikoff::train::{Fit, Learner, RiskFit, Settings, Theorem, train, train_online};
use novikoff::{Error, Result, model};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// What was learned, and what it took.
pub struct Outcome {
    pub fit: Fit,
    /// Rows in memory; streams have none.
    pub dimensions: Option<String>,
    pub nonzeros: Option<u64>,
    pub remarks: Vec<String>,
    pub read_seconds: f64,
    pub train_seconds: f64,
    pub doublings: Vec<(u64, u64, u64)>,
    pub test: Option<Evaluation>,
    /// How the interval around the largest margin closed, where that was looked for.
    pub closing: Closing,
}

/// The rows at hand when all is done, for pictures; streams have none.
#[derive(Default)]
pub struct Rows {
    pub data: Option<Dataset>,
    pub validation: Option<Dataset>,
    pub test: Option<Dataset>,
}

/// Runs the command.
pub fn run(arguments: &Train) -> Result<Ending> {
    let mut settings = settings(arguments, Contents::Rows)?;
    let usual = usual_recipe(settings.learner, arguments.online);
    let options = training_options(&arguments.reading, &arguments.documents, usual)?;
    let (mut outcome, mut rows) = if arguments.online {
        (learn_online(arguments, &options, &settings)?, Rows::default())
    } else {
        learn_in_memory(arguments, &options, &mut settings)?
    };
    if let Some(path) = &arguments.trace {
        model::atomic::write(path, trace(&outcome.fit).as_bytes())?;
    }
    let interrupted = outcome.fit.stopped == Stopped::Interrupted;
    if let (Some(path), false) = (&arguments.test, interrupted) {
        let (measured, test) = measure(&outcome.fit, path, &options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    report(arguments, &settings, &outcome, &rows)?;
    let text = if arguments.output_form.json {
        format!("{}\n", as_json(arguments, &options, &settings, &outcome))
    } else {
        as_text(arguments, &settings, &outcome)
    };
    print(&text)?;
    Ok(if interrupted { Ending::Interrupted } else { Ending::Done })
}

/// Writes the pictures that were asked for.
pub fn report(arguments: &Train, settings: &Settings, outcome: &Outcome, rows: &Rows) -> Result<()> {
    if !arguments.pictures.wanted() {
        return Ok(());
    }
    let evidence = Evidence { fit: &outcome.fit, settings, wanted: &arguments.pictures, outcome, rows };
    let sections = training::sections(&evidence)?;
    let name = Input::named(&arguments.data).name();
    let mut lines = summary(arguments, settings, outcome);
    let checksum = model::checksum_of(&outcome.fit.model)?;
    lines.add("model's hash", checksum);
    lines.add("rows' hash", &outcome.fit.model.about.data_hash);
    lines.add("settings", settings_text(&outcome.fit.model));
    Page { title: format!("{} on {name}", settings.learner.name()), lines, sections }
        .write(&arguments.pictures)
}

fn learn_in_memory(arguments: &Train, options: &Options, settings: &mut Settings) -> Result<(Outcome, Rows)> {
    let started = Instant::now();
    let mut closing = Closing::default();
    let mut watch = Watch::telling(|progress| closing.note(progress));
    let input = Input::named(&arguments.data);
    let purpose = if settings.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = Reader::open(&input, options, &purpose)?;
    *settings = self::settings(arguments, reader.contents())?;
    // The path of a descent can be drawn: its steps are kept.
    settings.trace |= arguments.pictures.wanted() && training::leaves_a_path(settings.risk.solver);
    let (data, validation) = read_and_hold_back(arguments, options, settings, reader, &mut watch)?;
    warn(&input.name(), &data.report);
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let fit = train(&data, validation.as_ref(), settings, &mut watch).map_err(|e| place(e, &input))?;
    let train_seconds = started.elapsed().as_secs_f64();
    // The model is safe before anything else can go wrong.
    if let Some(path) = &arguments.output {
        model::save(&fit.model, path)?;
    }
    if let Some(path) = &arguments.certificate {
        let certificate = fit.certificate(&data, settings).map_err(|e| place(e, &input))?;
        model::atomic::write(path, certificate.to_text().as_bytes())?;
    }
    watch.clear();
    let outcome = Outcome {
        fit,
        dimensions: Some(dimensions(&data)),
        nonzeros: Some(data.rows.nonzeros() as u64),
        remarks: data.report.remarks.clone(),
        read_seconds,
        train_seconds,
        doublings: Vec::new(),
        test: None,
        closing,
    };
    // Pictures need them. Otherwise they only give way to rows for testing.
    let rows = match arguments.pictures.wanted() || arguments.test.is_none() {
        true => Rows { data: Some(data), validation, test: None },
        false => Rows::default(),
    };
    Ok((outcome, rows))
}

/// An error of learning is one of the data: say of which.
pub fn place(error: Error, input: &Input) -> Error {
    if error.kind() == novikoff::ErrorKind::Input && error.place().is_none() {
        error.at(input.name(), 1, 1)
    } else {
        error
    }
}

/// The rows to learn from and those to watch the error on.
fn read_and_hold_back(
    arguments: &Train,
    options: &Options,
    settings: &Settings,
    reader: Reader,
    watch: &mut dyn Observer,
) -> Result<(Dataset, Option<Dataset>)> {
    let Some(wanted) = &arguments.validation else { return Ok((reader.read(watch)?, None)) };
    match wanted.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 && arguments.certificate.is_some() => {
            let what = format!(
                "with --validation {share} a certificate would speak of a part of the rows that nobody else has"
            );
            Err(Error::usage(what).hint("keep rows for validation in a file of their own: --validation FILE"))
        }
        Ok(share) if share > 0.0 && share < 1.0 => {
            let (kept, held) = reader.read_split(share, settings.seed, watch)?;
            Ok((kept, Some(held)))
        }
        Ok(share) => Err(Error::usage(format!("--validation {share} is not a fraction between 0 and 1"))),
        Err(_) => {
            let data = reader.read(watch)?;
            let (labels, schema, features) = (&data.names, &data.schema, data.rows.columns());
            let purpose = match settings.predicts_numbers() {
                true => Purpose::EvaluationOnTargets { schema, features },
                false => Purpose::Evaluation { labels, schema, features },
            };
            let input = Input::named(wanted);
            let held = Reader::open(&input, &of_another_file(options), &purpose)?.read(&mut Watch::new())?;
            warn(&input.name(), &held.report);
            Ok((data, Some(held)))
        }
    }
}

/// How to read rows besides those to learn from: their labels are in a file of their own.
pub fn of_another_file(options: &Options) -> Options {
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
    if let Some(path) = &arguments.output {
        model::save(&fit.model, path)?;
    }
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
        closing: Closing::default(),
    })
}

fn doubling(rows: u64, errors: u64, mistakes: u64) -> String {
    format!("{:>12}{:>12}{:>14}\n", count(rows), count(mistakes), percent(errors as f64 / rows.max(1) as f64))
}

/// How the model does on rows of a file, and these rows.
pub fn measure(fit: &Fit, path: &Path, options: &Options) -> Result<(Evaluation, Dataset)> {
    let input = Input::named(path);
    let mut watch = Watch::new();
    let data =
        Reader::open(&input, &of_another_file(options), &for_evaluation(&fit.model))?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let measured = evaluate(&fit.model, &data).map_err(|e| place(e, &input))?;
    Ok((measured, data))
}

fn trace(fit: &Fit) -> String {
    if let Some(risk) = &fit.risk {
        return solver_trace(risk);
    }
    let mut text = "epoch,mistakes,updates,progressive_error,validation_error,seconds\n".to_owned();
    for e in &fit.trace {
        let validation = e.validation_error.map_or(String::new(), |error| error.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{validation},{:.6}",
            e.epoch, e.mistakes, e.updates, e.progressive_error, e.seconds
        );
    }
    text
}

pub fn as_json(arguments: &Train, options: &Options, settings: &Settings, outcome: &Outcome) -> Value {
    let fit = &outcome.fit;
    let (risk, counts) = (fit.risk.as_ref(), settings.learner == Learner::Bayes);
    let corrects = risk.is_none() && !counts;
    let layer = (settings.learner == Learner::Network).then_some(&settings.network);
    let validation = fit
        .trace
        .iter()
        .map(|e| e.validation_error)
        .collect::<Option<Vec<f64>>>()
        .filter(|curve| !curve.is_empty());
    json!({
        "command": "train",
        "learner": fit.model.about.learner,
        "loss": risk.map(|risk| risk.loss.name()).or(layer.map(|layer| layer.loss.name())),
        "penalty": risk.map(penalty_name),
        "solver": match (risk, arguments.online, settings.learner) {
            (Some(risk), ..) => risk.solver.name(),
            (_, true, _) => "online",
            (_, _, Learner::Bayes) => "counts",
            (_, _, Learner::Network) => "adam",
            _ => "epochs",
        },
        "rows": fit.model.about.rows,
        "features": fit.model.about.features,
        "nonzeros": outcome.nonzeros,
        "classes": fit.model.labels.len(),
        "labels": fit.model.labels.names(),
        "bias": settings.bias,
        "map": settings.map.map(|map| map.to_string()),
        "mapped_features": mapped_features(fit),
        "multiclass": fit.scheme,
        "hidden": layer.map(|layer| layer.units),
        "activation": layer.map(|layer| layer.activation),
        "lambda": risk.map(|risk| risk.lambda).or_else(|| layer.and_then(|_| fit.model.about.settings.get("lambda")?.as_f64())),
        "l1": risk.map(|risk| risk.l1),
        "tolerance": risk.map(|_| settings.risk.tolerance),
        "epochs": risk.map_or(fit.trace.len().max(1), |risk| risk.steps),
        "epoch": fit.epoch,
        "mistakes": corrects.then_some(fit.mistakes),
        "updates": corrects.then_some(fit.updates),
        "kernel": corrects.then(|| settings.kernel.to_string()),
        "support": support(&fit.model.scorer),
        "kernels": fit.model.about.results.get("kernels"),
        "likelihood": counts.then_some(settings.bayes.likelihood),
        "smoothing": counts.then_some(fit.model.about.settings.get("smoothing")),
        "priors": counts.then_some(fit.model.about.settings.get("priors")),
        "objective": risk.map(|risk| risk.objective),
        "dual": risk.map(|risk| risk.dual),
        "relative_gap": risk.map(|risk| risk.relative_gap),
        "gradient": risk.map(|risk| risk.gradient),
        "stopped": fit.stopped,
        "obstacle": risk.and_then(|risk| risk.obstacle.as_deref()),
        "margin": risk.and_then(|risk| risk.margin).map(|m| m.0).or(fit.geometry.map(|g| g.margin)),
        "margin_bound": risk.and_then(|risk| risk.margin).map(|m| m.1).or(fit.margin_upper),
        "radius": fit.geometry.map(|g| g.radius),
        "margin_reached": fit.separation.map(|g| g.margin),
        "mistake_bound": fit.promise.as_ref().map(|promise| promise.bound),
        "mistake_bound_forever": fit.promise.as_ref().and_then(|promise| promise.forever),
        "mistake_theorem": fit.promise.as_ref().map(|promise| promise.theorem),
        "unseen_error_bound": fit.promise.as_ref().and_then(|promise| promise.unseen),
        "train_error": fit.train_error,
        "validation_errors": validation,
        "progressive_error": fit.progressive_error,
        "progressive": outcome.doublings.iter().map(|(rows, errors, mistakes)| json!({
            "rows": rows, "error": *errors as f64 / (*rows).max(1) as f64, "mistakes": mistakes})).collect::<Vec<_>>(),
        "train_r2": risk.and_then(|risk| risk.regression.as_ref()).map(|measured| measured.r2),
        "test_r2": match &outcome.test {
            Some(Evaluation::Numbers(measured)) => measured.r2,
            _ => None,
        },
        "test_error": outcome.test.as_ref().and_then(Evaluation::error),
        "read_seconds": outcome.read_seconds,
        "train_seconds": outcome.train_seconds,
        "threads": options.threads,
        "seed": settings.seed,
        "data_hash": fit.model.about.data_hash,
        "model": arguments.output.as_ref().map(|path| path.display().to_string()),
        "certificate": arguments.certificate.as_ref().map(|path| path.display().to_string()),
    })
}

pub fn as_text(arguments: &Train, settings: &Settings, outcome: &Outcome) -> String {
    summary(arguments, settings, outcome).text()
}

/// What was learned, line by line.
fn summary(arguments: &Train, settings: &Settings, outcome: &Outcome) -> Lines {
    let fit = &outcome.fit;
    let mut lines = Lines::default();
    match &outcome.dimensions {
        Some(dimensions) => {
            lines.add("data", format!("{dimensions}, read in {}", seconds(outcome.read_seconds)))
        }
        None => {
            let rows = counted(fit.model.about.rows, "row");
            lines.add(
                "data",
                format!("{rows} × {}, as a stream", counted(fit.model.about.features, "feature")),
            );
        }
    }
    for remark in &outcome.remarks {
        lines.add("", remark);
    }
    if fit.model.task() == Task::Classes {
        lines.add("labels", labels(&fit.model));
    }
    if let Scorer::Mapped(mapped) = &fit.model.scorer {
        lines.add("map", map_text(mapped.mapper.map(), mapped.mapper.features()));
    }
    lines.add("learner", learner_text(settings, fit));
    if settings.learner == Learner::Network {
        lines.add("minimised", network_text(settings, fit));
    }
    match &fit.risk {
        Some(risk) => risk_text(&mut lines, risk, settings, outcome),
        None => {
            lines.add("stopped", stopped_text(outcome, settings));
            if !matches!(settings.learner, Learner::Bayes | Learner::Network) {
                lines.add("mistakes", mistakes_text(fit, settings));
            }
            if let Some(unseen) =
                fit.promise.as_ref().and_then(|promise| promise.unseen).filter(|unseen| *unseen < 0.5)
            {
                let what = "is what a theorem on the expected share of mistaken rows by votes after one pass (at most twice the expected bound of n + 1 \
                            rows, over n + 1) comes to with the bound of these rows";
                lines.add("", format!("{} {what}", percent(unseen)));
            }
        }
    }
    if let Some(text) = kernel_text(outcome) {
        lines.add("kernels", text);
    }
    if let Some(text) = margin_text(fit) {
        lines.add("margin", text);
    }
    if let Some(error) = fit.progressive_error {
        lines.add(
            "progressive",
            format!("{} predicted wrongly before they were learned from", percent(error)),
        );
    }
    match fit.train_error {
        Some(error) if error > 0.0 && fit.separation.is_some() => {
            // The run's last weights separate the rows; what is made of all of them need not.
            lines.add(
                "train error",
                format!(
                    "{} (the last weights make none; {} ones may)",
                    percent(error),
                    settings.learner.name()
                ),
            );
        }
        Some(error) => lines.add("train error", percent(error)),
        None if fit.model.task() == Task::Regression => {}
        None if fit.progressive_error.is_none() => {
            lines.add("train error", "not computed: that would take longer than the training; see evaluate")
        }
        None => {}
    }
    if let Some(curve) =
        fit.trace.iter().map(|e| e.validation_error).collect::<Option<Vec<f64>>>().filter(|c| !c.is_empty())
    {
        let curve: Vec<String> = curve.iter().map(|error| format!("{:.2}", 100.0 * error)).collect();
        lines.add(
            "validation",
            format!("{} % by epoch; the model is that of epoch {}", curve.join(", "), fit.epoch),
        );
    }
    if let Some(error) = fit.validation_error {
        lines.add("validation", percent(error));
    }
    if let Some(test) = &outcome.test {
        lines.add(if test.error().is_some() { "test error" } else { "test" }, error_text(test));
    }
    if let Some(path) = &arguments.certificate {
        lines.add("certificate", path.display().to_string());
    }
    match &arguments.output {
        Some(path) => {
            let kept = if fit.stopped == Stopped::Interrupted {
                " (interrupted: the best so far is kept)"
            } else {
                ""
            };
            lines.add("model", format!("{}{kept}", path.display()));
        }
        None => lines.add("model", "not kept; -o MODEL writes it"),
    }
    if let Some(path) = &arguments.pictures.report {
        lines.add("report", path.display().to_string());
    }
    lines
}

/// What bayes was told, with the smoothing that a model was made with, which tune may have chosen.
fn bayes_text(settings: &Settings, fit: &Fit) -> String {
    let bayes = &settings.bayes;
    let classes = fit.model.labels.len();
    let smoothing =
        fit.model.about.settings.get("smoothing").and_then(Value::as_f64).unwrap_or(bayes.smoothing);
    let priors = match &bayes.priors {
        _ if bayes.likelihood == Likelihood::Complement => "no priors",
        Priors::Learned => "learned priors",
        Priors::Uniform => "uniform priors",
        Priors::Given(_) => "given priors",
    };
    let classes =
        if classes == 2 { "two classes".to_owned() } else { format!("{} classes", count(classes as u64)) };
    format!("bayes, {}, {classes}, smoothing {smoothing}, {priors}", bayes.likelihood.name())
}

/// The mean loss of a network, and what it is learned by.
fn network_text(settings: &Settings, fit: &Fit) -> String {
    let setting = |name: &str| fit.model.about.settings.get(name).map_or(String::new(), Value::to_string);
    let layer = &settings.network;
    let lambda =
        fit.model.about.settings.get("lambda").and_then(Value::as_f64).filter(|lambda| *lambda > 0.0);
    let penalty = lambda.map_or(String::new(), |lambda| format!(" + (λ/2)‖w‖², λ = {}", number(lambda)));
    format!(
        "mean {} loss{penalty}, by {} of Adam, {} each; {} hidden units, {}",
        layer.loss.name(),
        counted(fit.updates, "step"),
        counted(setting("batch").parse().unwrap_or(0), "row"),
        count(layer.units as u64),
        layer.activation.name()
    )
}

fn mapped_features(fit: &Fit) -> Option<usize> {
    if let Scorer::Mapped(mapped) = &fit.model.scorer { Some(mapped.mapper.features()) } else { None }
}

fn learner_text(settings: &Settings, fit: &Fit) -> String {
    if settings.learner == Learner::Bayes {
        return bayes_text(settings, fit);
    }
    let scheme = match fit.scheme {
        _ if fit.model.task() == Task::Regression => "regression".to_owned(),
        Scheme::Two => "two classes".to_owned(),
        Scheme::Joint => format!("{} classes jointly", fit.model.labels.len()),
        Scheme::OneVsRest => format!("{} classes, one against the rest", fit.model.labels.len()),
    };
    let bias = match (settings.bias, &fit.risk) {
        (Bias::None, _) => "without bias",
        (Bias::Free, Some(_)) => "free bias",
        (Bias::Penalised, Some(_)) => "penalised bias",
        _ => "with bias",
    };
    let kernel = if settings.kernel == Kernel::Linear {
        String::new()
    } else {
        format!(", kernel {}", settings.kernel)
    };
    format!("{}{kernel}, {scheme}, {bias}, seed {}", settings.learner.name(), settings.seed)
}

/// How many rows support the model, and how fast they were compared.
fn kernel_text(outcome: &Outcome) -> Option<String> {
    let kernels = outcome.fit.model.about.results.get("kernels")?.as_u64()?;
    let support = counted(support(&outcome.fit.model.scorer)?, "support row");
    let rate = kernels as f64 / outcome.train_seconds.max(1e-9) / 1e6;
    Some(format!("{support}; {} computed, {} million a second", count(kernels), number(rate)))
}

/// The rows that a model in a kernel's space is made of.
fn support(scorer: &Scorer) -> Option<u64> {
    match scorer.behind_map() {
        Scorer::Kernel(expansion) => Some(expansion.rows.rows() as u64),
        Scorer::Voted(voted) => Some(voted.rows.rows() as u64),
        _ => None,
    }
}

fn stopped_text(outcome: &Outcome, settings: &Settings) -> String {
    let fit = &outcome.fit;
    let time = seconds(outcome.train_seconds);
    let epochs = counted(fit.trace.len() as u64, "epoch");
    match fit.stopped {
        Stopped::Separated if settings.own_feature.is_some() => {
            format!("epoch {} made no mistake, with a feature of every row's own ({time})", fit.trace.len())
        }
        Stopped::Separated => format!("separated: epoch {} made no mistake ({time})", fit.trace.len()),
        Stopped::OutOfEpochs if settings.learner == Learner::Network => format!("{epochs} ({time})"),
        Stopped::OutOfEpochs => {
            let last = fit.trace.last().map_or(0, |e| e.mistakes);
            format!(
                "ran out of epochs: number {} still made {} ({time})",
                settings.epochs,
                counted(last, "mistake")
            )
        }
        Stopped::ValidationError => format!("the validation error stopped falling: {epochs} ({time})"),
        Stopped::EndOfStream => format!("end of the stream ({time})"),
        Stopped::Counted => format!("all rows are counted ({time})"),
        Stopped::Converged | Stopped::NotConverged => time,
        Stopped::Interrupted => {
            format!(
                "interrupted after {} ({time})",
                if fit.trace.is_empty() { "part of the stream".into() } else { epochs }
            )
        }
    }
}

/// A row per step; with few columns the point itself.
fn solver_trace(risk: &RiskFit) -> String {
    let columns =
        risk.trace.first().and_then(|(_, step)| step.point.as_ref()).map_or(0, |point| point.weights.len());
    let mut text = "output,step,objective,relative_gap,gradient,step_size,seconds".to_owned();
    if columns > 0 {
        for j in 1..=columns {
            let _ = write!(text, ",w{j}");
        }
        text.push_str(",bias");
    }
    text.push('\n');
    let optional = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for (output, s) in &risk.trace {
        let (gap, gradient, size) = (optional(s.gap), optional(s.gradient), optional(s.size));
        let _ = write!(text, "{output},{},{},{gap},{gradient},{size},{:.6}", s.step, s.objective, s.seconds);
        if let Some(point) = &s.point {
            for w in &point.weights {
                let _ = write!(text, ",{w}");
            }
            let _ = write!(text, ",{}", point.bias);
        }
        text.push('\n');
    }
    text
}

fn penalty_name(risk: &RiskFit) -> &'static str {
    match (risk.lambda > 0.0, risk.l1 > 0.0) {
        (false, false) => "none",
        (true, false) => "l2",
        (false, true) => "l1",
        (true, true) => "elastic-net",
    }
}

fn risk_text(lines: &mut Lines, risk: &RiskFit, settings: &Settings, outcome: &Outcome) {
    if let Some((lower, upper)) = risk.margin {
        lines.add("minimised", "‖w‖, where every row has a margin of 1");
        let how = match outcome.fit.stopped {
            Stopped::Converged => "converged",
            Stopped::Interrupted => "interrupted",
            _ => "NOT converged",
        };
        let (steps, time) = (counted(risk.steps as u64, "step"), seconds(outcome.train_seconds));
        lines.add("stopped", format!("{how} after {steps} ({time})"));
        if let Some(obstacle) = &risk.obstacle {
            lines.add("", obstacle);
        }
        let reached = (lower > 0.0).then(|| format!("{} reached", number_down(lower)));
        let hardest = if outcome.fit.model.labels.len() > 2 { " for the class with the least" } else { "" };
        let bound =
            upper.is_finite().then(|| format!("no hyperplane has more than {}{hardest}", number_up(upper)));
        let known: Vec<String> = reached.into_iter().chain(bound).collect();
        lines.add(
            "margin",
            if known.is_empty() { "nothing is known of it".to_owned() } else { known.join("; ") },
        );
        return;
    }
    let mut minimised = format!("mean {} loss", risk.loss.name());
    if risk.lambda > 0.0 {
        let _ = write!(minimised, " + (λ/2)‖w‖², λ = {}", number(risk.lambda));
    }
    if risk.l1 > 0.0 {
        let _ = write!(minimised, " + {}·‖w‖₁", number(risk.l1));
    }
    match settings.risk.scale {
        Scale::None => {}
        Scale::UnitVariance => minimised.push_str(", columns scaled to unit variance"),
        Scale::MaxAbs => minimised.push_str(", columns scaled to a largest value of 1"),
    }
    lines.add("minimised", minimised);
    let why = risk.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    lines.add("solver", format!("{}{why}", risk.solver.name()));
    let (steps, time) = (counted(risk.steps as u64, "step"), seconds(outcome.train_seconds));
    let reached = match risk.relative_gap {
        _ if risk.met => "every target is met, but for rounding".to_owned(),
        Some(gap) => format!("relative gap {}", scientific_up(gap)),
        None => format!("no gap; gradient {}", risk.gradient.map_or_else(String::new, scientific)),
    };
    let how = match outcome.fit.stopped {
        Stopped::Converged => "converged",
        Stopped::Interrupted => "interrupted",
        _ => "NOT converged",
    };
    lines.add("stopped", format!("{how}: {reached} after {steps} ({time})"));
    if let (Some(obstacle), false) = (&risk.obstacle, outcome.fit.stopped == Stopped::Interrupted) {
        lines.add("", format!("{} was asked for; {obstacle}", scientific(settings.risk.tolerance)));
    }
    // Without a penalty, the lengths of weights are counted in units of their columns.
    let units = if settings.risk.scale == Scale::None {
        "of the columns' largest values"
    } else {
        "of the scaled columns"
    };
    let which = match risk.lambda == 0.0 && risk.l1 == 0.0 {
        true => format!("no weights up to {} times as long, in units {units}, give", count(REACH as u64)),
        false => "no weights give".to_owned(),
    };
    let dual = risk.dual.map_or(String::new(), |dual| format!("; {which} less than {}", number_down(dual)));
    lines.add("objective", format!("{}{dual}", number_up(risk.objective)));
    if let Some(measured) = &risk.regression {
        lines.add("train", error_text(&Evaluation::Numbers(*measured)));
    }
}

/// Rounded up.
fn scientific_up(x: f64) -> String {
    let text = scientific(x);
    let is_less = text.parse::<f64>().is_ok_and(|shown| shown < x);
    // Half a unit of the last digit more is rounded to the next.
    if is_less { scientific(x + 0.051 * 10f64.powf(x.log10().floor())) } else { text }
}

fn scientific(x: f64) -> String {
    format!("{x:.1e}")
}

/// The margin that the run reached, and that of the model, which may be another.
fn margin_text(fit: &Fit) -> Option<String> {
    let most =
        fit.margin_upper.map_or(String::new(), |most| format!("; none have more than {}", number_up(most)));
    match (fit.geometry, fit.separation) {
        (own, Some(reached)) if own != Some(reached) => {
            let own =
                own.map_or(String::new(), |g| format!("; of the model returned {}", number_down(g.margin)));
            Some(format!(
                "{} reached by the last weights{own}{most}; radius {}",
                number_down(reached.margin),
                number(reached.radius)
            ))
        }
        (Some(own), _) if own.margin > 0.0 => Some(format!(
            "{} of the model returned{most}; radius {}",
            number_down(own.margin),
            number(own.radius)
        )),
        (Some(own), None) if fit.promise.is_some() => Some(format!(
            "the model returned does not separate the rows{most}; radius {}",
            number(own.radius)
        )),
        _ => None,
    }
}

fn mistakes_text(fit: &Fit, settings: &Settings) -> String {
    let mut text = count(fit.mistakes);
    if fit.updates != fit.mistakes {
        let _ = write!(text, ", {}", counted(fit.updates, "update"));
    }
    let Some(promise) = &fit.promise else { return text };
    let shown = |bound: f64| if bound < 1e15 { count(bound.floor() as u64) } else { number(bound) };
    let (formula, bound) = (promise.theorem.formula(), shown(promise.bound));
    let any = match promise.theorem {
        Theorem::Novikoff | Theorem::OwnFeature => true,
        Theorem::FreundSchapire => false,
        Theorem::PassiveAggressive => settings.aggressiveness == Aggressiveness::Full,
    };
    let epochs = counted(fit.trace.len() as u64, "epoch");
    let says_something = promise.bound < fit.model.about.rows as f64 * fit.trace.len() as f64;
    let _ = match (any, promise.forever) {
        (true, _) => write!(text, "; {formula} allows at most {bound} in any number of epochs"),
        (false, Some(forever)) => {
            let _ = write!(text, "; (R/γ)² allows at most {} in any number of epochs", shown(forever));
            if says_something { write!(text, ", {formula} {bound} in {epochs}") } else { Ok(()) }
        }
        (false, None) if says_something => write!(text, "; {formula} allows at most {bound} in {epochs}"),
        (false, None) => {
            write!(text, "; {formula} would allow {bound}, more than there were rows to mistake")
        }
    };
    text
}
