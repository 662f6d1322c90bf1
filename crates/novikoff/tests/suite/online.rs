//! Learning from one row at a time: the same as from a stream, and the same after a pause.

use novikoff::control::Unwatched;
use novikoff::data::Row;
use novikoff::evaluate::CalibrationMethod;
use novikoff::online::rule::Aggressiveness;
use novikoff::read::{Format, Input, Options, Purpose, Reader};
use novikoff::train::{ClassWeight, train_online};
use novikoff::{Online, PassiveAggressive, Perceptron};
use proptest::prelude::*;

type Rows = Vec<(Vec<(u32, f64)>, usize)>;

const LABELS: [&str; 3] = ["a", "b", "c"];

/// Sparse rows of three labels.
fn rows() -> impl Strategy<Value = Rows> {
    let entries = prop::collection::btree_map(0u32..40, -3.0..3.0f64, 0..6);
    let row = (entries, 0usize..3).prop_map(|(entries, label)| (entries.into_iter().collect(), label));
    prop::collection::vec(row, 2..60)
}

fn learn(online: &mut Online, rows: &[(Vec<(u32, f64)>, usize)]) {
    for (entries, label) in rows {
        let (columns, values): (Vec<u32>, Vec<f64>) = entries.iter().copied().unzip();
        online.learn(Row::Sparse64(&columns, &values), LABELS[*label]).unwrap();
    }
}

/// Every learner that learns from one row at a time.
fn learners() -> Vec<Online> {
    vec![
        Perceptron::new().online().unwrap(),
        Perceptron::averaged().online().unwrap(),
        Perceptron::averaged().normalise().step(0.5).online().unwrap(),
        PassiveAggressive::new().online().unwrap(),
        PassiveAggressive::new().aggressiveness(Aggressiveness::Damped(0.1)).online().unwrap(),
        Perceptron::averaged()
            .class_weight(ClassWeight::Given(vec![("b".into(), 2.5)]))
            .positive("a")
            .online()
            .unwrap(),
    ]
}

proptest! {
    #[test]
    fn a_resumed_learner_is_the_one_that_never_stopped(rows in rows(), pause in 0usize..60) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.state");
        let pause = pause.min(rows.len());
        for mut online in learners() {
            learn(&mut online, &rows[..pause]);
            let saved = online.save(&file);
            // Without two labels, or with another than the positive one, there is no model yet.
            if saved.is_err() {
                prop_assert!(online.model().is_err() && !file.exists());
                continue;
            }
            let mut resumed = Online::resume(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            learn(&mut online, &rows[pause..]);
            learn(&mut resumed, &rows[pause..]);
            prop_assert_eq!(online.rows(), resumed.rows());
            prop_assert_eq!(online.progressive_error(), resumed.progressive_error());
            match (online.model(), resumed.model()) {
                (Ok(whole), Ok(parts)) => prop_assert_eq!(whole, parts),
                (whole, parts) => prop_assert_eq!(whole.unwrap_err(), parts.unwrap_err()),
            }
        }
    }

    #[test]
    fn rows_one_at_a_time_give_the_weights_of_a_stream(rows in rows()) {
        let text: String = rows
            .iter()
            .map(|(entries, label)| {
                let entries: String = entries.iter().map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
                format!("{}{entries}\n", LABELS[*label])
            })
            .collect();
        let options = Options { format: Some(Format::Svmlight), ..Options::default() };
        let input = Input::Bytes { name: "rows".into(), bytes: text.into_bytes().into() };
        let reader = || Reader::open_stream(&input, &options, &Purpose::Training).unwrap();
        let calibrated = Perceptron::averaged().calibrate(CalibrationMethod::Platt);
        let refused = train_online(reader(), &calibrated.into(), &mut Unwatched).unwrap_err();
        prop_assert!(refused.what().contains("a stream keeps no rows"), "{}", refused);
        let mut online = Perceptron::averaged().online().unwrap();
        learn(&mut online, &rows);
        let streamed = train_online(reader(), &Perceptron::averaged().into(), &mut Unwatched);
        match (online.model(), streamed) {
            (Ok(model), Ok(fit)) => {
                prop_assert_eq!(&model.scorer, &fit.model.scorer);
                prop_assert_eq!(online.progressive_error(), fit.stream().unwrap().progressive_error);
            }
            (model, streamed) => prop_assert!(model.is_err() && streamed.is_err()),
        }
    }

    #[test]
    fn a_damaged_state_is_refused_or_read_and_never_panics(
        rows in rows(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.state");
        let mut online = Perceptron::averaged().online().unwrap();
        learn(&mut online, &rows);
        prop_assume!(online.labels().len() >= 2);
        online.save(&file).unwrap();
        let mut bytes = std::fs::read(&file).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        std::fs::write(&file, bytes).unwrap();
        if let Ok(mut resumed) = Online::resume(&file) {
            learn(&mut resumed, &rows);
            let _ = resumed.model();
        }
    }
}

#[test]
fn what_cannot_be_learned_from_is_refused_and_changes_nothing() {
    let mut online = Perceptron::new().online().unwrap();
    online.learn(&[1.0, 2.0], "a").unwrap();
    online.learn(&[-1.0, 2.0], "b").unwrap();
    let before = online.model().unwrap();
    assert!(online.learn(&[f64::NAN], "a").unwrap_err().what().contains("NaN"));
    assert!(online.learn(Row::Sparse64(&[3, 1], &[1.0, 1.0]), "a").is_err());
    assert!(online.learn(Row::Sparse64(&[1], &[1.0, 1.0]), "a").is_err());
    assert!(online.learn_weighted(&[1.0], "a", -1.0).is_err());
    assert_eq!(online.model().unwrap(), before);
    assert!(Perceptron::new().online().unwrap().model().is_err(), "no labels yet");
}

#[test]
fn settings_that_cannot_work_show_at_once() {
    assert!(Perceptron::voted().online().is_err());
    assert!(Perceptron::new().step(-1.0).online().is_err());
    assert!(Perceptron::new().class_weight(ClassWeight::Balanced).online().is_err());
    let infinite = ClassWeight::Given(vec![("a".into(), f64::INFINITY)]);
    assert!(Perceptron::new().class_weight(infinite).online().is_err());
    assert!(PassiveAggressive::new().aggressiveness(Aggressiveness::Capped(0.0)).online().is_err());
}

#[test]
fn weights_that_have_overflowed_are_not_saved_over_a_good_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it.model");
    let mut online = Perceptron::averaged().online().unwrap();
    online.learn(&[1.0], "a").unwrap();
    online.learn(&[-1.0], "b").unwrap();
    online.save(&file).unwrap();
    let good = std::fs::read(&file).unwrap();
    for i in 0..9 {
        online.learn(&[if i % 2 == 0 { 1.7e308 } else { -1.7e308 }], ["b", "a"][i % 2]).unwrap();
    }
    assert!(online.save(&file).is_err());
    assert_eq!(std::fs::read(&file).unwrap(), good);
    Online::resume(&file).unwrap().learn(&[1.0], "a").unwrap();
}
