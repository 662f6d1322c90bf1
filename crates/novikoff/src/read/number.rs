//! Decimal numbers from bytes: exact, and fast for the numbers that files are full of.

/// What stood where a number was expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A finite number, and the position after it.
    Finite(f64, usize),
    /// Something spelled like a number that is not finite: `nan`, `inf`, `1e999`.
    NotFinite,
    /// No number.
    None,
}

/// Powers of ten that a double holds exactly.
pub(super) const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
const INTEGER_POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Reads digits from `at` on: their value (wrapping, if there are more than 19) and the position after them.
#[inline(always)]
pub(super) fn digits(bytes: &[u8], mut at: usize, mut value: u64) -> (u64, usize) {
    while let Some(chunk) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]);
        let count = count_digits(word).unwrap_or(8);
        if count == 0 {
            return (value, at);
        }
        value = value.wrapping_mul(INTEGER_POWERS[count]).wrapping_add(first_digits(word, count));
        at += count;
        if count < 8 {
            return (value, at);
        }
    }
    while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (value, at)
}

/// Eight zeros.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The top bit of each of eight bytes (the first in the lowest) that is not a digit.
#[inline(always)]
fn not_digits(word: u64) -> u64 {
    let spread = word ^ ZEROS;
    // A byte of `spread` is 0–9 just for digits: adding 0x76 sets its top bit for 10–127, and larger ones
    // have it already. (A carry out of one byte comes only from one that is marked, and so can only mark
    // those after it too late to matter.)
    (spread.wrapping_add(0x7676_7676_7676_7676) | spread) & 0x8080_8080_8080_8080
}

/// How many of eight bytes are digits before another byte comes; `None` if all are.
#[inline(always)]
pub(super) fn count_digits(word: u64) -> Option<usize> {
    let others = not_digits(word);
    (others != 0).then(|| (others.trailing_zeros() / 8) as usize)
}

/// Whether just the first `count` (1 to 7) of eight bytes are digits, and the one after them is not.
#[inline(always)]
pub(super) fn has_digits(word: u64, count: usize) -> bool {
    // Of the marks up to that of the byte after the digits, only that one is set.
    let after = 0x80 << (8 * count);
    not_digits(word) & (after | (after - 1)) == after
}

/// The value of the first `count` (1 to 8) of eight bytes, which are digits.
#[inline(always)]
pub(super) fn first_digits(word: u64, count: usize) -> u64 {
    // Moved to the top, with zeros before them.
    eight_digits((word ^ ZEROS) << (64 - 8 * count))
}

/// The value of eight digits 0–9, one a byte, the first in the lowest.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) & 0xffff_ffff
}

/// Reads a number that starts at `at`. Numbers are `[+-]digits[.digits][e[+-]digits]`, with digits before or
/// after the point.
#[inline(always)]
pub(super) fn number(bytes: &[u8], start: usize) -> Number {
    let mut at = start;
    let sign = bytes.get(at).copied();
    if matches!(sign, Some(b'-' | b'+')) {
        at += 1;
    }
    let first = at;
    let (mut mantissa, mut end) = digits(bytes, at, 0);
    let mut count = end - first;
    let mut exponent = 0i64;
    if bytes.get(end) == Some(&b'.') {
        let (all, after) = digits(bytes, end + 1, mantissa);
        let decimals = after - end - 1;
        mantissa = all;
        count += decimals;
        exponent = -(decimals as i64);
        end = after;
    }
    if count == 0 {
        return not_a_number(&bytes[first.min(bytes.len())..]);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let mut power_at = end + 1;
        let negative = bytes.get(power_at) == Some(&b'-');
        power_at += usize::from(matches!(bytes.get(power_at), Some(b'-' | b'+')));
        let (power, after) = digits(bytes, power_at, 0);
        if after == power_at {
            return Number::None;
        }
        let power = if after - power_at > 8 { 100_000_000 } else { power as i64 };
        exponent += if negative { -power } else { power };
        end = after;
    }
    // Clinger's fast path: both factors are exact, so the one operation rounds correctly.
    if count <= 19 && mantissa <= 1 << 53 && (-22..=22).contains(&exponent) {
        let magnitude = match exponent {
            0 => mantissa as f64,
            1.. => mantissa as f64 * POWERS[exponent as usize],
            _ => mantissa as f64 / POWERS[-exponent as usize],
        };
        return Number::Finite(if sign == Some(b'-') { -magnitude } else { magnitude }, end);
    }
    slow(&bytes[start..end], end)
}

#[cold]
fn slow(token: &[u8], end: usize) -> Number {
    match std::str::from_utf8(token).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Number::Finite(value, end),
        Some(_) => Number::NotFinite,
        None => Number::None,
    }
}

#[cold]
fn not_a_number(rest: &[u8]) -> Number {
    let word = &rest[..rest.iter().take(8).take_while(|b| b.is_ascii_alphabetic()).count()];
    let known: [&[u8]; 3] = [b"nan", b"inf", b"infinity"];
    if known.iter().any(|name| name.eq_ignore_ascii_case(word)) { Number::NotFinite } else { Number::None }
}

/// The number that a whole field spells, with nothing before or after it.
pub(super) fn whole(field: &[u8]) -> Number {
    match number(field, 0) {
        Number::Finite(_, end) if end != field.len() => Number::None,
        // `number` looks at the start only: `Inf. Smith` is a name.
        Number::NotFinite
            if std::str::from_utf8(field).ok().and_then(|text| text.parse::<f64>().ok()).is_none() =>
        {
            Number::None
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        let expected = text.parse::<f64>().unwrap();
        // With and without bytes after it: both the eight-at-a-time and the one-by-one path.
        for tail in ["", " 12345678 12345678"] {
            let bytes = [text, tail].concat();
            match number(bytes.as_bytes(), 0) {
                Number::Finite(value, end) => {
                    assert_eq!(value.to_bits(), expected.to_bits(), "{text}");
                    assert_eq!(end, text.len(), "{text}");
                }
                Number::NotFinite => assert!(expected.is_infinite(), "{text}"),
                Number::None => panic!("{text}"),
            }
        }
    }

    #[test]
    fn numbers_that_are_hard_to_round() {
        for text in [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "0.1",
            "9007199254740993",
            "1e22",
            "1e23",
            "8.5e-324",
            "4.9e-324",
            "2.4e-324",
            "1e308",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "1e999",
            "123456789012345678901234567890",
            "0.30000000000000004",
            "2.2250738585072011e-308",
            "6.2699720e-02",
            "00000000000000000000000001",
            "1e-400",
            "1E+05",
        ] {
            check(text);
        }
    }

    #[test]
    fn what_is_not_a_number_is_said_to_be_none() {
        for text in ["", "-", "+", ".", "e5", "1e", "1e+", "abc", ":", "--1"] {
            assert_eq!(number(text.as_bytes(), 0), Number::None, "{text}");
        }
        for text in ["nan", "NaN", "-nan", "inf", "-Infinity", "+INF"] {
            assert_eq!(number(text.as_bytes(), 0), Number::NotFinite, "{text}");
        }
        for text in ["1x", "inf x", "nan-1", "1e999x", "Inf."] {
            assert_eq!(whole(text.as_bytes()), Number::None, "{text}");
        }
        assert_eq!(whole(b"1e999"), Number::NotFinite);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn agrees_with_the_standard_library(
            text in "[+-]?[0-9]{1,22}(\\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?",
        ) {
            check(&text);
        }

        #[test]
        fn reads_back_every_double(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                check(&format!("{value}"));
                check(&format!("{value:e}"));
            }
        }
    }
}
