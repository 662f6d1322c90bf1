//! Which rows, and from which side they are looked at.

use crate::data::Matrix;
use crate::random::Random;

/// So many rows, or all if there are no more: drawn by the seed, in the order of the data.
///
/// ```
/// use novikoff::plot::sample;
/// assert_eq!(sample(3, 10, 0), [0, 1, 2]);
/// assert_eq!(sample(1000, 10, 7).len(), 10);
/// assert_eq!(sample(1000, 10, 7), sample(1000, 10, 7));
/// ```
pub fn sample(rows: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rows).collect();
    if rows > most {
        Random::new(seed).shuffle(&mut all);
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

/// Rounds of the power method: for a picture, a direction that is nearly the best is as good.
const ROUNDS: usize = 60;

/// The direction of length 1, at right angles to `normal`, along which the rows are spread most: the first
/// principal direction of what is left of them. Zero where nothing is left. Its largest entry is positive.
///
/// ```
/// use novikoff::{data::matrix::{Builder, Layout}, plot::across};
/// let mut rows = Builder::new(Layout::Dense { columns: 3 });
/// for (a, b, c) in [(9.0, 1.0, 0.1), (-9.0, 2.0, -0.1), (8.0, 3.0, 0.1), (-8.0, 4.0, -0.1)] {
///     rows.push(&[0, 1, 2], &[a, b, c]);
/// }
/// let direction = across(&rows.finish(), &[1.0, 0.0, 0.0], 0);
/// assert!(direction[0].abs() < 1e-9 && direction[1] > 0.99);
/// ```
pub fn across(rows: &Matrix, normal: &[f64], seed: u64) -> Vec<f64> {
    let columns = rows.columns().max(normal.len());
    let mut unit = normal.to_vec();
    unit.resize(columns, 0.0);
    normalise(&mut unit);
    let count = rows.rows().max(1) as f64;
    let mut mean = vec![0.0; columns];
    (0..rows.rows()).for_each(|i| rows.row(i).add_to(&mut mean, 1.0 / count));
    let mut random = Random::new(seed);
    let mut shares: Vec<f64> = (0..rows.rows()).map(|_| random.normal()).collect();
    let mut direction = vec![0.0; columns];
    for _ in 0..ROUNDS {
        // The centred rows, each as far as its share says; then nothing of it along the normal.
        direction.fill(0.0);
        (0..rows.rows()).for_each(|i| rows.row(i).add_to(&mut direction, shares[i]));
        let total: f64 = shares.iter().sum();
        direction.iter_mut().zip(&mean).for_each(|(d, m)| *d -= total * m);
        let along = dot(&direction, &unit);
        direction.iter_mut().zip(&unit).for_each(|(d, u)| *d -= along * u);
        normalise(&mut direction);
        let middle = dot(&direction, &mean);
        shares.iter_mut().enumerate().for_each(|(i, share)| *share = rows.row(i).dot(&direction) - middle);
    }
    let largest =
        direction.iter().copied().fold(0.0, |most: f64, d| if d.abs() > most.abs() { d } else { most });
    if largest < 0.0 {
        direction.iter_mut().for_each(|d| *d = -*d);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// To length 1; what has no length, or none that is a number, becomes zero.
fn normalise(vector: &mut [f64]) {
    let largest = vector.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let length = largest * vector.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt();
    let usable = length.is_finite() && largest > 1e-150;
    vector.iter_mut().for_each(|x| *x = if usable { *x / length } else { 0.0 });
}
