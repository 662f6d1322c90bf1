//! Detects the format of an input from its name and contents.

use crate::error::{Error, Result};

/// A format that data comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Lines of: label index:value …
    Svmlight,
    /// A table with commas (or semicolons).
    Csv,
    /// A table with tabs.
    Tsv,
    /// Lines of: label |namespace feature:value …
    Vw,
    /// Binary images, with their labels in a file beside.
    Idx,
    /// Documents: label, tab, text; or a folder of them.
    Text,
    /// Documents: a JSON object a line.
    Jsonl,
    /// A table in a file of Parquet.
    Parquet,
    /// A table in a file or a stream of Arrow.
    Arrow,
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Svmlight => "svmlight",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Vw => "vw",
            Format::Idx => "idx",
            Format::Text => "text",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
        }
    }

    /// Whether it is a table.
    pub(super) fn is_table(self) -> bool {
        matches!(self, Format::Csv | Format::Tsv) || self.is_columnar()
    }

    /// Whether it is a table whose file holds columns, not lines.
    pub(super) fn is_columnar(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }
}

/// The format of what starts with these bytes, under this name, if it is a file of columns.
pub(super) fn detect_columnar(name: &str, start: &[u8]) -> Option<Format> {
    super::columnar::format_of(start).or_else(|| by_name(name).filter(|format| format.is_columnar()))
}

/// The format of what starts with these bytes, under this name.
pub(crate) fn detect(name: &str, start: &[u8]) -> Result<Format> {
    if super::idx::is_idx(start) {
        return Ok(Format::Idx);
    }
    if let Some(format) = detect_columnar(name, start) {
        return Ok(format);
    }
    refuse_what_is_no_text(name, start)?;
    let format = by_name(name).or_else(|| by_contents(start)).ok_or_else(|| {
        let error = Error::input("cannot tell the format from the name or the first line").at(name, 1, 1);
        error.hint("say which: `format = svmlight|csv|tsv|vw|idx|text|jsonl|parquet|arrow`")
    })?;
    // A label and a text with a tab between them are two columns of a table, and more than that.
    let prose = format == Format::Tsv && super::text::is_text(&String::from_utf8_lossy(start));
    Ok(if prose { Format::Text } else { format })
}

/// What files begin with that hold no rows, whatever their names.
const KINDS: [(&[u8], &str); 10] = [
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"PK\x03\x04", "a ZIP archive, or a spreadsheet"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"SQLite format 3", "a database"),
    (b"\x93NUMPY", "an array of NumPy"),
    (b"\x80\x04\x95", "a pickled object of Python"),
];

/// Refuses what is no text, and text whose lines or characters are written otherwise than as rows are.
fn refuse_what_is_no_text(name: &str, start: &[u8]) -> Result<()> {
    let fail = |what: &str, hint: &str| Err(Error::input(what).at(name, 1, 1).hint(hint));
    if let Some((_, kind)) = KINDS.iter().find(|(magic, _)| start.starts_with(magic)) {
        let hint =
            if kind.contains("spreadsheet") { "save the sheet as CSV" } else { "is this the right file?" };
        return fail(&format!("this is {kind}, not rows"), hint);
    }
    // With its mark, UTF-16 is refused where marks are read.
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return Ok(());
    }
    let head = &start[..start.len().min(512)];
    let count = |is: fn(&u8) -> bool| head.iter().filter(|byte| is(byte)).count();
    let zeros = count(|byte| *byte == 0);
    if 3 * zeros >= head.len() && head.len() > 3 {
        return fail("every other byte is zero: this is UTF-16 without its mark, or no text", FROM_UTF_16);
    }
    // Of random bytes a tenth are such characters; text has none, but for an accident.
    if 20 * count(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31)) >= head.len() && head.len() > 20 {
        return fail("this is no text: it is full of control characters", "is this the right file?");
    }
    if count(|byte| *byte == b'\r') > 1 && !start.contains(&b'\n') {
        let what = "lines end in carriage returns alone, as on old Macintoshes: it is all one line";
        return fail(what, "convert it first: tr '\\r' '\\n' < FILE");
    }
    Ok(())
}

const FROM_UTF_16: &str = "convert it first: iconv -f UTF-16LE -t UTF-8 FILE";

/// The format of a later part of a data set, if it shows that it is not that of the first one. The first
/// lines of a part are any lines of the data set, so that only what is unmistakable counts.
pub(super) fn is_another_format(name: &str, start: &[u8], first: &str, format: Format) -> Option<Format> {
    let is_text_table = |format: Format| matches!(format, Format::Csv | Format::Tsv);
    let is_document = |format: Format| matches!(format, Format::Text | Format::Tsv);
    let other = match by_name(name) {
        _ if super::idx::is_idx(start) => Format::Idx,
        _ if super::columnar::format_of(start).is_some() => super::columnar::format_of(start)?,
        Some(named) if by_name(first) == Some(named) => return None,
        Some(named) => named,
        None => by_contents(start).filter(|found| match found {
            // A document may well begin with a time of day.
            Format::Svmlight => is_text_table(format) || format == Format::Jsonl,
            Format::Jsonl => is_text_table(format) || format == Format::Svmlight,
            _ => false,
        })?,
    };
    let may_be_one =
        is_text_table(format) && is_text_table(other) || is_document(format) && is_document(other);
    (other != format && !may_be_one).then_some(other)
}

fn by_name(name: &str) -> Option<Format> {
    let mut stem = name.to_ascii_lowercase();
    for packed in [".gz", ".bz2", ".xz", ".zst"] {
        if let Some(inner) = stem.strip_suffix(packed) {
            stem = inner.to_owned();
        }
    }
    let ending = stem.rsplit(['.', '/']).next()?;
    match ending {
        "svm" | "libsvm" | "svmlight" => Some(Format::Svmlight),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "vw" => Some(Format::Vw),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "parquet" | "pq" => Some(Format::Parquet),
        "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
        _ => None,
    }
}

/// The format of the first line that is neither empty nor a comment.
fn by_contents(start: &[u8]) -> Option<Format> {
    let text = String::from_utf8_lossy(start);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let is_entry = |token: &str| {
        token.split_once(':').is_some_and(|(index, value)| {
            (index == "qid" || (!index.is_empty() && index.bytes().all(|b| b.is_ascii_digit())))
                && value.parse::<f64>().is_ok()
        })
    };
    if line.split_whitespace().nth(1).is_some_and(is_entry) && !line.contains('|') {
        return Some(Format::Svmlight);
    }
    let has = |separator: char| line.contains(separator);
    match () {
        _ if line.starts_with(super::text::FASTTEXT) => Some(Format::Text),
        _ if line.starts_with('{') && line.ends_with('}') && has('"') => Some(Format::Jsonl),
        _ if has('\t') => Some(Format::Tsv),
        _ if has('|') && !line.split('|').next().unwrap_or_default().contains([',', ';']) => Some(Format::Vw),
        _ if has(',') || has(';') => Some(Format::Csv),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_name_first_and_contents_second() {
        let detected = |name: &str, start: &str| detect(name, start.as_bytes()).ok();
        assert_eq!(detected("a9a.t.svm.xz", ""), Some(Format::Svmlight));
        assert_eq!(detected("x.csv.gz", "1 1:2"), Some(Format::Csv));
        assert_eq!(detected("-", "# c\n\n-1 3:1 11:0.5\n"), Some(Format::Svmlight));
        assert_eq!(detected("-", "1 qid:3 1:2\n"), Some(Format::Svmlight));
        assert_eq!(detected("-", "1 0.5 'tag|f a b:2\n"), Some(Format::Vw));
        assert_eq!(detected("-", "a,b|c,d\n"), Some(Format::Csv));
        assert_eq!(detected("-", "a\tb\n"), Some(Format::Tsv));
        assert_eq!(
            detected("mail.tsv", "ham\tsee you at five then\nspam\tyou won a prize, call now\n"),
            Some(Format::Text)
        );
        assert_eq!(detected("-", "ham\tsee you at five then\nspam\tyou won a pri"), Some(Format::Text));
        assert_eq!(detected("-", &"spam\tfree money now\n".repeat(3)), Some(Format::Text));
        assert_eq!(detected("x.tsv", "y\tage\n1\t17\n0\t18\n"), Some(Format::Tsv));
        assert_eq!(detected("x.tsv", "a b c d\te f g h\ti j k l\n"), Some(Format::Tsv));
        assert_eq!(detected("-", "__label__ham see you\n__label__spam call now\n"), Some(Format::Text));
        assert_eq!(detected("-", "{\"label\": 1, \"text\": \"a\"}\n"), Some(Format::Jsonl));
        assert_eq!(detected("data", "hello\n"), None);
        assert_eq!(detected("data.csv", "PAR1"), Some(Format::Parquet));
        assert_eq!(detected("data.feather", "ARROW1\0\0"), Some(Format::Arrow));
        assert_eq!(detect("-", &[0xff, 0xff, 0xff, 0xff, 8, 1, 0, 0]).ok(), Some(Format::Arrow));
        assert_eq!(detect("train-images", &[0, 0, 8, 3, 0, 0]).ok(), Some(Format::Idx));
    }

    #[test]
    fn what_is_no_text_is_said_to_be_none_whatever_its_name() {
        let refused = |start: &[u8]| detect("rows.csv", start).map_err(|error| error.what().to_owned());
        let utf_16: Vec<u8> = "a,b,label\n1,2,x\n".bytes().flat_map(|byte| [byte, 0]).collect();
        let noise: Vec<u8> = (0..400u32).map(|i| (i * i * 31 % 251) as u8).collect();
        for (start, what) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "this is a PNG image, not rows"),
            (b"PK\x03\x04..", "this is a ZIP archive, or a spreadsheet, not rows"),
            (&utf_16, "every other byte is zero: this is UTF-16 without its mark, or no text"),
            (&noise, "this is no text: it is full of control characters"),
            (b"a,b\r1,2\r", "lines end in carriage returns alone, as on old Macintoshes: it is all one line"),
        ] {
            assert_eq!(refused(start), Err(what.to_owned()));
        }
        for text in ["a,b\r\n1,2\r\n", "a,b\n\u{1b}[31m,2\n", "a,\u{0}b\n1,2\n", "a\rb,c"] {
            assert_eq!(refused(text.as_bytes()), Ok(Format::Csv), "{text:?}");
        }
    }
}
