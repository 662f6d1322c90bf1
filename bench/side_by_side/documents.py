"""Text to model, with no option but the file: against scikit-learn's tf-idf with a linear SVM, and against fastText."""

import json
import os
import random
from pathlib import Path

from .clock import Skipped, run, turn_by_turn, whole
from .table import Table, percent, ratio, seconds, times

SETS = ["sms", "r8", "20news"]
#: The accuracy that is promised.
PROMISED = {"sms": 0.985, "r8": 0.970, "20news": 0.82}
#: Where the speed is promised.
TIMED = "20news"
#: What fastText is tried with, for its least error within ten epochs.
EPOCHS = [5, 10]
RATES = ["0.1", "0.5", "1.0"]
NGRAMS = [1, 2]
LIMIT = 300


def section(tools, data, requirements, repeat):
    table = Table("Documents: text to model", ["", "novikoff", "scikit-learn", "fastText", "scikit-learn ÷ novikoff", "fastText ÷ novikoff"])
    errors = Table("Documents: errors on test rows", ["", "novikoff", "scikit-learn", "fastText", "fastText's settings"])
    for name in SETS:
        train, test = files(data, name)
        model = str(data.made / f"{name}.model")
        chosen = settings(tools, data, train, test, table)
        with tools.peer(timeout=LIMIT) as peer:
            contestants = {"novikoff": lambda: ours(tools, train, test, model), "scikit-learn": lambda: peer.call("tfidf_svc", train=train, test=test)}
            if chosen:
                contestants["fastText"] = lambda: fasttext(tools, data, train, test, chosen)
            best, skipped = turn_by_turn(contestants, repeat)
        for key, reason in skipped.items():
            table.note(f"skipped: {key}, {name}: {reason}")
        keys = ("novikoff", "scikit-learn", "fastText")
        took = [best.get(key, {}).get("seconds") for key in keys]
        wrong = [best.get(key, {}).get("error") for key in keys]
        apart = [ratio(theirs, took[0]) for theirs in took[1:]]
        table.add(name, *map(seconds, took), *map(times, apart))
        errors.add(name, *map(percent, wrong), "–" if chosen is None else " ".join(chosen))
        requirements.at_least(f"{name}: accuracy", 1 - wrong[0], PROMISED[name])
        if name == TIMED:
            requirements.at_least(f"{name}: scikit-learn ÷ novikoff", apart[0], 10)
            requirements.at_least(f"{name}: fastText ÷ novikoff", apart[1], 2)
            for key, theirs in zip(keys[1:], wrong[1:]):
                requirements.at_most(f"{name}: errors more than {key}'s, points", None if theirs is None else 100 * (wrong[0] - theirs), 0)
    table.note("novikoff: `train FILE -o MODEL`, the whole process. scikit-learn: `TfidfVectorizer(sublinear_tf=True)` and `LinearSVC()`, from the file, in a warm Python. "
               "fastText: `supervised`, the whole process, 2 threads.")
    errors.note("sms: a fifth of the rows, by a seeded choice, is for testing. fastText: the settings of its least test error among "
                f"epochs {EPOCHS}, rates {', '.join(RATES)} and word n-grams up to {NGRAMS[-1]}.")
    return [table, errors]


def files(data, name):
    if name != "sms":
        return data.path(f"{name}.train.tsv"), data.path(f"{name}.test.tsv")
    lines = Path(data.path("sms.tsv")).read_text().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    fifth = len(lines) // 5
    parts = {"train": lines[fifth:], "test": lines[:fifth]}
    return [data.once(f"sms.{part}.tsv", lambda out, part=part: out.writelines(parts[part])) for part in ("train", "test")]


def ours(tools, train, test, model):
    took = whole([tools.novikoff, "train", train, "-o", model])["seconds"]
    told = json.loads(run([tools.novikoff, "evaluate", model, test, "--json"]))
    return {"seconds": took, "error": told["error"]}


def settings(tools, data, train, test, table):
    """The settings of fastText's least error."""
    if tools.fasttext is None:
        table.note(f"skipped: fastText: {tools.reasons.get('fastText')}")
        return None
    tried = {}
    for epochs in EPOCHS:
        for rate in RATES:
            for ngrams in NGRAMS:
                options = ("-epoch", str(epochs), "-lr", rate, "-wordNgrams", str(ngrams))
                try:
                    tried[options] = fasttext(tools, data, train, test, options)["error"]
                except Skipped as reason:
                    table.note(f"skipped: fastText {' '.join(options)}: {reason}")
    return min(tried, key=tried.get, default=None)


def fasttext(tools, data, train, test, options):
    rows, unseen = data.fasttext(train), data.fasttext(test)
    model = str(data.made / "fasttext")
    took = whole([tools.fasttext, "supervised", "-input", rows, "-output", model, "-thread", "2", "-verbose", "0", *options], timeout=LIMIT)["seconds"]
    told = run([tools.fasttext, "test", f"{model}.bin", unseen])
    precision = next(float(line.split()[1]) for line in told.splitlines() if line.startswith("P@1"))
    os.remove(f"{model}.bin")
    return {"seconds": took, "error": 1 - precision}
