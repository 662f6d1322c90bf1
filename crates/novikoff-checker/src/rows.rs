//! Rows in their canonical form, the bytes that a certificate names by their BLAKE3 hash
//! (`docs/certificates.md`).
//!
//! Every sequence of rows has one such form: whatever is not written as that says is refused. Tables and
//! svmlight text are brought into it first ([`crate::text`]), so that there is one way into [`Rows`].

use crate::labels::Labels;

/// The first bytes; the number is the version of the form.
pub const MAGIC: &[u8; 16] = b"novikoff rows 1\n";
/// The number of a row without a label.
pub const NO_LABEL: u32 = u32::MAX;
/// The byte behind the last row.
const END: u8 = 255;

/// What the columns that were read are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnNames {
    /// Numbers from this one on.
    Numbers(u32),
    /// Names.
    Names(Vec<String>),
    /// Hashes of so many bits.
    Hashes(u8),
}

/// Rows with labels and weights, and the hash of their canonical form.
///
/// ```
/// use novikoff_checker::Rows;
/// let rows = Rows::from_svmlight("+1 1:0.5 3:2\n-1 2:1\n", false).unwrap();
/// assert!(rows.hash().starts_with("blake3:"));
/// assert!(Rows::from_canonical(b"novikoff rows 1\n").unwrap_err().contains("ends too early"));
/// ```
#[derive(Clone, Debug)]
pub struct Rows {
    hash: String,
    /// Where the entries of each row start, and the end of the last.
    starts: Vec<usize>,
    /// The entries' columns, as places in `used`.
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The columns that some row has an entry in, increasing. There may be many more columns than these.
    used: Vec<u32>,
    labels: Vec<u32>,
    weights: Vec<f64>,
    width: u64,
    /// The names of the labels.
    pub(crate) names: Labels,
    /// The feature map, as JSON; empty if there is none.
    pub(crate) map: String,
    /// What the columns that were read are called.
    pub(crate) column_names: ColumnNames,
}

impl Rows {
    /// Reads the canonical form, and nothing else.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, String> {
        let mut from = Bytes { rest: bytes };
        if from.take(MAGIC.len()).ok() != Some(MAGIC) {
            return Err("these are no rows in canonical form".into());
        }
        let hash = format!("blake3:{}", blake3::hash(bytes).to_hex());
        let mut rows = Self {
            hash,
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            used: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            width: 0,
            names: Labels::default(),
            map: String::new(),
            column_names: ColumnNames::Numbers(0),
        };
        let mut seen = 0;
        loop {
            let kind = from.u8()?;
            if kind == END {
                break;
            }
            let row = rows.len();
            rows.read_row(kind, &mut seen, &mut from)
                .map_err(|what| format!("row {row} (from 0): {what}"))?;
        }
        rows.read_end(seen, &mut from)?;
        rows.number_columns();
        Ok(rows)
    }

    fn read_row(&mut self, kind: u8, seen: &mut u32, from: &mut Bytes<'_>) -> Result<(), String> {
        let label = from.u32()?;
        if label == *seen && label != NO_LABEL {
            *seen += 1;
        } else if label > *seen && label != NO_LABEL {
            return Err("its label is not numbered in the order of first appearance".into());
        }
        let weight = from.f64()?;
        if !weight.is_finite() || weight.is_sign_negative() {
            return Err("its weight is not a finite number from 0".into());
        }
        let (count, start) = (from.u32()? as usize, self.columns.len());
        let columns = from.take(count.checked_mul(4).ok_or(TOO_EARLY)?)?;
        self.columns.extend(columns.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        match kind {
            0 => self.values.extend(
                from.take(8 * count)?.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)),
            ),
            1 => self.values.resize(start + count, from.f64()?),
            2 => {
                let bytes = from.take(4 * count)?;
                self.values.extend(
                    bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))),
                );
            }
            _ => return Err(format!("there is no way {kind} of storing values")),
        }
        let (columns, values) = (&self.columns[start..], &self.values[start..]);
        if !columns.is_sorted_by(|a, b| a < b) {
            return Err("its columns do not increase".into());
        }
        if values.iter().any(|x| *x == 0.0 || !x.is_finite()) {
            return Err("a value is zero, or not finite".into());
        }
        if kind != kind_of(values) {
            return Err("its values are not stored in the canonical way".into());
        }
        self.starts.push(self.columns.len());
        self.labels.push(label);
        self.weights.push(weight);
        Ok(())
    }

    fn read_end(&mut self, seen: u32, from: &mut Bytes<'_>) -> Result<(), String> {
        if from.u64()? != self.len() as u64 || self.len() > u32::MAX as usize {
            return Err("the number of rows is wrong".into());
        }
        self.width = from.u64()?;
        if self.width > 1 << 32 || self.columns.iter().any(|&column| u64::from(column) >= self.width) {
            return Err("the number of columns is wrong".into());
        }
        if from.u32()? != seen {
            return Err("there are more or fewer labels than rows have".into());
        }
        for _ in 0..seen {
            let name = from.string()?;
            self.names.add(name).map_err(|name| format!("the label {name:?} is there twice"))?;
        }
        self.map = from.string()?;
        let read = from.u64()?;
        if self.map.is_empty() && read != self.width {
            return Err("without a map, as many columns are read as there are".into());
        }
        self.column_names = match from.u8()? {
            0 => ColumnNames::Numbers(from.u32()?),
            1 => {
                let mut names = Vec::new();
                for _ in 0..read {
                    names.push(from.string()?);
                }
                ColumnNames::Names(names)
            }
            2 => ColumnNames::Hashes(from.u8()?),
            other => return Err(format!("there is no way {other} of naming columns")),
        };
        from.string()?;
        if from.rest.is_empty() { Ok(()) } else { Err("there are bytes behind the end".into()) }
    }

    /// Replaces columns by their places among those that are used.
    fn number_columns(&mut self) {
        self.used = self.columns.clone();
        self.used.sort_unstable();
        self.used.dedup();
        let used = &self.used;
        for column in &mut self.columns {
            *column = used.binary_search(column).unwrap_or(0) as u32;
        }
    }

    /// The hash of the canonical form: `blake3:` and 64 digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many columns there are.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The names of the labels, in the order of first appearance.
    pub fn label_names(&self) -> &[String] {
        self.names.names()
    }

    /// The columns that some row has an entry in, increasing.
    pub(crate) fn used(&self) -> &[u32] {
        &self.used
    }

    /// The entries of a row: places in [`Rows::used`], and values.
    pub(crate) fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let span = self.starts[row]..self.starts[row + 1];
        self.columns[span.clone()].iter().map(|&at| at as usize).zip(self.values[span].iter().copied())
    }

    /// The number of a row's label, if it has one.
    pub(crate) fn label(&self, row: usize) -> Option<usize> {
        Some(self.labels[row]).filter(|&label| label != NO_LABEL).map(|label| label as usize)
    }

    /// The weight of a row.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights[row]
    }

    /// The entries of these rows, column by column.
    pub(crate) fn by_column(&self, rows: impl Iterator<Item = usize> + Clone) -> ByColumn {
        let mut starts = vec![0; self.used.len() + 1];
        for (at, _) in rows.clone().flat_map(|row| self.entries(row)) {
            starts[at + 1] += 1;
        }
        for at in 0..self.used.len() {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[self.used.len()]];
        for (turn, row) in rows.enumerate() {
            for (at, x) in self.entries(row) {
                entries[next[at]] = (turn as u32, x);
                next[at] += 1;
            }
        }
        ByColumn { starts, entries }
    }
}

/// Entries of some rows, column by column.
pub(crate) struct ByColumn {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl ByColumn {
    /// The entries of each used column: the row's turn among the chosen ones, and the value.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[(u32, f64)]> {
        self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]])
    }
}

/// How the values of a row are stored.
fn kind_of(values: &[f64]) -> u8 {
    match values {
        [first, rest @ ..] if rest.iter().all(|x| x == first) => 1,
        // A conversion that loses nothing: the same number comes back.
        _ if values.iter().all(|&x| f64::from(x as f32) == x) => 2,
        _ => 0,
    }
}

/// Adds the canonical form of a row with these entries, whose columns increase.
pub(crate) fn write_row(label: u32, weight: f64, entries: &[(u32, f64)], to: &mut Vec<u8>) {
    let values: Vec<f64> = entries.iter().map(|entry| entry.1).collect();
    let kind = kind_of(&values);
    to.push(kind);
    to.extend(label.to_le_bytes());
    to.extend(weight.to_le_bytes());
    to.extend((entries.len() as u32).to_le_bytes());
    to.extend(entries.iter().flat_map(|entry| entry.0.to_le_bytes()));
    match kind {
        1 => to.extend(values[0].to_le_bytes()),
        2 => to.extend(values.iter().flat_map(|&x| (x as f32).to_le_bytes())),
        _ => to.extend(values.iter().flat_map(|x| x.to_le_bytes())),
    }
}

/// Adds what stands behind the last row. How the input was read is `reading`.
pub(crate) fn write_end(
    rows: u64,
    columns: u64,
    labels: &Labels,
    names: &ColumnNames,
    reading: &str,
    to: &mut Vec<u8>,
) {
    let string = |text: &str, to: &mut Vec<u8>| {
        to.extend((text.len() as u32).to_le_bytes());
        to.extend(text.as_bytes());
    };
    to.push(END);
    to.extend(rows.to_le_bytes());
    to.extend(columns.to_le_bytes());
    to.extend((labels.names().len() as u32).to_le_bytes());
    labels.names().iter().for_each(|name| string(name, to));
    string("", to);
    to.extend(columns.to_le_bytes());
    match names {
        ColumnNames::Numbers(first) => {
            to.push(0);
            to.extend(first.to_le_bytes());
        }
        ColumnNames::Names(names) => {
            to.push(1);
            names.iter().for_each(|name| string(name, to));
        }
        ColumnNames::Hashes(bits) => to.extend([2, *bits]),
    }
    string(reading, to);
}

const TOO_EARLY: &str = "the file ends too early";

/// Bytes that nobody has read yet.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(TOO_EARLY)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| TOO_EARLY.into())
    }

    fn u8(&mut self) -> Result<u8, String> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Result<f64, String> {
        self.array().map(f64::from_le_bytes)
    }

    fn string(&mut self) -> Result<String, String> {
        let length = self.u32()? as usize;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| "a string is not UTF-8")?;
        Ok(text.to_owned())
    }
}
