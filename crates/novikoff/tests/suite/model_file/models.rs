//! Models to write, and how they score.

use novikoff::data::matrix::{Builder, Layout, Matrix};
use novikoff::data::{Labels, Row};
use novikoff::features::map::{Map, Mapper};
use novikoff::features::namespaces::{FeatureNumbering, Interactions, Murmur, NamespaceSchema, Numbers};
use novikoff::features::table::TableSchema;
use novikoff::features::{Dictionary, Schema};
use novikoff::kernel::{Kernel, Precision};
use novikoff::model::{
    About, Activation, Calibration, Clipped, Expansion, Isotonic, Mapped, Mistake, Model, NOBODY, Network,
    Platt, Scorer, Scratch, State, StateKind, Voted, Weights,
};
use novikoff::multiclass::Scheme;
use novikoff::random::Random;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn about(features: usize) -> About {
    About {
        learner: "perceptron".into(),
        settings: BTreeMap::from([
            ("epochs".into(), json!(10)),
            ("step".into(), json!(0.1)),
            ("order".into(), json!("given")),
        ]),
        seed: u64::MAX - 1,
        features: features as u64,
        rows: 7,
        data_hash: "blake3:00".into(),
        results: BTreeMap::from([("mistakes".into(), json!([3, 1, 0])), ("error".into(), json!(1.0 / 3.0))]),
    }
}

pub fn weights(outputs: usize, bias: &[f64], values: &[f64]) -> Weights {
    let mut weights = Weights::zero(values.len() / outputs, outputs);
    weights.values.copy_from_slice(values);
    weights.bias.copy_from_slice(bias);
    weights
}

pub fn linear(labels: &[&str], schema: Schema, weights: Weights) -> Model {
    let (about, labels, scorer) = (about(weights.features()), Labels::new(labels), Scorer::Linear(weights));
    Model { about, labels, schema, scorer, probabilities: None, state: None }
}

pub fn matrix(layout: Layout, columns: usize, rows: &[(&[u32], &[f64])]) -> Matrix<'static> {
    let mut builder = Builder::new(layout);
    for (indices, values) in rows {
        builder.push(indices, values);
    }
    let mut matrix = builder.finish();
    matrix.widen(columns);
    matrix
}

pub fn two_classes() -> Model {
    linear(&["ham", "spam"], Schema::one_based(), weights(1, &[0.25], &[0.5, -1.25, 0.0, 2.0]))
}

pub fn three_classes() -> Model {
    let mut sparse = Weights::zero(1000, 3);
    sparse.bias.copy_from_slice(&[0.0, 0.5, -0.5]);
    sparse.values[3 * 3..][..3].copy_from_slice(&[1.0, 0.0, -1.0]);
    sparse.values[500 * 3..][..3].copy_from_slice(&[0.25, 0.25, 0.0]);
    sparse.values[999 * 3..][..3].copy_from_slice(&[0.0, 0.0, 8.0]);
    linear(&["1", "2", "10"], Schema::Hashed { bits: 10 }, sparse)
}

pub fn voted() -> Model {
    let rows = matrix(Layout::Sparse, 3, &[(&[0, 1], &[1.0, 1.0]), (&[1], &[2.0])]);
    let mistake = |row, step, round| Mistake { row, gains: 0, loses: NOBODY, step, round };
    let mistakes = vec![mistake(0, 1.0, 0.0), mistake(1, -1.0, 1.0)];
    let (kernel, precision) = (Kernel::Linear, Precision::Double);
    let voted = Voted {
        scheme: Scheme::Two,
        classes: 2,
        kernel,
        precision,
        bias: 1.0,
        centres: vec![],
        rows,
        mistakes,
        rounds: 4.0,
    };
    let (schema, scorer) = (Schema::Indexed { base: 0 }, Scorer::Voted(voted));
    Model {
        about: about(3),
        labels: Labels::new(["-1", "+1"]),
        schema,
        scorer,
        probabilities: None,
        state: None,
    }
}

pub fn kernel() -> Model {
    let rows = matrix(Layout::Sparse, 3, &[(&[0, 1], &[1.0, 1.0]), (&[1], &[2.0])]);
    let (kernel, precision) = (Kernel::Polynomial(2), Precision::Single);
    let expansion =
        Expansion { kernel, precision, bias: 1.0, rows, outputs: 1, coefficients: vec![1.0, -0.5] };
    let (schema, scorer) = (Schema::Indexed { base: 0 }, Scorer::Kernel(expansion));
    Model {
        about: about(3),
        labels: Labels::new(["-1", "+1"]),
        schema,
        scorer,
        probabilities: None,
        state: None,
    }
}

pub fn named() -> Model {
    let names: Dictionary = ["plain", "Größe", "", "日本語 🦀", "tab\tquote\"nul\0"].into_iter().collect();
    linear(
        &["NOT TECH", "TECH"],
        Schema::Named(Arc::new(names)),
        weights(1, &[-1.0], &[1.0, 2.0, 4.0, 8.0, 16.0]),
    )
}

/// Predicts a number, from the columns of a table.
pub fn regression() -> Model {
    let town = json!({"feature": 1, "categories": ["Oslo", "Bergen"], "indicator": false});
    let table: TableSchema = serde_json::from_value(json!({
        "delimiter": 44, "header": true, "missing": "error", "columns": [
            {"name": "price", "role": "label"},
            {"name": "rooms", "role": {"numeric": {"feature": 0, "mean": 2.0, "indicator": false}}},
            {"name": "town", "role": {"categorical": town}},
        ],
    }))
    .unwrap();
    let mut model = linear(&[], Schema::Table(Arc::new(table)), weights(1, &[100.0], &[50.5, 20.0, -12.25]));
    model.about.learner = "least-squares".into();
    model
}

/// Columns of a table, and products of them.
pub fn multiplied_columns() -> Model {
    let town = json!({"feature": 1, "categories": ["Oslo", "Bergen"], "indicator": false});
    let table: TableSchema = serde_json::from_value(json!({
        "delimiter": 44, "header": true, "missing": "error", "columns": [
            {"name": "rooms", "role": {"numeric": {"feature": 0, "mean": 2.0, "indicator": false}}},
            {"name": "town", "role": {"categorical": town}},
        ],
        "interactions": [{"columns": ["rooms", "town"], "feature": 3, "cells": [[null, "Bergen"]]}],
    }))
    .unwrap();
    linear(&["no", "yes"], Schema::Table(Arc::new(table)), weights(1, &[0.5], &[1.0, 2.0, 4.0, 8.0]))
}

fn namespaces(numbering: FeatureNumbering, interactions: &[&str]) -> Schema {
    let interactions = Interactions::new(interactions).unwrap();
    Schema::Namespaces(Arc::new(NamespaceSchema { numbering, interactions }))
}

/// Features of namespaces, and products of them.
pub fn multiplied_namespaces() -> Model {
    let names: Dictionary = ["a^x", "b^y", "a^x*b^y"].into_iter().collect();
    let schema = namespaces(FeatureNumbering::Named(Arc::new(names)), &["ab", " :"]);
    linear(&["-1", "1"], schema, weights(1, &[0.25], &[1.0, 2.0, 4.0]))
}

/// As Vowpal Wabbit numbers features, with a range.
pub fn imported() -> Model {
    let names = vec![(1, "a^x".to_owned()), (1, "u".to_owned()), (3, "b^y".to_owned())];
    let murmur = Murmur { bits: 2, numbers: Numbers::Hashed, seed: 7, names };
    let schema = namespaces(FeatureNumbering::Murmur(Arc::new(murmur)), &[]);
    let model = linear(&[], schema, weights(1, &[0.25], &[0.0, 2.0, 4.0, 8.0]));
    let Scorer::Linear(weights) = model.scorer else { panic!("linear") };
    Model { scorer: Scorer::Clipped(Clipped { weights, least: -1.0, most: 3.0 }), ..model }
}

/// Two classes with Platt's sigmoid.
pub fn platt() -> Model {
    Model { probabilities: Some(Calibration::Platt(vec![Platt { a: 2.0, b: -0.5 }])), ..two_classes() }
}

/// Three classes with steps.
pub fn isotonic() -> Model {
    let steps =
        |scores: &[f64], values: &[f64]| Isotonic { scores: scores.to_vec(), values: values.to_vec() };
    let all = vec![
        steps(&[-1.0, 1.0], &[0.0, 1.0]),
        steps(&[0.0], &[0.25]),
        steps(&[-2.0, 0.0, 2.0], &[0.0, 0.5, 0.5]),
    ];
    Model { probabilities: Some(Calibration::Isotonic(all)), ..three_classes() }
}

/// Weights of what a row has, as Bernoulli's likelihood gives them.
pub fn presence() -> Model {
    let model = two_classes();
    let Scorer::Linear(weights) = model.scorer else { panic!("linear") };
    Model { scorer: Scorer::Presence(weights), probabilities: Some(Calibration::Logistic), ..model }
}

/// Three features, two hidden units, one score.
pub fn network() -> Model {
    let mut network = Network::zero(3, 2, 1, Activation::Relu);
    network.scales = vec![1.0, 0.5, 0.25];
    for (feature, weights) in [[1.0, -1.0], [2.0, 0.0], [-4.0, 4.0], [0.5, 0.0]].iter().enumerate() {
        network.weights_of_mut(feature).copy_from_slice(weights);
    }
    (network.second, network.bias) = (vec![1.0, -3.0], vec![-0.25]);
    let (labels, schema) = (Labels::new(["-1", "+1"]), Schema::Indexed { base: 0 });
    Model {
        about: about(3),
        labels,
        schema,
        scorer: Scorer::Network(network),
        probabilities: Some(Calibration::Logistic),
        state: None,
    }
}

/// Products of two features: five features of two.
pub fn products() -> Model {
    mapped(Map::Poly { degree: 2 }, weights(1, &[1.0], &[1.0, 2.0, 4.0, 8.0, 16.0]))
}

/// Cosines and sines of two features.
pub fn fourier() -> Model {
    mapped(Map::Fourier { count: 2, gamma: 0.5, seed: 7 }, weights(1, &[1.0], &[1.0, 2.0]))
}

fn mapped(map: Map, weights: Weights) -> Model {
    let scorer = Box::new(Scorer::Linear(weights));
    let scorer = Scorer::Mapped(Mapped { mapper: Mapper::new(map, 2).unwrap(), scorer });
    Model {
        about: about(2),
        labels: Labels::new(["-1", "+1"]),
        schema: Schema::Indexed { base: 0 },
        scorer,
        probabilities: None,
        state: None,
    }
}

/// A model with a state: of few numbers, of every type, and of many zeros.
pub fn stateful() -> Model {
    let mut state = State::new(StateKind::Stream);
    state.put_count("rows", 5);
    state.put_text("data_hash", "blake3:00");
    state.put("delayed", vec![1.5, -0.0, 3.0]);
    state.put("sparse", [vec![0.0; 1000], vec![2.0]].concat());
    state.put("means", vec![0.5f32, 1.0]);
    state.put("ranks", vec![1u32, 0]);
    state.put("totals", vec![7u64]);
    state.put("bytes", vec![1u8, 2, 3]);
    Model { state: Some(state), ..two_classes() }
}

pub fn random_network(random: &mut Random, classes: usize, features: usize) -> Network {
    let (hidden, outputs) = (1 + random.below(70) as usize, if classes <= 2 { 1 } else { classes });
    let mut network = Network::zero(features, hidden, outputs, Activation::ALL[random.below(2) as usize]);
    for feature in 0..=features {
        network.weights_of_mut(feature).iter_mut().for_each(|w| *w = random_value(random) as f32);
    }
    for x in network.scales.iter_mut().chain(&mut network.second).chain(&mut network.bias) {
        *x = random_value(random);
    }
    network.centres = random_centres(random, features);
    network
}

pub fn random_mapped(random: &mut Random, classes: usize, features: usize) -> Mapped {
    let map = match random.below(2) {
        0 => Map::Poly { degree: 2 },
        _ => Map::Fourier {
            count: 2 + 2 * random.below(9) as u32,
            gamma: 0.1 + random.unit(),
            seed: random.bits(),
        },
    };
    let mapper = Mapper::new(map, features).unwrap();
    let features = mapper.features();
    let scorer = match random.below(4) {
        0 => Scorer::Voted(random_voted(random, classes, features)),
        1 => Scorer::Presence(random_weights(random, classes, features)),
        2 => Scorer::Network(random_network(random, classes, features)),
        _ => Scorer::Linear(random_weights(random, classes, features)),
    };
    Mapped { mapper, scorer: Box::new(scorer) }
}

pub fn probabilities(model: &Model, row: Row<'_>) -> Vec<f64> {
    let mut found = Vec::new();
    model.probabilities.as_ref().unwrap().probabilities(&scores(model, row), &mut found);
    found
}

pub fn scores(model: &Model, row: Row<'_>) -> Vec<f64> {
    let mut scores = Vec::new();
    model.scorer.score(&[row], &mut Scratch::default(), &mut scores);
    scores
}

pub fn random_value(random: &mut Random) -> f64 {
    match random.below(6) {
        0 => 0.0,
        1 => -0.0,
        2 => f64::from(random.below(9) as f32) - 4.0,
        3 => f64::MIN_POSITIVE / 8.0,
        _ => random.normal() * 1e3,
    }
}

pub fn random_matrix(random: &mut Random, columns: usize) -> Matrix<'static> {
    let layout = if random.below(2) == 0 { Layout::Sparse } else { Layout::Dense { columns } };
    let single = random.below(2) == 0;
    let mut builder = Builder::new(layout);
    for _ in 0..1 + random.below(6) {
        let indices: Vec<u32> = (0..columns as u32).filter(|_| random.below(3) == 0).collect();
        let value = |x: f64| if single { f64::from(x as f32) } else { x };
        let values: Vec<f64> = indices.iter().map(|_| value(random_value(random))).collect();
        builder.push(&indices, &values);
    }
    let mut matrix = builder.finish();
    matrix.widen(columns);
    matrix
}

pub fn random_voted(random: &mut Random, classes: usize, features: usize) -> Voted {
    let scheme =
        if classes == 2 { Scheme::Two } else { [Scheme::Joint, Scheme::OneVsRest][random.below(2) as usize] };
    let rows = random_matrix(random, features);
    let outputs = scheme.outputs(classes) as u64;
    let mut rounds = 0.0;
    let mistakes = (0..random.below(9))
        .map(|_| {
            rounds += random.below(3) as f64 / 2.0;
            let loses = if scheme == Scheme::Joint { random.below(outputs) as u32 } else { NOBODY };
            let (row, gains) = (random.below(rows.rows() as u64) as u32, random.below(outputs) as u32);
            Mistake { row, gains, loses, step: random.normal(), round: rounds }
        })
        .collect();
    let (kernel, precision) = random_kernel(random);
    Voted {
        scheme,
        classes,
        kernel,
        precision,
        bias: random.below(2) as f64,
        centres: random_centres(random, features),
        rows,
        mistakes,
        rounds: rounds + 1.0,
    }
}

/// What is subtracted from some columns, if anything is.
pub fn random_centres(random: &mut Random, features: usize) -> Vec<(u32, f64)> {
    let some = random.below(2) == 0;
    let columns: Vec<u32> = (0..features as u32).filter(|_| some && random.below(3) == 0).collect();
    columns.into_iter().map(|j| (j, 1e9 * random.normal())).collect()
}

pub fn random_kernel(random: &mut Random) -> (Kernel, Precision) {
    let precision = [Precision::Single, Precision::Double][random.below(2) as usize];
    match random.below(3) {
        0 => (Kernel::Linear, Precision::Double),
        1 => (Kernel::Polynomial(1 + random.below(7) as u32), precision),
        _ => (Kernel::Rbf(random.unit() + 1e-9), precision),
    }
}

pub fn random_expansion(random: &mut Random, classes: usize, features: usize) -> Expansion {
    let (kernel, precision) = random_kernel(random);
    let (rows, outputs) = (random_matrix(random, features), if classes == 2 { 1 } else { classes });
    let coefficients = (0..rows.rows() * outputs).map(|_| random_value(random)).collect();
    Expansion { kernel, precision, bias: random.below(2) as f64, rows, outputs, coefficients }
}

pub fn random_weights(random: &mut Random, classes: usize, features: usize) -> Weights {
    let mut weights = Weights::zero(features, if classes == 2 { 1 } else { classes });
    let rare = random.below(2) == 0;
    for weight in weights.values.iter_mut().filter(|_| !rare || random.below(9) == 0) {
        *weight = if rare { 1.5 } else { 0.5 };
    }
    weights
        .values
        .iter_mut()
        .filter(|weight| **weight != 0.0)
        .for_each(|weight| *weight = random_value(random));
    weights.bias.iter_mut().for_each(|bias| *bias = random_value(random));
    weights
}

pub fn random_schema(random: &mut Random, features: usize) -> Schema {
    match random.below(5) {
        0 => Schema::Indexed { base: random.below(2) as u32 },
        1 => Schema::Hashed { bits: 6 },
        2 => namespaces(FeatureNumbering::Hashed { bits: 6 }, &["ab", "::", "aab"]),
        3 => {
            let names = (0..random.below(9) as u32).map(|j| (j / 2, format!("ü{j}"))).collect();
            let murmur = Murmur { bits: 6, numbers: Numbers::AsTheyAre, seed: 0, names };
            let interactions: &[&str] = if random.below(2) == 0 { &["xy"] } else { &[] };
            namespaces(FeatureNumbering::Murmur(Arc::new(murmur)), interactions)
        }
        _ => {
            let odd = |j: usize, random: &mut Random| -> String {
                let characters =
                    (0..random.below(5)).filter_map(|_| char::from_u32(random.below(0x11_0000) as u32));
                characters.chain(j.to_string().chars()).collect()
            };
            Schema::Named(Arc::new((0..features).map(|j| odd(j, random)).collect()))
        }
    }
}

pub fn random_isotonic(random: &mut Random) -> Isotonic {
    let mut scores: Vec<f64> = (0..1 + random.below(5)).map(|_| random_value(random) + 0.0).collect();
    scores.sort_by(f64::total_cmp);
    scores.dedup();
    let mut values: Vec<f64> = scores.iter().map(|_| random.below(5) as f64 / 4.0).collect();
    values.sort_by(f64::total_cmp);
    Isotonic { scores, values }
}

pub fn random_calibration(random: &mut Random, outputs: usize) -> Option<Calibration> {
    match random.below(5) {
        0 => Some(Calibration::Logistic),
        1 if outputs > 1 => Some(Calibration::Softmax),
        2 => Some(Calibration::Platt(
            (0..outputs).map(|_| Platt { a: random_value(random), b: random_value(random) }).collect(),
        )),
        3 => Some(Calibration::Isotonic((0..outputs).map(|_| random_isotonic(random)).collect())),
        _ => None,
    }
}

pub fn random_model(seed: u64) -> Model {
    let random = &mut Random::new(seed);
    let (features, classes) = (random.below(60) as usize, [0, 2, 3, 4, 5][random.below(5) as usize]);
    let scorer = match (classes, random.below(6)) {
        (0, 0) => Scorer::Network(random_network(random, 0, features)),
        (0, _) => Scorer::Linear(random_weights(random, 2, features)),
        (_, 3) => Scorer::Network(random_network(random, classes, features)),
        (_, 4) => Scorer::Mapped(random_mapped(random, classes, features)),
        (_, 0) => Scorer::Voted(random_voted(random, classes, features)),
        (_, 5) => Scorer::Kernel(random_expansion(random, classes, features)),
        (_, 1) => Scorer::Presence(random_weights(random, classes, features)),
        _ => Scorer::Linear(random_weights(random, classes, features)),
    };
    let probabilities = if classes > 0 { random_calibration(random, scorer.outputs()) } else { None };
    let labels = Labels::new((0..classes).map(|class| ["a \"b\"", "", "-1.50", "Ünï\n", "5"][class]));
    let mut about = about(features);
    about.seed = random.bits();
    about.results.insert("margin".into(), json!(random.normal()));
    about.settings.insert("nested".into(), json!({"z": [1, {"y": null}], "a": -3, "big": u64::MAX}));
    Model { about, labels, schema: random_schema(random, features), scorer, probabilities, state: None }
}

pub fn linear_of(model: &mut Model) -> &mut Weights {
    let Scorer::Linear(weights) = &mut model.scorer else { panic!("linear") };
    weights
}

pub fn voted_of(model: &mut Model) -> &mut Voted {
    let Scorer::Voted(voted) = &mut model.scorer else { panic!("voted") };
    voted
}

pub fn kernel_of(model: &mut Model) -> &mut Expansion {
    let Scorer::Kernel(expansion) = &mut model.scorer else { panic!("kernel") };
    expansion
}

pub fn clipped_of(model: &mut Model) -> &mut Clipped {
    let Scorer::Clipped(clipped) = &mut model.scorer else { panic!("clipped") };
    clipped
}
