//! Columns of a table that are multiplied: which combinations of their categories there are, and the products
//! of a row.

use super::infer::Inferred;
use super::{Table, find_column, listed};
use crate::control::{Flow, Observer, Unwatched};
use crate::data::Report;
use crate::error::{Error, Result};
use crate::features::Dictionary;
use crate::features::table::{Column, Interaction, Role, TableSchema, first_repeated};
use crate::read::parsed_rows::{Labelling, ParsedRows};
use crate::read::pipeline::{self, Parser, Scratch, Setup};
use crate::read::source::{Again, Cut};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most features of all interactions.
const MOST_FEATURES: usize = 1 << 22;

/// Adds interactions of columns to a schema, with the combinations that the rows of a whole table have.
pub(crate) fn with_products(
    inferred: Inferred,
    interactions: &[String],
    labelling: &Labelling,
    input: &Again<'_>,
    setup: Setup,
) -> Result<Inferred> {
    let mut source = input.open()?;
    let file = source.name().to_owned();
    let Some(schema) = with_interactions(&inferred.schema, interactions, &file)? else {
        return Ok(inferred);
    };
    let start = source.look_ahead(Cut::Record { delimiter: schema.delimiter }, 0)?;
    let table = collector(&schema, labelling, &file, &start)?;
    let mut found = Dictionary::default();
    let mut collect = |rows: &mut ParsedRows, _: &mut dyn Observer| {
        add(&mut found, rows).map_err(|error| error.at(&file, 1, 1))?;
        Ok(Flow::Continue)
    };
    pipeline::run(source, Arc::new(table), setup, &mut Report::default(), &mut Unwatched, &mut collect)?;
    numbered(inferred, schema, &found, &file)
}

/// The same with the combinations of a stream's first part.
pub(crate) fn with_products_at_start(
    inferred: Inferred,
    interactions: &[String],
    labelling: &Labelling,
    file: &str,
    start: &[u8],
) -> Result<Inferred> {
    let Some(schema) = with_interactions(&inferred.schema, interactions, file)? else { return Ok(inferred) };
    let mut rows = ParsedRows::new(false);
    rows.clear();
    collector(&schema, labelling, file, start)?.parse(start, 0, &mut rows, &mut Scratch::default());
    let mut found = Dictionary::default();
    add(&mut found, &rows).map_err(|error| error.at(file, 1, 1))?;
    numbered(inferred, schema, &found, file)
}

fn collector(schema: &TableSchema, labelling: &Labelling, file: &str, start: &[u8]) -> Result<Table> {
    let table = Table::bind(Arc::new(schema.clone()), labelling.clone(), None, &[], file, start)?;
    Ok(table.collecting_combinations())
}

fn add(found: &mut Dictionary, rows: &ParsedRows) -> Result<()> {
    for name in rows.local_features.names() {
        found.intern(name);
    }
    if found.len() <= MOST_FEATURES {
        return Ok(());
    }
    let error = Error::input(format!("the `interactions` make more than {MOST_FEATURES} features"));
    Err(error.hint("multiply columns with fewer categories"))
}

/// The schema with interactions that have no feature yet; none if there are no interactions.
fn with_interactions(
    schema: &TableSchema,
    interactions: &[String],
    file: &str,
) -> Result<Option<TableSchema>> {
    if interactions.is_empty() {
        return Ok(None);
    }
    let mut schema = schema.clone();
    for text in interactions {
        let columns = columns(&schema, text).map_err(|error| error.at(file, 1, 1))?;
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        let is_same = |other: &Interaction| {
            let mut other = other.columns.clone();
            other.sort_unstable();
            other == sorted
        };
        if !schema.interactions.iter().any(is_same) {
            schema.interactions.push(Interaction { columns, feature: 0, cells: Vec::new() });
        }
    }
    Ok(Some(schema))
}

/// The names of the columns that an interaction multiplies: `A*B`, by names or numbers from 1.
fn columns(schema: &TableSchema, text: &str) -> Result<Vec<String>> {
    let names: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
    let refuse = |what: String| Error::usage(format!("`interactions = {text}` {what}"));
    let mut found = Vec::new();
    for meant in text.split('*') {
        let Some(j) = find_column(&names, meant) else {
            let error = refuse(format!("names a column {meant:?}, which is not there"));
            return Err(error.hint(format!("the columns are {}", listed(&names))));
        };
        let Column { name, role } = &schema.columns[j];
        if let Some(what) = is_no_feature(role) {
            return Err(refuse(format!("multiplies column {name:?}, which {what}"))
                .hint("multiply columns of numbers and of categories"));
        }
        found.push(name.clone());
    }
    if let Some(name) = first_repeated(&found) {
        let error = refuse(format!("multiplies column {name:?} by itself"));
        return Err(error.hint("powers of numbers are made by `map = poly:2`"));
    }
    if !(2..=Interaction::MOST_COLUMNS).contains(&found.len()) {
        let error = refuse(format!("has not 2 to {} columns", Interaction::MOST_COLUMNS));
        return Err(error.hint("columns are multiplied like this: `interactions = A*B`"));
    }
    Ok(found)
}

fn is_no_feature(role: &Role) -> Option<&'static str> {
    match role {
        Role::Numeric { .. } | Role::Categorical { .. } => None,
        Role::Label => Some("holds the labels"),
        Role::RowWeight => Some("holds the row weights"),
        Role::Text => Some("holds documents"),
        Role::Dropped => Some("is left out"),
    }
}

/// Numbers the combinations that were found, in the order in which they were.
fn numbered(inferred: Inferred, mut schema: TableSchema, found: &Dictionary, file: &str) -> Result<Inferred> {
    let first = schema.features();
    for key in found.names() {
        let mut numbers = key.split(',').filter_map(|number| number.parse::<u32>().ok());
        let at = numbers.next().unwrap_or(0) as usize;
        let features: Vec<u32> = numbers.collect();
        let cell = schema.interactions[at].columns.iter().zip(features);
        let cell = cell.map(|(name, feature)| category(&schema, name, feature)).collect();
        schema.interactions[at].cells.push(cell);
    }
    let mut next = first as u64;
    for at in 0..schema.interactions.len() {
        if is_of_numbers(&schema, &schema.interactions[at]) {
            schema.interactions[at].cells = vec![vec![None; schema.interactions[at].columns.len()]];
        }
        let too_many = |_| Error::input("the table makes too many features").at(file, 1, 1);
        schema.interactions[at].feature = u32::try_from(next).map_err(too_many)?;
        next += schema.interactions[at].cells.len() as u64;
    }
    let mut inferred = Inferred { schema, ..inferred };
    inferred.remarks.push(format!("interactions: {} features", next - first as u64));
    Ok(inferred)
}

fn is_of_numbers(schema: &TableSchema, interaction: &Interaction) -> bool {
    let is_number = |name: &String| {
        let column = schema.columns.iter().find(|column| column.name == *name);
        column.is_some_and(|column| matches!(column.role, Role::Numeric { .. }))
    };
    interaction.columns.iter().all(is_number)
}

/// The category of a column that a feature stands for; none of a column of numbers.
fn category(schema: &TableSchema, name: &str, feature: u32) -> Option<String> {
    match &schema.columns.iter().find(|column| column.name == name)?.role {
        Role::Categorical { feature: first, categories, .. } => {
            categories.get(feature.checked_sub(*first)? as usize).cloned()
        }
        _ => None,
    }
}

/// How the columns of a table's rows are multiplied.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundInteractions {
    all: Vec<Bound>,
    mode: Mode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Combinations that are known are features.
    #[default]
    Known,
    /// Combinations are collected.
    Collect,
}

/// An interaction whose columns are found in the rows.
#[derive(Clone, Debug)]
struct Bound {
    /// The columns, by their places among the features of a row.
    places: Vec<usize>,
    /// The feature of each combination of the columns' features.
    features: FxHashMap<Vec<u32>, u32>,
}

impl BoundInteractions {
    /// Those of a schema; `columns` are its columns in the order in which a row's factors come.
    pub(super) fn of(schema: &TableSchema, columns: &[usize]) -> Self {
        let bind = |interaction: &Interaction| {
            let numbers: Vec<usize> =
                interaction.columns.iter().filter_map(|name| column_number(schema, name)).collect();
            let places = numbers.iter().filter_map(|number| columns.iter().position(|j| j == number));
            let values: Vec<Values<'_>> =
                numbers.iter().map(|&number| Values::of(&schema.columns[number])).collect();
            let combination = |cell: &Vec<Option<String>>| -> Option<Vec<u32>> {
                values
                    .iter()
                    .zip(cell)
                    .map(|(values, category)| values.feature(category.as_deref()))
                    .collect()
            };
            let cells = interaction.cells.iter().zip(interaction.feature..);
            let features = cells.filter_map(|(cell, j)| Some((combination(cell)?, j))).collect();
            Bound { places: places.collect(), features }
        };
        Self { all: schema.interactions.iter().map(bind).collect(), mode: Mode::Known }
    }

    pub(super) fn collect(&mut self) {
        self.mode = Mode::Collect;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Forgets the combinations of a row that is given up.
    pub(super) fn forget(&self, rows: &mut ParsedRows, names_before: usize) {
        if self.mode == Mode::Collect {
            rows.local_features.truncate(names_before);
        }
    }

    /// Adds the products of a row's factors: the feature of each column, and its value. `Err` says at which
    /// factor a product is no number.
    pub(super) fn products(
        &self,
        factors: &[Option<(u32, f64)>],
        rows: &mut ParsedRows,
    ) -> std::result::Result<(), (usize, String)> {
        let mut combination = Vec::new();
        for (number, bound) in self.all.iter().enumerate() {
            let Some(value) = bound.product(factors, &mut combination) else { continue };
            if !value.is_finite() {
                let at = bound.places.first().copied().unwrap_or(0);
                return Err((at, "a product of this value is not a finite number".into()));
            }
            if value == 0.0 {
                continue;
            }
            match (self.mode, bound.features.get(&combination)) {
                (Mode::Collect, _) => {
                    let key: Vec<String> = combination.iter().map(u32::to_string).collect();
                    rows.local_features.intern(&format!("{number},{}", key.join(",")));
                }
                (Mode::Known, Some(&feature)) => rows.entry(feature, value),
                (Mode::Known, None) => {}
            }
        }
        Ok(())
    }
}

impl Bound {
    /// The product of its factors, if none is missing, and their features.
    fn product(&self, factors: &[Option<(u32, f64)>], combination: &mut Vec<u32>) -> Option<f64> {
        combination.clear();
        let mut product = 1.0;
        for &place in &self.places {
            let (feature, value) = (*factors.get(place)?)?;
            combination.push(feature);
            product *= value;
        }
        Some(product)
    }
}

fn column_number(schema: &TableSchema, name: &str) -> Option<usize> {
    schema.columns.iter().position(|column| column.name == name)
}

/// The features of a column by its categories, or that of a column of numbers.
#[derive(Default)]
struct Values<'a> {
    number: Option<u32>,
    categories: FxHashMap<&'a str, u32>,
}

impl<'a> Values<'a> {
    fn of(column: &'a Column) -> Self {
        match &column.role {
            Role::Numeric { feature, .. } => Self { number: Some(*feature), ..Self::default() },
            Role::Categorical { feature, categories, .. } => {
                let categories = categories.iter().map(String::as_str).zip(*feature..).collect();
                Self { number: None, categories }
            }
            _ => Self::default(),
        }
    }

    fn feature(&self, category: Option<&str>) -> Option<u32> {
        category.map_or(self.number, |category| self.categories.get(category).copied())
    }
}
