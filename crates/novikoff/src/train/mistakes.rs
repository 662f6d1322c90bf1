//! What theory promises about the mistakes of a run, for the best weights at hand.

use super::fit::{History, RunDetails};
use super::geometry::{RowMargins, overflow};
use super::learner::Learner;
use super::run::Corrections;
use crate::certificate::mistakes::Margins;
use crate::control::{Termination, Watch};
use crate::data::Scale;
use crate::error::Result;
use crate::model::{Scorer, Weights};
use crate::multiclass::Scheme;
use crate::online::rule::Aggressiveness;
use crate::online::{Hypothesis, Trained, TrainingRows};
use rayon::prelude::*;
use serde::Serialize;

/// Which theorem bounds the mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theorem {
    /// Novikoff's: `(R/γ)²`, in any number of passes over rows that are separated by γ.
    Novikoff,
    /// Freund and Schapire's: `((R + D)/γ)²`, in the passes that were made, where `D²` sums up how much rows
    /// fall short of γ.
    FreundSchapire,
    /// Theirs for rows with a feature of their own: `(R² + Δ²)(1 + D²/Δ²)/γ²`, in any number of passes.
    OwnFeature,
    /// That of Crammer and others about passive-aggressive steps.
    PassiveAggressive,
}

impl Theorem {
    /// The bound as a formula.
    pub fn formula(self) -> &'static str {
        match self {
            Theorem::Novikoff => "(R/γ)²",
            Theorem::FreundSchapire => "((R + D)/γ)²",
            Theorem::OwnFeature => "(R² + Δ²)(1 + D²/Δ²)/γ²",
            Theorem::PassiveAggressive => "the theorem of passive-aggressive steps",
        }
    }
}

/// How many mistakes a run can have made at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// No more than this; with one class against the rest, of all classes together.
    pub bound: f64,
    /// By which theorem.
    pub theorem: Theorem,
    /// γ, of every weight vector.
    pub margins: Vec<f64>,
    /// Novikoff's bound, `(R/γ)²` for any number of epochs, where the rows are separated.
    pub forever: Option<f64>,
    /// The γ of that, of every weight vector.
    pub least_margins: Vec<f64>,
    /// An estimate of a bound: of the last of `n + 1` rows drawn independently, the voted perceptron after
    /// one pass over the other `n` mistakes in expectation at most twice the expected bound for one pass over
    /// all of them, divided by `n + 1`. Here these rows' own bound stands for the expected one.
    pub unseen: Option<f64>,
}

/// What the weights of a run were before its first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Zero,
    /// Those of a model.
    Model,
}

/// Looks at all rows once more, under the weights that are returned and under the last ones where these are
/// at hand; as far as the observer lets it.
pub(super) fn account(
    trained: &mut Trained,
    batch: TrainingRows<'_>,
    scheme: Scheme,
    (corrections, start): (&Corrections, Start),
    learner: &Learner,
    watch: &Watch<'_>,
) -> Result<RunDetails> {
    let margins = |weights: &Weights| RowMargins::of(weights, batch, scheme, corrections, watch);
    let own = match &trained.scorer {
        Scorer::Linear(weights) => margins(weights)?,
        Scorer::Voted(voted) if voted.largest_score().is_finite() => None,
        Scorer::Kernel(expansion) if expansion.largest_score().is_finite() => None,
        Scorer::Presence(_) | Scorer::Clipped(_) | Scorer::Network(_) | Scorer::Mapped(_) => None,
        Scorer::Voted(_) | Scorer::Kernel(_) => return Err(overflow()),
    };
    let last = trained.last.as_ref().map(margins).transpose()?.flatten();
    let geometry = own.as_ref().map(RowMargins::geometry);
    // With a feature of their own, rows may be separated by that alone.
    let separated = trained.termination == Termination::Separated && corrections.own_feature.is_none();
    let separation = separated.then(|| last.as_ref().or(own.as_ref()).map(RowMargins::geometry)).flatten();
    let is_sum = start == Start::Zero;
    let margin_upper = if is_sum { margin_upper(trained, batch, scheme, learner) } else { None };
    // The theorems speak of steps of one size, from zero.
    let speaks = batch.weights.is_empty() && start == Start::Zero;
    let passes = trained.trace.len();
    let promised = |rows: &Option<RowMargins>| {
        rows.as_ref().filter(|_| speaks).and_then(|rows| promise(rows, scheme, passes, learner, watch))
    };
    let (promise, witness) = match (promised(&own), promised(&last)) {
        // Weights that separate promise something for ever; else the lower bound counts.
        (Some(own), Some(last))
            if (last.forever.is_none(), last.bound) < (own.forever.is_none(), own.bound) =>
        {
            (Some(last), trained.last.take())
        }
        (None, Some(last)) => (Some(last), trained.last.take()),
        (own, _) => (own, None),
    };
    let history = History::default();
    Ok(RunDetails { history, scale: Scale::None, geometry, separation, margin_upper, promise, witness })
}

/// The length of the mean of all updates, where the run's last weights are their sum and at hand.
fn margin_upper(
    trained: &Trained,
    batch: TrainingRows<'_>,
    scheme: Scheme,
    learner: &Learner,
) -> Option<f64> {
    let Learner::Perceptron(perceptron) = learner else { return None };
    let sums_up = batch.weights.is_empty() && scheme != Scheme::OneVsRest;
    let weights = match (&trained.last, &trained.scorer) {
        (Some(last), _) => last,
        (None, Scorer::Linear(weights))
            if perceptron.returned == Hypothesis::Last && trained.epoch == trained.trace.len() =>
        {
            weights
        }
        _ => return None,
    };
    let square: f64 = (0..weights.outputs()).map(|output| weights.norm_sq(output)).sum();
    (sums_up && trained.updates > 0).then(|| square.sqrt() / (perceptron.rule.step * trained.updates as f64))
}

/// The promise that weights with these margins give for `passes` passes; `None` if no theorem speaks of such
/// a run.
fn promise(
    rows: &RowMargins,
    scheme: Scheme,
    passes: usize,
    learner: &Learner,
    watch: &Watch<'_>,
) -> Option<Promise> {
    if !rows.is_ordinary {
        return None;
    }
    let (measured, passes) = (Measured::of(rows, watch)?, passes as f64);
    match learner {
        Learner::Perceptron(perceptron) => measured.for_perceptron(perceptron.own_feature, scheme, passes),
        Learner::PassiveAggressive(own) => {
            let bounds =
                measured.bounds(|margins| aggressive(margins, scheme, passes, own.aggressiveness))?;
            collected(&bounds, Theorem::PassiveAggressive)
        }
        Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => None,
    }
}

/// Margins from below and the radius from above: then the bounds hold in spite of rounding.
struct Measured<'a, 'w> {
    watch: &'a Watch<'w>,
    /// The margins of the rows for each weight vector.
    each: Vec<Margins>,
    rows: f64,
    radius: f64,
    /// A bound is a sum over the rows, and a few operations more: rounded up by this factor.
    up: f64,
}

impl<'a, 'w> Measured<'a, 'w> {
    /// `None` if the observer asks to stop; so it is with all that follows.
    fn of(rows: &RowMargins, watch: &'a Watch<'w>) -> Option<Self> {
        let radius = rows.radius + rows.off;
        let margins = |output: usize| {
            let own = rows.margins.iter().skip(output).step_by(rows.width).map(|m| m - rows.off);
            watch.goes_on().then(|| Margins::new(own.collect(), radius))
        };
        Some(Self {
            watch,
            each: (0..rows.width).into_par_iter().map(margins).collect::<Option<_>>()?,
            rows: (rows.margins.len() / rows.width.max(1)) as f64,
            radius,
            up: 1.0 + (4 * rows.margins.len() + 64) as f64 * f64::EPSILON,
        })
    }

    /// The bound for each weight vector, rounded up, with its margin.
    fn bounds(&self, of: impl Fn(&Margins) -> (f64, f64) + Sync) -> Option<Vec<(f64, f64)>> {
        let rounded_up = |(bound, margin): (f64, f64)| (bound * self.up, margin);
        let one = |margins: &Margins| self.watch.goes_on().then(|| rounded_up(of(margins)));
        self.each.par_iter().map(one).collect()
    }

    fn for_perceptron(&self, own_feature: Option<f64>, scheme: Scheme, passes: f64) -> Option<Promise> {
        let separated = self.each.iter().all(|margins| margins.least() > 0.0);
        let bounds = self.bounds(|margins| margins.least_bound(passes, own_feature))?;
        // Of rows that are separated with room to spare, a larger margin that some fall short of may promise
        // more still.
        let plain = self.each.iter().zip(&bounds).all(|(margins, bound)| bound.1 <= margins.least());
        let theorem = match (own_feature, separated && plain) {
            (Some(_), _) => Theorem::OwnFeature,
            (None, true) => Theorem::Novikoff,
            (None, false) => Theorem::FreundSchapire,
        };
        let speaks_of_votes = own_feature.is_none() && scheme != Scheme::OneVsRest;
        let once: f64 =
            self.bounds(|margins| margins.least_bound(1.0, None))?.iter().map(|bound| bound.0).sum();
        let unseen = speaks_of_votes.then(|| (2.0 * once / (self.rows + 1.0)).min(1.0));
        let least_margins: Vec<f64> = self.each.iter().map(Margins::least).collect();
        let novikoff = |margin: &f64| self.up * (self.radius / margin).powi(2);
        let forever = (separated && own_feature.is_none()).then(|| least_margins.iter().map(novikoff).sum());
        Some(Promise { unseen, forever, least_margins, ..collected(&bounds, theorem)? })
    }
}

fn collected(bounds: &[(f64, f64)], theorem: Theorem) -> Option<Promise> {
    let bound: f64 = bounds.iter().map(|(bound, _)| bound).sum();
    let margins = bounds.iter().map(|(_, margin)| *margin).collect();
    bound.is_finite().then_some(Promise {
        bound,
        theorem,
        margins,
        forever: None,
        least_margins: Vec::new(),
        unseen: None,
    })
}

/// Of losses `max(0, 1 − y<u, x>)` with `‖u‖ = 1/γ`: PA makes at most `R²‖u‖²` mistakes if there are none,
/// PA-I at most `max(R², 1/C)(‖u‖² + 2C Σ ℓ)`, PA-II at most `(R² + 1/2C)(‖u‖² + 2C Σ ℓ²)`.
fn aggressive(margins: &Margins, scheme: Scheme, passes: f64, aggressiveness: Aggressiveness) -> (f64, f64) {
    let square = margins.radius() * margins.radius();
    // Two vectors move by half of what one would: for their difference that is half the cap.
    let halved = |c: f64| if scheme == Scheme::Joint { 0.5 * c } else { c };
    match aggressiveness {
        Aggressiveness::Full => {
            let least = margins.least();
            (if least > 0.0 { square / (least * least) } else { f64::INFINITY }, least)
        }
        Aggressiveness::Capped(c) => {
            let c = halved(c);
            margins.least_of(1, |margin, short| {
                square.max(1.0 / c) * (1.0 / (margin * margin) + 2.0 * c * passes * short / margin)
            })
        }
        Aggressiveness::Damped(c) => {
            let c = halved(c);
            margins.least_of(2, |margin, short| {
                (square + 0.5 / c) * (1.0 / (margin * margin) + 2.0 * c * passes * short / (margin * margin))
            })
        }
    }
}
