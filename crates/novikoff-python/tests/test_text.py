"""TextClassifier: the engine's reading of documents, against the program and against counts by hand."""

import json
import math
import pickle

import numpy as np
import pandas
import polars
import program
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import novikoff
from novikoff import TextClassifier

TEXTS = [
    "Win money NOW, cheap money!",
    "see you at lunch",
    "cheap pills",
    "lunch at noon? \tyes\nor no",
    "",
    'a "quoted" straße, ΣΊΣΥΦΟΣ \\ \u2028 été',
    "win win win",
    "noon is fine",
]
LABELS = ["spam", "ham", "spam", "ham", "ham", "ham", "spam", "ham"]


def jsonl(path, texts=TEXTS, labels=LABELS):
    lines = [json.dumps({"label": label, "text": text}) for text, label in zip(texts, labels, strict=False)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, []),
        ({"learner": "logistic"}, ["--learner", "logistic"]),
        ({"learner": "svm", "C": 0.5}, ["--learner", "svm", "--cost", "0.5"]),
        ({"learner": "bayes", "alpha": 0.5}, ["--learner", "bayes", "--smoothing", "0.5"]),
        ({"learner": "averaged"}, ["--learner", "averaged"]),
        (
            {"learner": "passive-aggressive", "max_iter": 3},
            ["--learner", "passive-aggressive", "--epochs", "3"],
        ),
        ({"ngram_range": (1, 2), "lowercase": False}, ["--words", "1-2", "--keep-case"]),
        ({"analyzer": "char_wb", "ngram_range": (2, 3)}, ["--words", "none", "--characters", "2-3"]),
        (
            {"char_ngram_range": (3, 3), "stop_words": "english"},
            ["--characters", "3-3", "--stop-words", "english"],
        ),
        ({"min_df": 2, "max_df": 0.5}, ["--min-documents", "2", "--max-documents", "0.5"]),
        (
            {"binary": True, "use_idf": False, "norm": None},
            ["--counting", "binary", "--idf", "no", "--unit-length", "no"],
        ),
        ({"sublinear_tf": False, "hash_bits": 10}, ["--counting", "counts", "--hash-bits", "10"]),
        ({"class_weight": "balanced", "tol": 1e-6}, ["--class-weight", "balanced", "--tolerance", "1e-6"]),
        ({"calibrate": "platt", "random_state": 7}, ["--calibrate", "platt", "--seed", "7"]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_models_have_the_bytes_of_the_programs(tmp_path, settings, options):
    expected = program.train(jsonl(tmp_path / "docs.jsonl"), *options)
    model = TextClassifier(**settings).fit(TEXTS, LABELS)
    model.save(tmp_path / "own.model")
    assert (tmp_path / "own.model").read_bytes() == expected


def test_a_file_of_tabs_gives_the_same_model(tmp_path):
    texts = [" ".join(text.split()) for text in TEXTS]
    path = tmp_path / "docs.tsv"
    path.write_text("".join(f"{label}\t{text}\n" for label, text in zip(LABELS, texts, strict=False)))
    assert TextClassifier().fit(texts, LABELS).model_.to_bytes() == program.train(path)


def test_predictions_are_the_programs(tmp_path):
    path = jsonl(tmp_path / "docs.jsonl")
    program.train(path)
    printed = program.run("predict", path.with_suffix(".model"), path).split()
    loaded = TextClassifier.load(path.with_suffix(".model"))
    assert (
        loaded.predict(TEXTS).tolist()
        == printed
        == TextClassifier().fit(TEXTS, LABELS).predict(TEXTS).tolist()
    )
    assert loaded.classes_.tolist() == ["ham", "spam"]


def test_terms_are_weighed_as_the_formula_says():
    model = TextClassifier().fit(["a b b", "a c"], [0, 1])
    assert model.feature_names_.tolist() == ["a", "b", "c"]
    rare = 1 + math.log(3 / 2)
    row = np.array([1.0, (1 + math.log(2)) * rare, 0.0])
    assert model.features(["a b b"]).toarray()[0] == pytest.approx(row / np.linalg.norm(row), rel=1e-6)
    counts = TextClassifier("bayes").fit(["a b b", "a c"], [0, 1])
    assert counts.features(["a b b b"]).toarray().tolist() == [[1, 3, 0]]
    log = counts.predict_log_proba(["b"])[0]
    assert log[0] - log[1] == pytest.approx(math.log((3 / 6) / (1 / 5)))


CONTAINERS = [
    list,
    tuple,
    np.array,
    lambda texts: np.array(texts, dtype=object),
    lambda texts: pandas.Series(texts, index=range(10, 10 + len(texts))),
    lambda texts: pandas.Series(texts).astype(object),
    lambda texts: pandas.Series(texts).astype("category"),
    polars.Series,
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_sequence_of_strings_gives_the_same_model(container):
    expected = TextClassifier().fit(TEXTS, LABELS).model_.to_bytes()
    model = TextClassifier().fit(container(TEXTS), container(LABELS))
    assert model.model_.to_bytes() == expected
    assert model.score(container(TEXTS), container(LABELS)) == 1.0


@pytest.mark.parametrize(
    ("X", "what"),
    [
        ("one text", "a single one"),
        (["a", None], "document 2 is no string"),
        (["a", float("nan")], "document 2 is no string"),
        (["a", pandas.NA], "document 2 is no string"),
        (["a", 3], "document 2 is no string"),
        (["a", b"b"], "document 2 is no string"),
        ([["a"], ["b"]], "document 1 is no string"),
        (np.array([["a"], ["b"]]), "shape"),
        (["a", "\ud800"], "surrogates"),
        ([], "0 sample"),
        (3, "sequence of strings"),
        ({"text": ["a", "b"]}, "sequence of strings"),
    ],
)
def test_what_is_no_sequence_of_documents_is_a_value_error(X, what):
    with pytest.raises(ValueError, match=what):
        TextClassifier().fit(X, [0, 1])


def test_odd_labels_and_weights_are_value_errors():
    for y in ([0], [0, 1, 2], None, [0, 0], [0.5, 1.7], [None, 1], [[0, 1], [1, 0]]):
        with pytest.raises(ValueError):
            TextClassifier().fit(["a", "b"], y)
    for weights in ([1.0], [-1.0, 1.0], [[1.0, 1.0]]):
        with pytest.raises(ValueError):
            TextClassifier().fit(["a", "b"], [0, 1], sample_weight=weights)
    for settings in (
        {"C": 0},
        {"learner": "magic"},
        {"analyzer": "char"},
        {"norm": "l1"},
        {"ngram_range": (3, 1)},
    ):
        with pytest.raises(ValueError):
            TextClassifier(**settings).fit(["a", "b"], [0, 1])
    with pytest.raises(NotFittedError):
        TextClassifier().predict(["a"])


@pytest.mark.parametrize(
    "labels", [[7, 9], [True, False], [1.0, -2.0], ["NA", "?"], ["", "b "], ["nan", "x"]]
)
def test_labels_keep_their_type_and_need_not_be_words(labels):
    model = TextClassifier().fit(["a", "b", "a b a"], [labels[0], labels[1], labels[0]])
    assert model.predict(["b", "a"]).tolist() == [labels[1], labels[0]]
    assert model.classes_.dtype == np.unique(labels).dtype


def test_proofs_come_with_the_fit_and_survive_without_the_texts():
    model = TextClassifier(tol=1e-6).fit(TEXTS, LABELS)
    assert model.gap_ <= 1e-6 and model.n_iter_ >= 1 and model.history_
    assert model.verify(TEXTS, LABELS) and not model.verify(TEXTS[1:], LABELS[1:])
    assert model.prove(TEXTS, LABELS).to_text() == model.certificate_.to_text()
    with pytest.raises(ValueError):
        model.prove(TEXTS[::-1], [*LABELS[::-1][1:], "spam"])
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate_.to_text() == model.certificate_.to_text()


def test_pickles_and_files_predict_the_same(tmp_path):
    model = TextClassifier("logistic").fit(TEXTS, np.arange(8) % 3)
    model.save(tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(model)), TextClassifier.load(tmp_path / "m")):
        assert np.array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
        assert again.classes_.tolist() == [0, 1, 2] and again.predict(TEXTS).dtype.kind == "i"
    novikoff.Ridge().fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "other")
    with pytest.raises(ValueError, match="reads"):
        TextClassifier.load(tmp_path / "other")


def test_probabilities_are_there_where_they_are_true():
    assert not hasattr(TextClassifier().fit(TEXTS, LABELS), "predict_proba")
    for settings in ({"learner": "logistic"}, {"learner": "bayes"}, {"calibrate": "platt"}):
        model = TextClassifier(**settings)
        assert hasattr(model, "predict_proba")
        assert model.fit(TEXTS * 3, LABELS * 3).predict_proba(TEXTS).sum(axis=1) == pytest.approx(1)


def test_weights_count_rows_as_often_as_they_say():
    weights = np.array([1, 2, 1, 1, 3, 1, 1, 1])
    recipe = {"use_idf": False, "tol": 1e-10, "learner": "logistic"}
    weighted = TextClassifier(**recipe).fit(TEXTS, LABELS, sample_weight=weights)
    repeated = TextClassifier(**recipe).fit(np.repeat(TEXTS, weights), np.repeat(LABELS, weights))
    assert weighted.decision_function(TEXTS) == pytest.approx(repeated.decision_function(TEXTS), abs=1e-4)


def test_an_explanation_adds_up_to_the_score():
    model = TextClassifier().fit(TEXTS, LABELS)
    told = model.explain("cheap lunch, cheap noon")
    assert told.prediction == model.predict(["cheap lunch, cheap noon"])[0]
    assert told.bias + sum(told.parts.values()) == pytest.approx(told.score)
    assert abs(told.score) == pytest.approx(abs(model.decision_function(["cheap lunch, cheap noon"])[0]))
    assert "cheap" in str(told) and "<table>" in told._repr_html_()
    top = model.top_features(1)
    assert set(top) == {"ham", "spam"} and top["spam"][0][1] == model.coef_.max()


def test_it_serves_in_searches_and_pipelines():
    texts, labels = TEXTS * 4, LABELS * 4
    search = GridSearchCV(TextClassifier(), {"C": [0.1, 1.0], "ngram_range": [(1, 1), (1, 2)]}, cv=2).fit(
        texts, labels
    )
    assert search.best_score_ > 0.5 and len(search.cv_results_["params"]) == 4
    assert cross_val_score(TextClassifier(), pandas.Series(texts), labels, cv=2).min() > 0.5
    lower = FunctionTransformer(lambda texts: [text.replace("win", "lose") for text in texts])
    piped = make_pipeline(lower, TextClassifier()).fit(texts, labels)
    assert piped.predict(["lose lose"]).tolist() == ["spam"]
    twin = clone(TextClassifier(C=3, stop_words=["at"]))
    assert (twin.C, twin.stop_words) == (3, ["at"])


def test_the_minimum_is_scikit_learns():
    model = TextClassifier("logistic", tol=1e-10).fit(TEXTS, LABELS)
    peer = LogisticRegression(tol=1e-10, max_iter=10_000).fit(model.features(TEXTS), LABELS)
    assert model.coef_[0] == pytest.approx(peer.coef_[0], abs=1e-4)


def test_a_callback_is_told_and_no_word_is_an_error():
    told = []
    TextClassifier(callback=told.append).fit(TEXTS, LABELS)
    assert told
    with pytest.raises(ValueError):
        TextClassifier().fit(["", "?!"], [0, 1])
    assert TextClassifier().fit(TEXTS, LABELS).predict(["", "unknown words"]).shape == (2,)
