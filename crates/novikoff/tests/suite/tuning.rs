//! Cross-validation against models of each fold that were trained by themselves.

use novikoff::ErrorKind;
use novikoff::control::{Flow, Progress, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::data::{Dataset, Labels};
use novikoff::evaluate::{Folds, Metric, Predictions, Strata};
use novikoff::model::Task;
use novikoff::train::{
    End, Learner, LearnerName, NaiveBayes, Risk, Search, Strength, cross_validate, train, tune,
};
use proptest::prelude::*;

/// Rows of two classes, or of targets; some count twice, some not at all.
fn rows(count: usize, seed: u64, task: Task) -> Dataset<'static> {
    let mut data =
        Recipe { rows: count, features: 4, margin: 0.01, noise: 0.2, seed, ..Recipe::default() }.generate();
    data.row_weights = (0..count).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4]).collect();
    if task == Task::Regression {
        let target = |i: usize| {
            let mut y = ((i * 37) % 11) as f64 / 10.0;
            data.rows.row(i).for_each_nonzero(|j, x| y += f64::from(j + 1) * x);
            y
        };
        let targets: Vec<String> = (0..count).map(|i| target(i).to_string()).collect();
        data.names = Labels::default();
        data.labels = targets.iter().map(|target| data.names.intern(target)).collect();
    }
    data
}

fn with_value(learner: &Learner, value: f64) -> Learner {
    match learner.clone() {
        Learner::Risk(own) => Learner::Risk(Risk { strength: Some(Strength::Lambda(value)), ..own }),
        Learner::Bayes(own) => Learner::Bayes(NaiveBayes { smoothing: value, ..own }),
        other => other,
    }
}

fn exact(name: LearnerName) -> Learner {
    match name.learner() {
        Learner::Risk(risk) => Learner::Risk(Risk { tolerance: 1e-10, ..risk }),
        other => other,
    }
}

/// A learner, and what it can be tuned by.
const CASES: [(LearnerName, &[Metric]); 5] = [
    (LearnerName::Logistic, &[Metric::Error, Metric::Auc, Metric::LogLoss, Metric::F1]),
    (LearnerName::Svm, &[Metric::Error, Metric::Auc, Metric::F1]),
    (LearnerName::Bayes, &[Metric::Error, Metric::LogLoss]),
    (LearnerName::LeastSquares, &[Metric::R2, Metric::Mae, Metric::Mse]),
    (LearnerName::LeastAbsolute, &[Metric::Mae]),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn figures_of_folds_are_those_of_models_trained_by_themselves(seed in 0u64..1000, case in 0usize..5) {
        let (name, metrics) = CASES[case];
        let learner = exact(name);
        let task = if learner.predicts_numbers() { Task::Regression } else { Task::Classes };
        let mut data = rows(80, seed, task);
        if name == LearnerName::Bayes {
            data.rows = data.rows.scaled(&[0.0; 4]);
            data = Dataset::from_dense((0..320).map(|i| f64::from((i * i) % 7)).collect::<Vec<_>>(), 4)
                .map(|dense| Dataset { rows: dense.rows, ..data.clone() })
                .unwrap()
                .into_owned();
        }
        let folds = match task {
            Task::Regression => Folds::deal(Strata::Targets(&data.targets().unwrap()), 3, 0).unwrap(),
            Task::Classes => Folds::deal(Strata::Classes(&data.labels), 3, 0).unwrap(),
        };
        for &by in metrics {
            let search = Search { folds: 3, values: Some(vec![1.0, 0.01]), by: Some(by) };
            let tuned = tune(&data, &learner, &search, &mut Unwatched).unwrap();
            for tried in &tuned.path {
                for (fold, found) in tried.folds.iter().enumerate() {
                    let own = with_value(&learner, tried.value);
                    let part = data.select(&folds.training(fold));
                    let model = train(&part, None, &own, &mut Unwatched).unwrap().model;
                    let held_out = data.select(&folds.held_out(fold));
                    let expected = by.of(&Predictions::of(&model, &held_out).unwrap().measure()).unwrap();
                    let found = found.unwrap();
                    let off = (found - expected).abs() / expected.abs().max(1.0);
                    prop_assert!(off < 1e-4, "{by:?} {found} {expected}");
                }
                let mean = tried.folds.iter().flatten().sum::<f64>() / 3.0;
                prop_assert!((tried.mean.unwrap() - mean).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn no_penalty_is_a_candidate_of_least_squares_and_what_is_chosen_is_no_worse() {
    let data = rows(200, 3, Task::Regression);
    let learner = exact(LearnerName::LeastSquares);
    let search = Search { by: Some(Metric::R2), ..Search::default() };
    let tuned = tune(&data, &learner, &search, &mut Unwatched).unwrap();
    let last = tuned.path.last().unwrap();
    assert_eq!(last.value, 0.0);
    assert!(tuned.chosen().unwrap().mean >= last.mean);
    assert_eq!(tuned.edge, None);
}

#[test]
fn a_path_that_is_given_is_not_left_and_its_end_is_told() {
    let data = rows(200, 5, Task::Regression);
    let values = Some(vec![1e6, 1e5, 1e4]);
    let search = Search { values, ..Search::default() };
    let tuned = tune(&data, &exact(LearnerName::LeastSquares), &search, &mut Unwatched).unwrap();
    assert_eq!((tuned.path.len(), tuned.best, tuned.edge), (3, Some(2), Some(End::Weakest)));
}

#[test]
fn a_search_that_is_stopped_returns_what_it_has() {
    let data = rows(200, 7, Task::Classes);
    let mut fits = 0;
    let mut stop = |progress: Progress| {
        if let Progress::Fold { done, .. } = progress {
            fits = done;
        }
        if fits >= 12 { Flow::Stop } else { Flow::Continue }
    };
    let tuned = tune(&data, &exact(LearnerName::Logistic), &Search::default(), &mut stop).unwrap();
    assert!(tuned.fit.is_none());
    let finished: usize = tuned.path.iter().map(|tried| tried.folds.iter().flatten().count()).sum();
    assert!((12..20).contains(&finished), "{finished}");
    let mut at_once = |_: Progress| Flow::Stop;
    let tuned = tune(&data, &exact(LearnerName::Logistic), &Search::default(), &mut at_once).unwrap();
    assert!(tuned.fit.is_none() && tuned.best.is_none());
    assert!(tuned.path.iter().all(|tried| tried.mean.is_none()));
}

#[test]
fn a_figure_that_does_not_fit_the_task_is_refused_with_those_that_do() {
    let refused = |name: LearnerName, task: Task, by: Metric| {
        let search = Search { by: Some(by), ..Search::default() };
        tune(&rows(60, 1, task), &name.learner(), &search, &mut Unwatched).unwrap_err().to_string()
    };
    assert!(refused(LearnerName::Svm, Task::Classes, Metric::R2).contains("for numbers"));
    assert!(refused(LearnerName::Svm, Task::Classes, Metric::LogLoss).contains("probabilities"));
    assert!(refused(LearnerName::LeastSquares, Task::Regression, Metric::Auc).contains("for classes"));
}

#[test]
fn least_absolute_is_tuned_by_the_absolute_error_and_least_squares_by_the_squared_one() {
    let data = rows(60, 2, Task::Regression);
    let by = |name: LearnerName| {
        let search = Search { values: Some(vec![0.1]), ..Search::default() };
        tune(&data, &name.learner(), &search, &mut Unwatched).unwrap().by
    };
    assert_eq!(by(LearnerName::LeastAbsolute), Metric::Mae);
    assert_eq!(by(LearnerName::LeastSquares), Metric::Mse);
}

#[test]
fn folds_that_are_finished_are_kept_where_the_rest_is_interrupted() {
    let data = rows(200, 3, Task::Classes);
    let learner = LearnerName::Averaged.learner();
    let whole = cross_validate(&data, &learner, 10, &mut Unwatched).unwrap();
    assert!(!whole.interrupted && whole.folds.len() == 10);
    let mut stop_at_three = |progress: Progress| match progress {
        Progress::Fold { done: 3.., .. } => Flow::Stop,
        _ => Flow::Continue,
    };
    let part = cross_validate(&data, &learner, 10, &mut stop_at_three).unwrap();
    assert!(part.interrupted && (3..10).contains(&part.folds.len()), "{}", part.folds.len());
    assert!(part.folds.iter().all(|fold| whole.folds.contains(fold)));
    let rows: usize = part.folds.iter().map(Predictions::rows).sum();
    assert_eq!((part.pooled.rows(), part.labels), (rows, whole.labels));
    let error = cross_validate(&data, &learner, 10, &mut |_: Progress| Flow::Stop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}
