"""Documents: raw strings in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from . import _novikoff
from ._linear import Scale
from ._reading import Explanation, ReadingClassifier


def documents_of(X: Any) -> list[Any]:
    """Documents as a list."""
    if isinstance(X, (str, bytes)):
        raise ValueError("documents are a sequence of strings, and this is a single one")
    if isinstance(X, Mapping) or not isinstance(X, Iterable):
        raise ValueError(f"documents are a sequence of strings, not {type(X).__name__}")
    if getattr(X, "ndim", 1) != 1:
        shape = getattr(X, "shape", ())
        raise ValueError(f"documents are a sequence of strings, not an array of shape {tuple(shape)}")
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(X, method):
            return list(getattr(X, method)())
    return list(X)


def recipe_of(
    documents: int | None,
    *,
    is_counts: bool = False,
    ngram_range: tuple[int, int] = (1, 1),
    char_ngram_range: tuple[int, int] | None = None,
    analyzer: str = "word",
    lowercase: bool = True,
    stop_words: Any = None,
    min_df: float = 1,
    max_df: float = 1.0,
    binary: bool = False,
    sublinear_tf: Any = "auto",
    use_idf: Any = "auto",
    norm: Any = "auto",
    hash_bits: int | None = None,
) -> dict[str, Any]:
    """How documents become features, by the engine's names."""
    if analyzer not in ("word", "char_wb"):
        raise ValueError(f"analyzer is 'word' or 'char_wb', not {analyzer!r}")
    lengths = tuple(int(length) for length in ngram_range)
    words, characters = (lengths, char_ngram_range) if analyzer == "word" else (None, lengths)
    recipe: dict[str, Any] = {"counts": is_counts, "words": words, "characters": characters}
    recipe |= {"keep_case": not lowercase, "hash_bits": hash_bits}
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError(f"stop_words is 'english', a list of words or None, not {stop_words!r}")
        recipe["english_stop_words"] = True
    elif stop_words is not None:
        recipe["stop_words"] = [str(word).lower() if lowercase else str(word) for word in stop_words]
    if binary:
        recipe["counting"] = "binary"
    elif sublinear_tf != "auto":
        recipe["counting"] = "sublinear" if sublinear_tf else "counts"
    if use_idf != "auto":
        recipe["idf"] = bool(use_idf)
    if norm != "auto":
        if norm not in ("l2", None):
            raise ValueError(f"norm is 'l2', None or 'auto', not {norm!r}")
        recipe["unit_length"] = norm == "l2"
    return recipe | _limits(documents, min_df, max_df)


def _limits(documents: int | None, min_df: float, max_df: float) -> dict[str, Any]:
    """The least number of documents of a term, and the largest share of them."""
    if min_df < 0 or max_df < 0:
        raise ValueError("min_df and max_df are numbers or shares of documents, from 0")
    if documents is None and (isinstance(min_df, float) or not isinstance(max_df, float)):
        raise ValueError("min_df is a number of documents here, and max_df a share of them")
    total = documents or 1
    least = int(np.ceil(min_df * total)) if isinstance(min_df, float) else int(min_df)
    # Half a document more, so that rounding does not decide.
    share = max_df if isinstance(max_df, float) else min(1.0, (max_df + 0.5) / total)
    return {"min_documents": max(1, least), "max_share": share}


class TextClassifier(ReadingClassifier):
    """Classification of documents, with a proved gap.

    Takes raw strings. Words are those of Unicode's rules (UAX #29), in lower case; terms are counted
    sublinearly, weighed by how rare they are, and documents brought to length 1. The recipe is part of the
    model.

    Parameters
    ----------
    learner : str, default="auto"
        What learns: "squared-svm" by default, as in the program; or "logistic", "svm", "exponential",
        "boosting", "max-margin", "bayes", "averaged", "perceptron", "voted", "passive-aggressive", "network".
    C : float, default=1.0
        Inverse strength of the penalty, as of :class:`LinearSVC`; of passive-aggressive learning how far an
        update may go.
    alpha : float, default=1.0
        What "bayes" adds to every count.
    ngram_range : tuple of two int, default=(1, 1)
        How many neighbouring words make a term, or characters with ``analyzer="char_wb"``.
    char_ngram_range : tuple of two int, default=None
        How many neighbouring characters of a word make a term besides.
    analyzer : {"word", "char_wb"}, default="word"
        Whether terms are of words, or of characters within words.
    lowercase : bool, default=True
        Whether ``Boston`` and ``boston`` are one word.
    stop_words : {"english"} or list of str, default=None
        Words that are left out.
    min_df : int or float, default=1
        Terms of fewer documents are left out: a number, or a share as a float.
    max_df : float or int, default=1.0
        Terms of more documents are left out: a share as a float, or a number.
    binary : bool, default=False
        Whether a term counts once, however often it stands in a document.
    sublinear_tf : bool or "auto", default="auto"
        Whether a term that stands n times in a document counts ``1 + log(n)`` times; "auto" is yes, but for
        "bayes", which is about counts.
    use_idf : bool or "auto", default="auto"
        Whether rare terms weigh more; "auto" is yes, but for "bayes".
    norm : {"l2", None, "auto"}, default="auto"
        Whether documents are brought to length 1; "auto" is yes, but for "bayes".
    hash_bits : int, default=None
        Numbers terms by so many bits of their hashes, and keeps no names.
    tol : float, default=1e-4
        Relative duality gap to reach: ``(objective − dual bound) / objective``.
    max_iter : int, default=None
        Most steps of the solver, or most epochs.
    fit_intercept : bool, default=True
        Whether the score has a constant term.
    scale : {None, "standard", "max-abs", "unit-variance"}, default="standard"
        How columns are brought to one size; "standard" leaves documents as they are, which are of one size
        already.
    class_weight : dict or "balanced", default=None
        How much each class counts.
    calibrate : {None, "platt", "isotonic"}, default=None
        Fits probabilities to scores of rows that a model did not learn from; gives ``predict_proba``.
    certify : bool, default=False
        Whether ``fit`` makes the certificate at once. By default it is made when ``certificate_`` is asked
        for.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None is 0.
    n_jobs : int, default=None
        Threads; all cores by default.
    verbose : int, default=0
        Whether progress is printed to standard error.
    callback : callable, default=None
        Called with a dict for every step; training ends with what there is when it returns True.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    feature_names_ : ndarray of shape (n_terms,)
        The terms.
    coef_ : ndarray of shape (1, n_terms) or (n_classes, n_terms)
        Weights of the terms.
    intercept_, gap_, objective_, dual_bound_, certificate_, n_iter_, history_, model_
        As those of :class:`LogisticRegression`.

    Examples
    --------
    >>> from novikoff import TextClassifier
    >>> texts = ["win money now", "cheap money", "see you at lunch", "lunch at noon?"]
    >>> model = TextClassifier().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["money for lunch money"]).tolist()
    ['spam']
    >>> next(iter(model.explain("cheap lunch").parts))
    'cheap'
    """

    _reads = "documents"

    def __init__(
        self,
        learner: str = "auto",
        *,
        C: float = 1.0,
        alpha: float = 1.0,
        ngram_range: tuple[int, int] = (1, 1),
        char_ngram_range: tuple[int, int] | None = None,
        analyzer: Literal["word", "char_wb"] = "word",
        lowercase: bool = True,
        stop_words: Any = None,
        min_df: float = 1,
        max_df: float = 1.0,
        binary: bool = False,
        sublinear_tf: bool | Literal["auto"] = "auto",
        use_idf: bool | Literal["auto"] = "auto",
        norm: Literal["l2", "auto"] | None = "auto",
        hash_bits: int | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        scale: Scale = "standard",
        class_weight: Any = None,
        calibrate: str | None = None,
        certify: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
    ) -> None:
        self.learner = learner
        self.C = C
        self.alpha = alpha
        self.ngram_range = ngram_range
        self.char_ngram_range = char_ngram_range
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.binary = binary
        self.sublinear_tf = sublinear_tf
        self.use_idf = use_idf
        self.norm = norm
        self.hash_bits = hash_bits
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TextClassifier:
        """Fit the model.

        Parameters
        ----------
        X : sequence of str
            Documents: a list, an array, or a Series of pandas or polars.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each document counts in learning.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._train(self._read_training(X, y, sample_weight))
        return self

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> _novikoff.Dataset:
        documents = documents_of(X)
        if not documents:
            raise ValueError(
                "Found array with 0 sample(s) while a minimum of 1 is required: there is no document"
            )
        labels = self._take_labels(self._check_labels(y, len(documents)))
        given = self._request(labels, sample_weight, len(documents), self._recipe(len(documents)))
        return _novikoff.read_documents(documents, given)

    def _recipe(self, documents: int) -> dict[str, Any]:
        return recipe_of(
            documents,
            is_counts=self.learner == "bayes",
            ngram_range=self.ngram_range,
            char_ngram_range=self.char_ngram_range,
            analyzer=self.analyzer,
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            min_df=self.min_df,
            max_df=self.max_df,
            binary=self.binary,
            sublinear_tf=self.sublinear_tf,
            use_idf=self.use_idf,
            norm=self.norm,
            hash_bits=self.hash_bits,
        )

    def _apply(self, X: Any) -> _novikoff.Dataset:
        documents = documents_of(X)
        if not documents:
            raise ValueError(
                "Found array with 0 sample(s) while a minimum of 1 is required: there is no document"
            )
        return _novikoff.read_documents(documents, self._request(None, None, 0, {}, model=self.model_))

    def explain(self, text: str) -> Explanation:
        """What each term of a document adds to its score.

        Parameters
        ----------
        text : str
            The document.

        Returns
        -------
        Explanation
            The class, the score, and the terms with their parts, the largest in size first.
        """
        rows = self._rows([text])
        return self._explain(rows, self.predict([text])[0])

    @classmethod
    def load(cls, path: Any) -> TextClassifier:
        """Read a model of documents from a file of the program, or of ``save``.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        TextClassifier
            An estimator that predicts by the model. Labels that are all numbers become numbers.
        """
        loaded = cls()
        loaded._load(path)
        return loaded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
