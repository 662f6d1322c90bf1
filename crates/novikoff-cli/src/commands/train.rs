//! `novikoff train`: learn a model.

use super::warn;
use crate::arguments::Train;
use crate::files::{self, Unwritten};
use crate::interrupt;
use crate::messages;
use crate::outcome::{Closing, Outcome, Rows};
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{count, counted, percent};
use crate::report::training::{self, Evidence};
use crate::report::{Page, Section};
use crate::settings::{
    depends_on_labels, learner, learner_from, open, open_stream, options_anew, options_on,
    refuse_scale_of_direct_methods, training_options, usual_recipe,
};
use crate::summary::json;
use crate::summary::model::settings_text;
use crate::summary::trace::{MistakeTrace, Source, Traced, TracedWeights, trace};
use crate::summary::training::summary;
use novikoff::control::{Observer, Progress};
use novikoff::data::{Dataset, Labels};
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::features::Schema;
use novikoff::model::{Model, Task};
use novikoff::read::{Contents, Input, Options, Purpose, Reader};
use novikoff::train::{
    Continued, Fit, InferredTask, Learner, train, train_from, train_online, train_online_from,
};
use novikoff::{Error, Result, model};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Train) -> Result<Ending> {
    arguments.pictures.check()?;
    let from = arguments.from.as_deref().map(model::load).transpose()?;
    let learner = chosen(arguments, from.as_ref(), Contents::Rows, arguments.task)?;
    let options = reading_options(arguments, from.as_ref(), &learner)?;
    let start = (&learner, from.as_ref());
    let mut unwritten = Unwritten::default();
    let (mut outcome, mut rows) = match arguments.trace_of_mistakes() {
        Some(path) => traced(path, arguments, &options, start, &mut unwritten)?,
        None => learn(arguments, &options, start, None, &mut unwritten)?,
    };
    if let (Some(path), None) = (&arguments.trace, arguments.trace_of_mistakes()) {
        let text = trace(&outcome.fit, outcome.train_seconds);
        unwritten.note(path, files::write(path, text.as_bytes()));
    }
    if !arguments.test.is_empty() && !interrupt::is_asked() {
        let (measured, test) = measure(&outcome.fit, &arguments.test, &options)?;
        (outcome.test, rows.test) = (Some(measured), Some(test));
    }
    report(arguments, &outcome, &rows, None, &mut unwritten)?;
    let arguments = &arguments.without(&unwritten);
    let text = if arguments.output_form.json {
        format!("{}\n", json::training(arguments, &options, &outcome))
    } else {
        summary(arguments, &outcome).text()
    };
    print(&text)?;
    unwritten.end()?;
    Ok(Ending::Done)
}

/// Writes the pictures that were asked for; on a page, this one comes first.
pub fn report(
    arguments: &Train,
    outcome: &Outcome,
    rows: &Rows,
    first: Option<Section>,
    unwritten: &mut Unwritten,
) -> Result<()> {
    if !arguments.pictures.wanted() {
        return Ok(());
    }
    let evidence = Evidence { fit: &outcome.fit, wanted: &arguments.pictures, outcome, rows };
    let sections = first.into_iter().chain(training::sections(&evidence)?).collect();
    let name = Input::all_named(&arguments.data).name();
    let mut lines = summary(&arguments.without(unwritten), outcome);
    let checksum = model::checksum_of(&outcome.fit.model)?;
    lines.add("model's hash", checksum);
    lines.add("rows' hash", &outcome.fit.model.about.data_hash);
    lines.add("settings", settings_text(&outcome.fit.model));
    Page { title: format!("{} on {name}", outcome.fit.learner.name()), lines, sections }
        .write(&arguments.pictures, unwritten);
    Ok(())
}

/// Learns, and writes mistakes into a file as they are made. The file is there when learning has ended well.
fn traced(
    path: &Path,
    arguments: &Train,
    options: &Options,
    start: Start<'_>,
    unwritten: &mut Unwritten,
) -> Result<(Outcome, Rows)> {
    let weights = if arguments.trace_weights { TracedWeights::All } else { TracedWeights::None };
    let source = if arguments.online { Source::Stream } else { Source::Memory };
    let mut learned = None;
    let written = files::write_with(path, |file| {
        let mut buffered = BufWriter::new(file);
        let mut trace = MistakeTrace::new(&mut buffered, source, weights);
        let result = learn(arguments, options, start, Some(&mut trace), unwritten);
        let is_learned = result.is_ok();
        learned = Some(result);
        if is_learned { trace.finish() } else { Err(std::io::Error::other("nothing was learned")) }
    });
    match (learned, written) {
        (Some(Ok(learned)), written) => {
            unwritten.note(path, written);
            Ok(learned)
        }
        // What kept it from learning comes first; if it has not begun, the file could not be written.
        (Some(Err(error)), _) | (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(Error::interrupted()),
    }
}

/// The learner that was asked for, and the model to go on from.
type Start<'a> = (&'a Learner, Option<&'a Model>);

fn learn(
    arguments: &Train,
    options: &Options,
    start: Start<'_>,
    trace: Option<&mut MistakeTrace<'_>>,
    unwritten: &mut Unwritten,
) -> Result<(Outcome, Rows)> {
    match arguments.online {
        true => Ok((learn_online(arguments, options, start, trace, unwritten)?, Rows::default())),
        false => learn_in_memory(arguments, options, start, trace, unwritten),
    }
}

/// The learner for an input with these contents and labels: that of the model if learning goes on from one.
fn chosen(
    arguments: &Train,
    from: Option<&Model>,
    contents: Contents,
    task: Option<Task>,
) -> Result<Learner> {
    match from {
        Some(model) => learner_from(arguments, model),
        None => learner(arguments, contents, task.unwrap_or(Task::Classes)),
    }
}

/// How to read. A loss is minimised over rows as they would be read without the model: then its certificate
/// is about rows that can be read without it.
fn reading_options(arguments: &Train, from: Option<&Model>, learner: &Learner) -> Result<Options> {
    match (from, learner) {
        (None, _) => {
            let usual = usual_recipe(learner, arguments.online);
            training_options(&arguments.reading, &arguments.documents, usual)
        }
        (Some(model), Learner::Risk(_)) => options_anew(arguments, model),
        (Some(model), _) => options_on(arguments, model),
    }
}

/// What the rows are for: to go on from a model, or to learn anew.
fn purpose<'a>(learner: &Learner, from: Option<(&'a Model, &'a Labels)>) -> Purpose<'a> {
    match from {
        Some((model, labels)) if !matches!(learner, Learner::Risk(_)) => {
            let labels = (model.task() == Task::Classes).then_some(labels);
            Purpose::Continuing { labels, schema: &model.schema, features: model.features() }
        }
        _ if learner.predicts_numbers() => Purpose::TrainingOnTargets,
        _ => Purpose::Training,
    }
}

/// A certificate is about rows that can be read without the model.
fn refuse_certificate_of_other_rows(arguments: &Train, fit: &Fit) -> Result<()> {
    let is_of_weights = fit.resumed.is_some_and(|resumed| resumed.continued == Continued::FromWeights);
    let is_numbered = matches!(fit.model.schema, Schema::Indexed { .. } | Schema::Hashed { .. });
    if arguments.certificate.is_none() || fit.risk().is_some() || !is_of_weights || is_numbered {
        return Ok(());
    }
    let what = "the rows were read with the features of the model, and a certificate is about rows that are \
                read without it";
    Err(Error::usage(what).hint("leave out --certificate, or --from"))
}

fn learn_in_memory(
    arguments: &Train,
    options: &Options,
    (asked, from): Start<'_>,
    trace: Option<&mut MistakeTrace<'_>>,
    unwritten: &mut Unwritten,
) -> Result<(Outcome, Rows)> {
    let started = Instant::now();
    let mut closing = Closing::default();
    let mut watch = Watch::telling(|progress| closing.note(progress)).that_keeps();
    let input = Input::all_named(&arguments.data);
    let known = from.map(|model| (model, &model.labels));
    let reader = open(&input, options, &purpose(asked, known), &arguments.documents)?;
    let contents = reader.contents();
    let (data, held_out) = read_and_hold_out(arguments, reader, &mut watch)?;
    warn(&input.name(), &data.report);
    let inferred = match from {
        Some(_) => None,
        None => infer_task(arguments, &data, held_out.as_ref()).map_err(|e| place(e, &input))?,
    };
    let task = inferred.as_ref().map(|inferred| inferred.task).or(arguments.task);
    let mut learner = chosen(arguments, from, contents, task)?;
    refuse_scale_of_direct_methods(arguments, &learner, &data)?;
    // The path of a descent can be drawn: its steps are recorded.
    if let Learner::Risk(risk) = &mut learner {
        risk.trace |= arguments.pictures.wanted() && training::leaves_a_path(risk.solver);
    }
    if let Some(held_out) = held_out.as_ref().filter(|_| !learner.predicts_numbers()) {
        warn_of_labels(&data, held_out);
    }
    let validation = match held_out {
        None => read_validation(arguments, options, &learner, &data)?,
        part => part,
    };
    let read_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let mut watched = Traced { observer: &mut watch, trace };
    let fit = match from {
        Some(model) => train_from(&data, validation.as_ref(), &learner, model, &mut watched),
        None => train(&data, validation.as_ref(), &learner, &mut watched),
    };
    let mut fit = fit.map_err(|e| place_of(e, arguments, &input))?;
    leave_out_state(arguments, &mut fit);
    let train_seconds = started.elapsed().as_secs_f64();
    keep_model(&fit, arguments, unwritten);
    refuse_certificate_of_other_rows(arguments, &fit)?;
    let certificate = certify(&fit, arguments, &data, &input, unwritten)?;
    watch.clear();
    let outcome = Outcome {
        read_seconds,
        train_seconds,
        certificate,
        closing,
        ..Outcome::in_memory(fit, &data, inferred)
    };
    // Pictures need them. Otherwise they only give way to rows for testing.
    let rows = match arguments.pictures.wanted() || arguments.test.is_empty() {
        true => Rows { data: Some(data), validation, test: None },
        false => Rows::default(),
    };
    Ok((outcome, rows))
}

/// Warns of labels that only rows have that are held out.
fn warn_of_labels(data: &Dataset, held_out: &Dataset) {
    let mut is_known = vec![false; data.names.len()];
    data.labels.iter().for_each(|&label| is_known[label as usize] = true);
    let unknown =
        held_out.labels.iter().filter(|label| is_known.get(**label as usize) != Some(&true)).count();
    if unknown > 0 {
        let rows = counted(unknown as u64, "validation row");
        let what = format!("{rows} of labels that no row to learn from has: they count as wrong");
        messages::warn(&what, &[]);
    }
}

/// What only --from needs goes where it is not wanted.
fn leave_out_state(arguments: &Train, fit: &mut Fit) {
    if arguments.no_state {
        fit.model.state = None;
    }
}

/// Writes the model: it is safe before anything else can go wrong, and an interrupt may end the rest.
pub fn keep_model(fit: &Fit, arguments: &Train, unwritten: &mut Unwritten) {
    if let Some(path) = &arguments.output {
        unwritten.note(path, files::save(&fit.model, path));
    }
    interrupt::nothing_to_keep(kept(&unwritten.written(&arguments.output)));
}

/// Writes the certificate that was asked for, unless the user is in a hurry. Returns where it is.
pub fn certify(
    fit: &Fit,
    arguments: &Train,
    data: &Dataset,
    input: &Input,
    unwritten: &mut Unwritten,
) -> Result<Option<String>> {
    let Some(path) = arguments.certificate.as_ref().filter(|_| !interrupt::is_asked()) else {
        return Ok(None);
    };
    let certificate = fit.certificate(data).map_err(|error| place(error, input))?;
    unwritten.note(path, files::write(path, certificate.to_text().as_bytes()));
    Ok(unwritten.is_written(path).then(|| path.display().to_string()))
}

/// The last words of a program that is interrupted after the training.
pub fn kept(model: &Option<PathBuf>) -> String {
    match model {
        Some(path) => format!("interrupted: the model is in {}; what follows it is missing", path.display()),
        None => "interrupted: what follows the training is missing".to_owned(),
    }
}

/// An error of learning is one of the data: say of which.
pub fn place(error: Error, input: &Input) -> Error {
    if error.kind() == novikoff::ErrorKind::Input && error.place().is_none() {
        input.place(error)
    } else {
        error
    }
}

/// The same for an error that may be one of the model that learning goes on from.
fn place_of(error: Error, arguments: &Train, input: &Input) -> Error {
    match &arguments.from {
        Some(path) if error.place().is_none() && error.what().starts_with("the model") => {
            error.at(path.display().to_string(), 0, 0)
        }
        _ => place(error, input),
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
    match arguments.held_out_share() {
        Some(share) if share > 0.0 && share < 1.0 && arguments.certificate.is_some() => {
            let what = format!(
                "with --validation {share} a certificate would speak of a part of the rows that nobody else \
                 has"
            );
            Err(Error::usage(what).hint("keep rows for validation in a file of their own: --validation FILE"))
        }
        Some(share) if share > 0.0 && share < 1.0 => {
            let (kept, held) = reader.read_split(share, arguments.seed, watch)?;
            Ok((kept, Some(held)))
        }
        Some(share) => Err(Error::usage(format!("--validation {share} is not a fraction between 0 and 1"))),
        None => Ok((reader.read(watch)?, None)),
    }
}

/// The rows of files to watch the error on.
fn read_validation(
    arguments: &Train,
    options: &Options,
    learner: &Learner,
    data: &Dataset,
) -> Result<Option<Dataset<'static>>> {
    let files = arguments.validation_files();
    if files.is_empty() {
        return Ok(None);
    }
    let (labels, schema, features) = (&data.names, &data.schema, data.rows.columns());
    let purpose = match learner.predicts_numbers() {
        true => Purpose::EvaluationOnTargets { schema, features },
        false => Purpose::Evaluation { labels, schema, features },
    };
    let input = Input::all_named(files);
    let held = Reader::open(&input, &of_another_file(options), &purpose)?.read(&mut Watch::new())?;
    warn(&input.name(), &held.report);
    Ok(Some(held))
}

/// How to read rows besides those to learn from: their labels are in a file of their own.
pub fn of_another_file(options: &Options) -> Options {
    Options { labels: None, ..options.clone() }
}

fn learn_online(
    arguments: &Train,
    options: &Options,
    (learner, from): Start<'_>,
    trace: Option<&mut MistakeTrace<'_>>,
    unwritten: &mut Unwritten,
) -> Result<Outcome> {
    let started = Instant::now();
    let input = Input::all_named(&arguments.data);
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
    let labels = from.map_or(Ok(Labels::default()), Model::labels_by_appearance)?;
    let purpose = purpose(learner, from.map(|model| (model, &labels)));
    let reader = open_stream(&input, options, &purpose, &arguments.documents)?;
    let mut watched = Traced { observer: &mut watch, trace };
    let fit = match from {
        Some(model) => train_online_from(reader, learner, model, &mut watched),
        None => train_online(reader, learner, &mut watched),
    };
    watch.clear();
    let mut fit = fit.map_err(|e| place_of(e, arguments, &input))?;
    leave_out_state(arguments, &mut fit);
    keep_model(&fit, arguments, unwritten);
    told?;
    let report = fit.stream().map(|stream| stream.report.clone()).unwrap_or_default();
    warn(&input.name(), &report);
    let train_seconds = started.elapsed().as_secs_f64();
    Ok(Outcome { train_seconds, doublings, ..Outcome::new(fit, &report) })
}

fn doubling(rows: u64, errors: u64, mistakes: u64) -> String {
    format!("{:>12}{:>12}{:>14}\n", count(rows), count(mistakes), percent(errors as f64 / rows.max(1) as f64))
}

/// How the model does on rows of files, and these rows.
pub fn measure(fit: &Fit, paths: &[PathBuf], options: &Options) -> Result<(Evaluation, Dataset<'static>)> {
    let input = Input::all_named(paths);
    let mut watch = Watch::new();
    let data =
        Reader::open(&input, &of_another_file(options), &fit.model.for_evaluation())?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let measured = evaluate(&fit.model, &data).map_err(|e| place(e, &input))?;
    Ok((measured, data))
}
