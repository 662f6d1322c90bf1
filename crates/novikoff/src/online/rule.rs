//! Update rules: how far a learner moves its weights for one row.
//!
//! A rule maps a row's margin `m = y·s` to a step τ, and the learner adds `τ·y·x` to the weights.
//!
//! ```text
//! perceptron          τ = η·c where m ≤ 0, else 0               Rosenblatt 1958; Novikoff 1962
//! passive-aggressive  ℓ = max(0, 1 − m);  PA:  τ = ℓ/‖x‖²        Crammer et al. 2006, section 3
//!                     PA-I:  τ = min(C, ℓ/‖x‖²);  PA-II:  τ = ℓ/(‖x‖² + 1/2C)
//! ```
//!
//! c is the row's weight; passive-aggressive rules multiply C by it.

use serde::{Deserialize, Serialize};

/// The margin of a row, and what else a rule's step depends on.
#[derive(Clone, Copy, Debug)]
pub struct RowMargin {
    /// `y·s`, or for joint classes the true class's score minus the best other class's.
    pub margin: f64,
    /// Whether the true class would win a tie: it is the positive one, or comes after its rival.
    pub wins_ties: bool,
    /// The weight of the row.
    pub weight: f64,
    /// How many weight vectors an update moves: 1, or 2 for joint classes.
    pub vectors: f64,
}

/// A rule's decision about a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// How far to move along the row; 0 for no update.
    pub step: f64,
    /// Whether the row was a mistake.
    pub mistake: bool,
}

/// A rule that turns a margin into a step. `norm_sq` computes `‖x‖²` (with the bias's coordinate) if it is
/// needed.
pub trait Rule: Clone + Send + Sync {
    /// The share of a two-class update that each of two joint classes gets: their weight vectors are
    /// `∓share·w`.
    const JOINT_SHARE: f64;

    /// A margin strictly above this is no mistake and needs no step.
    const NO_STEP_ABOVE: f64;

    /// A margin strictly below this is a mistake, and the step is the same for all such margins.
    const SAME_STEP_BELOW: f64;

    /// The step for a row.
    fn decide(&self, row: RowMargin, norm_sq: impl FnOnce() -> f64) -> Decision;
}

/// How a score of exactly zero counts during training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Tie {
    /// As a mistake, whatever the label.
    #[default]
    Mistake,
    /// As the positive class: a mistake for the negative class only.
    Positive,
    /// As the negative class: a mistake for the positive class only.
    Negative,
}

impl Tie {
    fn is_mistake(self, row: RowMargin) -> bool {
        let lost = match self {
            Tie::Mistake => true,
            Tie::Positive => !row.wins_ties,
            Tie::Negative => row.wins_ties,
        };
        row.margin < 0.0 || (row.margin == 0.0 && lost)
    }
}

/// Whether updates normalise rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// An update adds the row as it is.
    #[default]
    AsGiven,
    /// An update adds the row divided by its norm (with the bias's coordinate).
    Unit,
}

/// Rosenblatt's rule: on a mistake, `w ← w + η·c·y·x`, or `x/‖x‖` if normalised; c is the row's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perceptron {
    /// η. From zero weights, every positive constant gives the same predictions.
    pub step: f64,
    /// Whether updates normalise rows.
    pub length: Length,
    /// How a score of zero counts.
    pub tie: Tie,
}

impl Default for Perceptron {
    fn default() -> Self {
        Self { step: 1.0, length: Length::AsGiven, tie: Tie::Mistake }
    }
}

impl Rule for Perceptron {
    const JOINT_SHARE: f64 = 1.0;
    const NO_STEP_ABOVE: f64 = 0.0;
    const SAME_STEP_BELOW: f64 = 0.0;

    #[inline(always)]
    fn decide(&self, row: RowMargin, norm_sq: impl FnOnce() -> f64) -> Decision {
        if !self.tie.is_mistake(row) {
            return Decision { step: 0.0, mistake: false };
        }
        let length = match self.length {
            Length::AsGiven => 1.0,
            Length::Unit => norm_sq().sqrt(),
        };
        let step = if length > 0.0 { self.step * row.weight / length } else { 0.0 };
        Decision { step, mistake: true }
    }
}

/// The variant of the passive-aggressive algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggressiveness {
    /// PA: the step makes the margin 1, however long it is.
    Full,
    /// PA-I: the step is at most C.
    Capped(f64),
    /// PA-II: the step is `loss/(‖x‖² + 1/2C)`.
    Damped(f64),
}

/// The passive-aggressive rule (Crammer et al. 2006): with loss `ℓ = max(0, 1 − y·s)`, the smallest update
/// that removes the loss, `τ = ℓ/‖x‖²`, capped or damped by C. A row's weight multiplies C. With joint
/// classes an update moves two weight vectors, each by half of what one would move, and C keeps its meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassiveAggressive {
    /// PA, PA-I or PA-II.
    pub aggressiveness: Aggressiveness,
}

/// Smaller losses cause no update. Rounding keeps an update from reaching a margin of exactly 1; without this
/// tolerance a run would repeat ever smaller updates and never report that the rows are separated.
const LOSS_TOLERANCE: f64 = 1e-9;

impl Rule for PassiveAggressive {
    const JOINT_SHARE: f64 = 0.5;
    const NO_STEP_ABOVE: f64 = 1.0;
    const SAME_STEP_BELOW: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn decide(&self, row: RowMargin, norm_sq: impl FnOnce() -> f64) -> Decision {
        let mistake = row.margin <= 0.0;
        let loss = 1.0 - row.margin;
        if loss <= LOSS_TOLERANCE {
            return Decision { step: 0.0, mistake };
        }
        let norm_sq = norm_sq();
        let step = match self.aggressiveness {
            _ if norm_sq <= 0.0 => 0.0,
            Aggressiveness::Full => loss / norm_sq,
            Aggressiveness::Capped(c) => (loss / norm_sq).min(c * row.weight),
            Aggressiveness::Damped(c) => loss / (norm_sq + 0.5 / (c * row.weight)),
        };
        Decision { step: step / row.vectors, mistake }
    }
}
