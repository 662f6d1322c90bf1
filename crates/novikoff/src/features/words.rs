//! Where words begin and end: Unicode's word boundaries (UAX #29).

use unicode_segmentation::UnicodeSegmentation;

/// Gives every word of a text to `each`, in order: what stands between word boundaries and has a letter or a
/// digit in it. With it, whether the word is known to be of ASCII characters alone; one that is not may be so
/// all the same.
///
/// `don't`, `3.14` and `example.com` are one word each, `rock-and-roll` is three. No word has a space in it:
/// by Unicode's rules a mark that combines with what stands before it would make a word of a space.
pub(super) fn for_each_word<'a>(text: &'a str, mut each: impl FnMut(&'a str, bool)) {
    if text.is_ascii() {
        return ascii_words(text, &mut |word| each(word, true));
    }
    // Only what is not ASCII between two spaces needs the tables of Unicode.
    for part in text.split([' ', '\t', '\n', '\r']) {
        if part.is_ascii() {
            ascii_words(part, &mut |word| each(word, true));
        } else {
            part.unicode_words().for_each(|word| each(word, false));
        }
    }
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// The underscore joins words, but is none by itself.
const UNDERSCORE: u8 = 4;
const IN_WORD: u8 = LETTER | DIGIT | UNDERSCORE;
/// Marks between two letters, or between two digits, belong to the word: shifted by this they are `LETTER` or
/// `DIGIT`.
const JOINS: u8 = 3;

/// What an ASCII character does in a word.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 128 {
        kinds[at] = match at as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => (LETTER | DIGIT) << JOINS,
            b':' => LETTER << JOINS,
            b',' | b';' => DIGIT << JOINS,
            _ => 0,
        };
        at += 1;
    }
    kinds
};

/// So many bytes from `at` on belong to a word, of eight. A loop over bytes would do, but where a word ends
/// is anybody's guess, and the processor's would mostly be wrong.
#[inline(always)]
fn run(bytes: &[u8], at: usize) -> usize {
    let eight = match bytes.get(at..at + 8) {
        Some(eight) => eight.try_into().unwrap_or_default(),
        None => {
            let mut eight = [0; 8];
            let rest = &bytes[at.min(bytes.len())..];
            eight[..rest.len()].copy_from_slice(rest);
            eight
        }
    };
    let all = |byte: u8| u64::from_le_bytes([byte; 8]);
    let word = u64::from_le_bytes(eight);
    // Bytes are below 128, so that none of these sums carries into the next byte. A byte's top bit says
    // whether it is at least this.
    let from = |word: u64, least: u8| word + all(128 - least);
    let small = word | all(b' ');
    let letters = from(small, b'a') & !from(small, b'z' + 1);
    let digits = from(word, b'0') & !from(word, b'9' + 1);
    let others = from(word ^ all(b'_'), 1);
    let out = !(letters | digits | !others) & all(128);
    (out.trailing_zeros() / 8) as usize
}

#[inline]
fn ascii_words<'a>(text: &'a str, each: &mut impl FnMut(&'a str)) {
    let bytes = text.as_bytes();
    let kind = |at: usize| bytes.get(at).map_or(0, |&byte| KINDS[byte as usize]);
    let mut at = 0;
    while at < bytes.len() {
        if kind(at) & IN_WORD == 0 {
            at += 1;
            continue;
        }
        let start = at;
        loop {
            let more = run(bytes, at);
            at += more;
            if more == 8 {
                continue;
            }
            // A mark that belongs to the word is followed by more of it.
            if kind(at) >> JOINS & kind(at - 1) & kind(at + 1) == 0 {
                break;
            }
            at += 1;
        }
        let solid = |at: usize| kind(at) & (LETTER | DIGIT) != 0;
        if solid(start) || (start + 1..at).any(solid) {
            each(&text[start..at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each_word(text, |word, _| words.push(word));
        words
    }

    /// Characters that the rules treat differently, and some that they do not.
    fn text() -> impl Strategy<Value = String> {
        let special = prop::sample::select(
            " \t.,;:'_-@aZ09\u{301}\u{200d}\u{ad}\u{feff}éßÅקא\"ーカひ漢字ไทย🇩🇪👩‍🚀\
             \u{2019}\u{b7}\u{85}\u{a0}\u{2028}"
                .chars()
                .collect::<Vec<_>>(),
        );
        let any = prop_oneof![6 => special, 2 => prop::char::range(' ', '~'), 1 => any::<char>()];
        prop::collection::vec(any, 0..24).prop_map(|all| all.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn words_are_those_of_unicode(text in text()) {
            let parts = text.split([' ', '\t', '\n', '\r']);
            prop_assert_eq!(words(&text), parts.flat_map(|part| part.unicode_words()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn marks_join_what_stands_on_both_sides() {
        assert_eq!(
            words("a.b.c 1,2.3 a.1 1.a a:b a;b 1:2 _ __ a_ _1 'tis dogs' x..y"),
            [
                "a.b.c", "1,2.3", "a", "1", "1", "a", "a:b", "a", "b", "1", "2", "a_", "_1", "tis", "dogs",
                "x", "y"
            ]
        );
    }
}
