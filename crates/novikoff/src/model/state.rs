//! What learning needs to go on from a model, beside what prediction needs.
//!
//! A state is a list of named counters, texts and numbers. A learner puts in what it needs and takes it out
//! again; it may trust neither length nor sense of what it takes. Files know nothing of their meaning.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What kind of learning a state is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// One pass over a stream.
    #[default]
    Stream,
    /// Epochs over rows in memory.
    Epochs,
    /// Counts of rows in memory.
    Counts,
}

/// Numbers of a state, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum StateNumbers {
    /// Double precision.
    F64(Vec<f64>),
    /// Single precision.
    F32(Vec<f32>),
    /// Counters.
    U64(Vec<u64>),
    /// Indices.
    U32(Vec<u32>),
    /// Bytes.
    U8(Vec<u8>),
}

impl StateNumbers {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            StateNumbers::F64(numbers) => numbers.len(),
            StateNumbers::F32(numbers) => numbers.len(),
            StateNumbers::U64(numbers) => numbers.len(),
            StateNumbers::U32(numbers) => numbers.len(),
            StateNumbers::U8(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A type of numbers that a state can have.
pub trait StateNumber: Sized {
    /// The numbers as those of a state.
    fn wrap(numbers: Vec<Self>) -> StateNumbers;

    /// The other way round; `None` if they are of another type.
    fn unwrap(numbers: StateNumbers) -> Option<Vec<Self>>;
}

macro_rules! state_number {
    ($number:ty, $variant:ident) => {
        impl StateNumber for $number {
            fn wrap(numbers: Vec<Self>) -> StateNumbers {
                StateNumbers::$variant(numbers)
            }

            fn unwrap(numbers: StateNumbers) -> Option<Vec<Self>> {
                if let StateNumbers::$variant(numbers) = numbers { Some(numbers) } else { None }
            }
        }
    };
}

state_number!(f64, F64);
state_number!(f32, F32);
state_number!(u64, U64);
state_number!(u32, U32);
state_number!(u8, U8);

/// What learning needs to go on, by name.
///
/// ```
/// use novikoff::model::{State, StateKind};
///
/// let mut state = State::new(StateKind::Stream);
/// state.put_count("rows", 3);
/// state.put("delayed", vec![0.5, 0.0]);
/// assert_eq!(state.take_count("rows")?, 3);
/// assert_eq!(state.take::<f64>("delayed", 2)?, [0.5, 0.0]);
/// state.finish()?;
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(super) kind: StateKind,
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) texts: BTreeMap<String, String>,
    pub(super) numbers: BTreeMap<String, StateNumbers>,
}

/// Larger counts are of no stream: they leave room to count on.
pub(super) const MOST_COUNTED: u64 = 1 << 60;

impl State {
    /// A state with nothing in it.
    pub fn new(kind: StateKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// What kind of learning it is of.
    pub fn kind(&self) -> StateKind {
        self.kind
    }

    /// Whether it has numbers of this name.
    pub fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The names of everything in it.
    pub fn names(&self) -> Vec<String> {
        self.counts.keys().chain(self.texts.keys()).chain(self.numbers.keys()).cloned().collect()
    }

    /// Takes out whatever has this name.
    pub fn remove(&mut self, name: &str) {
        self.counts.remove(name);
        self.texts.remove(name);
        self.numbers.remove(name);
    }

    /// Puts in a counter.
    pub fn put_count(&mut self, name: &str, count: u64) {
        self.counts.insert(name.to_owned(), count);
    }

    /// Puts in a text.
    pub fn put_text(&mut self, name: &str, text: impl Into<String>) {
        self.texts.insert(name.to_owned(), text.into());
    }

    /// Puts in numbers.
    pub fn put<T: StateNumber>(&mut self, name: &str, numbers: Vec<T>) {
        self.numbers.insert(name.to_owned(), T::wrap(numbers));
    }

    /// Takes out a counter.
    pub fn take_count(&mut self, name: &str) -> Result<u64> {
        self.counts.remove(name).ok_or_else(|| missing(name))
    }

    /// Takes out a text, if it is there.
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        self.texts.remove(name)
    }

    /// Takes out so many numbers, which are finite.
    pub fn take<T: StateNumber>(&mut self, name: &str, length: usize) -> Result<Vec<T>> {
        let numbers = self.take_all::<T>(name)?;
        match numbers.len() == length {
            true => Ok(numbers),
            false => Err(damaged(format!("`{name}` are {} numbers, not {length}", numbers.len()))),
        }
    }

    /// Takes out a single number.
    pub fn take_one<T: StateNumber>(&mut self, name: &str) -> Result<T> {
        self.take::<T>(name, 1)?.pop().ok_or_else(|| missing(name))
    }

    /// Takes out numbers, however many there are.
    pub fn take_all<T: StateNumber>(&mut self, name: &str) -> Result<Vec<T>> {
        let numbers = self.numbers.remove(name).ok_or_else(|| missing(name))?;
        T::unwrap(numbers).ok_or_else(|| damaged(format!("`{name}` are numbers of another type")))
    }

    /// Everything must have been taken out.
    pub fn finish(self) -> Result<()> {
        let left =
            self.counts.into_keys().chain(self.texts.into_keys()).chain(self.numbers.into_keys()).next();
        left.map_or(Ok(()), |name| Err(damaged(format!("its learner does not know of `{name}`"))))
    }
}

fn missing(name: &str) -> Error {
    damaged(format!("it has no `{name}`"))
}

/// The error of a state that makes no sense.
pub(crate) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::input(format!("the model's state, from which learning would go on, is damaged: {what}"))
        .hint("train the model again; it still predicts")
}
