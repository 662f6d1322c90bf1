"""Rows, labels and weights as the engine takes them: the one place where Python's arrays are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from . import _novikoff

FLOATS = (np.float64, np.float32)


def label_name(label: Any) -> str:
    """A class as a name in a model, where whole numbers have no point."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def label_names(classes: np.ndarray) -> list[str]:
    """The classes as names in a model."""
    return [label_name(label) for label in classes.tolist()]


def refuse_damaged(X: Any) -> None:
    """Raises a ValueError for sparse rows with wrong indices, before SciPy follows them."""
    is_sparse: bool = sparse.issparse(X)
    if is_sparse and X.format == "csr" and X.dtype in FLOATS:
        _novikoff.check_rows(X)


def rows_of(X: Any) -> Any:
    """Rows as a C-contiguous array or a CSR matrix of floating-point numbers."""
    refuse_damaged(X)
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        X = X.tocsr()
        return X if X.dtype in FLOATS else X.astype(np.float64)
    X = np.asarray(X)
    if X.dtype not in FLOATS:
        X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"rows are an array of two dimensions, not of {X.ndim}: reshape it")
    return np.ascontiguousarray(X)


def classes_of(y: Any) -> tuple[np.ndarray, list[str]]:
    """Labels as numbers of their sorted names."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return np.ascontiguousarray(codes.ravel(), dtype=np.int64), label_names(classes)


def targets_of(y: Any) -> np.ndarray:
    """Targets of regression."""
    return np.ascontiguousarray(np.asarray(y).ravel(), dtype=np.float64)


def weights_of(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Row weights, if there are any."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), X.shape[:1]))
    return weights


def data_of(X: Any, y: Any, sample_weight: Any = None, *, numbers: bool = False) -> dict[str, Any]:
    """Rows with their labels, or with targets, and weights."""
    X = rows_of(X)
    labels = targets_of(y) if numbers else classes_of(y)
    return {"rows": X, "labels": labels, "weights": weights_of(sample_weight, X), "names": None}


def threads_of(n_jobs: int | None) -> int | None:
    """The number of threads: all there are by default, and for -1; all but one for -2, and so on."""
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs is a number of threads, or -1 for all: 0 has no meaning")
    if n_jobs < 0:
        import joblib

        return max(1, joblib.cpu_count() + 1 + n_jobs)
    return int(n_jobs)


def seed_of(random_state: Any) -> int:
    """The seed of the engine: the number itself, 0 for None, else one that the generator draws."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state is a number from 0, not {random_state}")
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
