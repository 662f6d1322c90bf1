"""Scikit-learn's own checks, for every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import novikoff

BATCH = [
    novikoff.ElasticNet(alpha=0.01),
    novikoff.HuberRegressor(),
    novikoff.Lasso(alpha=0.01),
    novikoff.LeastAbsoluteDeviations(),
    novikoff.LinearSVC(),
    novikoff.LinearSVC(loss="hinge"),
    novikoff.LogisticRegression(),
    novikoff.LogisticRegression(l1_ratio=0.5, tol=1e-12),
    novikoff.MaxMarginClassifier(),
    novikoff.NaiveBayes(),
    novikoff.QuantileRegressor(),
    novikoff.Ridge(),
    novikoff.TableClassifier(),
    novikoff.TableRegressor(),
    novikoff.TextClassifier(),
]
ROW_BY_ROW = [
    novikoff.AveragedPerceptron(),
    novikoff.KernelPerceptron(),
    novikoff.Network(hidden_units=16),
    novikoff.NetworkRegressor(hidden_units=16),
    novikoff.PassiveAggressive(),
    novikoff.Perceptron(),
    novikoff.VotedPerceptron(),
]
ORDER = "a row of weight 2 is one larger step, and not two steps one after the other"


def expected_failures(estimator):
    if type(estimator) not in {type(known) for known in ROW_BY_ROW}:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ORDER,
    }


@parametrize_with_checks(BATCH + ROW_BY_ROW, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
