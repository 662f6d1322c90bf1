"""Functions over arrays and files: what can be asked without an estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from . import _novikoff
from ._arrays import data_of, label_name, seed_of, threads_of
from ._certificates import Certificate, Verification
from ._display import page, svg, table


@dataclass(frozen=True)
class Margin:
    """Whether rows can be separated, and by what margin."""

    #: True, False, or None where neither is proved.
    separable: bool | None
    #: Between which two the largest margin lies.
    margin: tuple[float, float]
    #: Between which two the length of the longest row lies.
    radius: tuple[float, float]
    #: Between which two the bound on the mistakes of a perceptron lies, ``(R/γ)²``.
    mistake_bound: tuple[float, float]
    #: Weights and bias of a hyperplane with ``y (<w, x> + b) ≥ 1`` on every row, if there is one.
    halfspace: tuple[np.ndarray, float] | None
    #: The proof.
    certificate: Certificate = field(repr=False)
    #: Why there is no proof, where one was tried.
    obstacle: str | None = None

    def _repr_html_(self) -> str:
        verdict = {True: "yes, proved", False: "no, proved", None: "not known"}[self.separable]
        low, high = self.margin
        rows = [
            ("separable", verdict),
            ("margin", f"[{low:.6g}, {high:.6g}]"),
            ("radius", f"{self.radius[1]:.6g}"),
            ("mistakes of a perceptron", f"at most {self.mistake_bound[1]:.6g}"),
        ]
        return page("Margin", table(["", ""], rows))


def margin(
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    fit_intercept: bool = True,
    penalize_intercept: bool = False,
    tol: float = 1e-3,
    max_iter: int = 100_000,
    decide: bool = False,
    random_state: int | None = None,
    n_jobs: int | None = None,
    callback: Any = None,
) -> Margin:
    """Decide whether rows can be separated by a hyperplane, and bracket the margin, with a proof.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.
    positive : label, default=None
        The class to separate from the others; the larger one of two by default.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    penalize_intercept : bool, default=False
        Whether the margin counts the constant term as a weight, of a column of ones: the margin that mistake
        bounds speak of.
    tol : float, default=1e-3
        How much wider than the margin the interval may be, relatively.
    max_iter : int, default=100_000
        Most rounds over the rows.
    decide : bool, default=False
        Whether to end as soon as it is known if the rows can be separated.
    random_state : int, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    callback : callable, default=None
        Called with a dict for every round; the search ends when it returns True.

    Returns
    -------
    Margin
        The answer, the interval, a halfspace, and the certificate.

    Examples
    --------
    >>> import novikoff
    >>> found = novikoff.margin([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> found.separable, bool(0.999 <= found.margin[0] <= 1.0 <= found.margin[1])
    (True, True)
    >>> novikoff.margin([[0.0], [1.0], [0.5]], [0, 0, 1]).separable
    False
    """
    data = data_of(X, y)
    classes, names = np.unique(np.asarray(y)), data["labels"][1]
    if len(names) < 2:
        raise ValueError("margin needs rows of two classes at least")
    if positive is None and len(names) > 2:
        raise ValueError(
            f"there are {len(names)} classes: say which one to separate from the others by positive="
        )
    if positive is not None and positive not in classes.tolist():
        raise ValueError(f"no row has the label {positive!r}")
    chosen = names[-1] if positive is None else label_name(positive)
    found = _novikoff.find_margin(
        data,
        [chosen],
        [name for name in names if name != chosen],
        bias=("penalised" if penalize_intercept else "free") if fit_intercept else "none",
        tolerance=tol,
        rounds=max_iter,
        seed=seed_of(random_state),
        decide=decide,
        callback=callback,
        threads=threads_of(n_jobs),
    )
    return Margin(
        separable=found["separable"],
        margin=found["margin"],
        radius=found["radius"],
        mistake_bound=found["mistake_bound"],
        halfspace=found["halfspace"],
        certificate=Certificate(found["certificate"]),
        obstacle=found["obstacle"],
    )


def verify(certificate: Any, X: Any, y: Any, sample_weight: Any = None) -> Verification:
    """Check a certificate against rows.

    Parameters
    ----------
    certificate : Certificate or path-like
        The certificate, or its file.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows that it is about.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, if there were any.

    Returns
    -------
    Verification
        What came of each claim; true as a condition if all of them hold.

    Examples
    --------
    >>> import novikoff
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> bool(novikoff.verify(novikoff.margin(X, y).certificate, X, y))
    True
    """
    own = certificate if isinstance(certificate, Certificate) else Certificate.load(certificate)
    return own.verify(X, y, sample_weight)


@dataclass(frozen=True)
class Bounds:
    """What theory promises of halfspaces."""

    #: The Vapnik-Chervonenkis dimension.
    vc_dimension: int
    #: Rows that are enough to err on a share epsilon at most, if some halfspace makes no error.
    rows_realizable: int
    #: Fewer rows than this are not enough for any learner; None outside the theorem's range.
    rows_realizable_at_least: int | None
    #: Rows that are enough for the training error to be within epsilon of the true one.
    rows_agnostic: int
    #: Rows that are enough for the least training error to be within epsilon of the best.
    rows_agnostic_best: int
    #: What the given rows are worth, if some halfspace makes no error.
    error_realizable: float | None
    #: By how much training errors on the given rows differ from the true ones at most.
    deviation_agnostic: float | None

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), value) for name, value in self.__dict__.items() if value is not None]
        return page("What theory promises", table(["", ""], rows))


def bounds(
    n_features: int,
    n_samples: int | None = None,
    *,
    epsilon: float = 0.05,
    delta: float = 0.05,
    fit_intercept: bool = True,
) -> Bounds:
    """What theory promises of halfspaces before any row is seen.

    Parameters
    ----------
    n_features : int
        Features.
    n_samples : int, default=None
        Rows whose worth is asked for.
    epsilon : float, default=0.05
        The error, or the deviation.
    delta : float, default=0.05
        The probability of failure.
    fit_intercept : bool, default=True
        Whether halfspaces have a constant term.

    Returns
    -------
    Bounds
        Numbers of rows, and what the given ones are worth, with probability ``1 − delta``.

    Examples
    --------
    >>> import novikoff
    >>> novikoff.bounds(2, epsilon=0.1, delta=0.1).vc_dimension
    3
    """
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {value}")
    found = _novikoff.find_bounds(
        n_features, rows=n_samples, epsilon=epsilon, delta=delta, fit_intercept=fit_intercept
    )
    return Bounds(**found)


@dataclass(frozen=True)
class Rows:
    """Rows of a file. Unpacks into X and y."""

    #: The rows: a CSR matrix, or an array where every column of every row is stored.
    X: Any
    #: Labels, or numbers where all labels are numbers; None if the file has none.
    y: np.ndarray | None
    #: Names of the columns.
    feature_names: list[str]
    #: Weights, if the file has some.
    sample_weight: np.ndarray | None
    #: How the file was understood.
    remarks: list[str] = field(default_factory=list, repr=False)
    #: What may not be expected.
    warnings: list[str] = field(default_factory=list, repr=False)

    def __iter__(self) -> Any:
        return iter((self.X, self.y))


def read(
    path: Any,
    *,
    model: Any = None,
    format: str | None = None,
    label: str | None = None,
    sample_weight: str | None = None,
    regression: bool = False,
    n_jobs: int | None = None,
) -> Rows:
    """Read a file as the program does.

    The format is detected: svmlight, tables, Vowpal Wabbit's text, images, documents; compressed or not.

    Parameters
    ----------
    path : path-like
        The file.
    model : Model, default=None
        A model whose training rows were read from a file: columns, categories and terms are numbered as its
        own are.
    format : str, default=None
        The format; detected by default.
    label : str, default=None
        The label's column of a table.
    sample_weight : str, default=None
        The column of a table with the row weights.
    regression : bool, default=False
        Whether labels are targets.
    n_jobs : int, default=None
        Threads; all cores by default.

    Returns
    -------
    Rows
        Rows and labels, which it unpacks into, names of columns, and row weights.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.svm"
    >>> _ = path.write_text("-1 1:0.5 3:1\\n+1 2:2\\n")
    >>> X, y = novikoff.read(path)
    >>> X.shape, y.tolist()
    ((2, 3), [-1, 1])
    """
    read = _novikoff.read_file(
        path,
        model=model,
        format=format,
        label=label,
        row_weights=sample_weight,
        numbers=regression,
        threads=threads_of(n_jobs),
    )
    if "dense" in read:
        X = read["dense"]
    else:
        X = sparse.csr_matrix((read["data"], read["indices"], read["indptr"]), shape=read["shape"])
    y = _labels(read["labels"], read["names"]) if len(read["labels"]) else None
    return Rows(X, y, read["features"], read["weights"], read["remarks"], read["warnings"])


def _labels(codes: np.ndarray, names: list[str]) -> np.ndarray:
    """Labels by their names, or as numbers where all names are numbers."""
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])[codes]
        except ValueError:
            continue
    return np.array(names)[codes]


@dataclass(frozen=True)
class Comparison:
    """Errors of the perceptron's variants, and of other learners, over epochs."""

    #: A dict for each line: learner, kernel, epochs, mistakes, support, train_error, test_error, seconds.
    rows: list[dict[str, Any]]

    def _repr_html_(self) -> str:
        heads = ["learner", "kernel", "epochs", "mistakes", "support", "train_error", "test_error"]
        lines = [[_shown(row[head]) for head in heads] for row in self.rows]
        return page("Comparison", table([head.replace("_", " ") for head in heads], lines), self.picture())

    def picture(self) -> str:
        """SVG of the test error over epochs."""
        series: dict[str, tuple[list[float], list[float]]] = {}
        for row in self.rows:
            if row["epochs"] is None:
                continue
            normalised = ", normalised" if row["normalised"] else ""
            x, y = series.setdefault(f"{row['learner']}{normalised}, {row['kernel']}", ([], []))
            x.append(row["epochs"])
            y.append(100 * row["test_error"])
        return svg(
            "Test error over epochs",
            "The test error of each variant of the perceptron after some epochs.",
            [(name, x, y) for name, (x, y) in series.items()],
            x_name="epochs",
            y_name="test error, %",
            x_spacing="logarithmic",
        )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def compare(
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    kernels: Any = ("linear",),
    epochs: Any = (1, 10),
    learners: Any = (),
    random_state: int | None = None,
    n_jobs: int | None = None,
    callback: Any = None,
) -> Comparison:
    """Compare the perceptron's variants over epochs, as Freund and Schapire (1999) did.

    Parameters
    ----------
    X, X_test : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows to learn from, and to test on.
    y, y_test : array-like of shape (n_samples,)
        Their labels.
    kernels : sequence of str, default=("linear",)
        Kernels: "linear", "poly:D", "rbf:G".
    epochs : sequence of float, default=(1, 10)
        After how many epochs errors are measured; fractions are allowed.
    learners : sequence of str, default=()
        Other learners to set beside them, such as "svm" and "logistic".
    random_state : int, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    callback : callable, default=None
        Called with a dict for every epoch; ends when it returns True.

    Returns
    -------
    Comparison
        A line for each variant and number of epochs, and a picture of them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import novikoff
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> compared = novikoff.compare(X[:400], y[:400], X[400:], y[400:], epochs=(1, 5))
    >>> sorted({row["learner"] for row in compared.rows})
    ['averaged', 'perceptron', 'random', 'voted']
    """
    rows = _novikoff.compare_learners(
        data_of(X, y),
        data_of(X_test, y_test),
        kernels=list(kernels),
        epochs=[float(each) for each in epochs],
        learners=list(learners),
        seed=seed_of(random_state),
        callback=callback,
        threads=threads_of(n_jobs),
    )
    return Comparison(rows)


@dataclass(frozen=True)
class Tuned:
    """What cross-validation chose."""

    #: The estimator with the best value, fitted to all rows.
    estimator: Any
    #: What was chosen: "λ" or "smoothing".
    parameter: str
    #: The best value.
    value: float
    #: What values were compared by.
    by: str
    #: A dict for each value, from the strongest: value, mean, standard_error, folds.
    path: list[dict[str, Any]] = field(repr=False)
    #: Whether the best value is at an end of those tried.
    is_at_edge: bool = False

    def _repr_html_(self) -> str:
        heads = [self.parameter, f"mean {self.by}", "standard error"]
        lines = [[_shown(tried[key]) for key in ("value", "mean", "standard_error")] for tried in self.path]
        return page(f"{self.parameter} = {self.value:.4g}", table(heads, lines), self.picture())

    def picture(self) -> str:
        """SVG of the figure over the values tried."""
        tried = [each for each in self.path if each["mean"] is not None and each["value"] > 0]
        values, means = [each["value"] for each in tried], [each["mean"] for each in tried]
        errors = [each["standard_error"] or 0.0 for each in tried]
        series = [
            (self.by, values, means),
            ("~one standard error", values, [m + e for m, e in zip(means, errors, strict=True)]),
            ("~one standard error", values, [m - e for m, e in zip(means, errors, strict=True)]),
        ]
        return svg(
            f"Cross-validation over {self.parameter}",
            f"The mean of {self.by} over the folds, for each value of {self.parameter}.",
            series,
            x_name=self.parameter,
            y_name=self.by,
            x_spacing="logarithmic",
        )


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    folds: int = 5,
    values: Any = None,
    by: str | None = None,
    callback: Any = None,
) -> Tuned:
    """Choose the penalty by cross-validation along a warm-started path.

    Each fit starts from the last one's solution, so that a path of fifty values takes little more than a few
    fits.

    Parameters
    ----------
    estimator : estimator
        A learner with a penalty, such as :class:`LogisticRegression` or :class:`Ridge`, or
        :class:`NaiveBayes`. It is not changed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels or targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.
    folds : int, default=5
        Folds, each held out once.
    values : sequence of float, default=None
        Values of λ (of the smoothing) to try, where the objective is ``(1/n) Σ loss + (λ/2)‖w‖²``. By
        default a path that suits the rows, which grows while the best value is at its end.
    by : {"error", "auc", "log-loss", "f1", "r2", "mae", "mse"}, default=None
        What values are compared by.
    callback : callable, default=None
        Called with a dict for every fold.

    Returns
    -------
    Tuned
        The path, the best value, and the estimator fitted with it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import novikoff
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tuned = novikoff.tune(novikoff.LogisticRegression(scale="standard"), X, y)
    >>> tuned.estimator.score(X, y) > 0.97
    True
    """
    from sklearn.base import clone

    own = clone(estimator)
    own._refuse_tuning()
    checked, labels = own._check_fit(X, y)
    data = own._data(checked, labels, sample_weight)
    total = float(len(labels)) if data["weights"] is None else float(data["weights"].sum())
    settings = own._shared_settings() | own._settings(total)
    for penalty in ("cost", "lambda", "smoothing"):
        settings.pop(penalty, None)
    found = _novikoff.tune_learner(
        own._learner_name(),
        settings,
        data,
        folds=folds,
        values=None if values is None else [float(value) for value in values],
        by=by,
        callback=callback,
        threads=threads_of(getattr(own, "n_jobs", None)),
    )
    if found["best"] is None or found["fit"] is None:
        raise ValueError("no value was finished")
    best = found["path"][found["best"]]
    own._take(found["fit"])
    own._remember((X, y, sample_weight))
    own._chosen(best["value"], total)
    return Tuned(own, found["parameter"], best["value"], found["by"], found["path"], found["is_at_edge"])


@dataclass(frozen=True)
class Certified:
    """How far a model that somebody else trained is from the optimum."""

    #: The objective at the model's weights, per row: an upper bound.
    objective: float
    #: What no weights fall below.
    dual_bound: float
    #: ``(objective − dual_bound) / objective``: how far the model can be from the minimum, relatively.
    gap: float
    #: The problem, in words.
    problem: str
    #: The proof.
    certificate: Certificate = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"Certified(objective={self.objective:.6g}, dual_bound={self.dual_bound:.6g}, "
            f"gap={self.gap:.2g}: {self.problem})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("objective", f"{self.objective:.8g}"),
            ("no weights give less than", f"{self.dual_bound:.8g}"),
            ("relative gap", f"{self.gap:.3g}"),
        ]
        return page(self.problem, table(["", ""], rows))


def certify(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, tol: float = 1e-8) -> Certified:
    """How far a model that somebody else trained is from the optimum, with a proof.

    The objective is the one that the estimator's documentation states, with its parameters. novikoff
    minimises it to a small gap, and proves by its own duals what no weights fall below.

    Parameters
    ----------
    estimator : fitted estimator
        Of scikit-learn ``LogisticRegression``, ``LinearSVC``, ``Ridge``, ``Lasso``, ``ElasticNet``,
        ``LinearRegression`` and ``QuantileRegressor`` (with ``alpha=0``); of Snap ML ``LogisticRegression``
        and ``SupportVectorMachine``. What else minimises something unknown is a TypeError.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, if it was fitted with some.
    tol : float, default=1e-8
        Relative duality gap of novikoff's own fit.

    Returns
    -------
    Certified
        The objective, a lower bound on it, and the certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> import novikoff
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = X / X.max(axis=0)
    >>> certified = novikoff.certify(LogisticRegression().fit(X, y), X, y)
    >>> bool(certified.gap < 1e-3), bool(certified.certificate.verify(X, y))
    (True, True)
    """
    from ._foreign import problem_of

    problem = problem_of(estimator, X, y, sample_weight, tol)
    own, coef, intercept = problem.estimator, problem.coef, problem.intercept
    own.fit(X, y, sample_weight)
    data = own._data(own._check_rows(X), y, sample_weight)
    coef, intercept = problem.in_order_of(own, coef, intercept)
    certificate = Certificate(own._fit_result.certificate_of(data, coef, intercept))
    model = own._fit_result.model
    is_joint = model.outputs > 1 and model.about()["settings"].get("multiclass") == "joint"
    objective, bound = certificate._inner.objective_bounds(1 if is_joint else model.outputs)
    return Certified(
        objective=objective,
        dual_bound=bound,
        gap=(objective - bound) / objective if objective > 0 else 0.0,
        problem=problem.words,
        certificate=certificate,
    )


def load(path: Any) -> _novikoff.Model:
    """Read a model from a file of the program, or of ``save``.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Model
        The model: ``predict``, ``scores`` and ``probabilities`` take arrays or CSR matrices of floats,
        with the model's columns. :func:`read` with ``model=`` makes such rows of a file.
    """
    return _novikoff.Model.load(path)


def save(model: Any, path: Any) -> None:
    """Write the model of an estimator to a file, as the program does: as a whole or not at all.

    Parameters
    ----------
    model : estimator or Model
        What to write.
    path : path-like
        The file.
    """
    getattr(model, "model_", model).save(path)
