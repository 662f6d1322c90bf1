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
use novikoff::data::Report;

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
