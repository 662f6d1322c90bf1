//! Which pictures apply to what was learned.

use super::measured::Measured;
use super::regions::Drawn;
use super::rows::{Separates, View};
use super::{Section, curves, descent, line, weights};
use crate::arguments::Pictures;
use crate::outcome::{Outcome, Rows};
use crate::picture::PictureName;
use crate::render::{count, counted, number, percent};
use novikoff::data::{Dataset, Scale};
use novikoff::loss::LossName;
use novikoff::model::{Model, Scorer, Task};
use novikoff::multiclass::{Scheme, best_except, decide};
use novikoff::online::Hypothesis;
use novikoff::online::rule::Length;
use novikoff::plot::{self, Losses, Over};
use novikoff::train::{Criterion, Fit, Learner, Risk, SolverName};
use novikoff::{Error, Result};

/// All that is known when training is done.
pub struct Evidence<'a> {
    pub fit: &'a Fit,
    pub wanted: &'a Pictures,
    pub outcome: &'a Outcome,
    pub rows: &'a Rows,
}

/// Rows that are looked at where all would take long and show nothing more.
const LOOKED_AT: usize = 20_000;

/// Whether a solver's steps make a path that can be drawn.
pub fn leaves_a_path(solver: SolverName) -> bool {
    matches!(solver, SolverName::Gradient | SolverName::Stochastic)
}

/// The pictures that apply, in the order of the page.
pub fn sections(evidence: &Evidence<'_>) -> Result<Vec<Section>> {
    let measured = Measured::new(evidence)?;
    let measured = measured.as_ref();
    let (points, regions) = (points(evidence)?, regions(evidence)?);
    if points.is_none() && regions.is_none() && !evidence.wanted.columns.is_empty() {
        let what = "--columns is for rows in memory and a model of classes";
        return Err(Error::usage(what).hint("leave out --columns"));
    }
    let sections = [
        points,
        regions,
        losses(evidence)?,
        curves::errors(evidence),
        curves::mistakes(evidence),
        curves::interval(&evidence.outcome.closing),
        descent::section(evidence)?,
        measured.and_then(Measured::confusion),
        measured.and_then(Measured::roc),
        measured.and_then(Measured::calibration),
        measured.and_then(Measured::predictions),
        weights::bars(evidence.fit),
        weights::images(evidence)?,
    ];
    Ok(sections.into_iter().flatten().collect())
}

/// The class of each row, by its number in the model; none where the model has no such label.
pub fn classes(model: &Model, data: &Dataset) -> Vec<Option<usize>> {
    let known: Vec<Option<usize>> =
        data.names.names().iter().map(|name| model.labels.find(name).map(|c| c as usize)).collect();
    data.labels.iter().map(|&label| known.get(label as usize).copied().flatten()).collect()
}

/// The scores of some rows, side by side.
pub fn scores_of(scorer: &Scorer, data: &Dataset, rows: &[usize]) -> Vec<f64> {
    match rows.len() == data.len() {
        true => novikoff::evaluate::score_all(scorer, data),
        false => novikoff::evaluate::score_all(scorer, &data.select(rows)),
    }
}

fn regions(evidence: &Evidence<'_>) -> Result<Option<Section>> {
    let (fit, Some(data)) = (evidence.fit, &evidence.rows.data) else { return Ok(None) };
    let margin = margin_line(evidence).0.filter(|margin| *margin > 0.0);
    Drawn { model: &fit.model, data, margin, seed: fit.learner.shared().seed, wanted: evidence.wanted }
        .section()
}

fn points(evidence: &Evidence<'_>) -> Result<Option<Section>> {
    let fit = evidence.fit;
    let (Some(data), Scorer::Linear(weights), Task::Classes) =
        (&evidence.rows.data, &fit.model.scorer, fit.model.task())
    else {
        return Ok(None);
    };
    let classes = classes(&fit.model, data);
    let picked = plot::sample(data.len(), LOOKED_AT, fit.learner.shared().seed);
    let scores = scores_of(&fit.model.scorer, data, &picked);
    let decided: Vec<usize> = scores.chunks_exact(weights.outputs()).map(decide).collect();
    let (negative, positive, remark) = pair(&fit.model, &classes, &picked, &decided);
    let one = |feature: usize| match weights.outputs() {
        1 => weights.weight(feature, 0),
        _ => weights.weight(feature, positive) - weights.weight(feature, negative),
    };
    let normal: Vec<f64> = (0..data.rows.columns()).map(one).collect();
    let bias = if weights.outputs() == 1 {
        weights.bias[0]
    } else {
        weights.bias[positive] - weights.bias[negative]
    };
    let sign = |class: Option<usize>| match class {
        Some(class) if class == positive => Some(1.0),
        Some(class) if class == negative => Some(-1.0),
        _ => None,
    };
    let signs: Vec<(usize, f64)> = picked.iter().filter_map(|&i| Some((i, sign(classes[i])?))).collect();
    let wrong: Vec<usize> = picked
        .iter()
        .zip(&decided)
        .filter(|(i, decided)| classes[**i] != Some(**decided))
        .map(|(i, _)| *i)
        .collect();
    let (margin, meaning) = margin_line(evidence);
    let factors = match &fit.learner {
        Learner::Risk(own) if own.scale != Scale::None => data.factors(own.scale),
        _ => Vec::new(),
    };
    let rests = rests_on_rows(evidence);
    let view = View {
        data,
        signs,
        sides: [negative, positive].map(|class| fit.model.labels.names()[class].clone()),
        normal,
        bias,
        separates: Separates::Hyperplane,
        margin,
        factors,
        remark: format!("{meaning}{remark}"),
        wanted: evidence.wanted,
        seed: fit.learner.shared().seed,
    };
    let support = |_: usize, margin: f64| rests && margin <= 1.0 + 1e-3;
    view.section(support, |row, _| wrong.binary_search(&row).is_ok()).map(Some)
}

/// The two classes to draw: those there are, or those that are taken for each other most.
fn pair(
    model: &Model,
    classes: &[Option<usize>],
    picked: &[usize],
    decided: &[usize],
) -> (usize, usize, String) {
    let count = model.labels.len();
    if count <= 2 {
        return (0, 1, String::new());
    }
    let mut confused = vec![0u64; count * count];
    for (&i, &decided) in picked.iter().zip(decided) {
        if let Some(class) = classes[i].filter(|class| *class != decided) {
            confused[class.min(decided) * count + class.max(decided)] += 1;
        }
    }
    let most = (0..confused.len()).max_by_key(|&at| (confused[at], std::cmp::Reverse(at))).unwrap_or(1);
    let (negative, positive) =
        if confused[most] > 0 { (most / count, most % count) } else { (count - 2, count - 1) };
    let why = match confused[most] {
        0 => "no two are taken for each other; these are the last ones".to_owned(),
        times => format!("these two are taken for each other most, {times} times"),
    };
    (
        negative,
        positive,
        format!(
            " Of {count} classes two are drawn: {why}. A row that is taken for a third class counts as a \
             mistake too."
        ),
    )
}

/// The score at which to draw the margin, and what that is.
fn margin_line(evidence: &Evidence<'_>) -> (Option<f64>, &'static str) {
    let fit = evidence.fit;
    let geometry = fit.run().and_then(|run| run.geometry);
    match (fit.scheme, &fit.learner, geometry) {
        (Scheme::Two, Learner::Risk(Risk { criterion: Criterion::MaxMargin, .. }), _) => (
            Some(1.0),
            " The dashed lines are the margin: no row stands between them, and the hyperplane rests on those \
             upon them.",
        ),
        (Scheme::Two, Learner::Risk(_), _) if rests_on_rows(evidence) => (
            Some(1.0),
            " The dashed lines are where the score is 1 and −1; the hyperplane rests on the rows upon and \
             beyond them.",
        ),
        (Scheme::Two, Learner::PassiveAggressive(_), _) => {
            (Some(1.0), " The dashed lines are where the score is 1 and −1.")
        }
        (Scheme::Two, Learner::Perceptron(learner), Some(own))
            if own.margin > 0.0 && learner.rule.length == Length::AsGiven && is_of_rows(fit) =>
        {
            let norm = fit.model.scorer.weights().map_or(0.0, |weights| weights.norm_sq(0).sqrt());
            (Some(own.margin * norm), " The dashed lines are the margin: no row stands between them.")
        }
        _ => (None, ""),
    }
}

/// Whether margins are those of the rows as they are, not of scaled ones.
fn is_of_rows(fit: &Fit) -> bool {
    fit.run().is_some_and(|run| run.scale == Scale::None)
}

/// Whether the hyperplane is made of the rows with a margin of 1 or less.
fn rests_on_rows(evidence: &Evidence<'_>) -> bool {
    let loss = evidence.fit.risk().and_then(|risk| risk.library_loss);
    evidence.fit.scheme == Scheme::Two && matches!(loss, Some(LossName::Hinge | LossName::SquaredHinge))
}

fn losses(evidence: &Evidence<'_>) -> Result<Option<Section>> {
    let fit = evidence.fit;
    let Some(data) = &evidence.rows.data else { return Ok(None) };
    let own = match &fit.learner {
        Learner::Bayes(_) => return Ok(None),
        Learner::Perceptron(learner) if learner.returned == Hypothesis::Votes => return Ok(None),
        Learner::PassiveAggressive(_) => Some(LossName::Hinge),
        Learner::Network(network) => Some(network.loss),
        _ => fit.risk().and_then(|risk| risk.library_loss).or(Some(LossName::HingeAtZero)),
    };
    let picked = plot::sample(data.len(), LOOKED_AT, fit.learner.shared().seed);
    let scores = scores_of(&fit.model.scorer, data, &picked);
    let sampled = if picked.len() < data.len() {
        format!(" Of all rows {} are counted, picked by the seed.", count(picked.len() as u64))
    } else {
        String::new()
    };
    if fit.model.task() == Task::Regression {
        let targets = data.targets()?;
        let residuals: Vec<f64> = picked.iter().zip(&scores).map(|(&i, s)| s - targets[i]).collect();
        return Ok(Some(residual_section(own, &residuals, &sampled)));
    }
    let classes = classes(&fit.model, data);
    let (margins, what) = margins(fit, &classes, &picked, &scores);
    let wrong = margins.iter().filter(|m| **m < 0.0).count() as f64 / margins.len().max(1) as f64;
    let description = format!("{} of the margins are below zero.", percent(wrong));
    let title = "Losses over the margin";
    let picture = Losses { title, description: &description, over: Over::Margin, own, values: &margins };
    let text = losses_text(&picture, what, &sampled);
    let picture = picture.draw();
    let table = quantiles("margin", &margins);
    Ok(Some(Section { name: PictureName::Losses, heading: title.into(), text, picture, table }))
}

/// What is to be said of the losses, of the margins below them and of their axis.
fn losses_text(picture: &Losses<'_>, what: &str, sampled: &str) -> String {
    let own = picture.own.map_or("no loss".to_owned(), |loss| format!("the {} loss", loss.name()));
    let (above, below) = picture.domination();
    let lower = match &below[..] {
        [] => String::new(),
        below => format!("; {} counts small mistakes as less than one", below.join(" and ")),
    };
    let axis = picture.even_up_to().map_or(String::new(), |end| {
        format!(" The axis is even from −{end} to {end}, and logarithmic beyond.")
    });
    format!(
        "Above: losses as functions of the margin, thick the one of this learner, {own}. The zero-one loss \
         is what counts mistakes. All others are convex; {} lie nowhere below it, so that their mean is \
         never less than the share of mistakes{lower}. Below: {what}. Left of zero are \
         mistakes.{sampled}{axis} Margins beyond the ends are counted at the ends.",
        above.join(", ")
    )
}

/// Margins as the loss sees them, and what they are in words.
fn margins(
    fit: &Fit,
    classes: &[Option<usize>],
    picked: &[usize],
    scores: &[f64],
) -> (Vec<f64>, &'static str) {
    let outputs = fit.model.scorer.outputs();
    let mut margins = Vec::new();
    for (&i, scores) in picked.iter().zip(scores.chunks_exact(outputs)) {
        let Some(class) = classes[i] else { continue };
        match (fit.scheme, scores) {
            (_, [score]) => margins.push(if class == 1 { *score } else { -score }),
            (Scheme::OneVsRest, scores) => {
                margins.extend(scores.iter().enumerate().map(|(c, s)| if c == class { *s } else { -s }));
            }
            (_, scores) => margins.push(scores[class] - scores[best_except(scores, class)]),
        }
    }
    let what = match (outputs, fit.scheme) {
        (1, _) => "how many of the rows learned from have which margin, y·s",
        (_, Scheme::OneVsRest) => {
            "how many margins y·s the rows learned from have, one for each class against the rest"
        }
        _ => "by how much the score of a row's own class is above the best other, for the rows learned from",
    };
    (margins, what)
}

fn residual_section(own: Option<LossName>, residuals: &[f64], sampled: &str) -> Section {
    let title = "The loss over the residual";
    let description = "The loss as a function of predicted minus true, and how often each residual occurs.";
    let text = format!(
        "Above: the loss that was minimised, as a function of what is left, predicted minus true. Below: how \
         many of the rows learned from have which residual.{sampled} The most extreme 1 % are counted at the \
         ends."
    );
    let picture = Losses { title, description, over: Over::Residual, own, values: residuals }.draw();
    Section {
        name: PictureName::Losses,
        heading: title.into(),
        text,
        picture,
        table: quantiles("residual", residuals),
    }
}

fn quantiles(of: &str, values: &[f64]) -> Vec<Vec<String>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        sorted
            .get(((sorted.len().max(1) - 1) as f64 * share).round() as usize)
            .map_or(String::new(), |x| number(*x))
    };
    let mut table = vec![line(["share of rows below", of])];
    for share in [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0] {
        table.push(vec![percent(share), at(share)]);
    }
    table.push(vec!["counted".to_owned(), counted(values.len() as u64, "value")]);
    table
}
