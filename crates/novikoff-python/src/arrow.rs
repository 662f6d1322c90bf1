//! Streams of Arrow's C interface, as `__arrow_c_stream__` hands them over: the one place with unsafe code.
//!
//! Two things are believed of a capsule, as its protocol says: one of the name `arrow_array_stream` points to
//! an `ArrowArrayStream`, and what its callbacks hand out lives until it is released. Nothing is believed of
//! the contents: lengths, offsets and keys are checked before a value is looked at.
#![expect(unsafe_code, reason = "the C interface hands over a pointer")]

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name of capsules with a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Takes all batches of an object that has `__arrow_c_stream__`.
pub(crate) fn batches(frame: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast_into::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("`__arrow_c_stream__` is to return a capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: the capsule is alive and has the name of a stream, so that its pointer is aligned and points to
    // one that nobody else uses while this thread holds Python's lock. `from_raw` moves it out and leaves a
    // released stream behind, which the capsule's destructor passes over.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let reader = RecordBatchStreamReader::try_new(stream).map_err(refused)?;
    let schema = reader.schema();
    let batches = reader.map(|batch| batch.and_then(checked)).collect::<Result<_, _>>().map_err(refused)?;
    Ok((schema, batches))
}

/// A batch whose buffers are what they should be.
fn checked(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    batch.columns().iter().try_for_each(|column| column.to_data().validate_full())?;
    Ok(batch)
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the columns cannot be read: {error}"))
}
