//! The table of every learner, batch and online, with its kernels and maps. Checks that hold for all of them
//! take their cases from here, so that settings are written in one place.

use super::cases::{counts, dataset, separable};
use crate::with::{Own, With};
use novikoff::control::{Observer, Unwatched};
use novikoff::data::Dataset;
use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::random::Random;
use novikoff::train::{Fit, Learner, LearnerName, train};

/// What a learner predicts, and from what.
#[derive(Clone, Copy, PartialEq)]
pub enum Task {
    /// One of so many classes, from separable rows.
    Classes(usize),
    /// One of so many classes, from counts.
    Counts(usize),
    /// A number.
    Numbers,
}

/// A learner in one form, with the reasons why some checks do not apply to it.
pub struct Conforming {
    pub name: String,
    pub task: Task,
    /// Why a row of weight 2 is not the row twice.
    pub weight_skip: Option<&'static str>,
    /// Why a column of zeros changes the model.
    pub zero_column_skip: Option<&'static str>,
    settings: Learner,
}

const ORDER: &str = "its steps depend on the order of rows";

impl Conforming {
    fn new(learner: LearnerName, task: Task, change: impl FnOnce(Learner) -> Learner) -> Self {
        let settings = change(learner.learner().with_epochs(20)).with(|learner| match learner {
            Learner::Risk(own) => own.tolerance = 1e-8,
            Learner::Network(own) => own.units = 6,
            Learner::Perceptron(_) | Learner::PassiveAggressive(_) | Learner::Bayes(_) => {}
        });
        let steps_by_row = learner.loss().is_none() && learner != LearnerName::Bayes;
        let zero_column_skip = match (learner, settings.shared().map) {
            (LearnerName::Bayes, _) => Some("smoothing gives every column a share"),
            (_, Some(Map::Fourier { .. })) => Some("the directions are drawn for the number of columns"),
            _ => None,
        };
        let classes = match task {
            Task::Classes(classes) | Task::Counts(classes) => format!("{classes} classes"),
            Task::Numbers => "numbers".to_owned(),
        };
        let (kernel, map) = (settings.kernel(), settings.shared().map);
        let name = format!("{} of {classes}, kernel {kernel}, map {map:?}", learner.name());
        Self { name, task, weight_skip: steps_by_row.then_some(ORDER), zero_column_skip, settings }
    }

    pub fn learner(&self) -> &'static str {
        self.settings.name()
    }

    pub fn with_seed(&self, seed: u64) -> Self {
        let settings = self.settings.clone().with_seed(seed);
        Self { name: self.name.clone(), settings, ..*self }
    }

    pub fn attempt(&self, data: &Dataset, observer: &mut dyn Observer) -> novikoff::Result<Fit> {
        train(data, None, &self.settings, observer)
    }

    /// The same with rows that are held back.
    pub fn validated(
        &self,
        data: &Dataset,
        held_out: &Dataset,
        observer: &mut dyn Observer,
    ) -> novikoff::Result<Fit> {
        train(data, Some(held_out), &self.settings, observer)
    }

    pub fn fit(&self, data: &Dataset) -> Fit {
        self.attempt(data, &mut Unwatched).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// Rows from which it can learn.
    pub fn rows(&self, rows: usize, seed: u64) -> Dataset<'static> {
        match self.task {
            Task::Classes(classes) => separable(classes, rows, seed),
            Task::Counts(classes) => counts(classes, rows, seed),
            Task::Numbers => numbers(rows, seed),
        }
    }

    pub fn predicts_classes(&self) -> bool {
        self.task != Task::Numbers
    }
}

/// Rows with a noisy linear function of their values as targets.
fn numbers(rows: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let values: Vec<Vec<f64>> = (0..rows).map(|_| (0..4).map(|_| random.normal()).collect()).collect();
    let target = |row: &Vec<f64>| 3.0 + row[0] - 2.0 * row[1] + 0.1 * random.normal();
    let targets: Vec<String> = values.iter().map(target).map(|y| y.to_string()).collect();
    dataset(&values, &targets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Every learner, by name. A new learner does not compile without a line here.
pub fn is_listed(learner: LearnerName) -> bool {
    match learner {
        LearnerName::Perceptron
        | LearnerName::Averaged
        | LearnerName::Voted
        | LearnerName::PassiveAggressive
        | LearnerName::Svm
        | LearnerName::SquaredSvm
        | LearnerName::Logistic
        | LearnerName::Exponential
        | LearnerName::LeastSquares
        | LearnerName::LeastAbsolute
        | LearnerName::Huber
        | LearnerName::Quantile
        | LearnerName::Boosting
        | LearnerName::MaxMargin
        | LearnerName::HingeAtZero
        | LearnerName::Bayes
        | LearnerName::Network => true,
    }
}

pub const EVERY_LEARNER: usize = 17;

pub fn every_learner() -> Vec<Conforming> {
    let mut all = Vec::new();
    for learner in LearnerName::ONLINE {
        for classes in [2, 3] {
            all.push(Conforming::new(learner, Task::Classes(classes), |s| s));
            all.push(Conforming::new(learner, Task::Classes(classes), |s| {
                s.with_kernel(Kernel::Polynomial(2))
            }));
        }
        all.push(Conforming::new(learner, Task::Classes(2), |s| s.with_kernel(Kernel::Rbf(0.5))));
    }
    for learner in LearnerName::BATCH.into_iter().chain([LearnerName::Network]) {
        all.push(Conforming::new(learner, Task::Classes(2), |s| s));
        if learner != LearnerName::MaxMargin {
            all.push(Conforming::new(learner, Task::Classes(3), |s| s));
        }
    }
    for learner in LearnerName::REGRESSION {
        all.push(Conforming::new(learner, Task::Numbers, |s| s));
    }
    all.extend([2, 3].map(|classes| Conforming::new(LearnerName::Bayes, Task::Counts(classes), |s| s)));
    for learner in [LearnerName::Averaged, LearnerName::Svm, LearnerName::Logistic] {
        for map in [Map::Poly { degree: 2 }, Map::Fourier { count: 16, gamma: 0.5, seed: 1 }] {
            all.push(Conforming::new(learner, Task::Classes(2), |s| s.with_map(Some(map))));
        }
    }
    all
}
