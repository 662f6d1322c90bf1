//! What a training will take of memory, beside the rows that are there: estimated before any of it is taken.
//!
//! The estimates count what grows with the product of two sizes (rows, features, classes, hidden units), and
//! copies of the rows and of a number for every feature. Where features are many beside the entries, scaling
//! takes most: it keeps sums of every column. They are meant to be no less than what is taken, and no more
//! than a few times as much; `novikoff-cli/tests/memory.rs` holds them to that.

use super::FOLDS;
use super::learner::{Criterion, Learner, MultilayerPerceptron, Risk, Shared, SolverName};
use super::risk::expected_solver;
use crate::data::{Dataset, Matrix, ROWS_AT_ONCE, Scale};
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
/// Most rows that the factor is made of, for each column.
const ROWS_PER_COLUMN: usize = 8;
/// Most multiplications of an error on the training rows that nobody asked for.
const SCORING_COST: f64 = 4e9;

/// Refuses a training that takes more memory than there is, or than `memory` allows.
pub(crate) fn check_memory(data: &Dataset, learner: &Learner) -> Result<()> {
    refuse(estimate(data, learner), data, learner)
}

/// The same for cross-validation, with so many folds at a time.
pub(super) fn check_memory_of_folds(data: &Dataset, learner: &Learner, folds: usize) -> Result<()> {
    refuse(estimate_of_folds(data, learner, folds), data, learner)
}

fn refuse(estimate: Estimate, data: &Dataset, learner: &Learner) -> Result<()> {
    let budget = learner.shared().memory;
    // What is available is so beside the rows that are there; what is allowed, with them.
    let estimate = match budget {
        Some(_) => estimate.with("rows", &[(data.rows.bytes(), "bytes")]),
        None => estimate,
    };
    estimate.check("this training", budget).map_err(|error| {
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
    /// Bytes of an entry that is stored as it is computed.
    width: usize,
    /// Classes, or 1 for numbers.
    classes: usize,
    /// Weight vectors.
    outputs: usize,
}

impl Sizes {
    fn of(rows: &Matrix, classes: usize) -> Self {
        Self {
            rows: rows.rows(),
            features: rows.columns(),
            entries: rows.stored(),
            bytes: rows.bytes(),
            width: if rows.is_dense() { 8 } else { 12 },
            classes,
            outputs: if classes <= 2 { 1 } else { classes },
        }
    }

    /// Weight vectors that are learned at a time, one on each thread.
    fn outputs_at_once(&self) -> usize {
        self.outputs.min(rayon::current_num_threads())
    }
}

/// Of one training, and of what calibrates its scores.
fn estimate(data: &Dataset, learner: &Learner) -> Estimate {
    let (mapped, sizes) = mapped(data, learner);
    let own = of_learner(data, learner, sizes);
    if learner.shared().calibrate.is_none() {
        return mapped.and(own);
    }
    // The model is there while those of the folds are learned, several at a time.
    let own = own.times(at_once(FOLDS), "folds at once");
    mapped
        .and(own)
        .and(rows_of_folds(FOLDS, sizes))
        .with("weights", &weights(2, sizes.features, sizes.outputs))
}

fn estimate_of_folds(data: &Dataset, learner: &Learner, folds: usize) -> Estimate {
    // All that a training takes is taken of each fold, its map included.
    let own = estimate(data, learner).times(at_once(folds), "folds at once");
    let (_, sizes) = mapped(data, learner);
    let all = own.and(rows_of_folds(folds, Sizes::of(&data.rows, sizes.classes)));
    match learner {
        // Two solutions of each fold are kept to start others from.
        Learner::Risk(_) => {
            let solution = sizes.features.saturating_add(sizes.rows);
            let solutions = [
                (2 * folds, "solutions"),
                (solution, "features and rows"),
                (sizes.outputs, "classes"),
                (8, "bytes"),
            ];
            all.with("solutions of folds", &solutions)
        }
        _ => all,
    }
}

fn at_once(folds: usize) -> usize {
    folds.min(rayon::current_num_threads())
}

fn rows_of_folds(folds: usize, sizes: Sizes) -> Estimate {
    let copies = [(at_once(folds), "folds at once"), (sizes.bytes, "bytes")];
    Estimate::default().with("rows of folds", &copies)
}

/// What the learner's map makes of the rows, and their sizes then.
fn mapped(data: &Dataset, learner: &Learner) -> (Estimate, Sizes) {
    let classes = if learner.predicts_numbers() { 1 } else { data.names.len() };
    let sizes = Sizes::of(&data.rows, classes);
    let Some(map) = learner.shared().map else { return (Estimate::default(), sizes) };
    let rows = &data.rows;
    let entries =
        (0..sizes.rows).fold(0usize, |sum, i| sum.saturating_add(map.entries(rows.row(i).nonzeros())));
    // Single precision where every row has every feature; else an index and a value.
    let (width, bytes) = if map.is_dense() { (8, 4) } else { (12, 12) };
    // While they grow, there are two copies of them; and some rows as they are computed.
    let chunk = entries / sizes.rows.max(1) * sizes.rows.min(ROWS_AT_ONCE);
    let estimate = Estimate::default()
        .with("mapped rows", &[(2, ""), (entries, "entries"), (bytes, "bytes")])
        .with("rows that are mapped at once", &[(chunk, "entries"), (16, "bytes")]);
    let features = map.features(sizes.features).unwrap_or(usize::MAX);
    let bytes = entries.saturating_mul(bytes);
    (estimate, Sizes { features, entries, bytes, width, ..sizes })
}

fn of_learner(data: &Dataset, learner: &Learner, sizes: Sizes) -> Estimate {
    match learner {
        Learner::Risk(risk) => of_risk(data, risk, sizes),
        Learner::Perceptron(own) => {
            let estimate = of_standardised(data, own.scale, own.kernel, sizes);
            of_corrections(estimate, own.kernel, own.own_feature.is_some(), sizes)
        }
        Learner::PassiveAggressive(own) => {
            let estimate = of_standardised(data, own.scale, own.kernel, sizes);
            of_corrections(estimate, own.kernel, false, sizes)
        }
        Learner::Bayes(_) => {
            let weights = weights(3, sizes.features, sizes.classes);
            let scores = scores(1, sizes.rows, sizes.classes);
            Estimate::default().with("counts and weights", &weights).with("scores", &scores)
        }
        Learner::Network(network) => {
            of_network(of_standardised(data, network.scale, Kernel::Linear, sizes), network, sizes)
        }
    }
}

fn weights(copies: usize, features: usize, classes: usize) -> [(usize, &'static str); 4] {
    [(copies, ""), (features, "features"), (classes, "classes"), (8, "bytes")]
}

fn scores(copies: usize, rows: usize, classes: usize) -> [(usize, &'static str); 4] {
    [(copies, ""), (rows, "rows"), (classes, "classes"), (8, "bytes")]
}

/// What finding the size of every column takes.
fn of_scale(scale: Scale, sizes: Sizes) -> Estimate {
    // The sums of a column, and what becomes of them: its exponent, its factor and its centre.
    let bytes = match scale {
        Scale::None => return Estimate::default(),
        Scale::Standard => 80,
        Scale::UnitVariance => 112,
        Scale::MaxAbs => 16,
    };
    let parts = blocks(sizes.rows, sizes.entries, 2 * sizes.features).len();
    Estimate::default()
        .with("sizes of columns", &[(parts, "at once"), (sizes.features, "features"), (bytes, "bytes")])
}

fn of_risk(data: &Dataset, risk: &Risk, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, bytes, width, outputs, .. } = sizes;
    let scale = data.effective(risk.scale);
    let mut estimate = of_scale(scale, sizes);
    estimate = match scale {
        Scale::None => estimate,
        // By powers of two: as wide as they were.
        Scale::Standard => estimate.with("scaled rows", &[(bytes, "bytes")]),
        // Weights that are rounded on the way back have gaps of their own.
        _ => estimate
            .with("scaled rows", &[(entries, "entries"), (width, "bytes")])
            .with("gaps", &weights(10, features, 1)),
    };
    if is_joint(risk, sizes) {
        return estimate.and(of_joint(sizes));
    }
    let at_once = sizes.outputs_at_once();
    let sums = blocks(rows, entries, features).len() * at_once;
    // Of each weight vector the scores, the duals, and the scores side by side with those of the others.
    estimate = estimate
        .with("scores and duals", &scores(3, rows, outputs))
        .with("weights", &weights(3, features, outputs))
        .with("sums over rows", &[(sums, "at once"), (features, "features"), (8, "bytes")]);
    match expected_solver(risk, features) {
        Some(solver) => estimate.and(of_solver(solver, sizes).times(at_once, "at once")),
        None => estimate,
    }
}

/// What a solver takes for one weight vector: numbers for features and for rows, and what it makes of all
/// rows.
fn of_solver(solver: SolverName, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, .. } = sizes;
    let vectors = match solver {
        SolverName::DualCd => 3,
        SolverName::Simplex | SolverName::Gradient | SolverName::Stochastic | SolverName::Auto => 4,
        SolverName::Coordinate => 7,
        SolverName::Newton | SolverName::Augmented => 9,
        SolverName::Boosting | SolverName::LeastSquares => 12,
    };
    let estimate = Estimate::default()
        .with("vectors of the solver", &[(vectors, ""), (features, "features"), (8, "bytes")])
        .with("numbers of rows", &[(8, ""), (rows, "rows"), (8, "bytes")]);
    let side = features.saturating_add(1);
    match solver {
        SolverName::Newton | SolverName::Augmented if features <= MOST_FACTORED => {
            // The matrix and its factor, and a sum for each block of the rows that it is made of.
            let sample = rows.min(ROWS_PER_COLUMN * features);
            let products = sample.saturating_mul((entries / rows.max(1)).pow(2)) / 2;
            let copies = 2 + blocks(sample, products, 4 * features * features).len();
            let squares = [(copies, ""), (side, "features"), (side, "features"), (8, "bytes")];
            estimate.with("second derivatives", &squares)
        }
        SolverName::Coordinate | SolverName::Boosting => {
            estimate.with("rows by columns", &[(entries, "entries"), (12, "bytes")])
        }
        // Within what it factorises; beyond that it goes over the rows.
        SolverName::LeastSquares if rows.min(side) <= 3000 => {
            let cells = rows.saturating_mul(side).min(30_000_000.max(side.saturating_mul(side)));
            estimate.with("factors", &[(2, ""), (cells, "cells"), (8, "bytes")])
        }
        _ => estimate,
    }
}

fn of_joint(sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, outputs, .. } = sizes;
    // The scores before and after a step, the change, and the probabilities; gradient, direction and their
    // like, and a sum for each block of rows.
    let sums = blocks(rows, entries.saturating_mul(outputs), features.saturating_mul(outputs)).len();
    let estimate = Estimate::default()
        .with("scores", &scores(4, rows, outputs))
        .with("weights", &weights(12 + sums, features, outputs));
    if features > MOST_FACTORED {
        return estimate;
    }
    let factor = [(outputs, "classes"), (features + 1, "features"), (features + 1, "features"), (8, "bytes")];
    estimate.with("factors of second derivatives", &factor)
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

/// Scaled and centred rows: at most twice as many entries as there are, and no more than there are places.
fn of_standardised(data: &Dataset, scale: Scale, kernel: Kernel, sizes: Sizes) -> Estimate {
    let scale = data.effective(scale);
    if scale == Scale::None || kernel != Kernel::Linear {
        return Estimate::default();
    }
    let Sizes { rows, features, entries, width, .. } = sizes;
    let entries = entries.saturating_mul(2).min(rows.saturating_mul(features));
    of_scale(scale, sizes).with("scaled rows", &[(entries, "entries"), (width, "bytes")])
}

fn of_corrections(estimate: Estimate, kernel: Kernel, has_own_feature: bool, sizes: Sizes) -> Estimate {
    let Sizes { rows, features, entries, bytes, width, outputs, .. } = sizes;
    if kernel != Kernel::Linear {
        // The model has rows of its own.
        let copies = [(2, ""), (bytes, "bytes")];
        return estimate
            .with("coefficients and scores", &scores(3, rows, outputs))
            .with("support rows", &copies);
    }
    // Weights, what their average is computed from, the average, the best so far, and the model's.
    let mut estimate = estimate
        .with("weights", &weights(5, features, outputs))
        .with("rows in the order of their visits", &[(entries, "entries"), (width, "bytes")]);
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
    // Each weight of single precision is learned with its gradient and two numbers beside it; in the end
    // there are copies of all, in double precision.
    let layer = [
        (features.saturating_add(outputs), "features and outputs"),
        (network.units, "hidden units"),
        (40, "bytes"),
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
