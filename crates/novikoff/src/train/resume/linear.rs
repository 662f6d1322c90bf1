//! Linear weights of a state, and weights for other classes than a model had.

use crate::data::{Dataset, Labels};
use crate::error::Result;
use crate::features::Schema;
use crate::model::{Model, Scorer, State, Weights, damaged};
use crate::multiclass::Scheme;
use crate::online::LinearState;
use rustc_hash::FxHashMap;

/// Where the outputs of new weights come from: an output of the old ones, and a factor.
pub(in crate::train) struct Sources(Vec<Option<(usize, f64)>>);

impl Sources {
    /// From the outputs of a model with these labels to those of others. `share` is what each of two weight
    /// vectors has of the one that stood for both.
    pub(in crate::train) fn new(
        (from, from_outputs): (&Labels, usize),
        (to, to_scheme): (&Labels, Scheme),
        share: f64,
    ) -> Self {
        let one = |label: &str| match (from.find(label), from_outputs) {
            (Some(1), 1) => Some((0, share)),
            (Some(_), 1) => Some((0, -share)),
            (Some(class), _) => Some((class as usize, 1.0)),
            (None, _) => None,
        };
        let names = to.names();
        if to_scheme != Scheme::Two {
            return Self(names.iter().map(|label| one(label)).collect());
        }
        // Of one output, the score of the second class; of several, no class alone tells both apart.
        let positive = names.get(1).and_then(|label| from.find(label));
        Self(vec![match (positive, from_outputs) {
            (Some(1), 1) => Some((0, 1.0)),
            (Some(_), 1) => Some((0, -1.0)),
            (Some(class), _) => Some((class as usize, 1.0)),
            (None, _) => None,
        }])
    }

    /// Of one number from one number.
    pub(in crate::train) fn numbers() -> Self {
        Self(vec![Some((0, 1.0))])
    }

    /// For each output where it comes from, and its factor.
    pub(in crate::train) fn into_outputs(self) -> Vec<Option<(usize, f64)>> {
        self.0
    }

    /// The weights with their new outputs, for at least so many features.
    pub(in crate::train) fn apply(&self, weights: &Weights, features: usize) -> Weights {
        let mut arranged = weights.rearranged(&self.0);
        arranged.grow(features);
        arranged
    }
}

/// For each column of rows the feature that it is to a model, by its name.
pub(in crate::train) fn feature_numbers(model: &Model, data: &Dataset) -> Vec<Option<u32>> {
    let (columns, known) = (data.rows.columns() as u32, model.features() as u32);
    let is_numbered = |schema: &Schema| matches!(schema, Schema::Indexed { .. } | Schema::Hashed { .. });
    // What a map makes is numbered in one way, whatever it is made of.
    if model.scorer.map().is_some() || is_numbered(&model.schema) && is_numbered(&data.schema) {
        let shift = match (&model.schema, &data.schema) {
            (Schema::Indexed { base: own }, Schema::Indexed { base }) => i64::from(*base) - i64::from(*own),
            _ => 0,
        };
        let known = model.scorer.weights().map_or(0, Weights::features) as u32;
        let number = |column: u32| u32::try_from(i64::from(column) + shift).ok().filter(|j| *j < known);
        return (0..columns).map(number).collect();
    }
    let names: FxHashMap<String, u32> = (0..known).map(|j| (model.schema.name(j), j)).collect();
    (0..columns).map(|column| names.get(&data.schema.name(column)).copied()).collect()
}

/// Puts in what a linear learner needs beside the weights to predict with.
pub(in crate::train) fn put_linear(state: &mut State, linear: LinearState) {
    let LinearState { last, delayed, own, rounds } = linear;
    state.put("rounds", vec![rounds]);
    put_weights(state, ["weights", "bias"], last);
    put_weights(state, ["delayed", "delayed_bias"], delayed);
    if let Some(own) = own {
        state.put("own_features", own);
    }
}

/// Puts in the weights to predict with, as they are for rows whose columns were scaled and centred.
pub(in crate::train) fn put_returned(state: &mut State, scorer: &Scorer) {
    if let Scorer::Linear(weights) = scorer {
        put_weights(state, RETURNED, Some(weights.clone()));
    }
}

/// Takes them out again.
pub(in crate::train) fn take_returned(state: &mut State, like: &Weights) -> Result<Weights> {
    let returned = take_weights(state, RETURNED, like)?;
    returned.ok_or_else(|| damaged("it lacks the weights for scaled columns"))
}

const RETURNED: [&str; 2] = ["returned", "returned_bias"];

fn put_weights(state: &mut State, [values, bias]: [&str; 2], weights: Option<Weights>) {
    if let Some(weights) = weights {
        state.put(values, weights.values);
        state.put(bias, weights.bias);
    }
}

/// Takes it out again: weights are as many as those to predict with.
pub(in crate::train) fn take_linear(state: &mut State, like: &Weights) -> Result<LinearState> {
    let rounds = state.take_one::<f64>("rounds")?;
    if rounds < 0.0 {
        return Err(damaged("the weights of its rows sum to less than 0"));
    }
    Ok(LinearState {
        last: take_weights(state, ["weights", "bias"], like)?,
        delayed: take_weights(state, ["delayed", "delayed_bias"], like)?,
        own: if state.has("own_features") { Some(state.take_all("own_features")?) } else { None },
        rounds,
    })
}

fn take_weights(state: &mut State, [values, bias]: [&str; 2], like: &Weights) -> Result<Option<Weights>> {
    if !state.has(values) {
        return Ok(None);
    }
    let mut weights = Weights::zero(0, like.outputs());
    weights.values = state.take(values, like.values.len())?;
    weights.bias = state.take(bias, like.outputs())?;
    Ok(Some(weights))
}
