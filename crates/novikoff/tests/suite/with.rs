//! Any learner with changed settings: a setting that it does not have is left out.

use novikoff::data::Scale;
use novikoff::evaluate::CalibrationMethod;
use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::multiclass::Scheme;
use novikoff::online::Order;
use novikoff::online::rule::{Aggressiveness, Length};
use novikoff::penalty::Bias;
use novikoff::train::{ClassWeight, Criterion, Epochs, Learner, MultilayerPerceptron, NaiveBayes, Risk};

/// One setting after the other.
pub trait With: Sized {
    fn with(self, change: impl FnOnce(&mut Learner)) -> Self;

    fn with_bias(self, bias: Bias) -> Self {
        self.with(|learner| match learner {
            Learner::Perceptron(own) => own.bias = bias,
            Learner::PassiveAggressive(own) => own.bias = bias,
            Learner::Risk(own) => own.bias = bias,
            Learner::Network(own) => own.bias = bias,
            Learner::Bayes(_) => {}
        })
    }

    fn with_scale(self, scale: Scale) -> Self {
        self.with(|learner| match learner {
            Learner::Perceptron(own) => own.scale = scale,
            Learner::PassiveAggressive(own) => own.scale = scale,
            Learner::Risk(own) => own.scale = scale,
            Learner::Network(own) => own.scale = scale,
            Learner::Bayes(_) => {}
        })
    }

    fn in_epochs(self, change: impl FnOnce(&mut Epochs)) -> Self {
        self.with(|learner| match learner {
            Learner::Perceptron(own) => change(&mut own.epochs),
            Learner::PassiveAggressive(own) => change(&mut own.epochs),
            Learner::Network(own) => change(&mut own.epochs),
            Learner::Risk(_) | Learner::Bayes(_) => {}
        })
    }

    fn with_epochs(self, most: usize) -> Self {
        self.in_epochs(|epochs| epochs.most = most)
    }

    fn with_patience(self, patience: usize) -> Self {
        self.in_epochs(|epochs| epochs.patience = patience)
    }

    fn with_order(self, order: Order) -> Self {
        self.in_epochs(|epochs| epochs.order = order)
    }

    fn with_multiclass(self, scheme: Option<Scheme>) -> Self {
        self.with(|learner| learner.shared_mut().multiclass = scheme)
    }

    fn with_positive(self, label: Option<String>) -> Self {
        self.with(|learner| learner.shared_mut().positive = label)
    }

    fn with_class_weight(self, weight: ClassWeight) -> Self {
        self.with(|learner| learner.shared_mut().class_weight = weight)
    }

    fn with_seed(self, seed: u64) -> Self {
        self.with(|learner| learner.shared_mut().seed = seed)
    }

    fn with_map(self, map: Option<Map>) -> Self {
        self.with(|learner| learner.shared_mut().map = map)
    }

    fn with_calibrate(self, method: Option<CalibrationMethod>) -> Self {
        self.with(|learner| learner.shared_mut().calibrate = method)
    }

    fn with_kernel(self, kernel: Kernel) -> Self {
        self.with(|learner| match learner {
            Learner::Perceptron(own) => own.kernel = kernel,
            Learner::PassiveAggressive(own) => own.kernel = kernel,
            Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => {}
        })
    }

    fn with_length(self, length: Length) -> Self {
        self.with(|learner| {
            if let Learner::Perceptron(own) = learner {
                own.rule.length = length;
            }
        })
    }

    fn with_own_feature(self, value: Option<f64>) -> Self {
        self.with(|learner| {
            if let Learner::Perceptron(own) = learner {
                own.own_feature = value;
            }
        })
    }

    fn with_aggressiveness(self, aggressiveness: Aggressiveness) -> Self {
        self.with(|learner| {
            if let Learner::PassiveAggressive(own) = learner {
                own.aggressiveness = aggressiveness;
            }
        })
    }

    /// Everything that decides how a criterion is minimised.
    fn with_risk(self, risk: Risk) -> Self {
        self.with(|learner| {
            if let Learner::Risk(own) = learner {
                *own = Risk {
                    criterion: own.criterion,
                    bias: own.bias,
                    shared: own.shared.clone(),
                    trace: own.trace,
                    // The largest margin is one of the rows as they are.
                    scale: if own.criterion == Criterion::MaxMargin { own.scale } else { risk.scale },
                    ..risk
                };
            }
        })
    }
}

/// The settings of a family, for learners that are of it.
pub trait Own {
    /// What compares rows, for learners that have kernels; linear for all others.
    fn kernel(&self) -> Kernel;
    /// What an update adds, for perceptrons; rows as they are for all others.
    fn length(&self) -> Length;
    fn own_bayes(&mut self) -> &mut NaiveBayes;
    fn own_risk(&mut self) -> &mut Risk;
    fn own_network(&mut self) -> &mut MultilayerPerceptron;
}

impl Own for Learner {
    fn kernel(&self) -> Kernel {
        match self {
            Learner::Perceptron(own) => own.kernel,
            Learner::PassiveAggressive(own) => own.kernel,
            Learner::Risk(_) | Learner::Bayes(_) | Learner::Network(_) => Kernel::Linear,
        }
    }

    fn length(&self) -> Length {
        if let Learner::Perceptron(own) = self { own.rule.length } else { Length::AsGiven }
    }

    fn own_bayes(&mut self) -> &mut NaiveBayes {
        if let Learner::Bayes(own) = self { own } else { panic!("not bayes: {self:?}") }
    }

    fn own_risk(&mut self) -> &mut Risk {
        if let Learner::Risk(own) = self { own } else { panic!("not a batch learner: {self:?}") }
    }

    fn own_network(&mut self) -> &mut MultilayerPerceptron {
        if let Learner::Network(own) = self { own } else { panic!("not a network: {self:?}") }
    }
}

impl With for Learner {
    fn with(mut self, change: impl FnOnce(&mut Learner)) -> Self {
        change(&mut self);
        self
    }
}
