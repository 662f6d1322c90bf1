//! Training on a stream.

use super::classes::{Classes, check_class_weights, check_size, given_weight, weightless};
use super::geometry::overflow;
use super::{ClassWeight, Fit, Learner, Settings, describe, keep};
use crate::control::{Flow, Observer, Progress};
use crate::data::Fingerprint;
use crate::error::{Error, Result};
use crate::model::{About, Model, Scorer};
use crate::multiclass::Scheme;
use crate::online::rule::{Rule, Tie};
use crate::online::{Order, Stopped, Stream};
use crate::read::{Reader, pipeline::Outcome};
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn train_stream<R: Rule>(rule: R, reader: Reader, settings: &Settings, observer: &mut dyn Observer) -> Result<Fit> {
    refuse_for_streams(settings)?;
    let given = match &settings.class_weight {
        ClassWeight::Given(given) => given.as_slice(),
        _ => &[],
    };
    let mut class_weights = Vec::new();
    let mut weightless = true;
    let mut stream = Stream::new(rule, settings.bias, keep(settings.learner));
    let mut fingerprint = Fingerprint::default();
    let mut next_report = 1u64;
    let mut features = 0;
    let end = reader.for_each(observer, |chunk, observer| {
        features = chunk.batch.indices.iter().fold(features, |most, &j| most.max(j as usize + 1));
        check_size(features, chunk.labels.len())?;
        class_weights.extend(chunk.labels.names()[class_weights.len()..].iter().map(|name| given_weight(given, name)));
        stream.expect(features, 2);
        let mut flow = Flow::Continue;
        for r in 0..chunk.batch.rows() {
            let (row, weight, class) = (chunk.batch.row(r), chunk.batch.weight(r), chunk.batch.labels[r]);
            fingerprint.row(row, Some(class), weight);
            let weight = weight * class_weights[class as usize];
            // A class is there from its first row on, however the stream comes in parts.
            stream.expect(features, class as usize + 1);
            stream.learn(row, class, weight);
            weightless &= weight == 0.0;
            let (rows, errors, mistakes) = stream.tally();
            if rows == next_report {
                next_report *= 2;
                if observer.observe(Progress::Stream { rows, errors, mistakes }) == Flow::Stop {
                    flow = Flow::Stop;
                }
            }
        }
        Ok(flow)
    })?;
    if end.outcome == Outcome::Stopped && end.labels.len() < 2 {
        return Err(Error::interrupted());
    }
    check_class_weights(given, &end.labels)?;
    if weightless {
        return Err(self::weightless());
    }
    let classes = Classes::new(&end.labels, settings)?;
    let streamed = stream.finish(&classes.order);
    let features = end.features.unwrap_or(features).max(features);
    let progressive_error = streamed.wrong as f64 / streamed.rows.max(1) as f64;
    let stopped = if end.outcome == Outcome::Stopped { Stopped::Interrupted } else { Stopped::EndOfStream };
    let results = BTreeMap::from([
        ("epochs".to_owned(), json!(1)),
        ("mistakes".to_owned(), json!(streamed.mistakes)),
        ("updates".to_owned(), json!(streamed.updates)),
        ("progressive_error".to_owned(), json!(progressive_error)),
        ("stopped".to_owned(), json!(stopped)),
    ]);
    let mut about_settings = describe(settings, streamed.scheme);
    about_settings.insert("order".into(), json!(Order::Given));
    about_settings.insert("epochs".into(), json!(1));
    let about = About {
        learner: settings.learner.name().to_owned(),
        settings: about_settings,
        seed: settings.seed,
        features: features as u64,
        rows: streamed.rows,
        data_hash: fingerprint.finish(&end.labels),
        results,
    };
    let mut weights = streamed.weights;
    weights.grow(features);
    if !weights.values.iter().chain(&weights.bias).all(|weight| weight.is_finite()) {
        return Err(overflow());
    }
    Ok(Fit {
        model: Model { about, labels: classes.labels, schema: end.schema, scorer: Scorer::Linear(weights), probabilities: None },
        stopped,
        trace: Vec::new(),
        epoch: 1,
        mistakes: streamed.mistakes,
        updates: streamed.updates,
        train_error: None,
        progressive_error: Some(progressive_error),
        geometry: None,
        separation: None,
        margin_upper: None,
        promise: None,
        witness: None,
        scheme: streamed.scheme,
        report: Some(end.report),
        validation_error: None,
        risk: None,
    })
}

pub(super) fn refuse_for_streams(settings: &Settings) -> Result<()> {
    let refuse = |what: &str, hint: &str| Err(Error::usage(what).hint(hint));
    if settings.learner == Learner::Voted {
        return refuse(
            "voting keeps the rows of all mistakes, and a stream is not stored",
            "use --learner averaged with --online",
        );
    }
    if settings.class_weight == ClassWeight::Balanced {
        return refuse("balanced class weights need the counts of the whole stream", "give them: --class-weight LABEL=WEIGHT,…");
    }
    if settings.learner != Learner::PassiveAggressive && settings.tie != Tie::Mistake {
        let hint = "use --tie mistake with --online";
        return refuse("which label is the positive one, and wins ties, is not known before a stream shows both", hint);
    }
    if settings.multiclass == Some(Scheme::OneVsRest) {
        let hint = "use --multiclass joint with --online";
        return refuse("one-vs-rest needs every class from the first row on, and a stream shows them as they come", hint);
    }
    Ok(())
}
