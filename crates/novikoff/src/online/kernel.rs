//! Online learning with a kernel (Freund and Schapire 1999): the weights are `w = Σ cᵢ·φ(xᵢ)` over
//! the rows of mistakes, and scores are `s(x) = Σ cᵢ·(K(xᵢ, x) + bias²)`.
//!
//! Rows are visited in blocks. First the kernels of all rows of a block with all mistakes so far are
//! computed, on all cores, a tile of rows at a time; then the rows are visited one by one, and each new
//! mistake adds its kernels with the rest of the block. So every row's scores are those of sequential
//! learning, whatever the block size and the number of threads.

use super::correct::{Example, Update, correct};
use super::epochs::{
    Begin, EpochLearner, LearnerState, Plan, Tally, Trained, TrainingRows, Validate, run_epochs,
};
use super::follow::{After, Decided, Visit};
use super::linear::{Hypothesis, RowOutcome};
use super::order::Sequence;
use super::rule::Rule;
use crate::control::{Flow, Observer, Progress};
use crate::data::{Matrix, Row};
use crate::kernel::{BLOCK, Kernel, Precision, Tile, norms_sq};
use crate::model::{Mistake, Run, Scorer, WeightVector};
use crate::multiclass::Scheme;
use rayon::prelude::*;
use std::ops::Range;

/// A learner with a kernel.
pub(crate) struct KernelLearner<'a, R> {
    rule: R,
    scheme: Scheme,
    classes: usize,
    outputs: usize,
    hypothesis: Hypothesis,
    kernel: Kernel,
    precision: Precision,
    bias: f64,
    rows: &'a Matrix<'a>,
    norms_sq: Vec<f64>,
    /// The support rows, in the order of their first mistakes.
    support: Vec<u32>,
    /// The position of each row among them, or [`NO_SLOT`].
    slots: Vec<u32>,
    /// `support × outputs`.
    coefficients: Vec<f64>,
    journal: Vec<Mistake>,
    /// Per mistake, `‖w‖²` after it: of the output that gained or, of joint classes, of all.
    lengths_sq: Vec<f64>,
    /// The current `‖w‖²` of every output.
    squares: Vec<f64>,
    rounds: f64,
    tiles: Vec<ScoredTile>,
    /// Kernels computed so far.
    comparisons: u64,
}

const NO_SLOT: u32 = u32::MAX;

/// A tile of rows about to be visited, and their scores: for every output, all rows side by side.
struct ScoredTile {
    tile: Tile,
    rows: usize,
    scores: Vec<f64>,
}

impl ScoredTile {
    fn new(kernel: Kernel, precision: Precision) -> Self {
        Self { tile: Tile::new(kernel, precision), rows: 0, scores: Vec::new() }
    }

    /// Scores these rows by all support rows.
    fn score(&mut self, rows: &[Row<'_>], of: &Expanded<'_>) {
        self.tile.load(rows, of.rows.columns());
        self.rows = rows.len();
        self.scores.clear();
        self.scores.resize(rows.len() * of.outputs, 0.0);
        for (&row, own) in of.support.iter().zip(of.coefficients.chunks_exact(of.outputs)) {
            let norm_sq = of.norms_sq[row as usize];
            self.add(of.rows.row(row as usize), norm_sq, own.iter().copied().enumerate(), of.bias_sq);
        }
    }

    /// Adds multiples of a row to some outputs' weights.
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

/// The current weights: support rows and their coefficients.
struct Expanded<'a> {
    rows: &'a Matrix<'a>,
    norms_sq: &'a [f64],
    support: &'a [u32],
    coefficients: &'a [f64],
    outputs: usize,
    bias_sq: f64,
}

impl<'a, R: Rule> KernelLearner<'a, R> {
    /// A learner of zero weights.
    pub(crate) fn new(plan: &Plan<R>, kernel: Kernel, rows: &'a Matrix<'a>) -> Self {
        let norms_sq = norms_sq(rows);
        let precision = Precision::suited(kernel, rows, norms_sq.iter().copied().fold(0.0, f64::max));
        let outputs = plan.scheme.outputs(plan.classes);
        let tiles = BLOCK.div_ceil(Tile::capacity(precision));
        Self {
            rule: plan.rule.clone(),
            scheme: plan.scheme,
            classes: plan.classes,
            outputs,
            hypothesis: plan.hypothesis,
            kernel,
            precision,
            bias: plan.bias.coordinate(),
            rows,
            norms_sq,
            support: Vec::new(),
            slots: vec![NO_SLOT; rows.rows()],
            coefficients: Vec::new(),
            journal: Vec::new(),
            lengths_sq: Vec::new(),
            squares: vec![0.0; outputs],
            rounds: 0.0,
            tiles: (0..tiles).map(|_| ScoredTile::new(kernel, precision)).collect(),
            comparisons: 0,
        }
    }

    /// Learns from the next rows of an epoch, at most [`BLOCK`], and passes the outcome of each to `report`.
    pub(crate) fn learn(&mut self, data: TrainingRows<'_>, ids: &[u32], mut report: impl FnMut(RowOutcome)) {
        self.learn_and_tell(data, ids, |_, decided| report(decided.outcome));
    }

    /// The same, with all that was decided about each row.
    fn learn_and_tell(
        &mut self,
        data: TrainingRows<'_>,
        ids: &[u32],
        mut report: impl FnMut(u32, Decided<'_>),
    ) {
        self.score(ids);
        let (mut scores, mut updates) = (Vec::with_capacity(self.outputs), Vec::new());
        let capacity = Tile::capacity(self.precision);
        for (i, &id) in ids.iter().enumerate() {
            let (class, weight) = data.label(id);
            if weight <= 0.0 {
                let (scheme, outcome) = (self.scheme, RowOutcome::default());
                report(id, Decided { scheme, scores: &[], updates: &[], outcome });
                continue;
            }
            self.tiles[i / capacity].scores_of(i % capacity, &mut scores);
            let norm_sq = self.self_kernel(id);
            updates.clear();
            let example = Example { class, weight };
            let outcome =
                correct(&self.rule, self.scheme, &scores, example, || norm_sq, |update| updates.push(update));
            if !updates.is_empty() {
                updates.iter().for_each(|update| self.update(id, *update, &scores));
                self.add_to_tiles(id, &updates, i / capacity..ids.len().div_ceil(capacity));
                self.comparisons += (ids.len() - i / capacity * capacity) as u64;
            }
            self.rounds += weight;
            report(id, Decided { scheme: self.scheme, scores: &scores, updates: &updates, outcome });
        }
    }

    /// The same, and tells the observer of every correction.
    fn learn_followed(
        &mut self,
        data: TrainingRows<'_>,
        ids: &[u32],
        epoch: usize,
        tally: &mut Tally,
        observer: &mut dyn Observer,
    ) {
        let (mut entries, bias) = (Vec::new(), self.bias);
        self.learn_and_tell(data, ids, |id, decided| {
            tally.add(decided.outcome);
            if decided.is_correction() {
                let (row, class, _) = data.row(id);
                row.collect_into(&mut entries);
                let after = After { entries: &entries, bias, ..After::default() };
                decided.tell(Visit { epoch, row: id.into(), class }, after, observer);
            }
        });
    }

    /// Adds a row's updates to the scores of the tiles that are not yet visited to their end.
    fn add_to_tiles(&mut self, id: u32, updates: &[Update], tiles: Range<usize>) {
        let (row, norm_sq) = (self.rows.row(id as usize), self.norms_sq[id as usize]);
        for tile in &mut self.tiles[tiles] {
            tile.add(row, norm_sq, updates.iter().flat_map(Update::steps), self.bias * self.bias);
        }
    }

    /// Scores the rows of a block by the current weights.
    fn score(&mut self, ids: &[u32]) {
        let Self {
            rows, norms_sq, support, coefficients, outputs, bias, tiles, comparisons, precision, ..
        } = self;
        let of =
            Expanded { rows, norms_sq, support, coefficients, outputs: *outputs, bias_sq: *bias * *bias };
        *comparisons += (support.len() * ids.len()) as u64;
        let capacity = Tile::capacity(*precision);
        tiles.par_iter_mut().zip(ids.par_chunks(capacity)).for_each(|(tile, ids)| {
            let rows: Vec<Row<'_>> = ids.iter().map(|&id| of.rows.row(id as usize)).collect();
            tile.score(&rows, &of);
        });
    }

    /// `K(x, x)`, the squared norm of a row in the kernel's feature space.
    fn self_kernel(&self, id: u32) -> f64 {
        let norm_sq = self.norms_sq[id as usize];
        self.kernel.of(norm_sq, norm_sq, norm_sq) + self.bias * self.bias
    }

    fn update(&mut self, id: u32, update: Update, scores: &[f64]) {
        let norm_sq = self.self_kernel(id);
        for (output, step) in update.steps() {
            self.squares[output] += step * (2.0 * scores[output] + step * norm_sq);
        }
        self.record(update.mistake(id, self.rounds));
        self.lengths_sq.push(match self.scheme {
            Scheme::Joint => self.squares.iter().sum(),
            _ => self.squares[update.gains as usize],
        });
    }

    /// Adds a mistake to the weights and to the journal.
    fn record(&mut self, mistake: Mistake) {
        let slot = &mut self.slots[mistake.row as usize];
        if *slot == NO_SLOT {
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

    /// The mistakes so far, in order.
    pub(crate) fn journal(&self) -> &[Mistake] {
        &self.journal
    }

    /// The same, where the learner is not needed any more; and per mistake, `‖w‖²` after it: of the output
    /// that gained or, of joint classes, of all.
    pub(crate) fn into_journal(self) -> (Vec<Mistake>, Vec<f64>) {
        (self.journal, self.lengths_sq)
    }

    /// Rounds so far: the sum of the weights of the rows visited.
    pub(crate) fn rounds(&self) -> f64 {
        self.rounds
    }

    /// Resumes a run that made these mistakes in so many rounds.
    pub(crate) fn replay(&mut self, mistakes: &[Mistake], lengths_sq: &[f64], rounds: f64) {
        for (mistake, &length_sq) in mistakes.iter().zip(lengths_sq) {
            self.record(*mistake);
            self.lengths_sq.push(length_sq);
            // Of joint classes only the sum is known, and only the sum is used.
            self.squares[if self.scheme == Scheme::Joint { 0 } else { mistake.gains as usize }] = length_sq;
        }
        self.rounds = rounds;
    }

    /// The run up to so many mistakes and rounds.
    fn run(&self, mistakes: usize, rounds: f64) -> Run<'_> {
        let Self { kernel, precision, bias, rows, .. } = *self;
        Run { kernel, precision, bias, rows, mistakes: &self.journal[..mistakes], rounds }
    }
}

impl<R: Rule> EpochLearner for KernelLearner<'_, R> {
    /// The number of mistakes and of rounds.
    type Snapshot = (usize, f64);

    fn run_epoch(
        &mut self,
        data: TrainingRows<'_>,
        sequence: &Sequence,
        (epoch, epochs): (usize, usize),
        tally: &mut Tally,
        observer: &mut dyn Observer,
    ) -> Flow {
        let of = data.rows.rows() as u64;
        for ids in sequence.rows()[tally.rows as usize..].chunks(BLOCK) {
            if observer.follows_corrections() {
                self.learn_followed(data, ids, epoch, tally, observer);
            } else {
                self.learn(data, ids, |outcome| tally.add(outcome));
            }
            let Tally { rows, errors, .. } = *tally;
            if observer.observe(Progress::Learning { epoch, epochs, rows, of, errors }) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    fn snapshot(&self) -> (usize, f64) {
        (self.journal.len(), self.rounds)
    }

    fn scorer(&self, &(mistakes, rounds): &(usize, f64), _rows: &Matrix) -> Scorer {
        let run = self.run(mistakes, rounds);
        match self.hypothesis {
            Hypothesis::Last => Scorer::Kernel(run.expansion(self.outputs, WeightVector::Last)),
            Hypothesis::Average => Scorer::Kernel(run.expansion(self.outputs, WeightVector::Average)),
            Hypothesis::Votes => Scorer::Voted(run.voted(self.scheme, self.classes)),
        }
    }
}

/// Trains in epochs with a kernel. Also returns the number of kernels computed.
pub fn train_kernel<R: Rule>(
    plan: &Plan<R>,
    kernel: Kernel,
    data: TrainingRows<'_>,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> (Trained, u64) {
    train_kernel_from(plan, kernel, data, KernelBegin::default(), validate, observer)
}

/// Where a run with a kernel begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelBegin {
    /// The epochs that are done, with the number of mistakes and rounds until the best.
    pub(crate) epochs: Begin<(usize, f64)>,
    /// The mistakes so far.
    pub(crate) mistakes: Vec<Mistake>,
    /// The rounds so far.
    pub(crate) rounds: f64,
    /// The kernels computed so far.
    pub(crate) comparisons: u64,
}

/// The same from where another run over these rows ended.
pub(crate) fn train_kernel_from<R: Rule>(
    plan: &Plan<R>,
    kernel: Kernel,
    data: TrainingRows<'_>,
    begin: KernelBegin,
    validate: Validate<'_>,
    observer: &mut dyn Observer,
) -> (Trained, u64) {
    let mut learner = KernelLearner::new(plan, kernel, data.rows);
    begin.mistakes.into_iter().for_each(|mistake| learner.record(mistake));
    (learner.rounds, learner.comparisons) = (begin.rounds, begin.comparisons);
    let run = run_epochs(plan, data, &mut learner, begin.epochs, validate, observer);
    let snapshot = run.best.as_ref().map_or_else(|| learner.snapshot(), |(_, _, snapshot)| *snapshot);
    let scorer = learner.scorer(&snapshot, data.rows);
    let KernelLearner { journal: mistakes, rounds, comparisons, .. } = learner;
    let best_rounds = run.best.as_ref().map(|(_, _, (_, rounds))| *rounds);
    let state = LearnerState::Journal { mistakes, rounds, comparisons, best_rounds };
    (Trained::new(scorer, run, state), comparisons)
}
