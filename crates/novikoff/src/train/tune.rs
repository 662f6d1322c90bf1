//! Choosing λ by cross-validation: a path of penalties from strong to weak, each fit starting from the last,
//! folds in parallel. For bayes it is the smoothing that is chosen, by one count of each fold's rows.
//!
//! Every fold has its own recipe ([`Refit`]): what is measured on its held-out rows did not know them.

mod folds;
mod path;

use super::learner::{Learner, NaiveBayes, Risk, Strength};
use super::memory::check_memory_of_folds;
use super::{Fit, check_task, train};
use crate::control::{Observer, Termination, Watch};
use crate::data::Refit;
use crate::error::{Error, Result};
use crate::evaluate::Metric;
use crate::loss::LossName;
use crate::model::Task;
use folds::{Ends, run};
pub(super) use folds::{Place, deal};
use path::Path;

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// λ, the strength of the penalty.
    Lambda,
    /// What bayes adds to every count.
    Smoothing,
}

impl Parameter {
    /// What it is called.
    pub fn symbol(self) -> &'static str {
        match self {
            Parameter::Lambda => "λ",
            Parameter::Smoothing => "smoothing",
        }
    }
}

/// What to try, and how to measure it.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Folds of cross-validation, each held out once.
    pub folds: usize,
    /// The values to try. `None`: a path that suits the data, which grows while the best value is at its end.
    pub values: Option<Vec<f64>>,
    /// What values are compared by. `None`: the error of classes; of numbers the mean squared error, or the
    /// mean absolute error if that is what the learner minimises.
    pub by: Option<Metric>,
}

impl Default for Search {
    fn default() -> Self {
        Self { folds: 5, values: None, by: None }
    }
}

/// What one penalty, or one smoothing, came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was tried.
    pub value: f64,
    /// The figure on the held-out rows of each fold; `None` where it is undefined, or where the fold was not
    /// finished.
    pub folds: Vec<Option<f64>>,
    /// The mean of these figures; `None` if there are none.
    pub mean: Option<f64>,
    /// The standard error of that mean: `s/√k`, where s is the standard deviation of the k figures; `None` if
    /// there are fewer than two.
    pub spread: Option<f64>,
}

/// An end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The largest value of the path.
    Strongest,
    /// The smallest value of the path, if it is not 0: nothing is weaker than no penalty.
    Weakest,
}

/// A path, the best of it, and the model that was learned from all rows with it.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was chosen.
    pub parameter: Parameter,
    /// What values were compared by.
    pub by: Metric,
    /// From the strongest to the weakest.
    pub path: Vec<Tried>,
    /// The number of the best: of several, the strongest. `None` if no value was finished.
    pub best: Option<usize>,
    /// The end of the path that the best value is at: one beyond it might be better still.
    pub edge: Option<End>,
    /// Learned from all rows with the best. `None` if the observer stopped the search, whose path is as far
    /// as it came.
    pub fit: Option<Fit>,
    /// How many folds there were.
    pub folds: usize,
    /// Folds that are left out of every mean, as the figure is undefined in them: the area under the curve
    /// where all held-out rows are of one class, for example.
    pub undefined: usize,
}

impl Tuned {
    /// The value that was chosen, with what it came to.
    pub fn chosen(&self) -> Option<&Tried> {
        self.best.map(|best| &self.path[best])
    }
}

/// Tries a path of λ, or of bayes's smoothing, by cross-validation, and learns from all rows with the best.
/// If the observer asks to stop, the result holds what was found until then, without a model.
///
/// ```
/// use novikoff::train::{LearnerName, Search, tune};
/// use novikoff::{control::Unwatched, data::generate::Recipe, evaluate::Metric};
/// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
/// let search = Search { values: Some(vec![1e-3, 10.0]), by: Some(Metric::Auc), ..Search::default() };
/// let tuned = tune(&data, &LearnerName::Svm.learner(), &search, &mut Unwatched)?;
/// assert_eq!(tuned.path.len(), 2);
/// assert!(tuned.path[0].value > tuned.path[1].value);
/// assert_eq!(tuned.fit.as_ref().unwrap().risk().unwrap().lambda, tuned.chosen().unwrap().value);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn tune(
    rows: &impl Refit,
    learner: &Learner,
    search: &Search,
    observer: &mut dyn Observer,
) -> Result<Tuned> {
    let data = rows.data();
    data.validate()?;
    let parameter = parameter(learner)?;
    check_task(data, None, learner)?;
    let by = criterion(learner, search, data.names.len())?;
    check_memory_of_folds(data, learner, search.folds)?;
    let mut path = Path::new(data, learner, parameter, search)?;
    let dealt = deal(data, learner, search.folds)?;
    let mut ends = vec![Ends::default(); search.folds];
    let stopped = {
        let watch = Watch::new(&mut *observer);
        let symbol = parameter.symbol();
        let folds = folds::Search { rows, dealt: &dealt, learner, by, symbol, watch: &watch };
        while let Some((values, from)) = path.next(by) {
            let figures = run(&folds, &values, from, path.done(), &mut ends)?;
            path.add(&values, figures);
            if watch.stopped() {
                break;
            }
        }
        watch.stopped()
    };
    let (table, undefined) = path.table(search.folds);
    let best = path::best(&table, by);
    if best.is_none() && !stopped {
        return Err(undefined_everywhere(by));
    }
    let fit = match best {
        Some(best) if !stopped => Some(train(data, None, &with_value(learner, table[best].value), observer)?),
        _ => None,
    };
    // A model that is not the minimum is not what was asked for.
    let fit = fit.filter(|fit| fit.termination != Termination::Interrupted);
    let edge = best.and_then(|best| path::edge(&table, best));
    Ok(Tuned { parameter, by, path: table, best, edge, fit, folds: search.folds, undefined })
}

fn undefined_everywhere(by: Metric) -> Error {
    let what = format!("`by = {}` is undefined in every fold", by.name());
    let hint = match by {
        Metric::R2 => {
            "the held-out rows of each fold all have the same target: use fewer folds, or `by = mse`"
        }
        _ => "the held-out rows of each fold are all of one class: use fewer folds, or `by = error`",
    };
    Error::input(what).hint(hint)
}

/// What values are compared by.
fn criterion(learner: &Learner, search: &Search, classes: usize) -> Result<Metric> {
    let task = if learner.predicts_numbers() { Task::Regression } else { Task::Classes };
    let loss = if let Learner::Risk(risk) = learner { risk.criterion.loss() } else { None };
    let usual = Metric::usual(loss);
    let by = search.by.unwrap_or(usual);
    by.check(task, classes)?;
    if matches!(by, Metric::Pinball | Metric::Huber) && by != usual {
        let (name, needed) = (by.name(), if by == Metric::Pinball { "quantile" } else { "huber" });
        let what = format!("`by = {name}` needs a loss with its parameter, and this is {}", learner.name());
        return Err(Error::usage(what).hint(format!("use `learner = {needed}`, or another `by`")));
    }
    if by == Metric::LogLoss && !has_probabilities(learner) {
        let what =
            format!("`by = log-loss` needs probabilities, and the scores of {} are none", learner.name());
        return Err(Error::usage(what)
            .hint("use `learner = logistic` or bayes, or another `by`; `calibrate` comes after the choice"));
    }
    Ok(by)
}

fn has_probabilities(learner: &Learner) -> bool {
    match learner {
        Learner::Risk(risk) => risk.criterion.loss() == Some(LossName::Logistic),
        learner => matches!(learner, Learner::Bayes(_)),
    }
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

impl Tried {
    /// A value with its figures.
    pub(super) fn new(value: f64, folds: Vec<Option<f64>>) -> Self {
        let (mean, spread) = mean_and_spread(folds.iter().flatten().copied());
        Self { value, folds, mean, spread }
    }
}

/// The mean of some figures, and its standard error.
pub(super) fn mean_and_spread(figures: impl Iterator<Item = f64> + Clone) -> (Option<f64>, Option<f64>) {
    let count = figures.clone().count() as f64;
    if count == 0.0 {
        return (None, None);
    }
    let mean = figures.clone().sum::<f64>() / count;
    let variance = figures.map(|figure| (figure - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (Some(mean), (count > 1.0).then(|| (variance / count).sqrt()))
}
