"""What estimators of other packages minimise, as a problem of this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._linear import ElasticNet, Lasso, LinearSVC, LogisticRegression, QuantileRegressor, Ridge


@dataclass
class Problem:
    """An estimator of this package with the objective of a foreign model, and that model's weights."""

    estimator: Any
    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    words: str

    def in_order_of(self, own: Any, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The weights in the order of the own fit's outputs."""
        if self.classes is None or own._order is None:
            return coef, intercept
        if len(coef) == 1:
            return -coef, -intercept
        return coef[own._order], intercept[own._order]


def problem_of(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> Problem:
    """The problem that a fitted estimator of another package has solved, more or less well."""
    package = type(estimator).__module__.split(".")[0]
    readers = {"sklearn": _of_sklearn, "snapml": _of_snapml}
    if package not in readers:
        raise TypeError(f"novikoff does not know what {type(estimator).__name__} of {package} minimises")
    return readers[package](estimator, X, y, sample_weight, tol)


def _unknown(estimator: Any, why: str) -> TypeError:
    return TypeError(f"what {type(estimator).__name__} minimises is not known here: {why}")


def _weights(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64).ravel(), (len(coef),))
    return np.ascontiguousarray(coef), np.ascontiguousarray(intercept)


def _of_sklearn(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> Problem:
    name = type(estimator).__name__
    reader = _SKLEARN.get(name)
    if reader is None:
        raise _unknown(estimator, f"certify knows {', '.join(sorted(_SKLEARN))}")
    own, words = reader(estimator, X, y, sample_weight, tol)
    coef, intercept = _weights(estimator)
    return Problem(own, coef, intercept, getattr(estimator, "classes_", None), words)


def _logistic(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    penalty = getattr(estimator, "penalty", "l2")
    ratio = getattr(estimator, "l1_ratio", 0.0) or 0.0
    C = estimator.C
    if penalty == "l1":
        ratio = 1.0
    elif penalty is None or penalty == "none":
        C = np.inf
    elif penalty == "l2":
        ratio = 0.0
    multi = getattr(estimator, "multi_class", "auto")
    is_separate = multi == "ovr" or estimator.solver == "liblinear"
    penalised = estimator.solver == "liblinear"
    if penalised and estimator.fit_intercept and estimator.intercept_scaling != 1:
        raise _unknown(estimator, "intercept_scaling is not 1")
    own = LogisticRegression(
        C=C,
        l1_ratio=ratio,
        tol=tol,
        fit_intercept=estimator.fit_intercept,
        penalize_intercept=penalised,
        class_weight=estimator.class_weight,
        multiclass="one-vs-rest" if is_separate and len(estimator.classes_) > 2 else "auto",
    )
    return own, f"mean logistic loss, C = {C}, l1_ratio = {ratio}"


def _linear_svc(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if estimator.multi_class != "ovr":
        raise _unknown(estimator, "multi_class is not 'ovr'")
    if estimator.fit_intercept and estimator.intercept_scaling != 1:
        raise _unknown(estimator, "intercept_scaling is not 1")
    own = LinearSVC(
        loss=estimator.loss,
        C=estimator.C,
        l1_ratio=1.0 if estimator.penalty == "l1" else 0.0,
        tol=tol,
        fit_intercept=estimator.fit_intercept,
        penalize_intercept=True,
        class_weight=estimator.class_weight,
    )
    return own, f"mean {estimator.loss.replace('_', ' ')} loss, C = {estimator.C}, the intercept penalised"


def _ridge(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if np.ndim(estimator.alpha) != 0 or np.ndim(y) != 1:
        raise _unknown(estimator, "it has several targets, or several alphas")
    if getattr(estimator, "positive", False):
        raise _unknown(estimator, "its weights are kept positive")
    own = Ridge(alpha=float(estimator.alpha), tol=tol, fit_intercept=estimator.fit_intercept)
    return own, f"mean squared loss, alpha = {estimator.alpha}"


def _least_squares(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if getattr(estimator, "positive", False) or np.ndim(y) != 1:
        raise _unknown(estimator, "its weights are kept positive, or it has several targets")
    return Ridge(alpha=0.0, tol=tol, fit_intercept=estimator.fit_intercept), "mean squared loss, no penalty"


def _lasso(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if estimator.positive or np.ndim(y) != 1:
        raise _unknown(estimator, "its weights are kept positive, or it has several targets")
    own = Lasso(alpha=estimator.alpha, tol=tol, fit_intercept=estimator.fit_intercept)
    return own, f"mean squared loss, ℓ1 penalty, alpha = {estimator.alpha}"


def _elastic_net(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if estimator.positive or np.ndim(y) != 1:
        raise _unknown(estimator, "its weights are kept positive, or it has several targets")
    ratio = estimator.l1_ratio
    own = ElasticNet(alpha=estimator.alpha, l1_ratio=ratio, tol=tol, fit_intercept=estimator.fit_intercept)
    return own, f"mean squared loss, alpha = {estimator.alpha}, l1_ratio = {ratio}"


def _quantile(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> tuple[Any, str]:
    if estimator.alpha != 0:
        raise _unknown(estimator, "it has an ℓ1 penalty; with alpha=0 it can be certified")
    own = QuantileRegressor(
        quantile=estimator.quantile, l2=0.0, tol=tol, fit_intercept=estimator.fit_intercept
    )
    return own, f"mean pinball loss of the quantile {estimator.quantile}"


_SKLEARN = {
    "ElasticNet": _elastic_net,
    "Lasso": _lasso,
    "LinearRegression": _least_squares,
    "LinearSVC": _linear_svc,
    "LogisticRegression": _logistic,
    "QuantileRegressor": _quantile,
    "Ridge": _ridge,
}


def _of_snapml(estimator: Any, X: Any, y: Any, sample_weight: Any, tol: float) -> Problem:
    name = type(estimator).__name__
    n = np.shape(X)[0] if sample_weight is None else float(np.sum(sample_weight))
    parameters = estimator.get_params()
    if parameters.get("penalty", "l2") != "l2":
        raise _unknown(estimator, "its penalty is not ℓ2")
    # Snap ML minimises the sum of the losses plus regularizer/2 ‖w‖², with the intercept as a column of ones.
    C = 1.0 / float(parameters["regularizer"])
    intercept = bool(parameters.get("fit_intercept", False))
    options: dict[str, Any] = {"tol": tol, "fit_intercept": intercept, "penalize_intercept": intercept}
    if name == "LogisticRegression":
        own: Any = LogisticRegression(C=C, class_weight=parameters.get("class_weight"), **options)
    elif name == "SupportVectorMachine":
        own = LinearSVC(loss="hinge", C=C, class_weight=parameters.get("class_weight"), **options)
    else:
        raise _unknown(estimator, "certify knows LogisticRegression and SupportVectorMachine of Snap ML")
    coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    bias = np.asarray(getattr(estimator, "intercept_", 0.0), dtype=np.float64).ravel()
    bias = np.broadcast_to(bias if bias.size else np.zeros(1), (len(coef),))
    words = f"Snap ML's {name}, regularizer = {parameters['regularizer']}, {n:g} rows"
    classes = np.unique(np.asarray(y))
    return Problem(own, np.ascontiguousarray(coef), np.ascontiguousarray(bias), classes, words)
