//! `novikoff train`: learn a model.

use super::warn;
use crate::arguments::Train;
use crate::outcome::{Closing, Outcome, Rows};
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{count, percent};
use crate::report::training::{self, Evidence};
use crate::report::{Page, Section};
use crate::settings::{depends_on_labels, learner, open, open_stream, training_options, usual_recipe};
use crate::summary::json;
use crate::summary::model::{dimensions, settings_text};
use crate::summary::trace::trace;
use crate::summary::training::summary;
use crate::{files, interrupt};
use novikoff::control::{Observer, Progress};
use novikoff::data::Dataset;
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::model::Task;
use novikoff::read::{Contents, Input, Options, Purpose, Reader};
use novikoff::train::{Fit, InferredTask, Learner, train, train_online};
use novikoff::{Error, Result, model};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Train) -> Result<Ending> {
    arguments.pictures.check()?;
    let learner = learner(arguments, Contents::Rows, arguments.task.unwrap_or(Task::Classes))?;
    let usual = usual_recipe(&learner, arguments.online);
    let options = training_options(&arguments.reading, &arguments.documents, usual)?;
    let (mut outcome, mut rows) = if arguments.online {
        (learn_online(arguments, &options, &learner)?, Rows::default())
    } else {
        learn_in_memory(arguments, &options, &learner)?
    };
    if let Some(path) = &arguments.trace {
        files::write(path, trace(&outcome.fit).as_bytes())?;
    }
    if let (Some(path), false) = (&arguments.test, interrupt::is_asked()) {
        let (measured, test) = measure(&outcome.fit, path, &options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    report(arguments, &outcome, &rows, None)?;
    let text = if arguments.output_form.json {
        format!("{}\n", json::training(arguments, &options, &outcome))
    } else {
        summary(arguments, &outcome).text()
    };
    print(&text)?;
    Ok(Ending::Done)
}

/// Writes the pictures that were asked for; on a page, this one comes first.
pub fn report(arguments: &Train, outcome: &Outcome, rows: &Rows, first: Option<Section>) -> Result<()> {
    if !arguments.pictures.wanted() {
        return Ok(());
    }
    let evidence = Evidence { fit: &outcome.fit, wanted: &arguments.pictures, outcome, rows };
    let sections = first.into_iter().chain(training::sections(&evidence)?).collect();
    let name = Input::named(&arguments.data).name();
    let mut lines = summary(arguments, outcome);
    let checksum = model::checksum_of(&outcome.fit.model)?;
    lines.add("model's hash", checksum);
    lines.add("rows' hash", &outcome.fit.model.about.data_hash);
    lines.add("settings", settings_text(&outcome.fit.model));
    Page { title: format!("{} on {name}", outcome.fit.learner.name()), lines, sections }
        .write(&arguments.pictures)
}

fn learn_in_memory(arguments: &Train, options: &Options, asked: &Learner) -> Result<(Outcome, Rows)> {
    let started = Instant::now();
    let mut closing = Closing::default();
    let mut watch = Watch::telling(|progress| closing.note(progress)).that_keeps();
    let input = Input::named(&arguments.data);
    let purpose = if asked.predicts_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let reader = open(&input, options, &purpose, &arguments.documents)?;
    let contents = reader.contents();
    let (data, held_out) = read_and_hold_out(arguments, reader, &mut watch)?;
    warn(&input.name(), &data.report);
    let inferred = infer_task(arguments, &data, held_out.as_ref()).map_err(|e| place(e, &input))?;
    let task = inferred.as_ref().map(|inferred| inferred.task).or(arguments.task);
    let mut learner = learner(arguments, contents, task.unwrap_or(Task::Classes))?;
    // The path of a descent can be drawn: its steps are recorded.
    if let Learner::Risk(risk) = &mut learner {
        risk.trace |= arguments.pictures.wanted() && training::leaves_a_path(risk.solver);
    }
    let validation = match held_out {
        None => read_validation(arguments, options, &learner, &data)?,
        part => part,
    };
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let fit = train(&data, validation.as_ref(), &learner, &mut watch).map_err(|e| place(e, &input))?;
    let train_seconds = started.elapsed().as_secs_f64();
    keep_model(&fit, arguments)?;
    let certificate = certify(&fit, arguments, &data, &input)?;
    watch.clear();
    let outcome = Outcome {
        fit,
        dimensions: Some(dimensions(&data)),
        nonzeros: Some(data.rows.nonzeros() as u64),
        remarks: data.report.remarks.clone(),
        guessed_label: data.report.guessed_label.clone(),
        task: inferred,
        read_seconds,
        train_seconds,
        doublings: Vec::new(),
        test: None,
        certificate,
        closing,
    };
    // Pictures need them. Otherwise they only give way to rows for testing.
    let rows = match arguments.pictures.wanted() || arguments.test.is_none() {
        true => Rows { data: Some(data), validation, test: None },
        false => Rows::default(),
    };
    Ok((outcome, rows))
}

/// Writes the model: it is safe before anything else can go wrong, and an interrupt may end the rest.
pub fn keep_model(fit: &Fit, arguments: &Train) -> Result<()> {
    if let Some(path) = &arguments.output {
        files::save(&fit.model, path)?;
    }
    interrupt::nothing_to_keep(kept(arguments));
    Ok(())
}

/// Writes the certificate that was asked for, unless the user is in a hurry. Returns where it is.
pub fn certify(fit: &Fit, arguments: &Train, data: &Dataset, input: &Input) -> Result<Option<String>> {
    let Some(path) = arguments.certificate.as_ref().filter(|_| !interrupt::is_asked()) else {
        return Ok(None);
    };
    let certificate = fit.certificate(data).map_err(|error| place(error, input))?;
    files::write(path, certificate.to_text().as_bytes())?;
    Ok(Some(path.display().to_string()))
}

/// The last words of a program that is interrupted after the training.
pub fn kept(arguments: &Train) -> String {
    match &arguments.output {
        Some(path) => format!("interrupted: the model is in {}; what follows it is missing", path.display()),
        None => "interrupted: what follows the training is missing".to_owned(),
    }
}

/// An error of learning is one of the data: say of which.
pub fn place(error: Error, input: &Input) -> Error {
    if error.kind() == novikoff::ErrorKind::Input && error.place().is_none() {
        error.at(input.name(), 1, 1)
    } else {
        error
    }
}

/// What the labels are, where that decides what is learned.
pub fn infer_task(
    arguments: &Train,
    data: &Dataset,
    held_out: Option<&Dataset>,
) -> Result<Option<InferredTask>> {
    depends_on_labels(arguments).then(|| InferredTask::of_parts(data, held_out)).transpose()
}

/// The rows to learn from and, if a share of them is to be held out, those to watch the error on.
fn read_and_hold_out(
    arguments: &Train,
    reader: Reader,
    watch: &mut dyn Observer,
) -> Result<(Dataset<'static>, Option<Dataset<'static>>)> {
    let Some(wanted) = &arguments.validation else { return Ok((reader.read(watch)?, None)) };
    match wanted.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 && arguments.certificate.is_some() => {
            let what = format!(
                "with --validation {share} a certificate would speak of a part of the rows that nobody else \
                 has"
            );
            Err(Error::usage(what).hint("keep rows for validation in a file of their own: --validation FILE"))
        }
        Ok(share) if share > 0.0 && share < 1.0 => {
            let (kept, held) = reader.read_split(share, arguments.seed, watch)?;
            Ok((kept, Some(held)))
        }
        Ok(share) => Err(Error::usage(format!("--validation {share} is not a fraction between 0 and 1"))),
        Err(_) => Ok((reader.read(watch)?, None)),
    }
}

/// The rows of a file to watch the error on.
fn read_validation(
    arguments: &Train,
    options: &Options,
    learner: &Learner,
    data: &Dataset,
) -> Result<Option<Dataset<'static>>> {
    let Some(file) = &arguments.validation else { return Ok(None) };
    let (labels, schema, features) = (&data.names, &data.schema, data.rows.columns());
    let purpose = match learner.predicts_numbers() {
        true => Purpose::EvaluationOnTargets { schema, features },
        false => Purpose::Evaluation { labels, schema, features },
    };
    let input = Input::named(file);
    let held = Reader::open(&input, &of_another_file(options), &purpose)?.read(&mut Watch::new())?;
    warn(&input.name(), &held.report);
    Ok(Some(held))
}

/// How to read rows besides those to learn from: their labels are in a file of their own.
pub fn of_another_file(options: &Options) -> Options {
    Options { labels: None, ..options.clone() }
}

fn learn_online(arguments: &Train, options: &Options, learner: &Learner) -> Result<Outcome> {
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
    })
    .that_keeps();
    let reader = open_stream(&input, options, &Purpose::Training, &arguments.documents)?;
    let fit = train_online(reader, learner, &mut watch).map_err(|e| place(e, &input));
    watch.clear();
    let fit = fit?;
    keep_model(&fit, arguments)?;
    told?;
    let report = fit.stream().map(|stream| stream.report.clone()).unwrap_or_default();
    warn(&input.name(), &report);
    Ok(Outcome {
        fit,
        dimensions: None,
        nonzeros: None,
        remarks: report.remarks,
        guessed_label: report.guessed_label,
        task: None,
        read_seconds: 0.0,
        train_seconds: started.elapsed().as_secs_f64(),
        doublings,
        test: None,
        certificate: None,
        closing: Closing::default(),
    })
}

fn doubling(rows: u64, errors: u64, mistakes: u64) -> String {
    format!("{:>12}{:>12}{:>14}\n", count(rows), count(mistakes), percent(errors as f64 / rows.max(1) as f64))
}

/// How the model does on rows of a file, and these rows.
pub fn measure(fit: &Fit, path: &Path, options: &Options) -> Result<(Evaluation, Dataset<'static>)> {
    let input = Input::named(path);
    let mut watch = Watch::new();
    let data =
        Reader::open(&input, &of_another_file(options), &fit.model.for_evaluation())?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let measured = evaluate(&fit.model, &data).map_err(|e| place(e, &input))?;
    Ok((measured, data))
}
