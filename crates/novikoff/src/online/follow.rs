//! Corrections as they are made, for observers that follow them: the same decisions once more, with all that
//! is known of each.

use super::correct::{Example, Update, correct};
use super::linear::{LinearLearner, RowOutcome};
use super::rule::Rule;
use crate::control::{Correction, Observer};
use crate::data::Row;
use crate::model::NOBODY;
use crate::multiclass::{Scheme, best_except, decide};

/// A row that is visited.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// The epoch, from 1.
    pub(super) epoch: usize,
    /// The row's number in the data.
    pub(super) row: u64,
    pub(super) class: u32,
}

/// What a row led to.
pub(super) struct Decided<'a> {
    pub(super) scheme: Scheme,
    /// The scores before.
    pub(super) scores: &'a [f64],
    pub(super) updates: &'a [Update],
    pub(super) outcome: RowOutcome,
}

/// The weights after it; empty with a kernel.
#[derive(Clone, Copy, Default)]
pub(super) struct After<'a> {
    pub(super) entries: &'a [(u32, f64)],
    /// The coordinate of the bias.
    pub(super) bias: f64,
    pub(super) weights: &'a [f64],
    pub(super) biases: &'a [f64],
}

/// Learns from rows one by one and tells of every correction.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    scores: Vec<f64>,
    updates: Vec<Update>,
    entries: Vec<(u32, f64)>,
}

impl Follower {
    /// Predicts a row, learns from its class, and tells the observer of what was corrected.
    pub(super) fn learn<R: Rule>(
        &mut self,
        learner: &mut LinearLearner<R>,
        (row, id, weight): (Row<'_>, u32, f64),
        visit: Visit,
        observer: &mut dyn Observer,
    ) -> RowOutcome {
        if weight <= 0.0 {
            return learner.learn(row, id, visit.class, weight);
        }
        learner.scores_into(row, id, &mut self.scores);
        self.updates.clear();
        let (scheme, example) = (learner.scheme(), Example { class: visit.class, weight });
        let norm_sq = learner.norm_sq(row);
        let updates = &mut self.updates;
        correct(learner.rule(), scheme, &self.scores, example, || norm_sq, |update| updates.push(update));
        let outcome = learner.learn(row, id, visit.class, weight);
        let decided = Decided { scheme, scores: &self.scores, updates: &self.updates, outcome };
        if decided.is_correction() {
            row.collect_into(&mut self.entries);
            let weights = learner.weights();
            let (bias, weights, biases) = (learner.bias(), &weights.values[..], &weights.bias[..]);
            decided.tell(visit, After { entries: &self.entries, bias, weights, biases }, observer);
        }
        outcome
    }
}

impl Decided<'_> {
    /// Whether there is anything to tell of.
    pub(super) fn is_correction(&self) -> bool {
        self.outcome.mistakes > 0 || !self.updates.is_empty()
    }

    /// Tells of every update; of a mistake without one, as of a row of zeros that is to be normalised, once.
    pub(super) fn tell(&self, visit: Visit, after: After<'_>, observer: &mut dyn Observer) {
        let class = visit.class as usize;
        let whole = self.margin(class, if self.scheme == Scheme::OneVsRest { class } else { 0 });
        let told = |margin: f64, (gains, loses): (Option<usize>, Option<usize>), step: f64| Correction {
            epoch: visit.epoch,
            row: visit.row,
            class,
            predicted: decide(self.scores),
            margin,
            is_mistake: if self.scheme == Scheme::OneVsRest {
                margin <= 0.0
            } else {
                self.outcome.mistakes > 0
            },
            gains,
            loses,
            step,
            entries: after.entries,
            bias: after.bias,
            weights: after.weights,
            biases: after.biases,
        };
        if self.updates.is_empty() {
            observer.corrected(&told(whole, (None, None), 0.0));
        }
        for update in self.updates {
            let margin = self.margin(class, update.gains as usize);
            observer.corrected(&told(margin, self.moved(update), update.step.abs()));
        }
    }

    /// The margin of a row of this class, for an output that is updated.
    fn margin(&self, class: usize, output: usize) -> f64 {
        match self.scheme {
            Scheme::Two => {
                if class == 1 {
                    self.scores[0]
                } else {
                    -self.scores[0]
                }
            }
            Scheme::Joint => match best_except(self.scores, class) {
                usize::MAX => self.scores[class],
                rival => self.scores[class] - self.scores[rival],
            },
            Scheme::OneVsRest if output == class => self.scores[output],
            Scheme::OneVsRest => -self.scores[output],
        }
    }

    /// The classes that gain and lose a row.
    fn moved(&self, update: &Update) -> (Option<usize>, Option<usize>) {
        let (gains, up) = (update.gains as usize, update.step > 0.0);
        match self.scheme {
            Scheme::Two => (Some(usize::from(up)), Some(usize::from(!up))),
            Scheme::Joint => (Some(gains), (update.loses != NOBODY).then_some(update.loses as usize)),
            Scheme::OneVsRest => (up.then_some(gains), (!up).then_some(gains)),
        }
    }
}
