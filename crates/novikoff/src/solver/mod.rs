//! 5b — The whole data set at once: weights that minimise a [`Problem`].
//!
//! Which losses and penalties a solver can work with is an implementation of [`Solver`], not a check: a pair
//! that cannot work does not compile, and `train` turns names into pairs that do.

mod augmented;
mod boosting;
mod bounds;
mod conditioned;
mod coordinate;
mod curvature;
mod dependence;
mod double;
mod dual_coordinate;
mod gradient;
mod joint_bounds;
mod least_squares;
mod max_margin;
mod moments;
mod multinomial;
mod nearest_point;
mod newton;
mod part;
mod simplex;
mod smooth;
mod stochastic;

pub use augmented::Augmented;
pub use boosting::Boosting;
pub use bounds::{REACH, Sizes, in_ball, is_told, met, proven, sound};
pub use conditioned::{Allowed, Conditioned};
pub use coordinate::{Coordinate, largest_l1};
pub use dependence::{Obstacle, dependence};
pub use dual_coordinate::DualCoordinate;
pub use gradient::{Direction, Gradient, Schedule, Visit, Walk};
pub use joint_bounds::{joint_in_ball, joint_sound};
pub use least_squares::{LeastSquares, optimality};
pub use max_margin::{MaxMargin, max_margin};
pub use multinomial::{JointSolution, multinomial, stationary};
pub use nearest_point::{NearestPoint, Signed, nearest_point};
pub use newton::Newton;
pub use simplex::Simplex;
pub use stochastic::Stochastic;

use crate::control::{Flow, Progress, Watch};
use crate::data::Matrix;
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::{Gap, Point, Problem, scores_and_gap};
use std::time::Instant;

/// A way to the minimum of problems with this loss and this penalty.
pub trait Solver<L: Loss, P: Penalty> {
    /// Minimises, from `start` or from zero.
    fn solve(&self, problem: &Problem<'_, L, P>, start: Option<&Start>, control: &Control<'_>) -> Solution;

    /// How many of so many problems over the same rows are best solved at once, by one thread. If it is more
    /// than one, all of them go through [`Solver::solve_abreast`].
    fn abreast(&self, rows: &Matrix, problems: usize) -> usize {
        let _ = (rows, problems);
        1
    }

    /// Minimises several problems that differ in their targets alone. How they are put together changes no
    /// solution.
    fn solve_abreast(
        &self,
        problems: &[Problem<'_, L, P>],
        starts: &[Option<&Start>],
        controls: &[Control<'_>],
    ) -> Vec<Solution> {
        let each = problems.iter().zip(starts).zip(controls);
        each.map(|((problem, start), control)| self.solve(problem, *start, control)).collect()
    }
}

/// When to stop, and whom to tell.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// Most steps (passes, for solvers that go row by row).
    pub steps: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// The weight vector under way, and how many there are.
    pub output: (usize, usize),
    /// Whether every step is to be kept.
    pub trace: bool,
    /// Told of every step; may say stop.
    pub watch: &'a Watch<'a>,
}

/// Where to begin: what a solver returned for a problem like this one.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Weights and bias.
    pub point: Point,
    /// The duals of the rows; empty if they are not known.
    pub duals: Vec<f64>,
}

/// What a solver came to.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Weights and bias.
    pub point: Point,
    /// The duals of the rows, where the solver works with them.
    pub duals: Option<Vec<f64>>,
    /// Why it ended. Whether the gap is reached is not for the solver to say: it is computed anew for the
    /// point returned.
    pub ended: Ended,
    /// Steps made.
    pub steps: usize,
    /// Every step, if that was asked for.
    pub trace: Vec<Step>,
    /// The certificate of this very point, where the solver has already computed it.
    pub certified: Option<Certified>,
}

/// A point's scores, and its gap computed from them.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The scores of all rows.
    pub scores: Vec<f64>,
    /// What [`scores_and_gap`] says of them, or without a penalty [`in_ball`].
    pub gap: Gap,
    /// The duals that prove it, where they are not the solver's own.
    pub duals: Option<Vec<f64>>,
}

impl Certified {
    /// Looks at all rows.
    pub fn new<L: Loss, P: Penalty>(
        problem: &Problem<'_, L, P>,
        point: &Point,
        duals: Option<&[f64]>,
    ) -> Self {
        let (scores, gap) = scores_and_gap(problem, point, duals);
        Self { scores, gap, duals: None }
    }
}

/// Why a solver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By its own measure it is there.
    Arrived,
    /// There were no more steps.
    OutOfSteps,
    /// No step made anything better: as far as these numbers go.
    Stalled,
    /// There is no minimum: every row is on its side of a hyperplane, and longer weights give ever less.
    Diverging,
    /// Somebody asked to stop.
    Interrupted,
}

/// Without a penalty no gap comes with the steps: a cheap sign of arrival says when it is time for a proof.
struct Arrival {
    enough: f64,
}

impl Arrival {
    /// Whether the sign is small enough and the proof succeeds. If it does not, the next sign has to be a
    /// tenth as large.
    fn is(&mut self, sign: f64, proof: impl FnOnce() -> bool) -> bool {
        if sign.is_nan() || sign > self.enough {
            return false;
        }
        let proven = proof();
        self.enough *= if proven { 1.0 } else { 0.1 };
        proven
    }
}

/// A step of a solver; a row of `--trace`.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// From 0, where the solver began.
    pub step: usize,
    /// The objective there.
    pub objective: f64,
    /// The relative gap, where it is known.
    pub gap: Option<f64>,
    /// The length of the gradient, where it is known.
    pub gradient: Option<f64>,
    /// The size of the step that follows, where a schedule gives one.
    pub size: Option<f64>,
    /// Seconds since the solver began.
    pub seconds: f64,
    /// Where it was, for problems small enough to look at.
    pub point: Option<Point>,
}

/// Problems with no more columns than this have their points in the trace.
const SMALL: usize = 32;

/// A solver's own account of its steps: it tells the observer and keeps the trace.
struct Watched<'a> {
    control: Control<'a>,
    began: Instant,
    steps: usize,
    trace: Vec<Step>,
}

impl<'a> Watched<'a> {
    fn new(control: &Control<'a>) -> Self {
        Self { control: *control, began: Instant::now(), steps: 0, trace: Vec::new() }
    }

    /// Steps made so far.
    fn steps(&self) -> usize {
        self.steps.saturating_sub(1)
    }

    /// At the start, and after every step. Returns whether to stop.
    fn step(
        &mut self,
        objective: f64,
        gap: Option<f64>,
        gradient: Option<f64>,
        point: Option<&Point>,
    ) -> bool {
        if self.control.trace {
            self.trace.push(Step {
                step: self.steps,
                objective,
                gap,
                gradient,
                size: None,
                seconds: self.began.elapsed().as_secs_f64(),
                point: point.filter(|point| point.weights.len() <= SMALL).cloned(),
            });
        }
        let (output, outputs) = self.control.output;
        let progress = Progress::Solving { output, outputs, step: self.steps, objective, gap };
        self.steps += 1;
        self.control.watch.tell(progress) == Flow::Stop
    }

    /// The same, for those that close an interval around a margin.
    fn bracket(&mut self, lower: f64, upper: f64) -> bool {
        let progress = Progress::Margin { round: self.steps, lower, upper };
        self.steps += 1;
        self.control.watch.tell(progress) == Flow::Stop
    }

    fn finish(self, point: Point, duals: Option<Vec<f64>>, ended: Ended) -> Solution {
        Solution { point, duals, ended, steps: self.steps(), trace: self.trace, certified: None }
    }
}

#[cfg(test)]
mod fixture;
