//! 5d — Bayes' rule, with features that are independent of one another within a class.
//!
//! A row gets the class with the largest `ln p(y) + ln p(x|y)`. Let `N(c, j)` be how much of feature j the
//! rows of class c have together, `N(c)` the sum of that over all d features, `R(c)` how many rows there are
//! (each as often as it weighs), and α the smoothing. Then
//!
//! ```text
//! multinomial   ln p(x|c) =  Σⱼ xⱼ · ln (N(c, j) + α) / (N(c) + αd)
//! Bernoulli     ln p(x|c) =  Σⱼ ln p(c, j) where xⱼ > 0, else ln (1 − p(c, j)),   p(c, j) = (N(c, j) + α) / (R(c) + 2α),
//!                            where N(c, j) counts rows that have the feature, however much of it
//! complement    score(c)  = −Σⱼ xⱼ · ln (N(j) − N(c, j) + α) / (N − N(c) + αd), of the other classes' counts; no prior
//! ```
//!
//! (McCallum and Nigam 1998; Rennie, Shih, Teevan and Karger 2003.) All three are linear in the row, or in
//! what it has: the result is [`Weights`](crate::model::Weights) like any other.
//!
//! [`Counts`] is all that is kept of rows, so learning is one pass in any order, and more rows can follow.
//! [`Stream`] predicts each row before it counts it.

mod counts;
mod stream;
#[cfg(test)]
mod tests;

pub use counts::{Counts, Negative, Vocabulary};
pub use stream::Stream;

use serde::{Deserialize, Serialize};

/// What is said of a row, given its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Likelihood {
    /// Each count is so many draws of its feature.
    #[default]
    Multinomial,
    /// Each feature is there or not, however much of it.
    Bernoulli,
    /// Multinomial, by what the other classes' rows have: sturdier where classes differ in size.
    Complement,
}

impl Likelihood {
    /// Every likelihood there is.
    pub const ALL: [Likelihood; 3] = [Likelihood::Multinomial, Likelihood::Bernoulli, Likelihood::Complement];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Likelihood::Multinomial => "multinomial",
            Likelihood::Bernoulli => "bernoulli",
            Likelihood::Complement => "complement",
        }
    }

    /// What a value counts for.
    #[inline(always)]
    fn count(self, x: f64) -> f64 {
        match self {
            Likelihood::Bernoulli => f64::from(u8::from(x > 0.0)),
            Likelihood::Multinomial | Likelihood::Complement => x,
        }
    }
}

/// How probable classes are before a row is seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Priors {
    /// As frequent as their rows.
    #[default]
    Learned,
    /// All alike.
    Uniform,
    /// As named: every label, with a positive number; they sum to 1.
    Given(Vec<(String, f64)>),
}

/// The logarithm of the prior of a class that no row speaks for. It is a number, unlike `ln 0`, and no
/// likelihood makes up for it.
const IMPOSSIBLE: f64 = -1e100;
