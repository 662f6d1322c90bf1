//! What every imported model has.

use crate::data::Labels;
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::model::{About, Calibration, Clipped, Model, Scorer, Weights};
use serde_json::Value;
use std::collections::BTreeMap;

/// Weights that an imported model may take: 2 GB, as much as a small file of a model may ask for.
const MOST_WEIGHTS: u64 = 1 << 28;

/// All-zero weights, if there is room for them.
pub(super) fn weights(features: u64, outputs: usize) -> Result<Weights> {
    let most = MOST_WEIGHTS / outputs.max(1) as u64;
    match usize::try_from(features).ok().filter(|_| features <= most) {
        Some(features) => Ok(Weights::zero(features, outputs)),
        None => Err(Error::input(format!(
            "{features} features for each of {outputs} outputs are more weights than the {MOST_WEIGHTS} that \
             are allowed"
        ))),
    }
}

/// A linear model that another program has learned.
pub(super) struct Imported<'a> {
    pub(super) learner: &'a str,
    pub(super) settings: BTreeMap<String, Value>,
    pub(super) labels: Labels,
    pub(super) schema: Schema,
    pub(super) weights: Weights,
    /// The least and the largest number that it predicts, where it has a range.
    pub(super) range: Option<[f64; 2]>,
    pub(super) probabilities: Option<Calibration>,
}

impl Imported<'_> {
    pub(super) fn model(self) -> Model {
        let Self { learner, settings, labels, schema, weights, range, probabilities } = self;
        let about = About {
            learner: learner.to_owned(),
            settings,
            features: weights.features() as u64,
            ..About::default()
        };
        let scorer = match range {
            Some([least, most]) => Scorer::Clipped(Clipped { weights, least, most }),
            None => Scorer::Linear(weights),
        };
        Model { about, labels, schema, scorer, probabilities, state: None }
    }
}
