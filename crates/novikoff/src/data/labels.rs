//! Label names and their numbers.

use rustc_hash::FxHashMap;

/// A table of label names. Two spellings of one number (`1`, `+1`, `1.0`) are one label, under the spelling
/// first seen.
///
/// Codes are names, which differ where their spelling does, though they look like numbers: with zeros in
/// front (`00501` is not `501`), and from 2⁵³ on, where double precision confuses neighbours
/// (`9007199254740992` and `9007199254740993`).
///
/// ```
/// use novikoff::data::Labels;
/// let mut labels = Labels::default();
/// assert_eq!(labels.intern("+1"), 0);
/// assert_eq!(labels.intern("spam"), 1);
/// assert_eq!(labels.find("1.0"), Some(0));
/// assert_eq!(labels.find("ham"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Vec<String>,
    by_number: FxHashMap<u64, u32>,
    by_name: FxHashMap<String, u32>,
}

impl Labels {
    /// A table of these names in this order.
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut labels = Self::default();
        for name in names {
            labels.intern(name.as_ref());
        }
        labels
    }

    /// The number of the label, if it is in the table.
    pub fn find(&self, name: &str) -> Option<u32> {
        match identity(name) {
            Some(value) => self.by_number.get(&key(value)).copied(),
            None => self.by_name.get(name).copied(),
        }
    }

    /// The number of the label, which is added if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        match identity(name) {
            Some(value) => self.by_number.insert(key(value), id),
            None => self.by_name.insert(name.to_owned(), id),
        };
        id
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Forgets all labels, keeping the memory.
    pub fn clear(&mut self) {
        self.names.clear();
        self.by_number.clear();
        self.by_name.clear();
    }

    /// The numbers that the labels stand for, if all of them are numbers.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.names.iter().map(|name| as_number(name)).collect()
    }

    /// The order in which labels are presented: numbers by size, names by alphabet. In two-class problems the
    /// last is the positive one: `1` of `-1`/`1` and of `0`/`1`, `2` of `1`/`2`, `spam` of `ham`/`spam`.
    pub fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        let by_name = |a: u32, b: u32| self.names[a as usize].cmp(&self.names[b as usize]);
        match self.numbers() {
            Some(values) => {
                let by_size = |a: u32, b: u32| values[a as usize].total_cmp(&values[b as usize]);
                // Codes may be names of one number.
                order.sort_by(|&a, &b| by_size(a, b).then_with(|| by_name(a, b)));
            }
            None => order.sort_by(|&a, &b| by_name(a, b)),
        }
        order
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

/// The finite number that a label spells, if it does. Words such as `nan` or `infinity` are names, not
/// numbers.
pub fn as_number(name: &str) -> Option<f64> {
    let first = name.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    name.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// From here on, neighbouring whole numbers are one in double precision: 2⁵³.
const CONFUSED: f64 = 9_007_199_254_740_992.0;

/// The number by which a label is known under any spelling; `None` for names and codes.
fn identity(name: &str) -> Option<f64> {
    let value = as_number(name).filter(|value| value.abs() < CONFUSED)?;
    let digits = name.trim_start_matches(['+', '-']).as_bytes();
    let is_padded = digits.first() == Some(&b'0') && digits.get(1).is_some_and(u8::is_ascii_digit);
    // Too small to be told from zero.
    let mut mantissa = digits.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let has_vanished = value == 0.0 && mantissa.any(|byte| (b'1'..=b'9').contains(byte));
    (!is_padded && !has_vanished).then_some(value)
}

fn key(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_sort_by_size_when_all_are_numbers_and_by_alphabet_otherwise() {
        assert_eq!(Labels::new(["10", "9", "-1"]).sorted(), [2, 1, 0]);
        assert_eq!(Labels::new(["10", "9", "x"]).sorted(), [0, 1, 2]);
        assert_eq!(Labels::new(["TECH", "NOT TECH"]).sorted(), [1, 0]);
    }

    #[test]
    fn spellings_of_one_number_are_one_label() {
        let mut labels = Labels::default();
        assert_eq!(labels.intern("0"), labels.intern("-0.0"));
        assert_eq!(labels.intern("1e1"), labels.intern("10"));
        assert_ne!(labels.intern("nan"), labels.intern("NaN"));
        assert_eq!(labels.len(), 4);
    }

    #[test]
    fn codes_are_names() {
        let codes =
            ["9007199254740992", "9007199254740993", "501", "00501", "-01", "-1", "1e-400", "0", "2e-400"];
        let labels = Labels::new(codes);
        assert_eq!(labels.names(), codes);
        assert_eq!(codes.map(|code| labels.find(code)), [0, 1, 2, 3, 4, 5, 6, 7, 8].map(Some));
        assert_eq!(
            (labels.find("+501.0"), labels.find("0501"), labels.find("-0e7")),
            (Some(2), None, Some(7))
        );
        // Their order depends on the names alone.
        assert_eq!(Labels::new(["501", "00501"]).sorted(), [1, 0]);
        assert_eq!(Labels::new(["00501", "501"]).sorted(), [0, 1]);
        let near_the_end = ["9007199254740991", "9007199254740991.0", "0.5", ".5", "5e-1"];
        assert_eq!(Labels::new(near_the_end).len(), 2);
    }
}
