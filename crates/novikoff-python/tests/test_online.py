"""Learning from some rows at a time."""

import pickle

import numpy as np
import pytest

import novikoff

LEARNERS = [novikoff.Perceptron(), novikoff.AveragedPerceptron(), novikoff.PassiveAggressive(C=0.5)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)
def test_however_rows_are_cut_the_model_is_the_same(learner, iris):
    from sklearn.base import clone

    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    whole = clone(learner).partial_fit(X, y)
    single = clone(learner)
    for i in range(len(y)):
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    assert single.model_.to_bytes() == whole.model_.to_bytes()
    halves = clone(learner).partial_fit(X[:70], y[:70])
    halves = pickle.loads(pickle.dumps(halves)).partial_fit(X[70:], y[70:])
    np.testing.assert_array_equal(halves.coef_, whole.coef_)
    epoch = clone(learner).set_params(max_iter=1, shuffle=False).fit(X, y)
    announced = clone(learner).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_allclose(announced.coef_, epoch.coef_)
    assert 0 < whole.progressive_error_ < 1


def test_new_classes_may_appear_at_any_time(iris):
    X, y = iris
    model = novikoff.AveragedPerceptron().partial_fit(X[:100], y[:100])
    assert model.classes_.tolist() == [0, 1] and model.coef_.shape == (1, 4)
    model.partial_fit(X[100:], y[100:])
    assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 4)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_classes_that_are_announced_have_scores():
    model = novikoff.Perceptron().partial_fit([[1.0, 0.0]], ["b"], classes=["a", "b", "c"])
    assert model.decision_function([[1.0, 0.0]]).shape == (1, 3)
    assert model.predict([[1.0, 0.0]]).tolist() == ["b"]


def test_one_class_so_far_is_what_is_predicted():
    model = novikoff.Perceptron().partial_fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[3.0]]).tolist() == ["a"]


def test_learning_goes_on_from_a_fit(iris):
    X, y = iris
    model = novikoff.AveragedPerceptron(max_iter=5).fit(X, y)
    before = model.score(X, y)
    model.partial_fit(X[:3], y[:3])
    assert abs(model.score(X, y) - before) < 0.3


def test_rows_of_other_columns_are_refused(iris):
    X, y = iris
    model = novikoff.Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:1, :3], y[:1])
    with pytest.raises(ValueError, match="row 1, column 1"):
        model.partial_fit(np.array([[np.nan, 0.0, 0.0, 0.0]]), y[:1])


def test_bayes_counts_on(words):
    X, y = words
    whole = novikoff.NaiveBayes().fit(X, y)
    parts = novikoff.NaiveBayes()
    for start in range(0, 600, 150):
        parts.partial_fit(X[start : start + 150], y[start : start + 150])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X))
