//! One sweep over the mistakes of a run, and out come the errors of all that can be made of it, after any
//! number of rounds: of its last weight vector, of their average, of their votes and of one chosen at random.
//!
//! A vector is the one before it plus a row, so its scores are those of the one before it plus kernels with
//! that row. Between two mistakes of an output its scores stand still: votes and sums are brought up to date
//! only when they move (`settle`).

use super::Journal;
use crate::data::{Dataset, Matrix, Row};
use crate::kernel::{Kernel, Precision, Tile};
use crate::model::Mistake;
use crate::multiclass::{Scheme, best_of};
use rayon::prelude::*;

/// Errors of all forms after some rounds: as counts of rows, and of the random form as what is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The last weight vector.
    pub last: f64,
    /// The same; scores are divided by the vectors' lengths.
    pub last_normalised: f64,
    /// The average over all rounds.
    pub averaged: f64,
    /// The average of vectors divided by their lengths.
    pub averaged_normalised: f64,
    /// The votes of all rounds.
    pub voted: f64,
    /// The vectors of a round chosen at random.
    pub random: f64,
    /// The same; scores are divided by the vectors' lengths.
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

    fn over(mut self, rows: f64) -> Self {
        self.all().into_iter().for_each(|a| *a /= rows);
        self
    }
}

/// Kernels of a tile with all support rows are kept while they take no more than this.
const MOST_KEPT: usize = 256 << 20;

/// What a run was.
pub(super) struct Run<'a> {
    pub(super) scheme: Scheme,
    pub(super) classes: usize,
    pub(super) kernel: Kernel,
    pub(super) precision: Precision,
    pub(super) bias_sq: f64,
    pub(super) rows: &'a Matrix,
    pub(super) journal: &'a Journal,
}

impl Run<'_> {
    /// The errors on these rows after each of some rounds, which increase. `told` hears of rows that are
    /// done, and may say stop: then there is no answer.
    pub(super) fn errors(
        &self,
        on: &Dataset,
        classes: &[u32],
        rounds: &[f64],
        told: impl Fn(u64) -> bool + Sync,
    ) -> Option<Vec<Errors>> {
        let many = Tile::capacity(self.precision);
        let (support, mistakes) = self.support();
        let starts: Vec<usize> = (0..on.len()).step_by(many).collect();
        let tiles = starts.par_iter().map_init(
            || Tile::new(self.kernel, self.precision),
            |tile, &start| {
                let end = on.len().min(start + many);
                let rows: Vec<Row<'_>> = (start..end).map(|i| on.rows.row(i)).collect();
                tile.load(&rows, self.rows.columns());
                let errors = self.errors_of_tile(tile, &support, &mistakes, &classes[start..end], rounds);
                told((end - start) as u64).then_some(errors)
            },
        );
        // Sums of whole numbers, and of shares in the order of the tiles.
        let tiles: Option<Vec<Vec<Errors>>> = tiles.collect();
        let zero = vec![Errors::default(); rounds.len()];
        let sum = tiles?
            .into_iter()
            .fold(zero, |sum, tile| sum.into_iter().zip(tile).map(|(a, b)| a.add(b)).collect());
        Some(sum.into_iter().map(|errors| errors.over(on.len().max(1) as f64)).collect())
    }

    /// The rows of mistakes, each once, and the mistakes counting in them.
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
        support: &[u32],
        mistakes: &[Mistake],
        classes: &[u32],
        rounds: &[f64],
    ) -> Vec<Errors> {
        let width = classes.len();
        let mut kept = Kept::new(support.len(), width);
        let mut sweep = Sweep::new(self.scheme, self.classes, classes);
        let mut errors = Vec::with_capacity(rounds.len());
        for (mistake, &length_sq) in mistakes.iter().zip(&self.journal.lengths_sq) {
            while errors.len() < rounds.len() && mistake.round >= rounds[errors.len()] {
                errors.push(sweep.errors(rounds[errors.len()]));
            }
            if errors.len() == rounds.len() {
                return errors;
            }
            let kernels = kept.of(mistake.row, || {
                let row = self.rows.row(support[mistake.row as usize] as usize);
                tile.compare(row, row.norm_sq())
            });
            sweep.mistake(mistake, kernels, self.bias_sq, length_sq.max(0.0).sqrt());
        }
        while errors.len() < rounds.len() {
            errors.push(sweep.errors(rounds[errors.len()]));
        }
        errors
    }
}

/// Kernels of a tile with support rows, once they were asked for.
struct Kept {
    width: usize,
    /// Where a support row's kernels are, by support row.
    slots: Vec<u32>,
    kernels: Vec<f64>,
    most: usize,
}

impl Kept {
    fn new(support: usize, width: usize) -> Self {
        Self {
            width,
            slots: vec![u32::MAX; support],
            kernels: Vec::new(),
            most: MOST_KEPT / size_of::<f64>(),
        }
    }

    fn of<'a>(&'a mut self, row: u32, compute: impl FnOnce() -> &'a [f64]) -> &'a [f64] {
        let slot = &mut self.slots[row as usize];
        if *slot == u32::MAX {
            let kernels = compute();
            if self.kernels.len() + self.width > self.most {
                return kernels;
            }
            *slot = (self.kernels.len() / self.width.max(1)) as u32;
            self.kernels.extend_from_slice(kernels);
        }
        &self.kernels[*slot as usize * self.width..][..self.width]
    }
}

/// A tile of rows on its way through the mistakes. Of every output, all rows lie side by side.
struct Sweep<'a> {
    scheme: Scheme,
    outputs: usize,
    classes: &'a [u32],
    width: usize,
    scores: Vec<f64>,
    /// `Σ c·s` and `Σ c·s/‖w‖` over vectors that lived for c rounds, and their votes.
    sums: Vec<f64>,
    normalised_sums: Vec<f64>,
    votes: Vec<f64>,
    lengths: Vec<f64>,
    /// Up to which round an output's sums are counted.
    settled: Vec<f64>,
    /// What the vectors of the moment predict, and with scores divided by lengths.
    predicted: Vec<u32>,
    predicted_normalised: Vec<u32>,
    /// Rounds in which the vectors of the moment were wrong.
    wrong: Vec<f64>,
    wrong_normalised: Vec<f64>,
    /// Up to which round these, and joint votes, are counted.
    counted: f64,
}

impl<'a> Sweep<'a> {
    fn new(scheme: Scheme, classes: usize, truth: &'a [u32]) -> Self {
        let (outputs, width) = (scheme.outputs(classes), truth.len());
        let zeros = || vec![0.0; outputs * width];
        // Zero vectors predict the last class: scores that tie.
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
            lengths: vec![0.0; outputs],
            settled: vec![0.0; outputs],
            predicted: first.clone(),
            predicted_normalised: first,
            wrong: vec![0.0; width],
            wrong_normalised: vec![0.0; width],
            counted: 0.0,
        }
    }

    fn mistake(&mut self, mistake: &Mistake, kernels: &[f64], bias_sq: f64, length: f64) {
        self.count(mistake.round);
        for (output, step) in mistake.steps() {
            self.settle(output, mistake.round);
            let scores = &mut self.scores[output * self.width..][..self.width];
            for (score, kernel) in scores.iter_mut().zip(kernels) {
                *score += step * (kernel + bias_sq);
            }
        }
        match self.scheme {
            // One length of all vectors, which are one vector.
            Scheme::Joint => {}
            _ => self.lengths[mistake.gains as usize] = length,
        }
        mistake.steps().for_each(|(output, _)| self.predict_again(output));
    }

    /// Counts what the vectors of the moment have predicted up to a round.
    fn count(&mut self, round: f64) {
        let lived = round - self.counted;
        self.counted = round;
        if lived == 0.0 {
            return;
        }
        let wrong = self.wrong.iter_mut().zip(&mut self.wrong_normalised);
        let predicted = self.predicted.iter().zip(&self.predicted_normalised);
        for (((wrong, wrong_n), (predicted, predicted_n)), class) in wrong.zip(predicted).zip(self.classes) {
            *wrong += if predicted == class { 0.0 } else { lived };
            *wrong_n += if predicted_n == class { 0.0 } else { lived };
        }
        if self.scheme == Scheme::Joint {
            for (row, &class) in self.predicted.iter().enumerate() {
                self.votes[class as usize * self.width + row] += lived;
            }
        }
    }

    /// Counts an output's scores and votes up to a round.
    fn settle(&mut self, output: usize, round: f64) {
        let lived = round - self.settled[output];
        self.settled[output] = round;
        if lived == 0.0 {
            return;
        }
        let own = output * self.width..(output + 1) * self.width;
        let length = self.lengths[output];
        let share = if length > 0.0 { lived / length } else { 0.0 };
        let scores = &self.scores[own.clone()];
        for ((sum, normalised), score) in
            self.sums[own.clone()].iter_mut().zip(&mut self.normalised_sums[own.clone()]).zip(scores)
        {
            *sum += lived * score;
            *normalised += share * score;
        }
        if self.scheme != Scheme::Joint {
            for (vote, score) in self.votes[own].iter_mut().zip(scores) {
                *vote += if *score >= 0.0 { lived } else { -lived };
            }
        }
    }

    /// The predictions, after an output's scores have changed: only where it leads or led can they be others.
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
            let score = |of: usize| normalised(score(of), self.lengths[of]);
            let leader = self.predicted_normalised[row] as usize;
            if leader == output || score(output) >= score(leader) {
                self.predicted_normalised[row] = best_of((0..self.outputs).map(score)) as u32;
            }
        }
    }

    /// The errors of all forms after so many rounds.
    fn errors(&mut self, rounds: f64) -> Errors {
        self.count(rounds);
        (0..self.outputs).for_each(|output| self.settle(output, rounds));
        let wrong = |scores: &dyn Fn(usize, usize) -> f64| {
            (0..self.width)
                .filter(|&row| self.decide(|output| scores(output, row)) != self.classes[row])
                .count() as f64
        };
        let at = |of: &'_ [f64], output: usize, row: usize| of[output * self.width + row];
        let expected = |wrong: &[f64]| wrong.iter().sum::<f64>() / rounds.max(f64::MIN_POSITIVE);
        let is_wrong =
            |predicted: &[u32]| predicted.iter().zip(self.classes).filter(|(a, b)| a != b).count() as f64;
        Errors {
            last: is_wrong(&self.predicted),
            last_normalised: is_wrong(&self.predicted_normalised),
            averaged: wrong(&|output, row| at(&self.sums, output, row)),
            averaged_normalised: wrong(&|output, row| at(&self.normalised_sums, output, row)),
            voted: wrong(&|output, row| at(&self.votes, output, row)),
            random: expected(&self.wrong),
            random_normalised: expected(&self.wrong_normalised),
        }
    }

    fn decide(&self, score: impl Fn(usize) -> f64) -> u32 {
        match self.scheme {
            Scheme::Two => u32::from(score(0) >= 0.0),
            _ => best_of((0..self.outputs).map(score)) as u32,
        }
    }
}

fn normalised(score: f64, length: f64) -> f64 {
    if length > 0.0 { score / length } else { 0.0 }
}
