//! Epochs of updates on mistakes, over rows in memory: the perceptron and passive-aggressive updates.

use super::classes::{Classes, check_size, effective_weights, scheme, weightless};
use super::fit::{Details, Fit, History, RunDetails};
use super::learner::{Epochs, Learner, PassiveAggressive, Perceptron};
use super::mistakes::{Start, account};
use super::resume::{
    Continued, EpochsPrior, Sources, Training, averageless, forget_stream, known_labels, origin,
    other_scorer, put_history, put_journal, put_linear, put_partial, put_returned, take_journal, take_linear,
    take_returned,
};
use super::standardised::{Centring, Standardised};
use super::validation::{HeldOut, Validation};
use super::{describe_class_weight, kernel};
use crate::control::{Observer, Termination, Watch};
use crate::data::{Dataset, Scale, spreads};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::kernel::Kernel;
use crate::model::{About, Model, Scorer, State, StateKind, Weights, damaged};
use crate::multiclass::Scheme;
use crate::online::rule::{self, Aggressiveness, Length, Rule, Tie};
use crate::online::{
    self, Hypothesis, KernelBegin, LearnerState, LinearBegin, LinearStart, LinearState, Plan, Resumption,
    Trained, TrainingRows, Validate, arranged,
};
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
    /// are.
    fn standardised(&self, data: &Dataset) -> Option<Standardised> {
        let centring = if self.bias == Bias::None { Centring::AsGiven } else { Centring::Centred };
        let is_linear = self.kernel == Kernel::Linear;
        is_linear.then(|| Standardised::of(data, self.scale, centring)).flatten()
    }

    /// The same where learning may go on from a model, and which rows its weights are of.
    fn rows_to_learn_from(
        &self,
        data: &Dataset,
        from: Option<(&Model, &mut EpochsPrior)>,
    ) -> Result<(Option<Standardised>, Given)> {
        let Some((model, prior)) = from else { return Ok((self.standardised(data), Given::AsTheyAre)) };
        Ok(match (prior.standardised(model, data, self.scale)?, prior.continued) {
            (Some(known), _) => (Some(known), Given::Standardised),
            (None, Continued::Exactly) => (None, Given::AsTheyAre),
            (None, Continued::FromWeights) => (self.standardised(data), Given::AsTheyAre),
        })
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
    (learner, from): (&Learner, Option<&Model>),
    (data, validation): (&Dataset, Option<&Dataset>),
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let task = Task::new(data, learner, from)?;
    let Task { classes, scheme, ranked, weights } = &task;
    let plan = plan(rule, corrections, *scheme, classes.labels.len(), learner.shared().seed);
    let held_out = HeldOut::new(validation, Some(classes), None)?;
    observer.classes(classes.labels.names());
    let mut settings = corrections.describe(learner, *scheme);
    if corrections.kernel == Kernel::Linear {
        settings.insert("scale".to_owned(), json!(corrections.scale));
    }
    let data_hash = data.fingerprint();
    let training = Training {
        data,
        data_hash: &data_hash,
        validation_hash: validation.map(Dataset::fingerprint),
        labels: &classes.labels,
        learner: learner.name(),
        settings: &settings,
        seed: learner.shared().seed,
        epochs: corrections.epochs.most,
    };
    let mut prior = from.map(|model| EpochsPrior::new(model, &training)).transpose()?;
    let start = prior.as_ref().map_or(Start::Zero, |prior| prior.start);
    let resumed = prior.as_ref().map(EpochsPrior::resumed);
    let (standardised, given) = corrections.rows_to_learn_from(data, from.zip(prior.as_mut()))?;
    let standardised = standardised.as_ref();
    let rows = standardised.map_or(&data.rows, Standardised::rows);
    let batch = TrainingRows { rows, classes: ranked, weights };
    let seen = (batch, standardised, given);
    let begin = begin(&plan, corrections, (learner, &training), from.zip(prior), seen)?;
    let error = |scorer: &Scorer, watch: &Watch<'_>| match (held_out.as_ref()?, standardised) {
        (held_out, None) => held_out.error(scorer, watch),
        (held_out, Some(standardised)) => held_out.error(&standardised.folded_back(scorer), watch),
    };
    let validate: Validate<'_> = if held_out.is_some() { Some(&error) } else { None };
    let (mut trained, comparisons) = epochs(&plan, corrections, data, begin, batch, validate, observer)?;
    let scale = if standardised.is_some() { corrections.scale } else { Scale::None };
    let watch = Watch::new(observer);
    let account = account(&mut trained, batch, *scheme, (corrections, start), learner, &watch)?;
    let account = RunDetails { scale, ..account };
    let state = state(&trained, &training, start, standardised);
    if let Some(standardised) = standardised {
        standardised.fold_back(&mut trained.scorer);
    }
    if let Scorer::Linear(weights) = &mut trained.scorer {
        weights.spreads = spreads(&data.rows, &data.row_weights);
        weights.spreads.resize(weights.features(), 0.0);
    }
    let held_out = held_out.as_ref();
    let mut fit = finish((trained, account, comparisons), &task, &training, (learner, held_out), &watch)?;
    if let (Some(model), Some(resumed)) = (from, resumed) {
        fit.model.about.results.extend(origin(model, resumed.continued)?);
    }
    (fit.model.state, fit.resumed) = (Some(state), resumed);
    Ok(fit)
}

/// The classes to tell apart, and the rows' weights.
struct Task {
    classes: Classes,
    scheme: Scheme,
    /// The class of each row.
    ranked: Vec<u32>,
    weights: Vec<f64>,
}

impl Task {
    fn new(data: &Dataset, learner: &Learner, from: Option<&Model>) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::input("there are no rows to learn from"));
        }
        let shared = learner.shared();
        let classes = Classes::new(&known_labels(data, from), &data.schema, shared)?;
        let scheme = scheme(classes.labels.len(), shared);
        check_size(data.rows.columns(), scheme.outputs(classes.labels.len()))?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, shared)?;
        if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
            return Err(weightless());
        }
        Ok(Self { classes, scheme, ranked, weights })
    }
}

/// What going on takes.
fn state(
    trained: &Trained,
    training: &Training<'_>,
    start: Start,
    standardised: Option<&Standardised>,
) -> State {
    let mut state = State::new(StateKind::Epochs);
    let Resumption { partial, best, learner } = &trained.resumption;
    let done = trained.trace.len() - usize::from(partial.is_some());
    put_history(&mut state, (&trained.trace[..done], *best), training, start);
    if let Some(partial) = partial {
        put_partial(&mut state, *partial);
    }
    match learner {
        LearnerState::Linear(linear) => put_linear(&mut state, linear.clone()),
        journal => put_journal(&mut state, journal),
    }
    if let Some(standardised) = standardised {
        standardised.columns().put(&mut state);
        put_returned(&mut state, &trained.scorer);
    }
    state
}

/// Measures the model and describes it.
fn finish(
    (trained, account, comparisons): (Trained, RunDetails, Option<u64>),
    task: &Task,
    training: &Training<'_>,
    (learner, held_out): (&Learner, Option<&HeldOut<'_>>),
    watch: &Watch<'_>,
) -> Result<Fit> {
    let data = training.data;
    let affordable = trained.scorer.cost() as f64 * (data.len() as f64) < TRAIN_ERROR_COST;
    let train_error = match affordable {
        true => evaluate::error_watched(&trained.scorer, data, &task.ranked, watch),
        false => None,
    };
    let Trained { scorer, termination, trace, epoch, mistakes, updates, .. } = trained;
    let history = History { epochs: trace, best: epoch, mistakes, updates };
    // The error of the model returned is the least of all epochs.
    let validation =
        held_out.zip(history.validation_error()).map(|(held_out, error)| held_out.of_error(error));
    let mut results = results(&history, termination, train_error, validation.as_ref());
    results.extend(comparisons.map(|comparisons| ("kernels".to_owned(), json!(comparisons))));
    let features = scorer.weights().map_or(0, Weights::features).max(data.rows.columns());
    let settings = training.settings.clone();
    let about = About {
        learner: learner.name().to_owned(),
        settings,
        seed: training.seed,
        features: features as u64,
        rows: data.len() as u64,
        data_hash: training.data_hash.to_owned(),
        results,
    };
    let (labels, schema) = (task.classes.labels.clone(), data.schema.clone());
    Ok(Fit {
        model: Model { about, labels, schema, scorer, probabilities: None, state: None },
        learner: learner.clone(),
        scheme: task.scheme,
        termination,
        train_error,
        validation,
        details: Details::Run(Box::new(RunDetails { history, ..account })),
        resumed: None,
    })
}

/// Where a run begins: with zero, or where the model ended.
enum Beginning {
    Linear(Box<LinearBegin>),
    Kernel(KernelBegin),
}

/// Which rows the weights of a model, and its state, are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Rows in the numbers that are learned from.
    Standardised,
    /// Rows as they are.
    AsTheyAre,
}

fn begin<R: Rule>(
    plan: &Plan<R>,
    corrections: &Corrections,
    (learner, training): (&Learner, &Training<'_>),
    from: Option<(&Model, EpochsPrior)>,
    (batch, standardised, given): (TrainingRows<'_>, Option<&Standardised>, Given),
) -> Result<Beginning> {
    let is_linear = corrections.kernel == Kernel::Linear;
    let Some((model, mut prior)) = from else {
        return Ok(match is_linear {
            true => Beginning::Linear(Box::default()),
            false => Beginning::Kernel(KernelBegin::default()),
        });
    };
    if !is_linear || corrections.returned == Hypothesis::Votes {
        let rows = batch.rows.rows();
        return begin_with_journal(plan, is_linear, (model, prior), learner, rows);
    }
    let Scorer::Linear(weights) = model.scorer.behind_map() else { return Err(other_scorer(model, learner)) };
    let returned = match prior.state.as_mut().filter(|_| given == Given::Standardised) {
        Some(state) => take_returned(state, weights)?,
        None => weights.clone(),
    };
    let start = match prior.continued {
        Continued::Exactly => {
            let state = prior.state.as_mut().ok_or_else(|| damaged("it is empty"))?;
            exact_start(&returned, state, batch.rows.rows())?
        }
        Continued::FromWeights => {
            let (weights, linear) =
                weights_to_start_from((model, &returned), &mut prior, corrections, learner)?;
            let from = (&model.labels, weights.outputs());
            let sources = Sources::new(from, (training.labels, plan.scheme), R::JOINT_SHARE);
            let unfold = standardised.filter(|_| given == Given::AsTheyAre);
            let apply = |weights: Weights| {
                let mut weights = sources.apply(&weights, batch.rows.columns());
                unfold.into_iter().for_each(|standardised| standardised.columns().unfold(&mut weights));
                weights
            };
            let linear = LinearState { delayed: linear.delayed.map(apply), last: None, own: None, ..linear };
            LinearStart::Weights(apply(weights), Box::new(linear))
        }
    };
    if let Some(state) = prior.state {
        state.finish()?;
    }
    let best = prior.begin.map(|()| Scorer::Linear(returned));
    Ok(Beginning::Linear(Box::new(LinearBegin { epochs: best, learner: Some(start) })))
}

/// The last weights of a run over the same rows.
fn exact_start(weights: &Weights, state: &mut State, rows: usize) -> Result<LinearStart> {
    let mut linear = take_linear(state, weights)?;
    if linear.own.as_ref().is_some_and(|own| own.len() != rows * weights.outputs()) {
        return Err(damaged("its rows' own features are not as many as its rows"));
    }
    let last = linear.last.take().unwrap_or_else(|| weights.clone());
    Ok(LinearStart::Weights(last, Box::new(linear)))
}

/// The last weights of a model over other rows, with its own classes.
fn weights_to_start_from(
    (model, weights): (&Model, &Weights),
    prior: &mut EpochsPrior,
    corrections: &Corrections,
    learner: &Learner,
) -> Result<(Weights, LinearState)> {
    let Some(state) = prior.state.as_mut() else {
        if corrections.returned == Hypothesis::Average && model.about.learner == learner.name() {
            return Err(averageless());
        }
        return Ok((weights.clone(), LinearState::default()));
    };
    let order = if state.kind() == StateKind::Stream { Some(forget_stream(model, state)?) } else { None };
    let mut linear = take_linear(state, weights)?;
    linear.own = None;
    if let Some(order) = order {
        // A stream's classes are in the order in which they occurred.
        linear.last = linear.last.map(|weights| arranged(weights, &order));
        linear.delayed = linear.delayed.map(|weights| arranged(weights, &order));
    }
    Ok((linear.last.take().unwrap_or_else(|| weights.clone()), linear))
}

/// Votes and kernels go on from the mistakes, whose rows must be at hand.
fn begin_with_journal<R: Rule>(
    plan: &Plan<R>,
    is_linear: bool,
    (model, mut prior): (&Model, EpochsPrior),
    learner: &Learner,
    rows: usize,
) -> Result<Beginning> {
    let Some(state) = prior.state.as_mut().filter(|_| prior.continued == Continued::Exactly) else {
        let what = format!(
            "{} goes on from the rows of its mistakes, and these are other rows, or settings",
            learner.name()
        );
        let hint = "train on all rows at once, or use `learner = averaged` without a kernel, which goes on \
                    from weights";
        return Err(Error::usage(what).hint(hint));
    };
    let (mistakes, rounds, comparisons) = take_journal(state, (rows, plan.scheme.outputs(plan.classes)))?;
    if let Some(state) = prior.state.take() {
        state.finish()?;
    }
    let scorer = model.scorer.behind_map();
    if is_linear {
        // Of the best epoch, only how many of these mistakes vote is needed.
        let epochs = prior.begin.map(|()| scorer.clone());
        let learner = Some(LinearStart::Journal(mistakes, rounds));
        return Ok(Beginning::Linear(Box::new(LinearBegin { epochs, learner })));
    }
    let best = match (scorer, prior.best_rounds) {
        (Scorer::Voted(voted), _) => (voted.mistakes.len(), voted.rounds),
        (_, Some(rounds)) => (mistakes.iter().take_while(|mistake| mistake.round < rounds).count(), rounds),
        (_, None) => (mistakes.len(), rounds),
    };
    let epochs = prior.begin.map(|()| best);
    Ok(Beginning::Kernel(KernelBegin { epochs, mistakes, rounds, comparisons }))
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
    begin: Beginning,
    batch: TrainingRows<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Result<(Trained, Option<u64>)> {
    let begin = match begin {
        Beginning::Linear(begin) => {
            return Ok((online::train_from(plan, batch, *begin, validate, observer), None));
        }
        Beginning::Kernel(begin) => begin,
    };
    if corrections.own_feature.is_some() {
        let error = Error::usage("a feature of each row's own is for weights of features");
        return Err(
            error.hint("leave out `own_feature`: most rows are separable with a kernel of a higher degree")
        );
    }
    kernel::check(data, corrections.kernel)?;
    let (trained, comparisons) =
        online::train_kernel_from(plan, corrections.kernel, batch, begin, validate, observer);
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
