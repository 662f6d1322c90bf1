//! Rows of the same numbers in every storage, for properties that hold for all of them.

use super::Row;
use proptest::prelude::*;

/// Small integers in every storage: every order of summation is exact, so that fast loops agree with the
/// naive sum to the bit.
pub(crate) struct Storages {
    narrow: Vec<f32>,
    /// The values, in every column.
    pub(crate) wide: Vec<f64>,
    indices: Vec<u32>,
    narrow_stored: Vec<f32>,
    wide_stored: Vec<f64>,
}

impl Storages {
    pub(crate) fn new(values: &[i8]) -> Self {
        let wide: Vec<f64> = values.iter().map(|&v| f64::from(v)).collect();
        let indices: Vec<u32> = (0..wide.len() as u32).filter(|&j| wide[j as usize] != 0.0).collect();
        let wide_stored: Vec<f64> = indices.iter().map(|&j| wide[j as usize]).collect();
        let narrow_stored = wide_stored.iter().map(|&x| x as f32).collect();
        Self { narrow: wide.iter().map(|&x| x as f32).collect(), wide, indices, narrow_stored, wide_stored }
    }

    /// The value in a column, 0 beyond the last.
    pub(crate) fn value(&self, column: usize) -> f64 {
        self.wide.get(column).copied().unwrap_or(0.0)
    }

    pub(crate) fn rows(&self) -> [Row<'_>; 4] {
        [
            Row::Dense32(&self.narrow),
            Row::Dense64(&self.wide),
            Row::Sparse32(&self.indices, &self.narrow_stored),
            Row::Sparse64(&self.indices, &self.wide_stored),
        ]
    }
}

/// A row that stores one value for all of its indices, and the same row with the value once an index. No
/// small integers here: every sum is rounded, and must be rounded alike.
#[derive(Debug)]
pub(crate) struct OneValue {
    indices: Vec<u32>,
    value: f64,
    repeated: Vec<f64>,
}

impl OneValue {
    pub(crate) fn rows(&self) -> [Row<'_>; 2] {
        [Row::Uniform(&self.indices, self.value), Row::Sparse64(&self.indices, &self.repeated)]
    }
}

/// Rows of up to 90 columns.
pub(crate) fn one_value() -> impl Strategy<Value = OneValue> {
    let value = prop_oneof![-1e3f64..1e3, Just(0.0), Just(-0.0)];
    (prop::collection::btree_set(0u32..90, 0..70), value).prop_map(|(indices, value)| OneValue {
        repeated: vec![value; indices.len()],
        indices: indices.into_iter().collect(),
        value,
    })
}

/// Whether the two rows have the same outcome, which must be compared bit by bit.
pub(crate) fn same_for_both<T: PartialEq>(rows: &OneValue, outcome: impl Fn(Row<'_>) -> T) -> bool {
    let [once, repeated] = rows.rows();
    outcome(once) == outcome(repeated)
}
