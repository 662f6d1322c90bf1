//! How weights stand to the rows that they were learned from: margin, radius, and the mistake bound that follows.

use super::{Learner, Settings};
use crate::error::{Error, Result};
use crate::model::Weights;
use crate::multiclass::Scheme;
use crate::online;
use crate::online::rule::Length;
use rayon::prelude::*;

/// How a linear model stands to its rows. With a bias, rows and weights have their extra coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// The least margin: `min y·s/‖w‖`; for joint classes the least lead of the true class, over `‖W‖`. Positive just if the
    /// model separates the rows.
    pub margin: f64,
    /// The largest norm of a row (for joint classes times √2, as each row stands for the difference of two).
    pub radius: f64,
    /// `(R/margin)²`: no more mistakes than this, however often the perceptron goes over the rows. `None` if the
    /// margin is not positive, or the theorem does not speak of this learner.
    pub mistake_bound: Option<f64>,
}

/// One more pass over the rows, for weights that are returned or spoken of. It would show if a number on the way was not
/// finite.
pub(super) fn geometry(weights: &Weights, batch: online::Batch<'_>, scheme: Scheme, settings: &Settings) -> Result<Geometry> {
    let extra = settings.bias.coordinate();
    let norms: Vec<f64> = (0..weights.outputs()).map(|output| weights.norm_sq(output).sqrt()).collect();
    let whole = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
    let stand = |scores: &mut Vec<f64>, i: usize| {
        let row = batch.rows.row(i);
        let norm = (row.norm_sq() + extra * extra).sqrt();
        let length = if settings.length == Length::Unit && norm > 0.0 { norm } else { 1.0 };
        weights.score(row, scores);
        let finite = norm.is_finite() && scores.iter().all(|score| score.is_finite());
        let least = least_margin(scores, batch.classes[i] as usize, scheme, &norms, whole) / length;
        if finite { (least, norm / length) } else { (f64::NAN, f64::NAN) }
    };
    // The least and the largest are the same in any order, so the result does not depend on the threads.
    let (margin, mut radius) =
        (0..batch.rows.rows()).into_par_iter().with_min_len(1024).map_init(|| vec![0.0; weights.outputs()], stand).reduce(
            || (f64::INFINITY, 0.0),
            |a, b| if (a.0 + b.0).is_nan() { (f64::NAN, f64::NAN) } else { (a.0.min(b.0), a.1.max(b.1)) },
        );
    if margin.is_nan() || !whole.is_finite() {
        return Err(overflow());
    }
    if scheme == Scheme::Joint {
        radius *= std::f64::consts::SQRT_2;
    }
    // The theorem speaks of a perceptron with steps of one size, from zero, whose every update is a mistake.
    let speaks = settings.learner != Learner::PassiveAggressive && batch.weights.is_empty() && scheme != Scheme::OneVsRest;
    let mistake_bound = (speaks && margin > 0.0).then(|| (radius / margin).powi(2));
    Ok(Geometry { margin, radius, mistake_bound })
}

pub(super) fn least_margin(scores: &[f64], class: usize, scheme: Scheme, norms: &[f64], whole: f64) -> f64 {
    let over = |score: f64, norm: f64| if norm > 0.0 { score / norm } else { 0.0 };
    match scheme {
        Scheme::Two => over(if class == 1 { scores[0] } else { -scores[0] }, norms[0]),
        Scheme::Joint => over(scores[class] - scores[crate::multiclass::best_except(scores, class)], whole),
        Scheme::OneVsRest => {
            let each = scores.iter().zip(norms).enumerate();
            each.map(|(c, (s, n))| over(if c == class { *s } else { -s }, *n)).fold(f64::INFINITY, f64::min)
        }
    }
}

pub(super) fn overflow() -> Error {
    Error::input("the values are so large that sums of their squares are no finite numbers").hint("scale the columns down first")
}
