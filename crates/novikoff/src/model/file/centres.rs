//! What is subtracted from columns before rows are scored, as tensors that are there or not.

use super::tensors::{Numbers, Tensor, Tensors};
use crate::error::Result;
use std::borrow::Cow;

const COLUMNS: &str = "centre_columns";
const CENTRES: &str = "centres";

pub(super) fn tensors(centres: &[(u32, f64)]) -> Vec<Tensor<'static>> {
    if centres.is_empty() {
        return Vec::new();
    }
    let (columns, centres) = centres.iter().copied().unzip();
    vec![
        Tensor::list(COLUMNS, Numbers::U32(columns)),
        Tensor::list(CENTRES, Numbers::F64(Cow::Owned(centres))),
    ]
}

/// The centres of a file; none if it does not tell of any.
pub(super) fn read(tensors: &mut Tensors<'_>) -> Result<Vec<(u32, f64)>> {
    if tensors.dtype(COLUMNS).is_none() {
        return Ok(Vec::new());
    }
    let columns = tensors.list::<u32>(COLUMNS)?;
    let centres = tensors.shaped::<f64>(CENTRES, &[columns.len()])?;
    Ok(columns.into_iter().zip(centres).collect())
}
