//! Networks: what no hyperplane can do, numbers, and what is refused. Gradients are in
//! `src/network/tests.rs`.

use crate::with::{Own, With};
use novikoff::control::Unwatched;
use novikoff::data::matrix::{Builder, Layout};
use novikoff::data::{Dataset, Labels, Report};
use novikoff::evaluate::{Evaluation, evaluate};
use novikoff::features::Schema;
use novikoff::loss::LossName;
use novikoff::model::{Activation, Scorer, from_bytes, to_bytes};
use novikoff::multiclass::Scheme;
use novikoff::random::Random;
use novikoff::train::{Learner, LearnerName, MultilayerPerceptron, train};

fn dataset(layout: Layout, rows: &[Vec<f64>], labels: &[String]) -> Dataset<'static> {
    let mut builder = Builder::new(layout);
    for row in rows {
        let entries = || row.iter().enumerate().filter(|(_, x)| **x != 0.0);
        builder.push(
            &entries().map(|(j, _)| j as u32).collect::<Vec<_>>(),
            &entries().map(|(_, x)| *x).collect::<Vec<_>>(),
        );
    }
    let mut matrix = builder.finish();
    matrix.widen(rows[0].len());
    let mut names = Labels::default();
    let labels = labels.iter().map(|label| names.intern(label)).collect();
    Dataset {
        rows: matrix,
        labels,
        names,
        row_weights: Vec::new(),
        schema: Schema::one_based(),
        report: Report::default(),
    }
}

/// Points in the four quarters of a square; those of opposite quarters have one label.
fn quarters(count: usize, layout: Layout, size: f64) -> Dataset<'static> {
    let mut random = Random::new(5);
    let mut coordinate = || (0.2 + random.unit()) * if random.below(2) == 0 { size } else { -size };
    let rows: Vec<Vec<f64>> = (0..count).map(|_| vec![coordinate(), coordinate()]).collect();
    let labels: Vec<String> = rows
        .iter()
        .map(|x| (if (x[0] > 0.0) == (x[1] > 0.0) { "same" } else { "other" }).to_owned())
        .collect();
    dataset(layout, &rows, &labels)
}

fn settings(network: MultilayerPerceptron, epochs: usize) -> Learner {
    network.epochs(epochs).into()
}

#[test]
fn a_hidden_layer_tells_apart_what_no_hyperplane_can() {
    let data = quarters(400, Layout::Sparse, 1.0);
    let linear = LearnerName::Logistic.learner();
    assert!(train(&data, None, &linear, &mut Unwatched).unwrap().train_error.unwrap() > 0.3);
    for activation in Activation::ALL {
        // From small weights, a tangent is nearly a line: with losses as flat as the squared hinge it may
        // stay one.
        let losses = [LossName::Logistic, LossName::Hinge, LossName::SquaredHinge, LossName::Exponential];
        for loss in losses.into_iter().take(if activation == Activation::Tanh { 2 } else { 4 }) {
            let layer =
                MultilayerPerceptron { activation, loss, step: 0.02, ..MultilayerPerceptron::default() };
            let fit = train(&data, None, &settings(layer, 30), &mut Unwatched).unwrap();
            assert!(fit.train_error.unwrap() <= 0.02, "{activation:?} {loss:?}: {:?}", fit.train_error);
            assert_eq!(fit.model.probabilities.is_some(), loss == LossName::Logistic);
        }
    }
}

/// Points around two circles, one within the other.
fn rings(count: usize, seed: u64) -> Dataset<'static> {
    let mut random = Random::new(seed);
    let mut point = |i: usize| {
        let (angle, radius) =
            (std::f64::consts::TAU * random.unit(), if i.is_multiple_of(2) { 1.0 } else { 0.6 });
        vec![radius * angle.cos() + 0.08 * random.normal(), radius * angle.sin() + 0.08 * random.normal()]
    };
    let rows: Vec<Vec<f64>> = (0..count).map(&mut point).collect();
    let labels: Vec<String> = (0..count).map(|i| ["outer", "inner"][i % 2].to_owned()).collect();
    dataset(Layout::Dense { columns: 2 }, &rows, &labels)
}

/// Of 300 epochs the last 240 are worth something: with steps that shrink geometrically they were not.
#[test]
fn late_epochs_still_learn() {
    for seed in 0..3 {
        let layer = MultilayerPerceptron { units: 8, ..MultilayerPerceptron::default() };
        let error = |epochs: usize| {
            let learner = settings(layer.clone(), epochs).with_seed(seed);
            train(&rings(200, seed), None, &learner, &mut Unwatched).unwrap().train_error.unwrap()
        };
        let (early, late) = (error(60), error(300));
        assert!(late < 0.06 && late <= early, "seed {seed}: {early} after 60 epochs, {late} after 300");
    }
}

#[test]
fn storage_and_size_of_values_do_not_matter() {
    let layer = MultilayerPerceptron { units: 20, ..MultilayerPerceptron::default() };
    let errors = |data: &Dataset| {
        let fit = train(data, None, &settings(layer.clone(), 5), &mut Unwatched).unwrap();
        fit.history().unwrap().epochs.iter().map(|epoch| epoch.mistakes).collect::<Vec<_>>()
    };
    let expected = errors(&quarters(300, Layout::Sparse, 1.0));
    assert_eq!(errors(&quarters(300, Layout::Dense { columns: 2 }, 1.0)), expected);
    // Powers of two: dividing by the largest value leaves the very same numbers.
    for exponent in [-900, 10, 900] {
        assert_eq!(errors(&quarters(300, Layout::Sparse, 2f64.powi(exponent))), expected, "{exponent}");
    }
}

#[test]
fn numbers_are_learned_whatever_their_size() {
    for (middle, spread) in [(0.0, 1.0), (1e6, 20.0), (-3.0, 1e-6)] {
        for loss in [LossName::Squared, LossName::Absolute] {
            let rows: Vec<Vec<f64>> = (0..400).map(|i| vec![f64::from(i) / 100.0 - 2.0]).collect();
            let targets: Vec<String> =
                rows.iter().map(|x| (middle + spread * (x[0] * x[0])).to_string()).collect();
            let data = dataset(Layout::Dense { columns: 1 }, &rows, &targets);
            let layer = MultilayerPerceptron { loss, step: 0.02, ..MultilayerPerceptron::default() };
            // Steps that are long beside what is left make some epochs worse than the one before.
            let layer = layer.patience(60);
            let fit = train(&data, Some(&data), &settings(layer, 60), &mut Unwatched).unwrap();
            let Evaluation::Numbers(measured) = evaluate(&fit.model, &data).unwrap() else {
                panic!("numbers")
            };
            assert!(measured.r2.unwrap() > 0.99, "{middle} {spread} {loss:?}: {measured:?}");
            let best =
                fit.history().unwrap().epochs[fit.history().unwrap().best - 1].validation_error.unwrap();
            assert!(
                (best - (1.0 - measured.r2.unwrap())).abs() < 1e-9,
                "the share of variance that is left: {best}"
            );
            assert_eq!(from_bytes(&to_bytes(&fit.model).unwrap(), "memory").unwrap(), fit.model);
        }
    }
}

#[test]
fn columns_that_no_row_has_weigh_nothing() {
    let mut data = quarters(100, Layout::Sparse, 1.0);
    data.rows.widen(4);
    let fit = train(&data, None, &settings(MultilayerPerceptron::default(), 2), &mut Unwatched).unwrap();
    let Scorer::Network(network) = &fit.model.scorer else { panic!("a network") };
    assert!((2..4).all(|j| network.weights_of(j).iter().all(|w| *w == 0.0)));
    assert!((0..2).all(|j| network.weights_of(j).iter().all(|w| *w != 0.0)));
}

#[test]
fn a_penalty_makes_weights_shorter() {
    let data = quarters(400, Layout::Sparse, 1.0);
    let square = |lambda: f64| {
        let mut settings = settings(MultilayerPerceptron::default(), 10);
        settings.own_network().strength = Some(novikoff::train::Strength::Lambda(lambda));
        let fit = train(&data, None, &settings, &mut Unwatched).unwrap();
        let Scorer::Network(network) = fit.model.scorer else { panic!("a network") };
        network.first.as_flattened().iter().map(|&w| f64::from(w * w)).sum::<f64>()
    };
    assert!(square(0.1) < 0.8 * square(0.0));
}

#[test]
fn what_cannot_work_is_refused_with_a_hint() {
    let data = quarters(40, Layout::Sparse, 1.0);
    let refused = |settings: &Learner| train(&data, None, settings, &mut Unwatched).unwrap_err();
    assert!(
        refused(&settings(MultilayerPerceptron { step: f64::NAN, ..MultilayerPerceptron::default() }, 1))
            .what()
            .contains("`step`")
    );
    let wide =
        refused(&settings(MultilayerPerceptron { units: 1 << 40, ..MultilayerPerceptron::default() }, 1));
    assert!(wide.advice().unwrap().contains("`units`"), "{wide}");
    let hinge =
        settings(MultilayerPerceptron { loss: LossName::Hinge, ..MultilayerPerceptron::default() }, 1);
    let joint = refused(&hinge.with_multiclass(Some(Scheme::Joint)));
    assert!(joint.advice().unwrap().contains("one-vs-rest"), "{joint}");
    let plain = settings(MultilayerPerceptron::default(), 1);
    let fit = train(&data, None, &plain, &mut Unwatched).unwrap();
    assert!(fit.certificate(&data).unwrap_err().what().contains("not convex"));
}
