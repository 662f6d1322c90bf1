//! `novikoff verify`: does a certificate hold? Nothing in it is believed.

use super::warn;
use crate::arguments::Verify;
use crate::progress::Watch;
use crate::settings::training_options;
use crate::{Ending, print};
use novikoff::certificate::file::Certificate;
use novikoff::features::text::TextRecipe;
use novikoff::read::{Input, Purpose, Reader};
use novikoff::{Error, Result, model};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger than any certificate that this program writes.
const MOST_BYTES: u64 = 1 << 30;

/// Runs the command.
pub fn run(arguments: &Verify) -> Result<Ending> {
    let load = |path: &PathBuf| model::load_with_checksum(path);
    let (certificate, model) = rayon::join(|| read(&arguments.certificate), || arguments.model.as_ref().map(load).transpose());
    let (certificate, model) = (certificate?, model?);
    let mut watch = Watch::new();
    let input = Input::named(&arguments.data);
    let purpose = if certificate.speaks_of_numbers() { Purpose::TrainingOnTargets } else { Purpose::Training };
    let options = training_options(&arguments.reading, &arguments.documents, TextRecipe::default())?;
    let data = Reader::open(&input, &options, &purpose)?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let of_model = || model.as_ref().map(|(model, checksum)| certificate.check_model(model, checksum));
    let (mut checked, of_model) = rayon::join(|| certificate.check(&data), of_model);
    if let Some(of_model) = of_model {
        checked.insert(1, of_model);
    }
    let holds = checked.iter().all(|claim| claim.holds);
    let text = if arguments.output_form.json {
        let claims: Vec<_> = checked.iter().map(|c| json!({"claim": c.claim, "holds": c.holds, "detail": c.detail})).collect();
        format!("{}\n", json!({"command": "verify", "holds": holds, "claims": claims}))
    } else {
        let mut text = String::new();
        for claim in &checked {
            let mark = if claim.holds { "holds" } else { "FAILS" };
            text += &format!("{mark}  {}\n       {}\n", claim.claim, claim.detail);
        }
        if let (Some(named), None) = (&certificate.model, &arguments.model) {
            text += &format!("not checked: whether the weights are those of the model {named}; give its file to see\n");
        }
        text + if holds { "the certificate holds\n" } else { "the certificate does NOT hold\n" }
    };
    print(&text)?;
    Ok(if holds { Ending::Done } else { Ending::No })
}

/// The certificate in a file.
fn read(path: &Path) -> Result<Certificate> {
    let name = path.display().to_string();
    let fail = |error: &std::io::Error| Error::io(&name, error);
    let refuse = |what: &str| Error::input(what).at(&name, 0, 0);
    let file = File::open(path).map_err(|error| fail(&error))?;
    // A pipe has no length; whatever is said here, no more is read than is allowed.
    let length = file.metadata().map_err(|error| fail(&error))?.len();
    let mut bytes = Vec::new();
    if length > MOST_BYTES || bytes.try_reserve_exact(length as usize + 1).is_err() {
        return Err(refuse("this is too large for a certificate"));
    }
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fail(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refuse("this is too large for a certificate"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("this is no certificate: it is not UTF-8"))?;
    Certificate::from_text(&text).map_err(|what| refuse(&what))
}
