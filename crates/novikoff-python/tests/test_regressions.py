"""What has gone wrong once."""

import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone

import novikoff


def test_certificates_are_pickled_with_their_estimators_and_alone(cancer):
    X, y = cancer
    model = novikoff.LogisticRegression(certify=True).fit(X, y)
    assert pickle.loads(pickle.dumps(model)).certificate_.verify(X, y)
    assert pickle.loads(pickle.dumps(model.certificate_)).to_text() == model.certificate_.to_text()


def test_what_tune_returns_is_what_its_parameters_say(cancer, diabetes):
    X, y = cancer
    tuned = novikoff.tune(novikoff.LogisticRegression(tol=1e-10), X, y)
    np.testing.assert_allclose(
        clone(tuned.estimator).fit(X, y).coef_, tuned.estimator.coef_, rtol=1e-3, atol=1e-4
    )
    ridge = novikoff.tune(novikoff.Ridge(tol=1e-10), *diabetes).estimator
    np.testing.assert_allclose(clone(ridge).fit(*diabetes).coef_, ridge.coef_, rtol=1e-6)
    for estimator in (novikoff.LogisticRegression(l1_ratio=1.0), novikoff.Lasso(), novikoff.Perceptron()):
        with pytest.raises(ValueError, match="GridSearchCV"):
            novikoff.tune(estimator, X, y)


def test_class_weights_are_known_before_the_classes_are(iris):
    X, y = iris
    model = novikoff.Perceptron(class_weight={0: 2.0, 1: 1.0}).partial_fit(X[:100], y[:100])
    assert model.classes_.tolist() == [0, 1]


def test_threads_and_seeds_are_what_they_are_in_estimators(cancer):
    X, y = cancer
    novikoff.tune(novikoff.LogisticRegression(n_jobs=-1), X, y, values=[0.1])
    assert novikoff.margin(X, y, n_jobs=-1, random_state=np.random.RandomState(0)).separable is not None
    novikoff.compare(X, y, X, y, epochs=[1], n_jobs=-2)


def test_a_fit_that_is_interrupted_leaves_the_last_one(iris):
    X, y = iris
    model = novikoff.Perceptron(max_iter=5).fit(X, y)
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(20_000, 40)), random.integers(0, 2, 20_000)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(max_iter=10**6).fit(rows, labels)
    assert model.score(X, y) > 0.6 and model.classes_.tolist() == [0, 1, 2]


def test_where_nothing_is_proved_there_is_no_certificate(cancer):
    assert not hasattr(novikoff.KernelPerceptron().fit(*cancer), "certificate_")


def test_files_that_are_missing_are_not_found():
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        novikoff.read("/there/is/no/such.svm")
    with pytest.raises(FileNotFoundError):
        novikoff.load("/there/is/no/such.model")


def test_models_that_are_loaded_predict_names_and_numbers(iris, diabetes, tmp_path):
    X, y = iris
    novikoff.save(novikoff.LinearSVC().fit(X, np.array(["a", "b", "c"])[y]), tmp_path / "m")
    assert set(novikoff.load(tmp_path / "m").predict(X)) == {"a", "b", "c"}
    ridge = novikoff.Ridge().fit(*diabetes)
    ridge.save(tmp_path / "r")
    np.testing.assert_array_equal(
        novikoff.load(tmp_path / "r").predict(diabetes[0]), ridge.predict(diabetes[0])
    )


def test_the_margin_of_mistake_bounds_counts_the_intercept(iris):
    X, y = iris
    own = novikoff.margin(X, y, positive=0, penalize_intercept=True)
    ones = novikoff.margin(np.column_stack([X, np.ones(len(X))]), y, positive=0, fit_intercept=False)
    np.testing.assert_allclose(own.margin, ones.margin, rtol=1e-2)
    assert own.certificate.verify(X, y)
