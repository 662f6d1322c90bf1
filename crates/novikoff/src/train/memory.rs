//! What a training will take of memory, beside the rows that are there: estimated before any of it is taken.
//!
//! The estimates count what grows with the product of two sizes (rows, features, classes, hidden units), and
//! copies of the rows. They are meant to tell gigabytes from terabytes, not to be exact.

use super::learner::{Criterion, Learner, MultilayerPerceptron, Risk, Shared};
use crate::data::{Dataset, Scale};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::loss::{LossName, Targets};
use crate::memory::Estimate;
use crate::multiclass::Scheme;
use crate::risk::blocks;

/// More classes than this are unusual enough to ask whether they are numbers.
const MANY_CLASSES: usize = 100;
/// More columns than this, and Newton's steps have no factor ([`hessian`](crate::solver)).
const MOST_FACTORED: usize = 2048;
/// Most multiplications of an error on the training rows that nobody asked for.
const SCORING_COST: f64 = 4e9;

/// Refuses a training that takes more memory than there is, or than `memory` allows.
pub(crate) fn check_memory(data: &Dataset, learner: &Learner) -> Result<()> {
    refuse(estimate(data, learner), data, learner)
}

/// The same for cross-validation, with so many folds at a time.
pub(super) fn check_memory_of_folds(data: &Dataset, learner: &Learner, folds: usize) -> Result<()> {
    let at_once = folds.min(rayon::current_num_threads());
    let copies = [(at_once, "folds at once"), (data.rows.bytes(), "bytes")];
    refuse(estimate(data, learner).with("rows of folds", &copies), data, learner)
}

fn refuse(estimate: Estimate, data: &Dataset, learner: &Learner) -> Result<()> {
    estimate.check("this training", learner.shared().memory).map_err(|error| {
        let mut hint = match learner {
            Learner::Network(_) => {
                "fewer units, by `units`, or fewer features take less; `memory = SIZE` allows more"
            }
            _ => "fewer features or classes take less; `memory = SIZE` allows more",
        }
        .to_owned();
        if !learner.predicts_numbers() && data.names.len() > MANY_CLASSES && data.names.numbers().is_some() {
            hint.push_str("; if the labels are numbers to predict, say `task = regression`");
        }
        error.hint(hint)
    })
}

/// The sizes of rows to learn from.
#[derive(Clone, Copy)]
struct Sizes {
    rows: usize,
    features: usize,
    entries: usize,
    bytes: usize,
    /// Classes, or 1 for numbers.
    classes: usize,
    /// Weight vectors.
    outputs: usize,
}

fn estimate(data: &Dataset, learner: &Learner) -> Estimate {
    let classes = if learner.predicts_numbers() { 1 } else { data.names.len() };
    let rows = &data.rows;
    let mut sizes = Sizes {
        rows: rows.rows(),
        features: rows.columns(),
        entries: rows.stored(),
        bytes: rows.bytes(),
        classes,
        outputs: if classes <= 2 { 1 } else { classes },
    };
    let mut estimate = Estimate::default();
    if let Some(map) = learner.shared().map {
        let entries =
            (0..sizes.rows).fold(0usize, |sum, i| sum.saturating_add(map.entries(rows.row(i).nonzeros())));
        // Single precision where every row has every feature; else an index and a value.
        let width = if map.is_dense() { 4 } else { 12 };
        estimate = estimate.with("mapped rows", &[(entries, "entries"), (width, "bytes")]);
        let features = map.features(sizes.features).unwrap_or(usize::MAX);
        sizes = Sizes { features, entries, bytes: entries.saturating_mul(width), ..sizes };
    }
    if learner.shared().calibrate.is_some() {
        estimate = estimate.with("rows of folds", &[(sizes.bytes, "bytes")]);
    }
    match learner {
        Learner::Risk(risk) => of_risk(estimate, risk, sizes),
        Learner::Perceptron(own) => {
            let estimate = of_standardised(estimate, own.scale, own.kernel, sizes);
            of_corrections(estimate, own.kernel, own.own_feature.is_some(), sizes)
        }
        Learner::PassiveAggressive(own) => {
            let estimate = of_standardised(estimate, own.scale, own.kernel, sizes);
            of_corrections(estimate, own.kernel, false, sizes)
        }
        Learner::Bayes(_) => {
            let weights = weights(3, sizes.features, sizes.classes);
            let scores = scores(1, sizes.rows, sizes.classes);
            estimate.with("counts and weights", &weights).with("scores", &scores)
        }
        Learner::Network(network) => {
            let estimate = of_standardised(estimate, network.scale, Kernel::Linear, sizes);
            of_network(estimate, network, sizes)
        }
    }
}

fn weights(copies: usize, features: usize, classes: usize) -> [(usize, &'static str); 4] {
    [(copies, ""), (features, "features"), (classes, "classes"), (8, "bytes")]
}

fn scores(copies: usize, rows: usize, classes: usize) -> [(usize, &'static str); 4] {
    [(copies, ""), (rows, "rows"), (classes, "classes"), (8, "bytes")]
}

fn of_risk(mut estimate: Estimate, risk: &Risk, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, bytes, outputs, .. } = sizes;
    if risk.scale != Scale::None {
        estimate = estimate.with("scaled rows", &[(bytes, "bytes")]);
    }
    if risk.l1 > 0.0 || risk.criterion == Criterion::Boosting {
        estimate = estimate.with("rows by columns", &[(entries, "entries"), (12, "bytes")]);
    }
    if !is_joint(risk, sizes) {
        let at_once = blocks(rows, entries, features).len() * outputs.min(rayon::current_num_threads());
        // Of each weight vector the scores, the duals, and the scores side by side with those of the others.
        return estimate
            .with("scores and duals", &scores(3, rows, outputs))
            .with("weights", &weights(3, features, outputs))
            .with("sums over rows", &[(at_once, "at once"), (features, "features"), (8, "bytes")]);
    }
    // The scores before and after a step, the change, and the probabilities.
    estimate = estimate.with("scores", &scores(4, rows, outputs));
    // Gradient, direction and their like, and a sum for each block of rows.
    let sums = blocks(rows, entries.saturating_mul(outputs), features.saturating_mul(outputs)).len();
    estimate = estimate.with("weights", &weights(8 + sums, features, outputs));
    if features < MOST_FACTORED {
        let factor =
            [(outputs, "classes"), (features + 1, "features"), (features + 1, "features"), (8, "bytes")];
        estimate = estimate.with("factors of second derivatives", &factor);
    }
    estimate
}

/// Whether all classes are learned at once.
fn is_joint(risk: &Risk, sizes: Sizes) -> bool {
    let Shared { multiclass, .. } = risk.shared;
    risk.criterion == Criterion::Loss(LossName::Logistic)
        && risk.criterion.targets() == Targets::Signs
        && risk.l1 == 0.0
        && sizes.classes > 2
        && multiclass != Some(Scheme::OneVsRest)
}

/// Scaled rows, at most twice as many entries as there are.
fn of_standardised(estimate: Estimate, scale: Scale, kernel: Kernel, sizes: Sizes) -> Estimate {
    match scale == Scale::None || kernel != Kernel::Linear {
        true => estimate,
        false => estimate.with("scaled rows", &[(2, ""), (sizes.bytes, "bytes")]),
    }
}

fn of_corrections(estimate: Estimate, kernel: Kernel, has_own_feature: bool, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, outputs, .. } = sizes;
    if kernel != Kernel::Linear {
        return estimate.with("coefficients and scores", &scores(3, rows, outputs));
    }
    // Weights, what their average is computed from, the average, and the best so far.
    let mut estimate = estimate.with("weights", &weights(4, features, outputs));
    if has_own_feature {
        estimate = estimate.with("weights of rows", &scores(1, rows, outputs));
    }
    match entries as f64 * (outputs as f64) < SCORING_COST {
        true => estimate.with("scores", &scores(1, rows, outputs)),
        false => estimate,
    }
}

fn of_network(estimate: Estimate, network: &MultilayerPerceptron, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, outputs, .. } = sizes;
    // Each weight of single precision is learned with two numbers beside it, and all are copied in the end.
    let layer = [
        (features.saturating_add(outputs), "features and outputs"),
        (network.units, "hidden units"),
        (24, "bytes"),
    ];
    estimate.with("weights", &layer).with("scores", &scores(1, rows, outputs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unwatched;
    use crate::train::{LearnerName, train};

    /// So many rows, each of a class of its own, with one feature.
    fn rows_of_classes(rows: usize, classes: usize) -> Dataset<'static> {
        let labels: Vec<String> = (0..rows).map(|i| format!("class {}", i % classes)).collect();
        Dataset::from_dense(vec![1.0; rows], 1).unwrap().with_labels(&labels).unwrap()
    }

    #[test]
    fn classes_times_rows_are_counted_before_they_are_taken() {
        let data = rows_of_classes(1000, 100);
        for (name, least) in [
            (LearnerName::Logistic, 4 * 1000 * 100 * 8),
            (LearnerName::Svm, 3 * 1000 * 100 * 8),
            (LearnerName::Averaged, 1000 * 100 * 8),
            (LearnerName::Bayes, 1000 * 100 * 8),
            (LearnerName::Network, 1000 * 100 * 8),
        ] {
            let bytes = estimate(&data, &name.learner()).bytes();
            assert!((least..2 * least).contains(&bytes), "{name:?}: {bytes}");
        }
    }

    #[test]
    fn a_budget_that_is_too_small_is_an_error_and_a_larger_one_trains() {
        let data = rows_of_classes(200, 20);
        for name in
            [LearnerName::Logistic, LearnerName::SquaredSvm, LearnerName::Averaged, LearnerName::Bayes]
        {
            let mut learner = name.learner();
            learner.shared_mut().memory = Some(1000);
            let error = train(&data, None, &learner, &mut Unwatched).unwrap_err();
            assert!(error.what().starts_with("this training needs about"), "{name:?}: {error}");
            assert!(error.advice().unwrap().contains("`memory = SIZE`"));
            learner.shared_mut().memory = Some(10_000_000);
            assert!(train(&data, None, &learner, &mut Unwatched).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn maps_are_counted_by_what_they_make_of_rows() {
        let data = Dataset::from_dense(&[1.0; 300], 30).unwrap().with_labels(&["a", "b"].repeat(5)).unwrap();
        let mut learner = LearnerName::Averaged.learner();
        learner.shared_mut().map = Some(crate::features::map::Map::Poly { degree: 3 });
        // 30 numbers have C(33, 3) − 1 products of up to three.
        assert!(estimate(&data, &learner).bytes() >= 10 * 5455 * 12);
    }
}
