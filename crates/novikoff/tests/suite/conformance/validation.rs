//! Rows that are held back from training: what every learner says of them, and that they change nothing else.

use super::learners::{Conforming, Task, every_learner};
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::evaluate::{Evaluation, evaluate, score_all};
use novikoff::train::{Fit, Validation};

fn held_back(conforming: &Conforming, seed: u64) -> (Dataset<'static>, Dataset<'static>, Fit) {
    let (mut data, held_out) = conforming.rows(90, seed).split(0.3, seed).unwrap();
    if let (Task::Classes(classes) | Task::Counts(classes), true) =
        (conforming.task, conforming.learner() != "max-margin")
    {
        // Wrong labels, so that models are wrong about some rows.
        (0..data.len()).step_by(4).for_each(|i| data.labels[i] = (data.labels[i] + 1) % classes as u32);
    }
    let fit = conforming.validated(&data, &held_out, &mut Unwatched).unwrap();
    (data, held_out, fit)
}

#[test]
fn what_is_said_of_validation_rows_is_what_evaluate_says_of_the_model_returned() {
    let mut wrong = 0;
    for conforming in every_learner() {
        for seed in 0..3 {
            let (_, held_out, fit) = held_back(&conforming, seed);
            let name = &conforming.name;
            let results = &fit.model.about.results;
            match (fit.validation.unwrap(), evaluate(&fit.model, &held_out).unwrap()) {
                (Validation::Classes { rows, error }, Evaluation::Classes(expected)) => {
                    assert_eq!((rows, error), (27, expected.error()), "{name}");
                    assert_eq!(results["validation_error"].as_f64(), Some(error), "{name}");
                    assert_eq!(fit.validation_error(), Some(error), "{name}");
                    wrong += usize::from(error > 0.0);
                }
                (Validation::Numbers(measured), Evaluation::Numbers(expected)) => {
                    assert_eq!(measured, expected, "{name}");
                    assert_eq!(results["validation_r2"].as_f64(), expected.r2, "{name}");
                    assert_eq!(fit.validation_error(), None, "{name}");
                    assert!(expected.r2.unwrap() > 0.9, "{name}: {expected:?}");
                }
                (said, expected) => panic!("{name}: {said:?}, {expected:?}"),
            }
            assert_eq!(results["validation_rows"], 27, "{name}");
        }
    }
    assert!(wrong > 20, "{wrong}: nothing was tested");
}

#[test]
fn without_epochs_to_choose_validation_rows_change_nothing_that_is_learned() {
    let mut compared = 0;
    for conforming in every_learner() {
        let (data, held_out, fit) = held_back(&conforming, 4);
        if fit.history().is_none() {
            let alone = conforming.fit(&data);
            assert_eq!(alone.validation, None, "{}", conforming.name);
            let scores = |fit: &Fit| score_all(&fit.model.scorer, &held_out);
            assert_eq!(scores(&alone), scores(&fit), "{}", conforming.name);
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn validation_rows_that_cannot_be_measured_on_are_an_error_before_anything_is_learned() {
    for conforming in every_learner() {
        let (data, held_out) = conforming.rows(40, 5).split(0.3, 5).unwrap();
        let attempt = |held_out: &Dataset| {
            let mut observer = |_| panic!("{}: something was learned", conforming.name);
            conforming.validated(&data, held_out, &mut observer).unwrap_err().to_string()
        };
        assert!(attempt(&held_out.select(&[])).contains("no validation rows"), "{}", conforming.name);
        let mut strange = held_out.clone();
        strange.names.intern("strange");
        // Of classes, a label that no row to learn from has counts as wrong: it is an error if all are.
        let label = strange.names.len() as u32 - 1;
        strange.labels.fill(label);
        assert!(attempt(&strange).contains("\"strange\""), "{}", conforming.name);
    }
}
