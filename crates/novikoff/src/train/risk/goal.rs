//! What a batch learner is to predict: classes or numbers, and how much each row counts.

use super::super::classes::{Classes, check_size, effective_weights, weightless};
use super::super::learner::{Criterion, Risk};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::loss::{LossName, Targets};
use crate::multiclass::Scheme;

/// What is to be predicted.
pub(super) struct Goal {
    /// Labels in their final order; `None` for regression.
    pub(super) classes: Option<Classes>,
    /// The class of each row; empty for regression.
    pub(super) ranked: Vec<u32>,
    /// The target of each row; empty for classes.
    pub(super) targets: Vec<f64>,
    pub(super) scheme: Scheme,
    /// Weight vectors.
    pub(super) outputs: usize,
    /// How much each row counts; empty if each counts once.
    pub(super) weights: Vec<f64>,
    /// What the sum of losses is divided by.
    pub(super) total: f64,
}

impl Goal {
    pub(super) fn new(data: &Dataset, settings: &Risk) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::input("there are no rows to learn from"));
        }
        let total = data.total_weight();
        if total <= 0.0 {
            return Err(weightless());
        }
        match settings.criterion.targets() {
            Targets::Numbers => Self::of_numbers(data, total),
            Targets::Signs => Self::of_classes(data, total, settings),
        }
    }

    fn of_numbers(data: &Dataset, total: f64) -> Result<Self> {
        check_size(data.rows.columns(), 1)?;
        Ok(Self {
            classes: None,
            ranked: Vec::new(),
            targets: data.targets()?,
            scheme: Scheme::Two,
            outputs: 1,
            weights: data.row_weights.clone(),
            total,
        })
    }

    fn of_classes(data: &Dataset, total: f64, settings: &Risk) -> Result<Self> {
        let classes = Classes::new(&data.names, &data.schema, &settings.shared)?;
        let scheme = scheme(classes.labels.len(), settings)?;
        let outputs = scheme.outputs(classes.labels.len());
        check_size(data.rows.columns(), outputs)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, &settings.shared)?;
        if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
            return Err(weightless());
        }
        Ok(Self { classes: Some(classes), ranked, targets: Vec::new(), scheme, outputs, weights, total })
    }

    /// The targets of one weight vector: numbers, or +1 for its class and −1 for the others.
    pub(super) fn targets_of(&self, output: usize) -> Vec<f64> {
        if self.classes.is_none() {
            return self.targets.clone();
        }
        let positive = if self.scheme == Scheme::Two { 1 } else { output as u32 };
        self.ranked.iter().map(|&class| if class == positive { 1.0 } else { -1.0 }).collect()
    }
}

/// How classes are reduced to scores: two to one weight vector, more to one each, which only the logistic
/// loss learns jointly.
fn scheme(classes: usize, settings: &Risk) -> Result<Scheme> {
    let joint = settings.criterion == Criterion::Loss(LossName::Logistic) && settings.l1 == 0.0;
    match settings.shared.multiclass {
        Some(Scheme::OneVsRest) if classes > 2 => Ok(Scheme::OneVsRest),
        _ if classes > 2 && joint => Ok(Scheme::Joint),
        Some(Scheme::Joint) if classes > 2 => {
            let what =
                format!("{} learns classes one against the rest, not jointly", settings.criterion.name());
            Err(Error::usage(what).hint("use `multiclass = one-vs-rest`"))
        }
        _ if classes == 2 => Ok(Scheme::Two),
        _ => Ok(Scheme::OneVsRest),
    }
}
