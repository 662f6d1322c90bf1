//! Claims about the margin of rows, and what makes sure of them.
//!
//! A claim names rows by the labels on its two sides, and brings its witness along: weights, or multipliers
//! of rows. Whoever has the rows can check it by going over them once, with bounds that hold in spite of
//! rounding ([`super::rigorous`]) or without rounding at all (`crate::exact`). Nothing here knows how a
//! witness was found.

use super::numbers;
use super::range::{self, SMALL, Unproved};
use super::rigorous::{Between, length, quotient_down, quotient_up, score};
use crate::data::{Dataset, Matrix, Row};
use crate::exact::Dyadic;
use crate::model::Weights;
use crate::penalty::Bias;
use num_bigint::BigInt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Which labels stand on which side; rows with other labels do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sides {
    /// The labels that ask for a positive score.
    pub positive: Vec<String>,
    /// The labels that ask for a negative one.
    pub negative: Vec<String>,
}

impl Sides {
    /// +1, −1 or 0 for each row, or what is wrong with these sides. Rows of weight 0 stand on neither.
    pub fn signs(&self, data: &Dataset) -> Result<Vec<f64>, String> {
        if self.positive.is_empty() || self.negative.is_empty() {
            return Err("a side has no labels".into());
        }
        let mut by_label = vec![0.0; data.names.len()];
        for (names, sign) in [(&self.positive, 1.0), (&self.negative, -1.0)] {
            for name in names {
                let label = data.names.find(name).ok_or_else(|| format!("the data has no label {name:?}"))?;
                if by_label[label as usize] != 0.0 {
                    return Err(format!("the label {name:?} is named twice"));
                }
                by_label[label as usize] = sign;
            }
        }
        if data.labels.len() != data.len() {
            return Err("the rows have no labels".into());
        }
        let sign =
            |(i, &label): (usize, &u32)| if data.weight(i) > 0.0 { by_label[label as usize] } else { 0.0 };
        let signs: Vec<f64> = data.labels.par_iter().enumerate().with_min_len(CHUNK).map(sign).collect();
        if signs.iter().all(|sign| *sign == 0.0) {
            Err("no row stands on either side".into())
        } else {
            Ok(signs)
        }
    }
}

/// The class of each row by the order of these labels, `u32::MAX` for rows with others; or what is wrong with
/// the labels.
pub(super) fn classes(names: &[String], data: &Dataset) -> Result<Vec<u32>, String> {
    let mut by_label = vec![u32::MAX; data.names.len()];
    for (class, name) in (0..).zip(names) {
        let label = data.names.find(name).ok_or_else(|| format!("the data has no label {name:?}"))?;
        if by_label[label as usize] != u32::MAX {
            return Err(format!("the label {name:?} is named twice"));
        }
        by_label[label as usize] = class;
    }
    Ok(data.labels.iter().map(|&label| by_label[label as usize]).collect())
}

/// Weights of one task.
const CHUNK: usize = 1 << 14;

/// Weights of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// The columns, from 0, increasing; all others weigh nothing. Left out: there is a weight for each.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "numbers::optional")]
    pub columns: Option<Vec<u32>>,
    /// The weight of each.
    #[serde(with = "numbers")]
    pub weights: Vec<f64>,
    /// The bias; zero where there is none.
    pub bias: f64,
}

impl Direction {
    /// Of a weight per column.
    pub fn new(weights: &[f64], bias: f64) -> Self {
        let count = weights
            .par_chunks(CHUNK)
            .map(|weights| weights.iter().filter(|w| **w != 0.0).count())
            .sum::<usize>();
        // A column and its weight take 12 bytes, a weight alone takes 8.
        if weights.len() > numbers::FEW && 8 * weights.len() <= 12 * count {
            return Self { columns: None, weights: weights.to_vec(), bias };
        }
        let (columns, weights) = (0..).zip(weights).filter(|(_, w)| **w != 0.0).unzip();
        Self { columns: Some(columns), weights, bias }
    }

    /// Of one output of a model.
    pub(crate) fn of_output(weights: &Weights, output: usize) -> Self {
        if weights.outputs() == 1 {
            return Self::new(&weights.values, weights.bias[output]);
        }
        let values: Vec<f64> =
            weights.values.iter().skip(output).step_by(weights.outputs()).copied().collect();
        Self::new(&values, weights.bias[output])
    }

    /// Columns with their weights.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let columns = self.columns.as_ref();
        let all = if columns.is_none() { self.weights.len() } else { 0 };
        columns.into_iter().flatten().map(|&j| j as usize).chain(0..all).zip(self.weights.iter().copied())
    }

    /// Whether it is that of one output of a model.
    pub(super) fn is_of_output(&self, weights: &Weights, output: usize) -> bool {
        let k = weights.outputs();
        let own = |at: usize| weights.values.get(at * k + output);
        let same = match &self.columns {
            None => {
                // Without a way out at the first that differs, several are compared at a time.
                let same = |(part, all): (&[f64], &[f64])| {
                    part.iter()
                        .zip(all.chunks_exact(k))
                        .fold(true, |same, (w, all)| same & (*w == all[output]))
                };
                self.weights.len() == weights.features()
                    && self.weights.par_chunks(CHUNK).zip(weights.values.par_chunks(CHUNK * k)).all(same)
            }
            Some(columns) => {
                // Every weight here is one there, and none is left over.
                let one_there = |(&j, w): (&u32, &f64)| *w != 0.0 && own(j as usize) == Some(w);
                let count =
                    |values: &[f64]| values.iter().skip(output).step_by(k).filter(|w| **w != 0.0).count();
                columns.len() == self.weights.len()
                    && columns.is_sorted_by(|a, b| a < b)
                    && columns.par_iter().zip(&self.weights).with_min_len(CHUNK).all(one_there)
                    && weights.values.par_chunks(CHUNK * k).map(count).sum::<usize>() == self.weights.len()
            }
        };
        same && self.bias == weights.bias[output]
    }

    /// A weight for each of `columns` columns, or what is wrong.
    pub(super) fn dense(&self, columns: usize) -> Result<Cow<'_, [f64]>, String> {
        if !self.bias.is_finite()
            || !self.weights.par_chunks(CHUNK).all(|part| numbers::first_not_finite(part).is_none())
        {
            return Err("a weight is not a finite number".into());
        }
        let Some(own) = &self.columns else {
            return match self.weights.len() == columns {
                true => Ok(Cow::Borrowed(&self.weights)),
                false => Err(format!("{} weights for {columns} columns", self.weights.len())),
            };
        };
        if own.len() != self.weights.len() {
            return Err(format!("{} columns for {} weights", own.len(), self.weights.len()));
        }
        let cut = |at: usize| own.partition_point(|&j| (j as usize) < at);
        // Columns that increase within each part, and lie in it, increase throughout.
        let part = |(chunk, part): (usize, &mut [f64])| {
            let first = chunk * CHUNK;
            let span = cut(first)..cut(first + part.len());
            match (own.get(span.clone()), self.weights.get(span)) {
                (Some(columns), Some(weights)) => scatter(columns, weights, first, part),
                _ => false,
            }
        };
        let mut dense = vec![0.0; columns];
        match cut(columns) == own.len() && dense.par_chunks_mut(CHUNK).enumerate().all(part) {
            true => Ok(Cow::Owned(dense)),
            false => Err(format!("the weights' columns do not increase below {columns}")),
        }
    }
}

/// Puts weights into the places of their columns, from `first` on; whether these increase and lie in `part`.
fn scatter(columns: &[u32], weights: &[f64], first: usize, part: &mut [f64]) -> bool {
    let mut next = 0;
    columns.iter().zip(weights).all(|(&j, &w)| {
        let at = (j as usize).wrapping_sub(first);
        let fits = at >= next && at < part.len();
        if fits {
            (part[at], next) = (w, at + 1);
        }
        fits
    })
}

/// Rows, from 0, and how much of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// The rows, increasing.
    #[serde(with = "numbers")]
    pub rows: Vec<u32>,
    /// Positive numbers; they need not add up to 1.
    #[serde(with = "numbers")]
    pub multipliers: Vec<f64>,
}

/// Rows, from 0, and a positive whole number for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactCombination {
    /// The rows, increasing.
    #[serde(with = "numbers")]
    pub rows: Vec<u32>,
    /// Positive whole numbers, in decimal digits.
    pub multipliers: Vec<String>,
}

/// More digits than any multiplier that can be computed has: reading them must not take for ever.
const MOST_DIGITS: usize = 50_000;

/// Checks that rows are named once, exist, count, and have a multiplier each.
fn named_once(rows: &[u32], multipliers: usize, signs: &[f64]) -> Result<(), String> {
    if rows.is_empty() || rows.len() != multipliers {
        return Err(format!("{} rows and {multipliers} multipliers", rows.len()));
    }
    if !rows.is_sorted_by(|a, b| a < b) {
        return Err("the rows do not increase".into());
    }
    match rows.iter().find(|&&i| signs.get(i as usize).is_none_or(|sign| *sign == 0.0)) {
        Some(row) => Err(format!("row {row} does not exist or stands on neither side")),
        None => Ok(()),
    }
}

/// A score over the length of the weights, from below.
pub(super) fn over_length(low: f64, length: Between) -> f64 {
    quotient_down(low, if low > 0.0 { length.high } else { length.low })
}

/// The length of weights that are all of ordinary size, and not all zero.
pub(super) fn length_of(all: &[f64], counted: &[f64]) -> Result<Between, Unproved> {
    range::ordinary("a weight", all)?;
    if counted.iter().all(|w| *w == 0.0) {
        return Err("the weights are all zero: they have no direction".into());
    }
    let length = length(counted);
    // Not zero, but perhaps too small for its lower end to be anything else.
    range::divisor("the length of the weights", length.low.max(f64::MIN_POSITIVE))?;
    Ok(length)
}

/// Rows with their signs, and what the bias means for the margin.
#[derive(Clone, Copy)]
pub(crate) struct SignedRows<'a> {
    /// The rows.
    pub rows: &'a Matrix<'a>,
    /// +1, −1, or 0 for rows that do not count.
    pub signs: &'a [f64],
    /// Free: a bias that costs nothing. Penalised: a coordinate of 1 in every row, that lengthens rows and
    /// weights.
    pub bias: Bias,
}

impl SignedRows<'_> {
    /// The least margin over the length of the weights, from below: a margin that there is.
    pub(crate) fn margin_at_least(&self, direction: &Direction) -> Result<f64, Unproved> {
        self.at_least(direction, false)
    }

    /// The same, with every row divided by its length.
    pub(crate) fn normalised_at_least(&self, direction: &Direction) -> Result<f64, Unproved> {
        self.at_least(direction, true)
    }

    fn at_least(&self, direction: &Direction, normalised: bool) -> Result<f64, Unproved> {
        Ok(self.margins(direction, normalised)?.into_par_iter().reduce(|| f64::INFINITY, f64::min))
    }

    /// Every row's margin over the length of the weights, from below; with every row divided by its length,
    /// if that is asked for. Rows that stand on neither side have any.
    pub(super) fn margins(&self, direction: &Direction, normalised: bool) -> Result<Vec<f64>, Unproved> {
        range::memory(self.rows, self.rows.columns(), direction.weights.len())?;
        let weights = direction.dense(self.rows.columns())?;
        if self.bias == Bias::None && direction.bias != 0.0 {
            return Err("there is a bias where there should be none".into());
        }
        let extra = if self.bias == Bias::Penalised { direction.bias } else { 0.0 };
        let length = length_of(
            &[&direction.weights[..], &[direction.bias]].concat(),
            &[&direction.weights[..], &[extra]].concat(),
        )?;
        let low = |i: usize| {
            let row = self.rows.row(i);
            let low = match self.signs[i] {
                0.0 => return f64::INFINITY,
                sign => score(row, &weights, direction.bias).signed(sign).low,
            };
            over_length(if normalised { self.over_row(low, row) } else { low }, length)
        };
        let margins: Vec<f64> = (0..self.rows.rows()).into_par_iter().with_min_len(256).map(low).collect();
        if margins.iter().any(|m| m.is_nan()) { Err(range::unsettled()) } else { Ok(margins) }
    }

    /// A score over the length of its row, from below; NaN where that length is too small to divide by. Rows
    /// of length zero stay as they are.
    pub(super) fn over_row(&self, low: f64, row: Row<'_>) -> f64 {
        let length = self.length(row);
        if length.high == 0.0 {
            return low;
        }
        if length.low < SMALL {
            return f64::NAN;
        }
        match low > 0.0 {
            true => quotient_down(low, length.high).max(0.0),
            false => quotient_down(low, length.low),
        }
    }

    /// The length of a row, with the bias's coordinate where that counts.
    fn length(&self, row: Row<'_>) -> Between {
        let mut values = Vec::with_capacity(row.len() + 1);
        row.for_each_nonzero(|_, x| values.push(x));
        if self.bias == Bias::Penalised {
            values.push(1.0);
        }
        length(&values)
    }

    /// The length of the longest row that counts.
    pub(crate) fn radius(&self) -> Between {
        let of = |i: usize| {
            if self.signs[i] == 0.0 { Between::exactly(0.0) } else { self.length(self.rows.row(i)) }
        };
        let larger = |a: Between, b: Between| Between { low: a.low.max(b.low), high: a.high.max(b.high) };
        (0..self.rows.rows())
            .into_par_iter()
            .with_min_len(256)
            .map(of)
            .reduce(|| Between::exactly(0.0), larger)
    }

    /// The length of the combination, from above: no direction has a larger margin.
    pub(crate) fn margin_at_most(&self, combination: &Combination) -> Result<f64, Unproved> {
        Ok(self.combined(combination)?.0)
    }

    /// The same, with every row divided by its length.
    pub(crate) fn normalised_at_most(&self, combination: &Combination) -> Result<f64, Unproved> {
        let (length, size) = self.combined(combination)?;
        let bound = if size > 0.0 { quotient_up(length, size) } else { f64::INFINITY };
        if bound.is_nan() { Err(range::unsettled()) } else { Ok(bound) }
    }

    /// The length of the combination, with multipliers that add up to 1, from above; and from below what it
    /// would be if all its rows pointed in one direction.
    fn combined(&self, combination: &Combination) -> Result<(f64, f64), Unproved> {
        let Combination { rows, multipliers } = combination;
        named_once(rows, multipliers.len(), self.signs)?;
        if !multipliers.iter().all(|m| m.is_finite() && *m > 0.0) {
            return Err("a multiplier is not a positive finite number".into());
        }
        range::memory(self.rows, self.rows.columns(), multipliers.len())?;
        for m in multipliers {
            range::divisor("a multiplier", *m)?;
        }
        // With a free bias each side's multipliers add up to 1 and the hulls' distance is halved; else all
        // add up to 1.
        let largest = multipliers.iter().copied().fold(0.0, f64::max);
        let of = |wanted: f64| -> f64 {
            rows.iter()
                .zip(multipliers)
                .filter(|(i, _)| self.signs[**i as usize] == wanted)
                .map(|(_, m)| m / largest)
                .sum()
        };
        let (up, down) = (of(1.0), of(-1.0));
        let (up, down, halves) = match self.bias {
            Bias::Free if up == 0.0 || down == 0.0 => return Ok((f64::INFINITY, 0.0)),
            Bias::Free => (up, down, 2.0),
            _ => (up + down, up + down, 1.0),
        };
        let mut sum = vec![0.0; self.rows.columns()];
        let (mut extra, mut most, mut least) = (0.0, 0.0, 0.0);
        for (&i, &m) in rows.iter().zip(multipliers) {
            let sign = self.signs[i as usize];
            let share = m / largest / if sign > 0.0 { up } else { down };
            let row = self.rows.row(i as usize);
            row.add_to(&mut sum, sign * share);
            if self.bias == Bias::Penalised {
                extra += sign * share;
            }
            let length = self.length(row);
            most += share * length.high;
            least += share * length.low;
        }
        // What each coordinate may be off by, as a vector, is no longer than this.
        let operations = 3 * rows.len() + 8;
        let off = Between::about(0.0, most, operations).high;
        sum.push(extra);
        let found = length(&sum).high;
        // Long rows that all but cancel leave more rounding than length.
        let bound = match off > 1e-5 * found {
            true => self.combined_exactly(combination),
            false => ((found + off).next_up() / halves).next_up(),
        };
        if bound.is_nan() {
            return Err(range::unsettled());
        }
        Ok((bound, (Between::about(least, least, operations).low / halves).next_down().max(0.0)))
    }

    /// The length of a combination, summed without rounding.
    fn combined_exactly(&self, combination: &Combination) -> f64 {
        let Combination { rows, multipliers } = combination;
        let mut totals = [Dyadic::default(), Dyadic::default()];
        let mut sums: BTreeMap<u32, [Dyadic; 2]> = BTreeMap::new();
        for (&i, &m) in rows.iter().zip(multipliers) {
            let side = usize::from(self.signs[i as usize] < 0.0);
            totals[side].add(&Dyadic::of(m));
            self.rows
                .row(i as usize)
                .for_each_nonzero(|j, x| sums.entry(j).or_default()[side].add_product(m, x));
            if self.bias == Bias::Penalised {
                sums.entry(u32::MAX).or_default()[side].add(&Dyadic::of(m));
            }
        }
        let [up, down] = &totals;
        let one = Dyadic::of(1.0);
        // With a free bias each side is divided by its own total: everything times both totals.
        let (up_factor, down_factor, mut total) = match self.bias {
            Bias::Free => (down, up, up.times(down).times(&Dyadic::of(2.0))),
            _ => (&one, &one, up.clone()),
        };
        if self.bias != Bias::Free {
            total.add(down);
        }
        let coordinate = |[positive, negative]: &[Dyadic; 2]| {
            let mut difference = positive.times(up_factor);
            difference.add(&negative.times(down_factor).times(&Dyadic::of(-1.0)));
            let (low, high) = difference.between();
            low.abs().max(high.abs())
        };
        let coordinates: Vec<f64> = sums.values().map(coordinate).collect();
        quotient_up(length(&coordinates).high, total.between().0)
    }

    /// Whether the combination is exactly zero: then no direction has a positive margin.
    pub(crate) fn is_zero(&self, combination: &ExactCombination) -> Result<(), Unproved> {
        let ExactCombination { rows, multipliers } = combination;
        named_once(rows, multipliers.len(), self.signs)?;
        let mut columns: BTreeMap<u32, Dyadic> = BTreeMap::new();
        let mut extra = Dyadic::default();
        for (&i, text) in rows.iter().zip(multipliers) {
            if text.len() > MOST_DIGITS {
                return Err(format!("the multiplier of row {i} has more than {MOST_DIGITS} digits").into());
            }
            if text.is_empty() || text.starts_with('0') || !text.bytes().all(|b| b.is_ascii_digit()) {
                return Err(format!("the multiplier of row {i} is not a positive whole number").into());
            }
            let mut multiplier: BigInt =
                text.parse().map_err(|_| format!("the multiplier of row {i} is not a number"))?;
            if self.signs[i as usize] < 0.0 {
                multiplier = -multiplier;
            }
            self.rows
                .row(i as usize)
                .for_each_nonzero(|j, x| columns.entry(j).or_default().add_times(&multiplier, x));
            if self.bias != Bias::None {
                extra.add_times(&multiplier, 1.0);
            }
        }
        match columns.iter().find(|(_, sum)| !sum.is_zero()) {
            Some((column, _)) => Err(format!("the combination is not zero in column {column}").into()),
            None if !extra.is_zero() => Err("the combination is not zero in the bias's coordinate".into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Columns in increasing order, far enough apart for several parts, of which some tests break one.
    fn direction() -> impl Strategy<Value = Direction> {
        let entries = prop::collection::btree_map(0u32..3 * CHUNK as u32, -5i8..6, 0..60);
        (entries, -2i8..3).prop_map(|(entries, bias)| Direction {
            columns: Some(entries.keys().copied().collect()),
            weights: entries.values().map(|&w| f64::from(w) + 0.5).collect(),
            bias: bias.into(),
        })
    }

    proptest! {
        #[test]
        fn weights_are_spread_over_their_columns_and_what_cannot_be_is_refused(
            good in direction(),
            at in any::<prop::sample::Index>(),
            column in 0u32..3 * CHUNK as u32 + 9,
            break_it in 0usize..5,
        ) {
            let columns = 3 * CHUNK - 7;
            let mut direction = good;
            let mut own = direction.columns.take().unwrap();
            if !own.is_empty() {
                let at = at.index(own.len());
                match break_it {
                    0 => own[at] = column,
                    1 => direction.weights[at] = f64::NAN,
                    2 => drop(direction.weights.remove(at)),
                    3 => direction.bias = f64::INFINITY,
                    _ => {}
                }
            }
            let increasing = own.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = own.iter().all(|&j| (j as usize) < columns);
            let finite = direction.bias.is_finite() && direction.weights.iter().all(|w| w.is_finite());
            let expected =
                (increasing && inside && finite && own.len() == direction.weights.len()).then(|| {
                    let mut dense = vec![0.0; columns];
                    own.iter().zip(&direction.weights).for_each(|(&j, &w)| dense[j as usize] = w);
                    dense
                });
            direction.columns = Some(own);
            prop_assert_eq!(direction.dense(columns).ok().map(Cow::into_owned), expected);
            // A weight for each column: as many as there are, or none.
            let every = Direction { columns: None, ..direction };
            prop_assert_eq!(every.dense(every.weights.len()).is_ok(), finite);
            prop_assert!(every.dense(every.weights.len() + 1).is_err());
        }

        #[test]
        fn a_direction_is_that_of_the_output_it_was_made_of_and_of_no_other(
            values in prop::collection::vec(prop_oneof![Just(0i8), 0..3i8, Just(1)], 0..1200),
            outputs in 1usize..4,
            at in any::<prop::sample::Index>(),
            other in -2i8..3,
        ) {
            let features = values.len() / outputs;
            let mut weights = Weights::zero(features, outputs);
            weights.values.iter_mut().zip(&values).for_each(|(w, &value)| *w = value.into());
            for output in 0..outputs {
                let direction = Direction::of_output(&weights, output);
                prop_assert!(direction.is_of_output(&weights, output));
                let mut entries = vec![0.0; features];
                direction.entries().for_each(|(j, w)| entries[j] = w);
                prop_assert!((0..features).all(|j| entries[j] == weights.weight(j, output)));
                let mut changed = weights.clone();
                if features > 0 {
                    let place = &mut changed.values[at.index(features) * outputs + output];
                    let same = *place == f64::from(other);
                    *place = other.into();
                    prop_assert_eq!(direction.is_of_output(&changed, output), same);
                }
                changed.clone_from(&weights);
                changed.bias[output] = 1.0;
                prop_assert!(!direction.is_of_output(&changed, output));
            }
        }
    }
}
