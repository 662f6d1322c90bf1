"""TableClassifier and TableRegressor: the engine's reading, against the program and small cases by hand."""

import datetime
import decimal
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas
import polars
import program
import pyarrow
import pyarrow.parquet
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from novikoff import TableClassifier, TableRegressor

WORDS = "the quick brown fox jumps over a lazy dog while it rains all day in our small town".split()


def frame(rows=60, seed=0):
    """Numbers, categories, truth values, prose, an identifier, dates and a label."""
    random = np.random.default_rng(seed)
    age = random.uniform(1, 80, rows).round(2)
    sex = random.choice(["male", "fe,male", 'o"ther'], rows)
    is_member = random.integers(0, 2, rows).astype(bool)
    score = age / 20 + 2 * is_member + (sex == "male") + random.normal(0, 1, rows)
    return pandas.DataFrame(
        {
            "id": np.arange(rows) + 100,
            "age": age,
            "sex": sex,
            "member": is_member,
            "count": random.integers(-5, 2**40, rows),
            "note": [" ".join(random.choice(WORDS, 7)) + f" {i}" for i in range(rows)],
            "when": pandas.date_range("2024-01-31 12:30:00", periods=rows, freq="D"),
            "label": np.where(score > np.median(score), "yes", "no"),
        }
    )


def quiet(estimator, *arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*arguments, **more)


def holes(table, seed=1):
    """The same with missing values in."""
    random = np.random.default_rng(seed)
    table = table.copy()
    for name in ("age", "sex", "note"):
        table[name] = table[name].astype(object).where(random.uniform(size=len(table)) > 0.2, None)
    table["age"] = table["age"].astype(float)
    return table


def dense(rows):
    """Rows as an array, however they are stored."""
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


# -- against the program ------------------------------------------------------------------------------------

CASES = [
    ({}, []),
    ({"learner": "logistic", "C": 3.0}, ["--learner", "logistic", "--cost", "3"]),
    ({"learner": "svm", "drop": ["note"]}, ["--learner", "svm", "--drop", "note"]),
    ({"learner": "averaged", "drop": ["note"]}, ["--learner", "averaged", "--drop", "note"]),
    (
        {"learner": "network", "drop": ["note"], "max_iter": 3},
        ["--learner", "network", "--drop", "note", "--epochs", "3"],
    ),
    ({"numbers": ["id"], "categories": ["note"]}, ["--numbers", "id", "--categories", "note"]),
    ({"text": ["sex"], "text_options": {"ngram_range": (1, 2)}}, ["--text", "sex", "--words", "1-2"]),
    ({"interactions": ["sex*member"], "drop": ["note"]}, ["--interactions", "sex*member", "--drop", "note"]),
    ({"scale": None, "fit_intercept": False}, ["--scale", "none", "--bias", "none"]),
    ({"class_weight": {"yes": 2.0, "no": 1.0}}, ["--class-weight", "yes=2,no=1"]),
    ({"missing": "indicator"}, ["--missing", "indicator"]),
]


@pytest.mark.parametrize(("settings", "options"), CASES)
def test_models_have_the_bytes_of_the_programs(tmp_path, settings, options):
    table = frame()
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = program.train(tmp_path / "t.csv", *options)
    assert quiet(TableClassifier(**settings), table, "label").model_.to_bytes() == expected
    # The labels beside the frame, which has them last.
    apart = quiet(TableClassifier(**settings), table.drop(columns="label"), table["label"])
    assert apart.model_.to_bytes() == expected


@pytest.mark.parametrize("missing", ["zero", "mean", "indicator"])
def test_missing_values_are_what_the_program_takes_them_for(tmp_path, missing):
    table = holes(frame())
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = program.train(tmp_path / "t.csv", "--missing", missing)
    assert quiet(TableClassifier(missing=missing), table, "label").model_.to_bytes() == expected
    if missing == "indicator":
        assert quiet(TableClassifier(), table, "label").model_.to_bytes() == expected
    with pytest.raises(ValueError, match=r'the value of column "\w+" is missing'):
        quiet(TableClassifier(missing="error"), table, "label")


@pytest.mark.parametrize("learner", ["least-squares", "least-absolute", "huber", "quantile"])
def test_regression_is_the_programs(tmp_path, learner):
    table = frame().drop(columns=["label", "note"]).assign(price=lambda t: t["age"] * 3 + t["count"] / 2**38)
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = program.train(tmp_path / "t.csv", "--label", "price", "--learner", learner)
    model = quiet(TableRegressor(learner), table, "price")
    assert model.model_.to_bytes() == expected
    again = TableRegressor.load(tmp_path / "t.model")
    assert np.array_equal(again.predict(table), model.predict(table))


def test_the_programs_regression_is_the_default(tmp_path):
    table = frame().drop(columns="label")
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = program.train(tmp_path / "t.csv", "--label", "age", "--task", "regression")
    assert quiet(TableRegressor(), table, "age").model_.to_bytes() == expected


def test_weights_are_a_column_or_an_array(tmp_path):
    table = frame().assign(w=np.arange(60) % 4 / 2).drop(columns="note")
    table.to_csv(tmp_path / "t.csv", index=False)
    expected = program.train(tmp_path / "t.csv", "--row-weights", "w")
    named = quiet(TableClassifier(), table, "label", sample_weight="w")
    assert named.model_.to_bytes() == expected and named.columns_["w"] == "row weights"
    apart = quiet(TableClassifier(), table.drop(columns="w"), "label", sample_weight=table["w"])
    assert np.array_equal(apart.coef_, named.coef_)
    assert np.array_equal(named.predict(table.drop(columns="w")), apart.predict(table.drop(columns="w")))


def test_an_array_is_a_table_without_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    expected = program.train(tmp_path / "t.csv", "--no-header", "--label", "4", "--numbers", "1,2,3")
    for own in (X, X.tolist(), np.asfortranarray(X)):
        assert TableClassifier().fit(own, y).model_.to_bytes() == expected


def test_predictions_are_the_programs_for_files_of_either(tmp_path):
    table = holes(frame())
    model = quiet(TableClassifier(), table, "label")
    model.save(tmp_path / "m")
    for new, name in ((table, "same"), (holes(frame(30, 5), 6), "new")):
        new.to_csv(tmp_path / f"{name}.csv", index=False)
        printed = program.run("predict", tmp_path / "m", tmp_path / f"{name}.csv").split()
        assert model.predict(new).tolist() == printed
        polars.from_pandas(new).write_csv(tmp_path / f"{name}-polars.csv")
        assert program.run("predict", tmp_path / "m", tmp_path / f"{name}-polars.csv").split() == printed
        assert TableClassifier.load(tmp_path / "m").predict(polars.from_pandas(new)).tolist() == printed


# -- containers ---------------------------------------------------------------------------------------------


def arrow(table):
    return pyarrow.Table.from_pandas(table, preserve_index=False)


CONTAINERS = {
    "polars": polars.from_pandas,
    "pyarrow": arrow,
    "chunks": lambda table: pyarrow.concat_tables([arrow(table[:7]), arrow(table[7:20]), arrow(table[20:])]),
    "dictionaries": lambda table: arrow(table.assign(sex=table["sex"].astype("category"))),
    "reader": lambda table: arrow(table).to_reader(),
    "mapping": lambda table: {name: table[name].to_numpy() for name in table},
    "lists": lambda table: {name: table[name].tolist() for name in table},
    "structured": lambda table: table.to_records(index=False).view(np.ndarray),
    "categoricals": lambda table: table.assign(sex=table["sex"].astype("category")),
    "nullable": lambda table: table.convert_dtypes(),
    "arrow-backed": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda table: table.astype(object),
    "another index": lambda table: table.set_index(pandas.Index(range(5, 5 + len(table)), name="x")),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("with_holes", [False, True])
def test_every_frame_of_one_table_gives_one_model(name, with_holes):
    table = holes(frame()) if with_holes else frame()
    if name == "structured":
        table = table.drop(columns="when")
    expected = quiet(TableClassifier(), table, "label")
    model = quiet(TableClassifier(), CONTAINERS[name](table), "label")
    lower = [feature.lower() for feature in model.feature_names_]
    assert lower == [feature.lower() for feature in expected.feature_names_]
    assert np.array_equal(model.coef_, expected.coef_) and model.columns_ == expected.columns_
    own, others = table.drop(columns="label"), CONTAINERS[name](table.drop(columns="label"))
    assert np.array_equal(expected.decision_function(others), expected.decision_function(own))
    assert model.predict(own).tolist() == expected.predict(own).tolist()


@pytest.mark.parametrize("container", [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table])
@pytest.mark.parametrize(
    "y", [[3, 1, 2, 4], [1.5, -2.0, 0.25, 1e30], ["u", "v", "u", "w"], [True, False, True, True]]
)
def test_labels_of_a_column_keep_their_type(container, y):
    table = container({"a": [1.0, 2.5, 3.0, 4.0], "b": y})
    model = TableClassifier() if y != [1.5, -2.0, 0.25, 1e30] else TableRegressor(alpha=1.0)
    predicted = model.fit(table, "b").predict(table)
    assert predicted.dtype.kind.replace("O", "U") == np.asarray(y).dtype.kind
    assert isinstance(model, TableRegressor) or set(model.classes_.tolist()) == set(y)


def test_duckdb_relations_are_frames():
    duckdb = pytest.importorskip("duckdb")
    table = frame()
    relation = duckdb.from_df(table)
    model = quiet(TableClassifier(), relation, "label")
    assert np.array_equal(model.coef_, quiet(TableClassifier(), table, "label").coef_)


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import pandas
from novikoff import TableClassifier
table = pandas.DataFrame({"a": [1, None, 3, 4], "b": ["u", None, "v", "u"], "c": [True, False, True, True]})
table["d"] = table["b"].astype("category")
print(TableClassifier().fit(table, [0, 1, 0, 1]).feature_names_.tolist())
"""


def test_pandas_needs_no_pyarrow():
    command = [sys.executable, "-c", WITHOUT_PYARROW]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    names = ["a", "a=missing", "b=u", "b=v", "b=missing", "c=True", "c=False", "d=u", "d=v", "d=missing"]
    assert done.stdout.strip() == str(names), done.stderr


def test_a_parquet_file_of_the_frame_is_read_as_the_frame(tmp_path):
    import novikoff

    table = holes(frame()).drop(columns="note")
    table.to_parquet(tmp_path / "t.parquet")
    model = quiet(TableClassifier(), polars.from_pandas(table), "label")
    rows = novikoff.read(tmp_path / "t.parquet", model=model.model_)
    assert np.array_equal(dense(rows.X), dense(model.features(table)))


# -- what columns become ------------------------------------------------------------------------------------


def test_columns_are_what_the_engine_says_and_it_warns():
    with pytest.warns(UserWarning, match=r'left out "id".*numbers=\["id"\] keeps it'):
        model = TableClassifier().fit(frame(), "label")
    assert model.columns_ == {
        "id": "left out",
        "age": "numbers",
        "sex": "categories",
        "member": "categories",
        "count": "numbers",
        "note": "text",
        "when": "left out",
    }
    assert model.n_features_in_ == 7 and model.feature_names_in_[0] == "id"
    assert model.coef_.shape == (1, len(model.feature_names_))
    assert {"age", "sex=male", "sex=fe,male", "member=True"} < set(model.feature_names_)


def test_rows_are_what_one_would_write_by_hand():
    table = pandas.DataFrame({"n": [1.5, np.nan, -2.0, 4.0], "c": ["u", "v", None, "u"], "y": [0, 1, 1, 0]})
    indicator = TableClassifier().fit(table, "y")
    assert indicator.feature_names_.tolist() == ["n", "n=missing", "c=u", "c=v", "c=missing"]
    # The mean in place of what is missing, and a column that says so.
    expected = [[1.5, 0, 1, 0, 0], [3.5 / 3, 1, 0, 1, 0], [-2, 0, 0, 0, 1], [4, 0, 1, 0, 0]]
    assert np.allclose(dense(indicator.features(table)), expected)
    mean = TableClassifier(missing="mean").fit(table, "y").features(table)
    assert np.array_equal(
        mean.toarray() if hasattr(mean, "toarray") else mean,
        [[1.5, 1, 0], [3.5 / 3, 0, 1], [-2, 0, 0], [4, 1, 0]],
    )


def test_products_of_columns_are_features():
    table = frame().drop(columns="note")
    model = quiet(TableClassifier(interactions=[("sex", "member")]), table, "label")
    assert any("*" in name for name in model.feature_names_)


def test_unseen_categories_weigh_nothing_and_later_holes_are_the_mean():
    table = frame()[["age", "sex", "label"]]
    model = quiet(TableClassifier(), table, "label")
    new = pandas.DataFrame({"sex": ["robot", None], "age": [10.0, np.nan]})
    intercept, weight = model.intercept_[0], model.coef_[0][0]
    expected = [intercept + 10 * weight, intercept + table["age"].mean() * weight]
    with pytest.warns(UserWarning, match="1 value is of categories that the model has never seen"):
        assert model.decision_function(new) == pytest.approx(expected)
    strict = quiet(TableClassifier(missing="error"), table, "label")
    with pytest.raises(ValueError, match='the value of column "age" is missing'):
        strict.predict(new)


def test_columns_are_found_by_name_and_others_are_errors():
    table = frame()
    model = quiet(TableClassifier(), table, "label")
    expected = model.predict(table)
    assert np.array_equal(model.predict(table[table.columns[::-1]]), expected)
    assert np.array_equal(model.predict(table.drop(columns=["label", "id", "when"])), expected)
    with pytest.raises(ValueError, match='lacks the columns "age"'):
        model.predict(table.drop(columns="age"))
    with pytest.raises(ValueError, match="not trained on"):
        model.predict(table.assign(more=1))
    tolerant = quiet(TableClassifier(drop=["more"]), table.assign(more=1), "label")
    assert np.array_equal(tolerant.predict(table.assign(more=1)), expected)


def test_a_frame_of_numbers_keeps_its_order_as_in_scikit_learn():
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=list("abc"))
    model = TableClassifier().fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["c", "b", "a"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(model.predict(X.to_numpy()), model.predict(X))


# -- odd input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "what"),
    [
        (pandas.DataFrame({"a": []}), [], "0 sample"),
        (pandas.DataFrame(), [], "0 sample|column"),
        (polars.DataFrame({"a": [1]}), [0], "two classes"),
        (pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], 'two columns are called "a"'),
        ({"a": [1, 2], "b": [1]}, [0, 1], "do not fit together"),
        ({"a": [1.0, np.inf, 2.0]}, [0, 1, 0], "not a finite number|infinite"),
        (pandas.DataFrame({"a": [1, 2]}), [0, 1, 1], "inconsistent"),
        (pandas.DataFrame({"a": [1, 2]}), "b", "no column"),
        (pandas.DataFrame({"a": [1, 2]}), None, "requires y"),
        (pandas.DataFrame({"a": [1, 2], "b": [0, None]}), "b", "NaN"),
        (polars.DataFrame({"a": [1, 2], "b": ["x", None]}), "b", "no value in row 2"),
        (polars.DataFrame({"a": [[1], [2]]}), [0, 1], "lists"),
        (polars.DataFrame({"a": [datetime.timedelta(1)] * 2}), [0, 1], "durations"),
        (pandas.DataFrame({"a": [pandas.Timedelta(1)] * 2}), [0, 1], "durations"),
        (pandas.DataFrame({"a": [1j, 2]}), [0, 1], "Complex"),
        (pandas.DataFrame({"a": [1, 2]}), [0, np.nan], "NaN"),
    ],
)
def test_odd_tables_are_value_errors(X, y, what):
    with pytest.raises(ValueError, match=what):
        TableClassifier().fit(X, y)


def test_cells_are_single_values():
    for cell in ([1], {"a": 1}, (1, 2), np.array([1])):
        with pytest.raises(TypeError, match="row 2 of column"):
            TableClassifier().fit({"a": ["x", cell]}, [0, 1])


def test_nothing_is_a_value_whatever_it_is_called():
    for nothing in (None, np.nan, pandas.NA, pandas.NaT, float("nan"), "", "NA", decimal.Decimal("nan")):
        column = np.array([1, nothing, 3, 4] * 5, dtype=object)
        model = quiet(TableClassifier(), {"a": column}, [0, 1, 0, 1] * 5)
        assert model.feature_names_.tolist() == ["a", "a=missing"], nothing


def test_mixed_objects_are_spelled_as_python_spells_them():
    column = [1, 2.5, "three", True, b"five", decimal.Decimal("6.0"), datetime.date(2024, 1, 31), 2**80] * 3
    model = TableClassifier(categories=["a"]).fit({"a": column}, [0, 1] * 12)
    spelled = ["1", "2.5", "three", "True", "five", "6.0", "2024-01-31", str(2**80)]
    assert model.feature_names_.tolist() == [f"a={value}" for value in spelled]


def test_categories_match_across_types():
    train = pandas.DataFrame({"flag": [True, False] * 10, "code": [1, 2] * 10, "y": [0, 1] * 10})
    model = TableClassifier(categories=["code"]).fit(train, "y")
    expected = model.decision_function(train[:2])
    floats = polars.DataFrame({"flag": [True, False], "code": [1.0, 2.0]})
    assert np.array_equal(model.decision_function(floats), expected)
    texts = {"flag": ["TRUE", "false"], "code": ["1", "2"]}
    assert np.array_equal(model.decision_function(texts), expected)


def test_numbers_arrive_exactly():
    values = [0.1, 1e300, 5e-324, -0.0, 2**53 + 1, np.nextafter(1, 2), 123456789.123456789]
    for dtype in (np.float64, np.float32):
        X = np.array(values + values, dtype=dtype).clip(-1e38, 1e38).reshape(-1, 1)
        model = TableClassifier("averaged", scale=None).fit(X, [0, 1] * 7)
        assert np.array_equal(dense(model.features(X)), X.astype(float))
    whole = np.array([2**63 - 1, -(2**63), 7, 8])
    model = TableRegressor(alpha=1.0, numbers=["a"]).fit({"a": whole}, [1.0, 2.0, 3.0, 4.0])
    assert np.array_equal(dense(model.features({"a": whole})).ravel(), whole.astype(float))


@pytest.mark.parametrize(
    "times",
    [
        pandas.date_range("2024-01-31 12:30", periods=4),
        pandas.date_range("2024-01-31 14:30", periods=4, tz="Europe/Athens"),
        pandas.date_range("2024-01-31 12:30", periods=4).as_unit("s"),
        np.array(
            ["2024-01-31T12:30", "2024-02-01T12:30", "2024-02-02T12:30", "2024-02-03T12:30"], "datetime64[m]"
        ),
        polars.Series(pandas.date_range("2024-01-31 12:30", periods=4)),
    ],
)
def test_times_are_spelled_in_one_way(times):
    table = (
        polars.DataFrame({"t": times}) if isinstance(times, polars.Series) else pandas.DataFrame({"t": times})
    )
    model = TableClassifier(categories=["t"]).fit(table, [0, 1, 0, 1])
    assert model.feature_names_[:2].tolist() == ["t=2024-01-31 12:30:00", "t=2024-02-01 12:30:00"]


def test_names_that_are_no_strings_are_written_as_such():
    table = pandas.DataFrame({0: [1.0, 2, 3, 5], ("a", 1): list("uvuv"), None: [1.5, 1, 2, 2]})
    model = TableClassifier().fit(table, [0, 1, 0, 1])
    assert list(model.columns_) == ["0", "('a', 1)", "None"] and not hasattr(model, "feature_names_in_")
    levels = pandas.DataFrame(
        [[1.0, 2.0], [2.0, 5.0]], columns=pandas.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    )
    assert TableClassifier().fit(levels, [0, 1]).predict(levels).tolist() == [0, 1]


def test_columns_called_like_labels_are_features_beside_labels():
    table = pandas.DataFrame({"y": [1.0, 2, 3, 5], "label": [4.0, 3, 2, 9], "target": list("uvuv")})
    model = TableClassifier().fit(table, [0, 1, 0, 1])
    assert model.columns_ == {"y": "numbers", "label": "numbers", "target": "categories"}
    assert model.predict(table).shape == (4,)


def test_masked_arrays_and_views_are_read():
    masked = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[False, True, False, False])
    assert TableClassifier().fit({"a": masked}, [0, 1, 0, 1]).feature_names_.tolist() == ["a", "a=missing"]
    swapped = np.arange(8.0).astype(">f8").reshape(4, 2)[:, ::-1]
    assert np.array_equal(dense(TableRegressor().fit(swapped, [1, 2, 3, 4]).features(swapped)), swapped)


def test_damaged_arrow_data_is_a_value_error():
    buffers = [None, pyarrow.py_buffer(np.array([0, 900, 3], dtype=np.int32)), pyarrow.py_buffer(b"abc")]
    broken = pyarrow.StringArray.from_buffers(2, buffers[1], buffers[2])
    with pytest.raises(ValueError, match="cannot be read"):
        TableClassifier().fit(pyarrow.table({"a": broken}), [0, 1])


def test_ctrl_c_ends_the_reading_of_a_large_table():
    X = np.random.default_rng(0).normal(size=(300_000, 12))
    told = []

    def interrupt():
        told.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.7, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            TableClassifier().fit(X, np.arange(len(X)) % 2)
    assert time.monotonic() - told[0] < 1
    assert TableClassifier().fit(X[:50], np.arange(50) % 2).predict(X[:1]).shape == (1,)


# -- scikit-learn -------------------------------------------------------------------------------------------


def test_searches_pipelines_and_clones():
    table, y = frame().drop(columns=["label", "id", "when"]), frame()["label"]
    grid = {"C": [0.1, 1.0], "missing": ["mean", "auto"]}
    search = GridSearchCV(TableClassifier(), grid, cv=2).fit(table, y)
    assert search.best_score_ > 0.6
    assert (
        cross_val_score(
            TableClassifier("logistic"), polars.from_pandas(table), y, cv=2, scoring="roc_auc"
        ).min()
        > 0.6
    )
    older = FunctionTransformer(lambda table: table.assign(age=table["age"] + 1))
    piped = make_pipeline(older, TableClassifier()).fit(table, y)
    assert piped.score(table, y) > 0.8
    assert clone(TableClassifier(drop=["a"], C=2)).get_params()["drop"] == ["a"]


def test_pickles_certificates_and_explanations():
    table = frame().drop(columns="note")
    model = quiet(TableClassifier(tol=1e-6), table, "label")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(table), model.predict_proba(table))
    assert model.gap_ <= 1e-6
    assert model.verify(table, "label") and not model.verify(table[1:], "label")
    told = model.explain(table.iloc[3])
    assert told.prediction == model.predict(table.iloc[[3]])[0]
    assert told.bias + sum(told.parts.values()) == pytest.approx(told.score)
    assert told == model.explain(table.iloc[3].to_dict()) == model.explain(table.iloc[[3]])
    regressor = quiet(TableRegressor(), table, "age")
    assert regressor.explain(table.iloc[3]).score == pytest.approx(regressor.predict(table.iloc[[3]])[0])
    with pytest.raises(NotFittedError):
        TableClassifier().predict(table)


def test_the_minimum_is_scikit_learns():
    table = frame().drop(columns=["note", "id", "when"])
    model = TableClassifier(scale=None, tol=1e-12, drop=["count"]).fit(table, "label")
    rows = model.features(table)
    peer = LogisticRegression(tol=1e-12, max_iter=10_000).fit(rows, table["label"])
    assert model.coef_[0] == pytest.approx(peer.coef_[0], abs=1e-3)
