//! What a training came to: the fit, what it took, and the rows at hand when it is done.

use crate::render::dimensions;
use novikoff::control::{Progress, Termination};
use novikoff::data::{Dataset, Report};
use novikoff::evaluate::{Evaluation, Regression, evaluate};
use novikoff::train::{Details, Fit, InferredTask};
use std::collections::BTreeMap;

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
    /// Of a model of numbers: how it does on the rows that it was learned from.
    pub train: Option<Regression>,
    pub test: Option<Evaluation>,
    /// Where the certificate was written.
    pub certificate: Option<String>,
    /// How the intervals around the largest margins closed, where those were looked for.
    pub closing: Closing,
}

impl Outcome {
    /// What is known of a training when it ends, and of its rows by their reader.
    pub fn new(fit: Fit, report: &Report) -> Self {
        Self {
            fit,
            dimensions: None,
            nonzeros: None,
            remarks: report.remarks.clone(),
            guessed_label: report.guessed_label.clone(),
            task: None,
            read_seconds: 0.0,
            train_seconds: 0.0,
            doublings: Vec::new(),
            train: None,
            test: None,
            certificate: None,
            closing: Closing::default(),
        }
    }

    /// The same of a training on rows in memory.
    pub fn in_memory(fit: Fit, data: &Dataset, task: Option<InferredTask>) -> Self {
        let train = on_own_rows(&fit, data);
        Self {
            dimensions: Some(dimensions(data)),
            nonzeros: Some(data.rows.nonzeros() as u64),
            task,
            train,
            ..Self::new(fit, &data.report)
        }
    }
}

/// How a model of numbers does on the rows that it was learned from.
fn on_own_rows(fit: &Fit, data: &Dataset) -> Option<Regression> {
    match &fit.details {
        Details::Risk(risk) => risk.regression,
        _ if fit.termination == Termination::Interrupted => None,
        Details::Network(_) if fit.learner.predicts_numbers() => match evaluate(&fit.model, data) {
            Ok(Evaluation::Numbers(measured)) => Some(measured),
            _ => None,
        },
        _ => None,
    }
}

/// The rows at hand when all is done, for pictures; streams have none.
#[derive(Default)]
pub struct Rows {
    pub data: Option<Dataset<'static>>,
    pub validation: Option<Dataset<'static>>,
    pub test: Option<Dataset<'static>>,
}

/// How the intervals around margins closed, one for each weight vector: several are under way at once, and
/// tell of their rounds in any order.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    outputs: BTreeMap<usize, Rounds>,
}

/// The rounds of one weight vector: how many so far, and the ends of its interval.
#[derive(Clone, Debug, Default)]
struct Rounds {
    steps: Vec<(usize, f64, f64)>,
    /// Rounds of the solvers that came before the one under way, each of which counts from 0.
    before: usize,
    last: usize,
}

impl Rounds {
    fn note(&mut self, round: usize, lower: f64, upper: f64) {
        if round < self.last {
            self.before += self.last;
        }
        self.last = round;
        if upper.is_finite() {
            self.steps.push((self.before + round, lower.max(0.0), upper));
        }
    }

    fn upper(&self) -> f64 {
        self.steps.last().map_or(f64::INFINITY, |step| step.2)
    }
}

impl Closing {
    /// Notes what a solver tells of its interval.
    pub fn note(&mut self, progress: Progress) {
        let Progress::Margin { output, round, lower, upper } = progress else { return };
        self.outputs.entry(output).or_default().note(round, lower, upper);
    }

    /// The rounds of the weight vector with the least margin; of equal ones, those of the first.
    pub fn steps(&self) -> &[(usize, f64, f64)] {
        let hardest = self.outputs.values().min_by(|a, b| a.upper().total_cmp(&b.upper()));
        hardest.map_or(&[], |rounds| &rounds.steps)
    }

    /// The same with its end, as it was proved. Lower ends never fall and upper ends never rise: each is the
    /// best so far.
    pub fn until(mut self, rounds: usize, (lower, upper): (f64, f64)) -> Self {
        let steps = &mut self.outputs.entry(0).or_default().steps;
        if upper.is_finite() {
            let last = steps.last().map_or(0, |step| step.0);
            steps.push((rounds.max(last), lower.max(0.0), upper));
        }
        for at in 1..steps.len() {
            let (_, low, high) = steps[at - 1];
            let step = &mut steps[at];
            (step.1, step.2) = (step.1.max(low), step.2.min(high));
        }
        self
    }

    /// How many weight vectors there are.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_told_in_another_order_are_the_same_rounds() {
        let told = |output, round, upper| Progress::Margin { output, round, lower: -1.0, upper };
        let note = |all: &[Progress]| {
            let mut closing = Closing::default();
            all.iter().for_each(|progress| closing.note(*progress));
            closing.steps().to_vec()
        };
        let one = note(&[told(0, 1, 3.0), told(0, 2, 2.0), told(1, 1, 4.0), told(1, 2, 1.0)]);
        let other = note(&[told(1, 1, 4.0), told(0, 1, 3.0), told(1, 2, 1.0), told(0, 2, 2.0)]);
        assert_eq!(one, other);
        assert_eq!(one, [(1, 0.0, 4.0), (2, 0.0, 1.0)]);
    }
}
