//! What happened round by round: errors, mistakes and their bound, an interval that closes.

use super::training::Evidence;
use super::{Section, line};
use crate::outcome::Closing;
use crate::picture::PictureName;
use crate::render::{count, counted, number, percent};
use crate::summary::training::letters;
use novikoff::plot::{Chart, Look, Panel, Scale, Series};
use novikoff::train::History;

fn series(name: &str, look: Look, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.to_owned(), points, look }
}

fn only(series: Vec<Series>) -> Vec<Panel> {
    vec![Panel { title: String::new(), series }]
}

const OVER_TIME: &str = "Error over time";

/// Error against epochs; of a stream, against rows.
pub fn errors(evidence: &Evidence<'_>) -> Option<Section> {
    let doublings = &evidence.outcome.doublings;
    if !doublings.is_empty() {
        return Some(errors_of_stream(doublings));
    }
    let history = evidence.fit.history()?;
    if history.epochs.is_empty() {
        return None;
    }
    let test = evidence.outcome.test.as_ref().and_then(|test| test.error());
    Some(errors_of_epochs(history, test))
}

/// The progressive error, whenever the number of rows had doubled.
fn errors_of_stream(doublings: &[(u64, u64, u64)]) -> Section {
    let error = |&(rows, errors, _): &(u64, u64, u64)| errors as f64 / rows.max(1) as f64;
    let points = doublings
        .iter()
        .map(|&(rows, errors, _)| (rows as f64, 100.0 * errors as f64 / rows.max(1) as f64))
        .collect();
    let panels = only(vec![series("error so far", Look::Line, points)]);
    let (x, y) = (Scale::logarithmic("rows seen"), Scale::even("error so far, %").reaching(&[0.0]));
    let last = doublings.last().map_or(0.0, error);
    let description = format!("The progressive error ends at {}.", percent(last));
    let mut table = vec![line(["rows", "error so far"])];
    table.extend(doublings.iter().map(|doubling| vec![count(doubling.0), percent(error(doubling))]));
    let text = "The share of rows that were predicted wrongly before they were learned from, whenever \
                their number had doubled.";
    let picture = Chart { title: OVER_TIME, description: &description, x, y, panels }.draw();
    Section { name: PictureName::Errors, heading: OVER_TIME.into(), text: text.into(), picture, table }
}

fn errors_of_epochs(history: &History, test: Option<f64>) -> Section {
    let trace = &history.epochs[..];
    let progressive = trace.iter().map(|e| (e.epoch as f64, 100.0 * e.progressive_error)).collect();
    let mut all = vec![series("training rows, before learning from each", Look::Line, progressive)];
    let validation: Vec<_> =
        trace.iter().filter_map(|e| Some((e.epoch as f64, 100.0 * e.validation_error?))).collect();
    if !validation.is_empty() {
        all.push(series("validation rows", Look::Line, validation));
    }
    if let Some(error) = test {
        let ends = [1.0, trace.len() as f64].map(|x| (x, 100.0 * error)).to_vec();
        all.push(series("test rows, the model returned", Look::Reference, ends));
    }
    let description = format!(
        "The progressive error begins at {} and ends at {}.",
        percent(trace[0].progressive_error),
        percent(trace[trace.len() - 1].progressive_error)
    );
    let text = format!(
        "Each row of an epoch is predicted, then learned from: the first line counts what was predicted \
         wrongly then. Where it falls while the error on held-out rows rises, the model overfits. The model \
         returned is that of epoch {}.",
        history.best
    );
    let (x, y) = (Scale::whole("epoch"), Scale::even("error, %").reaching(&[0.0]));
    let picture = Chart { title: OVER_TIME, description: &description, x, y, panels: only(all) }.draw();
    let mut table = vec![line(["epoch", "training", "validation"])];
    for e in trace {
        table.push(vec![
            e.epoch.to_string(),
            percent(e.progressive_error),
            e.validation_error.map_or("".into(), percent),
        ]);
    }
    Section { name: PictureName::Errors, heading: OVER_TIME.into(), text, picture, table }
}

/// Mistakes so far, and what the theorem allows.
pub fn mistakes(evidence: &Evidence<'_>) -> Option<Section> {
    let fit = evidence.fit;
    let mut so_far = 0;
    let epochs = fit.history().map_or(&[][..], |history| &history.epochs[..]);
    let by_epoch = epochs.iter().map(|e| {
        so_far += e.mistakes;
        (e.epoch as f64, so_far as f64)
    });
    let mut points: Vec<(f64, f64)> = by_epoch.collect();
    let stream = points.is_empty();
    if stream {
        points = evidence
            .outcome
            .doublings
            .iter()
            .map(|&(rows, _, mistakes)| (rows as f64, mistakes as f64))
            .collect();
    }
    let (&first, &last) = (points.first()?, points.last()?);
    let promise = fit.run().and_then(|run| run.promise.as_ref()).filter(|promise| promise.bound < 1e15);
    let far = promise.is_some_and(|promise| promise.bound > 20.0 * last.1.max(1.0));
    let mut all = vec![series("mistakes so far", Look::Line, points.clone())];
    let mut text =
        "Every time a row is on the wrong side, or on neither, the perceptron corrects itself: a mistake."
            .to_owned();
    let mut told = format!("{} in all", counted(last.1 as u64, "mistake"));
    if let Some(promise) = promise {
        let (formula, bound) = (promise.theorem.formula(), count(promise.bound as u64));
        let scaled = fit.run().is_some_and(|run| run.scale != novikoff::data::Scale::None);
        let which = if scaled { " of the rows as scaled" } else { "" };
        let level = |bound: f64| vec![(first.0, bound), (last.0, bound)];
        all.push(series(&format!("at most {bound}: {formula}"), Look::Reference, level(promise.bound)));
        told.push_str(&format!(", at most {bound} allowed by {formula}"));
        text.push_str(&format!(
            " {formula} allows {bound} at most. {}{which}.",
            letters(promise).unwrap_or("R: the length of the longest row; γ: the margin")
        ));
    } else if !stream {
        text.push_str(
            " No bound is drawn: the theorem has nothing to say about this run, or a number beyond all use.",
        );
    }
    if far {
        text.push_str(" The axis is logarithmic, as the bound is far above.");
    }
    let y = if far { Scale::logarithmic("mistakes") } else { Scale::whole("mistakes").reaching(&[0.0]) };
    let x = if stream { Scale::logarithmic("rows seen") } else { Scale::whole("epoch") };
    let title = "Mistakes and their bound";
    let picture = Chart { title, description: &format!("{told}."), x, y, panels: only(all) }.draw();
    let mut table = vec![line([if stream { "rows" } else { "epoch" }, "mistakes so far"])];
    table.extend(points.iter().map(|(x, y)| vec![count(*x as u64), count(*y as u64)]));
    Some(Section { name: PictureName::Mistakes, heading: title.into(), text, picture, table })
}

/// Both ends of the interval around the largest margin.
pub fn interval(closing: &Closing) -> Option<Section> {
    let steps = closing.steps();
    let last = steps.last()?;
    let end =
        |of: fn(&(usize, f64, f64)) -> f64| steps.iter().map(|step| (step.0 as f64, of(step))).collect();
    let all = vec![
        series("no hyperplane has more than this", Look::Line, end(|step| step.2)),
        series("a hyperplane has this margin", Look::Line, end(|step| step.1)),
    ];
    let description =
        format!("After {} rounds the margin lies between {} and {}.", last.0, number(last.1), number(last.2));
    let (x, y) = (Scale::whole("rounds over the rows"), Scale::even("margin").reaching(&[0.0]));
    let title = "The interval around the margin";
    let picture = Chart { title, description: &description, x, y, panels: only(all) }.draw();
    let which = match closing.outputs() {
        0 | 1 => "",
        _ => " Each class is separated from the rest; the one with the least margin is drawn.",
    };
    let text = format!(
        "Any hyperplane that separates the rows has a margin, and the best one found so far is the lower \
         line. Any weighted mean of the rows, each on its side, shows that no margin is larger than its \
         length: the upper line.{which} {description}"
    );
    let mut table = vec![line(["rounds", "at least", "at most"])];
    // The last are the ones that count.
    let from = steps.len().saturating_sub(200);
    table.extend(
        steps[from..].iter().map(|&(round, low, high)| vec![count(round as u64), number(low), number(high)]),
    );
    Some(Section { name: PictureName::Interval, heading: title.into(), text, picture, table })
}
