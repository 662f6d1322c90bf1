//! Conjugate gradients on the normal equations, without forming them (CGLS: Hestenes and Stiefel, 1952;
//! Björck, "Numerical Methods for Least Squares Problems", algorithm 7.4.1): two passes over the rows a step.
//!
//! The problem is `min ‖b − Aw‖² + h‖w‖²` with `A = √share·(X − means)`, `b` alike and `h = λ/2`. With the
//! residual `r = b − Aw`, the slope `s = Aᵀr − hw` and the direction `d`, a step is
//!
//! ```text
//! w ← w + t·d,   r ← r − t·Ad,   t = ‖s‖²/(‖Ad‖² + h‖d‖²)
//! d ← s⁺ + (‖s⁺‖²/‖s‖²)·d
//! ```
//!
//! With a penalty the slopes are preconditioned by the diagonal of the Hessian.

use super::super::gap_schedule::{GapSchedule, ProofSchedule};
use super::super::rigorous_gap::is_proven;
use super::super::{Control, Recorder, Solution, Termination, WarmStart, gap_in_ball};
use super::{lengths, optimality};
use crate::loss::Squared;
use crate::penalty::{Bias, L2};
use crate::risk::{Gap, Point, Problem, duality_gap};

/// So many evaluations in a row without a better point are the end.
const PATIENCE: usize = 4;

/// Least squares by conjugate gradients. From zero, every step stays in the span of the rows, so where many
/// weights are best the shortest ones are approached; for that a start is used only with a penalty, which
/// makes the best weights unique.
pub(super) fn solve(
    problem: &Problem<'_, Squared, L2>,
    start: Option<&WarmStart>,
    control: &Control<'_>,
) -> Solution {
    let half = 0.5 * problem.penalty.0;
    let operator = Operator::new(problem, half);
    let (mut recorder, mut gap_schedule) = (Recorder::new(control), GapSchedule::default());
    let mut at = match start {
        Some(start) if half > 0.0 => start.point.clone(),
        _ => Point::zero(problem.rows.columns()),
    };
    let mut scores = vec![0.0; problem.len()];
    let mut residual = operator.residual(&mut at, &mut scores);
    let mut slope = operator.back(&residual, &at);
    let mut direction = Point::zero(problem.rows.columns());
    operator.add_scaled(&mut direction, &slope);
    let mut steepness = operator.square(&slope);
    let (mut best, mut steps) = (Best::new(&at, control), 0);
    let termination = loop {
        let (mut relative, mut gradient) = (None, None);
        let mut objective = residual.iter().map(|r| r * r).sum::<f64>() + half * length_sq(&at, problem.bias);
        let mut ended = (steepness == 0.0).then_some(Termination::Stalled);
        if gap_schedule.is_due(steps) || steps == control.steps || ended.is_some() {
            // Updated residuals drift: here they are computed anew.
            residual = operator.residual(&mut at, &mut scores);
            let gap = duality_gap(problem, &at, &scores, None);
            (objective, relative, gradient) = (gap.objective, gap.relative(), gap.gradient);
            ended = best.evaluate(&operator, &at, &scores, &gap).or(ended);
        }
        let stop = recorder.step(objective, relative, gradient, Some(&at));
        match ended {
            Some(Termination::Converged) => break Termination::Converged,
            _ if stop => break Termination::Interrupted,
            Some(stalled) => break stalled,
            None if steps == control.steps => break Termination::OutOfSteps,
            None => {}
        }
        let moved = operator.forth(&direction);
        let curvature = moved.iter().map(|q| q * q).sum::<f64>() + half * length_sq(&direction, problem.bias);
        if curvature.is_nan() || curvature <= 0.0 {
            break Termination::Stalled;
        }
        let size = steepness / curvature;
        add(&mut at, size, &direction);
        residual.iter_mut().zip(&moved).for_each(|(r, q)| *r -= size * q);
        slope = operator.back(&residual, &at);
        let next = operator.square(&slope);
        let turn = next / steepness;
        steepness = next;
        direction.weights.iter_mut().for_each(|d| *d *= turn);
        direction.bias *= turn;
        operator.add_scaled(&mut direction, &slope);
        steps += 1;
    };
    recorder.finish(best.point, None, termination)
}

/// The best point of those evaluated.
struct Best<'a> {
    point: Point,
    /// Its relative gap; without a penalty, how far it is from fulfilling the normal equations.
    distance: f64,
    /// The lowest objective of all points.
    lowest: f64,
    /// How many evaluations in a row may still be no better.
    patience: usize,
    proofs: ProofSchedule,
    control: Control<'a>,
}

impl<'a> Best<'a> {
    fn new(start: &Point, control: &Control<'a>) -> Self {
        Self {
            point: start.clone(),
            distance: f64::INFINITY,
            lowest: f64::INFINITY,
            patience: PATIENCE,
            proofs: ProofSchedule::new(control.tolerance),
            control: *control,
        }
    }

    /// Takes in a point with its gap; whether it is proved to be good enough, or no better one is to be
    /// expected.
    fn evaluate(
        &mut self,
        operator: &Operator<'_>,
        at: &Point,
        scores: &[f64],
        gap: &Gap,
    ) -> Option<Termination> {
        let Operator { problem, half, .. } = *operator;
        let distance = match gap.relative() {
            Some(gap) if half > 0.0 => gap,
            _ => optimality(problem, at, scores),
        };
        let is_proven_in_ball = || {
            let Control { tolerance, watch, .. } = self.control;
            let (gap, _) = gap_in_ball(problem, at, scores, None, (tolerance, watch));
            is_proven(problem, &gap, tolerance)
        };
        let has_converged = self.proofs.proves(distance, || half > 0.0 || is_proven_in_ball());
        // The distance goes up and down on its way to nothing; the objective does not, until rounding is all
        // there is to it.
        let is_better = distance < self.distance || gap.objective < self.lowest;
        self.patience = if is_better { PATIENCE } else { self.patience - 1 };
        self.lowest = self.lowest.min(gap.objective);
        if distance < self.distance {
            (self.distance, self.point) = (distance, at.clone());
        }
        match has_converged {
            true => Some(Termination::Converged),
            false => (self.patience == 0).then_some(Termination::Stalled),
        }
    }
}

fn add(point: &mut Point, size: f64, direction: &Point) {
    point.weights.iter_mut().zip(&direction.weights).for_each(|(w, d)| *w += size * d);
    point.bias += size * direction.bias;
}

/// `‖w‖²`, with the bias where it counts.
fn length_sq(point: &Point, bias: Bias) -> f64 {
    let of_bias = if bias == Bias::Penalised { point.bias * point.bias } else { 0.0 };
    point.weights.iter().map(|w| w * w).sum::<f64>() + of_bias
}

/// The matrix `A = √share·(X − means)`, as what it does to vectors. A free bias is not among its columns: it
/// is the best one for given weights at any time.
struct Operator<'a> {
    problem: &'a Problem<'a, Squared, L2>,
    half: f64,
    means: Point,
    roots: Vec<f64>,
    /// One over the curvature along each weight. Only with a penalty: weights in other units would have
    /// another shortest answer.
    scale: Option<Point>,
}

impl<'a> Operator<'a> {
    fn new(problem: &'a Problem<'a, Squared, L2>, half: f64) -> Self {
        let total = problem.sum(|i| problem.share(i));
        let mut means = Point::zero(problem.rows.columns());
        if problem.bias == Bias::Free && total > 0.0 {
            means = problem.combine(|i| problem.share(i) / total);
        }
        let scale = (half > 0.0).then(|| {
            let lengths = lengths(problem);
            // A centred column is shorter by its mean; where that cancels, the penalty is what remains.
            let centred = |(length, mean): (&f64, &f64)| (length * length - total * mean * mean).max(0.0);
            let weights =
                lengths.columns.iter().zip(&means.weights).map(|c| 1.0 / (centred(c) + half)).collect();
            Point { weights, bias: 1.0 / (total + half) }
        });
        let roots = problem.each(|i| problem.share(i).max(0.0).sqrt());
        Self { problem, half, means, roots, scale }
    }

    /// `b − A·w`, after the bias of `point` was made the best one for its weights, where it is free.
    fn residual(&self, point: &mut Point, scores: &mut [f64]) -> Vec<f64> {
        let problem = self.problem;
        problem.scores_into(point, scores);
        let total = problem.sum(|i| problem.share(i));
        if problem.bias == Bias::Free && total > 0.0 {
            let off = problem.sum(|i| problem.share(i) * (problem.targets[i] - scores[i])) / total;
            point.bias += off;
            scores.iter_mut().for_each(|s| *s += off);
        }
        let scores = &*scores;
        problem.each(|i| self.roots[i] * (problem.targets[i] - scores[i]))
    }

    /// `A·w`.
    fn forth(&self, direction: &Point) -> Vec<f64> {
        let mean: f64 = direction.weights.iter().zip(&self.means.weights).map(|(d, m)| d * m).sum();
        let mut all = self.problem.scores(direction);
        all.iter_mut().zip(&self.roots).for_each(|(s, root)| *s = root * (*s - mean));
        all
    }

    /// `Aᵀ·r − half·w`: minus half the gradient.
    fn back(&self, residual: &[f64], at: &Point) -> Point {
        let mut slope = self.problem.combine(|i| self.roots[i] * residual[i]);
        let sum = slope.bias;
        for ((s, mean), w) in slope.weights.iter_mut().zip(&self.means.weights).zip(&at.weights) {
            *s -= sum * mean + self.half * w;
        }
        slope.bias = if self.problem.bias == Bias::Penalised { sum - self.half * at.bias } else { 0.0 };
        slope
    }

    /// `‖slope‖²` in the units that directions are measured in.
    fn square(&self, slope: &Point) -> f64 {
        let Some(scale) = &self.scale else { return length_sq(slope, Bias::Penalised) };
        let weights = slope.weights.iter().zip(&scale.weights).map(|(s, scale)| s * s * scale).sum::<f64>();
        weights + slope.bias * slope.bias * scale.bias
    }

    fn add_scaled(&self, direction: &mut Point, slope: &Point) {
        let Some(scale) = &self.scale else { return add(direction, 1.0, slope) };
        direction
            .weights
            .iter_mut()
            .zip(slope.weights.iter().zip(&scale.weights))
            .for_each(|(d, (s, scale))| *d += s * scale);
        direction.bias += slope.bias * scale.bias;
    }
}
