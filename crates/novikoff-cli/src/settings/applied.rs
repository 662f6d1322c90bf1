//! How rows are read for a model. It has decided most of that in training: an option that says otherwise, or
//! that nothing follows from, is a mistake.

use super::options;
use crate::arguments::Reading;
use novikoff::features::table::{Role, TableSchema};
use novikoff::features::text::Vocabulary;
use novikoff::features::{Missing, Schema};
use novikoff::model::Model;
use novikoff::read::Options;
use novikoff::{Error, Result};

/// What a model's rows are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Their labels are not looked at.
    Prediction,
    /// Every row has a label.
    Evaluation,
}

/// How to read rows for this model.
pub fn options_for(reading: &Reading, model: &Model, wanted: Use) -> Result<Options> {
    let table = match &model.schema {
        Schema::Table(table) => Some(&**table),
        Schema::Text(text) => text.table().map(|table| &**table),
        _ => None,
    };
    check_weights(reading, wanted)?;
    check_labels(reading, table, wanted)?;
    check_features(reading, &model.schema)?;
    if let Some(table) = table {
        check_columns(reading, table)?;
    }
    options(reading)
}

fn check_weights(reading: &Reading, wanted: Use) -> Result<()> {
    if reading.row_weights.is_none() || wanted == Use::Evaluation {
        return Ok(());
    }
    let what = "--row-weights has no effect: a prediction is of one row, whatever its weight";
    Err(Error::usage(what).hint("leave out --row-weights"))
}

fn check_labels(reading: &Reading, table: Option<&TableSchema>, wanted: Use) -> Result<()> {
    let own = table.and_then(|table| find(table, |role| *role == Role::Label));
    match (&reading.label, table, wanted) {
        (Some(given), Some(table), _) if is_column(table, given, |role| *role == Role::Label) => {}
        (Some(given), Some(_), Use::Evaluation) => {
            let own = own.unwrap_or("label");
            let what =
                format!("--label {given:?} is not the column that the model learned to predict, {own:?}");
            return Err(
                Error::usage(what).hint(format!("leave out --label, and call the labels' column {own:?}"))
            );
        }
        (Some(given), _, Use::Prediction) => {
            let error = Error::usage("--label has no effect: labels are not looked at for predictions");
            return Err(error.hint(format!("leave it out; --drop {given} leaves out a column")));
        }
        _ => {}
    }
    if reading.labels.is_some() && wanted == Use::Prediction {
        let error = Error::usage("--labels has no effect: labels are not looked at for predictions");
        return Err(error.hint("leave out --labels"));
    }
    Ok(())
}

/// How features are numbered.
fn check_features(reading: &Reading, schema: &Schema) -> Result<()> {
    let own_bits = match schema {
        Schema::Hashed { bits } => Some(*bits),
        Schema::Named(_) => Some(0),
        Schema::Namespaces(namespaces) => Some(namespaces.bits().unwrap_or(0)),
        Schema::Text(text) => match text.vocabulary() {
            Vocabulary::Hashed { bits, .. } => Some(*bits),
            Vocabulary::Named(_) => Some(0),
        },
        Schema::Indexed { .. } | Schema::Table(_) => None,
    };
    if reading.hash_bits.is_some() && reading.hash_bits != own_bits {
        let what = match own_bits {
            None => "--hash-bits has no effect: the model's features have no names".to_owned(),
            Some(0) => "--hash-bits has no effect: the model numbers its features by a dictionary".to_owned(),
            Some(bits) => format!("the model was trained with --hash-bits {bits}"),
        };
        return Err(Error::usage(what).hint("leave out --hash-bits"));
    }
    if !reading.interactions.is_empty() {
        let what = "--interactions has no effect: the model knows which features it multiplies";
        return Err(Error::usage(what).hint("leave out --interactions"));
    }
    if reading.max_index.is_some() && !matches!(schema, Schema::Indexed { .. }) {
        let error = Error::usage("--max-index has no effect: the model knows its features by their names");
        return Err(error.hint("leave out --max-index"));
    }
    Ok(())
}

/// What columns of a table are for.
fn check_columns(reading: &Reading, table: &TableSchema) -> Result<()> {
    if reading.missing == Some(Missing::Error) && table.missing != Missing::Error {
        let what = "--missing error has no effect: the model was trained to do without missing values";
        return Err(Error::usage(what).hint("leave out --missing"));
    }
    if let Some(given) =
        reading.text.iter().find(|given| !is_column(table, given, |role| *role == Role::Text))
    {
        let what = format!("--text {given:?} is no column that the model was trained to read as documents");
        return Err(Error::usage(what).hint("leave out --text"));
    }
    Ok(())
}

/// Whether what is meant by a name, or by a number from 1, is a column of such a role.
fn is_column(table: &TableSchema, meant: &str, is: impl Fn(&Role) -> bool) -> bool {
    let named = table.columns.iter().find(|column| column.name == meant);
    let numbered = || table.columns.get(meant.parse::<usize>().ok()?.checked_sub(1)?);
    named.or_else(numbered).is_some_and(|column| is(&column.role))
}

/// The name of the first column of such a role.
fn find(table: &TableSchema, is: impl Fn(&Role) -> bool) -> Option<&str> {
    table.columns.iter().find(|column| is(&column.role)).map(|column| column.name.as_str())
}
