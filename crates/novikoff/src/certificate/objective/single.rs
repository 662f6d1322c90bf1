//! Both ends of a problem with one weight vector.

use super::dual_gradient::DualGradient;
use super::{CHUNK, Ends, Given, SHORTCUT, Target};
use crate::certificate::proof::Direction;
use crate::certificate::range::{self, Unproved};
use crate::certificate::rigorous::{Between, quotient_up, rough_score};
use crate::loss::{Loss, LossName, with_loss};
use crate::penalty::{Bias, ElasticNet};
use crate::risk::{Problem, balance};
use rayon::prelude::*;

/// Rows with their scores under a loss.
struct Scored<'a, L> {
    given: &'a Given<'a>,
    loss: L,
    targets: &'a [f64],
    scores: Vec<Between>,
    /// The duals of the certificate; the slopes at the scores if it has none.
    duals: Option<&'a [f64]>,
}

/// Duals in the domain of the conjugate, once those of the larger side are shortened by a share of at most
/// `epsilon`.
struct Duals {
    values: Vec<f64>,
    epsilon: f64,
}

impl Given<'_> {
    pub(super) fn single(
        &self,
        direction: &Direction,
        weights: &[f64],
        duals: Option<&[f64]>,
    ) -> Result<Ends, Unproved> {
        let loss = self.objective.loss;
        loss.check().map_err(|error| error.what().to_owned())?;
        if let Some((_, parameter)) = loss.parameter() {
            range::divisor("the parameter of the loss", parameter)?;
        }
        let targets = self.targets()?;
        range::ordinary("a number to predict", &targets)?;
        if let Some(duals) = duals {
            if duals.len() != self.len() {
                return Err(format!("{} duals for {} rows", duals.len(), self.len()).into());
            }
            range::ordinary("a dual", duals)?;
        }
        let score = |i: usize| rough_score(self.data.rows.row(i), weights, direction.bias);
        let scores: Vec<Between> = (0..self.len()).into_par_iter().with_min_len(64).map(score).collect();
        with_loss!(loss, loss => {
            let scored = Scored { given: self, loss, targets: &targets, scores, duals };
            scored.ends(weights, direction.bias)
        })
    }

    fn targets(&self) -> Result<Vec<f64>, Unproved> {
        match &self.objective.target {
            Target::Sides(sides) => Ok(every_row(sides.signs(self.data)?, self.counts)?),
            _ if !self.objective.loss.is_of_numbers() => {
                Err(format!("the {} loss does not predict numbers", self.objective.loss.name()).into())
            }
            _ => Ok(self.data.targets().map_err(|error| error.to_string())?),
        }
    }
}

impl<L: Loss> Scored<'_, L> {
    fn ends(&self, weights: &[f64], bias: f64) -> Result<Ends, Unproved> {
        let losses = self.given.sum_between(|i| self.highest_loss(i)).high;
        let duals = self.balanced_duals();
        let gradient = self.given.dual_gradient(&duals.values);
        self.given.are_ordinary(&gradient.columns)?;
        let value = (losses + self.given.penalty(&gradient.columns, weights, bias)).next_up();
        Ok(Ends { value, lower_bound: self.lower_bound(&duals, &gradient) })
    }

    /// The loss of a row, from above.
    fn highest_loss(&self, i: usize) -> f64 {
        let (y, s) = (self.targets[i], self.scores[i]);
        let value = match self.given.objective.loss {
            LossName::Squared | LossName::Absolute | LossName::Huber(_) | LossName::Quantile(_) => {
                self.loss.value(y, s.low).max(self.loss.value(y, s.high))
            }
            // Of two sides: the farther on the own, the less, but for what shortcuts may be off by.
            _ => self.loss.value(y, if y > 0.0 { s.low } else { s.high }),
        };
        value * (1.0 + SHORTCUT) + 8.0 * f64::EPSILON * (1.0 + y.abs() + s.low.abs().max(s.high.abs()))
    }

    /// Of the scores two ends are known. Whoever computes slopes anew, with more digits, may come to any
    /// between those at the ends.
    fn spread(&self, i: usize) -> f64 {
        if self.duals.is_some() || self.given.counts[i] == 0.0 {
            return 0.0;
        }
        let slope = |s: f64| self.loss.slope(self.targets[i], s);
        (slope(self.scores[i].high) - slope(self.scores[i].low)).abs()
    }

    /// The dual of a row, in the domain of the conjugate.
    fn dual(&self, i: usize) -> f64 {
        if self.given.counts[i] <= 0.0 {
            return 0.0;
        }
        let slope = || self.loss.slope(self.targets[i], 0.5 * (self.scores[i].low + self.scores[i].high));
        self.loss.nearest_dual(self.targets[i], self.duals.map_or_else(slope, |duals| duals[i]))
    }

    /// All duals. With a free bias those of the two signs weigh the same but for a share of `epsilon`.
    fn balanced_duals(&self) -> Duals {
        let Given { objective, data, counts, total, .. } = *self.given;
        let rows = 0..self.given.len();
        let mut duals: Vec<f64> = rows.into_par_iter().with_min_len(1024).map(|i| self.dual(i)).collect();
        if objective.bias != Bias::Free {
            return Duals { values: duals, epsilon: 0.0 };
        }
        let problem = Problem {
            rows: &data.rows,
            targets: self.targets,
            row_weights: counts,
            total,
            loss: self.loss,
            penalty: ElasticNet { l2: objective.lambda, l1: objective.l1 },
            bias: objective.bias,
        };
        balance(&problem, &mut duals);
        let up = self.given.sum_between(|i| duals[i].max(0.0));
        let down = self.given.sum_between(|i| (-duals[i]).max(0.0));
        let apart = (up.high - down.low).max(down.high - up.low);
        let larger = up.low.max(down.low);
        let apart = apart + 2.0 * self.given.sum_between(|i| self.spread(i)).high;
        let epsilon = if duals.iter().all(|u| *u == 0.0) {
            0.0
        } else if larger > 0.0 {
            quotient_up(apart.next_up(), larger).min(1.0)
        } else {
            // All of it at most.
            1.0
        };
        Duals { values: duals, epsilon }
    }

    fn lower_bound(&self, duals: &Duals, gradient: &DualGradient) -> Option<f64> {
        let conjugate = self.conjugates(duals);
        let lengths = self.given.lengths(&gradient.columns);
        let size = self.given.sum_between(|i| duals.values[i].abs() * lengths[i]).high;
        let off = self.given.off(size, gradient.rounded)
            + duals.epsilon * size
            + self.given.sum_between(|i| self.spread(i) * lengths[i]).high;
        self.given.below(conjugate, gradient, off)
    }

    /// What the conjugates of shortened duals come to, from above.
    fn conjugates(&self, duals: &Duals) -> f64 {
        let Duals { values: duals, epsilon } = duals;
        let conjugate = |i: usize| self.loss.conjugate(self.targets[i], duals[i]);
        let conjugates: Vec<f64> =
            (0..duals.len()).into_par_iter().with_min_len(1024).map(conjugate).collect();
        let size =
            |i: usize| 1.0 + (self.targets[i] * duals[i]).abs() + duals[i].powi(2) + conjugates[i].abs();
        let size = self.given.sum_between(size).high;
        let sum = self.given.sum(|i| conjugates[i]);
        let shortened = Between::about(sum, size, 2 * duals.len() + 256).high + epsilon * size;
        // The slope of a conjugate is the score.
        let score = |i: usize| self.scores[i].low.abs().max(self.scores[i].high.abs());
        shortened + self.given.sum_between(|i| self.spread(i) * score(i)).high
    }
}

/// Rows that count must stand on one of the sides: the mean is over all of them.
fn every_row(mut signs: Vec<f64>, counts: &[f64]) -> Result<Vec<f64>, String> {
    let stands = |sign: f64, count: f64| sign != 0.0 || count <= 0.0;
    let all = signs.par_chunks(CHUNK).zip(counts.par_chunks(CHUNK));
    if !all.all(|(signs, counts)| signs.iter().zip(counts).all(|(sign, count)| stands(*sign, *count))) {
        let row = signs.iter().zip(counts).position(|(sign, count)| !stands(*sign, *count)).unwrap_or(0);
        return Err(format!("row {row} stands on neither side"));
    }
    signs.par_iter_mut().with_min_len(CHUNK).for_each(|sign| *sign = if *sign == 0.0 { 1.0 } else { *sign });
    Ok(signs)
}
