//! The rows of a table, encoded by a schema that is fixed.

use super::applied::{FirstNumbers, numbers_of_first};
use super::interaction::BoundInteractions;
use super::{FirstRecord, is_missing, is_surely_missing, listed, shown, wrong_width};
use crate::data::Filled;
use crate::error::{Error, Result};
use crate::features::Missing;
use crate::features::table::{Role, TableSchema};
use crate::read::bag::{Bag, BagBuilder};
use crate::read::number::{Number, whole};
use crate::read::parsed_rows::{CONVERT, Labelling, ParsedRows, RowError};
use crate::read::pipeline::{Parser, Scratch};
use crate::read::records::{Fault, Field, Records};
use crate::read::source::Cut;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A parser of the rows of one table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    schema: Arc<TableSchema>,
    labelling: Labelling,
    /// Fields of a record.
    width: usize,
    /// The field of the label, if it is asked for.
    label: Option<usize>,
    /// The field of the row weight.
    weight: Option<usize>,
    /// The columns that become features, in the order of the features.
    encoders: Vec<Encoder>,
    /// The fields that hold documents, each with what its terms' names begin with.
    texts: Vec<(usize, String)>,
    /// What becomes of those.
    bag: Option<Bag>,
    /// The columns that are multiplied.
    interactions: BoundInteractions,
    remarks: Vec<String>,
    /// Without a header: where there should be numbers, the first record has words.
    starts_with_words: bool,
}

/// How a field becomes features.
#[derive(Clone, Debug)]
struct Encoder {
    /// Its place in the record.
    field: usize,
    /// Its column in the schema.
    column: usize,
    kind: Kind,
    indicator: Option<u32>,
}

#[derive(Clone, Debug)]
enum Kind {
    Number { feature: u32, fill: f64 },
    Category { features: FxHashMap<Vec<u8>, u32> },
}

impl Table {
    /// The parser of a table that starts with the bytes `start`, which hold its first record whole (see
    /// [`look_ahead`](crate::read::source::Source::look_ahead)).
    ///
    /// With a header, columns are matched by name: they may stand in any order, the label (if nobody asks for
    /// it), row weights and dropped columns may lack, and columns in `drop` may come on top. Without, they
    /// are matched by position, and only the label may lack. A schema that comes from outside must have been
    /// [validated](TableSchema::validate).
    ///
    /// The bag is for columns that hold documents; without, they are not looked at.
    pub(crate) fn bind(
        schema: Arc<TableSchema>,
        labelling: Labelling,
        bag: Option<Bag>,
        drop: &[String],
        file: &str,
        start: &[u8],
    ) -> Result<Self> {
        let first = FirstRecord::find(start, schema.delimiter);
        let fields = match &first {
            Some(first) if schema.header => by_name(&schema, drop, first, file)?,
            Some(first) => by_position(&schema, &labelling, first, file)?,
            None if schema.header => {
                return Err(Error::input("the table is empty: it has no header").at(file, 1, 1));
            }
            None => (0..schema.columns.len()).map(Some).collect(),
        };
        let width = first.as_ref().map_or(schema.columns.len(), FirstRecord::width);
        let numbers = first.as_ref().and_then(|first| numbers_of_first(&schema, first));
        let mut table = Self {
            starts_with_words: !schema.header && numbers == Some(FirstNumbers::Words),
            schema: schema.clone(),
            labelling,
            width,
            label: None,
            weight: None,
            encoders: Vec::new(),
            texts: Vec::new(),
            bag,
            interactions: BoundInteractions::default(),
            remarks: Vec::new(),
        };
        for (j, field) in fields.into_iter().enumerate() {
            table.bind_column(j, field).map_err(|error| error.at(file, 1, 1))?;
        }
        let columns: Vec<usize> = table.encoders.iter().map(|encoder| encoder.column).collect();
        table.interactions = BoundInteractions::of(&schema, &columns);
        // Several texts may have a word in common, and mean different things by it.
        if let [(_, only)] = &mut table.texts[..] {
            only.clear();
        }
        Ok(table)
    }

    fn bind_column(&mut self, j: usize, field: Option<usize>) -> Result<()> {
        let schema = self.schema.clone();
        let name = &schema.columns[j].name;
        let missing =
            |feature: &u32, indicator: &bool, count: usize| indicator.then(|| feature + count as u32);
        match (&schema.columns[j].role, field) {
            (Role::Dropped, _) => {}
            (Role::Label, _) if matches!(self.labelling, Labelling::Ignored) => {}
            (Role::Label, None) => {
                return Err(Error::input(format!("the label's column {name:?} is not in the table")));
            }
            (Role::Label, Some(_)) => self.label = field,
            (Role::RowWeight, None) => {
                self.remarks.push(format!("no column {name:?}: every row counts once"))
            }
            (Role::RowWeight, Some(_)) => self.weight = field,
            (Role::Text, Some(field)) => self.texts.push((field, format!("{name}:"))),
            (Role::Numeric { .. } | Role::Categorical { .. } | Role::Text, None) => {
                return Err(Error::input(format!("column {name:?} is not in the table")));
            }
            (Role::Numeric { feature, mean, indicator }, Some(field)) => {
                let fill = if schema.missing.fills_in_means() { mean.unwrap_or(0.0) } else { 0.0 };
                let indicator = missing(feature, indicator, 1);
                self.encoders.push(Encoder {
                    field,
                    column: j,
                    kind: Kind::Number { feature: *feature, fill },
                    indicator,
                });
            }
            (Role::Categorical { feature, categories, indicator }, Some(field)) => {
                let features = categories
                    .iter()
                    .zip(*feature..)
                    .map(|(name, j)| (name.clone().into_bytes(), j))
                    .collect();
                let indicator = missing(feature, indicator, categories.len());
                self.encoders.push(Encoder {
                    field,
                    column: j,
                    kind: Kind::Category { features },
                    indicator,
                });
            }
        }
        Ok(())
    }

    /// The same, but the rows' combinations of categories are put into [`ParsedRows::local_features`].
    pub(super) fn collecting_combinations(mut self) -> Self {
        self.interactions.collect();
        self
    }

    /// What to tell the user about how the columns were matched.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// The field of each column of the schema, by the names in the header.
fn by_name(
    schema: &TableSchema,
    drop: &[String],
    first: &FirstRecord,
    file: &str,
) -> Result<Vec<Option<usize>>> {
    let names = first.names(file)?;
    let places: FxHashMap<&str, usize> =
        names.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    let fields: Vec<Option<usize>> =
        schema.columns.iter().map(|column| places.get(column.name.as_str()).copied()).collect();
    let is_feature =
        |role: &Role| matches!(role, Role::Numeric { .. } | Role::Categorical { .. } | Role::Text);
    let lacking: Vec<&str> = (schema.columns.iter().zip(&fields))
        .filter(|(column, field)| field.is_none() && is_feature(&column.role))
        .map(|(column, _)| column.name.as_str())
        .collect();
    if !lacking.is_empty() {
        let what = format!("the header lacks the columns {}", listed(&lacking));
        let hint = match numbers_of_first(schema, first) {
            Some(FirstNumbers::Numbers) => {
                "this line looks like a row: `no_header` matches columns by position".to_owned()
            }
            _ => format!("the columns here are {}", listed(&names)),
        };
        return Err(first.error(file, 0, what).hint(hint));
    }
    let mut known = vec![false; names.len()];
    fields.iter().flatten().for_each(|&j| known[j] = true);
    // A column without a name is the index of a table that pandas wrote, or what stands behind the last
    // delimiter.
    let is_extra = |j: &usize| !known[*j] && !drop.contains(&names[*j]) && !first.is_empty(*j);
    let extra: Vec<usize> = (0..names.len()).filter(is_extra).collect();
    match extra.first() {
        None => Ok(fields),
        Some(&j) => {
            let extra: Vec<&String> = extra.iter().map(|&j| &names[j]).collect();
            let error = first.error(
                file,
                j,
                format!("the header has columns that were not trained on: {}", listed(&extra)),
            );
            let listed: Vec<&str> = extra.iter().map(|name| name.as_str()).collect();
            Err(error.hint(format!("leave them out: `drop = {}`", listed.join(","))))
        }
    }
}

/// The field of each column of the schema, by the number of fields.
fn by_position(
    schema: &TableSchema,
    labelling: &Labelling,
    first: &FirstRecord,
    file: &str,
) -> Result<Vec<Option<usize>>> {
    let (width, columns) = (first.width(), schema.columns.len());
    if width == columns {
        return Ok((0..columns).map(Some).collect());
    }
    let label = schema.columns.iter().position(|column| column.role == Role::Label);
    match (label, labelling) {
        (Some(label), Labelling::Ignored) if width + 1 == columns => {
            let place = |j: usize| if j == label { None } else { Some(j - usize::from(j > label)) };
            Ok((0..columns).map(place).collect())
        }
        _ => {
            let what = format!("the table has {width} columns; {columns} were trained on");
            let hint = "without a header, columns are matched by position; \
                        only the label's may lack, for predictions";
            Err(first.error(file, 0, what).hint(hint))
        }
    }
}

impl Parser for Table {
    fn cut(&self) -> Cut {
        Cut::Record { delimiter: self.schema.delimiter }
    }

    fn parse(&self, block: &[u8], offset: u64, rows: &mut ParsedRows, scratch: &mut Scratch) {
        let mut records = Records::new(block, self.schema.delimiter);
        let mut fields = Vec::with_capacity(self.width);
        let mut header_ahead = self.schema.header && offset == 0;
        let mut bag = self.bag.as_ref().map(|bag| bag.open(scratch));
        let mut factors = Vec::new();
        while let Some(outcome) = records.next_into(&mut fields) {
            let names_before = rows.local_features.len();
            let outcome = match outcome {
                Ok(()) if std::mem::take(&mut header_ahead) => continue,
                Ok(()) => self.row(block, &fields, bag.as_mut(), &mut factors, rows),
                Err(fault) => Err(fault),
            };
            if let Err(fault) = outcome {
                let (line, column) = records.locate(fault.at);
                self.interactions.forget(rows, names_before);
                let is_like_a_header =
                    self.starts_with_words && offset == 0 && rows.is_empty() && rows.bad.is_empty();
                let hint = if is_like_a_header { Some(LIKE_A_HEADER.to_owned()) } else { fault.hint };
                if !rows.reject(RowError { line, column, what: fault.what, hint }) {
                    return;
                }
            }
        }
        if let Some(bag) = bag {
            bag.close(scratch);
        }
    }
}

/// The category that is a value in another spelling. Programs write truth values as `true`, `True` or `TRUE`,
/// and a column of whole numbers with or without a point: the same table may come from any of them.
#[cold]
fn spelled_otherwise(features: &FxHashMap<Vec<u8>, u32>, text: &[u8]) -> Option<u32> {
    let find = |spelling: &[u8]| features.get(spelling).copied();
    let truths: [[&str; 3]; 2] = [["true", "True", "TRUE"], ["false", "False", "FALSE"]];
    if let Some(spellings) = truths.iter().find(|truth| truth.iter().any(|it| it.as_bytes() == text)) {
        return spellings.iter().find_map(|spelling| find(spelling.as_bytes()));
    }
    let is_whole = |digits: &[u8]| {
        let digits = digits.strip_prefix(b"-").unwrap_or(digits);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    match text.strip_suffix(b".0") {
        Some(digits) if is_whole(digits) => find(digits),
        None if is_whole(text) => find(&[text, b".0"].concat()),
        _ => None,
    }
}

/// What is wrong with a value, and what to do about it.
type Complaint = (String, Option<String>);

/// What is counts in a row, and counted once the row is known to be good.
#[derive(Default)]
struct RowCounts {
    missing: u64,
    unseen: u64,
}

impl Table {
    #[inline]
    fn row(
        &self,
        block: &[u8],
        fields: &[Field],
        bag: Option<&mut BagBuilder<'_>>,
        factors: &mut Vec<Option<(u32, f64)>>,
        rows: &mut ParsedRows,
    ) -> std::result::Result<(), Fault> {
        if fields.len() != self.width {
            return Err(wrong_width(fields, self.width));
        }
        let weight = self.weight.map(|weight| self.weight(block, &fields[weight])).transpose()?;
        let mut counts = RowCounts::default();
        factors.clear();
        for encoder in &self.encoders {
            let field = &fields[encoder.field];
            let factor = self
                .encode(encoder, &field.text(block), rows, &mut counts)
                .map_err(|(what, hint)| fault(field, what, hint))?;
            if !self.interactions.is_empty() {
                factors.push(factor);
            }
        }
        let numbered = self.interactions.products(factors, rows);
        numbered.map_err(|(at, what)| fault(&fields[self.encoders[at].field], what, Some(SKIP.into())))?;
        let texts =
            self.texts.iter().map(|(field, prefix)| (&fields[*field], fields[*field].text(block), prefix));
        let texts: Vec<_> = if bag.is_some() { texts.collect() } else { Vec::new() };
        for (field, text, _) in &texts {
            std::str::from_utf8(text)
                .map_err(|_| fault(field, "this text is not UTF-8".into(), Some(CONVERT.into())))?;
        }
        // The label comes last, so that a row given up for another reason leaves no new label behind; nor new
        // words.
        if let Some(label) = self.label {
            self.set_label(block, &fields[label], rows)?;
        }
        if let Some(weight) = weight {
            rows.set_weight(weight);
        }
        if let Some(bag) = bag {
            for (_, text, prefix) in &texts {
                bag.add(std::str::from_utf8(text).unwrap_or_default(), prefix, rows);
            }
            bag.write_row(rows);
        }
        rows.missing += counts.missing;
        rows.unseen_features += counts.unseen;
        rows.end_row();
        Ok(())
    }

    #[inline]
    fn set_label(
        &self,
        block: &[u8],
        field: &Field,
        rows: &mut ParsedRows,
    ) -> std::result::Result<(), Fault> {
        let text = field.text(block);
        if is_surely_missing(&text) {
            let name = self.schema.label().map_or("", |column| &column.name);
            let hint = match text.is_empty() {
                true => SKIP.to_owned(),
                false => format!("{SKIP}; if {} is a class, spell it otherwise", shown(&text)),
            };
            return Err(fault(field, format!("the label is missing, in column {name:?}"), Some(hint)));
        }
        rows.set_label(&self.labelling, &text).map_err(|(what, hint)| fault(field, what, hint))
    }

    fn weight(&self, block: &[u8], field: &Field) -> std::result::Result<f64, Fault> {
        let text = field.text(block);
        match whole(&text) {
            Number::Finite(weight, _) if weight >= 0.0 => Ok(weight),
            _ => {
                let what = format!("the row weight {} is not a finite number of at least 0", shown(&text));
                Err(fault(field, what, Some(SKIP.into())))
            }
        }
    }

    /// Adds the features of a field; returns the one that may be multiplied, with its value.
    #[inline]
    fn encode(
        &self,
        encoder: &Encoder,
        text: &[u8],
        rows: &mut ParsedRows,
        counts: &mut RowCounts,
    ) -> std::result::Result<Option<(u32, f64)>, Complaint> {
        match &encoder.kind {
            Kind::Number { feature, fill } => match whole(text) {
                Number::Finite(value, _) => {
                    keep(rows, *feature, value);
                    return Ok(Some((*feature, value)));
                }
                _ if is_missing(text) => self.fill(encoder, text, rows, counts, Some((*feature, *fill)))?,
                Number::NotFinite => return Err(self.bad_value(encoder, text, "is not a finite number")),
                Number::None => return Err(self.bad_value(encoder, text, "is not a number")),
            },
            Kind::Category { features } => match features.get(text) {
                Some(&feature) => {
                    rows.entry(feature, 1.0);
                    return Ok(Some((feature, 1.0)));
                }
                None if is_missing(text) => self.fill(encoder, text, rows, counts, None)?,
                None if std::str::from_utf8(text).is_err() => {
                    return Err(self.bad_value(encoder, text, "is not UTF-8"));
                }
                None => match spelled_otherwise(features, text) {
                    Some(feature) => {
                        rows.entry(feature, 1.0);
                        return Ok(Some((feature, 1.0)));
                    }
                    None => counts.unseen += 1,
                },
            },
        }
        Ok(None)
    }

    #[cold]
    fn bad_value(&self, encoder: &Encoder, text: &[u8], what: &str) -> Complaint {
        let name = &self.schema.columns[encoder.column].name;
        (format!("{} in column {name:?} {what}", shown(text)), Some(SKIP.into()))
    }

    #[cold]
    fn missing_value(&self, encoder: &Encoder, text: &[u8]) -> Complaint {
        let name = &self.schema.columns[encoder.column].name;
        let spelled = if text.is_empty() { String::new() } else { format!(": {}", shown(text)) };
        let mut hint = "say what it counts as: `missing = mean|indicator|zero`".to_owned();
        // Where these are categories, the schema lists them.
        if !is_surely_missing(text) {
            hint.push_str(&format!("; if {} is a category, say so: `categories = {name}`", shown(text)));
        } else if !text.is_empty() && matches!(encoder.kind, Kind::Category { .. }) {
            hint.push_str(&format!("; if {} is a category, spell it otherwise", shown(text)));
        }
        (format!("the value of column {name:?} is missing{spelled}"), Some(hint))
    }

    /// Treats a missing value.
    fn fill(
        &self,
        encoder: &Encoder,
        text: &[u8],
        rows: &mut ParsedRows,
        counts: &mut RowCounts,
        number: Option<(u32, f64)>,
    ) -> std::result::Result<(), Complaint> {
        if self.schema.missing == Missing::Error {
            return Err(self.missing_value(encoder, text));
        }
        counts.missing += 1;
        if let Some((feature, value)) = number {
            keep(rows, feature, value);
            if self.schema.missing.fills_in_means() {
                rows.filled.push(Filled { row: rows.len(), feature });
            }
        }
        if let Some(indicator) = encoder.indicator {
            rows.entry(indicator, 1.0);
        }
        Ok(())
    }
}

const LIKE_A_HEADER: &str = "this line looks like a header, and the model was trained on a table without one: \
                             leave out the line, or such rows by `skip_bad_rows`";
const SKIP: &str = "`skip_bad_rows` leaves such rows out";

/// Zeros are not stored.
#[inline(always)]
fn keep(rows: &mut ParsedRows, feature: u32, value: f64) {
    if value != 0.0 {
        rows.entry(feature, value);
    }
}

#[cold]
fn fault(field: &Field, what: String, hint: Option<String>) -> Fault {
    Fault { at: field.at, what, hint }
}

#[cfg(test)]
mod tests {
    use super::super::{Header, TableOptions, infer, infer_start};
    use super::*;
    use crate::control::{Flow, Observer, Unwatched};
    use crate::data::Report;
    use crate::read::pipeline::{Setup, run};
    use crate::read::source::{Again, Input, Origin, Source};
    use proptest::prelude::*;

    const STRICT: Setup = Setup { threads: 1, skip_bad_rows: false };

    fn schema_of(text: &str, options: &TableOptions) -> Arc<TableSchema> {
        Arc::new(
            infer_start(&Origin::named("t"), text.as_bytes(), options, &Labelling::Open, STRICT)
                .unwrap()
                .schema,
        )
    }

    fn policy(missing: Missing) -> TableOptions {
        TableOptions { missing, ..TableOptions::default() }
    }

    fn bind(schema: &Arc<TableSchema>, labelling: Labelling, text: &str) -> Result<Table> {
        Table::bind(schema.clone(), labelling, None, &[], "t", text.as_bytes())
    }

    fn parsed(table: &Table, text: &[u8], strict: bool) -> ParsedRows {
        let mut rows = ParsedRows::new(strict);
        rows.clear();
        table.parse(text, 0, &mut rows, &mut Scratch::default());
        rows
    }

    /// The rows as index-value pairs.
    fn entries_of(rows: &ParsedRows) -> Vec<Vec<(u32, f64)>> {
        let pairs = |r: usize| {
            let mut row = Vec::new();
            rows.row(r).for_each_nonzero(|j, x| row.push((j, x)));
            row
        };
        (0..rows.len()).map(pairs).collect()
    }

    fn trained(text: &str, options: &TableOptions) -> ParsedRows {
        let table = bind(&schema_of(text, options), Labelling::Open, text).unwrap();
        parsed(&table, text.as_bytes(), true)
    }

    /// Line, column and text of the first error in `row` put under a good table.
    fn first_error(row: &[u8]) -> (u64, usize, String) {
        let good = "age,sex,y,w\n1,m,a,1\n2,f,b,2\n";
        let options = TableOptions { row_weights: Some("w".into()), ..TableOptions::default() };
        let table = bind(&schema_of(good, &options), Labelling::Open, good).unwrap();
        let rows = parsed(&table, &[good.as_bytes(), row].concat(), true);
        assert_eq!((rows.len(), rows.labels.len(), rows.bad_rows), (2, 2, 1));
        let error = rows.failure().unwrap().clone();
        (error.line, error.column, error.what)
    }

    #[test]
    fn numbers_are_values_and_categories_are_ones() {
        let rows =
            trained("age,sex,y\n22,male,no\n0,female,yes\n\"1.5\", male ,no\n", &TableOptions::default());
        assert_eq!(entries_of(&rows), [vec![(0, 22.0), (1, 1.0)], vec![(2, 1.0)], vec![(0, 1.5), (1, 1.0)]]);
        assert_eq!(rows.indices.len(), 5, "zeros are not stored");
        assert_eq!(
            (&rows.labels[..], rows.local_labels.names()),
            (&[0, 1, 0][..], &["no".to_owned(), "yes".into()][..])
        );
    }

    #[test]
    fn missing_values_follow_the_policy() {
        let text = "age,sex,y\n1,m,a\nNA,f,a\n3,?,b\n";
        let zero = trained(text, &policy(Missing::Zero));
        assert_eq!(entries_of(&zero), [vec![(0, 1.0), (1, 1.0)], vec![(2, 1.0)], vec![(0, 3.0)]]);
        let mean = trained(text, &policy(Missing::Mean));
        assert_eq!(entries_of(&mean), [vec![(0, 1.0), (1, 1.0)], vec![(0, 2.0), (2, 1.0)], vec![(0, 3.0)]]);
        let indicator = trained(text, &policy(Missing::Indicator));
        assert_eq!(
            entries_of(&indicator),
            [vec![(0, 1.0), (2, 1.0)], vec![(0, 2.0), (1, 1.0), (3, 1.0)], vec![(0, 3.0), (4, 1.0)]]
        );
        let as_before = trained(text, &policy(Missing::ZeroIndicator));
        assert_eq!(
            entries_of(&as_before),
            [vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0), (3, 1.0)], vec![(0, 3.0), (4, 1.0)]]
        );
        assert_eq!([zero.missing, mean.missing, indicator.missing], [2, 2, 2]);
        let table = bind(&schema_of(text, &policy(Missing::Error)), Labelling::Open, text).unwrap();
        let error = parsed(&table, text.as_bytes(), true).failure().cloned().unwrap();
        assert_eq!((error.line, error.column), (2, 1));
        assert_eq!(error.hint.as_deref(), Some("say what it counts as: `missing = mean|indicator|zero`"));
        let lenient = parsed(&table, text.as_bytes(), false);
        assert_eq!((lenient.len(), lenient.bad_rows, lenient.missing), (1, 2, 0));
    }

    #[test]
    fn a_category_never_seen_weighs_nothing_and_is_counted() {
        let text = "sex,y\nm,a\nf,b\n";
        let table = bind(&schema_of(text, &TableOptions::default()), Labelling::Ignored, text).unwrap();
        let rows = parsed(&table, b"sex,y\nx,?\nf,zebra\n", true);
        assert_eq!(entries_of(&rows), [vec![], vec![(1, 1.0)]]);
        assert_eq!((rows.unseen_features, rows.labels.len()), (1, 0));
    }

    #[test]
    fn errors_stand_at_their_field() {
        for (row, line, column, what) in [
            (&b"old,m,a,1\n"[..], 3, 1, "\"old\" in column \"age\" is not a number"),
            (b"  inf,m,a,1\n", 3, 3, "\"inf\" in column \"age\" is not a finite number"),
            (b"1,\xff,a,1\n", 3, 3, "\"\u{fffd}\" in column \"sex\" is not UTF-8"),
            (b"1,m,,1\n", 3, 5, "the label is missing, in column \"y\""),
            (b"1,-,a,1\n", 3, 3, "the value of column \"sex\" is missing: \"-\""),
            (b"1,m,\xff,1\n", 3, 5, "the label is not UTF-8"),
            (b"1,m,a, -1\n", 3, 8, "the row weight \"-1\" is not a finite number of at least 0"),
            (b"1,m,a,\n", 3, 7, "the row weight \"\" is not a finite number of at least 0"),
            (b"1,m,a\n", 3, 5, "this row has 3 fields, the table has 4 columns"),
            (b"1,m,a,1,5\n", 3, 9, "this row has 5 fields, the table has 4 columns"),
            (b"\n1,\"m\n\nm\", inf,1\n", 6, 5, "the label \"inf\" is not a finite number"),
            (b"1,\"m\"s,a,1\n", 3, 6, "\"s\" after a closing quote"),
            (b"1,m,\"a,1\n1,m,a,1\n", 3, 5, "this quote is never closed"),
            (b"NaN,m,a,1\n", 3, 1, "the value of column \"age\" is missing: \"NaN\""),
        ] {
            assert_eq!(first_error(row), (line, column, what.to_owned()), "{}", String::from_utf8_lossy(row));
        }
    }

    #[test]
    fn columns_are_matched_by_name_in_any_order() {
        let text = "id,age,sex,y\n7,1,m,a\n8,2,f,b\n";
        let schema = schema_of(text, &TableOptions { drop: vec!["id".into()], ..TableOptions::default() });
        let other = "sex,age\nf,5\n";
        let table = bind(&schema, Labelling::Ignored, other).unwrap();
        assert_eq!(entries_of(&parsed(&table, other.as_bytes(), true)), [[(0, 5.0), (2, 1.0)]]);
        let error = bind(&schema, Labelling::Open, other).unwrap_err();
        assert_eq!(error.to_string(), "t:1:1: the label's column \"y\" is not in the table");
        let error = bind(&schema, Labelling::Ignored, "age,y\n").unwrap_err();
        assert_eq!(error.to_string(), "t:1:1: the header lacks the columns \"sex\"");
        let extra = "age,sex,town,y\n1,m,Ulm,a\n";
        let error = bind(&schema, Labelling::Open, extra).unwrap_err();
        assert_eq!(error.to_string(), "t:1:9: the header has columns that were not trained on: \"town\"");
        assert_eq!(error.advice(), Some("leave them out: `drop = town`"));
        let table =
            Table::bind(schema, Labelling::Open, None, &["town".into()], "t", extra.as_bytes()).unwrap();
        assert_eq!(entries_of(&parsed(&table, extra.as_bytes(), true)), [[(0, 1.0), (1, 1.0)]]);
    }

    #[test]
    fn columns_without_a_header_are_matched_by_position_and_only_the_label_may_lack() {
        let text = "1,a,x\n2,b,y\n";
        let options =
            TableOptions { label: Some("2".into()), header: Header::Absent, ..TableOptions::default() };
        let schema = schema_of(text, &options);
        let table = bind(&schema, Labelling::Ignored, "3,y\n").unwrap();
        assert_eq!(entries_of(&parsed(&table, b"3,y\n", true)), [[(0, 3.0), (2, 1.0)]]);
        assert!(bind(&schema, Labelling::Open, "3,y\n").is_err());
        assert!(bind(&schema, Labelling::Ignored, "3\n").is_err());
        assert_eq!(trained(text, &options).len(), 2);
    }

    #[test]
    fn row_weights_are_read_and_may_lack_later() {
        let text = "a,w,y\n1,1,p\n2,0.5,q\n3,0,q\n";
        let options = TableOptions { row_weights: Some("w".into()), ..TableOptions::default() };
        let rows = trained(text, &options);
        assert_eq!((0..3).map(|r| rows.weight(r)).collect::<Vec<_>>(), [1.0, 0.5, 0.0]);
        let table = bind(&schema_of(text, &options), Labelling::Open, "y,a\n").unwrap();
        assert_eq!(table.remarks(), ["no column \"w\": every row counts once"]);
    }

    #[test]
    fn truth_values_and_whole_numbers_are_categories_in_every_spelling() {
        let options = TableOptions { categories: vec!["n".into()], ..TableOptions::default() };
        let schema = schema_of("a,n,y\nTrue,1.0,p\nFalse,-2,q\nTrue,-2,q\n", &options);
        let text = "a,n,y\ntrue,1,p\nFALSE,-2.0,q\nTrue,1.0,p\ntRUE,01,q\nyes,2,p\n";
        let rows = parsed(&bind(&schema, Labelling::Open, text).unwrap(), text.as_bytes(), false);
        let expected = [vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0), (3, 1.0)], vec![(0, 1.0), (2, 1.0)]];
        assert_eq!(entries_of(&rows)[..3], expected);
        assert_eq!((&entries_of(&rows)[3..], rows.unseen_features), (&[vec![], vec![]][..], 4));
    }

    #[test]
    fn rows_that_are_given_up_leave_nothing_behind() {
        let text = "a,b,y\n1,u,p\nx,v,new\n2,v,p\n3,?,newer\n";
        let schema = schema_of("a,b,y\n1,u,p\n2,v,p\n", &policy(Missing::Error));
        let rows = parsed(&bind(&schema, Labelling::Open, text).unwrap(), text.as_bytes(), false);
        assert_eq!(entries_of(&rows), [[(0, 1.0), (1, 1.0)], [(0, 2.0), (2, 1.0)]]);
        assert_eq!((rows.bad_rows, rows.local_labels.len(), rows.missing), (2, 1, 0));
    }

    #[test]
    fn a_table_of_many_blocks_gives_the_same_rows_for_any_number_of_threads() {
        let mut text = String::from("n,\"c\nd\",y\n");
        for i in 0..60_000 {
            text += &format!("{i},\"c\n{}, \"\"q\"\"\",{}\n", i % 7, i % 2);
        }
        let input = Input::Bytes { name: "t".into(), bytes: text.clone().into_bytes().into() };
        let options = TableOptions { numbers: vec!["n".into()], ..TableOptions::default() };
        let inferred = infer(&Again::of(&input), &options, &Labelling::Open, STRICT, &mut Unwatched).unwrap();
        let schema = Arc::new(inferred.schema);
        assert_eq!((schema.features(), schema.feature_name(3).as_str()), (8, "c\nd=c\n2, \"q\""));
        let read = |input: &Input, threads: usize| {
            let mut source = Source::open(input).unwrap();
            let start = source.look_ahead(Cut::Record { delimiter: b',' }, 0).unwrap();
            let table =
                Arc::new(Table::bind(schema.clone(), Labelling::Open, None, &[], "t", &start).unwrap());
            let (mut found, mut report) = (Vec::new(), Report::default());
            let setup = Setup { threads, ..STRICT };
            run(
                source,
                table,
                setup,
                &mut report,
                &mut Unwatched,
                |rows: &mut ParsedRows, _: &mut dyn Observer| {
                    found.extend(entries_of(rows));
                    Ok(Flow::Continue)
                },
            )
            .map(|_| found)
        };
        let once = read(&input, 1).unwrap();
        assert_eq!((once.len(), &once[59_999]), (60_000, &vec![(0, 59_999.0), (1 + 59_999 % 7, 1.0)]));
        assert_eq!(read(&input, 3).unwrap(), once);
        let spoiled =
            Input::Bytes { name: "t".into(), bytes: (text + "1,\"c\n\n0\",0\n 1 , x\n").into_bytes().into() };
        assert_eq!(
            read(&spoiled, 3).unwrap_err().to_string(),
            "t:120006:6: this row has 2 fields, the table has 3 columns"
        );
    }

    /// A value of a column of numbers, of words, and a label.
    type Cells = (Option<i8>, Option<u8>, bool);

    /// The features of a row, by the definition: the number first, then the words in the order of their first
    /// appearance.
    fn expected(cells: &[Cells], row: Cells) -> Vec<(u32, f64)> {
        let mut words: Vec<u8> = Vec::new();
        for word in cells.iter().filter_map(|cell| cell.1) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        // A column without any number is left out.
        let first_word = u32::from(cells.iter().any(|cell| cell.0.is_some()));
        let number = row.0.filter(|&x| x != 0).map(|x| (0, f64::from(x)));
        let place = row.1.and_then(|word| words.iter().position(|&other| other == word));
        let word = place.map(|k| (first_word + k as u32, 1.0));
        number.into_iter().chain(word).collect()
    }

    proptest! {
        #[test]
        fn rows_are_what_the_definition_says(
            cells in prop::collection::vec(
                (
                    prop::option::weighted(0.8, any::<i8>()),
                    prop::option::weighted(0.8, 0u8..6),
                    any::<bool>(),
                ),
                1..20,
            ),
            delimiter in prop::sample::select(vec![',', ';', '\t']),
            newline in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        ) {
            let mut text = format!("number{delimiter}word{delimiter}y{newline}");
            for (number, word, label) in &cells {
                let number = number.map_or("NA".into(), |x| x.to_string());
                let word = word.map_or(String::new(), |w| {
                    format!("\"{}\n\"\"{delimiter}\"", "w".repeat(1 + w as usize))
                });
                text += &format!("{number}{delimiter} {word} {delimiter}{label}{newline}");
            }
            let rows = trained(&text, &policy(Missing::Zero));
            prop_assert_eq!(&rows.bad, &[]);
            let by_definition: Vec<_> = cells.iter().map(|&row| expected(&cells, row)).collect();
            prop_assert_eq!(entries_of(&rows), by_definition);
            let missing_in = |column: Vec<bool>| match column.contains(&true) {
                true => column.iter().filter(|is_there| !**is_there).count() as u64,
                false => 0,
            };
            let missing = missing_in(cells.iter().map(|c| c.0.is_some()).collect())
                + missing_in(cells.iter().map(|c| c.1.is_some()).collect());
            prop_assert_eq!(rows.missing, missing);
        }
    }
}
