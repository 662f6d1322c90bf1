//! How far numbers are from those that were predicted.

/// How a model of regression does on rows with targets. Every row counts once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    /// Number of rows.
    pub rows: u64,
    /// R²: the share of the targets' variance that the predictions explain, `1 − Σ(y − s)²/Σ(y − ȳ)²`; below
    /// 0 where the mean alone would do better. None where all targets are the same, and there is nothing to
    /// explain.
    pub r2: Option<f64>,
    /// The mean absolute error.
    pub mae: f64,
    /// The root of the mean squared error.
    pub rmse: f64,
}

impl Regression {
    /// Compares predictions with targets.
    ///
    /// ```
    /// use novikoff::evaluate::Regression;
    /// let measured = Regression::of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 6.0]);
    /// assert_eq!((measured.mae, measured.rmse), (0.5, 1.0));
    /// assert!((measured.r2.unwrap() - (1.0 - 4.0 / 14.0)).abs() < 1e-12);
    /// ```
    pub fn of(predictions: &[f64], targets: &[f64]) -> Self {
        let rows = targets.len();
        let n = rows.max(1) as f64;
        let errors: Vec<f64> = predictions.iter().zip(targets).map(|(s, y)| s - y).collect();
        let mean = targets.iter().map(|y| y / n).sum::<f64>();
        let around: Vec<f64> = targets.iter().map(|y| y - mean).collect();
        let rmse = root_mean_square(&errors);
        let varies = targets.iter().any(|y| *y != targets[0]);
        let r2 = varies.then(|| {
            let ratio = rmse / root_mean_square(&around);
            1.0 - ratio * ratio
        });
        Self { rows: rows as u64, r2, mae: errors.iter().map(|e| e.abs() / n).sum(), rmse }
    }
}

/// In units of the largest, whose square may be beyond all numbers.
fn root_mean_square(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let mean = numbers.iter().map(|x| (x / largest).powi(2)).sum::<f64>() / numbers.len() as f64;
    largest * mean.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        }
    }

    #[test]
    fn targets_that_do_not_vary_have_no_share_explained() {
        let measured = Regression::of(&[0.1, 0.3], &[0.1, 0.1]);
        assert_eq!((measured.rows, measured.r2), (2, None));
        assert_eq!(Regression::of(&[], &[]), Regression { rows: 0, r2: None, mae: 0.0, rmse: 0.0 });
        assert_eq!(Regression::of(&[1.0, 2.0], &[1.0, 2.0]).r2, Some(1.0));
    }
}
