//! `novikoff inspect`: what a model is, and its heaviest weights by name.

use crate::arguments::Inspect;
use crate::output::{Ending, print};
use crate::render::{Lines, count, counted, number, table};
use crate::summary::model::{Heavy, heaviest, labels, map_text, output_label, settings_text};
use crate::text::name;
use novikoff::features::Schema;
use novikoff::features::namespaces::{FeatureNumbering, NamespaceSchema};
use novikoff::features::text::{Counting, Lengths, TextSchema, Vocabulary};
use novikoff::kernel::Kernel;
use novikoff::model::{self, Calibration, Model, Network, Scorer, Task, Weights};
use novikoff::{Error, Result};
use serde_json::{Value, json};

/// How many weights of a class are shown where nobody asks for a number.
const TOP: usize = 10;

/// Runs the command.
pub fn run(arguments: &Inspect) -> Result<Ending> {
    let model = model::load(&arguments.model)?;
    if arguments.top.is_some() && model.scorer.weights().is_none() {
        let error = Error::usage("--top has no effect: this model has no weights of features to show");
        return Err(error.hint("leave out --top"));
    }
    let top = arguments.top.unwrap_or(TOP);
    let text =
        if arguments.output_form.json { format!("{}\n", as_json(&model, top)) } else { as_text(&model, top) };
    print(&text)?;
    Ok(Ending::Done)
}

/// What an output's weights add up to.
fn output_text(model: &Model, output: usize) -> String {
    output_label(model, output)
        .map_or_else(|| "the number predicted".to_owned(), |label| format!("evidence for {}", name(label)))
}

/// How probabilities come about, in words.
fn calibration_text(calibration: &Calibration) -> String {
    match calibration {
        Calibration::Logistic => "the sigmoid of the score".to_owned(),
        Calibration::Softmax => "the softmax of the scores".to_owned(),
        Calibration::Platt(all) => match all.as_slice() {
            [platt] => {
                let sign = if platt.b < 0.0 { '−' } else { '+' };
                format!("Platt's: the sigmoid of {}·score {sign} {}", number(platt.a), number(platt.b.abs()))
            }
            all => format!("Platt's: a sigmoid per label, {} of them", all.len()),
        },
        Calibration::Isotonic(all) => {
            let points: usize = all.iter().map(|steps| steps.scores.len()).sum();
            format!("isotonic: steps through {} in all", counted(points as u64, "point"))
        }
    }
}

fn calibration_json(calibration: &Calibration) -> Value {
    match calibration {
        Calibration::Logistic | Calibration::Softmax => json!({"kind": calibration.name()}),
        Calibration::Platt(all) => {
            let outputs: Vec<_> = all.iter().map(|platt| json!({"a": platt.a, "b": platt.b})).collect();
            json!({"kind": calibration.name(), "outputs": outputs})
        }
        Calibration::Isotonic(all) => {
            let outputs: Vec<_> =
                all.iter().map(|steps| json!({"scores": steps.scores, "values": steps.values})).collect();
            json!({"kind": calibration.name(), "outputs": outputs})
        }
    }
}

fn schema_text(schema: &Schema) -> String {
    match schema {
        Schema::Indexed { base } => format!("by index, from {base}"),
        Schema::Named(dictionary) => format!("{} by name", count(dictionary.len() as u64)),
        Schema::Hashed { bits } => format!("hashed to {bits} bits"),
        Schema::Namespaces(namespaces) => of_namespaces(namespaces),
        Schema::Table(table) => {
            let interactions: Vec<String> =
                table.interactions.iter().map(|interaction| interaction.columns.join("*")).collect();
            let columns = counted(table.columns.len() as u64, "column");
            format!("columns of a table: {columns}{}", interactions_text(&interactions))
        }
        Schema::Text(text) => text_schema(text),
    }
}

fn of_namespaces(namespaces: &NamespaceSchema) -> String {
    let how = match &namespaces.numbering {
        FeatureNumbering::Named(dictionary) => format!("{} by name", count(dictionary.len() as u64)),
        FeatureNumbering::Hashed { bits } => format!("hashed to {bits} bits"),
        FeatureNumbering::Murmur(murmur) => {
            format!("hashed to {} bits by Vowpal Wabbit's hash", murmur.bits)
        }
    };
    how + &interactions_text(namespaces.interactions.letters())
}

fn interactions_text(interactions: &[String]) -> String {
    if interactions.is_empty() {
        return String::new();
    }
    format!(", interactions {}", interactions.join(", "))
}

fn text_schema(text: &TextSchema) -> String {
    let recipe = text.recipe();
    let span = |lengths: Lengths, what: &str| match lengths {
        Lengths { from, to } if from == to && to == 1 => what.to_owned(),
        Lengths { from, to } if from == to => format!("{from} {what}"),
        Lengths { from, to } => format!("{from} to {to} {what}"),
    };
    let words = recipe.words.map(|lengths| span(lengths, "words"));
    let characters = recipe.characters.map(|lengths| span(lengths, "characters"));
    let mut parts: Vec<String> = words.into_iter().chain(characters).collect();
    match text.vocabulary() {
        Vocabulary::Named(_) => {}
        Vocabulary::Hashed { bits, names } => {
            parts.push(format!("hashed to {bits} bits{}", if names.is_some() { ", names kept" } else { "" }));
        }
    }
    parts.push(if recipe.keep_case { "case kept".into() } else { "in lower case".into() });
    parts.push(match recipe.counting {
        Counting::Counts => "counted".into(),
        Counting::Binary => "there or not".into(),
        Counting::Sublinear => "counted sublinearly".into(),
    });
    parts.extend(recipe.idf.then(|| "weighted by idf".to_owned()));
    parts.extend(recipe.unit_length.then(|| "rows of length 1".to_owned()));
    if !recipe.stop_words.is_empty() {
        parts.push(format!("without {}", counted(recipe.stop_words.len() as u64, "stop word")));
    }
    let beside =
        text.table().map(|table| format!("{} of a table, and ", counted(table.features() as u64, "feature")));
    format!("{}terms of documents: {}", beside.unwrap_or_default(), parts.join(", "))
}

fn as_text(model: &Model, top: usize) -> String {
    let mut lines = summary(model);
    match model.scorer.behind_map() {
        Scorer::Linear(weights) => {
            lines.add("weights", nonzero_text(weights));
            lines.text() + &heaviest_text(model, weights, top)
        }
        Scorer::Presence(weights) => {
            lines.add("applies to", "what a row has: every value above 0 counts as 1");
            lines.add("weights", nonzero_text(weights));
            lines.text() + &heaviest_text(model, weights, top)
        }
        Scorer::Clipped(clipped) => {
            let range = format!("from {} to {}", number(clipped.least), number(clipped.most));
            lines.add("range", format!("{range}: a number beyond it is moved to its end"));
            lines.add("weights", nonzero_text(&clipped.weights));
            lines.text() + &heaviest_text(model, &clipped.weights, top)
        }
        Scorer::Kernel(expansion) => {
            let rows = counted(expansion.rows.rows() as u64, "support row");
            lines.add("kernel", format!("{}, with {rows}", expansion.kernel));
            lines.text()
        }
        Scorer::Voted(voted) => {
            if voted.kernel != Kernel::Linear {
                lines.add("kernel", voted.kernel.to_string());
            }
            let vectors = count(voted.mistakes.len() as u64 + 1);
            let rows = counted(voted.rows.rows() as u64, "row");
            lines.add("votes", format!("of {vectors} weight vectors, kept as {rows}"));
            lines.text()
        }
        Scorer::Network(network) => {
            lines.add("layers", network_text(network));
            lines.text()
        }
        // There is no map behind a map.
        Scorer::Mapped(_) => lines.text(),
    }
}

/// What every model has.
fn summary(model: &Model) -> Lines {
    let about = &model.about;
    let mut lines = Lines::default();
    lines.add("learner", &about.learner);
    lines.add("settings", format!("{}, seed {}", settings_text(model), about.seed));
    match model.task() {
        Task::Classes => lines.add("labels", labels(model)),
        Task::Regression => lines.add("predicts", "a number"),
    }
    if let Some(calibration) = &model.probabilities {
        lines.add("probabilities", calibration_text(calibration));
    }
    lines.add("features", format!("{} ({})", count(about.features), schema_text(&model.schema)));
    lines.add(
        "trained on",
        match (about.rows, about.data_hash.as_str()) {
            (0, "") => format!("rows that only {} has seen", about.learner),
            (rows, hash) => format!("{}, {hash}", counted(rows, "row")),
        },
    );
    for (name, value) in &about.results {
        lines.add(&name.replace('_', " "), value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    }
    if let Scorer::Mapped(mapped) = &model.scorer {
        lines.add("map", map_text(mapped.mapper.map(), mapped.mapper.features()));
    }
    lines
}

fn nonzero_text(weights: &Weights) -> String {
    let nonzero = weights.values.iter().filter(|w| **w != 0.0).count();
    format!("{} of {} are not zero", count(nonzero as u64), count(weights.values.len() as u64))
}

/// The heaviest weights of every output.
fn heaviest_text(model: &Model, weights: &Weights, top: usize) -> String {
    let mut text = String::new();
    for output in 0..weights.outputs() {
        let bias = number(weights.bias[output]);
        text.push_str(&format!("\n{} (bias {bias})\n", output_text(model, output)));
        let heavy = heaviest(weights, output, top);
        let mut rows: Vec<Vec<String>> = Vec::new();
        if heavy.iter().any(|heavy| heavy.effect.is_some()) {
            // The effect is the weight times the standard deviation of its feature.
            rows.push(vec!["  feature".into(), "weight".into(), "effect".into()]);
        }
        rows.extend(heavy.iter().map(|heavy| heavy_line(model, heavy)));
        text.push_str(&table(&rows));
    }
    text
}

/// The name of a feature, its weight and, where that is known, its effect.
fn heavy_line(model: &Model, heavy: &Heavy) -> Vec<String> {
    let mut line = vec![format!("  {}", model.feature_name(heavy.feature)), number(heavy.weight)];
    line.extend(heavy.effect.map(number));
    line
}

fn heavy_json(model: &Model, heavy: &Heavy) -> Value {
    let name = model.feature_name(heavy.feature);
    json!({"feature": name, "weight": heavy.weight, "effect": heavy.effect})
}

fn network_text(network: &Network) -> String {
    let numbers = (network.features() + 1) * network.hidden() + (network.hidden() + 1) * network.outputs();
    format!(
        "{} → {} ({}) → {}; {}",
        counted(network.features() as u64, "feature"),
        counted(network.hidden() as u64, "hidden unit"),
        network.activation.name(),
        counted(network.outputs() as u64, "score"),
        counted(numbers as u64, "weight"),
    )
}

fn as_json(model: &Model, top: usize) -> Value {
    let weights = match model.scorer.weights() {
        Some(weights) => {
            let outputs = (0..weights.outputs()).map(|output| {
                let heavy = heaviest(weights, output, top);
                let named: Vec<_> = heavy.iter().map(|heavy| heavy_json(model, heavy)).collect();
                json!({"label": output_label(model, output), "bias": weights.bias[output], "heaviest": named})
            });
            json!(outputs.collect::<Vec<_>>())
        }
        None => Value::Null,
    };
    let votes = match model.scorer.behind_map() {
        Scorer::Voted(voted) => {
            json!({"mistakes": voted.mistakes.len(), "rows": voted.rows.rows(), "rounds": voted.rounds})
        }
        _ => Value::Null,
    };
    let kernel = match model.scorer.behind_map() {
        Scorer::Kernel(expansion) => {
            json!({"name": expansion.kernel.to_string(), "support": expansion.rows.rows()})
        }
        Scorer::Voted(voted) => json!({"name": voted.kernel.to_string(), "support": voted.rows.rows()}),
        _ => Value::Null,
    };
    let network = match model.scorer.behind_map() {
        Scorer::Network(network) => json!({"hidden": network.hidden(), "activation": network.activation}),
        _ => Value::Null,
    };
    let about = &model.about;
    json!({
        "command": "inspect",
        "learner": about.learner,
        "settings": about.settings,
        "seed": about.seed,
        "task": if model.task() == Task::Regression { "regression" } else { "classification" },
        "labels": (model.task() == Task::Classes).then(|| model.labels.names()),
        "probabilities": model.probabilities.as_ref().map(calibration_json),
        "features": about.features,
        "rows": about.rows,
        "data_hash": about.data_hash,
        "results": about.results,
        "map": model.scorer.map().map(|map| map.to_string()),
        "presence": matches!(model.scorer.behind_map(), Scorer::Presence(_)),
        "weights": weights,
        "votes": votes,
        "kernel": kernel,
        "network": network,
    })
}
