//! A table that a model is applied to: what options may still say of it, and columns that are kept beside its
//! rows.

use super::{
    FirstRecord, Header, TableOptions, find_column, is_missing, listed, most_frequent_delimiter, numbers,
};
use crate::error::{Error, Result};
use crate::features::Missing;
use crate::features::table::{Column, Role, TableSchema};
use crate::read::number::{Number, whole};
use crate::read::parsed_rows::{Labelling, ParsedRows};
use crate::read::pipeline::{Parser, Scratch};
use crate::read::records::Records;
use crate::read::source::Cut;
use std::sync::Arc;

/// How the columns of a model's table are found in one that is read by these options: with another delimiter,
/// without a header, with missing values where the model knew none.
pub(crate) fn applied(schema: &Arc<TableSchema>, options: &TableOptions) -> Result<Arc<TableSchema>> {
    let mut applied = TableSchema::clone(schema);
    if options.delimiter.is_some() {
        applied.delimiter = options.delimiter_for(&[])?;
    }
    match options.header {
        Header::Present if !schema.header => {
            let what = "the model was trained on a table without a header, and matches columns by position";
            return Err(Error::usage(what).hint("leave out `header`, and the table's first line"));
        }
        Header::Absent => applied.header = false,
        _ => {}
    }
    match (schema.missing, options.missing) {
        (own, given) if own == given || given == Missing::Error => {}
        (Missing::Error, Missing::Mean) if !knows_means(schema) => {
            let what = "the model does not know the means of its columns: it has learned from a stream, without \
                        `missing = mean`";
            return Err(Error::usage(what).hint("`missing = zero` will do"));
        }
        // What the model calls so.
        (Missing::ZeroIndicator, Missing::Indicator) => {}
        (Missing::Error, Missing::Zero | Missing::Mean) => applied.missing = options.missing,
        (Missing::Error, _) => {
            let what =
                "the model has no features for missing values: it was trained without `missing = indicator`";
            return Err(Error::usage(what).hint("`missing = zero` or `missing = mean` will do"));
        }
        (own, _) => {
            let what = format!(
                "the model was trained with `missing = {}`, which says what they count as",
                name(own)
            );
            return Err(Error::usage(what).hint("leave out `missing`"));
        }
    }
    if let Some(meant) = &options.row_weights {
        weigh_by(&mut applied, meant)?;
    }
    Ok(Arc::new(applied))
}

fn knows_means(schema: &TableSchema) -> bool {
    !schema.columns.iter().any(|column| matches!(column.role, Role::Numeric { mean: None, .. }))
}

/// What separates the fields of a table that starts like this, if the model's delimiter does not, and none is
/// given.
pub(crate) fn other_delimiter(schema: &TableSchema, given: &TableOptions, start: &[u8]) -> Option<u8> {
    let width = |delimiter: u8| FirstRecord::find(start, delimiter).map_or(0, |first| first.width());
    let other = most_frequent_delimiter(start);
    let is_needed = given.delimiter.is_none() && schema.columns.len() > 1 && other != schema.delimiter;
    (is_needed && width(schema.delimiter) == 1 && width(other) > 1).then_some(other)
}

/// Whether the numbers of the model's columns, by their places, are numbers in the first record, or words.
/// `None` if its fields do not fit, or if the model knows no numbers.
pub(super) fn numbers_of_first(schema: &TableSchema, first: &FirstRecord) -> Option<FirstNumbers> {
    let label = schema.columns.iter().position(|column| column.role == Role::Label);
    let texts: Vec<_> = first.texts().collect();
    let place = |j: usize| match label {
        Some(label) if texts.len() + 1 == schema.columns.len() => j - usize::from(j > label),
        _ => j,
    };
    let is_number = |j: usize| match texts.get(place(j)).map(|text| whole(text)) {
        Some(Number::None) if texts.get(place(j)).is_some_and(|text| is_missing(text)) => None,
        Some(found) => Some(found != Number::None),
        None => None,
    };
    let fits =
        texts.len() == schema.columns.len() || label.is_some() && texts.len() + 1 == schema.columns.len();
    let columns = schema.columns.iter().zip(0..).filter(|_| fits);
    let found: Vec<bool> = columns
        .filter(|(column, _)| matches!(column.role, Role::Numeric { .. }))
        .filter_map(|(_, j)| is_number(j))
        .collect();
    match () {
        _ if found.is_empty() => None,
        _ if found.iter().all(|is_number| *is_number) => Some(FirstNumbers::Numbers),
        _ if found.iter().all(|is_number| !*is_number) => Some(FirstNumbers::Words),
        _ => None,
    }
}

/// What stands in the first record where the model has numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstNumbers {
    /// Numbers, as in a row.
    Numbers,
    /// Words, as in a header.
    Words,
}

/// Makes this column, by name or number, the one that says how much a row counts.
fn weigh_by(schema: &mut TableSchema, meant: &str) -> Result<()> {
    let names: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
    let found = find_column(&names, meant);
    if let Some(role) = found.map(|at| &schema.columns[at].role)
        && !matches!(role, Role::RowWeight | Role::Dropped)
    {
        let what = format!("`row_weights = {meant}` is a column that the model learned from");
        return Err(Error::usage(what).hint("weights stand in a column that is no feature and no label"));
    }
    let own = schema.columns.iter_mut().filter(|column| column.role == Role::RowWeight);
    own.for_each(|column| column.role = Role::Dropped);
    match found {
        Some(at) => schema.columns[at].role = Role::RowWeight,
        // The header will say where it is.
        None => schema.columns.push(Column { name: meant.to_owned(), role: Role::RowWeight }),
    }
    Ok(())
}

fn name(missing: Missing) -> &'static str {
    match missing {
        Missing::Error => "error",
        Missing::Zero => "zero",
        Missing::Mean => "mean",
        Missing::Indicator | Missing::ZeroIndicator => "indicator",
    }
}

/// The columns of a table as its start shows them.
pub(crate) struct Columns {
    names: Vec<String>,
}

impl Columns {
    /// The columns of a table that starts with these bytes. Without a header they have the model's names, or
    /// numbers where those do not fit.
    pub(crate) fn of(schema: &TableSchema, file: &str, start: &[u8]) -> Result<Self> {
        let names = match FirstRecord::find(start, schema.delimiter) {
            Some(first) if schema.header => first.names(file)?,
            Some(first) if first.width() != schema.columns.len() => numbers(first.width()),
            _ => schema.columns.iter().map(|column| column.name.clone()).collect(),
        };
        Ok(Self { names })
    }

    /// The place of the column that is meant by its name or its number from 1.
    fn find(&self, meant: &str, file: &str) -> Result<usize> {
        find_column(&self.names, meant).ok_or_else(|| {
            let what = format!("there is no column {meant:?}; the columns are {}", listed(&self.names));
            Error::input(what).at(file, 1, 1)
        })
    }

    /// The names of the columns that nobody need look at: those to be dropped, and those that are kept aside.
    /// What the model needs cannot be dropped.
    pub(crate) fn passed_over(
        &self,
        schema: &TableSchema,
        labelling: &Labelling,
        drop: &[String],
        beside: &[usize],
        file: &str,
    ) -> Result<Vec<String>> {
        let is_passed_over = |role: &Role| match role {
            Role::Dropped => true,
            Role::Label => matches!(labelling, Labelling::Ignored),
            _ => false,
        };
        let own: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
        let mut names: Vec<String> = beside.iter().map(|&at| self.names[at].clone()).collect();
        for meant in drop {
            // What was dropped in training may lack.
            if find_column(&own, meant).is_some_and(|j| is_passed_over(&schema.columns[j].role)) {
                continue;
            }
            let name = &self.names[self.find(meant, file)?];
            let known = schema.columns.iter().find(|column| column.name == *name);
            if known.is_some_and(|column| !is_passed_over(&column.role)) || !schema.header {
                let error = Error::usage(format!(
                    "the model was trained with the column {name:?}: it cannot be left out"
                ));
                return Err(error.hint("leave it out of `drop`"));
            }
            names.push(name.clone());
        }
        Ok(names)
    }

    /// The columns to be kept beside the rows, in the order asked for.
    pub(crate) fn kept(&self, with: &[String], file: &str) -> Result<Vec<usize>> {
        with.iter().map(|meant| self.find(meant, file)).collect()
    }

    /// The names of these columns.
    pub(crate) fn names(&self, columns: &[usize]) -> Vec<String> {
        columns.iter().map(|&at| self.names[at].clone()).collect()
    }

    /// How many there are.
    pub(crate) fn width(&self) -> usize {
        self.names.len()
    }
}

/// Parses a table, and keeps the texts of some columns beside its rows.
pub(crate) struct Keeping {
    /// Makes the rows.
    pub table: Arc<dyn Parser>,
    /// The fields to keep.
    pub fields: Vec<usize>,
    /// How many a record has.
    pub width: usize,
    /// Between fields.
    pub delimiter: u8,
    /// Whether the first record names the columns.
    pub header: bool,
}

impl Parser for Keeping {
    fn cut(&self) -> Cut {
        self.table.cut()
    }

    fn parse(&self, block: &[u8], offset: u64, rows: &mut ParsedRows, scratch: &mut Scratch) {
        self.table.parse(block, offset, rows, scratch);
        let mut records = Records::new(block, self.delimiter);
        let mut fields = Vec::with_capacity(self.width);
        let mut header_ahead = self.header && offset == 0;
        while let Some(outcome) = records.next_into(&mut fields) {
            if outcome.is_ok() && std::mem::take(&mut header_ahead) {
                continue;
            }
            // Of a record that was not split as it should be, nobody knows which field is which.
            let whole = outcome.is_ok() && fields.len() == self.width;
            let text = |&at: &usize| String::from_utf8_lossy(&fields[at].text(block)).into_owned();
            rows.beside.extend(self.fields.iter().map(|at| whole.then(|| text(at))));
        }
        // After a bad row that ends the reading there are more records than rows.
        let expected = self.fields.len() * (rows.len() + rows.before_bad.len());
        rows.beside.resize(expected, None);
    }

    fn finish(&self, bytes: u64) -> Result<()> {
        self.table.finish(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::infer_start;
    use super::*;
    use crate::read::parsed_rows::Labelling;
    use crate::read::pipeline::Setup;
    use crate::read::source::Origin;

    const TABLE: &str = "id,a,y\n7,1,u\n8,2,v\n";

    /// The schema of a model that was trained on the table.
    fn schema(missing: Missing) -> Arc<TableSchema> {
        let options = TableOptions { missing, drop: vec!["id".into()], ..TableOptions::default() };
        let setup = Setup { threads: 1, skip_bad_rows: false };
        let inferred =
            infer_start(&Origin::named("t"), TABLE.as_bytes(), &options, &Labelling::Open, setup).unwrap();
        Arc::new(inferred.schema)
    }

    #[test]
    fn options_change_where_a_table_differs_from_the_one_trained_on_and_nothing_that_was_decided() {
        let strict = schema(Missing::Error);
        assert_eq!(applied(&strict, &TableOptions::default()), Ok(strict.clone()));
        let options = TableOptions {
            delimiter: Some(b';'),
            header: Header::Absent,
            missing: Missing::Mean,
            ..TableOptions::default()
        };
        let changed = applied(&strict, &options).unwrap();
        assert_eq!((changed.delimiter, changed.header, changed.missing), (b';', false, Missing::Mean));
        assert_eq!(changed.columns, strict.columns);
        let with = |missing| TableOptions { missing, ..TableOptions::default() };
        assert!(applied(&strict, &with(Missing::Indicator)).is_err());
        assert!(applied(&schema(Missing::ZeroIndicator), &with(Missing::Indicator)).is_ok());
        for own in [Missing::Zero, Missing::Mean, Missing::Indicator] {
            for given in [Missing::Zero, Missing::Mean, Missing::Indicator] {
                assert_eq!(applied(&schema(own), &with(given)).is_ok(), own == given);
            }
        }
        let headless = applied(&strict, &options).unwrap();
        let header = TableOptions { header: Header::Present, ..TableOptions::default() };
        assert!(applied(&headless, &header).is_err() && applied(&strict, &header).is_ok());
    }

    #[test]
    fn columns_are_meant_by_name_or_number_and_what_the_model_needs_cannot_be_dropped() {
        let schema = schema(Missing::Error);
        let columns = Columns::of(&schema, "t", b"more,y,a,id\n").unwrap();
        assert_eq!(columns.kept(&["id".into(), "1".into()], "t"), Ok(vec![3, 0]));
        assert!(columns.kept(&["5".into()], "t").is_err() && columns.kept(&["b".into()], "t").is_err());
        let drop =
            |meant: &str, labelling| columns.passed_over(&schema, &labelling, &[meant.into()], &[3], "t");
        // What was dropped in training may be dropped again, by its number there.
        assert_eq!(drop("1", Labelling::Ignored), Ok(vec!["id".into()]));
        assert_eq!(drop("more", Labelling::Ignored), Ok(vec!["id".into(), "more".into()]));
        assert_eq!(drop("y", Labelling::Ignored), Ok(vec!["id".into()]));
        assert!(drop("y", Labelling::Open).is_err() && drop("a", Labelling::Ignored).is_err());
        assert!(drop("b", Labelling::Ignored).is_err());
    }
}
