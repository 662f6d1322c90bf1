//! Labels: two spellings of one number (`1`, `+1`, `1.0`) are one label. Codes are names: numbers with zeros
//! in front of other digits, and those from 2^53 on, where doubles no longer tell neighbours apart.

use std::collections::HashMap;

/// What a label is, however it is spelled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// The bits of the number that it spells.
    Number(u64),
    Name(String),
}

impl Key {
    fn of(name: &str) -> Self {
        match number(name) {
            Some(value) if !is_code(name, value) => {
                Key::Number(if value == 0.0 { 0 } else { value.to_bits() })
            }
            _ => Key::Name(name.to_owned()),
        }
    }
}

/// Whether the spelling of a number is a name: a whole number too large to be told from its neighbours, one
/// with a zero in front of a digit, or one so small that nothing but zero is left of it.
fn is_code(name: &str, value: f64) -> bool {
    let unsigned = name.strip_prefix(['+', '-']).unwrap_or(name);
    let in_front = unsigned.split(['e', 'E']).next().unwrap_or("");
    let padded = matches!(unsigned.as_bytes(), [b'0', b'0'..=b'9', ..]);
    let nothing_left = value == 0.0 && in_front.contains(|digit: char| ('1'..='9').contains(&digit));
    value.abs() >= (1u64 << 53) as f64 || padded || nothing_left
}

/// The finite number that a label spells, if it does. `nan` and `infinity` are names.
pub fn number(name: &str) -> Option<f64> {
    let first = name.bytes().next()?;
    let starts = first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.');
    name.parse::<f64>().ok().filter(|value| starts && value.is_finite())
}

/// Names of labels and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Vec<String>,
    numbers: HashMap<Key, usize>,
}

impl Labels {
    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of a label, by any of its spellings.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(&Key::of(name)).copied()
    }

    /// Adds a label; one that is there already comes back.
    pub fn add(&mut self, name: String) -> Result<usize, String> {
        let (key, number) = (Key::of(&name), self.names.len());
        if self.numbers.contains_key(&key) {
            return Err(name);
        }
        self.numbers.insert(key, number);
        self.names.push(name);
        Ok(number)
    }

    /// The number of a label, which is added if it is new.
    pub fn find_or_add(&mut self, name: &str) -> usize {
        match self.find(name) {
            Some(number) => number,
            None => self.add(name.to_owned()).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_number_are_one_label_and_codes_are_names() {
        let mut labels = Labels::default();
        let names = ["1", "+1", "1.0", "01", "9007199254740992", "9007199254740993", "0", "-0.0", "1e-400"];
        let numbers = names.map(|name| labels.find_or_add(name));
        assert_eq!(numbers, [0, 0, 0, 1, 2, 3, 4, 4, 5]);
    }
}
