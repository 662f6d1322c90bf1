//! `novikoff verify`: does a certificate hold? Nothing in it is believed.

use super::{start_of, warn};
use crate::arguments::Verify;
use crate::files::rows_and_model;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::settings::{open, options_anew, training_options};
use crate::text::line;
use novikoff::certificate::{Certificate, Checked};
use novikoff::control::{Flow, Observer, Progress};
use novikoff::data::Dataset;
use novikoff::features::text::TextRecipe;
use novikoff::model::{self, Model};
use novikoff::read::{Input, Purpose};
use novikoff::{Error, ErrorKind, Result};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model and the checksum of its file.
type Named = (Model, String);

/// Runs the command.
pub fn run(arguments: &Verify) -> Result<Ending> {
    let (rows, model_file) = rows_and_model(arguments);
    let input = Input::all_named(rows);
    let mut watch = Watch::new();
    let all = match rows.iter().all(|path| path.is_file()) {
        true => load_and_read(arguments, model_file, &input, &mut watch),
        false => load_then_read(arguments, model_file, &input, &mut watch),
    };
    let (certificate, model, data) =
        all.map_err(|error| if model_file.is_none() { about_the_last(error, rows) } else { error })?;
    let checked = certificate.check(&data);
    let (checked, data) = match &model {
        Some((model, _)) if !is_about_these(&checked) && rows.iter().all(|path| path.is_file()) => {
            let by_recipe = read_by_recipe(arguments, model, &input, &purpose(&certificate), &mut watch);
            let by_recipe = by_recipe.map(|data| (certificate.check(&data), data)).ok();
            by_recipe.filter(|(checked, _)| is_about_these(checked)).unwrap_or((checked, data))
        }
        _ => (checked, data),
    };
    watch.clear();
    warn(&input.name(), &data.report);
    let checked = with_model(checked, &certificate, model.as_ref(), &data);
    let holds = checked.iter().all(|claim| claim.holds);
    let hint = (model.is_none() && !is_about_these(&checked)).then_some(OTHER_ROWS);
    print(&match arguments.output_form.json {
        true => as_json(&checked, hint),
        false => as_text(&checked, hint, certificate.model.as_deref().filter(|_| model_file.is_none())),
    })?;
    Ok(if holds { Ending::Done } else { Ending::No })
}

/// What may help where the rows are not those of the certificate.
const OTHER_ROWS: &str = "the same file read otherwise is other rows: give the options that it was read with \
                          (--label, --row-weights, --missing, --categories, --drop, …), or the model, which \
                          knows them";

/// Whether the first claim holds: that the certificate is about these rows.
fn is_about_these(checked: &[Checked]) -> bool {
    checked.first().is_some_and(|claim| claim.holds)
}

/// The same with what is said of the model, after the rows.
fn with_model(
    mut checked: Vec<Checked>,
    certificate: &Certificate,
    model: Option<&Named>,
    data: &Dataset,
) -> Vec<Checked> {
    if let Some((model, checksum)) = model {
        checked.insert(1, certificate.check_model(model, checksum, data));
    }
    checked
}

fn as_json(checked: &[Checked], hint: Option<&str>) -> String {
    let claim =
        |c: &Checked| json!({"claim": c.claim, "holds": c.holds, "detail": c.detail, "question": c.question});
    let claims: Vec<_> = checked.iter().map(claim).collect();
    let holds = checked.iter().all(|claim| claim.holds);
    let all = json!({
        "command": "verify",
        "holds": holds,
        "claims": claims,
        "hint": hint,
        "warnings": warnings(),
    });
    format!("{all}\n")
}

fn as_text(checked: &[Checked], hint: Option<&str>, unchecked_model: Option<&str>) -> String {
    let mut text = String::new();
    for claim in checked {
        let mark = if claim.holds { "holds" } else { "FAILS" };
        text += &format!("{mark}  {}\n       {}\n", line(&claim.claim), line(&claim.detail));
    }
    if let Some(named) = unchecked_model {
        let model = line(named);
        text += &format!(
            "not checked: whether the weights are those of the model {model}; give its file to see\n"
        );
    }
    let holds = checked.iter().all(|claim| claim.holds);
    text += if holds { "the certificate holds\n" } else { "the certificate does NOT hold\n" };
    text + &hint.map_or(String::new(), |hint| format!("hint: {hint}\n"))
}

/// Who meant the last of several files as a model is told why it was read as rows.
fn about_the_last(error: Error, rows: &[PathBuf]) -> Error {
    let last = rows.last().filter(|_| rows.len() > 1).map(|path| path.display().to_string());
    match error.place() {
        Some(place) if Some(&place.file) == last.as_ref() => {
            error.hint("this file is no model, so that it was read as rows")
        }
        _ => error,
    }
}

/// The certificate, and the model with its checksum, if one is given. One after the other, for the model's
/// file then has its bytes where the certificate's text was.
fn load(arguments: &Verify, model: Option<&PathBuf>) -> Result<(Certificate, Option<Named>)> {
    let is_object = |start: Vec<u8>| start.trim_ascii_start().starts_with(b"{");
    let certificate = Certificate::load(&arguments.certificate).map_err(|error| {
        match start_of(&arguments.certificate).is_some_and(|start| !is_object(start)) {
            true => error.hint("the certificate stands first: verify CERTIFICATE DATA [MODEL]"),
            false => error,
        }
    })?;
    let model = model.map(|path| model::load_with_checksum(path)).transpose()?;
    Ok((certificate, model))
}

/// What the rows are for, as far as the reading of them goes.
fn purpose(certificate: &Certificate) -> Purpose<'static> {
    if certificate.speaks_of_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training }
}

fn read(
    arguments: &Verify,
    input: &Input,
    purpose: &Purpose<'_>,
    observer: &mut dyn Observer,
) -> Result<Dataset<'static>> {
    let options = training_options(&arguments.reading, &arguments.documents, TextRecipe::default())?;
    open(input, &options, purpose, &arguments.documents)?.read(observer)
}

/// Reads the rows as those were that the model was learned from, where no option says otherwise.
fn read_by_recipe(
    arguments: &Verify,
    model: &Model,
    input: &Input,
    purpose: &Purpose<'_>,
    observer: &mut dyn Observer,
) -> Result<Dataset<'static>> {
    let options = options_anew(&arguments.as_training()?, model)?;
    open(input, &options, purpose, &arguments.documents)?.read(observer)
}

/// One after the other: rows on standard input may never come.
fn load_then_read(
    arguments: &Verify,
    model: Option<&PathBuf>,
    input: &Input,
    watch: &mut dyn Observer,
) -> Result<(Certificate, Option<Named>, Dataset<'static>)> {
    let (certificate, model) = load(arguments, model)?;
    let purpose = purpose(&certificate);
    // They come once: by which recipe, the hash that the model knows of its rows decides.
    let data = match &model {
        Some((model, _)) if certificate.is_about_rows_of(model) => {
            read_by_recipe(arguments, model, input, &purpose, watch)?
        }
        _ => read(arguments, input, &purpose, watch)?,
    };
    Ok((certificate, model, data))
}

/// Stops where another has failed.
struct While<'a> {
    observer: &'a mut dyn Observer,
    failed: &'a AtomicBool,
}

impl Observer for While<'_> {
    fn observe(&mut self, progress: Progress) -> Flow {
        let flow = self.observer.observe(progress);
        if self.failed.load(Ordering::Relaxed) { Flow::Stop } else { flow }
    }
}

/// All at once: while one core reads the certificate, which is as large as the rows, the other need not wait.
fn load_and_read(
    arguments: &Verify,
    model: Option<&PathBuf>,
    input: &Input,
    watch: &mut dyn Observer,
) -> Result<(Certificate, Option<Named>, Dataset<'static>)> {
    let failed = AtomicBool::new(false);
    let (loaded, data) = std::thread::scope(|scope| {
        let loading = scope.spawn(|| {
            let loaded = load(arguments, model);
            failed.store(loaded.is_err(), Ordering::Relaxed);
            loaded
        });
        let data =
            read(arguments, input, &Purpose::Training, &mut While { observer: watch, failed: &failed });
        (loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), data)
    });
    let (certificate, model) = loaded?;
    // Labels that should be numbers are for the reader to complain about, or to leave out.
    let purpose = purpose(&certificate);
    let again = matches!(purpose, Purpose::TrainingOnTargets)
        && data.as_ref().map_or(true, |data| data.targets().is_err());
    let data = if again { read(arguments, input, &purpose, watch) } else { data };
    let data = match (data, &model) {
        (Err(error), Some((model, _))) if error.kind() != ErrorKind::Interrupted => {
            read_by_recipe(arguments, model, input, &purpose, watch).map_err(|_| error)
        }
        (data, _) => data,
    }?;
    Ok((certificate, model, data))
}
