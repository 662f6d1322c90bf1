//! Line search Newton-CG on `F(x) = (1/n) Σ cᵢ fᵢ(<w, xᵢ> + b) + (λ/2)‖w‖²`, for smooth convex functions `fᵢ`
//! of the scores and points `x = (w, b)`.
//!
//! ```text
//! d ≈ −H⁻¹∇F            by conjugate gradients, preconditioned
//! t ≈ argmin F(x + t·d)   by Newton's method in one dimension, within a bracket, from t = 1
//! x ← x + t·d
//! ```
//!
//! A step costs a pass over the rows for the gradient, one for the scores of the direction, and two for each
//! conjugate-gradient iteration, of which the [`Preconditioner`] leaves few, and none where a rough step will
//! do. The line search moves along scores, not along weights: a trial reads every row's score and makes no
//! pass over the rows. A step is acceptable if it gains 1e-4 of what the slope promises (Armijo), and final
//! if the slope along the line has fallen to 0.3 of the first one (Wolfe).

use super::hessian::{Hessian, Preconditioner};
use crate::control::Watch;
use crate::loss::{Local, Loss};
use crate::penalty::{Bias, L2};
use crate::risk::{Point, Problem};
use rayon::prelude::*;

/// Rows of one task.
const CHUNK: usize = 4096;

/// The state of the method: a point, the scores there, and the functions around them.
pub(super) struct NewtonCg {
    pub point: Point,
    pub scores: Vec<f64>,
    /// Mean of the functions of the scores, without the penalty.
    pub mean: f64,
    /// The slope of each row's function, not yet times its share.
    pub slopes: Vec<f64>,
    /// The curvature of each, times its share.
    curvatures: Vec<f64>,
    /// The gradient of the objective.
    pub gradient: Point,
    /// What the scores change by along the last direction.
    moves: Vec<f64>,
    preconditioner: Option<Preconditioner>,
    /// Conjugate-gradient iterations that the last direction took.
    iterations: usize,
    /// What is added to the curvature along every weight, for directions alone (Levenberg and Marquardt).
    damping: f64,
}

/// The result of a step.
pub(super) enum Moved {
    /// The objective is lower, by about this much.
    By(f64),
    /// No step along this direction made it lower.
    Nowhere,
}

/// The mean of the functions, and its first two derivatives along the moves.
#[derive(Clone, Copy, Default)]
struct Along {
    mean: f64,
    slope: f64,
    bend: f64,
}

/// A direction that took more iterations than this shows that the preconditioner is out of date.
const STALE: usize = 6;
/// Most iterations of conjugate gradients for one direction.
const MOST_ITERATIONS: usize = 60;
/// Most trials of one line search.
const MOST_TRIALS: usize = 40;
/// The part of the gain that the slope promises which makes a step acceptable.
const ENOUGH: f64 = 1e-4;
/// The part of the first slope at which the line search ends.
const FLAT: f64 = 0.3;
/// So many times as far is the next trial at most, as long as none has been too far.
const FARTHER: f64 = 4.0;
/// Equations that need not be solved better than to this part are left at what a factor of the sample makes
/// of them.
const ROUGH: f64 = 0.25;

/// The first damping, of the most there is, and how many times as much comes next.
const LEAST_DAMPING: f64 = 1e-12;
const DAMPER: f64 = 100.0;

impl NewtonCg {
    /// At a point, where the functions are those of `at`: of a row's number and its score.
    pub(super) fn new<L: Loss>(
        problem: &Problem<'_, L, L2>,
        point: Point,
        at: &(impl Fn(usize, f64) -> Local + Sync),
    ) -> Self {
        let scores = problem.scores(&point);
        let rows = problem.len();
        let mut state = Self {
            point,
            scores,
            mean: 0.0,
            slopes: vec![0.0; rows],
            curvatures: vec![0.0; rows],
            gradient: Point::default(),
            moves: vec![0.0; rows],
            preconditioner: None,
            iterations: 0,
            damping: 0.0,
        };
        state.evaluate(problem, at);
        state
    }

    /// Evaluates all functions anew, as after a change of the functions.
    pub(super) fn evaluate<L: Loss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        at: &(impl Fn(usize, f64) -> Local + Sync),
    ) {
        self.mean = self.evaluate_along(problem, at, 0.0).mean;
        self.differentiate(problem);
    }

    /// Slopes and curvatures of the functions at the scores and `length` times the moves.
    fn evaluate_along<L: Loss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        at: &(impl Fn(usize, f64) -> Local + Sync),
        length: f64,
    ) -> Along {
        let parts: Vec<Along> = self
            .slopes
            .par_chunks_mut(CHUNK)
            .zip(self.curvatures.par_chunks_mut(CHUNK))
            .zip(self.scores.par_chunks(CHUNK))
            .zip(self.moves.par_chunks(CHUNK))
            .enumerate()
            .map(|(chunk, (((slopes, curvatures), scores), moves))| {
                let mut sum = Along::default();
                let rows = slopes.iter_mut().zip(curvatures).zip(scores).zip(moves);
                for (i, (((slope, curvature), &score), &step)) in (chunk * CHUNK..).zip(rows) {
                    let share = problem.share(i);
                    let local = at(i, score + length * step);
                    *slope = local.slope;
                    *curvature = share * local.curvature;
                    sum.mean += share * local.value;
                    sum.slope += share * local.slope * step;
                    sum.bend += *curvature * step * step;
                }
                sum
            })
            .collect();
        let add = |a: Along, b: Along| Along {
            mean: a.mean + b.mean,
            slope: a.slope + b.slope,
            bend: a.bend + b.bend,
        };
        parts.into_iter().fold(Along::default(), add)
    }

    fn differentiate<L: Loss>(&mut self, problem: &Problem<'_, L, L2>) {
        let slopes = &self.slopes;
        let mut gradient = problem.combine(|i| problem.share(i) * slopes[i]);
        let l2 = problem.penalty.0;
        for (g, w) in gradient.weights.iter_mut().zip(&self.point.weights) {
            *g += l2 * w;
        }
        gradient.bias = bias_ridge(problem).map_or(0.0, |ridge| gradient.bias + ridge * self.point.bias);
        self.gradient = gradient;
    }

    /// The objective that is minimised.
    pub(super) fn objective<L: Loss>(&self, problem: &Problem<'_, L, L2>) -> f64 {
        self.mean + problem.penalty_of(&self.point)
    }

    /// One step of Newton's method, in which the linear equations are solved until their error is `accuracy`
    /// of what it was. If the observer asks to stop, it goes nowhere.
    pub(super) fn step<L: Loss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        at: &(impl Fn(usize, f64) -> Local + Sync),
        accuracy: f64,
        watch: &Watch<'_>,
    ) -> Moved {
        if self.iterations > STALE {
            self.preconditioner = None;
        }
        let fresh = self.preconditioner.is_none();
        let Some(direction) = self.direction(problem, accuracy, watch) else { return Moved::Nowhere };
        let moved = self.search(problem, at, direction);
        if matches!(moved, Moved::Nowhere) && !fresh {
            self.preconditioner = None;
            let Some(direction) = self.direction(problem, accuracy, watch) else { return Moved::Nowhere };
            return self.search(problem, at, direction);
        }
        moved
    }

    /// The approximate preconditioner is that of another function: make a new one when it is needed.
    pub(super) fn forget_curvature(&mut self) {
        self.preconditioner = None;
    }

    /// Adds more to the curvature along every weight, up to this size. Returns whether there was more to add.
    pub(super) fn damp(&mut self, most: f64) -> bool {
        let next = if self.damping == 0.0 { LEAST_DAMPING * most } else { DAMPER * self.damping };
        if !(next <= most && next > 0.0) {
            return false;
        }
        self.damping = next;
        self.forget_curvature();
        true
    }

    /// Adds less again.
    pub(super) fn relax(&mut self, most: f64) {
        if self.damping > 0.0 {
            let next = self.damping / DAMPER;
            self.damping = if next < LEAST_DAMPING * most { 0.0 } else { next };
            self.forget_curvature();
        }
    }

    /// `−H⁻¹·gradient` by conjugate gradients; `None` if the observer asks to stop.
    fn direction<L: Loss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        accuracy: f64,
        watch: &Watch<'_>,
    ) -> Option<Point> {
        let flat = self.curvatures.iter().all(|h| *h == 0.0);
        // Where nothing is curved, a free bias would go any distance: a unit of curvature makes it one that
        // can be searched along.
        let bias_ridge =
            bias_ridge(problem).map(|ridge| if flat { ridge.max(1.0) } else { ridge } + self.damping);
        let ridge = problem.penalty.0 + self.damping;
        let hessian = Hessian { rows: &self.curvatures, ridge, bias_ridge };
        let preconditioner =
            self.preconditioner.get_or_insert_with(|| Preconditioner::new(problem, &hessian));
        let mut direction = Point::zero(problem.rows.columns());
        let mut residual = self.gradient.scaled(-1.0);
        let mut z = preconditioner.times(&residual);
        let mut search = z.clone();
        let mut rz = residual.dot(&z);
        let goal = accuracy * accuracy * residual.dot(&residual);
        self.iterations = 0;
        if accuracy >= ROUGH && preconditioner.is_factor() {
            return Some(z);
        }
        while residual.dot(&residual) > goal && rz > 0.0 && self.iterations < MOST_ITERATIONS {
            if !watch.goes_on() {
                return None;
            }
            let product = hessian.times(problem, &search);
            let curvature = search.dot(&product);
            if !(curvature > 0.0 && curvature.is_finite()) {
                break;
            }
            let alpha = rz / curvature;
            direction.add(alpha, &search);
            residual.add(-alpha, &product);
            z = preconditioner.times(&residual);
            let next = residual.dot(&z);
            let beta = next / rz;
            rz = next;
            search = search.scaled(beta);
            search.add(1.0, &z);
            self.iterations += 1;
        }
        if self.iterations == 0 {
            // Nothing is curved here: down the slope, as far as the line search likes.
            return Some(z);
        }
        Some(direction)
    }

    /// Moves along a direction, as far as it leads down.
    fn search<L: Loss>(
        &mut self,
        problem: &Problem<'_, L, L2>,
        at: &(impl Fn(usize, f64) -> Local + Sync),
        direction: Point,
    ) -> Moved {
        let rise = self.gradient.dot(&direction);
        if !(rise < 0.0 && rise.is_finite()) {
            return Moved::Nowhere;
        }
        problem.scores_into(&direction, &mut self.moves);
        let line = Line::new(problem, &self.point, &direction, self.mean, rise);
        let (mut bracket, mut evaluated_at) = (Bracket::default(), 0.0);
        let mut best: Option<Trial> = None;
        for _ in 0..MOST_TRIALS {
            evaluated_at = bracket.length;
            let trial = line.trial(bracket.length, self.evaluate_along(problem, at, bracket.length));
            if trial.is_acceptable {
                best = Some(trial);
                if trial.slope.abs() <= FLAT * rise.abs() {
                    break;
                }
            }
            if !bracket.narrow(&trial) {
                break;
            }
        }
        let Trial { length, change, mean, .. } =
            best.unwrap_or(Trial { mean: line.mean, ..Trial::default() });
        if length != evaluated_at {
            self.evaluate_along(problem, at, length);
        }
        self.mean = mean;
        if length == 0.0 {
            return Moved::Nowhere;
        }
        self.move_by(length, &direction);
        self.differentiate(problem);
        Moved::By(-change)
    }

    /// `x ← x + length·d`, for the scores too.
    fn move_by(&mut self, length: f64, direction: &Point) {
        self.point.add(length, direction);
        self.scores.par_chunks_mut(CHUNK).zip(self.moves.par_chunks(CHUNK)).for_each(|(scores, moves)| {
            for (score, step) in scores.iter_mut().zip(moves) {
                *score += length * step;
            }
        });
    }
}

/// The objective along a line, as a change from where the line starts.
struct Line {
    /// The mean of the functions at the start.
    mean: f64,
    /// The slope of the objective at the start.
    rise: f64,
    /// The penalty changes by `length·linear + length²·square/2`.
    linear: f64,
    square: f64,
}

/// A point on the line.
#[derive(Clone, Copy, Default)]
struct Trial {
    length: f64,
    /// The change of the objective.
    change: f64,
    /// The mean of the functions.
    mean: f64,
    /// The first two derivatives of the objective.
    slope: f64,
    curvature: f64,
    is_acceptable: bool,
}

impl Line {
    fn new<L: Loss>(
        problem: &Problem<'_, L, L2>,
        point: &Point,
        direction: &Point,
        mean: f64,
        rise: f64,
    ) -> Self {
        let penalised = |p: &Point| Point {
            bias: if problem.bias == Bias::Penalised { p.bias } else { 0.0 },
            ..p.clone()
        };
        let (l2, point, along) = (problem.penalty.0, penalised(point), penalised(direction));
        Self { mean, rise, linear: l2 * point.dot(&along), square: l2 * along.dot(&along) }
    }

    fn trial(&self, length: f64, there: Along) -> Trial {
        let change = there.mean - self.mean + length * self.linear + 0.5 * length * length * self.square;
        Trial {
            length,
            change,
            mean: there.mean,
            slope: there.slope + self.linear + length * self.square,
            curvature: there.bend + self.square,
            is_acceptable: change.is_finite() && change <= ENOUGH * length * self.rise,
        }
    }
}

/// The interval that the minimum along a line lies in, and the next length to try.
struct Bracket {
    low: f64,
    high: f64,
    length: f64,
}

impl Default for Bracket {
    fn default() -> Self {
        Self { low: 0.0, high: f64::INFINITY, length: 1.0 }
    }
}

impl Bracket {
    /// Takes a trial for an end of the interval and chooses the next length: Newton's, if it lies within.
    /// Returns whether the interval is still worth searching.
    fn narrow(&mut self, trial: &Trial) -> bool {
        if trial.slope > 0.0 || !trial.is_acceptable {
            self.high = trial.length
        } else {
            self.low = trial.length
        }
        let newton = trial.length - trial.slope / trial.curvature;
        // Where the curvature is next to zero, Newton's length may be far too large.
        let farthest = if self.high.is_finite() { self.high } else { FARTHER * trial.length };
        self.length = if newton > self.low && newton < farthest {
            newton
        } else if self.high.is_finite() {
            0.5 * (self.low + self.high)
        } else {
            farthest
        };
        !(self.high.is_finite() && self.high - self.low <= 1e-12 * self.high)
    }
}

/// What the penalty adds to the bias's curvature; `None` if there is no bias.
fn bias_ridge<L: Loss>(problem: &Problem<'_, L, L2>) -> Option<f64> {
    match problem.bias {
        Bias::Free => Some(0.0),
        Bias::Penalised => Some(problem.penalty.0),
        Bias::None => None,
    }
}
