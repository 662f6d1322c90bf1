//! What a training came to, as one JSON object with all keys, whatever was trained.

use super::training::support;
use super::written::{drawn, report};
use crate::arguments::Train;
use crate::flags::with_options;
use crate::messages::warnings;
use crate::outcome::Outcome;
use novikoff::data::Scale;
use novikoff::evaluate::Evaluation;
use novikoff::loss::LossName;
use novikoff::model::{Scorer, Task};
use novikoff::read::Options;
use novikoff::train::{Continued, Details, Fit, Learner, RiskFit, Validation};
use serde_json::{Map, Value, json};

/// All that is known of a training.
pub fn training(arguments: &Train, options: &Options, outcome: &Outcome) -> Value {
    let mut all = Map::new();
    for part in [
        what(arguments, outcome),
        settings(&outcome.fit),
        counts(&outcome.fit),
        solution(&outcome.fit),
        margins(&outcome.fit),
        errors(outcome),
        of_loss(outcome),
        files(arguments, options, outcome),
    ] {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    Value::Object(all)
}

fn what(arguments: &Train, outcome: &Outcome) -> Value {
    let (fit, risk) = (&outcome.fit, outcome.fit.risk());
    let own_loss = match &fit.learner {
        Learner::Network(own) => Some(own.loss.name()),
        _ => risk.map(|risk| risk.loss),
    };
    json!({
        "command": "train",
        "task": if fit.model.task() == Task::Regression { "regression" } else { "classification" },
        "label_column": fit.model.schema.label_column(),
        "learner": fit.model.about.learner,
        "loss": own_loss,
        "penalty": risk.map(penalty_name),
        "solver": match (risk, arguments.online, &fit.learner) {
            (Some(risk), ..) => risk.solver,
            (_, true, _) => "online",
            (_, _, Learner::Bayes(_)) => "counts",
            (_, _, Learner::Network(_)) => "adam",
            _ => "epochs",
        },
        "rows": fit.model.about.rows,
        "features": fit.model.about.features,
        "nonzeros": outcome.nonzeros,
        "classes": fit.model.labels.len(),
        "labels": fit.model.labels.names(),
        "from": arguments.from,
        "continued": fit.resumed.map(|resumed| match resumed.continued {
            Continued::Exactly => "exactly",
            Continued::FromWeights => "from-weights",
        }),
        "learned_before": fit.resumed.map(|resumed| resumed.before),
    })
}

fn settings(fit: &Fit) -> Value {
    let risk = fit.risk();
    let (hidden, activation) = match &fit.learner {
        Learner::Network(own) => (Some(own.units), Some(own.activation)),
        _ => (None, None),
    };
    let setting = |name: &str| fit.model.about.settings.get(name);
    let network_lambda = hidden.and_then(|_| setting("lambda")?.as_f64());
    json!({
        "bias": fit.learner.bias(),
        "map": fit.learner.shared().map.map(|map| map.to_string()),
        "mapped_features": mapped_features(fit),
        "multiclass": fit.scheme,
        "hidden": hidden,
        "activation": activation,
        "lambda": risk.map(|risk| risk.lambda).or(network_lambda),
        "l1": risk.map(|risk| risk.l1),
        "tolerance": match &fit.learner {
            Learner::Risk(own) => Some(own.tolerance),
            _ => None,
        },
    })
}

fn counts(fit: &Fit) -> Value {
    let kernel = match &fit.learner {
        Learner::Perceptron(own) => Some(own.kernel.to_string()),
        Learner::PassiveAggressive(own) => Some(own.kernel.to_string()),
        _ => None,
    };
    let (epochs, epoch) = match &fit.details {
        Details::Risk(risk) => (risk.steps, 0),
        Details::Run(run) => (run.history.epochs.len().max(1), run.history.best),
        Details::Network(history) => (history.epochs.len().max(1), history.best),
        Details::Stream(_) | Details::Counts => (1, 1),
    };
    let (mistakes, updates) = match (&fit.details, &fit.learner) {
        (_, Learner::Bayes(_)) => (None, None),
        (Details::Stream(stream), _) => (Some(stream.mistakes), Some(stream.updates)),
        _ => fit.history().map(|history| (history.mistakes, history.updates)).unzip(),
    };
    let bayes = match &fit.learner {
        Learner::Bayes(own) => Some(own),
        _ => None,
    };
    let setting = |name: &str| bayes.map(|_| fit.model.about.settings.get(name));
    json!({
        "epochs": epochs,
        "epoch": epoch,
        "mistakes": mistakes,
        "updates": updates,
        "kernel": kernel.or_else(|| matches!(fit.learner, Learner::Network(_)).then(|| "linear".to_owned())),
        "support": support(&fit.model.scorer),
        "kernels": fit.model.about.results.get("kernels"),
        "likelihood": bayes.map(|own| own.likelihood),
        "smoothing": setting("smoothing"),
        "priors": setting("priors"),
    })
}

fn solution(fit: &Fit) -> Value {
    let risk = fit.risk();
    json!({
        "objective": risk.map(|risk| risk.objective),
        "dual": risk.map(|risk| risk.dual),
        "relative_gap": risk.map(|risk| risk.relative_gap),
        "gradient": risk.map(|risk| risk.gradient),
        "stopped": fit.termination,
        "obstacle": risk.and_then(|risk| risk.obstacle.as_deref()).map(with_options),
    })
}

/// How columns were scaled for the rows that margins, radius, mistake bounds and objective are about.
fn scale(fit: &Fit) -> Option<Scale> {
    match (&fit.learner, fit.run()) {
        (_, Some(run)) => Some(run.scale),
        (Learner::Risk(own), _) => Some(own.scale),
        (Learner::Network(own), _) => Some(own.scale),
        _ => None,
    }
}

fn margins(fit: &Fit) -> Value {
    let (run, bracket) = (fit.run(), fit.risk().and_then(|risk| risk.margin));
    let (geometry, promise) = (run.and_then(|run| run.geometry), run.and_then(|run| run.promise.as_ref()));
    json!({
        "scale": scale(fit),
        "margin": bracket.map(|m| m.0).or(geometry.map(|g| g.margin)),
        "margin_bound": bracket.map(|m| m.1).or(run.and_then(|run| run.margin_upper)),
        "radius": geometry.map(|g| g.radius),
        "margin_reached": run.and_then(|run| run.separation).map(|g| g.margin),
        "mistake_bound": promise.map(|promise| promise.bound),
        "mistake_bound_forever": promise.and_then(|promise| promise.forever),
        "mistake_theorem": promise.map(|promise| promise.theorem),
        "unseen_error_bound": promise.and_then(|promise| promise.unseen),
    })
}

fn errors(outcome: &Outcome) -> Value {
    let fit = &outcome.fit;
    let epochs = fit.history().map_or(&[][..], |history| &history.epochs[..]);
    let curve: Option<Vec<f64>> = epochs.iter().map(|epoch| epoch.validation_error).collect();
    let doubling = |&(rows, errors, mistakes): &(u64, u64, u64)| {
        let error = errors as f64 / rows.max(1) as f64;
        json!({"rows": rows, "error": error, "mistakes": mistakes})
    };
    let tested = match &outcome.test {
        Some(Evaluation::Numbers(measured)) => Some(measured),
        _ => None,
    };
    let validated = fit.validation.as_ref().and_then(Validation::regression);
    json!({
        "train_error": fit.train_error,
        "validation_error": fit.validation_error(),
        "validation_r2": validated.map(|measured| measured.r2),
        "validation_mae": validated.map(|measured| measured.mae),
        "validation_rmse": validated.map(|measured| measured.rmse),
        "validation_rows": fit.validation.as_ref().map(Validation::rows),
        "validation_errors": curve.filter(|curve| !curve.is_empty()),
        "progressive_error": fit.stream().map(|stream| stream.progressive_error),
        "progressive": outcome.doublings.iter().map(doubling).collect::<Vec<_>>(),
        "train_r2": outcome.train.map(|measured| measured.r2),
        "test_r2": tested.map(|measured| measured.r2),
        "test_mae": tested.map(|measured| measured.mae),
        "test_rmse": tested.map(|measured| measured.rmse),
        "test_error": outcome.test.as_ref().and_then(Evaluation::error),
    })
}

/// Of a loss with a parameter: that, the mean loss, and the share of rows at or below the prediction.
fn of_loss(outcome: &Outcome) -> Value {
    let fit = &outcome.fit;
    let Some((name, parameter)) = fit.model.loss().and_then(LossName::parameter) else { return Value::Null };
    let tested = match &outcome.test {
        Some(Evaluation::Numbers(measured)) => Some(measured),
        _ => None,
    };
    let trained = outcome.train.as_ref();
    let validated = fit.validation.as_ref().and_then(Validation::regression);
    let mut all = Map::from_iter([(name.to_owned(), json!(parameter))]);
    for (rows, measured) in [("train", trained), ("validation", validated), ("test", tested)] {
        let mean = measured.and_then(|measured| measured.mean_loss).map(|it| it.mean);
        all.insert(format!("{rows}_loss"), json!(mean));
        all.insert(format!("{rows}_coverage"), json!(measured.map(|measured| measured.coverage)));
    }
    Value::Object(all)
}

fn files(arguments: &Train, options: &Options, outcome: &Outcome) -> Value {
    let fit = &outcome.fit;
    json!({
        "read_seconds": outcome.read_seconds,
        "train_seconds": outcome.train_seconds,
        "threads": options.threads,
        "seed": fit.learner.shared().seed,
        "data_hash": fit.model.about.data_hash,
        "model": arguments.output.as_ref().map(|path| path.display().to_string()),
        "certificate": outcome.certificate,
        "trace": arguments.trace.as_ref().map(|path| path.display().to_string()),
        "report": report(&arguments.pictures),
        "pictures": drawn(&arguments.pictures),
        "warnings": warnings(),
    })
}

fn mapped_features(fit: &Fit) -> Option<usize> {
    if let Scorer::Mapped(mapped) = &fit.model.scorer { Some(mapped.mapper.features()) } else { None }
}

fn penalty_name(risk: &RiskFit) -> &'static str {
    match (risk.lambda > 0.0, risk.l1 > 0.0) {
        (false, false) => "none",
        (true, false) => "l2",
        (false, true) => "l1",
        (true, true) => "elastic-net",
    }
}
