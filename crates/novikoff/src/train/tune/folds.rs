//! The folds of a search: each with its own recipe and warm starts, and the figures of its held-out rows.

use super::Metric;
use super::path::From;
use crate::control::{Flow, Observer, Progress, Watch};
use crate::data::{Dataset, Parts, Refit};
use crate::error::Result;
use crate::evaluate::{Folds, Predictions, Strata};
use crate::features::map::Mapper;
use crate::solver::WarmStart;
use crate::train::bayes;
use crate::train::custom_loss;
use crate::train::learner::Learner;
use crate::train::risk::{Lambdas, predict_held_out};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the folds of a search have in common.
pub(super) struct Search<'a, 'w, R> {
    pub(super) rows: &'a R,
    pub(super) dealt: &'a Folds,
    pub(super) learner: &'a Learner,
    pub(super) by: Metric,
    /// What the parameter is called.
    pub(super) symbol: &'static str,
    pub(super) watch: &'a Watch<'w>,
}

/// Solutions of a fold with the strongest and with the weakest penalty so far, for others to start from.
#[derive(Clone, Default)]
pub(super) struct Ends {
    strongest: Vec<WarmStart>,
    weakest: Vec<WarmStart>,
}

/// Assigns rows to folds.
pub(in crate::train) fn deal(data: &Dataset, learner: &Learner, folds: usize) -> Result<Folds> {
    let seed = learner.shared().seed;
    match learner.predicts_numbers() {
        true => Folds::deal(Strata::Targets(&data.targets()?), folds, seed),
        false => Folds::deal(Strata::Classes(&data.labels), folds, seed),
    }
}

/// Both parts of a fold, with the learner's map applied.
pub(in crate::train) fn mapped(parts: Parts, learner: &Learner) -> Result<Parts> {
    let Some(map) = learner.shared().map else { return Ok(parts) };
    let mapper = Mapper::new(map, parts.training.rows.columns())?;
    Ok(Parts { training: parts.training.mapped(&mapper)?, held_out: parts.held_out.mapped(&mapper)? })
}

/// The figures of every fold for some values; fewer of them for folds that were stopped. `done` values were
/// tried before.
pub(super) fn run<R: Refit>(
    search: &Search<'_, '_, R>,
    values: &[f64],
    from: From,
    done: usize,
    ends: &mut [Ends],
) -> Result<Vec<Vec<Option<f64>>>> {
    let folds = search.dealt.count;
    let finished = AtomicUsize::new(done * folds);
    let one = |(fold, ends): (usize, &mut Ends)| {
        if search.watch.stopped() {
            return Ok(Vec::new());
        }
        let (training, held_out) = (search.dealt.training(fold), search.dealt.held_out(fold));
        let parts = mapped(search.rows.split(&training, &held_out)?, search.learner)?;
        let of = (done + values.len()) * folds;
        let mut place = Place::new((fold, folds), search.symbol, (&finished, of), search.watch);
        figures(search, &parts, (values, from), ends, &mut place)
    };
    let figures: Vec<Result<Vec<Option<f64>>>> = ends.par_iter_mut().enumerate().map(one).collect();
    figures.into_iter().collect()
}

/// The figures of one fold.
fn figures<R: Refit>(
    search: &Search<'_, '_, R>,
    parts: &Parts,
    (values, from): (&[f64], From),
    ends: &mut Ends,
    place: &mut Place<'_, '_>,
) -> Result<Vec<Option<f64>>> {
    let mut figures = Vec::new();
    let mut measure = |predictions: Predictions| figures.push(search.by.of(&predictions.measure()));
    match search.learner {
        Learner::Risk(risk) => {
            let loss = risk.criterion.loss().ok_or_else(custom_loss)?;
            let starts = if from == From::Strongest { &ends.strongest } else { &ends.weakest };
            let is_first = starts.is_empty();
            let lambdas = Lambdas { values, starts: starts.clone() };
            let [first, last] = predict_held_out(loss, parts, lambdas, risk, place, &mut measure)?;
            if is_first {
                ends.strongest = first;
            }
            match from {
                From::Strongest => ends.strongest = last,
                From::Weakest => ends.weakest = last,
            }
        }
        Learner::Bayes(own) => bayes::predict_held_out(parts, values, own, place, &mut measure)?,
        Learner::Perceptron(_) | Learner::PassiveAggressive(_) | Learner::Network(_) => {}
    }
    Ok(figures)
}

/// Where a fold is, for the observer.
pub(in crate::train) struct Place<'a, 'w> {
    fold: usize,
    folds: usize,
    symbol: &'static str,
    value: Option<f64>,
    /// Fits that are finished, in all folds.
    finished: &'a AtomicUsize,
    of: usize,
    watch: &'a Watch<'w>,
}

impl<'a, 'w> Place<'a, 'w> {
    /// A fold that is under way, of so many fits in all folds.
    pub(in crate::train) fn new(
        (fold, folds): (usize, usize),
        symbol: &'static str,
        (finished, of): (&'a AtomicUsize, usize),
        watch: &'a Watch<'w>,
    ) -> Self {
        Self { fold, folds, symbol, value: None, finished, of, watch }
    }

    /// The fit with this value begins.
    pub(in crate::train) fn begin(&mut self, value: f64) -> Flow {
        self.value = Some(value);
        self.tell()
    }

    /// A fit has ended: whether it was not stopped.
    pub(in crate::train) fn end(&mut self) -> bool {
        if self.watch.stopped() {
            return false;
        }
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.tell();
        true
    }

    fn tell(&self) -> Flow {
        let Self { fold, folds, symbol, value, of, .. } = *self;
        let done = self.finished.load(Ordering::Relaxed);
        self.watch.tell(Progress::Fold { fold: fold + 1, folds, symbol, value, done, of })
    }
}

/// What happens within a fit is told as progress of its fold: several are under way at once.
impl Observer for Place<'_, '_> {
    fn observe(&mut self, _: Progress) -> Flow {
        self.tell()
    }
}
