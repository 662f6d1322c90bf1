//! From numbers to places along a line, and the round numbers that are written there.

use super::text;

/// How numbers are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    /// Equal steps lie equally far apart.
    Even,
    /// The same for whole numbers, such as epochs: nothing is written between them.
    Whole,
    /// Even up to [`EVEN`] on both sides of zero, and from there on logarithmic.
    SignedLogarithmic,
    /// Equal factors lie equally far apart; numbers that are not positive have no place.
    Logarithmic,
}

/// Larger numbers than this are not told apart; on a logarithmic axis neither are smaller ones than its
/// inverse.
const BEYOND: f64 = 1e280;

/// As far as this from zero a [`Spacing::SignedLogarithmic`] axis is even.
pub(super) const EVEN: f64 = 3.0;

/// A range of numbers along a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    spacing: Spacing,
    /// The ends, as [`raw`] has them.
    low: f64,
    high: f64,
}

impl Axis {
    /// From the least to the largest of these numbers, with a little room; NaN is passed
    /// over.
    pub(super) fn around(numbers: impl IntoIterator<Item = f64>, spacing: Spacing) -> Self {
        let mut axis = Self::exactly(numbers, spacing);
        let room = 0.04 * (axis.high - axis.low);
        (axis.low, axis.high) = (axis.low - room, axis.high + room);
        axis
    }

    /// From the least to the largest of these numbers.
    pub(super) fn exactly(numbers: impl IntoIterator<Item = f64>, spacing: Spacing) -> Self {
        let known = numbers.into_iter().filter_map(|x| raw(x, spacing));
        let (low, high) =
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Self { spacing, low: 0.0, high: 1.0 };
        }
        // One number, or several that are hardly apart, stand in the middle.
        let least = match spacing {
            Spacing::Even | Spacing::Whole => 1e-9 * low.abs().max(high.abs()).max(1e-200),
            Spacing::SignedLogarithmic | Spacing::Logarithmic => 0.05,
        };
        if high - low < least {
            let room = if low == 0.0 { 1.0 } else { (0.1 * low.abs()).max(0.5 * least) };
            let room = if spacing == Spacing::Logarithmic { 0.5 } else { room };
            return Self { spacing, low: low - room, high: high + room };
        }
        Self { spacing, low, high }
    }

    /// Where a number stands, from 0 to 1; beyond the ends a little less than 0 or more than 1. `None` if it
    /// has no place.
    pub(super) fn place(&self, x: f64) -> Option<f64> {
        let share = (raw(x, self.spacing)? - self.low) / (self.high - self.low);
        Some(share.clamp(-1.0, 2.0))
    }

    /// How numbers are spread along it.
    pub(super) fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The numbers at both ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.number_at(0.0), self.number_at(1.0))
    }

    /// The number that stands at a share of the way from the first to the last.
    pub(super) fn number_at(&self, share: f64) -> f64 {
        let x = (1.0 - share) * self.low + share * self.high;
        match self.spacing {
            Spacing::Even | Spacing::Whole => x,
            Spacing::Logarithmic => 10f64.powf(x),
            Spacing::SignedLogarithmic if x.abs() <= EVEN => x,
            Spacing::SignedLogarithmic => x.signum() * (EVEN + (x.abs() - EVEN).exp_m1()),
        }
    }

    /// Round numbers within the ends, about so many or fewer, with what to write there.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        match self.spacing {
            Spacing::Even => even_ticks((self.low, self.high), about, 0.0),
            Spacing::Whole => even_ticks((self.low, self.high), about, 1.0),
            Spacing::SignedLogarithmic => self.signed_ticks(about),
            Spacing::Logarithmic => logarithmic_ticks(self.low, self.high, about),
        }
    }

    /// Zero, ±2, and some powers of ten beyond.
    fn signed_ticks(&self, about: usize) -> Vec<(f64, String)> {
        let (low, high) = self.ends();
        let decades = |end: f64| if end > 0.0 { end.log10().floor() as i32 } else { 0 };
        let most = decades(-low).max(decades(high)).max(1) as usize;
        let powers = (1..=most as i32).step_by(most.div_ceil(about.max(2) / 2)).map(|p| 10f64.powi(p));
        let sizes: Vec<f64> = std::iter::once(2.0).chain(powers).collect();
        let negative = sizes.iter().rev().map(|size| -size);
        let all = negative.chain([0.0]).chain(sizes.iter().copied());
        let within = all.filter(|x| (low..=high).contains(x));
        within.map(|x| (x, text::tick(x, if x == 0.0 { 1.0 } else { x.abs() }))).collect()
    }
}

fn raw(x: f64, spacing: Spacing) -> Option<f64> {
    match spacing {
        _ if x.is_nan() => None,
        Spacing::Even | Spacing::Whole => Some(x.clamp(-BEYOND, BEYOND)),
        Spacing::SignedLogarithmic if x.abs() <= EVEN => Some(x),
        Spacing::SignedLogarithmic => {
            let size = x.abs().min(BEYOND);
            Some(x.signum() * (EVEN + (size - EVEN).ln_1p()))
        }
        Spacing::Logarithmic => (x > 0.0).then(|| x.clamp(1.0 / BEYOND, BEYOND).log10()),
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, which are `least` apart at least.
fn even_ticks((low, high): (f64, f64), about: usize, least: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / about.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(rough)
        .max(least);
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    if !(step > 0.0 && step.is_finite() && last - first < 100.0) {
        return Vec::new();
    }
    let count = (last - first).max(-1.0) as i64 + 1;
    (0..count).map(|k| (first + k as f64) * step).map(|x| (x, text::tick(x, step))).collect()
}

fn logarithmic_ticks(low: f64, high: f64, about: usize) -> Vec<(f64, String)> {
    let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
    let written = |x: f64| text::tick(x, 10f64.powf(x.log10().floor()));
    let within = |x: f64| (low - 1e-9..=high + 1e-9).contains(&x.log10());
    if last - first < 2 {
        let powers = (first - 1)..=(last + 1);
        let fine = powers.flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(p))).filter(|x| within(*x));
        return fine.map(|x| (x, written(x))).collect();
    }
    let stride = ((last - first) as usize).div_ceil(about.max(1)).max(1);
    (first..=last).step_by(stride).map(|p| 10f64.powi(p)).map(|x| (x, written(x))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -100.0..100.0f64,
            1 => prop::sample::select(vec![
                0.0, -0.0, 5e-324, f64::MIN_POSITIVE, 1e15, 1e15 + 1.0, f64::MAX, f64::MIN,
                f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
            ]),
        ]
    }

    proptest! {
        #[test]
        fn every_number_has_a_place_between_the_ends(
            numbers in prop::collection::vec(any_number(), 0..20), spacing in 0usize..4, about in 1usize..8,
        ) {
            let all = [Spacing::Even, Spacing::Whole, Spacing::SignedLogarithmic, Spacing::Logarithmic];
            let spacing = all[spacing];
            let log = spacing == Spacing::Logarithmic;
            let axis = Axis::around(numbers.iter().copied(), spacing);
            for x in numbers {
                match axis.place(x) {
                    None => prop_assert!(x.is_nan() || log && x <= 0.0),
                    Some(place) => prop_assert!((0.0..=1.0).contains(&place), "{x} at {place}"),
                }
            }
            let ticks = axis.ticks(about);
            prop_assert!(ticks.len() <= 3 * about + 8);
            prop_assert!(ticks.is_sorted_by(|a, b| a.0 < b.0), "{ticks:?}");
            for (x, text) in ticks {
                let place = axis.place(x).unwrap();
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&place), "{x} {place}");
                prop_assert!(text.len() < 12, "{text}");
            }
        }
    }

    #[test]
    fn ticks_are_round_numbers() {
        let written = |low: f64, high: f64, spacing| {
            let ticks = Axis::exactly([low, high], spacing).ticks(4);
            ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(written(0.0, 1.0, Spacing::Even), "0 0.5 1.0");
        assert_eq!(written(-3.0, 7.0, Spacing::Even), "0 5");
        assert_eq!(written(0.1, 30.0, Spacing::Logarithmic), "0.1 1 10");
        assert_eq!(written(0.9, 6.0, Spacing::Logarithmic), "1 2 5");
        assert_eq!(written(0.96, 3.04, Spacing::Whole), "1 2 3");
        assert_eq!(written(0.0, 31.0, Spacing::Whole), "0 10 20 30");
        assert_eq!(written(-1.5, 2e4, Spacing::SignedLogarithmic), "0 2 10 1000");
    }
}
