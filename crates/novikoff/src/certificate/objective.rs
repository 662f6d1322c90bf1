//! How near the least objective weights are: what they come to, from above, and what no weights fall below,
//! from below.
//!
//! Both ends hold in spite of rounding. Above, every score is a pair of numbers that it lies between, and a
//! convex loss is largest at one of them. Below, any duals in the domain of the conjugate will do, whoever
//! made them. With a free bias they must add up to exactly zero, which stored numbers do not. But those of
//! the larger side, shortened by a share `ε` of next to nothing, do, and `ℓ*(0) = 0` for all losses here, so
//! the conjugate of shortened duals is no more than a share of it; what `ε` may cost is taken off the bound.
//! The same shortening takes duals into the domain of an ℓ1 penalty.

mod dual_gradient;
mod joint;
mod single;

use super::deviation;
use super::proof::{Direction, Sides};
use super::range::{self, LARGE, UNDERFLOW, Unproved};
use super::rigorous::{Between, length, quotient_down};
use crate::data::{Dataset, Row, Scale};
use crate::loss::LossName;
use crate::penalty::Bias;
use crate::risk;
use dual_gradient::{Columns, Gradient};
use rayon::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// On which of two sides a row stands.
    Sides(Sides),
    /// Which of these labels a row has, by a score for each.
    Classes(Vec<String>),
    /// The number that the label spells.
    Numbers,
}

/// What was minimised: `(1/n) Σ cᵢ ℓ(yᵢ, <w, xᵢ> + b) + (λ/2)‖v‖² + l1·‖v‖₁`, where `vⱼ = mⱼ·wⱼ` for the size
/// `mⱼ` of a column.
///
/// `n` is the sum of the row weights; `cᵢ` is a row's weight times its class's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// What is to be predicted.
    pub target: Target,
    /// The loss.
    pub loss: LossName,
    /// λ.
    pub lambda: f64,
    /// The factor of `‖v‖₁`.
    pub l1: f64,
    /// Whether there is a bias, and whether it counts among the weights.
    pub bias: Bias,
    /// Labels that do not count 1, and how much they count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<(String, f64)>,
    /// How columns were brought to one size: `mⱼ` follows from the rows.
    #[serde(default, skip_serializing_if = "is_none", deserialize_with = "stated_scale")]
    pub scale: Scale,
    /// How many columns, the first ones, were; all if this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_columns: Option<u64>,
}

fn is_none(scale: &Scale) -> bool {
    *scale == Scale::None
}

/// One that is stated is some: there is one way to say that there is none, which is to leave it out.
fn stated_scale<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scale, D::Error> {
    match Scale::deserialize(deserializer)? {
        Scale::None => Err(D::Error::custom("a scale of none is left out")),
        scale => Ok(scale),
    }
}

/// Two numbers that the least objective lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// The objective at the weights is at most this.
    pub value: f64,
    /// No weights have less than this; `None` if nothing follows.
    pub lower_bound: Option<f64>,
}

/// Rows or columns of one task.
const CHUNK: usize = 4096;

/// What shortcuts in losses may be off by, of the loss: the logistic one has one that is good to 2e-12.
const SHORTCUT: f64 = 4e-12;

impl Objective {
    /// Both ends, for weights (one direction; for classes one each) and duals (the slopes at the weights if
    /// there are none). Without any penalty, the lower end is that of weights `v` no longer than `within`.
    pub fn ends(
        &self,
        data: &Dataset,
        weights: &[Direction],
        duals: Option<&[f64]>,
        within: Option<f64>,
    ) -> Result<Ends, Unproved> {
        self.ends_with(data, weights, duals, within, None)
    }

    /// The same, where the factors that bring columns to one size are known already: those of
    /// [`Dataset::factors`], or none if all of them are 1.
    pub(crate) fn ends_with(
        &self,
        data: &Dataset,
        weights: &[Direction],
        duals: Option<&[f64]>,
        within: Option<f64>,
        factors: Option<&[f64]>,
    ) -> Result<Ends, Unproved> {
        let counts = self.counts(data)?;
        range::rows(&data.rows)?;
        self.check_witness(weights, duals, within)?;
        check_memory(data, weights)?;
        let dense: Vec<Cow<'_, [f64]>> =
            weights.iter().map(|d| d.dense(data.rows.columns())).collect::<Result<_, _>>()?;
        if self.bias == Bias::None && weights.iter().any(|direction| direction.bias != 0.0) {
            return Err("there is a bias where there should be none".into());
        }
        let total = total(data);
        range::divisor("the sum of the row weights", total)?;
        let factors = factors.filter(|_| self.scale == Scale::Standard);
        let off_scale = self.off_scale(data, total)?;
        let given = Given { objective: self, data, counts: &counts, total, within, off_scale, factors };
        let ends = match (&self.target, weights) {
            (Target::Classes(names), _) => given.jointly(names, weights, &dense)?,
            (_, [direction]) => given.single(direction, &dense[0], duals)?,
            _ => return Err(format!("{} weight vectors where one is needed", weights.len()).into()),
        };
        // No loss and no penalty is negative.
        let lower_bound = ends.lower_bound.map(|bound| bound.max(0.0));
        match ends.value.is_finite() {
            true => Ok(Ends { value: (ends.value + UNDERFLOW).next_up(), lower_bound }),
            false => Err(Unproved::Unsettled("the objective is too large".into())),
        }
    }

    /// Numbers that are out of range, or have no meaning here, prove nothing.
    fn check_witness(
        &self,
        weights: &[Direction],
        duals: Option<&[f64]>,
        within: Option<f64>,
    ) -> Result<(), Unproved> {
        if let Some(within) = within {
            range::ordinary("the length that weights have at most", &[within])?;
            if within < 0.0 {
                return Err("the length that weights have at most is negative".into());
            }
        }
        if duals.is_some() && matches!(self.target, Target::Classes(_)) {
            return Err("duals are given where classes are learned jointly: these have none".into());
        }
        for direction in weights {
            range::ordinary("a weight", &direction.weights)?;
            range::ordinary("a bias", &[direction.bias])?;
        }
        Ok(())
    }

    /// What the factors that bring columns to one size may be off by, relatively.
    fn off_scale(&self, data: &Dataset, total: f64) -> Result<f64, Unproved> {
        if self
            .scaled_columns
            .is_some_and(|columns| self.scale == Scale::None || columns > data.rows.columns() as u64)
        {
            return Err("more columns are scaled than there are".into());
        }
        match self.scale {
            Scale::UnitVariance => deviation::off(data, &self.factors(data), total),
            // Powers of two are what they are, and so are largest values.
            Scale::None | Scale::MaxAbs | Scale::Standard => Ok(0.0),
        }
    }

    /// The factors that bring columns to one size; those that are not there are 1.
    fn factors(&self, data: &Dataset) -> Vec<f64> {
        let mut factors = self.scale.factors(&data.rows, &data.row_weights);
        factors.truncate(
            self.scaled_columns.map_or(usize::MAX, |columns| usize::try_from(columns).unwrap_or(usize::MAX)),
        );
        factors
    }

    /// How much each row counts, once it is sure that the numbers here mean something.
    fn counts(&self, data: &Dataset) -> Result<Vec<f64>, Unproved> {
        for strength in [self.lambda, self.l1].into_iter().filter(|x| *x != 0.0) {
            range::divisor("the strength of the penalty", strength)?;
        }
        for weight in data.row_weights.iter().filter(|x| **x != 0.0) {
            range::divisor("a row weight", *weight)?;
        }
        if data.is_empty() || data.labels.len() != data.len() {
            return Err("there are no rows, or they have no labels".into());
        }
        let mut by_label = vec![None; data.names.len()];
        for (name, weight) in &self.class_weights {
            let label = data.names.find(name).ok_or_else(|| format!("the data has no label {name:?}"))?;
            if *weight != 0.0 {
                range::divisor("the weight of a class", *weight)?;
            }
            if by_label[label as usize].replace(*weight).is_some() {
                return Err(format!("the label {name:?} is weighed twice").into());
            }
        }
        let count = |i: usize| data.weight(i) * by_label[data.labels[i] as usize].unwrap_or(1.0);
        Ok((0..data.len()).into_par_iter().with_min_len(CHUNK).map(count).collect())
    }
}

/// A small file must not ask for much memory.
fn check_memory(data: &Dataset, weights: &[Direction]) -> Result<(), Unproved> {
    // Weights, dual gradients and scales, of every class.
    let by_column = weights.len().saturating_mul(4 * data.rows.columns());
    // Scores and distributions, where classes are learned jointly.
    let by_row = if weights.len() > 1 { weights.len().saturating_mul(2 * data.len()) } else { 0 };
    let stored = weights.iter().map(|w| w.weights.len()).sum();
    range::memory(&data.rows, by_column.saturating_add(by_row), stored)
}

/// The sum of the row weights.
fn total(data: &Dataset) -> f64 {
    if data.row_weights.is_empty() { data.len() as f64 } else { data.row_weights.iter().sum() }
}

/// An objective and its rows.
struct Given<'a> {
    objective: &'a Objective,
    data: &'a Dataset<'a>,
    counts: &'a [f64],
    total: f64,
    within: Option<f64>,
    /// What the factors that bring columns to one size may be off by, relatively.
    off_scale: f64,
    /// These factors, where they are known already.
    factors: Option<&'a [f64]>,
}

impl Given<'_> {
    /// The factors that bring columns to one size; those that are not there are 1.
    fn factors(&self) -> Vec<f64> {
        self.factors.map_or_else(|| self.objective.factors(self.data), <[f64]>::to_vec)
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

    /// `Σ f(i)·cᵢ/n` over rows that count.
    fn sum(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        let part = |rows: Range<usize>| {
            rows.filter(|&i| self.counts[i] > 0.0).map(|i| self.counts[i] / self.total * f(i)).sum::<f64>()
        };
        risk::sum(self.len(), &part)
    }

    /// A sum of numbers that are not negative, from both sides. The sum of row weights is one, too.
    fn sum_between(&self, f: impl Fn(usize) -> f64 + Sync) -> Between {
        let sum = self.sum(f);
        Between::about(sum, sum, 2 * self.len() + 64)
    }

    /// The length of each row as the penalty sees it, with the bias's coordinate where that counts; or more,
    /// if anything.
    fn lengths(&self, columns: &Columns) -> Vec<f64> {
        let extra = if self.objective.bias == Bias::Penalised { 1.0 } else { 0.0 };
        // Divided by the largest of its column, nothing is larger than 1. The factor for that is a number
        // while the value is not larger than this one. Sums of squares would be smaller, but each takes a
        // look at a factor far away.
        const LARGE: f64 = 1e300;
        let rows = &self.data.rows;
        let none_is_larger = || match rows.is_uniform() {
            true => {
                (0..rows.rows()).into_par_iter().with_min_len(CHUNK).all(|i| rows.row(i).largest() <= LARGE)
            }
            false => (0..rows.columns())
                .into_par_iter()
                .with_min_len(CHUNK)
                .all(|j| columns.scale(j) > 1.0 / LARGE),
        };
        let at_most_one = self.objective.scale == Scale::MaxAbs
            && columns.are_all_scaled(rows.columns())
            && none_is_larger();
        let of = |row: Row<'_>| {
            let mut sum = extra + row.len() as f64;
            if !at_most_one {
                sum = extra;
                row.for_each_nonzero(|j, x| sum += (x * columns.scale(j as usize)).powi(2));
            }
            sum.sqrt() * (1.0 + 1e-9)
        };
        (0..self.len()).into_par_iter().with_min_len(64).map(|i| of(rows.row(i))).collect()
    }

    /// No column is so small that its factor is out of range; rows are in it, so no factor is too small.
    fn are_ordinary(&self, columns: &Columns) -> Result<(), Unproved> {
        let count = self.data.rows.columns();
        let chunk = |scales: &mut Vec<f64>, chunk: usize| {
            columns.scales(chunk * CHUNK..count.min((chunk + 1) * CHUNK), scales);
            scales.iter().fold(true, |all, scale| all & (*scale <= LARGE))
        };
        match self.objective.scale == Scale::None
            || (0..count.div_ceil(CHUNK)).into_par_iter().map_init(Vec::new, chunk).all(|all| all)
        {
            true => Ok(()),
            false => Err(Unproved::Unsettled("a column that is scaled has no large values".into())),
        }
    }

    /// The penalty of weights, from above.
    fn penalty(&self, columns: &Columns, weights: &[f64], bias: f64) -> f64 {
        let Objective { lambda, l1, .. } = *self.objective;
        let bias = if self.objective.bias == Bias::Penalised { bias } else { 0.0 };
        let of = |v: f64| 0.5 * lambda * v * v + l1 * v.abs();
        let part = |scales: &mut Vec<f64>, (chunk, weights): (usize, &[f64])| {
            columns.scales(chunk * CHUNK..chunk * CHUNK + weights.len(), scales);
            // Four by four, so that none need wait for another.
            let ((w_fours, w_rest), (fours, rest)) = (weights.as_chunks::<4>(), scales.as_chunks::<4>());
            let mut sums = [0.0; 4];
            for (w, scale) in w_fours.iter().zip(fours) {
                (0..4).for_each(|lane| sums[lane] += of(w[lane] / scale[lane]));
            }
            let rest = w_rest.iter().zip(rest).map(|(w, scale)| of(w / scale)).sum::<f64>();
            (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
        };
        let parts: Vec<f64> = weights.par_chunks(CHUNK).enumerate().map_init(Vec::new, part).collect();
        let sum = parts.iter().sum::<f64>() + of(bias);
        // As often is a part of the sum rounded: within its four, its chunk, and all.
        let high = Between::about(sum, sum, weights.len().min(CHUNK).div_ceil(4) + parts.len() + 64).high;
        if self.off_scale > 0.0 {
            high * (1.0 + self.off_scale) * (1.0 + self.off_scale) * (1.0 + 4.0 * f64::EPSILON)
        } else {
            high
        }
    }

    /// What no weights fall below, by duals whose conjugates come to at most `conjugate`, with this dual
    /// gradient, give or take a vector of length `off`.
    fn below<G: Gradient>(&self, conjugate: f64, gradient: &G, off: f64) -> Option<f64> {
        if !(conjugate.is_finite() && off.is_finite()) {
            return None;
        }
        let Objective { lambda, l1, .. } = *self.objective;
        let up = 1.0 + 64.0 * f64::EPSILON;
        // What the scales are off by, the gradient is off by, and a little more.
        let off = match self.off_scale > 0.0 {
            true => (off + 2.0 * self.off_scale * (length_beyond(gradient, 0.0) + off)) * up,
            false => off,
        } + UNDERFLOW;
        let bound = if lambda > 0.0 {
            // Thresholding moves no two vectors apart.
            let over = length_beyond(gradient, l1) + off;
            -conjugate - over * over / (2.0 * lambda) * up
        } else if l1 > 0.0 {
            let largest = (largest(gradient) + off) * up;
            let shorter = if largest <= l1 { 1.0 } else { quotient_down(l1, largest) };
            -shorter * conjugate
        } else {
            -conjugate - self.within? * ((length_beyond(gradient, 0.0) + off) * up)
        };
        // A few roundings, of numbers that are no larger than these.
        let bound = bound - 16.0 * f64::EPSILON * (bound.abs() + conjugate.abs()) - UNDERFLOW;
        Some(bound).filter(|bound| bound.is_finite())
    }

    /// What rounding may have moved a combination of rows by, whose parts' lengths add up to `size`.
    fn off(&self, size: f64, rounded: usize) -> f64 {
        // The row weights' sum is rounded as often as there are row weights.
        let total = if self.data.row_weights.is_empty() { 0 } else { self.len() };
        Between::about(0.0, size, rounded + total + 64).high
    }
}

/// The length of what is left of a gradient beyond a threshold, from above.
fn length_beyond<G: Gradient>(gradient: &G, threshold: f64) -> f64 {
    let beyond = |entries: &mut Vec<f64>| {
        entries.iter_mut().for_each(|entry| *entry = (entry.abs() - threshold).max(0.0));
        length(entries).high
    };
    let mut parts = gradient.chunks(beyond);
    parts.extend(gradient.biases().chunks(CHUNK).map(|biases| beyond(&mut biases.to_vec())));
    length(&parts).high
}

fn largest<G: Gradient>(gradient: &G) -> f64 {
    let most = |values: &[f64]| values.iter().copied().map(f64::abs).fold(0.0, f64::max);
    let largest = gradient.chunks(|entries| most(entries)).into_iter().fold(0.0, f64::max);
    largest.max(most(gradient.biases()))
}
