//! Words in pictures: names from outside made harmless and short, numbers made readable.

use super::style::TYPE;

/// A name as it may stand in a picture or on a page: no control characters, no marks that turn the direction
/// of what follows, and no more than `most` characters. Escaping is left to whoever writes the markup.
///
/// ```
/// use novikoff::plot::tidy;
/// assert_eq!(tidy("petal\twidth", 40), "petal width");
/// assert_eq!(tidy("a\u{202e}b\u{0}", 40), "a\u{fffd}b\u{fffd}");
/// assert_eq!(tidy("abcdefgh", 5), "abcd…");
/// ```
pub fn tidy(name: &str, most: usize) -> String {
    let mut tidied: String = name.chars().take(most + 1).map(harmless).collect();
    if tidied.chars().count() > most {
        tidied = tidied.chars().take(most.saturating_sub(1)).chain(['…']).collect();
    }
    tidied
}

fn harmless(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => ' ',
        c if c.is_control() => '\u{fffd}',
        // Marks of direction, separators of lines, what is no character, tags.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => {
            '\u{fffd}'
        }
        '\u{fff9}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}' => '\u{fffd}',
        c => c,
    }
}

/// About how wide a text is; rather too wide than too narrow.
pub(super) fn width(text: &str) -> f64 {
    // In the widest of the fonts that a page asks for.
    let wide = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '-' | ' ' | '('
        | ')' => 0.43,
        'm' | 'w' | 'M' | 'W' | '=' | '<' | '>' | '+' | '−' | '%' | '@' | '…' => 1.0,
        'A'..='Z' => 0.76,
        '\u{1100}'..'\u{2000}' | '\u{2e80}'.. => 1.05,
        _ => 0.65,
    };
    text.chars().map(|c| wide(c) * TYPE).sum()
}

/// As much of a text as is `room` wide: its beginning and its end, which is where names of one family differ.
pub(super) fn fitted(text: &str, room: f64) -> String {
    let all: Vec<char> = text.chars().collect();
    let mut kept = text.to_owned();
    for left in (0..all.len()).rev().take_while(|_| !all.is_empty()) {
        if width(&kept) <= room {
            break;
        }
        let (head, tail) = (left.div_ceil(2), left / 2);
        kept = all[..head].iter().chain(['…'].iter()).chain(&all[all.len() - tail..]).collect();
    }
    kept
}

/// A number on an axis whose ticks are `step` apart.
pub(super) fn tick(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step.abs() * 1e-9 || size == 0.0 {
        return "0".to_owned();
    }
    let plain = |value: f64, step: f64| {
        let decimals = (-(step.abs() * 1.001).log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{value:.decimals$}").replace('-', "−")
    };
    match size.max(step.abs()) {
        large if large >= 1e13 => format!("{value:.0e}").replace('-', "−"),
        large if large >= 1e9 => format!("{}G", plain(value / 1e9, step / 1e9)),
        large if large >= 1e6 => format!("{}M", plain(value / 1e6, step / 1e6)),
        large if large >= 1e4 => format!("{}k", plain(value / 1e3, step / 1e3)),
        small if small < 1e-3 => format!("{value:.0e}").replace('-', "−"),
        _ => plain(value, step),
    }
}

/// A whole number, short enough for a cell.
pub(super) fn count(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..10_000_000 => format!("{}k", number / 1000),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// A number in a sentence or a table: four digits that count.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-3..1e6).contains(&size) {
        let power = if size > 0.0 && size.is_finite() { size.log10().floor() } else { 3.0 };
        let decimals = (3.0 - power).clamp(0.0, 6.0) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{value:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(0.30000000000000004, 0.1), "0.3");
        assert_eq!(tick(-2.5, 0.5), "−2.5");
        assert_eq!(tick(20_000.0, 10_000.0), "20k");
        assert_eq!(tick(1.5e6, 5e5), "1.5M");
        assert_eq!(tick(2e-5, 1e-5), "2e−5");
        assert_eq!(tick(1e-17, 0.2), "0");
        assert_eq!(tick(100.0, 50.0), "100");
    }

    proptest! {
        #[test]
        fn tidied_names_are_short_and_harmless(name in "(?s).{0,60}", most in 1usize..50) {
            let tidied = tidy(&name, most);
            prop_assert!(tidied.chars().count() <= most);
            let harmful = tidied.chars().find(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(c));
            prop_assert_eq!(harmful, None);
            prop_assert_eq!(&tidy(&tidied, most), &tidied);
            prop_assert!(
                width(&fitted(&tidied, 100.0)) <= 100.0 || fitted(&tidied, 100.0).chars().count() <= 1
            );
        }
    }
}
