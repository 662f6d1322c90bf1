//! Rows out of text: the plain kinds of svmlight files and of tables, brought into the canonical form.
//!
//! What is accepted here is read by `novikoff` to the same rows. What it reads besides (unsorted entries,
//! query numbers, quotes, missing values, categories, compressed files, …) is refused, with the advice to
//! write the rows in their canonical form first.

use crate::labels::Labels;
use crate::rows::{ColumnNames, MAGIC, Rows, write_end, write_row};

/// What the advice is where a file is more than plain.
const WRITE_ROWS: &str = "write the rows with `novikoff rows DATA FILE` first";

fn refused(line: usize, what: impl std::fmt::Display) -> String {
    format!("line {line}: {what}\nhint: {WRITE_ROWS}")
}

impl Rows {
    /// Reads svmlight text: `label column:value column:value … # comment`, columns increasing, every row of
    /// weight 1.
    pub fn from_svmlight(text: &str, zero_based: bool) -> Result<Self, String> {
        let base = u32::from(!zero_based);
        let (mut bytes, mut names) = (MAGIC.to_vec(), Labels::default());
        let (mut rows, mut columns, mut entries) = (0, 0, Vec::new());
        for (line, text) in lines(text) {
            let fail = |what: String| refused(line, what);
            let (text, commented) = text.split_once('#').map_or((text, false), |(text, _)| (text, true));
            let text = if commented { text } else { text.strip_suffix('\r').unwrap_or(text) };
            if text.contains('\r') {
                return Err(fail("there is a carriage return within the line".into()));
            }
            let mut tokens = text.split([' ', '\t']).filter(|token| !token.is_empty());
            let Some(label) = tokens.next() else { continue };
            let label = class(label, &mut names).map_err(fail)?;
            entries.clear();
            let mut next = 0;
            for token in tokens {
                let (column, value) = entry(token, base).map_err(fail)?;
                if column < next {
                    return Err(fail(format!("the columns do not increase at {token:?}")));
                }
                next = column + 1;
                columns = next.max(columns);
                if value != 0.0 {
                    entries.push((column as u32, value));
                }
            }
            write_row(label, 1.0, &entries, &mut bytes);
            rows += 1;
        }
        write_end(rows, columns, &names, &ColumnNames::Numbers(base), "", &mut bytes);
        Rows::from_canonical(&bytes).map_err(|what| refused(1, what))
    }

    /// Reads a plain table: a header, commas, no quotes, numbers in every field; labels may be words. The
    /// label's column is meant by its name or its number from 1; if it is not given, it is the one called
    /// label, target, class or y.
    pub fn from_csv(text: &str, label: Option<&str>) -> Result<Self, String> {
        let mut lines = lines(text).filter(|(_, text)| !text.trim_matches([' ', '\t', '\r']).is_empty());
        let (at, header) = lines.next().ok_or_else(|| refused(1, "the table is empty"))?;
        let header = fields(header).and_then(header_names).map_err(|what| refused(at, what))?;
        let own = label_column(&header, label)
            .map_err(|what| format!("line {at}: {what}\nhint: say which: --label COLUMN"))?;
        let (mut bytes, mut names, mut rows, mut entries) =
            (MAGIC.to_vec(), Labels::default(), 0, Vec::new());
        for (line, text) in lines {
            let fail = |what: String| refused(line, what);
            let mut fields = fields(text).map_err(fail)?;
            if fields.len() != header.len() {
                return Err(fail(format!(
                    "this row has {} fields, the table has {} columns",
                    fields.len(),
                    header.len()
                )));
            }
            let name = fields.remove(own);
            if is_missing(name) {
                return Err(fail(format!("the label {name:?} means that there is none")));
            }
            let class = class(name, &mut names).map_err(fail)?;
            entries.clear();
            for (column, field) in (0..).zip(fields) {
                let value = decimal(field)
                    .ok_or_else(|| fail(format!("the field {field:?} is not a finite number")))?;
                if value != 0.0 {
                    entries.push((column, value));
                }
            }
            write_row(class, 1.0, &entries, &mut bytes);
            rows += 1;
        }
        if rows == 0 {
            return Err(refused(at, "the table has no rows"));
        }
        let reading = reading(&header, own);
        let columns: Vec<String> =
            (0..).zip(&header).filter(|(j, _)| *j != own).map(|(_, name)| (*name).to_owned()).collect();
        write_end(rows, columns.len() as u64, &names, &ColumnNames::Names(columns), &reading, &mut bytes);
        Rows::from_canonical(&bytes).map_err(|what| refused(1, what))
    }
}

/// The lines and their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.split('\n'))
}

/// The number of a row's label.
fn class(name: &str, names: &mut Labels) -> Result<u32, String> {
    if name.contains(':') && names.find(name).is_none() {
        return Err(format!("the label {name:?} has a colon in it: is the label missing?"));
    }
    if name.parse::<f64>().is_ok_and(|value| !value.is_finite()) {
        return Err(format!("the label {name:?} is not a finite number"));
    }
    Ok(names.find_or_add(name) as u32)
}

/// Column, from 0, and value of an entry of svmlight text.
fn entry(token: &str, base: u32) -> Result<(u64, f64), String> {
    let wrong = |what: &str| format!("{token:?} {what}");
    let (column, value) = token.split_once(':').ok_or_else(|| wrong("is not column:value"))?;
    if column.is_empty() || column.len() > 10 || !column.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong("is not the entry of a numbered column"));
    }
    let column: u64 = column.parse().map_err(|_| wrong("is not the entry of a numbered column"))?;
    let column =
        column.checked_sub(base.into()).ok_or_else(|| wrong("is of column 0, and columns count from 1"))?;
    if column >= u32::MAX.into() {
        return Err(wrong("is of a column that is too large"));
    }
    Ok((column, decimal(value).ok_or_else(|| wrong("has no finite number as its value"))?))
}

/// A finite number in decimal digits: `[+-]digits[.digits][e[+-]digits]`, with digits before or behind the
/// point.
fn decimal(text: &str) -> Option<f64> {
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

fn is_missing(text: &str) -> bool {
    ["", "?", "na", "nan"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// The fields of a line of a table, without spaces around them.
fn fields(line: &str) -> Result<Vec<&str>, String> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains(['"', '\r', '\u{feff}']) {
        return Err("there are quotes, carriage returns or byte order marks in this line".into());
    }
    Ok(line.split(',').map(|field| field.trim_matches([' ', '\t'])).collect())
}

/// The names of columns, if it is sure that they are a header.
fn header_names(names: Vec<&str>) -> Result<Vec<&str>, String> {
    if names.len() < 2 {
        return Err("a table has a label and at least one more column".into());
    }
    for (at, name) in names.iter().enumerate() {
        if is_missing(name) || name.parse::<f64>().is_ok() || name.contains([';', '\t']) {
            return Err(format!("the first line is no plain header: {name:?}"));
        }
        if names[..at].contains(name) {
            return Err(format!("two columns are called {name:?}"));
        }
    }
    Ok(names)
}

fn label_column(names: &[&str], label: Option<&str>) -> Result<usize, String> {
    let Some(meant) = label else {
        let known = |name: &&str| {
            ["label", "target", "class", "y"].iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        let found: Vec<usize> = (0..names.len()).filter(|&j| known(&names[j])).collect();
        return match found[..] {
            [only] => Ok(only),
            [] => Err("which column is the label?".into()),
            [one, other, ..] => {
                Err(format!("both {:?} and {:?} could be the label", names[one], names[other]))
            }
        };
    };
    let numbered = || meant.parse::<usize>().ok()?.checked_sub(1).filter(|&j| j < names.len());
    names
        .iter()
        .position(|name| *name == meant)
        .or_else(numbered)
        .ok_or_else(|| format!("there is no column {meant:?}"))
}

/// How a plain table was read.
fn reading(names: &[&str], label: usize) -> String {
    let column = |(j, name): (usize, &&str)| {
        let role = if j == label { "label" } else { "numeric" };
        format!("[\"{role}\",{}]", serde_json::Value::from(*name))
    };
    let columns: Vec<String> = names.iter().enumerate().map(column).collect();
    format!(
        r#"{{"columns":[{}],"delimiter":",","header":true,"kind":"table","missing":"error"}}"#,
        columns.join(",")
    )
}
