//! What a margin rests on.

use novikoff::margin::Margin;

/// The rows that the margin rests on: numbers from 1, in the order of the file.
pub fn support_rows(found: &Margin) -> Vec<u64> {
    let rows = match (&found.zero, &found.combination) {
        (Some(zero), _) => &zero.rows[..],
        (None, Some(combination)) => &combination.rows[..],
        (None, None) => &[],
    };
    rows.iter().map(|&row| u64::from(row) + 1).collect()
}
