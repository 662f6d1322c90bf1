//! Learning from a stream: one pass, nothing stored.

use super::cases::{Case, bayes_cases, cases, numbers, rows_for, separable, svmlight, truths};
use crate::with::{Own, With};
use novikoff::control::{Flow, Progress, Termination, Unwatched};
use novikoff::data::{Dataset, Labels, Scale};
use novikoff::model::{from_bytes, to_bytes};
use novikoff::multiclass::{Scheme, best_except, decide};
use novikoff::online::Order;
use novikoff::online::rule::Length;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{ClassWeight, Learner, LearnerName, train, train_online};

fn stream(text: &str) -> Reader {
    let input = Input::Bytes { name: "memory".into(), bytes: text.as_bytes().into() };
    let options = Options { format: Some(Format::Svmlight), threads: 2, ..Options::default() };
    Reader::open_stream(&input, &options, &Purpose::Training).unwrap()
}

fn in_memory(text: &str) -> Dataset<'static> {
    stream(text).read(&mut Unwatched).unwrap()
}

/// Why a form of a learner cannot learn from a stream.
fn cannot_stream(case: &Case) -> Option<&'static str> {
    match (case.settings.named().unwrap(), case.scheme, case.classes) {
        (LearnerName::Voted, ..) => Some("voting keeps the rows of mistakes"),
        (_, Scheme::OneVsRest, _) => Some("one-vs-rest needs every class from the first row on"),
        (_, Scheme::Joint, 2) => Some("a stream of two classes has one weight vector until a third turns up"),
        _ => None,
    }
}

fn streamable() -> Vec<Case> {
    let can = |case: &Case| {
        let why = cannot_stream(case);
        why.iter().for_each(|why| println!("skipped: {case}: {why}"));
        why.is_none()
    };
    cases().into_iter().filter(can).collect()
}

/// Those that correct mistakes, and those that count.
fn every_streamable() -> Vec<Case> {
    [streamable(), bayes_cases()].concat()
}

/// Also with features and classes that turn up late.
#[test]
fn a_stream_that_is_counted_gives_the_model_of_its_rows_in_memory() {
    for case in bayes_cases() {
        let data = rows_for(&case, 400, 1);
        let by_label = |order: [usize; 2]| -> Vec<usize> {
            order.iter().flat_map(|&odd| (0..400).filter(move |i| i % 2 == odd)).collect()
        };
        for order in [by_label([0, 1]), by_label([1, 0])] {
            let text = svmlight(&data.select(&order));
            let streamed = train_online(stream(&text), &case.settings, &mut Unwatched).unwrap();
            let stored = train(&in_memory(&text), None, &case.settings, &mut Unwatched).unwrap();
            assert_eq!(streamed.model.scorer, stored.model.scorer, "{case}");
            assert_eq!(streamed.model.labels, stored.model.labels, "{case}");
            assert_eq!(streamed.model.about.data_hash, stored.model.about.data_hash, "{case}");
            assert_eq!(
                (streamed.termination, stored.termination),
                (Termination::EndOfStream, Termination::Counted),
                "{case}"
            );
            assert!(
                streamed
                    .stream()
                    .map(|stream| stream.progressive_error)
                    .is_some_and(|error| error > 0.0 && error < 0.1),
                "{case}: {streamed:?}"
            );
        }
    }
}

#[test]
fn a_stream_is_one_epoch_in_the_order_given() {
    for case in streamable() {
        if case.classes > 2 {
            println!("skipped: {case}: a stream starts with two classes, an epoch with all");
            continue;
        }
        for first_label in [0, 1] {
            let data = separable(case.classes, 400, 1);
            let start = data.labels.iter().position(|&label| label == first_label).unwrap();
            let text = svmlight(&data.select(&(start..400).collect::<Vec<_>>()));
            let streamed = train_online(stream(&text), &case.settings, &mut Unwatched).unwrap();
            let once = case.settings.clone().with_scale(Scale::None).with_order(Order::Given).with_epochs(1);
            let stored = train(&in_memory(&text), None, &once, &mut Unwatched).unwrap();
            assert_eq!(numbers(&streamed.model.scorer), numbers(&stored.model.scorer), "{case}");
            assert_eq!(streamed.model.labels, stored.model.labels, "{case}");
            let (stream, history) = (streamed.stream().unwrap(), stored.history().unwrap());
            assert_eq!((stream.mistakes, stream.updates), (history.mistakes, history.updates), "{case}");
            // A score of 0, as of the first row, is predicted as the second label of the stream, whatever its
            // name.
            let wrong = (history.epochs[0].progressive_error - stream.progressive_error)
                * streamed.model.about.rows as f64;
            assert!(wrong.abs() < 1.5, "{case}: {wrong}");
            assert_eq!(streamed.model.about.data_hash, stored.model.about.data_hash, "{case}");
            assert_eq!(streamed.termination, Termination::EndOfStream, "{case}");
        }
    }
}

#[test]
fn learners_that_cannot_learn_from_a_stream_say_so_with_a_hint() {
    for case in cases() {
        let refused =
            case.settings.named().unwrap() == LearnerName::Voted || case.scheme == Scheme::OneVsRest;
        let answer =
            train_online(stream(&svmlight(&separable(case.classes, 30, 1))), &case.settings, &mut Unwatched);
        assert_eq!(answer.is_err(), refused, "{case}");
        if let Err(error) = answer {
            assert!(error.advice().is_some_and(|hint| hint.contains("`online`")), "{case}: {error}");
        }
    }
}

/// Rows predicted wrongly before they are learned from, by weights kept as plain vectors. Classes are
/// numbered as they turn up, and there are two from the start.
fn naive_errors(case: &Case, data: &Dataset) -> u64 {
    let (two, extra) = (case.scheme == Scheme::Two, case.settings.bias().coordinate());
    let mut names = Labels::default();
    let mut weights: Vec<Vec<f64>> = vec![vec![0.0; data.rows.columns() + 1]; 2];
    let mut errors = 0;
    for (i, label) in truths(data).iter().enumerate() {
        let class = names.intern(label) as usize;
        weights.resize(weights.len().max(class + 1), vec![0.0; data.rows.columns() + 1]);
        let mut row = vec![0.0; data.rows.columns()];
        data.rows.row(i).for_each_nonzero(|j, x| row[j as usize] = x);
        row.push(extra);
        let scores: Vec<f64> = weights.iter().map(|w| w.iter().zip(&row).map(|(w, x)| w * x).sum()).collect();
        errors += u64::from(decide(&scores) != class);
        let norm_sq: f64 = row.iter().map(|x| x * x).sum();
        let rival = best_except(&scores, class);
        // Two classes have the vectors −w and w: the margin is that of w.
        let margin = (scores[class] - scores[rival]) / if two { 2.0 } else { 1.0 };
        let step = match case.settings.named().unwrap() {
            LearnerName::PassiveAggressive => ((1.0 - margin).max(0.0) / norm_sq).min(1.0),
            _ if margin > 0.0 => 0.0,
            _ if case.settings.length() == Length::Unit => 1.0 / norm_sq.sqrt(),
            _ => 1.0,
        };
        weights[class].iter_mut().zip(&row).for_each(|(w, x)| *w += step * x);
        weights[rival].iter_mut().zip(&row).for_each(|(w, x)| *w -= step * x);
    }
    errors
}

#[test]
fn progressive_error_counts_what_naive_learning_counts() {
    for case in streamable() {
        if case.classes > 2 && case.settings.named().unwrap() == LearnerName::PassiveAggressive {
            println!(
                "skipped: {case}: the steps for two classes, until a third turns up, are not those for joint \
                 ones"
            );
            continue;
        }
        for seed in 0..5 {
            let mut data = separable(case.classes, 301, seed);
            for i in (20..data.len()).step_by(9) {
                data.labels[i] = (data.labels[i] + 1) % case.classes as u32;
            }
            let text = svmlight(&data);
            let fit = train_online(stream(&text), &case.settings, &mut Unwatched).unwrap();
            let errors = naive_errors(&case, &data);
            assert_eq!(
                fit.stream().map(|stream| stream.progressive_error),
                Some(errors as f64 / 301.0),
                "{case}"
            );
            assert!(errors > 0, "{case}");
        }
    }
}

#[test]
fn a_stream_tells_of_its_progress_at_doubling_counts() {
    for case in every_streamable() {
        let mut told = Vec::new();
        let mut watch = |progress| {
            if let Progress::Stream { rows, .. } = progress {
                told.push(rows);
            }
            Flow::Continue
        };
        train_online(stream(&svmlight(&rows_for(&case, 100, 1))), &case.settings, &mut watch).unwrap();
        assert_eq!(told, [1, 2, 4, 8, 16, 32, 64], "{case}");
    }
}

#[test]
fn a_stream_that_is_stopped_leaves_a_usable_model() {
    for case in every_streamable() {
        let text = svmlight(&rows_for(&case, 20_000, 1));
        let fit = train_online(stream(&text), &case.settings, &mut |_| Flow::Stop).unwrap();
        assert_eq!(fit.termination, Termination::Interrupted, "{case}");
        assert!(fit.model.about.rows < 20_000, "{case}");
        from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap();
    }
}

#[test]
fn a_stream_stopped_before_two_classes_came_is_interrupted_not_an_error_of_the_data() {
    for case in every_streamable() {
        let error = train_online(stream("1 1:2\n"), &case.settings, &mut |_| Flow::Stop).unwrap_err();
        assert_eq!(error.kind(), novikoff::ErrorKind::Interrupted, "{case}");
        let error = train_online(stream("1 1:2\n"), &case.settings, &mut Unwatched).unwrap_err();
        assert_eq!(error.kind(), novikoff::ErrorKind::Input, "{case}");
    }
}

#[test]
fn class_weights_count_in_streams_as_they_do_in_memory() {
    for case in every_streamable().into_iter().filter(|case| case.classes == 2) {
        let data = rows_for(&case, 200, 2);
        let text = svmlight(&data);
        let name = truths(&data)[0].clone();
        let weigh = |settings: &Learner| {
            settings
                .clone()
                .with_class_weight(ClassWeight::Given(vec![(name.clone(), 3.0)]))
                .with_scale(Scale::None)
                .with_order(Order::Given)
                .with_epochs(1)
        };
        let streamed = train_online(stream(&text), &weigh(&case.settings), &mut Unwatched).unwrap();
        let stored = train(&in_memory(&text), None, &weigh(&case.settings), &mut Unwatched).unwrap();
        assert_eq!(numbers(&streamed.model.scorer), numbers(&stored.model.scorer), "{case}");
    }
}

#[test]
fn a_class_weight_for_a_label_that_a_stream_never_showed_is_an_error() {
    let settings =
        LearnerName::Averaged.learner().with_class_weight(ClassWeight::Given(vec![("spam".into(), 2.0)]));
    let error = train_online(stream("1 1:2\n2 1:3\n"), &settings, &mut Unwatched).unwrap_err();
    assert!(error.what().contains("spam") && error.advice().is_some(), "{error}");
}
