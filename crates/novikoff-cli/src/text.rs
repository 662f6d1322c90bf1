//! Text from outside as people see it: nothing in it moves a cursor or turns the direction of reading, and
//! long names are short.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The longest name that a table, a list or a message shows in full.
const LONGEST_NAME: usize = 100;
/// How much of a longer name is shown: its beginning and its end.
const HEAD: usize = 60;
const TAIL: usize = 20;
/// The longest message that is shown in full.
const LONGEST_MESSAGE: usize = 2000;

/// Whether a terminal might obey a character instead of showing it.
fn is_unseen(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_escaped(c: char, text: &mut String) {
    match c {
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        // Writing to a string cannot fail.
        c => drop(write!(text, "\\u{{{:x}}}", c as u32)),
    }
}

/// Text without control characters, without ends of lines and without marks that turn the direction: they are
/// written as `\t`, `\n`, `\r` and `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unseen(c) { push_escaped(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// The same, and `\\` for a backslash: what was written can be read again.
pub fn field(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        return Cow::Owned(escaped(&text.replace('\\', "\\\\")).into_owned());
    }
    escaped(text)
}

/// A name in a list: a field of no more than so many characters.
pub fn name(text: &str) -> String {
    shortened(&field(&shortened(text))).into_owned()
}

/// What stands in a cell of a table, in no more than so many characters.
pub fn cell(text: &str) -> String {
    shortened(&escaped(&shortened(text))).into_owned()
}

/// The beginning and the end of a long name.
fn shortened(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME || name.chars().count() <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    Cow::Owned(ends(name, HEAD, TAIL))
}

/// So many characters from the beginning of a text, and so many from its end.
fn ends(text: &str, head: usize, tail: usize) -> String {
    let from = text.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at);
    text.chars().take(head).chain(['…']).chain(text[from..].chars()).collect()
}

/// A message, shortened itself if it is still too long to be read with its names shortened.
pub fn message(text: &str) -> Cow<'_, str> {
    let line = line(text);
    match line.len() > LONGEST_MESSAGE && line.chars().count() > LONGEST_MESSAGE {
        true => Cow::Owned(ends(&line, LONGEST_MESSAGE - 400, 399)),
        false => line,
    }
}

/// A line with its long names shortened, which stand between quotation marks.
pub fn line(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_NAME {
        return escaped(text);
    }
    let mut brief = String::new();
    let mut rest = text;
    while let Some((before, quoted)) = rest.split_once('"') {
        let Some(end) = end_of_name(quoted) else { break };
        let _ = write!(brief, "{before}\"{}\"", shortened(&quoted[..end]));
        rest = &quoted[end + 1..];
    }
    brief.push_str(rest);
    Cow::Owned(escaped(&brief).into_owned())
}

/// Where the quotation mark stands that ends a name, of which those in the name are escaped.
fn end_of_name(quoted: &str) -> Option<usize> {
    let mut is_escaped = false;
    quoted.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a field stands for.
    fn unescaped(field: &str) -> String {
        let mut text = String::new();
        let mut characters = field.chars();
        while let Some(c) = characters.next() {
            text.push(match c {
                '\\' => match characters.next() {
                    Some('t') => '\t',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('u') => {
                        let digits: String =
                            characters.by_ref().skip(1).take_while(|digit| *digit != '}').collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                    }
                    Some(other) => other,
                    None => panic!("{field:?} ends in the middle"),
                },
                c => c,
            });
        }
        text
    }

    proptest! {
        #[test]
        fn a_field_moves_no_cursor_and_can_be_read_again(
            text in "(?s)[\\\\tnru{}\t\n\r\u{1b}\u{202e}a-c]{0,8}|.{0,8}",
        ) {
            let field = field(&text);
            prop_assert!(!field.contains(is_unseen), "{:?}", field);
            prop_assert_eq!(unescaped(&field), text);
        }

        #[test]
        fn names_and_messages_are_short(name_of in "(?s).{0,400}", around in "[a-z \"]{0,40}") {
            prop_assert!(name(&name_of).chars().count() <= LONGEST_NAME);
            let message_of = format!("there is no column {name_of:?}: {around}");
            let shown = message(&message_of);
            prop_assert!(!shown.contains(is_unseen));
            let quoted = LONGEST_NAME + 2 + "there is no column : ".len();
            prop_assert!(shown.chars().count() <= quoted + around.chars().count(), "{}", shown);
        }
    }

    #[test]
    fn a_message_keeps_its_beginning_and_its_end() {
        let long = "x".repeat(10_000_000);
        let told = message(&format!("no column {long:?}; the columns are \"a\", \"b\"")).into_owned();
        assert!(told.starts_with("no column \"xxxx") && told.ends_with("the columns are \"a\", \"b\""));
        assert!(told.len() < 200, "{}", told.len());
        assert_eq!(message(&long).chars().count(), LONGEST_MESSAGE);
        assert_eq!(message("C:\\new \u{1b}[31m"), "C:\\new \\u{1b}[31m");
    }
}
