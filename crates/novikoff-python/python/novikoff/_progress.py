"""Progress of a fit: printed for ``verbose``, and handed to a callback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Event = dict[str, Any]


def progress_of(estimator: Any) -> Callable[[Event], bool] | None:
    """What is to be told of every epoch and step, or None if nobody wants to know."""
    callback = getattr(estimator, "callback", None)
    is_verbose = bool(getattr(estimator, "verbose", 0))
    if callback is None and not is_verbose:
        return None
    name = type(estimator).__name__

    def tell(event: Event) -> bool:
        if is_verbose:
            print(f"[{name}] {line(event)}", file=sys.stderr)
        return bool(callback(event)) if callback is not None else False

    return tell


def line(event: Event) -> str:
    """An event in a line."""
    known = {key: value for key, value in event.items() if key not in ("event", "output", "outputs")}
    shown = [
        f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in known.items()
    ]
    return f"{event.get('event')}: " + ", ".join(text for text in shown if not text.endswith("None"))
