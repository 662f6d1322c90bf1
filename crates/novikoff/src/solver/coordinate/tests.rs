//! Against what a solution is (its slopes), against a method that is too simple to be wrong, and at the
//! edges.

use super::*;
use crate::control::{Flow, Observer, Progress, Unwatched, Watch};
use crate::data::Matrix;
use crate::data::matrix::{Builder, Layout};
use crate::loss::{Exponential, Logistic, Loss, Squared, SquaredHinge};
use crate::random::Random;
use crate::risk::duality_gap;
use proptest::prelude::*;

/// A gap of ε lets slopes be off by `√(2·L·ε)`, and ε is some 1e-11 here, L some 10.
const SLACK: f64 = 3e-5;

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];

/// Rows, targets and row weights that a problem is made of.
#[derive(Clone, Debug)]
struct Sample {
    rows: Vec<Vec<f64>>,
    targets: Vec<f64>,
    row_weights: Vec<f64>,
}

impl Sample {
    /// Columns with noise in common, some of them zero, constant or copies of others; labels that depend on
    /// the first.
    fn random(n: usize, d: usize, density: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let common = random.normal();
            let mut row: Vec<f64> = (0..d)
                .map(|_| if random.unit() < density { random.normal() + 0.5 * common } else { 0.0 })
                .collect();
            if d >= 6 {
                (row[2], row[3], row[4]) = (0.0, 1.0, -2.0 * row[0]);
            }
            targets.push(if row[0] - 0.5 * row[d - 1] + 0.8 * random.normal() > 0.2 { 1.0 } else { -1.0 });
            rows.push(row);
        }
        let row_weights = (0..n).map(|i| 0.25 * ((seed as usize + i) % 5) as f64 + 0.5).collect();
        Self { rows, targets, row_weights }
    }

    fn matrix(&self, layout: Layout) -> Matrix<'static> {
        let mut builder = Builder::new(layout);
        for row in &self.rows {
            let kept: Vec<u32> = (0..row.len() as u32).filter(|j| row[*j as usize] != 0.0).collect();
            let values: Vec<f64> = kept.iter().map(|j| row[*j as usize]).collect();
            builder.push(&kept, &values);
        }
        let mut matrix = builder.finish();
        matrix.widen(self.rows[0].len());
        matrix
    }

    fn sparse(&self) -> Matrix<'static> {
        self.matrix(Layout::Sparse)
    }

    fn dense(&self) -> Matrix<'static> {
        self.matrix(Layout::Dense { columns: self.rows[0].len() })
    }

    fn problem<'a, L: SmoothLoss>(
        &'a self,
        rows: &'a Matrix<'a>,
        loss: L,
        l2: f64,
        l1: f64,
        bias: Bias,
    ) -> Problem<'a, L, ElasticNet> {
        let (targets, row_weights) = (&self.targets, &self.row_weights);
        let total = if row_weights.is_empty() { targets.len() as f64 } else { row_weights.iter().sum() };
        Problem { rows, targets, row_weights, total, loss, penalty: ElasticNet { l2, l1 }, bias }
    }
}

fn solve_with<L: SmoothLoss>(
    problem: &Problem<'_, L, ElasticNet>,
    start: Option<&WarmStart>,
    tolerance: f64,
    steps: usize,
    observer: &mut dyn Observer,
) -> Solution {
    let watch = Watch::new(observer);
    CoordinateDescent.solve(
        problem,
        start,
        &Control { tolerance, steps, seed: 0, output: (0, 1), trace: true, watch: &watch },
    )
}

fn solve<L: SmoothLoss>(problem: &Problem<'_, L, ElasticNet>, tolerance: f64) -> Solution {
    solve_with(problem, None, tolerance, 1000, &mut Unwatched)
}

/// The relative gap as anybody computes it.
fn gap_of<L: SmoothLoss>(problem: &Problem<'_, L, ElasticNet>, solution: &Solution) -> f64 {
    duality_gap(problem, &solution.point, &problem.scores(&solution.point), solution.duals.as_deref())
        .relative()
        .unwrap()
}

/// Objective and gradient of the smooth part, by definition and without any of the library's passes.
fn by_hand<L: SmoothLoss>(
    sample: &Sample,
    problem: &Problem<'_, L, ElasticNet>,
    point: &Point,
) -> (f64, Vec<f64>) {
    let d = point.weights.len();
    let (mut objective, mut gradient) = (0.0, vec![0.0; d + 1]);
    for (i, row) in sample.rows.iter().enumerate() {
        let share = sample.row_weights.get(i).copied().unwrap_or(1.0) / problem.total;
        let score = row.iter().zip(&point.weights).map(|(x, w)| x * w).sum::<f64>() + point.bias;
        objective += share * problem.loss.value(sample.targets[i], score);
        let slope = share * problem.loss.slope(sample.targets[i], score);
        row.iter().enumerate().for_each(|(j, x)| gradient[j] += slope * x);
        gradient[d] += slope;
    }
    let ElasticNet { l2, l1 } = problem.penalty;
    let bias = (problem.bias == Bias::Penalised).then_some(&point.bias);
    objective += point.weights.iter().chain(bias).map(|w| 0.5 * l2 * w * w + l1 * w.abs()).sum::<f64>();
    (objective, gradient)
}

/// The conditions that hold at a minimum and nowhere else, up to `slack`.
fn is_minimum<L: SmoothLoss>(
    sample: &Sample,
    problem: &Problem<'_, L, ElasticNet>,
    point: &Point,
    slack: f64,
) -> Result<(), String> {
    let (_, gradient) = by_hand(sample, problem, point);
    let ElasticNet { l2, l1 } = problem.penalty;
    let d = point.weights.len();
    for (j, v) in gradient.iter().enumerate() {
        let w = if j < d { point.weights[j] } else { point.bias };
        let off = match (j == d, problem.bias) {
            (true, Bias::None) => w.abs(),
            (true, Bias::Free) => v.abs(),
            _ if w == 0.0 => v.abs() - l1,
            _ => (v + l2 * w + l1 * w.signum()).abs(),
        };
        if off.is_nan() || off > slack {
            return Err(format!("column {j} of {d}: weight {w}, gradient {v}, l1 {l1}: off by {off:e}"));
        }
    }
    Ok(())
}

/// Proximal gradient with momentum that begins anew whenever it leads uphill (FISTA), for a long time.
fn oracle<L: SmoothLoss>(sample: &Sample, problem: &Problem<'_, L, ElasticNet>) -> f64 {
    let d = sample.rows[0].len();
    let ElasticNet { l2, l1 } = problem.penalty;
    let shrink = |w: f64, by: f64| w.signum() * (w.abs() - by).max(0.0);
    let (mut at, mut ahead, mut momentum, mut rate) = (Point::zero(d), Point::zero(d), 1.0f64, 1.0);
    let mut least = by_hand(sample, problem, &at).0;
    for _ in 0..20_000 {
        let (base, gradient) = by_hand(sample, problem, &ahead);
        let next = |rate: f64| {
            let move_one = |w: f64, v: f64| shrink(w - rate * v, rate * l1) / (1.0 + rate * l2);
            let weights = ahead.weights.iter().zip(&gradient).map(|(w, v)| move_one(*w, *v)).collect();
            let bias = match problem.bias {
                Bias::Free => ahead.bias - rate * gradient[d],
                Bias::Penalised => move_one(ahead.bias, gradient[d]),
                Bias::None => 0.0,
            };
            Point { weights, bias }
        };
        let smooth = |point: &Point| by_hand(sample, problem, point).0 - problem.penalty_of(point);
        let below_its_model = |rate: f64| {
            let to = next(rate);
            let steps =
                to.weights.iter().zip(&ahead.weights).map(|(a, b)| a - b).chain([to.bias - ahead.bias]);
            let model: f64 =
                steps.zip(&gradient).map(|(step, v)| step * v + step * step / (2.0 * rate)).sum();
            smooth(&to) <= base - problem.penalty_of(&ahead) + model + 1e-13
        };
        while !below_its_model(rate) && rate > 1e-12 {
            rate *= 0.5;
        }
        let to = next(rate);
        let objective = by_hand(sample, problem, &to).0;
        if objective > least {
            (ahead, momentum) = (at.clone(), 1.0);
            continue;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let push = (momentum - 1.0) / grown;
        let weights = to.weights.iter().zip(&at.weights).map(|(a, b)| a + push * (a - b)).collect();
        ahead = Point { weights, bias: to.bias + push * (to.bias - at.bias) };
        if least - objective <= 1e-16 * least && momentum > 50.0 {
            return objective;
        }
        (at, momentum, least) = (to, grown, objective);
    }
    least
}

fn agrees<L: SmoothLoss>(
    sample: &Sample,
    loss: L,
    l2: f64,
    factor: f64,
    with_oracle: bool,
) -> Result<(), TestCaseError> {
    for rows in [sample.sparse(), sample.dense()] {
        for bias in BIASES {
            let mut problem = sample.problem(&rows, loss, l2, 1.0, bias);
            problem.penalty.l1 = factor * largest_l1(&problem).max(1e-3);
            let solution = solve(&problem, 1e-11);
            let about = format!("{} {bias:?} l2 {l2} l1 {}", loss.name(), problem.penalty.l1);
            prop_assert_eq!(solution.termination, Termination::Converged, "{} {:?}", &about, &solution);
            prop_assert!(gap_of(&problem, &solution) <= 1e-11);
            prop_assert!(bias != Bias::None || solution.point.bias == 0.0);
            let objective = by_hand(sample, &problem, &solution.point).0;
            prop_assert!(
                (objective - solution.trace.last().unwrap().objective).abs() <= 1e-10 * objective,
                "{}",
                &about
            );
            if let Err(off) = is_minimum(sample, &problem, &solution.point, SLACK) {
                prop_assert!(false, "{about}: {off}");
            }
            if with_oracle && !rows.is_dense() {
                let least = oracle(sample, &problem);
                prop_assert!(
                    objective <= least * (1.0 + 1e-10),
                    "{}: {} against {}",
                    &about,
                    objective,
                    least
                );
                // It is slow where hardly anything restrains the weights: what it lacks is measured by what
                // it began with.
                let began = by_hand(sample, &problem, &Point::zero(sample.rows[0].len())).0;
                prop_assert!(
                    least <= objective * (1.0 + 1e-5) + 1e-6 * began,
                    "{}: the oracle got to {} only, not {}",
                    &about,
                    least,
                    objective
                );
            }
        }
    }
    Ok(())
}

fn all_agree(sample: &Sample, l2: f64, factor: f64, with_oracle: bool) -> Result<(), TestCaseError> {
    agrees(sample, Squared, l2, factor, with_oracle)?;
    agrees(sample, SquaredHinge, l2, factor, with_oracle)?;
    agrees(sample, Logistic, l2, factor, with_oracle)?;
    agrees(sample, Exponential, l2, factor, with_oracle)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn it_finds_what_a_simple_method_finds(
        n in 4usize..25, d in 1usize..9, seed in any::<u32>(),
        l2 in prop::sample::select(vec![0.0, 0.05, 1.0]),
            factor in prop::sample::select(vec![0.03, 0.2, 0.7]),
    ) {
        all_agree(&Sample::random(n, d, 0.7, seed.into()), l2, factor, true)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    /// More columns than a working set begins with, so that most are never moved, and many are dropped.
    #[test]
    fn no_column_is_left_out_that_belongs(
        n in 20usize..60, seed in any::<u32>(),
        l2 in prop::sample::select(vec![0.0, 0.05]), factor in prop::sample::select(vec![0.05, 0.3, 0.8]),
    ) {
        all_agree(&Sample::random(n, 700, 0.2, seed.into()), l2, factor, false)?;
    }

    #[test]
    fn a_row_of_weight_two_is_the_row_twice(n in 4usize..20, d in 2usize..9, seed in any::<u32>()) {
        let twice = |sample: &Sample, i: usize| {
            let mut more = Sample { row_weights: Vec::new(), ..sample.clone() };
            more.rows.push(sample.rows[i].clone());
            more.targets.push(sample.targets[i]);
            more
        };
        let mut sample = Sample::random(n, d, 0.8, seed.into());
        sample.row_weights = vec![1.0; n];
        let i = seed as usize % n;
        sample.row_weights[i] = 2.0;
        let more = twice(&sample, i);
        let (a, b) = (sample.sparse(), more.sparse());
        for bias in BIASES {
            let (a, b) =
                (sample.problem(&a, Logistic, 0.1, 0.02, bias), more.problem(&b, Logistic, 0.1, 0.02, bias));
            let (a, b) = (solve(&a, 1e-13), solve(&b, 1e-13));
            prop_assert!((largest_difference(&a.point, &b.point)) < 1e-5, "{:?} {:?}", a.point, b.point);
        }
    }
}

fn largest_difference(a: &Point, b: &Point) -> f64 {
    a.weights.iter().zip(&b.weights).map(|(a, b)| (a - b).abs()).fold((a.bias - b.bias).abs(), f64::max)
}

#[test]
fn above_the_largest_l1_all_weights_are_zero_at_one_look_and_below_it_some_are_not() {
    let sample = Sample::random(40, 12, 0.8, 3);
    let rows = sample.sparse();
    for bias in BIASES {
        let mut problem = sample.problem(&rows, Logistic, 0.0, 1.0, bias);
        let largest = largest_l1(&problem);
        problem.penalty.l1 = largest * (1.0 + 1e-9);
        let zero = solve(&problem, 1e-9);
        assert_eq!((zero.steps, zero.termination), (0, Termination::Converged), "{bias:?}");
        assert!(zero.point.weights.iter().all(|w| *w == 0.0));
        assert!(bias == Bias::Free || zero.point.bias == 0.0);
        problem.penalty.l1 = largest * 0.98;
        let some = solve(&problem, 1e-9);
        assert!(some.point.weights.iter().any(|w| *w != 0.0) || some.point.bias != 0.0, "{bias:?}");
    }
}

#[test]
fn along_a_path_each_solution_is_the_one_found_from_zero() {
    let sample = Sample::random(50, 400, 0.3, 11);
    let rows = sample.sparse();
    for bias in BIASES {
        let mut problem = sample.problem(&rows, Logistic, 0.0, 1.0, bias);
        let largest = largest_l1(&problem);
        let mut start: Option<WarmStart> = None;
        // Down and up again: a start has too few weights and then too many.
        for factor in [1.0, 0.8, 0.5, 0.2, 0.1, 0.05, 0.1, 0.5, 0.9] {
            problem.penalty.l1 = factor * largest;
            let cold = solve(&problem, 1e-10);
            let warm = solve_with(&problem, start.as_ref(), 1e-10, 1000, &mut Unwatched);
            assert_eq!(
                (cold.termination, warm.termination),
                (Termination::Converged, Termination::Converged),
                "{bias:?} {factor}"
            );
            is_minimum(&sample, &problem, &warm.point, SLACK).unwrap();
            let (a, b) =
                (by_hand(&sample, &problem, &cold.point).0, by_hand(&sample, &problem, &warm.point).0);
            assert!((a - b).abs() <= 2e-10 * a, "{bias:?} {factor}: {a} {b}");
            start = Some(WarmStart { point: warm.point, duals: warm.duals.unwrap() });
        }
        // From its own solution there is nothing to do.
        problem.penalty.l1 = 0.9 * largest;
        assert_eq!(solve_with(&problem, start.as_ref(), 1e-9, 1000, &mut Unwatched).steps, 0);
    }
}

#[test]
fn starts_that_make_no_sense_do_no_harm() {
    let sample = Sample::random(30, 8, 0.8, 5);
    let rows = sample.dense();
    let problem = sample.problem(&rows, Exponential, 0.0, 0.01, Bias::Free);
    let wanted = by_hand(&sample, &problem, &solve(&problem, 1e-10).point).0;
    let far = |w: f64| Point { weights: vec![w; 8], bias: -w };
    for point in [
        far(f64::NAN),
        far(1e300),
        far(40.0),
        far(-3.0),
        Point::default(),
        Point { weights: vec![1.0; 20], bias: 0.0 },
    ] {
        let start = WarmStart { point, duals: vec![7.0] };
        let found = solve_with(&problem, Some(&start), 1e-10, 1000, &mut Unwatched);
        assert_eq!(found.termination, Termination::Converged, "{start:?}");
        assert!((by_hand(&sample, &problem, &found.point).0 - wanted).abs() <= 1e-9 * wanted, "{start:?}");
    }
    let problem = sample.problem(&rows, Logistic, 0.0, 0.01, Bias::Free);
    let wanted = by_hand(&sample, &problem, &solve(&problem, 1e-10).point).0;
    for w in [30.0, -1000.0, 1e5] {
        let found = solve_with(
            &problem,
            Some(&WarmStart { point: far(w), duals: Vec::new() }),
            1e-10,
            1000,
            &mut Unwatched,
        );
        assert_eq!(found.termination, Termination::Converged, "{w}");
        assert!((by_hand(&sample, &problem, &found.point).0 - wanted).abs() <= 1e-9 * wanted, "{w}");
    }
}

/// One problem with every loss and bias: it must end, with numbers, and where it says it converged the gap
/// must say so too.
fn ends_well(sample: &Sample, l2: f64, l1: f64) -> Vec<Termination> {
    fn one<L: SmoothLoss>(sample: &Sample, loss: L, l2: f64, l1: f64, ends: &mut Vec<Termination>) {
        for rows in [sample.sparse(), sample.dense()] {
            for bias in BIASES {
                let problem = sample.problem(&rows, loss, l2, l1, bias);
                let solution = solve(&problem, 1e-8);
                let about = format!("{:?} {bias:?} {sample:?} l2 {l2} l1 {l1}: {solution:?}", loss.name());
                assert!(
                    solution.point.weights.iter().chain([&solution.point.bias]).all(|w| w.is_finite()),
                    "{about}"
                );
                assert!(solution.duals.as_ref().unwrap().iter().all(|u| u.is_finite()), "{about}");
                assert!(largest_l1(&problem).is_finite(), "{about}");
                if solution.termination == Termination::Converged {
                    assert!(gap_of(&problem, &solution) <= 1e-8, "{about}");
                }
                ends.push(solution.termination);
            }
        }
    }
    let mut ends = Vec::new();
    one(sample, Squared, l2, l1, &mut ends);
    one(sample, SquaredHinge, l2, l1, &mut ends);
    one(sample, Logistic, l2, l1, &mut ends);
    one(sample, Exponential, l2, l1, &mut ends);
    ends
}

#[test]
fn the_edges_are_walked_safely() {
    let sample = |rows: &[&[f64]], targets: &[f64]| Sample {
        rows: rows.iter().map(|row| row.to_vec()).collect(),
        targets: targets.to_vec(),
        row_weights: Vec::new(),
    };
    let samples = [
        ("zero column", sample(&[&[0.0, 1.0], &[0.0, -1.0], &[0.0, 0.5]], &[1.0, -1.0, -1.0])),
        ("zeros only", sample(&[&[0.0, 0.0], &[0.0, 0.0]], &[1.0, -1.0])),
        ("constant column", sample(&[&[3.0, 1.0], &[3.0, -1.0], &[3.0, 0.5]], &[1.0, -1.0, -1.0])),
        (
            "collinear columns",
            sample(&[&[1.0, -2.0, 1.0], &[-1.0, 2.0, -1.0], &[0.5, -1.0, 0.5]], &[1.0, -1.0, -1.0]),
        ),
        ("one row", sample(&[&[1.0, -2.0, 0.0]], &[1.0])),
        ("one column", sample(&[&[1.0], &[-2.0], &[0.3]], &[1.0, -1.0, -1.0])),
        ("one of both", sample(&[&[2.0]], &[-1.0])),
        ("zero row", sample(&[&[1.0, 0.3], &[0.0, 0.0], &[-1.0, 0.2]], &[1.0, -1.0, -1.0])),
        ("one class", sample(&[&[1.0, 0.3], &[0.1, 0.0], &[-1.0, 0.2]], &[1.0, 1.0, 1.0])),
        ("separable", sample(&[&[1.0, 0.3], &[2.0, 0.0], &[-1.0, 0.2]], &[1.0, 1.0, -1.0])),
        ("more columns than rows", Sample::random(5, 40, 1.0, 9)),
        (
            "row weight zero",
            Sample {
                row_weights: vec![1.0, 0.0, 2.0],
                ..sample(&[&[1.0], &[2.0], &[-1.0]], &[1.0, -1.0, -1.0])
            },
        ),
    ];
    for (name, sample) in &samples {
        for (l2, l1) in [(0.0, 0.1), (0.0, 1e-5), (1e-3, 1e-3), (1.0, 100.0), (0.0, 1e9)] {
            let ends = ends_well(sample, l2, l1);
            assert!(
                ends.iter().all(|termination| *termination == Termination::Converged),
                "{name}, l2 {l2}, l1 {l1}: {ends:?}"
            );
        }
        ends_well(sample, 0.0, 1e-12);
        ends_well(sample, 0.0, 0.0);
    }
}

#[test]
fn scales_do_not_matter() {
    let plain = Sample::random(30, 8, 0.8, 21);
    for exponent in [-6, -3, 3, 6] {
        let scale = 10f64.powi(exponent);
        let mut sample = plain.clone();
        // Some columns are scaled and some are not; large targets are for the squared loss.
        sample.rows.iter_mut().for_each(|row| row.iter_mut().step_by(2).for_each(|x| *x *= scale));
        let rows = sample.sparse();
        for bias in BIASES {
            let mut problem = sample.problem(&rows, Logistic, 0.0, 1.0, bias);
            problem.penalty.l1 = 0.01 * largest_l1(&problem);
            let solution = solve(&problem, 1e-9);
            assert_eq!(solution.termination, Termination::Converged, "{scale} {bias:?} {solution:?}");
            assert!(gap_of(&problem, &solution) <= 1e-9);
            let targets: Vec<f64> = sample.targets.iter().map(|y| (1.0 + y) * scale).collect();
            let mut squared = Problem { targets: &targets, ..sample.problem(&rows, Squared, 0.0, 1.0, bias) };
            squared.penalty.l1 = 0.01 * largest_l1(&squared);
            let solution = solve(&squared, 1e-9);
            assert_eq!(solution.termination, Termination::Converged, "{scale} {bias:?} {solution:?}");
            assert!(gap_of(&squared, &solution) <= 1e-9);
        }
    }
}

#[test]
fn it_stops_when_told_and_says_why() {
    let sample = Sample::random(60, 300, 0.5, 2);
    let rows = sample.sparse();
    let problem = sample.problem(&rows, Logistic, 0.0, 1e-4, Bias::Free);
    let none = solve_with(&problem, None, 1e-10, 0, &mut Unwatched);
    assert_eq!((none.termination, none.steps, none.trace.len()), (Termination::OutOfSteps, 0, 1));
    let two = solve_with(&problem, None, 1e-10, 2, &mut Unwatched);
    assert_eq!((two.termination, two.steps, two.trace.len()), (Termination::OutOfSteps, 2, 3));
    assert!(two.trace[2].objective < two.trace[0].objective);
    let mut told = Vec::new();
    let mut stop_at_one = |progress: Progress| {
        let Progress::Solving { step, objective, .. } = progress else { return Flow::Continue };
        told.push((step, objective));
        if step == 1 { Flow::Stop } else { Flow::Continue }
    };
    let stopped = solve_with(&problem, None, 1e-10, 1000, &mut stop_at_one);
    assert_eq!((stopped.termination, stopped.steps), (Termination::Interrupted, 1));
    assert_eq!(told, stopped.trace.iter().map(|step| (step.step, step.objective)).collect::<Vec<_>>());
    // No number is small enough for a tolerance of zero, or by luck it is.
    let exact = solve(&problem, 0.0);
    assert!(
        exact.termination == Termination::Stalled || gap_of(&problem, &exact) == 0.0,
        "{:?}",
        exact.termination
    );
    assert!(exact.steps < 100 && gap_of(&problem, &exact) < 1e-11);
}

#[test]
fn threads_do_not_change_a_bit() {
    let sample = Sample { row_weights: Vec::new(), ..Sample::random(9000, 40, 0.4, 8) };
    let rows = sample.sparse();
    let problem = sample.problem(&rows, Logistic, 0.0, 1e-3, Bias::Free);
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| solve(&problem, 1e-9).point)
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn many_columns_are_dropped_and_none_that_has_weight() {
    let sample = Sample::random(80, 1500, 0.2, 4);
    let rows = sample.sparse();
    let mut problem = sample.problem(&rows, Logistic, 0.0, 1.0, Bias::Free);
    problem.penalty.l1 = 0.5 * largest_l1(&problem);
    let solution = solve(&problem, 1e-10);
    let start = WarmStart { point: solution.point.clone(), duals: Vec::new() };
    let mut state = ProximalNewton::new(&problem, Some(&start));
    state.centre();
    state.derive();
    state.evaluate_all();
    let weighty: Vec<usize> = (0..1500).filter(|j| solution.point.weights[*j] != 0.0).collect();
    assert!(weighty.len() > 2 && weighty.iter().all(|j| state.alive.contains(j)));
    assert!(
        state.alive.len() < 2 * weighty.len() + 10,
        "{} of 1500 for {} weights",
        state.alive.len(),
        weighty.len()
    );
}

#[test]
fn a_bias_is_moved_to_its_best() {
    let sample = Sample::random(50, 3, 1.0, 6);
    let rows = sample.dense();
    let problem = sample.problem(&rows, Logistic, 0.0, 1.0, Bias::Free);
    for scores in
        [vec![0.0; 50], vec![1000.0; 50], vec![-3.0; 50], (0..50).map(|i| 0.7 * f64::from(i) - 9.0).collect()]
    {
        let shift = best_shift(&problem, &scores);
        let mean = |shift: f64| problem.mean_loss(&scores.iter().map(|s| s + shift).collect::<Vec<_>>());
        assert!(mean(shift) <= mean(shift + 1e-4) && mean(shift) <= mean(shift - 1e-4), "{shift}");
        let slopes: Vec<f64> = (0..50)
            .map(|i| problem.share(i) * Logistic.slope(sample.targets[i], scores[i] + shift))
            .collect();
        assert!(slopes.iter().sum::<f64>().abs() < 1e-12, "{slopes:?}");
    }
}

/// A look before the bias is at its best: slopes that do not balance are no duals, and as they stand they
/// prove too much.
#[test]
fn slopes_that_do_not_balance_prove_nothing_false() {
    let mut sample = Sample::random(40, 5, 1.0, 12);
    sample.targets.iter_mut().step_by(3).for_each(|y| *y = 1.0);
    let rows = sample.dense();
    let (with, without) = (
        sample.problem(&rows, Logistic, 0.0, 0.05, Bias::Free),
        sample.problem(&rows, Logistic, 0.0, 0.05, Bias::None),
    );
    let start = WarmStart { point: solve(&without, 1e-10).point, duals: Vec::new() };
    let mut state = ProximalNewton::new(&with, Some(&start));
    state.derive();
    let gap = state.evaluate_all();
    let least = by_hand(&sample, &with, &solve(&with, 1e-10).point).0;
    assert!(least < 0.98 * state.objective, "the bias must matter");
    assert!(state.bound <= least && (gap - (state.objective - state.bound)).abs() < 1e-12);
}

/// Within a step, too, whatever its passes are.
#[test]
fn whoever_asks_to_stop_is_heard_between_the_passes_of_a_step() {
    let sample = Sample::random(300, 60, 0.7, 3);
    for rows in [sample.sparse(), sample.dense()] {
        let problem = sample.problem(&rows, Logistic, 0.0, 0.003, Bias::Free);
        let zero = by_hand(&sample, &problem, &Point::zero(60)).0;
        for stop in 1..6 {
            let mut asked = 0;
            let mut observer = |progress: Progress| {
                asked += usize::from(progress == Progress::Working);
                if asked >= stop { Flow::Stop } else { Flow::Continue }
            };
            let stopped = solve_with(&problem, None, 1e-10, 1000, &mut observer);
            assert_eq!(stopped.termination, Termination::Interrupted, "{stop}");
            assert!(by_hand(&sample, &problem, &stopped.point).0 <= zero, "{stop}");
        }
    }
}
