//! Rows whose recipe can be fitted to a part of them: what cross-validation is honest with.
//!
//! Some of what makes rows of an input depends on all rows at once: the weights of terms (idf) and which
//! terms there are, the means that stand in place of missing numbers, the categories and names that are
//! features. A model that is measured on held-out rows must not know these of them.

use super::matrix::{Builder, Layout};
use super::{Dataset, Matrix, documents};
use crate::error::Result;
use crate::features::Schema;
use crate::features::namespaces::FeatureNumbering;
use crate::features::table::{Role, TableSchema};
use crate::features::text::TextSchema;
use std::sync::Arc;

/// Rows that can be split, with their recipe fitted to one part.
pub trait Refit: Sync {
    /// All rows, with the recipe fitted to all.
    fn data(&self) -> &Dataset<'_>;

    /// The training rows and the held-out rows, each in the order given, with the recipe fitted to the
    /// training rows alone. Features that no training row has are left out.
    fn split(&self, training: &[usize], held_out: &[usize]) -> Result<Parts>;
}

/// Rows to learn from, and rows to measure on.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The rows to learn from.
    pub training: Dataset<'static>,
    /// The rows to measure on, with the features of the others.
    pub held_out: Dataset<'static>,
}

/// Nothing is known of how these rows came to be, but what the schema says of their features.
impl Refit for Dataset<'_> {
    fn data(&self) -> &Dataset<'_> {
        self
    }

    fn split(&self, training: &[usize], held_out: &[usize]) -> Result<Parts> {
        Ok(split(self, &self.rows, &[], training, held_out))
    }
}

/// Rows as a reader has read them, with what it takes to fit their recipe again.
///
/// ```
/// use novikoff::control::Unwatched;
/// use novikoff::data::Refit;
/// use novikoff::read::{Input, Options, Purpose, Reader, TableOptions};
/// use novikoff::features::Missing;
///
/// let bytes = (*b"height,label\n1,a\n3,b\nNA,b\n8,a\n").into();
/// let table = TableOptions { missing: Missing::Mean, ..TableOptions::default() };
/// let options = Options { table, ..Options::default() };
/// let input = Input::Bytes { name: "heights.csv".into(), bytes };
/// let rows = Reader::open(&input, &options, &Purpose::Training)?.read_refittable(&mut Unwatched)?;
/// assert_eq!(rows.data().rows.row(2).dot(&[1.0]), 4.0, "the mean of all rows");
/// let parts = rows.split(&[0, 1, 2], &[3])?;
/// assert_eq!(parts.training.rows.row(2).dot(&[1.0]), 2.0, "the mean of the training rows");
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Refittable {
    data: Dataset<'static>,
    /// Documents, as counts of terms, with a schema that knows the terms alone.
    counts: Option<(Matrix<'static>, TextSchema)>,
    /// Entries that stand in place of missing numbers, in the order of rows and columns.
    filled: Vec<Filled>,
}

/// An entry that stands in place of a missing number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) row: usize,
    pub(crate) feature: u32,
}

impl Refittable {
    /// Rows that the recipe is fitted to.
    pub(crate) fn new(data: Dataset<'static>, filled: Vec<Filled>) -> Self {
        Self { data, counts: None, filled }
    }

    /// Documents, as counts and as what the recipe makes of them.
    pub(crate) fn of_documents(
        data: Dataset<'static>,
        counts: (Matrix<'static>, TextSchema),
        filled: Vec<Filled>,
    ) -> Self {
        Self { data, counts: Some(counts), filled }
    }

    /// The rows, with the recipe fitted to all of them.
    pub fn into_data(self) -> Dataset<'static> {
        self.data
    }
}

impl Refit for Refittable {
    fn data(&self) -> &Dataset<'_> {
        &self.data
    }

    fn split(&self, training: &[usize], held_out: &[usize]) -> Result<Parts> {
        let rows = self.counts.as_ref().map_or(&self.data.rows, |(counts, _)| counts);
        let mut parts = split(&self.data, rows, &self.filled, training, held_out);
        if let Some((_, schema)) = &self.counts {
            let (weights, names) = documents::fit(&parts.training.rows, schema.clone())?;
            parts.training.rows = weights.weigh(&parts.training.rows);
            parts.held_out.rows = weights.weigh(&parts.held_out.rows);
            let schema = Arc::new(names.schema());
            (parts.training.schema, parts.held_out.schema) =
                (Schema::Text(schema.clone()), Schema::Text(schema));
        }
        Ok(parts)
    }
}

/// Both parts of these rows, which may be others than those of the data set. Missing numbers are filled in by
/// the means of the training rows.
fn split(data: &Dataset, rows: &Matrix, filled: &[Filled], training: &[usize], held_out: &[usize]) -> Parts {
    let columns = columns(rows, &data.schema, training);
    let means = means(rows, filled, training);
    let selection = Selection { rows, filled, means, columns };
    let part = |of: &[usize]| Dataset {
        rows: selection.of(of),
        schema: selection.schema(&data.schema),
        ..data.select_without_rows(of)
    };
    Parts { training: part(training), held_out: part(held_out) }
}

/// What becomes of rows when some are selected.
struct Selection<'a> {
    rows: &'a Matrix<'a>,
    filled: &'a [Filled],
    /// The new value of each column's filled entries; empty if none are filled.
    means: Vec<f64>,
    /// The new number of each column that stays; `None` if all stay as they are.
    columns: Option<Vec<Option<u32>>>,
}

impl Selection<'_> {
    fn of(&self, of: &[usize]) -> Matrix<'static> {
        if self.columns.is_none() && self.filled.is_empty() {
            return self.rows.select(of.iter().copied());
        }
        let width = self.width();
        let layout = if self.rows.is_dense() { Layout::Dense { columns: width } } else { Layout::Sparse };
        let mut builder = Builder::new(layout);
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for &i in of {
            self.collect_row(i, &mut entries);
            indices.clear();
            values.clear();
            for &(j, x) in &entries {
                if let Some(j) = self.number(j) {
                    indices.push(j);
                    values.push(x);
                }
            }
            builder.push(&indices, &values);
        }
        let mut selected = builder.finish();
        selected.widen(width);
        selected
    }

    /// The entries of a row, by their old numbers, with the new means.
    fn collect_row(&self, i: usize, entries: &mut Vec<(u32, f64)>) {
        entries.clear();
        self.rows.row(i).for_each_nonzero(|j, x| entries.push((j, x)));
        for filled in filled_in(self.filled, i) {
            let mean = self.means[filled.feature as usize];
            match entries.binary_search_by_key(&filled.feature, |entry| entry.0) {
                Ok(at) => entries[at].1 = mean,
                // The mean of all rows was zero.
                Err(at) => entries.insert(at, (filled.feature, mean)),
            }
        }
        entries.retain(|entry| entry.1 != 0.0);
    }

    fn number(&self, column: u32) -> Option<u32> {
        self.columns.as_ref().map_or(Some(column), |columns| columns[column as usize])
    }

    fn width(&self) -> usize {
        self.columns.as_ref().map_or(self.rows.columns(), |columns| columns.iter().flatten().count())
    }

    fn schema(&self, schema: &Schema) -> Schema {
        let Some(columns) = &self.columns else { return schema.clone() };
        let kept: Vec<u32> = (0..).zip(columns).filter(|(_, new)| new.is_some()).map(|(j, _)| j).collect();
        match schema {
            Schema::Named(names) => Schema::Named(Arc::new(names.as_ref().clone().select(&kept))),
            Schema::Table(table) => Schema::Table(Arc::new(table.of_features(&kept))),
            Schema::Namespaces(namespaces) => Schema::Namespaces(Arc::new(namespaces.of_features(&kept))),
            schema => schema.clone(),
        }
    }
}

/// The entries of a row that stand in place of missing numbers.
fn filled_in(filled: &[Filled], row: usize) -> &[Filled] {
    let from = filled.partition_point(|filled| filled.row < row);
    let count = filled[from..].partition_point(|filled| filled.row == row);
    &filled[from..from + count]
}

/// The means of the training rows' own values, of columns with filled entries; zeros are values.
fn means(rows: &Matrix, filled: &[Filled], training: &[usize]) -> Vec<f64> {
    if filled.is_empty() {
        return Vec::new();
    }
    let n = training.len() as f64;
    let (mut sums, mut counts) = (vec![0.0; rows.columns()], vec![n; rows.columns()]);
    for &i in training {
        let mut own = filled_in(filled, i);
        own.iter().for_each(|filled| counts[filled.feature as usize] -= 1.0);
        rows.row(i).for_each_nonzero(|j, x| {
            own = &own[own.partition_point(|filled| filled.feature < j)..];
            if own.first().is_none_or(|filled| filled.feature != j) {
                sums[j as usize] += x / n;
            }
        });
    }
    let mean = |(sum, count): (f64, &f64)| if *count > 0.0 { sum * (n / count) } else { 0.0 };
    sums.into_iter().zip(&counts).map(mean).collect()
}

/// The new number of each column, if some are not there but for rows that are held out: names, categories,
/// indices beyond the largest. `None` if all stay.
fn columns(rows: &Matrix, schema: &Schema, training: &[usize]) -> Option<Vec<Option<u32>>> {
    let always: Vec<bool> = match schema {
        Schema::Named(_) => vec![false; rows.columns()],
        Schema::Namespaces(namespaces) => match namespaces.numbering {
            FeatureNumbering::Named(_) => vec![false; rows.columns()],
            FeatureNumbering::Hashed { .. } | FeatureNumbering::Murmur(_) => return None,
        },
        Schema::Table(table) => table.always_there(),
        Schema::Indexed { .. } if !rows.is_dense() => vec![false; rows.columns()],
        Schema::Indexed { .. } | Schema::Hashed { .. } | Schema::Text(_) => return None,
    };
    let mut met = always;
    met.resize(rows.columns(), true);
    training.iter().for_each(|&i| rows.row(i).for_each_nonzero(|j, _| met[j as usize] = true));
    if let Schema::Indexed { .. } = schema {
        // An index that nobody uses is a feature still, below the largest.
        let used = met.iter().rposition(|met| *met).map_or(0, |last| last + 1);
        met[..used].fill(true);
    }
    if met.iter().all(|met| *met) {
        return None;
    }
    let mut next = 0;
    let number = |met: bool| {
        met.then(|| {
            next += 1;
            next - 1
        })
    };
    Some(met.into_iter().map(number).collect())
}

impl TableSchema {
    /// Which features are there whatever the rows say: those of numbers.
    fn always_there(&self) -> Vec<bool> {
        let mut always = vec![false; self.features()];
        for column in &self.columns {
            if let Role::Numeric { feature, .. } = column.role {
                always[feature as usize] = true;
            }
        }
        for interaction in self.interactions.iter().filter(|interaction| interaction.is_numeric()) {
            always[interaction.feature as usize] = true;
        }
        always
    }

    /// The schema with these features alone, those of numbers among them.
    fn of_features(&self, kept: &[u32]) -> Self {
        let mut schema = self.clone();
        let is_kept = |j: u32| kept.binary_search(&j).is_ok();
        let mut next = 0;
        for column in &mut schema.columns {
            match &mut column.role {
                Role::Numeric { feature, indicator, .. } => {
                    *indicator &= is_kept(*feature + 1);
                    *feature = next;
                    next += 1 + u32::from(*indicator);
                }
                Role::Categorical { feature, categories, indicator } => {
                    *indicator &= is_kept(*feature + categories.len() as u32);
                    let mut old = *feature..;
                    categories.retain(|_| old.next().is_some_and(is_kept));
                    *feature = next;
                    next += categories.len() as u32 + u32::from(*indicator);
                }
                Role::Label | Role::Dropped | Role::RowWeight | Role::Text => {}
            }
        }
        for interaction in &mut schema.interactions {
            interaction.of_features(is_kept, next);
            next += interaction.cells.len() as u32;
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;
    use crate::features::Missing;
    use crate::features::text::TextRecipe;
    use crate::read::{Input, Options, Purpose, Reader, TableOptions};
    use proptest::prelude::*;

    fn options() -> Options {
        let table = TableOptions {
            missing: Missing::Mean,
            categories: vec!["color".into()],
            numbers: vec!["size".into(), "height".into()],
            label: Some("label".into()),
            ..TableOptions::default()
        };
        Options {
            table,
            recipe: TextRecipe { min_documents: 2, ..TextRecipe::default() },
            ..Options::default()
        }
    }

    fn opened(name: &str, text: &str, options: &Options) -> Reader {
        let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().into() };
        Reader::open(&input, options, &Purpose::Training).unwrap()
    }

    fn entries(data: &Dataset, columns: usize) -> Vec<Vec<(String, f64)>> {
        let of_row = |i: usize| {
            let mut row = Vec::new();
            // An index that the model does not know stays in its rows; it weighs nothing.
            let known = |j: u32| (j as usize) < columns;
            data.rows.row(i).for_each_nonzero(|j, x| {
                row.extend(known(j).then(|| (data.schema.name(j), x)));
            });
            row.sort_by(|a, b| a.0.cmp(&b.0));
            row
        };
        (0..data.len()).map(of_row).collect()
    }

    /// As [`entries`], with numbers rounded: means are summed in another order.
    fn rounded(data: &Dataset, columns: usize) -> Vec<Vec<(String, i64)>> {
        let round = |(name, x): (String, f64)| (name, (x * 1e6).round() as i64);
        entries(data, columns).into_iter().map(|row| row.into_iter().map(round).collect()).collect()
    }

    /// The training rows are those of a file that has no others, and the held-out rows what is read with its
    /// schema.
    fn check(name: &str, head: &str, lines: &[String], options: &Options, held: &[bool]) {
        let rows = |of: bool| (0..lines.len()).filter(|&i| held[i] == of).collect::<Vec<usize>>();
        let text = |rows: &[usize]| {
            let own: Vec<&str> = rows.iter().map(|&i| lines[i].as_str()).collect();
            format!("{head}{}\n", own.join("\n"))
        };
        let all = text(&(0..lines.len()).collect::<Vec<_>>());
        let whole = opened(name, &all, options).read_refittable(&mut Unwatched).unwrap();
        let data = opened(name, &all, options).read(&mut Unwatched).unwrap();
        assert_eq!(whole.data().rows, data.rows);
        let alone = opened(name, &text(&rows(false)), options).read(&mut Unwatched);
        let parts = whole.split(&rows(false), &rows(true));
        let (Ok(alone), Ok(parts)) = (alone, parts) else { return };
        let columns = alone.rows.columns();
        assert_eq!(parts.training.rows.columns(), columns);
        assert_eq!(rounded(&parts.training, columns), rounded(&alone, columns));
        let labels = &whole.data().names;
        let purpose = Purpose::Evaluation { labels, schema: &alone.schema, features: alone.rows.columns() };
        let text = text(&rows(true));
        let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().into() };
        let options = Options { table: TableOptions::default(), ..Options::default() };
        let held_out = Reader::open(&input, &options, &purpose).unwrap().read(&mut Unwatched).unwrap();
        assert_eq!(rounded(&parts.held_out, columns), rounded(&held_out, columns));
        let names = |data: &Dataset| {
            data.labels.iter().map(|&label| data.names.names()[label as usize].clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&parts.held_out), names(&held_out));
    }

    /// Both parts have rows; the first four rows, in which all columns show what they are, are for training.
    fn held(seed: &[bool], count: usize) -> Vec<bool> {
        (0..count).map(|i| i + 1 == count || i >= 4 && seed[i % seed.len()]).collect()
    }

    proptest! {
        #[test]
        fn a_table_is_split_as_if_its_parts_were_files(
            rows in prop::collection::vec((0u8..5, 0usize..6, 0u8..4, any::<bool>()), 2..20),
            seed in prop::collection::vec(any::<bool>(), 8),
        ) {
            let number = |x: u8| if x == 0 { String::new() } else { (f64::from(x) / 2.0).to_string() };
            let mut lines: Vec<String> =
                ["1,red,2.5,a", ",blue,,b", "3.5,red,1,a", "0,blue,0,b"].map(str::to_owned).to_vec();
            lines.extend(rows.iter().map(|&(size, color, height, label)| {
                let color = ["red", "blue", "green", "white", "black", "pink"][color];
                let label = if label { "a" } else { "b" };
                format!("{},{color},{},{label}", number(size), number(height))
            }));
            let held = held(&seed, lines.len());
            check("t.csv", "size,color,height,label\n", &lines, &options(), &held);
        }

        #[test]
        fn documents_are_split_as_if_their_parts_were_files(
            rows in prop::collection::vec((prop::collection::vec(0usize..9, 1..6), any::<bool>()), 2..20),
            seed in prop::collection::vec(any::<bool>(), 8),
        ) {
            const WORDS: [&str; 9] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
            let mut lines: Vec<String> =
                ["a\tone two", "b\ttwo one", "a\tone three", "b\ttwo four"].map(str::to_owned).to_vec();
            lines.extend(rows.iter().map(|(words, label)| {
                let words: Vec<&str> = words.iter().map(|&word| WORDS[word]).collect();
                format!("{}\t{}", if *label { "a" } else { "b" }, words.join(" "))
            }));
            let held = held(&seed, lines.len());
            let format = Some(crate::read::Format::Text);
            let options = Options { table: TableOptions::default(), format, ..options() };
            check("t.txt", "", &lines, &options, &held);
        }

        #[test]
        fn named_and_numbered_features_are_split_as_if_their_parts_were_files(
            rows in prop::collection::vec(
                (prop::collection::btree_set(1u32..12, 1..5), any::<bool>()),
                6..20,
            ),
            seed in prop::collection::vec(any::<bool>(), 8),
            named in any::<bool>(),
        ) {
            let line = |(features, label): &(std::collections::BTreeSet<u32>, bool)| {
                let sign = if *label { "1" } else { "-1" };
                let own: Vec<String> = features.iter().map(|j| format!("{j}:{}", j * 2)).collect();
                format!("{sign} {}{}", if named { "|x " } else { "" }, own.join(" "))
            };
            let lines: Vec<String> = rows.iter().map(line).collect();
            let held = held(&seed, lines.len());
            let options = Options { table: TableOptions::default(), ..Options::default() };
            check(if named { "t.vw" } else { "t.svm" }, "", &lines, &options, &held);
        }
    }
}
