//! Batches of columns in memory.

use super::Spec;
use super::batches::{Opened, columns, damaged, places};
use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::sync::Arc;

/// Most rows that become text at once.
const ROWS: usize = 1 << 13;

/// Opens them, from a row on.
pub(super) fn open(
    schema: &SchemaRef,
    batches: &Arc<[RecordBatch]>,
    spec: &Spec,
    from: u64,
) -> Result<Opened> {
    let (names, wanted) = columns(schema, spec)?;
    let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let (batches, places, spec) = (batches.clone(), places(&wanted), spec.clone());
    let (mut at, mut next) = (0, usize::try_from(from).unwrap_or(usize::MAX));
    let slices = std::iter::from_fn(move || {
        loop {
            let batch = batches.get(at)?;
            let left = batch.num_rows().saturating_sub(next);
            if left > 0 {
                let slice = batch.slice(next, left.min(ROWS));
                next += slice.num_rows();
                return Some(slice.project(&places).map_err(|error| damaged(&spec, error)));
            }
            (at, next) = (at + 1, next - batch.num_rows());
        }
    });
    Ok(Opened { names, wanted, rows: Some(rows), batches: Box::new(slices) })
}
