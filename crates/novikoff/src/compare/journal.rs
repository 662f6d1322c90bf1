//! A run of the perceptron with everything that can be made of it later: its mistakes in order, and when they
//! were made.
//!
//! A run to ten epochs holds all shorter ones: they are its first mistakes. So nothing is ever trained twice,
//! and a run that was interrupted goes on where it was: what it knows is what its mistakes sum up to.

use crate::control::{Flow, Observer, Progress};
use crate::data::Matrix;
use crate::kernel::{BLOCK, Kernel};
use crate::model::{Mistake, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::Perceptron;
use crate::online::{Batch, Keep, Kernelised, Online, Order, Plan, Seen, Sequence};
use crate::random::Random;
use std::time::Instant;

/// What happened in a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    /// The mistakes, in order.
    pub mistakes: Vec<Mistake>,
    /// Per mistake, the squared length of the weight vector that gained by it, afterwards.
    pub lengths_sq: Vec<f64>,
    /// Rounds and seconds, time after time.
    pub clock: Vec<(f64, f64)>,
    /// Epochs that have ended.
    pub epochs: usize,
    /// Rows visited in the epoch under way.
    pub position: usize,
    /// Mistakes before the epoch under way.
    pub earlier: usize,
    /// An epoch made no mistake: whatever rounds follow change nothing.
    pub separated: bool,
}

impl Journal {
    /// Rounds so far.
    pub fn rounds(&self) -> f64 {
        self.clock.last().map_or(0.0, |(rounds, _)| *rounds)
    }

    /// Seconds that learning took up to a round.
    pub fn seconds(&self, rounds: f64) -> f64 {
        let reached = self.clock.iter().find(|(at, _)| *at >= rounds).or(self.clock.last());
        reached.map_or(0.0, |(_, seconds)| *seconds)
    }

    /// Mistakes before a round.
    pub fn mistakes_before(&self, rounds: f64) -> &[Mistake] {
        &self.mistakes[..self.mistakes.partition_point(|mistake| mistake.round < rounds)]
    }

    /// Rows of mistakes before a round, each counted once.
    pub fn support_before(&self, rounds: f64) -> usize {
        let mut rows: Vec<u32> = self.mistakes_before(rounds).iter().map(|mistake| mistake.row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }
}

/// What learns, in either space.
enum Learner<'a> {
    Weights(Box<Online<Perceptron>>),
    Kernel(Box<Kernelised<'a, Perceptron>>),
}

impl Learner<'_> {
    fn learn(&mut self, batch: Batch<'_>, ids: &[u32], mut told: impl FnMut(Seen)) {
        match self {
            Learner::Weights(online) => {
                for &id in ids {
                    let (row, class, weight) = batch.row(id);
                    told(online.learn(row, id, class, weight));
                }
            }
            Learner::Kernel(kernelised) => kernelised.learn(batch, ids, told),
        }
    }

    fn mistakes(&self) -> &[Mistake] {
        match self {
            Learner::Weights(online) => online.journal().unwrap_or_default(),
            Learner::Kernel(kernelised) => kernelised.journal(),
        }
    }

    fn rounds(&self) -> f64 {
        match self {
            Learner::Weights(online) => online.rounds(),
            Learner::Kernel(kernelised) => kernelised.rounds(),
        }
    }
}

/// Goes on with a run until so many epochs (or parts of one) are over, or the observer says stop.
pub(super) fn learn(
    plan: &Plan<Perceptron>,
    kernel: Kernel,
    batch: Batch<'_>,
    until: f64,
    journal: &mut Journal,
    observer: &mut dyn Observer,
) -> Flow {
    let started = Instant::now();
    let earlier_seconds = journal.clock.last().map_or(0.0, |(_, seconds)| *seconds);
    let mut learner = resumed(plan, kernel, batch, journal);
    let mut random = Random::new(plan.seed);
    let mut sequence = Sequence::new(batch.rows.rows());
    let end = until * total(batch);
    let of = batch.rows.rows() as u64;
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
            learner.learn(batch, ids, |seen| errors += u64::from(seen.wrong));
            journal.position += ids.len();
            journal.clock.push((learner.rounds(), earlier_seconds + started.elapsed().as_secs_f64()));
            let (rows, epochs) = (journal.position as u64, until.ceil() as usize);
            flow = observer.observe(Progress::Learning { epoch: epoch + 1, epochs, rows, of, errors });
            if flow == Flow::Stop || learner.rounds() >= end {
                break;
            }
        }
        if journal.position == batch.rows.rows() {
            journal.separated = learner.mistakes().len() == journal.earlier;
            (journal.epochs, journal.position, journal.earlier) = (epoch + 1, 0, learner.mistakes().len());
        }
    }
    journal.mistakes = learner.mistakes().to_vec();
    journal.lengths_sq = match learner {
        Learner::Weights(_) => lengths_sq(batch.rows, &journal.mistakes, plan),
        Learner::Kernel(kernelised) => kernelised.lengths_sq().to_vec(),
    };
    flow
}

/// Rounds of an epoch.
pub(super) fn total(batch: Batch<'_>) -> f64 {
    if batch.weights.is_empty() { batch.rows.rows() as f64 } else { batch.weights.iter().sum() }
}

/// A learner that has made the mistakes of a journal.
fn resumed<'a>(plan: &Plan<Perceptron>, kernel: Kernel, batch: Batch<'a>, journal: &Journal) -> Learner<'a> {
    if kernel == Kernel::Linear {
        let mut online = Online::new(
            plan.rule,
            plan.scheme,
            plan.classes,
            batch.rows.columns(),
            plan.bias,
            Keep::Mistakes,
        );
        online.replay(batch.rows, &journal.mistakes, journal.rounds());
        return Learner::Weights(Box::new(online));
    }
    let mut kernelised = Kernelised::new(plan, kernel, batch.rows);
    kernelised.replay(&journal.mistakes, &journal.lengths_sq, journal.rounds());
    Learner::Kernel(Box::new(kernelised))
}

/// `‖w + step·x‖² = ‖w‖² + 2·step·<w, x> + step²·‖x‖²`, mistake by mistake.
fn lengths_sq(rows: &Matrix, mistakes: &[Mistake], plan: &Plan<Perceptron>) -> Vec<f64> {
    let (outputs, bias) = (plan.scheme.outputs(plan.classes), plan.bias.coordinate());
    let mut weights = Weights::zero(rows.columns(), outputs);
    let (mut scores, mut squares) = (vec![0.0; outputs], vec![0.0; outputs]);
    let each = mistakes.iter().map(|mistake| {
        let row = rows.row(mistake.row as usize);
        let own = row.norm_sq() + bias * bias;
        weights.score(row, &mut scores);
        for (output, step) in mistake.steps() {
            // The bias is a weight of the coordinate `bias`, which scores know of already.
            squares[output] += step * (2.0 * scores[output] + step * own);
            weights.add(row, output, step, bias);
        }
        match plan.scheme {
            Scheme::Joint => squares.iter().sum(),
            _ => squares[mistake.gains as usize],
        }
    });
    each.collect()
}
