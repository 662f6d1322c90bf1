"""Proofs: is it separable, against linear programming; margins, against a support vector machine; least absolute deviations."""

import random

from .clock import answer, turn_by_turn
from .table import Table, ratio, seconds, times

#: Sizes that deciding by linear programming can do here.
PROGRAMS = ["heart_scale.svm", "sonar.svm", "breast_cancer.svm", "mushrooms.svm", "agaricus.train.svm", "rcv1_small_cocoa.train.svm", "a9a.svm"]
#: What it cannot.
LARGE = ["census.train.svm", "covtype.binary.svm", "news20b.train.svm"]
#: The same, whole: does the answer come within a minute?
WHOLE = 60
MARGINS = ["sonar.svm", "mushrooms.svm", "agaricus.train.svm", "rcv1_small_cocoa.train.svm"]
LIMIT = 120.0


def section(tools, data, requirements, repeat):
    return [decide(tools, data, requirements, repeat), margins(tools, data, requirements, repeat), deviations(tools, data, requirements, repeat)]


def decide(tools, data, requirements, repeat):
    """Everybody has the rows in memory, and is timed from there."""
    table = Table("Separable?", ["", "answer", "novikoff", "HiGHS", "HiGHS ÷ novikoff"])
    for file in PROGRAMS + LARGE:
        path = data.path(file)
        with tools.peer(timeout=LIMIT) as peer:
            contestants = {"novikoff": lambda: answer([tools.library, "decide", path, "3"])}
            if file in PROGRAMS:
                contestants["HiGHS"] = lambda: peer.call("separable", train=path)
            best, skipped = turn_by_turn(contestants, repeat)
        for key, reason in skipped.items():
            table.note(f"skipped: {key}, {file}: {reason}")
        ours, theirs = best["novikoff"], best.get("HiGHS", {})
        apart = ratio(theirs.get("seconds"), ours["seconds"])
        table.add(file, ours["separable"], seconds(ours["seconds"]), seconds(theirs.get("seconds")), times(apart))
        if theirs and theirs["separable"] != ours["separable"]:
            table.note(f"{file}: HiGHS says {theirs['separable']}, and proves nothing")
        if file in PROGRAMS:
            requirements.at_least(f"separable? {file}: HiGHS ÷ novikoff", apart, 5)
        requirements.at_most(f"separable? {file}: seconds", ours["seconds"], WHOLE)
    table.note("novikoff: what `margin --decide` does, with the proof of its answer. HiGHS, whose answer comes without one: SciPy's `linprog` for w, b with y(<w, x> + b) ≥ 1 and nothing to minimise, sparse rows.")
    return table


def margins(tools, data, requirements, repeat):
    table = Table("The largest margin", ["", "novikoff", "its interval", "SVC", "its margin", "SVC ÷ novikoff"])
    for file in MARGINS:
        path = data.path(file)
        with tools.peer(timeout=LIMIT) as peer:
            contestants = {"novikoff": lambda: answer([tools.novikoff, "margin", path, "--json", "--tolerance", "1e-6"]),
                           "SVC": lambda: peer.call("svc_margin", train=path)}
            best, skipped = turn_by_turn(contestants, repeat)
        for key, reason in skipped.items():
            table.note(f"skipped: {key}, {file}: {reason}")
        ours, theirs = best["novikoff"], best.get("SVC", {})
        low, high = ours["margin"]
        found = theirs.get("margin")
        table.add(file, seconds(ours["seconds"]), f"[{low:.8f}, {high:.8f}]", seconds(theirs.get("seconds")),
                  "–" if found is None else f"{found:.8f}", times(ratio(theirs.get("seconds"), ours["seconds"])))
        requirements.at_most(f"margin of {file}: SVC's above novikoff's upper end, in millionths",
                             None if found is None else 1e6 * (found / high - 1), 1)
    table.note("`--tolerance 1e-6`; scikit-learn's `SVC(kernel='linear', C=1e10, tol=1e-6)`, and the least margin of the hyperplane that it returns.")
    return table


def deviations(tools, data, requirements, repeat):
    table = Table("Least absolute deviations", ["", "novikoff", "QuantileRegressor", "HiGHS, dual", "faster of them ÷ novikoff", "objective above novikoff's"])
    for name, path in [("20,000 × 50", generated(data)), ("diabetes_regression.svm", data.path("diabetes_regression.svm"))]:
        with tools.peer(timeout=LIMIT) as peer:
            contestants = {"novikoff": lambda: fitted(tools, path),
                           "QuantileRegressor": lambda: peer.call("quantile", train=path),
                           "HiGHS, dual": lambda: peer.call("deviations", train=path)}
            best, skipped = turn_by_turn(contestants, repeat)
        for key, reason in skipped.items():
            table.note(f"skipped: {key}, {name}: {reason}")
        ours = best["novikoff"]
        theirs = [best[key] for key in ("QuantileRegressor", "HiGHS, dual") if key in best]
        fastest = min((result["seconds"] for result in theirs), default=None)
        above = min((result["objective"] for result in theirs), default=None)
        apart = ratio(fastest, ours["seconds"])
        over = None if above is None else above / ours["objective"] - 1
        table.add(name, seconds(ours["seconds"]), *(seconds(best.get(key, {}).get("seconds")) for key in ("QuantileRegressor", "HiGHS, dual")),
                  times(apart), "–" if over is None else f"{over:.1e}")
        requirements.at_least(f"deviations, {name}: fastest peer ÷ novikoff", apart, 1)
        requirements.at_most(f"deviations, {name}: novikoff's objective above the best of the peers, in millionths", None if over is None else -1e6 * over, 1)
    table.note("`--learner least-absolute`, a free bias and no penalty; time on rows in memory. scikit-learn's `QuantileRegressor(quantile=0.5, alpha=0, "
               "solver='highs')`; HiGHS on the dual linear program, max <y, u> with Xᵀu = 0 and |u| ≤ 1, weights from its multipliers.")
    return table


def fitted(tools, path):
    told = answer([tools.novikoff, "train", path, "--learner", "least-absolute", "--scale", "none", "--json"])
    return {"seconds": told["train_seconds"], "objective": told["objective"]}


def generated(data):
    """20,000 rows of 50 numbers, and targets with noise that has heavy tails."""
    def write(out):
        chance = random.Random(5)
        weights = [chance.gauss(0, 1) for _ in range(50)]
        for _ in range(20_000):
            row = [round(chance.gauss(0, 1), 4) for _ in range(50)]
            noise = chance.gauss(0, 1) / max(1e-3, abs(chance.gauss(0, 1)))
            target = sum(w * x for w, x in zip(weights, row)) + noise
            out.write(" ".join([f"{target:.6f}", *(f"{j}:{x}" for j, x in enumerate(row, 1))]) + "\n")
    return data.once("deviations.svm", write)
