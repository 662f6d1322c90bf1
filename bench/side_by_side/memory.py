"""Ten epochs over rows in memory: novikoff's perceptron against scikit-learn's Perceptron and SGDClassifier."""

import os

from .clock import answer, turn_by_turn
from .table import Table, ratio, seconds, times

EPOCHS = 10
FILES = ["census.train.svm", "covtype.binary.svm", "news20b.train.svm", "a9a.svm", "mnist"]
PEERS = ["Perceptron", "SGDClassifier"]
ONE_THREAD = {**os.environ, "RAYON_NUM_THREADS": "1"}
NAMES = {"novikoff": "novikoff perceptron", "one": "novikoff perceptron, 1 thread", **{peer: f"scikit-learn {peer}" for peer in PEERS}}


def section(tools, data, requirements, repeat):
    table = Table(f"In memory: {EPOCHS} epochs", ["", *FILES])
    results = [measure(tools, data, file, repeat, table) for file in FILES]
    for key, name in NAMES.items():
        table.add(name, *(seconds(result.get(key)) for result in results))
    for peer in PEERS:
        values = [ratio(result.get(peer), result.get("novikoff")) for result in results]
        table.add(f"{peer} ÷ novikoff", *map(times, values))
        for file, value in zip(FILES, values):
            requirements.at_least(f"in memory, {file}: {peer} ÷ novikoff", value, 3)
    table.note("Training alone, warm, rows shuffled in each epoch; scikit-learn: `fit` of the same rows in CSR, tol=None, one thread, which is all it can use for two classes. "
               "mnist: one against the rest for both.")
    return [table]


def measure(tools, data, file, repeat, table):
    path = data.images("train") if file == "mnist" else data.path(file)
    with tools.peer() as peer:
        command = [tools.library, "epochs", path, str(EPOCHS), "1"]
        contestants = {"novikoff": lambda: answer(command), "one": lambda: answer(command, ONE_THREAD)}
        for name in PEERS:
            contestants[name] = lambda name=name: peer.call("fit", name=name, epochs=EPOCHS, train=path)
        best, skipped = turn_by_turn(contestants, repeat)
    for key, reason in skipped.items():
        table.note(f"skipped: {key}, {file}: {reason}")
    if len({result["rows"] for result in best.values()}) > 1:
        table.note(f"DIFFERENT rows of {file}")
    return {key: for_all_epochs(result, file, table) for key, result in best.items()}


def for_all_epochs(result, file, table):
    """novikoff ends where an epoch makes no mistake; its time is scaled up to all epochs, so that both do the same work."""
    made = result.get("epochs", EPOCHS)
    if made < EPOCHS:
        table.note(f"{file}: novikoff had separated the rows after {made} epochs ({result['seconds']:.3f} s); scaled up to {EPOCHS}.")
    return result["seconds"] * EPOCHS / made
