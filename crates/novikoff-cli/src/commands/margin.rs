//! `novikoff margin`: can the rows be separated, by what margin, and how do we know?

use super::warn;
use crate::arguments::{MarginCommand, PairsName};
use crate::files::{self, Unwritten};
use crate::interrupt;
use crate::messages::warnings;
use crate::outcome::Closing;
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{Lines, count, counted, dimensions, number, number_down, number_up, seconds, table};
use crate::report::margin::Evidence;
use crate::report::{self as page, Page, Section};
use crate::settings::{open, training_options};
use crate::summary::margin::support_rows;
use crate::summary::model::add_guessed_label;
use crate::summary::written::{add_drawn, drawn, report};
use crate::text::name;
use novikoff::certificate::{Certificate, Claim, ExactCombination, Sides};
use novikoff::data::Dataset;
use novikoff::features::text::TextRecipe;
use novikoff::margin::{Margin, Separable, Settings, margin};
use novikoff::model::Task;
use novikoff::penalty::Bias;
use novikoff::read::{Input, Purpose};
use novikoff::solver::Termination;
use novikoff::train::InferredTask;
use novikoff::{Error, Result};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &MarginCommand) -> Result<Ending> {
    let settings = Settings {
        bias: arguments.bias,
        tolerance: arguments.tolerance,
        rounds: arguments.rounds,
        seed: arguments.seed,
        decide: arguments.decide,
    };
    if arguments.pictures.image.is_some() {
        return Err(Error::usage("a margin is drawn without images").hint("leave out --image"));
    }
    arguments.pictures.check()?;
    let mut watch = Watch::new();
    let input = Input::all_named(&arguments.data);
    let options = training_options(&arguments.reading, &arguments.documents, TextRecipe::default())?;
    let data = open(&input, &options, &Purpose::Training, &arguments.documents)?.read(&mut watch)?;
    watch.clear();
    warn(&input.name(), &data.report);
    refuse_targets(&data, arguments).map_err(|error| super::train::place(error, &input))?;
    let started = Instant::now();
    let sides = all_sides(&data, arguments).map_err(|error| super::train::place(error, &input))?;
    let parts = margins(&data, sides, &settings).map_err(|error| super::train::place(error, &input))?;
    let spent = started.elapsed().as_secs_f64();
    let mut unwritten = Unwritten::default();
    if let Some(path) = &arguments.certificate {
        unwritten.note(path, write_certificate(path, &data, &parts, arguments));
    }
    let text = |unwritten: &Unwritten| {
        let arguments = &arguments.without(unwritten);
        match arguments.output_form.json {
            true => format!("{}\n", as_json(&parts, arguments, spent)),
            false => as_text(&data, &parts, arguments, spent),
        }
    };
    // What took long to find is shown even where pictures take long.
    interrupt::keep_only(text(&unwritten), "interrupted: not all is drawn");
    if arguments.pictures.wanted() {
        let sections = sections(&data, &parts, arguments)?;
        let title = format!("the margin of {}", input.name());
        let mut lines = summary(&data, &parts, &arguments.without(&unwritten), spent);
        lines.add("rows' hash", data.fingerprint());
        Page { title, lines, sections }.write(&arguments.pictures, &mut unwritten);
    }
    print(&text(&unwritten))?;
    unwritten.end()?;
    let interrupted = parts.last().is_some_and(|part| part.found.termination == Termination::Interrupted);
    Ok(if interrupted { Ending::Interrupted } else { Ending::Done })
}

/// Two sides, and the margin between them.
struct Part {
    sides: Sides,
    found: Margin,
    /// How its interval closed.
    closing: Closing,
}

/// The margin of each part, until the user interrupts.
fn margins(data: &Dataset, all_sides: Vec<Sides>, settings: &Settings) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for sides in all_sides {
        let mut closing = Closing::default();
        let mut watch = Watch::telling(|progress| closing.note(progress)).that_keeps();
        let found = margin(data, &sides, settings, &mut watch)?;
        watch.clear();
        let interrupted = found.termination == Termination::Interrupted;
        let closing = closing.until(found.rounds, found.interval);
        parts.push(Part { sides, found, closing });
        if interrupted {
            break;
        }
    }
    Ok(parts)
}

fn write_certificate(path: &Path, data: &Dataset, parts: &[Part], arguments: &MarginCommand) -> Result<()> {
    let claims: Vec<Claim> =
        parts.iter().flat_map(|part| part.found.claims(&part.sides, arguments.bias)).collect();
    if !claims.is_empty() {
        return files::write(path, Certificate::new(data, claims).to_text().as_bytes());
    }
    if parts.iter().any(|part| part.found.termination == Termination::Interrupted) {
        return Err(Error::interrupted());
    }
    let name = Input::all_named(&arguments.data).name();
    Err(Error::input("nothing could be proved: there is no certificate to write").at(name, 0, 0))
}

/// The pictures of the part that decides, if there are several: the one with the least margin.
fn sections(data: &Dataset, parts: &[Part], arguments: &MarginCommand) -> Result<Vec<Section>> {
    let Some(Part { sides, found, closing }) = with_least_margin(parts) else { return Ok(Vec::new()) };
    page::margin::sections(&Evidence { data, sides, found, closing, arguments })
}

fn with_least_margin(parts: &[Part]) -> Option<&Part> {
    parts.iter().min_by(|a, b| a.found.interval.1.total_cmp(&b.found.interval.1))
}

/// Numbers to predict have no sides.
fn refuse_targets(data: &Dataset, arguments: &MarginCommand) -> Result<()> {
    let inferred = match arguments.task {
        Some(Task::Classes) => return Ok(()),
        Some(Task::Regression) => return Err(Error::usage("a margin lies between classes, not numbers")),
        None => InferredTask::of(data)?,
    };
    if inferred.task == Task::Classes {
        return Ok(());
    }
    let what = format!(
        "{} {} different numbers in {} rows, and a margin lies between classes",
        inferred.subject(),
        inferred.different,
        data.len()
    );
    Err(Error::input(what).hint("--task classification takes them for classes"))
}

/// The sides to be told apart: two labels, or each against the rest, or pair by pair.
fn all_sides(data: &Dataset, arguments: &MarginCommand) -> Result<Vec<Sides>> {
    let names: Vec<String> =
        data.names.sorted().into_iter().map(|label| data.names.names()[label as usize].clone()).collect();
    if names.len() < 2 {
        let label = names.first().map_or_else(String::new, |name| format!(" {name:?}"));
        let what = format!("every row has the same label{label}; a margin lies between two");
        return Err(Error::input(what).hint("is this the right label column, and the whole file?"));
    }
    let sides = |positive: Vec<String>, negative: Vec<String>| Sides { positive, negative };
    if let [negative, positive] = &names[..] {
        let swap = match &arguments.positive {
            None => false,
            Some(wanted) => match data.names.find(wanted).map(|label| &data.names.names()[label as usize]) {
                Some(name) => name == negative,
                None => {
                    return Err(Error::usage(format!("there is no label {wanted:?} to be the positive one")));
                }
            },
        };
        let (positive, negative) = if swap { (negative, positive) } else { (positive, negative) };
        return Ok(vec![sides(vec![positive.clone()], vec![negative.clone()])]);
    }
    if arguments.positive.is_some() {
        let what = format!("there are {} labels; only of two can one be the positive one", names.len());
        return Err(Error::usage(what).hint("leave out --positive"));
    }
    let mut all = Vec::new();
    match arguments.multiclass {
        PairsName::OneVsRest => {
            for name in &names {
                let rest = names.iter().filter(|other| *other != name).cloned().collect();
                all.push(sides(vec![name.clone()], rest));
            }
        }
        PairsName::Pairs => {
            for (at, negative) in names.iter().enumerate() {
                all.extend(
                    names[at + 1..]
                        .iter()
                        .map(|positive| sides(vec![positive.clone()], vec![negative.clone()])),
                );
            }
        }
    }
    Ok(all)
}

fn answer(separable: Separable) -> &'static str {
    match separable {
        Separable::Yes => "yes",
        Separable::No => "no",
        Separable::Unknown => "unknown",
    }
}

/// Of all parts: separable if every one is, and with the least margin of them.
fn overall(parts: &[Part]) -> Separable {
    match () {
        () if parts.iter().any(|part| part.found.separable == Separable::No) => Separable::No,
        () if parts.iter().all(|part| part.found.separable == Separable::Yes) => Separable::Yes,
        () => Separable::Unknown,
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn part_json(Part { sides, found, .. }: &Part) -> Value {
    let (least, most) = found.mistake_bound();
    json!({
        "positive": sides.positive,
        "negative": sides.negative,
        "separable": answer(found.separable),
        "exact": found.zero.is_some() || found.separable == Separable::Yes,
        "margin": [finite(found.interval.0.max(0.0)), finite(found.interval.1)],
        "radius": found.radius.high,
        "homogeneous": [finite(found.homogeneous.0.max(0.0)), finite(found.homogeneous.1)],
        "normalised": [finite(found.normalised.0.max(0.0)), finite(found.normalised.1)],
        "mistake_bound": [finite(least), finite(most)],
        "support": support(found),
        "support_rows": support_rows(found),
        "obstacle": found.obstacle,
        "stopped": found.termination,
        "rounds": found.rounds,
    })
}

/// How many rows prove the upper end.
fn support(found: &Margin) -> usize {
    support_rows(found).len()
}

fn as_json(parts: &[Part], arguments: &MarginCommand, spent: f64) -> Value {
    let mut least = with_least_margin(parts).map_or(Value::Null, part_json);
    least["command"] = json!("margin");
    least["separable"] = json!(answer(overall(parts)));
    least["seconds"] = json!(spent);
    least["certificate"] = json!(arguments.certificate);
    least["report"] = json!(report(&arguments.pictures));
    least["pictures"] = json!(drawn(&arguments.pictures));
    least["warnings"] = json!(warnings());
    if parts.len() > 1 {
        least["parts"] = parts.iter().map(part_json).collect();
    }
    least
}

fn interval((low, high): (f64, f64)) -> String {
    let high = if high.is_finite() { number_up(high) } else { "∞".into() };
    let low = if low.is_finite() { number_down(low.max(0.0)) } else { "0".into() };
    format!("[{low}, {high}]")
}

fn listed(labels: &[String]) -> String {
    labels.iter().map(|label| name(label)).collect::<Vec<_>>().join(", ")
}

fn as_text(data: &Dataset, parts: &[Part], arguments: &MarginCommand, spent: f64) -> String {
    let lines = summary(data, parts, arguments, spent).text();
    if parts.len() == 1 { lines } else { format!("{lines}\n{}", parts_table(parts)) }
}

fn parts_table(parts: &[Part]) -> String {
    let mut rows = vec![
        vec!["positive", "negative", "separable", "margin", "support"]
            .into_iter()
            .map(str::to_owned)
            .collect(),
    ];
    for Part { sides, found, .. } in parts {
        let negative = if sides.negative.len() > 1 { "the rest".to_owned() } else { listed(&sides.negative) };
        rows.push(vec![
            listed(&sides.positive),
            negative,
            answer(found.separable).into(),
            interval(found.interval),
            support(found).to_string(),
        ]);
    }
    table(&rows)
}

/// What was found, line by line.
fn summary(data: &Dataset, parts: &[Part], arguments: &MarginCommand, spent: f64) -> Lines {
    let mut lines = Lines::default();
    add_guessed_label(&mut lines, data.report.guessed_label.as_deref());
    lines.add("data", dimensions(data));
    let [Part { sides, found, .. }] = parts else {
        lines.add("separable", format!("{} ({})", answer(overall(parts)), seconds(spent)));
        certificate_line(&mut lines, arguments);
        return lines;
    };
    lines.add("sides", format!("{} (−), {} (+)", listed(&sides.negative), listed(&sides.positive)));
    let proof = match (found.separable, &found.zero) {
        (Separable::Yes, _) => "yes: a hyperplane has every row on its side".to_owned(),
        (Separable::No, Some(zero)) if is_equal_pair(data, zero) => {
            format!("no: rows {} and {} are equal but for their labels", zero.rows[0] + 1, zero.rows[1] + 1)
        }
        (Separable::No, zero) => {
            let count = zero.as_ref().map_or(0, |zero| zero.rows.len());
            format!("no: {} combine to exactly zero", counted(count as u64, "row"))
        }
        (Separable::Unknown, _) => format!("unknown: no margin above {}", number_up(found.interval.1)),
    };
    lines
        .add("separable", format!("{proof} ({}, {})", counted(found.rounds as u64, "round"), seconds(spent)));
    if let Some(obstacle) = &found.obstacle {
        lines.add("", obstacle);
    }
    let form = match arguments.bias {
        Bias::Free => "the distance of rows from the hyperplane",
        Bias::Penalised => "rows with a coordinate of 1 for the bias",
        Bias::None => "hyperplanes through the origin",
    };
    lines.add("margin", format!("{}; {form}", interval(found.interval)));
    if let Some(why) = why_wide(found, arguments) {
        lines.add("", why);
    }
    let with =
        if matches!(arguments.bias, Bias::None) { "" } else { ", with a coordinate of 1 for the bias" };
    lines.add("radius", format!("{}{with}", number(found.radius.high)));
    let (least, most) = found.mistake_bound();
    if most < 1e15 {
        let (least, most) = (count(least.floor() as u64), count(most.floor() as u64));
        lines.add(
            "mistakes",
            format!("a perceptron makes at most {most}, however often it goes over the rows"),
        );
        let less =
            if least == "0" { String::new() } else { format!("; no margin can promise less than {least}") };
        lines.add("", format!("(R/γ)², or R²‖w*‖² with the shortest w* that has margins of 1{less}"));
    }
    let low = found.normalised.0;
    if low > 0.0 && (1.0 / low).powi(2) < 1e15 {
        let most = count((1.0 / low).powi(2).next_up().floor() as u64);
        lines.add(
            "normalised",
            format!("{} with rows of length 1: at most {most} mistakes, 1/γ²", interval(found.normalised)),
        );
    }
    if support(found) > 0 {
        lines.add("support", format!("{} prove the upper end", counted(support(found) as u64, "row")));
    }
    certificate_line(&mut lines, arguments);
    lines
}

/// Why the interval is wider than was asked for, if it is.
fn why_wide(found: &Margin, arguments: &MarginCommand) -> Option<String> {
    let (lower, upper) = found.interval;
    let is_asked = !arguments.decide && found.separable != Separable::No && upper.is_finite();
    let width = (upper - lower.max(0.0)) / upper;
    if !is_asked || width <= arguments.tolerance {
        return None;
    }
    let why = match found.termination {
        Termination::Interrupted => "interrupted".to_owned(),
        Termination::OutOfSteps => {
            format!("{} were not enough: try more --rounds", counted(found.rounds as u64, "round"))
        }
        _ => "the solver got no further, as happens where columns differ much in size".to_owned(),
    };
    let (width, tolerance) = (number_up(width), number(arguments.tolerance));
    Some(format!("the interval is {width} of its upper end wide, and {tolerance} was asked for; {why}"))
}

/// Two rows on different sides that cancel one for one: then they are equal.
fn is_equal_pair(data: &Dataset, zero: &ExactCombination) -> bool {
    match (&zero.rows[..], &zero.multipliers[..]) {
        ([a, b], [m, n]) => m == n && data.labels[*a as usize] != data.labels[*b as usize],
        _ => false,
    }
}

fn certificate_line(lines: &mut Lines, arguments: &MarginCommand) {
    match &arguments.certificate {
        Some(path) => lines.add("certificate", path.display().to_string()),
        None => lines.add("certificate", "not kept; --certificate FILE writes it"),
    }
    add_drawn(lines, &arguments.pictures);
}
