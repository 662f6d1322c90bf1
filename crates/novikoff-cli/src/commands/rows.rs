//! `novikoff rows`: the rows as they are read, in the form that certificates name by its hash.

use super::warn;
use crate::arguments::Rows;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{Lines, dimensions};
use crate::settings::{map, open, training_options};
use crate::summary::model::add_guessed_label;
use crate::{files, interrupt};
use novikoff::Result;
use novikoff::data::canonical::Origin;
use novikoff::features::map::Mapper;
use novikoff::features::text::TextRecipe;
use novikoff::read::{Input, Purpose};
use serde_json::json;
use std::io::Write;

/// Runs the command.
pub fn run(arguments: &Rows) -> Result<Ending> {
    let wanted = arguments.map.as_deref().map(|text| map(text, arguments.seed)).transpose()?;
    let input = Input::all_named(&arguments.data);
    let mut watch = Watch::new();
    let options = training_options(&arguments.reading, &arguments.documents, TextRecipe::default())?;
    let data = open(&input, &options, &Purpose::Training, &arguments.documents)?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let mapped = match wanted {
        Some(map) => Some(data.mapped(&Mapper::new(map, data.rows.columns())?)?),
        None => None,
    };
    let rows = mapped.as_ref().unwrap_or(&data);
    let origin = Origin { map: wanted, ..data.origin() };
    files::write_with(&arguments.file, |file| {
        rows.write_canonical(origin, &mut |part| file.write_all(part))
    })?;
    interrupt::nothing_to_keep(format!("interrupted: the rows are in {}", arguments.file.display()));
    let hash = rows.fingerprint_of(origin);
    if arguments.output_form.json {
        let what = json!({
            "command": "rows",
            "rows": rows.len(),
            "features": rows.rows.columns(),
            "hash": hash,
            "file": arguments.file,
            "warnings": warnings(),
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
