"""Certificates: claims about rows and models, with the witnesses that prove them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import _novikoff
from ._arrays import data_of


class Checked(NamedTuple):
    """What came of checking a claim."""

    #: The claim in a sentence.
    claim: str
    #: Whether it holds.
    holds: bool
    #: Why, or why not.
    detail: str


class Verification(tuple[Checked, ...]):
    """What came of checking a certificate: a :class:`Checked` for each claim.

    True as a condition if every claim holds.
    """

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return bool(len(self)) and all(checked.holds for checked in self)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        lines = [f"{'holds' if each.holds else 'FAILS'}  {each.claim}: {each.detail}" for each in self]
        return "\n".join([*lines, f"the certificate {'holds' if self.holds else 'does NOT hold'}"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'✓' if each.holds else '✗'}</td>"
            f"<td style='text-align:left'>{html.escape(each.claim)}</td>"
            f"<td style='text-align:left'>{html.escape(each.detail)}</td></tr>"
            for each in self
        )
        verdict = "holds" if self.holds else "does <b>not</b> hold"
        return f"<table>{rows}</table><p>The certificate {verdict}.</p>"


class Certificate:
    """What is proved of a model, or of rows.

    Nothing in a certificate is believed: :meth:`verify` derives every claim anew from the rows, without the
    solvers, and so does the program ``novikoff-check`` in exact arithmetic.

    Parameters
    ----------
    inner : novikoff._novikoff.Certificate
        The engine's certificate.
    """

    def __init__(self, inner: _novikoff.Certificate) -> None:
        self._inner = inner

    @classmethod
    def load(cls, path: Any) -> Certificate:
        """Read a certificate from a file."""
        return cls(_novikoff.Certificate.load(path))

    def save(self, path: Any) -> None:
        """Write the certificate to a file, as a whole or not at all."""
        self._inner.save(path)

    def to_text(self) -> str:
        """JSON text of the certificate's file."""
        return self._inner.to_text()

    @property
    def relative_gap(self) -> float | None:
        """How far the objective can be above its minimum, relatively."""
        return self._inner.relative_gap

    @property
    def data_hash(self) -> str:
        """Hash of the rows that it is about."""
        return self._inner.data_hash

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Check every claim against rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows that the certificate is about.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, if there were any.

        Returns
        -------
        Verification
            What came of each claim; true as a condition if all of them hold.
        """
        data = data_of(X, y, sample_weight, numbers=self._inner.speaks_of_numbers)
        return Verification(Checked(**checked) for checked in self._inner.check(data))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _from_text, (self.to_text(),)

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner.claims())

    def __repr__(self) -> str:
        return "\n".join(["novikoff.Certificate:", *(f"  {claim}" for claim in self)])

    def _repr_html_(self) -> str:
        claims = "".join(f"<li>{html.escape(claim)}</li>" for claim in self)
        return f"<p>The certificate claims:</p><ul>{claims}</ul>"


def _from_text(text: str) -> Certificate:
    """A certificate as :meth:`Certificate.to_text` wrote it."""
    return Certificate(_novikoff.Certificate.from_text(text))
