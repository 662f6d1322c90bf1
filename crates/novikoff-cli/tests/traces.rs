//! Traces of mistakes: what the lecture notes do by hand, row by row.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn run(words: &str, here: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_novikoff")).args(words.split(' ')).current_dir(here).output().unwrap()
}

fn succeeds(words: &str, here: &Path) -> String {
    let output = run(words, here);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn error(words: &str, here: &Path) -> String {
    let output = run(words, here);
    assert_eq!(output.status.code(), Some(2), "{words}");
    String::from_utf8(output.stderr).unwrap().lines().next().unwrap().to_owned()
}

/// Four rows of a table on a blackboard.
fn board() -> TempDir {
    let folder = TempDir::new().unwrap();
    let rows = "x1,x2,class\n1,1,1\n2,0,-1\n0,2,1\n-1,-1,-1\n";
    fs::write(folder.path().join("board.csv"), rows).unwrap();
    folder
}

#[test]
fn a_table_of_mistakes_is_the_one_that_is_made_by_hand() {
    let folder = board();
    let here = folder.path();
    let learning =
        "train board.csv --learner perceptron --scale none --order given --trace steps.csv --trace-weights";
    succeeds(learning, here);
    let trace = fs::read_to_string(here.join("steps.csv")).unwrap();
    // w = 0: row 1 has the score 0, a mistake. w = (1, 1), b = 1: row 2 has the score 3. w = (−1, 1), b = 0:
    // row 3 has 2, row 4 has 0, a mistake. w = (0, 2), b = −1. Second epoch: row 1 has 1, row 2 has −1, row 3
    // has 3, row 4 has −3: no mistake is left.
    let by_hand = "mistakes,epoch,row,label,predicted,margin,step,w1,w2,bias\n\
                   1,1,1,1,1,0,1,1,1,1\n\
                   2,1,2,-1,1,-3,1,-1,1,0\n\
                   3,1,4,-1,1,0,1,0,2,-1\n";
    assert_eq!(trace, by_hand);
    // It replaces a trace, and goes where it is told.
    succeeds(learning, here);
    let printed = succeeds(&learning.replace("steps.csv", "/dev/stdout"), here);
    assert!(printed.starts_with(by_hand), "{printed}");
}

#[test]
fn a_stream_is_traced_as_one_epoch_with_what_is_added() {
    let folder = board();
    let here = folder.path();
    let online = "train board.csv --online --learner perceptron --trace steps.csv";
    succeeds(&format!("{online} --trace-weights"), here);
    let trace = fs::read_to_string(here.join("steps.csv")).unwrap();
    let expected = "mistakes,epoch,row,label,predicted,margin,step,gains,loses,added\n";
    assert!(trace.starts_with(expected), "{trace}");
    assert!(trace.contains("2,1,2,-1,1,-3,1,-1,1,1:2 bias:1\n"), "{trace}");
    assert_eq!(trace.lines().count(), 4, "{trace}");
    succeeds(online, here);
    let epochs = fs::read_to_string(here.join("steps.csv")).unwrap();
    assert_eq!(epochs.lines().count(), 2, "{epochs}");
    assert!(epochs.contains("\n1,3,3,"), "{epochs}");
}

#[test]
fn labels_with_commas_are_cells_and_classes_that_gain_and_lose_are_named() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let labels = ["\"a,b\"", "c", "\"d\"\"e\""];
    let rows: String = (0..30).map(|i| format!("{},{},{}\n", i % 7, i * i % 5, labels[i % 3])).collect();
    fs::write(here.join("rows.csv"), format!("p,q,class\n{rows}")).unwrap();
    succeeds("train rows.csv --learner passive-aggressive --epochs 2 --trace t.csv --trace-weights", here);
    let trace = fs::read_to_string(here.join("t.csv")).unwrap();
    let head = trace.lines().next().unwrap();
    assert!(
        head.contains(",gains,loses,") && head.contains("\"w1 of a,b\",\"w2 of a,b\",\"bias of a,b\""),
        "{head}"
    );
    assert!(trace.contains("\"d\"\"e\"") && trace.lines().count() > 5, "{trace}");
}

#[test]
fn traces_of_mistakes_are_for_those_who_make_them() {
    let folder = board();
    let here = folder.path();
    let trace = "--trace t.csv --trace-each mistake";
    assert!(error(&format!("train board.csv {trace}"), here).contains("--trace-each is for perceptrons"));
    assert!(error(&format!("train board.csv --learner svm {trace}"), here).contains("and this is svm"));
    let kernel = "train board.csv --learner perceptron --kernel poly:2";
    assert!(error(&format!("{kernel} {trace} --trace-weights"), here).contains("no weights of features"));
    succeeds(&format!("{kernel} {trace}"), here);
    assert!(error(&format!("{kernel} --online {trace} --force"), here).contains("are not traced"));
    // What is not learned leaves no file.
    assert!(
        error(&format!("train nosuch.csv --learner perceptron {trace} --force"), here)
            .contains("no such file")
    );
    assert!(fs::read_to_string(here.join("t.csv")).unwrap().starts_with("mistakes,"));
    assert!(
        error("train board.csv --learner perceptron --trace /no/t.csv --trace-weights", here).contains("/no")
    );
}
