//! What training returns: a model, why training ended, and what is known of a run of its kind.

use super::geometry::Geometry;
use super::learner::Learner;
use super::mistakes::Promise;
use super::resume::Resumed;
use super::risk::RiskFit;
use super::validation::Validation;
use crate::control::{Epoch, Termination};
use crate::data::{Report, Scale};
use crate::model::{Model, Weights};
use crate::multiclass::Scheme;

/// A model and how its training went.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The model.
    pub model: Model,
    /// What was trained, with its settings.
    pub learner: Learner,
    /// How classes were reduced to scores.
    pub scheme: Scheme,
    /// Why training ended.
    pub termination: Termination,
    /// Error of the model on the rows it learned from; `None` for numbers, where it would take longer than
    /// the training (voted on many rows), where the rows are gone (streams), or where the observer asked to
    /// stop.
    pub train_error: Option<f64>,
    /// How the model does on the validation rows, if there were any.
    pub validation: Option<Validation>,
    /// What is known of a training of this kind.
    pub details: Details,
    /// How it went on from a model, if it did.
    pub resumed: Option<Resumed>,
}

/// What is known of a training, by the kind of its learner.
#[derive(Clone, Debug)]
pub enum Details {
    /// Epochs of updates on mistakes, over rows in memory.
    Run(Box<RunDetails>),
    /// Epochs of a network's steps.
    Network(History),
    /// One pass over a stream.
    Stream(Box<StreamDetails>),
    /// A minimised loss.
    Risk(Box<RiskFit>),
    /// Counts.
    Counts,
}

/// The epochs of a training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// What each epoch came to.
    pub epochs: Vec<Epoch>,
    /// The epoch whose model was returned, from 1.
    pub best: usize,
    /// Mistakes while learning, over all epochs.
    pub mistakes: u64,
    /// Updates of the weights, over all epochs.
    pub updates: u64,
}

impl History {
    /// The least validation error of all epochs, which is that of the model returned.
    pub fn validation_error(&self) -> Option<f64> {
        self.epochs.iter().filter_map(|epoch| epoch.validation_error).min_by(f64::total_cmp)
    }
}

/// What is known of a run of the perceptron, or of passive-aggressive updates. What takes another pass over
/// the rows is not known where the observer asked to stop.
#[derive(Clone, Debug)]
pub struct RunDetails {
    /// Its epochs.
    pub history: History,
    /// How the columns of the rows that it learned from were scaled: margins, radius and bounds are about
    /// those rows, and the weights for them.
    pub scale: Scale,
    /// Margin and radius of the model returned, where it is linear.
    pub geometry: Option<Geometry>,
    /// Margin and radius of the weights that separated the rows, where the run ended separated: the model's
    /// own, or the last ones of the run that the model averages or lets vote.
    pub separation: Option<Geometry>,
    /// No weights have a larger margin than this: a perceptron's weights are a sum of rows, one for each
    /// update, and no margin is larger than the length of their mean.
    pub margin_upper: Option<f64>,
    /// A bound on the mistakes of the run.
    pub promise: Option<Promise>,
    /// The weights that the bound is computed from, if they are not the model's own.
    pub witness: Option<Weights>,
}

/// What is known of one pass over a stream.
#[derive(Clone, Debug)]
pub struct StreamDetails {
    /// Mistakes while learning.
    pub mistakes: u64,
    /// Updates of the weights.
    pub updates: u64,
    /// Share of rows that were predicted wrongly before they were learned from.
    pub progressive_error: f64,
    /// What the reader noticed.
    pub report: Report,
}

impl Fit {
    /// The minimised loss and its duality gap, of learners that minimise one.
    pub fn risk(&self) -> Option<&RiskFit> {
        if let Details::Risk(risk) = &self.details { Some(risk) } else { None }
    }

    /// Margins and mistake bound, of the perceptron and passive-aggressive updates on rows in memory.
    pub fn run(&self) -> Option<&RunDetails> {
        if let Details::Run(run) = &self.details { Some(run) } else { None }
    }

    /// Progressive error and mistakes, of a stream.
    pub fn stream(&self) -> Option<&StreamDetails> {
        if let Details::Stream(stream) = &self.details { Some(stream) } else { None }
    }

    /// The epochs, of learners that have such.
    pub fn history(&self) -> Option<&History> {
        match &self.details {
            Details::Run(run) => Some(&run.history),
            Details::Network(history) => Some(history),
            Details::Stream(_) | Details::Risk(_) | Details::Counts => None,
        }
    }

    /// Error of the model on the validation rows, if there were any; `None` for numbers.
    pub fn validation_error(&self) -> Option<f64> {
        self.validation.as_ref()?.error()
    }
}
