//! Feature maps before learners: models, streams, certificates. The maps themselves are tested in
//! `src/features/map.rs`.

use crate::with::{Own, With};
use novikoff::certificate::Certificate;
use novikoff::control::Unwatched;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report, Scale};
use novikoff::evaluate::{CalibrationMethod, evaluate, score_all};
use novikoff::features::Schema;
use novikoff::features::map::{Map, Mapper};
use novikoff::model::{Scorer, explain, from_bytes, to_bytes};
use novikoff::online::Order;
use novikoff::random::Random;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{Learner, LearnerName, Search, train, train_online, tune};

const POLY: Map = Map::Poly { degree: 2 };
const FOURIER: Map = Map::Fourier { count: 60, gamma: 0.7, seed: 3 };

/// Points within a circle and around it: no line separates them, a polynomial of degree 2 does.
fn rings(count: usize) -> Dataset<'static> {
    let mut random = Random::new(9);
    let mut builder = Builder::new(Layout::Dense { columns: 2 });
    let mut names = Labels::default();
    let mut labels = Vec::new();
    for i in 0..count {
        let (radius, angle) =
            (if i % 2 == 0 { 0.8 } else { 1.5 } * (0.9 + 0.2 * random.unit()), 6.3 * random.unit());
        builder.push(&[0, 1], &[radius * angle.cos(), radius * angle.sin()]);
        labels.push(names.intern(if i % 2 == 0 { "in" } else { "out" }));
    }
    let (rows, report) = (builder.finish(), Report { rows: count as u64, ..Report::default() });
    Dataset { rows, labels, names, row_weights: Vec::new(), schema: Schema::one_based(), report }
}

fn settings(learner: LearnerName, map: Map) -> Learner {
    learner.learner().with_map(Some(map)).with_epochs(300)
}

const LEARNERS: [LearnerName; 9] = [
    LearnerName::Perceptron,
    LearnerName::Averaged,
    LearnerName::Voted,
    LearnerName::PassiveAggressive,
    LearnerName::Svm,
    LearnerName::SquaredSvm,
    LearnerName::Logistic,
    LearnerName::MaxMargin,
    LearnerName::Network,
];

#[test]
fn every_learner_learns_circles_through_a_map() {
    let (data, unseen) = rings(300).split(0.3, 1).unwrap();
    for map in [POLY, FOURIER] {
        for learner in LEARNERS {
            let mut settings = settings(learner, map);
            if learner.loss().is_some() {
                settings.own_risk().strength = Some(novikoff::train::Strength::Cost(1000.0));
            }
            let fit = train(&data, Some(&unseen), &settings, &mut Unwatched).unwrap();
            let error = evaluate(&fit.model, &unseen).unwrap().error().unwrap();
            assert!(error < 0.03, "{} {map}: {error}", learner.name());
            assert_eq!(
                evaluate(&fit.model, &data).unwrap().error(),
                fit.train_error,
                "{} {map}",
                learner.name()
            );
            assert_eq!((fit.model.about.features, &fit.model.about.data_hash), (2, &data.fingerprint()));
            let loaded = from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap();
            assert_eq!(loaded, fit.model, "{} {map}", learner.name());
            assert_eq!(score_all(&loaded.scorer, &unseen), score_all(&fit.model.scorer, &unseen));
        }
    }
}

#[test]
fn a_mapped_model_is_a_model_of_mapped_rows() {
    let data = rings(200);
    for map in [POLY, FOURIER] {
        let mapped = data.mapped(&Mapper::new(map, 2).unwrap()).unwrap();
        for learner in [LearnerName::Averaged, LearnerName::Logistic, LearnerName::Voted] {
            let settings = settings(learner, map);
            let through = train(&data, None, &settings, &mut Unwatched).unwrap();
            let behind = train(&mapped, None, &settings.with_map(None), &mut Unwatched).unwrap();
            assert_eq!(through.model.scorer.behind_map(), &behind.model.scorer);
            assert_eq!(score_all(&through.model.scorer, &data), score_all(&behind.model.scorer, &mapped));
        }
    }
}

#[test]
fn certificates_speak_of_mapped_rows_and_say_so() {
    let data = rings(120);
    for map in [POLY, FOURIER] {
        for learner in [
            LearnerName::Perceptron,
            LearnerName::Averaged,
            LearnerName::Svm,
            LearnerName::Logistic,
            LearnerName::MaxMargin,
        ] {
            let settings = settings(learner, map);
            let fit = train(&data, None, &settings, &mut Unwatched).unwrap();
            let certificate = fit.certificate(&data).unwrap();
            let read = Certificate::from_text(&certificate.to_text()).unwrap();
            assert_eq!(read.map, Some(map));
            let checked = read.check(&data);
            assert!(checked.iter().all(|claim| claim.holds), "{} {map}: {checked:?}", learner.name());
            let checksum = read.model.clone().unwrap();
            let of_model = read.check_model(&fit.model, &checksum, &data);
            assert!(of_model.holds, "{} {map}: {of_model:?}", learner.name());
            // Under another map, or none, neither the rows nor the model are those that are spoken of.
            for other in [None, Some(Map::Poly { degree: 3 })] {
                let other = Certificate { map: other, ..read.clone() };
                assert!(!other.check(&data).iter().all(|claim| claim.holds), "{} {map}", learner.name());
                assert!(!other.check_model(&fit.model, &checksum, &data).holds);
            }
        }
    }
}

#[test]
fn a_stream_is_mapped_as_rows_in_memory_are() {
    let data = rings(500);
    let mut text = String::new();
    for i in 0..data.len() {
        text.push_str(&data.names.names()[data.labels[i] as usize]);
        // The second column turns up late.
        data.rows.row(i).for_each_nonzero(|j, x| {
            text.push_str(&if i < 50 && j == 1 { String::new() } else { format!(" {}:{x}", j + 1) })
        });
        text.push('\n');
    }
    let input = Input::Bytes { name: "rings".into(), bytes: text.into_bytes().into() };
    let options = Options { format: Some(Format::Svmlight), ..Options::default() };
    let data = Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
    for map in [POLY, FOURIER] {
        for learner in [LearnerName::Perceptron, LearnerName::Averaged, LearnerName::PassiveAggressive] {
            let settings =
                settings(learner, map).with_scale(Scale::None).with_epochs(1).with_order(Order::Given);
            let stream = Reader::open_stream(&input, &options, &Purpose::Training).unwrap();
            let streamed = train_online(stream, &settings, &mut Unwatched).unwrap();
            let stored = train(&data, None, &settings, &mut Unwatched).unwrap();
            assert_eq!(streamed.model.scorer.map(), Some(map));
            let pairs = score_all(&streamed.model.scorer, &data)
                .into_iter()
                .zip(score_all(&stored.model.scorer, &data));
            for (a, b) in pairs {
                assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{} {map}: {a} {b}", learner.name());
            }
        }
    }
}

#[test]
fn calibration_and_tuning_see_mapped_rows() {
    let data = rings(200);
    let calibrated = settings(LearnerName::Svm, POLY).with_calibrate(Some(CalibrationMethod::Platt));
    let fit = train(&data, None, &calibrated, &mut Unwatched).unwrap();
    assert!(fit.model.probabilities.is_some() && fit.train_error == Some(0.0));
    let search = Search { folds: 4, ..Search::default() };
    let tuned = tune(&data, &settings(LearnerName::Logistic, POLY), &search, &mut Unwatched).unwrap();
    assert!(tuned.chosen().unwrap().mean < Some(0.02));
    assert_eq!(tuned.fit.unwrap().model.scorer.map(), Some(POLY));
}

#[test]
fn what_products_add_is_explained_by_their_names() {
    let data = rings(100);
    let model = train(&data, None, &settings(LearnerName::Logistic, POLY), &mut Unwatched).unwrap().model;
    let names: Vec<String> = (0..5).map(|j| model.feature_name(j)).collect();
    assert_eq!(names, ["1", "1²", "2", "1·2", "2²"]);
    let row = data.rows.row(0);
    let scores = score_all(&model.scorer, &data.select(&[0]));
    let explained = explain(&model, row, &scores);
    let sum = explained.bias + explained.parts.iter().map(|part| part.added).sum::<f64>();
    assert!((sum - explained.difference).abs() < 1e-9, "{explained:?}");
}

#[test]
fn bayes_refuses_what_is_negative_and_counts_products() {
    let error = train(&rings(20), None, &settings(LearnerName::Bayes, POLY), &mut Unwatched).unwrap_err();
    assert!(error.what().contains("not negative"), "{error}");
    let mut data = rings(20);
    let (mapper, mut builder) = (Mapper::new(POLY, 2).unwrap(), Builder::new(Layout::Sparse));
    (0..20u32).for_each(|i| builder.push(&[i % 2], &[1.0]));
    data.rows = builder.finish();
    data.rows.widen(2);
    let fit = train(&data, None, &settings(LearnerName::Bayes, POLY), &mut Unwatched).unwrap();
    assert_eq!(fit.train_error, Some(0.0));
    let Scorer::Mapped(mapped) = &fit.model.scorer else { panic!("mapped") };
    assert_eq!(mapped.mapper, mapper);
}

#[test]
fn rows_that_would_become_too_many_entries_are_refused_with_a_hint() {
    let mut builder = Builder::new(Layout::Sparse);
    let indices: Vec<u32> = (0..3000).collect();
    (0..300).for_each(|_| builder.push(&indices, &vec![1.0; 3000]));
    let error = builder.finish().mapped(&Mapper::new(POLY, 3000).unwrap()).unwrap_err();
    assert!(error.what().contains("poly:2") && error.advice().unwrap().contains("`online`"), "{error}");
}
