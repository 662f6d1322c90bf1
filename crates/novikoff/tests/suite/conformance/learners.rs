//! The table of every learner, batch and online, with its kernels and maps. Checks that hold for all of them
//! take their cases from here, so that settings are written in one place.

use super::cases::{counts, dataset, separable};
use novikoff::control::{Observer, Unwatched};
use novikoff::data::Dataset;
use novikoff::features::map::Map;
use novikoff::kernel::Kernel;
use novikoff::random::Random;
use novikoff::train::{Fit, Learner, Settings, train};

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
    settings: Settings,
}

const ORDER: &str = "its steps depend on the order of rows";

impl Conforming {
    fn new(learner: Learner, task: Task, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings { learner, epochs: 20, ..Settings::default() };
        settings.risk.tolerance = 1e-8;
        settings.network.units = 6;
        change(&mut settings);
        let steps_by_row = learner.loss().is_none() && learner != Learner::Bayes;
        let zero_column_skip = match (learner, settings.map) {
            (Learner::Bayes, _) => Some("smoothing gives every column a share"),
            (_, Some(Map::Fourier { .. })) => Some("the directions are drawn for the number of columns"),
            _ => None,
        };
        let classes = match task {
            Task::Classes(classes) | Task::Counts(classes) => format!("{classes} classes"),
            Task::Numbers => "numbers".to_owned(),
        };
        let (kernel, map) = (settings.kernel, settings.map);
        let name = format!("{} of {classes}, kernel {kernel}, map {map:?}", learner.name());
        Self { name, task, weight_skip: steps_by_row.then_some(ORDER), zero_column_skip, settings }
    }

    pub fn learner(&self) -> &'static str {
        self.settings.learner.name()
    }

    pub fn with_seed(&self, seed: u64) -> Self {
        let settings = Settings { seed, ..self.settings.clone() };
        Self { name: self.name.clone(), settings, ..*self }
    }

    pub fn attempt(&self, data: &Dataset, observer: &mut dyn Observer) -> novikoff::Result<Fit> {
        train(data, None, &self.settings, observer)
    }

    pub fn fit(&self, data: &Dataset) -> Fit {
        self.attempt(data, &mut Unwatched).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// Rows from which it can learn.
    pub fn rows(&self, rows: usize, seed: u64) -> Dataset {
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
fn numbers(rows: usize, seed: u64) -> Dataset {
    let mut random = Random::new(seed);
    let values: Vec<Vec<f64>> = (0..rows).map(|_| (0..4).map(|_| random.normal()).collect()).collect();
    let target = |row: &Vec<f64>| 3.0 + row[0] - 2.0 * row[1] + 0.1 * random.normal();
    let targets: Vec<String> = values.iter().map(target).map(|y| y.to_string()).collect();
    dataset(&values, &targets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Every learner, by name. A new learner does not compile without a line here.
pub fn is_listed(learner: Learner) -> bool {
    match learner {
        Learner::Perceptron
        | Learner::Averaged
        | Learner::Voted
        | Learner::PassiveAggressive
        | Learner::Svm
        | Learner::SquaredSvm
        | Learner::Logistic
        | Learner::Exponential
        | Learner::LeastSquares
        | Learner::LeastAbsolute
        | Learner::Boosting
        | Learner::MaxMargin
        | Learner::HingeAtZero
        | Learner::Bayes
        | Learner::Network => true,
    }
}

pub const EVERY_LEARNER: usize = 15;

pub fn every_learner() -> Vec<Conforming> {
    let mut all = Vec::new();
    for learner in Learner::ONLINE {
        for classes in [2, 3] {
            all.push(Conforming::new(learner, Task::Classes(classes), |_| {}));
            all.push(Conforming::new(learner, Task::Classes(classes), |s| s.kernel = Kernel::Polynomial(2)));
        }
        all.push(Conforming::new(learner, Task::Classes(2), |s| s.kernel = Kernel::Rbf(0.5)));
    }
    for learner in Learner::BATCH.into_iter().chain([Learner::Network]) {
        all.push(Conforming::new(learner, Task::Classes(2), |_| {}));
        if learner != Learner::MaxMargin {
            all.push(Conforming::new(learner, Task::Classes(3), |_| {}));
        }
    }
    for learner in [Learner::LeastSquares, Learner::LeastAbsolute] {
        all.push(Conforming::new(learner, Task::Numbers, |_| {}));
    }
    all.extend([2, 3].map(|classes| Conforming::new(Learner::Bayes, Task::Counts(classes), |_| {})));
    for learner in [Learner::Averaged, Learner::Svm, Learner::Logistic] {
        for map in [Map::Poly { degree: 2 }, Map::Fourier { count: 16, gamma: 0.5, seed: 1 }] {
            all.push(Conforming::new(learner, Task::Classes(2), |s| s.map = Some(map)));
        }
    }
    all
}
