//! Cells of columns as the fields of a table's text.

use super::DELIMITER;
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use std::io::Write;

/// Writes a cell of a column, which is not null.
type WriteCell = Box<dyn Fn(usize, &mut Vec<u8>) + Send>;

/// A column of a batch, ready to be written cell by cell.
pub(super) struct Cells {
    array: ArrayRef,
    write: WriteCell,
}

impl Cells {
    /// A column of this type, which must be [one that can be read](check).
    pub(super) fn of(array: &ArrayRef) -> Self {
        Self { array: array.clone(), write: writer(array) }
    }

    /// Adds cell `i`; a null is an empty field.
    #[inline]
    pub(super) fn push(&self, i: usize, text: &mut Vec<u8>) {
        if !self.array.is_null(i) {
            (self.write)(i, text);
        }
    }
}

/// Refuses a type whose values are not single ones.
pub(super) fn check(name: &str, kind: &DataType) -> Result<()> {
    let what = match kind {
        DataType::Dictionary(_, values) => return check(name, values),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "lists",
        DataType::ListView(_) | DataType::LargeListView(_) => "lists",
        DataType::Struct(_) => "structures",
        DataType::Map(..) => "maps",
        DataType::Union(..) => "unions",
        DataType::RunEndEncoded(..) => "runs",
        DataType::Duration(_) | DataType::Interval(_) => {
            let error = Error::input(format!("column {name:?} holds durations"));
            return Err(error.hint(format!("write them as numbers, or leave them out: `drop = {name}`")));
        }
        _ => return Ok(()),
    };
    let error = Error::input(format!("column {name:?} holds {what}, and a cell of a table is one value"));
    Err(error.hint(format!("leave it out: `drop = {name}`; or make columns of its parts")))
}

/// What writes the cells of an array.
fn writer(array: &ArrayRef) -> WriteCell {
    use DataType as T;
    let own = array.clone();
    match array.data_type() {
        T::Boolean => {
            let flags = own.as_boolean().clone();
            Box::new(move |i, text| text.extend_from_slice(if flags.value(i) { b"true" } else { b"false" }))
        }
        T::Int8 => integers::<Int8Type>(&own),
        T::Int16 => integers::<Int16Type>(&own),
        T::Int32 => integers::<Int32Type>(&own),
        T::Int64 => integers::<Int64Type>(&own),
        T::UInt8 => integers::<UInt8Type>(&own),
        T::UInt16 => integers::<UInt16Type>(&own),
        T::UInt32 => integers::<UInt32Type>(&own),
        T::UInt64 => integers::<UInt64Type>(&own),
        T::Float16 => floats::<Float16Type>(&own, |value| value.to_f64()),
        T::Float32 => floats::<Float32Type>(&own, f64::from),
        T::Float64 => floats::<Float64Type>(&own, |value| value),
        T::Decimal32(..) => {
            strings(own.as_primitive::<Decimal32Type>().clone(), |it, i| it.value_as_string(i))
        }
        T::Decimal64(..) => {
            strings(own.as_primitive::<Decimal64Type>().clone(), |it, i| it.value_as_string(i))
        }
        T::Decimal128(..) => {
            strings(own.as_primitive::<Decimal128Type>().clone(), |it, i| it.value_as_string(i))
        }
        T::Decimal256(..) => {
            strings(own.as_primitive::<Decimal256Type>().clone(), |it, i| it.value_as_string(i))
        }
        T::Utf8 => bytes(own.as_string::<i32>().clone(), |it, i| it.value(i).as_bytes()),
        T::LargeUtf8 => bytes(own.as_string::<i64>().clone(), |it, i| it.value(i).as_bytes()),
        T::Utf8View => bytes(own.as_string_view().clone(), |it, i| it.value(i).as_bytes()),
        T::Binary => bytes(own.as_binary::<i32>().clone(), |it, i| it.value(i)),
        T::LargeBinary => bytes(own.as_binary::<i64>().clone(), |it, i| it.value(i)),
        T::BinaryView => bytes(own.as_binary_view().clone(), |it, i| it.value(i)),
        T::FixedSizeBinary(_) => bytes(own.as_fixed_size_binary().clone(), |it, i| it.value(i)),
        T::Dictionary(..) => entries(&own),
        kind => times(&own, kind),
    }
}

/// What writes dates and times of day.
fn times(array: &ArrayRef, kind: &DataType) -> WriteCell {
    match kind {
        DataType::Date32 => dates::<Date32Type>(array),
        DataType::Date64 => dates::<Date64Type>(array),
        DataType::Time32(TimeUnit::Second) => hours::<Time32SecondType>(array),
        DataType::Time32(_) => hours::<Time32MillisecondType>(array),
        DataType::Time64(TimeUnit::Microsecond) => hours::<Time64MicrosecondType>(array),
        DataType::Time64(_) => hours::<Time64NanosecondType>(array),
        DataType::Timestamp(TimeUnit::Second, _) => moments::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moments::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => moments::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moments::<TimestampNanosecondType>(array),
        // All that is null.
        _ => Box::new(|_, _| {}),
    }
}

/// Whole numbers, digit by digit.
fn integers<T: ArrowPrimitiveType<Native: itoa::Integer + Send>>(array: &ArrayRef) -> WriteCell {
    let values = array.as_primitive::<T>().values().clone();
    Box::new(move |i, text| text.extend_from_slice(itoa::Buffer::new().format(values[i]).as_bytes()))
}

/// Numbers in the shortest spelling that means the same double.
fn floats<T: ArrowPrimitiveType>(array: &ArrayRef, double: fn(T::Native) -> f64) -> WriteCell {
    let values = array.as_primitive::<T>().values().clone();
    Box::new(move |i, text| {
        let value = double(values[i]);
        if value.is_finite() {
            text.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        } else {
            text.extend_from_slice(if value.is_nan() { b"nan" } else { b"inf" });
        }
    })
}

/// What has a text of its own.
fn strings<A: Send + 'static>(array: A, spell: fn(&A, usize) -> String) -> WriteCell {
    Box::new(move |i, text| text.extend_from_slice(spell(&array, i).as_bytes()))
}

/// Texts, in quotes where they need them.
fn bytes<A: Send + 'static>(array: A, value: fn(&A, usize) -> &[u8]) -> WriteCell {
    Box::new(move |i, text| push_field(value(&array, i), text))
}

/// A text as a field. Spaces around it stay outside of quotes, as in the files that other programs write.
fn push_field(value: &[u8], text: &mut Vec<u8>) {
    let needs_quotes = |byte: &u8| matches!(*byte, b'"' | b'\n' | b'\r' | DELIMITER);
    if !value.iter().any(needs_quotes) {
        text.extend_from_slice(value);
        return;
    }
    text.push(b'"');
    for part in value.split_inclusive(|byte| *byte == b'"') {
        text.extend_from_slice(part);
        if part.ends_with(b"\"") {
            text.push(b'"');
        }
    }
    text.push(b'"');
}

/// Entries of a dictionary.
fn entries(array: &ArrayRef) -> WriteCell {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return Box::new(|_, _| {});
    }
    let (keys, values) = (dictionary.normalized_keys(), Cells::of(dictionary.values()));
    Box::new(move |i, text| values.push(keys[i], text))
}

fn dates<T: ArrowTemporalType>(array: &ArrayRef) -> WriteCell
where
    i64: From<T::Native>,
{
    written(array.as_primitive::<T>().clone(), PrimitiveArray::value_as_date)
}

fn hours<T: ArrowTemporalType>(array: &ArrayRef) -> WriteCell
where
    i64: From<T::Native>,
{
    written(array.as_primitive::<T>().clone(), PrimitiveArray::value_as_time)
}

fn moments<T: ArrowTemporalType>(array: &ArrayRef) -> WriteCell
where
    i64: From<T::Native>,
{
    written(array.as_primitive::<T>().clone(), PrimitiveArray::value_as_datetime)
}

/// Dates and times; beyond what the calendar holds they are missing.
fn written<T: ArrowPrimitiveType, V: std::fmt::Display + 'static>(
    array: PrimitiveArray<T>,
    value: fn(&PrimitiveArray<T>, usize) -> Option<V>,
) -> WriteCell {
    Box::new(move |i, text| {
        if let Some(value) = value(&array, i) {
            // Writing to memory does not fail.
            let _ = write!(text, "{value}");
        }
    })
}

/// The names of columns as the first line of a text.
pub(super) fn push_names(names: &[String], text: &mut Vec<u8>) {
    let start = text.len();
    for (j, name) in names.iter().enumerate() {
        if j > 0 {
            text.push(DELIMITER);
        }
        push_field(name.as_bytes(), text);
    }
    end_line(start, text);
}

/// Ends the line that begins at `start`. One without anything would not be a record.
pub(super) fn end_line(start: usize, text: &mut Vec<u8>) {
    if text[start..].iter().all(u8::is_ascii_whitespace) {
        text.truncate(start);
        text.extend_from_slice(b"\"\"");
    }
    text.push(b'\n');
}
