//! Delimited tables (CSV, TSV): what their columns are, and what their rows say.
//!
//! A table is read twice. [`infer`] looks at all records and decides what each column is for; the
//! [`TableSchema`] that comes of it is fixed, and [`Table`] encodes records by it: of the same file, of one
//! to predict, of a stream.
//!
//! [`TableSchema`]: crate::features::table::TableSchema

mod applied;
mod choose;
mod column;
mod header;
mod infer;
mod interaction;
mod left_out;
mod rows;
mod spelling;

pub(super) use applied::{Columns, Keeping, applied, other_delimiter};
pub(super) use infer::{HEADER_FOUND, infer, infer_start, repeatable_header, without_unused_means};
pub(super) use interaction::{with_products, with_products_at_start};
pub(super) use rows::Table;
pub(super) use spelling::Spelling;

use super::number::{Number, whole};
use super::records::{Fault, Field, Records, place};
use crate::error::{Error, Result};
use crate::features::Missing;
use crate::features::table::{Column, Role, TableSchema, first_repeated, is_delimiter};

/// Whether the first record names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Decided from the records.
    #[default]
    Detect,
    /// It does.
    Present,
    /// It is a row like the others.
    Absent,
}

/// How the user wants a table to be understood. Columns are meant by their name, or else by their number from
/// 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The column of the labels; if not given, the one called label, target, class or y.
    pub label: Option<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Whether the first record names the columns.
    pub header: Header,
    /// What to do about missing values.
    pub missing: Missing,
    /// The byte between fields; if not given, it is detected from the first record.
    pub delimiter: Option<u8>,
    /// The column that says how much a row counts.
    pub row_weights: Option<String>,
    /// The columns that hold documents.
    pub text: Vec<String>,
    /// The columns whose values are categories, whatever they look like.
    pub categories: Vec<String>,
    /// The columns whose values are numbers that mean something, even if they look like numbers of rows.
    pub numbers: Vec<String>,
    /// What columns were in other rows, by their names: they are the same again, where there are such columns
    /// and nothing else is said of them, here or by the records. Needs a `header` that is not detected.
    pub before: Vec<(String, Was)>,
}

/// What a column was in other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Was {
    /// Numbers.
    Numbers,
    /// Categories.
    Categories,
    /// Categories, also `-`, `.` and `None`, which are missing values unless columns are said to be categories.
    AllCategories,
}

impl Was {
    /// What the columns of a table were that became features.
    pub fn of(schema: &TableSchema) -> Vec<(String, Was)> {
        let was = |column: &Column| match &column.role {
            Role::Numeric { .. } => Some(Was::Numbers),
            Role::Categorical { categories, .. } => {
                let is_odd =
                    |text: &String| is_missing(text.as_bytes()) && !is_surely_missing(text.as_bytes());
                Some(if categories.iter().any(is_odd) { Was::AllCategories } else { Was::Categories })
            }
            Role::Label | Role::Dropped | Role::RowWeight | Role::Text => None,
        };
        schema.columns.iter().filter_map(|column| Some((column.name.clone(), was(column)?))).collect()
    }
}

impl TableOptions {
    /// The delimiter of a table that starts like this: the one given, else the most frequent in the first
    /// record.
    pub(crate) fn delimiter_for(&self, start: &[u8]) -> Result<u8> {
        match self.delimiter {
            Some(byte) if !is_delimiter(byte) => {
                Err(Error::usage(format!("{:?} cannot separate fields", char::from(byte)))
                    .hint("use , or ; or a tab"))
            }
            Some(byte) => Ok(byte),
            None => Ok(most_frequent_delimiter(start)),
        }
    }

    /// The columns that the user mentions.
    fn mentioned(&self) -> impl Iterator<Item = &String> {
        let lists = [&self.drop, &self.text, &self.categories, &self.numbers];
        self.label.iter().chain(&self.row_weights).chain(lists.into_iter().flatten())
    }
}

/// Names by which a label column is known if nobody says which it is.
const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

pub(super) fn is_label_name(name: &str) -> bool {
    LABEL_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Of comma, semicolon and tab, the one that the first record has most of outside quotes; the comma if none
/// is ahead.
fn most_frequent_delimiter(start: &[u8]) -> u8 {
    enum State {
        Start,
        Plain,
        Quoted,
        Closed,
    }
    let candidates = [b',', b';', b'\t'];
    let mut counts = [0usize; 3];
    let mut state = State::Start;
    for &byte in start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start) {
        let candidate = candidates.iter().position(|&candidate| candidate == byte);
        state = match (state, byte, candidate) {
            (State::Quoted, b'"', _) => State::Closed,
            (State::Quoted, ..) | (State::Start | State::Closed, b'"', _) => State::Quoted,
            // A blank line is no record.
            (State::Start, b'\n', _) if counts == [0; 3] => State::Start,
            (_, b'\n', _) => break,
            (_, _, Some(which)) => {
                counts[which] += 1;
                State::Start
            }
            (State::Start, b' ' | b'\r', _) => State::Start,
            _ => State::Plain,
        };
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    counts.iter().position(|&count| count == most).map_or(b',', |which| candidates[which])
}

/// Whether a field says that there is no value: nothing, `NA`, `N/A`, `NaN`, `null`, `None`, `?`, `-` or `.`.
#[inline]
fn is_missing(text: &[u8]) -> bool {
    matches!(text, b"-" | b"." | b"None") || is_surely_missing(text)
}

/// The same without `-`, `.` and `None`, which may be labels or categories, too.
#[inline]
fn is_surely_missing(text: &[u8]) -> bool {
    match text {
        [] | [b'?'] => true,
        [b'n' | b'N', ..] => {
            ["na", "n/a", "nan", "null"].iter().any(|word| word.as_bytes().eq_ignore_ascii_case(text))
        }
        _ => false,
    }
}

/// The column that is meant by a name, or else by a number from 1.
pub(super) fn find_column(names: &[String], meant: &str) -> Option<usize> {
    let numbered = || meant.parse::<usize>().ok()?.checked_sub(1).filter(|&j| j < names.len());
    names.iter().position(|name| name == meant).or_else(numbered)
}

/// The names of columns without a header.
fn numbers(width: usize) -> Vec<String> {
    (1..=width).map(|number| number.to_string()).collect()
}

/// How many columns a message lists.
const LISTED: usize = 40;

/// Names for a message.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let mut list: Vec<String> =
        names.iter().take(LISTED).map(|name| format!("{:?}", name.as_ref())).collect();
    if names.len() > LISTED {
        list.push(format!("… ({} in all)", names.len()));
    }
    list.join(", ")
}

/// A field for a message.
fn shown(text: &[u8]) -> String {
    let mut shown: String = String::from_utf8_lossy(&text[..text.len().min(160)]).chars().take(40).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

#[cold]
fn wrong_width(fields: &[Field], width: usize) -> Fault {
    // Where the first field too many stands, or the last one before those that lack.
    let at = fields.get(width).or(fields.last()).map_or(0, |field| field.at);
    let plural = if fields.len() == 1 { "" } else { "s" };
    Fault {
        at,
        what: format!(
            "this row has {} field{plural}, the table has {width} column{}",
            fields.len(),
            if width == 1 { "" } else { "s" }
        ),
        hint: Some(
            "a field that holds the delimiter must stand in quotes; `skip_bad_rows` leaves such rows out"
                .into(),
        ),
    }
}

/// The first record of a table, kept aside.
#[derive(Debug)]
struct FirstRecord {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// The line of the file on which it starts, from 1.
    line: u64,
}

impl FirstRecord {
    /// The record that `records` has just split.
    fn keep(block: &[u8], records: &mut Records<'_>, fields: &[Field], lines_before: u64) -> Self {
        let span = records.span();
        let (line, _) = records.locate(span.start);
        Self {
            fields: fields.iter().map(|field| field.shifted(span.start)).collect(),
            bytes: block[span].to_vec(),
            line: lines_before + line + 1,
        }
    }

    /// The first record that can be split: one with a fault is a bad row, not a header.
    fn find(start: &[u8], delimiter: u8) -> Option<Self> {
        let mut records = Records::new(start, delimiter);
        let mut fields = Vec::new();
        while let Some(outcome) = records.next_into(&mut fields) {
            if outcome.is_ok() {
                return Some(Self::keep(start, &mut records, &fields, 0));
            }
        }
        None
    }

    fn width(&self) -> usize {
        self.fields.len()
    }

    fn texts(&self) -> impl Iterator<Item = std::borrow::Cow<'_, [u8]>> {
        self.fields.iter().map(|field| field.text(&self.bytes))
    }

    /// Whether field `j` is empty.
    fn is_empty(&self, j: usize) -> bool {
        self.fields[j].text(&self.bytes).is_empty()
    }

    /// Whether field `j` could be the name of a column. The first and the last may have none: pandas leaves
    /// out that of its index, and some programs end every line with a delimiter.
    fn could_be_a_name(&self, j: usize) -> bool {
        let text = self.fields[j].text(&self.bytes);
        let is_at_an_end = self.width() > 1 && (j == 0 || j + 1 == self.width());
        if text.is_empty() {
            return is_at_an_end;
        }
        whole(&text) == Number::None && std::str::from_utf8(&text).is_ok()
    }

    /// Whether field `j` is a word for a missing value. It may be a name all the same: `Na` is sodium.
    fn reads_as_missing(&self, j: usize) -> bool {
        let text = self.fields[j].text(&self.bytes);
        !text.is_empty() && is_surely_missing(&text)
    }

    /// The fields that are not empty.
    fn given_names(&self) -> Vec<String> {
        let names = self.texts().map(|text| String::from_utf8_lossy(&text).into_owned());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// The fields as names of columns. One without a name goes by its number.
    fn names(&self, file: &str) -> Result<Vec<String>> {
        let mut names = Vec::with_capacity(self.width());
        for (j, text) in self.texts().enumerate() {
            let name = std::str::from_utf8(&text)
                .map_err(|_| self.error(file, j, "the name of this column is not UTF-8".into()))?;
            names.push(name.to_owned());
        }
        for j in 0..names.len() {
            if names[j].is_empty() {
                let number = (j + 1).to_string();
                names[j] = if names.contains(&number) { format!("column {number}") } else { number };
            }
        }
        match first_repeated(&names) {
            None => Ok(names),
            Some(name) => {
                let second = names.iter().rposition(|other| *other == name).unwrap_or(0);
                let error = self.error(file, second, format!("two columns are called {name:?}"));
                Err(error.hint("rename one of them; if the first row is data, say `no_header`"))
            }
        }
    }

    /// Line and byte in the file of field `j`.
    fn spot(&self, j: usize) -> (u64, u64) {
        let (line, column) = place(&self.bytes, self.fields[j].at);
        (self.line + line, column as u64)
    }

    fn error(&self, file: &str, j: usize, what: String) -> Error {
        let (line, column) = self.spot(j);
        Error::input(what).at(file, line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_most_frequent_one_outside_quotes_and_the_comma_wins_ties() {
        for (start, delimiter) in [
            ("a,b;c\n;;;;", b','),
            ("a;b;c,d\n", b';'),
            ("\n\r\n  \na\tb\n", b'\t'),
            ("\"a;b;c;d\",e\n", b','),
            ("a;\"x,\"\"y,,\n,\";b", b';'),
            ("alone\n", b','),
            ("it is 5\" long;b\n", b';'),
            ("\u{feff}\"a,b\";c", b';'),
        ] {
            assert_eq!(TableOptions::default().delimiter_for(start.as_bytes()), Ok(delimiter), "{start}");
        }
        let odd = TableOptions { delimiter: Some(b'"'), ..TableOptions::default() };
        assert!(odd.delimiter_for(b"a").is_err());
    }

    #[test]
    fn a_column_is_meant_by_its_name_before_its_number() {
        let names = ["2".to_owned(), "b".to_owned()];
        assert_eq!(
            ["2", "1", "b", "0", "3", "c"].map(|meant| find_column(&names, meant)),
            [Some(0), Some(0), Some(1), None, None, None]
        );
    }
}
