//! Which values are tried, and in which order: a path from strong to weak, which grows at the end where the
//! best value is, and in the end no penalty at all.

use super::{End, Metric, Parameter, Search, Tried};
use crate::data::{Dataset, Scale};
use crate::error::{Error, Result};
use crate::loss::LossName;
use crate::train::learner::{Learner, Risk};
use crate::train::risk::works_without_penalty;

/// Values for each power of ten.
const A_DECADE: usize = 2;
/// Values that are added at an end at a time.
const MORE: usize = A_DECADE;
/// Most values that are added at an end: three powers of ten.
const MOST: usize = 3 * A_DECADE;

/// Values that have been tried, with the figures of each fold, and those that are to be.
pub(super) struct Path {
    /// From the strongest to the weakest.
    tried: Vec<(f64, Vec<Option<f64>>)>,
    /// The values to begin with; empty when they are done.
    first: Vec<f64>,
    /// How many values may still be added at each end.
    stronger: usize,
    weaker: usize,
    /// Whether no penalty at all is still to be tried.
    none: bool,
}

/// The end of the path that the next values go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// From the strongest so far to stronger ones.
    Strongest,
    /// From the weakest so far to weaker ones; what comes first begins from nothing.
    Weakest,
}

impl Path {
    pub(super) fn new(
        data: &Dataset,
        learner: &Learner,
        parameter: Parameter,
        search: &Search,
    ) -> Result<Self> {
        if let Some(values) = &search.values {
            let first = given(values, learner, parameter, data.rows.columns())?;
            return Ok(Self { tried: Vec::new(), first, stronger: 0, weaker: 0, none: false });
        }
        let none = matches!(learner, Learner::Risk(risk) if admits_none(risk, data.rows.columns()));
        let first = usual(data, learner);
        Ok(Self { tried: Vec::new(), first, stronger: MOST, weaker: MOST, none })
    }

    /// How many values have been tried.
    pub(super) fn done(&self) -> usize {
        self.tried.len()
    }

    /// The next values to try, in their order, and the end that they go on from.
    pub(super) fn next(&mut self, by: Metric) -> Option<(Vec<f64>, From)> {
        if !self.first.is_empty() {
            return Some((std::mem::take(&mut self.first), From::Weakest));
        }
        let (table, _) = self.table(self.tried.first().map_or(0, |(_, folds)| folds.len()));
        let step = 10f64.powf(1.0 / A_DECADE as f64);
        let more = |from: f64, step: f64| {
            (1..=MORE as i32).map(|k| from * step.powi(k)).filter(|x| x.is_normal()).collect::<Vec<f64>>()
        };
        let end = best(&table, by).and_then(|best| edge(&table, best));
        match (end, self.tried.first(), self.tried.last()) {
            (Some(End::Strongest), Some((strongest, _)), _) if self.stronger > 0 => {
                self.stronger -= MORE;
                Some((more(*strongest, step), From::Strongest))
            }
            (Some(End::Weakest), _, Some((weakest, _))) if self.weaker > 0 => {
                self.weaker -= MORE;
                Some((more(*weakest, 1.0 / step), From::Weakest))
            }
            _ if std::mem::take(&mut self.none) => Some((vec![0.0], From::Weakest)),
            _ => None,
        }
        .filter(|(values, _)| !values.is_empty())
    }

    /// Adds what each fold made of these values: as many figures as it has finished.
    pub(super) fn add(&mut self, values: &[f64], figures: Vec<Vec<Option<f64>>>) {
        for (at, &value) in values.iter().enumerate() {
            let own = figures.iter().map(|fold| fold.get(at).copied().flatten()).collect();
            self.tried.push((value, own));
        }
        self.tried.sort_by(|a, b| b.0.total_cmp(&a.0));
    }

    /// All values with their means. Folds in which the figure of some value is undefined are left out of all
    /// means, which could not be compared otherwise; with the table comes how many these are. Where folds are
    /// unfinished, means are over those that are.
    pub(super) fn table(&self, folds: usize) -> (Vec<Tried>, usize) {
        let is_defined = |fold: usize| self.tried.iter().all(|(_, figures)| figures[fold].is_some());
        let defined: Vec<bool> = (0..folds).map(is_defined).collect();
        let keep_all = !defined.contains(&true);
        let kept = |figures: &[Option<f64>]| {
            figures
                .iter()
                .zip(&defined)
                .map(|(figure, defined)| figure.filter(|_| *defined || keep_all))
                .collect()
        };
        let table = self.tried.iter().map(|(value, figures)| Tried::new(*value, kept(figures))).collect();
        (table, defined.iter().filter(|defined| !**defined).count())
    }
}

/// The number of the best value; of several, the strongest. Values with fewer figures than others are not
/// compared with them.
pub(super) fn best(table: &[Tried], by: Metric) -> Option<usize> {
    let known = |tried: &Tried| tried.folds.iter().flatten().count();
    let most = table.iter().map(known).max().filter(|most| *most > 0)?;
    let loss = |at: &usize| by.loss(table[*at].mean.unwrap_or(f64::NAN));
    let candidates = (0..table.len()).filter(|&at| known(&table[at]) == most);
    candidates.min_by(|a, b| loss(a).total_cmp(&loss(b)))
}

/// The end of the path that this value is at, if there are others.
pub(super) fn edge(table: &[Tried], best: usize) -> Option<End> {
    match best {
        _ if table.len() < 2 => None,
        0 => Some(End::Strongest),
        _ if best + 1 == table.len() && table[best].value > 0.0 => Some(End::Weakest),
        _ => None,
    }
}

/// Values that the user asks for, from the strongest to the weakest.
fn given(values: &[f64], learner: &Learner, parameter: Parameter, columns: usize) -> Result<Vec<f64>> {
    let symbol = parameter.symbol();
    let admits_zero = matches!(learner, Learner::Risk(risk) if works_without_penalty(risk, columns));
    let is_good = |x: &f64| x.is_finite() && (*x > 0.0 || *x == 0.0 && admits_zero);
    if let Some(wrong) = values.iter().find(|x| !is_good(x)) {
        let error = Error::usage(format!("every {symbol} of a path must be a positive number, not {wrong}"));
        return Err(match (*wrong == 0.0, parameter) {
            (true, Parameter::Lambda) => error
                .hint(format!("{} needs a penalty: without one there is no minimum to find", learner.name())),
            _ => error,
        });
    }
    if values.is_empty() {
        return Err(Error::usage(format!("a path needs one {symbol} at least")));
    }
    let mut values: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.dedup();
    Ok(values)
}

/// More columns than this, and no penalty takes long to find what no penalty comes to.
const FEW_COLUMNS: usize = 2048;

/// Whether no penalty at all is worth a try: where there is a minimum without one.
fn admits_none(risk: &Risk, columns: usize) -> bool {
    let bounded = risk.l1 > 0.0 || risk.criterion.loss().is_some_and(LossName::is_of_numbers);
    bounded && columns <= FEW_COLUMNS && works_without_penalty(risk, columns)
}

/// Costs from a thousandth to a thousand, two a decade; for numbers as much of the columns' variance.
/// Smoothing from 10 to a ten-thousandth: bags of words like little of it.
fn usual(data: &Dataset, learner: &Learner) -> Vec<f64> {
    let steps = |first: f64, count: i32| {
        (0..count).map(move |step| 10f64.powf(first - f64::from(step) / A_DECADE as f64))
    };
    match learner {
        Learner::Risk(risk) if learner.predicts_numbers() => {
            let size = variance(data, risk).clamp(1e-250, 1e250);
            steps(0.0, 13).map(|step| step * size).collect()
        }
        Learner::Bayes(_) => steps(1.0, 11).collect(),
        _ => steps(3.0, 13).map(|step| step / data.total_weight()).collect(),
    }
}

/// The mean variance of the columns that the learner sees. Constant columns, which weigh nothing, are left
/// out.
fn variance(data: &Dataset, risk: &Risk) -> f64 {
    // Their inverses are the standard deviations; 1 for constant columns.
    let inverses = Scale::UnitVariance.factors(&data.rows, &data.row_weights);
    let factors = if risk.scale == Scale::None { Vec::new() } else { data.factors(risk.scale) };
    let factor = |j: usize| factors.get(j).copied().unwrap_or(1.0);
    let variances = inverses.iter().enumerate().map(|(j, inverse)| (factor(j) / inverse).powi(2));
    variances.filter(|v| v.is_finite()).sum::<f64>() / inverses.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Recipe;
    use crate::train::LearnerName;

    fn table(means: &[f64]) -> Vec<Tried> {
        let value = |at: usize| 10f64.powi(-(at as i32));
        means.iter().enumerate().map(|(at, &mean)| Tried::new(value(at), vec![Some(mean); 2])).collect()
    }

    /// The values that are tried, if the figure of a value is this.
    fn values_tried(learner: LearnerName, figure: impl Fn(f64) -> f64) -> (Vec<f64>, Option<End>) {
        let data = Recipe { rows: 100, ..Recipe::default() }.generate();
        let search = Search::default();
        let mut path = Path::new(&data, &learner.learner(), Parameter::Lambda, &search).unwrap();
        while let Some((values, _)) = path.next(Metric::Mae) {
            let figures = values.iter().map(|&value| Some(figure(value))).collect();
            path.add(&values, vec![figures]);
        }
        let (table, _) = path.table(1);
        let edge = best(&table, Metric::Mae).and_then(|best| edge(&table, best));
        (table.iter().map(|tried| tried.value).collect(), edge)
    }

    #[test]
    fn the_path_grows_at_the_end_where_the_best_is_and_not_for_ever() {
        let near = |target: f64| move |value: f64| (value.max(1e-30) / target).ln().abs();
        let (inner, edge) = values_tried(LearnerName::Logistic, near(0.01));
        assert_eq!((inner.len(), edge), (13, None));
        let (weaker, edge) = values_tried(LearnerName::Logistic, near(3e-6));
        assert_eq!((weaker.len(), edge), (15, None));
        assert!(weaker.is_sorted_by(|a, b| a > b) && weaker[14] < 2e-6, "{weaker:?}");
        let (weakest, edge) = values_tried(LearnerName::Logistic, |value| value);
        assert_eq!((weakest.len(), edge), (19, Some(End::Weakest)));
        let (strongest, edge) = values_tried(LearnerName::Logistic, |value| -value);
        assert_eq!((strongest.len(), edge), (19, Some(End::Strongest)));
        assert!((strongest[0] / strongest[6] / 1e3 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_penalty_is_tried_last_where_there_is_a_minimum_without_one() {
        let (values, edge) = values_tried(LearnerName::LeastSquares, |value| value);
        assert_eq!((values.len(), values[19], edge), (20, 0.0, None));
        let (values, edge) =
            values_tried(LearnerName::LeastSquares, |value| if value > 0.0 { value } else { 1e9 });
        assert_eq!((values.len(), edge), (20, None), "none is worse: the best is not at the end");
    }

    #[test]
    fn of_equals_the_strongest_is_the_best_and_more_may_be_better() {
        assert_eq!(best(&table(&[3.0, 1.0, 1.0, 2.0]), Metric::Error), Some(1));
        assert_eq!(best(&table(&[3.0, 1.0, 1.0, 2.0]), Metric::R2), Some(0));
        assert_eq!(best(&[], Metric::Error), None);
    }

    #[test]
    fn folds_without_a_figure_are_left_out_of_all_means() {
        let tried =
            vec![(1.0, vec![Some(1.0), None, Some(3.0)]), (0.1, vec![Some(2.0), Some(9.0), Some(2.0)])];
        let path = Path { tried, first: Vec::new(), stronger: 0, weaker: 0, none: false };
        let (table, undefined) = path.table(3);
        assert_eq!((table[0].mean, table[1].mean, undefined), (Some(2.0), Some(2.0), 1));
    }
}
