//! The voted perceptron: all weight vectors of a run vote, each as often as the rounds it survived.
//!
//! Vectors are never stored. Each is the one before it plus one mistake's row, so the scores of all of them on a row `x`
//! come out of one sweep over the mistakes: `s ← s + step·(<xᵢ, x> + bias²)`, and after each the vote is counted.

use crate::data::{Matrix, Row};
use crate::multiclass::{Scheme, best_except};

/// Marks that no output loses by an update.
pub const NOBODY: u32 = u32::MAX;

/// One update of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mistake {
    /// The row it was made on.
    pub row: u32,
    /// The output that the row was added to.
    pub gains: u32,
    /// The output that it was taken from, or [`NOBODY`].
    pub loses: u32,
    /// How much of the row was added; negative for rows of the negative class.
    pub step: f64,
    /// Rounds before it: from here on the new vector votes.
    pub round: f64,
}

/// A run's mistakes, with their rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Voted {
    /// Two classes, joint, or one against the rest.
    pub scheme: Scheme,
    /// Number of classes.
    pub classes: usize,
    /// The value of the bias's coordinate: 1 or 0.
    pub bias: f64,
    /// The rows of the mistakes, each once.
    pub rows: Matrix,
    /// The mistakes in order; `row` counts in `rows`.
    pub mistakes: Vec<Mistake>,
    /// Rounds in all.
    pub rounds: f64,
}

/// Rows that are scored together: one pass over the mistakes serves all of them.
pub const TILE: usize = 32;

impl Voted {
    /// The run's first mistakes, up to `rounds`, with their rows out of `rows`.
    pub fn new(scheme: Scheme, classes: usize, bias: f64, rows: &Matrix, journal: &[Mistake], rounds: f64) -> Self {
        let mut slots = vec![u32::MAX; rows.rows()];
        let mut kept = Vec::new();
        let mistakes = journal
            .iter()
            .map(|mistake| {
                let slot = &mut slots[mistake.row as usize];
                if *slot == u32::MAX {
                    *slot = kept.len() as u32;
                    kept.push(mistake.row as usize);
                }
                Mistake { row: *slot, ..*mistake }
            })
            .collect();
        Self { scheme, classes, bias, rows: rows.select(kept), mistakes, rounds }
    }

    /// Votes per row scored: one, or one a class.
    pub fn outputs(&self) -> usize {
        self.scheme.outputs(self.classes)
    }

    /// Multiplications and additions that scoring one row takes, about.
    pub fn cost(&self) -> usize {
        self.mistakes.len() * (self.rows.stored() / self.rows.rows().max(1) + self.outputs())
    }

    /// No vector's score of a row that was a mistake is larger, by Cauchy and Schwarz; infinite if sums on the way are.
    pub fn largest_score(&self) -> f64 {
        let norm = |row: usize| (self.rows.row(row).norm_sq() + self.bias * self.bias).sqrt();
        let norms: Vec<f64> = (0..self.rows.rows()).map(norm).collect();
        let radius = norms.iter().copied().fold(0.0, f64::max);
        self.mistakes.iter().map(|mistake| mistake.step.abs() * norms[mistake.row as usize] * radius).sum()
    }

    /// Scores up to [`TILE`] rows: votes for less votes against, as a share of all rounds (for joint classes the votes for
    /// each class).
    pub fn score(&self, rows: &[Row<'_>], scratch: &mut Tile, scores: &mut [f64]) {
        let mut sweep = Sweep::new(self.scheme, self.outputs(), rows.len());
        scratch.load(rows, self.rows.columns());
        self.advance(&mut sweep, &self.mistakes, scratch);
        sweep.finish(self.rounds, scores);
    }

    fn advance(&self, sweep: &mut Sweep, mistakes: &[Mistake], tile: &mut Tile) {
        let mut last = u32::MAX;
        for mistake in mistakes {
            if mistake.row != last {
                tile.dot(self.rows.row(mistake.row as usize), self.bias * self.bias);
                last = mistake.row;
            }
            sweep.mistake(mistake, &tile.dots);
        }
    }
}

/// Rows turned on their side: for every feature that one of them has, its values in all of them.
#[derive(Debug, Default)]
pub struct Tile {
    /// Where a feature's values start in `values`, by feature; `NONE` if no row has it.
    slots: Vec<u32>,
    features: Vec<u32>,
    values: Vec<f64>,
    dots: [f64; TILE],
}

const NONE: u32 = u32::MAX;

impl Tile {
    fn load(&mut self, rows: &[Row<'_>], columns: usize) {
        for feature in self.features.drain(..) {
            self.slots[feature as usize] = NONE;
        }
        self.slots.resize(columns, NONE);
        self.values.clear();
        for (lane, row) in rows.iter().enumerate() {
            row.for_each_nonzero(|j, x| {
                let Some(slot) = self.slots.get_mut(j as usize) else { return };
                if *slot == NONE {
                    *slot = self.values.len() as u32;
                    self.features.push(j);
                    self.values.resize(self.values.len() + TILE, 0.0);
                }
                self.values[*slot as usize + lane] = x;
            });
        }
    }

    /// Puts `<row, x> + constant` for every row x of the tile into `dots`.
    fn dot(&mut self, row: Row<'_>, constant: f64) {
        let mut dots = [constant; TILE];
        row.for_each_nonzero(|j, v| {
            let slot = self.slots[j as usize];
            if let Some(values) = self.values.get(slot as usize..).and_then(|rest| rest.first_chunk::<TILE>()) {
                for (dot, x) in dots.iter_mut().zip(values) {
                    *dot += v * x;
                }
            }
        });
        self.dots = dots;
    }
}

/// The votes on a few rows, on the way through the mistakes.
#[derive(Debug)]
struct Sweep {
    scheme: Scheme,
    outputs: usize,
    /// Scores of the vector of the moment, row by row.
    scores: Vec<f64>,
    votes: Vec<f64>,
    /// From which round on the vector of the moment has voted: per output for one-vs-rest, else one.
    since: Vec<f64>,
}

impl Sweep {
    fn new(scheme: Scheme, outputs: usize, rows: usize) -> Self {
        let zeros = vec![0.0; rows * outputs];
        Self { scheme, outputs, scores: zeros.clone(), votes: zeros, since: vec![0.0; outputs] }
    }

    fn mistake(&mut self, mistake: &Mistake, dots: &[f64; TILE]) {
        self.vote(mistake.gains as usize, mistake.round);
        for (scores, dot) in self.scores.chunks_exact_mut(self.outputs).zip(dots) {
            scores[mistake.gains as usize] += mistake.step * dot;
            if let Some(score) = scores.get_mut(mistake.loses as usize) {
                *score -= mistake.step * dot;
            }
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
        for (scores, votes) in self.scores.chunks_exact(self.outputs).zip(self.votes.chunks_exact_mut(self.outputs)) {
            match self.scheme {
                Scheme::Joint => votes[best_except(scores, usize::MAX)] += survived,
                _ => votes[output] += if scores[output] >= 0.0 { survived } else { -survived },
            }
        }
    }

    fn finish(mut self, rounds: f64, scores: &mut [f64]) {
        let clocks = if self.scheme == Scheme::OneVsRest { self.outputs } else { 1 };
        for output in 0..clocks {
            self.vote(output, rounds);
        }
        for (score, votes) in scores.iter_mut().zip(&self.votes) {
            *score = votes / rounds.max(f64::MIN_POSITIVE);
        }
    }
}
