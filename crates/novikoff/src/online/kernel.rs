//! Learning in a kernel's space: the weights are a sum of the rows that were mistakes, and are never written
//! out.
//!
//! Rows are visited in blocks. First all rows of a block are compared with all mistakes so far, on all cores,
//! a tile of rows at a time; then they are visited one by one, and each new mistake is compared with the rest
//! of its block. So every row is scored by just the weights that it would have met alone, whatever the block
//! and the threads.

use super::correct::{Example, Update, correct};
use super::epochs::{Batch, Course, Plan, Pupil, Tally, Trained, Validate, attend};
use super::learner::{Keep, Seen};
use super::order::Sequence;
use super::rule::Rule;
use crate::control::{Epoch, Flow, Observer, Progress};
use crate::data::{Matrix, Row};
use crate::kernel::{BLOCK, Kernel, Precision, Tile, norms_sq};
use crate::model::{Form, Mistake, Run, Scorer};
use crate::multiclass::Scheme;
use rayon::prelude::*;

/// A learner in a kernel's space.
pub struct Kernelised<'a, R> {
    rule: R,
    scheme: Scheme,
    classes: usize,
    outputs: usize,
    keep: Keep,
    kernel: Kernel,
    precision: Precision,
    bias: f64,
    rows: &'a Matrix,
    norms_sq: Vec<f64>,
    /// The rows that the weights are made of, in the order of their first mistakes.
    support: Vec<u32>,
    /// Where a row stands among them, by row.
    slots: Vec<u32>,
    /// `support × outputs`.
    coefficients: Vec<f64>,
    journal: Vec<Mistake>,
    /// Per mistake, `‖w‖²` after it: of the output that gained or, of joint classes, of all.
    lengths_sq: Vec<f64>,
    /// `‖w‖²` of every output now.
    squares: Vec<f64>,
    rounds: f64,
    tiles: Vec<Visited>,
    /// Kernels computed so far.
    comparisons: u64,
}

const NONE: u32 = u32::MAX;

/// A tile of rows that are about to be visited, and their scores: of every output, all rows side by side.
struct Visited {
    tile: Tile,
    rows: usize,
    scores: Vec<f64>,
}

impl Visited {
    /// Scores these rows by all support rows.
    fn score(&mut self, rows: &[Row<'_>], of: &Support<'_>) {
        self.tile.load(rows, of.rows.columns());
        self.rows = rows.len();
        self.scores.clear();
        self.scores.resize(rows.len() * of.outputs, 0.0);
        for (&row, own) in of.support.iter().zip(of.coefficients.chunks_exact(of.outputs)) {
            self.add(
                of.rows.row(row as usize),
                of.norms_sq[row as usize],
                own.iter().copied().enumerate(),
                of.bias_sq,
            );
        }
    }

    /// Adds a row to some outputs.
    fn add(&mut self, row: Row<'_>, norm_sq: f64, steps: impl Iterator<Item = (usize, f64)>, bias_sq: f64) {
        let kernels = self.tile.compare(row, norm_sq);
        for (output, step) in steps.filter(|(_, step)| *step != 0.0) {
            let scores = &mut self.scores[output * self.rows..][..self.rows];
            for (score, kernel) in scores.iter_mut().zip(kernels) {
                *score += step * (kernel + bias_sq);
            }
        }
    }

    fn scores_of(&self, lane: usize, scores: &mut Vec<f64>) {
        scores.clear();
        scores.extend(self.scores.iter().skip(lane).step_by(self.rows.max(1)));
    }
}

/// What the weights of the moment are made of.
struct Support<'a> {
    rows: &'a Matrix,
    norms_sq: &'a [f64],
    support: &'a [u32],
    coefficients: &'a [f64],
    outputs: usize,
    bias_sq: f64,
}

impl<'a, R: Rule> Kernelised<'a, R> {
    /// A learner that knows nothing.
    pub fn new(plan: &Plan<R>, kernel: Kernel, rows: &'a Matrix) -> Self {
        let norms_sq = norms_sq(rows);
        let precision = Precision::suited(kernel, rows, norms_sq.iter().copied().fold(0.0, f64::max));
        let outputs = plan.scheme.outputs(plan.classes);
        let visited = || Visited { tile: Tile::new(kernel, precision), rows: 0, scores: Vec::new() };
        Self {
            rule: plan.rule.clone(),
            scheme: plan.scheme,
            classes: plan.classes,
            outputs,
            keep: plan.keep,
            kernel,
            precision,
            bias: plan.bias.coordinate(),
            rows,
            norms_sq,
            support: Vec::new(),
            slots: vec![NONE; rows.rows()],
            coefficients: Vec::new(),
            journal: Vec::new(),
            lengths_sq: Vec::new(),
            squares: vec![0.0; outputs],
            rounds: 0.0,
            tiles: (0..BLOCK.div_ceil(Tile::capacity(precision))).map(|_| visited()).collect(),
            comparisons: 0,
        }
    }

    /// Learns from the next rows of an epoch, [`BLOCK`] at most, and tells `told` of each.
    pub fn learn(&mut self, batch: Batch<'_>, ids: &[u32], mut told: impl FnMut(Seen)) {
        self.score(ids);
        let (mut scores, mut updates) = (Vec::with_capacity(self.outputs), Vec::new());
        let rule = self.rule.clone();
        let many = Tile::capacity(self.precision);
        for (i, &id) in ids.iter().enumerate() {
            let (_, class, weight) = batch.row(id);
            if weight <= 0.0 {
                told(Seen::default());
                continue;
            }
            self.tiles[i / many].scores_of(i % many, &mut scores);
            let own = self.own(id);
            updates.clear();
            let seen = correct(
                &rule,
                self.scheme,
                &scores,
                Example { class, weight },
                || own,
                |update| updates.push(update),
            );
            if !updates.is_empty() {
                updates.iter().for_each(|update| self.update(id, *update, &scores));
                let (row, norm_sq) = (self.rows.row(id as usize), self.norms_sq[id as usize]);
                for tile in &mut self.tiles[i / many..ids.len().div_ceil(many)] {
                    tile.add(row, norm_sq, updates.iter().flat_map(Update::steps), self.bias * self.bias);
                }
                self.comparisons += (ids.len() - i / many * many) as u64;
            }
            self.rounds += weight;
            told(seen);
        }
    }

    fn score(&mut self, ids: &[u32]) {
        let Self {
            rows, norms_sq, support, coefficients, outputs, bias, tiles, comparisons, precision, ..
        } = self;
        let of = Support { rows, norms_sq, support, coefficients, outputs: *outputs, bias_sq: *bias * *bias };
        *comparisons += (support.len() * ids.len()) as u64;
        let many = Tile::capacity(*precision);
        tiles.par_iter_mut().zip(ids.par_chunks(many)).for_each(|(tile, ids)| {
            let rows: Vec<Row<'_>> = ids.iter().map(|&id| of.rows.row(id as usize)).collect();
            tile.score(&rows, &of);
        });
    }

    /// A row's squared length in the kernel's space.
    fn own(&self, id: u32) -> f64 {
        let norm_sq = self.norms_sq[id as usize];
        self.kernel.of(norm_sq, norm_sq, norm_sq) + self.bias * self.bias
    }

    fn update(&mut self, id: u32, update: Update, scores: &[f64]) {
        let own = self.own(id);
        for (output, step) in update.steps() {
            self.squares[output] += step * (2.0 * scores[output] + step * own);
        }
        self.record(update.mistake(id, self.rounds));
        self.lengths_sq.push(match self.scheme {
            Scheme::Joint => self.squares.iter().sum(),
            _ => self.squares[update.gains as usize],
        });
    }

    /// Takes a mistake into the weights.
    fn record(&mut self, mistake: Mistake) {
        let slot = &mut self.slots[mistake.row as usize];
        if *slot == NONE {
            *slot = self.support.len() as u32;
            self.support.push(mistake.row);
            self.coefficients.resize(self.coefficients.len() + self.outputs, 0.0);
        }
        let own = &mut self.coefficients[*slot as usize * self.outputs..][..self.outputs];
        for (output, step) in mistake.steps() {
            own[output] += step;
        }
        self.journal.push(mistake);
    }

    /// The mistakes so far.
    pub fn journal(&self) -> &[Mistake] {
        &self.journal
    }

    /// Per mistake, `‖w‖²` after it: of the output that gained or, of joint classes, of all.
    pub fn lengths_sq(&self) -> &[f64] {
        &self.lengths_sq
    }

    /// Rounds so far: rows seen, by their weights.
    pub fn rounds(&self) -> f64 {
        self.rounds
    }

    /// Goes on from a run that made these mistakes in so many rounds.
    pub fn replay(&mut self, mistakes: &[Mistake], lengths_sq: &[f64], rounds: f64) {
        for (mistake, &length_sq) in mistakes.iter().zip(lengths_sq) {
            self.record(*mistake);
            self.lengths_sq.push(length_sq);
            // Of joint classes only their sum is known, and asked for.
            self.squares[if self.scheme == Scheme::Joint { 0 } else { mistake.gains as usize }] = length_sq;
        }
        self.rounds = rounds;
    }

    /// The run up to some mistake and round.
    fn run(&self, mistakes: usize, rounds: f64) -> Run<'_> {
        let Self { kernel, precision, bias, rows, .. } = *self;
        Run { kernel, precision, bias, rows, mistakes: &self.journal[..mistakes], rounds }
    }
}

impl<R: Rule> Pupil for Kernelised<'_, R> {
    /// So many mistakes and so many rounds.
    type Snapshot = (usize, f64);

    fn pass(
        &mut self,
        batch: Batch<'_>,
        sequence: &Sequence,
        epoch: (usize, usize),
        observer: &mut dyn Observer,
    ) -> (Epoch, Flow) {
        let (mut tally, of) = (Tally::default(), batch.rows.rows() as u64);
        for ids in sequence.rows().chunks(BLOCK) {
            self.learn(batch, ids, |seen| tally.add(seen));
            let progress = Progress::Learning {
                epoch: epoch.0,
                epochs: epoch.1,
                rows: tally.rows,
                of,
                errors: tally.errors,
            };
            if observer.observe(progress) == Flow::Stop {
                return (tally.epoch(epoch.0), Flow::Stop);
            }
        }
        (tally.epoch(epoch.0), Flow::Continue)
    }

    fn snapshot(&self) -> (usize, f64) {
        (self.journal.len(), self.rounds)
    }

    fn scorer(&self, &(mistakes, rounds): &(usize, f64), _rows: &Matrix) -> Scorer {
        let run = self.run(mistakes, rounds);
        match self.keep {
            Keep::Last => Scorer::Kernel(run.expansion(self.outputs, Form::Last)),
            Keep::Average => Scorer::Kernel(run.expansion(self.outputs, Form::Average)),
            Keep::Mistakes => Scorer::Voted(run.voted(self.scheme, self.classes)),
        }
    }
}

/// Trains in epochs, in a kernel's space. Also tells how many kernels were computed.
pub fn train_kernel<R: Rule>(
    plan: &Plan<R>,
    kernel: Kernel,
    batch: Batch<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> (Trained, u64) {
    let mut pupil = Kernelised::new(plan, kernel, batch.rows);
    let Course { stopped, trace, best } = attend(plan, batch, &mut pupil, validate, observer);
    let (epoch, snapshot) =
        best.map_or((trace.len(), pupil.snapshot()), |(_, epoch, snapshot)| (epoch, snapshot));
    (Trained::new(pupil.scorer(&snapshot, batch.rows), stopped, trace, epoch), pupil.comparisons)
}
