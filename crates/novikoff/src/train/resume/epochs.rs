//! Epochs that go on: those that are done, and what is known of the best of them.

use super::{Continued, Resumed, fold_back, scored_features};
use crate::control::Epoch;
use crate::data::{Dataset, Labels, Scale};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::model::{Mistake, Model, State, StateKind, damaged};
use crate::online::{Begin, LearnerState, Tally};
use crate::train::mistakes::Start;
use crate::train::standardised::Standardised;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a training in epochs is about; all of it decides whether it is the same as another.
pub(in crate::train) struct Training<'a> {
    pub(in crate::train) data: &'a Dataset<'a>,
    pub(in crate::train) data_hash: &'a str,
    /// The hash of the validation rows, if there are any.
    pub(in crate::train) validation_hash: Option<String>,
    pub(in crate::train) labels: &'a Labels,
    pub(in crate::train) learner: &'static str,
    pub(in crate::train) settings: &'a BTreeMap<String, Value>,
    pub(in crate::train) seed: u64,
    /// Most epochs.
    pub(in crate::train) epochs: usize,
}

/// What a model knows of the epochs that are done.
pub(in crate::train) struct EpochsPrior {
    pub(in crate::train) continued: Continued,
    /// The epochs that are done, and the number of the best.
    pub(in crate::train) begin: Begin<()>,
    /// What the run began with.
    pub(in crate::train) start: Start,
    /// Whether validation rows were others, so that the best epoch is looked for anew.
    pub(in crate::train) forgets_validation: bool,
    /// With a kernel, the rounds until the best epoch ended.
    pub(in crate::train) best_rounds: Option<f64>,
    /// What the learner needs to go on, if the state is of use to it.
    pub(in crate::train) state: Option<State>,
}

impl EpochsPrior {
    pub(in crate::train) fn new(model: &Model, training: &Training<'_>) -> Result<Self> {
        let mut state = model.state.clone().filter(|_| model.about.learner == training.learner);
        let begun = match &mut state {
            Some(state) if state.kind() == StateKind::Epochs => Some(take_history(state, training)?),
            _ => None,
        };
        let Some(History { begin, start, data_hash, validation_hash }) = begun else {
            return Ok(Self::from_weights(state));
        };
        if !is_same(model, training, &data_hash) {
            return Ok(Self::from_weights(state));
        }
        let forgets_validation = validation_hash != training.validation_hash;
        let best_rounds = match &mut state {
            Some(state) if state.has("best_rounds") => Some(state.take_one("best_rounds")?),
            _ => None,
        };
        let continued = Continued::Exactly;
        let mut prior = Self { continued, begin, start, forgets_validation, best_rounds, state };
        if forgets_validation {
            prior.begin.best = None;
            prior.begin.trace.iter_mut().for_each(|epoch| epoch.validation_error = None);
        }
        prior.refuse_without_epochs(training.epochs)?;
        Ok(prior)
    }

    /// Refuses a run that has no epoch left to learn in, unless it is over.
    fn refuse_without_epochs(&self, most: usize) -> Result<()> {
        let done = self.begin.trace.len();
        let is_over = self.begin.partial.is_none()
            && self.begin.trace.last().is_some_and(|last| last.mistakes == 0 && last.updates == 0);
        if done < most || is_over {
            return Ok(());
        }
        let what = format!("the model has learned from these rows in {done} epochs already");
        Err(Error::usage(what)
            .hint(format!("epochs count from the first one: `epochs = {}`", 2 * done.max(1))))
    }

    /// The rows in the numbers that the model's own were in, if its state is about such numbers and they are
    /// to go on.
    pub(in crate::train) fn standardised(
        &mut self,
        model: &Model,
        data: &Dataset,
        scale: Scale,
    ) -> Result<Option<Standardised>> {
        let is_same = self.continued == Continued::Exactly || scale_of(&model.about.settings) == json!(scale);
        match &mut self.state {
            Some(state) if is_same => Standardised::of_state(data, state, scored_features(model)),
            Some(state) => fold_back(model, state).map(|()| None),
            None => Ok(None),
        }
    }

    /// What a fit says of it.
    pub(in crate::train) fn resumed(&self) -> Resumed {
        let Self { continued, begin, forgets_validation, .. } = self;
        Resumed {
            continued: *continued,
            before: begin.trace.len() as u64,
            forgot_validation: *forgets_validation,
        }
    }

    fn from_weights(mut state: Option<State>) -> Self {
        if let Some(state) = &mut state {
            let _ = state.take_all::<f64>("best_rounds");
        }
        Self {
            best_rounds: None,
            continued: Continued::FromWeights,
            begin: Begin::default(),
            start: Start::Model,
            forgets_validation: false,
            state,
        }
    }
}

/// Whether a training is the one that the model is from, of more epochs perhaps.
fn is_same(model: &Model, training: &Training<'_>, data_hash: &str) -> bool {
    // How long to go on is no setting of what is learned, and the map is compared by itself. Models from
    // before columns were scaled say nothing of a scale.
    let counts = |(name, _): &(&String, &Value)| !matches!(name.as_str(), "epochs" | "map" | "scale");
    let (own, asked) = (&model.about.settings, training.settings);
    data_hash == training.data_hash
        && model.labels == *training.labels
        && model.about.seed == training.seed
        && scale_of(own) == scale_of(asked)
        && own.iter().filter(counts).eq(asked.iter().filter(counts))
}

/// How columns are scaled, by the settings of a model.
fn scale_of(settings: &BTreeMap<String, Value>) -> Value {
    settings.get("scale").cloned().unwrap_or_else(|| json!(Scale::None))
}

/// Feature j of the model must be feature j of the rows.
pub(in crate::train) fn refuse_other_numbering(model: &Model, schema: &Schema) -> Result<()> {
    let (own, features) = (&model.schema, model.features());
    let is_same = match (own, schema) {
        (Schema::Indexed { base: own }, Schema::Indexed { base }) => own == base,
        (Schema::Hashed { bits: own }, Schema::Hashed { bits }) => own == bits,
        (Schema::Indexed { .. } | Schema::Hashed { .. }, _) => false,
        _ => {
            schema.features().is_some_and(|count| count >= features)
                && own.is_hashed() == schema.is_hashed()
                && (0..features as u32).all(|j| own.name(j) == schema.name(j))
        }
    };
    if is_same {
        return Ok(());
    }
    let what = "the features of these rows are not numbered as the model's are";
    Err(Error::input(what).hint("read the rows for this model: `Purpose::Continuing`"))
}

/// What a state says of epochs.
struct History {
    begin: Begin<()>,
    start: Start,
    data_hash: String,
    validation_hash: Option<String>,
}

fn take_history(state: &mut State, training: &Training<'_>) -> Result<History> {
    let data_hash = state.take_text("data_hash").ok_or_else(|| damaged("it names no rows"))?;
    let validation_hash = state.take_text("validation_hash");
    let start = if state.take_count("from_zero")? == 1 { Start::Zero } else { Start::Model };
    let mistakes = state.take_all::<u64>("epoch_mistakes")?;
    let updates = state.take::<u64>("epoch_updates", mistakes.len())?;
    let errors = state.take::<f64>("epoch_error", mistakes.len())?;
    // The last epoch may have been stopped while it was measured.
    let measured = match state.has("epoch_validation") {
        true => state.take_all::<f64>("epoch_validation")?,
        false => Vec::new(),
    };
    if measured.len() > mistakes.len() || validation_hash.is_some() && measured.len() + 1 < mistakes.len() {
        return Err(damaged("it has not as many validation errors as epochs"));
    }
    let one = |at: usize| Epoch {
        epoch: at + 1,
        mistakes: mistakes[at],
        updates: updates[at],
        progressive_error: errors[at],
        validation_error: measured.get(at).copied(),
        seconds: 0.0,
    };
    let trace: Vec<Epoch> = (0..mistakes.len()).map(one).collect();
    let best = match state.has("best_error") {
        true => Some((state.take_one::<f64>("best_error")?, state.take_count("best_epoch")? as usize, ())),
        false => None,
    };
    if best.is_some_and(|(_, epoch, ())| epoch == 0 || epoch > trace.len()) {
        return Err(damaged("its best epoch is none of its epochs"));
    }
    let partial = if state.has("partial") { Some(take_partial(state, &data_hash, training)?) } else { None };
    Ok(History { begin: Begin { trace, partial, best }, start, data_hash, validation_hash })
}

/// The counts of an epoch that was broken off.
fn take_partial(state: &mut State, data_hash: &str, training: &Training<'_>) -> Result<Tally> {
    let counts = state.take::<u64>("partial", 4)?;
    let [rows, mistakes, updates, errors] = counts[..] else { return Err(damaged("`partial`")) };
    if data_hash == training.data_hash && rows > training.data.len() as u64 {
        return Err(damaged("an epoch has more rows than there are"));
    }
    Ok(Tally { rows, mistakes, updates, errors })
}

/// Puts in what is known of the epochs.
pub(in crate::train) fn put_history(
    state: &mut State,
    (done, best): (&[Epoch], Option<(f64, usize)>),
    training: &Training<'_>,
    start: Start,
) {
    state.put_text("data_hash", training.data_hash);
    if let Some(hash) = &training.validation_hash {
        state.put_text("validation_hash", hash);
    }
    state.put_count("from_zero", u64::from(start == Start::Zero));
    state.put("epoch_mistakes", done.iter().map(|epoch| epoch.mistakes).collect::<Vec<u64>>());
    state.put("epoch_updates", done.iter().map(|epoch| epoch.updates).collect::<Vec<u64>>());
    state.put("epoch_error", done.iter().map(|epoch| epoch.progressive_error).collect::<Vec<f64>>());
    if training.validation_hash.is_some() {
        let measured: Vec<f64> = done.iter().filter_map(|epoch| epoch.validation_error).collect();
        state.put("epoch_validation", measured);
    }
    if let Some((error, epoch)) = best {
        state.put("best_error", vec![error]);
        state.put_count("best_epoch", epoch as u64);
    }
}

/// Puts in what is done of an epoch that was broken off.
pub(in crate::train) fn put_partial(state: &mut State, partial: Tally) {
    let Tally { rows, mistakes, updates, errors } = partial;
    state.put("partial", vec![rows, mistakes, updates, errors]);
}

/// Puts in the mistakes of a run.
pub(in crate::train) fn put_journal(state: &mut State, learner: &LearnerState) {
    let LearnerState::Journal { mistakes, rounds, comparisons, best_rounds } = learner else { return };
    if let Some(rounds) = best_rounds {
        state.put("best_rounds", vec![*rounds]);
    }
    state.put("rounds", vec![*rounds]);
    state.put_count("comparisons", *comparisons);
    state.put("mistake_row", mistakes.iter().map(|mistake| mistake.row).collect::<Vec<u32>>());
    state.put("mistake_gains", mistakes.iter().map(|mistake| mistake.gains).collect::<Vec<u32>>());
    state.put("mistake_loses", mistakes.iter().map(|mistake| mistake.loses).collect::<Vec<u32>>());
    state.put("mistake_step", mistakes.iter().map(|mistake| mistake.step).collect::<Vec<f64>>());
    state.put("mistake_round", mistakes.iter().map(|mistake| mistake.round).collect::<Vec<f64>>());
}

/// The mistakes of a run over so many rows with so many outputs, its rounds and the kernels computed.
pub(in crate::train) fn take_journal(
    state: &mut State,
    (rows, outputs): (usize, usize),
) -> Result<(Vec<Mistake>, f64, u64)> {
    let (rounds, comparisons) = (state.take_one::<f64>("rounds")?, state.take_count("comparisons")?);
    let row = state.take_all::<u32>("mistake_row")?;
    let gains = state.take::<u32>("mistake_gains", row.len())?;
    let loses = state.take::<u32>("mistake_loses", row.len())?;
    let step = state.take::<f64>("mistake_step", row.len())?;
    let round = state.take::<f64>("mistake_round", row.len())?;
    let one =
        |i: usize| Mistake { row: row[i], gains: gains[i], loses: loses[i], step: step[i], round: round[i] };
    let mistakes: Vec<Mistake> = (0..row.len()).map(one).collect();
    let mut earlier = 0.0;
    for mistake in &mistakes {
        let is_there = (mistake.row as usize) < rows && mistake.steps().all(|(output, _)| output < outputs);
        if !(is_there && earlier <= mistake.round && mistake.round <= rounds) {
            return Err(damaged("a mistake is of a row, an output or a round that is not there"));
        }
        earlier = mistake.round;
    }
    Ok((mistakes, rounds, comparisons))
}
