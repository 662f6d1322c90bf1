//! Rows of features that are made of features.

use super::matrix::{Builder, Layout};
use super::{Dataset, Matrix};
use crate::error::{Error, Result};
use crate::features::Schema;
use crate::features::map::{Entries, Mapper};
use rayon::prelude::*;

/// Rows that are mapped on all cores before they are put together.
pub(crate) const ROWS_AT_ONCE: usize = 4096;
/// Entries that may be stored: 3 GB, and what learns from them may take as much again.
const MOST_ENTRIES: usize = 1 << 28;

impl Matrix<'_> {
    /// These rows, mapped.
    pub fn mapped(&self, mapper: &Mapper) -> Result<Matrix<'static>> {
        let map = mapper.map();
        let entries =
            (0..self.rows()).fold(0usize, |sum, i| sum.saturating_add(map.entries(self.row(i).nonzeros())));
        if entries > MOST_ENTRIES {
            let what = format!(
                "`map = {map}` makes {entries} entries of {} rows, and {MOST_ENTRIES} can be stored",
                self.rows()
            );
            return Err(
                Error::input(what).hint("a lower degree, or fewer features or rows; `online` stores no rows")
            );
        }
        let columns = mapper.features();
        let mut builder =
            Builder::new(if map.is_dense() { Layout::Dense { columns } } else { Layout::Sparse });
        let numbers: Vec<usize> = (0..self.rows()).collect();
        for rows in numbers.chunks(ROWS_AT_ONCE) {
            let map_one = |row: &mut Vec<(u32, f64)>, &i: &usize| {
                self.row(i).collect_into(row);
                let mut mapped = Entries::default();
                mapper.apply(row, &mut mapped);
                mapped
            };
            let mapped: Vec<Entries> = rows.par_iter().map_init(Vec::new, map_one).collect();
            mapped.iter().for_each(|row| builder.push(&row.indices, &row.values));
        }
        let mut mapped = builder.finish();
        mapped.widen(columns);
        Ok(mapped)
    }
}

impl Dataset<'_> {
    /// The same data with its rows mapped. Features are numbered from 1: what they are called is for the map
    /// to say.
    pub fn mapped(&self, mapper: &Mapper) -> Result<Dataset<'static>> {
        Ok(Dataset {
            rows: self.rows.mapped(mapper)?,
            labels: self.labels.clone(),
            names: self.names.clone(),
            row_weights: self.row_weights.clone(),
            schema: Schema::one_based(),
            report: self.report.clone(),
        })
    }
}
