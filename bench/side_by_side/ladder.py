"""The loosest tolerance that is tight enough.

What a solver calls its tolerance says little about how far from the minimum it stops. So each takes a ladder of tolerances, from loose
to tight, until it has reached all that is asked for; what came of each rung is remembered in a file, and later runs only time the right one."""

import json
from pathlib import Path

from .clock import Skipped, TooSlow

TOLERANCES = [10.0 ** -exponent for exponent in range(-2, 11)]
TARGETS = (1e-2, 1e-3, 1e-6)  # (F(w) − F*)/F*
WORSE = 2.0  # so many times the best time known, and SLACK: who takes more, and is not there yet, need not go on; who takes less is timed too
SLACK = 0.2  # seconds


class Memory:
    """A JSON file; parts of it hold for as long as what they were made by is the same."""

    def __init__(self, path):
        self.path = Path(path)
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def recall(self, *names, made_by, make):
        key = " | ".join(names)
        if self.known.get(key, {}).get("made_by") != made_by:
            self.known[key] = {"made_by": made_by, "value": make()}
            self.save()
        return self.known[key]["value"]

    def save(self):
        unfinished = self.path.with_name(self.path.name + ".part")
        unfinished.write_text(json.dumps(self.known, indent=1))
        unfinished.rename(self.path)


def climb(solvers, least, limit):
    """What each solver reached on its rungs, by name.

    A solver is a function of a tolerance and a time limit that answers with `seconds` and `objective`, and, if it says so itself,
    `limited`: that it stopped for the number of its steps. `least` is the smallest objective there is."""
    best, ladders = {}, {}
    for name, solve in solvers.items():
        ladders[name] = rungs = []
        for tolerance in TOLERANCES:
            open_targets = [target for target in TARGETS if not any(reaches(rung, least, target) for rung in rungs)]
            allowed = min(limit, max(hopeless(best.get(target, limit)) for target in open_targets))
            try:
                rungs.append({"tolerance": tolerance, **solve(tolerance, allowed)})
            except TooSlow:
                rungs.append({"tolerance": tolerance, "seconds": allowed, "limited": "time limit"})
                break
            except Skipped as reason:
                rungs.append({"tolerance": tolerance, "failed": str(reason)})
                break
            took = rungs[-1]["seconds"]
            for target in open_targets:
                if reaches(rungs[-1], least, target):
                    best[target] = min(took, best.get(target, took))
            still_open = [target for target in open_targets if not reaches(rungs[-1], least, target)]
            if rungs[-1].get("limited") or all(took > hopeless(best.get(target, limit)) for target in still_open):
                break
    return ladders


def hopeless(best):
    return WORSE * best + SLACK


def reaches(rung, least, target):
    return "objective" in rung and rung["objective"] - least <= target * least


def choices(ladders, least, target):
    """The loosest rung of each solver that is fast enough to be the fastest, as (name, tolerance)."""
    loosest = {}
    for name, rungs in ladders.items():
        there = next((rung for rung in rungs if reaches(rung, least, target)), None)
        if there:
            loosest[name] = there
    bound = hopeless(min((rung["seconds"] for rung in loosest.values()), default=0.0))
    return [(name, rung["tolerance"]) for name, rung in loosest.items() if rung["seconds"] <= bound]


def given_up(ladders):
    """Where nobody got there: the least time that a solver had spent when it gave up, and why that one did."""
    ends = []
    for rungs in ladders.values():
        run = [rung for rung in rungs if "seconds" in rung]
        if run:
            ends.append((max(rung["seconds"] for rung in run), run[-1].get("limited", "no tolerance was tight enough")))
    return min(ends, default=(None, "nobody could be run"))


def closest(ladders, least):
    """How close anybody came."""
    return min(((rung["objective"] - least) / least for rungs in ladders.values() for rung in rungs if "objective" in rung), default=None)
