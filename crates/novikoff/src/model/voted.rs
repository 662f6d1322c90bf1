//! The voted perceptron (Freund and Schapire 1999, figure 1): every weight vector of a run votes, with as
//! many votes as the rounds it survived.
//!
//! The vectors are not stored. Each is the one before it plus a multiple of a mistake's row, so one sweep
//! over the mistakes computes all scores of a row `x`: `s ← s + step·(K(xᵢ, x) + bias²)`, counting votes
//! after each.

use crate::data::{Matrix, Row};
use crate::kernel::{self, Kernel, Precision, Tile};
use crate::multiclass::{Leaders, Scheme};

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
    /// What is subtracted from columns of a row before it is compared, in ascending order: the rows of the
    /// mistakes are differences from it. Every vector has a bias, but one bias cannot make up for it in all.
    pub centres: Vec<(u32, f64)>,
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
        self.score_while(rows, tile, scores, &|| true);
    }

    /// The same; where it is not to go on, the scores mean nothing.
    pub(super) fn score_while(
        &self,
        rows: &[Row<'_>],
        tile: &mut Tile,
        scores: &mut [f64],
        goes_on: &dyn Fn() -> bool,
    ) {
        if !self.centres.is_empty() {
            let moved = Matrix::of_moved(rows, &self.centres);
            let moved: Vec<Row<'_>> = (0..rows.len()).map(|i| moved.row(i)).collect();
            return self.score_moved(&moved, tile, scores, goes_on);
        }
        self.score_moved(rows, tile, scores, goes_on);
    }

    /// The same for rows from which the centres have been subtracted.
    fn score_moved(&self, rows: &[Row<'_>], tile: &mut Tile, scores: &mut [f64], goes_on: &dyn Fn() -> bool) {
        /// Mistakes between two questions: some milliseconds.
        const BETWEEN: usize = 4096;
        let mut sweep = Sweep::new(self.scheme, self.outputs(), rows.len());
        tile.load(rows, self.rows.columns());
        let mut last = u32::MAX;
        let mut kernels = vec![0.0; rows.len()];
        for mistakes in self.mistakes.chunks(BETWEEN) {
            if !goes_on() {
                return;
            }
            for mistake in mistakes {
                if mistake.row != last {
                    let row = self.rows.row(mistake.row as usize);
                    kernels.copy_from_slice(tile.compare(row, row.norm_sq()));
                    kernels.iter_mut().for_each(|kernel| *kernel += self.bias * self.bias);
                    last = mistake.row;
                }
                sweep.mistake(mistake, &kernels);
            }
        }
        sweep.finish(self.rounds, scores);
    }
}

/// The votes on some rows during the sweep. For every output, all rows are side by side.
#[derive(Debug)]
struct Sweep {
    outputs: usize,
    rows: usize,
    current: Current,
    votes: Vec<f64>,
}

/// The scores of the current vectors, and the rounds since which these vote.
#[derive(Debug)]
enum Current {
    /// Of each output by itself: two classes, or one against the rest.
    Apart { scores: Vec<f64>, since: Vec<f64> },
    /// Of joint classes, the best of which has the vote.
    Joint { leaders: Leaders, since: f64 },
}

impl Sweep {
    fn new(scheme: Scheme, outputs: usize, rows: usize) -> Self {
        let current = match scheme {
            Scheme::Joint => Current::Joint { leaders: Leaders::new(outputs, rows), since: 0.0 },
            Scheme::Two | Scheme::OneVsRest => {
                Current::Apart { scores: vec![0.0; rows * outputs], since: vec![0.0; outputs] }
            }
        };
        Self { outputs, rows, current, votes: vec![0.0; rows * outputs] }
    }

    fn mistake(&mut self, mistake: &Mistake, kernels: &[f64]) {
        self.vote(mistake.gains as usize, mistake.round);
        for (output, step) in mistake.steps() {
            match &mut self.current {
                Current::Apart { scores, .. } => add(&mut scores[output * self.rows..], step, kernels),
                Current::Joint { leaders, .. } => leaders.add(output, step, kernels),
            }
        }
    }

    /// Counts the votes of the vector that ends at `round`.
    fn vote(&mut self, output: usize, round: f64) {
        let since = match &mut self.current {
            Current::Apart { since, .. } => &mut since[output],
            Current::Joint { since, .. } => since,
        };
        let survived = round - *since;
        *since = round;
        if survived == 0.0 {
            return;
        }
        match &self.current {
            Current::Joint { leaders, .. } => {
                for (row, &best) in leaders.best().iter().enumerate() {
                    self.votes[best as usize * self.rows + row] += survived;
                }
            }
            Current::Apart { scores, .. } => {
                let own = output * self.rows..(output + 1) * self.rows;
                for (vote, score) in self.votes[own.clone()].iter_mut().zip(&scores[own]) {
                    *vote += if *score >= 0.0 { survived } else { -survived };
                }
            }
        }
    }

    fn finish(mut self, rounds: f64, scores: &mut [f64]) {
        let clocks = if let Current::Apart { since, .. } = &self.current { since.len() } else { 1 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Recipe;
    use crate::multiclass::best_of;
    use proptest::prelude::*;

    /// The definition: every vector is made, and votes on the row for as many rounds as it survived.
    fn one_vector_after_the_other(voted: &Voted, row: Row<'_>) -> Vec<f64> {
        let outputs = voted.outputs();
        let (mut scores, mut votes) = (vec![0.0; outputs], vec![0.0; outputs]);
        let mut vote = |scores: &[f64], survived: f64| match voted.scheme {
            Scheme::Joint => votes[best_of(scores.iter().copied())] += survived,
            _ => (0..outputs).for_each(|k| votes[k] += if scores[k] >= 0.0 { survived } else { -survived }),
        };
        let mut round = 0.0;
        for mistake in &voted.mistakes {
            vote(&scores, mistake.round - round);
            round = mistake.round;
            let own = voted.rows.row(mistake.row as usize);
            let mut dense = vec![0.0; voted.rows.columns()];
            row.add_to(&mut dense, 1.0);
            let kernel = own.dot(&dense) + voted.bias * voted.bias;
            mistake.steps().for_each(|(output, step)| scores[output] += step * kernel);
        }
        vote(&scores, voted.rounds - round);
        votes.into_iter().map(|votes| votes / voted.rounds).collect()
    }

    proptest! {
        #[test]
        fn votes_are_those_of_all_vectors_one_after_the_other(
            scheme in prop::sample::select(vec![Scheme::Two, Scheme::Joint, Scheme::OneVsRest]),
            classes in 3usize..40,
            made in prop::collection::vec((0u32..12, any::<u32>(), any::<u32>(), 0u32..3), 0..60),
            bias in 0u32..2,
        ) {
            // Whole numbers: no sum is rounded.
            let data = Recipe { rows: 15, features: 4, ..Recipe::default() }.generate();
            let mut rows = crate::data::matrix::Builder::new(crate::data::matrix::Layout::Sparse);
            for i in 0..15 {
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                data.rows.row(i).for_each_nonzero(|j, x| {
                    indices.push(j);
                    values.push((x * 8.0).round());
                });
                rows.push(&indices, &values);
            }
            let rows = rows.finish();
            let outputs = scheme.outputs(classes) as u32;
            let mut round = 0.0;
            let mistakes = made.into_iter().map(|(row, gains, loses, survived)| {
                round += f64::from(survived);
                let (gains, loses) = (gains % outputs, loses % outputs);
                let loses = if scheme == Scheme::Joint && loses != gains { loses } else { NOBODY };
                Mistake { row, gains, loses, step: if survived == 1 { -1.0 } else { 1.0 }, round }
            });
            let mistakes = mistakes.collect();
            let voted = Voted {
                scheme,
                classes: if scheme == Scheme::Two { 2 } else { classes },
                kernel: Kernel::Linear,
                precision: Precision::Double,
                bias: f64::from(bias),
                centres: Vec::new(),
                rows: rows.select(0..12),
                mistakes,
                rounds: round + 1.0,
            };
            let scored: Vec<Row<'_>> = (0..15).map(|i| rows.row(i)).collect();
            let mut scores = vec![0.0; 15 * voted.outputs()];
            voted.score(&scored, &mut Tile::new(Kernel::Linear, Precision::Double), &mut scores);
            for (row, scores) in scored.iter().zip(scores.chunks(voted.outputs())) {
                prop_assert_eq!(scores, one_vector_after_the_other(&voted, *row));
            }
            // With centres, rows that are as far from zero have the same votes.
            let centres = vec![(1, 64.0), (3, -8.0)];
            let back: Vec<(u32, f64)> = centres.iter().map(|(j, centre)| (*j, -centre)).collect();
            let moved = Matrix::of_moved(&scored, &back);
            let moved: Vec<Row<'_>> = (0..15).map(|i| moved.row(i)).collect();
            let centred = Voted { centres, ..voted };
            let mut again = vec![0.0; scores.len()];
            centred.score(&moved, &mut Tile::new(Kernel::Linear, Precision::Double), &mut again);
            prop_assert_eq!(scores, again);
        }
    }
}
