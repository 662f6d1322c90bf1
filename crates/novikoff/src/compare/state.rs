//! How far a comparison has come, as a file: what is done, and the mistakes of the run under way.

use super::journal::Journal;
use super::{Entry, Field};
use crate::certificate::numbers;
use crate::error::{Error, Result};
use crate::model::{Mistake, NOBODY};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "novikoff-comparison";
const VERSION: u32 = 1;

/// How far a comparison has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    format: String,
    version: u32,
    /// Of which rows, by which settings; empty before it is known.
    fingerprint: String,
    /// What is done: a kernel or learner, and its lines.
    done: Vec<(String, Vec<Entry>)>,
    /// The kernel whose run was interrupted, and the run.
    run: Option<(String, Packed)>,
}

impl Default for State {
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

/// A journal, column by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
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

impl State {
    /// A state as [`State::to_text`] wrote it.
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

    /// Makes sure that it is a state of this comparison, and that its run can have happened.
    pub(super) fn fit(&mut self, fingerprint: &str, field: &Field<'_>) -> Result<()> {
        if self.fingerprint.is_empty() && self.done.is_empty() && self.run.is_none() {
            self.fingerprint = fingerprint.to_owned();
        }
        if self.fingerprint != fingerprint {
            let error = Error::usage("the state is of a comparison of other rows, or by other settings");
            return Err(error.hint("give the same data and options as before, or another --state"));
        }
        let outputs = field.plan.scheme.outputs(field.plan.classes) as u32;
        match &self.run {
            Some((_, run)) => run
                .check(field.data.len(), outputs)
                .map_err(|what| Error::usage(format!("the run in the state cannot be: {what}"))),
            None => Ok(()),
        }
    }

    /// The run of a kernel, to go on with.
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
        self.run = Some((name, Packed::of(&journal)));
    }

    pub(super) fn finish(&mut self, name: String, entries: Vec<Entry>) {
        self.done.push((name, entries));
    }
}

impl Packed {
    fn of(journal: &Journal) -> Self {
        let whole = |of: fn(&Mistake) -> u32| journal.mistakes.iter().map(of).collect();
        let real = |of: fn(&Mistake) -> f64| journal.mistakes.iter().map(of).collect();
        let (rounds, seconds) = journal.clock.iter().copied().unzip();
        Self {
            row: whole(|m| m.row),
            gains: whole(|m| m.gains),
            loses: whole(|m| m.loses),
            step: real(|m| m.step),
            round: real(|m| m.round),
            lengths_sq: journal.lengths_sq.clone(),
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

    /// Whether a run over so many rows can have come to this.
    fn check(&self, rows: usize, outputs: u32) -> std::result::Result<(), &'static str> {
        let count = self.row.len();
        let columns =
            [self.gains.len(), self.loses.len(), self.step.len(), self.round.len(), self.lengths_sq.len()];
        if columns.iter().any(|length| *length != count) || self.rounds.len() != self.seconds.len() {
            return Err("its columns are not of one length");
        }
        if self.row.iter().any(|row| *row as usize >= rows) {
            return Err("a mistake is of a row that is not there");
        }
        let known = |output: &u32| *output < outputs;
        if !self.gains.iter().all(known)
            || !self.loses.iter().all(|output| *output == NOBODY || known(output))
        {
            return Err("a mistake is of an output that is not there");
        }
        let last = self.rounds.last().copied().unwrap_or(0.0);
        if !self.round.is_sorted()
            || !self.rounds.is_sorted()
            || self.round.iter().any(|round| !(0.0..=last).contains(round))
        {
            return Err("its rounds are out of order");
        }
        let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !finite(&self.step) || !finite(&self.lengths_sq) || !finite(&self.rounds) || !finite(&self.seconds)
        {
            return Err("a number is not finite");
        }
        if self.position > rows || self.earlier > count || self.epochs > (1 << 20) {
            return Err("it is further than it can be");
        }
        Ok(())
    }
}
