//! Choosing λ by cross-validation: a path of penalties from strong to weak, each fit starting from the last,
//! folds in parallel. For bayes it is the smoothing that is chosen, by one count of each fold's rows.

use super::learner::{Learner, NaiveBayes, Risk, Strength};
use super::mapped::tune_mapped;
use super::memory::check_memory_of_folds;
use super::risk::{Path, held_out_errors};
use super::{Fit, bayes, check_task, custom_loss, train_as_given};
use crate::control::{Observer, Watch};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{Folds, Strata};
use rayon::prelude::*;

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// λ, the strength of the penalty.
    Lambda,
    /// What bayes adds to every count.
    Smoothing,
}

/// What one penalty, or one smoothing, came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// What was tried.
    pub value: f64,
    /// The mean over folds of the error on the held-out rows; for regression the mean squared error.
    pub error: f64,
    /// The standard error of that mean.
    pub spread: f64,
}

/// A path, the best of it, and the model that was learned from all rows with it.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was chosen.
    pub parameter: Parameter,
    /// From the strongest to the weakest.
    pub path: Vec<Tried>,
    /// The number of the best: the least error, and of several the strongest.
    pub best: usize,
    /// Learned from all rows with the best.
    pub fit: Fit,
    /// How many folds there were.
    pub folds: usize,
}

/// Tries a path of λ, or of bayes's smoothing (`None`: one that suits the data), by cross-validation, and
/// learns from all rows with the best.
///
/// ```
/// use novikoff::{LinearSvm, data::generate::Recipe};
/// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
/// let tuned = LinearSvm::new().tune(&data, 5, Some(vec![1e-3, 10.0]))?;
/// assert_eq!(tuned.path.len(), 2);
/// assert!(tuned.path[0].value > tuned.path[1].value);
/// assert_eq!(tuned.fit.risk().unwrap().lambda, tuned.path[tuned.best].value);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn tune(
    data: &Dataset,
    learner: &Learner,
    folds: usize,
    values: Option<Vec<f64>>,
    observer: &mut dyn Observer,
) -> Result<Tuned> {
    data.validate()?;
    check_task(data, learner)?;
    check_memory_of_folds(data, learner, folds)?;
    match learner.shared().map {
        Some(map) => tune_mapped(map, data, learner, folds, values, observer),
        None => tune_as_given(data, learner, folds, values, observer),
    }
}

/// Tunes on rows that no map is to be applied to, or has been.
pub(super) fn tune_as_given(
    data: &Dataset,
    learner: &Learner,
    folds: usize,
    values: Option<Vec<f64>>,
    observer: &mut dyn Observer,
) -> Result<Tuned> {
    let parameter = parameter(learner)?;
    let symbol = if parameter == Parameter::Lambda { "λ" } else { "smoothing" };
    let mut values = values.unwrap_or_else(|| default_path(data, learner));
    if let Some(wrong) = values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        return Err(Error::usage(format!("every {symbol} of a path must be a positive number, not {wrong}")));
    }
    if values.is_empty() {
        return Err(Error::usage(format!("a path needs one {symbol} at least")));
    }
    values.sort_by(|a, b| b.total_cmp(a));
    let seed = learner.shared().seed;
    let dealt = if learner.predicts_numbers() {
        Folds::deal(Strata::Targets(&data.targets()?), folds, seed)?
    } else {
        Folds::deal(Strata::Classes(&data.labels), folds, seed)?
    };
    let watch = Watch::new(observer);
    let one = |fold: usize| {
        let (training, held_out) = (data.select(&dealt.training(fold)), data.select(&dealt.held_out(fold)));
        match learner {
            Learner::Risk(risk) => match risk.criterion.loss() {
                Some(loss) => {
                    held_out_errors(loss, &Path { training, held_out, lambdas: &values }, risk, &watch)
                }
                None => Err(custom_loss()),
            },
            Learner::Bayes(own) => bayes::held_out_errors(&training, &held_out, &values, own),
            Learner::Perceptron(_) | Learner::PassiveAggressive(_) | Learner::Network(_) => Ok(Vec::new()),
        }
    };
    let errors: Vec<Result<Vec<f64>>> = (0..folds).into_par_iter().map(one).collect();
    let errors: Vec<Vec<f64>> = errors.into_iter().collect::<Result<_>>()?;
    if watch.stopped() {
        return Err(Error::interrupted());
    }
    let path: Vec<Tried> =
        values.iter().enumerate().map(|(at, &value)| summary(value, errors.iter().map(|e| e[at]))).collect();
    let best = (0..path.len()).min_by(|&a, &b| path[a].error.total_cmp(&path[b].error)).unwrap_or(0);
    let chosen = with_value(learner, path[best].value);
    let fit = train_as_given(data, None, &chosen, observer)?;
    Ok(Tuned { parameter, path, best, fit, folds })
}

/// What cross-validation chooses for this learner.
fn parameter(learner: &Learner) -> Result<Parameter> {
    match learner {
        Learner::Bayes(_) => Ok(Parameter::Smoothing),
        Learner::Risk(Risk { strength: Some(_), .. }) => Err(Error::usage("λ is what tune chooses")
            .hint("leave out `lambda` and `cost`, or give a path by `lambdas`")),
        Learner::Risk(_) => Ok(Parameter::Lambda),
        Learner::Network(_) => {
            let error = Error::usage("tune does not choose the λ of a network");
            Err(error
                .hint("try some with `validation`: `learner = network` `lambda = 1e-4` `validation = 0.2`"))
        }
        Learner::Perceptron(_) | Learner::PassiveAggressive(_) => {
            let error = Error::usage(format!("{} has no λ to choose", learner.name()));
            Err(error.hint(
                "tune svm, squared-svm, logistic, least-squares, bayes or another learner with a penalty",
            ))
        }
    }
}

/// The learner with what was chosen.
fn with_value(learner: &Learner, value: f64) -> Learner {
    match learner.clone() {
        Learner::Risk(risk) => Learner::Risk(Risk { strength: Some(Strength::Lambda(value)), ..risk }),
        Learner::Bayes(bayes) => Learner::Bayes(NaiveBayes { smoothing: value, ..bayes }),
        other => other,
    }
}

pub(super) fn summary(value: f64, errors: impl Iterator<Item = f64> + Clone) -> Tried {
    let count = errors.clone().count() as f64;
    let error = errors.clone().sum::<f64>() / count;
    let variance = errors.map(|e| (e - error).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Tried { value, error, spread: (variance / count).sqrt() }
}

/// Costs from a thousandth to a thousand, two a decade; for numbers as much of the rows' mean square.
/// Smoothing from 10 to a ten-thousandth: bags of words like little of it.
fn default_path(data: &Dataset, learner: &Learner) -> Vec<f64> {
    let steps = (0..13).map(|step| 10f64.powf(3.0 - 0.5 * f64::from(step)));
    if matches!(learner, Learner::Bayes(_)) {
        return (0..11).map(|step| 10f64.powf(1.0 - 0.5 * f64::from(step))).collect();
    }
    if learner.predicts_numbers() {
        let squares = (0..data.len()).map(|i| data.rows.row(i).norm_sq()).sum::<f64>();
        let mean = (squares / data.len() as f64 / data.rows.columns().max(1) as f64).max(f64::MIN_POSITIVE);
        return steps.map(|step| 1e-3 * step * mean).collect();
    }
    steps.map(|step| step / data.len() as f64).collect()
}
