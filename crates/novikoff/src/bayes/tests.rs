//! The formulas once more, as they stand in the literature, on rows of all kinds.

use super::*;
use crate::data::Row;
use crate::data::matrix::{Builder, Layout, Matrix};
use crate::model::{Weights, presence};
use crate::multiclass::{Scheme, best_except};
use crate::random::Random;
use proptest::prelude::*;

/// Rows, their classes and weights, as plain numbers.
#[derive(Clone, Debug)]
struct Naive {
    rows: Vec<Vec<f64>>,
    classes: Vec<u32>,
    weights: Vec<f64>,
    count: usize,
}

impl Naive {
    /// Whole numbers, or fractions, of which none is summed exactly.
    fn random(seed: u64, count: usize, columns: usize, rows: usize, whole: bool) -> Self {
        let mut random = Random::new(seed);
        let mut value = |most: u64| {
            let n = random.below(most) as f64;
            if whole || n == 0.0 { n } else { n + 0.1 * random.unit() }
        };
        let rows: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..columns).map(|_| (value(6) - 2.0).max(0.0)).collect()).collect();
        // Every class has a row.
        let classes =
            (0..rows.len()).map(|i| if i < count { i as u32 } else { value(count as u64) as u32 }).collect();
        let weights = (0..rows.len()).map(|i| if i < count { 1.0 } else { value(3) }).collect();
        Self { rows, classes, weights, count }
    }

    fn matrix(&self, layout: Layout) -> Matrix<'static> {
        let mut builder = Builder::new(layout);
        for row in &self.rows {
            let indices: Vec<u32> = (0..row.len() as u32).filter(|&j| row[j as usize] != 0.0).collect();
            builder.push(&indices, &indices.iter().map(|&j| row[j as usize]).collect::<Vec<_>>());
        }
        let mut matrix = builder.finish();
        matrix.widen(self.rows[0].len());
        matrix
    }

    /// What the first `rows` rows of a class come to, by some function of a row.
    fn sum(&self, rows: usize, class: usize, f: impl Fn(&[f64]) -> f64) -> f64 {
        let of = (0..rows).filter(|&i| self.classes[i] as usize == class);
        of.map(|i| self.weights[i] * f(&self.rows[i])).sum()
    }

    /// The log posteriors of a row, up to a constant, by the first `seen` rows and the features of the
    /// vocabulary.
    fn scores(
        &self,
        x: &[f64],
        seen: usize,
        vocabulary: &[usize],
        likelihood: Likelihood,
        alpha: f64,
    ) -> Vec<f64> {
        let d = vocabulary.len() as f64;
        let all: f64 = (0..self.count).map(|c| self.sum(seen, c, |_| 1.0)).sum();
        let has = |x: f64| f64::from(u8::from(x > 0.0));
        let score = |c: usize| {
            let (rows, mut score) = (self.sum(seen, c, |_| 1.0), 0.0);
            let others = |f: &dyn Fn(&[f64]) -> f64| -> f64 {
                (0..self.count).filter(|o| *o != c).map(|o| self.sum(seen, o, f)).sum()
            };
            let whole = |row: &[f64]| vocabulary.iter().map(|&j| row[j]).sum::<f64>();
            for &j in vocabulary {
                score += match likelihood {
                    Likelihood::Multinomial if x[j] > 0.0 => {
                        x[j] * ((self.sum(seen, c, |row| row[j]) + alpha)
                            / (self.sum(seen, c, whole) + alpha * d))
                            .ln()
                    }
                    Likelihood::Complement if x[j] > 0.0 => {
                        -x[j] * ((others(&|row| row[j]) + alpha) / (others(&whole) + alpha * d)).ln()
                    }
                    Likelihood::Bernoulli => {
                        let p = (self.sum(seen, c, |row| has(row[j])) + alpha) / (rows + 2.0 * alpha);
                        if x[j] > 0.0 { p.ln() } else { (1.0 - p).ln() }
                    }
                    _ => 0.0,
                };
            }
            if likelihood == Likelihood::Complement { score } else { score + (rows / all).ln() }
        };
        (0..self.count).map(score).collect()
    }

    /// The features that some of the first rows have.
    fn met(&self, seen: usize) -> Vec<usize> {
        let columns = 0..self.rows[0].len();
        columns.filter(|&j| (0..seen).any(|i| self.weights[i] > 0.0 && self.rows[i][j] > 0.0)).collect()
    }

    fn counts(&self, likelihood: Likelihood, vocabulary: Vocabulary, layout: Layout) -> Counts {
        Counts::of((likelihood, vocabulary), &self.matrix(layout), &self.classes, &self.weights, self.count)
            .unwrap()
    }
}

fn scores(weights: &Weights, likelihood: Likelihood, x: &[f64]) -> Vec<f64> {
    let (mut scores, mut present) = (vec![0.0; weights.outputs()], Vec::new());
    let row = Row::Dense64(x);
    weights.score(
        if likelihood == Likelihood::Bernoulli { presence(row, &mut present) } else { row },
        &mut scores,
    );
    scores
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * (1.0 + a.abs())
}

proptest! {
    #[test]
    fn weights_score_as_the_formulas_do(
        seed in any::<u64>(),
        count in 2usize..5,
        columns in 1usize..8,
        more in 0usize..20,
        alpha in prop_oneof![Just(1.0), 1e-9..10.0f64],
        whole in any::<bool>(),
        met in any::<bool>(),
        dense in any::<bool>(),
    ) {
        let naive = Naive::random(seed, count, columns, count + more, whole);
        let layout = if dense { Layout::Dense { columns } } else { Layout::Sparse };
        let kinds = if met {
            (Vocabulary::Met, naive.met(naive.rows.len()))
        } else {
            (Vocabulary::Columns, (0..columns).collect())
        };
        for likelihood in Likelihood::ALL {
            let counts = naive.counts(likelihood, kinds.0, layout);
            for x in &naive.rows {
                let expected = naive.scores(x, naive.rows.len(), &kinds.1, likelihood, alpha);
                let found =
                    scores(&counts.weights(alpha, &counts.log_priors(), Scheme::Joint), likelihood, x);
                // Up to what all classes share, which is nothing but rounding here.
                for (a, b) in expected.iter().zip(&found) {
                    prop_assert!(close(*a, *b), "{likelihood:?}: {expected:?} {found:?}");
                }
                if count == 2 {
                    let one =
                        scores(&counts.weights(alpha, &counts.log_priors(), Scheme::Two), likelihood, x);
                    prop_assert!(
                        close(expected[1] - expected[0], one[0])
                            || (expected[1] - expected[0] - one[0]).abs() < 1e-11 * expected[0].abs()
                    );
                }
            }
        }
    }

    /// Every row is predicted by those before it, with the features and classes that were there by then.
    #[test]
    fn a_stream_predicts_by_the_rows_before(
        seed in any::<u64>(),
        count in 2usize..5,
        columns in 1usize..8,
        more in 0usize..30,
        alpha in 1e-3..10.0f64,
        whole in any::<bool>(),
        met in any::<bool>(),
    ) {
        let naive = Naive::random(seed, count, columns, count + more, whole);
        for likelihood in Likelihood::ALL {
            let mut stream =
                Stream::new(likelihood, if met { Vocabulary::Met } else { Vocabulary::Columns }, alpha);
            for (i, x) in naive.rows.iter().enumerate() {
                let before = stream.tally().1;
                stream.reserve(columns, naive.classes[i] as usize + 1);
                stream.learn(Row::Dense64(x), naive.classes[i], naive.weights[i]).unwrap();
                let wrong = stream.tally().1 > before;
                if i == 0 {
                    prop_assert!(wrong);
                    continue;
                }
                let known = naive.met(i);
                let vocabulary = if met { known } else { (0..known.last().map_or(0, |j| j + 1)).collect() };
                let mut expected = naive.scores(x, i, &vocabulary, likelihood, alpha);
                expected.iter_mut().enumerate().for_each(|(c, s)| {
                    if naive.sum(i, c, |_| 1.0) == 0.0 {
                        *s = f64::NEG_INFINITY
                    }
                });
                let best = best_except(&expected, usize::MAX);
                let tied = expected
                    .iter()
                    .enumerate()
                    .any(|(c, s)| c != best && (s - expected[best]).abs() < 1e-9 * (1.0 + s.abs()));
                prop_assert!(
                    tied || wrong == (best != naive.classes[i] as usize),
                    "{likelihood:?}, row {i}: {expected:?}"
                );
            }
        }
    }

    /// To the bit, whatever the numbers: cells are summed in the order of the rows.
    #[test]
    fn a_stream_ends_with_the_counts_of_rows_in_memory(
        seed in any::<u64>(),
        count in 2usize..6,
        columns in 1usize..40,
        more in 0usize..40,
        dense in any::<bool>(),
    ) {
        let naive = Naive::random(seed, count, columns, count + more, false);
        for likelihood in Likelihood::ALL {
            let layout = if dense { Layout::Dense { columns } } else { Layout::Sparse };
            let stored = naive.counts(likelihood, Vocabulary::Columns, layout);
            let mut stream = Stream::new(likelihood, Vocabulary::Columns, 1.0);
            // Classes turn up in another order than their numbers have.
            let turned = |class: u32| count as u32 - 1 - class;
            for i in (0..naive.rows.len()).filter(|&i| naive.weights[i] >= 0.0) {
                stream.reserve(1 + i % columns, turned(naive.classes[i]) as usize + 1);
                stream.reserve(columns, 1);
                stream
                    .learn(Row::Dense64(&naive.rows[i]), turned(naive.classes[i]), naive.weights[i])
                    .unwrap();
            }
            let order: Vec<u32> = (0..count as u32).map(turned).collect();
            let streamed = stream.counts().clone().arranged(&order, columns);
            prop_assert_eq!(&streamed, &stored);
            prop_assert_eq!(
                streamed.weights(0.5, &streamed.log_priors(), Scheme::Joint),
                stored.weights(0.5, &stored.log_priors(), Scheme::Joint)
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let naive = Naive::random(7, 3, 5000, 60, false);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for likelihood in Likelihood::ALL {
        let learn = || {
            let counts = naive.counts(likelihood, Vocabulary::Columns, Layout::Sparse);
            counts.weights(1.0, &counts.log_priors(), Scheme::Joint)
        };
        let one = pool(1).install(learn);
        assert!([2, 3, 7].into_iter().all(|threads| pool(threads).install(learn) == one), "{likelihood:?}");
    }
}

#[test]
fn the_first_negative_entry_is_found_whichever_task_meets_it() {
    let mut naive = Naive::random(1, 2, 50, 20, true);
    (naive.rows[3][40], naive.rows[3][41], naive.rows[9][0]) = (-2.0, -1.0, -1.0);
    for likelihood in Likelihood::ALL {
        let matrix = naive.matrix(Layout::Sparse);
        let found =
            Counts::of((likelihood, Vocabulary::Columns), &matrix, &naive.classes, &[], 2).unwrap_err();
        assert_eq!(found, Negative { row: 3, feature: 40, value: -2.0 });
        let mut stream = Stream::new(likelihood, Vocabulary::Columns, 1.0);
        stream.reserve(50, 2);
        assert_eq!(stream.learn(Row::Dense64(&naive.rows[3]), 0, 0.0), Err((40, -2.0)));
    }
}

#[test]
fn a_class_without_rows_is_never_chosen() {
    let mut counts = Counts::new(Likelihood::Multinomial, Vocabulary::Columns);
    counts.reserve(2, 3);
    counts.add(Row::Dense64(&[3.0, 0.0]), 0, 1.0);
    counts.add(Row::Dense64(&[1.0, 0.0]), 2, 1.0);
    let weights = counts.weights(1.0, &counts.log_priors(), Scheme::Joint);
    let scores = scores(&weights, Likelihood::Multinomial, &[0.0, 1e6]);
    assert!(scores.iter().all(|s| s.is_finite()) && best_except(&scores, usize::MAX) != 1, "{scores:?}");
}
