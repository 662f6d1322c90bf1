//! Least absolute deviations: the simplex method against every vertex there is.

use crate::with::With;
use novikoff::certificate::Claim;
use novikoff::control::{Termination, Unwatched};
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report};
use novikoff::features::Schema;
use novikoff::penalty::Bias;
use novikoff::random::Random;
use novikoff::train::{Learner, LearnerName, SolverName, train};
use proptest::prelude::*;

fn dataset(rows: &[Vec<f64>], targets: &[f64], row_weights: Vec<f64>) -> Dataset<'static> {
    let mut builder = Builder::new(Layout::Dense { columns: rows[0].len() });
    let indices: Vec<u32> = (0..rows[0].len() as u32).collect();
    rows.iter().for_each(|row| builder.push(&indices, row));
    let names: Vec<String> = targets.iter().map(f64::to_string).collect();
    let labels = Labels::new(&names);
    Dataset {
        rows: builder.finish(),
        labels: names.iter().map(|name| labels.find(name).unwrap()).collect(),
        names: labels,
        row_weights,
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

/// Solves a small square system; `None` if it is singular.
fn solve(mut lines: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = lines.len();
    for column in 0..n {
        let at = (column..n).max_by(|&a, &b| lines[a][column].abs().total_cmp(&lines[b][column].abs()))?;
        lines.swap(column, at);
        let pivot = lines[column].clone();
        if pivot[column].abs() < 1e-9 {
            return None;
        }
        for (i, line) in lines.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = line[column] / pivot[column];
            debug_assert!(i != column);
            line.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= factor * b);
        }
    }
    Some((0..n).map(|i| lines[i][n] / lines[i][i]).collect())
}

/// The least mean of absolute residuals: every set of rows that weights could meet is tried, on every set of
/// columns.
fn least(rows: &[Vec<f64>], targets: &[f64], weights: &[f64]) -> f64 {
    let (n, p) = (rows.len(), rows[0].len());
    let total: f64 = weights.iter().sum();
    let objective = |w: &[f64]| -> f64 {
        let residual = |i: usize| rows[i].iter().zip(w).map(|(x, w)| x * w).sum::<f64>() - targets[i];
        (0..n).map(|i| weights[i] * residual(i).abs()).sum::<f64>() / total
    };
    let mut best = objective(&vec![0.0; p]);
    for columns in 1u32..1 << p {
        let columns: Vec<usize> = (0..p).filter(|j| columns >> j & 1 == 1).collect();
        for chosen in (1u32..1 << n).filter(|chosen| chosen.count_ones() as usize == columns.len()) {
            let line = |i: usize| columns.iter().map(|&j| rows[i][j]).chain([targets[i]]).collect();
            let Some(found) = solve((0..n).filter(|i| chosen >> i & 1 == 1).map(line).collect()) else {
                continue;
            };
            let mut w = vec![0.0; p];
            columns.iter().zip(found).for_each(|(&j, x)| w[j] = x);
            best = best.min(objective(&w));
        }
    }
    best
}

fn settings(bias: Bias) -> Learner {
    LearnerName::LeastAbsolute.learner().with_bias(bias)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whole numbers, with all the ties, equal rows and dependent columns that they bring.
    #[test]
    fn no_vertex_is_better(
        raw in prop::collection::vec(prop::collection::vec(-3..4i32, 3), 1..9),
        targets in prop::collection::vec(-5..6i32, 9),
        features in 1..4usize,
        bias in prop::sample::select(vec![Bias::Free, Bias::None]),
        weighted in any::<bool>(),
        scale in prop::sample::select(vec![1.0, 1e-6, 1e6]),
    ) {
        let rows: Vec<Vec<f64>> =
            raw.iter().map(|row| row[..features].iter().map(|x| f64::from(*x)).collect()).collect();
        let targets: Vec<f64> = targets[..rows.len()].iter().map(|y| scale * f64::from(*y)).collect();
        let weights: Vec<f64> =
            (0..rows.len()).map(|i| if weighted { [1.0, 2.0, 0.0, 0.5][i % 4] } else { 1.0 }).collect();
        let data = dataset(&rows, &targets, if weighted { weights.clone() } else { Vec::new() });
        let fit = train(&data, None, &settings(bias), &mut Unwatched).unwrap();
        let risk = fit.risk().unwrap();
        prop_assert_eq!(risk.solver, SolverName::Simplex.name());
        let wide: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().copied().chain((bias == Bias::Free).then_some(1.0)).collect())
            .collect();
        let expected = least(&wide, &targets, &weights);
        prop_assert!(
            (risk.objective - expected).abs() <= 1e-10 * (expected + scale),
            "{} {}",
            risk.objective,
            expected
        );
        prop_assert_eq!(fit.termination, Termination::Converged);
        // The certificate says so too, but for rounding.
        let certificate = fit.certificate(&data).unwrap();
        prop_assert!(certificate.check(&data).iter().all(|claim| claim.holds));
        let [Claim::NearOptimal { value, lower_bound: Some(least), .. }] = &certificate.claims[..] else {
            panic!()
        };
        prop_assert!(value - least <= 1e-8 * (expected + scale) + 1e-12, "{value} {least}");
    }
}

#[test]
fn a_median_is_the_best_constant() {
    let targets = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
    let data = dataset(&vec![vec![0.0]; 7], &targets, Vec::new());
    let fit = train(&data, None, &settings(Bias::Free), &mut Unwatched).unwrap();
    let novikoff::model::Scorer::Linear(weights) = &fit.model.scorer else { panic!() };
    assert_eq!(weights.bias, [3.0]);
}

#[test]
fn thousands_of_rows_end_at_a_vertex() {
    let mut random = Random::new(3);
    let rows: Vec<Vec<f64>> = (0..3000).map(|_| (0..20).map(|_| random.normal()).collect()).collect();
    let targets: Vec<f64> =
        rows.iter().map(|row| row.iter().sum::<f64>() + random.normal() / (0.01 + random.unit())).collect();
    let data = dataset(&rows, &targets, Vec::new());
    let fit = train(&data, None, &settings(Bias::Free), &mut Unwatched).unwrap();
    assert_eq!(fit.termination, Termination::Converged);
    let gap = fit.risk().unwrap().relative_gap.unwrap();
    assert!(gap < 1e-6, "{gap}");
    let novikoff::model::Scorer::Linear(weights) = &fit.model.scorer else { panic!() };
    let met = (0..3000)
        .filter(|&i| (data.rows.row(i).dot(&weights.values) + weights.bias[0] - targets[i]).abs() < 1e-9)
        .count();
    assert_eq!(met, 21);
}
