//! What the scores of a network are to be: classes told apart, or numbers.

use crate::loss::{
    Absolute, Exponential, Hinge, HingeAtZero, Logistic, Loss, LossName, Squared, SquaredHinge,
};
use crate::multiclass::{Scheme, decide};
use crate::penalty::Bias;

/// Runs `$body` with `$loss` bound to the loss of this name.
macro_rules! by_name {
    ($name:expr, $loss:ident => $body:expr) => {
        match $name {
            LossName::Hinge => {
                let $loss = Hinge;
                $body
            }
            LossName::SquaredHinge => {
                let $loss = SquaredHinge;
                $body
            }
            LossName::Logistic => {
                let $loss = Logistic;
                $body
            }
            LossName::Exponential => {
                let $loss = Exponential;
                $body
            }
            LossName::Squared => {
                let $loss = Squared;
                $body
            }
            LossName::Absolute => {
                let $loss = Absolute;
                $body
            }
            LossName::HingeAtZero => {
                let $loss = HingeAtZero;
                $body
            }
        }
    };
}

/// No slope counts as more: sums of squares of such slopes are still numbers in single precision.
const STEEPEST: f64 = 1e6;

/// What is to be predicted for each row, and what hurts.
#[derive(Clone, Debug)]
pub struct Aim {
    /// What hurts.
    pub loss: LossName,
    /// What each row has.
    pub truth: Truth,
    /// How much each row counts; empty if every row counts once.
    pub weights: Vec<f64>,
}

/// What rows have.
#[derive(Clone, Debug)]
pub enum Truth {
    /// A class each. Classes that are learned jointly have the loss `−log softmax`.
    Classes(Vec<u32>, Scheme),
    /// A number each.
    Numbers(Targets),
}

/// Numbers to be predicted, brought to a mean of 0 and a standard deviation of 1: steps are as long as suits
/// scores of such size.
#[derive(Clone, Debug)]
pub struct Targets {
    values: Vec<f64>,
    /// What was taken from each.
    pub middle: f64,
    /// What each was then divided by.
    pub spread: f64,
}

impl Targets {
    /// Of rows that count as much as their weights (empty: once each). Without a bias there is nothing to
    /// take up a mean, and none is taken away.
    pub fn new(targets: &[f64], weights: &[f64], bias: Bias) -> Self {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..targets.len()).map(weight).sum();
        let mean = |of: &dyn Fn(f64) -> f64| {
            targets.iter().enumerate().map(|(i, &y)| weight(i) / total * of(y)).sum::<f64>()
        };
        let middle = if bias == Bias::None { 0.0 } else { mean(&|y| y) };
        let spread = mean(&|y| (y - middle) * (y - middle)).sqrt();
        let spread = if spread > 0.0 && spread.is_finite() { spread } else { 1.0 };
        Self { values: targets.iter().map(|y| (y - middle) / spread).collect(), middle, spread }
    }
}

impl Aim {
    /// The weight of row `i`.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Turns the scores of row `i` into the slopes of its loss, times its weight and `share`. Returns 1 if it
    /// was predicted wrongly, or the square of what its number was missed by.
    pub(super) fn slopes(&self, i: usize, share: f64, scores: &mut [f32]) -> f64 {
        let times = share * self.weight(i);
        let put = |place: &mut f32, slope: f64| *place = (times * slope.clamp(-STEEPEST, STEEPEST)) as f32;
        match &self.truth {
            Truth::Numbers(targets) => {
                let (y, s) = (targets.values[i], f64::from(scores[0]));
                put(&mut scores[0], slope(self.loss, y, s));
                (s - y) * (s - y)
            }
            Truth::Classes(classes, scheme) => {
                let class = classes[i] as usize;
                let wrong = decide_single(scores) != class;
                match scheme {
                    Scheme::Joint => {
                        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                        let sum: f64 = scores.iter().map(|s| f64::from(s - most).exp()).sum();
                        for (c, place) in scores.iter_mut().enumerate() {
                            let chance = f64::from(*place - most).exp() / sum;
                            put(place, chance - f64::from(u8::from(c == class)));
                        }
                    }
                    Scheme::Two | Scheme::OneVsRest => {
                        let positive =
                            |output: usize| class == if *scheme == Scheme::Two { 1 } else { output };
                        for (output, place) in scores.iter_mut().enumerate() {
                            let y = if positive(output) { 1.0 } else { -1.0 };
                            put(place, slope(self.loss, y, f64::from(*place)));
                        }
                    }
                }
                f64::from(u8::from(wrong))
            }
        }
    }

    /// The loss of row `i` at these scores.
    #[cfg(test)]
    pub(super) fn value(&self, i: usize, scores: &[f64]) -> f64 {
        let of = |y: f64, s: f64| by_name!(self.loss, loss => loss.value(y, s));
        let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
        match &self.truth {
            Truth::Numbers(targets) => of(targets.values[i], scores[0]),
            Truth::Classes(classes, Scheme::Two) => of(sign(classes[i] == 1), scores[0]),
            Truth::Classes(classes, Scheme::OneVsRest) => {
                scores.iter().enumerate().map(|(c, s)| of(sign(c == classes[i] as usize), *s)).sum()
            }
            Truth::Classes(classes, Scheme::Joint) => {
                let sum: f64 = scores.iter().map(|s| s.exp()).sum();
                sum.ln() - scores[classes[i] as usize]
            }
        }
    }
}

fn slope(loss: LossName, y: f64, s: f64) -> f64 {
    by_name!(loss, loss => loss.slope(y, s))
}

/// [`decide`] for scores in single precision.
fn decide_single(scores: &[f32]) -> usize {
    match scores {
        [score] => decide(&[f64::from(*score)]),
        scores => scores.iter().enumerate().fold(0, |best, (c, s)| if *s >= scores[best] { c } else { best }),
    }
}
