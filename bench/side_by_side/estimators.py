"""The package for Python: `fit` to the same distance from the minimum as scikit-learn, Snap ML, skglm and celer; one row at a time."""

import json
import os
import subprocess
from math import exp, log
from pathlib import Path

from .clock import Skipped, run
from .table import Table, ratio, seconds, times

LIMIT = 1500  # seconds for all that is measured on one data set
SETS = ["a9a", "census.train", "covtype.binary", "news20b.train", "mnist", "adult.train", "bank-full", "california_housing", "diamonds"]


def section(tools, data, requirements, repeat):
    python = install(tools)
    fits = Table("Python: fit, to 1e-3 of the minimum", ["", "novikoff", "best peer", "by", "ratio"])
    ratios = []
    for name in SETS:
        answers = asked(python, "fit", location(data, name), str(repeat))
        for answer in answers:
            what = f"{name}, {answer['problem']}"
            value = ratio(answer["peer"], answer["novikoff"])
            fits.add(what, seconds(answer["novikoff"]), seconds(answer["peer"]), answer["by"], times(value))
            print(f"  {what}: {seconds(answer['novikoff'])}, {seconds(answer['peer'])} ({answer['by']}), {times(value)}", flush=True)
            ratios += [value] if value else []
    if ratios:
        requirements.at_least("fit / best peer, geometric mean", exp(sum(map(log, ratios)) / len(ratios)), 3)
        requirements.at_least("fit / best peer, least", min(ratios), 1)
    fits.note("`fit` on arrays in memory, warm, all cores; everybody at the loosest tolerance of 1, 0.1, … that comes to within 1e-3 of the "
              "minimum, which novikoff's own bound shows. Intercepts: free where the peer's is; none for support vector machines.")
    rows = Table("Python: rows one by one, and many", ["", "novikoff", "peer", "ratio"])
    for answer in asked(python, "rows", location(data, "census.train"), str(repeat)):
        value = ratio(answer["peer"], answer["novikoff"])
        rows.add(answer["what"], seconds(answer["novikoff"]), seconds(answer["peer"]), times(value))
        if answer.get("target"):
            requirements.at_least(answer["what"], value, answer["target"])
        if answer.get("most"):
            requirements.at_most(f"{answer['what']}, µs", 1e6 * answer["novikoff"], answer["most"])
    return [fits, rows]


def location(data, name):
    if name == "mnist":
        return data.unit_images("train")
    for ending in (".svm", ".csv"):
        if Path(data.path(name + ending)).exists():
            return data.path(name + ending)
    raise Skipped(f"there is no {name}")


def install(tools):
    """The peers' Python with the package in it, built for release."""
    if tools.python is None:
        raise Skipped("there is no Python with the peers")
    project = Path(__file__).resolve().parents[2]
    run([tools.python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", str(project)], timeout=1800)
    return tools.python


def asked(python, *arguments):
    """What the worker measured: a JSON object a line."""
    worker = Path(__file__).with_name("estimators_worker.py")
    done = subprocess.run([python, "-W", "ignore", str(worker), *arguments], stdout=subprocess.PIPE, text=True, timeout=LIMIT, env={**os.environ})
    if done.returncode:
        raise Skipped(f"the worker ended with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]
