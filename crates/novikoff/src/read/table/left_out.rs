//! Columns that are left out, why, and how to keep them.

use super::column::Meaning;

/// Why a column is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It has no value at all.
    Empty,
    /// It is the first, and the header has no name for it, as tables of pandas have their index.
    Unnamed,
    /// It is called `id` or the like, and most of its values are different.
    Identifier,
    /// Its numbers rise by one with every row.
    RowNumbers,
    /// It holds dates.
    Dates,
    /// Its numbers are dates: `20240131`.
    CompactDates,
    /// Most of its values are different.
    Unique {
        /// So many are.
        different: usize,
        /// Of so many.
        values: u64,
    },
}

impl Reason {
    /// Why, and the settings that keep such columns; `None` for one that nobody misses.
    fn explained(&self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Reason::Empty | Reason::Unnamed => None,
            Reason::Identifier => Some((
                "a name that tells rows apart, and mostly different values",
                &["categories", "numbers"],
            )),
            Reason::RowNumbers => Some(("one more with every row, as numbers of rows are", &["numbers"])),
            Reason::Dates => Some(("dates", &["categories"])),
            Reason::CompactDates => Some(("dates, as 20240131", &["categories", "numbers"])),
            Reason::Unique { .. } => {
                Some(("a category with a row or two says nothing of other rows", &["categories", "text"]))
            }
        }
    }

    fn detail(&self) -> String {
        match self {
            Reason::Unique { different, values } => {
                format!(" ({different} different in {values} values)")
            }
            _ => String::new(),
        }
    }
}

/// A warning for each reason for which columns with values are left out.
pub(super) fn warnings(names: &[String], meanings: &[Option<Meaning>]) -> Vec<String> {
    let reason = |meaning: &Option<Meaning>| match meaning {
        Some(Meaning::LeftOut(reason)) => Some(reason.clone()),
        _ => None,
    };
    let left_out: Vec<(&String, Reason)> =
        names.iter().zip(meanings).filter_map(|(name, meaning)| Some((name, reason(meaning)?))).collect();
    let mut reasons: Vec<(&str, &[&str])> = Vec::new();
    for explained in left_out.iter().filter_map(|(_, reason)| reason.explained()) {
        if !reasons.contains(&explained) {
            reasons.push(explained);
        }
    }
    let warning = |(why, settings): (&str, &[&str])| {
        let own = left_out.iter().filter(|(_, reason)| reason.explained().is_some_and(|own| own.0 == why));
        let (names, shown): (Vec<&str>, Vec<String>) =
            own.map(|(name, reason)| (name.as_str(), format!("{name:?}{}", reason.detail()))).unzip();
        let keep = |setting: &&str| format!("`{setting} = {}`", names.join(","));
        let ways: Vec<String> = settings.iter().map(keep).collect();
        let it = if names.len() > 1 { "them" } else { "it" };
        format!("left out {}: {why}; {} keeps {it}", shown.join(", "), ways.join(" or "))
    };
    reasons.into_iter().map(warning).collect()
}

/// The columns that are left out without a loss.
pub(super) fn empty_columns(names: &[String], meanings: &[Option<Meaning>]) -> Option<String> {
    let column = |(name, meaning): (&String, &Option<Meaning>)| match meaning {
        Some(Meaning::LeftOut(Reason::Unnamed)) => Some("column 1, which has no name".to_owned()),
        Some(Meaning::LeftOut(Reason::Empty)) => Some(format!("column {name:?}, which has no value")),
        _ => None,
    };
    let found: Vec<String> = names.iter().zip(meanings).filter_map(column).collect();
    (!found.is_empty()).then(|| format!("left out: {}", found.join("; ")))
}
