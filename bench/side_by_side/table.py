"""What was measured, as aligned text and as markdown."""

from dataclasses import dataclass, field


@dataclass
class Table:
    title: str
    header: list
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    pictures: dict = field(default_factory=dict)  # SVG by the name of its file

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def text(self):
        lines = [self.header, *self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        aligned = ["  ".join(_aligned(cell, width, column) for column, (cell, width) in enumerate(zip(line, widths)))
                   for line in lines]
        aligned.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([self.title, "", *(f"  {line.rstrip()}" for line in aligned), *(f"  · {note}" for note in self.notes), ""])

    def markdown(self):
        sides = ["---"] + ["---:"] * (len(self.header) - 1)
        lines = [f"| {' | '.join(line)} |" for line in (self.header, sides, *self.rows)]
        pictures = [part for name in self.pictures for part in (f"![{self.title}]({name})", "")]
        return "\n".join([f"## {self.title}", "", *lines, "", *pictures, *(f"- {note}" for note in self.notes), ""])


def _aligned(cell, width, column):
    return cell.ljust(width) if column == 0 else cell.rjust(width)


class Requirements:
    """What was promised, and whether it holds."""

    def __init__(self, section):
        self.table = Table(f"Requirements: {section}", ["what", "measured", "target", "holds"])
        self.failed = 0

    def at_least(self, what, value, target):
        self._add(what, value, "≥", target, value is not None and value >= target)

    def at_most(self, what, value, target):
        self._add(what, value, "≤", target, value is not None and value <= target)

    def _add(self, what, value, relation, target, holds):
        verdict = "skipped" if value is None else "yes" if holds else "NO"
        self.failed += verdict == "NO"
        self.table.add(what, "–" if value is None else f"{value:.2f}", f"{relation} {target:g}", verdict)


def ratio(numerator, denominator):
    return None if numerator is None or denominator is None else numerator / denominator


def times(value):
    return "–" if value is None else f"{value:.2f} ×"


def seconds(value):
    return "–" if value is None else f"{value:.3f} s"


def rate(value):
    return "–" if value is None else f"{value:,.0f}"


def percent(value):
    return "–" if value is None else f"{100 * value:.2f} %"
