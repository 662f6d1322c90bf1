//! Epochs of a linear learner: over the rows in place, or over shuffled copies that a second thread makes.

use super::epochs::{
    Begin, EpochLearner, EpochRun, LearnerState, Plan, Tally, Trained, TrainingRows, Validate, run_epochs,
};
use super::follow::{Follower, Visit};
use super::linear::{Hypothesis, LinearLearner, LinearState};
use super::order::{Order, Sequence, WINDOW};
use super::rule::Rule;
use super::shuffled_copy::{Passes, ShuffledCopies};
use super::visit::{Visitor, visit_all, visit_rows};
use crate::control::{Flow, Observer, Progress, Termination};
use crate::data::{Matrix, Vector};
use crate::kernel::{Kernel, Precision};
use crate::model::{Mistake, Run, Scorer, Weights};
use std::thread;

/// Trains linear weights in epochs. `validate` computes the error of a scorer on validation rows, if there
/// are any.
pub fn train<R: Rule>(
    plan: &Plan<R>,
    data: TrainingRows<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Trained {
    train_from(plan, data, LinearBegin::default(), validate, observer)
}

/// Where a run of linear weights begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearBegin {
    /// The epochs that are done, with the scorer of the best.
    pub(crate) epochs: Begin<Scorer>,
    /// The learner; none begins with weights of zero.
    pub(crate) learner: Option<LinearStart>,
}

/// What a linear learner begins with.
#[derive(Clone, Debug)]
pub(crate) enum LinearStart {
    /// The last weights, and what belongs to them.
    Weights(Weights, Box<LinearState>),
    /// The mistakes that led to them, and the rounds.
    Journal(Vec<Mistake>, f64),
}

/// The same from where another run ended.
pub(crate) fn train_from<R: Rule>(
    plan: &Plan<R>,
    data: TrainingRows<'_>,
    begin: LinearBegin,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Trained {
    let mut learner = LinearLearner::new(
        plan.rule.clone(),
        plan.scheme,
        plan.classes,
        data.rows.columns(),
        plan.bias,
        plan.hypothesis,
    );
    if let Some(delta) = plan.own_feature {
        learner = learner.with_own_feature(delta, data.rows.rows());
    }
    match begin.learner {
        Some(LinearStart::Weights(weights, state)) => learner.resume(plan.scheme, weights, *state),
        Some(LinearStart::Journal(mistakes, rounds)) => learner.replay(data.rows, &mistakes, rounds),
        None => {}
    }
    let is_copied = copies_rows(plan, data.rows, &learner) && !observer.follows_corrections();
    let skipped = (begin.epochs.trace.len(), begin.epochs.partial.map_or(0, |tally| tally.rows as usize));
    let epochs = begin.epochs.map(Snapshot::of);
    let (learner, mut run) = thread::scope(|scope| {
        let passes = Passes { seed: plan.seed, epochs: plan.epochs, skipped };
        let copies = if is_copied { ShuffledCopies::spawn(scope, data, passes) } else { None };
        let mut learner = LinearEpochs { learner, plan, copies };
        let run = run_epochs(plan, data, &mut learner, epochs, validate, observer);
        // The thread that copies ends with the channel.
        learner.copies = None;
        (learner, run)
    });
    let epoch = run.best.as_ref().map_or(run.trace.len(), |(_, epoch, _)| *epoch);
    let is_last = plan.hypothesis == Hypothesis::Last && epoch == run.trace.len();
    let is_wanted = run.termination == Termination::Separated || plan.hypothesis == Hypothesis::Votes;
    let last = (is_wanted && !is_last).then(|| learner.learner.weights().clone());
    // Weights may take most of the memory, so they are moved and not copied.
    let best = run.best.take();
    let known = best.as_ref().map(|(error, epoch, _)| (*error, *epoch, ()));
    let (scorer, state) = learner.into_parts(best.map(|(_, _, snapshot)| snapshot), is_last, data.rows);
    let EpochRun { termination, trace, partial, .. } = run;
    Trained { last, ..Trained::new(scorer, EpochRun { termination, trace, partial, best: known }, state) }
}

/// Whether a second thread copies the rows in shuffled order: for short rows, which are learned from faster
/// than random access to memory delivers them.
fn copies_rows<R: Rule>(plan: &Plan<R>, rows: &Matrix, learner: &LinearLearner<R>) -> bool {
    /// With fewer rows, an epoch is over before a second thread has started.
    const LEAST_ROWS: usize = 8 * WINDOW;
    rayon::current_num_threads() > 1
        && plan.order == Order::Shuffled
        && !learner.is_quantized()
        && rows.rows() >= LEAST_ROWS
        && window_fits_cache(rows)
}

/// Whether a window of rows stays in a core's own cache while it is visited. Longer rows arrive at the speed
/// of a sequential read wherever they are.
fn window_fits_cache(rows: &Matrix) -> bool {
    /// The size of such a cache.
    const CACHE: usize = 1 << 20;
    rows.bytes() / rows.rows().max(1) * WINDOW <= CACHE
}

impl Snapshot {
    /// What is known of a scorer that an earlier run has returned.
    fn of(scorer: Scorer) -> Self {
        match scorer {
            Scorer::Linear(weights) => Snapshot::Weights(weights),
            Scorer::Voted(voted) => Snapshot::Votes(voted.mistakes.len(), voted.rounds),
            _ => Snapshot::Votes(0, 0.0),
        }
    }
}

/// The hypothesis after an epoch.
enum Snapshot {
    Weights(Weights),
    /// The votes after so many of the journal's mistakes and so many rounds.
    Votes(usize, f64),
}

/// A linear learner during its epochs.
struct LinearEpochs<'a, R> {
    learner: LinearLearner<R>,
    plan: &'a Plan<R>,
    /// Where rows are read from, if not in place.
    copies: Option<ShuffledCopies>,
}

impl<R: Rule> EpochLearner for LinearEpochs<'_, R> {
    type Snapshot = Snapshot;

    fn needs_order(&self) -> bool {
        self.copies.is_none()
    }

    fn run_epoch(
        &mut self,
        data: TrainingRows<'_>,
        sequence: &Sequence,
        (epoch, epochs): (usize, usize),
        tally: &mut Tally,
        observer: &mut dyn Observer,
    ) -> Flow {
        let of = data.rows.rows() as u64;
        if observer.follows_corrections() {
            return learn_followed(&mut self.learner, data, sequence, tally, (epoch, epochs), observer);
        }
        let report = |Tally { rows, errors, .. }: &Tally| {
            observer.observe(Progress::Learning { epoch, epochs, rows: *rows, of, errors: *errors })
        };
        match &mut self.copies {
            Some(copies) => learn_copies(&mut self.learner, copies, tally, report),
            None => learn_in_place(&mut self.learner, data, sequence, tally, report),
        }
    }

    fn snapshot(&self) -> Snapshot {
        match self.learner.journal() {
            Some(journal) => Snapshot::Votes(journal.len(), self.learner.rounds()),
            None => Snapshot::Weights(self.learner.result()),
        }
    }

    fn scorer(&self, snapshot: &Snapshot, rows: &Matrix) -> Scorer {
        match snapshot {
            Snapshot::Weights(weights) => Scorer::Linear(weights.clone()),
            Snapshot::Votes(mistakes, rounds) => {
                let mistakes = &self.learner.journal().unwrap_or_default()[..*mistakes];
                let run = self.plan.run(rows, mistakes, *rounds);
                Scorer::Voted(run.voted(self.plan.scheme, self.plan.classes))
            }
        }
    }
}

impl<R: Rule> LinearEpochs<'_, R> {
    /// The scorer of the best snapshot, or of the current hypothesis, and what resuming takes. `is_last` says
    /// whether the scorer has the last weights.
    fn into_parts(self, best: Option<Snapshot>, is_last: bool, rows: &Matrix) -> (Scorer, LearnerState) {
        if let Some(journal) = self.learner.journal() {
            let scorer = self.scorer(&best.unwrap_or_else(|| self.snapshot()), rows);
            let (mistakes, rounds) = (journal.to_vec(), self.learner.rounds());
            return (scorer, LearnerState::Journal { mistakes, rounds, comparisons: 0, best_rounds: None });
        }
        let (current, mut state) = self.learner.into_parts();
        let weights = match best {
            Some(Snapshot::Weights(weights)) if !is_last => {
                // Beside an average the last weights are in the state already.
                state.last.get_or_insert(current);
                weights
            }
            _ => current,
        };
        (Scorer::Linear(weights), LearnerState::Linear(state))
    }
}

impl<R> Plan<R> {
    /// A run of linear weights with these mistakes.
    fn run<'a>(&self, rows: &'a Matrix<'a>, mistakes: &'a [Mistake], rounds: f64) -> Run<'a> {
        let (kernel, precision) = (Kernel::Linear, Precision::Double);
        Run { kernel, precision, bias: self.bias.coordinate(), rows, mistakes, rounds }
    }
}

/// A pass over rows of two classes in place.
struct PassInPlace<'a, R> {
    learner: &'a mut LinearLearner<R>,
    data: TrainingRows<'a>,
    tally: &'a mut Tally,
}

impl<R: Rule> Visitor for PassInPlace<'_, R> {
    #[inline(always)]
    fn visit(&mut self, i: u32, row: impl Vector) {
        let (class, weight) = self.data.label(i);
        self.tally.add(self.learner.learn_two(row, i, class, weight));
    }
}

/// A pass over copied rows of two classes, with the number that each row has in the data.
struct PassOverCopy<'a, R> {
    learner: &'a mut LinearLearner<R>,
    copy: TrainingRows<'a>,
    ids: &'a [u32],
    tally: &'a mut Tally,
}

impl<R: Rule> Visitor for PassOverCopy<'_, R> {
    #[inline(always)]
    fn visit(&mut self, i: u32, row: impl Vector) {
        let (class, weight) = self.copy.label(i);
        self.tally.add(self.learner.learn_two(row, self.ids[i as usize], class, weight));
    }
}

/// Learns from shuffled copies until the epoch ends.
fn learn_copies<R: Rule>(
    learner: &mut LinearLearner<R>,
    copies: &mut ShuffledCopies,
    tally: &mut Tally,
    mut report: impl FnMut(&Tally) -> Flow,
) -> Flow {
    while let Some(window) = copies.next() {
        let (copy, ids) = (window.training_rows(), &window.ids[..]);
        if learner.is_plain() {
            visit_all(copy.rows, &mut PassOverCopy { learner, copy, ids, tally });
        } else {
            for (&id, i) in ids.iter().zip(0..) {
                let (row, class, weight) = copy.row(i);
                tally.add(learner.learn(row, id, class, weight));
            }
        }
        let is_last = window.is_last;
        copies.recycle(window);
        if report(tally) == Flow::Stop {
            return Flow::Stop;
        }
        if is_last {
            break;
        }
    }
    Flow::Continue
}

/// Learns from the rows in place, and tells the observer of every correction.
fn learn_followed<R: Rule>(
    learner: &mut LinearLearner<R>,
    data: TrainingRows<'_>,
    sequence: &Sequence,
    tally: &mut Tally,
    (epoch, epochs): (usize, usize),
    observer: &mut dyn Observer,
) -> Flow {
    let (mut follower, of) = (Follower::default(), data.rows.rows() as u64);
    for (_, window) in sequence.windows() {
        for &i in window {
            let (row, class, weight) = data.row(i);
            let visit = Visit { epoch, row: i.into(), class };
            tally.add(follower.learn(learner, (row, i, weight), visit, observer));
        }
        let Tally { rows, errors, .. } = *tally;
        if observer.observe(Progress::Learning { epoch, epochs, rows, of, errors }) == Flow::Stop {
            return Flow::Stop;
        }
    }
    Flow::Continue
}

/// Learns from the rows in place, window by window.
fn learn_in_place<R: Rule>(
    learner: &mut LinearLearner<R>,
    data: TrainingRows<'_>,
    sequence: &Sequence,
    tally: &mut Tally,
    mut report: impl FnMut(&Tally) -> Flow,
) -> Flow {
    let mut skipped = tally.rows as usize;
    for (spans, window) in sequence.windows() {
        if skipped >= window.len() {
            skipped -= window.len();
            continue;
        }
        if window_fits_cache(data.rows) {
            data.prefetch(spans);
        }
        if learner.is_plain() {
            visit_rows(data.rows, window, &mut PassInPlace { learner, data, tally });
        } else {
            for &i in window {
                let (row, class, weight) = data.row(i);
                tally.add(learner.learn(row, i, class, weight));
            }
        }
        if report(tally) == Flow::Stop {
            return Flow::Stop;
        }
    }
    Flow::Continue
}
