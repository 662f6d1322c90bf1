//! The commands, one a file.

pub mod bounds;
pub mod compare;
pub mod completions;
pub mod evaluate;
pub mod export;
pub mod import;
pub mod inspect;
pub mod man;
pub mod margin;
pub mod predict;
pub mod rows;
pub mod train;
pub mod tune;
pub mod verify;

use crate::flags::with_options;
use crate::messages;
use crate::render::counted;
use novikoff::Result;
use novikoff::data::Report;
use novikoff::model::{self, Model};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Loads the model of a command that then reads rows. If the rows are a model, the two stand in each other's
/// place.
pub fn load_model(path: &Path, rows: &[PathBuf], command: &str) -> Result<Model> {
    model::load(path).map_err(|error| match rows.iter().find(|path| begins_like_a_model(path)) {
        Some(model) => {
            error.hint(format!("{} is a model, and stands first: {command} MODEL DATA", model.display()))
        }
        None => error,
    })
}

fn begins_like_a_model(path: &Path) -> bool {
    start_of(path).is_some_and(|start| model::is_model(&start))
}

/// The first bytes of a file; none of what is no file, or cannot be read.
pub fn start_of(path: &Path) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    File::open(path).ok().filter(|_| is_file)?.take(START).read_to_end(&mut start).ok()?;
    Some(start)
}

/// As much of a file as tells whether it is a model.
const START: u64 = 64;

/// Warns of what the reader noticed and the user should know.
pub fn warn(name: &str, report: &Report) {
    for warning in &report.warnings {
        messages::warn(&format!("{name}: {}", with_options(warning)), &[]);
    }
    if report.bad_rows > 0 {
        let mut examples: Vec<String> = report.first_bad.iter().map(|bad| with_options(bad)).collect();
        if report.bad_rows > report.first_bad.len() as u64 {
            examples.push("…".to_owned());
        }
        messages::warn(&format!("{name}: {} left out", counted(report.bad_rows, "bad row")), &examples);
    }
    let counts = [
        (report.query_ids, "row", "with a query id (qid:), which is not used"),
        (
            report.unseen_features,
            "value",
            "of features or categories that the model has never seen; they weigh nothing",
        ),
        (report.missing, "missing value", "filled in"),
    ];
    for (count, noun, what) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        messages::warn(&format!("{name}: {} {what}", counted(count, noun)), &[]);
    }
}
