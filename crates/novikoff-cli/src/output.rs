//! What a command leaves behind: text on standard output, and how it ended.

use novikoff::{Error, Result};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Whether anything has been printed; held while something is.
static PRINTED: Mutex<bool> = Mutex::new(false);

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
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    *printed = true;
    match write_out(bytes) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => Err(Error::io("standard output", &e)),
        Ok(()) => Ok(()),
    }
}

fn write_out(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Prints this, unless something has been printed, and nothing ever after. Nothing can be done if that fails.
pub fn print_last(text: &str) {
    let printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*printed {
        let _ = write_out(text.as_bytes());
    }
    std::mem::forget(printed);
}
