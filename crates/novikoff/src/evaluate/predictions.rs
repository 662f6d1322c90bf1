//! What a model says of rows, beside what they are: everything that can be measured of it.

use super::classification::LEAST_PROBABILITY;
use super::ranking::{Ranked, Ranking};
use super::{Cheapest, Classification, Evaluation, Regression, score_all};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Calibration, Model, Scorer, Task};
use crate::multiclass::decide;

/// The scores of rows whose classes or targets are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// So many scores a row.
    outputs: usize,
    scores: Vec<f64>,
    /// A probability for each class, row after row; empty if the model has none.
    probabilities: Vec<f64>,
    truth: Truth,
    /// How much each row counts; empty if each counts once.
    weights: Vec<f64>,
}

/// What the rows are.
#[derive(Clone, Debug, PartialEq)]
enum Truth {
    /// Of so many classes, these.
    Classes(usize, Vec<u32>),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// What a threshold is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdOn {
    /// The probability of the positive class.
    Probability,
    /// The score, which is 0 where the model decides.
    Score,
}

impl Predictions {
    /// What a model says of rows with labels or, for a model of regression, with targets.
    ///
    /// ```
    /// use novikoff::{LogisticRegression, data::generate::Recipe, evaluate::Predictions};
    ///
    /// let data = Recipe { rows: 200, margin: 0.2, ..Recipe::default() }.generate();
    /// let model = LogisticRegression::new().fit(&data)?.model;
    /// let predictions = Predictions::of(&model, &data)?;
    /// assert!(predictions.measure().error() < Some(0.1));
    /// // A mistake on a positive row costs ten times as much as one on a negative row.
    /// let cheapest = predictions.cheapest([1.0, 10.0])?;
    /// assert!(cheapest.cost <= predictions.cost(None, [1.0, 10.0])?);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn of(model: &Model, data: &Dataset) -> Result<Self> {
        data.validate()?;
        let scores = model.scores(data)?;
        let truth = match model.task() {
            Task::Regression => Truth::Numbers(data.targets()?),
            Task::Classes => Truth::Classes(model.labels.len(), classes_of(model, data)?),
        };
        Self::new(model.scorer.outputs(), scores, model.probabilities.as_ref(), truth, data)
    }

    /// What a scorer says of rows of these classes, of which there are so many.
    pub(crate) fn of_classes(
        scorer: &Scorer,
        probabilities: Option<&Calibration>,
        (count, classes): (usize, Vec<u32>),
        data: &Dataset,
    ) -> Result<Self> {
        let truth = Truth::Classes(count, classes);
        Self::new(scorer.outputs(), score_all(scorer, data), probabilities, truth, data)
    }

    /// What a scorer says of rows with targets.
    pub(crate) fn of_numbers(scorer: &Scorer, data: &Dataset) -> Result<Self> {
        Self::new(1, score_all(scorer, data), None, Truth::Numbers(data.targets()?), data)
    }

    fn new(
        outputs: usize,
        scores: Vec<f64>,
        calibration: Option<&Calibration>,
        truth: Truth,
        data: &Dataset,
    ) -> Result<Self> {
        let weights = data.row_weights.clone();
        if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
            return Err(Error::input("every row has the weight 0: there is nothing to measure"));
        }
        let mut probabilities = Vec::new();
        if let Some(calibration) = calibration {
            let mut of_row = Vec::new();
            for scores in scores.chunks_exact(outputs) {
                calibration.probabilities(scores, &mut of_row);
                probabilities.extend_from_slice(&of_row);
            }
        }
        Ok(Self { outputs, scores, probabilities, truth, weights })
    }

    /// These rows and others of the same classes behind them, such as those of several folds.
    pub fn join(&mut self, other: &Predictions) -> Result<()> {
        let (rows, others) = (self.rows(), other.rows());
        match (&mut self.truth, &other.truth) {
            (Truth::Classes(count, own), Truth::Classes(same, more)) if count == same => own.extend(more),
            (Truth::Numbers(own), Truth::Numbers(more)) => own.extend(more),
            _ => return Err(Error::usage("predictions of other classes cannot be measured together")),
        }
        if self.outputs != other.outputs || self.probabilities.is_empty() != other.probabilities.is_empty() {
            return Err(Error::usage("predictions of other models cannot be measured together"));
        }
        self.scores.extend_from_slice(&other.scores);
        self.probabilities.extend_from_slice(&other.probabilities);
        if !self.weights.is_empty() || !other.weights.is_empty() {
            self.weights.resize(rows, 1.0);
            self.weights.extend((0..others).map(|i| other.weight(i)));
        }
        Ok(())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.truth {
            Truth::Classes(_, classes) => classes.len(),
            Truth::Numbers(targets) => targets.len(),
        }
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// What a threshold is compared with: the probability, where the model has probabilities, else the score.
    pub fn threshold_on(&self) -> ThresholdOn {
        if self.probabilities.is_empty() { ThresholdOn::Score } else { ThresholdOn::Probability }
    }

    /// Measures the classes, or the numbers, that the model decides for.
    pub fn measure(&self) -> Evaluation {
        match &self.truth {
            Truth::Numbers(targets) => {
                Evaluation::Numbers(Regression::weighted(&self.scores, targets, &self.weights))
            }
            Truth::Classes(count, classes) => {
                let decided: Vec<usize> = self.scores.chunks_exact(self.outputs).map(decide).collect();
                Evaluation::Classes(self.classification(*count, classes, &decided))
            }
        }
    }

    /// Measures what is decided if a row is taken for the positive one of two classes from this
    /// [probability or score](Self::threshold_on) on.
    pub fn measure_at(&self, threshold: f64) -> Result<Evaluation> {
        let (count, classes) = self.two_classes()?;
        self.check_threshold(threshold)?;
        let decided: Vec<usize> = self.values().map(|value| usize::from(value >= threshold)).collect();
        Ok(Evaluation::Classes(self.classification(count, classes, &decided)))
    }

    /// What mistakes cost a row on average, where one for a row of the negative and of the positive class
    /// costs so much: at a threshold, or as the model decides.
    pub fn cost(&self, threshold: Option<f64>, costs: [f64; 2]) -> Result<f64> {
        self.two_classes()?;
        let measured = match threshold {
            None => self.measure(),
            Some(threshold) => self.measure_at(threshold)?,
        };
        let Evaluation::Classes(measured) = measured else { return Err(not_two_classes()) };
        let wrong = [measured.confusion[0][1], measured.confusion[1][0]];
        Ok((costs[0] * wrong[0] + costs[1] * wrong[1]) / measured.weight())
    }

    /// The threshold at which mistakes cost least, where one for a row of the negative and of the positive
    /// class costs so much.
    pub fn cheapest(&self, costs: [f64; 2]) -> Result<Cheapest> {
        self.two_classes()?;
        if let Some(wrong) = costs.iter().find(|cost| !(cost.is_finite() && **cost >= 0.0)) {
            return Err(Error::usage(format!("a cost must be a number from 0, not {wrong}")));
        }
        let usual = if self.threshold_on() == ThresholdOn::Probability { 0.5 } else { 0.0 };
        let cheapest = self.ranking(self.values()).cheapest(costs, usual);
        cheapest.ok_or_else(|| Error::input("there are no rows to choose a threshold by"))
    }

    fn two_classes(&self) -> Result<(usize, &[u32])> {
        match &self.truth {
            Truth::Classes(2, classes) => Ok((2, classes)),
            _ => Err(not_two_classes()),
        }
    }

    fn check_threshold(&self, threshold: f64) -> Result<()> {
        let on_probability = self.threshold_on() == ThresholdOn::Probability;
        if !threshold.is_finite() || on_probability && !(0.0..=1.0).contains(&threshold) {
            let what = if on_probability { "a probability from 0 to 1" } else { "a number" };
            let error = Error::usage(format!("`threshold = {threshold}` is not {what}"));
            return Err(match on_probability {
                true => error.hint("the model gives probabilities, and they are what is compared with it"),
                false => error,
            });
        }
        Ok(())
    }

    /// Of two classes, what speaks for the positive one in each row: its score.
    fn positive_scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.scores.chunks_exact(self.outputs).map(|scores| match scores {
            [score] => *score,
            scores => scores[1] - scores[0],
        })
    }

    /// What a threshold is compared with, of each row of two classes.
    fn values(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self.threshold_on() {
            ThresholdOn::Probability => Box::new(self.probabilities.chunks_exact(2).map(|pair| pair[1])),
            ThresholdOn::Score => Box::new(self.positive_scores()),
        }
    }

    fn ranking(&self, values: impl Iterator<Item = f64>) -> Ranking {
        let Truth::Classes(_, classes) = &self.truth else { return Ranking::new(Vec::new()) };
        let ranked = |(i, (value, &class)): (usize, (f64, &u32))| Ranked {
            value,
            positive: class == 1,
            weight: self.weight(i),
        };
        Ranking::new(values.zip(classes).enumerate().map(ranked).collect())
    }

    fn classification(&self, count: usize, classes: &[u32], decided: &[usize]) -> Classification {
        let mut confusion = vec![vec![0.0; count]; count];
        let mut wrong = 0;
        for (i, (&class, &decided)) in classes.iter().zip(decided).enumerate() {
            confusion[class as usize][decided] += self.weight(i);
            wrong += u64::from(class as usize != decided);
        }
        let ranking = (count == 2).then(|| self.ranking(self.positive_scores()));
        Classification {
            rows: classes.len() as u64,
            wrong,
            weighted: self.weights.iter().any(|weight| *weight != 1.0),
            confusion,
            auc: ranking.as_ref().and_then(Ranking::area_under_curve),
            average_precision: ranking.as_ref().and_then(Ranking::average_precision),
            log_loss: self.mean_of_rows(count, classes, log_loss),
            brier: self.mean_of_rows(count, classes, brier),
        }
    }

    /// The mean over rows of a figure of the probabilities and the class.
    fn mean_of_rows(&self, count: usize, classes: &[u32], of: fn(&[f64], usize) -> f64) -> Option<f64> {
        if self.probabilities.is_empty() || classes.is_empty() {
            return None;
        }
        let each = self.probabilities.chunks_exact(count).zip(classes);
        let sum: f64 = each.enumerate().map(|(i, (p, &c))| self.weight(i) * of(p, c as usize)).sum();
        Some(sum / (0..classes.len()).map(|i| self.weight(i)).sum::<f64>())
    }
}

fn log_loss(probabilities: &[f64], class: usize) -> f64 {
    -probabilities[class].max(LEAST_PROBABILITY).ln()
}

fn brier(probabilities: &[f64], class: usize) -> f64 {
    let off = |(k, p): (usize, &f64)| (p - f64::from(u8::from(k == class))).powi(2);
    match probabilities {
        [_, positive] => off((1, positive)),
        all => all.iter().enumerate().map(off).sum(),
    }
}

fn not_two_classes() -> Error {
    Error::usage("a threshold decides between two classes").hint("leave out `threshold` and `costs`")
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
