"""Certificates: of fits, of margins, of models that somebody else trained."""

import json

import numpy as np
import pytest
from sklearn import linear_model, svm

import novikoff


def test_the_certificate_of_a_fit_holds_for_its_rows_alone(cancer, tmp_path):
    X, y = cancer
    model = novikoff.LogisticRegression(tol=1e-8).fit(X, y)
    certificate = model.certificate_
    assert certificate.verify(X, y)
    assert certificate.relative_gap == pytest.approx(model.gap_, abs=1e-7)
    certificate.save(tmp_path / "proof")
    assert novikoff.verify(tmp_path / "proof", X, y)
    other = X.copy()
    other[0, 0] += 0.1
    assert not certificate.verify(other, y)
    assert not certificate.verify(X, 1 - y)


def test_a_forged_certificate_is_refused(cancer, tmp_path):
    X, y = cancer
    text = json.loads(novikoff.LogisticRegression(tol=1e-6).fit(X, y).certificate_.to_text())
    claim = text["claims"][0]["near-optimal"]
    claim["lower_bound"] = claim["value"]
    (tmp_path / "forged").write_text(json.dumps(text))
    assert not novikoff.verify(tmp_path / "forged", X, y)


def test_a_certificate_needs_the_rows():
    def fit():
        X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
        return novikoff.LinearSVC().fit(X, y)

    model = fit()
    with pytest.raises(AttributeError, match="training data of this fit are not at hand"):
        _ = model.certificate_
    assert model.prove([[0.0], [1.0], [3.0]], [0, 0, 1]).verify([[0.0], [1.0], [3.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="not the rows"):
        model.prove([[0.0], [1.0], [4.0]], [0, 0, 1])
    made_at_once = novikoff.LinearSVC(certify=True).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    assert len(made_at_once.certificate_) == 1


def test_mistakes_stay_below_their_bound(cancer, iris):
    for X, y in (cancer, iris):
        for learner in (
            novikoff.Perceptron(),
            novikoff.AveragedPerceptron(),
            novikoff.Perceptron(normalize=True),
        ):
            model = learner.fit(X, y)
            assert model.mistakes_ <= model.mistake_bound_
            assert model.certificate_.verify(X, y)


def test_margins_are_decided_with_a_proof(iris):
    X, y = iris
    easy = novikoff.margin(X, y, positive=0)
    assert easy.separable is True and easy.certificate.verify(X, y)
    weights, bias = easy.halfspace
    assert (np.where(y == 0, 1, -1) * (X @ weights + bias) >= 1).all()
    hard = novikoff.margin(X, y, positive=1)
    assert hard.separable is False and hard.certificate.verify(X, y)
    with pytest.raises(ValueError, match="positive="):
        novikoff.margin(X, y)


FOREIGN = [
    linear_model.LogisticRegression(),
    linear_model.LogisticRegression(C=0.1, class_weight="balanced"),
    linear_model.LogisticRegression(solver="liblinear"),
    linear_model.LogisticRegression(solver="liblinear", l1_ratio=1.0),
    linear_model.LogisticRegression(fit_intercept=False),
    svm.LinearSVC(),
    svm.LinearSVC(loss="hinge", max_iter=10_000),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
def test_models_of_scikit_learn_are_measured(foreign, cancer, iris):
    for X, y in (cancer, iris):
        if foreign.get_params().get("solver") == "liblinear" and len(np.unique(y)) > 2:
            continue
        certified = novikoff.certify(foreign.fit(X, y), X, y)
        assert 0 <= certified.gap < 2e-2
        assert certified.certificate.verify(X, y)
        # A worse model has a larger gap, and the bound on the minimum stays what it was.
        foreign.coef_ = foreign.coef_ * 1.5
        worse = novikoff.certify(foreign, X, y)
        assert worse.gap > certified.gap
        assert worse.dual_bound == pytest.approx(certified.dual_bound, rel=1e-5)


@pytest.mark.parametrize(
    "foreign",
    [
        linear_model.Ridge(),
        linear_model.LinearRegression(),
        linear_model.Lasso(alpha=0.1),
        linear_model.ElasticNet(alpha=0.01, tol=1e-8),
        linear_model.QuantileRegressor(alpha=0, quantile=0.3),
    ],
    ids=str,
)
def test_regressors_of_scikit_learn_are_near_their_minimum(foreign, diabetes):
    X, y = diabetes
    certified = novikoff.certify(foreign.fit(X, y), X, y)
    assert 0 <= certified.gap < 1e-3
    assert certified.certificate.verify(X, y)


def test_models_of_snap_ml_are_measured(cancer):
    snapml = pytest.importorskip("snapml")
    X, y = cancer
    for foreign in (
        snapml.LogisticRegression(regularizer=2.0, fit_intercept=False, tol=1e-6, max_iter=10_000),
        snapml.LogisticRegression(regularizer=2.0, fit_intercept=True, tol=1e-6, max_iter=10_000),
        snapml.SupportVectorMachine(regularizer=2.0, fit_intercept=False, tol=1e-6, max_iter=10_000),
    ):
        certified = novikoff.certify(foreign.fit(X, y), X, y)
        assert 0 <= certified.gap < 1e-2
        assert certified.certificate.verify(X, y)


def test_what_cannot_be_measured_is_told(diabetes):
    X, y = diabetes
    with pytest.raises(TypeError, match="certify knows"):
        novikoff.certify(linear_model.SGDRegressor().fit(X, y), X, y)
    with pytest.raises(TypeError, match="kept positive"):
        novikoff.certify(linear_model.Lasso(positive=True).fit(X, y), X, y)


def test_results_show_themselves(iris, cancer):
    X, y = cancer
    shown = [
        novikoff.margin(*iris, positive=0),
        novikoff.bounds(10, 1000),
        novikoff.compare(X[:300], y[:300], X[300:], y[300:]),
        novikoff.tune(novikoff.LogisticRegression(), X, y),
        novikoff.certify(linear_model.LogisticRegression().fit(X, y), X, y),
        novikoff.LinearSVC().fit(X, y).certificate_,
        novikoff.LinearSVC().fit(X, y).certificate_.verify(X, y),
    ]
    for each in shown:
        html = each._repr_html_()
        assert "<" in html and "nan" not in html
    assert "<svg" in shown[2]._repr_html_() and "<svg" in shown[3]._repr_html_()
    labels = np.where(y, "<b>x", "&y")
    named = novikoff.LogisticRegression().fit(X, labels).certificate_
    assert "<b>x" not in named.verify(X, labels)._repr_html_()
