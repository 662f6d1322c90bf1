"""Test errors with everybody's defaults: speed that costs accuracy is none."""

import json

from .clock import Skipped, run
from .table import Table, percent

SETS = ["a9a", "census", "news20b", "mnist", "news20"]
PROMISED = ["census", "news20b"]
LIMIT = 240  # seconds for one fit of a peer
SEEDS = range(5)  # orders of the rows that novikoff's errors are the mean of: from one to another they differ by half a point

NOVIKOFF = {"novikoff averaged": ["--learner", "averaged"], "novikoff perceptron": ["--learner", "perceptron"]}
ONE_PASS = "novikoff averaged, 1 pass"
LIBLINEAR = {"LIBLINEAR -s 1": "-s 1", "LIBLINEAR -s 2": "-s 2", "LIBLINEAR -s 3": "-s 3"}
SKLEARN = {"scikit-learn Perceptron": "Perceptron"}
VW = {"Vowpal Wabbit, 1 pass": 1, "Vowpal Wabbit, 10 passes": 10}


def section(tools, data, requirements, repeat):
    del repeat  # nobody here learns differently the second time
    table = Table("Errors on test rows", ["", *SETS])
    results = [measure(tools, data, name, table) for name in SETS]
    for row in (*NOVIKOFF, ONE_PASS, *SKLEARN, *LIBLINEAR, *VW):
        table.add(row, *(percent(result.get(row)) for result in results))
    by_name = dict(zip(SETS, results))
    for name in PROMISED:
        ours = by_name[name].get("novikoff averaged")
        for peer in VW:
            theirs = by_name[name].get(peer)
            worse = None if ours is None or theirs is None else 100 * (ours - theirs)
            requirements.at_most(f"error on {name}: averaged − {peer}, points", worse, 1)
    table.note(f"novikoff averaged and perceptron: the mean over seeds {SEEDS[0]} to {SEEDS[-1]}, that is, orders of the rows; everybody else: one order.")
    table.note("Defaults everywhere. Vowpal Wabbit: hinge loss; ten passes with cache and --holdout_off; more than two classes by --oaa.")
    table.note("Those that take rows in the order of the file (1 pass, and Vowpal Wabbit) get them in a seeded random order: news20b is sorted by class.")
    table.note("news20: a fifth of the rows, by a seeded choice, is for testing; rows as they are.")
    return [table]


def files(data, name):
    """Rows to learn from and to test on; the former in another order; and these two in Vowpal Wabbit's format."""
    if name == "mnist":
        train, test = (f"mnist/{part}-images-idx3-ubyte" for part in ("train", "t10k"))
        return data.path(train), data.path(test), data.path(train), data.vw(train), data.vw(test)
    if name == "news20":
        train, test = data.split("news20.svm")
    else:
        pair = ("a9a.svm", "a9a.t.svm") if name == "a9a" else (f"{name}.train.svm", f"{name}.test.svm")
        train, test = (data.path(file) for file in pair)
    shuffled = data.shuffled(train)
    return train, test, shuffled, data.vw(shuffled), data.vw(test)


def measure(tools, data, name, table):
    train, test, shuffled, vw_train, vw_test = files(data, name)
    errors = {}

    def tell(row, work):
        try:
            errors[row] = work()
        except Skipped as reason:
            table.note(f"skipped: {row}, {name}: {reason}")

    def novikoff(rows, *options):
        return json.loads(run([tools.novikoff, "train", rows, "--test", test, "--json", *options]))["test_error"]

    for row, options in NOVIKOFF.items():
        tell(row, lambda: sum(novikoff(train, *options, "--seed", str(seed)) for seed in SEEDS) / len(SEEDS))
    tell(ONE_PASS, lambda: novikoff(shuffled, "--online"))
    with tools.peer(timeout=LIMIT) as peer:
        for row, learner in SKLEARN.items():
            tell(row, lambda: peer.call("sklearn_error", name=learner, epochs=None, train=train, test=test)["error"])
        for row, options in LIBLINEAR.items():
            tell(row, lambda: peer.call("liblinear_error", options=options, train=train, test=test)["error"])
        for row, passes in VW.items():
            tell(row, lambda: peer.call("vw_error", **vw_job(data, name, vw_train, vw_test, passes))["error"])
    return errors


def vw_job(data, name, train, test, passes):
    classes = {"mnist": 10, "news20": 20}.get(name)
    options = f"-d {train} --loss_function hinge -b 22"
    if classes:
        options += f" --oaa {classes}"
    if passes > 1:
        options += f" --passes {passes} --cache_file {train}.cache -k --holdout_off"
    made = str(data.made / name)
    return {"options": options, "model": f"{made}.vwmodel", "test": test, "predictions": f"{made}.predictions"}
