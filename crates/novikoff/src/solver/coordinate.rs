//! Coordinate descent for sparse weights: a proximal Newton method with working sets and safe screening.
//!
//! The primal problem is `min f(w, b) + (μ/2)‖w‖² + ν‖w‖₁` with the mean loss `f`; the dual one is
//!
//! ```text
//! max over u of −(1/n) Σ cᵢ ℓ*(yᵢ, uᵢ) − (1/2μ) Σⱼ max(0, |vⱼ| − ν)²,   v = (1/n) Σ cᵢuᵢxᵢ
//! ```
//!
//! for μ > 0; for μ = 0 the last sum is replaced by `|vⱼ| ≤ ν`. A step minimises a quadratic model of `f`
//! plus the penalty, one coordinate at a time ([`quadratic`]), and a line search makes sure that the
//! objective falls (Lee, Sun and Saunders, "Proximal Newton-type methods", 2014; Friedman, Hastie and
//! Tibshirani, 2010). For the squared loss the model is exact.
//!
//! Only columns of a working set move: those with a weight, and those whose gradient is closest to ν or
//! beyond it. An evaluation of all columns shows which belong to it, and how large the duality gap is. A dual
//! within the gap of the best one proves of many columns that their weight is zero in every solution (Fercoq,
//! Gramfort and Salmon, "Mind the duality gap", 2015); they are dropped.

mod columns;
mod quadratic;

use super::{Control, Recorder, Solution, Solver, Termination, WarmStart};
use crate::loss::SmoothLoss;
use crate::penalty::{Bias, ElasticNet, Penalty};
use crate::risk::{Point, Problem, duality_gap};
use columns::{Columns, weighted_square};
use quadratic::{Products, Quadratic};
use rayon::prelude::*;

/// Coordinate descent with working sets and safe screening, for penalties with an ℓ1 part.
///
/// ```
/// use novikoff::control::{Unwatched, Watch};
/// use novikoff::data::matrix::{Builder, Layout};
/// use novikoff::loss::Squared;
/// use novikoff::penalty::{Bias, ElasticNet};
/// use novikoff::risk::Problem;
/// use novikoff::solver::{Control, CoordinateDescent, Solver, largest_l1};
///
/// let mut rows = Builder::new(Layout::Dense { columns: 2 });
/// rows.push(&[0, 1], &[1.0, 0.5]);
/// rows.push(&[0, 1], &[-1.0, 0.5]);
/// let penalty = ElasticNet { l2: 0.0, l1: 1.0 };
/// let (rows, targets) = (rows.finish(), [3.0, -3.0]);
/// let problem = Problem {
///     rows: &rows, targets: &targets, row_weights: &[], total: 2.0,
///     loss: Squared, penalty, bias: Bias::None,
/// };
/// let mut unwatched = Unwatched;
/// let watch = Watch::new(&mut unwatched);
/// let output = (0, 1);
/// let control = Control { tolerance: 1e-9, steps: 100, seed: 0, output, trace: false, watch: &watch };
/// // Least squares alone would be 3; the penalty takes half of its factor off, and the second column is
/// // of no use.
/// assert_eq!(CoordinateDescent.solve(&problem, None, &control).point.weights, [2.5, 0.0]);
/// assert_eq!(largest_l1(&problem), 6.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoordinateDescent;

impl<L: SmoothLoss> Solver<L, ElasticNet> for CoordinateDescent {
    /// Begins at the weights of `start`; its duals are not needed. Without an ℓ1 part it works too, but
    /// screens nothing.
    fn solve(
        &self,
        problem: &Problem<'_, L, ElasticNet>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        ProximalNewton::new(problem, start).run(control)
    }
}

/// The smallest factor of `‖w‖₁` at which all weights are zero, whatever the factor of `‖w‖²`: where a path
/// of solutions begins. A penalised bias counts as a weight.
pub fn largest_l1<L: SmoothLoss, P: Penalty>(problem: &Problem<'_, L, P>) -> f64 {
    let scores = vec![0.0; problem.len()];
    let shift = if problem.bias == Bias::Free { best_shift(problem, &scores) } else { 0.0 };
    let gradient = problem.combine(|i| problem.share(i) * problem.loss.slope(problem.targets[i], shift));
    let bias = if problem.bias == Bias::Penalised { gradient.bias } else { 0.0 };
    gradient.weights.iter().fold(bias.abs(), |largest, v| largest.max(v.abs()))
}

/// Fewest columns that a working set has, if there are as many.
const FEWEST: usize = 128;
/// An evaluation of so many times the entries of the working set costs no more than a step, so there is one
/// before every step. If there are more, steps follow without one until the gap over the working set is this
/// share of that over all columns, but no more than so many.
const CHEAP_EVALUATION: usize = 8;
const SHARE_OF_GAP: f64 = 0.3;
const STEPS_WITHOUT: usize = 5;
/// Relative differences of objectives that may be rounding.
const NOISE: f64 = 1e-14;
/// Steps without any gain after which all columns are evaluated, and after which the solver has stalled.
const IDLE_EVALUATE: usize = 3;
const IDLE_END: usize = 8;
/// Rows that one task sums over.
const CHUNK: usize = 4096;

/// The state of the method. The bias is the last of the weights and its column one of ones,
/// where there is one.
struct ProximalNewton<'a, 'p, L> {
    problem: &'a Problem<'p, L, ElasticNet>,
    columns: Columns,
    /// The column that no penalty touches.
    free: Option<usize>,
    /// How much each entry of the gradient changes at most, for a change of the duals of length 1.
    norms: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// Columns with a penalty that are not proven to have no weight: ascending.
    alive: Vec<usize>,
    /// Columns that move: ascending.
    working: Vec<usize>,
    /// By rows, times their share: slopes and curvatures of the loss.
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
    /// By columns, when they were evaluated last: the gradient of the mean loss.
    gradient: Vec<f64>,
    objective: f64,
    /// The best duals so far and what they prove.
    duals: Vec<f64>,
    bound: f64,
    products: Option<Products>,
}

/// A lower bound on the objective over some columns, and how much the slopes are shortened to give it.
struct Bound {
    value: f64,
    shorter: f64,
}

impl<'a, 'p, L: SmoothLoss> ProximalNewton<'a, 'p, L> {
    fn new(problem: &'a Problem<'p, L, ElasticNet>, start: Option<&WarmStart>) -> Self {
        let (n, d) = (problem.len(), problem.rows.columns());
        let columns = Columns::new(problem.rows, problem.bias != Bias::None);
        let free = (problem.bias == Bias::Free).then_some(d);
        let shares = problem.each(|i| problem.share(i));
        let all: f64 = shares.iter().sum();
        let norm = |j: usize| {
            let square = weighted_square(columns.column(j), &shares);
            // Duals that are balanced against a free bias do not feel the mean of a column.
            let mean =
                if free.is_some() && all > 0.0 { columns.column(j).dot(&shares).powi(2) / all } else { 0.0 };
            ((square - mean).max(0.0) + 1e-12 * square).sqrt()
        };
        let norms: Vec<f64> = (0..columns.count()).into_par_iter().map(norm).collect();
        let alive = (0..columns.count()).filter(|j| free != Some(*j)).collect();
        let mut state = Self {
            problem,
            free,
            norms,
            weights: vec![0.0; columns.count()],
            scores: vec![0.0; n],
            alive,
            working: Vec::new(),
            slopes: vec![0.0; n],
            curvatures: vec![0.0; n],
            gradient: vec![0.0; columns.count()],
            objective: 0.0,
            duals: vec![0.0; n],
            bound: f64::NEG_INFINITY,
            products: None,
            columns,
        };
        if let Some(start) = start {
            state.begin_at(&start.point);
        }
        state
    }

    /// Begins at a point, unless zero is a better one (any is better than one without numbers).
    fn begin_at(&mut self, point: &Point) {
        let d = self.problem.rows.columns();
        let objective =
            |point: &Point, scores: &[f64]| self.problem.mean_loss(scores) + self.problem.penalty_of(point);
        let mut weights = point.weights.clone();
        weights.resize(d, 0.0);
        let point = Point { weights, bias: point.bias * self.problem.bias.coordinate() };
        let scores = self.problem.scores(&point);
        if objective(&point, &scores) <= objective(&Point::zero(d), &self.scores) {
            self.weights[..d].copy_from_slice(&point.weights);
            self.weights[d..].fill(point.bias);
            self.scores = scores;
        }
    }

    fn point(&self) -> Point {
        let (weights, bias) = self.weights.split_at(self.problem.rows.columns());
        Point { weights: weights.to_vec(), bias: bias.first().copied().unwrap_or(0.0) }
    }

    fn run(mut self, control: &Control<'_>) -> Solution {
        let mut recorder = Recorder::new(control);
        let (mut evaluate, mut without, mut goal, mut tolerance) = (true, 0, 0.0, control.tolerance);
        let (mut idle, mut least, mut least_gap, mut least_part) =
            (0, f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let termination = loop {
            self.centre();
            self.derive();
            let mut gained = self.objective < least - NOISE * least.abs();
            least = least.min(self.objective);
            if !evaluate {
                self.compute_gradient(&self.working.clone());
                let part = self.objective - self.bound_over(&self.working).value;
                gained |= part < 0.9 * least_part && least_part < f64::INFINITY;
                least_part = least_part.min(part);
                without += 1;
                evaluate = part <= goal || without == STEPS_WITHOUT;
            }
            let evaluated = evaluate || idle == IDLE_EVALUATE;
            let mut gap = None;
            let mut converged = false;
            if evaluated {
                let found = self.evaluate_all();
                gained |= found < 0.9 * least_gap;
                (least_gap, least_part) = (least_gap.min(found), f64::INFINITY);
                gap = Some(relative(found, self.objective));
                if relative(found, self.objective) <= tolerance {
                    // Updated scores have rounding errors: scores and gap anew.
                    let point = self.point();
                    self.scores = self.problem.scores(&point);
                    let proof = duality_gap(self.problem, &point, &self.scores, Some(&self.duals));
                    converged = proof.within(control.tolerance);
                    tolerance /= 2.0;
                }
                goal = (SHARE_OF_GAP * found).max(0.5 * tolerance * self.objective.abs());
                evaluate = self.entries(&self.alive) <= CHEAP_EVALUATION * self.entries(&self.working);
                without = 0;
            }
            idle = if gained { 0 } else { idle + 1 };
            let stop = recorder.step(self.objective, gap, None, Some(&self.point()));
            if converged {
                break Termination::Converged;
            } else if stop {
                break Termination::Interrupted;
            } else if idle >= IDLE_END {
                break Termination::Stalled;
            } else if recorder.steps() >= control.steps {
                break Termination::OutOfSteps;
            }
            if !self.newton(&|| control.watch.goes_on()) {
                if evaluated && !control.watch.stopped() {
                    break Termination::Stalled;
                }
                evaluate = true;
            }
        };
        recorder.finish(self.point(), Some(self.duals), termination)
    }

    /// Moves a free bias to where it is best: only there do the slopes balance, as duals must.
    fn centre(&mut self) {
        let Some(free) = self.free else { return };
        let shift = best_shift(self.problem, &self.scores);
        if shift != 0.0 {
            self.weights[free] += shift;
            self.scores.iter_mut().for_each(|score| *score += shift);
        }
    }

    /// The objective, and slopes and curvatures by rows.
    fn derive(&mut self) {
        let (problem, scores) = (self.problem, &self.scores);
        let chunks = self.slopes.par_chunks_mut(CHUNK).zip(self.curvatures.par_chunks_mut(CHUNK)).enumerate();
        let parts: Vec<f64> = chunks
            .map(|(chunk, (slopes, curvatures))| {
                let mut sum = 0.0;
                for (i, (slope, curvature)) in (chunk * CHUNK..).zip(slopes.iter_mut().zip(curvatures)) {
                    let (share, at) = (problem.share(i), problem.loss.local(problem.targets[i], scores[i]));
                    (*slope, *curvature) = (share * at.slope, share * at.curvature);
                    sum += share * at.value;
                }
                sum
            })
            .collect();
        let penalty = self.problem.penalty;
        let penalties: f64 = self
            .weights
            .iter()
            .enumerate()
            .filter(|(j, _)| self.free != Some(*j))
            .map(|(_, w)| penalty.value(*w))
            .sum();
        self.objective = parts.iter().sum::<f64>() + penalties;
    }

    fn entries(&self, columns: &[usize]) -> usize {
        columns.iter().map(|j| self.columns.entries(*j)).sum()
    }

    /// The gradient of the mean loss along some columns.
    fn compute_gradient(&mut self, columns: &[usize]) {
        let gradients: Vec<f64> =
            columns.par_iter().with_min_len(64).map(|j| self.columns.column(*j).dot(&self.slopes)).collect();
        columns.iter().zip(gradients).for_each(|(j, gradient)| self.gradient[*j] = gradient);
    }

    /// What the slopes, shortened as far as they must be, prove about the problem over some columns.
    fn bound_over(&self, columns: &[usize]) -> Bound {
        let ElasticNet { l2, l1 } = self.problem.penalty;
        let penalised = columns.iter().filter(|j| self.free != Some(**j));
        // The gradient of the loss and the ℓ2 penalty together: at the minimum no entry is larger than ν.
        let strongest =
            penalised.clone().map(|j| (self.gradient[*j] + l2 * self.weights[*j]).abs()).fold(0.0, f64::max);
        let value = |shorter: f64| {
            let conjugate = |j: &usize| self.problem.penalty.conjugate(-shorter * self.gradient[*j]);
            let of_penalty = if l2 > 0.0 { penalised.clone().map(conjugate).sum() } else { 0.0 };
            -self.conjugates(shorter) - of_penalty
        };
        let shorter = if strongest > l1 { l1 / strongest } else { 1.0 };
        let short = Bound { value: value(shorter), shorter };
        if shorter == 1.0 || l2 == 0.0 {
            return short;
        }
        let full = Bound { value: value(1.0), shorter: 1.0 };
        if full.value > short.value { full } else { short }
    }

    /// The conjugates of the losses, by the slopes shortened to a share.
    fn conjugates(&self, shorter: f64) -> f64 {
        let problem = self.problem;
        problem.sum(|i| {
            let (target, share) = (problem.targets[i], problem.share(i));
            let dual = if share > 0.0 { shorter * self.slopes[i] / share } else { 0.0 };
            share * problem.loss.conjugate(target, problem.loss.nearest_dual(target, dual))
        })
    }

    /// Evaluates all columns that are left: returns the gap, drops the columns that it proves to have no
    /// weight, and chooses the working set.
    fn evaluate_all(&mut self) -> f64 {
        let mut all = std::mem::take(&mut self.alive);
        self.compute_gradient(&all);
        let raw = self.free.and_then(|_| self.balance());
        if raw.is_some() {
            self.compute_gradient(&all);
        }
        let bound = self.bound_over(&all);
        if bound.value > self.bound {
            let problem = self.problem;
            let dual = |i: usize| {
                let share = problem.share(i);
                if share > 0.0 { bound.shorter * self.slopes[i] / share } else { 0.0 }
            };
            (self.duals, self.bound) = (problem.each(dual), bound.value);
        }
        self.screen(&mut all, &bound);
        if let Some(raw) = raw {
            self.slopes = raw;
            self.compute_gradient(&all);
        }
        self.alive = all;
        self.choose();
        (self.objective - self.bound).max(0.0)
    }

    /// With a free bias duals must sum to zero. Where the bias could not be moved to where they do, those of
    /// the sign that outweighs the other are shortened; the slopes as they were are returned.
    fn balance(&mut self) -> Option<Vec<f64>> {
        let (slopes, problem) = (&self.slopes, self.problem);
        let (up, down) = (problem.sum(|i| slopes[i].max(0.0)), problem.sum(|i| (-slopes[i]).max(0.0)));
        // So little is rounding, as it is in every sum here.
        if (up - down).abs() <= NOISE * up.max(down) {
            return None;
        }
        let (factor, sign) = if up > down { (down / up, 1.0) } else { (up / down, -1.0) };
        let balanced = problem.each(|i| if slopes[i] * sign > 0.0 { factor * slopes[i] } else { slopes[i] });
        Some(std::mem::replace(&mut self.slopes, balanced))
    }

    /// Drops columns without a weight that have none in any solution. The dual function bends everywhere at
    /// least as much as the inverse of the loss's steepest curvature, so the best duals lie within a ball
    /// around any others, and a column whose gradient stays below the penalty within the ball has no weight.
    fn screen(&self, columns: &mut Vec<usize>, bound: &Bound) {
        let Some(steepest) = self.problem.loss.largest_curvature() else { return };
        let gap = (self.objective - bound.value).max(0.0) + 1e-12 * self.objective.abs();
        let radius = (2.0 * gap * steepest).sqrt();
        let may_have_weight = |j: usize| {
            bound.shorter * self.gradient[j].abs() + radius * self.norms[j] >= self.problem.penalty.l1
        };
        columns.retain(|&j| self.weights[j] != 0.0 || may_have_weight(j));
    }

    /// The working set: columns with a weight, and of the others those that are nearest to getting one.
    fn choose(&mut self) {
        let l1 = self.problem.penalty.l1;
        let (mut chosen, mut others): (Vec<usize>, Vec<usize>) =
            self.alive.iter().partition(|j| self.weights[**j] != 0.0);
        let violating = others.iter().filter(|j| self.gradient[**j].abs() > l1).count();
        // Twice as many as last time at most: many columns that gradient now will not once a few have moved.
        let wanted = (chosen.len() + violating).min(2 * self.working.len()).max(2 * chosen.len()).max(FEWEST);
        let more = wanted - chosen.len();
        if more < others.len() {
            let nearness = |j: usize| (self.gradient[j].abs() - l1) / self.norms[j].max(f64::MIN_POSITIVE);
            others.select_nth_unstable_by(more, |a, b| nearness(*b).total_cmp(&nearness(*a)).then(a.cmp(b)));
            others.truncate(more);
        }
        chosen.append(&mut others);
        chosen.extend(self.free);
        chosen.sort_unstable();
        self.working = chosen;
    }

    /// One step over the working set, as far as it gets while it may go on; false if nothing moved.
    fn newton(&mut self, goes_on: &(dyn Fn() -> bool + Sync)) -> bool {
        if let Some(free) = self.free {
            self.gradient[free] = self.columns.column(free).dot(&self.slopes);
        }
        let before: Vec<f64> = self.working.iter().map(|j| self.weights[*j]).collect();
        let gradient: Vec<f64> = self.working.iter().map(|j| self.gradient[*j]).collect();
        let model = Quadratic {
            rows: self.problem.rows,
            columns: &self.columns,
            working: &self.working,
            penalty: self.problem.penalty,
            free: self.free,
            slopes: &self.slopes,
            curvatures: &self.curvatures,
            gradient: &gradient,
        };
        let mut after = before.clone();
        let constant = self.problem.loss.has_constant_curvature();
        let known = self.products.take().filter(|known| constant && known.are_of(&self.working));
        self.products = model.minimise(&mut after, known, goes_on);
        let step: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        let mut change = vec![0.0; self.scores.len()];
        for (j, step) in self.working.iter().zip(&step).filter(|(_, step)| **step != 0.0) {
            self.columns.column(*j).add_to(&mut change, *step);
        }
        let slope: f64 = step.iter().zip(&gradient).map(|(step, gradient)| step * gradient).sum();
        let Some(length) = self.search(&before, &step, &change, slope) else { return false };
        let mut moved = false;
        for ((j, before), (after, step)) in self.working.iter().zip(&before).zip(after.iter().zip(&step)) {
            // A full step ends where the model says, to the bit: zeros are zeros.
            let to = if length == 1.0 { *after } else { before + length * step };
            moved |= to != *before;
            self.weights[*j] = to;
        }
        self.scores.iter_mut().zip(&change).for_each(|(score, change)| *score += length * change);
        moved
    }

    /// The longest of 1, ½, ¼, … at which the objective falls as much as its slope lets hope, or differs by
    /// no more than rounding may: close to the minimum the gap still shrinks where the objective can no
    /// longer be seen to.
    fn search(&self, before: &[f64], step: &[f64], change: &[f64], slope: f64) -> Option<f64> {
        let (problem, penalty) = (self.problem, self.problem.penalty);
        let penalties = |length: f64| {
            let each =
                self.working.iter().zip(before.iter().zip(step)).filter(|(j, _)| self.free != Some(**j));
            each.map(|(_, (w, step))| penalty.value(w + length * step) - penalty.value(*w)).sum::<f64>()
        };
        let noise = NOISE * self.objective.abs();
        let hoped = slope + penalties(1.0);
        let mut length = 1.0;
        for _ in 0..80 {
            // The sum of the differences is more exact than the difference of the sums.
            let losses = problem.sum(|i| {
                let (y, score) = (problem.targets[i], self.scores[i]);
                problem.share(i)
                    * (problem.loss.value(y, score + length * change[i]) - problem.loss.value(y, score))
            });
            if losses + penalties(length) <= 0.01 * length * hoped.min(0.0) + noise {
                return Some(length);
            }
            length *= 0.5;
        }
        None
    }
}

fn relative(gap: f64, objective: f64) -> f64 {
    if gap == 0.0 { 0.0 } else { gap / objective.abs().max(f64::MIN_POSITIVE) }
}

/// How far all scores must be moved for the mean loss to be least: Newton's method within a bracket.
fn best_shift<L: SmoothLoss, P: Penalty>(problem: &Problem<'_, L, P>, scores: &[f64]) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut shift, mut stride) = (0.0, 0.0f64);
    // A shift by less is lost in the scores.
    let least = 0.5 * f64::EPSILON * scores.iter().fold(0.0, |largest: f64, score| largest.max(score.abs()));
    for round in 0..200 {
        let [slope, size, curvature] = sums(problem, |i| {
            let at = problem.loss.local(problem.targets[i], scores[i] + shift);
            [at.slope, at.slope.abs(), at.curvature]
        });
        if slope.abs() <= 1e-15 * size || slope.is_nan() {
            break;
        }
        if slope > 0.0 {
            high = shift
        } else {
            low = shift
        }
        let newton = -slope / curvature;
        let closed = low.is_finite() && high.is_finite();
        let within = newton.is_finite() && shift + newton > low && shift + newton < high;
        let next = if closed && !(within && (round < 4 || newton.abs() <= 0.5 * stride)) {
            0.5 * (low + high)
        } else if !closed && (round >= 4 || !within) {
            // No end in sight, as with rows of one class only: twice as far each time.
            shift - slope.signum() * (2.0 * stride).max(1.0)
        } else {
            shift + newton
        };
        stride = (next - shift).abs();
        let still = stride <= least.max(f64::EPSILON * shift.abs());
        shift = next;
        if still {
            break;
        }
    }
    shift
}

/// `Σ shareᵢ·f(i)` of several numbers at once, in an order that does not depend on the threads.
fn sums<L: SmoothLoss, P: Penalty, const K: usize>(
    problem: &Problem<'_, L, P>,
    f: impl Fn(usize) -> [f64; K] + Sync,
) -> [f64; K] {
    let n = problem.len();
    let add = |mut sum: [f64; K], share: f64, part: [f64; K]| {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += share * part);
        sum
    };
    let chunk = |chunk: usize| {
        (chunk * CHUNK..n.min((chunk + 1) * CHUNK)).fold([0.0; K], |sum, i| add(sum, problem.share(i), f(i)))
    };
    let parts: Vec<[f64; K]> = (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    parts.into_iter().fold([0.0; K], |sum, part| add(sum, 1.0, part))
}

#[cfg(test)]
mod tests;
