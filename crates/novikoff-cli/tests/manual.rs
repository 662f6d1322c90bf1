//! Completions and pages of the manual know every command and every option.

use std::io::Write;
use std::process::{Command, Stdio};

fn print(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_novikoff")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const COMMANDS: [&str; 12] = [
    "train",
    "predict",
    "tune",
    "compare",
    "evaluate",
    "inspect",
    "margin",
    "verify",
    "rows",
    "bounds",
    "completions",
    "man",
];

#[test]
fn completions_know_all_commands_and_are_a_script_of_their_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = print(&["completions", shell]);
        for word in COMMANDS.into_iter().chain(["skip-bad-rows", "own-feature", "json", "quiet"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn();
    let Ok(mut bash) = bash else { return };
    bash.stdin.take().unwrap().write_all(print(&["completions", "bash"]).as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn every_command_has_a_page_with_the_options_of_its_help() {
    assert!(COMMANDS.iter().all(|command| print(&["man"]).contains(&format!("novikoff\\-{command}(1)"))));
    for command in COMMANDS {
        let page = print(&["man", command]).replace("\\-", "-");
        assert!(page.contains(&format!(".TH novikoff-{command} 1")), "{command}");
        let help = print(&[command, "--help"]);
        let words =
            help.lines().filter(|line| line.trim_start().starts_with('-')).flat_map(str::split_whitespace);
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(page.contains(option), "{command}: {option}");
        }
    }
}
