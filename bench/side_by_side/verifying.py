"""Verifying the certificate of a default fit, with its model, against reading the rows."""

from .clock import run, turn_by_turn, whole
from .table import Table, ratio, seconds, times

FILES = ["a9a.svm", "census.train.svm", "covtype.binary.svm", "news20b.train.svm"]
TURNS = 20
#: Verification takes no longer than reading the rows twice.
MOST = 2


def section(tools, data, requirements, repeat):
    table = Table("Verifying", ["", "reading", "verifying", "÷ reading", "with the model", "÷ reading"])
    for file in FILES:
        path = data.path(file)
        model, proof = data.made / f"{file}.model", data.made / f"{file}.proof"
        run([tools.novikoff, "train", path, "-o", model, "--certificate", proof])
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
        table.add(file, *row)
    table.note("`train FILE`, and nothing else asked for; whole processes, 2 threads, the least of 20 turns; without the model's file, whether the weights are its own is not seen.")
    return [table]
