//! How good a model is: error with an exact interval, confusion, precision and recall, area under the curve,
//! log loss; R² and its kin for regression. And what its scores mean: folds, scores of rows that were not
//! seen, probabilities fitted to them.

mod calibrate;
mod classification;
mod folds;
mod interval;
mod metric;
mod predictions;
mod ranking;
mod regression;

pub use calibrate::{CalibrationMethod, calibrate, fit_isotonic, fit_platt};
pub use classification::{Classification, Retrieval};
pub use folds::{Folds, Strata, cross_fit};
pub use interval::binomial_interval;
pub use metric::Metric;
pub use predictions::{Predictions, ThresholdOn};
pub use ranking::{Cheapest, Threshold};
pub use regression::{MeanLoss, Regression};

use crate::control::Watch;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::{self, Model, Scorer};
use crate::multiclass::decide;

/// How a model does on rows whose labels or targets are known.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// A model that predicts labels.
    Classes(Classification),
    /// A model that predicts numbers.
    Numbers(Regression),
}

impl Evaluation {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        match self {
            Evaluation::Classes(measured) => measured.rows,
            Evaluation::Numbers(measured) => measured.rows,
        }
    }

    /// Share of rows predicted wrongly, where labels are predicted.
    pub fn error(&self) -> Option<f64> {
        match self {
            Evaluation::Classes(measured) => Some(measured.error()),
            Evaluation::Numbers(_) => None,
        }
    }
}

/// The class of a row whose label the model does not know: no prediction is right.
pub const UNKNOWN: u32 = u32::MAX;

/// Scores all rows, in parallel: `outputs` scores a row.
pub fn score_all(scorer: &Scorer, data: &Dataset) -> Vec<f64> {
    model::score_all(scorer, data)
}

/// Share of rows whose predicted class is not theirs.
pub fn error(scorer: &Scorer, data: &Dataset, classes: &[u32]) -> f64 {
    error_of(&score_all(scorer, data), scorer.outputs(), classes)
}

/// The same; `None` if the observer asks to stop.
pub(crate) fn error_watched(
    scorer: &Scorer,
    data: &Dataset,
    classes: &[u32],
    watch: &Watch<'_>,
) -> Option<f64> {
    Some(error_of(&model::score_all_watched(scorer, data, watch)?, scorer.outputs(), classes))
}

/// The error of rows that have these scores, `outputs` each.
pub fn error_of(scores: &[f64], outputs: usize, classes: &[u32]) -> f64 {
    let wrong = scores.chunks_exact(outputs).zip(classes).filter(|(s, c)| decide(s) != **c as usize).count();
    wrong as f64 / classes.len().max(1) as f64
}

/// Evaluates a model on rows with labels or, for a model of regression, with targets. A row counts as much as
/// its weight says.
///
/// ```
/// use novikoff::{LogisticRegression, data::generate::Recipe, evaluate::evaluate};
///
/// let data = Recipe { rows: 200, margin: 0.2, ..Recipe::default() }.generate();
/// let model = LogisticRegression::new().fit(&data)?.model;
/// assert!(evaluate(&model, &data)?.error() < Some(0.1));
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn evaluate(model: &Model, data: &Dataset) -> Result<Evaluation> {
    Ok(Predictions::of(model, data)?.measure())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Recipe;
    use crate::data::{Labels, Report};
    use crate::features::Schema;
    use crate::model::{About, Calibration, Isotonic, Weights};
    use proptest::prelude::*;

    /// A model of one feature and so many outputs, and rows `1:x`.
    fn one_feature(names: &[&str], outputs: usize, xs: &[f64]) -> (Model, Dataset<'static>) {
        let mut weights = Weights::zero(1, outputs);
        weights.values.iter_mut().enumerate().for_each(|(output, w)| *w = 1.0 + output as f64);
        let about = About { features: 1, ..About::default() };
        let (labels, schema) = (Labels::new(names), Schema::one_based());
        let model = Model {
            about,
            labels,
            schema: schema.clone(),
            scorer: Scorer::Linear(weights),
            probabilities: None,
            state: None,
        };
        let mut builder =
            crate::data::matrix::Builder::new(crate::data::matrix::Layout::Dense { columns: 1 });
        xs.iter().for_each(|x| builder.push(&[0], &[*x]));
        let (rows, names) = (builder.finish(), model.labels.clone());
        let data = Dataset {
            rows,
            labels: Vec::new(),
            names,
            row_weights: Vec::new(),
            schema,
            report: Report::default(),
        };
        (model, data)
    }

    proptest! {
        #[test]
        fn log_loss_is_the_mean_of_minus_the_log_of_the_labels_probabilities(
            rows in prop::collection::vec((-3.0..3.0f64, 0u32..3), 1..30),
            two in any::<bool>(),
        ) {
            let (names, outputs): (&[&str], usize) =
                if two { (&["a", "b"], 1) } else { (&["a", "b", "c"], 3) };
            let xs: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let (mut model, mut data) = one_feature(names, outputs, &xs);
            data.labels = rows.iter().map(|row| row.1.min(names.len() as u32 - 1)).collect();
            let Evaluation::Classes(without) = evaluate(&model, &data).unwrap() else { panic!("classes") };
            prop_assert_eq!(without.log_loss, None);
            for calibration in [Calibration::Logistic, Calibration::Softmax] {
                if two && calibration == Calibration::Softmax {
                    continue;
                }
                let softmax = calibration == Calibration::Softmax;
                model.probabilities = Some(calibration);
                let Evaluation::Classes(measured) = evaluate(&model, &data).unwrap() else {
                    panic!("classes")
                };
                let expected: f64 = xs
                    .iter()
                    .zip(&data.labels)
                    .map(|(x, &class)| {
                        let squash = |s: f64| if softmax { s.exp() } else { 1.0 / (1.0 + (-s).exp()) };
                        let p = if two {
                            [1.0 - squash(*x), squash(*x)][class as usize]
                        } else {
                            squash(x * f64::from(class + 1))
                                / (1..4).map(|k| squash(x * f64::from(k))).sum::<f64>()
                        };
                        -p.ln()
                    })
                    .sum::<f64>()
                    / xs.len() as f64;
                prop_assert!((measured.log_loss.unwrap() - expected).abs() < 1e-9);
                prop_assert_eq!(
                    Classification { log_loss: None, brier: None, ..measured },
                    without.clone(),
                    "probabilities do not decide"
                );
            }
        }

        #[test]
        fn a_model_of_regression_is_measured_by_the_numbers_that_labels_spell(
            rows in prop::collection::vec((-9i32..9, -9i32..9), 2..30),
        ) {
            let xs: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let (model, mut data) = one_feature(&[], 1, &xs);
            data.labels = rows.iter().map(|row| data.names.intern(&format!("{}.0", row.1))).collect();
            let targets: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            prop_assert_eq!(&data.targets().unwrap(), &targets);
            let measured = evaluate(&model, &data).unwrap();
            prop_assert_eq!((measured.error(), measured.rows()), (None, rows.len() as u64));
            prop_assert_eq!(measured, Evaluation::Numbers(Regression::of(&xs, &targets)));
        }
    }

    #[test]
    fn a_row_that_was_called_impossible_costs_much_but_not_everything() {
        let (mut model, mut data) = one_feature(&["a", "b"], 1, &[1.0]);
        data.labels = vec![0];
        model.probabilities =
            Some(Calibration::Isotonic(vec![Isotonic { scores: vec![0.0], values: vec![1.0] }]));
        let Evaluation::Classes(measured) = evaluate(&model, &data).unwrap() else { panic!("classes") };
        assert_eq!(measured.log_loss, Some(-1e-15f64.ln()));
    }

    #[test]
    fn targets_that_are_not_numbers_are_an_error_that_names_one() {
        let mut data = Recipe { rows: 3, ..Recipe::default() }.generate();
        data.names = Labels::new(["never seen", "1.5", "cheap"]);
        data.labels = vec![1, 2, 1];
        assert_eq!(data.targets().unwrap_err().to_string(), "the target \"cheap\" of row 2 is not a number");
        data.labels = vec![1, 1, 1];
        assert_eq!(data.targets().unwrap(), [1.5; 3], "names of no row do not matter");
        data.labels.clear();
        assert!(data.targets().unwrap_err().to_string().contains("no targets"));
    }
}
