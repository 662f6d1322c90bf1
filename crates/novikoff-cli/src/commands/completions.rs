//! `novikoff completions`: what a shell needs to complete commands and options.

use crate::arguments::{Arguments, Completions};
use crate::output::{Ending, print_bytes};
use clap::CommandFactory;
use novikoff::Result;

/// Runs the command.
pub fn run(arguments: &Completions) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "novikoff", &mut script);
    print_bytes(&script)?;
    Ok(Ending::Done)
}
