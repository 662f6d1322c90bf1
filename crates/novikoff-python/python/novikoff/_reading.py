"""What the estimators share that read raw input: the engine's learners over rows that it has read itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, _check_y

from . import _novikoff
from ._arrays import label_names, threads_of
from ._base import Linear, LinearClassifier, Regressor
from ._certificates import Certificate, Checked, Verification
from ._display import page, table
from ._linear import nonnegative
from ._progress import progress_of

#: The engine's name of a learner, and the settings that make it so.
_ONLINE: dict[str, tuple[str, dict[str, Any]]] = {
    "perceptron": ("perceptron", {"returned": "last"}),
    "averaged": ("perceptron", {"returned": "average"}),
    "voted": ("perceptron", {"returned": "votes"}),
    "passive-aggressive": ("passive-aggressive", {}),
    "network": ("network", {}),
}
_LOSSES = ("logistic", "squared-svm", "svm", "exponential", "boosting", "max-margin")
_NUMBERS = ("least-squares", "least-absolute", "huber", "quantile")
CLASSIFIERS = ("auto", *_LOSSES, "bayes", *_ONLINE)
REGRESSORS = ("auto", *_NUMBERS, "network")

#: Settings of training rows that are read already.
_READ: dict[str, Any] = {"labels": None, "weights": None, "names": None}


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its label, or its number."""

    #: The label, or the number.
    prediction: Any
    #: How far the label is ahead of the second one, or the number.
    score: float
    #: The label that comes second, of more than two.
    against: Any
    #: The part of the constant term.
    bias: float
    #: What each feature of the row adds, the largest in size first.
    parts: dict[str, float] = field(repr=False)

    def __str__(self) -> str:
        lines = [f"{self.prediction!s}: {self.score:.4g}", f"  {self.bias:+.4g} bias"]
        return "\n".join(lines + [f"  {added:+.4g} {name}" for name, added in list(self.parts.items())[:20]])

    def _repr_html_(self) -> str:
        rows = [("bias", f"{self.bias:+.4g}")] + [
            (name, f"{x:+.4g}") for name, x in list(self.parts.items())[:20]
        ]
        return page(f"{self.prediction!s}: {self.score:.4g}", table(["feature", "adds"], rows))


class Reading(Linear):
    """Estimators over raw input, which the engine reads."""

    #: What models of this estimator read.
    _reads: str
    _learners: tuple[str, ...]

    learner: str
    tol: float
    max_iter: int | None

    # -- what subclasses say ------------------------------------------------------------------------------

    def _apply(self, X: Any) -> _novikoff.Dataset:
        """Reads rows by the recipe of the model."""
        raise NotImplementedError

    def _learns_numbers(self) -> bool:
        return False

    # -- fitting ------------------------------------------------------------------------------------------

    def _check_labels(self, y: Any, rows: int) -> np.ndarray:
        """Labels or targets as an array, one for each row."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = np.asarray(y)
        if y.dtype == object and any(label is None for label in y.ravel().tolist()):
            raise ValueError("Input y contains NaN: a label is None")
        y = np.asarray(_check_y(y, y_numeric=self._learns_numbers(), estimator=self))
        if len(y) != rows:
            what = f"Found input variables with inconsistent numbers of samples: {[rows, len(y)]}"
            raise ValueError(what)
        return y

    def _request(
        self, labels: Any, weights: Any, rows: int, settings: dict[str, Any], **other: Any
    ) -> dict[str, Any]:
        """What the engine's reading is given."""
        if weights is not None:
            of = np.empty((rows, 1))
            weights = _check_sample_weight(weights, of, dtype=np.float64, ensure_non_negative=True)
            weights = np.ascontiguousarray(weights)
        threads = threads_of(getattr(self, "n_jobs", None))
        return {
            "settings": settings,
            "model": None,
            "labels": labels,
            "weights": weights,
            "threads": threads,
        } | other

    def _learner_of(self, rows: _novikoff.Dataset) -> str:
        if self.learner not in self._learners:
            raise ValueError(f"learner is one of {list(self._learners)}, not {self.learner!r}")
        return rows.usual_learner(self._learns_numbers()) if self.learner == "auto" else self.learner

    def _settings_for(self, name: str, rows: _novikoff.Dataset) -> tuple[str, dict[str, Any]]:
        """The engine's name of a learner, and its settings."""
        shared = self._shared_settings()
        if name == "bayes":
            shared.pop("scale", None)
            shared.pop("bias", None)
            return name, shared | {"smoothing": float(getattr(self, "alpha", 1.0))}
        if name in _ONLINE:
            engine, own = _ONLINE[name]
            own = own | ({} if self.max_iter is None else {"epochs": int(self.max_iter)})
            if name == "passive-aggressive":
                own["cost"] = float(getattr(self, "C", 1.0))
            if name == "network" and self._learns_numbers():
                own["loss"] = "squared"
            return engine, shared | own
        own = {"tolerance": self.tol, "steps": self.max_iter, "trace": True}
        return name, shared | own | self._penalty(name, rows)

    def _penalty(self, name: str, rows: _novikoff.Dataset) -> dict[str, Any]:
        """The strength of the penalty, where the learner has one."""
        raise NotImplementedError

    def _train(self, rows: _novikoff.Dataset) -> None:
        """Trains on rows that were read."""
        for text in rows.warnings:
            warnings.warn(text, UserWarning, stacklevel=4)
        engine, settings = self._settings_for(self._learner_of(rows), rows)
        fit = _novikoff.train_learner(
            engine,
            settings,
            {"rows": rows} | _READ,
            callback=progress_of(self),
            threads=threads_of(getattr(self, "n_jobs", None)),
        )
        self._take(fit)
        self._training_rows: _novikoff.Dataset | None = rows
        if getattr(self, "certify", False):
            self._prove_rows(rows)

    # -- what is known of a fit ---------------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        self._check_is_fitted()
        return self._apply(X)

    def _prove_rows(self, rows: _novikoff.Dataset) -> Certificate:
        fit = self.__dict__.get("_fit_result")
        if fit is None:
            raise ValueError("a model that was stored has no fit to certify: fit it again")
        self._certificate = certificate = Certificate(fit.certificate({"rows": rows} | _READ))
        # The rows have done their last service.
        self._training_rows = None
        return certificate

    @property
    def certificate_(self) -> Certificate:
        """What is proved of the fit. It is made when first asked for, or by ``fit`` with ``certify=True``."""
        self._check_is_fitted()
        if self.__dict__.get("_certificate") is None:
            rows = self.__dict__.get("_training_rows")
            if rows is None:
                raise AttributeError("the rows of this fit are not at hand: fit with certify=True")
            self._prove_rows(rows)
        return self.__dict__["_certificate"]

    def prove(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Certificate of the fit, from the input that it was fitted to.

        Parameters
        ----------
        X : raw input
            The input of ``fit``.
        y : array-like of shape (n_samples,) or str
            Its labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Its weights, if ``fit`` had some.

        Returns
        -------
        novikoff.Certificate
            What is proved of the model. Other rows are a ValueError.
        """
        self._check_is_fitted()
        return self._prove_rows(self._read_training(X, y, sample_weight))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate against the input that the estimator was fitted to, read anew.

        Parameters
        ----------
        X : raw input
            The input of ``fit``.
        y : array-like of shape (n_samples,) or str
            Its labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Its weights, if ``fit`` had some.

        Returns
        -------
        Verification
            What came of each claim; true as a condition if all of them hold.
        """
        certificate = self.certificate_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            rows = self._read_training(X, y, sample_weight)
        return Verification(Checked(**told) for told in certificate._inner.check({"rows": rows} | _READ))

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> _novikoff.Dataset:
        """Reads training rows."""
        raise NotImplementedError

    @property
    def feature_names_(self) -> np.ndarray:
        """Names of the features that the input became, in the order of ``coef_``."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no features before it is fitted")
        known = self.__dict__.get("_feature_names")
        if known is None or known[0] is not self.model_:
            known = (self.model_, np.array(self.model_.feature_names(), dtype=object))
            self._feature_names = known
        names: np.ndarray = known[1]
        return names

    def features(self, X: Any) -> Any:
        """Rows that the model sees: what the raw input becomes.

        Parameters
        ----------
        X : raw input
            As ``predict`` takes it.

        Returns
        -------
        scipy.sparse.csr_array or ndarray of shape (n_samples, n_features)
            The rows; ``feature_names_`` has the names of the columns.
        """
        read = self._rows(X).arrays()
        if "dense" in read:
            return read["dense"]
        return sparse.csr_array((read["data"], read["indices"], read["indptr"]), shape=read["shape"])

    def _explain(self, rows: _novikoff.Dataset, prediction: Any) -> Explanation:
        told = self.model_.explain(rows, 0)
        against = told["against"]
        if against is not None:
            against = dict(zip(label_names(self.classes_), self.classes_.tolist(), strict=False))[against]
        return Explanation(prediction, told["score"], against, told["bias"], told["parts"])

    # -- storing ------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_training_rows", None)
        state.pop("_feature_names", None)
        return state

    def _load(self, path: Any) -> None:
        """Takes over a model of the program's."""
        model = _novikoff.Model.load(path)
        if model.reads != self._reads:
            what = f"the model reads {model.reads}, and {type(self).__name__} is for {self._reads}"
            raise ValueError(what)
        if model.is_regression != self._learns_numbers():
            raise ValueError(f"the model predicts {'numbers' if model.is_regression else 'classes'}")
        self.learner = model.learner
        self.model_ = model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


class ReadingClassifier(Reading, LinearClassifier):
    """What classifiers over raw input share."""

    _learners = CLASSIFIERS
    C: float
    calibrate: str | None

    def _penalty(self, name: str, rows: _novikoff.Dataset) -> dict[str, Any]:
        if not self.C > 0:
            raise ValueError(f"C is a number above 0, not {self.C}")
        if name in ("boosting", "max-margin"):
            return {}
        return {"lambda": 0.0} if np.isinf(self.C) else {"cost": float(self.C)}

    def _settings_for(self, name: str, rows: _novikoff.Dataset) -> tuple[str, dict[str, Any]]:
        engine, settings = super()._settings_for(name, rows)
        return engine, settings | {"calibrate": self.calibrate}

    def _load(self, path: Any) -> None:
        super()._load(path)
        self._classes = classes_of_names(self.model_.labels)
        self._take_classes()

    def _take_labels(self, y: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """The classes, and the number of each row's."""
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        self._classes, codes = np.unique(y, return_inverse=True)
        if len(self._classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of two classes at least, and there is one class"
            )
        return np.ascontiguousarray(codes.ravel(), dtype=np.int64), label_names(self._classes)

    def _has_probabilities(self) -> bool:
        if self.__sklearn_is_fitted__():
            return bool(self.model_.has_probabilities)
        is_likelihood = self.learner in ("logistic", "bayes", "network")
        return (
            self.calibrate is not None or is_likelihood or (self.learner == "auto" and self._reads == "table")
        )

    def top_features(self, n: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """The features that speak most for each class.

        Parameters
        ----------
        n : int, default=10
            How many of each class.

        Returns
        -------
        dict
            A list of names and weights for each class, the largest first.
        """
        coef, names = self.coef_, self.feature_names_
        if len(coef) == 1:
            coef = np.vstack([-coef, coef])
        result = {}
        for label, weights in zip(self.classes_.tolist(), coef, strict=False):
            best = np.argsort(-weights, kind="stable")[:n]
            result[label] = [(str(names[j]), float(weights[j])) for j in best]
        return result


class ReadingRegressor(Reading, Regressor):
    """What regressors over raw input share."""

    _learners = REGRESSORS
    alpha: float | None

    def _learns_numbers(self) -> bool:
        return True

    def _penalty(self, name: str, rows: _novikoff.Dataset) -> dict[str, Any]:
        if self.alpha is not None:
            total = rows.total_weight
            return {"lambda": 2 * nonnegative("alpha", self.alpha) / total if total > 0 else 0.0}
        # Terms are more than documents: without a penalty, least squares would meet any numbers.
        return {"cost": 1.0} if rows.has_documents and name == "least-squares" else {}


def classes_of_names(names: list[str]) -> np.ndarray:
    """The classes of a model: numbers, if all its labels are numbers."""
    for kind in (np.int64, np.float64):
        try:
            classes = np.unique(np.array(names).astype(kind))
        except ValueError:
            continue
        if set(label_names(classes)) == set(names):
            return classes
    return np.unique(np.array(names))
