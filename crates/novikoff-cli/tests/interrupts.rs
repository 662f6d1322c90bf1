//! Interrupts: every command ends soon after the first, keeps what it promises, and leaves nothing else.

#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// However slow the machine: what is interrupted here would take many times as long.
const SOON: Duration = Duration::from_secs(20);

fn novikoff(arguments: &[&str], here: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    command.args(arguments).current_dir(here);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn succeed(arguments: &[&str], here: &Path) -> String {
    let output = novikoff(arguments, here).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// What is left of a process that is signalled after some time, and how long it went on.
struct Ended {
    output: Output,
    stdout: String,
    stderr: String,
    after: Duration,
}

fn interrupted(arguments: &[&str], here: &Path, wait: Duration, signal: &str) -> Ended {
    let mut child = novikoff(arguments, here).spawn().unwrap();
    std::thread::sleep(wait);
    if let Some(status) = child.try_wait().unwrap() {
        panic!("{arguments:?} ended by itself: {status} {:?}", child.wait_with_output());
    }
    // Whoever prints much waits for a reader.
    send(signal, &child);
    let started = Instant::now();
    let hangs = |child: &mut Child| child.try_wait().unwrap().is_none() && started.elapsed() < 3 * SOON;
    while hangs(&mut child) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let after = started.elapsed();
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{arguments:?}: {stdout}{stderr}");
    assert!(after < SOON, "{arguments:?}: {after:?}");
    assert!(!names(here).iter().any(|name| name.ends_with(".tmp")), "{arguments:?}: {:?}", names(here));
    Ended { output, stdout, stderr, after }
}

/// Interrupts later and later, until there is something to keep.
fn interrupted_when(arguments: &[&str], here: &Path, is_far: impl Fn(&Ended) -> bool) -> Ended {
    let waits = [300, 1000, 3000, 9000, 27_000].map(Duration::from_millis);
    let mut all = waits.into_iter().map(|wait| interrupted(arguments, here, wait, "INT"));
    all.find(is_far).unwrap_or_else(|| panic!("{arguments:?} has never come far"))
}

fn names(here: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn has_begun(ended: &Ended) -> bool {
    !ended.stderr.contains("nothing was written")
}

/// Rows of some classes that nothing separates; the same every time.
fn rows(count: u64, classes: u64) -> String {
    let mut text = String::new();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 40
    };
    for _ in 0..count {
        let (a, b, c) = (next() % 1000, next() % 1000, next() % 50);
        let class = (a * classes / 1000 + next() % 3) % classes;
        writeln!(text, "k{class} 1:{} 2:{} {}:1", a as f64 / 1e3, b as f64 / 1e3, 3 + c).unwrap();
    }
    text
}

/// A folder with a pipe that nobody writes to or reads, a few rows, a model and a certificate.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    fs::write(here.join("few.svm"), rows(60, 2)).unwrap();
    let train =
        ["train", "few.svm", "--learner", "logistic", "-o", "few.model", "--certificate", "few.proof"];
    succeed(&train, here);
    folder
}

#[test]
fn who_waits_for_a_pipe_is_ended_by_the_first_signal() {
    let folder = folder();
    let here = folder.path();
    let before = names(here);
    let commands = [
        &["train", "pipe", "--format", "svmlight", "-o", "new"][..],
        &["train", "pipe", "-o", "new"],
        &["train", "pipe", "--format", "svmlight", "--online", "-o", "new"],
        &["train", "few.svm", "--validation", "pipe", "-o", "new"],
        &["tune", "pipe", "--format", "csv", "-o", "new"],
        &["compare", "pipe", "--format", "svmlight", "--state", "new"],
        &["compare", "few.svm", "--test", "pipe"],
        &["margin", "pipe", "--format", "svmlight", "--certificate", "new"],
        &["predict", "few.model", "pipe"],
        &["evaluate", "few.model", "pipe"],
        &["evaluate", "--folds", "3", "pipe", "--format", "svmlight"],
        &["rows", "pipe", "new", "--format", "svmlight"],
        &["verify", "pipe", "few.svm"],
        &["verify", "few.proof", "pipe", "--format", "svmlight"],
    ];
    for (at, arguments) in commands.into_iter().enumerate() {
        let ended = interrupted(arguments, here, Duration::from_millis(300), ["INT", "TERM"][at % 2]);
        assert!(ended.stderr.starts_with("interrupted"), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert_eq!(names(here), before, "{arguments:?}");
    }
}

#[test]
fn a_model_for_a_pipe_that_nobody_reads_is_given_up() {
    let folder = folder();
    for signal in ["INT", "TERM"] {
        let arguments = ["train", "few.svm", "-o", "pipe"];
        let ended = interrupted(&arguments, folder.path(), Duration::from_secs(2), signal);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", "interrupted\n"));
    }
}

#[test]
fn an_interrupt_after_the_training_finds_the_model_in_its_file() {
    let folder = folder();
    let here = folder.path();
    let train = ["train", "few.svm", "--test", "pipe", "-o", "it.model"];
    let ended = interrupted(&train, here, Duration::from_secs(2), "INT");
    assert_eq!(ended.stderr, "interrupted: the model is in it.model; what follows it is missing\n");
    assert_eq!(succeed(&["predict", "it.model", "few.svm"], here).lines().count(), 60);
    fs::remove_file(here.join("it.model")).unwrap();

    let tune = ["tune", "few.svm", "--lambdas", "1,0.1", "--test", "pipe", "-o", "it.model"];
    let ended = interrupted(&tune, here, Duration::from_secs(3), "TERM");
    assert!(ended.stderr.contains("the model is in it.model"), "{}", ended.stderr);
    assert!(ended.stdout.contains("λ") && ended.stdout.contains("0.1"), "{}", ended.stdout);
    succeed(&["predict", "it.model", "few.svm"], here);
    let ended = interrupted(&[&tune[..], &["--json"]].concat(), here, Duration::from_secs(3), "INT");
    assert!(
        ended.stdout.starts_with('{') && ended.stdout.contains("\"interrupted\":true"),
        "{}",
        ended.stdout
    );
    assert_eq!(ended.stdout.lines().count(), 1);
}

/// Looking at a run's margins takes minutes with so many classes, validating votes hours.
#[test]
fn an_interrupted_training_keeps_the_model_so_far_and_does_not_look_back() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(60_000, 1000)).unwrap();
    // Here a step does not take minutes by itself.
    fs::write(here.join("sixty.svm"), rows(10_000, 60)).unwrap();
    for how in [
        "--learner averaged --epochs 1000000",
        "--learner perceptron --multiclass one-vs-rest --epochs 1000000",
        "--learner voted --epochs 1000000 --validation 0.3",
        "--learner logistic --multiclass joint --tolerance 1e-14 --lambda 1e-9",
        "--learner svm --tolerance 1e-14 --lambda 1e-9",
        "--learner network --hidden 1000 --epochs 1000000",
        "--learner averaged --kernel rbf:1 --epochs 1000000",
    ] {
        let is_slow = how.contains("joint") || how.contains("svm");
        let data = if is_slow { "sixty.svm" } else { "rows.svm" };
        let mut arguments = vec!["train", data, "-o", "it.model", "--certificate", "it.proof"];
        if how.contains("--validation") || how.contains("network") {
            arguments.truncate(4);
        }
        arguments.extend(how.split(' '));
        let ended = interrupted_when(&arguments, here, has_begun);
        assert!(ended.stdout.contains("interrupted"), "{how}: {}", ended.stdout);
        assert!(ended.stdout.contains("the best so far is kept"), "{how}: {}", ended.stdout);
        assert!(!here.join("it.proof").exists(), "{how}");
        assert!(succeed(&["inspect", "it.model"], here).contains("interrupted"), "{how}");
        fs::remove_file(here.join("it.model")).unwrap();
    }
}

#[test]
fn an_interrupted_search_prints_the_table_so_far() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(5_000, 20)).unwrap();
    let lambdas: Vec<String> = (1..500).map(|k| format!("{k}e-6")).collect();
    let lambdas = lambdas.join(",");
    let arguments = ["tune", "rows.svm", "--learner", "svm", "--lambdas", &lambdas, "-o", "it.model"];
    let ended = interrupted_when(&arguments, here, has_begun);
    assert!(ended.stdout.contains("λ") && ended.stdout.contains("error"), "{}", ended.stdout);
    assert!(ended.stderr.contains("this is the table so far; no model was learned"), "{}", ended.stderr);
    assert!(!here.join("it.model").exists());
}

#[test]
fn an_interrupted_cross_validation_prints_the_folds_that_were_finished() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(5_000, 20)).unwrap();
    let arguments = ["evaluate", "--folds", "1000", "rows.svm", "--learner", "svm", "--report", "it.html"];
    let ended = interrupted_when(&arguments, here, has_begun);
    assert!(ended.stdout.contains(" of 1000, each held out once"), "{}", ended.stdout);
    assert!(ended.stdout.contains("mean over folds"), "{}", ended.stdout);
    assert_eq!(ended.stderr, "interrupted: these are the folds that were finished\n");
    assert!(!here.join("it.html").exists());
}

#[test]
fn an_interrupted_margin_prints_the_interval_so_far() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(60_000, 400)).unwrap();
    let ended = interrupted_when(&["margin", "rows.svm", "--multiclass", "pairs"], here, has_begun);
    assert!(ended.stdout.contains("separable") && ended.stdout.contains("margin"), "{}", ended.stdout);
}

#[test]
fn an_interrupted_comparison_prints_its_rows_and_keeps_its_state() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(40_000, 100)).unwrap();
    let arguments = ["compare", "rows.svm", "--epochs", "1000", "--state", "it.state"];
    let ended = interrupted_when(&arguments, here, has_begun);
    assert!(ended.stdout.contains("data"), "{}", ended.stdout);
    assert!(ended.stderr.contains("the same command resumes from it.state"), "{}", ended.stderr);
    assert!(fs::read_to_string(here.join("it.state")).unwrap().ends_with("}\n"));
    // It resumes, and is interrupted again.
    interrupted(&arguments, here, Duration::from_secs(1), "INT");
}

#[test]
fn predictions_that_are_out_are_whole_lines() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(20_000, 200)).unwrap();
    fs::write(here.join("more.svm"), rows(20_000, 200).repeat(30)).unwrap();
    succeed(&["train", "rows.svm", "--learner", "voted", "--epochs", "3", "-o", "it.model"], here);
    for signal in ["INT", "TERM"] {
        let arguments = ["predict", "it.model", "more.svm", "--scores"];
        let ended = interrupted(&arguments, here, Duration::from_millis(1500), signal);
        assert_eq!(ended.stderr, "interrupted\n");
        assert!(ended.stdout.is_empty() || ended.stdout.ends_with('\n'));
        assert!(ended.stdout.lines().all(|line| line.split('\t').count() == 201), "half a line");
    }
    let ended = interrupted(&["evaluate", "it.model", "more.svm"], here, Duration::from_millis(1500), "INT");
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", "interrupted: nothing was written\n"));
    assert!(ended.after < SOON && ended.output.status.code() == Some(130));
}

/// Whenever the signal comes, the file is not there or whole.
#[test]
fn rows_are_written_whole_or_not_at_all() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(300_000, 2)).unwrap();
    let started = Instant::now();
    succeed(&["rows", "rows.svm", "whole"], here);
    let whole = started.elapsed();
    for at in 0..12 {
        let mut child = novikoff(&["rows", "rows.svm", "again"], here).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(at) / 10.0));
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        child.wait().unwrap();
        assert!(!names(here).iter().any(|name| name.ends_with(".tmp")), "{:?}", names(here));
        if let Ok(again) = fs::read(here.join("again")) {
            assert!(again == fs::read(here.join("whole")).unwrap(), "half a file");
            fs::remove_file(here.join("again")).unwrap();
        }
    }
}

#[test]
fn a_certificate_that_takes_long_to_check_is_left_at_once() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(20_000, 60)).unwrap();
    let train = [
        "train",
        "rows.svm",
        "--learner",
        "averaged",
        "--multiclass",
        "one-vs-rest",
        "--epochs",
        "1",
        "--scale",
        "none",
    ];
    succeed(&[&train[..], &["-o", "it.model", "--certificate", "it.proof"]].concat(), here);
    let started = Instant::now();
    succeed(&["verify", "it.proof", "rows.svm", "it.model"], here);
    let whole = started.elapsed();
    for part in [0.3, 0.6] {
        let mut child = novikoff(&["verify", "it.proof", "rows.svm", "it.model"], here).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(part));
        if child.try_wait().unwrap().is_some() {
            continue;
        }
        send("INT", &child);
        let output = child.wait_with_output().unwrap();
        // It may have been just about to end.
        assert!(matches!(output.status.code(), Some(130 | 0)), "{output:?}");
        assert!(output.status.success() || output.stderr == b"interrupted: nothing was written\n");
    }
}
