//! `novikoff man`: the manual's pages.

use crate::arguments::{Arguments, Man};
use crate::output::{Ending, print_bytes};
use clap::CommandFactory;
use novikoff::{Error, Result};

/// Runs the command.
pub fn run(arguments: &Man) -> Result<Ending> {
    let mut program = Arguments::command();
    // From here on commands know the options that are those of all.
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => page_of(&program, name)?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(|error| Error::io("standard output", &error))?;
    print_bytes(&text)?;
    Ok(Ending::Done)
}

fn page_of(program: &clap::Command, name: &str) -> Result<clap::Command> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        Error::usage(format!("there is no command {name:?}")).hint(format!("there are {}", names.join(", ")))
    })
}
