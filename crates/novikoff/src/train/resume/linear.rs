//! Linear weights of a state, and weights for other classes than a model had.

use crate::data::Labels;
use crate::error::Result;
use crate::model::{State, Weights, damaged};
use crate::multiclass::Scheme;
use crate::online::LinearState;

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

    /// The weights with their new outputs, for at least so many features.
    pub(in crate::train) fn apply(&self, weights: &Weights, features: usize) -> Weights {
        let mut arranged = weights.rearranged(&self.0);
        arranged.grow(features);
        arranged
    }
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
