//! From binary to multiclass classification: schemes, the order of classes, and the class that scores
//! predict.
//!
//! Classes are numbered in the order of [`class_order`]; of two, class 1 is the positive one. Where scores
//! tie, the last class wins: for two classes that is "`+1` where `s ≥ 0`", so k = 2 is no special case.

mod leaders;

pub(crate) use leaders::Leaders;

use crate::data::Labels;
use serde::{Deserialize, Serialize};

/// How k classes are reduced to weight vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Scheme {
    /// Two classes and one weight vector: the sign of the score decides.
    #[cfg_attr(feature = "clap", value(skip))]
    Two,
    /// A weight vector for each class, trained jointly: on a mistake the true class gains what its best rival
    /// loses, or all classes share one loss (softmax).
    Joint,
    /// A weight vector for each class, each trained separately against all other classes.
    OneVsRest,
}

impl Scheme {
    /// The number of weight vectors for `classes` classes.
    pub fn outputs(self, classes: usize) -> usize {
        match self {
            Scheme::Two => 1,
            Scheme::Joint | Scheme::OneVsRest => classes,
        }
    }
}

/// The final order of labels: sorted, and of two the positive one (the larger, or the one named) last. Of `+` and
/// `-`, the plus is.
pub fn class_order(labels: &Labels, positive: Option<u32>) -> Vec<u32> {
    let mut order = labels.sorted();
    let plus = || labels.find("+").filter(|_| labels.len() == 2 && labels.find("-").is_some());
    if let Some(positive) = positive.or_else(plus) {
        order.retain(|&label| label != positive);
        order.push(positive);
    }
    order
}

/// The class that these scores (one score for two classes, or one for each class) predict.
///
/// ```
/// use novikoff::multiclass::decide;
/// assert_eq!(decide(&[-0.5]), 0);
/// assert_eq!(decide(&[0.0]), 1);
/// assert_eq!(decide(&[2.0, 3.0, 1.0]), 1);
/// assert_eq!(decide(&[2.0, 2.0]), 1);
/// ```
#[inline]
pub fn decide(scores: &[f64]) -> usize {
    match scores {
        [score] => usize::from(*score >= 0.0),
        scores => best_except(scores, usize::MAX),
    }
}

/// [`decide`] for scores in single precision.
pub(crate) fn decide_single(scores: &[f32]) -> usize {
    match scores {
        [score] => decide(&[f64::from(*score)]),
        scores => scores.iter().enumerate().fold(0, |best, (c, s)| if *s >= scores[best] { c } else { best }),
    }
}

/// The class with the largest score; the last of several.
#[inline]
pub(crate) fn best_of(scores: impl Iterator<Item = f64>) -> usize {
    best_among(scores.enumerate())
}

/// The class with the largest score other than `except`; the last of several.
#[inline]
pub fn best_except(scores: &[f64], except: usize) -> usize {
    best_among(scores.iter().copied().enumerate().filter(|(class, _)| *class != except))
}

#[inline]
fn best_among(scores: impl Iterator<Item = (usize, f64)>) -> usize {
    let (mut best, mut best_score) = (usize::MAX, f64::NEG_INFINITY);
    for (class, score) in scores {
        if score >= best_score || best == usize::MAX {
            (best, best_score) = (class, score);
        }
    }
    best
}

/// The `count` best classes with their scores, best first. With one score the classes have the scores `−s`
/// and `s`.
pub fn best(scores: &[f64], count: usize) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> = match scores {
        [score] => vec![(0, -score), (1, *score)],
        scores => scores.iter().copied().enumerate().collect(),
    };
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    ranked.truncate(count);
    ranked
}
