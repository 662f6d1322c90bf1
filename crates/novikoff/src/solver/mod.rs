//! Solvers: weights that minimise a [`Problem`], with all rows at hand.
//!
//! Which losses and penalties a solver works with is an implementation of [`Solver`], not a check: a wrong
//! pair does not compile. The trait is open. A solver that is defined elsewhere gets its scores, sums and
//! gradients from the passes of [`Problem`], its stopping rule from
//! [`duality_gap`](crate::risk::duality_gap), and tells observers of its steps by a [`Recorder`].
//!
//! | solver | loss | penalty |
//! |---|---|---|
//! | [`Newton`] | smooth | ℓ2, or none |
//! | [`AugmentedLagrangian`] | with a proximal operator | ℓ2 |
//! | [`DualCoordinateDescent`] | with a proximal operator | ℓ2 |
//! | [`CoordinateDescent`] | smooth | ℓ1 and ℓ2 |
//! | [`ProximalGradient`] | smooth | any with a proximal operator |
//! | [`GradientDescent`], [`StochasticGradient`] | any | ℓ2, or none |
//! | [`LeastSquares`] | squared | ℓ2, or none |
//! | [`Simplex`] | absolute, quantile | none |
//! | [`Boosting`] | exponential | ℓ2, or none |

mod augmented_lagrangian;
mod boosting;
mod conditioned;
mod coordinate;
mod double_double;
mod dual_coordinate;
mod gap_schedule;
mod gradient_descent;
mod hessian;
mod joint_rigorous_gap;
mod least_squares;
mod linear_dependence;
mod max_margin;
mod multinomial;
mod nearest_point;
mod newton;
mod newton_cg;
mod proximal_gradient;
mod recorder;
mod rigorous_gap;
mod simplex;
mod stochastic_gradient;
mod subsample;

pub use crate::control::Termination;
pub use augmented_lagrangian::AugmentedLagrangian;
pub use boosting::Boosting;
pub use coordinate::{CoordinateDescent, largest_l1};
pub use dual_coordinate::DualCoordinateDescent;
pub use gradient_descent::{Direction, GradientDescent, Schedule, Visit, Walk};
pub use least_squares::LeastSquares;
pub use multinomial::{JointSolution, multinomial};
pub use newton::Newton;
pub use proximal_gradient::ProximalGradient;
pub use recorder::{Recorder, Step};
pub use rigorous_gap::REACH;
pub use simplex::Simplex;
pub use stochastic_gradient::StochasticGradient;

pub(crate) use conditioned::{Allowed, Conditioned};
pub(crate) use joint_rigorous_gap::{joint_gap_in_ball, joint_rigorous_gap};
pub(crate) use linear_dependence::{Obstacle, dependence};
pub(crate) use max_margin::{MaxMargin, max_margin};
pub(crate) use multinomial::stationary;
pub(crate) use nearest_point::{NearestPoint, Signed, nearest_point};
pub(crate) use rigorous_gap::{Sizes, gap_in_ball, is_significant, negligible_objective, rigorous_gap};

use crate::control::Watch;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::{Gap, Point, Problem, scores_and_gap};

/// A method that minimises problems with this loss and this penalty.
pub trait Solver<L: Loss, P: Penalty> {
    /// Minimises, from a warm start or from zero.
    fn solve(
        &self,
        problem: &Problem<'_, L, P>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution;

    /// Refuses settings with which it cannot work, such as a step of zero.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// How many of so many problems over the same rows are best solved at once, by one thread. If it is more
    /// than one, all of them go through [`Solver::solve_multi_output`].
    fn multi_output_width(&self, rows: &Matrix, problems: usize) -> usize {
        let _ = (rows, problems);
        1
    }

    /// Minimises several problems that differ in their targets alone. How they are put together changes no
    /// solution.
    fn solve_multi_output(
        &self,
        problems: &[Problem<'_, L, P>],
        starts: &[Option<&WarmStart>],
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
    /// The largest number of steps (passes, for solvers that go row by row).
    pub steps: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// The number of the weight vector that is being computed, and how many there are.
    pub output: (usize, usize),
    /// Whether to keep a trace of all steps.
    pub trace: bool,
    /// The observer of every step, which may stop the solver.
    pub watch: &'a Watch<'a>,
}

/// Where to begin: the solution of a similar problem.
#[derive(Clone, Debug, Default)]
pub struct WarmStart {
    /// Weights and bias.
    pub point: Point,
    /// The duals of the rows; empty if they are not known.
    pub duals: Vec<f64>,
}

/// What a solver returns.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Weights and bias.
    pub point: Point,
    /// The duals of the rows, where the solver works with them.
    pub duals: Option<Vec<f64>>,
    /// Why it stopped. This is the solver's own criterion; the gap of the point is computed anew.
    pub termination: Termination,
    /// Steps made.
    pub steps: usize,
    /// All steps, if [`Control::trace`] asked for them.
    pub trace: Vec<Step>,
    /// Scores and gap of this very point, where the solver has computed them. Those of solvers from outside
    /// are computed anew.
    pub certified: Option<Certified>,
}

/// A point's scores, and its gap computed from them.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The scores of all rows.
    pub scores: Vec<f64>,
    /// Their duality gap; without a penalty, the gap among weights up to [`REACH`] times as long.
    pub gap: Gap,
    /// The duals that prove the gap, where they are not the solver's own.
    pub duals: Option<Vec<f64>>,
}

impl Certified {
    /// In one pass over the rows.
    pub(crate) fn new<L: Loss, P: Penalty>(
        problem: &Problem<'_, L, P>,
        point: &Point,
        duals: Option<&[f64]>,
    ) -> Self {
        let (scores, gap) = scores_and_gap(problem, point, duals);
        Self { scores, gap, duals: None }
    }
}

/// Refuses steps of no length.
fn check_step(step: f64) -> Result<()> {
    match step.is_finite() && step > 0.0 {
        true => Ok(()),
        false => Err(Error::usage(format!("`step` must be a positive number, not {step}"))),
    }
}

#[cfg(test)]
mod fixture;
