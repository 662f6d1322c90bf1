//! From the counts of terms in documents to values: what only the whole collection can tell.

use super::matrix::{Values, fits_f32};
use super::{Matrix, Row};
use crate::error::{Error, Result};
use crate::features::text::{TextSchema, Vocabulary};
use rayon::prelude::*;

/// What a collection of documents has told: which terms are features, and how much each of them weighs.
pub struct Fitted {
    /// The schema of documents like these.
    pub schema: TextSchema,
    /// The new number of each term of the counts.
    numbers: Vec<u32>,
}

/// The number of a term that is no feature.
const LEFT_OUT: u32 = u32::MAX;

/// Learns from the counts of all documents, numbered by a schema that knows the terms, but not how frequent they are.
pub fn fit(counts: &Matrix, schema: TextSchema) -> Result<Fitted> {
    let first = schema.first();
    let mut frequencies = vec![0u32; schema.vocabulary().len()];
    for i in 0..counts.rows() {
        let mut met = |j: u32| frequencies[(j - first) as usize] += 1;
        indices(counts.row(i)).iter().filter(|&&j| j >= first).for_each(|&j| met(j));
    }
    if frequencies.iter().all(|&with| with == 0) {
        let error = Error::input("there is not a single word in the documents");
        return Err(error.hint("a word has a letter or a digit; is this the right file, and the right --format?"));
    }
    let (recipe, table, mut vocabulary) = schema.into_parts();
    let all = counts.rows() as f64;
    let keep = |with: u32| u64::from(with) >= recipe.min_documents && f64::from(with) <= recipe.max_share * all;
    let mut numbers: Vec<u32> = (0..frequencies.len() as u32).collect();
    if let Vocabulary::Named(names) = vocabulary {
        // Terms of many documents first: what is used most lies close together, in the weights and in a solver's cache.
        let mut order: Vec<u32> = (0..frequencies.len() as u32).filter(|&j| keep(frequencies[j as usize])).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(frequencies[j as usize]));
        if order.is_empty() {
            let error = Error::input("no term is in as many documents as it takes to be a feature");
            return Err(error.hint("leave out --min-documents and --max-documents, or make them milder"));
        }
        numbers.fill(LEFT_OUT);
        (0..).zip(&order).for_each(|(number, &j)| numbers[j as usize] = number);
        frequencies = order.iter().map(|&j| frequencies[j as usize]).collect();
        vocabulary = Vocabulary::Named(names.select(&order));
    }
    if !recipe.idf {
        frequencies.clear();
    }
    let schema = TextSchema::new(recipe, table, vocabulary, counts.rows() as u64, frequencies);
    Ok(Fitted { schema, numbers })
}

/// The indices of a row of counts, which is sparse.
fn indices(row: Row<'_>) -> &[u32] {
    match row {
        Row::Sparse32(indices, _) | Row::Even(indices, _) | Row::Sparse64(indices, _) => indices,
        Row::Dense32(_) | Row::Dense64(_) => &[],
    }
}

/// Some rows.
struct Piece {
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Whether every value is exactly an `f32`.
    single: bool,
}

impl Fitted {
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
        Matrix::from_compressed(self.schema.features(), starts, indices, values).unwrap_or_else(|what| unreachable!("{what}"))
    }

    fn piece(&self, counts: &Matrix, rows: std::ops::Range<usize>) -> Piece {
        let first = self.schema.first();
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
            self.schema.recipe().weigh(self.schema.idf(), first, &indices[before..], &mut values[before..]);
            lengths.push(indices.len() - start);
        }
        let single = values.iter().all(|&x| fits_f32(x));
        Piece { lengths, indices, values, single }
    }
}
