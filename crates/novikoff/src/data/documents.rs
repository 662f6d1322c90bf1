//! From the counts of terms in documents to values: what depends on the whole collection.

use super::matrix::Values;
use super::{Float, Matrix};
use crate::error::{Error, Result};
use crate::features::table::TableSchema;
use crate::features::text::{TextRecipe, TextSchema, Vocabulary, idf};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The weights of terms, computed from a collection of documents.
pub(crate) struct TermWeights {
    recipe: TextRecipe,
    idf: Vec<f64>,
    /// The first feature that is a term, and how many features there are.
    first: u32,
    features: usize,
    /// The new number of each term of the counts.
    numbers: Vec<u32>,
}

/// The names of the terms of a collection.
pub(crate) struct TermNames {
    recipe: TextRecipe,
    table: Option<Arc<TableSchema>>,
    vocabulary: Vocabulary,
    documents: u64,
    frequencies: Vec<u32>,
    /// Which of the vocabulary's terms are features, in their order; none: all of them, as they are.
    order: Option<Vec<u32>>,
}

impl TermNames {
    /// The schema of documents like these.
    pub(crate) fn schema(self) -> TextSchema {
        let vocabulary = match (self.vocabulary, self.order) {
            (Vocabulary::Named(names), Some(order)) => Vocabulary::Named(names.select(&order)),
            (vocabulary, _) => vocabulary,
        };
        TextSchema::new(self.recipe, self.table, vocabulary, self.documents, self.frequencies)
    }
}

/// The number of a term that is no feature.
const LEFT_OUT: u32 = u32::MAX;

/// Learns from the counts of all documents, numbered by a schema that knows the terms, but not how frequent
/// they are. Names and values are two things, so that they can be brought in order side by side.
pub(crate) fn fit(counts: &Matrix, schema: TextSchema) -> Result<(TermWeights, TermNames)> {
    let first = schema.first();
    let mut frequencies = frequencies(counts, first, schema.vocabulary().len());
    if frequencies.iter().all(|&with| with == 0) {
        let error = Error::input("there is not a single word in the documents");
        return Err(
            error.hint("a word has a letter or a digit; is this the right file, and the right `format`?")
        );
    }
    let (recipe, table, vocabulary) = schema.into_parts();
    let documents = counts.rows() as u64;
    let most = recipe.max_share * documents as f64;
    let keep = |with: u32| u64::from(with) >= recipe.min_documents && f64::from(with) <= most;
    let mut numbers: Vec<u32> = (0..frequencies.len() as u32).collect();
    let mut order = None;
    if let Vocabulary::Named(_) = vocabulary {
        // Terms of many documents first: what is used most lies close together, in the weights and in a
        // solver's cache.
        let kept = most_frequent_first(&frequencies, keep);
        if kept.is_empty() {
            let error = Error::input("no term is in as many documents as it takes to be a feature");
            return Err(error.hint("leave out `min_documents` and `max_documents`, or make them milder"));
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
    let weights =
        TermWeights { recipe: recipe.clone(), idf: idf(documents, &frequencies), first, features, numbers };
    Ok((weights, TermNames { recipe, table, vocabulary, documents, frequencies, order }))
}

/// The terms to keep by how frequent they are; of equals those with the smaller number first.
fn most_frequent_first(frequencies: &[u32], keep: impl Fn(u32) -> bool) -> Vec<u32> {
    let most = frequencies.iter().copied().max().unwrap_or(0);
    let terms = || {
        (0..)
            .zip(frequencies)
            .filter(|(_, with)| keep(**with))
            .map(|(term, &with)| (term, (most - with) as usize))
    };
    // No frequency is larger than the number of documents: counting places is faster than comparing.
    let mut places = vec![0; most as usize + 2];
    terms().for_each(|(_, rank)| places[rank + 1] += 1);
    (1..places.len()).for_each(|rank| places[rank] += places[rank - 1]);
    let mut kept = vec![0; places.last().copied().unwrap_or(0)];
    for (term, rank) in terms() {
        kept[places[rank]] = term;
        places[rank] += 1;
    }
    kept
}

/// How many rows have each of so many terms, the first of which has this number.
fn frequencies(counts: &Matrix, first: u32, terms: usize) -> Vec<u32> {
    let count = |rows: Range<usize>| {
        let mut documents_with = vec![0u32; terms];
        for i in rows {
            let terms = counts.row(i).indices().unwrap_or_default().iter().filter(|j| **j >= first);
            terms.for_each(|&j| documents_with[(j - first) as usize] += 1);
        }
        documents_with
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

impl TermWeights {
    /// The values of documents whose counts were numbered as those learned from.
    pub(crate) fn weigh(&self, counts: &Matrix) -> Matrix<'static> {
        let all = !self.numbers.contains(&LEFT_OUT);
        let kept = |i: usize| {
            if all {
                return counts.row(i).nonzeros();
            }
            let mut kept = 0;
            counts.row(i).for_each_nonzero(|j, _| kept += usize::from(self.number(j).is_some()));
            kept
        };
        let lengths: Vec<usize> = (0..counts.rows()).into_par_iter().with_min_len(256).map(kept).collect();
        let mut starts = vec![0; counts.rows() + 1];
        (1..).zip(&lengths).for_each(|(end, length)| starts[end] = starts[end - 1] + length);
        let (indices, values) = match self.fill::<f32>(counts, &starts) {
            (indices, Some(values)) => (indices, Values::from(values)),
            _ => {
                let (indices, values) = self.fill::<f64>(counts, &starts);
                (indices, Values::from(values.unwrap_or_default()))
            }
        };
        // Rows are sorted, and their numbers are those of features: the parts fit together.
        Matrix::from_compressed(self.features, starts, indices, values)
            .unwrap_or_else(|what| unreachable!("{what}"))
    }

    /// The new number of a feature, if it stays one.
    fn number(&self, feature: u32) -> Option<u32> {
        match feature.checked_sub(self.first) {
            None => Some(feature),
            Some(term) => Some(self.numbers[term as usize])
                .filter(|number| *number != LEFT_OUT)
                .map(|number| self.first + number),
        }
    }

    /// All entries of rows that begin and end at these places; no values if one of them is none of this type.
    fn fill<V: Float>(&self, counts: &Matrix, starts: &[usize]) -> (Vec<u32>, Option<Vec<V>>) {
        const ROWS: usize = 256;
        let stored = starts[counts.rows()];
        let (mut indices, mut values) = (vec![0; stored], vec![V::default(); stored]);
        let (mut index_places, mut value_places) = (&mut indices[..], &mut values[..]);
        let mut blocks = Vec::new();
        for first in (0..counts.rows()).step_by(ROWS) {
            let rows = first..counts.rows().min(first + ROWS);
            let length = starts[rows.end] - starts[rows.start];
            let these = index_places.split_off_mut(..length).unwrap_or_default();
            let those = value_places.split_off_mut(..length).unwrap_or_default();
            blocks.push((rows, these, those));
        }
        let exact =
            blocks.into_par_iter().map(|(rows, indices, values)| self.block(counts, rows, indices, values));
        let exact = exact.reduce(|| true, |a, b| a && b);
        (indices, exact.then_some(values))
    }

    /// Some rows, one behind the other. Whether every value is exactly one of its type.
    fn block<V: Float>(
        &self,
        counts: &Matrix,
        rows: Range<usize>,
        indices: &mut [u32],
        values: &mut [V],
    ) -> bool {
        let (mut at, mut exact) = (0, true);
        let (mut terms, mut weighed): (Vec<u64>, Vec<f64>) = Default::default();
        for i in rows {
            terms.clear();
            weighed.clear();
            let start = at;
            counts.row(i).for_each_nonzero(|j, x| match self.number(j) {
                Some(_) if j < self.first => {
                    indices[at] = j;
                    weighed.push(x);
                    at += 1;
                }
                // One word for both: words sort fast. Counts are whole numbers, and rows are no longer than
                // these can tell.
                Some(number) => terms.push(u64::from(number) << 32 | x as u64),
                None => {}
            });
            terms.sort_unstable();
            let before = at;
            for term in &terms {
                indices[at] = (term >> 32) as u32;
                weighed.push(f64::from(*term as u32));
                at += 1;
            }
            self.recipe.weigh(&self.idf, self.first, &indices[before..at], &mut weighed[before - start..]);
            for (place, &x) in values[start..at].iter_mut().zip(&weighed) {
                *place = V::nearest(x);
                exact &= (*place).into() == x;
            }
        }
        exact
    }
}
