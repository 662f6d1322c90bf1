//! Scoring rows before their turn, on all cores.
//!
//! A perceptron looks sequential: each row must be scored by the weights that the row before it left. But most rows leave
//! them alone. So a run of rows is scored at once, in parallel; they are then learned from in order, and after the first
//! that moves the weights the other scores are thrown away. What is learned is the same to the bit as row by row.

use crate::data::Matrix;
use crate::model::Weights;
use rayon::prelude::*;
use std::slice::ChunksExact;

/// Scores of the rows to come.
pub struct Ahead {
    outputs: usize,
    /// Multiplications that a row takes.
    cost: f64,
    /// How many rows pass between two updates, by experience.
    gap: f64,
    /// How many have passed since the last.
    since: usize,
    threads: usize,
    scores: Vec<f64>,
}

/// A parallel run must have this many multiplications, or starting it takes longer than it saves.
const WORTHWHILE: f64 = 30_000.0;
/// Longest run.
const LONGEST: usize = 512;
/// How much of the experience is kept at each update.
const MEMORY: f64 = 0.9;

impl Ahead {
    /// Nothing is known yet of how often the weights move.
    pub fn new(rows: &Matrix, outputs: usize) -> Self {
        let cost = (rows.stored() * outputs) as f64 / rows.rows().max(1) as f64;
        Self { outputs, cost, gap: 1.0, since: 0, threads: rayon::current_num_threads(), scores: Vec::new() }
    }

    /// As many of the next rows as are likely to pass before the weights move; 0 where that is not worth it.
    pub fn run(&self, next: usize) -> usize {
        let run = next.min(LONGEST).min(self.gap.max(self.since as f64) as usize);
        if self.threads > 1 && run as f64 * self.cost >= WORTHWHILE { run } else { 0 }
    }

    /// Scores rows by the weights of the moment.
    pub fn score<'a>(&'a mut self, weights: &Weights, rows: &Matrix, next: &[u32]) -> ChunksExact<'a, f64> {
        let outputs = self.outputs;
        self.scores.resize(next.len() * outputs, 0.0);
        let part = next.len().div_ceil(self.threads).max(1);
        self.scores.par_chunks_mut(part * outputs).zip(next.par_chunks(part)).for_each(|(scores, part)| {
            for (scores, &row) in scores.chunks_exact_mut(outputs).zip(part) {
                weights.score(rows.row(row as usize), scores);
            }
        });
        self.scores.chunks_exact(outputs)
    }

    /// Notes that so many rows have passed, and whether the last of them moved the weights.
    #[inline]
    pub fn note(&mut self, passed: usize, moved: bool) {
        self.since += passed;
        if moved {
            self.gap = MEMORY * self.gap + (1.0 - MEMORY) * self.since as f64;
            self.since = 0;
        }
    }
}
