//! Documents: how text becomes terms, and how often a term stands in a document becomes a number.

use super::schema::{Dictionary, hash_feature};
use super::table::TableSchema;
use super::words::for_each_word;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How documents become features. It is decided before training and kept in the model.
///
/// The default is what serves well on the collections that were measured (see docs/performance.md): words, in
/// lower case, counted sublinearly, weighed by how rare they are, and rows of length 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRecipe {
    /// How many neighbouring words make a term; none: words are no terms.
    pub words: Option<Lengths>,
    /// How many neighbouring characters of a word, with a space before and behind it, make a term.
    pub characters: Option<Lengths>,
    /// Whether `Boston` and `boston` are two words.
    pub keep_case: bool,
    /// Words that are left out before anything else is done.
    pub stop_words: Vec<String>,
    /// What the number of times is that a term stands in a document.
    pub counting: Counting,
    /// Whether terms weigh the more the fewer documents have them: `1 + ln((1 + n)/(1 + documents with it))`.
    pub idf: bool,
    /// Whether every document is brought to length 1.
    pub unit_length: bool,
    /// Terms of fewer documents are left out.
    pub min_documents: u64,
    /// Terms of more documents are left out: a share of them.
    pub max_share: f64,
}

/// Lengths of terms, from the shortest to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// The shortest.
    pub from: u8,
    /// The longest.
    pub to: u8,
}

/// What becomes of the number of times that a term stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Counting {
    /// The number of times.
    Counts,
    /// 1, however often.
    Binary,
    /// 1 + ln(number of times).
    Sublinear,
}

impl Default for TextRecipe {
    fn default() -> Self {
        Self {
            words: Some(Lengths { from: 1, to: 1 }),
            characters: None,
            keep_case: false,
            stop_words: Vec::new(),
            counting: Counting::Sublinear,
            idf: true,
            unit_length: true,
            min_documents: 1,
            max_share: 1.0,
        }
    }
}

/// No term is longer than so many words or characters.
pub(crate) const LONGEST_TERM: u8 = 16;

impl TextRecipe {
    /// A bag of words: the counts as they are. What naive Bayes is about.
    ///
    /// ```
    /// use novikoff::features::text::{TextRecipe, Splitter};
    /// let recipe = TextRecipe::counts();
    /// let mut terms = Vec::new();
    /// Splitter::new(&recipe).for_each("The bird sang, the cat slept.", |term| terms.push(term.to_owned()));
    /// assert_eq!(terms, ["the", "bird", "sang", "the", "cat", "slept"]);
    /// ```
    pub fn counts() -> Self {
        Self { counting: Counting::Counts, idf: false, unit_length: false, ..Self::default() }
    }

    /// The usual recipe without what only a whole collection can tell: for streams.
    pub fn stream() -> Self {
        Self { idf: false, ..Self::default() }
    }

    /// Whether it asks for something that only a whole collection can tell; what that is.
    pub(crate) fn needs_all_documents(&self) -> Option<&'static str> {
        match self {
            Self { idf: true, .. } => Some("weighing terms by how rare they are"),
            Self { min_documents: 2.., .. } => Some("leaving out rare terms"),
            Self { max_share, .. } if *max_share < 1.0 => Some("leaving out frequent terms"),
            _ => None,
        }
    }

    /// Whether a recipe that comes from outside is one; `Err` says why not.
    pub fn validate(&self) -> Result<(), String> {
        for lengths in self.words.iter().chain(&self.characters) {
            if !(1 <= lengths.from && lengths.from <= lengths.to && lengths.to <= LONGEST_TERM) {
                return Err(format!(
                    "terms have lengths from 1 to {LONGEST_TERM}, not {} to {}",
                    lengths.from, lengths.to
                ));
            }
        }
        if self.words.is_none() && self.characters.is_none() {
            return Err("neither words nor characters make terms".into());
        }
        if !(self.max_share > 0.0 && self.max_share <= 1.0) {
            return Err(format!("{} is no share of the documents", self.max_share));
        }
        Ok(())
    }

    /// Turns the counts of a document's terms into their values. `indices` count from `first`, the first
    /// feature that is a term; `idf` has a factor for each term, or is empty.
    pub fn weigh(&self, idf: &[f64], first: u32, indices: &[u32], values: &mut [f64]) {
        match self.counting {
            Counting::Counts => {}
            Counting::Binary => values.fill(1.0),
            Counting::Sublinear => {
                values.iter_mut().filter(|x| **x != 1.0).for_each(|x| *x = 1.0 + libm::log(*x))
            }
        }
        if !idf.is_empty() {
            values.iter_mut().zip(indices).for_each(|(x, &j)| *x *= idf[(j - first) as usize]);
        }
        if self.unit_length {
            let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            values.iter_mut().for_each(|x| *x /= length);
        }
        if self.unit_length || !idf.is_empty() || self.counting == Counting::Sublinear {
            // These are estimates, and seven digits of them are more than enough: rows take two thirds of the
            // memory.
            values.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        }
    }
}

/// Cuts documents into terms by a recipe.
///
/// A term of several words has a space between any two; a term of characters stands between slashes, as in `/
/// th/`, so that it is not taken for a word.
pub struct Splitter<'r> {
    recipe: &'r TextRecipe,
    stop_words: FxHashSet<&'r str>,
    /// The document in lower case.
    lowered: String,
    /// Its words with a space before, between and behind them.
    line: String,
    /// Where they stand in it.
    spans: Vec<(usize, usize)>,
    /// A word or term that stands nowhere else.
    made: String,
}

impl<'r> Splitter<'r> {
    /// For this recipe.
    pub fn new(recipe: &'r TextRecipe) -> Self {
        let stop_words = recipe.stop_words.iter().map(String::as_str).collect();
        let (lowered, line, made) = Default::default();
        Self { recipe, stop_words, lowered, line, spans: Vec::new(), made }
    }

    /// Gives every term of a document to `each`.
    #[inline]
    pub fn for_each(&mut self, document: &str, mut each: impl FnMut(&str)) {
        let Self { recipe, stop_words, lowered, line, spans, made } = self;
        let document = if recipe.keep_case {
            document
        } else {
            lowered.clear();
            lowered.push_str(document);
            lowered.make_ascii_lowercase();
            lowered.as_str()
        };
        let mut fold = |word: &str, each: &mut dyn FnMut(&str)| {
            made.clear();
            lower(word, made);
            each(made);
        };
        let is_folded = |ascii: bool| recipe.keep_case || ascii;
        let one_word = Some(Lengths { from: 1, to: 1 });
        if recipe.words == one_word && recipe.characters.is_none() && stop_words.is_empty() {
            return for_each_word(document, |word, ascii| {
                if is_folded(ascii) { each(word) } else { fold(word, &mut each) }
            });
        }
        line.clear();
        line.push(' ');
        spans.clear();
        for_each_word(document, |word, ascii| {
            let start = line.len();
            if is_folded(ascii) {
                line.push_str(word)
            } else {
                fold(word, &mut |folded| line.push_str(folded))
            }
            if stop_words.contains(&line[start..]) {
                line.truncate(start);
            } else {
                spans.push((start, line.len()));
                line.push(' ');
            }
        });
        if let Some(Lengths { from, to }) = recipe.words {
            for length in from..=to {
                for words in spans.windows(length.into()) {
                    each(&line[words[0].0..words[words.len() - 1].1]);
                }
            }
        }
        if let Some(lengths) = recipe.characters {
            for &(start, end) in spans.iter() {
                for_each_gram(&line[start - 1..=end], lengths, made, &mut each);
            }
        }
    }
}

/// Adds a word in lower case, as Unicode has it for whole words: a capital sigma at the end becomes ς, so
/// that `ΣΊΣΥΦΟΣ` and `σίσυφος` are one word. No other letter's lower case depends on its place.
fn lower(word: &str, lowered: &mut String) {
    if word.contains('Σ') {
        lowered.push_str(&word.to_lowercase());
    } else {
        lowered.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Gives every run of so many characters to `each`; a word that is shorter than the shortest as a whole.
fn for_each_gram(word: &str, lengths: Lengths, made: &mut String, each: &mut impl FnMut(&str)) {
    let starts = || word.char_indices().map(|(at, _)| at);
    let mut give = |gram: &str| {
        made.clear();
        made.push('/');
        made.push_str(gram);
        made.push('/');
        each(made);
    };
    let characters = word.chars().count();
    if characters < usize::from(lengths.from) {
        return give(word);
    }
    for length in usize::from(lengths.from)..=usize::from(lengths.to).min(characters) {
        let ends = starts().skip(length).chain([word.len()]);
        starts().zip(ends).for_each(|(start, end)| give(&word[start..end]));
    }
}

/// Which terms are features, and their numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Vocabulary {
    /// Those with a name here.
    Named(Dictionary),
    /// All, by the hash of their name.
    Hashed {
        /// There are `2^bits` features.
        bits: u8,
        /// The names that were met, if they were to be kept.
        names: Option<HashedNames>,
    },
}

/// Names of terms that are numbered by their hash.
#[derive(Clone, Debug)]
pub struct HashedNames {
    names: Dictionary,
    by_feature: FxHashMap<u32, Vec<u32>>,
}

impl HashedNames {
    /// The names of terms that are hashed to so many bits.
    pub fn new(names: Dictionary, bits: u8) -> Self {
        let mut by_feature = FxHashMap::<u32, Vec<u32>>::default();
        for (number, name) in (0..).zip(names.names()) {
            by_feature.entry(hash_feature(0, name.as_bytes(), bits)).or_default().push(number);
        }
        Self { names, by_feature }
    }

    /// All of them.
    pub fn dictionary(&self) -> &Dictionary {
        &self.names
    }

    /// The names of a feature, those that were met first before the others.
    fn of(&self, feature: u32) -> Option<String> {
        let numbers = self.by_feature.get(&feature)?;
        let names = self.names.names();
        let mut shown: Vec<&str> =
            numbers.iter().take(3).map(|&number| names[number as usize].as_str()).collect();
        if numbers.len() > shown.len() {
            shown.push("…");
        }
        Some(shown.join("|"))
    }
}

impl PartialEq for HashedNames {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Vocabulary {
    /// The number of a term, if it is a feature.
    #[inline]
    pub fn find(&self, term: &str) -> Option<u32> {
        match self {
            Vocabulary::Named(names) => names.find(term),
            Vocabulary::Hashed { bits, .. } => Some(hash_feature(0, term.as_bytes(), *bits)),
        }
    }

    /// How many features there are.
    pub fn len(&self) -> usize {
        match self {
            Vocabulary::Named(names) => names.len(),
            Vocabulary::Hashed { bits, .. } => 1 << bits,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to call a feature.
    fn name(&self, feature: u32) -> String {
        match self {
            Vocabulary::Named(names) => {
                names.names().get(feature as usize).cloned().unwrap_or_else(|| format!("#{feature}"))
            }
            Vocabulary::Hashed { names, .. } => names
                .as_ref()
                .and_then(|names| names.of(feature))
                .unwrap_or_else(|| format!("hash {feature}")),
        }
    }
}

/// The factor of each term, by how many of so many documents have it.
pub fn idf(documents: u64, frequencies: &[u32]) -> Vec<f64> {
    let all = documents as f64;
    frequencies.iter().map(|&with| 1.0 + libm::log((1.0 + all) / (1.0 + f64::from(with)))).collect()
}

/// How documents, and the columns of a table beside them, become features: the columns first, then the terms.
#[derive(Clone, Debug)]
pub struct TextSchema {
    recipe: TextRecipe,
    table: Option<Arc<TableSchema>>,
    vocabulary: Vocabulary,
    documents: u64,
    frequencies: Vec<u32>,
    idf: Vec<f64>,
}

impl TextSchema {
    /// The schema of terms that so many documents have each, of so many in all. There are no such numbers
    /// where the recipe has no use for them.
    pub fn new(
        recipe: TextRecipe,
        table: Option<Arc<TableSchema>>,
        vocabulary: Vocabulary,
        documents: u64,
        frequencies: Vec<u32>,
    ) -> Self {
        let idf = idf(documents, &frequencies);
        Self { recipe, table, vocabulary, documents, frequencies, idf }
    }

    /// The recipe, the table and the terms.
    pub(crate) fn into_parts(self) -> (TextRecipe, Option<Arc<TableSchema>>, Vocabulary) {
        (self.recipe, self.table, self.vocabulary)
    }

    /// How documents become terms with values.
    pub fn recipe(&self) -> &TextRecipe {
        &self.recipe
    }

    /// The columns beside the documents, if these are a column of a table.
    pub fn table(&self) -> Option<&Arc<TableSchema>> {
        self.table.as_ref()
    }

    /// The terms.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// How many documents there were, and how many had each term.
    pub fn frequencies(&self) -> (u64, &[u32]) {
        (self.documents, &self.frequencies)
    }

    /// A factor for each term, or none.
    pub fn idf(&self) -> &[f64] {
        &self.idf
    }

    /// The first feature that is a term: those before it are the table's.
    pub fn first(&self) -> u32 {
        self.table.as_ref().map_or(0, |table| table.features() as u32)
    }

    /// How many features there are.
    pub fn features(&self) -> usize {
        self.first() as usize + self.vocabulary.len()
    }

    /// What to call feature `j`.
    pub fn name(&self, j: u32) -> String {
        match (&self.table, j.checked_sub(self.first())) {
            (_, Some(term)) => self.vocabulary.name(term),
            (Some(table), None) => table.feature_name(j),
            (None, None) => format!("#{j}"),
        }
    }

    /// Whether a schema that comes from outside is one that could have been made here; `Err` says why not.
    pub fn validate(&self) -> Result<(), String> {
        self.recipe.validate()?;
        if let Some(table) = &self.table {
            table.validate()?;
        }
        if self.first() as usize + self.vocabulary.len() > u32::MAX as usize {
            return Err("more features than can be numbered".into());
        }
        let expected = if self.recipe.idf { self.vocabulary.len() } else { 0 };
        if self.frequencies.len() != expected {
            return Err(format!("frequencies of {} terms, not of {expected}", self.frequencies.len()));
        }
        match self.frequencies.iter().position(|&with| u64::from(with) > self.documents) {
            Some(term) => Err(format!("term {term} is in more documents than there are")),
            None => Ok(()),
        }
    }
}

impl PartialEq for TextSchema {
    fn eq(&self, other: &Self) -> bool {
        let parts = |schema: &Self| (schema.recipe.clone(), schema.table.clone(), schema.documents);
        parts(self) == parts(other)
            && self.vocabulary == other.vocabulary
            && self.frequencies == other.frequencies
    }
}

/// English words that say little about what a text is about.
pub const ENGLISH_STOP_WORDS: [&str; 126] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "don't",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "i'm",
    "if",
    "in",
    "into",
    "is",
    "it",
    "it's",
    "its",
    "itself",
    "just",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(recipe: &TextRecipe, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Splitter::new(recipe).for_each(text, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn terms_are_runs_of_words_without_stop_words() {
        let recipe = TextRecipe {
            words: Some(Lengths { from: 1, to: 2 }),
            stop_words: vec!["the".into()],
            ..TextRecipe::default()
        };
        assert_eq!(
            terms(&recipe, "The Kernel of the MACHINE"),
            ["kernel", "of", "machine", "kernel of", "of machine"]
        );
        let kept = TextRecipe { keep_case: true, ..recipe };
        assert_eq!(terms(&kept, "The the"), ["The"]);
    }

    #[test]
    fn words_are_lower_case_as_a_whole_so_that_a_last_sigma_is_one() {
        let one = |recipe: &TextRecipe| {
            assert_eq!(terms(recipe, "ΣΊΣΥΦΟΣ, ΟΔΟΣ'"), terms(recipe, "σίσυφος, οδος'"), "{recipe:?}");
        };
        one(&TextRecipe::default());
        one(&TextRecipe { words: Some(Lengths { from: 1, to: 2 }), ..TextRecipe::default() });
        let characters = Some(Lengths { from: 2, to: 9 });
        one(&TextRecipe { words: None, characters, ..TextRecipe::default() });
        assert_eq!(terms(&TextRecipe::default(), "ΣΊΣΥΦΟΣ Σ aΣb ÇA"), ["σίσυφος", "σ", "aσb", "ça"]);
    }

    #[test]
    fn terms_of_characters_stay_within_words() {
        let recipe =
            TextRecipe { words: None, characters: Some(Lengths { from: 3, to: 4 }), ..TextRecipe::default() };
        assert_eq!(terms(&recipe, "Éa, b"), ["/ éa/", "/éa /", "/ éa /", "/ b /"]);
        let long = TextRecipe { characters: Some(Lengths { from: 5, to: 5 }), ..recipe };
        assert_eq!(terms(&long, "to"), ["/ to /"]);
    }

    #[test]
    fn stop_words_are_sorted_and_differ() {
        assert!(ENGLISH_STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    proptest! {
        #[test]
        fn lower_case_is_that_of_whole_words(word in "[ΣΊσςÉİßa-cA-C']{0,8}") {
            let mut lowered = String::new();
            lower(&word, &mut lowered);
            prop_assert_eq!(lowered, word.to_lowercase());
        }

        #[test]
        fn every_way_of_splitting_agrees_with_the_plainest(
            text in "[ a-cA-Cé.'ÉΣ_0-9]{0,40}",
            keep_case in any::<bool>(),
        ) {
            let one = Some(Lengths { from: 1, to: 1 });
            let plain = TextRecipe { words: one, keep_case, ..TextRecipe::default() };
            // A stop word that never comes takes the longer way.
            let longer = TextRecipe { stop_words: vec!["?".into()], ..plain.clone() };
            let words = terms(&plain, &text);
            prop_assert_eq!(&words, &terms(&longer, &text));
            let pairs = TextRecipe { words: Some(Lengths { from: 2, to: 2 }), ..plain };
            let expected: Vec<String> = words.windows(2).map(|pair| pair.join(" ")).collect();
            prop_assert_eq!(expected, terms(&pairs, &text));
        }

        #[test]
        fn documents_of_unit_length_have_it(
            counts in prop::collection::vec(1u32..9, 1..20),
            idf in any::<bool>(),
        ) {
            let recipe = TextRecipe { idf, ..TextRecipe::default() };
            let indices: Vec<u32> = (3..3 + counts.len() as u32).collect();
            let mut values: Vec<f64> = counts.iter().map(|&count| f64::from(count)).collect();
            let factors: Vec<f64> =
                if idf { counts.iter().map(|&c| 1.0 + f64::from(c)).collect() } else { Vec::new() };
            recipe.weigh(&factors, 3, &indices, &mut values);
            prop_assert!((values.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-6);
            prop_assert!(values.iter().all(|&x| x > 0.0 && f64::from(x as f32) == x));
        }
    }
}
