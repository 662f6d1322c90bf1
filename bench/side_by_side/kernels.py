"""Kernels on mnist: one epoch of the averaged perceptron against LIBSVM on the same rows and kernel, and against the machine's peak."""

import json

from .clock import run, turn_by_turn, whole
from .table import Table, percent, ratio, seconds, times

DEGREES = [2, 3, 4, 5]
#: One epoch; the one with an error within half a point of LIBSVM's may take more.
EPOCHS = [1, 3]
LIMIT = 1800


def section(tools, data, requirements, repeat):
    train, test = data.images("train"), data.images("t10k")
    table = Table("Kernels on mnist, 60,000 rows, ten classes: seconds of training", ["kernel", "epochs", "novikoff", "error", "million kernels a second", "of the peak", "LIBSVM", "error", "LIBSVM ÷ novikoff"])
    with tools.peer(timeout=LIMIT) as peer:
        peak = peer.call("dot_products", features=784)["rate"]
        for degree in DEGREES:
            slow, skipped = turn_by_turn({"LIBSVM": lambda: peer.call("libsvm", train=train, test=test, degree=degree)}, 1, least=1)
            for key, reason in skipped.items():
                table.note(f"skipped: {key}, degree {degree}: {reason}")
            theirs = slow.get("LIBSVM", {})
            near = []
            for epochs in EPOCHS:
                best, _ = turn_by_turn({"novikoff": lambda: ours(tools, data, train, test, degree, epochs)}, repeat)
                mine = best["novikoff"]
                apart = ratio(theirs.get("seconds"), mine["seconds"])
                table.add(f"poly:{degree}", str(epochs), seconds(mine["seconds"]), percent(mine["error"]), f"{mine['rate'] / 1e6:.0f}", percent(mine["rate"] / peak),
                          seconds(theirs.get("seconds")), percent(theirs.get("error")), times(apart))
                if theirs and mine["error"] <= theirs["error"] + 0.005:
                    near.append(apart)
            requirements.at_least(f"poly:{degree}: LIBSVM ÷ novikoff, within half a point of its error", max(near, default=0) if theirs else None, 10)
    table.note("novikoff: `train IMAGES --learner averaged --kernel poly:D --epochs E --multiclass one-vs-rest`, its training time, all cores. LIBSVM: `svm_train` of libsvm-official, `-t 1 -d D -g 1/65536 -r 1/65536 -m 2000`, "
               "the same kernel times a constant, C = 1, rows in CSR, in a warm Python, one core, once. "
               f"The peak is that of dense single-precision products of matrices by numpy's BLAS on all cores, {peak / 1e6:.0f} million dot products of 784 features a second; "
               "more than all of it can be had because white pixels are left out.")
    return [table]


def ours(tools, data, train, test, degree, epochs):
    model = str(data.made / "kernel.model")
    command = [tools.novikoff, "train", train, "--learner", "averaged", "--kernel", f"poly:{degree}", "--epochs", str(epochs), "--multiclass", "one-vs-rest", "-o", model, "--json"]
    told = json.loads(whole(command, timeout=LIMIT)["output"])
    error = json.loads(run([tools.novikoff, "evaluate", model, test, "--json"]))["error"]
    return {"seconds": told["train_seconds"], "rate": told["kernels"] / told["train_seconds"], "error": error}
