//! What a training came to: the fit, what it took, and the rows at hand when it is done.

use novikoff::control::Progress;
use novikoff::data::Dataset;
use novikoff::evaluate::Evaluation;
use novikoff::train::{Fit, InferredTask};

/// What was learned, and what it took.
pub struct Outcome {
    pub fit: Fit,
    /// Rows in memory; streams have none.
    pub dimensions: Option<String>,
    pub nonzeros: Option<u64>,
    pub remarks: Vec<String>,
    /// The label's column, where it was found by its name alone.
    pub guessed_label: Option<String>,
    /// What the labels are, where that decided what was learned.
    pub task: Option<InferredTask>,
    pub read_seconds: f64,
    pub train_seconds: f64,
    /// Of a stream: rows, wrong predictions and mistakes whenever the number of rows had doubled.
    pub doublings: Vec<(u64, u64, u64)>,
    pub test: Option<Evaluation>,
    /// Where the certificate was written.
    pub certificate: Option<String>,
    /// How the interval around the largest margin closed, where that was looked for.
    pub closing: Closing,
}

/// The rows at hand when all is done, for pictures; streams have none.
#[derive(Default)]
pub struct Rows {
    pub data: Option<Dataset<'static>>,
    pub validation: Option<Dataset<'static>>,
    pub test: Option<Dataset<'static>>,
}

/// How the interval around a margin closed: rounds so far, and its ends.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    pub steps: Vec<(usize, f64, f64)>,
    /// Rounds of the solvers that came before the one under way, each of which counts from 0.
    before: usize,
    last: usize,
}

impl Closing {
    /// Notes what a solver tells of its interval.
    pub fn note(&mut self, progress: Progress) {
        let Progress::Margin { round, lower, upper } = progress else { return };
        if round < self.last {
            self.before += self.last;
        }
        self.last = round;
        if upper.is_finite() {
            self.steps.push((self.before + round, lower.max(0.0), upper));
        }
    }

    /// The same with its end, as it was proved. Lower ends never fall and upper ends never rise: each is the
    /// best so far.
    pub fn until(mut self, rounds: usize, (lower, upper): (f64, f64)) -> Self {
        if upper.is_finite() {
            let last = self.steps.last().map_or(0, |step| step.0);
            self.steps.push((rounds.max(last), lower.max(0.0), upper));
        }
        for at in 1..self.steps.len() {
            let (_, low, high) = self.steps[at - 1];
            let step = &mut self.steps[at];
            (step.1, step.2) = (step.1.max(low), step.2.min(high));
        }
        self
    }
}
