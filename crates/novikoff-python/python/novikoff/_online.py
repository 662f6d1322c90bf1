"""Learners that correct mistakes row by row: the perceptron's family, and passive-aggressive learning."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from . import _novikoff
from ._arrays import FLOATS, label_names
from ._base import Classifier, LinearClassifier
from ._linear import Scale


class _Epochs(Classifier):
    """Classifiers that go over the rows in epochs."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model, in epochs over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How far a mistake on each row moves the weights.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _in_epochs(self) -> dict[str, Any]:
        before = 0
        if getattr(self, "warm_start", False) and self.__sklearn_is_fitted__():
            before = self._epochs_before
        return {"epochs": before + self.max_iter, "shuffle": self.shuffle, "calibrate": self.calibrate}

    def _take(self, fit: _novikoff.Fit) -> None:
        super()._take(fit)
        self._epochs_before = fit.iterations
        self.margin_ = fit.margin
        self.radius_ = fit.radius
        self.mistakes_ = fit.mistakes
        self.updates_ = fit.updates
        bound = fit.mistake_bound
        self.mistake_bound_ = None if bound is None else bound[0]
        self.theorem_ = None if bound is None else bound[1]

    def _has_probabilities(self) -> bool:
        return self.calibrate is not None


class _RowByRow(LinearClassifier, _Epochs):
    """Classifiers that also learn from some rows at a time."""

    _stream: _novikoff.Online | None = None
    _model: _novikoff.Model | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._stream = None
        return super().fit(X, y, sample_weight)

    fit.__doc__ = _Epochs.fit.__doc__

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from some more rows, each once, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes. New ones may occur at any time.
        classes : array-like of shape (n_classes,), default=None
            Classes that may occur later. They need not be known in advance.
        sample_weight : array-like of shape (n_samples,), default=None
            How far a mistake on each row moves the weights.

        Returns
        -------
        self
            The estimator.
        """
        if self._learn_one(X, y, classes, sample_weight):
            return self
        is_first = self._stream is None and not self.__sklearn_is_fitted__()
        X = self._check_rows(X, reset=is_first)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, and y has {len(y)}")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            sample_weight = np.ascontiguousarray(sample_weight)
        stream = self._stream or self._begin()
        self._meet(y if classes is None else np.concatenate([np.unique(classes), np.unique(y)]))
        if classes is not None:
            stream.declare(label_names(np.unique(classes)))
        codes = np.ascontiguousarray(np.searchsorted(self.classes_, y), dtype=np.int64)
        stream.learn(X, codes, self._names, sample_weight)
        self._forget_model()
        return self

    def _learn_one(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> bool:
        """The shortest way for one row of known class: the checks would take longer than learning."""
        if (
            self._stream is None
            or classes is not None
            or sample_weight is not None
            or type(X) is not np.ndarray
            or X.ndim != 2
            or X.shape != (1, self.n_features_in_)
            or X.dtype not in FLOATS
            or len(y) != 1
        ):
            return False
        label = y[0]
        name = self._name_of.get(label.item() if isinstance(label, np.generic) else label)
        if name is None:
            return False
        self._stream.learn_one(X, name)
        self._forget_model()
        return True

    def _begin(self) -> _novikoff.Online:
        """Starts a stream: from the model, if there is one."""
        if getattr(self, "scale", None) is not None:
            raise ValueError("rows that come a few at a time are learned from as they are: use scale=None")
        if self.__sklearn_is_fitted__():
            stream = _novikoff.Online.from_model(self.model_)
        else:
            self._classes = np.array([])
            stream = _novikoff.Online(self._learner, self._shared_settings() | self._settings(1.0))
        self._stream = stream
        return stream

    def _meet(self, labels: np.ndarray) -> None:
        """Adds new classes to those known."""
        known = getattr(self, "classes_", None)
        new = np.unique(labels)
        if known is not None and len(known):
            new = np.unique(np.concatenate([known, new]))
        if known is None or len(new) != len(known) or not hasattr(self, "_names"):
            self.classes_ = self._classes = new
            self._names = label_names(new)
            self._name_of = dict(zip(new.tolist(), self._names, strict=True))

    def _forget_model(self) -> None:
        self._model = None
        self._weights = None

    @property
    def model_(self) -> _novikoff.Model:
        """The engine's model."""
        model = self.__dict__.get("_model")
        if model is None:
            if self._stream is None:
                raise AttributeError(f"this {type(self).__name__} has no model before it is fitted")
            self._model = model = self._stream.model()
            self._take_classes()
        return model

    @model_.setter
    def model_(self, model: _novikoff.Model) -> None:
        self._model = model

    @property
    def progressive_error_(self) -> float:
        """Share of rows that ``partial_fit`` predicted wrongly before it learned from them."""
        if self._stream is None:
            raise AttributeError("partial_fit has not been called")
        return self._stream.progressive_error

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_model") is not None or self._stream is not None

    def __getstate__(self) -> dict[str, Any]:
        if self._stream is not None:
            # The model has all that learning needs to go on.
            _ = self.model_
        state = super().__getstate__()
        state.pop("_stream", None)
        return state

    def _rows(self, X: Any) -> Any:
        X = super()._rows(X)
        if self.__dict__.get("_model") is None:
            _ = self.model_
        return X

    def predict(self, X: Any) -> np.ndarray:
        if self._stream is not None and len(self.classes_) == 1:
            return np.repeat(self.classes_, self._check_rows(X).shape[0])
        return super().predict(X)

    predict.__doc__ = LinearClassifier.predict.__doc__


_EPOCH_PARAMETERS = """max_iter : int, default=30
        Most epochs. An epoch without a mistake ends the training earlier.
    shuffle : bool, default=True
        Whether rows are shuffled before every epoch.
    fit_intercept : bool, default=True
        Whether the score has a constant term.
    scale : {None, "standard", "max-abs", "unit-variance"}, default=None
        How columns are brought to one size first. The model applies to rows as they are.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    multiclass : {"joint", "one-vs-rest"}, default="joint"
        How more than two classes are told apart.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from; gives ``predict_proba``.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the last fit: over the same rows exactly, as if it had never stopped.
    certify : bool, default=False
        Whether ``fit`` makes the certificate at once. By default it is made when ``certificate_`` is asked
        for.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every epoch; training ends with what there is when it returns True.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    mistakes_, updates_ : int
        Mistakes while learning, and updates of the weights.
    mistake_bound_ : float or None
        How many mistakes theory allows, for the best weights at hand; ``theorem_`` is its formula.
    margin_ : tuple of two floats or None
        The margin of the weights on the rows, and what no weights exceed. Positive if the rows are separated.
    radius_ : float or None
        The length of the longest row.
    certificate_ : novikoff.Certificate
        The proof of that.
    n_iter_ : int
        Epochs.
    history_ : list of dict
        Every epoch.
    model_ : novikoff.Model
        The engine's model."""


def _documented(cls: type) -> type:
    """Fills in the parameters that all learners in epochs have."""
    cls.__doc__ = (cls.__doc__ or "").replace("{parameters}", _EPOCH_PARAMETERS)
    return cls


class _PerceptronBase(_Epochs):
    _learner = "perceptron"
    _returned: str

    def __init__(
        self,
        *,
        max_iter: int = 30,
        shuffle: bool = True,
        fit_intercept: bool = True,
        normalize: bool = False,
        scale: Scale = None,
        class_weight: Any = None,
        multiclass: str = "joint",
        calibrate: str | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.scale = scale
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        settings = self._in_epochs() | {"returned": self._returned, "normalise": self.normalize}
        if self.multiclass != "joint":
            settings["multiclass"] = self.multiclass
        return settings


@_documented
class Perceptron(_RowByRow, _PerceptronBase):
    """Rosenblatt's perceptron, with Novikoff's bound beside its mistakes.

    On a mistake, ``y s ≤ 0``, it adds ``y x`` to the weights. From zero, no step size changes what it
    predicts, so there is none to set.

    Parameters
    ----------
    normalize : bool, default=False
        Whether updates add ``y x / ‖x‖``.
    {parameters}

    Examples
    --------
    >>> from novikoff import Perceptron
    >>> model = Perceptron().fit([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> model.mistakes_ <= model.mistake_bound_
    True
    """

    _returned = "last"


@_documented
class AveragedPerceptron(_RowByRow, _PerceptronBase):
    """The perceptron's weights, averaged over all rounds.

    Parameters
    ----------
    normalize : bool, default=False
        Whether updates add ``y x / ‖x‖``.
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from novikoff import AveragedPerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> AveragedPerceptron().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    _returned = "average"


@_documented
class VotedPerceptron(_PerceptronBase):
    """The votes of all the perceptron's weight vectors (Freund and Schapire 1999).

    Parameters
    ----------
    normalize : bool, default=False
        Whether updates add ``y x / ‖x‖``.
    {parameters}

    Examples
    --------
    >>> from novikoff import VotedPerceptron
    >>> VotedPerceptron().fit([[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, 1]).predict([[-0.5]]).tolist()
    [-1]
    """

    _returned = "votes"


@_documented
class KernelPerceptron(_Epochs):
    """The perceptron with a kernel: its weights are a sum of rows.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        What compares rows: ``exp(−gamma ‖x − z‖²)``, ``(1 + <x, z>)^degree``, or ``<x, z>``.
    gamma : float or "scale", default="scale"
        The factor of the RBF kernel; "scale" is ``1 / (n_features · variance of X)``.
    degree : int, default=3
        The degree of the polynomial kernel.
    returned : {"average", "last", "votes"}, default="average"
        Which weights predict.
    max_iter : int, default=30
        Most epochs. An epoch without a mistake ends the training earlier.
    shuffle : bool, default=True
        Whether rows are shuffled before every epoch.
    fit_intercept : bool, default=True
        Whether the score has a constant term.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from; gives ``predict_proba``.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every epoch; training ends with what there is when it returns True.

    Attributes
    ----------
    classes_, mistakes_, updates_, mistake_bound_, theorem_, n_iter_, history_, model_
        As those of :class:`Perceptron`.

    Examples
    --------
    >>> from novikoff import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> KernelPerceptron(gamma=1.0, returned="last").fit(X, y).predict(X).tolist()
    [0, 0, 1, 1]
    """

    _learner = "perceptron"

    def __init__(
        self,
        kernel: Literal["rbf", "poly", "linear"] = "rbf",
        *,
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        returned: Literal["average", "last", "votes"] = "average",
        max_iter: int = 30,
        shuffle: bool = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        calibrate: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.returned = returned
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        self._gamma = self._scaled_gamma(X)
        return super()._data(X, y, sample_weight)

    def _scaled_gamma(self, X: Any) -> float:
        if self.gamma != "scale":
            return float(self.gamma)
        squares = X.multiply(X).mean() - X.mean() ** 2 if hasattr(X, "multiply") else X.var()
        return 1 / (X.shape[1] * float(squares)) if squares > 0 else 1.0

    def _settings(self, total_weight: float) -> dict[str, Any]:
        kernels: dict[str, dict[str, Any]] = {
            "rbf": {"gamma": self._gamma},
            "poly": {"degree": self.degree},
            "linear": {},
        }
        if self.kernel not in kernels:
            raise ValueError(f"kernel is one of {list(kernels)}, not {self.kernel!r}")
        return self._in_epochs() | {"returned": self.returned} | kernels[self.kernel]


@_documented
class PassiveAggressive(_RowByRow):
    """Passive-aggressive learning (Crammer and others 2006).

    The smallest update that gives the row a margin of 1, capped or damped by C.

    Parameters
    ----------
    C : float, default=1.0
        How far an update may go.
    variant : {"pa1", "pa2", "pa"}, default="pa1"
        PA-I caps steps at C, PA-II damps them, PA goes all the way.
    {parameters}

    Examples
    --------
    >>> from novikoff import PassiveAggressive
    >>> PassiveAggressive().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"]).predict([[5.0]]).tolist()
    ['b']
    """

    _learner = "passive-aggressive"

    def __init__(
        self,
        C: float = 1.0,
        *,
        variant: Literal["pa1", "pa2", "pa"] = "pa1",
        max_iter: int = 30,
        shuffle: bool = True,
        fit_intercept: bool = True,
        scale: Scale = None,
        class_weight: Any = None,
        multiclass: str = "joint",
        calibrate: str | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.variant = variant
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        settings = self._in_epochs() | {"cost": float(self.C), "variant": self.variant}
        if self.multiclass != "joint":
            settings["multiclass"] = self.multiclass
        return settings
