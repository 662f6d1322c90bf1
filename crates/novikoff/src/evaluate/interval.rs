//! The exact interval of a share that was counted.

/// The Clopper–Pearson interval of `count` out of `total`: the shares under which so few, or so many, are no
/// less likely than half of what the confidence leaves.
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
    // P(X ≥ k) = I_p(k, n − k + 1) and P(X ≤ k) = 1 − I_p(k + 1, n − k), and I_p rises with p.
    let low = if count == 0 { 0.0 } else { solve(|p| incomplete_beta(k, n - k + 1.0, p) - tail) };
    let high =
        if count == total { 1.0 } else { solve(|p| incomplete_beta(k + 1.0, n - k, p) - (1.0 - tail)) };
    (low, high)
}

/// The regularised incomplete beta function `I_x(a, b)`, by its continued fraction (Lentz's method, on the
/// side where it converges in about `√max(a, b)` steps).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    let steps = 200 + 20 * a.max(b).sqrt() as u64;
    for m in (1..=steps).map(|m| m as f64) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front.exp() * fraction / a
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

    /// P(X ≤ k) summed term by term, in logarithms. Beyond some hundred thousand terms rounding costs it a
    /// few digits.
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
        fn the_tails_at_the_ends_of_the_interval_are_what_the_confidence_leaves(
            n in prop_oneof![1u64..300, 1000u64..200_000], share in 0.0f64..1.0, c in 0.5f64..0.999,
        ) {
            let k = (share * n as f64).round() as u64;
            let (low, high) = binomial_interval(k, n, c);
            prop_assert!(low <= k as f64 / n as f64 && k as f64 / n as f64 <= high);
            let left = (1.0 - c) / 2.0;
            if k > 0 { prop_assert!((1.0 - tail(k - 1, n, low) - left).abs() < 1e-6); }
            if k < n { prop_assert!((tail(k, n, high) - left).abs() < 1e-6); }
        }
    }
}
