//! 7 — The result: what scores rows, what the scores mean, what it was made of, its file.

pub mod atomic;
mod calibration;
mod explain;
mod file;
mod voted;
mod weights;

pub use calibration::{Calibration, Isotonic, Platt};
pub use explain::{Explanation, Part, explain};
pub use file::{FORMAT_VERSION, checksum, from_bytes, load, load_with_checksum, save, to_bytes};
pub use voted::{Mistake, NOBODY, TILE, Tile, Voted};
pub use weights::Weights;
pub(crate) use weights::grow_zeroed;

use crate::data::{Labels, Row};
use crate::features::Schema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A trained model: raw rows in, scores and labels (or, of a regression model, numbers) out.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is and how it came about.
    pub about: About,
    /// The labels in the order of the outputs; of two, the second is the positive one. A model without labels is one of
    /// regression: it has one output, and that score is what it predicts.
    pub labels: Labels,
    /// How raw input becomes rows.
    pub schema: Schema,
    /// What scores the rows.
    pub scorer: Scorer,
    /// How scores become probabilities; none if they do not.
    pub probabilities: Option<Calibration>,
}

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One of its labels.
    Classes,
    /// A number.
    Regression,
}

/// What scores rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Scorer {
    /// Weights and a bias.
    Linear(Weights),
    /// Weights of what a row has, however much of it: every value above 0 counts as 1, every other as 0.
    Presence(Weights),
    /// The votes of all weight vectors of a run.
    Voted(Voted),
}

/// What a model says of itself. Everything here is the same for the same data, seed and settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The learner's name on the command line.
    pub learner: String,
    /// Its settings by name.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The seed of every random choice.
    pub seed: u64,
    /// Features that the model knows.
    pub features: u64,
    /// Rows it learned from.
    pub rows: u64,
    /// The hash of those rows ([`crate::data::Dataset::fingerprint`]).
    pub data_hash: String,
    /// What training came to.
    pub results: BTreeMap<String, serde_json::Value>,
}

/// Memory for scoring, reused from row to row; one per thread.
#[derive(Debug, Default)]
pub struct Scratch {
    tile: Tile,
    /// The features that a row has.
    present: Vec<u32>,
}

impl Scorer {
    /// Scores per row: one for two classes, else one a class.
    pub fn outputs(&self) -> usize {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => weights.outputs(),
            Scorer::Voted(voted) => voted.outputs(),
        }
    }

    /// Multiplications and additions that scoring a row takes, about, beyond reading it.
    pub fn cost(&self) -> usize {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => weights.outputs(),
            Scorer::Voted(voted) => voted.cost(),
        }
    }

    /// The weights, where there are some: of values, or of what a row has.
    pub fn weights(&self) -> Option<&Weights> {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => Some(weights),
            Scorer::Voted(_) => None,
        }
    }

    /// Scores rows: [`Scorer::outputs`] scores a row, one row after the other.
    pub fn score(&self, rows: &[Row<'_>], scratch: &mut Scratch, scores: &mut Vec<f64>) {
        let outputs = self.outputs();
        scores.clear();
        scores.resize(rows.len() * outputs, 0.0);
        match self {
            Scorer::Linear(weights) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    weights.score(*row, scores);
                }
            }
            Scorer::Presence(weights) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    weights.score(row.presence(&mut scratch.present), scores);
                }
            }
            Scorer::Voted(voted) => {
                for (rows, scores) in rows.chunks(TILE).zip(scores.chunks_mut(TILE * outputs)) {
                    voted.score(rows, &mut scratch.tile, scores);
                }
            }
        }
    }
}

impl Model {
    /// Number of features that the model knows.
    pub fn features(&self) -> usize {
        self.about.features as usize
    }

    /// What the model predicts.
    pub fn task(&self) -> Task {
        if self.labels.is_empty() { Task::Regression } else { Task::Classes }
    }
}
