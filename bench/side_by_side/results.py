"""`RESULTS.md`: the sections one after the other, each with the machine and the versions that it was measured with."""

import re

HEAD = "# novikoff and its peers\n\nMade by `bench/run --write`, section by section.\n"
BEGIN = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)


def write(bench, order, section, machine, tables):
    """Puts a section into its place; the others stay."""
    path = bench / "RESULTS.md"
    sections = split(path.read_text()) if path.exists() else {}
    sections[section] = "\n".join([*(f"- {line}" for line in machine), "", *(table.markdown() for table in tables)]).strip("\n")
    path.write_text("\n".join([HEAD, *(f"<!-- {name} -->\n\n{sections[name]}\n" for name in order if name in sections)]))
    for table in tables:
        for name, picture in table.pictures.items():
            (bench / name).write_text(picture)


def split(text):
    """The text of each section by its name."""
    _, *parts = BEGIN.split(text)
    return {name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2])}
