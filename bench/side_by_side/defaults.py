"""Test errors with no option given, against the pipeline that people build by hand: impute, one-hot, standardise, logistic regression."""

import json
import random
from pathlib import Path

from .clock import Skipped, run
from .table import Table, percent

#: Tables: the options that say where the label is. Without a header the label's column is the last one.
TABLES = {"adult.train.csv": ["--no-header", "--label", "15"], "bank-full.csv": ["--label", "y"], "titanic.csv": ["--label", "survived", "--categories", "ticket"],
          "online_shoppers.csv": ["--label", "Revenue"], "winequality-white.csv": ["--no-header", "--label", "12"],
          "haberman.csv": ["--no-header", "--label", "4"]}
#: svmlight: columns of numbers, indicators, pixels.
ROWS = ["spambase.svm", "breast_cancer.svm", "iris.svm", "wine.svm", "heart_scale.svm", "sonar.svm", "digits.svm", "letter.scale.tr.svm", "usps.svm",
        "covtype.binary.svm", "a9a.svm", "mushrooms.svm", "census.train.svm"]
FILES = [*TABLES, *ROWS]
#: A quarter of the rows is for testing, by seeded choices; of large files so many rows are taken in all.
SPLITS = range(5)
MOST = 20_000
#: How many points more than the pipeline's the mean error may be.
ALLOWED = 0.5
LIMIT = 600


def section(tools, data, requirements, repeat):
    del repeat  # nobody here learns differently the second time
    table = Table("Defaults: mean error on test rows of five splits", ["", "novikoff", "max-abs", "raw", "scikit-learn", "novikoff − scikit-learn, points"])
    for name in FILES:
        try:
            ours, largest, raw, theirs = measure(tools, data, name)
        except Skipped as reason:
            table.note(f"skipped: {name}: {reason}")
            continue
        table.add(name, percent(ours), percent(largest), percent(raw), percent(theirs), f"{100 * (ours - theirs):+.2f}")
        requirements.at_most(f"{name}: novikoff − scikit-learn, points", 100 * (ours - theirs), ALLOWED)
    table.note("novikoff: `train FILE` with no option but those that name the label, `--missing mean`, and for titanic `--categories ticket`; max-abs and raw: the same with `--scale max-abs` and `--scale none`. "
               "scikit-learn: numbers imputed by their mean and standardised, words imputed and one-hot, `LogisticRegression(max_iter=10000)`; of more than 500 columns "
               "`StandardScaler(with_mean=False)`.")
    table.note(f"A quarter of the rows is for testing; files of more than {MOST:,} rows are sampled.")
    return [table]


def measure(tools, data, name):
    """The mean errors of novikoff with its default, with `max-abs` and without a scale, and of the pipeline."""
    options = [*TABLES.get(name, []), *(["--missing", "mean"] if name in TABLES else [])]
    errors = []
    with tools.peer(timeout=LIMIT) as peer:
        for seed in SPLITS:
            train, test = split(data, name, seed)
            of = lambda *more: json.loads(run([tools.novikoff, "train", train, "--test", test, "--json", *options, *more], timeout=LIMIT))["test_error"]
            theirs = peer.call("pipeline_error", train=train, test=test, label=label(name), header="--no-header" not in options)["error"]
            errors.append((of(), of("--scale", "max-abs"), of("--scale", "none"), theirs))
    return [sum(each) / len(errors) for each in zip(*errors)]


def label(name):
    """The label's column of a table: its name, or the last one."""
    options = TABLES.get(name)
    if options is None:
        return None
    return -1 if "--no-header" in options else options[options.index("--label") + 1]


def split(data, name, seed):
    """Files of the rows to learn from and to test on."""
    def write(out, part):
        lines = [f"{line}\n" for line in Path(data.path(name)).read_text().splitlines()]
        head = [lines.pop(0)] if name in TABLES and "--no-header" not in TABLES[name] else []
        lines = [line for line in lines if line.strip()]
        random.Random(seed).shuffle(lines)
        lines = lines[:MOST]
        held_out = len(lines) // 4
        out.writelines(head + (lines[:held_out] if part == "test" else lines[held_out:]))
    stem, kind = name.rsplit(".", 1)
    return [data.once(f"{stem}.{seed}.{part}.{kind}", lambda out, part=part: write(out, part)) for part in ("train", "test")]
