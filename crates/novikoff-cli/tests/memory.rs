//! What is said of the memory that a training needs, beside what it takes: no less, and not much more.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How many times as much as is taken may be asked for.
const MOST: f64 = 3.0;

/// Commands that train, on rows of few entries in very many columns, of classes, and of many columns made of
/// few: what is not counted shows.
const TRAININGS: [&str; 21] = [
    "train wide.svm",
    "train wide.svm --learner svm",
    "train wide.svm --learner exponential --lambda 0",
    "train wide.svm --learner svm --solver augmented",
    "train wide.svm --learner boosting",
    "train wide.svm --l1 0.01",
    "train wide.svm --learner perceptron",
    "train wide.svm --learner averaged",
    "train wide.svm --learner passive-aggressive",
    "train wide.svm --calibrate platt --threads 1",
    "train wide.svm --scale unit-variance",
    "tune wide.svm --folds 2 --threads 1",
    "train targets.svm --learner least-squares",
    "train targets.svm --learner huber",
    "train targets.svm --learner least-absolute",
    "train three.svm",
    "train three.svm --learner svm",
    "train three.svm --learner boosting",
    "train three.svm --learner averaged",
    "train dense.svm --map fourier:1000:1 --learner averaged",
    "train dense.svm --map fourier:1000:1",
];

fn novikoff(words: &str, here: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    command.args(words.split(' ')).current_dir(here).stdin(Stdio::null());
    // Folds that are learned at once take their most at different times.
    if !words.contains("--threads") {
        command.args(["--threads", "2"]);
    }
    command
}

fn write_rows(here: &Path) {
    const COLUMNS: usize = 3 << 19;
    let wide = format!("-1 1:1 9:2\n1 {COLUMNS}:1\n-1 5:1 7:1\n1 77:1 9:1\n");
    fs::write(here.join("targets.svm"), wide.replace("-1 ", "-1.5 ")).unwrap();
    fs::write(here.join("wide.svm"), wide).unwrap();
    let three = format!("a 1:1 9:2\nb {}:1\nc 5:1 7:1\na 77:1 9:1\nb 3:1\nc 4:1\n", COLUMNS / 3);
    fs::write(here.join("three.svm"), three).unwrap();
    let mut dense = String::new();
    for row in 0..4000usize {
        write!(dense, "{}", 1 - 2 * (row as i32 % 2)).unwrap();
        (1..=10).for_each(|column| write!(dense, " {column}:{}", (row * column * 7919) % 101).unwrap());
        dense.push('\n');
    }
    fs::write(here.join("dense.svm"), dense).unwrap();
}

/// The most memory that the process has taken so far, in bytes.
fn peak_so_far(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// The most memory that a command takes, as far as it is seen by looking often.
fn peak(words: &str, here: &Path) -> u64 {
    let mut child = novikoff(words, here).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak_so_far(&child).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success(), "{words}");
    most
}

/// What it says that it needs, in bytes, where far less is allowed.
fn needed(words: &str, here: &Path) -> f64 {
    let output = novikoff(words, here).args(["--memory", "500k"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let (_, needs) =
        said.split_once("this training needs about ").unwrap_or_else(|| panic!("{words}: {said}"));
    let mut parts = needs.split(' ');
    let number: f64 = parts.next().unwrap().parse().unwrap();
    match parts.next().unwrap() {
        "kB" => number * 1e3,
        "MB" => number * 1e6,
        _ => number * 1e9,
    }
}

#[test]
fn what_is_said_to_be_needed_is_what_is_taken_or_somewhat_more() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_rows(here);
    let (mut all, mut are_right) = (String::new(), true);
    for words in TRAININGS {
        let data = words.split(' ').find(|word| word.ends_with(".svm")).unwrap();
        let base = peak(&format!("rows {data} /dev/null"), here);
        let (taken, needed) = (peak(words, here).saturating_sub(base) as f64, needed(words, here));
        let line = format!("{:>8.1} MB taken, {:>8.1} MB needed: {words}", taken / 1e6, needed / 1e6);
        let is_right = (taken..=MOST * taken).contains(&needed);
        writeln!(all, "{} {line}", if is_right { "     " } else { "WRONG" }).unwrap();
        are_right &= is_right;
    }
    assert!(are_right, "\n{all}");
}
