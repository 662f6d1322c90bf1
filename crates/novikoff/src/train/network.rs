//! Training a network with one hidden layer, for classes or numbers.

use super::classes::{Classes, MOST_WEIGHTS, effective_weights, refuse_targets, weightless};
use super::geometry::overflow;
use super::{Fit, Settings, Strength, describe_class_weight};
use crate::control::Observer;
use crate::data::{Dataset, Labels, Scale};
use crate::error::{Error, Result};
use crate::evaluate::{self, Regression};
use crate::loss::LossName;
use crate::model::{About, Activation, Calibration, Model, Scorer};
use crate::multiclass::Scheme;
use crate::network::{self, Objective, Plan, ScaledTargets, Targets, Trained};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a network is told besides the settings that all learners share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenLayer {
    /// How many units it has.
    pub units: usize,
    /// What they make of their sums.
    pub activation: Activation,
    /// The loss: of classes, or of numbers.
    pub loss: LossName,
    /// Rows of a step; `None`: 128, and fewer where rows are few.
    pub batch: Option<usize>,
    /// The length of steps in the first epoch.
    pub step: f64,
    /// How columns are brought to one size.
    pub scale: Scale,
}

impl Default for HiddenLayer {
    fn default() -> Self {
        Self {
            units: 128,
            activation: Activation::Relu,
            loss: LossName::Logistic,
            batch: None,
            step: 2e-3,
            scale: Scale::MaxAbs,
        }
    }
}

impl HiddenLayer {
    /// Whether numbers are predicted: the squared and the absolute loss are about these.
    pub fn predicts_numbers(&self) -> bool {
        matches!(self.loss, LossName::Squared | LossName::Absolute)
    }

    fn batch(&self, rows: usize) -> usize {
        self.batch.unwrap_or_else(|| (rows / 400).clamp(4, 128))
    }
}

pub(super) fn train_network(
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    check(settings, data)?;
    let Task { aim, classes, scheme, outputs } = Task::new(data, settings)?;
    let counted = (0..data.len()).filter(|&i| aim.weights.get(i).is_none_or(|weight| *weight > 0.0)).count();
    let plan = Plan {
        hidden: settings.network.units,
        activation: settings.network.activation,
        outputs,
        bias: settings.bias,
        batch: settings.network.batch(counted),
        step: settings.network.step,
        lambda: lambda(settings, &aim, data)?,
        order: settings.order,
        seed: settings.seed,
        epochs: settings.epochs,
        patience: settings.patience,
    };
    let mut scales = data.factors(settings.network.scale);
    scales.resize(data.rows.columns(), 1.0);
    let validate = validation.map(|held| measure(held, classes.as_ref())).transpose()?;
    let trained = network::train(&plan, &data.rows, &scales, &aim, validate.as_deref(), observer);
    if let Scorer::Network(network) = &trained.scorer
        && network.numbers().any(|x| !x.is_finite())
    {
        return Err(overflow());
    }
    finish(trained, data, classes, scheme, &plan, settings)
}

/// What cannot work, whatever the rows.
fn check(settings: &Settings, data: &Dataset) -> Result<()> {
    let HiddenLayer { units, step, .. } = settings.network;
    if units == 0 || settings.network.batch == Some(0) {
        return Err(Error::usage("a hidden layer has one unit at least, and a batch one row"));
    }
    if !(step.is_finite() && step > 0.0) {
        return Err(Error::usage(format!("--step must be a positive number, not {step}")));
    }
    if data.is_empty() {
        return Err(Error::input("there are no rows to learn from"));
    }
    // Each weight is learned with two numbers beside it.
    if (data.rows.columns() + 1).checked_mul(units).is_none_or(|weights| weights > MOST_WEIGHTS / 2) {
        let what = format!(
            "{} features × {units} hidden units are more weights than fit into memory",
            data.rows.columns()
        );
        return Err(Error::input(what).hint("fewer units, by --hidden, or fewer features, by --hash-bits"));
    }
    Ok(())
}

/// What is to be predicted.
struct Task {
    aim: Objective,
    /// `None` for numbers.
    classes: Option<Classes>,
    scheme: Scheme,
    outputs: usize,
}

impl Task {
    fn new(data: &Dataset, settings: &Settings) -> Result<Self> {
        let loss = settings.network.loss;
        if settings.network.predicts_numbers() {
            let weights = data.row_weights.clone();
            refuse_weightless(&weights)?;
            let targets = Targets::Numbers(ScaledTargets::new(&data.targets()?, &weights, settings.bias));
            return Ok(Self {
                aim: Objective { loss, targets, weights },
                classes: None,
                scheme: Scheme::Two,
                outputs: 1,
            });
        }
        refuse_targets(data)?;
        let classes = Classes::new(&data.names, settings)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, settings)?;
        refuse_weightless(&weights)?;
        let scheme = scheme(loss, classes.labels.len(), settings)?;
        let outputs = scheme.outputs(classes.labels.len());
        Ok(Self {
            aim: Objective { loss, targets: Targets::Classes(ranked, scheme), weights },
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
fn scheme(loss: LossName, classes: usize, settings: &Settings) -> Result<Scheme> {
    match settings.multiclass {
        _ if loss != LossName::Logistic && settings.multiclass == Some(Scheme::Joint) => {
            let what = format!(
                "the loss {} is of one class against the rest, not of all classes jointly",
                loss.name()
            );
            Err(Error::usage(what).hint("use --multiclass one-vs-rest, or --loss logistic"))
        }
        Some(scheme) if scheme != Scheme::Two => Ok(scheme),
        _ if classes == 2 => Ok(Scheme::Two),
        _ if loss == LossName::Logistic => Ok(Scheme::Joint),
        _ => Ok(Scheme::OneVsRest),
    }
}

fn lambda(settings: &Settings, aim: &Objective, data: &Dataset) -> Result<f64> {
    let total = if aim.weights.is_empty() { data.len() as f64 } else { aim.weights.iter().sum() };
    match settings.risk.strength {
        None => Ok(0.0),
        Some(Strength::Lambda(lambda)) if lambda.is_finite() && lambda >= 0.0 => Ok(lambda),
        Some(Strength::Lambda(lambda)) => {
            Err(Error::usage(format!("--lambda must be a number from 0, not {lambda}")))
        }
        Some(Strength::Cost(cost)) if cost.is_finite() && cost > 0.0 => Ok(1.0 / (cost * total)),
        Some(Strength::Cost(cost)) => {
            Err(Error::usage(format!("--cost must be a positive number, not {cost}")))
        }
    }
}

/// Tells how wrong a scorer is.
type Measure<'a> = Box<dyn Fn(&Scorer) -> f64 + 'a>;

/// How wrong a scorer is on rows: the share of classes, or of the numbers' variance.
fn measure<'a>(held: &'a Dataset, classes: Option<&Classes>) -> Result<Measure<'a>> {
    if let Some(classes) = classes {
        let ranked = classes.rank_all(&held.labels);
        return Ok(Box::new(move |scorer| evaluate::error(scorer, held, &ranked)));
    }
    let targets = held.targets()?;
    Ok(Box::new(move |scorer| unexplained(&Regression::of(&evaluate::score_all(scorer, held), &targets))))
}

/// The share of the variance that is left; the mean square where there is no variance to share.
fn unexplained(measured: &Regression) -> f64 {
    measured.r2.map_or(measured.rmse * measured.rmse, |r2| 1.0 - r2)
}

fn finish(
    trained: Trained,
    data: &Dataset,
    classes: Option<Classes>,
    scheme: Scheme,
    plan: &Plan,
    settings: &Settings,
) -> Result<Fit> {
    let Trained { scorer, stopped, trace, epoch } = trained;
    let train_error =
        classes.as_ref().map(|classes| evaluate::error(&scorer, data, &classes.rank_all(&data.labels)));
    let (mistakes, updates) = (trace.iter().map(|e| e.mistakes).sum(), trace.iter().map(|e| e.updates).sum());
    let mut results = BTreeMap::from([
        ("epochs".to_owned(), json!(trace.len())),
        ("epoch".to_owned(), json!(epoch)),
        ("mistakes".to_owned(), json!(mistakes)),
        ("updates".to_owned(), json!(updates)),
        ("stopped".to_owned(), json!(stopped)),
    ]);
    results.extend(train_error.map(|error| ("train_error".to_owned(), json!(error))));
    let validation = trace.iter().filter_map(|e| e.validation_error).min_by(f64::total_cmp);
    results.extend(validation.map(|error| ("validation_error".to_owned(), json!(error))));
    let about = About {
        learner: settings.learner.name().to_owned(),
        settings: describe(settings, plan, classes.as_ref().map(|_| scheme)),
        seed: settings.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash: data.fingerprint(),
        results,
    };
    let likely = if scheme == Scheme::Joint { Calibration::Softmax } else { Calibration::Logistic };
    let probabilities = (settings.network.loss == LossName::Logistic).then_some(likely);
    let labels = classes.map_or_else(Labels::default, |classes| classes.labels);
    Ok(Fit {
        model: Model { about, labels, schema: data.schema.clone(), scorer, probabilities },
        stopped,
        epoch,
        mistakes,
        updates,
        trace,
        train_error,
        progressive_error: None,
        validation_error: None,
        geometry: None,
        separation: None,
        margin_upper: None,
        promise: None,
        witness: None,
        scheme,
        report: None,
        risk: None,
    })
}

fn describe(settings: &Settings, plan: &Plan, scheme: Option<Scheme>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::from([
        ("hidden".to_owned(), json!(plan.hidden)),
        ("activation".to_owned(), json!(plan.activation)),
        ("loss".to_owned(), json!(settings.network.loss)),
        ("batch".to_owned(), json!(plan.batch)),
        ("step".to_owned(), json!(plan.step)),
        ("lambda".to_owned(), json!(plan.lambda)),
        ("scale".to_owned(), json!(settings.network.scale)),
        ("bias".to_owned(), json!(settings.bias)),
        ("epochs".to_owned(), json!(settings.epochs)),
        ("order".to_owned(), json!(settings.order)),
    ]);
    all.extend(scheme.map(|scheme| ("multiclass".to_owned(), json!(scheme))));
    describe_class_weight(settings, &mut all);
    all
}
