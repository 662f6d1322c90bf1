//! Batch learners: a loss, a penalty and a solver, and what their fit came to.

mod choice;
mod empirical;
mod gap;
mod goal;
mod guarded;
mod report;
mod solve;

pub use empirical::{EmpiricalRisk, TunedRisk};
pub use report::RiskFit;

use super::certify::{length, objectives};
use super::fit::{Details, Fit};
use super::learner::{Criterion, Risk, SolverName};
use super::resume::{Continued, Resumed, Sources, feature_numbers, origin, other_scorer};
use super::standardised::{Centring, Columns, Standardised};
use super::tune::Place;
use super::validation::{HeldOut, Validation};
use crate::certificate::proof::Direction;
use crate::control::{Flow, Observer, Termination, Watch};
use crate::data::{Dataset, Labels, Matrix, Parts, Scale, spreads};
use crate::error::{Error, Result};
use crate::evaluate::{self, Evaluation, Predictions};
use crate::loss::{LossName, with_loss};
use crate::model::{About, Calibration, Model, Scorer, Task as Predicts, Weights};
use crate::multiclass::Scheme;
use crate::penalty::{Bias, ElasticNet, L2};
use crate::risk::Gap;
use crate::solver::{REACH, WarmStart};
pub(super) use choice::is_direct;
use choice::{Choice, Named, choose, columns, lambda, most_steps};
use goal::Goal;
use report::{Minimised, describe, report};
use serde_json::{Value, json};
use solve::{Method, OutputResult, Solved, Task, apart};
use std::collections::BTreeMap;

/// Trains a batch learner with a named loss on rows in memory.
pub(super) fn train_risk(
    loss: LossName,
    (settings, from): (&Risk, Option<&Model>),
    data: &Dataset,
    validation: Option<&Dataset>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    with_loss!(loss, loss => train_named(loss, (settings, from), data, validation, observer))
}

fn train_named<L: Named>(
    loss: L,
    (settings, from): (&Risk, Option<&Model>),
    data: &Dataset,
    validation: Option<&Dataset>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    loss.check()?;
    if settings.criterion == Criterion::MaxMargin {
        refuse_for_max_margin(settings)?;
    }
    let goal = Goal::new(data, settings)?;
    let held_out = HeldOut::new(validation, goal.classes.as_ref(), loss.library_loss())?;
    let lambda = lambda(settings, &goal, data.rows.columns())?;
    let Choice { solver, why } = choose(loss, &goal, data.rows.columns(), lambda, settings)?;
    let asked = data.effective(settings.scale);
    let settings = &Risk { scale: effective_scale(settings, data, lambda, solver), ..settings.clone() };
    let scaling = Scaling::new(data, settings);
    let watch = Watch::new(observer);
    let steps = settings.steps.unwrap_or_else(|| most_steps(solver));
    let stretched = Risk { tolerance: settings.tolerance / scaling.columns.stretch(), ..settings.clone() };
    let task = Task { rows: scaling.rows(data), goal: &goal, settings: &stretched, steps, watch: &watch };
    let library_loss = loss.library_loss();
    let minimised =
        Minimised { loss: loss.name(), library_loss, lambda, l1: settings.l1, solver: solver.name(), why };
    // Some solvers leave a core idle.
    let starts = match from {
        Some(model) => starts_from(model, &goal, (data, &scaling.columns), settings)?,
        None => Vec::new(),
    };
    let solve = || solve_named(loss, (lambda, solver), task, &starts);
    let (mut solved, data_hash) = rayon::join(solve, || data.fingerprint());
    refuse_overflow(&solved, data, &watch)?;
    let exact = scaling.fold_back(&mut solved.weights);
    // Weights of columns that are next to nothing may be too large for numbers.
    refuse_overflow(&solved, data, &watch)?;
    if let (false, Some(known)) = (exact, library_loss)
        && settings.criterion != Criterion::MaxMargin
    {
        let objective = (known, lambda);
        gaps_of_model(&mut solved, &goal, objective, (data, scaling.columns.factors()), settings, &watch)?;
    }
    // The scores that the gap was computed from are the model's own if its weights are.
    let scores = exact.then(|| scores_by_row(&solved.results, goal.outputs, data.len())).flatten();
    let termination = if watch.stopped() { Some(Termination::Interrupted) } else { None };
    let training = Training { minimised, solved, goal, held_out, scores, termination, data_hash, asked };
    let mut fit = finish(training, data, settings, &watch)?;
    if let Some(model) = from {
        fit.model.about.results.extend(origin(model, Continued::FromWeights)?);
        let continued = Continued::FromWeights;
        fit.resumed = Some(Resumed { continued, before: model.about.rows, forgot_validation: false });
    }
    Ok(fit)
}

/// The largest margin is a distance between rows as they are.
fn refuse_for_max_margin(settings: &Risk) -> Result<()> {
    if settings.scale != Scale::None {
        let what =
            "`scale`: the largest margin is one of the rows as they are, and of scaled rows it is another";
        return Err(Error::usage(what).hint("leave out `scale`, or use `learner = svm`"));
    }
    Ok(())
}

/// A model's weights, feature by feature and class by class, as what every weight vector starts from. The
/// model may have been read with other numbers for features.
fn starts_from(
    model: &Model,
    goal: &Goal,
    (data, columns): (&Dataset, &Columns),
    settings: &Risk,
) -> Result<Vec<WarmStart>> {
    let Scorer::Linear(weights) = model.scorer.behind_map() else {
        return Err(other_scorer(model, &settings.clone().into()));
    };
    let sources = match &goal.classes {
        Some(classes) => {
            Sources::new((&model.labels, weights.outputs()), (&classes.labels, goal.scheme), 0.5)
        }
        None => Sources::numbers(),
    };
    let mut own = sources.apply(weights, 0);
    own = own.features_from(&feature_numbers(model, data));
    columns.unfold(&mut own);
    Ok(apart(&own))
}

/// The scale that makes a difference: a direct method finds the minimum without a penalty whatever the
/// columns' sizes, and the shortest such weights are those of the rows as they are.
fn effective_scale(settings: &Risk, data: &Dataset, lambda: f64, solver: SolverName) -> Scale {
    let is_direct = matches!(solver, SolverName::LeastSquares | SolverName::Simplex);
    match data.effective(settings.scale) {
        Scale::Standard if is_direct && lambda == 0.0 && settings.l1 == 0.0 => Scale::None,
        scale => scale,
    }
}

/// Minimises a named loss with the penalty of the settings.
fn solve_named<L: Named>(
    loss: L,
    (lambda, solver): (f64, SolverName),
    task: Task<'_, '_>,
    starts: &[WarmStart],
) -> Solved {
    let settings = task.settings;
    if settings.criterion == Criterion::MaxMargin {
        return solve::for_max_margin(task);
    }
    if task.goal.scheme == Scheme::Joint {
        return solve::jointly(lambda, task, starts);
    }
    let columns = columns(solver);
    match (L::with_l2(solver, settings), L::with_l1(solver)) {
        (Some(solver), _) if settings.l1 == 0.0 => {
            let method = Method { loss, penalty: L2(lambda), solver: &*solver, columns };
            solve::separately(&method, task, starts)
        }
        (_, Some(solver)) => {
            let penalty = ElasticNet { l2: lambda, l1: settings.l1 };
            solve::separately(&Method { loss, penalty, solver: &*solver, columns }, task, starts)
        }
        _ => unreachable!("a solver is chosen among those that work"),
    }
}

/// What is known when the weights are found.
struct Training<'a> {
    minimised: Minimised,
    solved: Solved,
    goal: Goal,
    held_out: Option<HeldOut<'a>>,
    /// The rows' scores, where they are at hand.
    scores: Option<Vec<f64>>,
    /// Why training ended, if not by the solver.
    termination: Option<Termination>,
    data_hash: String,
    /// The scale that was asked for, which is not the one of the settings where that makes no difference.
    asked: Scale,
}

/// Measures the model and describes it.
fn finish(training: Training<'_>, data: &Dataset, settings: &Risk, watch: &Watch<'_>) -> Result<Fit> {
    let Training { minimised, solved, goal, held_out, scores, termination, data_hash, asked } = training;
    let Solved { mut weights, results, starts } = solved;
    weights.spreads = spreads(&data.rows, &data.row_weights);
    let scorer = Scorer::Linear(weights);
    let train_error = goal.classes.as_ref().and_then(|_| match scores {
        Some(scores) => Some(evaluate::error_of(&scores, goal.outputs, &goal.ranked)),
        None => evaluate::error_watched(&scorer, data, &goal.ranked, watch),
    });
    let library_loss = minimised.library_loss;
    let mut risk = report(minimised, results, data, settings);
    let validation = held_out.and_then(|held_out| held_out.measure(&scorer, watch));
    risk.duals = starts.into_iter().map(|start| start.duals).collect();
    let termination = match (termination, &risk.obstacle) {
        (Some(termination), _) => termination,
        (None, None) => Termination::Converged,
        (None, Some(_)) => Termination::NotConverged,
    };
    let about = About {
        learner: settings.criterion.name().to_owned(),
        settings: describe((settings, asked), &goal, &risk, data),
        seed: settings.shared.seed,
        features: data.rows.columns() as u64,
        rows: data.len() as u64,
        data_hash,
        results: about_results(&risk, termination, train_error, validation.as_ref()),
    };
    let probabilities = probabilities(library_loss, goal.scheme);
    let labels = goal.classes.map_or_else(Labels::default, |classes| classes.labels);
    let model = Model { about, labels, schema: data.schema.clone(), scorer, probabilities, state: None };
    if model.task() == Predicts::Regression
        && watch.goes_on()
        && let Evaluation::Numbers(measured) = evaluate::evaluate(&model, data)?
    {
        risk.regression = Some(measured);
    }
    Ok(Fit {
        model,
        learner: settings.clone().into(),
        scheme: goal.scheme,
        termination,
        train_error,
        validation,
        details: Details::Risk(Box::new(risk)),
        resumed: None,
    })
}

/// What a model says of its training.
fn about_results(
    risk: &RiskFit,
    termination: Termination,
    train_error: Option<f64>,
    validation: Option<&Validation>,
) -> BTreeMap<String, Value> {
    let mut results = BTreeMap::from([
        ("steps".to_owned(), json!(risk.steps)),
        ("stopped".to_owned(), json!(termination)),
        ("objective".to_owned(), json!(risk.objective)),
    ]);
    let optional = [
        ("dual", risk.dual),
        ("relative_gap", risk.relative_gap),
        ("gradient", risk.gradient),
        ("train_error", train_error),
    ];
    let known = optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    results.extend(known);
    results.extend(validation.into_iter().flat_map(Validation::results));
    results
}

/// The objective is not known where the observer asked to stop.
fn refuse_overflow(solved: &Solved, data: &Dataset, watch: &Watch<'_>) -> Result<()> {
    let known = |result: &OutputResult| result.gap.objective.is_finite() || watch.stopped();
    let finite = solved.results.iter().all(known) && solved.weights.values.iter().all(|w| w.is_finite());
    if finite { Ok(()) } else { Err(super::geometry::overflow_of(data)) }
}

/// The scores of each row side by side, where every output's are at hand.
fn scores_by_row(results: &[OutputResult], outputs: usize, rows: usize) -> Option<Vec<f64>> {
    if results.len() != outputs || results.iter().any(|result| result.scores.len() != rows) {
        return None;
    }
    Some((0..rows).flat_map(|i| results.iter().map(move |result| result.scores[i])).collect())
}

/// Computes the gaps of the model's own weights on the rows as they are, where the scaled rows or the weights
/// that belong to them were rounded: far from zero that can matter.
fn gaps_of_model(
    solved: &mut Solved,
    goal: &Goal,
    minimised: (LossName, f64),
    (data, factors): (&Dataset, &[f64]),
    settings: &Risk,
    watch: &Watch<'_>,
) -> Result<()> {
    let none = Labels::default();
    let labels = goal.classes.as_ref().map_or(&none, |classes| &classes.labels);
    let objectives = objectives(labels, goal.scheme, minimised, data, settings)?;
    for (at, (result, objective)) in solved.results.iter_mut().zip(objectives).enumerate() {
        if !watch.goes_on() {
            result.gap = Gap { dual: None, gradient: None, ..result.gap };
            continue;
        }
        let duals = Some(&solved.starts[at].duals[..]);
        let duals = duals.filter(|duals| goal.scheme != Scheme::Joint && duals.len() == data.len());
        let directions = directions_of(&solved.weights, at, goal.scheme);
        let free = objective.lambda == 0.0 && objective.l1 == 0.0;
        let within = free.then(|| REACH * length(&directions, factors, settings.bias).max(1e-3));
        let known = Some(factors);
        result.gap = match objective.ends_with(data, &directions, duals, within, known) {
            // A bound above the objective is one on weights that these are not among: it proves nothing of them.
            Ok(ends) => {
                let gap = Gap { objective: ends.value, dual: ends.lower_bound, ..result.gap }.consistent();
                // Around weights of zero there is no ball but one of an arbitrary length: what the scaled
                // rows did not prove, it does not prove either.
                let dual = match (free, result.gap.dual) {
                    (true, Some(own)) => gap.dual.map(|dual| dual.min(own)),
                    (true, None) => None,
                    (false, _) => gap.dual,
                };
                Gap { dual, ..gap }
            }
            Err(_) => Gap { dual: None, ..result.gap },
        };
    }
    Ok(())
}

/// The weight vectors that an objective is of.
fn directions_of(weights: &Weights, at: usize, scheme: Scheme) -> Vec<Direction> {
    match scheme {
        Scheme::Joint => (0..weights.outputs()).map(|output| Direction::of_output(weights, output)).collect(),
        Scheme::Two | Scheme::OneVsRest => vec![Direction::of_output(weights, at)],
    }
}

/// Rows with their columns brought to one size, if that was asked for.
struct Scaling {
    columns: Columns,
    scaled: Option<Matrix<'static>>,
    /// Whether that rounded nothing: then scores and gaps are the same.
    exact: bool,
}

impl Scaling {
    fn new(data: &Dataset, settings: &Risk) -> Self {
        // The minimum is the same with moved columns, but where one weight after the other is changed, columns
        // far from zero keep each other from getting there.
        let is_moved = settings.criterion == Criterion::Boosting && settings.bias == Bias::Free;
        let moved = is_moved.then(|| Standardised::of(data, settings.scale, Centring::Centred)).flatten();
        if let Some(moved) = moved.filter(|moved| moved.columns().is_moving()) {
            let (rows, columns) = moved.into_parts();
            return Self { columns, scaled: Some(rows), exact: false };
        }
        let factors = match data.effective(settings.scale) {
            Scale::None => Vec::new(),
            scale => data.factors(scale),
        };
        // Columns that are of one size already need no copy.
        let factors = if factors.iter().all(|factor| *factor == 1.0) { Vec::new() } else { factors };
        let scaled = (!factors.is_empty()).then(|| data.rows.scaled(&factors));
        let exact =
            factors.is_empty() || settings.scale == Scale::Standard && data.rows.scales_exactly(&factors);
        Self { columns: Columns::scaled(factors), scaled, exact }
    }

    /// Makes weights of the scaled rows those of the rows as they are, and says whether nothing was rounded,
    /// of rows and weights.
    fn fold_back(&self, weights: &mut Weights) -> bool {
        let of = weights.values.chunks_exact(weights.outputs().max(1)).zip(self.columns.factors());
        let exact = self.exact
            && of.into_iter().all(|(own, factor)| own.iter().all(|w| w * factor * factor.recip() == *w));
        self.columns.fold_back(weights);
        exact
    }

    fn rows<'a>(&'a self, data: &'a Dataset<'a>) -> &'a Matrix<'a> {
        self.scaled.as_ref().unwrap_or(&data.rows)
    }
}

/// The solver that these settings will come to for rows with so many columns, as far as that can be told.
pub(super) fn expected_solver(settings: &Risk, columns: usize) -> Option<SolverName> {
    match settings.criterion.loss() {
        Some(loss) => with_loss!(loss, loss => choice::expected(loss, columns, settings)),
        None => None,
    }
}

/// Penalties to learn with, one after the other.
pub(super) struct Lambdas<'a> {
    /// From the strongest to the weakest, or the other way round.
    pub(super) values: &'a [f64],
    /// What the first fit starts from.
    pub(super) starts: Vec<WarmStart>,
}

/// Gives `measure` what the fit with each penalty says of the held-out rows, each fit warm-started from the
/// last, until it is stopped. The result are the solutions of the first and of the last.
pub(super) fn predict_held_out(
    loss: LossName,
    parts: &Parts,
    lambdas: Lambdas<'_>,
    settings: &Risk,
    place: &mut Place<'_, '_>,
    measure: &mut dyn FnMut(Predictions),
) -> Result<[Vec<WarmStart>; 2]> {
    with_loss!(loss, loss => predict_held_out_of(loss, parts, lambdas, settings, place, measure))
}

fn predict_held_out_of<L: Named>(
    loss: L,
    parts: &Parts,
    lambdas: Lambdas<'_>,
    settings: &Risk,
    place: &mut Place<'_, '_>,
    measure: &mut dyn FnMut(Predictions),
) -> Result<[Vec<WarmStart>; 2]> {
    loss.check()?;
    let data = &parts.training;
    let goal = Goal::new(data, settings)?;
    let scaling = Scaling::new(data, settings);
    let probabilities = probabilities(loss.library_loss(), goal.scheme);
    let Lambdas { values, mut starts } = lambdas;
    let mut first = Vec::new();
    for &lambda in values {
        if place.begin(lambda) == Flow::Stop {
            break;
        }
        let Choice { solver, .. } = choose(loss, &goal, data.rows.columns(), lambda, settings)?;
        let steps = settings.steps.unwrap_or_else(|| most_steps(solver));
        let mut solved = {
            let watch = Watch::new(&mut *place);
            let task = Task { rows: scaling.rows(data), goal: &goal, settings, steps, watch: &watch };
            solve_named(loss, (lambda, solver), task, &starts)
        };
        if !place.end() {
            break;
        }
        scaling.fold_back(&mut solved.weights);
        let about = (loss.library_loss(), probabilities.as_ref());
        measure(predictions(solved.weights, about, &goal, &parts.held_out)?);
        starts = solved.starts;
        if first.is_empty() {
            first = starts.clone();
        }
    }
    Ok([first, starts])
}

/// What weights say of held-out rows.
fn predictions(
    weights: Weights,
    (loss, probabilities): (Option<LossName>, Option<&Calibration>),
    goal: &Goal,
    held_out: &Dataset,
) -> Result<Predictions> {
    let scorer = Scorer::Linear(weights);
    match &goal.classes {
        Some(classes) => {
            let truth = (classes.labels.len(), classes.rank_all(&held_out.labels));
            Predictions::of_classes(&scorer, probabilities, truth, held_out)
        }
        None => Predictions::of_numbers(&scorer, loss, held_out),
    }
}

/// Of the losses one is a likelihood: its scores are log odds.
fn probabilities(loss: Option<LossName>, scheme: Scheme) -> Option<Calibration> {
    let likelihood = if scheme == Scheme::Joint { Calibration::Softmax } else { Calibration::Logistic };
    (loss == Some(LossName::Logistic)).then_some(likelihood)
}

/// Whether a solver minimises this loss without a penalty on the squares of weights, for rows of so many
/// columns.
pub(super) fn works_without_penalty(settings: &Risk, columns: usize) -> bool {
    let Some(loss) = settings.criterion.loss() else { return false };
    with_loss!(loss, loss => choice::works_without_penalty(loss, columns, settings))
}
