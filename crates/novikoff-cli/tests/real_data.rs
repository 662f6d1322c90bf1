//! Real data, where there is some: `NOVIKOFF_DATA` names its folder, else `../shared/data` beside the project
//! is looked for.

// A skip says why.
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("NOVIKOFF_DATA").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root.join("../shared/data"));
    if !folder.is_dir() {
        println!("skipped: there is no folder {}; NOVIKOFF_DATA may name one", folder.display());
        return None;
    }
    Some(folder)
}

/// The file of this name, compressed or not.
fn file(name: &str) -> Option<PathBuf> {
    let folder = folder()?;
    let found = ["", ".xz", ".gz"]
        .iter()
        .map(|ending| folder.join(format!("{name}{ending}")))
        .find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: there is no {name} in {}", folder.display());
    }
    found
}

fn novikoff(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_novikoff")).args(arguments).output().unwrap()
}

/// Trains on a file, with what else is said, and returns what `--json` prints.
fn train(data: &Path, more: &[&str]) -> Value {
    let data = data.to_str().unwrap();
    let output = novikoff(&[&["train", data, "--json"], more].concat());
    assert!(output.status.success(), "{data} {more:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What learns with no option given, and the averaged perceptron, err on at most this share of the test rows.
fn errs_at_most(train_name: &str, test_name: &str, most: f64) {
    let (Some(rows), Some(test)) = (file(train_name), file(test_name)) else { return };
    for (learner, named) in [("logistic", &[][..]), ("averaged", &["--learner", "averaged"])] {
        let told = train(&rows, &[named, &["--test", test.to_str().unwrap()]].concat());
        let error = told["test_error"].as_f64().unwrap();
        println!("{train_name}: {learner}: test error {error}");
        assert_eq!(told["learner"], learner);
        assert!(error <= most, "{train_name}: {learner}: {error} > {most}");
    }
}

#[test]
fn the_default_learner_does_well_on_a9a() {
    errs_at_most("a9a.svm", "a9a.t.svm", 0.16);
}

#[test]
fn the_default_learner_does_well_on_census() {
    errs_at_most("census.train.svm", "census.test.svm", 0.05);
}

#[test]
fn the_default_learner_does_well_on_mnist() {
    errs_at_most("mnist/train-images-idx3-ubyte", "mnist/t10k-images-idx3-ubyte", 0.085);
}

#[test]
fn the_default_learner_does_well_on_news20b() {
    errs_at_most("news20b.train.svm", "news20b.test.svm", 0.08);
}

#[test]
fn documents_need_no_option() {
    for (name, least) in [("r8", 0.970), ("20news", 0.82)] {
        let (Some(rows), Some(test)) =
            (file(&format!("{name}.train.tsv")), file(&format!("{name}.test.tsv")))
        else {
            return;
        };
        let told = train(&rows, &["--test", test.to_str().unwrap()]);
        let accuracy = 1.0 - told["test_error"].as_f64().unwrap();
        println!("{name}: accuracy {accuracy}");
        assert!(accuracy >= least, "{name}: {accuracy} < {least}");
    }
}

#[test]
fn mushrooms_are_separated() {
    for name in ["mushrooms.svm", "agaricus.train.svm"] {
        let Some(rows) = file(name) else { return };
        assert_eq!(train(&rows, &["--learner", "averaged"])["stopped"], "separated", "{name}");
        let told = train(&rows, &["--learner", "perceptron"]);
        assert_eq!(told["stopped"], "separated", "{name}");
        assert_eq!(told["train_error"], 0.0, "{name}");
        let (mistakes, bound) = (told["mistakes"].as_f64().unwrap(), told["mistake_bound"].as_f64().unwrap());
        assert!(mistakes <= bound, "{name}: {mistakes} > {bound}");
    }
}

#[test]
fn tables_run_to_a_model() {
    for (name, more, most) in [
        ("titanic.csv", &["--label", "survived", "--missing", "indicator"][..], 0.45),
        ("bank-full.csv", &[], 0.2),
        ("adult.train.csv", &["--label", "15", "--missing", "indicator", "--no-header"], 0.3),
        ("haberman.csv", &["--no-header", "--label", "4"], 0.4),
    ] {
        let Some(rows) = file(name) else { return };
        let error = train(&rows, more)["train_error"].as_f64().unwrap();
        println!("{name}: train error {error}");
        assert!(error < most, "{name}: {error}");
    }
}

#[test]
fn numbers_to_predict_are_predicted_as_numbers_and_classes_as_classes() {
    for (name, more, regression) in [
        ("california_housing.csv", &["--label", "median_house_value", "--missing", "mean"][..], true),
        ("diamonds.csv", &["--label", "price"], true),
        ("diamonds.csv", &["--label", "clarity", "--epochs", "1"], false),
        ("titanic.csv", &["--label", "age", "--missing", "zero", "--skip-bad-rows"], true),
        ("titanic.csv", &["--label", "pclass", "--missing", "zero"], false),
        ("adult.train.csv", &["--label", "1", "--missing", "zero", "--no-header"], true),
        ("bank-full.csv", &["--label", "balance"], true),
        ("winequality-white.csv", &["--label", "12", "--no-header"], false),
        ("haberman.csv", &["--label", "2", "--no-header"], true),
        ("diabetes_regression.svm", &[], true),
        ("letter.scale.tr.svm", &["--epochs", "1"], false),
        ("digits.svm", &["--epochs", "1"], false),
        ("news20.svm", &["--epochs", "1"], false),
        ("rcv1_multiclass.vw", &["--epochs", "1"], false),
    ] {
        let Some(rows) = file(name) else { return };
        let told = train(&rows, more);
        let expected = if regression { "regression" } else { "classification" };
        println!("{name} {more:?}: {expected}");
        assert_eq!(told["task"], expected, "{name} {more:?}");
    }
}

#[test]
fn numbers_to_predict_are_refused_by_a_learner_for_classes_with_the_way_out() {
    let Some(rows) = file("california_housing.csv") else { return };
    let label = ["--label", "median_house_value", "--missing", "mean", "--learner", "svm"];
    let output = novikoff(&[&["train", rows.to_str().unwrap()], &label[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("look like numbers") && said.contains("regression learner"), "{said}");
}
