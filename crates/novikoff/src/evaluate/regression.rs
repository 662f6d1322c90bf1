//! How far numbers are from those that were predicted.

use crate::loss::LossName;

/// How a model of regression does on rows with targets. A row counts as much as its weight says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    /// Number of rows.
    pub rows: u64,
    /// Whether rows count differently.
    pub weighted: bool,
    /// R²: the share of the targets' variance that the predictions explain, `1 − Σ(y − s)²/Σ(y − ȳ)²`; below
    /// 0 where the mean alone would do better. None where all targets are the same, and there is nothing to
    /// explain.
    pub r2: Option<f64>,
    /// The mean absolute error.
    pub mae: f64,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The median absolute error: half of the rows are nearer, half are farther. The middle between two rows
    /// where it could be either.
    pub median_absolute_error: f64,
    /// The largest absolute error.
    pub max_error: f64,
    /// The share of rows whose target is at most what was predicted, but for rounding: of a model of the
    /// q-quantile, about q.
    pub coverage: f64,
    /// The mean of the loss that the model minimises, where that has a parameter.
    pub mean_loss: Option<MeanLoss>,
}

/// The mean of a loss that has a parameter: pinball or Huber's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanLoss {
    /// The loss.
    pub loss: LossName,
    /// Its mean over the rows.
    pub mean: f64,
    /// Of Huber's loss: the share of rows that are farther than its width.
    pub outliers: Option<f64>,
}

impl Regression {
    /// Compares predictions with targets.
    ///
    /// ```
    /// use novikoff::evaluate::Regression;
    /// let measured = Regression::of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 6.0]);
    /// assert_eq!((measured.mae, measured.rmse), (0.5, 1.0));
    /// assert_eq!((measured.median_absolute_error, measured.max_error), (0.0, 2.0));
    /// assert!((measured.r2.unwrap() - (1.0 - 4.0 / 14.0)).abs() < 1e-12);
    /// ```
    pub fn of(predictions: &[f64], targets: &[f64]) -> Self {
        Self::weighted(predictions, targets, &[])
    }

    /// The same where rows count differently; no weights: each counts once. A row without weight has no part
    /// in any figure but the number of rows.
    pub fn weighted(predictions: &[f64], targets: &[f64], weights: &[f64]) -> Self {
        Self::of_loss(predictions, targets, weights, None)
    }

    /// The same of a model that minimises this loss, if that is known.
    ///
    /// ```
    /// use novikoff::evaluate::Regression;
    /// use novikoff::loss::{LossName, Quantile};
    /// let loss = Some(LossName::Quantile(Quantile { level: 0.75 }));
    /// let measured = Regression::of_loss(&[3.0, 3.0, 3.0, 3.0], &[1.0, 2.0, 3.0, 7.0], &[], loss);
    /// // (¼·2 + ¼·1 + 0 + ¾·4)/4
    /// assert_eq!((measured.coverage, measured.mean_loss.unwrap().mean), (0.75, 0.9375));
    /// ```
    pub fn of_loss(predictions: &[f64], targets: &[f64], weights: &[f64], loss: Option<LossName>) -> Self {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let counted: Vec<usize> = (0..targets.len()).filter(|&i| weight(i) > 0.0).collect();
        // In units of the largest: sums of large weights stay finite.
        let largest = counted.iter().map(|&i| weight(i)).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let shares: Vec<f64> = counted.iter().map(|&i| weight(i) / largest).collect();
        let n = if counted.is_empty() { 1.0 } else { shares.iter().sum() };
        let errors: Vec<f64> = counted.iter().map(|&i| predictions[i] - targets[i]).collect();
        let targets_of: Vec<f64> = counted.iter().map(|&i| targets[i]).collect();
        let mean = targets_of.iter().zip(&shares).map(|(y, w)| y * w / n).sum::<f64>();
        let around: Vec<f64> = targets_of.iter().map(|y| y - mean).collect();
        let rmse = root_mean_square(&errors, &shares, n);
        let varies = targets_of.iter().any(|y| *y != targets_of[0]);
        let r2 = varies.then(|| {
            let ratio = rmse / root_mean_square(&around, &shares, n);
            1.0 - ratio * ratio
        });
        let sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let loss = loss.filter(|loss| loss.parameter().is_some());
        Self {
            coverage: coverage(&counted, predictions, targets, &shares),
            mean_loss: loss.map(|loss| MeanLoss::of(loss, &errors, &shares)),
            rows: targets.len() as u64,
            weighted: weights.iter().any(|weight| *weight != 1.0),
            r2,
            mae: sizes.iter().zip(&shares).map(|(e, w)| e * w / n).sum(),
            rmse,
            max_error: sizes.iter().fold(0.0, |most, e| most.max(*e)),
            // Whole weights add up exactly, their shares do not.
            median_absolute_error: median(sizes, counted.iter().map(|&i| weight(i))),
        }
    }
}

/// The share of the weight of these rows that is at or below the prediction. A quantile goes through some
/// rows, which rounding may leave on either side.
fn coverage(rows: &[usize], predictions: &[f64], targets: &[f64], weights: &[f64]) -> f64 {
    const ROUNDED: f64 = 1e-12;
    let off = |&i: &usize| {
        let size = predictions[i].abs().max(targets[i].abs());
        predictions[i] - targets[i] + ROUNDED * size
    };
    let above: Vec<f64> = rows.iter().map(off).collect();
    share_of(&above, weights, |above| above >= 0.0)
}

impl MeanLoss {
    /// Of these residuals.
    fn of(loss: LossName, errors: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mean = errors.iter().zip(weights).map(|(e, w)| loss.value(0.0, *e) * (w / total)).sum();
        let outliers = match loss {
            LossName::Huber(huber) => Some(share_of(errors, weights, |error| error.abs() > huber.width)),
            _ => None,
        };
        Self { loss, mean, outliers }
    }
}

/// The share of the weight that is on such numbers; 0 where there are none.
fn share_of(numbers: &[f64], weights: &[f64], is_counted: impl Fn(f64) -> bool) -> f64 {
    let counted = numbers.iter().zip(weights).filter(|(x, _)| is_counted(**x)).map(|(_, w)| w).sum::<f64>();
    if counted == 0.0 { 0.0 } else { (counted / weights.iter().sum::<f64>()).min(1.0) }
}

/// The number in the middle by weight; between two, their mean.
fn median(numbers: Vec<f64>, weights: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<(f64, f64)> = numbers.into_iter().zip(weights).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sorted.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (at, (number, weight)) in sorted.iter().enumerate() {
        below += weight;
        if below == half && at + 1 < sorted.len() {
            return number / 2.0 + sorted[at + 1].0 / 2.0;
        }
        if below > half {
            return *number;
        }
    }
    sorted.last().map_or(0.0, |(number, _)| *number)
}

/// In units of the largest, whose square may be beyond all numbers.
fn root_mean_square(numbers: &[f64], weights: &[f64], total: f64) -> f64 {
    let largest = numbers.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let squares = numbers.iter().zip(weights).map(|(x, w)| w * (x / largest).powi(2));
    largest * (squares.sum::<f64>() / total).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Huber, Quantile};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn measures_are_what_their_definition_says(
            pairs in prop::collection::vec((-9.0..9.0f64, -9.0..9.0f64), 2..50),
            scale in prop_oneof![Just(1.0), Just(1e300), Just(1e-300)],
        ) {
            let (predictions, targets): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let scaled = |numbers: &[f64]| numbers.iter().map(|x| x * scale).collect::<Vec<_>>();
            let found = Regression::of(&scaled(&predictions), &scaled(&targets));
            let n = pairs.len() as f64;
            let mean = targets.iter().sum::<f64>() / n;
            let squares: f64 = pairs.iter().map(|(s, y)| (s - y).powi(2)).sum();
            let r2 = 1.0 - squares / targets.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
            prop_assert!((found.r2.unwrap() - r2).abs() <= 1e-9 * r2.abs().max(1.0), "{:?} {r2}", found.r2);
            let mae = pairs.iter().map(|(s, y)| (s - y).abs()).sum::<f64>() / n;
            prop_assert!((found.mae / scale - mae).abs() < 1e-9);
            prop_assert!((found.rmse / scale - (squares / n).sqrt()).abs() < 1e-9);
            let mut sizes: Vec<f64> = pairs.iter().map(|(s, y)| (s - y).abs()).collect();
            sizes.sort_by(f64::total_cmp);
            let middle = (sizes[(sizes.len() - 1) / 2] + sizes[sizes.len() / 2]) / 2.0;
            prop_assert!((found.median_absolute_error / scale - middle).abs() < 1e-9);
            prop_assert!((found.max_error / scale - sizes[sizes.len() - 1]).abs() < 1e-9);
            let below = pairs.iter().filter(|(s, y)| y <= s).count();
            prop_assert!((found.coverage - below as f64 / n).abs() < 1e-12);
            prop_assert_eq!(found.mean_loss, None);
        }

        #[test]
        fn rows_of_weight_two_are_rows_twice_and_of_weight_zero_none(
            rows in prop::collection::vec((-9i8..9, -9i8..9, 0usize..4), 2..30),
        ) {
            let number = |x: i8| f64::from(x);
            let once = |of: fn(&(i8, i8, usize)) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
            let weighted = Regression::weighted(
                &once(|row| f64::from(row.0)),
                &once(|row| f64::from(row.1)),
                &once(|row| row.2 as f64),
            );
            let repeated: Vec<_> = rows.iter().flat_map(|row| vec![*row; row.2]).collect();
            let (predictions, targets): (Vec<f64>, Vec<f64>) =
                repeated.iter().map(|row| (number(row.0), number(row.1))).unzip();
            let expected = Regression::of(&predictions, &targets);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * a.abs().max(1.0);
            prop_assert_eq!(weighted.r2.is_some(), expected.r2.is_some());
            prop_assert!(close(weighted.r2.unwrap_or(0.0), expected.r2.unwrap_or(0.0)));
            prop_assert!(close(weighted.mae, expected.mae) && close(weighted.rmse, expected.rmse));
            prop_assert_eq!(weighted.median_absolute_error, expected.median_absolute_error);
            prop_assert_eq!(weighted.max_error, expected.max_error);
            prop_assert!(close(weighted.coverage, expected.coverage));
        }
    }

    proptest! {
        #[test]
        fn a_mean_loss_is_the_mean_of_the_loss(
            rows in prop::collection::vec((-9.0..9.0f64, -9.0..9.0f64, 1usize..4), 1..30),
            width in 0.1..9.0f64, level in 0.01..0.99f64,
        ) {
            let [predictions, targets, weights] = [
                rows.iter().map(|row| row.0).collect::<Vec<_>>(),
                rows.iter().map(|row| row.1).collect(),
                rows.iter().map(|row| row.2 as f64).collect(),
            ];
            let total: f64 = weights.iter().sum();
            for loss in [LossName::Huber(Huber { width }), LossName::Quantile(Quantile { level })] {
                let measured = Regression::of_loss(&predictions, &targets, &weights, Some(loss));
                let found = measured.mean_loss.unwrap();
                let mean = rows.iter().map(|(s, y, w)| *w as f64 * loss.value(*y, *s)).sum::<f64>() / total;
                prop_assert!((found.mean - mean).abs() < 1e-9 * mean.max(1.0));
                let far = rows.iter().filter(|(s, y, _)| (s - y).abs() > width).map(|row| row.2 as f64);
                let far = far.sum::<f64>() / total;
                prop_assert!(found.outliers.is_none_or(|share| (share - far).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn targets_that_do_not_vary_have_no_share_explained() {
        let measured = Regression::of(&[0.1, 0.3], &[0.1, 0.1]);
        assert_eq!((measured.rows, measured.r2), (2, None));
        assert_eq!(Regression::of(&[], &[]).r2, None);
        assert_eq!(Regression::of(&[1.0, 2.0], &[1.0, 2.0]).r2, Some(1.0));
    }
}
