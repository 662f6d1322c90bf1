//! Solvers from outside: what they return is looked at before anything is made of it.

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::penalty::Penalty;
use crate::risk::{Point, Problem};
use crate::solver::{Control, Solution, Solver, WarmStart};
use std::sync::OnceLock;

/// A solver whose solutions are brought into shape: scores and gaps that it says to have are left out, so
/// that they are computed anew, and so are duals that are not one for each row.
pub(super) struct Guarded<'a, S> {
    solver: &'a S,
    /// What it returned that is no solution at all.
    fault: OnceLock<String>,
}

impl<'a, S> Guarded<'a, S> {
    pub(super) fn new(solver: &'a S) -> Self {
        Self { solver, fault: OnceLock::new() }
    }

    /// Why its solutions cannot be used, if they cannot.
    pub(super) fn fault(self) -> Option<Error> {
        let what = self.fault.into_inner()?;
        Some(Error::usage(what).hint("see the documentation of `Solver`"))
    }

    fn report(&self, what: String) {
        // The first one is enough.
        let _ = self.fault.set(what);
    }

    fn checked<L, P>(&self, problem: &Problem<'_, L, P>, mut solution: Solution) -> Solution
    where
        L: Loss,
        P: Penalty,
    {
        let (columns, given) = (problem.rows.columns(), solution.point.weights.len());
        if given != columns {
            self.report(format!("the solver returned {given} weights for {columns} columns"));
            solution.point = Point::zero(columns);
        }
        solution.duals = solution.duals.filter(|duals| duals.len() == problem.len());
        Solution { certified: None, ..solution }
    }
}

impl<L: Loss, P: Penalty, S: Solver<L, P>> Solver<L, P> for Guarded<'_, S> {
    fn solve(
        &self,
        problem: &Problem<'_, L, P>,
        start: Option<&WarmStart>,
        control: &Control<'_>,
    ) -> Solution {
        self.checked(problem, self.solver.solve(problem, start, control))
    }

    fn check(&self) -> Result<()> {
        self.solver.check()
    }

    fn multi_output_width(&self, rows: &Matrix, problems: usize) -> usize {
        self.solver.multi_output_width(rows, problems).max(1)
    }

    fn solve_multi_output(
        &self,
        problems: &[Problem<'_, L, P>],
        starts: &[Option<&WarmStart>],
        controls: &[Control<'_>],
    ) -> Vec<Solution> {
        let mut solutions = self.solver.solve_multi_output(problems, starts, controls);
        let given = solutions.len();
        if given != problems.len() {
            self.report(format!("the solver returned {given} solutions of {} problems", problems.len()));
            solutions.truncate(problems.len());
            let missing = problems[solutions.len()..].iter().zip(&controls[solutions.len()..]);
            solutions.extend(missing.map(|(problem, control)| nothing(problem, control)));
        }
        problems.iter().zip(solutions).map(|(problem, solution)| self.checked(problem, solution)).collect()
    }
}

/// In place of a solution that is not there.
fn nothing<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, control: &Control<'_>) -> Solution {
    let point = Point::zero(problem.rows.columns());
    crate::solver::Recorder::new(control).finish(point, None, crate::solver::Termination::Stalled)
}
