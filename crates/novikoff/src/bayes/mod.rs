//! Naive Bayes: Bayes' rule, with features that are independent of one another given the class.
//!
//! The prediction is the class with the largest `ln p(y) + ln p(x|y)`. Let `N(c, j)` be the sum of feature j
//! over the rows of class c, `N(c)` its sum over all d features, `R(c)` the number of rows of class c (by
//! weight), and α the smoothing. Then
//!
//! ```text
//! multinomial   ln p(x|c) =  Σⱼ xⱼ · ln (N(c, j) + α) / (N(c) + αd)
//! Bernoulli     ln p(x|c) =  Σⱼ ln p(c, j) where xⱼ > 0, else ln (1 − p(c, j)),
//!                            p(c, j) = (N(c, j) + α) / (R(c) + 2α), N(c, j) rows with xⱼ > 0
//! complement    score(c)  = −Σⱼ xⱼ · ln (N(j) − N(c, j) + α) / (N − N(c) + αd); no prior
//! ```
//!
//! (McCallum and Nigam 1998; Rennie, Shih, Teevan and Karger 2003.) All three are linear in the row, or in
//! its indicators `xⱼ > 0`: the result is [`Weights`](crate::model::Weights) like any other.
//!
//! [`Counts`] is a sufficient statistic, so training is one pass in any order, and can continue with more
//! rows. On a stream, each row is predicted before it is counted.

mod counts;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use counts::Negative;
pub use counts::{Counts, Vocabulary};
pub(crate) use stream::Stream;

use serde::{Deserialize, Serialize};

/// The likelihood `p(x|y)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Likelihood {
    /// A count is a number of draws of its feature.
    #[default]
    Multinomial,
    /// A feature is present or absent.
    Bernoulli,
    /// Multinomial on the counts of all other classes: more robust where classes differ in size.
    Complement,
}

impl Likelihood {
    /// All likelihoods.
    pub const ALL: [Likelihood; 3] = [Likelihood::Multinomial, Likelihood::Bernoulli, Likelihood::Complement];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Likelihood::Multinomial => "multinomial",
            Likelihood::Bernoulli => "bernoulli",
            Likelihood::Complement => "complement",
        }
    }

    /// The count of a value.
    #[inline(always)]
    fn count(self, x: f64) -> f64 {
        match self {
            Likelihood::Bernoulli => f64::from(u8::from(x > 0.0)),
            Likelihood::Multinomial | Likelihood::Complement => x,
        }
    }
}

/// The prior probabilities of classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Priors {
    /// The frequencies of the classes in the training rows.
    #[default]
    Learned,
    /// Equal for all classes.
    Uniform,
    /// Given for every label: positive, with sum 1.
    Given(Vec<(String, f64)>),
}

/// The log prior of a class without rows. It is finite, unlike `ln 0`, and below any log likelihood.
const IMPOSSIBLE: f64 = -1e100;
