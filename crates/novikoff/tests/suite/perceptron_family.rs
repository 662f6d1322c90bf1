//! What theory and the definitions say of the perceptron family, held against the naive algorithms on
//! generated rows.
//!
//! Rows are of small integers wherever sums must come out to the bit, whatever their order.

use novikoff::control::{Termination, Unwatched};
use novikoff::data::generate::Recipe;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Matrix, Row};
use novikoff::model::{Scorer, Scratch};
use novikoff::multiclass::{Scheme, best_except, decide};
use novikoff::online::rule::{Aggressiveness, Length, PassiveAggressive, Perceptron, Rule, Tie};
use novikoff::online::{Hypothesis, LinearLearner, Order, Plan, Stream, Trained, TrainingRows, train};
use novikoff::penalty::Bias;
use proptest::prelude::*;

/// Rows as plain vectors, with a class each.
#[derive(Clone, Debug)]
struct Rows {
    dense: Vec<Vec<f64>>,
    classes: Vec<u32>,
    k: usize,
}

fn rows(classes: impl Strategy<Value = usize>) -> impl Strategy<Value = Rows> {
    (classes, 1usize..7, 2usize..25).prop_flat_map(|(k, features, count)| {
        let values = prop::collection::vec(
            prop::collection::vec(prop_oneof![2 => Just(0i8), 3 => -3i8..4], features),
            count,
        );
        let labels = prop::collection::vec(0..k as u32, count);
        (values, labels).prop_map(move |(values, classes)| {
            let dense = values.into_iter().map(|row| row.into_iter().map(f64::from).collect()).collect();
            Rows { dense, classes, k }
        })
    })
}

fn bias() -> impl Strategy<Value = Bias> {
    prop_oneof![Just(Bias::Free), Just(Bias::None)]
}

fn tie() -> impl Strategy<Value = Tie> {
    prop_oneof![Just(Tie::Mistake), Just(Tie::Positive), Just(Tie::Negative)]
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

fn sparse(rows: &Rows) -> Matrix<'static> {
    matrix(&rows.dense, Layout::Sparse)
}

fn scheme_for(k: usize) -> Scheme {
    if k == 2 { Scheme::Two } else { Scheme::Joint }
}

fn plan<R>(rule: R, scheme: Scheme, k: usize, bias: Bias, hypothesis: Hypothesis, epochs: usize) -> Plan<R> {
    Plan {
        rule,
        scheme,
        classes: k,
        bias,
        hypothesis,
        order: Order::Shuffled,
        seed: 5,
        epochs,
        patience: 3,
        own_feature: None,
    }
}

fn run<R: Rule>(plan: &Plan<R>, rows: &Matrix, classes: &[u32]) -> Trained {
    train(plan, TrainingRows { rows, classes, weights: &[] }, None, &mut Unwatched)
}

fn scores(scorer: &Scorer, rows: &Matrix) -> Vec<Vec<f64>> {
    let views: Vec<Row<'_>> = (0..rows.rows()).map(|i| rows.row(i)).collect();
    let mut all = Vec::new();
    scorer.score(&views, &mut Scratch::default(), &mut all);
    all.chunks(scorer.outputs()).map(<[f64]>::to_vec).collect()
}

fn predictions(scorer: &Scorer, rows: &Matrix) -> Vec<usize> {
    scores(scorer, rows).iter().map(|s| decide(s)).collect()
}

/// Predictions, but for rows that rounding alone may have decided: averages are quotients, so their ties are
/// not exact.
fn clear_predictions(scorer: &Scorer, rows: &Matrix) -> Vec<Option<usize>> {
    let lead = |s: &[f64]| match s {
        [s] => s.abs(),
        s => s[decide(s)] - s[best_except(s, decide(s))],
    };
    scores(scorer, rows).iter().map(|s| (lead(s) > 1e-9).then(|| decide(s))).collect()
}

/// Asserts that scores agree: to the bit but for averages, whose sums are divided.
fn assert_same_scores(hypothesis: Hypothesis, one: &[Vec<f64>], other: &[Vec<f64>]) {
    for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
        assert!(
            if hypothesis == Hypothesis::Average { (a - b).abs() < 1e-9 } else { a == b },
            "{hypothesis:?}: {a} {b}"
        );
    }
}

/// The textbook's algorithm: dense vectors with the extra coordinate, every weight vector kept, one after
/// each round.
struct Naive {
    /// After each round, the weight vector of each output.
    history: Vec<Vec<Vec<f64>>>,
    mistakes: u64,
}

fn extended(row: &[f64], bias: Bias) -> Vec<f64> {
    row.iter().copied().chain([bias.coordinate()]).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn lost(tie: Tie, margin: f64, wins_ties: bool) -> bool {
    let at_zero = match tie {
        Tie::Mistake => true,
        Tie::Positive => !wins_ties,
        Tie::Negative => wins_ties,
    };
    margin < 0.0 || margin == 0.0 && at_zero
}

fn naive(rows: &Rows, scheme: Scheme, bias: Bias, tie: Tie, epochs: usize) -> Naive {
    let features = rows.dense[0].len() + 1;
    let mut w = vec![vec![0.0; features]; scheme.outputs(rows.k)];
    let mut result = Naive { history: Vec::new(), mistakes: 0 };
    let add = |w: &mut Vec<f64>, x: &[f64], step: f64| w.iter_mut().zip(x).for_each(|(w, x)| *w += step * x);
    for _ in 0..epochs {
        let before = result.mistakes;
        for (row, &class) in rows.dense.iter().zip(&rows.classes) {
            let (x, class) = (extended(row, bias), class as usize);
            let s: Vec<f64> = w.iter().map(|w| dot(w, &x)).collect();
            match scheme {
                Scheme::Joint => {
                    let rival = best_except(&s, class);
                    if lost(tie, s[class] - s[rival], class > rival) {
                        result.mistakes += 1;
                        add(&mut w[class], &x, 1.0);
                        add(&mut w[rival], &x, -1.0);
                    }
                }
                _ => {
                    for output in 0..w.len() {
                        let positive = if scheme == Scheme::Two { class == 1 } else { class == output };
                        let y = if positive { 1.0 } else { -1.0 };
                        if lost(tie, y * s[output], positive) {
                            result.mistakes += 1;
                            add(&mut w[output], &x, y);
                        }
                    }
                }
            }
            result.history.push(w.clone());
        }
        if result.mistakes == before {
            break;
        }
    }
    result
}

fn all_schemes(k: usize) -> Vec<Scheme> {
    if k == 2 {
        vec![Scheme::Two, Scheme::Joint, Scheme::OneVsRest]
    } else {
        vec![Scheme::Joint, Scheme::OneVsRest]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// P5, and seed 001's algorithm: what it returns is the sum over all rounds, the average times the
    /// rounds.
    #[test]
    fn averaged_equals_the_naive_average_of_all_weight_vectors(
        rows in rows(2usize..5),
        bias in bias(),
        tie in tie(),
        epochs in 1usize..4,
    ) {
        for scheme in all_schemes(rows.k) {
            let naive = naive(&rows, scheme, bias, tie, epochs);
            let rule = Perceptron { tie, ..Perceptron::default() };
            let mut plan = plan(rule, scheme, rows.k, bias, Hypothesis::Average, epochs);
            plan.order = Order::Given;
            let trained = run(&plan, &sparse(&rows), &rows.classes);
            prop_assert_eq!(trained.mistakes, naive.mistakes);
            let Scorer::Linear(weights) = &trained.scorer else { panic!("linear") };
            let rounds = naive.history.len() as f64;
            let features = rows.dense[0].len();
            for output in 0..weights.outputs() {
                for j in 0..=features {
                    let sum: f64 = naive.history.iter().map(|w| w[output][j]).sum();
                    let got = if j < features { weights.weight(j, output) } else { weights.bias[output] };
                    prop_assert!(
                        (got * rounds - sum).abs() <= 1e-9 * (1.0 + sum.abs()),
                        "{} {}",
                        got * rounds,
                        sum
                    );
                }
            }
        }
    }

    /// P4: the sweep over mistakes counts the same votes as asking every stored vector.
    #[test]
    fn voted_equals_the_naive_vote_over_stored_vectors(
        rows in rows(2usize..5),
        bias in bias(),
        tie in tie(),
        epochs in 1usize..4,
    ) {
        for scheme in all_schemes(rows.k) {
            let naive = naive(&rows, scheme, bias, tie, epochs);
            let rule = Perceptron { tie, ..Perceptron::default() };
            let mut plan = plan(rule, scheme, rows.k, bias, Hypothesis::Votes, epochs);
            plan.order = Order::Given;
            let trained = run(&plan, &sparse(&rows), &rows.classes);
            let got = scores(&trained.scorer, &sparse(&rows));
            for (row, got) in rows.dense.iter().zip(got) {
                let x = extended(row, bias);
                let mut votes = vec![0.0; got.len()];
                // Each vector survives from the round that made it to the round that replaced it: one vote a
                // round.
                for w in &naive.history {
                    let s: Vec<f64> = w.iter().map(|w| dot(w, &x)).collect();
                    match scheme {
                        Scheme::Joint => votes[decide(&s)] += 1.0,
                        _ => votes
                            .iter_mut()
                            .zip(&s)
                            .for_each(|(v, s)| *v += if *s >= 0.0 { 1.0 } else { -1.0 }),
                    }
                }
                for (vote, got) in votes.iter().zip(&got) {
                    prop_assert!((vote / naive.history.len() as f64 - got).abs() < 1e-12, "{} {}", vote, got);
                }
            }
        }
    }

    /// P3: from zero, any constant step gives the same predictions (powers of two, so that no rounding
    /// interferes).
    #[test]
    fn the_step_size_does_not_matter(
        rows in rows(2usize..5),
        bias in bias(),
        tie in tie(),
        power in -20i32..20,
    ) {
        for scheme in all_schemes(rows.k) {
            for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
                let with = |step| {
                    let plan = plan(
                        Perceptron { step, tie, ..Perceptron::default() },
                        scheme,
                        rows.k,
                        bias,
                        hypothesis,
                        3,
                    );
                    let trained = run(&plan, &sparse(&rows), &rows.classes);
                    (trained.mistakes, predictions(&trained.scorer, &sparse(&rows)))
                };
                prop_assert_eq!(with(1.0), with(2f64.powi(power)));
            }
        }
    }

    /// P10: after an update on (x, y), y·s_new = y·s_old + ‖x‖² + 1 (without the 1 if there is no bias).
    #[test]
    fn an_update_makes_the_learner_less_wrong_by_the_squared_norm(
        rows in rows(Just(2)),
        bias in bias(),
        tie in tie(),
    ) {
        let matrix = sparse(&rows);
        let mut learner = LinearLearner::new(
            Perceptron { tie, ..Perceptron::default() },
            Scheme::Two,
            2,
            matrix.columns(),
            bias,
            Hypothesis::Last,
        );
        let score = |learner: &LinearLearner<Perceptron>, i: usize| {
            let mut s = [0.0];
            learner.weights().score(matrix.row(i), &mut s);
            s[0]
        };
        for i in 0..matrix.rows() {
            let y = if rows.classes[i] == 1 { 1.0 } else { -1.0 };
            let before = y * score(&learner, i);
            let seen = learner.learn(matrix.row(i), i as u32, rows.classes[i], 1.0);
            let gained = if seen.mistakes == 1 { matrix.row(i).norm_sq() + bias.coordinate() } else { 0.0 };
            prop_assert_eq!(seen.mistakes == 1, lost(tie, before, y > 0.0));
            prop_assert_eq!(y * score(&learner, i), before + gained);
        }
    }

    #[test]
    fn sparse_equals_dense_and_single_equals_double_storage(rows in rows(2usize..5), bias in bias()) {
        let count = rows.dense.len();
        // A further row with a value that no f32 holds makes the storage double; then it is left out again.
        let mut longer = rows.dense.clone();
        longer.push(vec![0.1; rows.dense[0].len()]);
        for scheme in all_schemes(rows.k) {
            for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
                let with = |matrix: &Matrix| {
                    let plan = plan(Perceptron::default(), scheme, rows.k, bias, hypothesis, 3);
                    let trained = run(&plan, matrix, &rows.classes);
                    (trained.mistakes, scores(&trained.scorer, matrix))
                };
                let mut expected = None;
                for layout in [Layout::Sparse, Layout::Dense { columns: rows.dense[0].len() }] {
                    let (single, double) =
                        (matrix(&rows.dense, layout), matrix(&longer, layout).select(0..count));
                    prop_assert!(single.is_single() && !double.is_single());
                    let result = with(&single);
                    prop_assert_eq!(&result, &with(&double), "the bits are the same in either precision");
                    let expected = expected.get_or_insert_with(|| result.clone());
                    prop_assert_eq!(expected.0, result.0);
                    assert_same_scores(hypothesis, &expected.1, &result.1);
                }
            }
        }
    }

    #[test]
    fn even_rows_teach_the_bits_that_their_values_spelled_out_do(
        rows in rows(2usize..5),
        scale in 1e-3f64..1e3,
        bias in bias(),
    ) {
        // Features from here on are so many that rough weights are looked at first.
        const FAR: u32 = 1 << 17;
        for scheme in all_schemes(rows.k) {
            for (hypothesis, offset) in [
                (Hypothesis::Last, 0),
                (Hypothesis::Average, 0),
                (Hypothesis::Votes, 0),
                (Hypothesis::Last, FAR),
            ] {
                if offset == FAR && scheme != Scheme::Two {
                    continue;
                }
                let features = offset as usize + rows.dense[0].len();
                let new =
                    || LinearLearner::new(Perceptron::default(), scheme, rows.k, features, bias, hypothesis);
                let (mut even, mut spelled) = (new(), new());
                for (i, row) in rows.dense.iter().enumerate().cycle().take(3 * rows.dense.len()) {
                    let indices: Vec<u32> = (0..row.len() as u32)
                        .filter(|&j| row[j as usize] != 0.0)
                        .map(|j| j + offset)
                        .collect();
                    let value = scale * (0.1 + row[0] / 3.0);
                    let values = vec![value; indices.len()];
                    let (id, class) = (i as u32, rows.classes[i]);
                    let seen = even.learn(Row::Uniform(&indices, value), id, class, 1.0);
                    prop_assert_eq!(seen, spelled.learn(Row::Sparse64(&indices, &values), id, class, 1.0));
                }
                prop_assert!(even.result() == spelled.result() && even.journal() == spelled.journal());
            }
        }
    }

    #[test]
    fn two_joint_classes_predict_as_one_weight_vector_does(
        rows in rows(Just(2)),
        bias in bias(),
        tie in tie(),
    ) {
        let matrix = sparse(&rows);
        for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
            let rule = Perceptron { tie, ..Perceptron::default() };
            let with = |scheme| {
                let trained = run(&plan(rule, scheme, 2, bias, hypothesis, 3), &matrix, &rows.classes);
                let predictions = if hypothesis == Hypothesis::Average {
                    clear_predictions(&trained.scorer, &matrix)
                } else {
                    predictions(&trained.scorer, &matrix).into_iter().map(Some).collect()
                };
                (trained.mistakes, predictions)
            };
            prop_assert_eq!(with(Scheme::Two), with(Scheme::Joint));
        }
    }

    #[test]
    fn two_joint_passive_aggressive_classes_score_as_one_weight_vector_does(
        rows in rows(Just(2)),
        bias in bias(),
        c in 0.01f64..10.0,
    ) {
        let matrix = sparse(&rows);
        for aggressiveness in [Aggressiveness::Full, Aggressiveness::Capped(c), Aggressiveness::Damped(c)] {
            let rule = PassiveAggressive { aggressiveness };
            let with = |scheme| {
                scores(
                    &run(&plan(rule, scheme, 2, bias, Hypothesis::Last, 2), &matrix, &rows.classes).scorer,
                    &matrix,
                )
            };
            for (one, two) in with(Scheme::Two).iter().zip(with(Scheme::Joint)) {
                prop_assert!((one[0] - (two[1] - two[0])).abs() < 1e-9 * (1.0 + one[0].abs()));
            }
        }
    }

    /// What Crammer et al. define: the least move after which the row's margin is 1 (PA), or their closed
    /// forms.
    #[test]
    fn passive_aggressive_moves_as_its_closed_forms_say(
        rows in rows(Just(2)),
        bias in bias(),
        c in 0.01f64..10.0,
    ) {
        let matrix = sparse(&rows);
        for aggressiveness in [Aggressiveness::Full, Aggressiveness::Capped(c), Aggressiveness::Damped(c)] {
            let mut learner = LinearLearner::new(
                PassiveAggressive { aggressiveness },
                Scheme::Two,
                2,
                matrix.columns(),
                bias,
                Hypothesis::Last,
            );
            let mut w = vec![0.0; matrix.columns() + 1];
            for i in 0..matrix.rows() {
                let x = extended(&rows.dense[i], bias);
                let y = if rows.classes[i] == 1 { 1.0 } else { -1.0 };
                let (loss, norm_sq) = ((1.0 - y * dot(&w, &x)).max(0.0), dot(&x, &x));
                let tau = match aggressiveness {
                    _ if norm_sq == 0.0 => 0.0,
                    Aggressiveness::Full => loss / norm_sq,
                    Aggressiveness::Capped(c) => (loss / norm_sq).min(c),
                    Aggressiveness::Damped(c) => loss / (norm_sq + 0.5 / c),
                };
                w.iter_mut().zip(&x).for_each(|(w, x)| *w += tau * y * x);
                learner.learn(matrix.row(i), 0, rows.classes[i], 1.0);
                let size = w.iter().map(|w| w.abs()).fold(1.0, f64::max);
                for (j, w) in w.iter().enumerate() {
                    let got = if j < matrix.columns() {
                        learner.weights().weight(j, 0)
                    } else {
                        learner.weights().bias[0]
                    };
                    prop_assert!((got - w).abs() < 1e-9 * size);
                }
                if aggressiveness == Aggressiveness::Full && norm_sq > 0.0 {
                    prop_assert!(y * dot(&w, &x) >= 1.0 - 1e-6);
                }
            }
        }
    }

    #[test]
    fn the_order_of_features_does_not_matter(rows in rows(2usize..5), bias in bias(), seed in any::<u64>()) {
        let features = rows.dense[0].len();
        let mut order: Vec<usize> = (0..features).collect();
        novikoff::random::Random::new(seed).shuffle(&mut order);
        let mut permuted = rows.clone();
        for (to, from) in permuted.dense.iter_mut().zip(&rows.dense) {
            for (j, &p) in order.iter().enumerate() {
                to[p] = from[j];
            }
        }
        for scheme in all_schemes(rows.k) {
            for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
                let with = |rows: &Rows| {
                    let matrix = sparse(rows);
                    let trained = run(
                        &plan(Perceptron::default(), scheme, rows.k, bias, hypothesis, 3),
                        &matrix,
                        &rows.classes,
                    );
                    (trained.mistakes, scores(&trained.scorer, &matrix))
                };
                let (one, other) = (with(&rows), with(&permuted));
                prop_assert_eq!(one.0, other.0);
                assert_same_scores(hypothesis, &one.1, &other.1);
            }
        }
    }

    /// A stream that shows features, and the second of two classes, as they come learns what an epoch in the
    /// given order learns. (More than two classes are announced here: one that turns up later was nobody's
    /// rival before.)
    #[test]
    fn a_stream_equals_one_epoch_in_the_order_given(rows in rows(2usize..5), bias in bias()) {
        let matrix = sparse(&rows);
        // Numbers by first appearance, as a reader of a stream gives them.
        let mut seen: Vec<u32> = Vec::new();
        for &class in &rows.classes {
            if !seen.contains(&class) {
                seen.push(class)
            }
        }
        let renumbered: Vec<u32> =
            rows.classes.iter().map(|c| seen.iter().position(|s| s == c).unwrap() as u32).collect();
        let k = seen.len().max(2);
        for hypothesis in [Hypothesis::Last, Hypothesis::Average] {
            let mut stream = Stream::new(Perceptron::default(), bias, hypothesis);
            stream.reserve(0, k);
            for (i, &class) in renumbered.iter().enumerate() {
                let row = matrix.row(i);
                let mut features = 0;
                row.for_each_nonzero(|j, _| features = features.max(j as usize + 1));
                stream.reserve(features, class as usize + 1);
                stream.learn(row, class, 1.0);
            }
            let order: Vec<u32> = (0..k as u32).collect();
            let streamed = stream.clone().finish(&order);
            let mut plan = plan(Perceptron::default(), scheme_for(k), k, bias, hypothesis, 1);
            plan.order = Order::Given;
            let trained = run(&plan, &matrix, &renumbered);
            prop_assert_eq!(streamed.mistakes, trained.mistakes);
            let Scorer::Linear(expected) = &trained.scorer else { panic!("linear") };
            prop_assert_eq!(streamed.weights.outputs(), expected.outputs());
            for output in 0..expected.outputs() {
                for j in 0..matrix.columns() {
                    prop_assert!(
                        (streamed.weights.weight(j, output) - expected.weight(j, output)).abs() < 1e-12
                    );
                }
                prop_assert!((streamed.weights.bias[output] - expected.bias[output]).abs() < 1e-12);
            }
            // Two classes in the other order: the same hyperplane, seen from the other side.
            if k == 2 {
                let flipped = stream.finish(&[1, 0]);
                for j in 0..matrix.columns() {
                    prop_assert_eq!(flipped.weights.weight(j, 0), -streamed.weights.weight(j, 0));
                }
            }
        }
    }

    /// When a third class turns up, the margin between the first two is what their rule made it.
    #[test]
    fn a_third_class_leaves_what_two_have_learned(rows in rows(Just(2)), bias in bias(), c in 0.01f64..10.0) {
        let matrix = sparse(&rows);
        fn grown<R: Rule>(
            rule: R,
            share: f64,
            matrix: &Matrix,
            classes: &[u32],
            bias: Bias,
        ) -> Result<(), TestCaseError> {
            let mut stream = Stream::new(rule, bias, Hypothesis::Last);
            stream.reserve(matrix.columns(), 2);
            for (i, &class) in classes.iter().enumerate() {
                stream.learn(matrix.row(i), class, 1.0);
            }
            let two = stream.clone().finish(&[0, 1]).weights;
            stream.reserve(0, 3);
            let three = stream.finish(&[0, 1, 2]).weights;
            for j in 0..matrix.columns() {
                prop_assert_eq!(three.weight(j, 1), share * two.weight(j, 0));
                prop_assert_eq!(three.weight(j, 0), -share * two.weight(j, 0));
                prop_assert_eq!(three.weight(j, 2), 0.0);
            }
            Ok(())
        }
        grown(Perceptron::default(), 1.0, &matrix, &rows.classes, bias)?;
        let capped = PassiveAggressive { aggressiveness: Aggressiveness::Capped(c) };
        grown(capped, 0.5, &matrix, &rows.classes, bias)?;
        // As if they had been joint from the start: their margin is then what one weight vector's is.
        let joint = run(&plan(capped, Scheme::Joint, 2, bias, Hypothesis::Last, 1), &matrix, &rows.classes);
        let two = run(&plan(capped, Scheme::Two, 2, bias, Hypothesis::Last, 1), &matrix, &rows.classes);
        for (joint, two) in scores(&joint.scorer, &matrix).iter().zip(scores(&two.scorer, &matrix)) {
            prop_assert!((joint[1] - 0.5 * two[0]).abs() < 1e-9 * (1.0 + two[0].abs()));
        }
    }

    #[test]
    fn a_row_of_weight_zero_might_as_well_not_be_there(
        rows in rows(2usize..5),
        bias in bias(),
        holes in prop::collection::vec(any::<bool>(), 25),
    ) {
        let weights: Vec<f64> = (0..rows.classes.len()).map(|i| if holes[i] { 0.0 } else { 1.0 }).collect();
        let kept: Vec<usize> = (0..rows.classes.len()).filter(|&i| !holes[i]).collect();
        prop_assume!(!kept.is_empty());
        let matrix = sparse(&rows);
        let few = matrix.select(kept.iter().copied());
        let few_classes: Vec<u32> = kept.iter().map(|&i| rows.classes[i]).collect();
        for scheme in all_schemes(rows.k) {
            for hypothesis in [Hypothesis::Last, Hypothesis::Average, Hypothesis::Votes] {
                let mut plan = plan(Perceptron::default(), scheme, rows.k, bias, hypothesis, 2);
                plan.order = Order::Given;
                let all = train(
                    &plan,
                    TrainingRows { rows: &matrix, classes: &rows.classes, weights: &weights },
                    None,
                    &mut Unwatched,
                );
                let without = run(&plan, &few, &few_classes);
                prop_assert_eq!(all.mistakes, without.mistakes);
                prop_assert_eq!(scores(&all.scorer, &matrix), scores(&without.scorer, &matrix));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Novikoff 1962: at most (R/γ)² mistakes, in any order, over any number of epochs; and the run ends
    /// separated.
    #[test]
    fn the_perceptron_never_exceeds_the_mistake_bound(
        features in 1usize..12,
        count in 1usize..60,
        margin in 0.05f64..0.6,
        density in 0.2f64..1.0,
        seed in any::<u64>(),
    ) {
        let recipe = Recipe { rows: count, features, margin, density, noise: 0.0, seed };
        let (data, separator) = recipe.generate_with_separator();
        let radius = (0..data.len()).map(|i| data.rows.row(i).norm_sq()).fold(0.0, f64::max).sqrt();
        let run_of = |length| {
            let rule = Perceptron { length, ..Perceptron::default() };
            let plan = plan(rule, Scheme::Two, 2, Bias::None, Hypothesis::Last, usize::MAX);
            run(&plan, &data.rows, &data.labels)
        };
        let plain = run_of(Length::AsGiven);
        prop_assert_eq!(plain.termination, Termination::Separated);
        prop_assert!(
            plain.mistakes as f64 <= (radius / margin).powi(2),
            "{} > {}",
            plain.mistakes,
            (radius / margin).powi(2)
        );
        // P2: over x/‖x‖ the theorem reads 1/γ².
        let normalised = (0..data.len())
            .map(|i| data.rows.row(i).dot(&separator).abs() / data.rows.row(i).norm_sq().sqrt())
            .fold(f64::INFINITY, f64::min);
        let unit = run_of(Length::Unit);
        prop_assert_eq!(unit.termination, Termination::Separated);
        prop_assert!(
            unit.mistakes as f64 <= normalised.powi(-2) * (1.0 + 1e-9),
            "{} > {}",
            unit.mistakes,
            normalised.powi(-2)
        );
    }

    /// The normalised rule is the plain rule on rows of length 1 (with the extra coordinate, if there is a
    /// bias).
    #[test]
    fn normalising_updates_equals_normalising_rows(rows in rows(Just(2)), epochs in 1usize..4) {
        let mut scaled = rows.clone();
        for row in &mut scaled.dense {
            let norm = dot(row, row).sqrt();
            if norm > 0.0 {
                row.iter_mut().for_each(|x| *x /= norm);
            }
        }
        let with = |rows: &Rows, length| {
            let rule = Perceptron { length, ..Perceptron::default() };
            let mut learner =
                LinearLearner::new(rule, Scheme::Two, 2, rows.dense[0].len(), Bias::None, Hypothesis::Last);
            let matrix = sparse(rows);
            let mut margins = Vec::new();
            for _ in 0..epochs {
                for i in 0..matrix.rows() {
                    let mut s = [0.0];
                    learner.weights().score(matrix.row(i), &mut s);
                    margins.push(s[0]);
                    learner.learn(matrix.row(i), 0, rows.classes[i], 1.0);
                }
            }
            (learner.weights().clone(), margins)
        };
        let (unit, unit_margins) = with(&rows, Length::Unit);
        let (plain, margins) = with(&scaled, Length::AsGiven);
        // A score that rounding alone keeps from zero may fall to either side: such runs say nothing.
        let clear = |(a, b): (&f64, &f64)| a.abs() > 1e-9 && b.abs() > 1e-9 || *a == 0.0 && *b == 0.0;
        prop_assume!(unit_margins.iter().zip(&margins).all(clear));
        for j in 0..rows.dense[0].len() {
            prop_assert!((unit.weight(j, 0) - plain.weight(j, 0)).abs() < 1e-9);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// With very many features the learner looks at rough weights first: what it learns is the same to the
    /// bit.
    #[test]
    fn very_many_features_change_nothing(
        rows in rows(Just(2)),
        scale in 1e-3f64..1e3,
        bias in bias(),
        c in 0.01f64..10.0,
    ) {
        const FAR: u32 = 1 << 17;
        let (mut near, mut far) = (Builder::new(Layout::Sparse), Builder::new(Layout::Sparse));
        for row in &rows.dense {
            let indices: Vec<u32> = (0..row.len() as u32).collect();
            // Not exact in any precision, and small differences of large numbers: scores that rough weights
            // get wrong.
            let values: Vec<f64> = row.iter().map(|x| scale * (1e4 + x / 3.0)).collect();
            near.push(&indices, &values);
            far.push(&indices.iter().map(|j| j + FAR).collect::<Vec<_>>(), &values);
        }
        let (near, far) = (near.finish(), far.finish());
        fn same<R: Rule>(
            rule: R,
            near: &Matrix,
            far: &Matrix,
            classes: &[u32],
            bias: Bias,
        ) -> Result<(), TestCaseError> {
            let plan = plan(rule, Scheme::Two, 2, bias, Hypothesis::Average, 5);
            let (one, other) = (run(&plan, near, classes), run(&plan, far, classes));
            prop_assert_eq!((one.mistakes, one.updates), (other.mistakes, other.updates));
            prop_assert_eq!(scores(&one.scorer, near), scores(&other.scorer, far));
            Ok(())
        }
        same(Perceptron::default(), &near, &far, &rows.classes, bias)?;
        same(
            PassiveAggressive { aggressiveness: Aggressiveness::Capped(c) },
            &near,
            &far,
            &rows.classes,
            bias,
        )?;
    }
}
