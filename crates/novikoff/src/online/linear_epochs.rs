//! Epochs of a linear learner: over the rows in place, or over shuffled copies that a second thread makes.

use super::epochs::{EpochLearner, EpochRun, Plan, Tally, Trained, TrainingRows, Validate, run_epochs};
use super::linear::{Hypothesis, LinearLearner};
use super::order::{Order, Sequence, WINDOW};
use super::rule::Rule;
use super::shuffled_copy::ShuffledCopies;
use super::visit::{Visitor, visit_all, visit_rows};
use crate::control::{Epoch, Flow, Observer, Progress, Termination};
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
    let is_copied = copies_rows(plan, data.rows, &learner);
    let (learner, EpochRun { termination, trace, best }) = thread::scope(|scope| {
        let copies =
            if is_copied { ShuffledCopies::spawn(scope, data, plan.seed, plan.epochs) } else { None };
        let mut learner = LinearEpochs { learner, plan, copies };
        let run = run_epochs(plan, data, &mut learner, validate, observer);
        // The thread that copies ends with the channel.
        learner.copies = None;
        (learner, run)
    });
    let epoch = best.as_ref().map_or(trace.len(), |(_, epoch, _)| *epoch);
    let is_last = plan.hypothesis == Hypothesis::Last && epoch == trace.len();
    let is_wanted = termination == Termination::Separated || plan.hypothesis == Hypothesis::Votes;
    let last = (is_wanted && !is_last).then(|| learner.learner.weights().clone());
    let scorer = learner.into_scorer(best.map(|(_, _, snapshot)| snapshot), data.rows);
    Trained { last, ..Trained::new(scorer, termination, trace, epoch) }
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
        observer: &mut dyn Observer,
    ) -> (Epoch, Flow) {
        let (mut tally, of) = (Tally::default(), data.rows.rows() as u64);
        let report = |Tally { rows, errors, .. }: &Tally| {
            observer.observe(Progress::Learning { epoch, epochs, rows: *rows, of, errors: *errors })
        };
        let flow = match &mut self.copies {
            Some(copies) => learn_copies(&mut self.learner, copies, &mut tally, report),
            None => learn_in_place(&mut self.learner, data, sequence, &mut tally, report),
        };
        (tally.epoch(epoch), flow)
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
    /// The scorer of the best snapshot, or of the current hypothesis. Weights may take most of the memory, so
    /// they are moved and not copied.
    fn into_scorer(self, best: Option<Snapshot>, rows: &Matrix) -> Scorer {
        match best {
            Some(Snapshot::Weights(weights)) => Scorer::Linear(weights),
            None if self.learner.journal().is_none() => Scorer::Linear(self.learner.result()),
            Some(votes) => self.scorer(&votes, rows),
            None => self.scorer(&self.snapshot(), rows),
        }
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

/// Learns from the rows in place, window by window.
fn learn_in_place<R: Rule>(
    learner: &mut LinearLearner<R>,
    data: TrainingRows<'_>,
    sequence: &Sequence,
    tally: &mut Tally,
    mut report: impl FnMut(&Tally) -> Flow,
) -> Flow {
    for (spans, window) in sequence.windows() {
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
