//! The learner that the arguments ask for. This is the one place where names and options become a learner
//! with its settings.

use super::map;
use crate::arguments::{PenaltyArgument, Train, VariantName};
use novikoff::bayes::{Likelihood, Priors};
use novikoff::data::Scale;
use novikoff::loss::LossName;
use novikoff::model::Task;
use novikoff::online::Order;
use novikoff::online::rule::{self, Aggressiveness, Length, Tie};
use novikoff::penalty::Bias;
use novikoff::read::Contents;
use novikoff::train::{
    ClassWeight, Epochs, Learner, LearnerName, MultilayerPerceptron, NaiveBayes, PassiveAggressive,
    Perceptron, Risk, Shared, SolverName, Strength,
};
use novikoff::{Error, Result};

/// The learner for an input with these contents and labels.
pub fn learner(train: &Train, contents: Contents, task: Task) -> Result<Learner> {
    let mut learner = learner_or(train, default_learner(train, contents, task), contents, task)?;
    if let (Learner::Risk(risk), Task::Regression, None) = (&mut learner, task, named(train)?) {
        adapt_to_numbers(risk, train, contents);
    }
    Ok(learner)
}

/// The defaults of least squares that nobody asked for by name.
fn adapt_to_numbers(risk: &mut Risk, train: &Train, contents: Contents) {
    let is_free = risk.strength.is_none() && risk.l1 == 0.0;
    match contents {
        // Without a penalty, the size of columns makes no difference but for rounding.
        Contents::Rows if is_free && train.scale.is_none() => risk.scale = Scale::None,
        Contents::Rows => {}
        // Terms are more than documents: without a penalty, they would meet any numbers.
        Contents::Documents | Contents::DocumentsInRows if is_free => {
            risk.strength = Some(Strength::Cost(1.0))
        }
        Contents::Documents | Contents::DocumentsInRows => {}
    }
}

/// The learner that is named or, if none is, this one.
pub fn learner_or(train: &Train, default: LearnerName, contents: Contents, task: Task) -> Result<Learner> {
    let name = named(train)?.unwrap_or(default);
    refuse_options_of_others(train, name)?;
    let shared = shared(train)?;
    Ok(match name.learner() {
        Learner::Perceptron(own) => perceptron(train, own, shared)?.into(),
        Learner::PassiveAggressive(own) => passive_aggressive(train, own, shared)?.into(),
        Learner::Risk(own) => risk(train, own, shared, contents)?.into(),
        Learner::Bayes(own) => bayes(train, own, shared)?.into(),
        Learner::Network(own) => network(train, own, shared, task).into(),
    })
}

/// Whether the labels decide what is learned: no learner and no loss is named, or a network without its loss.
pub fn depends_on_labels(train: &Train) -> bool {
    let is_open = matches!(train.learner, None | Some(LearnerName::Network));
    train.task.is_none() && is_open && train.loss.is_none()
}

/// The default: what serves best on the most data sets, or on documents, or for numbers, or, where an option
/// speaks of passes over the rows, what makes best use of them.
fn default_learner(train: &Train, contents: Contents, task: Task) -> LearnerName {
    let of_perceptrons = [
        train.online,
        train.normalise,
        train.kernel != "linear",
        train.own_feature.is_some(),
        train.order == Order::Given,
        train.tie != Tie::Mistake,
    ];
    let of_classes = [train.validation.is_some(), train.epochs.is_some(), train.step.is_some()];
    let asks_for_passes =
        of_perceptrons.contains(&true) || task == Task::Classes && of_classes.contains(&true);
    match () {
        // A budget of rows leaves no average.
        _ if train.online && train.kernel != "linear" => LearnerName::Perceptron,
        _ if given(&batch_options(train)).is_none() && asks_for_passes => LearnerName::Averaged,
        _ => LearnerName::usual(contents, task),
    }
}

/// The learner by its name or by its loss, if it has either.
fn named(train: &Train) -> Result<Option<LearnerName>> {
    match (train.learner, train.loss) {
        (Some(LearnerName::Network), _) => Ok(Some(LearnerName::Network)),
        (Some(named), Some(_)) => {
            let what =
                format!("--loss stands in place of a learner, and --learner {} is given", named.name());
            Err(Error::usage(what).hint("leave out one of them; --learner network takes a loss"))
        }
        (named, None) => Ok(named),
        (None, Some(loss)) => Ok(Learner::Risk(Risk::of(loss)).named()),
    }
}

/// An option, and whether it was given.
type Given = (&'static str, bool);

fn given(options: &[Given]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// Options of learners that minimise a loss.
fn batch_options(train: &Train) -> [Given; 7] {
    [
        ("--lambda", train.lambda.is_some()),
        ("--cost", train.cost.is_some()),
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", train.solver != SolverName::Auto),
        ("--schedule", train.schedule.is_some()),
        ("--scale", train.scale.is_some()),
    ]
}

/// Options of naive Bayes.
fn bayes_options(train: &Train) -> [Given; 3] {
    [
        ("--likelihood", train.likelihood.is_some()),
        ("--smoothing", train.smoothing.is_some()),
        ("--priors", train.priors.is_some()),
    ]
}

/// Options of networks.
fn network_options(train: &Train) -> [Given; 2] {
    [("--hidden", train.hidden.is_some()), ("--activation", train.activation.is_some())]
}

/// Options that naive Bayes has no use for: it counts every row once and minimises nothing.
fn options_not_for_bayes(train: &Train) -> [Given; 14] {
    [
        ("--epochs", train.epochs.is_some()),
        ("--order", train.order != Order::Shuffled),
        ("--bias", train.bias != Bias::Free),
        ("--tolerance", train.tolerance != 1e-4),
        ("--kernel", train.kernel != "linear"),
        ("--batch", train.batch.is_some()),
        ("--normalise", train.normalise),
        ("--own-feature", train.own_feature.is_some()),
        ("--tie", train.tie != Tie::Mistake),
        ("--step", train.step.is_some()),
        ("--variant", !matches!(train.variant, VariantName::PaI)),
        ("--aggressiveness", train.aggressiveness != 1.0),
        ("--certificate", train.certificate.is_some()),
        ("--trace", train.trace.is_some()),
    ]
}

/// Options that networks have no use for: their loss is not convex in the weights.
fn options_not_for_networks(train: &Train) -> [Given; 6] {
    [
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", train.solver != SolverName::Auto),
        ("--schedule", train.schedule.is_some()),
        ("--tolerance", train.tolerance != 1e-4),
        ("--certificate", train.certificate.is_some()),
    ]
}

/// Options of perceptrons. Of the passive-aggressive rule some are refused for reasons of its own.
fn perceptron_options(train: &Train) -> [Given; 3] {
    [
        ("--tie", train.tie != Tie::Mistake),
        ("--normalise", train.normalise),
        ("--own-feature", train.own_feature.is_some()),
    ]
}

/// Options of the passive-aggressive rule.
fn passive_aggressive_options(train: &Train) -> [Given; 2] {
    [
        ("--variant", !matches!(train.variant, VariantName::PaI)),
        ("--aggressiveness", train.aggressiveness != 1.0),
    ]
}

/// Options that an online learner has no use for.
fn options_not_for_passes(train: &Train, learner: LearnerName) -> [Given; 3] {
    [
        ("--tolerance", train.tolerance != 1e-4),
        ("--batch", train.batch.is_some()),
        ("--step", train.step.is_some() && learner == LearnerName::PassiveAggressive),
    ]
}

/// Options that only some solvers of a minimised loss have a use for.
fn options_not_for_solver(train: &Train) -> [Given; 4] {
    let has_steps = matches!(train.solver, SolverName::Gradient | SolverName::Stochastic);
    [
        ("--schedule", train.schedule.is_some() && !has_steps),
        ("--step", train.step.is_some() && !has_steps),
        ("--batch", train.batch.is_some() && train.solver != SolverName::Stochastic),
        ("--order", train.order != Order::Shuffled),
    ]
}

/// Refuses options of other learners that would have no effect.
fn refuse_idle_options(train: &Train, learner: LearnerName) -> Result<()> {
    let is_online = LearnerName::ONLINE.contains(&learner);
    let is_pa = learner == LearnerName::PassiveAggressive;
    let refuse = |option: &str, what: &str, instead: &str| {
        let error = Error::usage(format!("{option} {what}, and this is {}", learner.name()));
        Err(error.hint(format!("leave out {option}, or use {instead}")))
    };
    let is_perceptron = is_online && !is_pa;
    if let (false, Some(option)) =
        (is_perceptron, given(&perceptron_options(train)[..if is_pa { 1 } else { 3 }]))
    {
        return refuse(option, "is for perceptrons", "--learner perceptron, averaged or voted");
    }
    if let (false, Some(option)) = (is_pa, given(&passive_aggressive_options(train))) {
        return refuse(option, "is for passive-aggressive learning", "--learner passive-aggressive");
    }
    if let (true, Some(option)) = (is_online, given(&options_not_for_passes(train, learner))) {
        return refuse(option, "is for learners that minimise a loss", "--learner svm or logistic");
    }
    if let (true, Some(option)) = (learner.loss().is_some(), given(&options_not_for_solver(train))) {
        let solver = |what: &str, instead: &str| {
            let error =
                Error::usage(format!("{option} is for {what}, and --solver is {}", train.solver.name()));
            Err(error.hint(format!("leave out {option}, or use --solver {instead}")))
        };
        return match option {
            "--order" => refuse(option, "is for learners that visit rows one by one", "--learner averaged"),
            "--batch" => solver("the stochastic gradient", "stochastic"),
            _ => solver("gradient descent", "gradient or stochastic"),
        };
    }
    Ok(())
}

fn refuse_options_of_others(train: &Train, learner: LearnerName) -> Result<()> {
    let (is_bayes, is_network) = (learner == LearnerName::Bayes, learner == LearnerName::Network);
    let minimises = learner.loss().is_some() || is_network;
    if let (false, Some(option)) = (is_network, given(&network_options(train))) {
        let what = format!("{option} is for networks, and this is {}", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner network")));
    }
    if let (true, Some(option)) = (is_network, given(&options_not_for_networks(train))) {
        let what = format!("{option} is for convex problems, and a network's is not convex");
        return Err(Error::usage(what)
            .hint(format!("leave out {option}; --lambda, --step, --batch and --epochs are for networks")));
    }
    if let (false, Some(option)) = (minimises, given(&batch_options(train))) {
        let what = format!("{option} is for learners that minimise a loss; {} does not", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner svm or logistic")));
    }
    if let (false, Some(option)) = (is_bayes, given(&bayes_options(train))) {
        let what = format!("{option} is for bayes, and this is {}", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner bayes")));
    }
    if let (true, Some(option)) = (is_bayes, given(&options_not_for_bayes(train))) {
        let what = format!("{option} is not for bayes, which counts every row once and minimises nothing");
        return Err(Error::usage(what).hint(format!("leave out {option}")));
    }
    if train.budget.is_some() && (!train.online || train.kernel == "linear") {
        let what = "--budget is for streams with a kernel: rows in memory are all kept, and weights of \
                    features need none";
        return Err(Error::usage(what).hint("leave out --budget, or add --online and --kernel"));
    }
    if train.kernel != "linear" && !LearnerName::ONLINE.contains(&learner) {
        let what = format!("{} learns weights of features: it has no use for a kernel", learner.name());
        return Err(Error::usage(what)
            .hint("leave out --kernel, or use --learner averaged, voted, perceptron or passive-aggressive"));
    }
    refuse_idle_options(train, learner)
}

fn shared(train: &Train) -> Result<Shared> {
    Ok(Shared {
        multiclass: train.multiclass,
        positive: train.positive.clone(),
        class_weight: class_weight(train.class_weight.as_deref())?,
        seed: train.seed,
        map: train.map.as_deref().map(|text| map(text, train.seed)).transpose()?,
        calibrate: train.calibrate,
        task: train.task,
        memory: train.reading.memory,
    })
}

fn epochs(train: &Train) -> Epochs {
    let most = train.epochs.unwrap_or(Epochs::default().most);
    Epochs { most, patience: train.patience, order: train.order }
}

fn perceptron(train: &Train, own: Perceptron, shared: Shared) -> Result<Perceptron> {
    let length = if train.normalise { Length::Unit } else { Length::AsGiven };
    let step = train.step.unwrap_or(own.rule.step);
    Ok(Perceptron {
        rule: rule::Perceptron { step, length, tie: train.tie },
        own_feature: train.own_feature,
        kernel: train.kernel.parse()?,
        budget: train.budget.unwrap_or(own.budget),
        bias: train.bias,
        epochs: epochs(train),
        shared,
        ..own
    })
}

fn passive_aggressive(train: &Train, own: PassiveAggressive, shared: Shared) -> Result<PassiveAggressive> {
    if train.own_feature.is_some() {
        let what =
            "a feature of each row's own is for perceptrons: C does the same for passive-aggressive steps";
        return Err(Error::usage(what)
            .hint("leave out --own-feature, or use --learner perceptron, averaged or voted"));
    }
    if train.normalise {
        let what = "passive-aggressive steps do not depend on a row's length: nothing to normalise";
        return Err(
            Error::usage(what).hint("leave out --normalise, or use --learner perceptron, averaged or voted")
        );
    }
    Ok(PassiveAggressive {
        aggressiveness: match train.variant {
            VariantName::Pa => Aggressiveness::Full,
            VariantName::PaI => Aggressiveness::Capped(train.aggressiveness),
            VariantName::PaIi => Aggressiveness::Damped(train.aggressiveness),
        },
        kernel: train.kernel.parse()?,
        budget: train.budget.unwrap_or(own.budget),
        bias: train.bias,
        epochs: epochs(train),
        shared,
    })
}

/// λ, as given or as a cost.
fn strength(train: &Train) -> Option<Strength> {
    train.lambda.map(Strength::Lambda).or(train.cost.map(Strength::Cost))
}

/// The strength of the ℓ2 penalty, if the options for penalties agree.
fn penalty(train: &Train) -> Result<Option<Strength>> {
    let (l1, strength) = (train.l1, strength(train));
    let given = strength.is_some();
    let refuse = |what: &str, hint: &str| Err(Error::usage(format!("--penalty {what}")).hint(hint));
    match train.penalty {
        Some(PenaltyArgument::None) if l1 != 0.0 || given => {
            refuse("none, but a strength is given", "leave out --lambda, --cost and --l1, or --penalty")
        }
        Some(PenaltyArgument::None) => Ok(Some(Strength::Lambda(0.0))),
        Some(PenaltyArgument::L2) if l1 != 0.0 => {
            refuse("l2, but --l1 is given", "--penalty elastic-net is both")
        }
        Some(PenaltyArgument::L1 | PenaltyArgument::ElasticNet) if l1 == 0.0 => {
            refuse("with an ℓ1 part needs its strength", "give --l1 X")
        }
        Some(PenaltyArgument::L1) if given => {
            refuse("l1, but --lambda or --cost is given", "--penalty elastic-net is both")
        }
        Some(PenaltyArgument::ElasticNet) if !given => {
            refuse("elastic-net needs the strength of its ℓ2 part too", "give --lambda or --cost")
        }
        _ => Ok(strength),
    }
}

fn risk(train: &Train, own: Risk, shared: Shared, contents: Contents) -> Result<Risk> {
    // Who names what is minimised means the columns as they are.
    let named = train.learner.is_some() || train.loss.is_some() || contents == Contents::Documents;
    let default_scale = if named { Scale::None } else { Scale::MaxAbs };
    Ok(Risk {
        strength: penalty(train)?,
        l1: train.l1,
        bias: train.bias,
        solver: train.solver,
        scale: train.scale.unwrap_or(default_scale),
        schedule: train.schedule,
        step: train.step,
        batch: train.batch.unwrap_or(own.batch),
        tolerance: train.tolerance,
        steps: train.epochs,
        trace: train.trace.is_some(),
        shared,
        ..own
    })
}

fn bayes(train: &Train, own: NaiveBayes, shared: Shared) -> Result<NaiveBayes> {
    let likelihood = train.likelihood.unwrap_or(own.likelihood);
    if let (Likelihood::Complement, Some(_)) = (likelihood, &train.priors) {
        let error = Error::usage("--likelihood complement has no use for priors");
        return Err(error.hint("leave out --priors, or use --likelihood multinomial"));
    }
    let priors = match train.priors.as_deref() {
        None => own.priors,
        Some("learned") => Priors::Learned,
        Some("uniform") => Priors::Uniform,
        Some(text) => Priors::Given(pairs(text).ok_or_else(|| {
            Error::usage(format!("--priors {text:?} is not LABEL=P,…"))
                .hint("for example --priors spam=0.2,ham=0.8, or learned, or uniform")
        })?),
    };
    Ok(NaiveBayes { likelihood, smoothing: train.smoothing.unwrap_or(own.smoothing), priors, shared })
}

fn network(train: &Train, own: MultilayerPerceptron, shared: Shared, task: Task) -> MultilayerPerceptron {
    let default_loss = if task == Task::Regression { LossName::Squared } else { own.loss };
    MultilayerPerceptron {
        units: train.hidden.unwrap_or(own.units),
        activation: train.activation.unwrap_or(own.activation),
        loss: train.loss.unwrap_or(default_loss),
        strength: strength(train),
        batch: train.batch,
        step: train.step.unwrap_or(own.step),
        scale: train.scale.unwrap_or(own.scale),
        bias: train.bias,
        epochs: epochs(train),
        shared,
    }
}

/// `LABEL=NUMBER,…`.
pub fn pairs(text: &str) -> Option<Vec<(String, f64)>> {
    let parse = |pair: &str| {
        let (label, number) = pair.rsplit_once('=')?;
        Some((label.to_owned(), number.parse().ok()?))
    };
    text.split(',').map(parse).collect()
}

pub fn class_weight(text: Option<&str>) -> Result<ClassWeight> {
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
