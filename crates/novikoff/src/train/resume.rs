//! Going on from a model: what it was, and what its state says.

mod epochs;
mod linear;
mod recall;

pub(super) use epochs::{
    EpochsPrior, Training, put_history, put_journal, put_partial, refuse_other_numbering, take_journal,
};
pub(super) use linear::{Sources, feature_numbers, put_linear, put_returned, take_linear, take_returned};
pub(super) use recall::{SCALE_WITH_PENALTY, recall};

use super::learner::Learner;
use super::standardised::Columns;
use crate::data::{Dataset, Fingerprint, FingerprintState, Labels};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::{self, Model, Scorer, State, StateKind, Task, damaged};
use crate::online::StreamCounts;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The result by which a model names the one that it was started from.
pub(super) const FROM: &str = "from";

/// Whether learning goes on exactly, or starts from what the model predicts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continued {
    /// As if it had never stopped: the model is the one of all rows, or epochs, at once.
    Exactly,
    /// From the model's weights.
    FromWeights,
}

/// How a fit went on from a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Whether it went on exactly.
    pub continued: Continued,
    /// Rows of the stream, or epochs, that the model had learned from already.
    pub before: u64,
    /// Whether the validation rows were others, so that the best epoch was looked for anew.
    pub forgot_validation: bool,
}

/// A model that learning on a stream goes on from.
pub(super) struct Prior<'a> {
    pub(super) model: &'a Model,
    /// What the learner needs to go on; none if it begins with the model's weights alone.
    pub(super) state: Option<State>,
    /// The number that each label has in the model, in the order in which labels occurred.
    pub(super) ranks: Vec<u32>,
    pub(super) counts: StreamCounts,
    /// Features that rows had.
    pub(super) features: usize,
    /// The hash of the rows so far; none if it is not known.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl<'a> Prior<'a> {
    /// What this learner goes on from. The state is of use to the learner that it is from.
    pub(super) fn new(model: &'a Model, learner: &Learner) -> Result<Self> {
        refuse_other_kinds(model, learner)?;
        let mut state = model.state.clone();
        let ranks = ranks(model, state.as_mut())?;
        if let Some(state) = state.as_mut().filter(|state| state.kind() == StateKind::Epochs) {
            forget_epochs(state);
            fold_back(model, state)?;
        }
        if model.about.learner != learner.name() {
            state = None;
        }
        let mut prior = Self {
            model,
            state: None,
            ranks,
            counts: StreamCounts::default(),
            features: model.features(),
            fingerprint: Some(Fingerprint::default()),
        };
        if let Some(state) = state.as_mut().filter(|state| state.kind() == StateKind::Stream) {
            prior.counts = take_counts(state)?;
            prior.features = take_features(state, model)?;
            prior.fingerprint = take_fingerprint(state)?;
        }
        prior.state = state;
        Ok(prior)
    }

    /// What scores rows, behind the map if there is one.
    pub(super) fn scorer(&self) -> &Scorer {
        self.model.scorer.behind_map()
    }

    /// Whether the stream goes on as if it had never stopped.
    pub(super) fn continued(&self) -> Continued {
        match &self.state {
            Some(state) if state.kind() == StateKind::Stream => Continued::Exactly,
            _ => Continued::FromWeights,
        }
    }

    /// The labels, in the order in which they occurred.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.ranks.iter().map(|&rank| self.model.labels.names()[rank as usize].as_str())
    }

    /// What the new model says of the one that it was started from.
    pub(super) fn origin(&self) -> Result<BTreeMap<String, Value>> {
        origin(self.model, self.continued())
    }
}

/// What a model says of the one that it was started from: nothing that one training would not.
pub(super) fn origin(from: &Model, continued: Continued) -> Result<BTreeMap<String, Value>> {
    let name = match continued {
        Continued::Exactly => from.about.results.get(FROM).cloned(),
        Continued::FromWeights => Some(json!(model::checksum_of(from)?)),
    };
    Ok(name.into_iter().map(|name| (FROM.to_owned(), name)).collect())
}

impl Model {
    /// The labels in the order in which a stream showed them, if the model was learned from one; a stream
    /// that goes on must be read with them.
    pub fn labels_by_appearance(&self) -> Result<Labels> {
        let ranks = ranks(self, self.state.clone().as_mut())?;
        Ok(Labels::new(ranks.iter().map(|&rank| &self.labels.names()[rank as usize])))
    }
}

/// The number that each label has in the model, in the order in which a stream showed them.
fn ranks(model: &Model, state: Option<&mut State>) -> Result<Vec<u32>> {
    let classes = model.labels.len();
    let Some(state) = state.filter(|state| state.kind() == StateKind::Stream) else {
        return Ok((0..classes as u32).collect());
    };
    let ranks = state.take::<u32>("labels", classes)?;
    let mut sorted = ranks.clone();
    sorted.sort_unstable();
    match sorted.into_iter().eq(0..classes as u32) {
        true => Ok(ranks),
        false => Err(damaged("its labels are not those of the model")),
    }
}

fn take_counts(state: &mut State) -> Result<StreamCounts> {
    let counts = StreamCounts {
        rows: state.take_count("rows")?,
        wrong: state.take_count("wrong")?,
        mistakes: state.take_count("mistakes")?,
        updates: state.take_count("updates")?,
    };
    match counts.wrong <= counts.rows {
        true => Ok(counts),
        false => Err(damaged("more rows were predicted wrongly than there were")),
    }
}

fn take_features(state: &mut State, model: &Model) -> Result<usize> {
    let features = state.take_count("features")?;
    match features <= model.about.features {
        true => Ok(features as usize),
        false => Err(damaged(format!("its rows have {features} features, the model {}", model.features()))),
    }
}

fn take_fingerprint(state: &mut State) -> Result<Option<Fingerprint>> {
    if !state.has("hashed_waiting") {
        return Ok(None);
    }
    let parts = FingerprintState {
        rows: state.take_count("hashed_rows")?,
        hashed: state.take_count("hashed_bytes")?,
        subtrees: state.take_all("hashed_subtrees")?,
        waiting: state.take_all("hashed_waiting")?,
    };
    Fingerprint::resume(parts).map(Some).ok_or_else(|| damaged("the hash of its rows does not fit together"))
}

/// Puts in what a pass over a stream needs to go on, besides its learner.
pub(super) fn put_stream(
    state: &mut State,
    counts: StreamCounts,
    (ranks, features): (&[u32], usize),
    fingerprint: Option<&Fingerprint>,
) {
    let StreamCounts { rows, wrong, mistakes, updates } = counts;
    for (name, count) in [("rows", rows), ("wrong", wrong), ("mistakes", mistakes), ("updates", updates)] {
        state.put_count(name, count);
    }
    state.put_count("features", features as u64);
    state.put("labels", ranks.to_vec());
    if let Some(FingerprintState { rows, hashed, subtrees, waiting }) = fingerprint.map(Fingerprint::state) {
        state.put_count("hashed_rows", rows);
        state.put_count("hashed_bytes", hashed);
        state.put("hashed_subtrees", subtrees);
        state.put("hashed_waiting", waiting);
    }
}

/// The labels of rows and, behind them, those that only the model has.
pub(super) fn known_labels(data: &Dataset, from: Option<&Model>) -> Labels {
    let mut labels = data.names.clone();
    for label in from.into_iter().flat_map(|model| model.labels.names()) {
        labels.intern(label);
    }
    labels
}

/// Takes out what is known of a stream besides its learner: by the model's classes, the number that each has
/// in the order in which they occurred.
pub(super) fn forget_stream(model: &Model, state: &mut State) -> Result<Vec<u32>> {
    let ranks = ranks(model, Some(state))?;
    take_counts(state)?;
    take_features(state, model)?;
    take_fingerprint(state)?;
    let mut order = vec![0; ranks.len()];
    ranks.iter().zip(0..).for_each(|(&rank, number)| order[rank as usize] = number);
    Ok(order)
}

/// Takes out what is known of epochs, which a stream has none of.
fn forget_epochs(state: &mut State) {
    for name in ["data_hash", "validation_hash"] {
        state.take_text(name);
    }
    for name in ["from_zero", "best_epoch"] {
        let _ = state.take_count(name);
    }
    for name in ["epoch_error", "epoch_validation", "best_error", "own_features"] {
        let _ = state.take_all::<f64>(name);
    }
    for name in ["epoch_mistakes", "epoch_updates", "partial"] {
        let _ = state.take_all::<u64>(name);
    }
}

/// The number of features that the model scores: behind a map there are others than rows have.
fn scored_features(model: &Model) -> usize {
    match model.scorer.behind_map() {
        Scorer::Linear(weights) => weights.features(),
        Scorer::Network(network) => network.features(),
        Scorer::Voted(voted) => voted.rows.columns(),
        _ => model.features(),
    }
}

/// Makes what was learned of scaled and centred columns something about columns as they are, which a stream
/// has.
fn fold_back(model: &Model, state: &mut State) -> Result<()> {
    let Some(columns) = Columns::take(state, scored_features(model))? else { return Ok(()) };
    let Scorer::Linear(like) = model.scorer.behind_map() else { return Ok(()) };
    take_returned(state, like)?;
    let mut linear = take_linear(state, like)?;
    linear.last.iter_mut().chain(&mut linear.delayed).for_each(|weights| columns.fold_back(weights));
    put_linear(state, linear);
    Ok(())
}

/// What cannot be made of a model, whatever the rows.
pub(super) fn refuse_other_kinds(model: &Model, learner: &Learner) -> Result<()> {
    let (own, asked) = (model.task(), learner.predicts_numbers());
    if (own == Task::Regression) != asked {
        let (it, wanted) = match own {
            Task::Regression => ("numbers", "labels"),
            Task::Classes => ("labels", "numbers"),
        };
        let what = format!("the model predicts {it}, and {} would predict {wanted}", learner.name());
        return Err(Error::usage(what).hint("leave out `from`, or name a learner of the model's kind"));
    }
    let (own, asked) = (model.scorer.map(), learner.shared().map);
    if own != asked {
        let name = |map: Option<crate::features::map::Map>| {
            map.map_or("no map".to_owned(), |map| format!("`map = {map}`"))
        };
        let what = format!("the model was trained with {}, and this would be {}", name(own), name(asked));
        return Err(Error::usage(what).hint("leave out `map`, or `from`"));
    }
    refuse_other_kernel(model, learner)?;
    let own = model.about.settings.get("bias").cloned();
    let asked = json!(learner.bias());
    if !matches!(learner, Learner::Bayes(_)) && own.as_ref().is_some_and(|own| *own != asked) {
        let what = format!(
            "the model was trained with `bias = {}`, and this would be `bias = {}`",
            own.as_ref().and_then(Value::as_str).unwrap_or_default(),
            asked.as_str().unwrap_or_default()
        );
        return Err(Error::usage(what).hint("leave out `bias`, or `from`"));
    }
    Ok(())
}

/// What compares rows stays what it was, for learners that can compare them otherwise.
fn refuse_other_kernel(model: &Model, learner: &Learner) -> Result<()> {
    let asked = match learner {
        Learner::Perceptron(learner) => learner.kernel,
        Learner::PassiveAggressive(learner) => learner.kernel,
        Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => return Ok(()),
    };
    let own = match model.scorer.behind_map() {
        Scorer::Linear(_) => Kernel::Linear,
        Scorer::Kernel(expansion) => expansion.kernel,
        Scorer::Voted(voted) => voted.kernel,
        Scorer::Presence(_) | Scorer::Network(_) | Scorer::Clipped(_) | Scorer::Mapped(_) => {
            return Err(other_scorer(model, learner));
        }
    };
    if own == asked {
        return Ok(());
    }
    let what = format!("the model was trained with `kernel = {own}`, and this would be `kernel = {asked}`");
    Err(Error::usage(what).hint("leave out `kernel`, or `from`"))
}

/// The error of a model whose weights are not those of this learner.
pub(super) fn other_scorer(model: &Model, learner: &Learner) -> Error {
    let what = format!("{} cannot go on from a model of {}", learner.name(), model.about.learner);
    Error::usage(what).hint("name no learner: then it is the model's own; or leave out `from`")
}

/// The error of an average without what it is computed from.
pub(super) fn averageless() -> Error {
    let why = "an average goes on from the sums that it is computed from";
    let hint = "use `learner = perceptron` or passive-aggressive, which go on from weights alone";
    stateless(why, hint)
}

/// The error of a model without its state.
pub(super) fn stateless(why: &str, hint: &str) -> Error {
    Error::input(format!("the model has no state to go on from: {why}")).hint(hint.to_owned())
}
