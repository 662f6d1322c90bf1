"""Reading a file into memory: novikoff, scikit-learn's loader, LIBLINEAR's, and the least that anybody can do."""

import os

from .clock import Skipped, answer, turn_by_turn, whole
from .table import Table, rate, ratio, times

FILES = ["census.train.svm", "covtype.binary.svm", "news20b.train.svm"]
WC_TURNS = 20

NAMES = {
    "1": "novikoff, 1 thread",
    "2": "novikoff, 2 threads",
    "process": "novikoff, 2 threads, whole process",
    "sklearn": "scikit-learn load_svmlight_file",
    "liblinear": "LIBLINEAR train, its reading",
    "wc": "wc -l, whole process",
    "bytes": "only the system's reads, whole process",
}


def section(tools, data, requirements, repeat):
    speed = Table("Reading: MB/s (a MB is a million bytes)", ["", *FILES])
    ratios = Table("Reading: novikoff on 2 threads against …", ["", *FILES])
    memory = Table("Reading: memory, 2 threads", ["", *FILES])
    results = [measure(tools, data.path(name), repeat, speed) for name in FILES]
    sizes = [os.path.getsize(data.path(name)) / 1e6 for name in FILES]
    speeds = [{key: size / result[key]["seconds"] for key in result} for result, size in zip(results, sizes)]
    for key, name in NAMES.items():
        speed.add(name, *(rate(each.get(key)) for each in speeds))
    compare(ratios, requirements, speeds)
    weigh(memory, requirements, results)
    speed.note("Page cache warm; the least time of all turns. LIBLINEAR's reading ends where train would begin.")
    return [speed, ratios, memory]


def measure(tools, path, repeat, table):
    """Fastest answers by key; all must have read the same rows."""
    def read(threads):
        return answer([tools.library, "read", path, threads, "1"])

    def liblinear():
        if tools.read_problem is None:
            raise Skipped(tools.reasons["LIBLINEAR's reading"])
        return answer(["liblinear-train", path, os.devnull], {**os.environ, "LD_PRELOAD": tools.read_problem})

    with tools.peer() as peer:
        slow = {
            "1": lambda: read("1"),
            "2": lambda: read("2"),
            "sklearn": lambda: peer.call("load_svmlight", path=path),
            "liblinear": liblinear,
        }
        best, skipped = turn_by_turn(slow, repeat)
        fast = {
            "wc": lambda: whole(["wc", "-l", path]),
            "bytes": lambda: whole([tools.library, "bytes", path]),
            "process": lambda: whole([tools.library, "only-read", path, "2"]),
        }
        fastest, more_skipped = turn_by_turn(fast, WC_TURNS)
    best.update(fastest)
    for key, reason in {**skipped, **more_skipped}.items():
        table.note(f"skipped: {NAMES[key]}: {reason}")
    check(best, path, table)
    return best


def check(best, path, table):
    for key in ("rows", "nonzeros"):
        told = {NAMES[name]: result[key] for name, result in best.items() if key in result}
        if len(set(told.values())) > 1:
            table.note(f"DIFFERENT {key} of {os.path.basename(path)}: {told}")


def compare(table, requirements, speeds):
    wanted = [("scikit-learn", "2", "sklearn", 25), ("LIBLINEAR", "2", "liblinear", 4), ("wc -l, both whole processes", "process", "wc", 0.25),
              ("wc -l, novikoff's start not counted", "2", "wc", None), ("novikoff on 1 thread", "2", "1", None)]
    for name, ours, theirs, target in wanted:
        values = [ratio(each.get(ours), each.get(theirs)) for each in speeds]
        table.add(name, *map(times, values))
        if target is not None:
            for file, value in zip(FILES, values):
                requirements.at_least(f"reading {file} ÷ {name}", value, target)


def weigh(table, requirements, results):
    read = [result["2"] for result in results]
    megabytes = lambda key: [f"{each[key] / 1e6:,.1f} MB" for each in read]
    table.add("rows' own bytes", *megabytes("own_bytes"))
    table.add("growth at the end of reading", *megabytes("resident_growth"))
    table.add("growth at the peak", *megabytes("peak_growth"))
    for name, key in (("at the end", "resident_growth"), ("at the peak", "peak_growth")):
        values = [each[key] / each["own_bytes"] for each in read]
        table.add(f"÷ own bytes, {name}", *map(times, values))
        if key == "resident_growth":
            for file, value in zip(FILES, values):
                requirements.at_most(f"memory at the end of reading {file} ÷ rows' own bytes", value, 1.3)
