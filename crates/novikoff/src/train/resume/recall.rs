//! The learner that a model is from, with the settings that it tells.

use crate::bayes::Priors;
use crate::data::Scale;
use crate::error::{Error, Result};
use crate::evaluate::CalibrationMethod;
use crate::model::{Calibration, Model, Scorer};
use crate::multiclass::Scheme;
use crate::online::Order;
use crate::online::rule;
use crate::train::learner::{
    ClassWeight, Criterion, Epochs, Learner, LearnerName, MultilayerPerceptron, NaiveBayes,
    PassiveAggressive, Perceptron, Risk, Shared, SolverName, Strength,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The learner that a model says it is from. What the model does not tell has its default.
pub(in crate::train) fn recall(model: &Model) -> Result<Learner> {
    let name = &model.about.learner;
    let Some(learner) = LearnerName::ALL.into_iter().find(|learner| learner.name() == *name) else {
        let what = format!("the model is from {name:?}, which is no learner here");
        return Err(Error::input(what).hint("name a learner: its settings are then the usual ones"));
    };
    let told = Told(model);
    let shared = told.shared()?;
    Ok(match learner.learner() {
        Learner::Perceptron(own) => told.perceptron(own, shared)?.into(),
        Learner::PassiveAggressive(own) => told.passive_aggressive(own, shared)?.into(),
        Learner::Risk(own) => told.risk(own, shared)?.into(),
        Learner::Bayes(own) => told.bayes(own, shared)?.into(),
        Learner::Network(own) => told.network(own, shared)?.into(),
    })
}

/// The setting that says how columns are scaled where there is a penalty, of a model without one whose solver
/// needs no scale.
pub(in crate::train) const SCALE_WITH_PENALTY: &str = "scale_with_penalty";

/// What a model tells of its settings.
struct Told<'a>(&'a Model);

impl Told<'_> {
    /// A setting, if the model tells it.
    fn of<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.0.about.settings.get(name) else { return Ok(None) };
        serde_json::from_value(value.clone()).map(Some).map_err(|_| unreadable(name, value))
    }

    fn or<T: DeserializeOwned>(&self, name: &str, usual: T) -> Result<T> {
        Ok(self.of(name)?.unwrap_or(usual))
    }

    fn shared(&self) -> Result<Shared> {
        Ok(Shared {
            multiclass: self.of::<Scheme>("multiclass")?.filter(|scheme| *scheme != Scheme::Two),
            positive: self.positive(),
            class_weight: self.class_weight()?,
            seed: self.0.about.seed,
            map: self.0.scorer.map(),
            calibrate: match &self.0.probabilities {
                Some(Calibration::Platt(_)) => Some(CalibrationMethod::Platt),
                Some(Calibration::Isotonic(_)) => Some(CalibrationMethod::Isotonic),
                Some(Calibration::Logistic | Calibration::Softmax) | None => None,
            },
            ..Shared::default()
        })
    }

    /// The positive label, where it is not the one that it would be by itself.
    fn positive(&self) -> Option<String> {
        let labels = &self.0.labels;
        let is_unusual = labels.len() == 2 && labels.sorted() != [0, 1];
        is_unusual.then(|| labels.names()[1].clone())
    }

    fn class_weight(&self) -> Result<ClassWeight> {
        Ok(match self.0.about.settings.get("class_weight") {
            None => ClassWeight::Equal,
            Some(Value::String(word)) if word == "balanced" => ClassWeight::Balanced,
            Some(value) => {
                let given = serde_json::from_value(value.clone());
                ClassWeight::Given(given.map_err(|_| unreadable("class_weight", value))?)
            }
        })
    }

    fn epochs(&self) -> Result<Epochs> {
        let usual = Epochs::default();
        // A stream says of itself that it was one epoch in the order given. That is no wish for rows in memory.
        let is_stream = self.0.about.results.contains_key("progressive_error");
        if is_stream {
            return Ok(usual);
        }
        Ok(Epochs {
            most: self.or("epochs", usual.most)?,
            order: self.or::<Order>("order", usual.order)?,
            ..usual
        })
    }

    /// How columns are scaled in epochs. A model from before they were says nothing, and has not scaled any;
    /// nor does a stream, which cannot.
    fn scale(&self, usual: Scale) -> Result<Scale> {
        let is_silent = self.0.about.results.contains_key("progressive_error")
            || self.0.about.settings.contains_key("kernel");
        self.or("scale", if is_silent { usual } else { Scale::None })
    }

    fn kernel(&self) -> Result<crate::kernel::Kernel> {
        self.of::<String>("kernel")?.map_or(Ok(crate::kernel::Kernel::Linear), |text| text.parse())
    }

    fn perceptron(&self, own: Perceptron, shared: Shared) -> Result<Perceptron> {
        let usual = own.rule;
        Ok(Perceptron {
            rule: rule::Perceptron {
                step: self.or("step", usual.step)?,
                length: self.or("length", usual.length)?,
                tie: self.or("tie", usual.tie)?,
            },
            own_feature: self.of("own_feature")?,
            kernel: self.kernel()?,
            budget: self.or("budget", own.budget)?,
            bias: self.or("bias", own.bias)?,
            scale: self.scale(own.scale)?,
            epochs: self.epochs()?,
            shared,
            ..own
        })
    }

    fn passive_aggressive(&self, own: PassiveAggressive, shared: Shared) -> Result<PassiveAggressive> {
        Ok(PassiveAggressive {
            aggressiveness: self.or("aggressiveness", own.aggressiveness)?,
            kernel: self.kernel()?,
            budget: self.or("budget", own.budget)?,
            bias: self.or("bias", own.bias)?,
            scale: self.scale(own.scale)?,
            epochs: self.epochs()?,
            shared,
        })
    }

    fn risk(&self, own: Risk, shared: Shared) -> Result<Risk> {
        // Solvers that are never chosen by themselves were asked for.
        let asked = |solver: &SolverName| matches!(solver, SolverName::Gradient | SolverName::Stochastic);
        Ok(Risk {
            criterion: self.criterion(own.criterion)?,
            strength: self.of("lambda")?.map(Strength::Lambda),
            l1: self.or("l1", own.l1)?,
            bias: self.or("bias", own.bias)?,
            solver: self.of::<SolverName>("solver")?.filter(asked).unwrap_or_default(),
            tolerance: self.or("tolerance", own.tolerance)?,
            scale: self.or("scale", self.or(SCALE_WITH_PENALTY, Scale::None)?)?,
            shared,
            ..own
        })
    }

    /// What is minimised, with the parameter of the loss if it has one.
    fn criterion(&self, own: Criterion) -> Result<Criterion> {
        let Criterion::Loss(usual) = own else { return Ok(own) };
        let loss = self.or("loss", usual)?;
        if loss.name() != usual.name() {
            return Err(unreadable("loss", &self.0.about.settings["loss"]));
        }
        Ok(Criterion::Loss(loss))
    }

    fn bayes(&self, own: NaiveBayes, shared: Shared) -> Result<NaiveBayes> {
        let priors = match self.0.about.settings.get("priors") {
            None => own.priors,
            Some(Value::String(word)) if word == "learned" => Priors::Learned,
            Some(Value::String(word)) if word == "uniform" => Priors::Uniform,
            Some(value) => {
                let given = serde_json::from_value(value.clone());
                Priors::Given(given.map_err(|_| unreadable("priors", value))?)
            }
        };
        // Classes are always told apart jointly.
        let shared = Shared { multiclass: None, ..shared };
        Ok(NaiveBayes {
            likelihood: self.or("likelihood", own.likelihood)?,
            smoothing: self.or("smoothing", own.smoothing)?,
            priors,
            shared,
        })
    }

    fn network(&self, own: MultilayerPerceptron, shared: Shared) -> Result<MultilayerPerceptron> {
        let hidden = match self.0.scorer.behind_map() {
            Scorer::Network(network) => network.hidden(),
            _ => own.units,
        };
        let lambda = self.of::<f64>("lambda")?.filter(|lambda| *lambda != 0.0);
        Ok(MultilayerPerceptron {
            units: hidden,
            activation: self.or("activation", own.activation)?,
            loss: self.or("loss", own.loss)?,
            strength: lambda.map(Strength::Lambda),
            batch: self.of("batch")?,
            step: self.or("step", own.step)?,
            scale: self.scale(own.scale)?,
            bias: self.or("bias", own.bias)?,
            epochs: self.epochs()?,
            shared,
        })
    }
}

fn unreadable(name: &str, value: &Value) -> Error {
    Error::input(format!("the model says of its setting `{name}` that it is {value}, which makes no sense"))
        .hint(format!("name the setting itself: `{name}`"))
}
