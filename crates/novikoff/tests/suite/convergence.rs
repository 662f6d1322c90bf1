//! What fits say of themselves: "converged" where they are, whatever the columns' units and offsets, and no
//! dual above a minimum.

use crate::with::With;
use novikoff::LeastSquares;
use novikoff::control::{Termination, Unwatched};
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report, Scale};
use novikoff::features::Schema;
use novikoff::loss::{Absolute, Exponential, Hinge, Huber, Loss, LossName, Quantile, Squared, SquaredHinge};
use novikoff::multiclass::Scheme;
use novikoff::penalty::Bias;
use novikoff::solver::REACH;
use novikoff::train::{Fit, LearnerName, Risk, RiskFit, SolverName, Strength, train};

fn dataset(rows: &[Vec<f64>], targets: &[f64]) -> Dataset<'static> {
    let mut builder = Builder::new(Layout::Dense { columns: rows[0].len() });
    let indices: Vec<u32> = (0..rows[0].len() as u32).collect();
    rows.iter().for_each(|row| builder.push(&indices, row));
    let names: Vec<String> = targets.iter().map(f64::to_string).collect();
    let labels = Labels::new(&names);
    Dataset {
        rows: builder.finish(),
        labels: names.iter().map(|name| labels.find(name).unwrap()).collect(),
        names: labels,
        row_weights: Vec::new(),
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

fn fit(
    learner: LearnerName,
    lambda: f64,
    solver: SolverName,
    bias: Bias,
    rows: &[Vec<f64>],
    targets: &[f64],
) -> Fit {
    let slow = matches!(solver, SolverName::Gradient | SolverName::Stochastic | SolverName::Boosting);
    let risk = Risk {
        strength: Some(Strength::Lambda(lambda)),
        solver,
        steps: slow.then_some(300),
        // With a penalty, the minimum is one of the rows as they are.
        scale: if lambda > 0.0 { Scale::None } else { Scale::Standard },
        ..Risk::of(LossName::Logistic)
    };
    let settings = learner.learner().with_bias(bias).with_risk(risk);
    train(&dataset(rows, targets), None, &settings, &mut Unwatched).unwrap()
}

fn risk(fit: &Fit) -> &RiskFit {
    fit.risk().unwrap()
}

/// Ten rows that follow one another closely, far from zero, and their classes.
fn times() -> (Vec<Vec<f64>>, Vec<f64>) {
    let rows = (0..10).map(|i| vec![1.7e9 + f64::from(i)]).collect();
    (rows, vec![-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
}

#[test]
fn a_tiny_column_is_fitted_by_least_absolute_deviations() {
    for scale in [1e-150, 1e-12, 1e-10, 1.0, 1e12] {
        let (rows, targets): (Vec<_>, Vec<_>) =
            (1..6).map(|i| (vec![f64::from(i) * scale], f64::from(i))).unzip();
        let fit = fit(LearnerName::LeastAbsolute, 0.0, SolverName::Auto, Bias::Free, &rows, &targets);
        assert_eq!(fit.termination, Termination::Converged, "{scale}");
        assert!(risk(&fit).objective < 1e-12 && risk(&fit).dual.unwrap() < 1e-12, "{scale} {:?}", risk(&fit));
    }
}

#[test]
fn times_and_millionths_do_not_pass_for_arrival() {
    let (far, targets) = times();
    let small: Vec<Vec<f64>> = (0..10).map(|i| vec![f64::from(i) * 1e-6]).collect();
    for rows in [&far, &small] {
        let newton = fit(LearnerName::Logistic, 0.0, SolverName::Newton, Bias::Free, rows, &targets);
        assert_eq!(newton.termination, Termination::Converged);
        let least = risk(&newton).objective;
        assert!(least < 0.55 && risk(&newton).steps > 1, "{:?}", risk(&newton));
        let gradient = fit(LearnerName::Logistic, 0.0, SolverName::Gradient, Bias::Free, rows, &targets);
        assert!(
            gradient.termination != Termination::Converged
                || risk(&gradient).objective <= least * (1.0 + 1e-4)
        );
        let boosting = fit(LearnerName::Boosting, 0.0, SolverName::Auto, Bias::Free, rows, &targets);
        let best = risk(&fit(LearnerName::Exponential, 0.0, SolverName::Newton, Bias::Free, rows, &targets))
            .objective;
        assert!(
            boosting.termination != Termination::Converged
                || risk(&boosting).objective <= best * (1.0 + 1e-4)
        );
    }
}

#[test]
fn classes_learned_jointly_find_the_minimum_in_any_units() {
    let targets: Vec<f64> = [0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 0, 2].map(f64::from).to_vec();
    let mut objectives = Vec::new();
    for (scale, shift) in [(1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 1.7e9)] {
        let rows: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i) * scale + shift]).collect();
        let fit = fit(LearnerName::Logistic, 0.0, SolverName::Auto, Bias::Free, &rows, &targets);
        assert_eq!(
            (fit.termination, fit.scheme),
            (Termination::Converged, Scheme::Joint),
            "{scale} {shift} {:?}",
            risk(&fit)
        );
        objectives.push(risk(&fit).objective);
    }
    assert!(objectives.iter().all(|x| (x - objectives[0]).abs() <= 1e-4 * x), "{objectives:?}");
}

#[test]
fn separable_rows_have_no_minimum_and_are_said_to_have_none() {
    let rows: Vec<Vec<f64>> = [-3.0, -2.0, -1.0, 1.0, 2.5].iter().map(|x| vec![*x]).collect();
    let targets = [-1.0, -1.0, -1.0, 1.0, 1.0];
    for (learner, solver) in [
        (LearnerName::Boosting, SolverName::Auto),
        (LearnerName::Exponential, SolverName::Newton),
        (LearnerName::Logistic, SolverName::Newton),
        (LearnerName::Logistic, SolverName::Gradient),
    ] {
        let fit = fit(learner, 0.0, solver, Bias::None, &rows, &targets);
        assert_eq!(fit.termination, Termination::NotConverged, "{learner:?} {solver:?}");
        let why = risk(&fit).obstacle.as_deref().unwrap();
        assert!(why.contains("separable") && why.contains("`lambda`"), "{why}");
    }
    let three = [0.0, 0.0, 1.0, 2.0, 2.0];
    let joint = fit(LearnerName::Logistic, 0.0, SolverName::Auto, Bias::Free, &rows, &three);
    assert_eq!(joint.termination, Termination::NotConverged);
    assert!(risk(&joint).obstacle.as_deref().unwrap().contains("separable"));
    // A squared hinge is zero from a margin of 1 on: there is a minimum.
    let hinge = fit(LearnerName::SquaredSvm, 0.0, SolverName::Newton, Bias::None, &rows, &targets);
    assert_eq!((hinge.termination, risk(&hinge).objective), (Termination::Converged, 0.0));
}

#[test]
fn newton_knows_the_minimum_when_it_is_there() {
    let (rows, targets) = times();
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| vec![row[0] - 1.7e9]).collect();
    for lambda in [0.0, 1e-8, 0.1] {
        for learner in [LearnerName::Logistic, LearnerName::Exponential, LearnerName::SquaredSvm] {
            let risk = Risk {
                strength: Some(Strength::Lambda(lambda)),
                solver: SolverName::Newton,
                tolerance: 1e-11,
                ..Risk::of(LossName::Logistic)
            };
            let settings = learner.learner().with_risk(risk);
            let fit = train(&dataset(&rows, &targets), None, &settings, &mut Unwatched).unwrap();
            assert_eq!(fit.termination, Termination::Converged, "{learner:?} {lambda} {:?}", fit.risk());
        }
    }
}

/// One class of three is easy, and its small objective takes longer to be right to so many digits than the
/// others' do.
#[test]
fn several_classes_converge_when_their_gap_says_so() {
    let rows: Vec<Vec<f64>> =
        (0..60).map(|i| vec![f64::from(i % 20), f64::from(i * 7 % 11), f64::from(i / 50) * 40.0]).collect();
    let targets: Vec<f64> =
        (0..60).map(|i| if i >= 50 { 2.0 } else { f64::from(u8::from(i % 20 + i * 7 % 3 > 9)) }).collect();
    for steps in 1..60 {
        for learner in [LearnerName::Svm, LearnerName::SquaredSvm, LearnerName::Logistic] {
            let risk = Risk {
                steps: Some(steps),
                tolerance: 1e-2,
                solver: SolverName::DualCd,
                ..Risk::of(LossName::Logistic)
            };
            let settings = learner.learner().with_risk(risk).with_multiclass(Some(Scheme::OneVsRest));
            let fit = train(&dataset(&rows, &targets), None, &settings, &mut Unwatched).unwrap();
            let close = fit.risk().unwrap().relative_gap.unwrap() <= 1e-2;
            assert_eq!(fit.termination == Termination::Converged, close, "{learner:?} after {steps} steps");
        }
    }
}

/// A free bias takes up any shift: the minimum is that of the rows at zero, and no dual may be above it.
#[test]
fn rows_a_trillion_away_have_no_larger_dual() {
    let near: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i * 5 % 12), f64::from(i * i % 7)]).collect();
    let far: Vec<Vec<f64>> = near.iter().map(|row| row.iter().map(|x| x + 1e12).collect()).collect();
    let targets: Vec<f64> =
        (0..12).map(|i| if i % 5 == 0 || near[i][0] > near[i][1] + 3.0 { 1.0 } else { -1.0 }).collect();
    for (learner, loss, solvers) in LEARNERS {
        for lambda in [1e-3, 0.1] {
            let (least, _) =
                Task { loss, rows: &near, targets: &targets, l2: lambda, l1: 0.0, bias: Bias::Free }.least();
            for &solver in
                solvers.iter().filter(|s| !matches!(s, SolverName::Simplex | SolverName::Coordinate))
            {
                let fit = fit(learner, lambda, solver, Bias::Free, &far, &targets);
                let dual = risk(&fit).dual.unwrap();
                assert!(dual <= least * (1.0 + 1e-13), "{learner:?} {solver:?}: {dual} above {least}");
            }
        }
    }
}

/// A sum of products with twice the digits.
fn exact_dot(weights: &[f64], row: &[f64], bias: f64) -> f64 {
    let (mut high, mut low) = (bias, 0.0);
    for (w, x) in weights.iter().zip(row) {
        let product = w * x;
        low += w.mul_add(*x, -product);
        let sum = high + product;
        let part = sum - high;
        low += (high - (sum - part)) + (product - part);
        high = sum;
    }
    high + low
}

/// What is minimised, as the test sees it.
struct Task<'a> {
    loss: LossName,
    rows: &'a [Vec<f64>],
    targets: &'a [f64],
    l2: f64,
    l1: f64,
    bias: Bias,
}

fn value(loss: LossName, y: f64, s: f64) -> f64 {
    match loss {
        LossName::Hinge => Hinge.value(y, s),
        LossName::SquaredHinge => SquaredHinge.value(y, s),
        LossName::Logistic => (-y * s).max(0.0) + (-(y * s).abs()).exp().ln_1p(),
        LossName::Exponential => Exponential.value(y, s),
        LossName::Squared => Squared.value(y, s),
        LossName::Absolute => Absolute.value(y, s),
        LossName::Huber(huber) => huber.value(y, s),
        LossName::Quantile(quantile) => quantile.value(y, s),
        LossName::HingeAtZero => unreachable!(),
    }
}

/// Value, slope and curvature of a loss, whose kinks are rounded off over a width.
fn bend(loss: LossName, y: f64, s: f64, width: f64) -> (f64, f64, f64) {
    let huber = |x: f64| match x {
        x if x < width => (0.5 * x * x / width, x / width, 1.0 / width),
        x => (x - 0.5 * width, 1.0, 0.0),
    };
    let (value, short) = (value(loss, y, s), 1.0 - y * s);
    match loss {
        LossName::Hinge if short > 0.0 => (huber(short).0, -y * huber(short).1, huber(short).2),
        LossName::SquaredHinge if short > 0.0 => (value, -2.0 * y * short, 2.0),
        LossName::Hinge | LossName::SquaredHinge => (0.0, 0.0, 0.0),
        LossName::Logistic => {
            let p = 1.0 / (1.0 + (y * s).exp());
            (value, -y * p, p * (1.0 - p))
        }
        LossName::Exponential => (value, -y * value, value),
        LossName::Squared => (value, 2.0 * (s - y), 2.0),
        LossName::Absolute => (huber(value).0, (s - y).signum() * huber(value).1, huber(value).2),
        LossName::Huber(Huber { width: w }) if (s - y).abs() > w => (value, 2.0 * w * (s - y).signum(), 0.0),
        LossName::Huber(_) => (value, 2.0 * (s - y), 2.0),
        LossName::Quantile(Quantile { level }) => {
            let steep = if s > y { 1.0 - level } else { level };
            let (value, slope, curvature) = huber((s - y).abs());
            (steep * value, steep * slope * (s - y).signum(), steep * curvature)
        }
        LossName::HingeAtZero => unreachable!(),
    }
}

impl Task<'_> {
    /// The objective of a model, with twice the digits.
    fn objective(&self, weights: &[f64], bias: f64) -> f64 {
        let losses = self
            .rows
            .iter()
            .zip(self.targets)
            .map(|(row, y)| value(self.loss, *y, exact_dot(weights, row, bias)));
        let restrained = weights.iter().chain((self.bias == Bias::Penalised).then_some(&bias));
        losses.sum::<f64>() / self.rows.len() as f64
            + restrained.map(|w| 0.5 * self.l2 * w * w + self.l1 * w.abs()).sum::<f64>()
    }

    /// An objective that some weights have, and their length in units of the columns: Newton's method on
    /// kinks rounded off ever less, with columns centred where a free bias allows it, and scaled.
    fn least(&self) -> (f64, f64) {
        let (n, d) = (self.rows.len(), self.rows[0].len());
        let free = self.bias == Bias::Free || self.bias == Bias::Penalised && self.l2 + self.l1 == 0.0;
        let column = |j: usize| self.rows.iter().map(move |row| row[j]);
        let centre: Vec<f64> =
            (0..d).map(|j| if free { column(j).nth(n / 2).unwrap() } else { 0.0 }).collect();
        let unit = |j: usize| match column(j).map(|x| (x - centre[j]).abs()).fold(0.0, f64::max) {
            0.0 => 1.0,
            largest => largest.log2().floor().exp2(),
        };
        let mut units: Vec<f64> = (0..d).map(unit).collect();
        let mut rows: Vec<Vec<f64>> =
            self.rows.iter().map(|row| (0..d).map(|j| (row[j] - centre[j]) / units[j]).collect()).collect();
        if self.bias != Bias::None {
            rows.iter_mut().for_each(|row| row.push(1.0));
            units.push(if free { f64::INFINITY } else { 1.0 });
        }
        // The cost with kinks rounded off over a width, and what Newton's method makes of it: a line for each
        // weight.
        let evaluate = |v: &[f64], width: f64| {
            let (mut cost, mut lines) = (0.0, vec![vec![0.0; v.len() + 1]; v.len()]);
            for (row, y) in rows.iter().zip(self.targets) {
                let (value, slope, curvature) = bend(self.loss, *y, exact_dot(v, row, 0.0), width);
                cost += value / n as f64;
                for (line, x) in lines.iter_mut().zip(row) {
                    line.iter_mut().zip(row).for_each(|(a, z)| *a += curvature * x * z / n as f64);
                    line[v.len()] -= slope * x / n as f64;
                }
            }
            for (j, unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_finite()) {
                let (w, soft) = (v[j] / unit, v[j].hypot(width).max(1e-300) / unit);
                cost += 0.5 * self.l2 * w * w + self.l1 * (soft - width / unit);
                lines[j][v.len()] -= (self.l2 * w + self.l1 * w / soft) / unit;
                lines[j][j] += (self.l2 + self.l1 * (width / unit / soft).powi(2) / soft) / unit.powi(2);
            }
            (cost, lines)
        };
        let mut v = vec![0.0; units.len()];
        let mut best = (f64::INFINITY, v.clone());
        for width in (0..11).map(|power| 100.0 * 0.1f64.powi(power)) {
            for _ in 0..40 {
                let (here, lines) = evaluate(&v, width);
                // Where hardly a row is on a bend, more of a ridge makes a better direction.
                let next = [1e-15, 1e-9, 1e-6, 1e-4, 1e-2, 1.0].iter().find_map(|ridge| {
                    let mut lines = lines.clone();
                    (0..v.len()).for_each(|j| lines[j][j] += ridge);
                    let direction = solve(lines);
                    let along = |length: f64| {
                        v.iter().zip(&direction).map(|(v, d)| v + length * d).collect::<Vec<f64>>()
                    };
                    (0..20)
                        .map(|k| along(0.5f64.powi(k)))
                        .find(|next| evaluate(next, width).0 < here * (1.0 - 1e-14))
                });
                let Some(next) = next else { break };
                v = next;
            }
            let cost = evaluate(&v, 1e-300).0;
            if cost < best.0 {
                best = (cost, v.clone());
            }
        }
        (best.0, best.1[..d].iter().map(|v| v * v).sum::<f64>().sqrt())
    }

    /// What a learner makes of it, if it has an answer.
    fn fit(&self, learner: LearnerName, solver: SolverName) -> Option<Fit> {
        let risk = Risk {
            strength: Some(Strength::Lambda(self.l2)),
            l1: self.l1,
            solver,
            steps: matches!(solver, SolverName::Gradient | SolverName::Stochastic).then_some(200),
            scale: Scale::None,
            ..Risk::of(LossName::Logistic)
        };
        let settings = learner.learner().with_bias(self.bias).with_risk(risk);
        train(&dataset(self.rows, self.targets), None, &settings, &mut Unwatched).ok()
    }

    /// Holds what a fit says of itself against its weights, and against a minimum found otherwise, with the
    /// length of its weights. Returns the objective of the fit's weights.
    fn check(&self, fit: &Fit, (least, length): (f64, f64), what: &str) -> f64 {
        let weights = fit.model.scorer.weights().unwrap();
        let own = self.objective(&weights.values, weights.bias[0]);
        let found = fit.risk().unwrap();
        let converged = fit.termination == Termination::Converged;
        assert!((own - found.objective).abs() <= 1e-6 * own + 1e-9, "{what}: {own} is {found:?}");
        // A ball that holds the weights of the other minimum.
        if self.l2 + self.l1 > 0.0 || length <= 0.5 * REACH {
            let is_bound = found.dual.is_none_or(|dual| dual <= least * (1.0 + 1e-13));
            assert!(is_bound, "{what}: {least}, {found:?}");
            assert!(!converged || own - least <= 1e-4 * own + 1e-9, "{what}: {own}, {least}, {found:?}");
        }
        let has_small_gap = found.met || found.relative_gap.is_some_and(|gap| gap <= 1e-4);
        assert_eq!(converged, has_small_gap, "{what}: {found:?}");
        own
    }
}

/// Gauss's elimination, with zero for what no equation tells.
fn solve(mut lines: Vec<Vec<f64>>) -> Vec<f64> {
    let n = lines.len();
    for column in 0..n {
        let at =
            (column..n).max_by(|&a, &b| lines[a][column].abs().total_cmp(&lines[b][column].abs())).unwrap();
        lines.swap(column, at);
        let pivot = lines[column].clone();
        for line in lines.iter_mut().skip(column + 1).filter(|_| pivot[column] != 0.0) {
            let factor = line[column] / pivot[column];
            line.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut found = vec![0.0; n];
    for j in (0..n).rev() {
        let rest: f64 = (j + 1..n).map(|k| lines[j][k] * found[k]).sum();
        let x = (lines[j][n] - rest) / lines[j][j];
        found[j] = if x.is_finite() { x } else { 0.0 };
    }
    found
}

const LEARNERS: [(LearnerName, LossName, &[SolverName]); 9] = {
    use SolverName::*;
    [
        (LearnerName::Svm, LossName::Hinge, &[Augmented, DualCd, Gradient, Stochastic]),
        (LearnerName::SquaredSvm, LossName::SquaredHinge, &[Newton, Augmented, DualCd, Gradient, Coordinate]),
        (
            LearnerName::Logistic,
            LossName::Logistic,
            &[Newton, Augmented, DualCd, Gradient, Stochastic, Coordinate],
        ),
        (LearnerName::Exponential, LossName::Exponential, &[Newton, Gradient, Coordinate]),
        (LearnerName::Boosting, LossName::Exponential, &[Boosting]),
        (
            LearnerName::LeastSquares,
            LossName::Squared,
            &[LeastSquares, Newton, Augmented, DualCd, Gradient, Coordinate],
        ),
        (LearnerName::LeastAbsolute, LossName::Absolute, &[Simplex, Augmented, DualCd, Gradient]),
        (
            LearnerName::Huber,
            LossName::Huber(Huber { width: 1.0 }),
            &[Newton, Augmented, DualCd, Gradient, Coordinate],
        ),
        (
            LearnerName::Quantile,
            LossName::Quantile(Quantile { level: 0.5 }),
            &[Simplex, Augmented, DualCd, Gradient],
        ),
    ]
};

/// Every learner, penalty, bias and solver, on columns of odd sizes and far from zero, against minima found
/// otherwise.
#[test]
fn converged_is_said_only_of_minima() {
    let grid: Vec<(f64, f64)> =
        (0..12).map(|i| (f64::from(i * 5 % 12) - 4.0, f64::from(i * i % 7) - 2.5)).collect();
    let signs: Vec<f64> =
        (0..12).map(|i| if i % 5 == 0 || grid[i].0 + grid[i].1 > 1.0 { 1.0 } else { -1.0 }).collect();
    let numbers: Vec<f64> = (0..12).map(|i| grid[i].0 - 2.0 * grid[i].1 + (i * 7 % 5) as f64).collect();
    let mut all: Vec<(bool, String)> = Vec::new();
    for (scale, shift) in
        [1e-12, 1e-6, 3e-5, 1.0, 1e6].into_iter().flat_map(|scale| [(scale, 0.0), (scale, 1.7e9)])
    {
        let columns = format!("columns times {scale} plus {shift}");
        let rows: Vec<Vec<f64>> = grid.iter().map(|(a, b)| vec![a * scale + shift, *b]).collect();
        for (learner, loss, solvers) in LEARNERS {
            let targets = if learner.predicts_numbers() { &numbers } else { &signs };
            for (l2, l1, bias) in [(0.0, 0.0), (0.1, 0.0), (0.0, 0.02)]
                .into_iter()
                .flat_map(|(l2, l1)| [Bias::Free, Bias::Penalised, Bias::None].map(|bias| (l2, l1, bias)))
            {
                let task = Task { loss, rows: &rows, targets, l2, l1, bias };
                let minimum = task.least();
                for &solver in solvers {
                    let what = format!("{learner:?} {solver:?} λ {l2} ℓ1 {l1} {bias:?}, {columns}");
                    let Some(fit) = task.fit(learner, solver) else { continue };
                    let own = task.check(&fit, minimum, &what);
                    let (least, found) = (minimum.0, fit.risk().unwrap());
                    let converged = fit.termination == Termination::Converged;
                    let slow = matches!(
                        solver,
                        SolverName::Gradient | SolverName::Stochastic | SolverName::Boosting
                    );
                    // With millionths at a billion, a bias has too few digits.
                    let digits = shift == 0.0 || bias == Bias::Free && scale != 1e-6 && scale != 3e-5;
                    let easy = scale == 1.0 && shift == 0.0 || l2 + l1 == 0.0 && digits;
                    if easy && !slow {
                        assert!(least <= own * (1.0 + 1e-6), "{what}: {own} where the test found {least}");
                        all.push((
                            converged,
                            format!("{what}: {:?}", (found.objective, least, found.dual, found.steps)),
                        ));
                    }
                }
            }
        }
    }
    let not: Vec<&str> = all.iter().filter(|(converged, _)| !converged).map(|(_, what)| &what[..]).collect();
    assert!(
        not.is_empty(),
        "{} of {} are not said to have converged:\n{}",
        not.len(),
        all.len(),
        not.join("\n")
    );
}

/// Products of such numbers overflow in arithmetic with twice the digits: a row must not vanish from the
/// objective by that.
#[test]
fn rows_of_enormous_values_are_part_of_the_objective() {
    let enormous = [2e300, -2e300, 2e300, -2e300].map(|x| vec![x, 1.0, 0.0]);
    let rows: Vec<Vec<f64>> =
        enormous.into_iter().chain([1.0, 2.0, -1.0].map(|x| vec![0.0, 0.0, x])).collect();
    let targets = [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0];
    let settings = |solver| {
        LearnerName::SquaredSvm.learner().with_bias(Bias::None).with_risk(Risk {
            strength: Some(Strength::Lambda(0.1)),
            solver,
            ..Risk::of(LossName::Logistic)
        })
    };
    for solver in [SolverName::Newton, SolverName::DualCd, SolverName::Augmented] {
        let Ok(fit) = train(&dataset(&rows, &targets), None, &settings(solver), &mut Unwatched) else {
            continue;
        };
        let weights = &fit.model.scorer.weights().unwrap().values;
        let losses = rows.iter().zip(targets).map(|(row, y)| {
            let score: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            (1.0 - y * score).max(0.0).powi(2)
        });
        let own = losses.sum::<f64>() / 7.0 + 0.05 * weights.iter().map(|w| w * w).sum::<f64>();
        assert!((risk(&fit).objective - own).abs() <= 1e-6 * own, "{solver:?}: {own} {:?}", risk(&fit));
        assert!(
            fit.termination != Termination::Converged || own < 0.958,
            "{solver:?}: {own} {:?}",
            risk(&fit)
        );
    }
}

/// Squares of such targets are zero in doubles, whatever is predicted.
#[test]
fn an_objective_that_underflows_is_no_minimum() {
    let rows: Vec<Vec<f64>> = [1.0, 2.0, 3.0].map(|x| vec![x]).into();
    let targets = [1e-170, 2e-170, -1e-170];
    for (lambda, solver) in [
        (0.1, SolverName::Auto),
        (0.1, SolverName::Newton),
        (0.0, SolverName::Auto),
        (0.0, SolverName::Newton),
    ] {
        let fit = fit(LearnerName::LeastSquares, lambda, solver, Bias::Free, &rows, &targets);
        assert_eq!(fit.termination, Termination::NotConverged, "{lambda} {solver:?} {:?}", risk(&fit));
    }
    let met = fit(LearnerName::LeastSquares, 0.0, SolverName::Auto, Bias::Free, &rows, &[0.0; 3]);
    assert_eq!(met.termination, Termination::Converged);
}

/// Large targets that lie close together are met if what is left of them is small beside their spread.
#[test]
fn large_targets_are_met_only_where_their_deviations_are() {
    let rows: Vec<Vec<f64>> = (0..200).map(|i| vec![f64::from(i * 37 % 101) / 10.0]).collect();
    for (centre, spread) in [(1e18, 1e2), (1.7e12, 50.0), (9_007_199_254_740_992.0, 60.0), (1e9, 1.0)] {
        // Nothing to do with the rows.
        let targets: Vec<f64> =
            (0..200).map(|i| centre + spread * (f64::from(i * 59 % 97) / 48.0 - 1.0)).collect();
        let fit = fit(LearnerName::LeastSquares, 0.0, SolverName::Auto, Bias::Free, &rows, &targets);
        assert!(!fit.risk().unwrap().met, "{centre} {spread} {:?}", risk(&fit));
    }
    let exact: Vec<f64> = rows.iter().map(|row| 1e6 + 3.0 * row[0]).collect();
    let met = fit(LearnerName::LeastSquares, 0.0, SolverName::Auto, Bias::Free, &rows, &exact);
    assert_eq!(met.termination, Termination::Converged);
    assert!(met.risk().unwrap().met);
}

/// Rows on a line, far from zero: the largest margin is half of the distance of the classes.
#[test]
fn margins_are_bounded_in_spite_of_rounding() {
    for (at, tolerance) in [1e3, 1e5, 1e6, 3e6].into_iter().flat_map(|at| [(at, 1e-4), (at, 1e-11)]) {
        let places = [(-2.1, -1.0), (-3.7, -1.0), (1.3, 1.0), (2.9, 1.0), (1.9, 1.0)];
        let (rows, targets): (Vec<_>, Vec<f64>) = places.into_iter().map(|(x, y)| (vec![at + x], y)).unzip();
        let widest = ((at + 1.3) - (at - 2.1)) / 2.0;
        let risk = Risk { tolerance, ..Risk::of(LossName::Logistic) };
        let settings = LearnerName::MaxMargin.learner().with_bias(Bias::Free).with_risk(risk);
        let fit = train(&dataset(&rows, &targets), None, &settings, &mut Unwatched).unwrap();
        let (lower, upper) = fit.risk().unwrap().margin.unwrap();
        assert!(lower <= widest && widest <= upper, "{at}: {lower} {widest} {upper}");
        assert!(
            fit.termination != Termination::Converged || widest - lower <= tolerance * widest,
            "{at}: {lower} {widest}"
        );
        assert!(
            tolerance < 1e-4 || at > 1e4 || fit.termination == Termination::Converged,
            "{at} {tolerance} {lower} {upper}"
        );
    }
}

/// Without a penalty, nothing holds a bias that is much larger than the weights: what is proved must be proved of
/// points such as the one returned.
#[test]
fn a_large_bias_that_nothing_penalises_is_no_excuse_to_stop() {
    let x = [0.5, 1.6, 0.54, 0.36, 1.1, 0.02];
    let y = [10002.15, 10005.37, 10002.58, 10001.47, 10003.35, 10000.43];
    let data = Dataset::from_dense(&x, 1).unwrap().with_targets(&y).unwrap();
    let mean_x = x.iter().sum::<f64>() / 6.0;
    let mean_y = y.iter().sum::<f64>() / 6.0;
    let slope = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
        / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>();
    let residual = |(x, y): (&f64, f64)| (y - mean_y - slope * (x - mean_x)).powi(2);
    let least = x.iter().zip(y).map(residual).sum::<f64>() / 6.0;
    for scale in [Scale::None, Scale::MaxAbs, Scale::UnitVariance, Scale::Standard] {
        for bias in [Bias::Free, Bias::Penalised] {
            for solver in [SolverName::Auto, SolverName::Newton, SolverName::Gradient] {
                let learner = LeastSquares::new().scale(scale).bias(bias).solver(solver).steps(200);
                let fit = learner.fit(&data).unwrap();
                let found = fit.risk().unwrap();
                let close = found.objective <= least * (1.0 + 2e-4);
                let what = format!("{scale:?} {bias:?} {solver:?}: {found:?}");
                assert!(fit.termination != Termination::Converged || close, "{what}");
                assert!(found.dual.is_none_or(|dual| dual <= found.objective), "{what}");
            }
        }
    }
}
