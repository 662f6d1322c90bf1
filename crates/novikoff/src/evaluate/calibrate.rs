//! Calibration: fitting probabilities to scores of rows that the model was not trained on. Platt's sigmoid
//! (Lin, Lin and Weng 2007) and isotonic regression (pooling adjacent violators).

use crate::error::{Error, Result};
use crate::loss::sigmoid;
use crate::model::{Calibration, Isotonic, Platt};
use rayon::prelude::*;

/// How probabilities are fitted to scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum CalibrationMethod {
    /// A sigmoid of the score: two parameters, for few rows.
    Platt,
    /// A non-decreasing step function: for many rows.
    Isotonic,
}

/// Fits probabilities to scores of rows whose classes are known: `outputs` scores a row. With one output
/// class 1 is the positive one; with several, every output is fitted to its class against the rest.
/// `row_weights` is empty if every row counts once.
///
/// Use scores of rows that the model was not trained on ([`cross_fit`](super::cross_fit)): scores of training
/// rows are overconfident.
///
/// ```
/// use novikoff::evaluate::{CalibrationMethod, calibrate};
/// let (scores, classes) = ([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1]);
/// let calibration = calibrate(CalibrationMethod::Platt, &scores, 1, &classes, &[])?;
/// let mut probabilities = Vec::new();
/// calibration.probabilities(&[0.0], &mut probabilities);
/// assert!((probabilities[1] - 0.5).abs() < 1e-9);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn calibrate(
    method: CalibrationMethod,
    scores: &[f64],
    outputs: usize,
    classes: &[u32],
    row_weights: &[f64],
) -> Result<Calibration> {
    if outputs == 0 || scores.len() != classes.len() * outputs {
        return Err(Error::input(format!(
            "{} scores for {} rows of {outputs} outputs",
            scores.len(),
            classes.len()
        )));
    }
    let of = |output: usize| {
        let positive_class = if outputs == 1 { 1 } else { output as u32 };
        let own: Vec<f64> = scores.iter().skip(output).step_by(outputs).copied().collect();
        let positive: Vec<bool> = classes.iter().map(|&class| class == positive_class).collect();
        (own, positive)
    };
    Ok(match method {
        CalibrationMethod::Platt => Calibration::Platt(each(outputs, |output| {
            let (scores, positive) = of(output);
            fit_platt(&scores, &positive, row_weights)
        })?),
        CalibrationMethod::Isotonic => Calibration::Isotonic(each(outputs, |output| {
            let (scores, positive) = of(output);
            fit_isotonic(&scores, &positive, row_weights)
        })?),
    })
}

/// In parallel; the first error counts.
fn each<T: Send>(outputs: usize, fit: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let all: Vec<Result<T>> = (0..outputs).into_par_iter().map(&fit).collect();
    all.into_iter().collect()
}

/// A row as it counts for a fit.
#[derive(Clone, Copy)]
struct Point {
    score: f64,
    positive: bool,
    weight: f64,
}

/// The rows that count, or why nothing can be fitted to them.
fn points(scores: &[f64], positive: &[bool], row_weights: &[f64]) -> Result<Vec<Point>> {
    if positive.len() != scores.len() || !(row_weights.is_empty() || row_weights.len() == scores.len()) {
        let (labels, weights) = (positive.len(), row_weights.len());
        return Err(Error::input(format!("{} scores, {labels} labels and {weights} weights", scores.len())));
    }
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::input(format!(
            "the score of row {} is not finite: no probability can be fitted to it",
            row + 1
        )));
    }
    if let Some(row) = row_weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return Err(Error::input(format!(
            "the weight of row {} is {}, not a number from 0",
            row + 1,
            row_weights[row]
        )));
    }
    let weight = |i: usize| row_weights.get(i).copied().unwrap_or(1.0);
    let point = |i: usize| Point { score: scores[i], positive: positive[i], weight: weight(i) };
    let all: Vec<Point> = (0..scores.len()).map(point).filter(|point| point.weight > 0.0).collect();
    if all.is_empty() {
        return Err(Error::input("there are no rows to fit probabilities to"));
    }
    Ok(all)
}

/// Platt's sigmoid: the maximum of the likelihood over sigmoids that do not fall, with the targets of Lin,
/// Lin and Weng (2007), which keep it finite where the scores separate the classes: `(N₊ + 1)/(N₊ + 2)` for
/// positive rows and `1/(N₋ + 2)` for the others. Where positive rows have the lower scores the best of these
/// is a constant: a falling one would call the labels improbable that the scores decide for.
///
/// ```
/// let platt = novikoff::evaluate::fit_platt(&[1.0, 3.0, -1.0, -3.0], &[true, true, false, false], &[])?;
/// assert!(platt.a > 0.0 && platt.b.abs() < 1e-9);
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn fit_platt(scores: &[f64], positive: &[bool], row_weights: &[f64]) -> Result<Platt> {
    let points = points(scores, positive, row_weights)?;
    let total_of = |side: bool| {
        points.iter().filter(|point| point.positive == side).map(|point| point.weight).sum::<f64>()
    };
    let (positives, negatives) = (total_of(true), total_of(false));
    let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
    let total = positives + negatives;
    // In these units no square is beyond all numbers, and the two unknowns hardly influence one another.
    let largest = points.iter().fold(0.0f64, |most, point| most.max(point.score.abs())).max(1e-290);
    let mean = points.iter().map(|point| point.score / largest * (point.weight / total)).sum::<f64>();
    let spread = points.iter().map(|point| (point.score / largest - mean).abs()).fold(0.0, f64::max);
    let spread = if spread > 0.0 { spread } else { 1.0 };
    let rows: Vec<Row> = points
        .iter()
        .map(|point| Row {
            z: (point.score / largest - mean) / spread,
            target: if point.positive { high } else { low },
            share: point.weight / total,
        })
        .collect();
    let (a, b) = newton(&rows, ((positives + 1.0) / (negatives + 1.0)).ln());
    if a < 0.0 {
        // The likelihood is concave: its maximum over a ≥ 0 is one over constants.
        let mean = rows.iter().map(|row| row.share * row.target).sum::<f64>();
        return Ok(Platt { a: 0.0, b: (mean / (1.0 - mean)).ln() });
    }
    Ok(Platt { a: a / spread / largest, b: b - a * mean / spread })
}

/// A row in the units that the sigmoid is fitted in.
struct Row {
    z: f64,
    target: f64,
    share: f64,
}

/// `Σ share·(log(1 + exp(a·z + b)) − target·(a·z + b))`, minus the log likelihood.
fn loss(rows: &[Row], a: f64, b: f64) -> f64 {
    let of = |row: &Row| {
        let s = a * row.z + b;
        row.share * (s.max(0.0) + (-s.abs()).exp().ln_1p() - row.target * s)
    };
    rows.iter().map(of).sum()
}

/// Newton's method, with steps halved until the loss falls: it is convex, so this always arrives.
fn newton(rows: &[Row], start: f64) -> (f64, f64) {
    /// So near, whole steps lead to the minimum, and the loss changes by less than its sum is rounded by.
    const NEAR: f64 = 1e-10;
    let (mut a, mut b) = (0.0, start);
    let mut last_gain = f64::INFINITY;
    for _ in 0..100 {
        let (mut slope, mut bend) = ([0.0; 2], [0.0; 3]);
        for row in rows {
            let p = sigmoid(a * row.z + b);
            let (off, curve) = (row.share * (p - row.target), row.share * p * (1.0 - p));
            slope = [slope[0] + off * row.z, slope[1] + off];
            bend = [bend[0] + curve * row.z * row.z, bend[1] + curve * row.z, bend[2] + curve];
        }
        // Where all scores are one the loss does not depend on a: this little makes the system one that can
        // be solved.
        let ridge = 1e-14 * (bend[0] + bend[2]) + f64::MIN_POSITIVE;
        let [aa, ab, bb] = [bend[0] + ridge, bend[1], bend[2] + ridge];
        let determinant = aa * bb - ab * ab;
        let step =
            [(bb * slope[0] - ab * slope[1]) / determinant, (aa * slope[1] - ab * slope[0]) / determinant];
        let gain = slope[0] * step[0] + slope[1] * step[1];
        // Not a number, not downhill, or as far as rounding lets it come.
        if !(gain.is_finite() && gain > 0.0 && (gain > NEAR || gain < last_gain / 2.0)) {
            break;
        }
        last_gain = gain;
        let size = if gain > NEAR { step_size(rows, (a, b), step, gain) } else { 1.0 };
        (a, b) = (a - size * step[0], b - size * step[1]);
        if size == 0.0 || gain < 1e-26 {
            break;
        }
    }
    (a, b)
}

/// How much of a step makes the loss smaller by a fair part of what its slope promises; zero if none does.
fn step_size(rows: &[Row], (a, b): (f64, f64), step: [f64; 2], gain: f64) -> f64 {
    let here = loss(rows, a, b);
    let sizes = (0..40).map(|halvings| 0.5f64.powi(halvings));
    let falls = |size: &f64| loss(rows, a - size * step[0], b - size * step[1]) <= here - 1e-4 * size * gain;
    sizes.into_iter().find(falls).unwrap_or(0.0)
}

/// The isotonic regression of the classes on the scores, by pooling adjacent violators: of all functions that
/// never fall, the one with the smallest squared error. Rows of one score count as one with their mean.
///
/// ```
/// let steps = novikoff::evaluate::fit_isotonic(&[1.0, 2.0, 3.0, 4.0], &[false, true, false, true], &[])?;
/// assert_eq!((steps.scores, steps.values), (vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 0.5, 0.5, 1.0]));
/// # Ok::<(), novikoff::Error>(())
/// ```
pub fn fit_isotonic(scores: &[f64], positive: &[bool], row_weights: &[f64]) -> Result<Isotonic> {
    let mut points = points(scores, positive, row_weights)?;
    points.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut pools: Vec<Pool> = Vec::new();
    for tied in points.chunk_by(|a, b| a.score == b.score) {
        let weight = tied.iter().map(|point| point.weight).sum();
        let positives = tied.iter().filter(|point| point.positive).map(|point| point.weight).sum();
        let mut pool = Pool { first: tied[0].score, last: tied[0].score, positives, weight };
        // Equal ones are pooled too: between them nothing rises.
        while let Some(before) = pools.pop_if(|before| before.mean() >= pool.mean()) {
            pool = Pool {
                first: before.first,
                last: pool.last,
                positives: before.positives + pool.positives,
                weight: before.weight + pool.weight,
            };
        }
        pools.push(pool);
    }
    let mut steps = Isotonic::default();
    for pool in &pools {
        steps.scores.push(pool.first);
        steps.values.push(pool.mean());
        if pool.last > pool.first {
            steps.scores.push(pool.last);
            steps.values.push(pool.mean());
        }
    }
    Ok(steps)
}

/// Neighbouring rows that get one probability.
struct Pool {
    first: f64,
    last: f64,
    positives: f64,
    weight: f64,
}

impl Pool {
    fn mean(&self) -> f64 {
        // Plus zero: no positives at all sum to a negative zero.
        (self.positives / self.weight).clamp(0.0, 1.0) + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores with ties, classes that they tell something about, and weights of which some are 0.
    fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<bool>, Vec<f64>)> {
        let row = (-9i8..10, any::<u8>(), 0u8..4);
        (prop::collection::vec(row, 1..40), any::<bool>()).prop_map(|(rows, weighted)| {
            let scores = rows.iter().map(|row| f64::from(row.0) / 2.0).collect();
            let positive = rows.iter().map(|row| i16::from(row.0) * 14 + 128 > i16::from(row.1)).collect();
            let weights =
                if weighted { rows.iter().map(|row| f64::from(row.2) / 2.0).collect() } else { Vec::new() };
            (scores, positive, weights)
        })
    }

    /// The formula of the isotonic regression at a score: the largest of the smallest means of the stretches
    /// around it.
    fn min_max(points: &[Point], at: f64) -> f64 {
        let mean = |from: f64, to: f64| {
            let within = || points.iter().filter(|p| (from..=to).contains(&p.score));
            within().filter(|p| p.positive).map(|p| p.weight).sum::<f64>()
                / within().map(|p| p.weight).sum::<f64>()
        };
        let (starts, ends) =
            (points.iter().filter(|p| p.score <= at), points.iter().filter(|p| p.score >= at));
        let smallest = |from: f64| ends.clone().map(|to| mean(from, to.score)).fold(f64::INFINITY, f64::min);
        starts.map(|from| smallest(from.score)).fold(f64::NEG_INFINITY, f64::max)
    }

    proptest! {
        #[test]
        fn isotonic_steps_are_those_of_the_min_max_formula((scores, positive, weights) in rows()) {
            let Ok(points) = points(&scores, &positive, &weights) else { return Ok(()) };
            let steps = fit_isotonic(&scores, &positive, &weights).unwrap();
            prop_assert!(steps.scores.is_sorted_by(|a, b| a < b) && steps.values.is_sorted());
            for point in &points {
                let (found, expected) = (steps.probability(point.score), min_max(&points, point.score));
                prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
            // No point more than needed: dropping one changes the function.
            for at in 1..steps.values.len().saturating_sub(1) {
                prop_assert!(
                    steps.values[at - 1] < steps.values[at] || steps.values[at] < steps.values[at + 1]
                );
            }
        }

        /// At the minimum the slope is zero, and no step to any side makes the loss smaller.
        #[test]
        fn the_slope_of_platts_likelihood_is_zero_where_it_ends(
            (scores, positive, weights) in rows(),
            scale in prop_oneof![Just(1.0), Just(1e-200), Just(1e200), Just(1e5)],
            offset in -3i8..4,
        ) {
            let scores: Vec<f64> = scores.iter().map(|s| scale * (s + f64::from(offset))).collect();
            let Ok(points) = points(&scores, &positive, &weights) else { return Ok(()) };
            let platt = fit_platt(&scores, &positive, &weights).unwrap();
            prop_assert!(platt.a.is_finite() && platt.b.is_finite(), "{platt:?}");
            let total =
                |side: bool| points.iter().filter(|p| p.positive == side).map(|p| p.weight).sum::<f64>();
            let (high, low) = ((total(true) + 1.0) / (total(true) + 2.0), 1.0 / (total(false) + 2.0));
            let (mut slope_a, mut slope_b) = (0.0, 0.0);
            for point in &points {
                let off = platt.probability(point.score) - if point.positive { high } else { low };
                slope_a += point.weight * off * (point.score / scale);
                slope_b += point.weight * off;
            }
            // At a slope of zero a larger one may make the likelihood smaller, and a negative one does not
            // count.
            let slope_a = if platt.a == 0.0 { slope_a.min(0.0) } else { slope_a };
            prop_assert!(platt.a >= 0.0);
            prop_assert!(slope_a.abs() < 1e-8 && slope_b.abs() < 1e-8, "{slope_a} {slope_b} {platt:?}");
        }

        #[test]
        fn rows_of_weight_two_are_rows_twice((scores, positive, _) in rows()) {
            let weights: Vec<f64> = (0..scores.len()).map(|i| [1.0, 2.0][i % 2]).collect();
            let twice: Vec<usize> = (0..scores.len()).flat_map(|i| vec![i; 1 + i % 2]).collect();
            let (s, p): (Vec<f64>, Vec<bool>) = twice.iter().map(|&i| (scores[i], positive[i])).unzip();
            let (weighted, repeated) =
                (fit_platt(&scores, &positive, &weights).unwrap(), fit_platt(&s, &p, &[]).unwrap());
            prop_assert!((weighted.a - repeated.a).abs() < 1e-8 && (weighted.b - repeated.b).abs() < 1e-8);
            prop_assert_eq!(
                fit_isotonic(&scores, &positive, &weights).unwrap(),
                fit_isotonic(&s, &p, &[]).unwrap()
            );
        }

        #[test]
        fn every_output_is_fitted_to_its_own_class(
            classes in prop::collection::vec(0u32..3, 3..30),
            seed in any::<u64>(),
        ) {
            let mut random = crate::random::Random::new(seed);
            let scores: Vec<f64> = (0..classes.len() * 3).map(|_| random.normal()).collect();
            let Calibration::Platt(all) =
                calibrate(CalibrationMethod::Platt, &scores, 3, &classes, &[]).unwrap()
            else {
                panic!()
            };
            for (output, platt) in all.iter().enumerate() {
                let own: Vec<f64> = scores.chunks(3).map(|scores| scores[output]).collect();
                let positive: Vec<bool> = classes.iter().map(|&class| class as usize == output).collect();
                prop_assert_eq!(*platt, fit_platt(&own, &positive, &[]).unwrap());
            }
        }
    }

    /// What scikit-learn 1.9.1 says: `_sigmoid_calibration(scores, y, sample_weight=w)` (its A and B are −a
    /// and −b, and it stops at some 1e-6) and `IsotonicRegression(out_of_bounds="clip").fit(scores, y,
    /// sample_weight=w)`.
    #[test]
    fn calibrations_are_those_of_scikit_learn() {
        let scores = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 0.5, 1.0, 1.5, 3.0];
        let positive = [0, 0, 1, 0, 1, 0, 1, 1, 0, 1].map(|y| y == 1);
        let weights = [1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0];
        let close = |x: f64, y: f64| (x - y).abs() < 1e-5;
        let plain = fit_platt(&scores, &positive, &[]).unwrap();
        assert!(close(plain.a, 0.42032181249309736) && close(plain.b, -0.05762519794984351), "{plain:?}");
        let weighted = fit_platt(&scores, &positive, &weights).unwrap();
        assert!(
            close(weighted.a, 0.35678404887959103) && close(weighted.b, -0.6193249556457319),
            "{weighted:?}"
        );
        let steps = fit_isotonic(&scores, &positive, &weights).unwrap();
        assert_eq!(steps.scores, [-2.0, -1.5, -1.0, 1.5, 3.0]);
        assert!(
            steps.values.iter().zip([0.0, 0.0, 0.4, 0.4, 1.0]).all(|(x, y)| close(*x, y)),
            "{:?}",
            steps.values
        );
    }

    #[test]
    fn one_class_alone_has_the_probability_of_its_target_everywhere() {
        let platt = fit_platt(&[1.0, 2.0, 5.0], &[true; 3], &[]).unwrap();
        assert!((platt.probability(-7.0) - 0.8).abs() < 1e-12 && platt.a == 0.0, "{platt:?}");
        let steps = fit_isotonic(&[1.0, 2.0, 5.0], &[true; 3], &[]).unwrap();
        assert_eq!((steps.scores, steps.values), (vec![1.0, 5.0], vec![1.0, 1.0]));
    }

    #[test]
    fn what_cannot_be_fitted_is_an_error_that_says_why() {
        let said = |scores: &[f64], weights: &[f64]| {
            let positive: Vec<bool> = scores.iter().map(|s| *s > 0.0).collect();
            fit_isotonic(scores, &positive, weights).unwrap_err().to_string()
        };
        assert!(said(&[1.0, f64::NAN], &[]).contains("score of row 2 is not finite"));
        assert!(said(&[1.0, 2.0], &[1.0, -1.0]).contains("weight of row 2 is -1"));
        assert!(said(&[1.0, 2.0], &[0.0, 0.0]).contains("no rows"));
        assert!(said(&[], &[]).contains("no rows"));
        assert!(said(&[1.0, 2.0], &[1.0]).contains("2 scores, 2 labels and 1 weights"));
        assert!(calibrate(CalibrationMethod::Platt, &[1.0; 5], 2, &[0, 1], &[]).is_err());
    }

    #[test]
    fn probabilities_never_contradict_the_order_of_scores() {
        let platt = fit_platt(&[2.0, 1.0, -1.0, -2.0], &[false, false, true, true], &[]).unwrap();
        assert_eq!((platt.a, platt.probability(9.0)), (0.0, 0.5));
    }

    #[test]
    fn no_probability_is_a_negative_zero() {
        let steps = fit_isotonic(&[-1.0, 0.0, 1.0], &[false, false, true], &[]).unwrap();
        assert!(steps.values.iter().all(|value| value.is_sign_positive()), "{:?}", steps.values);
        // A file of an earlier version may have one.
        let earlier = Isotonic { scores: vec![0.0], values: vec![-0.0] };
        assert!(earlier.probability(1.0).is_sign_positive());
    }

    #[test]
    fn the_two_zeros_are_one_score() {
        let steps = fit_isotonic(&[0.0, -0.0, 1.0], &[true, false, true], &[]).unwrap();
        assert_eq!((steps.scores, steps.values), (vec![0.0, 1.0], vec![0.5, 1.0]));
    }
}
