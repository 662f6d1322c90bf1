//! Rows collected one by one, or many at a time, into a matrix.

use super::{Matrix, Sparse, Values, ValuesPer, is_uniform, rows_of};
use crate::data::fits_f32;

/// How a [`Builder`] lays rows out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every column of every row.
    Dense {
        /// Number of columns, fixed.
        columns: usize,
    },
    /// The given entries, with their indices.
    Sparse,
}

/// Rows in compressed form: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressedRows<'p> {
    /// Where rows start, and the end of the last.
    pub(crate) starts: &'p [usize],
    /// Feature numbers, increasing within a row.
    pub(crate) indices: &'p [u32],
    /// Their values.
    pub(crate) values: &'p [f64],
    /// Whether every value is exactly an `f32`.
    pub(crate) single: bool,
}

impl CompressedRows<'_> {
    /// Whether the entries of each row have one value.
    fn are_uniform(self) -> bool {
        rows_of(self.starts, self.values).all(is_uniform)
    }
}

impl Sparse<'_> {
    /// Adds the places of rows, and returns the number of columns that their entries need.
    fn append_starts(&mut self, starts: &[usize], indices: &[u32]) -> usize {
        let base = self.starts.last().copied().unwrap_or(0) - starts[0];
        self.starts.to_mut().extend(starts[1..].iter().map(|&s| base + s));
        let nonempty = starts.windows(2).filter(|s| s[1] > s[0]);
        nonempty.map(|s| indices[s[1] - 1 - starts[0]] as usize + 1).max().unwrap_or(0)
    }

    /// Stores a value for each entry from now on. The values have the capacity of the indices.
    fn spread_values<V: Copy>(&mut self, values: &mut Vec<V>) {
        let mut all = Vec::with_capacity(self.indices.to_mut().capacity());
        for (span, &value) in self.starts.windows(2).zip(&*values) {
            all.resize(span[1], value);
        }
        (*values, self.values_per) = (all, ValuesPer::Entry);
    }
}

/// Collects rows into a [`Matrix`]: in single precision and, if sparse, with one value a row, as long as that
/// loses nothing.
#[derive(Debug)]
pub struct Builder {
    rows: usize,
    columns: usize,
    sparse: Option<Sparse<'static>>,
    pub(super) values: Values<'static>,
}

impl Builder {
    /// An empty matrix of this layout.
    pub fn new(layout: Layout) -> Self {
        let (columns, sparse) = match layout {
            Layout::Dense { columns } => (columns, None),
            Layout::Sparse => (0, Some(Sparse::new())),
        };
        Self { rows: 0, columns, sparse, values: Values::from(Vec::<f32>::new()) }
    }

    /// Adds one row. Indices must increase strictly and, in a dense matrix, lie below the number of columns.
    pub fn push(&mut self, indices: &[u32], values: &[f64]) {
        let single = values.iter().all(|&x| fits_f32(x));
        self.append(CompressedRows { starts: &[0, values.len()], indices, values, single });
    }

    /// Adds rows.
    pub(crate) fn append(&mut self, rows: CompressedRows<'_>) {
        if let (false, Values::F32(narrow)) = (rows.single, &mut self.values) {
            self.values = Values::from(narrow.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        }
        match &mut self.values {
            Values::F32(values) => match &mut self.sparse {
                Some(sparse) => append_values(sparse, values.to_mut(), rows, |x| x as f32),
                None => append_dense(values.to_mut(), self.columns, rows, |x| x as f32),
            },
            Values::F64(values) => match &mut self.sparse {
                Some(sparse) => append_values(sparse, values.to_mut(), rows, |x| x),
                None => append_dense(values.to_mut(), self.columns, rows, |x| x),
            },
        }
        if let Some(sparse) = &mut self.sparse {
            sparse.indices.to_mut().extend_from_slice(rows.indices);
            self.columns = self.columns.max(sparse.append_starts(rows.starts, rows.indices));
        }
        self.rows += rows.starts.len() - 1;
    }

    /// Whether such rows are stored with a double for each entry, whatever follows them.
    pub(crate) fn needs_doubles(&self, rows: CompressedRows<'_>) -> bool {
        self.sparse.is_some() && !rows.single && !rows.are_uniform()
    }

    /// Adds the places of rows that need doubles, but not their entries. [`Builder::finish_after`] will get
    /// those: they precede all entries that this builder holds.
    pub(crate) fn append_places(&mut self, rows: CompressedRows<'_>) {
        let Some(sparse) = &mut self.sparse else { return };
        if sparse.values_per == ValuesPer::Row {
            sparse.values_per = ValuesPer::Entry;
            self.values = Values::from(Vec::<f64>::new());
        }
        self.columns = self.columns.max(sparse.append_starts(rows.starts, rows.indices));
        self.rows += rows.starts.len() - 1;
    }

    /// The matrix, with these entries before those that this builder holds.
    pub(crate) fn finish_after(mut self, mut indices: Vec<u32>, mut values: Vec<f64>) -> Matrix<'static> {
        if let (Some(sparse), Values::F64(late)) = (&mut self.sparse, &self.values) {
            indices.extend_from_slice(&sparse.indices);
            values.extend_from_slice(late);
            sparse.indices = indices.into();
            self.values = Values::from(values);
        }
        self.finish()
    }

    /// Reserves memory for `factor` times the current contents at once: growing step by step would move
    /// everything each time. Unused memory costs address space only, and [`Builder::finish`] frees it.
    pub(crate) fn reserve(&mut self, factor: f64) {
        let more = (factor - 1.0).clamp(0.0, 1e9);
        match &mut self.values {
            Values::F32(v) => reserve(v.to_mut(), more),
            Values::F64(v) => reserve(v.to_mut(), more),
        }
        if let Some(s) = &mut self.sparse {
            reserve(s.starts.to_mut(), more);
            reserve(s.indices.to_mut(), more);
        }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The matrix, without unused memory.
    pub fn finish(mut self) -> Matrix<'static> {
        match &mut self.values {
            Values::F32(v) => v.to_mut().shrink_to_fit(),
            Values::F64(v) => v.to_mut().shrink_to_fit(),
        }
        if let Some(s) = &mut self.sparse {
            s.starts.to_mut().shrink_to_fit();
            s.indices.to_mut().shrink_to_fit();
        }
        Matrix { rows: self.rows, columns: self.columns, sparse: self.sparse, values: self.values }
    }
}

/// Reserves memory for `more` times the length on top of it. A failure does no harm: the vector then grows as
/// usual, and fails where it needs the memory.
fn reserve<T>(all: &mut Vec<T>, more: f64) {
    drop(all.try_reserve_exact((all.len() as f64 * more) as usize));
}

/// Adds the values of sparse rows, whose indices are added after this.
fn append_values<V: Copy>(
    sparse: &mut Sparse<'_>,
    all: &mut Vec<V>,
    rows: CompressedRows<'_>,
    narrow: impl Fn(f64) -> V,
) {
    if sparse.values_per == ValuesPer::Row && !rows.are_uniform() {
        sparse.spread_values(all);
    }
    match sparse.values_per {
        ValuesPer::Row => {
            let firsts = rows_of(rows.starts, rows.values).map(|row| row.first().copied());
            all.extend(firsts.map(|first| narrow(first.unwrap_or_default())));
        }
        ValuesPer::Entry => all.extend(rows.values.iter().map(|&x| narrow(x))),
    }
}

fn append_dense<V: Copy + Default>(
    all: &mut Vec<V>,
    columns: usize,
    rows: CompressedRows<'_>,
    narrow: impl Fn(f64) -> V,
) {
    let values = rows_of(rows.starts, rows.values);
    for (indices, values) in rows_of(rows.starts, rows.indices).zip(values) {
        let start = all.len();
        all.resize(start + columns, V::default());
        for (&j, &x) in indices.iter().zip(values) {
            all[start + j as usize] = narrow(x);
        }
    }
}
