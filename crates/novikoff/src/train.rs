//! The one place where names become types: settings in, model out.

use crate::control::{Epoch, Flow, Observer, Progress};
use crate::data::{Dataset, Fingerprint, Labels, Report};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::model::{About, Model, Scorer, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::{Aggressiveness, Length, PassiveAggressive, Perceptron, Rule, Tie};
use crate::online::{self, Bias, Keep, Order, Plan, Stopped, Stream, class_order};
use crate::read::{Reader, pipeline::Outcome};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// The learners, by the names that the command line gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// Rosenblatt's perceptron; its last weights.
    Perceptron,
    /// The perceptron's weights, averaged over all rounds.
    Averaged,
    /// All the perceptron's weight vectors, voting.
    Voted,
    /// Passive-aggressive: as far as a margin of 1 asks for.
    PassiveAggressive,
}

impl Learner {
    /// Every learner there is.
    pub const ALL: [Learner; 4] = [Learner::Perceptron, Learner::Averaged, Learner::Voted, Learner::PassiveAggressive];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Learner::Perceptron => "perceptron",
            Learner::Averaged => "averaged",
            Learner::Voted => "voted",
            Learner::PassiveAggressive => "passive-aggressive",
        }
    }
}

/// How much each class counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClassWeight {
    /// As much as its rows.
    #[default]
    Equal,
    /// All classes alike: `n/(k·n_c)` for each row of class c.
    Balanced,
    /// As named; other classes count 1.
    Given(Vec<(String, f64)>),
}

/// Everything that decides what is learned, but for the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which learner.
    pub learner: Learner,
    /// Perceptrons: whether updates add the row or its direction.
    pub length: Length,
    /// Perceptrons: what a score of zero is.
    pub tie: Tie,
    /// Perceptrons: the constant step.
    pub step: f64,
    /// Passive-aggressive: how aggressive.
    pub aggressiveness: Aggressiveness,
    /// Whether there is a bias.
    pub bias: Bias,
    /// How more than two classes are told apart; for two, `None` is one weight vector.
    pub multiclass: Option<Scheme>,
    /// The positive class of two; `None`: the larger number, or the later name.
    pub positive: Option<String>,
    /// How much each class counts.
    pub class_weight: ClassWeight,
    /// Most epochs.
    pub epochs: usize,
    /// Epochs without a better validation error before giving up.
    pub patience: usize,
    /// The order of rows.
    pub order: Order,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            learner: Learner::Averaged,
            length: Length::AsGiven,
            tie: Tie::Mistake,
            step: 1.0,
            aggressiveness: Aggressiveness::Capped(1.0),
            bias: Bias::Free,
            multiclass: None,
            positive: None,
            class_weight: ClassWeight::Equal,
            epochs: 30,
            patience: 3,
            order: Order::Shuffled,
            seed: 0,
        }
    }
}

/// A model and what its training came to.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// Why training ended.
    pub stopped: Stopped,
    /// What each epoch came to.
    pub trace: Vec<Epoch>,
    /// The epoch whose model this is.
    pub epoch: usize,
    /// Mistakes while learning, over all epochs.
    pub mistakes: u64,
    /// Updates of the weights, over all epochs.
    pub updates: u64,
    /// Error of the model on the rows it learned from; `None` where that would take longer than the training
    /// (voted on many rows) or the rows are gone (streams).
    pub train_error: Option<f64>,
    /// Share of a stream's rows that were predicted wrongly before they were learned from.
    pub progressive_error: Option<f64>,
    /// How the model stands to the rows it learned from.
    pub geometry: Option<Geometry>,
    /// How the weights that separated the rows stand to them, where the run ended separated: the model's own, or the last
    /// ones of the run that the model averages or lets vote.
    pub separation: Option<Geometry>,
    /// How classes are told apart.
    pub scheme: Scheme,
    /// What the reader of a stream noticed.
    pub report: Option<Report>,
}

/// How a linear model stands to its rows. With a bias, rows and weights have their extra coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// The least margin: `min y·s/‖w‖`; for joint classes the least lead of the true class, over `‖W‖`. Positive just if the
    /// model separates the rows.
    pub margin: f64,
    /// The largest norm of a row (for joint classes times √2, as each row stands for the difference of two).
    pub radius: f64,
    /// `(R/margin)²`: no more mistakes than this, however often the perceptron goes over the rows. `None` if the
    /// margin is not positive, or the theorem does not speak of this learner.
    pub mistake_bound: Option<f64>,
}

/// Most multiplications that the error on training rows may take without being asked for.
const TRAIN_ERROR_COST: f64 = 4e9;
/// Most weights: 16 GB.
const MOST_WEIGHTS: usize = 1 << 31;

/// Trains on rows in memory. `validation` must have been read with the labels of `data`.
///
/// ```
/// use novikoff::{control::Unwatched, data::generate::Recipe, train::{Settings, train}};
/// let data = Recipe { rows: 200, margin: 0.2, ..Recipe::default() }.generate();
/// let fit = train(&data, None, &Settings { epochs: 100, ..Settings::default() }, &mut Unwatched)?;
/// assert_eq!(fit.stopped, novikoff::online::Stopped::Separated);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn train(data: &Dataset, validation: Option<&Dataset>, settings: &Settings, observer: &mut dyn Observer) -> Result<Fit> {
    match settings.learner {
        Learner::PassiveAggressive => train_by(passive_aggressive(settings)?, data, validation, settings, observer),
        _ => train_by(perceptron(settings)?, data, validation, settings, observer),
    }
}

/// Trains on a stream, which is read once and not stored.
pub fn train_online(reader: Reader, settings: &Settings, observer: &mut dyn Observer) -> Result<Fit> {
    match settings.learner {
        Learner::PassiveAggressive => train_stream(passive_aggressive(settings)?, reader, settings, observer),
        _ => train_stream(perceptron(settings)?, reader, settings, observer),
    }
}

fn perceptron(settings: &Settings) -> Result<Perceptron> {
    if !(settings.step.is_finite() && settings.step > 0.0) {
        return Err(Error::usage(format!("the step must be a positive number, not {}", settings.step)));
    }
    Ok(Perceptron { step: settings.step, length: settings.length, tie: settings.tie })
}

fn passive_aggressive(settings: &Settings) -> Result<PassiveAggressive> {
    let aggressiveness = settings.aggressiveness;
    if let Aggressiveness::Capped(c) | Aggressiveness::Damped(c) = aggressiveness
        && !(c.is_finite() && c > 0.0)
    {
        return Err(Error::usage(format!("the aggressiveness must be a positive number, not {c}")));
    }
    if settings.length == Length::Unit {
        let error = Error::usage("passive-aggressive steps do not depend on a row's length: nothing to normalise");
        return Err(error.hint("leave out --normalise, or use --learner perceptron, averaged or voted"));
    }
    Ok(PassiveAggressive { aggressiveness })
}

fn keep(learner: Learner) -> Keep {
    match learner {
        Learner::Perceptron | Learner::PassiveAggressive => Keep::Last,
        Learner::Averaged => Keep::Average,
        Learner::Voted => Keep::Mistakes,
    }
}

/// Labels in their final order, and how to get there.
struct Classes {
    labels: Labels,
    /// The final number of a label, by its number in the data.
    rank: Vec<u32>,
    /// The other way round.
    order: Vec<u32>,
}

impl Classes {
    fn new(names: &Labels, settings: &Settings) -> Result<Self> {
        match names.names() {
            [] => return Err(Error::input("there are no rows with labels")),
            [only] => {
                let error = Error::input(format!("every row has the label {only:?}; learning to tell apart needs two"));
                return Err(error.hint("is this the right label column, and the whole file?"));
            }
            _ => {}
        }
        let positive = match &settings.positive {
            Some(name) => Some(names.find(name).ok_or_else(|| {
                let hint = format!("the labels are {}", listed(names));
                Error::usage(format!("there is no label {name:?} to be the positive one")).hint(hint)
            })?),
            None => None,
        };
        if positive.is_some() && names.len() > 2 {
            let error = Error::usage(format!("there are {} labels; only of two can one be the positive one", names.len()));
            return Err(error.hint("leave out --positive"));
        }
        let order = class_order(names, positive);
        let mut rank = vec![0; order.len()];
        for (class, &label) in order.iter().enumerate() {
            rank[label as usize] = class as u32;
        }
        let labels = Labels::new(order.iter().map(|&label| &names.names()[label as usize]));
        Ok(Self { labels, rank, order })
    }
}

/// Names for a message, not too many.
fn listed(names: &Labels) -> String {
    let shown: Vec<&str> = names.names().iter().take(20).map(String::as_str).collect();
    format!("{}{}", shown.join(", "), if names.len() > 20 { ", …" } else { "" })
}

/// Targets that are numbers but not classes: many different ones, and fractions, or few rows for each, or far apart, as
/// prices are and the numbers of classes are not.
fn refuse_targets(data: &Dataset) -> Result<()> {
    let different = data.names.len();
    let Some(values) = data.names.numbers().filter(|_| different > 20) else { return Ok(()) };
    let fractions = values.iter().any(|v| v.fract() != 0.0);
    let span = values.iter().fold(f64::NEG_INFINITY, |most, v| most.max(*v))
        - values.iter().fold(f64::INFINITY, |least, v| least.min(*v));
    let scattered = different > 100 && span > 10.0 * different as f64;
    if fractions || scattered || data.len() < 4 * different {
        let example = values.iter().take(3).map(f64::to_string).collect::<Vec<_>>().join(", ");
        let what = format!(
            "the targets look like numbers, not classes: {different} different ones ({example}, …) in {} rows",
            data.len()
        );
        return Err(Error::input(what).hint("predicting numbers needs a regression learner, and the perceptron family has none"));
    }
    Ok(())
}

fn scheme(classes: usize, settings: &Settings) -> Scheme {
    match settings.multiclass {
        Some(scheme) if scheme != Scheme::Two => scheme,
        _ if classes == 2 => Scheme::Two,
        _ => Scheme::Joint,
    }
}

fn check_size(features: usize, outputs: usize) -> Result<()> {
    if features.checked_mul(outputs).is_none_or(|weights| weights > MOST_WEIGHTS) {
        let what = format!("{features} features × {outputs} classes are more weights than fit into memory");
        return Err(Error::input(what).hint("fewer features, by --hash-bits or a smaller --max-index, or fewer classes"));
    }
    Ok(())
}

/// Row weights times class weights; empty if every row counts once.
fn effective_weights(data: &Dataset, classes: &[u32], labels: &Labels, settings: &Settings) -> Result<Vec<f64>> {
    let per_class: Vec<f64> = match &settings.class_weight {
        ClassWeight::Equal => return Ok(data.row_weights.clone()),
        ClassWeight::Balanced => {
            let mut counts = vec![0.0; labels.len()];
            for (i, &class) in classes.iter().enumerate() {
                counts[class as usize] += data.weight(i);
            }
            let total: f64 = counts.iter().sum();
            counts.iter().map(|&count| if count > 0.0 { total / (labels.len() as f64 * count) } else { 0.0 }).collect()
        }
        ClassWeight::Given(given) => {
            check_class_weights(given, labels)?;
            labels.names().iter().map(|name| given_weight(given, name)).collect()
        }
    };
    Ok(classes.iter().enumerate().map(|(i, &class)| data.weight(i) * per_class[class as usize]).collect())
}

fn check_class_weights(given: &[(String, f64)], labels: &Labels) -> Result<()> {
    for (name, weight) in given {
        if labels.find(name).is_none() {
            let error = Error::usage(format!("there is no label {name:?} to weigh"));
            return Err(error.hint(format!("the labels are {}", listed(labels))));
        }
        if !(weight.is_finite() && *weight >= 0.0) {
            return Err(Error::usage(format!("the weight of {name:?} must be a number from 0, not {weight}")));
        }
    }
    Ok(())
}

/// The weight that is given to a label under any of its spellings; 1 if none is.
fn given_weight(given: &[(String, f64)], label: &str) -> f64 {
    let own = Labels::new([label]);
    given.iter().rfind(|(name, _)| own.find(name).is_some()).map_or(1.0, |(_, weight)| *weight)
}

fn weightless() -> Error {
    Error::input("every row has the weight 0: there is nothing to learn from")
}

fn overflow() -> Error {
    Error::input("the values are so large that sums of their squares are no finite numbers").hint("scale the columns down first")
}

fn train_by<R: Rule>(
    rule: R,
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    if data.is_empty() {
        return Err(Error::input("there are no rows to learn from"));
    }
    refuse_targets(data)?;
    let classes = Classes::new(&data.names, settings)?;
    let scheme = scheme(classes.labels.len(), settings);
    let outputs = scheme.outputs(classes.labels.len());
    check_size(data.rows.columns(), outputs)?;
    let rank = |labels: &[u32]| -> Vec<u32> { labels.iter().map(|&label| classes.rank[label as usize]).collect() };
    let ranked = rank(&data.labels);
    let weights = effective_weights(data, &ranked, &classes.labels, settings)?;
    if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
        return Err(weightless());
    }
    let plan = Plan {
        rule,
        scheme,
        classes: classes.labels.len(),
        bias: settings.bias,
        keep: keep(settings.learner),
        order: settings.order,
        seed: settings.seed,
        epochs: settings.epochs,
        patience: settings.patience,
    };
    let held = validation.map(|data| (data, rank(&data.labels)));
    let validate = held.as_ref().map(|(data, classes)| move |scorer: &Scorer| evaluate::error(scorer, data, classes));
    let batch = online::Batch { rows: &data.rows, classes: &ranked, weights: &weights };
    let trained = online::train(&plan, batch, validate.as_ref().map(|v| v as &dyn Fn(&Scorer) -> f64), observer);

    let stands = |weights: &Weights| geometry(weights, batch, scheme, settings);
    let geometry = match &trained.scorer {
        Scorer::Linear(weights) => Some(stands(weights)?),
        Scorer::Voted(voted) if voted.largest_score().is_finite() => None,
        Scorer::Voted(_) => return Err(overflow()),
    };
    let separation = match (&trained.separator, trained.stopped) {
        (Some(last), _) => Some(stands(last)?),
        (None, Stopped::Separated) => geometry,
        (None, _) => None,
    };
    let affordable = trained.scorer.cost() as f64 * (data.len() as f64) < TRAIN_ERROR_COST;
    let train_error = affordable.then(|| evaluate::error(&trained.scorer, data, &ranked));
    let mut results = BTreeMap::from([
        ("epochs".to_owned(), json!(trained.trace.len())),
        ("epoch".to_owned(), json!(trained.epoch)),
        ("mistakes".to_owned(), json!(trained.mistakes)),
        ("updates".to_owned(), json!(trained.updates)),
        ("stopped".to_owned(), json!(trained.stopped)),
    ]);
    if let Some(error) = train_error {
        results.insert("train_error".into(), json!(error));
    }
    if let Some(error) = trained.trace.iter().filter_map(|e| e.validation_error).min_by(f64::total_cmp) {
        results.insert("validation_error".into(), json!(error));
    }
    let about = About {
        learner: settings.learner.name().to_owned(),
        settings: describe(settings, scheme),
        seed: settings.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash: data.fingerprint(),
        results,
    };
    Ok(Fit {
        model: Model { about, labels: classes.labels, schema: data.schema.clone(), scorer: trained.scorer },
        stopped: trained.stopped,
        epoch: trained.epoch,
        mistakes: trained.mistakes,
        updates: trained.updates,
        trace: trained.trace,
        train_error,
        progressive_error: None,
        geometry,
        separation,
        scheme,
        report: None,
    })
}

/// The settings as a model stores them: those that mean something for its learner.
fn describe(settings: &Settings, scheme: Scheme) -> BTreeMap<String, serde_json::Value> {
    let mut all = BTreeMap::from([
        ("bias".to_owned(), json!(settings.bias)),
        ("epochs".to_owned(), json!(settings.epochs)),
        ("order".to_owned(), json!(settings.order)),
        ("multiclass".to_owned(), json!(scheme)),
    ]);
    let mut add = |name: &str, value| drop(all.insert(name.to_owned(), value));
    if settings.learner == Learner::PassiveAggressive {
        add("aggressiveness", json!(settings.aggressiveness));
    } else {
        add("length", json!(settings.length));
        add("tie", json!(settings.tie));
        add("step", json!(settings.step));
    }
    match &settings.class_weight {
        ClassWeight::Equal => {}
        ClassWeight::Balanced => add("class_weight", json!("balanced")),
        ClassWeight::Given(given) => add("class_weight", json!(given)),
    }
    all
}

/// One more pass over the rows, for weights that are returned or spoken of. It would show if a number on the way was not
/// finite.
fn geometry(weights: &Weights, batch: online::Batch<'_>, scheme: Scheme, settings: &Settings) -> Result<Geometry> {
    let extra = settings.bias.coordinate();
    let norms: Vec<f64> = (0..weights.outputs()).map(|output| weights.norm_sq(output).sqrt()).collect();
    let whole = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
    let stand = |scores: &mut Vec<f64>, i: usize| {
        let row = batch.rows.row(i);
        let norm = (row.norm_sq() + extra * extra).sqrt();
        let length = if settings.length == Length::Unit && norm > 0.0 { norm } else { 1.0 };
        weights.score(row, scores);
        let finite = norm.is_finite() && scores.iter().all(|score| score.is_finite());
        let least = least_margin(scores, batch.classes[i] as usize, scheme, &norms, whole) / length;
        if finite { (least, norm / length) } else { (f64::NAN, f64::NAN) }
    };
    // The least and the largest are the same in any order, so the result does not depend on the threads.
    let (margin, mut radius) =
        (0..batch.rows.rows()).into_par_iter().with_min_len(1024).map_init(|| vec![0.0; weights.outputs()], stand).reduce(
            || (f64::INFINITY, 0.0),
            |a, b| if (a.0 + b.0).is_nan() { (f64::NAN, f64::NAN) } else { (a.0.min(b.0), a.1.max(b.1)) },
        );
    if margin.is_nan() || !whole.is_finite() {
        return Err(overflow());
    }
    if scheme == Scheme::Joint {
        radius *= std::f64::consts::SQRT_2;
    }
    // The theorem speaks of a perceptron with steps of one size, from zero, whose every update is a mistake.
    let speaks = settings.learner != Learner::PassiveAggressive && batch.weights.is_empty() && scheme != Scheme::OneVsRest;
    let mistake_bound = (speaks && margin > 0.0).then(|| (radius / margin).powi(2));
    Ok(Geometry { margin, radius, mistake_bound })
}

fn least_margin(scores: &[f64], class: usize, scheme: Scheme, norms: &[f64], whole: f64) -> f64 {
    let over = |score: f64, norm: f64| if norm > 0.0 { score / norm } else { 0.0 };
    match scheme {
        Scheme::Two => over(if class == 1 { scores[0] } else { -scores[0] }, norms[0]),
        Scheme::Joint => over(scores[class] - scores[crate::multiclass::best_except(scores, class)], whole),
        Scheme::OneVsRest => {
            let each = scores.iter().zip(norms).enumerate();
            each.map(|(c, (s, n))| over(if c == class { *s } else { -s }, *n)).fold(f64::INFINITY, f64::min)
        }
    }
}

fn train_stream<R: Rule>(rule: R, reader: Reader, settings: &Settings, observer: &mut dyn Observer) -> Result<Fit> {
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
        model: Model { about, labels: classes.labels, schema: end.schema, scorer: Scorer::Linear(weights) },
        stopped,
        trace: Vec::new(),
        epoch: 1,
        mistakes: streamed.mistakes,
        updates: streamed.updates,
        train_error: None,
        progressive_error: Some(progressive_error),
        geometry: None,
        separation: None,
        scheme: streamed.scheme,
        report: Some(end.report),
    })
}

fn refuse_for_streams(settings: &Settings) -> Result<()> {
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
