//! Odd data: an error or a finite model, never a panic, never NaN.

use super::cases::{Case, confusing_rows_for, dataset, every_case, numbers, rows_for};
use crate::with::{Own, With};
use novikoff::ErrorKind;
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::evaluate::score_all;
use novikoff::kernel::Kernel;
use novikoff::model::{Task, from_bytes, to_bytes};
use novikoff::train::{ClassWeight, Fit, Learner, LearnerName, train};

fn attempt(case: &Case, data: &Dataset) -> novikoff::Result<Fit> {
    train(data, None, &case.settings.clone().with_epochs(20), &mut Unwatched)
}

/// The first labels of the case, in turn.
fn labels(case: &Case, rows: usize) -> Vec<&'static str> {
    (0..rows).map(|i| ["a", "b", "c"][i % case.classes]).collect()
}

fn finite(case: &Case, what: &str, data: &Dataset, fit: &Fit) {
    let geometry = fit.run().and_then(|run| run.geometry);
    assert!(numbers(&fit.model.scorer).iter().all(|x| x.is_finite()), "{case}, {what}");
    assert!(score_all(&fit.model.scorer, data).iter().all(|x| x.is_finite()), "{case}, {what}");
    assert!(
        geometry.is_none_or(|g| !g.margin.is_nan() && !g.radius.is_nan()),
        "{case}, {what}: {geometry:?}"
    );
    from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap_or_else(|e| panic!("{case}, {what}: {e}"));
}

#[test]
fn odd_rows_give_finite_models() {
    for case in every_case() {
        let rows = |values: &[[f64; 2]]| values.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
        let few = rows(&[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]][..case.classes]);
        let odd = [
            ("a row for each class", few),
            ("the same row again and again", rows(&[[1.0, 2.0]; 12])),
            ("rows of zeros", rows(&[[0.0, 0.0]; 12])),
            ("constant columns", rows(&[[3.0, -4.0]; 6])),
            ("a column of zeros", (0..12).map(|i| vec![f64::from(i), 0.0]).collect()),
            ("one column", (0..12).map(|i| vec![f64::from(i) - 5.0]).collect()),
            (
                "fewer rows than columns",
                (0..3).map(|i| (0..200).map(|j| f64::from((i * j) % 7)).collect()).collect(),
            ),
            ("no columns", vec![Vec::new(); 6]),
            ("values of -0", rows(&[[-0.0, 1.0], [0.0, -1.0], [-0.0, 0.0]])),
        ];
        for (what, rows) in odd {
            let data = dataset(&rows, &labels(&case, rows.len()));
            if case.settings.named().unwrap() == LearnerName::Bayes && rows.iter().flatten().any(|x| *x < 0.0)
            {
                let error = attempt(&case, &data).unwrap_err();
                assert!(
                    error.what().contains("a count is not negative") && error.advice().is_some(),
                    "{case}, {what}: {error}"
                );
                continue;
            }
            let fit = attempt(&case, &data).unwrap_or_else(|e| panic!("{case}, {what}: {e}"));
            finite(&case, what, &data, &fit);
        }
        finite(
            &case,
            "every row under every label",
            &confusing_rows_for(&case, 12, 1),
            &attempt(&case, &confusing_rows_for(&case, 12, 1)).unwrap(),
        );
    }
}

#[test]
fn scales_far_from_one_give_a_finite_model_or_an_error_with_a_hint() {
    let mut errors = 0;
    for case in every_case() {
        for exponent in [-320, -300, -200, -150, -100, 100, 150, 154, 200, 300, 308] {
            let scale = 10f64.powi(exponent);
            let plain = rows_for(&case, 30, 1);
            let rows: Vec<Vec<f64>> = (0..plain.len())
                .map(|i| {
                    let mut row = vec![0.0; plain.rows.columns()];
                    plain.rows.row(i).for_each_nonzero(|j, x| row[j as usize] = x * scale);
                    row
                })
                .collect();
            let names = super::cases::truths(&plain);
            let data = dataset(&rows, &names.iter().map(String::as_str).collect::<Vec<_>>());
            match attempt(&case, &data) {
                Ok(fit) => finite(&case, &format!("values of 1e{exponent}"), &data, &fit),
                Err(error) => {
                    errors += 1;
                    // Of a polynomial kernel, powers must be finite too.
                    let most = if matches!(case.settings.kernel(), Kernel::Polynomial(_)) { 99 } else { 100 };
                    assert!(exponent > most, "{case}, values of 1e{exponent}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Input, "{case}: {error}");
                    assert!(error.advice().unwrap_or_default().contains("scale"), "{case}: {error}");
                }
            }
        }
    }
    assert!(errors > 0);
}

#[test]
fn rows_of_one_class_are_an_error_with_a_hint() {
    for case in every_case() {
        let error = attempt(&case, &dataset(&[vec![1.0], vec![2.0]], &["spam", "spam"])).unwrap_err();
        assert!(error.what().contains("spam") && error.advice().is_some(), "{case}: {error}");
    }
}

#[test]
fn no_rows_are_an_error() {
    for case in every_case() {
        let error = attempt(&case, &dataset(&[], &[])).unwrap_err();
        assert!(error.what().contains("no rows"), "{case}: {error}");
    }
}

#[test]
fn rows_that_all_weigh_nothing_are_an_error() {
    for case in every_case() {
        let mut data = rows_for(&case, 12, 1);
        data.row_weights = vec![0.0; data.len()];
        let error = attempt(&case, &data).unwrap_err();
        assert!(error.what().contains("weight"), "{case}: {error}");
        let nothing = data.names.names().iter().map(|name| (name.clone(), 0.0)).collect();
        data.row_weights.clear();
        let settings = case.settings.clone().with_class_weight(ClassWeight::Given(nothing));
        assert!(train(&data, None, &settings, &mut Unwatched).is_err(), "{case}");
    }
}

#[test]
fn rows_that_weigh_nothing_are_not_learned_from() {
    for case in every_case() {
        let data = rows_for(&case, 60, 1);
        let mut doubled = data.select(&(0..60).flat_map(|i| [i, i]).collect::<Vec<_>>());
        doubled.row_weights = (0..120).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        // The second of each pair has a wrong label.
        for i in (1..120).step_by(2) {
            doubled.labels[i] = (doubled.labels[i] + 1) % case.classes as u32;
        }
        let given = case.settings.clone().with_order(novikoff::online::Order::Given).with_epochs(5);
        let model = |data: &Dataset| train(data, None, &given, &mut Unwatched).unwrap().model;
        assert_eq!(numbers(&model(&doubled).scorer), numbers(&model(&data).scorer), "{case}");
    }
}

/// Fractions, few rows for each, or numbers far apart are targets; many numbers in a row are classes. So are
/// names, unless every row has one of its own.
#[test]
fn numbers_that_are_no_classes_are_refused_with_a_hint() {
    let attempt = |labels: Vec<String>| {
        let rows: Vec<Vec<f64>> = (0..labels.len()).map(|i| vec![i as f64]).collect();
        let data = dataset(&rows, &labels.iter().map(String::as_str).collect::<Vec<_>>());
        train(&data, None, &LearnerName::Averaged.learner().with_epochs(1), &mut Unwatched)
    };
    let fractions: Vec<String> = (0..300).map(|i| format!("{}.5", i % 30)).collect();
    let few = (0..40).map(|i| i.to_string()).collect();
    let prices = (0..2000).map(|i| (i % 150 * 100).to_string()).collect();
    for targets in [fractions, few, prices] {
        let error = attempt(targets.clone()).unwrap_err();
        assert!(
            error.what().contains("look like numbers") && error.advice().unwrap().contains("regression"),
            "{error}"
        );
        let Learner::Perceptron(told) = LearnerName::Averaged.learner().with_epochs(1) else { panic!() };
        let rows = vec![1.0; targets.len()];
        let data = Dataset::from_dense(&rows, 1).unwrap().with_labels(&targets).unwrap();
        assert!(told.task(Task::Classes).fit(&data).is_ok());
    }
    let own_names: Vec<String> = (0..40).map(|i| format!("name {i}")).collect();
    assert!(attempt(own_names).unwrap_err().what().contains("40 different labels in 40 rows"));
    let classes = (0..2000).map(|i| (i % 150).to_string()).collect();
    let names = (0..80).map(|i| format!("name {}", i % 40)).collect();
    for labels in [classes, names] {
        assert!(attempt(labels).is_ok());
    }
}
