//! The updates that a rule makes for one row, given its scores and its class, however the weights are stored.
//!
//! Two classes: one weight vector and the margin `y·s`. Joint classes: the true class against the best other
//! class, whose weight vectors gain and lose the row (Crammer and Singer 2003). One against the rest: a
//! two-class update for every class.

use super::linear::RowOutcome;
use super::rule::{RowMargin, Rule};
use crate::model::{Mistake, NOBODY};
use crate::multiclass::{Scheme, best_except, decide};

/// The class and the weight of a row.
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) class: u32,
    pub(super) weight: f64,
}

/// An update: `step` times the row is added to one output, and subtracted from another unless that is
/// [`NOBODY`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) gains: u32,
    pub(super) loses: u32,
    pub(super) step: f64,
}

impl Update {
    /// The journal's entry for this update, made on a row after so many rounds.
    pub(super) fn mistake(self, row: u32, round: f64) -> Mistake {
        Mistake { row, gains: self.gains, loses: self.loses, step: self.step, round }
    }

    /// The outputs that the update changes, and by what multiple of the row.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        self.mistake(0, 0.0).steps()
    }
}

/// Passes the rule's updates for a row with these scores to `update`. `norm_sq` computes the row's squared
/// norm.
#[inline(always)]
pub(super) fn correct<R: Rule>(
    rule: &R,
    scheme: Scheme,
    scores: &[f64],
    example: Example,
    norm_sq: impl Fn() -> f64,
    update: impl FnMut(Update),
) -> RowOutcome {
    match scheme {
        Scheme::Two => {
            let (outcome, made) = correct_two(rule, scores[0], example, norm_sq);
            made.into_iter().for_each(update);
            outcome
        }
        Scheme::Joint => correct_joint(rule, scores, example, norm_sq, update),
        Scheme::OneVsRest => correct_each(rule, scores, example, norm_sq, update),
    }
}

/// The same for two classes. The caller makes the update, if there is one: a closure would not be inlined
/// into the caller's loop.
#[inline(always)]
pub(super) fn correct_two<R: Rule>(
    rule: &R,
    score: f64,
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
) -> (RowOutcome, Option<Update>) {
    let positive = class == 1;
    let side = if positive { 1.0 } else { -1.0 };
    let row = RowMargin { margin: side * score, wins_ties: positive, weight, vectors: 1.0 };
    let decision = rule.decide(row, norm_sq);
    let moves = decision.step != 0.0;
    let wrong = (score >= 0.0) != positive;
    let outcome = RowOutcome { wrong, mistakes: decision.mistake.into(), updates: moves.into() };
    (outcome, moves.then_some(Update { gains: 0, loses: NOBODY, step: side * decision.step }))
}

fn correct_joint<R: Rule>(
    rule: &R,
    scores: &[f64],
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
    mut update: impl FnMut(Update),
) -> RowOutcome {
    let class = class as usize;
    let rival = best_except(scores, class);
    if rival == usize::MAX {
        return RowOutcome::default();
    }
    let (own, other) = (scores[class], scores[rival]);
    let row = RowMargin { margin: own - other, wins_ties: class > rival, weight, vectors: 2.0 };
    let decision = rule.decide(row, norm_sq);
    if decision.step != 0.0 {
        update(Update { gains: class as u32, loses: rival as u32, step: decision.step });
    }
    let wrong = own < other || (own == other && rival > class);
    RowOutcome { wrong, mistakes: decision.mistake.into(), updates: (decision.step != 0.0).into() }
}

fn correct_each<R: Rule>(
    rule: &R,
    scores: &[f64],
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
    mut update: impl FnMut(Update),
) -> RowOutcome {
    let mut outcome = RowOutcome { wrong: decide(scores) != class as usize, ..RowOutcome::default() };
    let mut known_norm_sq = None;
    for (output, &score) in scores.iter().enumerate() {
        let own = output == class as usize;
        let side = if own { 1.0 } else { -1.0 };
        let row = RowMargin { margin: side * score, wins_ties: own, weight, vectors: 1.0 };
        let decision = rule.decide(row, || *known_norm_sq.get_or_insert_with(&norm_sq));
        outcome.mistakes += u32::from(decision.mistake);
        if decision.step != 0.0 {
            outcome.updates += 1;
            update(Update { gains: output as u32, loses: NOBODY, step: side * decision.step });
        }
    }
    outcome
}
