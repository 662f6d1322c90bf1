//! Rows in better numbers for learners whose steps depend on the columns: scaled and, with a bias, centred.
//!
//! Weights `v` and a bias `a` of rows `z = (x − c)·f` are weights `w = v·f` and a bias `a − <w, c>` of the
//! rows `x` as they are: models know nothing of it.

use crate::data::{Dataset, Matrix, Scale, Standard};
use crate::error::{Error, Result};
use crate::exact::Dyadic;
use crate::model::{Network, Scorer, State, Voted, Weights, damaged};

/// The names of factors and centres in a state.
const FACTORS: &str = "factors";
const CENTRES: &str = "centres";

/// Whether columns of numbers are moved to a mean of about zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Centring {
    /// They are, for there is a bias to make up for it.
    Centred,
    /// They are not.
    AsGiven,
}

/// How columns become `(x − c)·f`.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// `f`; columns beyond them have a factor of 1.
    factors: Vec<f64>,
    /// `c`, of the first columns.
    centres: Vec<f64>,
}

/// Rows `(x − c)·f`, and how they came about.
pub(super) struct Standardised {
    rows: Matrix<'static>,
    columns: Columns,
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
        Some(Self::by(data, Columns { factors, centres }))
    }

    /// The rows of a data set, by factors and centres that are known. Columns beyond them stay as they are.
    fn by(data: &Dataset, columns: Columns) -> Self {
        Self { rows: data.rows.standardised(&columns.factors, &columns.centres), columns }
    }

    /// The rows of a data set, by the factors and centres that a state tells of; `None` if it tells of none.
    /// What was learned of rows in these numbers goes on with such rows.
    pub(super) fn of_state(data: &Dataset, state: &mut State, features: usize) -> Result<Option<Self>> {
        Ok(Columns::take(state, features)?.map(|columns| Self::by(data, columns)))
    }

    /// The rows.
    pub(super) fn rows(&self) -> &Matrix<'_> {
        &self.rows
    }

    /// How the columns became what they are.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Makes what scores these rows score the rows as they are.
    pub(super) fn fold_back(&self, scorer: &mut Scorer) {
        match scorer {
            Scorer::Linear(weights) => self.columns.fold_back(weights),
            // Votes are by products with rows. They are not of centred ones, which would have no common bias.
            Scorer::Voted(voted) => voted.rows = voted.rows.scaled(&self.columns.factors),
            Scorer::Network(network) => self.columns.fold_back_network(network),
            Scorer::Presence(_) | Scorer::Kernel(_) | Scorer::Clipped(_) | Scorer::Mapped(_) => {}
        }
    }

    /// The same of a copy.
    pub(super) fn folded_back(&self, scorer: &Scorer) -> Scorer {
        let mut scorer = scorer.clone();
        self.fold_back(&mut scorer);
        scorer
    }

    /// Makes votes of the rows as they are votes of these rows, as long as that rounds nothing.
    pub(super) fn unfold_votes(&self, voted: &mut Voted) -> Result<()> {
        let is_exact = |factor: &f64| factor.to_bits() & ((1 << 52) - 1) == 0 && factor.recip().is_normal();
        if !self.columns.factors.iter().all(is_exact) {
            let what = "votes on columns of such a scale cannot go on where validation rows chose the epoch";
            return Err(Error::usage(what).hint("use `scale = standard` or none"));
        }
        let inverses: Vec<f64> = self.columns.factors.iter().map(|factor| factor.recip()).collect();
        voted.rows = voted.rows.scaled(&inverses);
        Ok(())
    }
}

impl Columns {
    /// Puts factors and centres into a state.
    pub(super) fn put(&self, state: &mut State) {
        state.put(FACTORS, self.factors.clone());
        state.put(CENTRES, self.centres.clone());
    }

    /// Takes them out again, if there are any, for so many features at most.
    pub(super) fn take(state: &mut State, features: usize) -> Result<Option<Self>> {
        if !state.has(FACTORS) {
            return Ok(None);
        }
        let (factors, centres) = (state.take_all::<f64>(FACTORS)?, state.take_all::<f64>(CENTRES)?);
        let is_factor = |factor: &f64| factor.is_finite() && *factor > 0.0;
        if !factors.iter().all(is_factor) || !centres.iter().all(|centre| centre.is_finite()) {
            return Err(damaged(
                "the factor of a column is not a positive number, or its centre is no number",
            ));
        }
        if factors.len() > features {
            return Err(damaged("it has factors of more columns than there are features"));
        }
        if !centres.is_empty() && centres.len() != factors.len() {
            return Err(damaged("it has not as many centres of columns as factors"));
        }
        Ok(Some(Self { factors, centres }))
    }

    /// Makes weights of scaled and centred columns those of the columns as they are.
    pub(super) fn fold_back(&self, weights: &mut Weights) {
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
