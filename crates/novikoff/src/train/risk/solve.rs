//! All weight vectors of a problem: one after the other, several at once, or all classes jointly.

use super::super::learner::Risk;
use super::gap::{GapCheck, Regularized, UNKNOWN, of_max_margin};
use super::goal::Goal;
use crate::control::Watch;
use crate::data::Matrix;
use crate::loss::{Hinge, Loss};
use crate::model::Weights;
use crate::penalty::{L2, Penalty};
use crate::risk::{Gap, Joint, Point, Problem};
use crate::solver::{
    Conditioned, Control, Solution, Solver, Step, Termination, WarmStart, max_margin, multinomial,
};
use rayon::prelude::*;

/// What a solver came to for one weight vector, or for all if they were learned jointly.
pub(super) struct OutputResult {
    pub(super) gap: Gap,
    /// Without a penalty: an objective that is as good as zero, because targets are met up to rounding.
    pub(super) negligible: f64,
    /// The rows' scores; empty where they were not kept.
    pub(super) scores: Vec<f64>,
    pub(super) termination: Termination,
    pub(super) steps: usize,
    pub(super) trace: Vec<Step>,
    /// The bracket of the largest margin, if that was looked for.
    pub(super) margin: Option<(f64, f64)>,
}

/// All weight vectors, and warm starts for a problem like this one.
pub(super) struct Solved {
    pub(super) weights: Weights,
    pub(super) results: Vec<OutputResult>,
    pub(super) starts: Vec<WarmStart>,
}

/// How a loss is minimised: with a penalty, by a solver.
pub(super) struct Method<'a, L, P> {
    pub(super) loss: L,
    pub(super) penalty: P,
    pub(super) solver: &'a (dyn Solver<L, P> + Sync),
    /// Whether the solver may be given shifted columns: its steps must not depend on that.
    pub(super) columns: Columns,
}

/// Which columns a solver works on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Those of the rows.
    AsGiven,
    /// Those that make rounding errors smallest.
    Conditioned,
}

/// The rows of a problem, what is to be predicted, and who watches.
#[derive(Clone, Copy)]
pub(super) struct Task<'a, 'w> {
    pub(super) rows: &'a Matrix<'a>,
    pub(super) goal: &'a Goal,
    pub(super) settings: &'a Risk,
    /// Most steps of the solver.
    pub(super) steps: usize,
    pub(super) watch: &'w Watch<'w>,
}

impl<'a, 'w> Task<'a, 'w> {
    fn control(&self, output: usize) -> Control<'w> {
        Control {
            // By a little more than rounding, which the gap that is reported makes up for.
            tolerance: self.settings.tolerance * (1.0 - 1e-4),
            steps: self.steps,
            seed: self.settings.shared.seed,
            output: (output, self.goal.outputs),
            trace: self.settings.trace,
            watch: self.watch,
        }
    }

    fn problem<'b, L, P>(
        &self,
        rows: &'b Matrix<'b>,
        targets: &'b [f64],
        loss: L,
        penalty: P,
    ) -> Problem<'b, L, P>
    where
        'a: 'b,
    {
        let Goal { weights, total, .. } = self.goal;
        Problem {
            rows,
            targets,
            row_weights: weights,
            total: *total,
            loss,
            penalty,
            bias: self.settings.bias,
        }
    }
}

/// Solves for each weight vector by itself.
pub(super) fn separately<L: Loss, P: Penalty>(
    method: &Method<'_, L, P>,
    task: Task<'_, '_>,
    starts: &[WarmStart],
) -> Solved {
    let regularized = if method.penalty.dual_radius() > 0.0 { Regularized::Yes } else { Regularized::No };
    let check = GapCheck::new(&task, regularized);
    let conditioned = check.conditioned.as_ref().filter(|_| method.columns == Columns::Conditioned);
    let rows = conditioned.map_or(task.rows, Conditioned::rows);
    let starts: Vec<WarmStart> = match conditioned {
        Some(_) => starts.iter().map(|start| check.forth(start)).collect(),
        None => starts.to_vec(),
    };
    let count = task.goal.outputs;
    let width = if task.settings.trace { 1 } else { method.solver.multi_output_width(rows, count) };
    let group = |first: usize| {
        let outputs: Vec<usize> = (first..count.min(first + width)).collect();
        // What is not begun is left at zero.
        if first > 0 && task.watch.stopped() {
            return outputs.into_iter().map(|_| unsolved(task.rows.columns())).collect();
        }
        let targets: Vec<Vec<f64>> = outputs.iter().map(|output| task.goal.targets_of(*output)).collect();
        let problems: Vec<Problem<'_, L, P>> =
            targets.iter().map(|targets| task.problem(rows, targets, method.loss, method.penalty)).collect();
        let controls: Vec<Control<'_>> = outputs.iter().map(|output| task.control(*output)).collect();
        let begin: Vec<Option<&WarmStart>> = outputs.iter().map(|output| starts.get(*output)).collect();
        let solutions = match width {
            1 => vec![method.solver.solve(&problems[0], begin[0], &controls[0])],
            _ => method.solver.solve_multi_output(&problems, &begin, &controls),
        };
        let solved = problems.iter().zip(solutions);
        solved.map(|(problem, solution)| check.of(problem, brought_back(solution, conditioned))).collect()
    };
    let firsts: Vec<usize> = (0..count).step_by(width).collect();
    let solved: Vec<Vec<(WarmStart, OutputResult)>> = firsts.into_par_iter().map(group).collect();
    collect(solved.into_iter().flatten(), task.rows.columns())
}

/// What stands in for an output that the solver did not come to.
fn unsolved(columns: usize) -> (WarmStart, OutputResult) {
    let result = OutputResult {
        gap: UNKNOWN,
        negligible: 0.0,
        scores: Vec::new(),
        termination: Termination::Interrupted,
        steps: 0,
        trace: Vec::new(),
        margin: None,
    };
    (WarmStart { point: Point::zero(columns), duals: Vec::new() }, result)
}

/// The solution for the rows as they are. The way back from conditioned columns rounds the bias, so the gap
/// has to be computed anew.
fn brought_back(solution: Solution, conditioned: Option<&Conditioned>) -> Solution {
    match conditioned {
        Some(conditioned) => Solution { point: conditioned.back(&solution.point), ..solution },
        None => solution,
    }
}

/// Solves for the largest margin of each weight vector.
pub(super) fn for_max_margin(task: Task<'_, '_>) -> Solved {
    let one = |output: usize| {
        if output > 0 && task.watch.stopped() {
            return unsolved(task.rows.columns());
        }
        let targets = task.goal.targets_of(output);
        let problem = task.problem(task.rows, &targets, Hinge, L2(0.0));
        let found = max_margin(&problem, &task.control(output));
        of_max_margin(&problem, found, task.settings.tolerance)
    };
    let solved: Vec<(WarmStart, OutputResult)> = (0..task.goal.outputs).into_par_iter().map(one).collect();
    collect(solved.into_iter(), task.rows.columns())
}

/// Solves for all classes jointly: multinomial logistic regression.
pub(super) fn jointly(lambda: f64, task: Task<'_, '_>, starts: &[WarmStart]) -> Solved {
    let regularized = if lambda > 0.0 { Regularized::Yes } else { Regularized::No };
    let check = GapCheck::new(&task, regularized);
    let rows = check.conditioned.as_ref().map_or(task.rows, Conditioned::rows);
    let Goal { ranked, weights, total, outputs, .. } = task.goal;
    let problem = Joint {
        rows,
        classes: ranked,
        count: *outputs,
        row_weights: weights,
        total: *total,
        lambda,
        bias: task.settings.bias,
    };
    let begin = (starts.len() == *outputs).then(|| {
        let starts: Vec<WarmStart> = starts.iter().map(|start| check.forth(start)).collect();
        assemble(&starts, rows.columns())
    });
    let control = Control { output: (0, 1), ..task.control(0) };
    let solution = multinomial(&problem, begin.as_ref(), &control);
    let starts: Vec<WarmStart> =
        apart(&solution.weights).into_iter().map(|start| check.back(start)).collect();
    let weights = assemble(&starts, rows.columns());
    let result = check.of_joint(&problem, &weights, solution);
    Solved { weights, results: vec![result], starts }
}

fn collect(solved: impl Iterator<Item = (WarmStart, OutputResult)>, columns: usize) -> Solved {
    let (starts, results): (Vec<WarmStart>, Vec<OutputResult>) = solved.unzip();
    Solved { weights: assemble(&starts, columns), results, starts }
}

/// Weight vectors side by side.
pub(super) fn assemble(starts: &[WarmStart], columns: usize) -> Weights {
    const COLUMNS: usize = 4096;
    let outputs = starts.len();
    let mut weights = Weights::zero(columns, outputs);
    weights.values.par_chunks_mut((COLUMNS * outputs).max(1)).enumerate().for_each(|(chunk, values)| {
        let first = chunk * COLUMNS;
        for (number, start) in starts.iter().enumerate() {
            let own = start.point.weights.iter().skip(first);
            for (place, w) in values.iter_mut().skip(number).step_by(outputs).zip(own) {
                // Plus zero: a negative zero would be another byte in the file.
                *place = w + 0.0;
            }
        }
    });
    for (bias, start) in weights.bias.iter_mut().zip(starts) {
        *bias = start.point.bias + 0.0;
    }
    weights
}

/// Each weight vector by itself: the other way round.
pub(super) fn apart(weights: &Weights) -> Vec<WarmStart> {
    let outputs = weights.outputs();
    let one = |number: usize| {
        let values = weights.values.iter().skip(number).step_by(outputs).copied().collect();
        WarmStart { point: Point { weights: values, bias: weights.bias[number] }, duals: Vec::new() }
    };
    (0..outputs).map(one).collect()
}
