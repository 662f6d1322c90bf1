//! What is learned.

use super::cases::{
    Case, bayes_cases, cases, confusing_rows_for, every_case, fit, linear_cases, numbers, predictions,
    renamed, rows_for, separable, truths,
};
use crate::with::{Own, With};
use novikoff::control::{Termination, Unwatched};
use novikoff::data::{Dataset, Scale};
use novikoff::evaluate::score_all;
use novikoff::model::{from_bytes, to_bytes};
use novikoff::multiclass::Scheme;
use novikoff::online::rule::Length;
use novikoff::train::{Fit, LearnerName, train};

#[test]
fn every_learner_separates_separable_rows_and_says_so() {
    for case in cases() {
        let data = separable(case.classes, 120, 3);
        let fit = fit(&case, &data);
        assert_eq!(
            fit.termination,
            Termination::Separated,
            "{case}: {:?}",
            fit.history().unwrap().epochs.last()
        );
        assert_eq!(fit.scheme, case.scheme, "{case}");
        // The average, or the majority, of a run that ends in a separating vector need not separate by
        // itself.
        let most = if matches!(case.settings.named().unwrap(), LearnerName::Averaged | LearnerName::Voted) {
            0.02
        } else {
            0.0
        };
        assert!(fit.train_error.unwrap() <= most, "{case}: {:?}", fit.train_error);
        let last = fit.history().unwrap().epochs.last().unwrap();
        assert_eq!((last.mistakes, last.updates), (0, 0), "{case}");
    }
}

#[test]
fn train_error_is_the_share_of_rows_predicted_wrongly() {
    for case in every_case() {
        let data = confusing_rows_for(&case, 60, 4);
        let fit = fit(&Case { settings: case.settings.clone().with_epochs(2), ..case.clone() }, &data);
        let wrong = predictions(&fit.model, &data).iter().zip(truths(&data)).filter(|(p, t)| *p != t).count();
        assert_eq!(fit.train_error, Some(wrong as f64 / data.len() as f64), "{case}");
    }
}

#[test]
fn a_saved_and_loaded_model_scores_to_the_bit_as_before() {
    for case in every_case() {
        let data = rows_for(&case, 80, 5);
        let model = fit(&case, &data).model;
        let loaded = from_bytes(&to_bytes(&model).unwrap(), "memory").unwrap();
        let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let unseen = rows_for(&case, 80, 6);
        assert_eq!(
            bits(score_all(&loaded.scorer, &unseen)),
            bits(score_all(&model.scorer, &unseen)),
            "{case}"
        );
        assert_eq!(loaded, model, "{case}");
    }
}

#[test]
fn names_of_labels_do_not_matter() {
    for case in every_case() {
        let data = rows_for(&case, 80, 7);
        let other = renamed(&data, &["ham", "maybe", "spam"][..case.classes]);
        let (numbered, named) = (fit(&case, &data).model, fit(&case, &other).model);
        assert_eq!(numbers(&numbered.scorer), numbers(&named.scorer), "{case}");
        assert_eq!(named.labels, other.names, "{case}");
    }
}

/// With the other label as the positive one, scores change their sign and nothing else happens.
#[test]
fn the_positive_label_decides_the_sign_of_scores_and_no_prediction() {
    for case in linear_cases().into_iter().chain(bayes_cases()).filter(|case| case.scheme == Scheme::Two) {
        let data = rows_for(&case, 80, 8);
        let flipped = case.settings.clone().with_positive(Some("-1".into()));
        let (usual, flipped) = (fit(&case, &data), train(&data, None, &flipped, &mut Unwatched).unwrap());
        assert_eq!(flipped.model.labels.names(), ["1", "-1"], "{case}");
        let negated: Vec<f64> = numbers(&flipped.model.scorer).iter().map(|w| -w).collect();
        assert_eq!(numbers(&usual.model.scorer), negated, "{case}");
        let counts = |fit: &Fit| fit.history().map(|history| (history.mistakes, history.updates));
        assert_eq!(counts(&usual), counts(&flipped), "{case}");
        assert_eq!(predictions(&usual.model, &data), predictions(&flipped.model, &data), "{case}");
    }
}

/// Zero votes positive, so for votes the first vector's votes change sides: they may not outvote the others.
#[test]
fn the_positive_label_does_not_change_what_separated_rows_are_predicted_as() {
    for case in every_case().into_iter().filter(|case| case.classes == 2) {
        let data = rows_for(&case, 80, 9);
        let settings = case.settings.clone().with_positive(Some("-1".into()));
        let flipped = train(&data, None, &settings, &mut Unwatched).unwrap();
        let differing = predictions(&flipped.model, &data)
            .iter()
            .zip(predictions(&fit(&case, &data).model, &data))
            .filter(|(a, b)| *a != b)
            .count();
        assert!(differing <= 2, "{case}: {differing}");
    }
}

#[test]
fn a_positive_label_needs_to_exist_and_to_be_one_of_two() {
    for case in every_case() {
        let data = rows_for(&case, 30, 1);
        let positive = |name: &str| case.settings.clone().with_positive(Some(name.into()));
        let error = train(&data, None, &positive("spam"), &mut Unwatched).unwrap_err();
        assert!(error.what().contains("spam") && error.advice().unwrap().contains('1'), "{case}: {error}");
        if case.classes > 2 {
            let error = train(&data, None, &positive("1"), &mut Unwatched).unwrap_err();
            assert!(error.what().contains("3 labels"), "{case}: {error}");
        }
    }
}

/// Novikoff's theorem, for the very numbers that are printed. Joint classes: the same, for differences of two
/// classes.
#[test]
fn the_mistake_bound_is_never_below_the_mistakes_counted() {
    for case in
        cases().into_iter().filter(|case| LearnerName::ONLINE.contains(&case.settings.named().unwrap()))
    {
        for seed in 0..20 {
            let data = separable(case.classes, 40 + 10 * seed as usize, seed);
            let fit = fit(&case, &data);
            let Some(promise) = &fit.run().unwrap().promise else {
                panic!("{case}: no theorem speaks of it")
            };
            assert!(
                promise.bound >= fit.history().unwrap().mistakes as f64,
                "{case}: {promise:?}, {}",
                fit.history().unwrap().mistakes
            );
            assert!(fit.history().unwrap().mistakes > 0, "{case}");
        }
    }
}

/// The geometry is that of the weights returned: computed here from the definition.
#[test]
fn margin_and_radius_are_those_of_the_definition() {
    for case in linear_cases().into_iter().filter(|case| case.scheme == Scheme::Two) {
        let data = separable(2, 60, 2);
        let case = Case { settings: case.settings.clone().with_scale(Scale::None), ..case };
        let fit = fit(&case, &data);
        let all = numbers(&fit.model.scorer);
        let extra = case.settings.bias().coordinate();
        let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (mut margin, mut radius) = (f64::INFINITY, 0.0f64);
        for (i, label) in truths(&data).iter().enumerate() {
            let mut row = dense(&data, i);
            row.push(extra);
            let length = if case.settings.length() == Length::Unit { norm(&row) } else { 1.0 };
            let score: f64 = row.iter().zip(&all).map(|(x, w)| x * w).sum();
            margin = margin.min(if label == "1" { score } else { -score } / norm(&all) / length);
            radius = radius.max(norm(&row) / length);
        }
        let geometry = fit.run().unwrap().geometry.unwrap();
        assert!(
            (geometry.margin - margin).abs() < 1e-12 && (geometry.radius - radius).abs() < 1e-12,
            "{case}: {geometry:?}"
        );
    }
}

fn dense(data: &Dataset, i: usize) -> Vec<f64> {
    let mut row = vec![0.0; data.rows.columns()];
    data.rows.row(i).for_each_nonzero(|j, x| row[j as usize] = x);
    row
}
