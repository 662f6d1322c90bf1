//! The exact interval of a share that was counted.

/// The Clopper–Pearson interval of `count` out of `total`: the shares under which so few, or so many, are no less likely
/// than half of what the confidence leaves.
///
/// ```
/// let (low, high) = novikoff::evaluate::binomial_interval(0, 10, 0.95);
/// assert_eq!(low, 0.0);
/// assert!((high - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-12);
/// ```
pub fn binomial_interval(count: u64, total: u64, confidence: f64) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let tail = (1.0 - confidence) / 2.0;
    let (k, n) = (count as f64, total as f64);
    // P(X ≥ k) = I_p(k, n − k + 1) and P(X ≤ k) = 1 − I_p(k + 1, n − k) both rise with p in the first argument's sense.
    let low = if count == 0 { 0.0 } else { solve(|p| puruspe::betai(k, n - k + 1.0, p) - tail) };
    let high = if count == total { 1.0 } else { solve(|p| puruspe::betai(k + 1.0, n - k, p) - (1.0 - tail)) };
    (low, high)
}

/// The root in [0, 1] of a function that rises.
fn solve(rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if rising(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// P(X ≤ k) summed term by term, in logarithms.
    fn tail(k: u64, n: u64, p: f64) -> f64 {
        let mut term = n as f64 * (-p).ln_1p();
        let mut sum = term.exp();
        for i in 1..=k {
            term += ((n - i + 1) as f64 / i as f64).ln() + p.ln() - (-p).ln_1p();
            sum += term.exp();
        }
        sum
    }

    proptest! {
        #[test]
        fn the_tails_at_the_ends_of_the_interval_are_what_the_confidence_leaves(n in 1u64..300, k in 0u64..300, c in 0.5f64..0.999) {
            let k = k.min(n);
            let (low, high) = binomial_interval(k, n, c);
            prop_assert!(low <= k as f64 / n as f64 && k as f64 / n as f64 <= high);
            let left = (1.0 - c) / 2.0;
            if k > 0 { prop_assert!((1.0 - tail(k - 1, n, low) - left).abs() < 1e-8); }
            if k < n { prop_assert!((tail(k, n, high) - left).abs() < 1e-8); }
        }
    }
}
