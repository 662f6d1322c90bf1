//! How many mistakes a perceptron can make at most, whatever the order of the rows.
//!
//! Novikoff: rows no longer than `R` that some unit vector `u` separates by `γ` cost at most `(R/γ)²`
//! mistakes, however often the perceptron goes over them. Freund and Schapire: for any `u` and `γ`, with `D²
//! = Σ max(0, γ − y<u, x>)²` over the sequence, at most `((R + D)/γ)²`; `T` passes are a sequence of `T`
//! times as many rows. If every row has a feature of its own, `Δ`, then the rows can be separated, and `(R² +
//! Δ²)(1 + D²/Δ²)/γ²` bounds the mistakes of any number of passes.
//!
//! All of it speaks of steps of one size from zero, and of rows with the bias's coordinate, 1, where there is
//! a bias.

use super::objective::Target;
use super::proof::{Direction, SignedRows, classes, length_of, over_length};
use super::range::{self, Unproved};
use super::rigorous::{Between, quotient_up, score};
use crate::data::Dataset;
use crate::penalty::Bias;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A perceptron, and what shows how few mistakes it makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MistakeProof {
    /// What is told apart: two sides, or classes jointly.
    pub target: Target,
    /// Whether rows have a coordinate of 1 for the bias: penalised, or none.
    pub bias: Bias,
    /// Whether every row is divided by its length.
    pub normalised: bool,
    /// What every row has as a feature of its own, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_feature: Option<f64>,
    /// How often it goes over the rows; any number if that is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u64>,
    /// γ.
    pub margin: f64,
    /// u, not necessarily of length 1; for classes one each.
    pub weights: Vec<Direction>,
}

impl MistakeProof {
    /// The bound that follows: the largest whole number that is not above it.
    pub fn bound(&self, data: &Dataset) -> Result<u64, Unproved> {
        range::divisor("the margin", self.margin)?;
        range::rows(&data.rows)?;
        if self.bias == Bias::Free {
            return Err("to a perceptron a bias is a coordinate of the rows: penalised, or none".into());
        }
        if let Some(own) = self.own_feature {
            range::divisor("the rows' own feature", own)?;
            if self.passes.is_some() {
                return Err(
                    "with features of their own, rows may come any number of times: no passes are stated"
                        .into(),
                );
            }
        }
        if self.passes == Some(0) {
            return Err("there is no pass".into());
        }
        if data.row_weights.iter().any(|weight| *weight != 0.0 && *weight != 1.0) {
            return Err("the theorem speaks of rows that count once".into());
        }
        let (margins, radius) = match &self.target {
            Target::Sides(sides) => self.of_two(&sides.signs(data)?, data)?,
            Target::Classes(names) => self.of_classes(names, data)?,
            Target::Numbers => return Err("a perceptron does not predict numbers".into()),
        };
        let short = |m: &f64| (self.margin - m).next_up().max(0.0);
        let sum: f64 = margins.iter().map(|m| short(m).powi(2)).sum();
        let short = if sum > 0.0 { up(sum, margins.len() + 8) } else { 0.0 };
        let bound = match (self.own_feature, self.passes) {
            (Some(own), _) => bound_with_own(up(radius * radius, 4), up(short, 4), own, self.margin),
            (None, None) if short > 0.0 => {
                let what = "a bound for each number of passes: some rows may be nearer than the margin, and \
                            each pass may mistake them";
                return Err(Unproved::no_more(what));
            }
            (None, passes) => bound_of(radius, up(short * passes.unwrap_or(1) as f64, 4).sqrt(), self.margin),
        };
        // Every step above is rounded a few times.
        let bound = up(bound, 32).floor();
        // Whole numbers up to here are stored without rounding.
        const MOST: f64 = 9_007_199_254_740_992.0;
        match bound < MOST {
            true => Ok(bound as u64),
            false => Err(Unproved::no_more(format!("a bound of more than {MOST:e} mistakes"))),
        }
    }

    fn of_two(&self, signs: &[f64], data: &Dataset) -> Result<(Vec<f64>, f64), Unproved> {
        let [direction] = &self.weights[..] else { return Err("two sides need one weight vector".into()) };
        let rows = SignedRows { rows: &data.rows, signs, bias: self.bias };
        let radius = if self.normalised { 1.0 } else { rows.radius().high };
        Ok((rows.margins(direction, self.normalised)?, radius))
    }

    /// A row stands for the difference of two classes: √2 times as long, and its margin is the true class's
    /// lead.
    fn of_classes(&self, names: &[String], data: &Dataset) -> Result<(Vec<f64>, f64), Unproved> {
        if names.len() < 2 || self.weights.len() != names.len() {
            return Err(format!("{} weight vectors for {} classes", self.weights.len(), names.len()).into());
        }
        let classes = classes(names, data)?;
        if self.bias == Bias::None && self.weights.iter().any(|w| w.bias != 0.0) {
            return Err("there is a bias where there should be none".into());
        }
        range::memory(
            &data.rows,
            names.len() * data.rows.columns(),
            self.weights.iter().map(|w| w.weights.len()).sum(),
        )?;
        let dense: Vec<Cow<'_, [f64]>> =
            self.weights.iter().map(|w| w.dense(data.rows.columns())).collect::<Result<_, _>>()?;
        let numbers: Vec<f64> =
            self.weights.iter().flat_map(|w| w.weights.iter().copied().chain([w.bias])).collect();
        let whole = length_of(&numbers, &numbers)?;
        let signs: Vec<f64> = (0..data.len())
            .map(|i| if data.weight(i) > 0.0 && classes[i] != u32::MAX { 1.0 } else { 0.0 })
            .collect();
        if signs.iter().all(|sign| *sign == 0.0) {
            return Err("no row has one of these labels".into());
        }
        let rows = SignedRows { rows: &data.rows, signs: &signs, bias: self.bias };
        let margin = |i: usize| {
            if signs[i] == 0.0 {
                return f64::INFINITY;
            }
            let row = data.rows.row(i);
            let scores: Vec<_> =
                dense.iter().zip(&self.weights).map(|(w, d)| score(row, w, d.bias)).collect();
            let low = lead(&scores, classes[i] as usize);
            over_length(if self.normalised { rows.over_row(low, row) } else { low }, whole)
        };
        let margins: Vec<f64> = (0..data.len()).into_par_iter().with_min_len(256).map(margin).collect();
        if margins.iter().any(|m| m.is_nan()) {
            return Err(range::unsettled());
        }
        let radius = if self.normalised { 1.0 } else { rows.radius().high };
        Ok((margins, up(radius * std::f64::consts::SQRT_2, 4)))
    }
}

/// How far the score of a class is above its best rival's, from below.
fn lead(scores: &[Between], class: usize) -> f64 {
    let rivals = (0..scores.len()).filter(|c| *c != class);
    let best = rivals.map(|c| scores[c].high).fold(f64::NEG_INFINITY, f64::max);
    (scores[class].low - best).next_down()
}

/// A little more than `x`, which was rounded so often.
fn up(x: f64, operations: usize) -> f64 {
    x * (1.0 + (operations + 4) as f64 * f64::EPSILON)
}

/// `((R + D)/γ)²`.
fn bound_of(radius: f64, off: f64, margin: f64) -> f64 {
    quotient_up(radius + off, margin).powi(2)
}

/// `(R² + Δ²)(1 + D²/Δ²)/γ²`.
fn bound_with_own(radius_sq: f64, off_sq: f64, own: f64, margin: f64) -> f64 {
    (radius_sq + own * own) * (1.0 + off_sq / (own * own)) / (margin * margin)
}

/// The least bound over all γ for a unit vector, given the margins of the rows, and the γ that has it.
#[derive(Clone, Debug)]
pub(crate) struct Margins {
    /// Increasing.
    sorted: Vec<f64>,
    /// Sums of the first so many, and of their squares.
    sums: Vec<(f64, f64)>,
    radius: f64,
}

impl Margins {
    /// Of rows no longer than `radius`.
    pub(crate) fn new(mut margins: Vec<f64>, radius: f64) -> Self {
        margins.sort_unstable_by(f64::total_cmp);
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for m in &margins {
            sum += m;
            squares += m * m;
            sums.push((sum, squares));
        }
        Self { sorted: margins, sums, radius }
    }

    /// `Σ max(0, γ − m)^power` for a power of 1 or 2: by the sums of all, which takes no time, and of which
    /// much may cancel.
    fn quick_shortfall(&self, margin: f64, power: i32) -> f64 {
        let count = self.sorted.partition_point(|m| *m < margin);
        let (sum, squares) = self.sums[count];
        let n = count as f64;
        match power {
            1 => (n * margin - sum).max(0.0),
            _ => (n * margin * margin - 2.0 * margin * sum + squares).max(0.0),
        }
    }

    /// The same, one by one.
    fn shortfall(&self, margin: f64, power: i32) -> f64 {
        self.sorted.iter().take_while(|m| **m < margin).map(|m| (margin - m).powi(power)).sum()
    }

    /// The least margin.
    pub(crate) fn least(&self) -> f64 {
        self.sorted.first().copied().unwrap_or(f64::INFINITY)
    }

    /// The length of the longest row.
    pub(crate) fn radius(&self) -> f64 {
        self.radius
    }

    /// The least of `bound(γ, Σ max(0, γ − m)^power)`, which falls up to some γ and rises from there, and
    /// that γ.
    pub(crate) fn least_of(&self, power: i32, bound: impl Fn(f64, f64) -> f64) -> (f64, f64) {
        let largest = match self.sorted.iter().fold(self.radius, |most, m| most.max(m.abs())) {
            // Rows that are all zero fall short of any γ alike; the square of a small one would be zero, too.
            0.0 => 1.0,
            largest => largest,
        };
        let (mut low, mut high) = ((largest * 1e-12).max(f64::MIN_POSITIVE).ln(), (largest * 4.0).ln());
        let quick = |margin: f64| bound(margin, self.quick_shortfall(margin, power));
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if quick(a.exp()) <= quick(b.exp()) { high = b } else { low = a }
        }
        let found = (0.5 * (low + high)).exp();
        // Where the rows are separated the bound has a corner at their least margin, which no search meets
        // exactly.
        let all = [found, self.least()].into_iter().filter(|m| *m > 0.0 && m.is_finite());
        let all = all.map(|margin| (bound(margin, self.shortfall(margin, power)), margin));
        all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, found))
    }

    /// The least bound on the mistakes of so many passes, and its γ; any number of passes if that is
    /// infinite.
    pub(crate) fn least_bound(&self, passes: f64, own_feature: Option<f64>) -> (f64, f64) {
        self.least_of(2, |margin, off| match own_feature {
            Some(own) => bound_with_own(self.radius * self.radius, off, own, margin),
            None if off == 0.0 => bound_of(self.radius, 0.0, margin),
            None => bound_of(self.radius, (passes * off).sqrt(), margin),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_bound_of_separated_rows_is_novikoff_s() {
        // Two rows of length 1 that are separated by 0.5 and 0.8: (1/0.5)².
        let (bound, margin) = Margins::new(vec![0.5, 0.8], 1.0).least_bound(f64::INFINITY, None);
        assert!((bound - 4.0).abs() < 1e-6 && (margin - 0.5).abs() < 1e-6);
    }
}
