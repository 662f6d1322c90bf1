//! Readable models of Vowpal Wabbit, as its options `readable_model` and `invert_hash` write them.
//!
//! The header has the range of the labels, the bits of the hash and the options that a prediction depends on.
//! A line `:0`, or `:1` and counts of the training, ends it. Then come weights, each with its number and, by
//! `invert_hash`, the name of a feature before it. Among the counts is what a regularization by `l1` or `l2`
//! still owes the weights.

use super::imported::{Imported, weights};
use super::lines::{Line, Lines, shown};
use crate::data::Labels;
use crate::error::Result;
use crate::features::Schema;
use crate::features::namespaces::{FeatureNumbering, Interactions, Murmur, NamespaceSchema, Numbers};
use crate::model::{Calibration, Model, Task};
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands before the weights.
struct Header {
    version: String,
    /// The range of predictions.
    range: [Option<f64>; 2],
    bits: Option<u32>,
    options: Options,
}

/// The options that a model depends on.
#[derive(Default)]
struct Options {
    seed: u32,
    numbers: Numbers,
    interactions: Vec<String>,
    logistic: bool,
    binary: bool,
    classes: Option<u32>,
    no_constant: bool,
}

/// Options that say how weights were learned: predictions depend on the weights alone.
const TRAINING_SWITCHES: [&str; 9] =
    ["adaptive", "invariant", "normalized", "sgd", "coin", "ftrl", "pistol", "freegrad", "save_resume"];
/// Those that have a value.
const TRAINING_NUMBERS: [&str; 6] =
    ["l", "learning_rate", "power_t", "initial_t", "decay_learning_rate", "random_seed"];

/// The range of scores of the logistic and the hinge loss.
const SCORES: [Option<f64>; 2] = [Some(-50.0), Some(50.0)];

impl Header {
    fn read(lines: &mut Lines<'_>) -> Result<Self> {
        let mut header =
            Self { version: String::new(), range: [None; 2], bits: None, options: Options::default() };
        for line in lines.by_ref() {
            match line.text {
                ":0" | ":1" => return Ok(header),
                _ => header.entry(line)?,
            }
        }
        Err(lines.error("the header does not end with a line :0 or :1"))
    }

    fn entry(&mut self, line: Line<'_>) -> Result<()> {
        let (key, value) = line.text.split_once(':').unwrap_or((line.text, ""));
        match key {
            "Min label" => self.range[0] = Some(line.number(value)?),
            "Max label" => self.range[1] = Some(line.number(value)?),
            "bits" => self.bits = Some(line.count(value)?),
            "options" => self.options.read(line, value)?,
            "lda" if value != "0" => {
                return Err(line.error(line.text, "models of topics (lda) cannot be imported"));
            }
            "lda" | "Checksum" => {}
            _ if line.text.starts_with("Version ") => line.text[8..].trim().clone_into(&mut self.version),
            _ if line.text.starts_with("Id") => {}
            _ if key.ends_with(" ngram") || key.ends_with(" skip") => {
                if !key.starts_with("0 ") || !value.trim().is_empty() {
                    let error = line.error(line.text, "models of ngrams and skips cannot be imported");
                    return Err(error.hint("terms of several words are made of documents by `words = 1-2`"));
                }
            }
            _ => return Err(line.error(line.text, format!("the header has no {}", shown(key)))),
        }
        Ok(())
    }
}

impl Options {
    fn read(&mut self, line: Line<'_>, text: &str) -> Result<()> {
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let (option, mut joined) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            let mut value = || {
                let value = joined.take().or_else(|| words.next());
                value.ok_or_else(|| line.error(word, format!("the option {} has no value", shown(option))))
            };
            let option_name = option.trim_start_matches('-');
            match option_name {
                "hash_seed" => self.seed = line.count(value()?)?,
                "hash" => self.numbers = numbers(line, value()?)?,
                "quadratic" | "cubic" | "interactions" => self.interactions.push(value()?.to_owned()),
                "link" => self.logistic = is_logistic(line, value()?)?,
                "oaa" => self.classes = Some(line.count(value()?)?),
                "binary" => self.binary = true,
                "noconstant" => self.no_constant = true,
                _ if TRAINING_SWITCHES.contains(&option_name) => {}
                _ if TRAINING_NUMBERS.contains(&option_name) => {
                    value()?;
                }
                _ => {
                    let what = format!("models with the option {} cannot be imported", shown(option));
                    let hint = "models can be imported that are linear in features and their products, for \
                                two labels, for more (oaa) or for numbers";
                    return Err(line.error(word, what).hint(hint));
                }
            }
        }
        Ok(())
    }

    fn interactions(&self) -> std::result::Result<Interactions, String> {
        for letters in &self.interactions {
            if let Some(wrong) = letters.chars().find(|c| !c.is_ascii_graphic()) {
                return Err(format!(
                    "an interaction of namespaces that start with {wrong:?} cannot be imported"
                ));
            }
            let is_any = letters.contains(':');
            let is_permuted = |other: &String| other != letters && sorted(other) == sorted(letters);
            if let Some(other) = self.interactions.iter().find(|other| is_permuted(other)) {
                return Err(format!("the interactions {letters} and {other} cannot be imported together"));
            }
            // Which of two orders of the factors is kept depends on all of them.
            if is_any && (letters.len() > 2 || self.interactions.len() > 1) {
                let what =
                    "an interaction of any namespaces (:) can be imported if it is the only one, of two";
                return Err(what.to_owned());
            }
        }
        Interactions::new(&self.interactions)
    }
}

fn sorted(letters: &str) -> Vec<u8> {
    let mut sorted = letters.as_bytes().to_vec();
    sorted.sort_unstable();
    sorted
}

fn numbers(line: Line<'_>, value: &str) -> Result<Numbers> {
    match value {
        "strings" => Ok(Numbers::AsTheyAre),
        "all" => Ok(Numbers::Hashed),
        _ => Err(line.error(value, format!("there is no way {} to hash names", shown(value)))),
    }
}

fn is_logistic(line: Line<'_>, value: &str) -> Result<bool> {
    match value {
        "identity" => Ok(false),
        "logistic" => Ok(true),
        _ => Err(line.error(value, format!("models with the link {} cannot be imported", shown(value)))),
    }
}

/// A line of a weight: its number, itself, and the feature's name where it is there.
struct Entry<'a> {
    name: Option<&'a str>,
    number: &'a str,
    weight: &'a str,
}

impl<'a> Entry<'a> {
    /// Only the first word counts: what a training goes on from stands behind it.
    fn of(line: Line<'a>) -> Option<Self> {
        let mut parts = line.words().next()?.rsplitn(3, ':');
        let (weight, number, name) = (parts.next()?, parts.next()?, parts.next());
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        (is_number && weight.parse::<f64>().is_ok()).then_some(Self { name, number, weight })
    }
}

/// What `--l1` and `--l2` do to all weights at once: Vowpal Wabbit stores how much, and does it whenever it
/// predicts.
#[derive(Clone, Copy)]
struct Regularization {
    /// How far every weight moves towards zero (`l1_state`).
    gravity: f64,
    /// What it is multiplied by then (`l2_state`).
    contraction: f64,
}

impl Regularization {
    /// Takes a line of the counts if it is about this.
    fn entry(&mut self, line: Line<'_>) -> Result<()> {
        let (state, value) = match line.text.split_once(' ') {
            Some(("l1_state", value)) => (&mut self.gravity, value),
            Some(("l2_state", value)) => (&mut self.contraction, value),
            _ => return Ok(()),
        };
        *state = line.number(value)?;
        if *state < 0.0 {
            return Err(line.error(value, "what a regularization does to weights is not negative"));
        }
        Ok(())
    }

    fn of(self, weight: f64) -> f64 {
        (weight.abs() - self.gravity).max(0.0).copysign(weight) * self.contraction
    }
}

/// The weights of a text, with the names of features.
struct Entries {
    weights: Vec<(u32, f64)>,
    names: Vec<(u32, String)>,
}

impl Entries {
    fn read(lines: &mut Lines<'_>, bits: u8) -> Result<Self> {
        let (mut weights, mut names) = (Vec::new(), Vec::new());
        let mut known = FxHashSet::default();
        let mut regularization = Regularization { gravity: 0.0, contraction: 1.0 };
        for line in lines.by_ref().filter(|line| !line.text.trim().is_empty()) {
            let Some(entry) = Entry::of(line) else {
                // Before the weights stand counts of the training.
                if weights.is_empty() {
                    regularization.entry(line)?;
                    continue;
                }
                return Err(line.error(line.text, "this is no weight: NUMBER:WEIGHT or NAME:NUMBER:WEIGHT"));
            };
            let number = line.count(entry.number)?;
            if u64::from(number) >= 1 << bits {
                let what = format!("the number {number} is beyond the {} of {bits} bits", 1u64 << bits);
                return Err(line.error(entry.number, what));
            }
            weights.push((number, regularization.of(line.number(entry.weight)?)));
            if let Some(name) = entry.name.filter(|name| !name.is_empty()) {
                if !known.insert(name) {
                    return Err(line.error(name, format!("the feature {} is there twice", shown(name))));
                }
                names.push((number, name.to_owned()));
            }
        }
        Ok(Self { weights, names })
    }
}

/// The model of a text; `task` says what it predicts, if the text should not.
pub(super) fn read(mut lines: Lines<'_>, task: Option<Task>) -> Result<Model> {
    let header = Header::read(&mut lines)?;
    let bits = header.bits.ok_or_else(|| lines.refuse("the header has no bits"))?;
    let Some(bits) = u8::try_from(bits).ok().filter(|bits| *bits <= Murmur::MOST_BITS) else {
        return Err(lines.refuse(format!("a hash of {bits} bits is longer than {}", Murmur::MOST_BITS)));
    };
    let options = &header.options;
    let interactions = options.interactions().map_err(|what| lines.refuse(what))?;
    let (labels, outputs) = labels(&header, task).map_err(|what| lines.refuse(what))?;
    // The weights of several classes lie side by side, in as many places as the next power of two. Hashes are
    // multiplied by that number, which takes as many bits off them as it has.
    let stride = (outputs as u64).next_power_of_two();
    let Some(bits_of_features) = bits.checked_sub(stride.trailing_zeros() as u8) else {
        return Err(lines.refuse(format!("{outputs} classes do not fit a hash of {bits} bits")));
    };
    let entries = Entries::read(&mut lines, bits)?;
    let mut murmur =
        Murmur { bits: bits_of_features, numbers: options.numbers, seed: options.seed, names: Vec::new() };
    let found = weights(1 << bits_of_features, outputs);
    let mut weights = found.map_err(|error| lines.refuse(error.what()))?;
    for (number, weight) in entries.weights {
        let (feature, class) = (u64::from(number) / stride, (u64::from(number) % stride) as usize);
        if class >= outputs {
            let what = format!("weight {number} is of class {}, and there are {outputs}", class + 1);
            return Err(lines.refuse(what).hint("versions before 9 stored the weights of classes otherwise"));
        }
        // The labels are in reverse order. Plus zero: there is no −0 in a model.
        weights.values[feature as usize * outputs + (outputs - 1 - class)] = weight + 0.0;
    }
    if !options.no_constant {
        // A feature may have the number of the constant, so the weight stays, too.
        let constant = murmur.constant() as usize * outputs;
        weights.bias = weights.values[constant..constant + outputs].to_vec();
    }
    murmur.names = names(entries.names, stride);
    let task_logistic = options.logistic && !labels.is_empty();
    // The range decides no label, unless scores are compared.
    let range = if labels.is_empty() || outputs > 1 { range(&header) } else { Ok(None) };
    let range = range.map_err(|what| lines.refuse(what))?;
    let numbering = FeatureNumbering::Murmur(Arc::new(murmur));
    let imported = Imported {
        learner: "Vowpal Wabbit",
        settings: settings(&header),
        labels,
        schema: Schema::Namespaces(Arc::new(NamespaceSchema { numbering, interactions })),
        weights,
        range,
        probabilities: task_logistic.then_some(Calibration::Logistic),
    };
    Ok(imported.model())
}

/// The names of features, in the order of these; those of the first class are of all.
fn names(all: Vec<(u32, String)>, stride: u64) -> Vec<(u32, String)> {
    let of_first = all.into_iter().filter(|(number, _)| u64::from(*number) % stride == 0);
    let mut names: Vec<_> =
        of_first.map(|(number, name)| ((u64::from(number) / stride) as u32, name)).collect();
    names.sort();
    names
}

fn settings(header: &Header) -> BTreeMap<String, Value> {
    let [least, most] = header.range;
    BTreeMap::from([
        ("version".to_owned(), header.version.clone().into()),
        ("min_label".to_owned(), least.into()),
        ("max_label".to_owned(), most.into()),
    ])
}

/// The range that predictions do not leave.
fn range(header: &Header) -> std::result::Result<Option<[f64; 2]>, &'static str> {
    match header.range {
        [Some(least), Some(most)] if least <= most => Ok(Some([least, most])),
        [None, None] => Ok(None),
        _ => Err("the range from Min label to Max label is none"),
    }
}

/// The labels, and how many scores tell them apart; no labels for regression.
fn labels(header: &Header, task: Option<Task>) -> std::result::Result<(Labels, usize), String> {
    let options = &header.options;
    if let Some(classes) = options.classes {
        if task == Some(Task::Regression) {
            return Err("a model of several classes predicts no number".into());
        }
        if options.logistic {
            return Err("a model of several classes with the logistic link cannot be imported".into());
        }
        return match classes {
            2.. if classes <= 1 << 20 => {
                // Of the best scores the first wins there, and the last here.
                Ok((Labels::new((1..=classes).rev().map(|class| class.to_string())), classes as usize))
            }
            _ => Err(format!("a model of {classes} classes cannot be imported")),
        };
    }
    let is_of_labels = options.logistic || options.binary || header.range == SCORES;
    match task.unwrap_or(if is_of_labels { Task::Classes } else { Task::Regression }) {
        Task::Classes => Ok((Labels::new(["-1", "1"]), 1)),
        Task::Regression if options.logistic || options.binary => {
            Err("a model with binary predictions or the logistic link predicts no number".into())
        }
        Task::Regression => Ok((Labels::default(), 1)),
    }
}
