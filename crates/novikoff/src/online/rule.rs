//! How far a learner moves for one row.

use serde::{Deserialize, Serialize};

/// What a rule is told of a row before it decides.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// `y·s`, or for joint classes the true class's score less its best rival's.
    pub margin: f64,
    /// Whether the true class would win a tie: it is the positive one, or comes after its rival.
    pub wins_ties: bool,
    /// The weight of the row.
    pub weight: f64,
    /// How many weight vectors move at once: 1, or 2 for joint classes.
    pub movers: f64,
}

/// What a rule answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// How far to move along the row; 0 is not at all.
    pub step: f64,
    /// Whether the row was a mistake.
    pub mistake: bool,
}

/// A rule that turns a margin into a step. `norm_sq` gives `‖x‖²` (with the bias's coordinate) if it is
/// needed.
pub trait Rule: Clone + Send + Sync {
    /// What each of two joint classes learns, of what one weight vector for both would: their vectors are
    /// `∓share·w`.
    const SHARE: f64;

    /// A margin strictly above this is no mistake and needs no step.
    const CLEAR_ABOVE: f64;

    /// A margin strictly below this is a mistake, whose step is the same for all such margins.
    const SURE_BELOW: f64;

    /// The step for a row.
    fn look(&self, look: Look, norm_sq: impl FnOnce() -> f64) -> Move;
}

/// What a score of exactly zero is while learning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Tie {
    /// A mistake, whatever the label.
    #[default]
    Mistake,
    /// The positive class (`sign(0) = +1`): a mistake for the other one only.
    Positive,
    /// The negative class (`+1` only where `s > 0`): a mistake for the positive one only.
    Negative,
}

impl Tie {
    fn is_mistake(self, look: Look) -> bool {
        let lost = match self {
            Tie::Mistake => true,
            Tie::Positive => !look.wins_ties,
            Tie::Negative => look.wins_ties,
        };
        look.margin < 0.0 || (look.margin == 0.0 && lost)
    }
}

/// How long the vector is that an update adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// The row as it is.
    #[default]
    AsGiven,
    /// The row divided by its norm (with the bias's coordinate).
    Unit,
}

/// Rosenblatt's rule: on a mistake, `w ← w + η·c·y·x`, or `x/‖x‖` if normalised; c is the row's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perceptron {
    /// η. From zero, every positive constant gives the same predictions.
    pub step: f64,
    /// What is added on a mistake.
    pub length: Length,
    /// What a score of zero is.
    pub tie: Tie,
}

impl Default for Perceptron {
    fn default() -> Self {
        Self { step: 1.0, length: Length::AsGiven, tie: Tie::Mistake }
    }
}

impl Rule for Perceptron {
    const SHARE: f64 = 1.0;
    const CLEAR_ABOVE: f64 = 0.0;
    const SURE_BELOW: f64 = 0.0;

    #[inline(always)]
    fn look(&self, look: Look, norm_sq: impl FnOnce() -> f64) -> Move {
        if !self.tie.is_mistake(look) {
            return Move { step: 0.0, mistake: false };
        }
        let length = match self.length {
            Length::AsGiven => 1.0,
            Length::Unit => norm_sq().sqrt(),
        };
        let step = if length > 0.0 { self.step * look.weight / length } else { 0.0 };
        Move { step, mistake: true }
    }
}

/// How far a passive-aggressive learner goes to get a row right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggressiveness {
    /// PA: until the margin is 1, however far that is.
    Full,
    /// PA-I: at most C along the row.
    Capped(f64),
    /// PA-II: `loss/(‖x‖² + 1/2C)`.
    Damped(f64),
}

/// Passive-aggressive (Crammer et al. 2006): with loss `ℓ = max(0, 1 − y·s)`, the least move that removes it,
/// `τ = ℓ/‖x‖²`, capped or damped by C. A row's weight multiplies C. With joint classes two vectors move,
/// each by half of what one would, and C means what it means for two classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassiveAggressive {
    /// PA, PA-I or PA-II.
    pub aggressiveness: Aggressiveness,
}

/// A loss that is not worth a move. Moves that aim at a margin of exactly 1 miss it by rounding, or come
/// closer for ever: without this, a run would go on moving by less than anybody could see, and never say that
/// the rows are separated.
const ROUNDING: f64 = 1e-9;

impl Rule for PassiveAggressive {
    const SHARE: f64 = 0.5;
    const CLEAR_ABOVE: f64 = 1.0;
    const SURE_BELOW: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn look(&self, look: Look, norm_sq: impl FnOnce() -> f64) -> Move {
        let mistake = look.margin <= 0.0;
        let loss = 1.0 - look.margin;
        if loss <= ROUNDING {
            return Move { step: 0.0, mistake };
        }
        let norm_sq = norm_sq();
        let step = match self.aggressiveness {
            _ if norm_sq <= 0.0 => 0.0,
            Aggressiveness::Full => loss / norm_sq,
            Aggressiveness::Capped(c) => (loss / norm_sq).min(c * look.weight),
            Aggressiveness::Damped(c) => loss / (norm_sq + 0.5 / (c * look.weight)),
        };
        Move { step: step / look.movers, mistake }
    }
}
