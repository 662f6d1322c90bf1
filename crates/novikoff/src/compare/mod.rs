//! The comparison of Freund and Schapire ("Large margin classification using the perceptron algorithm",
//! 1999): one run of the perceptron for each kernel, and the test errors of its last weight vector, of a
//! random one, of their average and of their votes, after any number of epochs; and other learners beside
//! them.
//!
//! `journal` records a run, `sweep` computes the errors of all variants in one pass over the journal, and
//! [`ComparisonState`] stores an interrupted comparison.

mod journal;
mod state;
mod sweep;

pub use state::ComparisonState;

use crate::control::{Flow, Observer, Progress, Termination, Watch};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::evaluate;
use crate::kernel::{Kernel, Precision, norms_sq};
use crate::model::Task;
use crate::multiclass::Scheme;
use crate::online::rule;
use crate::online::{Hypothesis, Plan, TrainingRows};
use crate::train::{self, Classes, Learner, LearnerName, Perceptron};
use journal::Journal;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use sweep::Errors;

/// The settings of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Kernels, each with its maximum number of epochs.
    pub kernels: Vec<(Kernel, f64)>,
    /// Numbers of epochs after which errors are computed; fractions are allowed.
    pub epochs: Vec<f64>,
    /// Learners besides the perceptron.
    pub others: Vec<LearnerName>,
    /// The perceptron: bias, rows' lengths, ties, classes, seed.
    pub perceptron: Perceptron,
}

/// A variant of the perceptron: the prediction method of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The weight vector of a random round.
    Random,
    /// The last weight vector.
    Perceptron,
    /// The average of all weight vectors.
    Averaged,
    /// The votes of all weight vectors.
    Voted,
}

impl Form {
    /// All variants.
    pub const ALL: [Form; 4] = [Form::Random, Form::Perceptron, Form::Averaged, Form::Voted];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Form::Random => "random",
            Form::Perceptron => "perceptron",
            Form::Averaged => "averaged",
            Form::Voted => "voted",
        }
    }
}

/// One line of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The learner's name, or that of a variant of the perceptron.
    pub learner: String,
    /// Whether scores were divided by the norms of the weight vectors.
    pub normalised: bool,
    /// The kernel of a perceptron.
    pub kernel: Option<String>,
    /// Epochs of a perceptron.
    pub epochs: Option<f64>,
    /// Mistakes while learning.
    pub mistakes: Option<u64>,
    /// Distinct rows with mistakes.
    pub support: Option<u64>,
    /// Error on the training rows, unless it would take too long.
    pub train_error: Option<f64>,
    /// Error on the test rows.
    pub test_error: f64,
    /// Seconds of learning.
    pub seconds: f64,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// All lines.
    pub entries: Vec<Entry>,
    /// Learners that do not apply to these rows, and why.
    pub left_out: Vec<(String, String)>,
    /// Whether the observer stopped the comparison early.
    pub interrupted: bool,
}

/// Errors on training rows are computed up to so many mistakes × rows.
const TRAIN_ERROR_COST: f64 = 2e9;

/// Trains and tests everything that `state` does not have yet, and calls `save` after each kernel or learner.
/// `test` must have been read with the labels of `data`.
pub fn compare(
    data: &Dataset,
    test: &Dataset,
    comparison: &Comparison,
    state: &mut ComparisonState,
    observer: &mut dyn Observer,
    save: &mut dyn FnMut(&ComparisonState) -> Result<()>,
) -> Result<Compared> {
    data.validate()?;
    test.validate()?;
    let problem = Problem::new(data, test, comparison)?;
    state.check(&problem.fingerprint(), &problem)?;
    let mut compared = Compared::default();
    for &(kernel, most) in &comparison.kernels {
        let name = kernel.to_string();
        if compared.interrupted || state.is_done(&name) {
            continue;
        }
        train::check_kernel(data, kernel)?;
        let mut journal = state.take_run(&name);
        let flow =
            journal::learn(&problem.plan, kernel, problem.training_rows(), most, &mut journal, observer);
        let entries =
            if flow == Flow::Stop { None } else { problem.entries(kernel, most, &journal, observer) };
        compared.interrupted = entries.is_none();
        match entries {
            Some(entries) => state.finish(name, entries),
            None => state.keep_run(name, journal),
        }
        save(state)?;
    }
    for &learner in &comparison.others {
        if compared.interrupted || state.is_done(learner.name()) {
            continue;
        }
        match problem.other(learner, observer) {
            Ok(Some(entry)) => {
                state.finish(learner.name().to_owned(), vec![entry]);
                save(state)?;
            }
            Ok(None) => compared.interrupted = true,
            Err(error) => compared.left_out.push((learner.name().to_owned(), error.to_string())),
        }
    }
    compared.entries = state.entries();
    Ok(compared)
}

/// The rows, with classes and weights prepared for training.
struct Problem<'a> {
    data: &'a Dataset<'a>,
    test: &'a Dataset<'a>,
    comparison: &'a Comparison,
    plan: Plan<rule::Perceptron>,
    classes: Vec<u32>,
    test_classes: Vec<u32>,
    weights: Vec<f64>,
    /// The largest squared norm of a training row.
    largest_norm_sq: f64,
}

impl<'a> Problem<'a> {
    fn new(data: &'a Dataset<'a>, test: &'a Dataset<'a>, comparison: &'a Comparison) -> Result<Self> {
        if data.is_empty() || test.is_empty() {
            return Err(Error::input("a comparison needs rows to learn from and rows to test on"));
        }
        let perceptron = &comparison.perceptron;
        let shared = &perceptron.shared;
        train::refuse_targets(data, Some(test), shared).map_err(with_what_predicts_numbers)?;
        train::check_memory(data, &perceptron.clone().into())?;
        let classes = Classes::new(&data.names, &data.schema, shared)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = train::effective_weights(data, &ranked, &classes.labels, shared)?;
        let count = classes.labels.len();
        // As in the paper: each class is learned against all others.
        let scheme = match shared.multiclass {
            Some(scheme) if scheme != Scheme::Two => scheme,
            _ if count == 2 => Scheme::Two,
            _ => Scheme::OneVsRest,
        };
        train::check_size(data.rows.columns(), scheme.outputs(count))?;
        let plan = Plan {
            rule: train::perceptron_rule(perceptron)?,
            scheme,
            classes: count,
            bias: perceptron.bias,
            hypothesis: Hypothesis::Votes,
            order: perceptron.epochs.order,
            seed: shared.seed,
            epochs: 0,
            patience: 0,
            own_feature: None,
        };
        let largest_norm_sq = norms_sq(&data.rows).into_iter().fold(0.0, f64::max);
        let test_classes = classes.of_others(test)?;
        Ok(Self { data, test, comparison, plan, classes: ranked, test_classes, weights, largest_norm_sq })
    }

    fn training_rows(&self) -> TrainingRows<'_> {
        TrainingRows { rows: &self.data.rows, classes: &self.classes, weights: &self.weights }
    }

    /// Identifies rows and settings: a state can resume only the comparison that it was saved by.
    fn fingerprint(&self) -> String {
        let Perceptron { rule, bias, shared, .. } = &self.comparison.perceptron;
        let Plan { scheme, order, seed, .. } = &self.plan;
        let how = format!(
            "{scheme:?} {order:?} {seed} {:?} {:?} {:?} {} {:?} {:?}",
            bias, rule.length, rule.tie, rule.step, shared.class_weight, shared.positive
        );
        let when = format!("{:?} {:?}", self.comparison.epochs, self.comparison.kernels);
        format!("{} {} {how} {when}", self.data.fingerprint(), self.test.fingerprint())
    }

    /// The lines of one kernel's run; `None` if the observer asked to stop.
    fn entries(
        &self,
        kernel: Kernel,
        most: f64,
        journal: &Journal,
        observer: &mut dyn Observer,
    ) -> Option<Vec<Entry>> {
        let per_epoch = journal::rounds_per_epoch(self.training_rows());
        let epochs: Vec<f64> =
            self.comparison.epochs.iter().copied().filter(|epochs| *epochs <= most).collect();
        let rounds: Vec<f64> = epochs.iter().map(|epochs| epochs * per_epoch).collect();
        let run = sweep::RecordedRun {
            scheme: self.plan.scheme,
            classes: self.plan.classes,
            kernel,
            precision: Precision::suited(kernel, &self.data.rows, self.largest_norm_sq),
            bias_sq: self.plan.bias.coordinate().powi(2),
            rows: &self.data.rows,
            journal,
        };
        let watch = Watch::new(observer);
        let test = errors_on(self.test, &run, &self.test_classes, &rounds, &watch)?;
        let is_affordable = journal.mistakes.len() as f64 * self.data.len() as f64 <= TRAIN_ERROR_COST;
        let train = match is_affordable {
            true => Some(errors_on(self.data, &run, &self.classes, &rounds, &watch)?),
            false => None,
        };
        let mut entries = Vec::new();
        for (at, &epochs) in epochs.iter().enumerate() {
            let train = train.as_ref().map(|train| &train[at]);
            entries.extend(self.entries_after(epochs, rounds[at], &run, &test[at], train));
        }
        Some(entries)
    }

    /// The lines of all variants of a run after so many epochs, which are so many rounds.
    fn entries_after(
        &self,
        epochs: f64,
        rounds: f64,
        run: &sweep::RecordedRun<'_>,
        test: &Errors,
        train: Option<&Errors>,
    ) -> Vec<Entry> {
        let (journal, scheme) = (run.journal, self.plan.scheme);
        let (mistakes, support) = (journal.mistakes_before(rounds).len(), journal.support_before(rounds));
        let mut entries = Vec::new();
        for (form, normalised) in Form::ALL.into_iter().flat_map(|form| [(form, false), (form, true)]) {
            let Some(test_error) = error_of(test, form, normalised, scheme) else { continue };
            entries.push(Entry {
                learner: form.name().to_owned(),
                normalised,
                kernel: Some(run.kernel.to_string()),
                epochs: Some(epochs),
                mistakes: Some(mistakes as u64),
                support: Some(support as u64),
                train_error: train.and_then(|train| error_of(train, form, normalised, scheme)),
                test_error,
                seconds: journal.seconds(rounds),
            });
        }
        entries
    }

    /// The line of another learner, with its default settings and scaled columns; `None` if the observer
    /// asked to stop.
    fn other(&self, name: LearnerName, observer: &mut dyn Observer) -> Result<Option<Entry>> {
        let started = Instant::now();
        let fit = train::train(self.data, None, &self.learner(name), observer)?;
        if fit.termination == Termination::Interrupted {
            return Ok(None);
        }
        let seconds = started.elapsed().as_secs_f64();
        let (scorer, watch) = (&fit.model.scorer, Watch::new(observer));
        let test_error = evaluate::error_watched(scorer, self.test, &self.test_classes, &watch);
        let Some(test_error) = test_error else { return Ok(None) };
        Ok(Some(Entry {
            learner: name.name().to_owned(),
            normalised: false,
            kernel: None,
            epochs: None,
            mistakes: None,
            support: None,
            train_error: fit.train_error,
            test_error,
            seconds,
        }))
    }

    /// A learner by name, with what it shares with the perceptron.
    fn learner(&self, name: LearnerName) -> Learner {
        let Perceptron { bias, epochs, shared, .. } = &self.comparison.perceptron;
        let mut learner = name.learner();
        *learner.shared_mut() = shared.clone();
        match &mut learner {
            Learner::Perceptron(own) => (own.bias, own.epochs) = (*bias, *epochs),
            Learner::PassiveAggressive(own) => (own.bias, own.epochs) = (*bias, *epochs),
            Learner::Network(own) => (own.bias, own.epochs) = (*bias, *epochs),
            Learner::Risk(own) => {
                own.bias = *bias;
                own.shared.multiclass = None;
            }
            Learner::Bayes(_) => {}
        }
        // All rows have shown that there are classes; those to learn from alone might not.
        if !learner.predicts_numbers() {
            learner.shared_mut().task = Some(Task::Classes);
        }
        learner
    }
}

/// The errors of a run on some rows after each of some rounds; `None` if the observer asked to stop.
fn errors_on(
    on: &Dataset,
    run: &sweep::RecordedRun<'_>,
    classes: &[u32],
    rounds: &[f64],
    watch: &Watch<'_>,
) -> Option<Vec<Errors>> {
    let (done, of) = (AtomicU64::new(0), on.len() as u64);
    let told = |rows| {
        let rows = done.fetch_add(rows, Ordering::Relaxed) + rows;
        watch.tell(Progress::Testing { rows, of }) == Flow::Continue
    };
    run.errors(on, classes, rounds, told, || watch.goes_on())
}

/// The error of a variant, where it exists: votes do not depend on norms, and joint classes have one norm.
fn error_of(errors: &Errors, form: Form, normalised: bool, scheme: Scheme) -> Option<f64> {
    Some(match (form, normalised) {
        (_, true) if scheme == Scheme::Joint => return None,
        (Form::Random | Form::Perceptron, true) if scheme == Scheme::Two => return None,
        (Form::Voted, true) => return None,
        (Form::Random, false) => errors.random,
        (Form::Random, true) => errors.random_normalised,
        (Form::Perceptron, false) => errors.last,
        (Form::Perceptron, true) => errors.last_normalised,
        (Form::Averaged, false) => errors.averaged,
        (Form::Averaged, true) => errors.averaged_normalised,
        (Form::Voted, false) => errors.voted,
    })
}
/// Nothing that is compared predicts numbers.
fn with_what_predicts_numbers(error: Error) -> Error {
    match error.advice().is_some_and(|hint| hint.starts_with("predicting numbers needs")) {
        true => error.hint(
            "what is compared tells classes apart, and `novikoff train` predicts numbers; \
             `task = classification` takes these for classes",
        ),
        false => error,
    }
}
