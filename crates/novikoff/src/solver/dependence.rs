//! Whole numbers `mᵢ > 0` with `Σ mᵢ·zᵢ = 0` exactly, for rows of which a solver thinks that there are such.
//!
//! Modulo a prime the rows are brought into echelon form, which tells whether they depend on one another in just one way, and
//! which columns tell it. The multipliers are then lifted from that prime to its powers (Dixon), until they are known to so
//! many digits that they must be these fractions and no others.

use crate::certificate::exact::parts;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};
use std::collections::BTreeMap;

/// Why there are no such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The rows do not depend on one another: no combination of them is exactly zero.
    Independent,
    /// They depend on one another in several ways: some of them are not needed.
    Several,
    /// The one combination that is zero takes some rows with the wrong sign.
    Sign,
}

/// The prime: its products fit into 64 bits.
const P: u64 = (1 << 31) - 1;

/// A row: index and value of its entries, the bias's coordinate among them.
pub type Entries = Vec<(u32, f64)>;

/// The multipliers, whole numbers without a common factor.
pub fn dependence(rows: &[Entries]) -> Result<Vec<BigUint>, Obstacle> {
    let columns = whole_columns(rows);
    let count = rows.len();
    // Echelon form modulo the prime: which columns tell the rows apart, and which row is left over.
    let mut echelon: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut telling = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let mut line: Vec<u64> = column.iter().map(|x| x.mod_floor(&BigInt::from(P)).to_u64().unwrap_or(0)).collect();
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
            telling.push(at);
            if echelon.len() == count {
                return Err(Obstacle::Independent);
            }
        }
    }
    if echelon.len() + 1 < count {
        return Err(Obstacle::Several);
    }
    let left_over = (0..count).find(|i| echelon.iter().all(|(pivot, _)| pivot != i)).ok_or(Obstacle::Independent)?;
    let others: Vec<usize> = (0..count).filter(|i| *i != left_over).collect();
    let (all, told) = (&columns, &telling);
    let square = |at: usize| others.iter().map(move |&i| &all[told[at]][i]);
    let right: Vec<BigInt> = telling.iter().map(|&at| -&columns[at][left_over]).collect();
    let largest = (0..telling.len()).flat_map(square).chain(&right).map(|x| x.bits()).max().unwrap_or(0);
    let (numerators, denominator) = if largest <= 62 {
        let small = |x: &BigInt| x.to_i128().unwrap_or(0);
        let matrix = (0..telling.len()).map(|at| square(at).map(small).collect()).collect();
        solve::<i128>(matrix, right.iter().map(small).collect(), &right)
    } else {
        let matrix = (0..telling.len()).map(|at| square(at).cloned().collect()).collect();
        solve::<BigInt>(matrix, right.clone(), &right)
    }
    .ok_or(Obstacle::Independent)?;
    let mut multipliers = vec![denominator; count];
    for (&i, numerator) in others.iter().zip(numerators) {
        multipliers[i] = numerator;
    }
    if columns.iter().any(|column| !column.iter().zip(&multipliers).map(|(a, m)| a * m).sum::<BigInt>().is_zero()) {
        return Err(Obstacle::Independent);
    }
    if multipliers.iter().any(|m| !m.is_positive()) {
        return Err(Obstacle::Sign);
    }
    let common = multipliers.iter().fold(BigInt::zero(), |common, m| common.gcd(m));
    Ok(multipliers.iter().map(|m| (m / &common).magnitude().clone()).collect())
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
fn solve<T>(matrix: Vec<Vec<T>>, right: Vec<T>, exact_right: &[BigInt]) -> Option<(Vec<BigInt>, BigInt)>
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
    let inverse = inverse(matrix.iter().map(|line| line.iter().map(modulo).collect()).collect())?;
    // The solution's digits to the base of the prime, and what they leave of the right side.
    let mut rest = right;
    let mut found = vec![BigInt::zero(); size];
    let mut modulus = BigInt::one();
    let mut digits = 0;
    let mut next_look = 4;
    // No numerator or denominator has more bits than this (Hadamard).
    let bits = |line: &[T], more: &BigInt| {
        let sum: BigInt = line.iter().map(|x| BigInt::from(x.clone())).map(|x| &x * &x).sum::<BigInt>() + more * more;
        sum.bits() as usize / 2 + 1
    };
    let most: usize = matrix.iter().zip(exact_right).map(|(line, more)| bits(line, more)).sum();
    loop {
        let residues: Vec<u64> = rest.iter().map(modulo).collect();
        let digit: Vec<u64> =
            inverse.iter().map(|line| line.iter().zip(&residues).fold(0u64, |sum, (a, b)| (sum + a * b) % P)).collect();
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
        let enough = digits * 30 > 2 * most + 2;
        if digits >= next_look || enough {
            next_look = digits + digits / 2 + 1;
            if let Some(fractions) = fractions(&found, &modulus) {
                let (numerators, denominator) = &fractions;
                let holds = matrix.iter().zip(exact_right).all(|(line, right)| {
                    let sum: BigInt = line.iter().zip(numerators).map(|(a, n)| BigInt::from(a.clone()) * n).sum();
                    sum == right * denominator
                });
                if holds {
                    return Some(fractions);
                }
            }
            if enough {
                return None;
            }
        }
    }
}

/// The inverse modulo the prime.
fn inverse(mut matrix: Vec<Vec<u64>>) -> Option<Vec<Vec<u64>>> {
    let size = matrix.len();
    for (i, line) in matrix.iter_mut().enumerate() {
        line.resize(2 * size, 0);
        line[size + i] = 1;
    }
    for at in 0..size {
        let pivot = (at..size).find(|&i| matrix[i][at] != 0)?;
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

/// The fractions with one denominator that are these numbers modulo `modulus`, if there are any with so few digits that they
/// can be no others.
fn fractions(found: &[BigInt], modulus: &BigInt) -> Option<(Vec<BigInt>, BigInt)> {
    let half = modulus.bits() / 2;
    let mut denominator = BigInt::one();
    let mut numerators: Vec<BigInt> = Vec::with_capacity(found.len());
    for x in found {
        let mut value = (x * &denominator).mod_floor(modulus);
        if &value + &value > *modulus {
            value -= modulus;
        }
        if value.bits() + 8 < half {
            numerators.push(value);
            continue;
        }
        let (numerator, factor) = fraction(&value, modulus)?;
        numerators.iter_mut().for_each(|n| *n *= &factor);
        numerators.push(numerator);
        denominator *= factor;
    }
    Some((numerators, denominator))
}

/// `n/d ≡ value`, with `n` and `d > 0` of no more than half the digits of the modulus.
fn fraction(value: &BigInt, modulus: &BigInt) -> Option<(BigInt, BigInt)> {
    let half = modulus.bits() / 2;
    let (mut a, mut b) = (modulus.clone(), value.mod_floor(modulus));
    let (mut s, mut t) = (BigInt::zero(), BigInt::one());
    while b.bits() >= half {
        let (quotient, rest) = a.div_rem(&b);
        (a, b) = (b, rest);
        let next = &s - &quotient * &t;
        (s, t) = (t, next);
    }
    if t.is_zero() || t.bits() >= half {
        return None;
    }
    Some(if t.is_negative() { (-b, -t) } else { (b, t) })
}
