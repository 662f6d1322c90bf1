//! Training on a stream.

use super::classes::{Classes, check_class_weights, check_size, given_weight, weightless};
use super::fit::{Details, Fit, StreamDetails};
use super::geometry::overflow;
use super::learner::{ClassWeight, Learner, LearnerName, Shared};
use super::resume::{Prior, Resumed, averageless, other_scorer, put_linear, put_stream, take_linear};
use super::run::Corrections;
use super::task::refuse_targets_of_stream;
use crate::control::{Flow, Observer, Progress, Termination};
use crate::data::{Fingerprint, Labels, Row};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::memory::Estimate;
use crate::model::{About, Calibration, Model, Scorer, State, StateKind, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::Rule;
use crate::online::{Hypothesis, LinearState, Order, Stream, StreamCounts, Streamed, arranged};
use crate::read::{Chunk, Reader, Summary};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A learner of the rows of a stream.
pub(super) trait Streaming: Sized {
    /// Copies of all weights that there are in the end, at most.
    fn copies(&self) -> usize {
        2
    }

    /// Adds the class of a label that occurs for the first time.
    fn add_class(&mut self, _label: &str) -> Result<()> {
        Ok(())
    }

    /// Goes on from a model, of which the classes are there already.
    fn resume(&mut self, prior: &mut Prior<'_>) -> Result<()>;

    /// Reserves weights for rows of so many features and classes.
    fn reserve(&mut self, features: usize, classes: usize);

    /// Predicts a row, then learns from its class.
    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()>;

    /// The same, and tells the observer of every correction, if there is a way to.
    fn learn_followed(
        &mut self,
        row: Row<'_>,
        class: u32,
        weight: f64,
        _observer: &mut dyn Observer,
    ) -> Result<()> {
        self.learn(row, class, weight)
    }

    /// Rows, wrong predictions, mistakes and updates so far.
    fn counts(&self) -> StreamCounts;

    /// What came of it, with classes in their final order.
    fn finish(self, classes: &Classes, features: usize) -> Result<Learned>;
}

/// What came of a stream.
pub(super) struct Learned {
    pub(super) scorer: Scorer,
    pub(super) probabilities: Option<Calibration>,
    pub(super) scheme: Scheme,
    /// The settings as the model stores them.
    pub(super) settings: BTreeMap<String, Value>,
    /// What the learner needs to go on, in the order in which classes occurred.
    pub(super) state: State,
}

/// Weights that are corrected on mistakes.
pub(super) struct Corrected<'a, R> {
    stream: Stream<R>,
    corrections: &'a Corrections,
    learner: &'a Learner,
}

impl<'a, R: Rule> Corrected<'a, R> {
    pub(super) fn new(rule: R, corrections: &'a Corrections, learner: &'a Learner) -> Result<Self> {
        refuse_one_vs_rest(learner.shared())?;
        let stream = Stream::new(rule, corrections.bias, corrections.returned);
        Ok(Self { stream, corrections, learner })
    }
}

impl<R: Rule> Streaming for Corrected<'_, R> {
    fn copies(&self) -> usize {
        // An average, the weights it is of, and the sums it is computed from.
        if self.corrections.returned == Hypothesis::Average { 4 } else { 2 }
    }

    fn reserve(&mut self, features: usize, classes: usize) {
        self.stream.reserve(features, classes.max(2));
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        self.stream.learn(row, class, weight);
        Ok(())
    }

    fn learn_followed(
        &mut self,
        row: Row<'_>,
        class: u32,
        weight: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.stream.learn_followed(row, class, weight, observer);
        Ok(())
    }

    fn resume(&mut self, prior: &mut Prior<'_>) -> Result<()> {
        let (weights, state) = linear_parts(prior, self.corrections.returned, self.learner)?;
        self.stream.resume(weights, state, prior.counts);
        Ok(())
    }

    fn counts(&self) -> StreamCounts {
        self.stream.counts()
    }

    fn finish(self, classes: &Classes, features: usize) -> Result<Learned> {
        let (streamed, mut linear) = self.stream.finish_with_state(&classes.order);
        let Streamed { mut weights, scheme, .. } = streamed;
        let others = linear.last.iter_mut().chain(&mut linear.delayed);
        for weights in others.chain([&mut weights]) {
            weights.grow(features);
            if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
                return Err(overflow());
            }
        }
        let mut state = State::new(StateKind::Stream);
        put_linear(&mut state, linear);
        let mut settings = self.corrections.describe(self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        Ok(Learned { scorer: Scorer::Linear(weights), probabilities: None, scheme, settings, state })
    }
}

/// The last weights of a model, with classes in the order in which they occurred, and what their average is
/// computed from.
pub(super) fn linear_parts(
    prior: &mut Prior<'_>,
    returned: Hypothesis,
    learner: &Learner,
) -> Result<(Weights, LinearState)> {
    let Scorer::Linear(weights) = prior.scorer() else { return Err(other_scorer(prior.model, learner)) };
    let in_order = arranged(weights.clone(), &prior.ranks);
    let averages = |learner: &str| learner == LearnerName::Averaged.name();
    let Some(state) = prior.state.as_mut() else {
        if averages(&prior.model.about.learner) && returned == Hypothesis::Average {
            return Err(averageless());
        }
        return Ok((in_order, LinearState::default()));
    };
    let mut linear = take_linear(state, &in_order)?;
    Ok((linear.last.take().unwrap_or(in_order), linear))
}

/// Learns from every row of a stream, in the order in which they come.
pub(super) fn train_stream(
    streaming: impl Streaming,
    reader: Reader,
    (learner, from): (&Learner, Option<&Model>),
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let shared = learner.shared();
    refuse_balanced(shared)?;
    let given = match &shared.class_weight {
        ClassWeight::Given(given) => given.as_slice(),
        ClassWeight::Equal | ClassWeight::Balanced => &[],
    };
    let labels = StreamLabels { shared, schema: reader.schema().clone(), counted: 0 };
    let mut pass = Pass::new(streaming, given, labels);
    if let Some(model) = from {
        pass.resume(Prior::new(model, learner)?)?;
    }
    let end = reader.for_each(observer, |chunk, observer| pass.learn(&chunk, observer))?;
    if end.flow == Flow::Stop && end.labels.len() < 2 {
        return Err(Error::interrupted());
    }
    check_class_weights(given, &end.labels)?;
    if pass.is_weightless {
        return Err(weightless());
    }
    pass.finish(end, learner)
}

/// Looks at labels when there are new ones.
struct StreamLabels<'a> {
    shared: &'a Shared,
    schema: Schema,
    /// How many there were.
    counted: usize,
}

impl StreamLabels<'_> {
    fn check(&mut self, labels: &Labels, rows: u64) -> Result<()> {
        if std::mem::replace(&mut self.counted, labels.len()) == labels.len() {
            return Ok(());
        }
        refuse_targets_of_stream(labels, rows, &self.schema, self.shared)
    }
}

/// One pass over a stream.
struct Pass<'a, S> {
    streaming: S,
    given: &'a [(String, f64)],
    labels: StreamLabels<'a>,
    /// The weight of each class so far.
    class_weights: Vec<f64>,
    features: usize,
    /// Weights that are known to fit into memory.
    checked_weights: usize,
    /// The hash of the rows; none if those before are not known.
    fingerprint: Option<Fingerprint>,
    /// What the model says of the one that it was started from.
    origin: BTreeMap<String, Value>,
    resumed: Option<Resumed>,
    is_weightless: bool,
    /// The number of rows at which the observer is told of progress next.
    next_report: u64,
}

impl<'a, S: Streaming> Pass<'a, S> {
    fn new(streaming: S, given: &'a [(String, f64)], labels: StreamLabels<'a>) -> Self {
        Self {
            streaming,
            given,
            labels,
            class_weights: Vec::new(),
            features: 0,
            checked_weights: 0,
            fingerprint: Some(Fingerprint::default()),
            origin: BTreeMap::new(),
            resumed: None,
            is_weightless: true,
            next_report: 1,
        }
    }

    /// Goes on from a model.
    fn resume(&mut self, mut prior: Prior<'_>) -> Result<()> {
        self.origin = prior.origin()?;
        let (continued, before) = (prior.continued(), prior.counts.rows);
        self.resumed = Some(Resumed { continued, before, forgot_validation: false });
        for label in prior.labels() {
            self.class_weights.push(given_weight(self.given, label));
            self.streaming.add_class(label)?;
        }
        self.labels.counted = prior.ranks.len();
        self.streaming.resume(&mut prior)?;
        if let Some(state) = prior.state {
            state.finish()?;
        }
        (self.features, self.fingerprint) = (prior.features, prior.fingerprint);
        self.is_weightless = false;
        self.next_report = (prior.counts.rows + 1).next_power_of_two();
        Ok(())
    }

    /// Learns from the rows of a chunk.
    fn learn(&mut self, chunk: &Chunk<'_>, observer: &mut dyn Observer) -> Result<Flow> {
        self.features = chunk.rows.indices.iter().fold(self.features, |most, &j| most.max(j as usize + 1));
        check_size(self.features, chunk.labels.len())?;
        self.check_memory(chunk.labels.len())?;
        for label in &chunk.labels.names()[self.class_weights.len()..] {
            self.class_weights.push(given_weight(self.given, label));
            self.streaming.add_class(label)?;
        }
        self.labels.check(chunk.labels, self.streaming.counts().rows + chunk.rows.len() as u64)?;
        let mut flow = Flow::Continue;
        let is_followed = observer.follows_corrections();
        if is_followed {
            observer.classes(chunk.labels.names());
        }
        for r in 0..chunk.rows.len() {
            let (row, weight, class) = (chunk.rows.row(r), chunk.rows.weight(r), chunk.rows.labels[r]);
            if let Some(fingerprint) = &mut self.fingerprint {
                fingerprint.row(row, Some(class), weight);
            }
            let weight = weight * self.class_weights[class as usize];
            // A class exists from its first row on, however the stream is cut into chunks.
            self.streaming.reserve(self.features, class as usize + 1);
            match is_followed {
                true => self.streaming.learn_followed(row, class, weight, observer)?,
                false => self.streaming.learn(row, class, weight)?,
            }
            self.is_weightless &= weight == 0.0;
            if self.report(observer) == Flow::Stop {
                flow = Flow::Stop;
            }
        }
        Ok(flow)
    }

    /// The weights of so many classes must fit into memory; those that are there already do.
    fn check_memory(&mut self, classes: usize) -> Result<()> {
        /// Weights that nobody asks about: with a copy, 256 MB.
        const FEW: usize = 1 << 24;
        let weights = self.features * classes;
        let budget = self.labels.shared.memory;
        let new = if budget.is_some() { weights } else { weights.saturating_sub(self.checked_weights) };
        if new < FEW && budget.is_none() {
            return Ok(());
        }
        self.checked_weights = weights;
        let copies = self.streaming.copies();
        let estimate = Estimate::default().with("weights", &[(copies, ""), (new, "weights"), (8, "bytes")]);
        let hint = "fewer features or classes take less (`hash_bits`); `memory = SIZE` allows more";
        estimate.check("this stream", budget).map_err(|error| error.hint(hint))
    }

    /// Tells the observer of progress whenever the number of rows has doubled.
    fn report(&mut self, observer: &mut dyn Observer) -> Flow {
        let StreamCounts { rows, wrong: errors, mistakes, .. } = self.streaming.counts();
        if rows != self.next_report {
            return Flow::Continue;
        }
        self.next_report *= 2;
        observer.observe(Progress::Stream { rows, errors, mistakes })
    }

    /// The model of all rows, and what is known of it.
    fn finish(self, end: Summary, learner: &Learner) -> Result<Fit> {
        if let [only] = end.labels.names() {
            return Err(one_label(only, self.streaming.counts().rows));
        }
        let classes = Classes::new(&end.labels, &end.schema, learner.shared())?;
        let counts = self.streaming.counts();
        let StreamCounts { rows, wrong, mistakes, updates } = counts;
        let features = end.features.unwrap_or(self.features).max(self.features);
        check_size(features, classes.labels.len())?;
        let mut learned = self.streaming.finish(&classes, features)?;
        put_stream(&mut learned.state, counts, (&classes.rank, self.features), self.fingerprint.as_ref());
        let progressive_error = wrong as f64 / rows.max(1) as f64;
        let details = StreamDetails { mistakes, updates, progressive_error, report: end.report };
        let termination =
            if end.flow == Flow::Stop { Termination::Interrupted } else { Termination::EndOfStream };
        let data_hash = self.fingerprint.map(|rows| rows.finish(features, &end.labels, &end.schema));
        let about = About {
            learner: learner.name().to_owned(),
            settings: learned.settings,
            seed: learner.shared().seed,
            features: features as u64,
            rows,
            data_hash: data_hash.unwrap_or_default(),
            results: results(&details, termination).into_iter().chain(self.origin).collect(),
        };
        let Learned { scorer, probabilities, scheme, state, .. } = learned;
        let state = Some(state);
        Ok(Fit {
            model: Model { about, labels: classes.labels, schema: end.schema, scorer, probabilities, state },
            learner: learner.clone(),
            scheme,
            termination,
            train_error: None,
            validation: None,
            details: Details::Stream(Box::new(details)),
            resumed: self.resumed,
        })
    }
}

/// A model tells labels apart, and no file can say of one that it knows a single label.
fn one_label(only: &str, rows: u64) -> Error {
    let rows = if rows == 1 { "its only row".to_owned() } else { format!("all of its {rows} rows") };
    let what = format!("the stream had the label {only:?} in {rows}; learning to tell apart needs two");
    Error::input(what).hint(
        "nothing was learned that a model could keep: once there are rows with another label, give these first \
         and those after them, as one stream",
    )
}

/// What a model says of its stream.
fn results(details: &StreamDetails, termination: Termination) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("epochs".to_owned(), json!(1)),
        ("mistakes".to_owned(), json!(details.mistakes)),
        ("updates".to_owned(), json!(details.updates)),
        ("progressive_error".to_owned(), json!(details.progressive_error)),
        ("stopped".to_owned(), json!(termination)),
    ])
}

pub(super) fn refuse_balanced(shared: &Shared) -> Result<()> {
    if shared.class_weight == ClassWeight::Balanced {
        let error = Error::usage("balanced class weights need the counts of the whole stream");
        return Err(error.hint("give them: `class_weight = LABEL=WEIGHT,…`"));
    }
    Ok(())
}

/// Classes turn up as the stream goes on, and are learned jointly.
pub(super) fn refuse_one_vs_rest(shared: &Shared) -> Result<()> {
    if shared.multiclass == Some(Scheme::OneVsRest) {
        let what =
            "one-vs-rest needs every class from the first row on, and a stream shows them as they come";
        return Err(Error::usage(what).hint("use `multiclass = joint` with `online`"));
    }
    Ok(())
}
