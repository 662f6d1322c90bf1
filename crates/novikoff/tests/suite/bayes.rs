//! Bayes' rule from bytes to posteriors: priors, weights, hashed features, streams of many blocks, and what
//! is refused.

use crate::with::{Own, With};
use novikoff::bayes::{Likelihood, Priors};
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::evaluate::score_all;
use novikoff::model::Model;
use novikoff::multiclass::Scheme;
use novikoff::random::Random;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{ClassWeight, Learner, NaiveBayes, Parameter, Search, train, train_online, tune};
use proptest::prelude::*;
use std::fmt::Write;

fn input(text: &str) -> Input {
    Input::Bytes { name: "memory".into(), bytes: text.as_bytes().into() }
}

fn options(format: Format, hash_bits: Option<u8>) -> Options {
    Options { format: Some(format), hash_bits, ..Options::default() }
}

fn read(text: &str, format: Format, hash_bits: Option<u8>) -> Dataset<'static> {
    Reader::open(&input(text), &options(format, hash_bits), &Purpose::Training)
        .unwrap()
        .read(&mut Unwatched)
        .unwrap()
}

fn settings(likelihood: Likelihood) -> Learner {
    NaiveBayes::new().likelihood(likelihood).smoothing(0.5).into()
}

fn learned(data: &Dataset, settings: &Learner) -> Model {
    train(data, None, settings, &mut Unwatched).unwrap().model
}

/// The log posteriors of every row.
fn posteriors(model: &Model, data: &Dataset) -> Vec<Vec<f64>> {
    let scores = score_all(&model.scorer, data);
    let of = |scores: &[f64]| {
        let mut logs = Vec::new();
        model.probabilities.as_ref().unwrap().log_probabilities(scores, &mut logs);
        logs
    };
    scores.chunks_exact(model.scorer.outputs()).map(of).collect()
}

fn assert_close(a: &[Vec<f64>], b: &[Vec<f64>], within: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((a - b).abs() <= within * (1.0 + a.abs()), "{a} {b}");
    }
}

/// Documents of words that lean to their class, as Vowpal Wabbit's text; some weigh more than others.
fn documents(rows: usize, classes: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for _ in 0..rows {
        let class = random.below(classes as u64);
        let _ = write!(text, "{} {} |", class + 1, [1.0, 0.3, 2.0][random.below(3) as usize]);
        for _ in 0..random.below(12) {
            let word = if random.below(3) == 0 { 100 * class + random.below(40) } else { random.below(500) };
            let _ = write!(text, " w{word}:{}", [1.0, 2.0, 0.7][random.below(3) as usize]);
        }
        text.push('\n');
    }
    text
}

const THREE: &str = "a 1:2 2:1\nb 2:3\nc 1:1 3:4\na 1:5\nb 2:1 3:1\nc 3:2\na 2:1\n";

#[test]
fn priors_are_what_they_are_given_as() {
    let data = read(THREE, Format::Svmlight, None);
    for likelihood in [Likelihood::Multinomial, Likelihood::Bernoulli] {
        let with = |priors: Priors| {
            let mut settings = settings(likelihood);
            settings.own_bayes().priors = priors;
            posteriors(&learned(&data, &settings), &data)
        };
        let named =
            |p: [f64; 3]| Priors::Given(["a", "b", "c"].map(String::from).into_iter().zip(p).collect());
        assert_close(&with(Priors::Uniform), &with(named([1.0 / 3.0; 3])), 1e-12);
        assert_close(&with(Priors::Learned), &with(named([3.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0])), 1e-12);
        // Few digits are as good: they are divided by their sum.
        assert_close(&with(Priors::Uniform), &with(named([0.3333333; 3])), 1e-12);
        // Twice as probable beforehand is twice as probable afterwards, against any other class.
        let (even, odd) = (with(named([0.25, 0.25, 0.5])), with(named([0.5, 0.25, 0.25])));
        for (even, odd) in even.iter().zip(&odd) {
            assert!((odd[0] - odd[1] - (even[0] - even[1]) - 2f64.ln()).abs() < 1e-12);
        }
    }
}

#[test]
fn what_cannot_work_is_refused_with_a_reason() {
    let data = read(THREE, Format::Svmlight, None);
    let refused = |change: &dyn Fn(&mut Learner), part: &str| {
        let mut settings = settings(Likelihood::Multinomial);
        change(&mut settings);
        let error = train(&data, None, &settings, &mut Unwatched).unwrap_err();
        assert!(error.what().contains(part), "{error}, not {part}");
        let reader =
            Reader::open_stream(&input(THREE), &options(Format::Svmlight, None), &Purpose::Training).unwrap();
        let streamed = train_online(reader, &settings.clone().with_calibrate(None), &mut Unwatched);
        assert!(
            settings.shared().calibrate.is_some() || streamed.is_err_and(|error| error.what().contains(part)),
            "{part}"
        );
    };
    let given = |pairs: &[(&str, f64)]| {
        Priors::Given(pairs.iter().map(|(label, p)| ((*label).to_owned(), *p)).collect())
    };
    refused(&|s| s.own_bayes().smoothing = 0.0, "impossible");
    refused(&|s| s.own_bayes().smoothing = -1.0, "must be a positive number");
    refused(&|s| s.own_bayes().smoothing = f64::NAN, "must be a positive number");
    refused(&|s| s.own_bayes().smoothing = 1e308, "no finite numbers");
    refused(&|s| s.shared_mut().multiclass = Some(Scheme::OneVsRest), "all classes apart at once");
    refused(
        &|s| s.shared_mut().calibrate = Some(novikoff::evaluate::CalibrationMethod::Platt),
        "calibrated alone",
    );
    refused(&|s| s.own_bayes().priors = given(&[("a", 0.5), ("b", 0.5)]), "\"c\" has no prior");
    refused(
        &|s| s.own_bayes().priors = given(&[("a", 0.5), ("b", 0.3), ("c", 0.1), ("d", 0.1)]),
        "no label \"d\"",
    );
    refused(&|s| s.own_bayes().priors = given(&[("a", 0.5), ("b", 0.3), ("c", 0.3)]), "sum to");
    refused(
        &|s| s.own_bayes().priors = given(&[("a", 1.5), ("b", -0.3), ("c", -0.2)]),
        "must be a positive number",
    );
    refused(
        &|s| s.own_bayes().priors = given(&[("a", 0.5), ("b", 0.2), ("c", 0.2), ("a", 0.1)]),
        "two priors",
    );
    refused(
        &|s| *s = NaiveBayes::new().likelihood(Likelihood::Complement).priors(given(&[("a", 1.0)])).into(),
        "no use for priors",
    );
}

#[test]
fn a_negative_count_is_named_by_row_and_feature() {
    for text in ["1 |a x:1\n2 |a y:2\n1 |a x:3 y:-2\n", "1 |a y:1\n2 |a x:2\n1 0 |a x:3 y:-2\n"] {
        for likelihood in Likelihood::ALL {
            let error = train(&read(text, Format::Vw, None), None, &settings(likelihood), &mut Unwatched)
                .unwrap_err();
            assert!(
                error.what().starts_with("row 3 ")
                    && error.what().contains("-2")
                    && error.what().contains('y'),
                "{error}"
            );
            assert!(error.advice().is_some());
            let reader =
                Reader::open_stream(&input(text), &options(Format::Vw, Some(18)), &Purpose::Training)
                    .unwrap();
            let error = train_online(reader, &settings(likelihood), &mut Unwatched).unwrap_err();
            assert!(error.what().starts_with("row 3 ") && error.what().contains("-2"), "{error}");
        }
    }
}

/// A row that weighs 2 counts as two rows, and so does a class.
#[test]
fn weights_count_as_rows_would() {
    let data = read(THREE, Format::Svmlight, None);
    let twice: Vec<usize> =
        (0..data.len()).flat_map(|i| if data.labels[i] == 1 { vec![i, i] } else { vec![i] }).collect();
    for likelihood in Likelihood::ALL {
        let repeated = posteriors(&learned(&data.select(&twice), &settings(likelihood)), &data);
        let mut weighed = data.clone();
        weighed.row_weights = data.labels.iter().map(|&label| if label == 1 { 2.0 } else { 1.0 }).collect();
        assert_close(&posteriors(&learned(&weighed, &settings(likelihood)), &data), &repeated, 1e-13);
        let by_class = settings(likelihood).with_class_weight(ClassWeight::Given(vec![("b".into(), 2.0)]));
        assert_close(&posteriors(&learned(&data, &by_class), &data), &repeated, 1e-13);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// However the text is cut into blocks, to the bit, also with fractions and weights. `documents` of this
    /// size make several.
    #[test]
    fn a_stream_of_many_blocks_gives_the_model_of_its_rows_in_memory(
        seed in any::<u64>(),
        classes in 2usize..5,
        threads in 1usize..4,
    ) {
        let text = documents(30_000, classes, seed);
        prop_assert!(text.len() > 1 << 20);
        for likelihood in Likelihood::ALL {
            for bits in [0, 18] {
                let options = Options { threads, ..options(Format::Vw, Some(bits)) };
                let reader = Reader::open_stream(&input(&text), &options, &Purpose::Training).unwrap();
                let streamed = train_online(reader, &settings(likelihood), &mut Unwatched).unwrap().model;
                let stored = learned(&read(&text, Format::Vw, Some(bits)), &settings(likelihood));
                prop_assert!(streamed.scorer == stored.scorer, "{likelihood:?}, {bits} bits");
                prop_assert_eq!(streamed.probabilities, stored.probabilities);
                prop_assert_eq!(streamed.about.data_hash, stored.about.data_hash);
            }
        }
    }
}

/// Without collisions it does not matter whether features are numbered by name or by hash, nor how long the
/// hash is.
#[test]
fn hashed_features_give_the_posteriors_of_named_ones() {
    let text = documents(300, 3, 5);
    let named = read(&text, Format::Vw, Some(0));
    for likelihood in Likelihood::ALL {
        let expected = posteriors(&learned(&named, &settings(likelihood)), &named);
        for bits in [22, 26] {
            let hashed = read(&text, Format::Vw, Some(bits));
            let model = learned(&hashed, &settings(likelihood));
            assert_close(&posteriors(&model, &hashed), &expected, 1e-12);
            let met = model
                .scorer
                .weights()
                .unwrap()
                .values
                .chunks(3)
                .filter(|w| w.iter().any(|w| *w != 0.0))
                .count();
            assert!(met <= named.rows.columns(), "{met}: what was never met weighs nothing");
        }
    }
}

fn folds(folds: usize) -> Search {
    Search { folds, ..Search::default() }
}

#[test]
fn tune_chooses_the_smoothing_with_the_least_error() {
    let data = read(&documents(400, 3, 9), Format::Vw, None);
    let tuned = tune(&data, &settings(Likelihood::Multinomial), &folds(4), &mut Unwatched).unwrap();
    assert_eq!((tuned.parameter, tuned.path.len()), (Parameter::Smoothing, 11));
    let least = tuned.path.iter().map(|tried| tried.mean.unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(tuned.chosen().unwrap().mean, Some(least));
    let mut chosen = settings(Likelihood::Multinomial);
    chosen.own_bayes().smoothing = tuned.chosen().unwrap().value;
    assert_eq!(tuned.fit.unwrap().model, learned(&data, &chosen));
    let none = Search { values: Some(vec![0.0]), ..folds(4) };
    assert!(tune(&data, &settings(Likelihood::Multinomial), &none, &mut Unwatched).is_err());
}

/// A class of one row is missing where its fold is held back: it is not chosen there, and nothing breaks.
#[test]
fn a_class_of_one_row_can_be_tuned_with() {
    let data = read(&format!("{THREE}d 4:1\n{THREE}"), Format::Svmlight, None);
    for likelihood in Likelihood::ALL {
        assert!(tune(&data, &settings(likelihood), &folds(3), &mut Unwatched).is_ok());
    }
}

#[test]
fn bayes_has_no_certificate() {
    let (data, settings) = (read(THREE, Format::Svmlight, None), settings(Likelihood::Multinomial));
    let fit = train(&data, None, &settings, &mut Unwatched).unwrap();
    assert!(fit.certificate(&data).unwrap_err().advice().is_some());
}
