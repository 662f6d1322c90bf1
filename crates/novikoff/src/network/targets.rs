//! The training objective of a network: a loss of each row's scores and its class or target.

use crate::loss::{Loss, LossName, with_loss};
use crate::multiclass::{Scheme, decide_single};
use crate::penalty::Bias;

/// Derivatives are clipped to this, so that sums of their squares are finite in single precision.
const STEEPEST: f64 = 1e6;

/// The loss, the targets and the weights of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Objective {
    /// The loss.
    pub loss: LossName,
    /// The class or the target of each row.
    pub targets: Targets,
    /// The weight of each row; empty if all are 1.
    pub weights: Vec<f64>,
}

/// Classes or numbers to predict.
#[derive(Clone, Debug)]
pub(crate) enum Targets {
    /// A class for each row. Joint classes have the cross-entropy loss, `−log softmax`.
    Classes(Vec<u32>, Scheme),
    /// A number for each row.
    Numbers(ScaledTargets),
}

/// Numeric targets, standardized to mean 0 and standard deviation 1, the size of scores that the step sizes
/// are made for.
#[derive(Clone, Debug)]
pub(crate) struct ScaledTargets {
    values: Vec<f64>,
    /// The mean that was subtracted.
    pub middle: f64,
    /// The standard deviation by which they were divided.
    pub spread: f64,
}

impl ScaledTargets {
    /// Standardizes targets of rows with these weights (empty: all 1). Without a bias the mean is not
    /// subtracted, as the network could not restore it.
    pub(crate) fn new(targets: &[f64], weights: &[f64], bias: Bias) -> Self {
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

impl Objective {
    /// The weight of row `i`.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Replaces the scores of row `i` by the derivatives of its loss, times its weight and `share`. Returns 1
    /// if the row was predicted wrongly, or its squared error.
    pub(super) fn slopes(&self, i: usize, share: f64, scores: &mut [f32]) -> f64 {
        let times = share * self.weight(i);
        match &self.targets {
            Targets::Numbers(targets) => {
                let (y, s) = (targets.values[i], f64::from(scores[0]));
                scores[0] = scaled(times, slope(self.loss, y, s));
                (s - y) * (s - y)
            }
            Targets::Classes(classes, scheme) => {
                let class = classes[i] as usize;
                let wrong = decide_single(scores) != class;
                match scheme {
                    Scheme::Joint => softmax_slopes(class, times, scores),
                    Scheme::Two => self.side_slopes(|_| class == 1, times, scores),
                    Scheme::OneVsRest => self.side_slopes(|output| class == output, times, scores),
                }
                f64::from(u8::from(wrong))
            }
        }
    }

    /// The derivatives of a two-class loss for every output.
    fn side_slopes(&self, is_positive: impl Fn(usize) -> bool, times: f64, scores: &mut [f32]) {
        for (output, score) in scores.iter_mut().enumerate() {
            let y = if is_positive(output) { 1.0 } else { -1.0 };
            *score = scaled(times, slope(self.loss, y, f64::from(*score)));
        }
    }

    /// The loss of row `i` at these scores.
    #[cfg(test)]
    pub(super) fn value(&self, i: usize, scores: &[f64]) -> f64 {
        let of = |y: f64, s: f64| with_loss!(self.loss, loss => loss.value(y, s));
        let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
        match &self.targets {
            Targets::Numbers(targets) => of(targets.values[i], scores[0]),
            Targets::Classes(classes, Scheme::Two) => of(sign(classes[i] == 1), scores[0]),
            Targets::Classes(classes, Scheme::OneVsRest) => {
                scores.iter().enumerate().map(|(c, s)| of(sign(c == classes[i] as usize), *s)).sum()
            }
            Targets::Classes(classes, Scheme::Joint) => {
                let sum: f64 = scores.iter().map(|s| s.exp()).sum();
                sum.ln() - scores[classes[i] as usize]
            }
        }
    }
}

/// The derivatives of the cross-entropy: probability minus 1 for the true class, probability for the others.
fn softmax_slopes(class: usize, times: f64, scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = scores.iter().map(|s| f64::from(s - most).exp()).sum();
    for (c, score) in scores.iter_mut().enumerate() {
        let probability = f64::from(*score - most).exp() / sum;
        *score = scaled(times, probability - f64::from(u8::from(c == class)));
    }
}

fn scaled(times: f64, slope: f64) -> f32 {
    (times * slope.clamp(-STEEPEST, STEEPEST)) as f32
}

fn slope(loss: LossName, y: f64, s: f64) -> f64 {
    with_loss!(loss, loss => loss.slope(y, s))
}
