//! The result: what scores rows, what the scores mean, what it was made of, its file.

pub mod atomic;
mod calibration;
mod exchange;
mod expansion;
mod explain;
mod file;
mod mapped;
mod network;
mod outputs;
mod predict;
mod presence;
mod run;
mod state;
mod voted;
mod weights;

pub use calibration::{Calibration, Isotonic, Platt};
pub use exchange::{Target, import_text, is_liblinear, is_onnx};
pub use expansion::Expansion;
pub use explain::{Explanation, Part, explain};
pub use file::{
    FORMAT_VERSION, checksum, checksum_of, from_bytes, is_model, load, load_with_checksum, save, to_bytes,
};
pub use mapped::Mapped;
use mapped::MappedScratch;
pub use network::{Activation, Network, Units};
pub(crate) use network::{LANES, Lanes, entries_of, panels, sums};
pub(crate) use outputs::add_to_each;
pub(crate) use predict::{score_all, score_all_watched};
pub(crate) use presence::presence;
pub use run::{Run, WeightVector};
pub(crate) use state::damaged;
pub use state::{State, StateKind, StateNumber, StateNumbers};
pub use voted::{Mistake, NOBODY, Voted};
pub use weights::Weights;
pub(crate) use weights::grow_zeroed;

use crate::data::{Labels, Row};
use crate::features::Schema;
use crate::features::map::Map;
use crate::kernel::Tile;
use crate::loss::LossName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A trained model: raw rows in, scores and labels (or, of a regression model, numbers) out.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is and how it came about.
    pub about: About,
    /// The labels in the order of the outputs; of two, the second is the positive one. A model without labels
    /// is one of regression: it has one output, and that score is what it predicts.
    pub labels: Labels,
    /// How raw input becomes rows.
    pub schema: Schema,
    /// What scores the rows.
    pub scorer: Scorer,
    /// How scores become probabilities; none if they do not.
    pub probabilities: Option<Calibration>,
    /// What learning needs to go on from here, beside all this; none if it needs nothing, or was left out.
    pub state: Option<State>,
}

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Task {
    /// One of some labels.
    #[cfg_attr(feature = "clap", value(name = "classification"))]
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
    /// Weights and a bias, and a range that scores do not leave.
    Clipped(Clipped),
    /// Weights in a kernel's space.
    Kernel(Expansion),
    /// The votes of all weight vectors of a run.
    Voted(Voted),
    /// A hidden layer between features and scores.
    Network(Network),
    /// What scores rows that a map has made of the rows.
    Mapped(Mapped),
}

/// Scores that are moved to the nearest number of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Clipped {
    /// The weights of the scores.
    pub weights: Weights,
    /// The least score.
    pub least: f64,
    /// The largest score.
    pub most: f64,
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
    /// A row's hidden units.
    units: Units,
    /// What rows are mapped to.
    mapped: Option<Box<MappedScratch>>,
}

impl Scorer {
    /// Scores per row: one for two classes, else one a class.
    pub fn outputs(&self) -> usize {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => weights.outputs(),
            Scorer::Clipped(clipped) => clipped.weights.outputs(),
            Scorer::Kernel(expansion) => expansion.outputs,
            Scorer::Voted(voted) => voted.outputs(),
            Scorer::Network(network) => network.outputs(),
            Scorer::Mapped(mapped) => mapped.scorer.outputs(),
        }
    }

    /// Multiplications and additions that scoring a row takes, about, beyond reading it.
    pub fn cost(&self) -> usize {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => weights.outputs(),
            Scorer::Clipped(clipped) => clipped.weights.outputs(),
            Scorer::Kernel(expansion) => expansion.cost(),
            Scorer::Voted(voted) => voted.cost(),
            Scorer::Network(network) => network.hidden() * network.outputs(),
            Scorer::Mapped(mapped) => mapped.scorer.cost(),
        }
    }

    /// The weights, where there are some: of values, or of what a row has; of mapped rows, if there is a map.
    pub fn weights(&self) -> Option<&Weights> {
        match self {
            Scorer::Linear(weights) | Scorer::Presence(weights) => Some(weights),
            Scorer::Clipped(clipped) => Some(&clipped.weights),
            Scorer::Mapped(mapped) => mapped.scorer.weights(),
            Scorer::Kernel(_) | Scorer::Voted(_) | Scorer::Network(_) => None,
        }
    }

    /// What scores the rows that a map makes, if there is one; else this.
    pub fn behind_map(&self) -> &Scorer {
        if let Scorer::Mapped(mapped) = self { &mapped.scorer } else { self }
    }

    /// The map that comes before everything else, if there is one.
    pub fn map(&self) -> Option<Map> {
        if let Scorer::Mapped(mapped) = self { Some(mapped.mapper.map()) } else { None }
    }

    /// Scores rows: [`Scorer::outputs`] scores a row, one row after the other.
    pub fn score(&self, rows: &[Row<'_>], scratch: &mut Scratch, scores: &mut Vec<f64>) {
        self.score_while(rows, scratch, scores, &|| true);
    }

    /// The same; where it is not to go on, the scores mean nothing.
    pub(crate) fn score_while(
        &self,
        rows: &[Row<'_>],
        scratch: &mut Scratch,
        scores: &mut Vec<f64>,
        goes_on: &dyn Fn() -> bool,
    ) {
        let outputs = self.outputs();
        scores.clear();
        scores.resize(rows.len() * outputs, 0.0);
        match self {
            Scorer::Linear(weights) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    weights.score(*row, scores);
                }
            }
            Scorer::Clipped(Clipped { weights, least, most }) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    weights.score(*row, scores);
                    scores.iter_mut().for_each(|score| *score = score.max(*least).min(*most));
                }
            }
            Scorer::Presence(weights) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    weights.score(presence(*row, &mut scratch.present), scores);
                }
            }
            Scorer::Kernel(expansion) => {
                scratch.tile.reset_for(expansion.kernel, expansion.precision);
                let many = Tile::capacity(expansion.precision);
                for (rows, scores) in rows.chunks(many).zip(scores.chunks_mut(many * outputs)) {
                    expansion.score_while(rows, &mut scratch.tile, scores, goes_on);
                }
            }
            Scorer::Voted(voted) => {
                scratch.tile.reset_for(voted.kernel, voted.precision);
                let many = Tile::capacity(voted.precision);
                for (rows, scores) in rows.chunks(many).zip(scores.chunks_mut(many * outputs)) {
                    voted.score_while(rows, &mut scratch.tile, scores, goes_on);
                }
            }
            Scorer::Network(network) => {
                for (row, scores) in rows.iter().zip(scores.chunks_exact_mut(outputs)) {
                    network.score(*row, &mut scratch.units, scores);
                }
            }
            Scorer::Mapped(mapped) => {
                mapped.score_while(rows, scratch.mapped.get_or_insert_default(), scores, goes_on);
            }
        }
    }
}

impl Model {
    /// Number of features that the model knows.
    pub fn features(&self) -> usize {
        self.about.features as usize
    }

    /// What to call feature `j` of the rows that are weighed: one of the input, or what a map makes of
    /// several.
    pub fn feature_name(&self, j: u32) -> String {
        match self.scorer.map() {
            Some(map) => map.name(j, |j| self.schema.name(j)),
            None => self.schema.name(j),
        }
    }

    /// The loss that it was trained to minimise, by its settings, if it is one of the library's.
    pub fn loss(&self) -> Option<LossName> {
        let loss = LossName::deserialize(self.about.settings.get("loss")?).ok()?;
        loss.check().is_ok().then_some(loss)
    }

    /// What the model predicts.
    pub fn task(&self) -> Task {
        if self.labels.is_empty() { Task::Regression } else { Task::Classes }
    }
}
