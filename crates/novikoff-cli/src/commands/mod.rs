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

use crate::render;
use novikoff::data::{Dataset, Report};
use novikoff::model::{Model, Task};
use novikoff::read::Purpose;
use std::io::Write;

/// What a model asks of rows that it is to be measured on.
pub fn for_evaluation(model: &Model) -> Purpose<'_> {
    let (schema, features) = (&model.schema, model.features());
    match model.task() {
        Task::Classes => Purpose::Evaluation { labels: &model.labels, schema, features },
        Task::Regression => Purpose::EvaluationOnTargets { schema, features },
    }
}

/// What a model asks of rows that it is to label.
pub fn for_prediction(model: &Model) -> Purpose<'_> {
    Purpose::Prediction { labels: &model.labels, schema: &model.schema, features: model.features() }
}

/// Says on standard error what the reader noticed and the user should know.
pub fn warn(name: &str, report: &Report) {
    let mut lines = Vec::new();
    if report.bad_rows > 0 {
        lines.push(format!("{} left out", render::counted(report.bad_rows, "bad row")));
        lines.extend(report.first_bad.iter().map(|bad| format!("  {bad}")));
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

/// `32,561 rows × 123 features, 451,592 nonzeros`.
pub fn dimensions(data: &Dataset) -> String {
    let rows = render::counted(data.len() as u64, "row");
    let features = render::counted(data.rows.columns() as u64, "feature");
    format!("{rows} × {features}, {}", render::counted(data.rows.nonzeros() as u64, "nonzero"))
}

/// How the labels are numbered: `-1 (−), 1 (+)`, or the list of them.
pub fn labels(model: &Model) -> String {
    let names = model.labels.names();
    match names {
        [] => "none: it predicts a number".to_owned(),
        [negative, positive] if model.scorer.outputs() == 1 => format!("{negative} (−), {positive} (+)"),
        names if names.len() > 30 => format!("{}, … ({})", names[..30].join(", "), names.len()),
        names => names.join(", "),
    }
}
