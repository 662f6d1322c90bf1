"""One pass from text to model: novikoff against Vowpal Wabbit, on its own format and on svmlight."""

import json

from .clock import turn_by_turn, whole
from .table import Table, ratio, seconds, times

FILES = {"census.train.svm": 18, "covtype.binary.svm": 18, "news20b.train.svm": 22}  # and bits enough for their features

NAMES = {
    "vw": "Vowpal Wabbit, vw",
    "svm averaged": "novikoff averaged, svmlight",
    "svm perceptron": "novikoff perceptron, svmlight",
    "hashed averaged": "novikoff averaged, vw, hashed",
    "hashed perceptron": "novikoff perceptron, vw, hashed",
    "named averaged": "novikoff averaged, vw, dictionary",
}


def section(tools, data, requirements, repeat):
    table = Table("Online: one pass from text to model", ["", *(f"{file}" for file in FILES)])
    results = [measure(tools, data, file, bits, repeat, table) for file, bits in FILES.items()]
    for key, name in NAMES.items():
        table.add(name, *(seconds(result.get(key)) for result in results))
    for key, name in NAMES.items():
        if key == "vw":
            continue
        values = [ratio(result.get("vw"), result.get(key)) for result in results]
        table.add(f"Vowpal Wabbit ÷ {name}", *map(times, values))
        if key == "named averaged":
            continue  # Vowpal Wabbit keeps no names: nothing to compare with, but good to know
        for file, value in zip(FILES, values):
            requirements.at_least(f"online {file}: Vowpal Wabbit ÷ {name}", value, 3)
    bits = ", ".join(map(str, FILES.values()))
    table.note("novikoff: the whole process, model written. Vowpal Wabbit: hinge loss, inside a warm process, model written.")
    table.note("By dictionary, novikoff keeps every feature's name, which Vowpal Wabbit does not: for orientation only.")
    table.note(f"Bits of the hash, the same for both: {bits}. No cache file.")
    return [table]


def measure(tools, data, file, bits, repeat, table):
    text, svm = data.vw(file), data.path(file)
    model, vw_model = str(data.made / "online.model"), str(data.made / "online.vwmodel")
    rows = {}

    def novikoff(path, learner, *options):
        command = [tools.novikoff, "train", path, "--online", "--learner", learner, "-o", model, "--json", *options]
        result = whole(command)
        rows["novikoff"] = json.loads(result["output"])["rows"]
        return result

    def vw(peer):
        result = peer.call("vw", options=f"-d {text} --loss_function hinge -b {bits} -f {vw_model}")
        rows["Vowpal Wabbit"] = result["rows"]
        return result

    as_vw = ["--format", "vw"]
    with tools.peer() as peer:
        best, skipped = turn_by_turn({
            "svm averaged": lambda: novikoff(svm, "averaged"),
            "svm perceptron": lambda: novikoff(svm, "perceptron"),
            "hashed averaged": lambda: novikoff(text, "averaged", *as_vw, "--hash-bits", str(bits)),
            "hashed perceptron": lambda: novikoff(text, "perceptron", *as_vw, "--hash-bits", str(bits)),
            "named averaged": lambda: novikoff(text, "averaged", *as_vw, "--hash-bits", "0"),
            "vw": lambda: vw(peer),
        }, repeat)
    for key, reason in skipped.items():
        table.note(f"skipped: {NAMES[key]}, {file}: {reason}")
    if len(set(rows.values())) > 1:
        table.note(f"DIFFERENT rows of {file}: {rows}")
    return {key: result["seconds"] for key, result in best.items()}
