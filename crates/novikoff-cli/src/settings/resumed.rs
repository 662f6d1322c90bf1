//! How rows are read to go on from a model.

use super::{Use, options_for, training_options};
use crate::arguments::Train;
use novikoff::features::namespaces::{FeatureNumbering, NamespaceSchema};
use novikoff::features::table::{Column, Role, TableSchema};
use novikoff::features::text::{TextRecipe, Vocabulary};
use novikoff::features::{Missing, Schema};
use novikoff::model::Model;
use novikoff::read::{Format, Header, Options, Was};
use novikoff::{Error, Result};

/// How to read rows by the model's own recipe, to which new features are added.
pub fn options_on(train: &Train, model: &Model) -> Result<Options> {
    if let Some(option) = train.documents.given() {
        let what = format!("{option} says how documents become features, which the model has decided");
        return Err(Error::usage(what).hint(format!("leave out {option}, or --from")));
    }
    let keeps_names = match &model.schema {
        Schema::Text(text) => matches!(text.vocabulary(), Vocabulary::Hashed { names: Some(_), .. }),
        _ => false,
    };
    if train.documents.keep_names && !keeps_names {
        return Err(Error::usage("the model has kept no names of its hashed terms")
            .hint("leave out --keep-names, or --from"));
    }
    let options = options_for(&train.reading, model, Use::Evaluation)?;
    // The model's schema has them.
    Ok(Options { hash_bits: None, ..options })
}

/// How to read rows as if there were no model, but with its options where no others are given: the same
/// columns, the same recipe.
pub fn options_anew(train: &Train, model: &Model) -> Result<Options> {
    let recipe = match &model.schema {
        Schema::Text(text) => text.recipe().clone(),
        _ => TextRecipe::default(),
    };
    let mut options = training_options(&train.reading, &train.documents, recipe)?;
    // As with a model that is applied: it tells what the rows are.
    options.format = options.format.or(match &model.schema {
        Schema::Named(_) | Schema::Hashed { .. } | Schema::Namespaces(_) => Some(Format::Vw),
        Schema::Table(_) => Some(Format::Csv),
        Schema::Text(text) => text.table().map(|_| Format::Csv),
        Schema::Indexed { .. } => None,
    });
    match &model.schema {
        Schema::Indexed { base } => options.base = options.base.or((*base == 0).then_some(0)),
        Schema::Hashed { bits } => options.hash_bits = options.hash_bits.or(Some(*bits)),
        Schema::Named(_) => {}
        Schema::Namespaces(schema) => add_namespaces(&mut options, schema)?,
        Schema::Table(table) => add_table(&mut options, table),
        Schema::Text(text) => {
            if let Vocabulary::Hashed { bits, names } = text.vocabulary() {
                options.hash_bits = options.hash_bits.or(Some(*bits));
                options.keep_names |= names.is_some();
            }
            text.table().into_iter().for_each(|table| add_table(&mut options, table));
        }
    }
    Ok(options)
}

/// How a model numbers features of namespaces, and whose it multiplies, as options.
fn add_namespaces(options: &mut Options, schema: &NamespaceSchema) -> Result<()> {
    match &schema.numbering {
        FeatureNumbering::Named(_) => {}
        FeatureNumbering::Hashed { bits } => options.hash_bits = options.hash_bits.or(Some(*bits)),
        FeatureNumbering::Murmur(_) => {
            let what =
                "the model numbers features by Vowpal Wabbit's hash, which only predictions and streams can";
            return Err(Error::usage(what).hint("use --online, or leave out --from"));
        }
    }
    if options.interactions.is_empty() {
        options.interactions = schema.interactions.letters().to_vec();
    }
    Ok(())
}

/// The columns of a model's table as options.
fn add_table(options: &mut Options, schema: &TableSchema) {
    let given = &options.table;
    let lists = [&given.drop, &given.text, &given.categories, &given.numbers];
    let given: Vec<&String> =
        lists.into_iter().flatten().chain(&given.label).chain(&given.row_weights).collect();
    let others: Vec<&Column> =
        schema.columns.iter().filter(|column| !given.contains(&&column.name)).collect();
    let named = |is: fn(&Role) -> bool| {
        let columns = others.iter().filter(move |column| is(&column.role));
        columns.map(|column| column.name.clone())
    };
    if options.interactions.is_empty() {
        let products = schema.interactions.iter().map(|interaction| interaction.columns.join("*"));
        options.interactions = products.collect();
    }
    let table = &mut options.table;
    let label = || named(|role| *role == Role::Label).next();
    table.label = table.label.take().or_else(label);
    let weights = || named(|role| *role == Role::RowWeight).next();
    table.row_weights = table.row_weights.take().or_else(weights);
    if table.drop.is_empty() {
        table.drop = named(|role| *role == Role::Dropped).collect();
    }
    if table.text.is_empty() {
        table.text = named(|role| *role == Role::Text).collect();
    }
    if table.missing == Missing::Error {
        table.missing = schema.missing;
    }
    if table.header == Header::Detect {
        table.header = if schema.header { Header::Present } else { Header::Absent };
    }
    table.delimiter = table.delimiter.or(Some(schema.delimiter));
    table.before = Was::of(schema);
}
