//! The journal of a perceptron's run: its mistakes in order, and when they were made.
//!
//! The weights after any round are the sum of the mistakes before it. So the journal of ten epochs has those
//! of all shorter runs as prefixes, nothing is trained twice, and an interrupted run can resume.

use crate::control::{Flow, Observer, Progress};
use crate::data::Matrix;
use crate::kernel::{BLOCK, Kernel};
use crate::model::{Mistake, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::Perceptron;
use crate::online::{
    Hypothesis, KernelLearner, LinearLearner, Order, Plan, RowOutcome, Sequence, TrainingRows,
};
use crate::random::Random;
use std::time::Instant;

/// The record of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Journal {
    /// The mistakes, in order.
    pub mistakes: Vec<Mistake>,
    /// Per mistake, `‖w‖²` after it of the weight vector that gained; of joint classes, of all. Without a
    /// kernel they are computed once the run is complete, and zeros stand in for them until then.
    pub lengths_sq: Vec<f64>,
    /// Pairs of rounds and seconds, one after every block.
    pub clock: Vec<(f64, f64)>,
    /// Complete epochs.
    pub epochs: usize,
    /// Rows visited in the current epoch.
    pub position: usize,
    /// Mistakes before the current epoch.
    pub earlier: usize,
    /// Whether an epoch made no mistake: further rounds change nothing.
    pub separated: bool,
}

impl Journal {
    /// Rounds so far.
    pub(super) fn rounds(&self) -> f64 {
        self.clock.last().map_or(0.0, |(rounds, _)| *rounds)
    }

    /// Seconds of learning up to a round.
    pub(super) fn seconds(&self, rounds: f64) -> f64 {
        let reached = self.clock.iter().find(|(at, _)| *at >= rounds).or(self.clock.last());
        reached.map_or(0.0, |(_, seconds)| *seconds)
    }

    /// Mistakes before a round.
    pub(super) fn mistakes_before(&self, rounds: f64) -> &[Mistake] {
        &self.mistakes[..self.mistakes.partition_point(|mistake| mistake.round < rounds)]
    }

    /// The number of distinct rows with mistakes before a round.
    pub(super) fn support_before(&self, rounds: f64) -> usize {
        let mistakes = self.mistakes_before(rounds);
        let mut seen =
            vec![false; mistakes.iter().map(|mistake| mistake.row as usize + 1).max().unwrap_or(0)];
        mistakes.iter().for_each(|mistake| seen[mistake.row as usize] = true);
        seen.into_iter().filter(|seen| *seen).count()
    }
}

/// The learner of a run, with or without a kernel.
enum Learner<'a> {
    Linear(Box<LinearLearner<Perceptron>>),
    Kernel(Box<KernelLearner<'a, Perceptron>>),
}

impl Learner<'_> {
    fn learn(&mut self, data: TrainingRows<'_>, ids: &[u32], mut report: impl FnMut(RowOutcome)) {
        match self {
            Learner::Linear(learner) => {
                for &id in ids {
                    let (row, class, weight) = data.row(id);
                    report(learner.learn(row, id, class, weight));
                }
            }
            Learner::Kernel(learner) => learner.learn(data, ids, report),
        }
    }

    fn mistakes(&self) -> &[Mistake] {
        match self {
            Learner::Linear(learner) => learner.journal().unwrap_or_default(),
            Learner::Kernel(learner) => learner.journal(),
        }
    }

    /// The mistakes and, with a kernel, the lengths after each.
    fn into_journal(self) -> (Vec<Mistake>, Option<Vec<f64>>) {
        match self {
            Learner::Linear(learner) => (learner.into_journal().unwrap_or_default(), None),
            Learner::Kernel(learner) => {
                let (mistakes, lengths_sq) = learner.into_journal();
                (mistakes, Some(lengths_sq))
            }
        }
    }

    fn rounds(&self) -> f64 {
        match self {
            Learner::Linear(learner) => learner.rounds(),
            Learner::Kernel(learner) => learner.rounds(),
        }
    }
}

/// Continues a run until so many epochs (or a fraction of one) are complete, or the observer asks to stop.
pub(super) fn learn(
    plan: &Plan<Perceptron>,
    kernel: Kernel,
    data: TrainingRows<'_>,
    until: f64,
    journal: &mut Journal,
    observer: &mut dyn Observer,
) -> Flow {
    let started = Instant::now();
    let earlier_seconds = journal.clock.last().map_or(0.0, |(_, seconds)| *seconds);
    let mut learner = resumed(plan, kernel, data, journal);
    let mut random = Random::new(plan.seed);
    let mut sequence = Sequence::new(data.rows.rows());
    let end = until * rounds_per_epoch(data);
    let of = data.rows.rows() as u64;
    let mut flow = Flow::Continue;
    for epoch in 0.. {
        if journal.separated || learner.rounds() >= end || flow == Flow::Stop {
            break;
        }
        if plan.order == Order::Shuffled {
            sequence.shuffle(&mut random);
        }
        if epoch < journal.epochs {
            continue;
        }
        let mut errors = 0;
        for ids in sequence.rows()[journal.position..].chunks(BLOCK) {
            learner.learn(data, ids, |outcome| errors += u64::from(outcome.wrong));
            journal.position += ids.len();
            journal.clock.push((learner.rounds(), earlier_seconds + started.elapsed().as_secs_f64()));
            let (rows, epochs) = (journal.position as u64, until.ceil() as usize);
            flow = observer.observe(Progress::Learning { epoch: epoch + 1, epochs, rows, of, errors });
            if flow == Flow::Stop || learner.rounds() >= end {
                break;
            }
        }
        if journal.position == data.rows.rows() {
            journal.separated = learner.mistakes().len() == journal.earlier;
            (journal.epochs, journal.position, journal.earlier) = (epoch + 1, 0, learner.mistakes().len());
        }
    }
    let (mistakes, known) = learner.into_journal();
    let lengths = match (known, flow) {
        (Some(known), _) => Some(known),
        (None, Flow::Continue) => lengths_sq(data.rows, &mistakes, plan, observer),
        (None, Flow::Stop) => None,
    };
    if lengths.is_none() {
        flow = Flow::Stop;
    }
    journal.lengths_sq = lengths.unwrap_or_else(|| vec![0.0; mistakes.len()]);
    journal.mistakes = mistakes;
    flow
}

/// The number of rounds in an epoch: the sum of the rows' weights.
pub(super) fn rounds_per_epoch(data: TrainingRows<'_>) -> f64 {
    if data.weights.is_empty() { data.rows.rows() as f64 } else { data.weights.iter().sum() }
}

/// A learner that has replayed the mistakes of a journal.
fn resumed<'a>(
    plan: &Plan<Perceptron>,
    kernel: Kernel,
    data: TrainingRows<'a>,
    journal: &Journal,
) -> Learner<'a> {
    if kernel == Kernel::Linear {
        let columns = data.rows.columns();
        let Plan { rule, scheme, classes, bias, .. } = *plan;
        let mut learner = LinearLearner::new(rule, scheme, classes, columns, bias, Hypothesis::Votes);
        learner.replay(data.rows, &journal.mistakes, journal.rounds());
        return Learner::Linear(Box::new(learner));
    }
    let mut learner = KernelLearner::new(plan, kernel, data.rows);
    learner.replay(&journal.mistakes, &journal.lengths_sq, journal.rounds());
    Learner::Kernel(Box::new(learner))
}

/// `‖w‖²` after each mistake, by `‖w + step·x‖² = ‖w‖² + 2·step·<w, x> + step²·‖x‖²`; `None` if the observer
/// asked to stop.
fn lengths_sq(
    rows: &Matrix,
    mistakes: &[Mistake],
    plan: &Plan<Perceptron>,
    observer: &mut dyn Observer,
) -> Option<Vec<f64>> {
    let (outputs, bias) = (plan.scheme.outputs(plan.classes), plan.bias.coordinate());
    let mut weights = Weights::zero(rows.columns(), outputs);
    let (mut scores, mut squares) = (vec![0.0; outputs], vec![0.0; outputs]);
    let mut lengths_sq = Vec::with_capacity(mistakes.len());
    for (at, mistake) in mistakes.iter().enumerate() {
        if at % BLOCK == 0 && observer.observe(Progress::Working) == Flow::Stop {
            return None;
        }
        let row = rows.row(mistake.row as usize);
        let norm_sq = row.norm_sq() + bias * bias;
        weights.score(row, &mut scores);
        for (output, step) in mistake.steps() {
            // The bias is the weight of a coordinate `bias`, which scores include.
            squares[output] += step * (2.0 * scores[output] + step * norm_sq);
            weights.add(row, output, step, bias);
        }
        lengths_sq.push(match plan.scheme {
            Scheme::Joint => squares.iter().sum(),
            _ => squares[mistake.gains as usize],
        });
    }
    Some(lengths_sq)
}
