//! How raw input becomes rows, as metadata and tensors.

use super::check;
use super::tensors::{Numbers, Tensor, Tensors};
use crate::error::{Error, Result};
use crate::features::namespaces::{
    FeatureNumbering, Interactions, Murmur, NamespaceSchema, Numbers as HashedNumbers,
};
use crate::features::table::TableSchema;
use crate::features::text::{HashedNames, TextRecipe, TextSchema, Vocabulary};
use crate::features::{Dictionary, Schema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A schema as the metadata tells it; the names of features are tensors.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bits: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<TableSchema>,
    #[serde(default, skip_serializing_if = "Interactions::is_empty")]
    interactions: Interactions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    murmur: Option<MurmurEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextEntry>,
}

/// Vowpal Wabbit's hash; names that are known are tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MurmurEntry {
    numbers: HashedNumbers,
    seed: u32,
}

/// What documents go through; their terms are tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextEntry {
    recipe: TextRecipe,
    /// Documents that the frequencies are of.
    documents: u64,
    /// Whether the names of hashed terms were kept.
    names_kept: bool,
}

pub(super) fn entry(schema: &Schema) -> Entry {
    let (kind, mut entry) = match schema {
        Schema::Indexed { base } => ("indexed", Entry { base: Some(*base), ..Entry::default() }),
        Schema::Named(_) => ("named", Entry::default()),
        Schema::Hashed { bits } => ("hashed", Entry { bits: Some(*bits), ..Entry::default() }),
        Schema::Namespaces(namespaces) => of_namespaces(namespaces),
        Schema::Table(table) => ("table", Entry { table: Some((**table).clone()), ..Entry::default() }),
        Schema::Text(text) => {
            let (bits, names_kept) = match text.vocabulary() {
                Vocabulary::Named(_) => (None, false),
                Vocabulary::Hashed { bits, names } => (Some(*bits), names.is_some()),
            };
            let parts =
                TextEntry { recipe: text.recipe().clone(), documents: text.frequencies().0, names_kept };
            let table = text.table().map(|table| (**table).clone());
            ("text", Entry { bits, table, text: Some(parts), ..Entry::default() })
        }
    };
    kind.clone_into(&mut entry.kind);
    entry
}

fn of_namespaces(namespaces: &NamespaceSchema) -> (&'static str, Entry) {
    let entry =
        Entry { bits: namespaces.bits(), interactions: namespaces.interactions.clone(), ..Entry::default() };
    match &namespaces.numbering {
        FeatureNumbering::Named(_) => ("named", entry),
        FeatureNumbering::Hashed { .. } => ("hashed", entry),
        FeatureNumbering::Murmur(murmur) => {
            let Murmur { numbers, seed, .. } = **murmur;
            ("hashed", Entry { murmur: Some(MurmurEntry { numbers, seed }), ..entry })
        }
    }
}

pub(super) fn tensors(schema: &Schema) -> Vec<Tensor<'static>> {
    match schema {
        Schema::Named(dictionary) => names(dictionary.names().iter()),
        Schema::Namespaces(namespaces) => match &namespaces.numbering {
            FeatureNumbering::Named(dictionary) => names(dictionary.names().iter()),
            FeatureNumbering::Hashed { .. } => Vec::new(),
            FeatureNumbering::Murmur(murmur) => murmur_names(murmur),
        },
        Schema::Text(text) => {
            let (_, frequencies) = text.frequencies();
            let list = |numbers| Tensor::list(FREQUENCIES, Numbers::U32(numbers));
            match text.vocabulary() {
                Vocabulary::Named(dictionary) => {
                    let mut tensors = names(dictionary.names().iter());
                    tensors.extend(text.recipe().idf.then(|| list(frequencies.to_vec())));
                    tensors
                }
                Vocabulary::Hashed { names: kept, .. } => {
                    let mut tensors =
                        kept.as_ref().map_or(Vec::new(), |kept| names(kept.dictionary().names().iter()));
                    if text.recipe().idf {
                        // Of millions of numbers most stand for no term.
                        let met = || frequencies.iter().zip(0u32..).filter(|(with, _)| **with > 0);
                        tensors.push(Tensor::list(
                            FREQUENCY_FEATURES,
                            Numbers::U32(met().map(|(_, j)| j).collect()),
                        ));
                        tensors.push(list(met().map(|(with, _)| *with).collect()));
                    }
                    tensors
                }
            }
        }
        Schema::Indexed { .. } | Schema::Hashed { .. } | Schema::Table(_) => Vec::new(),
    }
}

const FREQUENCIES: &str = "document_frequencies";
const FREQUENCY_FEATURES: &str = "document_frequency_features";

/// The schema of a file of `file_bytes` bytes.
pub(super) fn read(entry: Entry, tensors: &mut Tensors<'_>, file_bytes: usize) -> Result<Schema> {
    let is_of_namespaces = entry.murmur.is_some() || !entry.interactions.is_empty();
    match entry {
        Entry { base: None, table: None, text: None, .. } if is_of_namespaces => namespaces(entry, tensors),
        Entry { kind, .. } if is_of_namespaces => Err(no_schema(&kind)),
        Entry { kind, base: Some(base), bits: None, table: None, text: None, .. } if kind == "indexed" => {
            Ok(Schema::Indexed { base })
        }
        Entry { kind, base: None, bits: Some(bits), table: None, text: None, .. } if kind == "hashed" => {
            Ok(Schema::Hashed { bits })
        }
        Entry { kind, base: None, bits: None, table: Some(table), text: None, .. } if kind == "table" => {
            Ok(Schema::Table(Arc::new(table)))
        }
        Entry { kind, base: None, bits: None, table: None, text: None, .. } if kind == "named" => {
            Ok(Schema::Named(Arc::new(dictionary(tensors)?)))
        }
        Entry { kind, base: None, bits, table, text: Some(text), .. } if kind == "text" => {
            let vocabulary = vocabulary(bits, text.names_kept, tensors, file_bytes)?;
            let frequencies = match text.recipe.idf {
                true => frequencies(&vocabulary, tensors)?,
                false => Vec::new(),
            };
            let table = table.map(Arc::new);
            Ok(Schema::Text(Arc::new(TextSchema::new(
                text.recipe,
                table,
                vocabulary,
                text.documents,
                frequencies,
            ))))
        }
        Entry { kind, .. } => Err(no_schema(&kind)),
    }
}

fn vocabulary(
    bits: Option<u8>,
    names_kept: bool,
    tensors: &mut Tensors<'_>,
    file_bytes: usize,
) -> Result<Vocabulary> {
    match bits {
        None if names_kept => Err(Error::input("names that are features cannot be kept beside them")),
        None => Ok(Vocabulary::Named(dictionary(tensors)?)),
        Some(bits @ 0..=30) => {
            // A frequency and what is made of it.
            let width = size_of::<u32>() + size_of::<f64>();
            check::expansion("the frequencies", 1 << bits, 1, width, file_bytes).map_err(Error::input)?;
            let names = if names_kept { Some(HashedNames::new(dictionary(tensors)?, bits)) } else { None };
            Ok(Vocabulary::Hashed { bits, names })
        }
        Some(bits) => Err(Error::input(format!("a hash of {bits} bits is longer than 30"))),
    }
}

fn frequencies(vocabulary: &Vocabulary, tensors: &mut Tensors<'_>) -> Result<Vec<u32>> {
    if let Vocabulary::Named(_) = vocabulary {
        return tensors.list(FREQUENCIES);
    }
    let features = tensors.list::<u32>(FREQUENCY_FEATURES)?;
    let met = tensors.shaped::<u32>(FREQUENCIES, &[features.len()])?;
    let mut frequencies = vec![0; vocabulary.len()];
    let fits = features.is_sorted_by(|a, b| a < b)
        && features.last().is_none_or(|&last| (last as usize) < frequencies.len());
    if !fits || met.contains(&0) {
        return Err(Error::input("the frequencies of terms are not of features in their order"));
    }
    features.iter().zip(met).for_each(|(&j, with)| frequencies[j as usize] = with);
    Ok(frequencies)
}

/// The names one behind the other, and where each ends.
fn names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<Tensor<'static>> {
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for name in names {
        text.extend_from_slice(name.as_bytes());
        ends.push(text.len() as u64);
    }
    vec![
        Tensor::list("feature_names", Numbers::U8(text)),
        Tensor::list("feature_name_ends", Numbers::U64(ends)),
    ]
}

/// The names of some of many hashed features, and which they are.
fn murmur_names(murmur: &Murmur) -> Vec<Tensor<'static>> {
    let mut tensors = names(murmur.names.iter().map(|(_, name)| name));
    let features = murmur.names.iter().map(|(feature, _)| *feature).collect();
    tensors.push(Tensor::list(NAMED_FEATURES, Numbers::U32(features)));
    tensors
}

const NAMED_FEATURES: &str = "named_features";

fn murmur(entry: &MurmurEntry, bits: u8, tensors: &mut Tensors<'_>) -> Result<Murmur> {
    let names = dictionary(tensors)?;
    let features = tensors.shaped::<u32>(NAMED_FEATURES, &[names.len()])?;
    let names = features.into_iter().zip(names.names().iter().cloned()).collect();
    Ok(Murmur { bits, numbers: entry.numbers, seed: entry.seed, names })
}

/// Features of namespaces, of which some are multiplied, or by the hash of Vowpal Wabbit.
fn namespaces(entry: Entry, tensors: &mut Tensors<'_>) -> Result<Schema> {
    let numbering = match (entry.kind.as_str(), entry.bits, entry.murmur) {
        ("named", None, None) => FeatureNumbering::Named(Arc::new(dictionary(tensors)?)),
        ("hashed", Some(bits), None) => FeatureNumbering::Hashed { bits },
        ("hashed", Some(bits), Some(entry)) => {
            FeatureNumbering::Murmur(Arc::new(murmur(&entry, bits, tensors)?))
        }
        (kind, ..) => return Err(no_schema(kind)),
    };
    Ok(Schema::Namespaces(Arc::new(NamespaceSchema { numbering, interactions: entry.interactions })))
}

fn no_schema(kind: &str) -> Error {
    Error::input(format!("the metadata `schema` is no schema of the kind {kind:?}"))
}

fn dictionary(tensors: &mut Tensors<'_>) -> Result<Dictionary> {
    let refuse = |what: &str| Error::input(format!("the feature names {what}"));
    let text = tensors.list::<u8>("feature_names")?;
    let ends = tensors.list::<u64>("feature_name_ends")?;
    let text = std::str::from_utf8(&text).map_err(|_| refuse("are not UTF-8"))?;
    if ends.last().copied().unwrap_or(0) != text.len() as u64 || ends.len() > u32::MAX as usize {
        return Err(refuse("do not end where they should"));
    }
    let (mut dictionary, mut start) = (Dictionary::default(), 0);
    for (number, &end) in ends.iter().enumerate() {
        let end = usize::try_from(end).map_err(|_| refuse("do not end where they should"))?;
        let name = text.get(start..end).ok_or_else(|| refuse("do not end where they should"))?;
        if dictionary.intern(name) as usize != number {
            return Err(Error::input(format!("the feature name {name:?} is there twice")));
        }
        start = end;
    }
    Ok(dictionary)
}
