"""Batch learning to a given distance from the minimum: from text to model against LIBLINEAR, in memory against scikit-learn and Snap ML."""

import json
import math
from functools import partial

from .clock import Skipped, turn_by_turn, whole
from .ladder import TARGETS, TOLERANCES, Memory, choices, climb, closest, given_up
from .table import Table, ratio, seconds, times

SETS = ["a9a", "covtype.binary", "census.train", "news20b.train", "mnist"]
LEARNERS = {"hinge": "svm", "squared hinge": "squared-svm", "logistic": "logistic"}
LIBLINEAR = {"hinge": ("-s 3",), "squared hinge": ("-s 2", "-s 1"), "logistic": ("-s 0", "-s 7")}
LIMIT_TEXT, LIMIT_MEMORY = 120, 60  # seconds that a single run may take
LIMIT_LEAST = 600  # and the one that the minimum is known by
GRACE = 3  # seconds more for a peer to compute what its weights come to
FEW = 5000  # features: newton-cholesky has a matrix of their squared number

SVC, LOGISTIC = "LinearSVC", "LogisticRegression"
SNAP_SVM, SNAP_LOGISTIC = "snapml.SupportVectorMachine", "snapml.LogisticRegression"
PEERS = {
    "hinge": {
        "LinearSVC": (SVC, {"loss": "hinge", "dual": True}),
        "Snap ML": (SNAP_SVM, {"loss": "hinge"}),
    },
    "squared hinge": {
        "LinearSVC primal": (SVC, {"loss": "squared_hinge", "dual": False}),
        "Snap ML": (SNAP_SVM, {"loss": "squared_hinge"}),
        "LinearSVC dual": (SVC, {"loss": "squared_hinge", "dual": True}),
    },
    "logistic": {
        "newton-cholesky": (LOGISTIC, {"solver": "newton-cholesky"}),
        "liblinear": (LOGISTIC, {"solver": "liblinear"}),
        "lbfgs": (LOGISTIC, {"solver": "lbfgs"}),
        "Snap ML": (SNAP_LOGISTIC, {"dual": True}),
        "newton-cg": (LOGISTIC, {"solver": "newton-cg"}),
        "liblinear dual": (LOGISTIC, {"solver": "liblinear", "dual": True}),
        "Snap ML primal": (SNAP_LOGISTIC, {"dual": False}),
    },
}


def section(tools, data, requirements, repeat):
    text = Table("Fit: from text to model, to (F − F*)/F* within …", ["", *SETS])
    memory = Table("Fit: in memory, to (F − F*)/F* within …", ["", *SETS])
    kept = Memory(data.made / "fit.json")
    peers = tools.versions()
    made_by = {"least": tools.fingerprint(), "novikoff": tools.fingerprint(), "LIBLINEAR": peers, "peers": peers}
    cells = {}
    for name in SETS:
        for loss in LEARNERS:
            cells.update({(name, loss, target): Cell() for target in TARGETS})
            try:
                with tools.peer() as peer:
                    contest = Contest(tools, data, partial(recall, kept, made_by, name, loss), peer, name, loss, (text, memory))
                    for target in TARGETS:
                        cells[name, loss, target] = contest.measure(target, repeat)
                        print(f"  {name}, {loss}, {target:g}: {cells[name, loss, target].brief()}", flush=True)
            except Skipped as reason:
                text.note(f"skipped: {name}, {loss}: {reason}")
                print(f"  {text.notes[-1]}", flush=True)
    fill(text, requirements, cells, "end to end", "LIBLINEAR", mean=5, every=2)
    fill(memory, requirements, cells, "in memory", "best peer", mean=3, every=1)
    text.note("F = Σ loss + ½‖w‖² (C = 1, no bias), summed over classes; mnist, values from 0 to 1, one against the rest. F is computed "
              "from the model's file by NumPy, for all alike. F* is the smallest F known, and no smaller than novikoff's proven bound.")
    text.note("Everybody at the loosest tolerance of 100, 10, 1, …, 1e-10 that gets there; LIBLINEAR with its fastest solver for it.")
    memory.note("novikoff: its own `train_seconds`, of the same processes. Peers: `fit`, warm, on CSR (Snap ML: 32-bit values, 2 threads); "
                "scikit-learn's more than two classes: one against the rest on two threads. "
                f"newton-cholesky only up to {FEW} features.")
    return [text, memory]


def recall(kept, made_by, name, loss, what, make):
    return kept.recall(name, loss, what, made_by=made_by[what], make=make)


class Cell:
    """The times to one target, with what they were reached by; a time that is only a lower bound is `unreached`."""

    def __init__(self):
        self.ours, self.theirs, self.by, self.unreached = {}, {}, {}, {}

    def brief(self):
        return "; ".join(f"{where}: {seconds(self.ours.get(where))}, {self.peer(where)}, {times(self.ratio(where))}" for where in ("end to end", "in memory"))

    def peer(self, where):
        return self.unreached.get(where) or f"{seconds(self.theirs.get(where))}, {self.by.get(where, '–')}"

    def ratio(self, where):
        return ratio(self.theirs.get(where), self.ours.get(where))


class Contest:
    """All that is measured on one data set with one loss."""

    def __init__(self, tools, data, recall, peer, name, loss, tables):
        self.tools, self.peer, self.name, self.loss, self.tables = tools, peer, name, loss, tables
        self.path = data.unit_images("train") if name == "mnist" else data.path(f"{name}.svm")
        self.rows = {"train": self.path, "store": str(data.made / f"{name}.npz")}
        self.model = str(data.made / "fit.model")
        self.reference = recall("least", self.least)
        self.solvers = {"novikoff": {"": self.novikoff}, "LIBLINEAR": {}, "peers": {}}
        for options in LIBLINEAR[loss]:
            self.solvers["LIBLINEAR"][options] = lambda e, limit, options=options: self.liblinear(options, e, limit)
        for known, (learner, options) in PEERS[loss].items():
            if known != "newton-cholesky" or self.reference["features"] <= FEW:
                self.solvers["peers"][known] = lambda e, limit, learner=learner, options=options: self.in_memory(learner, options, e, limit)
        self.ladders = {}
        for group, limit in (("novikoff", LIMIT_TEXT), ("LIBLINEAR", LIMIT_TEXT), ("peers", LIMIT_MEMORY)):
            self.ladders[group] = recall(group, lambda: climb(self.solvers[group], self.reference["objective"], limit))
        self.best = self.lowest()

    def least(self):
        """The minimum: what novikoff comes to with its gap all but closed, and the bound that it proves."""
        for tolerance in (1e-10, 1e-9, 1e-8, 1e-7):
            try:
                answer = self.novikoff(tolerance, LIMIT_LEAST)
            except Skipped:
                continue
            return {key: answer[key] for key in ("objective", "dual", "features", "seconds")}
        raise Skipped(f"novikoff did not minimise the {self.loss} loss of {self.name}")

    def lowest(self):
        """The smallest objective that anybody came to. Nobody can come to less than the bound."""
        known = [rung["objective"] for ladders in self.ladders.values() for rungs in ladders.values() for rung in rungs if "objective" in rung]
        lowest, dual = min([self.reference["objective"], *known]), self.reference["dual"]
        if lowest < dual * (1 - 1e-9):
            self.note(f"WRONG: {self.name}, {self.loss}: a model comes to {lowest:.9g}, less than the bound {dual:.9g}")
        if lowest - dual > 1e-7 * lowest:
            self.note(f"{self.name}, {self.loss}: F* is proven only to {(lowest - dual) / lowest:.0e}")
        return max(lowest, dual)

    def note(self, text):
        for table in self.tables:
            table.note(text)

    def novikoff(self, tolerance, limit):
        result = whole([self.tools.novikoff, "train", self.path, "--learner", LEARNERS[self.loss], "--multiclass", "one-vs-rest", "--cost", "1",
                        "--scale", "none", "--bias", "none", "--tolerance", f"{tolerance:g}", "-o", self.model, "--json"], timeout=limit)
        told = json.loads(result["output"])
        answer = self.judged("novikoff", {"seconds": result["seconds"]})
        claimed = told["objective"] * told["rows"]
        if abs(claimed - answer["objective"]) > 1e-9 * claimed:
            self.note(f"DIFFERENT: {self.name}, {self.loss}: novikoff says {claimed:.12g}, its model comes to {answer['objective']:.12g}")
        answer.update(train_seconds=told["train_seconds"], read_seconds=told["read_seconds"], features=told["features"], dual=told["dual"] * told["rows"])
        if told["stopped"] != "converged":
            answer["limited"] = "iteration limit"
        return answer

    def liblinear(self, options, tolerance, limit):
        result = whole(["liblinear-train", *options.split(), "-c", "1", "-e", f"{tolerance:g}", self.path, self.model], timeout=limit)
        answer = self.judged("LIBLINEAR", {"seconds": result["seconds"]})
        if "reaching max number of iterations" in result["output"]:
            answer["limited"] = "iteration limit"
        return answer

    def judged(self, kind, answer):
        self.peer.timeout = 300
        return {**answer, **self.peer.call("evaluate", **self.rows, kind=kind, model=self.model, loss=self.loss)}

    def in_memory(self, learner, options, tolerance, limit):
        self.peer.timeout = 300
        self.peer.call("ready", **self.rows)
        self.peer.timeout = limit + GRACE
        return self.peer.call("minimise", **self.rows, learner=learner, options=options, tolerance=tolerance, loss=self.loss)

    def measure(self, target, repeat):
        """Everybody's turn at the tolerances chosen."""
        contestants, trained, cell = {}, [], Cell()
        for group, solvers in self.solvers.items():
            for name, tolerance in choices(self.ladders[group], self.best, target):
                contestants[group, name, tolerance] = partial(self.turn, solvers[name], tolerance, target, trained)
        best, skipped = turn_by_turn(contestants, repeat, least=1)
        for (group, name, tolerance), reason in skipped.items():
            self.note(f"skipped: {self.name}, {self.loss}, {target:g}: {group} {name} at {tolerance:g}: {reason}")
        for where, group in (("end to end", "LIBLINEAR"), ("in memory", "peers")):
            self.theirs(cell, where, group, best, target)
        if trained:
            cell.ours = {"end to end": min(result["seconds"] for key, result in best.items() if key[0] == "novikoff"), "in memory": min(trained)}
        return cell

    def theirs(self, cell, where, group, best, target):
        """The fastest peer; who got there when tolerances were chosen but failed now keeps the time it had then."""
        there = {key: result["seconds"] for key, result in best.items() if key[0] == group}
        if there:
            key = min(there, key=there.get)
            cell.theirs[where], cell.by[where] = there[key], f"{key[1]} at {best[key]['at']:g}"
            return
        if earlier := choices(self.ladders[group], self.best, target):
            taken = {choice: next(rung["seconds"] for rung in self.ladders[group][choice[0]] if rung["tolerance"] == choice[1]) for choice in earlier}
            choice = min(taken, key=taken.get)
            cell.theirs[where], cell.by[where] = taken[choice], f"{choice[0]} at {choice[1]:g}, when chosen"
            return
        spent, why = given_up(self.ladders[group])
        how_close = closest(self.ladders[group], self.best)
        if spent is not None:
            cell.theirs[where] = spent
            cell.unreached[where] = f"> {spent:.2f} s ({why}, at {how_close:.0e})"
        else:
            cell.unreached[where] = f"– ({why})"

    def turn(self, solve, tolerance, target, trained):
        """One turn. Not everybody comes to the same weights every time: who misses the target this time goes a rung or two further down.

        How long the rows in memory took goes into `trained`, for it may be another turn's that is the least."""
        first = TOLERANCES.index(tolerance)
        for at in TOLERANCES[first:first + 3]:
            result = solve(at, 2 * LIMIT_TEXT)
            if result["objective"] - self.best <= target * self.best:
                if "train_seconds" in result:
                    trained.append(result["train_seconds"])
                return {**result, "at": at}
        raise Skipped(f"came only to {(result['objective'] - self.best) / self.best:.1e}")


def fill(table, requirements, cells, where, peer, mean, every):
    """A table's rows, and what is required of its ratios."""
    for loss in LEARNERS:
        for target in TARGETS:
            row = [cells[name, loss, target] for name in SETS]
            what = f"{loss}, {target:g}"
            table.add(f"{what}: novikoff", *(seconds(cell.ours.get(where)) for cell in row))
            table.add(f"{what}: {peer}", *(cell.peer(where) for cell in row))
            table.add(f"{what}: {peer} ÷ novikoff", *((">" if where in cell.unreached else "") + times(cell.ratio(where)) for cell in row))
    ratios = {key: cell.ratio(where) for key, cell in cells.items() if cell.ratio(where) is not None}
    reached = {key: value for key, value in ratios.items() if where not in cells[key].unreached}
    missing = [key for key, cell in cells.items() if where not in cell.ours]
    requirements.at_least(f"fit, {where}: geometric mean of {peer} ÷ novikoff, {len(reached)} cells that {peer} reached", geometric(reached), mean)
    requirements.at_least(f"fit, {where}: the same, with {len(ratios) - len(reached)} more where it gave up, as if it got there then", geometric(ratios), mean)
    lowest = min(reached, key=reached.get, default=None)
    of = f" ({lowest[0]}, {lowest[1]}, {lowest[2]:g})" if lowest else ""
    requirements.at_least(f"fit, {where}: least of the cells that {peer} reached{of}", reached.get(lowest), every)
    requirements.at_most(f"fit, {where}: cells that novikoff did not reach", len(missing), 0)
    below = [f"{name}, {loss}, {target:g}: {value:.2f}" for (name, loss, target), value in reached.items() if value < every]
    table.note(f"Cells below {every}: {'; '.join(below)}." if below else f"No cell is below {every}.")


def geometric(ratios):
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios)) if ratios else None
