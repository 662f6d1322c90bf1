//! Checks that every learner must pass, the batch learners included.

use super::cases::{dataset, numbers, renamed};
use super::learners::{Conforming, EVERY_LEARNER, Task, every_learner, is_listed};
use novikoff::ErrorKind;
use novikoff::control::{Flow, Unwatched};
use novikoff::data::Dataset;
use novikoff::evaluate::score_all;
use novikoff::model::{Model, from_bytes, to_bytes};
use novikoff::train::LearnerName;

fn bytes(model: &Model) -> Vec<u8> {
    to_bytes(model).unwrap()
}

fn scores(model: &Model, data: &Dataset) -> Vec<f64> {
    score_all(&model.scorer, data)
}

/// Asserts that scores agree within a share of the largest.
fn assert_close(a: &[f64], b: &[f64], tolerance: f64, name: &str) {
    assert_eq!(a.len(), b.len(), "{name}");
    let largest = a.iter().fold(1.0f64, |most, s| most.max(s.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * largest, "{name}: {a} and {b}");
    }
}

/// The optimum is reached within a relative gap of 1e-8, which leaves weights some freedom.
const WITHIN_GAP: f64 = 2e-3;
/// Sums over dense rows of other lengths are rounded otherwise.
const ROUNDING: f64 = 1e-12;

/// Rows with a column more, or less, than the model was trained on.
fn reshaped(data: &Dataset, columns: usize, value: f64) -> Dataset<'static> {
    let mut rows = Vec::new();
    for i in 0..data.len() {
        let mut row = vec![value; columns.max(data.rows.columns())];
        row[..data.rows.columns()].fill(0.0);
        data.rows.row(i).for_each_nonzero(|j, x| row[j as usize] = x);
        row.truncate(columns);
        rows.push(row);
    }
    let names: Vec<&str> = data.labels.iter().map(|&label| &data.names.names()[label as usize][..]).collect();
    dataset(&rows, &names)
}

#[test]
fn the_table_has_every_learner() {
    let mut names: Vec<&str> = every_learner().iter().map(Conforming::learner).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), EVERY_LEARNER, "{names:?}");
    assert!(LearnerName::ONLINE.into_iter().chain(LearnerName::BATCH).all(is_listed));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for case in every_learner() {
        let data = case.rows(60, 1);
        for seed in [0, 7] {
            let case = case.with_seed(seed);
            assert_eq!(bytes(&case.fit(&data).model), bytes(&case.fit(&data).model), "{}", case.name);
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_byte_of_any_model() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, three) = (pool(1), pool(3));
    for case in every_learner() {
        let data = case.rows(300, 2);
        let model = || bytes(&case.fit(&data).model);
        assert!(one.install(model) == three.install(model), "{}", case.name);
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    for case in every_learner() {
        if let Some(why) = case.weight_skip {
            println!("skipped: {}: {why}", case.name);
            continue;
        }
        let data = case.rows(60, 3);
        let twice = data.select(&(0..60).flat_map(|i| vec![i; 1 + i % 2]).collect::<Vec<_>>());
        let mut weighted = data.clone();
        weighted.row_weights = (0..60).map(|i| (1 + i % 2) as f64).collect();
        let (a, b) = (case.fit(&twice).model, case.fit(&weighted).model);
        assert_close(&scores(&a, &data), &scores(&b, &data), WITHIN_GAP, &case.name);
    }
}

#[test]
fn a_loaded_model_scores_to_the_bit_as_the_saved_one() {
    for case in every_learner() {
        let model = case.fit(&case.rows(60, 4)).model;
        let loaded = from_bytes(&bytes(&model), "memory").unwrap();
        assert_eq!(loaded, model, "{}", case.name);
        let unseen = case.rows(60, 5);
        let bits = |model: &Model| scores(model, &unseen).into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(&loaded), bits(&model), "{}", case.name);
    }
}

#[test]
fn renamed_labels_in_the_same_order_change_no_number() {
    for case in every_learner().into_iter().filter(Conforming::predicts_classes) {
        let (Task::Classes(classes) | Task::Counts(classes)) = case.task else { continue };
        let data = case.rows(60, 6);
        let other = renamed(&data, &["ham", "maybe", "spam"][..classes]);
        let (a, b) = (case.fit(&data).model, case.fit(&other).model);
        assert_eq!(numbers(&a.scorer), numbers(&b.scorer), "{}", case.name);
    }
}

#[test]
fn no_rows_one_class_and_no_weight_are_errors() {
    for case in every_learner() {
        let error = case.attempt(&dataset(&[], &[]), &mut Unwatched).unwrap_err();
        assert!(error.what().contains("no rows"), "{}: {error}", case.name);
        let mut weightless = case.rows(12, 1);
        weightless.row_weights = vec![0.0; weightless.len()];
        let error = case.attempt(&weightless, &mut Unwatched).unwrap_err();
        assert!(error.what().contains("weight"), "{}: {error}", case.name);
        if case.predicts_classes() {
            let one = dataset(&[vec![1.0], vec![2.0]], &["spam", "spam"]);
            let error = case.attempt(&one, &mut Unwatched).unwrap_err();
            assert!(error.what().contains("spam") && error.advice().is_some(), "{}: {error}", case.name);
        }
    }
}

#[test]
fn a_column_of_zeros_changes_no_prediction() {
    for case in every_learner() {
        if let Some(why) = case.zero_column_skip {
            println!("skipped: {}: {why}", case.name);
            continue;
        }
        let data = case.rows(60, 7);
        let wider = reshaped(&data, data.rows.columns() + 2, 0.0);
        let (a, b) = (scores(&case.fit(&data).model, &data), scores(&case.fit(&wider).model, &wider));
        assert_close(&a, &b, WITHIN_GAP, &case.name);
    }
}

#[test]
fn unknown_columns_are_ignored_and_missing_ones_are_zero() {
    for case in every_learner() {
        let data = case.rows(40, 8);
        let (columns, model) = (data.rows.columns(), case.fit(&data).model);
        let wider = reshaped(&data, columns + 3, 5.0);
        assert_close(&scores(&model, &wider), &scores(&model, &data), ROUNDING, &case.name);
        let narrow = reshaped(&data, columns - 1, 0.0);
        let zeroed = reshaped(&narrow, columns, 0.0);
        assert_close(&scores(&model, &narrow), &scores(&model, &zeroed), ROUNDING, &case.name);
    }
}

#[test]
fn interrupted_training_gives_a_finite_model_or_says_that_it_was_interrupted() {
    for case in every_learner() {
        match case.attempt(&case.rows(400, 9), &mut |_| Flow::Stop) {
            Ok(fit) => {
                assert!(numbers(&fit.model.scorer).iter().all(|x| x.is_finite()), "{}", case.name);
                from_bytes(&bytes(&fit.model), "memory").unwrap();
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{}: {error}", case.name),
        }
    }
}
