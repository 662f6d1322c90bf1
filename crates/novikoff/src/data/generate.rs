//! Seeded rows with a chosen margin, dimension, sparsity and label noise, for tests, benchmarks and teaching.

use super::matrix::{Builder, Layout};
use super::{Dataset, Labels, Report};
use crate::features::Schema;
use crate::random::Random;

/// What to generate.
///
/// Without noise, the rows are separable through the origin, by a margin of at least `margin`, with all rows
/// in the unit ball around it: `y·<u, x> ≥ margin` for the unit vector `u` returned by
/// [`Recipe::generate_with_separator`].
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Number of rows.
    pub rows: usize,
    /// Number of features.
    pub features: usize,
    /// The margin γ, in `(0, 1)`.
    pub margin: f64,
    /// Expected share of entries that are not zero, in `(0, 1]`.
    pub density: f64,
    /// Share of labels that are flipped, in `[0, 1]`.
    pub noise: f64,
    /// The same seed gives the same rows.
    pub seed: u64,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { rows: 1000, features: 20, margin: 0.05, density: 1.0, noise: 0.0, seed: 0 }
    }
}

impl Recipe {
    /// The rows, labelled `-1` and `1`.
    ///
    /// ```
    /// use novikoff::data::generate::Recipe;
    /// let data = Recipe { rows: 50, features: 3, ..Recipe::default() }.generate();
    /// assert_eq!((data.len(), data.rows.columns()), (50, 3));
    /// ```
    pub fn generate(&self) -> Dataset<'static> {
        self.generate_with_separator().0
    }

    /// The rows, and the unit vector that separates them by the margin (but for the labels flipped).
    ///
    /// # Panics
    /// If a field is outside its range.
    pub fn generate_with_separator(&self) -> (Dataset<'static>, Vec<f64>) {
        assert!(self.features > 0, "at least one feature");
        assert!(self.margin > 0.0 && self.margin < 1.0, "margin in (0, 1)");
        assert!(self.density > 0.0 && self.density <= 1.0, "density in (0, 1]");
        assert!((0.0..=1.0).contains(&self.noise), "noise in [0, 1]");
        let mut random = Random::new(self.seed);
        let separator = unit_vector(&mut random, self.features);
        let layout =
            if self.density < 0.5 { Layout::Sparse } else { Layout::Dense { columns: self.features } };
        let mut builder = Builder::new(layout);
        let mut labels = Vec::with_capacity(self.rows);
        for _ in 0..self.rows {
            let positive = random.bits() & 1 == 1;
            let (indices, values) = self.row(&mut random, &separator, if positive { 1.0 } else { -1.0 });
            builder.push(&indices, &values);
            labels.push(u32::from(positive ^ (random.unit() < self.noise)));
        }
        let mut rows = builder.finish();
        rows.widen(self.features);
        let report = Report { rows: self.rows as u64, ..Report::default() };
        let names = Labels::new(["-1", "1"]);
        (
            Dataset { rows, labels, names, row_weights: Vec::new(), schema: Schema::one_based(), report },
            separator,
        )
    }

    /// Draws supports until one lets the row reach the margin inside the unit ball, then moves a random point
    /// of that support along the separator's part in it until `side·<u, x> ≥ margin`, with room for rounding.
    fn row(&self, random: &mut Random, separator: &[f64], side: f64) -> (Vec<u32>, Vec<f64>) {
        let target = (self.margin * (1.0 + 1e-9)).max(self.margin + 1e-12);
        let mut density = self.density;
        loop {
            let mut support: Vec<u32> =
                (0..self.features as u32).filter(|_| random.unit() < density).collect();
            if support.is_empty() {
                support.push(random.below(self.features as u64) as u32);
            }
            let part: Vec<f64> = support.iter().map(|&j| separator[j as usize]).collect();
            let reach = norm(&part);
            if reach <= target {
                // Too small a part of the separator to reach the margin: allow a wider support next time.
                density = (density * 1.5).min(1.0);
                continue;
            }
            // x = a·part/‖part‖ + rest, with rest ⟂ part: <u, x> = a·reach, ‖x‖² = a² + ‖rest‖² ≤ 1.
            let least = target / reach;
            let along = least + (1.0 - least) * random.unit() * 0.5;
            let mut rest: Vec<f64> = part.iter().map(|_| random.normal()).collect();
            let overlap = dot(&rest, &part) / (reach * reach);
            rest.iter_mut().zip(&part).for_each(|(r, p)| *r -= overlap * p);
            let room = (1.0 - along * along).max(0.0).sqrt() * (1.0 - 1e-9);
            let length = norm(&rest);
            let scale = if length > 1e-9 { room * random.unit() / length } else { 0.0 };
            let values: Vec<f64> =
                part.iter().zip(&rest).map(|(p, r)| side * along * p / reach + scale * r).collect();
            if side * dot(&values, &part) >= self.margin {
                return (support, values);
            }
        }
    }
}

fn unit_vector(random: &mut Random, features: usize) -> Vec<f64> {
    loop {
        let mut u: Vec<f64> = (0..features).map(|_| random.normal()).collect();
        let length = norm(&u);
        if length > 1e-3 {
            u.iter_mut().for_each(|x| *x /= length);
            return u;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn generated_rows_have_the_margin_and_radius_they_promise(
            features in 1usize..30, density in 0.05f64..1.0, margin in 0.001f64..0.5, seed in any::<u64>(),
        ) {
            let recipe = Recipe { rows: 60, features, margin, density, noise: 0.0, seed };
            let (data, separator) = recipe.generate_with_separator();
            prop_assert_eq!((data.len(), data.rows.columns()), (60, features));
            for i in 0..data.len() {
                let side = if data.labels[i] == 1 { 1.0 } else { -1.0 };
                let row = data.rows.row(i);
                prop_assert!(side * row.dot(&separator) >= margin - 1e-15);
                prop_assert!(row.norm_sq() <= 1.0 + 1e-12);
            }
            prop_assert_eq!(recipe.generate().fingerprint(), data.fingerprint());
        }

        #[test]
        fn noise_flips_about_its_share_of_labels(noise in 0.0f64..1.0, seed in any::<u64>()) {
            let clean = Recipe { rows: 400, noise: 0.0, seed, ..Recipe::default() };
            let (data, separator) = Recipe { noise, ..clean }.generate_with_separator();
            let flipped = (0..400)
                .filter(|&i| (data.rows.row(i).dot(&separator) >= 0.0) != (data.labels[i] == 1))
                .count();
            prop_assert!((flipped as f64 - 400.0 * noise).abs() < 5.0 * 10.0 + 1.0);
        }
    }
}
