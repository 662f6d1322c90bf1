//! Nothing of a user's is overwritten by accident, and what cannot be written is found before the work
//! begins.

#![cfg(unix)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ROWS: &str = "-1 1:1 2:0.5\n+1 1:-1 3:2\n-1 1:2 2:1\n+1 2:-1 3:1\n";

/// Commands with an output; `OUT` stands for its path. What they read is called `data.svm`, and `test.svm`.
const WRITING: [&str; 13] = [
    "train data.svm --test test.svm -o OUT",
    "train data.svm --test test.svm --learner averaged --trace OUT",
    "train data.svm --test test.svm --certificate OUT",
    "train data.svm --test test.svm --report OUT",
    "train data.svm --test test.svm --picture points=OUT",
    "train data.svm --learner averaged --validation test.svm -o OUT",
    "tune data.svm --folds 2 --lambdas 1,0.1 --test test.svm -o OUT",
    "tune data.svm --folds 2 --lambdas 1,0.1 --test test.svm --certificate OUT",
    "compare data.svm --test test.svm --learners voted --kernels linear --epochs 1 --state OUT",
    "compare data.svm --test test.svm --learners voted --kernels linear --epochs 1 --report OUT",
    "margin data.svm --certificate OUT",
    "margin data.svm --report OUT",
    "rows data.svm OUT",
];

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.svm"), ROWS).unwrap();
    fs::write(folder.path().join("test.svm"), ROWS).unwrap();
    folder
}

fn command(words: &str, here: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    command.args(words.split(' ')).current_dir(here).stdin(Stdio::null());
    command
}

fn run(words: &str, here: &Path) -> Output {
    command(words, here).output().unwrap()
}

/// What is said by a command that must be refused, and must leave all files as they were.
fn refused(words: &str, here: &Path) -> String {
    let before = contents(here);
    let output = run(words, here);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(said.starts_with("error: ") && output.stdout.is_empty(), "{words}: {said}");
    assert_eq!(contents(here), before, "{words}");
    said
}

fn succeeds(words: &str, here: &Path) {
    let output = run(words, here);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// All files of a folder with their bytes; a pipe has none.
fn contents(here: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(here)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn an_output_never_replaces_what_is_read_by_whatever_name() {
    let folder = folder();
    let here = folder.path();
    symlink("data.svm", here.join("link")).unwrap();
    symlink("link", here.join("link-to-link")).unwrap();
    symlink(".", here.join("round")).unwrap();
    fs::hard_link(here.join("data.svm"), here.join("hard")).unwrap();
    let absolute = here.join("data.svm").display().to_string();
    let names = ["data.svm", "./data.svm", &absolute, "link", "link-to-link", "round/data.svm", "hard"];
    for words in WRITING {
        for name in names {
            for force in ["", " --force"] {
                let said = refused(&format!("{}{force}", words.replace("OUT", name)), here);
                assert!(said.contains("would replace what DATA reads"), "{words}: {said}");
            }
        }
        if words.contains("test.svm") {
            let said = refused(&words.replace("OUT", "test.svm"), here);
            assert!(
                said.contains("would replace what --test reads") || said.contains("--validation"),
                "{said}"
            );
        }
    }
}

#[test]
fn inputs_are_also_lists_of_words_and_labels_and_standard_input_and_all_of_a_folder() {
    let folder = folder();
    let here = folder.path();
    let images = ["x-images-idx3-ubyte", "x-labels-idx1-ubyte", "y-images-idx3-ubyte", "y-labels-idx1-ubyte"];
    for name in ["words"].into_iter().chain(images) {
        fs::write(here.join(name), "the\n").unwrap();
    }
    fs::create_dir_all(here.join("mails/spam")).unwrap();
    fs::write(here.join("mails/spam/1"), "a prize").unwrap();
    for (words, role) in [
        ("train data.svm --stop-words words -o words", "--stop-words"),
        ("train x-images-idx3-ubyte -o x-labels-idx1-ubyte", "--labels"),
        ("train x-images-idx3-ubyte --labels words -o words", "--labels"),
        ("train x-images-idx3-ubyte --test y-images-idx3-ubyte -o y-labels-idx1-ubyte", "--test"),
        ("train x-images-idx3-ubyte --validation y-images-idx3-ubyte -o y-labels-idx1-ubyte", "--validation"),
        ("tune x-images-idx3-ubyte --test y-images-idx3-ubyte --certificate y-labels-idx1-ubyte", "--test"),
        ("compare x-images-idx3-ubyte --test y-images-idx3-ubyte --state y-labels-idx1-ubyte", "--test"),
        ("train mails -o mails/spam/1", "DATA"),
    ] {
        let said = refused(&format!("{words} --force"), here);
        assert!(said.contains(&format!("would replace what {role} reads")), "{words}: {said}");
    }
    let mut from_stdin = command("train - -o data.svm --force", here);
    let output = from_stdin.stdin(File::open(here.join("data.svm")).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(here.join("data.svm")).unwrap(), ROWS);
}

/// A command line of the shell that must be refused, and must leave all files as they were.
fn refused_by_shell(line: &str, here: &Path) -> String {
    let before = contents(here);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("novikoff() {{ {:?} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_novikoff"))]);
    let output = shell.current_dir(here).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    assert!(said.starts_with("error: "), "{line}: {said}");
    assert_eq!(contents(here), before, "{line}");
    said
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_open_already_is_not_added_to_where_it_is_read() {
    let folder = folder();
    let here = folder.path();
    symlink("data.svm", here.join("link")).unwrap();
    succeeds("train data.svm --learner averaged -o it.model", here);
    for line in [
        "novikoff train data.svm -o /dev/fd/3 3>>data.svm",
        "novikoff train data.svm -o /dev/fd/3 --force 3>>data.svm",
        "novikoff train data.svm -o /proc/self/fd/3 3<>data.svm",
        "novikoff train data.svm --test test.svm --trace /dev/fd/4 --learner averaged 4>>test.svm",
        "novikoff train data.svm --from it.model -o /dev/fd/3 3>>it.model",
        "novikoff train data.svm -o /dev/stdout >> data.svm",
        "novikoff train data.svm --learner averaged --trace /dev/stdout >> data.svm",
        "novikoff rows data.svm /dev/stdout >> data.svm",
        "novikoff predict it.model data.svm >> data.svm",
        "novikoff predict it.model - < data.svm >> data.svm",
        "novikoff predict it.model data.svm >> it.model",
        "novikoff evaluate it.model data.svm >> data.svm",
        "novikoff margin data.svm 1<> data.svm",
        "novikoff predict it.model link >> data.svm",
    ] {
        let said = refused_by_shell(line, here);
        assert!(said.contains("would be added to what "), "{line}: {said}");
    }
    fs::write(here.join("new"), "").unwrap();
    for line in [
        "novikoff train data.svm -o new > new",
        "novikoff train data.svm -o new --certificate /dev/fd/3 3> new",
    ] {
        assert!(refused_by_shell(line, here).contains("would write the same file"), "{line}");
    }
}

#[test]
fn a_folder_of_documents_is_left_as_it_is_with_all_that_its_links_lead_to() {
    let folder = folder();
    let here = folder.path();
    for (name, text) in [("mails/spam/1", "a prize"), ("mails/ham/1", "at five"), ("kept/2", "a cheap prize")]
    {
        fs::create_dir_all(here.join(name).parent().unwrap()).unwrap();
        fs::write(here.join(name), text).unwrap();
    }
    symlink("../../kept/2", here.join("mails/spam/2")).unwrap();
    symlink("mails", here.join("link")).unwrap();
    for (words, what) in [
        ("train mails -o kept/2", "-o would replace what DATA reads"),
        ("train link -o mails/spam/2", "-o would replace what DATA reads"),
        ("train mails --report mails/ham/1", "--report would replace what DATA reads"),
        ("train mails -o mails/it.model", "-o would be a file of the folder that DATA reads"),
        ("train mails -o link/spam/new", "-o would be a file of the folder that DATA reads"),
        ("rows link mails/spam/new", "FILE would be a file of the folder that DATA reads"),
    ] {
        for force in ["", " --force"] {
            let said = refused(&format!("{words}{force}"), here);
            assert!(said.contains(what), "{words}: {said}");
        }
        assert_eq!(fs::read_to_string(here.join("kept/2")).unwrap(), "a cheap prize");
        assert_eq!(fs::read_dir(here.join("mails/spam")).unwrap().count(), 2);
    }
    succeeds("train mails -o mails.model", here);
    #[cfg(target_os = "linux")]
    {
        let said = refused_by_shell("novikoff predict mails.model mails/ham > mails/ham/new", here);
        assert!(said.contains("standard output would be added to what DATA reads"), "{said}");
    }
}

#[test]
fn pictures_and_pages_of_others_are_replaced_by_force_alone() {
    let folder = folder();
    let here = folder.path();
    let picture = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\"></svg>\n";
    for (name, text) in [
        ("logo.svg", picture.to_owned()),
        ("logo.xml", format!("<?xml version=\"1.0\"?>\n{picture}")),
        ("page.html", format!("<!doctype html>\n<title>mine</title>\n{picture}")),
    ] {
        fs::write(here.join(name), text).unwrap();
        for option in ["--picture points=", "--report "] {
            let said = refused(&format!("train data.svm {option}{name}"), here);
            assert!(said.contains("this file is there already, and it is no "), "{said}");
        }
    }
    for force in [" --force", ""] {
        succeeds(&format!("train data.svm --picture points=logo.svg --report page.html{force}"), here);
    }
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    let here = folder.path();
    symlink("new", here.join("link")).unwrap();
    for words in [
        "train data.svm -o new --certificate new",
        "train data.svm -o new --certificate ./new",
        "train data.svm -o new --report link",
        "train data.svm --picture points=new --picture weights=new --force",
        "margin data.svm --certificate new --report new",
        "compare data.svm --state new --report new",
    ] {
        let said = refused(words, here);
        assert!(said.contains("would write the same file"), "{words}: {said}");
    }
    succeeds(
        "train data.svm --learner averaged -o /dev/null --certificate /dev/null --trace /dev/null",
        here,
    );
}

#[test]
fn a_file_of_another_kind_is_replaced_by_force_alone() {
    for words in WRITING {
        let folder = folder();
        let here = folder.path();
        fs::write(here.join("notes.txt"), "mine\n").unwrap();
        let said = refused(&words.replace("OUT", "notes.txt"), here);
        assert!(said.contains("this file is there already, and it is no "), "{words}: {said}");
        assert!(said.contains("--force"), "{words}: {said}");
        // A comparison goes on from its state, and cannot from something else.
        if !words.contains("--state") {
            succeeds(&format!("{} --force", words.replace("OUT", "notes.txt")), here);
            assert_ne!(fs::read(here.join("notes.txt")).unwrap(), b"mine\n", "{words}");
        }
    }
}

#[test]
fn outputs_replace_their_own_kind_and_empty_files_and_go_to_devices() {
    for words in WRITING {
        let folder = folder();
        let here = folder.path();
        if !words.contains("--state") {
            fs::write(here.join("out"), "").unwrap();
        }
        for _ in 0..2 {
            succeeds(&words.replace("OUT", "out"), here);
            assert!(fs::metadata(here.join("out")).unwrap().len() > 0, "{words}");
        }
        if !words.contains("--state") {
            succeeds(&words.replace("OUT", "/dev/null"), here);
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_is_read() {
    let folder = folder();
    let here = folder.path();
    fs::create_dir(here.join("folder")).unwrap();
    fs::write(here.join("locked"), "").unwrap();
    let mut permissions = fs::metadata(here.join("locked")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(here.join("locked"), permissions).unwrap();
    for words in WRITING {
        // There is no such data: whoever read first would say so.
        let words = words.replace("data.svm", "nothing.svm").replace("test.svm", "nothing.svm");
        for (out, what) in [
            ("nowhere/it", "there is no folder nowhere"),
            ("locked/it", "there is no folder locked"),
            ("folder", "this is a folder"),
            ("new/", "this is a folder"),
            ("locked", "no permission"),
        ] {
            let said = refused(&words.replace("OUT", out), here);
            assert!(said.contains(what), "{words}: {said}");
        }
    }
}

#[test]
fn a_redirected_output_is_added_to_what_is_there() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("log"), "older lines\n").unwrap();
    for (log, before) in [
        (File::options().append(true).open(here.join("log")).unwrap(), "older lines\n"),
        (File::create(here.join("new")).unwrap(), ""),
    ] {
        let mut train = command("train data.svm --learner averaged --trace /dev/stdout", here);
        assert!(train.stdout(log).status().unwrap().success());
        let name = if before.is_empty() { "new" } else { "log" };
        let log = fs::read_to_string(here.join(name)).unwrap();
        assert!(log.starts_with(&format!("{before}epoch,mistakes,")), "{log}");
        assert!(log.contains("\nlearner      averaged"), "{log}");
    }
    let model = File::create(here.join("it.model")).unwrap();
    let mut train = command("train data.svm --learner averaged -o /dev/stdout", here);
    assert!(train.stdout(model).status().unwrap().success());
    assert!(fs::read(here.join("it.model")).unwrap()[8..].starts_with(b"{\"__metadata__\""));
}

#[test]
fn an_interrupt_ends_the_wait_for_somebody_who_reads_a_pipe() {
    let folder = folder();
    let here = folder.path();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    let mut child = command("train data.svm -o pipe", here).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it is deaf");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_pipe_that_is_read_gets_the_model() {
    let folder = folder();
    let here = folder.path();
    assert!(Command::new("mkfifo").arg(here.join("pipe")).status().unwrap().success());
    let mut child = command("train data.svm -o pipe", here).stdout(Stdio::null()).spawn().unwrap();
    fs::write(here.join("it.model"), fs::read(here.join("pipe")).unwrap()).unwrap();
    assert!(child.wait().unwrap().success());
    succeeds("predict it.model data.svm", here);
}

/// Commands with outputs on a full disk, and what they find out nevertheless.
#[test]
#[cfg(target_os = "linux")]
fn what_was_found_is_printed_where_outputs_cannot_be_written() {
    let folder = folder();
    let here = folder.path();
    succeeds("train data.svm -o it.model", here);
    for (words, found) in [
        ("train data.svm -o /dev/full", "data  "),
        ("train data.svm -o /dev/full --certificate new", "certificate  new"),
        ("train data.svm --certificate /dev/full", "data  "),
        ("train data.svm --learner averaged -o new --trace /dev/full", "model        new\n"),
        (
            "train data.svm --learner averaged -o new --trace /dev/full --trace-each mistake",
            "model        new\n",
        ),
        ("train data.svm --report /dev/full --picture points=new", "new (points)"),
        ("train data.svm --picture points=/dev/full --report new", "report       new\n"),
        ("train data.svm --online -o /dev/full", "as a stream"),
        ("tune data.svm --folds 2 --lambdas 1,0.1 -o /dev/full --trace new", "λ"),
        ("compare data.svm --learners voted --kernels linear --epochs 1 --report /dev/full", "kernel linear"),
        ("margin data.svm --certificate /dev/full", "separable"),
        ("margin data.svm --certificate new --report /dev/full", "certificate  new"),
        ("evaluate it.model data.svm --report /dev/full", "AUC"),
        ("evaluate --folds 2 data.svm --report /dev/full", "all held-out rows together"),
    ] {
        for json in ["", " --json"] {
            let _ = fs::remove_file(here.join("new"));
            let output = run(&format!("{words}{json}"), here);
            let [told, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert_eq!(output.status.code(), Some(2), "{words}: {told}{said}");
            assert!(said.contains("error: /dev/f") && said.contains("\nhint: "), "{words}: {said}");
            let found = if json.is_empty() { found } else { "\"command\":" };
            assert!(told.contains(found) && !told.contains("/dev/f"), "{words}: {told}");
            assert_eq!(here.join("new").exists(), words.contains("new"), "{words}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_comparison_whose_state_cannot_be_written_is_printed() {
    let folder = folder();
    let here = folder.path();
    let words = "compare data.svm --learners voted,logistic --kernels linear --epochs 1 --state new";
    for json in ["", " --json"] {
        // No file may become longer than nothing.
        let line =
            format!("trap '' XFSZ; ulimit -f 0; exec {} {words}{json}", env!("CARGO_BIN_EXE_novikoff"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(here).output().unwrap();
        let [told, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(output.status.code(), Some(2), "{told}{said}");
        assert!(said.starts_with("error: new: ") && !here.join("new").exists(), "{said}");
        let found = if json.is_empty() { "\nothers, each with" } else { "\"state\":null" };
        assert!(told.contains(found), "{told}");
    }
}
