//! Rows that are held back from training, and how the model returned does on them.

use super::classes::Classes;
use crate::control::Watch;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::evaluate::{self, Regression};
use crate::loss::LossName;
use crate::model::{Scorer, score_all_watched};
use serde_json::{Value, json};

/// How the model returned does on the validation rows. Every row counts once.
///
/// ```
/// use novikoff::{LeastSquares, data::generate::Recipe, train::Validation};
///
/// let data = Recipe { rows: 200, ..Recipe::default() }.generate();
/// let targets: Vec<f64> = (0..200).map(|i| data.rows.row(i).norm_sq()).collect();
/// let (training, held_out) = data.with_targets(&targets)?.split(0.2, 0)?;
/// let fit = LeastSquares::new().fit_observed(&training, Some(&held_out), &mut novikoff::control::Unwatched)?;
/// let Some(Validation::Numbers(measured)) = fit.validation else { panic!("numbers") };
/// assert_eq!(measured.rows, 40);
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Validation {
    /// Labels.
    Classes {
        /// Number of rows.
        rows: u64,
        /// Share of rows whose predicted label is not theirs.
        error: f64,
    },
    /// Numbers.
    Numbers(Regression),
}

impl Validation {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        match self {
            Validation::Classes { rows, .. } => *rows,
            Validation::Numbers(measured) => measured.rows,
        }
    }

    /// Share of rows whose predicted label is not theirs; `None` for numbers.
    pub fn error(&self) -> Option<f64> {
        if let Validation::Classes { error, .. } = self { Some(*error) } else { None }
    }

    /// How far predicted numbers are from theirs; `None` for labels.
    pub fn regression(&self) -> Option<&Regression> {
        if let Validation::Numbers(measured) = self { Some(measured) } else { None }
    }

    /// What a model says of them.
    pub(super) fn results(&self) -> impl Iterator<Item = (String, Value)> {
        let measured = self.regression();
        let known = [
            ("validation_error", self.error()),
            ("validation_r2", measured.and_then(|measured| measured.r2)),
            ("validation_mae", measured.map(|measured| measured.mae)),
            ("validation_rmse", measured.map(|measured| measured.rmse)),
            ("validation_loss", measured.and_then(|measured| measured.mean_loss).map(|it| it.mean)),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        known.chain([("validation_rows".to_owned(), json!(self.rows()))])
    }
}

/// Rows to measure a model on, and what it should predict.
pub(super) struct HeldOut<'a> {
    rows: &'a Dataset<'a>,
    truth: Truth,
    /// The loss that is minimised.
    loss: Option<LossName>,
}

enum Truth {
    /// Numbered as the model will number them.
    Classes(Vec<u32>),
    Numbers(Vec<f64>),
}

impl<'a> HeldOut<'a> {
    /// Validation rows, if there are any, whose labels are these classes or, without classes, numbers.
    pub(super) fn new(
        rows: Option<&'a Dataset<'a>>,
        classes: Option<&Classes>,
        loss: Option<LossName>,
    ) -> Result<Option<Self>> {
        let Some(rows) = rows else { return Ok(None) };
        if rows.is_empty() {
            return Err(Error::input("there are no validation rows to measure the model on"));
        }
        let truth = match classes {
            Some(classes) => Truth::Classes(classes.of_others(rows)?),
            None => Truth::Numbers(rows.targets()?),
        };
        Ok(Some(Self { rows, truth, loss }))
    }

    /// How wrong a scorer is: the share of wrong labels, the mean of a loss with a parameter, or the share of
    /// the numbers' variance that is left. `None` if the observer asks to stop.
    pub(super) fn error(&self, scorer: &Scorer, watch: &Watch<'_>) -> Option<f64> {
        Some(match self.measure(scorer, watch)? {
            Validation::Classes { error, .. } => error,
            Validation::Numbers(Regression { mean_loss: Some(it), .. }) => it.mean,
            // Where the numbers do not vary, there is no variance to share.
            Validation::Numbers(measured) => measured.r2.map_or(measured.rmse * measured.rmse, |r2| 1.0 - r2),
        })
    }

    /// How a scorer does; `None` if the observer asks to stop.
    pub(super) fn measure(&self, scorer: &Scorer, watch: &Watch<'_>) -> Option<Validation> {
        Some(match &self.truth {
            Truth::Classes(classes) => {
                self.of_error(evaluate::error_watched(scorer, self.rows, classes, watch)?)
            }
            Truth::Numbers(targets) => {
                let scores = score_all_watched(scorer, self.rows, watch)?;
                Validation::Numbers(Regression::of_loss(&scores, targets, &[], self.loss))
            }
        })
    }

    /// What is known of a scorer with this share of wrong labels.
    pub(super) fn of_error(&self, error: f64) -> Validation {
        Validation::Classes { rows: self.rows.len() as u64, error }
    }
}
