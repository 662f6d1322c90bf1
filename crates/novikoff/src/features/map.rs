//! Explicit feature maps: features made of features, so that a linear model of these is more than linear in
//! those.
//!
//! A polynomial map has all products of up to so many features, with the factors that make inner products a
//! kernel: `<φ(x), φ(z)> = (1 + <x, z>)^D − 1`. The constant is left out, because the bias is that feature:
//! with a penalised bias the kernel is `(1 + <x, z>)^D` itself. Products are numbered so that their number
//! does not depend on how many features there are: a stream may show new ones as it goes.
//!
//! Random Fourier features (Rahimi and Recht, 2007) are cosines and sines along random directions ω: `<φ(x),
//! φ(z)> = (2/count) Σ cos<ω, x − z>`, whose mean is `exp(−γ‖x − z‖²)` if the entries of ω are normal with
//! variance 2γ.

use crate::error::{Error, Result};
use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::fmt;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Which map. It is part of the model, and of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Map {
    /// All products of up to `degree` features.
    Poly {
        /// From 2 to [`MOST_DEGREE`].
        degree: u32,
    },
    /// Random Fourier features.
    Fourier {
        /// How many: half of them cosines, half sines.
        count: u32,
        /// γ of the kernel `exp(−γ‖x − z‖²)`.
        gamma: f64,
        /// Seed of the directions.
        seed: u64,
    },
}

/// Factorials and their square roots stay exact up to here.
pub const MOST_DEGREE: u32 = 10;
/// Most Fourier features.
pub const MOST_COUNT: u32 = 1 << 20;
/// Numbers that the directions of Fourier features may take: 2 GB.
const MOST_FREQUENCIES: usize = 1 << 28;

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Map::Poly { degree } => write!(f, "poly:{degree}"),
            Map::Fourier { count, gamma, .. } => write!(f, "fourier:{count}:{gamma}"),
        }
    }
}

impl Map {
    /// What is wrong with it, if anything is.
    pub fn validate(self) -> std::result::Result<(), String> {
        match self {
            Map::Poly { degree: 2..=MOST_DEGREE } => Ok(()),
            Map::Poly { degree } => {
                Err(format!("the degree of a polynomial map is from 2 to {MOST_DEGREE}, not {degree}"))
            }
            Map::Fourier { count, .. } if count < 2 || count % 2 == 1 || count > MOST_COUNT => Err(format!(
                "there are as many cosines as sines: \
                 an even number of Fourier features up to {MOST_COUNT}, not {count}"
            )),
            Map::Fourier { gamma, .. } if !(gamma.is_finite() && gamma > 0.0) => {
                Err(format!("γ of Fourier features is a positive number, not {gamma}"))
            }
            Map::Fourier { .. } => Ok(()),
        }
    }

    /// Whether every row has every feature.
    pub fn is_dense(self) -> bool {
        matches!(self, Map::Fourier { .. })
    }

    /// How many features it makes of so many; `None` if they cannot be numbered by 32 bits.
    pub fn features(self, columns: usize) -> Option<usize> {
        match self {
            Map::Poly { degree } => {
                let all = choose(columns as u64 + u64::from(degree), degree)? - 1;
                usize::try_from(all).ok().filter(|&all| all <= u32::MAX as usize)
            }
            Map::Fourier { count, .. } => Some(count as usize),
        }
    }

    /// How many features it makes of a row with so many that are not zero.
    pub fn entries(self, nonzeros: usize) -> usize {
        self.features(nonzeros).unwrap_or(usize::MAX)
    }

    /// What to call feature `j`, by the names of those that it is made of: `a·b`, `a²`, `cos ω1`.
    pub fn name(self, j: u32, name: impl Fn(u32) -> String) -> String {
        match self {
            Map::Fourier { .. } => {
                format!("{} ω{}", if j.is_multiple_of(2) { "cos" } else { "sin" }, j / 2 + 1)
            }
            Map::Poly { degree } => {
                let factors: Vec<u32> =
                    factors(u64::from(j) + 1, degree).into_iter().filter(|&i| i > 0).rev().collect();
                let power = |run: &[u32]| format!("{}{}", name(run[0] - 1), superscript(run.len()));
                factors.chunk_by(|a, b| a == b).map(power).collect::<Vec<_>>().join("·")
            }
        }
    }
}

/// `C(n, m)`, if 64 bits hold it.
fn choose(n: u64, m: u32) -> Option<u64> {
    let mut product = 1u128;
    for k in 1..=u128::from(m) {
        // A product of k neighbours is divisible by k!.
        product = product.checked_mul((u128::from(n) + 1).checked_sub(k)?)? / k;
    }
    u64::try_from(product).ok()
}

/// A product of `degree` factors out of 0 (the constant 1), 1, 2, … in the order of their largest, then of
/// their second largest and so on, has the number `Σ C(iₘ + m − 1, m)` over its factors `i₁ ≤ i₂ ≤ …`. This
/// finds them, the largest first.
fn factors(mut number: u64, degree: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for m in (1..=degree).rev() {
        let fits = |i: u64| choose(i + u64::from(m) - 1, m).is_some_and(|first| first <= number);
        let (mut low, mut high) = (0u64, 1 << 32);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if fits(middle) { low = middle } else { high = middle }
        }
        number -= choose(low + u64::from(m) - 1, m).unwrap_or(0);
        found.push(low as u32);
    }
    found
}

/// The exponent of a factor that is there so many times.
fn superscript(times: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if times == 1 {
        String::new()
    } else {
        times.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
    }
}

/// A map at work on rows of so many columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapper {
    map: Map,
    columns: usize,
    features: usize,
    /// Fourier: the entries of all directions, column by column.
    frequencies: Vec<f64>,
}

impl Mapper {
    /// For rows of so many columns, if what they become can be numbered.
    pub fn new(map: Map, columns: usize) -> Result<Self> {
        map.validate().map_err(|what| {
            Error::usage(what).hint("for example `map = poly:2` or `map = fourier:500:0.1`")
        })?;
        let mut mapper = Self { map, columns: 0, features: 0, frequencies: Vec::new() };
        mapper.grow(columns)?;
        Ok(mapper)
    }

    /// Makes room for more columns.
    pub fn grow(&mut self, columns: usize) -> Result<()> {
        let refuse = |what: String| {
            Err(Error::input(what).hint("fewer features, by `max_index`, `hash_bits` or `drop`, or no `map`"))
        };
        let Some(features) = self.map.features(columns) else {
            return refuse(format!(
                "`map = {}` makes more products of {columns} features than can be numbered",
                self.map
            ));
        };
        if let Map::Fourier { count, gamma, seed } = self.map {
            let half = count as usize / 2;
            if columns.checked_mul(half).is_none_or(|numbers| numbers > MOST_FREQUENCIES) {
                return refuse(format!(
                    "`map = {}` needs {half} random numbers for each of {columns} features",
                    self.map
                ));
            }
            for column in self.columns..columns {
                let mut random = Random::new(xxh3_64_with_seed(&(column as u64).to_le_bytes(), seed));
                self.frequencies.extend((0..half).map(|_| (2.0 * gamma).sqrt() * random.normal()));
            }
        }
        (self.columns, self.features) = (columns.max(self.columns), features.max(self.features));
        Ok(())
    }

    /// Which map this is.
    pub fn map(&self) -> Map {
        self.map
    }

    /// Columns of the rows that it maps.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Features that it makes of them.
    pub fn features(&self) -> usize {
        self.features
    }

    /// What a row becomes. Entries must be in the order of their columns; those of columns that are not known
    /// are left out.
    pub fn apply(&self, entries: &[(u32, f64)], mapped: &mut Entries) {
        mapped.indices.clear();
        mapped.values.clear();
        let known = &entries[..entries.partition_point(|(j, _)| (*j as usize) < self.columns)];
        match self.map {
            Map::Poly { degree } => {
                mapped.factors.clear();
                mapped.factors.push((0, 1.0));
                mapped.factors.extend(known.iter().map(|&(j, x)| (j + 1, x)));
                let whole = Chosen {
                    number: 0,
                    value: 1.0,
                    ways: (1..=degree).map(f64::from).product(),
                    last: usize::MAX,
                    run: 0,
                };
                let Entries { indices, values, factors } = mapped;
                products(factors, factors.len(), degree, whole, &mut |number, value| {
                    if let Some(index) = number.checked_sub(1) {
                        indices.push(index as u32);
                        values.push(value);
                    }
                });
            }
            Map::Fourier { count, .. } => {
                let half = count as usize / 2;
                mapped.values.resize(half, 0.0);
                for &(j, x) in known {
                    let frequencies = &self.frequencies[j as usize * half..(j as usize + 1) * half];
                    mapped
                        .values
                        .iter_mut()
                        .zip(frequencies)
                        .for_each(|(angle, frequency)| *angle += x * frequency);
                }
                mapped.indices.extend(0..count);
                // Rounded to single precision, which takes half the memory and is far closer than chance is.
                let length = (1.0 / half as f64).sqrt();
                let round = |x: f64| f64::from((length * x) as f32);
                let angles = std::mem::take(&mut mapped.values);
                mapped
                    .values
                    .extend(angles.iter().flat_map(|angle| [round(angle.cos()), round(angle.sin())]));
            }
        }
    }
}

/// What a row has become, and memory that is used again.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// Features, rising.
    pub indices: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    factors: Vec<(u32, f64)>,
}

/// A product of which some factors, the largest ones, are chosen.
#[derive(Clone, Copy)]
struct Chosen {
    number: u64,
    value: f64,
    /// The orders in which the factors of such a product may stand, as far as it is known which are equal.
    ways: f64,
    /// The place of the last factor chosen, and how many times it is.
    last: usize,
    run: u32,
}

/// All products of `left` more factors out of the first `end`, in the order of their numbers.
fn products(factors: &[(u32, f64)], end: usize, left: u32, chosen: Chosen, visit: &mut impl FnMut(u64, f64)) {
    if left == 0 {
        return visit(chosen.number, chosen.value * chosen.ways.sqrt());
    }
    for (place, &(factor, x)) in factors[..end].iter().enumerate() {
        let run = if place == chosen.last { chosen.run + 1 } else { 1 };
        let rank = choose(u64::from(factor) + u64::from(left) - 1, left).unwrap_or(0);
        let more = Chosen {
            number: chosen.number + rank,
            value: chosen.value * x,
            ways: chosen.ways / f64::from(run),
            last: place,
            run,
        };
        products(factors, place + 1, left - 1, more, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapped(mapper: &Mapper, row: &[(u32, f64)]) -> Entries {
        let mut entries = Entries::default();
        mapper.apply(row, &mut entries);
        entries
    }

    fn dot(a: &Entries, b: &Entries) -> f64 {
        let of = |j: &u32| b.indices.binary_search(j).map_or(0.0, |at| b.values[at]);
        a.indices.iter().zip(&a.values).map(|(j, x)| x * of(j)).sum()
    }

    fn sparse(columns: u32) -> impl Strategy<Value = Vec<(u32, f64)>> {
        prop::collection::btree_map(0..columns, -2.0f64..2.0, 0..6).prop_map(|row| row.into_iter().collect())
    }

    proptest! {
        #[test]
        fn products_are_those_of_the_kernel(x in sparse(50), z in sparse(50), degree in 2u32..5) {
            let mapper = Mapper::new(Map::Poly { degree }, 50).unwrap();
            let (a, b) = (mapped(&mapper, &x), mapped(&mapper, &z));
            prop_assert!(a.indices.is_sorted_by(|i, j| i < j));
            prop_assert_eq!(a.indices.len(), Map::Poly { degree }.entries(x.len()));
            prop_assert!(a.indices.iter().all(|&j| (j as usize) < mapper.features()));
            let inner: f64 =
                x.iter().map(|(j, x)| x * z.iter().find(|(k, _)| k == j).map_or(0.0, |(_, z)| *z)).sum();
            let size: f64 =
                1.0 + x.iter().map(|(_, x)| x * x).sum::<f64>() + z.iter().map(|(_, z)| z * z).sum::<f64>();
            let kernel = (1.0 + inner).powi(degree as i32) - 1.0;
            prop_assert!(
                (dot(&a, &b) - kernel).abs() <= 1e-12 * size.powi(degree as i32),
                "{} {kernel}",
                dot(&a, &b)
            );
        }

        #[test]
        fn a_product_is_called_by_its_factors(
            row in prop::collection::btree_map(0u32..60, 0.5f64..2.0, 1..5),
            degree in 2u32..5,
        ) {
            let row: Vec<(u32, f64)> = row.into_iter().collect();
            let map = Map::Poly { degree };
            let entries = mapped(&Mapper::new(map, 60).unwrap(), &row);
            let power =
                |text: &str| "²³⁴".chars().position(|digit| text.ends_with(digit)).map_or(1, |at| at + 2);
            for (&j, &value) in entries.indices.iter().zip(&entries.values) {
                let (mut product, mut ways, mut factors) =
                    (1.0, (1..=degree).map(f64::from).product::<f64>(), 0);
                for part in map.name(j, |i| format!("f{i}")).split('·') {
                    let exponent = power(part);
                    let number: u32 =
                        part.trim_start_matches('f').trim_end_matches(['²', '³', '⁴']).parse().unwrap();
                    let x = row.iter().find(|(i, _)| *i == number).unwrap().1;
                    product *= x.powi(exponent as i32);
                    ways /= (1..=exponent).map(|k| k as f64).product::<f64>();
                    factors += exponent as u32;
                }
                ways /= (1..=degree - factors).map(f64::from).product::<f64>();
                prop_assert!((value - product * ways.sqrt()).abs() <= 1e-12 * value.abs());
            }
        }

        /// A mean of `count/2` cosines of variance at most ½: six standard errors, which chance exceeds once
        /// in 5·10⁸ times.
        #[test]
        fn cosines_and_sines_are_the_gaussian_kernel_on_average(
            x in sparse(40), z in sparse(40), seed in any::<u64>(), gamma in 0.01f64..2.0,
        ) {
            let count = 2000;
            let mapper = Mapper::new(Map::Fourier { count, gamma, seed }, 40).unwrap();
            let (a, b) = (mapped(&mapper, &x), mapped(&mapper, &z));
            let mut difference = [0.0; 40];
            x.iter().for_each(|&(j, x)| difference[j as usize] += x);
            z.iter().for_each(|&(j, z)| difference[j as usize] -= z);
            let kernel = (-gamma * difference.iter().map(|d| d * d).sum::<f64>()).exp();
            let error = 6.0 * (0.5 / f64::from(count / 2)).sqrt();
            prop_assert!((dot(&a, &b) - kernel).abs() < error, "{} {kernel}", dot(&a, &b));
            prop_assert!((dot(&a, &a) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn more_columns_change_nothing_of_rows_that_do_not_have_them(
            row in sparse(20),
            seed in any::<u64>(),
            fourier in any::<bool>(),
        ) {
            let map =
                if fourier { Map::Fourier { count: 10, gamma: 0.3, seed } } else { Map::Poly { degree: 3 } };
            let mut grown = Mapper::new(map, 20).unwrap();
            let before = mapped(&grown, &row);
            grown.grow(35).unwrap();
            prop_assert_eq!(&grown, &Mapper::new(map, 35).unwrap());
            let after = mapped(&grown, &row);
            prop_assert_eq!((before.indices, before.values), (after.indices, after.values));
        }
    }

    #[test]
    fn columns_that_are_not_known_are_left_out() {
        let mapper = Mapper::new(Map::Poly { degree: 2 }, 3).unwrap();
        let (some, all) =
            (mapped(&mapper, &[(1, 2.0)]), mapped(&mapper, &[(1, 2.0), (3, 5.0), (u32::MAX, 7.0)]));
        assert_eq!((some.indices, some.values), (all.indices, all.values));
    }

    #[test]
    fn maps_of_too_much_are_refused_with_a_hint() {
        for (map, columns) in [
            (Map::Poly { degree: 2 }, 1_600_000),
            (Map::Poly { degree: 10 }, 1000),
            (Map::Fourier { count: 1000, gamma: 1.0, seed: 0 }, 1 << 20),
        ] {
            let error = Mapper::new(map, columns).unwrap_err();
            assert!(error.advice().is_some(), "{error}");
        }
        for map in [
            Map::Poly { degree: 1 },
            Map::Poly { degree: 11 },
            Map::Fourier { count: 3, gamma: 1.0, seed: 0 },
            Map::Fourier { count: 2, gamma: f64::NAN, seed: 0 },
        ] {
            assert!(map.validate().is_err() && Mapper::new(map, 3).is_err());
        }
    }
}
