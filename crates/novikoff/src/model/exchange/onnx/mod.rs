//! Models as ONNX: a graph of common operators (operator set 13), which every runtime has.
//!
//! The input `features` is a matrix of numbers in single precision with a column for each feature. Of models
//! of classes, the outputs are `label`, `scores` and, where the model has them, `probabilities` of all
//! labels; of models of numbers, `prediction`. Weights are rounded to single precision. Kernels are computed
//! in double precision: distances of rows far from the origin are small differences of large numbers.

mod graph;
mod proto;

use self::graph::{Graph, Value};
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
            let scores = graph.single(&scores);
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
        // In double precision.
        Scorer::Kernel(expansion) => expansion.rows.rows().checked_mul(2 * (features + expansion.outputs)),
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

/// Adds the scores of the rows.
fn score(graph: &mut Graph, scorer: &Scorer) -> Result<Value> {
    match scorer {
        Scorer::Kernel(expansion) => compared(graph, Graph::INPUT, expansion).map(Value::Double),
        _ => score_in_single(graph, Graph::INPUT, scorer).map(Value::Single),
    }
}

fn score_in_single(graph: &mut Graph, features: &str, scorer: &Scorer) -> Result<String> {
    match scorer {
        Scorer::Linear(weights) => linear(graph, features, weights),
        Scorer::Presence(weights) => {
            let zero = graph.numbers(&[1], [0.0])?;
            let is_there = graph.node("Greater", &[features, &zero]);
            let present = graph.cast(&is_there, proto::FLOAT);
            linear(graph, &present, weights)
        }
        Scorer::Clipped(clipped) => {
            let scores = linear(graph, features, &clipped.weights)?;
            let (least, most) = (graph.numbers(&[], [clipped.least])?, graph.numbers(&[], [clipped.most])?);
            Ok(graph.node("Clip", &[&scores, &least, &most]))
        }
        Scorer::Network(network) => layers(graph, features, network),
        Scorer::Kernel(_) | Scorer::Voted(_) => Err(refused("the votes of a model", "averaged")),
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

/// Kernels of the rows with those of the model, in double precision.
fn compared(graph: &mut Graph, rows: &str, expansion: &Expansion) -> Result<String> {
    let (count, outputs) = (expansion.rows.rows(), expansion.outputs);
    let rows = graph.cast(rows, proto::DOUBLE);
    let kernels = match expansion.kernel {
        Kernel::Linear => products(graph, &rows, &Support::of(expansion)),
        Kernel::Polynomial(degree) => {
            let products = products(graph, &rows, &Support::of(expansion));
            let (one, degree) = (graph.doubles(&[1], [1.0]), graph.doubles(&[1], [f64::from(degree)]));
            let sums = graph.node("Add", &[&products, &one]);
            graph.node("Pow", &[&sums, &degree])
        }
        Kernel::Rbf(gamma) => {
            let distances = distances_sq(graph, &rows, Support::of(expansion));
            let factor = graph.doubles(&[1], [-gamma]);
            let exponents = graph.node("Mul", &[&distances, &factor]);
            graph.node("Exp", &[&exponents])
        }
    };
    let coefficients = graph.doubles(&[count, outputs], expansion.coefficients.iter().copied());
    let mut biases = vec![0.0; outputs];
    for own in expansion.coefficients.chunks_exact(outputs) {
        biases.iter_mut().zip(own).for_each(|(bias, c)| *bias += c * expansion.bias * expansion.bias);
    }
    let biases = graph.doubles(&[outputs], biases);
    let scores = graph.node("MatMul", &[&kernels, &coefficients]);
    Ok(graph.node("Add", &[&scores, &biases]))
}

/// The rows of an expansion as a matrix with a column for each of them.
struct Support {
    features: usize,
    count: usize,
    transposed: Vec<f64>,
}

impl Support {
    fn of(expansion: &Expansion) -> Self {
        let (count, features) = (expansion.rows.rows(), expansion.rows.columns());
        let mut transposed = vec![0.0; features * count];
        for i in 0..count {
            expansion.rows.row(i).for_each_nonzero(|j, x| transposed[j as usize * count + i] = x);
        }
        Self { features, count, transposed }
    }

    /// Subtracts the mean row, and returns it.
    fn centre(&mut self) -> Vec<f64> {
        let count = self.count.max(1);
        let centre_feature = |values: &mut [f64]| {
            // Divided first: a sum of large values must not overflow.
            let mean = values.iter().map(|x| x / count as f64).sum::<f64>();
            values.iter_mut().for_each(|x| *x -= mean);
            mean
        };
        self.transposed.chunks_exact_mut(count).map(centre_feature).collect()
    }

    fn norms_sq(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.count];
        for values in self.transposed.chunks_exact(self.count.max(1)) {
            norms.iter_mut().zip(values).for_each(|(norm, x)| *norm += x * x);
        }
        norms
    }
}

fn products(graph: &mut Graph, rows: &str, support: &Support) -> String {
    let transposed = graph.doubles(&[support.features, support.count], support.transposed.iter().copied());
    graph.node("MatMul", &[rows, &transposed])
}

/// `‖x − z‖² = ‖x‖² + ‖z‖² − 2<x, z>`. With the mean of the support rows subtracted from both, norms are about
/// as large as distances, so little is lost to rounding, wherever the origin is.
fn distances_sq(graph: &mut Graph, rows: &str, mut support: Support) -> String {
    let means = support.centre();
    let means = graph.doubles(&[support.features], means);
    let rows = graph.node("Sub", &[rows, &means]);
    let products = products(graph, &rows, &support);
    let squares = graph.node("Mul", &[&rows, &rows]);
    let axes = graph.integers(&[1], vec![1]);
    let own = graph.node("ReduceSum", &[&squares, &axes]);
    let norms = graph.doubles(&[support.count], support.norms_sq());
    let two = graph.doubles(&[1], [2.0]);
    let both = graph.node("Add", &[&own, &norms]);
    let doubled = graph.node("Mul", &[&products, &two]);
    let distances = graph.node("Sub", &[&both, &doubled]);
    // Rounding must not make a distance negative.
    graph.node("Relu", &[&distances])
}

/// Adds labels, scores and probabilities.
fn classify(graph: &mut Graph, model: &Model, scores: &Value) -> Result<()> {
    let outputs = model.scorer.outputs();
    let class = if outputs == 1 {
        let zero = match scores {
            Value::Single(_) => graph.numbers(&[1], [0.0])?,
            Value::Double(_) => graph.doubles(&[1], [0.0]),
        };
        let is_second = graph.node("GreaterOrEqual", &[scores.name(), &zero]);
        let class = graph.cast(&is_second, proto::INT64);
        let shape = graph.integers(&[1], vec![-1]);
        graph.node("Reshape", &[&class, &shape])
    } else {
        // Of equal scores the last wins.
        graph.node_with("ArgMax", &[scores.name()], &[("axis", 1), ("keepdims", 0), ("select_last_index", 1)])
    };
    let (names, kind) = labels(graph, model.labels.names());
    graph.output("Gather", &[&names, &class], "label", kind, None);
    let scores = graph.single(scores);
    graph.output("Identity", &[&scores], "scores", proto::FLOAT, Some(outputs));
    match &model.probabilities {
        None => Ok(()),
        Some(calibration) => probabilities(graph, calibration, &scores, outputs),
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
    use std::collections::{BTreeMap, BTreeSet};

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
            proto::INT64 | proto::DOUBLE => tensor.raw_data.len() == 8 * count,
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

    /// A matrix; a list is one row of it.
    #[derive(Clone)]
    struct Table {
        columns: usize,
        values: Vec<f64>,
    }

    impl Table {
        /// The entry, or the only one of the row or column.
        fn at(&self, row: usize, column: usize) -> f64 {
            let row = row.min(self.values.len() / self.columns - 1);
            self.values[row * self.columns + column.min(self.columns - 1)]
        }

        fn of(tensor: &TensorProto) -> Option<Self> {
            let bytes = &tensor.raw_data;
            let values = match tensor.data_type {
                proto::FLOAT => {
                    let single = |b: &[u8]| f64::from(f32::from_le_bytes(b.try_into().unwrap()));
                    bytes.chunks_exact(4).map(single).collect()
                }
                proto::DOUBLE => {
                    let double = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
                    bytes.chunks_exact(8).map(double).collect()
                }
                _ => return None,
            };
            Some(Self { columns: tensor.dims.last().map_or(1, |size| *size as usize), values })
        }

        fn combined(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
            let columns = self.columns.max(other.columns);
            let rows = (self.values.len() / self.columns).max(other.values.len() / other.columns);
            let at = |at: usize| (at / columns, at % columns);
            let entry = |(i, j)| of(self.at(i, j), other.at(i, j));
            Self { columns, values: (0..rows * columns).map(at).map(entry).collect() }
        }

        fn product(&self, other: &Self) -> Self {
            let (inner, columns) = (self.columns, other.columns);
            let entry =
                |at: usize| (0..inner).map(|k| self.at(at / columns, k) * other.at(k, at % columns)).sum();
            let count = self.values.len() / inner * columns;
            Self { columns, values: (0..count).map(entry).collect() }
        }

        fn each(&self, of: impl Fn(f64) -> f64) -> Self {
            Self { columns: self.columns, values: self.values.iter().copied().map(of).collect() }
        }
    }

    /// The scores of rows by the graph of a kernel model; every value is rounded to the precision that the
    /// graph says.
    fn scores_by_graph(model: &Model, rows: &[[f32; FEATURES]]) -> Vec<f64> {
        let graph = ModelProto::decode(&write(model).unwrap()[..]).unwrap().graph.unwrap();
        let is_double = |tensor: &&TensorProto| tensor.data_type == proto::DOUBLE;
        let mut doubles: BTreeSet<String> =
            graph.initializer.iter().filter(is_double).map(|tensor| tensor.name.clone()).collect();
        let constants = graph.initializer.iter();
        let mut known: BTreeMap<String, Table> =
            constants.filter_map(|tensor| Some((tensor.name.clone(), Table::of(tensor)?))).collect();
        let values = rows.iter().flatten().map(|x| f64::from(*x)).collect();
        known.insert(Graph::INPUT.to_owned(), Table { columns: FEATURES, values });
        for node in &graph.node {
            let Some(first) = known.get(&node.input[0]) else { continue };
            let second = node.input.get(1).and_then(|name| known.get(name)).unwrap_or(first);
            let exact = match node.op_type.as_str() {
                "MatMul" => first.product(second),
                "Add" => first.combined(second, |a, b| a + b),
                "Sub" => first.combined(second, |a, b| a - b),
                "Mul" => first.combined(second, |a, b| a * b),
                "Pow" => first.combined(second, f64::powf),
                "ReduceSum" => {
                    let ones = Table { columns: 1, values: vec![1.0; first.columns] };
                    first.product(&ones)
                }
                "Relu" => first.each(|x| x.max(0.0)),
                "Exp" => first.each(f64::exp),
                "Cast" | "Identity" => first.clone(),
                _ => continue,
            };
            let casts_to_double =
                node.attribute.iter().any(|it| it.name == "to" && it.i == i64::from(proto::DOUBLE));
            let is_double = match node.op_type.as_str() {
                "Cast" => casts_to_double,
                _ => doubles.contains(&node.input[0]),
            };
            let output = node.output[0].clone();
            if is_double {
                doubles.insert(output.clone());
            }
            known.insert(output, if is_double { exact } else { exact.each(|x| f64::from(x as f32)) });
        }
        known["scores"].values.clone()
    }

    /// Distances are a millionth of the norms, or less.
    #[test]
    fn kernels_far_from_the_origin_are_those_of_the_model() {
        for far in [1990.0, 1e6] {
            let place = |i: u32| [far + f64::from(i % 7) * 128.0, f64::from(i % 5), -f64::from(i % 3)];
            for kernel in [Kernel::Rbf(1e-4), Kernel::Polynomial(2), Kernel::Linear] {
                let mut rows = Builder::new(Layout::Sparse);
                (0..20).for_each(|i| rows.push(&[0, 1, 2], &place(i)));
                let coefficients: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
                let (rows, precision) = (rows.finish(), Precision::Double);
                let expansion = Expansion { kernel, precision, bias: 1.0, rows, outputs: 1, coefficients };
                let places = (20..60).map(place).map(|row| row.map(|x| x as f32));
                let asked: Vec<[f32; FEATURES]> = places.collect();
                let flat: Vec<f64> = asked.iter().flatten().map(|x| f64::from(*x)).collect();
                let model = model(Scorer::Kernel(expansion), &["no", "yes"], None);
                let data = crate::Dataset::from_dense(&flat, FEATURES).unwrap();
                let expected = model.scores(&data).unwrap();
                let largest = expected.iter().fold(1e-300f64, |largest, s| largest.max(s.abs()));
                for (found, expected) in scores_by_graph(&model, &asked).iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-6 * largest, "{kernel} {far}: {found} {expected}");
                }
            }
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
