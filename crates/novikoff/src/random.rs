//! A small seeded generator of this crate's own, so that a seed gives the same shuffle, and so the same
//! model, in every version of it.

/// xoshiro256++ (Blackman and Vigna), seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        });
        Self { state }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `0..bound` (Lemire's method, without bias). A bound of 0 gives 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut wide = u128::from(self.bits()) * u128::from(bound);
        if (wide as u64) < bound {
            // Seldom: only now is the division needed that says which products to leave out.
            let threshold = bound.wrapping_neg() % bound.max(1);
            while (wide as u64) < threshold {
                wide = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_is_a_permutation_and_depends_on_the_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..1000).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        let mut sorted = shuffled(7);
        assert_ne!(sorted, shuffled(8));
        assert_eq!(sorted, shuffled(7));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_numbers_of_a_seed_never_change() {
        // The reference values of xoshiro256++ for the state 1, 2, 3, 4.
        let mut random = Random { state: [1, 2, 3, 4] };
        assert_eq!([random.bits(), random.bits(), random.bits()], [41943041, 58720359, 3588806011781223]);
    }

    #[test]
    fn below_is_uniform_enough_to_pass_a_chi_square() {
        let mut random = Random::new(3);
        let mut counts = [0f64; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1.0;
        }
        let chi: f64 = counts.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 22.5, "chi-square of 6 degrees of freedom at 0.001: {chi}");
    }
}
