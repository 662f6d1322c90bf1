//! The online learner of linear weights: predict a row, then learn from its label.
//!
//! On each row the rule ([`super::rule`]) turns the margin into a step τ, and `w ← w + τ·y·x`. What is
//! returned is the last weight vector (Rosenblatt 1958), the average of all of them, or all of them with
//! votes (Freund and Schapire 1999, "Large margin classification using the perceptron algorithm", figure 1).

use super::correct::{Example, Update, correct, correct_two};
use super::quantized::{ApproximateScore, QUANTIZED_FROM, QuantizedWeights};
use super::rule::Rule;
use crate::data::{Matrix, Row, Vector};
use crate::model::{Mistake, NOBODY, Weights};
use crate::multiclass::Scheme;
use crate::penalty::Bias;

/// Which hypothesis an online run returns: the conversion from online to batch learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hypothesis {
    /// The last weight vector.
    Last,
    /// The average of all weight vectors, each counted as often as the rounds that it survived.
    Average,
    /// The votes of all weight vectors, which are recorded as the mistakes that led to them.
    Votes,
}

/// The outcome of predicting one row and learning from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowOutcome {
    /// Whether the prediction was wrong.
    pub wrong: bool,
    /// Mistakes made; with one-vs-rest, one for each class that was mistaken.
    pub mistakes: u32,
    /// Updates made.
    pub updates: u32,
}

/// What resuming takes beside the weights to predict with.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearState {
    /// The last weights, if those to predict with are others.
    pub(crate) last: Option<Weights>,
    /// `Σ t·δ`, if the average is returned.
    pub(crate) delayed: Option<Weights>,
    /// The weights of the rows' own features, if they have such.
    pub(crate) own: Option<Vec<f64>>,
    /// The sum of the weights of the rows visited.
    pub(crate) rounds: f64,
}

/// A learner of linear weights by one rule.
///
/// The average is computed lazily. An update `δ` made after `t` rounds is part of all later weight vectors,
/// so after `T` rounds their sum is `Σ (T − t)·δ = T·w − Σ t·δ`: one more sparse addition per update, and one
/// dense pass at the end.
#[derive(Clone, Debug)]
pub struct LinearLearner<R> {
    rule: R,
    scheme: Scheme,
    bias: f64,
    weights: Weights,
    /// `Σ t·δ`, if the average is returned.
    delayed: Option<Weights>,
    /// The mistakes in order, if votes are returned.
    journal: Option<Vec<Mistake>>,
    rounds: f64,
    scores: Vec<f64>,
    /// For approximate scores, if the weights themselves are too large for the cache.
    quantized: Option<QuantizedWeights>,
    own: Option<OwnFeature>,
}

/// Freund and Schapire's Δ trick for inseparable rows (1999, theorem 2): row i gets an additional feature
/// that is Δ in that row and 0 in all others. With it any rows are separable; it has no effect on unseen
/// rows. The weights of these features are stored by row, outputs side by side.
#[derive(Clone, Debug)]
struct OwnFeature {
    value: f64,
    weights: Vec<f64>,
}

/// What an approximate score and its error bound settle about a row.
enum Screening {
    /// The row is no mistake and needs no update.
    NoUpdate,
    /// The row is a mistake, and the update is the same for the exact score.
    Mistake(f64),
    /// Neither is certain: the row has to be scored exactly.
    Uncertain,
}

impl OwnFeature {
    fn add_to(&self, scores: &mut [f64], id: u32) {
        let from = id as usize * scores.len();
        scores.iter_mut().zip(&self.weights[from..]).for_each(|(score, w)| *score += self.value * w);
    }
}

impl<R: Rule> LinearLearner<R> {
    /// A learner of zero weights.
    pub fn new(
        rule: R,
        scheme: Scheme,
        classes: usize,
        features: usize,
        bias: Bias,
        hypothesis: Hypothesis,
    ) -> Self {
        let outputs = scheme.outputs(classes);
        Self {
            rule,
            scheme,
            bias: bias.coordinate(),
            weights: Weights::zero(features, outputs),
            quantized: (scheme == Scheme::Two && features >= QUANTIZED_FROM)
                .then(|| QuantizedWeights::zero(features)),
            delayed: (hypothesis == Hypothesis::Average).then(|| Weights::zero(features, outputs)),
            journal: (hypothesis == Hypothesis::Votes).then(Vec::new),
            rounds: 0.0,
            scores: vec![0.0; outputs],
            own: None,
        }
    }

    /// Gives each of so many rows a feature of its own, with the value Δ (Freund and Schapire 1999, theorem
    /// 2). Rows are told apart by their ids.
    #[must_use]
    pub fn with_own_feature(mut self, value: f64, rows: usize) -> Self {
        self.own = Some(OwnFeature { value, weights: vec![0.0; rows * self.scores.len()] });
        // Quantized weights do not cover these features.
        self.quantized = None;
        self
    }

    /// Brings the quantized weights to the number of features, or drops them where they do not apply.
    fn resize_quantized(&mut self) {
        if self.scheme != Scheme::Two || self.weights.features() < QUANTIZED_FROM {
            self.quantized = None;
            return;
        }
        match &mut self.quantized {
            Some(quantized) => quantized.grow(self.weights.features()),
            None => self.quantized = Some(QuantizedWeights::of(&self.weights.values)),
        }
    }

    /// Whether [`Self::learn_two`] is all that learning a row takes.
    pub(super) fn is_plain(&self) -> bool {
        self.scheme == Scheme::Two && self.quantized.is_none() && self.own.is_none()
    }

    /// Predicts a row, then learns from its class. `id` is the row's number in the journal.
    #[inline(always)]
    pub fn learn(&mut self, row: Row<'_>, id: u32, class: u32, weight: f64) -> RowOutcome {
        if weight <= 0.0 {
            return RowOutcome::default();
        }
        if let Some(quantized) = &self.quantized {
            let screening = self.screen(quantized.score(row), class);
            return self.learn_screened(screening, row, id, class, weight);
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
        let outcome =
            correct(&rule, self.scheme, &scores, example, norm_sq, |update| self.update(row, id, update));
        self.scores = scores;
        self.rounds += weight;
        outcome
    }

    /// The same for two classes, scored exactly.
    #[inline(always)]
    pub(super) fn learn_two(&mut self, row: impl Vector, id: u32, class: u32, weight: f64) -> RowOutcome {
        if weight <= 0.0 {
            return RowOutcome::default();
        }
        let mut score = row.dot(&self.weights.values) + self.weights.bias[0];
        if let Some(own) = &self.own {
            own.add_to(std::slice::from_mut(&mut score), id);
        }
        self.learn_scored(row, id, class, weight, score)
    }

    /// The same for two classes, with the score given.
    #[inline(always)]
    fn learn_scored(&mut self, row: impl Vector, id: u32, class: u32, weight: f64, score: f64) -> RowOutcome {
        let (rule, bias) = (self.rule.clone(), self.bias);
        let norm_sq = || row.norm_sq() + bias * bias;
        let (outcome, update) = correct_two(&rule, score, Example { class, weight }, norm_sq);
        if let Some(update) = update {
            self.update(row, id, update);
        }
        self.rounds += weight;
        outcome
    }

    /// The same for two classes, after screening. The row is scored exactly where screening was uncertain.
    #[inline]
    fn learn_screened(
        &mut self,
        screening: Screening,
        row: Row<'_>,
        id: u32,
        class: u32,
        weight: f64,
    ) -> RowOutcome {
        match screening {
            Screening::NoUpdate => {
                self.rounds += weight;
                RowOutcome::default()
            }
            Screening::Mistake(score) => self.learn_scored(row, id, class, weight, score),
            Screening::Uncertain => self.learn_two(row, id, class, weight),
        }
    }

    /// Whether there are quantized weights.
    pub(super) fn is_quantized(&self) -> bool {
        self.quantized.is_some()
    }

    /// Decides about a row of two classes by its approximate score, where the error bound permits.
    #[inline]
    fn screen(&self, ApproximateScore { score, error_bound }: ApproximateScore, class: u32) -> Screening {
        let score = score + self.weights.bias[0];
        let margin = if class == 1 { score } else { -score };
        // Adding the bias rounds once more.
        let error_bound = error_bound + score.abs() * f64::EPSILON;
        if margin - error_bound > R::NO_STEP_ABOVE {
            Screening::NoUpdate
        } else if margin + error_bound < R::SAME_STEP_BELOW {
            Screening::Mistake(score)
        } else {
            Screening::Uncertain
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

    /// The scores that a row has now, computed as learning computes them.
    pub(super) fn scores_into(&self, row: Row<'_>, id: u32, scores: &mut Vec<f64>) {
        scores.clear();
        scores.resize(self.scores.len(), 0.0);
        match (self.scheme, &mut scores[..]) {
            (Scheme::Two, [score]) => *score = row.dot(&self.weights.values) + self.weights.bias[0],
            (_, scores) => self.weights.score(row, scores),
        }
        if let Some(own) = &self.own {
            own.add_to(scores, id);
        }
    }

    /// The squared length of a row, with the coordinate of the bias.
    pub(super) fn norm_sq(&self, row: Row<'_>) -> f64 {
        row.norm_sq() + self.bias * self.bias
    }

    /// The rule.
    pub(super) fn rule(&self) -> &R {
        &self.rule
    }

    /// The coordinate of the bias.
    pub(super) fn bias(&self) -> f64 {
        self.bias
    }

    /// Resumes a run over these rows that made these mistakes in so many rounds.
    pub(crate) fn replay(&mut self, rows: &Matrix, mistakes: &[Mistake], rounds: f64) {
        for &Mistake { row, gains, loses, step, round } in mistakes {
            self.rounds = round;
            self.update(rows.row(row as usize), row, Update { gains, loses, step });
        }
        self.rounds = rounds;
    }

    /// Rounds so far: the sum of the weights of the rows visited.
    pub fn rounds(&self) -> f64 {
        self.rounds
    }

    /// The last weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The mistakes in order, if votes are returned.
    pub fn journal(&self) -> Option<&[Mistake]> {
        self.journal.as_deref()
    }

    /// The same, where the learner is not needed any more.
    pub(crate) fn into_journal(self) -> Option<Vec<Mistake>> {
        self.journal
    }

    /// The weights to predict with: the average if that is returned, else the last.
    pub fn result(&self) -> Weights {
        self.average().unwrap_or_else(|| self.weights.clone())
    }

    /// The average of all weight vectors, if that is returned.
    fn average(&self) -> Option<Weights> {
        let delayed = self.delayed.as_ref()?;
        let rounds = self.rounds.max(f64::MIN_POSITIVE);
        let mut average = Weights::zero(self.weights.features(), self.weights.outputs());
        let last = self.weights.values.iter().chain(&self.weights.bias);
        let late = delayed.values.iter().chain(&delayed.bias);
        let places = average.values.iter_mut().chain(&mut average.bias);
        for (place, (w, late)) in places.zip(last.zip(late)) {
            // Weights that never moved are not written: their memory stays untouched.
            if *w != 0.0 || *late != 0.0 {
                *place = (rounds * *w - late) / rounds;
            }
        }
        Some(average)
    }

    /// The weights to predict with, and what resuming needs beside them.
    pub(crate) fn into_parts(self) -> (Weights, LinearState) {
        let average = self.average();
        let own = self.own.map(|own| own.weights);
        let (rounds, delayed) = (self.rounds, self.delayed);
        match average {
            Some(average) => (average, LinearState { last: Some(self.weights), delayed, own, rounds }),
            None => (self.weights, LinearState { last: None, delayed, own, rounds }),
        }
    }

    /// Resumes from last weights of these outputs and what their average is computed from. Where the average
    /// is returned and nothing is known of it, it begins now.
    pub(crate) fn resume(&mut self, scheme: Scheme, weights: Weights, state: LinearState) {
        self.scheme = scheme;
        self.scores = vec![0.0; weights.outputs()];
        self.rounds = state.rounds;
        if self.delayed.is_some() {
            let zero = || Weights::zero(weights.features(), weights.outputs());
            self.delayed = Some(state.delayed.unwrap_or_else(zero));
        }
        if let (Some(own), Some(weights)) = (&mut self.own, state.own) {
            own.weights = weights;
        }
        self.weights = weights;
        self.quantized = None;
        if self.own.is_none() {
            self.resize_quantized();
        }
    }

    /// Adds features, of weight zero, as a stream brings them.
    pub(crate) fn grow_features(&mut self, features: usize) {
        self.weights.grow(features);
        if let Some(delayed) = &mut self.delayed {
            delayed.grow(features);
        }
        self.resize_quantized();
    }

    /// Adds classes, up to so many. Two classes with one weight vector become joint ones with `−w` and `w`
    /// (times the rule's share), and learn from there on as if they had been joint from the start.
    pub(crate) fn grow_classes(&mut self, classes: usize) {
        let sources: Vec<_> = match self.scheme {
            Scheme::Two if classes <= 2 => return,
            Scheme::Two => (0..classes)
                .map(|c| [Some((0, -R::JOINT_SHARE)), Some((0, R::JOINT_SHARE))].get(c).copied().flatten())
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
        self.resize_quantized();
    }

    /// The current multiclass scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}
