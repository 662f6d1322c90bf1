//! How weights stand to the rows that they were learned from: margins and radius.

use super::run::Corrections;
use crate::certificate::range::{LARGE, SMALL};
use crate::control::{Watch, rows_between_questions};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::Weights;
use crate::multiclass::{Scheme, best_except};
use crate::online;
use crate::online::rule::Length;
use rayon::prelude::*;

/// How a linear model stands to its rows. With a bias, rows and weights have their extra coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// The least margin: `min y·s/‖w‖`; for joint classes the least lead of the true class, over `‖W‖`.
    /// Positive just if the model separates the rows.
    pub margin: f64,
    /// The largest norm of a row (for joint classes times √2, as each row stands for the difference of two).
    pub radius: f64,
}

/// The margins of all rows under some weights.
pub(super) struct RowMargins {
    /// A margin per row; with one class against the rest, a row's margins for all classes side by side.
    pub(super) margins: Vec<f64>,
    /// Margins per row.
    pub(super) width: usize,
    pub(super) radius: f64,
    /// What rounding may have moved a margin or the radius by.
    pub(super) off: f64,
    /// Whether nothing is so large or so small that rounding may have moved more.
    pub(super) is_ordinary: bool,
}

impl RowMargins {
    pub(super) fn geometry(&self) -> Geometry {
        let margin = self.margins.iter().copied().fold(f64::INFINITY, f64::min);
        // Less by what rounding may have added, unless that decides whether the rows are separated.
        let margin = if margin > self.off { margin - self.off } else { margin };
        Geometry { margin, radius: self.radius }
    }

    /// One pass over the rows, for weights that are returned or spoken of. It would show if a number on the
    /// way was not finite. `None` if the observer asks to stop.
    pub(super) fn of(
        weights: &Weights,
        batch: online::TrainingRows<'_>,
        scheme: Scheme,
        corrections: &Corrections,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>> {
        let extra = corrections.bias.coordinate();
        let norms: Vec<f64> = (0..weights.outputs()).map(|output| weights.norm_sq(output).sqrt()).collect();
        let whole = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
        let width = if scheme == Scheme::OneVsRest { weights.outputs() } else { 1 };
        let rows = batch.rows.rows();
        let mut margins = vec![0.0; rows * width];
        let longest = (0..rows).map(|i| batch.rows.row(i).len()).max().unwrap_or(0);
        let between = rows_between_questions(longest * weights.outputs());
        let measure = |scores: &mut Vec<f64>, (i, margins): (usize, &mut [f64])| {
            if i % between == 0 && !watch.goes_on() {
                return None;
            }
            let row = batch.rows.row(i);
            let norm = (row.norm_sq() + extra * extra).sqrt();
            let length = if corrections.length == Length::Unit && norm > 0.0 { norm } else { 1.0 };
            weights.score(row, scores);
            let class = batch.classes[i] as usize;
            match scheme {
                Scheme::Two => margins[0] = over(if class == 1 { scores[0] } else { -scores[0] }, norms[0]),
                Scheme::Joint => margins[0] = over(scores[class] - scores[best_except(scores, class)], whole),
                Scheme::OneVsRest => {
                    for (c, margin) in margins.iter_mut().enumerate() {
                        *margin = over(if c == class { scores[c] } else { -scores[c] }, norms[c]);
                    }
                }
            }
            margins.iter_mut().for_each(|m| *m /= length);
            let finite = norm.is_finite() && scores.iter().all(|score| score.is_finite());
            Some(if finite { norm / length } else { f64::NAN })
        };
        let each = margins.par_chunks_exact_mut(width.max(1)).enumerate().with_min_len(1024);
        // The largest is the same in any order, so the result does not depend on the threads.
        let larger = |a: f64, b: f64| Some(if (a + b).is_nan() { f64::NAN } else { a.max(b) });
        let measured = each.map_init(|| vec![0.0; weights.outputs()], measure);
        let Some(mut radius) = measured.try_reduce(|| 0.0, larger) else {
            return if whole.is_finite() { Ok(None) } else { Err(overflow()) };
        };
        if radius.is_nan() || !whole.is_finite() {
            return Err(overflow());
        }
        if scheme == Scheme::Joint {
            radius *= std::f64::consts::SQRT_2;
        }
        // A sum of so many products is off by half as many units in the last place of 1, times the lengths of
        // both vectors.
        let off = (longest + 64) as f64 * f64::EPSILON * radius;
        let ordinary = |x: f64| x == 0.0 || (SMALL..=LARGE).contains(&x);
        let is_ordinary = ordinary(radius) && norms.iter().copied().all(ordinary);
        Ok(Some(Self { margins, width, radius, off, is_ordinary }))
    }
}

fn over(score: f64, norm: f64) -> f64 {
    if norm > 0.0 { score / norm } else { 0.0 }
}

/// What is wrong with rows for which there are no finite weights: values whose squares overflow, or columns
/// that are next to nothing, whose weights do.
pub(super) fn overflow_of(data: &Dataset) -> Error {
    /// The squares of larger values overflow; a column that is smaller than one over this is next to nothing.
    const LARGEST: f64 = 1e150;
    let mut largest = vec![0.0f64; data.rows.columns()];
    for i in 0..data.len() {
        data.rows.row(i).for_each_nonzero(|j, x| largest[j as usize] = largest[j as usize].max(x.abs()));
    }
    let is_tiny = |x: &f64| *x > 0.0 && *x < 1.0 / LARGEST;
    if largest.iter().any(|x| *x > LARGEST) || !largest.iter().any(is_tiny) {
        return overflow();
    }
    Error::input("the values of a column are so small that its weight is no finite number")
        .hint("scale such columns up first, or leave them out")
}

pub(super) fn overflow() -> Error {
    Error::input("the values are so large that sums of their squares are no finite numbers")
        .hint("scale the columns down first")
}
