//! Epochs of updates on mistakes, over rows in memory: the perceptron and passive-aggressive updates.

use super::classes::{Classes, check_size, effective_weights, scheme, weightless};
use super::fit::{Details, Fit, History, RunDetails};
use super::learner::{Epochs, Learner, PassiveAggressive, Perceptron};
use super::mistakes::account;
use super::standardised::{Centring, Standardised};
use super::validation::{HeldOut, Validation};
use super::{describe_class_weight, kernel};
use crate::control::Observer;
use crate::control::Termination;
use crate::data::{Dataset, Scale, spreads};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::kernel::Kernel;
use crate::model::{About, Model, Scorer};
use crate::multiclass::Scheme;
use crate::online::rule::{self, Aggressiveness, Length, Rule, Tie};
use crate::online::{self, Hypothesis, Plan, Trained, TrainingRows, Validate};
use crate::penalty::Bias;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most multiplications that the error on training rows may take without being asked for.
const TRAIN_ERROR_COST: f64 = 4e9;

/// What the perceptron and passive-aggressive updates have in common.
pub(super) struct Corrections {
    pub(super) returned: Hypothesis,
    pub(super) own_feature: Option<f64>,
    pub(super) kernel: Kernel,
    pub(super) budget: usize,
    pub(super) bias: Bias,
    pub(super) scale: Scale,
    pub(super) epochs: Epochs,
    pub(super) length: Length,
    /// The settings as a model stores them, but for those that every learner has.
    described: Vec<(&'static str, Value)>,
}

impl From<&Perceptron> for Corrections {
    fn from(perceptron: &Perceptron) -> Self {
        let rule::Perceptron { step, length, tie } = perceptron.rule;
        let mut described = vec![("length", json!(length)), ("tie", json!(tie)), ("step", json!(step))];
        described.extend(perceptron.own_feature.map(|own| ("own_feature", json!(own))));
        Self {
            returned: perceptron.returned,
            own_feature: perceptron.own_feature,
            kernel: perceptron.kernel,
            budget: perceptron.budget,
            bias: perceptron.bias,
            scale: perceptron.scale,
            epochs: perceptron.epochs,
            length,
            described,
        }
    }
}

impl From<&PassiveAggressive> for Corrections {
    fn from(aggressive: &PassiveAggressive) -> Self {
        Self {
            returned: Hypothesis::Last,
            own_feature: None,
            kernel: aggressive.kernel,
            budget: aggressive.budget,
            bias: aggressive.bias,
            scale: aggressive.scale,
            epochs: aggressive.epochs,
            length: Length::AsGiven,
            described: vec![("aggressiveness", json!(aggressive.aggressiveness))],
        }
    }
}

impl Corrections {
    /// The settings as a model stores them.
    pub(super) fn describe(&self, learner: &Learner, scheme: Scheme) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::from([
            ("bias".to_owned(), json!(self.bias)),
            ("epochs".to_owned(), json!(self.epochs.most)),
            ("order".to_owned(), json!(self.epochs.order)),
            ("multiclass".to_owned(), json!(scheme)),
        ]);
        if self.kernel != Kernel::Linear {
            all.insert("kernel".to_owned(), json!(self.kernel.to_string()));
        }
        all.extend(self.described.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        describe_class_weight(&learner.shared().class_weight, &mut all);
        all
    }

    /// The rows that weights are learned from, if not those of the data set. Kernels compare rows as they
    /// are; and all weight vectors that vote have one bias.
    fn standardised(&self, data: &Dataset) -> Option<Standardised> {
        let centring = match (self.bias, self.returned) {
            (Bias::None, _) | (_, Hypothesis::Votes) => Centring::AsGiven,
            _ => Centring::Centred,
        };
        let is_linear = self.kernel == Kernel::Linear;
        is_linear.then(|| Standardised::of(data, self.scale, centring)).flatten()
    }
}

/// The rule of a perceptron, if its settings can work.
pub(crate) fn perceptron_rule(perceptron: &Perceptron) -> Result<rule::Perceptron> {
    let rule::Perceptron { step, length, .. } = perceptron.rule;
    if !(step.is_finite() && step > 0.0) {
        return Err(Error::usage(format!("the step must be a positive number, not {step}")));
    }
    if perceptron.own_feature.is_some() && length == Length::Unit {
        let error = Error::usage(
            "rows with a feature of their own are not normalised: the theorem speaks of one or the other",
        );
        return Err(error.hint("leave out `own_feature` or `normalise`"));
    }
    if let Some(own) = perceptron.own_feature.filter(|own| !(own.is_finite() && *own > 0.0)) {
        return Err(Error::usage(format!("the rows' own feature must be a positive number, not {own}")));
    }
    Ok(perceptron.rule)
}

/// The rule of passive-aggressive updates, if its settings can work.
pub(super) fn passive_aggressive_rule(aggressive: &PassiveAggressive) -> Result<rule::PassiveAggressive> {
    let aggressiveness = aggressive.aggressiveness;
    if let Aggressiveness::Capped(c) | Aggressiveness::Damped(c) = aggressiveness
        && !(c.is_finite() && c > 0.0)
    {
        return Err(Error::usage(format!("the aggressiveness must be a positive number, not {c}")));
    }
    Ok(rule::PassiveAggressive { aggressiveness })
}

/// What a perceptron cannot do on a stream.
pub(super) fn refuse_for_streams(perceptron: &Perceptron) -> Result<()> {
    if perceptron.own_feature.is_some() {
        let what = "rows of a stream come once: a feature of their own would never be met again";
        return Err(Error::usage(what).hint("leave out `own_feature` or `online`"));
    }
    if perceptron.returned == Hypothesis::Votes {
        let what = "voting keeps the rows of all mistakes, and a stream is not stored";
        return Err(Error::usage(what).hint("use `learner = averaged` with `online`"));
    }
    if perceptron.rule.tie != Tie::Mistake {
        let what = "which label is the positive one, and wins ties, is not known before a stream shows both";
        return Err(Error::usage(what).hint("use `tie = mistake` with `online`"));
    }
    Ok(())
}

/// Trains on rows in memory, in epochs.
pub(super) fn train_run<R: Rule>(
    rule: R,
    corrections: &Corrections,
    learner: &Learner,
    (data, validation): (&Dataset, Option<&Dataset>),
    observer: &mut dyn Observer,
) -> Result<Fit> {
    if data.is_empty() {
        return Err(Error::input("there are no rows to learn from"));
    }
    let shared = learner.shared();
    let classes = Classes::new(&data.names, &data.schema, shared)?;
    let scheme = scheme(classes.labels.len(), shared);
    check_size(data.rows.columns(), scheme.outputs(classes.labels.len()))?;
    let ranked = classes.rank_all(&data.labels);
    let weights = effective_weights(data, &ranked, &classes.labels, shared)?;
    if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
        return Err(weightless());
    }
    let plan = plan(rule, corrections, scheme, classes.labels.len(), shared.seed);
    let standardised = corrections.standardised(data);
    let rows = standardised.as_ref().map_or(&data.rows, Standardised::rows);
    let batch = TrainingRows { rows, classes: &ranked, weights: &weights };
    let held_out = HeldOut::new(validation, Some(&classes))?;
    let error = |scorer: &Scorer| match (&held_out, &standardised) {
        (None, _) => f64::NAN,
        (Some(held_out), None) => held_out.error(scorer),
        (Some(held_out), Some(standardised)) => held_out.error(&standardised.folded_back(scorer)),
    };
    let validate = held_out.is_some().then_some(&error as &dyn Fn(&Scorer) -> f64);
    let (mut trained, comparisons) = epochs(&plan, corrections, data, batch, validate, observer)?;
    let scale = if standardised.is_some() { corrections.scale } else { Scale::None };
    let account = RunDetails { scale, ..account(&mut trained, batch, scheme, corrections, learner)? };
    if let Some(standardised) = &standardised {
        standardised.fold_back(&mut trained.scorer);
    }
    if let Scorer::Linear(weights) = &mut trained.scorer {
        weights.spreads = spreads(&data.rows, &data.row_weights);
    }
    let affordable = trained.scorer.cost() as f64 * (data.len() as f64) < TRAIN_ERROR_COST;
    let train_error = affordable.then(|| evaluate::error(&trained.scorer, data, &ranked));
    let Trained { scorer, termination, trace, epoch, mistakes, updates, .. } = trained;
    let history = History { epochs: trace, best: epoch, mistakes, updates };
    // The error of the model returned is the least of all epochs.
    let validation =
        held_out.zip(history.validation_error()).map(|(held_out, error)| held_out.of_error(error));
    let mut results = results(&history, termination, train_error, validation.as_ref());
    results.extend(comparisons.map(|comparisons| ("kernels".to_owned(), json!(comparisons))));
    let mut settings = corrections.describe(learner, scheme);
    if scale != Scale::None {
        settings.insert("scale".to_owned(), json!(scale));
    }
    let about = About {
        learner: learner.name().to_owned(),
        settings,
        seed: shared.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash: data.fingerprint(),
        results,
    };
    let schema = data.schema.clone();
    Ok(Fit {
        model: Model { about, labels: classes.labels, schema, scorer, probabilities: None },
        learner: learner.clone(),
        scheme,
        termination,
        train_error,
        validation,
        details: Details::Run(Box::new(RunDetails { history, ..account })),
    })
}

fn plan<R>(rule: R, corrections: &Corrections, scheme: Scheme, classes: usize, seed: u64) -> Plan<R> {
    Plan {
        rule,
        scheme,
        classes,
        bias: corrections.bias,
        hypothesis: corrections.returned,
        order: corrections.epochs.order,
        seed,
        epochs: corrections.epochs.most,
        patience: corrections.epochs.patience,
        own_feature: corrections.own_feature,
    }
}

/// All epochs; with a kernel, and how many kernels of two rows that took.
fn epochs<R: Rule>(
    plan: &Plan<R>,
    corrections: &Corrections,
    data: &Dataset,
    batch: TrainingRows<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Result<(Trained, Option<u64>)> {
    if corrections.kernel == Kernel::Linear {
        return Ok((online::train(plan, batch, validate, observer), None));
    }
    if corrections.own_feature.is_some() {
        let error = Error::usage("a feature of each row's own is for weights of features");
        return Err(
            error.hint("leave out `own_feature`: most rows are separable with a kernel of a higher degree")
        );
    }
    kernel::check(data, corrections.kernel)?;
    let (trained, comparisons) = online::train_kernel(plan, corrections.kernel, batch, validate, observer);
    Ok((trained, Some(comparisons)))
}

/// What a model says of epochs.
pub(super) fn results(
    history: &History,
    termination: Termination,
    train_error: Option<f64>,
    validation: Option<&Validation>,
) -> BTreeMap<String, Value> {
    let mut results = BTreeMap::from([
        ("epochs".to_owned(), json!(history.epochs.len())),
        ("epoch".to_owned(), json!(history.best)),
        ("mistakes".to_owned(), json!(history.mistakes)),
        ("updates".to_owned(), json!(history.updates)),
        ("stopped".to_owned(), json!(termination)),
    ]);
    results.extend(train_error.map(|error| ("train_error".to_owned(), json!(error))));
    results.extend(validation.into_iter().flat_map(Validation::results));
    results
}
