//! How good a model is: error with an exact interval, confusion, area under the curve, log loss; R² for
//! regression. And what its scores mean: folds, scores of rows that were not seen, probabilities fitted to
//! them.

mod calibrate;
mod folds;
mod interval;
mod regression;

pub use calibrate::{CalibrationMethod, calibrate, fit_isotonic, fit_platt};
pub use folds::{Folds, Strata, cross_fit};
pub use interval::binomial_interval;
pub use regression::Regression;

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{self, Model, Scorer, Task};
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

/// How a model does on labelled rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// Number of rows.
    pub rows: u64,
    /// Rows with another label than predicted.
    pub wrong: u64,
    /// `counts[true][predicted]`, in the order of the model's labels.
    pub confusion: Vec<Vec<u64>>,
    /// Area under the ROC curve, for two classes that both occur.
    pub auc: Option<f64>,
    /// The mean of `−ln p` of the rows' own labels, for models with probabilities. No probability counts as
    /// less than 1e-15: one row that was called impossible would otherwise make it infinite.
    pub log_loss: Option<f64>,
}

/// What probabilities of zero count as in the log loss.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-15;

impl Classification {
    /// Share of rows predicted wrongly.
    pub fn error(&self) -> f64 {
        self.wrong as f64 / self.rows.max(1) as f64
    }

    /// The exact (Clopper–Pearson) interval of the error at this confidence.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        binomial_interval(self.wrong, self.rows, confidence)
    }
}

/// Scores all rows, in parallel: `outputs` scores a row.
pub fn score_all(scorer: &Scorer, data: &Dataset) -> Vec<f64> {
    model::score_all(scorer, data)
}

/// Share of rows whose predicted class is not theirs.
pub fn error(scorer: &Scorer, data: &Dataset, classes: &[u32]) -> f64 {
    error_of(&score_all(scorer, data), scorer.outputs(), classes)
}

/// The same, of rows that have these scores, `outputs` each.
pub fn error_of(scores: &[f64], outputs: usize, classes: &[u32]) -> f64 {
    let wrong = scores.chunks_exact(outputs).zip(classes).filter(|(s, c)| decide(s) != **c as usize).count();
    wrong as f64 / classes.len().max(1) as f64
}

/// Evaluates a model on rows with labels or, for a model of regression, with targets. Every row counts once,
/// whatever its weight.
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
    data.validate()?;
    let scores = model.scores(data)?;
    if model.task() == Task::Regression {
        return Ok(Evaluation::Numbers(Regression::of(&scores, &data.targets()?)));
    }
    let classes = classes_of(model, data)?;
    let outputs = model.scorer.outputs();
    let mut tally = Tally::new(model.labels.len());
    scores.chunks_exact(outputs).zip(&classes).for_each(|(scores, &class)| tally.add(scores, class));
    let mut measured = tally.finish();
    if let (Some(calibration), true) = (&model.probabilities, measured.rows > 0) {
        let mut probabilities = Vec::new();
        let losses = scores.chunks_exact(outputs).zip(&classes).map(|(scores, &class)| {
            calibration.probabilities(scores, &mut probabilities);
            -probabilities[class as usize].max(LEAST_PROBABILITY).ln()
        });
        measured.log_loss = Some(losses.sum::<f64>() / measured.rows as f64);
    }
    Ok(Evaluation::Classes(measured))
}

/// The class of each row, as the model numbers them.
fn classes_of(model: &Model, data: &Dataset) -> Result<Vec<u32>> {
    if data.labels.len() != data.len() {
        return Err(
            Error::input("the rows have no labels to compare with").hint("give them by `with_labels`")
        );
    }
    let numbers: Vec<Option<u32>> = data.names.names().iter().map(|name| model.labels.find(name)).collect();
    let unknown = |label: u32| {
        Error::input(format!("the model does not know the label {:?}", data.names.names()[label as usize]))
    };
    data.labels.iter().map(|&label| numbers[label as usize].ok_or_else(|| unknown(label))).collect()
}

/// Counts, row by row.
#[derive(Clone, Debug)]
pub struct Tally {
    confusion: Vec<Vec<u64>>,
    /// Scores of the rows of the negative and of the positive class, for two classes.
    sides: [Vec<f64>; 2],
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(classes: usize) -> Self {
        Self { confusion: vec![vec![0; classes]; classes], sides: Default::default() }
    }

    /// Counts a row.
    pub fn add(&mut self, scores: &[f64], class: u32) {
        self.confusion[class as usize][decide(scores)] += 1;
        if let [score] = scores {
            self.sides[class as usize & 1].push(*score);
        }
    }

    /// The result, but for the log loss, which is not of counts.
    pub fn finish(self) -> Classification {
        let rows = self.confusion.iter().flatten().sum();
        let right: u64 = self.confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
        let [negative, positive] = self.sides;
        let auc = area_under_curve(negative, positive);
        Classification { rows, wrong: rows - right, confusion: self.confusion, auc, log_loss: None }
    }
}

/// The chance that a positive row scores higher than a negative one, ties counting half (Mann and Whitney's
/// U).
fn area_under_curve(negative: Vec<f64>, positive: Vec<f64>) -> Option<f64> {
    if negative.is_empty() || positive.is_empty() {
        return None;
    }
    let pairs = negative.len() as f64 * positive.len() as f64;
    let mut all: Vec<(f64, bool)> =
        negative.into_iter().map(|s| (s, false)).chain(positive.into_iter().map(|s| (s, true))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut sum) = (0.0, 0.0);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let positives = group.iter().filter(|entry| entry.1).count() as f64;
        let negatives = group.len() as f64 - positives;
        sum += positives * (below + negatives / 2.0);
        below += negatives;
    }
    Some(sum / pairs)
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
                    Classification { log_loss: None, ..measured },
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

        #[test]
        fn area_under_curve_is_the_share_of_pairs_in_order(
            negative in prop::collection::vec(-3i8..4, 1..20),
            positive in prop::collection::vec(-3i8..4, 1..20),
        ) {
            let mut sum = 0.0;
            for n in &negative {
                for p in &positive {
                    sum += if p > n {
                        1.0
                    } else if p == n {
                        0.5
                    } else {
                        0.0
                    };
                }
            }
            let expected = sum / (negative.len() * positive.len()) as f64;
            let wide = |v: Vec<i8>| v.into_iter().map(f64::from).collect::<Vec<_>>();
            let area = area_under_curve(wide(negative), wide(positive)).unwrap();
            prop_assert!((area - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_row_that_was_called_impossible_costs_much_but_not_everything() {
        let (mut model, mut data) = one_feature(&["a", "b"], 1, &[1.0]);
        data.labels = vec![0];
        model.probabilities =
            Some(Calibration::Isotonic(vec![Isotonic { scores: vec![0.0], values: vec![1.0] }]));
        let Evaluation::Classes(measured) = evaluate(&model, &data).unwrap() else { panic!("classes") };
        assert_eq!(measured.log_loss, Some(-LEAST_PROBABILITY.ln()));
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
