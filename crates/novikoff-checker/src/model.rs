//! The model's file (`docs/model-format.md`), as far as a certificate speaks of it.

use crate::certificate::{Bias, Certificate, Claim, Direction, Loss, Objective, Scale, Target, one_line};
use crate::labels::Labels;
use crate::rows::{ColumnNames, Rows};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

const PREFIX: &[u8] = b"{\"__metadata__\":{\"checksum\":\"blake3:";
const DIGITS: usize = 64;
/// Where the digits of the checksum start.
const AT: usize = 8 + PREFIX.len();
/// Longer headers are no model's.
const LONGEST_HEADER: usize = 64 << 20;

/// A model that predicts by weights of columns.
pub struct Model<'a> {
    checksum: String,
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, Tensor>,
    numbers: &'a [u8],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [usize; 2],
}

/// A map with every key once: of two, a reader would have to choose one.
struct Once<V>(BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Once<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Once<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Once<V>, A::Error> {
                let mut map = BTreeMap::new();
                while let Some((key, value)) = entries.next_entry::<String, V>()? {
                    if map.contains_key(&key) {
                        return Err(A::Error::custom(format!("{key:?} is there twice")));
                    }
                    map.insert(key, value);
                }
                Ok(Once(map))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// An entry of the header, by what it has: tensors have a type, a shape and a place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Tensor(Tensor),
    Metadata(Once<String>),
}

/// What the model's file says of how it was trained.
#[derive(Default, Deserialize)]
struct Settings {
    loss: Option<Loss>,
    lambda: Option<f64>,
    #[serde(default)]
    l1: f64,
    bias: Option<Bias>,
    #[serde(default)]
    scale: Option<Scale>,
    #[serde(default)]
    scaled_columns: Option<u64>,
    /// As they were given: a list, or how they were found.
    #[serde(default)]
    class_weight: Option<Value>,
    /// What was found.
    #[serde(default)]
    class_weights: Option<Value>,
}

impl<'a> Model<'a> {
    /// Reads a model's file whose checksum is right.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length)).unwrap_or(u64::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let header = bytes.get(8..).filter(|_| length <= LONGEST_HEADER).and_then(|rest| rest.get(..length));
        let Some(header) =
            header.filter(|header| header.starts_with(PREFIX) && header.len() > PREFIX.len() + DIGITS)
        else {
            return Err("this is no model of novikoff, or it was cut short".into());
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes[..AT]).update(&[b'0'; DIGITS]).update(&bytes[AT + DIGITS..]);
        let digits = hasher.finalize().to_hex();
        if bytes[AT..AT + DIGITS] != *digits.as_bytes() {
            return Err("the model's checksum is wrong: the file was damaged or changed".into());
        }
        let Once(header) = serde_json::from_slice::<Once<Entry>>(header)
            .map_err(|error| format!("the header of the model cannot be read: {}", one_line(&error)))?;
        let (mut metadata, mut tensors) = (BTreeMap::new(), BTreeMap::new());
        for (key, entry) in header {
            match entry {
                Entry::Metadata(Once(entries)) if key == "__metadata__" => metadata = entries,
                Entry::Tensor(tensor) if key != "__metadata__" => drop(tensors.insert(key, tensor)),
                _ => return Err(format!("{key:?} in the header of the model is not what it should be")),
            }
        }
        let model =
            Self { checksum: format!("blake3:{digits}"), metadata, tensors, numbers: &bytes[8 + length..] };
        match (model.text("format"), model.text("format_version")) {
            (Some("novikoff-model"), Some("1")) => Ok(model),
            _ => Err("this is no model of novikoff in format version 1".into()),
        }
    }

    /// Whether the certificate is about this model; what is wrong if not.
    pub fn check(&self, certificate: &Certificate, rows: &Rows) -> Result<String, String> {
        match &certificate.model {
            None => return Err("the certificate is about no model".into()),
            Some(named) if *named != self.checksum => {
                return Err(format!("this model is {}, the certificate is about {named}", self.checksum));
            }
            Some(_) => {}
        }
        if self.text("map").unwrap_or("")
            != certificate.map.as_ref().map_or_else(String::new, |map| map.text())
        {
            return Err("the model has another feature map".into());
        }
        self.check_names(rows)?;
        let labels = self.labels()?;
        for claim in &certificate.claims {
            let weights = || match self.text("scorer") {
                Some("linear") => Outputs::of(self, rows.width()),
                _ => Err("this model does not predict by weights of columns".to_owned()),
            };
            match claim {
                Claim::NearOptimal(claim) => {
                    let weights = weights()?;
                    let outputs = outputs(&claim.objective.target, &labels, &weights)?;
                    weights.check(&outputs, &claim.weights)?;
                    self.check_settings(&claim.objective)?;
                }
                Claim::MarginAtLeast(claim) => {
                    let weights = weights()?;
                    let output =
                        output_of_sides(&claim.sides.positive, &claim.sides.negative, &labels, &weights)?;
                    weights.check(&[output], std::slice::from_ref(&claim.direction))?;
                }
                Claim::MarginAtMost(_) | Claim::NotSeparable(_) | Claim::MistakesAtMost(_) => {}
            }
        }
        Ok(self.checksum.clone())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    fn json<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<T, String> {
        let text = self.text(key).ok_or_else(|| format!("the model has no `{key}`"))?;
        serde_json::from_str(text)
            .map_err(|error| format!("`{key}` of the model cannot be read: {}", one_line(&error)))
    }

    /// The labels; none of a model that predicts numbers.
    fn labels(&self) -> Result<Labels, String> {
        let mut labels = Labels::default();
        if self.text("task") != Some("regression") {
            for name in self.json::<Vec<String>>("labels")? {
                labels.add(name).map_err(|name| format!("the model has the label {name:?} twice"))?;
            }
        }
        Ok(labels)
    }

    /// The bytes of a tensor of this type and this many dimensions, and its shape.
    fn tensor(&self, name: &str, dtype: &str, dimensions: usize) -> Result<(&'a [u8], &[u64]), String> {
        let wrong = || format!("the model's tensor `{name}` is missing or wrong");
        let tensor = self.tensors.get(name).filter(|tensor| tensor.dtype == dtype).ok_or_else(wrong)?;
        let [from, to] = tensor.data_offsets;
        let bytes = self.numbers.get(from..to).ok_or_else(wrong)?;
        let width = match dtype {
            "F64" | "U64" => 8,
            "U32" => 4,
            _ => 1,
        };
        let count = tensor.shape.iter().try_fold(width, |all: u64, n| all.checked_mul(*n));
        if tensor.shape.len() == dimensions && count == Some(bytes.len() as u64) {
            Ok((bytes, &tensor.shape))
        } else {
            Err(wrong())
        }
    }

    /// The columns that are read are called by the model what the rows call them.
    fn check_names(&self, rows: &Rows) -> Result<(), String> {
        let schema: Value = self.json("schema")?;
        let number = |key: &str| schema[key].as_u64();
        let same = match &rows.column_names {
            ColumnNames::Numbers(first) => {
                schema["kind"] == "indexed" && number("base") == Some(u64::from(*first))
            }
            ColumnNames::Hashes(bits) => number("bits") == Some(u64::from(*bits)),
            ColumnNames::Names(names) => {
                let mut own = table_names(&schema["table"]);
                if schema["kind"] == "named" || schema["kind"] == "text" {
                    own.extend(self.stored_names()?);
                }
                // Columns that the model has no name for have an empty one.
                own.len() <= names.len()
                    && names.iter().enumerate().all(|(j, name)| own.get(j).map_or("", String::as_str) == name)
            }
        };
        if same { Ok(()) } else { Err("the model's columns have other names than those of the rows".into()) }
    }

    fn stored_names(&self) -> Result<Vec<String>, String> {
        let (text, _) = self.tensor("feature_names", "U8", 1)?;
        let (ends, _) = self.tensor("feature_name_ends", "U64", 1)?;
        let (mut names, mut start) = (Vec::new(), 0);
        for end in ends.as_chunks::<8>().0 {
            let end = usize::try_from(u64::from_le_bytes(*end)).unwrap_or(usize::MAX);
            let name = text.get(start..end).and_then(|name| std::str::from_utf8(name).ok());
            names.push(name.ok_or("the names of the model's columns cannot be read")?.to_owned());
            start = end;
        }
        Ok(names)
    }

    /// The objective of a claim is the one that the model says it minimises.
    fn check_settings(&self, claimed: &Objective) -> Result<(), String> {
        let about: Value = self.json("about")?;
        let settings: Settings = serde_json::from_value(about["settings"].clone())
            .map_err(|error| format!("the model's settings cannot be read: {}", one_line(&error)))?;
        let reason = |part: &str| format!("the model's settings do not confirm the {part} of a claim");
        let unconfirmed = |part: &str| Err(reason(part));
        if settings.loss != Some(claimed.loss) {
            return unconfirmed("loss");
        }
        if settings.lambda != Some(claimed.lambda) || settings.l1 != claimed.l1 {
            return unconfirmed("penalty");
        }
        if settings.bias != Some(claimed.bias) {
            return unconfirmed("bias");
        }
        if settings.scale != claimed.scale || settings.scaled_columns != claimed.scaled_columns {
            return unconfirmed("scale");
        }
        let given: Vec<(String, f64)> = match settings.class_weights.or(settings.class_weight) {
            None => Vec::new(),
            Some(value) => serde_json::from_value(value).map_err(|_| reason("class weights"))?,
        };
        if same_weights(&given, &claimed.class_weights) { Ok(()) } else { unconfirmed("class weights") }
    }
}

/// Whether two lists give every label the same weight; labels that are not named have the weight 1.
fn same_weights(one: &[(String, f64)], other: &[(String, f64)]) -> bool {
    let mut labels = Labels::default();
    let mut weights: Vec<[f64; 2]> = Vec::new();
    for (list, pairs) in [one, other].into_iter().enumerate() {
        for (name, weight) in pairs {
            let label = labels.find_or_add(name);
            weights.resize(labels.names().len(), [1.0; 2]);
            weights[label][list] = *weight;
        }
    }
    weights.iter().all(|[a, b]| a == b)
}

/// The names of the columns that a table becomes.
fn table_names(table: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for column in table["columns"].as_array().into_iter().flatten() {
        let (name, role) = (column["name"].as_str().unwrap_or_default(), &column["role"]);
        if role["numeric"].is_object() {
            names.push(name.to_owned());
        }
        let categories = role["categorical"]["categories"].as_array().into_iter().flatten();
        names.extend(categories.map(|category| format!("{name}={}", category.as_str().unwrap_or_default())));
        if role["numeric"]["indicator"] == true || role["categorical"]["indicator"] == true {
            names.push(format!("{name}=missing"));
        }
    }
    for interaction in table["interactions"].as_array().into_iter().flatten() {
        let columns: Vec<&Value> = interaction["columns"].as_array().into_iter().flatten().collect();
        for cell in interaction["cells"].as_array().into_iter().flatten() {
            let parts = columns.iter().enumerate().map(|(k, column)| {
                let column = column.as_str().unwrap_or_default();
                cell[k].as_str().map_or_else(|| column.to_owned(), |category| format!("{column}={category}"))
            });
            names.push(parts.collect::<Vec<_>>().join("*"));
        }
    }
    names
}

/// The weights of a model: of some columns, or of all, for each output.
struct Outputs<'a> {
    /// The columns, as they are stored; all if there are none.
    columns: Option<&'a [u8]>,
    weights: &'a [u8],
    biases: &'a [u8],
    count: usize,
    /// How many columns there are.
    width: u64,
}

impl<'a> Outputs<'a> {
    fn of(model: &Model<'a>, width: u64) -> Result<Self, String> {
        let (biases, shape) = model.tensor("bias", "F64", 1)?;
        let count = shape[0];
        let sparse = model.tensors.contains_key("weight_indices");
        let (weights, shape) = model.tensor(if sparse { "weight_values" } else { "weights" }, "F64", 2)?;
        let columns = if sparse { Some(model.tensor("weight_indices", "U32", 1)?.0) } else { None };
        let features: Option<u64> = model.text("features").and_then(|text| text.parse().ok());
        let rows = columns.map_or(width, |columns| columns.len() as u64 / 4);
        // With a map, `features` are those before it.
        let fits = model.text("map").is_some() || features == Some(width);
        if shape != [rows, count] || !fits || count == 0 {
            return Err("the model has weights of other columns than those of the rows".into());
        }
        Ok(Self { columns, weights, biases, count: count as usize, width })
    }

    /// The directions are these outputs', number by number.
    fn check(&self, outputs: &[usize], directions: &[Direction]) -> Result<(), String> {
        let same = outputs.len() == directions.len()
            && outputs.iter().zip(directions).all(|(output, own)| self.is(*output, own));
        if same { Ok(()) } else { Err("the weights of a claim are not the model's".into()) }
    }

    fn is(&self, output: usize, direction: &Direction) -> bool {
        let number = |bytes: &[u8], at: usize| {
            bytes.as_chunks::<8>().0.get(at).map(|bytes| f64::from_le_bytes(*bytes))
        };
        let own = (0..self.weights.len() / 8 / self.count).filter_map(|at| {
            let column = match self.columns {
                Some(columns) => u32::from_le_bytes(*columns.as_chunks::<4>().0.get(at)?),
                None => u32::try_from(at).ok()?,
            };
            number(self.weights, at * self.count + output).map(|w| (column, w))
        });
        let weighing = |(_, w): &(u32, f64)| *w != 0.0;
        let Ok(claimed) = direction.entries(self.width) else { return false };
        number(self.biases, output) == Some(direction.bias)
            && own.filter(weighing).eq(claimed.filter(weighing))
    }
}

/// The outputs by which the model decides this.
fn outputs(target: &Target, labels: &Labels, weights: &Outputs<'_>) -> Result<Vec<usize>, String> {
    let wrong = || Err("the model predicts something else than a claim".into());
    match target {
        Target::Numbers if labels.names().is_empty() && weights.count == 1 => Ok(vec![0]),
        Target::Classes(names) => {
            let same = names.len() == labels.names().len()
                && names.iter().enumerate().all(|(at, name)| labels.find(name) == Some(at));
            if same && weights.count == names.len() { Ok((0..names.len()).collect()) } else { wrong() }
        }
        Target::Sides(sides) => {
            output_of_sides(&sides.positive, &sides.negative, labels, weights).map(|output| vec![output])
        }
        Target::Numbers => wrong(),
    }
}

/// The output that tells one label from all others. One output is that of the second of two labels.
fn output_of_sides(
    positive: &[String],
    negative: &[String],
    labels: &Labels,
    weights: &Outputs<'_>,
) -> Result<usize, String> {
    let class = if let [only] = positive { labels.find(only) } else { None };
    let mut others: Vec<usize> = negative.iter().filter_map(|name| labels.find(name)).collect();
    others.sort_unstable();
    let expected: Vec<usize> = (0..labels.names().len()).filter(|label| Some(*label) != class).collect();
    match class {
        Some(1)
            if weights.count == 1 && others == [0] && negative.len() == 1 && labels.names().len() == 2 =>
        {
            Ok(0)
        }
        Some(class)
            if weights.count == labels.names().len()
                && others == expected
                && negative.len() == others.len() =>
        {
            Ok(class)
        }
        _ => Err("the model does not decide by weights between the sides of a claim".into()),
    }
}
