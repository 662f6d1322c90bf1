//! Whole numbers `mᵢ ≥ 0`, not all of them zero, with `Σ mᵢ·zᵢ = 0` exactly, for rows of which a solver
//! thinks that there are such.
//!
//! Modulo a prime the rows are brought into echelon form, which shows whether they depend on one another in
//! just one way, and which columns are independent. The multipliers are then lifted from that prime to its
//! powers (Dixon), until they are known to so many digits that they must be these fractions and no others.

use crate::control::Watch;
use crate::exact::parts;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};
use std::collections::BTreeMap;

/// Why there are no such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The rows do not depend on one another: no combination of them is exactly zero.
    Independent,
    /// They depend on one another in several ways: some of them are not needed.
    Several,
    /// The one combination that is zero takes some rows with a negative sign.
    Sign,
    /// None that is known of: the search was not to go on.
    Stopped,
}

/// The prime: its products fit into 64 bits.
const P: u64 = (1 << 31) - 1;

/// A row: index and value of its entries, the bias's coordinate among them.
pub(super) type Entries = Vec<(u32, f64)>;

/// The multipliers, whole numbers without a common factor. Rows that are not needed have zero.
pub(crate) fn dependence(rows: &[Entries], watch: &Watch<'_>) -> Result<Vec<BigUint>, Obstacle> {
    let columns = whole_columns(rows);
    let count = rows.len();
    let Echelon { independent, dependent_row } = Echelon::of(&columns, count, watch)?;
    let others: Vec<usize> = (0..count).filter(|i| *i != dependent_row).collect();
    let entries = |j: &usize| -> Vec<&BigInt> { others.iter().map(|&i| &columns[*j][i]).collect() };
    let matrix: Vec<Vec<&BigInt>> = independent.iter().map(entries).collect();
    let right: Vec<BigInt> = independent.iter().map(|&j| -&columns[j][dependent_row]).collect();
    let (numerators, denominator) = solve_exactly(&matrix, &right, watch).ok_or(if watch.stopped() {
        Obstacle::Stopped
    } else {
        Obstacle::Independent
    })?;
    let mut multipliers = vec![denominator; count];
    for (&i, numerator) in others.iter().zip(numerators) {
        multipliers[i] = numerator;
    }
    let product = |column: &Vec<BigInt>| column.iter().zip(&multipliers).map(|(a, m)| a * m).sum::<BigInt>();
    if columns.iter().any(|column| !product(column).is_zero()) {
        return Err(Obstacle::Independent);
    }
    if multipliers.iter().any(|m| m.is_negative()) {
        return Err(Obstacle::Sign);
    }
    let common = multipliers.iter().fold(BigInt::zero(), |common, m| common.gcd(m));
    Ok(multipliers.iter().map(|m| (m / &common).magnitude().clone()).collect())
}

/// The echelon form of the rows modulo the prime, as far as it is needed.
struct Echelon {
    /// Columns that are linearly independent, as many as there are rows but one.
    independent: Vec<usize>,
    /// The row that depends on the others.
    dependent_row: usize,
}

impl Echelon {
    fn of(columns: &[Vec<BigInt>], rows: usize, watch: &Watch<'_>) -> Result<Self, Obstacle> {
        let mut echelon: Vec<(usize, Vec<u64>)> = Vec::new();
        let mut independent = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            if !watch.goes_on() {
                return Err(Obstacle::Stopped);
            }
            let residue = |x: &BigInt| x.mod_floor(&BigInt::from(P)).to_u64().unwrap_or(0);
            let mut line: Vec<u64> = column.iter().map(residue).collect();
            for (pivot, other) in &echelon {
                let factor = line[*pivot];
                if factor != 0 {
                    line.iter_mut().zip(other).for_each(|(a, b)| *a = (*a + (P - factor) * b) % P);
                }
            }
            if let Some(pivot) = line.iter().position(|x| *x != 0) {
                let inverse = power(line[pivot], P - 2);
                line.iter_mut().for_each(|x| *x = *x * inverse % P);
                echelon.push((pivot, line));
                independent.push(at);
                if echelon.len() == rows {
                    return Err(Obstacle::Independent);
                }
            }
        }
        if echelon.len() + 1 < rows {
            return Err(Obstacle::Several);
        }
        let is_pivot = |i: &usize| echelon.iter().any(|(pivot, _)| pivot == i);
        let dependent_row = (0..rows).find(|i| !is_pivot(i)).ok_or(Obstacle::Independent)?;
        Ok(Self { independent, dependent_row })
    }
}

/// The solution of `matrix·x = right` as numerators over one positive denominator; in machine numbers where
/// the entries have few digits. `None` also if the observer asks to stop; so it is with all that follows.
fn solve_exactly(
    matrix: &[Vec<&BigInt>],
    right: &[BigInt],
    watch: &Watch<'_>,
) -> Option<(Vec<BigInt>, BigInt)> {
    let entries = matrix.iter().flatten().copied().chain(right);
    if entries.map(BigInt::bits).max().unwrap_or(0) <= 62 {
        let small = |x: &BigInt| x.to_i128().unwrap_or(0);
        let lines = matrix.iter().map(|line| line.iter().copied().map(small).collect()).collect();
        return solve::<i128>(lines, right.iter().map(small).collect(), right, watch);
    }
    let lines = matrix.iter().map(|line| line.iter().copied().cloned().collect()).collect();
    solve::<BigInt>(lines, right.to_vec(), right, watch)
}

/// The columns as whole numbers: each times a power of two, which changes nothing about a sum that is zero.
fn whole_columns(rows: &[Entries]) -> Vec<Vec<BigInt>> {
    let mut columns: BTreeMap<u32, Vec<(usize, i64, i32)>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        for &(j, x) in row.iter().filter(|(_, x)| *x != 0.0) {
            let (units, exponent) = parts(x);
            columns.entry(j).or_default().push((i, units, exponent));
        }
    }
    let whole = |entries: Vec<(usize, i64, i32)>| {
        let least = entries.iter().map(|(_, _, exponent)| *exponent).min().unwrap_or(0);
        let mut column = vec![BigInt::zero(); rows.len()];
        for (i, units, exponent) in entries {
            column[i] = BigInt::from(units) << (exponent - least);
        }
        column
    };
    columns.into_values().map(whole).collect()
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % P;
        }
        base = base * base % P;
        exponent >>= 1;
    }
    result
}

/// The solution of `matrix·x = right` as numerators over one positive denominator, by lifting.
fn solve<T>(
    matrix: Vec<Vec<T>>,
    right: Vec<T>,
    exact_right: &[BigInt],
    watch: &Watch<'_>,
) -> Option<(Vec<BigInt>, BigInt)>
where
    T: Integer + Clone + FromPrimitive + ToPrimitive,
    BigInt: From<T>,
{
    let size = matrix.len();
    if size == 0 {
        return Some((Vec::new(), BigInt::one()));
    }
    let prime = T::from_u64(P)?;
    let modulo = |x: &T| x.mod_floor(&prime).to_u64().unwrap_or(0);
    let inverse = inverse(matrix.iter().map(|line| line.iter().map(modulo).collect()).collect(), watch)?;
    // The solution's digits to the base of the prime, and what they leave of the right side.
    let mut rest = right;
    let mut found = vec![BigInt::zero(); size];
    let mut modulus = BigInt::one();
    let (mut digits, mut next_check) = (0, 4);
    // No numerator or denominator has more bits than this (Hadamard).
    let most: usize = matrix.iter().zip(exact_right).map(|(line, right)| bits_of_length(line, right)).sum();
    while watch.goes_on() {
        let residues: Vec<u64> = rest.iter().map(modulo).collect();
        let digit: Vec<u64> = inverse
            .iter()
            .map(|line| line.iter().zip(&residues).fold(0u64, |sum, (a, b)| (sum + a * b) % P))
            .collect();
        for (line, rest) in matrix.iter().zip(&mut rest) {
            let mut sum = T::zero();
            for (a, &x) in line.iter().zip(&digit) {
                if !a.is_zero() {
                    sum = sum + a.clone() * T::from_u64(x)?;
                }
            }
            *rest = (rest.clone() - sum).div_floor(&prime);
        }
        for (found, &x) in found.iter_mut().zip(&digit) {
            *found += &modulus * x;
        }
        modulus *= P;
        digits += 1;
        let is_last = digits * 30 > 2 * (most + SPARE as usize) + 4;
        if digits >= next_check || is_last {
            next_check = digits + digits / 2 + 1;
            let solution =
                fractions(&found, &modulus, watch).filter(|x| solves(&matrix, exact_right, x, watch));
            if solution.is_some() || is_last {
                return solution;
            }
        }
    }
    None
}

/// The bits of the length of a line of a system of equations, right side included, or one more.
fn bits_of_length<T: Clone>(line: &[T], right: &BigInt) -> usize
where
    BigInt: From<T>,
{
    let squares: BigInt = line.iter().map(|x| BigInt::from(x.clone())).map(|x| &x * &x).sum();
    (squares + right * right).bits() as usize / 2 + 1
}

/// Whether numerators over a denominator solve a system of equations exactly.
fn solves<T: Clone>(
    matrix: &[Vec<T>],
    right: &[BigInt],
    (numerators, denominator): &(Vec<BigInt>, BigInt),
    watch: &Watch<'_>,
) -> bool
where
    BigInt: From<T>,
{
    matrix.iter().zip(right).all(|(line, right)| {
        let sum: BigInt = line.iter().zip(numerators).map(|(a, n)| BigInt::from(a.clone()) * n).sum();
        sum == right * denominator && watch.goes_on()
    })
}

/// The inverse modulo the prime.
fn inverse(mut matrix: Vec<Vec<u64>>, watch: &Watch<'_>) -> Option<Vec<Vec<u64>>> {
    let size = matrix.len();
    for (i, line) in matrix.iter_mut().enumerate() {
        line.resize(2 * size, 0);
        line[size + i] = 1;
    }
    for at in 0..size {
        let pivot = (at..size).find(|&i| matrix[i][at] != 0).filter(|_| watch.goes_on())?;
        matrix.swap(at, pivot);
        let factor = power(matrix[at][at], P - 2);
        matrix[at].iter_mut().for_each(|x| *x = *x * factor % P);
        let line = matrix[at].clone();
        for (i, other) in matrix.iter_mut().enumerate() {
            let factor = other[at];
            if i != at && factor != 0 {
                other[at..].iter_mut().zip(&line[at..]).for_each(|(a, b)| *a = (*a + (P - factor) * b) % P);
            }
        }
    }
    Some(matrix.into_iter().map(|line| line[size..].to_vec()).collect())
}

/// Bits that fractions must have less than they could have: next to no other numbers than the solution have
/// such fractions, and a check that comes too early ends at the first.
const SPARE: u64 = 8;

/// The fractions with one denominator that are these numbers modulo `modulus`, if there are any with so few
/// digits that they can be no others.
fn fractions(found: &[BigInt], modulus: &BigInt, watch: &Watch<'_>) -> Option<(Vec<BigInt>, BigInt)> {
    let room = (modulus.bits() / 2).saturating_sub(SPARE);
    let mut denominator = BigInt::one();
    let mut numerators: Vec<BigInt> = Vec::with_capacity(found.len());
    for x in found {
        if !watch.goes_on() {
            return None;
        }
        let mut value = (x * &denominator).mod_floor(modulus);
        if &value + &value > *modulus {
            value -= modulus;
        }
        if value.bits() < room {
            numerators.push(value);
            continue;
        }
        let (numerator, factor) = fraction(&value, modulus, room)?;
        numerators.iter_mut().for_each(|n| *n *= &factor);
        numerators.push(numerator);
        denominator *= factor;
        if denominator.bits() >= room {
            return None;
        }
    }
    Some((numerators, denominator))
}

/// `n/d ≡ value`, with `n` and `d > 0` of fewer than `room` bits: Euclid's algorithm, stopped halfway.
fn fraction(value: &BigInt, modulus: &BigInt, room: u64) -> Option<(BigInt, BigInt)> {
    let (mut a, mut b) = (modulus.clone(), value.mod_floor(modulus));
    let (mut s, mut t) = (BigInt::zero(), BigInt::one());
    while b.bits() >= room {
        if let Some([p, q, u, v]) = steps(&a, &b, room) {
            (a, b) = (&a * p + &b * q, &a * u + &b * v);
            (s, t) = (&s * p + &t * q, &s * u + &t * v);
            continue;
        }
        let (quotient, rest) = a.div_rem(&b);
        (a, b) = (b, rest);
        let next = &s - &quotient * &t;
        (s, t) = (t, next);
    }
    if t.bits() >= room {
        return None;
    }
    Some(if t.is_negative() { (-b, -t) } else { (b, t) })
}

/// Steps of Euclid's algorithm that the leading digits of `a > b` determine (Lehmer): `[p, q, u, v]`, after
/// which there are `pa + qb` and `ua + vb`. The latter still has `room` bits or more.
fn steps(a: &BigInt, b: &BigInt, room: u64) -> Option<[i64; 4]> {
    const LEADING: u64 = 62;
    let shift = a.bits().saturating_sub(LEADING);
    let leading = |x: &BigInt| (x.magnitude() >> shift).to_i64();
    let (mut x, mut y) = (leading(a)?, leading(b)?);
    // What is shifted out adds less than 2³¹ to any combination: above this, it has the bits.
    let least = (1i64 << room.saturating_sub(shift).min(LEADING)).saturating_add(1 << 31);
    let mut steps = [1, 0, 0, 1];
    loop {
        let [p, q, u, v] = steps;
        // Whatever was shifted out, the quotient lies between these two.
        if y + u <= 0 || y + v <= 0 || (x + p) / (y + u) != (x + q) / (y + v) {
            break;
        }
        let quotient = (x + p) / (y + u);
        let next = [u, v, p - quotient * u, q - quotient * v];
        let rest = x - quotient * y;
        if rest < least || next.iter().any(|c| c.abs() >= 1 << 30) {
            break;
        }
        (x, y, steps) = (y, rest, next);
    }
    (steps[1] != 0).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;
    use proptest::prelude::*;

    fn free(rows: &[Entries]) -> Result<Vec<BigUint>, Obstacle> {
        dependence(rows, &Watch::new(&mut Unwatched))
    }

    /// By minors.
    fn determinant(matrix: &[Vec<BigInt>]) -> BigInt {
        let Some((first, rest)) = matrix.split_first() else { return BigInt::one() };
        let minor = |j: usize| {
            let without: Vec<Vec<BigInt>> = rest
                .iter()
                .map(|line| {
                    line.iter().enumerate().filter(|(at, _)| *at != j).map(|(_, x)| x.clone()).collect()
                })
                .collect();
            determinant(&without)
        };
        let signed = |j: usize| if j.is_multiple_of(2) { minor(j) } else { -minor(j) };
        first.iter().enumerate().map(|(j, x)| x * signed(j)).sum()
    }

    /// Cramer's rule: without row i, the others' determinant, with signs in turn.
    fn by_determinants(rows: &[Vec<i64>]) -> Result<Vec<BigUint>, Obstacle> {
        let without = |i: usize| -> Vec<Vec<BigInt>> {
            let others = rows.iter().enumerate().filter(|(at, _)| *at != i);
            others.map(|(_, row)| row.iter().map(|x| BigInt::from(*x)).collect()).collect()
        };
        let signed =
            |i: usize| if i.is_multiple_of(2) { determinant(&without(i)) } else { -determinant(&without(i)) };
        let found: Vec<BigInt> = (0..rows.len()).map(signed).collect();
        if found.iter().all(Zero::is_zero) {
            return Err(Obstacle::Several);
        }
        if found.iter().any(Signed::is_negative) && found.iter().any(Signed::is_positive) {
            return Err(Obstacle::Sign);
        }
        let common = found.iter().fold(BigInt::zero(), |common, m| common.gcd(m));
        Ok(found.iter().map(|m| (m / &common).magnitude().clone()).collect())
    }

    /// One row more than columns; small numbers, of which many do not need all rows, and such as fill a whole
    /// number of 53 bits.
    fn rows() -> impl Strategy<Value = Vec<Vec<i64>>> {
        let number = prop_oneof![-2..=2i64, -(1i64 << 53)..=1 << 53];
        (1..5usize).prop_flat_map(move |columns| {
            prop::collection::vec(prop::collection::vec(number.clone(), columns), columns + 1)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_multipliers_are_those_of_cramers_rule(rows in rows(), shift in -60..60i32) {
            let scale = 2f64.powi(shift);
            let entry = |(j, x): (u32, &i64)| (j, *x as f64 * if j == 0 { scale } else { 1.0 });
            let entries: Vec<Entries> = rows.iter().map(|row| (0..).zip(row).map(entry).collect()).collect();
            prop_assert_eq!(free(&entries), by_determinants(&rows));
        }
    }
}
