//! The one place where names become types: settings in, model out.

mod bayes;
mod budget;
mod certify;
mod classes;
mod geometry;
mod kernel;
mod mapped;
mod mistakes;
mod network;
mod risk;
mod stream;
mod tune;

pub use geometry::Geometry;
pub use mistakes::{Promise, Theorem};
pub use network::HiddenLayer;
pub use risk::{Risk, RiskFit, SolverName, Strength};
pub use tune::{Parameter, Tried, Tuned, tune};

use crate::bayes::Bayes;
use crate::control::{Epoch, Observer, Unwatched};
use crate::data::{Dataset, Report};
use crate::error::{Error, Result};
use crate::evaluate::{self, CalibrationMethod, Folds, Strata};
use crate::features::map::Map;
use crate::kernel::Kernel;
use crate::loss::LossName;
use crate::model::{About, Calibration, Model, Scorer, Task, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::{Aggressiveness, Length, PassiveAggressive, Perceptron, Rule, Tie};
use crate::online::{self, Hypothesis, Order, Plan, Stopped};
use crate::penalty::Bias;
use crate::read::Reader;
use budget::KernelStream;
pub(crate) use classes::{Classes, check_size, effective_weights, refuse_targets};
use classes::{scheme, weightless};
pub(crate) use kernel::check as check_kernel;
use mapped::MappedStream;
use mistakes::{Account, account};
use serde_json::json;
use std::collections::BTreeMap;
use stream::{Corrected, Streaming, train_stream};
use tune::tune_as_given;

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
    /// The support vector machine: hinge loss.
    Svm,
    /// The support vector machine with squared hinge loss.
    SquaredSvm,
    /// Logistic regression.
    Logistic,
    /// Exponential loss.
    Exponential,
    /// Regression by least squares.
    LeastSquares,
    /// Regression by least absolute deviations.
    LeastAbsolute,
    /// Exponential loss, one weight at a time.
    Boosting,
    /// The hyperplane with the largest margin, for rows that can be separated.
    MaxMargin,
    /// The perceptron's loss, hinge at zero, minimised over all rows.
    HingeAtZero,
    /// Bayes' rule, by counts.
    Bayes,
    /// A multilayer perceptron with one hidden layer.
    Network,
}

impl Learner {
    /// Those that learn from one row at a time.
    pub const ONLINE: [Learner; 4] =
        [Learner::Perceptron, Learner::Averaged, Learner::Voted, Learner::PassiveAggressive];
    /// Those that minimise a mean loss over all rows, to tell classes apart.
    pub const BATCH: [Learner; 7] = [
        Learner::Svm,
        Learner::SquaredSvm,
        Learner::Logistic,
        Learner::Exponential,
        Learner::Boosting,
        Learner::MaxMargin,
        Learner::HingeAtZero,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Learner::Perceptron => "perceptron",
            Learner::Averaged => "averaged",
            Learner::Voted => "voted",
            Learner::PassiveAggressive => "passive-aggressive",
            Learner::Svm => "svm",
            Learner::SquaredSvm => "squared-svm",
            Learner::Logistic => "logistic",
            Learner::Exponential => "exponential",
            Learner::LeastSquares => "least-squares",
            Learner::LeastAbsolute => "least-absolute",
            Learner::Boosting => "boosting",
            Learner::MaxMargin => "max-margin",
            Learner::HingeAtZero => "hinge-at-zero",
            Learner::Bayes => "bayes",
            Learner::Network => "network",
        }
    }

    /// Whether it predicts numbers instead of labels, whatever else it is told.
    pub fn predicts_numbers(self) -> bool {
        matches!(self, Learner::LeastSquares | Learner::LeastAbsolute)
    }

    /// The loss that it minimises over all rows; `None` for those that learn from one row at a time, or
    /// count.
    pub fn loss(self) -> Option<LossName> {
        risk::loss_of(self)
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
    /// Perceptrons: what every row has as a feature of its own while learning, if it has one. It makes any
    /// rows separable.
    pub own_feature: Option<f64>,
    /// Perceptrons: the constant step.
    pub step: f64,
    /// Passive-aggressive: how aggressive.
    pub aggressiveness: Aggressiveness,
    /// Perceptrons and passive-aggressive: what compares rows.
    pub kernel: Kernel,
    /// With a kernel on a stream: most rows that are kept.
    pub budget: usize,
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
    /// What makes features of features before anything is learned.
    pub map: Option<Map>,
    /// How probabilities are fitted to scores, if they are to be: to those of rows that a model did not learn
    /// from.
    pub calibrate: Option<CalibrationMethod>,
    /// What batch learners are told besides.
    pub risk: Risk,
    /// What bayes is told besides.
    pub bayes: Bayes,
    /// What a network is told besides.
    pub network: HiddenLayer,
    /// Whether every step of a solver is to be kept.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            learner: Learner::Averaged,
            length: Length::AsGiven,
            tie: Tie::Mistake,
            own_feature: None,
            step: 1.0,
            aggressiveness: Aggressiveness::Capped(1.0),
            kernel: Kernel::Linear,
            budget: 1000,
            bias: Bias::Free,
            multiclass: None,
            positive: None,
            class_weight: ClassWeight::Equal,
            epochs: 30,
            patience: 3,
            order: Order::Shuffled,
            seed: 0,
            map: None,
            calibrate: None,
            risk: Risk::default(),
            bayes: Bayes::default(),
            network: HiddenLayer::default(),
            trace: false,
        }
    }
}

impl Settings {
    /// Whether numbers are predicted instead of labels.
    pub fn predicts_numbers(&self) -> bool {
        self.learner.predicts_numbers()
            || (self.learner == Learner::Network && self.network.predicts_numbers())
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
    /// Error of a batch learner's model on the validation rows.
    pub validation_error: Option<f64>,
    /// Share of a stream's rows that were predicted wrongly before they were learned from.
    pub progressive_error: Option<f64>,
    /// How the model stands to the rows it learned from.
    pub geometry: Option<Geometry>,
    /// How the weights that separated the rows stand to them, where the run ended separated: the model's own,
    /// or the last ones of the run that the model averages or lets vote.
    pub separation: Option<Geometry>,
    /// No weights have a larger margin than this: a perceptron's weights are a sum of rows, one for each
    /// update, and no margin is larger than the length of their mean.
    pub margin_upper: Option<f64>,
    /// What theory promises about the mistakes of a perceptron's run.
    pub promise: Option<Promise>,
    /// The weights that the promise goes by, if they are not the model's own.
    pub witness: Option<Weights>,
    /// How classes are told apart.
    pub scheme: Scheme,
    /// What the reader of a stream noticed.
    pub report: Option<Report>,
    /// What a batch learner's fit came to.
    pub risk: Option<RiskFit>,
}

/// Most multiplications that the error on training rows may take without being asked for.
const TRAIN_ERROR_COST: f64 = 4e9;

/// Trains on rows in memory. `validation` must have been read with the labels of `data`.
///
/// ```
/// use novikoff::{control::Unwatched, data::generate::Recipe, train::{Settings, train}};
/// let data = Recipe { rows: 200, margin: 0.2, ..Recipe::default() }.generate();
/// let fit = train(&data, None, &Settings { epochs: 100, ..Settings::default() }, &mut Unwatched)?;
/// assert_eq!(fit.stopped, novikoff::online::Stopped::Separated);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn train(
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match settings.map {
        Some(map) => mapped::train_mapped(map, data, validation, settings, observer),
        None => train_as_given(data, validation, settings, observer),
    }
}

/// Trains on rows that no map is to be applied to, or has been.
fn train_as_given(
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let mut fit = train_uncalibrated(data, validation, settings, observer)?;
    if let (Some(method), false) = (settings.calibrate, fit.stopped == Stopped::Interrupted) {
        fit.model.probabilities = Some(calibrated(method, data, settings, &fit.model)?);
    }
    Ok(fit)
}

/// Folds of cross-fitting.
const FOLDS: usize = 5;

/// Probabilities of a model's scores, by the scores that models of some folds give the others.
fn calibrated(
    method: CalibrationMethod,
    data: &Dataset,
    settings: &Settings,
    model: &Model,
) -> Result<Calibration> {
    if model.task() == Task::Regression {
        return Err(Error::usage("numbers have no probabilities to calibrate").hint("leave out --calibrate"));
    }
    if settings.learner == Learner::Bayes && model.scorer.outputs() > 1 {
        let what = "the likelihood of a row in one class means nothing without those in the others: no class can be calibrated alone";
        return Err(Error::usage(what).hint("leave out --calibrate: bayes has probabilities of its own"));
    }
    let classes = Classes::new(&data.names, settings)?;
    let ranked = classes.rank_all(&data.labels);
    let folds = Folds::deal(Strata::Classes(&ranked), FOLDS.min(data.len()), settings.seed)?;
    let quiet = Settings { trace: false, ..settings.clone() };
    let fit = |part: &Dataset| Ok(train_uncalibrated(part, None, &quiet, &mut Unwatched)?.model.scorer);
    let scores = evaluate::cross_fit(data, &folds, fit)?;
    let weights = effective_weights(data, &ranked, &classes.labels, settings)?;
    evaluate::calibrate(method, &scores, model.scorer.outputs(), &ranked, &weights)
}

fn train_uncalibrated(
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    kernel::refuse_for_others(settings)?;
    if let Some(loss) = settings.learner.loss() {
        return risk::train_risk(loss, data, validation, settings, observer);
    }
    match settings.learner {
        Learner::Bayes => bayes::train_bayes(data, validation, settings),
        Learner::Network => network::train_network(data, validation, settings, observer),
        Learner::PassiveAggressive => {
            train_by(passive_aggressive(settings)?, data, validation, settings, observer)
        }
        _ => train_by(perceptron(settings)?, data, validation, settings, observer),
    }
}

/// Trains on a stream, which is read once and not stored.
pub fn train_online(reader: Reader, settings: &Settings, observer: &mut dyn Observer) -> Result<Fit> {
    if settings.learner.loss().is_some() || settings.learner == Learner::Network {
        let what =
            format!("{} needs all rows at once: it cannot learn from a stream", settings.learner.name());
        return Err(Error::usage(what)
            .hint("leave out --online, or use --learner averaged, perceptron, passive-aggressive or bayes"));
    }
    if settings.own_feature.is_some() {
        return Err(Error::usage(
            "rows of a stream come once: a feature of their own would never be met again",
        )
        .hint("leave out --own-feature or --online"));
    }
    kernel::refuse_for_others(settings)?;
    let kernelised = settings.kernel != Kernel::Linear;
    match settings.learner {
        Learner::Bayes => {
            let learner = bayes::CountedStream::new(settings, &reader)?;
            train_mapped_stream(learner, reader, settings, observer)
        }
        Learner::PassiveAggressive if kernelised => train_mapped_stream(
            KernelStream::new(passive_aggressive(settings)?, settings)?,
            reader,
            settings,
            observer,
        ),
        _ if kernelised => train_mapped_stream(
            KernelStream::new(perceptron(settings)?, settings)?,
            reader,
            settings,
            observer,
        ),
        Learner::PassiveAggressive => train_mapped_stream(
            Corrected::new(passive_aggressive(settings)?, settings)?,
            reader,
            settings,
            observer,
        ),
        _ => {
            train_mapped_stream(Corrected::new(perceptron(settings)?, settings)?, reader, settings, observer)
        }
    }
}

fn train_mapped_stream(
    learner: impl Streaming,
    reader: Reader,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match settings.map {
        Some(map) => train_stream(MappedStream::new(map, learner)?, reader, settings, observer),
        None => train_stream(learner, reader, settings, observer),
    }
}

pub(crate) fn perceptron(settings: &Settings) -> Result<Perceptron> {
    if !(settings.step.is_finite() && settings.step > 0.0) {
        return Err(Error::usage(format!("the step must be a positive number, not {}", settings.step)));
    }
    if settings.own_feature.is_some() && settings.length == Length::Unit {
        let error = Error::usage(
            "rows with a feature of their own are not normalised: the theorem speaks of one or the other",
        );
        return Err(error.hint("leave out --own-feature or --normalise"));
    }
    if let Some(own) = settings.own_feature.filter(|own| !(own.is_finite() && *own > 0.0)) {
        return Err(Error::usage(format!("the rows' own feature must be a positive number, not {own}")));
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
    if settings.own_feature.is_some() {
        let error = Error::usage(
            "a feature of each row's own is for perceptrons: C does the same for passive-aggressive steps",
        );
        return Err(error.hint("leave out --own-feature, or use --learner perceptron, averaged or voted"));
    }
    if settings.length == Length::Unit {
        let error =
            Error::usage("passive-aggressive steps do not depend on a row's length: nothing to normalise");
        return Err(error.hint("leave out --normalise, or use --learner perceptron, averaged or voted"));
    }
    Ok(PassiveAggressive { aggressiveness })
}

fn keep(learner: Learner) -> Hypothesis {
    match learner {
        Learner::Averaged => Hypothesis::Average,
        Learner::Voted => Hypothesis::Votes,
        _ => Hypothesis::Last,
    }
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
    let ranked = classes.rank_all(&data.labels);
    let weights = effective_weights(data, &ranked, &classes.labels, settings)?;
    if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
        return Err(weightless());
    }
    let plan = Plan {
        rule,
        scheme,
        classes: classes.labels.len(),
        bias: settings.bias,
        hypothesis: keep(settings.learner),
        order: settings.order,
        seed: settings.seed,
        epochs: settings.epochs,
        patience: settings.patience,
        own_feature: settings.own_feature,
    };
    let held = validation.map(|data| (data, classes.rank_all(&data.labels)));
    let validate =
        held.as_ref().map(|(data, classes)| move |scorer: &Scorer| evaluate::error(scorer, data, classes));
    let batch = online::TrainingRows { rows: &data.rows, classes: &ranked, weights: &weights };
    let validate = validate.as_ref().map(|v| v as &dyn Fn(&Scorer) -> f64);
    let (mut trained, comparisons) = match settings.kernel {
        Kernel::Linear => (online::train(&plan, batch, validate, observer), None),
        kernel => {
            kernel::check(data, settings)?;
            let (trained, comparisons) = online::train_kernel(&plan, kernel, batch, validate, observer);
            (trained, Some(comparisons))
        }
    };

    let Account { geometry, separation, margin_upper, promise, witness } =
        account(&mut trained, batch, scheme, settings)?;
    let affordable = trained.scorer.cost() as f64 * (data.len() as f64) < TRAIN_ERROR_COST;
    let train_error = affordable.then(|| evaluate::error(&trained.scorer, data, &ranked));
    let mut results = BTreeMap::from([
        ("epochs".to_owned(), json!(trained.trace.len())),
        ("epoch".to_owned(), json!(trained.epoch)),
        ("mistakes".to_owned(), json!(trained.mistakes)),
        ("updates".to_owned(), json!(trained.updates)),
        ("stopped".to_owned(), json!(trained.stopped)),
    ]);
    if let Some(comparisons) = comparisons {
        results.insert("kernels".into(), json!(comparisons));
    }
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
        model: Model {
            about,
            labels: classes.labels,
            schema: data.schema.clone(),
            scorer: trained.scorer,
            probabilities: None,
        },
        stopped: trained.stopped,
        epoch: trained.epoch,
        mistakes: trained.mistakes,
        updates: trained.updates,
        trace: trained.trace,
        train_error,
        progressive_error: None,
        validation_error: None,
        geometry,
        separation,
        margin_upper,
        promise,
        witness,
        scheme,
        report: None,
        risk: None,
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
    if settings.kernel != Kernel::Linear {
        add("kernel", json!(settings.kernel.to_string()));
    }
    if settings.learner == Learner::PassiveAggressive {
        add("aggressiveness", json!(settings.aggressiveness));
    } else {
        add("length", json!(settings.length));
        if let Some(own) = settings.own_feature {
            add("own_feature", json!(own));
        }
        add("tie", json!(settings.tie));
        add("step", json!(settings.step));
    }
    describe_class_weight(settings, &mut all);
    all
}

fn describe_class_weight(settings: &Settings, all: &mut BTreeMap<String, serde_json::Value>) {
    let value = match &settings.class_weight {
        ClassWeight::Equal => return,
        ClassWeight::Balanced => json!("balanced"),
        ClassWeight::Given(given) => json!(given),
    };
    all.insert("class_weight".to_owned(), value);
}
