//! What a model says of rows: labels or numbers, scores, probabilities.

use super::{Explanation, Model, Scorer, Scratch, Task, explain, file};
use crate::control::{Unwatched, Watch};
use crate::data::{Dataset, Row};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::multiclass::{best, decide};
use crate::read::Purpose;
use rayon::prelude::*;
use std::path::Path;

/// Rows that one task scores.
const CHUNK: usize = 512;

/// Scores all rows, in parallel: [`Scorer::outputs`] scores a row, one row after the other.
pub(crate) fn score_all(scorer: &Scorer, data: &Dataset) -> Vec<f64> {
    score_all_watched(scorer, data, &Watch::new(&mut Unwatched)).unwrap_or_default()
}

/// The same; `None` if the observer asks to stop.
pub(crate) fn score_all_watched(scorer: &Scorer, data: &Dataset, watch: &Watch<'_>) -> Option<Vec<f64>> {
    let starts: Vec<usize> = (0..data.len()).step_by(CHUNK).collect();
    let goes_on = || watch.goes_on();
    let score = |scratch: &mut Scratch, start: usize| {
        let rows: Vec<_> = (start..data.len().min(start + CHUNK)).map(|i| data.rows.row(i)).collect();
        let mut scores = Vec::new();
        scorer.score_while(&rows, scratch, &mut scores, &goes_on);
        goes_on().then_some(scores)
    };
    let scored: Option<Vec<Vec<f64>>> = starts.into_par_iter().map_init(Scratch::default, score).collect();
    Some(scored?.concat())
}

impl Model {
    /// The label of each row.
    ///
    /// ```
    /// use novikoff::{Dataset, LinearSvm};
    ///
    /// let labels = ["cold", "cold", "hot", "hot"];
    /// let data = Dataset::from_dense(&[-2.0, -1.0, 1.0, 2.0], 1)?.with_labels(&labels)?;
    /// let model = LinearSvm::new().fit(&data)?.model;
    /// assert_eq!(model.predict(&Dataset::from_dense(&[-3.0, 0.5], 1)?)?, ["cold", "hot"]);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn predict(&self, data: &Dataset) -> Result<Vec<&str>> {
        if self.task() == Task::Regression {
            return Err(Error::usage("this model predicts numbers, not labels").hint("use predict_numbers"));
        }
        let scores = self.scores(data)?;
        Ok(scores.chunks_exact(self.scorer.outputs()).map(|scores| self.label(scores)).collect())
    }

    /// The label of one row.
    pub fn predict_row<'a>(&self, row: impl Into<Row<'a>>) -> Result<&str> {
        if self.task() == Task::Regression {
            return Err(Error::usage("this model predicts numbers, not labels").hint("use scores_of"));
        }
        Ok(self.label(&self.scores_of(row)?))
    }

    /// The number that a model of regression predicts for each row.
    pub fn predict_numbers(&self, data: &Dataset) -> Result<Vec<f64>> {
        match self.task() {
            Task::Regression => self.scores(data),
            Task::Classes => Err(Error::usage("this model predicts labels, not numbers").hint("use predict")),
        }
    }

    /// The scores of all rows, one row after the other: of two classes one score, positive for the second
    /// label; of more, one for each label; of a model of regression, the number. A row whose score is no
    /// number, because its values are too large, is an error.
    pub fn scores(&self, data: &Dataset) -> Result<Vec<f64>> {
        self.refuse_other_columns(data)?;
        let scores = score_all(&self.scorer, data);
        match scores.iter().position(|score| score.is_nan()) {
            Some(at) => Err(no_number(at / self.scorer.outputs() + 1)),
            None => Ok(scores),
        }
    }

    /// The probabilities of all labels for each row, in the order of the model's labels. An error for models
    /// whose scores are no likelihood and were not calibrated.
    pub fn probabilities(&self, data: &Dataset) -> Result<Vec<Vec<f64>>> {
        let Some(calibration) = &self.probabilities else {
            let what = format!("the scores of {} are no probabilities", self.about.learner);
            return Err(Error::usage(what).hint("train with `calibrate`, or logistic regression"));
        };
        let probabilities = |scores: &[f64]| {
            let mut probabilities = Vec::new();
            calibration.probabilities(scores, &mut probabilities);
            probabilities
        };
        Ok(self.scores(data)?.chunks_exact(self.scorer.outputs()).map(probabilities).collect())
    }

    /// The labels with the largest scores for each row, the best first, with their scores: at most `count`.
    pub fn top(&self, data: &Dataset, count: usize) -> Result<Vec<Vec<(&str, f64)>>> {
        if self.task() == Task::Regression {
            return Err(Error::usage("this model predicts numbers, not labels").hint("use predict_numbers"));
        }
        let names = self.labels.names();
        let of_row = |scores: &[f64]| {
            let each = match scores {
                [score] => best(&[-score, *score], count),
                scores => best(scores, count),
            };
            each.into_iter().map(|(class, score)| (names[class].as_str(), score)).collect()
        };
        Ok(self.scores(data)?.chunks_exact(self.scorer.outputs()).map(of_row).collect())
    }

    /// Why row `i` gets its label, or its number: what each of its features adds to the score. An error for
    /// models whose scores are no sum over features, such as those of kernels, votes and networks.
    pub fn explain(&self, data: &Dataset, i: usize) -> Result<Explanation> {
        self.refuse_other_columns(data)?;
        if self.scorer.weights().is_none() {
            let what = format!("the scores of this model of {} are no sum over features", self.about.learner);
            return Err(Error::usage(what).hint("linear models can be explained: those without a kernel"));
        }
        if i >= data.len() {
            return Err(Error::usage(format!("there is no row {i}: there are {}", data.len())));
        }
        let row = data.rows.row(i);
        Ok(explain(self, row, &self.scores_of(row)?))
    }

    /// The scores of one row, in the columns of the model. A row with other columns is an error, and so is
    /// one whose score is no number.
    ///
    /// ```
    /// use novikoff::{Dataset, LeastSquares};
    ///
    /// let data = Dataset::from_dense(&[0.0, 1.0, 2.0], 1)?.with_targets(&[1.0, 3.0, 5.0])?;
    /// let model = LeastSquares::new().fit(&data)?.model;
    /// assert!((model.scores_of(&[3.0])?[0] - 7.0).abs() < 1e-9);
    /// assert!(model.scores_of(&[3.0, 1.0]).is_err());
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn scores_of<'a>(&self, row: impl Into<Row<'a>>) -> Result<Vec<f64>> {
        let row = row.into();
        let own = self.features();
        let (given, is_dense) = match row.indices() {
            None => (row.len(), true),
            Some(indices) => (indices.last().map_or(0, |last| *last as usize + 1), false),
        };
        if given > own || is_dense && given < own {
            return Err(Error::input(format!("the row has {given} columns, the model knows {own} features")));
        }
        let mut scores = Vec::new();
        self.scorer.score(&[row], &mut Scratch::default(), &mut scores);
        match scores.iter().any(|score| score.is_nan()) {
            true => Err(no_number(1)),
            false => Ok(scores),
        }
    }

    /// The label of one row with these scores.
    fn label(&self, scores: &[f64]) -> &str {
        &self.labels.names()[decide(scores)]
    }

    /// How to read rows that this model is to label.
    pub fn for_prediction(&self) -> Purpose<'_> {
        Purpose::Prediction { labels: &self.labels, schema: &self.schema, features: self.features() }
    }

    /// How to read labelled rows that this model is to be measured on.
    pub fn for_evaluation(&self) -> Purpose<'_> {
        let (schema, features) = (&self.schema, self.features());
        match self.task() {
            Task::Classes => Purpose::Evaluation { labels: &self.labels, schema, features },
            Task::Regression => Purpose::EvaluationOnTargets { schema, features },
        }
    }

    /// Reads rows to be labelled, as the model's training rows were read.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Dataset<'static>> {
        Dataset::read_for(path, &self.for_prediction())
    }

    /// Writes the model to a file, as a whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save(self, path.as_ref())
    }

    /// Reads a model from a file that [`Model::save`] or the program has written.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        file::load(path.as_ref())
    }

    /// Rows whose columns are not the model's features would be scored as if they were.
    fn refuse_other_columns(&self, data: &Dataset) -> Result<()> {
        let (own, given) = (self.features(), data.rows.columns());
        let by_name = !matches!(data.schema, Schema::Indexed { .. });
        if by_name && self.schema == data.schema {
            return Ok(());
        }
        if by_name {
            return Err(Error::input("these rows have other columns than the model, or in another order")
                .hint("read them for this model: `Model::read`"));
        }
        if given > own || data.rows.is_dense() && given < own {
            let what = format!("these rows have {given} columns, the model knows {own} features");
            return Err(Error::input(what));
        }
        Ok(())
    }
}

/// Sums of products that are too large cancel to no number.
fn no_number(row: usize) -> Error {
    let what = format!(
        "the score of row {row} is no number: its values are not finite, or too large for the weights"
    );
    Error::input(what).hint("are its values in the units of the rows that were learned from?")
}
