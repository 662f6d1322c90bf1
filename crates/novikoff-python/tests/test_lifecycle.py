"""Estimators in scikit-learn's machinery: pipelines, searches, copies, processes, threads, interrupts."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff

CLASSIFIERS = [
    novikoff.Perceptron(),
    novikoff.AveragedPerceptron(),
    novikoff.VotedPerceptron(),
    novikoff.KernelPerceptron(),
    novikoff.PassiveAggressive(),
    novikoff.LinearSVC(),
    novikoff.LogisticRegression(),
    novikoff.MaxMarginClassifier(),
    novikoff.NaiveBayes(),
    novikoff.Network(hidden_units=8, max_iter=3),
]
REGRESSORS = [
    novikoff.Ridge(),
    novikoff.Lasso(),
    novikoff.ElasticNet(),
    novikoff.LeastAbsoluteDeviations(),
    novikoff.QuantileRegressor(),
    novikoff.HuberRegressor(),
    novikoff.NetworkRegressor(hidden_units=8, max_iter=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=lambda e: type(e).__name__)
def test_pickles_predict_the_same_bits(estimator, iris, diabetes, tmp_path):
    X, y = iris if estimator in CLASSIFIERS else diabetes
    X = np.abs(X)
    fitted = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    joblib.dump(fitted, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib").predict(X), fitted.predict(X))
    fitted.save(tmp_path / "model")
    loaded = novikoff.load(tmp_path / "model")
    assert loaded.to_bytes() == fitted.model_.to_bytes()


def test_a_grid_search_over_a_pipeline_in_processes(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), novikoff.LinearSVC())
    search = GridSearchCV(
        pipeline, {"linearsvc__C": [0.01, 1.0], "linearsvc__loss": ["hinge", "squared_hinge"]}, n_jobs=2
    )
    assert search.fit(X, y).best_score_ > 0.95


def test_metadata_is_routed_through_a_grid_search(cancer):
    X, y = cancer
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            novikoff.LogisticRegression()
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True)
        )
        search = GridSearchCV(model, {"C": [1.0]}).fit(X, y, sample_weight=weights)
    expected = novikoff.LogisticRegression().fit(X, y, weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, expected.coef_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_bring_their_names(frame, iris):
    if frame is pl.DataFrame and sklearn.__version__.startswith("1.6."):
        pytest.skip("this release of scikit-learn does not know the names of polars' columns")
    X, y = iris
    names = ["a", "b", "c", "d"]
    table = frame({name: X[:, i] for i, name in enumerate(names)})
    model = novikoff.LogisticRegression().fit(table, y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(table), novikoff.LogisticRegression().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


def test_output_is_set_before_the_estimator(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), novikoff.Ridge())
    assert cross_val_score(pipeline, pd.DataFrame(X, columns=list("abcd")), y.astype(float)).mean() > 0


def test_an_unfitted_estimator_says_so(iris):
    for estimator in CLASSIFIERS + REGRESSORS:
        with pytest.raises(NotFittedError):
            clone(estimator).predict(iris[0])


def test_a_fit_that_does_not_converge_warns_with_its_gap(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is [0-9.e+-]+, and tol is 1e-10"):
        model = novikoff.LogisticRegression(tol=1e-10, max_iter=1, C=1e4).fit(X, y)
    assert model.gap_ > 1e-10


def test_a_callback_sees_steps_and_stops_them(cancer):
    X, y = cancer
    seen = []
    novikoff.LogisticRegression(tol=1e-10, callback=seen.append).fit(X, y)
    assert len([event for event in seen if event["event"] == "step"]) >= 3
    few = []

    def stop(event):
        few.append(event)
        return len(few) == 2

    model = novikoff.AveragedPerceptron(max_iter=50, callback=stop).fit(X, y)
    assert model.n_iter_ <= 3

    def fail(event):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        novikoff.AveragedPerceptron(callback=fail).fit(X, y)


def test_verbose_prints_progress(cancer, capfd):
    novikoff.LogisticRegression(verbose=1).fit(*cancer)
    assert "[LogisticRegression] step: " in capfd.readouterr().err


def slow():
    """A fit that would take minutes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 40))
    y = random.integers(0, 2, 20_000)
    return X, y


@pytest.mark.parametrize(
    "estimator", [novikoff.Perceptron(max_iter=10**6), novikoff.KernelPerceptron(max_iter=10**6)]
)
def test_an_interrupt_is_heard_at_once_and_leaves_the_estimator_usable(estimator, iris):
    X, y = slow()
    estimator = clone(estimator)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    assert time.monotonic() - sent[0] < 1.0
    assert estimator.set_params(max_iter=5).fit(*iris).score(*iris) > 0.6


def test_two_threads_train_at_once(iris):
    X, y = iris
    expected = novikoff.LogisticRegression().fit(X, y).coef_
    results = {}

    def train(i):
        for _ in range(20):
            results[i] = novikoff.LogisticRegression().fit(X, y).coef_

    threads = [threading.Thread(target=train, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for i in range(4):
        np.testing.assert_array_equal(results[i], expected)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_the_number_of_threads_changes_no_bit(n_jobs, words):
    X, y = words
    expected = novikoff.LinearSVC(n_jobs=1).fit(X, y).model_.to_bytes()
    assert novikoff.LinearSVC(n_jobs=n_jobs).fit(X, y).model_.to_bytes() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_a_fork_trains():
    program = """
        import os, sys
        import novikoff
        X, y = [[0.0], [1.0], [3.0], [4.0]] * 1000, [0, 0, 1, 1] * 1000
        novikoff.LogisticRegression().fit(X, y)
        child = os.fork()
        if child == 0:
            novikoff.LogisticRegression().fit(X, y)
            os._exit(7)
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], timeout=60, check=False
    )
    assert done.returncode == 7


def test_scikit_learn_is_imported_with_the_first_estimator_only():
    program = "import sys, novikoff; before = 'sklearn' in sys.modules; novikoff.Ridge; "
    program += "assert not before and 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_warm_starts_take_fewer_steps(cancer):
    X, y = cancer
    model = novikoff.LogisticRegression(C=10.0, tol=1e-8, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.set_params(C=10.1).fit(X, y).n_iter_ < first
    epochs = novikoff.AveragedPerceptron(max_iter=3, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(epochs.coef_, novikoff.AveragedPerceptron(max_iter=6).fit(X, y).coef_)
