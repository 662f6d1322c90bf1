//! Training a network with one hidden layer, for classes or numbers.

use super::classes::{Classes, MOST_WEIGHTS, effective_weights, weightless};
use super::describe_class_weight;
use super::fit::{Details, Fit, History};
use super::geometry::overflow;
use super::learner::{LearnerName, MultilayerPerceptron, Strength};
use super::mistakes::Start;
use super::resume::{
    Continued, EpochsPrior, Sources, Training, known_labels, origin, other_scorer, put_history,
};
use super::run::results;
use super::standardised::{Centring, Columns, Standardised};
use super::validation::HeldOut;
use crate::control::{Observer, Watch};
use crate::data::{Dataset, Labels};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::loss::LossName;
use crate::model::{About, Calibration, Model, Network, Scorer, State, StateKind, damaged};
use crate::multiclass::Scheme;
use crate::network::{
    self, NetworkBegin, Objective, Partial, Plan, ScaledTargets, Targets, Trained, TrainingState, Weights,
};
use crate::online::Validate;
use crate::penalty::Bias;
use serde_json::{Value, json};
use std::borrow::Cow;
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
    (settings, from): (&MultilayerPerceptron, Option<&Model>),
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let known = from.map(|model| network_of(model, settings)).transpose()?;
    check(settings, data)?;
    let task = Task::new(data, settings, from)?;
    let Task { objective, classes, scheme, .. } = &task;
    let plan = plan(settings, &task, data)?;
    let described = describe(settings, &plan, classes.as_ref().map(|_| *scheme));
    let (none, data_hash) = (Labels::default(), data.fingerprint());
    let training = Training {
        data,
        data_hash: &data_hash,
        validation_hash: validation.map(Dataset::fingerprint),
        labels: classes.as_ref().map_or(&none, |classes| &classes.labels),
        learner: LearnerName::Network.name(),
        settings: &described,
        seed: settings.shared.seed,
        epochs: settings.epochs.most,
    };
    let mut prior = from.map(|model| EpochsPrior::new(model, &training)).transpose()?;
    let resumed = prior.as_ref().map(EpochsPrior::resumed);
    let (standardised, known) = match (from.zip(known), prior.as_mut()) {
        (Some(from), Some(prior)) => known_beginning(from, prior, settings, data)?,
        _ => (anew(settings, data), None),
    };
    let (standardised, known) = (standardised.as_ref(), known.as_deref());
    let rows = standardised.map_or(&data.rows, Standardised::rows);
    let held_out = HeldOut::new(validation, classes.as_ref(), Some(settings.loss))?;
    let error = |scorer: &Scorer, watch: &Watch<'_>| match (held_out.as_ref()?, standardised) {
        (held_out, None) => held_out.error(scorer, watch),
        (held_out, Some(standardised)) => held_out.error(&standardised.folded_back(scorer), watch),
    };
    let validate: Validate<'_> = if held_out.is_some() { Some(&error) } else { None };
    let begin = match (known, from.zip(prior)) {
        (Some(network), Some((model, prior))) => begin((model, network), prior, &task, &training)?,
        _ => NetworkBegin::default(),
    };
    let scales = scales(rows.columns(), known);
    let mut trained = network::train(&plan, rows, &scales, objective, begin, validate, observer);
    let state = state(&trained, &training, standardised);
    if let Some(standardised) = standardised {
        standardised.fold_back(&mut trained.scorer);
    }
    if let Scorer::Network(network) = &trained.scorer
        && network.numbers().any(|x| !x.is_finite())
    {
        return Err(overflow());
    }
    let (described, data_hash) = (described.clone(), data_hash.clone());
    let known = Known { trained, held_out, task, described, data_hash };
    let mut fit = finish(known, data, settings, &Watch::new(observer))?;
    if let (Some(model), Some(resumed)) = (from, resumed) {
        fit.model.about.results.extend(origin(model, resumed.continued)?);
    }
    (fit.model.state, fit.resumed) = (state, resumed);
    Ok(fit)
}

/// How to train on these rows.
fn plan(settings: &MultilayerPerceptron, task: &Task, data: &Dataset) -> Result<Plan> {
    let counted =
        (0..data.len()).filter(|&i| task.objective.weights.get(i).is_none_or(|weight| *weight > 0.0)).count();
    Ok(Plan {
        hidden: settings.units,
        activation: settings.activation,
        outputs: task.outputs,
        bias: settings.bias,
        batch: settings.batch_of(counted),
        step: settings.step,
        lambda: lambda(settings, &task.objective, data)?,
        order: settings.epochs.order,
        seed: settings.shared.seed,
        epochs: settings.epochs.most,
        patience: settings.epochs.patience,
    })
}

/// What every feature is multiplied by. What a network has learned is of features as it scaled them.
fn scales(columns: usize, known: Option<&Network>) -> Vec<f64> {
    let mut scales = known.map_or_else(Vec::new, |network| network.scales.clone());
    scales.resize(columns.max(scales.len()), 1.0);
    scales
}

/// The rows to learn from, if not those of the data set.
fn anew(settings: &MultilayerPerceptron, data: &Dataset) -> Option<Standardised> {
    let centring = if settings.bias == Bias::None { Centring::AsGiven } else { Centring::Centred };
    Standardised::of(data, settings.scale, centring)
}

/// The rows to learn from, if not those of the data set, and the network of a model for these rows.
fn known_beginning<'a>(
    (model, network): (&Model, &'a Network),
    prior: &mut EpochsPrior,
    settings: &MultilayerPerceptron,
    data: &Dataset,
) -> Result<(Option<Standardised>, Option<Cow<'a, Network>>)> {
    let mut known = network.clone();
    if let Some(standardised) = prior.standardised(model, data, settings.scale)? {
        forget_columns(&mut known);
        // Files from before networks had centres have biases of columns as they are.
        if let Some(state) = prior.state.as_mut().filter(|state| state.has(RETURNED_BIAS)) {
            let (bias, features) = (state.take::<f32>(RETURNED_BIAS, known.hidden())?, known.features());
            known.weights_of_mut(features).copy_from_slice(&bias);
        }
        return Ok((Some(standardised), Some(Cow::Owned(known))));
    }
    if prior.continued == Continued::Exactly {
        return Ok((None, Some(Cow::Borrowed(network))));
    }
    let own = Columns::of_network(network);
    let is_same = model.about.settings.get("scale") == Some(&json!(settings.scale));
    // Without centres it may be from a file that had folded them into its biases.
    if let Some(own) = own.as_ref().filter(|own| is_same && own.is_moving()) {
        forget_columns(&mut known);
        return Ok((Some(Standardised::by(data, own.clone())), Some(Cow::Owned(known))));
    }
    own.into_iter().for_each(|own| own.fold_into_network(&mut known));
    let standardised = anew(settings, data);
    standardised.iter().for_each(|it| it.columns().unfold_network(&mut known));
    Ok((standardised, Some(Cow::Owned(known))))
}

/// Makes a network one of rows that are scaled and centred already.
fn forget_columns(network: &mut Network) {
    network.scales.fill(1.0);
    network.centres.clear();
}

/// The biases of hidden units, as they are for rows whose columns were scaled and centred, in the states of
/// files from before networks had centres.
const RETURNED_BIAS: &str = "returned_bias";

/// The network that these settings can go on from.
fn network_of<'a>(model: &'a Model, settings: &MultilayerPerceptron) -> Result<&'a Network> {
    let Scorer::Network(network) = model.scorer.behind_map() else {
        return Err(other_scorer(model, &settings.clone().into()));
    };
    let (own, asked) = (network.hidden(), settings.units);
    if own != asked {
        let what = format!("the model has {own} hidden units, and this would be `hidden = {asked}`");
        return Err(Error::usage(what).hint("leave out `hidden`, or `from`"));
    }
    if network.activation != settings.activation {
        let what = format!("the model's hidden units are {}", network.activation.name());
        return Err(Error::usage(what).hint("leave out `activation`, or `from`"));
    }
    Ok(network)
}

/// Where training begins that goes on from a model.
fn begin<'a>(
    (model, network): (&'a Model, &'a Network),
    mut prior: EpochsPrior,
    task: &Task,
    training: &Training<'_>,
) -> Result<NetworkBegin<'a>> {
    let state = prior.state.take().filter(|_| prior.continued == Continued::Exactly);
    let Some(mut state) = state else {
        let labels = (&model.labels, network.outputs());
        let sources = match &task.classes {
            Some(classes) => Sources::new(labels, (&classes.labels, task.scheme), 1.0).into_outputs(),
            None => vec![Some((0, 1.0))],
        };
        let weights = Some(Weights::Network(network, sources));
        return Ok(NetworkBegin { weights, ..NetworkBegin::default() });
    };
    let partial = match state.has("partial_missed") {
        false => None,
        true => Some(Partial {
            missed: state.take_one("partial_missed")?,
            rows: state.take_count("partial_rows")? as usize,
            updates: state.take_count("partial_updates")?,
        }),
    };
    if partial.is_some_and(|partial| partial.rows > training.data.len()) {
        return Err(damaged("an epoch has more rows than there are"));
    }
    let resumed = take_state(&mut state, (network.features(), network.hidden(), network.outputs()))?;
    state.finish()?;
    let epochs = prior.begin.map(|()| Scorer::Network(network.clone()));
    Ok(NetworkBegin { epochs, partial, weights: Some(Weights::Resumed(Box::new(resumed))) })
}

/// The layers, by the names of their tensors.
const LAYERS: [&str; 3] = ["hidden", "output", "output_bias"];

/// What going on takes; none where moments have grown beyond all numbers, as only absurd steps make them.
fn state(trained: &Trained, training: &Training<'_>, standardised: Option<&Standardised>) -> Option<State> {
    let mut state = State::new(StateKind::Epochs);
    let done = trained.trace.len() - usize::from(trained.partial.is_some());
    put_history(&mut state, (&trained.trace[..done], trained.best), training, Start::Zero);
    if let Some(Partial { rows, missed, updates }) = trained.partial {
        state.put_count("partial_rows", rows as u64);
        state.put_count("partial_updates", updates);
        state.put("partial_missed", vec![missed]);
    }
    if let Some(standardised) = standardised {
        standardised.columns().put(&mut state);
    }
    let TrainingState { weights, means, squares, steps } = &trained.state;
    let is_finite = [weights, means, squares].into_iter().flatten().flatten().all(|x| x.is_finite());
    for (at, layer) in LAYERS.into_iter().enumerate() {
        state.put(layer, weights[at].clone());
        state.put(&format!("{layer}_mean"), means[at].clone());
        state.put(&format!("{layer}_square"), squares[at].clone());
        state.put(&format!("{layer}_steps"), steps[at].clone());
    }
    is_finite.then_some(state)
}

fn take_state(
    state: &mut State,
    (features, hidden, outputs): (usize, usize, usize),
) -> Result<TrainingState> {
    let (numbers, groups) = network::sizes(features, hidden, outputs);
    let mut taken = TrainingState::default();
    for (at, layer) in LAYERS.into_iter().enumerate() {
        taken.weights[at] = state.take(layer, numbers[at])?;
        taken.means[at] = state.take(&format!("{layer}_mean"), numbers[at])?;
        taken.squares[at] = state.take(&format!("{layer}_square"), numbers[at])?;
        taken.steps[at] = state.take(&format!("{layer}_steps"), groups[at])?;
    }
    if taken.squares.iter().flatten().any(|square| *square < 0.0) {
        return Err(damaged("a mean of squares is negative"));
    }
    Ok(taken)
}

/// What cannot work, whatever the rows.
fn check(settings: &MultilayerPerceptron, data: &Dataset) -> Result<()> {
    let MultilayerPerceptron { units, step, loss, .. } = *settings;
    loss.check()?;
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
    fn new(data: &Dataset, settings: &MultilayerPerceptron, from: Option<&Model>) -> Result<Self> {
        let loss = settings.loss;
        if settings.loss.is_of_numbers() {
            let weights = data.row_weights.clone();
            refuse_weightless(&weights)?;
            let targets = ScaledTargets::new(&data.targets()?, &weights, settings.bias);
            let (loss, targets) = (loss.in_unit(targets.spread), Targets::Numbers(targets));
            return Ok(Self {
                objective: Objective { loss, targets, weights },
                classes: None,
                scheme: Scheme::Two,
                outputs: 1,
            });
        }
        let classes = Classes::new(&known_labels(data, from), &data.schema, &settings.shared)?;
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
    task: Task,
    described: BTreeMap<String, Value>,
    data_hash: String,
}

/// Measures the model and describes it.
fn finish(
    known: Known<'_>,
    data: &Dataset,
    settings: &MultilayerPerceptron,
    watch: &Watch<'_>,
) -> Result<Fit> {
    let Known { trained, held_out, task, described, data_hash } = known;
    let Trained { scorer, termination, trace, epoch, .. } = trained;
    let Task { classes, scheme, .. } = task;
    let features = match &scorer {
        Scorer::Network(network) => network.features(),
        _ => data.rows.columns(),
    };
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
        settings: described,
        seed: settings.shared.seed,
        features: features as u64,
        rows: data.len() as u64,
        data_hash,
        results,
    };
    let likely = if scheme == Scheme::Joint { Calibration::Softmax } else { Calibration::Logistic };
    let probabilities = (settings.loss == LossName::Logistic).then_some(likely);
    let labels = classes.map_or_else(Labels::default, |classes| classes.labels);
    Ok(Fit {
        model: Model { about, labels, schema: data.schema.clone(), scorer, probabilities, state: None },
        learner: settings.clone().into(),
        scheme,
        termination,
        train_error,
        validation,
        details: Details::Network(history),
        resumed: None,
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
