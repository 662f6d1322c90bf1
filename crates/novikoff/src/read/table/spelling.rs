//! What a value that is no number looks like: a date, a number spelled otherwise, prose.

use crate::read::number::{Number, whole};

/// What a value shows by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// It is a date, or a date with a time.
    pub is_date: bool,
    /// It would be a number without its commas, its currency or the like.
    pub is_number_spelled_otherwise: bool,
    /// Words, separated by spaces.
    pub words: u64,
    /// Those that do not start with a capital letter or a digit, as most words of prose do not.
    pub small_words: u64,
}

impl Spelling {
    pub(crate) fn of(text: &str) -> Self {
        let is_small = |word: &&str| {
            let first = word.chars().find(|c| c.is_alphanumeric());
            first.is_some_and(|c| c.is_alphabetic() && !c.is_uppercase())
        };
        Self {
            is_date: is_date(text),
            is_number_spelled_otherwise: Misspelling::of(text).is_some(),
            words: text.split_whitespace().count() as u64,
            small_words: text.split_whitespace().filter(is_small).count() as u64,
        }
    }
}

/// How a number is spelled so that it cannot be read as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misspelling {
    /// `3,14`, `1,234.5`, `1.234,5`.
    Comma,
    /// `$20`, `17 %`, `101 EUR`.
    Unit,
    /// Spaces around it within quotes, or between thousands; also those that do not look it, as U+00A0.
    Spaces,
    /// `−5`, with the minus U+2212.
    Minus,
    /// `'5'`.
    Quotes,
    /// `(5)`, as bookkeepers write −5.
    Parentheses,
    /// `1_234`.
    Underscore,
}

impl Misspelling {
    /// What to write in its place.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Misspelling::Comma => "write 3.14 for 3,14, and 1200 for $1,200",
            Misspelling::Unit => "write 5.3 for 5.3%, and 20 for $20 or 20 EUR",
            Misspelling::Spaces => "write numbers without spaces around them or within, also such as U+00A0",
            Misspelling::Minus => "write the minus as -, in place of the sign U+2212",
            Misspelling::Quotes => "write 5.3 or \"5.3\" for '5.3'",
            Misspelling::Parentheses => "write -5.3 for (5.3)",
            Misspelling::Underscore => "write 1200 for 1_200",
        }
    }

    /// How a value is spelled that would be a number but for that.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.bytes().any(|b| b.is_ascii_digit()) || text.len() > 60 {
            return None;
        }
        let is_number = |text: &str| matches!(whole(text.as_bytes()), Number::Finite(..));
        let between = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
        let with_point = |inner: &str| is_number(inner) || Self::of(inner) == Some(Misspelling::Comma);
        let (trimmed, plain) = (text.trim(), without_unit(text.trim()));
        match () {
            _ if between('\'', '\'').is_some_and(is_number) => Some(Misspelling::Quotes),
            _ if between('(', ')').is_some_and(|inner| with_point(without_unit(inner))) => {
                Some(Misspelling::Parentheses)
            }
            _ if text.starts_with('\u{2212}') => {
                with_point(&text.replacen('\u{2212}', "-", 1)).then_some(Misspelling::Minus)
            }
            _ if trimmed.len() < text.len() && is_number(trimmed) => Some(Misspelling::Spaces),
            _ if has_comma(plain) => Some(Misspelling::Comma),
            _ if plain.len() < trimmed.len() && is_number(plain) => Some(Misspelling::Unit),
            _ if joins_thousands(plain, char::is_whitespace) => Some(Misspelling::Spaces),
            _ if joins_thousands(plain, |c| c == '_') => Some(Misspelling::Underscore),
            _ => None,
        }
    }
}

/// Codes of currencies that stand beside amounts.
const CURRENCIES: [&str; 16] = [
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "CZK", "BRL",
    "KRW",
];

/// A value without its currency or per cent sign.
fn without_unit(text: &str) -> &str {
    let is_sign = |c: char| matches!(c, '$' | '€' | '£' | '¥' | '₹' | '%');
    let inner = text.trim_matches(is_sign).trim();
    let before = CURRENCIES.iter().find_map(|code| inner.strip_suffix(code));
    let behind = || CURRENCIES.iter().find_map(|code| inner.strip_prefix(code));
    before.or_else(behind).map_or(inner, str::trim)
}

/// Whether these are digits with a decimal comma, or with commas between thousands.
fn has_comma(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
    if !(starts && text.ends_with(|c: char| c.is_ascii_digit())) {
        return false;
    }
    let is_number = |text: &str| matches!(whole(text.as_bytes()), Number::Finite(..));
    match text.matches(',').count() {
        0 => false,
        // A decimal comma, perhaps with points between thousands; or a comma between thousands.
        1 => is_number(&text.replace(',', "")) || is_number(&text.replace('.', "").replace(',', ".")),
        _ => {
            let before_point = text.split('.').next().unwrap_or_default();
            before_point.split(',').skip(1).all(|thousands| thousands.len() == 3)
                && is_number(&text.replace(',', ""))
        }
    }
}

/// Whether these are groups of three digits, but for the first and what stands behind the point, joined so.
fn joins_thousands(text: &str, joint: impl Fn(char) -> bool) -> bool {
    let (before, behind) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let before = before.trim_start_matches(['-', '+', '\u{2212}']);
    let are_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut groups = before.split(&joint);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && are_digits(first));
    before.contains(&joint)
        && first
        && groups.all(|group| group.len() == 3 && are_digits(group))
        && are_digits(behind)
}

/// Whether whole numbers are days as `20240131`, of this millennium or the two centuries before it.
pub(super) fn is_compact_date(number: f64) -> bool {
    if !(18_000_101.0..22_000_000.0).contains(&number) || number.fract() != 0.0 {
        return false;
    }
    let (month, day) = ((number as u32 / 100) % 100, number as u32 % 100);
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

/// Names of months by which dates are known, by their first three letters.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Whether a value is a date in a common form: `2024-01-31`, `2024/1/31`, `2024-01`, `31.01.2024`, `1/31/24`,
/// `31 Jan 2024`, `January 31, 2024`; a time may follow.
pub(super) fn is_date(text: &str) -> bool {
    if text.len() > 40 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let date = without_time(text);
    is_numeric_date(date) || is_named_date(date)
}

/// The part before a time of day: what stands before `T12:30`, or before a space and `12:30`.
fn without_time(text: &str) -> &str {
    let Some(colon) = text.find(':') else { return text };
    let hour = text[..colon].trim_end_matches(|c: char| c.is_ascii_digit());
    if hour.len() == colon { text } else { hour.trim_end_matches([' ', 'T', ',']) }
}

/// `2024-01-31` and its like: three numbers between equal separators, or year and month.
fn is_numeric_date(text: &str) -> bool {
    let Some(separator) = text.chars().find(|c| !c.is_ascii_digit()) else { return false };
    if !matches!(separator, '-' | '/' | '.') {
        return false;
    }
    let parts: Option<Vec<(usize, u32)>> =
        text.split(separator).map(|part| Some((part.len(), digits(part)?))).collect();
    let is_month = |(length, month): (usize, u32)| length <= 2 && (1..=12).contains(&month);
    let is_day = |(length, day): (usize, u32)| length <= 2 && (1..=31).contains(&day);
    let is_year = |(length, year): (usize, u32)| length == 4 && (1000..3000).contains(&year);
    match parts.as_deref() {
        Some(&[year, month]) => separator == '-' && is_year(year) && is_month(month) && month.0 == 2,
        Some(&[year, month, day]) if is_year(year) => is_month(month) && is_day(day),
        Some(&[first, second, year]) => {
            let day_and_month = is_month(first) && is_day(second) || is_day(first) && is_month(second);
            day_and_month && (is_year(year) || year.0 == 2)
        }
        _ => false,
    }
}

/// `31 Jan 2024` and its like: a month by its name, beside a day, a year, or both, and perhaps the day of the
/// week.
fn is_named_date(text: &str) -> bool {
    let parts: Vec<&str> =
        text.split([' ', ',', '-', '.', '/']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let months = parts.iter().filter(|part| is_month_name(part)).count();
    let numbers: Vec<u32> = parts.iter().filter_map(|part| digits(part)).collect();
    let others = parts.len() - months - numbers.len();
    let is_year = |number: &u32| (1000..3000).contains(number);
    let fits = match numbers[..] {
        [year] => is_year(&year),
        [a, b] => {
            [a, b].iter().any(|number| (1..=31).contains(number)) && (is_year(&a) || is_year(&b) || b < 100)
        }
        _ => false,
    };
    months == 1 && fits && (others == 0 || others == 1 && is_weekday(parts[0]))
}

fn is_month_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    MONTHS.iter().any(|month| word.starts_with(month))
        && word.len() <= 9
        && word.bytes().all(|b| b.is_ascii_alphabetic())
}

fn is_weekday(word: &str) -> bool {
    let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    days.iter().any(|day| word.to_ascii_lowercase().starts_with(day))
}

/// The number that up to four digits spell.
fn digits(text: &str) -> Option<u32> {
    let is_short = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if is_short { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_known_by_their_common_forms_and_other_values_are_none() {
        for date in [
            "2024-01-31",
            "2024/1/31",
            "2024.01.31",
            "2024-01",
            "31.01.2024",
            "31/01/2024",
            "1/31/24",
            "31-01-2024",
            "2024-01-31T12:30:00Z",
            "2024-01-31 12:30:00.123+02:00",
            "1/31/2024 9:05",
            "31 Jan 2024",
            "31-Jan-24",
            "Jan 31, 2024",
            "January 2024",
            "Wed, 31 January 2024 12:30:00 GMT",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "",
            "2024",
            "1.2.3",
            "3.14",
            "12:30",
            "3:1",
            "192.168.0.1",
            "030-12-3456",
            "2024-13",
            "2020/21",
            "March",
            "may",
            "1999-2000",
            "A-1-2",
            "Sept",
            "10-12",
            "Mar-a-Lago 17",
            "5 mars bars",
            "2024-01-32",
            "the 31 Jan 2024 was a Wednesday in most of the world",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn numbers_spelled_otherwise_are_known_and_names_are_not() {
        use Misspelling::*;
        for (number, how) in [
            ("3,14", Comma),
            ("-3,14", Comma),
            ("1,234", Comma),
            ("1,234,567.5", Comma),
            ("1.234,5", Comma),
            ("$1,200", Comma),
            ("$20", Unit),
            ("20 €", Unit),
            ("17%", Unit),
            ("17 %", Unit),
            ("101 EUR", Unit),
            ("CHF 12.50", Unit),
            (" 5.3 ", Spaces),
            ("\u{a0}-5.3", Spaces),
            ("1 234", Spaces),
            ("1\u{202f}234\u{202f}567.5", Spaces),
            ("\u{2212}5.3", Minus),
            ("\u{2212}5,3", Minus),
            ("'5.3'", Quotes),
            ("(5.3)", Parentheses),
            ("($1,200)", Parentheses),
            ("1_101", Underscore),
        ] {
            assert_eq!(Misspelling::of(number), Some(how), "{number}");
        }
        for other in [
            "3.14", "17", "1.2.3", "a,b", "Ulm", "1,2,x", "$", "%", "", "1, 2", "5-6", ",5", "1,2,3",
            "2020_01", "12 34", "10 cm", "EUR", "(a)", "'a'", "()", "PC 9", "17 19", "(1) 5", "\u{2212}",
        ] {
            assert_eq!(Misspelling::of(other), None, "{other}");
        }
    }

    #[test]
    fn days_are_known_without_separators() {
        for date in [20_240_131.0, 19_991_231.0, 18_000_101.0] {
            assert!(is_compact_date(date), "{date}");
        }
        for other in
            [20_241_331.0, 20_240_132.0, 20_240_100.0, 2_024_013.0, 20_240_131.5, 99_991_231.0, -20_240_131.0]
        {
            assert!(!is_compact_date(other), "{other}");
        }
    }

    #[test]
    fn words_of_prose_are_small_and_those_of_names_are_not() {
        let count = |text: &str| (Spelling::of(text).words, Spelling::of(text).small_words);
        assert_eq!(count("Braund, Mr. Owen Harris"), (4, 0));
        assert_eq!(count("free money now"), (3, 3));
        assert_eq!(count("See you at 5, (then) we cook"), (7, 5));
    }

    proptest! {
        #[test]
        fn every_day_is_a_date_however_it_is_written(
            year in 1000u32..3000,
            month in 1u32..13,
            day in 1u32..32,
            hour in 0u32..24,
        ) {
            let name = MONTHS[month as usize - 1];
            for date in [
                format!("{year}-{month:02}-{day:02}"),
                format!("{day}.{month}.{year}"),
                format!("{month}/{day}/{year}"),
                format!("{day} {name} {year}"),
                format!("{name} {day}, {year}"),
            ] {
                prop_assert!(is_date(&date), "{}", date);
                let with_time = format!("{date} {hour:02}:30");
                prop_assert!(is_date(&with_time), "{}", with_time);
            }
        }

        #[test]
        fn a_number_with_a_comma_in_place_of_its_point_is_one_spelled_otherwise(x in -1e6f64..1e6) {
            let text = format!("{x:.2}").replace('.', ",");
            prop_assert_eq!(Misspelling::of(&text), Some(Misspelling::Comma), "{}", text);
        }

        #[test]
        fn any_text_is_looked_at_without_a_panic(text in ".{0,50}") {
            let _ = Spelling::of(&text);
        }
    }
}
