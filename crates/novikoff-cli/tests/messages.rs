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

/// Rows, a column and labels that would clear a screen, turn text around or end a line.
fn hostile(here: &Path) {
    let labels = ["\u{1b}[2Jx", "\u{202e}a\\b", "tab\tand\nline"];
    let row = |i: usize| format!("{},{},\"{}\"\n", i % 5, i * 3 % 7, labels[i % 3]);
    let rows: String = (0..60).map(row).collect();
    fs::write(here.join("hostile.csv"), format!("a\u{1b}[31m,b\u{9b}1m,class\n{rows}")).unwrap();
}

#[test]
fn nothing_that_is_printed_for_people_moves_the_cursor() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    hostile(here);
    assert!(run("train hostile.csv --learner logistic -o it.model", here).status.success());
    for words in [
        "train hostile.csv --learner averaged",
        "evaluate it.model hostile.csv",
        "predict it.model hostile.csv --scores",
        "predict it.model hostile.csv --top 2",
        "predict it.model hostile.csv --explain",
        "predict it.model hostile.csv --with class",
        "inspect it.model",
        "margin hostile.csv",
        "margin hostile.csv --multiclass pairs",
        "evaluate --folds 2 hostile.csv --learner averaged",
        "train no\u{1b}[31msuch.csv",
        "train hostile.csv --label no\u{1b}[31msuch",
        "train hostile.csv --no\u{1b}[31msuch",
    ] {
        let output = run(words, here);
        let printed = text(&output.stdout) + &text(&output.stderr);
        let moves = |c: &char| c.is_control() && !"\n\t".contains(*c) || *c == '\u{202e}';
        assert_eq!(printed.chars().find(moves), None, "{words}: {printed:?}");
        assert!(!printed.contains("and\nline") && !printed.contains("tab\tand"), "{words}: {printed:?}");
    }
    let told = object(&run("inspect it.model --json", here));
    assert!(told["labels"].as_array().unwrap().contains(&json!("tab\tand\nline")));
}

#[test]
fn long_names_are_short_in_messages_and_tables() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let long = "n".repeat(1_000_000);
    fs::write(here.join("long.csv"), format!("{long},b,label\n1,2,x\n2,1,y\n3,1,x\n0,2,y\n")).unwrap();
    assert!(run("train long.csv -o it.model", here).status.success());
    let several = [
        "train long.csv --label nosuch",
        "train long.csv --drop b,label",
        "inspect it.model",
        "tune long.csv --folds 9",
    ];
    for words in several {
        let output = run(words, here);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(printed.len() < 4000, "{words}: {}", printed.len());
    }
}

#[test]
fn arguments_in_each_others_place_are_told_so() {
    let folder = folder();
    let hint = |words: &str| {
        let output = run(words, folder.path());
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).lines().find_map(|line| line.strip_prefix("hint: ").map(str::to_owned)).unwrap()
    };
    assert_eq!(
        hint("predict good.svm it.model"),
        "it.model is a model, and stands first: predict MODEL DATA"
    );
    assert_eq!(
        hint("evaluate good.svm it.model"),
        "it.model is a model, and stands first: evaluate MODEL DATA"
    );
    assert_eq!(
        hint("verify good.svm it.model"),
        "the certificate stands first: verify CERTIFICATE DATA [MODEL]"
    );
}

#[test]
fn one_column_alone_may_be_several_with_another_delimiter() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("pipes.csv"), "a|b|label\n1|2|x\n2|1|y\n").unwrap();
    let said = text(&run("train pipes.csv", folder.path()).stderr);
    assert!(
        said.contains("hint: there is one column alone: does '|' separate fields? --delimiter '|'"),
        "{said}"
    );
    assert!(run("train pipes.csv --delimiter |", folder.path()).status.success());
}

#[test]
fn costs_of_a_path_count_rows_by_their_weights() {
    let folder = TempDir::new().unwrap();
    let rows: String =
        (0..20).map(|i| format!("{},{},{}\n", i % 7, "xy".split_at(i % 2).1.len(), i % 3 + 1)).collect();
    fs::write(folder.path().join("rows.csv"), format!("a,label,w\n{rows}")).unwrap();
    let words = "rows.csv --row-weights w --learner svm --json";
    let tuned = object(&run(&format!("tune {words} --lambdas 0.5,0.125 --folds 2"), folder.path()));
    for tried in tuned["path"].as_array().unwrap() {
        let cost = tried["cost"].as_f64().unwrap();
        let trained = object(&run(&format!("train {words} --cost {cost}"), folder.path()));
        let (one, other) = (trained["lambda"].as_f64().unwrap(), tried["lambda"].as_f64().unwrap());
        assert!((one - other).abs() < 1e-12, "{one} {other}");
    }
}

#[test]
fn bounds_that_say_nothing_are_said_to_be_none() {
    let folder = TempDir::new().unwrap();
    let printed = |words: &str| text(&run(words, folder.path()).stdout);
    let few = printed("bounds --features 20 --rows 10");
    assert!(few.contains("realizable: too few for any bound on the error; agnostic: too few"), "{few}");
    let tiny = printed("bounds --features 20 --epsilon 1e-300 --delta 1e-9");
    assert!(tiny.contains("more than 1.845e19 rows are enough") && tiny.contains("1.000e-298 %"), "{tiny}");
    assert!(tiny.contains("with a probability of all but 1.000e-9"), "{tiny}");
}

#[test]
fn a_margin_that_stays_wide_says_why() {
    let folder = TempDir::new().unwrap();
    let example = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let cancer = example("breast_cancer.csv").display().to_string();
    let wide = text(&run(&format!("margin {cancer} --rounds 3"), folder.path()).stdout);
    assert!(wide.contains("and 0.001000 was asked for; ") && wide.contains("try more --rounds"), "{wide}");
    let narrow = text(&run(&format!("margin {}", example("petals.csv").display()), folder.path()).stdout);
    assert!(!narrow.contains("was asked for"), "{narrow}");
}
