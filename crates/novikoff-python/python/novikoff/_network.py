"""Networks with one hidden layer."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d, validate_data

from ._arrays import FLOATS, refuse_damaged
from ._base import Estimator
from ._linear import nonnegative
from ._online import _Epochs


class _Layered(Estimator):
    _learner = "network"

    def _network(self) -> dict[str, Any]:
        return {
            "units": self.hidden_units,
            "activation": self.activation,
            "lambda": nonnegative("l2", self.l2),
            "batch": self.batch_size,
            "step": float(self.learning_rate_init),
            "epochs": self.max_iter,
            "shuffle": self.shuffle,
        }


class Network(_Layered, _Epochs):
    """Classifier with one hidden layer, trained by mini-batches and Adam.

    Its objective is not convex, so it has no certificate.

    Parameters
    ----------
    hidden_units : int, default=128
        Units of the hidden layer.
    activation : {"relu", "tanh"}, default="relu"
        What hidden units make of their sums.
    loss : {"logistic", "hinge", "squared_hinge"}, default="logistic"
        The loss.
    l2 : float, default=0.0
        Strength of the penalty ``(l2/2)‖w‖²``.
    batch_size : int, default=None
        Rows of a step; 128 by default, and fewer where rows are few.
    learning_rate_init : float, default=2e-3
        Length of Adam's steps in the first epoch.
    max_iter : int, default=30
        Epochs.
    shuffle : bool, default=True
        Whether rows are shuffled before every epoch.
    scale : {"standard", None, "max-abs", "unit-variance"}, default="standard"
        How columns are brought to one size first.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from.
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
    n_iter_ : int
        Epochs.
    history_ : list of dict
        Every epoch.
    model_ : novikoff.Model
        The engine's model.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from novikoff import Network
    >>> X, y = load_digits(return_X_y=True)
    >>> Network(max_iter=10).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    def __init__(
        self,
        hidden_units: int = 128,
        *,
        activation: Literal["relu", "tanh"] = "relu",
        loss: Literal["logistic", "hinge", "squared_hinge"] = "logistic",
        l2: float = 0.0,
        batch_size: int | None = None,
        learning_rate_init: float = 2e-3,
        max_iter: int = 30,
        shuffle: bool = True,
        scale: str | None = "standard",
        class_weight: Any = None,
        calibrate: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.hidden_units = hidden_units
        self.activation = activation
        self.loss = loss
        self.l2 = l2
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.scale = scale
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._network() | {"loss": self.loss, "calibrate": self.calibrate}

    def _has_probabilities(self) -> bool:
        return self.loss == "logistic" or self.calibrate is not None


class NetworkRegressor(RegressorMixin, _Layered):
    """Regressor with one hidden layer, trained by mini-batches and Adam.

    Parameters
    ----------
    hidden_units : int, default=128
        Units of the hidden layer.
    activation : {"relu", "tanh"}, default="relu"
        What hidden units make of their sums.
    loss : {"squared", "absolute"}, default="squared"
        The loss.
    l2 : float, default=0.0
        Strength of the penalty ``(l2/2)‖w‖²``.
    batch_size : int, default=None
        Rows of a step; 128 by default, and fewer where rows are few.
    learning_rate_init : float, default=2e-3
        Length of Adam's steps in the first epoch.
    max_iter : int, default=30
        Epochs.
    shuffle : bool, default=True
        Whether rows are shuffled before every epoch.
    scale : {"standard", None, "max-abs", "unit-variance"}, default="standard"
        How columns are brought to one size first.
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
    n_iter_, history_, model_
        As those of :class:`Network`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from novikoff import NetworkRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> NetworkRegressor(hidden_units=16).fit(X, y).score(X, y) > 0.3
    True
    """

    def __init__(
        self,
        hidden_units: int = 128,
        *,
        activation: Literal["relu", "tanh"] = "relu",
        loss: Literal["squared", "absolute"] = "squared",
        l2: float = 0.0,
        batch_size: int | None = None,
        learning_rate_init: float = 2e-3,
        max_iter: int = 30,
        shuffle: bool = True,
        scale: str | None = "standard",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.hidden_units = hidden_units
        self.activation = activation
        self.loss = loss
        self.l2 = l2
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NetworkRegressor:
        """Fit the model, in epochs over the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        refuse_damaged(X)
        return validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", ensure_all_finite=False, y_numeric=True
        )

    def _encode_labels(self, y: Any) -> Any:
        return np.ascontiguousarray(column_or_1d(y), dtype=np.float64)

    def _shared_settings(self) -> dict[str, Any]:
        return super()._shared_settings() | {"task": "regression"}

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._network() | {"loss": self.loss}

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
