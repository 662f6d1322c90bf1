//! Cross-validation: how well a learner does on rows that its models did not see.

use super::memory::check_memory_of_folds;
use super::tune::{Place, deal, mean_and_spread};
use super::{Learner, check_task, train_on};
use crate::control::{Observer, Termination, Watch};
use crate::data::{Labels, Parts, Refit};
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::{Evaluation, Predictions};
use rayon::prelude::*;
use std::sync::atomic::AtomicUsize;

/// What the models of all folds say of the rows that were held out from them.
#[derive(Clone, Debug)]
pub struct CrossValidated {
    /// The predictions of each fold.
    pub folds: Vec<Predictions>,
    /// The same, one fold behind the other: every row once.
    pub pooled: Predictions,
    /// The labels, as the models number them; empty for numbers.
    pub labels: Labels,
    /// Whether the observer asked to stop: then these are the folds that were finished.
    pub interrupted: bool,
}

/// The mean over folds of a figure, and its standard error: `s/√k`, where s is the standard deviation of the
/// k folds in which the figure is defined. `None` where there are too few.
pub fn over_folds(
    folds: &[Evaluation],
    figure: impl Fn(&Evaluation) -> Option<f64>,
) -> (Option<f64>, Option<f64>) {
    let figures: Vec<f64> = folds.iter().filter_map(figure).collect();
    mean_and_spread(figures.into_iter())
}

/// Trains a model on the rows of all folds but one, for each fold in turn, and predicts the rows of that one.
/// The recipe is fitted to the training rows of each model alone. If the observer asks to stop, the folds
/// that are finished are returned; without any that is an error.
///
/// ```
/// use novikoff::evaluate::{Evaluation, Predictions};
/// use novikoff::train::{LearnerName, cross_validate, over_folds};
/// use novikoff::{control::Unwatched, data::generate::Recipe};
/// let data = Recipe { rows: 200, noise: 0.1, ..Recipe::default() }.generate();
/// let validated = cross_validate(&data, &LearnerName::Averaged.learner(), 5, &mut Unwatched)?;
/// assert_eq!(validated.pooled.measure().rows(), 200);
/// let folds: Vec<Evaluation> = validated.folds.iter().map(Predictions::measure).collect();
/// let (mean, spread) = over_folds(&folds, Evaluation::error);
/// assert!(mean.unwrap() < 0.3 && spread.unwrap() < 0.1);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn cross_validate(
    rows: &impl Refit,
    learner: &Learner,
    folds: usize,
    observer: &mut dyn Observer,
) -> Result<CrossValidated> {
    let data = rows.data();
    data.validate()?;
    check_task(data, None, learner)?;
    check_memory_of_folds(data, learner, folds)?;
    let dealt = deal(data, learner, folds)?;
    let watch = Watch::new(observer);
    let finished = AtomicUsize::new(0);
    let one = |fold: usize| {
        if watch.stopped() {
            return Err(Error::interrupted());
        }
        let parts = rows.split(&dealt.training(fold), &dealt.held_out(fold))?;
        let mut place = Place::new((fold, folds), "", (&finished, folds), &watch);
        predict(&parts, learner, &mut place)
    };
    let all: Vec<Result<(Predictions, Labels)>> = (0..folds).into_par_iter().map(one).collect();
    let is_stopped = |fold: &Result<_>| matches!(fold, Err(error) if error.kind() == ErrorKind::Interrupted);
    let (stopped, finished): (Vec<_>, Vec<_>) = all.into_iter().partition(is_stopped);
    let (folds, labels): (Vec<Predictions>, Vec<Labels>) =
        finished.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let (Some(first), Some(labels)) = (folds.first(), labels.into_iter().next()) else {
        return Err(Error::interrupted());
    };
    let mut pooled = first.clone();
    folds[1..].iter().try_for_each(|fold| pooled.join(fold))?;
    Ok(CrossValidated { folds, pooled, labels, interrupted: !stopped.is_empty() })
}

/// What a model of the training rows says of the held-out ones.
fn predict(parts: &Parts, learner: &Learner, place: &mut Place<'_, '_>) -> Result<(Predictions, Labels)> {
    let fit = train_on(&parts.training, None, (learner, None), place)?;
    if !place.end() || fit.termination == Termination::Interrupted {
        return Err(Error::interrupted());
    }
    Ok((Predictions::of(&fit.model, &parts.held_out)?, fit.model.labels))
}
