//! Both ends of the multinomial logistic loss.

use super::dual_gradient::{Columns, Gradient};
use super::{CHUNK, Ends, Given, Objective, SHORTCUT};
use crate::certificate::proof::{Direction, classes};
use crate::certificate::range::Unproved;
use crate::certificate::rigorous::{Between, quotient_up, rough_score};
use crate::loss::LossName;
use crate::model::Weights;
use crate::penalty::Bias;
use crate::risk::{Joint, joint_balance, log_sum_exp, probabilities};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// A problem of several classes, and distributions over them, a row after the other.
struct Distributions<'a> {
    given: &'a Given<'a>,
    problem: Joint<'a>,
    q: Vec<f64>,
    /// The gradient of the loss by them.
    gradient: Weights,
    /// The share of a class that is too much, at most: taking it away, and giving it to those that have too
    /// little, is a move of twice that in every row.
    epsilon: f64,
}

/// The gradient in the coordinates of the penalty, and its biases if these are penalised.
struct JointGradient<'a> {
    values: &'a [f64],
    biases: &'a [f64],
}

impl Gradient for JointGradient<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn entries(&self, weights: Range<usize>, to: &mut Vec<f64>) {
        self.values[weights].clone_into(to);
    }

    fn biases(&self) -> &[f64] {
        self.biases
    }
}

impl Given<'_> {
    pub(super) fn jointly(
        &self,
        names: &[String],
        directions: &[Direction],
        dense: &[Cow<'_, [f64]>],
    ) -> Result<Ends, Unproved> {
        let k = names.len();
        if self.objective.loss != LossName::Logistic || self.objective.l1 != 0.0 {
            return Err("only the logistic loss, without an ℓ1 penalty, tells classes apart jointly".into());
        }
        if directions.len() != k || k < 2 {
            return Err(format!("{} weight vectors for {k} classes", directions.len()).into());
        }
        let classes = classes(names, self.data)?;
        if classes.contains(&u32::MAX) {
            return Err("a row has none of the labels".into());
        }
        let score = |i: usize| self.scores_and_loss(i, classes[i] as usize, directions, dense);
        let scored: Vec<(Vec<f64>, f64)> =
            (0..self.len()).into_par_iter().with_min_len(64).map(score).collect();
        let columns = Columns::Apart { scales: self.factors(), sums: Vec::new() };
        self.are_ordinary(&columns)?;
        let mut value = self.sum_between(|i| scored[i].1.max(0.0)).high;
        for (values, direction) in dense.iter().zip(directions) {
            value = (value + self.penalty(&columns, values, direction.bias)).next_up();
        }
        let q = probabilities(scored.into_iter().flat_map(|(s, _)| s).collect(), k);
        let lower_bound = self.jointly_below(&columns, &classes, q, k);
        Ok(Ends { value, lower_bound })
    }

    /// The scores of a row, about, and its loss, from above.
    fn scores_and_loss(
        &self,
        i: usize,
        class: usize,
        directions: &[Direction],
        dense: &[Cow<'_, [f64]>],
    ) -> (Vec<f64>, f64) {
        let (row, k) = (self.data.rows.row(i), directions.len());
        let all: Vec<Between> =
            dense.iter().zip(directions).map(|(w, d)| rough_score(row, w, d.bias)).collect();
        let middle = all.iter().map(|s| 0.5 * (s.low + s.high)).collect();
        let highest: Vec<f64> = all.iter().map(|s| s.high).collect();
        let largest = highest.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
        let loss = log_sum_exp(&highest) - all[class].low;
        (middle, loss * (1.0 + SHORTCUT) + (64 + k) as f64 * f64::EPSILON * (1.0 + largest))
    }

    /// What no weights fall below, by these distributions over classes, a row after the other.
    fn jointly_below(&self, columns: &Columns, classes: &[u32], q: Vec<f64>, k: usize) -> Option<f64> {
        if !q.iter().all(|q| q.is_finite()) {
            return None;
        }
        let Given { data, counts, total, .. } = *self;
        let Objective { lambda, bias, .. } = *self.objective;
        let problem = Joint { rows: &data.rows, classes, count: k, row_weights: counts, total, lambda, bias };
        let gradient = problem.loss_gradient(&q);
        let mut distributions = Distributions { given: self, problem, q, gradient, epsilon: 0.0 };
        if bias == Bias::Free {
            distributions.balance();
        }
        distributions.lower_bound(columns)
    }
}

impl Distributions<'_> {
    /// Gives each class as much as its rows count, but for a share of `epsilon`.
    fn balance(&mut self) {
        let (given, k, classes) = (self.given, self.problem.count, self.problem.classes);
        joint_balance(&self.problem, &mut self.q, &self.gradient.bias);
        let wanted: Vec<f64> =
            (0..k).map(|c| given.sum(|i| f64::from(u8::from(classes[i] as usize == c)))).collect();
        // A class without a row that counts is to have nothing, exactly.
        for (i, q) in self.q.chunks_exact_mut(k).enumerate() {
            for c in (0..k).filter(|&c| wanted[c] == 0.0 && c != classes[i] as usize) {
                q[classes[i] as usize] += std::mem::take(&mut q[c]);
            }
        }
        self.gradient = self.problem.loss_gradient(&self.q);
        for c in (0..k).filter(|&c| wanted[c] > 0.0) {
            let have = given.sum_between(|i| self.q[i * k + c]);
            let want = Between::about(wanted[c], wanted[c], 2 * given.len() + 64);
            let apart = (have.high - want.low).max(want.high - have.low).next_up();
            let share = if have.low > 0.0 { quotient_up(apart, have.low).min(1.0) } else { 1.0 };
            self.epsilon = self.epsilon.max(share);
        }
    }

    fn lower_bound(mut self, columns: &Columns) -> Option<f64> {
        let (given, k) = (self.given, self.problem.count);
        // Distributions add up to 1 but for a few roundings.
        let rounding = 16.0 * (k + 4) as f64 * f64::EPSILON;
        let conjugate = self.conjugates(rounding);
        let lengths = given.lengths(columns);
        let size = 2.0 * given.sum_between(|i| lengths[i]).high;
        let blocks = self.problem.blocks();
        let rounded = blocks.iter().map(Range::len).max().unwrap_or(0) + blocks.len();
        let off = given.off(size, rounded) + (2.0 * self.epsilon + rounding) * size;
        self.scale(columns);
        let penalised = given.objective.bias == Bias::Penalised;
        let biases = if penalised { &self.gradient.bias[..] } else { &[] };
        given.below(conjugate, &JointGradient { values: &self.gradient.values, biases }, off)
    }

    /// What the conjugates come to, from above: the negative entropies.
    fn conjugates(&self, rounding: f64) -> f64 {
        let (given, k) = (self.given, self.problem.count);
        let part = |q: f64| if q > 0.0 { q * q.ln() } else { 0.0 };
        let entropy = |i: usize| self.q[i * k..(i + 1) * k].iter().map(|q| part(*q)).sum::<f64>();
        let everything = given.sum_between(|_| 1.0).high;
        let size = everything * (1.0 + (k as f64).ln());
        // A smaller part of q costs at most its share of |q·ln q| ≤ 1/e, a larger one at most as much as is
        // added.
        let moved = everything * (k as f64 + 1.0) * (self.epsilon + rounding) * 2.0;
        Between::about(given.sum(entropy), size, 2 * given.len() + 64 * k).high + moved
    }

    /// Brings the gradient to the coordinates of the penalty.
    fn scale(&mut self, columns: &Columns) {
        let k = self.problem.count;
        let scale = |(chunk, values): (usize, &mut [f64])| {
            let scales = (chunk * CHUNK..).map(|j| columns.scale(j));
            for (values, scale) in values.chunks_exact_mut(k).zip(scales) {
                values.iter_mut().for_each(|v| *v *= scale);
            }
        };
        self.gradient.values.par_chunks_mut(CHUNK * k).enumerate().for_each(scale);
    }
}
