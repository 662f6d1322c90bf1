//! The commands, one a file.

pub mod bounds;
pub mod compare;
pub mod evaluate;
pub mod inspect;
pub mod margin;
pub mod predict;
pub mod rows;
pub mod train;
pub mod tune;
pub mod verify;

use crate::flags::with_options;
use crate::render;
use novikoff::data::Report;
use std::io::Write;

/// Says on standard error what the reader noticed and the user should know.
pub fn warn(name: &str, report: &Report) {
    let mut lines: Vec<String> = report.warnings.iter().map(|warning| with_options(warning)).collect();
    if report.bad_rows > 0 {
        lines.push(format!("{} left out", render::counted(report.bad_rows, "bad row")));
        lines.extend(report.first_bad.iter().map(|bad| format!("  {}", with_options(bad))));
        if report.bad_rows > report.first_bad.len() as u64 {
            lines.push("  …".into());
        }
    }
    if report.query_ids > 0 {
        lines.push(format!(
            "{} with a query id (qid:), which is not used",
            render::counted(report.query_ids, "row")
        ));
    }
    if report.unseen_features > 0 {
        lines.push(format!(
            "{} of features or categories that the model has never seen; they weigh nothing",
            render::counted(report.unseen_features, "value")
        ));
    }
    if report.missing > 0 {
        lines.push(format!("{} filled in", render::counted(report.missing, "missing value")));
    }
    let mut stderr = std::io::stderr().lock();
    for line in lines {
        let _ = writeln!(
            stderr,
            "{}{line}",
            if line.starts_with("  ") { String::new() } else { format!("warning: {name}: ") }
        );
    }
}
