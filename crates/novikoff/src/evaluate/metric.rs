//! A single figure to choose models by.

use super::Evaluation;
use crate::error::{Error, Result};
use crate::loss::LossName;
use crate::model::Task;

/// What models are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Metric {
    /// The share of rows predicted wrongly.
    Error,
    /// Two classes: the area under the ROC curve.
    Auc,
    /// The mean of −ln p of the rows' own labels, for learners with probabilities.
    LogLoss,
    /// F1 of the positive one of two classes; of more classes the mean of each one's.
    F1,
    /// Numbers: R², the share of the variance explained.
    R2,
    /// Numbers: the mean absolute error.
    Mae,
    /// Numbers: the mean squared error.
    Mse,
    /// Numbers: the mean pinball loss, for learners of a quantile.
    Pinball,
    /// Numbers: the mean of Huber's loss, for learners that minimise it.
    Huber,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 9] = [
        Metric::Error,
        Metric::Auc,
        Metric::LogLoss,
        Metric::F1,
        Metric::R2,
        Metric::Mae,
        Metric::Mse,
        Metric::Pinball,
        Metric::Huber,
    ];

    /// The figure that a loss of numbers is about, or the share of wrong labels for the others.
    pub fn usual(loss: Option<LossName>) -> Self {
        match loss {
            Some(LossName::Absolute) => Metric::Mae,
            Some(LossName::Quantile(_)) => Metric::Pinball,
            Some(LossName::Huber(_)) => Metric::Huber,
            Some(LossName::Squared) => Metric::Mse,
            _ => Metric::Error,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Error => "error",
            Metric::Auc => "auc",
            Metric::LogLoss => "log-loss",
            Metric::F1 => "f1",
            Metric::R2 => "r2",
            Metric::Mae => "mae",
            Metric::Mse => "mse",
            Metric::Pinball => "pinball",
            Metric::Huber => "huber",
        }
    }

    /// What is evaluated by it.
    pub fn task(self) -> Task {
        match self {
            Metric::Error | Metric::Auc | Metric::LogLoss | Metric::F1 => Task::Classes,
            Metric::R2 | Metric::Mae | Metric::Mse | Metric::Pinball | Metric::Huber => Task::Regression,
        }
    }

    /// What to minimise: the figure, or its negative where more is better.
    pub fn loss(self, figure: f64) -> f64 {
        match self {
            Metric::Auc | Metric::F1 | Metric::R2 => -figure,
            _ => figure,
        }
    }

    /// The figure of an evaluation. `None` where it is undefined, as the area under the curve is where only
    /// one class occurs.
    ///
    /// ```
    /// use novikoff::evaluate::{Evaluation, Metric, Regression};
    /// let measured = Evaluation::Numbers(Regression::of(&[1.0, 5.0], &[3.0, 3.0]));
    /// assert_eq!((Metric::Mae.of(&measured), Metric::Mse.of(&measured)), (Some(2.0), Some(4.0)));
    /// assert_eq!(Metric::Auc.of(&measured), None);
    /// ```
    pub fn of(self, measured: &Evaluation) -> Option<f64> {
        match (self, measured) {
            (Metric::Error, Evaluation::Classes(it)) => Some(it.error()),
            (Metric::Auc, Evaluation::Classes(it)) => it.auc,
            (Metric::LogLoss, Evaluation::Classes(it)) => it.log_loss,
            (Metric::F1, Evaluation::Classes(it)) => it.f1(),
            (Metric::R2, Evaluation::Numbers(it)) => it.r2,
            (Metric::Mae, Evaluation::Numbers(it)) => Some(it.mae),
            (Metric::Mse, Evaluation::Numbers(it)) => Some(it.rmse * it.rmse),
            (Metric::Pinball | Metric::Huber, Evaluation::Numbers(it)) => {
                it.mean_loss.filter(|it| Metric::usual(Some(it.loss)) == self).map(|it| it.mean)
            }
            _ => None,
        }
    }

    /// Refuses to measure classes by what is of numbers, and the other way round; and what two classes are
    /// needed for.
    pub fn check(self, task: Task, classes: usize) -> Result<()> {
        if self.task() != task {
            let (what, instead) = match task {
                Task::Classes => ("numbers to predict, and these are classes", "error, auc, log-loss or f1"),
                Task::Regression => ("classes, and these are numbers to predict", "r2, mae or mse"),
            };
            let error = Error::usage(format!("`by = {}` is for {what}", self.name()));
            return Err(error.hint(format!("use `by = {instead}`")));
        }
        if self == Metric::Auc && classes > 2 {
            let what = format!("`by = auc` is for two classes, and there are {classes}");
            return Err(Error::usage(what).hint("use `by = error`, log-loss or f1"));
        }
        Ok(())
    }
}
