//! Frames as columns of Arrow's: the one place where columns of Python become columns of the library.

use crate::arrow;
use crate::reading::PAUSE;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int8Array, Int32Array, LargeStringArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use novikoff::read::{Header, Input};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use std::sync::Arc;

/// Columns in memory.
#[pyclass(frozen, name = "Table", module = "novikoff._novikoff")]
pub(crate) struct PyTable {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
    header: Header,
}

#[pymethods]
impl PyTable {
    /// The columns of an object that has `__arrow_c_stream__`.
    #[staticmethod]
    fn from_stream(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, batches) = arrow::batches(frame)?;
        Ok(Self { schema, batches: batches.into(), header: Header::Present })
    }

    /// Columns of these names: arrays, lists of objects, or tuples that begin with a kind (see `column`).
    /// Without names they go by their numbers from 1.
    #[staticmethod]
    fn from_columns(names: Option<Vec<String>>, columns: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let header = if names.is_some() { Header::Present } else { Header::Absent };
        let names = names.unwrap_or_else(|| (1..=columns.len()).map(|number| number.to_string()).collect());
        if names.len() != columns.len() {
            return Err(PyValueError::new_err(format!(
                "{} names for {} columns",
                names.len(),
                columns.len()
            )));
        }
        let arrays = columns.iter().zip(&names).map(|(own, name)| column(own, name));
        let arrays: Vec<ArrayRef> = arrays.collect::<PyResult<_>>()?;
        let schema = schema_of(&names, &arrays);
        let rows = arrays.first().map_or(0, Array::len);
        let batches = batch(&schema, arrays, rows)?;
        Ok(Self { schema, batches: vec![batches].into(), header })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Whether all columns hold numbers.
    #[getter]
    fn is_numeric(&self) -> bool {
        self.schema.fields().iter().all(|field| field.data_type().is_numeric())
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The values of a column as labels or weights: an array of numbers or truth values, or a list of texts.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let at = self.schema.index_of(name).map_err(|_| {
            PyValueError::new_err(format!("there is no column {name:?}; the columns are {:?}", self.names()))
        })?;
        let columns: Vec<ArrayRef> = self.batches.iter().map(|batch| batch.column(at).clone()).collect();
        let mut row = 0;
        for column in &columns {
            let nulls = column.logical_nulls();
            if let Some(null) = nulls.and_then(|nulls| nulls.iter().position(|is_there| !is_there)) {
                let what = format!("column {name:?} has no value in row {}", row + null + 1);
                return Err(PyValueError::new_err(what));
            }
            row += column.len();
        }
        values(py, self.schema.field(at).data_type(), &columns)?
            .ok_or_else(|| PyTypeError::new_err(format!("column {name:?} holds neither labels nor numbers")))
    }
}

impl PyTable {
    /// The columns as an input to read. A column of labels, if it is asked for, takes the place of the one of
    /// this name, or comes behind all others. It holds targets; without, it says nothing, for classes come by a
    /// way of their own.
    pub(crate) fn input(&self, label: Option<&str>, targets: Option<&Bound<'_, PyAny>>) -> PyResult<Input> {
        let (mut schema, mut batches) = (self.schema.clone(), self.batches.clone());
        if let Some(label) = label {
            let labels: ArrayRef = match targets {
                Some(targets) => column(targets, label)?,
                None => Arc::new(Int8Array::from(vec![0; self.__len__()])),
            };
            if labels.len() != self.__len__() {
                let what = format!("{} targets for {} rows", labels.len(), self.__len__());
                return Err(PyValueError::new_err(what));
            }
            let ends = batches.iter().scan(0, |end, batch| {
                *end += batch.num_rows();
                Some((batch, *end - batch.num_rows()))
            });
            let labelled =
                ends.map(|(batch, at)| with_label(batch, label, labels.slice(at, batch.num_rows())));
            batches = labelled.collect::<PyResult<Vec<_>>>()?.into();
            schema = batches.first().map_or(schema, RecordBatch::schema);
        }
        Ok(Input::Columns { name: "X".into(), schema, batches, header: self.header })
    }
}

fn with_label(batch: &RecordBatch, label: &str, labels: ArrayRef) -> PyResult<RecordBatch> {
    let schema = batch.schema();
    let mut names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let (mut columns, rows) = (batch.columns().to_vec(), batch.num_rows());
    match names.iter().position(|name| name == label) {
        Some(at) => columns[at] = labels,
        None => {
            names.push(label.to_owned());
            columns.push(labels);
        }
    }
    self::batch(&schema_of(&names, &columns), columns, rows)
}

fn schema_of(names: &[String], columns: &[ArrayRef]) -> SchemaRef {
    let fields = names.iter().zip(columns);
    let fields = fields.map(|(name, column)| Field::new(name, column.data_type().clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> PyResult<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|error| PyValueError::new_err(format!("the columns do not fit together: {error}")))
}

/// A column: an array of numbers or truth values; a list of objects; `("masked", array, missing)`;
/// `("moments", array, unit)` with the numbers of `datetime64`; `("categories", codes, column)`.
fn column(object: &Bound<'_, PyAny>, name: &str) -> PyResult<ArrayRef> {
    if let Ok(list) = object.cast::<PyList>() {
        return objects(list, name);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let kind: String = tuple.get_item(0)?.extract()?;
        return match kind.as_str() {
            "masked" => array(&tuple.get_item(1)?, Some(&tuple.get_item(2)?.extract()?), name),
            "moments" => moments(&tuple.get_item(1)?, &tuple.get_item(2)?.extract::<String>()?, name),
            _ => categories(tuple, name),
        };
    }
    array(object, None, name)
}

/// Which values are missing.
type Mask<'py> = PyReadonlyArray1<'py, bool>;

fn array(object: &Bound<'_, PyAny>, mask: Option<&Mask<'_>>, name: &str) -> PyResult<ArrayRef> {
    let found = primitive::<Float64Type>(object, mask)
        .or_else(|| primitive::<Int64Type>(object, mask))
        .or_else(|| primitive::<Float32Type>(object, mask))
        .or_else(|| primitive::<Int32Type>(object, mask))
        .or_else(|| primitive::<Int16Type>(object, mask))
        .or_else(|| primitive::<Int8Type>(object, mask))
        .or_else(|| primitive::<UInt64Type>(object, mask))
        .or_else(|| primitive::<UInt32Type>(object, mask))
        .or_else(|| primitive::<UInt16Type>(object, mask))
        .or_else(|| primitive::<UInt8Type>(object, mask))
        .or_else(|| truths(object, mask));
    found.ok_or_else(|| PyTypeError::new_err(format!("column {name:?} is no array that can be read")))
}

/// The values of an array of this type, with those that are missing.
fn given<T: Element + Copy>(object: &Bound<'_, PyAny>, mask: Option<&Mask<'_>>) -> Option<Vec<Option<T>>> {
    let array = object.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?;
    let values = array.as_array();
    Some(match mask {
        None => values.iter().copied().map(Some).collect(),
        Some(mask) => {
            let mask = mask.as_array();
            values.iter().zip(mask.iter()).map(|(value, missing)| (!missing).then_some(*value)).collect()
        }
    })
}

fn primitive<T: ArrowPrimitiveType<Native: Element + Copy>>(
    object: &Bound<'_, PyAny>,
    mask: Option<&Mask<'_>>,
) -> Option<ArrayRef> {
    let values = given::<T::Native>(object, mask)?;
    Some(Arc::new(values.into_iter().collect::<PrimitiveArray<T>>()))
}

/// Truth values, spelled as pandas and NumPy write them.
fn truths(object: &Bound<'_, PyAny>, mask: Option<&Mask<'_>>) -> Option<ArrayRef> {
    let spell = |truth: bool| if truth { "True" } else { "False" };
    let values = given::<bool>(object, mask)?;
    Some(Arc::new(values.into_iter().map(|value| value.map(spell)).collect::<LargeStringArray>()))
}

/// Dates with times, of which the smallest number is none.
fn moments(object: &Bound<'_, PyAny>, unit: &str, name: &str) -> PyResult<ArrayRef> {
    let refused = || PyTypeError::new_err(format!("column {name:?} holds times that cannot be read"));
    let values: Vec<Option<i64>> = given(object, None).ok_or_else(refused)?;
    let values = values.into_iter().map(|value| value.filter(|value| *value != i64::MIN));
    Ok(match unit {
        "s" => Arc::new(values.collect::<PrimitiveArray<TimestampSecondType>>()),
        "ms" => Arc::new(values.collect::<PrimitiveArray<TimestampMillisecondType>>()),
        "us" => Arc::new(values.collect::<PrimitiveArray<TimestampMicrosecondType>>()),
        "ns" => Arc::new(values.collect::<PrimitiveArray<TimestampNanosecondType>>()),
        _ => return Err(refused()),
    })
}

/// Codes of categories, of which a negative one is none.
fn categories(tuple: &Bound<'_, PyTuple>, name: &str) -> PyResult<ArrayRef> {
    let codes: PyReadonlyArray1<'_, i64> = tuple.get_item(1)?.extract()?;
    let values = column(&tuple.get_item(2)?, name)?;
    let keys: Int32Array =
        codes.as_array().iter().map(|&code| i32::try_from(code).ok().filter(|c| *c >= 0)).collect();
    let array = DictionaryArray::<Int32Type>::try_new(keys, values)
        .map_err(|error| PyValueError::new_err(format!("column {name:?} is damaged: {error}")))?;
    Ok(Arc::new(array))
}

/// Objects as texts. `None`, NaN, `NA` and `NaT` are no values.
fn objects(list: &Bound<'_, PyList>, name: &str) -> PyResult<ArrayRef> {
    let texts = list.iter().enumerate().map(|(i, object)| spelled(&object, name, i));
    Ok(Arc::new(texts.collect::<PyResult<LargeStringArray>>()?))
}

/// What an object is written as, as Python spells it.
fn spelled(object: &Bound<'_, PyAny>, name: &str, row: usize) -> PyResult<Option<String>> {
    let at = || format!("row {} of column {name:?}", row + 1);
    if row.is_multiple_of(PAUSE) {
        object.py().check_signals()?;
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(text.to_str()?.to_owned()));
    }
    if object.is_none() {
        return Ok(None);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let text = std::str::from_utf8(bytes.as_bytes());
        let text = text.map_err(|_| PyValueError::new_err(format!("{} is no UTF-8", at())))?;
        return Ok(Some(text.to_owned()));
    }
    if matches!(object.get_type().name()?.to_str()?, "NAType" | "NaTType") {
        return Ok(None);
    }
    // Strings are values, other collections are not.
    if object.hasattr("__iter__")? {
        let kind = object.get_type().name()?;
        let what = format!("{} is a {kind}: the argument must be a string or a number", at());
        return Err(PyTypeError::new_err(what));
    }
    let text = object.str()?.to_str()?.to_owned();
    Ok((text != "nan").then_some(text))
}

/// The values of a column without nulls, if they are of a kind that labels or weights can be.
fn values<'py>(
    py: Python<'py>,
    kind: &DataType,
    columns: &[ArrayRef],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    use DataType as T;
    Ok(Some(match kind {
        T::Int8 => numbers::<Int8Type>(py, columns),
        T::Int16 => numbers::<Int16Type>(py, columns),
        T::Int32 => numbers::<Int32Type>(py, columns),
        T::Int64 => numbers::<Int64Type>(py, columns),
        T::UInt8 => numbers::<UInt8Type>(py, columns),
        T::UInt16 => numbers::<UInt16Type>(py, columns),
        T::UInt32 => numbers::<UInt32Type>(py, columns),
        T::UInt64 => numbers::<UInt64Type>(py, columns),
        T::Float32 => numbers::<Float32Type>(py, columns),
        T::Float64 => numbers::<Float64Type>(py, columns),
        T::Boolean => {
            let all = columns.iter().flat_map(|column| column.as_boolean().values().iter());
            PyArray1::from_vec(py, all.collect::<Vec<bool>>()).into_any()
        }
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Dictionary(..) => {
            let mut all = Vec::new();
            for column in columns {
                if !push_texts(column, &mut all) {
                    return Ok(None);
                }
            }
            PyList::new(py, all)?.into_any()
        }
        _ => return Ok(None),
    }))
}

fn numbers<'py, T: ArrowPrimitiveType<Native: Element>>(
    py: Python<'py>,
    columns: &[ArrayRef],
) -> Bound<'py, PyAny> {
    let all = columns.iter().flat_map(|column| column.as_primitive::<T>().values().iter().copied());
    PyArray1::from_vec(py, all.collect()).into_any()
}

/// Adds the texts of a column; whether it has some.
fn push_texts(column: &ArrayRef, all: &mut Vec<String>) -> bool {
    match column.data_type() {
        DataType::Utf8 => all.extend(column.as_string::<i32>().iter().flatten().map(str::to_owned)),
        DataType::LargeUtf8 => all.extend(column.as_string::<i64>().iter().flatten().map(str::to_owned)),
        DataType::Utf8View => all.extend(column.as_string_view().iter().flatten().map(str::to_owned)),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let mut words = Vec::new();
            if dictionary.values().null_count() > 0 || !push_texts(dictionary.values(), &mut words) {
                return false;
            }
            all.extend(dictionary.normalized_keys().into_iter().map(|key| words[key].clone()));
        }
        _ => return false,
    }
    true
}
