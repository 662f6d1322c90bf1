//! Epochs over rows in memory: until an epoch makes no mistake, the validation error stops falling, or the
//! epochs run out.

use super::linear::{Hypothesis, LinearState, RowOutcome};
use super::order::{Order, Sequence};
use super::visit::{prefetch, prefetch_rows};
use crate::control::{Epoch, Flow, Observer, Progress, Termination, Watch};
use crate::data::{Matrix, Row};
use crate::model::{Mistake, Scorer, Weights};
use crate::multiclass::Scheme;
use crate::penalty::Bias;
use crate::random::Random;

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

/// How to train: everything but the rows.
#[derive(Clone, Debug)]
pub struct Plan<R> {
    /// The update rule.
    pub rule: R,
    /// The multiclass scheme.
    pub scheme: Scheme,
    /// The number of classes.
    pub classes: usize,
    /// Whether there is a bias.
    pub bias: Bias,
    /// Which hypothesis is returned: the last weights, their average, or their votes.
    pub hypothesis: Hypothesis,
    /// The order of rows in an epoch.
    pub order: Order,
    /// The seed of that order.
    pub seed: u64,
    /// The maximum number of epochs.
    pub epochs: usize,
    /// Training stops after so many epochs without a new best validation error.
    pub patience: usize,
    /// Δ of Freund and Schapire's trick for inseparable rows (1999, theorem 2): the value of a feature that
    /// every row has for itself alone.
    pub own_feature: Option<f64>,
}

/// The rows to train on, with classes numbered as the model numbers them.
#[derive(Clone, Copy)]
pub struct TrainingRows<'a> {
    /// The rows.
    pub rows: &'a Matrix<'a>,
    /// The class of each.
    pub classes: &'a [u32],
    /// The weight of each; empty if all are 1.
    pub weights: &'a [f64],
}

impl<'a> TrainingRows<'a> {
    /// Row `i`, its class and its weight.
    #[inline(always)]
    pub fn row(&self, i: u32) -> (Row<'a>, u32, f64) {
        let (class, weight) = self.label(i);
        (self.rows.row(i as usize), class, weight)
    }

    /// The class of row `i`, and its weight.
    #[inline(always)]
    pub(super) fn label(&self, i: u32) -> (u32, f64) {
        (self.classes[i as usize], self.weights.get(i as usize).copied().unwrap_or(1.0))
    }

    /// Loads spans of rows into the cache.
    pub(super) fn prefetch(&self, spans: impl Iterator<Item = Range<usize>>) {
        for rows in spans {
            black_box(
                prefetch(&self.classes[rows.clone()], |&class| class.into()) ^ prefetch_rows(self.rows, rows),
            );
        }
    }
}

/// The result of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What scores rows.
    pub scorer: Scorer,
    /// The last weights, where the scorer has others and either the last epoch made no mistake or the scorer
    /// votes.
    pub last: Option<Weights>,
    /// Why training stopped.
    pub termination: Termination,
    /// A summary of each epoch.
    pub trace: Vec<Epoch>,
    /// The epoch whose model this is.
    pub epoch: usize,
    /// Mistakes in all epochs.
    pub mistakes: u64,
    /// Updates in all epochs.
    pub updates: u64,
    /// What resuming takes.
    pub(crate) resumption: Resumption,
}

/// What resuming a run of epochs takes, beside its trace and what the scorer has.
#[derive(Clone, Debug)]
pub(crate) struct Resumption {
    /// What is done of the last epoch, if it was broken off.
    pub(crate) partial: Option<Tally>,
    /// The smallest validation error of the epochs that are done, and its epoch.
    pub(crate) best: Option<(f64, usize)>,
    pub(crate) learner: LearnerState,
}

/// What a learner with epochs resumes from.
#[derive(Clone, Debug)]
pub(crate) enum LearnerState {
    /// Weights of features.
    Linear(LinearState),
    /// Mistakes.
    Journal {
        /// All mistakes in order.
        mistakes: Vec<Mistake>,
        /// The sum of the weights of the rows visited.
        rounds: f64,
        /// Kernels that were computed.
        comparisons: u64,
        /// With a kernel and validation rows, the rounds until the best epoch ended.
        best_rounds: Option<f64>,
    },
}

/// Where a run of epochs begins.
#[derive(Clone, Debug)]
pub(crate) struct Begin<S> {
    /// The epochs that are done.
    pub(crate) trace: Vec<Epoch>,
    /// What is done of the next epoch.
    pub(crate) partial: Option<Tally>,
    /// The smallest validation error so far, its epoch and what is known of it.
    pub(crate) best: Option<(f64, usize, S)>,
}

impl<S> Default for Begin<S> {
    fn default() -> Self {
        Self { trace: Vec::new(), partial: None, best: None }
    }
}

impl<S> Begin<S> {
    /// The same with something else known of the best epoch.
    pub(crate) fn map<T>(self, of: impl FnOnce(S) -> T) -> Begin<T> {
        let Self { trace, partial, best } = self;
        Begin { trace, partial, best: best.map(|(error, epoch, known)| (error, epoch, of(known))) }
    }
}

impl Trained {
    pub(super) fn new<S>(scorer: Scorer, run: EpochRun<S>, learner: LearnerState) -> Self {
        let EpochRun { termination, trace, partial, best } = run;
        let mistakes = trace.iter().map(|e| e.mistakes).sum();
        let updates = trace.iter().map(|e| e.updates).sum();
        let epoch = best.as_ref().map_or(trace.len(), |(_, epoch, _)| *epoch);
        let done = trace.len() - usize::from(partial.is_some());
        let best = best.map(|(error, epoch, _)| (error, epoch)).filter(|(_, epoch)| *epoch <= done);
        let resumption = Resumption { partial, best, learner };
        Self { scorer, last: None, termination, trace, epoch, mistakes, updates, resumption }
    }
}

/// A learner that is trained in epochs and can return its hypothesis after each.
pub(super) trait EpochLearner {
    /// What is stored of the best epoch so far.
    type Snapshot;

    /// Whether [`EpochLearner::run_epoch`] follows the order given, rather than shuffling by itself.
    fn needs_order(&self) -> bool {
        true
    }

    /// Learns from all rows once, but for those that `tally` has counted already. Reports progress as part of
    /// epoch `epoch.0` of `epoch.1`.
    fn run_epoch(
        &mut self,
        data: TrainingRows<'_>,
        sequence: &Sequence,
        epoch: (usize, usize),
        tally: &mut Tally,
        observer: &mut dyn Observer,
    ) -> Flow;

    /// The current hypothesis.
    fn snapshot(&self) -> Self::Snapshot;

    /// The scorer of a snapshot.
    fn scorer(&self, snapshot: &Self::Snapshot, rows: &Matrix) -> Scorer;
}

/// A run of epochs.
pub(super) struct EpochRun<S> {
    pub(super) termination: Termination,
    pub(super) trace: Vec<Epoch>,
    /// What is done of the last epoch, if it was broken off.
    pub(super) partial: Option<Tally>,
    /// The smallest validation error, its epoch and its snapshot, if there are validation rows.
    pub(super) best: Option<(f64, usize, S)>,
}

impl<S> EpochRun<S> {
    /// Why the run is over after the last of its epochs, if it is.
    fn over(&self, patience: usize) -> Option<Termination> {
        let last = self.trace.last()?;
        if last.updates == 0 && last.mistakes == 0 {
            return Some(Termination::Separated);
        }
        let is_late = self.best.as_ref().is_some_and(|(_, best, _)| last.epoch - best >= patience);
        is_late.then_some(Termination::ValidationError)
    }
}

/// Computes the error of a scorer on validation rows; `None` if the observer asks to stop.
pub type Validate<'a> = Option<&'a dyn Fn(&Scorer, &Watch<'_>) -> Option<f64>>;

/// Runs epochs until one of the reasons to stop applies.
pub(super) fn run_epochs<R, L: EpochLearner>(
    plan: &Plan<R>,
    data: TrainingRows<'_>,
    learner: &mut L,
    begin: Begin<L::Snapshot>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> EpochRun<L::Snapshot> {
    let started = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut sequence = Sequence::new(data.rows.rows());
    let is_shuffled = plan.order == Order::Shuffled && learner.needs_order();
    let Begin { trace, partial, best } = begin;
    // The order of an epoch follows from that of the one before it.
    (0..trace.len()).filter(|_| is_shuffled).for_each(|_| sequence.shuffle(&mut random));
    let mut begun = partial;
    let mut run = EpochRun { termination: Termination::OutOfEpochs, trace, partial: None, best };
    // An epoch may have been stopped while it was measured.
    if let (Some(mut last), None) = (run.trace.last().copied(), begun)
        && last.validation_error.is_none()
        && measure(learner, (data, validate), &mut run, &mut last, observer) == Flow::Continue
        && let Some(of_run) = run.trace.last_mut()
    {
        *of_run = last;
    }
    if let (Some(over), None) = (run.over(plan.patience), begun) {
        run.termination = over;
        return run;
    }
    for epoch in run.trace.len() + 1..=plan.epochs {
        if is_shuffled {
            sequence.shuffle(&mut random);
        }
        let mut tally = begun.take().unwrap_or_default();
        let mut flow = learner.run_epoch(data, &sequence, (epoch, plan.epochs), &mut tally, observer);
        let mut summary = tally.epoch(epoch);
        let is_partial = tally.rows < data.rows.rows() as u64;
        run.partial = is_partial.then_some(tally);
        // An epoch that was broken off is not compared with whole ones.
        if (!is_partial || run.best.is_none())
            && measure(learner, (data, validate), &mut run, &mut summary, observer) == Flow::Stop
        {
            flow = Flow::Stop;
        }
        summary.seconds = started.elapsed().as_secs_f64();
        run.trace.push(summary);
        if observer.observe(Progress::Epoch(summary)) == Flow::Stop || flow == Flow::Stop {
            run.termination = Termination::Interrupted;
            break;
        }
        if let Some(over) = run.over(plan.patience) {
            run.termination = over;
            break;
        }
    }
    run
}

/// Measures the hypothesis after an epoch on the validation rows, if there are any.
fn measure<L: EpochLearner>(
    learner: &L,
    (data, validate): (TrainingRows<'_>, Validate<'_>),
    run: &mut EpochRun<L::Snapshot>,
    epoch: &mut Epoch,
    observer: &mut dyn Observer,
) -> Flow {
    let Some(validate) = validate else { return Flow::Continue };
    let snapshot = learner.snapshot();
    epoch.validation_error = validate(&learner.scorer(&snapshot, data.rows), &Watch::new(observer));
    match epoch.validation_error {
        None => return Flow::Stop,
        Some(error) if run.best.as_ref().is_none_or(|(least, ..)| error < *least) => {
            run.best = Some((error, epoch.epoch, snapshot));
        }
        Some(_) => {}
    }
    Flow::Continue
}

/// Counts of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) mistakes: u64,
    pub(crate) updates: u64,
    pub(crate) errors: u64,
}

impl Tally {
    /// The summary of the epoch.
    pub(super) fn epoch(&self, epoch: usize) -> Epoch {
        let progressive_error = self.errors as f64 / self.rows.max(1) as f64;
        let Tally { mistakes, updates, .. } = *self;
        Epoch { epoch, mistakes, updates, progressive_error, validation_error: None, seconds: 0.0 }
    }

    #[inline]
    pub(super) fn add(&mut self, outcome: RowOutcome) {
        self.rows += 1;
        self.mistakes += u64::from(outcome.mistakes);
        self.updates += u64::from(outcome.updates);
        self.errors += u64::from(outcome.wrong);
    }
}
