//! The program `novikoff`: arguments → settings → library → rendering.

// One object with all keys of a report is longer than the macro that writes it expects.
#![recursion_limit = "256"]

mod arguments;
mod commands;
mod files;
mod flags;
mod foreign;
mod interrupt;
mod messages;
mod outcome;
mod output;
mod picture;
mod progress;
mod render;
mod report;
mod settings;
mod summary;
mod text;

use arguments::{Arguments, Command, Given};
use clap::error::ErrorKind::{MissingRequiredArgument, UnknownArgument};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use files::Files;
use messages::Talk;
use novikoff::{Error, ErrorKind, Result};
use output::Ending;
use std::process::ExitCode;

/// Rows and weights are large arrays: an allocator that puts them on huge pages saves a tenth of most
/// trainings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misused(&error),
    };
    note_given(&mut arguments.command);
    let command = &arguments.command;
    messages::talk(match (arguments.quiet, arguments.verbose) {
        (true, _) => Talk::Quiet,
        (_, true) => Talk::Verbose,
        _ => Talk::Usual,
    });
    interrupt::listen();
    match run(command) {
        Ok(_) if interrupt::is_asked() => ExitCode::from(interrupt::EXIT_CODE),
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::No) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(interrupt::EXIT_CODE),
        Err(error) if error.kind() == ErrorKind::Interrupted => interrupt::end(interrupt::NOTHING_WRITTEN),
        Err(error) => {
            messages::fail(&error, command.json());
            ExitCode::from(2)
        }
    }
}

/// Notes which options are given, where the others are those of a model.
fn note_given(command: &mut Command) {
    let Command::Train(train) = command else { return };
    if train.from.is_none() {
        return;
    }
    if let Ok(matches) = Arguments::command().try_get_matches()
        && let Some((_, matches)) = matches.subcommand()
    {
        train.given = Given::of(matches);
    }
}

fn run(command: &Command) -> Result<Ending> {
    Files::of(command).check()?;
    match command {
        Command::Train(train) => commands::train::run(train),
        Command::Tune(tune) => commands::tune::run(tune),
        Command::Compare(compare) => commands::compare::run(compare),
        Command::Predict(predict) => commands::predict::run(predict),
        Command::Evaluate(evaluate) => commands::evaluate::run(evaluate),
        Command::Inspect(inspect) => commands::inspect::run(inspect),
        Command::Margin(margin) => commands::margin::run(margin),
        Command::Verify(verify) => commands::verify::run(verify),
        Command::Rows(rows) => commands::rows::run(rows),
        Command::Export(export) => commands::export::run(export),
        Command::Import(import) => commands::import::run(import),
        Command::Bounds(bounds) => commands::bounds::run(bounds),
        Command::Completions(completions) => commands::completions::run(completions),
        Command::Man(man) => commands::man::run(man),
    }
}

/// Whether an option is there that needs --folds.
fn lacks_folds(error: &clap::Error) -> bool {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return false };
    error.kind() == MissingRequiredArgument && missing.iter().any(|one| one.starts_with("--folds"))
}

/// Says what is wrong with the command line, or shows the help or the version that is asked for.
fn misused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let words: Vec<String> = words().skip(1).take_while(|word| word != "--").collect();
    let json = words.iter().any(|word| word == "--json");
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == UnknownArgument => option.as_str(),
        _ => "",
    };
    let command = words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    if let Some(here) = foreign::here(command, unknown) {
        messages::fail(&Error::usage(format!("there is no option {unknown}")).hint(here), json);
        return ExitCode::from(2);
    }
    if command == "evaluate" && lacks_folds(error) {
        let what = "options that say how to learn are for --folds: a model has learned already";
        let hint = "leave them out, or cross-validate without the model: evaluate --folds 5 DATA";
        messages::fail(&Error::usage(what).hint(hint), json);
        return ExitCode::from(2);
    }
    show_misuse(error);
    if json {
        let text = error.render().to_string();
        let mut parts = text.split("\n\n").map(str::trim);
        let what = parts.next().unwrap_or_default().trim_start_matches("error: ");
        let tip = parts.find_map(|part| part.strip_prefix("tip: "));
        messages::say_json(&messages::object(what, tip, None, None, None));
    }
    ExitCode::from(2)
}

/// The words of the command line; what is not UTF-8 in them is replaced.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// Prints what is wrong with the command line. What was written there may move a terminal's cursor.
fn show_misuse(error: &clap::Error) {
    if words().all(|word| text::escaped(&word) == word) {
        // Nothing can be done about a closed standard error.
        let _ = error.print();
    } else {
        error.render().to_string().lines().for_each(messages::say);
    }
}
