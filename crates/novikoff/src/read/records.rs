//! Records of delimited text: fields, quotes, and newlines inside quotes.

/// The end of the last whole record in a block, if there is one.
pub fn last_record_end(block: &[u8], delimiter: u8) -> Option<usize> {
    let _ = delimiter;
    memchr::memrchr(b'\n', block).map(|at| at + 1)
}
