//! From what the user wrote to what the library wants.

mod applied;
mod idle;
mod learner;
mod resumed;

pub use applied::{Use, options_for};
pub use idle::refuse_scale_of_direct_methods;
pub use learner::{depends_on_labels, learner, learner_from, learner_or, pairs};
pub use resumed::{options_anew, options_on};

use crate::arguments::{Compare, Documents, ENGLISH, Reading, YesNo};
use clap::ValueEnum;
use learner::class_weight;
use novikoff::compare::{Comparison, Form};
use novikoff::features::map::Map;
use novikoff::features::text::{ENGLISH_STOP_WORDS, Lengths, TextRecipe};
use novikoff::kernel::Kernel;
use novikoff::online::rule::{self, Length};
use novikoff::read::{Contents, Header, Input, Options, Purpose, Reader, TableOptions};
use novikoff::train::{Epochs, Learner, LearnerName, Perceptron, Shared};
use novikoff::{Error, Result};

/// How to read, and with how many threads everything runs.
pub fn options(reading: &Reading) -> Result<Options> {
    let mut options = Options::default();
    if let Some(threads) = reading.threads {
        options.threads = threads;
    }
    // Only the first call counts, and all of a program's calls say the same.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global();
    options.format = reading.format;
    options.base = reading.zero_based.then_some(0);
    options.max_index = reading.max_index.unwrap_or(options.max_index);
    options.hash_bits = reading.hash_bits;
    options.interactions = reading.interactions.clone();
    options.labels = reading.labels.clone();
    options.skip_bad_rows = reading.skip_bad_rows;
    options.memory = reading.memory;
    options.table = table_options(reading)?;
    Ok(options)
}

/// How to read rows to learn from: where they are documents, they become features by what is asked for, and
/// for the rest by the usual recipe.
pub fn training_options(reading: &Reading, documents: &Documents, usual: TextRecipe) -> Result<Options> {
    let lengths = |(from, to)| Lengths { from, to };
    let is_yes = |answer: YesNo| answer == YesNo::Yes;
    let recipe = TextRecipe {
        words: documents.words.map_or(usual.words, |span| span.0.map(lengths)),
        characters: documents.characters.map_or(usual.characters, |span| span.0.map(lengths)),
        keep_case: documents.keep_case || usual.keep_case,
        stop_words: match &documents.stop_words {
            Some(_) => stop_words(documents)?,
            None => usual.stop_words,
        },
        counting: documents.counting.unwrap_or(usual.counting),
        idf: documents.idf.map_or(usual.idf, is_yes),
        unit_length: documents.unit_length.map_or(usual.unit_length, is_yes),
        min_documents: documents.min_documents.unwrap_or(usual.min_documents),
        max_share: documents.max_documents.unwrap_or(usual.max_share),
    };
    recipe.validate().map_err(Error::usage)?;
    Ok(Options { recipe, keep_names: documents.keep_names, ..options(reading)? })
}

/// Opens rows to learn from, or to prove something of. Options for documents are mistakes where there are
/// none.
pub fn open(
    input: &Input,
    options: &Options,
    purpose: &Purpose<'_>,
    documents: &Documents,
) -> Result<Reader> {
    with_documents(Reader::open(input, options, purpose)?, documents)
}

/// The same for an input that is read once and never held.
pub fn open_stream(
    input: &Input,
    options: &Options,
    purpose: &Purpose<'_>,
    documents: &Documents,
) -> Result<Reader> {
    with_documents(Reader::open_stream(input, options, purpose)?, documents)
}

fn with_documents(reader: Reader, documents: &Documents) -> Result<Reader> {
    match documents.given() {
        Some(option) if reader.contents() == Contents::Rows => {
            let error = Error::usage(format!("{option} is for documents, and these are rows of features"));
            Err(error.hint(format!("leave out {option}, or say --format text, or --text COLUMN of a table")))
        }
        _ => Ok(reader),
    }
}

fn stop_words(documents: &Documents) -> Result<Vec<String>> {
    let Some(path) = &documents.stop_words else { return Ok(Vec::new()) };
    let in_case = |word: &str| if documents.keep_case { word.to_owned() } else { word.to_lowercase() };
    if path.as_os_str() == ENGLISH {
        return Ok(ENGLISH_STOP_WORDS.map(str::to_owned).to_vec());
    }
    let name = path.display().to_string();
    let listed =
        std::fs::read(path).map_err(|error| Error::io(&name, &error).hint("english is a list of its own"))?;
    let listed = String::from_utf8(listed)
        .map_err(|_| Error::input("this list of words is not UTF-8").at(&name, 0, 0))?;
    Ok(listed.lines().map(str::trim).filter(|word| !word.is_empty()).map(in_case).collect())
}

/// The recipe where nobody asks for another: Bayes' rule is about counts, and streams are not seen as a
/// whole.
pub fn usual_recipe(learner: &Learner, online: bool) -> TextRecipe {
    match learner {
        Learner::Bayes(_) => TextRecipe::counts(),
        _ if online => TextRecipe::stream(),
        _ => TextRecipe::default(),
    }
}

fn table_options(reading: &Reading) -> Result<TableOptions> {
    let delimiter = match reading.delimiter {
        Some(c) => Some(u8::try_from(c).map_err(|_| {
            Error::usage(format!("{c:?} cannot separate fields")).hint("use , or ; or a tab")
        })?),
        None => None,
    };
    Ok(TableOptions {
        label: reading.label.clone(),
        drop: reading.drop.clone(),
        header: match (reading.header, reading.no_header) {
            (true, _) => Header::Present,
            (_, true) => Header::Absent,
            _ => Header::Detect,
        },
        missing: reading.missing.unwrap_or_default(),
        delimiter,
        row_weights: reading.row_weights.clone(),
        text: reading.text.clone(),
        categories: reading.categories.clone(),
        numbers: reading.numbers.clone(),
        before: Vec::new(),
    })
}

/// What to compare, and which forms of the perceptron to show.
pub fn comparison(arguments: &Compare) -> Result<(Comparison, Vec<Form>)> {
    let mut epochs = arguments.epochs.clone().unwrap_or_else(|| vec![0.1, 1.0, 2.0, 3.0, 4.0, 10.0]);
    if let Some(wrong) = epochs.iter().find(|epochs| !(**epochs > 0.0 && **epochs <= MOST_EPOCHS)) {
        return Err(Error::usage(format!("--epochs {wrong} is not a number above 0, up to {MOST_EPOCHS}")));
    }
    epochs.sort_by(f64::total_cmp);
    epochs.dedup();
    let most = epochs.last().copied().unwrap_or(1.0);
    let mut kernels = Vec::new();
    let usual = || ["linear", "poly:2", "poly:3"].map(str::to_owned).to_vec();
    for text in &arguments.kernels.clone().unwrap_or_else(usual) {
        let (name, end) = text.split_once('@').map_or((text.as_str(), None), |(name, end)| (name, Some(end)));
        let end = match end.map(str::parse::<f64>) {
            None => most,
            Some(Ok(end)) if end > 0.0 => end.min(most),
            Some(_) => {
                return Err(Error::usage(format!(
                    "--kernels {text:?}: what follows @ is a number of epochs"
                )));
            }
        };
        let kernel: Kernel = name.parse()?;
        if kernels.iter().any(|(other, _)| *other == kernel) {
            return Err(Error::usage(format!("the kernel {kernel} is there twice")));
        }
        kernels.push((kernel, end));
    }
    let usual = ["random", "perceptron", "averaged", "voted", "svm", "logistic", "bayes"].map(str::to_owned);
    let names = if arguments.learners.is_empty() { &usual[..] } else { &arguments.learners };
    let forms: Vec<Form> =
        Form::ALL.into_iter().filter(|form| names.iter().any(|name| name == form.name())).collect();
    let mut others = Vec::new();
    for name in names.iter().filter(|name| Form::ALL.iter().all(|form| form.name() != name.as_str())) {
        match LearnerName::from_str(name, false) {
            Ok(learner) if !learner.predicts_numbers() => others.push(learner),
            _ => {
                let hint = "random, perceptron, averaged, voted, or a learner of `train` that classifies";
                return Err(Error::usage(format!("there is no {name:?} to compare")).hint(hint));
            }
        }
    }
    let length = if arguments.normalise { Length::Unit } else { Length::AsGiven };
    let perceptron = Perceptron {
        rule: rule::Perceptron { length, tie: arguments.tie, ..rule::Perceptron::default() },
        bias: arguments.bias,
        epochs: Epochs { order: arguments.order, ..Epochs::default() },
        shared: Shared {
            seed: arguments.seed,
            multiclass: arguments.multiclass,
            class_weight: class_weight(arguments.class_weight.as_deref())?,
            task: arguments.task,
            memory: arguments.reading.memory,
            ..Shared::default()
        },
        ..Perceptron::new()
    };
    // Without any of its forms the perceptron need not run.
    let kernels = if forms.is_empty() { Vec::new() } else { kernels };
    Ok((Comparison { kernels, epochs, others, perceptron }, forms))
}

/// Most epochs of a comparison.
const MOST_EPOCHS: f64 = 10_000.0;

/// `poly:D` or `fourier:COUNT:GAMMA`.
pub fn map(text: &str, seed: u64) -> Result<Map> {
    let parsed = match text.split(':').collect::<Vec<_>>()[..] {
        ["poly", degree] => degree.parse().ok().map(|degree| Map::Poly { degree }),
        ["fourier", count, gamma] => match (count.parse(), gamma.parse()) {
            (Ok(count), Ok(gamma)) => Some(Map::Fourier { count, gamma, seed }),
            _ => None,
        },
        _ => None,
    };
    let hint = "for example --map poly:2 or --map fourier:500:0.1";
    let map = parsed.ok_or_else(|| {
        Error::usage(format!("--map {text:?} is neither poly:D nor fourier:COUNT:GAMMA")).hint(hint)
    })?;
    map.validate().map_err(|what| Error::usage(what).hint(hint))?;
    Ok(map)
}
