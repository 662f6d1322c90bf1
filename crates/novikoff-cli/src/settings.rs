//! From what the user wrote to what the library wants.

mod network;

use crate::arguments::{
    BiasName, CalibrationName, Compare, CountingName, Documents, FormatName, LearnerName, LikelihoodName,
    LossArgument, MissingName, OrderName, PenaltyArgument, Reading, ScaleName, ScheduleName, SchemeName,
    SolverArgument, TieName, Train, VariantName, YesNo,
};
use clap::ValueEnum;
use novikoff::bayes::{Bayes, Likelihood, Priors};
use novikoff::compare::{Comparison, Form};
use novikoff::data::Scale;
use novikoff::evaluate::CalibrationMethod;
use novikoff::features::Missing;
use novikoff::features::map::Map;
use novikoff::features::text::{Counting, ENGLISH_STOP_WORDS, Lengths, TextRecipe};
use novikoff::kernel::Kernel;
use novikoff::multiclass::Scheme;
use novikoff::online::Order;
use novikoff::online::rule::{Aggressiveness, Length, Tie};
use novikoff::penalty::Bias;
use novikoff::read::{Contents, Format, Header, Options, TableOptions};
use novikoff::solver::Schedule;
use novikoff::train::{ClassWeight, Learner, Risk, Settings, SolverName, Strength};
use novikoff::{Error, Result};

/// How to read, and with how many threads everything runs.
pub fn options(reading: &Reading) -> Result<Options> {
    let mut options = Options::default();
    if let Some(threads) = reading.threads {
        options.threads = threads;
    }
    // Only the first call counts, and all of a program's calls say the same.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global();
    options.format = reading.format.map(|format| match format {
        FormatName::Svmlight => Format::Svmlight,
        FormatName::Csv => Format::Csv,
        FormatName::Tsv => Format::Tsv,
        FormatName::Vw => Format::Vw,
        FormatName::Idx => Format::Idx,
        FormatName::Text => Format::Text,
        FormatName::Jsonl => Format::Jsonl,
    });
    options.base = reading.zero_based.then_some(0);
    options.max_index = reading.max_index;
    options.hash_bits = reading.hash_bits;
    options.labels = reading.labels.clone();
    options.skip_bad_rows = reading.skip_bad_rows;
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
        characters: documents.characters.and_then(|span| span.0.map(lengths)),
        keep_case: documents.keep_case,
        stop_words: stop_words(documents)?,
        counting: match documents.counting {
            None => usual.counting,
            Some(CountingName::Counts) => Counting::Counts,
            Some(CountingName::Binary) => Counting::Binary,
            Some(CountingName::Sublinear) => Counting::Sublinear,
        },
        idf: documents.idf.map_or(usual.idf, is_yes),
        unit_length: documents.unit_length.map_or(usual.unit_length, is_yes),
        min_documents: documents.min_documents.unwrap_or(usual.min_documents),
        max_share: documents.max_documents.unwrap_or(usual.max_share),
    };
    recipe.validate().map_err(Error::usage)?;
    Ok(Options { recipe, keep_names: documents.keep_names, ..options(reading)? })
}

fn stop_words(documents: &Documents) -> Result<Vec<String>> {
    let Some(path) = &documents.stop_words else { return Ok(Vec::new()) };
    let in_case = |word: &str| if documents.keep_case { word.to_owned() } else { word.to_lowercase() };
    if path.as_os_str() == "english" {
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
pub fn usual_recipe(learner: Learner, online: bool) -> TextRecipe {
    match learner {
        Learner::Bayes => TextRecipe::counts(),
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
        missing: match reading.missing {
            MissingName::Error => Missing::Error,
            MissingName::Zero => Missing::Zero,
            MissingName::Mean => Missing::Mean,
            MissingName::Indicator => Missing::Indicator,
        },
        delimiter,
        row_weights: reading.row_weights.clone(),
        text: reading.text.clone(),
    })
}

/// What learns where nobody says: what serves best on the most data sets, or on documents, or, where an
/// option speaks of passes over the rows, what best makes use of them.
fn usual(train: &Train, contents: Contents) -> LearnerName {
    let passes = [
        train.online,
        train.validation.is_some(),
        train.epochs.is_some(),
        train.step.is_some(),
        train.normalise,
        train.kernel != "linear",
        train.own_feature.is_some(),
        matches!(train.order, OrderName::Given),
        !matches!(train.tie, TieName::Mistake),
    ];
    match () {
        // A budget of rows leaves no average.
        _ if train.online && train.kernel != "linear" => LearnerName::Perceptron,
        _ if batch_option(train).is_none() && passes.contains(&true) => LearnerName::Averaged,
        _ if contents != Contents::Rows => LearnerName::SquaredSvm,
        _ => LearnerName::Logistic,
    }
}

/// An option that was given and that only learners which minimise a loss understand.
fn batch_option(train: &Train) -> Option<&'static str> {
    let given = [
        ("--lambda", train.lambda.is_some()),
        ("--cost", train.cost.is_some()),
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", !matches!(train.solver, SolverArgument::Auto)),
        ("--schedule", train.schedule.is_some()),
        ("--scale", train.scale.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// An option that was given and that only bayes understands.
fn bayes_option(train: &Train) -> Option<&'static str> {
    let given = [
        ("--likelihood", train.likelihood.is_some()),
        ("--smoothing", train.smoothing.is_some()),
        ("--priors", train.priors.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// An option that was given and that says how weights are corrected, or what is known of it: nothing for who
/// counts.
fn correcting_option(train: &Train) -> Option<&'static str> {
    let given = [
        ("--epochs", train.epochs.is_some()),
        ("--order", !matches!(train.order, OrderName::Shuffled)),
        ("--bias", !matches!(train.bias, BiasName::Free)),
        ("--tolerance", train.tolerance != 1e-4),
        ("--kernel", train.kernel != "linear"),
        ("--batch", train.batch.is_some()),
        ("--normalise", train.normalise),
        ("--own-feature", train.own_feature.is_some()),
        ("--tie", !matches!(train.tie, TieName::Mistake)),
        ("--step", train.step.is_some()),
        ("--variant", !matches!(train.variant, VariantName::PaI)),
        ("--aggressiveness", train.aggressiveness != 1.0),
        ("--certificate", train.certificate.is_some()),
        ("--trace", train.trace.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// What to learn from an input that holds this.
pub fn settings(train: &Train, contents: Contents) -> Result<Settings> {
    settings_with(train, usual(train, contents), contents)
}

/// What to learn if nobody says, and everything else as asked for.
pub fn settings_with(train: &Train, usual: LearnerName, contents: Contents) -> Result<Settings> {
    let learner = learner(train, usual);
    if let (Some(named), Some(_)) = (train.learner, train.loss)
        && !matches!(named, LearnerName::Network)
    {
        let what = format!(
            "--loss stands in place of a learner, and --learner {} is given",
            learner_named(named).name()
        );
        return Err(Error::usage(what).hint("leave out one of them; --learner network takes a loss"));
    }
    network::check(train, learner)?;
    if let (None, Some(option)) = (learner.loss().or(network::loss(learner)), batch_option(train)) {
        let what = format!("{option} is for learners that minimise a loss; {} does not", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner svm or logistic")));
    }
    if let (false, Some(option)) = (learner == Learner::Bayes, bayes_option(train)) {
        let what = format!("{option} is for bayes, and this is {}", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner bayes")));
    }
    if let (true, Some(option)) = (learner == Learner::Bayes, correcting_option(train)) {
        let what = format!("{option} is not for bayes, which counts every row once and minimises nothing");
        return Err(Error::usage(what).hint(format!("leave out {option}")));
    }
    if train.budget.is_some() && (!train.online || train.kernel == "linear") {
        let what = "--budget is for streams with a kernel: rows in memory are all kept, and weights of features need none";
        return Err(Error::usage(what).hint("leave out --budget, or add --online and --kernel"));
    }
    Ok(Settings {
        learner,
        budget: train.budget.unwrap_or(Settings::default().budget),
        own_feature: train.own_feature,
        kernel: train.kernel.parse()?,
        length: if train.normalise { Length::Unit } else { Length::AsGiven },
        tie: tie(train.tie),
        step: train.step.unwrap_or(Settings::default().step),
        aggressiveness: match train.variant {
            VariantName::Pa => Aggressiveness::Full,
            VariantName::PaI => Aggressiveness::Capped(train.aggressiveness),
            VariantName::PaIi => Aggressiveness::Damped(train.aggressiveness),
        },
        bias: bias(train.bias),
        multiclass: train.multiclass.map(scheme),
        positive: train.positive.clone(),
        class_weight: class_weight(train.class_weight.as_deref())?,
        epochs: train.epochs.unwrap_or(Settings::default().epochs),
        patience: train.patience,
        order: order(train.order),
        seed: train.seed,
        map: train.map.as_deref().map(|text| map(text, train.seed)).transpose()?,
        calibrate: train.calibrate.map(|method| match method {
            CalibrationName::Platt => CalibrationMethod::Platt,
            CalibrationName::Isotonic => CalibrationMethod::Isotonic,
        }),
        risk: risk(train, contents)?,
        bayes: bayes(train)?,
        network: network::layer(train),
        trace: train.trace.is_some(),
    })
}

fn learner(train: &Train, usual: LearnerName) -> Learner {
    if let Some(LearnerName::Network) = train.learner {
        return Learner::Network;
    }
    match train.loss {
        Some(LossArgument::Hinge) => return Learner::Svm,
        Some(LossArgument::SquaredHinge) => return Learner::SquaredSvm,
        Some(LossArgument::Logistic) => return Learner::Logistic,
        Some(LossArgument::Exponential) => return Learner::Exponential,
        Some(LossArgument::Squared) => return Learner::LeastSquares,
        Some(LossArgument::Absolute) => return Learner::LeastAbsolute,
        Some(LossArgument::HingeAtZero) => return Learner::HingeAtZero,
        None => {}
    }
    learner_named(train.learner.unwrap_or(usual))
}

fn learner_named(name: LearnerName) -> Learner {
    match name {
        LearnerName::Perceptron => Learner::Perceptron,
        LearnerName::Averaged => Learner::Averaged,
        LearnerName::Voted => Learner::Voted,
        LearnerName::PassiveAggressive => Learner::PassiveAggressive,
        LearnerName::Svm => Learner::Svm,
        LearnerName::SquaredSvm => Learner::SquaredSvm,
        LearnerName::Logistic => Learner::Logistic,
        LearnerName::Exponential => Learner::Exponential,
        LearnerName::LeastSquares => Learner::LeastSquares,
        LearnerName::LeastAbsolute => Learner::LeastAbsolute,
        LearnerName::Boosting => Learner::Boosting,
        LearnerName::MaxMargin => Learner::MaxMargin,
        LearnerName::Bayes => Learner::Bayes,
        LearnerName::Network => Learner::Network,
    }
}

fn tie(name: TieName) -> Tie {
    match name {
        TieName::Mistake => Tie::Mistake,
        TieName::Positive => Tie::Positive,
        TieName::Negative => Tie::Negative,
    }
}

fn bias(name: BiasName) -> Bias {
    match name {
        BiasName::Free => Bias::Free,
        BiasName::Penalised => Bias::Penalised,
        BiasName::None => Bias::None,
    }
}

fn scheme(name: SchemeName) -> Scheme {
    match name {
        SchemeName::Joint => Scheme::Joint,
        SchemeName::OneVsRest => Scheme::OneVsRest,
    }
}

fn order(name: OrderName) -> Order {
    match name {
        OrderName::Shuffled => Order::Shuffled,
        OrderName::Given => Order::Given,
    }
}

/// What to compare, and which forms of the perceptron to show.
pub fn comparison(arguments: &Compare) -> Result<(Comparison, Vec<Form>)> {
    let mut epochs = arguments.epochs.clone();
    if let Some(wrong) = epochs.iter().find(|epochs| !(**epochs > 0.0 && **epochs <= MOST_EPOCHS)) {
        return Err(Error::usage(format!("--epochs {wrong} is not a number above 0, up to {MOST_EPOCHS}")));
    }
    epochs.sort_by(f64::total_cmp);
    epochs.dedup();
    let most = epochs.last().copied().unwrap_or(1.0);
    let mut kernels = Vec::new();
    for text in &arguments.kernels {
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
        match LearnerName::from_str(name, false).map(learner_named) {
            Ok(learner) if !learner.predicts_numbers() => others.push(learner),
            _ => {
                let hint =
                    "random, perceptron, averaged, voted, or a learner of `train` that tells classes apart";
                return Err(Error::usage(format!("there is no {name:?} to compare")).hint(hint));
            }
        }
    }
    let settings = Settings {
        seed: arguments.seed,
        bias: bias(arguments.bias),
        length: if arguments.normalise { Length::Unit } else { Length::AsGiven },
        tie: tie(arguments.tie),
        order: order(arguments.order),
        multiclass: arguments.multiclass.map(scheme),
        class_weight: class_weight(arguments.class_weight.as_deref())?,
        ..Settings::default()
    };
    // Without any of its forms the perceptron need not run.
    let kernels = if forms.is_empty() { Vec::new() } else { kernels };
    Ok((Comparison { kernels, epochs, others, settings }, forms))
}

/// Most epochs of a comparison.
const MOST_EPOCHS: f64 = 10_000.0;

fn risk(train: &Train, contents: Contents) -> Result<Risk> {
    let mut strength = train.lambda.map(Strength::Lambda).or(train.cost.map(Strength::Cost));
    let (l1, given) = (train.l1, strength.is_some());
    let refuse = |what: &str, hint: &str| Err(Error::usage(format!("--penalty {what}")).hint(hint));
    match train.penalty {
        Some(PenaltyArgument::None) if l1 != 0.0 || given => {
            return refuse(
                "none, but a strength is given",
                "leave out --lambda, --cost and --l1, or --penalty",
            );
        }
        Some(PenaltyArgument::None) => strength = Some(Strength::Lambda(0.0)),
        Some(PenaltyArgument::L2) if l1 != 0.0 => {
            return refuse("l2, but --l1 is given", "--penalty elastic-net is both");
        }
        Some(PenaltyArgument::L1 | PenaltyArgument::ElasticNet) if l1 == 0.0 => {
            return refuse("with an ℓ1 part needs its strength", "give --l1 X");
        }
        Some(PenaltyArgument::L1) if given => {
            return refuse("l1, but --lambda or --cost is given", "--penalty elastic-net is both");
        }
        Some(PenaltyArgument::ElasticNet) if !given => {
            return refuse("elastic-net needs the strength of its ℓ2 part too", "give --lambda or --cost");
        }
        _ => {}
    }
    Ok(Risk {
        strength,
        l1,
        solver: match train.solver {
            SolverArgument::Auto => SolverName::Auto,
            SolverArgument::Newton => SolverName::Newton,
            SolverArgument::Augmented => SolverName::Augmented,
            SolverArgument::DualCd => SolverName::DualCd,
            SolverArgument::Coordinate => SolverName::Coordinate,
            SolverArgument::LeastSquares => SolverName::LeastSquares,
            SolverArgument::Gradient => SolverName::Gradient,
            SolverArgument::Stochastic => SolverName::Stochastic,
            SolverArgument::Boosting => SolverName::Boosting,
            SolverArgument::Simplex => SolverName::Simplex,
        },
        scale: match train.scale {
            // Who names what is minimised means the columns as they are.
            None if train.learner.is_some() || train.loss.is_some() || contents == Contents::Documents => {
                Scale::None
            }
            None | Some(ScaleName::MaxAbs) => Scale::MaxAbs,
            Some(ScaleName::None) => Scale::None,
            Some(ScaleName::UnitVariance) => Scale::UnitVariance,
        },
        schedule: train.schedule.map(|schedule| match schedule {
            ScheduleName::Constant => Schedule::Constant,
            ScheduleName::Inverse => Schedule::Inverse,
            ScheduleName::InverseRoot => Schedule::InverseRoot,
            ScheduleName::Halving => Schedule::Halving,
            ScheduleName::Backtracking => Schedule::Backtracking,
        }),
        step: train.step,
        batch: train.batch.unwrap_or(Risk::default().batch),
        tolerance: train.tolerance,
        steps: train.epochs,
    })
}

fn bayes(train: &Train) -> Result<Bayes> {
    let usual = Bayes::default();
    let likelihood = match train.likelihood {
        None => usual.likelihood,
        Some(LikelihoodName::Multinomial) => Likelihood::Multinomial,
        Some(LikelihoodName::Bernoulli) => Likelihood::Bernoulli,
        Some(LikelihoodName::Complement) => Likelihood::Complement,
    };
    if let (Likelihood::Complement, Some(_)) = (likelihood, &train.priors) {
        let error = Error::usage("--likelihood complement has no use for priors");
        return Err(error.hint("leave out --priors, or use --likelihood multinomial"));
    }
    let priors = match train.priors.as_deref() {
        None => usual.priors,
        Some("learned") => Priors::Learned,
        Some("uniform") => Priors::Uniform,
        Some(text) => Priors::Given(pairs(text).ok_or_else(|| {
            Error::usage(format!("--priors {text:?} is not LABEL=P,…"))
                .hint("for example --priors spam=0.2,ham=0.8, or learned, or uniform")
        })?),
    };
    Ok(Bayes { likelihood, smoothing: train.smoothing.unwrap_or(usual.smoothing), priors })
}

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

/// `LABEL=NUMBER,…`.
fn pairs(text: &str) -> Option<Vec<(String, f64)>> {
    let parse = |pair: &str| {
        let (label, number) = pair.rsplit_once('=')?;
        Some((label.to_owned(), number.parse().ok()?))
    };
    text.split(',').map(parse).collect()
}

fn class_weight(text: Option<&str>) -> Result<ClassWeight> {
    let text = match text {
        None => return Ok(ClassWeight::Equal),
        Some("balanced") => return Ok(ClassWeight::Balanced),
        Some(text) => text,
    };
    pairs(text).map(ClassWeight::Given).ok_or_else(|| {
        Error::usage(format!("--class-weight {text:?} is not LABEL=WEIGHT,…"))
            .hint("for example --class-weight spam=2,ham=1, or balanced")
    })
}
