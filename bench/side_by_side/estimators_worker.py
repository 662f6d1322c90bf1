"""Measures the package for Python beside its peers, in one process; prints a JSON object a line."""

import json
import sys
import time

import numpy as np
from scipy import sparse

import novikoff

TOLERANCES = [0.9, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
ENOUGH = 40.0  # seconds that a solver may take in all
NEAR = 1e-3


def load(path):
    """Rows and labels; tables with their categories one by one, and columns of numbers at unit variance."""
    if path.endswith(".svm"):
        rows = novikoff.read(path)
        return (rows.X.astype(np.float64) if sparse.issparse(rows.X) else rows.X), rows.y, None
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    table = pd.read_csv(path, sep=None, engine="python", skipinitialspace=True)
    label = {"california_housing": "median_house_value", "diamonds": "price"}.get(path.split("/")[-1][:-4], table.columns[-1])
    y, table = table[label], table.drop(columns=label).ffill().bfill()
    numbers = table.select_dtypes("number").columns
    others = [column for column in table.columns if column not in set(numbers)]
    X = make_column_transformer((StandardScaler(), list(numbers)), (OneHotEncoder(), others)).fit_transform(table)
    X = sparse.csr_matrix(X) if others else np.ascontiguousarray(X)
    return X, (y.to_numpy(float) if y.dtype.kind in "if" and y.nunique() > 20 else y.to_numpy(str)), label


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


# -- objectives, from the weights alone -----------------------------------------------------------------------


def scores(X, coef, intercept):
    return X @ np.atleast_2d(coef).T + np.atleast_1d(intercept)


def classes_of(y):
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def logistic(X, y, coef, intercept, C):
    s = scores(X, coef, intercept)
    classes, codes = classes_of(y)
    if s.shape[1] == 1:
        loss = np.logaddexp(0, np.where(codes == 1, -s[:, 0], s[:, 0])).sum()
    else:
        high = s.max(1)
        loss = (high + np.log(np.exp(s - high[:, None]).sum(1)) - s[np.arange(len(y)), codes]).sum()
    return C * loss + 0.5 * (np.asarray(coef) ** 2).sum()


def hinge(X, y, coef, intercept, C, power=1):
    s = scores(X, coef, intercept)
    classes, codes = classes_of(y)
    signs = np.where(codes == 1, 1.0, -1.0)[:, None] if s.shape[1] == 1 else np.where(codes[:, None] == np.arange(s.shape[1]), 1.0, -1.0)
    return C * (np.maximum(0, 1 - signs * s) ** power).sum() + 0.5 * (np.asarray(coef) ** 2).sum()


def squared_hinge(X, y, coef, intercept, C):
    return hinge(X, y, coef, intercept, C, 2)


def ridge(X, y, coef, intercept, alpha):
    return ((y - scores(X, coef, intercept)[:, 0]) ** 2).sum() + alpha * (np.asarray(coef) ** 2).sum()


def lasso(X, y, coef, intercept, alpha):
    return ((y - scores(X, coef, intercept)[:, 0]) ** 2).sum() / (2 * len(y)) + alpha * np.abs(coef).sum()


# -- who minimises what ---------------------------------------------------------------------------------------


def classification(X, y):
    from sklearn import linear_model, svm

    peers = {"logistic": {}, "hinge": {}, "squared hinge": {}}
    few = X.shape[1] < 5000
    for solver in ["lbfgs", "newton-cg", *(["newton-cholesky"] if few else [])]:
        peers["logistic"][solver] = lambda tol, solver=solver: linear_model.LogisticRegression(solver=solver, tol=tol, max_iter=10_000)
    none = {"fit_intercept": False, "max_iter": 100_000}
    peers["hinge"]["LinearSVC"] = lambda tol: svm.LinearSVC(loss="hinge", tol=tol, **none)
    peers["squared hinge"]["LinearSVC dual"] = lambda tol: svm.LinearSVC(dual=True, tol=tol, **none)
    peers["squared hinge"]["LinearSVC primal"] = lambda tol: svm.LinearSVC(dual=False, tol=tol, **none)
    if len(np.unique(y)) == 2:
        try:
            import snapml

            peers["hinge"]["Snap ML"] = lambda tol: snapml.SupportVectorMachine(fit_intercept=False, tol=tol, max_iter=10_000, n_jobs=2)
        except ImportError:
            pass
    own = {
        "logistic": lambda tol: novikoff.LogisticRegression(tol=tol),
        "hinge": lambda tol: novikoff.LinearSVC("hinge", tol=tol, fit_intercept=False),
        "squared hinge": lambda tol: novikoff.LinearSVC(tol=tol, fit_intercept=False),
    }
    objectives = {"logistic": logistic, "hinge": hinge, "squared hinge": squared_hinge}
    return [(name, own[name], peers[name], lambda X, y, c, b, f=objectives[name]: f(X, y, c, b, 1.0)) for name in own]


def regression(X, y):
    from sklearn import linear_model

    spread = float(np.std(y))
    alpha = 0.01 * spread
    problems = [
        (
            "ridge",
            lambda tol: novikoff.Ridge(alpha=1.0, tol=tol),
            {solver: (lambda tol, solver=solver: linear_model.Ridge(alpha=1.0, solver=solver, tol=tol)) for solver in ("auto", "lsqr", "sparse_cg")},
            lambda X, y, c, b: ridge(X, y, c, b, 1.0),
        ),
        (
            "lasso",
            lambda tol: novikoff.Lasso(alpha=alpha, tol=tol),
            {"coordinate descent": lambda tol: linear_model.Lasso(alpha=alpha, tol=tol, max_iter=100_000)},
            lambda X, y, c, b: lasso(X, y, c, b, alpha),
        ),
    ]
    for package, name in (("celer", "Lasso"), ("skglm", "Lasso")):
        try:
            learner = getattr(__import__(package), name)
        except ImportError:
            continue
        problems[1][2][package] = lambda tol, learner=learner: learner(alpha=alpha, tol=tol, max_iter=1000)
    return problems


def to_the_minimum(make, X, y, objective, least, repeat):
    """Seconds of the loosest tolerance that comes near enough, or None."""
    spent = 0.0
    for tolerance in TOLERANCES:
        try:
            took, model = timed(lambda: make(tolerance).fit(X, y))
        except Exception as error:
            print(f"skipped: {error}", file=sys.stderr)
            return None
        spent += took
        value = objective(X, y, np.asarray(model.coef_, dtype=float), np.asarray(getattr(model, "intercept_", 0.0), dtype=float))
        if value <= least * (1 + NEAR):
            turns = [timed(lambda: make(tolerance).fit(X, y))[0] for _ in range(repeat if took < 5 else 1)]
            return min([took, *turns])
        if spent > ENOUGH:
            return None
    return None


def fits(path, repeat):
    X, y, _ = load(path)
    problems = regression(X, y) if y.dtype.kind == "f" else classification(X, y)
    for name, own, peers, objective in problems:
        exact = own(1e-8).fit(X, y)
        reached = objective(X, y, exact.coef_, exact.intercept_)
        least = reached * (1 - max(0.0, exact.gap_ or 0.0))
        mine = to_the_minimum(own, X, y, objective, least, repeat)
        best, by = None, "nobody got there"
        for peer, make in peers.items():
            took = to_the_minimum(make, X, y, objective, least, repeat)
            if took is not None and (best is None or took < best):
                best, by = took, peer
        print(json.dumps({"problem": name, "novikoff": mine, "peer": best, "by": by}), flush=True)


def each(work, repeat, number):
    return min(timed(lambda: [work() for _ in range(number)])[0] / number for _ in range(repeat))


def rows(path, repeat):
    from sklearn.linear_model import SGDClassifier

    X, y, _ = load(path)
    X, y = np.ascontiguousarray(X[:20_000].toarray()), y[:20_000]
    own, peer = novikoff.AveragedPerceptron(), SGDClassifier(loss="perceptron", learning_rate="constant", eta0=1.0)
    own.partial_fit(X[:1000], y[:1000])
    peer.partial_fit(X[:1000], y[:1000], classes=np.unique(y))
    one, label = X[:1].copy(), y[:1].copy()
    answers = [
        {
            "what": "partial_fit of one row, scikit-learn",
            "novikoff": each(lambda: own.partial_fit(one, label), repeat, 2000),
            "peer": each(lambda: peer.partial_fit(one, label), repeat, 300),
            "target": 10,
        }
    ]
    try:
        from river import linear_model

        few, labels = X[:2000], y[:2000]
        named = [({f"x{j}": float(x) for j, x in enumerate(row) if x}, label == labels.max()) for row, label in zip(few, labels)]
        cut = [(few[i : i + 1], labels[i : i + 1]) for i in range(len(few))]

        def river():
            stream = linear_model.LogisticRegression()
            for row, label in named:
                stream.learn_one(row, label)

        def novikoffs():
            stream = novikoff.AveragedPerceptron()
            for row, label in cut:
                stream.partial_fit(row, label)

        mine, theirs = each(novikoffs, repeat, 1) / len(cut), each(river, repeat, 1) / len(named)
        answers.append({"what": "rows one by one, River's logistic regression", "novikoff": mine, "peer": theirs, "target": 10})
    except ImportError:
        pass
    model = novikoff.LogisticRegression().fit(X, y)
    foreign = SGDClassifier(loss="log_loss").fit(X, y)
    answers.append(
        {
            "what": "predict of one row, scikit-learn",
            "novikoff": each(lambda: model.predict(one), repeat, 2000),
            "peer": each(lambda: foreign.predict(one), repeat, 300),
            "most": 20,
        }
    )
    many = np.random.default_rng(0).normal(size=(1_000_000, 50))
    target = many[:, 0] > 0
    model = novikoff.LogisticRegression(tol=0.1).fit(many[:10_000], target[:10_000])
    weights = model.coef_[0]
    answers.append(
        {
            "what": "decision_function of a million rows, numpy's product",
            "novikoff": each(lambda: model.decision_function(many), repeat, 1),
            "peer": each(lambda: many @ weights, repeat, 1),
            "target": 1,
        }
    )
    for answer in answers:
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    {"fit": fits, "rows": rows}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
