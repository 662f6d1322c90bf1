//! Learning from one row at a time, with a state that can be saved and resumed.

use super::classes::{Classes, check_class_weights, check_size, given_weight};
use super::geometry::overflow;
use super::learner::{ClassWeight, Learner, PassiveAggressive, Perceptron, Shared};
use super::run::{Corrections, passive_aggressive_rule, perceptron_rule, refuse_for_streams};
use super::stream::{refuse_balanced, refuse_one_vs_rest};
use crate::certificate::numbers;
use crate::data::{Labels, Row};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::kernel::Kernel;
use crate::model::{About, Model, Scorer, atomic};
use crate::online::rule::{self, Aggressiveness, Length, Tie};
use crate::online::{Hypothesis, Order, RowOutcome, Stream, StreamState, Streamed};
use crate::penalty::Bias;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// A perceptron or passive-aggressive learner that is given one row at a time. Labels and features may occur
/// for the first time at any row.
///
/// ```
/// use novikoff::Perceptron;
///
/// let mut online = Perceptron::averaged().online();
/// for _ in 0..10 {
///     online.learn(&[1.0, 0.5], "spam")?;
///     online.learn(&[-1.0, 0.2], "ham")?;
/// }
/// assert_eq!(online.model()?.scores_of(&[2.0, 1.0])?.len(), 1);
/// assert!(online.progressive_error() < 0.2);
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Online {
    learner: Learner,
    stream: RuleStream,
    labels: Labels,
    class_weights: Vec<f64>,
    features: usize,
}

/// The stream of a rule.
#[derive(Clone, Debug)]
enum RuleStream {
    Perceptron(Stream<rule::Perceptron>),
    PassiveAggressive(Stream<rule::PassiveAggressive>),
}

/// Runs `$body` with `$stream` bound to the stream, of whatever rule.
macro_rules! each_rule {
    ($streams:expr, $stream:ident => $body:expr) => {
        match $streams {
            RuleStream::Perceptron($stream) => $body,
            RuleStream::PassiveAggressive($stream) => $body,
        }
    };
}

impl Perceptron {
    /// A learner of one row at a time: of the last weights, or of their average.
    pub fn online(&self) -> Online {
        Online::new(Learner::Perceptron(self.clone()))
    }
}

impl PassiveAggressive {
    /// A learner of one row at a time.
    pub fn online(&self) -> Online {
        Online::new(Learner::PassiveAggressive(self.clone()))
    }
}

impl Online {
    fn new(learner: Learner) -> Self {
        let stream = match &learner {
            Learner::PassiveAggressive(own) => {
                let rule = rule::PassiveAggressive { aggressiveness: own.aggressiveness };
                RuleStream::PassiveAggressive(Stream::new(rule, own.bias, Hypothesis::Last))
            }
            Learner::Perceptron(own) => RuleStream::Perceptron(Stream::new(own.rule, own.bias, own.returned)),
            other => {
                let rule = rule::Perceptron::default();
                RuleStream::Perceptron(Stream::new(rule, other.bias(), Hypothesis::Last))
            }
        };
        Self { learner, stream, labels: Labels::default(), class_weights: Vec::new(), features: 0 }
    }

    /// Predicts a row, then learns from its label. An error, of settings or of the row, changes nothing.
    pub fn learn<'a>(&mut self, row: impl Into<Row<'a>>, label: &str) -> Result<RowOutcome> {
        self.learn_weighted(row, label, 1.0)
    }

    /// The same for a row that counts as often as its weight says.
    pub fn learn_weighted<'a>(
        &mut self,
        row: impl Into<Row<'a>>,
        label: &str,
        weight: f64,
    ) -> Result<RowOutcome> {
        let row = row.into();
        if self.rows() == 0 {
            self.check_settings()?;
        }
        check_row(row)?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::input(format!("the weight of a row is {weight}, not a finite number from 0")));
        }
        let features = self.features.max(width(row));
        check_size(features, self.labels.len() + 1)?;
        self.features = features;
        let class = self.labels.intern(label);
        if class as usize == self.class_weights.len() {
            self.class_weights.push(match &self.learner.shared().class_weight {
                ClassWeight::Given(given) => given_weight(given, label),
                ClassWeight::Equal | ClassWeight::Balanced => 1.0,
            });
        }
        let weight = weight * self.class_weights[class as usize];
        let classes = self.labels.len().max(2);
        Ok(each_rule!(&mut self.stream, stream => {
            stream.reserve(features, classes);
            stream.learn(row, class, weight)
        }))
    }

    /// Rows learned from.
    pub fn rows(&self) -> u64 {
        each_rule!(&self.stream, stream => stream.tally().0)
    }

    /// Share of rows that were predicted wrongly before they were learned from.
    pub fn progressive_error(&self) -> f64 {
        let (rows, wrong, _) = each_rule!(&self.stream, stream => stream.tally());
        wrong as f64 / rows.max(1) as f64
    }

    /// The labels so far, in the order of their first rows.
    pub fn labels(&self) -> &[String] {
        self.labels.names()
    }

    /// The model of the rows so far; an error before there are two labels.
    pub fn model(&self) -> Result<Model> {
        let shared = self.learner.shared();
        if let ClassWeight::Given(given) = &shared.class_weight {
            check_class_weights(given, &self.labels)?;
        }
        let schema = Schema::one_based();
        let classes = Classes::new(&self.labels, &schema, shared)?;
        let streamed = each_rule!(&self.stream, stream => stream.clone().finish(&classes.order));
        let Streamed { weights, scheme, rows, mistakes, updates, .. } = streamed;
        if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
            return Err(overflow());
        }
        let mut settings = self.corrections()?.describe(&self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        let results = BTreeMap::from([
            ("mistakes".to_owned(), json!(mistakes)),
            ("updates".to_owned(), json!(updates)),
            ("progressive_error".to_owned(), json!(self.progressive_error())),
        ]);
        let about = About {
            learner: self.learner.name().to_owned(),
            settings,
            seed: shared.seed,
            features: self.features as u64,
            rows,
            // Rows that come one at a time, perhaps over days, are not hashed.
            data_hash: String::new(),
            results,
        };
        let (labels, schema) = (classes.labels, Schema::one_based());
        Ok(Model { about, labels, schema, scorer: Scorer::Linear(weights), probabilities: None })
    }

    /// Writes the state to a file, as a whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let text = serde_json::to_string(&self.state()?)
            .map_err(|error| Error::output(path.as_ref().display().to_string(), error.to_string()))?;
        atomic::write(path.as_ref(), text.as_bytes())
    }

    /// Reads a state that [`Online::save`] has written. Learning goes on as if it had never stopped.
    pub fn resume(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(&name, &error))?;
        Self::from_text(&text).map_err(|error| error.at(name, 0, 0))
    }

    fn from_text(text: &str) -> Result<Self> {
        let state: State = serde_json::from_str(text)
            .map_err(|error| Error::input(format!("this is no state of an online learner: {error}")))?;
        if state.format != FORMAT || state.version != VERSION {
            let (format, version) = (&state.format, state.version);
            let what =
                format!("this is {format:?}, version {version}, and not {FORMAT:?}, version {VERSION}");
            return Err(Error::input(what));
        }
        state.into_online()
    }

    fn corrections(&self) -> Result<Corrections> {
        match &self.learner {
            Learner::Perceptron(own) => Ok(own.into()),
            Learner::PassiveAggressive(own) => Ok(own.into()),
            other => Err(Error::usage(format!("{} does not learn from one row at a time", other.name()))),
        }
    }

    fn check_settings(&self) -> Result<()> {
        let shared = self.learner.shared();
        refuse_balanced(shared)?;
        refuse_one_vs_rest(shared)?;
        if shared.map.is_some() || shared.calibrate.is_some() {
            let what = "rows that come one at a time are neither mapped nor calibrated";
            return Err(Error::usage(what).hint("leave out `map` and `calibrate`"));
        }
        let corrections = self.corrections()?;
        if corrections.kernel != Kernel::Linear {
            let what = "a learner of one row at a time has weights of features, and no kernel";
            return Err(Error::usage(what).hint("leave out `kernel`"));
        }
        match &self.learner {
            Learner::Perceptron(own) => {
                refuse_for_streams(own)?;
                perceptron_rule(own).map(drop)
            }
            Learner::PassiveAggressive(own) => passive_aggressive_rule(own).map(drop),
            Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => Ok(()),
        }
    }
}

/// One more than the largest column of a row.
fn width(row: Row<'_>) -> usize {
    match row {
        Row::Dense32(values) => values.len(),
        Row::Dense64(values) => values.len(),
        Row::Sparse32(columns, _) | Row::Sparse64(columns, _) | Row::Uniform(columns, _) => {
            columns.last().map_or(0, |last| *last as usize + 1)
        }
    }
}

/// A row from outside: columns in order, and every value finite.
fn check_row(row: Row<'_>) -> Result<()> {
    let in_order = match row {
        Row::Dense32(_) | Row::Dense64(_) => true,
        Row::Sparse32(columns, values) => columns.len() == values.len() && columns.is_sorted_by(|a, b| a < b),
        Row::Sparse64(columns, values) => columns.len() == values.len() && columns.is_sorted_by(|a, b| a < b),
        Row::Uniform(columns, _) => columns.is_sorted_by(|a, b| a < b),
    };
    if !in_order {
        return Err(Error::input(
            "the columns of a sparse row do not increase, or are not as many as its values",
        ));
    }
    let mut wrong = None;
    row.for_each_nonzero(|column, x| {
        if !x.is_finite() {
            wrong = Some((column, x));
        }
    });
    match wrong {
        Some((column, x)) => {
            let what = format!("the value of column {} is {x}", u64::from(column) + 1);
            Err(Error::input(what).hint("every value must be a finite number"))
        }
        None => Ok(()),
    }
}

const FORMAT: &str = "novikoff-online";
const VERSION: u32 = 1;

/// A state as a file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    format: String,
    version: u32,
    rule: SavedRule,
    bias: Bias,
    seed: u64,
    positive: Option<String>,
    class_weight: Vec<(String, f64)>,
    labels: Vec<String>,
    features: usize,
    counts: StreamState,
    #[serde(with = "numbers")]
    weights: Vec<f64>,
    #[serde(with = "numbers")]
    delayed: Vec<f64>,
}

/// The rule and its settings.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum SavedRule {
    Perceptron { step: f64, length: Length, tie: Tie },
    Averaged { step: f64, length: Length, tie: Tie },
    PassiveAggressive { aggressiveness: Aggressiveness },
}

impl Online {
    fn state(&self) -> Result<State> {
        let rule = match &self.learner {
            Learner::PassiveAggressive(own) => {
                SavedRule::PassiveAggressive { aggressiveness: own.aggressiveness }
            }
            Learner::Perceptron(own) => {
                let rule::Perceptron { step, length, tie } = own.rule;
                match own.returned {
                    Hypothesis::Last => SavedRule::Perceptron { step, length, tie },
                    Hypothesis::Average => SavedRule::Averaged { step, length, tie },
                    Hypothesis::Votes => return Err(refuse_for_streams(own).err().unwrap_or_else(overflow)),
                }
            }
            other => {
                let what = format!("{} does not learn from one row at a time", other.name());
                return Err(Error::usage(what));
            }
        };
        let shared = self.learner.shared();
        let class_weight = match &shared.class_weight {
            ClassWeight::Given(given) => given.clone(),
            ClassWeight::Equal | ClassWeight::Balanced => Vec::new(),
        };
        let (counts, weights, delayed) = each_rule!(&self.stream, stream => stream.state());
        Ok(State {
            format: FORMAT.into(),
            version: VERSION,
            rule,
            bias: self.learner.bias(),
            seed: shared.seed,
            positive: shared.positive.clone(),
            class_weight,
            labels: self.labels.names().to_vec(),
            features: self.features,
            counts,
            weights,
            delayed,
        })
    }
}

impl State {
    fn into_online(self) -> Result<Online> {
        let shared = Shared {
            positive: self.positive,
            class_weight: match self.class_weight.is_empty() {
                true => ClassWeight::Equal,
                false => ClassWeight::Given(self.class_weight),
            },
            seed: self.seed,
            ..Shared::default()
        };
        let learner: Learner = match self.rule {
            SavedRule::Perceptron { step, length, tie } => Perceptron {
                rule: rule::Perceptron { step, length, tie },
                bias: self.bias,
                shared,
                ..Perceptron::new()
            }
            .into(),
            SavedRule::Averaged { step, length, tie } => Perceptron {
                rule: rule::Perceptron { step, length, tie },
                bias: self.bias,
                shared,
                ..Perceptron::averaged()
            }
            .into(),
            SavedRule::PassiveAggressive { aggressiveness } => {
                PassiveAggressive { aggressiveness, bias: self.bias, shared, ..PassiveAggressive::new() }
                    .into()
            }
        };
        let mut online = Online::new(learner);
        online.check_settings()?;
        online.labels = Labels::new(&self.labels);
        if online.labels.len() != self.labels.len() {
            return Err(damaged("a label is there twice"));
        }
        check_size(self.features, self.labels.len())?;
        online.features = self.features;
        let classes = self.labels.len().max(2);
        online.class_weights = match &online.learner.shared().class_weight {
            ClassWeight::Given(given) => self.labels.iter().map(|label| given_weight(given, label)).collect(),
            ClassWeight::Equal | ClassWeight::Balanced => vec![1.0; self.labels.len()],
        };
        each_rule!(&mut online.stream, stream => {
            stream.reserve(self.features, classes);
            stream.restore(self.counts, &self.weights, &self.delayed).map_err(damaged)
        })?;
        Ok(online)
    }
}

fn damaged(what: &'static str) -> Error {
    Error::input(format!("this state of an online learner is damaged: {what}"))
}
