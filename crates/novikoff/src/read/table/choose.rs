//! Which column is the label, and what the user says of the others.

use super::column::Wish;
use super::{Header, TableOptions, Was, find_column, is_label_name};
use crate::error::{Error, Result};
use crate::read::parsed_rows::Labelling;

/// What columns are for, as far as the user or their names say.
pub(super) struct Choice {
    pub label: Option<usize>,
    /// The label was found by a name that other columns have, too: `y`, `class` or `target`.
    pub is_label_guessed: bool,
    pub row_weights: Option<usize>,
    pub uses: Vec<Use>,
}

/// What the user wants a column to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Inferred,
    Dropped,
    Text,
    Categories,
    Numbers,
    /// What it was in other rows.
    As(Was),
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Use::Inferred | Use::As(_) => "inferred",
            Use::Dropped => "dropped",
            Use::Text => "a text",
            Use::Categories => "categories",
            Use::Numbers => "numbers",
        }
    }
}

impl Choice {
    /// What is to be made of the values of column `j`.
    pub(super) fn wish(&self, j: usize) -> Wish {
        match self.uses[j] {
            _ if self.label == Some(j) || self.row_weights == Some(j) => Wish::Ignored,
            Use::Dropped | Use::Text => Wish::Ignored,
            Use::Categories | Use::As(Was::AllCategories) => Wish::Categories,
            Use::Numbers => Wish::Numbers,
            Use::As(was) => Wish::As(was),
            Use::Inferred => Wish::Inferred,
        }
    }
}

/// What the columns of these names are for. `columns` lists them for messages.
pub(super) fn choose(
    names: &[String],
    options: &TableOptions,
    labelling: &Labelling,
    columns: &str,
) -> Result<Choice> {
    let find = |meant: &String| find_column(names, meant).ok_or_else(|| no_column(names, meant, columns));
    let mut uses = uses(names, options, find)?;
    let row_weights = options.row_weights.as_ref().map(find).transpose()?;
    let asked = options.label.as_ref().map(find).transpose()?;
    for (column, what) in [(asked, "the label"), (row_weights, "the row weights")] {
        if let Some(j) = column.filter(|j| uses[*j] != Use::Inferred) {
            return Err(at_once(&names[j], what, uses[j].name()));
        }
    }
    if let Some(j) = asked.filter(|_| asked == row_weights) {
        return Err(at_once(&names[j], "the label", "the row weights"));
    }
    let label = match asked {
        Some(j) => Some(j),
        None => {
            let is_taken = |j: usize| uses[j] != Use::Inferred || row_weights == Some(j);
            label_by_name(names, is_taken, labelling, columns)?
        }
    };
    if options.header != Header::Detect {
        for (name, was) in &options.before {
            let j = names.iter().position(|own| own == name).filter(|j| uses[*j] == Use::Inferred);
            j.into_iter().for_each(|j| uses[j] = Use::As(*was));
        }
    }
    let is_sure = |j: usize| names[j].eq_ignore_ascii_case("label");
    let is_label_guessed = asked.is_none() && label.is_some_and(|j| !is_sure(j));
    Ok(Choice { label, is_label_guessed, row_weights, uses })
}

/// What the user wants each column to be.
fn uses(
    names: &[String],
    options: &TableOptions,
    find: impl Fn(&String) -> Result<usize>,
) -> Result<Vec<Use>> {
    let mut uses = vec![Use::Inferred; names.len()];
    for (columns, wanted) in [
        (&options.drop, Use::Dropped),
        (&options.text, Use::Text),
        (&options.categories, Use::Categories),
        (&options.numbers, Use::Numbers),
    ] {
        for meant in columns {
            let j = find(meant)?;
            if uses[j] != Use::Inferred && uses[j] != wanted {
                return Err(at_once(&names[j], uses[j].name(), wanted.name()));
            }
            uses[j] = wanted;
        }
    }
    Ok(uses)
}

fn at_once(name: &str, one: &str, other: &str) -> Error {
    Error::usage(format!("column {name:?} cannot be {one} and {other} at once"))
}

/// The error about a column that is not there, with those that may be meant.
fn no_column(names: &[String], meant: &str, columns: &str) -> Error {
    let error = Error::input(format!("there is no column {meant:?}; {columns}"));
    match &similar(names, meant)[..] {
        [] => error,
        found => {
            let found: Vec<String> = found.iter().map(|name| format!("{name:?}")).collect();
            error.hint(format!("did you mean {}?", found.join(" or ")))
        }
    }
}

/// The names that may be meant by one that is misspelled, the nearest first; three at most.
fn similar<'a>(names: &'a [String], meant: &str) -> Vec<&'a str> {
    let plain =
        |name: &str| -> Vec<char> { name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    let wanted = plain(meant);
    if wanted.is_empty() {
        return Vec::new();
    }
    let contains = |name: &[char]| {
        wanted.len() >= 3 && name.len() >= 3 && {
            let (long, short) =
                if name.len() > wanted.len() { (name, &wanted[..]) } else { (&wanted[..], name) };
            long.windows(short.len()).any(|part| part == short)
        }
    };
    let distance = |name: &str| {
        let name = plain(name);
        let distance = edit_distance(&name, &wanted);
        let is_near = distance <= name.len().max(wanted.len()) / 3 || contains(&name);
        is_near.then_some(distance)
    };
    let mut found: Vec<(usize, &str)> =
        names.iter().filter_map(|name| Some((distance(name)?, name.as_str()))).collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How many letters have to be inserted, deleted, replaced, or swapped with the next one to turn one word
/// into the other (the optimal string alignment distance).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The column that is the label by its name, if only one can be.
fn label_by_name(
    names: &[String],
    is_taken: impl Fn(usize) -> bool,
    labelling: &Labelling,
    columns: &str,
) -> Result<Option<usize>> {
    let found: Vec<usize> = (0..names.len()).filter(|&j| is_label_name(&names[j]) && !is_taken(j)).collect();
    let what = match found[..] {
        [j] if may_be_a_coordinate(names, j) => {
            format!("column {:?} could be the label, or a coordinate; {columns}", names[j])
        }
        [j] => return Ok(Some(j)),
        [] if matches!(labelling, Labelling::Ignored) => return Ok(None),
        [] => format!("which column is the label? {columns}"),
        [j, k, ..] => format!("both {:?} and {:?} could be the label; {columns}", names[j], names[k]),
    };
    Err(Error::input(what).hint("say which: `label = COLUMN`"))
}

/// Whether `y` may be a coordinate: it stands beside `z`, or beside `x` and columns with longer names.
fn may_be_a_coordinate(names: &[String], j: usize) -> bool {
    let has = |letter: &str| names.iter().any(|name| name.eq_ignore_ascii_case(letter));
    let has_long_names = names.iter().any(|name| name.chars().count() > 1);
    names[j].eq_ignore_ascii_case("y") && (has("z") || has("x") && has_long_names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    fn label_of(list: &str) -> Result<Option<usize>> {
        let choice = choose(&names(list), &TableOptions::default(), &Labelling::Open, "the columns are …")?;
        assert_eq!(choice.is_label_guessed, choice.label.is_some_and(|j| names(list)[j] != "label"));
        Ok(choice.label)
    }

    #[test]
    fn y_is_the_label_unless_it_may_be_a_coordinate() {
        for (list, label) in
            [("a,b,y", 2), ("x,y", 1), ("x1,x2,y", 2), ("age,Y", 1), ("x,w,y", 2), ("a,label", 1)]
        {
            assert_eq!(label_of(list), Ok(Some(label)), "{list}");
        }
        for list in ["carat,price,x,y,z", "x,y,z", "y,z", "x,y,colour", "X,Y,town"] {
            let error = label_of(list).unwrap_err();
            assert!(error.what().contains("or a coordinate; the columns are"), "{list}: {error}");
            assert_eq!(error.advice(), Some("say which: `label = COLUMN`"));
        }
        assert!(label_of("x,y,class").is_err());
        assert_eq!(label_of("x,z,class"), Ok(Some(2)));
    }

    #[test]
    fn misspelled_columns_are_answered_by_those_that_may_be_meant() {
        let columns = names("carat,cut,price,median_house_value,Passenger Id,x,y");
        for (meant, expected) in [
            ("pirce", &["price"][..]),
            ("Price", &["price"]),
            ("prices", &["price"]),
            ("house_value", &["median_house_value"]),
            ("passengerid", &["Passenger Id"]),
            ("cutt", &["cut"]),
            ("caret", &["carat"]),
            ("town", &[]),
            ("q", &[]),
            ("", &[]),
        ] {
            assert_eq!(similar(&columns, meant), expected, "{meant}");
        }
        let options = TableOptions { label: Some("pirce".into()), ..TableOptions::default() };
        let error = choose(&columns, &options, &Labelling::Open, "the columns are …").err().unwrap();
        assert_eq!(error.advice(), Some("did you mean \"price\"?"));
    }

    #[test]
    fn a_column_is_for_one_thing() {
        let columns = names("a,b,label");
        let list = |name: &str| vec![name.to_owned()];
        let all = [
            TableOptions { drop: list("a"), text: list("a"), ..TableOptions::default() },
            TableOptions { categories: list("a"), numbers: list("a"), ..TableOptions::default() },
            TableOptions { categories: list("a"), label: Some("a".into()), ..TableOptions::default() },
            TableOptions { numbers: list("b"), row_weights: Some("b".into()), ..TableOptions::default() },
            TableOptions {
                label: Some("b".into()),
                row_weights: Some("2".into()),
                ..TableOptions::default()
            },
        ];
        for options in all {
            let error = choose(&columns, &options, &Labelling::Open, "").err().unwrap();
            assert!(error.what().contains("at once"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn the_distance_of_words_is_a_distance(a in "[abc]{0,6}", b in "[abc]{0,6}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let distance = edit_distance(&a, &b);
            prop_assert_eq!(distance, edit_distance(&b, &a));
            prop_assert_eq!(distance == 0, a == b);
            prop_assert!(distance >= a.len().abs_diff(b.len()) && distance <= a.len().max(b.len()));
            let mut swapped = a.clone();
            if swapped.len() > 1 {
                swapped.swap(0, 1);
                prop_assert!(edit_distance(&a, &swapped) <= 1);
            }
        }
    }
}
