//! `novikoff compare`: the perceptron's variants side by side, and other learners with them.

use super::train::{of_another_file, place};
use super::warn;
use crate::arguments::Compare;
use crate::files::{self, Unwritten};
use crate::flags::with_options;
use crate::messages::{self, warnings};
use crate::output::{Ending, print};
use crate::progress::Watch;
use crate::render::{Lines, counted, dimensions, percent, seconds, table};
use crate::report::{self, Page};
use crate::settings::{comparison, open, training_options, usual_recipe};
use crate::summary::comparison::{kernel_table, of_kernel};
use crate::summary::model::add_guessed_label;
use crate::summary::written;
use novikoff::compare::{Compared, Comparison, ComparisonState, Entry, Form, compare};
use novikoff::data::Dataset;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::train::LearnerName;
use novikoff::{Error, Result};
use serde_json::{Value, json};
use std::path::Path;

/// Share of rows that are held out where there is no file to test on.
const HELD_OUT: f64 = 0.2;

/// Runs the command.
pub fn run(arguments: &Compare) -> Result<Ending> {
    let (comparison, forms) = comparison(arguments)?;
    if let (true, Some(option)) = (forms.is_empty(), arguments.perceptron_option()) {
        let what = format!("{option} is for the perceptron, and no variant of it is compared");
        return Err(Error::usage(what).hint(format!(
            "leave out {option}, or add random, perceptron, averaged or voted to --learners"
        )));
    }
    if !arguments.pictures.columns.is_empty() || arguments.pictures.image.is_some() {
        return Err(
            Error::usage("a comparison draws errors, not rows").hint("leave out --columns and --image")
        );
    }
    let options = training_options(
        &arguments.reading,
        &arguments.documents,
        usual_recipe(&LearnerName::Averaged.learner(), false),
    )?;
    let mut state = arguments.state.as_deref().map_or(Ok(ComparisonState::default()), resume)?;
    let input = Input::all_named(&arguments.data);
    let mut watch = Watch::keeping();
    let (data, test) = read(arguments, &options, &input, &mut watch)?;
    // A comparison goes on where its state cannot be written: the next time there may be room again.
    let mut saved = Ok(());
    let mut save = |state: &ComparisonState| {
        if let Some(path) = &arguments.state {
            saved = files::write(path, state.to_text().as_bytes());
        }
        Ok(())
    };
    let compared = compare(&data, &test, &comparison, &mut state, &mut watch, &mut save);
    watch.clear();
    let compared = compared.map_err(|error| place(error, &input))?;
    let mut unwritten = Unwritten::default();
    if let Some(path) = &arguments.state {
        unwritten.note(path, saved);
    }
    draw(arguments, &input, &comparison, (&data, &test), (&forms, &compared), &mut unwritten);
    let arguments = &arguments.without(&unwritten);
    let text = if arguments.output_form.json {
        format!("{}\n", as_json(arguments, &comparison, &forms, (&data, &test), &compared))
    } else {
        let mut lines = summary(&comparison, &data, &test, &compared);
        written::add_drawn(&mut lines, &arguments.pictures);
        lines.text() + &tables(&comparison, &forms, &compared)
    };
    print(&text)?;
    unwritten.end()?;
    if !compared.interrupted {
        return Ok(Ending::Done);
    }
    let advice = match &arguments.state {
        Some(path) => format!("interrupted: the same command resumes from {}", path.display()),
        None => "interrupted: with --state FILE it could have gone on later".to_owned(),
    };
    messages::say(&advice);
    Ok(Ending::Interrupted)
}

/// Writes the pictures that were asked for.
fn draw(
    arguments: &Compare,
    input: &Input,
    comparison: &Comparison,
    (data, test): (&Dataset, &Dataset),
    (forms, compared): (&[Form], &Compared),
    unwritten: &mut Unwritten,
) {
    if !arguments.pictures.wanted() {
        return;
    }
    let sections = report::comparison::sections(comparison, forms, compared);
    let (title, lines) =
        (format!("perceptrons compared on {}", input.name()), summary(comparison, data, test, compared));
    Page { title, lines, sections }.write(&arguments.pictures, unwritten);
}

/// The state in a file, or the first if there is none.
fn resume(path: &Path) -> Result<ComparisonState> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => ComparisonState::from_text(&text).map_err(|error| error.at(name, 0, 0)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(ComparisonState::default()),
        Err(error) => Err(Error::io(name, &error)),
    }
}

/// The rows to learn from and those to test on.
fn read<F>(
    arguments: &Compare,
    options: &Options,
    input: &Input,
    watch: &mut Watch<F>,
) -> Result<(Dataset<'static>, Dataset<'static>)>
where
    Watch<F>: novikoff::control::Observer,
{
    let reader = open(input, options, &Purpose::Training, &arguments.documents)?;
    if arguments.test.is_empty() {
        let (data, test) = reader.read_split(HELD_OUT, arguments.seed, watch)?;
        warn(&input.name(), &data.report);
        return Ok((data, test));
    }
    let data = reader.read(watch)?;
    warn(&input.name(), &data.report);
    let purpose =
        Purpose::Evaluation { labels: &data.names, schema: &data.schema, features: data.rows.columns() };
    let input = Input::all_named(&arguments.test);
    let test = Reader::open(&input, &of_another_file(options), &purpose)?.read(watch)?;
    warn(&input.name(), &test.report);
    Ok((data, test))
}

fn is_shown(entry: &Entry, forms: &[Form]) -> bool {
    entry.kernel.is_none() || forms.iter().any(|form| form.name() == entry.learner)
}

fn as_json(
    arguments: &Compare,
    comparison: &Comparison,
    forms: &[Form],
    (data, test): (&Dataset, &Dataset),
    compared: &Compared,
) -> Value {
    let rows: Vec<&Entry> = compared.entries.iter().filter(|entry| is_shown(entry, forms)).collect();
    let left_out: Vec<Value> =
        compared.left_out.iter().map(|(name, why)| json!({"learner": name, "why": why})).collect();
    json!({
        "command": "compare",
        "train_rows": data.len(),
        "test_rows": test.len(),
        "features": data.rows.columns(),
        "classes": data.names.len(),
        "seed": comparison.perceptron.shared.seed,
        "interrupted": compared.interrupted,
        "rows": rows,
        "left_out": left_out,
        "state": arguments.state.as_ref().map(|path| path.display().to_string()),
        "report": written::report(&arguments.pictures),
        "pictures": written::drawn(&arguments.pictures),
        "warnings": warnings(),
    })
}

/// The errors, kernel by kernel, and those of the others.
fn tables(comparison: &Comparison, forms: &[Form], compared: &Compared) -> String {
    let mut text = String::new();
    for (kernel, _) in &comparison.kernels {
        let own = of_kernel(compared, *kernel);
        if !own.is_empty() {
            text.push_str(&format!("\nkernel {kernel}: test error in per cent after so many epochs\n\n"));
            text.push_str(&table(&kernel_table(&own, forms)));
        }
    }
    let others: Vec<&Entry> = compared.entries.iter().filter(|entry| entry.kernel.is_none()).collect();
    if !others.is_empty() {
        text.push_str("\nothers, each with its own defaults and columns brought to one size\n\n");
        let head = ["", "test error", "train error", "time"].map(str::to_owned).to_vec();
        let row = |entry: &&Entry| {
            let train = entry.train_error.map_or("–".to_owned(), percent);
            vec![entry.learner.clone(), percent(entry.test_error), train, seconds(entry.seconds)]
        };
        text.push_str(&table(&[vec![head], others.iter().map(row).collect()].concat()));
    }
    text
}

/// What is compared.
fn summary(comparison: &Comparison, data: &Dataset, test: &Dataset, compared: &Compared) -> Lines {
    let mut lines = Lines::default();
    add_guessed_label(&mut lines, data.report.guessed_label.as_deref());
    lines.add("data", dimensions(data));
    lines.add("test", counted(test.len() as u64, "row"));
    lines.add("seed", comparison.perceptron.shared.seed.to_string());
    for (name, why) in &compared.left_out {
        lines.add("left out", format!("{name}: {}", with_options(why)));
    }
    lines
}
