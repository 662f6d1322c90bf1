"""The same posteriors, whoever counts: scikit-learn's naive Bayes and novikoff's, on the same counts."""

from .clock import Skipped, answer, run
from .table import Table

LIKELIHOODS = {"multinomial": "MultinomialNB", "bernoulli": "BernoulliNB", "complement": "ComplementNB"}
SETS = ["r8", "20news", "digits", "mnist"]
SMOOTHINGS = [1.0, 0.01]
WITHIN = 1e-9
LIMIT = 300  # seconds for one call


def compare(tools, data, requirements):
    table = Table("Agree: Bayes' rule, the largest difference of a log posterior from scikit-learn's", ["", *SETS])
    times = Table("Bayes' rule: seconds to learn from rows in memory, scikit-learn's `fit` and novikoff", ["", *SETS])
    cells, seconds = {}, {}
    with tools.peer(timeout=LIMIT) as peer:
        for name in SETS:
            train, test = files(data, peer, name)
            for likelihood, learner in LIKELIHOODS.items():
                for smoothing in SMOOTHINGS:
                    told = verdict(tools, data, peer, table, (train, test), (likelihood, learner, smoothing))
                    cells[likelihood, smoothing, name], seconds[likelihood, smoothing, name] = told
    for likelihood in LIKELIHOODS:
        for smoothing in SMOOTHINGS:
            table.add(f"{likelihood}, smoothing {smoothing:g}", *(cells[likelihood, smoothing, name] for name in SETS))
        times.add(likelihood, *(seconds[likelihood, SMOOTHINGS[0], name] for name in SETS))
    wrong = sum(cell.startswith("NO") for cell in cells.values())
    requirements.at_most(f"agree: of {len(cells)} sets of posteriors, those that differ by more than {WITHIN:g}", wrong, 0)
    table.note(f"`=`: every log posterior of every test row within {WITHIN:g} (of its size, where that is above 1), and every label the same, but for "
               "rows whose best two classes differ by less than that. r8 and 20news: counts by scikit-learn's CountVectorizer; digits and mnist: pixels.")
    times.note("The least of five: from rows to counts and their logarithms, on all cores.")
    return [table, times]


def files(data, peer, name):
    """Rows to learn from and rows to predict, as svmlight text or images; words are counted once."""
    if name == "mnist":
        return data.images("train"), data.images("t10k")
    if name == "digits":
        return data.path("digits.svm"), data.path("digits.svm")
    paths = {part: str(data.made / f"{name}.{part}.counts.svm") for part in ("train", "test")}
    peer.call("count_words", source={part: data.path(f"{name}.{part}.tsv") for part in paths}, target=paths)
    return paths["train"], paths["test"]


def verdict(tools, data, peer, table, rows, case):
    """What is said of the agreement, and of the times."""
    (train, test), (likelihood, learner, smoothing) = rows, case
    model, predicted = str(data.made / "bayes.model"), data.made / "bayes.posteriors"
    command = [tools.novikoff, "train", train, "--learner", "bayes", "--likelihood", likelihood, "--smoothing", str(smoothing), "-o", model]
    run(command, timeout=LIMIT)
    ours = answer([tools.library, "bayes", train, likelihood, "5"])["seconds"]
    predicted.write_text(run([tools.novikoff, "predict", model, test, "--log-probabilities"], timeout=LIMIT))
    try:
        told = peer.call("posteriors", train=train, test=test, learner=learner, smoothing=smoothing, predicted=str(predicted), within=WITHIN)
    except Skipped as reason:
        table.note(f"skipped: {likelihood}, {train}: {reason}")
        return "skipped", "skipped"
    agrees = told["difference"] <= WITHIN and told["labels"] == 0
    cell = f"= {told['difference']:.0e}" if agrees else f"NO: {told['difference']:.0e}, {told['labels']} labels"
    return cell, f"{told['seconds']:.4f} and {ours:.4f}"
