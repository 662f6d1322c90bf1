//! What every model must fulfil, whether it is to be written or was read.

use super::super::{
    Calibration, Clipped, Expansion, Lanes, Model, NOBODY, Network, Scorer, Task, Voted, Weights, panels,
};
use crate::data::{Matrix, Row};
use crate::features::Schema;
use crate::kernel::Kernel;
use crate::multiclass::Scheme;

type Check = Result<(), String>;

const MOST_CLASSES: usize = 1 << 20;
const MOST_FEATURES: u64 = 1 << 32;
/// Zeros that a file leaves out cost memory when it is read: up to this much, or so many times the length of
/// the file.
const FREE_BYTES: u128 = 2 << 30;
const EXPANSION: u128 = 256;

/// Whether a file of so many bytes may ask for memory of `rows × columns × width` bytes.
pub(super) fn has_room(rows: usize, columns: usize, width: usize, file_bytes: usize) -> bool {
    expanded(rows, columns, width).is_some_and(|needed| needed <= allowed(file_bytes))
}

fn expanded(rows: usize, columns: usize, width: usize) -> Option<u128> {
    (rows as u128).checked_mul(columns as u128)?.checked_mul(width as u128)
}

fn allowed(file_bytes: usize) -> u128 {
    FREE_BYTES.max(EXPANSION * file_bytes as u128)
}

/// The same as an answer.
pub(super) fn expansion(what: &str, rows: usize, columns: usize, width: usize, file_bytes: usize) -> Check {
    if has_room(rows, columns, width, file_bytes) {
        return Ok(());
    }
    Err(format!(
        "{what} would take {rows}×{columns}×{width} bytes of memory, too much for a file of {file_bytes} \
         bytes"
    ))
}

pub(super) fn classes(count: usize) -> Check {
    match count {
        0 | 1 => Err(format!("there must be two labels at least, not {count}")),
        2..=MOST_CLASSES => Ok(()),
        _ => Err(format!("{count} labels are more than {MOST_CLASSES}")),
    }
}

pub(super) fn features(count: u64) -> Check {
    match count {
        0..=MOST_FEATURES => Ok(()),
        _ => Err(format!("{count} features are more than {MOST_FEATURES}")),
    }
}

/// What scoring takes besides the model: room for every feature of a voted model's rows.
pub(super) fn room(model: &Model, file_bytes: usize) -> Check {
    match model.scorer.behind_map() {
        Scorer::Kernel(expansion) => scoring_room(expansion.rows.columns(), file_bytes),
        Scorer::Voted(voted) => scoring_room(voted.rows.columns(), file_bytes),
        _ => Ok(()),
    }
}

pub(super) fn scoring_room(columns: usize, file_bytes: usize) -> Check {
    expansion("scoring a row", columns, 1, size_of::<u32>(), file_bytes)
}

pub(super) const VOTES_FOR_NUMBERS: &str = "votes are for labels, not for numbers";

/// Labels, features and outputs fit together, and every number is one that can be computed with.
pub(super) fn model(model: &Model) -> Check {
    if model.task() == Task::Classes {
        classes(model.labels.len())?;
    }
    features(model.about.features)?;
    schema(&model.schema)?;
    let known = model.schema.features().map_or(u64::MAX, |count| count as u64);
    if model.about.features > known {
        return Err(format!(
            "there are {} features, but the schema knows {known} only",
            model.about.features
        ));
    }
    scorer(&model.scorer, model.about.features, model)?;
    model.state.as_ref().map_or(Ok(()), super::state::check)?;
    model.probabilities.as_ref().map_or(Ok(()), |calibration| self::calibration(calibration, model))
}

/// What scores rows of so many features.
fn scorer(scorer: &Scorer, features: u64, model: &Model) -> Check {
    match scorer {
        Scorer::Linear(weights) | Scorer::Presence(weights) => linear(weights, features, model),
        Scorer::Clipped(clipped) => {
            range(clipped, model)?;
            linear(&clipped.weights, features, model)
        }
        Scorer::Kernel(expansion) => expansion_of_rows(expansion, features, model),
        Scorer::Voted(voted) => self::voted(voted, features, model),
        Scorer::Network(network) => self::network(network, features, model),
        Scorer::Mapped(mapped) => {
            same_features(mapped.mapper.columns(), features)?;
            match *mapped.scorer {
                Scorer::Mapped(_) => Err("a map stands behind a map".to_owned()),
                _ => self::scorer(&mapped.scorer, mapped.mapper.features() as u64, model),
            }
        }
    }
}

fn range(clipped: &Clipped, model: &Model) -> Check {
    if model.probabilities.is_some() {
        return Err("scores that are moved into a range are no probabilities".to_owned());
    }
    finite("an end of the range of scores,", &[clipped.least, clipped.most])?;
    if clipped.least > clipped.most {
        Err("the range of scores has no number in it".to_owned())
    } else {
        Ok(())
    }
}

/// Probabilities are of labels, and every output has its own.
fn calibration(calibration: &Calibration, model: &Model) -> Check {
    if model.task() == Task::Regression {
        return Err("a model that predicts a number has no probabilities".to_owned());
    }
    let outputs = model.scorer.outputs();
    let as_many = |found: usize| match found == outputs {
        true => Ok(()),
        false => Err(format!("{found} calibrations do not fit {outputs} outputs")),
    };
    match calibration {
        Calibration::Logistic => Ok(()),
        Calibration::Softmax if outputs == 1 => {
            Err("a softmax needs an output per label, and there is one for both".to_owned())
        }
        Calibration::Softmax => Ok(()),
        Calibration::Platt(all) => {
            as_many(all.len())?;
            all.iter().try_for_each(|platt| finite("a number of the calibration,", &[platt.a, platt.b]))
        }
        Calibration::Isotonic(all) => {
            as_many(all.len())?;
            let fault = all.iter().enumerate().find_map(|(output, steps)| Some((output, steps.fault()?)));
            fault.map_or(Ok(()), |(output, what)| Err(format!("the calibration of output {output}: {what}")))
        }
    }
}

fn schema(schema: &Schema) -> Check {
    match schema {
        Schema::Indexed { base: 0 | 1 } | Schema::Named(_) | Schema::Hashed { bits: ..=32 } => Ok(()),
        Schema::Indexed { base } => Err(format!("indices count from 0 or 1, not from {base}")),
        Schema::Hashed { bits } => Err(format!("a hash of {bits} bits is longer than 32")),
        Schema::Namespaces(namespaces) => {
            namespaces.validate().map_err(|what| format!("the namespaces' schema is wrong: {what}"))
        }
        Schema::Table(table) if table.has_text() => {
            Err("the table's schema has documents and no terms".into())
        }
        Schema::Table(table) => {
            table.validate().map_err(|what| format!("the table's schema is wrong: {what}"))
        }
        Schema::Text(text) => {
            text.validate().map_err(|what| format!("the documents' schema is wrong: {what}"))
        }
    }
}

/// Two classes need one output and may have one each; more classes have one each. No classes are one number.
pub(super) fn outputs(outputs: usize, classes: usize) -> Check {
    match classes {
        0 if outputs == 1 => return Ok(()),
        0 => return Err(format!("{outputs} outputs are not one number")),
        2 if outputs == 1 => return Ok(()),
        _ if outputs == classes => return Ok(()),
        _ => {}
    }
    Err(format!("{outputs} outputs do not fit {classes} labels"))
}

fn same_features(found: usize, features: u64) -> Check {
    if found as u64 == features {
        return Ok(());
    }
    Err(format!("it has weights or rows of {found} features, but says {features}"))
}

fn linear(weights: &Weights, features: u64, model: &Model) -> Check {
    outputs(weights.outputs(), model.labels.len())?;
    same_features(weights.features(), features)?;
    if weights.bias.len() != weights.outputs()
        || weights.values.len() != weights.features() * weights.outputs()
    {
        return Err("its weights and biases are not as many as there are outputs".to_owned());
    }
    if !weights.spreads.is_empty() && weights.spreads.len() != weights.features() {
        return Err("its spreads are not as many as there are features".to_owned());
    }
    if weights.spreads.iter().any(|spread| !(spread.is_finite() && *spread >= 0.0)) {
        return Err("a spread of a feature is not a finite number from 0".to_owned());
    }
    finite("weight", &weights.values)?;
    finite("bias", &weights.bias)
}

fn network(network: &Network, features: u64, model: &Model) -> Check {
    outputs(network.outputs(), model.labels.len())?;
    same_features(network.features(), features)?;
    let (features, hidden, outputs) = (network.features(), network.hidden(), network.outputs());
    let units = panels(hidden);
    let lengths = [network.scales.len(), network.first.len(), network.second.len(), network.bias.len()];
    if hidden == 0 || lengths != [features, (features + 1) * units, hidden * outputs, outputs] {
        return Err("its layers do not fit together".to_owned());
    }
    let filling = |column: &[Lanes]| column.as_flattened()[hidden..].iter().any(|w| *w != 0.0);
    centres(&network.centres, features)?;
    if network.first.chunks_exact(units).any(filling) {
        return Err("a hidden unit that is not there has weights".to_owned());
    }
    match network.numbers().position(|x| !x.is_finite()) {
        Some(at) => Err(format!("number {at} of its layers is not finite")),
        None => Ok(()),
    }
}

/// What is subtracted from columns is a number, and each column is there once.
fn centres(centres: &[(u32, f64)], features: usize) -> Check {
    if !centres.is_sorted_by(|a, b| a.0 < b.0)
        || centres.last().is_some_and(|last| last.0 as usize >= features)
    {
        return Err("the columns of its centres are not in order, or not there".to_owned());
    }
    match centres.iter().all(|(_, centre)| centre.is_finite()) {
        true => Ok(()),
        false => Err("a centre of a column is not finite".to_owned()),
    }
}

fn finite(what: &str, numbers: &[f64]) -> Check {
    // Many at once first: where all are finite, none is looked at by itself.
    const RUN: usize = 1024;
    let all_finite = |run: &[f64]| run.iter().fold(true, |all, x| all & x.is_finite());
    let wrong = numbers.chunks(RUN).position(|run| !all_finite(run));
    match wrong.and_then(|run| Some(run * RUN + numbers[run * RUN..].iter().position(|x| !x.is_finite())?)) {
        Some(at) => Err(format!("{what} {at} is not finite")),
        None => Ok(()),
    }
}

fn voted(voted: &Voted, features: u64, model: &Model) -> Check {
    if model.task() == Task::Regression {
        return Err(VOTES_FOR_NUMBERS.to_owned());
    }
    if voted.classes != model.labels.len() || (voted.scheme == Scheme::Two && voted.classes != 2) {
        return Err(format!(
            "its votes are for {} classes, but there are {} labels",
            voted.classes,
            model.labels.len()
        ));
    }
    compared(&voted.rows, voted.kernel, voted.bias, features)?;
    centres(&voted.centres, voted.rows.columns())?;
    mistakes(voted)
}

fn expansion_of_rows(expansion: &Expansion, features: u64, model: &Model) -> Check {
    outputs(expansion.outputs, model.labels.len())?;
    compared(&expansion.rows, expansion.kernel, expansion.bias, features)?;
    if expansion.rows.rows().checked_mul(expansion.outputs) != Some(expansion.coefficients.len()) {
        return Err("its coefficients are not as many as its rows and outputs".to_owned());
    }
    finite("coefficient", &expansion.coefficients)
}

/// Rows that others are compared with.
fn compared(rows: &Matrix, kernel: Kernel, bias: f64, features: u64) -> Check {
    same_features(rows.columns(), features)?;
    if rows.rows() > u32::MAX as usize {
        return Err(format!("{} rows are more than can be numbered", rows.rows()));
    }
    // The same bounds as on the command line.
    kernel.to_string().parse::<Kernel>().map_err(|error| error.to_string())?;
    finite("the value of the bias's coordinate,", &[bias])?;
    match (0..rows.rows()).find(|&i| !is_finite(rows.row(i))) {
        Some(i) => Err(format!("row {i} has a value that is not finite")),
        None => Ok(()),
    }
}

fn is_finite(row: Row<'_>) -> bool {
    match row {
        Row::Dense32(x) | Row::Sparse32(_, x) => x.iter().all(|x| x.is_finite()),
        Row::Dense64(x) | Row::Sparse64(_, x) => x.iter().all(|x| x.is_finite()),
        Row::Uniform(_, x) => x.is_finite(),
    }
}

fn mistakes(voted: &Voted) -> Check {
    if !voted.rounds.is_finite() {
        return Err("the number of rounds is not finite".to_owned());
    }
    let mut earlier = 0.0;
    for (number, mistake) in voted.mistakes.iter().enumerate() {
        let wrong = |what: &str| Err(format!("mistake {number} {what}"));
        if mistake.row as usize >= voted.rows.rows() {
            return wrong("is of a row that is not there");
        }
        if mistake.gains as usize >= voted.outputs()
            || (mistake.loses != NOBODY && mistake.loses as usize >= voted.outputs())
        {
            return wrong("is of an output that is not there");
        }
        if !mistake.step.is_finite() {
            return wrong("has a step that is not finite");
        }
        // In this form, what is not a number is refused too.
        if !(earlier <= mistake.round && mistake.round <= voted.rounds) {
            return wrong("is not between the round of the one before it and the last round");
        }
        earlier = mistake.round;
    }
    if voted.rounds < 0.0 {
        return Err("the number of rounds is negative".to_owned());
    }
    Ok(())
}
