//! The canonical form of rows: the bytes that certificates and models name by their BLAKE3 hash.
//!
//! `docs/certificates.md` describes them. They depend on what was read and on how its columns came to be, and
//! on nothing else: not on the format, the compression, the storage of the rows, or the threads.

use super::resumable_hash::ResumableHash;
use super::{Dataset, Labels, Row, fits_f32};
use crate::features::Schema;
use crate::features::map::Map;
use crate::features::namespaces::{FeatureNumbering, NamespaceSchema};
use crate::features::table::{Role, TableSchema};
use crate::features::text::{TextSchema, Vocabulary};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The first bytes of the form; the number is its version.
pub const MAGIC: &[u8; 16] = b"novikoff rows 1\n";

/// The number of a row without a label.
const NO_LABEL: u32 = u32::MAX;

/// About so many bytes are encoded by one task. With [`GROUPS`] of them on their way, all of it stays in the
/// caches.
const BYTES: usize = 1 << 18;
/// So many tasks encode rows while the bytes of as many are passed on.
const GROUPS: usize = 8;

/// How the values of a row are stored: each in double precision, one for all, each in single precision.
const DOUBLE: u8 = 0;
const ONE_FOR_ALL: u8 = 1;
const SINGLE: u8 = 2;
/// There are no more rows.
const END: u8 = 255;

/// The form of one row after the other, and room for what that takes.
#[derive(Clone, Debug, Default)]
struct Encoder {
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Encoder {
    /// Adds the bytes of a row.
    fn row(&mut self, row: Row<'_>, label: Option<u32>, weight: f64, to: &mut Vec<u8>) {
        let head = |kind: u8, entries: usize, to: &mut Vec<u8>| {
            to.push(kind);
            to.extend_from_slice(&label.unwrap_or(NO_LABEL).to_le_bytes());
            to.extend_from_slice(&weight.to_le_bytes());
            to.extend_from_slice(&(entries as u32).to_le_bytes());
        };
        if let Row::Uniform(columns, value) = row
            && value != 0.0
            && !columns.is_empty()
        {
            head(ONE_FOR_ALL, columns.len(), to);
            to.extend_from_slice(&little_endian(columns));
            to.extend_from_slice(&value.to_le_bytes());
            return;
        }
        let (columns, values) = self.entries(row);
        let kind = kind(values);
        head(kind, columns.len(), to);
        to.extend_from_slice(&little_endian(columns));
        match kind {
            ONE_FOR_ALL => to.extend_from_slice(&values[0].to_le_bytes()),
            SINGLE => values.iter().for_each(|x| to.extend_from_slice(&(*x as f32).to_le_bytes())),
            _ => to.extend_from_slice(&little_endian(values)),
        }
    }

    /// The entries that are not zero.
    fn entries<'a>(&'a mut self, row: Row<'a>) -> (&'a [u32], &'a [f64]) {
        if let Row::Sparse64(columns, values) = row
            // Without a way out at the first zero, several are compared at a time.
            && !values.iter().fold(false, |zero, x| zero | (*x == 0.0))
        {
            return (columns, values);
        }
        self.columns.clear();
        self.values.clear();
        row.for_each_nonzero(|j, x| {
            self.columns.push(j);
            self.values.push(x);
        });
        (&self.columns, &self.values)
    }
}

fn kind(values: &[f64]) -> u8 {
    let one = |first: &f64| values.iter().fold(true, |same, x| same & (x == first));
    if values.first().is_some_and(one) {
        return ONE_FOR_ALL;
    }
    if values.iter().fold(true, |all, x| all & fits_f32(*x)) { SINGLE } else { DOUBLE }
}

/// How the columns of rows came to be.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// How input became columns.
    pub schema: &'a Schema,
    /// How many there were.
    pub columns: usize,
    /// The map that made those of the rows from these, if there is one.
    pub map: Option<Map>,
}

/// Adds the bytes behind the last row.
fn end(rows: u64, columns: usize, labels: &[&str], origin: Origin<'_>, to: &mut Vec<u8>) {
    to.push(END);
    to.extend_from_slice(&rows.to_le_bytes());
    to.extend_from_slice(&(columns as u64).to_le_bytes());
    to.extend_from_slice(&(labels.len() as u32).to_le_bytes());
    labels.iter().for_each(|name| string(name, to));
    string(&origin.map.map_or_else(String::new, |map| json!(map).to_string()), to);
    to.extend_from_slice(&(origin.columns as u64).to_le_bytes());
    match origin.schema {
        Schema::Indexed { base } => {
            to.push(0);
            to.extend_from_slice(&base.to_le_bytes());
        }
        Schema::Hashed { bits } => to.extend_from_slice(&[2, *bits]),
        Schema::Named(dictionary) => names(dictionary.names().iter().map(String::as_str), origin.columns, to),
        Schema::Namespaces(namespaces) => match &namespaces.numbering {
            FeatureNumbering::Named(names) => {
                self::names(names.names().iter().map(String::as_str), origin.columns, to)
            }
            FeatureNumbering::Hashed { bits } => to.extend_from_slice(&[2, *bits]),
            FeatureNumbering::Murmur(murmur) => to.extend_from_slice(&[2, murmur.bits]),
        },
        Schema::Table(table) => names(table.feature_names().iter().map(String::as_str), origin.columns, to),
        Schema::Text(text) => match text.vocabulary() {
            Vocabulary::Hashed { bits, .. } => to.extend_from_slice(&[2, *bits]),
            Vocabulary::Named(terms) => {
                let table = text.table().map_or_else(Vec::new, |table| table.feature_names());
                let terms = terms.names().iter().map(String::as_str);
                names(table.iter().map(String::as_str).chain(terms), origin.columns, to);
            }
        },
    }
    string(&reading(origin.schema), to);
}

fn string(text: &str, to: &mut Vec<u8>) {
    to.extend_from_slice(&(text.len() as u32).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
}

/// A name for each of so many columns; those that nobody has named have an empty one.
fn names<'a>(names: impl Iterator<Item = &'a str>, columns: usize, to: &mut Vec<u8>) {
    to.push(1);
    names.chain(std::iter::repeat("")).take(columns).for_each(|name| string(name, to));
}

/// How the input was read, as JSON.
fn reading(schema: &Schema) -> String {
    match schema {
        Schema::Indexed { .. } => String::new(),
        Schema::Named(_) => json!({"kind": "named"}).to_string(),
        Schema::Hashed { bits } => sorted(json!({"kind": "hashed", "bits": bits})),
        Schema::Namespaces(namespaces) => sorted(of_namespaces(namespaces)),
        Schema::Table(table) => sorted(of_table(table)),
        Schema::Text(text) => sorted(of_text(text)),
    }
}

fn of_namespaces(namespaces: &NamespaceSchema) -> Value {
    let interactions = &namespaces.interactions;
    match &namespaces.numbering {
        FeatureNumbering::Named(_) => json!({"kind": "named", "interactions": interactions}),
        FeatureNumbering::Hashed { bits } => {
            json!({"kind": "hashed", "bits": bits, "interactions": interactions})
        }
        FeatureNumbering::Murmur(murmur) => json!({
            "kind": "hashed", "bits": murmur.bits, "interactions": interactions,
            "murmur": {"numbers": murmur.numbers, "seed": murmur.seed},
        }),
    }
}

fn of_table(table: &TableSchema) -> Value {
    let columns: Vec<[&str; 2]> =
        table.columns.iter().map(|column| [role(&column.role), column.name.as_str()]).collect();
    let delimiter = char::from(table.delimiter).to_string();
    let TableSchema { header, missing, .. } = table;
    let mut reading = json!({
        "kind": "table", "columns": columns, "delimiter": delimiter, "header": header, "missing": missing
    });
    if !table.interactions.is_empty() {
        let columns: Vec<&Vec<String>> =
            table.interactions.iter().map(|interaction| &interaction.columns).collect();
        reading["interactions"] = json!(columns);
    }
    reading
}

fn role(role: &Role) -> &'static str {
    match role {
        Role::Label => "label",
        Role::Dropped => "dropped",
        Role::RowWeight => "row-weight",
        Role::Text => "text",
        Role::Numeric { .. } => "numeric",
        Role::Categorical { .. } => "categorical",
    }
}

fn of_text(text: &TextSchema) -> Value {
    let bits = match text.vocabulary() {
        Vocabulary::Hashed { bits, .. } => Some(bits),
        Vocabulary::Named(_) => None,
    };
    let table = text.table().map(|table| of_table(table));
    json!({"kind": "text", "recipe": text.recipe(), "bits": bits, "table": table})
}

/// JSON with sorted keys, so that the same values are the same text.
fn sorted(value: Value) -> String {
    fn sort(value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(sort).collect(),
            Value::Object(map) => {
                let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sort(value))).collect();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(entries.into_iter().collect())
            }
            plain => plain,
        }
    }
    sort(value).to_string()
}

impl Dataset<'_> {
    /// Where these rows come from, if no map has made them.
    pub fn origin(&self) -> Origin<'_> {
        Origin { schema: &self.schema, columns: self.rows.columns(), map: None }
    }

    /// The hash of the rows as read: `blake3:` and the hash of their canonical form.
    ///
    /// ```
    /// # use novikoff::data::generate::Recipe;
    /// let data = Recipe { rows: 20, ..Recipe::default() }.generate();
    /// let mut bytes = Vec::new();
    /// let mut write = |part: &[u8]| {
    ///     bytes.extend_from_slice(part);
    ///     Ok::<(), ()>(())
    /// };
    /// data.write_canonical(data.origin(), &mut write).unwrap();
    /// assert_eq!(data.fingerprint(), format!("blake3:{}", blake3::hash(&bytes).to_hex()));
    /// ```
    pub fn fingerprint(&self) -> String {
        self.fingerprint_of(self.origin())
    }

    /// The same for rows that a map may have made.
    pub fn fingerprint_of(&self, origin: Origin<'_>) -> String {
        let mut hasher = blake3::Hasher::new();
        let done = self.write_canonical(origin, &mut |bytes| {
            hasher.update_rayon(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
        match done {
            Ok(()) => format!("blake3:{}", hasher.finalize().to_hex()),
        }
    }

    /// Passes the canonical form on, part by part.
    pub fn write_canonical<E: Send>(
        &self,
        origin: Origin<'_>,
        write: &mut (impl FnMut(&[u8]) -> Result<(), E> + Send),
    ) -> Result<(), E> {
        let (numbers, names) = self.labels_as_they_appear();
        let rows = self.rows_per_task();
        let encode = |(group, part): (usize, &mut Vec<u8>), first: usize| {
            part.clear();
            let start = (first + group * rows).min(self.len());
            let mut encoder = Encoder::default();
            for i in start..(start + rows).min(self.len()) {
                let label = self.labels.get(i).and_then(|&label| numbers.get(label as usize).copied());
                encoder.row(self.rows.row(i), label, self.weight(i), part);
            }
        };
        write(MAGIC)?;
        let mut encoded: Vec<Vec<u8>> = vec![Vec::new(); GROUPS];
        let mut next = encoded.clone();
        for first in (0..self.len()).step_by(rows * GROUPS) {
            let ahead = || next.par_iter_mut().enumerate().for_each(|part| encode(part, first));
            let passed = || encoded.iter().try_for_each(|part| write(part));
            rayon::join(ahead, passed).1?;
            std::mem::swap(&mut encoded, &mut next);
        }
        encoded.iter().try_for_each(|part| write(part))?;
        let mut last = Vec::new();
        end(self.len() as u64, self.rows.columns(), &names, origin, &mut last);
        write(&last)
    }

    /// How many rows take about [`BYTES`], judged by some of them.
    fn rows_per_task(&self) -> usize {
        // What stands before the entries of a row, and an entry in double precision.
        const HEAD: usize = 17;
        const ENTRY: usize = 12;
        let some = (0..self.len()).step_by(self.len() / 256 + 1);
        let bytes = some.clone().map(|i| HEAD + ENTRY * self.rows.row(i).len()).sum::<usize>();
        (BYTES * some.len() / bytes.max(1)).max(1)
    }

    /// The number of each label in the order of first appearance, and the names of those that a row has.
    fn labels_as_they_appear(&self) -> (Vec<u32>, Vec<&str>) {
        let mut numbers = vec![NO_LABEL; self.names.len()];
        let mut names = Vec::new();
        for &label in &self.labels {
            // A label without a name, which `Dataset::validate` refuses, is none.
            let Some(number) = numbers.get_mut(label as usize) else { continue };
            if *number == NO_LABEL {
                *number = names.len() as u32;
                names.push(self.names.names()[label as usize].as_str());
            }
        }
        (numbers, names)
    }
}

/// The hash of rows that come one by one, so that a stream has one too. Labels are numbered in the order of
/// first appearance.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    hash: ResumableHash,
    encoder: Encoder,
    rows: u64,
}

/// What resuming a fingerprint takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FingerprintState {
    pub(crate) rows: u64,
    /// Bytes that are hashed.
    pub(crate) hashed: u64,
    /// The hashes of their subtrees.
    pub(crate) subtrees: Vec<u8>,
    /// The bytes after them.
    pub(crate) waiting: Vec<u8>,
}

impl Default for Fingerprint {
    fn default() -> Self {
        let mut hash = ResumableHash::default();
        hash.waiting.extend_from_slice(MAGIC);
        Self { hash, encoder: Encoder::default(), rows: 0 }
    }
}

impl Fingerprint {
    /// Adds a row.
    pub fn row(&mut self, row: Row<'_>, label: Option<u32>, weight: f64) {
        self.encoder.row(row, label, weight, &mut self.hash.waiting);
        self.rows += 1;
        self.hash.hash_waiting();
    }

    /// The hash, once all rows are in.
    pub fn finish(mut self, columns: usize, names: &Labels, schema: &Schema) -> String {
        let labels: Vec<&str> = names.names().iter().map(String::as_str).collect();
        end(self.rows, columns, &labels, Origin { schema, columns, map: None }, &mut self.hash.waiting);
        format!("blake3:{}", self.hash.finish().to_hex())
    }

    pub(crate) fn state(&self) -> FingerprintState {
        let (hashed, subtrees, waiting) = self.hash.state();
        FingerprintState { rows: self.rows, hashed, subtrees, waiting }
    }

    /// Resumes from a state; `None` if it is none.
    pub(crate) fn resume(state: FingerprintState) -> Option<Self> {
        let hash = ResumableHash::resume(state.hashed, &state.subtrees, state.waiting)?;
        Some(Self { hash, encoder: Encoder::default(), rows: state.rows })
    }
}

/// The bytes of numbers, the lowest first, on any machine.
pub(crate) fn little_endian<T: bytemuck::NoUninit>(numbers: &[T]) -> Cow<'_, [u8]> {
    let bytes = bytemuck::cast_slice::<T, u8>(numbers);
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.chunks_exact(size_of::<T>()).flat_map(|number| number.iter().rev().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Report;
    use crate::data::matrix::{Builder, Layout};
    use crate::features::Dictionary;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn data(rows: &[Vec<f64>], labels: &[u32], names: [&str; 2], layout: Layout) -> Dataset<'static> {
        let mut builder = Builder::new(layout);
        for row in rows {
            // Stored zeros in the sparse layout: they must not count.
            let indices: Vec<u32> = (0..row.len() as u32).collect();
            builder.push(&indices, row);
        }
        Dataset {
            rows: builder.finish(),
            labels: labels.to_vec(),
            names: Labels::new(names),
            row_weights: Vec::new(),
            schema: Schema::one_based(),
            report: Report::default(),
        }
    }

    fn bytes(data: &Dataset) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(()) = data.write_canonical(data.origin(), &mut |part| {
            bytes.extend_from_slice(part);
            Ok::<(), std::convert::Infallible>(())
        });
        bytes
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(1.0),
            (-2i8..3).prop_map(f64::from),
            Just(0.1),
            Just(1e300),
            any::<f64>().prop_filter("finite", |x| x.is_finite())
        ]
    }

    proptest! {
        #[test]
        fn the_form_depends_on_every_value_and_on_no_storage(
            rows in prop::collection::vec(prop::collection::vec(value(), 4), 1..20),
            at in any::<prop::sample::Index>(),
            column in 0usize..4,
        ) {
            let labels: Vec<u32> = (0..rows.len() as u32).map(|i| i % 2).collect();
            let (sparse, dense) = (Layout::Sparse, Layout::Dense { columns: 4 });
            let expected = data(&rows, &labels, ["a", "b"], sparse).fingerprint();
            prop_assert_eq!(&data(&rows, &labels, ["a", "b"], dense).fingerprint(), &expected);
            // Numbered the other way round, the labels are the same.
            let swapped: Vec<u32> = labels.iter().map(|label| 1 - label).collect();
            prop_assert_eq!(&data(&rows, &swapped, ["b", "a"], sparse).fingerprint(), &expected);
            let mut stream = Fingerprint::default();
            let stored = data(&rows, &labels, ["a", "b"], sparse);
            labels
                .iter()
                .enumerate()
                .for_each(|(i, &label)| stream.row(stored.rows.row(i), Some(label), 1.0));
            let seen = Labels::new(["a", "b"].iter().take(rows.len()));
            prop_assert_eq!(&stream.finish(4, &seen, &Schema::one_based()), &expected);
            let row = at.index(rows.len());
            let mut changed = rows.clone();
            changed[row][column] = if changed[row][column] == 7.0 { 8.0 } else { 7.0 };
            prop_assert_ne!(&data(&changed, &labels, ["a", "b"], sparse).fingerprint(), &expected);
            let mut relabelled = labels.clone();
            relabelled[row] ^= 1;
            if rows.len() > 1 {
                prop_assert_ne!(&data(&rows, &relabelled, ["a", "b"], sparse).fingerprint(), &expected);
            }
            let mut weighted = data(&rows, &labels, ["a", "b"], sparse);
            weighted.row_weights = vec![1.0; rows.len()];
            prop_assert_eq!(&weighted.fingerprint(), &expected);
            weighted.row_weights[row] = 2.0;
            prop_assert_ne!(&weighted.fingerprint(), &expected);
        }
    }

    #[test]
    fn the_bytes_are_as_documented() {
        let mut found = data(
            &[vec![0.0, 2.5], vec![0.1, 1.0], vec![3.0, 4.0], vec![0.0, 0.0]],
            &[1, 0, 1, 1],
            ["a", "b"],
            Layout::Sparse,
        );
        found.row_weights = vec![1.0, 2.0, 1.0, 0.0];
        let mut expected = b"novikoff rows 1\n".to_vec();
        let mut add = |bytes: &[u8]| expected.extend_from_slice(bytes);
        let row = |kind: u8, label: u32, weight: f64, count: u32| {
            [&[kind][..], &label.to_le_bytes(), &weight.to_le_bytes(), &count.to_le_bytes()].concat()
        };
        add(&row(1, 0, 1.0, 1));
        add(&[&1u32.to_le_bytes()[..], &2.5f64.to_le_bytes()].concat());
        add(&row(0, 1, 2.0, 2));
        add(&[&0u32.to_le_bytes()[..], &1u32.to_le_bytes(), &0.1f64.to_le_bytes(), &1f64.to_le_bytes()]
            .concat());
        add(&row(2, 0, 1.0, 2));
        add(&[&0u32.to_le_bytes()[..], &1u32.to_le_bytes(), &3f32.to_le_bytes(), &4f32.to_le_bytes()]
            .concat());
        add(&row(2, 0, 0.0, 0));
        add(&[&[255][..], &4u64.to_le_bytes(), &2u64.to_le_bytes(), &2u32.to_le_bytes()].concat());
        add(&[&1u32.to_le_bytes()[..], b"b", &1u32.to_le_bytes(), b"a"].concat());
        add(&[&0u32.to_le_bytes()[..], &2u64.to_le_bytes(), &[0], &1u32.to_le_bytes(), &0u32.to_le_bytes()]
            .concat());
        assert_eq!(bytes(&found), expected);
    }

    #[test]
    fn names_of_columns_and_maps_count() {
        let named = |names: [&str; 2]| {
            let mut dictionary = Dictionary::default();
            for name in names {
                dictionary.intern(name);
            }
            Dataset {
                schema: Schema::Named(Arc::new(dictionary)),
                ..data(&[vec![1.0, 2.0]], &[0], ["a", "b"], Layout::Sparse)
            }
        };
        let (one, other) = (named(["x", "y"]), named(["y", "x"]));
        assert_ne!(one.fingerprint(), other.fingerprint());
        let mapped = Origin { map: Some(Map::Poly { degree: 2 }), ..one.origin() };
        assert_ne!(one.fingerprint(), one.fingerprint_of(mapped));
    }
}
