//! Features of namespaces, as Vowpal Wabbit's format has them: products of features of several namespaces,
//! and Vowpal Wabbit's own hash, by which its models number features.
//!
//! An interaction lists namespaces by the first letters of their names, as Vowpal Wabbit's `-q ab` does: `ab`
//! makes the product of every feature of a namespace `a…` with every feature of a namespace `b…`, `aa` the
//! products of every two features of `a…` and their squares, `abc` products of three. A space is the
//! namespace without a name, and a colon stands for any namespace: `::` is every two of them.

use super::{Dictionary, fold};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// How the features of Vowpal Wabbit's format become columns, where more than their names decides it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamespaceSchema {
    /// How features, and their products, are numbered.
    pub numbering: FeatureNumbering,
    /// Whose features are multiplied.
    pub interactions: Interactions,
}

/// How features of namespaces are numbered.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureNumbering {
    /// By name. A product is called by its factors: `a^x*b^y`.
    Named(Arc<Dictionary>),
    /// By hash. That of a product is XXH3 of the hashes of its factors, one behind the other.
    Hashed {
        /// There are `2^bits` features.
        bits: u8,
    },
    /// By Vowpal Wabbit's hash.
    Murmur(Arc<Murmur>),
}

/// Vowpal Wabbit's hash: MurmurHash3 of a name, seeded by that of its namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Murmur {
    /// There are `2^bits` features.
    pub bits: u8,
    /// What becomes of names that are numbers.
    pub numbers: Numbers,
    /// The seed of the namespaces' hashes.
    pub seed: u32,
    /// Names of features that are known, by their number.
    pub names: Vec<(u32, String)>,
}

/// What becomes of names that are whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// They are their own hashes.
    #[default]
    AsTheyAre,
    /// They are hashed as other names are.
    Hashed,
}

impl NamespaceSchema {
    /// The bits of the hash, where there is one.
    pub fn bits(&self) -> Option<u8> {
        match &self.numbering {
            FeatureNumbering::Named(_) => None,
            FeatureNumbering::Hashed { bits } => Some(*bits),
            FeatureNumbering::Murmur(murmur) => Some(murmur.bits),
        }
    }

    /// How many features there are.
    pub fn features(&self) -> usize {
        match &self.numbering {
            FeatureNumbering::Named(dictionary) => dictionary.len(),
            FeatureNumbering::Hashed { bits } => 1 << bits,
            FeatureNumbering::Murmur(murmur) => 1 << murmur.bits,
        }
    }

    pub(super) fn name(&self, j: u32) -> String {
        match &self.numbering {
            FeatureNumbering::Named(dictionary) => {
                dictionary.names().get(j as usize).cloned().unwrap_or_else(|| format!("#{j}"))
            }
            FeatureNumbering::Hashed { .. } => format!("hash {j}"),
            FeatureNumbering::Murmur(murmur) => murmur.name(j).unwrap_or_else(|| format!("hash {j}")),
        }
    }

    /// The schema with these named features alone.
    pub(crate) fn of_features(&self, kept: &[u32]) -> Self {
        let numbering = match &self.numbering {
            FeatureNumbering::Named(names) => {
                FeatureNumbering::Named(Arc::new(names.as_ref().clone().select(kept)))
            }
            hashed => hashed.clone(),
        };
        Self { numbering, interactions: self.interactions.clone() }
    }

    /// Whether a schema that comes from outside is one that could have been made here; `Err` says why not.
    pub fn validate(&self) -> Result<(), String> {
        if Interactions::new(&self.interactions.0)? != self.interactions {
            return Err("an interaction is there twice".into());
        }
        if self.interactions.is_empty() && !matches!(self.numbering, FeatureNumbering::Murmur(_)) {
            return Err("there is no interaction of namespaces".into());
        }
        let FeatureNumbering::Murmur(murmur) = &self.numbering else {
            return match self.bits() {
                Some(bits) if bits > 32 => Err(format!("a hash of {bits} bits is longer than 32")),
                _ => Ok(()),
            };
        };
        if murmur.bits > Murmur::MOST_BITS {
            return Err(format!("a hash of {} bits is longer than {}", murmur.bits, Murmur::MOST_BITS));
        }
        let is_known = |name: &(u32, String)| u64::from(name.0) < 1 << murmur.bits;
        if !murmur.names.is_sorted_by_key(|name| name.0) || !murmur.names.iter().all(is_known) {
            return Err("the names of features are not in the order of the features".into());
        }
        Ok(())
    }
}

/// FNV's prime, by which Vowpal Wabbit makes one hash of several.
const FNV_PRIME: u64 = 16_777_619;

impl Murmur {
    /// The longest hash of Vowpal Wabbit.
    pub const MOST_BITS: u8 = 31;
    /// What Vowpal Wabbit calls the feature that every row has.
    pub const CONSTANT: u64 = 11_650_396;

    /// The hash of a namespace.
    pub(crate) fn namespace(&self, name: &[u8]) -> u64 {
        match name {
            // Without a seed, the namespace without a name is no part of its features' hashes.
            [] if self.seed == 0 => 0,
            [] => u64::from(mur3::murmurhash3_x86_32(name, self.seed)),
            _ => self.hash(name, u64::from(self.seed)),
        }
    }

    /// The hash of a feature.
    pub(crate) fn feature(&self, namespace: u64, name: &[u8]) -> u64 {
        self.hash(name, namespace)
    }

    fn hash(&self, name: &[u8], seed: u64) -> u64 {
        let digit = |number: u64, byte: &u8| number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        if self.numbers == Numbers::AsTheyAre && name.iter().all(u8::is_ascii_digit) {
            return name.iter().fold(0, digit).wrapping_add(seed);
        }
        u64::from(mur3::murmurhash3_x86_32(name, seed as u32))
    }

    /// The hash of a product, by those of its factors.
    pub(crate) fn product(factors: impl Iterator<Item = u64>) -> u64 {
        factors.reduce(|product, factor| product.wrapping_mul(FNV_PRIME) ^ factor).unwrap_or(0)
    }

    /// The number of a hash.
    pub(crate) fn fold(&self, hash: u64) -> u32 {
        fold(hash, self.bits)
    }

    /// The number of the feature that every row has.
    pub(crate) fn constant(&self) -> u32 {
        self.fold(Self::CONSTANT)
    }

    /// The names of a feature, up to three of them.
    fn name(&self, j: u32) -> Option<String> {
        let from = self.names.partition_point(|name| name.0 < j);
        let count = self.names[from..].partition_point(|name| name.0 == j);
        let names = &self.names[from..from + count];
        let mut shown: Vec<&str> = names.iter().take(3).map(|name| name.1.as_str()).collect();
        shown.extend((count > 3).then_some("…"));
        (count > 0).then(|| shown.join("|"))
    }
}

/// The hash of a product, by those of its factors.
pub(crate) fn hash_product(factors: impl Iterator<Item = u64>) -> u64 {
    let (mut bytes, mut length) = ([0; 8 * Interactions::MOST_FACTORS], 0);
    for factor in factors.take(Interactions::MOST_FACTORS) {
        bytes[length..length + 8].copy_from_slice(&factor.to_le_bytes());
        length += 8;
    }
    xxh3_64(&bytes[..length])
}

/// Namespaces whose features are multiplied, by the first letters of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interactions(Vec<String>);

/// The namespace without a name.
pub(crate) const NAMELESS: char = ' ';
/// Any namespace.
const ANY: char = ':';

impl Interactions {
    /// Most factors of a product.
    pub const MOST_FACTORS: usize = 8;
    /// Most products of one row.
    pub(crate) const MOST_PRODUCTS: u64 = 1 << 22;
    const MOST: usize = 1000;

    /// These interactions, each as the letters of its namespaces. Of two that multiply the same namespaces
    /// the first is kept.
    ///
    /// ```
    /// use novikoff::features::namespaces::Interactions;
    /// assert!(Interactions::new(["ab", "::"]).is_ok());
    /// assert!(Interactions::new(["a"]).is_err(), "a product has two factors or more");
    /// ```
    pub fn new<S: AsRef<str>>(all: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut kept: Vec<String> = Vec::new();
        for letters in all {
            let letters = letters.as_ref();
            let factors = letters.chars().count();
            if !(2..=Self::MOST_FACTORS).contains(&factors) {
                return Err(format!(
                    "an interaction has the letters of 2 to {} namespaces, and {letters:?} has {factors}",
                    Self::MOST_FACTORS
                ));
            }
            if let Some(wrong) = letters.chars().find(|c| matches!(c, '|' | '\t' | '\n' | '\r')) {
                return Err(format!("no namespace starts with {wrong:?}, as in the interaction {letters:?}"));
            }
            if kept.iter().all(|other| in_order(other.chars()) != in_order(letters.chars())) {
                kept.push(grouped(letters.chars().collect()).into_iter().collect());
            }
        }
        if kept.len() > Self::MOST {
            return Err(format!("{} interactions are more than {}", kept.len(), Self::MOST));
        }
        Ok(Self(kept))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, as its letters.
    pub fn letters(&self) -> &[String] {
        &self.0
    }

    /// The namespaces to multiply in a row that has these, in order: any namespace is each of them.
    fn expanded(&self, present: &[char]) -> Vec<Vec<char>> {
        let mut all: Vec<Vec<char>> = Vec::new();
        let mut seen: Vec<Vec<char>> = Vec::new();
        for letters in &self.0 {
            expand(&letters.chars().collect::<Vec<_>>(), present, &mut |expanded| {
                let key = in_order(expanded.iter().copied());
                if !seen.contains(&key) {
                    seen.push(key);
                    all.push(grouped(expanded.to_vec()));
                }
            });
        }
        all
    }
}

fn in_order(letters: impl Iterator<Item = char>) -> Vec<char> {
    let mut letters: Vec<char> = letters.collect();
    letters.sort_unstable();
    letters
}

/// Vowpal Wabbit's order of the factors: as given, but in the order of the letters if one letter of several
/// is there twice. Then equal ones are neighbours.
fn grouped(letters: Vec<char>) -> Vec<char> {
    let sorted = in_order(letters.iter().copied());
    let is_repeated = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if is_repeated && !letters.contains(&ANY) { sorted } else { letters }
}

/// All ways of putting namespaces for those that may be any.
fn expand(letters: &[char], present: &[char], visit: &mut impl FnMut(&[char])) {
    let Some(at) = letters.iter().position(|letter| *letter == ANY) else {
        return visit(letters);
    };
    let mut filled = letters.to_vec();
    for &namespace in present {
        filled[at] = namespace;
        expand(&filled, present, visit);
    }
}

/// A feature of a row that may be a factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    /// The first letter of its namespace.
    pub namespace: char,
    /// Its hash, or where its name stands.
    pub id: u64,
    pub value: f64,
}

/// What the products of a row are made of, and memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Products {
    /// The namespaces of the last row, and what is to be multiplied of them.
    present: Vec<char>,
    expanded: Option<Vec<Vec<char>>>,
    /// Where the factors of each namespace are.
    spans: Vec<Range<usize>>,
    chosen: Vec<usize>,
}

impl Products {
    /// Gives all products to `visit`, each as the numbers of its factors. The factors must be in the order of
    /// their namespaces; of one namespace, a product has them in the order given. If there are too many
    /// products, says how many.
    pub(crate) fn for_each(
        &mut self,
        interactions: &Interactions,
        factors: &[Factor],
        visit: &mut impl FnMut(&[usize]),
    ) -> Result<(), u64> {
        let present: Vec<char> = factors.chunk_by(|a, b| a.namespace == b.namespace).map(letter).collect();
        if self.expanded.is_none() || present != self.present {
            self.expanded = Some(interactions.expanded(&present));
            self.present = present;
        }
        let expanded = self.expanded.take().unwrap_or_default();
        let count = expanded.iter().map(|letters| count(letters, factors)).fold(0, u64::saturating_add);
        if count <= Interactions::MOST_PRODUCTS {
            expanded.iter().for_each(|letters| self.multiply(letters, factors, visit));
        }
        self.expanded = Some(expanded);
        if count > Interactions::MOST_PRODUCTS { Err(count) } else { Ok(()) }
    }

    fn multiply(&mut self, letters: &[char], factors: &[Factor], visit: &mut impl FnMut(&[usize])) {
        self.spans.clear();
        self.spans.extend(letters.iter().map(|letter| span(*letter, factors)));
        self.chosen.clear();
        choose(letters, &self.spans, &mut self.chosen, visit);
    }
}

fn letter(factors: &[Factor]) -> char {
    factors[0].namespace
}

fn span(letter: char, factors: &[Factor]) -> Range<usize> {
    factors.partition_point(|it| it.namespace < letter)..factors.partition_point(|it| it.namespace <= letter)
}

/// Chooses one more factor of those that are left; of a namespace that is there again, none before the last.
fn choose(
    letters: &[char],
    spans: &[Range<usize>],
    chosen: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]),
) {
    let at = chosen.len();
    let Some(span) = spans.get(at) else { return visit(chosen) };
    let is_again = at > 0 && letters[at] == letters[at - 1];
    let first = if is_again { chosen[at - 1] } else { span.start };
    for factor in first..span.end {
        chosen.push(factor);
        choose(letters, spans, chosen, visit);
        chosen.pop();
    }
}

/// How many products these namespaces have.
fn count(letters: &[char], factors: &[Factor]) -> u64 {
    let of_run = |run: &[char]| {
        let (own, times) = (span(run[0], factors).len() as u64, run.len() as u64);
        // Multisets of so many: C(own + times − 1, times).
        (0..times).try_fold(1u64, |product, k| Some(product.checked_mul(own + k)? / (k + 1)))
    };
    let mut runs = letters.chunk_by(|a, b| a == b).map(of_run);
    runs.try_fold(1, |product: u64, run| product.checked_mul(run?)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn factors(namespaces: &str) -> Vec<Factor> {
        let factor = |(id, namespace)| Factor { namespace, id, value: 1.0 };
        (0..).zip(namespaces.chars()).map(factor).collect()
    }

    fn products(interactions: &[&str], namespaces: &str) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        let interactions = Interactions::new(interactions).unwrap();
        let mut products = Products::default();
        let mut visit = |chosen: &[usize]| found.push(chosen.to_vec());
        products.for_each(&interactions, &factors(namespaces), &mut visit).unwrap();
        found
    }

    #[test]
    fn products_are_those_of_vowpal_wabbit() {
        assert_eq!(products(&["ab"], "aabc"), [[0, 2], [1, 2]]);
        assert_eq!(products(&["ba"], "aab"), [[2, 0], [2, 1]]);
        assert_eq!(products(&["aa"], "aab"), [[0, 0], [0, 1], [1, 1]]);
        assert_eq!(products(&["bba"], "abb"), [[0, 1, 1], [0, 1, 2], [0, 2, 2]]);
        assert_eq!(products(&["::"], " ab"), [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
        assert_eq!(products(&["b:", "ba"], " ab"), [[2, 0], [2, 1], [2, 2]]);
        assert_eq!(products(&["ab", "ba", "::"], "ab"), [[0, 1], [0, 0], [1, 1]]);
        assert_eq!(products(&["xy"], "ab"), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn what_is_no_interaction_is_refused() {
        for letters in ["", "a", "abcdefghi", "a|", "a\t"] {
            assert!(Interactions::new([letters]).is_err(), "{letters:?}");
        }
    }

    #[test]
    fn too_many_products_are_counted_and_not_made() {
        let many = factors(&"a".repeat(5000));
        let all = Interactions::new(["aa"]).unwrap();
        let counted = Products::default().for_each(&all, &many, &mut |_| panic!("made"));
        assert_eq!(counted, Err(5000 * 5001 / 2));
        let cubes = Interactions::new(["aaaaaaaa"]).unwrap();
        assert_eq!(Products::default().for_each(&cubes, &many, &mut |_| panic!("made")), Err(u64::MAX));
    }

    /// Numbers of `vw --invert_hash` 9.11 for `1 |a x y:2 |b z:3 w | d:2 5` and others.
    #[test]
    fn hashes_are_those_of_vowpal_wabbit() {
        let murmur = Murmur { bits: 18, numbers: Numbers::AsTheyAre, seed: 0, names: Vec::new() };
        let hash =
            |space: &str, name: &str| murmur.feature(murmur.namespace(space.as_bytes()), name.as_bytes());
        for (space, name, expected) in [
            ("", "5", 5),
            ("a", "x", 55432),
            ("a", "y", 42847),
            ("a", "1", 92595),
            ("abc", "q", 62115),
            ("", "d", 70771),
            ("2c", "7", 116_854),
            ("b", "z", 124_687),
            ("b", "w", 114_093),
        ] {
            assert_eq!(murmur.fold(hash(space, name)), expected, "{space}^{name}");
        }
        let product = |factors: &[(&str, &str)]| {
            let hashes = factors.iter().map(|(space, name)| hash(space, name));
            murmur.fold(Murmur::product(hashes))
        };
        assert_eq!(product(&[("a", "x"), ("b", "z")]), 80151);
        assert_eq!(product(&[("a", "x"), ("a", "x")]), 1680);
        assert_eq!(product(&[("", "5"), ("a", "y")]), 41088);
        assert_eq!(murmur.constant(), 116_060);
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_products(
            letters in prop::collection::vec("[a-c:]{2,4}", 1..4),
            namespaces in "a{0,4}b{0,4}c{0,4}",
        ) {
            let interactions = Interactions::new(&letters).unwrap();
            let factors = factors(&namespaces);
            let mut found: Vec<Vec<usize>> = Vec::new();
            let mut products = Products::default();
            products.for_each(&interactions, &factors, &mut |chosen| found.push(chosen.to_vec())).unwrap();
            let present: Vec<char> = "abc".chars().filter(|c| namespaces.contains(*c)).collect();
            let counted: u64 =
                interactions.expanded(&present).iter().map(|letters| count(letters, &factors)).sum();
            prop_assert_eq!(found.len() as u64, counted);
            // Naively: all choices of as many factors that have these letters, in any order.
            let mut naive: BTreeMap<Vec<usize>, ()> = BTreeMap::new();
            for letters in &letters {
                let letters: Vec<char> = letters.chars().collect();
                let n = factors.len();
                for choice in 0..n.pow(letters.len() as u32) {
                    let mut chosen: Vec<usize> =
                        (0..letters.len() as u32).map(|k| choice / n.pow(k) % n).collect();
                    let fits = |(at, letter): (&usize, &char)| {
                        *letter == ANY || factors[*at].namespace == *letter
                    };
                    if chosen.iter().zip(&letters).all(fits) {
                        chosen.sort_unstable();
                        naive.insert(chosen, ());
                    }
                }
            }
            found.iter_mut().for_each(|chosen| chosen.sort_unstable());
            found.sort();
            prop_assert_eq!(found, naive.into_keys().collect::<Vec<_>>());
        }
    }
}
