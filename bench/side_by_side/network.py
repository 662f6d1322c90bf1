"""A hidden layer on mnist, to the same error: novikoff's network and scikit-learn's MLPClassifier, each with the fewest epochs that get there."""

import json

from .clock import run, turn_by_turn, whole
from .table import Table, percent, ratio, seconds, times

#: The error on the test rows that is asked for.
ERROR = 0.025
#: Hidden units: scikit-learn's default, and novikoff's.
HIDDEN = [100, 128]
MOST_EPOCHS = 40
LIMIT = 600


def section(tools, data, requirements, repeat):
    train, test = data.images("train"), data.images("t10k")
    table = Table(f"A network on mnist, to a test error below {percent(ERROR)}: seconds on rows in memory",
                  ["hidden units", "novikoff", "epochs", "error", "the whole process", "scikit-learn", "epochs", "error", "scikit-learn ÷ novikoff"])
    for hidden in HIDDEN:
        with tools.peer(timeout=LIMIT) as peer:
            mine = fewest(tools, data, train, test, hidden)
            theirs = peer.call("mlp_epochs", train=train, test=test, hidden=hidden, error=ERROR, most=MOST_EPOCHS)["epochs"]
            contestants = {"novikoff": lambda: ours(tools, data, train, test, hidden, mine),
                           "scikit-learn": lambda: peer.call("mlp", train=train, test=test, hidden=hidden, epochs=theirs)}
            best, skipped = turn_by_turn(contestants, repeat)
        for key, reason in skipped.items():
            table.note(f"skipped: {key}, {hidden} hidden units: {reason}")
        us, them = (best.get(key, {}) for key in contestants)
        apart = ratio(them.get("seconds"), us.get("seconds"))
        table.add(str(hidden), seconds(us.get("seconds")), str(mine), percent(us.get("error")), seconds(us.get("whole")),
                  seconds(them.get("seconds")), str(theirs), percent(them.get("error")), times(apart))
        requirements.at_most(f"{hidden} hidden units: test error in percent", 100 * us["error"], 100 * ERROR)
        requirements.at_least(f"{hidden} hidden units: scikit-learn ÷ novikoff", apart, 1)
    table.note("novikoff: `train IMAGES --learner network --hidden N --epochs E`, its training time, with the error on training rows; and the whole process, reading and writing included. "
               "scikit-learn: `MLPClassifier(N, max_iter=E, random_state=0).fit`, Adam, batches of 200, on pixels/255 in single precision, in a warm Python. Seed 0; E is the fewest that "
               f"get below {percent(ERROR)} on the test rows.")
    return [table]


def fewest(tools, data, train, test, hidden):
    """The first epoch below the error: fewer epochs are the first ones of more."""
    command = [tools.novikoff, "train", train, "--learner", "network", "--hidden", str(hidden), "--epochs", "15", "--validation", test, "--patience", "15", "--json"]
    errors = json.loads(run(command, timeout=LIMIT))["validation_errors"]
    return next((epoch for epoch, error in enumerate(errors, 1) if error < ERROR), len(errors))


def ours(tools, data, train, test, hidden, epochs):
    model = str(data.made / "network.model")
    took = whole([tools.novikoff, "train", train, "--learner", "network", "--hidden", str(hidden), "--epochs", str(epochs), "-o", model, "--json"], timeout=LIMIT)
    told = json.loads(run([tools.novikoff, "evaluate", model, test, "--json"]))
    return {"seconds": json.loads(took["output"])["train_seconds"], "whole": took["seconds"], "error": told["error"]}
