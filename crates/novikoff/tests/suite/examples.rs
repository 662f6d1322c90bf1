//! The examples run, and what they assert holds. `cargo test` builds them; with `--test suite` alone, build
//! them first: `cargo build --examples`.

use std::path::PathBuf;
use std::process::Command;

fn run(name: &str) {
    let tests = std::env::current_exe().unwrap();
    let folder: PathBuf = tests.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&program).output().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "{name} shows nothing");
}

#[test]
fn every_example_runs() {
    let sources = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap();
    let mut names: Vec<String> = sources
        .map(|source| source.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 6, "{names:?}");
    names.iter().for_each(|name| run(name));
}
