//! The learner that the arguments ask for. This is the one place where names and options become a learner
//! with its settings.

use super::idle::{Chosen, refuse_for_numbers};
use super::map;
use crate::arguments::{PenaltyArgument, Train, VariantName};
use novikoff::bayes::{Likelihood, Priors};
use novikoff::data::Scale;
use novikoff::kernel::Kernel;
use novikoff::loss::{Huber, LossName, Quantile};
use novikoff::model::{Model, Task};
use novikoff::online::rule::{self, Aggressiveness, Length};
use novikoff::penalty::Bias;
use novikoff::read::Contents;
use novikoff::train::{
    ClassWeight, Criterion, Epochs, Learner, LearnerName, MultilayerPerceptron, NaiveBayes,
    PassiveAggressive, Perceptron, Risk, Shared, Strength,
};
use novikoff::{Error, Result};

/// The learner for an input with these contents and labels.
pub fn learner(train: &Train, contents: Contents, task: Task) -> Result<Learner> {
    let mut learner = learner_or(train, default_learner(train, contents, task), task)?;
    if let Learner::Risk(risk) = &mut learner {
        adapt_to_documents(risk, contents);
    }
    Ok(learner)
}

/// Terms are more than documents: without a penalty, least squares would meet any numbers.
fn adapt_to_documents(risk: &mut Risk, contents: Contents) {
    let is_free = risk.strength.is_none() && risk.l1 == 0.0;
    let is_squared = risk.criterion == Criterion::Loss(LossName::Squared);
    if is_free && is_squared && contents != Contents::Rows {
        risk.strength = Some(Strength::Cost(1.0));
    }
}

/// The learner that is named or, if none is, this one.
pub fn learner_or(train: &Train, default: LearnerName, task: Task) -> Result<Learner> {
    let named = named(train)?;
    let name = named.unwrap_or(default);
    Chosen { name, is_named: named.is_some() }.refuse_idle_options(train)?;
    let learner = with_options(train, name.learner(), task)?;
    refuse_for_numbers(train, &learner)?;
    Ok(learner)
}

/// The learner that goes on from a model: the model's own if no other is named, with its settings where no
/// others are given.
pub fn learner_from(train: &Train, model: &Model) -> Result<Learner> {
    let (task, asked) = (model.task(), named(train)?);
    let own = Learner::of(model);
    let base = match (asked, own) {
        (None, own) => own?,
        (Some(name), Ok(own)) if own.named() == Some(name) => own,
        (Some(name), own) => heir(name.learner(), own.ok()),
    };
    if let Some(name) = base.named() {
        Chosen { name, is_named: true }.refuse_idle_options(train)?;
    }
    if let (Some(_), false) = (train.scale, matches!(base, Learner::Risk(_))) {
        let error = Error::usage("--scale: the columns stay as the model has learned to see them");
        return Err(error.hint("leave out --scale, or --from"));
    }
    let learner = with_options(train, base, task)?;
    refuse_for_numbers(train, &learner)?;
    Ok(learner)
}

/// Another learner for the same rows: it sees them as the model does.
fn heir(mut learner: Learner, own: Option<Learner>) -> Learner {
    let Some(own) = own else { return learner };
    let shared = own.shared().clone();
    let ours = learner.shared_mut();
    (ours.map, ours.positive, ours.seed, ours.class_weight) =
        (shared.map, shared.positive, shared.seed, shared.class_weight);
    let scale = scale_of(&own);
    let inherit = |bias: &mut Bias, its: &mut Scale| (*bias, *its) = (own.bias(), scale.unwrap_or(*its));
    match &mut learner {
        Learner::Perceptron(heir) => inherit(&mut heir.bias, &mut heir.scale),
        Learner::PassiveAggressive(heir) => inherit(&mut heir.bias, &mut heir.scale),
        Learner::Risk(heir) if heir.criterion == Criterion::MaxMargin => heir.bias = own.bias(),
        Learner::Risk(heir) => inherit(&mut heir.bias, &mut heir.scale),
        Learner::Network(heir) => inherit(&mut heir.bias, &mut heir.scale),
        Learner::Bayes(_) => {}
    }
    learner
}

/// How a learner scales columns; `None` if it counts, or looks for the largest margin of the rows as they are.
fn scale_of(learner: &Learner) -> Option<Scale> {
    match learner {
        Learner::Perceptron(learner) => Some(learner.scale),
        Learner::PassiveAggressive(learner) => Some(learner.scale),
        Learner::Risk(learner) if learner.criterion == Criterion::MaxMargin => None,
        Learner::Risk(learner) => Some(learner.scale),
        Learner::Network(learner) => Some(learner.scale),
        Learner::Bayes(_) => None,
    }
}

/// A learner with the options that are given.
fn with_options(train: &Train, base: Learner, task: Task) -> Result<Learner> {
    let shared = shared(train, base.shared())?;
    Ok(match base {
        Learner::Perceptron(own) => perceptron(train, own, shared)?.into(),
        Learner::PassiveAggressive(own) => passive_aggressive(train, own, shared)?.into(),
        Learner::Risk(own) => risk(train, own, shared)?.into(),
        Learner::Bayes(own) => bayes(train, own, shared)?.into(),
        Learner::Network(own) => network(train, own, shared, task).into(),
    })
}

/// Whether the labels decide what is learned: no learner and no loss is named, or a network without its loss.
pub fn depends_on_labels(train: &Train) -> bool {
    let is_open = matches!(train.learner, None | Some(LearnerName::Network));
    train.task.is_none() && is_open && train.loss.is_none()
}

/// The default: what serves best on the most rows of this kind, or on streams. No other option changes it.
fn default_learner(train: &Train, contents: Contents, task: Task) -> LearnerName {
    match (train.online, train.kernel == "linear") {
        (false, _) => LearnerName::usual(contents, task),
        (true, true) => LearnerName::Averaged,
        // A budget of rows leaves no average.
        (true, false) => LearnerName::Perceptron,
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

fn shared(train: &Train, own: &Shared) -> Result<Shared> {
    let seed = train.or_own("seed", train.seed, own.seed);
    let class_weight = class_weight(train.class_weight.as_deref())?;
    Ok(Shared {
        multiclass: train.multiclass.or(own.multiclass),
        positive: train.positive.clone().or_else(|| own.positive.clone()),
        class_weight: train.or_own("class_weight", class_weight, own.class_weight.clone()),
        seed,
        map: train.map.as_deref().map(|text| map(text, seed)).transpose()?.or(own.map),
        calibrate: train.calibrate.or(own.calibrate),
        task: train.task,
        memory: train.reading.memory,
    })
}

fn epochs(train: &Train, own: Epochs) -> Epochs {
    Epochs {
        most: train.epochs.unwrap_or(own.most),
        patience: train.patience.unwrap_or(own.patience),
        order: train.or_own("order", train.order, own.order),
    }
}

/// What compares rows.
fn kernel(train: &Train, own: Kernel) -> Result<Kernel> {
    Ok(train.or_own("kernel", train.kernel.parse()?, own))
}

fn perceptron(train: &Train, own: Perceptron, shared: Shared) -> Result<Perceptron> {
    let length = if train.normalise { Length::Unit } else { own.rule.length };
    let step = train.step.unwrap_or(own.rule.step);
    Ok(Perceptron {
        rule: rule::Perceptron { step, length, tie: train.or_own("tie", train.tie, own.rule.tie) },
        own_feature: train.own_feature.or(own.own_feature),
        kernel: kernel(train, own.kernel)?,
        budget: train.budget.unwrap_or(own.budget),
        bias: train.or_own("bias", train.bias, own.bias),
        scale: train.scale.unwrap_or(own.scale),
        epochs: epochs(train, own.epochs),
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
    let (own_variant, own_c) = match own.aggressiveness {
        Aggressiveness::Full => (VariantName::Pa, 1.0),
        Aggressiveness::Capped(c) => (VariantName::PaI, c),
        Aggressiveness::Damped(c) => (VariantName::PaIi, c),
    };
    let c = train.or_own("aggressiveness", train.aggressiveness, own_c);
    Ok(PassiveAggressive {
        aggressiveness: match train.or_own("variant", train.variant, own_variant) {
            VariantName::Pa => Aggressiveness::Full,
            VariantName::PaI => Aggressiveness::Capped(c),
            VariantName::PaIi => Aggressiveness::Damped(c),
        },
        kernel: kernel(train, own.kernel)?,
        budget: train.budget.unwrap_or(own.budget),
        bias: train.or_own("bias", train.bias, own.bias),
        scale: train.scale.unwrap_or(own.scale),
        epochs: epochs(train, own.epochs),
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

fn risk(train: &Train, own: Risk, shared: Shared) -> Result<Risk> {
    let criterion = match own.criterion {
        Criterion::Loss(loss) => Criterion::Loss(with_parameter(loss, train)),
        other => other,
    };
    Ok(Risk {
        criterion,
        strength: penalty(train)?.or(own.strength),
        l1: train.or_own("l1", train.l1, own.l1),
        bias: train.or_own("bias", train.bias, own.bias),
        solver: train.or_own("solver", train.solver, own.solver),
        scale: train.scale.unwrap_or(own.scale),
        schedule: train.schedule,
        step: train.step,
        batch: train.batch.unwrap_or(own.batch),
        tolerance: train.or_own("tolerance", train.tolerance, own.tolerance),
        steps: train.epochs,
        trace: train.trace.is_some(),
        shared,
    })
}

/// The loss with the parameter that was given, if it has one.
fn with_parameter(loss: LossName, train: &Train) -> LossName {
    match loss {
        LossName::Huber(own) => LossName::Huber(Huber { width: train.huber_width.unwrap_or(own.width) }),
        LossName::Quantile(own) => {
            LossName::Quantile(Quantile { level: train.quantile.unwrap_or(own.level) })
        }
        other => other,
    }
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
    let asks_for_numbers = task == Task::Regression && !own.loss.is_of_numbers();
    let default_loss = if asks_for_numbers { LossName::Squared } else { own.loss };
    MultilayerPerceptron {
        units: train.hidden.unwrap_or(own.units),
        activation: train.activation.unwrap_or(own.activation),
        loss: with_parameter(train.loss.unwrap_or(default_loss), train),
        strength: strength(train).or(own.strength),
        batch: train.batch.or(own.batch),
        step: train.step.unwrap_or(own.step),
        scale: train.scale.unwrap_or(own.scale),
        bias: train.or_own("bias", train.bias, own.bias),
        epochs: epochs(train, own.epochs),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    /// What `train rows.svm` with these options learns by, or the error.
    fn built(options: &[&str], contents: Contents, task: Task) -> Result<Learner> {
        let words = ["novikoff", "train", "rows.svm"].iter().chain(options);
        let Command::Train(train) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("{options:?}")
        };
        learner(&train, contents, task)
    }

    /// The name of that learner.
    fn chosen(options: &[&str], contents: Contents, task: Task) -> Result<&'static str> {
        Ok(built(options, contents, task)?.name())
    }

    #[test]
    fn naming_the_default_learner_changes_nothing() {
        for contents in [Contents::Rows, Contents::Documents, Contents::DocumentsInRows] {
            for task in [Task::Classes, Task::Regression] {
                let usual = LearnerName::usual(contents, task).name();
                let named = built(&["--learner", usual], contents, task).unwrap();
                assert_eq!(built(&[], contents, task).unwrap(), named, "{usual}");
            }
        }
    }

    #[test]
    fn no_option_changes_the_learner_but_its_name_and_the_loss() {
        let options: [&[&str]; 28] = [
            &["--validation", "0.2"],
            &["--validation", "0.2", "--patience", "2"],
            &["--epochs", "3"],
            &["--step", "0.5"],
            &["--order", "given"],
            &["--normalise"],
            &["--kernel", "poly:2"],
            &["--own-feature", "1"],
            &["--tie", "positive"],
            &["--variant", "pa"],
            &["--aggressiveness", "2"],
            &["--budget", "9"],
            &["--lambda", "1"],
            &["--cost", "2"],
            &["--l1", "0.1"],
            &["--penalty", "none"],
            &["--solver", "gradient"],
            &["--schedule", "inverse"],
            &["--batch", "7"],
            &["--scale", "none"],
            &["--tolerance", "0.1"],
            &["--bias", "none"],
            &["--hidden", "5"],
            &["--quantile", "0.9"],
            &["--huber-width", "2"],
            &["--likelihood", "bernoulli"],
            &["--priors", "uniform"],
            &["--map", "poly:2"],
        ];
        let (rows, documents) = (Contents::Rows, Contents::Documents);
        for (contents, task) in [(rows, Task::Classes), (documents, Task::Classes), (rows, Task::Regression)]
        {
            let usual = chosen(&[], contents, task).unwrap();
            assert_eq!(usual, LearnerName::usual(contents, task).name());
            for options in options {
                match chosen(options, contents, task) {
                    Ok(name) => assert_eq!(name, usual, "{options:?}"),
                    Err(error) => assert!(error.advice().is_some(), "{options:?}: {error}"),
                }
            }
        }
        assert_eq!(chosen(&["--online"], rows, Task::Classes), Ok("averaged"));
        assert_eq!(chosen(&["--online", "--normalise"], rows, Task::Classes), Ok("averaged"));
        assert_eq!(chosen(&["--loss", "hinge"], rows, Task::Classes), Ok("svm"));
    }

    #[test]
    fn an_option_of_other_learners_names_those_that_take_it() {
        let error = |options: &[&str]| chosen(options, Contents::Rows, Task::Classes).unwrap_err();
        let wrong = error(&["--normalise"]);
        assert_eq!(wrong.what(), "--normalise is for perceptrons, and the default learner minimises a loss");
        let hint = "add --learner perceptron, averaged or voted, or leave out --normalise";
        assert_eq!(wrong.advice(), Some(hint));
        let wrong = error(&["--normalise", "--learner", "svm"]);
        assert_eq!(wrong.what(), "--normalise is for perceptrons, and this is svm");
        let wrong = error(&["--online", "--cost", "1"]);
        assert!(wrong.what().ends_with("and the default of --online is averaged"), "{wrong}");
    }
}
