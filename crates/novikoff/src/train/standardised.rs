//! Rows in better numbers for learners whose steps depend on the columns: scaled and, with a bias, centred.
//!
//! Weights `v` and a bias `a` of rows `z = (x − c)·f` are weights `w = v·f` and a bias `a − <w, c>` of the
//! rows `x` as they are: models know nothing of it.

use crate::data::{Dataset, Matrix, Scale, Standard};
use crate::error::Result;
use crate::exact::Dyadic;
use crate::model::{Network, Scorer, State, Weights, damaged};

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
        let columns = Columns { factors, centres };
        columns.changes_something().then(|| Self::by(data, columns))
    }

    /// The rows of a data set, by factors and centres that are known. Columns beyond them stay as they are.
    pub(super) fn by(data: &Dataset, columns: Columns) -> Self {
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

    /// The rows, and how the columns became what they are.
    pub(super) fn into_parts(self) -> (Matrix<'static>, Columns) {
        (self.rows, self.columns)
    }

    /// Makes what scores these rows score the rows as they are.
    pub(super) fn fold_back(&self, scorer: &mut Scorer) {
        match scorer {
            Scorer::Linear(weights) => self.columns.fold_back(weights),
            // Votes are by products with rows, of which each weight vector would have another bias.
            Scorer::Voted(voted) => {
                voted.rows = voted.rows.scaled(&self.columns.factors);
                voted.centres = self.columns.moved_columns();
            }
            // The scales of a network belong to its weights already, once they are known to it.
            Scorer::Network(network) => {
                network.scales.iter_mut().zip(&self.columns.factors).for_each(|(scale, f)| *scale *= f);
                network.centres = self.columns.moved_columns();
            }
            Scorer::Presence(_) | Scorer::Kernel(_) | Scorer::Clipped(_) | Scorer::Mapped(_) => {}
        }
    }

    /// The same of a copy.
    pub(super) fn folded_back(&self, scorer: &Scorer) -> Scorer {
        let mut scorer = scorer.clone();
        self.fold_back(&mut scorer);
        scorer
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

    /// Makes weights of the columns as they are those of scaled and centred ones.
    pub(super) fn unfold(&self, weights: &mut Weights) {
        for output in 0..weights.outputs() {
            let of = |j: usize| -weights.weight(j, output);
            weights.bias[output] = self.moved(weights.bias[output], of);
        }
        weights.unfold(&self.factors);
    }

    /// The same of a network whose scales are 1.
    pub(super) fn unfold_network(&self, network: &mut Network) {
        self.move_biases(network, -1.0);
        for (j, factor) in self.factors.iter().enumerate().take(network.features()) {
            scale_weights(network.weights_of_mut(j), factor.recip());
        }
    }

    /// Makes a network that sees columns in this way one of the columns as they are.
    pub(super) fn fold_into_network(&self, network: &mut Network) {
        network.scales.fill(1.0);
        network.centres.clear();
        for (j, factor) in self.factors.iter().enumerate().take(network.features()) {
            scale_weights(network.weights_of_mut(j), *factor);
        }
        self.move_biases(network, 1.0);
    }

    /// Adds `−sign·<w, c>` to the biases of hidden units.
    fn move_biases(&self, network: &mut Network, sign: f64) {
        let features = network.features();
        for unit in 0..network.hidden() {
            let of =
                |j: usize| if j < features { sign * f64::from(network.weights_of(j)[unit]) } else { 0.0 };
            let bias = self.moved(network.weights_of(features)[unit].into(), of) as f32;
            network.weights_of_mut(features)[unit] = bias;
        }
    }

    /// How a network sees columns, if not as they are.
    pub(super) fn of_network(network: &Network) -> Option<Self> {
        let mut centres = vec![0.0; network.features()];
        network.centres.iter().for_each(|(j, centre)| centres[*j as usize] = *centre);
        let columns = Self { factors: network.scales.clone(), centres };
        columns.changes_something().then_some(columns)
    }

    /// Columns that are scaled and not moved.
    pub(super) fn scaled(factors: Vec<f64>) -> Self {
        Self { factors, centres: Vec::new() }
    }

    /// The factors of the first columns; others have a factor of 1.
    pub(super) fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// Whether some columns are moved.
    pub(super) fn is_moving(&self) -> bool {
        self.centres.iter().any(|centre| *centre != 0.0)
    }

    /// How many times as large a gap may be of the columns as they are: what is left of the slope along the
    /// bias counts by as much as the centres are from zero.
    pub(super) fn stretch(&self) -> f64 {
        /// Solvers are not asked for more: there is an end to what doubles can do.
        const MOST: f64 = 1e4;
        let far = self.centres.iter().zip(&self.factors).map(|(centre, factor)| (centre * factor).abs());
        (1.0 + far.fold(0.0, f64::max)).min(MOST)
    }

    fn changes_something(&self) -> bool {
        self.factors.iter().any(|factor| *factor != 1.0) || self.is_moving()
    }

    /// The columns that are moved, and by how much.
    fn moved_columns(&self) -> Vec<(u32, f64)> {
        (0..).zip(self.centres.iter().copied()).filter(|(_, centre)| *centre != 0.0).collect()
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

/// Weights that become too large for single precision are of columns that are scaled to nothing.
fn scale_weights(weights: &mut [f32], by: f64) {
    for weight in weights {
        let scaled = (f64::from(*weight) * by) as f32;
        *weight = if scaled.is_finite() { scaled } else { 0.0 };
    }
}
