//! The terms of a row's documents, counted, numbered and weighed: what documents of every format go through.

use super::parsed_rows::ParsedRows;
use super::pipeline::Scratch;
use crate::features::hash_feature;
use crate::features::text::{Splitter, TextRecipe, TextSchema, Vocabulary};
use std::sync::Arc;

/// How the terms of documents become entries of rows.
#[derive(Clone, Debug)]
pub(super) struct Bag {
    /// How documents become terms.
    pub recipe: Arc<TextRecipe>,
    /// How terms are numbered.
    pub terms: Terms,
    /// The first feature that is a term.
    pub first: u32,
    /// Whether the entries are values already; otherwise they are counts, to be weighted once all documents
    /// are known.
    pub weighed: bool,
}

/// How terms become numbers.
#[derive(Clone, Debug)]
pub(super) enum Terms {
    /// New terms are added: every block numbers its own, and [`number_globally`](super::vw::number_globally)
    /// makes the numbers those of the whole file.
    Grow,
    /// Only the terms of this schema count.
    Fixed(Arc<TextSchema>),
    /// By hash.
    Hashed {
        /// There are `2^bits` of them.
        bits: u8,
        /// Whether the rows is to list the names, too.
        names: bool,
    },
}

/// The number of a term.
enum Numbered {
    /// One of few, each with a count of its own.
    Counted(u32),
    /// One of many, by its hash.
    Hashed(u32),
    /// None: the vocabulary does not have it.
    Unknown,
}

impl Terms {
    /// Numbers a term of the block that `rows` are from.
    #[inline(always)]
    fn number(&self, term: &str, rows: &mut ParsedRows) -> Numbered {
        let hashed = |bits: u8| Numbered::Hashed(hash_feature(0, term.as_bytes(), bits));
        match self {
            Terms::Grow => Numbered::Counted(rows.local_features.intern(term)),
            Terms::Fixed(schema) => match schema.vocabulary() {
                Vocabulary::Named(names) => names.find(term).map_or(Numbered::Unknown, Numbered::Counted),
                Vocabulary::Hashed { bits, .. } => hashed(*bits),
            },
            Terms::Hashed { bits, names } => {
                if *names {
                    rows.local_features.intern(term);
                }
                hashed(*bits)
            }
        }
    }
}

/// Counts a term, which is listed when it is met first.
#[inline(always)]
fn count(term: u32, counts: &mut Vec<u32>, terms: &mut Vec<u32>) {
    let at = term as usize;
    if at >= counts.len() {
        counts.resize((at + 1).next_power_of_two(), 0);
    }
    if counts[at] == 0 {
        terms.push(term);
    }
    counts[at] = counts[at].saturating_add(1);
}

impl Bag {
    /// The bag of a schema.
    pub(super) fn of(schema: &Arc<TextSchema>) -> Self {
        let recipe = Arc::new(schema.recipe().clone());
        Self { recipe, terms: Terms::Fixed(schema.clone()), first: schema.first(), weighed: true }
    }

    /// A bag for the rows of one block.
    pub(super) fn open(&self, scratch: &mut Scratch) -> BagBuilder<'_> {
        let counts = std::mem::take(&mut scratch.term_counts);
        let splitter = Splitter::new(&self.recipe);
        BagBuilder {
            bag: self,
            splitter,
            counts,
            terms: Vec::new(),
            indices: Vec::new(),
            values: Vec::new(),
            name: String::new(),
        }
    }
}

/// A bag that is being filled.
pub(super) struct BagBuilder<'b> {
    bag: &'b Bag,
    splitter: Splitter<'b>,
    /// How often each term stands in the row, where terms are few enough to have a place each; zero between
    /// rows.
    counts: Vec<u32>,
    /// Terms of the row: once each where they are counted, otherwise as often as they stand in it.
    terms: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// A term with its prefix.
    name: String,
}

impl BagBuilder<'_> {
    /// Adds the terms of a document, each with a prefix to its name.
    #[inline]
    pub(super) fn add(&mut self, document: &str, prefix: &str, rows: &mut ParsedRows) {
        let Self { bag, splitter, counts, terms, name, .. } = self;
        let mut each = |term: &str| match bag.terms.number(term, rows) {
            Numbered::Counted(number) => count(number, counts, terms),
            Numbered::Hashed(number) => terms.push(number),
            Numbered::Unknown => {}
        };
        if prefix.is_empty() {
            splitter.for_each(document, each);
        } else {
            splitter.for_each(document, |term| {
                name.clear();
                name.push_str(prefix);
                name.push_str(term);
                each(name);
            });
        }
    }

    /// Puts what was added into the current row.
    #[inline]
    pub(super) fn write_row(&mut self, rows: &mut ParsedRows) {
        let Self { bag, counts, terms, indices, values, .. } = self;
        indices.clear();
        values.clear();
        // Names that grow are sorted when they have their final numbers.
        if !matches!(bag.terms, Terms::Grow) {
            terms.sort_unstable();
        }
        let counted = match &bag.terms {
            Terms::Grow => true,
            Terms::Fixed(schema) => matches!(schema.vocabulary(), Vocabulary::Named(_)),
            Terms::Hashed { .. } => false,
        };
        if counted {
            indices.extend(terms.iter().map(|number| bag.first + number));
            values
                .extend(terms.iter().map(|&number| f64::from(std::mem::take(&mut counts[number as usize]))));
        } else {
            for run in terms.chunk_by(|a, b| a == b) {
                indices.push(bag.first + run[0]);
                values.push(run.len() as f64);
            }
        }
        terms.clear();
        if bag.weighed {
            let idf = match &bag.terms {
                Terms::Fixed(schema) => schema.idf(),
                Terms::Grow | Terms::Hashed { .. } => &[],
            };
            bag.recipe.weigh(idf, bag.first, indices, values);
        }
        rows.entries(indices, values);
    }

    /// Gives its memory back for the next block.
    pub(super) fn close(self, scratch: &mut Scratch) {
        scratch.term_counts = self.counts;
    }
}
