"""The same minimum as scikit-learn's estimators of the same name, found by other code."""

import numpy as np
import pytest
import sklearn
from sklearn import linear_model, svm

import novikoff

REGRESSORS = [
    (novikoff.Ridge(alpha=2.0), linear_model.Ridge(alpha=2.0)),
    (novikoff.Ridge(alpha=0.0), linear_model.LinearRegression()),
    (novikoff.Ridge(alpha=0.5, fit_intercept=False), linear_model.Ridge(alpha=0.5, fit_intercept=False)),
    (novikoff.Lasso(alpha=0.5), linear_model.Lasso(alpha=0.5, max_iter=100_000)),
    (novikoff.ElasticNet(alpha=0.01), linear_model.ElasticNet(alpha=0.01, max_iter=100_000)),
    (
        novikoff.ElasticNet(alpha=0.003, l1_ratio=0.9),
        linear_model.ElasticNet(alpha=0.003, l1_ratio=0.9, max_iter=100_000),
    ),
]
CLASSIFIERS = [
    (novikoff.LogisticRegression(), linear_model.LogisticRegression(max_iter=10_000)),
    (novikoff.LogisticRegression(C=0.03), linear_model.LogisticRegression(C=0.03, max_iter=10_000)),
    (
        novikoff.LogisticRegression(class_weight="balanced"),
        linear_model.LogisticRegression(class_weight="balanced", max_iter=10_000),
    ),
    (
        novikoff.LogisticRegression(l1_ratio=1.0, penalize_intercept=True),
        linear_model.LogisticRegression(l1_ratio=1.0, solver="liblinear", max_iter=10_000),
    ),
    (novikoff.LinearSVC(penalize_intercept=True), svm.LinearSVC(max_iter=100_000)),
    (novikoff.LinearSVC("hinge", penalize_intercept=True), svm.LinearSVC(loss="hinge", max_iter=1_000_000)),
]
WEIGHTS = [False, True]
#: From 1.8 on `l1_ratio` alone asks for ℓ1 penalties, and balanced weights of classes count row weights.
IS_NEW = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)


def weights_of(y, weighted):
    return np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else None


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize(("own", "peer"), REGRESSORS, ids=lambda e: str(e))
def test_regressors_find_the_minimum_of_scikit_learn(own, peer, weighted, diabetes):
    X, y = diabetes
    weights = weights_of(y, weighted)
    own = own.set_params(tol=1e-12).fit(X, y, weights)
    if hasattr(peer, "tol"):
        peer.set_params(tol=1e-12)
    peer.fit(X, y, weights)
    np.testing.assert_allclose(own.coef_, peer.coef_, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(own.intercept_, peer.intercept_, rtol=1e-5)
    assert own.gap_ <= 1e-10


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize(("own", "peer"), CLASSIFIERS, ids=lambda e: str(e))
def test_classifiers_find_the_minimum_of_scikit_learn(own, peer, weighted, cancer):
    X, y = cancer
    parameters = peer.get_params()
    if not IS_NEW and (parameters.get("l1_ratio") or (parameters["class_weight"] and weighted)):
        pytest.skip("this release of scikit-learn minimises something else")
    weights = weights_of(y, weighted)
    own.set_params(tol=1e-10).fit(X, y, weights)
    peer.set_params(tol=1e-10).fit(X, y, weights)
    np.testing.assert_allclose(own.coef_, peer.coef_, rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(own.decision_function(X), peer.decision_function(X), rtol=2e-2, atol=2e-2)


def test_three_classes_share_a_loss_as_in_scikit_learn(iris):
    X, y = iris
    own = novikoff.LogisticRegression(tol=1e-12).fit(X, y)
    peer = linear_model.LogisticRegression(tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(own.coef_ - own.coef_.mean(0), peer.coef_ - peer.coef_.mean(0), atol=1e-4)


def test_the_quantile_without_a_penalty_is_that_of_scikit_learn(diabetes):
    X, y = diabetes
    own = novikoff.QuantileRegressor(quantile=0.8, l2=0.0).fit(X, y)
    peer = linear_model.QuantileRegressor(quantile=0.8, alpha=0).fit(X, y)
    np.testing.assert_allclose(own.predict(X), peer.predict(X), rtol=1e-6)


def test_bayes_counts_as_scikit_learn_does(words):
    from sklearn.naive_bayes import BernoulliNB, MultinomialNB

    X, y = words
    own = novikoff.NaiveBayes(alpha=0.3).fit(X, y)
    np.testing.assert_allclose(
        own.predict_proba(X), MultinomialNB(alpha=0.3).fit(X, y).predict_proba(X), atol=1e-9
    )
    own = novikoff.NaiveBayes("bernoulli", alpha=0.3).fit(X, y)
    np.testing.assert_allclose(
        own.predict_proba(X), BernoulliNB(alpha=0.3).fit(X, y).predict_proba(X), atol=1e-9
    )
