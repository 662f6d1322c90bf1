//! `novikoff bounds`: what theory promises before any row is seen.

use crate::arguments::Bounds;
use crate::output::{Ending, print};
use crate::render::{Lines, count, counted, number, percent};
use novikoff::certificate::learnability::{Setting, error_bound, rows_needed, rows_not_enough, vc_dimension};
use novikoff::penalty::Bias;
use novikoff::{Error, Result};
use serde_json::{Value, json};

/// What theory says.
struct Theory {
    dimension: u64,
    realizable: u64,
    agnostic: u64,
    /// Rows after which whoever has the least training error is within ε of the best.
    best: u64,
    too_few: Option<u64>,
    /// Rows, and what they are worth: realizable and agnostic.
    worth: Option<(u64, f64, f64)>,
}

/// Runs the command.
pub fn run(arguments: &Bounds) -> Result<Ending> {
    let (epsilon, delta) = (arguments.epsilon, arguments.delta);
    for (name, value) in [("--epsilon", epsilon), ("--delta", delta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::usage(format!("{name} must lie between 0 and 1, not {value}")));
        }
    }
    let dimension = vc_dimension(arguments.features, !matches!(arguments.bias, Bias::None));
    let theory = Theory {
        dimension,
        realizable: rows_needed(Setting::Realizable, dimension, epsilon, delta),
        agnostic: rows_needed(Setting::Agnostic, dimension, epsilon, delta),
        // Who minimises the training error is within twice the deviation of the best.
        best: rows_needed(Setting::Agnostic, dimension, epsilon / 2.0, delta),
        too_few: rows_not_enough(dimension, epsilon, delta),
        worth: arguments.rows.map(|rows| {
            let of = |setting| error_bound(setting, dimension, rows, delta);
            (rows, of(Setting::Realizable), of(Setting::Agnostic))
        }),
    };
    let json = arguments.output_form.json;
    print(&if json { format!("{}\n", as_json(&theory, arguments)) } else { as_text(&theory, arguments) })?;
    Ok(Ending::Done)
}

fn as_json(theory: &Theory, arguments: &Bounds) -> Value {
    json!({
        "command": "bounds",
        "features": arguments.features,
        "vc_dimension": theory.dimension,
        "epsilon": arguments.epsilon,
        "delta": arguments.delta,
        "rows": arguments.rows,
        "rows_realizable": theory.realizable,
        "rows_realizable_at_least": theory.too_few,
        "rows_agnostic": theory.agnostic,
        "rows_agnostic_best": theory.best,
        "error_realizable": theory.worth.map(|(_, error, _)| error),
        "deviation_agnostic": theory.worth.map(|(_, _, deviation)| deviation),
    })
}

/// A share as per cent; one that two decimals would make nothing of with digits that count.
fn share(x: f64) -> String {
    if x < 1e-4 { format!("{} %", number(100.0 * x)) } else { percent(x) }
}

/// How sure one can be where a failure has this probability.
fn surely(delta: f64) -> String {
    match delta < 1e-4 {
        true => format!("with a probability of all but {}", number(delta)),
        false => format!("{} sure", percent(1.0 - delta)),
    }
}

/// So many rows; the largest number that can be counted stands for more.
fn rows_text(rows: u64) -> String {
    if rows == u64::MAX { format!("more than {} rows", number(rows as f64)) } else { counted(rows, "row") }
}

/// What so many rows are worth; bounds of all or more say nothing.
fn worth_text(error: f64, deviation: f64) -> String {
    let realizable = match error < 1.0 {
        true => format!("realizable: an error of at most {}", share(error)),
        false => "realizable: too few for any bound on the error".to_owned(),
    };
    let agnostic = match deviation < 1.0 {
        true => format!("agnostic: within {}", share(deviation)),
        false => "agnostic: too few for any bound on the deviation".to_owned(),
    };
    format!("{realizable}; {agnostic}")
}

fn as_text(theory: &Theory, arguments: &Bounds) -> String {
    let (error, sure) = (share(arguments.epsilon), surely(arguments.delta));
    let (dimension, features) = (count(theory.dimension), counted(arguments.features, "feature"));
    let with = if matches!(arguments.bias, Bias::None) { "without a bias" } else { "with a bias" };
    let mut lines = Lines::default();
    lines.add("VC dimension", format!("{dimension} (halfspaces over {features}, {with})"));
    let rows = rows_text(theory.realizable);
    let what = "are enough: whoever errs on none of them errs on at most";
    lines.add("realizable", format!("{rows} {what} {error} of all, {sure}"));
    lines.add("", "max((4/ε)·log₂(2/δ), (8v/ε)·log₂(13/ε)): Blumer, Ehrenfeucht, Haussler, Warmuth 1989");
    if let Some(too_few) = theory.too_few {
        let what = "are not enough for any learner: Ehrenfeucht, Haussler, Kearns, Valiant 1989";
        lines.add("", format!("fewer than {} {what}", count(too_few)));
    }
    let rows = rows_text(theory.agnostic);
    lines.add(
        "agnostic",
        format!("{rows} are enough: every training error is within {error} of the true one, {sure}"),
    );
    let rows = rows_text(theory.best);
    lines.add("", format!("{rows}: whoever has the least training error is within {error} of the best"));
    lines.add("", "n ≥ (8/ε²)·ln(4((2n)^v + 1)/δ): Vapnik, Chervonenkis 1971");
    if let Some((rows, error, deviation)) = theory.worth {
        lines.add(&counted(rows, "row"), worth_text(error, deviation));
    }
    lines.add("ε, δ", format!("{}, {}", number(arguments.epsilon), number(arguments.delta)));
    lines.text()
}
