//! Records of delimited text: fields, quotes, and newlines inside quotes.
//!
//! A field is quoted if its first byte that is no space is `"`. Inside, `""` is a quote, and delimiters and
//! newlines are literal; after the closing quote only spaces may follow. In any other field a quote is a byte
//! like others, and spaces around the field are not part of it. Blank lines are no records. A tab is a space
//! unless it is the delimiter.
//!
//! After a fault in the quotes, splitting goes on with the next line; [`last_record_end`] sees it the same
//! way, so the records of a file do not depend on where it is cut into blocks.

use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::borrow::Cow;

/// A field of a record, as positions in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Where the field stands: its opening quote or first byte.
    pub at: usize,
    /// Where its text starts.
    pub start: usize,
    /// Where its text ends.
    pub end: usize,
    /// Whether the text holds doubled quotes.
    pub escaped: bool,
}

impl Field {
    /// The field's text, without quotes around or inside it. Only a field with doubled quotes is copied.
    #[inline]
    pub(super) fn text<'a>(&self, block: &'a [u8]) -> Cow<'a, [u8]> {
        let raw = &block[self.start..self.end];
        if self.escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) }
    }

    /// The same field in a block that starts `by` bytes later.
    #[must_use]
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { at: self.at - by, start: self.start - by, end: self.end - by, ..self }
    }
}

#[cold]
fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(quote) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..=quote]);
        rest = rest.get(quote + 2..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
    text
}

/// What is wrong with a record, at which position of the block, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where, as a position in the block.
    pub at: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Splits a block that starts at a record into its records.
#[derive(Debug)]
pub(super) struct Records<'a> {
    block: &'a [u8],
    delimiter: u8,
    /// Start of the record last split.
    start: usize,
    /// Where the next one is looked for.
    at: usize,
    /// A position and the newlines before it: lines are counted only when somebody asks, and only once.
    counted: (usize, u64),
}

impl<'a> Records<'a> {
    /// The records of `block`.
    pub(super) fn new(block: &'a [u8], delimiter: u8) -> Self {
        Self { block, delimiter, start: 0, at: 0, counted: (0, 0) }
    }

    /// Puts the fields of the next record into `fields`; `None` at the end of the block. After a fault the
    /// line on which it stands is left behind; a quote that is never closed leaves nothing to go on with.
    #[inline]
    pub(super) fn next_into(&mut self, fields: &mut Vec<Field>) -> Option<Result<(), Fault>> {
        fields.clear();
        self.start = after_blank_lines(self.block, self.at, self.delimiter);
        self.at = self.start;
        if self.start == self.block.len() {
            return None;
        }
        Some(self.split(fields))
    }

    /// The bytes of the record last split.
    pub(super) fn span(&self) -> std::ops::Range<usize> {
        self.start..self.at
    }

    #[inline]
    fn split(&mut self, fields: &mut Vec<Field>) -> Result<(), Fault> {
        let (block, delimiter) = (self.block, self.delimiter);
        loop {
            let first = after_spaces(block, self.at, delimiter);
            let (field, end) = match block.get(first) {
                Some(b'"') => self.quoted(first)?,
                _ => unquoted(block, first, delimiter),
            };
            fields.push(field);
            self.at = (end + 1).min(block.len());
            if block.get(end) != Some(&delimiter) {
                return Ok(());
            }
        }
    }

    /// The field whose opening quote is at `open`, and the position of the delimiter, newline or end after
    /// it.
    #[inline]
    fn quoted(&mut self, open: usize) -> Result<(Field, usize), Fault> {
        let Some((close, escaped)) = closing_quote(self.block, open) else {
            self.at = self.block.len();
            return Err(unclosed(open));
        };
        match after_quote(self.block, close, self.delimiter) {
            AfterQuote::End(end) => Ok((Field { at: open, start: open + 1, end: close, escaped }, end)),
            AfterQuote::Stray(at) => {
                self.at = after_line(self.block, at);
                Err(stray(self.block, at))
            }
        }
    }

    /// The line (from 0, within the block) and the byte in it (from 1) of a position in the record last
    /// split.
    pub(super) fn locate(&mut self, at: usize) -> (u64, usize) {
        let (from, before) = self.counted;
        self.counted = (self.start, before + newlines(&self.block[from..self.start]));
        let (line, column) = place(&self.block[self.start..], at - self.start);
        (self.counted.1 + line, column)
    }
}

/// The line (from 0) and the byte in it (from 1) of a position in `bytes`, which start at the start of a
/// line.
pub(super) fn place(bytes: &[u8], at: usize) -> (u64, usize) {
    let line_start = memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
    (newlines(&bytes[..line_start]), at - line_start + 1)
}

/// How many newlines there are.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// The end of the last whole record (after its newline) in a block that starts at a record, if there is one.
pub(super) fn last_record_end(block: &[u8], delimiter: u8) -> Option<usize> {
    let (mut at, mut last) = (0, None);
    // Outside quotes every newline ends a record, so only quotes need a look.
    while let Some(quote) = memchr(b'"', &block[at..]).map(|found| at + found) {
        last = memrchr(b'\n', &block[at..quote]).map(|newline| at + newline + 1).or(last);
        if !opens_field(block, quote, delimiter) {
            at = quote + 1;
            continue;
        }
        let Some((close, _)) = closing_quote(block, quote) else { return last };
        at = match after_quote(block, close, delimiter) {
            AfterQuote::End(end) => end,
            AfterQuote::Stray(at) => {
                let newline = at + memchr(b'\n', &block[at..])?;
                last = Some(newline + 1);
                newline + 1
            }
        };
    }
    memrchr(b'\n', &block[at..]).map(|newline| at + newline + 1).or(last)
}

/// Whether a quote outside of quotes is the first byte of a field.
#[inline]
fn opens_field(block: &[u8], quote: usize, delimiter: u8) -> bool {
    let before = block[..quote].iter().rev().find(|&&b| !is_space(b, delimiter));
    before.is_none_or(|&b| b == delimiter || b == b'\n')
}

/// The quote that closes the one at `open`, and whether doubled ones stand between.
#[inline]
fn closing_quote(block: &[u8], open: usize) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (open + 1, false);
    loop {
        let quote = at + memchr(b'"', &block[at..])?;
        if block.get(quote + 1) != Some(&b'"') {
            return Some((quote, escaped));
        }
        escaped = true;
        at = quote + 2;
    }
}

enum AfterQuote {
    /// The delimiter, the newline or the end of the block.
    End(usize),
    /// Something else.
    Stray(usize),
}

#[inline]
fn after_quote(block: &[u8], close: usize, delimiter: u8) -> AfterQuote {
    let at = after_spaces(block, close + 1, delimiter);
    match block.get(at) {
        None | Some(b'\n') => AfterQuote::End(at),
        Some(&b) if b == delimiter => AfterQuote::End(at),
        Some(b'\r') if matches!(block.get(at + 1), None | Some(b'\n')) => AfterQuote::End(at + 1),
        Some(_) => AfterQuote::Stray(at),
    }
}

#[inline(always)]
fn unquoted(block: &[u8], first: usize, delimiter: u8) -> (Field, usize) {
    let stop = field_end(block, first, delimiter);
    let mut end = stop;
    if block.get(stop) != Some(&delimiter) && end > first && block[end - 1] == b'\r' {
        end -= 1;
    }
    while end > first && is_space(block[end - 1], delimiter) {
        end -= 1;
    }
    (Field { at: first, start: first, end, escaped: false }, stop)
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The first delimiter or newline from `at` on, or the end of the block.
#[inline(always)]
fn field_end(block: &[u8], mut at: usize, delimiter: u8) -> usize {
    // Most fields are short, and calling memchr costs more than looking at two words by hand.
    for _ in 0..2 {
        let Some(&chunk) = block.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let word = u64::from_le_bytes(chunk);
        let hits =
            zero_bytes(word ^ (ONES * u64::from(delimiter))) | zero_bytes(word ^ (ONES * u64::from(b'\n')));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    memchr2(delimiter, b'\n', &block[at..]).map_or(block.len(), |found| at + found)
}

/// The top bit of every byte that is zero; bits above the lowest of them may be wrong.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[inline(always)]
fn is_space(byte: u8, delimiter: u8) -> bool {
    byte == b' ' || (byte == b'\t' && delimiter != b'\t')
}

#[inline(always)]
fn after_spaces(block: &[u8], mut at: usize, delimiter: u8) -> usize {
    while block.get(at).is_some_and(|&b| is_space(b, delimiter)) {
        at += 1;
    }
    at
}

/// The start of the first line from `at` on that is not blank.
#[inline(always)]
fn after_blank_lines(block: &[u8], mut at: usize, delimiter: u8) -> usize {
    loop {
        let first = after_spaces(block, at, delimiter);
        at = match (block.get(first), block.get(first + 1)) {
            (None, _) | (Some(b'\r'), None) => return block.len(),
            (Some(b'\n'), _) => first + 1,
            (Some(b'\r'), Some(b'\n')) => first + 2,
            _ => return at,
        }
    }
}

fn after_line(block: &[u8], at: usize) -> usize {
    memchr(b'\n', &block[at..]).map_or(block.len(), |newline| at + newline + 1)
}

#[cold]
fn unclosed(at: usize) -> Fault {
    let hint = "a quote at the start of a field must be closed; \
                one that is meant literally is written \"\"\"\" (doubled, in quotes)";
    Fault { at, what: "this quote is never closed".into(), hint: Some(hint.into()) }
}

#[cold]
fn stray(block: &[u8], at: usize) -> Fault {
    let found: String =
        String::from_utf8_lossy(&block[at..block.len().min(at + 4)]).chars().take(1).collect();
    let hint = "a quote inside a quoted field is written twice: \"\"";
    Fault { at, what: format!("{found:?} after a closing quote"), hint: Some(hint.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A record as its fields, or the line and column of what is wrong with it.
    type Outcome = Result<Vec<Vec<u8>>, (u64, usize)>;

    fn all(block: &[u8], delimiter: u8) -> Vec<Outcome> {
        let mut records = Records::new(block, delimiter);
        let (mut fields, mut found) = (Vec::new(), Vec::new());
        while let Some(record) = records.next_into(&mut fields) {
            found.push(match record {
                Ok(()) => Ok(fields.iter().map(|f| f.text(block).into_owned()).collect()),
                Err(fault) => Err(records.locate(fault.at)),
            });
        }
        found
    }

    fn texts(block: &str) -> Vec<Vec<String>> {
        let text = |f: Vec<u8>| String::from_utf8(f).unwrap();
        all(block.as_bytes(), b',').into_iter().map(|r| r.unwrap().into_iter().map(text).collect()).collect()
    }

    /// Where a machine that reads one byte at a time is in a field.
    #[derive(PartialEq)]
    enum State {
        Before,
        Plain,
        Quoted,
        MaybeClosed,
        After,
        Skipping,
    }

    /// One byte at a time, one state at a time: slow, and plain to see.
    fn naive(block: &[u8], delimiter: u8) -> Vec<Outcome> {
        let space = |b: u8| b == b' ' || (b == b'\t' && delimiter != b'\t');
        let trimmed = |mut text: Vec<u8>| {
            while text.last().is_some_and(|&b| space(b)) {
                text.pop();
            }
            text
        };
        let (mut found, mut record, mut field): (Vec<Outcome>, Vec<Vec<u8>>, Vec<u8>) = Default::default();
        let (mut state, mut line, mut column, mut open) = (State::Before, 0, 1, (0, 0));
        let mut at = 0;
        while at <= block.len() {
            // A carriage return counts only where no newline or end follows it.
            let ends = at == block.len() || block[at] == b'\n';
            let returns = !ends && block[at] == b'\r' && (at + 1 == block.len() || block[at + 1] == b'\n');
            let byte = block.get(at).copied().unwrap_or(b'\n');
            if state == State::MaybeClosed {
                state = if !ends && byte == b'"' { State::Quoted } else { State::After };
                if state == State::Quoted {
                    field.push(b'"');
                    (at, column) = (at + 1, column + 1);
                    continue;
                }
            }
            match state {
                State::Quoted if at == block.len() => {
                    found.push(Err(open));
                    return found;
                }
                State::Quoted if byte == b'"' => state = State::MaybeClosed,
                State::Quoted => field.push(byte),
                State::Skipping if ends => state = State::Before,
                State::Skipping => {}
                _ if ends => {
                    let blank = state == State::Before && record.is_empty();
                    let text = std::mem::take(&mut field);
                    record.push(if state == State::After { text } else { trimmed(text) });
                    let record = std::mem::take(&mut record);
                    if !blank {
                        found.push(Ok(record));
                    }
                    state = State::Before;
                }
                _ if returns => {}
                _ if byte == delimiter => {
                    let text = std::mem::take(&mut field);
                    record.push(if state == State::After { text } else { trimmed(text) });
                    state = State::Before;
                }
                State::Before if space(byte) => {}
                State::Before if byte == b'"' => (state, open) = (State::Quoted, (line, column)),
                State::Before | State::Plain => {
                    field.push(byte);
                    state = State::Plain;
                }
                State::After if space(byte) => {}
                _ => {
                    found.push(Err((line, column)));
                    (record, field) = Default::default();
                    state = State::Skipping;
                }
            }
            (line, column) = if byte == b'\n' { (line + 1, 1) } else { (line, column + 1) };
            at += 1;
        }
        found
    }

    #[test]
    fn fields_are_trimmed_unless_quoted_and_inner_quotes_are_literal() {
        assert_eq!(texts(" a , b\" c ,\" d \" ,\"\",\n"), [["a", "b\" c", " d ", "", ""]]);
        assert_eq!(texts("\"say \"\"hi\"\"\",\"a,b\nc\"\r\n1,2"), [["say \"hi\"", "a,b\nc"], ["1", "2"]]);
    }

    #[test]
    fn blank_lines_are_no_records_but_count_as_lines() {
        assert_eq!(texts("\r\n  \na,b\r\n\n\nc,d\r"), [["a", "b"], ["c", "d"]]);
        assert_eq!(all(b"a\n\n\r\n\"b\"x\n", b','), [Ok(vec![b"a".to_vec()]), Err((3, 4))]);
        assert_eq!(all(b"\t\n", b'\t'), [Ok(vec![b"".to_vec(), b"".to_vec()])]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_reported_where_it_opens() {
        assert_eq!(all(b"a,b\n\"x\ny\",\"z\n\n", b',')[1], Err((2, 4)));
    }

    #[test]
    fn positions_are_right_in_records_that_span_lines() {
        let block = b"a,b\n\"1\n2\",\"3\n\n4\",  five\n";
        let mut records = Records::new(block, b',');
        let mut fields = Vec::new();
        records.next_into(&mut fields).unwrap().unwrap();
        assert_eq!(fields.iter().map(|f| records.locate(f.at)).collect::<Vec<_>>(), [(0, 1), (0, 3)]);
        records.next_into(&mut fields).unwrap().unwrap();
        assert_eq!(fields.iter().map(|f| records.locate(f.at)).collect::<Vec<_>>(), [(1, 1), (2, 4), (4, 6)]);
    }

    #[test]
    fn a_block_is_cut_after_the_last_newline_outside_quotes() {
        assert_eq!(last_record_end(b"a,b\nc,d", b','), Some(4));
        assert_eq!(last_record_end(b"a,b\n\"c\n", b','), Some(4));
        assert_eq!(last_record_end(b"\"a\nb", b','), None);
        assert_eq!(last_record_end(b"a \"b\nc", b','), Some(5));
        assert_eq!(last_record_end(b"\"a\"x\"\nb", b','), Some(6));
        assert_eq!(last_record_end(b"\"a\nb\"x", b','), None);
    }

    fn awkward() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(b"aab\"\"\",,\n\n\r \t;x1".to_vec()), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn splitting_agrees_with_the_naive_machine(
            block in awkward(),
            delimiter in prop::sample::select(b",;\t".to_vec()),
        ) {
            prop_assert_eq!(all(&block, delimiter), naive(&block, delimiter));
        }

        #[test]
        fn fields_written_in_quotes_read_back_the_same(
            records in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 1..5),
                0..6,
            ),
        ) {
            let mut block = Vec::new();
            for record in &records {
                for (i, field) in record.iter().enumerate() {
                    block.extend_from_slice(if i > 0 { b" , \"" } else { b"\"" });
                    field
                        .iter()
                        .for_each(|&b| block.extend(std::iter::repeat_n(b, 1 + usize::from(b == b'"'))));
                    block.push(b'"');
                }
                block.extend_from_slice(b"\r\n");
            }
            let read: Vec<_> = all(&block, b',').into_iter().map(Result::unwrap).collect();
            prop_assert_eq!(read, records);
        }

        #[test]
        fn blocks_cut_anywhere_hold_the_records_of_the_whole(text in awkward(), limit in 1usize..12) {
            let (mut cut, mut carry, mut line) = (Vec::new(), Vec::new(), 0);
            let mut take = |block: &[u8]| {
                cut.extend(all(block, b',').into_iter().map(|r| r.map_err(|(l, column)| (l + line, column))));
                line += newlines(block);
            };
            for piece in text.chunks(limit) {
                carry.extend_from_slice(piece);
                if let Some(end) = last_record_end(&carry, b',') {
                    take(&carry[..end]);
                    carry.drain(..end);
                }
            }
            take(&carry);
            prop_assert_eq!(cut, all(&text, b','));
        }
    }
}
