//! What the library does alone, measured inside the process; one line of JSON each.
//!
//! ```text
//! novikoff-bench read FILE THREADS REPEAT      read into memory
//! novikoff-bench only-read FILE THREADS        the same, and nothing else
//! novikoff-bench bytes FILE                    take the same bytes from the system and do nothing with them
//! novikoff-bench epochs FILE EPOCHS REPEAT     perceptron epochs over rows in memory
//! novikoff-bench decide FILE REPEAT            whether rows in memory can be separated, with the proof
//! novikoff-bench bayes FILE LIKELIHOOD REPEAT  Bayes' rule from rows in memory
//! novikoff-bench scale ROWS TOLERANCE REPEAT   hinge and logistic loss of generated rows, to a relative gap
//! ```

mod memory;

use memory::Memory;
use novikoff::bayes::{Counts, Likelihood, Vocabulary};
use novikoff::certificate::Sides;
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::data::Scale;
use novikoff::data::generate::Recipe;
use novikoff::margin;
use novikoff::multiclass::{Scheme, class_order};
use novikoff::online::rule::{Length, Perceptron, Tie};
use novikoff::online::{self, Hypothesis, Order, Plan, Trained, TrainingRows};
use novikoff::penalty::Bias;
use novikoff::read::source::BLOCK;
use novikoff::read::{Input, Options, Purpose, Reader};
use novikoff::{Fit, LinearSvm, LogisticRegression};
use serde_json::{Value, json};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: novikoff-bench read FILE THREADS REPEAT | only-read FILE THREADS | bytes FILE | \
                     epochs FILE EPOCHS REPEAT | decide FILE REPEAT | bayes FILE LIKELIHOOD REPEAT | \
                     scale ROWS TOLERANCE REPEAT";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match arguments[..] {
        ["read", file, threads, repeat] => read(file, threads.parse()?, repeat.parse()?)?,
        ["only-read", file, threads] => json!({ "rows": load(file, threads.parse()?)?.len() }),
        ["bytes", file] => bytes(file)?,
        ["epochs", file, most, repeat] => epochs(file, most.parse()?, repeat.parse()?)?,
        ["decide", file, repeat] => decide(file, repeat.parse()?)?,
        ["bayes", file, likelihood, repeat] => bayes(file, likelihood, repeat.parse()?)?,
        ["scale", rows, tolerance, repeat] => scale(rows.parse()?, tolerance.parse()?, repeat.parse()?)?,
        _ => return Err(USAGE.into()),
    };
    println!("{answer}");
    Ok(())
}

fn load(file: &str, threads: usize) -> Result<Dataset<'static>> {
    let options = Options { threads, ..Options::default() };
    Ok(Reader::open(&Input::named(file), &options, &Purpose::Training)?.read(&mut Unwatched)?)
}

/// Seconds and result of the fastest of `repeat` runs.
fn fastest<T>(repeat: usize, mut run: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let mut best = None;
    for _ in 0..repeat.max(1) {
        let started = Instant::now();
        let result = run()?;
        let seconds = started.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            best = Some((seconds, result));
        }
    }
    best.ok_or_else(|| "nothing was run".into())
}

/// The first run tells the memory, all of them the time; the rows of earlier ones are gone when the next
/// begins.
fn read(file: &str, threads: usize, repeat: usize) -> Result<Value> {
    let before = Memory::now()?;
    let started = Instant::now();
    let data = load(file, threads)?;
    let first = started.elapsed().as_secs_f64();
    let after = Memory::now()?;
    let answer = json!({
        "rows": data.len(),
        "features": data.rows.columns(),
        "nonzeros": data.rows.nonzeros(),
        "own_bytes": data.rows.bytes() + size_of_val(&data.labels[..]) + size_of_val(&data.row_weights[..]),
        "resident_growth": after.resident - before.resident,
        "peak_growth": after.peak - before.resident,
    });
    drop(data);
    let mut seconds = first;
    if repeat > 1 {
        seconds = seconds.min(fastest(repeat - 1, || load(file, threads).map(|data| data.len()))?.0);
    }
    Ok(with_seconds(answer, seconds))
}

fn bytes(file: &str) -> Result<Value> {
    let started = Instant::now();
    let mut buffer = vec![0; BLOCK];
    let mut file = File::open(file)?;
    let mut total = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            taken => total += taken,
        }
        black_box(&buffer);
    }
    Ok(with_seconds(json!({ "bytes": total }), started.elapsed().as_secs_f64()))
}

fn epochs(file: &str, epochs: usize, repeat: usize) -> Result<Value> {
    let data = load(file, Options::default().threads)?;
    let classes = ranked(&data);
    let plan = plan(data.names.len(), epochs);
    let batch = TrainingRows { rows: &data.rows, classes: &classes, weights: &[] };
    // The peers stay in one process and are warm from their first turn on; so is this one.
    let started = Instant::now();
    while started.elapsed().as_secs_f64() < 0.3 {
        online::train(&plan, batch, None, &mut Unwatched);
    }
    let (seconds, trained): (f64, Trained) =
        fastest(repeat, || Ok(online::train(&plan, batch, None, &mut Unwatched)))?;
    let answer = json!({
        "rows": data.len(),
        "features": data.rows.columns(),
        "classes": data.names.len(),
        "epochs": trained.trace.len(),
        "stopped": trained.termination,
        "mistakes": trained.mistakes,
    });
    Ok(with_seconds(answer, seconds))
}

/// The sides are the two labels. The proof is computed, and not written.
fn decide(file: &str, repeat: usize) -> Result<Value> {
    let data = load(file, Options::default().threads)?;
    let order = class_order(&data.names, None);
    let name = |class: usize| vec![data.names.names()[order[class] as usize].clone()];
    let sides = Sides { positive: name(1), negative: name(0) };
    let settings = margin::Settings { decide: true, ..margin::Settings::default() };
    let run = || Ok(margin::margin(&data, &sides, &settings, &mut Unwatched)?);
    run()?;
    let (seconds, found) = fastest(repeat, run)?;
    let claims = found.claims(&sides, settings.bias).len();
    let separable = match found.separable {
        margin::Separable::Yes => "yes",
        margin::Separable::No => "no",
        margin::Separable::Unknown => "unknown",
    };
    Ok(with_seconds(json!({ "separable": separable, "claims": claims, "rounds": found.rounds }), seconds))
}

/// Counts and weights of rows in memory, by the names of likelihoods.
fn bayes(file: &str, likelihood: &str, repeat: usize) -> Result<Value> {
    let data = load(file, Options::default().threads)?;
    let likelihood =
        Likelihood::ALL.into_iter().find(|l| l.name() == likelihood).ok_or("there is no such likelihood")?;
    let mut seconds = f64::INFINITY;
    for _ in 0..repeat {
        let started = Instant::now();
        let counts =
            Counts::of((likelihood, Vocabulary::Columns), &data.rows, &data.labels, &[], data.names.len());
        let counts = counts.map_err(|negative| format!("{negative:?}"))?;
        black_box(counts.weights(1.0, &counts.log_priors(), Scheme::Joint));
        seconds = seconds.min(started.elapsed().as_secs_f64());
    }
    Ok(json!({ "seconds": seconds, "rows": data.len() }))
}

/// Some 20 of 1000 features a row, a tenth of the labels flipped; C = 1 and no bias, as in the section `fit`.
fn scale(rows: usize, tolerance: f64, repeat: usize) -> Result<Value> {
    let recipe = Recipe { rows, features: 1000, density: 0.02, margin: 0.01, noise: 0.1, seed: 0 };
    let started = Instant::now();
    let data = recipe.generate();
    let mut answer = json!({
        "rows": data.len(),
        "nonzeros": data.rows.nonzeros(),
        "generate_seconds": started.elapsed().as_secs_f64(),
    });
    let svm = LinearSvm::new().scale(Scale::None).cost(1.0).tolerance(tolerance).bias(Bias::None);
    let logistic = LogisticRegression::new().scale(Scale::None).cost(1.0).tolerance(tolerance).bias(Bias::None);
    let mut add = |name: &str, (seconds, fit): (f64, Fit)| {
        let gap = fit.risk().and_then(|risk| risk.relative_gap);
        answer[name] = with_seconds(json!({ "gap": gap }), seconds);
    };
    add("svm", fastest(repeat, || Ok(svm.fit(&data)?))?);
    add("logistic", fastest(repeat, || Ok(logistic.fit(&data)?))?);
    Ok(answer)
}

/// The perceptron with the program's defaults; one against the rest, as scikit-learn does it, where there are
/// more than two.
fn plan(classes: usize, epochs: usize) -> Plan<Perceptron> {
    Plan {
        rule: Perceptron { step: 1.0, length: Length::AsGiven, tie: Tie::Mistake },
        scheme: if classes == 2 { Scheme::Two } else { Scheme::OneVsRest },
        classes,
        bias: Bias::Free,
        hypothesis: Hypothesis::Last,
        order: Order::Shuffled,
        seed: 0,
        epochs,
        patience: epochs,
        own_feature: None,
    }
}

fn ranked(data: &Dataset) -> Vec<u32> {
    let mut rank = vec![0; data.names.len()];
    for (class, &label) in class_order(&data.names, None).iter().enumerate() {
        rank[label as usize] = class as u32;
    }
    data.labels.iter().map(|&label| rank[label as usize]).collect()
}

fn with_seconds(mut answer: Value, seconds: f64) -> Value {
    answer["seconds"] = json!(seconds);
    answer
}
