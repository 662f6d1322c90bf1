//! What a training came to, line by line.

use super::evaluation::{error_text, mean_loss_text, r2_text};
use super::model::{add_guessed_label, labels, map_text};
use super::written::add_drawn;
use crate::arguments::Train;
use crate::flags::with_options;
use crate::outcome::Outcome;
use crate::render::{Lines, count, counted, number, number_down, number_up, overflowed, percent, seconds};
use novikoff::bayes::{Likelihood, Priors};
use novikoff::control::Termination;
use novikoff::data::Scale;
use novikoff::evaluate::{Evaluation, Regression};
use novikoff::kernel::Kernel;
use novikoff::loss::LossName;
use novikoff::model::{Scorer, Task};
use novikoff::multiclass::Scheme;
use novikoff::online::rule::Aggressiveness;
use novikoff::penalty::Bias;
use novikoff::read::Input;
use novikoff::solver::REACH;
use novikoff::train::{
    Continued, Details, Fit, History, InferredTask, Learner, MultilayerPerceptron, NaiveBayes, Promise, Risk,
    RiskFit, RunDetails, Theorem, Validation,
};
use serde_json::Value;
use std::fmt::Write as _;

/// What was learned, line by line.
pub fn summary(arguments: &Train, outcome: &Outcome) -> Lines {
    let fit = &outcome.fit;
    let mut lines = Lines::default();
    add_data(&mut lines, outcome);
    lines.add("learner", learner_text(fit));
    add_resumed(&mut lines, arguments, fit);
    match (&fit.learner, &fit.details) {
        (Learner::Risk(own), Details::Risk(found)) => add_risk(&mut lines, found, own, outcome),
        (Learner::Network(own), Details::Network(history)) => {
            lines.add("minimised", network_text(own, history, fit));
            lines.add("stopped", stopped_text(outcome));
        }
        (_, Details::Run(run)) => add_run(&mut lines, run, outcome),
        (Learner::Bayes(_), _) => lines.add("stopped", stopped_text(outcome)),
        (_, Details::Stream(stream)) => {
            lines.add("stopped", stopped_text(outcome));
            lines.add("mistakes", counts_text(stream.mistakes, stream.updates));
        }
        _ => {}
    }
    if let Some(stream) = fit.stream() {
        let share = percent(stream.progressive_error);
        lines.add("progressive", format!("{share} predicted wrongly before they were learned from"));
    }
    add_errors(&mut lines, arguments, outcome);
    add_files(&mut lines, arguments, outcome);
    lines
}

/// The rows, their labels and their map.
fn add_data(lines: &mut Lines, outcome: &Outcome) {
    add_guessed_label(lines, outcome.guessed_label.as_deref());
    if let Some(text) = outcome.task.as_ref().and_then(|task| task_text(task, &outcome.fit)) {
        lines.add("task", text);
    }
    let model = &outcome.fit.model;
    match &outcome.dimensions {
        Some(dimensions) => {
            lines.add("data", format!("{dimensions}, read in {}", seconds(outcome.read_seconds)))
        }
        None => {
            let (rows, features) =
                (counted(model.about.rows, "row"), counted(model.about.features, "feature"));
            lines.add("data", format!("{rows} × {features}, as a stream"));
        }
    }
    for remark in &outcome.remarks {
        lines.add("", remark);
    }
    if model.task() == Task::Classes {
        lines.add("labels", labels(model));
    }
    if let Scorer::Mapped(mapped) = &model.scorer {
        lines.add("map", map_text(mapped.mapper.map(), mapped.mapper.features()));
    }
}

/// The model that learning went on from, and how.
fn add_resumed(lines: &mut Lines, arguments: &Train, fit: &Fit) {
    let (Some(path), Some(resumed)) = (&arguments.from, fit.resumed) else { return };
    let before = resumed.before;
    let how = match (resumed.continued, &fit.details) {
        (Continued::Exactly, Details::Counts) => format!("{}: its counts go on", counted(before, "row")),
        (Continued::Exactly, Details::Stream(_)) => {
            format!("after {} of the stream, as if it had never stopped", counted(before, "row"))
        }
        (Continued::Exactly, _) => {
            format!("after {} over these rows, as if it had never stopped", counted(before, "epoch"))
        }
        (Continued::FromWeights, Details::Risk(_)) => "its weights, to begin with".to_owned(),
        (Continued::FromWeights, _) => "its weights, to begin with: rows or settings are others".to_owned(),
    };
    lines.add("from", format!("{}: {how}", path.display()));
    if resumed.forgot_validation {
        lines.add("", "the validation rows are others: the best epoch is looked for anew");
    }
}

/// What the labels were taken for, where it could be something else.
fn task_text(inferred: &InferredTask, fit: &Fit) -> Option<String> {
    let what = format!("{} {} different numbers", inferred.subject(), count(inferred.different as u64));
    match inferred.task {
        Task::Regression => {
            Some(format!("{what}: regression by {}; --task classification for classes", fit.learner.name()))
        }
        Task::Classes if inferred.are_many_numbers => {
            Some(format!("{what}: classes; --task regression for numbers"))
        }
        Task::Classes => None,
    }
}

fn learner_text(fit: &Fit) -> String {
    let scheme = match fit.scheme {
        _ if fit.model.task() == Task::Regression => "regression".to_owned(),
        Scheme::Two => "two classes".to_owned(),
        Scheme::Joint => format!("{} classes jointly", fit.model.labels.len()),
        Scheme::OneVsRest => format!("{} classes, one against the rest", fit.model.labels.len()),
    };
    let (kernel, is_risk) = match &fit.learner {
        Learner::Bayes(bayes) => return bayes_text(bayes, fit),
        Learner::Perceptron(own) => (own.kernel, false),
        Learner::PassiveAggressive(own) => (own.kernel, false),
        Learner::Risk(_) => (Kernel::Linear, true),
        Learner::Network(_) => (Kernel::Linear, false),
    };
    let bias = match (fit.learner.bias(), is_risk) {
        (Bias::None, _) => "without bias",
        (Bias::Free, true) => "free bias",
        (Bias::Penalised, true) => "penalised bias",
        _ => "with bias",
    };
    let kernel = if kernel == Kernel::Linear { String::new() } else { format!(", kernel {kernel}") };
    let (name, seed) = (fit.learner.name(), fit.learner.shared().seed);
    format!("{name}{kernel}, {scheme}, {bias}, seed {seed}")
}

fn bayes_text(bayes: &NaiveBayes, fit: &Fit) -> String {
    let classes = match fit.model.labels.len() {
        2 => "two classes".to_owned(),
        classes => format!("{} classes", count(classes as u64)),
    };
    let priors = match &bayes.priors {
        _ if bayes.likelihood == Likelihood::Complement => "no priors",
        Priors::Learned => "learned priors",
        Priors::Uniform => "uniform priors",
        Priors::Given(_) => "given priors",
    };
    let (likelihood, smoothing) = (bayes.likelihood.name(), bayes.smoothing);
    format!("bayes, {likelihood}, {classes}, smoothing {smoothing}, {priors}")
}

/// The mean loss of a network, and how it was minimised.
fn network_text(own: &MultilayerPerceptron, history: &History, fit: &Fit) -> String {
    let setting = |name: &str| fit.model.about.settings.get(name).and_then(Value::as_f64);
    let lambda = setting("lambda").filter(|lambda| *lambda > 0.0);
    let penalty = lambda.map_or(String::new(), |lambda| format!(" + (λ/2)‖w‖², λ = {}", number(lambda)));
    format!(
        "mean {} loss{penalty}, by {} of Adam, {} each; {} hidden units, {}",
        own.loss.describe(),
        counted(history.updates, "step"),
        counted(setting("batch").unwrap_or(0.0) as u64, "row"),
        count(own.units as u64),
        own.activation.name()
    )
}

fn stopped_text(outcome: &Outcome) -> String {
    let fit = &outcome.fit;
    let time = seconds(outcome.train_seconds);
    let epochs = fit.history().map_or(&[][..], |history| &history.epochs);
    let (number, counted_epochs) = (epochs.len(), counted(epochs.len() as u64, "epoch"));
    match fit.termination {
        Termination::Separated if has_own_feature(&fit.learner) => {
            format!("epoch {number} made no mistake, with a feature of every row's own ({time})")
        }
        Termination::Separated => format!("separated: epoch {number} made no mistake ({time})"),
        Termination::OutOfEpochs if matches!(fit.learner, Learner::Network(_)) => {
            format!("{counted_epochs} ({time})")
        }
        Termination::OutOfEpochs => {
            let last = counted(epochs.last().map_or(0, |epoch| epoch.mistakes), "mistake");
            format!("ran out of epochs: number {number} still made {last} ({time})")
        }
        Termination::ValidationError => {
            format!("the validation error stopped falling: {counted_epochs} ({time})")
        }
        Termination::EndOfStream => format!("end of the stream ({time})"),
        Termination::Counted => format!("all rows are counted ({time})"),
        Termination::Converged
        | Termination::NotConverged
        | Termination::OutOfSteps
        | Termination::Stalled
        | Termination::Diverging => time,
        Termination::Interrupted if epochs.is_empty() => {
            format!("interrupted after part of the stream ({time})")
        }
        Termination::Interrupted => format!("interrupted after {counted_epochs} ({time})"),
    }
}

fn has_own_feature(learner: &Learner) -> bool {
    matches!(learner, Learner::Perceptron(own) if own.own_feature.is_some())
}

/// Mistakes, their bound and the margins of a perceptron's run.
fn add_run(lines: &mut Lines, run: &RunDetails, outcome: &Outcome) {
    lines.add("stopped", stopped_text(outcome));
    let mistakes = mistakes_text(run, &outcome.fit);
    let is_shown = |promise: &&Promise| mistakes.contains(promise.theorem.formula());
    let letters = run.promise.as_ref().filter(is_shown).and_then(letters);
    lines.add("mistakes", &mistakes);
    if let Some(letters) = letters {
        lines.add("", letters);
    }
    let unseen = run.promise.as_ref().and_then(|promise| promise.unseen);
    if let Some(unseen) = unseen.filter(|unseen| *unseen < 0.5) {
        let what = "is what a theorem on the expected share of mistaken rows by votes after one pass (at \
                    most twice the expected bound of n + 1 rows, over n + 1) comes to with the bound of \
                    these rows";
        lines.add("", format!("{} {what}", percent(unseen)));
    }
    if let Some(text) = kernel_text(outcome) {
        lines.add("kernels", text);
    }
    if let Some(text) = margin_text(run) {
        lines.add("margin", text + which_rows(run));
    }
}

/// What the letters of a theorem stand for, where there are some that nobody would guess.
pub fn letters(promise: &Promise) -> Option<&'static str> {
    match promise.theorem {
        Theorem::FreundSchapire => Some(
            "R: the longest row's length; D² = Σ max(0, γ − y<u, x>)² over all epochs, for a unit vector u",
        ),
        Theorem::OwnFeature => Some(
            "R: the longest row's length; Δ: the own feature; D² = Σ max(0, γ − y<u, x>)² over the rows, for \
             a unit vector u",
        ),
        Theorem::Novikoff | Theorem::PassiveAggressive => None,
    }
}

/// Mistakes, and updates if they are others.
fn counts_text(mistakes: u64, updates: u64) -> String {
    match updates == mistakes {
        true => count(mistakes),
        false => format!("{}, {}", count(mistakes), counted(updates, "update")),
    }
}

fn mistakes_text(run: &RunDetails, fit: &Fit) -> String {
    let text = counts_text(run.history.mistakes, run.history.updates);
    match &run.promise {
        Some(promise) => format!("{text}; {}{}", bound_text(promise, run, fit), which_rows(run)),
        None => text,
    }
}

/// Whose margins, lengths and bounds are spoken of, if not those of the rows as they are.
fn which_rows(run: &RunDetails) -> &'static str {
    if run.scale == Scale::None { "" } else { " (of the rows as scaled)" }
}

/// The bound on mistakes, and for how many epochs it holds.
fn bound_text(promise: &Promise, run: &RunDetails, fit: &Fit) -> String {
    let shown = |bound: f64| if bound < 1e15 { count(bound.floor() as u64) } else { number(bound) };
    let (formula, bound) = (promise.theorem.formula(), shown(promise.bound));
    let holds_for_ever = match (promise.theorem, &fit.learner) {
        (Theorem::Novikoff | Theorem::OwnFeature, _) => true,
        (Theorem::PassiveAggressive, Learner::PassiveAggressive(own)) => {
            own.aggressiveness == Aggressiveness::Full
        }
        _ => false,
    };
    if holds_for_ever {
        return format!("{formula} allows at most {bound} in any number of epochs");
    }
    let passes = run.history.epochs.len();
    let epochs = counted(passes as u64, "epoch");
    let says_something = promise.bound < fit.model.about.rows as f64 * passes as f64;
    match (promise.forever.map(shown), says_something) {
        (Some(forever), true) => {
            format!("(R/γ)² allows at most {forever} in any number of epochs, {formula} {bound} in {epochs}")
        }
        (Some(forever), false) => format!("(R/γ)² allows at most {forever} in any number of epochs"),
        (None, true) => format!("{formula} allows at most {bound} in {epochs}"),
        (None, false) => format!("{formula} would allow {bound}, more than there were rows to mistake"),
    }
}

/// How many rows support the model, and how fast they were compared.
fn kernel_text(outcome: &Outcome) -> Option<String> {
    let kernels = outcome.fit.model.about.results.get("kernels")?.as_u64()?;
    let support = counted(support(&outcome.fit.model.scorer)?, "support row");
    let rate = kernels as f64 / outcome.train_seconds.max(1e-9) / 1e6;
    Some(format!("{support}; {} computed, {} million a second", count(kernels), number(rate)))
}

/// The rows that a model in a kernel's space is made of.
pub fn support(scorer: &Scorer) -> Option<u64> {
    match scorer.behind_map() {
        Scorer::Kernel(expansion) => Some(expansion.rows.rows() as u64),
        Scorer::Voted(voted) => Some(voted.rows.rows() as u64),
        _ => None,
    }
}

/// The margin that the run reached, and that of the model, which may be another.
fn margin_text(run: &RunDetails) -> Option<String> {
    let most =
        run.margin_upper.map_or(String::new(), |most| format!("; none have more than {}", number_up(most)));
    match (run.geometry, run.separation) {
        (own, Some(reached)) if own != Some(reached) => {
            let own =
                own.map_or(String::new(), |g| format!("; of the model returned {}", number_down(g.margin)));
            let (margin, radius) = (number_down(reached.margin), number(reached.radius));
            Some(format!("{margin} reached by the last weights{own}{most}; radius {radius}"))
        }
        (Some(own), _) if own.margin > 0.0 => {
            let (margin, radius) = (number_down(own.margin), number(own.radius));
            Some(format!("{margin} of the model returned{most}; radius {radius}"))
        }
        (Some(own), None) if run.promise.is_some() => {
            let radius = number(own.radius);
            Some(format!("the model returned does not separate the rows{most}; radius {radius}"))
        }
        _ => None,
    }
}

/// What was minimised, by which solver, and how near the result is to the minimum.
fn add_risk(lines: &mut Lines, found: &RiskFit, own: &Risk, outcome: &Outcome) {
    if let Some(bracket) = found.margin {
        return add_max_margin(lines, found, bracket, outcome);
    }
    lines.add("minimised", objective_text(found, own));
    let why = found.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    lines.add("solver", format!("{}{why}", found.solver));
    let reached = match found.relative_gap {
        _ if found.met => ": every target is met, but for rounding".to_owned(),
        Some(gap) => format!(": relative gap {}", scientific_up(gap)),
        None => found
            .gradient
            .map_or(String::new(), |gradient| format!(": no gap; gradient {}", scientific(gradient))),
    };
    let (how, after) = (convergence_text(outcome), steps_text(found, outcome));
    lines.add("stopped", format!("{how}{reached} {after}"));
    if let (Some(obstacle), false) = (&found.obstacle, outcome.fit.termination == Termination::Interrupted) {
        let obstacle = with_options(obstacle);
        lines.add("", format!("{} was asked for; {obstacle}", scientific(own.tolerance)));
    }
    // It is not known where several classes were interrupted.
    if found.objective.is_finite() {
        lines.add("objective", format!("{}{}", number_up(found.objective), lower_bound_text(found, own)));
    }
    if let Some(measured) = &found.regression {
        lines.add("train", error_text(&Evaluation::Numbers(*measured)));
    }
}

/// The largest margin, and what no hyperplane exceeds.
fn add_max_margin(lines: &mut Lines, found: &RiskFit, (lower, upper): (f64, f64), outcome: &Outcome) {
    lines.add("minimised", "‖w‖, where every row has a margin of 1");
    lines.add("stopped", format!("{} {}", convergence_text(outcome), steps_text(found, outcome)));
    if let Some(obstacle) = &found.obstacle {
        lines.add("", with_options(obstacle));
    }
    let reached = (lower > 0.0).then(|| format!("{} reached", number_down(lower)));
    let hardest = if outcome.fit.model.labels.len() > 2 { " for the class with the least" } else { "" };
    let bound = format!("no hyperplane has more than {}{hardest}", number_up(upper));
    let known: Vec<String> = reached.into_iter().chain(upper.is_finite().then_some(bound)).collect();
    let text = if known.is_empty() { "nothing is known of it".to_owned() } else { known.join("; ") };
    lines.add("margin", text);
}

fn convergence_text(outcome: &Outcome) -> &'static str {
    match outcome.fit.termination {
        Termination::Converged => "converged",
        Termination::Interrupted => "interrupted",
        _ => "NOT converged",
    }
}

fn steps_text(found: &RiskFit, outcome: &Outcome) -> String {
    format!("after {} ({})", counted(found.steps as u64, "step"), seconds(outcome.train_seconds))
}

/// The objective as a formula.
fn objective_text(found: &RiskFit, own: &Risk) -> String {
    let loss = found.library_loss.map_or_else(|| found.loss.to_owned(), LossName::describe);
    let mut text = format!("mean {loss} loss");
    if found.lambda > 0.0 {
        let _ = write!(text, " + (λ/2)‖w‖², λ = {}", number(found.lambda));
    }
    if found.l1 > 0.0 {
        let _ = write!(text, " + {}·‖w‖₁", number(found.l1));
    }
    text.push_str(match own.scale {
        Scale::None => "",
        Scale::UnitVariance => ", columns scaled to unit variance",
        Scale::MaxAbs => ", columns scaled to a largest value of 1",
        Scale::Standard => ", columns scaled to a spread of about 1",
    });
    text
}

/// What no weights fall below, if that is known.
fn lower_bound_text(found: &RiskFit, own: &Risk) -> String {
    let Some(dual) = found.dual else { return String::new() };
    // Without a penalty, the lengths of weights are counted in units of their columns.
    let units = match own.scale {
        Scale::None => "of the columns' largest values",
        Scale::UnitVariance | Scale::MaxAbs | Scale::Standard => "of the scaled columns",
    };
    let which = match found.lambda == 0.0 && found.l1 == 0.0 {
        true => format!("no weights up to {} times as long, in units {units}, give", count(REACH as u64)),
        false => "no weights give".to_owned(),
    };
    format!("; {which} less than {}", number_down(dual))
}

/// Training, validation and test errors.
fn add_errors(lines: &mut Lines, arguments: &Train, outcome: &Outcome) {
    let fit = &outcome.fit;
    let separated = fit.run().is_some_and(|run| run.separation.is_some());
    match fit.train_error {
        Some(error) if error > 0.0 && separated => {
            // The run's last weights separate the rows; their average or votes need not.
            let (share, name) = (percent(error), fit.learner.name());
            lines.add("train error", format!("{share} (the last weights make none; {name} ones may)"));
        }
        Some(error) => lines.add("train error", percent(error)),
        None if fit.stream().is_some() => {}
        None if fit.model.task() == Task::Regression => {
            // That of a minimised loss stands with its objective.
            if let (Some(measured), None) = (outcome.train, fit.risk()) {
                lines.add("train", error_text(&Evaluation::Numbers(measured)));
            }
        }
        None => {
            lines.add("train error", "not computed: that would take longer than the training; see evaluate")
        }
    }
    if let Some(validation) = &fit.validation {
        add_validation(lines, arguments, validation, fit);
    }
    if let Some(test) = &outcome.test {
        lines.add(if test.error().is_some() { "test error" } else { "test" }, error_text(test));
    }
}

/// How the model does on the validation rows and, where an epoch was chosen by that, which.
fn add_validation(lines: &mut Lines, arguments: &Train, validation: &Validation, fit: &Fit) {
    let measured = match validation {
        Validation::Classes { error, .. } => percent(*error),
        Validation::Numbers(measured @ Regression { mean_loss: Some(it), .. }) => {
            format!("{},", mean_loss_text(measured, *it))
        }
        Validation::Numbers(measured) => {
            format!("R² {}, mean absolute error {},", r2_text(measured.r2), number(measured.mae))
        }
    };
    let rows = counted(validation.rows(), "row");
    let from = match arguments.validation_files() {
        [] => "held back".to_owned(),
        files => format!("of {}", Input::all_named(files).name()),
    };
    lines.add("validation", format!("{measured} of {rows} {from}"));
    if let Some(history) = fit.history() {
        let curve = validation_curve(history, validation);
        lines.add("", format!("{curve} by epoch; the model is that of epoch {}", history.best));
    }
}

/// What every epoch came to on the validation rows.
fn validation_curve(history: &History, validation: &Validation) -> String {
    let errors = history.epochs.iter().filter_map(|epoch| epoch.validation_error);
    let (before, after, shown): (_, _, Vec<String>) = match validation.regression() {
        None => ("", " %", errors.map(|error| format!("{:.2}", 100.0 * error)).collect()),
        Some(Regression { mean_loss: Some(_), .. }) => ("mean loss ", "", errors.map(number).collect()),
        Some(Regression { r2: None, .. }) => ("mean squared error ", "", errors.map(number).collect()),
        // What is watched is the share of the variance that is left.
        Some(_) => ("R² ", "", errors.map(|error| format!("{:.4}", 1.0 - error)).collect()),
    };
    format!("{before}{}{after}", shown.join(", "))
}

/// What was written, and where.
fn add_files(lines: &mut Lines, arguments: &Train, outcome: &Outcome) {
    let fit = &outcome.fit;
    match (&outcome.certificate, &arguments.certificate) {
        (Some(path), _) => lines.add("certificate", path),
        (None, Some(_)) => lines.add("certificate", "not written: the training was interrupted"),
        (None, None) => {}
    }
    let interrupted = match fit.termination {
        Termination::Interrupted => " (interrupted: the best so far is kept)",
        _ => "",
    };
    match &arguments.output {
        Some(path) => lines.add("model", format!("{}{interrupted}", path.display())),
        None => lines.add("model", "not kept; -o MODEL writes it"),
    }
    if let Some(path) = &arguments.trace {
        lines.add("trace", path.display().to_string());
    }
    add_drawn(lines, &arguments.pictures);
}

/// Rounded up.
fn scientific_up(x: f64) -> String {
    let text = scientific(x);
    let is_less = text.parse::<f64>().is_ok_and(|shown| shown < x);
    // Half a unit of the last digit more is rounded to the next.
    if is_less { scientific(x + 0.051 * 10f64.powf(x.log10().floor())) } else { text }
}

fn scientific(x: f64) -> String {
    if x.is_finite() { format!("{x:.1e}") } else { overflowed(x) }
}
