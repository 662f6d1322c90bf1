//! From a row's scores and its class to the updates that a rule asks for, whatever the weights are kept as.

use super::learner::Seen;
use super::rule::{Look, Rule};
use crate::model::{Mistake, NOBODY};
use crate::multiclass::{Scheme, best_except, decide};

/// What a rule is told of a row besides its scores.
#[derive(Clone, Copy)]
pub(super) struct Example {
    pub(super) class: u32,
    pub(super) weight: f64,
}

/// An update: `step` times the row is added to one output, and taken from another unless that is [`NOBODY`].
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub(super) gains: u32,
    pub(super) loses: u32,
    pub(super) step: f64,
}

impl Update {
    /// The mistake that it corrects, of a row, after so many rounds.
    pub(super) fn mistake(self, row: u32, round: f64) -> Mistake {
        Mistake { row, gains: self.gains, loses: self.loses, step: self.step, round }
    }

    /// The outputs that it changes, and by how much of the row.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        self.mistake(0, 0.0).steps()
    }
}

/// Looks at a row's scores and makes the updates that the rule asks for. `norm_sq` is the row's squared
/// length.
#[inline(always)]
pub(super) fn correct<R: Rule>(
    rule: &R,
    scheme: Scheme,
    scores: &[f64],
    example: Example,
    norm_sq: impl Fn() -> f64,
    update: impl FnMut(Update),
) -> Seen {
    match scheme {
        Scheme::Two => {
            let (seen, moved) = correct_two(rule, scores[0], example, norm_sq);
            moved.into_iter().for_each(update);
            seen
        }
        Scheme::Joint => correct_joint(rule, scores, example, norm_sq, update),
        Scheme::OneVsRest => correct_each(rule, scores, example, norm_sq, update),
    }
}

/// The same for two classes, whose one update, if there is one, is left to the caller: what a closure does
/// would not be compiled into the caller's loop.
#[inline(always)]
pub(super) fn correct_two<R: Rule>(
    rule: &R,
    score: f64,
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
) -> (Seen, Option<Update>) {
    let positive = class == 1;
    let side = if positive { 1.0 } else { -1.0 };
    let look = Look { margin: side * score, wins_ties: positive, weight, movers: 1.0 };
    let answer = rule.look(look, norm_sq);
    let moves = answer.step != 0.0;
    let seen =
        Seen { wrong: (score >= 0.0) != positive, mistakes: answer.mistake.into(), updates: moves.into() };
    (seen, moves.then_some(Update { gains: 0, loses: NOBODY, step: side * answer.step }))
}

fn correct_joint<R: Rule>(
    rule: &R,
    scores: &[f64],
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
    mut update: impl FnMut(Update),
) -> Seen {
    let class = class as usize;
    let rival = best_except(scores, class);
    if rival == usize::MAX {
        return Seen::default();
    }
    let (own, other) = (scores[class], scores[rival]);
    let look = Look { margin: own - other, wins_ties: class > rival, weight, movers: 2.0 };
    let answer = rule.look(look, norm_sq);
    if answer.step != 0.0 {
        update(Update { gains: class as u32, loses: rival as u32, step: answer.step });
    }
    let wrong = own < other || (own == other && rival > class);
    Seen { wrong, mistakes: answer.mistake.into(), updates: (answer.step != 0.0).into() }
}

fn correct_each<R: Rule>(
    rule: &R,
    scores: &[f64],
    Example { class, weight }: Example,
    norm_sq: impl Fn() -> f64,
    mut update: impl FnMut(Update),
) -> Seen {
    let mut seen = Seen { wrong: decide(scores) != class as usize, ..Seen::default() };
    let mut known = None;
    for (output, &score) in scores.iter().enumerate() {
        let own = output == class as usize;
        let side = if own { 1.0 } else { -1.0 };
        let look = Look { margin: side * score, wins_ties: own, weight, movers: 1.0 };
        let answer = rule.look(look, || *known.get_or_insert_with(&norm_sq));
        seen.mistakes += u32::from(answer.mistake);
        if answer.step != 0.0 {
            seen.updates += 1;
            update(Update { gains: output as u32, loses: NOBODY, step: side * answer.step });
        }
    }
    seen
}
