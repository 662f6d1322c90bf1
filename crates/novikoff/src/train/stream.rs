//! Training on a stream.

use super::classes::{Classes, check_class_weights, check_size, given_weight, weightless};
use super::fit::{Details, Fit, StreamDetails};
use super::geometry::overflow;
use super::learner::{ClassWeight, Learner, Shared};
use super::run::Corrections;
use crate::control::{Flow, Observer, Progress};
use crate::data::{Fingerprint, Row};
use crate::error::{Error, Result};
use crate::model::{About, Calibration, Model, Scorer};
use crate::multiclass::Scheme;
use crate::online::rule::Rule;
use crate::online::{Order, Stopped, Stream, Streamed};
use crate::read::Reader;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What learns from rows as they come.
pub(super) trait Streaming: Sized {
    /// A label has turned up: the next class is its.
    fn welcome(&mut self, _label: &str) -> Result<()> {
        Ok(())
    }

    /// Prepares for rows of so many features and classes.
    fn expect(&mut self, features: usize, classes: usize);

    /// Predicts a row, then learns from its class.
    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()>;

    /// Rows, wrong predictions and mistakes so far.
    fn tally(&self) -> (u64, u64, u64);

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
    pub(super) mistakes: u64,
    pub(super) updates: u64,
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
    fn expect(&mut self, features: usize, classes: usize) {
        self.stream.reserve(features, classes.max(2));
    }

    fn learn(&mut self, row: Row<'_>, class: u32, weight: f64) -> Result<()> {
        self.stream.learn(row, class, weight);
        Ok(())
    }

    fn tally(&self) -> (u64, u64, u64) {
        self.stream.tally()
    }

    fn finish(self, classes: &Classes, features: usize) -> Result<Learned> {
        let Streamed { mut weights, scheme, mistakes, updates, .. } = self.stream.finish(&classes.order);
        weights.grow(features);
        if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
            return Err(overflow());
        }
        let mut settings = self.corrections.describe(self.learner, scheme);
        settings.insert("order".into(), json!(Order::Given));
        settings.insert("epochs".into(), json!(1));
        Ok(Learned {
            scorer: Scorer::Linear(weights),
            probabilities: None,
            scheme,
            settings,
            mistakes,
            updates,
        })
    }
}

pub(super) fn train_stream(
    mut streaming: impl Streaming,
    reader: Reader,
    learner: &Learner,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let shared = learner.shared();
    refuse_balanced(shared)?;
    let given = match &shared.class_weight {
        ClassWeight::Given(given) => given.as_slice(),
        _ => &[],
    };
    let mut class_weights = Vec::new();
    let mut weightless = true;
    let mut fingerprint = Fingerprint::default();
    let mut next_report = 1u64;
    let mut features = 0;
    let end = reader.for_each(observer, |chunk, observer| {
        features = chunk.rows.indices.iter().fold(features, |most, &j| most.max(j as usize + 1));
        check_size(features, chunk.labels.len())?;
        for label in &chunk.labels.names()[class_weights.len()..] {
            class_weights.push(given_weight(given, label));
            streaming.welcome(label)?;
        }
        let mut flow = Flow::Continue;
        for r in 0..chunk.rows.len() {
            let (row, weight, class) = (chunk.rows.row(r), chunk.rows.weight(r), chunk.rows.labels[r]);
            fingerprint.row(row, Some(class), weight);
            let weight = weight * class_weights[class as usize];
            // A class is there from its first row on, however the stream comes in parts.
            streaming.expect(features, class as usize + 1);
            streaming.learn(row, class, weight)?;
            weightless &= weight == 0.0;
            let (rows, errors, mistakes) = streaming.tally();
            if rows == next_report {
                next_report *= 2;
                if observer.observe(Progress::Stream { rows, errors, mistakes }) == Flow::Stop {
                    flow = Flow::Stop;
                }
            }
        }
        Ok(flow)
    })?;
    if end.flow == Flow::Stop && end.labels.len() < 2 {
        return Err(Error::interrupted());
    }
    check_class_weights(given, &end.labels)?;
    if weightless {
        return Err(self::weightless());
    }
    let classes = Classes::new(&end.labels, shared)?;
    let (rows, wrong, _) = streaming.tally();
    let features = end.features.unwrap_or(features).max(features);
    check_size(features, classes.labels.len())?;
    let learned = streaming.finish(&classes, features)?;
    let progressive_error = wrong as f64 / rows.max(1) as f64;
    let stopped = if end.flow == Flow::Stop { Stopped::Interrupted } else { Stopped::EndOfStream };
    let results = BTreeMap::from([
        ("epochs".to_owned(), json!(1)),
        ("mistakes".to_owned(), json!(learned.mistakes)),
        ("updates".to_owned(), json!(learned.updates)),
        ("progressive_error".to_owned(), json!(progressive_error)),
        ("stopped".to_owned(), json!(stopped)),
    ]);
    let about = About {
        learner: learner.name().to_owned(),
        settings: learned.settings,
        seed: shared.seed,
        features: features as u64,
        rows,
        data_hash: fingerprint.finish(features, &end.labels, &end.schema),
        results,
    };
    let Learned { scorer, probabilities, .. } = learned;
    let details = StreamDetails {
        mistakes: learned.mistakes,
        updates: learned.updates,
        progressive_error,
        report: end.report,
    };
    Ok(Fit {
        model: Model { about, labels: classes.labels, schema: end.schema, scorer, probabilities },
        learner: learner.clone(),
        scheme: learned.scheme,
        stopped,
        train_error: None,
        details: Details::Stream(Box::new(details)),
    })
}

pub(super) fn refuse_balanced(shared: &Shared) -> Result<()> {
    if shared.class_weight == ClassWeight::Balanced {
        let error = Error::usage("balanced class weights need the counts of the whole stream");
        return Err(error.hint("give them: --class-weight LABEL=WEIGHT,…"));
    }
    Ok(())
}

/// Classes turn up as the stream goes on, and are learned jointly.
pub(super) fn refuse_one_vs_rest(shared: &Shared) -> Result<()> {
    if shared.multiclass == Some(Scheme::OneVsRest) {
        let what =
            "one-vs-rest needs every class from the first row on, and a stream shows them as they come";
        return Err(Error::usage(what).hint("use --multiclass joint with --online"));
    }
    Ok(())
}
