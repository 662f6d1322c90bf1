"""Results in a notebook: tables, and the engine's pictures."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from . import _novikoff

Series = tuple[str, list[float], list[float]]


def table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """An HTML table. Everything in it is text."""
    head = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def page(title: str, *parts: str) -> str:
    """Parts under a title."""
    return f"<div><p><b>{html.escape(title)}</b></p>{''.join(parts)}</div>"


def svg(
    title: str,
    description: str,
    series: list[Series],
    *,
    x_name: str,
    y_name: str,
    x_spacing: str = "even",
    y_spacing: str = "even",
) -> str:
    """A picture of lines over two axes. A series whose name begins with "~" is one to compare with."""
    return _novikoff.chart(
        title,
        description,
        series,
        x_name=x_name,
        y_name=y_name,
        x_spacing=x_spacing,
        y_spacing=y_spacing,
    )
