//! The options of networks.

use crate::arguments::{ActivationName, LossArgument, ScaleName, SolverArgument, Train};
use novikoff::data::Scale;
use novikoff::loss::LossName;
use novikoff::model::Activation;
use novikoff::train::{HiddenLayer, Learner};
use novikoff::{Error, Result};

/// That a network minimises a loss, whichever it is.
pub fn loss(learner: Learner) -> Option<LossName> {
    (learner == Learner::Network).then_some(HiddenLayer::default().loss)
}

/// Options that only networks understand are for networks, and networks understand not all options.
pub fn check(train: &Train, learner: Learner) -> Result<()> {
    let own = [("--hidden", train.hidden.is_some()), ("--activation", train.activation.is_some())];
    if let (false, Some((option, _))) =
        (learner == Learner::Network, own.into_iter().find(|(_, given)| *given))
    {
        let what = format!("{option} is for networks, and this is {}", learner.name());
        return Err(Error::usage(what).hint(format!("leave out {option}, or use --learner network")));
    }
    let foreign = [
        ("--l1", train.l1 != 0.0),
        ("--penalty", train.penalty.is_some()),
        ("--solver", !matches!(train.solver, SolverArgument::Auto)),
        ("--schedule", train.schedule.is_some()),
        ("--tolerance", train.tolerance != 1e-4),
        ("--certificate", train.certificate.is_some()),
    ];
    if let (Learner::Network, Some((option, _))) = (learner, foreign.into_iter().find(|(_, given)| *given)) {
        let what = format!("{option} is for convex problems, and a network's is not convex");
        return Err(Error::usage(what)
            .hint(format!("leave out {option}; --lambda, --step, --batch and --epochs are for networks")));
    }
    Ok(())
}

/// The hidden layer that is asked for.
pub fn layer(train: &Train) -> HiddenLayer {
    let usual = HiddenLayer::default();
    HiddenLayer {
        units: train.hidden.unwrap_or(usual.units),
        activation: match train.activation {
            None => usual.activation,
            Some(ActivationName::Relu) => Activation::Relu,
            Some(ActivationName::Tanh) => Activation::Tanh,
        },
        loss: match train.loss {
            None => usual.loss,
            Some(LossArgument::Hinge) => LossName::Hinge,
            Some(LossArgument::SquaredHinge) => LossName::SquaredHinge,
            Some(LossArgument::Logistic) => LossName::Logistic,
            Some(LossArgument::Exponential) => LossName::Exponential,
            Some(LossArgument::Squared) => LossName::Squared,
            Some(LossArgument::Absolute) => LossName::Absolute,
            Some(LossArgument::HingeAtZero) => LossName::HingeAtZero,
        },
        batch: train.batch,
        step: train.step.unwrap_or(usual.step),
        scale: match train.scale {
            None => usual.scale,
            Some(ScaleName::None) => Scale::None,
            Some(ScaleName::UnitVariance) => Scale::UnitVariance,
            Some(ScaleName::MaxAbs) => Scale::MaxAbs,
        },
    }
}
