//! What a command leaves behind: text on standard output, and how it ended.

use novikoff::{Error, Result};
use std::io::Write;

/// How a command ended, when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// The answer is no.
    No,
    /// The user asked to stop; what there was is kept.
    Interrupted,
}

/// Prints to standard output. Whoever closes the pipe early has seen enough: that is no error.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// The same for bytes.
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => Err(Error::io("standard output", &e)),
        Ok(()) => Ok(()),
    }
}
