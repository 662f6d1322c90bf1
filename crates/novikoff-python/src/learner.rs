//! Learners from the settings that estimators give by name.

use novikoff::bayes::{Likelihood, Priors};
use novikoff::data::Scale;
use novikoff::evaluate::CalibrationMethod;
use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::loss::{Huber, LossName, Quantile};
use novikoff::model::{Activation, Task};
use novikoff::multiclass::Scheme;
use novikoff::online::rule::{Aggressiveness, Length};
use novikoff::online::{Hypothesis, Order};
use novikoff::penalty::Bias;
use novikoff::train::{
    ClassWeight, Criterion, Epochs, Learner, MultilayerPerceptron, NaiveBayes, PassiveAggressive, Perceptron,
    Risk, Shared, SolverName, Strength,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Settings that are taken out one by one; what is left over is an error.
pub(crate) struct Settings<'py>(Bound<'py, PyDict>);

impl<'py> Settings<'py> {
    /// A copy of these, to take from.
    pub(crate) fn of(settings: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Self(settings.copy()?))
    }

    /// The setting, if it is given and not None.
    pub(crate) fn take<T: for<'a> FromPyObject<'a, 'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)? else { return Ok(None) };
        self.0.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(PyTypeError::new_err(format!("{name} cannot be {}", value.repr()?))),
        }
    }

    /// The setting as one of some names.
    pub(crate) fn choose<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(given) = self.take::<String>(name)? else { return Ok(None) };
        if let Some(&(_, choice)) = choices.iter().find(|(own, _)| *own == given) {
            return Ok(Some(choice));
        }
        let names: Vec<_> = choices.iter().map(|(own, _)| format!("{own:?}")).collect();
        Err(PyValueError::new_err(format!("{name} is one of {}, not {given:?}", names.join(", "))))
    }

    pub(crate) fn set<T: for<'a> FromPyObject<'a, 'py>>(&self, name: &str, into: &mut T) -> PyResult<()> {
        if let Some(value) = self.take(name)? {
            *into = value;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> PyResult<()> {
        match self.0.keys().is_empty() {
            true => Ok(()),
            false => Err(PyTypeError::new_err(format!("this learner has no {}", self.0.keys().repr()?))),
        }
    }
}

/// The learner of this name with these settings.
pub(crate) fn learner(name: &str, settings: &Bound<'_, PyDict>) -> PyResult<Learner> {
    let settings = Settings::of(settings)?;
    let mut learner: Learner = match name {
        "perceptron" => perceptron(&settings)?.into(),
        "passive-aggressive" => passive_aggressive(&settings)?.into(),
        "bayes" => bayes(&settings)?.into(),
        "network" => network(&settings)?.into(),
        _ => risk(name, &settings)?.into(),
    };
    share(&settings, learner.shared_mut())?;
    settings.finish()?;
    Ok(learner)
}

fn share(settings: &Settings<'_>, shared: &mut Shared) -> PyResult<()> {
    settings.set("seed", &mut shared.seed)?;
    shared.memory = settings.take("memory")?;
    const SCHEMES: [(&str, Scheme); 2] = [("joint", Scheme::Joint), ("one-vs-rest", Scheme::OneVsRest)];
    shared.multiclass = settings.choose("multiclass", &SCHEMES)?;
    const METHODS: [(&str, CalibrationMethod); 2] =
        [("platt", CalibrationMethod::Platt), ("isotonic", CalibrationMethod::Isotonic)];
    shared.calibrate = settings.choose("calibrate", &METHODS)?;
    shared.map = map(settings)?;
    let is_balanced = settings.take::<bool>("balanced")?.unwrap_or(false);
    shared.class_weight = match settings.take::<Vec<(String, f64)>>("class_weight")? {
        Some(given) => ClassWeight::Given(given),
        None if is_balanced => ClassWeight::Balanced,
        None => ClassWeight::Equal,
    };
    // Which of both it is, the estimator says; labels that look like numbers are classes all the same.
    shared.task = settings.choose("task", &[("classes", Task::Classes), ("regression", Task::Regression)])?;
    Ok(())
}

fn map(settings: &Settings<'_>) -> PyResult<Option<Map>> {
    let degree = settings.take::<u32>("poly")?.map(|degree| Map::Poly { degree });
    let fourier = settings.take::<(u32, f64, u64)>("fourier")?;
    Ok(degree.or(fourier.map(|(count, gamma, seed)| Map::Fourier { count, gamma, seed })))
}

const SCALES: [(&str, Scale); 4] = [
    ("none", Scale::None),
    ("standard", Scale::Standard),
    ("max-abs", Scale::MaxAbs),
    ("unit-variance", Scale::UnitVariance),
];
const BIASES: [(&str, Bias); 3] =
    [("free", Bias::Free), ("penalised", Bias::Penalised), ("none", Bias::None)];

/// The kernel: a name and its parameter.
fn kernel(settings: &Settings<'_>) -> PyResult<Kernel> {
    let degree = settings.take::<u32>("degree")?;
    let gamma = settings.take::<f64>("gamma")?;
    Ok(match (degree, gamma) {
        (Some(degree), _) => Kernel::Polynomial(degree),
        (None, Some(gamma)) => Kernel::Rbf(gamma),
        (None, None) => Kernel::Linear,
    })
}

fn epochs(settings: &Settings<'_>, epochs: &mut Epochs) -> PyResult<()> {
    settings.set("epochs", &mut epochs.most)?;
    settings.set("patience", &mut epochs.patience)?;
    if let Some(shuffle) = settings.take::<bool>("shuffle")? {
        epochs.order = if shuffle { Order::Shuffled } else { Order::Given };
    }
    Ok(())
}

fn perceptron(settings: &Settings<'_>) -> PyResult<Perceptron> {
    const FORMS: [(&str, Hypothesis); 3] =
        [("last", Hypothesis::Last), ("average", Hypothesis::Average), ("votes", Hypothesis::Votes)];
    let mut own = Perceptron::new();
    own.returned = settings.choose("returned", &FORMS)?.unwrap_or(own.returned);
    if settings.take::<bool>("normalise")? == Some(true) {
        own.rule.length = Length::Unit;
    }
    own.own_feature = settings.take("own_feature")?;
    own.kernel = kernel(settings)?;
    own.bias = settings.choose("bias", &BIASES)?.unwrap_or(own.bias);
    own.scale = settings.choose("scale", &SCALES)?.unwrap_or(Scale::None);
    epochs(settings, &mut own.epochs)?;
    Ok(own)
}

fn passive_aggressive(settings: &Settings<'_>) -> PyResult<PassiveAggressive> {
    let mut own = PassiveAggressive::new();
    let cost = settings.take::<f64>("cost")?.unwrap_or(1.0);
    let variant = settings.take::<String>("variant")?.unwrap_or_else(|| "pa1".into());
    own.aggressiveness = match variant.as_str() {
        "pa" => Aggressiveness::Full,
        "pa1" => Aggressiveness::Capped(cost),
        "pa2" => Aggressiveness::Damped(cost),
        _ => {
            let what = format!("variant is one of \"pa\", \"pa1\", \"pa2\", not {variant:?}");
            return Err(PyValueError::new_err(what));
        }
    };
    own.kernel = kernel(settings)?;
    own.bias = settings.choose("bias", &BIASES)?.unwrap_or(own.bias);
    own.scale = settings.choose("scale", &SCALES)?.unwrap_or(Scale::None);
    epochs(settings, &mut own.epochs)?;
    Ok(own)
}

fn strength(settings: &Settings<'_>) -> PyResult<Option<Strength>> {
    let cost = settings.take::<f64>("cost")?.map(Strength::Cost);
    Ok(cost.or(settings.take::<f64>("lambda")?.map(Strength::Lambda)))
}

fn risk(name: &str, settings: &Settings<'_>) -> PyResult<Risk> {
    let quantile = settings.take::<f64>("quantile")?.map_or(Quantile::default(), |level| Quantile { level });
    let huber = settings.take::<f64>("width")?.map_or(Huber::default(), |width| Huber { width });
    let criterion = match name {
        "svm" => Criterion::Loss(LossName::Hinge),
        "squared-svm" => Criterion::Loss(LossName::SquaredHinge),
        "logistic" => Criterion::Loss(LossName::Logistic),
        "exponential" => Criterion::Loss(LossName::Exponential),
        "hinge-at-zero" => Criterion::Loss(LossName::HingeAtZero),
        "least-squares" => Criterion::Loss(LossName::Squared),
        "least-absolute" => Criterion::Loss(LossName::Absolute),
        "huber" => Criterion::Loss(LossName::Huber(huber)),
        "quantile" => Criterion::Loss(LossName::Quantile(quantile)),
        "boosting" => Criterion::Boosting,
        "max-margin" => Criterion::MaxMargin,
        _ => return Err(PyValueError::new_err(format!("there is no learner {name:?}"))),
    };
    let mut own = Risk::new(criterion);
    own.strength = strength(settings)?;
    settings.set("l1", &mut own.l1)?;
    own.bias = settings.choose("bias", &BIASES)?.unwrap_or(own.bias);
    own.scale = settings.choose("scale", &SCALES)?.unwrap_or(Scale::None);
    let mut solvers = vec![("auto", SolverName::Auto)];
    solvers.extend(SolverName::ALL.map(|solver| (solver.name(), solver)));
    own.solver = settings.choose("solver", &solvers)?.unwrap_or(own.solver);
    settings.set("tolerance", &mut own.tolerance)?;
    own.steps = settings.take("steps")?;
    settings.set("trace", &mut own.trace)?;
    Ok(own)
}

fn bayes(settings: &Settings<'_>) -> PyResult<NaiveBayes> {
    let mut own = NaiveBayes::new();
    let likelihoods = Likelihood::ALL.map(|likelihood| (likelihood.name(), likelihood));
    own.likelihood = settings.choose("likelihood", &likelihoods)?.unwrap_or(own.likelihood);
    settings.set("smoothing", &mut own.smoothing)?;
    let is_uniform = settings.take::<bool>("uniform_priors")?.unwrap_or(false);
    own.priors = match settings.take::<Vec<(String, f64)>>("priors")? {
        Some(given) => Priors::Given(given),
        None if is_uniform => Priors::Uniform,
        None => Priors::Learned,
    };
    Ok(own)
}

fn network(settings: &Settings<'_>) -> PyResult<MultilayerPerceptron> {
    const ACTIVATIONS: [(&str, Activation); 2] = [("relu", Activation::Relu), ("tanh", Activation::Tanh)];
    const LOSSES: [(&str, LossName); 5] = [
        ("logistic", LossName::Logistic),
        ("hinge", LossName::Hinge),
        ("squared_hinge", LossName::SquaredHinge),
        ("squared", LossName::Squared),
        ("absolute", LossName::Absolute),
    ];
    let mut own = MultilayerPerceptron::new();
    settings.set("units", &mut own.units)?;
    own.activation = settings.choose("activation", &ACTIVATIONS)?.unwrap_or(own.activation);
    own.loss = settings.choose("loss", &LOSSES)?.unwrap_or(own.loss);
    own.strength = strength(settings)?;
    own.batch = settings.take("batch")?;
    settings.set("step", &mut own.step)?;
    own.bias = settings.choose("bias", &BIASES)?.unwrap_or(own.bias);
    own.scale = settings.choose("scale", &SCALES)?.unwrap_or(Scale::Standard);
    epochs(settings, &mut own.epochs)?;
    Ok(own)
}
