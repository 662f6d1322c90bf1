//! From rows to probabilities: learned, scored by models that did not see the rows, fitted, measured.

use crate::with::With;
use novikoff::control::Unwatched;
use novikoff::data::generate::Recipe;
use novikoff::data::{Dataset, Labels, Scale};
use novikoff::evaluate::{
    CalibrationMethod, Classification, Evaluation, Folds, Strata, calibrate, cross_fit, evaluate,
};
use novikoff::model::{Calibration, Model, Scorer, from_bytes, to_bytes};
use novikoff::train::{Fit, LearnerName, train};

fn noisy(rows: usize, seed: u64) -> Dataset<'static> {
    Recipe { rows, features: 5, margin: 0.01, noise: 0.15, seed, ..Recipe::default() }.generate()
}

fn fit(learner: LearnerName, data: &Dataset) -> Fit {
    train(data, None, &learner.learner(), &mut Unwatched).unwrap()
}

fn measured(model: &Model, data: &Dataset) -> Classification {
    let Evaluation::Classes(measured) = evaluate(model, data).unwrap() else { panic!("classes") };
    measured
}

/// Three classes: which of the first three values is the largest, now and then another.
fn three_classes(seed: u64) -> Dataset<'static> {
    let mut data = noisy(600, seed);
    let largest = |i: usize| {
        let mut values = [0.0; 3];
        data.rows
            .row(i)
            .for_each_nonzero(|j, x| values.iter_mut().skip(j as usize).take(1).for_each(|v| *v = x));
        (0..3).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap() as u32
    };
    data.labels =
        (0..data.len()).map(|i| if i % 7 == 0 { (largest(i) + 1) % 3 } else { largest(i) }).collect();
    data.names = Labels::new(["a", "b", "c"]);
    data
}

#[test]
fn the_log_loss_of_logistic_regression_is_what_it_minimised() {
    for seed in 0..5 {
        for (data, meaning) in
            [(noisy(600, seed), Calibration::Logistic), (three_classes(seed), Calibration::Softmax)]
        {
            let raw = LearnerName::Logistic.learner().with_scale(Scale::None);
            let fit = train(&data, None, &raw, &mut Unwatched).unwrap();
            assert_eq!(fit.model.probabilities, Some(meaning));
            let (risk, Scorer::Linear(weights)) = (fit.risk().unwrap(), &fit.model.scorer) else {
                panic!("weights")
            };
            let penalty = risk.lambda / 2.0 * weights.values.iter().map(|w| w * w).sum::<f64>();
            let log_loss = measured(&fit.model, &data).log_loss.unwrap();
            assert!(
                (log_loss - (risk.objective - penalty)).abs() < 1e-9,
                "{log_loss} {} {penalty}",
                risk.objective
            );
        }
    }
}

#[test]
fn cross_fitted_probabilities_hold_on_rows_that_nobody_saw() {
    for seed in 0..3 {
        // Many rows: steps fitted to few say "never" too easily, and each such row costs 34.
        let (data, held) = noisy(5000, seed).split(0.4, seed).unwrap();
        let mut model = fit(LearnerName::Averaged, &data).model;
        let before = measured(&model, &held);
        let folds = Folds::deal(Strata::Classes(&data.labels), 5, seed).unwrap();
        let scores =
            cross_fit(&data, &folds, |part| Ok(fit(LearnerName::Averaged, part).model.scorer)).unwrap();
        for method in [CalibrationMethod::Platt, CalibrationMethod::Isotonic] {
            model.probabilities = Some(calibrate(method, &scores, 1, &data.labels, &[]).unwrap());
            let after = measured(&from_bytes(&to_bytes(&model).unwrap(), "model").unwrap(), &held);
            let log_loss = after.log_loss.unwrap();
            // Knowing nothing costs ln 2; knowing all but the noise of 15 % costs 0.42.
            assert!(log_loss > 0.35 && log_loss < 0.6, "{method:?}: {log_loss}");
            assert_eq!(
                (after.wrong, &after.confusion),
                (before.wrong, &before.confusion),
                "probabilities do not decide"
            );
        }
    }
}

#[test]
fn a_model_learned_on_scaled_rows_applies_to_raw_ones() {
    let data = noisy(600, 7);
    let huge = Dataset { rows: data.rows.scaled(&[1e6, 1e-6, 1.0, 1e3, 1e-3]), ..data.clone() };
    for scale in [Scale::UnitVariance, Scale::MaxAbs, Scale::Standard] {
        let factors = scale.factors(&huge.rows, &huge.row_weights);
        let level = Dataset { rows: huge.rows.scaled(&factors), ..huge.clone() };
        let mut model = fit(LearnerName::Svm, &level).model;
        let expected = measured(&model, &level);
        let Scorer::Linear(weights) = &mut model.scorer else { panic!("weights") };
        weights.fold_back(&factors);
        assert_eq!(measured(&model, &huge), expected);
        assert!(expected.error() < 0.25, "{}", expected.error());
    }
}
