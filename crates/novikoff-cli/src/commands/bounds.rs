//! `novikoff bounds`: what theory promises before any row is seen.

use crate::arguments::{BiasName, Bounds};
use crate::render::{Lines, count, counted, number, percent};
use crate::{Ending, print};
use novikoff::certificate::learnability::{Setting, error_bound, rows_needed, rows_not_enough, vc_dimension};
use novikoff::{Error, Result};
use serde_json::json;

/// Runs the command.
pub fn run(arguments: &Bounds) -> Result<Ending> {
    let (epsilon, delta) = (arguments.epsilon, arguments.delta);
    for (name, value) in [("--epsilon", epsilon), ("--delta", delta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::usage(format!("{name} must lie between 0 and 1, not {value}")));
        }
    }
    let dimension = vc_dimension(arguments.features, !matches!(arguments.bias, BiasName::None));
    let realizable = rows_needed(Setting::Realizable, dimension, epsilon, delta);
    let agnostic = rows_needed(Setting::Agnostic, dimension, epsilon, delta);
    // Who minimises the training error is within twice the deviation of the best.
    let best = rows_needed(Setting::Agnostic, dimension, epsilon / 2.0, delta);
    let too_few = rows_not_enough(dimension, epsilon, delta);
    let worth = arguments.rows.map(|rows| {
        let of = |setting| error_bound(setting, dimension, rows, delta);
        (rows, of(Setting::Realizable), of(Setting::Agnostic))
    });
    let text = if arguments.output_form.json {
        let told = json!({
            "command": "bounds",
            "features": arguments.features,
            "vc_dimension": dimension,
            "epsilon": epsilon,
            "delta": delta,
            "rows": arguments.rows,
            "rows_realizable": realizable,
            "rows_realizable_at_least": too_few,
            "rows_agnostic": agnostic,
            "rows_agnostic_best": best,
            "error_realizable": worth.map(|(_, error, _)| error),
            "deviation_agnostic": worth.map(|(_, _, deviation)| deviation),
        });
        format!("{told}\n")
    } else {
        let mut lines = Lines::default();
        let with = if matches!(arguments.bias, BiasName::None) { "without a bias" } else { "with a bias" };
        lines.add(
            "VC dimension",
            format!("{} (halfspaces over {}, {with})", count(dimension), counted(arguments.features, "feature")),
        );
        let sure = percent(1.0 - delta);
        lines.add(
            "realizable",
            format!(
                "{} are enough: whoever errs on none of them errs on at most {} of all, {sure} sure",
                counted(realizable, "row"),
                percent(epsilon)
            ),
        );
        lines.add("", "max((4/ε)·log₂(2/δ), (8v/ε)·log₂(13/ε)): Blumer, Ehrenfeucht, Haussler, Warmuth 1989");
        if let Some(too_few) = too_few {
            lines.add(
                "",
                format!(
                    "fewer than {} are not enough for any learner: Ehrenfeucht, Haussler, Kearns, Valiant 1989",
                    count(too_few)
                ),
            );
        }
        lines.add(
            "agnostic",
            format!(
                "{} are enough: every training error is within {} of the true one, {sure} sure",
                counted(agnostic, "row"),
                percent(epsilon)
            ),
        );
        lines.add(
            "",
            format!("{}: whoever has the least training error is within {} of the best", counted(best, "row"), percent(epsilon)),
        );
        lines.add("", "n ≥ (8/ε²)·ln(4((2n)^v + 1)/δ): Vapnik, Chervonenkis 1971");
        if let Some((rows, error, deviation)) = worth {
            let told = |x: f64| if x >= 1.0 { "nothing".to_owned() } else { percent(x) };
            lines.add(
                &counted(rows, "row"),
                format!("realizable: an error of at most {}; agnostic: within {}", told(error), told(deviation)),
            );
        }
        lines.add("ε, δ", format!("{}, {}", number(epsilon), number(delta)));
        lines.text()
    };
    print(&text)?;
    Ok(Ending::Done)
}
