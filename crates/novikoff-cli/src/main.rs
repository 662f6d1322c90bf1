//! The program `novikoff`: arguments → settings → library → rendering.

// One object with all keys of a report is longer than the macro that writes it expects.
#![recursion_limit = "256"]

mod arguments;
mod commands;
mod files;
mod flags;
mod outcome;
mod output;
mod picture;
mod progress;
mod render;
mod report;
mod settings;
mod summary;

use arguments::{Arguments, Command};
use clap::Parser;
use files::Files;
use flags::with_options;
use novikoff::{Error, ErrorKind, Result};
use output::Ending;
use std::io::Write;
use std::process::ExitCode;

/// Rows and weights are large arrays: an allocator that puts them on huge pages saves a tenth of most
/// trainings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    progress::listen_for_interrupts();
    match run(&arguments.command) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::No) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(130),
        Err(error) => fail(&error),
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
        Command::Bounds(bounds) => commands::bounds::run(bounds),
    }
}

fn fail(error: &Error) -> ExitCode {
    // Nothing can be done about a closed standard error.
    let mut stderr = std::io::stderr().lock();
    if error.kind() == ErrorKind::Interrupted {
        let _ = writeln!(stderr, "{}", progress::NOTHING_WRITTEN);
        return ExitCode::from(130);
    }
    let _ = writeln!(stderr, "error: {}", with_options(&error.to_string()));
    if let Some(hint) = error.advice() {
        let _ = writeln!(stderr, "hint: {}", with_options(hint));
    }
    ExitCode::from(2)
}
