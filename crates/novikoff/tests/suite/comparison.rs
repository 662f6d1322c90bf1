//! The comparison of the perceptron's variants, held against models that were trained one by one and against
//! weight vectors that were written out.

use novikoff::compare::{Compared, Comparison, ComparisonState, Entry, compare};
use novikoff::control::{Flow, Observer, Progress, Unwatched};
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report, Row, Scale};
use novikoff::features::Schema;
use novikoff::kernel::Kernel;
use novikoff::model::{Scorer, Scratch, Task};
use novikoff::multiclass::Scheme;
use novikoff::online::{Hypothesis, Order};
use novikoff::penalty::Bias;
use novikoff::random::Random;
use novikoff::train::{InferredTask, LearnerName, Perceptron, train};
use proptest::prelude::*;

/// Rows of small integers around a corner for each class, and some of them anywhere.
fn rows(classes: usize, count: usize, features: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let mut builder = Builder::new(Layout::Sparse);
    let indices: Vec<u32> = (0..features as u32).collect();
    let mut labels = Vec::new();
    for i in 0..count {
        let class = i % classes;
        let bump = |j: usize| if j % classes == class { 2.0 } else { 0.0 };
        let values: Vec<f64> = (0..features).map(|j| bump(j) + random.below(4) as f64 - 1.0).collect();
        builder.push(&indices, &values);
        labels.push(if random.below(8) == 0 { random.below(classes as u64) as u32 } else { class as u32 });
    }
    let names = Labels::new((0..classes).map(|class| class.to_string()));
    let mut rows = builder.finish();
    rows.widen(features);
    let report = Report { rows: count as u64, ..Report::default() };
    Dataset { rows, labels, names, row_weights: Vec::new(), schema: Schema::one_based(), report }
}

fn settings(seed: u64, bias: Bias, multiclass: Option<Scheme>) -> Perceptron {
    let mut perceptron = Perceptron::new().seed(seed).bias(bias).scale(Scale::None);
    perceptron.shared.multiclass = multiclass;
    perceptron
}

fn compared(data: &Dataset, test: &Dataset, comparison: &Comparison) -> Compared {
    compare(data, test, comparison, &mut ComparisonState::default(), &mut Unwatched, &mut |_| Ok(())).unwrap()
}

/// Thirty classes with four rows each: among the rows that are not held out they have fewer, as numbers to
/// predict would.
#[test]
fn labels_are_classes_if_all_rows_together_say_so() {
    let all = Dataset { names: Labels::new((0..30).map(|k| k.to_string())), ..rows(3, 120, 3, 1) };
    let all = Dataset { labels: (0..120).map(|i| i % 30).collect(), ..all };
    let (data, held_out) = all.split(0.2, 7).unwrap();
    assert_eq!(InferredTask::of(&all).unwrap().task, Task::Classes);
    assert_eq!(InferredTask::of(&data).unwrap().task, Task::Regression);
    assert_eq!(InferredTask::of_parts(&data, Some(&held_out)).unwrap().task, Task::Classes);
    let comparison = Comparison {
        kernels: vec![(Kernel::Linear, 1.0)],
        epochs: vec![1.0],
        others: vec![LearnerName::Logistic],
        perceptron: settings(0, Bias::Free, None),
    };
    let compared = compared(&data, &held_out, &comparison);
    assert!(compared.left_out.is_empty(), "{:?}", compared.left_out);
    let fit = train(&data, Some(&held_out), &LearnerName::Averaged.learner(), &mut Unwatched);
    assert_eq!(fit.map(|fit| fit.model.labels.len()), Ok(30));
}

fn find<'a>(entries: &'a [Entry], learner: &str, normalised: bool, epochs: f64) -> &'a Entry {
    let own = |e: &&Entry| e.learner == learner && e.normalised == normalised && e.epochs == Some(epochs);
    entries.iter().find(own).unwrap_or_else(|| panic!("no {learner}, {normalised}, {epochs}"))
}

/// Rows that rounding alone gives to one class or another.
fn ties(scorer: &Scorer, test: &Dataset) -> usize {
    let views: Vec<Row<'_>> = (0..test.len()).map(|i| test.rows.row(i)).collect();
    let mut scores = Vec::new();
    scorer.score(&views, &mut Scratch::default(), &mut scores);
    let tied = |scores: &[f64]| match *scores {
        [one] => one.abs() < 1e-9,
        _ => {
            let mut sorted = scores.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            sorted[0] - sorted[1] < 1e-9 * (1.0 + sorted[0].abs())
        }
    };
    scores.chunks(scorer.outputs()).filter(|scores| tied(scores)).count()
}

fn kernel() -> impl Strategy<Value = Kernel> {
    prop_oneof![Just(Kernel::Linear), (2u32..4).prop_map(Kernel::Polynomial)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// What comes out of one sweep is what a model has that was trained for so many epochs and no more.
    #[test]
    fn every_prefix_is_the_model_that_would_have_been_trained(
        classes in 2usize..5,
        count in 4usize..300,
        features in 2usize..6,
        seed in any::<u64>(),
        kernel in kernel(),
        joint in any::<bool>(),
        bias in prop_oneof![Just(Bias::Free), Just(Bias::None)],
    ) {
        let (data, test) =
            (rows(classes, count.max(classes), features, seed), rows(classes, 90, features, !seed));
        let scheme = match (classes, joint) {
            (2, _) => None,
            (_, true) => Some(Scheme::Joint),
            (_, false) => Some(Scheme::OneVsRest),
        };
        let base = settings(seed, bias, scheme);
        let comparison = Comparison {
            kernels: vec![(kernel, 3.0)],
            epochs: vec![1.0, 2.0, 3.0],
            others: Vec::new(),
            perceptron: base.clone(),
        };
        let all = compared(&data, &test, &comparison);
        for epochs in 1..=3 {
            for (learner, returned) in [
                (LearnerName::Perceptron, Hypothesis::Last),
                (LearnerName::Averaged, Hypothesis::Average),
                (LearnerName::Voted, Hypothesis::Votes),
            ] {
                let perceptron = Perceptron { returned, ..base.clone() }.kernel(kernel).epochs(epochs);
                let fit = perceptron.fit(&data).unwrap();
                // A run that ends because nothing is mistaken has fewer rounds; its average and votes have
                // too.
                prop_assume!(
                    learner == LearnerName::Perceptron || fit.history().unwrap().epochs.len() == epochs
                );
                let entry = find(&all.entries, learner.name(), false, epochs as f64);
                let classes: Vec<u32> = test.labels.clone();
                let error = novikoff::evaluate::error(&fit.model.scorer, &test, &classes);
                // Averages are rounded: sums in another order may break their ties another way.
                let ties = if learner == LearnerName::Averaged {
                    ties(&fit.model.scorer, &test) as f64 / test.len() as f64
                } else {
                    0.0
                };
                prop_assert!(
                    (entry.test_error - error).abs() <= ties + 1e-12,
                    "{learner:?} {epochs}: {} and not {error}",
                    entry.test_error
                );
                prop_assert_eq!(entry.mistakes, Some(fit.history().unwrap().mistakes));
                prop_assert!(entry.train_error.is_some());
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Interrupted anywhere, saved, read again and gone on with: the same lines, but for the time.
    #[test]
    fn a_comparison_that_was_interrupted_ends_as_if_it_had_not_been(
        classes in 2usize..4,
        seed in any::<u64>(),
        kernel in kernel(),
        stop in 1usize..5,
    ) {
        let (data, test) = (rows(classes, 2100, 4, seed), rows(classes, 70, 4, !seed));
        let comparison = Comparison {
            kernels: vec![(Kernel::Linear, 2.0), (kernel, 1.5)]
                [..if kernel == Kernel::Linear { 1 } else { 2 }]
                .to_vec(),
            epochs: vec![0.3, 1.0, 2.0],
            others: vec![LearnerName::Logistic],
            perceptron: settings(seed, Bias::Free, None),
        };
        let whole = compared(&data, &test, &comparison);
        let mut text = ComparisonState::default().to_text();
        let part = loop {
            let mut state = ComparisonState::from_text(&text).unwrap();
            let part = compare(&data, &test, &comparison, &mut state, &mut StopAfter(stop), &mut |_| Ok(()))
                .unwrap();
            text = state.to_text();
            if !part.interrupted {
                break part;
            }
        };
        prop_assert_eq!(timeless(&part.entries), timeless(&whole.entries));
    }
}

/// A block of rows takes as long as there are mistakes.
#[test]
fn whoever_asks_to_stop_is_heard_within_a_block_of_rows_that_are_tested() {
    let (data, test) = (rows(3, 2100, 4, 1), rows(3, 70, 4, 2));
    let comparison = Comparison {
        kernels: vec![(Kernel::Linear, 3.0)],
        epochs: vec![3.0],
        others: Vec::new(),
        perceptron: settings(0, Bias::Free, None),
    };
    let whole = compared(&data, &test, &comparison);
    let mut state = ComparisonState::default();
    for stop in 1..8 {
        let mut asked = 0;
        let mut observer = |progress: Progress| {
            asked += usize::from(progress == Progress::Working);
            if asked >= stop { Flow::Stop } else { Flow::Continue }
        };
        let part = compare(&data, &test, &comparison, &mut state, &mut observer, &mut |_| Ok(())).unwrap();
        assert!(part.interrupted && part.entries.is_empty(), "{stop}");
    }
    let part = compare(&data, &test, &comparison, &mut state, &mut Unwatched, &mut |_| Ok(())).unwrap();
    assert_eq!(timeless(&part.entries), timeless(&whole.entries));
}

struct StopAfter(usize);

impl Observer for StopAfter {
    fn observe(&mut self, progress: Progress) -> Flow {
        // Testing, and other learners, start anew each time: they are let through.
        if !matches!(progress, Progress::Learning { .. }) {
            return Flow::Continue;
        }
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

fn timeless(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().map(|entry| Entry { seconds: 0.0, ..entry.clone() }).collect()
}

/// The definitions of the paper, with every weight vector written out: rows in the order given, one class
/// against the rest.
#[test]
fn random_and_normalised_forms_are_those_of_the_paper() {
    for seed in 0..40 {
        let (data, test) = (rows(3, 60, 3, seed), rows(3, 40, 3, seed + 1000));
        let settings = settings(seed, Bias::Free, None).order(Order::Given);
        let comparison = Comparison {
            kernels: vec![(Kernel::Linear, 2.0)],
            epochs: vec![0.5, 1.0, 2.0],
            others: Vec::new(),
            perceptron: settings,
        };
        let all = compared(&data, &test, &comparison);
        let history = history(&data, 2);
        for (epochs, rounds) in [(0.5, 30), (1.0, 60), (2.0, 120)] {
            let expected = naive(&history[..rounds], &test);
            for (i, (learner, normalised)) in [
                ("random", false),
                ("random", true),
                ("perceptron", false),
                ("perceptron", true),
                ("averaged", false),
                ("averaged", true),
                ("voted", false),
            ]
            .into_iter()
            .enumerate()
            {
                let found = find(&all.entries, learner, normalised, epochs).test_error;
                // One row whose scores tie but for rounding.
                let ties = if learner == "random" {
                    0.02 / 40.0
                } else {
                    1.01 / 40.0 * f64::from(u8::from(normalised))
                };
                assert!(
                    (found - expected[i]).abs() <= ties + 1e-12,
                    "{learner} {normalised} {epochs}: {found} not {}",
                    expected[i]
                );
            }
        }
    }
}

type Vectors = Vec<Vec<f64>>;

fn extended(data: &Dataset, i: usize) -> Vec<f64> {
    let mut row = vec![0.0; data.rows.columns() + 1];
    data.rows.row(i).for_each_stored(|j, x| row[j as usize] = x);
    row[data.rows.columns()] = 1.0;
    row
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The weight vectors after each round.
fn history(data: &Dataset, epochs: usize) -> Vec<Vectors> {
    let mut w: Vectors = vec![vec![0.0; data.rows.columns() + 1]; data.names.len()];
    let mut history = Vec::new();
    for _ in 0..epochs {
        for i in 0..data.len() {
            let x = extended(data, i);
            for (class, w) in w.iter_mut().enumerate() {
                let side = if data.labels[i] as usize == class { 1.0 } else { -1.0 };
                if side * dot(w, &x) <= 0.0 {
                    w.iter_mut().zip(&x).for_each(|(w, x)| *w += side * x);
                }
            }
            history.push(w.clone());
        }
    }
    history
}

fn argmax(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score >= scores[best] {
            best = class;
        }
    }
    best as u32
}

/// Errors of: random, random normalised, last, last normalised, averaged, averaged normalised, voted.
fn naive(history: &[Vectors], test: &Dataset) -> [f64; 7] {
    let mut wrong = [0.0; 7];
    let (k, rounds) = (history[0].len(), history.len() as f64);
    for i in 0..test.len() {
        let x = extended(test, i);
        let truth = test.labels[i];
        let (mut sum, mut normalised_sum, mut votes) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
        let mut last = (0, 0);
        for w in history {
            let scores: Vec<f64> = w.iter().map(|w| dot(w, &x)).collect();
            let length = |w: &Vec<f64>| dot(w, w).sqrt();
            let normalised: Vec<f64> = w
                .iter()
                .zip(&scores)
                .map(|(w, s)| if length(w) > 0.0 { s / length(w) } else { 0.0 })
                .collect();
            for class in 0..k {
                sum[class] += scores[class];
                normalised_sum[class] += normalised[class];
                votes[class] += if scores[class] >= 0.0 { 1.0 } else { -1.0 };
            }
            last = (argmax(&scores), argmax(&normalised));
            wrong[0] += f64::from(u8::from(last.0 != truth)) / rounds;
            wrong[1] += f64::from(u8::from(last.1 != truth)) / rounds;
        }
        let predicted = [last.0, last.1, argmax(&sum), argmax(&normalised_sum), argmax(&votes)];
        for (wrong, predicted) in wrong[2..].iter_mut().zip(predicted) {
            *wrong += f64::from(u8::from(predicted != truth));
        }
    }
    wrong.map(|wrong| wrong / test.len() as f64)
}

#[test]
fn a_state_of_other_rows_or_of_nonsense_is_refused() {
    let (data, test) = (rows(2, 2000, 3, 1), rows(2, 50, 3, 2));
    let comparison = |seed| Comparison {
        kernels: vec![(Kernel::Polynomial(2), 1.0)],
        epochs: vec![1.0],
        others: Vec::new(),
        perceptron: settings(seed, Bias::Free, None),
    };
    let mut state = ComparisonState::default();
    compare(&data, &test, &comparison(0), &mut state, &mut StopAfter(1), &mut |_| Ok(())).unwrap();
    let text = state.to_text();
    let again = |text: &str, seed: u64, data: &Dataset| {
        let mut state = ComparisonState::from_text(text)?;
        compare(data, &test, &comparison(seed), &mut state, &mut Unwatched, &mut |_| Ok(()))
    };
    assert!(again(&text, 0, &data).is_ok());
    assert!(again(&text, 1, &data).unwrap_err().advice().is_some());
    assert!(again(&text, 0, &rows(2, 2000, 3, 5)).is_err());
    for (from, to) in [
        ("novikoff-comparison", "novikoff-model"),
        ("\"version\":1", "\"version\":2"),
        ("\"position\":1024", "\"position\":4096"),
        ("\"row\":", "\"rows\":"),
        ("\"separated\":false", "\"separated\":0"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(again(&text.replacen(from, to, 1), 0, &data).is_err(), "{from}");
    }
    for end in [0, 1, 50, text.len() / 2] {
        assert!(ComparisonState::from_text(&text[..end]).is_err());
    }
}

#[test]
fn what_does_not_apply_is_left_out_and_said() {
    let (data, test) = (rows(2, 100, 3, 1), rows(2, 50, 3, 2));
    let comparison = Comparison {
        kernels: Vec::new(),
        epochs: vec![1.0],
        others: vec![LearnerName::Bayes, LearnerName::Svm],
        perceptron: settings(0, Bias::Free, None),
    };
    let all = compared(&data, &test, &comparison);
    assert_eq!(all.left_out.len(), 1, "negative counts");
    assert_eq!(all.left_out[0].0, "bayes");
    assert_eq!(all.entries.iter().map(|e| e.learner.as_str()).collect::<Vec<_>>(), ["svm"]);
}
