//! `novikoff-check CERTIFICATE ROWS [MODEL]`: checks a certificate in exact arithmetic.

#![forbid(unsafe_code)]

use novikoff_checker::{Rows, Verdict, check, model_of};
use serde_json::{Value, json};
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

const HELP: &str = "\
novikoff-check CERTIFICATE ROWS [MODEL]

Checks every claim of a certificate in exact arithmetic. ROWS is a file that `novikoff rows` wrote, \
svmlight text, or a plain table of
numbers (its name ends in .csv, or --label is given). With MODEL, the claims must be about that model's \
weights and settings.

  --zero-based   columns of svmlight text count from 0, not from 1
  --label NAME   the column of a table that holds the labels
  --json         print one JSON object
  --help, --version

Exit codes: 0 all claims hold, 1 one does not, 2 a file cannot be read or is no certificate.
";

#[derive(Default)]
struct Arguments {
    files: Vec<String>,
    zero_based: bool,
    label: Option<String>,
    json: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(what) => {
            // Nothing can be done if this fails too.
            drop(writeln!(stderr(), "novikoff-check: {what}"));
            ExitCode::from(2)
        }
    }
}

/// Whether all claims hold.
fn run() -> Result<bool, String> {
    let mut arguments = Arguments::default();
    let mut given = std::env::args_os()
        .skip(1)
        .map(|argument| argument.into_string().map_err(|_| "an argument is not UTF-8"));
    while let Some(argument) = given.next().transpose()? {
        match argument.as_str() {
            "--help" => return print(HELP).map(|()| true),
            "--version" => {
                return print(&format!("novikoff-check {}\n", env!("CARGO_PKG_VERSION"))).map(|()| true);
            }
            "--zero-based" => arguments.zero_based = true,
            "--json" => arguments.json = true,
            "--label" => arguments.label = Some(given.next().ok_or("--label needs the name of a column")??),
            option if option.starts_with("--") => {
                return Err(format!("there is no option {option:?}; see --help"));
            }
            _ => arguments.files.push(argument),
        }
    }
    let (certificate, data, model) = match &arguments.files[..] {
        [certificate, data] => (certificate, data, None),
        [certificate, data, model] => (certificate, data, Some(read(model)?)),
        _ => return Err("give a certificate, rows and perhaps a model; see --help".into()),
    };
    let at = |file: &str, what: String| format!("{file}: {what}");
    let text = text(certificate)?;
    let rows = rows(data, &arguments).map_err(|what| at(data, what))?;
    let verdicts = check(&text, &rows, model.as_deref()).map_err(|what| at(certificate, what))?;
    let unchecked = if model.is_none() { model_of(&text)? } else { None };
    print(&if arguments.json { as_json(&verdicts) } else { as_text(&verdicts, unchecked) })?;
    Ok(verdicts.iter().all(|verdict| verdict.holds))
}

fn rows(name: &str, arguments: &Arguments) -> Result<Rows, String> {
    let bytes = read(name)?;
    if bytes.starts_with(b"novikoff rows ") {
        return Rows::from_canonical(&bytes);
    }
    let text = String::from_utf8(bytes).map_err(|_| "this is not UTF-8 text")?;
    if arguments.label.is_some() || name.ends_with(".csv") {
        return Rows::from_csv(&text, arguments.label.as_deref());
    }
    Rows::from_svmlight(&text, arguments.zero_based)
}

fn read(name: &str) -> Result<Vec<u8>, String> {
    std::fs::read(name).map_err(|error| format!("{name}: {error}"))
}

fn text(name: &str) -> Result<String, String> {
    String::from_utf8(read(name)?).map_err(|_| format!("{name}: this is not UTF-8 text"))
}

fn print(text: &str) -> Result<(), String> {
    stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
}

fn as_text(verdicts: &[Verdict], unchecked: Option<String>) -> String {
    let mut lines = String::new();
    for verdict in verdicts {
        let word = if verdict.holds { "holds" } else { "FAILS" };
        lines += &format!("{word}  {}\n       {}\n", verdict.claim, verdict.detail);
    }
    if let Some(model) = unchecked {
        lines += &format!(
            "not checked: whether the weights are those of the model {model}; give its file to see\n"
        );
    }
    let all = verdicts.iter().all(|verdict| verdict.holds);
    lines + if all { "the certificate holds\n" } else { "the certificate does NOT hold\n" }
}

fn as_json(verdicts: &[Verdict]) -> String {
    let claims: Vec<Value> = verdicts.iter().map(fields).collect();
    let all = verdicts.iter().all(|verdict| verdict.holds);
    json!({"holds": all, "claims": claims}).to_string() + "\n"
}

fn fields(Verdict { claim, holds, detail, question }: &Verdict) -> Value {
    json!({"claim": claim, "holds": holds, "detail": detail, "question": question})
}
