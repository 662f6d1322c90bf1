//! Labels: two spellings of one number (`1`, `+1`, `1.0`) are one label.

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
            Some(value) => Key::Number(if value == 0.0 { 0 } else { value.to_bits() }),
            None => Key::Name(name.to_owned()),
        }
    }
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
