"""Runs in the peers' environment: a request a line on standard input, an answer a line on standard output."""

import json
import os
import sys
import time
import warnings
from functools import lru_cache

import objective

warnings.filterwarnings("ignore")
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, str(os.cpu_count()))

ITERATIONS = 1_000_000  # nobody is to stop for their number: tolerance and time tell when


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def versions():
    from importlib.metadata import version
    names = ("scikit-learn", "numpy", "scipy", "snapml", "vowpalwabbit", "liblinear-official", "libsvm-official")
    return {"versions": {name: version(name) for name in names}}


def load_svmlight(path):
    from sklearn.datasets import load_svmlight_file
    seconds, (rows, _) = timed(lambda: load_svmlight_file(path))
    return {"seconds": seconds, "rows": rows.shape[0], "nonzeros": int(rows.count_nonzero())}


@lru_cache(maxsize=1)
def rows_of(train, test):
    """Rows and labels, in CSR, of one or two files: svmlight, or IDX images."""
    paths = [path for path in (train, test) if path]
    if train.endswith("ubyte"):
        return [part for path in paths for part in idx(path)]
    from sklearn.datasets import load_svmlight_files
    loaded = load_svmlight_files(paths)
    for rows in loaded[::2]:  # the loader gives 64-bit indices, which the learners refuse
        rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
    return loaded


def idx(images):
    import numpy as np
    from scipy.sparse import csr_matrix
    pixels = np.fromfile(images, dtype=np.uint8)[16:].reshape(-1, 784)
    labels = np.fromfile(images.replace("images-idx3", "labels-idx1"), dtype=np.uint8)[8:]
    return csr_matrix(pixels, dtype=np.float64), labels.astype(np.float64)


def estimator(name, epochs):
    from sklearn.linear_model import Perceptron, SGDClassifier
    limits = {"max_iter": epochs, "tol": None} if epochs else {}
    if name == "Perceptron":
        return Perceptron(**limits)
    return SGDClassifier(loss="hinge", **limits)


def fit(name, epochs, train):
    """Seconds of `fit` alone; the rows are in memory."""
    rows, labels = rows_of(train, None)
    learner = estimator(name, epochs)
    seconds, _ = timed(lambda: learner.fit(rows, labels))
    return {"seconds": seconds, "rows": rows.shape[0]}


def sklearn_error(name, epochs, train, test):
    rows, labels, test_rows, test_labels = rows_of(train, test)
    learner = estimator(name, epochs)
    seconds, _ = timed(lambda: learner.fit(rows, labels))
    return {"seconds": seconds, "error": float((learner.predict(test_rows) != test_labels).mean())}


def liblinear_error(options, train, test):
    from liblinear import liblinearutil
    rows, labels, test_rows, test_labels = rows_of(train, test)
    seconds, model = timed(lambda: liblinearutil.train(labels, rows, options + " -q"))
    predicted, _, _ = liblinearutil.predict(test_labels, test_rows, model, "-q")
    wrong = sum(a != b for a, b in zip(predicted, test_labels))
    return {"seconds": seconds, "error": wrong / len(test_labels)}


def vw(options):
    """What the command line does with these options: reads the file while it learns, and writes the model."""
    import vowpalwabbit
    def whole():
        workspace = vowpalwabbit.Workspace(options + " --quiet --no_stdin")
        rows = workspace.get_weighted_examples()
        workspace.finish()
        return rows
    seconds, rows = timed(whole)
    return {"seconds": seconds, "rows": int(rows)}


def vw_error(options, model, test, predictions):
    """Trains with the options into the model, and counts what it gets wrong on the test rows."""
    seconds = vw(f"{options} -f {model}")["seconds"]
    vw(f"-t -i {model} -d {test} -p {predictions}")
    with open(test) as rows, open(predictions) as predicted:
        labels = [float(row.split(" ", 1)[0]) for row in rows]
        scores = [float(line.split()[0]) for line in predicted]
    if len(labels) != len(scores):
        raise ValueError(f"{len(scores)} predictions for {len(labels)} rows")
    if set(labels) <= {-1.0, 1.0}:
        scores = [1.0 if score > 0 else -1.0 for score in scores]
    return {"seconds": seconds, "error": sum(a != b for a, b in zip(labels, scores)) / len(labels)}


@lru_cache(maxsize=1)
def problem(train, store):
    """Rows and labels of a file, kept in `store` as well: a worker that took too long is ended, and the next one has them at once."""
    import numpy as np
    from scipy.sparse import csr_matrix
    if not os.path.exists(store):
        rows, labels = rows_of(train, None)
        np.savez(store, data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape, labels=labels)
    with np.load(store) as kept:
        return csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=kept["shape"]), kept["labels"]


@lru_cache(maxsize=1)
def single(train, store):
    """The same rows with values of 32 bits, as Snap ML wants them."""
    rows, labels = problem(train, store)
    return rows.astype("float32"), labels


def ready(train, store):
    """Has the rows in memory and everything imported, so that no later call waits for that."""
    import joblib, snapml, sklearn.linear_model, sklearn.multiclass, sklearn.svm  # noqa: E401, F401
    return {"rows": single(train, store)[0].shape[0]}


def evaluate(train, store, kind, model, **terms):
    """What the weights of a model's file come to."""
    rows, labels = problem(train, store)
    return {"objective": objective.total(rows, labels, *objective.MODELS[kind](model), **terms)}


def minimise(train, store, learner, options, tolerance, loss):
    """Seconds of `fit` alone, C = 1 and no bias, and what its weights come to."""
    import joblib
    import numpy as np
    rows, labels = problem(train, store)
    if learner.startswith("snapml."):
        data, learns = single(train, store), snap_estimator(learner, tolerance, options)
    else:
        data, learns = (rows, labels), sklearn_estimator(learner, tolerance, options, several=len(np.unique(labels)) > 2)
    with joblib.parallel_config("threading"):
        seconds, _ = timed(lambda: learns.fit(*data))
    weights = np.vstack([each.coef_ for each in getattr(learns, "estimators_", [learns])]).astype(float)
    weights = weights if weights.shape[0] == rows.shape[1] else weights.T
    return {"seconds": seconds, "objective": objective.total(rows, labels, weights, np.zeros(weights.shape[1]), loss)}


def snap_estimator(learner, tolerance, options):
    """Its regularizer is 1/C; it takes more than two classes one against the rest by itself."""
    import snapml
    kind = getattr(snapml, learner.removeprefix("snapml."))
    return kind(regularizer=1.0, tol=tolerance, max_iter=ITERATIONS, n_jobs=os.cpu_count(), random_state=0, **options)


def sklearn_estimator(learner, tolerance, options, several):
    """More than two classes: one against the rest, on all cores."""
    from sklearn import linear_model, svm
    from sklearn.multiclass import OneVsRestClassifier
    kind = getattr(linear_model if hasattr(linear_model, learner) else svm, learner)
    one = kind(C=1.0, fit_intercept=False, tol=tolerance, max_iter=ITERATIONS, random_state=0, **options)
    return OneVsRestClassifier(one, n_jobs=os.cpu_count()) if several else one


def sklearn_fit(train, store, learner, options, loss, **terms):
    """What an estimator's weights, with its bias, come to, for whatever it minimises."""
    import numpy as np
    from sklearn import linear_model
    rows, labels = problem(train, store)
    fitted = getattr(linear_model, learner)(**options).fit(rows, labels)
    weights, bias = np.atleast_2d(fitted.coef_).T, np.atleast_1d(fitted.intercept_)
    return {"objective": objective.total(rows, labels, weights, bias, loss, **terms)}


@lru_cache(maxsize=1)
def signed(train):
    """Rows and signs of two classes."""
    rows, labels = rows_of(train, None)
    return rows, 2.0 * (labels == labels.max()) - 1.0


def separable(train):
    """Seconds of deciding whether some w, b has y(<w, x> + b) ≥ 1 for all rows, and the answer."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import diags, hstack
    rows, signs = signed(train)
    constraints = (-diags(signs) @ hstack([rows, np.ones((rows.shape[0], 1))])).tocsr()
    nothing, ones = np.zeros(constraints.shape[1]), -np.ones(rows.shape[0])
    seconds, found = timed(lambda: linprog(nothing, A_ub=constraints, b_ub=ones, bounds=(None, None), method="highs"))
    return {"seconds": seconds, "separable": {0: "yes", 2: "no"}.get(found.status, "unknown")}


def svc_margin(train):
    """Seconds of a support vector machine with next to no slack, and the least margin of its hyperplane."""
    import numpy as np
    from sklearn.svm import SVC
    rows, signs = signed(train)
    machine = SVC(kernel="linear", C=1e10, tol=1e-6, cache_size=1000)
    seconds, _ = timed(lambda: machine.fit(rows, signs))
    weights = np.asarray(machine.coef_.todense() if hasattr(machine.coef_, "todense") else machine.coef_).ravel()
    least = float((signs * (rows @ weights + machine.intercept_[0])).min())
    return {"seconds": seconds, "margin": least / float(np.linalg.norm(weights))}


@lru_cache(maxsize=1)
def numbers(train):
    rows, targets = rows_of(train, None)
    return rows.toarray(), targets


def quantile(train):
    """Seconds of scikit-learn's median regression, and its mean absolute residual."""
    import numpy as np
    from sklearn.linear_model import QuantileRegressor
    rows, targets = numbers(train)
    learner = QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs")
    seconds, _ = timed(lambda: learner.fit(rows, targets))
    return {"seconds": seconds, "objective": float(np.abs(learner.predict(rows) - targets).mean())}


def deviations(train):
    """The same by the dual linear program: max <y, u> with Xᵀu = 0 and |u| ≤ 1."""
    import numpy as np
    from scipy.optimize import linprog
    rows, targets = numbers(train)
    wide = np.hstack([rows, np.ones((rows.shape[0], 1))])
    zeros = np.zeros(wide.shape[1])
    seconds, found = timed(lambda: linprog(-targets, A_eq=wide.T, b_eq=zeros, bounds=(-1, 1), method="highs"))
    weights = -found.eqlin.marginals
    return {"seconds": seconds, "objective": float(np.abs(wide @ weights - targets).mean())}


def tfidf_svc(train, test):
    """Text to model: lines `label<TAB>text`, sublinear tf-idf, a linear support vector machine."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    def lines(path):
        with open(path, encoding="utf-8") as file:
            return list(zip(*(line.rstrip("\n").split("\t", 1) for line in file)))

    def learn():
        labels, texts = lines(train)
        vectorizer = TfidfVectorizer(sublinear_tf=True)
        return vectorizer, LinearSVC().fit(vectorizer.fit_transform(texts), labels)
    seconds, (vectorizer, learner) = timed(learn)
    labels, texts = lines(test)
    return {"seconds": seconds, "error": 1 - float(learner.score(vectorizer.transform(texts), labels))}


def pipeline_error(train, test, label, header):
    """The error on test rows of impute, one-hot, standardise, logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    rows, labels, test_rows, test_labels = rows_of(train, test) if label is None else cells(train, test, label, header)
    learner = make_pipeline(prepared(rows, label is not None), LogisticRegression(max_iter=10_000)).fit(rows, labels)
    return {"error": 1 - float(learner.score(test_rows, test_labels))}


def prepared(rows, is_table):
    """What brings columns to one size."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    if not is_table:
        few = rows.shape[1] <= 500
        dense = FunctionTransformer(lambda part: part.toarray() if few else part, accept_sparse=True)
        return make_pipeline(dense, StandardScaler(with_mean=few))
    numbers = [j for j in range(rows.shape[1]) if all(is_number(cell) for cell in rows[:, j])]
    words = [j for j in range(rows.shape[1]) if j not in numbers]
    as_numbers = FunctionTransformer(lambda part: part.astype(float))
    one_hot = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer((make_pipeline(as_numbers, SimpleImputer(), StandardScaler()), numbers), (one_hot, words))


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def cells(train, test, label, header):
    """The cells of two tables, missing ones as `nan`, and their labels."""
    import csv
    import numpy as np
    parts = []
    for path in (train, test):
        with open(path, newline="") as file:
            mark = ";" if ";" in file.readline() else ","
            file.seek(0)
            lines = [[cell.strip() for cell in line] for line in csv.reader(file, delimiter=mark)]
        names = lines.pop(0) if header else None
        at = names.index(label) if header else label
        table = np.array([["nan" if cell in ("", "?", "NA") else cell for cell in line] for line in lines], dtype=object)
        parts += [np.delete(table, at, axis=1), table[:, at].astype(str)]
    return parts


def count_words(source, target):
    """Counts the words of texts, each behind its label and a tab, into svmlight files, once; labels become numbers."""
    from sklearn.datasets import dump_svmlight_file
    from sklearn.feature_extraction.text import CountVectorizer
    if all(os.path.exists(path) for path in target.values()):
        return {}
    texts = {}
    for part, path in source.items():
        with open(path, encoding="utf-8") as lines:
            texts[part] = [line.rstrip("\n").split("\t", 1) for line in lines]
    numbers = {label: number for number, label in enumerate(sorted({label for label, _ in texts["train"]}))}
    counter = CountVectorizer().fit(text for _, text in texts["train"])
    for part, rows in texts.items():
        counts = counter.transform(text for _, text in rows)
        dump_svmlight_file(counts, [numbers[label] for label, _ in rows], target[part] + ".part", zero_based=False)
        os.rename(target[part] + ".part", target[part])
    return {}


def posteriors(train, test, learner, smoothing, predicted, within):
    """How far the log posteriors in a file of novikoff's predictions are from an estimator's, of their size where that is above 1; how many
    labels differ where the best two classes do not tie; and the least time of `fit`."""
    import numpy as np
    from sklearn import naive_bayes
    rows, labels, test_rows, _ = rows_of(train, test)
    estimator = getattr(naive_bayes, learner)(alpha=smoothing)
    seconds = min(timed(lambda: estimator.fit(rows, labels))[0] for _ in range(5))
    with open(predicted) as lines:
        told = np.array([line.split("\t") for line in lines]).astype(float)
    theirs = estimator.predict_log_proba(test_rows)
    scale = np.maximum(1.0, np.abs(theirs))
    best = np.sort(theirs, axis=1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > within * np.maximum(1.0, np.abs(estimator.predict_joint_log_proba(test_rows)).max(axis=1))
    differing = (told[:, 0] != estimator.predict(test_rows)) & clear
    return {"seconds": seconds, "difference": float((np.abs(told[:, 1:] - theirs) / scale).max()), "labels": int(differing.sum())}


@lru_cache(maxsize=1)
def unit_pixels(train, test):
    """Images with values from 0 to 1, dense, in single precision, and their labels."""
    rows, labels, test_rows, test_labels = rows_of(train, test)
    dense = [part.toarray().astype("float32") / 255 for part in (rows, test_rows)]
    return dense[0], labels, dense[1], test_labels


def mlp_epochs(train, test, hidden, error, most):
    """The fewest epochs of MLPClassifier that get below an error on test rows."""
    import numpy as np
    from sklearn.neural_network import MLPClassifier
    rows, labels, test_rows, test_labels = unit_pixels(train, test)
    learner = MLPClassifier((hidden,), random_state=0)
    for epoch in range(1, most + 1):
        learner.partial_fit(rows, labels, classes=np.unique(labels))
        if 1 - learner.score(test_rows, test_labels) < error:
            return {"epochs": epoch}
    return {"epochs": most}


def mlp(train, test, hidden, epochs):
    """A network with one hidden layer."""
    from sklearn.neural_network import MLPClassifier
    rows, labels, test_rows, test_labels = unit_pixels(train, test)
    learner = MLPClassifier((hidden,), max_iter=epochs, random_state=0)
    seconds, _ = timed(lambda: learner.fit(rows, labels))
    return {"seconds": seconds, "error": 1 - float(learner.score(test_rows, test_labels))}


def dot_products(features):
    """Dot products a second, of so many features in single precision, by the best dense product of matrices there is."""
    import numpy as np
    left, right = (np.random.default_rng(0).random((count, features), dtype=np.float32) for count in (4096, 4096))
    least = min(timed(lambda: left @ right.T)[0] for _ in range(10))
    return {"rate": left.shape[0] * right.shape[0] / least}


def libsvm(train, test, degree):
    """A support vector machine with a polynomial kernel."""
    from libsvm.svmutil import svm_predict, svm_train
    rows, labels, test_rows, test_labels = rows_of(train, test)
    seconds, model = timed(lambda: svm_train(labels, rows, f"-q -t 1 -d {degree} -g {1 / 65536} -r {1 / 65536} -m 2000"))
    _, (accuracy, _, _), _ = svm_predict(test_labels, test_rows, model, "-q")
    return {"seconds": seconds, "error": 1 - accuracy / 100}


FUNCTIONS = (versions, load_svmlight, fit, sklearn_error, liblinear_error, vw, vw_error, ready, evaluate, minimise, sklearn_fit,
             separable, svc_margin, quantile, deviations, count_words, posteriors, tfidf_svc, pipeline_error, mlp_epochs, mlp, dot_products, libsvm)


def main():
    # What the peers themselves print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    functions = {function.__name__: function for function in FUNCTIONS}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = functions[request["function"]](**request["arguments"])
        except Exception as error:  # whatever a peer does, the others go on
            result = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:160]}
        answers.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
