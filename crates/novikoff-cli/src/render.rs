//! Numbers and tables for people.

use crate::text;
use novikoff::data::Dataset;
use std::fmt::Write as _;

/// `32,561 rows × 123 features, 451,592 nonzeros`.
pub fn dimensions(data: &Dataset) -> String {
    let rows = counted(data.len() as u64, "row");
    let features = counted(data.rows.columns() as u64, "feature");
    format!("{rows} × {features}, {}", counted(data.rows.nonzeros() as u64, "nonzero"))
}

/// Labelled lines, labels aligned.
#[derive(Clone, Default)]
pub struct Lines {
    lines: Vec<(String, String)>,
}

impl Lines {
    /// Adds a line.
    pub fn add(&mut self, label: &str, text: impl Into<String>) {
        self.lines.push((label.to_owned(), text.into()));
    }

    /// The lines, each with its label; one without a label goes on with the line before.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.lines
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let width = self.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (label, line) in &self.lines {
            let _ = writeln!(text, "{label:width$}  {}", text::line(line));
        }
        text
    }
}

/// Columns aligned to the right, but for the first.
pub fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| text::cell(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = widths[c].saturating_sub(cell.chars().count());
            let (before, after) = if c == 0 { (0, pad) } else { (pad, 0) };
            let gap = if c == 0 { "" } else { "  " };
            let _ = write!(line, "{gap}{:before$}{cell}{:after$}", "", "");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A whole number with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `2 rows`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A share as per cent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A number with four digits that count, or a little more.
pub fn number_up(value: f64) -> String {
    let text = number(value);
    if text.parse::<f64>().is_ok_and(|shown| shown < value) {
        number(value + half_a_unit(value))
    } else {
        text
    }
}

/// A number with four digits that count, or a little less.
pub fn number_down(value: f64) -> String {
    let text = number(value);
    if text.parse::<f64>().is_ok_and(|shown| shown > value) {
        number(value - half_a_unit(value))
    } else {
        text
    }
}

/// A little more than half of what the last digit counts: enough to be rounded to the next.
fn half_a_unit(value: f64) -> f64 {
    let power = value.abs().log10().floor();
    // Of small numbers six decimals are shown, of large ones none.
    let digit = if (1e-3..1e6).contains(&value.abs()) { (power - 3.0).clamp(-6.0, 0.0) } else { power - 3.0 };
    0.501 * 10f64.powf(digit)
}

/// A number with four digits that count. A sum that has overflowed is larger than the largest number.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !value.is_finite() {
        overflowed(value)
    } else if (1e-3..1e6).contains(&size) {
        // The power of ten that it has when rounded: 0.99999 is 1.000.
        let rounded = format!("{size:.3e}");
        let power = rounded.rsplit('e').next().and_then(|power| power.parse::<i32>().ok()).unwrap_or(0);
        let decimals = (3 - power).clamp(0, 6) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.3e}")
    }
}

/// What is known of a number that is not finite.
pub fn overflowed(value: f64) -> String {
    match value {
        _ if value.is_nan() => "not a number".into(),
        _ if value > 0.0 => "more than 1.798e308".into(),
        _ => "less than -1.798e308".into(),
    }
}

/// Seconds, as exact as they are interesting.
pub fn seconds(value: f64) -> String {
    if value < 0.1 {
        format!("{:.1} ms", 1000.0 * value)
    } else if value < 100.0 {
        format!("{value:.2} s")
    } else {
        format!("{value:.0} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(number(0.012345), "0.01235");
        assert_eq!(
            (number(0.99999), number(0.9999), number(1.0)),
            ("1.000".into(), "0.9999".into(), "1.000".into())
        );
        assert_eq!(number(-12345.6), "-12346");
        assert_eq!(number(1e-9), "1.000e-9");
        assert_eq!(percent(0.1512), "15.12 %");
        assert_eq!(number(f64::INFINITY), "more than 1.798e308");
        assert_eq!(number_up(f64::INFINITY), "more than 1.798e308");
        assert_eq!(number_down(f64::NEG_INFINITY), "less than -1.798e308");
    }

    #[test]
    fn tables_align_to_the_right() {
        let rows = [vec!["a".to_owned(), "1".into()], vec!["bb".into(), "22".into()]];
        assert_eq!(table(&rows), "a    1\nbb  22\n");
    }
}
