//! Label names and their numbers.

use rustc_hash::FxHashMap;

/// A table of label names. Two spellings of one number (`1`, `+1`, `1.0`) are one label, under the spelling
/// first seen.
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
        match as_number(name) {
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
        match as_number(name) {
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
        match self.numbers() {
            Some(values) => order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize])),
            None => order.sort_by(|&a, &b| self.names[a as usize].cmp(&self.names[b as usize])),
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
}
