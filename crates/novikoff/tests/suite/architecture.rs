//! How the library and the program are cut: imports between their modules point one way; the library never
//! prints, speaks of no option of the program, and has no `unsafe`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The library: a module may import those before it.
const LIBRARY: [&str; 24] = [
    "error",
    "control",
    "memory",
    "random",
    "exact",
    "features",
    "data",
    "read",
    "loss",
    "plot",
    "penalty",
    "multiclass",
    "kernel",
    "model",
    "risk",
    "certificate",
    "evaluate",
    "online",
    "bayes",
    "network",
    "solver",
    "margin",
    "train",
    "compare",
];

/// The same of the program.
const PROGRAM: [&str; 16] = [
    "text",
    "picture",
    "arguments",
    "flags",
    "foreign",
    "messages",
    "output",
    "interrupt",
    "progress",
    "files",
    "render",
    "outcome",
    "settings",
    "summary",
    "report",
    "commands",
];

/// What `lib.rs` exports at the crate's root, by the module that it comes from.
const AT_THE_ROOT: [(&str, &str); 4] =
    [("Error", "error"), ("ErrorKind", "error"), ("Place", "error"), ("Result", "error")];

/// A line of code: where it stands, without comments, strings and tests.
struct Line {
    file: PathBuf,
    number: usize,
    code: String,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../novikoff-cli/src")
}

/// The code of a file up to its tests, which stand last.
fn code_of(file: &Path, root: &Path) -> Vec<Line> {
    let text = fs::read_to_string(file).unwrap();
    let shown = file.strip_prefix(root).unwrap().to_owned();
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").enumerate();
    lines.map(|(n, line)| Line { file: shown.clone(), number: n + 1, code: bare(line) }).collect()
}

/// A line without its strings and its comment.
fn bare(line: &str) -> String {
    let (mut code, mut quoted) = (String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' if quoted => drop(characters.next()),
            // `'"'` is a character, not the start of a string.
            '"' if code.ends_with('\'') && characters.peek() == Some(&'\'') => {}
            '"' => quoted = !quoted,
            '/' if !quoted && characters.peek() == Some(&'/') => break,
            c if !quoted => code.push(c),
            _ => {}
        }
    }
    code
}

fn all_code(root: &Path) -> Vec<Line> {
    let mut files = Vec::new();
    sources(root, &mut files);
    files.sort();
    files.iter().flat_map(|file| code_of(file, root)).collect()
}

/// The module that a file belongs to; none for `lib.rs` and `main.rs`.
fn module(file: &Path) -> Option<String> {
    let first = file.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

/// The modules that a line names by `crate::…`, several for `crate::{a, b::C}`.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) if list.contains('}') => found.extend(top_level_names(list)),
            // Over several lines: too much for this test, so it must be written otherwise.
            Some(_) => found.push("{".to_owned()),
            None => found.extend(name(rest)),
        }
    }
    found
}

fn name(text: &str) -> Option<String> {
    let name: String = text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn top_level_names(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut found: Vec<String> = name(list).into_iter().collect();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => found.extend(name(&list[at + 1..])),
            _ => {}
        }
    }
    found
}

fn rank(module: &str, order: &[&str]) -> Option<usize> {
    let module = AT_THE_ROOT.iter().find(|(item, _)| *item == module).map_or(module, |(_, from)| from);
    order.iter().position(|known| *known == module)
}

fn wrong_imports(line: &Line, order: &[&str]) -> Vec<String> {
    let Some(own) = module(&line.file) else { return Vec::new() };
    let place = format!("{}:{}", line.file.display(), line.number);
    let Some(own_rank) = rank(&own, order) else {
        return vec![format!("{place}: module {own} has no place in the order")];
    };
    let points_back =
        |import: &String| *import != own && rank(import, order).is_none_or(|rank| rank >= own_rank);
    let wrong = imports(&line.code).into_iter().filter(points_back);
    wrong.map(|import| format!("{place}: {own} imports {import}")).collect()
}

#[test]
fn imports_between_modules_point_one_way() {
    for (root, order) in [(library(), &LIBRARY[..]), (program(), &PROGRAM[..])] {
        let wrong: Vec<String> = all_code(&root).iter().flat_map(|line| wrong_imports(line, order)).collect();
        let rule = format!("a module may import only those before it in {order:?}");
        assert!(wrong.is_empty(), "{rule}:\n{}", wrong.join("\n"));
    }
}

#[test]
fn an_import_that_points_the_wrong_way_is_seen() {
    let line = |file: &str, code: &str| Line { file: file.into(), number: 7, code: bare(code) };
    let wrong_imports = |line: &Line| wrong_imports(line, &LIBRARY);
    assert_eq!(
        wrong_imports(&line("data/row.rs", "use crate::model::Weights;")),
        ["data/row.rs:7: data imports model"]
    );
    assert_eq!(
        wrong_imports(&line("features/mod.rs", "use crate::{error::{Error, X}, data::Row};")).len(),
        1
    );
    assert_eq!(wrong_imports(&line("train.rs", "let x = crate::surprise::f();")).len(), 1);
    assert!(wrong_imports(&line("train.rs", "use crate::online::Plan; // crate::nothing")).is_empty());
    assert!(
        wrong_imports(&line("read/vw.rs", "fn f() -> crate::Result<()> { \"crate::train\" }")).is_empty()
    );
}

#[test]
fn every_module_has_its_place() {
    for (root, order) in [(library(), &LIBRARY[..]), (program(), &PROGRAM[..])] {
        let modules: BTreeSet<String> =
            all_code(&root).iter().filter_map(|line| module(&line.file)).collect();
        let known: BTreeSet<String> = order.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(modules, known);
    }
}

/// An option of the program in a message would mean nothing to who calls the library, from any language.
#[test]
fn messages_of_the_library_speak_of_settings_and_not_of_options() {
    let mut files = Vec::new();
    sources(&library(), &mut files);
    let mut options = Vec::new();
    for file in files {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let code = line.trim_start();
            let names_option = |text: &str| {
                text.match_indices("--").any(|(at, _)| {
                    let before = text[..at].chars().next_back();
                    let after = text[at + 2..].chars().next();
                    before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
                        && after.is_some_and(|c| c.is_ascii_lowercase())
                })
            };
            if !code.starts_with("//") && names_option(code) {
                options.push(format!("{}:{}: {code}", file.display(), number + 1));
            }
        }
    }
    assert!(options.is_empty(), "{}", options.join("\n"));
}

fn lines_with(words: &[&str]) -> Vec<String> {
    let all = all_code(&library());
    let has = |line: &&Line| words.iter().any(|word| line.code.contains(word));
    all.iter()
        .filter(has)
        .map(|line| format!("{}:{}: {}", line.file.display(), line.number, line.code.trim()))
        .collect()
}

#[test]
fn the_library_never_prints() {
    let printing = lines_with(&["println!", "print!", "dbg!", "io::stdout", "io::stderr"]);
    assert!(printing.is_empty(), "{}", printing.join("\n"));
}

#[test]
fn the_library_has_no_unsafe_code() {
    let unsafe_lines = lines_with(&["unsafe ", "unsafe{"]);
    assert!(unsafe_lines.is_empty(), "{}", unsafe_lines.join("\n"));
}
