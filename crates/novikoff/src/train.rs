//! Training: a learner with its settings and rows in, a model and what is known of it out.

mod bayes;
mod budget;
mod builders;
mod certify;
mod classes;
mod cross_validate;
mod fit;
mod geometry;
mod kernel;
mod learner;
mod mapped;
mod memory;
mod mistakes;
mod network;
mod online;
mod resume;
mod risk;
mod run;
mod standardised;
mod stream;
mod task;
mod tune;
mod validation;

pub use builders::{
    Boosting, ExponentialLoss, HingeAtZeroLoss, HuberRegression, LeastAbsoluteDeviations, LeastSquares,
    LinearSvm, LogisticRegression, MaxMargin, QuantileRegression,
};
pub use cross_validate::{CrossValidated, cross_validate, over_folds};
pub use fit::{Details, Fit, History, RunDetails, StreamDetails};
pub use geometry::Geometry;
pub use learner::{
    ClassWeight, Criterion, CustomLoss, Epochs, Learner, LearnerName, MultilayerPerceptron, NaiveBayes,
    PassiveAggressive, Perceptron, Risk, Shared, SolverName, Strength,
};
pub use mistakes::{Promise, Theorem};
pub use online::Online;
pub use resume::{Continued, Resumed};
pub use risk::{EmpiricalRisk, RiskFit, TunedRisk};
pub use task::InferredTask;
pub use tune::{End, Parameter, Search, Tried, Tuned, tune};
pub use validation::Validation;

use crate::control::{Flow, Observer, Termination, Watch};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{self, CalibrationMethod, Folds, Strata};
use crate::features::Schema;
use crate::kernel::Kernel;
use crate::model::{Calibration, Model, Task, Weights};
use crate::read::Reader;
use budget::KernelStream;
pub(crate) use classes::{Classes, check_size, effective_weights};
pub(crate) use kernel::check as check_kernel;
use mapped::MappedStream;
pub(crate) use memory::check_memory;
use run::passive_aggressive_rule;
pub(crate) use run::perceptron_rule;
use serde_json::json;
use std::collections::BTreeMap;
use stream::{Corrected, Streaming, train_stream};
use task::refuse_classes;
pub(crate) use task::refuse_targets;

/// Trains on rows in memory. `validation` must have been read with the labels of `data`.
///
/// ```
/// use novikoff::{control::Unwatched, data::generate::Recipe, train::{LearnerName, train}};
/// let data = Recipe { rows: 200, margin: 0.2, ..Recipe::default() }.generate();
/// let fit = train(&data, None, &LearnerName::Perceptron.learner(), &mut Unwatched)?;
/// assert_eq!(fit.termination, novikoff::control::Termination::Separated);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn train(
    data: &Dataset,
    validation: Option<&Dataset>,
    learner: &Learner,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    train_all(data, validation, (learner, None), observer)
}

/// The same, going on from a model.
///
/// Learners that minimise a loss start from its weights: the minimum is the same, and found in fewer steps.
/// Learners with epochs go on exactly if the rows and settings are those of the model, which has its state:
/// `epochs` counts from the first one. Over other rows they start from the model's weights. Naive Bayes counts
/// on. Except for those that minimise a loss, the rows must have been read with
/// [`Purpose::Continuing`](crate::read::Purpose).
///
/// ```
/// use novikoff::{Perceptron, data::generate::Recipe};
///
/// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
/// let two = Perceptron::averaged().epochs(2).fit(&data)?;
/// let five = Perceptron::averaged().epochs(5).fit_from(&data, &two.model)?;
/// assert_eq!(five.model, Perceptron::averaged().epochs(5).fit(&data)?.model);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn train_from(
    data: &Dataset,
    validation: Option<&Dataset>,
    learner: &Learner,
    model: &Model,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    resume::refuse_other_kinds(model, learner)?;
    if !matches!(learner, Learner::Risk(_)) {
        resume::refuse_other_numbering(model, &data.schema)?;
    }
    train_all(data, validation, (learner, Some(model)), observer)
}

fn train_all(
    data: &Dataset,
    validation: Option<&Dataset>,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let (learner, _) = from;
    data.validate()?;
    if let Some(validation) = validation {
        validation.validate()?;
        refuse_other_columns(data, validation)?;
    }
    check_task(data, validation, learner)?;
    check_memory(data, learner)?;
    train_on(data, validation, from, observer)
}

/// Trains on rows that have been checked, or on some of them.
fn train_on(
    data: &Dataset,
    validation: Option<&Dataset>,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match from.0.shared().map {
        Some(map) => mapped::train_mapped(map, data, validation, from, observer),
        None => train_as_given(data, validation, from, observer),
    }
}

/// Validation rows whose columns are not those of the rows to learn from would be scored as if they were.
fn refuse_other_columns(data: &Dataset, validation: &Dataset) -> Result<()> {
    let (own, others) = (data.rows.columns(), validation.rows.columns());
    let are_indexed = |data: &Dataset| matches!(data.schema, Schema::Indexed { .. });
    if (!are_indexed(data) || !are_indexed(validation)) && data.schema != validation.schema {
        let what = "the validation rows have other columns than the rows to learn from, or in another order";
        return Err(
            Error::input(what).hint("split one data set, or read the one for the schema of the other")
        );
    }
    if others > own || validation.rows.is_dense() && others < own {
        let what = format!("the validation rows have {others} columns, the rows to learn from {own}");
        return Err(Error::input(what));
    }
    Ok(())
}

/// Labels must be what the learner learns from. This is asked of all rows at once: a part of them could look
/// otherwise.
fn check_task(data: &Dataset, held_out: Option<&Dataset>, learner: &Learner) -> Result<()> {
    if !data.is_empty() && data.labels.is_empty() {
        return Err(Error::input("the rows have no labels to learn from").hint("give them by `with_labels`"));
    }
    match learner.predicts_numbers() {
        true => refuse_classes(learner.shared()),
        false => refuse_targets(data, held_out, learner.shared()),
    }
}

/// Trains on rows that no map is to be applied to, or has been.
fn train_as_given(
    data: &Dataset,
    validation: Option<&Dataset>,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let (learner, _) = from;
    let mut fit = train_uncalibrated(data, validation, from, observer)?;
    let has_numbers = |weights: &Weights| weights.values.iter().chain(&weights.bias).all(|w| w.is_finite());
    if !fit.model.scorer.weights().is_none_or(has_numbers) {
        return Err(geometry::overflow());
    }
    if let (Some(method), false) = (learner.shared().calibrate, fit.termination == Termination::Interrupted) {
        let watch = Watch::new(observer);
        match calibrated(method, data, learner, &fit.model, &watch) {
            Err(_) if watch.stopped() => fit.termination = Termination::Interrupted,
            probabilities => fit.model.probabilities = Some(probabilities?),
        }
    }
    Ok(fit)
}

/// Folds of cross-fitting.
const FOLDS: usize = 5;

/// Probabilities of a model's scores, by the scores that models of some folds give the others.
fn calibrated(
    method: CalibrationMethod,
    data: &Dataset,
    learner: &Learner,
    model: &Model,
    watch: &Watch<'_>,
) -> Result<Calibration> {
    if model.task() == Task::Regression {
        return Err(Error::usage("numbers have no probabilities to calibrate").hint("leave out `calibrate`"));
    }
    if matches!(learner, Learner::Bayes(_)) && model.scorer.outputs() > 1 {
        let what = "the likelihood of a row in one class means nothing without those in the others: no class \
                    can be calibrated alone";
        return Err(Error::usage(what).hint("leave out `calibrate`: bayes has probabilities of its own"));
    }
    let shared = learner.shared();
    let classes = Classes::new(&data.names, &data.schema, shared)?;
    let ranked = classes.rank_all(&data.labels);
    let folds = Folds::deal(Strata::Classes(&ranked), FOLDS.min(data.len()), shared.seed)?;
    let quiet = untraced(learner);
    let fit = |part: &Dataset| {
        let mut goes_on = |_| if watch.goes_on() { Flow::Continue } else { Flow::Stop };
        let fit = train_uncalibrated(part, None, (&quiet, None), &mut goes_on)?;
        if watch.goes_on() { Ok(fit.model.scorer) } else { Err(Error::interrupted()) }
    };
    let scores = evaluate::cross_fit(data, &folds, fit)?;
    let weights = effective_weights(data, &ranked, &classes.labels, shared)?;
    evaluate::calibrate(method, &scores, model.scorer.outputs(), &ranked, &weights)
}

/// The same learner, without a record of its solver's steps.
fn untraced(learner: &Learner) -> Learner {
    match learner {
        Learner::Risk(risk) => Learner::Risk(Risk { trace: false, ..risk.clone() }),
        other => other.clone(),
    }
}

fn train_uncalibrated(
    data: &Dataset,
    validation: Option<&Dataset>,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match from.0 {
        Learner::Perceptron(perceptron) => {
            let rule = perceptron_rule(perceptron)?;
            run::train_run(rule, &perceptron.into(), from, (data, validation), observer)
        }
        Learner::PassiveAggressive(aggressive) => {
            let rule = passive_aggressive_rule(aggressive)?;
            run::train_run(rule, &aggressive.into(), from, (data, validation), observer)
        }
        Learner::Risk(risk) => match risk.criterion.loss() {
            Some(loss) => risk::train_risk(loss, (risk, from.1), data, validation, observer),
            None => Err(custom_loss()),
        },
        Learner::Bayes(bayes) => bayes::train_bayes(data, validation, (bayes, from.1)),
        Learner::Network(network) => network::train_network(data, validation, (network, from.1), observer),
    }
}

/// Trains on a stream, which is read once and not stored.
pub fn train_online(reader: Reader, learner: &Learner, observer: &mut dyn Observer) -> Result<Fit> {
    train_stream_of(reader, (learner, None), observer)
}

/// The same, going on from a model. If it is from the same learner and has its state, what comes of it is what
/// one pass over all rows, those of the model and these, would have come to. Otherwise learning starts from
/// the model's weights. The reader must have been opened with [`Purpose::Continuing`](crate::read::Purpose).
pub fn train_online_from(
    reader: Reader,
    learner: &Learner,
    model: &Model,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    train_stream_of(reader, (learner, Some(model)), observer)
}

/// A learner, and the model that it goes on from.
type From<'a> = (&'a Learner, Option<&'a Model>);

fn train_stream_of(reader: Reader, from: From<'_>, observer: &mut dyn Observer) -> Result<Fit> {
    let (learner, _) = from;
    if learner.shared().task == Some(Task::Regression) {
        let what = "what learns from a stream tells classes apart, and `task = regression` is about numbers";
        return Err(Error::usage(what).hint("leave out `online` or `task`"));
    }
    if learner.shared().calibrate.is_some() {
        let what = "probabilities are fitted to scores of rows that are held out, and a stream keeps no rows";
        let hint = match from.1 {
            Some(model) if model.probabilities.is_some() => {
                "leave out `online`: the model is a calibrated one"
            }
            _ => "leave out `calibrate` or `online`",
        };
        return Err(Error::usage(what).hint(hint));
    }
    match learner {
        Learner::Risk(_) | Learner::Network(_) => {
            let what = format!("{} needs all rows at once: it cannot learn from a stream", learner.name());
            Err(Error::usage(what).hint(
                "leave out `online`, or use `learner = averaged`, perceptron, passive-aggressive or bayes",
            ))
        }
        Learner::Bayes(bayes) => {
            let counted = bayes::CountedStream::new(bayes, &reader)?;
            train_mapped_stream(counted, reader, from, observer)
        }
        Learner::Perceptron(perceptron) => {
            run::refuse_for_streams(perceptron)?;
            let rule = perceptron_rule(perceptron)?;
            train_corrected(rule, &perceptron.into(), reader, from, observer)
        }
        Learner::PassiveAggressive(aggressive) => {
            let rule = passive_aggressive_rule(aggressive)?;
            train_corrected(rule, &aggressive.into(), reader, from, observer)
        }
    }
}

/// Weights of features, or with a kernel of rows, that are corrected on mistakes.
fn train_corrected<R: crate::online::rule::Rule>(
    rule: R,
    corrected: &run::Corrections,
    reader: Reader,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let (learner, _) = from;
    if corrected.kernel == Kernel::Linear {
        let stream = Corrected::new(rule, corrected, learner)?;
        train_mapped_stream(stream, reader, from, observer)
    } else {
        let stream = KernelStream::new(rule, corrected, learner)?;
        train_mapped_stream(stream, reader, from, observer)
    }
}

fn train_mapped_stream(
    streaming: impl Streaming,
    reader: Reader,
    from: From<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match from.0.shared().map {
        Some(map) => train_stream(MappedStream::new(map, streaming)?, reader, from, observer),
        None => train_stream(streaming, reader, from, observer),
    }
}

/// A loss of which nothing but its name is known.
fn custom_loss() -> Error {
    Error::usage("a loss of one's own is trained by `EmpiricalRisk`, which knows it as a type")
}

fn describe_class_weight(class_weight: &ClassWeight, all: &mut BTreeMap<String, serde_json::Value>) {
    let value = match class_weight {
        ClassWeight::Equal => return,
        ClassWeight::Balanced => json!("balanced"),
        ClassWeight::Given(given) => json!(given),
    };
    all.insert("class_weight".to_owned(), value);
}
