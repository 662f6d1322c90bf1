//! From the mistakes of a run to models: its last weight vector, their average, or all of them.

use super::{Expansion, Mistake, Voted};
use crate::data::Matrix;
use crate::kernel::{Kernel, Precision};
use crate::multiclass::Scheme;

/// A run's mistakes up to some round, with the rows they were made on: what models are made of.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What compares rows.
    pub kernel: Kernel,
    /// In which precision.
    pub precision: Precision,
    /// The value of the bias's coordinate: 1 or 0.
    pub bias: f64,
    /// All rows; mistakes count in them.
    pub rows: &'a Matrix,
    /// The mistakes.
    pub mistakes: &'a [Mistake],
    /// Rounds.
    pub rounds: f64,
}

/// Which of a run's weight vectors to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The last one.
    Last,
    /// Their average over all rounds.
    Average,
}

impl Run<'_> {
    /// The rows of the mistakes, each once, in the order of their first; and the mistakes, counting in them.
    pub fn support(&self) -> (Vec<usize>, Vec<Mistake>) {
        let mut slots = vec![u32::MAX; self.rows.rows()];
        let mut kept = Vec::new();
        let mistakes = self.mistakes.iter().map(|mistake| {
            let slot = &mut slots[mistake.row as usize];
            if *slot == u32::MAX {
                *slot = kept.len() as u32;
                kept.push(mistake.row as usize);
            }
            Mistake { row: *slot, ..*mistake }
        });
        let mistakes = mistakes.collect();
        (kept, mistakes)
    }

    /// All its weight vectors, voting.
    pub fn voted(&self, scheme: Scheme, classes: usize) -> Voted {
        let (kept, mistakes) = self.support();
        let Run { kernel, precision, bias, rows, rounds, .. } = *self;
        Voted { scheme, classes, kernel, precision, bias, rows: rows.select(kept), mistakes, rounds }
    }

    /// One of its weight vectors, per output. Rows whose steps have cancelled are left out.
    pub fn expansion(&self, outputs: usize, form: Form) -> Expansion {
        let (mut kept, mistakes) = self.support();
        let mut coefficients = vec![0.0; kept.len() * outputs];
        for mistake in &mistakes {
            let lived = match form {
                Form::Last => 1.0,
                Form::Average => (self.rounds - mistake.round) / self.rounds,
            };
            let own = &mut coefficients[mistake.row as usize * outputs..][..outputs];
            mistake.steps().for_each(|(output, step)| own[output] += step * lived);
        }
        let needed: Vec<bool> =
            coefficients.chunks_exact(outputs).map(|own| own.iter().any(|c| *c != 0.0)).collect();
        let mut each = needed.iter();
        kept.retain(|_| each.next() == Some(&true));
        let chosen = coefficients.chunks_exact(outputs).zip(&needed).filter(|(_, needed)| **needed);
        let coefficients = chosen.flat_map(|(own, _)| own).copied().collect();
        let Run { kernel, precision, bias, rows, .. } = *self;
        Expansion { kernel, precision, bias, rows: rows.select(kept), outputs, coefficients }
    }
}
