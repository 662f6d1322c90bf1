"""Frames as the engine's tables: pandas, Arrow's streams (polars, pyarrow, duckdb), columns by name."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from . import _novikoff

Column = Any


def is_frame(X: Any) -> bool:
    """Whether X has columns with names."""
    if sparse.issparse(X):
        return False
    if _is_pandas(X) or isinstance(X, Mapping) or hasattr(X, "__arrow_c_stream__"):
        return True
    return isinstance(X, np.ndarray) and X.dtype.names is not None


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def names_of(names: Iterable[Any]) -> list[str]:
    """Names of columns as the engine has them; numbers and tuples as they are written."""
    return [str(name) for name in names]


def table_of(X: Any) -> _novikoff.Table:
    """The columns of a frame.

    Parameters
    ----------
    X : frame
        A pandas frame, an object with ``__arrow_c_stream__``, a mapping of names to columns, or a structured
        array.

    Returns
    -------
    Table
        Its columns.
    """
    if _is_pandas(X):
        columns = [_of_series(X.iloc[:, j]) for j in range(X.shape[1])]
        return _novikoff.Table.from_columns(names_of(X.columns), columns)
    if isinstance(X, Mapping):
        return _novikoff.Table.from_columns(names_of(X), [_of_any(column) for column in X.values()])
    if isinstance(X, np.ndarray):
        names = X.dtype.names or ()
        return _novikoff.Table.from_columns(list(names), [_of_array(np.ravel(X[name])) for name in names])
    return _novikoff.Table.from_stream(X)


def table_of_array(X: np.ndarray, names: list[str] | None) -> _novikoff.Table:
    """The columns of a two-dimensional array."""
    return _novikoff.Table.from_columns(names, [_of_array(X[:, j]) for j in range(X.shape[1])])


def _of_any(column: Any) -> Column:
    """A column of a mapping."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(column, (pandas.Series, pandas.Index)):
        return _of_series(pandas.Series(column))
    if pandas is not None and isinstance(column, pandas.Categorical):
        return _of_series(pandas.Series(column))
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise ValueError(f"a column is an array of one dimension, not of {column.ndim}")
        return _of_array(column)
    if hasattr(column, "to_numpy"):
        return _of_array(column.to_numpy())
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise TypeError(f"a column is a sequence of values, not {type(column).__name__}")
    return list(column)


def _of_array(values: np.ndarray) -> Column:
    """A one-dimensional array as what the engine takes."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ascontiguousarray(np.ma.getmaskarray(values))
        if values.dtype.kind in "fiub":
            return ("masked", _plain(values.data), mask)
        return [
            None if missing else value
            for value, missing in zip(values.data.tolist(), mask.tolist(), strict=False)
        ]
    kind = values.dtype.kind
    if kind in "fiub":
        return _plain(values)
    if kind == "M":
        return _of_moments(values)
    if kind == "m":
        raise ValueError("a column holds durations: write them as numbers, or leave them out")
    if kind == "c":
        raise ValueError("Complex data not supported")
    return values.tolist()


def _plain(values: np.ndarray) -> np.ndarray:
    """Numbers in the byte order of the machine, of a size that the engine knows."""
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float64 if values.dtype.itemsize > 8 else np.float32)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _of_moments(values: np.ndarray) -> Column:
    unit, count = np.datetime_data(values.dtype)
    if unit not in ("s", "ms", "us", "ns") or count != 1:
        values, unit = values.astype("datetime64[us]" if unit in ("ms", "us") else "datetime64[s]"), "s"
        unit = np.datetime_data(values.dtype)[0]
    native = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    return ("moments", np.ascontiguousarray(native).view(np.int64), unit)


def _of_series(column: Any) -> Column:
    """A column of pandas, without pyarrow."""
    import pandas
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return _of_array(column.to_numpy())
    if isinstance(dtype, pandas.CategoricalDtype):
        codes = np.ascontiguousarray(column.cat.codes.to_numpy(), dtype=np.int64)
        return ("categories", codes, _of_series(pandas.Series(column.cat.categories)))
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return _of_array(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, pandas.SparseDtype):
        return _of_series(column.sparse.to_dense())
    if types.is_bool_dtype(dtype):
        return ("masked", column.to_numpy(dtype=bool, na_value=False), column.isna().to_numpy(dtype=bool))
    if types.is_integer_dtype(dtype):
        whole = np.uint64 if types.is_unsigned_integer_dtype(dtype) else np.int64
        return ("masked", column.to_numpy(dtype=whole, na_value=0), column.isna().to_numpy(dtype=bool))
    if types.is_float_dtype(dtype):
        return _of_array(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return column.to_numpy(dtype=object, na_value=None).tolist()


def column_of(X: Any, table: _novikoff.Table, name: str) -> np.ndarray:
    """The values of a column of a frame, as labels, targets or weights."""
    at = table.names.index(name) if name in table.names else None
    if at is not None and _is_pandas(X):
        return np.asarray(X.iloc[:, at])
    if at is not None and isinstance(X, Mapping):
        return np.asarray(list(X.values())[at])
    if at is not None and isinstance(X, np.ndarray):
        return X[name]
    return np.asarray(table.values(name))


def row_of(row: Any) -> Any:
    """A row as a frame: that of a mapping or of a pandas Series has the names of columns in it."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(row, pandas.Series):
        row = dict(row.items())
    if isinstance(row, Mapping):
        return {name: [value] if _is_single(value) else value for name, value in row.items()}
    if isinstance(row, np.void):
        return np.array([row], dtype=row.dtype)
    if is_frame(row):
        return row
    return np.atleast_2d(np.asarray(row))


def _is_single(value: Any) -> bool:
    return isinstance(value, (str, bytes)) or not isinstance(value, Iterable)
