"""Naive Bayes, by counts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_non_negative, column_or_1d

from . import _novikoff
from ._arrays import label_names
from ._base import LinearClassifier


class NaiveBayes(LinearClassifier):
    """Naive Bayes: class priors and likelihoods of counts, as a linear model.

    Parameters
    ----------
    likelihood : {"multinomial", "bernoulli", "complement"}, default="multinomial"
        The distribution of a row's features, given its class. Values are counts, from 0.
    alpha : float, default=1.0
        What is added to every count (Laplace).
    fit_prior : bool, default=True
        Whether classes are as frequent as their rows; else all alike.
    class_prior : array-like of shape (n_classes,), default=None
        Priors of the classes, in the order of ``classes_``.
    n_jobs : int, default=None
        Threads; all cores by default.

    Attributes
    ----------
    classes_, coef_, intercept_, model_
        As those of :class:`LogisticRegression`.

    Examples
    --------
    >>> from novikoff import NaiveBayes
    >>> model = NaiveBayes(alpha=0.5).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict_proba([[1, 0]]).round(2).tolist()
    [[0.94, 0.06]]
    """

    _learner = "bayes"

    def __init__(
        self,
        likelihood: Literal["multinomial", "bernoulli", "complement"] = "multinomial",
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.likelihood = likelihood
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_fit(X, y)
        check_non_negative(X, "NaiveBayes, which learns from counts")
        return X, y

    @property
    def decision_function(self) -> Any:
        """Scores are log likelihoods: ``predict_log_proba`` has them."""
        raise AttributeError("the scores of NaiveBayes are log likelihoods: use predict_log_proba")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NaiveBayes:
        """Count some more rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Counts.
        y : array-like of shape (n_samples,)
            Classes. New ones may occur at any time.
        classes : array-like of shape (n_classes,), default=None
            Classes that may occur later. They need not be known in advance, and count once they occur.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The estimator.
        """
        if not self.__sklearn_is_fitted__():
            return self._fit(X, y, sample_weight)
        X, y = self._check_rows(X), column_or_1d(y)
        check_non_negative(X, "NaiveBayes, which learns from counts")
        self._classes = np.unique(np.concatenate([self.classes_, np.unique(y)]))
        data = self._data(X, y, sample_weight)
        settings = self._shared_settings() | self._settings(1.0)
        self._take(_novikoff.train_learner(self._learner, settings, data, start=self.model_))
        return self

    def _settings(self, total_weight: float) -> dict[str, Any]:
        settings: dict[str, Any] = {"likelihood": self.likelihood, "smoothing": float(self.alpha)}
        if self.class_prior is not None:
            priors = np.asarray(self.class_prior, dtype=float)
            if len(priors) != len(self._classes):
                raise ValueError(f"class_prior has {len(priors)} numbers for {len(self._classes)} classes")
            settings["priors"] = list(zip(label_names(self._classes), priors.tolist(), strict=True))
        elif not self.fit_prior:
            settings["uniform_priors"] = True
        return settings

    def _chosen(self, value: float, total_weight: float) -> None:
        self.alpha = value

    def _has_probabilities(self) -> bool:
        return self.likelihood != "complement"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # What no Bayes of counts is good at: positions in the plane.
        tags.classifier_tags.poor_score = True
        return tags
