//! What the file says in words: who made it, of what, for which labels and features.

use super::super::{About, Model, Scorer, Task};
use super::FORMAT_VERSION;
use super::tensors::MetadataOnly;
use super::{check, schema, state};
use crate::data::Labels;
use crate::error::{Error, Result};
use crate::features::map::Map;
use crate::kernel::{Kernel, Precision};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const FORMAT: &str = "novikoff-model";
/// The `task` of a model that stands in for labels.
const REGRESSION: &str = "regression";
/// Settings and results are small. What they may become in memory is many times as much, so they are kept
/// small.
const ABOUT_LIMIT: usize = 4 << 20;

/// All metadata of a model besides the checksum.
pub(super) fn write(model: &Model) -> std::result::Result<BTreeMap<&'static str, String>, String> {
    let about = exact_json("about", &model.about)?;
    if about.len() > ABOUT_LIMIT {
        return Err(format!("its settings and results take {} bytes, of {ABOUT_LIMIT} allowed", about.len()));
    }
    let mut metadata = BTreeMap::from([
        ("format", FORMAT.to_owned()),
        ("format_version", FORMAT_VERSION.to_string()),
        ("about", about),
        ("schema", exact_json("schema", &schema::entry(&model.schema))?),
    ]);
    metadata.extend(copies(&model.about));
    match model.task() {
        Task::Classes => metadata.insert("labels", Value::from(model.labels.names()).to_string()),
        Task::Regression => metadata.insert("task", REGRESSION.to_owned()),
    };
    metadata.extend(
        model.probabilities.as_ref().map(|calibration| ("probabilities", calibration.name().to_owned())),
    );
    if let Some(map) = model.scorer.map() {
        metadata.insert("map", exact_json("map", &map)?);
    }
    if let Some(own) = &model.state {
        metadata.insert("state", exact_json("state", &state::entry(own))?);
    }
    match model.scorer.behind_map() {
        Scorer::Mapped(_) => return Err("a map stands behind a map".to_owned()),
        Scorer::Linear(_) => drop(metadata.insert("scorer", "linear".to_owned())),
        Scorer::Presence(_) => drop(metadata.insert("scorer", "presence".to_owned())),
        Scorer::Clipped(clipped) => metadata.extend([
            ("scorer", "clipped".to_owned()),
            ("least", exact_json("least", &clipped.least)?),
            ("most", exact_json("most", &clipped.most)?),
        ]),
        Scorer::Kernel(expansion) => {
            metadata.extend([
                ("scorer", "kernel".to_owned()),
                ("bias_coordinate", exact_json("bias_coordinate", &expansion.bias)?),
                ("row_layout", word(&Layout::of(&expansion.rows))?),
            ]);
            metadata.extend(kernel_entries(expansion.kernel, expansion.precision)?);
        }
        Scorer::Voted(voted) => {
            metadata.extend([
                ("scorer", "voted".to_owned()),
                ("scheme", word(&voted.scheme)?),
                ("bias_coordinate", exact_json("bias_coordinate", &voted.bias)?),
                ("row_layout", word(&Layout::of(&voted.rows))?),
            ]);
            // Without a kernel, votes are of weights of features.
            if (voted.kernel, voted.precision) != Default::default() {
                metadata.extend(kernel_entries(voted.kernel, voted.precision)?);
            }
        }
        Scorer::Network(network) => {
            metadata.extend([("scorer", "network".to_owned()), ("activation", word(&network.activation)?)])
        }
    }
    Ok(metadata)
}

fn kernel_entries(
    kernel: Kernel,
    precision: Precision,
) -> std::result::Result<[(&'static str, String); 2], String> {
    Ok([("kernel", kernel.to_string()), ("precision", word(&precision)?)])
}

/// How the rows of a model are kept in memory.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Layout {
    Dense,
    Sparse,
}

impl Layout {
    fn of(rows: &crate::data::Matrix) -> Self {
        if rows.is_dense() { Layout::Dense } else { Layout::Sparse }
    }
}

/// Entries of `about` that stand in the metadata a second time, for people who look into the file with other
/// tools.
fn copies(about: &About) -> [(&'static str, String); 5] {
    [
        ("learner", about.learner.clone()),
        ("seed", about.seed.to_string()),
        ("rows", about.rows.to_string()),
        ("features", about.features.to_string()),
        ("data_hash", about.data_hash.clone()),
    ]
}

/// JSON with sorted keys, so that equal values give equal bytes, that reads back as it was written.
fn exact_json<T: Serialize + DeserializeOwned>(what: &str, value: &T) -> std::result::Result<String, String> {
    let fail =
        |error: serde_json::Error| format!("`{what}` cannot be written as JSON and read again: {error}");
    let text = sorted(serde_json::to_value(value).map_err(fail)?).to_string();
    serde_json::from_str::<T>(&text).map_err(fail)?;
    Ok(text)
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        plain => plain,
    }
}

/// The word that stands for a value which JSON writes as a string.
fn word<T: Serialize>(value: &T) -> std::result::Result<String, String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Ok(word),
        _ => Err("a setting has no name".to_owned()),
    }
}

/// The metadata of a file that nobody has asked for yet.
pub(super) struct Metadata {
    entries: BTreeMap<String, String>,
}

impl Metadata {
    pub(super) fn read(header: &[u8]) -> Result<Self> {
        let header: MetadataOnly = serde_json::from_slice(header)
            .map_err(|error| Error::input(format!("its header cannot be read: {error}")))?;
        let mut entries = header.metadata;
        entries.remove("checksum");
        Ok(Self { entries })
    }

    /// Refuses everything but a model of a version that is known.
    pub(super) fn check_version(&mut self) -> Result<()> {
        if self.entries.remove("format").as_deref() != Some(FORMAT) {
            return Err(Error::input(
                "this is a safetensors file, but not a novikoff model: its `format` is another",
            ));
        }
        let version = self.take("format_version")?;
        match version.parse::<u64>() {
            Ok(number) if number.to_string() == version && number == u64::from(FORMAT_VERSION) => Ok(()),
            Ok(number) if number > u64::from(FORMAT_VERSION) => {
                let what =
                    format!("format version {number} is newer than {FORMAT_VERSION}, the newest known here");
                Err(Error::input(what)
                    .hint("update novikoff to the version that wrote this model, or a later one"))
            }
            _ => Err(Error::input(format!("there is no format version {version:?}"))),
        }
    }

    /// The entry of this key.
    fn take(&mut self, key: &str) -> Result<String> {
        self.entries.remove(key).ok_or_else(|| Error::input(format!("the metadata has no `{key}`")))
    }

    fn take_json<T: DeserializeOwned>(&mut self, key: &str) -> Result<T> {
        from_json(key, &self.take(key)?)
    }

    /// The entry of this key, one of a few words, if there is one.
    pub(super) fn take_word_if_there<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>> {
        if self.entries.contains_key(key) { self.take_word(key).map(Some) } else { Ok(None) }
    }

    /// The entry of this key, one of a few words.
    pub(super) fn take_word<T: DeserializeOwned>(&mut self, key: &str) -> Result<T> {
        let word = self.take(key)?;
        serde_json::from_value(Value::String(word))
            .map_err(|error| Error::input(format!("the metadata `{key}`: {error}")))
    }

    /// The entry of this key, a number.
    pub(super) fn take_number(&mut self, key: &str) -> Result<f64> {
        self.take_json(key)
    }

    /// What compares rows, and in which precision, if the file says so.
    pub(super) fn kernel_if_there(&mut self) -> Result<Option<(Kernel, Precision)>> {
        let Some(text) = self.entries.remove("kernel") else { return Ok(None) };
        let wrong = || Error::input(format!("the metadata `kernel` says {text:?}, which is no kernel"));
        let kernel: Kernel = text.parse().map_err(|_| wrong())?;
        if kernel.to_string() != text {
            return Err(wrong());
        }
        Ok(Some((kernel, self.take_word("precision")?)))
    }

    pub(super) fn about(&mut self) -> Result<About> {
        let text = self.take("about")?;
        if text.len() > ABOUT_LIMIT {
            return Err(Error::input(format!(
                "the metadata `about` takes {} bytes, of {ABOUT_LIMIT} allowed",
                text.len()
            )));
        }
        let about: About = from_json("about", &text)?;
        for (key, expected) in copies(&about) {
            let copy = self.take(key)?;
            if copy != expected {
                return Err(Error::input(format!(
                    "the metadata `{key}` says {copy:?}, but `about` says {expected:?}"
                )));
            }
        }
        check::features(about.features).map_err(Error::input)?;
        Ok(about)
    }

    /// The labels; none for a model of regression.
    pub(super) fn labels(&mut self) -> Result<Labels> {
        if let Some(task) = self.entries.remove("task") {
            if task != REGRESSION {
                return Err(Error::input(format!("the metadata `task` is {task:?}, not {REGRESSION:?}")));
            }
            return Ok(Labels::default());
        }
        let names: Vec<String> = self.take_json("labels")?;
        check::classes(names.len()).map_err(Error::input)?;
        let mut labels = Labels::default();
        for name in &names {
            if let Some(first) = labels.find(name) {
                let first = &names[first as usize];
                return Err(Error::input(format!("the labels {first:?} and {name:?} are one and the same")));
            }
            labels.intern(name);
        }
        Ok(labels)
    }

    /// The map that comes before the scorer, if there is one.
    pub(super) fn map(&mut self) -> Result<Option<Map>> {
        if self.entries.contains_key("map") { self.take_json("map").map(Some) } else { Ok(None) }
    }

    pub(super) fn schema(&mut self) -> Result<schema::Entry> {
        self.take_json("schema")
    }

    /// What learning needs to go on, if the file has it.
    pub(super) fn state(&mut self) -> Result<Option<state::Entry>> {
        if self.entries.contains_key("state") { self.take_json("state").map(Some) } else { Ok(None) }
    }

    /// All entries must have been asked for.
    pub(super) fn finish(self) -> Result<()> {
        match self.entries.into_keys().next() {
            Some(key) => {
                Err(Error::input(format!("the metadata `{key}` does not belong into this kind of model")))
            }
            None => Ok(()),
        }
    }
}

fn from_json<T: DeserializeOwned>(key: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        // The parser has no other way of telling.
        let deep = error.to_string().contains("recursion limit");
        let what = if deep { "is nested too deep".to_owned() } else { format!("cannot be read: {error}") };
        Error::input(format!("the metadata `{key}` {what}"))
    })
}
