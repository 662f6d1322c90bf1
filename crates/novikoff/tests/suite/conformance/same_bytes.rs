//! The same bytes of model for the same data, seed and settings.

use super::cases::{
    Case, bayes_cases, cases, counts, every_case, fit, predictions, rows_for, separable, svmlight, truths,
};
use crate::with::With;
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::model::to_bytes;
use novikoff::multiclass::Scheme;
use novikoff::random::Random;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use std::fmt::Write;

fn bytes(case: &Case, data: &Dataset) -> Vec<u8> {
    to_bytes(&fit(case, data).model).unwrap()
}

#[test]
fn twice_the_same_gives_the_same_bytes() {
    for case in every_case() {
        let data = rows_for(&case, 100, 1);
        assert_eq!(bytes(&case, &data), bytes(&case, &data), "{case}");
    }
}

#[test]
fn the_number_of_threads_that_learn_changes_no_byte() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, three) = (pool(1), pool(3));
    for case in every_case() {
        let (data, held) = rows_for(&case, 1500, 2).split(0.5, 1).unwrap();
        let settings = case.settings.clone().with_epochs(3);
        let train = || {
            let fit = novikoff::train::train(&data, Some(&held), &settings, &mut Unwatched).unwrap();
            to_bytes(&fit.model).unwrap()
        };
        assert_eq!(one.install(train), three.install(train), "{case}");
    }
}

/// So many rows that a second thread copies them side by side in the order of their turns.
#[test]
fn a_thread_that_copies_rows_changes_no_byte() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    for case in cases() {
        let case = Case { settings: case.settings.clone().with_epochs(3), ..case };
        let data = rows_for(&case, 9_000, 2);
        assert!(one.install(|| bytes(&case, &data)) == two.install(|| bytes(&case, &data)), "{case}");
    }
}

/// So many features and entries that a second thread looks at rows before their turn.
#[test]
fn a_thread_that_goes_ahead_changes_no_byte() {
    let mut random = Random::new(5);
    let mut text = String::new();
    for row in 0..2_400 {
        let mut indices: Vec<u64> = (0..300).map(|j| 1 + random.below(1 << (6 + j % 12))).collect();
        indices.extend([1 << 17, (1 << 17) + 1 + row]);
        indices.sort_unstable();
        indices.dedup();
        let positive = indices.iter().filter(|&&j| j % 3 == 0).count() * 3 > indices.len();
        // One value in most rows, so that some are even; more in a few.
        let entries: String = indices
            .iter()
            .map(|j| format!(" {j}:{}", if row % 7 == 0 && j % 5 == 0 { 0.5 } else { 0.25 }))
            .collect();
        writeln!(text, "{}{entries}", i32::from(positive)).unwrap();
    }
    for text in [text.clone(), text.replace(":0.5", ":0.25")] {
        let input = Input::Bytes { name: "memory".into(), bytes: text.into_bytes().into() };
        let options = Options { format: Some(Format::Svmlight), ..Options::default() };
        let data = Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap();
        assert!(data.rows.stored() > 1 << 19 && data.rows.columns() > 1 << 17);
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (one, two) = (pool(1), pool(2));
        for case in cases().into_iter().filter(|case| case.scheme == Scheme::Two) {
            let case = Case { settings: case.settings.clone().with_epochs(4), ..case };
            assert!(one.install(|| bytes(&case, &data)) == two.install(|| bytes(&case, &data)), "{case}");
        }
    }
}

#[test]
fn the_number_of_threads_that_read_changes_no_byte() {
    read_by_threads(&svmlight(&separable(2, 6000, 3)), cases());
    read_by_threads(&svmlight(&counts(2, 12_000, 3)), bayes_cases());
}

fn read_by_threads(text: &str, cases: Vec<Case>) {
    assert!(text.len() > 1 << 19, "more than two blocks");
    let read = |threads: usize| {
        let input = Input::Bytes { name: "memory".into(), bytes: text.as_bytes().into() };
        let options = Options { format: Some(Format::Svmlight), threads, ..Options::default() };
        Reader::open(&input, &options, &Purpose::Training).unwrap().read(&mut Unwatched).unwrap()
    };
    let (one, two, five) = (read(1), read(2), read(5));
    for case in cases.into_iter().filter(|case| case.classes == 2) {
        let case = Case { settings: case.settings.clone().with_epochs(1), ..case };
        let expected = bytes(&case, &one);
        assert!(bytes(&case, &two) == expected && bytes(&case, &five) == expected, "{case}");
    }
}

#[test]
fn another_seed_gives_a_model_as_good() {
    let mut differing = 0;
    for case in every_case() {
        let data = rows_for(&case, 120, 4);
        let other = Case { settings: case.settings.clone().with_seed(1), ..case.clone() };
        for case in [&case, &other] {
            let wrong = predictions(&fit(case, &data).model, &data)
                .iter()
                .zip(truths(&data))
                .filter(|(p, t)| *p != t)
                .count();
            assert!(wrong <= 2, "{case}, seed {}: {wrong} wrong", case.settings.shared().seed);
        }
        differing += usize::from(bytes(&case, &data) != bytes(&other, &data));
    }
    assert_eq!(differing, every_case().len(), "the seed is part of the model");
}
