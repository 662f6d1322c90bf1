"""The same objective, whoever minimises it: LIBLINEAR, scikit-learn and novikoff, all judged by NumPy from their weights.

And the same posteriors, whoever counts: `bayes.py`."""

import json
from dataclasses import dataclass, field

from . import bayes
from .clock import Failed, Skipped, run
from .table import Table

SETS = {"heart_scale": "two", "a9a": "two", "breast_cancer": "two", "rcv1_small_cocoa.train": "two", "iris": "several", "digits": "several",
        "diabetes_regression": "numbers"}
WITHIN = 1e-6
LIMIT = 60  # seconds for one run
NOT_OFFERED = ("invalid value", "unexpected argument", "no solver here")  # how the program says so

CLASSES, NUMBERS = ("two", "several"), ("numbers",)


@dataclass
class Case:
    """Σ loss + (l2/2)‖w‖² + l1·‖w‖₁, by a peer and by novikoff; what depends on the number of rows n is a function of it."""

    peer: str
    options: object
    ours: object
    loss: str
    kinds: tuple
    bias: str = "none"
    terms: object = field(default=lambda n: {"l2": 1.0})


def liblinear():
    """Its solvers, with C = 1, without a bias and with one that is penalised as all weights are."""
    apart = ["--multiclass", "one-vs-rest"]
    l1 = lambda n: {"l2": 0.0, "l1": 1.0}
    by_cost = lambda learner, *more: lambda n: ["--learner", learner, "--cost", "1", *more]
    by_l1 = lambda learner: lambda n: ["--learner", learner, "--penalty", "l1", "--l1", repr(1 / n), *apart]
    logistic, squared_hinge = ("logistic", by_cost("logistic", *apart)), ("squared hinge", by_cost("squared-svm", *apart))
    solvers = {0: logistic, 1: squared_hinge, 2: squared_hinge, 3: ("hinge", by_cost("svm", *apart)), 5: ("squared hinge", by_l1("squared-svm")),
               6: ("logistic", by_l1("logistic")), 7: logistic, 11: ("squared", by_cost("least-squares"))}
    for bias, option in (("none", "-1"), ("penalised", "1")):
        for solver, (loss, ours) in solvers.items():
            options = ["-s", str(solver), "-B", option, "-c", "1", "-e", "1e-9", "-p", "0"]
            case = Case("LIBLINEAR", options, ours, loss, NUMBERS if solver == 11 else CLASSES, bias)
            if solver in (5, 6):
                case.terms = l1
            yield f"LIBLINEAR -s {solver}{', -B 1' if bias == 'penalised' else ''}", case


def sklearn():
    exact = {"tol": 1e-10, "max_iter": 100_000}
    logistic = lambda n: ["--learner", "logistic", "--cost", "1"]
    joint = lambda n: [*logistic(n), "--multiclass", "joint"]
    learner = "LogisticRegression"
    yield "scikit-learn LogisticRegression lbfgs", Case("scikit-learn", (learner, exact), logistic, "logistic", ("two",), "free")
    yield "scikit-learn LogisticRegression liblinear", Case(
        "scikit-learn", (learner, {**exact, "solver": "liblinear"}), logistic, "logistic", ("two",), "penalised")
    yield "scikit-learn LogisticRegression lbfgs, multinomial", Case("scikit-learn", (learner, exact), joint, "multinomial", ("several",), "free")
    yield "scikit-learn Ridge, alpha 1", Case(
        "scikit-learn", ("Ridge", {**exact, "alpha": 1.0}), lambda n: ["--learner", "least-squares", "--lambda", repr(2 / n)], "squared", NUMBERS, "free",
        lambda n: {"l2": 2.0})
    alpha, share = 0.01, 0.5
    yield f"scikit-learn ElasticNet, alpha {alpha}", Case(
        "scikit-learn", ("ElasticNet", {**exact, "alpha": alpha, "l1_ratio": share}),
        lambda n: ["--learner", "least-squares", "--lambda", repr(2 * alpha * (1 - share)), "--l1", repr(2 * alpha * share)], "squared", NUMBERS, "free",
        lambda n: {"l2": 2 * n * alpha * (1 - share), "l1": 2 * n * alpha * share})


def section(tools, data, requirements, repeat):
    del repeat  # what is timed here is timed by the way
    table = Table("Agree: how far the peer's objective is above novikoff's", ["", *SETS])
    cases = {**dict(liblinear()), **dict(sklearn())}
    verdicts = {name: {} for name in SETS}
    for name, kind in SETS.items():
        with tools.peer(timeout=LIMIT) as peer:
            judge = Judge(tools, data, peer, name, table)
            for title, case in cases.items():
                if kind in case.kinds:
                    verdicts[name][title] = judge.verdict(title, case)
    for title in cases:
        table.add(title, *(verdicts[name].get(title, "") for name in SETS))
    told = [verdict for each in verdicts.values() for verdict in each.values()]
    wrong = sum(verdict.startswith("NO") for verdict in told)
    requirements.at_most(f"agree: of {len(told)} objectives, those that differ by more than {WITHIN:g}", wrong, 0)
    requirements.at_most("agree: those that novikoff does not offer", sum(verdict == "not offered" for verdict in told), 0)
    table.note(f"Relative difference of objectives, each computed by NumPy from the weights. `=`: within {WITHIN:g}. `proven`: the peer stopped above "
               f"the minimum; novikoff is below, and within {WITHIN:g} of its own lower bound. Peers at their tightest: LIBLINEAR -e 1e-9, scikit-learn tol=1e-10.")
    return [table, *bayes.compare(tools, data, requirements)]


class Judge:
    """One data set."""

    def __init__(self, tools, data, peer, name, table):
        self.tools, self.peer, self.name, self.table = tools, peer, name, table
        self.path = data.path(f"{name}.svm")
        self.rows = {"train": self.path, "store": str(data.made / f"{name}.npz")}
        self.model = str(data.made / "agree.model")
        self.known = {}
        self.count = peer.call("ready", **self.rows)["rows"]

    def verdict(self, title, case):
        terms = {"loss": case.loss, "penalised": case.bias == "penalised", **case.terms(self.count)}
        try:
            ours, bound = self.novikoff([*case.ours(self.count), "--bias", case.bias], terms)
        except Failed as failure:
            if any(words in failure.told for words in NOT_OFFERED):
                return "not offered"
            self.table.note(f"{self.name}, {title}: {failure}")
            return "NO: failed"
        try:
            theirs = self.liblinear(case.options, terms) if case.peer == "LIBLINEAR" else self.sklearn(case.options, terms)
        except Skipped as reason:
            self.table.note(f"skipped: {self.name}, {title}: {reason}")
            return "skipped"
        above = (theirs - ours) / ours
        if abs(above) <= WITHIN:
            return f"= {above:.0e}"
        if above < 0:
            return f"NO: {above:.0e}"
        proven = bound is not None and ours - bound <= WITHIN * ours
        return f"{above:.0e}, proven" if proven else f"NO: {above:.0e}, not proven"

    def novikoff(self, options, terms):
        key = tuple(options)
        if key not in self.known:
            output = run([self.tools.novikoff, "train", self.path, *options, "--scale", "none", "--tolerance", "1e-9", "-o", self.model, "--json"], timeout=LIMIT)
            told = json.loads(output)
            bound = None if told["dual"] is None else told["dual"] * told["rows"]
            self.known[key] = self.judged("novikoff", terms), bound
        return self.known[key]

    def liblinear(self, options, terms):
        run(["liblinear-train", "-q", *options, self.path, self.model], timeout=LIMIT)
        return self.judged("LIBLINEAR", terms)

    def sklearn(self, options, terms):
        learner, settings = options
        return self.peer.call("sklearn_fit", **self.rows, learner=learner, options=settings, **terms)["objective"]

    def judged(self, kind, terms):
        return self.peer.call("evaluate", **self.rows, kind=kind, model=self.model, **terms)["objective"]
