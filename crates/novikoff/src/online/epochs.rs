//! Epochs over rows in memory, until one makes no mistake.

use super::learner::{Keep, Online, Seen};
use super::order::{Order, Sequence, WINDOW};
use super::pages::Pages;
use super::rule::Rule;
use super::visit::{Visitor, prefetch, prefetch_rows, visit_all, visit_rows};
use crate::control::{Epoch, Flow, Observer, Progress};
use crate::data::{Matrix, Row, Vector};
use crate::kernel::{Kernel, Precision};
use crate::model::{Mistake, Run, Scorer, Weights};
use crate::multiclass::Scheme;
use crate::penalty::Bias;
use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::ops::Range;
use std::thread;
use std::time::Instant;

/// How to train: everything but the rows.
#[derive(Clone, Debug)]
pub struct Plan<R> {
    /// How far to move for a row.
    pub rule: R,
    /// How classes are told apart.
    pub scheme: Scheme,
    /// How many there are.
    pub classes: usize,
    /// Whether there is a bias.
    pub bias: Bias,
    /// What is kept besides the last weights.
    pub keep: Keep,
    /// The order of rows in an epoch.
    pub order: Order,
    /// The seed of that order.
    pub seed: u64,
    /// Training ends after so many epochs.
    pub epochs: usize,
    /// It ends after so many epochs without a new best validation error.
    pub patience: usize,
    /// What every row has as a feature of its own, if it has one.
    pub own_feature: Option<f64>,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// An epoch made no mistake and no update: the rows are separated.
    Separated,
    /// There were no more epochs.
    OutOfEpochs,
    /// The validation error had stopped falling.
    ValidationError,
    /// The stream had ended.
    EndOfStream,
    /// All rows were counted: there is nothing to repeat.
    Counted,
    /// Somebody asked to stop.
    Interrupted,
    /// The duality gap, or what stands for it, is within the tolerance.
    Converged,
    /// It is not.
    NotConverged,
}

/// The rows of a problem, with classes numbered as the model will number them.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The rows.
    pub rows: &'a Matrix,
    /// The class of each.
    pub classes: &'a [u32],
    /// The weight of each; empty if all are 1.
    pub weights: &'a [f64],
}

impl<'a> Batch<'a> {
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

    /// Reads through some rows so that they are in the cache.
    pub(super) fn fetch_all(&self, spans: impl Iterator<Item = Range<usize>>) {
        for rows in spans {
            black_box(
                prefetch(&self.classes[rows.clone()], |&class| class.into()) ^ prefetch_rows(self.rows, rows),
            );
        }
    }
}

/// What training came to.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What scores rows.
    pub scorer: Scorer,
    /// The weights that it ended with, if these are not what scores rows and it ended with an epoch without a
    /// mistake, or what scores rows are mistakes.
    pub last: Option<Weights>,
    /// Why it ended.
    pub stopped: Stopped,
    /// What each epoch came to.
    pub trace: Vec<Epoch>,
    /// The epoch whose model this is.
    pub epoch: usize,
    /// Mistakes in all.
    pub mistakes: u64,
    /// Updates in all.
    pub updates: u64,
}

/// What learns in epochs, and can tell after each what it would return.
pub(super) trait Pupil {
    /// What is kept of an epoch while it is the best.
    type Snapshot;

    /// Whether it is told the order of rows.
    fn needs_order(&self) -> bool {
        true
    }

    /// Learns from all rows once, in this order, or in that of its own if it needs to be told of none.
    fn pass(
        &mut self,
        batch: Batch<'_>,
        sequence: &Sequence,
        epoch: (usize, usize),
        observer: &mut dyn Observer,
    ) -> (Epoch, Flow);

    /// What it would return now.
    fn snapshot(&self) -> Self::Snapshot;

    /// What scores rows by a snapshot.
    fn scorer(&self, snapshot: &Self::Snapshot, rows: &Matrix) -> Scorer;
}

/// How the epochs went.
pub(super) struct Course<S> {
    pub(super) stopped: Stopped,
    pub(super) trace: Vec<Epoch>,
    /// The epoch with the least validation error, if there is any to go by.
    pub(super) best: Option<(f64, usize, S)>,
}

/// Tells the error of a scorer on validation rows.
pub type Validate<'a> = Option<&'a dyn Fn(&Scorer) -> f64>;

/// Epoch after epoch, until there is a reason to end.
pub(super) fn attend<R, P: Pupil>(
    plan: &Plan<R>,
    batch: Batch<'_>,
    pupil: &mut P,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Course<P::Snapshot> {
    let started = Instant::now();
    let mut random = Random::new(plan.seed);
    let mut sequence = Sequence::new(batch.rows.rows());
    let mut course = Course { stopped: Stopped::OutOfEpochs, trace: Vec::new(), best: None };
    for epoch in 1..=plan.epochs {
        if plan.order == Order::Shuffled && pupil.needs_order() {
            sequence.shuffle(&mut random);
        }
        let (mut sums, flow) = pupil.pass(batch, &sequence, (epoch, plan.epochs), observer);
        if let Some(validate) = validate {
            let snapshot = pupil.snapshot();
            let error = validate(&pupil.scorer(&snapshot, batch.rows));
            sums.validation_error = Some(error);
            if course.best.as_ref().is_none_or(|(least, ..)| error < *least) {
                course.best = Some((error, epoch, snapshot));
            }
        }
        sums.seconds = started.elapsed().as_secs_f64();
        course.trace.push(sums);
        if observer.observe(Progress::Epoch(sums)) == Flow::Stop || flow == Flow::Stop {
            course.stopped = Stopped::Interrupted;
            break;
        }
        if sums.updates == 0 && sums.mistakes == 0 {
            course.stopped = Stopped::Separated;
            break;
        }
        if course.best.as_ref().is_some_and(|(_, at, _)| epoch - at >= plan.patience) {
            course.stopped = Stopped::ValidationError;
            break;
        }
    }
    course
}

/// What the learner would return after an epoch; kept while it is the best.
pub(super) enum Snapshot {
    Linear(Weights),
    /// So many of the journal's mistakes, and so many rounds.
    Voted(usize, f64),
}

/// An online learner in its epochs.
struct Attending<'a, R> {
    learner: Online<R>,
    plan: &'a Plan<R>,
    /// Where rows come from, if not from where they lie.
    pages: Option<Pages>,
}

impl<R: Rule> Pupil for Attending<'_, R> {
    type Snapshot = Snapshot;

    fn needs_order(&self) -> bool {
        self.pages.is_none()
    }

    fn pass(
        &mut self,
        batch: Batch<'_>,
        sequence: &Sequence,
        epoch: (usize, usize),
        observer: &mut dyn Observer,
    ) -> (Epoch, Flow) {
        let (mut tally, of, (epoch, epochs)) = (Tally::default(), batch.rows.rows() as u64, epoch);
        let report = |Tally { rows, errors, .. }: &Tally| {
            observer.observe(Progress::Learning { epoch, epochs, rows: *rows, of, errors: *errors })
        };
        let flow = match &mut self.pages {
            Some(pages) => read(&mut self.learner, pages, &mut tally, report),
            None => visit(&mut self.learner, batch, sequence, &mut tally, report),
        };
        (tally.epoch(epoch), flow)
    }

    fn snapshot(&self) -> Snapshot {
        match self.learner.journal() {
            Some(journal) => Snapshot::Voted(journal.len(), self.learner.rounds()),
            None => Snapshot::Linear(self.learner.result()),
        }
    }

    fn scorer(&self, snapshot: &Snapshot, rows: &Matrix) -> Scorer {
        match snapshot {
            Snapshot::Linear(weights) => Scorer::Linear(weights.clone()),
            Snapshot::Voted(mistakes, rounds) => {
                let mistakes = &self.learner.journal().unwrap_or_default()[..*mistakes];
                Scorer::Voted(
                    self.plan.run(rows, mistakes, *rounds).voted(self.plan.scheme, self.plan.classes),
                )
            }
        }
    }
}

impl<R> Plan<R> {
    /// A run of linear weights with these mistakes.
    fn run<'a>(&self, rows: &'a Matrix, mistakes: &'a [Mistake], rounds: f64) -> Run<'a> {
        let (kernel, precision) = (Kernel::Linear, Precision::Double);
        Run { kernel, precision, bias: self.bias.coordinate(), rows, mistakes, rounds }
    }
}

/// Trains in epochs. `validate` tells the error of a scorer on validation rows, if there are any.
pub fn train<R: Rule>(
    plan: &Plan<R>,
    batch: Batch<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> Trained {
    let mut learner =
        Online::new(plan.rule.clone(), plan.scheme, plan.classes, batch.rows.columns(), plan.bias, plan.keep);
    if let Some(value) = plan.own_feature {
        learner = learner.with_own_feature(value, batch.rows.rows());
    }
    let paged = rayon::current_num_threads() > 1
        && plan.order == Order::Shuffled
        && !learner.is_quantized()
        && batch.rows.rows() >= PAGES_FROM
        && fits(batch.rows);
    let (pupil, Course { stopped, trace, best }) = thread::scope(|scope| {
        let pages = if paged { Pages::write(scope, batch, plan.seed, plan.epochs) } else { None };
        let mut pupil = Attending { learner, plan, pages };
        let course = attend(plan, batch, &mut pupil, validate, observer);
        // Who writes them ends with them.
        pupil.pages = None;
        (pupil, course)
    });
    let epoch = best.as_ref().map_or(trace.len(), |(_, epoch, _)| *epoch);
    let is_last = plan.keep == Keep::Last && epoch == trace.len();
    let wanted = stopped == Stopped::Separated || plan.keep == Keep::Mistakes;
    let last = (wanted && !is_last).then(|| pupil.learner.weights().clone());
    // Weights may be most of the memory there is: the last are handed over, not copied.
    let scorer = match best {
        Some((_, _, Snapshot::Linear(weights))) => Scorer::Linear(weights),
        None if pupil.learner.journal().is_none() => Scorer::Linear(pupil.learner.into_result()),
        Some((_, _, voted)) => pupil.scorer(&voted, batch.rows),
        None => pupil.scorer(&pupil.snapshot(), batch.rows),
    };
    Trained { last, ..Trained::new(scorer, stopped, trace, epoch) }
}

impl Trained {
    pub(super) fn new(scorer: Scorer, stopped: Stopped, trace: Vec<Epoch>, epoch: usize) -> Self {
        let (mistakes, updates) =
            (trace.iter().map(|e| e.mistakes).sum(), trace.iter().map(|e| e.updates).sum());
        Self { scorer, last: None, stopped, trace, epoch, mistakes, updates }
    }
}

/// What has happened in an epoch so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) rows: u64,
    mistakes: u64,
    updates: u64,
    pub(super) errors: u64,
}

impl Tally {
    /// What the epoch came to.
    pub(super) fn epoch(&self, epoch: usize) -> Epoch {
        let progressive_error = self.errors as f64 / self.rows.max(1) as f64;
        let Tally { mistakes, updates, .. } = *self;
        Epoch { epoch, mistakes, updates, progressive_error, validation_error: None, seconds: 0.0 }
    }

    #[inline]
    pub(super) fn add(&mut self, seen: Seen) {
        self.rows += 1;
        self.mistakes += u64::from(seen.mistakes);
        self.updates += u64::from(seen.updates);
        self.errors += u64::from(seen.wrong);
    }
}

/// A learner who is shown rows of two classes.
struct Lesson<'a, R> {
    learner: &'a mut Online<R>,
    batch: Batch<'a>,
    tally: &'a mut Tally,
}

impl<R: Rule> Visitor for Lesson<'_, R> {
    #[inline(always)]
    fn visit(&mut self, i: u32, row: impl Vector) {
        let (class, weight) = self.batch.label(i);
        self.tally.add(self.learner.learn_two(row, i, class, weight));
    }
}

/// The same, with rows that are called otherwise where they come from.
struct PageLesson<'a, R>(Lesson<'a, R>, &'a [u32]);

impl<R: Rule> Visitor for PageLesson<'_, R> {
    #[inline(always)]
    fn visit(&mut self, i: u32, row: impl Vector) {
        let PageLesson(Lesson { learner, batch, tally }, ids) = self;
        let (class, weight) = batch.label(i);
        tally.add(learner.learn_two(row, ids[i as usize], class, weight));
    }
}

/// Learns from pages until an epoch has ended.
fn read<R: Rule>(
    learner: &mut Online<R>,
    pages: &mut Pages,
    tally: &mut Tally,
    mut report: impl FnMut(&Tally) -> Flow,
) -> Flow {
    while let Some(page) = pages.next() {
        let batch = page.batch();
        if learner.is_plain() {
            visit_all(batch.rows, &mut PageLesson(Lesson { learner, batch, tally }, &page.ids));
        } else {
            for (&id, i) in page.ids.iter().zip(0..) {
                let (row, class, weight) = batch.row(i);
                tally.add(learner.learn(row, id, class, weight));
            }
        }
        let is_last = page.is_last;
        pages.hand_back(page);
        if report(tally) == Flow::Stop {
            return Flow::Stop;
        }
        if is_last {
            break;
        }
    }
    Flow::Continue
}

/// Learns from rows where they lie.
fn visit<R: Rule>(
    learner: &mut Online<R>,
    batch: Batch<'_>,
    sequence: &Sequence,
    tally: &mut Tally,
    mut report: impl FnMut(&Tally) -> Flow,
) -> Flow {
    for (spans, window) in sequence.windows() {
        if fits(batch.rows) {
            batch.fetch_all(spans);
        }
        if learner.is_plain() {
            visit_rows(batch.rows, window, &mut Lesson { learner, batch, tally });
        } else {
            for &i in window {
                let (row, class, weight) = batch.row(i);
                tally.add(learner.learn(row, i, class, weight));
            }
        }
        if report(tally) == Flow::Stop {
            return Flow::Stop;
        }
    }
    Flow::Continue
}

/// Whether a window of rows stays in a core's own cache while it is visited. Longer rows come at the speed of
/// a sequential read wherever they lie.
fn fits(rows: &Matrix) -> bool {
    /// What such a cache holds.
    const CACHE: usize = 1 << 20;
    rows.bytes() / rows.rows().max(1) * WINDOW <= CACHE
}

/// With fewer rows, an epoch is over before a second thread has begun.
const PAGES_FROM: usize = 8 * WINDOW;
