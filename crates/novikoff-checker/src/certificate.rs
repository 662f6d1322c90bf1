//! The certificate's file, version 4 (`docs/certificates.md`): JSON in which nothing is unknown, repeated or
//! infinite.
//!
//! Parsing decides what is a certificate at all. Whether its claims hold is the business of the other
//! modules.

use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// What the first field says.
const FORMAT: &str = "novikoff certificate";
/// The one version that is known here.
const VERSION: u64 = 4;
/// Longer lists of numbers must be packed.
const LONGEST_LIST: usize = 256;

/// A certificate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    pub data: Data,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub map: Option<Map>,
    pub claims: Vec<Claim>,
}

/// Which rows it is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub hash: String,
    pub rows: u64,
    pub columns: u64,
}

/// A feature map; its fields are in the order of the alphabet, so that it is written as in the canonical form
/// of rows.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Map {
    Poly { degree: u32 },
    Fourier { count: u32, gamma: f64, seed: u64 },
}

/// A claim, and what proves it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    MarginAtLeast(MarginAtLeast),
    MarginAtMost(MarginAtMost),
    NotSeparable(NotSeparable),
    NearOptimal(Box<NearOptimal>),
    MistakesAtMost(MistakesAtMost),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarginAtLeast {
    pub sides: Sides,
    pub bias: Bias,
    pub margin: f64,
    pub direction: Direction,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarginAtMost {
    pub sides: Sides,
    pub bias: Bias,
    pub margin: f64,
    pub combination: Combination,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotSeparable {
    pub sides: Sides,
    pub bias: Bias,
    pub combination: WholeCombination,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearOptimal {
    pub objective: Objective,
    pub value: f64,
    #[serde(default)]
    pub lower_bound: Option<f64>,
    #[serde(default)]
    pub within: Option<f64>,
    pub weights: Vec<Direction>,
    #[serde(default)]
    pub duals: Option<List<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MistakesAtMost {
    pub mistakes: u64,
    pub proof: MistakeProof,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MistakeProof {
    pub target: Target,
    pub bias: Bias,
    pub normalised: bool,
    #[serde(default)]
    pub own_feature: Option<f64>,
    #[serde(default)]
    pub passes: Option<u64>,
    pub margin: f64,
    pub weights: Vec<Direction>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    pub target: Target,
    pub loss: Loss,
    pub lambda: f64,
    pub l1: f64,
    pub bias: Bias,
    #[serde(default)]
    pub class_weights: Vec<(String, f64)>,
    #[serde(default)]
    pub scale: Option<Scale>,
    #[serde(default)]
    pub scaled_columns: Option<u64>,
}

/// Labels on two sides.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sides {
    pub positive: Vec<String>,
    pub negative: Vec<String>,
}

/// What is to be predicted.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Sides(Sides),
    Classes(Vec<String>),
    Numbers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bias {
    Free,
    Penalised,
    None,
}

/// A loss; two have a parameter, in an object such as `{"huber": {"width": 1.5}}`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    Hinge,
    SquaredHinge,
    Logistic,
    Exponential,
    Squared,
    Absolute,
    Huber { width: f64 },
    Quantile { level: f64 },
    HingeAtZero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    MaxAbs,
    UnitVariance,
    Standard,
}

/// Weights of columns, and a bias.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    #[serde(default)]
    pub columns: Option<List<u32>>,
    pub weights: List<f64>,
    pub bias: f64,
}

/// Rows, and how often each counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    pub rows: List<u32>,
    pub multipliers: List<f64>,
}

/// The same with whole numbers in decimal digits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WholeCombination {
    pub rows: List<u32>,
    pub multipliers: Vec<String>,
}

impl Certificate {
    /// Parses a certificate, or says why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        /// The two fields that say how to read all others.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
        }
        let no_certificate =
            |error: serde_json::Error| format!("this is no certificate: {}", one_line(&error));
        let head: Head = serde_json::from_str(text).map_err(no_certificate)?;
        match (head.format.as_str(), head.version) {
            (FORMAT, VERSION) => {}
            (FORMAT, 1..VERSION) => {
                return Err(format!(
                    "version {} of certificates is refused: its hash of the rows can be forged\n\
                     hint: write the certificate again with a newer novikoff",
                    head.version
                ));
            }
            (FORMAT, other) => {
                return Err(format!("version {other} of certificates is not known here, only {VERSION}"));
            }
            (other, _) => return Err(format!("this is no certificate: its format is {other:?}")),
        }
        let certificate: Self = serde_json::from_str(text).map_err(no_certificate)?;
        if certificate.claims.is_empty() {
            return Err("this certificate claims nothing".into());
        }
        match certificate.model.as_deref() {
            Some(name) if !is_checksum(name) => Err(format!("{name:?} is not the checksum of a model")),
            _ => Ok(certificate),
        }
    }
}

impl Map {
    /// As in the canonical form of rows.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What is wrong with JSON, in which names of fields come from outside: without line breaks, nobody can add a
/// line to what is printed.
pub fn one_line(error: &serde_json::Error) -> String {
    error.to_string().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn is_checksum(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.strip_prefix("blake3:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

/// A list of finite numbers: a JSON list if it is short, or packed.
#[derive(Debug)]
pub struct List<T>(pub Vec<T>);

/// A number that lists are made of.
pub trait Number: DeserializeOwned {
    const NAME: &'static str;
    const BYTES: usize;
    /// Out of so many bytes, the lowest first; nothing if it is not finite.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    const BYTES: usize = 8;
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(f64::from_le_bytes).filter(|x| x.is_finite())
    }
}

impl Number for u32 {
    const NAME: &'static str = "u32";
    const BYTES: usize = 4;
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(u32::from_le_bytes)
    }
}

impl<'de, T: Number> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Number> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of numbers, or {{\"{}\": their bytes in base64}}", T::NAME)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<T>, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            if numbers.len() == LONGEST_LIST {
                return Err(A::Error::custom(format!(
                    "a list of more than {LONGEST_LIST} numbers must be packed"
                )));
            }
            numbers.push(number);
        }
        Ok(List(numbers))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
        if map.next_key::<String>()?.as_deref() != Some(T::NAME) {
            return Err(A::Error::custom(format!("packed numbers that are not {}", T::NAME)));
        }
        let text: std::borrow::Cow<'de, str> = map.next_value()?;
        let numbers = unpack(&text)
            .ok_or_else(|| A::Error::custom(format!("these are no packed finite {}", T::NAME)))?;
        if map.next_key::<String>()?.is_some() {
            return Err(A::Error::custom("packed numbers have one field"));
        }
        Ok(List(numbers))
    }
}

/// The numbers whose bytes these are in base64 (RFC 4648 with padding, and with zeros where a last digit has
/// bits to spare).
fn unpack<T: Number>(text: &str) -> Option<Vec<T>> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (at, group) in groups.iter().enumerate() {
        let padding = group.iter().rev().take_while(|digit| **digit == b'=').count();
        if padding > 2 || (padding > 0 && at + 1 < groups.len()) {
            return None;
        }
        let mut bits = 0u32;
        for digit in &group[..4 - padding] {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        let [_, kept @ ..] = bits.to_be_bytes();
        let (kept, spare) = kept.split_at(3 - padding);
        if spare.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    if !bytes.len().is_multiple_of(T::BYTES) {
        return None;
    }
    bytes.chunks_exact(T::BYTES).map(T::from_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_strictly() {
        assert_eq!(unpack::<u32>("AQAAAAIAAAA="), Some(vec![1, 2]));
        assert_eq!(unpack::<u32>("AQAAAA=="), Some(vec![1]));
        assert_eq!(unpack::<u32>(""), Some(vec![]));
        assert_eq!(unpack::<f64>("AAAAAAAA8D8="), Some(vec![1.0]));
        for wrong in [
            "AQAAAA",
            "AQAAAA=",
            "AQAAAB==",
            "AQAA====",
            "AQ==AAAA",
            "AQAAA-==",
            "AQAA",
            "AQAAAA==\n",
            " AQAAAA==",
        ] {
            assert_eq!(unpack::<u32>(wrong), None, "{wrong:?}");
        }
        // Infinity and a NaN.
        assert_eq!(unpack::<f64>("AAAAAAAA8H8="), None);
        assert_eq!(unpack::<f64>("AAAAAAAA+H8="), None);
    }
}
