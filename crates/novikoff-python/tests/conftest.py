"""What tests share."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris


@pytest.fixture(scope="session")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X / X.max(axis=0), y


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="session")
def words():
    """Sparse rows of counts with two classes that overlap."""
    random = np.random.default_rng(0)
    X = sparse.random(600, 200, density=0.05, format="csr", random_state=np.random.RandomState(0))
    X.data = np.ceil(3 * X.data)
    y = np.where(X @ random.normal(size=200) + random.normal(size=600) > 0, "spam", "ham")
    return X, y
