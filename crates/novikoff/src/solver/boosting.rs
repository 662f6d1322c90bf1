//! Boosting: the exponential loss, one coordinate at a time.
//!
//! The problem is `min F(w, b) = (1/n) Σ cᵢ exp(−yᵢ(<w, xᵢ> + b)) + (λ/2)‖w‖²`. A round takes the coordinate
//! `j` with the largest `|∂F/∂wⱼ|` and minimises `F` along it. With the distribution `dᵢ ∝ cᵢ exp(−yᵢsᵢ)`
//! over the rows, and λ = 0, that is the feature with the largest edge `|Σ dᵢyᵢxᵢⱼ|`: AdaBoost (Freund and
//! Schapire, 1997) as coordinate descent (Breiman; Mason, Baxter, Bartlett and Frean, "Boosting algorithms as
//! gradient descent", 1999).

use super::gap_schedule::GapSchedule;
use super::gap_schedule::ProofSchedule;
use super::{Control, Recorder, Solution, Solver, Termination, WarmStart, gap_in_ball};
use crate::data::Matrix;
use crate::loss::{Exponential, Loss};
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem, duality_gap};
use rayon::prelude::*;

/// Coordinate-wise boosting, AdaBoost's view of the exponential loss: every round takes the feature along
/// which the objective is steepest, and moves its weight to the minimum along it. For features that are ±1
/// (or 0) that is AdaBoost's own step, `½·log(weight of rows it gets right / weight of rows it gets wrong)`.
/// The bias is one more feature, 1 in every row.
///
/// Without a penalty there may be no minimum: on separable data the objective falls towards 0 while the
/// weights grow. A round moves no score by more than 40, so they stay numbers, and the end comes where the
/// objective is below the tolerance times that of zero weights and every row is on its side
/// ([`Termination::Diverging`]), where no feature does better than chance by more than the tolerance and a
/// gap confirms that, or with the last step.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Exponential;
/// use novikoff::penalty::{Bias, L2};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Boosting, Control, Termination, Solver};
///
/// let mut builder = Builder::new(Layout::Dense { columns: 1 });
/// for x in [2.0, 1.0, -1.0, -3.0] {
///     builder.push(&[0], &[x]);
/// }
/// let (rows, targets) = (builder.finish(), [1.0, 1.0, -1.0, -1.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 4.0,
///     loss: Exponential, penalty: L2(0.0), bias: Bias::None,
/// };
/// let (mut unwatched, output) = (Unwatched, (0, 1));
/// let watch = Watch::new(&mut unwatched);
/// let control = Control { tolerance: 1e-3, steps: 100, seed: 0, output, trace: true, watch: &watch };
/// let solution = Boosting.solve(&problem, None, &control);
/// // Separable: as small as was asked for, with weights that are numbers, and no minimum.
/// assert_eq!(solution.termination, Termination::Diverging);
/// assert!(solution.trace.last().unwrap().objective <= 1e-3 && solution.point.weights[0].is_finite());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boosting;

/// The most that a round changes a score by: e^−40 is nothing beside 1, and e^40 is far from an overflow.
const FARTHEST: f64 = 40.0;

impl Solver<Exponential, L2> for Boosting {
    fn solve(
        &self,
        problem: &Problem<'_, Exponential, L2>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        let features = Columns::of(problem.rows);
        let mut state = BoostingState::new(problem, start);
        let (mut recorder, mut gap_schedule) = (Recorder::new(control), GapSchedule::default());
        let at_zero = problem.sum(|i| problem.share(i));
        let (mut steps, mut proofs) = (0, ProofSchedule::new(control.tolerance));
        let termination = loop {
            let (steepest, edge) = state.steepest(&features);
            let (mut relative, mut has_converged, mut is_diverging) = (None, false, false);
            if problem.penalty.0 == 0.0 {
                is_diverging =
                    state.objective <= control.tolerance * at_zero && problem.separates(&state.scores);
                has_converged = !is_diverging && proofs.proves(edge, || state.is_proven_minimum(control));
            } else if gap_schedule.is_due(steps) || steps == control.steps {
                state.refresh();
                let gap = duality_gap(problem, &state.point, &state.scores, None);
                relative = gap.relative();
                has_converged = gap.within(control.tolerance);
            }
            let slope = state.gradient(steepest).abs();
            let stop = recorder.step(state.objective, relative, Some(slope), Some(&state.point));
            if has_converged || problem.is_empty() {
                break Termination::Converged;
            } else if is_diverging {
                break Termination::Diverging;
            } else if stop {
                break Termination::Interrupted;
            } else if steps == control.steps {
                break Termination::OutOfSteps;
            } else if !state.boost(&features, steepest) {
                break Termination::Stalled;
            }
            steps += 1;
        };
        recorder.finish(state.point, None, termination)
    }
}

/// The state between rounds.
struct BoostingState<'a> {
    problem: &'a Problem<'a, Exponential, L2>,
    point: Point,
    scores: Vec<f64>,
    /// `shareᵢ·exp(−yᵢ·sᵢ)`: AdaBoost's distribution over rows, but for a factor.
    weights: Vec<f64>,
    objective: f64,
    /// The slope of the loss along every coordinate, the bias last.
    slopes: Vec<f64>,
}

impl<'a> BoostingState<'a> {
    fn new(problem: &'a Problem<'a, Exponential, L2>, start: Option<&WarmStart>) -> Self {
        let zero = Point::zero(problem.rows.columns());
        let mut state = Self {
            problem,
            point: start.map_or_else(|| zero.clone(), |start| start.point.clone()),
            scores: vec![0.0; problem.len()],
            weights: vec![0.0; problem.len()],
            objective: 0.0,
            slopes: Vec::new(),
        };
        state.refresh();
        if !state.objective.is_finite() {
            state.point = zero;
            state.refresh();
        }
        state
    }

    /// Computes everything anew from the point: sums of many steps forget digits.
    fn refresh(&mut self) {
        self.problem.scores_into(&self.point, &mut self.scores);
        self.weights = self.problem.each(|i| self.weight(i, self.scores[i]));
        self.objective = self.loss() + self.problem.penalty_of(&self.point);
    }

    /// Whether the point is proven to be a minimum, without a penalty.
    fn is_proven_minimum(&self, control: &Control<'_>) -> bool {
        let asked = (control.tolerance, control.watch);
        gap_in_ball(self.problem, &self.point, &self.scores, None, asked).0.within(control.tolerance)
    }

    fn weight(&self, i: usize, score: f64) -> f64 {
        self.problem.share(i) * Exponential.value(self.problem.targets[i], score)
    }

    fn loss(&self) -> f64 {
        self.problem.sum(|i| self.weights[i])
    }

    fn ridge(&self, coordinate: usize) -> f64 {
        let free = coordinate == self.point.weights.len() && self.problem.bias != Bias::Penalised;
        if free { 0.0 } else { self.problem.penalty.0 }
    }

    fn weight_of(&self, coordinate: usize) -> f64 {
        self.point.weights.get(coordinate).copied().unwrap_or(self.point.bias)
    }

    /// The slope of the objective along a coordinate.
    fn gradient(&self, coordinate: usize) -> f64 {
        self.slopes
            .get(coordinate)
            .map_or(0.0, |slope| slope + self.ridge(coordinate) * self.weight_of(coordinate))
    }

    /// The coordinate along which the objective is steepest (the first of equals), and the largest edge of
    /// any: how much better than chance a feature tells the rows apart as they are weighted now, between 0
    /// and 1.
    fn steepest(&mut self, features: &Columns) -> (usize, f64) {
        let (targets, weights) = (self.problem.targets, &self.weights);
        let slope = |j: usize| -features.entries(j).map(|(i, x)| weights[i] * targets[i] * x).sum::<f64>();
        self.slopes = (0..features.len()).into_par_iter().with_min_len(16).map(slope).collect();
        if self.problem.bias != Bias::None {
            self.slopes.push(-self.problem.sum(|i| weights[i] * targets[i]));
        }
        let loss = self.loss();
        let (mut best, mut edge) = (0, 0.0f64);
        for j in 0..self.slopes.len() {
            if self.gradient(j).abs() > self.gradient(best).abs() {
                best = j;
            }
            edge = edge.max(self.slopes[j].abs() / (loss * features.largest(j)).max(f64::MIN_POSITIVE));
        }
        (best, edge)
    }

    /// Moves one coordinate to the minimum along it. Returns whether the objective fell.
    fn boost(&mut self, features: &Columns, coordinate: usize) -> bool {
        let targets = self.problem.targets;
        let is_bias = coordinate == features.len();
        // The rows that the coordinate moves, with their values.
        let entries: Vec<(usize, f64)> = match is_bias {
            true => (0..self.problem.len()).map(|i| (i, 1.0)).collect(),
            false => features.entries(coordinate).collect(),
        };
        let terms: Vec<(f64, f64)> =
            entries.iter().map(|&(i, x)| (self.weights[i], targets[i] * x)).collect();
        let lambda = self.ridge(coordinate);
        let step = match features.common(coordinate) {
            Some(size) if lambda == 0.0 => closed_form(&terms, size),
            _ => line_search(
                &terms,
                lambda,
                self.weight_of(coordinate),
                FARTHEST / features.largest(coordinate),
            ),
        };
        let before = self.point.clone();
        *self.point.weights.get_mut(coordinate).unwrap_or(&mut self.point.bias) += step;
        if !step.is_finite() || self.point == before {
            self.point = before;
            return false;
        }
        for &(i, x) in &entries {
            self.scores[i] += step * x;
            self.weights[i] = self.weight(i, self.scores[i]);
        }
        let objective = self.loss() + self.problem.penalty_of(&self.point);
        if objective < self.objective {
            self.objective = objective;
            return true;
        }
        self.point = before;
        self.refresh();
        false
    }
}

/// AdaBoost's step along a feature that is `±size` wherever it is not zero.
fn closed_form(terms: &[(f64, f64)], size: f64) -> f64 {
    let (mut right, mut wrong) = (0.0, 0.0);
    terms.iter().for_each(|(weight, z)| *if *z > 0.0 { &mut right } else { &mut wrong } += weight);
    let odds: f64 = if right == wrong { 1.0 } else { right / wrong };
    (0.5 * odds.ln()).clamp(-FARTHEST, FARTHEST) / size
}

/// Where `Σ weight·exp(−z·step) + (λ/2)(w + step)²` is least, within `±farthest`: Newton's method in a
/// bracket.
fn line_search(terms: &[(f64, f64)], lambda: f64, w: f64, farthest: f64) -> f64 {
    let slopes = |step: f64| {
        let mut all = (lambda * (w + step), lambda);
        for (weight, z) in terms {
            let term = weight * z * (-z * step).exp();
            all.0 -= term;
            all.1 += z * term;
        }
        all
    };
    if terms.is_empty() {
        return if lambda > 0.0 { -w } else { 0.0 };
    }
    let (mut slope, mut curvature) = slopes(0.0);
    let far = -slope.signum() * farthest;
    if slope == 0.0 || !far.is_finite() {
        return 0.0;
    }
    if slopes(far).0 * far <= 0.0 {
        return far;
    }
    // The slope has the sign of its value at 0 from `near` on down, and the other one at `beyond`.
    let (mut near, mut beyond, mut step, mut stride) = (0.0, far, 0.0, farthest);
    for _ in 0..200 {
        // Newton's steps crawl where the exponential is steep: one that does not halve the last one is not
        // taken.
        let newton = step - slope / curvature;
        let within = (newton - near) * (newton - beyond) <= 0.0 && (newton - step).abs() <= 0.5 * stride;
        let next: f64 = if within { newton } else { 0.5 * (near + beyond) };
        stride = (next - step).abs();
        step = next;
        if stride <= 1e-15 * step.abs() {
            break;
        }
        (slope, curvature) = slopes(step);
        if slope * far < 0.0 { near = step } else { beyond = step }
    }
    step
}

/// The columns of a matrix: which rows have an entry in each, and what it is.
struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// The largest absolute value of each.
    largest: Vec<f64>,
    /// Whether all entries of a column have that one.
    alike: Vec<bool>,
}

impl Columns {
    fn of(matrix: &Matrix) -> Self {
        let columns = matrix.columns();
        let mut starts = vec![0; columns + 1];
        (0..matrix.rows()).for_each(|i| matrix.row(i).for_each_nonzero(|j, _| starts[j as usize + 1] += 1));
        for j in 0..columns {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let (mut rows, mut values) = (vec![0; starts[columns]], vec![0.0; starts[columns]]);
        for i in 0..matrix.rows() {
            matrix.row(i).for_each_nonzero(|j, x| {
                let at = &mut next[j as usize];
                (rows[*at], values[*at]) = (i as u32, x);
                *at += 1;
            });
        }
        let column = |j: usize| &values[starts[j]..starts[j + 1]];
        let largest: Vec<f64> =
            (0..columns).map(|j| column(j).iter().fold(0.0, |most, x| x.abs().max(most))).collect();
        let alike = (0..columns).map(|j| column(j).iter().all(|x| x.abs() == largest[j])).collect();
        Self { starts, rows, values, largest, alike }
    }

    fn len(&self) -> usize {
        self.largest.len()
    }

    fn entries(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let span = self.starts[j]..self.starts[j + 1];
        self.rows[span.clone()].iter().map(|&i| i as usize).zip(self.values[span].iter().copied())
    }

    /// The largest absolute value of a column; 1 beyond the last, where the bias is.
    fn largest(&self, j: usize) -> f64 {
        self.largest.get(j).copied().unwrap_or(1.0)
    }

    /// The one absolute value that all entries have.
    fn common(&self, j: usize) -> Option<f64> {
        self.alike.get(j).is_none_or(|alike| *alike).then(|| self.largest(j)).filter(|size| *size > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BIASES, dense, objective, problem, same_on_any_threads, solve, sparse};
    use super::super::{GradientDescent, Schedule};
    use super::*;
    use crate::control::{Flow, Progress, Watch};
    use proptest::prelude::*;

    /// AdaBoost as its authors print it: a distribution over rows, the feature with the largest edge, half
    /// the log of the odds. `None` if a feature has all rows right, or two are equally good.
    fn adaboost(rows: &[Vec<f64>], targets: &[f64], row_weights: &[f64], rounds: usize) -> Option<Vec<f64>> {
        let mut weights = vec![0.0; rows[0].len()];
        let mut distribution = row_weights.to_vec();
        for _ in 0..rounds {
            let total: f64 = distribution.iter().sum();
            distribution.iter_mut().for_each(|d| *d /= total);
            let edge = |j: usize| {
                rows.iter().zip(targets).zip(&distribution).map(|((x, y), d)| d * y * x[j]).sum::<f64>()
            };
            let mut edges: Vec<(f64, usize)> = (0..weights.len()).map(|j| (edge(j), j)).collect();
            edges.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
            let (edge, best) = edges[0];
            if edge.abs() > 1.0 - 1e-6 || edge.abs() < edges[1].0.abs() + 1e-9 {
                return None;
            }
            let alpha = 0.5 * ((1.0 + edge) / (1.0 - edge)).ln();
            weights[best] += alpha;
            for ((d, x), y) in distribution.iter_mut().zip(rows).zip(targets) {
                *d *= (-alpha * y * x[best]).exp();
            }
        }
        Some(weights)
    }

    fn signs(bits: &[bool]) -> Vec<f64> {
        bits.iter().map(|b| if *b { 1.0 } else { -1.0 }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn on_signs_it_is_adaboost(
            rows in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 3..30),
            labels in prop::collection::vec(any::<bool>(), 30),
            row_weights in prop::collection::vec(0.1..3.0f64, 30),
            rounds in 0usize..6,
        ) {
            let (rows, targets): (Vec<Vec<f64>>, _) =
                (rows.iter().map(|r| signs(r)).collect(), signs(&labels[..rows.len()]));
            let (matrix, row_weights) = (dense(&rows), &row_weights[..rows.len()]);
            let expected = adaboost(&rows, &targets, row_weights, rounds);
            prop_assume!(expected.is_some());
            let task = problem(&matrix, &targets, Exponential, 0.0, Bias::None);
            let task = Problem { row_weights, total: row_weights.iter().sum(), ..task };
            let found = solve(&Boosting, &task, None, 1e-9, rounds);
            for (found, expected) in found.point.weights.iter().zip(expected.unwrap()) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }

        #[test]
        fn a_line_search_finds_where_the_slope_is_zero(
            terms in prop::collection::vec((0.001..1.0f64, 0.01..3.0f64, any::<bool>()), 1..12),
            lambda in prop::sample::select(vec![0.0, 0.01, 2.0]),
            w in -2.0..2.0f64,
        ) {
            let terms: Vec<(f64, f64)> = terms.iter()
                .map(|(weight, z, up)| (*weight, if *up { *z } else { -z })).collect();
            let largest = terms.iter().fold(0.0f64, |m, t| m.max(t.1.abs()));
            let farthest = FARTHEST / largest;
            let found = line_search(&terms, lambda, w, farthest);
            let value = |step: f64| {
                terms.iter().map(|(weight, z)| weight * (-z * step).exp())
                    .sum::<f64>() + 0.5 * lambda * (w + step).powi(2)
            };
            prop_assert!(found.abs() <= farthest);
            for other in [0.0, 1e-3, -1e-3, 0.1, -0.1, 1.0, -1.0, farthest - found, -farthest - found] {
                let other = (found + other).clamp(-farthest, farthest);
                prop_assert!(value(found) <= value(other) * (1.0 + 1e-12), "{found} {other}");
            }
            // Where all entries are ±1 there is a formula.
            let ones: Vec<(f64, f64)> = terms.iter().map(|(weight, z)| (*weight, z.signum())).collect();
            let (a, b) = (closed_form(&ones, 1.0), line_search(&ones, 0.0, w, FARTHEST));
            prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} {b}");
        }

        #[test]
        fn it_comes_to_where_gradient_descent_comes(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 3), 4..20),
            labels in prop::collection::vec(any::<bool>(), 20),
            lambda in 0.1..1.0f64,
        ) {
            let (targets, rows) = (signs(&labels[..rows.len()]), sparse(&rows));
            for bias in BIASES {
                let task = problem(&rows, &targets, Exponential, lambda, bias);
                let found = solve(&Boosting, &task, None, 1e-7, 5000);
                let labels_differ = targets.iter().any(|y| *y != targets[0]);
                // One label alone and a free bias: the bias runs off, and the objective with it to zero.
                if bias != Bias::Free || labels_differ {
                    prop_assert_eq!(found.termination, Termination::Converged, "{:?} {:?}", bias,
                        found.trace.last());
                    let other = solve(&GradientDescent { schedule: Schedule::Backtracking, step: 1.0 }, &task,
                        None, 1e-7, 100_000);
                    let (a, b) = (objective(&task, &found.point), objective(&task, &other.point));
                    prop_assert!((a - b).abs() <= 3e-7 * a, "{bias:?} {a} {b}");
                }
                prop_assert!(found.trace.windows(2)
                    .all(|s| s[1].objective <= s[0].objective * (1.0 + 1e-12)));
            }
        }
    }

    #[test]
    fn separable_data_end_honestly_and_with_numbers() {
        let cases = [
            (vec![vec![1.0, 0.5], vec![2.0, 0.1], vec![-1.0, 0.3]], vec![1.0, 1.0, -1.0]),
            (vec![vec![1e-9, 1e9], vec![2e-9, 1e9], vec![-1e-9, 2e9]], vec![1.0, 1.0, -1.0]),
            (vec![vec![1.0], vec![-1.0]], vec![1.0, -1.0]),
            (vec![vec![1.0], vec![1.0]], vec![1.0, 1.0]),
            (vec![vec![0.0], vec![0.0]], vec![1.0, 1.0]),
        ];
        for (rows, targets) in cases {
            for bias in BIASES {
                let matrix = dense(&rows);
                let task = problem(&matrix, &targets, Exponential, 0.0, bias);
                for tolerance in [1e-6, 0.0] {
                    let found = solve(&Boosting, &task, None, tolerance, 3000);
                    let value = objective(&task, &found.point);
                    assert!(value.is_finite() && value <= 1.0, "{bias:?} {found:?}");
                    assert!(
                        found.point.weights.iter().all(|w| w.is_finite()) && found.point.bias.is_finite()
                    );
                    let separable = rows[0][0] != 0.0 || bias != Bias::None;
                    if tolerance > 0.0 && separable && found.termination == Termination::Converged {
                        assert!(value <= tolerance, "{bias:?} {value} {:?}", found.trace.last());
                    }
                }
            }
        }
    }

    #[test]
    fn a_start_from_beyond_all_numbers_is_no_start() {
        let (rows, targets) = (dense(&[vec![1.0], vec![-2.0]]), [-1.0, 1.0]);
        let task = problem(&rows, &targets, Exponential, 0.1, Bias::Free);
        let start = WarmStart { point: Point { weights: vec![1e9], bias: 0.0 }, duals: Vec::new() };
        let found = solve(&Boosting, &task, Some(&start), 1e-9, 1000);
        assert_eq!(found.termination, Termination::Converged);
        let warm = WarmStart { point: found.point.clone(), duals: Vec::new() };
        assert_eq!(solve(&Boosting, &task, Some(&warm), 1e-9, 1000).steps, 0);
    }

    #[test]
    fn it_stops_when_told_to_and_has_the_same_bits_on_any_threads() {
        let mut random = crate::random::Random::new(2);
        let rows: Vec<Vec<f64>> = (0..5000).map(|_| (0..40).map(|_| random.normal()).collect()).collect();
        let targets: Vec<f64> = rows.iter().map(|x| (x[0] + x[1] + random.normal()).signum()).collect();
        let rows = dense(&rows);
        let task = problem(&rows, &targets, Exponential, 0.01, Bias::Free);
        same_on_any_threads(|| solve(&Boosting, &task, None, 1e-9, 10).point);
        let mut observer = |_: Progress| Flow::Stop;
        let watch = Watch::new(&mut observer);
        let control =
            Control { tolerance: 1e-9, steps: 9, seed: 0, output: (0, 1), trace: false, watch: &watch };
        let found = Boosting.solve(&task, None, &control);
        assert_eq!((found.termination, found.steps), (Termination::Interrupted, 0));
    }
}
