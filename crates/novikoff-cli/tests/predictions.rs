//! Every row of the input has its line of predictions, also the bad ones, with the columns that are wanted
//! beside it.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What a command prints, of which it is known that it succeeds.
fn run(arguments: &[&str], here: &Path) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_novikoff")).args(arguments).current_dir(here).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The error of a command that fails.
fn fail(arguments: &[&str], here: &Path) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_novikoff")).args(arguments).current_dir(here).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A format: its name, the start of a file, a good row by its number, a bad row, options to train with.
struct Format {
    name: &'static str,
    header: &'static str,
    good: fn(usize) -> String,
    bad: &'static [u8],
    training: &'static str,
}

fn label(i: usize) -> &'static str {
    if i.is_multiple_of(3) { "yes" } else { "no" }
}

const FORMATS: [Format; 5] = [
    Format {
        name: "svmlight",
        header: "",
        good: |i| format!("{} {}:1 {}:{}\n", label(i), 1 + i % 3, 4 + i % 7, i % 5),
        bad: b"yes 3:1 2:x\n",
        training: "--learner averaged",
    },
    Format {
        name: "csv",
        header: "id,a,b,class\n",
        good: |i| format!("\"r\n{i}\",{},{},{}\n", i % 3, i % 5, label(i)),
        bad: b"bad,not a number,1,yes\n",
        training: "--learner averaged --drop id",
    },
    Format {
        name: "vw",
        header: "",
        good: |i| format!("{} |f a{} b{}:{}\n", i32::from(i % 3 == 0), i % 3, i % 7, i % 5),
        bad: b"1 |f a:x\n",
        training: "--learner averaged",
    },
    Format {
        name: "text",
        header: "",
        good: |i| format!("{}\tword{} and word{}\n", label(i), i % 3, i % 7),
        bad: b"yes\tno \xff utf\n",
        training: "--learner averaged",
    },
    Format {
        name: "jsonl",
        header: "",
        good: |i| {
            format!("{}\n", json!({"label": label(i), "text": format!("word{} and word{}", i % 3, i % 7)}))
        },
        bad: b"{\"text\": 3 4}\n",
        training: "--learner averaged",
    },
];

/// Some of these rows are bad, in runs and alone, in the first block and in later ones.
fn is_bad(i: usize) -> bool {
    i < 3 || i % 1000 == 999 || (5000..5010).contains(&i) || i.is_multiple_of(97)
}

#[test]
fn the_line_of_a_bad_row_stays_where_the_row_is() {
    const ROWS: usize = 40_000;
    for Format { name, header, good, bad, training } in FORMATS {
        let folder = TempDir::new().unwrap();
        let here = folder.path();
        let all = |rows: Vec<usize>| header.to_owned() + &rows.into_iter().map(good).collect::<String>();
        fs::write(here.join("good"), all((0..ROWS).filter(|i| !is_bad(*i)).collect())).unwrap();
        let mut mixed = header.as_bytes().to_vec();
        for i in 0..ROWS {
            if is_bad(i) { mixed.extend_from_slice(bad) } else { mixed.extend_from_slice(good(i).as_bytes()) }
        }
        fs::write(here.join("mixed"), mixed).unwrap();
        let train =
            [&["train", "good", "--format", name, "-o", "it.model", "--epochs", "1"], &words(training)[..]];
        run(&train.concat(), here);
        for (form, threads) in [("--scores", "1"), ("--scores", "2"), ("--top=2", "2"), ("--json", "2")] {
            let options = ["--format", name, form, "--threads", threads];
            let expected = run(&[&["predict", "it.model", "good"], &options[..]].concat(), here);
            let mut expected = expected.lines().map(str::to_owned);
            let told =
                run(&[&["predict", "it.model", "mixed", "--skip-bad-rows"], &options[..]].concat(), here);
            assert_eq!(told.lines().count(), ROWS, "{name} {form}");
            for (i, line) in told.lines().enumerate() {
                if form != "--json" {
                    let good = if is_bad(i) { "?".to_owned() } else { expected.next().unwrap() };
                    assert_eq!(line, good, "{name} {form} row {i}");
                    continue;
                }
                let object: Value = serde_json::from_str(line).unwrap();
                if is_bad(i) {
                    assert_eq!(object, json!({"row": i + 1, "label": null, "bad": true}), "{name}");
                } else {
                    let mut good: Value = serde_json::from_str(&expected.next().unwrap()).unwrap();
                    good["row"] = json!(i + 1);
                    assert_eq!(object, good, "{name}");
                }
            }
        }
    }
}

#[test]
fn columns_stand_beside_the_rows_that_they_are_of() {
    const ROWS: usize = 30_000;
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let cell =
        |i: usize| ["plain", "a\ttab", "two\nlines", "back\\slash", "a \"quote\"", ""][i % 6].to_owned();
    let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
    let row = |i: usize| match i % 50 {
        7 => format!("{i},too,many,fields,for,a,row\n"),
        8 => format!("{i},{},x,1,no\n", quoted(cell(i))),
        _ => format!("{i},{},{},{},{}\n", quoted(cell(i)), i % 3, i % 5, label(i)),
    };
    let table: String = (0..ROWS).map(row).collect();
    fs::write(here.join("rows.csv"), format!("id,note,a,b,class\n{table}")).unwrap();
    fs::write(here.join("bare.csv"), &table).unwrap();
    run(
        &words("train rows.csv --drop id,note --skip-bad-rows --learner averaged --epochs 1 -o it.model"),
        here,
    );
    let plain = run(&words("predict it.model rows.csv --skip-bad-rows"), here);
    let escaped = |text: String| text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n");
    for threads in ["1", "2"] {
        for (data, with) in
            [("rows.csv", "note,id"), ("rows.csv", "2,1"), ("bare.csv --no-header", "note,id")]
        {
            let command =
                format!("predict it.model {data} --with {with} --skip-bad-rows --threads {threads}");
            let told = run(&words(&command), here);
            assert_eq!(told.lines().count(), ROWS);
            for (i, (line, label)) in told.lines().zip(plain.lines()).enumerate() {
                let expected = match i % 50 {
                    7 => "?\t?\t?".to_owned(),
                    _ => format!("{}\t{i}\t{label}", escaped(cell(i))),
                };
                assert_eq!(line, expected, "{command}");
            }
            let objects = run(&words(&format!("{command} --json")), here);
            for (i, (line, label)) in objects.lines().zip(plain.lines()).enumerate() {
                let object: Value = serde_json::from_str(line).unwrap();
                let whole = i % 50 != 7;
                assert_eq!(object["row"], i + 1);
                assert_eq!(object["with"]["note"], if whole { json!(cell(i)) } else { Value::Null });
                assert_eq!(object["with"]["id"], if whole { json!(i.to_string()) } else { Value::Null });
                assert_eq!(object["label"], if label == "?" { Value::Null } else { json!(label) });
            }
        }
    }
}

#[test]
fn a_column_that_the_model_never_saw_may_stand_beside_and_another_must_not() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    fs::write(here.join("rows.csv"), "a,b,class\n0,1,x\n1,0,y\n").unwrap();
    fs::write(here.join("new.csv"), "b,more,a,id\n1,-,0,7\n0,-,1,8\n").unwrap();
    run(&words("train rows.csv --learner averaged -o it.model"), here);
    assert_eq!(run(&words("predict it.model new.csv --with id --drop more"), here), "7\tx\n8\ty\n");
    assert_eq!(run(&words("predict it.model new.csv --with id,more"), here), "7\t-\tx\n8\t-\ty\n");
    assert!(fail(&words("predict it.model new.csv --with id"), here).contains("not trained on: \"more\""));
    assert!(fail(&words("predict it.model rows.csv --with id"), here).contains("there is no column \"id\""));
    fs::write(here.join("rows.svm"), "x 1:1\ny 2:1\n").unwrap();
    run(&words("train rows.svm --learner averaged -o svm.model"), here);
    assert!(
        fail(&words("predict svm.model rows.svm --with id"), here)
            .contains("--with names columns of a table")
    );
}

#[test]
fn labels_and_features_with_odd_characters_break_no_line() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    fs::write(here.join("odd.csv"), "\"f\tg\",b,class\n1,0,\"a\tb\"\n0,1,\"c\n\\d\"\n1,0,\"a\tb\"\n")
        .unwrap();
    run(&words("train odd.csv --learner averaged -o odd.model"), here);
    let told = run(&words("predict odd.model odd.csv"), here);
    assert_eq!(told, "a\\tb\nc\\n\\\\d\na\\tb\n");
    let told = run(&words("predict odd.model odd.csv --explain 1"), here);
    assert!(told.starts_with("a\\tb\tf\\tg +"), "{told}");
    fs::write(here.join("ask.svm"), "? 1:1\n! 2:1\n").unwrap();
    run(&words("train ask.svm --learner averaged -o ask.model"), here);
    fs::write(here.join("asked.svm"), "? 1:1\n! 2:1\n! 2:x\n").unwrap();
    assert_eq!(run(&words("predict ask.model asked.svm --skip-bad-rows"), here), "\\?\n!\n?\n");
}

#[test]
fn the_parts_of_an_explanation_add_up_to_its_sum() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    for (classes, scale) in [(2, 1.0), (3, 1.0), (2, 1e-9), (2, 1e12)] {
        let value = |i: usize, j: usize| scale * ((i * (j + 3) * 7 + j) % 11) as f64;
        let row = |i: usize| format!("{},{},{},c{}\n", value(i, 0), value(i, 1), value(i, 2), i % classes);
        fs::write(here.join("rows.csv"), format!("p,q,r,class\n{}", (0..40).map(row).collect::<String>()))
            .unwrap();
        run(&words("train rows.csv --learner logistic --scale max-abs -o it.model"), here);
        for shown in ["--explain 1", "--explain"] {
            for line in run(&words(&format!("predict it.model rows.csv {shown}")), here).lines() {
                let parts: Vec<(&str, f64)> = (line.split('\t').skip(1))
                    .map(|part| part.rsplit_once(' ').unwrap())
                    .map(|(name, added)| (name, added.parse().unwrap()))
                    .collect();
                let (last, others) = parts.split_last().unwrap();
                assert_eq!((last.0, others[others.len() - 1].0), ("(sum)", "(bias)"), "{line}");
                let sum: f64 = others.iter().map(|(_, added)| added).sum();
                let largest = parts.iter().map(|(_, added)| added.abs()).fold(0.0, f64::max);
                assert!(
                    (sum - last.1).abs() <= 3e-4 * largest.max(1e-300) + 3e-4 * f64::from(largest > 0.1),
                    "{line}"
                );
            }
        }
    }
}
