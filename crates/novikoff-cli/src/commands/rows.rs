//! `novikoff rows`: the rows as they are read, in the form that certificates name by its hash.

use super::warn;
use crate::arguments::Rows;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::Lines;
use crate::settings::{map, training_options};
use crate::summary::model::{add_guessed_label, dimensions};
use novikoff::data::canonical::{MAGIC, Origin};
use novikoff::features::map::Mapper;
use novikoff::features::text::TextRecipe;
use novikoff::model::atomic;
use novikoff::read::{Input, Purpose, Reader};
use novikoff::{Error, Result};
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &Rows) -> Result<Ending> {
    refuse_other_files(&arguments.file)?;
    let wanted = arguments.map.as_deref().map(|text| map(text, arguments.seed)).transpose()?;
    let input = Input::named(&arguments.data);
    let mut watch = Watch::new();
    let options = training_options(&arguments.reading, &arguments.documents, TextRecipe::default())?;
    let data = Reader::open(&input, &options, &Purpose::Training)?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let mapped = match wanted {
        Some(map) => Some(data.mapped(&Mapper::new(map, data.rows.columns())?)?),
        None => None,
    };
    let rows = mapped.as_ref().unwrap_or(&data);
    let origin = Origin { map: wanted, ..data.origin() };
    atomic::write_with(&arguments.file, |file| {
        rows.write_canonical(origin, &mut |part| file.write_all(part))
    })?;
    let hash = rows.fingerprint_of(origin);
    if arguments.output_form.json {
        let what = json!({
            "command": "rows",
            "rows": rows.len(),
            "features": rows.rows.columns(),
            "hash": hash,
            "file": arguments.file,
        });
        print(&format!("{what}\n"))?;
    } else {
        let mut lines = Lines::default();
        add_guessed_label(&mut lines, rows.report.guessed_label.as_deref());
        lines.add("rows", dimensions(rows));
        lines.add("hash", hash);
        lines.add("file", arguments.file.display().to_string());
        print(&lines.text())?;
    }
    Ok(Ending::Done)
}

/// Only a file of rows is replaced: anything else that is there may be somebody's data.
fn refuse_other_files(path: &Path) -> Result<()> {
    let name = path.display().to_string();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io(&name, &error)),
    };
    // A pipe or a device is written to, not replaced.
    if !file.metadata().map_err(|error| Error::io(&name, &error))?.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(|error| Error::io(&name, &error))?;
    if start.is_empty() || start == MAGIC {
        return Ok(());
    }
    let refused = Error::usage("this file is there already, and is no file of rows: it is not replaced")
        .at(&name, 0, 0);
    Err(refused.hint("choose another name"))
}
