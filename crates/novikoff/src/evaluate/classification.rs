//! How far predicted classes are from the true ones: what can be counted, and what ranks rows.

use super::binomial_interval;

/// How a model does on labelled rows. A row counts as often as its weight says, in every figure but
/// [`rows`](Self::rows) and [`wrong`](Self::wrong), which count rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// Number of rows.
    pub rows: u64,
    /// Rows with another label than predicted.
    pub wrong: u64,
    /// Whether rows count differently.
    pub weighted: bool,
    /// `counts[true][predicted]`, in the order of the model's labels: rows, or their weights.
    pub confusion: Vec<Vec<f64>>,
    /// The same of rows with labels that the model does not know, all of which are predicted wrongly; empty if
    /// there are none. AUC, average precision, log loss, the Brier score and the figures of classes leave such rows
    /// out, but for the precision of what they are taken for.
    pub unknown: Vec<f64>,
    /// Area under the ROC curve, for two classes that both occur.
    pub auc: Option<f64>,
    /// Average precision, for two classes of which the positive one occurs: the mean of the precisions at all
    /// thresholds, each weighted by the recall that it adds.
    pub average_precision: Option<f64>,
    /// The mean of `−ln p` of the rows' own labels, for models with probabilities. No probability counts as
    /// less than 1e-15: one row that was called impossible would otherwise make it infinite.
    pub log_loss: Option<f64>,
    /// The Brier score, for models with probabilities: of two classes the mean of `(p − y)²`, where p is the
    /// probability of the positive one; of more the mean of `Σ (pₖ − yₖ)²` over all classes.
    pub brier: Option<f64>,
}

/// What probabilities of zero count as in the log loss.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-15;

/// Precision, recall and F1: of a class, or averaged over classes. `None` is what is undefined, a quotient of
/// zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrieval {
    /// The share of the class among the rows taken for it; undefined if none is.
    pub precision: Option<f64>,
    /// The share of the rows of the class that are taken for it; undefined if there are none.
    pub recall: Option<f64>,
    /// The harmonic mean of the two, `2·TP/(2·TP + FP + FN)`; undefined if no row is of the class, nor taken
    /// for it.
    pub f1: Option<f64>,
    /// The rows of the class, or their weights; of an average, all rows.
    pub support: f64,
}

impl Classification {
    /// Weight of all rows.
    pub fn weight(&self) -> f64 {
        self.confusion.iter().flatten().chain(&self.unknown).sum()
    }

    /// Share of rows predicted wrongly.
    pub fn error(&self) -> f64 {
        let wrong = |(class, row): (usize, &Vec<f64>)| row.iter().sum::<f64>() - row[class];
        let total = self.weight();
        let unknown: f64 = self.unknown.iter().sum();
        let known: f64 = self.confusion.iter().enumerate().map(wrong).sum();
        if total == 0.0 { 0.0 } else { (known + unknown) / total }
    }

    /// The exact (Clopper–Pearson) interval of the error at this confidence; `None` if rows count
    /// differently, as it is about rows that were drawn one by one.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        (!self.weighted).then(|| binomial_interval(self.wrong, self.rows, confidence))
    }

    /// Precision, recall and F1 of each class, in the order of the model's labels.
    ///
    /// ```
    /// use novikoff::{LinearSvm, data::Dataset, evaluate::{Evaluation, evaluate}};
    /// let data = Dataset::from_dense(&[-2.0, -1.0, 1.0, 2.0], 1)?.with_labels(&["a", "a", "b", "b"])?;
    /// let model = LinearSvm::new().fit(&data)?.model;
    /// let moved = Dataset::from_dense(&[-2.0, 1.0, 1.5, 2.0], 1)?.with_labels(&["a", "a", "b", "b"])?;
    /// let Evaluation::Classes(measured) = evaluate(&model, &moved)? else { unreachable!() };
    /// let [a, b] = measured.classes()[..] else { unreachable!() };
    /// assert_eq!((a.precision, a.recall), (Some(1.0), Some(0.5)));
    /// assert_eq!((b.precision, b.recall, b.support), (Some(2.0 / 3.0), Some(1.0), 2.0));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn classes(&self) -> Vec<Retrieval> {
        let unknown = |class: usize| self.unknown.get(class).copied().unwrap_or(0.0);
        let predicted =
            |class: usize| self.confusion.iter().map(|row| row[class]).sum::<f64>() + unknown(class);
        let of =
            |(class, row): (usize, &Vec<f64>)| Retrieval::of(row[class], predicted(class), row.iter().sum());
        self.confusion.iter().enumerate().map(of).collect()
    }

    /// The means over classes, each class counting once. Classes for which a figure is undefined are left out
    /// of its mean.
    pub fn macro_average(&self) -> Retrieval {
        average(&self.classes(), |_| 1.0)
    }

    /// The means over classes, each counting as much as its rows. Classes for which a figure is undefined are
    /// left out of its mean.
    pub fn weighted_average(&self) -> Retrieval {
        average(&self.classes(), |class| class.support)
    }

    /// The mean of the classes' recalls, over classes that occur; labels that the model does not know are one more
    /// class, of which no row is recalled.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        let known = self.classes().iter().filter(|class| class.recall.is_some()).count() as f64;
        match self.unknown.iter().sum::<f64>() > 0.0 {
            false => self.macro_average().recall,
            true => Some(self.macro_average().recall.unwrap_or(0.0) * known / (known + 1.0)),
        }
    }

    /// F1 as a single figure: of two classes that of the positive one, of more the mean over classes.
    pub fn f1(&self) -> Option<f64> {
        match &self.classes()[..] {
            [_, positive] => positive.f1,
            _ => self.macro_average().f1,
        }
    }
}

impl Retrieval {
    /// From the weights of the rows found, of those taken for the class, and of those of the class.
    fn of(found: f64, predicted: f64, support: f64) -> Self {
        let (precision, recall) = (quotient(found, predicted), quotient(found, support));
        Self { precision, recall, f1: quotient(2.0 * found, predicted + support), support }
    }
}

fn quotient(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn average(classes: &[Retrieval], weight: impl Fn(&Retrieval) -> f64) -> Retrieval {
    let mean = |figure: fn(&Retrieval) -> Option<f64>| {
        let defined = || classes.iter().filter_map(|class| Some((figure(class)?, weight(class))));
        quotient(defined().map(|(figure, w)| figure * w).sum(), defined().map(|(_, w)| w).sum())
    };
    Retrieval {
        precision: mean(|class| class.precision),
        recall: mean(|class| class.recall),
        f1: mean(|class| class.f1),
        support: classes.iter().map(|class| class.support).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(confusion: &[&[f64]]) -> Classification {
        Classification {
            rows: 10,
            wrong: 0,
            weighted: false,
            confusion: confusion.iter().map(|row| row.to_vec()).collect(),
            unknown: Vec::new(),
            auc: None,
            average_precision: None,
            log_loss: None,
            brier: None,
        }
    }

    #[test]
    fn a_class_that_is_never_predicted_has_no_precision_but_a_recall_of_zero() {
        let measured = of(&[&[8.0, 0.0], &[2.0, 0.0]]);
        let [negative, positive] = measured.classes()[..] else { panic!("two") };
        assert_eq!((negative.precision, negative.recall), (Some(0.8), Some(1.0)));
        assert_eq!((positive.precision, positive.recall, positive.f1), (None, Some(0.0), Some(0.0)));
        assert_eq!(measured.macro_average().precision, Some(0.8), "undefined ones are left out");
        assert_eq!(measured.balanced_accuracy(), Some(0.5));
    }

    #[test]
    fn rows_of_labels_that_the_model_does_not_know_are_wrong() {
        let known = of(&[&[3.0, 1.0], &[0.0, 4.0]]);
        let measured = Classification { unknown: vec![0.0, 2.0], ..known.clone() };
        assert_eq!((known.weight(), known.error()), (8.0, 0.125));
        assert_eq!((measured.weight(), measured.error()), (10.0, 0.3));
        assert_eq!(measured.classes()[1].precision, Some(4.0 / 7.0));
        assert_eq!(measured.classes()[1].recall, known.classes()[1].recall);
        assert_eq!(measured.balanced_accuracy(), Some((0.75 + 1.0) / 2.0 * 2.0 / 3.0));
    }

    #[test]
    fn a_class_that_does_not_occur_at_all_has_no_figures() {
        let measured = of(&[&[1.0, 0.0], &[0.0, 0.0]]);
        let positive = measured.classes()[1];
        assert_eq!((positive.precision, positive.recall, positive.f1), (None, None, None));
        assert_eq!((measured.f1(), measured.balanced_accuracy()), (None, Some(1.0)));
        let nothing = of(&[&[0.0, 0.0], &[0.0, 0.0]]);
        assert_eq!(nothing.macro_average().f1, None);
        assert_eq!(nothing.weighted_average().precision, None);
    }
}
