//! svmlight and LIBSVM text: `label index:value index:value … # comment`.

#[cfg(target_arch = "x86_64")]
pub(super) mod wide;

use super::number::{Number, POWERS, count_digits, digits, first_digits, has_digits, number, whole};
use super::parsed_rows::{Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::Cut;

/// A parser of svmlight text.
#[derive(Clone, Debug)]
pub(super) struct Svmlight {
    /// The first index of the file, 0 or 1.
    pub base: u32,
    /// Indices must not be larger, as they stand in the file.
    pub max_index: u32,
    /// What to do about labels.
    pub labelling: Labelling,
    /// Features of the model that the rows are for, if there is one: entries beyond it are counted.
    pub known_features: Option<usize>,
}

/// Whether the indices of a row have increased so far.
struct Ascent {
    last: i64,
    broken: bool,
}

impl Ascent {
    #[inline(always)]
    fn step(&mut self, index: u32) {
        self.broken |= i64::from(index) <= self.last;
        self.last = i64::from(index);
    }
}

/// What is wrong with a row, where (the position in the block), and what to do.
pub(super) type Fault = (usize, String, Option<String>);

impl Parser for Svmlight {
    fn cut(&self) -> Cut {
        Cut::Line
    }

    fn parse(&self, block: &[u8], _: u64, rows: &mut ParsedRows, scratch: &mut Scratch) {
        // An entry takes at least four bytes.
        rows.indices.reserve(block.len() / 4);
        rows.values.reserve(block.len() / 4);
        let (mut at, mut line) = (0, 0);
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), true) = (pulp::x86::V3::try_new(), self.max_index >= wide::LARGEST_INDEX) {
            let marks = &mut scratch.marks;
            let rest = simd.vectorize(wide::Wide { simd, parser: self, block, rows, marks });
            let Some(rest) = rest else { return };
            (at, line) = rest;
        }
        while at < block.len() {
            let Some(end) = self.line(block, at, line, rows) else { return };
            at = end;
            line += 1;
        }
        rows.lines = line;
    }
}

/// The position after the newline that ends the line of `at`.
fn end_of_line(block: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |newline| at + newline + 1)
}

#[inline(always)]
fn skip_spaces(block: &[u8], mut at: usize) -> usize {
    while matches!(block.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The position after the line if it ends at `at` (newline, CRLF, comment or end of the block).
#[inline(always)]
fn line_end(block: &[u8], at: usize) -> Option<usize> {
    match block.get(at) {
        None => Some(at),
        Some(b'\n') => Some(at + 1),
        Some(b'\r') => match block.get(at + 1) {
            None => Some(at + 1),
            Some(b'\n') => Some(at + 2),
            Some(_) => None,
        },
        Some(b'#') => Some(end_of_line(block, at)),
        Some(_) => None,
    }
}

impl Svmlight {
    /// Parses the line at `at`, which is the block's line number `line`, and returns the position after it;
    /// `None` if reading ends.
    fn line(&self, block: &[u8], at: usize, line: u64, rows: &mut ParsedRows) -> Option<usize> {
        match self.row(block, at, rows) {
            Ok(end) => Some(end),
            Err((place, what, hint)) => {
                let error = RowError { line, column: place - at + 1, what, hint };
                rows.reject(error).then(|| end_of_line(block, place.min(block.len())))
            }
        }
    }

    /// Parses the line at `start` and returns the position after it.
    #[inline(always)]
    fn row(&self, block: &[u8], start: usize, rows: &mut ParsedRows) -> Result<usize, Fault> {
        let label_at = skip_spaces(block, start);
        if let Some(end) = line_end(block, label_at) {
            return Ok(end);
        }
        let (token, mut at) = self.label_token(block, label_at)?;
        let mut order = Ascent { last: -1, broken: false };
        let (mut has_query_id, mut shape) = (false, Shape::default());
        loop {
            at = self.common_entries(block, at, &mut shape, &mut order, rows);
            let entry_at = skip_spaces(block, at);
            let (index, colon) = digits(block, entry_at, 0);
            if colon == entry_at || block.get(colon) != Some(&b':') {
                if let Some(end) = line_end(block, entry_at) {
                    if order.broken {
                        rows.sort_row().map_err(|j| repeated(block, start, j + self.base))?;
                    }
                    self.count_unseen(rows);
                    // Last, so that a row that is bad leaves no label behind.
                    self.label(token, label_at, rows)?;
                    rows.query_ids += u64::from(has_query_id);
                    rows.end_row();
                    return Ok(end);
                }
                if block[entry_at..].starts_with(b"qid:") && order.last < 0 && !has_query_id {
                    let (_, end) = digits(block, entry_at + 4, 0);
                    if end > entry_at + 4 && ends_token(block, end) {
                        has_query_id = true;
                        at = end;
                        continue;
                    }
                }
                return Err(self.bad_entry(block, entry_at, colon));
            }
            if colon - entry_at > 10 || index > u64::from(self.max_index) {
                return Err(self.index_too_large(block, entry_at, colon));
            }
            if (index as u32) < self.base {
                return Err(index_zero(entry_at));
            }
            let index = index as u32 - self.base;
            match number(block, colon + 1) {
                Number::Finite(value, end) if ends_token(block, end) => {
                    order.step(index);
                    rows.entry(index, value);
                    at = end;
                }
                other => return Err(bad_value(block, colon + 1, other)),
            }
        }
    }

    /// The token of a label at `at`, and the position of the row's entries. Where labels are ignored, the
    /// first token may be an entry.
    #[inline(always)]
    fn label_token<'b>(&self, block: &'b [u8], at: usize) -> Result<(&'b [u8], usize), Fault> {
        let mut end = at;
        while block.get(end).is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'#')) {
            end += 1;
        }
        let token = &block[at..end];
        if memchr::memchr2(b':', b',', token).is_none() {
            return Ok((token, end));
        }
        let is_entry = memchr::memchr(b':', token).is_some();
        match self.labelling {
            Labelling::Ignored => Ok((token, if is_entry { at } else { end })),
            _ if !is_entry && are_several_labels(token) => Err(several_labels(at, token)),
            _ if !is_entry => Ok((token, end)),
            _ => Err((
                at,
                "the row has no label".into(),
                Some("a line is: label index:value index:value …".into()),
            )),
        }
    }

    /// Reads entries of the common kind from `at` on, and returns the position of the first thing that is not
    /// one.
    #[inline(always)]
    fn common_entries(
        &self,
        block: &[u8],
        mut at: usize,
        shape: &mut Shape,
        order: &mut Ascent,
        rows: &mut ParsedRows,
    ) -> usize {
        let limit = self.max_index - self.base;
        while let Some((index, value, end)) = common_entry(block, at, shape) {
            let index = index.wrapping_sub(self.base);
            if index > limit {
                break;
            }
            order.step(index);
            rows.entry(index, value);
            at = end;
        }
        at
    }

    #[inline(always)]
    fn label(&self, token: &[u8], at: usize, rows: &mut ParsedRows) -> Result<(), Fault> {
        rows.set_label(&self.labelling, token).map_err(|(what, hint)| (at, what, hint))
    }

    #[inline(always)]
    fn count_unseen(&self, rows: &mut ParsedRows) {
        if let Some(features) = self.known_features {
            let start = rows.starts[rows.len()];
            let known = rows.indices[start..].partition_point(|&j| (j as usize) < features);
            rows.unseen_features += (rows.indices.len() - start - known) as u64;
        }
    }

    #[cold]
    fn index_too_large(&self, block: &[u8], at: usize, end: usize) -> Fault {
        let shown = String::from_utf8_lossy(&block[at..end.min(at + 24)]);
        let what = format!("index {shown} is above the limit of {}", self.max_index);
        (
            at,
            what,
            Some("if the data really is that wide, raise `max_index`; weights take 8 bytes an index".into()),
        )
    }

    #[cold]
    fn bad_entry(&self, block: &[u8], at: usize, colon: usize) -> Fault {
        let token = token_at(block, at);
        let digits_only = colon > at && ends_token(block, colon);
        let what = match token.as_str() {
            t if digits_only => format!("expected index:value, found {t:?} without a value"),
            t if t.starts_with('-') && t.contains(':') => format!("negative index in {t:?}"),
            t if t.starts_with("qid:") => format!("{t:?} must stand once, after the label, with a number"),
            t => format!("expected index:value, found {t:?}"),
        };
        (at, what, Some("entries are index:value, separated by spaces; is this the right `format`?".into()))
    }
}

/// Whether these are numbers between commas, as the labels of a row that has several are.
pub(super) fn are_several_labels(token: &[u8]) -> bool {
    let is_number = |part: &[u8]| matches!(whole(part), Number::Finite(..));
    memchr::memchr(b',', token).is_some() && token.split(|b| *b == b',').all(is_number)
}

#[cold]
pub(super) fn several_labels(at: usize, token: &[u8]) -> Fault {
    let shown = String::from_utf8_lossy(&token[..token.len().min(40)]).into_owned();
    let hint = "a row has one label; to learn several, write a file for each, with the label 1 for the rows that \
                have it and 0 for the others";
    (at, format!("several labels, {shown:?}"), Some(hint.into()))
}

#[cold]
fn index_zero(at: usize) -> Fault {
    (
        at,
        "index 0 in a file whose indices count from 1".into(),
        Some("if they count from 0, say `zero_based`".into()),
    )
}

/// How long the last entry's parts were: the next one's are mostly as long.
///
/// Where an entry ends could be computed from its bytes, but then each entry waits for the one before it:
/// load, find the colon, load, find the end. Guessed lengths are there at once, and checking the guess is a
/// branch that the processor predicts. Indices that increase change their length seldom.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) index: usize,
    decimals: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { index: 1, decimals: 1 }
    }
}

/// The entry after the one space at `at`, if it is of the kind that files are full of: at most seven digits
/// of index, and a value of one digit or of at most seven decimals after `0.`. Index, value, and the position
/// after them. Anything else, and the last bytes of a block, are left to the general path, which would give
/// the same; so is what follows, if it is neither a space nor the end of the line.
#[inline(always)]
pub(super) fn common_entry(block: &[u8], at: usize, guess: &mut Shape) -> Option<(u32, f64, usize)> {
    let window = block.get(at..at + 27)?;
    let word =
        |from: usize| window.get(from..from + 8).and_then(|w| w.try_into().ok()).map(u64::from_le_bytes);
    if window[0] != b' ' {
        return None;
    }
    let digits = word(1)?;
    if !has_digits(digits, guess.index) {
        guess.index = count_digits(digits).filter(|length| (1..=7).contains(length))?;
    }
    let value_at = 2 + guess.index;
    if window[value_at - 1] != b':' {
        return None;
    }
    let index = first_digits(digits, guess.index) as u32;
    let value = word(value_at)?;
    let digit = (value as u8).wrapping_sub(b'0');
    if digit < 10 && (value >> 8) as u8 <= b' ' {
        return Some((index, f64::from(digit), at + value_at + 1));
    }
    if value as u16 != u16::from_le_bytes(*b"0.") {
        return None;
    }
    let digits = word(value_at + 2)?;
    if !has_digits(digits, guess.decimals) {
        guess.decimals = count_digits(digits).filter(|count| (1..=7).contains(count))?;
    }
    let end = value_at + 2 + guess.decimals;
    if window[end] > b' ' {
        return None;
    }
    Some((index, first_digits(digits, guess.decimals) as f64 / POWERS[guess.decimals], at + end))
}

#[inline(always)]
fn ends_token(block: &[u8], at: usize) -> bool {
    matches!(block.get(at), None | Some(b' ' | b'\n' | b'\t' | b'\r' | b'#'))
}

/// The token at `at`, shortened for a message.
fn token_at(block: &[u8], at: usize) -> String {
    let token = &block[at..];
    let end = token.iter().position(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(token.len());
    let mut text = String::from_utf8_lossy(&token[..end.min(40)]).into_owned();
    if end > 40 {
        text.push('…');
    }
    text
}

/// What is wrong with the value that starts at `at`, which is no finite number.
const VALUES: &str = "values are decimal numbers, such as 2, -0.5 or 1e-3";

#[cold]
pub(super) fn bad_value(block: &[u8], at: usize, number: Number) -> Fault {
    let token = token_at(block, at);
    match number {
        Number::NotFinite => (
            at,
            format!("the value {token:?} is not a finite number"),
            Some("remove the entry, or the row with `skip_bad_rows`".into()),
        ),
        _ if token.is_empty() => (at, "the value is missing after the colon".into(), Some(VALUES.into())),
        _ => (at, format!("the value {token:?} is not a number"), Some(VALUES.into())),
    }
}

/// Where the index stands for the second time.
#[cold]
fn repeated(block: &[u8], start: usize, index: u32) -> Fault {
    let end = end_of_line(block, start);
    let (mut at, mut seen) = (start, 0);
    while at < end {
        at = skip_spaces(block, at);
        let (value, colon) = digits(block, at, 0);
        if colon > at && block.get(colon) == Some(&b':') && value == u64::from(index) {
            seen += 1;
            if seen == 2 {
                break;
            }
        }
        while at < end && !matches!(block[at], b' ' | b'\t' | b'\n') {
            at += 1;
        }
        at += usize::from(at < end && block[at] == b'\n');
    }
    (
        at.min(end),
        format!("index {index} comes twice in this row"),
        Some("give each index once, with the sum if that is meant".into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parser(labelling: Labelling) -> Svmlight {
        Svmlight { base: 1, max_index: 1 << 26, labelling, known_features: None }
    }

    fn parse(text: &[u8], strict: bool) -> ParsedRows {
        let mut rows = ParsedRows::new(strict);
        rows.clear();
        parser(Labelling::Open).parse(text, 0, &mut rows, &mut Scratch::default());
        rows
    }

    type Entries = Vec<(u32, f64)>;

    fn entries_of(rows: &ParsedRows) -> Vec<(String, Entries)> {
        let label = |r: usize| rows.local_labels.names()[rows.labels[r] as usize].clone();
        let entries = |r: usize| {
            let span = rows.starts[r]..rows.starts[r + 1];
            rows.indices[span.clone()].iter().copied().zip(rows.values[span].iter().copied()).collect()
        };
        (0..rows.len()).map(|r| (label(r), entries(r))).collect()
    }

    /// The format as one would write it down without a thought for speed.
    fn naive(text: &str) -> Vec<(String, Entries)> {
        let mut all = Vec::new();
        for line in text.lines() {
            let mut tokens = line.split('#').next().unwrap().split_whitespace();
            let Some(label) = tokens.next() else { continue };
            let mut entries: Entries = tokens
                .filter(|token| !token.starts_with("qid:"))
                .map(|token| token.split_once(':').unwrap())
                .map(|(index, value)| (index.parse::<u32>().unwrap() - 1, value.parse().unwrap()))
                .collect();
            entries.sort_by_key(|entry| entry.0);
            all.push((label.to_owned(), entries));
        }
        all
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            (0u8..10).prop_map(|d| d.to_string()),
            "0\\.[0-9]{1,9}",
            "[+-]?[0-9]{1,9}(\\.[0-9]{0,9})?(e[+-]?[0-9]{1,2})?",
            any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| x.to_string()),
        ]
    }

    fn line() -> impl Strategy<Value = String> {
        let entries = prop::collection::btree_map(1u32..1 << 26, value(), 0..12);
        let label = prop_oneof![Just("1"), Just("-1"), Just("spam"), Just("2.5")];
        let end = prop_oneof![Just(""), Just(" "), Just("\r"), Just(" # a comment: 5:x"), Just("\t")];
        (label, entries, end, any::<bool>(), any::<bool>()).prop_map(
            |(label, entries, end, reversed, query)| {
                let mut entries: Vec<String> = entries.into_iter().map(|(j, x)| format!("{j}:{x}")).collect();
                if reversed {
                    entries.reverse();
                }
                let query = if query { " qid:7" } else { "" };
                format!("{label}{query} {}{end}", entries.join(" "))
            },
        )
    }

    proptest! {
        #[test]
        fn rows_are_what_a_naive_parser_reads(
            lines in prop::collection::vec(line(), 0..8),
            newline in any::<bool>(),
        ) {
            let text = lines.join("\n") + if newline { "\n" } else { "" };
            let rows = parse(text.as_bytes(), true);
            prop_assert!(rows.bad.is_empty(), "{:?}", rows.bad);
            let expected = naive(&text);
            // Equal numbers are one label under its first spelling; the spellings here are of different
            // numbers.
            prop_assert_eq!(entries_of(&rows), expected);
            prop_assert_eq!(rows.single, rows.values.iter().all(|&x| f64::from(x as f32) == x));
        }

        #[test]
        fn random_bytes_never_panic_and_leave_whole_rows(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let rows = parse(&bytes, false);
            prop_assert_eq!(rows.labels.len(), rows.len());
            prop_assert_eq!(*rows.starts.last().unwrap(), rows.values.len());
        }

        #[test]
        fn near_misses_never_panic_and_leave_whole_rows(
            text in "([-+]?[0-9nif.e]{0,4}[ \\t:#q]{0,2}|[0-9]{1,12}:[0-9.]{0,5} |\\n|\\r\\n){0,40}",
        ) {
            let rows = parse(text.as_bytes(), false);
            prop_assert_eq!(rows.labels.len(), rows.len());
            for r in 0..rows.len() {
                prop_assert!(rows.indices[rows.starts[r]..rows.starts[r + 1]].is_sorted_by(|a, b| a < b));
            }
        }
    }

    /// Line by line, without what is done for many lines at once.
    fn one_by_one(parser: &Svmlight, text: &[u8], strict: bool) -> ParsedRows {
        let mut rows = ParsedRows::new(strict);
        rows.clear();
        let (mut at, mut line) = (0, 0);
        while at < text.len() {
            let Some(end) = parser.line(text, at, line, &mut rows) else { break };
            (at, line) = (end, line + 1);
        }
        rows.lines = line;
        rows
    }

    fn at_once(parser: &Svmlight, text: &[u8], strict: bool) -> ParsedRows {
        let (mut rows, mut scratch) = (ParsedRows::new(strict), Scratch::default());
        rows.clear();
        // What another block leaves behind does no harm.
        parser.parse(b"1 123456:0.123456 1234567:-17\n", 0, &mut rows, &mut scratch);
        rows.clear();
        parser.parse(text, 0, &mut rows, &mut scratch);
        rows
    }

    /// Everything that is to be the same, values to the bit.
    fn contents(rows: &ParsedRows) -> impl PartialEq + std::fmt::Debug + '_ {
        let bits: Vec<u64> = rows.values.iter().map(|x| x.to_bits()).collect();
        let stored =
            (&rows.starts, &rows.indices, bits, &rows.labels, rows.local_labels.names(), rows.single);
        // What else is counted means nothing where reading has ended.
        let counted = (rows.lines, rows.query_ids, rows.unseen_features, rows.bad_rows);
        (stored, counted_unless(rows.failure().is_some(), counted), &rows.bad)
    }

    fn counted_unless<T>(ended: bool, counted: T) -> Option<T> {
        (!ended).then_some(counted)
    }

    /// Lines as files are full of, of one style or another.
    fn common_line() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            6 => (0u8..10).prop_map(|d| d.to_string()),
            6 => "[0-9]\\.[0-9]{1,6}",
            2 => "-[0-9]\\.[0-9]{1,8}",
            2 => "[0-9]{2,8}",
            1 => "[0-9]\\.[0-9]{7,20}",
            1 => "-?[0-9]{0,3}\\.?[0-9]{0,3}(e-[0-9])?",
        ];
        let index = prop_oneof![1u32..100, 1u32..10_000, 1u32..12_000_000];
        let end = prop_oneof![8 => Just(""), 2 => Just(" "), 1 => Just("\r"), 1 => Just("\t")];
        (
            prop_oneof![Just("1"), Just("-1"), Just("+1")],
            prop::collection::btree_map(index, value, 0..30),
            end,
        )
            .prop_map(|(label, entries, end)| {
                entries.iter().fold(label.to_owned(), |line, (j, x)| line + &format!(" {j}:{x}")) + end
            })
    }

    fn any_line() -> impl Strategy<Value = String> {
        prop_oneof![
            12 => common_line(),
            2 => line(),
            1 => "([-+]?[0-9nif.e]{0,4}[ \\t:#q]{0,2}|[0-9]{1,12}:[0-9.]{0,5} ){0,8}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn many_lines_at_once_are_what_they_are_one_by_one(
            lines in prop::collection::vec(any_line(), 0..80),
            newline in any::<bool>(),
            changes in prop::collection::vec(
                (
                    any::<prop::sample::Index>(),
                    prop_oneof![any::<u8>(), prop::sample::select(b" :\n.0\t#".to_vec())],
                ),
                0..4,
            ),
            (base, max_index) in prop_oneof![
                4 => Just((1, 1 << 26)),
                1 => Just((0, 1 << 26)),
                1 => Just((1, 9_999_999)),
                1 => Just((1, 5_000)),
            ],
            known_features in prop_oneof![Just(None), Just(Some(500))],
            strict in any::<bool>(),
        ) {
            let mut text = (lines.join("\n") + if newline { "\n" } else { "" }).into_bytes();
            for (place, byte) in changes.iter().filter(|_| !lines.join("").is_empty()) {
                let at = place.index(text.len());
                text[at] = *byte;
            }
            for labelling in [Labelling::Open, Labelling::Ignored] {
                let parser = Svmlight { base, max_index, labelling, known_features };
                let (all, each) = (at_once(&parser, &text, strict), one_by_one(&parser, &text, strict));
                prop_assert_eq!(contents(&all), contents(&each));
            }
        }
    }

    /// Longer than what is looked at together, and blocks of nothing but marks.
    #[test]
    fn long_lines_and_strange_blocks_are_read_too() {
        let long = (1..40_000).fold("1".to_owned(), |line, j| line + &format!(" {j}:0.{j:05}"));
        let blocks = [
            format!("-1 3:1\n{long}\n1 5:0.5\n{long}\n{long}"),
            ("1 1:1\n".repeat(20) + "1\u{1}2\n-1\u{b}\n").repeat(100),
            "\n".repeat(200_000),
            ":".repeat(200_000),
            " ".repeat(200_000),
            "1 1:1\n".repeat(30_000) + "1 2:3:4\n" + &"-1 7:0.25\n".repeat(30_000),
            "1 1:255 2:17 3:0\n".repeat(5_000) + &"1 1:-2.5 9:-0.125\n".repeat(5_000),
        ];
        for block in blocks {
            let parser = parser(Labelling::Open);
            let (all, each) =
                (at_once(&parser, block.as_bytes(), false), one_by_one(&parser, block.as_bytes(), false));
            assert!(contents(&all) == contents(&each), "{}", &block[..30]);
        }
    }

    #[test]
    fn errors_stand_where_they_are() {
        let table = [
            ("1 0:1", 3, "index 0"),
            ("1 2:1 2:3", 7, "index 2 comes twice"),
            ("1 5:1 2:1 5:3", 11, "index 5 comes twice"),
            ("1 1:nan", 5, "not a finite number"),
            ("1 1:-inf", 5, "not a finite number"),
            ("1 1:1e999", 5, "not a finite number"),
            ("1 1:x", 5, "\"x\" is not a number"),
            ("1 1:", 5, "the value is missing"),
            ("1 1:2x", 5, "\"2x\" is not a number"),
            ("1 7", 3, "without a value"),
            ("1 -7:1", 3, "negative index"),
            ("1 a:1", 3, "expected index:value"),
            ("1 67108865:1", 3, "above the limit"),
            ("1 99999999999999999999999:1", 3, "above the limit"),
            ("1:2 3:4", 1, "no label"),
            ("nan 1:2", 1, "not a finite number"),
            ("1 1:1 qid:3", 7, "must stand once"),
            ("\u{fffd} 1:1\t2:1 3", 13, "without a value"),
        ];
        for (line, column, what) in table {
            let text = format!("1 1:1\n\n{line}\n-1 2:1\n");
            let rows = parse(text.as_bytes(), false);
            assert_eq!((rows.len(), rows.bad_rows), (2, 1), "{line}");
            assert_eq!((rows.bad[0].line, rows.bad[0].column), (2, column), "{line}: {}", rows.bad[0].what);
            assert!(rows.bad[0].what.contains(what), "{line}: {}", rows.bad[0].what);
            assert_eq!(rows.local_labels.names(), ["1", "-1"], "{line}");
            let strict = parse(text.as_bytes(), true);
            assert_eq!(strict.failure(), Some(&rows.bad[0]), "{line}");
        }
    }

    #[test]
    fn a_model_s_labels_are_the_only_ones_for_evaluation_and_none_are_needed_for_prediction() {
        let run = |labelling, text: &[u8]| {
            let mut rows = ParsedRows::new(false);
            rows.clear();
            parser(labelling).parse(text, 0, &mut rows, &mut Scratch::default());
            rows
        };
        let rows = run(Labelling::Numbers, b"+1.0 1:1\na 1:1\n1 1:1\n");
        assert_eq!((rows.labels.as_slice(), rows.bad_rows), (&[0, 0][..], 1));
        assert!(rows.bad[0].what.contains("not a number"), "{}", rows.bad[0].what);
        let rows = run(Labelling::Ignored, b"x 1:1\n1:1 2:1\n\n3:1");
        assert_eq!((rows.len(), rows.indices.as_slice(), rows.bad_rows), (3, &[0, 0, 1, 2][..], 0));
    }

    #[test]
    fn several_labels_in_one_row_are_an_error() {
        for label in ["1,2", "0.5,1.5,2", "-1,+1"] {
            for text in [format!("{label} 1:0.5\n"), format!("1 1:1\n{label}    3:1\n1 2:1\n")] {
                let rows = parse(text.as_bytes(), false);
                assert!(rows.bad[0].what.starts_with("several labels"), "{text}");
            }
        }
        assert!(parse(b"a,b 1:1\n1,x 1:1\n", false).bad.is_empty());
    }
}
