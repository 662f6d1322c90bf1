//! Documents, one a line: `label<TAB>text`, or `__label__name text` as fastText has them.

use super::bag::{Bag, BagBuilder};
use super::parsed_rows::{CONVERT, Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::Cut;
use super::svmlight::Fault;
use super::table::is_label_name;
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

/// Whether a first line says what the columns are: `label<TAB>text`.
fn names_columns(line: &[u8]) -> bool {
    let Some((label, text)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t')) else {
        return false;
    };
    is_label_name(label.trim()) && TEXT_NAMES.iter().any(|name| name.eq_ignore_ascii_case(text.trim()))
}

impl Text {
    fn line(&self, line: &[u8], bag: &mut BagBuilder<'_>, rows: &mut ParsedRows) -> Result<(), Fault> {
        let line = std::str::from_utf8(line)
            .map_err(|e| (e.valid_up_to(), "the text is not UTF-8".into(), Some(CONVERT.into())))?;
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
            Some((label, text)) if label.is_empty() || known(label) => text,
            _ => line,
        }
    }
}

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
    let spaces: usize = texts.iter().map(|text| text.trim().matches(' ').count()).sum();
    two_columns * 10 >= texts.len() * 9 && spaces >= 3 * texts.len() && !texts.is_empty()
}
