//! Options that would have no effect on the learner: each is an error that says whom it is for.

use crate::arguments::{TraceEach, Train, VariantName};
use novikoff::data::{Dataset, Scale};
use novikoff::online::Order;
use novikoff::online::rule::Tie;
use novikoff::penalty::Bias;
use novikoff::train::{Learner, LearnerName, SolverName};
use novikoff::{Error, Result};

/// A learner, and who chose it.
#[derive(Clone, Copy)]
pub struct Chosen {
    pub name: LearnerName,
    /// Whether it was named, or follows from a loss that was.
    pub is_named: bool,
}

/// An option, and whether it was given.
type Given = (&'static str, bool);

fn given(options: &[Given]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// Options that only some learners have a use for.
struct Group {
    options: Vec<Given>,
    /// Whether the learner is one of these.
    fits: bool,
    is_for: &'static str,
    /// Learners that take them.
    learners: &'static str,
}

impl Chosen {
    /// Refuses options that would have no effect.
    pub fn refuse_idle_options(self, train: &Train) -> Result<()> {
        if self.name == LearnerName::Network {
            refuse_for_networks(train)?;
        }
        if self.name == LearnerName::Bayes {
            refuse_for_bayes(train)?;
        }
        if self.name == LearnerName::MaxMargin {
            refuse_for_max_margin(train)?;
        }
        refuse_for_streams(train)?;
        refuse_scale_with_kernel(train)?;
        refuse_budget(train)?;
        refuse_contradicting_traces(train)?;
        for group in self.groups(train) {
            if let (false, Some(option)) = (group.fits, given(&group.options)) {
                return Err(self.refused(option, &group, train.online));
            }
        }
        if self.name.loss().is_some() {
            self.refuse_for_solver(train)?;
        }
        refuse_without_what_it_is_about(train)
    }

    fn groups(self, train: &Train) -> [Group; 13] {
        let is_network = self.name == LearnerName::Network;
        let is_online = LearnerName::ONLINE.contains(&self.name);
        let is_pa = self.name == LearnerName::PassiveAggressive;
        let group = |options, fits, is_for, learners| Group { options, fits, is_for, learners };
        let minimises = self.name.loss().is_some() || is_network;
        let scales = minimises || is_online && !train.online && train.kernel == "linear";
        [
            group(network_options(train), is_network, "networks", "network"),
            group(batch_options(train), minimises, LOSSES, "logistic or svm"),
            group(
                quantile(train),
                self.minimises(LearnerName::Quantile, train),
                "the quantile loss",
                "quantile",
            ),
            group(huber_width(train), self.minimises(LearnerName::Huber, train), "the huber loss", "huber"),
            group(scale(train), scales, "learners of weights from rows in memory", "logistic or averaged"),
            group(bayes_options(train), self.name == LearnerName::Bayes, "bayes", "bayes"),
            group(kernel(train), is_online, "perceptrons and passive-aggressive learning", ONLINE),
            group(tracing(train), is_online, "perceptrons and passive-aggressive learning", ONLINE),
            group(self.perceptron_options(train), is_online && !is_pa, "perceptrons", PERCEPTRONS),
            group(aggressive_options(train), is_pa, "passive-aggressive learning", "passive-aggressive"),
            group(self.options_not_for_passes(train), !is_online, LOSSES, "logistic or svm"),
            group(order(train), is_online || is_network, "learners that visit rows one by one", "averaged"),
            group(patience(train), is_online || is_network, "learners with epochs", "averaged or network"),
        ]
    }

    /// Whether it is this learner, or a network with its loss.
    fn minimises(self, learner: LearnerName, train: &Train) -> bool {
        let of_network = train.loss.filter(|_| self.name == LearnerName::Network);
        self.name == learner || of_network.is_some_and(|loss| loss.name() == learner.name())
    }

    /// An option that this learner has no use for.
    fn refused(self, option: &str, group: &Group, online: bool) -> Error {
        let Group { is_for, learners, .. } = group;
        let (this, hint) = match (self.is_named, online) {
            (true, _) => (
                format!("this is {}", self.name.name()),
                format!("leave out {option}, or use --learner {learners}"),
            ),
            (false, true) if *is_for == LOSSES => (
                format!("the default of --online is {}", self.name.name()),
                format!("leave out {option} or --online"),
            ),
            (false, true) => (
                format!("the default of --online is {}", self.name.name()),
                format!("add --learner {learners}, or leave out {option}"),
            ),
            (false, false) if is_for.ends_with("loss") && *is_for != LOSSES => (
                "no learner and no loss is named".to_owned(),
                format!("add --learner {learners}, or leave out {option}"),
            ),
            // Which one that is, the rows have to be read for.
            (false, false) => (
                "the default learner minimises a loss".to_owned(),
                format!("add --learner {learners}, or leave out {option}"),
            ),
        };
        Error::usage(format!("{option} is for {is_for}, and {this}")).hint(hint)
    }

    /// Options of perceptrons. Of the passive-aggressive rule some are refused for reasons of its own.
    fn perceptron_options(self, train: &Train) -> Vec<Given> {
        let mut options = vec![
            ("--tie", train.tie != Tie::Mistake),
            ("--normalise", train.normalise),
            ("--own-feature", train.own_feature.is_some()),
        ];
        options.truncate(if self.name == LearnerName::PassiveAggressive { 1 } else { 3 });
        options
    }

    /// Options that an online learner has no use for.
    fn options_not_for_passes(self, train: &Train) -> Vec<Given> {
        let is_pa = self.name == LearnerName::PassiveAggressive;
        vec![
            ("--tolerance", train.tolerance != 1e-4),
            ("--batch", train.batch.is_some()),
            ("--step", train.step.is_some() && is_pa),
        ]
    }

    /// Options that only some solvers of a minimised loss have a use for.
    fn refuse_for_solver(self, train: &Train) -> Result<()> {
        let has_steps = matches!(train.solver, SolverName::Gradient | SolverName::Stochastic);
        let (option, what, instead) = match () {
            _ if train.schedule.is_some() && !has_steps => ("--schedule", DESCENT, DESCENTS),
            _ if train.step.is_some() && !has_steps => ("--step", DESCENT, DESCENTS),
            _ if train.batch.is_some() && train.solver != SolverName::Stochastic => {
                ("--batch", "the stochastic gradient", "stochastic")
            }
            _ => return Ok(()),
        };
        let also = match option {
            "--step" if !self.is_named => "; --learner averaged and network have a --step, too",
            "--batch" if !self.is_named => "; --learner network has a --batch, too",
            _ => "",
        };
        let what = format!("{option} is for {what}, and --solver is {}", train.solver.name());
        Err(Error::usage(what).hint(format!("leave out {option}, or use --solver {instead}{also}")))
    }
}

const LOSSES: &str = "learners that minimise a loss";
const ONLINE: &str = "averaged, voted, perceptron or passive-aggressive";
const PERCEPTRONS: &str = "perceptron, averaged or voted";
const DESCENT: &str = "gradient descent";
const DESCENTS: &str = "gradient or stochastic";

/// Options of learners that minimise a loss.
fn batch_options(train: &Train) -> Vec<Given> {
    vec![
        ("--lambda", train.lambda.is_some()),
        ("--cost", train.cost.is_some()),
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", train.solver != SolverName::Auto),
        ("--schedule", train.schedule.is_some()),
    ]
}

fn scale(train: &Train) -> Vec<Given> {
    vec![("--scale", train.scale.is_some())]
}

/// Options of naive Bayes.
fn bayes_options(train: &Train) -> Vec<Given> {
    vec![
        ("--likelihood", train.likelihood.is_some()),
        ("--smoothing", train.smoothing.is_some()),
        ("--priors", train.priors.is_some()),
    ]
}

/// Options of networks.
fn network_options(train: &Train) -> Vec<Given> {
    vec![("--hidden", train.hidden.is_some()), ("--activation", train.activation.is_some())]
}

/// Options of the passive-aggressive rule.
fn aggressive_options(train: &Train) -> Vec<Given> {
    vec![
        ("--variant", !matches!(train.variant, VariantName::PaI)),
        ("--aggressiveness", train.aggressiveness != 1.0),
    ]
}

fn quantile(train: &Train) -> Vec<Given> {
    vec![("--quantile", train.quantile.is_some())]
}

fn huber_width(train: &Train) -> Vec<Given> {
    vec![("--huber-width", train.huber_width.is_some())]
}

fn kernel(train: &Train) -> Vec<Given> {
    vec![("--kernel", train.kernel != "linear")]
}

/// Mistakes are those of learners that correct themselves.
fn tracing(train: &Train) -> Vec<Given> {
    vec![("--trace-each", train.trace_each.is_some()), ("--trace-weights", train.trace_weights)]
}

fn order(train: &Train) -> Vec<Given> {
    vec![("--order", train.order != Order::Shuffled)]
}

fn patience(train: &Train) -> Vec<Given> {
    vec![("--patience", train.patience.is_some())]
}

/// Naive Bayes counts every row once and minimises nothing.
fn refuse_for_bayes(train: &Train) -> Result<()> {
    let options = [
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
    ];
    let Some(option) = given(&options) else { return Ok(()) };
    let what = format!("{option} is not for bayes, which counts every row once and minimises nothing");
    Err(Error::usage(what).hint(format!("leave out {option}")))
}

/// The loss of a network is not convex in its weights.
fn refuse_for_networks(train: &Train) -> Result<()> {
    let options = [
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", train.solver != SolverName::Auto),
        ("--schedule", train.schedule.is_some()),
        ("--tolerance", train.tolerance != 1e-4),
        ("--certificate", train.certificate.is_some()),
    ];
    let Some(option) = given(&options) else { return Ok(()) };
    let what = format!("{option} is for convex problems, and a network's is not convex");
    Err(Error::usage(what)
        .hint(format!("leave out {option}; --lambda, --step, --batch and --epochs are for networks")))
}

/// No row weighs against another: all of them are on their side of the largest margin.
fn refuse_for_max_margin(train: &Train) -> Result<()> {
    let options = [
        ("--lambda", train.lambda.is_some()),
        ("--cost", train.cost.is_some()),
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", train.solver != SolverName::Auto),
        ("--schedule", train.schedule.is_some()),
        ("--class-weight", train.class_weight.is_some()),
    ];
    let Some(option) = given(&options) else { return Ok(()) };
    let what =
        format!("{option} is not for max-margin, which allows no mistake: nothing weighs against the margin");
    Err(Error::usage(what).hint(format!("leave out {option}, or use --learner svm")))
}

/// A stream is passed once, and none of its rows is kept.
fn refuse_for_streams(train: &Train) -> Result<()> {
    let options = [
        ("--scale", train.scale.is_some(), "the sizes of columns"),
        ("--calibrate", train.calibrate.is_some(), "scores of held-out rows"),
        ("--patience", train.patience.is_some(), "the errors of epochs"),
    ];
    let Some((option, _, needs)) = options.into_iter().find(|(_, given, _)| train.online && *given) else {
        return Ok(());
    };
    let what = format!("{option} needs {needs}, and a stream is passed once and not stored");
    Err(Error::usage(what).hint(format!("leave out {option}, or --online")))
}

fn refuse_scale_with_kernel(train: &Train) -> Result<()> {
    if train.scale.is_none() || train.kernel == "linear" {
        return Ok(());
    }
    let what = "--scale is for weights of features, and a kernel compares rows as they are";
    Err(Error::usage(what).hint("leave out --scale, or --kernel"))
}

/// Options that say more of another, which is not given.
fn refuse_without_what_it_is_about(train: &Train) -> Result<()> {
    let validation = "says how long to wait for a better error on the rows of --validation";
    let (option, what, lacking) = match () {
        () if train.patience.is_some() && train.validation.is_empty() => {
            ("--patience", validation, "--validation F")
        }
        () if train.trace.is_some() => return Ok(()),
        () if train.trace_each.is_some() => ("--trace-each", "says what a row of --trace is", "--trace FILE"),
        () if train.trace_weights => {
            ("--trace-weights", "adds weights to the rows of --trace", "--trace FILE")
        }
        () => return Ok(()),
    };
    let error = Error::usage(format!("{option} {what}, which is not given"));
    Err(error.hint(format!("add {lacking}, or leave out {option}")))
}

/// Refuses options about classes where numbers are predicted.
pub fn refuse_for_numbers(train: &Train, learner: &Learner) -> Result<()> {
    let options = [
        ("--class-weight", train.class_weight.is_some()),
        ("--positive", train.positive.is_some()),
        ("--multiclass", train.multiclass.is_some()),
        ("--calibrate", train.calibrate.is_some()),
    ];
    let Some(option) = given(&options).filter(|_| learner.predicts_numbers()) else { return Ok(()) };
    let what = format!("{option} is about classes, and {} predicts numbers here", learner.name());
    Err(Error::usage(what).hint(format!("leave out {option}, or use a learner that tells classes apart")))
}

/// Refuses a scale where a direct method finds the minimum, which is the same for columns of any size.
pub fn refuse_scale_of_direct_methods(train: &Train, learner: &Learner, data: &Dataset) -> Result<()> {
    let is_direct = matches!(learner, Learner::Risk(risk) if risk.is_direct(data.rows.columns()));
    if !is_direct || train.scale.is_none_or(|scale| scale == Scale::None) {
        return Ok(());
    }
    let what = format!(
        "--scale changes nothing of {} without a penalty: the minimum is the same for columns of any size",
        learner.name()
    );
    Err(Error::usage(what).hint("leave out --scale, or add --lambda"))
}

fn refuse_contradicting_traces(train: &Train) -> Result<()> {
    if train.trace_weights && train.trace_each == Some(TraceEach::Epoch) {
        let error = Error::usage(
            "--trace-weights is for a trace of mistakes, and --trace-each epoch asks for epochs",
        );
        return Err(error.hint("leave out one of them"));
    }
    if train.trace_weights && train.kernel != "linear" {
        let what = "with a kernel there are no weights of features; the step says how often a row is added";
        return Err(Error::usage(what).hint("leave out --trace-weights, and say --trace-each mistake"));
    }
    if train.online && train.kernel != "linear" && train.trace_of_mistakes().is_some() {
        let what =
            "mistakes with a kernel on a stream are not traced: a row that is left out changes all weights";
        return Err(Error::usage(what).hint("leave out --trace-each and --trace-weights, or --online"));
    }
    Ok(())
}

fn refuse_budget(train: &Train) -> Result<()> {
    let has_kernel = train.kernel != "linear" || train.from.is_some();
    if train.budget.is_none() || train.online && has_kernel {
        return Ok(());
    }
    let what = "--budget is for streams with a kernel: rows in memory are all kept, and weights of features \
                need none";
    Err(Error::usage(what).hint("leave out --budget, or add --online and --kernel"))
}

#[cfg(test)]
mod tests;
