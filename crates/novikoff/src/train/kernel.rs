//! What kernels need of rows and settings.

use super::{Learner, Settings};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, norms_sq};

/// Rows are turned on their side, with a number for every column there is, on every core.
const MOST_COLUMNS: usize = 1 << 26;

/// Only learners that correct mistakes can do with kernels alone.
pub(super) fn refuse_for_others(settings: &Settings) -> Result<()> {
    if settings.kernel == Kernel::Linear || Learner::ONLINE.contains(&settings.learner) {
        return Ok(());
    }
    let what = format!("{} learns weights of features: it has no use for a kernel", settings.learner.name());
    Err(Error::usage(what)
        .hint("leave out --kernel, or use --learner averaged, voted, perceptron or passive-aggressive"))
}

/// Whether these rows can be learned from with this kernel.
pub(crate) fn check(data: &Dataset, settings: &Settings) -> Result<()> {
    if settings.own_feature.is_some() {
        let error = Error::usage("a feature of each row's own is for weights of features");
        return Err(
            error.hint("leave out --own-feature: most rows are separable with a kernel of a higher degree")
        );
    }
    let columns = data.rows.columns();
    if columns > MOST_COLUMNS {
        let what = format!("rows of {columns} features are wider than a kernel can compare, {MOST_COLUMNS}");
        return Err(Error::input(what).hint("hash them: --hash-bits 20"));
    }
    let largest = norms_sq(&data.rows).into_iter().fold(0.0, f64::max);
    if largest.is_finite() && settings.kernel.largest(largest).is_finite() {
        return Ok(());
    }
    let what = format!(
        "the values are so large that the kernel {} of two rows is no finite number",
        settings.kernel
    );
    Err(Error::input(what).hint("scale the columns down first"))
}
