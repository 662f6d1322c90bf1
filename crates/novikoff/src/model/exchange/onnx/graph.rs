//! A graph as it grows: every node and every constant has a name of its own.

use super::proto::{
    ATTRIBUTE_INT, AttributeProto, DOUBLE, Dimension, FLOAT, GraphProto, INT64, NodeProto, STRING, Shape,
    TensorProto, TensorType, TypeProto, ValueInfo,
};
use crate::error::{Error, Result};

/// The name of a value that a node computes, by its precision.
pub(super) enum Value {
    Single(String),
    Double(String),
}

impl Value {
    pub(super) fn name(&self) -> &str {
        let (Self::Single(name) | Self::Double(name)) = self;
        name
    }
}

pub(super) struct Graph {
    graph: GraphProto,
}

impl Graph {
    /// The rows.
    pub(super) const INPUT: &str = "features";

    pub(super) fn new(features: usize) -> Self {
        let input = vec![matrix(Self::INPUT, FLOAT, Some(features))];
        Self { graph: GraphProto { name: "novikoff".to_owned(), input, ..GraphProto::default() } }
    }

    pub(super) fn finish(self) -> GraphProto {
        self.graph
    }

    /// Adds a constant in single precision.
    pub(super) fn numbers(
        &mut self,
        dims: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> Result<String> {
        let mut bytes = Vec::with_capacity(4 * dims.iter().product::<usize>());
        for value in values {
            let rounded = value as f32;
            if !rounded.is_finite() {
                let what = format!("the number {value:e} of this model is too large for single precision");
                return Err(Error::usage(what).hint("train with `scale = max-abs`"));
            }
            bytes.extend_from_slice(&rounded.to_le_bytes());
        }
        let tensor = TensorProto { raw_data: bytes, ..TensorProto::default() };
        Ok(self.constant(dims, FLOAT, tensor))
    }

    /// Adds a constant in double precision.
    pub(super) fn doubles(&mut self, dims: &[usize], values: impl IntoIterator<Item = f64>) -> String {
        let raw_data = values.into_iter().flat_map(f64::to_le_bytes).collect();
        self.constant(dims, DOUBLE, TensorProto { raw_data, ..TensorProto::default() })
    }

    /// Adds a constant of whole numbers.
    pub(super) fn integers(&mut self, dims: &[usize], values: Vec<i64>) -> String {
        let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(dims, INT64, TensorProto { raw_data, ..TensorProto::default() })
    }

    /// Adds a list of words.
    pub(super) fn strings(&mut self, words: &[String]) -> String {
        let string_data = words.iter().map(|word| word.clone().into_bytes()).collect();
        self.constant(&[words.len()], STRING, TensorProto { string_data, ..TensorProto::default() })
    }

    fn constant(&mut self, dims: &[usize], data_type: i32, tensor: TensorProto) -> String {
        let name = format!("constant{}", self.graph.initializer.len() + 1);
        let dims = dims.iter().map(|&size| size as i64).collect();
        self.graph.initializer.push(TensorProto { dims, data_type, name: name.clone(), ..tensor });
        name
    }

    /// Adds a node; returns the name of its output.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node_with(operator, inputs, &[])
    }

    pub(super) fn cast(&mut self, input: &str, to: i32) -> String {
        self.node_with("Cast", &[input], &[("to", i64::from(to))])
    }

    /// A value in single precision.
    pub(super) fn single(&mut self, value: &Value) -> String {
        match value {
            Value::Single(name) => name.clone(),
            Value::Double(name) => self.cast(name, FLOAT),
        }
    }

    pub(super) fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, i64)],
    ) -> String {
        let name = format!("value{}", self.graph.node.len() + 1);
        self.push(operator, inputs, &name, attributes);
        name
    }

    /// Adds a node whose output is one of the graph: a list, or a matrix of so many columns.
    pub(super) fn output(
        &mut self,
        operator: &str,
        inputs: &[&str],
        name: &str,
        elements: i32,
        columns: Option<usize>,
    ) {
        self.output_with(operator, inputs, (name, elements, columns), &[]);
    }

    pub(super) fn output_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        (name, elements, columns): (&str, i32, Option<usize>),
        attributes: &[(&str, i64)],
    ) {
        self.push(operator, inputs, name, attributes);
        self.graph.output.push(matrix(name, elements, columns));
    }

    fn push(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) {
        let attribute =
            |&(name, i): &(&str, i64)| AttributeProto { name: name.to_owned(), i, kind: ATTRIBUTE_INT };
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            name: format!("node{}", self.graph.node.len() + 1),
            op_type: operator.to_owned(),
            attribute: attributes.iter().map(attribute).collect(),
        });
    }
}

/// Something for each row: one element, or so many.
fn matrix(name: &str, elements: i32, columns: Option<usize>) -> ValueInfo {
    let rows = Dimension { value: None, name: Some("rows".to_owned()) };
    let columns = columns.map(|count| Dimension { value: Some(count as i64), name: None });
    let shape = Shape { dim: [rows].into_iter().chain(columns).collect() };
    let tensor = TensorType { elements, shape: Some(shape) };
    ValueInfo { name: name.to_owned(), kind: Some(TypeProto { tensor: Some(tensor) }) }
}
