//! What theory promises of halfspaces before any row is seen: how many rows are enough, and what so many rows
//! are worth.
//!
//! The class of halfspaces over `d` features has the VC dimension `d + 1` with a bias and `d` without. Two
//! theorems, each with its constants:
//!
//! - *Realizable* (some halfspace makes no error): Blumer, Ehrenfeucht, Haussler and Warmuth, 1989. With `n ≥
//!   max((4/ε)·log₂(2/δ), (8v/ε)·log₂(13/ε))` rows, with probability `1 − δ` every halfspace that errs on
//!   none of them errs on at most a share ε of all.
//! - *Agnostic* (anything goes): Vapnik and Chervonenkis, 1971. With probability `1 − δ` the error of every
//!   halfspace on `n` rows is within `√((8/n)·ln(4·((2n)^v + 1)/δ))` of its error on all; who minimises the
//!   one is then within twice that of the best at the other.

/// Which theorem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Some halfspace makes no error.
    Realizable,
    /// No such promise.
    Agnostic,
}

/// The VC dimension of halfspaces over so many features.
pub fn vc_dimension(features: u64, bias: bool) -> u64 {
    features.saturating_add(u64::from(bias))
}

/// The least number of rows that the theorem needs for (ε, δ). Realizable: to err on at most a share ε.
/// Agnostic: for the training error to be within ε of the true one.
///
/// ```
/// use novikoff::certificate::learnability::{Setting, rows_needed};
/// // A dimension of 3 and ε = δ = 0.1 take about thirty thousand rows, whatever the distribution.
/// let rows = rows_needed(Setting::Agnostic, 3, 0.1, 0.1);
/// assert!((29_000..31_000).contains(&rows), "{rows}");
/// ```
pub fn rows_needed(setting: Setting, dimension: u64, epsilon: f64, delta: f64) -> u64 {
    // The bound falls with the number of rows: the first that is small enough is found by halving.
    let enough = |rows: u64| error_bound(setting, dimension, rows, delta) <= epsilon;
    let mut high = 1u64;
    while !enough(high) {
        match high.checked_mul(2) {
            Some(double) => high = double,
            None => return u64::MAX,
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// What so many rows are worth: ε, with probability `1 − δ`; 1 where they are worth nothing.
pub fn error_bound(setting: Setting, dimension: u64, rows: u64, delta: f64) -> f64 {
    let (v, n) = (dimension as f64, rows as f64);
    if rows == 0 {
        return 1.0;
    }
    match setting {
        Setting::Agnostic => {
            // ln((2n)^v + 1), where the power itself may be too large to write down.
            let power = v * (2.0 * n).ln();
            let growth = power + (-power).exp().ln_1p();
            (8.0 / n * ((4.0 / delta).ln() + growth)).sqrt().min(1.0)
        }
        Setting::Realizable => {
            let needed = |epsilon: f64| {
                f64::max(4.0 / epsilon * (2.0 / delta).log2(), 8.0 * v / epsilon * (13.0 / epsilon).log2())
            };
            if needed(1.0) > n {
                return 1.0;
            }
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if needed(middle) <= n { high = middle } else { low = middle }
            }
            high
        }
    }
}

/// Fewer rows than this are not enough for any learner, in the realizable setting: Ehrenfeucht, Haussler,
/// Kearns and Valiant, 1989, for ε ≤ 1/8 and δ ≤ 1/100. `None` outside that range.
pub fn rows_not_enough(dimension: u64, epsilon: f64, delta: f64) -> Option<u64> {
    if !(epsilon <= 0.125 && delta <= 0.01) {
        return None;
    }
    let bound =
        f64::max((1.0 - epsilon) / epsilon * (1.0 / delta).ln(), (dimension as f64 - 1.0) / (32.0 * epsilon));
    Some(bound.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule as it is printed in textbooks.
    fn blumer(v: f64, epsilon: f64, delta: f64) -> f64 {
        f64::max(4.0 / epsilon * (2.0 / delta).log2(), 8.0 * v / epsilon * (13.0 / epsilon).log2())
    }

    proptest! {
        #[test]
        fn the_number_needed_is_the_least_that_is_enough(
            v in 1..5000u64, epsilon in 0.001..0.9f64, delta in 1e-6..0.9f64, agnostic: bool,
        ) {
            let setting = if agnostic { Setting::Agnostic } else { Setting::Realizable };
            let rows = rows_needed(setting, v, epsilon, delta);
            prop_assert!(error_bound(setting, v, rows, delta) <= epsilon);
            prop_assert!(error_bound(setting, v, rows - 1, delta) > epsilon);
            if !agnostic {
                let exact = blumer(v as f64, epsilon, delta);
                prop_assert!((rows as f64 - exact).abs() <= 1.0 + 1e-9 * exact, "{rows} {exact}");
                if let Some(too_few) = rows_not_enough(v, epsilon, delta) {
                    prop_assert!(too_few <= rows);
                }
            }
        }
    }

    #[test]
    fn halfspaces_have_one_dimension_more_with_a_bias() {
        assert_eq!((vc_dimension(10, true), vc_dimension(10, false)), (11, 10));
    }

    #[test]
    fn no_rows_promise_nothing() {
        assert_eq!(error_bound(Setting::Realizable, 3, 0, 0.1), 1.0);
        assert_eq!(error_bound(Setting::Agnostic, 3, 10, 0.1), 1.0);
    }
}
