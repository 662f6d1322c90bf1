//! Learning in a kernel's space, held against the textbook's algorithm: every weight vector as a list of
//! coefficients, one a row.
//!
//! Rows are of small integers and kernels are polynomial wherever sums must come out to the bit.

use novikoff::control::{Termination, Unwatched};
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Matrix, Row};
use novikoff::kernel::{Kernel, norms_sq};
use novikoff::model::{Expansion, Scorer, Scratch};
use novikoff::multiclass::{Scheme, best_except, decide};
use novikoff::online::rule::{Aggressiveness, Length, PassiveAggressive, Perceptron, Rule, Tie};
use novikoff::online::{BudgetLearner, Hypothesis, Order, Plan, TrainingRows, train, train_kernel};
use novikoff::penalty::Bias;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Rows {
    dense: Vec<Vec<f64>>,
    classes: Vec<u32>,
    k: usize,
}

fn rows(most: usize) -> impl Strategy<Value = Rows> {
    (2usize..5, 1usize..7, 2..most).prop_flat_map(|(k, features, count)| {
        let values = prop::collection::vec(
            prop::collection::vec(prop_oneof![2 => Just(0i8), 3 => -3i8..4], features),
            count,
        );
        (values, prop::collection::vec(0..k as u32, count)).prop_map(move |(values, classes)| {
            let dense = values.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect();
            Rows { dense, classes, k }
        })
    })
}

/// Rows no two of which are equal.
fn scattered(most: usize) -> impl Strategy<Value = Rows> {
    (2usize..5, 1usize..7, 2..most).prop_flat_map(|(k, features, count)| {
        let others = prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => -3.0..3.0f64], features - 1);
        let row = (-3.0..3.0f64, others).prop_map(|(first, others)| [vec![first], others].concat());
        let dense = prop::collection::vec(row, count);
        (dense, prop::collection::vec(0..k as u32, count)).prop_map(move |(dense, classes)| Rows {
            dense,
            classes,
            k,
        })
    })
}

fn matrix(rows: &[Vec<f64>], layout: Layout) -> Matrix<'static> {
    let mut builder = Builder::new(layout);
    for row in rows {
        let indices: Vec<u32> = (0..row.len() as u32).filter(|&j| row[j as usize] != 0.0).collect();
        let values: Vec<f64> = indices.iter().map(|&j| row[j as usize]).collect();
        builder.push(&indices, &values);
    }
    let mut matrix = builder.finish();
    matrix.widen(rows.first().map_or(0, Vec::len));
    matrix
}

fn plan<R>(rule: R, scheme: Scheme, k: usize, bias: Bias, hypothesis: Hypothesis, epochs: usize) -> Plan<R> {
    Plan {
        rule,
        scheme,
        classes: k,
        bias,
        hypothesis,
        order: Order::Given,
        seed: 5,
        epochs,
        patience: 3,
        own_feature: None,
    }
}

fn scheme(k: usize, each: bool) -> Scheme {
    match k {
        2 => Scheme::Two,
        _ if each => Scheme::OneVsRest,
        _ => Scheme::Joint,
    }
}

fn scores(scorer: &Scorer, rows: &Matrix) -> Vec<Vec<f64>> {
    let views: Vec<Row<'_>> = (0..rows.rows()).map(|i| rows.row(i)).collect();
    let mut all = Vec::new();
    scorer.score(&views, &mut Scratch::default(), &mut all);
    all.chunks(scorer.outputs()).map(<[f64]>::to_vec).collect()
}

fn kernel_of(kernel: Kernel, a: &[f64], b: &[f64], bias: Bias) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let distance: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let value = match kernel {
        Kernel::Linear => dot,
        Kernel::Polynomial(degree) => (0..degree).map(|_| 1.0 + dot).product(),
        Kernel::Rbf(gamma) => (-gamma * distance).exp(),
    };
    value + bias.coordinate().powi(2)
}

/// After each round, for every output, a coefficient per row.
fn naive(
    rows: &Rows,
    kernel: Kernel,
    scheme: Scheme,
    bias: Bias,
    tie: Tie,
    epochs: usize,
) -> (Vec<Vec<Vec<f64>>>, u64) {
    let n = rows.dense.len();
    let outputs = scheme.outputs(rows.k);
    let mut w = vec![vec![0.0; n]; outputs];
    let (mut history, mut mistakes) = (Vec::new(), 0);
    let lost = |margin: f64, wins: bool| {
        let at_zero = match tie {
            Tie::Mistake => true,
            Tie::Positive => !wins,
            Tie::Negative => wins,
        };
        margin < 0.0 || margin == 0.0 && at_zero
    };
    for _ in 0..epochs {
        let before = mistakes;
        for i in 0..n {
            let score = |w: &Vec<f64>| -> f64 {
                (0..n).map(|r| w[r] * kernel_of(kernel, &rows.dense[r], &rows.dense[i], bias)).sum()
            };
            let s: Vec<f64> = w.iter().map(score).collect();
            let class = rows.classes[i] as usize;
            match scheme {
                Scheme::Joint => {
                    let rival = best_except(&s, class);
                    if lost(s[class] - s[rival], class > rival) {
                        mistakes += 1;
                        w[class][i] += 1.0;
                        w[rival][i] -= 1.0;
                    }
                }
                _ => {
                    for output in 0..outputs {
                        let own = if scheme == Scheme::Two { class == 1 } else { class == output };
                        let side = if own { 1.0 } else { -1.0 };
                        if lost(side * s[output], own) {
                            mistakes += 1;
                            w[output][i] += side;
                        }
                    }
                }
            }
            history.push(w.clone());
        }
        if mistakes == before {
            break;
        }
    }
    (history, mistakes)
}

/// The naive scores of row `i` by these coefficients.
fn naive_scores(rows: &Rows, kernel: Kernel, bias: Bias, w: &[Vec<f64>], i: usize) -> Vec<f64> {
    let n = rows.dense.len();
    let of =
        |w: &Vec<f64>| (0..n).map(|r| w[r] * kernel_of(kernel, &rows.dense[r], &rows.dense[i], bias)).sum();
    w.iter().map(of).collect()
}

/// Whether every score that decided a round is far from zero and from its rivals, or is that of coefficients
/// that are all zero.
fn clearly_decided(rows: &Rows, kernel: Kernel, bias: Bias, history: &[Vec<Vec<f64>>]) -> bool {
    let n = rows.dense.len();
    (1..history.len()).all(|round| {
        let (w, i) = (&history[round - 1], round % n);
        let zero = vec![0.0; n];
        let apart = |a: &Vec<f64>, b: &Vec<f64>| {
            let terms =
                (0..n).map(|r| (a[r] - b[r]) * kernel_of(kernel, &rows.dense[r], &rows.dense[i], bias));
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            a == b || f64::abs(sum) > 1e-9 * size
        };
        w.iter().enumerate().all(|(k, a)| apart(a, &zero) && w[..k].iter().all(|b| apart(a, b)))
    })
}

/// Votes of the vectors after each round.
fn naive_votes(
    rows: &Rows,
    kernel: Kernel,
    scheme: Scheme,
    bias: Bias,
    history: &[Vec<Vec<f64>>],
    i: usize,
) -> Vec<f64> {
    let outputs = scheme.outputs(rows.k);
    let mut votes = vec![0.0; outputs];
    for w in history {
        let s = naive_scores(rows, kernel, bias, w, i);
        match scheme {
            Scheme::Joint => votes[decide(&s)] += 1.0,
            _ => votes.iter_mut().zip(&s).for_each(|(vote, s)| *vote += if *s >= 0.0 { 1.0 } else { -1.0 }),
        }
    }
    votes.iter().map(|v| v / history.len() as f64).collect()
}

fn bias() -> impl Strategy<Value = Bias> {
    prop_oneof![Just(Bias::Free), Just(Bias::None)]
}

fn tie() -> impl Strategy<Value = Tie> {
    prop_oneof![Just(Tie::Mistake), Just(Tie::Positive), Just(Tie::Negative)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn last_averaged_and_voted_are_those_of_the_textbook(
        rows in rows(30),
        degree in 1u32..5,
        each in any::<bool>(),
        bias in bias(),
        tie in tie(),
        epochs in 1usize..5,
        dense in any::<bool>(),
    ) {
        let (kernel, scheme) = (Kernel::Polynomial(degree), scheme(rows.k, each));
        let columns = rows.dense[0].len();
        let layout = if dense { Layout::Dense { columns } } else { Layout::Sparse };
        let all = matrix(&rows.dense, layout);
        let (history, mistakes) = naive(&rows, kernel, scheme, bias, tie, epochs);
        let last = history.last().unwrap();
        let rule = Perceptron { tie, ..Perceptron::default() };
        for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
            let plan = plan(rule, scheme, rows.k, bias, hypothesis, epochs);
            let batch = TrainingRows { rows: &all, classes: &rows.classes, weights: &[] };
            let (trained, _) = train_kernel(&plan, kernel, batch, None, &mut Unwatched);
            prop_assert_eq!(trained.mistakes, mistakes);
            for (i, found) in scores(&trained.scorer, &all).iter().enumerate() {
                let expected = match hypothesis {
                    Hypothesis::Last => naive_scores(&rows, kernel, bias, last, i),
                    Hypothesis::Votes => naive_votes(&rows, kernel, scheme, bias, &history, i),
                    Hypothesis::Average => {
                        let sums = history.iter().map(|w| naive_scores(&rows, kernel, bias, w, i));
                        let zero = vec![0.0; scheme.outputs(rows.k)];
                        let sum = sums.fold(zero, |sum, s| sum.iter().zip(&s).map(|(a, b)| a + b).collect());
                        sum.iter().map(|s| s / history.len() as f64).collect()
                    }
                };
                for (a, b) in found.iter().zip(&expected) {
                    let exact = hypothesis != Hypothesis::Average;
                    prop_assert!(
                        if exact { a == b } else { (a - b).abs() <= 1e-9 * (1.0 + b.abs()) },
                        "{hypothesis:?}: {a} and not {b}"
                    );
                }
            }
        }
    }

    /// With several tiles and blocks, and rows in a shuffled order: a linear kernel does what weights do.
    #[test]
    fn a_linear_kernel_learns_what_weights_learn(
        rows in rows(1500),
        each in any::<bool>(),
        bias in bias(),
        seed in any::<u64>(),
        aggressive in any::<bool>(),
    ) {
        let all = matrix(&rows.dense, Layout::Sparse);
        let scheme = scheme(rows.k, each);
        let batch = TrainingRows { rows: &all, classes: &rows.classes, weights: &[] };
        if aggressive {
            // Steps are no whole numbers: among joint classes, rounding may decide which rival is the best.
            let scheme = if scheme == Scheme::Joint { Scheme::OneVsRest } else { scheme };
            let rule = PassiveAggressive { aggressiveness: Aggressiveness::Capped(1.0) };
            agree(
                &Plan {
                    order: Order::Shuffled,
                    seed,
                    ..plan(rule, scheme, rows.k, bias, Hypothesis::Last, 1)
                },
                batch,
                1e-6,
            )?;
        } else {
            agree(
                &Plan {
                    order: Order::Shuffled,
                    seed,
                    ..plan(Perceptron::default(), scheme, rows.k, bias, Hypothesis::Last, 2)
                },
                batch,
                0.0,
            )?;
        }
    }

    /// The textbook's algorithm with an rbf kernel, on rows where rounding decides nothing.
    #[test]
    fn an_rbf_kernel_learns_what_the_textbook_does(
        rows in scattered(25),
        gamma in 0.01..2.0f64,
        bias in bias(),
    ) {
        let (kernel, scheme) = (Kernel::Rbf(gamma), scheme(rows.k, false));
        let all = matrix(&rows.dense, Layout::Sparse);
        let (history, mistakes) = naive(&rows, kernel, scheme, bias, Tie::Mistake, 2);
        prop_assume!(clearly_decided(&rows, kernel, bias, &history));
        let plan = plan(Perceptron::default(), scheme, rows.k, bias, Hypothesis::Last, 2);
        let (trained, _) = train_kernel(
            &plan,
            kernel,
            TrainingRows { rows: &all, classes: &rows.classes, weights: &[] },
            None,
            &mut Unwatched,
        );
        prop_assert_eq!(trained.mistakes, mistakes);
        for (i, found) in scores(&trained.scorer, &all).iter().enumerate() {
            for (a, b) in found.iter().zip(naive_scores(&rows, kernel, bias, history.last().unwrap(), i)) {
                prop_assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} and not {b}");
            }
        }
    }

    /// Spec P10: after an update on (x, y), y·s grows by K(x, x) + bias², and by the step's share of it if
    /// rows are normalised.
    #[test]
    fn an_update_makes_it_less_wrong(rows in rows(12), degree in 1u32..4, unit in any::<bool>()) {
        let kernel = Kernel::Polynomial(degree);
        let all = matrix(&rows.dense, Layout::Sparse);
        let classes: Vec<u32> = rows.classes.iter().map(|c| c % 2).collect();
        let rule =
            Perceptron { length: if unit { Length::Unit } else { Length::AsGiven }, ..Perceptron::default() };
        let plan = plan(rule, Scheme::Two, 2, Bias::Free, Hypothesis::Last, 1);
        for n in 1..=all.rows() {
            let part = |n: usize| all.select(0..n);
            let run = |n: usize| {
                let rows = part(n);
                train_kernel(
                    &plan,
                    kernel,
                    TrainingRows { rows: &rows, classes: &classes[..n], weights: &[] },
                    None,
                    &mut Unwatched,
                )
                .0
            };
            let (before, after) = (run(n - 1), run(n));
            if after.updates > before.updates {
                let side = if classes[n - 1] == 1 { 1.0 } else { -1.0 };
                let score = |scorer: &Scorer| side * scores(scorer, &all)[n - 1][0];
                let own = kernel.largest(norms_sq(&all)[n - 1]) + 1.0;
                let grown = score(&after.scorer) - score(&before.scorer);
                let expected = if unit { own.sqrt() } else { own };
                prop_assert!((grown - expected).abs() <= 1e-9 * expected, "{grown} and not {expected}");
            }
        }
    }

    /// A budget that is never reached changes nothing; one that is keeps no more rows than it says.
    #[test]
    fn a_budget_is_kept(rows in rows(40), degree in 1u32..4, budget in 1usize..8) {
        let (kernel, scheme) = (Kernel::Polynomial(degree), scheme(rows.k, false));
        let all = matrix(&rows.dense, Layout::Sparse);
        let streamed = |budget: usize| -> Expansion {
            let mut learner = BudgetLearner::new(Perceptron::default(), kernel, Bias::Free, budget);
            learner.reserve(all.columns(), rows.k);
            for i in 0..all.rows() {
                learner.learn(all.row(i), rows.classes[i], 1.0);
            }
            learner.finish(&(0..rows.k as u32).collect::<Vec<_>>(), all.columns())
        };
        prop_assert!(streamed(budget).rows.rows() <= budget);
        let plan = plan(Perceptron::default(), scheme, rows.k, Bias::Free, Hypothesis::Last, 1);
        let batch = TrainingRows { rows: &all, classes: &rows.classes, weights: &[] };
        let (trained, _) = train_kernel(&plan, kernel, batch, None, &mut Unwatched);
        let unbounded = Scorer::Kernel(streamed(all.rows()));
        for (a, b) in
            scores(&unbounded, &all).iter().flatten().zip(scores(&trained.scorer, &all).iter().flatten())
        {
            prop_assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{a} and not {b}");
        }
    }
}

fn agree<R: Rule>(plan: &Plan<R>, batch: TrainingRows<'_>, tolerance: f64) -> Result<(), TestCaseError> {
    let weights = train(plan, batch, None, &mut Unwatched);
    let (kernel, _) = train_kernel(plan, Kernel::Linear, batch, None, &mut Unwatched);
    if tolerance == 0.0 {
        prop_assert_eq!(
            (kernel.mistakes, kernel.updates, kernel.termination),
            (weights.mistakes, weights.updates, weights.termination)
        );
    } else {
        prop_assume!(kernel.updates == weights.updates);
    }
    for (a, b) in scores(&kernel.scorer, batch.rows)
        .iter()
        .flatten()
        .zip(scores(&weights.scorer, batch.rows).iter().flatten())
    {
        prop_assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} and not {b}");
    }
    Ok(())
}

/// No line separates them, and a parabola does.
#[test]
fn exclusive_or_is_separated_by_a_polynomial_and_not_by_a_line() {
    let all = matrix(&[vec![0.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0], vec![1.0, 1.0]], Layout::Sparse);
    let batch = TrainingRows { rows: &all, classes: &[0, 1, 1, 0], weights: &[] };
    let plan = plan(Perceptron::default(), Scheme::Two, 2, Bias::Free, Hypothesis::Last, 500);
    assert_eq!(train(&plan, batch, None, &mut Unwatched).termination, Termination::OutOfEpochs);
    for kernel in [Kernel::Polynomial(2), Kernel::Polynomial(3), Kernel::Rbf(1.0)] {
        let (trained, _) = train_kernel(&plan, kernel, batch, None, &mut Unwatched);
        assert_eq!(trained.termination, Termination::Separated, "{kernel}");
    }
}

/// Its rows drift: the row that has been kept for longest goes, and what is learned follows.
#[test]
fn with_equal_shares_the_oldest_row_goes() {
    let mut learner = BudgetLearner::new(Perceptron::default(), Kernel::Rbf(1.0), Bias::None, 2);
    learner.reserve(1, 2);
    for (x, class) in [(0.0, 1), (10.0, 0), (20.0, 1)] {
        assert_eq!(learner.learn(Row::Dense64(&[x]), class, 1.0).updates, 1);
    }
    let left = learner.finish(&[0, 1], 1);
    let kept: Vec<f64> = norms_sq(&left.rows).iter().map(|x| x.sqrt()).collect();
    assert_eq!((kept, left.coefficients), (vec![10.0, 20.0], vec![-1.0, 1.0]));
}
