//! `e^(−x)` for many numbers at once.

/// `e^(−x)` for `x ≥ 0`, to within a few units in the last place; 0 where it is below the smallest normal
/// number.
///
/// It has no branch and no call, so a loop over it becomes vector instructions, and its bits are the same on
/// every machine.
///
/// `−x = k·ln 2 + r` with a whole k and `|r| ≤ ln 2/2`; then `e^(−x) = 2^k·e^r`, and `e^r` is its Taylor sum
/// up to `r^13/13!`.
#[inline(always)]
pub(super) fn exp_of_negative(x: f64) -> f64 {
    // Adding this constant rounds to a whole number, which is then in the lowest bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts; products of the first with whole numbers up to 1,100 are exact.
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const LEAST: f64 = 708.0;
    let y = -x.min(LEAST);
    let shifted = y * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (y - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for inverse in INVERSE_FACTORIALS {
        sum = sum * r + inverse;
    }
    let two_to_k = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
    if x < LEAST { sum * two_to_k } else { 0.0 }
}

/// `1/12!` down to `1/0!`.
const INVERSE_FACTORIALS: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_are_exact() {
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(f64::INFINITY), 0.0);
        assert_eq!(exp_of_negative(1e300), 0.0);
        assert!(exp_of_negative(707.9) > 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn it_is_the_exponential(
            x in prop_oneof![0.0..707.9f64, 0.0..1.0f64, (-300.0..0.0f64).prop_map(|e| 10f64.powf(e))],
        ) {
            let (found, expected) = (exp_of_negative(x), libm::exp(-x));
            let error = (found - expected).abs();
            prop_assert!(error <= 4.0 * f64::EPSILON * expected, "e^-{x}: {found} and not {expected}");
        }
    }
}
