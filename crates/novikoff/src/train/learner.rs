//! Learners: a type for each family, with its own settings and no others.

use crate::bayes::{Likelihood, Priors};
use crate::data::Scale;
use crate::error::Result;
use crate::evaluate::CalibrationMethod;
use crate::features::map::Map;
use crate::kernel::Kernel;
use crate::loss::{Huber, LossName, Quantile, Targets};
use crate::model::{Activation, Model, Task};
use crate::multiclass::Scheme;
use crate::online::rule::{self, Aggressiveness};
use crate::online::{Hypothesis, Order};
use crate::penalty::Bias;
use crate::read::Contents;
use crate::solver::{GradientDescent, Schedule, StochasticGradient};
use serde::{Deserialize, Serialize};

/// A learner with its settings: everything that decides what is learned, but for the data.
#[derive(Clone, Debug, PartialEq)]
pub enum Learner {
    /// The perceptron: its last weights, their average, or the votes of all.
    Perceptron(Perceptron),
    /// Passive-aggressive updates.
    PassiveAggressive(PassiveAggressive),
    /// A regularized mean loss, minimised over all rows.
    Risk(Risk),
    /// Naive Bayes.
    Bayes(NaiveBayes),
    /// A multilayer perceptron with one hidden layer.
    Network(MultilayerPerceptron),
}

/// The learners by the names that files and the command line give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LearnerName {
    /// Rosenblatt's perceptron: its last weights.
    Perceptron,
    /// The perceptron's weights, averaged over all rounds.
    Averaged,
    /// All the perceptron's weight vectors, voting.
    Voted,
    /// Passive-aggressive updates, no farther than a margin of 1 asks for.
    PassiveAggressive,
    /// The support vector machine: hinge loss.
    Svm,
    /// The support vector machine with squared hinge loss.
    SquaredSvm,
    /// Logistic regression.
    Logistic,
    /// Regression: squared loss.
    LeastSquares,
    /// Regression: absolute loss.
    LeastAbsolute,
    /// Regression that outliers do not pull far: Huber's loss.
    Huber,
    /// Regression of a quantile: pinball loss.
    Quantile,
    /// Exponential loss.
    Exponential,
    /// Exponential loss, one weight at a time.
    Boosting,
    /// The hyperplane with the largest margin, for separable rows.
    MaxMargin,
    /// The perceptron's loss, hinge at zero, minimised over all rows.
    #[cfg_attr(feature = "clap", value(skip))]
    HingeAtZero,
    /// Naive Bayes, by counts.
    Bayes,
    /// A multilayer perceptron with one hidden layer.
    Network,
}

impl LearnerName {
    /// All of them.
    pub(super) const ALL: [LearnerName; 17] = [
        LearnerName::Perceptron,
        LearnerName::Averaged,
        LearnerName::Voted,
        LearnerName::PassiveAggressive,
        LearnerName::Svm,
        LearnerName::SquaredSvm,
        LearnerName::Logistic,
        LearnerName::LeastSquares,
        LearnerName::LeastAbsolute,
        LearnerName::Huber,
        LearnerName::Quantile,
        LearnerName::Exponential,
        LearnerName::Boosting,
        LearnerName::MaxMargin,
        LearnerName::HingeAtZero,
        LearnerName::Bayes,
        LearnerName::Network,
    ];
    /// Those that learn from one row at a time.
    pub const ONLINE: [LearnerName; 4] =
        [LearnerName::Perceptron, LearnerName::Averaged, LearnerName::Voted, LearnerName::PassiveAggressive];
    /// Those that minimise a mean loss over all rows, to predict classes.
    pub const BATCH: [LearnerName; 7] = [
        LearnerName::Svm,
        LearnerName::SquaredSvm,
        LearnerName::Logistic,
        LearnerName::Exponential,
        LearnerName::Boosting,
        LearnerName::MaxMargin,
        LearnerName::HingeAtZero,
    ];
    /// Those that minimise a mean loss over all rows, to predict numbers.
    pub const REGRESSION: [LearnerName; 4] =
        [LearnerName::LeastSquares, LearnerName::LeastAbsolute, LearnerName::Huber, LearnerName::Quantile];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LearnerName::Perceptron => "perceptron",
            LearnerName::Averaged => "averaged",
            LearnerName::Voted => "voted",
            LearnerName::PassiveAggressive => "passive-aggressive",
            LearnerName::Svm => "svm",
            LearnerName::SquaredSvm => "squared-svm",
            LearnerName::Logistic => "logistic",
            LearnerName::Exponential => "exponential",
            LearnerName::LeastSquares => "least-squares",
            LearnerName::LeastAbsolute => "least-absolute",
            LearnerName::Huber => "huber",
            LearnerName::Quantile => "quantile",
            LearnerName::Boosting => "boosting",
            LearnerName::MaxMargin => "max-margin",
            LearnerName::HingeAtZero => "hinge-at-zero",
            LearnerName::Bayes => "bayes",
            LearnerName::Network => "network",
        }
    }

    /// The learner of this name, with its default settings.
    ///
    /// ```
    /// use novikoff::train::LearnerName;
    /// assert_eq!(LearnerName::Svm.learner().named(), Some(LearnerName::Svm));
    /// ```
    pub fn learner(self) -> Learner {
        match self {
            LearnerName::Perceptron => Perceptron::new().into(),
            LearnerName::Averaged => Perceptron::averaged().into(),
            LearnerName::Voted => Perceptron::voted().into(),
            LearnerName::PassiveAggressive => PassiveAggressive::new().into(),
            LearnerName::Svm => Risk::of(LossName::Hinge).into(),
            LearnerName::SquaredSvm => Risk::of(LossName::SquaredHinge).into(),
            LearnerName::Logistic => Risk::of(LossName::Logistic).into(),
            LearnerName::Exponential => Risk::of(LossName::Exponential).into(),
            LearnerName::LeastSquares => Risk::of(LossName::Squared).into(),
            LearnerName::LeastAbsolute => Risk::of(LossName::Absolute).into(),
            LearnerName::Huber => Risk::of(LossName::Huber(Huber::default())).into(),
            LearnerName::Quantile => Risk::of(LossName::Quantile(Quantile::default())).into(),
            LearnerName::HingeAtZero => Risk::of(LossName::HingeAtZero).into(),
            LearnerName::Boosting => Risk::new(Criterion::Boosting).into(),
            LearnerName::MaxMargin => Risk::new(Criterion::MaxMargin).into(),
            LearnerName::Bayes => NaiveBayes::new().into(),
            LearnerName::Network => MultilayerPerceptron::new().into(),
        }
    }

    /// The loss that it minimises over all rows; `None` for those that learn row by row, or count.
    pub fn loss(self) -> Option<LossName> {
        match self.learner() {
            Learner::Risk(risk) => risk.criterion.loss(),
            _ => None,
        }
    }

    /// What learns from such rows if nobody names a learner: what serves best on the most data sets.
    pub fn usual(contents: Contents, task: Task) -> Self {
        match (task, contents) {
            (Task::Regression, _) => LearnerName::LeastSquares,
            (Task::Classes, Contents::Rows) => LearnerName::Logistic,
            (Task::Classes, Contents::Documents | Contents::DocumentsInRows) => LearnerName::SquaredSvm,
        }
    }

    /// Whether it predicts numbers, whatever its settings.
    pub fn predicts_numbers(self) -> bool {
        LearnerName::REGRESSION.contains(&self)
    }
}

impl Default for Learner {
    /// What the program does if no learner is named: logistic regression.
    fn default() -> Self {
        Learner::Risk(Risk::of(LossName::Logistic))
    }
}

impl Learner {
    /// The learner that a model is from, with the settings that the model tells. What it does not tell has its
    /// default. λ is a setting: it stays what it was, whatever the number of rows.
    ///
    /// ```
    /// use novikoff::{LinearSvm, data::generate::Recipe, train::Learner};
    ///
    /// let data = Recipe { rows: 100, ..Recipe::default() }.generate();
    /// let model = LinearSvm::new().lambda(0.5).fit(&data)?.model;
    /// assert_eq!(Learner::of(&model)?, LinearSvm::new().lambda(0.5).into());
    /// # Ok::<(), novikoff::Error>(())
    /// ```
    pub fn of(model: &Model) -> Result<Self> {
        super::resume::recall(model)
    }

    /// Which of the named learners it is; `None` for a user's own loss.
    pub fn named(&self) -> Option<LearnerName> {
        match self {
            Learner::Perceptron(perceptron) => Some(match perceptron.returned {
                Hypothesis::Last => LearnerName::Perceptron,
                Hypothesis::Average => LearnerName::Averaged,
                Hypothesis::Votes => LearnerName::Voted,
            }),
            Learner::PassiveAggressive(_) => Some(LearnerName::PassiveAggressive),
            Learner::Risk(risk) => risk.criterion.named(),
            Learner::Bayes(_) => Some(LearnerName::Bayes),
            Learner::Network(_) => Some(LearnerName::Network),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Learner::Risk(risk) => risk.criterion.name(),
            other => other.named().map_or("", LearnerName::name),
        }
    }

    /// The settings that every learner has.
    pub fn shared(&self) -> &Shared {
        match self {
            Learner::Perceptron(learner) => &learner.shared,
            Learner::PassiveAggressive(learner) => &learner.shared,
            Learner::Risk(learner) => &learner.shared,
            Learner::Bayes(learner) => &learner.shared,
            Learner::Network(learner) => &learner.shared,
        }
    }

    /// The same, to be changed.
    pub fn shared_mut(&mut self) -> &mut Shared {
        match self {
            Learner::Perceptron(learner) => &mut learner.shared,
            Learner::PassiveAggressive(learner) => &mut learner.shared,
            Learner::Risk(learner) => &mut learner.shared,
            Learner::Bayes(learner) => &mut learner.shared,
            Learner::Network(learner) => &mut learner.shared,
        }
    }

    /// Whether its score has a constant term. Naive Bayes always has one: the priors.
    pub fn bias(&self) -> Bias {
        match self {
            Learner::Perceptron(learner) => learner.bias,
            Learner::PassiveAggressive(learner) => learner.bias,
            Learner::Risk(learner) => learner.bias,
            Learner::Bayes(_) => Bias::Free,
            Learner::Network(learner) => learner.bias,
        }
    }

    /// Whether it predicts numbers instead of labels.
    pub fn predicts_numbers(&self) -> bool {
        match self {
            Learner::Risk(risk) => risk.criterion.targets() == Targets::Numbers,
            Learner::Network(network) => network.loss.is_of_numbers(),
            Learner::Perceptron(_) | Learner::PassiveAggressive(_) | Learner::Bayes(_) => false,
        }
    }
}

/// The settings that every learner has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// How more than two classes are reduced to scores; for two, `None` is one weight vector.
    pub multiclass: Option<Scheme>,
    /// The positive class of two; `None`: the larger number, or the later name.
    pub positive: Option<String>,
    /// How much each class counts.
    pub class_weight: ClassWeight,
    /// The seed of every random choice.
    pub seed: u64,
    /// The feature map that is applied to rows before anything is learned.
    pub map: Option<Map>,
    /// How probabilities are fitted to scores, if they are to be: to those of rows that a model did not learn
    /// from.
    pub calibrate: Option<CalibrationMethod>,
    /// Whether labels are classes or numbers; `None`: as they look ([`InferredTask`](super::InferredTask)).
    pub task: Option<Task>,
    /// Most bytes that training may take with its rows, by an estimate beforehand; `None`: what is available.
    pub memory: Option<u64>,
}

/// How much each class counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClassWeight {
    /// As much as its rows.
    #[default]
    Equal,
    /// All classes alike: `n/(k·n_c)` for each row of class c.
    Balanced,
    /// As named; other classes count 1.
    Given(Vec<(String, f64)>),
}

/// How often and in which order learners go over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs {
    /// Most epochs.
    pub most: usize,
    /// Epochs without a better validation error before training stops.
    pub patience: usize,
    /// The order of rows in an epoch.
    pub order: Order,
}

impl Default for Epochs {
    fn default() -> Self {
        Self { most: 30, patience: 3, order: Order::Shuffled }
    }
}

/// Rosenblatt's perceptron (1958), its average and its votes (Freund and Schapire 1999).
///
/// ```
/// use novikoff::{Dataset, Perceptron};
///
/// let data = Dataset::from_dense(&[1.0, 2.0, 2.0, 1.0, -1.0, -2.0, -2.0, -1.0], 2)?
///     .with_labels(&["spam", "spam", "ham", "ham"])?;
/// let fit = Perceptron::averaged().epochs(100).fit(&data)?;
/// assert_eq!(fit.model.predict(&data)?, ["spam", "spam", "ham", "ham"]);
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Perceptron {
    /// Which weights are returned.
    pub returned: Hypothesis,
    /// What an update adds, and when one is made.
    pub rule: rule::Perceptron,
    /// The value of a feature that each row has to itself while it is learned from, if it has one. It makes
    /// any rows separable (Freund and Schapire's Δ).
    pub own_feature: Option<f64>,
    /// What compares rows.
    pub kernel: Kernel,
    /// With a kernel on a stream: most rows that are stored.
    pub budget: usize,
    /// Whether the score has a constant term.
    pub bias: Bias,
    /// How columns are brought to one size, on rows in memory and without a kernel; those of a stream stay as
    /// they are.
    pub scale: Scale,
    /// How often and in which order rows are learned from.
    pub epochs: Epochs,
    /// The settings that every learner has.
    pub shared: Shared,
}

/// Passive-aggressive updates: no farther than a margin of 1 asks for (Crammer and others 2006).
#[derive(Clone, Debug, PartialEq)]
pub struct PassiveAggressive {
    /// How far an update may go.
    pub aggressiveness: Aggressiveness,
    /// What compares rows.
    pub kernel: Kernel,
    /// With a kernel on a stream: most rows that are stored.
    pub budget: usize,
    /// Whether the score has a constant term.
    pub bias: Bias,
    /// How columns are brought to one size, on rows in memory and without a kernel; those of a stream stay as
    /// they are.
    pub scale: Scale,
    /// How often and in which order rows are learned from.
    pub epochs: Epochs,
    /// The settings that every learner has.
    pub shared: Shared,
}

/// Rows of a stream that are stored to compare others with, by default.
pub(super) const BUDGET: usize = 1000;

/// What a batch learner minimises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// The mean of a loss, plus a penalty.
    Loss(LossName),
    /// The exponential loss, one weight at a time (AdaBoost as coordinate descent).
    Boosting,
    /// The length of weights that give every row a margin of 1.
    MaxMargin,
    /// The mean of a user's own loss, plus a penalty: [`EmpiricalRisk`](crate::EmpiricalRisk).
    Custom(CustomLoss),
}

/// A loss that novikoff does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomLoss {
    /// Its name.
    pub name: &'static str,
    /// What targets are.
    pub targets: Targets,
}

impl Criterion {
    /// The loss, for the largest margin that of which it is the limit; `None` for a user's own.
    pub fn loss(self) -> Option<LossName> {
        match self {
            Criterion::Loss(loss) => Some(loss),
            Criterion::Boosting => Some(LossName::Exponential),
            Criterion::MaxMargin => Some(LossName::Hinge),
            Criterion::Custom(_) => None,
        }
    }

    /// What targets are.
    pub fn targets(self) -> Targets {
        match (self, self.loss()) {
            (Criterion::Custom(loss), _) => loss.targets,
            (_, Some(loss)) if loss.is_of_numbers() => Targets::Numbers,
            _ => Targets::Signs,
        }
    }

    /// The name of the learner.
    pub fn name(self) -> &'static str {
        match (self, self.named()) {
            (Criterion::Custom(loss), _) => loss.name,
            (_, Some(name)) => name.name(),
            (_, None) => "empirical-risk",
        }
    }

    fn named(self) -> Option<LearnerName> {
        Some(match self {
            Criterion::Custom(_) => return None,
            Criterion::Boosting => LearnerName::Boosting,
            Criterion::MaxMargin => LearnerName::MaxMargin,
            Criterion::Loss(LossName::Hinge) => LearnerName::Svm,
            Criterion::Loss(LossName::SquaredHinge) => LearnerName::SquaredSvm,
            Criterion::Loss(LossName::Logistic) => LearnerName::Logistic,
            Criterion::Loss(LossName::Exponential) => LearnerName::Exponential,
            Criterion::Loss(LossName::Squared) => LearnerName::LeastSquares,
            Criterion::Loss(LossName::Absolute) => LearnerName::LeastAbsolute,
            Criterion::Loss(LossName::Huber(_)) => LearnerName::Huber,
            Criterion::Loss(LossName::Quantile(_)) => LearnerName::Quantile,
            Criterion::Loss(LossName::HingeAtZero) => LearnerName::HingeAtZero,
        })
    }
}

/// The strength of the ℓ2 penalty `(λ/2)‖w‖²`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// λ itself.
    Lambda(f64),
    /// LIBLINEAR's and scikit-learn's C: `λ = 1/(C·n)`.
    Cost(f64),
}

/// The solvers, by the names that files and the command line give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SolverName {
    /// Whichever suits the loss and the shape of the data.
    #[default]
    Auto,
    /// Newton's method, for smooth losses.
    Newton,
    /// The augmented Lagrangian method, for losses with kinks.
    Augmented,
    /// Dual coordinate descent, for many sparse columns.
    DualCd,
    /// Coordinate descent on the weights, for an ℓ1 penalty.
    Coordinate,
    /// A rank-revealing factorisation, for the squared loss.
    LeastSquares,
    /// Gradient descent, with a schedule of step sizes.
    Gradient,
    /// Stochastic gradient descent, with a schedule of step sizes and mini-batches.
    Stochastic,
    /// One weight at a time, for the exponential loss.
    Boosting,
    /// Linear programming, for the absolute and the quantile loss without a penalty.
    Simplex,
}

impl SolverName {
    /// Every solver.
    pub const ALL: [SolverName; 9] = [
        SolverName::Newton,
        SolverName::Augmented,
        SolverName::DualCd,
        SolverName::Coordinate,
        SolverName::LeastSquares,
        SolverName::Gradient,
        SolverName::Stochastic,
        SolverName::Boosting,
        SolverName::Simplex,
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SolverName::Auto => "auto",
            SolverName::Newton => "newton",
            SolverName::Augmented => "augmented",
            SolverName::DualCd => "dual-cd",
            SolverName::Coordinate => "coordinate",
            SolverName::LeastSquares => "least-squares",
            SolverName::Gradient => "gradient",
            SolverName::Stochastic => "stochastic",
            SolverName::Boosting => "boosting",
            SolverName::Simplex => "simplex",
        }
    }
}

/// A batch learner: minimises `(1/n) Σ loss + (λ/2)‖w‖² + l1·‖w‖₁` over all rows, to a duality gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// What is minimised.
    pub criterion: Criterion,
    /// The strength of `½‖w‖²`; `None`: a cost of 1; nothing for boosting, for losses of numbers (where there
    /// is a solver without it), and where there is an ℓ1 penalty.
    pub strength: Option<Strength>,
    /// The factor of `‖w‖₁`.
    pub l1: f64,
    /// Whether the score has a constant term, and whether the penalty applies to it.
    pub bias: Bias,
    /// The method.
    pub solver: SolverName,
    /// The relative duality gap to reach.
    pub tolerance: f64,
    /// Most steps of the solver; `None`: more than it usually needs.
    pub steps: Option<usize>,
    /// How columns are brought to one size before the loss is minimised; [`Scale::None`] minimises the
    /// objective of the rows as they are.
    pub scale: Scale,
    /// Gradient solvers: how long their steps are; `None`: backtracking, or for stochastic ones 1/t.
    pub schedule: Option<Schedule>,
    /// Gradient solvers: what the schedule is a multiple of; `None`: what suits the rows.
    pub step: Option<f64>,
    /// The stochastic gradient: rows of a step.
    pub batch: usize,
    /// Whether every step of the solver is recorded.
    pub trace: bool,
    /// The settings that every learner has.
    pub shared: Shared,
}

impl Risk {
    /// The default settings for what is minimised. The largest margin is one of the rows as they are; all
    /// other criteria are minimised with columns of one size.
    pub fn new(criterion: Criterion) -> Self {
        Self {
            criterion,
            strength: None,
            l1: 0.0,
            bias: Bias::Free,
            solver: SolverName::Auto,
            tolerance: 1e-4,
            steps: None,
            scale: if criterion == Criterion::MaxMargin { Scale::None } else { Scale::Standard },
            schedule: None,
            step: None,
            batch: 1,
            trace: false,
            shared: Shared::default(),
        }
    }

    /// The default settings for a loss.
    pub fn of(loss: LossName) -> Self {
        Self::new(Criterion::Loss(loss))
    }

    /// Whether, for rows of so many columns, a direct method minimises the loss alone: the minimum is the same
    /// whatever the columns' sizes, so that a scale makes no difference.
    pub fn is_direct(&self, columns: usize) -> bool {
        // How many columns a map makes is not known here.
        let columns = if self.shared.map.is_some() { usize::MAX } else { columns };
        let Criterion::Loss(loss) = self.criterion else { return false };
        super::risk::is_direct(loss, columns, self)
    }

    pub(super) fn gradient(&self) -> GradientDescent {
        let usual = GradientDescent::default();
        GradientDescent {
            schedule: self.schedule.unwrap_or(usual.schedule),
            step: self.step.unwrap_or(usual.step),
        }
    }

    pub(super) fn stochastic(&self) -> StochasticGradient {
        let usual = StochasticGradient::default();
        StochasticGradient {
            batch: self.batch,
            schedule: self.schedule.unwrap_or(usual.schedule),
            step: self.step,
            ..usual
        }
    }
}

/// Naive Bayes: class priors and likelihoods of features, by counts.
///
/// ```
/// use novikoff::{Dataset, NaiveBayes};
///
/// let data = Dataset::from_dense(&[3.0, 0.0, 2.0, 1.0, 0.0, 4.0], 2)?.with_labels(&["a", "a", "b"])?;
/// let fit = NaiveBayes::new().smoothing(0.5).fit(&data)?;
/// let probabilities = fit.model.probabilities(&data)?;
/// assert!(probabilities[0][0] > 0.9 && probabilities[2][1] > 0.9);
/// # Ok::<(), novikoff::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBayes {
    /// The distribution of a row's features, given its class.
    pub likelihood: Likelihood,
    /// What is added to every count; positive.
    pub smoothing: f64,
    /// The distribution of classes.
    pub priors: Priors,
    /// The settings that every learner has.
    pub shared: Shared,
}

/// A multilayer perceptron with one hidden layer, trained by mini-batches and Adam.
#[derive(Clone, Debug, PartialEq)]
pub struct MultilayerPerceptron {
    /// Hidden units.
    pub units: usize,
    /// What hidden units make of their sums.
    pub activation: Activation,
    /// The loss: of classes, or of numbers.
    pub loss: LossName,
    /// The strength of `½‖w‖²`; `None`: no penalty.
    pub strength: Option<Strength>,
    /// Rows of a step; `None`: 128, and fewer where rows are few.
    pub batch: Option<usize>,
    /// The length of Adam's steps in the first epoch.
    pub step: f64,
    /// How columns are brought to one size.
    pub scale: Scale,
    /// Whether scores and hidden units have constant terms.
    pub bias: Bias,
    /// How often and in which order rows are learned from.
    pub epochs: Epochs,
    /// The settings that every learner has.
    pub shared: Shared,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_is_found_by_its_name() {
        let of_a_kind = [&LearnerName::ONLINE[..], &LearnerName::BATCH, &LearnerName::REGRESSION].concat();
        let all = [of_a_kind, vec![LearnerName::Bayes, LearnerName::Network]].concat();
        assert_eq!(all.len(), LearnerName::ALL.len());
        for name in all {
            let found: Vec<_> = LearnerName::ALL.into_iter().filter(|it| it.name() == name.name()).collect();
            assert_eq!(found, [name]);
            assert_eq!((name.learner().named(), name.learner().name()), (Some(name), name.name()));
        }
    }
}
