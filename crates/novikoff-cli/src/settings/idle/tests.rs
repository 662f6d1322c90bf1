//! Every option of `train` makes another model of every learner, or is an error.

use super::refuse_scale_of_direct_methods;
use crate::arguments::{Arguments, Command, Train};
use crate::settings::learner;
use clap::{CommandFactory, Parser, ValueEnum};
use novikoff::Result;
use novikoff::control::Unwatched;
use novikoff::data::Dataset;
use novikoff::model::{Model, Task};
use novikoff::read::{Contents, Input, Options, Purpose, Reader};
use novikoff::train::{LearnerName, train, train_online};
use std::fmt::Write as _;

/// Options that are not about what is learned, by their headings or names: which rows are read, and how; what
/// is written and drawn, and where; what is said while it goes on. What `--from` goes on from has tests of its
/// own.
const HEADINGS: [&str; 4] = ["Reading", "Reading tables", "Documents", "Pictures"];
const NOT_ABOUT_LEARNING: [&str; 12] = [
    "data",
    "test",
    "output",
    "no_state",
    "from",
    "certificate",
    "trace",
    "trace_each",
    "trace_weights",
    "force",
    "json",
    "help",
];
/// Options that say which learner it is, and from which rows it learns.
const OF_LEARNERS: [&str; 4] = ["learner", "loss", "online", "validation"];

/// How an option is given, and what it is compared with.
struct Sample {
    id: &'static str,
    without: &'static str,
    with: &'static str,
}

const fn sample(id: &'static str, with: &'static str) -> Sample {
    Sample { id, without: "", with }
}

const fn beside(without: &'static str, id: &'static str, with: &'static str) -> Sample {
    Sample { id, without, with }
}

const SAMPLES: [Sample; 39] = [
    sample("task", "--task regression"),
    sample("epochs", "--epochs 1"),
    sample("patience", "--patience 1"),
    beside("--validation 0.5 --epochs 60", "patience", "--patience 60"),
    sample("order", "--order given"),
    sample("seed", "--seed 7"),
    sample("map", "--map poly:2"),
    sample("bias", "--bias none"),
    sample("quantile", "--quantile 0.9"),
    sample("huber_width", "--huber-width 0.1"),
    sample("penalty", "--penalty none"),
    sample("solver", "--solver gradient"),
    sample("lambda", "--lambda 0.3"),
    sample("cost", "--cost 0.3"),
    sample("l1", "--l1 0.3"),
    sample("scale", "--scale max-abs"),
    sample("schedule", "--schedule constant"),
    beside("--solver gradient", "schedule", "--schedule constant"),
    sample("batch", "--batch 7"),
    beside("--solver stochastic", "batch", "--batch 7"),
    sample("step", "--step 0.3"),
    beside("--solver gradient", "step", "--step 0.03"),
    sample("tolerance", "--tolerance 0.9"),
    sample("hidden", "--hidden 3"),
    sample("activation", "--activation tanh"),
    sample("likelihood", "--likelihood bernoulli"),
    sample("smoothing", "--smoothing 0.1"),
    sample("priors", "--priors uniform"),
    sample("multiclass", "--multiclass one-vs-rest"),
    sample("positive", "--positive 1"),
    sample("calibrate", "--calibrate platt"),
    sample("class_weight", "--class-weight 1=0.01,2=1"),
    sample("kernel", "--kernel poly:2"),
    sample("budget", "--budget 3"),
    sample("normalise", "--normalise"),
    sample("own_feature", "--own-feature 1"),
    sample("tie", "--tie positive"),
    beside("--aggressiveness 0.01", "variant", "--variant pa"),
    sample("aggressiveness", "--aggressiveness 0.01"),
];

/// The learners, and other ways to learn by some of them.
fn learners() -> Vec<String> {
    let named = |name: &LearnerName| format!("--learner {}", name.name());
    let others = [
        "--learner network --loss squared",
        "--learner averaged --kernel poly:2",
        "--learner averaged --online",
        "--learner passive-aggressive --online",
        "--learner perceptron --online --kernel poly:2",
        "--learner bayes --online",
    ];
    LearnerName::value_variants().iter().map(named).chain(others.map(str::to_owned)).collect()
}

/// Options that make no difference to the model, to whom, and why that is no mistake.
const ALLOWED: [(&str, &[&str], &str); 7] = [
    (
        "seed",
        &[
            "svm",
            "squared-svm",
            "logistic",
            "least-squares",
            "huber",
            "exponential",
            "boosting",
            "max-margin",
            "bayes",
            "online",
        ],
        "nothing is drawn by solvers and counts, or from a stream, and who writes a script need not know it",
    ),
    (
        "task",
        &["least-squares", "least-absolute", "huber", "quantile", "network"],
        "says what is so anyway, and is an error where it is not",
    ),
    (
        "multiclass",
        &["svm", "squared-svm", "exponential", "boosting", "max-margin"],
        "says what is so anyway: one against the rest",
    ),
    (
        "penalty",
        &["least-squares", "least-absolute", "huber", "quantile", "boosting"],
        "says what is so anyway: none",
    ),
    (
        "tolerance",
        &["least-squares", "least-absolute", "quantile"],
        "a direct method ends at the minimum, and the tolerance says whether that is near enough",
    ),
    (
        "tolerance",
        &["huber"],
        "on rows as few as these, Newton's method begins within any tolerance, or ends at the minimum",
    ),
    ("epochs", &["least-squares"], "a direct method takes one step, whatever the most steps are"),
];

/// Whether the option need not matter to this learner.
fn is_allowed(learner: &str, sample: &Sample) -> bool {
    let is_of =
        |names: &[&str]| learner.split(' ').any(|word| names.contains(&word.trim_start_matches("--")));
    ALLOWED.iter().any(|(id, names, _)| *id == sample.id && is_of(names))
}

fn parsed(words: &str) -> Option<Train> {
    let words = ["novikoff", "train", "rows.svm"].into_iter().chain(words.split_ascii_whitespace());
    match Arguments::try_parse_from(words).ok()?.command {
        Command::Train(train) => Some(*train),
        _ => None,
    }
}

/// Rows as text: counts, of which labels depend on the first two, and on chance.
fn rows((classes, seed): (usize, u64)) -> String {
    let mut random = novikoff::random::Random::new(seed);
    let mut text = String::new();
    for _ in 0..50 {
        let x: Vec<usize> = (0..3).map(|_| (4.0 * random.unit()) as usize + 1).collect();
        let class = (x[0] + 2 * x[1] + (5.0 * random.unit()) as usize) % 12 * classes / 12;
        let _ = write!(text, "{}", class + 1);
        let _ = writeln!(text, " 1:{} 2:{} 3:{}", 3 * x[0], 3 * x[1], 3 * x[2]);
    }
    text
}

/// What is learned with these words from rows of so many classes, drawn by a seed.
fn model(words: &str, of: (usize, u64)) -> Result<Option<Model>> {
    let Some(arguments) = parsed(words) else { return Ok(None) };
    let text = rows(of);
    let input = Input::Bytes { name: "rows.svm".into(), bytes: text.into_bytes().into() };
    let task = arguments.task.unwrap_or(Task::Classes);
    let learner = learner(&arguments, Contents::Rows, task)?;
    let numbers = learner.predicts_numbers();
    let purpose = if numbers { Purpose::TrainingOnTargets } else { Purpose::Training };
    let options = Options { threads: 1, ..Options::default() };
    if arguments.online {
        let reader = Reader::open_stream(&input, &options, &purpose)?;
        return Ok(Some(train_online(reader, &learner, &mut Unwatched)?.model));
    }
    let reader = Reader::open(&input, &options, &purpose)?;
    let (data, held_out): (Dataset, Option<Dataset>) = match arguments.held_out_share() {
        Some(share) => {
            let (data, held_out) = reader.read_split(share, 0, &mut Unwatched)?;
            (data, Some(held_out))
        }
        None => (reader.read(&mut Unwatched)?, None),
    };
    refuse_scale_of_direct_methods(&arguments, &learner, &data)?;
    Ok(Some(train(&data, held_out.as_ref(), &learner, &mut Unwatched)?.model))
}

/// Whether an option makes a difference on some rows, or is an error there. `None` where what it is compared
/// with is an error itself.
fn matters(learner: &str, sample: &Sample) -> Option<bool> {
    let mut is_compared = false;
    for of in [(2, 0), (3, 0), (2, 1), (3, 1)] {
        let without = format!("{learner} {}", sample.without);
        let Ok(Some(without)) = model(&without, of) else { continue };
        let with = format!("{learner} {} {}", sample.without, sample.with);
        let Ok(Some(with)) = model(&with, of) else { return Some(true) };
        if (&with.scorer, &with.probabilities, with.labels.names())
            != (&without.scorer, &without.probabilities, without.labels.names())
        {
            return Some(true);
        }
        is_compared = true;
    }
    is_compared.then_some(false)
}

#[test]
fn every_option_of_train_has_a_sample_or_is_not_about_learning() {
    let program = Arguments::command();
    for argument in program.find_subcommand("train").unwrap().get_arguments() {
        let id = argument.get_id().as_str();
        let is_known = argument.get_help_heading().is_some_and(|heading| HEADINGS.contains(&heading))
            || NOT_ABOUT_LEARNING.contains(&id)
            || OF_LEARNERS.contains(&id)
            || SAMPLES.iter().any(|sample| sample.id == id);
        assert!(is_known, "--{id} is neither given to learners nor said not to be about learning");
    }
}

#[test]
fn every_option_of_train_makes_another_model_or_is_an_error() {
    let mut idle = String::new();
    for learner in learners() {
        for sample in &SAMPLES {
            if matters(&learner, sample) == Some(false) && !is_allowed(&learner, sample) {
                let _ = writeln!(idle, "{learner} {} {}", sample.without, sample.with);
            }
        }
    }
    assert!(idle.is_empty(), "these have no effect:\n{idle}");
}
