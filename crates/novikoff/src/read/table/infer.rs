//! What the columns of a table are for, inferred from one pass over all records.
//!
//! A column whose values are all numbers keeps a sum, any other its categories, so memory grows with the
//! categories and not with the file. A column that turns out to hold text only after some numbers needs those
//! numbers as categories, too: then a second pass follows.

use super::{
    FirstRecord, Header, TableOptions, find_column, is_label_name, is_missing, listed, numbers, wrong_width,
};
use crate::control::{Flow, Observer, Progress};
use crate::error::{Error, Result};
use crate::features::table::{Column, Role, TableSchema, first_repeated};
use crate::features::{Dictionary, Missing};
use crate::read::number::{Number, whole};
use crate::read::parsed_rows::{CONVERT, Labelling};
use crate::read::pipeline::{Setup, locate_end};
use crate::read::records::{Fault, Field, Records, newlines};
use crate::read::source::{Blocks, Cut, Input, Source};
use std::sync::atomic::Ordering;

/// How a table was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inferred {
    /// Its columns.
    pub schema: TableSchema,
    /// What to tell the user about it.
    pub remarks: Vec<String>,
}

/// Decides what the columns of a whole table are for. The input is opened once or twice, so it must not be a
/// stream.
///
/// Bad rows are errors, unless they are skipped; but a row whose fault only the finished schema can tell (a
/// number that is not finite, a missing value) has by then had its say about the other columns.
pub(crate) fn infer(
    input: &Input,
    options: &TableOptions,
    labelling: &Labelling,
    setup: Setup,
    observer: &mut dyn Observer,
) -> Result<Inferred> {
    let (mut mixed, mut block) = (Vec::new(), Vec::new());
    loop {
        let mut source = Source::open(input)?;
        let delimiter = options.delimiter_for(source.peek()?)?;
        let mut inference = Inference::new(source.name(), options, labelling, setup, delimiter, mixed);
        let (taken, total) = (source.taken(), source.total());
        let mut blocks = Blocks::new(source, Cut::Record { delimiter });
        loop {
            let more = blocks.next_into(&mut block);
            if !more.map_err(|error| locate_end(error, &inference.file, inference.lines + 1, &block))? {
                break;
            }
            inference.block(&block)?;
            let progress =
                Progress::Reading { bytes: taken.load(Ordering::Relaxed), total, rows: inference.rows };
            if observer.observe(progress) == Flow::Stop {
                return Err(Error::interrupted());
            }
        }
        match inference.finish()? {
            Finished::Whole(inferred) => return Ok(inferred),
            Finished::Again(columns) => mixed = columns,
        }
    }
}

/// Decides what the columns of a stream are for, by its first records (see [`Source::look_ahead`]).
pub(crate) fn infer_start(
    file: &str,
    start: &[u8],
    options: &TableOptions,
    labelling: &Labelling,
    setup: Setup,
) -> Result<Inferred> {
    let delimiter = options.delimiter_for(start)?;
    let mut mixed = Vec::new();
    loop {
        let mut inference = Inference::new(file, options, labelling, setup, delimiter, mixed);
        inference.block(start)?;
        match inference.finish()? {
            Finished::Whole(inferred) => return Ok(inferred),
            Finished::Again(columns) => mixed = columns,
        }
    }
}

/// A column may not have more categories.
const MAX_CATEGORIES: usize = 1 << 20;
/// Sums are kept this much smaller, so that they cannot overflow. A power of two: the digits stay the same.
const SCALE: f64 = 1.0 / (1u64 << 60) as f64;

/// Line and byte in the file, both from 1.
type Spot = (u64, u64);

/// What is known of a column so far.
#[derive(Default)]
struct ColumnStatistics {
    /// Its values are no features.
    ignored: bool,
    /// Its values are kept as categories.
    listing: bool,
    /// It showed text after numbers that were not kept.
    mixed: bool,
    missing: bool,
    numbers: u64,
    /// Sum of the numbers, times [`SCALE`].
    sum: f64,
    texts: u64,
    not_finite: Option<Spot>,
    not_utf8: Option<Spot>,
    categories: Dictionary,
}

/// What is odd about a value.
enum Oddity {
    NotFinite,
    NotUtf8,
    TooMany,
}

impl ColumnStatistics {
    #[inline]
    fn value(&mut self, text: &[u8]) -> Option<Oddity> {
        if is_missing(text) {
            self.missing = true;
            return None;
        }
        match whole(text) {
            Number::Finite(value, _) => {
                self.numbers += 1;
                self.sum += value * SCALE;
            }
            Number::NotFinite if !self.listing => return Some(Oddity::NotFinite),
            Number::NotFinite => {}
            Number::None => self.text(),
        }
        if self.listing && !self.ignored { self.list(text) } else { None }
    }

    fn text(&mut self) {
        self.texts += 1;
        self.mixed |= !self.listing && (self.numbers > 0 || self.not_finite.is_some());
        self.listing = true;
    }

    fn list(&mut self, text: &[u8]) -> Option<Oddity> {
        let Ok(category) = std::str::from_utf8(text) else { return Some(Oddity::NotUtf8) };
        if self.categories.len() >= MAX_CATEGORIES && self.categories.find(category).is_none() {
            return Some(Oddity::TooMany);
        }
        self.categories.intern(category);
        None
    }

    /// Takes the value of the first record, after all others: its category comes first.
    fn first_text(&mut self, name: &str) {
        self.text();
        if !self.ignored {
            let others = self.categories.names().iter().map(String::as_str).filter(|other| *other != name);
            self.categories = std::iter::once(name).chain(others).collect();
        }
    }

    fn mean(&self) -> f64 {
        if self.numbers == 0 { 0.0 } else { self.sum / self.numbers as f64 / SCALE }
    }
}

/// What the first record is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Header,
    Row,
    /// The records after it decide.
    Undecided,
}

/// Which columns are not features.
struct Choice {
    label: Option<usize>,
    row_weights: Option<usize>,
    dropped: Vec<bool>,
    /// Columns that hold documents.
    text: Vec<bool>,
}

impl Choice {
    fn ignores(&self, j: usize) -> bool {
        self.dropped[j] || self.text[j] || self.label == Some(j) || self.row_weights == Some(j)
    }
}

enum Finished {
    Whole(Inferred),
    /// These columns hold text after numbers: look again, and keep their numbers as categories.
    Again(Vec<bool>),
}

struct Inference<'a> {
    file: String,
    options: &'a TableOptions,
    labelling: &'a Labelling,
    setup: Setup,
    delimiter: u8,
    /// Columns that hold, by an earlier pass, text after numbers.
    mixed: Vec<bool>,
    first: Option<(FirstRecord, Verdict)>,
    columns: Vec<ColumnStatistics>,
    /// Lines before the block under way.
    lines: u64,
    rows: u64,
}

impl<'a> Inference<'a> {
    fn new(
        file: &str,
        options: &'a TableOptions,
        labelling: &'a Labelling,
        setup: Setup,
        delimiter: u8,
        mixed: Vec<bool>,
    ) -> Self {
        let file = file.to_owned();
        Self {
            file,
            options,
            labelling,
            setup,
            delimiter,
            mixed,
            first: None,
            columns: Vec::new(),
            lines: 0,
            rows: 0,
        }
    }

    fn block(&mut self, block: &[u8]) -> Result<()> {
        let mut records = Records::new(block, self.delimiter);
        let mut fields = Vec::new();
        while let Some(outcome) = records.next_into(&mut fields) {
            match outcome {
                Err(fault) => self.bad_row(fault, &mut records)?,
                Ok(()) if self.first.is_none() => self.first_record(block, &mut records, &fields)?,
                Ok(()) if fields.len() != self.columns.len() => {
                    self.bad_row(wrong_width(&fields, self.columns.len()), &mut records)?;
                }
                Ok(()) => self.row(block, &mut records, &fields)?,
            }
        }
        self.lines += newlines(block);
        Ok(())
    }

    fn bad_row(&self, fault: Fault, records: &mut Records<'_>) -> Result<()> {
        if self.setup.skip_bad_rows {
            return Ok(());
        }
        let (line, column) = self.spot(records, fault.at);
        let error = Error::input(fault.what).at(&self.file, line, column);
        Err(if let Some(hint) = fault.hint { error.hint(hint) } else { error })
    }

    fn spot(&self, records: &mut Records<'_>, at: usize) -> Spot {
        let (line, column) = records.locate(at);
        (self.lines + line + 1, column as u64)
    }

    fn row(&mut self, block: &[u8], records: &mut Records<'_>, fields: &[Field]) -> Result<()> {
        self.rows += 1;
        for (j, field) in fields.iter().enumerate() {
            if let Some(oddity) = self.columns[j].value(&field.text(block)) {
                self.odd_value(j, oddity, records, field.at)?;
            }
        }
        Ok(())
    }

    /// Whether a value that is not finite is an error depends on what the rest of the column holds: it is
    /// kept in mind.
    #[cold]
    fn odd_value(&mut self, j: usize, oddity: Oddity, records: &mut Records<'_>, at: usize) -> Result<()> {
        let column = &self.columns[j];
        match oddity {
            Oddity::NotFinite if column.not_finite.is_none() => {
                self.columns[j].not_finite = Some(self.spot(records, at))
            }
            Oddity::NotUtf8 if column.not_utf8.is_none() => {
                self.columns[j].not_utf8 = Some(self.spot(records, at))
            }
            Oddity::NotFinite | Oddity::NotUtf8 => {}
            Oddity::TooMany => {
                let name = self.names(self.first_verdict())?.swap_remove(j);
                let (line, column) = self.spot(records, at);
                let error =
                    Error::input(format!("column {name:?} has more than {MAX_CATEGORIES} different values"));
                return Err(error
                    .at(&self.file, line, column)
                    .hint(format!("is it a feature? if not: `drop = {name}`")));
            }
        }
        Ok(())
    }

    fn first_record(&mut self, block: &[u8], records: &mut Records<'_>, fields: &[Field]) -> Result<()> {
        let first = FirstRecord::keep(block, records, fields, self.lines);
        let (width, verdict) = (first.width(), verdict_at_once(&first, self.options));
        self.first = Some((first, verdict));
        // While the verdict is open, none of the names mentioned is in the first record: numbers tell the
        // same columns.
        let ignored: Vec<bool> = match verdict {
            Verdict::Undecided => {
                let mentioned: Vec<usize> = self
                    .options
                    .mentioned()
                    .filter_map(|meant| find_column(&numbers(width), meant))
                    .collect();
                (0..width).map(|j| mentioned.contains(&j)).collect()
            }
            _ => {
                let choice = self.choose(&self.names(verdict)?, verdict)?;
                (0..width).map(|j| choice.ignores(j)).collect()
            }
        };
        let listing = |j: usize| self.mixed.get(j).copied().unwrap_or(false);
        self.columns = ignored
            .into_iter()
            .enumerate()
            .map(|(j, ignored)| ColumnStatistics {
                ignored,
                listing: listing(j),
                ..ColumnStatistics::default()
            })
            .collect();
        if verdict == Verdict::Row { self.row(block, records, fields) } else { Ok(()) }
    }

    fn first_verdict(&self) -> Verdict {
        self.first.as_ref().map_or(Verdict::Row, |(_, verdict)| *verdict)
    }

    /// What the columns are called.
    fn names(&self, verdict: Verdict) -> Result<Vec<String>> {
        match &self.first {
            Some((first, _)) if verdict == Verdict::Header => first.names(&self.file),
            Some((first, _)) => Ok(numbers(first.width())),
            None => Ok(Vec::new()),
        }
    }

    fn choose(&self, names: &[String], verdict: Verdict) -> Result<Choice> {
        let columns = match verdict {
            Verdict::Header => format!("the columns are {}", listed(names)),
            _ => format!("there is no header, so the columns are called 1 to {}", names.len()),
        };
        choose(names, self.options, self.labelling, &columns).map_err(|error| error.at(&self.file, 1, 1))
    }

    /// What the first record is, once all others have been read: a header stands over a column of numbers, or
    /// over columns that hold no number at all.
    fn verdict(&self) -> Verdict {
        let Some((first, verdict)) = &self.first else { return Verdict::Row };
        if *verdict != Verdict::Undecided {
            return *verdict;
        }
        let over_numbers = self.columns.iter().any(|column| column.numbers > 0 && column.texts == 0);
        let no_number = self.columns.iter().all(|column| column.numbers == 0);
        let distinct =
            first_repeated(first.texts().map(|text| String::from_utf8_lossy(&text).into_owned())).is_none();
        // Two columns of one name, over numbers, are a header all the same, with an error in it.
        if over_numbers || (no_number && distinct) { Verdict::Header } else { Verdict::Row }
    }

    fn finish(mut self) -> Result<Finished> {
        let verdict = self.verdict();
        let Some((first, early)) = &self.first else {
            return Err(Error::input("the table is empty").at(self.file, 1, 1));
        };
        if (*early, verdict) == (Verdict::Undecided, Verdict::Row) {
            for (column, text) in self.columns.iter_mut().zip(first.texts()) {
                column.first_text(&String::from_utf8_lossy(&text));
            }
        }
        let names = self.names(verdict)?;
        let choice = self.choose(&names, verdict)?;
        if self.columns.iter().any(|column| column.mixed && !column.ignored) {
            return Ok(Finished::Again(self.columns.iter().map(|column| column.listing).collect()));
        }
        let remarks = self.remarks(&names, &choice, verdict);
        let columns = self.roles(names, &choice)?;
        let (delimiter, missing) = (self.delimiter, self.options.missing);
        let schema = TableSchema { delimiter, header: verdict == Verdict::Header, missing, columns };
        Ok(Finished::Whole(Inferred { schema, remarks }))
    }

    fn roles(&mut self, names: Vec<String>, choice: &Choice) -> Result<Vec<Column>> {
        let mut features = 0u64;
        let mut columns = Vec::with_capacity(names.len());
        for (j, name) in names.into_iter().enumerate() {
            let role = match j {
                _ if choice.dropped[j] => Role::Dropped,
                _ if choice.label == Some(j) => Role::Label,
                _ if choice.row_weights == Some(j) => Role::RowWeight,
                _ if choice.text[j] => Role::Text,
                _ => self.feature_role(j, &name, &mut features)?,
            };
            columns.push(Column { name, role });
        }
        Ok(columns)
    }

    fn feature_role(&mut self, j: usize, name: &str, features: &mut u64) -> Result<Role> {
        let fail = |spot: Option<Spot>, what: String| match spot {
            Some((line, column)) if !self.setup.skip_bad_rows => {
                Err(Error::input(what).at(&self.file, line, column))
            }
            _ => Ok(()),
        };
        let column = &mut self.columns[j];
        let indicator = self.options.missing == Missing::Indicator && column.missing;
        let too_many = || Error::input("the table makes too many features").at(&self.file, 1, 1);
        let feature = u32::try_from(*features).map_err(|_| too_many())?;
        *features += u64::from(indicator);
        if column.texts == 0 {
            fail(column.not_finite, format!("column {name:?} holds numbers, and this one is not finite"))
                .map_err(skippable)?;
            *features += 1;
            return Ok(Role::Numeric { feature, mean: column.mean(), indicator });
        }
        fail(column.not_utf8, format!("this value of column {name:?} is not UTF-8"))
            .map_err(|e| e.hint(CONVERT))?;
        let categories = std::mem::take(&mut column.categories).names().to_vec();
        *features += categories.len() as u64;
        if *features > u64::from(u32::MAX) {
            Err(too_many())
        } else {
            Ok(Role::Categorical { feature, categories, indicator })
        }
    }

    fn remarks(&self, names: &[String], choice: &Choice, verdict: Verdict) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.options.delimiter.is_none() && self.delimiter != b',' {
            remarks.push(format!("delimiter {:?}", char::from(self.delimiter).to_string()));
        }
        remarks.push(match verdict {
            Verdict::Header => "header found".to_owned(),
            _ => format!("no header: columns are called 1 to {}", names.len()),
        });
        remarks.extend(choice.label.map(|j| format!("label column: {:?}", names[j])));
        remarks.extend(choice.row_weights.map(|j| format!("row weights: column {:?}", names[j])));
        let documents: Vec<String> =
            (0..names.len()).filter(|&j| choice.text[j]).map(|j| format!("{:?}", names[j])).collect();
        if !documents.is_empty() {
            remarks.push(format!("documents: {}", documents.join(", ")));
        }
        let (text, numeric): (Vec<&ColumnStatistics>, Vec<&ColumnStatistics>) =
            self.columns.iter().filter(|column| !column.ignored).partition(|column| column.texts > 0);
        let categories: usize = text.iter().map(|column| column.categories.len()).sum();
        remarks.push(match (numeric.len(), text.len()) {
            (0, 0) if !documents.is_empty() => return remarks,
            (numeric, 0) => format!("{} of numbers", plural(numeric)),
            (0, text) => format!("{} of categories ({categories} in all)", plural(text)),
            (numeric, text) => format!(
                "{} of numbers, {} of categories ({categories} in all)",
                plural(numeric),
                plural(text)
            ),
        });
        remarks
    }
}

fn plural(columns: usize) -> String {
    if columns == 1 { "1 column".into() } else { format!("{columns} columns") }
}

fn skippable(error: Error) -> Error {
    error.hint("`skip_bad_rows` leaves such rows out")
}

/// What the first record is, as far as it shows by itself.
fn verdict_at_once(first: &FirstRecord, options: &TableOptions) -> Verdict {
    match options.header {
        Header::Present => return Verdict::Header,
        Header::Absent => return Verdict::Row,
        Header::Detect => {}
    }
    let could_be_a_name =
        |text: &[u8]| !is_missing(text) && whole(text) == Number::None && std::str::from_utf8(text).is_ok();
    if !first.texts().all(|text| could_be_a_name(&text)) {
        return Verdict::Row;
    }
    let names: Vec<String> = first.texts().map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
    let known = |name: &String| is_label_name(name) || options.mentioned().any(|meant| meant == name);
    if names.iter().any(known) && first_repeated(&names).is_none() {
        Verdict::Header
    } else {
        Verdict::Undecided
    }
}

fn choose(names: &[String], options: &TableOptions, labelling: &Labelling, columns: &str) -> Result<Choice> {
    let find = |meant: &String| {
        find_column(names, meant)
            .ok_or_else(|| Error::input(format!("there is no column {meant:?}; {columns}")))
    };
    let mut dropped = vec![false; names.len()];
    for meant in &options.drop {
        dropped[find(meant)?] = true;
    }
    let mut text = vec![false; names.len()];
    for meant in &options.text {
        text[find(meant)?] = true;
    }
    let row_weights = options.row_weights.as_ref().map(find).transpose()?;
    let asked = options.label.as_ref().map(find).transpose()?;
    let twice =
        |j: usize, what: &str| Error::usage(format!("column {:?} cannot be {what} at once", names[j]));
    match (asked, row_weights) {
        (Some(j), _) if dropped[j] => return Err(twice(j, "the label and dropped")),
        (_, Some(j)) if dropped[j] => return Err(twice(j, "the row weights and dropped")),
        (Some(j), Some(k)) if j == k => return Err(twice(j, "the label and the row weights")),
        (Some(j), _) | (_, Some(j)) if text[j] => return Err(twice(j, "a text and something else")),
        _ => {}
    }
    if let Some(j) = (0..names.len()).find(|&j| text[j] && dropped[j]) {
        return Err(twice(j, "a text and dropped"));
    }
    let label = match asked {
        Some(j) => Some(j),
        None => {
            label_by_name(names, |j| dropped[j] || text[j] || row_weights == Some(j), labelling, columns)?
        }
    };
    Ok(Choice { label, row_weights, dropped, text })
}

fn label_by_name(
    names: &[String],
    taken: impl Fn(usize) -> bool,
    labelling: &Labelling,
    columns: &str,
) -> Result<Option<usize>> {
    let found: Vec<usize> = (0..names.len()).filter(|&j| is_label_name(&names[j]) && !taken(j)).collect();
    match found[..] {
        [j] => Ok(Some(j)),
        [] if matches!(labelling, Labelling::Ignored) => Ok(None),
        [] => {
            Err(Error::input(format!("which column is the label? {columns}"))
                .hint("say which: `label = COLUMN`"))
        }
        [j, k, ..] => {
            let what = format!("both {:?} and {:?} could be the label; {columns}", names[j], names[k]);
            Err(Error::input(what).hint("say which: `label = COLUMN`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;

    const STRICT: Setup = Setup { threads: 1, skip_bad_rows: false };

    fn found(text: &str, options: &TableOptions) -> Result<Inferred> {
        infer_start("t", text.as_bytes(), options, &Labelling::Open, STRICT)
    }

    fn labelled(label: &str) -> TableOptions {
        TableOptions { label: Some(label.into()), ..TableOptions::default() }
    }

    fn roles(text: &str, options: &TableOptions) -> Vec<Role> {
        let schema = found(text, options).unwrap().schema;
        assert_eq!(schema.validate(), Ok(()));
        schema.columns.into_iter().map(|column| column.role).collect()
    }

    fn numeric(feature: u32, mean: f64) -> Role {
        Role::Numeric { feature, mean, indicator: false }
    }

    fn categorical(feature: u32, categories: &[&str]) -> Role {
        let categories = categories.iter().map(|&name| name.to_owned()).collect();
        Role::Categorical { feature, categories, indicator: false }
    }

    #[test]
    fn columns_of_numbers_are_numeric_and_all_others_categories_in_order() {
        let text = "age,town,y,sex\n1,Ulm,a,m\n,Köln,a,f\n4,Ulm,b,m\n";
        let expected =
            [numeric(0, 2.5), categorical(1, &["Ulm", "Köln"]), Role::Label, categorical(3, &["m", "f"])];
        assert_eq!(roles(text, &TableOptions::default()), expected);
    }

    #[test]
    fn a_column_with_text_after_numbers_has_the_numbers_as_categories() {
        let text = "ticket,n,y\n17,1,a\ninf,2,a\nPC 9,3,b\n17,4,b\n";
        let expected = [categorical(0, &["17", "inf", "PC 9"]), numeric(3, 2.5), Role::Label];
        assert_eq!(roles(text, &TableOptions::default()), expected);
        let input = Input::Bytes { name: "t".into(), bytes: text.as_bytes().into() };
        let whole = infer(&input, &TableOptions::default(), &Labelling::Open, STRICT, &mut Unwatched);
        assert_eq!(whole, found(text, &TableOptions::default()));
    }

    #[test]
    fn a_header_is_found_where_names_stand_over_numbers_or_are_asked_for() {
        let drop =
            TableOptions { drop: vec!["u".into()], label: Some("2".into()), ..TableOptions::default() };
        let present = TableOptions { header: Header::Present, ..labelled("2") };
        let absent = TableOptions { header: Header::Absent, ..labelled("1") };
        for (text, options, header) in [
            // As in the titanic, bank, adult and haberman tables.
            ("survived,name,age\n0,\"Braund, Mr. Owen\",22\n1,\"Behr, K.\",\n", labelled("survived"), true),
            ("job,day,y\nadmin,5,no\n", TableOptions::default(), true),
            ("39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n", labelled("4"), false),
            ("30,64,1,1\n30,62,3,1\n", labelled("4"), false),
            // Names over numbers, with the label by its number.
            ("u,v\n1,x\n2,x\n", labelled("2"), true),
            // A name that is asked for decides, whatever the rows hold.
            ("u,v\na,1\n2,b\n", drop, true),
            ("u,Class\na,1\n2,b\n", TableOptions::default(), true),
            // No number anywhere: a header by custom.
            ("colour,shape\nred,round\n", labelled("2"), true),
            // Numbers here and there, but no column of them.
            ("red,x\n1,round\nblue,2\n", labelled("2"), false),
            // The same word twice, an empty one, a missing one.
            ("a,a,b\nc,d,e\n", labelled("3"), false),
            ("a,,b\nc,d,1\n", labelled("3"), false),
            ("a,?,b\nc,d,1\n", labelled("3"), false),
            ("1,2\n3,4\n", present, true),
            ("y,z\n3,4\n", absent, false),
        ] {
            assert_eq!(found(text, &options).unwrap().schema.header, header, "{text}");
        }
    }

    #[test]
    fn a_first_record_that_proves_a_row_late_has_its_categories_first() {
        let text = "red,x\n1,round\nblue,2\nred,round\n";
        assert_eq!(roles(text, &labelled("2")), [categorical(0, &["red", "1", "blue"]), Role::Label]);
    }

    #[test]
    fn the_label_is_found_by_name_or_number_and_else_asked_for() {
        for label in ["b", "2"] {
            assert_eq!(
                roles("a,b,c\n1,2,3\n", &labelled(label)),
                [numeric(0, 1.0), Role::Label, numeric(1, 3.0)]
            );
        }
        assert_eq!(roles("a,Target\n1,2\n", &TableOptions::default()), [numeric(0, 1.0), Role::Label]);
        let fails = |text: &str, options: TableOptions| found(text, &options).unwrap_err();
        let error = fails("a,b\n1,2\n", TableOptions::default());
        assert_eq!(error.to_string(), "t:1:1: which column is the label? the columns are \"a\", \"b\"");
        assert_eq!(error.advice(), Some("say which: `label = COLUMN`"));
        let error = fails("3,4\n1,2\n", TableOptions::default());
        assert_eq!(
            error.to_string(),
            "t:1:1: which column is the label? there is no header, so the columns are called 1 to 2"
        );
        assert!(
            fails("y,target\n1,2\n", TableOptions::default()).what().starts_with("both \"y\" and \"target\"")
        );
        let error = fails("a,b\n1,2\n", labelled("c"));
        assert_eq!(error.to_string(), "t:1:1: there is no column \"c\"; the columns are \"a\", \"b\"");
        let dropped = TableOptions { drop: vec!["1".into(), "z".into()], ..labelled("2") };
        assert!(fails("a,b\n1,2\n", dropped).what().starts_with("there is no column \"z\""));
        let both = TableOptions { drop: vec!["b".into()], ..labelled("2") };
        assert!(fails("a,b\n1,2\n", both).what().contains("at once"));
        let unlabelled =
            infer_start("t", b"a,b\n1,2\n", &TableOptions::default(), &Labelling::Ignored, STRICT).unwrap();
        assert_eq!(unlabelled.schema.features(), 2);
    }

    #[test]
    fn two_columns_of_one_name_are_an_error() {
        let error = found("a,\"b\n\", b,y,a\n1,2,3,4,5\n", &TableOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "t:2:8: two columns are called \"a\"");
        let present = TableOptions { header: Header::Present, ..labelled("1") };
        assert!(found("a,a\nb,c\n", &present).is_err());
    }

    #[test]
    fn bad_rows_are_errors_with_a_place_unless_they_are_skipped() {
        let lenient = Setup { skip_bad_rows: true, ..STRICT };
        for (text, place) in [
            ("a,y\n1,p\n2\n", "t:3:1: this row has 1 field, the table has 2 columns"),
            ("a,y\n1,p\n\n2,p, q\n", "t:4:6: this row has 3 fields, the table has 2 columns"),
            ("a,y\n1,p\n\"2\"x,p\n", "t:3:4: \"x\" after a closing quote"),
            ("a,y\n1,p\n2,\"p\n", "t:3:3: this quote is never closed"),
            ("a,y\n1,p\n-inf,p\n", "t:3:1: column \"a\" holds numbers, and this one is not finite"),
        ] {
            assert_eq!(found(text, &TableOptions::default()).unwrap_err().to_string(), place);
            let schema =
                infer_start("t", text.as_bytes(), &TableOptions::default(), &Labelling::Open, lenient)
                    .unwrap()
                    .schema;
            assert_eq!(schema.columns[0].role, numeric(0, 1.0), "{text}");
        }
        let error =
            infer_start("t", b"a,y\nu,p\n\xff,q\n", &TableOptions::default(), &Labelling::Open, STRICT)
                .unwrap_err();
        assert_eq!(error.to_string(), "t:3:1: this value of column \"a\" is not UTF-8");
        assert_eq!(
            found("\n \n", &TableOptions::default()).unwrap_err().to_string(),
            "t:1:1: the table is empty"
        );
    }

    #[test]
    fn only_columns_with_missing_values_get_an_indicator() {
        let options = TableOptions { missing: Missing::Indicator, ..TableOptions::default() };
        let schema = found("a,b,c,d,y\n1,,u,\n1,2,nA,v,p\n", &options);
        assert!(schema.is_err(), "the row is too short");
        let schema = found("a,b,c,d,y\n1,,u,v,p\n1,2,nA,v,p\n", &options).unwrap().schema;
        let names: Vec<String> = (0..schema.features() as u32).map(|j| schema.feature_name(j)).collect();
        assert_eq!(names, ["a", "b", "b=missing", "c=u", "c=missing", "d=v"]);
    }

    #[test]
    fn remarks_say_how_the_table_was_understood() {
        let remarks = |text: &str, options: &TableOptions| found(text, options).unwrap().remarks;
        assert_eq!(
            remarks(
                "a;b;y;w\n1;u;p;1\n",
                &TableOptions { row_weights: Some("w".into()), ..TableOptions::default() }
            ),
            [
                "delimiter \";\"",
                "header found",
                "label column: \"y\"",
                "row weights: column \"w\"",
                "1 column of numbers, 1 column of categories (1 in all)"
            ]
        );
        assert_eq!(remarks("1,2\n3,4\n", &labelled("1"))[0], "no header: columns are called 1 to 2");
    }

    #[test]
    fn too_many_categories_are_an_error_that_names_the_column() {
        let mut text = String::from("id,y\n");
        for i in 0..=MAX_CATEGORIES {
            text += &format!("x{i},0\n");
        }
        let error = found(&text, &TableOptions::default()).unwrap_err();
        assert_eq!(
            (error.place().unwrap().line, error.advice()),
            (MAX_CATEGORIES as u64 + 2, Some("is it a feature? if not: `drop = id`"))
        );
        assert!(found(&text, &TableOptions { drop: vec!["id".into()], ..TableOptions::default() }).is_ok());
    }

    #[test]
    fn the_mean_of_huge_numbers_does_not_overflow() {
        assert_eq!(roles("a,y\n1e308,p\n1.5e308,p\n", &TableOptions::default())[0], numeric(0, 1.25e308));
    }

    /// Runs where `NOVIKOFF_DATA` names the folder of the tables.
    #[test]
    fn real_tables_are_understood() {
        let Some(folder) = std::env::var_os("NOVIKOFF_DATA").map(std::path::PathBuf::from) else { return };
        for (file, label, header, features) in [
            ("adult.train.csv.xz", "15", false, 105),
            ("haberman.csv.xz", "4", false, 3),
            ("bank-full.csv.xz", "y", true, 51),
            ("titanic.csv.xz", "survived", true, 0),
            ("california_housing.csv.xz", "median_house_value", true, 13),
        ] {
            let input = Input::Path(folder.join(file));
            let options = TableOptions { missing: Missing::Zero, ..labelled(label) };
            let inferred = infer(&input, &options, &Labelling::Open, STRICT, &mut Unwatched).unwrap();
            assert_eq!(inferred.schema.header, header, "{file}");
            if features > 0 {
                assert_eq!(inferred.schema.features(), features, "{file}");
            }
        }
    }
}
