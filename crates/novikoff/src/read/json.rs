//! Documents as JSON lines: an object a line, `{"label": "spam", "text": "…"}`.

use super::bag::{Bag, BagBuilder};
use super::parsed_rows::{CONVERT, Labelling, ParsedRows, RowError};
use super::pipeline::{Parser, Scratch};
use super::source::Cut;
use super::svmlight::Fault;
use super::table::is_label_name;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A parser of JSON lines.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// What becomes of the documents.
    pub bag: Bag,
    /// What to do about labels.
    pub labelling: Labelling,
    /// The key of the label; none: one called label, target, class or y.
    pub label: Option<String>,
    /// The keys of the texts; none: the one called `text`.
    pub texts: Vec<String>,
}

/// The key of the text where nobody says another.
const TEXT: &str = "text";

impl Parser for Json {
    fn cut(&self) -> Cut {
        Cut::Line
    }

    fn parse(&self, block: &[u8], _: u64, rows: &mut ParsedRows, scratch: &mut Scratch) {
        let mut bag = self.bag.open(scratch);
        let prefixes = prefixes(&self.texts);
        let mut at = 0;
        for number in 0.. {
            if at >= block.len() {
                break;
            }
            let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |newline| at + newline);
            if let Err((place, what, hint)) = self.line(&block[at..end], &prefixes, &mut bag, rows)
                && !rows.reject(RowError { line: number, column: place + 1, what, hint })
            {
                return;
            }
            at = end + 1;
        }
        bag.close(scratch);
    }
}

/// What stands before the terms of each text: its name, if there are several.
pub(super) fn prefixes(texts: &[String]) -> Vec<String> {
    texts.iter().map(|name| if texts.len() > 1 { format!("{name}:") } else { String::new() }).collect()
}

impl Json {
    fn line(
        &self,
        line: &[u8],
        prefixes: &[String],
        bag: &mut BagBuilder<'_>,
        rows: &mut ParsedRows,
    ) -> Result<(), Fault> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let line = std::str::from_utf8(line)
            .map_err(|e| (e.valid_up_to(), "the row is not UTF-8".into(), Some(CONVERT.into())))?;
        let mut parser = serde_json::Deserializer::from_str(line);
        let fields =
            parser.deserialize_map(FieldsVisitor(self)).and_then(|fields| parser.end().map(|()| fields));
        let fields =
            fields.map_err(|e| (e.column().saturating_sub(1), without_place(&e), Some(FORM.into())))?;
        let missing = |what: String| (0, what, Some(FORM.to_owned()));
        for (key, text) in self.keys().zip(&fields.texts) {
            if text.is_none() {
                return Err(missing(format!("there is no {key:?} with a text")));
            }
        }
        if !matches!(self.labelling, Labelling::Ignored) {
            let label = fields.label.ok_or_else(|| missing(format!("there is no {}", self.label_name())))?;
            let label = label.trim();
            if label.is_empty() {
                return Err(missing("the label is empty".into()));
            }
            rows.set_label(&self.labelling, label.as_bytes()).map_err(|(what, hint)| (0, what, hint))?;
        }
        for (at, text) in fields.texts.iter().enumerate() {
            bag.add(text.as_deref().unwrap_or_default(), prefixes.get(at).map_or("", String::as_str), rows);
        }
        bag.write_row(rows);
        rows.end_row();
        Ok(())
    }

    fn label_name(&self) -> String {
        self.label.as_ref().map_or_else(|| "\"label\"".to_owned(), |name| format!("{name:?}"))
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        let named = self.texts.iter().map(String::as_str);
        named.chain(self.texts.is_empty().then_some(TEXT))
    }

    fn is_label(&self, key: &str) -> bool {
        self.label.as_ref().map_or_else(|| is_label_name(key), |label| label == key)
    }
}

const FORM: &str = "a line is an object like {\"label\": \"spam\", \"text\": \"…\"}; \
                    other keys are named by `label` and `text`";

/// What the parser of JSON complains about, without the place, which the message has already.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or_default();
    format!("this is not the JSON that was expected: {what}")
}

/// The label and the texts of a line.
struct Fields<'a> {
    label: Option<Cow<'a, str>>,
    texts: Vec<Option<Cow<'a, str>>>,
}

/// Reads the fields that a parser needs.
struct FieldsVisitor<'j>(&'j Json);

impl<'de> Visitor<'de> for FieldsVisitor<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let Self(json) = self;
        let mut fields = Fields { label: None, texts: json.keys().map(|_| None).collect() };
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if let Some(at) = json.keys().position(|text| text == key) {
                if fields.texts[at].is_some() {
                    return Err(A::Error::custom(format!("{key:?} comes twice")));
                }
                fields.texts[at] = Some(map.next_value::<Plain<'de>>()?.0);
            } else if json.is_label(&key) && !matches!(json.labelling, Labelling::Ignored) {
                if fields.label.is_some() {
                    return Err(A::Error::custom(format!("there are two labels, and {key:?} is the second")));
                }
                fields.label = Some(map.next_value::<Plain<'de>>()?.0);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

/// A string, a number or a truth value as it is spelled.
struct Plain<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Plain<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spelled;
        impl<'de> Visitor<'de> for Spelled {
            type Value = Plain<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a number")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Owned(text.to_owned())))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Owned(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Owned(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Owned(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Plain<'de>, E> {
                Ok(Plain(Cow::Owned(value.to_string())))
            }
        }
        deserializer.deserialize_any(Spelled)
    }
}
