"""Arrays of every kind give the same model; damaged ones are a ValueError, and never a crash."""

import numpy as np
import pytest
from scipy import sparse

import novikoff


def test_dense_and_sparse_rows_of_every_type_give_one_model(words):
    X, y = words
    expected = novikoff.LogisticRegression(tol=1e-8).fit(X, y).model_.to_bytes()
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in [X.astype(np.float32), wide, X.tocsc(), X.tocoo(), sparse.csr_array(X)]:
        assert novikoff.LogisticRegression(tol=1e-8).fit(form, y).model_.to_bytes() == expected
    dense = X.toarray()
    for form in [
        dense,
        dense.astype(np.float32),
        np.asfortranarray(dense),
        dense[:, ::-1][:, ::-1],
        dense.tolist(),
    ]:
        coef = novikoff.LogisticRegression(tol=1e-8).fit(form, y).coef_
        np.testing.assert_allclose(coef, novikoff.LogisticRegression(tol=1e-8).fit(X, y).coef_, atol=1e-6)


def test_unsorted_and_repeated_entries_are_added_up(words):
    X, y = words
    order = np.random.default_rng(0)
    entries = X.tocoo()
    shuffled = order.permutation(X.nnz)
    parts = [(entries.data[shuffled] - 1, entries.row[shuffled], entries.col[shuffled])]
    parts.append((np.ones(X.nnz), entries.row, entries.col))
    data, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    by_row = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    messy = sparse.csr_matrix((data[by_row], columns[by_row], indptr), shape=X.shape)
    model = novikoff.LinearSVC().fit(messy, y)
    np.testing.assert_array_equal(model.predict(X), novikoff.LinearSVC().fit(X, y).predict(X))
    np.testing.assert_allclose(model.decision_function(messy), model.decision_function(X))


def damaged(X, random):
    """Sparse rows with something wrong in them."""
    X = X.copy()
    # SciPy's own constructor would refuse some of these.
    kind = random.integers(7)
    where = random.integers(X.nnz)
    if kind == 0:
        X.indices[where] = X.shape[1] + random.integers(1000)
    elif kind == 1:
        X.indices[where] = -1 - random.integers(1000)
    elif kind == 2:
        X.indptr[random.integers(1, len(X.indptr) - 1)] = -random.integers(1, 1000)
    elif kind == 3:
        X.indptr[-1] = X.nnz + random.integers(1, 10**9)
    elif kind == 4:
        X.indptr[0] = random.integers(1, 1000)
    elif kind == 5:
        X.indptr = X.indptr[: random.integers(0, len(X.indptr) - 1)].copy()
    else:
        X.data = X.data[: random.integers(0, len(X.data) - 1)].copy()
    return X


@pytest.mark.parametrize("seed", range(100))
def test_damaged_rows_are_a_value_error(seed, words):
    X, y = words
    random = np.random.default_rng(seed)
    bad = damaged(X, random)
    if random.integers(2):
        bad.indices, bad.indptr = bad.indices.astype(np.int64), bad.indptr.astype(np.int64)
    fitted = novikoff.Perceptron(max_iter=1).fit(X, y)
    for use in [
        lambda: novikoff.LogisticRegression().fit(bad, y),
        lambda: fitted.predict(bad),
        lambda: fitted.partial_fit(bad, y),
        lambda: novikoff.margin(bad, y),
        lambda: novikoff.NaiveBayes().fit(bad, y),
    ]:
        with pytest.raises(ValueError, match=r"damaged|inconsistent|indices|samples|index"):
            use()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_refused_with_their_place(value, cancer):
    X, y = cancer
    bad = X.copy()
    bad[3, 4] = value
    with pytest.raises(ValueError, match="row 4, column 5"):
        novikoff.LogisticRegression().fit(bad, y)
    model = novikoff.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="row 4, column 5"):
        model.predict(bad)


def test_rows_are_not_copied():
    # Values that single precision does not hold stay where they are.
    X = np.random.default_rng(0).normal(size=(200_000, 50))
    y = X[:, 0] > 0
    import resource

    novikoff.Perceptron(max_iter=1).fit(X[:1000], y[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    novikoff.Perceptron(max_iter=1, shuffle=False).fit(X, y)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < 0.6 * X.nbytes


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["10", "9", "b"]),
        np.array([10, 9, -1]),
        np.array([2.0, 1.0, -2.0]),
        np.array(["ä", "日本", "z y"]),
        np.array([True, False]),
        np.array(["10", "9"]),
    ],
    ids=str,
)
def test_labels_come_back_as_they_were(labels, iris):
    X, y = iris
    named = labels[y % len(labels)]
    for estimator in [
        novikoff.LogisticRegression(),
        novikoff.LinearSVC(),
        novikoff.AveragedPerceptron(),
        novikoff.VotedPerceptron(),
        novikoff.NaiveBayes(),
    ]:
        fitted = estimator.fit(X, named)
        np.testing.assert_array_equal(fitted.classes_, np.unique(named))
        predicted = fitted.predict(X)
        assert predicted.dtype == named.dtype
        if hasattr(fitted, "decision_function"):
            scores = fitted.decision_function(X)
            chosen = scores.argmax(1) if scores.ndim == 2 else (scores >= 0).astype(int)
            agree = fitted.classes_[chosen] == predicted
            assert agree.mean() > 0.99
            linear = X @ fitted.coef_.T + fitted.intercept_ if hasattr(fitted, "coef_") else scores
            np.testing.assert_allclose(np.squeeze(linear), scores, atol=1e-9)


def test_two_spellings_of_one_number_are_told():
    with pytest.raises(ValueError, match="spellings of one label"):
        novikoff.LogisticRegression().fit([[0.0], [1.0], [2.0]], np.array(["1", "1.0", "x"]))
