"""Models for other runtimes, and models of the program."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import novikoff

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

EXPORTED = [
    novikoff.Perceptron(),
    novikoff.AveragedPerceptron(),
    novikoff.PassiveAggressive(),
    novikoff.KernelPerceptron(),
    novikoff.KernelPerceptron("poly", degree=2),
    novikoff.LinearSVC(),
    novikoff.LinearSVC(calibrate="platt"),
    novikoff.LogisticRegression(),
    novikoff.LogisticRegression(multiclass="one-vs-rest"),
    novikoff.MaxMarginClassifier(),
    novikoff.NaiveBayes(),
    novikoff.NaiveBayes("bernoulli"),
    novikoff.Network(hidden_units=16, max_iter=5),
]
NUMBERS = [
    novikoff.Ridge(),
    novikoff.Lasso(alpha=0.1),
    novikoff.QuantileRegressor(),
    novikoff.NetworkRegressor(hidden_units=16, max_iter=5),
]


def run(model, X):
    """What onnxruntime makes of an exported model: its outputs by name."""
    content = onnx.load_model_from_string(model.to_onnx())
    onnx.checker.check_model(content, full_check=True)
    session = onnxruntime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
    entry = session.get_inputs()[0]
    kind = np.float64 if "double" in entry.type else np.float32
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {entry.name: X.astype(kind)}), strict=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", EXPORTED, ids=str)
def test_classifiers_predict_the_same_in_onnxruntime(estimator, iris, cancer):
    for X, y in (iris, cancer):
        model = estimator.fit(X, y)
        outputs = run(model, X)
        labels = outputs["label"].astype(str)
        assert (labels == model.predict(X).astype(str)).all()
        if "probabilities" in outputs and hasattr(model, "predict_proba"):
            np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("estimator", NUMBERS, ids=str)
def test_regressors_predict_the_same_in_onnxruntime(estimator, diabetes):
    X, y = diabetes
    model = estimator.fit(X, y)
    (predicted,) = run(model, X).values()
    # Exported models take and give single precision.
    np.testing.assert_allclose(predicted.ravel(), model.predict(X), rtol=1e-4)


def test_what_cannot_be_exported_says_why(iris):
    with pytest.raises(ValueError, match="vote"):
        novikoff.VotedPerceptron().fit(*iris).to_onnx()


def test_linear_models_are_written_for_liblinear(cancer):
    X, y = cancer
    model = novikoff.LinearSVC().fit(X, y)
    text = model.model_.exported("liblinear").decode()
    assert text.startswith("solver_type ")
    weights = text.split("\nw\n")[1].split()
    np.testing.assert_allclose(np.abs([float(w) for w in weights[:30]]), np.abs(model.coef_[0]))


def program():
    """The program, if it has been built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
    built = [target / profile / "novikoff" for profile in ("debug", "release")]
    given = os.environ.get("NOVIKOFF_PROGRAM")
    return next((path for path in [*([Path(given)] if given else []), *built] if path.exists()), None)


@pytest.mark.skipif(program() is None, reason="the program has not been built")
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (novikoff.LogisticRegression(), ["--learner", "logistic", "--scale", "none"]),
        (novikoff.LogisticRegression(scale="standard"), ["--learner", "logistic"]),
        (novikoff.LinearSVC("hinge", C=0.5), ["--learner", "svm", "--scale", "none", "--cost", "0.5"]),
        (
            novikoff.AveragedPerceptron(max_iter=7),
            ["--learner=averaged", "--scale=none", "--epochs=7"],
        ),
        (novikoff.Perceptron(random_state=3), ["--learner", "perceptron", "--scale", "none", "--seed", "3"]),
        (novikoff.NaiveBayes(alpha=0.5), ["--learner", "bayes", "--smoothing", "0.5"]),
    ],
    ids=str,
)
def test_the_program_writes_the_same_bytes(estimator, options, words, tmp_path):
    X, y = words
    y = np.where(y == "spam", 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    model = tmp_path / "program.model"
    command = [program(), "train", tmp_path / "rows.svm", *options, "-o", model, "--quiet"]
    subprocess.run(command, check=True, timeout=60)
    estimator.fit(X, y).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == model.read_bytes()
    rows = novikoff.read(tmp_path / "rows.svm")
    assert (rows.X != X).nnz == 0 and (rows.y == y).all()
    loaded = novikoff.load(model)
    assert loaded.labels == ["-1", "1"]
