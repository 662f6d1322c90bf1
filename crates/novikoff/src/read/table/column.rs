//! What a column is, by all its values: the rules of `docs/guide/tables.md`.

use super::left_out::Reason;
use super::spelling::{Misspelling, Spelling, is_compact_date, is_date};
use super::{Was, is_missing, is_surely_missing, shown};
use crate::features::Dictionary;
use crate::read::number::{Number, whole};
use rustc_hash::FxHashSet;

/// Line and byte in the file, both from 1.
pub(super) type Spot = (u64, u64);

/// What the user says of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nothing: its values decide.
    #[default]
    Inferred,
    /// It holds numbers.
    Numbers,
    /// It holds categories.
    Categories,
    /// It holds what it held in other rows.
    As(Was),
    /// Its values are no features, or documents.
    Ignored,
}

/// What a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Numbers,
    Categories,
    /// Documents.
    Text,
    LeftOut(Reason),
}

/// What is wrong with a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub at: Option<Spot>,
    pub what: String,
    pub hint: String,
}

/// A column is one of numbers if at least so many of its values are numbers for each that is not. (Of the
/// tickets of the Titanic 74 % are numbers, and those are no numbers but words of digits.)
const NUMBERS_FOR_EACH_TEXT: u64 = 3;
/// Below so many values, all may differ by chance.
const FEW_VALUES: u64 = 20;
/// A column may not have more categories.
pub(super) const MAX_CATEGORIES: usize = 1 << 20;
/// Nor more bytes of categories that are mostly different.
const MAX_BYTES: usize = 1 << 26;
/// Of fewer numbers, all may be dates by chance: one in thirty of eight digits is.
const FEW_DATES: u64 = 5;
/// Values whose spelling is looked at.
const MAX_SPELLINGS: u64 = 100_000;
/// Sums are kept this much smaller, so that they cannot overflow. A power of two: the digits stay the same.
const SCALE: f64 = 1.0 / (1u64 << 60) as f64;
/// Up to here, every whole number is a double: 2⁵³.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Texts of which the place is kept.
const EXAMPLES: usize = 3;

/// Names of columns that hold prose.
const TEXT_NAMES: [&str; 8] =
    ["text", "document", "message", "review", "comment", "sentence", "tweet", "headline"];
/// Names of columns that count time or positions: their numbers may rise by one with every row, and mean
/// something.
const POSITION_NAMES: [&str; 13] =
    ["x", "t", "time", "hour", "day", "week", "month", "quarter", "year", "age", "period", "epoch", "step"];
/// Names of columns that tell rows apart.
const IDENTIFIER_NAMES: [&str; 15] = [
    "id",
    "ids",
    "idx",
    "index",
    "key",
    "no",
    "nr",
    "pk",
    "row",
    "rowid",
    "rownames",
    "rownumber",
    "uuid",
    "guid",
    "serial",
];

/// Whether a column of this name tells rows apart: `id`, `row_number`, `customer_id`, `PassengerId`,
/// `Unnamed: 0`.
pub(super) fn is_identifier_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let before_id = name.strip_suffix("id").or(name.strip_suffix("ID"));
    let ends_in_id = before_id.is_some_and(|start| start.ends_with(['_', '-', ' ', '.']))
        || ["Id", "ID"]
            .iter()
            .any(|id| name.strip_suffix(id).is_some_and(|start| start.ends_with(|c: char| c.is_lowercase())));
    // What pandas and R's readr call a column without a name.
    let mut nameless = ["Unnamed: ", "..."].iter().filter_map(|start| name.strip_prefix(start));
    let is_nameless = nameless.any(|number| number.parse::<u32>().is_ok());
    IDENTIFIER_NAMES.contains(&plain.as_str()) || ends_in_id || is_nameless
}

/// Whether the first column of these is called as R calls one without a name, and none beside it makes it a
/// coordinate.
pub(super) fn starts_as_in_r(names: &[String]) -> bool {
    let is_coordinate = |name: &String| matches!(name.as_str(), "x" | "y" | "z" | "Y" | "Z");
    names.first().is_some_and(|name| name == "X") && !names.iter().any(is_coordinate)
}

/// Whether a column is called as those of dates are: `date`, `created_at`, `birthday`.
fn is_named_as_date(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("date") || name.ends_with("day") || name.ends_with("_at")
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
}

/// What is known of a column so far.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    wish: Wish,
    /// All its values are kept as categories; otherwise only those that are no numbers.
    listing: bool,
    /// The numbers of a column that tells rows apart, if it is called so, until there are too many.
    different_numbers: Option<FxHashSet<u64>>,
    /// Missing values.
    pub missing: u64,
    numbers: u64,
    /// Sum of the numbers, times [`SCALE`].
    sum: f64,
    /// Some number is not whole.
    has_fractions: bool,
    /// Numbers that are not by one larger than the one before, the first among them.
    jumps: u64,
    next: f64,
    /// Numbers that are no days as `20240131`.
    other_numbers: u64,
    not_finite: u64,
    first_not_finite: Option<Spot>,
    texts: u64,
    /// The first of them.
    examples: Vec<Example>,
    not_utf8: Option<Spot>,
    categories: Dictionary,
    bytes: usize,
    /// More categories than can be kept, most of which are in one row each: how many there were.
    overflowed: Option<usize>,
    spellings: Spellings,
}

/// A value that is no number.
#[derive(Debug)]
struct Example {
    spot: Spot,
    /// Its line in words.
    line: String,
    text: Vec<u8>,
}

impl Example {
    fn misspelling(&self) -> Option<Misspelling> {
        Misspelling::of(&String::from_utf8_lossy(&self.text))
    }
}

/// What different values look like.
#[derive(Debug, Default)]
struct Spellings {
    looked_at: u64,
    dates: u64,
    spelled_otherwise: u64,
    words: u64,
    small_words: u64,
}

impl Spellings {
    fn add(&mut self, spelling: Spelling) {
        self.looked_at += 1;
        self.dates += u64::from(spelling.is_date);
        self.spelled_otherwise += u64::from(spelling.is_number_spelled_otherwise);
        self.words += spelling.words;
        self.small_words += spelling.small_words;
    }

    /// Whether these are sentences rather than names: six words a value, or three that are mostly no names.
    fn are_prose(&self) -> bool {
        let long = self.words >= 6 * self.looked_at;
        let small = self.words >= 3 * self.looked_at && 2 * self.small_words >= self.words;
        long || small
    }
}

/// What the place of a value has to be known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    NotFinite,
    NotUtf8,
    /// One of the first that are no numbers.
    Text,
    TooManyCategories,
}

impl Statistics {
    pub(super) fn new(wish: Wish, listing: bool, name: &str) -> Self {
        let tells_apart = wish == Wish::Inferred && is_identifier_name(name);
        let different_numbers = tells_apart.then(FxHashSet::default);
        let listing = listing || matches!(wish, Wish::Categories | Wish::As(Was::Categories));
        Self { wish, listing, different_numbers, next: f64::NAN, ..Self::default() }
    }

    /// Takes a value into account.
    #[inline]
    pub(super) fn value(&mut self, text: &[u8]) -> Option<Oddity> {
        match whole(text) {
            Number::Finite(value, _) => {
                self.number(value);
                if self.listing { self.list(text) } else { None }
            }
            _ if self.is_missing(text) => {
                self.missing += 1;
                None
            }
            Number::NotFinite => {
                self.not_finite += 1;
                if self.listing { self.list(text) } else { Some(Oddity::NotFinite) }
            }
            Number::None => {
                self.texts += 1;
                let odd = self.list(text);
                if odd.is_none() && self.examples.len() < EXAMPLES { Some(Oddity::Text) } else { odd }
            }
        }
    }

    fn is_missing(&self, text: &[u8]) -> bool {
        if self.wish == Wish::Categories { is_surely_missing(text) } else { is_missing(text) }
    }

    #[inline]
    fn number(&mut self, value: f64) {
        self.numbers += 1;
        self.sum += value * SCALE;
        self.jumps += u64::from(value != self.next);
        self.next = value + 1.0;
        self.other_numbers += u64::from(!is_compact_date(value));
        if self.different_numbers.is_some() {
            self.number_of_an_identifier(value);
        }
    }

    #[cold]
    fn number_of_an_identifier(&mut self, value: f64) {
        self.has_fractions |= value.fract() != 0.0;
        if let Some(different) = &mut self.different_numbers
            && different.len() < MAX_CATEGORIES
        {
            different.insert(value.to_bits());
        }
    }

    #[inline]
    fn list(&mut self, text: &[u8]) -> Option<Oddity> {
        if self.wish == Wish::Ignored || self.overflowed.is_some() {
            return None;
        }
        let Ok(category) = std::str::from_utf8(text) else { return Some(Oddity::NotUtf8) };
        let before = self.categories.len();
        self.categories.intern(category);
        if self.categories.len() > before { self.new_category(category) } else { None }
    }

    fn new_category(&mut self, category: &str) -> Option<Oddity> {
        if self.spellings.looked_at < MAX_SPELLINGS {
            self.spellings.add(Spelling::of(category));
        }
        self.bytes += category.len();
        let different = self.categories.len();
        if different <= MAX_CATEGORIES && self.bytes <= MAX_BYTES {
            return None;
        }
        if self.wish != Wish::Categories && self.is_mostly_different() {
            self.overflowed = Some(different);
            self.categories = Dictionary::default();
            return None;
        }
        (different > MAX_CATEGORIES).then_some(Oddity::TooManyCategories)
    }

    /// Keeps the place of a value in mind; `line` says in words which line it is.
    pub(super) fn place(&mut self, oddity: Oddity, spot: Spot, line: impl FnOnce() -> String, text: &[u8]) {
        match oddity {
            Oddity::NotFinite => _ = self.first_not_finite.get_or_insert(spot),
            Oddity::NotUtf8 => _ = self.not_utf8.get_or_insert(spot),
            Oddity::Text => self.examples.push(Example { spot, line: line(), text: text.to_vec() }),
            Oddity::TooManyCategories => {}
        }
    }

    /// Takes the value of the first record, after all others: its category comes first.
    pub(super) fn first_text(&mut self, text: &str, spot: Spot, line: String) {
        self.texts += 1;
        self.examples.insert(0, Example { spot, line, text: text.as_bytes().to_vec() });
        if self.wish != Wish::Ignored && self.overflowed.is_none() {
            self.spellings.add(Spelling::of(text));
            let others = self.categories.names().iter().map(String::as_str).filter(|other| *other != text);
            self.categories = std::iter::once(text).chain(others).collect();
        }
    }

    /// Whether a name could stand over these values: they are numbers.
    pub(super) fn is_numeric(&self) -> bool {
        self.numbers > 0 && self.numbers >= NUMBERS_FOR_EACH_TEXT * self.texts
    }

    /// Whether there is no number at all.
    pub(super) fn has_no_number(&self) -> bool {
        self.numbers == 0
    }

    pub(super) fn mean(&self) -> f64 {
        if self.numbers == 0 { 0.0 } else { self.sum / self.numbers as f64 / SCALE }
    }

    /// Where the first number stands that is not finite.
    pub(super) fn first_not_finite(&self) -> Option<Spot> {
        self.first_not_finite
    }

    /// Where the first value stands that is not UTF-8.
    pub(super) fn not_utf8(&self) -> Option<Spot> {
        self.not_utf8
    }

    pub(super) fn categories(&self) -> &Dictionary {
        &self.categories
    }

    pub(super) fn take_categories(&mut self) -> Dictionary {
        std::mem::take(&mut self.categories)
    }

    /// Values that are there.
    fn values(&self) -> u64 {
        self.numbers + self.not_finite + self.texts
    }

    fn different(&self) -> usize {
        self.overflowed.unwrap_or(self.categories.len())
    }

    /// Whether a category has fewer than two rows on average.
    fn is_mostly_different(&self) -> bool {
        let listed = if self.listing { self.values() } else { self.texts };
        self.overflowed.is_some() || 2 * self.categories.len() as u64 > listed
    }

    /// Whether its numbers were not listed with its texts, and have to be.
    pub(super) fn lacks_numbers(&self) -> bool {
        !self.listing && self.texts > 0 && self.values() > self.texts
    }

    /// What the column is; `None` if its numbers have to be listed first.
    pub(super) fn meaning(&self, name: &str, lenient: bool) -> Result<Option<Meaning>, Complaint> {
        match self.wish {
            Wish::Numbers => return self.numbers_at_most(name, lenient).map(Some),
            Wish::Categories => return Ok(Some(Meaning::Categories)),
            Wish::Inferred | Wish::Ignored | Wish::As(_) => {}
        }
        if self.values() == 0 {
            return Ok(Some(Meaning::LeftOut(Reason::Empty)));
        }
        match self.wish {
            Wish::As(Was::Numbers) => return self.numbers_at_most(name, lenient).map(Some),
            Wish::As(_) if self.overflowed.is_none() => return Ok(Some(Meaning::Categories)),
            _ => {}
        }
        if self.texts == 0 {
            let reason = match self.identifies_rows() {
                true => Some(Reason::Identifier),
                false if self.are_compact_dates(is_named_as_date(name)) => Some(Reason::CompactDates),
                false => self.row_numbers(name),
            };
            return Ok(Some(reason.map_or(Meaning::Numbers, Meaning::LeftOut)));
        }
        if lenient && self.is_numeric() {
            return Ok(Some(Meaning::Numbers));
        }
        self.refuse_numbers_spelled_otherwise(name)?;
        if self.is_numeric() {
            return self.numbers_at_most(name, lenient).map(Some);
        }
        if 10 * self.spellings.dates >= 9 * self.spellings.looked_at.max(1) {
            return Ok(Some(Meaning::LeftOut(Reason::Dates)));
        }
        Ok((!self.lacks_numbers()).then(|| self.words(name)))
    }

    /// What a column of values that are no numbers is.
    fn words(&self, name: &str) -> Meaning {
        let is_named_text =
            is_one_of(&TEXT_NAMES, name) && self.spellings.words >= 2 * self.spellings.looked_at;
        if is_named_text || self.is_mostly_different() && self.spellings.are_prose() {
            return Meaning::Text;
        }
        let (different, values) = (self.different(), self.values());
        match self.is_mostly_different() {
            true if is_identifier_name(name) && values > 1 => Meaning::LeftOut(Reason::Identifier),
            true if values >= FEW_VALUES => Meaning::LeftOut(Reason::Unique { different, values }),
            _ => Meaning::Categories,
        }
    }

    /// Whether these are the whole numbers of a column that is called as one that tells rows apart, and does.
    fn identifies_rows(&self) -> bool {
        let Some(different) = &self.different_numbers else { return false };
        let is_full = different.len() == MAX_CATEGORIES;
        !self.has_fractions && self.numbers > 1 && (is_full || 2 * different.len() as u64 > self.numbers)
    }

    fn row_numbers(&self, name: &str) -> Option<Reason> {
        let means_something = is_one_of(&POSITION_NAMES, name);
        (self.rises_by_one() && !means_something).then_some(Reason::RowNumbers)
    }

    fn rises_by_one(&self) -> bool {
        let is_complete = self.texts + self.missing + self.not_finite == 0 && self.numbers >= FEW_VALUES;
        // Beyond 2⁵³, one more is the same double.
        let is_exact = self.next.abs() < EXACT && self.next.fract() == 0.0;
        is_complete && is_exact && self.jumps == 1
    }

    /// Whether these are the numbers of the rows from 1 on.
    pub(super) fn counts_rows(&self) -> bool {
        self.wish == Wish::Inferred && self.rises_by_one() && self.next == self.numbers as f64 + 1.0
    }

    /// Numbers, unless some values are none and bad rows are not left out.
    fn numbers_at_most(&self, name: &str, lenient: bool) -> Result<Meaning, Complaint> {
        if self.texts == 0 || lenient {
            return Ok(Meaning::Numbers);
        }
        let (verb, is) = if self.texts == 1 { ("is", "a number") } else { ("are", "numbers") };
        let what = format!(
            "{} of {} values of column {name:?} {verb} not {is}: {}",
            self.texts,
            self.values(),
            self.listed_examples()
        );
        let mut hint = format!(
            "correct them, or leave out such rows by `skip_bad_rows`, or the column by `drop = {name}`"
        );
        if matches!(self.wish, Wish::Inferred | Wish::As(_)) {
            hint.push_str(&format!("; if its values are categories, say so: `categories = {name}`"));
        }
        Err(Complaint { at: self.examples.first().map(|example| example.spot), what, hint })
    }

    fn listed_examples(&self) -> String {
        let example = |Example { line, text, .. }: &Example| format!("{} ({line})", shown(text));
        let mut list: Vec<String> = self.examples.iter().take(EXAMPLES).map(example).collect();
        if self.texts > list.len() as u64 {
            list.push("…".into());
        }
        list.join(", ")
    }

    fn refuse_numbers_spelled_otherwise(&self, name: &str) -> Result<(), Complaint> {
        let Spellings { spelled_otherwise, looked_at, .. } = self.spellings;
        if spelled_otherwise == 0 || 4 * spelled_otherwise < 3 * looked_at {
            return Ok(());
        }
        let hint = format!(
            "{}; or leave out the column by `drop = {name}`; if its values are categories, say so: \
             `categories = {name}`",
            self.spell()
        );
        Err(Complaint { hint, ..self.spelled_otherwise(name) })
    }

    /// The complaint about labels that are numbers spelled otherwise, as targets with decimal commas are.
    pub(super) fn refuse_label(&self, name: &str) -> Result<(), Complaint> {
        let is_otherwise = |it: &Example| it.misspelling().is_some();
        match !self.examples.is_empty() && self.examples.iter().all(is_otherwise) {
            true => Err(Complaint { hint: self.spell(), ..self.spelled_otherwise(name) }),
            false => Ok(()),
        }
    }

    /// How to write the first values that are numbers but for their spelling.
    fn spell(&self) -> String {
        let mut hints: Vec<&str> =
            self.examples.iter().filter_map(Example::misspelling).map(Misspelling::hint).collect();
        hints.dedup();
        hints.join("; ")
    }

    /// Whether the labels are dates.
    pub(super) fn are_dates(&self) -> bool {
        let is_written_out = |it: &Example| is_date(&String::from_utf8_lossy(&it.text));
        let all = !self.examples.is_empty() && self.examples.iter().all(is_written_out);
        self.are_compact_dates(false) || self.numbers == 0 && all
    }

    /// Whether all are days as `20240131`; of few, only the column's name can tell.
    fn are_compact_dates(&self, is_called_so: bool) -> bool {
        let enough = self.numbers >= if is_called_so { 1 } else { FEW_DATES };
        self.texts + self.not_finite + self.other_numbers == 0 && enough
    }

    fn spelled_otherwise(&self, name: &str) -> Complaint {
        let what =
            format!("column {name:?} holds numbers that cannot be read as such: {}", self.listed_examples());
        Complaint { at: self.examples.first().map(|example| example.spot), what, hint: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a column of these values is, by one pass or, if need be, two.
    fn meaning(name: &str, values: &[&str]) -> Result<Meaning, Complaint> {
        let pass = |listing: bool| {
            let mut column = Statistics::new(Wish::Inferred, listing, name);
            for (i, value) in values.iter().enumerate() {
                if let Some(oddity) = column.value(value.as_bytes()) {
                    let line = i as u64 + 1;
                    column.place(oddity, (line, 1), || format!("line {line}"), value.as_bytes());
                }
            }
            column.meaning(name, false)
        };
        Ok(match pass(false)? {
            Some(meaning) => meaning,
            None => pass(true)?.expect("every value is listed"),
        })
    }

    /// The rule for words and numbers, in the plainest form; `None` for an error.
    fn by_the_rule(values: &[&str]) -> Option<Meaning> {
        let there: Vec<&&str> = values.iter().filter(|value| !is_missing(value.as_bytes())).collect();
        let numbers = there.iter().filter(|value| value.parse::<f64>().is_ok()).count();
        let mut different = there.clone();
        different.sort();
        different.dedup();
        let (values, different) = (there.len(), different.len());
        match () {
            _ if values == 0 => Some(Meaning::LeftOut(Reason::Empty)),
            _ if numbers == values => Some(Meaning::Numbers),
            _ if 4 * numbers >= 3 * values => None,
            _ if values >= 20 && 2 * different > values => {
                Some(Meaning::LeftOut(Reason::Unique { different, values: values as u64 }))
            }
            _ => Some(Meaning::Categories),
        }
    }

    proptest! {
        #[test]
        fn a_column_is_what_the_rule_says(
            values in prop::collection::vec(
                prop_oneof!["[1-9][0-9]{1,3}", "[a-z]{1,3}", "[ab]", Just(String::new()), Just("NULL".into())],
                0..60,
            ),
        ) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            // Such words are numbers that are not finite, or missing.
            prop_assume!(values.iter().all(|value| !["nan", "inf", "na"].contains(value)));
            prop_assert_eq!(meaning("a", &values).ok(), by_the_rule(&values));
        }

        #[test]
        fn some_bad_cells_in_a_column_of_numbers_are_found_wherever_they_stand(
            numbers in prop::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), 12..200),
            bad in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            let mut values: Vec<String> = numbers.iter().map(f32::to_string).collect();
            let places: BTreeSet<usize> = bad.iter().map(|at| at.index(values.len())).collect();
            for place in &places {
                values[*place] = "1.2.3".to_owned();
            }
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let complaint = meaning("a", &values).unwrap_err();
            prop_assert_eq!(complaint.at, places.first().map(|place| (*place as u64 + 1, 1)));
            for place in &places {
                let line = format!("(line {})", place + 1);
                prop_assert!(complaint.what.contains(&line), "{}", complaint.what);
            }
        }
    }

    #[test]
    fn names_of_identifiers_are_known_and_words_that_end_alike_are_not() {
        for name in [
            "id",
            "ID",
            "Id",
            "index",
            "row_number",
            "customer_id",
            "PassengerId",
            "userID",
            "Unnamed: 0",
            "...1",
            "No.",
        ] {
            assert!(is_identifier_name(name), "{name}");
        }
        for name in ["valid", "humid", "paid", "Android", "notes", "number", "idle", "Unnamed: x", "1", ""] {
            assert!(!is_identifier_name(name), "{name}");
        }
    }

    #[test]
    fn values_beyond_the_memory_of_a_dictionary_are_mostly_different_or_an_error() {
        let long = "x".repeat(1 << 10);
        let mut column = Statistics::new(Wish::Inferred, false, "a");
        for i in 0..(MAX_BYTES >> 10) + 10 {
            column.value(format!("{i}{long}").as_bytes());
        }
        assert!(column.categories().is_empty() && column.overflowed.is_some());
        let unique = column.meaning("a", false).unwrap();
        assert!(matches!(unique, Some(Meaning::LeftOut(Reason::Unique { .. }))), "{unique:?}");
    }
}
