//! The columns of a table and the features that they become.

pub use super::interaction::Interaction;

use super::Missing;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// How the columns of a delimited table become features: decided once, over the training rows, and kept in
/// the model.
///
/// Features are numbered through the columns in the order of the training file; those of one column are side
/// by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// The byte between fields.
    pub delimiter: u8,
    /// Whether the first record names the columns. Without, they are called by their number from 1.
    pub header: bool,
    /// What becomes of missing values.
    pub missing: Missing,
    /// The columns, in the order of the training file.
    pub columns: Vec<Column>,
    /// Columns that are multiplied. These features come behind those of the columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<Interaction>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name, or its number from 1.
    pub name: String,
    /// What it is for.
    pub role: Role,
}

/// What a column is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Role {
    /// It holds the labels.
    Label,
    /// Nobody looks at it.
    Dropped,
    /// It says how much a row counts.
    RowWeight,
    /// It holds documents, whose terms come behind the features of all other columns.
    Text,
    /// Its numbers are the values of one feature.
    Numeric {
        /// That feature.
        feature: u32,
        /// Mean of the values in the training rows; `None` where the rows of a stream were not looked at for
        /// it, as no missing value was to count as the mean.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mean: Option<f64>,
        /// Whether the next feature says that the value was missing.
        indicator: bool,
    },
    /// Each of its values is a feature, which is 1 in the rows that have the value.
    Categorical {
        /// The feature of the first category.
        feature: u32,
        /// The categories, in the order of first appearance.
        categories: Vec<String>,
        /// Whether the feature after those of the categories says that the value was missing.
        indicator: bool,
    },
}

impl Role {
    /// The first feature of the column and how many there are.
    fn span(&self) -> Option<(u32, u64)> {
        match self {
            Role::Label | Role::Dropped | Role::RowWeight | Role::Text => None,
            Role::Numeric { feature, indicator, .. } => Some((*feature, 1 + u64::from(*indicator))),
            Role::Categorical { feature, categories, indicator } => {
                Some((*feature, categories.len() as u64 + u64::from(*indicator)))
            }
        }
    }
}

impl Column {
    /// The name of the column's feature number `offset`.
    fn feature_name(&self, offset: usize) -> String {
        match &self.role {
            Role::Numeric { .. } if offset == 0 => self.name.clone(),
            Role::Categorical { categories, .. } if offset < categories.len() => {
                format!("{}={}", self.name, categories[offset])
            }
            _ => format!("{}=missing", self.name),
        }
    }

    fn check(&self, policy: Missing) -> Result<(), String> {
        let fail = |what: &str| Err(format!("column {:?} {what}", self.name));
        match &self.role {
            Role::Numeric { mean: Some(mean), .. } if !mean.is_finite() => {
                fail("has a mean that is not finite")
            }
            Role::Numeric { indicator: true, .. } | Role::Categorical { indicator: true, .. }
                if !policy.has_indicators() =>
            {
                fail("has a feature for missing values, which the policy has no use for")
            }
            Role::Categorical { categories, .. } if first_repeated(categories).is_some() => {
                fail("has a category twice")
            }
            _ => Ok(()),
        }
    }
}

impl TableSchema {
    /// Name of feature `j`: `age` of a numeric column, `sex=male` of a category, `age=missing` of an
    /// indicator.
    pub fn feature_name(&self, j: u32) -> String {
        let found = self.columns.iter().find_map(|column| {
            let (first, count) = column.role.span()?;
            let offset = u64::from(j.checked_sub(first)?);
            (offset < count).then(|| column.feature_name(offset as usize))
        });
        found.or_else(|| self.product_name(j)).unwrap_or_else(|| format!("#{j}"))
    }

    fn product_name(&self, j: u32) -> Option<String> {
        self.interactions.iter().find_map(|interaction| {
            let offset = j.checked_sub(interaction.feature)? as usize;
            (offset < interaction.cells.len()).then(|| interaction.feature_name(offset))
        })
    }

    /// The names of all features.
    pub fn feature_names(&self) -> Vec<String> {
        let names = |column: &Column| -> Vec<String> {
            let count = column.role.span().map_or(0, |(_, count)| count as usize);
            (0..count).map(|offset| column.feature_name(offset)).collect()
        };
        let of_interaction = |interaction: &Interaction| -> Vec<String> {
            (0..interaction.cells.len()).map(|offset| interaction.feature_name(offset)).collect()
        };
        self.columns.iter().flat_map(names).chain(self.interactions.iter().flat_map(of_interaction)).collect()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        let spans = self.columns.iter().filter_map(|column| column.role.span());
        let interactions = self.interactions.iter().map(|interaction| interaction.cells.len());
        spans.map(|(_, count)| count as usize).chain(interactions).sum()
    }

    /// The column that holds the labels, if there is one.
    pub fn label(&self) -> Option<&Column> {
        self.columns.iter().find(|column| column.role == Role::Label)
    }

    /// Whether some of the columns hold documents.
    pub(crate) fn has_text(&self) -> bool {
        self.columns.iter().any(|column| column.role == Role::Text)
    }

    /// Whether a schema that comes from outside is one that could have been made here; `Err` says why not.
    pub fn validate(&self) -> Result<(), String> {
        if !is_delimiter(self.delimiter) {
            return Err("a delimiter that cannot be one".into());
        }
        if self.columns.is_empty() {
            return Err("a table without columns".into());
        }
        if let Some(name) = first_repeated(self.columns.iter().map(|column| &column.name)) {
            return Err(format!("column {name:?} comes twice"));
        }
        for (role, name) in [(Role::Label, "label"), (Role::RowWeight, "row weight")] {
            if self.columns.iter().filter(|column| column.role == role).count() > 1 {
                return Err(format!("more than one {name} column"));
            }
        }
        self.columns.iter().try_for_each(|column| column.check(self.missing))?;
        self.interactions.iter().try_for_each(|interaction| interaction.check(self))?;
        self.check_numbering()
    }

    fn check_numbering(&self) -> Result<(), String> {
        let mut next = 0u64;
        for column in &self.columns {
            let Some((first, count)) = column.role.span() else { continue };
            if u64::from(first) != next {
                return Err(format!(
                    "the features of column {:?} start at {first}, not at {next}",
                    column.name
                ));
            }
            next += count;
        }
        for interaction in &self.interactions {
            if u64::from(interaction.feature) != next {
                let (name, first) = (interaction.columns.join("*"), interaction.feature);
                return Err(format!(
                    "the features of the interaction {name} start at {first}, not at {next}"
                ));
            }
            next += interaction.cells.len() as u64;
        }
        if next > u64::from(u32::MAX) { Err(format!("{next} features are too many")) } else { Ok(()) }
    }
}

/// Whether this byte can separate fields: quotes, spaces and the ends of lines have a meaning of their own.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | b' ')
}

/// The first of the names that was there before.
pub(crate) fn first_repeated<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Option<String> {
    let mut seen = FxHashSet::default();
    names.into_iter().map(|name| name.as_ref().to_owned()).find(|name| !seen.insert(name.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> TableSchema {
        let column = |name: &str, role| Column { name: name.into(), role };
        let categories = vec!["male".to_owned(), "female".to_owned()];
        TableSchema {
            delimiter: b',',
            header: true,
            missing: Missing::Indicator,
            columns: vec![
                column("id", Role::Dropped),
                column("age", Role::Numeric { feature: 0, mean: Some(29.7), indicator: true }),
                column("y", Role::Label),
                column("sex", Role::Categorical { feature: 2, categories, indicator: false }),
                column(
                    "port",
                    Role::Categorical { feature: 4, categories: vec!["S".into()], indicator: true },
                ),
                column("w", Role::RowWeight),
            ],
            interactions: Vec::new(),
        }
    }

    #[test]
    fn features_are_called_by_column_and_category() {
        let schema = schema();
        let names: Vec<String> = (0..7).map(|j| schema.feature_name(j)).collect();
        assert_eq!(names, ["age", "age=missing", "sex=male", "sex=female", "port=S", "port=missing", "#6"]);
        assert_eq!(schema.feature_names(), names[..6]);
        assert_eq!(schema.features(), 6);
        assert_eq!(schema.validate(), Ok(()));
    }

    #[test]
    fn a_schema_survives_json_to_the_bit_and_unknown_keys_are_refused() {
        let mut schema = schema();
        schema.columns[1].role = Role::Numeric { feature: 0, mean: Some(0.1 + 0.2), indicator: true };
        let text = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<TableSchema>(&text).unwrap(), schema);
        for (known, unknown) in
            [("\"header\"", "\"extra\":1,\"header\""), ("\"mean\"", "\"extra\":1,\"mean\"")]
        {
            let text = text.replacen(known, unknown, 1);
            assert!(serde_json::from_str::<TableSchema>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_schema_that_could_not_have_been_made_is_not_valid() {
        let mut spoiled: Vec<TableSchema> = vec![schema(); 9];
        spoiled[0].columns[0].role = Role::Label;
        spoiled[1].columns[0].role = Role::RowWeight;
        spoiled[2].columns[1].role = Role::Numeric { feature: 1, mean: Some(0.0), indicator: true };
        spoiled[3].columns[1].role = Role::Numeric { feature: 0, mean: Some(f64::NAN), indicator: true };
        spoiled[4].columns[3].role =
            Role::Categorical { feature: 2, categories: vec!["a".into(), "a".into()], indicator: false };
        spoiled[5].columns[0].name = "age".into();
        spoiled[6].delimiter = b'"';
        spoiled[7].missing = Missing::Zero;
        spoiled[8].columns.clear();
        for (i, schema) in spoiled.iter().enumerate() {
            assert!(schema.validate().is_err(), "{i}");
        }
    }
}
