//! From the counts of terms in documents to values: what only the whole collection can tell.

use super::Matrix;
use super::matrix::{Values, fits_f32};
use crate::error::{Error, Result};
use crate::features::table::TableSchema;
use crate::features::text::{TextRecipe, TextSchema, Vocabulary, idf};
use rayon::prelude::*;
use std::sync::Arc;

/// What a collection of documents has told of the values of terms.
pub struct Weighing {
    recipe: TextRecipe,
    idf: Vec<f64>,
    /// The first feature that is a term, and how many features there are.
    first: u32,
    features: usize,
    /// The new number of each term of the counts.
    numbers: Vec<u32>,
}

/// What it has told of their names.
pub struct Naming {
    recipe: TextRecipe,
    table: Option<Arc<TableSchema>>,
    vocabulary: Vocabulary,
    documents: u64,
    frequencies: Vec<u32>,
    /// Which of the vocabulary's terms are features, in their order; none: all of them, as they are.
    order: Option<Vec<u32>>,
}

impl Naming {
    /// The schema of documents like these.
    pub fn schema(self) -> TextSchema {
        let vocabulary = match (self.vocabulary, self.order) {
            (Vocabulary::Named(names), Some(order)) => Vocabulary::Named(names.select(&order)),
            (vocabulary, _) => vocabulary,
        };
        TextSchema::new(self.recipe, self.table, vocabulary, self.documents, self.frequencies)
    }
}

/// The number of a term that is no feature.
const LEFT_OUT: u32 = u32::MAX;

/// Learns from the counts of all documents, numbered by a schema that knows the terms, but not how frequent they are. Names
/// and values are two things, so that they can be brought in order side by side.
pub fn fit(counts: &Matrix, schema: TextSchema) -> Result<(Weighing, Naming)> {
    let first = schema.first();
    let mut frequencies = frequencies(counts, first, schema.vocabulary().len());
    if frequencies.iter().all(|&with| with == 0) {
        let error = Error::input("there is not a single word in the documents");
        return Err(error.hint("a word has a letter or a digit; is this the right file, and the right --format?"));
    }
    let (recipe, table, vocabulary) = schema.into_parts();
    let documents = counts.rows() as u64;
    let most = recipe.max_share * documents as f64;
    let keep = |with: u32| u64::from(with) >= recipe.min_documents && f64::from(with) <= most;
    let mut numbers: Vec<u32> = (0..frequencies.len() as u32).collect();
    let mut order = None;
    if let Vocabulary::Named(_) = vocabulary {
        // Terms of many documents first: what is used most lies close together, in the weights and in a solver's cache.
        let mut kept: Vec<u32> = (0..frequencies.len() as u32).filter(|&j| keep(frequencies[j as usize])).collect();
        kept.sort_by_key(|&j| std::cmp::Reverse(frequencies[j as usize]));
        if kept.is_empty() {
            let error = Error::input("no term is in as many documents as it takes to be a feature");
            return Err(error.hint("leave out --min-documents and --max-documents, or make them milder"));
        }
        numbers.fill(LEFT_OUT);
        (0..).zip(&kept).for_each(|(number, &j)| numbers[j as usize] = number);
        frequencies = kept.iter().map(|&j| frequencies[j as usize]).collect();
        order = Some(kept);
    }
    let features = first as usize + frequencies.len();
    if !recipe.idf {
        frequencies.clear();
    }
    let weighing = Weighing { recipe: recipe.clone(), idf: idf(documents, &frequencies), first, features, numbers };
    Ok((weighing, Naming { recipe, table, vocabulary, documents, frequencies, order }))
}

/// How many rows have each of so many terms, the first of which has this number.
fn frequencies(counts: &Matrix, first: u32, terms: usize) -> Vec<u32> {
    let count = |rows: std::ops::Range<usize>| {
        let mut met = vec![0u32; terms];
        for i in rows {
            let terms = counts.row(i).indices().unwrap_or_default().iter().filter(|j| **j >= first);
            terms.for_each(|&j| met[(j - first) as usize] += 1);
        }
        met
    };
    // A count of its own for each thread: whole numbers add up to the same in any order.
    let parts = rayon::current_num_threads().max(1);
    let size = counts.rows().div_ceil(parts);
    let parts: Vec<Vec<u32>> = (0..parts)
        .into_par_iter()
        .map(|part| count(counts.rows().min(part * size)..counts.rows().min((part + 1) * size)))
        .collect();
    parts
        .into_iter()
        .reduce(|mut sum, part| {
            sum.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
            sum
        })
        .unwrap_or_default()
}

/// Some rows.
struct Piece {
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Whether every value is exactly an `f32`.
    single: bool,
}

impl Weighing {
    /// The values of documents whose counts were numbered as those learned from.
    pub fn weigh(&self, counts: &Matrix) -> Matrix {
        const ROWS: usize = 256;
        let blocks = (0..counts.rows().div_ceil(ROWS)).into_par_iter();
        let pieces: Vec<Piece> =
            blocks.map(|block| self.piece(counts, block * ROWS..counts.rows().min((block + 1) * ROWS))).collect();
        let stored = pieces.iter().map(|piece| piece.indices.len()).sum();
        let (mut starts, mut indices) = (Vec::with_capacity(counts.rows() + 1), Vec::with_capacity(stored));
        starts.push(0);
        for piece in &pieces {
            starts.extend(piece.lengths.iter().scan(indices.len(), |end, length| {
                *end += length;
                Some(*end)
            }));
            indices.extend_from_slice(&piece.indices);
        }
        let values = if pieces.iter().all(|piece| piece.single) {
            let mut values: Vec<f32> = Vec::with_capacity(stored);
            pieces.iter().for_each(|piece| values.extend(piece.values.iter().map(|&x| x as f32)));
            Values::F32(values)
        } else {
            let mut values = Vec::with_capacity(stored);
            pieces.iter().for_each(|piece| values.extend_from_slice(&piece.values));
            Values::F64(values)
        };
        // Rows are sorted, and their numbers are those of features: the parts fit together.
        Matrix::from_compressed(self.features, starts, indices, values).unwrap_or_else(|what| unreachable!("{what}"))
    }

    fn piece(&self, counts: &Matrix, rows: std::ops::Range<usize>) -> Piece {
        let first = self.first;
        let (mut lengths, mut indices, mut values) = (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
        let mut terms: Vec<u64> = Vec::new();
        for i in rows {
            let start = indices.len();
            terms.clear();
            counts.row(i).for_each_nonzero(|j, x| match j.checked_sub(first) {
                None => {
                    indices.push(j);
                    values.push(x);
                }
                // One word for both: words sort fast. Counts are whole numbers, and rows are no longer than these can tell.
                Some(term) => terms.push(u64::from(self.numbers[term as usize]) << 32 | x as u64),
            });
            terms.sort_unstable();
            let before = indices.len();
            for term in terms.iter().take_while(|term| (**term >> 32) as u32 != LEFT_OUT) {
                indices.push(first + (term >> 32) as u32);
                values.push(f64::from(*term as u32));
            }
            self.recipe.weigh(&self.idf, first, &indices[before..], &mut values[before..]);
            lengths.push(indices.len() - start);
        }
        let single = values.iter().all(|&x| fits_f32(x));
        Piece { lengths, indices, values, single }
    }
}
