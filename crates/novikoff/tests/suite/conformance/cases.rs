//! Every learner in every form, and the data they are tried on.

use crate::with::{Own, With};
use novikoff::bayes::Likelihood;
use novikoff::control::Unwatched;
use novikoff::data::generate::Recipe;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report};
use novikoff::evaluate::score_all;
use novikoff::features::Schema;
use novikoff::kernel::Kernel;
use novikoff::loss::LossName;
use novikoff::model::{Activation, Model, Scorer};
use novikoff::multiclass::{Scheme, decide};
use novikoff::online::rule::Length;
use novikoff::penalty::Bias;
use novikoff::random::Random;
use novikoff::train::{Fit, Learner, LearnerName, MultilayerPerceptron, NaiveBayes, train};
use std::fmt;

/// A learner in one of its forms.
#[derive(Clone, Debug)]
pub struct Case {
    pub settings: Learner,
    pub scheme: Scheme,
    pub classes: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, classes) = (self.scheme, self.classes);
        if let Learner::Bayes(bayes) = &self.settings {
            return write!(f, "bayes {} {scheme:?} of {classes}", bayes.likelihood.name());
        }
        let (kernel, length) = (self.settings.kernel(), self.settings.length());
        let (name, bias) = (self.settings.name(), self.settings.bias());
        write!(f, "{name} {kernel} {scheme:?} of {classes}, bias {bias:?}, rows {length:?}")
    }
}

/// Every learner × scheme × bias × length.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for learner in LearnerName::ONLINE {
        for (scheme, classes) in
            [(Scheme::Two, 2), (Scheme::Joint, 2), (Scheme::Joint, 3), (Scheme::OneVsRest, 3)]
        {
            for bias in [Bias::Free, Bias::None] {
                for length in [Length::AsGiven, Length::Unit] {
                    let multiclass = (scheme != Scheme::Two).then_some(scheme);
                    let settings = learner
                        .learner()
                        .with_bias(bias)
                        .with_length(length)
                        .with_multiclass(multiclass)
                        .with_epochs(2000);
                    // Passive-aggressive steps do not depend on a row's length.
                    if settings.length() == length {
                        cases.push(Case { settings, scheme, classes });
                    }
                }
            }
        }
    }
    cases
}

/// Bayes in all its forms. It corrects nothing, so what is said of mistakes, epochs and margins is not for
/// it.
pub fn bayes_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for likelihood in Likelihood::ALL {
        for (scheme, classes) in [(Scheme::Two, 2), (Scheme::Joint, 2), (Scheme::Joint, 3)] {
            let multiclass = (scheme != Scheme::Two).then_some(scheme);
            let bayes: Learner = NaiveBayes::new().likelihood(likelihood).into();
            let settings = bayes.with_multiclass(multiclass);
            cases.push(Case { settings, scheme, classes });
        }
    }
    cases
}

/// Those that correct mistakes in a kernel's space. They have no weights of features, so what is said of
/// margins is not for them.
pub fn kernel_cases() -> Vec<Case> {
    let mut cases = cases();
    for (i, case) in cases.iter_mut().enumerate() {
        let kernel = [Kernel::Polynomial(2), Kernel::Polynomial(3), Kernel::Rbf(0.5)][i % 3];
        case.settings = case.settings.clone().with_kernel(kernel);
    }
    cases
}

/// Networks, with a few hidden units. Nothing is proved of them, and they do not stop when no mistake is
/// made.
pub fn network_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (scheme, classes, loss) in [
        (Scheme::Two, 2, LossName::Logistic),
        (Scheme::Two, 2, LossName::Hinge),
        (Scheme::Joint, 2, LossName::Logistic),
        (Scheme::Joint, 3, LossName::Logistic),
        (Scheme::OneVsRest, 3, LossName::SquaredHinge),
    ] {
        for (activation, bias) in [(Activation::Relu, Bias::Free), (Activation::Tanh, Bias::None)] {
            let multiclass = (scheme != Scheme::Two).then_some(scheme);
            let network = MultilayerPerceptron::new().units(8).activation(activation).loss(loss).step(0.02);
            let settings = Learner::from(network.bias(bias).epochs(60)).with_multiclass(multiclass);
            cases.push(Case { settings, scheme, classes });
        }
    }
    cases
}

/// Those that go over the rows in epochs.
pub fn epoch_cases() -> Vec<Case> {
    [cases(), network_cases()].concat()
}

/// Those that correct mistakes, with and without a kernel, those that count, and networks.
pub fn every_case() -> Vec<Case> {
    [cases(), kernel_cases(), bayes_cases(), network_cases()].concat()
}

/// Rows that the case can learn to tell apart: separable ones, or counts that leave no doubt.
pub fn rows_for(case: &Case, rows: usize, seed: u64) -> Dataset<'static> {
    if case.settings.named().unwrap() == LearnerName::Bayes {
        counts(case.classes, rows, seed)
    } else {
        separable(case.classes, rows, seed)
    }
}

/// Rows that come once with every label.
pub fn confusing_rows_for(case: &Case, rows: usize, seed: u64) -> Dataset<'static> {
    if case.settings.named().unwrap() != LearnerName::Bayes {
        return inseparable(case.classes, rows, seed);
    }
    let mut data = counts(case.classes, rows, seed);
    data = data.select(&(0..rows).map(|i| i - i % case.classes).collect::<Vec<_>>());
    data.labels = (0..rows as u32).map(|i| i % case.classes as u32).collect();
    data
}

/// Counts of which each class has one column that the others hardly have.
pub fn counts(classes: usize, rows: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let names: &[&str] = if classes == 2 { &["-1", "1"] } else { &["0", "1", "2"] };
    let mut count =
        |j: usize, class: usize| random.below(2) + if j == class { 4 + random.below(4) } else { 0 };
    let values: Vec<Vec<f64>> = (0..rows)
        .map(|i| {
            (0..classes + 30)
                .map(|j| count(j, i % classes) as f64 * f64::from(u8::from(j != (i + 1) % classes)))
                .collect()
        })
        .collect();
    dataset(&values, &(0..rows).map(|i| names[i % classes]).collect::<Vec<_>>())
}

/// Cases that keep their weights, for claims about weights.
pub fn linear_cases() -> Vec<Case> {
    let votes = |case: &Case| case.settings.named().unwrap() == LearnerName::Voted;
    println!("skipped: voted: it keeps votes, not weights");
    cases().into_iter().filter(|case| !votes(case)).collect()
}

pub fn dataset(rows: &[Vec<f64>], labels: &[&str]) -> Dataset<'static> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut builder = Builder::new(Layout::Dense { columns });
    let indices: Vec<u32> = (0..columns as u32).collect();
    rows.iter().for_each(|row| builder.push(&indices, row));
    let mut matrix = builder.finish();
    matrix.widen(columns);
    let mut names = Labels::default();
    let labels = labels.iter().map(|label| names.intern(label)).collect();
    let report = Report { rows: rows.len() as u64, ..Report::default() };
    Dataset { rows: matrix, labels, names, row_weights: Vec::new(), schema: Schema::one_based(), report }
}

/// Separable rows, by a margin that takes a few epochs; every class is separable from all others, through the
/// origin, too.
pub fn separable(classes: usize, rows: usize, seed: u64) -> Dataset<'static> {
    if classes == 2 {
        return Recipe { rows, features: 6, margin: 0.15, seed, ..Recipe::default() }.generate();
    }
    let mut random = Random::new(seed);
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let corner = |class: usize, random: &mut Random| -> Vec<f64> {
        (0..classes + 3)
            .map(|j| f64::from(u8::from(j == class)) + 0.15 * random.normal().clamp(-1.5, 1.5))
            .collect()
    };
    let values: Vec<Vec<f64>> = (0..rows).map(|i| corner(i % classes, &mut random)).collect();
    let labels: Vec<&str> = (0..rows).map(|i| names[i % classes].as_str()).collect();
    dataset(&values, &labels)
}

/// Rows that no hyperplane separates: each comes once with every label.
pub fn inseparable(classes: usize, rows: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let mut values = Vec::new();
    for _ in 0..rows / classes {
        let row: Vec<f64> = (0..5).map(|_| random.normal()).collect();
        values.extend(std::iter::repeat_n(row, classes));
    }
    let labels: Vec<&str> = (0..values.len()).map(|i| names[i % classes].as_str()).collect();
    dataset(&values, &labels)
}

pub fn fit(case: &Case, data: &Dataset) -> Fit {
    train(data, None, &case.settings, &mut Unwatched).unwrap_or_else(|e| panic!("{case}: {e}"))
}

/// The names that a model predicts for the rows.
pub fn predictions(model: &Model, data: &Dataset) -> Vec<String> {
    let scores = score_all(&model.scorer, data);
    scores.chunks(model.scorer.outputs()).map(|s| model.labels.names()[decide(s)].clone()).collect()
}

/// The names that the rows have.
pub fn truths(data: &Dataset) -> Vec<String> {
    data.labels.iter().map(|&label| data.names.names()[label as usize].clone()).collect()
}

/// The same data under other names.
pub fn renamed(data: &Dataset, names: &[&str]) -> Dataset<'static> {
    Dataset { names: Labels::new(names), ..data.clone().into_owned() }
}

/// All numbers in a scorer.
pub fn numbers(scorer: &Scorer) -> Vec<f64> {
    match scorer {
        Scorer::Linear(weights) | Scorer::Presence(weights) => {
            weights.values.iter().chain(&weights.bias).copied().collect()
        }
        Scorer::Kernel(expansion) => expansion.coefficients.clone(),
        Scorer::Voted(voted) => {
            let mistakes = voted.mistakes.iter().flat_map(|mistake| [mistake.step, mistake.round]);
            mistakes.chain([voted.rounds]).collect()
        }
        Scorer::Clipped(clipped) => clipped.weights.values.clone(),
        Scorer::Network(network) => network.numbers().collect(),
        Scorer::Mapped(mapped) => numbers(&mapped.scorer),
    }
}

/// The data as svmlight text, to the last digit.
pub fn svmlight(data: &Dataset) -> String {
    let mut text = String::new();
    for (i, label) in truths(data).iter().enumerate() {
        text.push_str(label);
        data.rows.row(i).for_each_nonzero(|j, x| text.push_str(&format!(" {}:{x}", j + 1)));
        text.push('\n');
    }
    text
}
