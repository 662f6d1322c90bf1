//! When training ends, and which model it returns then.

use super::cases::{Case, dataset, epoch_cases, every_case, fit, inseparable, numbers, rows_for, separable};
use crate::with::With;
use novikoff::control::{Flow, Progress, Termination, Unwatched};
use novikoff::model::{from_bytes, to_bytes};
use novikoff::train::{Learner, train};

fn with(case: &Case, change: impl FnOnce(Learner) -> Learner) -> Case {
    Case { settings: change(case.settings.clone()), ..case.clone() }
}

#[test]
fn an_observer_that_stops_at_once_gets_a_usable_model() {
    for case in epoch_cases() {
        let data = inseparable(case.classes, 3000, 1);
        let fit = train(&data, None, &case.settings, &mut |_| Flow::Stop).unwrap();
        assert_eq!(
            (fit.termination, fit.history().unwrap().epochs.len()),
            (Termination::Interrupted, 1),
            "{case}"
        );
        assert!(numbers(&fit.model.scorer).iter().all(|x| x.is_finite()), "{case}");
        assert!(fit.history().unwrap().mistakes < 3000 * case.classes as u64, "{case}: not the whole epoch");
        from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap();
    }
}

#[test]
fn an_observer_that_stops_at_any_moment_gets_a_usable_model() {
    for case in every_case() {
        let data = rows_for(&case, 60, 3);
        for moment in (0..25).chain([40, 80, 160, 320]) {
            let mut asked = 0;
            let mut watch = |_| {
                asked += 1;
                if asked > moment { Flow::Stop } else { Flow::Continue }
            };
            let fit = train(&data, None, &case.settings, &mut watch).unwrap();
            assert!(numbers(&fit.model.scorer).iter().all(|x| x.is_finite()), "{case}, {moment}");
            from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap();
        }
    }
}

#[test]
fn an_observer_that_stops_after_an_epoch_gets_the_model_of_that_epoch() {
    for case in epoch_cases() {
        let data = inseparable(case.classes, 60, 2);
        let mut epochs = 0;
        let mut watch = |progress| {
            epochs += usize::from(matches!(progress, Progress::Epoch(_)));
            if epochs == 2 { Flow::Stop } else { Flow::Continue }
        };
        let stopped = train(&data, None, &case.settings, &mut watch).unwrap();
        assert_eq!(
            (stopped.termination, stopped.history().unwrap().best),
            (Termination::Interrupted, 2),
            "{case}"
        );
        let two = fit(&with(&case, |s| s.with_epochs(2)), &data);
        assert_eq!(two.termination, Termination::OutOfEpochs, "{case}");
        assert_eq!(numbers(&stopped.model.scorer), numbers(&two.model.scorer), "{case}");
    }
}

/// Validation rows that come once with each label: whatever the model, their error is the same, and the first
/// epoch is the best.
#[test]
fn if_no_epoch_is_better_than_the_first_its_model_is_returned() {
    for case in epoch_cases() {
        let (data, held) = (inseparable(case.classes, 60, 3), inseparable(case.classes, 12, 4));
        for patience in [1, 4] {
            let case = with(&case, |s| s.with_patience(patience));
            let watched = train(&data, Some(&held), &case.settings, &mut Unwatched).unwrap();
            assert_eq!(
                (watched.termination, watched.history().unwrap().best),
                (Termination::ValidationError, 1),
                "{case}"
            );
            assert_eq!(watched.history().unwrap().epochs.len(), 1 + patience, "{case}");
            let one = fit(&with(&case, |s| s.with_epochs(1)), &data);
            assert_eq!(numbers(&watched.model.scorer), numbers(&one.model.scorer), "{case}");
        }
    }
}

#[test]
fn the_model_returned_is_that_of_the_epoch_with_the_least_validation_error() {
    let mut later = 0;
    for case in epoch_cases() {
        for seed in 0..5 {
            let (mut data, held) = separable(case.classes, 150, seed).split(0.4, seed).unwrap();
            // Wrong labels, so that epochs differ.
            for i in (0..data.len()).step_by(7) {
                data.labels[i] = (data.labels[i] + 1) % case.classes as u32;
            }
            let case = with(&case, |s| s.with_patience(3).with_epochs(30));
            let watched = train(&data, Some(&held), &case.settings, &mut Unwatched).unwrap();
            let errors: Vec<f64> =
                watched.history().unwrap().epochs.iter().map(|e| e.validation_error.unwrap()).collect();
            let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(
                Some(watched.history().unwrap().best - 1),
                errors.iter().position(|&e| e == least),
                "{case}: {errors:?}"
            );
            if watched.termination == Termination::ValidationError {
                assert_eq!(
                    watched.history().unwrap().epochs.len(),
                    watched.history().unwrap().best + 3,
                    "{case}: {errors:?}"
                );
            }
            let same = fit(&with(&case, |s| s.with_epochs(watched.history().unwrap().best)), &data);
            assert_eq!(numbers(&watched.model.scorer), numbers(&same.model.scorer), "{case}");
            later += usize::from(watched.history().unwrap().best > 1);
        }
    }
    assert!(later > 20, "{later}: nothing was tested");
}

#[test]
fn epochs_are_counted_and_run_out() {
    for case in epoch_cases() {
        let fit = fit(&with(&case, |s| s.with_epochs(4)), &inseparable(case.classes, 30, 5));
        assert_eq!(
            (fit.termination, fit.history().unwrap().epochs.len(), fit.history().unwrap().best),
            (Termination::OutOfEpochs, 4, 4),
            "{case}"
        );
        assert_eq!(
            fit.history().unwrap().mistakes,
            fit.history().unwrap().epochs.iter().map(|e| e.mistakes).sum::<u64>(),
            "{case}"
        );
        assert_eq!(
            fit.history().unwrap().updates,
            fit.history().unwrap().epochs.iter().map(|e| e.updates).sum::<u64>(),
            "{case}"
        );
    }
}

#[test]
fn validation_rows_without_a_label_of_training_are_no_panic() {
    for case in every_case() {
        let data = rows_for(&case, 30, 1);
        let mut held = dataset(&[vec![0.5; data.rows.columns()]], &["1"]);
        held.names = data.names.clone();
        assert!(train(&data, Some(&held), &case.settings, &mut Unwatched).is_ok(), "{case}");
    }
}
