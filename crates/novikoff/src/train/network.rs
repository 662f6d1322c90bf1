//! Training a network with one hidden layer, for classes or numbers.

use super::classes::{Classes, MOST_WEIGHTS, effective_weights, weightless};
use super::describe_class_weight;
use super::fit::{Details, Fit, History};
use super::geometry::overflow;
use super::learner::{LearnerName, MultilayerPerceptron, Strength};
use super::run::results;
use super::validation::HeldOut;
use crate::control::{Observer, Watch};
use crate::data::{Dataset, Labels};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::loss::LossName;
use crate::model::{About, Calibration, Model, Scorer};
use crate::multiclass::Scheme;
use crate::network::{self, Objective, Plan, ScaledTargets, Targets, Trained};
use crate::online::Validate;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl MultilayerPerceptron {
    /// Rows of a step, where so many rows count.
    fn batch_of(&self, rows: usize) -> usize {
        self.batch.unwrap_or_else(|| (rows / 400).clamp(4, 128))
    }
}

pub(super) fn train_network(
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &MultilayerPerceptron,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    check(settings, data)?;
    let Task { objective, classes, scheme, outputs } = Task::new(data, settings)?;
    let counted =
        (0..data.len()).filter(|&i| objective.weights.get(i).is_none_or(|weight| *weight > 0.0)).count();
    let plan = Plan {
        hidden: settings.units,
        activation: settings.activation,
        outputs,
        bias: settings.bias,
        batch: settings.batch_of(counted),
        step: settings.step,
        lambda: lambda(settings, &objective, data)?,
        order: settings.epochs.order,
        seed: settings.shared.seed,
        epochs: settings.epochs.most,
        patience: settings.epochs.patience,
    };
    let mut scales = data.factors(settings.scale);
    scales.resize(data.rows.columns(), 1.0);
    let held_out = HeldOut::new(validation, classes.as_ref())?;
    let error = |scorer: &Scorer, watch: &Watch<'_>| held_out.as_ref()?.error(scorer, watch);
    let validate: Validate<'_> = if held_out.is_some() { Some(&error) } else { None };
    // Before there is a model: nothing that takes long is to come after that and cannot be left out.
    let data_hash = data.fingerprint();
    let trained = network::train(&plan, &data.rows, &scales, &objective, validate, observer);
    if let Scorer::Network(network) = &trained.scorer
        && network.numbers().any(|x| !x.is_finite())
    {
        return Err(overflow());
    }
    let known = Known { trained, held_out, data_hash, classes, scheme };
    finish(known, data, &plan, settings, &Watch::new(observer))
}

/// What cannot work, whatever the rows.
fn check(settings: &MultilayerPerceptron, data: &Dataset) -> Result<()> {
    let MultilayerPerceptron { units, step, .. } = *settings;
    if units == 0 || settings.batch == Some(0) {
        return Err(Error::usage("a hidden layer has one unit at least, and a batch one row"));
    }
    if !(step.is_finite() && step > 0.0) {
        return Err(Error::usage(format!("`step` must be a positive number, not {step}")));
    }
    if data.is_empty() {
        return Err(Error::input("there are no rows to learn from"));
    }
    // Each weight is learned with two numbers beside it.
    if data
        .rows
        .columns()
        .saturating_add(1)
        .checked_mul(units)
        .is_none_or(|weights| weights > MOST_WEIGHTS / 2)
    {
        let what = format!(
            "{} features × {units} hidden units are more weights than fit into memory",
            data.rows.columns()
        );
        return Err(Error::input(what).hint("fewer units, by `units`, or fewer features, by `hash_bits`"));
    }
    Ok(())
}

/// What is to be predicted.
struct Task {
    objective: Objective,
    /// `None` for numbers.
    classes: Option<Classes>,
    scheme: Scheme,
    outputs: usize,
}

impl Task {
    fn new(data: &Dataset, settings: &MultilayerPerceptron) -> Result<Self> {
        let loss = settings.loss;
        if settings.loss.is_of_numbers() {
            let weights = data.row_weights.clone();
            refuse_weightless(&weights)?;
            let targets = Targets::Numbers(ScaledTargets::new(&data.targets()?, &weights, settings.bias));
            return Ok(Self {
                objective: Objective { loss, targets, weights },
                classes: None,
                scheme: Scheme::Two,
                outputs: 1,
            });
        }
        let classes = Classes::new(&data.names, &data.schema, &settings.shared)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, &settings.shared)?;
        refuse_weightless(&weights)?;
        let scheme = scheme(loss, classes.labels.len(), settings)?;
        let outputs = scheme.outputs(classes.labels.len());
        Ok(Self {
            objective: Objective { loss, targets: Targets::Classes(ranked, scheme), weights },
            classes: Some(classes),
            scheme,
            outputs,
        })
    }
}

fn refuse_weightless(weights: &[f64]) -> Result<()> {
    if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
        Err(weightless())
    } else {
        Ok(())
    }
}

/// Classes share the hidden layer in any case. What is joint is the loss: that of the softmax, or one of each
/// class against the rest.
fn scheme(loss: LossName, classes: usize, settings: &MultilayerPerceptron) -> Result<Scheme> {
    match settings.shared.multiclass {
        _ if loss != LossName::Logistic && settings.shared.multiclass == Some(Scheme::Joint) => {
            let what = format!(
                "the loss {} is of one class against the rest, not of all classes jointly",
                loss.name()
            );
            Err(Error::usage(what).hint("use `multiclass = one-vs-rest`, or `loss = logistic`"))
        }
        Some(scheme) if scheme != Scheme::Two => Ok(scheme),
        _ if classes == 2 => Ok(Scheme::Two),
        _ if loss == LossName::Logistic => Ok(Scheme::Joint),
        _ => Ok(Scheme::OneVsRest),
    }
}

fn lambda(settings: &MultilayerPerceptron, objective: &Objective, data: &Dataset) -> Result<f64> {
    let total = if objective.weights.is_empty() { data.len() as f64 } else { objective.weights.iter().sum() };
    match settings.strength {
        None => Ok(0.0),
        Some(Strength::Lambda(lambda)) if lambda.is_finite() && lambda >= 0.0 => Ok(lambda),
        Some(Strength::Lambda(lambda)) => {
            Err(Error::usage(format!("`lambda` must be a number from 0, not {lambda}")))
        }
        Some(Strength::Cost(cost)) if cost.is_finite() && cost > 0.0 => Ok(1.0 / (cost * total)),
        Some(Strength::Cost(cost)) => {
            Err(Error::usage(format!("`cost` must be a positive number, not {cost}")))
        }
    }
}

/// What is known when the epochs are over.
struct Known<'a> {
    trained: Trained,
    held_out: Option<HeldOut<'a>>,
    data_hash: String,
    classes: Option<Classes>,
    scheme: Scheme,
}

fn finish(
    known: Known<'_>,
    data: &Dataset,
    plan: &Plan,
    settings: &MultilayerPerceptron,
    watch: &Watch<'_>,
) -> Result<Fit> {
    let Known { trained, held_out, data_hash, classes, scheme } = known;
    let Trained { scorer, termination, trace, epoch } = trained;
    let error_on_training_rows =
        |classes: &Classes| evaluate::error_watched(&scorer, data, &classes.rank_all(&data.labels), watch);
    let train_error = classes.as_ref().and_then(error_on_training_rows);
    let mistakes = trace.iter().map(|epoch| epoch.mistakes).sum();
    let updates = trace.iter().map(|epoch| epoch.updates).sum();
    let history = History { epochs: trace, best: epoch, mistakes, updates };
    let validation = held_out.and_then(|held_out| held_out.measure(&scorer, watch));
    let results = results(&history, termination, train_error, validation.as_ref());
    let about = About {
        learner: LearnerName::Network.name().to_owned(),
        settings: describe(settings, plan, classes.as_ref().map(|_| scheme)),
        seed: settings.shared.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash,
        results,
    };
    let likely = if scheme == Scheme::Joint { Calibration::Softmax } else { Calibration::Logistic };
    let probabilities = (settings.loss == LossName::Logistic).then_some(likely);
    let labels = classes.map_or_else(Labels::default, |classes| classes.labels);
    Ok(Fit {
        model: Model { about, labels, schema: data.schema.clone(), scorer, probabilities },
        learner: settings.clone().into(),
        scheme,
        termination,
        train_error,
        validation,
        details: Details::Network(history),
    })
}

fn describe(settings: &MultilayerPerceptron, plan: &Plan, scheme: Option<Scheme>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::from([
        ("hidden".to_owned(), json!(plan.hidden)),
        ("activation".to_owned(), json!(plan.activation)),
        ("loss".to_owned(), json!(settings.loss)),
        ("batch".to_owned(), json!(plan.batch)),
        ("step".to_owned(), json!(plan.step)),
        ("lambda".to_owned(), json!(plan.lambda)),
        ("scale".to_owned(), json!(settings.scale)),
        ("bias".to_owned(), json!(settings.bias)),
        ("epochs".to_owned(), json!(settings.epochs.most)),
        ("order".to_owned(), json!(settings.epochs.order)),
    ]);
    all.extend(scheme.map(|scheme| ("multiclass".to_owned(), json!(scheme))));
    describe_class_weight(&settings.shared.class_weight, &mut all);
    all
}
