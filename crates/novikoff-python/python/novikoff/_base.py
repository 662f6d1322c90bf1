"""What all estimators share: arrays in, a fit of the engine, and what is known of it out."""

from __future__ import annotations

import sys
import warnings
import weakref
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from . import _novikoff
from ._arrays import FLOATS as _FLOATS
from ._arrays import label_name, label_names, refuse_damaged, seed_of, threads_of
from ._certificates import Certificate
from ._progress import progress_of


def warn(what: str, category: type[Warning]) -> None:
    """Warns, as if the caller of this package had."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("novikoff."):
        frame, level = frame.f_back, level + 1
    warnings.warn(what, category, stacklevel=level)


class Estimator(BaseEstimator):
    """The base of all estimators. Subclasses name a learner and its settings."""

    #: The name of the engine's learner.
    _learner: str
    #: Whether the engine can prove something of a fit.
    _is_certified = True
    _fit_result: _novikoff.Fit | None
    _certificate: Certificate | None
    _given: tuple[Any, ...] | None

    # -- what subclasses say ------------------------------------------------------------------------------

    def _settings(self, total_weight: float) -> dict[str, Any]:
        """The settings of the learner, by the engine's names."""
        raise NotImplementedError

    def _learner_name(self) -> str:
        return self._learner

    # -- rows in ------------------------------------------------------------------------------------------

    def _check_rows(self, X: Any, reset: bool = False, **options: Any) -> Any:
        refuse_damaged(X)
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=_FLOATS,
            order="C",
            # The engine looks at every value anyhow, and says where a wrong one is.
            ensure_all_finite=False,
            **options,
        )

    def _rows(self, X: Any) -> Any:
        """Rows to be scored. Arrays that are as the engine wants them pass at once."""
        self._check_is_fitted()
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in _FLOATS
            and X.flags.c_contiguous
            and X.shape[1] == self.n_features_in_
            and X.shape[0] > 0
            and not hasattr(self, "feature_names_in_")
        ):
            return X
        return self._check_rows(X)

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            name = type(self).__name__
            raise NotFittedError(
                f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("model_") is not None

    def _encode_labels(self, y: Any) -> Any:
        raise NotImplementedError

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            weights = np.ascontiguousarray(weights)
        return {"rows": X, "labels": self._encode_labels(y), "weights": weights, "names": None}

    # -- fitting ------------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Estimator:
        before = dict(self.__dict__)
        try:
            return self._fit_anew(X, y, sample_weight, **options)
        except BaseException:
            # What does not come to an end leaves the estimator as it was.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit_anew(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Estimator:
        given = (X, y, sample_weight)
        X, y = self._check_fit(X, y)
        data = self._data(X, y, sample_weight)
        total = float(len(y)) if data["weights"] is None else float(data["weights"].sum())
        start = self.__dict__.get("model_") if getattr(self, "warm_start", False) else None
        fit = _novikoff.train_learner(
            self._learner_name(),
            self._shared_settings() | self._settings(total),
            data,
            start=start,
            callback=progress_of(self),
            threads=threads_of(getattr(self, "n_jobs", None)),
            **options,
        )
        self._take(fit)
        self._remember(given)
        if getattr(self, "certify", False):
            self._certificate = Certificate(fit.certificate(data))
        return self

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _shared_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"seed": seed_of(getattr(self, "random_state", None))}
        if hasattr(self, "scale"):
            settings["scale"] = "none" if self.scale is None else self.scale
        if hasattr(self, "fit_intercept"):
            penalised = "penalised" if getattr(self, "penalize_intercept", False) else "free"
            settings["bias"] = penalised if self.fit_intercept else "none"
        return settings

    def _take(self, fit: _novikoff.Fit) -> None:
        """Takes over what is known of a fit."""
        self.model_ = fit.model
        self._fit_result = fit
        self._certificate = None
        self.n_iter_ = max(1, fit.iterations)
        self.gap_ = fit.gap
        self.objective_ = fit.objective
        self.dual_bound_ = fit.dual_bound
        self.history_ = fit.history()
        if fit.converged is False:
            self._warn(fit)

    def _warn(self, fit: _novikoff.Fit) -> None:
        gap = "unknown" if fit.gap is None else f"{fit.gap:.2g}"
        tolerance = getattr(self, "tol", None)
        name = type(self).__name__
        what = f"{name} did not converge: the relative duality gap is {gap}, and tol is {tolerance}"
        if fit.obstacle:
            what = f"{what}. {fit.obstacle}"
        warn(what, ConvergenceWarning)

    def _chosen(self, value: float, total_weight: float) -> None:
        """Sets the parameter that λ = value stands for."""
        raise NotImplementedError

    def _refuse_tuning(self) -> None:
        """Raises a ValueError if there is no penalty that a path can be made of."""
        if type(self)._chosen is Estimator._chosen or getattr(self, "l1_ratio", 0.0) != 0.0:
            name = type(self).__name__
            raise ValueError(f"tune chooses the strength of an ℓ2 penalty: use GridSearchCV for this {name}")

    # -- certificates -------------------------------------------------------------------------------------

    def _remember(self, given: tuple[Any, Any, Any]) -> None:
        """Keeps weak references to the training data, from which a certificate can be made when asked for."""
        try:
            self._given = tuple(None if part is None else weakref.ref(part) for part in given)
        except TypeError:
            self._given = None

    @property
    def certificate_(self) -> Certificate:
        """What is proved of the fit. It is made when it is first asked for, of the arrays given to ``fit``
        while they exist, or by ``fit`` itself with ``certify=True``."""
        self._check_is_fitted()
        if self.__dict__.get("_certificate") is None:
            given = self.__dict__.get("_given") or ()
            alive = [None if part is None else part() for part in given]
            is_gone = [part is not None and there is None for part, there in zip(given, alive, strict=False)]
            if not given or any(is_gone) or self.__dict__.get("_fit_result") is None:
                raise AttributeError(
                    "the training data of this fit are not at hand: call prove(X, y), or use certify=True"
                )
            try:
                return self.prove(*alive)
            except ValueError as error:
                raise AttributeError(f"this fit has no certificate: {error}")
        return self.__dict__["_certificate"]

    def prove(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Certificate of the fit, from the rows that it was fitted to.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows of ``fit``.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, if ``fit`` had some.

        Returns
        -------
        novikoff.Certificate
            What is proved of the model. Other rows are a ValueError.
        """
        self._check_is_fitted()
        fit = self.__dict__.get("_fit_result")
        if fit is None:
            raise ValueError("a model that was stored has no fit to prove: fit it to the rows once more")
        data = self._data(self._check_rows(X), y, sample_weight)
        certificate = self._certificate = Certificate(fit.certificate(data))
        return certificate

    # -- storing ------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # What belongs to this process: the fit with its duals, and references to the training data.
        state.pop("_fit_result", None)
        state.pop("_given", None)
        return state

    def save(self, path: Any) -> None:
        """Write the model to a file of the program's format.

        Parameters
        ----------
        path : path-like
            The file, which is replaced as a whole or not at all.
        """
        self._check_is_fitted()
        self.model_.save(path)

    def to_onnx(self) -> bytes:
        """Model in the ONNX format.

        Returns
        -------
        bytes
            The model, with float32 inputs of shape (n, n_features).
        """
        self._check_is_fitted()
        return self.model_.exported("onnx")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Linear(Estimator):
    """Estimators whose scores are linear in the columns."""

    #: The model that the weights are of, and the weights.
    _weights: tuple[_novikoff.Model, tuple[np.ndarray, Any]] | None

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the columns."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Any:
        """The constant term of the score."""
        return self._linear()[1]

    def _linear(self) -> tuple[np.ndarray, Any]:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no weights before it is fitted")
        known = self.__dict__.get("_weights")
        if known is None or known[0] is not self.model_:
            known = (self.model_, self._ordered(self.model_.coef(), self.model_.intercept()))
            self._weights = known
        return known[1]

    def _ordered(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, Any]:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_weights", None)
        return state


class Classifier(ClassifierMixin, Estimator):
    """Estimators that predict one of some classes."""

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        refuse_damaged(X)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=_FLOATS,
            order="C",
            ensure_all_finite=False,
        )
        check_classification_targets(y)
        self._classes = np.unique(y)
        if len(self._classes) < 2:
            what = f"{type(self).__name__} needs rows of two classes at least, and there is one class"
            raise ValueError(what)
        return X, y

    def _encode_labels(self, y: Any) -> Any:
        y = column_or_1d(y)
        codes = np.searchsorted(self._classes, y)
        known = np.minimum(codes, len(self._classes) - 1)
        if not np.array_equal(self._classes[known], y):
            raise ValueError("y has classes that fit has not seen")
        return np.ascontiguousarray(known, dtype=np.int64), label_names(self._classes)

    def _shared_settings(self) -> dict[str, Any]:
        settings = super()._shared_settings() | {"task": "classes"}
        settings.update(self._class_weights())
        return settings

    def _class_weights(self) -> dict[str, Any]:
        given = getattr(self, "class_weight", None)
        if given is None:
            return {}
        if isinstance(given, str):
            if given != "balanced":
                raise ValueError(f"class_weight is a dict, 'balanced' or None, not {given!r}")
            return {"balanced": True}
        if not len(self._classes):
            # Rows that come a few at a time: their classes will be seen.
            return {"class_weight": [(label_name(label), float(weight)) for label, weight in given.items()]}
        names = dict(zip(self._classes.tolist(), label_names(self._classes), strict=True))
        unknown = [label for label in given if label not in names]
        if unknown:
            raise ValueError(f"the classes {unknown} of class_weight are not in y")
        return {"class_weight": [(names[label], float(weight)) for label, weight in given.items()]}

    def _take(self, fit: _novikoff.Fit) -> None:
        super()._take(fit)
        self._take_classes()

    def _take_classes(self) -> None:
        """The classes as scikit-learn sorts them, and the place of each of the model's labels among them."""
        self.classes_ = self._classes
        place = {name: i for i, name in enumerate(label_names(self._classes))}
        order = np.array([place[label] for label in self.model_.labels])
        is_sorted = bool((order == np.arange(len(order))).all())
        self._order = None if is_sorted else order

    def _sorted(self, table: np.ndarray) -> np.ndarray:
        """A table with a column a label, with the columns in the order of ``classes_``."""
        if self._order is None:
            return table
        if table.shape[1] == 1:
            return -table
        result = np.empty_like(table)
        result[:, self._order] = table
        return result

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            A class of ``classes_`` for each row. Where scores tie it is the last of them.
        """
        classes = self.model_.decide(self._rows(X)) if self.__sklearn_is_fitted__() else self._rows(X)
        return self.classes_[classes if self._order is None else self._order[classes]]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the evidence for ``classes_[1]``, else a score for each class.
        """
        X = self._rows(X)
        scores = self._sorted(self.model_.scores(X))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def _has_probabilities(self) -> bool:
        """Whether scores are a likelihood's, or are calibrated."""
        raise NotImplementedError

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        X = self._rows(X)
        return self._sorted(self.model_.probabilities(X))

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms, in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class LinearClassifier(Linear, Classifier):
    """Classifiers with weights of columns."""

    def _ordered(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._order is None:
            return coef, intercept
        if len(coef) == 1:
            return -coef, -intercept
        own_coef, own_intercept = np.empty_like(coef), np.empty_like(intercept)
        own_coef[self._order], own_intercept[self._order] = coef, intercept
        return own_coef, own_intercept


class Regressor(RegressorMixin, Linear):
    """Estimators that predict numbers."""

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        refuse_damaged(X)
        return validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=_FLOATS,
            order="C",
            ensure_all_finite=False,
            y_numeric=True,
        )

    def _encode_labels(self, y: Any) -> Any:
        return np.ascontiguousarray(column_or_1d(y), dtype=np.float64)

    def _shared_settings(self) -> dict[str, Any]:
        return super()._shared_settings() | {"task": "regression"}

    def _ordered(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, float]:
        return coef[0], float(intercept[0])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the number of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            A number for each row.
        """
        X = self._rows(X)
        return self.model_.scores(X).ravel()
