//! How much memory the process holds, as Linux counts it.

use std::io::{Error, ErrorKind, Result};

/// Bytes in memory.
#[derive(Clone, Copy)]
pub struct Memory {
    /// Now.
    pub resident: u64,
    /// The most so far.
    pub peak: u64,
}

impl Memory {
    /// As of now.
    pub fn now() -> Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        Ok(Self { resident: field(&status, "VmRSS:")?, peak: field(&status, "VmHWM:")? })
    }
}

/// A line such as `VmRSS:     1234 kB`, in bytes.
fn field(status: &str, name: &str) -> Result<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes
        .map(|kb| kb * 1024)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("no {name} in /proc/self/status")))
}
