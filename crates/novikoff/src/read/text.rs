//! Documents, one a line: `label<TAB>text`, or `__label__name text` as fastText has them.

use super::bag::{Bag, BagBuilder};
use super::parsed_rows::{CONVERT, Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::Cut;
use super::svmlight::Fault;
use super::table::{Spelling, is_label_name};
use crate::data::Labels;
use std::sync::Arc;

/// A parser of documents with their labels.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// What becomes of the documents.
    pub bag: Bag,
    /// What to do about labels.
    pub labelling: Labelling,
    /// Labels that a line to predict may begin with, to be passed over.
    pub passed_over: Option<Arc<Labels>>,
}

/// What a label of fastText's begins with.
pub(super) const FASTTEXT: &str = "__label__";

/// Names of the second column by which a first line is known to name the columns.
const TEXT_NAMES: [&str; 3] = ["text", "document", "message"];

impl Parser for Text {
    fn cut(&self) -> Cut {
        Cut::Line
    }

    fn parse(&self, block: &[u8], offset: u64, rows: &mut ParsedRows, scratch: &mut Scratch) {
        let mut bag = self.bag.open(scratch);
        let (mut at, mut number) = (0, 0);
        while at < block.len() {
            let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |newline| at + newline);
            let line = block[at..end].strip_suffix(b"\r").unwrap_or(&block[at..end]);
            let is_header = offset == 0 && number == 0 && names_columns(line);
            let outcome = if is_header { Ok(()) } else { self.line(line, &mut bag, rows) };
            if let Err((place, what, hint)) = outcome
                && !rows.reject(RowError { line: number, column: place + 1, what, hint })
            {
                return;
            }
            at = end + 1;
            number += 1;
        }
        bag.close(scratch);
    }
}

/// Whether a first line says what the columns are: `label<TAB>text`, or one of these beside another word.
pub(super) fn names_columns(line: &[u8]) -> bool {
    let Some((label, text)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t')) else {
        return false;
    };
    let (label, text) = (label.trim(), text.trim());
    let is_word = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_text = TEXT_NAMES.iter().any(|name| name.eq_ignore_ascii_case(text));
    // A single letter may be a label, too: of yes and no.
    let is_label = is_label_name(label) && label.len() > 1;
    is_text && is_word(label) || is_label && is_word(text)
}

impl Text {
    fn line(&self, line: &[u8], bag: &mut BagBuilder<'_>, rows: &mut ParsedRows) -> Result<(), Fault> {
        let line = std::str::from_utf8(line)
            .map_err(|e| (e.valid_up_to(), "the text is not UTF-8".into(), Some(CONVERT.into())))?;
        if !matches!(self.labelling, Labelling::Ignored)
            && let Some(second) = second_label(line)
        {
            let name: String = line[second..].chars().take_while(|c| !c.is_whitespace()).take(40).collect();
            let what = format!("{name:?} is a second label, and a row has one");
            return Err((second, what, Some(ONE_LABEL.into())));
        }
        let text = match split(line) {
            // A line to predict may be text alone, and may have a tab in it.
            _ if matches!(self.labelling, Labelling::Ignored) => self.without_label(line),
            Some((label, text)) => {
                if label.is_empty() {
                    return Err((0, "the text has no label before it".into(), Some(FORM.into())));
                }
                let at = line.find(label).unwrap_or(0);
                rows.set_label(&self.labelling, label.as_bytes()).map_err(|(what, hint)| (at, what, hint))?;
                text
            }
            None if line.trim().is_empty() => return Ok(()),
            None => {
                return Err((
                    line.len(),
                    "there is no tab between a label and a text".into(),
                    Some(FORM.into()),
                ));
            }
        };
        bag.add(text, "", rows);
        bag.write_row(rows);
        rows.end_row();
        Ok(())
    }

    fn without_label<'a>(&self, line: &'a str) -> &'a str {
        let known =
            |label: &str| self.passed_over.as_ref().is_some_and(|labels| labels.find(label).is_some());
        match split(line) {
            // Of several labels, as fastText has them, none is a word.
            Some((_, text)) if line.starts_with(FASTTEXT) => without_labels(text),
            Some((label, text)) if label.is_empty() || known(label) => text,
            _ => line,
        }
    }
}

/// A text without the labels of fastText's before it.
fn without_labels(mut text: &str) -> &str {
    while let Some(rest) = text.trim_start().strip_prefix(FASTTEXT) {
        text = rest.split_once([' ', '\t']).map_or("", |(_, text)| text);
    }
    text
}

/// Where a line that begins with a label of fastText's has another one.
fn second_label(line: &str) -> Option<usize> {
    if !line.starts_with(FASTTEXT) {
        return None;
    }
    let is_label = |at: &usize| line[..*at].ends_with([' ', '\t']);
    line.match_indices(FASTTEXT).map(|(at, _)| at).find(is_label)
}

const ONE_LABEL: &str = "give every label a line of its own with the same text, or keep one of them; \
                         `skip_bad_rows` leaves such rows out";

const FORM: &str = "a line is: label<TAB>text; is this the right `format`?";

/// Label and text of a line.
fn split(line: &str) -> Option<(&str, &str)> {
    if let Some(rest) = line.strip_prefix(FASTTEXT) {
        return Some(rest.split_once([' ', '\t']).unwrap_or((rest, "")));
    }
    line.split_once('\t').map(|(label, text)| (label.trim(), text))
}

/// Whether a file that starts like this holds documents: lines of two columns, the second of which is prose.
pub(super) fn is_text(start: &str) -> bool {
    let whole = start.rfind('\n').map_or(start, |end| &start[..end]);
    let lines: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).take(200).collect();
    if lines.iter().all(|line| line.starts_with(FASTTEXT)) {
        return !lines.is_empty();
    }
    let texts: Option<Vec<&str>> =
        lines.iter().map(|line| line.split_once('\t').map(|(_, text)| text)).collect();
    let Some(texts) = texts else { return false };
    let two_columns = texts.iter().filter(|text| !text.contains('\t')).count();
    two_columns * 10 >= texts.len() * 9 && !texts.is_empty() && are_prose(&texts)
}

/// Whether these have three words on average, or two that mostly start with small letters.
fn are_prose(texts: &[&str]) -> bool {
    let spellings: Vec<Spelling> = texts.iter().map(|text| Spelling::of(text)).collect();
    let words: u64 = spellings.iter().map(|spelling| spelling.words).sum();
    let small_words: u64 = spellings.iter().map(|spelling| spelling.small_words).sum();
    let rows = texts.len() as u64;
    words >= 3 * rows || words >= 2 * rows && 2 * small_words >= words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_label_and_some_words_are_documents_and_tables_are_not() {
        for text in [
            "spam\tfree money now\nspam\tfree money now\nspam\tfree money now\n",
            "spam\tfree money now\nham\tsee you\nspam\twin cash\n",
            "label\ttext\nspam\tfree money now, for everyone\nham\tsee you at the station\n",
            "spam\tfree money now",
            "__label__a money\n",
        ] {
            assert!(is_text(text), "{text}");
        }
        for table in [
            "label\tage\nx\t17\ny\t18\n",
            "sex\tcity\nm\tNew York\nf\tSan Jose\n",
            "a b c d\te f g h\ti j k l\n",
            "x\ty z\tw\n",
            "",
        ] {
            assert!(!is_text(table), "{table}");
        }
    }

    #[test]
    fn a_first_line_of_names_is_no_document() {
        for header in ["label\ttext", "Class\tMessage", "label\treview", "y\ttext", "v1\ttext"] {
            assert!(names_columns(header.as_bytes()), "{header}");
        }
        for row in [
            "spam\tfree money now",
            "ham\tok",
            "y\tyes",
            "label\ta label says it",
            "very good\ttext",
            "\ttext",
        ] {
            assert!(!names_columns(row.as_bytes()), "{row}");
        }
    }

    #[test]
    fn a_second_label_is_found_wherever_it_stands_and_passed_over_to_predict() {
        assert_eq!(second_label("__label__a __label__b some words"), Some(11));
        assert_eq!(second_label("__label__a some words\t__label__b"), Some(22));
        assert_eq!(second_label("__label__a some__label__ words"), None);
        assert_eq!(second_label("some words __label__a"), None);
        assert_eq!(without_labels("__label__b  __label__c some words"), "some words");
        assert_eq!(without_labels("some words"), "some words");
        assert_eq!(without_labels("__label__b"), "");
    }
}
