//! Rows in better numbers for learners whose steps depend on the columns: scaled and, with a bias, centred.
//!
//! Weights `v` and a bias `a` of rows `z = (x − c)·f` are weights `w = v·f` and a bias `a − <w, c>` of the
//! rows `x` as they are: models know nothing of it.

use crate::data::{Dataset, Matrix, Scale, Standard};
use crate::exact::Dyadic;
use crate::model::{Network, Scorer, Weights};

/// Whether columns of numbers are moved to a mean of about zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Centring {
    /// They are, for there is a bias to make up for it.
    Centred,
    /// They are not.
    AsGiven,
}

/// Rows `(x − c)·f`, and how they came about.
pub(super) struct Standardised {
    rows: Matrix<'static>,
    /// `f`; columns beyond them have a factor of 1.
    factors: Vec<f64>,
    /// `c`, of the first columns.
    centres: Vec<f64>,
}

impl Standardised {
    /// The rows of a data set; `None` if they are to be left as they are, or are so already.
    pub(super) fn of(data: &Dataset, scale: Scale, centring: Centring) -> Option<Self> {
        let (mut factors, mut centres) = match data.effective(scale) {
            Scale::None => return None,
            Scale::Standard => {
                let standard = Standard::of(&data.rows, &data.row_weights);
                let centres = if centring == Centring::Centred { standard.centres() } else { Vec::new() };
                (standard.factors(), centres)
            }
            other => (data.factors(other), Vec::new()),
        };
        let columns = data.scaled_columns().map_or(usize::MAX, |columns| columns as usize);
        factors.truncate(columns);
        centres.truncate(columns);
        if factors.iter().all(|factor| *factor == 1.0) && centres.iter().all(|centre| *centre == 0.0) {
            return None;
        }
        let rows = data.rows.standardised(&factors, &centres);
        Some(Self { rows, factors, centres })
    }

    /// The rows.
    pub(super) fn rows(&self) -> &Matrix<'_> {
        &self.rows
    }

    /// Makes what scores these rows score the rows as they are.
    pub(super) fn fold_back(&self, scorer: &mut Scorer) {
        match scorer {
            Scorer::Linear(weights) => self.fold_back_weights(weights),
            // Votes are by products with rows. They are not of centred ones, which would have no common bias.
            Scorer::Voted(voted) => voted.rows = voted.rows.scaled(&self.factors),
            Scorer::Network(network) => self.fold_back_network(network),
            Scorer::Presence(_) | Scorer::Kernel(_) | Scorer::Mapped(_) => {}
        }
    }

    /// The same of a copy.
    pub(super) fn folded_back(&self, scorer: &Scorer) -> Scorer {
        let mut scorer = scorer.clone();
        self.fold_back(&mut scorer);
        scorer
    }

    fn fold_back_weights(&self, weights: &mut Weights) {
        weights.fold_back(&self.factors);
        for output in 0..weights.outputs() {
            let of = |j: usize| weights.weight(j, output);
            weights.bias[output] = self.moved(weights.bias[output], of);
        }
    }

    /// The scales of a network belong to its weights already, once they are known to it.
    fn fold_back_network(&self, network: &mut Network) {
        for (scale, factor) in network.scales.iter_mut().zip(&self.factors) {
            *scale *= factor;
        }
        let features = network.features();
        for unit in 0..network.hidden() {
            let of = |j: usize| f64::from(network.weights_of(j)[unit]) * network.scales[j];
            let bias = self.moved(network.weights_of(features)[unit].into(), of) as f32;
            network.weights_of_mut(features)[unit] = bias;
        }
    }

    /// `bias − <w, c>`, rounded once.
    fn moved(&self, bias: f64, weight: impl Fn(usize) -> f64) -> f64 {
        let terms =
            || self.centres.iter().enumerate().filter(|(_, c)| **c != 0.0).map(|(j, c)| (-c, weight(j)));
        if terms().next().is_none() {
            return bias;
        }
        // What overflowed is found, and refused, by those who know what it was learned from.
        if !bias.is_finite() || terms().any(|(_, w)| !w.is_finite()) {
            return f64::NAN;
        }
        let mut sum = Dyadic::of(bias);
        terms().for_each(|(c, w)| sum.add_product(c, w));
        // Towards zero: of the negated weights it is the negated bias. Plus zero: −0 has other bytes in a
        // file.
        let (low, high) = sum.between();
        (if low < 0.0 { high } else { low }) + 0.0
    }
}
