//! Models as ONNX: a graph of common operators (operator set 13), which every runtime has.
//!
//! The input `features` is a matrix of numbers in single precision with a column for each feature. Of models
//! of classes, the outputs are `label`, `scores` and, where the model has them, `probabilities` of all
//! labels; of models of numbers, `prediction`. Weights are rounded to single precision.

mod graph;
mod proto;

use self::graph::Graph;
use self::proto::{ModelProto, OperatorSet, StringEntry};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::network::MOST as MOST_VALUE;
use crate::model::{Activation, Calibration, Expansion, Model, Network, Platt, Scorer, Task, Weights};
use prost::Message;
use serde_json::json;

/// The version of the format, and of the operators.
const IR_VERSION: i64 = 7;
const OPERATORS: i64 = 13;
/// What messages of the format may take.
const MOST_BYTES: usize = i32::MAX as usize;

const PRODUCER: &str = "novikoff";

/// Whether a file that starts like this is an ONNX model that this library has written.
pub fn is_onnx(start: &[u8]) -> bool {
    // Field 1, the version of the format; field 2, who has produced it.
    let [0x08, _, 0x12, length, rest @ ..] = start else { return false };
    usize::from(*length) == PRODUCER.len() && rest.starts_with(PRODUCER.as_bytes())
}

/// The bytes of a model.
pub(super) fn write(model: &Model) -> Result<Vec<u8>> {
    let numbers = numbers_of(model);
    if numbers.is_none_or(|numbers| numbers > MOST_BYTES / 4) {
        let error = Error::usage("ONNX has at most 2 GB for a model, and this one is larger");
        return Err(error.hint("train with fewer features: `hash_bits = 20`"));
    }
    let mut graph = Graph::new(model.features());
    let scores = score(&mut graph, &model.scorer)?;
    match model.task() {
        Task::Regression => {
            let shape = graph.integers(&[1], vec![-1]);
            graph.output("Reshape", &[&scores, &shape], "prediction", proto::FLOAT, None);
        }
        Task::Classes => classify(&mut graph, model, &scores)?,
    }
    let message = ModelProto {
        ir_version: IR_VERSION,
        producer_name: PRODUCER.to_owned(),
        graph: Some(graph.finish()),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPERATORS }],
        metadata_props: metadata(model),
    };
    if message.encoded_len() > MOST_BYTES {
        return Err(Error::usage("ONNX has at most 2 GB for a model, and this one is larger"));
    }
    Ok(message.encode_to_vec())
}

/// The numbers that an export will hold, about.
fn numbers_of(model: &Model) -> Option<usize> {
    let features = model.features();
    match &model.scorer {
        Scorer::Linear(weights) | Scorer::Presence(weights) => Some(weights.values.len()),
        Scorer::Clipped(clipped) => Some(clipped.weights.values.len()),
        Scorer::Network(network) => features.checked_mul(network.hidden() + 1),
        Scorer::Kernel(expansion) => expansion.rows.rows().checked_mul(features + expansion.outputs),
        Scorer::Voted(_) | Scorer::Mapped(_) => Some(0),
    }
}

/// What the columns of the input are called, and what has made the model. Hashed features have no names, and
/// numbered ones are their numbers.
fn metadata(model: &Model) -> Vec<StringEntry> {
    /// Names of more features are not listed.
    const MOST_NAMES: usize = 1 << 20;
    let entry = |key: &str, value: String| StringEntry { key: key.to_owned(), value };
    let mut entries = vec![entry("learner", model.about.learner.clone())];
    if !model.schema.is_hashed() && model.features() <= MOST_NAMES {
        let names: Vec<String> = (0..model.features() as u32).map(|j| model.schema.name(j)).collect();
        entries.push(entry("features", json!(names).to_string()));
    }
    entries
}

/// Adds the scores of the rows; returns what they are called.
fn score(graph: &mut Graph, scorer: &Scorer) -> Result<String> {
    let features = Graph::INPUT.to_owned();
    match scorer {
        Scorer::Linear(weights) => linear(graph, &features, weights),
        Scorer::Presence(weights) => {
            let zero = graph.numbers(&[1], [0.0])?;
            let is_there = graph.node("Greater", &[&features, &zero]);
            let present = graph.cast(&is_there, proto::FLOAT);
            linear(graph, &present, weights)
        }
        Scorer::Clipped(clipped) => {
            let scores = linear(graph, &features, &clipped.weights)?;
            let (least, most) = (graph.numbers(&[], [clipped.least])?, graph.numbers(&[], [clipped.most])?);
            Ok(graph.node("Clip", &[&scores, &least, &most]))
        }
        Scorer::Network(network) => layers(graph, &features, network),
        Scorer::Kernel(expansion) => compared(graph, &features, expansion),
        Scorer::Voted(_) => Err(refused("the votes of a model", "averaged")),
        Scorer::Mapped(_) => Err(refused("a map of features", "network")),
    }
}

fn refused(what: &str, instead: &str) -> Error {
    let error = Error::usage(format!("{what} cannot be exported"));
    error.hint(format!("linear models, kernels and networks can: train `learner = {instead}`"))
}

fn linear(graph: &mut Graph, rows: &str, weights: &Weights) -> Result<String> {
    let outputs = weights.outputs();
    let values = graph.numbers(&[weights.features(), outputs], weights.values.iter().copied())?;
    let bias = graph.numbers(&[outputs], weights.bias.iter().copied())?;
    let products = graph.node("MatMul", &[rows, &values]);
    Ok(graph.node("Add", &[&products, &bias]))
}

/// Rows less the centres of some columns, before anything else is computed of them.
fn subtract(graph: &mut Graph, rows: &str, features: usize, centres: &[(u32, f64)]) -> Result<String> {
    if centres.is_empty() {
        return Ok(rows.to_owned());
    }
    let mut all = vec![0.0; features];
    centres.iter().for_each(|(j, centre)| all[*j as usize] = *centre);
    let all = graph.numbers(&[features], all)?;
    Ok(graph.node("Sub", &[rows, &all]))
}

fn layers(graph: &mut Graph, rows: &str, network: &Network) -> Result<String> {
    let (features, hidden, outputs) = (network.features(), network.hidden(), network.outputs());
    let moved = subtract(graph, rows, features, &network.centres)?;
    let scales = graph.numbers(&[features], network.scales.iter().copied())?;
    let scaled = graph.node("Mul", &[&moved, &scales]);
    let (least, most) = (graph.numbers(&[], [-MOST_VALUE])?, graph.numbers(&[], [MOST_VALUE])?);
    let scaled = graph.node("Clip", &[&scaled, &least, &most]);
    let first = (0..features).flat_map(|feature| network.weights_of(feature)).map(|&w| f64::from(w));
    let first = graph.numbers(&[features, hidden], first)?;
    let bias = network.weights_of(features).iter().map(|&w| f64::from(w));
    let bias = graph.numbers(&[hidden], bias)?;
    let sums = graph.node("MatMul", &[&scaled, &first]);
    let sums = graph.node("Add", &[&sums, &bias]);
    let operator = match network.activation {
        Activation::Relu => "Relu",
        Activation::Tanh => "Tanh",
    };
    let units = graph.node(operator, &[&sums]);
    let second = (0..hidden).flat_map(|unit| (0..outputs).map(move |output| (unit, output)));
    let second = second.map(|(unit, output)| network.second[output * hidden + unit]);
    let second = graph.numbers(&[hidden, outputs], second)?;
    let bias = graph.numbers(&[outputs], network.bias.iter().copied())?;
    let scores = graph.node("MatMul", &[&units, &second]);
    Ok(graph.node("Add", &[&scores, &bias]))
}

/// Kernels of the rows with those of the model.
fn compared(graph: &mut Graph, rows: &str, expansion: &Expansion) -> Result<String> {
    let (count, features, outputs) = (expansion.rows.rows(), expansion.rows.columns(), expansion.outputs);
    let mut transposed = vec![0.0; features * count];
    let mut norms = vec![0.0; count];
    for (i, norm) in norms.iter_mut().enumerate() {
        *norm = expansion.rows.row(i).norm_sq();
        expansion.rows.row(i).for_each_nonzero(|j, x| transposed[j as usize * count + i] = x);
    }
    let support = graph.numbers(&[features, count], transposed)?;
    let products = graph.node("MatMul", &[rows, &support]);
    let kernels = match expansion.kernel {
        Kernel::Linear => products,
        Kernel::Polynomial(degree) => {
            let (one, degree) = (graph.numbers(&[1], [1.0])?, graph.numbers(&[1], [f64::from(degree)])?);
            let sums = graph.node("Add", &[&products, &one]);
            graph.node("Pow", &[&sums, &degree])
        }
        Kernel::Rbf(gamma) => {
            let squares = graph.node("Mul", &[rows, rows]);
            let axes = graph.integers(&[1], vec![1]);
            let own = graph.node("ReduceSum", &[&squares, &axes]);
            let (norms, two) = (graph.numbers(&[count], norms)?, graph.numbers(&[1], [2.0])?);
            let both = graph.node("Add", &[&own, &norms]);
            let doubled = graph.node("Mul", &[&products, &two]);
            let distances = graph.node("Sub", &[&both, &doubled]);
            // Rounding must not make a distance negative.
            let distances = graph.node("Relu", &[&distances]);
            let factor = graph.numbers(&[1], [-gamma])?;
            let exponents = graph.node("Mul", &[&distances, &factor]);
            graph.node("Exp", &[&exponents])
        }
    };
    let coefficients = graph.numbers(&[count, outputs], expansion.coefficients.iter().copied())?;
    let mut biases = vec![0.0; outputs];
    for own in expansion.coefficients.chunks_exact(outputs) {
        biases.iter_mut().zip(own).for_each(|(bias, c)| *bias += c * expansion.bias * expansion.bias);
    }
    let biases = graph.numbers(&[outputs], biases)?;
    let scores = graph.node("MatMul", &[&kernels, &coefficients]);
    Ok(graph.node("Add", &[&scores, &biases]))
}

/// Adds labels, scores and probabilities.
fn classify(graph: &mut Graph, model: &Model, scores: &str) -> Result<()> {
    let outputs = model.scorer.outputs();
    let class = if outputs == 1 {
        let zero = graph.numbers(&[1], [0.0])?;
        let is_second = graph.node("GreaterOrEqual", &[scores, &zero]);
        let class = graph.cast(&is_second, proto::INT64);
        let shape = graph.integers(&[1], vec![-1]);
        graph.node("Reshape", &[&class, &shape])
    } else {
        // Of equal scores the last wins.
        graph.node_with("ArgMax", &[scores], &[("axis", 1), ("keepdims", 0), ("select_last_index", 1)])
    };
    let (names, kind) = labels(graph, model.labels.names());
    graph.output("Gather", &[&names, &class], "label", kind, None);
    graph.output("Identity", &[scores], "scores", proto::FLOAT, Some(outputs));
    match &model.probabilities {
        None => Ok(()),
        Some(calibration) => probabilities(graph, calibration, scores, outputs),
    }
}

/// The labels' names: whole numbers if all of them are, else words.
fn labels(graph: &mut Graph, names: &[String]) -> (String, i32) {
    let numbers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
    match numbers {
        Some(numbers) => (graph.integers(&[names.len()], numbers), proto::INT64),
        None => (graph.strings(names), proto::STRING),
    }
}

fn probabilities(graph: &mut Graph, calibration: &Calibration, scores: &str, outputs: usize) -> Result<()> {
    const NAME: &str = "probabilities";
    let logits = match calibration {
        Calibration::Softmax => {
            graph.output_with("Softmax", &[scores], (NAME, proto::FLOAT, Some(outputs)), &[("axis", 1)]);
            return Ok(());
        }
        Calibration::Logistic => scores.to_owned(),
        Calibration::Platt(all) => {
            let of = |value: fn(&Platt) -> f64| all.iter().map(value);
            let (a, b) =
                (graph.numbers(&[outputs], of(|it| it.a))?, graph.numbers(&[outputs], of(|it| it.b))?);
            let scaled = graph.node("Mul", &[scores, &a]);
            graph.node("Add", &[&scaled, &b])
        }
        Calibration::Isotonic(_) => {
            let error = Error::usage("isotonic probabilities cannot be exported");
            return Err(error.hint("train with `calibrate = platt`"));
        }
    };
    if outputs == 1 {
        // Each by itself, so that small ones keep their digits.
        let negative = graph.node("Neg", &[&logits]);
        let both = graph.node_with("Concat", &[&negative, &logits], &[("axis", 1)]);
        graph.output("Sigmoid", &[&both], NAME, proto::FLOAT, Some(2));
        return Ok(());
    }
    let alone = graph.node("Sigmoid", &[&logits]);
    let axes = graph.integers(&[1], vec![1]);
    let sum = graph.node("ReduceSum", &[&alone, &axes]);
    let zero = graph.numbers(&[1], [0.0])?;
    let is_positive = graph.node("Greater", &[&sum, &zero]);
    let shares = graph.node("Div", &[&alone, &sum]);
    let uniform = graph.numbers(&[outputs], vec![1.0 / outputs as f64; outputs])?;
    graph.output("Where", &[&is_positive, &shares, &uniform], NAME, proto::FLOAT, Some(outputs));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::proto::TensorProto;
    use super::*;
    use crate::data::Labels;
    use crate::data::matrix::{Builder, Layout};
    use crate::features::Schema;
    use crate::kernel::Precision;
    use crate::model::{About, Clipped};
    use std::collections::BTreeSet;

    const FEATURES: usize = 3;

    fn model(scorer: Scorer, names: &[&str], probabilities: Option<Calibration>) -> Model {
        let about = About { features: FEATURES as u64, ..About::default() };
        Model {
            about,
            labels: Labels::new(names),
            schema: Schema::one_based(),
            scorer,
            probabilities,
            state: None,
        }
    }

    fn weights(outputs: usize) -> Weights {
        let mut weights = Weights::zero(FEATURES, outputs);
        weights.values.iter_mut().zip(1..).for_each(|(w, k)| *w = f64::from(k) / 4.0);
        weights
    }

    fn kernel(kernel: Kernel) -> Scorer {
        let mut rows = Builder::new(Layout::Sparse);
        rows.push(&[0, 2], &[1.0, -0.5]);
        rows.push(&[1], &[2.0]);
        let mut rows = rows.finish();
        rows.widen(FEATURES);
        let coefficients = vec![1.0, -1.0];
        let precision = Precision::default();
        Scorer::Kernel(Expansion { kernel, precision, bias: 1.0, rows, outputs: 1, coefficients })
    }

    fn models() -> Vec<Model> {
        let (two, three) = (["no", "yes"], ["1", "2", "3"]);
        let platt = |outputs| Some(Calibration::Platt(vec![Platt { a: 2.0, b: 0.5 }; outputs]));
        let clipped = Clipped { weights: weights(1), least: 0.0, most: 2.0 };
        let network = |activation| Scorer::Network(Network::zero(FEATURES, 4, 3, activation));
        vec![
            model(Scorer::Linear(weights(1)), &two, Some(Calibration::Logistic)),
            model(Scorer::Linear(weights(1)), &two, platt(1)),
            model(Scorer::Linear(weights(2)), &two, Some(Calibration::Softmax)),
            model(Scorer::Linear(weights(3)), &three, Some(Calibration::Logistic)),
            model(Scorer::Linear(weights(3)), &three, platt(3)),
            model(Scorer::Linear(weights(1)), &[], None),
            model(Scorer::Presence(weights(3)), &three, Some(Calibration::Softmax)),
            model(Scorer::Clipped(clipped), &[], None),
            model(network(Activation::Relu), &three, Some(Calibration::Softmax)),
            model(network(Activation::Tanh), &three, None),
            model(kernel(Kernel::Linear), &two, None),
            model(kernel(Kernel::Polynomial(3)), &two, None),
            model(kernel(Kernel::Rbf(0.5)), &two, None),
        ]
    }

    fn is_whole(tensor: &TensorProto) -> bool {
        let count = tensor.dims.iter().product::<i64>() as usize;
        match tensor.data_type {
            proto::FLOAT => tensor.raw_data.len() == 4 * count,
            proto::INT64 => tensor.raw_data.len() == 8 * count,
            _ => tensor.string_data.len() == count,
        }
    }

    #[test]
    fn every_value_of_a_graph_is_made_once_and_before_it_is_used() {
        for model in models() {
            let bytes = write(&model).unwrap();
            assert!(is_onnx(&bytes));
            let graph = ModelProto::decode(&bytes[..]).unwrap().graph.unwrap();
            assert!(graph.initializer.iter().all(is_whole), "{:?}", model.scorer);
            let constants = graph.initializer.iter().map(|tensor| tensor.name.clone());
            let mut known: BTreeSet<String> = constants.chain([Graph::INPUT.to_owned()]).collect();
            for node in &graph.node {
                assert!(node.input.iter().all(|name| known.contains(name)), "{node:?}");
                assert!(node.output.iter().all(|name| known.insert(name.clone())), "{node:?}");
            }
            let outputs: Vec<&str> = graph.output.iter().map(|output| output.name.as_str()).collect();
            let expected: &[&str] = match (model.task(), &model.probabilities) {
                (Task::Regression, _) => &["prediction"],
                (_, None) => &["label", "scores"],
                (_, Some(_)) => &["label", "scores", "probabilities"],
            };
            assert_eq!(outputs, expected);
            assert!(outputs.iter().all(|name| known.contains(*name)));
        }
    }

    #[test]
    fn what_single_precision_cannot_hold_is_refused() {
        let mut large = weights(1);
        large.values[1] = 1e39;
        let error = write(&model(Scorer::Linear(large), &["no", "yes"], None)).unwrap_err();
        assert!(error.what().contains("1e39"), "{error}");
    }
}
