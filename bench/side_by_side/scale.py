"""Time against the number of rows: novikoff alone, on generated rows in memory."""

import math

from .clock import Skipped, answer
from .table import Table, rate, seconds

ROWS = [10_000, 31_600, 100_000, 316_000, 1_000_000, 3_160_000, 10_000_000]
MANY = 1_000_000  # from here on one turn is enough
GAP = 1e-3
LEARNERS = {"svm": "hinge", "logistic": "logistic"}
PICTURE = "scale.svg"


def section(tools, data, requirements, repeat):
    del data, requirements  # rows are generated; nothing is promised but the picture
    table = Table(f"Scale: seconds to a relative gap of {GAP:g} against rows", ["", *(f"{rows:,}" for rows in ROWS)])
    results = []
    for rows in ROWS:
        try:
            results.append(answer([tools.library, "scale", str(rows), f"{GAP:g}", str(1 if rows >= MANY else repeat)]))
        except Skipped as reason:
            table.note(f"skipped: {rows:,} rows: {reason}")
            results.append({})
    points = {}
    for key, loss in LEARNERS.items():
        taken = [result[key]["seconds"] if key in result else None for result in results]
        table.add(f"novikoff, {loss}", *map(seconds, taken))
        table.add(f"{loss}: entries a second", *(rate(result["nonzeros"] / time) if time else "–" for result, time in zip(results, taken)))
        points[loss] = [(rows, time) for rows, time in zip(ROWS, taken) if time]
        if len(points[loss]) > 1:
            table.note(f"{loss}: seconds grow as n^{slope(points[loss]):.2f}.")
    table.note("Some 20 of 1000 features a row, a tenth of the labels flipped, C = 1, no bias, both cores; generating the rows is not counted.")
    table.pictures[PICTURE] = draw(points)
    return [table]


def slope(points):
    """Of the straight line through the logarithms, by least squares."""
    x, y = ([math.log(point[i]) for point in points] for i in (0, 1))
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x)


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 70, 110, 40, 60
COLOURS = ("#0b5fa5", "#c2410c")


def draw(points):
    """Both axes logarithmic; the dashed line takes ten times as long for ten times as many rows."""
    times = [time for line in points.values() for _, time in line] or [1.0]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    first, last = math.log10(ROWS[0]), math.log10(ROWS[-1])
    across = lambda rows: LEFT + (math.log10(rows) - first) / (last - first) * (WIDTH - LEFT - RIGHT)
    up = lambda time: HEIGHT - BOTTOM - (math.log10(time) - low) / max(1, high - low) * (HEIGHT - TOP - BOTTOM)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" role="img">',
             f"<title>novikoff: seconds to a relative gap of {GAP:g} against the number of rows</title>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 22, f"Seconds to a relative gap of {GAP:g}, rows in memory", "start")]
    for power in range(low, high + 1):
        parts += [line([(LEFT, up(10 ** power)), (WIDTH - RIGHT, up(10 ** power))], "#ddd", 1),
                  text(LEFT - 8, up(10 ** power) + 4, f"{10.0 ** power:g}", "end")]
    for power in range(round(first), round(last) + 1):
        parts += [line([(across(10 ** power), TOP), (across(10 ** power), HEIGHT - BOTTOM)], "#ddd", 1),
                  text(across(10 ** power), HEIGHT - BOTTOM + 20, f"{10 ** power:,}", "middle")]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "rows (20 of 1000 features each)", "middle"))
    end = min(ROWS[-1], ROWS[0] * 10 ** (high - low))
    parts.append(line([(across(ROWS[0]), up(10 ** low)), (across(end), up(10 ** low * end / ROWS[0]))], "#888", 1, ' stroke-dasharray="5 4"'))
    parts.append(text(across(end) + 8, up(10 ** low * end / ROWS[0]) + 4, "∝ rows", "start", "#666"))
    for (loss, reached), colour in zip(points.items(), COLOURS):
        places = [(across(rows), up(time)) for rows, time in reached]
        parts.append(line(places, colour, 2))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        if places:
            parts.append(text(places[-1][0] + 8, places[-1][1] + 4, loss, "start", colour))
    return "\n".join([*parts, "</svg>", ""])


def line(places, colour, width, more=""):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{more}/>'


def text(x, y, words, anchor, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'
