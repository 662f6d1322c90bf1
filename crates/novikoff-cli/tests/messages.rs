//! What is said besides results: warnings, progress and errors, to people and to scripts.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn run(words: &str, here: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    command.args(words.split(' ')).current_dir(here).env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn object(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The last line of standard error, which is an object.
fn failure(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert_eq!(text(&output.stdout), "");
    let said = text(&output.stderr);
    assert!(said.starts_with("error: "), "{said}");
    serde_json::from_str(said.lines().last().unwrap()).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Rows of which some are bad, a model of the good ones, and more.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let rows: String = (0..60).map(|i| format!("{} 1:{} 2:{}\n", 2 * (i % 2) - 1, i % 7, i % 5)).collect();
    fs::write(here.join("rows.svm"), format!("{rows}x 1:y\n{rows}+1 2:1 2:1\n")).unwrap();
    fs::write(here.join("good.svm"), rows).unwrap();
    assert!(run("train good.svm -o it.model", here).status.success());
    folder
}

#[test]
fn warnings_are_shown_unless_quiet_and_stand_in_the_object_either_way() {
    let folder = folder();
    for words in [
        "train rows.svm --skip-bad-rows --learner averaged",
        "train rows.svm --skip-bad-rows --learner averaged --online",
        "train good.svm --learner averaged --test rows.svm --skip-bad-rows",
        "tune rows.svm --skip-bad-rows --learner logistic --lambdas 1 --folds 2",
        "evaluate it.model rows.svm --skip-bad-rows",
        "margin rows.svm --skip-bad-rows --decide",
        "compare rows.svm --skip-bad-rows --learners voted --kernels linear --epochs 1",
        "rows rows.svm /dev/null --skip-bad-rows",
    ] {
        let expected = "rows.svm: 2 bad rows left out: rows.svm:61:5: ";
        let output = run(&format!("{words} --json"), folder.path());
        let told = object(&output);
        let warnings = told["warnings"].as_array().unwrap_or_else(|| panic!("{words}"));
        assert_eq!(warnings.len(), 1, "{words}: {warnings:?}");
        assert!(warnings[0].as_str().unwrap().starts_with(expected), "{words}: {warnings:?}");
        assert!(
            text(&output.stderr).starts_with("warning: rows.svm: 2 bad rows left out\n  rows.svm:61:5: ")
        );
        let quiet = run(&format!("{words} --json --quiet"), folder.path());
        assert_eq!((text(&quiet.stderr), &object(&quiet)["warnings"]), (String::new(), &told["warnings"]));
    }
    assert_eq!(object(&run("evaluate it.model good.svm --json", folder.path()))["warnings"], json!([]));
    let quiet = run("--quiet predict it.model rows.svm --skip-bad-rows", folder.path());
    assert_eq!((text(&quiet.stderr), text(&quiet.stdout).lines().count()), (String::new(), 122));
}

#[test]
fn a_failure_is_told_to_people_and_with_json_as_an_object_on_the_last_line() {
    let folder = folder();
    let here = folder.path();
    let told = failure(&run("train rows.svm --json", here));
    assert!(told["error"].as_str().unwrap().starts_with("the value \"y\""), "{told}");
    assert_eq!((&told["file"], &told["line"], &told["column"]), (&json!("rows.svm"), &json!(61), &json!(5)));
    let told = failure(&run("train nothing.svm --json", here));
    let expected = json!({"error": "there is no such file", "hint": null, "file": "nothing.svm",
        "line": null, "column": null});
    assert_eq!(told, expected);
    for words in ["train good.svm -o good.svm --json", "predict it.model good.svm --json --row-weights w"] {
        assert!(failure(&run(words, here))["hint"].is_string(), "{words}");
    }
    let told = failure(&run("train good.svm --lerner averaged --json", here));
    assert_eq!(told["error"], "unexpected argument '--lerner' found");
    assert_eq!(told["hint"], "a similar argument exists: '--learner'");
    let told = failure(&run("train good.svm -c 1 --json", here));
    assert_eq!(told["error"], "there is no option -c");
    assert!(told["hint"].as_str().unwrap().contains("--cost"), "{told}");
    assert!(!text(&run("train nothing.svm", here).stderr).contains('{'));
}

#[test]
fn options_of_other_programs_lead_to_ours() {
    let folder = folder();
    for (words, ours) in [
        ("train good.svm -c 1", "--cost C"),
        ("train -s 2 good.svm", "--learner squared-svm"),
        ("train good.svm -b 18", "--hash-bits N"),
        ("train good.svm -b18", "--hash-bits N"),
        ("predict it.model good.svm -b 1", "--probabilities"),
        ("train good.svm --passes 3", "--epochs N"),
        ("train good.svm --passes=3", "--epochs N"),
        ("predict it.model good.svm -q", "--quiet"),
        ("tune good.svm -f it.model", "-o MODEL"),
    ] {
        let output = run(words, folder.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(said.starts_with("error: there is no option -") && said.contains(ours), "{words}: {said}");
    }
}

#[test]
fn verbose_says_every_epoch_on_standard_error() {
    let folder = folder();
    let output = run("train good.svm --learner averaged --epochs 3 --verbose --json", folder.path());
    let epochs = object(&output)["epochs"].as_u64().unwrap() as usize;
    let said = text(&output.stderr);
    assert_eq!(said.lines().filter(|line| line.contains(" made ")).count(), epochs, "{said}");
    assert_eq!(run("train good.svm --verbose --quiet", folder.path()).status.code(), Some(2));
}

#[test]
fn pages_and_pictures_are_listed_where_they_are_written() {
    let folder = folder();
    for words in [
        "train good.svm --learner averaged --picture points=a.svg --picture errors=b.svg",
        "margin good.svm --picture points=a.svg",
        "compare good.svm --learners voted --kernels linear --epochs 1 --picture errors=b.svg",
    ] {
        let told = object(&run(&format!("{words} --report page.html --json"), folder.path()));
        let names: Vec<Value> = words
            .split(' ')
            .filter_map(|word| word.split_once('='))
            .map(|(name, file)| json!({"name": name, "file": file}))
            .collect();
        assert_eq!((&told["report"], &told["pictures"]), (&json!("page.html"), &json!(names)), "{words}");
        let output = run(&format!("{words} --report page.html"), folder.path());
        let said = text(&output.stdout);
        assert!(said.contains("page.html"), "{said}");
        for name in names {
            let file = name["file"].as_str().unwrap();
            assert!(said.contains(&format!("{file} (")) && folder.path().join(file).is_file(), "{said}");
        }
    }
}

#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let coloured = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
        command.args(["train", "--lerner"]).env_remove("NO_COLOR").envs(variables.iter().copied());
        command.output().unwrap().stderr.contains(&0x1b)
    };
    assert!(!coloured(&[]), "this is no terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}
