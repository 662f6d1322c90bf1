//! The state of a comparison as a file: what is done, and the journal of the interrupted run.

use super::journal::Journal;
use super::{Entry, Problem};
use crate::certificate::numbers;
use crate::error::{Error, Result};
use crate::model::{Mistake, NOBODY};
use serde::{Deserialize, Serialize};

const FORMAT: &str = ComparisonState::FORMAT;
const VERSION: u32 = 1;
/// No run has more epochs.
const MOST_EPOCHS: usize = 1 << 20;

/// The state of a comparison, from which it can resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonState {
    format: String,
    version: u32,
    /// Identifies the rows and the settings; empty before the first run.
    fingerprint: String,
    /// Kernels and learners that are done, with their lines.
    done: Vec<(String, Vec<Entry>)>,
    /// The kernel whose run was interrupted, and its journal.
    run: Option<(String, PackedJournal)>,
}

impl Default for ComparisonState {
    fn default() -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            fingerprint: String::new(),
            done: Vec::new(),
            run: None,
        }
    }
}

/// A journal, stored by columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackedJournal {
    #[serde(with = "numbers")]
    row: Vec<u32>,
    #[serde(with = "numbers")]
    gains: Vec<u32>,
    #[serde(with = "numbers")]
    loses: Vec<u32>,
    #[serde(with = "numbers")]
    step: Vec<f64>,
    #[serde(with = "numbers")]
    round: Vec<f64>,
    #[serde(with = "numbers")]
    lengths_sq: Vec<f64>,
    #[serde(with = "numbers")]
    rounds: Vec<f64>,
    #[serde(with = "numbers")]
    seconds: Vec<f64>,
    epochs: usize,
    position: usize,
    earlier: usize,
    separated: bool,
}

impl ComparisonState {
    /// What the file of a state says that it is, in its first field.
    pub const FORMAT: &str = "novikoff-comparison";

    /// A state as [`ComparisonState::to_text`] wrote it.
    pub fn from_text(text: &str) -> Result<Self> {
        let state: Self = serde_json::from_str(text)
            .map_err(|error| Error::input(format!("this is no state of a comparison: {error}")))?;
        if state.format != FORMAT || state.version != VERSION {
            let what = format!(
                "this is {:?}, version {}, and not {FORMAT:?}, version {VERSION}",
                state.format, state.version
            );
            return Err(Error::input(what));
        }
        Ok(state)
    }

    /// The state as a file's contents.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// All lines so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.done.iter().flat_map(|(_, entries)| entries).cloned().collect()
    }

    pub(super) fn is_done(&self, name: &str) -> bool {
        self.done.iter().any(|(done, _)| done == name)
    }

    /// Checks that this is a state of this comparison, and that its run is a possible one.
    pub(super) fn check(&mut self, fingerprint: &str, problem: &Problem<'_>) -> Result<()> {
        if self.fingerprint.is_empty() && self.done.is_empty() && self.run.is_none() {
            self.fingerprint = fingerprint.to_owned();
        }
        if self.fingerprint != fingerprint {
            let error = Error::usage("the state is of a comparison of other rows, or by other settings");
            return Err(error.hint("give the same data and options as before, or another `state`"));
        }
        let outputs = problem.plan.scheme.outputs(problem.plan.classes) as u32;
        let Some((_, run)) = &self.run else { return Ok(()) };
        match run.fault(problem.data.len(), outputs) {
            Some(what) => Err(Error::usage(format!("the run in the state cannot be: {what}"))),
            None => Ok(()),
        }
    }

    /// The journal of a kernel's run, to resume.
    pub(super) fn take_run(&mut self, name: &str) -> Journal {
        match self.run.take() {
            Some((of, run)) if of == name => run.unpacked(),
            other => {
                self.run = other;
                Journal::default()
            }
        }
    }

    pub(super) fn keep_run(&mut self, name: String, journal: Journal) {
        self.run = Some((name, PackedJournal::of(journal)));
    }

    pub(super) fn finish(&mut self, name: String, entries: Vec<Entry>) {
        self.done.push((name, entries));
    }
}

impl PackedJournal {
    fn of(journal: Journal) -> Self {
        let whole = |of: fn(&Mistake) -> u32| journal.mistakes.iter().map(of).collect();
        let real = |of: fn(&Mistake) -> f64| journal.mistakes.iter().map(of).collect();
        let (rounds, seconds) = journal.clock.into_iter().unzip();
        Self {
            row: whole(|m| m.row),
            gains: whole(|m| m.gains),
            loses: whole(|m| m.loses),
            step: real(|m| m.step),
            round: real(|m| m.round),
            lengths_sq: journal.lengths_sq,
            rounds,
            seconds,
            epochs: journal.epochs,
            position: journal.position,
            earlier: journal.earlier,
            separated: journal.separated,
        }
    }

    fn unpacked(&self) -> Journal {
        let mistake = |i: usize| Mistake {
            row: self.row[i],
            gains: self.gains[i],
            loses: self.loses[i],
            step: self.step[i],
            round: self.round[i],
        };
        Journal {
            mistakes: (0..self.row.len()).map(mistake).collect(),
            lengths_sq: self.lengths_sq.clone(),
            clock: self.rounds.iter().copied().zip(self.seconds.iter().copied()).collect(),
            epochs: self.epochs,
            position: self.position,
            earlier: self.earlier,
            separated: self.separated,
        }
    }

    /// What makes this journal impossible for a run over so many rows and outputs, if anything.
    fn fault(&self, rows: usize, outputs: u32) -> Option<&'static str> {
        if !self.has_equal_columns() {
            return Some("its columns are not of one length");
        }
        if self.row.iter().any(|row| *row as usize >= rows) {
            return Some("a mistake is of a row that is not there");
        }
        let losers = self.loses.iter().filter(|output| **output != NOBODY);
        if self.gains.iter().chain(losers).any(|output| *output >= outputs) {
            return Some("a mistake is of an output that is not there");
        }
        if !self.has_ordered_rounds() {
            return Some("its rounds are out of order");
        }
        let numbers = [&self.step, &self.lengths_sq, &self.rounds, &self.seconds];
        if numbers.into_iter().flatten().any(|x| !x.is_finite()) {
            return Some("a number is not finite");
        }
        if self.position > rows || self.earlier > self.row.len() || self.epochs > MOST_EPOCHS {
            return Some("it is further than it can be");
        }
        None
    }

    fn has_equal_columns(&self) -> bool {
        let whole = [self.gains.len(), self.loses.len()];
        let real = [self.step.len(), self.round.len(), self.lengths_sq.len()];
        whole.iter().chain(&real).all(|length| *length == self.row.len())
            && self.rounds.len() == self.seconds.len()
    }

    fn has_ordered_rounds(&self) -> bool {
        let last = self.rounds.last().copied().unwrap_or(0.0);
        self.round.is_sorted()
            && self.rounds.is_sorted()
            && self.round.iter().all(|round| (0.0..=last).contains(round))
    }
}
