//! How good a model is, in words and as JSON.

use crate::render::{Lines, count, counted, number, percent, table};
use crate::text::name;
use novikoff::data::Labels;
use novikoff::evaluate::{Classification, Evaluation, MeanLoss, Metric, Regression, Retrieval};
use novikoff::train::over_folds;
use serde_json::{Map, Value, json};

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// More classes than this are too many for a table of all.
const LISTED: usize = 30;

/// `15.12 % [14.57 %, 15.68 %] (2,462 of 16,281 rows)`, or for numbers `R² 0.8712, MAE 1.204, RMSE 1.873 (150
/// rows)`.
pub fn error_text(evaluation: &Evaluation) -> String {
    match evaluation {
        Evaluation::Classes(measured) => class_error_text(measured),
        Evaluation::Numbers(measured) => {
            let (r2, mae, rmse) = (r2_text(measured.r2), number(measured.mae), number(measured.rmse));
            let loss = measured.mean_loss.map_or_else(String::new, |it| mean_loss_text(measured, it) + "; ");
            format!(
                "{loss}R² {r2}, MAE {mae}, RMSE {rmse} ({}{})",
                counted(measured.rows, "row"),
                weighted(measured.weighted)
            )
        }
    }
}

/// `mean quantile (level 0.9) loss 0.213, 90.1 % of the rows at or below the prediction`, or of Huber's loss
/// the share of outliers.
pub fn mean_loss_text(measured: &Regression, it: MeanLoss) -> String {
    format!("mean {} loss {}, {}", it.loss.describe(), number(it.mean), share_text(measured, it))
}

/// What the parameter of a loss is about.
fn share_text(measured: &Regression, it: MeanLoss) -> String {
    match it.outliers {
        Some(share) => format!("{} of the rows farther than the width", percent(share)),
        None => format!("{} of the rows at or below the prediction", percent(measured.coverage)),
    }
}

fn weighted(weighted: bool) -> &'static str {
    if weighted { ", weighted" } else { "" }
}

pub fn r2_text(r2: Option<f64>) -> String {
    r2.map_or_else(|| "–".to_owned(), |r2| format!("{r2:.4}"))
}

pub fn class_error_text(measured: &Classification) -> String {
    let interval = measured.interval(CONFIDENCE);
    let interval = interval.map(|(low, high)| format!(" [{}, {}]", percent(low), percent(high)));
    format!(
        "{}{} ({} of {}{})",
        percent(measured.error()),
        interval.unwrap_or_default(),
        count(measured.wrong),
        counted(measured.rows, "row"),
        weighted(measured.weighted),
    )
}

/// Tables of classes; the labels are the model's.
pub fn tables(evaluation: &Evaluation, labels: &Labels) -> String {
    let Evaluation::Classes(measured) = evaluation else { return String::new() };
    let mut text = format!("\n{}", table(&retrieval_table(measured, labels)));
    if labels.len() <= LISTED {
        text.push_str(&format!("\n{}", table(&confusion_table(measured, labels))));
    }
    text
}

/// The figures alone.
pub fn lines(evaluation: &Evaluation) -> Lines {
    match evaluation {
        Evaluation::Numbers(measured) => regression_lines(measured),
        Evaluation::Classes(measured) => class_lines(measured),
    }
}

fn regression_lines(measured: &Regression) -> Lines {
    let mut lines = Lines::default();
    let undefined = || "undefined: all targets are the same".to_owned();
    if let Some(it) = measured.mean_loss {
        lines.add("loss", mean_loss_text(measured, it));
    }
    lines.add("R²", measured.r2.map_or_else(undefined, |r2| r2_text(Some(r2))));
    lines.add("MAE", number(measured.mae));
    lines.add("RMSE", number(measured.rmse));
    lines.add("median error", number(measured.median_absolute_error));
    lines.add("largest error", number(measured.max_error));
    lines.add("rows", format!("{}{}", count(measured.rows), weighted(measured.weighted)));
    lines
}

fn class_lines(measured: &Classification) -> Lines {
    let mut lines = Lines::default();
    let confidence = if measured.weighted { "" } else { " at 95 % confidence" };
    lines.add("error", format!("{}{confidence}", class_error_text(measured)));
    let micro = "also the micro average of precision, recall and F1";
    lines.add("accuracy", format!("{} ({micro})", percent(1.0 - measured.error())));
    if let Some(balanced) = measured.balanced_accuracy() {
        lines.add("balanced accuracy", percent(balanced));
    }
    if measured.confusion.len() == 2 {
        let undefined = || "undefined: all rows are of one class".to_owned();
        lines.add("AUC", measured.auc.map_or_else(undefined, |auc| format!("{auc:.4}")));
        let undefined = || "undefined: no row is of the positive class".to_owned();
        let average = measured.average_precision;
        lines.add("average precision", average.map_or_else(undefined, |average| format!("{average:.4}")));
    }
    if let Some(log_loss) = measured.log_loss {
        lines.add("log loss", number(log_loss));
    }
    if let Some(brier) = measured.brier {
        lines.add("Brier score", number(brier));
    }
    lines
}

/// Precision, recall and F1 of each class, and their averages.
fn retrieval_table(measured: &Classification, labels: &Labels) -> Vec<Vec<String>> {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    let weight = |value: f64| if measured.weighted { number(value) } else { count(value as u64) };
    let row = |name: &str, of: &Retrieval| {
        vec![name.to_owned(), figure(of.precision), figure(of.recall), figure(of.f1), weight(of.support)]
    };
    let rows = if measured.weighted { "weight" } else { "rows" };
    let mut lines = vec![["class", "precision", "recall", "F1", rows].map(str::to_owned).to_vec()];
    if labels.len() <= LISTED {
        lines.extend(labels.names().iter().zip(&measured.classes()).map(|(label, of)| row(&name(label), of)));
    }
    lines.push(row("macro average", &measured.macro_average()));
    lines.push(row("weighted average", &measured.weighted_average()));
    lines
}

fn confusion_table(measured: &Classification, labels: &Labels) -> Vec<Vec<String>> {
    let weight = |value: f64| if measured.weighted { number(value) } else { count(value as u64) };
    let names: Vec<String> = labels.names().iter().map(|label| name(label)).collect();
    let mut rows = vec![vec!["true \\ predicted".to_owned()]];
    rows[0].extend(names.iter().cloned());
    rows[0].push("error".into());
    for (class, counts) in measured.confusion.iter().enumerate() {
        let total: f64 = counts.iter().sum();
        let mut row = vec![names[class].clone()];
        row.extend(counts.iter().map(|c| weight(*c)));
        let error = if total > 0.0 { percent((total - counts[class]) / total) } else { "–".into() };
        row.push(error);
        rows.push(row);
    }
    if !measured.unknown.is_empty() {
        let counts = measured.unknown.iter().map(|c| weight(*c));
        rows.push(std::iter::once("(never seen)".to_owned()).chain(counts).chain([percent(1.0)]).collect());
    }
    rows
}

/// All figures, with null for what does not apply or is undefined.
pub fn as_json(evaluation: &Evaluation, labels: &Labels) -> Map<String, Value> {
    let (classes, numbers) = match evaluation {
        Evaluation::Classes(measured) => (Some(measured), None),
        Evaluation::Numbers(measured) => (None, Some(measured)),
    };
    let weighted = classes.map_or_else(|| numbers.is_some_and(|it| it.weighted), |it| it.weighted);
    let single = classes.map(single);
    let all = json!({
        "rows": evaluation.rows(),
        "weighted": weighted,
        "error": evaluation.error(),
        "accuracy": evaluation.error().map(|error| 1.0 - error),
        "interval": classes.and_then(|it| it.interval(CONFIDENCE)),
        "labels": classes.map(|_| labels.names()),
        "confusion": classes.map(confusion_json),
        "balanced_accuracy": classes.and_then(Classification::balanced_accuracy),
        "precision": single.and_then(|it| it.precision),
        "recall": single.and_then(|it| it.recall),
        "f1": single.and_then(|it| it.f1),
        "classes": classes.map(|it| classes_json(it, labels)),
        "macro": classes.map(|it| retrieval_json(&it.macro_average())),
        "weighted_average": classes.map(|it| retrieval_json(&it.weighted_average())),
        "auc": classes.and_then(|it| it.auc),
        "average_precision": classes.and_then(|it| it.average_precision),
        "log_loss": classes.and_then(|it| it.log_loss),
        "brier": classes.and_then(|it| it.brier),
        "r2": numbers.and_then(|it| it.r2),
        "mae": numbers.map(|it| it.mae),
        "rmse": numbers.map(|it| it.rmse),
        "median_absolute_error": numbers.map(|it| it.median_absolute_error),
        "max_error": numbers.map(|it| it.max_error),
    });
    let mut all = if let Value::Object(all) = all { all } else { Map::new() };
    if let Some(measured) = classes.filter(|measured| !measured.unknown.is_empty()) {
        all.insert("confusion_of_unknown".to_owned(), json!(unknown_json(measured)));
    }
    if let Some((measured, it)) = numbers.and_then(|measured| Some((measured, measured.mean_loss?))) {
        all.insert(Metric::usual(Some(it.loss)).name().to_owned(), json!(it.mean));
        all.insert("coverage".to_owned(), json!(measured.coverage));
        all.extend(it.outliers.map(|share| ("outliers".to_owned(), json!(share))));
    }
    all
}

/// Of two classes the figures of the positive one, of more their averages.
fn single(measured: &Classification) -> Retrieval {
    match measured.classes()[..] {
        [_, positive] => positive,
        _ => measured.macro_average(),
    }
}

fn classes_json(measured: &Classification, labels: &Labels) -> Vec<Value> {
    let of = |(label, of): (&String, &Retrieval)| {
        let mut class = retrieval_json(of);
        class.insert("label".to_owned(), json!(label));
        class.insert("support".to_owned(), whole(of.support));
        Value::Object(class)
    };
    labels.names().iter().zip(&measured.classes()).map(of).collect()
}

fn retrieval_json(of: &Retrieval) -> Map<String, Value> {
    let figures = [("precision", of.precision), ("recall", of.recall), ("f1", of.f1)];
    figures.into_iter().map(|(name, figure)| (name.to_owned(), json!(figure))).collect()
}

/// What rows with labels that the model does not know are taken for.
fn unknown_json(measured: &Classification) -> Vec<Value> {
    measured.unknown.iter().map(|count| whole(*count)).collect()
}

fn confusion_json(measured: &Classification) -> Vec<Vec<Value>> {
    measured.confusion.iter().map(|row| row.iter().map(|count| whole(*count)).collect()).collect()
}

/// Counts of rows as whole numbers; weights as they are.
fn whole(count: f64) -> Value {
    if count.fract() == 0.0 && count < 9e15 { json!(count as u64) } else { json!(count) }
}

/// A figure by its names: for people, and in JSON.
struct Figure {
    title: &'static str,
    key: &'static str,
    of: fn(&Evaluation) -> Option<f64>,
    /// Whether it is a share of rows.
    is_share: bool,
}

fn classes(evaluation: &Evaluation) -> Option<&Classification> {
    if let Evaluation::Classes(measured) = evaluation { Some(measured) } else { None }
}

fn numbers(evaluation: &Evaluation) -> Option<&Regression> {
    if let Evaluation::Numbers(measured) = evaluation { Some(measured) } else { None }
}

/// Of models of a quantile: the share of rows at or below the prediction.
fn coverage(evaluation: &Evaluation) -> Option<f64> {
    Metric::Pinball.of(evaluation)?;
    Some(numbers(evaluation)?.coverage)
}

/// The figures that are averaged over folds.
const FIGURES: [Figure; 17] = [
    Figure { title: "error", key: "error", of: Evaluation::error, is_share: true },
    Figure {
        title: "balanced accuracy",
        key: "balanced_accuracy",
        of: |it| classes(it)?.balanced_accuracy(),
        is_share: true,
    },
    Figure { title: "precision", key: "precision", of: |it| single(classes(it)?).precision, is_share: false },
    Figure { title: "recall", key: "recall", of: |it| single(classes(it)?).recall, is_share: false },
    Figure { title: "F1", key: "f1", of: |it| single(classes(it)?).f1, is_share: false },
    Figure { title: "AUC", key: "auc", of: |it| classes(it)?.auc, is_share: false },
    Figure {
        title: "average precision",
        key: "average_precision",
        of: |it| classes(it)?.average_precision,
        is_share: false,
    },
    Figure { title: "log loss", key: "log_loss", of: |it| classes(it)?.log_loss, is_share: false },
    Figure { title: "Brier score", key: "brier", of: |it| classes(it)?.brier, is_share: false },
    Figure { title: "R²", key: "r2", of: |it| numbers(it)?.r2, is_share: false },
    Figure { title: "MAE", key: "mae", of: |it| Some(numbers(it)?.mae), is_share: false },
    Figure { title: "RMSE", key: "rmse", of: |it| Some(numbers(it)?.rmse), is_share: false },
    Figure {
        title: "median error",
        key: "median_absolute_error",
        of: |it| Some(numbers(it)?.median_absolute_error),
        is_share: false,
    },
    Figure {
        title: "largest error",
        key: "max_error",
        of: |it| Some(numbers(it)?.max_error),
        is_share: false,
    },
    Figure { title: "pinball loss", key: "pinball", of: |it| Metric::Pinball.of(it), is_share: false },
    Figure { title: "huber loss", key: "huber", of: |it| Metric::Huber.of(it), is_share: false },
    Figure { title: "coverage", key: "coverage", of: coverage, is_share: true },
];

/// The figures of these folds: all but those of losses that were not minimised.
fn figures(folds: &[Evaluation]) -> Vec<&'static Figure> {
    let is_of_loss = |figure: &Figure| ["pinball", "huber", "coverage"].contains(&figure.key);
    let is_there = |figure: &Figure| folds.iter().any(|fold| (figure.of)(fold).is_some());
    FIGURES.iter().filter(|figure| !is_of_loss(figure) || is_there(figure)).collect()
}

/// The mean of each figure over folds, with its standard error.
pub fn means_table(folds: &[Evaluation]) -> String {
    let mut lines = vec![["mean over folds", "", "±", ""].map(str::to_owned).to_vec()];
    for figure in &FIGURES {
        let (mean, spread) = over_folds(folds, figure.of);
        let shown = |value: f64| if figure.is_share { percent(value) } else { format!("{value:.4}") };
        let shown = |value: f64| {
            let is_number = numbers(&folds[0]).is_some() && figure.key != "r2" && !figure.is_share;
            if is_number { number(value) } else { shown(value) }
        };
        let Some(mean) = mean else { continue };
        let defined = folds.iter().filter(|fold| (figure.of)(fold).is_some()).count();
        let remark = match defined < folds.len() {
            true => format!("undefined in {} of {} folds", folds.len() - defined, folds.len()),
            false => String::new(),
        };
        let spread = spread.map_or_else(|| "–".to_owned(), shown);
        lines.push(vec![figure.title.to_owned(), shown(mean), spread, remark]);
    }
    table(&lines)
}

/// The same as JSON: the mean and its standard error under each figure's name.
pub fn means_json(folds: &[Evaluation]) -> Value {
    let of = |figure: &&Figure| {
        let (mean, spread) = over_folds(folds, figure.of);
        (figure.key.to_owned(), json!(mean.map(|mean| json!({"mean": mean, "spread": spread}))))
    };
    Value::Object(figures(folds).iter().map(of).collect())
}

/// The figures of each fold.
pub fn folds_json(folds: &[Evaluation]) -> Vec<Value> {
    let all = figures(folds);
    let of = |fold: &Evaluation| {
        let figures = all.iter().map(|figure| (figure.key.to_owned(), json!((figure.of)(fold))));
        Value::Object([("rows".to_owned(), json!(fold.rows()))].into_iter().chain(figures).collect())
    };
    folds.iter().map(of).collect()
}
