//! What kernels need of rows and settings.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, norms_sq};

/// Rows are turned on their side, with a number for every column there is, on every core.
const MOST_COLUMNS: usize = 1 << 26;

/// Whether these rows can be learned from with this kernel.
pub(crate) fn check(data: &Dataset, kernel: Kernel) -> Result<()> {
    kernel.validate()?;
    let columns = data.rows.columns();
    if columns > MOST_COLUMNS {
        let what = format!("rows of {columns} features are wider than a kernel can compare, {MOST_COLUMNS}");
        return Err(Error::input(what).hint("hash them: `hash_bits = 20`"));
    }
    let largest = norms_sq(&data.rows).into_iter().fold(0.0, f64::max);
    if largest.is_finite() && kernel.largest(largest).is_finite() {
        return Ok(());
    }
    let what = format!("the values are so large that the kernel {} of two rows is no finite number", kernel);
    Err(Error::input(what).hint("scale the columns down first"))
}
