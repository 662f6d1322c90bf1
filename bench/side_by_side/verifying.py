"""Verifying the certificate of a default fit, with its model: quickly, against reading the rows, and in exact arithmetic."""

from .clock import run, turn_by_turn, whole
from .table import Table, ratio, seconds, times

FILES = ["a9a.svm", "mushrooms.svm", "rcv1_small_cocoa.train.svm", "census.train.svm", "covtype.binary.svm", "news20b.train.svm"]
#: What is reported of losses that are computed in enclosures is slower to prove than what is exact.
LOSSES = ["hinge", "logistic"]
TURNS = 20
#: Verification takes no longer than reading the rows twice.
MOST = 2
#: Seconds of exact arithmetic, where there is a promise.
MOST_EXACT = {"a9a.svm": 10, "mushrooms.svm": 10, "rcv1_small_cocoa.train.svm": 10, "census.train.svm": 120}


def section(tools, data, requirements, repeat):
    quick = Table("Verifying", ["", "reading", "verifying", "÷ reading", "with the model", "÷ reading"])
    exact = Table("Verifying in exact arithmetic", ["", *LOSSES])
    for file in FILES:
        path = data.path(file)
        model, proof = data.made / f"{file}.model", data.made / f"{file}.proof"
        run([tools.novikoff, "train", path, "-o", model, "--certificate", proof])
        quick.add(file, *quickly(tools, file, path, proof, model, requirements))
        exact.add(file, *(exactly(tools, file, path, loss, proof, model, requirements) for loss in LOSSES))
    quick.note("`train FILE`, and nothing else asked for; whole processes, 2 threads, the least of 20 turns; without the model's file, whether the weights are its own is not seen.")
    exact.note("`train FILE --loss LOSS`, `novikoff-check PROOF FILE MODEL`; whole processes, 1 thread, once.")
    return [quick, exact]


def quickly(tools, file, path, proof, model, requirements):
    contestants = {"reading": lambda: whole([tools.library, "only-read", path, "2"]),
                   "alone": lambda: whole([tools.novikoff, "verify", proof, path]),
                   "with the model": lambda: whole([tools.novikoff, "verify", proof, path, model])}
    best, _ = turn_by_turn(contestants, TURNS)
    reading = best["reading"]["seconds"]
    row = [seconds(reading)]
    for key in ("alone", "with the model"):
        apart = ratio(best[key]["seconds"], reading)
        row += [seconds(best[key]["seconds"]), times(apart)]
        requirements.at_most(f"verifying {file}, {key}, ÷ reading", apart, MOST)
    return row


def exactly(tools, file, path, loss, proof, model, requirements):
    run([tools.novikoff, "train", path, "--loss", loss, "-o", model, "--certificate", proof])
    taken = whole([tools.checker, proof, path, model])["seconds"]
    if file in MOST_EXACT:
        requirements.at_most(f"verifying {file} in exact arithmetic, {loss}, seconds", taken, MOST_EXACT[file])
    return seconds(taken)
