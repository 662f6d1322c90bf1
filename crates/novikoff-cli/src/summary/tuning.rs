//! What cross-validation chose among, and what each came to.

use crate::render::{number, percent, table};
use novikoff::evaluate::Metric;
use novikoff::train::{End, Parameter, Tried, Tuned};
use serde_json::{Map, Value, json};

/// What a figure is called where people read it.
pub fn title(by: Metric) -> &'static str {
    match by {
        Metric::Error => "error",
        Metric::Auc => "AUC",
        Metric::LogLoss => "log loss",
        Metric::F1 => "F1",
        Metric::R2 => "R²",
        Metric::Mae => "absolute error",
        Metric::Mse => "squared error",
        Metric::Pinball => "pinball loss",
        Metric::Huber => "huber loss",
    }
}

/// What it is called in JSON.
fn key(by: Metric) -> String {
    by.name().replace('-', "_")
}

/// A figure as people read it.
pub fn figure(by: Metric, value: f64) -> String {
    match by {
        Metric::Error => percent(value),
        Metric::Auc | Metric::F1 | Metric::R2 => format!("{value:.4}"),
        _ => number(value),
    }
}

/// The table, and what there is to say about it. The costs are those of rows that count so much together.
pub fn text(tuned: &Tuned, total: f64) -> String {
    let title = title(tuned.by);
    let mut head = vec!["λ", "cost", title, "±", ""];
    if tuned.parameter == Parameter::Smoothing {
        head.splice(..2, ["smoothing"]);
    }
    let mut lines = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (at, tried) in tuned.path.iter().enumerate() {
        lines.push(line(tuned, tried, total, tuned.best == Some(at)));
    }
    let mut text = format!("{} folds\n{}", tuned.folds, table(&lines));
    for remark in remarks(tuned) {
        text.push_str(&format!("{remark}\n"));
    }
    text
}

fn line(tuned: &Tuned, tried: &Tried, total: f64, is_best: bool) -> Vec<String> {
    let mut line = vec![number(tried.value)];
    if tuned.parameter == Parameter::Lambda {
        line.push(cost(tried.value, total).map_or_else(|| "∞".to_owned(), number));
    }
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| figure(tuned.by, value));
    line.extend([shown(tried.mean), shown(tried.spread), remark_of(tuned, tried, is_best)]);
    line
}

/// C = 1/(λ·n); none without a penalty.
fn cost(lambda: f64, total: f64) -> Option<f64> {
    (lambda > 0.0).then(|| 1.0 / (lambda * total))
}

fn remark_of(tuned: &Tuned, tried: &Tried, is_best: bool) -> String {
    let finished = tried.folds.iter().flatten().count();
    match is_best {
        true if tuned.fit.is_some() => "← chosen".to_owned(),
        _ if tuned.fit.is_none() && finished < tuned.folds => format!("{finished} of {} folds", tuned.folds),
        true => "← best so far".to_owned(),
        false => String::new(),
    }
}

/// What a reader of the table should know.
pub fn remarks(tuned: &Tuned) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Some(edge), Some(_)) = (tuned.edge, &tuned.fit) {
        let (symbol, option) = match tuned.parameter {
            Parameter::Lambda => ("λ", "--lambdas"),
            Parameter::Smoothing => ("smoothing", "--smoothings"),
        };
        let (end, beyond) =
            if edge == End::Strongest { ("largest", "larger") } else { ("smallest", "smaller") };
        remarks.push(format!(
            "The best {symbol} is the {end} of those tried: a {beyond} one may be better still \
             ({option} X,Y)."
        ));
    }
    if tuned.undefined > 0 && tuned.fit.is_some() {
        let (title, left) = (title(tuned.by), tuned.folds - tuned.undefined);
        remarks.push(format!(
            "{title} is undefined in {} of {} folds: the means are over the other {left}.",
            tuned.undefined, tuned.folds
        ));
    }
    remarks
}

/// The same as JSON, but for the model.
pub fn as_json(tuned: &Tuned, total: f64) -> Map<String, Value> {
    let parameter = if tuned.parameter == Parameter::Lambda { "lambda" } else { "smoothing" };
    let entry = |tried: &Tried| {
        let mut entry = Map::from_iter([(parameter.to_owned(), json!(tried.value))]);
        if tuned.parameter == Parameter::Lambda {
            entry.insert("cost".to_owned(), json!(cost(tried.value, total)));
        }
        entry.insert(key(tuned.by), json!(tried.mean));
        entry.insert("spread".to_owned(), json!(tried.spread));
        entry.insert("folds".to_owned(), json!(tried.folds));
        Value::Object(entry)
    };
    let chosen = tuned.chosen().filter(|_| tuned.fit.is_some());
    let edge = tuned.edge.map(|edge| if edge == End::Strongest { "strongest" } else { "weakest" });
    Map::from_iter([
        ("folds".to_owned(), json!(tuned.folds)),
        ("by".to_owned(), json!(tuned.by.name())),
        ("path".to_owned(), tuned.path.iter().map(entry).collect()),
        (parameter.to_owned(), json!(chosen.map(|tried| tried.value))),
        (key(tuned.by), json!(chosen.and_then(|tried| tried.mean))),
        ("edge".to_owned(), json!(edge)),
        ("undefined_folds".to_owned(), json!(tuned.undefined)),
    ])
}
