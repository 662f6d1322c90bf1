//! The voted perceptron (Freund and Schapire 1999, figure 1): every weight vector of a run votes, with as
//! many votes as the rounds it survived.
//!
//! The vectors are not stored. Each is the one before it plus a multiple of a mistake's row, so one sweep
//! over the mistakes computes all scores of a row `x`: `s ← s + step·(K(xᵢ, x) + bias²)`, counting votes
//! after each.

use crate::data::{Matrix, Row};
use crate::kernel::{self, Kernel, Precision, Tile};
use crate::multiclass::{Scheme, best_of};

/// Marks an update that is subtracted from no output.
pub const NOBODY: u32 = u32::MAX;

/// One update of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mistake {
    /// The row it was made on.
    pub row: u32,
    /// The output that the row was added to.
    pub gains: u32,
    /// The output that the row was subtracted from, or [`NOBODY`].
    pub loses: u32,
    /// The multiple of the row that was added; negative for rows of the negative class.
    pub step: f64,
    /// Rounds before the mistake: from here on the new vector votes.
    pub round: f64,
}

impl Mistake {
    /// The outputs that the update changed, and by what multiple of the row.
    pub fn steps(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        let loser = (self.loses != NOBODY).then_some((self.loses as usize, -self.step));
        [(self.gains as usize, self.step)].into_iter().chain(loser)
    }
}

/// A run's mistakes, with their rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Voted {
    /// Two classes, joint, or one against the rest.
    pub scheme: Scheme,
    /// Number of classes.
    pub classes: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// The precision of dot products.
    pub precision: Precision,
    /// The value of the bias's coordinate: 1 or 0.
    pub bias: f64,
    /// The rows of the mistakes, each once.
    pub rows: Matrix<'static>,
    /// The mistakes in order; `row` is an index into `rows`.
    pub mistakes: Vec<Mistake>,
    /// Rounds in all.
    pub rounds: f64,
}

impl Voted {
    /// Votes per row scored: one, or one a class.
    pub fn outputs(&self) -> usize {
        self.scheme.outputs(self.classes)
    }

    /// Multiplications and additions that scoring one row takes, about.
    pub fn cost(&self) -> usize {
        self.mistakes.len() * (self.rows.stored() / self.rows.rows().max(1) + self.outputs())
    }

    /// A bound, by Cauchy and Schwarz, on every vector's score of a row of a mistake; infinite if partial
    /// sums overflow.
    pub(crate) fn largest_score(&self) -> f64 {
        let length = |norm_sq: &f64| (self.kernel.largest(*norm_sq) + self.bias * self.bias).sqrt();
        let lengths: Vec<f64> = kernel::norms_sq(&self.rows).iter().map(length).collect();
        let radius = lengths.iter().copied().fold(0.0, f64::max);
        self.mistakes.iter().map(|mistake| mistake.step.abs() * lengths[mistake.row as usize] * radius).sum()
    }

    /// Scores as many rows as a tile holds: votes for less votes against, as a share of all rounds (for joint
    /// classes the votes for each class).
    pub fn score(&self, rows: &[Row<'_>], tile: &mut Tile, scores: &mut [f64]) {
        let mut sweep = Sweep::new(self.scheme, self.outputs(), rows.len());
        tile.load(rows, self.rows.columns());
        let mut last = u32::MAX;
        let mut kernels = vec![0.0; rows.len()];
        for mistake in &self.mistakes {
            if mistake.row != last {
                let row = self.rows.row(mistake.row as usize);
                kernels.copy_from_slice(tile.compare(row, row.norm_sq()));
                kernels.iter_mut().for_each(|kernel| *kernel += self.bias * self.bias);
                last = mistake.row;
            }
            sweep.mistake(mistake, &kernels);
        }
        sweep.finish(self.rounds, scores);
    }
}

/// The votes on some rows during the sweep. For every output, all rows are side by side.
#[derive(Debug)]
struct Sweep {
    scheme: Scheme,
    outputs: usize,
    rows: usize,
    /// The scores of the current vector.
    scores: Vec<f64>,
    votes: Vec<f64>,
    /// The round since which the current vector votes: per output for one-vs-rest, else one.
    since: Vec<f64>,
}

impl Sweep {
    fn new(scheme: Scheme, outputs: usize, rows: usize) -> Self {
        let zeros = vec![0.0; rows * outputs];
        Self { scheme, outputs, rows, scores: zeros.clone(), votes: zeros, since: vec![0.0; outputs] }
    }

    fn mistake(&mut self, mistake: &Mistake, kernels: &[f64]) {
        self.vote(mistake.gains as usize, mistake.round);
        for (output, step) in mistake.steps() {
            add(&mut self.scores[output * self.rows..], step, kernels);
        }
    }

    /// Counts the votes of the vector that ends at `round`.
    fn vote(&mut self, output: usize, round: f64) {
        let clock = if self.scheme == Scheme::OneVsRest { output } else { 0 };
        let survived = round - self.since[clock];
        self.since[clock] = round;
        if survived == 0.0 {
            return;
        }
        if self.scheme == Scheme::Joint {
            for row in 0..self.rows {
                let best = best_of(self.scores[row..].iter().step_by(self.rows).take(self.outputs).copied());
                self.votes[best * self.rows + row] += survived;
            }
            return;
        }
        let own = output * self.rows..(output + 1) * self.rows;
        for (vote, score) in self.votes[own.clone()].iter_mut().zip(&self.scores[own]) {
            *vote += if *score >= 0.0 { survived } else { -survived };
        }
    }

    fn finish(mut self, rounds: f64, scores: &mut [f64]) {
        let clocks = if self.scheme == Scheme::OneVsRest { self.outputs } else { 1 };
        for output in 0..clocks {
            self.vote(output, rounds);
        }
        for (row, scores) in scores.chunks_exact_mut(self.outputs).enumerate() {
            for (output, score) in scores.iter_mut().enumerate() {
                *score = self.votes[output * self.rows + row] / rounds.max(f64::MIN_POSITIVE);
            }
        }
    }
}

/// `to ← to + scale·from`.
pub(super) fn add(to: &mut [f64], scale: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += scale * from;
    }
}
