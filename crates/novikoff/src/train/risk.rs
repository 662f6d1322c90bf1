//! Batch learners: a loss, a penalty and a solver by name, and what their fit came to.

use super::certify::{length, objectives};
use super::classes::{Classes, check_size, effective_weights, weightless};
use super::fit::{Details, Fit};
use super::learner::{ClassWeight, Criterion, Risk, SolverName, Strength};
use crate::certificate::proof::{Combination, Direction, SignedRows};
use crate::control::{Observer, Watch};
use crate::data::{Dataset, Labels, Matrix, Scale};
use crate::error::{Error, Result};
use crate::evaluate::{self, Evaluation, Regression};
use crate::loss::{
    Absolute, Exponential, Hinge, HingeAtZero, Logistic, Loss, LossName, Squared, SquaredHinge,
};
use crate::model::{About, Calibration, Model, Scorer, Task, Weights};
use crate::multiclass::Scheme;
use crate::online::Stopped;
use crate::penalty::{ElasticNet, L2, Penalty};
use crate::risk::{Gap, Joint, Point, Problem, joint_gap};
use crate::solver::{
    Allowed, Augmented, Boosting, Certified, Conditioned, Control, Coordinate, DualCoordinate, JointSolution,
    LeastSquares, MaxMargin, Newton, REACH, Simplex, Sizes, Solution, Solver, Step, Termination, WarmStart,
    gap_in_ball, is_significant, joint_gap_in_ball, joint_rigorous_gap, max_margin, multinomial,
    negligible_objective, rigorous_gap, stationary,
};
use rayon::prelude::*;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a batch fit came to, all of it for the model returned.
#[derive(Clone, Debug)]
pub struct RiskFit {
    /// The loss.
    pub loss: LossName,
    /// The factor of `½‖w‖²`.
    pub lambda: f64,
    /// The factor of `‖w‖₁`.
    pub l1: f64,
    /// The solver that did it.
    pub solver: SolverName,
    /// Why that one, if it was chosen here.
    pub why: Option<String>,
    /// The objective (of all weight vectors together).
    pub objective: f64,
    /// The largest lower bound found on it, in spite of all rounding; `None` where there is none. Without a
    /// penalty it is one on weights up to [`REACH`](crate::solver::REACH) times as long as these, times the
    /// largest value of each column.
    pub dual: Option<f64>,
    /// `(objective − dual)/objective`.
    pub relative_gap: Option<f64>,
    /// Whether numbers are met so well that the gap is as good as none, however large beside what is left of
    /// the objective.
    pub met: bool,
    /// The length of the gradient. `None` where duals tell.
    pub gradient: Option<f64>,
    /// Steps of the solver.
    pub steps: usize,
    /// Every step, with the number of its weight vector.
    pub trace: Vec<(usize, Step)>,
    /// How well numbers are predicted, for regression, on the rows learned from.
    pub regression: Option<Regression>,
    /// Between which two the largest margin of all hyperplanes lies, if that was what was looked for.
    pub margin: Option<(f64, f64)>,
    /// What kept it from converging, and what would help, if it did not.
    pub obstacle: Option<String>,
    /// The duals that the solver ended with, of each weight vector; empty where it has none.
    pub duals: Vec<Vec<f64>>,
    /// Error of the model on the validation rows.
    pub validation_error: Option<f64>,
}

/// A loss, with the solvers that work for it.
trait Offered: Loss {
    const NAME: LossName;

    fn with_l2(solver: SolverName, settings: &Risk) -> Option<Box<dyn Solver<Self, L2> + Sync>>;

    fn with_l1(solver: SolverName) -> Option<Box<dyn Solver<Self, ElasticNet> + Sync>>;

    /// The limit of weaker and weaker penalties on rows that can be separated, for the loss that has one.
    fn hard_margin(_: &Problem<'_, Self, L2>, _: &Control<'_>) -> Option<MaxMargin> {
        None
    }
}

/// `Offered` for a loss: the solvers for ℓ2 and those for ℓ1, by name.
macro_rules! offered {
    ($loss:ident, l2: [$($two:ident => $make:expr),*], l1: [$($one:ident),*] $(, $more:item)?) => {
        impl Offered for $loss {
            const NAME: LossName = LossName::$loss;

            $($more)?

            fn with_l2(solver: SolverName, settings: &Risk) -> Option<Box<dyn Solver<Self, L2> + Sync>> {
                match solver {
                    $(SolverName::$two => Some(Box::new($make)),)*
                    SolverName::Gradient => Some(Box::new(settings.gradient())),
                    SolverName::Stochastic => Some(Box::new(settings.stochastic())),
                    _ => None,
                }
            }

            fn with_l1(solver: SolverName) -> Option<Box<dyn Solver<Self, ElasticNet> + Sync>> {
                match solver {
                    $(SolverName::$one => Some(Box::new($one)),)*
                    _ => None,
                }
            }
        }
    };
}

offered!(Hinge, l2: [Augmented => Augmented, DualCd => DualCoordinate], l1: [],
fn hard_margin(problem: &Problem<'_, Self, L2>, control: &Control<'_>) -> Option<MaxMargin> {
    Some(max_margin(problem, control))
});
offered!(HingeAtZero, l2: [Augmented => Augmented, DualCd => DualCoordinate], l1: []);
offered!(Absolute, l2: [Augmented => Augmented, DualCd => DualCoordinate, Simplex => Simplex], l1: []);
offered!(SquaredHinge, l2: [Newton => Newton, Augmented => Augmented, DualCd => DualCoordinate], l1: [Coordinate]);
offered!(Logistic, l2: [Newton => Newton, Augmented => Augmented, DualCd => DualCoordinate], l1: [Coordinate]);
offered!(
    Squared,
    l2: [LeastSquares => LeastSquares, Newton => Newton, Augmented => Augmented, DualCd => DualCoordinate],
    l1: [Coordinate]
);
offered!(Exponential, l2: [Newton => Newton, Boosting => Boosting], l1: [Coordinate]);

/// Trains a batch learner on rows in memory.
pub(super) fn train_risk(
    settings: &Risk,
    data: &Dataset,
    validation: Option<&Dataset>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    match settings.criterion.loss() {
        LossName::Hinge => train_by(Hinge, data, validation, settings, observer),
        LossName::SquaredHinge => train_by(SquaredHinge, data, validation, settings, observer),
        LossName::Logistic => train_by(Logistic, data, validation, settings, observer),
        LossName::Exponential => train_by(Exponential, data, validation, settings, observer),
        LossName::Squared => train_by(Squared, data, validation, settings, observer),
        LossName::Absolute => train_by(Absolute, data, validation, settings, observer),
        LossName::HingeAtZero => train_by(HingeAtZero, data, validation, settings, observer),
    }
}

/// What is known of one weight vector, or of all if they were learned jointly.
struct Known {
    gap: Gap,
    /// An objective that is as good as none: what is left where numbers are met.
    none: f64,
    /// The rows' scores; empty where they were not kept.
    scores: Vec<f64>,
    ended: Termination,
    steps: usize,
    trace: Vec<Step>,
    /// Between which two the largest margin lies, if that was looked for.
    margin: Option<(f64, f64)>,
}

/// What is to be predicted.
struct Goal {
    /// Labels in their final order; `None` for regression.
    classes: Option<Classes>,
    /// The class of each row; empty for regression.
    ranked: Vec<u32>,
    /// The target of each row; empty for classes.
    targets: Vec<f64>,
    scheme: Scheme,
    outputs: usize,
    /// How much each row counts; empty if each counts once.
    weights: Vec<f64>,
    /// What the sum of losses is divided by.
    total: f64,
}

impl Goal {
    fn new(loss: LossName, data: &Dataset, settings: &Risk) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::input("there are no rows to learn from"));
        }
        let total =
            if data.row_weights.is_empty() { data.len() as f64 } else { data.row_weights.iter().sum() };
        if total <= 0.0 {
            return Err(weightless());
        }
        if settings.criterion.loss().is_of_numbers() {
            check_size(data.rows.columns(), 1)?;
            let (targets, weights) = (data.targets()?, data.row_weights.clone());
            return Ok(Self {
                classes: None,
                ranked: Vec::new(),
                targets,
                scheme: Scheme::Two,
                outputs: 1,
                weights,
                total,
            });
        }
        super::classes::refuse_targets(data)?;
        let classes = Classes::new(&data.names, &settings.shared)?;
        let scheme = scheme(loss, classes.labels.len(), settings)?;
        let outputs = scheme.outputs(classes.labels.len());
        check_size(data.rows.columns(), outputs)?;
        let ranked = classes.rank_all(&data.labels);
        let weights = effective_weights(data, &ranked, &classes.labels, &settings.shared)?;
        if !weights.is_empty() && weights.iter().all(|weight| *weight == 0.0) {
            return Err(weightless());
        }
        Ok(Self { classes: Some(classes), ranked, targets: Vec::new(), scheme, outputs, weights, total })
    }

    /// The targets of one weight vector: numbers, or +1 for its class and −1 for the others.
    fn targets_of(&self, output: usize) -> Vec<f64> {
        if self.classes.is_none() {
            return self.targets.clone();
        }
        let positive = if self.scheme == Scheme::Two { 1 } else { output as u32 };
        self.ranked.iter().map(|&class| if class == positive { 1.0 } else { -1.0 }).collect()
    }
}

/// All weight vectors, and where to begin for a problem like this one.
struct Solved {
    weights: Weights,
    known: Vec<Known>,
    starts: Vec<WarmStart>,
}

/// Solves for all weight vectors.
fn solve_all<'a, L: Offered>(
    loss: L,
    rows: &Matrix,
    goal: &Goal,
    (lambda, solver): (f64, SolverName),
    settings: &Risk,
    starts: &[WarmStart],
    watch: &'a Watch<'a>,
) -> Solved {
    let control = Control {
        // By a little more than rounding, which the gap that is reported makes up for.
        tolerance: settings.tolerance * (1.0 - 1e-4),
        steps: settings.steps.unwrap_or_else(|| most_steps(solver)),
        seed: settings.shared.seed,
        output: (0, goal.outputs),
        trace: settings.trace,
        watch,
    };
    let (row_weights, total, bias) = (&goal.weights[..], goal.total, settings.bias);
    let judge = Judge::new(rows, lambda, settings);
    // These look at columns as they are, and what they come to depends on it.
    let plain = matches!(
        solver,
        SolverName::LeastSquares | SolverName::Gradient | SolverName::Stochastic | SolverName::Boosting
    ) || settings.criterion == Criterion::MaxMargin;
    let conditioned = judge.conditioned.as_ref().filter(|_| !plain);
    let rows = conditioned.map_or(rows, Conditioned::rows);
    let moved: Vec<WarmStart> =
        conditioned.iter().flat_map(|_| starts.iter().map(|start| judge.forth(start))).collect();
    let starts = if conditioned.is_some() { &moved[..] } else { starts };
    let back = |solution: Solution| match conditioned {
        // The way back rounds the bias, so that the gap has to be computed anew.
        Some(conditioned) => Solution { point: conditioned.back(&solution.point), ..solution },
        None => solution,
    };
    if goal.scheme == Scheme::Joint {
        let problem =
            Joint { rows, classes: &goal.ranked, count: goal.outputs, row_weights, total, lambda, bias };
        let start = (starts.len() == goal.outputs).then(|| assemble(starts, rows.columns()));
        let solution = multinomial(&problem, start.as_ref(), &Control { output: (0, 1), ..control });
        let starts: Vec<WarmStart> =
            apart(&solution.weights).into_iter().map(|start| judge.back(start)).collect();
        let weights = assemble(&starts, rows.columns());
        let known = judge.jointly(&problem, &weights, solution);
        return Solved { weights, known: vec![known], starts };
    }
    let width = match L::with_l2(solver, settings) {
        Some(solver) if settings.l1 == 0.0 && !settings.trace => {
            solver.multi_output_width(rows, goal.outputs)
        }
        _ => 1,
    };
    let some = |first: usize| {
        let outputs = first..goal.outputs.min(first + width);
        let targets: Vec<Vec<f64>> = outputs.clone().map(|output| goal.targets_of(output)).collect();
        let problem =
            |targets| Problem { rows, targets, row_weights, total, loss, penalty: L2(lambda), bias };
        let problems: Vec<_> = targets.iter().map(|targets| problem(&targets[..])).collect();
        let controls: Vec<_> =
            outputs.clone().map(|output| Control { output: (output, goal.outputs), ..control }).collect();
        let begin: Vec<_> = outputs.map(|output| starts.get(output)).collect();
        if settings.criterion == Criterion::MaxMargin
            && let Some(found) = L::hard_margin(&problems[0], &controls[0])
        {
            return vec![hardest(&problems[0], found, settings.tolerance)];
        }
        match (L::with_l2(solver, settings), L::with_l1(solver)) {
            (Some(solver), _) if settings.l1 == 0.0 => {
                let solutions = match width {
                    1 => vec![solver.solve(&problems[0], begin[0], &controls[0])],
                    _ => solver.solve_multi_output(&problems, &begin, &controls),
                };
                problems
                    .iter()
                    .zip(solutions)
                    .map(|(problem, solution)| judge.alone(problem, back(solution)))
                    .collect()
            }
            (_, Some(solver)) => {
                let both = problems[0].with_penalty(ElasticNet { l2: lambda, l1: settings.l1 });
                vec![judge.penalised(&both, back(solver.solve(&both, begin[0], &controls[0])))]
            }
            _ => unreachable!("a solver is picked among those that are offered"),
        }
    };
    let firsts: Vec<usize> = (0..goal.outputs).step_by(width).collect();
    let solved: Vec<Vec<(WarmStart, Known)>> = firsts.into_par_iter().map(some).collect();
    let (starts, known): (Vec<WarmStart>, Vec<Known>) = solved.into_iter().flatten().unzip();
    Solved { weights: assemble(&starts, rows.columns()), known, starts }
}

/// The scores of each row side by side, where every output's are known.
fn scores_by_row(known: &[Known], outputs: usize, rows: usize) -> Option<Vec<f64>> {
    if known.len() != outputs || known.iter().any(|known| known.scores.len() != rows) {
        return None;
    }
    Some((0..rows).flat_map(|i| known.iter().map(move |known| known.scores[i])).collect())
}

fn train_by<L: Offered>(
    loss: L,
    data: &Dataset,
    validation: Option<&Dataset>,
    settings: &Risk,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let goal = Goal::new(L::NAME, data, settings)?;
    let lambda = lambda(settings, &goal, data.rows.columns())?;
    let (solver, why) = match goal.scheme {
        Scheme::Joint => pick_jointly(settings)?,
        _ => pick::<L>(data, lambda, settings)?,
    };
    let scaling = Scaling::new(data, settings);
    let watch = Watch::new(observer);
    // Some solvers leave a core idle.
    let solve = || solve_all(loss, scaling.rows(data), &goal, (lambda, solver), settings, &[], &watch);
    let (Solved { mut weights, mut known, starts }, data_hash) = rayon::join(solve, || data.fingerprint());
    let interrupted = watch.stopped();
    if known.iter().any(|known| !known.gap.objective.is_finite())
        || weights.values.iter().any(|w| !w.is_finite())
    {
        return Err(super::geometry::overflow());
    }
    weights.fold_back(&scaling.factors);
    if !scaling.factors.is_empty() && settings.criterion != Criterion::MaxMargin {
        let minimised = (L::NAME, lambda);
        known =
            by_the_model(known, &weights, &starts, (&goal, minimised), (data, &scaling.factors), settings)?;
    }
    let scorer = Scorer::Linear(weights);
    // The scores that the certificate is of are the model's own if its weights are.
    let known_scores =
        if scaling.factors.is_empty() { scores_by_row(&known, goal.outputs, data.len()) } else { None };
    let train_error = goal.classes.as_ref().map(|_| match known_scores {
        Some(scores) => evaluate::error_of(&scores, goal.outputs, &goal.ranked),
        None => evaluate::error(&scorer, data, &goal.ranked),
    });
    let validation_error = match (&goal.classes, validation) {
        (Some(classes), Some(held)) => Some(evaluate::error(&scorer, held, &classes.rank_all(&held.labels))),
        _ => None,
    };
    let mut risk = report(L::NAME, lambda, solver, why, known, data, settings);
    risk.validation_error = validation_error;
    risk.duals = starts.into_iter().map(|start| start.duals).collect();
    let stopped = match (&risk.obstacle, interrupted) {
        (_, true) => Stopped::Interrupted,
        (None, _) => Stopped::Converged,
        (Some(_), _) => Stopped::NotConverged,
    };
    let mut results = BTreeMap::from([
        ("steps".to_owned(), json!(risk.steps)),
        ("stopped".to_owned(), json!(stopped)),
        ("objective".to_owned(), json!(risk.objective)),
    ]);
    let mut add = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            results.insert(name.to_owned(), json!(value));
        }
    };
    add("dual", risk.dual);
    add("relative_gap", risk.relative_gap);
    add("gradient", risk.gradient);
    add("train_error", train_error);
    add("validation_error", validation_error);
    let about = About {
        learner: settings.criterion.name().name().to_owned(),
        settings: describe(settings, &goal, &risk, data),
        seed: settings.shared.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash,
        results,
    };
    // Of these losses one is a likelihood: its scores are log odds.
    let likely = if goal.scheme == Scheme::Joint { Calibration::Softmax } else { Calibration::Logistic };
    let probabilities = (L::NAME == LossName::Logistic).then_some(likely);
    let labels = goal.classes.map_or_else(Labels::default, |classes| classes.labels);
    let model = Model { about, labels, schema: data.schema.clone(), scorer, probabilities };
    if model.task() == Task::Regression
        && let Evaluation::Numbers(measured) = evaluate::evaluate(&model, data)?
    {
        risk.regression = Some(measured);
    }
    Ok(Fit {
        model,
        learner: settings.clone().into(),
        scheme: goal.scheme,
        stopped,
        train_error,
        details: Details::Risk(Box::new(risk)),
    })
}

/// Gaps of the model's own weights on the rows as they are. The scaled rows and the weights that belong to
/// them were rounded, and far from zero that can matter.
fn by_the_model(
    mut known: Vec<Known>,
    weights: &Weights,
    starts: &[WarmStart],
    (goal, minimised): (&Goal, (LossName, f64)),
    (data, factors): (&Dataset, &[f64]),
    settings: &Risk,
) -> Result<Vec<Known>> {
    let none = Labels::default();
    let labels = goal.classes.as_ref().map_or(&none, |classes| &classes.labels);
    let objectives = objectives(labels, goal.scheme, minimised, data, settings)?;
    for (at, (known, objective)) in known.iter_mut().zip(objectives).enumerate() {
        let (directions, duals): (Vec<Direction>, Option<&[f64]>) = match goal.scheme {
            Scheme::Joint => {
                ((0..goal.outputs).map(|output| Direction::of_output(weights, output)).collect(), None)
            }
            _ => (
                vec![Direction::of_output(weights, at)],
                Some(&starts[at].duals[..]).filter(|duals| duals.len() == data.len()),
            ),
        };
        let free = objective.lambda == 0.0 && objective.l1 == 0.0;
        let within = free.then(|| REACH * length(&directions, factors).max(1e-3));
        known.gap = match objective.ends(data, &directions, duals, within) {
            Ok(ends) => Gap { objective: ends.value, dual: ends.lower_bound, ..known.gap },
            Err(_) => Gap { dual: None, ..known.gap },
        };
    }
    Ok(known)
}

/// Rows with their columns brought to one size, if that was asked for.
struct Scaling {
    factors: Vec<f64>,
    scaled: Option<Matrix>,
}

impl Scaling {
    fn new(data: &Dataset, settings: &Risk) -> Self {
        if settings.scale == Scale::None {
            return Self { factors: Vec::new(), scaled: None };
        }
        let factors = data.factors(settings.scale);
        if factors.is_empty() {
            return Self { factors, scaled: None };
        }
        Self { scaled: Some(data.rows.scaled(&factors)), factors }
    }

    fn rows<'a>(&'a self, data: &'a Dataset) -> &'a Matrix {
        self.scaled.as_ref().unwrap_or(&data.rows)
    }
}

/// What solutions are judged by: the duality gap of the point that is returned, in spite of all rounding.
struct Judge<'a> {
    /// The rows that weights are for, and the same in better numbers, where there are any.
    rows: &'a Matrix,
    conditioned: Option<Conditioned>,
    sizes: Sizes,
    tolerance: f64,
}

impl<'a> Judge<'a> {
    fn new(rows: &'a Matrix, lambda: f64, settings: &Risk) -> Self {
        let penalised = lambda > 0.0 || settings.l1 > 0.0;
        let conditioned = Conditioned::of(rows, Allowed::by(settings.bias, penalised));
        let sizes = Sizes::of(conditioned.as_ref().map_or(rows, Conditioned::rows));
        Self { rows, conditioned, sizes, tolerance: settings.tolerance }
    }

    /// Without an ℓ1 penalty.
    fn alone<L: Loss>(&self, problem: &Problem<'_, L, L2>, mut solution: Solution) -> (WarmStart, Known) {
        if problem.penalty.0 > 0.0 {
            return self.penalised(problem, solution);
        }
        let (problem, point) = self.better(problem, &solution.point);
        let Certified { scores, gap, .. } = match (solution.certified.take(), &self.conditioned) {
            (Some(certified), None) => certified,
            (proven, _) => {
                let duals = proven.and_then(|proven| proven.duals).or_else(|| solution.duals.clone());
                let scores = problem.scores(&point);
                let (gap, _) = gap_in_ball(&problem, &point, &scores, duals.as_deref(), self.tolerance);
                Certified { scores, gap, duals: None }
            }
        };
        let endless = problem.loss.vanishes_at_infinity() && problem.separates(&scores);
        let ended = if endless { Termination::Diverging } else { solution.termination };
        let none = negligible_objective(&problem);
        let gap = told(&problem, &point, &scores, gap);
        self.known(Solution { termination: ended, ..solution }, gap, scores, none)
    }

    /// With a penalty of any kind.
    fn penalised<L: Loss, P: Penalty>(
        &self,
        problem: &Problem<'_, L, P>,
        mut solution: Solution,
    ) -> (WarmStart, Known) {
        let (problem, point) = self.better(problem, &solution.point);
        let duals = solution.duals.as_deref();
        let own = solution.certified.take().filter(|_| self.conditioned.is_none());
        let certified = own.unwrap_or_else(|| Certified::new(&problem, &point, duals));
        let gap = rigorous_gap(
            &problem,
            &point,
            (&certified.scores, duals),
            certified.gap,
            self.sizes,
            self.tolerance,
        );
        let gap = told(&problem, &point, &certified.scores, gap);
        self.known(solution, gap, certified.scores, 0.0)
    }

    /// The problem and the point in better numbers.
    fn better<'b, L: Loss, P: Penalty>(
        &'b self,
        problem: &Problem<'b, L, P>,
        point: &'b Point,
    ) -> (Problem<'b, L, P>, Cow<'b, Point>) {
        match &self.conditioned {
            Some(conditioned) => {
                (Problem { rows: conditioned.rows(), ..*problem }, Cow::Owned(conditioned.forth(point)))
            }
            None => (Problem { rows: self.rows, ..*problem }, Cow::Borrowed(point)),
        }
    }

    /// Of classes learned jointly.
    fn jointly(&self, problem: &Joint<'_>, weights: &Weights, solution: JointSolution) -> Known {
        let rows = self.conditioned.as_ref().map_or(self.rows, Conditioned::rows);
        let problem = &Joint { rows, ..*problem };
        let starts: Vec<WarmStart> = apart(weights).into_iter().map(|start| self.forth(&start)).collect();
        let weights = &assemble(&starts, rows.columns());
        let JointSolution { termination: mut ended, steps, trace, .. } = solution;
        let gap = if problem.lambda > 0.0 {
            joint_rigorous_gap(problem, weights, joint_gap(problem, weights), self.sizes)
        } else {
            let scores = problem.scores(weights);
            if evaluate::error_of(&scores, problem.count, problem.classes) == 0.0 {
                ended = Termination::Diverging;
            }
            joint_gap_in_ball(problem, weights, &stationary(problem, weights), self.sizes)
        };
        Known { gap, none: 0.0, scores: Vec::new(), ended, steps, trace, margin: None }
    }

    /// A start for the better numbers.
    fn forth(&self, start: &WarmStart) -> WarmStart {
        let point = self
            .conditioned
            .as_ref()
            .map_or_else(|| start.point.clone(), |better| better.forth(&start.point));
        WarmStart { point, duals: start.duals.clone() }
    }

    /// The other way round.
    fn back(&self, start: WarmStart) -> WarmStart {
        let point =
            self.conditioned.as_ref().map_or_else(|| start.point.clone(), |better| better.back(&start.point));
        WarmStart { point, ..start }
    }

    fn known(&self, solution: Solution, gap: Gap, scores: Vec<f64>, none: f64) -> (WarmStart, Known) {
        // The scores of a model are those of the rows as they are.
        let scores = if self.conditioned.is_some() { Vec::new() } else { scores };
        let Solution { point, duals, termination: ended, steps, trace, .. } = solution;
        let start = WarmStart { point, duals: duals.unwrap_or_default() };
        (start, Known { gap, none, scores, ended, steps, trace, margin: None })
    }
}

/// A gap of numbers that mean something: no objective where a score is not finite, and no bound where the
/// objective is too small.
fn told<L: Loss, P: Penalty>(problem: &Problem<'_, L, P>, point: &Point, scores: &[f64], gap: Gap) -> Gap {
    if scores.iter().any(|score| !score.is_finite()) {
        return Gap { objective: f64::NAN, dual: None, ..gap };
    }
    if is_significant(problem, point, scores, gap.objective) { gap } else { Gap { dual: None, ..gap } }
}

/// The gap of a maximal-margin hyperplane: half the squared length of its weights, and of the shortest that
/// there could be. Both margins are proved in spite of rounding.
fn hardest<L: Loss>(problem: &Problem<'_, L, L2>, found: MaxMargin, tolerance: f64) -> (WarmStart, Known) {
    let half = |margin: f64| 0.5 / (margin * margin);
    let Solution { point, termination: mut ended, steps, trace, duals, .. } = found.solution;
    let duals = duals.unwrap_or_default();
    let (lower, upper) = proved_margins(problem, &point, &duals);
    // Without a proof (of numbers too large or too small for one) nothing is said of having arrived.
    let (lower, upper) = (lower.unwrap_or(found.lower.min(0.0)), upper.unwrap_or(f64::INFINITY));
    if ended == Termination::Converged && !(lower > 0.0 && upper - lower <= tolerance * upper) {
        ended = Termination::OutOfSteps;
    }
    let separated = lower > 0.0;
    let gap = Gap {
        objective: if separated { half(lower) } else { 0.0 },
        dual: separated.then(|| half(upper)),
        gradient: Some(0.0),
    };
    (
        WarmStart { point, duals },
        Known { gap, none: 0.0, scores: Vec::new(), ended, steps, trace, margin: Some((lower, upper)) },
    )
}

/// A margin that a point has, from below, and one that no hyperplane exceeds, by the combination of rows that
/// duals are.
fn proved_margins<L: Loss>(
    problem: &Problem<'_, L, L2>,
    point: &Point,
    duals: &[f64],
) -> (Option<f64>, Option<f64>) {
    /// Parts of a combination that are smaller than this, beside the largest, are left out.
    const SMALLEST: f64 = 1e-14;
    let signs = problem.each(|i| if problem.share(i) > 0.0 { problem.targets[i] } else { 0.0 });
    let stand = SignedRows { rows: problem.rows, signs: &signs, bias: problem.bias };
    let parts = problem.each(|i| {
        let dual = duals.get(i).map_or(0.0, |dual| problem.loss.nearest_dual(problem.targets[i], *dual));
        problem.share(i) * dual.abs()
    });
    let largest = parts.iter().copied().fold(0.0, f64::max);
    let kept = (0u32..).zip(&parts).filter(|(_, part)| **part > SMALLEST * largest);
    let (rows, multipliers) = kept.map(|(i, part)| (i, part / largest)).unzip();
    let lower = stand.margin_at_least(&Direction::new(&point.weights, point.bias)).ok();
    (lower, stand.margin_at_most(&Combination { rows, multipliers }).ok())
}

/// How classes are told apart: two by one weight vector, more by one each, which only the logistic loss
/// learns jointly.
fn scheme(loss: LossName, classes: usize, settings: &Risk) -> Result<Scheme> {
    let joint = loss == LossName::Logistic && settings.l1 == 0.0;
    match settings.shared.multiclass {
        Some(Scheme::OneVsRest) if classes > 2 => Ok(Scheme::OneVsRest),
        _ if classes > 2 && joint => Ok(Scheme::Joint),
        Some(Scheme::Joint) if classes > 2 => {
            let what = format!(
                "{} learns classes one against the rest, not jointly",
                settings.criterion.name().name()
            );
            Err(Error::usage(what).hint("use --multiclass one-vs-rest"))
        }
        _ if classes == 2 => Ok(Scheme::Two),
        _ => Ok(Scheme::OneVsRest),
    }
}

fn lambda(settings: &Risk, goal: &Goal, columns: usize) -> Result<f64> {
    let total = goal.total;
    let positive = |what: &str, x: f64| {
        let fine = x.is_finite() && x >= 0.0;
        if fine { Ok(x) } else { Err(Error::usage(format!("{what} must be a number from 0, not {x}"))) }
    };
    positive("--l1", settings.l1)?;
    let tolerance = settings.tolerance;
    if !(tolerance.is_finite() && tolerance > 0.0) {
        return Err(Error::usage(format!("--tolerance must be a positive number, not {tolerance}")));
    }
    match settings.strength {
        Some(Strength::Lambda(lambda)) => positive("--lambda", lambda),
        Some(Strength::Cost(cost)) if cost.is_finite() && cost > 0.0 => Ok(1.0 / (cost * total)),
        Some(Strength::Cost(cost)) => {
            Err(Error::usage(format!("--cost must be a positive number, not {cost}")))
        }
        None if settings.l1 > 0.0 => Ok(0.0),
        None => match settings.criterion {
            Criterion::Boosting | Criterion::Loss(LossName::Squared) => Ok(0.0),
            // A linear program where its vertices are small enough to be factorised.
            Criterion::Loss(LossName::Absolute) if columns <= FEW_AT_A_VERTEX => Ok(0.0),
            // Else as little as the solver can do with: next to nothing beside losses as large as the
            // targets.
            Criterion::Loss(LossName::Absolute) => {
                let mean = goal.targets.iter().map(|y| y.abs()).sum::<f64>() / goal.targets.len() as f64;
                Ok(1e-6 / mean.clamp(1e-100, 1e100))
            }
            _ => Ok(1.0 / total),
        },
    }
}

/// More columns than this, and the simplex method takes longer for a pivot than for a pass over the rows.
const FEW_AT_A_VERTEX: usize = 500;

/// More columns than this, and Newton's method has no factor to lean on.
const FEW_COLUMNS: usize = 2048;

/// The solver, and why if it was not asked for.
fn pick<L: Offered>(data: &Dataset, lambda: f64, settings: &Risk) -> Result<(SolverName, Option<String>)> {
    let l1 = settings.l1 > 0.0;
    let works = |solver: SolverName| {
        if l1 { L::with_l1(solver).is_some() } else { L::with_l2(solver, settings).is_some() }
    };
    let offered: Vec<&str> =
        SolverName::ALL.into_iter().filter(|s| works(*s)).map(SolverName::name).collect();
    if offered.is_empty() {
        let what = format!("no solver here minimises the loss {} with an ℓ1 penalty", L::NAME.name());
        return Err(
            Error::usage(what).hint("leave out --l1, or use --loss squared-hinge, logistic or squared")
        );
    }
    let needs_l2 = |solver: SolverName| matches!(solver, SolverName::DualCd | SolverName::Augmented);
    let unsuited = |solver: SolverName| {
        if needs_l2(solver) { lambda == 0.0 } else { solver == SolverName::Simplex && lambda > 0.0 }
    };
    let asked = match (settings.solver, settings.criterion) {
        (SolverName::Auto, Criterion::Boosting) => SolverName::Boosting,
        (asked, _) => asked,
    };
    if asked != SolverName::Auto {
        let solver = asked;
        if !works(solver) {
            let penalty = if l1 { " and an ℓ1 penalty" } else { "" };
            let what = format!(
                "the solver {} does not work for the loss {}{penalty}",
                solver.name(),
                L::NAME.name()
            );
            return Err(Error::usage(what).hint(format!("solvers that do: {}", offered.join(", "))));
        }
        if needs_l2(solver) && lambda == 0.0 {
            let what = format!("the solver {} needs a penalty: λ > 0", solver.name());
            return Err(Error::usage(what).hint("give --lambda or --cost"));
        }
        if solver == SolverName::Simplex && lambda > 0.0 {
            let what = "the solver simplex minimises the loss alone, without a penalty";
            return Err(Error::usage(what).hint("give --penalty none, or leave out --solver"));
        }
        return Ok((solver, None));
    }
    let columns = data.rows.columns();
    let few = columns <= FEW_COLUMNS;
    let order: &[SolverName] = if few || lambda == 0.0 {
        &[
            SolverName::Coordinate,
            SolverName::LeastSquares,
            SolverName::Newton,
            SolverName::Augmented,
            SolverName::Simplex,
        ]
    } else {
        &[SolverName::Coordinate, SolverName::DualCd, SolverName::LeastSquares, SolverName::Newton]
    };
    let Some(solver) = order.iter().copied().find(|s| works(*s) && !unsuited(*s)) else {
        let what = format!("the loss {} needs a penalty: λ > 0", L::NAME.name());
        return Err(Error::usage(what)
            .hint("give --lambda or --cost; for separable rows there is --learner max-margin"));
    };
    let why = match solver {
        SolverName::Coordinate => "an ℓ1 penalty leaves few weights to go through".to_owned(),
        SolverName::LeastSquares => "the squared loss has a closed form".to_owned(),
        SolverName::Simplex => "without a penalty the absolute loss is a linear program".to_owned(),
        SolverName::DualCd => format!("{columns} columns are too many for second-order steps"),
        SolverName::Augmented => {
            format!("the loss has a kink, and {columns} columns allow second-order steps")
        }
        _ => format!("the loss is smooth, and {columns} columns allow second-order steps"),
    };
    Ok((solver, Some(why)))
}

/// Classes are learned jointly by Newton's method alone.
fn pick_jointly(settings: &Risk) -> Result<(SolverName, Option<String>)> {
    match settings.solver {
        SolverName::Auto => Ok((SolverName::Newton, Some("all classes at once".to_owned()))),
        SolverName::Newton => Ok((SolverName::Newton, None)),
        other => {
            let what = format!("the solver {} does not learn classes jointly", other.name());
            Err(Error::usage(what).hint("use --solver newton, or --multiclass one-vs-rest"))
        }
    }
}

/// What solvers usually need, and some.
fn most_steps(solver: SolverName) -> usize {
    match solver {
        SolverName::DualCd | SolverName::Gradient => 10_000,
        SolverName::Simplex => 100_000,
        _ => 1000,
    }
}

/// Weight vectors side by side.
fn assemble(starts: &[WarmStart], columns: usize) -> Weights {
    const COLUMNS: usize = 4096;
    let outputs = starts.len();
    let mut weights = Weights::zero(columns, outputs);
    weights.values.par_chunks_mut((COLUMNS * outputs).max(1)).enumerate().for_each(|(chunk, values)| {
        let first = chunk * COLUMNS;
        for (number, start) in starts.iter().enumerate() {
            for (place, w) in
                values.iter_mut().skip(number).step_by(outputs).zip(start.point.weights.iter().skip(first))
            {
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

/// Each weight vector for itself: the other way round.
fn apart(weights: &Weights) -> Vec<WarmStart> {
    let outputs = weights.outputs();
    let one = |number: usize| {
        let values = weights.values.iter().skip(number).step_by(outputs).copied().collect();
        WarmStart { point: Point { weights: values, bias: weights.bias[number] }, duals: Vec::new() }
    };
    (0..outputs).map(one).collect()
}

fn report(
    loss: LossName,
    lambda: f64,
    solver: SolverName,
    why: Option<String>,
    outputs: Vec<Known>,
    data: &Dataset,
    settings: &Risk,
) -> RiskFit {
    let objective: f64 = outputs.iter().map(|output| output.gap.objective).sum();
    let dual = outputs.iter().map(|output| output.gap.dual).sum::<Option<f64>>();
    let gradient =
        outputs.iter().map(|output| output.gap.gradient.map(|g| g * g)).sum::<Option<f64>>().map(f64::sqrt);
    let relative_gap = Gap { objective, dual, gradient }.relative();
    let margin = outputs.iter().filter_map(|output| output.margin).min_by(|a, b| a.0.total_cmp(&b.0));
    let none = outputs.iter().map(|output| output.none).sum::<f64>();
    let met = dual.is_some() && none > 0.0 && objective <= none;
    // What is said of a fit is what its gap says.
    let arrived = match margin {
        Some(_) => outputs.iter().all(|output| output.ended == Termination::Converged),
        None if outputs.iter().any(|output| output.ended == Termination::Diverging) => false,
        None => met || relative_gap.is_some_and(|gap| gap <= settings.tolerance),
    };
    let obstacle = (!arrived).then(|| obstacle(&outputs, data, settings));
    RiskFit {
        loss,
        lambda,
        l1: settings.l1,
        solver,
        why,
        objective,
        dual,
        relative_gap,
        met,
        gradient,
        steps: outputs.iter().map(|output| output.steps).max().unwrap_or(0),
        trace: outputs
            .into_iter()
            .enumerate()
            .flat_map(|(o, output)| output.trace.into_iter().map(move |s| (o, s)))
            .collect(),
        obstacle,
        regression: None,
        margin,
        duals: Vec::new(),
        validation_error: None,
    }
}

/// The largest obstacle to convergence, and what would help.
fn obstacle(outputs: &[Known], data: &Dataset, settings: &Risk) -> String {
    let hopeless = outputs
        .iter()
        .filter(|output| output.ended == Termination::Stalled)
        .filter_map(|output| output.margin);
    if let Some((_, upper)) = hopeless.min_by(|a, b| a.1.total_cmp(&b.1)) {
        let bound = if upper.is_finite() {
            format!("no hyperplane has a margin above {upper:e}, and ")
        } else {
            String::new()
        };
        return format!("{bound}none was found that separates the rows; use --learner svm");
    }
    if outputs.iter().any(|output| output.ended == Termination::Diverging) {
        return "the rows are separable and nothing restrains the weights, which grow without end: give --lambda".into();
    }
    if outputs
        .iter()
        .any(|output| output.margin.is_none() && output.gap.dual.is_none() && output.gap.objective < 1e-200)
    {
        return "the objective is too small for double precision: bring the targets to ordinary sizes".into();
    }
    let spread = column_spread(data);
    if spread > 1e3 {
        let spread = if spread < 1e6 { format!("{spread:.0}") } else { format!("{spread:.1e}") };
        return format!("the largest column is {spread} times the smallest: try --scale unit-variance");
    }
    if outputs.iter().any(|output| output.ended == Termination::OutOfSteps) {
        let steps = settings.steps.map_or(String::new(), |steps| format!(" {steps}"));
        return format!("the{steps} steps allowed were too few: try more --epochs, or a larger --tolerance");
    }
    "the last steps made nothing better: this is as far as double precision goes; try a larger --tolerance or --lambda".into()
}

/// How many times the largest entry of the largest column is that of the smallest.
fn column_spread(data: &Dataset) -> f64 {
    let mut largest = vec![0.0f64; data.rows.columns()];
    for i in 0..data.len() {
        data.rows.row(i).for_each_nonzero(|j, x| largest[j as usize] = largest[j as usize].max(x.abs()));
    }
    let used = || largest.iter().copied().filter(|x| *x > 0.0);
    used().fold(0.0, f64::max) / used().fold(f64::INFINITY, f64::min)
}

fn describe(
    settings: &Risk,
    goal: &Goal,
    risk: &RiskFit,
    data: &Dataset,
) -> BTreeMap<String, serde_json::Value> {
    let mut all = BTreeMap::from([
        ("bias".to_owned(), json!(settings.bias)),
        ("loss".to_owned(), json!(risk.loss)),
        ("solver".to_owned(), json!(risk.solver)),
        ("lambda".to_owned(), json!(risk.lambda)),
        ("tolerance".to_owned(), json!(settings.tolerance)),
    ]);
    let mut add = |name: &str, value| drop(all.insert(name.to_owned(), value));
    if goal.classes.is_some() {
        add("multiclass", json!(goal.scheme));
    }
    if risk.l1 > 0.0 {
        add("l1", json!(risk.l1));
    }
    if settings.scale != Scale::None {
        add("scale", json!(settings.scale));
        if let Some(columns) = data.scaled_columns() {
            add("scaled_columns", json!(columns));
        }
    }
    if let (ClassWeight::Balanced, Some(classes)) = (&settings.shared.class_weight, &goal.classes) {
        // What was made of the rows, so that the objective is known without them.
        let weights = data.balanced_weights(&classes.labels);
        add("class_weights", json!(classes.labels.names().iter().zip(weights).collect::<Vec<_>>()));
    }
    super::describe_class_weight(&settings.shared.class_weight, &mut all);
    all
}

/// Rows to learn from with one penalty after the other, and rows to measure on.
pub(super) struct Path<'a> {
    pub(super) training: Dataset,
    pub(super) held: Dataset,
    /// From the strongest to the weakest.
    pub(super) lambdas: &'a [f64],
}

/// The error on the rows held back for each penalty, each fit starting from the last; for numbers the mean
/// squared error.
pub(super) fn held_out_errors<'a>(
    path: &Path<'_>,
    settings: &Risk,
    watch: &'a Watch<'a>,
) -> Result<Vec<f64>> {
    match settings.criterion.loss() {
        LossName::Hinge => errors_by(Hinge, path, settings, watch),
        LossName::SquaredHinge => errors_by(SquaredHinge, path, settings, watch),
        LossName::Logistic => errors_by(Logistic, path, settings, watch),
        LossName::Exponential => errors_by(Exponential, path, settings, watch),
        LossName::Squared => errors_by(Squared, path, settings, watch),
        LossName::Absolute => errors_by(Absolute, path, settings, watch),
        LossName::HingeAtZero => errors_by(HingeAtZero, path, settings, watch),
    }
}

fn errors_by<'a, L: Offered>(
    loss: L,
    path: &Path<'_>,
    settings: &Risk,
    watch: &'a Watch<'a>,
) -> Result<Vec<f64>> {
    let (data, held) = (&path.training, &path.held);
    let goal = Goal::new(L::NAME, data, settings)?;
    let scaling = Scaling::new(data, settings);
    let (mut starts, mut errors) = (Vec::new(), Vec::new());
    for &lambda in path.lambdas {
        let (solver, _) = if goal.scheme == Scheme::Joint {
            pick_jointly(settings)?
        } else {
            pick::<L>(data, lambda, settings)?
        };
        let mut solved =
            solve_all(loss, scaling.rows(data), &goal, (lambda, solver), settings, &starts, watch);
        starts = solved.starts;
        solved.weights.fold_back(&scaling.factors);
        let scorer = Scorer::Linear(solved.weights);
        errors.push(match &goal.classes {
            Some(classes) => evaluate::error(&scorer, held, &classes.rank_all(&held.labels)),
            None => {
                let pairs = evaluate::score_all(&scorer, held).into_iter().zip(held.targets()?);
                pairs.map(|(s, y)| (s - y).powi(2)).sum::<f64>() / held.len().max(1) as f64
            }
        });
    }
    Ok(errors)
}
