//! `novikoff evaluate`: error with its interval, confusion, area under the curve, log loss; R² and its kin
//! for regression.

use super::warn;
use crate::arguments::Evaluate;
use crate::messages::warnings;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{Lines, count, number, percent, table};
use crate::settings::{Use, options_for};
use crate::summary::evaluation::{CONFIDENCE, class_error_text, r2_text};
use novikoff::Result;
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::model::{self, Model};
use novikoff::read::{Input, Reader};
use serde_json::{Value, json};

/// Runs the command.
pub fn run(arguments: &Evaluate) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    let input = Input::named(&arguments.data);
    let mut watch = Watch::new();
    let options = options_for(&arguments.reading, &model, Use::Evaluation)?;
    let data = Reader::open(&input, &options, &model.for_evaluation())?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    let evaluation = evaluate(&model, &data)?;
    if arguments.output_form.json {
        print(&format!("{}\n", as_json(&model, &evaluation)))?;
    } else {
        print(&as_text(&model, &evaluation))?;
    }
    Ok(Ending::Done)
}

fn as_json(model: &Model, evaluation: &Evaluation) -> Value {
    let (classes, numbers) = match evaluation {
        Evaluation::Classes(measured) => (Some(measured), None),
        Evaluation::Numbers(measured) => (None, Some(measured)),
    };
    json!({
        "command": "evaluate",
        "rows": evaluation.rows(),
        "error": evaluation.error(),
        "accuracy": evaluation.error().map(|error| 1.0 - error),
        "interval": classes.map(|measured| measured.interval(CONFIDENCE)),
        "labels": classes.map(|_| model.labels.names()),
        "confusion": classes.map(|measured| &measured.confusion),
        "auc": classes.and_then(|measured| measured.auc),
        "log_loss": classes.and_then(|measured| measured.log_loss),
        "r2": numbers.and_then(|measured| measured.r2),
        "mae": numbers.map(|measured| measured.mae),
        "rmse": numbers.map(|measured| measured.rmse),
        "warnings": warnings(),
    })
}

fn as_text(model: &Model, evaluation: &Evaluation) -> String {
    let mut lines = Lines::default();
    let measured = match evaluation {
        Evaluation::Classes(measured) => measured,
        Evaluation::Numbers(measured) => {
            let r2 =
                measured.r2.map_or_else(|| "–: all targets are the same".to_owned(), |r2| r2_text(Some(r2)));
            lines.add("R²", r2);
            lines.add("MAE", number(measured.mae));
            lines.add("RMSE", number(measured.rmse));
            lines.add("rows", count(measured.rows));
            return lines.text();
        }
    };
    lines.add("error", format!("{} at 95 % confidence", class_error_text(measured)));
    lines.add("accuracy", percent(1.0 - measured.error()));
    if let Some(auc) = measured.auc {
        lines.add("AUC", format!("{auc:.4}"));
    }
    if let Some(log_loss) = measured.log_loss {
        lines.add("log loss", number(log_loss));
    }
    let mut text = lines.text();
    let names = model.labels.names();
    if names.len() <= 30 {
        let mut rows = vec![vec!["true \\ predicted".to_owned()]];
        rows[0].extend(names.iter().cloned());
        rows[0].push("error".into());
        for (class, counts) in measured.confusion.iter().enumerate() {
            let total: u64 = counts.iter().sum();
            let mut row = vec![names[class].clone()];
            row.extend(counts.iter().map(|c| count(*c)));
            row.push(if total > 0 {
                percent((total - counts[class]) as f64 / total as f64)
            } else {
                "–".into()
            });
            rows.push(row);
        }
        text.push('\n');
        text.push_str(&table(&rows));
    }
    text
}
