//! Whether the first record of a table names its columns, where nobody says it: the rules of
//! `docs/guide/tables.md`.

use super::column::Statistics;
use super::{FirstRecord, Header, TableOptions, find_column, is_label_name, is_surely_missing, numbers};
use crate::error::{Error, Result};
use crate::features::table::first_repeated;
use crate::read::number::{Number, whole};
use rustc_hash::FxHashSet;

/// What the first record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Header,
    Row,
    /// The records after it decide.
    Undecided,
}

/// What the fields of the first record are, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Names, as in most headers.
    Names,
    /// Names and numbers of columns, as pandas writes those without a name (`0,1,2,target`), or years, or a
    /// column without a name: a header only if more speaks for it.
    Numbered,
    /// No header.
    Values,
}

/// The label's name that is a class as often: `y` beside `n`.
const ALSO_A_CLASS: &str = "y";
/// Of fewer rows, a label may well be in one alone.
const MANY_ROWS: u64 = 10;
/// Labels of more names than this are not few.
const MANY_LABELS: usize = 100;

/// What the first record is, as far as it shows by itself.
pub(super) fn verdict_at_once(first: &FirstRecord, options: &TableOptions) -> Verdict {
    match options.header {
        Header::Present => return Verdict::Header,
        Header::Absent => return Verdict::Row,
        Header::Detect => {}
    }
    let kind = kind_of(first);
    if kind == Kind::Values {
        return Verdict::Row;
    }
    let names = first.given_names();
    let is_meant = |name: &String| is_word(name.as_bytes()) && options.mentioned().any(|meant| meant == name);
    let is_label = |name: &String| {
        is_label_name(name) && (kind == Kind::Names || !name.eq_ignore_ascii_case(ALSO_A_CLASS))
    };
    if names.iter().any(|name| is_meant(name) || is_label(name)) && first_repeated(&names).is_none() {
        Verdict::Header
    } else if (0..first.width()).any(|j| first.reads_as_missing(j)) {
        Verdict::Row
    } else {
        Verdict::Undecided
    }
}

fn is_word(text: &[u8]) -> bool {
    !text.is_empty() && whole(text) == Number::None
}

fn kind_of(first: &FirstRecord) -> Kind {
    if (0..first.width()).all(|j| first.could_be_a_name(j)) {
        return Kind::Names;
    }
    let texts: Vec<_> = first.texts().collect();
    let is_numbered = texts.iter().all(|text| {
        text.is_empty() || column_number(text).is_some() || is_word(text) && std::str::from_utf8(text).is_ok()
    });
    let has_word = texts.iter().any(|text| is_word(text) && !is_surely_missing(text));
    match is_numbered && has_word && first_repeated(first.given_names()).is_none() {
        true => Kind::Numbered,
        false => Kind::Values,
    }
}

/// The number that a column may have for its name: digits, with no zero in front.
fn column_number(text: &[u8]) -> Option<u64> {
    let is_plain = text.iter().all(u8::is_ascii_digit) && (text[..] == *b"0" || text.first() != Some(&b'0'));
    std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
}

/// The first record compared with those after it: what recurs further down in its own column is a value.
#[derive(Debug)]
pub(super) struct Comparison {
    cells: Vec<Vec<u8>>,
    recurs: Vec<bool>,
    kind: Kind,
    /// The column whose field tells most: the label's, or else the last one.
    label: usize,
    /// The labels after the first, up to [`MANY_LABELS`].
    labels: FxHashSet<Vec<u8>>,
}

impl Comparison {
    /// `None` where the others do not matter, as the first record is by itself what `verdict` says.
    pub(super) fn of(first: &FirstRecord, options: &TableOptions, verdict: Verdict) -> Option<Self> {
        if options.header != Header::Detect || verdict == Verdict::Row {
            return None;
        }
        let cells: Vec<Vec<u8>> = first.texts().map(|text| text.into_owned()).collect();
        let name = |j: &usize| String::from_utf8_lossy(&cells[*j]).into_owned();
        let names: Vec<String> = (0..cells.len()).map(|j| name(&j)).collect();
        let is_meant = |name: &String| options.mentioned().any(|meant| meant == name);
        let is_label = |name: &String| is_label_name(name) && !name.eq_ignore_ascii_case(ALSO_A_CLASS);
        if verdict == Verdict::Header && names.iter().any(|name| is_meant(name) || is_label(name)) {
            return None;
        }
        let asked = options.label.as_ref().and_then(|meant| find_column(&numbers(cells.len()), meant));
        let by_name = || names.iter().position(|name| is_label_name(name));
        let label = asked.or_else(by_name).unwrap_or(cells.len() - 1);
        let recurs = vec![false; cells.len()];
        Some(Self { recurs, kind: kind_of(first), label, labels: FxHashSet::default(), cells })
    }

    /// Whether there are numbers in the first record, by which the user may mean other columns than by their
    /// places.
    pub(super) fn is_numbered(&self) -> bool {
        self.kind == Kind::Numbered
    }

    #[inline]
    pub(super) fn value(&mut self, j: usize, text: &[u8]) {
        if self.cells[j] == text {
            self.recurs[j] = true;
        }
        if self.kind == Kind::Numbered && j == self.label && self.labels.len() <= MANY_LABELS {
            self.label(text);
        }
    }

    fn label(&mut self, text: &[u8]) {
        if !self.labels.contains(text) {
            self.labels.insert(text.to_vec());
        }
    }

    /// What the first record is, beside `rows` others whose columns these are. `early` is what it seemed to be
    /// by itself.
    pub(super) fn verdict(&self, early: Verdict, columns: &[Statistics], rows: u64) -> Result<Verdict> {
        match (early, self.kind) {
            (Verdict::Header, Kind::Names) => self.verdict_on_y(columns),
            (Verdict::Undecided, Kind::Names) => self.verdict_on_names(columns),
            (Verdict::Undecided, Kind::Numbered) => self.verdict_on_numbers(columns, rows),
            (early, _) => Ok(early),
        }
    }

    /// A record with a label's name in it is a header, but `y` may be a class beside other values.
    fn verdict_on_y(&self, columns: &[Statistics]) -> Result<Verdict> {
        let is_class = self.cells[self.label].eq_ignore_ascii_case(ALSO_A_CLASS.as_bytes());
        let over_numbers = columns.iter().any(Statistics::is_numeric);
        match is_class && !over_numbers && self.recurs[self.label] {
            true => self.verdict_on_words(),
            false => Ok(Verdict::Header),
        }
    }

    /// A header stands over a column of numbers, or over columns that hold no number at all.
    fn verdict_on_names(&self, columns: &[Statistics]) -> Result<Verdict> {
        let over_numbers = columns.iter().any(Statistics::is_numeric);
        let no_number = columns.iter().all(Statistics::has_no_number);
        let names: Vec<&[u8]> =
            self.cells.iter().map(Vec::as_slice).filter(|name| !name.is_empty()).collect();
        let distinct = names.iter().collect::<FxHashSet<_>>().len() == names.len();
        match () {
            // Two columns of one name, over numbers, are a header all the same, with an error in it.
            _ if over_numbers => Ok(Verdict::Header),
            _ if no_number && distinct => self.verdict_on_words(),
            _ => Ok(Verdict::Row),
        }
    }

    /// Words over words are a header by custom, unless they are values: most of them recur in their columns.
    fn verdict_on_words(&self) -> Result<Verdict> {
        let words = self.cells.iter().filter(|cell| !cell.is_empty()).count();
        let recurring = (0..self.cells.len()).filter(|&j| self.recurs[j] && !self.cells[j].is_empty());
        match recurring.count() {
            recurring if 2 * recurring > words => Ok(Verdict::Row),
            recurring if recurring > 0 && self.recurs[self.label] && !self.is_named() => {
                Err(self.doubt("occurs again"))
            }
            _ => Ok(Verdict::Header),
        }
    }

    /// Names and numbers are a header if the label's is a name over numbers, or over a few labels without it.
    fn verdict_on_numbers(&self, columns: &[Statistics], rows: u64) -> Result<Verdict> {
        let cell = &self.cells[self.label];
        let over_numbers = columns[self.label].is_numeric();
        let few = self.labels.len() <= MANY_LABELS && rows >= MANY_ROWS * self.labels.len() as u64;
        match () {
            _ if !is_word(cell) || is_surely_missing(cell) || self.recurs[self.label] => Ok(Verdict::Row),
            _ if over_numbers && rows > 1 && (self.numbers_columns() || self.is_named()) => {
                Ok(Verdict::Header)
            }
            _ if over_numbers && rows > 1 => Err(self.doubt("is no number, as others are")),
            _ if !few || rows < MANY_ROWS => Ok(Verdict::Row),
            _ if self.numbers_columns() || self.is_named() => Ok(Verdict::Header),
            _ => Err(self.doubt("does not occur again")),
        }
    }

    fn is_named(&self) -> bool {
        is_label_name(&String::from_utf8_lossy(&self.cells[self.label]))
    }

    /// Whether the numbers in the first record go up by one, as those of columns and years do.
    fn numbers_columns(&self) -> bool {
        let found: Vec<u64> = self.cells.iter().filter_map(|cell| column_number(cell)).collect();
        found.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    }

    fn doubt(&self, why: &str) -> Error {
        let cell = String::from_utf8_lossy(&self.cells[self.label]).into_owned();
        let what = format!(
            "this line may name the columns, or be a row: {cell:?} in column {} {why} below it",
            self.label + 1
        );
        Error::input(what).hint("say which: `header` or `no_header`")
    }
}

#[cfg(test)]
mod tests {
    use super::super::infer_start;
    use super::*;
    use crate::read::parsed_rows::Labelling;
    use crate::read::pipeline::Setup;
    use crate::read::source::Origin;

    /// Whether the table has a header, or the error about it.
    fn has_header(text: &str, label: Option<&str>) -> Result<bool> {
        let options = TableOptions { label: label.map(str::to_owned), ..TableOptions::default() };
        let setup = Setup { threads: 1, skip_bad_rows: false };
        let inferred = infer_start(&Origin::named("t"), text.as_bytes(), &options, &Labelling::Open, setup)?;
        Ok(inferred.schema.header)
    }

    /// A first line, and rows of numbers with one of these labels each.
    fn over_rows(first: &str, labels: &[&str]) -> String {
        let width = first.matches(',').count();
        let row = |i: usize| {
            let numbers: String = (0..width).map(|j| format!("{}.5,", (7 * i + j) % 13)).collect();
            format!("{numbers}{}\n", labels[i % labels.len()])
        };
        format!("{first}\n{}", (0..60).map(row).collect::<String>())
    }

    #[test]
    fn numbers_of_columns_beside_the_name_of_the_label_are_a_header() {
        for labels in [&["0", "1", "2"][..], &["se", "ve", "vi"]] {
            for first in ["0,1,2,3,target", "1,2,label", ",0,1,2,3,target", "2019,2020,label", "a,,label"] {
                let (text, width) = (over_rows(first, labels), first.matches(',').count() + 1);
                assert_eq!(has_header(&text, None), Ok(true), "{first}");
                assert_eq!(has_header(&text, Some(&width.to_string())), Ok(true), "{first}");
                let named = text.replace("target", "kind").replace("label", "kind");
                assert_eq!(has_header(&named, Some("kind")), Ok(true), "{first}");
                assert_eq!(has_header(&named, Some(&width.to_string())), Ok(true), "{first}");
            }
        }
    }

    #[test]
    fn columns_that_are_called_by_numbers_are_meant_by_these() {
        let inferred = |drop: &str| {
            let text = over_rows("0,1,2,3,kind", &["1", "2"]);
            let options =
                TableOptions { label: Some("5".into()), drop: vec![drop.into()], ..TableOptions::default() };
            let setup = Setup { threads: 1, skip_bad_rows: false };
            infer_start(&Origin::named("t"), text.as_bytes(), &options, &Labelling::Open, setup)
                .unwrap()
                .schema
        };
        use crate::features::table::Role;
        assert_eq!(inferred("2").columns[2].role, Role::Dropped);
        assert_eq!(inferred("4").columns[3].role, Role::Dropped);
    }

    #[test]
    fn rows_of_values_are_none() {
        for (first, labels) in [
            ("5,3,1,0,0", &["0", "1", "2"][..]),
            ("5,3,1,0,a", &["a", "b"]),
            ("0,1,2,3,a", &["a", "b"]),
            ("5,3,1,2,?", &["0", "1"]),
            ("0,1,2,3,4", &["0", "1"]),
            ("1.5,2,target", &["0", "1"]),
            ("05,2,target", &["se", "ve"]),
        ] {
            let last = (first.matches(',').count() + 1).to_string();
            assert_eq!(has_header(&over_rows(first, labels), Some(&last)), Ok(false), "{first}");
        }
        // Of few rows, a class may be in one alone.
        assert_eq!(has_header("1,2,b\n3,4,a\n5,6,a\n", Some("3")), Ok(false));
    }

    #[test]
    fn a_doubt_is_an_error() {
        for (first, labels, why) in [
            ("2,7,9,kind", &["0", "1"][..], "\"kind\" in column 4 is no number, as others are below it"),
            ("2,7,9,kind", &["a", "b"], "\"kind\" in column 4 does not occur again below it"),
        ] {
            let error = has_header(&over_rows(first, labels), Some("4")).unwrap_err();
            let what = format!("t:1:1: this line may name the columns, or be a row: {why}");
            assert_eq!(error.to_string(), what);
            assert_eq!(error.advice(), Some("say which: `header` or `no_header`"));
        }
        let text = "rex,big,yes\nfido,small,no\nbuster,small,yes\nace,small,no\n";
        let error = has_header(text, Some("3")).unwrap_err();
        assert!(error.what().contains("\"yes\" in column 3 occurs again"), "{error}");
    }

    #[test]
    fn words_that_recur_in_their_columns_are_no_names_of_them() {
        let animals = "cat,dog,yes\ncat,fish,no\nbird,dog,yes\nbird,fish,no\n";
        assert_eq!(has_header(animals, Some("3")), Ok(false));
        let named = format!("a,b,c\n{animals}");
        assert_eq!(has_header(&named, Some("3")), Ok(true));
        // A class that is called y.
        let short = animals.replace("yes", "y").replace("no", "n");
        assert_eq!(has_header(&short, Some("3")), Ok(false));
        assert_eq!(has_header(&format!("a,b,y\n{short}"), Some("3")), Ok(true));
        assert_eq!(has_header("a,b,y\n1,u,y\n2,v,n\n3,u,y\n", None), Ok(true));
    }
}
