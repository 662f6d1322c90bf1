//! The online learner: predict a row, see its label, learn from it.

use super::correct::{Example, Update, correct, correct_two};
use super::quantized::{ApproximateScore, QUANTIZED_FROM, QuantizedWeights};
use super::rule::Rule;
use crate::data::{Matrix, Row, Vector};
use crate::model::{Mistake, NOBODY, Weights};
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// What the learner keeps besides its last weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Last,
    /// The sum of all its weight vectors over time.
    Average,
    /// Its mistakes, so that all its weight vectors can vote.
    Mistakes,
}

/// What happened to one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The prediction was wrong.
    pub wrong: bool,
    /// Mistakes made (with one-vs-rest, one a class that was mistaken).
    pub mistakes: u32,
    /// Updates made.
    pub updates: u32,
}

/// A learner of one rule.
///
/// The average is kept lazily. With `t` the rounds before a row, an update `δ` made on it lives from then on,
/// so of `T` rounds the sum of all weight vectors is `Σ (T − t)·δ = T·w − Σ t·δ`: one more sparse addition
/// per update, and one dense pass at the end.
#[derive(Clone, Debug)]
pub struct Online<R> {
    rule: R,
    scheme: Scheme,
    bias: f64,
    weights: Weights,
    /// `Σ t·δ`, if the average is kept.
    delayed: Option<Weights>,
    /// Mistakes, if they are kept.
    journal: Option<Vec<Mistake>>,
    rounds: f64,
    scores: Vec<f64>,
    /// For approximate scores, if the weights themselves are too large for the cache.
    quantized: Option<QuantizedWeights>,
    /// A feature of every row's own, if there is one.
    own: Option<OwnFeature>,
}

/// A feature that is `value` in one row and 0 in all others, for each row, and its weights, outputs side by
/// side. It makes any rows separable, and rows that were never learned from do not have it.
#[derive(Clone, Debug)]
struct OwnFeature {
    value: f64,
    weights: Vec<f64>,
}

/// What an approximate score says of a row.
enum Verdict {
    /// Learning from the row would surely change nothing.
    Clear,
    /// The row is surely a mistake, and the update would be the same for its true score.
    Mistaken(f64),
    /// One has to see.
    Unsure,
}

impl OwnFeature {
    fn add_to(&self, scores: &mut [f64], id: u32) {
        let from = id as usize * scores.len();
        scores.iter_mut().zip(&self.weights[from..]).for_each(|(score, w)| *score += self.value * w);
    }
}

impl<R: Rule> Online<R> {
    /// A learner that knows nothing.
    pub fn new(rule: R, scheme: Scheme, classes: usize, features: usize, bias: Bias, keep: Keep) -> Self {
        let outputs = scheme.outputs(classes);
        Self {
            rule,
            scheme,
            bias: bias.coordinate(),
            weights: Weights::zero(features, outputs),
            quantized: (scheme == Scheme::Two && features >= QUANTIZED_FROM)
                .then(|| QuantizedWeights::zero(features)),
            delayed: (keep == Keep::Average).then(|| Weights::zero(features, outputs)),
            journal: (keep == Keep::Mistakes).then(Vec::new),
            rounds: 0.0,
            scores: vec![0.0; outputs],
            own: None,
        }
    }

    /// Gives each of so many rows, by their ids, a feature of its own.
    #[must_use]
    pub fn with_own_feature(mut self, value: f64, rows: usize) -> Self {
        self.own = Some(OwnFeature { value, weights: vec![0.0; rows * self.scores.len()] });
        // Quantized weights have none for it.
        self.quantized = None;
        self
    }

    /// Makes the quantized weights as many as the weights, if there should be any.
    fn fit_quantized(&mut self) {
        if self.scheme != Scheme::Two || self.weights.features() < QUANTIZED_FROM {
            self.quantized = None;
            return;
        }
        match &mut self.quantized {
            Some(quantized) => quantized.grow(self.weights.features()),
            None => self.quantized = Some(QuantizedWeights::of(&self.weights.values)),
        }
    }

    /// Whether all there is to learn from a row is in [`Self::learn_two`].
    pub(super) fn is_plain(&self) -> bool {
        self.scheme == Scheme::Two && self.quantized.is_none() && self.own.is_none()
    }

    /// Predicts a row, then learns from its class. `id` is what a journal will call the row.
    #[inline(always)]
    pub fn learn(&mut self, row: Row<'_>, id: u32, class: u32, weight: f64) -> Seen {
        if weight <= 0.0 {
            return Seen::default();
        }
        if let Some(quantized) = &self.quantized {
            let verdict = self.verdict(quantized.score(row), class);
            return self.learn_by(verdict, row, id, class, weight);
        }
        if self.scheme == Scheme::Two {
            return self.learn_two(row, id, class, weight);
        }
        let rule = self.rule.clone();
        let mut scores = std::mem::take(&mut self.scores);
        self.weights.score(row, &mut scores);
        if let Some(own) = &self.own {
            own.add_to(&mut scores, id);
        }
        let bias = self.bias;
        let norm_sq = || row.norm_sq() + bias * bias;
        let example = Example { class, weight };
        let seen =
            correct(&rule, self.scheme, &scores, example, norm_sq, |update| self.update(row, id, update));
        self.scores = scores;
        self.rounds += weight;
        seen
    }

    /// The same for two classes, scored exactly.
    #[inline(always)]
    pub(super) fn learn_two(&mut self, row: impl Vector, id: u32, class: u32, weight: f64) -> Seen {
        if weight <= 0.0 {
            return Seen::default();
        }
        let mut score = row.dot(&self.weights.values) + self.weights.bias[0];
        if let Some(own) = &self.own {
            own.add_to(std::slice::from_mut(&mut score), id);
        }
        self.learn_scored(row, id, class, weight, score)
    }

    /// The same for two classes, whose score is this one.
    #[inline(always)]
    fn learn_scored(&mut self, row: impl Vector, id: u32, class: u32, weight: f64, score: f64) -> Seen {
        let (rule, bias) = (self.rule.clone(), self.bias);
        let norm_sq = || row.norm_sq() + bias * bias;
        let (seen, update) = correct_two(&rule, score, Example { class, weight }, norm_sq);
        if let Some(update) = update {
            self.update(row, id, update);
        }
        self.rounds += weight;
        seen
    }

    /// The same for two classes, after an approximate score. The row is scored exactly where that leaves a
    /// doubt.
    #[inline]
    fn learn_by(&mut self, verdict: Verdict, row: Row<'_>, id: u32, class: u32, weight: f64) -> Seen {
        match verdict {
            Verdict::Clear => {
                self.rounds += weight;
                Seen::default()
            }
            Verdict::Mistaken(score) => self.learn_scored(row, id, class, weight, score),
            Verdict::Unsure => self.learn_two(row, id, class, weight),
        }
    }

    /// Whether there are quantized weights.
    pub(super) fn is_quantized(&self) -> bool {
        self.quantized.is_some()
    }

    /// What an approximate score says of a row of two classes.
    #[inline]
    fn verdict(&self, ApproximateScore { score, error_bound }: ApproximateScore, class: u32) -> Verdict {
        let score = score + self.weights.bias[0];
        let margin = if class == 1 { score } else { -score };
        // The sum with the bias is rounded once more.
        let error_bound = error_bound + score.abs() * f64::EPSILON;
        if margin - error_bound > R::CLEAR_ABOVE {
            Verdict::Clear
        } else if margin + error_bound < R::SURE_BELOW {
            Verdict::Mistaken(score)
        } else {
            Verdict::Unsure
        }
    }

    #[inline(always)]
    fn update(&mut self, row: impl Vector, id: u32, Update { gains, loses, step }: Update) {
        self.shift(row, id, gains, step);
        if loses != NOBODY {
            self.shift(row, id, loses, -step);
        }
        if let Some(journal) = &mut self.journal {
            journal.push(Mistake { row: id, gains, loses, step, round: self.rounds });
        }
    }

    /// Moves the weights of one output.
    #[inline(always)]
    fn shift(&mut self, row: impl Vector, id: u32, output: u32, step: f64) {
        if let Some(own) = &mut self.own {
            own.weights[id as usize * self.weights.outputs() + output as usize] += step * own.value;
        }
        self.weights.add(row, output as usize, step, self.bias);
        if let Some(quantized) = &mut self.quantized {
            quantized.update(row, &self.weights.values);
        }
        if let Some(delayed) = &mut self.delayed {
            delayed.add(row, output as usize, step * self.rounds, self.bias);
        }
    }

    /// Goes on from a run over these rows that made these mistakes in so many rounds.
    pub fn replay(&mut self, rows: &Matrix, mistakes: &[Mistake], rounds: f64) {
        for &Mistake { row, gains, loses, step, round } in mistakes {
            self.rounds = round;
            self.update(rows.row(row as usize), row, Update { gains, loses, step });
        }
        self.rounds = rounds;
    }

    /// Rounds so far: rows seen, by their weights.
    pub fn rounds(&self) -> f64 {
        self.rounds
    }

    /// The last weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Mistakes, if they are kept.
    pub fn journal(&self) -> Option<&[Mistake]> {
        self.journal.as_deref()
    }

    /// The weights to predict with: the average if it is kept, else the last.
    pub fn result(&self) -> Weights {
        let mut weights = self.weights.clone();
        self.average(&mut weights);
        weights
    }

    /// The same, when there is nothing more to learn.
    pub fn into_result(mut self) -> Weights {
        let mut weights = std::mem::replace(&mut self.weights, Weights::zero(0, 0));
        self.average(&mut weights);
        weights
    }

    /// Turns the last weights into the average, if that is kept.
    fn average(&self, weights: &mut Weights) {
        let Some(delayed) = &self.delayed else { return };
        let rounds = self.rounds.max(f64::MIN_POSITIVE);
        let late = delayed.values.iter().chain(&delayed.bias);
        for (w, late) in weights.values.iter_mut().chain(&mut weights.bias).zip(late) {
            // Weights that never moved are not written either.
            if *w != 0.0 || *late != 0.0 {
                *w = (rounds * *w - late) / rounds;
            }
        }
    }

    /// Makes room for features that a stream shows for the first time.
    pub fn grow_features(&mut self, features: usize) {
        self.weights.grow(features);
        if let Some(delayed) = &mut self.delayed {
            delayed.grow(features);
        }
        self.fit_quantized();
    }

    /// Goes on with `classes` classes. Two classes with one weight vector become joint ones with `−w` and `w`
    /// (times the rule's share): from there on they learn as if they had always been.
    pub fn grow_classes(&mut self, classes: usize) {
        let sources: Vec<_> = match self.scheme {
            Scheme::Two if classes <= 2 => return,
            Scheme::Two => (0..classes)
                .map(|c| [Some((0, -R::SHARE)), Some((0, R::SHARE))].get(c).copied().flatten())
                .collect(),
            Scheme::Joint | Scheme::OneVsRest => {
                (0..classes).map(|c| (c < self.scores.len()).then_some((c, 1.0))).collect()
            }
        };
        if self.scheme == Scheme::Two {
            self.scheme = Scheme::Joint;
        }
        self.weights = self.weights.rearranged(&sources);
        self.delayed = self.delayed.as_ref().map(|delayed| delayed.rearranged(&sources));
        self.scores = vec![0.0; classes];
        self.fit_quantized();
    }

    /// How classes are told apart now.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}
