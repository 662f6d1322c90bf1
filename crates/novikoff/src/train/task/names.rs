//! What labels are by the name of their column.

/// What a column is called after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A quantity: `age`, `house_price`.
    Quantity,
    /// How many there are: `visits`, `n_cases`.
    Count,
    /// Codes or groups, which numbers name: `zip`, `age_group`.
    Code,
}

/// Words for what is measured or counted, in the singular.
const QUANTITIES: [&str; 42] = [
    "age",
    "altitude",
    "amount",
    "area",
    "charge",
    "cost",
    "day",
    "delay",
    "demand",
    "depth",
    "distance",
    "duration",
    "expenditure",
    "expense",
    "fare",
    "gdp",
    "height",
    "hour",
    "income",
    "length",
    "mileage",
    "minute",
    "pay",
    "percent",
    "percentage",
    "point",
    "population",
    "pressure",
    "price",
    "rent",
    "revenue",
    "salary",
    "sale",
    "score",
    "size",
    "speed",
    "temperature",
    "time",
    "value",
    "wage",
    "weight",
    "year",
];

/// Words for what is counted, in the singular.
const COUNTS: [&str; 12] = [
    "accident", "call", "case", "child", "children", "claim", "count", "crash", "death", "event", "trip",
    "visit",
];
/// Words for numbers that are names, whatever stands beside them.
const CODES: [&str; 23] = [
    "band", "bin", "bracket", "bucket", "category", "class", "cluster", "code", "decile", "digit", "flag",
    "group", "id", "kind", "postcode", "quartile", "quintile", "species", "status", "tier", "type", "zip",
    "zipcode",
];
/// Words that may be either, and make other words be so.
const EITHER: [&str; 6] = ["grade", "label", "level", "range", "rank", "stage"];

/// What a column of this name holds, if its words tell.
pub(super) fn named(column: &str) -> Option<Named> {
    let mut words = words(column);
    // As in `nvisits`.
    if let Some(counted) = words.iter().find_map(|word| word.strip_prefix('n')).map(str::to_owned)
        && COUNTS.contains(&counted.strip_suffix('s').unwrap_or(&counted))
    {
        words.push(counted);
    }
    let has = |known: &[&str]| {
        words.iter().any(|word| {
            let one = word.strip_suffix('s').unwrap_or(word);
            known.contains(&word.as_str()) || known.contains(&one)
        })
    };
    match () {
        _ if has(&CODES) => Some(Named::Code),
        _ if has(&EITHER) => None,
        _ if has(&COUNTS) => Some(Named::Count),
        _ if has(&QUANTITIES) => Some(Named::Quantity),
        _ => None,
    }
}

/// The words of a name in small letters: `house_price`, `housePrice`, `House Price`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || was_small && letter.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphabetic(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_words() {
        for name in ["age", "Age", "ages", "house_price", "housePrice", "SalePrice", "Score2"] {
            assert_eq!(named(name), Some(Named::Quantity), "{name}");
        }
        for name in ["visits", "n.visits", "ncases", "Visit Count", "numberOfDeaths", "children"] {
            assert_eq!(named(name), Some(Named::Count), "{name}");
        }
        for name in ["age_group", "zip", "ZipCode", "priceCategory", "class", "type", "bins"] {
            assert_eq!(named(name), Some(Named::Code), "{name}");
        }
        for name in [
            "target",
            "y",
            "percentile",
            "village",
            "storage",
            "discount",
            "5",
            "",
            "quality",
            "label",
            "income_level",
            "grade",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
