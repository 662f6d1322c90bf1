"""Tables: frames with numbers, categories, texts and missing values in."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import validate_data

from . import _novikoff
from ._frames import column_of, is_frame, names_of, row_of, table_of, table_of_array
from ._linear import Scale
from ._reading import Explanation, Reading, ReadingClassifier, ReadingRegressor
from ._text import recipe_of

Missing = Literal["auto", "error", "zero", "mean", "indicator"]
Columns = Any


class _Table(Reading):
    """What the estimators over tables share."""

    _reads = "table"

    categories: Columns
    numbers: Columns
    text: Columns
    drop: Columns
    missing: Missing
    interactions: Any
    text_options: dict[str, Any] | None

    # -- tables in ----------------------------------------------------------------------------------------

    def _table(self, X: Any, reset: bool) -> _novikoff.Table:
        """The columns of what was given, after a look at it."""
        if not is_frame(X):
            return self._table_of_array(X, reset)
        table = table_of(X)
        if reset:
            self._has_names = True
            self._is_numeric = table.is_numeric
        elif self._has_names and self._is_numeric:
            self._check_order(table.names)
        if len(table) == 0:
            what = f"Found array with 0 sample(s) (shape=(0, {len(table.names)}))"
            raise ValueError(f"{what} while a minimum of 1 is required by {type(self).__name__}.")
        return table

    def _table_of_array(self, X: Any, reset: bool) -> _novikoff.Table:
        if reset:
            self._has_names, self._is_numeric = False, False
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        self._array_is_numeric = X.dtype.kind in "fiu"
        names = None if reset or not self._has_names else self._names_in
        return table_of_array(X, names)

    def _check_order(self, names: list[str]) -> None:
        """A frame of numbers is an array with names, which keep their order, as scikit-learn has it."""
        aside = {*self._beside, *self._meant(self.drop, names)} - set(self._names_in)
        own = [name for name in names if name not in aside]
        if own == self._names_in:
            return
        what = "The feature names should match those that were passed during fit.\n"
        unseen, missing = sorted({*own} - {*self._names_in}), sorted({*self._names_in} - {*own})
        if unseen:
            what += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
        if missing:
            listed = "".join(f"- {name}\n" for name in missing[:5])
            what += f"Feature names seen at fit time, yet now missing:\n{listed}"
        if not unseen and not missing:
            what += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(what)

    def _remember_names(self, names: list[str], is_all_strings: bool) -> None:
        self.n_features_in_, self._names_in = len(names), names
        self.__dict__.pop("feature_names_in_", None)
        if is_all_strings:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _meant(self, columns: Columns, names: list[str]) -> list[str]:
        """Columns that a parameter names; of an array, by their places."""
        if columns is None:
            return []
        if isinstance(columns, (str, bytes)) or not isinstance(columns, Iterable):
            columns = [columns]
        if self._has_names:
            return names_of(columns)
        return [names[column] if isinstance(column, (int, np.integer)) else str(column) for column in columns]

    # -- fitting ------------------------------------------------------------------------------------------

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> _novikoff.Dataset:
        table = self._table(X, reset=True)
        names = table.names
        settings = self._reading(names)
        if isinstance(y, str):
            label, y = y, column_of(X, table, y)
        else:
            label = self._label_name(y, names)
        if isinstance(sample_weight, str):
            settings["row_weights"], sample_weight = sample_weight, None
        self._beside = [name for name in (label, settings.get("row_weights")) if name is not None]
        others = [name for name in names if name not in self._beside]
        if self._has_names:
            self._remember_names(others, not hasattr(X, "columns") or _are_strings(X.columns))
        y = self._check_labels(y, len(table))
        labels, targets = (None, self._targets(y)) if self._learns_numbers() else (self._take_labels(y), None)
        given = self._request(labels, sample_weight, len(table), settings)
        return _novikoff.read_table(table, label, targets, given)

    def _take_labels(self, y: np.ndarray) -> Any:
        raise NotImplementedError

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Numbers to predict, which are a column of the table: whole ones as such."""
        if not np.isfinite(y).all():
            raise ValueError("Input y contains infinity or a value too large")
        return y if y.dtype.kind in "iu" else np.ascontiguousarray(y, dtype=np.float64)

    def _label_name(self, y: Any, names: list[str]) -> str:
        """What the column of the labels is called in the model; of an array it is the last."""
        if not self._has_names:
            return str(len(names) + 1)
        own = getattr(y, "name", None)
        name = own if isinstance(own, str) and own else "label"
        while name in names:
            name += "_"
        return name

    def _reading(self, names: list[str]) -> dict[str, Any]:
        """How the table is read, by the engine's names."""
        settings: dict[str, Any] = {
            "drop": self._meant(self.drop, names),
            "categories": self._meant(self.categories, names),
            "numbers": self._meant(self.numbers, names),
            "text": self._meant(self.text, names),
            "missing": self.missing,
            "interactions": _interactions(self.interactions),
        }
        if not self._has_names and self._array_is_numeric:
            # An array of numbers holds numbers, and no numbers of rows.
            taken = {name for key in ("drop", "categories", "text") for name in settings[key]}
            settings["numbers"] = [name for name in names if name not in taken]
        return settings | recipe_of(None, is_counts=self.learner == "bayes", **(self.text_options or {}))

    def _apply(self, X: Any) -> _novikoff.Dataset:
        table = self._table(X, reset=False)
        settings: dict[str, Any] = {"missing": self.missing}
        names = table.names
        if self.model_.has_header:
            settings["drop"] = [name for name in self._meant(self.drop, names) if name in names]
        given = self._request(None, None, len(table), settings, model=self.model_)
        rows = _novikoff.read_table(table, None, None, given)
        if rows.unseen > 0:
            values = "1 value is" if rows.unseen == 1 else f"{rows.unseen} values are"
            what = f"{values} of categories that the model has never seen: they weigh nothing"
            warnings.warn(what, UserWarning, stacklevel=4)
        return rows

    @property
    def columns_(self) -> dict[str, str]:
        """What each column became: "numbers", "categories", "text", "left out", "row weights"."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has no columns before it is fitted")
        return {name: role for name, role in self.model_.columns() if role != "label"}

    def explain(self, row: Any) -> Explanation:
        """What each feature of a row adds to its score, or to its number.

        Parameters
        ----------
        row : mapping, pandas Series or frame of one row
            The row.

        Returns
        -------
        Explanation
            The prediction, the score, and the features with their parts, the largest in size first.
        """
        frame = row_of(row)
        return self._explain(self._rows(frame), self.predict(frame)[0])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions, or R² of numbers.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or str
            Their labels or targets, or the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        float
            The share of correct predictions; of numbers ``1 − u/v``, with the sums of squares u of residuals
            and v around the mean.
        """
        if isinstance(y, str):
            y = column_of(X, table_of(X), y)
        result: float = super().score(X, y, sample_weight)
        return result

    def _load(self, path: Any) -> None:
        super()._load(path)
        self._has_names, self._is_numeric, self._array_is_numeric = self.model_.has_header, False, False
        roles = self.model_.columns()
        self._remember_names(
            [name for name, role in roles if role not in ("label", "row weights")], self._has_names
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _are_strings(columns: Iterable[Any]) -> bool:
    return all(isinstance(name, str) for name in columns)


def _interactions(given: Any) -> list[str]:
    """Columns to multiply, as ``a*b``; pairs may be tuples."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    return [one if isinstance(one, str) else "*".join(str(name) for name in one) for one in given]


_READING = """categories, numbers, text, drop : list of str, default=None
        Columns that hold categories, numbers or documents, whatever they look like, and columns to leave out.
        The engine decides about all others by their values, and warns of those that it leaves out. Columns of
        arrays are meant by their places.
    missing : {"auto", "error", "zero", "mean", "indicator"}, default="auto"
        What missing values are: an error; zero; the mean of the column; or zero with a feature of their own.
        "auto" is "indicator" if there are some in training; if there are none, later ones are taken for the
        mean. Of categories a missing value is none of them.
    interactions : list of str or of tuples, default=None
        Columns whose features are multiplied: ``"a*b"`` or ``("a", "b")``.
    text_options : dict, default=None
        How documents become features: parameters of :class:`TextClassifier` such as ``ngram_range``;
        ``min_df`` is a number of documents here, and ``max_df`` a share.
    tol : float, default=1e-4
        Relative duality gap to reach: ``(objective − dual bound) / objective``.
    max_iter : int, default=None
        Most steps of the solver, or most epochs.
    fit_intercept : bool, default=True
        Whether scores have a constant term.
    scale : {None, "standard", "max-abs", "unit-variance"}, default="standard"
        How columns are brought to one size. The weights are folded back: the model applies to rows as they
        are."""

_SHARED = """certify : bool, default=False
        Whether ``fit`` makes the certificate at once. By default it is made when ``certificate_`` is asked
        for.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every step; training ends with what there is when it returns True."""

_KNOWN = """columns_ : dict
        What each column became.
    feature_names_ : ndarray of shape (n_weights,)
        The features that the columns became: ``age``, ``sex=male``, ``age=missing``, ``text:word``.
    coef_ : ndarray
        Their weights.
    intercept_, gap_, objective_, dual_bound_, certificate_, n_iter_, history_, model_
        As those of :class:`LogisticRegression`.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where these are strings."""


def _documented(cls: type) -> type:
    """Fills in the parameters that both estimators have."""
    text = (cls.__doc__ or "").replace("{reading}", _READING).replace("{shared}", _SHARED)
    cls.__doc__ = text.replace("{known}", _KNOWN)
    return cls


@_documented
class TableClassifier(_Table, ReadingClassifier):
    """Classification of the rows of a table, with a proved gap.

    Takes frames as they are: numbers, categories, truth values, documents, and missing values. The engine
    decides what each column is, as the program does for a CSV file of the same table, and keeps the recipe in
    the model. Frames are those of pandas, polars, pyarrow, duckdb and all that has ``__arrow_c_stream__``,
    mappings of names to columns, and structured arrays; numeric arrays are tables of numbers. Columns are
    matched by their names, in any order; those of frames of numbers alone keep their order.

    Parameters
    ----------
    learner : str, default="auto"
        What learns: "logistic" by default, or "squared-svm" if a column holds documents, as in the program;
        or "svm", "exponential", "boosting", "max-margin", "bayes", "averaged", "perceptron", "voted",
        "passive-aggressive", "network".
    C : float, default=1.0
        Inverse strength of the penalty.
    alpha : float, default=1.0
        What "bayes" adds to every count.
    {reading}
    class_weight : dict or "balanced", default=None
        How much each class counts.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from, in place of the likelihood's.
    {shared}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    {known}

    Examples
    --------
    >>> from novikoff import TableClassifier
    >>> frame = {
    ...     "age": [22.0, 38.0, None, 35.0, 54.0, 2.0],
    ...     "sex": ["m", "f", "f", "f", "m", "m"],
    ...     "survived": ["no", "yes", "yes", "yes", "no", "no"],
    ... }
    >>> model = TableClassifier().fit(frame, "survived")
    >>> model.columns_
    {'age': 'numbers', 'sex': 'categories'}
    >>> model.feature_names_.tolist()
    ['age', 'age=missing', 'sex=m', 'sex=f']
    >>> model.predict({"sex": ["f"], "age": [30]}).tolist()
    ['yes']
    """

    def __init__(
        self,
        learner: str = "auto",
        *,
        C: float = 1.0,
        alpha: float = 1.0,
        categories: Columns = None,
        numbers: Columns = None,
        text: Columns = None,
        drop: Columns = None,
        missing: Missing = "auto",
        interactions: Any = None,
        text_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        scale: Scale = "standard",
        class_weight: Any = None,
        calibrate: str | None = None,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.learner = learner
        self.C = C
        self.alpha = alpha
        self.categories = categories
        self.numbers = numbers
        self.text = text
        self.drop = drop
        self.missing = missing
        self.interactions = interactions
        self.text_options = text_options
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableClassifier:
        """Fit the model.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or str
            Their classes, or the column of X that holds them.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            How often each row counts, or the column of X that says so.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._train(self._read_training(X, y, sample_weight))
        return self

    def _take_labels(self, y: np.ndarray) -> tuple[np.ndarray, list[str]]:
        return ReadingClassifier._take_labels(self, y)

    @classmethod
    def load(cls, path: Any) -> TableClassifier:
        """Read a model of tables from a file of the program, or of ``save``.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        TableClassifier
            An estimator that predicts by the model. Labels that are all numbers become numbers.
        """
        loaded = cls()
        loaded._load(path)
        return loaded


@_documented
class TableRegressor(_Table, ReadingRegressor):
    """Regression over the rows of a table, with a proved gap.

    Takes frames as :class:`TableClassifier` does.

    Parameters
    ----------
    learner : str, default="auto"
        What learns: "least-squares" by default; or "least-absolute", "huber", "quantile" (the median),
        "network".
    alpha : float, default=None
        Strength of the penalty, of the sum of losses plus ``alpha ‖w‖²``, as of :class:`Ridge`. By default
        there is none, or next to none where the learner needs one; for documents it is 0.5.
    {reading}
    {shared}

    Attributes
    ----------
    {known}

    Examples
    --------
    >>> from novikoff import TableRegressor
    >>> frame = {"size": [1, 2, 3, 4], "town": ["a", "b", "a", "b"], "price": [10, 25, 30, 45]}
    >>> model = TableRegressor().fit(frame, "price")
    >>> model.predict({"size": [5], "town": ["a"]}).round(6).tolist()
    [50.0]
    """

    def __init__(
        self,
        learner: str = "auto",
        *,
        alpha: float | None = None,
        categories: Columns = None,
        numbers: Columns = None,
        text: Columns = None,
        drop: Columns = None,
        missing: Missing = "auto",
        interactions: Any = None,
        text_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        scale: Scale = "standard",
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.learner = learner
        self.alpha = alpha
        self.categories = categories
        self.numbers = numbers
        self.text = text
        self.drop = drop
        self.missing = missing
        self.interactions = interactions
        self.text_options = text_options
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableRegressor:
        """Fit the model.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or str
            Their targets, or the column of X that holds them.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            How often each row counts, or the column of X that says so.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._train(self._read_training(X, y, sample_weight))
        return self

    @classmethod
    def load(cls, path: Any) -> TableRegressor:
        """Read a model of tables from a file of the program, or of ``save``.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        TableRegressor
            An estimator that predicts by the model.
        """
        loaded = cls()
        loaded._load(path)
        return loaded
