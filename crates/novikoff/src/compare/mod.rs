//! 9 — The comparison of Freund and Schapire ("Large margin classification using the perceptron algorithm",
//! 1999): one run of the perceptron for each kernel, and the test errors of its last weight vector, of one at
//! random, of their average and of their votes, after any number of epochs; and other learners beside them.

mod journal;
mod state;
mod sweep;

pub use journal::Journal;
pub use state::State;
pub use sweep::Errors;

use crate::control::{Flow, Observer, Progress, Watch};
use crate::data::{Dataset, Scale};
use crate::error::{Error, Result};
use crate::evaluate;
use crate::kernel::{Kernel, Precision, norms_sq};
use crate::multiclass::Scheme;
use crate::online::rule;
use crate::online::{Batch, Keep, Plan, Stopped};
use crate::train::{self, Classes, Learner, LearnerName, Perceptron};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What is to be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Kernels, each with the most epochs it is trained for.
    pub kernels: Vec<(Kernel, f64)>,
    /// After how many epochs to look; parts of one are fine.
    pub epochs: Vec<f64>,
    /// Learners besides the perceptron.
    pub others: Vec<LearnerName>,
    /// The perceptron: bias, rows' lengths, ties, classes, seed.
    pub perceptron: Perceptron,
}

/// What is made of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A weight vector of a round chosen at random.
    Random,
    /// The last.
    Perceptron,
    /// The average of all.
    Averaged,
    /// The votes of all.
    Voted,
}

impl Form {
    /// All, from the simplest on.
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
    /// The learner's name, or that of a form of the perceptron.
    pub learner: String,
    /// Whether scores were divided by the lengths of weight vectors.
    pub normalised: bool,
    /// The kernel of a perceptron.
    pub kernel: Option<String>,
    /// Epochs of a perceptron.
    pub epochs: Option<f64>,
    /// Mistakes while learning.
    pub mistakes: Option<u64>,
    /// Rows that mistakes were made on.
    pub support: Option<u64>,
    /// Error on the rows learned from, where that does not take too long.
    pub train_error: Option<f64>,
    /// Error on the test rows.
    pub test_error: f64,
    /// Seconds of learning.
    pub seconds: f64,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// All lines.
    pub entries: Vec<Entry>,
    /// What does not apply to these rows, and why.
    pub left_out: Vec<(String, String)>,
    /// Whether somebody said stop before all was done.
    pub interrupted: bool,
}

/// Errors on training rows are computed if that takes no more mistakes × rows than this.
const TRAIN_ERROR_COST: f64 = 2e9;

/// Trains and tests everything. `test` must have been read with the labels of `data`. What is done already is
/// in `state`; `save` is called whenever there is more.
pub fn compare(
    data: &Dataset,
    test: &Dataset,
    comparison: &Comparison,
    state: &mut State,
    observer: &mut dyn Observer,
    save: &mut dyn FnMut(&State) -> Result<()>,
) -> Result<Compared> {
    let field = Field::new(data, test, comparison)?;
    state.fit(&field.fingerprint(), &field)?;
    let mut compared = Compared::default();
    for &(kernel, most) in &comparison.kernels {
        let name = kernel.to_string();
        if compared.interrupted || state.is_done(&name) {
            continue;
        }
        train::check_kernel(data, kernel)?;
        let mut journal = state.take_run(&name);
        let flow = journal::learn(&field.plan, kernel, field.batch(), most, &mut journal, observer);
        let entries = if flow == Flow::Stop { None } else { field.entries(kernel, most, &journal, observer) };
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
        match field.other(learner, observer) {
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

/// The rows and what is known of them.
struct Field<'a> {
    data: &'a Dataset,
    test: &'a Dataset,
    comparison: &'a Comparison,
    plan: Plan<rule::Perceptron>,
    classes: Vec<u32>,
    test_classes: Vec<u32>,
    weights: Vec<f64>,
    /// The squared length of the longest row.
    longest: f64,
}

impl<'a> Field<'a> {
    fn new(data: &'a Dataset, test: &'a Dataset, comparison: &'a Comparison) -> Result<Self> {
        if data.is_empty() || test.is_empty() {
            return Err(Error::input("a comparison needs rows to learn from and rows to test on"));
        }
        let perceptron = &comparison.perceptron;
        let shared = &perceptron.shared;
        train::refuse_targets(data)?;
        let classes = Classes::new(&data.names, shared)?;
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
            keep: Keep::Mistakes,
            order: perceptron.epochs.order,
            seed: shared.seed,
            epochs: 0,
            patience: 0,
            own_feature: None,
        };
        let longest = norms_sq(&data.rows).into_iter().fold(0.0, f64::max);
        let test_classes = classes.rank_all(&test.labels);
        Ok(Self { data, test, comparison, plan, classes: ranked, test_classes, weights, longest })
    }

    fn batch(&self) -> Batch<'_> {
        Batch { rows: &self.data.rows, classes: &self.classes, weights: &self.weights }
    }

    /// What a state must be of to be gone on with.
    fn fingerprint(&self) -> String {
        let Perceptron { rule, bias, shared, .. } = &self.comparison.perceptron;
        let Plan { scheme, order, seed, .. } = &self.plan;
        let how = format!(
            "{scheme:?} {order:?} {seed} {:?} {:?} {:?} {} {:?} {:?}",
            bias, rule.length, rule.tie, rule.step, shared.class_weight, shared.positive
        );
        let looks = format!("{:?} {:?}", self.comparison.epochs, self.comparison.kernels);
        format!("{} {} {how} {looks}", self.data.fingerprint(), self.test.fingerprint())
    }

    /// The lines of one kernel's run; `None` if somebody said stop.
    fn entries(
        &self,
        kernel: Kernel,
        most: f64,
        journal: &Journal,
        observer: &mut dyn Observer,
    ) -> Option<Vec<Entry>> {
        let total = journal::total(self.batch());
        let looks: Vec<f64> =
            self.comparison.epochs.iter().copied().filter(|epochs| *epochs <= most).collect();
        let rounds: Vec<f64> = looks.iter().map(|epochs| epochs * total).collect();
        let run = sweep::Run {
            scheme: self.plan.scheme,
            classes: self.plan.classes,
            kernel,
            precision: Precision::suited(kernel, &self.data.rows, self.longest),
            bias_sq: self.plan.bias.coordinate().powi(2),
            rows: &self.data.rows,
            journal,
        };
        let watch = Watch::new(observer);
        let test = scored(&run, self.test, &self.test_classes, &rounds, &watch)?;
        let affordable = journal.mistakes.len() as f64 * self.data.len() as f64 <= TRAIN_ERROR_COST;
        let train = match affordable {
            true => Some(scored(&run, self.data, &self.classes, &rounds, &watch)?),
            false => None,
        };
        let mut entries = Vec::new();
        for (look, &epochs) in looks.iter().enumerate() {
            for form in Form::ALL {
                for normalised in [false, true] {
                    let Some(test_error) = error_of(&test[look], form, normalised, self.plan.scheme) else {
                        continue;
                    };
                    entries.push(Entry {
                        learner: form.name().to_owned(),
                        normalised,
                        kernel: Some(kernel.to_string()),
                        epochs: Some(epochs),
                        mistakes: Some(journal.mistakes_before(rounds[look]).len() as u64),
                        support: Some(journal.support_before(rounds[look]) as u64),
                        train_error: train
                            .as_ref()
                            .and_then(|t| error_of(&t[look], form, normalised, self.plan.scheme)),
                        test_error,
                        seconds: journal.seconds(rounds[look]),
                    });
                }
            }
        }
        Some(entries)
    }

    /// The line of another learner, with the settings it has by itself and columns brought to one size;
    /// `None` if somebody said stop.
    fn other(&self, name: LearnerName, observer: &mut dyn Observer) -> Result<Option<Entry>> {
        let started = Instant::now();
        let fit = train::train(self.data, None, &self.learner(name), observer)?;
        if fit.stopped == Stopped::Interrupted {
            return Ok(None);
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(Some(Entry {
            learner: name.name().to_owned(),
            normalised: false,
            kernel: None,
            epochs: None,
            mistakes: None,
            support: None,
            train_error: fit.train_error,
            test_error: evaluate::error(&fit.model.scorer, self.test, &self.test_classes),
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
                (own.bias, own.scale) = (*bias, Scale::MaxAbs);
                own.shared.multiclass = None;
            }
            Learner::Bayes(_) => {}
        }
        learner
    }
}

/// The errors on some rows, telling of progress; `None` if somebody said stop.
fn scored(
    run: &sweep::Run<'_>,
    on: &Dataset,
    classes: &[u32],
    rounds: &[f64],
    watch: &Watch<'_>,
) -> Option<Vec<Errors>> {
    let (done, of) = (AtomicU64::new(0), on.len() as u64);
    run.errors(on, classes, rounds, |rows| {
        let rows = done.fetch_add(rows, Ordering::Relaxed) + rows;
        watch.tell(Progress::Testing { rows, of }) == Flow::Continue
    })
}

/// The error of a form, where there is such a form: votes do not depend on lengths, and joint classes have
/// one length.
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
