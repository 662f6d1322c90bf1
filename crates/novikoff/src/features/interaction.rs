//! Columns of a table whose features are multiplied.

use super::table::{Role, TableSchema, first_repeated};
use serde::{Deserialize, Serialize};

/// Columns of a table whose features are multiplied: a feature for each combination of categories that some
/// training row has, and one for numbers alone.
///
/// Its value is the product of the numbers. A row in which one of the columns is missing, or has a category
/// or a combination that no training row had, has none of these features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// The columns, by name.
    pub columns: Vec<String>,
    /// The first feature.
    pub feature: u32,
    /// What each feature is about: a category of every column; none of a column of numbers.
    pub cells: Vec<Vec<Option<String>>>,
}

impl Interaction {
    /// Most columns of one product.
    pub const MOST_COLUMNS: usize = 8;

    /// The name of feature number `offset`: `sex=male*class=1`, `sex=male*age`, `age*height`.
    pub(super) fn feature_name(&self, offset: usize) -> String {
        let part = |(column, category): (&String, &Option<String>)| match category {
            Some(category) => format!("{column}={category}"),
            None => column.clone(),
        };
        let cell = self.cells.get(offset).map(Vec::as_slice).unwrap_or_default();
        self.columns.iter().zip(cell).map(part).collect::<Vec<_>>().join("*")
    }

    /// Whether its feature is there whatever the rows say: that of numbers alone.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self.cells.as_slice(), [only] if only.iter().all(Option::is_none))
    }

    /// The same with these features alone, and the first of them numbered so.
    pub(crate) fn of_features(&mut self, is_kept: impl Fn(u32) -> bool, first: u32) {
        let mut old = self.feature..;
        self.cells.retain(|_| old.next().is_some_and(&is_kept));
        self.feature = first;
    }

    pub(super) fn check(&self, table: &TableSchema) -> Result<(), String> {
        let fail = |what: String| Err(format!("the interaction {} {what}", self.columns.join("*")));
        if !(2..=Self::MOST_COLUMNS).contains(&self.columns.len()) {
            return fail(format!("has not 2 to {} columns", Self::MOST_COLUMNS));
        }
        if let Some(name) = first_repeated(&self.columns) {
            return fail(format!("has column {name:?} twice"));
        }
        let mut roles = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            match table.columns.iter().find(|column| column.name == *name).map(|column| &column.role) {
                Some(role @ (Role::Numeric { .. } | Role::Categorical { .. })) => roles.push(role),
                _ => return fail(format!("has column {name:?}, which is no feature")),
            }
        }
        let is_number = |role: &&Role| matches!(role, Role::Numeric { .. });
        if roles.iter().all(is_number) && !self.is_numeric() {
            return fail("is one of numbers and has not one feature".into());
        }
        if self.cells.iter().any(|cell| cell.len() != roles.len() || !cell.iter().zip(&roles).all(fits)) {
            return fail("has a category of no column, or lacks one".into());
        }
        let names = self.cells.iter().map(|cell| format!("{cell:?}"));
        first_repeated(names).map_or(Ok(()), |cell| fail(format!("has {cell} twice")))
    }
}

/// Whether this may stand for a column in a combination. Categories are looked up when rows are read.
fn fits((category, role): (&Option<String>, &&Role)) -> bool {
    matches!((category, role), (None, Role::Numeric { .. }) | (Some(_), Role::Categorical { .. }))
}
