//! What a fit of a batch learner came to, and what kept it from converging.

use super::super::describe_class_weight;
use super::super::learner::{ClassWeight, Criterion, Risk};
use super::super::resume::SCALE_WITH_PENALTY;
use super::goal::Goal;
use super::solve::OutputResult;
use crate::data::{Dataset, Scale};
use crate::evaluate::Regression;
use crate::loss::LossName;
use crate::risk::Gap;
use crate::solver::{Step, Termination};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What the fit of a batch learner came to, all of it for the model returned.
#[derive(Clone, Debug)]
pub struct RiskFit {
    /// The name of the loss.
    pub loss: &'static str,
    /// Which of the library's losses it is; `None` for a user's own.
    pub library_loss: Option<LossName>,
    /// The factor of `½‖w‖²`; of a user's own penalty its strong convexity.
    pub lambda: f64,
    /// The factor of `‖w‖₁`.
    pub l1: f64,
    /// The name of the solver.
    pub solver: &'static str,
    /// Why that one, if it was chosen automatically.
    pub why: Option<String>,
    /// The objective (of all weight vectors together). NaN where the observer stopped the training of several:
    /// to compute it would have taken long.
    pub objective: f64,
    /// The largest lower bound found on it, in spite of all rounding; `None` where there is none. Without a
    /// penalty it is one on weights up to [`REACH`](crate::solver::REACH) times as long as these, times the
    /// largest value of each column.
    pub dual: Option<f64>,
    /// `(objective − dual)/objective`.
    pub relative_gap: Option<f64>,
    /// Whether all targets are met up to rounding: then the gap is as good as zero, however large it is
    /// beside what rounding leaves of the objective.
    pub met: bool,
    /// The length of the gradient; `None` where duals prove the gap.
    pub gradient: Option<f64>,
    /// Steps of the solver.
    pub steps: usize,
    /// Every step, with the number of its weight vector.
    pub trace: Vec<(usize, Step)>,
    /// How well numbers are predicted, for regression, on the rows learned from.
    pub regression: Option<Regression>,
    /// Between which two the largest margin of all hyperplanes lies, for [`MaxMargin`](crate::MaxMargin).
    pub margin: Option<(f64, f64)>,
    /// What kept it from converging, and what would help, if it did not converge.
    pub obstacle: Option<String>,
    /// The duals that the solver ended with, of each weight vector; empty where it has none.
    pub duals: Vec<Vec<f64>>,
}

/// What was minimised, and by which solver.
pub(super) struct Minimised {
    pub(super) loss: &'static str,
    pub(super) library_loss: Option<LossName>,
    pub(super) lambda: f64,
    pub(super) l1: f64,
    pub(super) solver: &'static str,
    pub(super) why: Option<String>,
}

/// All weight vectors together.
pub(super) fn report(
    minimised: Minimised,
    outputs: Vec<OutputResult>,
    data: &Dataset,
    settings: &Risk,
) -> RiskFit {
    let objective: f64 = outputs.iter().map(|output| output.gap.objective).sum();
    let dual = outputs.iter().map(|output| output.gap.dual).sum::<Option<f64>>();
    let squares = outputs.iter().map(|output| output.gap.gradient.map(|g| g * g)).sum::<Option<f64>>();
    let gradient = squares.map(f64::sqrt);
    let relative_gap = Gap { objective, dual, gradient }.relative();
    let margin = outputs.iter().filter_map(|output| output.margin).min_by(|a, b| a.0.total_cmp(&b.0));
    let negligible = outputs.iter().map(|output| output.negligible).sum::<f64>();
    let met = dual.is_some() && negligible > 0.0 && objective <= negligible;
    let converged = match margin {
        Some(_) => outputs.iter().all(|output| output.termination == Termination::Converged),
        None if any(&outputs, Termination::Diverging) => false,
        None => met || relative_gap.is_some_and(|gap| gap <= settings.tolerance),
    };
    let interrupted = any(&outputs, Termination::Interrupted);
    let obstacle = (!converged && !interrupted).then(|| obstacle(&outputs, data, settings));
    let Minimised { loss, library_loss, lambda, l1, solver, why } = minimised;
    let steps = outputs.iter().map(|output| output.steps).max().unwrap_or(0);
    let traces = outputs.into_iter().map(|output| output.trace).enumerate();
    let trace =
        traces.flat_map(|(output, trace)| trace.into_iter().map(move |step| (output, step))).collect();
    RiskFit {
        loss,
        library_loss,
        lambda,
        l1,
        solver,
        why,
        objective,
        dual,
        relative_gap,
        met,
        gradient,
        steps,
        trace,
        obstacle,
        regression: None,
        margin,
        duals: Vec::new(),
    }
}

fn any(outputs: &[OutputResult], termination: Termination) -> bool {
    outputs.iter().any(|output| output.termination == termination)
}

/// The largest obstacle to convergence, and what would help.
fn obstacle(outputs: &[OutputResult], data: &Dataset, settings: &Risk) -> String {
    let stalled = outputs.iter().filter(|output| output.termination == Termination::Stalled);
    let hopeless = stalled.filter_map(|output| output.margin).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((_, upper)) = hopeless {
        let bound = match upper.is_finite() {
            true => format!("no hyperplane has a margin above {upper:e}, and "),
            false => String::new(),
        };
        return format!("{bound}none was found that separates the rows; use `learner = svm`");
    }
    if any(outputs, Termination::Diverging) {
        return "the rows are separable and nothing restrains the weights, which grow without end: give \
                `lambda`"
            .into();
    }
    let vanished = |output: &OutputResult| {
        output.margin.is_none() && output.gap.dual.is_none() && output.gap.objective < 1e-200
    };
    if outputs.iter().any(vanished) {
        return "the objective is too small for double precision: bring the targets to ordinary sizes".into();
    }
    let spread = column_spread(data);
    if spread > 1e3 && settings.scale == Scale::None && settings.criterion != Criterion::MaxMargin {
        // Direct methods minimise the loss of the columns as they are, whatever the scale.
        let help = match settings.is_direct(data.rows.columns()) {
            true => "bring both to ordinary sizes first, or give `lambda`",
            false => "try `scale = standard`",
        };
        return format!("the largest column is {} times the smallest: {help}", times(spread));
    }
    if any(outputs, Termination::OutOfSteps) {
        let steps = settings.steps.map_or(String::new(), |steps| format!(" {steps}"));
        return format!("the{steps} steps allowed were too few: try more `steps`, or a larger `tolerance`");
    }
    "the last steps made nothing better: this is as far as double precision goes; try a larger `tolerance` \
     or `lambda`"
        .into()
}

/// A factor in words.
fn times(factor: f64) -> String {
    match factor {
        ..1e6 => format!("{factor:.0}"),
        _ if factor.is_finite() => format!("{factor:.1e}"),
        _ => "more than 1e308".into(),
    }
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

/// The settings as a model stores them, with the scale that was asked for.
pub(super) fn describe(
    (settings, asked): (&Risk, Scale),
    goal: &Goal,
    risk: &RiskFit,
    data: &Dataset,
) -> BTreeMap<String, Value> {
    // With its parameter, if it has one.
    let loss = settings.criterion.loss().map_or_else(|| json!(risk.loss), |loss| json!(loss));
    let mut all = BTreeMap::from([
        ("bias".to_owned(), json!(settings.bias)),
        ("loss".to_owned(), loss),
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
    if settings.scale == Scale::None && asked != Scale::None {
        add(SCALE_WITH_PENALTY, json!(asked));
    }
    if settings.scale != Scale::None {
        add("scale", json!(settings.scale));
        if let Some(columns) = data.scaled_columns() {
            add("scaled_columns", json!(columns));
        }
    }
    if let (ClassWeight::Balanced, Some(classes)) = (&settings.shared.class_weight, &goal.classes) {
        // Which weights these were, so that the objective is known without the rows.
        let weights = data.balanced_weights(&classes.labels);
        add("class_weights", json!(classes.labels.names().iter().zip(weights).collect::<Vec<_>>()));
    }
    describe_class_weight(&settings.shared.class_weight, &mut all);
    all
}
