//! Claims about margins. Everything here is exact; square roots are compared by squaring.

use crate::certificate::{Bias, MarginAtLeast, MarginAtMost, NotSeparable};
use crate::number::{Dyadic, Round, Sum};
use crate::rows::Rows;
use crate::weights::{Weights, square_length};
use num_bigint::BigUint;

/// Most decimal digits of a multiplier.
const MOST_DIGITS: usize = 50_000;

/// `y·(<w, x> + b) ≥ margin·‖u‖` for every row that counts, and `‖u‖ > 0`.
///
/// The signed square `t·|t|` increases with `t`. So with `a` the smallest of the left sides, the inequality
/// is `a·|a| ≥ margin·|margin|·‖u‖²`, in which nothing is rounded.
pub fn at_least(claim: &MarginAtLeast, rows: &Rows) -> Result<String, String> {
    let sides = claim.sides.by_row(rows)?;
    let directions = std::slice::from_ref(&claim.direction);
    let weights = Weights::new(directions, claim.bias, rows)?;
    let square = square_length(directions, claim.bias, rows)?;
    let mut sums = Vec::new();
    let signed = |row: usize| {
        let score = weights.scores(rows, row, &mut sums).swap_remove(0);
        if sides[row] > 0 { score } else { -score }
    };
    let smallest = (0..rows.len()).filter(|row| sides[*row] != 0).map(signed).min().ok_or("no row counts")?;
    let holds = smallest.signed_square() >= Dyadic::of(claim.margin).signed_square() * &square;
    let longer = if smallest.is_negative() { Round::Down } else { Round::Up };
    let found = smallest.divided(&square.root(longer), Round::Down).to_f64(Round::Down);
    if holds {
        Ok(format!("every row has a margin of at least {found:e}"))
    } else {
        Err(format!("the smallest margin is {found:e}"))
    }
}

/// The sums of rows of each side in every column: `Σ₊ λx` and `Σ₋ λx`, and where it is a coordinate, of the
/// bias's `1`.
fn combine(rows: &Rows, chosen: &[u32], multipliers: &[Dyadic], sides: &[i8]) -> Vec<[Dyadic; 2]> {
    let mut found = Vec::new();
    for column in rows.by_column(chosen.iter().map(|row| *row as usize)).columns() {
        let mut sums = [Sum::default(), Sum::default()];
        for (turn, x) in column {
            let turn = *turn as usize;
            sums[usize::from(sides[chosen[turn] as usize] < 0)].add_product(&multipliers[turn], *x);
        }
        found.push(sums.map(|sum| sum.value()));
    }
    found
}

/// The multipliers of each side added up, once it is sure that the rows are some that count, in order.
fn totals(chosen: &[u32], multipliers: &[Dyadic], sides: &[i8]) -> Result<[Dyadic; 2], String> {
    if chosen.is_empty() || chosen.len() != multipliers.len() {
        return Err(format!("{} multipliers for {} rows", multipliers.len(), chosen.len()));
    }
    if !chosen.is_sorted_by(|a, b| a < b) {
        return Err("the rows of the combination do not increase".into());
    }
    if multipliers.iter().any(|multiplier| !multiplier.is_positive()) {
        return Err("a multiplier is not positive".into());
    }
    let mut sums = [Sum::default(), Sum::default()];
    for (row, multiplier) in chosen.iter().zip(multipliers) {
        match sides.get(*row as usize) {
            Some(1) => sums[0].add(multiplier),
            Some(-1) => sums[1].add(multiplier),
            _ => return Err(format!("row {row} (from 0) does not count")),
        }
    }
    Ok(sums.map(|sum| sum.value()))
}

/// `‖Σ λyx‖ ≤ margin·Σλ`, with the coordinate `Σ λy` of a penalised bias: for a unit vector `u`, the smallest
/// `y<u, x>` is at most the mean `<u, Σ λyx>/Σλ`, which is at most `‖Σ λyx‖/Σλ`.
///
/// With a free bias, `‖Λ₋·Σ₊λx − Λ₊·Σ₋λx‖ ≤ 2·margin·Λ₊Λ₋` with `Λ` the sums of multipliers, both positive:
/// if all rows have a margin of at least `γ`, so have the means of the sides, which are therefore `2γ` apart.
/// All of it is squared, and nothing is rounded.
pub fn at_most(claim: &MarginAtMost, rows: &Rows) -> Result<String, String> {
    let sides = claim.sides.by_row(rows)?;
    let chosen = &claim.combination.rows.0;
    let multipliers: Vec<Dyadic> = claim.combination.multipliers.0.iter().map(|x| Dyadic::of(*x)).collect();
    let [positive, negative] = totals(chosen, &multipliers, &sides)?;
    let free = claim.bias == Bias::Free;
    if free && (positive.is_zero() || negative.is_zero()) {
        return Err("only one side has multipliers, and the bias is free".into());
    }
    let one = Dyadic::whole(1);
    let (of_positive, of_negative) = if free { (&negative, &positive) } else { (&one, &one) };
    let mut square = Sum::default();
    for [p, n] in combine(rows, chosen, &multipliers, &sides) {
        square.add(&(p * of_positive - n * of_negative).square());
    }
    if claim.bias == Bias::Penalised {
        square.add(&(&positive - &negative).square());
    }
    let square = square.value();
    let unit = if free { (&positive * &negative).shifted(1) } else { &positive + &negative };
    let allowed = Dyadic::of(claim.margin) * &unit;
    let found = square.root(Round::Up).divided(&unit, Round::Up).to_f64(Round::Up);
    if !allowed.is_negative() && square <= allowed.square() {
        Ok(format!("a combination of {} rows is no longer than {found:e}", chosen.len()))
    } else {
        Err(format!("all that follows is a margin of at most {found:e}"))
    }
}

/// `Σ m·y·x = 0` in every column and, unless there is no bias, `Σ m·y = 0`, for whole numbers `m > 0`, not
/// none: if a hyperplane had all rows strictly on their sides, `Σ m·y·(<w, x> + b)` would be positive, and it
/// is zero.
pub fn not_separable(claim: &NotSeparable, rows: &Rows) -> Result<String, String> {
    let sides = claim.sides.by_row(rows)?;
    let chosen = &claim.combination.rows.0;
    let multipliers =
        claim.combination.multipliers.iter().map(|text| whole(text)).collect::<Result<Vec<_>, _>>()?;
    let [positive, negative] = totals(chosen, &multipliers, &sides)?;
    if claim.bias != Bias::None && positive != negative {
        return Err("the multipliers of the two sides do not add up to the same".into());
    }
    let off = combine(rows, chosen, &multipliers, &sides).iter().position(|[p, n]| p != n);
    match off {
        None => Ok(format!("{} rows combine to exactly zero", chosen.len())),
        Some(at) => Err(format!("the rows do not combine to zero in column {} (from 0)", rows.used()[at])),
    }
}

/// A positive whole number in decimal digits.
fn whole(text: &str) -> Result<Dyadic, String> {
    let plain =
        text.len() <= MOST_DIGITS && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { BigUint::parse_bytes(text.as_bytes(), 10) } else { None };
    number.map(Dyadic::whole).ok_or_else(|| "a multiplier is no whole number in decimal digits".into())
}
