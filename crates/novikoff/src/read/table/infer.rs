//! What the columns of a table are for, inferred from one pass over all records.
//!
//! A column whose values are all numbers keeps a sum, any other the categories that are no numbers, so memory
//! grows with the categories and not with the file. A column of words among which there are numbers needs
//! those as categories, too: then a second pass follows.

use super::choose::{Choice, Use, choose};
use super::column::{Complaint, MAX_CATEGORIES, Meaning, Oddity, Spot, Statistics, Wish, starts_as_in_r};
use super::header::{Comparison, Verdict, verdict_at_once};
use super::left_out::{Reason, empty_columns, warnings};
use super::{FirstRecord, Header, TableOptions, find_column, listed, numbers, wrong_width};
use crate::control::{Flow, Observer, Progress};
use crate::error::{Error, Result};
use crate::features::table::{Column, Role, TableSchema};
use crate::read::parsed_rows::{CONVERT, Labelling};
use crate::read::parts::{OtherHeaders, TableHeader};
use crate::read::pipeline::Setup;
use crate::read::records::{Fault, Field, Records, newlines};
use crate::read::source::{Again, Blocks, Cut, Origin, Source};
use std::borrow::Cow;
use std::sync::atomic::Ordering;

/// The remark that the first record names the columns.
pub(crate) const HEADER_FOUND: &str = "header found";

/// How a table was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inferred {
    /// Its columns.
    pub schema: TableSchema,
    /// What to tell the user about it.
    pub remarks: Vec<String>,
    /// What to warn the user of: columns that are left out.
    pub warnings: Vec<String>,
    /// The label's column, if it was found by its name alone.
    pub guessed_label: Option<String>,
}

/// Decides what the columns of a whole table are for. The input is opened once or twice.
///
/// Bad rows are errors, unless they are skipped; but a row whose fault only the finished schema can tell (a
/// number that is not finite, a missing value) has by then had its say about the other columns.
pub(crate) fn infer(
    input: &Again<'_>,
    options: &TableOptions,
    labelling: &Labelling,
    setup: Setup,
    observer: &mut dyn Observer,
) -> Result<Inferred> {
    let mut mixed = Vec::new();
    let mut options = Cow::Borrowed(options);
    loop {
        let source = input.open()?;
        let origin = source.origin();
        let pass = infer_once(source, &options, labelling, setup, mixed, observer);
        match pass.map_err(|error| origin.place_in_part(error))? {
            Finished::Whole(inferred) => return Ok(inferred),
            Finished::Again(columns) => mixed = columns,
            Finished::As(header) => (options.to_mut().header, mixed) = (header, Vec::new()),
        }
    }
}

/// One pass over all records.
fn infer_once(
    mut source: Source,
    options: &TableOptions,
    labelling: &Labelling,
    setup: Setup,
    mixed: Vec<bool>,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    let delimiter = options.delimiter_for(source.peek()?)?;
    let mut inference = Inference::new(source.origin(), options, labelling, setup, delimiter, mixed);
    let (taken, total) = (source.taken(), source.total());
    let mut blocks = Blocks::new(source, Cut::Record { delimiter });
    let mut block = Vec::new();
    loop {
        let more = blocks.next_into(&mut block);
        let line = inference.lines + 1;
        if !more.map_err(|error| inference.origin.place_end(error, line, &block))? {
            return inference.finish();
        }
        inference.block(&block)?;
        let progress =
            Progress::Reading { bytes: taken.load(Ordering::Relaxed), total, rows: inference.rows };
        if observer.observe(progress) == Flow::Stop {
            return Err(Error::interrupted());
        }
    }
}

/// Decides what the columns of a stream are for, by its first records (see [`Source::look_ahead`]).
pub(crate) fn infer_start(
    origin: &Origin,
    start: &[u8],
    options: &TableOptions,
    labelling: &Labelling,
    setup: Setup,
) -> Result<Inferred> {
    let delimiter = options.delimiter_for(start)?;
    let mut mixed = Vec::new();
    let mut options = Cow::Borrowed(options);
    loop {
        let mut inference = Inference::new(origin.clone(), &options, labelling, setup, delimiter, mixed);
        inference.block(start)?;
        match inference.finish()? {
            Finished::Whole(inferred) => return Ok(inferred),
            Finished::Again(columns) => mixed = columns,
            Finished::As(header) => (options.to_mut().header, mixed) = (header, Vec::new()),
        }
    }
}

/// Means that nothing uses would tell where a stream was cut: of one part they are others than of two.
pub(crate) fn without_unused_means(mut inferred: Inferred) -> Inferred {
    let is_unused = !inferred.schema.missing.fills_in_means();
    for column in inferred.schema.columns.iter_mut().filter(|_| is_unused) {
        if let Role::Numeric { mean, .. } = &mut column.role {
            *mean = None;
        }
    }
    inferred
}

/// The header that later parts of a table may repeat, if the first part, which starts like this, may have
/// one.
pub(crate) fn repeatable_header(
    file: &str,
    start: &[u8],
    options: &TableOptions,
    delimiter: u8,
) -> Option<TableHeader> {
    let first = FirstRecord::find(start, delimiter)?;
    let others = match verdict_at_once(&first, options) {
        Verdict::Header => OtherHeaders::Refused,
        Verdict::Undecided => OtherHeaders::AreRows,
        Verdict::Row => return None,
    };
    let names = first.texts().map(Cow::into_owned).collect();
    Some(TableHeader { file: file.to_owned(), delimiter, names, others })
}

enum Finished {
    Whole(Inferred),
    /// These columns hold words and numbers: look again, and keep their numbers as categories.
    Again(Vec<bool>),
    /// The first record is not what it seemed to be: look again, and take it for this.
    As(Header),
}

struct Inference<'a> {
    origin: Origin,
    options: &'a TableOptions,
    labelling: &'a Labelling,
    setup: Setup,
    delimiter: u8,
    /// Columns that hold, by an earlier pass, words and numbers.
    mixed: Vec<bool>,
    first: Option<(FirstRecord, Verdict)>,
    /// The first record beside the others, as long as those may show what it is.
    comparison: Option<Comparison>,
    columns: Vec<Statistics>,
    /// Lines before the block under way.
    lines: u64,
    rows: u64,
}

impl<'a> Inference<'a> {
    fn new(
        origin: Origin,
        options: &'a TableOptions,
        labelling: &'a Labelling,
        setup: Setup,
        delimiter: u8,
        mixed: Vec<bool>,
    ) -> Self {
        Self {
            origin,
            options,
            labelling,
            setup,
            delimiter,
            mixed,
            first: None,
            comparison: None,
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
                    let fault = wrong_width(&fields, self.columns.len());
                    let hint = self.first_line_hint(fields.len()).or(fault.hint);
                    self.bad_row(Fault { hint, ..fault }, &mut records)?;
                }
                Ok(()) => self.row(block, &mut records, &fields)?,
            }
        }
        self.lines += newlines(block);
        Ok(())
    }

    /// What is wrong with the first record, if the first row has another number of fields.
    fn first_line_hint(&self, fields: usize) -> Option<String> {
        let (first, verdict) = self.first.as_ref().filter(|_| self.rows == 0)?;
        let text = first.texts().next()?;
        let may_be_names = *verdict != Verdict::Row;
        match () {
            _ if text.starts_with(b"sep=") => Some("line 1 tells a spreadsheet the delimiter: delete it".into()),
            _ if text.starts_with(b"#") || text.starts_with(b"%") => {
                Some("line 1 looks like a comment, which tables do not have: delete it".into())
            }
            _ if may_be_names && first.width() > 1 && fields == first.width() + 1 => Some(
                "the header is one name short, as R writes it: name the column of the rows' names, or write the \
                 table by write.csv(…, row.names = FALSE)"
                    .into(),
            ),
            _ => None,
        }
    }

    fn bad_row(&self, fault: Fault, records: &mut Records<'_>) -> Result<()> {
        if self.setup.skip_bad_rows {
            return Ok(());
        }
        let (line, column) = self.spot(records, fault.at);
        let error = Error::input(fault.what).at(self.origin.name(), line, column);
        Err(if let Some(hint) = fault.hint { error.hint(hint) } else { error })
    }

    fn spot(&self, records: &mut Records<'_>, at: usize) -> Spot {
        let (line, column) = records.locate(at);
        (self.lines + line + 1, column as u64)
    }

    fn row(&mut self, block: &[u8], records: &mut Records<'_>, fields: &[Field]) -> Result<()> {
        self.rows += 1;
        for (j, field) in fields.iter().enumerate() {
            let text = field.text(block);
            if let Some(comparison) = &mut self.comparison {
                comparison.value(j, &text);
            }
            if let Some(oddity) = self.columns[j].value(&text) {
                self.odd_value(j, oddity, self.spot(records, field.at), &text)?;
            }
        }
        Ok(())
    }

    /// What an odd value means depends on what the rest of the column holds: its place is kept in mind.
    #[cold]
    fn odd_value(&mut self, j: usize, oddity: Oddity, spot: Spot, text: &[u8]) -> Result<()> {
        if oddity != Oddity::TooManyCategories {
            let origin = &self.origin;
            self.columns[j].place(oddity, spot, || origin.line_in_words(spot.0), text);
            return Ok(());
        }
        let name = self.names(self.first_verdict())?.swap_remove(j);
        let what = format!("column {name:?} has more than {MAX_CATEGORIES} different values");
        let hint = format!("is it a feature? if not: `drop = {name}`");
        Err(Error::input(what).at(self.origin.name(), spot.0, spot.1).hint(hint))
    }

    fn first_record(&mut self, block: &[u8], records: &mut Records<'_>, fields: &[Field]) -> Result<()> {
        let first = FirstRecord::keep(block, records, fields, self.lines);
        self.refuse_another_encoding(&first)?;
        let (width, verdict) = (first.width(), verdict_at_once(&first, self.options));
        let texts: Vec<String> =
            first.texts().map(|text| String::from_utf8_lossy(&text).into_owned()).collect();
        self.comparison = Comparison::of(&first, self.options, verdict);
        self.first = Some((first, verdict));
        let wishes: Vec<Wish> = match verdict {
            Verdict::Undecided => (0..width).map(|j| self.wish_by_number(j, width)).collect(),
            _ => {
                let choice = self.choose(&self.names(verdict)?, verdict)?;
                (0..width).map(|j| choice.wish(j)).collect()
            }
        };
        let is_mixed = |j: usize| self.mixed.get(j).copied().unwrap_or(false);
        // What could be the column's name; of a row it is a value, which is no name that counts for anything.
        let name = |j: usize| if verdict == Verdict::Row { "" } else { texts[j].as_str() };
        let columns = wishes.into_iter().enumerate();
        self.columns = columns.map(|(j, wish)| Statistics::new(wish, is_mixed(j), name(j))).collect();
        if verdict == Verdict::Row { self.row(block, records, fields) } else { Ok(()) }
    }

    /// Names in another encoding would be no names.
    fn refuse_another_encoding(&self, first: &FirstRecord) -> Result<()> {
        let wrong = first.texts().position(|text| std::str::from_utf8(&text).is_err());
        match wrong.filter(|_| !self.setup.skip_bad_rows) {
            Some(j) => {
                let (line, column) = first.spot(j);
                Err(Error::input("this text is not UTF-8").at(self.origin.name(), line, column).hint(CONVERT))
            }
            None => Ok(()),
        }
    }

    /// What is to be made of a column while the first record may be a header. None of the names that the user
    /// mentions is in it, so that numbers tell the same columns in any case.
    fn wish_by_number(&self, j: usize, width: usize) -> Wish {
        let TableOptions { label, drop, row_weights, text, categories, numbers: as_numbers, .. } =
            self.options;
        let is_meant = |meant: &String| find_column(&numbers(width), meant) == Some(j);
        match () {
            _ if label.iter().chain(row_weights).chain(drop).chain(text).any(is_meant) => Wish::Ignored,
            _ if categories.iter().any(is_meant) => Wish::Categories,
            _ if as_numbers.iter().any(is_meant) => Wish::Numbers,
            _ => Wish::Inferred,
        }
    }

    fn first_verdict(&self) -> Verdict {
        self.first.as_ref().map_or(Verdict::Row, |(_, verdict)| *verdict)
    }

    /// What the columns are called.
    fn names(&self, verdict: Verdict) -> Result<Vec<String>> {
        match &self.first {
            Some((first, _)) if verdict == Verdict::Header => first.names(self.origin.name()),
            Some((first, _)) => Ok(numbers(first.width())),
            None => Ok(Vec::new()),
        }
    }

    fn choose(&self, names: &[String], verdict: Verdict) -> Result<Choice> {
        let columns = match verdict {
            Verdict::Header => format!("the columns are {}", listed(names)),
            _ => format!("there is no header, so the columns are called 1 to {}", names.len()),
        };
        choose(names, self.options, self.labelling, &columns).map_err(|error| {
            let error = error.at(self.origin.name(), 1, 1);
            match self.other_delimiter(names.len()) {
                Some(hint) => error.hint(hint),
                None => error,
            }
        })
    }

    /// What else may separate the fields, where the first line is a single one.
    fn other_delimiter(&self, columns: usize) -> Option<String> {
        let (first, _) = self.first.as_ref().filter(|_| columns == 1)?;
        let text = first.texts().next()?;
        let found = [b',', b';', b'|', b':'].into_iter().find(|c| *c != self.delimiter && text.contains(c));
        if text.contains(&b'\t') && self.delimiter != b'\t' {
            return Some("there is one column alone: are fields separated by tabs? `format = tsv`".into());
        }
        if found.is_none() && text.contains(&b' ') {
            let hint = "there is one column alone: spaces do not separate fields; `tr -s ' ' ','` makes commas of them";
            return Some(hint.into());
        }
        let found = char::from(found?);
        Some(format!("there is one column alone: does {found:?} separate fields? `delimiter = {found}`"))
    }

    /// What the first record is, once all others have been read.
    fn verdict(&self) -> Result<Verdict> {
        let (Some((first, early)), Some(comparison)) = (&self.first, &self.comparison) else {
            return Ok(self.first_verdict());
        };
        let place = |error: Error| error.at(self.origin.name(), first.line, 1);
        comparison.verdict(*early, &self.columns, self.rows).map_err(place)
    }

    fn finish(mut self) -> Result<Finished> {
        let verdict = self.verdict()?;
        let Some((first, early)) = &self.first else {
            return Err(Error::input("the table is empty").at(self.origin.name(), 1, 1));
        };
        let is_numbered = self.comparison.as_ref().is_some_and(Comparison::is_numbered);
        match (*early, verdict) {
            (Verdict::Header, Verdict::Row) => return Ok(Finished::As(Header::Absent)),
            (Verdict::Undecided, Verdict::Row) if is_numbered => return Ok(Finished::As(Header::Absent)),
            (Verdict::Undecided, _) if is_numbered => return Ok(Finished::As(Header::Present)),
            _ => {}
        }
        if (*early, verdict) == (Verdict::Undecided, Verdict::Row) {
            for (j, (column, text)) in self.columns.iter_mut().zip(first.texts()).enumerate() {
                let (spot, line) = (first.spot(j), self.origin.line_in_words(first.line));
                column.first_text(&String::from_utf8_lossy(&text), spot, line);
            }
        }
        let names = self.names(verdict)?;
        let choice = self.choose(&names, verdict)?;
        self.check_label(&names, &choice)?;
        let Some(meanings) = self.meanings(&names, &choice, verdict)? else {
            let mixed = self.columns.iter().zip(0..);
            let was_mixed = |j: usize| self.mixed.get(j).copied().unwrap_or(false);
            return Ok(Finished::Again(
                mixed.map(|(column, j)| was_mixed(j) || column.lacks_numbers()).collect(),
            ));
        };
        let remarks = self.remarks(&names, &choice, verdict, &meanings);
        let mut warnings = warnings(&names, &meanings);
        if let Some(j) = choice.label.filter(|&j| self.columns[j].are_dates()) {
            let what = "are dates, and are taken for what they are spelled as: classes, or numbers";
            warnings.insert(0, format!("the labels, column {:?}, {what}", names[j]));
        }
        let guessed_label = choice.label.filter(|_| choice.is_label_guessed).map(|j| names[j].clone());
        let columns = self.roles(names, &choice, &meanings)?;
        let (delimiter, missing) = (self.delimiter, self.options.missing);
        let schema = TableSchema {
            delimiter,
            header: verdict == Verdict::Header,
            missing,
            columns,
            interactions: Vec::new(),
        };
        Ok(Finished::Whole(Inferred { schema, remarks, warnings, guessed_label }))
    }

    fn check_label(&self, names: &[String], choice: &Choice) -> Result<()> {
        let Some(j) = choice.label else { return Ok(()) };
        self.columns[j].refuse_label(&names[j]).map_err(|complaint| self.complain(complaint))
    }

    fn complain(&self, Complaint { at, what, hint }: Complaint) -> Error {
        let (line, column) = at.unwrap_or((1, 1));
        Error::input(what).at(self.origin.name(), line, column).hint(hint)
    }

    /// What each column is that has no other use; `None` if the table has to be read once more for that.
    fn meanings(
        &self,
        names: &[String],
        choice: &Choice,
        verdict: Verdict,
    ) -> Result<Option<Vec<Option<Meaning>>>> {
        let (mut meanings, mut complaints, mut is_known) = (Vec::new(), Vec::new(), true);
        for (j, name) in names.iter().enumerate() {
            let meaning = match choice.wish(j) {
                Wish::Ignored => Ok(None),
                Wish::Inferred if j == 0 && verdict == Verdict::Header && self.is_unnamed(0) => {
                    Ok(Some(Meaning::LeftOut(Reason::Unnamed)))
                }
                Wish::Inferred if j == 0 && starts_as_in_r(names) && self.columns[0].counts_rows() => {
                    Ok(Some(Meaning::LeftOut(Reason::RowNumbers)))
                }
                _ => self.columns[j].meaning(name, self.setup.skip_bad_rows),
            };
            is_known &= meaning != Ok(None) || choice.wish(j) == Wish::Ignored;
            match meaning {
                Ok(meaning) => meanings.push(meaning),
                Err(complaint) => complaints.push(complaint),
            }
        }
        match complaints.into_iter().min_by_key(|complaint| complaint.at) {
            Some(first) => Err(self.complain(first)),
            None if is_known => self.leave_something(names, choice, meanings).map(Some),
            None => Ok(None),
        }
    }

    fn is_unnamed(&self, j: usize) -> bool {
        self.first.as_ref().is_some_and(|(first, _)| first.is_empty(j))
    }

    /// Numbers that rise by one with every row are left out beside other features; alone, they are one. If
    /// nothing is left at all, that is an error.
    fn leave_something(
        &self,
        names: &[String],
        choice: &Choice,
        mut meanings: Vec<Option<Meaning>>,
    ) -> Result<Vec<Option<Meaning>>> {
        let is_feature = |meaning: &Option<Meaning>| {
            matches!(meaning, Some(Meaning::Numbers | Meaning::Categories | Meaning::Text))
        };
        if meanings.iter().any(is_feature) || choice.uses.contains(&Use::Text) {
            return Ok(meanings);
        }
        for meaning in &mut meanings {
            if *meaning == Some(Meaning::LeftOut(Reason::RowNumbers)) {
                *meaning = Some(Meaning::Numbers);
            }
        }
        match warnings(names, &meanings).first() {
            Some(why) if !meanings.iter().any(is_feature) => {
                let error = Error::input("no column is left to learn from").at(self.origin.name(), 1, 1);
                Err(error.hint(why))
            }
            _ => Ok(meanings),
        }
    }

    fn roles(
        &mut self,
        names: Vec<String>,
        choice: &Choice,
        meanings: &[Option<Meaning>],
    ) -> Result<Vec<Column>> {
        let mut features = 0u64;
        let mut columns = Vec::with_capacity(names.len());
        for (j, name) in names.into_iter().enumerate() {
            let role = match &meanings[j] {
                _ if choice.label == Some(j) => Role::Label,
                _ if choice.row_weights == Some(j) => Role::RowWeight,
                _ if choice.uses[j] == Use::Text => Role::Text,
                Some(Meaning::Text) => Role::Text,
                Some(meaning @ (Meaning::Numbers | Meaning::Categories)) => {
                    self.feature_role(j, &name, meaning, &mut features)?
                }
                Some(Meaning::LeftOut(_)) | None => Role::Dropped,
            };
            columns.push(Column { name, role });
        }
        Ok(columns)
    }

    fn feature_role(&mut self, j: usize, name: &str, meaning: &Meaning, features: &mut u64) -> Result<Role> {
        let fail = |spot: Option<Spot>, what: String| match spot {
            Some((line, column)) if !self.setup.skip_bad_rows => {
                Err(Error::input(what).at(self.origin.name(), line, column))
            }
            _ => Ok(()),
        };
        let column = &mut self.columns[j];
        let indicator = self.options.missing.has_indicators() && column.missing > 0;
        let too_many = || Error::input("the table makes too many features").at(self.origin.name(), 1, 1);
        let feature = u32::try_from(*features).map_err(|_| too_many())?;
        *features += u64::from(indicator);
        if *meaning == Meaning::Numbers {
            let what =
                format!("column {name:?} holds numbers, and this one is infinite, or larger than 1.8e308");
            fail(column.first_not_finite(), what).map_err(skippable)?;
            *features += 1;
            return Ok(Role::Numeric { feature, mean: Some(column.mean()), indicator });
        }
        fail(column.not_utf8(), format!("this value of column {name:?} is not UTF-8"))
            .map_err(|e| e.hint(CONVERT))?;
        let categories = column.take_categories().names().to_vec();
        *features += categories.len() as u64;
        if *features > u64::from(u32::MAX) {
            Err(too_many())
        } else {
            Ok(Role::Categorical { feature, categories, indicator })
        }
    }

    fn remarks(
        &self,
        names: &[String],
        choice: &Choice,
        verdict: Verdict,
        meanings: &[Option<Meaning>],
    ) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.options.delimiter.is_none() && self.delimiter != b',' {
            remarks.push(format!("delimiter {:?}", char::from(self.delimiter).to_string()));
        }
        remarks.push(match verdict {
            Verdict::Header => HEADER_FOUND.to_owned(),
            _ => format!("no header: columns are called 1 to {}", names.len()),
        });
        let asked_label = choice.label.filter(|_| !choice.is_label_guessed);
        remarks.extend(asked_label.map(|j| format!("label column: {:?}", names[j])));
        remarks.extend(choice.row_weights.map(|j| format!("row weights: column {:?}", names[j])));
        let is_text = |j: usize| choice.uses[j] == Use::Text || meanings[j] == Some(Meaning::Text);
        let documents: Vec<&str> = (0..names.len()).filter(|&j| is_text(j)).map(|j| &*names[j]).collect();
        if !documents.is_empty() {
            remarks.push(format!("documents: {}", listed(&documents)));
        }
        remarks.extend(empty_columns(names, meanings));
        remarks.extend(self.sizes(meanings));
        remarks
    }

    /// How many columns there are of numbers and of categories.
    fn sizes(&self, meanings: &[Option<Meaning>]) -> Option<String> {
        let of = |wanted: Meaning| {
            let columns = self.columns.iter().zip(meanings);
            columns.filter(move |(_, meaning)| meaning.as_ref() == Some(&wanted)).map(|(column, _)| column)
        };
        let (numeric, words) = (of(Meaning::Numbers).count(), of(Meaning::Categories).count());
        let categories: usize = of(Meaning::Categories).map(|column| column.categories().len()).sum();
        let words = (words > 0).then(|| format!("{} of categories ({categories} in all)", plural(words)));
        let numbers = (numeric > 0).then(|| format!("{} of numbers", plural(numeric)));
        let known: Vec<String> = numbers.into_iter().chain(words).collect();
        (!known.is_empty()).then(|| known.join(", "))
    }
}

fn plural(columns: usize) -> String {
    if columns == 1 { "1 column".into() } else { format!("{columns} columns") }
}

fn skippable(error: Error) -> Error {
    error.hint("`skip_bad_rows` leaves such rows out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;
    use crate::features::Missing;
    use crate::read::source::Input;

    const STRICT: Setup = Setup { threads: 1, skip_bad_rows: false };

    fn found(text: &str, options: &TableOptions) -> Result<Inferred> {
        infer_start(&Origin::named("t"), text.as_bytes(), options, &Labelling::Open, STRICT)
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
        Role::Numeric { feature, mean: Some(mean), indicator: false }
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

    /// What a warning or an error says, without the table's name.
    fn warnings_of(text: &str) -> Vec<String> {
        found(text, &TableOptions::default()).unwrap().warnings
    }

    /// A table of so many rows: a number without meaning, a column of these values, a label.
    fn table_of(name: &str, rows: usize, value: impl Fn(usize) -> String) -> String {
        let row = |i: usize| format!("{},{},{}\n", (7 * i) % 10, value(i), ["p", "q"][i % 2]);
        format!("n,{name},label\n{}", (0..rows).map(row).collect::<String>())
    }

    /// What becomes of such a column.
    fn role_of(name: &str, rows: usize, value: impl Fn(usize) -> String) -> Role {
        roles(&table_of(name, rows, value), &TableOptions::default()).swap_remove(1)
    }

    #[test]
    fn a_value_that_is_no_number_among_many_that_are_is_an_error_that_shows_it() {
        let text =
            table_of("age", 50_000, |i| if i == 49_999 { "1.2.3".into() } else { (i % 90).to_string() });
        let error = found(&text, &TableOptions::default()).unwrap_err();
        let what = "t:50001:3: 1 of 50000 values of column \"age\" is not a number: \"1.2.3\" (line 50001)";
        assert_eq!(error.to_string(), what);
        let hint = "correct them, or leave out such rows by `skip_bad_rows`, or the column by `drop = age`; \
                    if its values are categories, say so: `categories = age`";
        assert_eq!(error.advice(), Some(hint));
        let text = table_of("age", 40, |i| if i % 5 == 4 { format!("v{i}") } else { i.to_string() });
        let error = found(&text, &TableOptions::default()).unwrap_err();
        let list = "\"v4\" (line 6), \"v9\" (line 11), \"v14\" (line 16), …";
        assert_eq!(
            error.to_string(),
            format!("t:6:3: 8 of 40 values of column \"age\" are not numbers: {list}")
        );
        let lenient = Setup { skip_bad_rows: true, ..STRICT };
        let skipped = infer_start(
            &Origin::named("t"),
            text.as_bytes(),
            &TableOptions::default(),
            &Labelling::Open,
            lenient,
        );
        assert!(matches!(skipped.unwrap().schema.columns[1].role, Role::Numeric { .. }));
        let asked = TableOptions { categories: vec!["age".into()], ..TableOptions::default() };
        let Role::Categorical { categories, .. } = &roles(&text, &asked)[1] else { panic!() };
        assert_eq!(categories.len(), 40);
    }

    #[test]
    fn the_first_of_several_faults_in_the_file_is_the_one_reported() {
        let error = found("a,b,label\n1,2,p\n3,4,p\n5,x,q\ny,6,q\n", &TableOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "t:4:3: 1 of 4 values of column \"b\" is not a number: \"x\" (line 4)");
    }

    #[test]
    fn spellings_of_no_value_are_missing_and_categories_that_are_asked_for_are_not() {
        for missing in ["", "NA", "na", "N/A", "NaN", "NULL", "null", "None", "?", "-", "."] {
            let text = table_of("size", 8, |i| if i == 3 { missing.into() } else { i.to_string() });
            let options = TableOptions { missing: Missing::Indicator, ..TableOptions::default() };
            assert!(matches!(roles(&text, &options)[1], Role::Numeric { indicator: true, .. }), "{missing}");
        }
        let strand = |options: &TableOptions| roles("strand,y\n+,p\n-,q\n", options).swap_remove(0);
        assert_eq!(strand(&TableOptions::default()), categorical(0, &["+"]));
        let asked = TableOptions { categories: vec!["strand".into()], ..TableOptions::default() };
        assert_eq!(strand(&asked), categorical(0, &["+", "-"]));
        assert_eq!(roles("strand,y\n+,p\nNA,q\n", &asked)[0], categorical(0, &["+"]));
    }

    #[test]
    fn prose_becomes_documents_and_names_do_not() {
        let sentence = |i: usize| format!("this is \"\"letter\"\" number {i} of many");
        assert_eq!(role_of("body", 3, |i| format!("\"{}\"", sentence(i))), Role::Text);
        assert_eq!(role_of("text", 4, |i| format!("money {}", ["now", "later"][i % 2])), Role::Text);
        assert!(matches!(role_of("answer", 40, |i| sentence(i % 4)), Role::Categorical { .. }));
        assert_eq!(role_of("name", 40, |i| format!("\"Smith, Mr. John {i}\"")), Role::Dropped);
        let text = table_of("body", 5, sentence);
        assert!(
            found(&text, &TableOptions::default()).unwrap().remarks.contains(&"documents: \"body\"".into())
        );
        let asked = TableOptions { categories: vec!["body".into()], ..TableOptions::default() };
        assert!(matches!(roles(&text, &asked)[1], Role::Categorical { .. }));
    }

    #[test]
    fn what_tells_rows_apart_is_left_out_and_said() {
        let unique = |i: usize| format!("{:08x}-{}", i * 7919, i);
        assert_eq!(
            warnings_of(&table_of("customer", 30, unique)),
            [
                "left out \"customer\" (30 different in 30 values): a category with a row or two says nothing of \
              other rows; `categories = customer` or `text = customer` keeps it"
            ]
        );
        assert_eq!(
            warnings_of(&table_of("when", 30, |i| format!("2024-01-{:02}", 1 + i % 7))),
            ["left out \"when\": dates; `categories = when` keeps it"]
        );
        let identifier = "a name that tells rows apart, and mostly different values";
        assert_eq!(
            warnings_of(&table_of("PassengerId", 5, |i| (1000 - 3 * i).to_string())),
            [format!(
                "left out \"PassengerId\": {identifier}; `categories = PassengerId` or `numbers = PassengerId` keeps it"
            )]
        );
        assert_eq!(
            warnings_of(&table_of("order", 30, |i| (i + 5).to_string())),
            [
                "left out \"order\": one more with every row, as numbers of rows are; `numbers = order` keeps it"
            ]
        );
        let keep = |text: &str| TableOptions { numbers: vec![text.into()], ..TableOptions::default() };
        let kept = roles(&table_of("id", 30, |i| i.to_string()), &keep("id"));
        assert!(matches!(kept[1], Role::Numeric { .. }));
    }

    #[test]
    fn numbers_are_numbers_unless_they_are_those_of_rows() {
        for (name, value) in [
            ("year", &(|i: usize| (1990 + i).to_string()) as &dyn Fn(usize) -> String),
            ("price", &|i| (i * i).to_string()),
            ("order", &|i| (i + usize::from(i > 20)).to_string()),
            ("store_id", &|i| (i % 4).to_string()),
            ("index", &|i| format!("{i}.5")),
            ("zip", &|i| (10_000 + 37 * i).to_string()),
        ] {
            assert!(matches!(role_of(name, 30, value), Role::Numeric { .. }), "{name}");
        }
        let alone: String = (0..30).map(|i| format!("{i},{}\n", ["p", "q"][i % 2])).collect();
        assert!(matches!(
            roles(&format!("u,label\n{alone}"), &TableOptions::default())[0],
            Role::Numeric { .. }
        ));
        let error = found(&format!("id,label\n{alone}"), &TableOptions::default()).unwrap_err();
        assert_eq!(error.what(), "no column is left to learn from");
    }

    #[test]
    fn the_numbers_of_rows_that_r_writes_are_left_out_and_coordinates_are_not() {
        let of_r = |first: &str, second: &str, from: usize| {
            let row = |i: usize| format!("{},{},{}\n", i + from, (7 * i) % 10, ["p", "q"][i % 2]);
            format!("{first},{second},label\n{}", (0..30).map(row).collect::<String>())
        };
        let left_out = |text: String| {
            warnings_of(&text)
                == ["left out \"X\": one more with every row, as numbers of rows are; `numbers = X` keeps it"]
        };
        assert!(left_out(of_r("X", "mpg", 1)));
        assert!(
            !left_out(of_r("X", "Z", 1)) && !left_out(of_r("X", "z", 1)) && !left_out(of_r("X", "mpg", 0))
        );
        assert!(warnings_of(&of_r("x", "mpg", 1)).is_empty());
    }

    #[test]
    fn days_without_separators_are_dates() {
        let day = |i: usize| format!("2024{:02}{:02}", 1 + i % 12, 1 + i % 28);
        let warned =
            "left out \"start\": dates, as 20240131; `categories = start` or `numbers = start` keeps it";
        assert_eq!(warnings_of(&table_of("start", 30, day)), [warned]);
        assert_eq!(warnings_of(&table_of("created_at", 2, day)).len(), 1);
        assert!(warnings_of(&table_of("start", 30, |i| format!("2024{:04}", 37 * i))).is_empty());
        let labels = table_of("start", 30, day);
        let warnings = found(&labels, &labelled("start")).unwrap().warnings;
        assert!(warnings[0].starts_with("the labels, column \"start\", are dates"), "{warnings:?}");
        let spelled = table_of("start", 30, |i| format!("2024-01-{:02}", 1 + i % 28));
        assert_eq!(found(&spelled, &labelled("start")).unwrap().warnings.len(), 1);
    }

    #[test]
    fn numbers_too_large_for_the_next_one_do_not_rise() {
        for value in ["9007199254740993", "1e300", "-1e17"] {
            let role = role_of("amount", 30, |_| value.into());
            assert!(matches!(role, Role::Numeric { .. }), "{value}");
        }
    }

    #[test]
    fn numbers_with_commas_are_refused_with_a_hint_also_as_labels() {
        let options = TableOptions { delimiter: Some(b';'), ..labelled("b") };
        for text in ["a;b\n3,14;p\n2,5;q\n", "b;a\np;1\nq;\"1,234\"\np;$5\n"] {
            let error = found(text, &options).unwrap_err();
            assert!(
                error.what().starts_with("column \"a\" holds numbers that cannot be read as such"),
                "{error}"
            );
            assert!(error.advice().unwrap().starts_with("write 3.14 for 3,14"));
        }
        let error = found("a;b\n1;3,14\n2;2\n", &options).unwrap_err();
        let what = "t:2:3: column \"b\" holds numbers that cannot be read as such: \"3,14\" (line 2)";
        assert_eq!(error.to_string(), what);
    }

    #[test]
    fn columns_without_a_name_or_a_value_are_left_out() {
        let of_pandas = found(",a,b,label\n0,1,u,p\n1,2,v,q\n", &TableOptions::default()).unwrap();
        assert!(of_pandas.schema.header);
        assert_eq!(of_pandas.schema.columns[0], Column { name: "1".into(), role: Role::Dropped });
        assert!(of_pandas.remarks.contains(&"left out: column 1, which has no name".into()));
        assert_eq!(of_pandas.warnings, [""; 0]);
        let trailing = found("a,b,label,\n1,u,p,\n2,v,q,\n", &TableOptions::default()).unwrap();
        assert_eq!(trailing.schema.columns[3], Column { name: "4".into(), role: Role::Dropped });
        assert!(trailing.remarks.contains(&"left out: column \"4\", which has no value".into()));
        let both = found(",a,label,\n0,1,p,\n", &TableOptions::default()).unwrap();
        assert_eq!((both.schema.header, both.schema.columns.len()), (true, 4));
        let without_header = found("1,u,p,\n2,v,q,\n", &labelled("3")).unwrap();
        assert_eq!(without_header.schema.columns[3].role, Role::Dropped);
        let numbered =
            found(",1,label\n0,5,p\n", &TableOptions { header: Header::Present, ..labelled("label") });
        assert_eq!(numbered.unwrap().schema.columns[0].name, "column 1");
    }

    #[test]
    fn a_column_with_text_after_numbers_has_the_numbers_as_categories() {
        let text = "ticket,n,y\n17,1,a\ninf,2,a\nPC 9,3,b\n17,4,b\n";
        let expected = [categorical(0, &["17", "inf", "PC 9"]), numeric(3, 2.5), Role::Label];
        assert_eq!(roles(text, &TableOptions::default()), expected);
        let input = Input::Bytes { name: "t".into(), bytes: text.as_bytes().into() };
        let whole =
            infer(&Again::of(&input), &TableOptions::default(), &Labelling::Open, STRICT, &mut Unwatched);
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
            // Sodium, unless nothing says that these are names.
            ("RI,Na,type\n1.5,12.7,head\n", labelled("type"), true),
            ("red,NA,x\nblue,12.7,y\n", labelled("3"), false),
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
        let unlabelled = infer_start(
            &Origin::named("t"),
            b"a,b\n1,2\n",
            &TableOptions::default(),
            &Labelling::Ignored,
            STRICT,
        )
        .unwrap();
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
            (
                "a,y\n1,p\n-inf,p\n",
                "t:3:1: column \"a\" holds numbers, and this one is infinite, or larger than 1.8e308",
            ),
        ] {
            assert_eq!(found(text, &TableOptions::default()).unwrap_err().to_string(), place);
            let schema = infer_start(
                &Origin::named("t"),
                text.as_bytes(),
                &TableOptions::default(),
                &Labelling::Open,
                lenient,
            )
            .unwrap()
            .schema;
            assert_eq!(schema.columns[0].role, numeric(0, 1.0), "{text}");
        }
        let error = infer_start(
            &Origin::named("t"),
            b"a,y\nu,p\n\xff,q\n",
            &TableOptions::default(),
            &Labelling::Open,
            STRICT,
        )
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
                "row weights: column \"w\"",
                "1 column of numbers, 1 column of categories (1 in all)"
            ]
        );
        assert_eq!(
            remarks("a,y\n1,p\n", &labelled("y")),
            ["header found", "label column: \"y\"", "1 column of numbers"]
        );
        let guessed = |options: &TableOptions| found("a,y\n1,p\n", options).unwrap().guessed_label;
        assert_eq!(
            (guessed(&TableOptions::default()).as_deref(), guessed(&labelled("y"))),
            (Some("y"), None)
        );
        assert_eq!(remarks("1,2\n3,4\n", &labelled("1"))[0], "no header: columns are called 1 to 2");
    }

    #[test]
    fn too_many_categories_are_an_error_that_names_the_column() {
        let mut text = String::from("name,y\n");
        for i in 0..=MAX_CATEGORIES {
            text += &format!("x{i},0\n");
        }
        let categories = TableOptions { categories: vec!["name".into()], ..TableOptions::default() };
        let error = found(&text, &categories).unwrap_err();
        assert_eq!(
            (error.place().unwrap().line, error.advice()),
            (MAX_CATEGORIES as u64 + 2, Some("is it a feature? if not: `drop = name`"))
        );
        text = text.replacen("name,y\n", "n,name,y\n", 1).replace("\nx", "\n1,x");
        assert_eq!(roles(&text, &TableOptions::default())[1], Role::Dropped, "no category says anything");
        let dropped = TableOptions { drop: vec!["name".into()], ..TableOptions::default() };
        assert!(found(&text, &dropped).unwrap().warnings.is_empty());
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
            ("titanic.csv.xz", "survived", true, 10),
            ("california_housing.csv.xz", "median_house_value", true, 13),
            ("online_shoppers.csv.xz", "Revenue", true, 29),
            ("winequality-white.csv.xz", "12", false, 11),
            ("diamonds.csv.xz", "price", true, 26),
        ] {
            let input = Input::Path(folder.join(file));
            let options = TableOptions { missing: Missing::Zero, ..labelled(label) };
            let inferred =
                infer(&Again::of(&input), &options, &Labelling::Open, STRICT, &mut Unwatched).unwrap();
            assert_eq!(inferred.schema.header, header, "{file}");
            assert_eq!(inferred.schema.features(), features, "{file}");
            let unnamed = ["name", "ticket", "cabin"];
            assert_eq!(inferred.warnings.is_empty(), file != "titanic.csv.xz", "{file}");
            let dropped = inferred.schema.columns.iter().filter(|column| column.role == Role::Dropped);
            assert!(
                dropped
                    .map(|column| &*column.name)
                    .eq(unnamed.into_iter().filter(|_| file == "titanic.csv.xz"))
            );
        }
    }
}
