//! The rows of a data set, contiguous in memory, in the narrowest form that loses nothing.

use super::assembly::Part;
use super::row::{self, Row, Vector};
use super::scale::factor_of;
use rayon::prelude::*;
use std::iter::repeat;
use std::ops::Range;

/// Values in the narrowest type that holds all of them exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Of values an entry, leaves one a row if rows that start like this are even, and says how they are
    /// stored then.
    fn even_out(&mut self, starts: &[usize]) -> Stored {
        let even = match self {
            Values::F32(v) => one_a_row(starts, v).map(Values::F32),
            Values::F64(v) => one_a_row(starts, v).map(Values::F64),
        };
        even.map_or(Stored::Each, |even| {
            *self = even;
            Stored::One
        })
    }

    /// Some spans of others instead of these.
    fn refill(&mut self, from: &Values, spans: impl Iterator<Item = Range<usize>>) {
        match (&mut *self, from) {
            (Values::F32(own), Values::F32(from)) => refill(own, from, spans),
            (Values::F64(own), Values::F64(from)) => refill(own, from, spans),
            (own, from) => *own = from.spans(spans),
        }
    }

    /// Some of them.
    fn spans(&self, spans: impl Iterator<Item = Range<usize>>) -> Self {
        match self {
            Values::F32(v) => Values::F32(spans.flat_map(|span| &v[span]).copied().collect()),
            Values::F64(v) => Values::F64(spans.flat_map(|span| &v[span]).copied().collect()),
        }
    }
}

/// Some spans of an array instead of what was there.
fn refill<T: Copy>(own: &mut Vec<T>, from: &[T], spans: impl Iterator<Item = Range<usize>>) {
    own.clear();
    spans.for_each(|span| own.extend_from_slice(&from[span]));
}

/// Where rows start that are as long as these are where they start like this, and the end of the last.
fn restart(own: &mut Vec<usize>, starts: &[usize], rows: impl Iterator<Item = usize>) {
    own.clear();
    own.push(0);
    let mut end = 0;
    own.extend(rows.map(|i| {
        end += starts[i + 1] - starts[i];
        end
    }));
}

/// Rows in one block of memory: dense, or compressed sparse rows with 32-bit indices.
///
/// Two are equal if they are of one layout and one precision and have the same entries, however often a value
/// is stored.
#[derive(Clone, Debug)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    /// `None`: dense.
    sparse: Option<Sparse>,
    values: Values,
}

#[derive(Clone, Debug)]
struct Sparse {
    /// Where each row starts in `indices`, and the end of the last.
    starts: Vec<usize>,
    indices: Vec<u32>,
    stored: Stored,
}

/// How often values are stored.
///
/// Bags of words and tables of yes and no have one value in a row. Learning waits for memory, and of these
/// there is a third as much to wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    /// A value a row: every row is even, its entries have one value. An empty row's is zero.
    One,
    /// A value an entry.
    Each,
}

impl Sparse {
    /// Adds rows that start like these, and says how many columns their entries need.
    fn begin_rows(&mut self, starts: &[usize], indices: &[u32]) -> usize {
        let base = self.starts.last().copied().unwrap_or(0) - starts[0];
        self.starts.extend(starts[1..].iter().map(|&s| base + s));
        let largest =
            starts.windows(2).filter(|s| s[1] > s[0]).map(|s| indices[s[1] - 1 - starts[0]] as usize + 1);
        largest.max().unwrap_or(0)
    }

    /// Stores a value an entry from now on, with room for as many as there is for indices.
    fn end_evenness<V: Copy>(&mut self, values: &mut Vec<V>) {
        let mut all = Vec::with_capacity(self.indices.capacity());
        for (span, &value) in self.starts.windows(2).zip(&*values) {
            all.resize(span[1], value);
        }
        (*values, self.stored) = (all, Stored::Each);
    }

    /// Shows these rows, whose values are stored here.
    #[inline(always)]
    fn show<V: row::Value>(
        &self,
        values: &[V],
        turns: impl Iterator<Item = Turn>,
        visitor: &mut impl Visitor,
    ) {
        let indices = |i| nth(&self.indices, &self.starts, i);
        match self.stored {
            Stored::Each => show(turns, visitor, |i| row::Sparse(indices(i), nth(values, &self.starts, i))),
            Stored::One => show(turns, visitor, |i| row::Sparse(indices(i), row::Same(values[i].into()))),
        }
    }

    /// Where the values of some rows are.
    fn values_of(&self, rows: Range<usize>) -> Range<usize> {
        match self.stored {
            Stored::One => rows,
            Stored::Each => self.starts[rows.start]..self.starts[rows.end],
        }
    }

    /// The values of entries of row `i`, one by one.
    fn spelled_out<'v, V: Copy>(&self, values: &'v [V], i: usize) -> impl Iterator<Item = V> + use<'v, V> {
        let entries = self.starts[i + 1] - self.starts[i];
        let stored = &values[self.values_of(i..i + 1)];
        // Of an even row, one value for all entries; else a value each.
        stored.iter().copied().cycle().take(entries)
    }
}

/// Whether all values of a row are one, to the bit.
pub(super) fn is_even<V: Copy + Into<f64>>(row: &[V]) -> bool {
    let bits = |x: V| x.into().to_bits();
    row.first().is_none_or(|&first| row.iter().all(|&x| bits(x) == bits(first)))
}

/// The one value of each row, if all of them are even; an empty row's is zero. `values` begin where the first
/// row does.
fn one_a_row<V: Copy + Into<f64> + Default>(starts: &[usize], values: &[V]) -> Option<Vec<V>> {
    let rows = || rows_of(starts, values);
    rows().all(is_even).then(|| rows().map(|row| row.first().copied().unwrap_or_default()).collect())
}

/// The values of each row; `values` begin where the first row does.
pub(super) fn rows_of<'v, V>(starts: &'v [usize], values: &'v [V]) -> impl Iterator<Item = &'v [V]> {
    starts.windows(2).map(|span| &values[span[0] - starts[0]..span[1] - starts[0]])
}

/// How a [`Builder`] lays rows out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every column of every row.
    Dense {
        /// Number of columns, fixed.
        columns: usize,
    },
    /// Entries that were given, with their indices.
    Sparse,
}

/// Who is shown rows ([`Matrix::show`]).
pub trait Visitor {
    /// Row `i`, in the form that all rows have. Implementations should be `#[inline(always)]`.
    fn visit(&mut self, i: u32, row: impl Vector);
}

/// How many rows beforehand a row's beginning is looked at. Rows in random order are not where the processor
/// looks by itself, and what it has begun to read is gone with every branch that it did not foresee.
const AHEAD: usize = 6;

/// A row whose turn it is, and one whose beginning is looked at beforehand.
type Turn = (u32, Option<u32>);

/// Shows what `row_at` makes of each of these rows.
#[inline(always)]
fn show<X: Vector>(
    turns: impl Iterator<Item = Turn>,
    visitor: &mut impl Visitor,
    row_at: impl Fn(usize) -> X,
) {
    for (i, later) in turns {
        if let Some(later) = later {
            row_at(later as usize).touch();
        }
        visitor.visit(i, row_at(i as usize));
    }
}

/// What is row `i`'s of what is stored one row behind the other, where these are the rows' starts.
#[inline(always)]
fn nth<'a, T>(stored: &'a [T], starts: &[usize], i: usize) -> &'a [T] {
    &stored[starts[i]..starts[i + 1]]
}

/// Row `i` of so many dense ones.
#[inline(always)]
fn dense_row<V>(values: &[V], i: usize, rows: usize, columns: usize) -> &[V] {
    assert!(i < rows, "row {i} of {rows}");
    &values[i * columns..(i + 1) * columns]
}

impl Matrix {
    /// A sparse matrix out of its parts: row `r` is `starts[r]..starts[r + 1]` of `indices` and `values`,
    /// with indices that increase strictly and lie below `columns`. The error says what is wrong with them.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let matrix = Matrix::from_compressed(5, vec![0, 2, 3], vec![0, 4, 1], Values::F32(vec![1.0, 2.0, 3.0])).unwrap();
    /// assert_eq!((matrix.rows(), matrix.columns(), matrix.row(0).norm_sq()), (2, 5, 5.0));
    /// assert!(Matrix::from_compressed(4, vec![0, 2, 3], vec![0, 4, 1], Values::F32(vec![1.0, 2.0, 3.0])).is_err());
    /// ```
    pub fn from_compressed(
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Values,
    ) -> Result<Self, String> {
        if indices.len() != values.len() {
            return Err(format!("{} indices for {} values", indices.len(), values.len()));
        }
        if starts.first() != Some(&0) || starts.last() != Some(&indices.len()) || !starts.is_sorted() {
            return Err(format!("the starts of the rows do not rise from 0 to {}", indices.len()));
        }
        for (row, span) in starts.windows(2).enumerate() {
            let indices = &indices[span[0]..span[1]];
            if !indices.is_sorted_by(|a, b| a < b) {
                return Err(format!("the indices of row {row} do not increase strictly"));
            }
            if indices.last().is_some_and(|&last| last as usize >= columns) {
                return Err(format!("row {row} has an index beyond the {columns} columns"));
            }
        }
        Ok(Self::evened_out(columns, starts, indices, values))
    }

    /// A sparse matrix out of its parts, with a value an entry.
    fn evened_out(columns: usize, starts: Vec<usize>, indices: Vec<u32>, mut values: Values) -> Self {
        let stored = values.even_out(&starts);
        Self { rows: starts.len() - 1, columns, sparse: Some(Sparse { starts, indices, stored }), values }
    }

    /// The same rows with every column stored.
    #[must_use]
    pub fn into_dense(self) -> Self {
        let Some(sparse) = &self.sparse else { return self };
        let values = match &self.values {
            Values::F32(v) => Values::F32(spread(sparse, self.columns, v)),
            Values::F64(v) => Values::F64(spread(sparse, self.columns, v)),
        };
        Self { rows: self.rows, columns: self.columns, sparse: None, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: one more than the largest index seen, or as many as the format says.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The same rows with at least this many columns (a model may know more features than a file shows).
    pub fn widen(&mut self, columns: usize) {
        if self.sparse.is_some() {
            self.columns = self.columns.max(columns);
        }
    }

    /// Entries stored.
    pub fn stored(&self) -> usize {
        self.sparse.as_ref().map_or(self.values.len(), |s| s.indices.len())
    }

    /// Entries that are not zero.
    pub fn nonzeros(&self) -> usize {
        (0..self.rows).into_par_iter().with_min_len(1024).map(|i| self.row(i).nonzeros()).sum()
    }

    /// Whether the entries of each row have one value, which is stored once.
    pub fn is_even(&self) -> bool {
        self.sparse.as_ref().is_some_and(|s| s.stored == Stored::One)
    }

    /// Whether values are stored in single precision.
    pub fn is_single(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Whether every column of every row is stored.
    pub fn is_dense(&self) -> bool {
        self.sparse.is_none()
    }

    /// Bytes that the rows themselves take.
    pub fn bytes(&self) -> usize {
        let width = if self.is_single() { 4 } else { 8 };
        let index_bytes =
            self.sparse.as_ref().map_or(0, |s| s.starts.len() * size_of::<usize>() + s.indices.len() * 4);
        self.values.len() * width + index_bytes
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let Matrix { rows, columns, sparse, values } = self;
        let Some(Sparse { starts, indices, stored }) = sparse else {
            return match values {
                Values::F32(v) => Row::Dense32(dense_row(v, i, *rows, *columns)),
                Values::F64(v) => Row::Dense64(dense_row(v, i, *rows, *columns)),
            };
        };
        let indices = nth(indices, starts, i);
        match (values, stored) {
            (Values::F32(v), Stored::Each) => Row::Sparse32(indices, nth(v, starts, i)),
            (Values::F64(v), Stored::Each) => Row::Sparse64(indices, nth(v, starts, i)),
            (Values::F32(v), Stored::One) => Row::Even(indices, v[i].into()),
            (Values::F64(v), Stored::One) => Row::Even(indices, v[i]),
        }
    }

    /// Shows these rows, one by one. Their form is asked for once, and `visitor` is compiled for each: with
    /// rows of a dozen entries, asking for every row costs a learner a fifth of its time.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn show(&self, ids: &[u32], visitor: &mut impl Visitor) {
        self.show_turns(ids.iter().enumerate().map(|(at, &i)| (i, ids.get(at + AHEAD).copied())), visitor);
    }

    /// Shows all rows.
    #[inline]
    pub fn show_all(&self, visitor: &mut impl Visitor) {
        self.show_turns((0..self.rows as u32).map(|i| (i, None)), visitor);
    }

    #[inline(always)]
    fn show_turns(&self, turns: impl Iterator<Item = Turn>, visitor: &mut impl Visitor) {
        let Matrix { rows, columns, sparse, values } = self;
        match (sparse, values) {
            (None, Values::F32(v)) => show(turns, visitor, |i| row::Dense(dense_row(v, i, *rows, *columns))),
            (None, Values::F64(v)) => show(turns, visitor, |i| row::Dense(dense_row(v, i, *rows, *columns))),
            (Some(sparse), Values::F32(v)) => sparse.show(v, turns, visitor),
            (Some(sparse), Values::F64(v)) => sparse.show(v, turns, visitor),
        }
    }

    /// Has these rows of another matrix instead of its own, in this order, in the form that they have there.
    /// Memory is used again.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let values = Values::F32(vec![1.0, 2.0, 3.0]);
    /// let matrix = Matrix::from_compressed(5, vec![0, 2, 3], vec![0, 4, 1], values).unwrap();
    /// let mut turned = matrix.clone();
    /// turned.refill(&matrix, &[1, 0]);
    /// assert_eq!(turned, matrix.select([1, 0]));
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn refill(&mut self, from: &Matrix, ids: &[u32]) {
        (self.rows, self.columns) = (ids.len(), from.columns);
        let ids = || ids.iter().map(|&i| i as usize);
        let dense = |i: usize| i * from.columns..(i + 1) * from.columns;
        match &from.sparse {
            None => {
                self.sparse = None;
                self.values.refill(&from.values, ids().map(dense));
            }
            Some(rows) => {
                let empty = || Sparse { starts: Vec::new(), indices: Vec::new(), stored: Stored::One };
                let own = self.sparse.get_or_insert_with(empty);
                refill(&mut own.indices, &rows.indices, ids().map(|i| rows.starts[i]..rows.starts[i + 1]));
                restart(&mut own.starts, &rows.starts, ids());
                self.values.refill(&from.values, ids().map(|i| rows.values_of(i..i + 1)));
                own.stored = rows.stored;
            }
        }
    }

    /// Reads through some rows so that they are in the cache. What it returns means nothing.
    pub fn fetch(&self, rows: Range<usize>) -> u64 {
        let (mut indices, mut values) = (0, rows.start * self.columns..rows.end * self.columns);
        if let Some(s) = &self.sparse {
            let span = s.starts[rows.start]..s.starts[rows.end];
            indices = fetch(&s.starts[rows.clone()], |&start| start as u64)
                ^ fetch(&s.indices[span.clone()], |&j| j.into());
            values = s.values_of(rows);
        }
        indices
            ^ match &self.values {
                Values::F32(v) => fetch(&v[values], |x| x.to_bits().into()),
                Values::F64(v) => fetch(&v[values], |x| x.to_bits()),
            }
    }

    /// The same rows with every column `j` times `factors[j]`; columns beyond the factors stay as they are.
    #[must_use]
    pub fn scaled(&self, factors: &[f64]) -> Self {
        let products = match &self.values {
            Values::F32(v) => self.products(v, factors),
            Values::F64(v) => self.products(v, factors),
        };
        let values = match products.iter().all(|&x| fits_f32(x)) {
            true => Values::F32(products.into_iter().map(|x| x as f32).collect()),
            false => Values::F64(products),
        };
        match &self.sparse {
            Some(s) => Self::evened_out(self.columns, s.starts.clone(), s.indices.clone(), values),
            None => Self { rows: self.rows, columns: self.columns, sparse: None, values },
        }
    }

    /// Every entry's value times its column's factor, one behind the other.
    fn products<V: Copy + Into<f64>>(&self, values: &[V], factors: &[f64]) -> Vec<f64> {
        let mut products = Vec::with_capacity(self.stored());
        match &self.sparse {
            Some(s) => {
                let values = (0..self.rows).flat_map(|i| s.spelled_out(values, i));
                products.extend(
                    s.indices.iter().zip(values).map(|(&j, x)| x.into() * factor_of(factors, j as usize)),
                );
            }
            None => {
                for row in values.chunks_exact(self.columns.max(1)) {
                    products.extend(row.iter().enumerate().map(|(j, &x)| x.into() * factor_of(factors, j)));
                }
            }
        }
        products
    }

    /// The first row and every `step`-th after it, stored as they are here.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let values = Values::F32(vec![1.0, 2.0, 3.0, 4.0]);
    /// let matrix = Matrix::from_compressed(5, vec![0, 2, 3, 4], vec![0, 4, 1, 2], values).unwrap();
    /// assert_eq!(matrix.every(2), matrix.select([0, 2]));
    /// ```
    #[must_use]
    pub fn every(&self, step: usize) -> Matrix {
        let taken = || (0..self.rows).step_by(step);
        let Some(s) = &self.sparse else {
            let span = |i: usize| i * self.columns..(i + 1) * self.columns;
            return Self {
                rows: taken().count(),
                columns: self.columns,
                sparse: None,
                values: self.values.spans(taken().map(span)),
            };
        };
        let span = |i: usize| s.starts[i]..s.starts[i + 1];
        let mut starts = Vec::new();
        restart(&mut starts, &s.starts, taken());
        let mut indices = Vec::with_capacity(starts.last().copied().unwrap_or(0));
        taken().for_each(|i| indices.extend_from_slice(&s.indices[span(i)]));
        let values = self.values.spans(taken().map(|i| s.values_of(i..i + 1)));
        let sparse = Some(Sparse { starts, indices, stored: s.stored });
        Self { rows: taken().count(), columns: self.columns, sparse, values }
    }

    /// Sparse rows with column `j` as `numbers[j]`, in two parts: the entries numbered below `ends[1]`, those
    /// below `ends[0]` first, and the other entries. Numbers must rise with their columns within each of
    /// these three kinds.
    ///
    /// ```
    /// use novikoff::data::matrix::{Matrix, Values};
    /// let values = |v: &[f32]| Values::F32(v.to_vec());
    /// let matrix = Matrix::from_compressed(3, vec![0, 3, 4], vec![0, 1, 2, 0], values(&[1.0, 2.0, 3.0, 4.0])).unwrap();
    /// let (some, others) = matrix.parted(&[1, 2, 0], [1, 2]);
    /// assert_eq!(some, Matrix::from_compressed(2, vec![0, 2, 3], vec![0, 1, 1], values(&[3.0, 1.0, 4.0])).unwrap());
    /// assert_eq!(others.row(0).norm_sq(), 4.0);
    /// ```
    pub fn parted(&self, numbers: &[u32], ends: [u32; 2]) -> (Matrix, Matrix) {
        let Some(s) = &self.sparse else { return (self.clone(), self.clone()) };
        let matrix = |columns, (starts, indices), values| match values {
            Some(values) => Self::evened_out(columns, starts, indices, values),
            // One a row still.
            None => {
                let sparse = Some(Sparse { starts, indices, stored: Stored::One });
                Self { rows: self.rows, columns, sparse, values: self.values.clone() }
            }
        };
        let ([some, others], [some_values, other_values]) = match &self.values {
            _ if s.stored == Stored::One => {
                let [(some, _), (others, _)] = part(s, numbers, ends, |_| repeat(()));
                ([some, others], [None, None])
            }
            Values::F32(v) => {
                let [(some, x), (others, y)] = part(s, numbers, ends, |i| s.spelled_out(v, i));
                ([some, others], [x, y].map(|values| Some(Values::F32(values))))
            }
            Values::F64(v) => {
                let [(some, x), (others, y)] = part(s, numbers, ends, |i| s.spelled_out(v, i));
                ([some, others], [x, y].map(|values| Some(Values::F64(values))))
            }
        };
        (matrix(ends[1] as usize, some, some_values), matrix(numbers.len(), others, other_values))
    }

    /// The rows named, in that order, as a matrix of the same layout and precision.
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Matrix {
        let layout = if self.is_dense() { Layout::Dense { columns: self.columns } } else { Layout::Sparse };
        let mut builder = Builder::new(layout);
        if !self.is_single() {
            builder.values = Values::F64(Vec::new());
        }
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in rows {
            indices.clear();
            values.clear();
            self.row(i).for_each_nonzero(|j, x| {
                indices.push(j);
                values.push(x);
            });
            builder.push(&indices, &values);
        }
        let mut selected = builder.finish();
        selected.widen(self.columns);
        selected
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        let same_values = |i: usize| {
            let (mut own, mut others) = (Vec::new(), Vec::new());
            self.row(i).for_each_stored(|_, x| own.push(x));
            other.row(i).for_each_stored(|_, x| others.push(x));
            own == others
        };
        let same_places = match (&self.sparse, &other.sparse) {
            (Some(own), Some(others)) => own.starts == others.starts && own.indices == others.indices,
            (own, others) => own.is_none() && others.is_none(),
        };
        (self.rows, self.columns, self.is_single(), self.is_even())
            == (other.rows, other.columns, other.is_single(), other.is_even())
            && same_places
            && (0..self.rows).all(same_values)
    }
}

/// Entries of some rows, and where each row's end.
#[derive(Default)]
struct Piece<V> {
    entries: Vec<(u32, V)>,
    ends: Vec<usize>,
}

/// Where rows start, and their indices.
type Indices = (Vec<usize>, Vec<u32>);

/// The two parts of [`Matrix::parted`], some rows at a time on every core; `values` are those of a row's
/// entries.
fn part<V: Copy + Default + Send + Sync, I: Iterator<Item = V>>(
    s: &Sparse,
    numbers: &[u32],
    ends: [u32; 2],
    values: impl Fn(usize) -> I + Sync,
) -> [(Indices, Vec<V>); 2] {
    const ROWS: usize = 512;
    let rows = s.starts.len() - 1;
    let part = |block: usize| {
        let (mut some, mut others, mut later) = (Piece::default(), Piece::default(), Vec::new());
        for i in block * ROWS..rows.min((block + 1) * ROWS) {
            for (&j, value) in s.indices[s.starts[i]..s.starts[i + 1]].iter().zip(values(i)) {
                let number = numbers[j as usize];
                let kind = match number {
                    number if number < ends[0] => &mut some.entries,
                    number if number < ends[1] => &mut later,
                    _ => &mut others.entries,
                };
                kind.push((number, value));
            }
            some.entries.append(&mut later);
            some.ends.push(some.entries.len());
            others.ends.push(others.entries.len());
        }
        [some, others]
    };
    let blocks: Vec<[Piece<V>; 2]> = (0..rows.div_ceil(ROWS)).into_par_iter().map(part).collect();
    [0, 1].map(|kind| joined(blocks.iter().map(|pieces| &pieces[kind])))
}

/// Rows out of their pieces, in this order.
fn joined<'a, V: Copy + Default + Send + Sync + 'a>(
    pieces: impl Iterator<Item = &'a Piece<V>> + Clone,
) -> (Indices, Vec<V>) {
    let length = pieces.clone().map(|piece| piece.entries.len()).sum();
    let (mut indices, mut values) = (vec![0; length], vec![V::default(); length]);
    let (mut index_places, mut value_places) = (&mut indices[..], &mut values[..]);
    let (mut starts, mut copies) = (vec![0], Vec::new());
    for piece in pieces {
        let before = length - index_places.len();
        starts.extend(piece.ends.iter().map(|end| before + end));
        let these = index_places.split_off_mut(..piece.entries.len()).unwrap_or_default();
        let those = value_places.split_off_mut(..piece.entries.len()).unwrap_or_default();
        copies.push((piece, these, those));
    }
    copies.into_par_iter().for_each(|(piece, indices, values)| {
        for ((index, value), entry) in indices.iter_mut().zip(values).zip(&piece.entries) {
            (*index, *value) = *entry;
        }
    });
    ((starts, indices), values)
}

/// Collects rows into a [`Matrix`], in single precision, and sparse ones with one value a row, for as long as
/// nothing is lost by it.
#[derive(Debug)]
pub struct Builder {
    rows: usize,
    columns: usize,
    sparse: Option<Sparse>,
    values: Values,
}

impl Builder {
    /// An empty matrix of this layout.
    pub fn new(layout: Layout) -> Self {
        let (columns, sparse) = match layout {
            Layout::Dense { columns } => (columns, None),
            Layout::Sparse => (0, Some(Sparse { starts: vec![0], indices: Vec::new(), stored: Stored::One })),
        };
        Self { rows: 0, columns, sparse, values: Values::F32(Vec::new()) }
    }

    /// Adds one row. Indices must increase strictly and, in a dense matrix, lie below the number of columns.
    pub fn push(&mut self, indices: &[u32], values: &[f64]) {
        let single = values.iter().all(|&x| fits_f32(x));
        self.append(Part { starts: &[0, values.len()], indices, values, single });
    }

    /// Adds rows.
    pub fn append(&mut self, part: Part<'_>) {
        let Part { starts, indices, values, single } = part;
        if let (false, Values::F32(narrow)) = (single, &mut self.values) {
            self.values = Values::F64(narrow.iter().map(|&x| f64::from(x)).collect());
        }
        let rows = starts.len() - 1;
        match &mut self.sparse {
            Some(sparse) => {
                if sparse.stored == Stored::One && !part.is_even() {
                    match &mut self.values {
                        Values::F32(v) => sparse.end_evenness(v),
                        Values::F64(v) => sparse.end_evenness(v),
                    }
                }
                match sparse.stored {
                    Stored::One => {
                        let one = rows_of(starts, values).map(|row| row.first().copied().unwrap_or_default());
                        match &mut self.values {
                            Values::F32(v) => v.extend(one.map(|x| x as f32)),
                            Values::F64(v) => v.extend(one),
                        }
                    }
                    Stored::Each => match &mut self.values {
                        Values::F32(v) => v.extend(values.iter().map(|&x| x as f32)),
                        Values::F64(v) => v.extend_from_slice(values),
                    },
                }
                sparse.indices.extend_from_slice(indices);
                self.columns = self.columns.max(sparse.begin_rows(starts, indices));
            }
            None => {
                for span in starts.windows(2).map(|s| s[0] - starts[0]..s[1] - starts[0]) {
                    let (indices, values) = (&indices[span.clone()], &values[span]);
                    match &mut self.values {
                        Values::F32(v) => push_dense(v, self.columns, indices, values, |x| x as f32),
                        Values::F64(v) => push_dense(v, self.columns, indices, values, |x| x),
                    }
                }
            }
        }
        self.rows += rows;
    }

    /// Whether rows like these are stored as doubles of more than one a row, whatever follows them.
    pub(super) fn needs_doubles(&self, part: Part<'_>) -> bool {
        self.sparse.is_some() && !part.single && !part.is_even()
    }

    /// Adds rows that need doubles, but not their entries: those will come before all that this builder has.
    pub(super) fn append_placed(&mut self, part: Part<'_>) {
        let Some(sparse) = &mut self.sparse else { return };
        if sparse.stored == Stored::One {
            sparse.stored = Stored::Each;
            self.values = Values::F64(Vec::new());
        }
        self.columns = self.columns.max(sparse.begin_rows(part.starts, part.indices));
        self.rows += part.starts.len() - 1;
    }

    /// The matrix, with these entries before those that this builder has.
    pub(super) fn finish_behind(mut self, mut indices: Vec<u32>, mut values: Vec<f64>) -> Matrix {
        if let (Some(sparse), Values::F64(late)) = (&mut self.sparse, &self.values) {
            indices.extend_from_slice(&sparse.indices);
            values.extend_from_slice(late);
            sparse.indices = indices;
            self.values = Values::F64(values);
        }
        self.finish()
    }

    /// Makes room for `factor` times what is there, at once: growing step by step would move everything each
    /// time. Room that is not used in the end costs address space, not memory, and is given back.
    pub fn expect(&mut self, factor: f64) {
        let more = |length: usize| (length as f64 * (factor - 1.0).clamp(0.0, 1e9)) as usize;
        // Only a wish: if there is no such room, growing as usual will tell.
        match &mut self.values {
            Values::F32(v) => drop(v.try_reserve_exact(more(v.len()))),
            Values::F64(v) => drop(v.try_reserve_exact(more(v.len()))),
        }
        if let Some(s) = &mut self.sparse {
            drop(s.starts.try_reserve_exact(more(s.starts.len())));
            drop(s.indices.try_reserve_exact(more(s.indices.len())));
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The matrix, without slack.
    pub fn finish(mut self) -> Matrix {
        match &mut self.values {
            Values::F32(v) => v.shrink_to_fit(),
            Values::F64(v) => v.shrink_to_fit(),
        }
        if let Some(s) = &mut self.sparse {
            s.starts.shrink_to_fit();
            s.indices.shrink_to_fit();
        }
        Matrix { rows: self.rows, columns: self.columns, sparse: self.sparse, values: self.values }
    }
}

/// Reads one item of each cache line.
#[inline]
pub fn fetch<T>(items: &[T], bits: impl Fn(&T) -> u64) -> u64 {
    /// Bytes that come at once.
    const LINE: usize = 64;
    items.iter().step_by(LINE / size_of::<T>()).fold(0, |all, item| all ^ bits(item))
}

/// Whether `f32` holds this number exactly.
#[inline]
pub fn fits_f32(x: f64) -> bool {
    f64::from(x as f32) == x
}

fn spread<V: Copy + Default>(sparse: &Sparse, columns: usize, values: &[V]) -> Vec<V> {
    let mut all = vec![V::default(); (sparse.starts.len() - 1) * columns];
    for (row, span) in sparse.starts.windows(2).enumerate() {
        for (&j, x) in sparse.indices[span[0]..span[1]].iter().zip(sparse.spelled_out(values, row)) {
            all[row * columns + j as usize] = x;
        }
    }
    all
}

fn push_dense<V: Copy + Default>(
    all: &mut Vec<V>,
    columns: usize,
    indices: &[u32],
    values: &[f64],
    narrow: impl Fn(f64) -> V,
) {
    let start = all.len();
    all.resize(start + columns, V::default());
    for (&j, &x) in indices.iter().zip(values) {
        all[start + j as usize] = narrow(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stored entries of a row.
    fn entries(matrix: &Matrix, row: usize) -> Vec<(u32, f64)> {
        let mut entries = Vec::new();
        matrix.row(row).for_each_stored(|j, x| entries.push((j, x)));
        entries
    }

    fn sparse(rows: &[(&[u32], &[f64])]) -> Matrix {
        let mut builder = Builder::new(Layout::Sparse);
        rows.iter().for_each(|(indices, values)| builder.push(indices, values));
        builder.finish()
    }

    /// One after the other into the same matrix, from every form to every other.
    #[test]
    fn a_refilled_matrix_has_the_rows_and_the_form_of_the_other() {
        let even: [(&[u32], &[f64]); 3] = [(&[0, 2], &[1.0, 1.0]), (&[], &[]), (&[1], &[0.5])];
        let single: [(&[u32], &[f64]); 3] =
            [(&[0, 2, 3, 4], &[1.0, 2.0, 2.0, 2.0]), (&[], &[]), (&[1], &[0.5])];
        let double: [(&[u32], &[f64]); 3] =
            [(&[0, 2, 3, 4], &[0.1, 0.7, 0.7, 0.7]), (&[1], &[0.3]), (&[0, 4], &[0.5, 0.2])];
        let all = [even, single, double];
        let mut forms: Vec<Matrix> = all.iter().map(|rows| sparse(rows)).collect();
        forms.extend(all.iter().map(|rows| sparse(rows).into_dense()));
        for first in &forms {
            for second in &forms {
                let mut page = first.clone();
                page.refill(second, &[2, 0, 1, 1]);
                assert_eq!(page, second.select([2, 0, 1, 1]));
                page.refill(second, &[0, 1, 2]);
                assert_eq!((&page, page.bytes()), (second, second.bytes()));
            }
        }
    }

    /// Even or not, single or double: whatever came first, a later row that needs more loses nothing of it.
    #[test]
    fn storage_is_the_narrowest_until_a_row_needs_more_and_nothing_is_lost() {
        let even_single: (&[u32], &[f64]) = (&[1, 4], &[-2.0, -2.0]);
        let even_double: (&[u32], &[f64]) = (&[0, 2, 5], &[0.1, 0.1, 0.1]);
        let single: (&[u32], &[f64]) = (&[0, 3], &[0.5, 16_777_216.0]);
        let double: (&[u32], &[f64]) = (&[2, 9], &[0.1, 1.0]);
        let empty: (&[u32], &[f64]) = (&[], &[]);
        let kinds = [even_single, even_double, single, double, empty];
        for many in 0..kinds.len().pow(4) {
            let rows: Vec<_> =
                (0..4).map(|place| kinds[many / kinds.len().pow(place) % kinds.len()]).collect();
            let matrix = sparse(&rows);
            let none = |kinds: [(&[u32], &[f64]); 2]| rows.iter().all(|row| !kinds.contains(row));
            assert_eq!(matrix.is_even(), none([single, double]), "{rows:?}");
            assert_eq!(matrix.is_single(), none([even_double, double]), "{rows:?}");
            assert_eq!(matrix.stored(), rows.iter().map(|row| row.0.len()).sum::<usize>());
            assert_eq!((matrix.rows(), matrix.nonzeros()), (4, matrix.stored()));
            for (i, (indices, values)) in rows.iter().enumerate() {
                let expected: Vec<_> = indices.iter().copied().zip(values.iter().copied()).collect();
                assert_eq!(entries(&matrix, i), expected, "{rows:?}");
                assert_eq!(matches!(matrix.row(i), Row::Even(..)), matrix.is_even());
            }
            let (starts, indices, values) =
                rows.iter().fold((vec![0], vec![], vec![]), |(mut s, mut j, mut x), row| {
                    j.extend_from_slice(row.0);
                    x.extend_from_slice(row.1);
                    s.push(j.len());
                    (s, j, x)
                });
            let mut at_once = Builder::new(Layout::Sparse);
            let single = values.iter().all(|&x| fits_f32(x));
            at_once.append(Part { starts: &starts, indices: &indices, values: &values, single });
            assert_eq!(at_once.finish(), matrix, "appended at once");
            let values = if matrix.is_single() {
                Values::F32(values.iter().map(|&x| x as f32).collect())
            } else {
                Values::F64(values)
            };
            assert_eq!(
                Matrix::from_compressed(matrix.columns(), starts, indices, values).unwrap(),
                matrix,
                "out of its parts"
            );
            let mut rest = matrix.every(2);
            assert_eq!(
                (entries(&rest, 0), entries(&rest, 1)),
                (entries(&matrix, 0), entries(&matrix, 2)),
                "every second"
            );
            rest = matrix.scaled(&[2.0; 10]);
            let doubled =
                |i: usize| entries(&matrix, i).into_iter().map(|(j, x)| (j, 2.0 * x)).collect::<Vec<_>>();
            assert!((0..4).all(|i| entries(&rest, i) == doubled(i)), "scaled");
            let (some, others) = matrix.parted(&[0, 10, 1, 11, 2, 12, 3, 13, 4, 14], [0, 5]);
            for i in 0..4 {
                let part = |odd: u32| {
                    let own = entries(&matrix, i).into_iter().filter(move |(j, _)| j % 2 == odd);
                    own.map(|(j, x)| (j / 2 + 10 * odd, x)).collect::<Vec<_>>()
                };
                assert_eq!((entries(&some, i), entries(&others, i)), (part(0), part(1)), "parted: {rows:?}");
            }
            let mut back = matrix.select([3, 2, 1, 0]).select([3, 2, 1, 0]);
            back.widen(matrix.columns());
            assert_eq!(back, matrix, "selected");
            let dense = matrix.clone().into_dense();
            assert!(dense.is_dense() && !dense.is_even() && dense.is_single() == matrix.is_single());
            assert_eq!((dense.nonzeros(), dense.stored()), (matrix.nonzeros(), 4 * matrix.columns()));
            for i in 0..4 {
                assert_eq!(
                    entries(&dense, i).into_iter().filter(|(_, x)| *x != 0.0).collect::<Vec<_>>(),
                    entries(&matrix, i)
                );
            }
        }
    }

    #[test]
    fn one_value_a_row_is_stored_once() {
        let rows: [(&[u32], &[f64]); 3] =
            [(&[0, 1, 2, 3], &[0.1; 4]), (&[0, 5], &[3.0; 2]), (&[0, 1], &[7.0, 3.0])];
        let bytes = |rows| sparse(rows).bytes();
        assert_eq!(bytes(&rows[..2]), 3 * 8 + 6 * 4 + 2 * 8);
        assert_eq!(bytes(&rows[1..2]), 2 * 8 + 2 * 4 + 4);
        assert_eq!(bytes(&rows), 4 * 8 + 8 * (4 + 8));
        assert_eq!(bytes(&rows[1..]), 3 * 8 + 4 * (4 + 4));
    }

    /// A zero and a negative zero are one number, but not the same bits.
    #[test]
    fn zeros_of_both_signs_are_not_even() {
        let matrix = sparse(&[(&[0, 1], &[0.0, -0.0])]);
        assert!(!matrix.is_even());
        assert_eq!(entries(&matrix, 0)[1].1.to_bits(), (-0.0f64).to_bits());
    }

    #[test]
    fn compressed_parts_that_do_not_fit_together_are_refused() {
        let make = |starts: &[usize], indices: &[u32], values: &[f64]| {
            Matrix::from_compressed(3, starts.to_vec(), indices.to_vec(), Values::F64(values.to_vec()))
        };
        assert_eq!(make(&[0], &[], &[]).unwrap().rows(), 0);
        for (starts, indices) in [
            (&[][..], &[0u32, 2][..]),
            (&[0, 1], &[0, 2]),
            (&[1, 2], &[0, 2]),
            (&[0, 9, 2], &[0, 2]),
            (&[0, 2], &[2, 0]),
        ] {
            assert!(make(starts, indices, &[1.0, 2.0]).is_err(), "{starts:?} {indices:?}");
        }
        assert!(make(&[0, 2], &[1, 1], &[1.0, 2.0]).is_err());
        assert!(make(&[0, 2], &[1, 3], &[1.0, 2.0]).is_err());
        assert!(make(&[0, 2], &[1, 2], &[1.0]).is_err());
    }

    #[test]
    fn a_sparse_matrix_made_dense_has_the_same_rows() {
        let mut builder = Builder::new(Layout::Sparse);
        builder.push(&[0, 3], &[0.1, 7.0]);
        builder.push(&[], &[]);
        builder.push(&[2], &[-1.0]);
        let dense = builder.finish().into_dense();
        assert_eq!((dense.rows(), dense.columns(), dense.is_dense()), (3, 4, true));
        let Row::Dense64(x) = dense.row(0) else { panic!("dense, double") };
        assert_eq!(x, &[0.1, 0.0, 0.0, 7.0]);
        let Row::Dense64(x) = dense.row(2) else { panic!("dense, double") };
        assert_eq!(x, &[0.0, 0.0, -1.0, 0.0]);
    }

    #[test]
    fn select_keeps_layout_precision_and_order() {
        let mut builder = Builder::new(Layout::Dense { columns: 3 });
        builder.push(&[0], &[0.1]);
        builder.push(&[1, 2], &[2.0, 3.0]);
        let matrix = builder.finish();
        let picked = matrix.select([1, 1, 0]);
        assert_eq!(
            (picked.rows(), picked.columns(), picked.is_dense(), picked.is_single()),
            (3, 3, true, false)
        );
        let Row::Dense64(x) = picked.row(0) else { panic!("dense, double") };
        assert_eq!(x, &[0.0, 2.0, 3.0]);
        let Row::Dense64(x) = picked.row(2) else { panic!("dense, double") };
        assert_eq!(x, &[0.1, 0.0, 0.0]);
    }
}
