//! The errors of all variants of a run after any number of rounds, in one sweep over its mistakes: of the
//! last weight vector, of the average, of the votes and of a random weight vector.
//!
//! Each weight vector is the one before it plus a multiple of a row, so its scores are the earlier scores
//! plus multiples of kernels with that row. Between two mistakes of an output its scores are constant, so its
//! votes and sums are brought up to date only before they change (`settle`).

use super::journal::Journal;
use crate::data::{Dataset, Matrix, Row};
use crate::kernel::{Kernel, Precision, Tile};
use crate::model::Mistake;
use crate::multiclass::{Scheme, best_of};
use rayon::prelude::*;

/// Errors of all variants after some rounds: the share of rows predicted wrongly, of the random variant its
/// expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Errors {
    /// The last weight vector.
    pub last: f64,
    /// The same, with scores divided by the norms of the weight vectors.
    pub last_normalised: f64,
    /// The average over all rounds.
    pub averaged: f64,
    /// The average of weight vectors divided by their norms.
    pub averaged_normalised: f64,
    /// The votes of all rounds.
    pub voted: f64,
    /// The weight vectors of a random round.
    pub random: f64,
    /// The same, with scores divided by the norms of the weight vectors.
    pub random_normalised: f64,
}

impl Errors {
    fn all(&mut self) -> [&mut f64; 7] {
        let Self { last, last_normalised, averaged, averaged_normalised, voted, random, random_normalised } =
            self;
        [last, last_normalised, averaged, averaged_normalised, voted, random, random_normalised]
    }

    fn add(mut self, mut other: Self) -> Self {
        self.all().into_iter().zip(other.all()).for_each(|(a, b)| *a += *b);
        self
    }

    fn divided_by(mut self, rows: f64) -> Self {
        self.all().into_iter().for_each(|a| *a /= rows);
        self
    }
}

/// Kernels of a tile with the support rows are cached up to so many bytes.
const CACHE_BYTES: usize = 256 << 20;

/// Mistakes between two questions whether to go on.
const BETWEEN: usize = 256;

/// A run with its journal.
pub(super) struct RecordedRun<'a> {
    pub(super) scheme: Scheme,
    pub(super) classes: usize,
    pub(super) kernel: Kernel,
    pub(super) precision: Precision,
    pub(super) bias_sq: f64,
    pub(super) rows: &'a Matrix<'a>,
    pub(super) journal: &'a Journal,
}

impl RecordedRun<'_> {
    /// The errors on these rows after each of some rounds, which increase. `told` is called with the number
    /// of rows done, `goes_on` every few milliseconds; if one of them returns false, the sweep stops and
    /// returns `None`.
    pub(super) fn errors(
        &self,
        on: &Dataset,
        classes: &[u32],
        rounds: &[f64],
        told: impl Fn(u64) -> bool + Sync,
        goes_on: impl Fn() -> bool + Sync,
    ) -> Option<Vec<Errors>> {
        let capacity = Tile::capacity(self.precision);
        let (support, mistakes) = self.support();
        let starts: Vec<usize> = (0..on.len()).step_by(capacity).collect();
        let tiles = starts.par_iter().map_init(
            || Tile::new(self.kernel, self.precision),
            |tile, &start| {
                let end = on.len().min(start + capacity);
                let rows: Vec<Row<'_>> = (start..end).map(|i| on.rows.row(i)).collect();
                tile.load(&rows, self.rows.columns());
                let run = (&support[..], &mistakes[..]);
                let errors = self.errors_of_tile(tile, run, &classes[start..end], rounds, &goes_on)?;
                told((end - start) as u64).then_some(errors)
            },
        );
        // Collected before they are summed, so that the order of the sum does not depend on the threads.
        let tiles: Option<Vec<Vec<Errors>>> = tiles.collect();
        let mut sums = vec![Errors::default(); rounds.len()];
        for tile in tiles? {
            sums.iter_mut().zip(tile).for_each(|(sum, errors)| *sum = sum.add(errors));
        }
        Some(sums.into_iter().map(|errors| errors.divided_by(on.len().max(1) as f64)).collect())
    }

    /// The rows of mistakes, each once, and the mistakes, which refer to them.
    fn support(&self) -> (Vec<u32>, Vec<Mistake>) {
        let run = crate::model::Run {
            kernel: self.kernel,
            precision: self.precision,
            bias: 0.0,
            rows: self.rows,
            mistakes: &self.journal.mistakes,
            rounds: 0.0,
        };
        let (support, mistakes) = run.support();
        (support.into_iter().map(|row| row as u32).collect(), mistakes)
    }

    fn errors_of_tile(
        &self,
        tile: &mut Tile,
        (support, mistakes): (&[u32], &[Mistake]),
        classes: &[u32],
        rounds: &[f64],
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Vec<Errors>> {
        let mut cache = KernelCache::new(support.len(), classes.len());
        let mut sweep = Sweep::new(self.scheme, self.classes, classes);
        let mut errors = Vec::with_capacity(rounds.len());
        for (at, (mistake, &length_sq)) in mistakes.iter().zip(&self.journal.lengths_sq).enumerate() {
            if at % BETWEEN == 0 && !goes_on() {
                return None;
            }
            while errors.len() < rounds.len() && mistake.round >= rounds[errors.len()] {
                errors.push(sweep.errors(rounds[errors.len()]));
            }
            if errors.len() == rounds.len() {
                return Some(errors);
            }
            let kernels = cache.get(mistake.row, || {
                let row = self.rows.row(support[mistake.row as usize] as usize);
                tile.compare(row, row.norm_sq())
            });
            sweep.mistake(mistake, kernels, self.bias_sq, length_sq.max(0.0).sqrt());
        }
        while errors.len() < rounds.len() {
            errors.push(sweep.errors(rounds[errors.len()]));
        }
        Some(errors)
    }
}

/// A cache of the kernels of a tile with support rows.
struct KernelCache {
    width: usize,
    /// The position of each support row's kernels; `u32::MAX` if they are not cached.
    slots: Vec<u32>,
    kernels: Vec<f64>,
}

impl KernelCache {
    fn new(support: usize, width: usize) -> Self {
        Self { width, slots: vec![u32::MAX; support], kernels: Vec::new() }
    }

    fn get<'a>(&'a mut self, row: u32, compute: impl FnOnce() -> &'a [f64]) -> &'a [f64] {
        let slot = &mut self.slots[row as usize];
        if *slot == u32::MAX {
            let kernels = compute();
            if self.kernels.len() + self.width > CACHE_BYTES / size_of::<f64>() {
                return kernels;
            }
            *slot = (self.kernels.len() / self.width.max(1)) as u32;
            self.kernels.extend_from_slice(kernels);
        }
        &self.kernels[*slot as usize * self.width..][..self.width]
    }
}

/// The scores, sums and votes of a tile of rows during the sweep. For every output, all rows are side by
/// side.
struct Sweep<'a> {
    scheme: Scheme,
    outputs: usize,
    classes: &'a [u32],
    width: usize,
    scores: Vec<f64>,
    /// `Σ c·s` and `Σ c·s/‖w‖` over weight vectors that survived c rounds, and their votes.
    sums: Vec<f64>,
    normalised_sums: Vec<f64>,
    votes: Vec<f64>,
    /// `‖w‖` of every output.
    norms: Vec<f64>,
    /// The round up to which an output's sums are counted.
    settled: Vec<f64>,
    /// The predictions of the current weight vectors, and those with scores divided by norms.
    predicted: Vec<u32>,
    predicted_normalised: Vec<u32>,
    /// The number of rounds in which these predictions were wrong.
    wrong: Vec<f64>,
    wrong_normalised: Vec<f64>,
    /// The round up to which these, and joint votes, are counted.
    counted: f64,
}

impl<'a> Sweep<'a> {
    fn new(scheme: Scheme, classes: usize, truth: &'a [u32]) -> Self {
        let (outputs, width) = (scheme.outputs(classes), truth.len());
        let zeros = || vec![0.0; outputs * width];
        // Zero weights predict the last class, as all scores tie.
        let first = vec![(classes - 1) as u32; width];
        Self {
            scheme,
            outputs,
            classes: truth,
            width,
            scores: zeros(),
            sums: zeros(),
            normalised_sums: zeros(),
            votes: zeros(),
            norms: vec![0.0; outputs],
            settled: vec![0.0; outputs],
            predicted: first.clone(),
            predicted_normalised: first,
            wrong: vec![0.0; width],
            wrong_normalised: vec![0.0; width],
            counted: 0.0,
        }
    }

    fn mistake(&mut self, mistake: &Mistake, kernels: &[f64], bias_sq: f64, norm: f64) {
        self.count(mistake.round);
        for (output, step) in mistake.steps() {
            self.settle(output, mistake.round);
            let scores = &mut self.scores[output * self.width..][..self.width];
            for (score, kernel) in scores.iter_mut().zip(kernels) {
                *score += step * (kernel + bias_sq);
            }
        }
        match self.scheme {
            // Joint weight vectors have one norm, which does not change predictions.
            Scheme::Joint => {}
            _ => self.norms[mistake.gains as usize] = norm,
        }
        mistake.steps().for_each(|(output, _)| self.predict_again(output));
    }

    /// Counts the predictions of the current weight vectors up to a round.
    fn count(&mut self, round: f64) {
        let survived = round - self.counted;
        self.counted = round;
        if survived == 0.0 {
            return;
        }
        let wrong = self.wrong.iter_mut().zip(&mut self.wrong_normalised);
        let predicted = self.predicted.iter().zip(&self.predicted_normalised);
        for (((wrong, wrong_n), (predicted, predicted_n)), class) in wrong.zip(predicted).zip(self.classes) {
            *wrong += if predicted == class { 0.0 } else { survived };
            *wrong_n += if predicted_n == class { 0.0 } else { survived };
        }
        if self.scheme == Scheme::Joint {
            for (row, &class) in self.predicted.iter().enumerate() {
                self.votes[class as usize * self.width + row] += survived;
            }
        }
    }

    /// Counts an output's scores and votes up to a round.
    fn settle(&mut self, output: usize, round: f64) {
        let survived = round - self.settled[output];
        self.settled[output] = round;
        if survived == 0.0 {
            return;
        }
        let own = output * self.width..(output + 1) * self.width;
        let norm = self.norms[output];
        let share = if norm > 0.0 { survived / norm } else { 0.0 };
        let scores = &self.scores[own.clone()];
        for ((sum, normalised), score) in
            self.sums[own.clone()].iter_mut().zip(&mut self.normalised_sums[own.clone()]).zip(scores)
        {
            *sum += survived * score;
            *normalised += share * score;
        }
        if self.scheme != Scheme::Joint {
            for (vote, score) in self.votes[own].iter_mut().zip(scores) {
                *vote += if *score >= 0.0 { survived } else { -survived };
            }
        }
    }

    /// Updates the predictions after an output's scores changed: only rows where it has or had the largest
    /// score can change.
    fn predict_again(&mut self, output: usize) {
        if self.scheme == Scheme::Two {
            for (row, score) in self.scores.iter().enumerate() {
                self.predicted[row] = u32::from(*score >= 0.0);
                self.predicted_normalised[row] = self.predicted[row];
            }
            return;
        }
        for row in 0..self.width {
            let score = |of: usize| self.scores[of * self.width + row];
            let leader = self.predicted[row] as usize;
            if leader == output || score(output) >= score(leader) {
                self.predicted[row] = best_of((0..self.outputs).map(score)) as u32;
            }
            let score = |of: usize| normalised(score(of), self.norms[of]);
            let leader = self.predicted_normalised[row] as usize;
            if leader == output || score(output) >= score(leader) {
                self.predicted_normalised[row] = best_of((0..self.outputs).map(score)) as u32;
            }
        }
    }

    /// The errors of all variants after so many rounds, as numbers of rows.
    fn errors(&mut self, rounds: f64) -> Errors {
        self.count(rounds);
        (0..self.outputs).for_each(|output| self.settle(output, rounds));
        let rounds = rounds.max(f64::MIN_POSITIVE);
        Errors {
            last: self.wrong_predictions(&self.predicted),
            last_normalised: self.wrong_predictions(&self.predicted_normalised),
            averaged: self.wrong_decisions(&self.sums),
            averaged_normalised: self.wrong_decisions(&self.normalised_sums),
            voted: self.wrong_decisions(&self.votes),
            random: self.wrong.iter().sum::<f64>() / rounds,
            random_normalised: self.wrong_normalised.iter().sum::<f64>() / rounds,
        }
    }

    fn wrong_predictions(&self, predicted: &[u32]) -> f64 {
        predicted.iter().zip(self.classes).filter(|(a, b)| a != b).count() as f64
    }

    /// The number of rows that these scores decide wrongly.
    fn wrong_decisions(&self, scores: &[f64]) -> f64 {
        (0..self.width).filter(|&row| self.decide(scores, row) != self.classes[row]).count() as f64
    }

    fn decide(&self, scores: &[f64], row: usize) -> u32 {
        let mut own = scores.iter().skip(row).step_by(self.width).copied();
        match self.scheme {
            Scheme::Two => u32::from(own.next().unwrap_or(0.0) >= 0.0),
            _ => best_of(own) as u32,
        }
    }
}

fn normalised(score: f64, norm: f64) -> f64 {
    if norm > 0.0 { score / norm } else { 0.0 }
}
