//! Vowpal Wabbit's text: `label importance 'tag |namespace feature:value feature:value … |namespace …`.
//!
//! As in Vowpal Wabbit, importance, tag, namespaces and values may be left out; a value that is left out is
//! 1, a namespace's weight (`|namespace:2`) multiplies its values, and a feature that comes twice in a row
//! counts twice.

use super::number::{Number, number, whole};
use super::parsed_rows::{Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::Cut;
use super::svmlight::{Fault, are_several_labels, bad_value, several_labels};
use super::svmlight::{Shape, common_entry};
use crate::error::Error;
use crate::features::namespaces::{
    Factor, FeatureNumbering, Interactions, Murmur, NAMELESS, NamespaceSchema, Products, hash_product,
};
use crate::features::{Dictionary, fold, hash_namespace, hash_number, whole_hash};
use std::ops::Range;
use std::sync::Arc;

/// A parser of Vowpal Wabbit's text.
#[derive(Clone, Debug)]
pub(super) struct Vw {
    /// How features are numbered.
    pub features: Features,
    /// Whose features are multiplied.
    pub interactions: Arc<Interactions>,
    /// What to do about labels.
    pub labelling: Labelling,
}

/// How names of features become numbers. A feature of a namespace is called `namespace^feature`, one of the
/// default namespace by its own name.
#[derive(Clone, Debug)]
pub(super) enum Features {
    /// New names are added: every block numbers its own, and [`number_globally`] makes the numbers those of
    /// the whole file.
    Grow,
    /// Only these names count; entries of others are counted and dropped.
    Fixed(Arc<Dictionary>),
    /// By hash.
    Hashed {
        /// There are `2^bits` features; at most 32.
        bits: u8,
    },
    /// By Vowpal Wabbit's hash.
    Murmur(Arc<Murmur>),
}

impl Features {
    /// As a model's schema numbers them.
    pub(super) fn of(schema: &NamespaceSchema) -> Self {
        match &schema.numbering {
            FeatureNumbering::Named(dictionary) => Features::Fixed(dictionary.clone()),
            FeatureNumbering::Hashed { bits } => Features::Hashed { bits: *bits },
            FeatureNumbering::Murmur(murmur) => Features::Murmur(murmur.clone()),
        }
    }
}

/// Gives the features of a block their numbers in a dictionary that grows with the file, in the order of
/// first appearance; those before the feature `first` have theirs already. Rows are to be
/// [sorted](ParsedRows::sort_rows) after this. Blocks must come in the order of the file; how the file was
/// cut into them makes no difference. A rows that named no features, as none does unless they
/// [grow](Features::Grow), stays as it is.
pub(super) fn number_globally(
    rows: &mut ParsedRows,
    dictionary: &mut Dictionary,
    first: u32,
    max_features: u32,
) -> crate::Result<()> {
    if rows.local_features.is_empty() {
        return Ok(());
    }
    let mut numbers = Vec::with_capacity(rows.local_features.len());
    dictionary.absorb(&rows.local_features, &mut numbers);
    if dictionary.len() > max_features as usize {
        let error = Error::input(format!("there are more than {max_features} different features"));
        return Err(error.hint("number them by hash instead: `hash_bits = 24` makes 16 million of them"));
    }
    rows.renumber(first, &numbers);
    rows.local_features.clear();
    Ok(())
}

impl Parser for Vw {
    fn cut(&self) -> Cut {
        Cut::Line
    }

    fn parse(&self, block: &[u8], _: u64, rows: &mut ParsedRows, _: &mut Scratch) {
        let mut row = CurrentRow::new(&self.features, &self.interactions);
        let (mut at, mut number) = (0, 0);
        while at < block.len() {
            let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |newline| at + newline);
            let line = block[at..end].strip_suffix(b"\r").unwrap_or(&block[at..end]);
            let features_before = rows.local_features.len();
            row.rest = &block[at..];
            if let Err((place, what, hint)) = self.line(line, &mut row, rows) {
                // Names that only bad rows have are no features: otherwise a model would keep weights for
                // them.
                rows.local_features.truncate(features_before);
                if !rows.reject(RowError { line: number, column: place + 1, what, hint }) {
                    return;
                }
            }
            at = end + 1;
            number += 1;
        }
    }
}

/// Most entries, and names, of the rows of one block: some gigabyte.
const MOST_ENTRIES: usize = 1 << 26;
const MOST_NAMES: usize = 1 << 24;

const FEWER: &str = "name fewer `interactions`, or namespaces with fewer features";

#[cold]
fn too_many_products(count: u64) -> (String, &'static str) {
    let most = Interactions::MOST_PRODUCTS;
    let what = format!("the features of this row have {count} products, and {most} are allowed");
    let more = format!("the features of this row have more products than the {most} that are allowed");
    (if count == u64::MAX { more } else { what }, FEWER)
}

const SMALLER: &str = "give it in smaller units, or leave the row out with `skip_bad_rows`";

/// What stands before the first bar.
struct Head<'a> {
    /// The label and its position.
    label: Option<(usize, &'a [u8])>,
    importance: Option<f64>,
}

impl Vw {
    fn line(&self, line: &[u8], row: &mut CurrentRow<'_>, rows: &mut ParsedRows) -> Result<(), Fault> {
        let text = std::str::from_utf8(line).map_err(|e| not_utf8(e.valid_up_to()))?;
        let Some(bar) = memchr::memchr(b'|', line) else {
            let first = skip_blanks(line, 0);
            return if first == line.len() { Ok(()) } else { Err(no_bar(first)) };
        };
        let head = self.head(line, bar)?;
        row.start();
        let mut at = bar;
        while at < line.len() {
            at = row.namespace(text, at + 1)?;
            at = row.features(text, at, rows)?;
        }
        row.multiply(bar, rows)?;
        if !row.sorted {
            rows.merge_row().map_err(|_| {
                (
                    bar,
                    "the values of a feature that comes twice add up to infinity".into(),
                    Some(SMALLER.into()),
                )
            })?;
        }
        // Last, so that a bad row leaves no label behind.
        if let Some((at, label)) = head.label {
            rows.set_label(&self.labelling, label).map_err(|(what, hint)| (at, what, hint))?;
        }
        if let Some(importance) = head.importance {
            rows.set_weight(importance);
        }
        rows.unseen_features += row.unseen;
        rows.end_row();
        Ok(())
    }

    fn head<'a>(&self, line: &'a [u8], bar: usize) -> Result<Head<'a>, Fault> {
        let end = tag_start(line, bar).unwrap_or(bar);
        let words = &line[..end];
        let (label_at, label_end) = word(words, 0);
        let label = (label_at < label_end).then(|| (label_at, &line[label_at..label_end]));
        if label.is_none() && !matches!(self.labelling, Labelling::Ignored) {
            return Err(no_label(line, bar));
        }
        if let Some((at, label)) = label.filter(|_| !matches!(self.labelling, Labelling::Ignored)) {
            refuse_other_labels(at, label)?;
        }
        let (importance_at, importance_end) = word(words, label_end);
        let (initial_at, initial_end) = word(words, importance_end);
        let (extra_at, extra_end) = word(words, initial_end);
        if extra_at < extra_end {
            return Err(too_many_words(line, extra_at));
        }
        let importance = head_number(&words[..importance_end], importance_at, "importance")?;
        if importance.is_some_and(|value| value < 0.0) {
            return Err((
                importance_at,
                "the importance is negative".into(),
                Some("rows may weigh 0 or more".into()),
            ));
        }
        // An initial prediction is for a model on top of another, which none here is; but it must be one.
        head_number(&words[..initial_end], initial_at, "initial prediction")?;
        Ok(Head { label, importance: importance.map(|value| value + 0.0) })
    }
}

/// Refuses labels that are no single class or number: `shared`, `action:cost:probability`, `class:cost`, `1,2`.
#[inline]
fn refuse_other_labels(at: usize, label: &[u8]) -> Result<(), Fault> {
    match memchr::memchr2(b':', b',', label) {
        None if label != b"shared" => Ok(()),
        _ => other_labels(at, label),
    }
}

#[cold]
fn other_labels(at: usize, label: &[u8]) -> Result<(), Fault> {
    let is_number = |part: &[u8]| matches!(whole(part), Number::Finite(..));
    let has_costs = label.contains(&b':') && label.split(|b| *b == b':').all(is_number);
    if are_several_labels(label) {
        return Err(several_labels(at, label));
    }
    if !has_costs && label != b"shared" {
        return Ok(());
    }
    let what = format!(
        "{:?} before the bar is no label, but part of an example with costs or of a contextual bandit",
        String::from_utf8_lossy(&label[..label.len().min(40)])
    );
    Err((at, what, Some("novikoff learns one label or number a row".into())))
}

/// Where the tag starts, if there is one: the last word before the bar, if it touches the bar or starts with
/// `'`.
fn tag_start(line: &[u8], bar: usize) -> Option<usize> {
    let end = line[..bar].iter().rposition(|&b| !is_blank(b))? + 1;
    let start = line[..end].iter().rposition(|&b| is_blank(b)).map_or(0, |blank| blank + 1);
    (end == bar || line[start] == b'\'').then_some(start)
}

/// The next word from `at` on: start and end, which are equal if there is none.
fn word(words: &[u8], at: usize) -> (usize, usize) {
    let start = skip_blanks(words, at);
    let length = words[start..].iter().take_while(|b| !is_blank(**b)).count();
    (start, start + length)
}

/// The number that the rest of `words` from `at` on spells; none if nothing is left.
fn head_number(words: &[u8], at: usize, role: &str) -> Result<Option<f64>, Fault> {
    let word = &words[at..];
    match whole(word) {
        _ if word.is_empty() => Ok(None),
        Number::Finite(value, _) => Ok(Some(value)),
        other => {
            let (_, what, _) = bad_value(words, at, other);
            let hint = "before the bar stand: label [importance [initial-prediction]] ['tag]";
            Err((at, what.replacen("value", role, 1), Some(hint.into())))
        }
    }
}

/// The entries of a row as they are read.
struct CurrentRow<'a> {
    numbering: &'a Features,
    interactions: &'a Interactions,
    /// What may be multiplied; nothing without interactions.
    factors: Vec<Factor>,
    /// The names of the factors, where features are numbered by name.
    factor_names: String,
    factor_spans: Vec<Range<usize>>,
    products: Products,
    /// The first letter of the namespace.
    letter: char,
    /// The name of a feature; its first `prefix` bytes are those of the namespace.
    name: String,
    prefix: usize,
    /// The hash of the namespace.
    seed: u64,
    /// The weight of the namespace.
    scale: f64,
    /// Whether the indices have come in strictly increasing order so far.
    sorted: bool,
    /// The last index.
    previous: Option<u32>,
    /// Entries whose names are not known.
    unseen: u64,
    /// The block from the start of the line on.
    rest: &'a [u8],
    shape: Shape,
}

impl<'a> CurrentRow<'a> {
    fn new(numbering: &'a Features, interactions: &'a Interactions) -> Self {
        Self {
            numbering,
            interactions,
            factors: Vec::new(),
            factor_names: String::new(),
            factor_spans: Vec::new(),
            products: Products::default(),
            letter: NAMELESS,
            name: String::new(),
            prefix: 0,
            seed: 0,
            scale: 1.0,
            sorted: true,
            previous: None,
            unseen: 0,
            rest: &[],
            shape: Shape::default(),
        }
    }

    fn start(&mut self) {
        (self.sorted, self.previous, self.unseen) = (true, None, 0);
        self.factors.clear();
        self.factor_names.clear();
        self.factor_spans.clear();
    }

    /// Enters the namespace whose name, if it has one, starts at `at`; returns the position after it.
    fn namespace(&mut self, line: &str, at: usize) -> Result<usize, Fault> {
        let bytes = line.as_bytes();
        let end = token_end(bytes, at);
        let (name_end, weight) = match memchr::memrchr(b':', &bytes[at..end]) {
            Some(colon) => (at + colon, finite(&bytes[..end], at + colon + 1)?),
            None => (end, 1.0),
        };
        if name_end == at && end > at {
            return Err((
                at,
                "the namespace has a weight, but no name".into(),
                Some("write |name:weight".into()),
            ));
        }
        let name = &line[at..name_end];
        self.scale = weight;
        self.letter = match self.numbering {
            // Vowpal Wabbit knows bytes, not letters.
            Features::Murmur(_) => name.bytes().next().map_or(NAMELESS, char::from),
            _ => name.chars().next().unwrap_or(NAMELESS),
        };
        match self.numbering {
            Features::Hashed { .. } => self.seed = hash_namespace(name.as_bytes()),
            Features::Murmur(murmur) => self.seed = murmur.namespace(name.as_bytes()),
            Features::Grow | Features::Fixed(_) => {
                self.name.clear();
                if !name.is_empty() {
                    self.name.push_str(name);
                    self.name.push('^');
                }
                self.prefix = self.name.len();
            }
        }
        Ok(end)
    }

    /// Reads features until the next bar or the end of the line, and returns the position of that.
    #[inline]
    fn features(&mut self, line: &str, mut at: usize, rows: &mut ParsedRows) -> Result<usize, Fault> {
        let bytes = line.as_bytes();
        loop {
            if let (Features::Hashed { bits }, true) = (self.numbering, self.interactions.is_empty()) {
                at = self.numbered_features(at, *bits, rows);
            }
            at = skip_blanks(bytes, at);
            if matches!(bytes.get(at), None | Some(b'|')) {
                return Ok(at);
            }
            let (name_end, value, end) = feature(bytes, at)?;
            if name_end == at {
                return Err((
                    at,
                    "the feature has no name".into(),
                    Some("features are name or name:value".into()),
                ));
            }
            let value = value * self.scale;
            if !value.is_finite() {
                return Err((
                    at,
                    "the value times its namespace's weight is not a finite number".into(),
                    Some(SMALLER.into()),
                ));
            }
            if value != 0.0 {
                self.entry(&line[at..name_end], value, rows);
            }
            at = end;
        }
    }

    /// Reads features that are numbers with values of the common kind, as svmlight's are; returns the
    /// position of the first thing that is something else. A number is its own hash.
    #[inline(always)]
    fn numbered_features(&mut self, mut at: usize, bits: u8, rows: &mut ParsedRows) -> usize {
        while let Some((number, value, end)) = common_entry(self.rest, at, &mut self.shape) {
            let value = value * self.scale;
            if value == 0.0 || !value.is_finite() || self.shape.index > 1 && self.rest[at + 1] == b'0' {
                break;
            }
            self.number(hash_number(self.seed, number, bits), value, rows);
            at = end;
        }
        at
    }

    #[inline(always)]
    fn number(&mut self, index: u32, value: f64, rows: &mut ParsedRows) {
        self.sorted &= self.previous.is_none_or(|previous| previous < index);
        self.previous = Some(index);
        rows.entry(index, value);
    }

    #[inline(always)]
    fn entry(&mut self, feature: &str, value: f64, rows: &mut ParsedRows) {
        let index = match self.numbering {
            Features::Hashed { bits } => {
                let hash = whole_hash(self.seed, feature.as_bytes());
                self.factor(hash, value);
                fold(hash, *bits)
            }
            Features::Murmur(murmur) => {
                let hash = murmur.feature(self.seed, feature.as_bytes());
                self.factor(hash, value);
                murmur.fold(hash)
            }
            Features::Grow => {
                let index = rows.local_features.intern(self.full_name(feature));
                self.named_factor(feature, value);
                index
            }
            Features::Fixed(dictionary) => match dictionary.find(self.full_name(feature)) {
                Some(index) => {
                    self.named_factor(feature, value);
                    index
                }
                None => return self.unseen += 1,
            },
        };
        self.number(index, value, rows);
    }

    #[inline(always)]
    fn factor(&mut self, id: u64, value: f64) {
        if !self.interactions.is_empty() {
            self.factors.push(Factor { namespace: self.letter, id, value });
        }
    }

    #[inline(always)]
    fn named_factor(&mut self, feature: &str, value: f64) {
        if self.interactions.is_empty() {
            return;
        }
        let start = self.factor_names.len();
        self.factor_names.push_str(&self.name[..self.prefix]);
        self.factor_names.push_str(feature);
        self.factor(self.factor_spans.len() as u64, value);
        self.factor_spans.push(start..self.factor_names.len());
    }

    /// Adds the products of features; `bar` is where the features begin.
    fn multiply(&mut self, bar: usize, rows: &mut ParsedRows) -> Result<(), Fault> {
        if self.factors.is_empty() {
            return Ok(());
        }
        self.order_factors();
        // What is needed of the row while the products change it.
        let (factors, mut products) = (std::mem::take(&mut self.factors), std::mem::take(&mut self.products));
        let mut fault = None;
        let made = products.for_each(self.interactions, &factors, &mut |chosen| {
            if fault.is_none() {
                fault = self.product(chosen, &factors, rows).err();
            }
        });
        (self.factors, self.products) = (factors, products);
        let fault = made.map_err(too_many_products).err().or(fault);
        fault.map_or(Ok(()), |(what, hint)| Err((bar, what, Some(hint.into()))))
    }

    /// Puts factors of one namespace side by side, in an order that does not depend on the row's, so that
    /// `x·y` and `y·x` are one feature. Vowpal Wabbit's own products depend on the order.
    fn order_factors(&mut self) {
        let name = |factor: &Factor| &self.factor_names[self.factor_spans[factor.id as usize].clone()];
        match self.numbering {
            Features::Murmur(_) => return self.factors.sort_by_key(|factor| factor.namespace),
            Features::Hashed { .. } => self.factors.sort_by_key(|factor| (factor.namespace, factor.id)),
            Features::Grow | Features::Fixed(_) => {
                self.factors.sort_by(|a, b| a.namespace.cmp(&b.namespace).then_with(|| name(a).cmp(name(b))))
            }
        }
        let is_named = !self.factor_spans.is_empty();
        self.factors.dedup_by(|later, first| {
            let same = if is_named { name(later) == name(first) } else { later.id == first.id };
            let is_again = same && later.namespace == first.namespace;
            first.value += if is_again { later.value } else { 0.0 };
            is_again
        });
    }

    /// Adds a product of these factors.
    fn product(
        &mut self,
        chosen: &[usize],
        factors: &[Factor],
        rows: &mut ParsedRows,
    ) -> Result<(), (String, &'static str)> {
        let value: f64 = chosen.iter().map(|&at| factors[at].value).product();
        if !value.is_finite() {
            return Err(("a product of features is not a finite number".into(), SMALLER));
        }
        if value == 0.0 {
            return Ok(());
        }
        if rows.indices.len() >= MOST_ENTRIES || rows.local_features.len() >= MOST_NAMES {
            return Err(("the products of these and earlier features take too much memory".into(), FEWER));
        }
        let hashes = chosen.iter().map(|&at| factors[at].id);
        let index = match self.numbering {
            Features::Hashed { bits } => fold(hash_product(hashes), *bits),
            Features::Murmur(murmur) => murmur.fold(Murmur::product(hashes)),
            Features::Grow => {
                self.name_product(chosen, factors);
                rows.local_features.intern(&self.name)
            }
            Features::Fixed(dictionary) => {
                self.name_product(chosen, factors);
                // Most pairs are rare: that one of two known features is new says little.
                match dictionary.find(&self.name) {
                    Some(index) => index,
                    None => return Ok(()),
                }
            }
        };
        self.number(index, value, rows);
        Ok(())
    }

    fn name_product(&mut self, chosen: &[usize], factors: &[Factor]) {
        self.name.clear();
        for &at in chosen {
            if !self.name.is_empty() {
                self.name.push('*');
            }
            self.name.push_str(&self.factor_names[self.factor_spans[factors[at].id as usize].clone()]);
        }
    }

    #[inline(always)]
    fn full_name<'n>(&'n mut self, feature: &'n str) -> &'n str {
        if self.prefix == 0 {
            return feature;
        }
        self.name.truncate(self.prefix);
        self.name.push_str(feature);
        &self.name
    }
}

/// Reads `name` or `name:value` at `at`: the end of the name, the value, and the end of it all.
#[inline(always)]
fn feature(line: &[u8], at: usize) -> Result<(usize, f64, usize), Fault> {
    let name_end = at + line[at..].iter().position(|&b| ENDS_NAME[b as usize]).unwrap_or(line.len() - at);
    if line.get(name_end) != Some(&b':') {
        return Ok((name_end, 1.0, name_end));
    }
    match number(line, name_end + 1) {
        Number::Finite(value, end) if matches!(line.get(end), None | Some(b' ' | b'\t' | b'|')) => {
            Ok((name_end, value, end))
        }
        _ => feature_with_colons(line, at),
    }
}

/// The same for a name that may have colons in it: the value stands after the last.
#[cold]
fn feature_with_colons(line: &[u8], at: usize) -> Result<(usize, f64, usize), Fault> {
    let end = token_end(line, at);
    let name_end = at + memchr::memrchr(b':', &line[at..end]).unwrap_or(end - at);
    Ok((name_end, finite(&line[..end], name_end + 1)?, end))
}

/// The number that a line, cut after it, spells from `at` on.
fn finite(line: &[u8], at: usize) -> Result<f64, Fault> {
    match number(line, at) {
        Number::Finite(value, end) if end == line.len() => Ok(value),
        other => Err(bad_value(line, at, other)),
    }
}

/// Bytes that end the name of a feature.
const ENDS_NAME: [bool; 256] = {
    let mut ends = [false; 256];
    ends[b' ' as usize] = true;
    ends[b'\t' as usize] = true;
    ends[b'|' as usize] = true;
    ends[b':' as usize] = true;
    ends
};

fn token_end(line: &[u8], at: usize) -> usize {
    at + line[at..].iter().take_while(|b| !matches!(b, b' ' | b'\t' | b'|')).count()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[inline(always)]
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at).copied().is_some_and(is_blank) {
        at += 1;
    }
    at
}

#[cold]
fn not_utf8(at: usize) -> Fault {
    (at, "the row is not UTF-8".into(), Some(super::parsed_rows::CONVERT.into()))
}

#[cold]
fn no_bar(at: usize) -> Fault {
    let hint = "a line is: label |namespace feature:value …; is this the right `format`?";
    (at, "the row has no bar (|) before its features".into(), Some(hint.into()))
}

#[cold]
fn no_label(line: &[u8], bar: usize) -> Fault {
    let touching =
        bar > 0 && !is_blank(line[bar - 1]) && tag_start(line, bar).is_some_and(|start| line[start] != b'\'');
    let hint = match touching {
        true => "what touches the bar is a tag: put a space between label and bar",
        false => "a line is: label |namespace feature:value …",
    };
    (0, "the row has no label".into(), Some(hint.into()))
}

#[cold]
fn too_many_words(line: &[u8], at: usize) -> Fault {
    let found = String::from_utf8_lossy(&line[at..token_end(line, at).min(at + 40)]).into_owned();
    let hint = "before the bar stand: label [importance [initial-prediction]] ['tag]; \
                a label with spaces must be renamed";
    (at, format!("{found:?} before the bar is one word too many"), Some(hint.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Flow, Observer, Unwatched};
    use crate::data::Report;
    use crate::features::hash_feature;
    use crate::read::pipeline::{Setup, run};
    use crate::read::source::{Input, Source};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn parse(parser: &Vw, block: &[u8]) -> ParsedRows {
        let mut rows = ParsedRows::new(false);
        rows.clear();
        parser.parse(block, 0, &mut rows, &mut Scratch::default());
        rows
    }

    fn grow(labelling: Labelling) -> Vw {
        Vw { features: Features::Grow, interactions: Arc::default(), labelling }
    }

    /// Rows by name: label, weight, and the values of the features.
    type Named = (Option<String>, f64, BTreeMap<String, f64>);

    fn named(rows: &ParsedRows, features: &Dictionary) -> Vec<Named> {
        let label = |r: usize| rows.labels.get(r).map(|&id| rows.local_labels.names()[id as usize].clone());
        let row = |r: usize| {
            let mut values = BTreeMap::new();
            rows.row(r).for_each_nonzero(|j, x| {
                values.insert(features.names()[j as usize].clone(), x);
            });
            (label(r), rows.weight(r), values)
        };
        (0..rows.len()).map(row).collect()
    }

    /// A line, and the label, the weight and the features that it has.
    type Meaning<'a> = (&'a str, &'a str, f64, &'a [(&'a str, f64)]);

    #[test]
    fn lines_mean_what_they_mean_to_vowpal_wabbit() {
        let table: &[Meaning<'_>] = &[
            ("1 | a b:2", "1", 1.0, &[("a", 1.0), ("b", 2.0)]),
            ("1 |f a b:2", "1", 1.0, &[("f^a", 1.0), ("f^b", 2.0)]),
            ("-1 |f a |g a", "-1", 1.0, &[("f^a", 1.0), ("g^a", 1.0)]),
            ("spam | the cat the", "spam", 1.0, &[("the", 2.0), ("cat", 1.0)]),
            ("1 2.5 | a", "1", 2.5, &[("a", 1.0)]),
            ("1 0 | a", "1", 0.0, &[("a", 1.0)]),
            ("1 2 0.5 | a", "1", 2.0, &[("a", 1.0)]),
            ("1 1.0 second_house|f a", "1", 1.0, &[("f^a", 1.0)]),
            ("1 'tag | a", "1", 1.0, &[("a", 1.0)]),
            ("1 'tag| a", "1", 1.0, &[("a", 1.0)]),
            ("1 2 0.5 'tag | a", "1", 2.0, &[("a", 1.0)]),
            ("0 1.0 0.5 'third|f:2 a:1.5 b |g:.5 a", "0", 1.0, &[("f^a", 3.0), ("f^b", 2.0), ("g^a", 0.5)]),
            ("1 |f:0 a b", "1", 1.0, &[]),
            ("1 |f a:0 b:-0 c:1e0", "1", 1.0, &[("f^c", 1.0)]),
            ("1 |f a:1 a:-1", "1", 1.0, &[]),
            ("1 |f a:1|g b", "1", 1.0, &[("f^a", 1.0), ("g^b", 1.0)]),
            ("1 |f a|", "1", 1.0, &[("f^a", 1.0)]),
            ("1 ||f a", "1", 1.0, &[("f^a", 1.0)]),
            ("1 |", "1", 1.0, &[]),
            ("  1\t|f\ta:2\t b  ", "1", 1.0, &[("f^a", 2.0), ("f^b", 1.0)]),
            ("1 | http://x:80:2 ::3 a::4", "1", 1.0, &[("http://x:80", 2.0), (":", 3.0), ("a:", 4.0)]),
            ("1 |a:b:2 c", "1", 1.0, &[("a:b^c", 2.0)]),
            ("1 |grün größe:2 ß", "1", 1.0, &[("grün^größe", 2.0), ("grün^ß", 1.0)]),
        ];
        for (line, label, weight, features) in table {
            for ending in ["", "\n", "\r\n"] {
                let rows = parse(&grow(Labelling::Open), format!("{line}{ending}").as_bytes());
                assert_eq!(rows.bad, [], "{line}");
                let values = features.iter().map(|(name, x)| (name.to_string(), *x)).collect();
                assert_eq!(
                    named(&rows, &rows.local_features),
                    [(Some(label.to_string()), *weight, values)],
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn blank_lines_are_no_rows_but_count_as_lines() {
        let rows = parse(&grow(Labelling::Open), b"\n1 | a\r\n  \t\r\n\n2 | b\nwrong");
        assert_eq!((rows.len(), rows.bad_rows, rows.bad[0].line, rows.bad[0].column), (2, 1, 5, 1));
    }

    #[test]
    fn rows_without_a_label_are_welcome_only_where_labels_are_ignored() {
        for line in ["| a", "'tag | a", "'tag| a", "tag|f a", "1 | a", "x 2 | a"] {
            let rows = parse(&grow(Labelling::Ignored), line.as_bytes());
            assert_eq!((rows.len(), rows.bad_rows, rows.labels.len()), (1, 0, 0), "{line}");
        }
        assert_eq!(parse(&grow(Labelling::Ignored), b"x 2 | a").weights, [2.0]);
    }

    #[test]
    fn errors_say_where_they_stand() {
        let table = [
            ("1 a:2", 1, "no bar"),
            ("  1 2", 3, "no bar"),
            ("| a", 1, "no label"),
            ("'tag | a", 1, "no label"),
            ("1|f a", 1, "no label"),
            ("1 x | a", 3, "the importance \"x\" is not a number"),
            ("1 -2 | a", 3, "negative"),
            ("1 nan | a", 3, "the importance \"nan\" is not a finite number"),
            ("1 2 x | a", 5, "the initial prediction \"x\" is not a number"),
            ("1 2 inf 'tag | a", 5, "the initial prediction \"inf\" is not a finite number"),
            ("1 2 3 4 | a", 7, "\"4\" before the bar is one word too many"),
            ("1 | a:x", 7, "the value \"x\" is not a number"),
            ("1 | a:2x|b", 7, "the value \"2x\" is not a number"),
            ("1 | a:", 7, "the value is missing"),
            ("1 | a: b", 7, "the value is missing"),
            ("1 | a:nan", 7, "the value \"nan\" is not a finite number"),
            ("1 | b:1 a:-inf", 11, "the value \"-inf\" is not a finite number"),
            ("1 | a:1e999", 7, "not a finite number"),
            ("1 | http://x", 10, "the value \"//x\" is not a number"),
            ("1 | a :2", 7, "the feature has no name"),
            ("1 |f:x a", 6, "the value \"x\" is not a number"),
            ("1 |f:inf a", 6, "not a finite number"),
            ("1 |:2 a", 4, "no name"),
            ("1 |f:1e308 a:1e308", 12, "times its namespace's weight"),
            ("1 | a:1e308 a:1e308", 3, "add up to infinity"),
            ("inf | a", 1, "the label \"inf\" is not a finite number"),
        ];
        for (line, column, what) in table {
            let rows = parse(&grow(Labelling::Open), format!("1 | good\n{line}\n1 | good\n").as_bytes());
            assert_eq!((rows.len(), rows.bad_rows), (2, 1), "{line}");
            assert_eq!((rows.bad[0].line, rows.bad[0].column), (1, column), "{line}: {}", rows.bad[0].what);
            assert!(rows.bad[0].what.contains(what), "{line}: {}", rows.bad[0].what);
            assert_eq!(rows.local_features.names(), ["good"], "{line}");
            assert_eq!(rows.local_labels.names(), ["1"], "{line}");
        }
        let rows = parse(&grow(Labelling::Open), b"1 | a \xffb");
        assert_eq!((rows.bad[0].column, rows.bad[0].what.as_str()), (7, "the row is not UTF-8"));
        let rows = parse(&grow(Labelling::Numbers), b"5 | a\n eggs | b");
        assert_eq!((rows.labels.as_slice(), rows.bad[0].line, rows.bad[0].column), (&[0][..], 1, 2));
        let others = ["shared | b", "0:1:0.5 | b", "1:0 | b", "1,0 | a"];
        for line in others {
            let rows = parse(&grow(Labelling::Open), line.as_bytes());
            assert_eq!((rows.len(), rows.bad[0].column), (0, 1), "{line}");
        }
        let names = b"a,b | b\nbuy:now | b\n";
        assert!(parse(&grow(Labelling::Open), names).bad.is_empty());
    }

    #[test]
    fn known_features_keep_their_numbers_and_others_are_counted() {
        let dictionary: Dictionary = ["f^b", "c", "f^a"].into_iter().collect();
        let features = Features::Fixed(Arc::new(dictionary));
        let parser = Vw { features, interactions: Arc::default(), labelling: Labelling::Open };
        let rows = parse(&parser, b"1 |f a:2 x b:3 a:5 y:0 | a c\n1 |f q:x r\n");
        assert_eq!((rows.indices.as_slice(), rows.values.as_slice()), (&[0, 1, 2][..], &[3.0, 1.0, 7.0][..]));
        assert_eq!((rows.unseen_features, rows.bad_rows), (2, 1));
    }

    #[test]
    fn sums_that_need_double_precision_say_so() {
        let rows = parse(&grow(Labelling::Open), b"1 | a:16777216 a\n");
        assert!((rows.values == [16_777_217.0]) && !rows.single);
    }

    #[test]
    fn a_dictionary_that_grows_too_large_is_an_error_with_advice() {
        let mut dictionary = Dictionary::default();
        let parser = grow(Labelling::Open);
        assert!(number_globally(&mut parse(&parser, b"1 | a b"), &mut dictionary, 0, 2).is_ok());
        assert!(number_globally(&mut parse(&parser, b"1 | b a"), &mut dictionary, 0, 2).is_ok());
        let error = number_globally(&mut parse(&parser, b"1 | c"), &mut dictionary, 0, 2).unwrap_err();
        assert!(error.advice().is_some_and(|hint| hint.contains("`hash_bits = ")), "{error}");
    }

    fn line() -> impl Strategy<Value = String> {
        let space = ("(\\|[fg]?)(:2)?", prop::collection::vec("[a-e](:-?[0-9]{1,2})?", 0..6)).prop_map(
            |(space, features)| {
                format!("{} {}", if space == "|:2" { "|" } else { &space }, features.join(" "))
            },
        );
        let good = ("[xyz]( [0-3])?", prop::collection::vec(space, 1..4))
            .prop_map(|(head, spaces)| format!("{head} {}", spaces.join(" ")));
        prop_oneof![9 => good, 1 => Just(String::new()), 1 => "[w] \\|h [p-t] [p-t]:bad"]
    }

    proptest! {
        #[test]
        fn a_growing_dictionary_does_not_depend_on_how_the_file_is_cut(
            lines in prop::collection::vec((line(), any::<bool>()), 1..30),
        ) {
            let parser = grow(Labelling::Open);
            let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
            let (mut whole, mut all) = (parse(&parser, text.as_bytes()), Dictionary::default());
            number_globally(&mut whole, &mut all, 0, 1000).unwrap();
            whole.sort_rows();
            let (mut dictionary, mut names, mut indices) = (Dictionary::default(), Vec::new(), Vec::new());
            for block in lines.chunk_by(|a, _| a.1) {
                let block: String = block.iter().map(|(line, _)| format!("{line}\n")).collect();
                let mut rows = parse(&parser, block.as_bytes());
                number_globally(&mut rows, &mut dictionary, 0, 1000).unwrap();
                rows.sort_rows();
                names.extend(named(&rows, &dictionary));
                indices.extend_from_slice(&rows.indices);
            }
            prop_assert_eq!(&dictionary, &all);
            prop_assert_eq!(&indices, &whole.indices);
            prop_assert_eq!(names, named(&whole, &all));
            for r in 0..whole.len() {
                prop_assert!(whole.indices[whole.starts[r]..whole.starts[r + 1]].is_sorted_by(|a, b| a < b));
            }
            // Bad rows leave no names behind: those that are used are exactly those in the dictionary.
            let mut used: Vec<u32> = whole.indices.clone();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), all.len());
        }

        #[test]
        fn hashing_adds_up_what_the_naive_way_adds_up(
            spaces in prop::collection::vec(
                ("[fg]?", prop::collection::vec(("[a-z]{1,3}|0{0,2}[0-9]{1,10}", -9i32..10), 0..30)),
                1..4,
            ),
            bits in 1u8..12,
        ) {
            let mut text = "1".to_owned();
            let mut naive = BTreeMap::<u32, f64>::new();
            for (space, features) in &spaces {
                text += &format!(" |{space}");
                for (name, value) in features {
                    // Eighths, so that sums are exact: whole ones, ones after "0.", and others.
                    let value = f64::from(*value) / if name.len() % 2 == 0 { 8.0 } else { 1.0 };
                    text += &format!(" {name}:{value}");
                    if value != 0.0 {
                        *naive
                            .entry(hash_feature(hash_namespace(space.as_bytes()), name.as_bytes(), bits))
                            .or_default() += value;
                    }
                }
            }
            let rows = parse(
                &Vw {
                    features: Features::Hashed { bits },
                    interactions: Arc::default(),
                    labelling: Labelling::Open,
                },
                text.as_bytes(),
            );
            let found: Vec<(u32, f64)> =
                rows.indices.iter().copied().zip(rows.values.iter().copied()).collect();
            prop_assert_eq!(found, naive.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn random_bytes_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            ignored in any::<bool>(),
        ) {
            check_any_bytes(&bytes, ignored);
        }

        #[test]
        fn random_bytes_that_look_like_rows_never_panic(
            text in "[|:' \t\r\n1ax.\\-+eé]{0,60}",
            ignored in any::<bool>(),
        ) {
            check_any_bytes(text.as_bytes(), ignored);
        }
    }

    fn check_any_bytes(bytes: &[u8], ignored: bool) {
        let known = Features::Fixed(Arc::new(["a", "x^a"].into_iter().collect()));
        for features in [Features::Grow, known, Features::Hashed { bits: 3 }] {
            let labelling = if ignored { Labelling::Ignored } else { Labelling::Open };
            let interactions = Arc::new(Interactions::new(["a ", "::"]).unwrap());
            let mut rows = parse(&Vw { features, interactions, labelling }, bytes);
            number_globally(&mut rows, &mut Dictionary::default(), 0, 1000).unwrap();
            rows.sort_rows();
            for r in 0..rows.len() {
                assert!(rows.indices[rows.starts[r]..rows.starts[r + 1]].is_sorted_by(|a, b| a < b));
            }
            assert!(rows.values.iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    #[allow(clippy::print_stderr)]
    fn rcv1_is_read_whole() {
        let Some(folder) = std::env::var_os("NOVIKOFF_DATA") else {
            return eprintln!("skipped: NOVIKOFF_DATA names no folder with rcv1_small.vw");
        };
        let plain = std::path::Path::new(&folder).join("rcv1_small.vw");
        let path = if plain.is_file() { plain } else { plain.with_extension("vw.xz") };
        let text = Source::open(&Input::Path(path.clone())).unwrap().read_all().unwrap();
        let mut models = Vec::new();
        for threads in [1, 2] {
            let (mut dictionary, mut report, mut entries) =
                (Dictionary::default(), Report::default(), Vec::new());
            let source = Source::open(&Input::Path(path.clone())).unwrap();
            let setup = Setup { threads, skip_bad_rows: false };
            run(
                source,
                Arc::new(grow(Labelling::Open)),
                setup,
                &mut report,
                &mut Unwatched,
                |rows: &mut ParsedRows, _: &mut dyn Observer| {
                    number_globally(rows, &mut dictionary, 0, u32::MAX)?;
                    entries.extend_from_slice(&rows.indices);
                    Ok(Flow::Continue)
                },
            )
            .unwrap();
            assert_eq!(report.rows as usize, memchr::memchr_iter(b'\n', &text).count());
            assert_eq!(entries.len(), memchr::memchr_iter(b':', &text).count());
            models.push((dictionary, entries));
        }
        assert!(models[0] == models[1]);
    }
}
