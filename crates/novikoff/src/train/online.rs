//! Learning from one row at a time, with a state that can be saved and resumed.

use super::classes::{Classes, check_class_weights, check_size, check_weights_given, given_weight};
use super::geometry::overflow;
use super::learner::{ClassWeight, Learner, PassiveAggressive, Perceptron};
use super::resume::{Prior, put_linear, put_stream, recall};
use super::run::{Corrections, passive_aggressive_rule, perceptron_rule, refuse_for_streams};
use super::stream::{linear_parts, refuse_balanced, refuse_one_vs_rest};
use crate::data::{Labels, Row};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::kernel::Kernel;
use crate::model::{self, About, Model, Scorer, State, StateKind};
use crate::online::rule;
use crate::online::{Hypothesis, Order, RowOutcome, Stream, StreamCounts, Streamed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A perceptron or passive-aggressive learner that is given one row at a time. Labels and features may occur
/// for the first time at any row.
///
/// ```
/// use novikoff::Perceptron;
///
/// let mut online = Perceptron::averaged().online()?;
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
    /// What the model says of the one that it was started from.
    origin: BTreeMap<String, Value>,
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
    pub fn online(&self) -> Result<Online> {
        Online::new(Learner::Perceptron(self.clone()))
    }
}

impl PassiveAggressive {
    /// A learner of one row at a time.
    pub fn online(&self) -> Result<Online> {
        Online::new(Learner::PassiveAggressive(self.clone()))
    }
}

impl Online {
    /// A learner that starts from zero. Settings that it cannot learn with are an error.
    fn new(learner: Learner) -> Result<Self> {
        check_settings(&learner)?;
        let stream = match &learner {
            Learner::PassiveAggressive(own) => {
                let rule = rule::PassiveAggressive { aggressiveness: own.aggressiveness };
                RuleStream::PassiveAggressive(Stream::new(rule, own.bias, Hypothesis::Last))
            }
            Learner::Perceptron(own) => RuleStream::Perceptron(Stream::new(own.rule, own.bias, own.returned)),
            other => return Err(not_row_by_row(other)),
        };
        Ok(Self {
            learner,
            stream,
            labels: Labels::default(),
            class_weights: Vec::new(),
            features: 0,
            origin: BTreeMap::new(),
        })
    }

    /// Predicts a row, then learns from its label. An error changes nothing.
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
        check_row(row)?;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::input(format!("the weight of a row is {weight}, not a finite number from 0")));
        }
        let features = self.features.max(width(row));
        check_size(features, self.labels.len() + 1)?;
        self.features = features;
        let class = self.labels.intern(label);
        if class as usize == self.class_weights.len() {
            self.class_weights.push(self.weight_of(label));
        }
        let weight = weight * self.class_weights[class as usize];
        let classes = self.labels.len().max(2);
        Ok(each_rule!(&mut self.stream, stream => {
            stream.reserve(features, classes);
            stream.learn(row, class, weight)
        }))
    }

    /// Makes a label known before a row has it: the model scores it from now on.
    pub fn declare(&mut self, label: &str) {
        let class = self.labels.intern(label);
        if class as usize == self.class_weights.len() {
            self.class_weights.push(self.weight_of(label));
        }
    }

    /// Rows learned from.
    pub fn rows(&self) -> u64 {
        self.counts().rows
    }

    /// Share of rows that were predicted wrongly before they were learned from.
    pub fn progressive_error(&self) -> f64 {
        let StreamCounts { rows, wrong, .. } = self.counts();
        wrong as f64 / rows.max(1) as f64
    }

    fn counts(&self) -> StreamCounts {
        each_rule!(&self.stream, stream => stream.counts())
    }

    fn weight_of(&self, label: &str) -> f64 {
        match &self.learner.shared().class_weight {
            ClassWeight::Given(given) => given_weight(given, label),
            ClassWeight::Equal | ClassWeight::Balanced => 1.0,
        }
    }

    /// The labels so far, in the order of their first rows.
    pub fn labels(&self) -> &[String] {
        self.labels.names()
    }

    /// The model of the rows so far, with what learning needs to go on; an error before there are two labels,
    /// or the labels that have a weight.
    pub fn model(&self) -> Result<Model> {
        if let ClassWeight::Given(given) = &self.learner.shared().class_weight {
            check_class_weights(given, &self.labels)?;
        }
        self.current_model()
    }

    /// The same while labels that have a weight may still occur.
    fn current_model(&self) -> Result<Model> {
        let shared = self.learner.shared();
        let schema = Schema::one_based();
        let classes = Classes::new(&self.labels, &schema, shared)?;
        let (streamed, linear) =
            each_rule!(&self.stream, stream => stream.clone().finish_with_state(&classes.order));
        let Streamed { weights, scheme, rows, mistakes, updates, .. } = streamed;
        for weights in linear.last.iter().chain(&linear.delayed).chain([&weights]) {
            if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
                return Err(overflow());
            }
        }
        let mut state = State::new(StateKind::Stream);
        put_linear(&mut state, linear);
        put_stream(&mut state, self.counts(), (&classes.rank, self.features), None);
        let mut settings = corrections(&self.learner)?.describe(&self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        let mut results = BTreeMap::from([
            ("mistakes".to_owned(), json!(mistakes)),
            ("updates".to_owned(), json!(updates)),
            ("progressive_error".to_owned(), json!(self.progressive_error())),
        ]);
        results.extend(self.origin.clone());
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
        let (labels, schema, scorer) = (classes.labels, Schema::one_based(), Scorer::Linear(weights));
        Ok(Model { about, labels, schema, scorer, probabilities: None, state: Some(state) })
    }

    /// Writes the model with all that learning needs to go on to a file, as a whole or not at all. An error
    /// before there are two labels: until then there is no model.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        model::save(&self.current_model()?, path.as_ref())
    }

    /// Reads the model of a file and learns on from it, as [`Online::from_model`] does.
    pub fn resume(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        Self::from_model(&model::load(path.as_ref())?).map_err(|error| error.at(name, 0, 0))
    }

    /// Learns on from a model, by its own learner: as if learning had never stopped if the model is one of a
    /// stream and has its state, else from its weights. The model's features must be numbered by their
    /// indices, from 1.
    ///
    /// ```
    /// use novikoff::{Online, Perceptron};
    ///
    /// let mut online = Perceptron::averaged().online()?;
    /// online.learn(&[1.0, 0.5], "spam")?;
    /// online.learn(&[-1.0, 0.2], "ham")?;
    /// let mut resumed = Online::from_model(&online.model()?)?;
    /// online.learn(&[0.5, -0.5], "ham")?;
    /// resumed.learn(&[0.5, -0.5], "ham")?;
    /// assert_eq!(resumed.model()?, online.model()?);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn from_model(from: &Model) -> Result<Self> {
        if from.schema != Schema::one_based() {
            let what = "the model's features have names, or count from 0, and rows that come one at a time \
                        have columns";
            return Err(Error::usage(what).hint("go on from it by `fit_stream_from`"));
        }
        let mut online = Self::new(recall(from)?)?;
        let mut prior = Prior::new(from, &online.learner)?;
        (online.origin, online.features) = (prior.origin()?, prior.features);
        online.labels = Labels::new(prior.labels());
        online.class_weights = prior.labels().map(|label| online.weight_of(label)).collect();
        let returned = corrections(&online.learner)?.returned;
        let (weights, linear) = linear_parts(&mut prior, returned, &online.learner)?;
        each_rule!(&mut online.stream, stream => stream.resume(weights, linear, prior.counts));
        // Rows that come one at a time are not hashed: what is known of others ends here.
        prior.state.map_or(Ok(()), State::finish)?;
        Ok(online)
    }
}

fn corrections(learner: &Learner) -> Result<Corrections> {
    match learner {
        Learner::Perceptron(own) => Ok(own.into()),
        Learner::PassiveAggressive(own) => Ok(own.into()),
        other => Err(not_row_by_row(other)),
    }
}

fn not_row_by_row(learner: &Learner) -> Error {
    Error::usage(format!("{} does not learn from one row at a time", learner.name()))
        .hint("averaged, perceptron and passive-aggressive do")
}

fn check_settings(learner: &Learner) -> Result<()> {
    let shared = learner.shared();
    refuse_balanced(shared)?;
    refuse_one_vs_rest(shared)?;
    if let ClassWeight::Given(given) = &shared.class_weight {
        check_weights_given(given)?;
    }
    if shared.map.is_some() || shared.calibrate.is_some() {
        let what = "rows that come one at a time are neither mapped nor calibrated";
        return Err(Error::usage(what).hint("leave out `map` and `calibrate`"));
    }
    if corrections(learner)?.kernel != Kernel::Linear {
        let what = "a learner of one row at a time has weights of features, and no kernel";
        return Err(Error::usage(what).hint("leave out `kernel`"));
    }
    match learner {
        Learner::Perceptron(own) => {
            refuse_for_streams(own)?;
            perceptron_rule(own).map(drop)
        }
        Learner::PassiveAggressive(own) => passive_aggressive_rule(own).map(drop),
        Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => Ok(()),
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
