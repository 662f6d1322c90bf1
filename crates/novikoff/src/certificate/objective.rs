//! How near the least objective weights are: what they come to, from above, and what no weights fall below,
//! from below.
//!
//! Both ends hold in spite of rounding. Above, every score is a pair of numbers that it lies between, and a
//! convex loss is largest at one of them. Below, any duals in the domain of the conjugate will do, whoever
//! made them. With a free bias they must add up to exactly zero, which stored numbers do not. But those of
//! the larger side, shortened by a share `ε` of next to nothing, do, and `ℓ*(0) = 0` for all losses here, so
//! the conjugate of shortened duals is no more than a share of it; what `ε` may cost is taken off the bound.
//! The same shortening takes duals into the domain of an ℓ1 penalty.

use super::deviation;
use super::proof::{Direction, Sides, classes};
use super::range::{self, LARGE, UNDERFLOW, Unproved};
use super::rigorous::{Between, length, quotient_down, quotient_up, rough_score};
use crate::data::{Dataset, Row, Scale, SizeAndSum};
use crate::loss::{
    Absolute, Exponential, Hinge, HingeAtZero, Logistic, Loss, LossName, Squared, SquaredHinge,
};
use crate::model::Weights;
use crate::penalty::{Bias, ElasticNet};
use crate::risk::{self, Joint, Problem, balance, joint_balance, log_sum_exp, probabilities};
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
    /// What hurts.
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

/// Rows or columns that one task looks at.
const CHUNK: usize = 4096;

/// Parts of a sum that one task joins; a power of two.
const GROUP: usize = 16;

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
        let counts = self.counts(data)?;
        range::rows(&data.rows)?;
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
        // Weights, pulls and scales, of every class.
        let by_column = weights.len().saturating_mul(4 * data.rows.columns());
        // Scores and distributions, where classes are learned jointly.
        let by_row = if weights.len() > 1 { weights.len().saturating_mul(2 * data.len()) } else { 0 };
        range::memory(
            &data.rows,
            by_column.saturating_add(by_row),
            weights.iter().map(|w| w.weights.len()).sum(),
        )?;
        let dense: Vec<Cow<'_, [f64]>> =
            weights.iter().map(|d| d.dense(data.rows.columns())).collect::<Result<_, _>>()?;
        if self.bias == Bias::None && weights.iter().any(|direction| direction.bias != 0.0) {
            return Err("there is a bias where there should be none".into());
        }
        let total = total(data);
        range::divisor("the sum of the row weights", total)?;
        let this = Given {
            objective: self,
            data,
            counts: &counts,
            total,
            within,
            off_scale: self.off_scale(data, total)?,
        };
        let ends = match &self.target {
            Target::Classes(names) => this.jointly(names, weights, &dense)?,
            target => {
                let [direction] = weights else {
                    return Err(format!("{} weight vectors where one is needed", weights.len()).into());
                };
                let targets = match target {
                    Target::Sides(sides) => every_row(sides.signs(data)?, &counts)?,
                    _ if !matches!(self.loss, LossName::Squared | LossName::Absolute) => {
                        return Err("numbers are predicted by the squared or the absolute loss".into());
                    }
                    _ => data.targets().map_err(|error| error.to_string())?,
                };
                range::ordinary("a number to predict", &targets)?;
                match self.loss {
                    LossName::Hinge => this.alone(Hinge, &targets, direction, &dense[0], duals),
                    LossName::SquaredHinge => this.alone(SquaredHinge, &targets, direction, &dense[0], duals),
                    LossName::Logistic => this.alone(Logistic, &targets, direction, &dense[0], duals),
                    LossName::Exponential => this.alone(Exponential, &targets, direction, &dense[0], duals),
                    LossName::Squared => this.alone(Squared, &targets, direction, &dense[0], duals),
                    LossName::Absolute => this.alone(Absolute, &targets, direction, &dense[0], duals),
                    LossName::HingeAtZero => this.alone(HingeAtZero, &targets, direction, &dense[0], duals),
                }?
            }
        };
        // No loss and no penalty is negative.
        let lower_bound = ends.lower_bound.map(|bound| bound.max(0.0));
        match ends.value.is_finite() {
            true => Ok(Ends { value: (ends.value + UNDERFLOW).next_up(), lower_bound }),
            false => Err(Unproved::Unsettled("the objective is too large".into())),
        }
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
            Scale::None | Scale::MaxAbs => Ok(0.0),
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

/// The sum of the row weights.
fn total(data: &Dataset) -> f64 {
    if data.row_weights.is_empty() { data.len() as f64 } else { data.row_weights.iter().sum() }
}

/// An objective and its rows.
struct Given<'a> {
    objective: &'a Objective,
    data: &'a Dataset,
    counts: &'a [f64],
    total: f64,
    within: Option<f64>,
    /// What the factors that bring columns to one size may be off by, relatively.
    off_scale: f64,
}

/// What duals pull at.
struct Pulled {
    columns: Columns,
    /// At the bias.
    bias: f64,
    /// How often a number was rounded at most.
    rounded: usize,
}

/// What each column was multiplied by, and what duals pull at its weight by.
enum Columns {
    /// One by one, the pull at the weight as it is; no scales if columns were left as they are.
    Apart { scales: Vec<f64>, pull: Vec<f64> },
    /// Both, the pull at the weight as the penalty sees it: found in one pass.
    Together(Vec<SizeAndSum>),
}

impl Columns {
    fn scale(&self, column: usize) -> f64 {
        match self {
            Columns::Apart { scales, .. } => scales.get(column).copied().unwrap_or(1.0),
            Columns::Together(both) => both[column].size,
        }
    }

    /// The scales of some columns.
    fn scales(&self, columns: Range<usize>, to: &mut Vec<f64>) {
        to.clear();
        match self {
            Columns::Apart { scales, .. } => {
                let end = columns.end.min(scales.len());
                to.extend_from_slice(&scales[columns.start.min(end)..end]);
                to.resize(columns.len(), 1.0);
            }
            Columns::Together(both) => to.extend(both[columns].iter().map(|column| column.size)),
        }
    }

    /// The pulls at some weights as the penalty sees them.
    fn scaled_pulls(&self, columns: Range<usize>, to: &mut Vec<f64>) {
        if let Columns::Together(both) = self {
            to.clear();
            to.extend(both[columns].iter().map(|column| column.sum));
            return;
        }
        self.scales(columns.clone(), to);
        if let Columns::Apart { pull, .. } = self {
            to.iter_mut().zip(&pull[columns]).for_each(|(scale, pull)| *scale *= pull);
        }
    }

    /// Whether there is a scale for every one of these.
    fn are_all_scaled(&self, columns: usize) -> bool {
        match self {
            Columns::Apart { scales, .. } => scales.len() == columns,
            Columns::Together(_) => true,
        }
    }
}

impl Given<'_> {
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

    /// What no weights fall below, by duals whose conjugates come to at most `conjugate`, which pull at each
    /// of `count` weights by what `pulls` writes of some of them, and at what counts besides by `extra`, give
    /// or take a vector of length `off`.
    fn below(
        &self,
        conjugate: f64,
        (count, pulls): (usize, impl Fn(Range<usize>, &mut Vec<f64>) + Sync),
        extra: &[f64],
        off: f64,
    ) -> Option<f64> {
        if !(conjugate.is_finite() && off.is_finite()) {
            return None;
        }
        let Objective { lambda, l1, .. } = *self.objective;
        let up = 1.0 + 64.0 * f64::EPSILON;
        let chunk =
            |chunk: usize, to: &mut Vec<f64>| pulls(chunk * CHUNK..count.min((chunk + 1) * CHUNK), to);
        let chunks = || (0..count.div_ceil(CHUNK)).into_par_iter();
        // The length of the parts' lengths, each from above.
        let long = |over: f64| {
            let rest = |v: f64| (v.abs() - over).max(0.0);
            // What is gone through twice is computed once.
            let part = |pulls: &mut Vec<f64>, at: usize| {
                chunk(at, pulls);
                pulls.iter_mut().for_each(|pull| *pull = rest(*pull));
                length(pulls).high
            };
            let mut parts: Vec<f64> = chunks().map_init(Vec::new, part).collect();
            parts.extend(
                extra
                    .chunks(CHUNK)
                    .map(|extra| length(&extra.iter().copied().map(rest).collect::<Vec<_>>()).high),
            );
            length(&parts).high
        };
        // What the scales are off by, the pulls are off by, and a little more.
        let off = match self.off_scale > 0.0 {
            true => (off + 2.0 * self.off_scale * (long(0.0) + off)) * up,
            false => off,
        } + UNDERFLOW;
        let bound = if lambda > 0.0 {
            // Thresholding moves no two vectors apart.
            let over = long(l1) + off;
            -conjugate - over * over / (2.0 * lambda) * up
        } else if l1 > 0.0 {
            let most = |values: &[f64]| values.iter().copied().map(f64::abs).fold(0.0, f64::max);
            let part = |pulls: &mut Vec<f64>, at: usize| {
                chunk(at, pulls);
                most(pulls)
            };
            let largest = chunks().map_init(Vec::new, part).reduce(|| 0.0, f64::max);
            let largest = (largest.max(most(extra)) + off) * up;
            let shorter = if largest <= l1 { 1.0 } else { quotient_down(l1, largest) };
            -shorter * conjugate
        } else {
            -conjugate - self.within? * ((long(0.0) + off) * up)
        };
        // A few roundings, of numbers that are no larger than these.
        let bound = bound - 16.0 * f64::EPSILON * (bound.abs() + conjugate.abs()) - UNDERFLOW;
        Some(bound).filter(|bound| bound.is_finite())
    }

    /// Both ends of a problem with one weight vector.
    fn alone<L: Loss>(
        &self,
        loss: L,
        targets: &[f64],
        direction: &Direction,
        weights: &[f64],
        duals: Option<&[f64]>,
    ) -> Result<Ends, Unproved> {
        let rows = &self.data.rows;
        let score = |i: usize| rough_score(rows.row(i), weights, direction.bias);
        let scores: Vec<Between> = (0..self.len()).into_par_iter().with_min_len(64).map(score).collect();
        let highest = |i: usize| {
            let (y, s) = (targets[i], scores[i]);
            let value = match self.objective.loss {
                LossName::Squared | LossName::Absolute => loss.value(y, s.low).max(loss.value(y, s.high)),
                // Of two sides: the farther on the own, the less, but for what shortcuts may be off by.
                _ => loss.value(y, if y > 0.0 { s.low } else { s.high }),
            };
            value * (1.0 + SHORTCUT) + 8.0 * f64::EPSILON * (1.0 + y.abs() + s.low.abs().max(s.high.abs()))
        };
        let losses = self.sum_between(highest).high;
        match duals {
            Some(duals) if duals.len() != self.len() => {
                return Err(format!("{} duals for {} rows", duals.len(), self.len()).into());
            }
            Some(duals) => range::ordinary("a dual", duals)?,
            None => {}
        }
        let slope = |i: usize| loss.slope(targets[i], 0.5 * (scores[i].low + scores[i].high));
        // Of the scores two ends are known. Whoever computes slopes anew, with more digits, may come to any
        // between those at the ends.
        let is_given = duals.is_some();
        let spread = |i: usize| match is_given || self.counts[i] == 0.0 {
            true => 0.0,
            false => (loss.slope(targets[i], scores[i].high) - loss.slope(targets[i], scores[i].low)).abs(),
        };
        let dual = |i: usize| match self.counts[i] > 0.0 {
            true => loss.nearest_dual(targets[i], duals.map_or_else(|| slope(i), |duals| duals[i])),
            false => 0.0,
        };
        let mut duals: Vec<f64> = (0..self.len()).into_par_iter().with_min_len(1024).map(dual).collect();
        let penalty = ElasticNet { l2: self.objective.lambda, l1: self.objective.l1 };
        let bias = self.objective.bias;
        let problem =
            Problem { rows, targets, row_weights: self.counts, total: self.total, loss, penalty, bias };
        // The share of the larger side's duals that is too much.
        let mut epsilon = 0.0;
        if bias == Bias::Free {
            balance(&problem, &mut duals);
            let up = self.sum_between(|i| duals[i].max(0.0));
            let down = self.sum_between(|i| (-duals[i]).max(0.0));
            let apart = (up.high - down.low).max(down.high - up.low);
            let larger = up.low.max(down.low);
            let apart = apart + 2.0 * self.sum_between(spread).high;
            if duals.iter().any(|u| *u != 0.0) {
                // All of it at most.
                epsilon = if larger > 0.0 { quotient_up(apart.next_up(), larger).min(1.0) } else { 1.0 };
            }
        }
        let Pulled { columns, bias: bias_pull, rounded } = self.pull(&duals);
        self.are_ordinary(&columns)?;
        let value = (losses + self.penalty(&columns, weights, direction.bias)).next_up();
        let lengths = self.lengths(&columns);
        let size = self.sum_between(|i| duals[i].abs() * lengths[i]).high;
        let conjugate = |i: usize| loss.conjugate(targets[i], duals[i]);
        let conjugates: Vec<f64> =
            (0..self.len()).into_par_iter().with_min_len(1024).map(conjugate).collect();
        let parts = self
            .sum_between(|i| 1.0 + (targets[i] * duals[i]).abs() + duals[i].powi(2) + conjugates[i].abs())
            .high;
        let conjugate =
            Between::about(self.sum(|i| conjugates[i]), parts, 2 * self.len() + 256).high + epsilon * parts;
        // The slope of a conjugate is the score.
        let conjugate =
            conjugate + self.sum_between(|i| spread(i) * scores[i].low.abs().max(scores[i].high.abs())).high;
        let off =
            self.off(size, rounded) + epsilon * size + self.sum_between(|i| spread(i) * lengths[i]).high;
        let extra = if bias == Bias::Penalised { &[bias_pull][..] } else { &[] };
        let pulls = (rows.columns(), |some: Range<usize>, to: &mut Vec<f64>| columns.scaled_pulls(some, to));
        Ok(Ends { value, lower_bound: self.below(conjugate, pulls, extra, off) })
    }

    /// `Σ (cᵢ/n)·uᵢ·xᵢ`, with the scales of the columns, and how often a number in it was rounded at most.
    fn pull(&self, duals: &[f64]) -> Pulled {
        let (rows, columns) = (&self.data.rows, self.data.rows.columns());
        let factor = |(count, dual): (&f64, &f64)| count / self.total * dual;
        let factors: Vec<f64> = self.counts.par_iter().zip(duals).with_min_len(CHUNK).map(factor).collect();
        let entries = rows.stored() / rows.rows().max(1);
        // As many rows as are worth a vector of their own.
        let few = (2 * columns / entries.max(1)).max(128);
        // Too few vectors for all cores: each takes some columns, of all rows.
        let by_column = 4 * few > self.len();
        let pull_by_column = || {
            rows.by_column(0.0, |i| {
                let factor = factors[i];
                move |_, sum: &mut f64, x| *sum += factor * x
            })
        };
        if self.objective.scale == Scale::MaxAbs && self.objective.scaled_columns.is_none() {
            let counts = |i: usize| self.data.weight(i) > 0.0;
            let (mut both, bias, rounded) = if by_column {
                let both = rows.by_column(SizeAndSum::default(), |i| {
                    let (counts, factor) = (counts(i), factors[i]);
                    move |_, column: &mut SizeAndSum, x| column.add(x, counts, factor)
                });
                (both, factors.iter().sum(), self.len())
            } else {
                let add = |i: usize, both: &mut [SizeAndSum]| {
                    let (counts, factor) = (counts(i), factors[i]);
                    rows.row(i).for_each_nonzero(|j, x| both[j as usize].add(x, counts, factor));
                    both[columns].add(1.0, true, factor);
                };
                let (mut both, rounded) = self.few_at_a_time(few, add, SizeAndSum::join);
                let bias = both.pop().unwrap_or_default().sum;
                (both, bias, rounded)
            };
            both.par_iter_mut().with_min_len(CHUNK).for_each(SizeAndSum::scale);
            return Pulled { columns: Columns::Together(both), bias, rounded };
        }
        let (pull, bias, rounded) = if by_column {
            (pull_by_column(), factors.iter().sum(), self.len())
        } else {
            let add = |i: usize, sums: &mut [f64]| {
                rows.row(i).add_to(&mut sums[..columns], factors[i]);
                sums[columns] += factors[i];
            };
            let (mut pull, rounded) = self.few_at_a_time(few, add, |sum: &mut f64, other| *sum += other);
            let bias = pull.pop().unwrap_or_default();
            (pull, bias, rounded)
        };
        Pulled { columns: Columns::Apart { scales: self.objective.factors(self.data), pull }, bias, rounded }
    }

    /// Something for every column, and for the bias behind them, out of rows that are added `few` at a time
    /// and then joined two by two, and how often a sum was rounded by that at most.
    fn few_at_a_time<C: Clone + Default + Send>(
        &self,
        few: usize,
        add: impl Fn(usize, &mut [C]) + Sync,
        join: impl Fn(&mut C, C) + Sync,
    ) -> (Vec<C>, usize) {
        let nothing = || vec![C::default(); self.data.rows.columns() + 1];
        let joined = |mut one: Vec<C>, other: Vec<C>| {
            one.iter_mut().zip(other).for_each(|(one, other)| join(one, other));
            one
        };
        let parts = self.len().div_ceil(few);
        let part = |part: usize| {
            let mut all = nothing();
            (part * few..self.len().min((part + 1) * few)).for_each(|i| add(i, &mut all));
            all
        };
        // Each task keeps but one of each number of parts, a power of two, that are joined already.
        let group = |group: usize| {
            let mut waiting: Vec<(u32, Vec<C>)> = Vec::new();
            for at in group * GROUP..parts.min((group + 1) * GROUP) {
                let (mut level, mut all) = (0, part(at));
                while let Some((_, one)) = waiting.pop_if(|(other, _)| *other == level) {
                    (level, all) = (level + 1, joined(one, all));
                }
                waiting.push((level, all));
            }
            waiting
                .into_iter()
                .map(|(_, all)| all)
                .rev()
                .reduce(|all, one| joined(one, all))
                .unwrap_or_else(nothing)
        };
        let mut groups: Vec<Vec<C>> = (0..parts.div_ceil(GROUP)).into_par_iter().map(group).collect();
        while groups.len() > 1 {
            let mut left = groups.into_iter();
            let pairs: Vec<(Vec<C>, Option<Vec<C>>)> =
                std::iter::from_fn(|| Some((left.next()?, left.next()))).collect();
            groups = pairs.into_par_iter().map(|(one, other)| other.into_iter().fold(one, joined)).collect();
        }
        (groups.pop().unwrap_or_else(nothing), few + parts.next_power_of_two().ilog2() as usize)
    }

    /// What rounding may have moved a combination of rows by, whose parts' lengths add up to `size`.
    fn off(&self, size: f64, rounded: usize) -> f64 {
        // The row weights' sum is rounded as often as there are row weights.
        let total = if self.data.row_weights.is_empty() { 0 } else { self.len() };
        Between::about(0.0, size, rounded + total + 64).high
    }

    /// Both ends of the multinomial logistic loss.
    fn jointly(
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
        let mut weights = Weights::zero(self.data.rows.columns(), k);
        for (c, values) in dense.iter().enumerate() {
            weights.values.iter_mut().skip(c).step_by(k).zip(&values[..]).for_each(|(place, w)| *place = *w);
            weights.bias[c] = directions[c].bias;
        }
        let scored: Vec<(Vec<f64>, f64)> = (0..self.len())
            .into_par_iter()
            .with_min_len(64)
            .map(|i| {
                let row = self.data.rows.row(i);
                let all: Vec<Between> =
                    dense.iter().zip(directions).map(|(w, d)| rough_score(row, w, d.bias)).collect();
                let middle = all.iter().map(|s| 0.5 * (s.low + s.high)).collect();
                let highest: Vec<f64> = all.iter().map(|s| s.high).collect();
                let largest = highest.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
                let loss = log_sum_exp(&highest) - all[classes[i] as usize].low;
                (middle, loss * (1.0 + SHORTCUT) + (64 + k) as f64 * f64::EPSILON * (1.0 + largest))
            })
            .collect();
        let columns = Columns::Apart { scales: self.objective.factors(self.data), pull: Vec::new() };
        self.are_ordinary(&columns)?;
        let mut value = self.sum_between(|i| scored[i].1.max(0.0)).high;
        for (values, direction) in dense.iter().zip(directions) {
            value = (value + self.penalty(&columns, values, direction.bias)).next_up();
        }
        let q = probabilities(scored.into_iter().flat_map(|(s, _)| s).collect(), k);
        let lower_bound = self.jointly_below(&columns, &classes, q, k);
        Ok(Ends { value, lower_bound })
    }

    /// What no weights fall below, by these distributions over classes, a row after the other.
    fn jointly_below(&self, columns: &Columns, classes: &[u32], mut q: Vec<f64>, k: usize) -> Option<f64> {
        let Objective { lambda, bias, .. } = *self.objective;
        let rows = &self.data.rows;
        let problem =
            Joint { rows, classes, count: k, row_weights: self.counts, total: self.total, lambda, bias };
        if !q.iter().all(|q| q.is_finite()) {
            return None;
        }
        let mut pull = problem.loss_gradient(&q);
        // The share of a class that is too much, at most: taking it away, and giving it to those that have
        // too little, is a move of twice that in every row.
        let mut epsilon = 0.0f64;
        if bias == Bias::Free {
            joint_balance(&problem, &mut q, &pull.bias);
            let wanted: Vec<f64> =
                (0..k).map(|c| self.sum(|i| f64::from(u8::from(classes[i] as usize == c)))).collect();
            // A class without a row that counts is to have nothing, exactly.
            for (i, q) in q.chunks_exact_mut(k).enumerate() {
                for c in (0..k).filter(|&c| wanted[c] == 0.0 && c != classes[i] as usize) {
                    q[classes[i] as usize] += std::mem::take(&mut q[c]);
                }
            }
            pull = problem.loss_gradient(&q);
            for c in (0..k).filter(|&c| wanted[c] > 0.0) {
                let have = self.sum_between(|i| q[i * k + c]);
                let want = Between::about(wanted[c], wanted[c], 2 * self.len() + 64);
                let apart = (have.high - want.low).max(want.high - have.low).next_up();
                epsilon =
                    epsilon.max(if have.low > 0.0 { quotient_up(apart, have.low).min(1.0) } else { 1.0 });
            }
        }
        // Distributions add up to 1 but for a few roundings.
        let rounding = 16.0 * (k + 4) as f64 * f64::EPSILON;
        let part = |q: f64| if q > 0.0 { q * q.ln() } else { 0.0 };
        let entropy = |i: usize| q[i * k..(i + 1) * k].iter().map(|q| part(*q)).sum::<f64>();
        let everything = self.sum_between(|_| 1.0).high;
        let size = everything * (1.0 + (k as f64).ln());
        // A smaller part of q costs at most its share of |q·ln q| ≤ 1/e, a larger one at most as much as is
        // added.
        let moved = everything * (k as f64 + 1.0) * (epsilon + rounding) * 2.0;
        let conjugate = Between::about(self.sum(entropy), size, 2 * self.len() + 64 * k).high + moved;
        let lengths = self.lengths(columns);
        let size = 2.0 * self.sum_between(|i| lengths[i]).high;
        let blocks = problem.blocks();
        let rounded = blocks.iter().map(Range::len).max().unwrap_or(0) + blocks.len();
        let off = self.off(size, rounded) + (2.0 * epsilon + rounding) * size;
        let extra = if bias == Bias::Penalised { &pull.bias[..] } else { &[] };
        let scale = |(chunk, values): (usize, &mut [f64])| {
            let columns = (chunk * CHUNK..).map(|j| columns.scale(j));
            values
                .chunks_exact_mut(k)
                .zip(columns)
                .for_each(|(values, scale)| values.iter_mut().for_each(|v| *v *= scale));
        };
        pull.values.par_chunks_mut(CHUNK * k).enumerate().for_each(scale);
        let pulls = |some: Range<usize>, to: &mut Vec<f64>| pull.values[some].clone_into(to);
        self.below(conjugate, (pull.values.len(), pulls), extra, off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::matrix::{Builder, Layout};
    use crate::data::{Labels, Report};
    use crate::features::Schema;
    use proptest::prelude::*;

    fn objective() -> Objective {
        let sides = Sides { positive: vec!["a".into()], negative: vec!["b".into()] };
        Objective {
            target: Target::Sides(sides),
            loss: LossName::Logistic,
            lambda: 0.1,
            l1: 0.0,
            bias: Bias::Free,
            class_weights: Vec::new(),
            scale: Scale::MaxAbs,
            scaled_columns: None,
        }
    }

    proptest! {
        /// Rows of one value each, of either sign or none, some of which do not count; columns that nobody
        /// has.
        #[test]
        fn scales_and_pull_are_what_they_are_row_by_row(
            rows in prop::collection::vec(
                (prop::collection::btree_set(0u32..60, 0..8), -3i8..4, 0u8..3),
                1..40,
            ),
        ) {
            let mut builder = Builder::new(Layout::Sparse);
            for (indices, value, _) in &rows {
                let indices: Vec<u32> = indices.iter().copied().collect();
                builder.push(&indices, &vec![f64::from(*value) / 3.0; indices.len()]);
            }
            let mut matrix = builder.finish();
            matrix.widen(60);
            prop_assert!(matrix.is_uniform());
            let data = Dataset {
                rows: matrix,
                labels: (0..rows.len() as u32).map(|i| i % 2).collect(),
                names: Labels::new(["a", "b"]),
                row_weights: rows.iter().map(|row| f64::from(row.2)).collect(),
                schema: Schema::one_based(),
                report: Report::default(),
            };
            let (objective, counts) = (objective(), data.row_weights.clone());
            let given = Given {
                objective: &objective,
                data: &data,
                counts: &counts,
                total: 2.0,
                within: None,
                off_scale: 0.0,
            };
            let duals: Vec<f64> = (0..rows.len()).map(|i| i as f64 - 5.5).collect();
            let Pulled { columns, .. } = given.pull(&duals);
            let scales = Scale::MaxAbs.factors(&data.rows, &data.row_weights);
            let (mut some, mut pulls) = (Vec::new(), Vec::new());
            columns.scales(7..31, &mut some);
            prop_assert_eq!(&some, &scales[7..31]);
            for (j, scale) in scales.iter().enumerate() {
                prop_assert_eq!(columns.scale(j), *scale);
                let mut pull = 0.0;
                for (i, (_, value, _)) in
                    rows.iter().enumerate().filter(|(_, row)| row.0.contains(&(j as u32)))
                {
                    pull += counts[i] / 2.0 * duals[i] * (f64::from(*value) / 3.0);
                }
                columns.scaled_pulls(j..j + 1, &mut pulls);
                prop_assert!((pulls[0] - pull * scale).abs() <= 1e-12 * (1.0 + pull.abs() * scale));
            }
        }
    }
}
