//! Models of LIBLINEAR and Vowpal Wabbit predict here what they predict there, and the other way round.
//! `tests/foreign/README.md` says how the models and their predictions were made.

use novikoff::data::as_number;
use novikoff::model::{Scorer, Target, Task, from_bytes, import_text, to_bytes};
use novikoff::{Dataset, LinearSvm, LogisticRegression, Model, Perceptron};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

fn foreign(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}

fn import(name: &str) -> Model {
    Model::import(foreign(name), None).unwrap()
}

/// The lines of predictions: what is predicted, then other numbers.
fn expected(name: &str) -> Vec<(f64, Vec<f64>)> {
    let text = fs::read_to_string(foreign(name)).unwrap();
    let line = |line: &str| {
        let mut numbers = line.split('\t').map(|number| number.parse::<f64>().unwrap());
        (numbers.next().unwrap(), numbers.collect())
    };
    text.lines().map(line).collect()
}

fn numbers(labels: &[&str]) -> Vec<f64> {
    labels.iter().map(|label| as_number(label).unwrap()).collect()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {a}, not {b}");
    }
}

const OF_LIBLINEAR: [(&str, &str); 7] = [
    ("two-lr", "two.svm"),
    ("two-l1lr", "two.svm"),
    ("two-svc", "two.svm"),
    ("two-cs", "two.svm"),
    ("three-lr", "three.svm"),
    ("three-cs", "three.svm"),
    ("three-svc", "three.svm"),
];

/// Among the rows is one without features, whose score is exactly zero where there is no bias.
#[test]
fn models_of_liblinear_predict_as_liblinear_does() {
    for (name, rows) in OF_LIBLINEAR {
        let model = import(&format!("{name}.txt"));
        let data = model.read(foreign(rows)).unwrap();
        let theirs = expected(&format!("{name}.expected"));
        let labels: Vec<f64> = theirs.iter().map(|(label, _)| *label).collect();
        assert_eq!(numbers(&model.predict(&data).unwrap()), labels, "{name}");
        let scores = model.scores(&data).unwrap();
        assert_eq!(model.probabilities.is_some(), name.ends_with("lr"), "{name}");
        for (i, (_, of_row)) in theirs.iter().enumerate() {
            let mut theirs = of_row.clone();
            if rows == "three.svm" {
                theirs.reverse();
            }
            if model.probabilities.is_some() {
                let found = &model.probabilities(&data).unwrap()[i];
                assert_near(found, &theirs, 1e-12, name);
            } else if rows == "two.svm" {
                assert_near(&[-scores[i]], &theirs[..1], 1e-12, name);
            } else {
                assert_near(&scores[i * 3..(i + 1) * 3], &theirs, 1e-12, name);
            }
        }
    }
}

#[test]
fn numbers_are_predicted_as_liblinear_does() {
    for name in ["svr", "svr-l1"] {
        let model = import(&format!("{name}.txt"));
        assert_eq!(model.task(), Task::Regression);
        let found = model.predict_numbers(&model.read(foreign("numbers.svm")).unwrap()).unwrap();
        let theirs: Vec<f64> = expected(&format!("{name}.expected")).iter().map(|line| line.0).collect();
        assert_near(&found, &theirs, 1e-12, name);
    }
}

/// It computes in single precision, and prints six digits.
const OF_VOWPAL_WABBIT: f64 = 2e-5;

#[test]
fn models_of_vowpal_wabbit_predict_as_vowpal_wabbit_does() {
    for (name, rows, task) in [
        ("vw-logistic", "vw-two.vw", None),
        ("vw-binary", "vw-two.vw", None),
        ("vw-all", "vw-two.vw", Some(Task::Regression)),
        ("vw-all", "vw-two.vw", Some(Task::Classes)),
        ("vw-numbers", "vw-numbers.vw", None),
        ("vw-classes", "vw-three.vw", None),
        ("vw-five", "vw-three.vw", None),
        ("vw-penalties", "vw-two.vw", None),
        ("vw-penalties-five", "vw-three.vw", None),
    ] {
        let model = Model::import(foreign(&format!("{name}.txt")), task).unwrap();
        // What is written can be read again, and is the same.
        let model = from_bytes(&to_bytes(&model).unwrap(), "model").unwrap();
        let data = model.read(foreign(rows)).unwrap();
        let theirs = expected(&format!("{name}.expected"));
        let scores = model.scores(&data).unwrap();
        for (i, (predicted, raw)) in theirs.iter().enumerate() {
            let scores = &scores[i * raw.len()..(i + 1) * raw.len()];
            // Of several classes the first of the best wins there, and here the last.
            let raw: Vec<f64> = raw.iter().rev().copied().collect();
            if model.task() == Task::Regression {
                assert_near(scores, &[*predicted], OF_VOWPAL_WABBIT, name);
                continue;
            }
            assert_near(scores, &raw, OF_VOWPAL_WABBIT, name);
            let label = numbers(&model.predict(&data).unwrap())[i];
            match name {
                "vw-binary" | "vw-classes" | "vw-five" | "vw-penalties-five" => {
                    assert_eq!(label, *predicted, "{name}")
                }
                "vw-logistic" => {
                    let probable = model.probabilities(&data).unwrap()[i][1];
                    assert_near(&[probable], &[*predicted], OF_VOWPAL_WABBIT, name);
                    assert_eq!(label, if *predicted >= 0.5 { 1.0 } else { -1.0 });
                }
                _ => assert_eq!(label, raw[0].signum(), "{name}"),
            }
        }
    }
}

#[test]
fn features_of_vowpal_wabbit_keep_their_names() {
    let model = import("vw-logistic.txt");
    let named = |wanted: &str| (0..1024).any(|j| model.schema.name(j).split('|').any(|name| name == wanted));
    for name in ["alpha^x", "alpha^x*beta^y", "alpha^z*alpha^w5*beta^w5", "u", "Constant"] {
        assert!(named(name), "{name}");
    }
    assert_eq!(model.schema.name(1), "hash 1");
}

/// The numbers of features that the imported model and the trained one disagree on are those of another
/// program's hash.
#[test]
fn rows_for_another_hash_are_refused() {
    let model = import("vw-logistic.txt");
    let data = Dataset::read(foreign("vw-two.vw")).unwrap();
    assert!(model.predict(&data).is_err());
}

/// A text, the line and the column of its fault, and what is said of it.
type Faulty = (String, u64, u64, &'static str);

#[test]
fn faults_of_texts_are_told_with_their_place() {
    let liblinear = fs::read_to_string(foreign("two-lr.txt")).unwrap();
    let three = fs::read_to_string(foreign("three-lr.txt")).unwrap();
    let vw = fs::read_to_string(foreign("vw-logistic.txt")).unwrap();
    let other = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let lines = liblinear.lines().count() as u64;
    let cases: [Faulty; 22] = [
        ("hello".into(), 1, 1, "neither a text model of LIBLINEAR nor"),
        (String::new(), 1, 1, "neither a text model of LIBLINEAR nor"),
        (other(&liblinear, "L2R_LR", "L3R"), 1, 13, "there is no solver \"L3R\""),
        (other(&liblinear, "nr_class 2", "nr_class two"), 2, 10, "\"two\" is not a whole number"),
        (other(&liblinear, "nr_feature 4", "nr_feature 4000000000"), 7, 1, "the file is shorter"),
        (other(&liblinear, "nr_feature 4", "nr_feature -4"), 4, 12, "\"-4\" is not a whole number"),
        (other(&liblinear, "bias 1", "bias nan"), 5, 6, "\"nan\" is not a finite number"),
        (other(&liblinear, "bias 1", "bias 1 2"), 5, 1, "\"bias\" has 2 values, not one"),
        (other(&liblinear, "bias 1", "color 1"), 5, 1, "the header has no \"color\""),
        (other(&liblinear, "label 1 -1", "label 1 one"), 3, 9, "\"one\" is not a number"),
        (other(&liblinear, "label 1 -1", "label 1 +1"), 0, 0, "a label is there twice"),
        (other(&liblinear, "label 1 -1", "label 1"), 0, 0, "nr_class is 2, and there are 1 labels"),
        (other(&liblinear, "\nw\n1.39", "\nw\ninf"), 7, 1, "is not a number"),
        (other(&liblinear, "\nw\n1.39", "\nw\n1 1.39"), 7, 3, "this line has more than 1 weights"),
        (other(&three, "\nw\n", "\nw\n1 2\n"), 7, 4, "this line has 2 weights, not 3"),
        (format!("{liblinear}\n7\n"), lines + 2, 1, "the file goes on behind its weights"),
        (fs::read_to_string(foreign("oneclass.txt")).unwrap(), 1, 13, "a model of one class"),
        (other(&vw, "--link", "--lrq ab3 --link"), 9, 29, "the option \"--lrq\" cannot be imported"),
        (other(&vw, "bits:10", "bits:60"), 0, 0, "a hash of 60 bits is longer than 31"),
        (other(&vw, "bits:10", "bits:31"), 0, 0, "are more weights than"),
        (other(&vw, "lda:0", "lda:5"), 6, 1, "models of topics (lda) cannot be imported"),
        (other(&vw, "logistic", "poisson"), 9, 40, "models with the link \"poisson\""),
    ];
    for (text, line, column, what) in cases {
        let error = import_text(&text, "model.txt", None).unwrap_err();
        let place = error.place().unwrap();
        assert!(error.what().contains(what), "{error}");
        if what.starts_with("models with the link") {
            assert_eq!(place.line, line, "{error}");
        } else {
            assert_eq!((place.line, place.column), (line, column), "{error}");
        }
    }
    let beyond = vw.lines().find(|line| line.starts_with("Constant:")).unwrap();
    for (to, what) in
        [("Constant:1024:1", "1024 is beyond the 1024 of 10 bits"), ("a:7:nan", "not a finite number")]
    {
        let error = import_text(&other(&vw, beyond, to), "model.txt", None).unwrap_err();
        assert!(error.what().contains(what), "{error}");
        let line = vw.lines().position(|line| line == beyond).unwrap() as u64 + 1;
        assert_eq!(error.place().unwrap().line, line);
    }
}

proptest! {
    #[test]
    fn spoiled_texts_never_panic_and_what_is_imported_can_be_saved(
        which in 0usize..5,
        spots in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9a-z:. \\n]{0,3}"), 1..6),
    ) {
        let name = ["two-lr.txt", "three-cs.txt", "svr.txt", "vw-logistic.txt", "vw-five.txt"][which];
        let mut text = fs::read_to_string(foreign(name)).unwrap();
        for (spot, with) in spots {
            let at = spot.index(text.len());
            text.replace_range(at..(at + with.len()).min(text.len()), &with);
        }
        match import_text(&text, "model", None) {
            Ok(model) => prop_assert!(to_bytes(&model).is_ok()),
            Err(error) => prop_assert!(error.place().is_some(), "{error}"),
        }
    }
}

#[test]
fn exported_and_imported_models_are_the_same() {
    for (name, _) in OF_LIBLINEAR.into_iter().chain([("svr", ""), ("svr-l1", "")]) {
        let model = import(&format!("{name}.txt"));
        let text = String::from_utf8(model.exported(Target::Liblinear).unwrap()).unwrap();
        let again = import_text(&text, "exported", None).unwrap();
        assert_eq!((&again.scorer, &again.labels), (&model.scorer, &model.labels), "{name}");
        assert_eq!(again.probabilities, model.probabilities, "{name}");
    }
}

#[test]
fn learned_models_predict_the_same_after_an_export() {
    let data = Dataset::read(foreign("three.svm")).unwrap();
    let two = Dataset::read(foreign("two.svm")).unwrap();
    for (model, data) in [
        (LogisticRegression::new().fit(&data).unwrap().model, &data),
        (LinearSvm::new().fit(&data).unwrap().model, &data),
        (LogisticRegression::new().fit(&two).unwrap().model, &two),
        (Perceptron::averaged().fit(&two).unwrap().model, &two),
    ] {
        let text = String::from_utf8(model.exported(Target::Liblinear).unwrap()).unwrap();
        let again = import_text(&text, "exported", None).unwrap();
        assert_eq!(again.predict(data).unwrap(), model.predict(data).unwrap());
        // The softmax of several classes is not what LIBLINEAR makes of its scores.
        let keeps = model.probabilities.is_some() && model.labels.len() == 2;
        assert_eq!(again.probabilities.is_some(), keeps);
    }
}

#[test]
fn what_liblinear_cannot_express_is_refused_with_a_hint() {
    let table = Dataset::from_dense(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
    let named = table.with_labels(&["cold", "cold", "hot", "hot"]).unwrap();
    let clipped = import("vw-numbers.txt");
    let words = LinearSvm::new().fit(&named).unwrap().model;
    for model in [clipped, words] {
        let error = model.exported(Target::Liblinear).unwrap_err();
        assert!(error.advice().is_some_and(|hint| hint.contains("FILE.onnx")), "{error}");
    }
}

/// These files were read by onnxruntime, which predicted what is in the files of predictions.
#[test]
fn exports_are_the_bytes_that_onnxruntime_has_read() {
    for name in ["two-lr", "two-svc", "three-lr", "three-svc", "svr", "vw-numbers"] {
        let bytes = import(&format!("{name}.txt")).exported(Target::Onnx).unwrap();
        assert_eq!(bytes, fs::read(foreign(&format!("{name}.onnx"))).unwrap(), "{name}");
    }
}

#[test]
fn the_ending_of_a_name_says_the_format() {
    let model = import("two-lr.txt");
    for name in ["model", "model.txt", "model.ONNX.gz", "onnx"] {
        let error = model.export(name).unwrap_err();
        assert!(error.advice().is_some_and(|hint| hint.contains("FILE.onnx or FILE.liblinear")), "{error}");
    }
}

#[test]
fn a_model_of_numbers_stays_in_the_range_of_its_labels() {
    let model = import("vw-numbers.txt");
    let Scorer::Clipped(clipped) = &model.scorer else { panic!("{:?}", model.scorer) };
    let (least, most) = (clipped.least, clipped.most);
    let all: Vec<(u32, f64)> = (0..512).map(|j| (j, 1e6 * clipped.weights.weight(j as usize, 0))).collect();
    let (indices, values): (Vec<u32>, Vec<f64>) = all.into_iter().unzip();
    let row = novikoff::data::Row::Sparse64(&indices, &values);
    assert_eq!(model.scores_of(row).unwrap(), [most]);
    let negative: Vec<f64> = values.iter().map(|x| -x).collect();
    assert_eq!(model.scores_of(novikoff::data::Row::Sparse64(&indices, &negative)).unwrap(), [least]);
}
