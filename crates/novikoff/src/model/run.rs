//! From the mistakes of an online run to models: the last weight vector, the average of all, or all with
//! votes.

use super::{Expansion, Mistake, Voted};
use crate::data::Matrix;
use crate::kernel::{Kernel, Precision};
use crate::multiclass::Scheme;

/// The mistakes of a run up to some round, with the rows on which they were made.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The kernel.
    pub kernel: Kernel,
    /// The precision of dot products.
    pub precision: Precision,
    /// The value of the bias's coordinate: 1 or 0.
    pub bias: f64,
    /// All rows; mistakes refer to them by number.
    pub rows: &'a Matrix<'a>,
    /// The mistakes, in order.
    pub mistakes: &'a [Mistake],
    /// The number of rounds.
    pub rounds: f64,
}

/// Which weight vector of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightVector {
    /// The last.
    Last,
    /// The average over all rounds.
    Average,
}

impl Run<'_> {
    /// The rows of the mistakes, each once, in the order of their first mistakes; and the mistakes, which
    /// refer to these rows.
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

    /// All weight vectors of the run, with their votes.
    pub fn voted(&self, scheme: Scheme, classes: usize) -> Voted {
        let (kept, mistakes) = self.support();
        let Run { kernel, precision, bias, rows, rounds, .. } = *self;
        let (centres, rows) = (Vec::new(), rows.select(kept));
        Voted { scheme, classes, kernel, precision, bias, centres, rows, mistakes, rounds }
    }

    /// A weight vector of the run, for each output. Rows whose steps have cancelled are left out.
    pub fn expansion(&self, outputs: usize, which: WeightVector) -> Expansion {
        let (mut kept, mistakes) = self.support();
        let mut coefficients = vec![0.0; kept.len() * outputs];
        for mistake in &mistakes {
            let share = match which {
                WeightVector::Last => 1.0,
                WeightVector::Average => (self.rounds - mistake.round) / self.rounds,
            };
            let own = &mut coefficients[mistake.row as usize * outputs..][..outputs];
            mistake.steps().for_each(|(output, step)| own[output] += step * share);
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
