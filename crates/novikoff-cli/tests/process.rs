//! The program as a process: interrupted, killed, piped, fed without end.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn novikoff(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_novikoff"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    novikoff(arguments, folder).output().unwrap()
}

fn succeed(arguments: &[&str], folder: &Path) -> String {
    let output = run(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whatever the state of the machine, no process here takes this long; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for the end of a process that is expected to end.
fn end(mut child: Child) -> Output {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs: {:?}", child.wait_with_output().unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Rows of two classes with a few values each, which no line separates; the same for the same seed.
fn rows(count: u64, seed: u64) -> String {
    let mut text = String::new();
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 40
    };
    for _ in 0..count {
        let (a, b, c) = (next() % 1000, next() % 1000, next() % 1000);
        let label = if (a + b > 1000) ^ (c % 10 == 0) { "+1" } else { "-1" };
        text.push_str(&format!(
            "{label} 1:{} 2:{} {}:{}\n",
            a as f64 / 1000.0,
            b as f64 / 1000.0,
            3 + c % 50,
            c as f64 / 1000.0
        ));
    }
    text
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn an_interrupt_while_training_keeps_the_model_so_far() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(20_000, 1)).unwrap();
    let arguments = ["train", "rows.svm", "--learner", "averaged", "--epochs", "1000000", "-o", "rows.model"];
    // The epochs would take hours; the first of them may take a while to come on a busy machine.
    let interrupted_after = |wait: u64| {
        let child = novikoff(&arguments, here).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        signal(&child, "INT");
        end(child)
    };
    let too_early = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("nothing was written");
    let output =
        [500, 2000, 8000].into_iter().map(interrupted_after).find(|output| !too_early(output)).unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("interrupted after") && said.contains("the best so far is kept"), "{said}");
    assert_eq!(succeed(&["predict", "rows.model", "rows.svm"], here).lines().count(), 20_000);
}

/// A stream without an end, of which the first rows have come.
fn open_stream(arguments: &[&str], here: &Path) -> (Child, ChildStdin) {
    let mut child = novikoff(arguments, here).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(rows(5000, 2).as_bytes()).unwrap();
    input.flush().unwrap();
    (child, input)
}

#[test]
fn an_interrupt_while_a_stream_is_open_keeps_the_model_so_far() {
    for threads in ["1", "2"] {
        let folder = folder();
        let here = folder.path();
        let arguments =
            ["train", "-", "--format", "svmlight", "--online", "--threads", threads, "-o", "rows.model"];
        let (mut child, input) = open_stream(&arguments, here);
        // By the row numbered 4,096 the stream is being learned from.
        let mut told = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("4,096") {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it ended: {threads} threads");
        }
        signal(&child, "INT");
        let output = end(child);
        let mut said = String::new();
        told.read_to_string(&mut said).unwrap();
        assert_eq!(output.status.code(), Some(130), "{threads} threads: {said}");
        assert!(said.contains("interrupted") && said.contains("is kept"), "{said}");
        assert!(succeed(&["inspect", "rows.model"], here).contains("interrupted"));
        drop(input);
    }
}

#[test]
fn an_interrupt_before_the_first_row_ends_the_program_and_writes_nothing() {
    for format in ["svmlight", "csv"] {
        let folder = folder();
        let here = folder.path();
        let arguments = ["train", "-", "--format", format, "-o", "rows.model"];
        let mut child = novikoff(&arguments, here).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "INT");
        let output = end(child);
        assert_eq!(output.status.code(), Some(130), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted: nothing was written\n");
        assert!(!here.join("rows.model").exists());
        drop(input);
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_model() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(300, 3)).unwrap();
    // Many classes × features, so that writing takes a while.
    let wide: String =
        (0..200).map(|i| format!("{} {}:1 {}:0.5\n", i % 20, i + 1, 20_000 + 100 * i)).collect();
    fs::write(here.join("wide.svm"), wide).unwrap();
    let started = Instant::now();
    succeed(&["train", "wide.svm", "--learner", "averaged", "-o", "it.model"], here);
    let whole = started.elapsed();
    let mut kinds = [0, 0];
    for round in 0..60u64 {
        let data = ["rows.svm", "wide.svm"][round as usize % 2];
        let mut child = novikoff(
            &["train", data, "--learner", "averaged", "--seed", &round.to_string(), "-o", "it.model"],
            here,
        )
        .spawn()
        .unwrap();
        std::thread::sleep(whole.mul_f64((round * 7919 % 60) as f64 / 40.0));
        let _ = child.kill();
        child.wait().unwrap();
        let shown = succeed(&["inspect", "it.model", "--top", "0"], here);
        kinds[usize::from(shown.contains("trained on   200 rows"))] += 1;
    }
    assert!(kinds[0] > 0 && kinds[1] > 0, "old and new models: {kinds:?}");
}

/// One file of every format, with more than two blocks of bytes each, so that threads have something to
/// share.
fn files_of_every_format(here: &Path) -> [&'static str; 6] {
    let text = rows(25_000, 4);
    let (mut csv, mut vw) = ("a,b,c,label\n".to_owned(), String::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let value = |entry: &str| entry.split_once(':').unwrap().1.to_owned();
        csv.push_str(&format!(
            "{},{},{},{}\n",
            value(words[1]),
            value(words[2]),
            words[3].split(':').next().unwrap(),
            words[0]
        ));
        vw.push_str(&format!("{} |f a:{} b:{} c{}\n", words[0], value(words[1]), value(words[2]), words[3]));
    }
    fs::write(here.join("rows.tsv"), csv.replace(',', "\t")).unwrap();
    fs::write(here.join("rows.csv"), csv).unwrap();
    fs::write(here.join("rows.vw"), vw).unwrap();
    fs::write(here.join("rows.svm"), text).unwrap();
    let pixels: Vec<u8> = (0..3000u32 * 196).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
    let labels: Vec<u8> = pixels.chunks(196).map(|image| image[7] % 3).collect();
    let idx = |sizes: &[u32], body: &[u8]| {
        let header =
            [0, 0, 8, sizes.len() as u8].into_iter().chain(sizes.iter().flat_map(|size| size.to_be_bytes()));
        header.chain(body.iter().copied()).collect::<Vec<u8>>()
    };
    fs::write(here.join("x-images-idx3-ubyte"), idx(&[3000, 14, 14], &pixels)).unwrap();
    fs::write(here.join("x-labels-idx1-ubyte"), idx(&[3000], &labels)).unwrap();
    ["rows.svm", "rows.csv", "rows.tsv", "rows.vw", "rows.vw --hash-bits 10", "x-images-idx3-ubyte"]
}

#[test]
fn the_number_of_threads_changes_no_byte_of_a_model() {
    let folder = folder();
    let here = folder.path();
    for data in files_of_every_format(here) {
        for how in [
            "perceptron",
            "averaged",
            "voted",
            "passive-aggressive",
            "averaged --online",
            "perceptron --validation 0.3",
        ] {
            let train = |threads: &str| {
                let mut arguments = vec!["train"];
                arguments.extend(data.split(' '));
                arguments.extend(["--threads", threads, "-o", "it.model", "--learner"]);
                arguments.extend(how.split(' '));
                if !how.contains("--online") {
                    arguments.extend(["--epochs", "1"]);
                }
                succeed(&arguments, here);
                fs::read(here.join("it.model")).unwrap()
            };
            let one = train("1");
            assert!(one == train("2") && one == train("5"), "{data} {how}");
        }
    }
}

/// What comes in one piece and what comes in drops is the same stream; so are a file and a pipe.
#[test]
fn how_a_stream_comes_in_changes_no_byte_of_a_model() {
    let folder = folder();
    let here = folder.path();
    let text = "b 1:1 2:1\nb 1:2\na 2:1\nc 3:1\na 2:3 3:1\nc 1:-1\nb 1:1\nd 4:1\n";
    fs::write(here.join("rows.svm"), text).unwrap();
    for learner in ["perceptron", "averaged", "passive-aggressive"] {
        succeed(&["train", "rows.svm", "--online", "--learner", learner, "-o", "file.model"], here);
        let arguments =
            ["train", "-", "--format", "svmlight", "--online", "--learner", learner, "-o", "drops.model"];
        let mut child = novikoff(&arguments, here).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        for line in text.split_inclusive('\n') {
            input.write_all(line.as_bytes()).unwrap();
            input.flush().unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(input);
        assert!(end(child).status.success());
        let read = |name: &str| fs::read(here.join(name)).unwrap();
        assert!(read("file.model") == read("drops.model"), "{learner}");
    }
}

#[test]
fn a_line_of_text_is_answered_before_the_next_one_comes() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("mail.tsv"), "ham\tsee you at five\nspam\tyou won a prize\nham\tcook at five\n")
        .unwrap();
    succeed(&["train", "mail.tsv", "-o", "it.model", "--format", "text"], here);
    let mut child = novikoff(&["predict", "it.model", "-"], here).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    for (line, label) in
        [("a prize", "spam"), ("see you", "ham"), ("spam\tcook for five", "ham"), ("won", "spam")]
    {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
        let mut answer = String::new();
        told.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim_end(), label, "{line}");
    }
    drop(input);
    assert!(end(child).status.success());
}

#[test]
fn predicting_into_a_closed_pipe_ends_without_a_complaint() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("rows.svm"), rows(60_000, 5)).unwrap();
    succeed(&["train", "rows.svm", "--epochs", "1", "-o", "it.model"], here);
    let mut child = novikoff(&["predict", "it.model", "rows.svm", "--scores"], here).spawn().unwrap();
    let mut first = String::new();
    let mut told = BufReader::with_capacity(64, child.stdout.take().unwrap());
    told.read_line(&mut first).unwrap();
    drop(told);
    let output = end(child);
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(first.starts_with("+1\t") || first.starts_with("-1\t"), "{first}");
}

#[test]
fn an_error_prints_nothing_on_standard_output() {
    let folder = folder();
    let here = folder.path();
    fs::write(here.join("bad.svm"), "-1 1:1\n+1 1:nan\n").unwrap();
    for arguments in [
        &["train", "bad.svm"][..],
        &["train", "bad.svm", "--json"],
        &["train", "nothing.svm", "--online"],
        &["train", "bad.svm", "--online", "--json"],
        &["train", "bad.svm", "--online", "--learner", "voted"],
        &["evaluate", "nothing.model", "bad.svm"],
        &["predict", "nothing.model", "bad.svm", "--json"],
        &["train", "bad.svm", "--no-such-option"],
    ] {
        let output = run(arguments, here);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        assert!(output.stderr.starts_with(b"error: "), "{arguments:?}");
    }
}

/// Peak memory in MB, while the process is there.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_constant_while_a_stream_is_learned_from() {
    let folder = folder();
    let here = folder.path();
    let svmlight = rows(40_000, 6);
    let table = svmlight.replace([':', ' '], ",");
    for (part, how) in [
        (svmlight, &["--format", "svmlight"][..]),
        (table, &["--format", "csv", "--no-header", "--label", "1"]),
    ] {
        let arguments = [&["train", "-", "--online", "-o", "it.model"], how].concat();
        let mut child =
            novikoff(&arguments, here).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut fed = 0;
        while fed < 200 << 20 {
            input.write_all(part.as_bytes()).unwrap();
            fed += part.len();
        }
        let peak = peak_memory(&child);
        drop(input);
        assert!(end(child).status.success());
        assert!(peak < 60, "{how:?}: {peak} MB for a stream of {} MB", fed >> 20);
    }
}

/// A dictionary of all these words would take several times as much.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_constant_while_a_stream_brings_new_words_without_end() {
    let folder = folder();
    for (format, before) in [("vw", " |"), ("text", "\t")] {
        let arguments = ["train", "-", "--online", "--format", format, "-o", "it.model"];
        let mut child =
            novikoff(&arguments, folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut input = std::io::BufWriter::new(child.stdin.take().unwrap());
        let mut word = 0u64;
        let mut feed = |megabytes: usize| {
            let mut fed = 0;
            while fed < megabytes << 20 {
                let words: String = (word..word + 20).map(|word| format!(" w{word:x}")).collect();
                let line = format!("{}{before}{words}\n", if word.is_multiple_of(40) { 1 } else { -1 });
                input.write_all(line.as_bytes()).unwrap();
                fed += line.len();
                word += 20;
            }
            input.flush().unwrap();
            peak_memory(&child)
        };
        let (early, late) = (feed(25), feed(50));
        drop(input);
        assert!(end(child).status.success());
        assert!(late < early + 16, "{format}: {early} MB, and {late} MB for three times as many words");
        assert!(late < 200, "{format}: {late} MB for {word} different words");
    }
}
