//! The default scale: what it does to accuracy, to models and to proofs.

use crate::differential::canonical;
use crate::with::With;
use novikoff::MaxMargin;
use novikoff::control::{Termination, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::data::{Dataset, Scale};
use novikoff::loss::LossName;
use novikoff::model::{Scorer, from_bytes, load, save, to_bytes};
use novikoff::penalty::Bias;
use novikoff::random::Random;
use novikoff::train::{Continued, Fit, Learner, LearnerName, Risk, Strength, train, train_from};
use novikoff_checker::Rows;
use proptest::prelude::*;

fn fitted(data: &Dataset, learner: &Learner) -> Fit {
    train(data, None, learner, &mut Unwatched).unwrap()
}

fn labelled(rows: &[Vec<f64>], positive: impl Fn(usize) -> bool) -> Dataset<'static> {
    let labels: Vec<&str> = (0..rows.len()).map(|i| if positive(i) { "new" } else { "old" }).collect();
    Dataset::from_dense(rows.concat(), rows[0].len()).unwrap().with_labels(&labels).unwrap()
}

const LINEAR: [LearnerName; 10] = [
    LearnerName::Logistic,
    LearnerName::Svm,
    LearnerName::SquaredSvm,
    LearnerName::Exponential,
    LearnerName::Perceptron,
    LearnerName::Averaged,
    LearnerName::Voted,
    LearnerName::Boosting,
    LearnerName::PassiveAggressive,
    LearnerName::Network,
];

#[test]
fn a_year_tells_old_from_new_by_default() {
    let years: Vec<Vec<f64>> = (0..400).map(|i| vec![1920.0 + f64::from(i * 7 % 100)]).collect();
    let data = labelled(&years, |i| years[i][0] >= 1970.0);
    for name in LINEAR {
        let error = fitted(&data, &name.learner()).train_error.unwrap();
        let allowed = match name {
            // A penalty may have its price on one column; these have none, or little.
            LearnerName::Exponential | LearnerName::Logistic | LearnerName::Network => 0.0,
            _ => 0.02,
        };
        assert!(error <= allowed, "{name:?}: {error}");
    }
}

#[test]
fn a_time_stamp_with_noise_is_learned_as_well_as_a_small_number() {
    let mut random = Random::new(3);
    let hours: Vec<f64> = (0..2000).map(|_| random.normal()).collect();
    let noise: Vec<f64> = (0..2000).map(|_| random.normal()).collect();
    let of = |offset: f64, unit: f64| {
        let rows: Vec<Vec<f64>> =
            hours.iter().map(|x| vec![offset + (x * unit * 256.0).round() / 256.0]).collect();
        labelled(&rows, |i| hours[i] + 0.3 * noise[i] > 0.0)
    };
    let (near, far) = (of(0.0, 1.0), of(1.7e9, 86_400.0));
    for name in [LearnerName::Logistic, LearnerName::Averaged, LearnerName::Voted, LearnerName::Network] {
        let [near, far] = [&near, &far].map(|data| fitted(data, &name.learner()).train_error.unwrap());
        assert!((near - far).abs() < 0.02 && far < 0.15, "{name:?}: {near} {far}");
    }
}

/// Two columns with the same large offset, of which the differences tell the labels apart.
fn far_away(offset: f64) -> Dataset<'static> {
    let mut random = Random::new(5);
    let near: Vec<[f64; 2]> = (0..600).map(|_| [random.normal(), random.normal()]).collect();
    let near: Vec<[f64; 2]> = near.into_iter().filter(|[a, b]| (a + b).abs() > 0.2).collect();
    let rows: Vec<Vec<f64>> =
        near.iter().map(|row| row.map(|x| offset + (x * 256.0).round() / 256.0).to_vec()).collect();
    labelled(&rows, |i| near[i][0] + near[i][1] > 0.0)
}

#[test]
fn columns_far_from_zero_are_as_separable_as_others() {
    for offset in [0.0, 1e5, 1e7, 1e9] {
        let data = far_away(offset);
        for name in [LearnerName::Averaged, LearnerName::Voted, LearnerName::Network] {
            let fit = fitted(&data, &name.learner().with_epochs(60));
            assert_eq!(fit.train_error, Some(0.0), "{name:?} at {offset}");
            let again = from_bytes(&to_bytes(&fit.model).unwrap(), "model").unwrap();
            assert_eq!(again, fit.model);
            assert_eq!(again.scores(&data).unwrap(), fit.model.scores(&data).unwrap());
        }
    }
}

#[test]
fn going_on_far_from_zero_is_going_on_anywhere() {
    let data = far_away(1e9);
    let held_out = far_away(1e9);
    for name in [LearnerName::Averaged, LearnerName::Voted, LearnerName::Network] {
        for validation in [None, Some(&held_out)] {
            let (short, long) = (name.learner().with_epochs(2), name.learner().with_epochs(6));
            let begun = train(&data, validation, &short, &mut Unwatched).unwrap().model;
            let begun = from_bytes(&to_bytes(&begun).unwrap(), "model").unwrap();
            let parts = train_from(&data, validation, &long, &begun, &mut Unwatched).unwrap();
            assert_eq!(parts.resumed.unwrap().continued, Continued::Exactly);
            let whole = train(&data, validation, &long, &mut Unwatched).unwrap();
            assert!(to_bytes(&parts.model).unwrap() == to_bytes(&whole.model).unwrap(), "{name:?}");
        }
    }
}

/// Weights that were learned without a scale, or have lost what says of it, are those of the rows as they
/// are: what goes on from them learns in the numbers of its settings all the same.
#[test]
fn what_goes_on_from_weights_learns_from_scaled_rows() {
    let mut random = Random::new(8);
    let rows: Vec<Vec<f64>> = (0..500)
        .map(|_| {
            vec![(1e4 * random.normal()).round(), 2000.0 + (4.0 * random.normal()).round(), random.normal()]
        })
        .collect();
    let data = labelled(&rows, |i| rows[i][0] / 1e4 + (rows[i][1] - 2000.0) / 4.0 + rows[i][2] > 0.05);
    let logistic = fitted(&data, &LearnerName::Logistic.learner()).model;
    let unscaled =
        |name: LearnerName| fitted(&data, &name.learner().with_scale(Scale::None).with_epochs(1)).model;
    for (name, from) in [
        (LearnerName::Averaged, logistic.clone()),
        (LearnerName::PassiveAggressive, logistic.clone()),
        (LearnerName::Perceptron, unscaled(LearnerName::PassiveAggressive)),
        (LearnerName::Averaged, unscaled(LearnerName::Averaged)),
        (LearnerName::Network, unscaled(LearnerName::Network)),
    ] {
        let learner = name.learner().with_epochs(20);
        let more = train_from(&data, None, &learner, &from, &mut Unwatched).unwrap();
        let anew = fitted(&data, &learner);
        // Weights of rows as they are may be very long in the new numbers: those of a minimum are not.
        let own = more.train_error.unwrap();
        let allowed = if from == logistic { anew.train_error.unwrap() + 0.01 } else { 0.5 };
        assert!(own <= allowed, "{name:?}: {own} {:?}", anew.train_error);
        assert_eq!(more.resumed.unwrap().continued, Continued::FromWeights);
        assert_eq!(more.model.about.settings["scale"], "standard");
    }
}

#[test]
fn weights_of_rows_as_they_are_become_weights_of_scaled_ones() {
    let data = far_away(1000.0);
    let free = Risk { strength: Some(Strength::Lambda(1e-6)), ..Risk::of(LossName::Logistic) };
    let separating = fitted(&data, &free.into()).model;
    for name in [LearnerName::Perceptron, LearnerName::Averaged] {
        let more = train_from(&data, None, &name.learner(), &separating, &mut Unwatched).unwrap();
        assert_eq!(more.history().unwrap().mistakes, 0, "{name:?}");
    }
}

#[test]
fn a_penalty_that_comes_later_is_one_of_scaled_columns() {
    let data = table(200, 3);
    let targets: Vec<f64> = (0..data.len()).map(|i| data.rows.row(i).norm_sq().sqrt()).collect();
    let data = data.with_targets(&targets).unwrap();
    for name in [LearnerName::LeastSquares, LearnerName::LeastAbsolute] {
        let plain = fitted(&data, &name.learner());
        assert!(!plain.model.about.settings.contains_key("scale"));
        let Learner::Risk(known) = Learner::of(&plain.model).unwrap() else { panic!() };
        assert_eq!(known.scale, Scale::Standard, "{name:?}");
        let learner = Learner::from(Risk { strength: Some(Strength::Lambda(0.1)), ..known });
        let more = train_from(&data, None, &learner, &plain.model, &mut Unwatched).unwrap();
        let anew = fitted(&data, &learner);
        assert_eq!(more.model.about.settings["scale"], "standard");
        let (more, anew) = (more.risk().unwrap().objective, anew.risk().unwrap().objective);
        assert!((more - anew).abs() <= 1e-3 * anew, "{name:?}: {more} {anew}");
    }
}

#[test]
fn the_default_learner_is_logistic_by_any_name() {
    assert_eq!(Learner::default(), LearnerName::Logistic.learner());
    assert_eq!(Learner::default(), novikoff::LogisticRegression::new().into());
    assert_eq!(LearnerName::Network.learner(), novikoff::MultilayerPerceptron::new().into());
}

/// Rows with columns of all kinds: an indicator, a year, a heavy tail, a constant, one that is mostly zero.
fn table(count: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let mut signal = Vec::new();
    let rows: Vec<Vec<f64>> = (0..count)
        .map(|_| {
            let z = random.normal();
            signal.push(z + 0.5 * random.normal() > 0.0);
            vec![
                f64::from(u8::from(z > 0.3)),
                (1990.0 + 12.0 * z).round(),
                (2.0 * random.normal()).exp() * 1e-3,
                7.0,
                if random.below(20) == 0 { 100.0 * z } else { 0.0 },
            ]
        })
        .collect();
    labelled(&rows, |i| signal[i])
}

/// The rows as the documentation says that perceptrons see them.
fn standardised(data: &Dataset, centred: bool) -> Dataset<'static> {
    let (n, columns) = (data.len(), data.rows.columns());
    let factors = Scale::Standard.factors(&data.rows, &data.row_weights);
    let mut rows = vec![0.0; n * columns];
    (0..n).for_each(|i| data.rows.row(i).for_each_nonzero(|j, x| rows[i * columns + j as usize] = x));
    for j in 0..columns {
        let column: Vec<f64> = (0..n).map(|i| rows[i * columns + j]).collect();
        let values: Vec<f64> = column.iter().copied().filter(|x| *x != 0.0).collect();
        let is_constant = values.len() == n && values.iter().all(|x| *x == values[0]);
        let is_indicator = values.iter().all(|x| *x == values[0]) && !is_constant;
        let unit = 0.25 / factors[j];
        let centre = match centred && 2 * values.len() >= n && !is_indicator {
            true if is_constant => values[0],
            true => (column.iter().sum::<f64>() / n as f64 / unit).round() * unit,
            false => 0.0,
        };
        (0..n).for_each(|i| rows[i * columns + j] = (column[i] - centre) * factors[j]);
    }
    let labels: Vec<&str> =
        data.labels.iter().map(|label| data.names.names()[*label as usize].as_str()).collect();
    Dataset::from_dense(rows, columns).unwrap().with_labels(&labels).unwrap()
}

#[test]
fn a_model_of_raw_rows_says_what_a_run_on_standardised_ones_says() {
    for (seed, bias) in (0..4).flat_map(|seed| [(seed, Bias::Free), (seed, Bias::None)]) {
        let data = table(300, seed);
        for name in [
            LearnerName::Perceptron,
            LearnerName::Averaged,
            LearnerName::Voted,
            LearnerName::PassiveAggressive,
            LearnerName::Network,
        ] {
            let rows = standardised(&data, bias == Bias::Free);
            let learner = name.learner().with_bias(bias).with_epochs(5);
            let (own, by_hand) =
                (fitted(&data, &learner), fitted(&rows, &learner.clone().with_scale(Scale::None)));
            let (runs, hands) = (own.history().unwrap(), by_hand.history().unwrap());
            assert_eq!(runs.mistakes, hands.mistakes, "{name:?} {bias:?}");
            let (a, b) = (own.model.scores(&data).unwrap(), by_hand.model.scores(&rows).unwrap());
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "{name:?} {bias:?}: {a} {b}");
            }
            let (run, hand) = (own.run(), by_hand.run());
            if let (Some(run), Some(hand)) = (run, hand) {
                assert_eq!((run.scale, hand.scale), (Scale::Standard, Scale::None));
                let bound =
                    |run: &novikoff::train::RunDetails| run.promise.as_ref().map(|promise| promise.bound);
                assert_eq!((bound(run), run.geometry), (bound(hand), hand.geometry), "{name:?} {bias:?}");
            }
        }
    }
}

#[test]
fn a_run_on_scaled_rows_claims_no_bound_of_raw_ones() {
    let data = table(300, 1);
    let fit = fitted(&data, &LearnerName::Averaged.learner());
    assert!(fit.run().unwrap().promise.is_some());
    let error = fit.certificate(&data).unwrap_err();
    assert!(error.what().contains("scaled rows") && error.advice().unwrap().contains("`scale = none`"));
    // Rows of indicators are of one size already: nothing is scaled, and everything can be claimed.
    let rows: Vec<Vec<f64>> = (0..40u8).map(|i| vec![f64::from(i % 2), f64::from(i % 3 == 0)]).collect();
    let data = labelled(&rows, |i| i % 2 == 0);
    let fit = fitted(&data, &LearnerName::Perceptron.learner());
    assert_eq!((fit.termination, fit.run().unwrap().scale), (Termination::Separated, Scale::None));
    assert_eq!(fit.certificate(&data).unwrap().claims.len(), 2);
}

/// Both checkers on a certificate.
fn verdicts(certificate: &novikoff::certificate::Certificate, data: &Dataset) -> [bool; 2] {
    let rows = Rows::from_canonical(&canonical(data)).unwrap();
    let exact = novikoff_checker::check(&certificate.to_text(), &rows, None).unwrap();
    [certificate.check(data).iter().all(|claim| claim.holds), exact.iter().all(|verdict| verdict.holds)]
}

fn tight(scale: Scale) -> Learner {
    let risk = Risk {
        strength: Some(Strength::Lambda(0.1)),
        tolerance: 1e-8,
        scale,
        ..Risk::of(LossName::Logistic)
    };
    LearnerName::Logistic.learner().with_risk(risk)
}

#[test]
fn a_certificate_of_one_scale_is_none_of_another() {
    use novikoff::certificate::Claim;
    let data = table(200, 5);
    let certificate = fitted(&data, &tight(Scale::Standard)).certificate(&data).unwrap();
    assert_eq!(verdicts(&certificate, &data), [true; 2]);
    for other in [Scale::None, Scale::MaxAbs, Scale::UnitVariance] {
        let mut forged = certificate.clone();
        let Claim::NearOptimal { objective, .. } = &mut forged.claims[0] else { panic!() };
        objective.scale = other;
        assert_eq!(verdicts(&forged, &data), [false; 2], "{other:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// A factor of two would show: the gap is 1e-8.
    #[test]
    fn both_checkers_find_the_sizes_that_rows_were_scaled_by(
        steps in prop::collection::vec(-2i64..3, 3),
        exponents in prop::collection::vec(-30i32..30, 3),
        pairs in 4usize..12,
        bias in prop::sample::select(vec![Bias::Free, Bias::Penalised, Bias::None]),
        weighted in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        // The variance is next to the middle between two sizes.
        let near = |j: usize| f64::from_bits((2f64.powi(exponents[j]).to_bits() as i64 + steps[j]) as u64);
        let rows: Vec<Vec<f64>> = (0..4 * pairs)
            .map(|i| (0..3).map(|j| [near(j), -2f64.powi(exponents[j]), 0.0, 0.0][(i + j) % 4]).collect())
            .collect();
        let signs: Vec<bool> = (0..rows.len()).map(|i| i == 0 || i != 1 && random.below(2) == 0).collect();
        let mut data = labelled(&rows, |i| signs[i]);
        if weighted {
            data.row_weights = (0..rows.len()).map(|i| [1.0, 0.0, 2.5, 1.0][i / 4 % 4]).collect();
        }
        let fit = fitted(&data, &tight(Scale::Standard).with_bias(bias));
        prop_assert_eq!(fit.termination, Termination::Converged);
        prop_assert_eq!(verdicts(&fit.certificate(&data).unwrap(), &data), [true; 2]);
    }

    /// Constant columns, the ends of the exponent range, rows that do not count: a model, or an error.
    #[test]
    fn nothing_that_columns_can_be_leads_to_a_false_claim(
        kinds in prop::collection::vec(0usize..8, 1..5),
        count in 2usize..25,
        name in prop::sample::select(LINEAR.to_vec()),
        bias in prop::sample::select(vec![Bias::Free, Bias::Penalised, Bias::None]),
        weighted in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let mut value = |kind: usize| match kind {
            0 => 5.0,
            1 => random.normal() * 1e300,
            2 => random.normal() * 1e-310,
            3 => 1.7e18 + 300.0 * random.normal().round(),
            4 => if random.below(9) == 0 { random.normal() } else { 0.0 },
            5 => f64::from(random.below(2) as u8) * 1e200,
            6 => 0.0,
            _ => random.normal(),
        };
        let rows: Vec<Vec<f64>> =
            (0..count).map(|_| kinds.iter().map(|kind| value(*kind)).collect()).collect();
        let mut data = labelled(&rows, |i| i % 2 == 0);
        if weighted {
            data.row_weights = (0..count).map(|i| [1.0, 1.0, 0.0, 0.5][i % 4]).collect();
        }
        let learner = name.learner().with_bias(bias).with_epochs(3);
        let Ok(fit) = train(&data, None, &learner, &mut Unwatched) else { return Ok(()) };
        if let Scorer::Linear(weights) = &fit.model.scorer {
            prop_assert!(weights.values.iter().chain(&weights.bias).all(|w| w.is_finite()));
        }
        to_bytes(&fit.model).unwrap();
        if let Ok(certificate) = fit.certificate(&data) {
            prop_assert!(verdicts(&certificate, &data)[0], "{:?}", certificate.check(&data));
        }
    }
}

#[test]
fn least_squares_without_a_penalty_and_the_largest_margin_are_of_the_rows_as_they_are() {
    let data = Recipe { rows: 50, features: 3, margin: 0.2, ..Recipe::default() }.generate();
    let fit = fitted(&data, &LearnerName::MaxMargin.learner());
    assert!(!fit.model.about.settings.contains_key("scale"));
    let targets: Vec<f64> = (0..50).map(|i| data.rows.row(i).norm_sq()).collect();
    let data = data.with_targets(&targets).unwrap();
    let free = fitted(&data, &LearnerName::LeastSquares.learner());
    assert!(!free.model.about.settings.contains_key("scale"));
    let ridge = Risk { strength: Some(Strength::Lambda(0.1)), ..Risk::of(LossName::Squared) };
    let ridge = fitted(&data, &LearnerName::LeastSquares.learner().with_risk(ridge));
    assert_eq!(ridge.model.about.settings["scale"], "standard");
}

#[test]
fn the_largest_margin_of_scaled_rows_is_refused() {
    let data = Recipe { rows: 50, features: 3, margin: 0.2, ..Recipe::default() }.generate();
    for scale in [Scale::Standard, Scale::MaxAbs, Scale::UnitVariance] {
        let error = MaxMargin::new().scale(scale).fit(&data).unwrap_err();
        assert!(error.what().contains("the largest margin is one of the rows as they are"), "{error}");
    }
    assert!(MaxMargin::new().scale(Scale::None).fit(&data).is_ok());
}

/// A hint that is followed must help: no scale makes a difference to these learners.
#[test]
fn direct_methods_do_not_hint_at_a_scale() {
    let rows = [[1e160, 1.0], [-1e160, 2.0], [3e159, 0.5], [1.0, -1.0], [2e159, -2.0]];
    let targets = [1.0, -0.5, 2.0, 0.25, 3.0];
    let data = Dataset::from_dense(rows.concat(), 2).unwrap().with_targets(&targets).unwrap();
    let fit = fitted(&data, &LearnerName::LeastSquares.learner());
    assert_eq!(fit.termination, Termination::NotConverged);
    let obstacle = fit.risk().unwrap().obstacle.as_deref().unwrap();
    assert!(obstacle.starts_with("the largest column is") && !obstacle.contains("scale"), "{obstacle}");
}

#[test]
fn columns_that_are_next_to_nothing_are_not_said_to_be_large() {
    let rows: Vec<f64> = (0..20).flat_map(|i| [f64::from(i % 3) * 5e-324, f64::from(i % 7)]).collect();
    let targets: Vec<f64> = (0..20).map(|i| f64::from((i * 5) % 11)).collect();
    let data = Dataset::from_dense(&rows, 2).unwrap().with_targets(&targets).unwrap();
    let error = train(&data, None, &LearnerName::Huber.learner(), &mut Unwatched).unwrap_err();
    assert!(error.what().contains("so small"), "{error}");
}

#[test]
fn a_model_knows_the_spread_of_its_columns() {
    let data = table(500, 2);
    for name in [LearnerName::Logistic, LearnerName::Averaged] {
        let model = fitted(&data, &name.learner()).model;
        let weights = model.scorer.weights().unwrap();
        assert_eq!(weights.spreads.len(), 5);
        assert_eq!((weights.spreads[3], weights.effect(3, 0)), (0.0, Some(0.0)), "constant");
        assert!((10.0..14.0).contains(&weights.spreads[1]) && (0.4..0.5).contains(&weights.spreads[0]));
        let effect = weights.effect(1, 0).unwrap();
        assert_eq!(effect, weights.weight(1, 0).abs() * f64::from(weights.spreads[1]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        save(&model, &path).unwrap();
        assert_eq!(load(&path).unwrap(), model);
    }
}

#[test]
fn both_checkers_find_the_scale_of_rows_with_any_weights() {
    let mut random = Random::new(1);
    let rows: Vec<Vec<f64>> = (0..10_000).map(|_| vec![1.7e9 + random.normal()]).collect();
    for weight in [0.1, 0.3, 0.7] {
        let data =
            labelled(&rows, |i| rows[i][0] > 1.7e9).with_row_weights(&vec![weight; rows.len()]).unwrap();
        let fit = fitted(&data, &LearnerName::Logistic.learner());
        assert!(fit.train_error.unwrap() < 0.01, "{weight}");
        assert_eq!(verdicts(&fit.certificate(&data).unwrap(), &data), [true; 2], "{weight}");
    }
}
