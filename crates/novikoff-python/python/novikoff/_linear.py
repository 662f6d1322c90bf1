"""Classifiers that minimise a loss over all rows, to a proved distance from the minimum."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ._base import LinearClassifier, Regressor

Scale = Literal["standard", "max-abs", "unit-variance"] | None


def penalty(C: float, l1_ratio: float, total_weight: float) -> dict[str, float]:
    """The penalty of ``C Σ loss + ½(1 − l1_ratio)‖w‖² + l1_ratio‖w‖₁``, over the mean of the loss."""
    if not C > 0:
        raise ValueError(f"C is a number above 0, not {C}")
    if not 0 <= l1_ratio <= 1:
        raise ValueError(f"l1_ratio is a number from 0 to 1, not {l1_ratio}")
    if np.isinf(C):
        return {"lambda": 0.0}
    if l1_ratio == 0:
        return {"cost": C}
    strength = 1 / (C * total_weight) if total_weight > 0 else 0.0
    return {"lambda": strength * (1 - l1_ratio), "l1": strength * l1_ratio}


class _BatchClassifier(LinearClassifier):
    """A classifier with a penalty, a tolerance and a choice of solvers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _BatchClassifier:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; 2 is the row twice, 0 is no row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _minimising(self, total_weight: float) -> dict[str, Any]:
        settings: dict[str, Any] = penalty(self.C, self.l1_ratio, total_weight)
        settings.update(tolerance=self.tol, steps=self.max_iter, solver=self.solver, calibrate=self.calibrate)
        settings["trace"] = True
        if self.multiclass != "auto":
            settings["multiclass"] = self.multiclass
        return settings

    def _chosen(self, value: float, total_weight: float) -> None:
        self.C = 1 / (value * total_weight) if value > 0 else np.inf

    def _has_probabilities(self) -> bool:
        return self.calibrate is not None


class LogisticRegression(_BatchClassifier):
    """Logistic regression, with a proved gap.

    Minimises ``C Σ log(1 + exp(−y s)) + ½‖w‖²`` over scores ``s = <w, x> + b``: the objective of
    scikit-learn's estimator of this name. More than two classes share one multinomial loss.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty; ``numpy.inf`` for none.
    l1_ratio : float, default=0.0
        Share of the ℓ1 norm in the penalty, from 0 (none) to 1 (no other).
    tol : float, default=1e-4
        Relative duality gap to reach: ``(objective − dual bound) / objective``. The objective of the fit is
        at most by this share above the minimum.
    fit_intercept : bool, default=True
        Whether the score has a constant term.
    penalize_intercept : bool, default=False
        Whether the penalty applies to the constant term, as in LIBLINEAR.
    scale : {None, "standard", "max-abs", "unit-variance"}, default=None
        How columns are brought to one size before the loss is minimised. The weights are folded back: the
        model applies to rows as they are.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    multiclass : {"auto", "joint", "one-vs-rest"}, default="auto"
        How more than two classes are told apart: jointly by default.
    solver : str, default="auto"
        The method; by default the one that suits the loss and the shape of the data.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from, in place of the likelihood's.
    max_iter : int, default=None
        Most steps of the solver; by default more than it usually needs.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last fit.
    certify : bool, default=False
        Whether ``fit`` makes the certificate at once. By default it is made when ``certificate_`` is asked
        for.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0. The same rows, settings and seed give the same bits on any
        number of threads.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every step; training ends with what there is when it returns True.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant terms.
    gap_ : float
        The relative duality gap, in spite of rounding.
    objective_, dual_bound_ : float
        The mean of the losses plus the penalty, and what no weights fall below.
    certificate_ : novikoff.Certificate
        The proof of that.
    n_iter_ : int
        Steps of the solver.
    history_ : list of dict
        Every step of the solver, with its own objective: of a dual method that of the dual.
    model_ : novikoff.Model
        The engine's model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from novikoff import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(tol=1e-6).fit(X, y)
    >>> bool(model.gap_ <= 1e-6)
    True
    >>> round(model.score(X, y), 2)
    0.97
    """

    _learner = "logistic"

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        scale: Scale = None,
        class_weight: Any = None,
        multiclass: str = "auto",
        solver: str = "auto",
        calibrate: str | None = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.scale = scale
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.solver = solver
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising(total_weight)

    def _has_probabilities(self) -> bool:
        return True


class LinearSVC(_BatchClassifier):
    """Linear support vector machine, with a proved gap.

    Minimises ``C Σ loss + ½‖w‖²`` over scores ``s = <w, x> + b``, for the hinge loss or its square. Unlike
    scikit-learn's estimator of this name, the constant term is not penalised by default.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    C : float, default=1.0
        Inverse strength of the penalty.
    l1_ratio : float, default=0.0
        Share of the ℓ1 norm in the penalty, from 0 (none) to 1 (no other).
    tol : float, default=1e-4
        Relative duality gap to reach: ``(objective − dual bound) / objective``.
    fit_intercept : bool, default=True
        Whether the score has a constant term.
    penalize_intercept : bool, default=False
        Whether the penalty applies to the constant term, as in LIBLINEAR and scikit-learn.
    scale : {None, "standard", "max-abs", "unit-variance"}, default=None
        How columns are brought to one size before the loss is minimised.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    multiclass : {"auto", "one-vs-rest"}, default="auto"
        How more than two classes are told apart: each against the rest.
    solver : str, default="auto"
        The method; by default the one that suits the loss and the shape of the data.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from; gives ``predict_proba``.
    max_iter : int, default=None
        Most steps of the solver; by default more than it usually needs.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last fit.
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
        Called with a dict for every step; training ends with what there is when it returns True.

    Attributes
    ----------
    classes_, coef_, intercept_, gap_, objective_, dual_bound_, certificate_, n_iter_, history_, model_
        As those of :class:`LogisticRegression`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from novikoff import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(loss="hinge", scale="standard").fit(X, y)
    >>> model.certificate_.verify(X, y)[-1].holds
    True
    """

    def __init__(
        self,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        scale: Scale = None,
        class_weight: Any = None,
        multiclass: str = "auto",
        solver: str = "auto",
        calibrate: str | None = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.scale = scale
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.solver = solver
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _learner_name(self) -> str:
        names = {"hinge": "svm", "squared_hinge": "squared-svm"}
        if self.loss not in names:
            raise ValueError(f"loss is 'hinge' or 'squared_hinge', not {self.loss!r}")
        return names[self.loss]

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising(total_weight)


class MaxMarginClassifier(LinearClassifier):
    """The hyperplane with the largest margin, for rows that can be separated.

    Finds the shortest ``w`` with ``y (<w, x> + b) ≥ 1`` on every row. Its margin lies in a proved interval.
    Rows that cannot be separated have no such hyperplane: ``fit`` warns, and ``novikoff.margin`` proves it.

    Parameters
    ----------
    tol : float, default=1e-8
        How much wider than the margin the interval may be, relatively.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    max_iter : int, default=None
        Most rounds over the rows.
    certify : bool, default=False
        Whether ``fit`` makes the certificate at once.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every round; training ends with what there is when it returns True.

    Attributes
    ----------
    margin_ : tuple of two floats
        Between which the largest margin of all hyperplanes lies; the first is that of this one.
    classes_, coef_, intercept_, certificate_, n_iter_, model_
        As those of :class:`LogisticRegression`.

    Examples
    --------
    >>> from novikoff import MaxMarginClassifier
    >>> model = MaxMarginClassifier().fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> round(model.margin_[0], 3)
    1.0
    """

    _learner = "max-margin"

    def __init__(
        self,
        *,
        tol: float = 1e-8,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MaxMarginClassifier:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 do not count; other weights change nothing, as every row must be separated.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _data(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        if sample_weight is not None:
            counts = _check_sample_weight(sample_weight, X, ensure_non_negative=True) > 0
            X, y = X[counts], y[counts]
            if len(np.unique(y)) < 2:
                raise ValueError(
                    "MaxMarginClassifier needs rows of two classes at least, and one class has weights"
                )
        return super()._data(X, y, None)

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return {"tolerance": self.tol, "steps": self.max_iter}

    def _take(self, fit: Any) -> None:
        super()._take(fit)
        self.margin_ = fit.margin

    def _has_probabilities(self) -> bool:
        return False


class _BatchRegressor(Regressor):
    """A regressor with a penalty and a tolerance."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _BatchRegressor:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; 2 is the row twice, 0 is no row.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _minimising(self) -> dict[str, Any]:
        return {"tolerance": self.tol, "steps": self.max_iter, "trace": True}


_REGRESSION_PARAMETERS = """tol : float, default=1e-4
        Relative duality gap to reach: ``(objective − dual bound) / objective``.
    fit_intercept : bool, default=True
        Whether predictions have a constant term, which no penalty applies to.
    scale : {None, "standard", "max-abs", "unit-variance"}, default=None
        How columns are brought to one size before the loss is minimised.
    max_iter : int, default=None
        Most steps of the solver; by default more than it usually needs.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last fit.
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
        Called with a dict for every step; training ends with what there is when it returns True.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : float
        Constant term.
    gap_ : float
        The relative duality gap, in spite of rounding.
    objective_, dual_bound_ : float
        The mean of the losses plus the penalty, and what no weights fall below.
    certificate_ : novikoff.Certificate
        The proof of that.
    n_iter_ : int
        Steps of the solver.
    history_ : list of dict
        Every step of the solver, with its own objective: of a dual method that of the dual.
    model_ : novikoff.Model
        The engine's model."""


def _regressor(cls: type) -> type:
    """Fills in the parameters that all regressors have."""
    cls.__doc__ = (cls.__doc__ or "").replace("{parameters}", _REGRESSION_PARAMETERS)
    return cls


@_regressor
class Ridge(_BatchRegressor):
    """Least squares with an ℓ2 penalty, with a proved gap.

    Minimises ``‖y − Xw − b‖² + alpha ‖w‖²``: the objective of scikit-learn's estimator of this name.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 for least squares, of several minima the shortest.
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from novikoff import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Ridge(alpha=0.1).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    _learner = "least-squares"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        alpha = nonnegative("alpha", self.alpha)
        return self._minimising() | {"lambda": 2 * alpha / total_weight if total_weight > 0 else 0.0}

    def _chosen(self, value: float, total_weight: float) -> None:
        self.alpha = value * total_weight / 2


@_regressor
class ElasticNet(_BatchRegressor):
    """Least squares with ℓ1 and ℓ2 penalties, with a proved gap.

    Minimises ``‖y − Xw − b‖² / 2n + alpha l1_ratio ‖w‖₁ + ½ alpha (1 − l1_ratio) ‖w‖²``: the objective of
    scikit-learn's estimator of this name, where n is the sum of the rows' weights. ``objective_`` is twice
    that, as the engine counts it.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalties.
    l1_ratio : float, default=0.5
        Share of the ℓ1 norm.
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from novikoff import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=0.001, l1_ratio=0.9).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    _learner = "least-squares"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        alpha = nonnegative("alpha", self.alpha)
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"l1_ratio is a number from 0 to 1, not {self.l1_ratio}")
        penalties = {"lambda": 2 * alpha * (1 - self.l1_ratio), "l1": 2 * alpha * self.l1_ratio}
        return self._minimising() | penalties


@_regressor
class Lasso(_BatchRegressor):
    """Least squares with an ℓ1 penalty, with a proved gap.

    Minimises ``‖y − Xw − b‖² / 2n + alpha ‖w‖₁``: the objective of scikit-learn's estimator of this name,
    where n is the sum of the rows' weights. ``objective_`` is twice that, as the engine counts it.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty.
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from novikoff import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Lasso(alpha=1.0).fit(X, y)
    >>> int((model.coef_ != 0).sum())
    3
    """

    _learner = "least-squares"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising() | {"lambda": 0.0, "l1": 2 * nonnegative("alpha", self.alpha)}


@_regressor
class LeastAbsoluteDeviations(_BatchRegressor):
    """Regression by least absolute deviations, with a proved gap.

    Minimises ``(1/n) Σ |y − s| + (l2/2)‖w‖²``. Outliers pull no farther than any other row.

    Parameters
    ----------
    l2 : float, default=1e-4
        Strength of the penalty, small enough to do little but to single out one of several minima. With 0 a
        minimum is found by linear programming, if columns are few.
    {parameters}

    Examples
    --------
    >>> from novikoff import LeastAbsoluteDeviations
    >>> model = LeastAbsoluteDeviations().fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 100, 3, 4])
    >>> round(float(model.coef_[0]), 2)
    1.0
    """

    _learner = "least-absolute"

    def __init__(
        self,
        *,
        l2: float = 1e-4,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.l2 = l2
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising() | {"lambda": nonnegative("l2", self.l2)}

    def _chosen(self, value: float, total_weight: float) -> None:
        self.l2 = value


@_regressor
class QuantileRegressor(_BatchRegressor):
    """Regression of a quantile, with a proved gap.

    Minimises ``(1/n) Σ pinball(y, s) + (l2/2)‖w‖²``: so that a share ``quantile`` of the rows is at or below
    the prediction. Scikit-learn's estimator of this name has an ℓ1 penalty instead.

    Parameters
    ----------
    quantile : float, default=0.5
        The share, between 0 and 1.
    l2 : float, default=1e-4
        Strength of the penalty, small enough to do little but to single out one of several minima. With 0 a
        minimum is found by linear programming, if columns are few.
    {parameters}

    Examples
    --------
    >>> from novikoff import QuantileRegressor
    >>> model = QuantileRegressor(quantile=0.8).fit([[0.0]] * 5, [1.0, 2.0, 3.0, 4.0, 100.0])
    >>> 4.0 <= model.intercept_ <= 100.0
    True
    """

    _learner = "quantile"

    def __init__(
        self,
        quantile: float = 0.5,
        *,
        l2: float = 1e-4,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.quantile = quantile
        self.l2 = l2
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising() | {"quantile": float(self.quantile), "lambda": nonnegative("l2", self.l2)}

    def _chosen(self, value: float, total_weight: float) -> None:
        self.l2 = value


@_regressor
class HuberRegressor(_BatchRegressor):
    """Regression with Huber's loss, with a proved gap.

    Minimises ``(1/n) Σ huber(y − s) + (l2/2)‖w‖²``, where the loss is squared for residuals up to ``width``
    and linear beyond it. Scikit-learn's estimator of this name also estimates the width.

    Parameters
    ----------
    width : float, default=1.0
        The largest residual that counts by its square, in the unit of the targets.
    l2 : float, default=1e-4
        Strength of the penalty, small enough to do little but to single out one of several minima.
    {parameters}

    Examples
    --------
    >>> from novikoff import HuberRegressor
    >>> model = HuberRegressor(width=0.1).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 3, 100])
    >>> round(float(model.coef_[0]), 1)
    1.0
    """

    _learner = "huber"

    def __init__(
        self,
        width: float = 1.0,
        *,
        l2: float = 1e-4,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        scale: Scale = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.width = width
        self.l2 = l2
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _settings(self, total_weight: float) -> dict[str, Any]:
        return self._minimising() | {"width": float(self.width), "lambda": nonnegative("l2", self.l2)}

    def _chosen(self, value: float, total_weight: float) -> None:
        self.l2 = value


def nonnegative(name: str, value: float) -> float:
    """The value of a parameter that is a finite number from 0."""
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"{name} is a finite number from 0, not {value}")
    return float(value)
