//! `novikoff verify`: does a certificate hold? Nothing in it is believed.

use super::{start_of, warn};
use crate::arguments::Verify;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::settings::{open, training_options};
use crate::text::line;
use novikoff::Result;
use novikoff::certificate::Certificate;
use novikoff::control::{Flow, Observer, Progress};
use novikoff::data::Dataset;
use novikoff::features::text::TextRecipe;
use novikoff::model::{self, Model};
use novikoff::read::{Input, Purpose};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model and the checksum of its file.
type Named = (Model, String);

/// Runs the command.
pub fn run(arguments: &Verify) -> Result<Ending> {
    let input = Input::named(&arguments.data);
    let mut watch = Watch::new();
    let (certificate, model, data) = match arguments.data.is_file() {
        true => load_and_read(arguments, &input, &mut watch)?,
        false => {
            let (certificate, model) = load(arguments)?;
            let data = read(arguments, &input, &purpose(&certificate), &mut watch)?;
            (certificate, model, data)
        }
    };
    watch.clear();
    warn(&input.name(), &data.report);
    let mut checked = certificate.check(&data);
    if let Some((model, checksum)) = model {
        checked.insert(1, certificate.check_model(&model, &checksum, &data));
    }
    let holds = checked.iter().all(|claim| claim.holds);
    let text = if arguments.output_form.json {
        let claims: Vec<_> = checked
            .iter()
            .map(|c| json!({"claim": c.claim, "holds": c.holds, "detail": c.detail, "question": c.question}))
            .collect();
        format!(
            "{}\n",
            json!({"command": "verify", "holds": holds, "claims": claims, "warnings": warnings()})
        )
    } else {
        let mut text = String::new();
        for claim in &checked {
            let mark = if claim.holds { "holds" } else { "FAILS" };
            text += &format!("{mark}  {}\n       {}\n", line(&claim.claim), line(&claim.detail));
        }
        if let (Some(named), None) = (&certificate.model, &arguments.model) {
            text += &format!(
                "not checked: whether the weights are those of the model {}; give its file to see\n",
                line(named)
            );
        }
        text + if holds { "the certificate holds\n" } else { "the certificate does NOT hold\n" }
    };
    print(&text)?;
    Ok(if holds { Ending::Done } else { Ending::No })
}

/// The certificate, and the model with its checksum, if one is given. One after the other, for the model's
/// file then has its bytes where the certificate's text was.
fn load(arguments: &Verify) -> Result<(Certificate, Option<Named>)> {
    let is_object = |start: Vec<u8>| start.trim_ascii_start().starts_with(b"{");
    let certificate = Certificate::load(&arguments.certificate).map_err(|error| {
        match start_of(&arguments.certificate).is_some_and(|start| !is_object(start)) {
            true => error.hint("the certificate stands first: verify CERTIFICATE DATA [MODEL]"),
            false => error,
        }
    })?;
    let model = arguments.model.as_ref().map(|path| model::load_with_checksum(path)).transpose()?;
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
    input: &Input,
    watch: &mut dyn Observer,
) -> Result<(Certificate, Option<Named>, Dataset<'static>)> {
    let failed = AtomicBool::new(false);
    let (loaded, data) = std::thread::scope(|scope| {
        let loading = scope.spawn(|| {
            let loaded = load(arguments);
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
    let data = if again { read(arguments, input, &purpose, watch) } else { data }?;
    Ok((certificate, model, data))
}
