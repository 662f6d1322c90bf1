//! Learners are built setting by setting: `LinearSvm::new().cost(1.0).fit(&data)?`.

use super::fit::Fit;
use super::learner::{
    ClassWeight, Criterion, Epochs, Learner, MultilayerPerceptron, NaiveBayes, PassiveAggressive, Perceptron,
    Risk, Shared, SolverName, Strength,
};
use super::{Search, Tuned, train, train_from, train_online, train_online_from, tune};
use crate::bayes::{Likelihood, Priors};
use crate::control::{Observer, Unwatched};
use crate::data::{Dataset, Scale};
use crate::error::Result;
use crate::evaluate::CalibrationMethod;
use crate::features::map::Map;
use crate::kernel::Kernel;
use crate::loss::{Huber, LossName, Quantile};
use crate::model::{Activation, Model, Task};
use crate::multiclass::Scheme;
use crate::online::rule::{self, Aggressiveness, Length, Tie};
use crate::online::{Hypothesis, Order};
use crate::penalty::Bias;
use crate::read::Reader;
use crate::solver::Schedule;

/// What every learner can do, and the settings that all have; `shared` leads to these.
macro_rules! every_learner {
    ($type:ident) => {
        impl $type {
            /// The seed of every random choice; 0 by default.
            #[must_use]
            pub fn seed(mut self, seed: u64) -> Self {
                self.shared_mut().seed = seed;
                self
            }

            /// How more than two classes are reduced to scores.
            #[must_use]
            pub fn multiclass(mut self, scheme: Scheme) -> Self {
                self.shared_mut().multiclass = Some(scheme);
                self
            }

            /// The positive class of two; by default the larger number, or the later name.
            #[must_use]
            pub fn positive(mut self, label: impl Into<String>) -> Self {
                self.shared_mut().positive = Some(label.into());
                self
            }

            /// How much each class counts.
            #[must_use]
            pub fn class_weight(mut self, weight: ClassWeight) -> Self {
                self.shared_mut().class_weight = weight;
                self
            }

            /// A feature map that is applied to rows before anything is learned. The model applies it, too.
            #[must_use]
            pub fn map(mut self, map: Map) -> Self {
                self.shared_mut().map = Some(map);
                self
            }

            /// Fits probabilities to the scores of rows that a model did not learn from.
            #[must_use]
            pub fn calibrate(mut self, method: CalibrationMethod) -> Self {
                self.shared_mut().calibrate = Some(method);
                self
            }

            /// Most bytes that training may take, by an estimate beforehand; by default what the machine has
            /// available.
            #[must_use]
            pub fn memory(mut self, bytes: u64) -> Self {
                self.shared_mut().memory = Some(bytes);
                self
            }

            /// Whether labels are classes or numbers; by default that is inferred, and many different numbers
            /// are refused by a learner that tells classes apart.
            #[must_use]
            pub fn task(mut self, task: Task) -> Self {
                self.shared_mut().task = Some(task);
                self
            }

            /// Trains on rows in memory.
            pub fn fit(&self, data: &Dataset) -> Result<Fit> {
                self.fit_observed(data, None, &mut Unwatched)
            }

            /// Trains on rows in memory. `validation` must have the labels of `data`: its error is measured,
            /// and learners that go over the rows in epochs stop when it no longer falls. The observer is
            /// told of progress and may stop the training.
            pub fn fit_observed(
                &self,
                data: &Dataset,
                validation: Option<&Dataset>,
                observer: &mut dyn Observer,
            ) -> Result<Fit> {
                train(data, validation, &Learner::from(self.clone()), observer)
            }

            /// Trains on rows in memory, going on from a model ([`train_from`] says how).
            pub fn fit_from(&self, data: &Dataset, model: &Model) -> Result<Fit> {
                train_from(data, None, &Learner::from(self.clone()), model, &mut Unwatched)
            }
        }
    };
}

/// The settings of learners that go over the rows in epochs.
macro_rules! in_epochs {
    ($type:ident) => {
        impl $type {
            /// Most epochs; 30 by default. An epoch without a mistake ends the training earlier.
            #[must_use]
            pub fn epochs(mut self, most: usize) -> Self {
                self.epochs.most = most;
                self
            }

            /// Epochs without a better validation error before training stops; 3 by default.
            #[must_use]
            pub fn patience(mut self, epochs: usize) -> Self {
                self.epochs.patience = epochs;
                self
            }

            /// The order of rows in an epoch; shuffled by default.
            #[must_use]
            pub fn order(mut self, order: Order) -> Self {
                self.epochs.order = order;
                self
            }

            /// Whether the score has a constant term; free by default.
            #[must_use]
            pub fn bias(mut self, bias: Bias) -> Self {
                self.bias = bias;
                self
            }

            /// How columns are brought to one size first; by default [`Scale::Standard`]. With a bias, columns
            /// of numbers are moved to a mean of about zero, too. The model applies to rows as they are.
            /// Streams and kernels learn from rows as they are.
            #[must_use]
            pub fn scale(mut self, scale: Scale) -> Self {
                self.scale = scale;
                self
            }

            fn shared_mut(&mut self) -> &mut Shared {
                &mut self.shared
            }
        }
    };
}

/// The settings of learners that correct mistakes.
macro_rules! with_kernels {
    ($type:ident) => {
        impl $type {
            /// What compares rows; linear by default.
            #[must_use]
            pub fn kernel(mut self, kernel: Kernel) -> Self {
                self.kernel = kernel;
                self
            }

            /// With a kernel on a stream: most rows that are stored; 1000 by default.
            #[must_use]
            pub fn budget(mut self, rows: usize) -> Self {
                self.budget = rows;
                self
            }

            /// Trains on a stream, which is read once and not stored.
            pub fn fit_stream(&self, reader: Reader, observer: &mut dyn Observer) -> Result<Fit> {
                train_online(reader, &Learner::from(self.clone()), observer)
            }

            /// Trains on a stream, going on from a model ([`train_online_from`] says how).
            pub fn fit_stream_from(
                &self,
                reader: Reader,
                model: &Model,
                observer: &mut dyn Observer,
            ) -> Result<Fit> {
                train_online_from(reader, &Learner::from(self.clone()), model, observer)
            }
        }
    };
}

every_learner!(Perceptron);
every_learner!(PassiveAggressive);
every_learner!(NaiveBayes);
every_learner!(MultilayerPerceptron);
in_epochs!(Perceptron);
in_epochs!(PassiveAggressive);
in_epochs!(MultilayerPerceptron);
with_kernels!(Perceptron);
with_kernels!(PassiveAggressive);

impl Default for Perceptron {
    fn default() -> Self {
        Self::returning(Hypothesis::Last)
    }
}

impl Perceptron {
    /// The perceptron itself: its last weights.
    pub fn new() -> Self {
        Self::returning(Hypothesis::Last)
    }

    /// The average of its weights over all rounds.
    pub fn averaged() -> Self {
        Self::returning(Hypothesis::Average)
    }

    /// The votes of all its weight vectors.
    pub fn voted() -> Self {
        Self::returning(Hypothesis::Votes)
    }

    fn returning(returned: Hypothesis) -> Self {
        Self {
            returned,
            rule: rule::Perceptron::default(),
            own_feature: None,
            kernel: Kernel::Linear,
            budget: super::learner::BUDGET,
            bias: Bias::Free,
            scale: Scale::Standard,
            epochs: Epochs::default(),
            shared: Shared::default(),
        }
    }

    /// The constant step; 1 by default. Any gives the same predictions.
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.rule.step = step;
        self
    }

    /// Adds rows of length 1, `x/‖x‖`, on a mistake.
    #[must_use]
    pub fn normalise(mut self) -> Self {
        self.rule.length = Length::Unit;
        self
    }

    /// What a score of exactly zero is while learning; a mistake by default.
    #[must_use]
    pub fn tie(mut self, tie: Tie) -> Self {
        self.rule.tie = tie;
        self
    }

    /// Gives each row a feature of its own with this value while it is learned from: any rows can be
    /// separated then.
    #[must_use]
    pub fn own_feature(mut self, value: f64) -> Self {
        self.own_feature = Some(value);
        self
    }
}

impl Default for PassiveAggressive {
    fn default() -> Self {
        Self {
            aggressiveness: Aggressiveness::Capped(1.0),
            kernel: Kernel::Linear,
            budget: super::learner::BUDGET,
            bias: Bias::Free,
            scale: Scale::Standard,
            epochs: Epochs::default(),
            shared: Shared::default(),
        }
    }
}

impl PassiveAggressive {
    /// PA-I with C = 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// How far an update may go: PA, PA-I or PA-II.
    #[must_use]
    pub fn aggressiveness(mut self, aggressiveness: Aggressiveness) -> Self {
        self.aggressiveness = aggressiveness;
        self
    }
}

impl Default for NaiveBayes {
    fn default() -> Self {
        Self {
            likelihood: Likelihood::default(),
            smoothing: 1.0,
            priors: Priors::default(),
            shared: Shared::default(),
        }
    }
}

impl NaiveBayes {
    /// Multinomial, with a smoothing of 1 and priors as frequent as rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// The distribution of a row's features, given its class.
    #[must_use]
    pub fn likelihood(mut self, likelihood: Likelihood) -> Self {
        self.likelihood = likelihood;
        self
    }

    /// What is added to every count; positive.
    #[must_use]
    pub fn smoothing(mut self, smoothing: f64) -> Self {
        self.smoothing = smoothing;
        self
    }

    /// The distribution of classes.
    #[must_use]
    pub fn priors(mut self, priors: Priors) -> Self {
        self.priors = priors;
        self
    }

    /// Chooses the smoothing among `values` (`None`: from 10 to 0.0001, and beyond if the best is at an end)
    /// by cross-validation. [`tune`] has more settings.
    pub fn tune(&self, data: &Dataset, folds: usize, values: Option<Vec<f64>>) -> Result<Tuned> {
        let search = Search { folds, values, ..Search::default() };
        tune(data, &Learner::from(self.clone()), &search, &mut Unwatched)
    }

    /// Counts a stream, which is read once and not stored.
    pub fn fit_stream(&self, reader: Reader, observer: &mut dyn Observer) -> Result<Fit> {
        train_online(reader, &Learner::from(self.clone()), observer)
    }

    /// Counts a stream, going on from a model ([`train_online_from`] says how).
    pub fn fit_stream_from(&self, reader: Reader, model: &Model, observer: &mut dyn Observer) -> Result<Fit> {
        train_online_from(reader, &Learner::from(self.clone()), model, observer)
    }

    fn shared_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }
}

impl Default for MultilayerPerceptron {
    fn default() -> Self {
        Self {
            units: 128,
            activation: Activation::Relu,
            loss: LossName::Logistic,
            strength: None,
            batch: None,
            step: 2e-3,
            scale: Scale::Standard,
            bias: Bias::Free,
            epochs: Epochs::default(),
            shared: Shared::default(),
        }
    }
}

impl MultilayerPerceptron {
    /// 128 rectified units and the logistic loss.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hidden units.
    #[must_use]
    pub fn units(mut self, units: usize) -> Self {
        self.units = units;
        self
    }

    /// What hidden units make of their sums.
    #[must_use]
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// The loss: of classes, or, squared or absolute, of numbers.
    #[must_use]
    pub fn loss(mut self, loss: LossName) -> Self {
        self.loss = loss;
        self
    }

    /// λ of the penalty `(λ/2)‖w‖²`; 0 by default.
    #[must_use]
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.strength = Some(Strength::Lambda(lambda));
        self
    }

    /// Rows of a step.
    #[must_use]
    pub fn batch(mut self, rows: usize) -> Self {
        self.batch = Some(rows);
        self
    }

    /// The length of Adam's steps in the first epoch; 0.002 by default.
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.step = step;
        self
    }
}

/// A batch learner: a name for a criterion, and the settings of all batch learners.
macro_rules! batch_learner {
    ($(#[$about:meta])* $type:ident, $criterion:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type(Risk);

        every_learner!($type);
        minimising!($type);

        impl Default for $type {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $type {
            /// With the default settings.
            pub fn new() -> Self {
                Self(Risk::new($criterion))
            }

            fn shared_mut(&mut self) -> &mut Shared {
                &mut self.0.shared
            }
        }

        impl From<$type> for Learner {
            fn from(learner: $type) -> Self {
                Learner::Risk(learner.0)
            }
        }
    };
}

/// The settings of learners that minimise a criterion over all rows.
macro_rules! minimising {
    ($type:ident) => {
        impl $type {
            /// The relative duality gap to reach: `(objective − dual)/objective`; 1e-4 by default.
            #[must_use]
            pub fn tolerance(mut self, gap: f64) -> Self {
                self.0.tolerance = gap;
                self
            }

            /// Most steps of the solver; by default more than it usually needs.
            #[must_use]
            pub fn steps(mut self, most: usize) -> Self {
                self.0.steps = Some(most);
                self
            }

            /// Whether the score has a constant term, and whether the penalty applies to it; free by default.
            #[must_use]
            pub fn bias(mut self, bias: Bias) -> Self {
                self.0.bias = bias;
                self
            }

            /// How columns are brought to one size first; by default [`Scale::Standard`]. The model applies to
            /// rows as they are. [`Scale::None`] minimises the objective of the rows as they are, which is
            /// that of LIBLINEAR and scikit-learn. The largest margin is always one of the rows as they are:
            /// there any other scale is an error.
            #[must_use]
            pub fn scale(mut self, scale: Scale) -> Self {
                self.0.scale = scale;
                self
            }

            /// Records every step of the solver.
            #[must_use]
            pub fn trace(mut self) -> Self {
                self.0.trace = true;
                self
            }
        }
    };
}

/// The settings of batch learners with a penalty and a choice of solvers.
macro_rules! penalised {
    ($type:ident) => {
        impl $type {
            /// C of `C·Σ loss + ½‖w‖²`, as in LIBLINEAR and scikit-learn: `λ = 1/(C·n)`.
            #[must_use]
            pub fn cost(mut self, cost: f64) -> Self {
                self.0.strength = Some(Strength::Cost(cost));
                self
            }

            /// λ of `(1/n) Σ loss + (λ/2)‖w‖²`.
            #[must_use]
            pub fn lambda(mut self, lambda: f64) -> Self {
                self.0.strength = Some(Strength::Lambda(lambda));
                self
            }

            /// The solver; by default whichever suits the loss and the shape of the data.
            #[must_use]
            pub fn solver(mut self, solver: SolverName) -> Self {
                self.0.solver = solver;
                self
            }

            /// Gradient solvers: how long their steps are, and what that is a multiple of.
            #[must_use]
            pub fn schedule(mut self, schedule: Schedule, step: f64) -> Self {
                (self.0.schedule, self.0.step) = (Some(schedule), Some(step));
                self
            }

            /// The stochastic gradient: rows of a step; 1 by default.
            #[must_use]
            pub fn batch(mut self, rows: usize) -> Self {
                self.0.batch = rows;
                self
            }

            /// Chooses λ among `values` (`None`: a path that suits the data) by cross-validation, each fit
            /// warm-started from the last. [`tune`] has more settings.
            pub fn tune(&self, data: &Dataset, folds: usize, values: Option<Vec<f64>>) -> Result<Tuned> {
                let search = Search { folds, values, ..Search::default() };
                tune(data, &Learner::from(self.clone()), &search, &mut Unwatched)
            }
        }
    };
}

/// Adds an ℓ1 penalty, for losses that have a solver for it.
macro_rules! sparse {
    ($type:ident) => {
        impl $type {
            /// Adds `l1·‖w‖₁` to the objective: weights of exactly zero.
            #[must_use]
            pub fn l1(mut self, l1: f64) -> Self {
                self.0.l1 = l1;
                self
            }
        }
    };
}

batch_learner!(
    /// The linear support vector machine: the hinge loss, or its square.
    ///
    /// ```
    /// use novikoff::{Dataset, LinearSvm};
    ///
    /// let rows = [1.0, 2.0, 2.0, 1.0, -1.0, -2.0, -2.0, -1.0];
    /// let data = Dataset::from_dense(&rows, 2)?.with_labels(&[1, 1, -1, -1])?;
    /// let fit = LinearSvm::new().cost(1.0).tolerance(1e-6).fit(&data)?;
    /// assert_eq!(fit.model.predict(&data)?, ["1", "1", "-1", "-1"]);
    /// fit.certificate(&data)?.verify(&data)?;
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    LinearSvm,
    Criterion::Loss(LossName::Hinge)
);
penalised!(LinearSvm);
sparse!(LinearSvm);

impl LinearSvm {
    /// With the squared hinge loss.
    pub fn squared() -> Self {
        Self(Risk::of(LossName::SquaredHinge))
    }
}

batch_learner!(
    /// Logistic regression, for two classes or, jointly, for more; its probabilities are a likelihood's.
    ///
    /// ```
    /// use novikoff::{Dataset, LogisticRegression};
    ///
    /// let data = Dataset::from_dense(&[0.0, 1.0, 2.0, 3.0], 1)?.with_labels(&["no", "no", "yes", "yes"])?;
    /// let model = LogisticRegression::new().lambda(0.1).fit(&data)?.model;
    /// assert_eq!(model.predict(&data)?, ["no", "no", "yes", "yes"]);
    /// assert!(model.probabilities(&data)?[3][1] > 0.5);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    LogisticRegression,
    Criterion::Loss(LossName::Logistic)
);
penalised!(LogisticRegression);
sparse!(LogisticRegression);

batch_learner!(
    /// Regression by least squares; with an ℓ2 penalty ridge regression, with ℓ1 the lasso, with both the
    /// elastic net. Without a penalty by default.
    ///
    /// ```
    /// use novikoff::{Dataset, LeastSquares};
    ///
    /// let data = Dataset::from_dense(&[0.0, 1.0, 2.0, 3.0], 1)?.with_targets(&[1.0, 3.0, 5.0, 7.0])?;
    /// let model = LeastSquares::new().fit(&data)?.model;
    /// let predicted = model.predict_numbers(&data)?;
    /// assert!(predicted.iter().zip([1.0, 3.0, 5.0, 7.0]).all(|(s, y)| (s - y).abs() < 1e-9));
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    LeastSquares,
    Criterion::Loss(LossName::Squared)
);
penalised!(LeastSquares);
sparse!(LeastSquares);

batch_learner!(
    /// Regression by least absolute deviations; by default without a penalty where columns are few.
    LeastAbsoluteDeviations,
    Criterion::Loss(LossName::Absolute)
);
penalised!(LeastAbsoluteDeviations);

batch_learner!(
    /// Regression with Huber's loss: squared for residuals up to a width, linear beyond it, so that outliers
    /// do not pull far. Without a penalty by default.
    ///
    /// ```
    /// use novikoff::{Dataset, HuberRegression};
    ///
    /// let rows: Vec<f64> = (0..20).map(f64::from).collect();
    /// let mut targets: Vec<f64> = rows.iter().map(|x| 1.0 + 2.0 * x).collect();
    /// targets[7] = 1e6;
    /// let data = Dataset::from_dense(&rows, 1)?.with_targets(&targets)?;
    /// let fit = HuberRegression::new().width(0.5).tolerance(1e-6).fit(&data)?;
    /// let predicted = fit.model.predict_numbers(&data)?;
    /// assert!((predicted[0] - 1.0).abs() < 0.5);
    /// fit.certificate(&data)?.verify(&data)?;
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    HuberRegression,
    Criterion::Loss(LossName::Huber(Huber::default()))
);
penalised!(HuberRegression);
sparse!(HuberRegression);

impl HuberRegression {
    /// The largest residual that counts by its square, in the unit of the targets; 1 by default.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.0.criterion = Criterion::Loss(LossName::Huber(Huber { width }));
        self
    }
}

batch_learner!(
    /// Regression of a quantile: a share of the rows, the median's half by default, is to be at or below the
    /// prediction. By default without a penalty where columns are few.
    ///
    /// ```
    /// use novikoff::{Dataset, QuantileRegression};
    ///
    /// let data = Dataset::from_dense(&[0.0; 5], 1)?.with_targets(&[1.0, 2.0, 3.0, 4.0, 100.0])?;
    /// let at = |level| QuantileRegression::new().quantile(level).fit(&data)?.model.predict_numbers(&data);
    /// assert!((at(0.5)?[0] - 3.0).abs() < 1e-9);
    /// assert!((at(0.7)?[0] - 4.0).abs() < 1e-9);
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    QuantileRegression,
    Criterion::Loss(LossName::Quantile(Quantile::default()))
);
penalised!(QuantileRegression);

impl QuantileRegression {
    /// The share of rows that are to be at or below the prediction, between 0 and 1; ½ by default.
    #[must_use]
    pub fn quantile(mut self, level: f64) -> Self {
        self.0.criterion = Criterion::Loss(LossName::Quantile(Quantile { level }));
        self
    }
}

batch_learner!(
    /// The exponential loss.
    ExponentialLoss,
    Criterion::Loss(LossName::Exponential)
);
penalised!(ExponentialLoss);
sparse!(ExponentialLoss);

batch_learner!(
    /// The perceptron's loss, the hinge at zero, minimised over all rows.
    HingeAtZeroLoss,
    Criterion::Loss(LossName::HingeAtZero)
);
penalised!(HingeAtZeroLoss);

batch_learner!(
    /// The exponential loss, one weight at a time: AdaBoost as coordinate descent, with features as weak
    /// learners.
    Boosting,
    Criterion::Boosting
);

batch_learner!(
    /// The hyperplane with the largest margin, for rows that can be separated.
    MaxMargin,
    Criterion::MaxMargin
);

impl From<Perceptron> for Learner {
    fn from(learner: Perceptron) -> Self {
        Learner::Perceptron(learner)
    }
}

impl From<PassiveAggressive> for Learner {
    fn from(learner: PassiveAggressive) -> Self {
        Learner::PassiveAggressive(learner)
    }
}

impl From<Risk> for Learner {
    fn from(learner: Risk) -> Self {
        Learner::Risk(learner)
    }
}

impl From<NaiveBayes> for Learner {
    fn from(learner: NaiveBayes) -> Self {
        Learner::Bayes(learner)
    }
}

impl From<MultilayerPerceptron> for Learner {
    fn from(learner: MultilayerPerceptron) -> Self {
        Learner::Network(learner)
    }
}
