//! What a model says of rows, beside what they are: everything that can be measured of it.

use super::classification::LEAST_PROBABILITY;
use super::ranking::{Ranked, Ranking};
use super::{Cheapest, Classification, Evaluation, Regression, UNKNOWN, score_all};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::loss::LossName;
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
    /// The loss that the model minimises, if that is known.
    loss: Option<LossName>,
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
        let predictions =
            Self::new(model.scorer.outputs(), scores, model.probabilities.as_ref(), truth, data)?;
        Ok(Self { loss: model.loss(), ..predictions })
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

    /// What a scorer, which minimises this loss if that is known, says of rows with targets.
    pub(crate) fn of_numbers(scorer: &Scorer, loss: Option<LossName>, data: &Dataset) -> Result<Self> {
        let predictions = Self::new(1, score_all(scorer, data), None, Truth::Numbers(data.targets()?), data)?;
        Ok(Self { loss, ..predictions })
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
        Ok(Self { outputs, scores, probabilities, truth, weights, loss: None })
    }

    /// These rows and others of the same classes behind them, such as those of several folds.
    pub fn join(&mut self, other: &Predictions) -> Result<()> {
        let (rows, others) = (self.rows(), other.rows());
        match (&mut self.truth, &other.truth) {
            (Truth::Classes(count, own), Truth::Classes(same, more)) if count == same => own.extend(more),
            (Truth::Numbers(own), Truth::Numbers(more)) => own.extend(more),
            _ => return Err(Error::usage("predictions of other classes cannot be measured together")),
        }
        if self.outputs != other.outputs
            || self.loss != other.loss
            || self.probabilities.is_empty() != other.probabilities.is_empty()
        {
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

    /// Scores a row: one for two classes and for numbers, else one a class.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The scores of row `i`.
    pub fn scores(&self, i: usize) -> &[f64] {
        &self.scores[i * self.outputs..(i + 1) * self.outputs]
    }

    /// The probabilities of the classes of row `i`, if there are any.
    pub fn probabilities(&self, i: usize) -> Option<&[f64]> {
        let Truth::Classes(count, _) = &self.truth else { return None };
        self.probabilities.get(i * count..(i + 1) * count)
    }

    /// The true classes, or none for numbers. A label that the model does not know is [`UNKNOWN`].
    pub fn classes(&self) -> &[u32] {
        if let Truth::Classes(_, classes) = &self.truth { classes } else { &[] }
    }

    /// The true numbers, or none for classes.
    pub fn targets(&self) -> &[f64] {
        if let Truth::Numbers(targets) = &self.truth { targets } else { &[] }
    }

    /// How much row `i` counts.
    pub fn weight(&self, i: usize) -> f64 {
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
                Evaluation::Numbers(Regression::of_loss(&self.scores, targets, &self.weights, self.loss))
            }
            Truth::Classes(count, classes) => {
                Evaluation::Classes(self.classification(*count, classes, &self.decided()))
            }
        }
    }

    /// The class that the model decides for in each row.
    pub fn decided(&self) -> Vec<usize> {
        self.scores.chunks_exact(self.outputs).map(decide).collect()
    }

    /// The class of each row if one is taken for the positive one of two from this
    /// [probability or score](Self::threshold_on) on.
    pub fn decided_at(&self, threshold: f64) -> Result<Vec<usize>> {
        self.two_classes()?;
        self.check_threshold(threshold)?;
        Ok(self.values().map(|value| usize::from(value >= threshold)).collect())
    }

    /// Measures what is decided if a row is taken for the positive one of two classes from this
    /// [probability or score](Self::threshold_on) on.
    pub fn measure_at(&self, threshold: f64) -> Result<Evaluation> {
        let (count, classes) = self.two_classes()?;
        Ok(Evaluation::Classes(self.classification(count, classes, &self.decided_at(threshold)?)))
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
        let known = values.zip(classes).enumerate().filter(|(_, (_, class))| **class != UNKNOWN);
        Ranking::new(known.map(ranked).collect())
    }

    fn classification(&self, count: usize, classes: &[u32], decided: &[usize]) -> Classification {
        let (mut confusion, mut unknown) = (vec![vec![0.0; count]; count], Vec::new());
        let mut wrong = 0;
        for (i, (&class, &decided)) in classes.iter().zip(decided).enumerate() {
            if class == UNKNOWN {
                unknown.resize(count, 0.0);
            }
            let row = confusion.get_mut(class as usize).unwrap_or(&mut unknown);
            row[decided] += self.weight(i);
            wrong += u64::from(class as usize != decided);
        }
        let ranking = (count == 2).then(|| self.ranking(self.positive_scores()));
        Classification {
            rows: classes.len() as u64,
            wrong,
            weighted: self.weights.iter().any(|weight| *weight != 1.0),
            confusion,
            unknown,
            auc: ranking.as_ref().and_then(Ranking::area_under_curve),
            average_precision: ranking.as_ref().and_then(Ranking::average_precision),
            log_loss: self.mean_of_rows(count, classes, log_loss),
            brier: self.mean_of_rows(count, classes, brier),
        }
    }

    /// The mean over rows of a figure of the probabilities and the class.
    fn mean_of_rows(&self, count: usize, classes: &[u32], of: fn(&[f64], usize) -> f64) -> Option<f64> {
        let is_known = |i: &usize| classes[*i] != UNKNOWN;
        if self.probabilities.is_empty() || !(0..classes.len()).any(|i| is_known(&i)) {
            return None;
        }
        let each = self.probabilities.chunks_exact(count).zip(classes);
        let known = each.enumerate().filter(|(i, _)| is_known(i));
        let sum: f64 = known.map(|(i, (p, &c))| self.weight(i) * of(p, c as usize)).sum();
        // Plus zero: −ln 1 is a negative zero.
        Some(sum / (0..classes.len()).filter(is_known).map(|i| self.weight(i)).sum::<f64>() + 0.0)
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
    let class = |label: &u32| numbers[*label as usize].unwrap_or(UNKNOWN);
    let classes: Vec<u32> = data.labels.iter().map(class).collect();
    match data.labels.first().filter(|_| classes.iter().all(|class| *class == UNKNOWN)) {
        None => Ok(classes),
        Some(&label) => {
            let name = &data.names.names()[label as usize];
            let known: Vec<&str> = model.labels.names().iter().take(20).map(String::as_str).collect();
            let more = if model.labels.len() > known.len() { ", …" } else { "" };
            let what = format!("no row has a label that the model knows: the first is {name:?}");
            Err(Error::input(what).hint(format!("the model knows {}{more}", known.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Retrieval;
    use super::*;
    use crate::evaluate::Threshold;
    use crate::model::Calibration;
    use proptest::prelude::*;

    fn of(calibration: Option<Calibration>, outputs: usize, scores: &[f64], truth: Truth) -> Predictions {
        let mut probabilities = Vec::new();
        let mut of_row = Vec::new();
        if let Some(calibration) = calibration {
            for scores in scores.chunks_exact(outputs) {
                calibration.probabilities(scores, &mut of_row);
                probabilities.extend_from_slice(&of_row);
            }
        }
        Predictions {
            outputs,
            scores: scores.to_vec(),
            probabilities,
            truth,
            weights: Vec::new(),
            loss: None,
        }
    }

    fn classes(predictions: &Predictions) -> Classification {
        let Evaluation::Classes(measured) = predictions.measure() else { panic!("classes") };
        measured
    }

    fn close(found: impl Into<Option<f64>>, expected: f64) {
        let found = found.into().unwrap();
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
    }

    fn all(of: &Retrieval, [precision, recall, f1]: [f64; 3]) {
        close(of.precision, precision);
        close(of.recall, recall);
        close(of.f1, f1);
    }

    const SCORES: [f64; 24] = [
        0.4, -0.3, 2.4, -0.3, 0.1, 1.6, -0.9, -0.6, 0.2, -0.3, -1.2, -0.2, -0.4, 0.6, -1.7, -0.7, 1.2, 1.9,
        -1.5, 0.6, -1.0, -0.9, -0.9, -0.4,
    ];
    const CLASSES: [u32; 24] = [1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1];
    const WEIGHTS: [f64; 24] = [
        1.5, 1.0, 1.5, 2.0, 1.0, 1.0, 1.5, 0.5, 1.0, 1.5, 0.5, 2.0, 1.0, 0.5, 0.5, 1.0, 0.5, 2.0, 1.5, 2.0,
        2.0, 0.5, 1.0, 2.0,
    ];

    /// By `sklearn.metrics` of scikit-learn 1.9.1, with and without `sample_weight`.
    #[test]
    fn figures_of_two_classes_are_those_of_scikit_learn() {
        let truth = Truth::Classes(2, CLASSES.to_vec());
        let mut predictions = of(Some(Calibration::Logistic), 1, &SCORES, truth);
        let measured = classes(&predictions);
        all(&measured.classes()[0], [0.6, 1.0, 0.75]);
        all(&measured.classes()[1], [1.0, 0.6, 0.75]);
        all(&measured.macro_average(), [0.8, 0.8, 0.75]);
        all(&measured.weighted_average(), [0.85, 0.75, 0.75]);
        close(measured.balanced_accuracy(), 0.8);
        close(measured.auc, 0.8777777777777778);
        close(measured.average_precision, 0.9273906485671192);
        close(measured.log_loss, 0.5333769581195885);
        close(measured.brier, 0.179567478428158);
        close(1.0 - measured.error(), 0.75);
        predictions.weights = WEIGHTS.to_vec();
        let measured = classes(&predictions);
        all(&measured.classes()[0], [0.5945945945945946, 1.0, 0.7457627118644068]);
        all(&measured.macro_average(), [0.7972972972972974, 0.7972972972972974, 0.7457627118644068]);
        all(&measured.weighted_average(), [0.8488318827301878, 0.7457627118644068, 0.7457627118644068]);
        close(measured.auc, 0.8851351351351351);
        close(measured.average_precision, 0.932092047701804);
        close(measured.log_loss, 0.5220284504539935);
        close(measured.brier, 0.1747604890117803);
        close(1.0 - measured.error(), 0.7457627118644068);
        assert_eq!(measured.interval(0.95), None);
    }

    #[test]
    fn figures_of_three_classes_are_those_of_scikit_learn() {
        let scores = [
            -0.6, 1.2, -0.1, 2.3, 0.7, 0.1, -0.4, 1.0, -0.2, -0.8, 0.6, 0.0, 1.2, -0.1, -2.9, 0.8, -1.9, 1.5,
            1.8, -0.4, -1.2, -1.4, 0.9, -0.2, -0.6, -0.2, 2.1, 0.3, 0.7, 0.8, 1.0, 1.1, -0.7, -0.2, -0.8,
            -0.7, 1.1, -0.5, -0.1, -0.7, -0.6, 0.8, -0.4, -0.5, 0.5,
        ];
        let truth = Truth::Classes(3, vec![1, 1, 2, 1, 1, 2, 0, 1, 2, 0, 0, 2, 0, 2, 0]);
        let mut predictions = of(Some(Calibration::Softmax), 3, &scores, truth);
        let measured = classes(&predictions);
        all(&measured.classes()[0], [0.4, 0.4, 0.4]);
        all(&measured.macro_average(), [0.5333333333333333; 3]);
        close(measured.log_loss, 0.8588384564137737);
        close(measured.brier, 0.5334465384347057);
        assert_eq!((measured.auc, measured.average_precision), (None, None));
        predictions.weights =
            [1.0, 0.5, 0.5, 1.5, 1.5, 1.5, 1.0, 1.5, 1.5, 1.5, 1.5, 0.5, 1.0, 1.0, 0.5].to_vec();
        let measured = classes(&predictions);
        all(&measured.classes()[2], [0.6666666666666666, 0.8, 0.7272727272727273]);
        all(&measured.macro_average(), [0.5925925925925926, 0.6101010101010101, 0.597979797979798]);
        all(&measured.weighted_average(), [0.5925925925925927, 0.6060606060606061, 0.5961432506887052]);
        close(measured.balanced_accuracy(), 0.6101010101010101);
        close(measured.log_loss, 0.7527987147234544);
        close(measured.brier, 0.4611213910885172);
    }

    #[test]
    fn figures_of_numbers_are_those_of_scikit_learn() {
        let targets = vec![-1.9, -7.5, -0.9, 2.8, -3.4, -0.2, 0.7, -1.5, 1.3, 3.5, 0.8];
        let scores = [-1.1, -8.0, 0.3, 3.9, -3.2, 1.5, 0.1, -1.7, 2.4, 2.4, 1.4];
        let mut predictions = of(None, 1, &scores, Truth::Numbers(targets));
        let Evaluation::Numbers(measured) = predictions.measure() else { panic!("numbers") };
        close(measured.r2, 0.8971454594783148);
        close(measured.mae, 0.827272727272727);
        close(measured.rmse, 0.9366283826965351);
        close(measured.median_absolute_error, 0.7999999999999998);
        close(measured.max_error, 1.7);
        predictions.weights = vec![0.5, 1.0, 1.5, 2.0, 1.5, 1.0, 1.0, 1.0, 0.5, 2.0, 0.5];
        let Evaluation::Numbers(measured) = predictions.measure() else { panic!("numbers") };
        close(measured.r2, 0.9027258372808111);
        close(measured.mae, 0.86);
        close(measured.rmse, 0.9676776322722356);
        close(measured.median_absolute_error, 1.1);
    }

    #[test]
    fn a_threshold_is_compared_with_probabilities_where_there_are_any() {
        let truth = || Truth::Classes(2, CLASSES.to_vec());
        let by_score = of(None, 1, &SCORES, truth());
        let by_probability = of(Some(Calibration::Logistic), 1, &SCORES, truth());
        assert_eq!(by_score.threshold_on(), ThresholdOn::Score);
        assert_eq!(by_probability.threshold_on(), ThresholdOn::Probability);
        let at = 1.0 / (1.0 + f64::exp(0.65));
        assert_eq!(by_score.decided_at(-0.65).unwrap(), by_probability.decided_at(at).unwrap());
        assert_eq!(by_score.decided_at(0.0).unwrap(), by_score.decided());
        assert!(by_probability.decided_at(-0.65).is_err() && by_score.decided_at(f64::NAN).is_err());
        let three = of(None, 3, &SCORES, Truth::Classes(3, vec![0; 8]));
        assert!(three.decided_at(0.0).is_err() && three.cheapest([1.0, 1.0]).is_err());
    }

    proptest! {
        #[test]
        fn what_the_cheapest_threshold_promises_is_what_it_costs(
            rows in prop::collection::vec((-4i8..5, 0u32..2, 0u8..3), 1..30),
            costs in (0u8..6, 0u8..6),
        ) {
            prop_assume!(rows.iter().any(|row| row.2 > 0));
            let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0) / 3.0).collect();
            let truth = Truth::Classes(2, rows.iter().map(|row| row.1).collect());
            let mut predictions = of(None, 1, &scores, truth);
            predictions.weights = rows.iter().map(|row| f64::from(row.2)).collect();
            let costs = [f64::from(costs.0), f64::from(costs.1)];
            let cheapest = predictions.cheapest(costs).unwrap();
            let at = match cheapest.threshold {
                Threshold::At(number) => number,
                Threshold::All => -9.0,
                Threshold::None => 9.0,
            };
            let cost = predictions.cost(Some(at), costs).unwrap();
            prop_assert!((cost - cheapest.cost).abs() < 1e-12);
            prop_assert!(cheapest.cost <= predictions.cost(None, costs).unwrap() + 1e-12);
        }

        #[test]
        fn rows_of_weight_two_are_rows_twice(
            rows in prop::collection::vec((-4i8..5, 0u32..2, 0usize..3), 1..30),
        ) {
            prop_assume!(rows.iter().any(|row| row.2 > 0));
            let score = |row: &(i8, u32, usize)| f64::from(row.0) / 3.0;
            let truth = |rows: &[(i8, u32, usize)]| Truth::Classes(2, rows.iter().map(|row| row.1).collect());
            let scores: Vec<f64> = rows.iter().map(score).collect();
            let mut weighted = of(Some(Calibration::Logistic), 1, &scores, truth(&rows));
            weighted.weights = rows.iter().map(|row| row.2 as f64).collect();
            let repeated: Vec<_> = rows.iter().flat_map(|row| vec![*row; row.2]).collect();
            let scores: Vec<f64> = repeated.iter().map(score).collect();
            let repeated = classes(&of(Some(Calibration::Logistic), 1, &scores, truth(&repeated)));
            let weighted = classes(&weighted);
            prop_assert_eq!(&weighted.confusion, &repeated.confusion);
            prop_assert_eq!(weighted.auc, repeated.auc);
            prop_assert_eq!(weighted.average_precision, repeated.average_precision);
            prop_assert!((weighted.log_loss.unwrap() - repeated.log_loss.unwrap()).abs() < 1e-12);
            prop_assert!((weighted.brier.unwrap() - repeated.brier.unwrap()).abs() < 1e-12);
        }
    }
}
