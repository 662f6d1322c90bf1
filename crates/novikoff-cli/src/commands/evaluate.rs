//! `novikoff evaluate`: error with its interval, confusion, area under the curve.

use super::{for_evaluation, warn};
use crate::arguments::Evaluate;
use crate::progress::Watch;
use crate::render::{Lines, count, counted, percent, table};
use crate::settings::options;
use crate::{Ending, print};
use novikoff::Result;
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::model::{self, Model};
use novikoff::read::{Input, Reader};
use serde_json::{Value, json};

/// Of the intervals that are shown.
pub const CONFIDENCE: f64 = 0.95;

/// Runs the command.
pub fn run(arguments: &Evaluate) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    let input = Input::named(&arguments.data);
    let mut watch = Watch::new();
    let data = Reader::open(&input, &options(&arguments.reading)?, &for_evaluation(&model))?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let evaluation = evaluate(&model, &data);
    if arguments.output_form.json {
        print(&format!("{}\n", as_json(&model, &evaluation)))?;
    } else {
        print(&as_text(&model, &evaluation))?;
    }
    Ok(Ending::Done)
}

fn as_json(model: &Model, evaluation: &Evaluation) -> Value {
    let (low, high) = evaluation.interval(CONFIDENCE);
    json!({
        "command": "evaluate",
        "rows": evaluation.rows,
        "error": evaluation.error(),
        "accuracy": 1.0 - evaluation.error(),
        "interval": [low, high],
        "labels": model.labels.names(),
        "confusion": evaluation.confusion,
        "auc": evaluation.auc,
        "log_loss": null,
        "r2": null,
        "mae": null,
    })
}

/// `15.12 % [14.57 %, 15.68 %]`.
pub fn error_text(evaluation: &Evaluation) -> String {
    let (low, high) = evaluation.interval(CONFIDENCE);
    format!(
        "{} [{}, {}] ({} of {})",
        percent(evaluation.error()),
        percent(low),
        percent(high),
        count(evaluation.wrong),
        counted(evaluation.rows, "row")
    )
}

fn as_text(model: &Model, evaluation: &Evaluation) -> String {
    let mut lines = Lines::default();
    lines.add("error", format!("{} at 95 % confidence", error_text(evaluation)));
    lines.add("accuracy", percent(1.0 - evaluation.error()));
    if let Some(auc) = evaluation.auc {
        lines.add("AUC", format!("{auc:.4}"));
    }
    let mut text = lines.text();
    let names = model.labels.names();
    if names.len() <= 30 {
        let mut rows = vec![vec!["true \\ predicted".to_owned()]];
        rows[0].extend(names.iter().cloned());
        rows[0].push("error".into());
        for (class, counts) in evaluation.confusion.iter().enumerate() {
            let total: u64 = counts.iter().sum();
            let mut row = vec![names[class].clone()];
            row.extend(counts.iter().map(|c| count(*c)));
            row.push(if total > 0 { percent((total - counts[class]) as f64 / total as f64) } else { "–".into() });
            rows.push(row);
        }
        text.push('\n');
        text.push_str(&table(&rows));
    }
    text
}
